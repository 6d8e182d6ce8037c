import assert from "node:assert/strict";
import { test } from "node:test";
import type { OAuthClient } from "@postern/sdk";
import { changeOfApp, changesOf, draftOfApp, NEW_APP, newAppOf, refusedFields, toggled, uniqueLines } from "./apps.ts";

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
  const stored = { ...newAppOf(draft), websiteUrl: null, privacyUrl: null, termsUrl: null, backchannelLogoutUri: null };
  assert.deepEqual(changeOfApp(draftOfApp(stored as unknown as OAuthClient)), changeOfApp(draft));
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
