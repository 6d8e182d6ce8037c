import { createRouter } from "@tanstack/react-router";
import { emailRoutes } from "./pages/emails/routes";
import { overviewRoutes } from "./pages/overview/routes";
import { homeRoute, projectRoute, rootRoute, sessionRoute, signInRoute, welcomeRoute } from "./routes";

const routeTree = rootRoute.addChildren([
  signInRoute,
  welcomeRoute,
  sessionRoute.addChildren([homeRoute, projectRoute.addChildren([...overviewRoutes, ...emailRoutes])]),
]);

export const router = createRouter({
  routeTree,
  basepath: "/dashboard",
  defaultPreload: "intent",
  scrollRestoration: true,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
