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

/** The parts of a domain's page beside its records. */
export const TABS = ["dmarc", "warm-up", "settings"] as const;
/** Days that the reports about DMARC can be shown for, and those that are shown without a choice. */
export const DMARC_DAYS = [7, 30, 90] as const;
export const USUAL_DMARC_DAYS = 30;

export interface DomainSearch {
  tab?: (typeof TABS)[number];
  days?: (typeof DMARC_DAYS)[number];
  /** The zone without which names are shown, because its provider adds it. */
  zone?: string;
}

const domainRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/domains/$domainId",
  validateSearch: (search): DomainSearch => {
    const zone = text(search.zone);
    const tab = TABS.find((each) => each === search.tab);
    const days = DMARC_DAYS.find((each) => each !== USUAL_DMARC_DAYS && String(each) === text(search.days));
    return { ...(tab && { tab }), ...(days && { days }), ...(zone && { zone }) };
  },
  component: lazyRouteComponent(() => import("./DomainPage"), "DomainPage"),
});

export const domainRoutes = [domainsRoute, domainRoute] as const;
