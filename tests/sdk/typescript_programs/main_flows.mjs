// The main uses of the SDK against a complete server: POSTERN_URL, POSTERN_PROJECT, POSTERN_KEY and TOKEN of a developer.
import assert from "node:assert/strict";
import { test } from "node:test";
import * as sdk from "@postern/sdk";
import { MailNotFound, SecretsHidden, waitForMail } from "@postern/sdk/testing";

const postern = new sdk.Postern();
const developer = new sdk.Postern({ key: async () => process.env.TOKEN });
const unique = (name) => `${name}-${Math.random().toString(36).slice(2)}@example.com`;
const mail = { from: "Acme <hello@example.org>", subject: "Hello", text: "Hi" };

async function listed(list) {
  const entries = [];
  for await (const each of list) entries.push(each);
  return entries;
}

test("an e-mail is sent once for an idempotency key, and is in the log", async () => {
  const to = [unique("ada")];
  const sent = await postern.emails.send({ ...mail, to }, { prefer: "wait=5", idempotencyKey: `key-${to}` });
  const again = await postern.emails.send({ ...mail, to }, { idempotencyKey: `key-${to}` });
  assert.equal(again.id, sent.id);
  assert.equal(sdk.headersOf(sent).get("idempotent-replayed"), null);
  assert.equal(sdk.headersOf(again).get("idempotent-replayed"), "true");
  const entry = await postern.emails.get(sent.id);
  assert.equal(entry.status, "DELIVERED");
  const page = await postern.emails.list({ q: to[0] });
  assert.deepEqual(
    page.data.map((each) => each.id),
    [sent.id],
  );
  assert.equal(page.total, 1);
  assert.equal(page.hasNext, false);
  assert.equal(await page.next(), undefined);
  const message = await postern.emails.getRaw(sent.id);
  assert.match(new TextDecoder().decode(message), /Subject: Hello/);
});

test("lists of pages are read to the end", async () => {
  const attributes = { group: unique("pages") };
  const emails = Array.from({ length: 5 }, () => unique("contact"));
  await Promise.all(emails.map((email) => postern.contacts.create({ email, attributes })));
  const read = await listed(postern.contacts.list({ limit: 2, q: "contact-" }));
  assert.deepEqual(read.map((each) => each.email).sort(), emails.sort());
  const first = await postern.contacts.list({ limit: 2, q: "contact-" });
  assert.equal(first.data.length, 2);
  assert.equal(first.total, 5);
  assert.equal((await listed(first)).length, 5);
  const second = await first.next();
  assert.equal(second.data.length, 2);
  assert.equal((await listed(second)).length, 3);
});

test("lists with a Link header are read to the end", async () => {
  const names = ["a", "b", "c", "d", "e"].map((name) => `Audience ${name}`);
  for (const name of names) await postern.audiences.create({ name });
  const first = await postern.audiences.list({ limit: 2 });
  assert.equal(first.data.length, 2);
  assert.equal(first.total, undefined);
  assert.ok(first.hasNext);
  assert.deepEqual((await listed(first)).map((each) => each.name).sort(), names);
});

test("feeds are read to the end", async () => {
  const since = await listed(postern.events.list({ limit: 3 }));
  assert.ok(since.length > 5, `${since.length} events`);
  assert.equal(new Set(since.map((each) => each.id)).size, since.length);
});

test("each problem has a class with the request id", async () => {
  const error = await postern.contacts.get("0198c2a0-0000-7000-8000-000000000001").catch((error) => error);
  assert.ok(error instanceof sdk.ContactMissing);
  assert.ok(error instanceof sdk.NotFoundError);
  assert.ok(error instanceof sdk.APIError);
  assert.equal(error.name, "ContactMissing");
  assert.equal(error.status, 404);
  assert.equal(error.code, "contact_missing");
  assert.equal(error.requestId, error.headers.get("x-request-id"));
  assert.equal(error.message, `contact_missing (404): ${error.detail} [request ${error.requestId}]`);
  const invalid = await postern.emails.send({ ...mail, to: ["nobody"] }).catch((error) => error);
  assert.ok(invalid instanceof sdk.BadRequestError, String(invalid));
  assert.deepEqual(
    invalid.errors.map((each) => each.path),
    ["/to/0"],
  );
  const stranger = new sdk.Postern({ key: "sk_live_wrong" });
  await assert.rejects(stranger.contacts.list(), sdk.CredentialInvalid);
});

test("CSV files are imported from text, bytes, a Blob and a stream", async () => {
  const bodies = [
    (csv) => csv,
    (csv) => new TextEncoder().encode(csv),
    (csv) => new Blob([csv], { type: "text/csv" }),
    (csv) => new Blob([csv]).stream(),
  ];
  for (const body of bodies) {
    const email = unique("imported");
    const created = await postern.contacts.imports.create(body(`email,name\n${email},Zoë\n`), { mode: "upsert" });
    let state = created;
    while (state.status !== "COMPLETED") {
      assert.notEqual(state.status, "FAILED");
      await new Promise((resolve) => setTimeout(resolve, 50));
      state = await postern.contacts.imports.get(created.id);
    }
    assert.equal(state.created, 1);
    const { data } = await postern.contacts.list({ q: email });
    assert.equal(data[0].attributes.name, "Zoë");
  }
  assert.match(await postern.contacts.export(), /^id,email,/);
});

test("a write with ifMatch fails if the record has changed", async () => {
  const contact = await postern.contacts.create({ email: unique("etag") });
  const read = await postern.contacts.get(contact.id);
  const changed = await postern.contacts.update(contact.id, { attributes: { a: 1 } }, { ifMatch: read });
  assert.deepEqual(changed.attributes, { a: 1 });
  const stale = postern.contacts.update(contact.id, { attributes: { a: 2 } }, { ifMatch: read });
  await assert.rejects(stale, (error) => error.status === 412 && error instanceof sdk.PreconditionFailedError);
  await assert.rejects(postern.contacts.delete(contact.id, { ifMatch: {} }), /ifMatch/);
  assert.deepEqual(await postern.contacts.delete(contact.id), { deleted: true });
});

test("redirects are not followed", async () => {
  const error = await postern.auth
    .startProviderSignIn("google", { redirectUrl: "https://a.example", codeChallenge: "x" })
    .catch((error) => error);
  assert.ok(error instanceof sdk.APIError, String(error));
});

test("a test signs a customer up with the mailed code", async () => {
  const email = unique("customer");
  const signUp = await postern.auth.signUp({ email, password: "a long password of a customer" });
  const redacted = await waitForMail(postern, { to: email });
  assert.equal(redacted.message.redacted, true);
  for (const secret of ["code", "links"]) {
    assert.throws(() => redacted[secret], (error) => {
      assert.ok(error instanceof SecretsHidden && error instanceof sdk.PosternError);
      return /customers:impersonate/.test(error.message);
    });
  }
  const { key } = await developer.apiKeys.create({
    name: "End-to-end tests",
    permissions: ["inbox:read", "customers:impersonate"],
  });
  const tester = new sdk.Postern({ key });
  const { code, subject } = await waitForMail(tester, { to: email, subject: /code|confirm|verif/i });
  assert.match(code, /^\d{6}$/, subject);
  const tokens = await postern.auth.verifySignUp({ challengeId: signUp.challengeId, code });
  const me = await postern.auth.me({ key: tokens.accessToken });
  assert.equal(me.email, email);
});

test("a wait for mail continues after a time or an earlier mail, and names the newest mails when it fails", async () => {
  const to = unique("waiting");
  const began = new Date();
  await postern.emails.send({ ...mail, to: [to], subject: "First Message" });
  const first = await waitForMail(postern, { to: to.toUpperCase(), subject: "first message", after: began });
  assert.equal(first.subject, "First Message");
  for (const query of [{ to, after: first }, { to, after: new Date(Date.now() + 60_000) }, { to, subject: /^Other/g }, { to: "a@b.c" }]) {
    await assert.rejects(waitForMail(postern, { ...query, timeout: 0 }), (error) => {
      assert.ok(error instanceof MailNotFound && error instanceof sdk.PosternError);
      assert.match(error.message, /^No mail to \S+@\S+( with the subject \/\^Other\/g| after \S.*)? arrived in/);
      assert.match(error.message, /within 0 ms\. The newest there: "First Message" to waiting-/);
      return true;
    });
  }
  await postern.emails.send({ ...mail, to: [to], subject: "Second Message" });
  const second = await waitForMail(postern, { to, after: first, subject: /message/i });
  assert.equal(second.subject, "Second Message");
  assert.deepEqual(second.recipients, [to]);
  assert.ok(second.capturedAt > first.capturedAt);
  assert.throws(() => second.code, /has no code of six digits/);
  const coded = { ...mail, text: undefined, html: "<style>a { color: #271828 }</style><p>Reference 1234567" };
  await postern.emails.send({ ...coded, to: [to], subject: "271829 is your code" });
  assert.equal((await waitForMail(postern, { to, after: second })).code, "271829");
});
