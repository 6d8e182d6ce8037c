import { queryOptions } from "@tanstack/react-query";
import { api } from "../../session/server";

/** As many apps as a project can have. */
const MOST = 1_000;
/** Milliseconds between two looks: no event tells that another person has changed an app. */
const LOOK_MS = 30_000;

/** All apps of the project, newest first. */
export function appsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["access", projectId, "apps"],
    queryFn: async ({ signal }) => (await api(projectId).oauthClients.list({ limit: MOST }, { signal })).data,
    refetchInterval: LOOK_MS,
  });
}

/** One app with its version. */
export function appQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["access", projectId, "app", id],
    queryFn: ({ signal }) => api(projectId).oauthClients.get(id, { signal }),
    refetchInterval: LOOK_MS,
    // The client knows the version of the very object that it returned, not of a copy.
    structuralSharing: false,
  });
}

/** All APIs for which apps can ask for tokens, newest first. */
export function resourcesQuery(projectId: string) {
  return queryOptions({
    queryKey: ["access", projectId, "resources"],
    queryFn: async ({ signal }) => (await api(projectId).oauthResources.list({ limit: MOST }, { signal })).data,
    refetchInterval: LOOK_MS,
  });
}

/** One API with its version. */
export function resourceQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["access", projectId, "resource", id],
    queryFn: ({ signal }) => api(projectId).oauthResources.get(id, { signal }),
    // As above. A form begins with what is stored now.
    structuralSharing: false,
    gcTime: 0,
  });
}

/** The URLs of the project's OpenID provider, as programs read them. */
export function providerQuery(projectId: string) {
  return queryOptions({
    queryKey: ["access", projectId, "openid"],
    // The document is public and not part of what the dashboard's session may call.
    queryFn: async ({ signal }) => {
      const path = `/projects/${projectId}/.well-known/openid-configuration`;
      const response = await fetch(path, { signal, credentials: "omit", cache: "no-store" });
      if (!response.ok) throw new Error(`${response.status} ${response.statusText}`);
      return (await response.json()) as Record<string, unknown>;
    },
    staleTime: 60_000,
  });
}
