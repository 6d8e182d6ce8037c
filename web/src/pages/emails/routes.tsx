import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes";

const logRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails",
  component: lazyRouteComponent(() => import("./Log"), "Log"),
});

const sendRoute = createRoute({ getParentRoute: () => logRoute, path: "/$sendId" });

export const emailRoutes = [logRoute.addChildren([sendRoute])] as const;
