import assert from "node:assert/strict";
import { test } from "node:test";
import { idBefore, isId, isOwnName, matchesEvent } from "./ids.ts";

test("the id before another one is one less, over all its groups", () => {
  assert.equal(idBefore("019a2f4c-6b1d-7c3e-8f00-3f8b2c0d1e2f"), "019a2f4c-6b1d-7c3e-8f00-3f8b2c0d1e2e");
  assert.equal(idBefore("019a2f4c-6b1d-7c3e-8f00-000000000000"), "019a2f4c-6b1d-7c3e-8eff-ffffffffffff");
  assert.equal(idBefore("00000000-0000-0000-0000-000000000000"), undefined);
  assert.equal(idBefore("../../x"), undefined);
});

test("only ids of the API's form are ids", () => {
  assert.ok(isId("019A2F4C-6b1d-7c3e-8f00-3f8b2c0d1e2f"));
  assert.ok(!isId("019a2f4c6b1d7c3e8f003f8b2c0d1e2f"));
  assert.ok(!isId("ada@example.com"));
});

test("a subscription matches by name, by group, and by everything", () => {
  assert.ok(matchesEvent(["email.sent"], "email.sent", false));
  assert.ok(matchesEvent(["email.*"], "email.sent", false));
  assert.ok(matchesEvent(["*"], "order.placed", true));
  assert.ok(matchesEvent(["custom.order.placed"], "order.placed", true));
  assert.ok(matchesEvent(["custom.*"], "order.placed", true));
  assert.ok(!matchesEvent(["email.*", "custom.order"], "order.placed", true));
  assert.ok(!matchesEvent(["contact.*"], "email.sent", false));
});

test("a project names its own events in one to five words, none of them the API's first words", () => {
  for (const name of ["order", "order.placed", "a.b.c.d.e", "Order_1.is-placed"])
    assert.ok(isOwnName(name, ["email"]), name);
  for (const name of [
    "",
    "a.b.c.d.e.f",
    "order placed",
    "order.",
    "email.sent",
    "größe",
    "x".repeat(65),
    "a.".repeat(60),
  ])
    assert.ok(!isOwnName(name, ["email"]), name);
});
