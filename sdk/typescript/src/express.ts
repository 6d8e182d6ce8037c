/**
 * Sign-in for Express.
 *
 * ```ts
 * const signIn = createSignIn();
 * app.use(signIn.router, signIn.middleware);
 * app.get("/reports", signIn.requirePermission("reports:read"), (request, response) => {
 *   response.send(`Reports of ${request.customer?.organization?.name}`);
 * });
 * ```
 */

import { isRecord } from "./internal.js";
import { type CustomerSession, SessionError } from "./sessions.js";
import { type Authentication, FORM_LIMIT, NOT_CACHED, SignIn, type SignInOptions, variesByCustomer } from "./sign-in.js";

declare global {
  namespace Express {
    interface Request {
      /** The signed-in customer; null without one. Set by the middleware of `@postern/sdk/express`. */
      customer?: CustomerSession | null;
    }
  }
}

/** What is read of a request of Node.js. */
export interface NodeRequest extends AsyncIterable<unknown> {
  method?: string | undefined;
  url?: string | undefined;
  headers: Record<string, string | string[] | undefined>;
  customer?: CustomerSession | null;
}

/** What is written to a response of Node.js. */
export interface NodeResponse {
  statusCode: number;
  getHeader(name: string): number | string | string[] | undefined;
  setHeader(name: string, value: string): unknown;
  appendHeader(name: string, value: string): unknown;
  // Node.js declares this with overloads.
  writeHead(status: number, ...rest: any[]): any;
  end(body?: Uint8Array): unknown;
}

/** A request handler of Express, or of another framework with the same signature. */
export type ExpressHandler = (request: NodeRequest, response: NodeResponse, next: (error?: unknown) => void) => void;

/** The sign-in of an Express application. */
export interface ExpressSignIn {
  readonly signIn: SignIn;
  /** Answers the routes of the sign-in. */
  readonly router: ExpressHandler;
  /** Sets `request.customer`, and refreshes the session when its access token expires. */
  readonly middleware: ExpressHandler;
  /** Lets only signed-in customers pass; others are sent to the sign-in page, or get 401. */
  readonly requireCustomer: ExpressHandler;
  /** Lets only customers pass who have the permission; others get 403. */
  requirePermission(permission: string): ExpressHandler;
}

/** Makes the sign-in of an Express application. Settings that are not given come from the environment. */
export function createSignIn(options: SignInOptions = {}): ExpressSignIn {
  const addresses = new WeakMap<object, string>();
  const signIn = new SignIn({ visitorAddress: (request) => addresses.get(request), ...options });
  const authentications = new WeakMap<NodeRequest, Authentication>();

  function convert(request: NodeRequest, body?: Uint8Array<ArrayBuffer>): Request {
    const converted = toWebRequest(request, body);
    const { ip } = request as { ip?: string };
    if (ip) addresses.set(converted, ip);
    return converted;
  }

  /** Authenticates a request once, and sets `request.customer` and the response's cookies. */
  async function authenticate(request: NodeRequest, response: NodeResponse): Promise<Authentication> {
    let authentication = authentications.get(request);
    if (!authentication) {
      authentication = await signIn.authenticate(convert(request));
      authentications.set(request, authentication);
      request.customer = authentication.session;
      personalise(response, authentication.cookies);
    }
    return authentication;
  }

  /** The response that refuses a request; null if its customer has the permission. */
  async function refusal(request: NodeRequest, response: NodeResponse, permission?: string): Promise<Response | null> {
    const authentication = await authenticate(request, response);
    try {
      signIn.require(authentication, permission);
      return null;
    } catch (error) {
      if (error instanceof SessionError) return signIn.refuse(convert(request), error);
      throw error;
    }
  }

  async function answer(request: NodeRequest): Promise<Response | null> {
    if (!signIn.isOwnRoute(convert(request))) return null;
    return signIn.handle(convert(request, request.method === "POST" ? await readBody(request) : undefined));
  }

  /** A handler that sends the response of `respond`, or continues with the next handler if that is null. */
  function handler(respond: (request: NodeRequest, response: NodeResponse) => Promise<Response | null>): ExpressHandler {
    return (request, response, next) => {
      respond(request, response).then(
        (answered) => (answered ? send(response, answered).catch(next) : next()),
        next,
      );
    };
  }

  return {
    signIn,
    router: handler(answer),
    middleware: handler(async (request, response) => {
      if (!signIn.isOwnRoute(convert(request))) await authenticate(request, response);
      return null;
    }),
    requireCustomer: handler((request, response) => refusal(request, response)),
    requirePermission: (permission) => handler((request, response) => refusal(request, response, permission)),
  };
}

function toWebRequest(request: NodeRequest, body?: Uint8Array<ArrayBuffer>): Request {
  const { originalUrl, protocol } = request as { originalUrl?: string; protocol?: string };
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers)) {
    for (const text of Array.isArray(value) ? value : [value]) if (text !== undefined) headers.append(name, text);
  }
  const host = headers.get("host") ?? "";
  const origin = `${protocol === "https" ? "https" : "http"}://${URL.canParse(`http://${host}`) ? host : "invalid"}`;
  const path = originalUrl ?? request.url ?? "/";
  const url = path.startsWith("/") ? origin + path : path;
  return new Request(url, { method: request.method ?? "GET", headers, ...(body && { body }) });
}

/** The body of a form, which another middleware may have parsed. */
async function readBody(request: NodeRequest): Promise<Uint8Array<ArrayBuffer>> {
  const { body } = request as { body?: unknown };
  if (body !== undefined) {
    const isJson = /json/i.test(String(request.headers["content-type"]));
    const text = isRecord(body) && !isJson ? String(new URLSearchParams(body as Record<string, string>)) : undefined;
    return new TextEncoder().encode(text ?? (typeof body === "string" ? body : JSON.stringify(body)));
  }
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request) {
    chunks.push(chunk as Uint8Array);
    size += (chunk as Uint8Array).byteLength;
    if (size > FORM_LIMIT) break; // The rest is not read, and the form is refused.
  }
  return new Uint8Array(await new Blob(chunks as BlobPart[]).arrayBuffer());
}

/**
 * Gives a response the session's cookies, and headers that keep caches from giving it to another person. They are added
 * when the headers are written, because handlers may replace headers.
 */
function personalise(response: NodeResponse, cookies: readonly string[]): void {
  const writeHead = response.writeHead;
  response.writeHead = (status, ...rest) => {
    response.writeHead = writeHead;
    const given: unknown = rest.at(-1);
    if (typeof given === "object" && given !== null) {
      rest.pop();
      for (const [name, values] of givenHeaders(given)) {
        values.forEach((value, index) => (index ? response.appendHeader(name, value) : response.setHeader(name, value)));
      }
    }
    const names = new Set(headerValues(response, "set-cookie").map(cookieName));
    for (const cookie of cookies) if (!names.has(cookieName(cookie))) response.appendHeader("set-cookie", cookie);
    const caching = headerValues(response, "cache-control").join();
    if (cookies.length && !/\b(private|no-store)\b/i.test(caching)) response.setHeader("cache-control", NOT_CACHED);
    response.setHeader("vary", variesByCustomer(headerValues(response, "vary").join(", ")));
    return writeHead.call(response, status, ...rest);
  };
}

/** The headers that `writeHead` was called with: an object, an array of pairs, or an array of names and values. */
function givenHeaders(given: object): Map<string, string[]> {
  let pairs: unknown[][] = Object.entries(given);
  if (Array.isArray(given)) {
    const list: unknown[] = given;
    pairs = list.every(Array.isArray) ? (list as unknown[][]) : list.flatMap((name, at) => (at % 2 ? [] : [[name, list[at + 1]]]));
  }
  const headers = new Map<string, string[]>();
  for (const [name, value] of pairs) {
    const key = String(name).toLowerCase();
    headers.set(key, [...(headers.get(key) ?? []), ...(Array.isArray(value) ? value : [value]).map(String)]);
  }
  return headers;
}

function headerValues(response: NodeResponse, name: string): string[] {
  const value = response.getHeader(name);
  return value === undefined ? [] : (Array.isArray(value) ? value : [value]).map(String);
}

function cookieName(cookie: string): string {
  return (cookie.split("=", 1)[0] ?? "").trim();
}

async function send(response: NodeResponse, answered: Response): Promise<void> {
  response.statusCode = answered.status;
  for (const [name, value] of answered.headers) {
    if (name === "set-cookie") response.appendHeader(name, value);
    else response.setHeader(name, value);
  }
  response.end(new Uint8Array(await answered.arrayBuffer()));
}
