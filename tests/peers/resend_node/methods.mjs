// Calls every public method of the package `resend`, in an order in which each can work. It prints one JSON object:
// the names of all methods, and the outcome of the last call of each: "works", or status and message of the error.
//
// Arguments: a domain, and the URL to which the DNS records to publish are posted.
import assert from "node:assert";
import { randomUUID } from "node:crypto";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { createRequire } from "node:module";
import { Resend } from "resend";

const [domain, publishUrl] = process.argv.slice(2);
const types = readFileSync(createRequire(import.meta.url).resolve("resend").replace("index.cjs", "index.d.cts"), "utf8");
const privateNames = new Set([...types.matchAll(/private (?:async |readonly )*(\w+)/g)].map((match) => match[1]));
const resend = new Resend(process.env.RESEND_API_KEY);
const methods = {};
const outcomes = {};

function collect(object, prefix) {
  for (const name of Object.getOwnPropertyNames(Object.getPrototypeOf(object)))
    if (name !== "constructor" && !privateNames.has(name)) methods[prefix + name] = object[name].bind(object);
  for (const [name, value] of Object.entries(object))
    if (value && typeof value === "object" && !privateNames.has(name)) collect(value, `${prefix}${name}.`);
}

async function call(name, ...args) {
  const { data, error } = await methods[name](...args);
  outcomes[name] = error ? (error.name === "not_implemented" ? error.message : `${error.statusCode} ${error.message}`) : "works";
  return data;
}

async function callAll(names, ...args) {
  for (const name of names) await call(name, ...args);
}

const unknown = randomUUID();

async function domains() {
  const created = await call("domains.create", { name: domain });
  await fetch(publishUrl, { method: "POST", body: JSON.stringify(created.records) });
  await call("domains.verify", created.id);
  assert.equal((await call("domains.get", created.id)).status, "verified");
  await call("domains.list", { limit: 5 });
  await call("domains.update", { id: created.id, openTracking: true });
  await call("domains.remove", (await call("domains.create", { name: `second.${domain}` })).id);
}

async function emails() {
  const email = {
    from: `Acme <hello@${domain}>`,
    to: ["ada@example.com"],
    bcc: "bob@example.com",
    replyTo: "support@example.com",
    subject: "Hello",
    html: "<p>Hello</p>",
    text: "Hello",
    headers: { "X-Entity-Ref-ID": "123" },
    tags: [{ name: "category", value: "confirm_email" }],
    attachments: [{ filename: "a.txt", content: Buffer.from("hello") }],
  };
  const sent = await call("emails.send", email, { idempotencyKey: `key-${domain}` });
  const again = await call("emails.create", email, { idempotencyKey: `key-${domain}` });
  assert.equal(again.id, sent.id);
  assert.equal((await call("emails.get", sent.id)).html, "<p>Hello</p>");
  const files = await call("emails.attachments.list", { emailId: sent.id });
  const file = await call("emails.attachments.get", { emailId: sent.id, id: files.data[0].id });
  assert.equal(await (await fetch(file.download_url)).text(), "hello");
  const later = await call("emails.send", { ...email, scheduledAt: "in 1 min" });
  await call("emails.update", { id: later.id, scheduledAt: new Date(Date.now() + 3_600_000).toISOString() });
  await call("emails.cancel", later.id);
  assert.equal((await call("emails.get", later.id)).last_event, "canceled");
  assert.equal((await call("batch.send", [email, email])).data.length, 2);
  const mixed = await call("batch.create", [email, { ...email, to: "nobody" }], { batchValidation: "permissive" });
  assert.deepEqual([mixed.data.length, mixed.errors[0].index], [1, 1]);
  const first = await call("emails.list", { limit: 2 });
  const next = await call("emails.list", { limit: 2, after: first.data[1].id });
  const back = await call("emails.list", { limit: 2, before: next.data[0].id });
  // Not the whole records: the workers are transmitting them.
  assert.deepEqual(back.data.map((email) => email.id), first.data.map((email) => email.id));
  await call("emails.share", sent.id);
  await call("emails.metrics");
  await call("emails.receiving.list");
  await call("emails.receiving.get", unknown);
  await call("emails.receiving.forward", { emailId: unknown, to: "a@example.com", from: email.from });
  await call("emails.receiving.attachments.list", { emailId: unknown });
  await call("emails.receiving.attachments.get", { emailId: unknown, id: unknown });
}

async function webhooks() {
  const { promise, resolve } = withResolvers();
  const server = createServer(async (request, response) => {
    const body = (await request.toArray()).join("");
    response.end("ok");
    // E-mails that were sent before the webhook was created are transmitted later.
    if (JSON.parse(body).data.subject === "Hook") resolve({ headers: request.headers, body });
  });
  await new Promise((started) => server.listen(0, "127.0.0.1", started));
  const endpoint = `http://127.0.0.1:${server.address().port}/hook`;
  const webhook = await call("webhooks.create", { endpoint, events: ["email.sent"] });
  await call("emails.send", { from: `hello@${domain}`, to: "ada@example.com", subject: "Hook", text: "Hook" });
  const request = await promise;
  const headers = { id: request.headers["svix-id"], timestamp: request.headers["svix-timestamp"] };
  const signed = { payload: request.body, headers: { ...headers, signature: request.headers["svix-signature"] } };
  const event = resend.webhooks.verify({ ...signed, webhookSecret: webhook.signing_secret });
  assert.equal(event.type, "email.sent");
  assert.equal(event.data.subject, "Hook");
  assert.throws(() => resend.webhooks.verify({ ...signed, payload: "{}", webhookSecret: webhook.signing_secret }));
  outcomes["webhooks.verify"] = "works";
  assert.deepEqual((await call("webhooks.get", webhook.id)).events, ["email.sent"]);
  await call("webhooks.list");
  const eventId = (await call("webhooks.events.list", { webhookId: webhook.id })).data[0].id;
  const delivery = { webhookId: webhook.id, eventId };
  assert.equal((await call("webhooks.events.get", delivery)).payload.type, "email.sent");
  await call("webhooks.events.attempts.list", delivery);
  await call("webhooks.events.replay", delivery);
  await call("webhooks.update", webhook.id, { status: "disabled", events: ["email.delivery_delayed"] });
  assert.deepEqual((await call("webhooks.get", webhook.id)).events, ["email.delivery_delayed"]);
  await call("webhooks.rotateSigningSecret", webhook.id);
  await call("webhooks.remove", webhook.id);
  server.close();
  server.closeAllConnections();
}

function withResolvers() {
  let resolve;
  const promise = new Promise((settle) => (resolve = settle));
  return { promise, resolve };
}

async function contacts() {
  const segment = await call("segments.create", { name: "Registered" });
  await call("segments.update", segment.id, { name: "Registered users" });
  assert.equal((await call("segments.get", segment.id)).name, "Registered users");
  await call("segments.list");
  const audience = await call("audiences.create", { name: "Former" });
  await call("audiences.update", audience.id, { name: "Former users" });
  await call("audiences.get", audience.id);
  await call("audiences.list");
  const email = `steve-${randomUUID()}@example.com`;
  const person = { email, firstName: "Steve", unsubscribed: false, properties: { plan: "pro" } };
  const contact = await call("contacts.create", { ...person, segments: [{ id: segment.id }] });
  const member = await call("contacts.create", { email: `x-${email}`, audienceId: audience.id });
  assert.equal((await call("contacts.get", { audienceId: audience.id, id: member.id })).id, member.id);
  await call("contacts.update", { audienceId: audience.id, id: member.id, lastName: "Member" });
  await call("contacts.update", { email, unsubscribed: true });
  assert.equal((await call("contacts.create", person)).id, contact.id);
  assert.equal((await call("contacts.get", { email })).unsubscribed, true);
  assert.equal((await call("contacts.list", { segmentId: segment.id })).data.length, 1);
  await call("contacts.list", { limit: 1 });
  const membership = { contactId: contact.id, segmentId: audience.id };
  await call("contacts.segments.add", membership);
  assert.equal((await call("contacts.segments.list", { email })).data.length, 2);
  await call("contacts.segments.remove", membership);
  const property = await call("contactProperties.create", { key: `key_${Date.now()}`, type: "number" });
  await call("contactProperties.get", property.id);
  await call("contactProperties.list");
  await call("contactProperties.update", { id: property.id, fallbackValue: 1 });
  await call("contactProperties.remove", property.id);
  await call("contacts.topics.list", { email });
  await call("contacts.topics.update", { email, topics: [] });
  await call("contacts.imports.create", { file: new Blob(["email\n"]) });
  await call("contacts.imports.list");
  await call("contacts.imports.get", unknown);
  await call("events.send", { event: "user.created", email, payload: { plan: "pro" } });
  await call("contacts.remove", { audienceId: audience.id, id: member.id });
  await call("contacts.remove", email);
  await call("audiences.remove", audience.id);
  await call("segments.remove", segment.id);
}

async function templates() {
  const html = "<p>{{{NAME}}}</p>";
  const variables = [{ key: "NAME", type: "string", fallbackValue: "friend" }];
  const template = await methods["templates.create"]({ name: "Order", subject: "Order", html, variables }).publish();
  outcomes["templates.create"] = template.error ? "failed" : "works";
  const id = template.data.id;
  await call("templates.publish", id);
  await call("templates.update", id, { name: "Orders" });
  const stored = await call("templates.get", id);
  assert.equal(stored.html, "<p>{{{NAME|friend}}}</p>");
  assert.deepEqual(stored.variables, [{ key: "NAME", type: "string", fallback_value: "friend" }]);
  await call("templates.list", { limit: 1 });
  await call("emails.send", { from: `hello@${domain}`, to: "ada@example.com", template: { id, variables: { NAME: "Ada" } } });
  await call("templates.remove", (await call("templates.duplicate", id)).id);
}

async function broadcasts() {
  const segment = await call("segments.create", { name: "Readers" });
  await call("contacts.create", { email: `reader@${domain}`, firstName: "Rea", segments: [{ id: segment.id }] });
  const text = "Hi {{{contact.first_name|there}}}: {{{RESEND_UNSUBSCRIBE_URL}}}";
  const broadcast = { segmentId: segment.id, from: `Acme <hello@${domain}>`, subject: "News", text };
  const { id } = await call("broadcasts.create", broadcast);
  await call("broadcasts.update", id, { name: "News of May" });
  assert.equal((await call("broadcasts.get", id)).text, text);
  await call("broadcasts.list", { limit: 1 });
  const copy = await call("broadcasts.duplicate", id);
  await call("broadcasts.send", copy.id, { scheduledAt: "in 2 hours" });
  await call("broadcasts.cancel", copy.id);
  await call("broadcasts.remove", (await call("broadcasts.create", broadcast)).id);
  await call("broadcasts.recipients", id, { type: "opened" });
  await call("broadcasts.clickedLinks", id);
  await call("broadcasts.send", id);
}

async function suppressions() {
  const email = `suppressed-${randomUUID()}@example.com`;
  const { id } = await call("suppressions.add", { email });
  assert.equal((await call("suppressions.get", id)).email, email);
  await call("suppressions.list", { origin: "manual" });
  await call("suppressions.remove", email);
  await call("suppressions.batch.add", { emails: [email] });
  assert.equal((await call("suppressions.batch.remove", { emails: [email] })).data.length, 1);
}

async function notOffered() {
  await call("apiKeys.create", { name: "Production" });
  await callAll(["apiKeys.list", "automations.list", "topics.list", "logs.list", "oauthGrants.list", "usage.get"]);
  await callAll(["events.list", "inboxes.list"]);
  await callAll(["apiKeys.update", "automations.update", "inboxes.update"], unknown, { name: "x", status: "disabled" });
  await callAll(["apiKeys.remove", "automations.get", "automations.remove", "automations.duplicate"], unknown);
  await callAll(["automations.stop", "topics.get", "topics.remove", "logs.get", "oauthGrants.revoke"], unknown);
  await callAll(["events.get", "events.remove", "domains.claims.get", "domains.claims.verify"], unknown);
  await callAll(["inboxes.get", "inboxes.remove"], unknown);
  await call("automations.create", { name: "Welcome", steps: [], connections: [] });
  await call("automations.runs.list", { automationId: unknown });
  await call("automations.runs.get", { automationId: unknown, runId: unknown });
  await call("domains.claims.create", { name: domain });
  await call("events.create", { name: "user.created" });
  await call("events.update", "user.created", { schema: {} });
  await call("topics.create", { name: "News", defaultSubscription: "opt_in" });
  await call("topics.update", { id: unknown, name: "News" });
  await call("inboxes.create", { emailAddress: `a@${domain}` });
  const ids = { labelId: unknown, draftId: unknown, threadId: unknown, emailId: unknown };
  const names = Object.keys(methods).filter((name) => name.startsWith("inboxes.") && name.split(".").length > 2);
  await callAll(names, { inboxId: unknown, ...ids, labels: ["x"], to: "a@example.com" });
}

async function plainRequests() {
  await call("get", "/domains");
  await call("fetchRequest", "/domains", { headers: resend.headers });
  const { id } = await call("post", "/segments", { name: "Plain" });
  await call("patch", `/segments/${id}`, { name: "Changed" });
  await call("delete", `/segments/${id}`);
  await call("put", `/inboxes/${unknown}/threads/${unknown}/labels`, {});  // The only path with this method.
}

collect(resend, "");
for (const part of [domains, emails, webhooks, contacts, templates, broadcasts, suppressions, notOffered, plainRequests])
  await part();
console.log(JSON.stringify({ methods: Object.keys(methods), outcomes }));
