import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { text } from "../../parts/search";
import { projectRoute } from "../../routes";
import type { Kind } from "./history";

/** The states by which the API filters. */
export type Status = "active" | "banned" | "locked" | "unverified" | "mfa";
export const STATUSES: Status[] = ["active", "banned", "locked", "unverified", "mfa"];

export interface CustomersSearch {
  q?: string;
  status?: Status;
  /** Key of a way to sign in. */
  provider?: string;
  /** The dialog that is open. */
  add?: "one" | "many";
}

const customersRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/customers",
  validateSearch: (search): CustomersSearch => {
    const q = text(search.q);
    const provider = text(search.provider);
    const status = STATUSES.find((each) => each === search.status);
    return {
      ...(q && { q }),
      ...(status && { status }),
      ...(provider && { provider }),
      ...((search.add === "one" || search.add === "many") && { add: search.add }),
    };
  },
  component: lazyRouteComponent(() => import("./Customers"), "Customers"),
});

export type Tab = "timeline" | "sessions" | "organizations" | "permissions" | "audit";
export const TABS: Tab[] = ["timeline", "sessions", "organizations", "permissions", "audit"];

export interface CustomerSearch {
  tab?: Tab;
  /** What the timeline shows. */
  show?: Kind;
  /** The permission that is checked, and the id of the organization in which. */
  can?: string;
  in?: string;
}

const KINDS: Kind[] = ["emails", "signins", "changes"];

const customerRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/customers/$customerId",
  validateSearch: (search): CustomerSearch => {
    const tab = TABS.find((each) => each === search.tab);
    const show = KINDS.find((each) => each === search.show);
    const can = text(search.can);
    const place = text(search.in);
    return { ...(tab && { tab }), ...(show && { show }), ...(can && { can }), ...(place && { in: place }) };
  },
  component: lazyRouteComponent(() => import("./CustomerPage"), "CustomerPage"),
});

export const customerRoutes = [customersRoute, customerRoute] as const;
