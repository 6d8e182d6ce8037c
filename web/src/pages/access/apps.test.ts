import assert from "node:assert/strict";
import { test } from "node:test";
import type { OAuthClient } from "@postern/sdk";
import {
  changeOfApp,
  changesOf,
  draftOfApp,
  keysOf,
  NEW_APP,
  newAppOf,
  refusedFields,
  toggled,
  uniqueLines,
} from "./apps.ts";

test("lines are numbered as they stand, without empty and repeated ones", () => {
  assert.deepEqual(uniqueLines("https://a/\n\n https://b/ \nhttps://a/\n"), [
    { value: "https://a/", line: 1 },
    { value: "https://b/", line: 3 },
  ]);
});

test("a new app leaves out what is empty, and a change empties it", () => {
  const draft = { ...NEW_APP, name: " Reports ", redirectUris: "https://a/\nhttps://a/", websiteUrl: "https://w/" };
  const created = newAppOf(draft);
  assert.deepEqual(created.redirectUris, ["https://a/"]);
  assert.equal(created.name, "Reports");
  assert.equal(created.websiteUrl, "https://w/");
  assert.equal("privacyUrl" in created, false);
  assert.equal(changeOfApp(draft).privacyUrl, null);
  assert.equal("type" in changeOfApp(draft), false);
});

test("a stored app gives the same change again", () => {
  const draft = { ...NEW_APP, name: "Reports", redirectUris: "https://a/\nhttps://b/" };
  const links = { websiteUrl: null, privacyUrl: null, termsUrl: null, backchannelLogoutUri: null };
  const security = {
    jwks: null,
    jwksUri: null,
    requireDpop: false,
    securityProfile: "STANDARD",
    idTokenSigningAlg: "ES256",
  };
  const stored = { ...newAppOf(draft), ...links, ...security };
  assert.deepEqual(changeOfApp(draftOfApp(stored as unknown as OAuthClient)), changeOfApp(draft));
});

test("an app with keys has no secret, and goes back to one without them", () => {
  const key = { kty: "OKP", crv: "Ed25519", x: "AA" };
  for (const text of [{ keys: [key] }, [key], key]) assert.deepEqual(keysOf(JSON.stringify(text)), { keys: [key] });
  for (const text of ["", "{", "1", '{"keys":1}', "null"]) assert.equal(keysOf(text), undefined);
  const draft = { ...NEW_APP, name: "Bank", authentication: "JWKS" as const, jwks: JSON.stringify(key), isFapi: true };
  assert.deepEqual(newAppOf(draft).jwks, { keys: [key] });
  assert.equal(newAppOf(draft).securityProfile, "FAPI2");
  assert.equal("jwksUri" in newAppOf(draft), false);
  const secret = { ...draft, authentication: "SECRET" as const };
  assert.deepEqual(changesOf(draft, secret), { jwks: null });
  assert.equal("requireDpop" in newAppOf(secret), false);
});

test("the algorithm of ID tokens is sent if it is another one", () => {
  const draft = { ...NEW_APP, name: "Reports", idTokenSigningAlg: "RS256" as const };
  assert.equal(newAppOf(draft).idTokenSigningAlg, "RS256");
  assert.equal("idTokenSigningAlg" in newAppOf({ ...draft, idTokenSigningAlg: "ES256" }), false);
  assert.deepEqual(changesOf(NEW_APP, { ...NEW_APP, idTokenSigningAlg: "RS256" }), { idTokenSigningAlg: "RS256" });
});

test("refusals stand at their field with the line of the text", () => {
  const draft = { ...NEW_APP, redirectUris: "\nhttps://a/\nhttp://b/" };
  const errors = [
    { path: "/redirectUris/1", message: "Use https." },
    { path: "/scopes/0", message: "Undeclared." },
    { path: "/type", message: "Wrong." },
    { path: "/unknown", message: "Odd." },
    { path: "", message: "Bad." },
  ];
  assert.deepEqual(
    refusedFields({ errors }, draft, (line, message) => `${line}: ${message}`),
    { redirectUris: "3: Use https.", scopes: "Undeclared.", isPublic: "Wrong.", "": "Odd. Bad." },
  );
});

test("choices keep their order", () => {
  assert.deepEqual(toggled(["openid", "posts:write"], "email", ["openid", "email"]), [
    "openid",
    "email",
    "posts:write",
  ]);
  assert.deepEqual(toggled(["openid", "email"], "openid", ["openid", "email"]), ["email"]);
});

test("a change has only what differs", () => {
  const draft = { ...NEW_APP, name: "Reports", redirectUris: "https://a/\n" };
  assert.deepEqual(changesOf(draft, { ...draft, redirectUris: " https://a/" }), {});
  assert.deepEqual(changesOf(draft, { ...draft, termsUrl: "https://t/", scopes: ["openid"] }), {
    scopes: ["openid"],
    termsUrl: "https://t/",
  });
});
