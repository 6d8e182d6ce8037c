import assert from "node:assert/strict";
import { test } from "node:test";
import { textOfPage } from "./pageTexts.ts";
import { hostedPath, inScheme } from "./preview.ts";
import { DEFAULTS } from "./signIn.ts";
import { styleOf, themeOf } from "./theme.ts";

test("the text on an accent colour is the one with more contrast", () => {
  const onAccent = (accentColor: string) => themeOf({ ...DEFAULTS, accentColor }).light.onAccent;
  assert.equal(onAccent("#0d6472"), "#ffffff");
  assert.equal(onAccent("#FFE08A"), "#000000");
});

test("what is no colour gets into no style", () => {
  const usual = styleOf(themeOf(DEFAULTS));
  for (const accentColor of ["#fff}</style><script>", "#12", "red"])
    assert.equal(styleOf(themeOf({ ...DEFAULTS, accentColor, "theme/dark/ink": accentColor })), usual);
});

test("a page says what is written, the built-in text, or what the default language says", () => {
  const draft = { ...DEFAULTS, "pageTexts/en/footer": "Acme", "pageTexts/de/signInTitle": " Willkommen " };
  assert.equal(textOfPage(draft, "signInTitle", "de"), "Willkommen");
  assert.equal(textOfPage(draft, "signInTitle", "en"), "Sign in");
  assert.equal(textOfPage(draft, "footer", "ja"), "Acme");
  assert.equal(textOfPage({ ...draft, defaultLanguage: "de" }, "footer", "ja"), "");
  assert.equal(textOfPage({ ...draft, methods: ["EMAIL_CODE"] }, "signInButton", "en"), "Mail me a code");
});

test("styles are fixed to light or dark", () => {
  const css = ":root { color-scheme: light dark } @media (prefers-color-scheme: dark) { a {} }";
  assert.equal(inScheme(css, true), ":root { color-scheme: dark } @media all { a {} }");
  assert.equal(inScheme(css, false), ":root { color-scheme: light } @media not all { a {} }");
});

test("pages with a flow need a redirect URL", () => {
  assert.equal(hostedPath("p", "sign-in", undefined, "c", "de"), undefined);
  assert.equal(hostedPath("p", "forgot", undefined, "c", "de"), "/projects/p/auth/pages/forgot?lang=de");
  assert.equal(
    hostedPath("p", "sign-in", "https://a.example/?x=1", "c", "en"),
    "/projects/p/auth/pages/sign-in?redirectUrl=https%3A%2F%2Fa.example%2F%3Fx%3D1&codeChallenge=c&lang=en",
  );
});
