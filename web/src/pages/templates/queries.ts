import type { Page, Template } from "@postern/sdk";
import { queryOptions, useInfiniteQuery, useQuery } from "@tanstack/react-query";
import { PAGE_ROWS } from "../../lists/rows";
import { api } from "../../session/server";

/** Pages of campaigns and of automations that are read to find out what uses a template. */
const USAGE_PAGES = 5;
const USAGE_STALE_MS = 60_000;

export const templateQuery = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ["template", projectId, id],
    queryFn: ({ signal }) => api(projectId).templates.get(id, { signal }),
  });

export const versionsQuery = (projectId: string, id: string) =>
  queryOptions({
    queryKey: ["template", projectId, id, "versions"],
    queryFn: ({ signal }) => api(projectId).templates.listVersions(id, { signal }),
  });

/** The templates without their content, in any order, with further pages on demand. */
export function useTemplates(projectId: string, q: string | undefined, sort: string) {
  const query = useInfiniteQuery({
    queryKey: ["templates", projectId, { q, sort }],
    queryFn: async ({ pageParam }) => {
      const params = { q, sort, view: "summary", include: ["total"], limit: PAGE_ROWS };
      const page = await (pageParam ? pageParam.next() : api(projectId).templates.list(params));
      return { rows: page?.data ?? [], total: page?.total, next: page?.hasNext ? page : undefined };
    },
    initialPageParam: undefined as Page<Template> | undefined,
    getNextPageParam: (last) => last.next,
    placeholderData: (previous, of) => (of?.queryKey[1] === projectId ? previous : undefined),
  });
  return {
    rows: query.data?.pages.flatMap((page) => page.rows) ?? [],
    total: query.data?.pages[0]?.total,
    isPending: query.isPending,
    isStale: query.isPlaceholderData,
    error: query.isError && !query.isFetching ? query.error : undefined,
    retry: () => void query.refetch(),
    more: () => {
      if (query.hasNextPage && !query.isFetching && !query.isError) void query.fetchNextPage();
    },
  };
}

/** What sends a template. */
export interface User {
  kind: "campaign" | "automation";
  id: string;
  name: string;
  /** The status of a campaign, or whether an automation is on. */
  state: string;
}

export interface Usage {
  of: (templateId: string) => User[];
  /** Whether there are more campaigns or automations than were read. */
  isPartial: boolean;
}

/** The ids of the templates that the steps of an automation send, in branches, too. */
export function templatesOf(steps: unknown): string[] {
  if (Array.isArray(steps)) return steps.flatMap(templatesOf);
  if (typeof steps !== "object" || steps === null) return [];
  const step = steps as Record<string, unknown>;
  const own = step.type === "SEND_EMAIL" && typeof step.templateId === "string" ? [step.templateId] : [];
  return [...own, ...templatesOf(step.then), ...templatesOf(step.else), ...templatesOf(step.steps)];
}

/** The first pages of a list, and whether there are more. */
async function firstPages<T>(first: PromiseLike<Page<T>>): Promise<{ rows: T[]; hasMore: boolean }> {
  const rows: T[] = [];
  let page: Page<T> | undefined = await first;
  for (let read = 1; page; read++) {
    rows.push(...page.data);
    if (read === USAGE_PAGES || !page.hasNext) break;
    page = await page.next();
  }
  return { rows, hasMore: page?.hasNext ?? false };
}

async function readUsage(projectId: string, signal: AbortSignal): Promise<Usage> {
  const params = { sort: "-updatedAt", limit: PAGE_ROWS };
  const [campaigns, automations] = await Promise.all([
    firstPages(api(projectId).campaigns.list(params, { signal })),
    firstPages(api(projectId).automations.list(params, { signal })),
  ]);
  const users = new Map<string, User[]>();
  const add = (templateId: string, user: User) => users.set(templateId, [...(users.get(templateId) ?? []), user]);
  for (const { id, name, status, templateId } of campaigns.rows)
    if (templateId) add(templateId, { kind: "campaign", id, name, state: status });
  for (const { id, name, active, steps } of automations.rows)
    for (const templateId of new Set(templatesOf(steps)))
      add(templateId, { kind: "automation", id, name, state: active ? "ON" : "OFF" });
  return { of: (templateId) => users.get(templateId) ?? [], isPartial: campaigns.hasMore || automations.hasMore };
}

/** Which campaigns and automations send which template. The API tells it only from their side. */
export function useUsage(projectId: string) {
  return useQuery({
    queryKey: ["templates", projectId, "usage"],
    queryFn: ({ signal }) => readUsage(projectId, signal),
    staleTime: USAGE_STALE_MS,
    // Functions in the result cannot be compared.
    structuralSharing: false,
  });
}
