import { createRoute, lazyRouteComponent } from "@tanstack/react-router";
import { text } from "../../parts/search";
import { projectRoute } from "../../routes";

/** The keys of one environment, or of both. */
export type Mode = "LIVE" | "TEST";

const keysRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/developers",
  validateSearch: ({ mode }): { mode?: Mode } => (mode === "LIVE" || mode === "TEST" ? { mode } : {}),
  component: lazyRouteComponent(() => import("./Keys"), "Keys"),
});

const keyRoute = createRoute({
  getParentRoute: () => keysRoute,
  path: "/keys/$keyId",
  component: lazyRouteComponent(() => import("./Keys"), "KeyPanel"),
});

const webhooksRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/developers/webhooks",
  component: lazyRouteComponent(() => import("./Webhooks"), "Webhooks"),
});

export type DeliveryStatus = "FAILED" | "PENDING" | "SUCCEEDED";
export interface DeliverySearch {
  status?: DeliveryStatus;
  event?: string;
}

const webhookRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/developers/webhooks/$webhookId",
  validateSearch: (search): DeliverySearch => {
    const { status } = search;
    const event = text(search.event);
    const isStatus = status === "FAILED" || status === "PENDING" || status === "SUCCEEDED";
    return { ...(isStatus && { status }), ...(event && { event }) };
  },
  component: lazyRouteComponent(() => import("./WebhookPage"), "WebhookPage"),
});

const deliveryRoute = createRoute({
  getParentRoute: () => webhookRoute,
  path: "/$deliveryId",
  component: lazyRouteComponent(() => import("./DeliveryPanel"), "DeliveryPanel"),
});

export interface EventSearch {
  /** Names and groups of events, separated by commas. */
  type?: string;
  /** Id of the record that the events are about. */
  subject?: string;
}

const eventsRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/developers/events",
  validateSearch: (search): EventSearch => {
    const type = text(search.type);
    const subject = text(search.subject);
    return { ...(type && { type }), ...(subject && { subject }) };
  },
  component: lazyRouteComponent(() => import("./Events"), "Events"),
});

const eventRoute = createRoute({
  getParentRoute: () => eventsRoute,
  path: "/$eventId",
  component: lazyRouteComponent(() => import("./EventPanel"), "EventPanel"),
});

const referenceRoute = createRoute({
  getParentRoute: () => projectRoute,
  path: "/developers/api",
  component: lazyRouteComponent(() => import("./Reference"), "Reference"),
});

export const developerRoutes = [
  keysRoute.addChildren([keyRoute]),
  webhooksRoute,
  webhookRoute.addChildren([deliveryRoute]),
  eventsRoute.addChildren([eventRoute]),
  referenceRoute,
] as const;
