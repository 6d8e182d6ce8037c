import { queryOptions } from "@tanstack/react-query";
import { api } from "../session/server";

/** As many records as one request gives. */
const MOST = 1_000;
const QUIET_MS = 60_000;

export function membershipsQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: ["customers", projectId, "organizations", id],
    queryFn: async ({ signal }) =>
      (await api(projectId).customers.listOrganizations(id, { limit: MOST }, { signal })).data,
  });
}

export function rolesQuery(projectId: string) {
  return queryOptions({
    queryKey: ["customers", projectId, "roles"],
    queryFn: async ({ signal }) => (await api(projectId).access.roles.list({ limit: MOST }, { signal })).data,
    staleTime: QUIET_MS,
  });
}

export function permissionsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["customers", projectId, "permissions"],
    queryFn: async ({ signal }) => {
      const { data } = await api(projectId).access.permissions.list({ limit: MOST }, { signal });
      return data.toSorted((first, second) => first.key.localeCompare(second.key));
    },
    staleTime: QUIET_MS,
  });
}
