import type { Feature, Permission, Plan, PlanFeature, Role } from "@postern/sdk";
import { coveredBy } from "../../parts/access.ts";

/** A row of the matrix of roles: a permission that is declared, or a wildcard. */
export interface Row {
  key: string;
  description: string | null;
  isWildcard: boolean;
  /** Whether the permission is no longer declared, or was never: roles still name it. */
  isUndeclared: boolean;
}

/**
 * The rows of the matrix: everything, then for each first word its wildcard and its permissions. A wildcard has a row
 * if it covers more than one permission or a role has it.
 */
export function rowsOf(permissions: Permission[], roles: Role[]): Row[] {
  const used = new Set(roles.flatMap((role) => role.permissions));
  const declared = new Map(permissions.map((each) => [each.key, each]));
  const keys = new Set([...declared.keys(), ...used, "*"]);
  const groups = new Map<string, number>();
  for (const key of declared.keys()) {
    const group = key.slice(0, key.indexOf(":"));
    groups.set(group, (groups.get(group) ?? 0) + 1);
  }
  for (const [group, count] of groups) if (count > 1) keys.add(`${group}:*`);
  // `*` sorts before `:`, so wildcards come before what they cover.
  return [...keys].sort(byKey).map((key) => {
    const isWildcard = key.endsWith("*");
    return {
      key,
      description: declared.get(key)?.description ?? null,
      isWildcard,
      isUndeclared: !isWildcard && !declared.has(key),
    };
  });
}

function byKey(one: string, other: string): number {
  const [first, second] = [one.split(":"), other.split(":")];
  for (let at = 0; at < Math.max(first.length, second.length); at++) {
    const [a, b] = [first[at] ?? "", second[at] ?? ""];
    if (a === b) continue;
    if (a === "*") return -1;
    if (b === "*") return 1;
    return a < b ? -1 : 1;
  }
  return 0;
}

/** What a role has of a row: the permission itself, another entry that covers it (its pattern), or nothing. */
export type Grant = { kind: "own" } | { kind: "covered"; by: string } | { kind: "none" };

export function grantOf(role: Role, key: string): Grant {
  if (role.permissions.includes(key)) return { kind: "own" };
  const by = coveredBy(
    role.permissions.filter((each) => each.endsWith("*") && each !== key),
    key,
  );
  return by === undefined ? { kind: "none" } : { kind: "covered", by };
}

/** The permissions of a role after one of them was switched on or off. */
export function toggled(permissions: string[], key: string, on: boolean): string[] {
  const others = permissions.filter((each) => each !== key);
  return on ? [...others, key].sort(byKey) : others;
}

/** The roles that name a permission; those that have a wildcard keep it. */
export function rolesNaming(roles: Role[], key: string): Role[] {
  return roles.filter((role) => role.permissions.includes(key));
}

/** Roles in the order of the columns: those that are built in, then the others by name. */
export function columnsOf(roles: Role[], scope: "PROJECT" | "ORGANIZATION"): Role[] {
  const order = ["OWNER", "ADMIN", "MEMBER"];
  return roles
    .filter((role) => role.scope === scope)
    .sort((one, other) =>
      one.system && other.system
        ? order.indexOf(one.key) - order.indexOf(other.key)
        : one.system !== other.system
          ? Number(other.system) - Number(one.system)
          : one.name.localeCompare(other.name),
    );
}

/** What a plan says about a feature. Without an entry, the default of the feature applies. */
export type Setting = { kind: "default" } | { kind: "off" } | { kind: "on"; limit: number | null };

export function settingIn(plan: Pick<Plan, "features">, featureKey: string): Setting {
  const entry = plan.features.find((each) => each.featureKey === featureKey);
  if (!entry) return { kind: "default" };
  return entry.enabled === false ? { kind: "off" } : { kind: "on", limit: entry.limit ?? null };
}

export function defaultOf(feature: Feature): Setting {
  return feature.defaultEnabled ? { kind: "on", limit: feature.defaultLimit } : { kind: "off" };
}

/** What a plan says about a feature, as the form holds it; an empty limit is unlimited. */
export interface Choice {
  mode: "default" | "off" | "on";
  limit: string;
}

export function choiceOf(setting: Setting): Choice {
  return {
    mode: setting.kind,
    limit: setting.kind === "on" && setting.limit !== null ? String(setting.limit) : "",
  };
}

/** The list of features that a request stores for a plan. */
export function planFeatures(features: Feature[], choices: Record<string, Choice>): PlanFeature[] {
  return features.flatMap(({ key, type }): PlanFeature[] => {
    const choice = choices[key];
    if (!choice || choice.mode === "default") return [];
    const limit = type === "LIMIT" && choice.mode === "on" && choice.limit.trim() ? Number(choice.limit) : null;
    return [{ featureKey: key, enabled: choice.mode === "on", limit }];
  });
}

/** Whether a text is a limit: nothing, which is unlimited, or a whole number that JSON keeps exactly. */
export function isLimit(text: string): boolean {
  const trimmed = text.trim();
  return trimmed === "" || (/^\d{1,16}$/.test(trimmed) && Number.isSafeInteger(Number(trimmed)));
}

/** The names of the plans that set a feature. */
export function plansWith(plans: Plan[], featureKey: string): Plan[] {
  return plans.filter((plan) => plan.features.some((each) => each.featureKey === featureKey));
}
