import type { DirectoryConnection, Organization, Page, SsoConnection } from "@postern/sdk";
import { queryOptions, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useState } from "react";
import { api } from "../../session/server";
import { isConflict } from "../customers/queries";

/** Events after which an organization, or what belongs to it, is different. */
export const ORGANIZATION_EVENTS = [
  "organization.created",
  "organization.updated",
  "organization.deleted",
  "organization.member_added",
  "organization.member_removed",
  "organization.domain_verified",
  "organization.domain_lapsed",
];
export const INVITATION_EVENTS = [
  "invitation.created",
  "invitation.resent",
  "invitation.accepted",
  "invitation.revoked",
  "invitation.expired",
];
export const SSO_EVENTS = [
  "sso.activated",
  "sso.deactivated",
  "sso.signed_in",
  "sso.metadata_changed",
  "sso.metadata_failing",
];
export const ENTITLEMENT_EVENTS = ["entitlement.changed", "entitlement.expired"];

/** As many records as one request gives. */
export const MOST = 1_000;
/** Records that a tab reads at once. */
const PART = 50;
const QUIET_MS = 60_000;
/** Milliseconds between two looks at a directory: no event tells that a request was refused. */
const DIRECTORY_LOOK_MS = 15_000;
/** Milliseconds between two looks at what no event tells: the checks of a domain, and refused sign-ins. */
const LOOK_MS = 5_000;

/** What of an organization is cached, below its id. */
const PARTS = [
  "one",
  "members",
  "invitations",
  "setup",
  "domains",
  "sso",
  "traces",
  "directories",
  "directoryUsers",
  "directoryGroups",
  "plan",
  "entitlements",
  "history",
] as const;
export type Part = (typeof PARTS)[number];

export const keyOf = (projectId: string, part: Part, id: string) => ["organizations", projectId, part, id] as const;

export function organizationQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: keyOf(projectId, "one", id),
    queryFn: ({ signal }) => api(projectId).organizations.get(id, { signal }),
    refetchInterval: QUIET_MS,
    // The client knows the version of the very object that it returned, not of a copy.
    structuralSharing: false,
  });
}

export function domainsQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: keyOf(projectId, "domains", id),
    queryFn: async ({ signal }) =>
      (await api(projectId).organizations.domains.list(id, { limit: MOST }, { signal })).data,
    refetchInterval: ({ state }) => (state.data?.some((each) => each.status === "PENDING") ? LOOK_MS : QUIET_MS),
  });
}

export function connectionsQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: keyOf(projectId, "sso", id),
    queryFn: async ({ signal }) => (await api(projectId).sso.list(id, { limit: MOST }, { signal })).data,
    refetchInterval: QUIET_MS,
  });
}

/** One connection with its version. */
export function connectionQuery(projectId: string, id: string, connectionId: string) {
  return queryOptions({
    queryKey: [...keyOf(projectId, "sso", id), connectionId],
    queryFn: ({ signal }) => api(projectId).sso.get(id, connectionId, { signal }),
    refetchInterval: QUIET_MS,
    structuralSharing: false,
  });
}

/** The latest attempts to sign in through a connection. The API records no event for one that is refused. */
export function tracesQuery(projectId: string, id: string, connectionId: string) {
  return queryOptions({
    queryKey: [...keyOf(projectId, "traces", id), connectionId],
    queryFn: async ({ signal }) => (await api(projectId).sso.listTraces(id, connectionId, {}, { signal })).data,
    refetchInterval: LOOK_MS,
  });
}

export function directoriesQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: keyOf(projectId, "directories", id),
    queryFn: async ({ signal }) => (await api(projectId).directories.list(id, { limit: MOST }, { signal })).data,
    refetchInterval: QUIET_MS,
  });
}

/** One directory with its version. */
export function directoryQuery(projectId: string, id: string, connectionId: string) {
  return queryOptions({
    queryKey: [...keyOf(projectId, "directories", id), connectionId],
    queryFn: ({ signal }) => api(projectId).directories.get(id, connectionId, { signal }),
    refetchInterval: DIRECTORY_LOOK_MS,
    structuralSharing: false,
  });
}

/** The connections of all organizations of the project, for the list. */
export function allConnectionsQuery(projectId: string) {
  return queryOptions({
    queryKey: ["organizations", projectId, "connections"],
    queryFn: async ({ signal }) => (await api(projectId).sso.listAll({ limit: MOST }, { signal })).data,
  });
}

export function plansQuery(projectId: string) {
  return queryOptions({
    queryKey: ["organizations", projectId, "plans"],
    queryFn: async ({ signal }) => (await api(projectId).plans.list({ limit: MOST }, { signal })).data,
  });
}

export function featuresQuery(projectId: string) {
  return queryOptions({
    queryKey: ["organizations", projectId, "features"],
    queryFn: async ({ signal }) => (await api(projectId).features.list({ limit: MOST }, { signal })).data,
  });
}

export function planQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: keyOf(projectId, "plan", id),
    queryFn: ({ signal }) => api(projectId).organizations.getPlan(id, { signal }),
  });
}

export function entitlementsQuery(projectId: string, id: string) {
  return queryOptions({
    queryKey: keyOf(projectId, "entitlements", id),
    queryFn: ({ signal }) => api(projectId).entitlements.list(id, { signal }),
    refetchInterval: QUIET_MS,
  });
}

/** A long list that continues at its end. */
export function useParts<T>(
  queryKey: readonly unknown[],
  first: (parameters: { limit: number }, options: { signal: AbortSignal }) => PromiseLike<Page<T>>,
) {
  const query = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam, signal }) => await (pageParam ? pageParam.next() : first({ limit: PART }, { signal })),
    initialPageParam: undefined as Page<T> | undefined,
    getNextPageParam: (last) => (last?.hasNext ? last : undefined),
    structuralSharing: false,
  });
  return { query, rows: query.data?.pages.flatMap((each) => each?.data ?? []) ?? [] };
}

/** A function that reads again what may have changed of an organization. */
export function useReadAgain(projectId: string, id: string): (...parts: Part[]) => void {
  const client = useQueryClient();
  return useCallback(
    (...parts) => {
      for (const part of [...parts, "history" as const])
        void client.invalidateQueries({ queryKey: keyOf(projectId, part, id) });
      void client.invalidateQueries({ queryKey: ["organizations", projectId, "list"] });
      void client.invalidateQueries({ queryKey: ["organizations", projectId, "connections"] });
    },
    [client, projectId, id],
  );
}

/** A function that shows a changed organization at once. */
export function useShowOrganization(projectId: string): (organization: Organization) => void {
  const client = useQueryClient();
  return useCallback(
    (organization) => {
      client.setQueryData(organizationQuery(projectId, organization.id).queryKey, organization);
      void client.invalidateQueries({ queryKey: ["organizations", projectId, "list"] });
      void client.invalidateQueries({ queryKey: keyOf(projectId, "history", organization.id) });
    },
    [client, projectId],
  );
}

/** A function that shows a changed connection at once. */
export function useShowConnection(projectId: string): (connection: SsoConnection) => void {
  const client = useQueryClient();
  return useCallback(
    (connection) => {
      const { organizationId, id } = connection;
      client.setQueryData(connectionQuery(projectId, organizationId, id).queryKey, connection);
      void client.invalidateQueries({ queryKey: keyOf(projectId, "sso", organizationId), exact: true });
      void client.invalidateQueries({ queryKey: ["organizations", projectId, "connections"] });
    },
    [client, projectId],
  );
}

/** A function that shows a changed directory at once. */
export function useShowDirectory(projectId: string): (connection: DirectoryConnection) => void {
  const client = useQueryClient();
  return useCallback(
    (connection) => {
      const { organizationId, id } = connection;
      client.setQueryData(directoryQuery(projectId, organizationId, id).queryKey, connection);
      void client.invalidateQueries({ queryKey: keyOf(projectId, "directories", organizationId), exact: true });
      for (const part of ["directoryUsers", "directoryGroups"] as const)
        void client.invalidateQueries({ queryKey: [...keyOf(projectId, part, organizationId), id] });
    },
    [client, projectId],
  );
}

/** What became of an attempt to save: stored, refused with an error, or changed by another person in the meantime. */
export type Saved = { kind: "saved" } | { kind: "conflict" } | { kind: "refused"; error: unknown };

/**
 * Saving a record against the version with which editing began. If someone else has changed it, `theirs` is the record
 * as it is now, until one of both versions is chosen.
 */
export function useEditing<T>(record: T, read: () => Promise<T>, onSaved: (record: T) => void) {
  const [base, setBase] = useState(record);
  const [theirs, setTheirs] = useState<T>();
  const [isBusy, setBusy] = useState(false);
  const save = async (run: (ifMatch: T) => Promise<T>, against = base): Promise<Saved> => {
    setBusy(true);
    try {
      const saved = await run(against);
      setBase(saved);
      setTheirs(undefined);
      onSaved(saved);
      return { kind: "saved" };
    } catch (error) {
      if (!isConflict(error)) return { kind: "refused", error };
      try {
        setTheirs(await read());
        return { kind: "conflict" };
      } catch (failed) {
        return { kind: "refused", error: failed };
      }
    } finally {
      setBusy(false);
    }
  };
  const takeTheirs = () => {
    if (theirs) setBase(theirs);
    setTheirs(undefined);
  };
  return { base, theirs, isBusy, save, takeTheirs, rebase: setBase, settle: () => setTheirs(undefined) };
}
