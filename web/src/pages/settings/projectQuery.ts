import { api } from "../../session/server";

/** The project with its settings. */
export function projectQuery(projectId: string) {
  return {
    queryKey: ["settings", projectId, "project"],
    queryFn: ({ signal }: { signal: AbortSignal }) => api(projectId).projects.get({ signal }),
    // `ifMatch` needs the very object that the client returned.
    structuralSharing: false,
  };
}
