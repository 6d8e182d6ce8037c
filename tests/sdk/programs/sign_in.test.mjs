// SignIn and its adapter for Next.js against a Postern server whose answers this program decides. Run by node --test.
import assert from "node:assert/strict";
import { generateKeyPairSync, sign } from "node:crypto";
import { beforeEach, test } from "node:test";
import { inspect } from "node:util";
import { createSignIn } from "@postern/sdk/next";
import { SignIn } from "@postern/sdk/sign-in";

const PROJECT = "0198b7a0-0000-7000-8000-000000000001";
const POSTERN = "https://mail.example.com";
const APP = "https://app.example.com";
const { privateKey, publicKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
const KEYS = { keys: [{ ...publicKey.export({ format: "jwk" }), kid: "first", alg: "ES256", use: "sig" }] };
/** What the server answers, by the end of the path: status and JSON. No answer is a failed connection. */
let answers = {};
let requests = [];

const server = async (url, { headers, body }) => {
  requests.push({ path: new URL(url).pathname, headers, body });
  const answer = Object.entries(answers).find(([path]) => new URL(url).pathname.endsWith(path))?.[1];
  if (!answer) throw new TypeError("connect ECONNREFUSED 10.0.0.7:8000");
  return Response.json(answer[1], { status: answer[0] });
};
const options = (more = {}) => ({ url: POSTERN, project: PROJECT, appUrl: APP, key: "sk_1", fetch: server, ...more });
const encode = (value) => Buffer.from(JSON.stringify(value)).toString("base64url");

function tokenOf(seconds = 300) {
  const now = Math.floor(Date.now() / 1000);
  const claims = { iss: `${POSTERN}/projects/${PROJECT}`, aud: PROJECT, sub: "customer", sid: "session", iat: now };
  const text = `${encode({ alg: "ES256", typ: "at+jwt", kid: "first" })}.${encode({ ...claims, exp: now + seconds })}`;
  const signature = sign("sha256", Buffer.from(text), { key: privateKey, dsaEncoding: "ieee-p1363" });
  return `${text}.${signature.toString("base64url")}`;
}

beforeEach(() => {
  requests = [];
  const later = new Date(Date.now() + 300_000).toISOString();
  const tokens = { accessToken: tokenOf(), accessTokenExpiresAt: later, refreshToken: "cr_new", refreshTokenExpiresAt: later };
  answers = { "jwks.json": [200, KEYS], "token/refresh": [200, tokens] };
});

const OLD = "__Host-postern_refresh=cr_old";
const get = (path = "/", cookie = OLD) => new Request(APP + path, { headers: { cookie } });

test("the tokens of a refresh are kept when they cannot be verified at the moment", async () => {
  delete answers["jwks.json"];
  const signIn = new SignIn(options());
  const { session, error, cookies } = await signIn.authenticate(get());
  assert.equal(session, null);
  assert.equal(error.code, "signing_keys_unavailable");
  assert.match(cookies[0], /^__Host-postern_refresh=cr_new;/);
  const response = await signIn.handle(get("/auth/session"));
  assert.equal(response.status, 503);
  assert.match(response.headers.getSetCookie()[0], /^__Host-postern_refresh=cr_new;/);
});

test("the tokens of a refresh are kept when the rest of the session cannot be read", async () => {
  for (const answer of [undefined, [403, { code: "forbidden" }]]) {
    answers["auth/me"] = answer;
    const response = await new SignIn(options()).handle(get("/auth/session"));
    assert.equal(response.status, 503);
    assert.match(response.headers.getSetCookie()[0], /^__Host-postern_refresh=cr_new;/);
  }
});

test("only a refresh token that the server refuses ends the session", async () => {
  for (const [status, code] of [[400, "validation_failed"], [401, "api_key_invalid"], [403, "forbidden"], [404, "not_found"]]) {
    answers["token/refresh"] = [status, { code }];
    const { error, cookies } = await new SignIn(options()).authenticate(get());
    assert.equal(error?.code, "server_unavailable", code);
    assert.deepEqual([...cookies], []);
  }
  answers["token/refresh"] = [401, { code: "refresh_token_invalid" }];
  const { error, cookies } = await new SignIn(options()).authenticate(get());
  assert.equal(error, null);
  assert.match(cookies[0], /^__Host-postern_refresh=; Path=\/; Max-Age=0;/);
});

test("a cookie whose name begins with another space than ours does not replace the session's", async () => {
  for (const space of ["\u00a0", "\u000b", "\u000c"]) {
    const header = new Map([["cookie", `a=1;${space}__Host-postern_refresh=cr_evil; \t${OLD}`]]);
    await new SignIn(options()).authenticate({ url: `${APP}/`, method: "GET", headers: { get: (name) => header.get(name) ?? null } });
    assert.deepEqual(requests.filter(({ body }) => body).map(({ body }) => JSON.parse(body).refreshToken), ["cr_old"]);
    requests = [];
  }
});

test("the address of a visitor is sent without a port, and only if it is one", async () => {
  const sent = async (address) => {
    requests = [];
    await new SignIn(options({ visitorAddress: () => address })).authenticate(get());
    return requests.find(({ path }) => path.endsWith("token/refresh")).headers["postern-visitor-address"];
  };
  for (const address of ["1.2.3.4", "::1", "2001:db8::7", "::ffff:1.2.3.4"]) assert.equal(await sent(address), address);
  assert.equal(await sent("1.2.3.4:5678"), "1.2.3.4");
  assert.equal(await sent("[2001:db8::7]:5678"), "2001:db8::7");
  assert.equal(await sent("[2001:db8::7]"), "2001:db8::7");
  for (const address of ["1.2.3", "1.2.3.256", "01.2.3.4", "1:2", "::g", "1.2.3.4, 5.6.7.8", ":::", "", null]) {
    assert.equal(await sent(address), undefined, address);
  }
});

test("visitors do not see how the application reaches the server", async () => {
  const signIn = new SignIn(options());
  delete answers["jwks.json"];
  const cookie = `__Host-postern_access=${tokenOf()}`;
  for (const accept of ["text/html", "application/json"]) {
    const request = new Request(`${APP}/`, { headers: { cookie, accept } });
    const { error } = await signIn.authenticate(request);
    assert.match(error.message, /10\.0\.0\.7/);
    const response = signIn.refuse(request, error);
    assert.equal(response.status, 503);
    const text = await response.text();
    assert.match(text, /Sign-in is not available at the moment\. Please try again\./);
    assert.doesNotMatch(text, /10\.0\.0\.7|signing keys/);
  }
});

test("a log of an authentication shows no tokens", async () => {
  const authentication = await new SignIn(options()).authenticate(get());
  assert.match(authentication.cookies[0], /cr_new/);
  for (const text of [inspect(authentication, { depth: 9 }), JSON.stringify(authentication), inspect({ ...authentication })]) {
    assert.match(text, /customer/);
    assert.doesNotMatch(text, /cr_new|eyJ/);
  }
});

test("server actions and route handlers outside the proxy ignore the session in requests of other sites", async () => {
  const { currentCustomer, requireCustomer, proxy } = createSignIn(options());
  const cookie = `__Host-postern_access=${tokenOf()}`;
  const received = (headers) => (globalThis.receivedHeaders = new Headers({ cookie, host: "app.example.com", ...headers }));
  received({});
  assert.equal((await currentCustomer()).customerId, "customer");
  received({ origin: APP, "sec-fetch-site": "same-origin" });
  assert.equal((await currentCustomer()).customerId, "customer");
  for (const headers of [{ origin: "https://evil.example" }, { origin: "null" }, { origin: APP, "sec-fetch-site": "same-site" }]) {
    received(headers);
    assert.equal(await currentCustomer(), null);
    await assert.rejects(requireCustomer(), { code: "cross_origin_request" });
  }
  const response = await proxy(get(), () => new Response("page", { headers: { "cache-control": "public", vary: "Accept" } }));
  assert.equal(response.headers.get("vary"), "Accept, Cookie, Authorization");
  assert.equal(response.headers.get("cache-control"), "private, no-store");
});
