import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { text } from "../../parts/search";
import { projectRoute } from "../../routes";
import { readLogSearch } from "./search";

const logRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails",
  validateSearch: readLogSearch,
  component: lazyRouteComponent(() => import("./Log"), "Log"),
});

/** The parts of an e-mail, by the tab in the URL. Without one, the first. */
export type SendTab = "preview" | "headers" | "source" | "request";

function readTab(search: Record<string, unknown>): { tab?: SendTab } {
  const { tab } = search;
  return tab === "preview" || tab === "headers" || tab === "source" || tab === "request" ? { tab } : {};
}

const sendRoute = createRoute({
  getParentRoute: () => logRoute,
  path: "/$sendId",
  validateSearch: readTab,
  component: lazyRouteComponent(() => import("./SendPanel"), "SendPanel"),
});

const scheduledRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails/scheduled",
  component: lazyRouteComponent(() => import("./Scheduled"), "Scheduled"),
});

const scheduledSendRoute = createRoute({
  getParentRoute: () => scheduledRoute,
  path: "/$sendId",
  validateSearch: readTab,
  component: lazyRouteComponent(() => import("./SendPanel"), "SendPanel"),
});

const inboxRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails/inbox",
  validateSearch: (search): { q?: string } => {
    const q = text(search.q);
    return q ? { q } : {};
  },
  component: lazyRouteComponent(() => import("./Inbox"), "Inbox"),
});

const inboxMessageRoute = createRoute({
  getParentRoute: () => inboxRoute,
  path: "/$messageId",
  validateSearch: readTab,
  component: lazyRouteComponent(() => import("./Inbox"), "InboxPanel"),
});

export type Reason = "BOUNCE" | "COMPLAINT" | "MANUAL" | "UNSUBSCRIBE";

const suppressionsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails/suppressions",
  validateSearch: (search): { q?: string; reason?: Reason } => {
    const q = text(search.q);
    const reason = search.reason;
    const isReason = reason === "BOUNCE" || reason === "COMPLAINT" || reason === "MANUAL" || reason === "UNSUBSCRIBE";
    return { ...(q && { q }), ...(isReason && { reason }) };
  },
  component: lazyRouteComponent(() => import("./Suppressions"), "Suppressions"),
});

const suppressionRoute = createRoute({
  getParentRoute: () => suppressionsRoute,
  path: "/$address",
  component: lazyRouteComponent(() => import("./Suppressions"), "SuppressionPanel"),
});

export const emailRoutes = [
  logRoute.addChildren([sendRoute]),
  scheduledRoute.addChildren([scheduledSendRoute]),
  inboxRoute.addChildren([inboxMessageRoute]),
  suppressionsRoute.addChildren([suppressionRoute]),
] as const;
