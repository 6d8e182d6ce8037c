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

/** The filters of received mail as they stand in the URL. */
export interface ReceivedSearch {
  sender?: string;
  recipient?: string;
  routeId?: string;
  /** Replies to this e-mail. */
  emailId?: string;
  sent?: "today" | "7d" | "30d";
}

const receivedRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails/received",
  validateSearch: (search): ReceivedSearch => {
    const texts = (["sender", "recipient", "routeId", "emailId"] as const).flatMap((name) => {
      const value = text(search[name]);
      return value ? [[name, value]] : [];
    });
    const sent = text(search.sent);
    return {
      ...Object.fromEntries(texts),
      ...((sent === "today" || sent === "7d" || sent === "30d") && { sent }),
    };
  },
  component: lazyRouteComponent(() => import("./Received"), "Received"),
});

const receivedMessageRoute = createRoute({
  getParentRoute: () => receivedRoute,
  path: "/$messageId",
  validateSearch: ({ tab }): { tab?: "headers" | "checks" | "source" } =>
    tab === "headers" || tab === "checks" || tab === "source" ? { tab } : {},
  component: lazyRouteComponent(() => import("./ReceivedPanel"), "ReceivedPanel"),
});

const inboundRoutesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails/received/addresses",
  validateSearch: (search): { add?: "1" } => (search.add !== undefined ? { add: "1" } : {}),
  component: lazyRouteComponent(() => import("./InboundRoutes"), "InboundRoutes"),
});

/** The filters of the sites as they stand in the URL. */
export interface SiteSearch {
  q?: string;
  siteState?: "OPEN" | "SLOWED" | "SUSPENDED";
}

const sitesRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/emails/sites",
  validateSearch: (search): SiteSearch => {
    const q = text(search.q);
    const { siteState } = search;
    const isState = siteState === "OPEN" || siteState === "SLOWED" || siteState === "SUSPENDED";
    return { ...(q && { q }), ...(isState && { siteState }) };
  },
  component: lazyRouteComponent(() => import("./Sites"), "Sites"),
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
  receivedRoute.addChildren([receivedMessageRoute]),
  inboundRoutesRoute,
  sitesRoute,
  suppressionsRoute.addChildren([suppressionRoute]),
] as const;
