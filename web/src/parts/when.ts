import { getLocale } from "../messages/runtime.js";

/** A time to come: `10:41` today, `9 Jun, 10:41` otherwise. */
export function plannedTime(at: string): string {
  const date = new Date(at);
  const isToday = date.toDateString() === new Date().toDateString();
  const day = isToday ? {} : ({ day: "numeric", month: "short" } as const);
  return new Intl.DateTimeFormat(getLocale() === "en" ? "en-GB" : getLocale(), {
    ...day,
    hour: "2-digit",
    minute: "2-digit",
  }).format(date);
}

/** A point in time as the value of a field of the type datetime-local, in the viewer's time zone. */
export function localInput(date: Date): string {
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}T${two(date.getHours())}:${two(date.getMinutes())}`;
}

/** The viewer's time zone by its name and its present offset: `Europe/Berlin, GMT+2`. */
export function timeZoneName(): string {
  const { timeZone } = Intl.DateTimeFormat().resolvedOptions();
  const offset = new Intl.DateTimeFormat("en-GB", { timeZoneName: "shortOffset" })
    .formatToParts(new Date())
    .find((part) => part.type === "timeZoneName")?.value;
  return offset && offset !== timeZone ? `${timeZone}, ${offset}` : timeZone;
}
