import assert from "node:assert/strict";
import { test } from "node:test";
import {
  choiceOf,
  columnsOf,
  grantOf,
  isLimit,
  planFeatures,
  rolesNaming,
  rowsOf,
  settingIn,
  toggled,
} from "./matrix.ts";

const at = { createdAt: "", updatedAt: "" };
const permission = (key: string) => ({ key, description: null, createdAt: "" });
const role = (key: string, permissions: string[], more = {}) => ({
  key,
  name: key,
  description: null,
  scope: "PROJECT",
  appliesToAllOrganizations: false,
  system: false,
  permissions,
  ...at,
  ...more,
});

test("wildcards stand before what they cover", () => {
  const permissions = ["posts:write", "billing:read", "posts:read"].map(permission);
  const rows = rowsOf(permissions, [role("editor", ["billing:*", "gone:read"])]);
  assert.deepEqual(
    rows.map((each) => each.key),
    ["*", "billing:*", "billing:read", "gone:read", "posts:*", "posts:read", "posts:write"],
  );
  assert.deepEqual(
    rows.filter((each) => each.isUndeclared).map((each) => each.key),
    ["gone:read"],
  );
});

test("a permission is a role's own, covered by a wildcard, or missing", () => {
  const editor = role("editor", ["posts:*", "billing:read"]);
  assert.deepEqual(grantOf(editor, "billing:read"), { kind: "own" });
  assert.deepEqual(grantOf(editor, "posts:write"), { kind: "covered", by: "posts:*" });
  assert.deepEqual(grantOf(editor, "posts:*"), { kind: "own" });
  assert.deepEqual(grantOf(editor, "*"), { kind: "none" });
  assert.deepEqual(grantOf(role("all", ["*"]), "posts:*"), { kind: "covered", by: "*" });
});

test("switching changes one permission only", () => {
  assert.deepEqual(toggled(["posts:write"], "posts:*", true), ["posts:*", "posts:write"]);
  assert.deepEqual(toggled(["posts:*", "posts:write"], "posts:*", false), ["posts:write"]);
  assert.deepEqual(
    rolesNaming([role("a", ["x:y"]), role("b", ["x:*"])], "x:y").map((each) => each.key),
    ["a"],
  );
});

test("built-in roles are the first columns", () => {
  const roles = [
    role("zoe", []),
    role("MEMBER", [], { system: true }),
    role("OWNER", ["*"], { system: true }),
    role("other", [], { scope: "ORGANIZATION" }),
    role("amy", []),
  ];
  assert.deepEqual(
    columnsOf(roles, "PROJECT").map((each) => each.key),
    ["OWNER", "MEMBER", "amy", "zoe"],
  );
});

test("a plan has entries only for what it sets", () => {
  const feature = (key: string, type: string) => ({
    key,
    name: key,
    type,
    defaultEnabled: false,
    defaultLimit: null,
    ...at,
  });
  const features = [feature("seats", "LIMIT"), feature("sso", "BOOLEAN"), feature("api", "BOOLEAN")];
  const stored = planFeatures(features, {
    seats: { mode: "on", limit: " 50" },
    sso: { mode: "off", limit: "9" },
    api: { mode: "default", limit: "" },
  });
  assert.deepEqual(stored, [
    { featureKey: "seats", enabled: true, limit: 50 },
    { featureKey: "sso", enabled: false, limit: null },
  ]);
  assert.deepEqual(settingIn({ features: stored }, "api"), { kind: "default" });
  assert.deepEqual(choiceOf(settingIn({ features: stored }, "seats")), { mode: "on", limit: "50" });
  assert.deepEqual(
    [isLimit(""), isLimit("0"), isLimit("1.5"), isLimit("9007199254740993")],
    [true, true, false, false],
  );
});
