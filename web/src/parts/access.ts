import type { Role } from "@postern/sdk";

/** What of a role's permissions covers one: itself, a prefix such as `orders:*`, or `*`. */
export function coveredBy(patterns: string[], permission: string): string | undefined {
  return patterns.find(
    (each) => each === permission || (each.endsWith("*") && permission.startsWith(each.slice(0, -1))),
  );
}

/** A role by its key and scope. Keys of system roles exist in both scopes. */
export function roleOf(roles: Role[], key: string, scope: "PROJECT" | "ORGANIZATION"): Role | undefined {
  return roles.find((each) => each.key === key && each.scope === scope) ?? roles.find((each) => each.key === key);
}

/** The steps of a check that are about roles, with the scope of these. */
export const ROLE_STEPS: Record<string, "PROJECT" | "ORGANIZATION"> = {
  PROJECT_ROLE: "PROJECT",
  ORGANIZATION_ROLE: "ORGANIZATION",
  ALL_ORGANIZATIONS_ROLE: "PROJECT",
};

/** The reasons of a denial, and the step that caused it. */
export const DECIDING: Record<string, string> = {
  UNKNOWN_PERMISSION: "PERMISSION_DECLARED",
  CUSTOMER_BANNED: "CUSTOMER_NOT_BANNED",
  ORGANIZATION_SUSPENDED: "ORGANIZATION_ACTIVE",
  NOT_A_MEMBER: "MEMBER",
  PROJECT_ROLE: "PROJECT_ROLE",
  ORGANIZATION_ROLE: "ORGANIZATION_ROLE",
  ALL_ORGANIZATIONS_ROLE: "ALL_ORGANIZATIONS_ROLE",
};
