import assert from "node:assert/strict";
import { test } from "node:test";
import { changeOf, DEFAULTS, differences, draftOf, METHODS, RULES, takenOver } from "./signIn.ts";

const settings = {
  methods: ["PASSKEY", "PASSWORD"],
  signUp: true,
  verifyEmail: "REQUIRED",
  allowedOrigins: [],
  redirectUrls: ["https://a.example/back", "https://b.example/back"],
  mailFrom: null,
  securityMails: [],
  contacts: "NONE",
  passkeyDomain: null,
  pagesDomain: null,
  appName: "Acme",
  logoUrl: null,
  accentColor: null,
  defaultLanguage: null,
  pageTexts: { en: null, de: null, es: null, fr: null, pt: null, ja: null },
  clientRegistration: "OFF",
  clientMetadataDocuments: false,
  accountDeletion: true,
  organizationSetup: false,
  hooks: [],
  theme: {
    light: { accent: null, page: null, card: null, ink: null, muted: null, line: null },
    dark: { accent: null, page: null, card: null, ink: null, muted: null, line: null },
    corners: "MEDIUM",
    font: "SYSTEM",
    headingFont: "SYSTEM",
    pictureUrl: null,
  },
  privacyUrl: null,
  termsUrl: null,
  helpUrl: null,
  requireSso: false,
  requireMfa: false,
  rememberedDeviceDays: null,
  requireTerms: false,
  termsVersion: null,
  tokenClaims: { customer: ["plan"], organization: [] },
};

test("what differs from the default is found, whatever the order", () => {
  const draft = draftOf(settings);
  assert.deepEqual(draft.methods, ["PASSWORD", "PASSKEY"]);
  assert.deepEqual(differences(DEFAULTS, draft), [
    "methods",
    "redirectUrls",
    "securityMails",
    "customerClaims",
    "appName",
  ]);
  assert.deepEqual(differences(DEFAULTS, { ...DEFAULTS, methods: METHODS.toReversed() }), []);
  assert.deepEqual(differences(DEFAULTS, draft, ["appName"]), ["appName"]);
  assert.equal(RULES.includes("appName"), false);
});

test("a change has only what differs, and lists as lists", () => {
  const base = draftOf(settings);
  assert.deepEqual(changeOf(base, base), { settings: { signIn: {} } });
  const draft = {
    ...base,
    redirectUrls: "https://a.example/back\n\n  https://c.example/back \n",
    appName: " ",
    organizationClaims: "region",
    customerClaims: "",
    requireMfa: true,
    rememberedDeviceDays: "30",
  };
  assert.deepEqual(changeOf(base, draft), {
    settings: {
      signIn: {
        redirectUrls: ["https://a.example/back", "https://c.example/back"],
        appName: null,
        requireMfa: true,
        rememberedDeviceDays: 30,
        tokenClaims: { customer: [], organization: ["region"] },
      },
    },
  });
  assert.deepEqual(differences(base, { ...base, redirectUrls: `${base.redirectUrls}\n ` }), []);
});

test("a color and a text are changed at their place, and the rest of the theme is left", () => {
  const base = draftOf({ ...settings, pageTexts: { ...settings.pageTexts, de: { footer: "Acme" } } } as never);
  assert.equal(base["pageTexts/de/footer"], "Acme");
  assert.equal(base["theme/dark/ink"], "");
  const draft = { ...base, "pageTexts/de/footer": " ", "theme/dark/ink": "#ffffff", corners: "LARGE" };
  assert.deepEqual(changeOf(base, draft), {
    settings: {
      signIn: { theme: { dark: { ink: "#ffffff" }, corners: "LARGE" }, pageTexts: { de: { footer: null } } },
    },
  });
});

test("own changes are taken over into another version", () => {
  const base = draftOf(settings);
  const theirs = { ...base, signUp: false, appName: "Theirs" };
  const mine = { ...base, appName: "Mine" };
  const joined = takenOver(theirs, mine, differences(base, mine));
  assert.equal(joined.signUp, false);
  assert.equal(joined.appName, "Mine");
});
