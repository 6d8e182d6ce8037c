import type { DirectoryConnection, DirectoryGroup, Entitlement, SsoConnection } from "@postern/sdk";

const DAY_MS = 86_400_000;
/** Days before the end of a certificate from which it is marked. */
const SOON_DAYS = 30;

/** Whether a certificate has ended or ends soon. */
export function endsSoon(expiresAt: string, now: number): "ended" | "soon" | undefined {
  const left = Date.parse(expiresAt) - now;
  if (left <= 0) return "ended";
  return left < SOON_DAYS * DAY_MS ? "soon" : undefined;
}

/** What a connection lacks before it can be tested. */
export function missingParts(
  connection: Pick<
    SsoConnection,
    "kind" | "idpEntityId" | "idpSsoUrl" | "idpCertificate" | "oidcIssuer" | "oidcClientId"
  >,
): string[] {
  const { kind, idpEntityId, idpSsoUrl, idpCertificate, oidcIssuer, oidcClientId } = connection;
  if (kind === "OIDC") return [...(oidcIssuer ? [] : ["oidcIssuer"]), ...(oidcClientId ? [] : ["oidcClientId"])];
  return [
    ...(idpEntityId ? [] : ["idpEntityId"]),
    ...(idpSsoUrl ? [] : ["idpSsoUrl"]),
    ...(idpCertificate.length ? [] : ["idpCertificate"]),
  ];
}

/** A number that someone wrote: undefined if it is none, null if the field is empty. */
export function limitIn(typed: string): number | null | undefined {
  const text = typed.trim();
  if (!text) return null;
  const value = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(value) ? value : undefined;
}

/** The groups of an identity provider with the roles that they give, as lines `group = ROLE, ROLE`. */
export function groupLines(groupRoles: Record<string, string[]>): string {
  return Object.entries(groupRoles)
    .map(([group, roles]) => `${group} = ${roles.join(", ")}`)
    .join("\n");
}

/** Reads lines as `groupLines` writes them; the number of the first wrong line if one is wrong. */
export function groupsIn(text: string): { groups: Record<string, string[]> } | { wrongLine: number } {
  // Without a prototype, so that a group can have any name.
  const groups: Record<string, string[]> = Object.create(null);
  for (const [index, line] of text.split("\n").entries()) {
    if (!line.trim()) continue;
    const at = line.lastIndexOf("=");
    const group = line.slice(0, at).trim();
    const roles = line
      .slice(at + 1)
      .split(",")
      .map((each) => each.trim())
      .filter(Boolean);
    if (at < 0 || !group || roles.length === 0) return { wrongLine: index + 1 };
    groups[group] = roles;
  }
  return { groups };
}

/** An entry of a profile as text: lists as `a, b`, the rest as JSON. */
export function valueText(value: unknown): string {
  if (typeof value === "string") return value;
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return value.join(", ");
  return value === null || value === undefined ? "" : JSON.stringify(value);
}

/** The entitlements with the overrides first, then by key. */
export function overridesFirst(entitlements: Entitlement[]): Entitlement[] {
  const rank = ({ source }: Entitlement) => (source === "OVERRIDE" ? 0 : 1);
  return entitlements.toSorted(
    (first, second) => rank(first) - rank(second) || first.featureKey.localeCompare(second.featureKey),
  );
}

/** Whether a directory has used a token or changed something. */
export function wasSeen({ tokens, lastSyncedAt }: Pick<DirectoryConnection, "tokens" | "lastSyncedAt">): boolean {
  return lastSyncedAt !== null || tokens.some((each) => each.lastUsedAt !== null);
}

/** Whether a request of a directory was refused in the last day. */
export function isRefused({ recentErrors }: Pick<DirectoryConnection, "recentErrors">, now: number): boolean {
  return recentErrors.some((each) => now - Date.parse(each.occurredAt) < DAY_MS);
}

type GroupName = Pick<DirectoryGroup, "id" | "externalId" | "displayName">;

/** The names under which a directory gives roles to a group: by its name in any letter case, its ID there or here. */
export function keysOfGroup(groupRoles: Record<string, string[]>, group: GroupName): string[] {
  const name = group.displayName.toLowerCase();
  return Object.keys(groupRoles).filter(
    (key) => key.toLowerCase() === name || key === group.externalId || key === group.id,
  );
}

/** The roles by group with those of one group replaced. The group keeps the name under which it had roles. */
export function withRolesOf(
  groupRoles: Record<string, string[]>,
  group: GroupName,
  roles: string[],
): Record<string, string[]> {
  const keys = keysOfGroup(groupRoles, group);
  const others = Object.entries(groupRoles).filter(([key]) => !keys.includes(key));
  return Object.fromEntries(roles.length ? [...others, [keys[0] ?? group.displayName, roles]] : others);
}

/** The names that have roles although the directory has sent no such group. */
export function unsentGroups(groupRoles: Record<string, string[]>, groups: GroupName[]): string[] {
  const sent = new Set(groups.flatMap((each) => keysOfGroup(groupRoles, each)));
  return Object.keys(groupRoles).filter((key) => !sent.has(key));
}
