import type { TimeSeriesItem } from "@postern/sdk";

/** The ranges that the page offers, in days. */
export const RANGES = [7, 30, 90] as const;
export type Range = (typeof RANGES)[number];
export type Interval = "day" | "week";

export const MEASURES = ["sent", "delivered", "opened", "clicked", "bounced", "complained", "failed"] as const;
export type Measure = (typeof MEASURES)[number];
export type Counts = Record<Measure, number>;

/** The mail of one column of the chart: of a day, or of the days of a week that are in the range. */
export interface Bucket extends Counts {
  /** Its first and last day, YYYY-MM-DD. */
  first: string;
  last: string;
  /** Whether it goes on: today is in it. */
  running: boolean;
}

const DAYS_OF_WEEK = 7;

/** The calendar day of a point in time, where the viewer is or in another time zone: `2026-06-09`. */
export function dayOf(at: Date, timeZone?: string): string {
  const parts = new Intl.DateTimeFormat("en-US", {
    timeZone,
    year: "numeric",
    month: "2-digit",
    day: "2-digit",
  }).formatToParts(at);
  const part = (type: string) => parts.find((each) => each.type === type)?.value ?? "";
  return `${part("year")}-${part("month")}-${part("day")}`;
}

/** Noon of a calendar day where the viewer is, for words such as `Thursday 28 May`. No clock change happens at noon. */
export function dateOf(day: string): Date {
  const [year = 0, month = 1, date = 1] = day.split("-").map(Number);
  return new Date(year, month - 1, date, 12);
}

/** The day that is a number of days after another one, or before it. */
export function addDays(day: string, days: number): string {
  const date = new Date(`${day}T00:00:00Z`);
  date.setUTCDate(date.getUTCDate() + days);
  return date.toISOString().slice(0, 10);
}

/** The first day of a day's week, which begins on `firstWeekday`: 1 is Monday, 7 is Sunday. */
export function weekOf(day: string, firstWeekday: number): string {
  const weekday = new Date(`${day}T00:00:00Z`).getUTCDay();
  return addDays(day, -((weekday - firstWeekday + DAYS_OF_WEEK * 2) % DAYS_OF_WEEK));
}

/** The weekday with which weeks begin in a locale such as `de-DE`: 1 is Monday, 7 is Sunday. */
export function firstWeekdayOf(locale: string): number {
  const known = new Intl.Locale(locale) as Intl.Locale & {
    getWeekInfo?: () => { firstDay: number };
    weekInfo?: { firstDay: number };
  };
  return known.getWeekInfo?.().firstDay ?? known.weekInfo?.firstDay ?? 1;
}

/** The sums of the measures over days. */
export function sumOf(days: Counts[]): Counts {
  const sums = Object.fromEntries(MEASURES.map((measure) => [measure, 0])) as Counts;
  for (const day of days) for (const measure of MEASURES) sums[measure] += day[measure];
  return sums;
}

/** The columns of the chart, oldest first. */
export function bucketsOf(days: TimeSeriesItem[], by: Interval, today: string, firstWeekday: number): Bucket[] {
  const groups = new Map<string, TimeSeriesItem[]>();
  for (const day of days) {
    const key = by === "week" ? weekOf(day.date, firstWeekday) : day.date;
    groups.set(key, [...(groups.get(key) ?? []), day]);
  }
  return [...groups.values()].map((group) => {
    const first = group[0]?.date ?? "";
    const last = group.at(-1)?.date ?? "";
    return { ...sumOf(group), first, last, running: first <= today && today <= last };
  });
}

/** A part as a share of a whole, from 0 to 1; undefined of nothing. */
export function shareOf(part: number, whole: number): number | undefined {
  return whole > 0 ? Math.min(part / whole, 1) : undefined;
}

/** The rates as the API defines them: of what a server accepted, and bounces of what was accepted or bounced. */
export function ratesOf(counts: Pick<Counts, "sent" | "opened" | "clicked" | "bounced" | "complained">) {
  return {
    opened: shareOf(counts.opened, counts.sent),
    clicked: shareOf(counts.clicked, counts.sent),
    bounced: shareOf(counts.bounced, counts.sent + counts.bounced),
    complained: shareOf(counts.complained, counts.sent),
  };
}

/** How much a number grew since the period before, as a share of that: 0.062 for 6.2 % more; undefined without one. */
export function growthOf(now: number, before: number): number | undefined {
  return before > 0 ? (now - before) / before : undefined;
}
