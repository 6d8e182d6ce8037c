import { useEffect, useState } from "react";
import { getLocale } from "../messages/runtime.js";
import { shortTime } from "./format";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** The time of now, again each second. */
export function useNow(): number {
  const [now, setNow] = useState(Date.now);
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 1_000);
    return () => clearInterval(timer);
  }, []);
  return now;
}

/** A point in time as seen from now, where that is near: `40 seconds ago`, `in 2 minutes`; else the day. */
export function relative(at: string, now: number): string {
  const milliseconds = Date.parse(at) - now;
  const distance = Math.abs(milliseconds);
  if (distance >= DAY_MS) return shortTime(at);
  const [unit, size] =
    distance < MINUTE_MS
      ? (["second", 1_000] as const)
      : distance < HOUR_MS
        ? (["minute", MINUTE_MS] as const)
        : (["hour", HOUR_MS] as const);
  return new Intl.RelativeTimeFormat(getLocale(), { numeric: "always" }).format(
    Math.trunc(milliseconds / size) || 0,
    unit,
  );
}
