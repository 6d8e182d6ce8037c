import assert from "node:assert/strict";
import { test } from "node:test";
import { columnAt, columnOf, middleOf, namedColumns, ticksOf, WIDTH } from "./scale.ts";

test("lines stand at round whole numbers", () => {
  assert.deepEqual(ticksOf(13_339), [16_000, 12_000, 8_000, 4_000, 0]);
  assert.deepEqual(ticksOf(12_000), [12_000, 8_000, 4_000, 0]);
  assert.deepEqual(ticksOf(3), [3, 2, 1, 0]);
  assert.deepEqual(ticksOf(1), [1, 0]);
  assert.deepEqual(ticksOf(5), [6, 4, 2, 0]);
  assert.deepEqual(ticksOf(97), [100, 75, 50, 25, 0]);
  assert.deepEqual(ticksOf(0), [1, 0]);
});

test("for every maximum there are at most five lines, and the highest is not below it", () => {
  for (let max = 1; max < 1_000_000; max = Math.ceil(max * 1.13)) {
    const ticks = ticksOf(max);
    assert.ok(ticks.length <= 5, `${max}: ${ticks}`);
    assert.ok((ticks[0] ?? 0) >= max, `${max}: ${ticks}`);
    assert.ok((ticks[0] ?? 0) < max * 2.5, `${max}: ${ticks}`);
    assert.equal(ticks.at(-1), 0);
    assert.ok(ticks.every(Number.isInteger), `${max}: ${ticks}`);
  }
});

test("columns stand in the middle of their places, and few of them are not wide", () => {
  const { x, width } = columnOf(0, 30);
  assert.ok(Math.abs(x - 5.4) < 0.01 && Math.abs(width - 19.2) < 0.01);
  assert.equal(columnOf(2, 3).width, 44);
  assert.equal(columnOf(2, 3).x + 22, WIDTH * (5 / 6));
  assert.equal(middleOf(0, 2), 25);
});

test("the column under the pointer stays within the chart", () => {
  assert.equal(columnAt(-0.1, 30), 0);
  assert.equal(columnAt(0.5, 30), 15);
  assert.equal(columnAt(1, 30), 29);
});

test("few names stand below, whole weeks apart, and always the last", () => {
  assert.deepEqual(namedColumns(7, 7), [0, 1, 2, 3, 4, 5, 6]);
  assert.deepEqual(namedColumns(30, 7), [0, 7, 14, 21, 29]);
  assert.deepEqual(namedColumns(90, 7), [0, 14, 28, 42, 56, 70, 89]);
  assert.deepEqual(namedColumns(14, 1), [0, 2, 4, 6, 8, 10, 13]);
  assert.deepEqual(namedColumns(1, 7), [0]);
});
