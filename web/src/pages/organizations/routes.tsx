import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { text } from "../../parts/search";
import { projectRoute } from "../../routes";

/** The states by which the API filters. */
export type Status = "ACTIVE" | "SUSPENDED";
export const STATUSES: Status[] = ["ACTIVE", "SUSPENDED"];

/** The orders of the list beside the newest first. */
export type Sort = "createdAt" | "name" | "-name" | "-updatedAt";
export const SORTS: Sort[] = ["createdAt", "name", "-name", "-updatedAt"];

export interface OrganizationsSearch {
  q?: string;
  status?: Status;
  sort?: Sort;
  /** Whether the dialog for a new organization is open. */
  add?: boolean;
}

const organizationsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/organizations",
  validateSearch: (search): OrganizationsSearch => {
    const q = text(search.q);
    const status = STATUSES.find((each) => each === search.status);
    const sort = SORTS.find((each) => each === search.sort);
    return {
      ...(q && { q }),
      ...(status && { status }),
      ...(sort && { sort }),
      ...(String(search.add) === "true" && { add: true }),
    };
  },
  component: lazyRouteComponent(() => import("./Organizations"), "Organizations"),
});

export type Tab = "members" | "invitations" | "domains" | "sso" | "directory" | "plan" | "history" | "settings";
export const TABS: Tab[] = ["members", "invitations", "domains", "sso", "directory", "plan", "history", "settings"];

export interface OrganizationSearch {
  tab?: Tab;
  /** Id of the single sign-on connection, or of the directory, that is shown. */
  connection?: string;
  /** Id of the sign-in attempt whose checks are open. */
  trace?: string;
}

const organizationRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/organizations/$organizationId",
  validateSearch: (search): OrganizationSearch => {
    const tab = TABS.find((each) => each === search.tab);
    const connection = text(search.connection);
    const trace = text(search.trace);
    return { ...(tab && { tab }), ...(connection && { connection }), ...(trace && { trace }) };
  },
  component: lazyRouteComponent(() => import("./OrganizationPage"), "OrganizationPage"),
});

export const organizationRoutes = [organizationsRoute, organizationRoute] as const;
