import { PosternError } from "./errors.js";
import type { WebhookEvent } from "./generated/types.js";

export type * from "./generated/types.js";

/** The headers of a request: `Headers`, or an object as of Node.js, Express and Next. */
export type WebhookHeaders =
  { get(name: string): string | null } | { readonly [name: string]: string | readonly string[] | undefined };

/** A webhook request is not from Postern, is too old, or is incomplete. */
export class WebhookVerificationError extends PosternError {
  override name = "WebhookVerificationError";
}

/** Options of `verify`. */
export interface WebhookOptions {
  /** How far `webhook-timestamp` may be from now, in both directions. Default: 300 seconds. */
  toleranceSeconds?: number | undefined;
}

const TOLERANCE_SECONDS = 300;

/**
 * Check the signature and the time of a webhook request (Standard Webhooks) and return its event.
 *
 * `body` is the body as it was received, not parsed. While a secret is rotated, `secret` may be a list. Throws
 * WebhookVerificationError with the reason. The event's `type` may be one that this version does not know yet.
 */
export async function verify(
  body: string | Uint8Array | ArrayBuffer,
  headers: WebhookHeaders,
  secret: string | readonly string[],
  options: WebhookOptions = {},
): Promise<WebhookEvent> {
  const [id, timestamp, signatures] = ["id", "timestamp", "signature"].map((name) => {
    const value = header(headers, `webhook-${name}`) ?? header(headers, `svix-${name}`);
    if (!value) throw new WebhookVerificationError(`The header webhook-${name} is missing.`);
    return value;
  }) as [string, string, string];
  const age = Math.abs(Date.now() / 1000 - Number(timestamp));
  if (!/^\d+$/.test(timestamp)) throw new WebhookVerificationError("The header webhook-timestamp is not a number.");
  if (age > (options.toleranceSeconds ?? TOLERANCE_SECONDS)) {
    throw new WebhookVerificationError(`The time of the request, ${timestamp}, is too far from that of this machine.`);
  }
  const payload = typeof body === "string" ? new TextEncoder().encode(body) : new Uint8Array(body);
  const prefix = new TextEncoder().encode(`${id}.${timestamp}.`);
  const signed = new Uint8Array(prefix.length + payload.length);
  signed.set(prefix);
  signed.set(payload, prefix.length);
  const known = signatures.split(" ").filter((each) => each.startsWith("v1,"));
  if (!known.length) throw new WebhookVerificationError("The header webhook-signature has no signature of version v1.");
  for (const each of typeof secret === "string" ? [secret] : secret) {
    const bytes = decode(each.replace(/^whsec_/, ""));
    if (!bytes?.length) throw new WebhookVerificationError("The secret is not base64; copy it with its prefix whsec_.");
    const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["verify"]);
    for (const signature of known) {
      const expected = decode(signature.slice(3));
      // WebCrypto compares in constant time.
      if (expected && (await crypto.subtle.verify("HMAC", key, expected, signed))) return parse(payload);
    }
  }
  throw new WebhookVerificationError(
    "No signature fits the body and the secret. The body must be the bytes as received.",
  );
}

function parse(payload: Uint8Array): WebhookEvent {
  try {
    return JSON.parse(new TextDecoder().decode(payload)) as WebhookEvent;
  } catch (error) {
    throw new WebhookVerificationError("The signature is valid, but the body is not JSON.", { cause: error });
  }
}

function header(headers: WebhookHeaders, name: string): string | undefined {
  if (typeof headers.get === "function")
    return (headers as { get(name: string): string | null }).get(name) ?? undefined;
  for (const [key, value] of Object.entries(headers)) {
    if (key.toLowerCase() === name) return Array.isArray(value) ? value.join(" ") : (value as string | undefined);
  }
  return undefined;
}

function decode(base64: string): Uint8Array<ArrayBuffer> | undefined {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
  } catch {
    return undefined;
  }
}
