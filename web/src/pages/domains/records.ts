import type { DmarcSummary, DnsRecord, Domain, Finding } from "@postern/sdk";

/** Characters of one string of a TXT record (RFC 1035 §3.3). */
const TXT_STRING = 255;
/** Seconds for which servers keep a record of the zone file. */
const TTL_SECONDS = 3600;

/** A piece of a value, and whether the other value does not have it. */
export interface Piece {
  text: string;
  differs: boolean;
}

/** Two values cut into what they have in common at both ends, and what differs between. */
export function difference(found: string, expected: string): { found: Piece[]; expected: Piece[] } {
  const most = Math.min(found.length, expected.length);
  let start = 0;
  while (start < most && found[start] === expected[start]) start++;
  let end = 0;
  while (end < most - start && found.at(-1 - end) === expected.at(-1 - end)) end++;
  const cut = (text: string): Piece[] =>
    [
      { text: text.slice(0, start), differs: false },
      { text: text.slice(start, text.length - end), differs: true },
      { text: text.slice(text.length - end), differs: false },
    ].filter((each) => each.text);
  return { found: cut(found), expected: cut(expected) };
}

/** An SPF record with the terms of another one in front of its `all`: a domain may have only one SPF record. */
export function mergedSpf(found: string, expected: string): string {
  const terms = found.split(/\s+/).filter(Boolean);
  const missing = expected
    .split(/\s+/)
    .slice(1)
    .filter((term) => !/^[-~?+]?all$/i.test(term) && !terms.some((each) => same(each, term)));
  const all = terms.findIndex((term) => /^[-~?+]?all$/i.test(term) || /^redirect=/i.test(term));
  const at = all < 0 ? terms.length : all;
  return [...terms.slice(0, at), ...missing, ...terms.slice(at)].join(" ");
}

function same(first: string, second: string): boolean {
  return first.toLowerCase().replace(/^\+/, "") === second.toLowerCase().replace(/^\+/, "");
}

/** The record that is published in place of this one, if any: what a person would edit. */
export function foundValue({ type, found }: DnsRecord): string | undefined {
  return type === "TXT" ? (found.find((each) => /^v=/i.test(each)) ?? found[0]) : found[0];
}

/** The value to publish: that of the API, with what an SPF record of the domain already permits. */
export function toPublish(record: DnsRecord): string {
  const found = record.purpose === "SPF" && record.status === "WRONG" && foundValue(record);
  return found && /^v=spf1(\s|$)/i.test(found) ? mergedSpf(found, record.value) : record.value;
}

/** The domain and those above it, as DNS may be kept for them, the longest first: `news.acme.example`, `acme.example`. */
export function zonesOf(domain: string): string[] {
  const labels = domain.split(".");
  return labels
    .map((_, from) => labels.slice(from))
    .filter(
      (rest) => rest.length > 2 || (rest.length === 2 && !isCountryCategory(rest)) || rest.length === labels.length,
    )
    .map((rest) => rest.join("."));
}

/** Whether two labels are a category under which a country registers names, such as `co.uk`. */
function isCountryCategory([category = "", country = ""]: string[]): boolean {
  return category.length <= 3 && country.length === 2;
}

/** A name as it is entered where DNS is kept for `zone`: without it, or `@` for the zone itself. */
export function nameIn(name: string, zone: string | undefined): string {
  if (!zone) return name;
  if (name === zone) return "@";
  return name.endsWith(`.${zone}`) ? name.slice(0, -zone.length - 1) : name;
}

/** The records as lines of a zone file (RFC 1035 §5.1), which DNS programs and providers import. */
export function zoneFile(records: DnsRecord[]): string {
  return `${records.map((record) => [`${record.name}.`, TTL_SECONDS, "IN", record.type, dataOf(record)].join("\t")).join("\n")}\n`;
}

function dataOf(record: DnsRecord): string {
  const value = toPublish(record);
  if (record.type !== "TXT") return value.endsWith(".") ? value : `${value}.`;
  const strings = value.match(new RegExp(`.{1,${TXT_STRING}}`, "gs")) ?? [""];
  return strings.map((each) => `"${each.replace(/["\\]/g, "\\$&")}"`).join(" ");
}

export type Policy = "none" | "quarantine" | "reject";

/** What a published DMARC record asks receivers to do with mail that fails the checks. */
export function policyOf(found: string[]): Policy | undefined {
  const policy = found
    .map((each) => /(?:^|;)\s*p\s*=\s*(none|quarantine|reject)\b/i.exec(each)?.[1]?.toLowerCase())
    .find(Boolean);
  return policy as Policy | undefined;
}

/** How a domain stands, the worst first as lists show it. */
export type State = "stopped" | "given_up" | "failing" | "wrong" | "pending" | "ready";

export const STATES: State[] = ["stopped", "given_up", "failing", "wrong", "pending", "ready"];

export function stateOf({ status, failingSince, records }: Domain): State {
  if (status === "DEGRADED") return "stopped";
  if (status === "FAILED") return "given_up";
  if (status === "PENDING") return "pending";
  if (failingSince) return "failing";
  return records.some((each) => each.status === "WRONG") ? "wrong" : "ready";
}

/** The records in the order in which a person looks at them: what is wrong, what is missing, the rest. */
export function inOrder(records: DnsRecord[]): DnsRecord[] {
  const rank = ({ status, required }: DnsRecord) =>
    status === "WRONG" ? 0 : status === "VERIFIED" ? 4 : required ? 1 : status === "PENDING" ? 2 : 3;
  return records.toSorted((first, second) => rank(first) - rank(second));
}

/** The name of a domain in what someone typed or pasted: an address, a URL, a name. */
export function domainIn(typed: string): string {
  return typed
    .trim()
    .replace(/^[a-z][a-z0-9+.-]*:\/\//i, "")
    .replace(/[/?#].*$/s, "")
    .replace(/^.*@/s, "")
    .replace(/:\d+$/, "")
    .replace(/\.$/, "");
}

/** The findings about a domain without those that a record is missing which the table of records shows as missing. */
export function newFindings({ findings, records }: Pick<Domain, "findings" | "records">): Finding[] {
  const missing = new Set(records.filter((each) => each.status === "PENDING").map((each) => each.name));
  return findings.filter(({ code, path }) => !(code.endsWith("_missing") && missing.has(path)));
}

/** The addresses that the domain's SPF record names one by one: those of the servers that send for this project. */
export function ownAddresses(records: DnsRecord[]): ReadonlySet<string> {
  const spf = records.find((each) => each.purpose === "SPF")?.value ?? "";
  return new Set(
    [...spf.matchAll(/(?:^|\s)ip[46]:([^\s/]+)(?=\s|$)/gi)].map(([, address = ""]) => address.toLowerCase()),
  );
}

/** Messages of a domain that failed DMARC, as a receiver counted them. */
export function failedOf({ messages, aligned }: { messages: number; aligned: number }): number {
  return Math.max(messages - aligned, 0);
}

/** Share of mail that passes DMARC from which on a stricter policy does no harm that counts. */
const ENOUGH = 0.98;

/** What reports say about the next step of the policy: nothing yet, that mail still fails, or that all is well. */
export function readinessOf({ totals }: Pick<DmarcSummary, "totals">): "unknown" | "failing" | "ready" {
  if (totals.messages === 0) return "unknown";
  return totals.aligned / totals.messages >= ENOUGH ? "ready" : "failing";
}
