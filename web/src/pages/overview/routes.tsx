import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes";
import { readOverviewSearch } from "./search";

const overviewRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/",
  validateSearch: readOverviewSearch,
  component: lazyRouteComponent(() => import("./Overview"), "Overview"),
});

export const overviewRoutes = [overviewRoute] as const;
