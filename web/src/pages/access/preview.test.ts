import assert from "node:assert/strict";
import { test } from "node:test";
import { accentStyle, hostedPath, inScheme } from "./preview.ts";

test("the text on an accent colour is the one with more contrast", () => {
  assert.match(accentStyle("#0d6472"), /--b-accent:#0d6472;--b-on-accent:#ffffff/);
  assert.match(accentStyle("#ffe08a"), /--b-on-accent:#000000/);
});

test("what is no colour gets into no style", () => {
  assert.equal(accentStyle(""), "");
  assert.equal(accentStyle("#fff}</style><script>"), "");
});

test("styles are fixed to light or dark", () => {
  const css = ":root { color-scheme: light dark } @media (prefers-color-scheme: dark) { a {} }";
  assert.equal(inScheme(css, true), ":root { color-scheme: dark } @media all { a {} }");
  assert.equal(inScheme(css, false), ":root { color-scheme: light } @media not all { a {} }");
});

test("pages with a flow need a redirect URL", () => {
  assert.equal(hostedPath("p", "sign-in", undefined, "c"), undefined);
  assert.equal(hostedPath("p", "forgot", undefined, "c"), "/projects/p/auth/pages/forgot");
  assert.equal(
    hostedPath("p", "sign-in", "https://a.example/?x=1", "c"),
    "/projects/p/auth/pages/sign-in?redirectUrl=https%3A%2F%2Fa.example%2F%3Fx%3D1&codeChallenge=c",
  );
});
