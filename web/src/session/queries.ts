import { APIError } from "@postern/sdk";
import { QueryClient } from "@tanstack/react-query";
import { reachable } from "./server";

const STALE_MS = 10_000;

/** What the dashboard has read, kept while pages change. Waiting is the client's: an answer of 4xx is final. */
export const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: STALE_MS,
      retry: (failures, error) => !(error instanceof APIError && error.status < 500) && failures < 2,
      refetchOnWindowFocus: true,
    },
  },
});

// When the server is back, everything on the page is read again.
reachable.subscribe(() => {
  if (reachable.get()) void queries.refetchQueries({ type: "active" });
});
