import type { ListedAutomation } from "@postern/sdk";
import { queryOptions, useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { PAGE_ROWS } from "../../lists/rows";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { sendingDomainsQuery, templatesQuery, usePages } from "../campaigns/queries";
import { useAudiences } from "../contacts/queries";
import type { RunStatus, State } from "./routes";

/** Milliseconds between two looks at a list, and at the runs of one automation. */
const LIST_MS = 15_000;
const RUNS_MS = 10_000;

/** Events after which the numbers of automations are different. */
export const AUTOMATION_EVENTS = ["automation.started", "automation.completed", "automation.failed"];

export interface ListFilters {
  q?: string | undefined;
  show?: State | undefined;
  sort?: string | undefined;
}

export function parametersOf({ q, show, sort }: ListFilters) {
  return {
    q,
    active: show && show === "active",
    sort,
    include: ["counts", "total"],
    limit: PAGE_ROWS,
  };
}

export function useAutomations(projectId: string, filters: ListFilters) {
  const parameters = parametersOf(filters);
  return usePages<ListedAutomation>({
    queryKey: ["automations", projectId, "list", parameters],
    first: () => api(projectId).automations.list(parameters),
    every: LIST_MS,
  });
}

export function automationQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["automations", projectId, "one", id],
    queryFn: ({ signal }) => api(projectId).automations.get(id, { signal }),
    // The client knows the version of the very object that it returned, not of a copy.
    structuralSharing: false,
  });
}

export function totalsQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["automations", projectId, "totals", id],
    queryFn: async ({ signal }) => {
      const [totals, positions] = await Promise.all([
        api(projectId).automations.getTotals(id, { signal }),
        api(projectId).automations.listPositions(id, { signal }),
      ]);
      return { totals, positions };
    },
    refetchInterval: RUNS_MS,
  });
}

export function useRuns(projectId: string, id: string, status: RunStatus | undefined) {
  return usePages({
    queryKey: ["automations", projectId, "runs", id, status],
    first: () => api(projectId).automations.runs.list(id, { status: status && [status], limit: PAGE_ROWS }),
    every: RUNS_MS,
  });
}

export function runQuery(projectId: string, id: string, runId: string) {
  return queryOptions({
    queryKey: ["automations", projectId, "run", id, runId],
    queryFn: ({ signal }) => api(projectId).automations.runs.get(id, runId, { signal }),
    refetchInterval: RUNS_MS,
  });
}

/** What steps can refer to, and its names. */
export function useChoices() {
  const projectId = useProjectId();
  const templates = useQuery(templatesQuery(projectId)).data;
  const domains = useQuery(sendingDomainsQuery(projectId));
  const { audiences } = useAudiences();
  return useMemo(
    () => ({
      templates: templates ?? [],
      domains: domains.data ?? [],
      isReady: !domains.isPending,
      audiences,
      templateNames: new Map(templates?.map((each) => [each.id, each.name])),
      audienceNames: new Map(audiences.map((each) => [each.id, each.name])),
    }),
    [templates, domains.data, domains.isPending, audiences],
  );
}

export type Choices = ReturnType<typeof useChoices>;
