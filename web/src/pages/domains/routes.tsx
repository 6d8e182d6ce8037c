import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { text } from "../../parts/search";
import { projectRoute } from "../../routes";

export interface DomainsSearch {
  q?: string;
  /** Show only the domains that need something done. */
  only?: "attention";
  /** The dialog to add a domain is open. */
  add?: "1";
}

const domainsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/domains",
  validateSearch: (search): DomainsSearch => {
    const q = text(search.q);
    return {
      ...(q && { q }),
      ...(search.only === "attention" && { only: "attention" }),
      ...(search.add !== undefined && { add: "1" }),
    };
  },
  component: lazyRouteComponent(() => import("./Domains"), "Domains"),
});

export interface DomainSearch {
  tab?: "settings";
  /** The zone without which names are shown, because its provider adds it. */
  zone?: string;
}

const domainRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/domains/$domainId",
  validateSearch: (search): DomainSearch => {
    const zone = text(search.zone);
    return { ...(search.tab === "settings" && { tab: "settings" }), ...(zone && { zone }) };
  },
  component: lazyRouteComponent(() => import("./DomainPage"), "DomainPage"),
});

export const domainRoutes = [domainsRoute, domainRoute] as const;
