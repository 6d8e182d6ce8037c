import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { text } from "../../parts/search";
import { projectRoute } from "../../routes";

/** The groups of statuses by which the list is filtered. */
export const GROUPS = ["draft", "scheduled", "running", "sent", "stopped"] as const;
export type Group = (typeof GROUPS)[number];

/** How the list is sorted; without one, the newest comes first. */
export const SORTS = ["-updatedAt", "name"] as const;
export type Sort = (typeof SORTS)[number];

export interface CampaignsSearch {
  q?: string;
  status?: Group;
  sort?: Sort;
  /** The dialog for a new campaign is open. */
  add?: "1";
}

const campaignsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/campaigns",
  validateSearch: (search): CampaignsSearch => {
    const q = text(search.q);
    const status = GROUPS.find((each) => each === search.status);
    const sort = SORTS.find((each) => each === search.sort);
    return {
      ...(q && { q }),
      ...(status && { status }),
      ...(sort && { sort }),
      ...(search.add !== undefined && { add: "1" }),
    };
  },
  component: lazyRouteComponent(() => import("./Campaigns"), "Campaigns"),
});

/** The parts of a campaign that has started; without one, its results. */
export const TABS = ["recipients", "content"] as const;
export type Tab = (typeof TABS)[number];

export interface CampaignSearch {
  tab?: Tab;
  /** The numbers of the chart are shown as a table. */
  view?: "table";
  /** Statuses of the recipients that are shown, separated by commas. */
  outcome?: string;
}

const campaignRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/campaigns/$campaignId",
  validateSearch: (search): CampaignSearch => {
    const tab = TABS.find((each) => each === search.tab);
    const outcome = text(search.outcome);
    return {
      ...(tab && { tab }),
      ...(search.view === "table" && { view: "table" }),
      ...(outcome && { outcome }),
    };
  },
  component: lazyRouteComponent(() => import("./CampaignPage"), "CampaignPage"),
});

export const campaignRoutes = [campaignsRoute, campaignRoute] as const;
