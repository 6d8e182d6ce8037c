import { APIError, ConnectionFailed, Postern } from "@postern/sdk";
import { createSignal } from "./signal";

/** The API under the dashboard's own prefix, which adds the session of its cookie to each request. */
export const API = "/dashboard/api";
/** Sent with every request: a form of another site cannot set it. */
const OWN_HEADER = "X-Postern-Dashboard";
/** Milliseconds for one attempt, without the time in which a person signs in again. */
const ATTEMPT_MS = 30_000;
/** Milliseconds after which the client gives up, with the time in which a person signs in again. */
const CALL_MS = 3_600_000;
const PROBE_MS = 2_000;

/** Whether the server answers. */
export const reachable = createSignal(true);
/** Whether a request waits for a person to sign in again. */
export const signedOut = createSignal(false);

let signedIn: (() => void)[] = [];

/** Let the requests go on that wait since the session ended. */
export function resume(): void {
  const waiting = signedIn;
  signedIn = [];
  signedOut.set(false);
  for (const each of waiting) each();
}

const clients = new Map<string, Postern>();

/** The client for one project; without one, for what belongs to the developer's account. */
export function api(project = ""): Postern {
  let client = clients.get(project);
  if (!client) {
    const url = location.origin + API;
    // The key is a placeholder that `send` drops: the session is in a cookie which scripts cannot read.
    client = new Postern({
      url,
      key: "cookie",
      insecure: true,
      fetch: (url, init) => send(url, init),
      timeout: CALL_MS,
      project: project || undefined,
    });
    clients.set(project, client);
  }
  return client;
}

/** Milliseconds for which a request without a response counts as the same when it is sent again. */
const UNCERTAIN_MS = 600_000;
/** The idempotency keys of requests that may have been executed although nobody knows. */
const uncertain = new Map<string, { key: string; at: number }>();

/** What is sent again, such as an e-mail after a lost response, has the idempotency key of the first time. */
function sameKey(url: string, { method, body }: RequestInit, headers: Headers) {
  const own = headers.get("idempotency-key");
  if (!own || typeof body !== "string") return { failed: () => {}, answered: () => {} };
  const name = `${method} ${url} ${body}`;
  const before = uncertain.get(name);
  const key = before && Date.now() - before.at < UNCERTAIN_MS ? before.key : own;
  headers.set("idempotency-key", key);
  return {
    failed: () => {
      for (const [each, { at }] of uncertain) if (Date.now() - at >= UNCERTAIN_MS) uncertain.delete(each);
      uncertain.set(name, { key, at: Date.now() });
    },
    answered: () => uncertain.delete(name),
  };
}

/**
 * Fetch below the prefix. If the session has ended, wait until someone has signed in, then send the request again.
 * One attempt, with the body of its response, may take `limit` milliseconds.
 */
export async function send(url: string, init: RequestInit, limit = ATTEMPT_MS): Promise<Response> {
  const headers = new Headers(init.headers);
  headers.delete("authorization");
  headers.set(OWN_HEADER, "1");
  const outcome = sameKey(url, init, headers);
  for (;;) {
    const response = await attempt(url, { ...init, headers }, limit).catch((error: unknown) => {
      outcome.failed();
      throw error;
    });
    // A proxy answers while the server is away.
    if (response.status >= 500) outcome.failed();
    // The others do not say what became of an attempt before: it may be under way.
    else if (![401, 409, 429].includes(response.status)) outcome.answered();
    if (response.status !== 401 || !started || !(await isEnded(response))) return response;
    signedOut.set(true);
    await new Promise<void>((resolve) => signedIn.push(resolve));
  }
}

async function attempt(url: string, init: RequestInit, limit: number): Promise<Response> {
  const timeout = AbortSignal.timeout(limit);
  const signal = init.signal ? AbortSignal.any([init.signal, timeout]) : timeout;
  try {
    const response = await fetch(url, { ...init, signal, credentials: "same-origin", cache: "no-store" });
    reachable.set(true);
    return response;
  } catch (error) {
    if (!init.signal?.aborted) unreachable();
    throw error;
  }
}

/** Whether a response of status 401 says that there is no session, and not that a password or a code is wrong. */
async function isEnded(response: Response): Promise<boolean> {
  const problem: unknown = await response
    .clone()
    .json()
    .catch(() => undefined);
  const code = typeof problem === "object" && problem !== null && "code" in problem ? problem.code : undefined;
  return code === "session_ended" || code === "credential_missing";
}

/** Whether this page has had a session. Before, the router leads to the sign-in page instead. */
let started = false;
export function sessionStarted(): void {
  started = true;
}

let probing = false;

/** Ask the server at intervals whether it is back. */
function unreachable(): void {
  reachable.set(false);
  if (probing) return;
  probing = true;
  const probe = async () => {
    try {
      await fetch("/healthz", { cache: "no-store", signal: AbortSignal.timeout(PROBE_MS) });
      probing = false;
      reachable.set(true);
    } catch {
      setTimeout(probe, PROBE_MS);
    }
  };
  setTimeout(probe, PROBE_MS);
}

/** What a person can read of an error: the sentence of the problem document, or why there was no response. */
export function messageOf(error: unknown): string {
  if (error instanceof APIError)
    return error.errors.length ? error.errors.map((each) => each.message).join(" ") : error.detail || error.message;
  if (error instanceof ConnectionFailed) return error.message;
  return error instanceof Error ? error.message : String(error);
}
