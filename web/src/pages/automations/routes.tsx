import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { text } from "../../parts/search";
import { projectRoute } from "../../routes";

export const STATES = ["active", "inactive"] as const;
export type State = (typeof STATES)[number];

/** How the list is sorted; without one, the newest comes first. */
export const SORTS = ["-updatedAt", "name"] as const;
export type Sort = (typeof SORTS)[number];

export interface AutomationsSearch {
  q?: string;
  show?: State;
  sort?: Sort;
  /** The recipes are open. */
  add?: "1";
}

const listRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/automations",
  validateSearch: (search): AutomationsSearch => {
    const q = text(search.q);
    const show = STATES.find((each) => each === search.show);
    const sort = SORTS.find((each) => each === search.sort);
    return {
      ...(q && { q }),
      ...(show && { show }),
      ...(sort && { sort }),
      ...(search.add !== undefined && { add: "1" }),
    };
  },
  component: lazyRouteComponent(() => import("./Automations"), "Automations"),
});

const newRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/automations/new",
  validateSearch: (search): { recipe?: string } => {
    const recipe = text(search.recipe);
    return recipe ? { recipe } : {};
  },
  component: lazyRouteComponent(() => import("./Editor"), "NewAutomation"),
});

export const TABS = ["runs", "settings"] as const;
export type Tab = (typeof TABS)[number];
export const RUN_STATUSES = ["RUNNING", "WAITING", "COMPLETED", "EXITED", "FAILED", "CANCELLED"] as const;
export type RunStatus = (typeof RUN_STATUSES)[number];

export interface AutomationSearch {
  tab?: Tab;
  status?: RunStatus;
  /** The run that is open. */
  run?: string;
  /** The dry run is open. */
  dry?: "1";
}

const automationRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/automations/$automationId",
  validateSearch: (search): AutomationSearch => {
    const tab = TABS.find((each) => each === search.tab);
    const status = RUN_STATUSES.find((each) => each === search.status);
    const run = text(search.run);
    return {
      ...(tab && { tab }),
      ...(status && { status }),
      ...(run && { run }),
      ...(search.dry !== undefined && { dry: "1" }),
    };
  },
  component: lazyRouteComponent(() => import("./AutomationPage"), "AutomationPage"),
});

const editorRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/automations/$automationId/edit",
  validateSearch: (search): { at?: string } => {
    // Where an error of the API is: `/steps/0/templateId`.
    const at = text(search.at);
    return at ? { at } : {};
  },
  component: lazyRouteComponent(() => import("./Editor"), "EditAutomation"),
});

export const automationRoutes = [listRoute, newRoute, automationRoute, editorRoute] as const;
