import assert from "node:assert/strict";
import { test } from "node:test";
import { draftOfProvider, emptyProvider, keyOf, settingsOf } from "./providerKinds.ts";

test("a preset needs no issuer, and an empty secret keeps the stored one", () => {
  const draft = { ...emptyProvider("GOOGLE"), clientId: " 123 ", issuer: "https://other.example" };
  assert.deepEqual(settingsOf(draft), {
    kind: "GOOGLE",
    clientId: "123",
    name: null,
    scopes: null,
    trustedEmailDomains: [],
    acrValues: [],
    onNewSubject: "REFUSE",
    enabled: true,
  });
  assert.equal(settingsOf({ ...draft, clientSecret: " s " }).clientSecret, "s");
});

test("providers without ID tokens get no authentication contexts", () => {
  for (const kind of ["GITHUB", "DISCORD", "FACEBOOK", "X"] as const) {
    const settings = settingsOf({ ...emptyProvider(kind), acrValues: "mfa", maxAgeSeconds: "60" });
    assert.equal("acrValues" in settings || "maxAgeSeconds" in settings, false);
  }
});

test("a stored provider is sent back as it was", () => {
  const stored = {
    key: "ACME",
    kind: "OIDC",
    name: "Acme",
    issuer: "https://login.acme.example",
    clientId: "postern",
    hasSecret: true,
    scopes: "openid email",
    trustedEmailDomains: ["acme.example", "acme.test"],
    teamId: null,
    keyId: null,
    acrValues: ["mfa"],
    maxAgeSeconds: 0,
    onNewSubject: "HOLD",
    enabled: false,
    callbackUrl: "https://postern.example/callback",
    createdAt: "",
    updatedAt: "",
  };
  assert.deepEqual(settingsOf(draftOfProvider(stored)), {
    kind: "OIDC",
    clientId: "postern",
    name: "Acme",
    issuer: "https://login.acme.example",
    scopes: "openid email",
    trustedEmailDomains: ["acme.example", "acme.test"],
    acrValues: ["mfa"],
    maxAgeSeconds: 0,
    onNewSubject: "HOLD",
    enabled: false,
  });
});

test("keys are made of names", () => {
  assert.equal(keyOf("Acme directory (EU)"), "ACME_DIRECTORY_EU");
  assert.equal(keyOf("1st"), "ST");
});
