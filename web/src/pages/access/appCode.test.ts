import assert from "node:assert/strict";
import { test } from "node:test";
import type { OAuthClient } from "@postern/sdk";
import { codesOf, flowsOf } from "./appCode.ts";
import { DEVICE } from "./apps.ts";

const APP = {
  clientId: "c1",
  type: "CONFIDENTIAL",
  issuer: "https://mail.example.com/projects/p1",
  redirectUris: ["https://app.example.com/it's"],
  scopes: ["openid", "posts:write"],
  grantTypes: ["authorization_code", "client_credentials", DEVICE],
} as unknown as OAuthClient;

test("there is code for each way to get tokens", () => {
  assert.deepEqual(flowsOf(APP), ["browser", "machine", "device"]);
  assert.deepEqual(flowsOf({ grantTypes: [DEVICE, "refresh_token"] }), ["device"]);
});

test("a confidential app has its secret in the environment, a public one has none", () => {
  for (const flow of flowsOf(APP)) {
    for (const code of Object.values(codesOf(APP, flow))) assert.match(code, /OAUTH_CLIENT_SECRET/);
    for (const code of Object.values(codesOf({ ...APP, type: "PUBLIC" }, flow)))
      assert.doesNotMatch(code, /OAUTH_CLIENT_SECRET/);
  }
});

test("a program for itself asks for permissions only", () => {
  for (const code of Object.values(codesOf(APP, "machine"))) {
    assert.match(code, /posts:write/);
    assert.doesNotMatch(code, /openid posts/);
  }
});

test("values are quoted, and a server without TLS is allowed", () => {
  const { curl, typescript } = codesOf(APP, "browser");
  assert.match(curl, /redirect_uri='https:\/\/app\.example\.com\/it'\\''s'/);
  assert.doesNotMatch(typescript, /allowInsecureRequests/);
  const { typescript: local } = codesOf({ ...APP, issuer: "http://127.0.0.1:8025/projects/p1" }, "browser");
  assert.match(local, /OAUTH_CLIENT_SECRET, undefined, \{ execute: \[client\.allowInsecureRequests\] \}/);
});

test("no command ends in a continued line", () => {
  for (const flow of flowsOf(APP)) assert.doesNotMatch(codesOf({ ...APP, scopes: [] }, flow).curl, /\\\n(\n|$)/);
  assert.doesNotMatch(codesOf({ ...APP, scopes: [] }, "device").curl, /\\$/);
});
