import { queryOptions } from "@tanstack/react-query";
import { m } from "../../messages/messages.js";
import { api } from "../../session/server";

export const HOOK_KINDS = ["BEFORE_SIGN_UP", "BEFORE_TOKEN", "MIGRATION"] as const;
export type HookKind = (typeof HOOK_KINDS)[number];
/** Milliseconds between two looks: calls fail without anybody's doing. */
const LOOK_MS = 30_000;

export const HOOK_WORDS: Record<HookKind, { label: () => string; lead: () => string; without: () => string }> = {
  BEFORE_SIGN_UP: {
    label: m.access_hook_sign_up,
    lead: m.access_hook_sign_up_lead,
    without: m.access_hook_sign_up_without,
  },
  BEFORE_TOKEN: { label: m.access_hook_token, lead: m.access_hook_token_lead, without: m.access_hook_token_without },
  MIGRATION: {
    label: m.access_hook_migration,
    lead: m.access_hook_migration_lead,
    without: m.access_hook_migration_without,
  },
};

/** The hooks of the project with their last failures. */
export function hooksQuery(projectId: string) {
  return queryOptions({
    queryKey: ["access", projectId, "hooks"],
    queryFn: ({ signal }) => api(projectId).signInHooks.list({ signal }),
    refetchInterval: LOOK_MS,
  });
}

/** One hook with its version, as it is stored now. */
export function hookQuery(projectId: string, kind: HookKind) {
  return queryOptions({
    queryKey: ["access", projectId, "hook", kind],
    queryFn: ({ signal }) => api(projectId).signInHooks.get(kind, { signal }),
    // The client knows the version of the very object that it returned, not of a copy.
    structuralSharing: false,
    gcTime: 0,
  });
}
