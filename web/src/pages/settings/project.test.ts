import assert from "node:assert/strict";
import { test } from "node:test";
import { addressesOf, changeOf, chosenTransport, type Draft, differences, takenOver, unreadable } from "./project.ts";

const base: Draft = {
  name: "Northwind",
  transport: "",
  fallbackTransports: null,
  relays: [],
  ses: null,
  onAmbiguous: "retry",
  requireTls: false,
  trackOpens: true,
  trackClicks: true,
  trackingDomain: "",
  retentionDays: "30",
  inboundRetentionDays: "",
  logRetentionDays: "",
  eventRetentionDays: "",
  archiveExpired: false,
  frequencyCap: "",
  rateLimit: "",
  seedList: "",
  extra: '{"a": 1, "b": {"c": 2}}',
};

test("a change has only what differs", () => {
  assert.deepEqual(changeOf(base, base), {});
  assert.deepEqual(changeOf(base, { ...base, name: " Northwind Coffee " }), { name: "Northwind Coffee" });
  assert.deepEqual(changeOf(base, { ...base, requireTls: true }), { settings: { requireTls: true } });
  assert.deepEqual(changeOf(base, { ...base, trackOpens: false, retentionDays: "" }), {
    settings: { trackOpens: false, retentionDays: null },
  });
});

test("lists are replaced, and empty ones are null", () => {
  const relays = [{ host: "mail.example.com" }];
  assert.deepEqual(changeOf(base, { ...base, relays, transport: "relay" }), {
    settings: { transport: "relay", relays },
  });
  assert.deepEqual(changeOf({ ...base, relays }, base), { settings: { relays: null } });
  assert.deepEqual(changeOf(base, { ...base, seedList: "a@example.com,\n b@example.com\n" }), {
    settings: { seedList: ["a@example.com", "b@example.com"] },
  });
  assert.deepEqual(addressesOf(" \n"), []);
});

test("a transport is not its own fall-back, and captured mail has none", () => {
  const draft: Draft = { ...base, transport: "relay", fallbackTransports: ["ses", "direct"] };
  assert.deepEqual(chosenTransport(draft, "ses"), { transport: "ses", fallbackTransports: ["direct"] });
  assert.deepEqual(chosenTransport(draft, "capture"), { transport: "capture", fallbackTransports: null });
  assert.deepEqual(chosenTransport({ ...draft, fallbackTransports: ["ses"] }, "ses").fallbackTransports, null);
  assert.deepEqual(changeOf(base, { ...base, ...chosenTransport(draft, "relay") }), {
    settings: { transport: "relay", fallbackTransports: ["ses", "direct"] },
  });
});

test("further settings are sent by name, and removed ones as null", () => {
  assert.deepEqual(changeOf(base, { ...base, extra: '{"a": 1, "d": true}' }), {
    settings: { extra: { d: true, b: null } },
  });
});

test("numbers out of the limits and JSON that is no object cannot be sent", () => {
  assert.deepEqual(unreadable(base), []);
  assert.deepEqual(
    unreadable({ ...base, retentionDays: "0", frequencyCap: "1.5", rateLimit: "1000001", extra: "[1]" }),
    ["retentionDays", "frequencyCap", "rateLimit", "extra"],
  );
  assert.deepEqual(unreadable({ ...base, logRetentionDays: "89", eventRetentionDays: "30" }), ["logRetentionDays"]);
});

test("both versions of a conflict can be joined", () => {
  const mine = { ...base, name: "Mine", trackOpens: false };
  const theirs = { ...base, name: "Theirs", frequencyCap: "3" };
  const fields = differences(base, mine);
  assert.deepEqual(fields, ["name", "trackOpens"]);
  assert.deepEqual(takenOver(theirs, mine, fields), { ...base, name: "Mine", trackOpens: false, frequencyCap: "3" });
});
