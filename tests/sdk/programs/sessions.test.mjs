// SessionVerifier against tokens that this program signs and a JWKS that it serves over HTTP. Run by node --test.
import assert from "node:assert/strict";
import { createHmac, generateKeyPairSync, sign } from "node:crypto";
import { createServer } from "node:http";
import { after, before, beforeEach, test } from "node:test";
import { inspect } from "node:util";
import { ConfigurationError, PosternError } from "@postern/sdk";
import {
  PermissionDenied,
  PermissionsUnavailable,
  SessionVerifier,
  SigningKeysUnavailable,
  TokenExpired,
  TokenInvalid,
} from "@postern/sdk/sessions";

const PROJECT = "0198b7a0-0000-7000-8000-000000000001";
const now = () => clock;
let clock = Date.now();
let url = "";
let requests = [];
/** What the server answers, by the end of the path. */
let answers = {};

const server = createServer(async (request, response) => {
  requests.push({ path: request.url, authorization: request.headers.authorization });
  const answer = Object.entries(answers).find(([path]) => request.url.endsWith(path))?.[1];
  if (answer === undefined) return request.socket.destroy();
  const { status = 200, body, headers = {} } = await answer;
  response.writeHead(status, { "content-type": "application/json", ...headers });
  response.end(typeof body === "string" ? body : JSON.stringify(body));
});

before(async () => {
  await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${server.address().port}`;
});
after(() => {
  server.closeAllConnections();
  server.close();
});

function newKey(kid, curve = "P-256") {
  const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: curve });
  return { kid, privateKey, publicKey, jwk: { ...publicKey.export({ format: "jwk" }), kid, alg: "ES256", use: "sig" } };
}

const KEY = newKey("first");

beforeEach(() => {
  clock = Date.now();
  requests = [];
  answers = { "jwks.json": { body: { keys: [KEY.jwk] } } };
});

const encode = (value) => Buffer.from(typeof value === "string" ? value : JSON.stringify(value)).toString("base64url");

function claimsOf(changes = {}) {
  const issued = Math.floor(clock / 1000);
  const claims = {
    iss: `${url}/projects/${PROJECT}`,
    aud: PROJECT,
    sub: "customer",
    sid: "session",
    iat: issued,
    exp: issued + 300,
    auth_time: issued - 60,
    amr: ["pwd", "otp"],
    email: "ada@example.com",
    email_verified: true,
    roles: ["editor"],
    permissions: ["posts:read"],
    org: {
      id: "acme",
      slug: "acme-ltd",
      name: "Acme Ltd",
      roles: ["OWNER"],
      permissions: ["posts:read", "posts:write"],
      entitlements_version: 7,
      metadata: { tier: "gold" },
    },
    metadata: { plan: "pro" },
  };
  return Object.fromEntries(Object.entries({ ...claims, ...changes }).filter(([, value]) => value !== undefined));
}

function tokenOf(claims = {}, { key = KEY, header = {} } = {}) {
  const signed = `${encode({ alg: "ES256", typ: "at+jwt", kid: key.kid, ...header })}.${encode(claimsOf(claims))}`;
  const signature = sign("sha256", Buffer.from(signed), { key: key.privateKey, dsaEncoding: "ieee-p1363" });
  return `${signed}.${signature.toString("base64url")}`;
}

const newVerifier = (options = {}) => new SessionVerifier({ url, project: PROJECT, now, ...options });
const keyFetches = () => requests.filter(({ path }) => path.endsWith("/.well-known/jwks.json")).length;

async function refused(token, reason, verifier = newVerifier()) {
  await assert.rejects(verifier.authenticate(token), (error) => {
    assert.ok(error instanceof TokenInvalid, inspect(error));
    assert.equal(error.code, "token_invalid");
    assert.match(error.reason, reason);
    return true;
  });
}

test("a valid token gives the customer with organization and permissions", async () => {
  const token = tokenOf();
  const session = await newVerifier().authenticate(token);
  assert.equal(session.customerId, "customer");
  assert.equal(session.sessionId, "session");
  assert.equal(session.email, "ada@example.com");
  assert.equal(session.emailVerified, true);
  assert.deepEqual(session.roles, ["editor"]);
  assert.deepEqual(session.permissions, ["posts:read"]);
  assert.deepEqual(session.amr, ["pwd", "otp"]);
  assert.deepEqual(session.metadata, { plan: "pro" });
  assert.equal(session.expiresAt.getTime() - session.authTime.getTime(), 360_000);
  assert.deepEqual(session.organization, {
    id: "acme",
    slug: "acme-ltd",
    name: "Acme Ltd",
    roles: ["OWNER"],
    permissions: ["posts:read", "posts:write"],
    entitlementsVersion: 7,
    metadata: { tier: "gold" },
  });
  assert.equal(session.token, token);
  assert.equal(session.claims.sub, "customer");
});

test("permissions are those of the organization if there is one, else those of the project", async () => {
  const inOrganization = await newVerifier().authenticate(tokenOf());
  assert.equal(inOrganization.has("posts:write"), true);
  inOrganization.require("posts:write");
  const without = await newVerifier().authenticate(tokenOf({ org: undefined }));
  assert.equal(without.organization, null);
  assert.equal(without.has("posts:read"), true);
  assert.equal(without.has("posts:write"), false);
  assert.throws(() => without.require("posts:write"), (error) => {
    assert.ok(error instanceof PosternError);
    assert.ok(error instanceof PermissionDenied);
    assert.equal(error.permission, "posts:write");
    return true;
  });
});

test("printing a session does not show the token", async () => {
  const session = await newVerifier().authenticate(tokenOf());
  assert.ok(!inspect(session, { showHidden: true, depth: 9 }).includes(session.token));
  assert.ok(!JSON.stringify(session).includes(session.token));
});

test("a token without signature or signed with the public key is refused", async () => {
  const [, claims] = tokenOf().split(".");
  await refused(`${encode({ alg: "none", typ: "at+jwt", kid: "first" })}.${claims}.`, /not a JSON Web Token/);
  await refused(`${encode({ alg: "none", typ: "at+jwt", kid: "first" })}.${claims}.AAAA`, /algorithm/);
  const secrets = [KEY.publicKey.export({ type: "spki", format: "pem" }), JSON.stringify(KEY.jwk)];
  for (const secret of secrets) {
    const signed = `${encode({ alg: "HS256", typ: "at+jwt", kid: "first" })}.${claims}`;
    await refused(`${signed}.${createHmac("sha256", secret).update(signed).digest("base64url")}`, /algorithm/);
  }
  assert.equal(keyFetches(), 0);
});

test("a changed token is refused", async () => {
  const [header, claims, signature] = tokenOf().split(".");
  await refused(`${header}.${encode(claimsOf({ sub: "another" }))}.${signature}`, /signature/);
  await refused(`${header}.${claims}.${signature.startsWith("A") ? "B" : "A"}${signature.slice(1)}`, /signature/);
  await refused(`${header}.${claims}.${encode(Buffer.alloc(64).toString("latin1"))}`, /signature/);
  const der = sign("sha256", Buffer.from(`${header}.${claims}`), KEY.privateKey).toString("base64url");
  await refused(`${header}.${claims}.${der}`, /signature/);
  await refused(tokenOf({}, { key: { ...newKey("first") } }), /signature/);
});

test("what is no token is refused", async () => {
  const token = tokenOf();
  const texts = ["", "a", "..", "a.b.c", `${token}.x`, `${token}=`, ` ${token}`, token.replace(".", ".\n"), "é.é.é"];
  for (const text of [...texts, `${encode("[]")}.${encode("[]")}.AA`, `${encode("{")}.e30.AA`]) await refused(text, /not a JSON/);
  await refused(`${"a".repeat(20_000)}`, /longer/);
});

test("another issuer, audience, type and critical headers are refused", async () => {
  const other = "0198b7a0-0000-7000-8000-000000000002";
  await refused(tokenOf({ iss: `${url}/projects/${other}` }), /iss/);
  await refused(tokenOf({ iss: "https://evil.example" }), /iss/);
  await refused(tokenOf({ aud: other }), /aud/);
  await refused(tokenOf({ aud: [PROJECT] }), /aud/);
  await refused(tokenOf({}, { header: { typ: "JWT" } }), /typ/);
  await refused(tokenOf({}, { header: { typ: undefined } }), /typ/);
  await refused(tokenOf({}, { header: { crit: ["exp"] } }), /critical/);
  await refused(tokenOf({}, { header: { kid: undefined } }), /kid/);
  await refused(tokenOf({}, { header: { kid: 7 } }), /kid/);
});

test("missing claims and claims of the wrong type are refused", async () => {
  for (const name of ["exp", "iat", "sub", "sid"]) await refused(tokenOf({ [name]: undefined }), /claim/);
  for (const exp of ["9999999999", null, 1e300, true]) await refused(tokenOf({ exp }), /claim/);
  const session = await newVerifier().authenticate(tokenOf({ roles: "OWNER", permissions: "*", org: [], email: 1 }));
  assert.deepEqual([session.roles, session.permissions, session.organization, session.email], [[], [], null, null]);
});

test("a token is valid from its issue to its expiry, with five seconds of leeway", async () => {
  const verifier = newVerifier();
  const token = tokenOf();
  clock += 304_000;
  await verifier.authenticate(token);
  clock += 2_000;
  await assert.rejects(verifier.authenticate(token), TokenExpired);
  clock -= 400_000;
  await refused(token, /future/, verifier);
  clock = Date.now();
  await refused(tokenOf({ nbf: Math.floor(clock / 1000) + 60 }), /future/);
});

test("keys are fetched once, and again after five minutes", async () => {
  const verifier = newVerifier();
  await Promise.all(Array.from({ length: 20 }, () => verifier.authenticate(tokenOf())));
  assert.equal(keyFetches(), 1);
  clock += 299_000;
  await verifier.authenticate(tokenOf());
  assert.equal(keyFetches(), 1);
  clock += 2_000;
  await verifier.authenticate(tokenOf());
  while (keyFetches() < 2) await new Promise((resolve) => setImmediate(resolve));
});

test("a new key is fetched when the first token names it", async () => {
  const verifier = newVerifier();
  await verifier.authenticate(tokenOf());
  const next = newKey("second");
  answers["jwks.json"] = { body: { keys: [next.jwk, KEY.jwk] } };
  clock += 31_000;
  await verifier.authenticate(tokenOf({}, { key: next }));
  await verifier.authenticate(tokenOf());
  assert.equal(keyFetches(), 2);
});

test("a withdrawn key is refused after the application was idle", async () => {
  const verifier = newVerifier();
  await verifier.authenticate(tokenOf());
  answers["jwks.json"] = { body: { keys: [newKey("second").jwk] } };
  clock += 601_000;
  await refused(tokenOf(), /kid/, verifier);
});

test("forged key ids cause one fetch in 30 seconds", async () => {
  const verifier = newVerifier();
  await verifier.authenticate(tokenOf());
  clock += 31_000;
  await Promise.all(
    Array.from({ length: 50 }, (_, number) => refused(tokenOf({}, { header: { kid: `forged-${number}` } }), /kid/, verifier)),
  );
  for (let number = 0; number < 50; number += 1) {
    clock += 500;
    await refused(tokenOf({}, { header: { kid: `other-${number}` } }), /kid/, verifier);
  }
  assert.equal(keyFetches(), 2);
  await verifier.authenticate(tokenOf());
});

test("while the server is away, cached keys are used", async () => {
  const verifier = newVerifier();
  await verifier.authenticate(tokenOf());
  for (const trouble of [undefined, { status: 503, body: "{}" }, { body: "<html>" }, { body: { keys: [] } }, { body: "null" }]) {
    answers = trouble === undefined ? {} : { "jwks.json": trouble };
    clock += 700_000;
    await verifier.authenticate(tokenOf());
    await assert.rejects(verifier.authenticate(tokenOf({}, { key: newKey("new") })), SigningKeysUnavailable);
    await verifier.authenticate(tokenOf());
  }
  answers = { "jwks.json": { body: { keys: [newKey("new").jwk, KEY.jwk] } } };
  clock += 31_000;
  await refused(tokenOf({}, { key: newKey("newer") }), /kid/, verifier);
});

test("without any key, the server is asked again after a second", async () => {
  answers = {};
  const verifier = newVerifier();
  for (let number = 0; number < 5; number += 1) {
    await assert.rejects(verifier.authenticate(tokenOf()), SigningKeysUnavailable);
  }
  assert.equal(keyFetches(), 1);
  answers = { "jwks.json": { body: { keys: [KEY.jwk] } } };
  clock += 1_001;
  await verifier.authenticate(tokenOf());
});

test("a slow server delays no request whose key is known", async () => {
  const verifier = newVerifier();
  await verifier.authenticate(tokenOf());
  let finish;
  answers["jwks.json"] = new Promise((resolve) => (finish = resolve));
  clock += 301_000;
  await verifier.authenticate(tokenOf());
  while (keyFetches() < 2) await new Promise((resolve) => setImmediate(resolve));
  finish({ body: { keys: [KEY.jwk] } });
});

test("a redirect and an endless key set are not read", async () => {
  answers["jwks.json"] = { status: 302, body: "", headers: { location: `${url}/evil/jwks` } };
  await assert.rejects(newVerifier().authenticate(tokenOf()), SigningKeysUnavailable);
  assert.equal(requests.length, 1);
  answers["jwks.json"] = { body: JSON.stringify({ keys: [KEY.jwk], padding: "x".repeat(2_000_000) }) };
  await assert.rejects(newVerifier().authenticate(tokenOf()), SigningKeysUnavailable);
});

test("keys of other kinds are ignored", async () => {
  const { publicKey: rsa } = generateKeyPairSync("rsa", { modulusLength: 1024 });
  const keys = [
    { ...rsa.export({ format: "jwk" }), kid: "rsa" },
    newKey("p384", "P-384").jwk,
    { ...newKey("for-encryption").jwk, use: "enc" },
    { ...newKey("no-point").jwk, y: "AAAA" },
    null,
    KEY.jwk,
  ];
  answers["jwks.json"] = { body: { keys } };
  const verifier = newVerifier();
  await verifier.authenticate(tokenOf());
  for (const kid of ["rsa", "p384", "for-encryption", "no-point"]) await refused(tokenOf({}, { header: { kid } }), /kid/, verifier);
});

const REFERENCE = { permissions: null, org: { id: "acme", slug: "a", name: "Acme", roles: [], permissions: null } };
const permissionsUrl = () => `${url}/projects/${PROJECT}/auth/permissions`;

test("permissions that a token only refers to are fetched once per token", async () => {
  answers["/auth/permissions"] = {
    body: { permissions: ["a:b"], organization: { id: "acme", roles: [], permissions: ["c:d"] } },
  };
  const verifier = newVerifier();
  const token = tokenOf({ ...REFERENCE, permissions_url: permissionsUrl() });
  const sessions = await Promise.all([1, 2, 3].map(() => verifier.authenticate(token)));
  await verifier.authenticate(token);
  for (const session of sessions) {
    assert.equal(session.has("c:d"), true);
    assert.equal(session.has("a:b"), false);
    assert.deepEqual(session.permissions, ["a:b"]);
  }
  const fetches = requests.filter(({ path }) => path.endsWith("/auth/permissions"));
  assert.deepEqual(fetches.map(({ authorization }) => authorization), [`Bearer ${token}`]);
});

test("permissions of another organization than the token's do not count", async () => {
  answers["/auth/permissions"] = {
    body: { permissions: [], organization: { id: "other", roles: [], permissions: ["c:d"] } },
  };
  const session = await newVerifier().authenticate(tokenOf({ ...REFERENCE, permissions_url: permissionsUrl() }));
  assert.equal(session.has("c:d"), false);
});

test("a token is only sent to the project's own server", async () => {
  const urls = [
    "http://127.0.0.1:1/projects/x/auth/permissions",
    `${url}/projects/${PROJECT}x/auth/permissions`,
    `${url}/projects/${PROJECT}/../other/auth/permissions`,
    `${url.replace("http://", "http://user@evil.example@")}/projects/${PROJECT}/auth/permissions`,
    null,
    undefined,
  ];
  for (const permissions_url of urls) {
    await refused(tokenOf({ ...REFERENCE, permissions_url }), /permissions_url/);
  }
  assert.ok(requests.every(({ authorization }) => authorization === undefined));
});

test("permissions that cannot be fetched are an error, and are asked for again", async () => {
  const verifier = newVerifier();
  const token = tokenOf({ ...REFERENCE, permissions_url: permissionsUrl() });
  for (const trouble of [{ status: 500, body: "" }, { body: "garbage" }, { body: { organization: null } }]) {
    answers["/auth/permissions"] = trouble;
    await assert.rejects(verifier.authenticate(token), PermissionsUnavailable);
  }
  answers["/auth/permissions"] = { status: 401, body: {} };
  await refused(token, /ended/, verifier);
  answers["/auth/permissions"] = { body: { permissions: ["a:b"], organization: null } };
  assert.equal((await verifier.authenticate(token)).has("a:b"), false);
});

test("the server may be reached at another URL than the public one", async () => {
  const verifier = new SessionVerifier({ url: "https://id.example.com/", internalUrl: url, project: PROJECT, now });
  answers["/auth/permissions"] = { body: { permissions: ["a:b"], organization: null } };
  const issuer = `https://id.example.com/projects/${PROJECT}`;
  const claims = { iss: issuer, permissions: null, org: undefined, permissions_url: `${issuer}/auth/permissions` };
  assert.equal((await verifier.authenticate(tokenOf(claims))).has("a:b"), true);
  await refused(tokenOf(), /iss/, verifier);
});

test("settings that are missing or wrong are named", () => {
  for (const [options, message] of [
    [{ url }, /POSTERN_PROJECT/],
    [{ project: PROJECT }, /POSTERN_URL/],
    [{ url: "http://id.example.com", project: PROJECT }, /not https/],
    [{ url: "id.example.com", project: PROJECT }, /not the URL/],
    [{ url, project: "../x" }, /not the id/],
  ]) {
    assert.throws(() => new SessionVerifier(options), (error) => error instanceof ConfigurationError && message.test(error.message));
  }
  assert.ok(new SessionVerifier({ url: "http://id.example.com", project: PROJECT, insecure: true }));
});
