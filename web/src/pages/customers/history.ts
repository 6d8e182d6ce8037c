import type { Customer, TimelineEntry } from "@postern/sdk";

export type State = "blocked" | "locked" | "unconfirmed" | "active";

/** How an account stands at this moment. */
export function stateOf(customer: Customer, now = Date.now()): State {
  const { bannedAt, banExpiresAt, signInLockedUntil, email, emailVerifiedAt } = customer;
  if (bannedAt && !(banExpiresAt && Date.parse(banExpiresAt) <= now)) return "blocked";
  if (signInLockedUntil && Date.parse(signInLockedUntil) > now) return "locked";
  return email && !emailVerifiedAt ? "unconfirmed" : "active";
}

const BROWSERS: [RegExp, string][] = [
  [/Edg(e|A|iOS)?\//, "Edge"],
  [/OPR\/|Opera/, "Opera"],
  [/SamsungBrowser\//, "Samsung Internet"],
  [/Firefox\/|FxiOS\//, "Firefox"],
  [/Chrome\/|CriOS\//, "Chrome"],
  [/Version\/[\d.]+.* Safari\//, "Safari"],
];

const SYSTEMS: [RegExp, string][] = [
  [/iPhone/, "iPhone"],
  [/iPad/, "iPad"],
  [/Android/, "Android"],
  [/Windows/, "Windows"],
  [/Mac OS X|Macintosh/, "Mac"],
  [/CrOS/, "ChromeOS"],
  [/Linux/, "Linux"],
];

/** A browser and its system by the `User-Agent` header; other programs by their own name. */
export function deviceOf(userAgent: string): { browser: string; system: string | undefined; isPhone: boolean } {
  const browser = BROWSERS.find(([pattern]) => pattern.test(userAgent))?.[1];
  const system = SYSTEMS.find(([pattern]) => pattern.test(userAgent))?.[1];
  return {
    browser: browser ?? /^[\w.-]+/.exec(userAgent)?.[0] ?? "",
    system: browser ? system : undefined,
    isPhone: /iPhone|iPad|Android/.test(userAgent),
  };
}

export type Kind = "emails" | "signins" | "changes";

const SIGN_IN = /^(session\.|customer\.(signed_|sign_in_|locked$|unlocked$|session))/;

export function kindOf({ kind, type }: TimelineEntry): Kind {
  if (kind === "EMAIL") return "emails";
  return SIGN_IN.test(type) ? "signins" : "changes";
}

/** The entries without the events that a session says better: each sign-in begins one. */
export function withoutDoubles(entries: TimelineEntry[]): TimelineEntry[] {
  const sessions = new Set(entries.filter((each) => each.kind === "SESSION").map((each) => each.occurredAt));
  return entries.filter((each) => each.type !== "customer.signed_in" || !sessions.has(each.occurredAt));
}

/** The entries by their day in the viewer's time zone, in their order. */
export function byDay<T extends { occurredAt: string }>(entries: T[]): { day: string; entries: T[] }[] {
  const days: { day: string; entries: T[] }[] = [];
  for (const entry of entries) {
    const day = new Date(entry.occurredAt).toDateString();
    const last = days.at(-1);
    if (last?.day === day) last.entries.push(entry);
    else days.push({ day, entries: [entry] });
  }
  return days;
}

/** What has to be sent so that the stored metadata become the edited: null removes a name. Undefined if nothing. */
export function metadataChange(
  stored: Record<string, unknown>,
  edited: Record<string, unknown>,
): Record<string, unknown> | undefined {
  const change: Record<string, unknown> = {};
  for (const name of Object.keys(stored)) if (!(name in edited)) change[name] = null;
  for (const [name, value] of Object.entries(edited))
    if (JSON.stringify(stored[name]) !== JSON.stringify(value)) change[name] = value;
  return Object.keys(change).length ? change : undefined;
}

/** A JSON object that someone wrote; undefined if it is none. */
export function objectIn(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text || "{}");
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}
