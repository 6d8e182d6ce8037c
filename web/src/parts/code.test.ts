import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { test } from "node:test";
import { BOOLEANS, LISTS, NUMBERS, pythonName, pythonOf, STATUS_LISTS, typescriptOf } from "./code.ts";
import { credentialOf } from "./credential.ts";
import type { ApiRequest } from "./request.ts";

const PLACE = { url: "https://mail.example.com" };
const LIST: ApiRequest = {
  method: "GET",
  path: "/projects/p1/emails/logs?status=BOUNCED%2CFAILED&limit=100&from=2026",
};

test("a list is a call whose parameters have the types of the client", () => {
  assert.equal(
    typescriptOf(LIST, PLACE),
    `// npm install @postern/sdk
// POSTERN_KEY: a secret key
import { Postern } from "@postern/sdk";

const postern = new Postern({ url: "https://mail.example.com", project: "p1" });

const page = await postern.emails.list({ status: ["BOUNCED", "FAILED"], limit: 100, from: "2026" });
console.log(page.data);`,
  );
  assert.equal(
    pythonOf(LIST, PLACE),
    `# pip install postern-sdk
# POSTERN_KEY: a secret key
from postern_sdk import Postern

postern = Postern("https://mail.example.com", project="p1")

page = postern.emails.list(status=["BOUNCED", "FAILED"], limit=100, from_="2026")
print(page.data)`,
  );
});

test("path parameters come first, and a name is preferred to a parameter", () => {
  const one: ApiRequest = { method: "GET", path: "/projects/p1/webhooks/w%201/deliveries/d1" };
  assert.match(typescriptOf(one, PLACE) ?? "", /await postern\.webhooks\.deliveries\.get\("w 1", "d1"\);/);
  assert.match(pythonOf(one, PLACE) ?? "", /result = postern\.webhooks\.deliveries\.get\("w 1", "d1"\)/);
  const all: ApiRequest = { method: "POST", path: "/projects/p1/webhooks/w/deliveries/replay", body: { since: null } };
  assert.match(typescriptOf(all, PLACE) ?? "", /deliveries\.replayAll\("w", \{ since: null \}\)/);
  assert.match(pythonOf(all, PLACE) ?? "", /deliveries\.replay_all\("w", since=None\)/);
});

test("a body keeps the API's names inside, and takes those of Python outside", () => {
  const request: ApiRequest = {
    method: "POST",
    path: "/projects/p1/emails",
    body: {
      from: 'Ada "the" <a@b.c>',
      to: ["x@y.z"],
      scheduledAt: null,
      variables: { firstName: "Ada", "x-y": true },
      text: "A long text that does not fit on one line together with all of the others",
    },
  };
  assert.match(
    typescriptOf(request, { ...PLACE, key: "sk_live_1" }) ?? "",
    /key: "sk_live_1"[\s\S]*emails\.send\(\{\n {2}from: "Ada \\"the\\" <a@b\.c>",\n {2}to: \["x@y\.z"\],\n[\s\S]*\n {2}variables: \{ firstName: "Ada", "x-y": true \},/,
  );
  assert.match(
    pythonOf(request, { ...PLACE, key: "sk_live_1" }) ?? "",
    /key="sk_live_1"[\s\S]*emails\.send\(\n {4}from_="Ada \\"the\\" <a@b\.c>",\n[\s\S]*scheduled_at=None,\n {4}variables=\{"firstName": "Ada", "x-y": True\},/,
  );
});

test("an answer without content is not printed, and http to another host has to be allowed", () => {
  const request: ApiRequest = { method: "DELETE", path: "/auth/sessions" };
  assert.doesNotMatch(typescriptOf(request, PLACE) ?? "", /result|project/);
  assert.doesNotMatch(pythonOf(request, PLACE) ?? "", /print|project/);
  assert.match(typescriptOf(LIST, { url: "http://mail.lan" }) ?? "", /insecure: true/);
  assert.match(pythonOf(LIST, { url: "http://mail.lan" }) ?? "", /insecure=True/);
  assert.doesNotMatch(pythonOf(LIST, { url: "http://127.0.0.1:8025" }) ?? "", /insecure/);
});

test("what only developers may call takes the token of one", () => {
  const keys: ApiRequest = { method: "GET", path: "/projects/p1/api-keys?limit=10" };
  assert.match(typescriptOf(keys, PLACE) ?? "", /project: "p1", key: process\.env\.POSTERN_TOKEN/);
  assert.match(pythonOf(keys, PLACE) ?? "", /^import os$[\s\S]*key=os\.environ\["POSTERN_TOKEN"\]/m);
  for (const [method, path, credential] of [
    ["GET", "/account/members", "POSTERN_TOKEN"],
    ["POST", "/projects", "POSTERN_TOKEN"],
    ["PATCH", "/projects/p1", "POSTERN_TOKEN"],
    ["DELETE", "/projects/p1/api-keys/k1", "POSTERN_TOKEN"],
    ["GET", "/projects/p1", "POSTERN_KEY"],
    ["POST", "/projects/p1/auth/sign-in", "POSTERN_KEY"],
    ["GET", "/projects/p1/emails/logs?q=/account/", "POSTERN_KEY"],
  ] as const)
    assert.equal(credentialOf({ method, path }), credential, `${method} ${path}`);
});

test("what the clients cannot do has no code", () => {
  assert.equal(typescriptOf({ method: "GET", path: "/projects/p1/events/stream" }, PLACE), undefined);
  assert.equal(pythonOf({ method: "GET", path: "/healthz" }, PLACE), undefined);
  assert.equal(pythonOf({ method: "POST", path: "/projects/p1/emails", body: [1] }, PLACE), undefined);
});

test("the tables of types are those of the clients", () => {
  const client = readFileSync(new URL("../../../sdk/typescript/src/generated/client.ts", import.meta.url), "utf8");
  const lists: string[] = [];
  for (const [, of = "", fields = ""] of client.matchAll(/export interface (\w+)Params \{\n([\s\S]*?)\n\}/g)) {
    for (const [, name = "", type = ""] of fields.matchAll(/^ {2}(\w+)\??: (.*);$/gm)) {
      const method = of.toLowerCase();
      if (name === "status") {
        if (type.includes("[]")) lists.push(method);
        continue;
      }
      const kind = LISTS.includes(name)
        ? "list"
        : NUMBERS.includes(name)
          ? "number"
          : BOOLEANS.includes(name)
            ? "boolean"
            : "text";
      const declared = type.includes("[]") ? "list" : (/^(number|boolean)/.exec(type)?.[1] ?? "text");
      assert.equal(kind, declared, `${of}.${name}: ${type}`);
    }
  }
  assert.deepEqual(lists.sort(), STATUS_LISTS.map((each) => each.replaceAll(".", "").toLowerCase()).sort());
});

test("every method of the table exists in Python by the name that is written", () => {
  const sources = readFileSync(new URL("../../../sdk/python/postern_sdk/_sync/client.py", import.meta.url), "utf8");
  const known = new Set(
    [...sources.matchAll(/def (\w+)\(|self\.(\w+) = /g)].map(([, method, group]) => method ?? group),
  );
  const table = readFileSync(new URL("../../../sdk/typescript/src/generated/operations.ts", import.meta.url), "utf8");
  const names = new Set(
    [...table.matchAll(/^([a-z]\w*(?:\.\w+)+) [A-Z]+ /gm)].flatMap(([, name = ""]) => name.split(".")),
  );
  assert.ok(names.size > 100);
  assert.deepEqual(
    [...names].map(pythonName).filter((each) => !known.has(each)),
    [],
  );
});
