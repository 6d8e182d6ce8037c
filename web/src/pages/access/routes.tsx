import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { text } from "../../parts/search";
import { projectRoute } from "../../routes";
import type { Environment } from "./apps";

export type Tab = "providers" | "pages" | "texts" | "mails" | "apps" | "hooks" | "roles" | "why" | "plans" | "keys";
export const TABS: Tab[] = ["providers", "pages", "texts", "mails", "apps", "hooks", "roles", "why", "plans", "keys"];
export type HostedPage = "sign-in" | "sign-up" | "forgot";
export const HOSTED_PAGES: HostedPage[] = ["sign-in", "sign-up", "forgot"];
export type Look = "computer" | "phone";

export interface AccessSearch {
  tab?: Tab;
  /** The hosted page of the preview, how wide it is, and whether it is dark. */
  page?: HostedPage;
  look?: "phone";
  scheme?: "dark";
  /** The mail that is shown, and its language; without it, English. */
  mail?: string;
  lang?: string;
  /** The roles of the matrix; without it, those of the project. */
  scope?: "organization";
  /** Key of the role that the matrix shows on a phone. */
  role?: string;
  q?: string;
  /** The pages whose texts are shown, or the texts that are replaced. */
  show?: string;
  /** The apps of one environment, or of both. */
  mode?: Environment;
  /** What is checked: ids of the customer and the organization, and the permission. */
  customer?: string;
  can?: string;
  in?: string;
}

const accessRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/access",
  validateSearch: (search): AccessSearch => {
    const tab = TABS.find((each) => each === search.tab);
    const page = HOSTED_PAGES.find((each) => each === search.page);
    const [role, q, customer, can, place] = [search.role, search.q, search.customer, search.can, search.in].map(text);
    const [mail, lang, show] = [search.mail, search.lang, search.show].map(text);
    return {
      ...(tab && { tab }),
      ...(page && { page }),
      ...(search.look === "phone" && { look: "phone" as const }),
      ...(search.scheme === "dark" && { scheme: "dark" as const }),
      ...(search.scope === "organization" && { scope: "organization" as const }),
      ...(mail && { mail }),
      ...(lang && { lang }),
      ...(show && { show }),
      ...(role && { role }),
      ...(q && { q }),
      ...((search.mode === "LIVE" || search.mode === "TEST") && { mode: search.mode }),
      ...(customer && { customer }),
      ...(can && { can }),
      ...(place && { in: place }),
    };
  },
  component: lazyRouteComponent(() => import("./Access"), "Access"),
});

const appRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/access/apps/$clientId",
  component: lazyRouteComponent(() => import("./AppPage"), "AppPage"),
});

export const accessRoutes = [accessRoute, appRoute] as const;
