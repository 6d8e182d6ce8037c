import type { AccountProfile, Domain, EmailLogEntry, Passkey, Project, Webhook, WebhookDelivery } from "@postern/sdk";
import { BOUNCE_LIMIT, COMPLAINT_LIMIT, JUDGED_FROM } from "../../parts/rateLimits.ts";
import { type Counts, ratesOf } from "./period.ts";

/** This many e-mails that wait or failed are reported, or fewer if they are a large share of the day's. */
const MANY = 10;
const LARGE_SHARE = 0.2;

/** A webhook that fails or was switched off, with its newest delivery that waits for another attempt. */
export interface FailingWebhook {
  webhook: Webhook;
  waiting?: WebhookDelivery;
}

/** Something that a person should look at. */
export type Finding =
  | { kind: "email_unverified"; email: string }
  | { kind: "domain_stopped"; domain: Domain }
  | { kind: "domain_failing"; domain: Domain }
  | { kind: "webhook_disabled"; webhook: Webhook }
  | { kind: "webhook_failing"; failing: FailingWebhook }
  | { kind: "failed"; total: number; reason?: string }
  | { kind: "waiting"; total: number; reason?: string }
  | { kind: "bounces"; rate: number }
  | { kind: "complaints"; rate: number }
  | { kind: "captured"; chosen: boolean }
  | { kind: "one_factor" };

/** What the page has read; undefined while it is loading, or if it could not be read. */
export interface Facts {
  profile?: AccountProfile;
  project?: Project;
  passkeys?: Passkey[];
  /** Whether the dashboard is open on the machine of the server. */
  local: boolean;
  domains?: Domain[];
  webhooks?: FailingWebhook[];
  waiting?: { total?: number; data: EmailLogEntry[] };
  failed?: { total?: number; data: EmailLogEntry[] };
  sentToday?: number;
  /** The sums of the range. */
  counts?: Counts;
  /** How the newest mail went. */
  seen?: "capture" | "relay" | "direct";
}

/** The kinds, the worst first: what stopped, what will stop, what harms, what is only to be known. */
const ORDER: Finding["kind"][] = [
  "email_unverified",
  "domain_stopped",
  "webhook_disabled",
  "webhook_failing",
  "failed",
  "domain_failing",
  "waiting",
  "bounces",
  "complaints",
  "captured",
  "one_factor",
];

/** What the facts tell, the worst first. */
export function findingsOf(facts: Facts): Finding[] {
  const findings = [ofAccount, ofDomains, ofWebhooks, ofMail, ofSetup].flatMap((read) => read(facts));
  return findings.toSorted((first, second) => ORDER.indexOf(first.kind) - ORDER.indexOf(second.kind));
}

function ofAccount({ profile }: Facts): Finding[] {
  return profile && !profile.emailVerifiedAt ? [{ kind: "email_unverified", email: profile.email }] : [];
}

function ofDomains({ domains = [] }: Facts): Finding[] {
  const stopped = domains.filter((each) => each.status === "FAILED" || each.status === "DEGRADED");
  const failing = domains.filter((each) => each.status === "VERIFIED" && each.failingSince);
  return [
    ...stopped.map((domain): Finding => ({ kind: "domain_stopped", domain })),
    ...failing.map((domain): Finding => ({ kind: "domain_failing", domain })),
  ];
}

function ofWebhooks({ webhooks = [] }: Facts): Finding[] {
  return webhooks.map(
    (failing): Finding =>
      failing.webhook.active
        ? { kind: "webhook_failing", failing }
        : { kind: "webhook_disabled", webhook: failing.webhook },
  );
}

function ofMail({ failed, waiting, sentToday = 0, counts }: Facts): Finding[] {
  const findings: Finding[] = [];
  for (const [kind, list] of [
    ["failed", failed],
    ["waiting", waiting],
  ] as const) {
    const total = list?.total ?? list?.data.length ?? 0;
    if (isMany(total, sentToday)) findings.push({ kind, total, reason: commonReason(list?.data ?? []) });
  }
  const rates = counts && counts.sent + counts.bounced >= JUDGED_FROM ? ratesOf(counts) : undefined;
  if ((rates?.bounced ?? 0) > BOUNCE_LIMIT) findings.push({ kind: "bounces", rate: rates?.bounced ?? 0 });
  if ((rates?.complained ?? 0) > COMPLAINT_LIMIT) findings.push({ kind: "complaints", rate: rates?.complained ?? 0 });
  return findings;
}

function ofSetup({ project, seen, profile, passkeys, local }: Facts): Finding[] {
  const findings: Finding[] = [];
  const chosen = project?.settings.transport ?? undefined;
  if ((chosen ?? seen) === "capture") findings.push({ kind: "captured", chosen: chosen === "capture" });
  if (profile?.role === "OWNER" && !profile.mfaEnabledAt && passkeys?.length === 0 && !local)
    findings.push({ kind: "one_factor" });
  return findings;
}

/** Whether so many e-mails in trouble are worth a line, beside those of today that went well. */
export function isMany(total: number, well: number): boolean {
  return total >= MANY || (total > 0 && total / (total + well) >= LARGE_SHARE);
}

/** An address before a server's answer. */
const RECIPIENT = /^\S+@\S+: /;

/** The reason that most of these e-mails have, without the address of one of them. */
export function commonReason(sends: Pick<EmailLogEntry, "reason">[]): string | undefined {
  const counts = new Map<string, number>();
  for (const { reason } of sends) {
    const words = reason?.replace(RECIPIENT, "");
    if (words) counts.set(words, (counts.get(words) ?? 0) + 1);
  }
  return [...counts].sort(([, first], [, second]) => second - first)[0]?.[0];
}

const TEST_DOMAIN = "@postern.test";

/**
 * How the newest mail went that no TEST key sent; undefined if none tells. `captured` has the ids of captured sends, or
 * is undefined if it could not be read.
 */
export function transportSeen(
  newestFirst: EmailLogEntry[],
  captured: (string | null)[] | undefined,
): "capture" | "relay" | "direct" | undefined {
  for (const { id, test, status, to, cc, bcc } of newestFirst) {
    if (test || [...to, ...cc, ...bcc].every((address) => address.endsWith(TEST_DOMAIN))) continue;
    // A relay only accepts a message. That it was delivered is known of captured ones, and if there was no relay.
    if (status === "SENT") return "relay";
    if (status === "DELIVERED") return captured && (captured.includes(id) ? "capture" : "direct");
  }
  return undefined;
}
