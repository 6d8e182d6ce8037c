import assert from "node:assert/strict";
import { test } from "node:test";
import { commonReason, type Facts, findingsOf, isMany, transportSeen } from "./attention.ts";

const COUNTS = { sent: 1000, delivered: 0, opened: 0, clicked: 0, bounced: 0, complained: 0, failed: 0 };

// Only the fields that the functions read.
const facts = (fields: object): Facts => ({ local: false, ...fields }) as Facts;
const kinds = (fields: object) => findingsOf(facts(fields)).map((each) => each.kind);
const mail = (fields: object) =>
  ({ test: false, status: "SENT", to: ["ada@example.com"], cc: [], bcc: [], ...fields }) as never;

test("nothing read is nothing found", () => {
  assert.deepEqual(kinds({}), []);
});

test("domains that stopped come before those that begin to fail; others are left out", () => {
  const domains = [
    { status: "VERIFIED", failingSince: "2026-06-01T00:00:00Z" },
    { status: "PENDING", failingSince: null },
    { status: "DEGRADED", failingSince: "2026-05-01T00:00:00Z" },
    { status: "VERIFIED", failingSince: null },
    { status: "FAILED", failingSince: "2026-05-01T00:00:00Z" },
  ];
  assert.deepEqual(kinds({ domains }), ["domain_stopped", "domain_stopped", "domain_failing"]);
});

test("a webhook fails while it is active, and is off afterwards", () => {
  assert.deepEqual(kinds({ webhooks: [{ webhook: { active: true } }, { webhook: { active: false } }] }), [
    "webhook_disabled",
    "webhook_failing",
  ]);
});

test("rates above the limits are found once there is enough mail to judge", () => {
  assert.deepEqual(kinds({ counts: { ...COUNTS, bounced: 21 } }), ["bounces"]);
  assert.deepEqual(kinds({ counts: { ...COUNTS, bounced: 20 } }), []);
  assert.deepEqual(kinds({ counts: { ...COUNTS, complained: 2 } }), ["complaints"]);
  assert.deepEqual(kinds({ counts: { ...COUNTS, complained: 1 } }), []);
  assert.deepEqual(kinds({ counts: { ...COUNTS, sent: 20, bounced: 20 } }), []);
});

test("the worst comes first, whatever it concerns", () => {
  const domains = [{ status: "VERIFIED", failingSince: "2026-06-01T00:00:00Z" }];
  const project = { settings: { transport: "capture" } };
  assert.deepEqual(kinds({ domains, webhooks: [{ webhook: { active: true } }], project }), [
    "webhook_failing",
    "domain_failing",
    "captured",
  ]);
});

test("mail in trouble is many by its number, or by its share of the day", () => {
  assert.equal(isMany(0, 0), false);
  assert.equal(isMany(1, 0), true);
  assert.equal(isMany(1, 100), false);
  assert.equal(isMany(25, 100), true);
  assert.equal(isMany(10, 100_000), true);
});

test("waiting and failed mail name the most common reason", () => {
  const list = {
    total: 12,
    data: [{ reason: "a@b.c: 421 busy" }, { reason: null }, { reason: "451 later" }, { reason: "d@e.f: 421 busy" }],
  };
  const [finding] = findingsOf(facts({ waiting: list, sentToday: 500 }));
  assert.deepEqual(finding, { kind: "waiting", total: 12, reason: "421 busy" });
  assert.equal(commonReason([]), undefined);
});

test("an owner without second factor is told so, except on the machine of the server", () => {
  const profile = { emailVerifiedAt: "2026-01-01T00:00:00Z", role: "OWNER", mfaEnabledAt: null };
  assert.deepEqual(kinds({ profile, passkeys: [] }), ["one_factor"]);
  assert.deepEqual(kinds({ profile, passkeys: [{}] }), []);
  assert.deepEqual(kinds({ profile }), []);
  assert.deepEqual(kinds({ profile, passkeys: [], local: true }), []);
  assert.deepEqual(kinds({ profile: { ...profile, role: "ADMIN" }, passkeys: [] }), []);
  assert.deepEqual(kinds({ profile: { ...profile, emailVerifiedAt: null, role: "ADMIN", email: "a@b.c" } }), [
    "email_unverified",
  ]);
});

test("how mail leaves is what the project chose, else what its newest mail tells", () => {
  const project = (transport: string | null) => ({ settings: { transport } });
  assert.deepEqual(kinds({ project: project("capture") }), ["captured"]);
  assert.deepEqual(kinds({ project: project(null), seen: "capture" }), ["captured"]);
  assert.deepEqual(kinds({ project: project("relay"), seen: "capture" }), []);
  assert.deepEqual(kinds({ project: project(null), seen: "relay" }), []);
  assert.deepEqual(kinds({ project: project(null) }), []);
});

test("mail of test keys and to test addresses does not tell how mail leaves", () => {
  const delivered = mail({ id: "1", status: "DELIVERED" });
  assert.equal(transportSeen([], []), undefined);
  assert.equal(transportSeen([mail({ test: true, status: "DELIVERED" })], []), undefined);
  assert.equal(transportSeen([mail({ to: ["delivered@postern.test"], status: "DELIVERED" }), mail({})], []), "relay");
  assert.equal(transportSeen([mail({ status: "QUEUED" }), mail({ status: "BOUNCED" }), delivered], ["1"]), "capture");
  assert.equal(transportSeen([delivered], ["2", null]), "direct");
  assert.equal(transportSeen([delivered], undefined), undefined);
  assert.equal(transportSeen([mail({}), delivered], ["1"]), "relay");
});
