// Settings, options and limits of the client. The option `fetch` shows what would be sent; nothing is.
import assert from "node:assert/strict";
import { inspect } from "node:util";
import { test } from "node:test";
import { ConfigurationError, headersOf, InvalidResponse, Postern, PosternError, RequestTimedOut } from "@postern/sdk";

const json = (body, init) => new Response(JSON.stringify(body), init);

/** A client whose requests are listed in `sent`, and answered by `respond`. */
function client(options = {}, respond = () => json({ id: "1" })) {
  const sent = [];
  const fetch = async (url, init) => {
    sent.push({ url, ...init, body: init.body });
    return respond(sent.length, url, init);
  };
  const all = { url: "https://mail.example.com/postern/", key: "sk_live_secret", project: "p 1", fetch, ...options };
  return { postern: new Postern(all), sent };
}

test("the URL may have a path, and values are encoded", async () => {
  const { postern, sent } = client();
  await postern.suppressions.get("a+b/c@example.com");
  assert.equal(sent[0].url, "https://mail.example.com/postern/projects/p%201/suppressions/a%2Bb%2Fc%40example.com");
  assert.equal(sent[0].redirect, "manual");
});

test("missing settings are errors of the call that needs them, with the name of the variable", async () => {
  for (const [name, variable] of [
    ["url", "POSTERN_URL"],
    ["key", "POSTERN_KEY"],
    ["project", "POSTERN_PROJECT"],
  ]) {
    const { postern, sent } = client({ [name]: undefined });
    await assert.rejects(postern.contacts.get("1"), (error) => {
      assert.ok(error instanceof ConfigurationError && error instanceof PosternError);
      assert.match(error.message, new RegExp(variable));
      return true;
    });
    assert.equal(sent.length, 0);
  }
  const { postern, sent } = client({ key: undefined, project: undefined });
  await postern.developers.signIn({ email: "a@example.com", password: "x" });
  assert.equal(sent[0].headers.authorization, undefined);
  await assert.rejects(client({ url: "mail.example.com" }).postern.contacts.get("1"), /not an http URL/);
});

test("variables are read where options are absent", async () => {
  Object.assign(process.env, { POSTERN_URL: "https://e.example", POSTERN_KEY: "from-env", POSTERN_PROJECT: "env" });
  try {
    const { postern, sent } = client({ url: undefined, key: undefined, project: undefined });
    await postern.contacts.get("1");
    assert.equal(sent[0].url, "https://e.example/projects/env/contacts/1");
    assert.equal(sent[0].headers.authorization, "Bearer from-env");
  } finally {
    for (const name of ["URL", "KEY", "PROJECT"]) delete process.env[`POSTERN_${name}`];
  }
});

test("a key is not sent unencrypted to another machine", async () => {
  for (const url of [
    "http://mail.example.com",
    "http://127.0.0.1.example.com",
    "http://10.0.0.1",
    "http://localhost.evil.example",
  ]) {
    const { postern, sent } = client({ url });
    await assert.rejects(postern.contacts.get("1"), ConfigurationError);
    assert.equal(sent.length, 0, url);
  }
  for (const url of ["http://127.0.0.1:8025", "http://localhost:8025", "http://[::1]:8025", "http://app.localhost"]) {
    const { postern, sent } = client({ url });
    await postern.contacts.get("1");
    assert.equal(sent.length, 1, url);
  }
  const { postern, sent } = client({ url: "http://mail.example.com", insecure: true });
  await postern.contacts.get("1");
  assert.equal(sent.length, 1);
});

test("a function is asked for the key before every request, also a repeated one", async () => {
  let number = 0;
  const { postern, sent } = client({ key: async () => `token-${++number}` }, (n) =>
    n === 1 ? json({}, { status: 503, headers: { "retry-after": "0" } }) : json({ id: "1" }),
  );
  await postern.contacts.get("1");
  await postern.contacts.get("1", { key: "another" });
  const keys = sent.map((each) => each.headers.authorization);
  assert.deepEqual(keys, ["Bearer token-1", "Bearer token-2", "Bearer another"]);
});

test("the key appears in no text about the client or its errors", async () => {
  const { postern } = client({}, () => Promise.reject(new TypeError("fetch failed")));
  const error = await postern.contacts.get("1", { retries: 0 }).catch((error) => error);
  for (const each of [postern, error, postern.contacts.get]) {
    assert.doesNotMatch(inspect(each, { depth: 9, showHidden: true }), /sk_live_secret/);
    assert.doesNotMatch(JSON.stringify(each) ?? "", /sk_live_secret/);
  }
});

test("values that would address another operation are rejected", async () => {
  const { postern, sent } = client();
  for (const id of ["", ".", "..", undefined, null, {}]) {
    await assert.rejects(postern.contacts.delete(id), /`id` must be an id/);
  }
  assert.equal(sent.length, 0);
});

test("options of a call replace those of the client", async () => {
  const { postern, sent } = client();
  const options = {
    project: "other",
    prefer: "wait=0",
    idempotencyKey: "k",
    ifMatch: '"3"',
    headers: { "X-Request-Id": "r" },
  };
  await postern.emails.send({ to: ["a@example.com"], from: "b@example.com" }, options);
  assert.equal(sent[0].url, "https://mail.example.com/postern/projects/other/emails");
  const { authorization, "user-agent": _, ...headers } = sent[0].headers;
  assert.deepEqual(headers, {
    "content-type": "application/json",
    "idempotency-key": "k",
    prefer: "wait=0",
    "if-match": '"3"',
    "x-request-id": "r",
  });
});

test("query values: lists, times, booleans; undefined and null are left out", async () => {
  const { postern, sent } = client({}, () => json({ data: [], total: 0, page: 1, pages: 1, nextCursor: null }));
  const from = new Date("2026-01-31T12:00:00Z");
  await postern.emails.list({ status: ["SENT", "FAILED"], q: undefined, from, to: null, limit: 5 });
  assert.equal(new URL(sent[0].url).search, "?status=SENT%2CFAILED&from=2026-01-31T12%3A00%3A00.000Z&limit=5");
});

test("pages are followed by cursor, or by number where there is none", async () => {
  const pages = { "": { page: 1, pages: 2, data: [1] }, "?page=2": { page: 2, pages: 2, data: [2] } };
  const { postern, sent } = client({}, (_, url) => json({ total: 2, ...pages[new URL(url).search] }));
  const entries = [];
  for await (const each of postern.contacts.list()) entries.push(each);
  assert.deepEqual(entries, [1, 2]);
  assert.equal(sent.length, 2);
});

test("a link to another server gives its cursor alone", async () => {
  const { postern, sent } = client({}, (n) =>
    json([n], n === 1 ? { headers: { link: '<https://evil.example/x?limit=1&cursor=c%2B1>; rel="next"' } } : {}),
  );
  const entries = [];
  for await (const each of postern.audiences.list({ limit: 1 })) entries.push(each);
  assert.deepEqual(entries, [1, 2]);
  assert.equal(sent[1].url, "https://mail.example.com/postern/projects/p%201/audiences?limit=1&cursor=c%2B1");
});

test("a stream is never sent twice", async () => {
  const { postern, sent } = client({}, () => json({}, { status: 503 }));
  await assert.rejects(postern.contacts.imports.create(new Blob(["email\n"]).stream()), { status: 503 });
  assert.equal(sent.length, 1);
  assert.equal(sent[0].duplex, "half");
  assert.equal(sent[0].headers["content-type"], "text/csv");
});

test("an abort during the wait before a repetition ends the call at once", async () => {
  const controller = new AbortController();
  const { postern, sent } = client({}, () => {
    queueMicrotask(() => setTimeout(() => controller.abort(new Error("enough"))));
    return json({}, { status: 429, headers: { "retry-after": "59" } });
  });
  await assert.rejects(postern.contacts.get("1", { signal: controller.signal }), /enough/);
  assert.equal(sent.length, 1);
});

test("a time-out of one call", async () => {
  const { postern, sent } = client(
    { retries: 0 },
    (_, __, { signal }) => new Promise((_, reject) => signal.addEventListener("abort", () => reject(signal.reason))),
  );
  await assert.rejects(postern.audiences.create({ name: "x" }, { timeout: 5 }), (error) => {
    assert.ok(error instanceof RequestTimedOut);
    assert.equal(error.mayHaveBeenExecuted, true);
    return true;
  });
  assert.equal(sent.length, 1);
});

test("an empty response where JSON is due is invalid", async () => {
  const { postern } = client({ retries: 0 }, () => new Response("", { headers: { "x-request-id": "r1" } }));
  await assert.rejects(
    postern.contacts.get("1"),
    (error) => error instanceof InvalidResponse && error.requestId === "r1",
  );
});

test("problems with strange members do not break the error", async () => {
  for (const body of [
    '{"code": 7, "errors": "no", "detail": {}}',
    "[]",
    "null",
    '{"code": "to_string"}',
    '{"code": "constructor"}',
  ]) {
    const { postern } = client({}, () => new Response(body, { status: 400, statusText: "Bad Request" }));
    const error = await postern.contacts.get("1").catch((error) => error);
    assert.equal(error.status, 400, body);
    assert.equal(error.name, "APIError", body);
    assert.ok(Array.isArray(error.errors));
  }
});

test("headers of a result are kept with it", async () => {
  const { postern } = client({}, () => json({ id: "1" }, { headers: { etag: '"7"' } }));
  assert.equal(headersOf(await postern.contacts.get("1")).get("etag"), '"7"');
  assert.equal(headersOf({}), undefined);
});
