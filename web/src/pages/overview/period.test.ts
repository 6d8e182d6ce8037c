import assert from "node:assert/strict";
import { test } from "node:test";
import {
  addDays,
  bucketsOf,
  dateOf,
  dayOf,
  firstWeekdayOf,
  growthOf,
  ratesOf,
  shareOf,
  sumOf,
  weekOf,
} from "./period.ts";

const MONDAY = 1;
const SUNDAY = 7;

function days(first: string, sent: number[]) {
  return sent.map((number, index) => ({
    date: addDays(first, index),
    sent: number,
    delivered: number,
    opened: 1,
    clicked: 0,
    bounced: 0,
    complained: 0,
    failed: 0,
  }));
}

test("days are counted over the ends of months and years, and over clock changes", () => {
  assert.equal(addDays("2026-02-27", 2), "2026-03-01");
  assert.equal(addDays("2028-02-28", 1), "2028-02-29");
  assert.equal(addDays("2026-01-01", -1), "2025-12-31");
  assert.equal(addDays("2026-03-28", 2), "2026-03-30");
});

test("the day of a point in time depends on the time zone", () => {
  const at = new Date("2026-06-09T22:30:00Z");
  assert.equal(dayOf(at, "UTC"), "2026-06-09");
  assert.equal(dayOf(at, "Europe/Berlin"), "2026-06-10");
  assert.equal(dayOf(at, "America/New_York"), "2026-06-09");
  assert.equal(dayOf(dateOf("2026-06-09")), "2026-06-09");
});

test("weeks begin as the locale has it", () => {
  assert.equal(firstWeekdayOf("de-DE"), MONDAY);
  assert.equal(firstWeekdayOf("en-US"), SUNDAY);
  assert.equal(weekOf("2026-06-10", MONDAY), "2026-06-08");
  assert.equal(weekOf("2026-06-10", SUNDAY), "2026-06-07");
  assert.equal(weekOf("2026-06-08", MONDAY), "2026-06-08");
  assert.equal(weekOf("2026-06-07", SUNDAY), "2026-06-07");
});

test("the columns of weeks hold the days of the range, and the last one goes on", () => {
  const columns = bucketsOf(days("2026-06-05", [1, 2, 3, 4, 5, 6]), "week", "2026-06-10", MONDAY);
  assert.deepEqual(
    columns.map(({ first, last, sent, running }) => ({ first, last, sent, running })),
    [
      { first: "2026-06-05", last: "2026-06-07", sent: 6, running: false },
      { first: "2026-06-08", last: "2026-06-10", sent: 15, running: true },
    ],
  );
});

test("the columns of days are the days", () => {
  const columns = bucketsOf(days("2026-06-08", [1, 2, 3]), "day", "2026-06-10", MONDAY);
  assert.deepEqual(
    columns.map(({ first, sent, running }) => [first, sent, running]),
    [
      ["2026-06-08", 1, false],
      ["2026-06-09", 2, false],
      ["2026-06-10", 3, true],
    ],
  );
});

test("columns and days have the same sums", () => {
  const items = days("2026-03-01", [3, 1, 4, 1, 5, 9, 2, 6, 5, 3, 5]);
  assert.deepEqual(sumOf(bucketsOf(items, "week", "2026-03-11", SUNDAY)), sumOf(items));
  assert.equal(sumOf(items).sent, 44);
});

test("rates are shares of what was accepted; bounces count beside it", () => {
  const rates = ratesOf({ sent: 990, opened: 396, clicked: 99, bounced: 10, complained: 1 });
  assert.equal(rates.opened, 0.4);
  assert.equal(rates.clicked, 0.1);
  assert.equal(rates.bounced, 0.01);
  assert.equal(rates.complained, 1 / 990);
});

test("of nothing there is no rate, and a rate is at most the whole", () => {
  assert.equal(shareOf(0, 0), undefined);
  assert.equal(shareOf(3, 2), 1);
  assert.equal(growthOf(5, 0), undefined);
  assert.equal(growthOf(12, 10), 0.2);
  assert.equal(growthOf(0, 10), -1);
});
