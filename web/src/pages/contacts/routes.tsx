import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes";
import { readAudiencesSearch, readContactsSearch } from "./search";

/** The parts of a contact, by the tab in the URL. Without one, the first. */
export type ContactTab = "subscription" | "emails";

const contactsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/contacts",
  validateSearch: readContactsSearch,
  component: lazyRouteComponent(() => import("./Contacts"), "Contacts"),
});

const contactRoute = createRoute({
  getParentRoute: () => contactsRoute,
  path: "/$contactId",
  validateSearch: ({ tab }): { tab?: ContactTab } => (tab === "subscription" || tab === "emails" ? { tab } : {}),
  component: lazyRouteComponent(() => import("./ContactPanel"), "ContactPanel"),
});

const audiencesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/contacts/audiences",
  validateSearch: readAudiencesSearch,
  component: lazyRouteComponent(() => import("./Audiences"), "Audiences"),
});

const audienceRoute = createRoute({
  getParentRoute: () => audiencesRoute,
  path: "/$audienceId",
  validateSearch: ({ tab }): { tab?: "rules" } => (tab === "rules" ? { tab } : {}),
  component: lazyRouteComponent(() => import("./AudiencePanel"), "AudiencePanel"),
});

const newAudienceRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/contacts/audiences/new",
  component: lazyRouteComponent(() => import("./RulesPage"), "NewAudiencePage"),
});

const rulesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/contacts/audiences/$audienceId/rules",
  component: lazyRouteComponent(() => import("./RulesPage"), "RulesPage"),
});

const importsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/contacts/imports",
  component: lazyRouteComponent(() => import("./Imports"), "Imports"),
});

const importRoute = createRoute({
  getParentRoute: () => importsRoute,
  path: "/$importId",
  component: lazyRouteComponent(() => import("./ImportPanel"), "ImportPanel"),
});

const newImportRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/contacts/imports/new",
  component: lazyRouteComponent(() => import("./NewImport"), "NewImport"),
});

export const contactRoutes = [
  contactsRoute.addChildren([contactRoute]),
  audiencesRoute.addChildren([audienceRoute]),
  newAudienceRoute,
  rulesRoute,
  importsRoute.addChildren([importRoute]),
  newImportRoute,
] as const;
