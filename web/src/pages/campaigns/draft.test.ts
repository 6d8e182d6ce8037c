import assert from "node:assert/strict";
import { test } from "node:test";
import type { Campaign } from "@postern/sdk";
import {
  changeOf,
  type DraftForm,
  differences,
  evenly,
  formOf,
  isKept,
  type Known,
  localPart,
  needsOf,
  timeOf,
  withKept,
} from "./draft.ts";

const campaign: Campaign = {
  id: "c",
  name: "Spring",
  subject: null,
  fromName: null,
  fromEmail: null,
  previewText: null,
  status: "DRAFT",
  scheduledAt: null,
  sentAt: null,
  templateId: null,
  domainId: null,
  audienceId: null,
  abTestEnabled: false,
  abTestSamplePercent: null,
  abTestMetric: null,
  abTestDurationMinutes: null,
  abTestStartedAt: null,
  abTestSampleSize: null,
  reason: null,
  createdAt: "2026-06-09T08:00:00Z",
  updatedAt: "2026-06-09T08:00:00Z",
  appId: "p",
};
const local = (date: Date) => date.toISOString().slice(0, 16);
const empty = formOf(campaign, local);
const whole: DraftForm = {
  ...empty,
  audienceId: "a",
  domainId: "d",
  templateId: "t",
  fromEmail: "news@acme.example",
};
const known: Known = {
  recipients: 3,
  domain: { domain: "acme.example", status: "VERIFIED" },
  template: { subject: "News", html: "<p>Hello</p>", text: null },
  isCaptured: false,
  now: Date.now(),
};
const variant = (name: string, weight: number, more = {}) => ({
  key: name,
  name,
  subject: "",
  templateId: "",
  weight,
  ...more,
});

test("only what is different is stored", () => {
  assert.equal(changeOf(empty, empty).change, undefined);
  const { change, stored } = changeOf(empty, { ...empty, subject: "Hello", previewText: "  ", audienceId: "a" });
  assert.deepEqual(change, { subject: "Hello", previewText: null, audienceId: "a" });
  assert.equal(changeOf(stored, { ...empty, subject: "Hello", previewText: "  ", audienceId: "a" }).change, undefined);
});

test("what is not finished waits until it is", () => {
  const typed = { ...empty, name: " ", fromEmail: "news@", when: "later" as const };
  assert.equal(changeOf(empty, typed).change, undefined);
  assert.equal(changeOf(empty, typed).stored.fromEmail, "");
  assert.deepEqual(changeOf(empty, { ...typed, fromEmail: "news@acme.example" }).change, {
    fromEmail: "news@acme.example",
  });
  assert.deepEqual(changeOf(whole, { ...whole, fromEmail: "" }).change, { fromEmail: null });
});

test("a time is stored, and taken back", () => {
  const at = "2030-06-09T10:30";
  const planned = { ...empty, when: "later" as const, at };
  assert.deepEqual(changeOf(empty, planned).change, { scheduledAt: new Date(at).toISOString() });
  assert.deepEqual(changeOf(planned, { ...planned, when: "now" }).change, { scheduledAt: null });
  assert.equal(timeOf({ when: "later", at: "" }), undefined);
  assert.equal(timeOf({ when: "now", at }), null);
});

test("a new test is stored with its numbers, variants only if the API takes them", () => {
  const variants = [variant("A", 50), variant("B", 30)];
  const form = { ...empty, abTestEnabled: true, variants };
  const { change, stored } = changeOf(empty, form);
  assert.deepEqual(change, {
    abTestEnabled: true,
    abTestSamplePercent: 20,
    abTestMetric: "OPEN_RATE",
    abTestDurationMinutes: 240,
  });
  const fitting = { ...form, variants: [variant("A", 50), variant("B", 50, { subject: "Other" })] };
  assert.deepEqual(changeOf(stored, fitting).change, {
    variants: [
      { name: "A", subject: null, templateId: null, weight: 50 },
      { name: "B", subject: "Other", templateId: null, weight: 50 },
    ],
  });
  assert.equal(changeOf(stored, { ...form, abTestSamplePercent: Number.NaN }).change, undefined);
});

test("a test that a program began without its size asks for one", () => {
  const form = formOf({ ...campaign, abTestEnabled: true }, local);
  assert.ok(needsOf(form, known).includes("percent"));
  assert.deepEqual(changeOf(form, { ...form, abTestSamplePercent: 10 }).change, {
    abTestSamplePercent: 10,
    abTestMetric: "OPEN_RATE",
    abTestDurationMinutes: 240,
  });
});

test("shares are equal and sum to 100", () => {
  assert.deepEqual(evenly(2), [50, 50]);
  assert.deepEqual(evenly(3), [34, 33, 33]);
  assert.deepEqual(evenly(8), [13, 13, 13, 13, 12, 12, 12, 12]);
});

test("what is missing is named in the order of the form", () => {
  assert.deepEqual(needsOf(whole, known), []);
  assert.deepEqual(needsOf(empty, known), ["audience", "domain", "sender", "template"]);
  assert.deepEqual(needsOf(whole, { ...known, recipients: 0 }), ["nobody"]);
  // What is not known yet is not held against it.
  assert.deepEqual(needsOf(whole, { ...known, recipients: undefined, domain: undefined, template: undefined }), []);
  assert.deepEqual(needsOf(whole, { ...known, domain: null }), ["domain_gone"]);
  const pending = { domain: "acme.example", status: "PENDING" };
  assert.deepEqual(needsOf(whole, { ...known, domain: pending }), ["domain_not_ready"]);
  assert.deepEqual(needsOf(whole, { ...known, domain: pending, isCaptured: undefined }), []);
  assert.deepEqual(needsOf(whole, { ...known, template: { subject: null, html: " ", text: null } }), [
    "blank",
    "subject",
  ]);
  assert.deepEqual(needsOf({ ...whole, when: "later" }, known), ["time"]);
  assert.deepEqual(needsOf({ ...whole, when: "later", at: "2020-01-01T10:00" }, known), ["past"]);
});

test("variants may have subjects and templates of their own", () => {
  const own = (name: string) => variant(name, 50, { subject: name, templateId: "t" });
  const form = { ...whole, templateId: "", abTestEnabled: true, variants: [own("A"), own("B")] };
  assert.deepEqual(needsOf(form, { ...known, template: undefined }), []);
  assert.deepEqual(needsOf({ ...form, variants: [own("A"), variant("B", 50)] }, { ...known, template: undefined }), [
    "test_template",
  ]);
  assert.deepEqual(needsOf({ ...form, templateId: "t", variants: [own("A")] }, known), ["variants"]);
});

test("two versions differ in what a person sees", () => {
  const mine = { ...empty, subject: "Mine", variants: [variant("A", 100)] };
  const theirs = { ...empty, subject: "Theirs", variants: [{ ...variant("A", 100), key: "other" }] };
  assert.deepEqual(differences(mine, theirs), ["subject"]);
});

test("the part before the @ is taken from an address", () => {
  assert.equal(localPart("news@acme.example"), "news");
  assert.equal(localPart("news"), "news");
  assert.equal(localPart(""), "");
});

test("what was typed and not stored goes on top of what is stored now", () => {
  const base = formOf(campaign, local);
  const form = { ...base, subject: "Mine" };
  assert.deepEqual(withKept({ base, form }, base), { form, isConflict: false });
  const renamed = { ...base, name: "Theirs" };
  assert.deepEqual(withKept({ base, form }, renamed), { form: { ...renamed, subject: "Mine" }, isConflict: false });
  assert.deepEqual(withKept({ base, form }, form), { form, isConflict: false });
  const other = { ...base, subject: "Theirs" };
  assert.deepEqual(withKept({ base, form }, other), { form: { ...other, subject: "Mine" }, isConflict: true });
});

test("only whole drafts are taken from the browser", () => {
  const form = formOf(campaign, local);
  assert.equal(isKept({ base: form, form }, form), true);
  for (const value of [null, 1, {}, { base: form }, { base: form, form: { ...form, variants: {} } }, { base: 1, form }])
    assert.equal(isKept(value, form), false);
});
