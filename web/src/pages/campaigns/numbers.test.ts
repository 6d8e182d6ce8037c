import assert from "node:assert/strict";
import { test } from "node:test";
import type { CampaignProgress, CampaignStats, TimeSeriesItem } from "@postern/sdk";
import { axisOf, doneOf, lifeOf, likelyRange, partsOf, placeOn, timeLeft, usualOf } from "./numbers.ts";

const stats = (some: Partial<CampaignStats>): CampaignStats => ({
  total: 0,
  sent: 0,
  delivered: 0,
  opened: 0,
  clicked: 0,
  bounced: 0,
  complained: 0,
  failed: 0,
  ...some,
});

const progress = (some: Partial<CampaignProgress>): CampaignProgress => ({
  expected: 0,
  audience: 0,
  waiting: 0,
  retrying: 0,
  handedOver: 0,
  skipped: { unsubscribed: 0, suppressed: 0, deleted: 0, frequencyCap: 0 },
  perSecond: 0,
  waitingReason: null,
  waitingUntil: null,
  ...some,
});

test("every contact is in one part", () => {
  const parts = partsOf({
    stats: stats({ total: 90, sent: 60, bounced: 5, failed: 3 }),
    progress: progress({
      expected: 120,
      audience: 100,
      waiting: 20,
      skipped: { unsubscribed: 6, suppressed: 4, deleted: 0, frequencyCap: 2 },
    }),
  });
  assert.deepEqual(parts, { accepted: 60, waiting: 20, bounced: 5, failed: 3, cancelled: 0, skipped: 12, rest: 20 });
  assert.equal(doneOf(parts), 80);
  assert.equal(
    Object.values(parts).reduce((sum, each) => sum + each, 0),
    120,
  );
});

test("messages of a cancelled campaign are cancelled", () => {
  const parts = partsOf({
    stats: stats({ total: 50, sent: 20 }),
    progress: progress({ expected: 80, audience: 50 }),
  });
  assert.equal(parts.cancelled, 30);
  assert.equal(parts.rest, 30);
});

test("the time left is of what is tried for the first time", () => {
  const parts = { accepted: 0, waiting: 110, bounced: 0, failed: 0, cancelled: 0, skipped: 0, rest: 500 };
  assert.equal(timeLeft(parts, progress({ perSecond: 10, retrying: 10 })), 60_000);
  assert.equal(timeLeft(parts, progress({ perSecond: 0 })), undefined);
  assert.equal(timeLeft({ ...parts, rest: 0, waiting: 10 }, progress({ perSecond: 5, retrying: 10 })), undefined);
});

test("the likely range is narrower with more messages", () => {
  const [low, high] = likelyRange(279, 624);
  assert.ok(Math.abs(low - 0.4086) < 0.001);
  assert.ok(Math.abs(high - 0.4863) < 0.001);
  assert.deepEqual(likelyRange(0, 0), [0, 1]);
  const [none, some] = likelyRange(0, 10);
  assert.ok(none === 0 && some > 0.2 && some < 0.3);
  // Machines may count twice: never more than all.
  assert.ok(likelyRange(12, 10)[1] <= 1);
});

test("an axis holds the ranges with few lines", () => {
  const axis = axisOf([
    [0.344, 0.42],
    [0.409, 0.486],
  ]);
  assert.deepEqual(
    axis.map((each) => Math.round(each * 100)),
    [30, 35, 40, 45, 50],
  );
  assert.equal(placeOn(axis, 0.3), 0);
  assert.equal(Math.round(placeOn(axis, 0.4)), 50);
  assert.deepEqual(axisOf([[0, 1]]), [0, 0.25, 0.5, 0.75, 1]);
});

test("the chart begins with the first day and has a week where there is one", () => {
  const day = (number: number, sent = 0): TimeSeriesItem => ({
    date: `2026-06-${String(number).padStart(2, "0")}`,
    sent,
    delivered: 0,
    opened: 0,
    clicked: 0,
    bounced: 0,
    complained: 0,
    failed: 0,
  });
  const days = Array.from({ length: 20 }, (_, index) => day(index + 1, index === 4 ? 3 : 0));
  assert.deepEqual(
    lifeOf(days).map((each) => each.date),
    days.slice(4, 11).map((each) => each.date),
  );
  assert.equal(lifeOf([day(1), day(2, 1)]).length, 1);
  assert.deepEqual(lifeOf([day(1)]), []);
});

test("what is usual is the rate of all campaigns together", () => {
  assert.equal(usualOf([stats({})]), undefined);
  assert.deepEqual(usualOf([stats({ sent: 90, opened: 30 }), stats({ sent: 90, clicked: 9 })]), {
    opened: 1 / 6,
    clicked: 0.05,
  });
});
