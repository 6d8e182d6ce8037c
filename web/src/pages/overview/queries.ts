import { APIError } from "@postern/sdk";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../session/server";
import type { FailingWebhook } from "./attention";
import { addDays, dayOf, type Range } from "./period";

/** Milliseconds after which the page reads its numbers again. */
const FRESH_MS = 30_000;
/** E-mails that tell how mail leaves at present. */
const RECENT = 25;
/** More than RECENT, as messages of test keys are captured, too. */
export const CAPTURED = 100;
/** Records that are looked through for trouble. */
const LOOKED_AT = 100;
/** Failing webhooks whose last answer is read. */
const ANSWERS = 3;

const fresh = { refetchInterval: FRESH_MS } as const;

/** The time zone of the viewer; UTC if the browser does not know it. */
export const ZONE = Intl.DateTimeFormat().resolvedOptions().timeZone || "UTC";

/** Two periods of the same length up to today, in the viewer's time zone, or in UTC if the server does not know that. */
export function mailQuery(projectId: string, range: Range) {
  return queryOptions({
    queryKey: ["overview", projectId, "mail", range],
    queryFn: async ({ signal }) => {
      try {
        return await readMail(projectId, range, ZONE, signal);
      } catch (error) {
        if (!(error instanceof APIError && error.errors.some((each) => each.path === "query/timezone"))) throw error;
        return readMail(projectId, range, "UTC", signal);
      }
    },
    ...fresh,
  });
}

async function readMail(projectId: string, range: Range, zone: string, signal: AbortSignal) {
  const today = dayOf(new Date(), zone);
  const period = { from: addDays(today, 1 - range), to: today, timezone: zone };
  const [days, domains] = await Promise.all([
    api(projectId).analytics.getTimeSeries({ ...period, from: addDays(period.from, -range) }, { signal }),
    api(projectId).analytics.getByDomain(period, { signal }),
  ]);
  return { zone, today, period, before: days.slice(0, -range), days: days.slice(-range), domains };
}
export type Mail = Awaited<ReturnType<typeof readMail>>;

/** The totals of the project: sends of the last days, or of all time without `days`; contacts always of all time. */
export function totalsQuery(projectId: string, days?: Range) {
  return queryOptions({
    queryKey: ["overview", projectId, "totals", days ?? "all"],
    queryFn: ({ signal }) => api(projectId).analytics.get({ days }, { signal }),
    ...fresh,
  });
}

/** The newest e-mails. */
export function recentQuery(projectId: string) {
  return queryOptions({
    queryKey: ["overview", projectId, "recent"],
    queryFn: ({ signal }) => api(projectId).emails.list({ limit: RECENT }, { signal }),
    ...fresh,
  });
}

/** The ids of the sends of the newest captured messages. */
export function capturedQuery(projectId: string) {
  return queryOptions({
    queryKey: ["overview", projectId, "captured"],
    queryFn: async ({ signal }) => {
      const newest = await api(projectId).inbox.list({ limit: CAPTURED }, { signal });
      return newest.data.map((each) => each.sendId);
    },
    ...fresh,
  });
}

/** E-mails that a server has deferred, and how many they are. */
export function waitingQuery(projectId: string) {
  return queryOptions({
    queryKey: ["overview", projectId, "waiting"],
    queryFn: ({ signal }) => api(projectId).emails.list({ status: ["DELAYED"], limit: RECENT }, { signal }),
    ...fresh,
  });
}

/** E-mails of today that were given up. */
export function failedQuery(projectId: string) {
  return queryOptions({
    queryKey: ["overview", projectId, "failed"],
    queryFn: ({ signal }) => {
      const midnight = new Date();
      midnight.setHours(0, 0, 0, 0);
      const filter = { status: ["FAILED", "EXPIRED"], from: midnight.toISOString(), limit: RECENT };
      return api(projectId).emails.list(filter, { signal });
    },
    ...fresh,
  });
}

export function domainsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["overview", projectId, "domains"],
    queryFn: async ({ signal }) => (await api(projectId).domains.list({ limit: LOOKED_AT }, { signal })).data,
    ...fresh,
  });
}

export function failingWebhooksQuery(projectId: string) {
  return queryOptions({
    queryKey: ["overview", projectId, "webhooks"],
    queryFn: async ({ signal }): Promise<FailingWebhook[]> => {
      const { data } = await api(projectId).webhooks.list({ limit: LOOKED_AT }, { signal });
      const failing = data.filter((each) => (each.active && each.failingSince) || each.disabledReason);
      return Promise.all(
        failing.map(async (webhook, index) => {
          if (!webhook.active || index >= ANSWERS) return { webhook };
          const filter = { status: ["PENDING"], limit: 1 };
          return {
            webhook,
            waiting: (await api(projectId).webhooks.deliveries.list(webhook.id, filter, { signal })).data[0],
          };
        }),
      );
    },
    ...fresh,
  });
}

export function keysQuery(projectId: string) {
  return queryOptions({
    queryKey: ["overview", projectId, "keys"],
    queryFn: ({ signal }) => api(projectId).apiKeys.list({ limit: LOOKED_AT }, { signal }),
  });
}

/** The people of the account, who share all its projects. */
export const membersQuery = queryOptions({
  queryKey: ["members"],
  queryFn: async ({ signal }) => (await api().account.members.list({ limit: LOOKED_AT }, { signal })).data,
});

/** The developer's own passkeys. */
export const passkeysQuery = queryOptions({
  queryKey: ["passkeys"],
  queryFn: ({ signal }) => api().developers.passkeys.list({ signal }),
});

export function customersQuery(projectId: string) {
  return queryOptions({
    queryKey: ["overview", projectId, "customers"],
    queryFn: ({ signal }) => api(projectId).customers.getStats({ signal }),
    ...fresh,
  });
}
