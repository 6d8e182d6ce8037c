import assert from "node:assert/strict";
import { test } from "node:test";
import { after, before, isUnfinished, readProgress, START, STOPS, writeProgress } from "./progress.ts";

test("what was kept is read as it was", () => {
  for (const at of [...STOPS, "end"] as const)
    for (const state of ["open", "folded", "away"] as const)
      assert.deepEqual(readProgress(writeProgress({ at, state })), { at, state });
});

test("what nobody wrote is no progress", () => {
  for (const kept of [null, "", "email", "email shut", "nowhere open", "{}", "1"])
    assert.equal(readProgress(kept), undefined);
});

test("from the first stop to the end and back", () => {
  let at: (typeof START)["at"] = START.at;
  for (let step = 0; at !== "end"; step++) {
    assert.ok(step < STOPS.length);
    at = after(at);
  }
  for (const stop of STOPS.toReversed()) {
    const previous = before(at);
    assert.equal(previous, stop);
    at = stop;
  }
  assert.equal(before(at), undefined);
});

test("only a tour that was left on its way is unfinished", () => {
  assert.equal(isUnfinished(undefined), false);
  assert.equal(isUnfinished({ at: "email", state: "away" }), false);
  assert.equal(isUnfinished({ at: "domain", state: "away" }), true);
  assert.equal(isUnfinished({ at: "domain", state: "open" }), false);
  assert.equal(isUnfinished({ at: "end", state: "away" }), false);
});
