/**
 * Sign-in for applications that render pages on a server, by Postern's hosted pages: web-standard requests in,
 * web-standard responses out. `@postern/sdk/express`, `/hono` and `/next` connect it to these frameworks.
 *
 * | route | what it does |
 * |---|---|
 * | `GET /auth/sign-in`, `/auth/sign-up` | sends the browser to the hosted page; `return_to` is a path of the application |
 * | `GET /auth/callback` | finishes the sign-in; must be among the project's `redirectUrls` |
 * | `GET /auth/session` | the customer, organization, organizations and permissions as JSON |
 * | `POST /auth/switch-organization` | makes another organization active (`organization_id`, empty for none) |
 * | `POST /auth/sign-out` | ends the session |
 *
 * The session is in two cookies that scripts cannot read: the access token, which is verified offline, and the refresh
 * token, with which the session continues after five minutes. Nothing is stored in the application.
 */

import { ConfigurationError } from "./errors.js";
import { environment, isLoopback, isRecord, readText } from "./internal.js";
import {
  CustomerSession,
  PermissionDenied,
  ServerUnavailable,
  SessionError,
  SessionVerifier,
  type SessionVerifierOptions,
  TokenExpired,
  TokenInvalid,
} from "./sessions.js";

/** An access token of a cookie is refreshed when it is valid for less than this, so that the application can use it. */
const EARLY_MS = 10_000;
/** How long a person may take on the sign-in pages. */
const FLOW_SECONDS = 1_800;
/** How many sign-ins of a browser may be under way, in several tabs. */
const FLOWS_LIMIT = 5;
/** How long a process answers with the tokens of a refresh to requests that still have the old cookie. */
const REFRESHED_MS = 10_000;
const REQUEST_TIMEOUT_MS = 5_000;
/** Longest path, in characters, to which a browser returns. */
const RETURN_LIMIT = 1_000;
/** Longest body, in bytes, of a form of the sign-in. */
export const FORM_LIMIT = 16_384;
const RESPONSE_LIMIT = 1_048_576;
/** Longest value of one cookie. Browsers allow 4,096 bytes with name and attributes; longer tokens get several cookies. */
const COOKIE_BYTES = 3_600;
/** How many cookies one token may need. */
const COOKIE_PARTS = 5;
const REFRESH_TOKEN_LIMIT = 500;
/** How many organizations of a customer `GET /auth/session` lists. */
const ORGANIZATIONS_LIMIT = 200;
/** `Retry-After` while the server is unavailable. */
const RETRY_SECONDS = 5;
/** `Cache-Control` of responses that are for one customer. */
export const NOT_CACHED = "private, no-store";
const SAFE_METHODS = ["GET", "HEAD", "OPTIONS", "TRACE"];

export interface SignInOptions extends SessionVerifierOptions {
  /**
   * Origin of the application, such as `https://app.example.com`. Default: the environment variable
   * `POSTERN_APP_URL`, otherwise the `Host` of each request, with https unless that is this machine.
   */
  appUrl?: string | undefined;
  /**
   * Where the routes of the sign-in are; default `/auth`. `<appUrl><prefix>/callback` must be one of the project's
   * `redirectUrls`.
   */
  prefix?: string | undefined;
  /** Where the browser goes after sign-in if there is no page to return to; default `/`. */
  afterSignIn?: string | undefined;
  /** Where the browser goes after sign-out if there is no page to return to; default `/`. */
  afterSignOut?: string | undefined;
  /** The beginning of the cookies' names; default `postern`. Change it if two applications share a host name. */
  cookiePrefix?: string | undefined;
  /** Other origins, such as `https://www.example.com`, whose pages may send requests that use the session's cookies. */
  trustedOrigins?: readonly string[] | undefined;
  /**
   * A secret key of the project; default: the environment variable `POSTERN_KEY`. With it, limits on sign-in attempts
   * count each visitor's address (`visitorAddress`), without it the address of this application.
   */
  key?: string | undefined;
  /** The IP address of the visitor who sent a request, as far as this server can trust it. */
  visitorAddress?: ((request: RequestHead) => string | null | undefined) | undefined;
}

/** Who sent a request. */
export interface Authentication {
  readonly session: CustomerSession | null;
  /** Why there is no session, although the request has a bearer token or cookies of one. */
  readonly error: SessionError | null;
  /** Values of `Set-Cookie` for the response. Not enumerable, so that no log shows the tokens in them. */
  readonly cookies: readonly string[];
}

function authentication(
  session: CustomerSession | null,
  error: SessionError | null = null,
  cookies: readonly string[] = [],
): Authentication {
  return Object.defineProperty({ session, error, cookies }, "cookies", { enumerable: false });
}

/** A customer as `GET /auth/session` returns it. */
export interface SessionDocument {
  customer: {
    id: string;
    email: string | null;
    emailVerified: boolean;
    name: string | null;
    roles: readonly string[];
    metadata: Readonly<Record<string, unknown>>;
    /** The member of the team who acts as the customer; null if it is the customer. */
    impersonatedBy: string | null;
  } | null;
  organization: {
    id: string;
    slug: string;
    name: string;
    roles: readonly string[];
    entitlementsVersion: number;
    metadata: Readonly<Record<string, unknown>>;
  } | null;
  /** All organizations of the customer. */
  organizations: { id: string; slug: string; name: string; roles: readonly string[] }[];
  /** What the customer may do: in the active organization if there is one, else in the project. */
  permissions: readonly string[];
}

const SIGNED_OUT: SessionDocument = { customer: null, organization: null, organizations: [], permissions: [] };

/** The request has no session. Answer 401. */
export class SignInRequired extends SessionError {
  constructor() {
    super("sign_in_required", "Sign in first.");
  }
}

/** A page of another web site sent this request, so that the session's cookies do not count. Answer 403. */
export class CrossOriginRequest extends SessionError {
  constructor() {
    super("cross_origin_request", "This request was sent by another web site.");
  }
}

/** The customer is not a member of the organization, or it is suspended. Answer 403. */
export class OrganizationRefused extends SessionError {
  constructor() {
    super("organization_refused", "You are not a member of this organization, or it is suspended.");
  }
}

interface Tokens {
  accessToken: string;
  accessTokenExpiresAt: string;
  refreshToken: string;
  refreshTokenExpiresAt: string;
}

/** A sign-in that is under way, as its cookie has it. */
interface Flow {
  state: string;
  verifier: string;
  return_to: string;
  /** Unix time in seconds. */
  started: number;
}

/** What authentication reads of a request. */
export type RequestHead = Pick<Request, "url" | "method" | "headers">;

/** The origin of the application as one request says it, and whether its cookies are `Secure`. */
interface Site {
  readonly origin: string;
  readonly isSecure: boolean;
}

/** Signs customers in and out of an application, and says who sent a request. Create one for the whole process. */
export class SignIn {
  readonly verifier: SessionVerifier;
  /** Where the routes are, without a slash at the end. */
  readonly prefix: string;
  readonly #options: SignInOptions;
  readonly #appUrl: URL | null;
  readonly #afterSignIn: string;
  readonly #afterSignOut: string;
  readonly #trustedOrigins: readonly string[];
  readonly #key: string | null;
  readonly #fetch: typeof fetch;
  readonly #now: () => number;
  /** Refreshes that run or ended a moment ago, by the refresh token that they used up. */
  readonly #refreshes = new Map<string, { endedAt: number; tokens: Promise<Tokens> }>();

  constructor(options: SignInOptions = {}) {
    this.verifier = new SessionVerifier(options);
    this.prefix = `/${(options.prefix ?? "/auth").replace(/^\/+|\/+$/g, "")}`;
    this.#options = options;
    const appUrl = options.appUrl ?? environment("POSTERN_APP_URL");
    this.#appUrl = appUrl ? readAppUrl(appUrl) : null;
    this.#afterSignIn = localPath(options.afterSignIn) ?? "/";
    this.#afterSignOut = localPath(options.afterSignOut) ?? "/";
    this.#trustedOrigins = (options.trustedOrigins ?? []).map((origin) => origin.replace(/\/+$/, "").toLowerCase());
    this.#key = options.key ?? environment("POSTERN_KEY") ?? null;
    this.#fetch = options.fetch ?? ((input, init) => fetch(input, init));
    this.#now = options.now ?? Date.now;
  }

  /**
   * Who sent a request: by the bearer token of its `Authorization`, or else by its cookies. Refreshes a session whose
   * access token has expired: then the response must have the `cookies` of the result. Throws nothing: trouble is the
   * result's `error`.
   *
   * With `refresh: false` nothing is refreshed, for places that cannot set cookies.
   */
  async authenticate(request: RequestHead, { refresh = true }: { refresh?: boolean } = {}): Promise<Authentication> {
    try {
      const token = bearerToken(request);
      if (token !== null) return authentication(await this.verifier.authenticate(token));
      return await this.#authenticateByCookies(request, refresh);
    } catch (error) {
      if (error instanceof SessionError) return authentication(null, error);
      throw error;
    }
  }

  /** The response to a request for one of the routes; null if the request is for another path. */
  async handle(request: Request): Promise<Response | null> {
    if (!this.isOwnRoute(request)) return null;
    const routes: Record<string, [string, () => Promise<Response>]> = {
      "sign-in": ["GET", () => this.begin(request, "sign-in")],
      "sign-up": ["GET", () => this.begin(request, "sign-up")],
      callback: ["GET", () => this.#finish(request)],
      session: ["GET", () => this.#session(request)],
      "switch-organization": ["POST", () => this.#switchOrganization(request)],
      "sign-out": ["POST", () => this.#signOut(request)],
    };
    const name = new URL(request.url).pathname.slice(this.prefix.length + 1);
    const route = Object.hasOwn(routes, name) ? routes[name] : undefined;
    if (!route) return null;
    const [method, respond] = route;
    if (request.method !== method && !(request.method === "HEAD" && method === "GET")) {
      const refused = problem(405, "method_not_allowed", `Send ${method} to this path.`);
      refused.headers.set("allow", method);
      return refused;
    }
    try {
      return await respond();
    } catch (error) {
      if (error instanceof SessionError) return this.refuse(request, error);
      throw error;
    }
  }

  /** Sends the browser to a hosted page. It comes back to the parameter `return_to`, a path of the application. */
  async begin(request: Request, page: "sign-in" | "sign-up" = "sign-in"): Promise<Response> {
    const jar = this.#jar(request);
    const flow = this.#newFlow(this.#returnPath(new URL(request.url).searchParams.get("return_to")));
    return this.#toPage(request, page, {}, jar, flow, jar.flows(this.#now()));
  }

  /** The `Cookie` of a request without the session's cookies. */
  cookiesWithout(request: RequestHead): string {
    return cookiesAfter(request.headers.get("cookie"), this.#jar(request).forget());
  }

  /** Whether a request is for one of the routes; they authenticate it themselves. */
  isOwnRoute(request: RequestHead): boolean {
    return new URL(request.url).pathname.startsWith(`${this.prefix}/`);
  }

  /** The path that begins a sign-in and then returns to `returnTo`. */
  signInPath(returnTo?: string | null): string {
    const path = localPath(returnTo);
    return `${this.prefix}/sign-in${path ? `?${new URLSearchParams({ return_to: path })}` : ""}`;
  }

  /**
   * The session, if there is one and it has the permission. Throws the `error`, SignInRequired or PermissionDenied.
   */
  require({ session, error }: Authentication, permission?: string): CustomerSession {
    if (!session) throw error ?? new SignInRequired();
    if (permission !== undefined) session.require(permission);
    return session;
  }

  /** The response to a request that `error` ended: the sign-in page or a page for a browser, a problem for APIs. */
  refuse(request: Request, error: SessionError): Response {
    const [status, code, challenge] = problemOf(error);
    // What the error says of the server, such as its internal address, is for the application only.
    const detail = status === 503 ? UNAVAILABLE : error.message;
    if (wantsPage(request)) {
      if (status === 401) return redirect(this.signInPath(this.#pathToReturnTo(request)));
      return page(status, TITLES[status] ?? "This did not succeed", detail, this.#afterSignIn, "Continue");
    }
    const response = problem(status, code, detail);
    if (challenge) response.headers.set("www-authenticate", challenge);
    return response;
  }

  #refuseWith(request: Request, error: SessionError, cookies: readonly string[]): Response {
    const response = this.refuse(request, error);
    addCookies(response.headers, cookies);
    return response;
  }

  // The flow through the hosted pages.

  #newFlow(returnTo: string): Flow {
    const started = Math.floor(this.#now() / 1000);
    return { state: randomText(24), verifier: randomText(48), return_to: returnTo, started };
  }

  async #toPage(
    request: Request,
    name: string,
    parameters: Record<string, string>,
    jar: CookieJar,
    flow: Flow,
    others: Flow[],
  ): Promise<Response> {
    const query = new URLSearchParams({
      ...parameters,
      redirectUrl: this.#callbackUrl(request),
      codeChallenge: await challengeOf(flow.verifier),
      state: flow.state,
    });
    // The newest first: older ones are dropped if they do not fit in the cookie.
    return redirect(`${this.verifier.issuer}/auth/pages/${name}?${query}`, [jar.keepFlows([flow, ...others])]);
  }

  /** The callback: exchanges the code for tokens, and goes to the page where the sign-in began. */
  async #finish(request: Request): Promise<Response> {
    const query = new URL(request.url).searchParams;
    const state = query.get("state");
    const code = query.get("code");
    const jar = this.#jar(request);
    const flows = jar.flows(this.#now());
    const flow = flows.find((candidate) => candidate.state === state);
    if (!flow) return this.#unknownFlow(request, query);
    const others = flows.filter((other) => other !== flow);
    const forget = jar.keepFlows(others);
    if (!code) {
      const text = CALLBACK_ERRORS[query.get("error") ?? ""] ?? "The sign-in was not completed.";
      return this.#failed(text, flow.return_to, [forget]);
    }
    let result: Record<string, unknown>;
    try {
      result = await this.#post(request, "auth/token", { code, codeVerifier: flow.verifier });
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      const isBlocked = error.code === "sign_in_blocked";
      const text = isBlocked ? "This account is blocked." : "This sign-in has expired or was already completed.";
      return this.#failed(text, flow.return_to, [forget]);
    }
    if (result.mfaRequired === true && typeof result.mfaToken === "string") {
      // After single sign-on: a hosted page asks for the second factor, and then comes back here.
      const parameters = { mfaToken: result.mfaToken };
      return this.#toPage(request, "mfa", parameters, jar, this.#newFlow(flow.return_to), others);
    }
    if (result.termsRequired === true && typeof result.termsToken === "string") {
      // Likewise, a hosted page asks the customer to accept the terms.
      const parameters = { termsToken: result.termsToken };
      return this.#toPage(request, "terms", parameters, jar, this.#newFlow(flow.return_to), others);
    }
    const tokens = readTokens(result);
    await this.#verified(tokens);
    return redirect(flow.return_to, [forget, ...jar.keep(tokens, this.#now())]);
  }

  /** The response to a callback of no sign-in that this browser began. It changes no session. */
  async #unknownFlow(request: Request, query: URLSearchParams): Promise<Response> {
    // The return from the sign-out at an identity provider.
    if (!query.has("code") && !query.has("error")) return redirect(this.#afterSignOut);
    const code = query.get("code");
    if (query.get("impersonation") === "true" && code && this.#key !== null) {
      const response = await this.#finishImpersonation(request, code, query.get("state"));
      if (response) return response;
    }
    const { session, cookies } = await this.authenticate(request);
    // For example the back button after a sign-in.
    if (session) return redirect(this.#afterSignIn, cookies);
    const text = "This sign-in was begun in another browser, has expired, or was already completed.";
    return this.#failed(text, this.#afterSignIn, cookies);
  }

  /**
   * Begins the session in which a member of the team acts as a customer. This application has not begun it, so the code
   * is exchanged with the secret key. Null if the code cannot be used.
   *
   * The code of another sign-in is refused: with it, a web site could sign a visitor in as somebody else (RFC 9700
   * §4.7).
   */
  async #finishImpersonation(request: Request, code: string, state: string | null): Promise<Response | null> {
    let result: Record<string, unknown>;
    try {
      result = await this.#post(request, "auth/token", { code });
    } catch (error) {
      if (error instanceof Refused) return null;
      throw error;
    }
    if (typeof result.accessToken !== "string") return null;
    const tokens = readTokens(result);
    const session = await this.#verified(tokens);
    if (session.actor) return redirect(this.#returnPath(state), this.#jar(request).keep(tokens, this.#now()));
    await this.#callAs(session, "POST", "auth/sign-out");
    return null;
  }

  #failed(text: string, returnTo: string, cookies: readonly string[]): Response {
    return page(400, "The sign-in did not succeed", text, this.signInPath(returnTo), "Sign in again", cookies);
  }

  /** The customer, organization, organizations and permissions. Asks the server, so that a revoked session ends here. */
  async #session(request: Request): Promise<Response> {
    const { session, error, cookies } = await this.authenticate(request);
    if (!session) {
      if (error instanceof ServerUnavailable) return this.#refuseWith(request, error, cookies);
      return json(SIGNED_OUT, cookies);
    }
    let me: unknown;
    let memberships: unknown;
    try {
      [me, memberships] = await Promise.all([
        this.#callAs(session, "GET", "auth/me"),
        this.#callAs(session, "GET", `auth/organizations?limit=${ORGANIZATIONS_LIMIT}`),
      ]);
    } catch (refused) {
      if (!(refused instanceof SessionError)) throw refused;
      if (refused instanceof Refused && refused.status === 401) return json(SIGNED_OUT, this.#jar(request).forget());
      return this.#refuseWith(request, refused, cookies);
    }
    return json(documentOf(session, me, memberships), cookies);
  }

  /** Makes the organization of the form field `organization_id` active; an empty one means none. */
  async #switchOrganization(request: Request): Promise<Response> {
    this.#requireSameOrigin(request, true);
    const form = await readForm(request);
    const jar = this.#jar(request);
    const refreshToken = jar.refresh;
    if (refreshToken === null) throw new SignInRequired();
    try {
      const tokens = await this.#refreshed(request, refreshToken, { organizationId: form.organization_id || null });
      this.#refreshes.delete(refreshToken);
      return this.#done(request, form, this.#afterSignIn, jar.keep(tokens, this.#now()));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status !== 401) throw new OrganizationRefused();
      return this.#refuseWith(request, new SignInRequired(), jar.forget());
    }
  }

  /** Ends the session, here and on the server, and at the identity provider if it was begun there. */
  async #signOut(request: Request): Promise<Response> {
    this.#requireSameOrigin(request, true);
    const form = await readForm(request);
    const jar = this.#jar(request);
    let location: string | null = null;
    try {
      const { session } = await this.#authenticateByCookies(request, true);
      if (session) location = await this.#endSession(request, session);
    } catch (error) {
      // The cookies are deleted all the same: the person wants to leave this browser.
      if (!(error instanceof SessionError)) throw error;
    }
    const cookies = [...jar.forget(), jar.keepFlows([])];
    if (location !== null && wantsPage(request)) return redirect(location, cookies);
    return this.#done(request, form, this.#afterSignOut, cookies);
  }

  /** Ends a session on the server. Returns the URL to sign out at the identity provider, if there is one. */
  async #endSession(request: Request, session: CustomerSession): Promise<string | null> {
    try {
      const body = { redirectUrl: this.#callbackUrl(request) };
      const answer = await this.#callAs(session, "POST", "auth/sso/sign-out", body);
      if (isRecord(answer)) return typeof answer.url === "string" && /^https?:/.test(answer.url) ? answer.url : null;
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
    }
    await this.#callAs(session, "POST", "auth/sign-out");
    return null;
  }

  /** The response to a form: back to its field `return_to`. A script gets 204. */
  #done(request: Request, form: Record<string, string>, otherwise: string, cookies: readonly string[]): Response {
    if (wantsPage(request)) return redirect(this.#returnPath(form.return_to, otherwise), cookies);
    const headers = new Headers({ "cache-control": NOT_CACHED });
    addCookies(headers, cookies);
    return new Response(null, { status: 204, headers });
  }

  // Sessions in cookies.

  async #authenticateByCookies(request: RequestHead, refresh: boolean): Promise<Authentication> {
    const jar = this.#jar(request);
    const accessToken = jar.access;
    const refreshToken = refresh ? jar.refresh : null;
    if (accessToken === null && refreshToken === null) return authentication(null);
    if (!SAFE_METHODS.includes(request.method)) this.#requireSameOrigin(request, false);
    let session: CustomerSession | null = null;
    try {
      if (accessToken !== null) session = await this.verifier.authenticate(accessToken);
    } catch (error) {
      if (!(error instanceof TokenInvalid) && !(error instanceof TokenExpired)) throw error;
    }
    const expiresSoon = session !== null && session.expiresAt.getTime() - this.#now() < EARLY_MS;
    if (session && (refreshToken === null || !expiresSoon)) return authentication(session);
    if (refreshToken === null) return authentication(null, null, refresh ? jar.forget() : []);
    let tokens: Tokens;
    try {
      tokens = await this.#refreshedOnce(request, refreshToken);
    } catch (error) {
      if (error instanceof Refused) return authentication(null, null, jar.forget());
      if (error instanceof ServerUnavailable && session) return authentication(session);
      throw error;
    }
    const cookies = jar.keep(tokens, this.#now());
    try {
      return authentication(await this.#verified(tokens), null, cookies);
    } catch (error) {
      if (!(error instanceof ServerUnavailable)) throw error;
      // The browser needs the new cookies all the same: the old refresh token is used up.
      return authentication(session, session ? null : error, cookies);
    }
  }

  /** `#refreshed` for a request that may be one of several with the same refresh token: they share one refresh. */
  #refreshedOnce(request: RequestHead, refreshToken: string): Promise<Tokens> {
    const now = this.#now();
    for (const [token, { endedAt }] of this.#refreshes) {
      if (endedAt + REFRESHED_MS < now) this.#refreshes.delete(token);
    }
    const running = this.#refreshes.get(refreshToken);
    if (running) return running.tokens;
    const tokens = this.#refreshed(request, refreshToken, {});
    const entry = { endedAt: now + REQUEST_TIMEOUT_MS, tokens };
    this.#refreshes.set(refreshToken, entry);
    tokens.then(
      () => (entry.endedAt = this.#now()),
      () => this.#refreshes.delete(refreshToken),
    );
    return tokens;
  }

  /**
   * New tokens of a session. Throws Refused only if the session has ended (401), or the server refuses the organization
   * to switch to. Throws ServerUnavailable if it refuses the request for a reason that is not the visitor's.
   */
  async #refreshed(request: RequestHead, refreshToken: string, change: { organizationId?: string | null }): Promise<Tokens> {
    try {
      return readTokens(await this.#post(request, "auth/token/refresh", { refreshToken, ...change }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 401 && error.code !== "refresh_token_invalid") {
        throw new ServerUnavailable("The Postern server does not accept the API key of this application (`key`).");
      }
      if (error.status === 401 || change.organizationId !== undefined) throw error;
      throw new ServerUnavailable(`The Postern server refused to refresh a session: ${error.code}.`);
    }
  }

  /** The session of tokens that the server just issued, so that no cookie is set that is refused afterwards. */
  async #verified(tokens: Tokens): Promise<CustomerSession> {
    try {
      return await this.verifier.authenticate(tokens.accessToken);
    } catch (error) {
      if (!(error instanceof TokenInvalid) && !(error instanceof TokenExpired)) throw error;
      throw new ServerUnavailable(`A token that the Postern server issued cannot be used. ${error.message}`);
    }
  }

  /** Calls an operation on behalf of the visitor. Throws Refused and ServerUnavailable. */
  async #post(request: RequestHead, path: string, body: Record<string, unknown>): Promise<Record<string, unknown>> {
    const headers: Record<string, string> = {};
    if (this.#key !== null) {
      headers.authorization = `Bearer ${this.#key}`;
      const address = readAddress(this.#options.visitorAddress?.(request));
      if (address !== null) {
        headers["postern-visitor-address"] = address;
        headers["postern-visitor-agent"] = ascii(request.headers.get("user-agent") ?? "").slice(0, 500);
      }
    }
    const answer = await this.#call("POST", path, headers, body);
    return isRecord(answer) ? answer : {};
  }

  /** Calls an operation as the customer. Throws Refused and ServerUnavailable. */
  #callAs(session: CustomerSession, method: string, path: string, body?: Record<string, unknown>): Promise<unknown> {
    return this.#call(method, path, { authorization: `Bearer ${session.token}` }, body);
  }

  async #call(
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: Record<string, unknown>,
  ): Promise<unknown> {
    let status: number;
    let answer: unknown = null;
    try {
      const response = await this.#fetch(`${this.verifier.projectUrl}/${path}`, {
        method,
        headers: { accept: "application/json", ...(body && { "content-type": "application/json" }), ...headers },
        ...(body && { body: JSON.stringify(body) }),
        redirect: "manual",
        signal: AbortSignal.timeout(REQUEST_TIMEOUT_MS),
      });
      status = response.status;
      const text = await readText(response, RESPONSE_LIMIT);
      if (/json/.test(response.headers.get("content-type") ?? "")) answer = JSON.parse(text);
    } catch (cause) {
      throw new ServerUnavailable("The Postern server did not answer.", { cause });
    }
    if (status >= 200 && status < 300) return answer;
    if (status < 400 || status === 429 || status >= 500) {
      throw new ServerUnavailable(`The Postern server answered with the status ${status}.`);
    }
    throw new Refused(status, isRecord(answer) && typeof answer.code === "string" ? answer.code : "refused");
  }

  // Where requests come from, and where browsers go to.

  #jar(request: RequestHead): CookieJar {
    return new CookieJar(request, this.#site(request).isSecure, this.#options.cookiePrefix ?? "postern");
  }

  #site(request: RequestHead): Site {
    if (this.#appUrl) return { origin: this.#appUrl.origin, isSecure: this.#appUrl.protocol === "https:" };
    const url = new URL(request.url);
    // Some frameworks put their own host name into the URL of a request.
    const host = request.headers.get("host") ?? url.host;
    const isHost = /^([\w.-]+|\[[0-9a-fA-F:]+\])(:\d+)?$/.test(host) && URL.canParse(`http://${host}`);
    if (!isHost) return { origin: "null", isSecure: true };
    const isSecure = url.protocol === "https:" || !isLoopback(new URL(`http://${host}`).hostname);
    return { origin: new URL(`${isSecure ? "https" : "http"}://${host}`).origin, isSecure };
  }

  #callbackUrl(request: Request): string {
    return `${this.#site(request).origin}${this.prefix}/callback`;
  }

  /**
   * Throws CrossOriginRequest if a page of another web site sent a request; with `evidence`, unless it is shown that a
   * page of this one did.
   */
  #requireSameOrigin(request: RequestHead, evidence: boolean): void {
    const origin = request.headers.get("origin");
    const site = request.headers.get("sec-fetch-site");
    if (origin !== null && this.#trustedOrigins.includes(origin.toLowerCase())) return;
    let isSame = !evidence; // Browsers send one of the two with every POST; other clients need not.
    if (site !== null) isSame = site === "same-origin" || (site === "none" && !evidence);
    else if (origin !== null) isSame = hostOf(origin) === hostOf(this.#site(request).origin);
    if (!isSame) throw new CrossOriginRequest();
  }

  /** A path of the application to return to, or `otherwise` if `value` is none, or one of the sign-in itself. */
  #returnPath(value: string | null | undefined, otherwise: string = this.#afterSignIn): string {
    const path = localPath(value);
    return path === null || path.startsWith(`${this.prefix}/`) ? otherwise : path;
  }

  /** Where a browser that must sign in wanted to go: this page, or the page with the form that it sent. */
  #pathToReturnTo(request: Request): string | null {
    let url = new URL(request.url);
    if (!["GET", "HEAD"].includes(request.method)) {
      const referrer = request.headers.get("referer") ?? "";
      if (!URL.canParse(referrer) || new URL(referrer).host !== hostOf(this.#site(request).origin)) return null;
      url = new URL(referrer);
    }
    const path = this.#returnPath(url.pathname + url.search);
    return path === this.#afterSignIn ? null : path;
  }
}

/** The server refused a token or code, or a change of the session. */
class Refused extends SessionError {
  readonly status: number;

  constructor(status: number, code: string) {
    super(code, `The Postern server refused this: ${code}.`);
    this.status = status;
  }
}

/** The request to a route cannot be read. Answer 400. */
class FormInvalid extends SessionError {
  constructor() {
    super("form_invalid", "The body is neither a form nor a JSON object, or too long.");
  }
}

/**
 * A path of this application that a browser may be sent to, or null. Rejects everything that a browser could read as
 * another web site (`//evil`, `/\evil`), and control characters.
 */
export function localPath(value: string | null | undefined): string | null {
  if (!value || value.length > RETURN_LIMIT || !value.startsWith("/")) return null;
  if (/[\u0000-\u001f\u007f\\]/.test(value) || !URL.canParse(value, "http://application.invalid")) return null;
  const url = new URL(value, "http://application.invalid");
  const path = url.pathname + url.search + url.hash;
  const isLocal = url.origin === "http://application.invalid" && !path.startsWith("//");
  return isLocal && path.length <= RETURN_LIMIT ? path : null;
}

/** Adds `Set-Cookie` to a response, which caches then must not store. */
export function addCookies(headers: Headers, cookies: readonly string[]): void {
  if (!cookies.length) return;
  for (const cookie of cookies) headers.append("set-cookie", cookie);
  headers.set("cache-control", NOT_CACHED);
}

/** The header `Vary` of a response that depends on who sent the request. */
export function variesByCustomer(vary: string | null): string {
  const names = (vary ?? "").split(",").map((name) => name.trim()).filter(Boolean);
  for (const name of ["Cookie", "Authorization"]) {
    if (!names.some((other) => other === "*" || other.toLowerCase() === name.toLowerCase())) names.push(name);
  }
  return names.join(", ");
}

/** The `Cookie` of a request after a response has set these cookies. */
export function cookiesAfter(header: string | null, cookies: readonly string[]): string {
  const values = readCookies(header);
  for (const cookie of cookies) {
    const [name, value] = splitOnce(splitOnce(cookie, ";")[0], "=");
    if (value) values.set(name, value);
    else values.delete(name);
  }
  return [...values].map(([name, value]) => `${name}=${value}`).join("; ");
}

/**
 * The cookies of a header `Cookie`; of several with the same name the first.
 *
 * Only spaces and tabs are removed around names. `trim` also removes the spaces of Unicode, with which a subdomain could
 * set a cookie whose name is then read as one with `__Host-`, although browsers do not protect it.
 */
function readCookies(header: string | null): Map<string, string> {
  const cookies = new Map<string, string>();
  for (const pair of (header ?? "").split(";")) {
    const [name, value] = splitOnce(pair.replace(/^[ \t]+|[ \t]+$/g, ""), "=");
    if (name && !cookies.has(name)) cookies.set(name, value);
  }
  return cookies;
}

/** Whether a person looks at the response: a browser opened a page or sent a form, and no script or program. */
function wantsPage(request: Request): boolean {
  return bearerToken(request) === null && /text\/html/i.test(request.headers.get("accept") ?? "");
}

/** The bearer token of a request. Null without one, also if `Authorization` has another scheme. */
function bearerToken(request: RequestHead): string | null {
  const [scheme, token] = splitOnce(request.headers.get("authorization") ?? "", " ");
  return scheme.toLowerCase() === "bearer" ? token.trim() : null;
}

/** The text fields of a form or JSON object. Throws FormInvalid. */
async function readForm(request: Request): Promise<Record<string, string>> {
  try {
    const text = await readText(request, FORM_LIMIT);
    if (!/json/i.test(request.headers.get("content-type") ?? "")) return Object.fromEntries(new URLSearchParams(text));
    const value: unknown = JSON.parse(text);
    const entries = isRecord(value) ? Object.entries(value) : [];
    return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === "string"));
  } catch {
    throw new FormInvalid();
  }
}

function readTokens(result: Record<string, unknown>): Tokens {
  const { accessToken, accessTokenExpiresAt, refreshToken, refreshTokenExpiresAt } = result;
  const tokens = { accessToken, accessTokenExpiresAt, refreshToken, refreshTokenExpiresAt };
  if (!Object.values(tokens).every((value) => typeof value === "string")) {
    throw new ServerUnavailable("The Postern server's answer has no tokens.");
  }
  return tokens as Tokens;
}

function documentOf(session: CustomerSession, me: unknown, memberships: unknown): SessionDocument {
  const { organization } = session;
  return {
    customer: {
      id: session.customerId,
      email: session.email,
      emailVerified: session.emailVerified,
      name: isRecord(me) && typeof me.name === "string" ? me.name : null,
      roles: session.roles,
      metadata: session.metadata,
      impersonatedBy: session.actor && (session.actor.name ?? session.actor.id),
    },
    organization: organization && {
      id: organization.id,
      slug: organization.slug,
      name: organization.name,
      roles: organization.roles,
      entitlementsVersion: organization.entitlementsVersion,
      metadata: organization.metadata,
    },
    organizations: readMemberships(memberships),
    permissions: (organization ?? session).permissions,
  };
}

/** The active organizations of `GET auth/organizations`. */
function readMemberships(answer: unknown): SessionDocument["organizations"] {
  const list: unknown[] = Array.isArray(answer) ? answer : isRecord(answer) && Array.isArray(answer.data) ? answer.data : [];
  return list.flatMap((membership) => {
    const organization = isRecord(membership) ? membership.organization : null;
    if (!isRecord(membership) || !isRecord(organization) || membership.status !== "ACTIVE") return [];
    const roles = Array.isArray(membership.roles) ? membership.roles.map(String) : [];
    return [{ id: String(organization.id), slug: String(organization.slug), name: String(organization.name), roles }];
  });
}

// Responses.

const TITLES: Record<number, string> = {
  403: "You are not allowed to do this",
  503: "Please try again in a moment",
};
const UNAVAILABLE = "Sign-in is not available at the moment. Please try again.";
const CALLBACK_ERRORS: Record<string, string> = {
  access_denied: "The sign-in was cancelled.",
  account_not_linked: "There is an account with this address already. Sign in to it the way you did before.",
  identity_conflict: "This account is already used by another person, or you are linked to another one.",
};

/** Status, code and `WWW-Authenticate` (RFC 6750 §3) of an error. */
function problemOf(error: SessionError): [number, string, string?] {
  if (error instanceof SignInRequired) return [401, error.code, "Bearer"];
  if (error instanceof TokenExpired || error instanceof TokenInvalid) {
    const description = ascii(error.message).replaceAll('"', "'").replaceAll("\\", "/");
    return [401, error.code, `Bearer error="invalid_token", error_description="${description}"`];
  }
  if (error instanceof PermissionDenied) {
    const scope = ascii(error.permission).replace(/["\\]/g, "");
    return [403, error.code, `Bearer error="insufficient_scope", scope="${scope}"`];
  }
  if (error instanceof CrossOriginRequest || error instanceof OrganizationRefused) return [403, error.code];
  if (error instanceof FormInvalid) return [400, error.code];
  return [503, "sign_in_unavailable"];
}

function problem(status: number, code: string, detail: string): Response {
  const words = code.replaceAll("_", " ");
  const body = { type: "about:blank", title: words.charAt(0).toUpperCase() + words.slice(1), status, code, detail };
  const headers = new Headers({ "content-type": "application/problem+json", "cache-control": NOT_CACHED });
  if (status === 503) headers.set("retry-after", String(RETRY_SECONDS));
  return new Response(JSON.stringify(body), { status, headers });
}

function json(body: unknown, cookies: readonly string[]): Response {
  const headers = new Headers({ "content-type": "application/json", "cache-control": NOT_CACHED });
  addCookies(headers, cookies);
  return new Response(JSON.stringify(body), { headers });
}

function redirect(location: string, cookies: readonly string[] = []): Response {
  const headers = new Headers({ location, "cache-control": NOT_CACHED, "referrer-policy": "no-referrer" });
  addCookies(headers, cookies);
  return new Response(null, { status: 303, headers });
}

/** A small page of the application's own. */
function page(
  status: number,
  title: string,
  text: string,
  href: string,
  label: string,
  cookies: readonly string[] = [],
): Response {
  const [safeTitle, safeText, safeHref, safeLabel] = [title, text, href, label].map(escapeHtml);
  const html = `<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex"><title>${safeTitle}</title><style>
:root { color-scheme: light dark; }
body { font: 16px/1.5 system-ui, -apple-system, "Segoe UI", sans-serif; max-width: 27.5rem; margin: 15vh auto;
  padding: 0 1.25rem; }
h1 { font-size: 1.5rem; line-height: 1.25; }
a { color: inherit; font-weight: 600; }
</style></head><body><h1>${safeTitle}</h1><p>${safeText}</p><p><a href="${safeHref}">${safeLabel}</a></p></body></html>`;
  const headers = new Headers({
    "content-type": "text/html; charset=utf-8",
    "cache-control": NOT_CACHED,
    "content-security-policy": "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'",
    "referrer-policy": "no-referrer",
    "x-content-type-options": "nosniff",
  });
  if (status === 503) headers.set("retry-after", String(RETRY_SECONDS));
  addCookies(headers, cookies);
  return new Response(html, { status, headers });
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`);
}

/** Text for a header: printable ASCII characters only. */
function ascii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, "");
}

/** An IP address without the port that some proxies add to it; null if the text has none. */
function readAddress(text: string | null | undefined): string | null {
  const address = /^\[([^\]]+)\](?::\d+)?$/.exec(text ?? "")?.[1] ?? /^([\d.]+):\d+$/.exec(text ?? "")?.[1] ?? text ?? "";
  const parts = address.split(".");
  if (parts.length === 4 && parts.every((part) => /^(0|[1-9]\d{0,2})$/.test(part) && Number(part) < 256)) return address;
  const isVersion6 = /^[0-9a-f:.]{2,45}$/i.test(address) && address.includes(":") && URL.canParse(`http://[${address}]/`);
  return isVersion6 ? address : null;
}

function readAppUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (!url || !/^https?:$/.test(url.protocol) || url.pathname !== "/" || url.search || url.hash) {
    throw new ConfigurationError(`${text} is not the URL of an application, such as https://app.example.com.`);
  }
  if (url.protocol === "http:" && !isLoopback(url.hostname)) {
    throw new ConfigurationError(`${text} is not https: browsers would send the cookies of sessions unencrypted.`);
  }
  return url;
}

function hostOf(origin: string): string | null {
  return URL.canParse(origin) ? new URL(origin).host : null;
}

/** Random bytes as base64url. */
function randomText(bytes: number): string {
  return toBase64Url(crypto.getRandomValues(new Uint8Array(bytes)));
}

async function challengeOf(verifier: string): Promise<string> {
  return toBase64Url(new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(verifier))));
}

function toBase64Url(bytes: Uint8Array): string {
  return btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_").replace(/=+$/, "");
}

/** The cookies of one request, and the `Set-Cookie` values that change them. */
class CookieJar {
  readonly #cookies: ReadonlyMap<string, string>;
  readonly #prefix: string;
  readonly #isSecure: boolean;

  constructor(request: RequestHead, isSecure: boolean, prefix: string) {
    this.#isSecure = isSecure;
    // Browsers accept a cookie with the prefix `__Host-` only from this host itself, not from a subdomain.
    this.#prefix = isSecure ? `__Host-${prefix}` : prefix;
    this.#cookies = readCookies(request.headers.get("cookie"));
  }

  /** The access token. */
  get access(): string | null {
    let token = "";
    for (let part = 0; part < COOKIE_PARTS; part += 1) token += this.#cookies.get(this.#accessName(part)) ?? "";
    return token || null;
  }

  /** The refresh token. */
  get refresh(): string | null {
    const token = this.#cookies.get(`${this.#prefix}_refresh`);
    return token && token.length <= REFRESH_TOKEN_LIMIT ? token : null;
  }

  /** Keeps tokens. `now` is in milliseconds. */
  keep(tokens: Tokens, now: number): string[] {
    const secondsUntil = (moment: string) => Math.max(0, Math.floor((Date.parse(moment) - now) / 1000)) || 0;
    const refreshSeconds = secondsUntil(tokens.refreshTokenExpiresAt);
    const accessSeconds = secondsUntil(tokens.accessTokenExpiresAt);
    if (tokens.accessToken.length > COOKIE_BYTES * COOKIE_PARTS) {
      throw new ServerUnavailable("The Postern server issued an access token that is too long for cookies.");
    }
    const cookies = [this.#cookie(`${this.#prefix}_refresh`, tokens.refreshToken, refreshSeconds)];
    for (let part = 0; part < COOKIE_PARTS; part += 1) {
      const name = this.#accessName(part);
      const value = tokens.accessToken.slice(part * COOKIE_BYTES, (part + 1) * COOKIE_BYTES);
      if (value) cookies.push(this.#cookie(name, value, accessSeconds));
      else if (this.#cookies.has(name)) cookies.push(this.#cookie(name, "", 0));
    }
    return cookies;
  }

  /** Deletes the cookies of the session. */
  forget(): string[] {
    const parts = Array.from({ length: COOKIE_PARTS }, (_, part) => this.#accessName(part));
    const names = [`${this.#prefix}_refresh`, ...parts];
    return names.filter((name) => this.#cookies.has(name)).map((name) => this.#cookie(name, "", 0));
  }

  /** The sign-ins of this browser that are under way, newest first. `now` is in milliseconds. */
  flows(now: number): Flow[] {
    try {
      const value = this.#cookies.get(`${this.#prefix}_flow`) ?? "";
      const binary = atob(value.replaceAll("-", "+").replaceAll("_", "/"));
      const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
      const flows: unknown = JSON.parse(new TextDecoder().decode(bytes));
      if (!Array.isArray(flows)) return [];
      return flows.slice(0, FLOWS_LIMIT).filter((flow): flow is Flow => {
        if (!isRecord(flow) || typeof flow.state !== "string" || typeof flow.verifier !== "string") return false;
        const isRecent = typeof flow.started === "number" && Math.abs(now / 1000 - flow.started) < FLOW_SECONDS;
        return isRecent && typeof flow.return_to === "string" && localPath(flow.return_to) !== null;
      });
    } catch {
      return [];
    }
  }

  /** Keeps as many of these sign-ins as fit in a cookie. */
  keepFlows(flows: Flow[]): string {
    for (let count = Math.min(flows.length, FLOWS_LIMIT); count > 0; count -= 1) {
      const value = toBase64Url(new TextEncoder().encode(JSON.stringify(flows.slice(0, count))));
      if (value.length <= COOKIE_BYTES) return this.#cookie(`${this.#prefix}_flow`, value, FLOW_SECONDS);
    }
    return this.#cookie(`${this.#prefix}_flow`, "", 0);
  }

  #accessName(part: number): string {
    return part === 0 ? `${this.#prefix}_access` : `${this.#prefix}_access-${part}`;
  }

  #cookie(name: string, value: string, maxAge: number): string {
    const secure = this.#isSecure ? "; Secure" : "";
    return `${name}=${value}; Path=/; Max-Age=${maxAge}; HttpOnly; SameSite=Lax${secure}`;
  }
}

function splitOnce(text: string, separator: string): [string, string] {
  const at = text.indexOf(separator);
  return at < 0 ? [text, ""] : [text.slice(0, at), text.slice(at + 1)];
}
