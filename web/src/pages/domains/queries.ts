import type { Domain } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { queryOptions } from "@tanstack/react-query";
import { api } from "../../session/server";

/** As many domains as a project can have. */
export const MOST_DOMAINS = 1_000;
/** Days of the rates. */
export const RATE_DAYS = 7;
/** Milliseconds between two looks while records are expected, and otherwise. */
const WAITING_MS = 3_000;
const QUIET_MS = 30_000;

/** Events after which a domain is different. */
export const DOMAIN_EVENTS = [
  "domain.created",
  "domain.verified",
  "domain.degraded",
  "domain.deleted",
  "domain.blocklisted",
  "domain.reputation_warning",
  "domain.reputation_held",
  "domain.reputation_recovered",
  "domain.reputation_released",
  "domain.warm_up_started",
  "domain.warm_up_ended",
  "domain.delisted",
];

const isWaiting = (domain: Domain | undefined) =>
  domain !== undefined && domain.nextCheckAt !== null && domain.records.some((each) => each.status !== "VERIFIED");

/** One domain. There is no event for a single record that was found, so it is read again at intervals. */
export function domainQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["domains", projectId, "one", id],
    queryFn: ({ signal }) => api(projectId).domains.get(id, { signal }),
    refetchInterval: (query) => (isWaiting(query.state.data) ? WAITING_MS : QUIET_MS),
  });
}

export function domainsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["domains", projectId, "list"],
    queryFn: async ({ signal }) => (await api(projectId).domains.list({ limit: MOST_DOMAINS }, { signal })).data,
    refetchInterval: (query) => (query.state.data?.some((each) => each.status === "PENDING") ? 10_000 : QUIET_MS),
  });
}

/** The mail of each domain in the last days. */
export function ratesQuery(projectId: string) {
  return queryOptions({
    queryKey: ["domains", projectId, "rates"],
    queryFn: ({ signal }) => api(projectId).analytics.getByDomain({ from: dayBefore(RATE_DAYS - 1) }, { signal }),
    refetchInterval: QUIET_MS,
  });
}

function dayBefore(days: number): string {
  return new Date(Date.now() - days * 86_400_000).toISOString().slice(0, 10);
}

export function blocklistsQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["domains", projectId, "blocklists", id],
    queryFn: ({ signal }) => api(projectId).domains.getBlocklistStatus(id, { signal }),
    refetchInterval: QUIET_MS,
  });
}

/** What receivers reported about the domain's mail in the last days. */
export function dmarcQuery(projectId: string, id: string, days: number) {
  return queryOptions({
    queryKey: ["domains", projectId, "dmarc", id, days],
    queryFn: ({ signal }) => api(projectId).domains.getDmarcSummary(id, { days }, { signal }),
    refetchInterval: 2 * QUIET_MS,
  });
}

/** The rates of the domain's mail, their thresholds and what follows from them. */
export function reputationQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["domains", projectId, "reputation", id],
    queryFn: ({ signal }) => api(projectId).domains.getReputation(id, {}, { signal }),
    refetchInterval: QUIET_MS,
  });
}

/** The warm-up plan of a domain; null if it has none. */
export function warmUpQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["domains", projectId, "warm-up", id],
    queryFn: async ({ signal }) => {
      try {
        return await api(projectId).domains.getWarmUp(id, { signal });
      } catch (error) {
        if (error instanceof APIError && error.code === "warm_up_missing") return null;
        throw error;
      }
    },
    refetchInterval: QUIET_MS,
  });
}

/** The TLS certificates of the domain's tracking names. */
export function certificatesQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["domains", projectId, "certificates", id],
    queryFn: ({ signal }) => api(projectId).domains.listCertificates(id, { signal }),
    refetchInterval: QUIET_MS,
  });
}

/** The project with its settings and their version. */
export function projectQuery(projectId: string) {
  return queryOptions({
    queryKey: ["domains", projectId, "project"],
    queryFn: ({ signal }) => api(projectId).projects.get({ signal }),
    // The client knows the version of the very object that it returned, not of a copy.
    structuralSharing: false,
  });
}
