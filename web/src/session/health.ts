import { queryOptions } from "@tanstack/react-query";
import { api } from "./server";

/** Milliseconds between two looks at the server's health. */
const LOOK_MS = 60_000;
/** An e-mail that has waited for its first attempt for so many minutes is stuck. */
export const STUCK_MINUTES = 5;

/** What `/readyz` tells: each part by its name. */
export interface Readiness {
  parts: Record<string, { ok: boolean; detail: string }>;
}

/** The parts of the server that its readiness check looks at. It answers 503 while one of them fails. */
export const readinessQuery = queryOptions({
  queryKey: ["readiness"],
  queryFn: async ({ signal }): Promise<Readiness> => {
    const response = await fetch("/readyz", { signal, cache: "no-store" });
    const body = (await response.json()) as Partial<Readiness>;
    if (!body.parts) throw new Error(`/readyz: ${response.status}`);
    return { parts: body.parts };
  },
  refetchInterval: LOOK_MS,
  staleTime: LOOK_MS / 2,
});

/** The e-mails of a project that wait for longer than they should. */
export function stuckQuery(projectId: string) {
  return queryOptions({
    queryKey: ["stuck", projectId],
    queryFn: async ({ signal }) => {
      const to = new Date(Date.now() - STUCK_MINUTES * 60_000).toISOString();
      const page = await api(projectId).emails.list({ status: ["QUEUED"], to, limit: 1 }, { signal });
      return { total: page.total ?? page.data.length, newest: page.data[0] };
    },
    enabled: projectId !== "",
    refetchInterval: LOOK_MS,
    staleTime: LOOK_MS / 2,
  });
}

/** How many things are stuck: parts of the server that fail, and whether e-mails of the project do. */
export function countStuck(readiness: Readiness | undefined, emails: number | undefined): number {
  const failing = Object.values(readiness?.parts ?? {}).filter((part) => !part.ok).length;
  return failing + (emails ? 1 : 0);
}
