import type { ApiKey } from "@postern/sdk";
import { m } from "../../messages/messages.js";

/** What a key of a project can be allowed to do, by area. `customers:impersonate` has to be named. */
export const AREAS: Record<string, string[]> = {
  emails: ["send", "read", "write"],
  inbox: ["read"],
  inbound: ["read", "write"],
  templates: ["read", "write"],
  domains: ["read", "write"],
  contacts: ["read", "write"],
  audiences: ["read", "write"],
  campaigns: ["read", "write", "send"],
  automations: ["read", "write"],
  analytics: ["read"],
  events: ["read", "write"],
  webhooks: ["read", "write"],
  customers: ["read", "write", "impersonate"],
  access: ["read", "write"],
  organizations: ["read", "write"],
  sso: ["read", "write"],
  scim: ["read", "write"],
  entitlements: ["read", "write"],
  projects: ["read", "write"],
};

export const AREA_LABELS: Record<string, () => string> = {
  emails: m.developers_perm_emails,
  inbox: m.developers_perm_inbox,
  inbound: m.developers_perm_inbound,
  templates: m.developers_perm_templates,
  domains: m.developers_perm_domains,
  contacts: m.developers_perm_contacts,
  audiences: m.developers_perm_audiences,
  campaigns: m.developers_perm_campaigns,
  automations: m.developers_perm_automations,
  analytics: m.developers_perm_analytics,
  events: m.developers_perm_events,
  webhooks: m.developers_perm_webhooks,
  customers: m.developers_perm_customers,
  access: m.developers_perm_access,
  organizations: m.developers_perm_organizations,
  sso: m.developers_perm_sso,
  scim: m.developers_perm_scim,
  entitlements: m.developers_perm_entitlements,
  projects: m.developers_perm_projects,
};

export const VERB_LABELS: Record<string, () => string> = {
  read: m.developers_verb_read,
  write: m.developers_verb_write,
  send: m.developers_verb_send,
  impersonate: m.developers_verb_impersonate,
  "*": m.developers_verb_all,
};

/** Everything that only reads. */
export const READS = Object.entries(AREAS)
  .filter(([, verbs]) => verbs.includes("read"))
  .map(([area]) => `${area}:read`);

/** A choice of what a key may do; `some` is a list of its own. */
export type Scope = "all" | "send" | "read" | "some";

export function scopeOf(permissions: string[] | null): Scope {
  if (permissions === null) return "all";
  const set = new Set(permissions);
  if (set.size === 1 && set.has("emails:send")) return "send";
  return set.size === READS.length && READS.every((each) => set.has(each)) ? "read" : "some";
}

/** What a key may do, in a few words. */
export function scopeWords({ type, permissions }: Pick<ApiKey, "type" | "permissions">): string {
  if (type === "PUBLISHABLE") return m.developers_scope_publishable();
  const scope = scopeOf(permissions);
  if (scope === "all") return m.developers_scope_all();
  if (scope === "send") return m.developers_scope_send();
  if (scope === "read") return m.developers_scope_read();
  const areas = [...new Set(permissions?.map((each) => each.split(":", 1)[0] ?? ""))];
  return areas.map((each) => AREA_LABELS[each]?.() ?? each).join(", ");
}

/** Permissions by area, in words: `Emails: send, read`. */
export function permissionLines(permissions: string[]): [string, string][] {
  const verbs = new Map<string, string[]>();
  for (const each of permissions) {
    const [area = "", verb = ""] = each.split(":", 2);
    verbs.set(area, [...(verbs.get(area) ?? []), VERB_LABELS[verb]?.() ?? verb]);
  }
  return [...verbs].map(([area, words]) => [AREA_LABELS[area]?.() ?? area, words.join(", ")]);
}

/** Whether a key has expired. */
export function isExpired({ expiresAt }: Pick<ApiKey, "expiresAt">): boolean {
  return expiresAt !== null && new Date(expiresAt) <= new Date();
}
