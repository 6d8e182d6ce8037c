import assert from "node:assert/strict";
import { test } from "node:test";
import { coveredBy, roleOf } from "./access.ts";

test("a permission is covered by itself, by its prefixes and by all", () => {
  assert.equal(coveredBy(["catalogue:read", "orders:*"], "orders:approve"), "orders:*");
  assert.equal(coveredBy(["orders:approve"], "orders:approve"), "orders:approve");
  assert.equal(coveredBy(["*"], "orders:approve"), "*");
  assert.equal(coveredBy(["order:*", "orders:read"], "orders:approve"), undefined);
  assert.equal(coveredBy(["orders:lines:*"], "orders:approve"), undefined);
});

test("a role is that of the scope, where both have one of the key", () => {
  const roles = [
    { key: "ADMIN", scope: "PROJECT", name: "first" },
    { key: "ADMIN", scope: "ORGANIZATION", name: "second" },
    { key: "buyer", scope: "ORGANIZATION", name: "third" },
  ] as never;
  assert.equal(roleOf(roles, "ADMIN", "ORGANIZATION")?.name, "second");
  assert.equal(roleOf(roles, "buyer", "PROJECT")?.name, "third");
  assert.equal(roleOf(roles, "nobody", "PROJECT"), undefined);
});
