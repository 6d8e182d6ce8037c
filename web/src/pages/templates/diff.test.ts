import assert from "node:assert/strict";
import { test } from "node:test";
import { excerpt, fromFirstDifference, lineDiff } from "./diff.ts";

/** The lines of a comparison, each with its sign. */
function signs(before: string, after: string): string {
  return lineDiff(before, after)
    .map(({ kind, text }) => ({ same: " ", old: "-", new: "+" })[kind] + text)
    .join("");
}

test("lines that stay, go and come", () => {
  assert.equal(signs("a\nb\nc", "a\nx\nc"), " a-b+x c");
  assert.equal(signs("a\nb", "a\nb\nc"), " a b+c");
  assert.equal(signs("a\nb\na", "b\na"), "-a b a");
  assert.equal(signs("", "a"), "+a");
  assert.equal(signs("a\na", "a"), " a-a");
});

test("lines far from a difference are left out", () => {
  const lines = lineDiff("1\n2\n3\n4\n5\n6", "1\n2\n3\n4\n5\nx");
  assert.deepEqual(excerpt(lines, 1), [
    { kind: "gap", count: 4 },
    { kind: "same", text: "5" },
    { kind: "old", text: "6" },
    { kind: "new", text: "x" },
  ]);
});

test("long texts are shown from where they differ", () => {
  const head = "<p>Hello</p>\n".repeat(50);
  assert.equal(fromFirstDifference("Mine", "Theirs", 40), "Mine");
  assert.equal(
    fromFirstDifference(`${head}<p>Mine</p>\n${head}`, `${head}<p>Theirs</p>`, 20),
    "…<p>Mine</p>\n<p>Hello…",
  );
  assert.equal(fromFirstDifference(`${"x".repeat(90)}mine`, `${"x".repeat(90)}theirs`, 40), "…xxxxxxxxxxmine");
  assert.equal(fromFirstDifference("x".repeat(50), "x".repeat(90), 40), `…${"x".repeat(40)}`);
});
