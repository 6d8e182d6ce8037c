import assert from "node:assert/strict";
import { test } from "node:test";
import type { Entitlement, SsoConnection } from "@postern/sdk";
import { endsSoon, groupLines, groupsIn, limitIn, missingParts, overridesFirst, valueText } from "./values.ts";

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
