import { createRouter, parseSearchWith, stringifySearchWith } from "@tanstack/react-router";
import { accessRoutes } from "./pages/access/routes";
import { automationRoutes } from "./pages/automations/routes";
import { campaignRoutes } from "./pages/campaigns/routes";
import { contactRoutes } from "./pages/contacts/routes";
import { customerRoutes } from "./pages/customers/routes";
import { developerRoutes } from "./pages/developers/routes";
import { domainRoutes } from "./pages/domains/routes";
import { emailRoutes } from "./pages/emails/routes";
import { organizationRoutes } from "./pages/organizations/routes";
import { overviewRoutes } from "./pages/overview/routes";
import { settingsRoutes } from "./pages/settings/routes";
import { templateRoutes } from "./pages/templates/routes";
import { homeRoute, projectRoute, rootRoute, sessionRoute, signInRoute, welcomeRoute } from "./routes";

const routeTree = rootRoute.addChildren([
  signInRoute,
  welcomeRoute,
  sessionRoute.addChildren([
    homeRoute,
    projectRoute.addChildren([
      ...overviewRoutes,
      ...emailRoutes,
      ...campaignRoutes,
      ...automationRoutes,
      ...templateRoutes,
      ...contactRoutes,
      ...customerRoutes,
      ...organizationRoutes,
      ...accessRoutes,
      ...domainRoutes,
      ...developerRoutes,
      ...settingsRoutes,
    ]),
  ]),
]);

export const router = createRouter({
  routeTree,
  basepath: "/dashboard",
  defaultPreload: "intent",
  scrollRestoration: true,
  // What no `validateSearch` returns is not in the search.
  search: { strict: true },
  // Values are text as in other URLs. The default is JSON, which puts a number that is searched for in quotes.
  parseSearch: parseSearchWith((value) => value),
  stringifySearch: stringifySearchWith(String),
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
