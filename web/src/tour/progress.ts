/** The stops of the tour, in their order. */
export const STOPS = ["email", "key", "domain", "contacts", "template"] as const;
export type Stop = (typeof STOPS)[number];

/** How far someone is: the stop (or "end", after the last), and whether the tour is open, folded, or put away. */
export interface Progress {
  at: Stop | "end";
  state: "open" | "folded" | "away";
}

export const START: Progress = { at: "email", state: "open" };

/** What the browser kept; undefined if that is nothing, or nothing that this version understands. */
export function readProgress(kept: string | null): Progress | undefined {
  const [at, state] = kept?.split(" ") ?? [];
  const isPlace = at === "end" || STOPS.some((each) => each === at);
  if (!isPlace || (state !== "open" && state !== "folded" && state !== "away")) return undefined;
  return { at: at as Progress["at"], state };
}

export function writeProgress({ at, state }: Progress): string {
  return `${at} ${state}`;
}

export function after(stop: Stop): Progress["at"] {
  return STOPS[STOPS.indexOf(stop) + 1] ?? "end";
}

export function before(at: Progress["at"]): Stop | undefined {
  return STOPS[(at === "end" ? STOPS.length : STOPS.indexOf(at)) - 1];
}

/** Whether the tour was left before its end, so that it can be continued. */
export function isUnfinished(progress: Progress | undefined): boolean {
  return progress?.state === "away" && progress.at !== "end" && progress.at !== STOPS[0];
}
