import type { Campaign, ListedCampaign, Page } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { queryOptions, useInfiniteQuery } from "@tanstack/react-query";
import { PAGE_ROWS } from "../../lists/rows";
import { api } from "../../session/server";
import { addDays, dayOf } from "../overview/period";
import { ZONE } from "../overview/queries";
import { lifeOf } from "./numbers";
import type { Group } from "./routes";

/** Milliseconds between two looks at a campaign that is being sent, at one whose results come in, and at a list. */
const RUNNING_MS = 2_000;
const RESULTS_MS = 15_000;
const LIST_MS = 15_000;
/** As many templates, audiences and domains as one request gives. */
const MOST_CHOICES = 1_000;
/** Campaigns whose rates together are what is usual. */
const USUAL_OF = 20;
/** Contacts of the audience that a preview can be shown for. */
export const SAMPLE_CONTACTS = 10;
/** Days after the creation of a campaign that are searched for its mail. */
const CHART_DAYS = 400;
/** Days of the chart. */
const SHOWN_DAYS = 30;

/** Events after which campaigns are different. */
export const CAMPAIGN_EVENTS = [
  "campaign.scheduled",
  "campaign.started",
  "campaign.tested",
  "campaign.sent",
  "campaign.cancelled",
  "campaign.failed",
  "campaign.paused",
  "campaign.resumed",
];

/** The statuses of each group that the list can be filtered by. */
export const STATUSES_OF: Record<Group, string[]> = {
  draft: ["DRAFT"],
  scheduled: ["SCHEDULED"],
  running: ["TESTING", "SENDING", "PAUSED"],
  sent: ["SENT"],
  stopped: ["CANCELLED", "FAILED"],
};

export function isRunning({ status }: Pick<Campaign, "status">): boolean {
  return status === "TESTING" || status === "SENDING";
}

/** A campaign that can be changed: it has not started and does not wait for its time. */
export function isDraft({ status }: Pick<Campaign, "status">): boolean {
  return status === "DRAFT";
}

/** One campaign with its numbers. */
export function campaignQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["campaigns", projectId, "one", id],
    queryFn: ({ signal }) => api(projectId).campaigns.get(id, { signal }),
    refetchInterval: ({ state: { data } }) =>
      data && isRunning(data) ? RUNNING_MS : data && !isDraft(data) ? RESULTS_MS : false,
    // The client knows the version of the very object that it returned, not of a copy.
    structuralSharing: false,
  });
}

interface Rows<T> {
  rows: T[];
  total: number | undefined;
  next: Page<T> | undefined;
}

const loaded = <T>(page: Page<T>): Rows<T> => ({
  rows: page.data,
  total: page.total,
  next: page.hasNext ? page : undefined,
});

/** A list in any order that loads further pages on demand, and reads what it has again at intervals. */
export function usePages<T>({
  queryKey,
  first,
  every,
}: {
  queryKey: readonly [string, string, string, ...unknown[]];
  first: () => Promise<Page<T>>;
  /** Milliseconds between two looks. */
  every: number;
}) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam }): Promise<Rows<T>> => {
      const page = await (pageParam ? pageParam.next() : first());
      return page ? loaded(page) : { rows: [], total: undefined, next: undefined };
    },
    initialPageParam: undefined as Page<T> | undefined,
    getNextPageParam: (last) => last.next,
    refetchInterval: every,
    structuralSharing: false,
    // Until the rows of other filters are there, those before stay.
    placeholderData: (previous, of) =>
      of?.queryKey[1] === queryKey[1] && of?.queryKey[2] === queryKey[2] ? previous : undefined,
  });
  return {
    rows: query.data?.pages.flatMap((each) => each.rows) ?? [],
    total: query.data?.pages[0]?.total,
    isPending: query.isPending,
    isStale: query.isPlaceholderData,
    error: query.isError ? query.error : undefined,
    retry: () => void (query.isFetchNextPageError ? query.fetchNextPage() : query.refetch()),
    more: () => {
      if (query.hasNextPage && !query.isFetching && !query.isError) void query.fetchNextPage();
    },
  };
}

/** The filters of the list as parameters of the API. */
export function parametersOf({ q, status, sort }: { q?: string; status?: Group; sort?: string }) {
  return { q, status: status && STATUSES_OF[status], sort, include: ["counts", "total"], limit: PAGE_ROWS };
}

export function useCampaigns(projectId: string, search: { q?: string; status?: Group; sort?: string }) {
  const parameters = parametersOf(search);
  return usePages<ListedCampaign>({
    queryKey: ["campaigns", projectId, "list", parameters],
    first: () => api(projectId).campaigns.list(parameters),
    every: LIST_MS,
  });
}

export function useRecipients(projectId: string, id: string, status: string[] | undefined, running: boolean) {
  return usePages({
    queryKey: ["campaigns", projectId, "sends", id, status],
    first: () => api(projectId).campaigns.listSends(id, { status, limit: PAGE_ROWS }),
    every: running ? RUNNING_MS * 2 : RESULTS_MS * 2,
  });
}

/** Audiences to choose from, by name. */
export function audiencesQuery(projectId: string) {
  return queryOptions({
    queryKey: ["campaigns", projectId, "audiences"],
    queryFn: async ({ signal }) =>
      (await api(projectId).audiences.list({ sort: "name", limit: MOST_CHOICES }, { signal })).data,
  });
}

/** Templates to choose from, by name and without their content. */
export function templatesQuery(projectId: string) {
  return queryOptions({
    queryKey: ["campaigns", projectId, "templates"],
    queryFn: async ({ signal }) =>
      (await api(projectId).templates.list({ view: "summary", sort: "name", limit: MOST_CHOICES }, { signal })).data,
  });
}

/** Domains to send from. */
export function sendingDomainsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["campaigns", projectId, "domains"],
    queryFn: async ({ signal }) => (await api(projectId).domains.list({ limit: MOST_CHOICES }, { signal })).data,
  });
}

/** A template with its content. */
export function templateQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["campaigns", projectId, "template", id],
    queryFn: ({ signal }) => api(projectId).templates.get(id, { signal }),
    enabled: id !== "",
  });
}

/** An audience by its id, for its name. */
export function audienceQuery(projectId: string, id: string | null) {
  return queryOptions({
    queryKey: ["campaigns", projectId, "audience", id],
    queryFn: ({ signal }) => api(projectId).audiences.get(id ?? "", { signal }),
    enabled: id !== null,
    retry: false,
  });
}

/** Who gets a campaign to an audience: the members that have not unsubscribed, how many all are, and some of them. */
export function recipientsQuery(projectId: string, audienceId: string) {
  return queryOptions({
    queryKey: ["campaigns", projectId, "recipients", audienceId],
    queryFn: async ({ signal }) => {
      const conditions = [
        { field: "audience", operator: "eq", value: audienceId },
        { field: "unsubscribed", operator: "eq", value: false },
      ];
      const [subscribed, all] = await Promise.all([
        api(projectId).audiences.preview({ rules: { match: "all", conditions } }, { signal }),
        api(projectId).audiences.contacts.list(audienceId, { limit: 1 }, { signal }),
      ]);
      const members = all.total ?? subscribed.count;
      return { count: subscribed.count, members, contacts: subscribed.contacts };
    },
    enabled: audienceId !== "",
    retry: false,
  });
}

/** The days of a campaign on which something happened, in the viewer's time zone, or in UTC if the server lacks that. */
export function lifeQuery(projectId: string, { id, createdAt }: Pick<Campaign, "id" | "createdAt">) {
  return queryOptions({
    queryKey: ["campaigns", projectId, "life", id],
    queryFn: async ({ signal }) => {
      const read = async (timezone: string) => {
        const today = dayOf(new Date(), timezone);
        const created = dayOf(new Date(createdAt), timezone);
        const from = [created, addDays(today, -CHART_DAYS)].sort().at(-1);
        const days = await api(projectId).analytics.getTimeSeries(
          { from, to: today, timezone, campaignId: id },
          { signal },
        );
        return { today, days: lifeOf(days).slice(0, SHOWN_DAYS) };
      };
      try {
        return await read(ZONE);
      } catch (error) {
        if (!(error instanceof APIError && error.errors.some((each) => each.path === "query/timezone"))) throw error;
        return read("UTC");
      }
    },
    refetchInterval: RESULTS_MS,
  });
}

/** The numbers of the last campaigns that were sent, for what is usual here. */
export function usualQuery(projectId: string) {
  return queryOptions({
    queryKey: ["campaigns", projectId, "usual"],
    queryFn: async ({ signal }) =>
      (await api(projectId).campaigns.list({ status: ["SENT"], include: ["counts"], limit: USUAL_OF }, { signal }))
        .data,
    staleTime: 60_000,
  });
}
