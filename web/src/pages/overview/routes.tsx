import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes";

const overviewRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/",
  component: lazyRouteComponent(() => import("./Overview"), "Overview"),
});

export const overviewRoutes = [overviewRoute] as const;
