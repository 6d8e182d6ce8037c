import type { EmailsExportParams } from "@postern/sdk";
import { COUNT_LIMIT } from "../../parts/format";
import { text } from "../../parts/search";

/** The filters of the log as they stand in the URL. Days are of the viewer's time zone, and `to` is included. */
export interface LogSearch {
  q?: string;
  /** Statuses of the API, separated by commas. */
  status?: string;
  sent?: "today" | "7d" | "30d";
  /** A day as `2026-01-31`, or a point in time. */
  from?: string;
  to?: string;
  tag?: string;
  campaignId?: string;
  domainId?: string;
  recipient?: string;
}

export type FilterName = "status" | "sent" | "tag" | "campaignId" | "domainId" | "recipient";

const TEXTS = ["q", "status", "from", "to", "tag", "campaignId", "domainId", "recipient"] as const;
const PERIODS = { today: 0, "7d": 6, "30d": 29 } as const;

/** Read the filters of a URL. Values that the API does not know stay, so that the page can show what was refused. */
export function readLogSearch(search: Record<string, unknown>): LogSearch {
  const found: LogSearch = {};
  for (const name of TEXTS) {
    const value = text(search[name]);
    if (value) found[name] = value;
  }
  const sent = text(search.sent);
  if (sent === "today" || sent === "7d" || sent === "30d") found.sent = sent;
  return found;
}

/** The filters as parameters of `emails.list` and `emails.export`. */
export function parametersOf({ sent, from, to, status, ...rest }: LogSearch): EmailsExportParams {
  return {
    ...rest,
    status: status?.split(","),
    from: sent ? startOf(sent) : from && timeOf(from, 0),
    to: sent ? undefined : to && timeOf(to, 1),
  };
}

/** As many e-mails as the server counts with these filters; undefined for all, if it has their number ready. */
export function countLimitOf({ q, sent, from, to, tag, domainId, recipient }: LogSearch): number | undefined {
  return q || sent || from || to || tag || domainId || recipient ? COUNT_LIMIT : undefined;
}

/** The point in time at which a period begins that ends now. */
export function startOf(period: keyof typeof PERIODS): string {
  return startOfDay(-PERIODS[period]);
}

const DAY = /^(\d{4})-(\d{2})-(\d{2})$/;

/** The start of a day plus some days as the API takes it. What is no day stays as it is. */
function timeOf(value: string, plusDays: number): string {
  const day = DAY.exec(value);
  if (!day) return value;
  const date = new Date(Number(day[1]), Number(day[2]) - 1, Number(day[3]) + plusDays);
  return Number.isNaN(date.getTime()) ? value : date.toISOString();
}

function startOfDay(plusDays: number): string {
  const now = new Date();
  return new Date(now.getFullYear(), now.getMonth(), now.getDate() + plusDays).toISOString();
}

/** The names of the filters that are set, in the order in which they are shown. */
export function filtersIn(search: LogSearch): FilterName[] {
  const names: FilterName[] = [];
  if (search.sent || search.from || search.to) names.push("sent");
  for (const name of ["status", "recipient", "tag", "campaignId", "domainId"] as const)
    if (search[name]) names.push(name);
  return names;
}

/** The parts of the URL that a filter consists of. */
export function without(search: LogSearch, name: FilterName): LogSearch {
  const { [name]: _, ...rest } = search;
  if (name !== "sent") return rest;
  const { from: _from, to: _to, ...others } = rest as LogSearch;
  return others;
}

/** The filter that an error of the API is about, by its path such as `query/status`. */
export function filterOfPath(path: string): FilterName | "q" | undefined {
  const name = /^query\/(\w+)/.exec(path)?.[1];
  if (name === "from" || name === "to") return "sent";
  return name && ["q", "status", "tag", "campaignId", "domainId", "recipient"].includes(name)
    ? (name as FilterName | "q")
    : undefined;
}
