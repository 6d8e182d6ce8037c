import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entitlement, SsoConnection } from "@postern/sdk";
import {
  endsSoon,
  groupLines,
  groupsIn,
  isRefused,
  keysOfGroup,
  limitIn,
  missingParts,
  overridesFirst,
  unsentGroups,
  valueText,
  wasSeen,
  withRolesOf,
} from "./values.ts";

test("the end of a certificate is marked thirty days before", () => {
  const now = Date.parse("2026-06-01T00:00:00Z");
  assert.equal(endsSoon("2026-05-31T23:59:59Z", now), "ended");
  assert.equal(endsSoon("2026-06-20T00:00:00Z", now), "soon");
  assert.equal(endsSoon("2026-08-01T00:00:00Z", now), undefined);
});

test("what a connection lacks is named", () => {
  const draft = { idpEntityId: null, idpSsoUrl: "https://idp.example", idpCertificate: [] as string[] };
  assert.deepEqual(missingParts(draft as unknown as SsoConnection), ["idpEntityId", "idpCertificate"]);
});

test("limits are whole numbers, and empty is unlimited", () => {
  assert.equal(limitIn(" "), null);
  assert.equal(limitIn("25"), 25);
  assert.equal(limitIn("0"), 0);
  for (const each of ["-1", "1.5", "1e3", "x", "9007199254740993"]) assert.equal(limitIn(each), undefined);
});

test("groups are read as they are written", () => {
  const groups = { "admins & co": ["ADMIN", "billing"], "cn=staff,dc=acme": ["MEMBER"], __proto: ["MEMBER"] };
  assert.equal(groupLines({ "admins & co": ["ADMIN", "billing"] }), "admins & co = ADMIN, billing");
  const read = groupsIn(`${groupLines(groups)}\n\n`);
  assert.deepEqual("groups" in read && { ...read.groups }, groups);
  const special = groupsIn("__proto__ = MEMBER");
  assert.deepEqual("groups" in special && Object.entries(special.groups), [["__proto__", ["MEMBER"]]]);
  for (const each of ["a = MEMBER\nb", "a = MEMBER\n= ADMIN", "a = MEMBER\nb ="])
    assert.deepEqual(groupsIn(each), { wrongLine: 2 });
});

test("values of a profile become text", () => {
  assert.equal(valueText("<b>"), "<b>");
  assert.equal(valueText(["a", "b"]), "a, b");
  assert.equal(valueText(null), "");
  assert.equal(valueText({ a: [1] }), '{"a":[1]}');
});

test("overrides come first", () => {
  const of = (featureKey: string, source: string) => ({ featureKey, source }) as Entitlement;
  const sorted = overridesFirst([of("b", "PLAN"), of("c", "OVERRIDE"), of("a", "DEFAULT")]);
  assert.deepEqual(
    sorted.map((each) => each.featureKey),
    ["c", "a", "b"],
  );
});

const ADMINS = { id: "g1", externalId: "x1", displayName: "Administrators" };

test("a group has roles by its name in any case, or by an ID", () => {
  assert.deepEqual(keysOfGroup({ administrators: ["ADMIN"], x1: ["A"], X1: ["B"], g1: ["C"] }, ADMINS), [
    "administrators",
    "x1",
    "g1",
  ]);
});

test("the roles of one group are replaced under the name that it has", () => {
  const before = { x1: ["ADMIN"], g1: ["OTHER"], Staff: ["MEMBER"] };
  assert.deepEqual(withRolesOf(before, ADMINS, ["OWNER"]), { Staff: ["MEMBER"], x1: ["OWNER"] });
  assert.deepEqual(withRolesOf(before, ADMINS, []), { Staff: ["MEMBER"] });
  assert.deepEqual(withRolesOf({}, ADMINS, ["ADMIN"]), { Administrators: ["ADMIN"] });
});

test("names without a group are told", () => {
  assert.deepEqual(unsentGroups({ ADMINISTRATORS: ["ADMIN"], Staff: ["MEMBER"] }, [ADMINS]), ["Staff"]);
});

test("a directory was seen if it used a token, and is refused for a day", () => {
  const token = { id: "t1", createdAt: "2026-06-01T00:00:00Z", expiresAt: null, lastUsedAt: null };
  assert.equal(wasSeen({ tokens: [token], lastSyncedAt: null }), false);
  assert.equal(wasSeen({ tokens: [{ ...token, lastUsedAt: "2026-06-01T01:00:00Z" }], lastSyncedAt: null }), true);
  const error = { id: "e1", method: "POST", path: "/Users", status: 400, scimType: null, detail: "" };
  const recentErrors = [{ ...error, occurredAt: "2026-06-01T00:00:00Z" }];
  assert.equal(isRefused({ recentErrors }, Date.parse("2026-06-01T23:00:00Z")), true);
  assert.equal(isRefused({ recentErrors }, Date.parse("2026-06-02T01:00:00Z")), false);
});
