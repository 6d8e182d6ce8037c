import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { projectRoute } from "../../routes";
import { readAuditSearch } from "./search";

const projectSettingsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/settings",
  component: lazyRouteComponent(() => import("./Project"), "ProjectPart"),
});

const teamRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/settings/team",
  component: lazyRouteComponent(() => import("./Team"), "TeamPart"),
});

const auditRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/settings/audit-log",
  validateSearch: readAuditSearch,
  component: lazyRouteComponent(() => import("./Audit"), "AuditPart"),
});

const auditEntryRoute = createRoute({
  getParentRoute: () => auditRoute,
  path: "/$entryId",
  component: lazyRouteComponent(() => import("./AuditPanel"), "AuditPanel"),
});

const planRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/settings/plan",
  component: lazyRouteComponent(() => import("./Plan"), "PlanPart"),
});

const dataRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/settings/data",
  component: lazyRouteComponent(() => import("./Data"), "DataPart"),
});

const profileRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/settings/profile",
  component: lazyRouteComponent(() => import("./Profile"), "ProfilePart"),
});

const healthRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/settings/instance",
  component: lazyRouteComponent(() => import("./Instance"), "InstancePart"),
});

export const settingsRoutes = [
  projectSettingsRoute,
  teamRoute,
  auditRoute.addChildren([auditEntryRoute]),
  planRoute,
  dataRoute,
  profileRoute,
  healthRoute,
] as const;
