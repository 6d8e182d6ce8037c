import assert from "node:assert/strict";
import { test } from "node:test";
import { historyOf, redone, undone, withChange } from "./history.ts";

test("changes are taken back one by one, and made again", () => {
  const both = withChange(withChange(historyOf("a"), "b", undefined, 0), "c", undefined, 1);
  assert.equal(undone(both).present, "b");
  assert.equal(undone(undone(undone(both))).present, "a");
  assert.equal(redone(undone(both)).present, "c");
  assert.equal(redone(withChange(undone(both), "d", undefined, 2)).present, "d");
});

test("typing in one field is one change, until there is a pause", () => {
  let history = historyOf("");
  for (const [at, text] of ["H", "He", "Hel"].entries()) history = withChange(history, text, "title", at * 200);
  assert.equal(undone(history).present, "");
  history = withChange(history, "Hello", "title", 10_000);
  assert.equal(undone(history).present, "Hel");
  assert.equal(undone(withChange(history, "Hello,", "other", 10_001)).present, "Hello");
});
