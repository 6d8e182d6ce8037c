/**
 * Verifies the access tokens of customers offline, with WebCrypto alone.
 *
 * ```ts
 * const verifier = new SessionVerifier({ url: "https://mail.example.com", project: "0198…" });
 * const session = await verifier.authenticate(token);
 * session.require("reports:read");
 * ```
 */

import { ConfigurationError, PosternError } from "./errors.js";
import { environment, isLoopback, isRecord, readText } from "./internal.js";

/** Age at which the signing keys are refreshed in the background, in milliseconds. */
const REFRESH_MS = 300_000;
/** Age at which a request waits for the refresh, because the application was idle: a key may have been withdrawn. */
const IDLE_MS = 600_000;
/** Shortest time between two refreshes, whatever keys tokens name: forged tokens cause no more requests than this. */
const UNKNOWN_KEY_MS = 30_000;
/** Shortest time between two attempts while there are no keys at all, in milliseconds. */
const NO_KEYS_MS = 1_000;
/** The tolerated difference between the clocks of this machine and the server, in seconds. */
const LEEWAY_SECONDS = 5;
/** How long a fetch of keys or permissions may take, in milliseconds. */
const FETCH_TIMEOUT_MS = 5_000;
/** Longest token, in characters, that is read. */
const TOKEN_LIMIT = 16_384;
/** Most signing keys of a project that are kept. */
const KEYS_LIMIT = 20;
/** Largest response body, in bytes, that is read. */
const BODY_LIMIT = 1_048_576;
/** How many tokens' fetched permissions are kept. */
const PERMISSIONS_CACHE_SIZE = 1_000;
const ALGORITHM = "ES256";
const TOKEN_TYPE = "at+jwt";

/** A session is missing, cannot be used, or does not allow something. The base class of all errors of this module. */
export class SessionError extends PosternError {
  constructor(
    /** A stable identifier of the kind of error. */
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
    this.name = new.target.name;
  }
}

/** A token that this project did not issue, or that was changed. `reason` says what is wrong with it. Answer 401. */
export class TokenInvalid extends SessionError {
  readonly reason: string;

  constructor(reason: string) {
    super("token_invalid", `The session token is not valid: ${reason}.`);
    this.reason = reason;
  }
}

/** A valid token whose time is over. Refresh the session, or answer 401. */
export class TokenExpired extends SessionError {
  readonly expiredAt: Date;

  constructor(expiredAt: Date) {
    super("token_expired", `The session token expired at ${expiredAt.toISOString()}.`);
    this.expiredAt = expiredAt;
  }
}

/** The server did not answer, or its answer cannot be used. The same request may succeed later. Answer 503. */
export class ServerUnavailable extends SessionError {
  constructor(message: string, options?: ErrorOptions, code = "server_unavailable") {
    super(code, message, options);
  }
}

/** There are no signing keys that could decide, and the server cannot be asked for them. */
export class SigningKeysUnavailable extends ServerUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options, "signing_keys_unavailable");
  }
}

/** A token refers to its permissions because they are too long for it, and they cannot be fetched. */
export class PermissionsUnavailable extends ServerUnavailable {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options, "permissions_unavailable");
  }
}

/** The customer does not have this permission. Answer 403. */
export class PermissionDenied extends SessionError {
  readonly permission: string;

  constructor(permission: string) {
    super("permission_denied", `This needs the permission ${permission}.`);
    this.permission = permission;
  }
}

/** The organization in which the customer acts. */
export interface SessionOrganization {
  readonly id: string;
  readonly slug: string;
  readonly name: string;
  /** Keys of the customer's roles in the organization. */
  readonly roles: readonly string[];
  /** Keys of all permissions that the customer has in the organization. */
  readonly permissions: readonly string[];
  /** Grows whenever the organization's entitlements change: cache entitlements by it. */
  readonly entitlementsVersion: number;
  /** Metadata of the organization that the project declared for tokens. */
  readonly metadata: Readonly<Record<string, unknown>>;
}

/** The member of your team who acts as the customer: the claim `act` (RFC 8693 §4.1). */
export interface SessionActor {
  /** Id of the developer or of the API key. */
  readonly id: string;
  /** `DEVELOPER` or `API_KEY`. */
  readonly type: string;
  /** An e-mail address, or the name of the API key or of the person who uses it. */
  readonly name: string | null;
}

/** The claims of an access token, as the server signed them. */
export interface SessionClaims {
  readonly iss: string;
  readonly aud: string;
  readonly sub: string;
  readonly sid: string;
  readonly iat: number;
  readonly exp: number;
  readonly [claim: string]: unknown;
}

/** A signed-in customer, from a verified access token. */
export class CustomerSession {
  readonly customerId: string;
  readonly sessionId: string;
  readonly email: string | null;
  readonly emailVerified: boolean;
  /** Keys of the customer's roles in the project. */
  readonly roles: readonly string[];
  /** Keys of the permissions that the project roles grant. */
  readonly permissions: readonly string[];
  /** The active organization, or null. */
  readonly organization: SessionOrganization | null;
  /** Metadata of the customer that the project declared for tokens. */
  readonly metadata: Readonly<Record<string, unknown>>;
  /** How the customer signed in (RFC 8176), such as `pwd` and `otp`. */
  readonly amr: readonly string[];
  /** When the customer signed in. */
  readonly authTime: Date;
  /** When the access token expires. */
  readonly expiresAt: Date;
  /** Who acts as the customer; null if it is the customer. Show it, and refuse what support must not do. */
  readonly actor: SessionActor | null;
  readonly #claims: SessionClaims;
  readonly #token: string;

  constructor(claims: SessionClaims, token: string, fetched: FetchedPermissions | null = null) {
    const organization = isRecord(claims.org) ? claims.org : null;
    this.customerId = claims.sub;
    this.sessionId = claims.sid;
    this.email = typeof claims.email === "string" ? claims.email : null;
    this.emailVerified = claims.email_verified === true;
    this.roles = strings(claims.roles);
    this.permissions = Array.isArray(claims.permissions) ? strings(claims.permissions) : (fetched?.project ?? []);
    this.organization =
      organization && typeof organization.id === "string"
        ? Object.freeze({
            id: organization.id,
            slug: String(organization.slug ?? ""),
            name: String(organization.name ?? ""),
            roles: strings(organization.roles),
            permissions: Array.isArray(organization.permissions)
              ? strings(organization.permissions)
              : (fetched?.organization ?? []),
            entitlementsVersion:
              typeof organization.entitlements_version === "number" ? organization.entitlements_version : 0,
            metadata: isRecord(organization.metadata) ? organization.metadata : {},
          })
        : null;
    this.metadata = isRecord(claims.metadata) ? claims.metadata : {};
    this.amr = strings(claims.amr);
    this.authTime = new Date((typeof claims.auth_time === "number" ? claims.auth_time : claims.iat) * 1000);
    this.expiresAt = new Date(claims.exp * 1000);
    this.actor = isRecord(claims.act)
      ? Object.freeze({
          id: String(claims.act.sub ?? ""),
          type: String(claims.act.type ?? ""),
          name: typeof claims.act.name === "string" ? claims.act.name : null,
        })
      : null;
    this.#claims = claims;
    this.#token = token;
  }

  /** All claims of the token. */
  get claims(): SessionClaims {
    return this.#claims;
  }

  /** The access token, for calls to Postern on behalf of the customer. Printing the session does not show it. */
  get token(): string {
    return this.#token;
  }

  /** Whether the customer has a permission: in the active organization if there is one, else in the project. */
  has(permission: string): boolean {
    return (this.organization ?? this).permissions.includes(permission);
  }

  /** Throws PermissionDenied unless the customer has the permission. */
  require(permission: string): void {
    if (!this.has(permission)) throw new PermissionDenied(permission);
  }
}

interface FetchedPermissions {
  readonly project: readonly string[];
  readonly organization: readonly string[];
}

export interface SessionVerifierOptions {
  /** Public URL of the Postern server, which the tokens name; default: the environment variable `POSTERN_URL`. */
  url?: string | undefined;
  /** Id of the project; default: the environment variable `POSTERN_PROJECT`. */
  project?: string | undefined;
  /** The URL at which this application reaches the server, if that is not the public one. */
  internalUrl?: string | undefined;
  /** Allow `http://` to other machines than this one. */
  insecure?: boolean | undefined;
  /** Replaces the global `fetch`. */
  fetch?: typeof fetch | undefined;
  /** The current time in milliseconds; default `Date.now`. */
  now?: (() => number) | undefined;
}

/** Verifies access tokens of one project. Create one for the whole process: it caches the signing keys. */
export class SessionVerifier {
  readonly project: string;
  /** The `iss` of the project's tokens, and the public URL of the project. */
  readonly issuer: string;
  /** The URL at which this application reaches the project. */
  readonly projectUrl: string;
  readonly #keys: SigningKeys;
  readonly #fetch: typeof fetch;
  readonly #now: () => number;
  readonly #permissions = new Map<string, Promise<FetchedPermissions>>();

  constructor(options: SessionVerifierOptions = {}) {
    const { project, issuer, projectUrl } = readSettings(options);
    this.project = project;
    this.issuer = issuer;
    this.projectUrl = projectUrl;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#now = options.now ?? Date.now;
    this.#keys = new SigningKeys(`${projectUrl}/.well-known/jwks.json`, this.#fetch, this.#now);
  }

  /**
   * The session of an access token. Fetches the signing keys if they are not cached, and the permissions if the token
   * only refers to them.
   *
   * Throws TokenInvalid and TokenExpired, and SigningKeysUnavailable or PermissionsUnavailable if the server could not
   * be asked.
   */
  async authenticate(token: string): Promise<CustomerSession> {
    const claims = await this.verify(token);
    const organization = isRecord(claims.org) ? claims.org : null;
    const isComplete = claims.permissions !== null && organization?.permissions !== null;
    return new CustomerSession(claims, token, isComplete ? null : await this.#permissionsOf(token, claims));
  }

  /** The claims of a valid token. Throws as `authenticate` does, but never fetches permissions. */
  async verify(token: string): Promise<SessionClaims> {
    const claims = await this.verifyFor(token, this.project);
    if (typeof claims.sid !== "string") throw new TokenInvalid("a claim is missing or has the wrong type");
    return claims as unknown as SessionClaims;
  }

  /** The claims of a valid token of the project for another audience than its sessions. Throws as `verify` does. */
  async verifyFor(token: string, audience: string): Promise<Record<string, unknown>> {
    const { header, claims, signed, signature } = decode(token);
    if (header.alg !== ALGORITHM) throw new TokenInvalid(`its algorithm is not ${ALGORITHM}`);
    if (header.typ !== TOKEN_TYPE) throw new TokenInvalid("it is not an access token (`typ`)");
    if (header.crit !== undefined) throw new TokenInvalid("it has critical headers, which are not supported");
    if (typeof header.kid !== "string" || !header.kid) throw new TokenInvalid("it names no signing key (`kid`)");
    // ES256 signatures are r and s of 32 bytes each (RFC 7518 §3.4).
    if (signature.length !== 64) throw new TokenInvalid("its signature is wrong");
    const key = await this.#keys.get(header.kid);
    if (!(await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, signature, signed))) {
      throw new TokenInvalid("its signature is wrong");
    }
    if (claims.iss !== this.issuer) throw new TokenInvalid("another server or project issued it (`iss`)");
    if (claims.aud !== audience) throw new TokenInvalid("it is for another project or API (`aud`)");
    const { exp, iat, nbf, sub } = claims;
    if (!isTime(exp) || !isTime(iat) || typeof sub !== "string") {
      throw new TokenInvalid("a claim is missing or has the wrong type");
    }
    const now = this.#now() / 1000;
    if (iat > now + LEEWAY_SECONDS || (isTime(nbf) && nbf > now + LEEWAY_SECONDS)) {
      throw new TokenInvalid("it was issued in the future (`iat`); check the clocks of both servers");
    }
    if (exp + LEEWAY_SECONDS <= now) throw new TokenExpired(new Date(exp * 1000));
    return claims;
  }

  /** The permissions that the token refers to. Fetched once for each token; failures are not kept. */
  #permissionsOf(token: string, claims: SessionClaims): Promise<FetchedPermissions> {
    let pending = this.#permissions.get(token);
    if (!pending) {
      if (this.#permissions.size >= PERMISSIONS_CACHE_SIZE) {
        const [oldest] = this.#permissions.keys();
        this.#permissions.delete(oldest as string);
      }
      pending = this.#fetchPermissions(token, claims);
      this.#permissions.set(token, pending);
      pending.catch(() => this.#permissions.delete(token));
    }
    return pending;
  }

  async #fetchPermissions(token: string, claims: SessionClaims): Promise<FetchedPermissions> {
    const url = this.#permissionsUrl(claims.permissions_url);
    // The token is sent to this URL, so it must belong to the project.
    if (url === null) throw new TokenInvalid("its `permissions_url` does not belong to this project");
    let answer: unknown;
    try {
      answer = await getJson(this.#fetch, url, { authorization: `Bearer ${token}` });
    } catch (error) {
      if (error instanceof UnexpectedStatus && error.status === 401) throw new TokenInvalid("its session has ended");
      throw new PermissionsUnavailable(`The permissions of a session cannot be fetched: ${describe(error)}`, {
        cause: error,
      });
    }
    if (!isRecord(answer) || !Array.isArray(answer.permissions)) {
      throw new PermissionsUnavailable("The permissions of a session cannot be fetched: the answer has no list.");
    }
    const organization = isRecord(answer.organization) ? answer.organization : null;
    // The customer may have switched to another organization since the token was issued.
    const isSame = isRecord(claims.org) && organization?.id === claims.org.id;
    return {
      project: strings(answer.permissions),
      organization: isSame ? strings(organization?.permissions) : [],
    };
  }

  /** Where this application fetches the permissions; null if the claim does not belong to the project. */
  #permissionsUrl(claim: unknown): string | null {
    if (typeof claim !== "string" || !URL.canParse(claim)) return null;
    const url = new URL(claim).href; // Without `..`.
    const start = `${new URL(this.issuer).href}/`;
    return url.startsWith(start) ? `${this.projectUrl}/${url.slice(start.length)}` : null;
  }
}

/** The public keys of a project, by `kid`, as the JWKS at `url` lists them. */
class SigningKeys {
  readonly #url: string;
  readonly #fetch: typeof fetch;
  readonly #now: () => number;
  #keys: ReadonlyMap<string, CryptoKey> = new Map();
  #readAt = -Infinity;
  #triedAt = -Infinity;
  /** Why the last refresh failed; null if it succeeded. */
  #failure: string | null = null;
  #running: Promise<void> | null = null;

  constructor(url: string, fetch: typeof globalThis.fetch, now: () => number) {
    this.#url = url;
    this.#fetch = fetch;
    this.#now = now;
  }

  /** The key with this id. Throws TokenInvalid, or SigningKeysUnavailable if the server cannot be asked for new keys. */
  async get(id: string): Promise<CryptoKey> {
    const refresh = this.#neededRefresh(id);
    if (refresh) await refresh;
    const key = this.#keys.get(id);
    if (key) return key;
    if (!this.#keys.size || this.#failure !== null) {
      throw new SigningKeysUnavailable(
        `The signing keys of the project are not available: ${this.#failure ?? "they are being fetched"}`,
      );
    }
    throw new TokenInvalid("no signing key of this project has its `kid`");
  }

  /** The refresh that a request with a token of this key has to wait for; one may also run in the background. */
  #neededRefresh(id: string): Promise<void> | null {
    const now = this.#now();
    // Absolute differences, because a clock may be set back.
    const age = Math.abs(now - this.#readAt);
    const sinceAttempt = Math.abs(now - this.#triedAt);
    // Some platforms drop what a request leaves running when it ends; such a refresh never finishes.
    if (sinceAttempt > FETCH_TIMEOUT_MS + UNKNOWN_KEY_MS) this.#running = null;
    const isKnown = this.#keys.has(id);
    const wasIdle = age >= IDLE_MS && this.#failure === null;
    const pause = this.#keys.size ? UNKNOWN_KEY_MS : NO_KEYS_MS;
    if (!this.#running && sinceAttempt >= pause && (!isKnown || age >= REFRESH_MS)) {
      this.#triedAt = now;
      const running = this.#refresh().finally(() => {
        if (this.#running === running) this.#running = null;
      });
      this.#running = running;
    }
    return !isKnown || wasIdle ? this.#running : null;
  }

  /** Fetches the keys. Keeps those it has if that fails; never throws. */
  async #refresh(): Promise<void> {
    try {
      this.#keys = await importKeys(await getJson(this.#fetch, this.#url));
      this.#readAt = this.#now();
      this.#failure = null;
    } catch (error) {
      this.#failure = describe(error);
    }
  }
}

/** The address and id of a project, from options or environment. Throws ConfigurationError if one is missing or wrong. */
function readSettings(options: SessionVerifierOptions): { project: string; issuer: string; projectUrl: string } {
  const project = options.project ?? environment("POSTERN_PROJECT");
  if (!project) throw new ConfigurationError("Give `project`, or set POSTERN_PROJECT.");
  if (!/^[\w-]+$/.test(project)) throw new ConfigurationError(`This is not the id of a project: ${project}`);
  const url = options.url ?? environment("POSTERN_URL");
  if (!url) throw new ConfigurationError("Give `url`, or set POSTERN_URL.");
  const issuer = `${serverUrl(url, options.insecure)}/projects/${project}`;
  const { internalUrl } = options;
  const projectUrl = internalUrl ? `${serverUrl(internalUrl, options.insecure)}/projects/${project}` : issuer;
  return { project, issuer, projectUrl };
}

function serverUrl(text: string, insecure = false): string {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.search || url.hash || url.username) {
    throw new ConfigurationError(`${text} is not the URL of a server.`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname) && !insecure) {
    throw new ConfigurationError(`${text} is not https: the keys could be replaced on the way. Allow it with \`insecure: true\`.`);
  }
  return text.replace(/\/+$/, "");
}

/** The server answered with another status than 200. */
class UnexpectedStatus extends Error {
  readonly status: number;

  constructor(status: number) {
    super(`the Postern server answered with the status ${status}`);
    this.status = status;
  }
}

async function getJson(fetch: typeof globalThis.fetch, url: string, headers: Record<string, string> = {}): Promise<unknown> {
  const response = await fetch(url, {
    headers: { accept: "application/json", ...headers },
    redirect: "manual",
    signal: AbortSignal.timeout(FETCH_TIMEOUT_MS),
  });
  if (response.status !== 200) {
    await response.body?.cancel();
    throw new UnexpectedStatus(response.status);
  }
  return JSON.parse(await readText(response, BODY_LIMIT));
}

interface DecodedToken {
  header: Record<string, unknown>;
  claims: Record<string, unknown>;
  signed: Uint8Array<ArrayBuffer>;
  signature: Uint8Array<ArrayBuffer>;
}

function decode(token: string): DecodedToken {
  if (token.length > TOKEN_LIMIT) throw new TokenInvalid(`it is longer than ${TOKEN_LIMIT} characters`);
  const [header, claims, signature, ...rest] = token.split(".");
  if (!header || !claims || !signature || rest.length) throw notAToken();
  return {
    header: parseRecord(fromBase64Url(header)),
    claims: parseRecord(fromBase64Url(claims)),
    signed: new TextEncoder().encode(`${header}.${claims}`),
    signature: fromBase64Url(signature),
  };
}

function notAToken(): TokenInvalid {
  return new TokenInvalid("it is not a JSON Web Token");
}

function parseRecord(bytes: Uint8Array<ArrayBuffer>): Record<string, unknown> {
  let value: unknown;
  try {
    value = JSON.parse(new TextDecoder("utf-8", { fatal: true }).decode(bytes));
  } catch {
    throw notAToken();
  }
  if (!isRecord(value)) throw notAToken();
  return value;
}

function fromBase64Url(text: string): Uint8Array<ArrayBuffer> {
  if (!/^[A-Za-z0-9_-]+$/.test(text) || text.length % 4 === 1) throw notAToken();
  const binary = atob(text.replaceAll("-", "+").replaceAll("_", "/"));
  return Uint8Array.from(binary, (character) => character.charCodeAt(0));
}

/** The ES256 keys of a JWKS (RFC 7517), by id. Throws if it has none. */
async function importKeys(document: unknown): Promise<Map<string, CryptoKey>> {
  const keys = new Map<string, CryptoKey>();
  const entries = isRecord(document) && Array.isArray(document.keys) ? (document.keys as unknown[]) : [];
  for (const jwk of entries.slice(0, KEYS_LIMIT)) {
    if (!isRecord(jwk) || jwk.kty !== "EC" || jwk.crv !== "P-256" || typeof jwk.kid !== "string") continue;
    if ((jwk.alg ?? ALGORITHM) !== ALGORITHM || (jwk.use ?? "sig") !== "sig") continue;
    const publicKey = { kty: "EC", crv: "P-256", x: String(jwk.x), y: String(jwk.y) };
    const algorithm = { name: "ECDSA", namedCurve: "P-256" };
    try {
      keys.set(jwk.kid, await crypto.subtle.importKey("jwk", publicKey, algorithm, false, ["verify"]));
    } catch {
      // Not a point of the curve; the other keys are still good.
    }
  }
  if (!keys.size) throw new Error("the answer of the Postern server has no signing keys");
  return keys;
}

function describe(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message;
}

function isTime(value: unknown): value is number {
  // The largest time of a Date is 8.64e12 seconds.
  return typeof value === "number" && Math.abs(value) <= 8.64e12;
}

function strings(value: unknown): readonly string[] {
  return Object.freeze(Array.isArray(value) ? value.filter((item): item is string => typeof item === "string") : []);
}
