import assert from "node:assert/strict";
import { test } from "node:test";
import type { CampaignVariant } from "@postern/sdk";
import { evidenceOf, resultsOf } from "./evidence.ts";

const variant = (id: string, sent: number, opened: number): CampaignVariant => ({
  id,
  campaignId: "c",
  name: id,
  subject: null,
  templateId: null,
  weight: 50,
  isWinner: false,
  createdAt: "2026-06-09T08:00:00Z",
  stats: { sent, opened, clicked: 1, openRate: 0, clickRate: 0 },
});

test("the numbers of the decision stay, although the winner goes on to be sent", () => {
  const evidence = evidenceOf({
    decidedBy: "rule",
    decisive: true,
    winnerId: "a",
    variants: [{ variantId: "a", delivered: 100, opened: 40, clicked: 2, rate: 0.4, probabilityOfBeingBest: 0.99 }],
  });
  const [a, b] = resultsOf(
    { variants: [variant("a", 900, 300), variant("b", 100, 20)], abTestMetric: "OPEN_RATE" },
    evidence,
  );
  assert.deepEqual([a?.messages, a?.successes, a?.rate], [100, 40, 0.4]);
  assert.deepEqual([b?.messages, b?.successes], [100, 20]);
});

test("what is no evidence is none, and what is missing in it is zero", () => {
  for (const value of [null, undefined, "rule", {}, { decidedBy: 1 }]) assert.equal(evidenceOf(value), undefined);
  assert.deepEqual(evidenceOf({ decidedBy: "cancelled", winnerId: "a" }), {
    decidedBy: "cancelled",
    decisive: false,
    winnerId: "a",
    variants: [],
  });
});

test("a rate is of messages, and never more than all", () => {
  const [only] = resultsOf({ variants: [variant("a", 0, 3)], abTestMetric: "OPEN_RATE" }, undefined);
  assert.deepEqual([only?.messages, only?.successes, only?.rate], [0, 0, 0]);
  const [clicks] = resultsOf({ variants: [variant("a", 4, 3)], abTestMetric: "CLICK_RATE" }, undefined);
  assert.equal(clicks?.rate, 0.25);
});
