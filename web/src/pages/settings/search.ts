import { text } from "../../parts/search.ts";

/** The ranges of days that can be chosen by one click. */
export const AUDIT_DAYS = ["1", "7", "30", "90"] as const;

/** The filters of the audit log in the URL. */
export interface AuditSearch {
  /** Id of a developer or an API key. */
  who?: string;
  /** A kind of change: the noun of actions, such as `member`. */
  what?: string;
  /** `account` for all projects and the account itself. Without it, the project of the page. */
  where?: "account";
  /** Number of days up to now. */
  days?: string;
  /** Days as `2026-06-09`, instead of `days`. */
  from?: string;
  to?: string;
}

const DAY = /^\d{4}-\d{2}-\d{2}$/;

export function readAuditSearch(search: Record<string, unknown>): AuditSearch {
  const [who, what, days, from, to] = ["who", "what", "days", "from", "to"].map((name) => text(search[name]));
  return {
    ...(who && { who }),
    ...(what && { what }),
    ...(search.where === "account" && { where: "account" as const }),
    ...(days && (AUDIT_DAYS as readonly string[]).includes(days) && { days }),
    ...(from && DAY.test(from) && { from }),
    ...(to && DAY.test(to) && { to }),
  };
}

/** The beginning of a day in the viewer's time zone, or of a later one, as the API takes it; undefined for no day. */
export function startOf(day: string, later = 0): string | undefined {
  const [year = 0, month = 0, date = 0] = day.split("-").map(Number);
  const start = new Date(year, month - 1, date + later);
  return Number.isNaN(start.getTime()) ? undefined : start.toISOString();
}

/** The parameters of the API for filters, at the time `now`. */
export function auditParameters(search: AuditSearch, projectId: string, now: Date) {
  const { who, what, where, days, from, to } = search;
  return {
    actorId: who,
    action: what && `${what}.*`,
    projectId: where === "account" ? undefined : projectId,
    // Whole minutes, so that a page that is drawn again asks for the same.
    from: days
      ? new Date(Math.floor(now.getTime() / 60_000) * 60_000 - Number(days) * 86_400_000).toISOString()
      : from && startOf(from),
    to: days ? undefined : to && startOf(to, 1),
  };
}
