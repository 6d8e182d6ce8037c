import type { Postern } from "./client.js";
import { PosternError } from "./errors.js";
import type { InboxMessage } from "./generated/types.js";

/** Which mail to wait for. */
export interface MailQuery {
  /** A recipient. */
  to?: string | undefined;
  /** A part of the subject in upper or lower case, or a pattern for it. */
  subject?: string | RegExp | undefined;
  /** Only mail captured after this time, or after this mail, which an earlier wait returned. */
  after?: Date | Mail | undefined;
  /** Milliseconds until the wait fails. Default: 30,000. */
  timeout?: number | undefined;
  /** As of `RequestOptions`. */
  project?: string | undefined;
  signal?: AbortSignal | undefined;
}

const TIMEOUT_MS = 30_000;
const POLL_MS = 200;
/** How many of the newest messages are considered. */
const LISTED = 100;
/** How many of the newest messages an error names. */
const NAMED = 5;

/** No mail arrived in time. The message names the newest mails in the inbox. */
export class MailNotFound extends PosternError {
  override name = "MailNotFound";
}

/** The key may not read codes and links in mail to customers. */
export class SecretsHidden extends PosternError {
  override name = "SecretsHidden";
}

/** A captured mail. */
export class Mail {
  constructor(
    /** The message as `inbox.get` returns it. */
    readonly message: InboxMessage,
  ) {}

  get subject(): string {
    return this.message.subject;
  }

  get recipients(): string[] {
    return this.message.recipients;
  }

  get capturedAt(): string {
    return this.message.capturedAt;
  }

  get text(): string {
    return this.message.text ?? "";
  }

  get html(): string {
    return this.message.html ?? "";
  }

  /**
   * The first number of six digits in the body or the subject. Throws SecretsHidden if this key may not read it, and
   * PosternError if there is none.
   */
  get code(): string {
    this.#requireSecrets();
    for (const part of [this.text, this.html.replace(/<style\b.*?<\/style>|<[^>]*>/gis, " "), this.subject]) {
      const [code] = /(?<![\w#&-])\d{6}(?![\w-])/.exec(part) ?? [];
      if (code) return code;
    }
    throw new PosternError(`The mail "${this.subject}" has no code of six digits.`);
  }

  /** The links, each once. Throws SecretsHidden if this key may not read them. */
  get links(): string[] {
    this.#requireSecrets();
    const inHtml = [...this.html.matchAll(/\shref\s*=\s*["'](https?:[^"']+)["']/gi)].map(([, link = ""]) =>
      link.replaceAll("&amp;", "&"),
    );
    const inText = [...this.text.matchAll(/https?:\/\/[^\s<>"')\]]+/g)].map(([link]) => link.replace(/[.,;:!?]+$/, ""));
    return [...new Set([...inHtml, ...inText])];
  }

  #requireSecrets(): void {
    if (!this.message.redacted) return;
    throw new SecretsHidden(
      `The codes and links in the mail "${this.subject}" are removed for this key. Create a key with the ` +
        'permissions "inbox:read" and "customers:impersonate", each by its name (no wildcard includes the second).',
    );
  }
}

/**
 * Wait for the newest mail in the capture inbox that fits, and return it. Throws MailNotFound after `timeout`.
 *
 * The client's key needs `inbox:read`, and `customers:impersonate` to read codes and links mailed to customers.
 */
export async function waitForMail(client: Pick<Postern, "inbox">, query: MailQuery = {}): Promise<Mail> {
  const { to, subject = "", after, timeout = TIMEOUT_MS, ...options } = query;
  const ends = Date.now() + timeout;
  const fits = (text: string) =>
    subject instanceof RegExp ? text.search(subject) >= 0 : text.toLowerCase().includes(subject.toLowerCase());
  const since = after instanceof Mail ? Date.parse(after.capturedAt) : (after?.getTime() ?? -Infinity);
  for (;;) {
    const page = await client.inbox.list({ limit: LISTED, ...(to && { q: to }) }, options);
    const entry = page.data.find(
      (each) =>
        Date.parse(each.capturedAt) >= since &&
        !(after instanceof Mail && each.id === after.message.id) &&
        (!to || each.recipients.some((recipient) => recipient.toLowerCase() === to.toLowerCase())) &&
        fits(each.subject),
    );
    if (entry) return new Mail(await client.inbox.get(entry.id, options));
    if (Date.now() > ends) break;
    await new Promise((resolve) => setTimeout(resolve, POLL_MS));
  }
  const newest = await client.inbox.list({ limit: NAMED }, options);
  const names = newest.data.map((each) => `"${each.subject}" to ${each.recipients.join(", ")}`).join("; ");
  const wanted = (to ? ` to ${to}` : "") + (subject ? ` with the subject ${subject}` : "");
  const from = after ? ` after ${after instanceof Mail ? `"${after.subject}"` : after.toISOString()}` : "";
  throw new MailNotFound(
    `No mail${wanted}${from} arrived in the inbox within ${timeout} ms. The newest there: ${names || "none"}. Mail is ` +
      "captured if the project's transport is `capture`, and if it is sent with a test key.",
  );
}

/** The headers that Postern would send with a webhook's body, for tests of your endpoint. `at` defaults to now. */
export async function signWebhook(
  body: string,
  secret: string,
  options: { id?: string | undefined; at?: Date | undefined } = {},
): Promise<{ "webhook-id": string; "webhook-timestamp": string; "webhook-signature": string }> {
  const id = options.id ?? "test";
  const timestamp = String(Math.floor((options.at ?? new Date()).getTime() / 1000));
  const bytes = Uint8Array.from(atob(secret.replace(/^whsec_/, "")), (character) => character.charCodeAt(0));
  const key = await crypto.subtle.importKey("raw", bytes, { name: "HMAC", hash: "SHA-256" }, false, ["sign"]);
  const signature = await crypto.subtle.sign("HMAC", key, new TextEncoder().encode(`${id}.${timestamp}.${body}`));
  return {
    "webhook-id": id,
    "webhook-timestamp": timestamp,
    "webhook-signature": `v1,${btoa(String.fromCharCode(...new Uint8Array(signature)))}`,
  };
}
