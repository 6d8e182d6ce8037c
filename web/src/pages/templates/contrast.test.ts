import assert from "node:assert/strict";
import { test } from "node:test";
import { contrast, sixDigits } from "./contrast.ts";

test("contrast is that of WCAG", () => {
  assert.equal(contrast("#000", "#ffffff"), 21);
  assert.equal(contrast("#777777", "#FFF")?.toFixed(2), "4.48");
  assert.equal(contrast("red", "#fff"), undefined);
  assert.equal(sixDigits("#Abc"), "#aabbcc");
  assert.equal(sixDigits("rgba(0, 0, 0, 1)"), undefined);
});
