import type { Project, ProjectChange, ProjectRelay, ProjectSes, SettingsChange } from "@postern/sdk";
import type { Places } from "./placed.ts";

/** The transports that deliver, in the order in which they are offered. */
export const DELIVERING = ["relay", "ses", "direct"] as const;
export type Delivering = (typeof DELIVERING)[number];

/** The settings of a project as the form holds them: numbers and lists are text. */
export interface Draft {
  name: string;
  transport: "" | "capture" | Delivering;
  /** In this order; null is what the server has, or none if the project chooses its transport. */
  fallbackTransports: string[] | null;
  relays: ProjectRelay[];
  ses: ProjectSes | null;
  onAmbiguous: string;
  requireTls: boolean;
  trackOpens: boolean;
  trackClicks: boolean;
  trackingDomain: string;
  retentionDays: string;
  inboundRetentionDays: string;
  logRetentionDays: string;
  eventRetentionDays: string;
  archiveExpired: boolean;
  frequencyCap: string;
  rateLimit: string;
  /** One address a line. */
  seedList: string;
  /** JSON of an object. */
  extra: string;
}

export type Field = keyof Draft;

/** The fields in the order of the page. */
export const FIELDS: Field[] = [
  "name",
  "transport",
  "fallbackTransports",
  "relays",
  "ses",
  "onAmbiguous",
  "requireTls",
  "trackOpens",
  "trackClicks",
  "trackingDomain",
  "retentionDays",
  "inboundRetentionDays",
  "logRetentionDays",
  "eventRetentionDays",
  "archiveExpired",
  "frequencyCap",
  "rateLimit",
  "seedList",
  "extra",
];

/** Where the server's errors are shown. */
export const PLACES: Places = Object.fromEntries(
  FIELDS.map((field) => [field, [field === "name" ? "/name" : `/settings/${field}`]]),
);

/** Limits of the API, by field: least and most. */
export const LIMITS = {
  retentionDays: [1, 3_650],
  inboundRetentionDays: [1, 365],
  logRetentionDays: [90, 3_650],
  eventRetentionDays: [30, 3_650],
  frequencyCap: [1, 10_000],
  rateLimit: [1, 1_000_000],
} as const;
export type NumberField = keyof typeof LIMITS;

export function draftOf({ name, settings }: Project): Draft {
  const number = (value: number | null) => (value === null ? "" : String(value));
  return {
    name,
    transport: (settings.transport ?? "") as Draft["transport"],
    fallbackTransports: settings.fallbackTransports,
    relays: settings.relays ?? [],
    ses: settings.ses,
    onAmbiguous: settings.onAmbiguous,
    requireTls: settings.requireTls,
    trackOpens: settings.trackOpens,
    trackClicks: settings.trackClicks,
    trackingDomain: settings.trackingDomain ?? "",
    retentionDays: number(settings.retentionDays),
    inboundRetentionDays: number(settings.inboundRetentionDays),
    logRetentionDays: number(settings.logRetentionDays),
    eventRetentionDays: number(settings.eventRetentionDays),
    archiveExpired: settings.archiveExpired,
    frequencyCap: number(settings.frequencyCap),
    rateLimit: number(settings.rateLimit),
    seedList: (settings.seedList ?? []).join("\n"),
    extra: Object.keys(settings.extra).length ? JSON.stringify(settings.extra, null, 2) : "",
  };
}

/** The change of a form that chooses a transport: it cannot be its own fall-back, and what is captured has none. */
export function chosenTransport({ fallbackTransports }: Draft, transport: Draft["transport"]): Partial<Draft> {
  const others = fallbackTransports?.filter((each) => each !== transport);
  return { transport, fallbackTransports: transport === "capture" || !others?.length ? null : others };
}

/** The fields in which two drafts differ. */
export function differences(first: Draft, second: Draft): Field[] {
  return FIELDS.filter((field) => JSON.stringify(first[field]) !== JSON.stringify(second[field]));
}

/** Take some fields of one draft over into another. */
export function takenOver(into: Draft, from: Draft, fields: Field[]): Draft {
  return { ...into, ...Object.fromEntries(fields.map((field) => [field, from[field]])) };
}

/** Why a draft cannot be sent: the fields with text that is no number in the limits, or no JSON object. */
export function unreadable(draft: Draft): Field[] {
  const numbers = (Object.keys(LIMITS) as NumberField[]).filter((field) => {
    const value = draft[field].trim();
    const [least, most] = LIMITS[field];
    return value !== "" && (!/^\d+$/.test(value) || Number(value) < least || Number(value) > most);
  });
  return parsedExtra(draft.extra) ? numbers : [...numbers, "extra"];
}

function parsedExtra(text: string): Record<string, unknown> | undefined {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === "object" && value !== null && !Array.isArray(value)
      ? (value as Record<string, unknown>)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The request that makes a project like a draft: only what differs, so that nothing else is overwritten. */
export function changeOf(base: Draft, draft: Draft): ProjectChange {
  const settings: SettingsChange = {};
  let name: string | undefined;
  for (const field of differences(base, draft)) {
    if (field === "name") name = draft.name.trim();
    else Object.assign(settings, { [field]: sentValue(field, base, draft) });
  }
  return { ...(name !== undefined && { name }), ...(Object.keys(settings).length > 0 && { settings }) };
}

function sentValue(field: Exclude<Field, "name">, base: Draft, draft: Draft): unknown {
  switch (field) {
    case "transport":
      return draft.transport || null;
    case "relays":
      return draft.relays.length ? draft.relays : null;
    case "trackingDomain":
      return draft.trackingDomain.trim() || null;
    case "retentionDays":
    case "inboundRetentionDays":
    case "logRetentionDays":
    case "eventRetentionDays":
    case "frequencyCap":
    case "rateLimit":
      return draft[field].trim() ? Number(draft[field]) : null;
    case "seedList": {
      const addresses = addressesOf(draft.seedList);
      return addresses.length ? addresses : null;
    }
    case "extra":
      return extraChange(parsedExtra(base.extra) ?? {}, parsedExtra(draft.extra) ?? {});
    default:
      return draft[field];
  }
}

/** The addresses in a text with one a line, or separated by commas. */
export function addressesOf(text: string): string[] {
  return text
    .split(/[\n,;]+/)
    .map((each) => each.trim())
    .filter(Boolean);
}

/** `extra` is merged by name: what was removed is sent as null. */
function extraChange(before: Record<string, unknown>, after: Record<string, unknown>): Record<string, unknown> {
  const changed = Object.entries(after).filter(
    ([name, value]) => JSON.stringify(before[name]) !== JSON.stringify(value),
  );
  const removed = Object.keys(before).filter((name) => !(name in after));
  return Object.fromEntries([...changed, ...removed.map((name): [string, null] => [name, null])]);
}
