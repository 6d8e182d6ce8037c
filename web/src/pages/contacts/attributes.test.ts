import assert from "node:assert/strict";
import { test } from "node:test";
import { csvOf, isSame, kindOf, parsed, textOf } from "./attributes.ts";

test("what a value is decides its input", () => {
  assert.equal(kindOf(undefined, "date"), "date");
  assert.equal(kindOf(undefined), "string");
  assert.equal(kindOf("2026-01-31", "date"), "date");
  assert.equal(kindOf("2026-01-31", "string"), "string");
  assert.equal(kindOf("2026-01-31T10:00:00Z", "date"), "string");
  assert.equal(kindOf("many", "number"), "string");
  assert.equal(kindOf(4, "string"), "number");
  assert.equal(kindOf(["a", "b"]), "list");
  assert.equal(kindOf(["a", 1]), "json");
  assert.equal(kindOf(["a\nb"]), "json");
  assert.equal(kindOf({ a: 1 }), "json");
  assert.equal(kindOf(null), "json");
});

test("every value comes back from its input as it was", () => {
  for (const value of ["", " padded ", "x", 0, -0.5, 1e21, true, false, ["a", "b c"], [], { a: [1] }, [1, "a"], null]) {
    const kind = kindOf(value);
    assert.deepEqual(parsed(textOf(value, kind), kind), { value });
  }
  assert.deepEqual(parsed(textOf("2026-01-31", "date"), "date"), { value: "2026-01-31" });
});

test("what an input cannot mean is a fault", () => {
  for (const text of ["", "four", "1,5", "0x10", "1e999", "+5"])
    assert.deepEqual(parsed(text, "number"), { fault: "number" });
  assert.deepEqual(parsed("", "boolean"), { fault: "boolean" });
  assert.deepEqual(parsed("31.1.2026", "date"), { fault: "date" });
  assert.deepEqual(parsed("{", "json"), { fault: "json" });
});

test("the order of keys is no difference", () => {
  assert.equal(isSame({ a: 1, b: { c: 1, d: 2 } }, { b: { d: 2, c: 1 }, a: 1 }), true);
  assert.equal(isSame([1, 2], [2, 1]), false);
  assert.equal(isSame("1", 1), false);
});

test("cells that a spreadsheet would run are text", () => {
  const rows = [
    ["=1+1", "-x", "'=x", "it's", -5],
    ['say "hi"', "a,b", ["x"], null, "two\nlines"],
  ];
  assert.equal(csvOf(rows), `'=1+1,'-x,''=x,it's,-5\r\n"say ""hi""","a,b","[""x""]",,"two\nlines"\r\n`);
});
