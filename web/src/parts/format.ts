import { m } from "../messages/messages.js";
import { getLocale } from "../messages/runtime.js";

const formats = new Map<string, Intl.DateTimeFormat>();

function format(options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat {
  const key = getLocale() + JSON.stringify(options);
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat(getLocale() === "en" ? "en-GB" : getLocale(), options);
    formats.set(key, found);
  }
  return found;
}

/** The hour of what happened today, the day and month of this year, or the whole date: `10:41`, `9 Jun`, `9 Jun 2025`. */
export function shortTime(at: string): string {
  const date = new Date(at);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return format({ hour: "2-digit", minute: "2-digit" }).format(date);
  if (date.getFullYear() === now.getFullYear()) return format({ day: "numeric", month: "short" }).format(date);
  return format({ day: "numeric", month: "short", year: "numeric" }).format(date);
}

/** The day in words where it is near, with the hour: `Today, 10:31:04`. */
export function longTime(at: string): string {
  const date = new Date(at);
  const today = new Date();
  const yesterday = new Date(today.getFullYear(), today.getMonth(), today.getDate() - 1);
  const day =
    date.toDateString() === today.toDateString()
      ? m.today()
      : date.toDateString() === yesterday.toDateString()
        ? m.yesterday()
        : format({
            day: "numeric",
            month: "long",
            year: date.getFullYear() === today.getFullYear() ? undefined : "numeric",
          }).format(date);
  return `${day}, ${clockTime(at)}`;
}

/** The hour with seconds: `10:31:04`. */
export function clockTime(at: string): string {
  return format({ hour: "2-digit", minute: "2-digit", second: "2-digit" }).format(new Date(at));
}

/** Everything about a point in time, for a title: `9 June 2026 at 10:41:03 CEST`. */
export function exactTime(at: string): string {
  return format({ dateStyle: "long", timeStyle: "long" }).format(new Date(at));
}

/** A day: `9 Jun`. */
export function shortDay(date: Date): string {
  return format({ day: "numeric", month: "short" }).format(date);
}

/** A day with its weekday: `Thursday 28 May`. */
export function longDay(date: Date): string {
  return format({ weekday: "long", day: "numeric", month: "long" }).format(date);
}

/** A whole number with separators: `153,257`. */
export function count(value: number): string {
  return new Intl.NumberFormat(getLocale()).format(value);
}

/** As many records as are counted where counting all of them may take long. */
export const COUNT_LIMIT = 10_000;

/** A number of records that were counted up to COUNT_LIMIT: `10,000+` if that was reached. */
export function countUpTo(number: number): string {
  return number >= COUNT_LIMIT ? `${count(COUNT_LIMIT)}+` : count(number);
}

/** A share from 0 to 1 as per cent, with a fixed number of decimals: `0.46 %`. */
export function percent(share: number, decimals: number): string {
  const number = new Intl.NumberFormat(getLocale(), {
    minimumFractionDigits: decimals,
    maximumFractionDigits: decimals,
  });
  return `${number.format(share * 100)} %`;
}

/** A duration in the two largest units: `11 ms`, `0.84 s`, `5 min 5 s`, `2 h 10 min`, `3 d 4 h`. */
export function duration(milliseconds: number): string {
  if (milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const seconds = Math.round(milliseconds / 1000);
  if (milliseconds < 60_000)
    return `${new Intl.NumberFormat(getLocale(), { maximumFractionDigits: milliseconds < 10_000 ? 2 : 0 }).format(milliseconds / 1000)} s`;
  const parts: [number, string][] = [
    [Math.floor(seconds / 86_400), "d"],
    [Math.floor((seconds % 86_400) / 3600), "h"],
    [Math.floor((seconds % 3600) / 60), "min"],
    [seconds % 60, "s"],
  ];
  const first = parts.findIndex(([value]) => value > 0);
  return parts
    .slice(first, first + 2)
    .filter(([value]) => value > 0)
    .map(([value, unit]) => `${value} ${unit}`)
    .join(" ");
}

/** A size in the largest fitting unit: `14.2 kB`. */
export function bytes(size: number): string {
  const number = new Intl.NumberFormat(getLocale(), { maximumFractionDigits: 1 });
  if (size < 1000) return `${size} B`;
  return size < 1_000_000 ? `${number.format(size / 1000)} kB` : `${number.format(size / 1_000_000)} MB`;
}

/** Two letters of a name or an address, for a round mark. */
export function initials(name: string): string {
  const words = name.split(/[\s@.]+/).filter(Boolean);
  return ((words[0]?.[0] ?? "") + (words[1]?.[0] ?? "")).toUpperCase();
}
