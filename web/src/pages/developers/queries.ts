import { queryOptions } from "@tanstack/react-query";
import { api } from "../../session/server";

/** Milliseconds between two looks at the states of webhooks: no event tells that one fails or recovers. */
const LOOK_MS = 15_000;

/** All webhooks of the project: there are at most 100. */
export function webhooksQuery(projectId: string) {
  return queryOptions({
    queryKey: ["developers", projectId, "webhooks"],
    queryFn: async ({ signal }) => (await api(projectId).webhooks.list({ limit: 1_000 }, { signal })).data,
    refetchInterval: LOOK_MS,
  });
}

export function webhookQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["developers", projectId, "webhook", id],
    queryFn: ({ signal }) => api(projectId).webhooks.get(id, { signal }),
    refetchInterval: LOOK_MS,
    // Its ETag belongs to the very object that the client returned.
    structuralSharing: false,
  });
}

/** The newest delivery of a webhook; null if there is none. */
export function lastDeliveryQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["developers", projectId, "last-delivery", id],
    queryFn: async ({ signal }) =>
      (await api(projectId).webhooks.deliveries.list(id, { limit: 1 }, { signal })).data[0] ?? null,
    refetchInterval: LOOK_MS,
  });
}
