import { useQuery } from "@tanstack/react-query";
import { api } from "../session/server";
import { STOPS, type Stop } from "./progress";

/** Milliseconds between two looks whether what the stop is about has been done. */
const LOOK_MS = 2_000;

const ONE = { limit: 1 };

/** Reads whether the project has what a stop is about. */
const LOOKS: Record<Stop, (projectId: string, signal: AbortSignal) => Promise<{ data: unknown[] }>> = {
  email: (projectId, signal) => api(projectId).emails.list(ONE, { signal }),
  key: (projectId, signal) => api(projectId).apiKeys.list(ONE, { signal }),
  domain: (projectId, signal) => api(projectId).domains.list(ONE, { signal }),
  contacts: (projectId, signal) => api(projectId).contacts.imports.list(ONE, { signal }),
  template: (projectId, signal) => api(projectId).templates.list(ONE, { signal }),
};

/** Which stops are done, as the API says. The stop where the tour is now is read again and again until it is. */
export function useDone(projectId: string, at: Stop | "end"): ReadonlySet<Stop> {
  const { data } = useQuery({
    queryKey: ["tour", projectId, at],
    queryFn: async ({ signal }) => {
      const found = await Promise.all(
        STOPS.map(async (stop) => ((await LOOKS[stop](projectId, signal)).data.length > 0 ? [stop] : [])),
      );
      return found.flat();
    },
    // All at first; then only while the stop is not done.
    refetchInterval: ({ state }) => (at === "end" || state.data?.includes(at) ? false : LOOK_MS),
    placeholderData: (before) => before,
  });
  return new Set(data);
}
