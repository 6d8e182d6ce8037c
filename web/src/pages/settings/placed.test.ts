import assert from "node:assert/strict";
import { test } from "node:test";
import { placed } from "./placed.ts";

const places = { email: ["/email"], password: ["/password", "password_wrong"], relays: ["/settings/relays"] };

test("errors go to the field whose path they have, or which contains it", () => {
  const errors = [
    { path: "/email", message: "No address." },
    { path: "/settings/relays/0/host", message: "Refused." },
    { path: "/settings/relaysOther", message: "Elsewhere." },
  ];
  assert.deepEqual(placed({ code: "invalid", detail: "Bad.", errors }, places), {
    email: "No address.",
    relays: "Refused.",
    "": "Elsewhere.",
  });
});

test("a problem without errors goes to the field of its code", () => {
  const problem = { code: "password_wrong", detail: "The password is wrong.", errors: [] };
  assert.deepEqual(placed(problem, places), { password: "The password is wrong." });
  assert.deepEqual(placed({ ...problem, code: "locked_out" }, places), { "": "The password is wrong." });
});
