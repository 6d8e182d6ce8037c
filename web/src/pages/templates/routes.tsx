import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { text } from "../../parts/search";
import { projectRoute } from "../../routes";

/** How the list is sorted; without one, what was changed last comes first. */
export const SORTS = ["name", "-createdAt"] as const;
export type Sort = (typeof SORTS)[number];

const listRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/templates",
  validateSearch: (search): { q?: string; sort?: Sort; as?: "pictures"; new?: "gallery" | "html" } => {
    const q = text(search.q);
    const sort = SORTS.find((each) => each === search.sort);
    const { new: kind } = search;
    return {
      ...(q && { q }),
      ...(sort && { sort }),
      ...(search.as === "pictures" && { as: "pictures" as const }),
      ...((kind === "gallery" || kind === "html") && { new: kind }),
    };
  },
  component: lazyRouteComponent(() => import("./Templates"), "Templates"),
});

const templateRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/templates/$templateId",
  validateSearch: (search): { tab?: "versions" | "usage"; version?: string } => {
    const { tab } = search;
    const version = text(search.version);
    return { ...((tab === "versions" || tab === "usage") && { tab }), ...(version && { version }) };
  },
  component: lazyRouteComponent(() => import("./TemplatePage"), "TemplatePage"),
});

const editorRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/templates/$templateId/edit",
  component: lazyRouteComponent(() => import("./Editor"), "Editor"),
});

export const templateRoutes = [listRoute, templateRoute, editorRoute] as const;
