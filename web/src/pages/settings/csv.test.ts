import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf } from "./csv.ts";

test("cells are quoted where needed, and no cell is a formula", () => {
  assert.equal(
    csvOf(
      ["a", "b"],
      [
        ['say "hi", then go', null],
        ["=1+1", 3],
        ["two\nlines", undefined],
      ],
    ),
    'a,b\r\n"say ""hi"", then go",\r\n\'=1+1,3\r\n"two\nlines",\r\n',
  );
});
