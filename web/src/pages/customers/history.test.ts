import assert from "node:assert/strict";
import { test } from "node:test";
import { byDay, deviceOf, kindOf, metadataChange, objectIn, stateOf, withoutDoubles } from "./history.ts";

const customer = (change: object) =>
  ({
    email: "ada@example.com",
    emailVerifiedAt: "2026-01-01T00:00:00Z",
    bannedAt: null,
    banExpiresAt: null,
    signInLockedUntil: null,
    ...change,
  }) as never;

test("an account stands as its worst state, and only until that ends", () => {
  const now = Date.parse("2026-06-01T00:00:00Z");
  assert.equal(stateOf(customer({}), now), "active");
  assert.equal(stateOf(customer({ emailVerifiedAt: null }), now), "unconfirmed");
  assert.equal(stateOf(customer({ email: null, emailVerifiedAt: null }), now), "active");
  assert.equal(stateOf(customer({ signInLockedUntil: "2026-06-01T00:10:00Z" }), now), "locked");
  assert.equal(stateOf(customer({ signInLockedUntil: "2026-05-01T00:10:00Z" }), now), "active");
  assert.equal(stateOf(customer({ bannedAt: "2026-05-01T00:00:00Z" }), now), "blocked");
  const ended = { bannedAt: "2026-05-01T00:00:00Z", banExpiresAt: "2026-05-02T00:00:00Z" };
  assert.equal(stateOf(customer(ended), now), "active");
});

test("devices are named by their headers", () => {
  const safari =
    "Mozilla/5.0 (iPhone; CPU iPhone OS 18_0 like Mac OS X) AppleWebKit/605.1.15 (KHTML, like Gecko) Version/18.0 Mobile/15E148 Safari/604.1";
  assert.deepEqual(deviceOf(safari), { browser: "Safari", system: "iPhone", isPhone: true });
  const edge =
    "Mozilla/5.0 (Windows NT 10.0; Win64; x64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36 Edg/130.0.0.0";
  assert.deepEqual(deviceOf(edge), { browser: "Edge", system: "Windows", isPhone: false });
  assert.deepEqual(deviceOf("python-httpx/0.28"), { browser: "python-httpx", system: undefined, isPhone: false });
  assert.deepEqual(deviceOf("<img src=x>"), { browser: "", system: undefined, isPhone: false });
});

test("a sign-in is told once, and entries are sorted into kinds and days", () => {
  const at = "2026-06-01T10:00:00.000Z";
  const entry = (kind: string, type: string, occurredAt = at) => ({ kind, type, occurredAt }) as never;
  const entries = [entry("SESSION", "session.started"), entry("EVENT", "customer.signed_in")];
  assert.equal(withoutDoubles(entries).length, 1);
  assert.equal(withoutDoubles([entry("EVENT", "customer.signed_in")]).length, 1);
  assert.equal(kindOf(entry("EMAIL", "email.sent")), "emails");
  assert.equal(kindOf(entry("EVENT", "customer.sign_in_failed")), "signins");
  assert.equal(kindOf(entry("AUDIT", "customer.banned")), "changes");
  const days = byDay([entry("EVENT", "a"), entry("EVENT", "b"), entry("EVENT", "c", "2026-05-01T10:00:00.000Z")]);
  assert.deepEqual(
    days.map((each) => each.entries.length),
    [2, 1],
  );
});

test("only what was edited is sent, and what was removed as null", () => {
  assert.deepEqual(metadataChange({ a: 1, b: { c: 2 }, d: "x" }, { a: 1, b: { c: 3 }, e: true }), {
    b: { c: 3 },
    d: null,
    e: true,
  });
  assert.equal(metadataChange({ a: [1] }, { a: [1] }), undefined);
  assert.deepEqual(objectIn(""), {});
  assert.equal(objectIn("[1]"), undefined);
  assert.equal(objectIn("{"), undefined);
});
