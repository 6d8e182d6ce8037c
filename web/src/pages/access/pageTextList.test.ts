import assert from "node:assert/strict";
import { test } from "node:test";
import type { PageText } from "@postern/sdk";
import { isMatch } from "./pageTextList.ts";

const text: PageText = {
  id: "bfd402b2f6f3",
  pages: ["SIGN_IN", "ALL"],
  english: "Sign in",
  builtIn: "Anmelden",
  text: null,
  placeholders: [],
};

test("a text is found by its own words, the built-in ones and the English ones", () => {
  const own = { ...text, text: "Jetzt einloggen" };
  for (const search of ["", "anMELD", "in sign", "jetzt EIN"]) assert.ok(isMatch(own, search, undefined), search);
  assert.ok(!isMatch(text, "jetzt", undefined));
  assert.ok(!isMatch(text, "sign out", undefined));
});

test("texts of some pages, and those that are replaced", () => {
  assert.ok(isMatch(text, "", "SIGN_IN"));
  assert.ok(!isMatch(text, "", "ACCOUNT"));
  assert.ok(!isMatch(text, "", "CHANGED"));
  assert.ok(isMatch({ ...text, pages: [], text: "" }, "", "CHANGED"));
});
