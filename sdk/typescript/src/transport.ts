import {
  APIError,
  ConfigurationError,
  ConnectionFailed,
  errorOfStatus,
  InvalidResponse,
  PosternError,
  RequestTimedOut,
} from "./errors.js";
import { PROBLEMS } from "./generated/problems.js";
import { environment, isLoopback, isRecord } from "./internal.js";
import type { ClientOptions, RawBody, RequestOptions } from "./options.js";
import { VERSION } from "./version.js";

/** What a request sends and how its response is read; see `generated/operations.ts`. */
export interface Request {
  method: string;
  /** Path and query. */
  path: string;
  flags: string;
  body: RawBody | URLSearchParams | undefined;
  contentType: string | undefined;
  options: RequestOptions;
}

/** A successful response; `body` is what the method returns. */
export interface Answer {
  body: unknown;
  headers: Headers;
}

/** `Retry-After` above this ends the call at once. */
const MAX_WAIT_MS = 60_000;
const BACKOFF_MS = 500;
const SHOWN_CHARACTERS = 200;
const TRANSIENT = [429, 502, 503, 504];
/** Failures of Node.js, Deno and Bun before anything was sent. */
const NOT_SENT =
  /ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ENETUNREACH|EHOSTUNREACH|CONNECT_TIMEOUT|ConnectionRefused|tcp connect|dns error/;

/** Headers by the result of a call, for `headersOf` and `ifMatch`. */
const HEADERS = new WeakMap<object, Headers>();

/** The headers of the response that brought a result, such as `etag`, `ratelimit` and `x-request-id`. */
export function headersOf(result: object): Headers | undefined {
  return HEADERS.get(result);
}

/** Sends requests to one server: credentials, time limits, repetition and errors. */
export class Transport {
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.#options = options;
  }

  /** An option of the call or the client, or its environment variable. Throws ConfigurationError if it is missing. */
  setting(name: "url" | "project", call: { project?: string | undefined } = {}): string {
    const value = (name === "project" && call.project) || this.#options[name] || environment(variable(name));
    if (!value) throw missing(name);
    return value;
  }

  /** Send a request, repeatedly if that is safe. */
  async send(request: Request): Promise<Answer> {
    const { method, flags, options } = request;
    const server = this.setting("url");
    if (!/^https?:\/\/[^/]/.test(server))
      throw new ConfigurationError(`The option \`url\` is not an http URL: ${server}`);
    const url = server.replace(/\/+$/, "") + request.path;
    const idempotencyKey = flags.includes("i") ? (options.idempotencyKey ?? randomKey()) : undefined;
    const repeatable = (method === "GET" || idempotencyKey !== undefined) && !(request.body instanceof ReadableStream);
    const retries = repeatable ? (options.retries ?? this.#options.retries ?? 2) : 0;
    for (let attempt = 0; ; attempt++) {
      try {
        return await this.#attempt(url, request, idempotencyKey);
      } catch (error) {
        const wait = attempt < retries ? waitBefore(error, attempt) : undefined;
        if (wait === undefined) throw error;
        await sleep(wait, options.signal);
      }
    }
  }

  async #attempt(url: string, request: Request, idempotencyKey: string | undefined): Promise<Answer> {
    const { method, flags, body, options } = request;
    const { signal } = options;
    const init: RequestInit & { duplex?: "half" } = { method, redirect: "manual" };
    init.headers = await this.#headers(url, request, idempotencyKey);
    if (body !== undefined) init.body = body as NonNullable<RequestInit["body"]>;
    if (body instanceof ReadableStream) init.duplex = "half";
    signal?.throwIfAborted();

    const controller = new AbortController();
    const abort = () => controller.abort(signal?.reason);
    signal?.addEventListener("abort", abort);
    const timeout = options.timeout ?? this.#options.timeout ?? 30_000;
    let timedOut = false;
    const timer = setTimeout(() => {
      timedOut = true;
      controller.abort();
    }, timeout);
    init.signal = controller.signal;

    const isRead = method === "GET";
    let response: Response | undefined;
    try {
      response = await (this.#options.fetch ?? fetch)(url, init);
      return await read(response, url, flags);
    } catch (error) {
      if (error instanceof PosternError) throw error;
      signal?.throwIfAborted();
      const name = `${method} ${new URL(url).pathname}`;
      const again = idempotencyKey ? ` Repeat it only with the same Idempotency-Key, ${idempotencyKey}.` : "";
      if (timedOut) {
        const executed = isRead ? "" : ` It may have been executed.${again}`;
        const message = `${name} was not answered within ${timeout} ms.${executed}`;
        throw new RequestTimedOut(message, !isRead, idempotencyKey, error);
      }
      if (response) {
        const requestId = response.headers.get("x-request-id") ?? undefined;
        const executed = isRead ? "" : ` The server reported success: the change may have been made.${again}`;
        const id = requestId ? ` [request ${requestId}]` : "";
        const message = `The response to ${name} is incomplete or is not JSON.${executed}${id}`;
        throw new InvalidResponse(message, response.status, requestId, idempotencyKey, error);
      }
      const reason = causes(error);
      const maybe = !isRead && !NOT_SENT.test(reason);
      const executed = maybe ? ` The request may have been executed.${again}` : "";
      throw new ConnectionFailed(`${name} got no response (${reason}).${executed}`, maybe, idempotencyKey, error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener("abort", abort);
    }
  }

  async #headers(
    url: string,
    request: Request,
    idempotencyKey: string | undefined,
  ): Promise<{ [name: string]: string }> {
    const { options, flags, contentType } = request;
    const headers: { [name: string]: string } = {};
    const further = new Headers(options.headers);
    if (!globalThis.navigator?.userAgent?.startsWith("Mozilla/"))
      headers["user-agent"] = `postern-typescript/${VERSION}`;
    if (contentType) headers["content-type"] = contentType;
    if (idempotencyKey) headers["idempotency-key"] = idempotencyKey;
    if (options.prefer) headers.prefer = options.prefer;
    const { ifMatch } = options;
    if (ifMatch !== undefined) {
      const etag = typeof ifMatch === "string" ? ifMatch : HEADERS.get(ifMatch)?.get("etag");
      if (!etag) throw new PosternError("`ifMatch` is not a record of this client with an ETag.");
      headers["if-match"] = etag;
    }
    const source = options.key ?? this.#options.key ?? environment(variable("key"));
    const key = typeof source === "function" ? await source() : source;
    if (key) {
      const { protocol, hostname } = new URL(url);
      if (protocol !== "https:" && !isLoopback(hostname) && !this.#options.insecure) {
        throw new ConfigurationError(
          `A key is not sent to ${hostname} over ${protocol} Use https, or the option \`insecure\`.`,
        );
      }
      headers.authorization = `Bearer ${key}`;
    } else if (!flags.includes("n") && !further.has("authorization")) {
      throw missing("key");
    }
    return { ...headers, ...Object.fromEntries(further) };
  }
}

/** The result of a response. Throws APIError for errors; other exceptions mean that the body is truncated or invalid. */
async function read(response: Response, url: string, flags: string): Promise<Answer> {
  const { status, headers } = response;
  if (response.type === "opaqueredirect") {
    throw new PosternError(`${url} redirects, and browsers do not show scripts where to: open the URL instead.`);
  }
  if (status >= 300 && status < 400 && /[RT]/.test(flags)) {
    await response.body?.cancel();
    return { body: new URL(headers.get("location") ?? "", url).href, headers };
  }
  if (!response.ok) throw await readError(response);
  if (flags.includes("B")) return { body: new Uint8Array(await response.arrayBuffer()), headers };
  const text = await response.text();
  if (flags.includes("E")) return { body: undefined, headers };
  const body: unknown = flags.includes("T") ? text : JSON.parse(text);
  if (typeof body === "object" && body !== null) HEADERS.set(body, headers);
  return { body, headers };
}

async function readError(response: Response): Promise<APIError> {
  const { status, headers } = response;
  // The status says enough if the body is cut off.
  const text = await response.text().catch(() => "");
  let problem: { [member: string]: unknown } | undefined;
  try {
    const document: unknown = JSON.parse(text);
    if (isRecord(document)) problem = document;
  } catch {
    // Not from Postern, such as the HTML page of a proxy.
  }
  problem ??= { title: response.statusText, detail: text.slice(0, SHOWN_CHARACTERS) };
  const name =
    typeof problem.code === "string"
      ? problem.code.replace(/(?:^|_)(\w)/g, (_, first: string) => first.toUpperCase())
      : "";
  const known = Object.hasOwn(PROBLEMS, name) ? PROBLEMS[name as keyof typeof PROBLEMS] : undefined;
  const error = new (known ?? errorOfStatus(status))(status, problem, headers);
  if (known) error.name = name;
  return error;
}

/** Milliseconds before the next attempt; undefined if the error is final. */
function waitBefore(error: unknown, attempt: number): number | undefined {
  if (error instanceof APIError) {
    if (!TRANSIENT.includes(error.status) && error.code !== "idempotency_key_in_progress") return undefined;
    const after = error.headers.get("retry-after");
    const wait =
      after === null ? NaN : /^\s*\d+\s*$/.test(after) ? Number(after) * 1000 : Date.parse(after) - Date.now();
    if (!Number.isNaN(wait)) return wait > MAX_WAIT_MS ? undefined : Math.max(wait, 0);
  } else if (!(error instanceof ConnectionFailed || error instanceof InvalidResponse)) {
    return undefined;
  }
  return Math.random() * BACKOFF_MS * 2 ** attempt;
}

function sleep(milliseconds: number, signal: AbortSignal | undefined): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = () => {
      clearTimeout(timer);
      reject(signal?.reason);
    };
    const timer = setTimeout(() => {
      signal?.removeEventListener("abort", abort);
      resolve();
    }, milliseconds);
    signal?.addEventListener("abort", abort, { once: true });
    if (signal?.aborted) abort();
  });
}

/** The messages and codes of an error and its causes, in which the run-times hide why `fetch` failed. */
function causes(error: unknown): string {
  const parts: string[] = [];
  for (let each = error; each instanceof Error; each = each.cause) {
    const { code } = each as { code?: unknown };
    parts.push(
      typeof code === "string" && !each.message.includes(code) ? `${each.message} ${code}`.trim() : each.message,
    );
  }
  return parts.join(": ") || String(error);
}

/** A new idempotency key. `crypto.randomUUID` is missing on pages without TLS. */
function randomKey(): string {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function variable(name: "url" | "key" | "project"): string {
  return `POSTERN_${name.toUpperCase()}`;
}

function missing(name: "url" | "key" | "project"): ConfigurationError {
  return new ConfigurationError(
    `The option \`${name}\` is missing: pass it to \`new Postern\` or set ${variable(name)}.`,
  );
}
