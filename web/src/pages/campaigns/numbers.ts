import type { CampaignProgress, CampaignStats, TimeSeriesItem } from "@postern/sdk";

/** Every contact of the audience, in exactly one of these parts. */
export interface Parts {
  /** A mail server has accepted the message, and it did not come back. */
  accepted: number;
  waiting: number;
  bounced: number;
  failed: number;
  cancelled: number;
  /** Contacts that get no message: unsubscribed, suppressed, deleted, or over the frequency cap. */
  skipped: number;
  /** Contacts that were not looked at yet. */
  rest: number;
}

/** What became of the contacts of a campaign's audience. */
export function partsOf({ stats, progress }: { stats: CampaignStats; progress: CampaignProgress }): Parts {
  const { frequencyCap } = progress.skipped;
  const { sent: accepted, bounced, failed, total } = stats;
  const { waiting } = progress;
  return {
    accepted,
    waiting,
    bounced,
    failed,
    // Over the frequency cap, a contact has a send that counts as skipped and not as failed.
    cancelled: Math.max(total - accepted - waiting - bounced - failed - frequencyCap, 0),
    skipped: Math.max(progress.audience - total, 0) + frequencyCap,
    rest: Math.max(progress.expected - progress.audience, 0),
  };
}

/** The contacts for which nothing is to be done any more. */
export function doneOf({ waiting, rest, ...done }: Parts): number {
  return Object.values(done).reduce((sum, each) => sum + each, 0);
}

/** Milliseconds until all messages are handed over at the rate so far; undefined if that cannot be said. */
export function timeLeft(parts: Parts, { perSecond, retrying }: CampaignProgress): number | undefined {
  const left = parts.rest + parts.waiting - retrying;
  return perSecond > 0 && left > 0 ? (left / perSecond) * 1_000 : undefined;
}

/** The standard score of a range that holds the true rate with a probability of 95 %. */
const SCORE = 1.96;

/** The range in which the true rate likely is, from 0 to 1 (Wilson's interval); all of it without messages. */
export function likelyRange(successes: number, messages: number): [number, number] {
  if (messages <= 0) return [0, 1];
  const share = Math.min(successes, messages) / messages;
  const square = SCORE ** 2 / messages;
  const middle = (share + square / 2) / (1 + square);
  const half = (SCORE / (1 + square)) * Math.sqrt((share * (1 - share)) / messages + square / (4 * messages));
  return [Math.max(middle - half, 0), Math.min(middle + half, 1)];
}

/** Shares of which an axis has a line every few. */
const STEPS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.25, 0.5];
const MOST_LINES = 5;

/** The lines of an axis on which all the ranges lie: shares from 0 to 1, at even distances. */
export function axisOf(ranges: [number, number][]): number[] {
  const low = Math.min(...ranges.map(([from]) => from), 1);
  const high = Math.max(...ranges.map(([, to]) => to), 0);
  for (const step of STEPS) {
    const first = Math.floor(low / step + 1e-9);
    const last = Math.max(Math.ceil(high / step - 1e-9), first + 1);
    if (last - first < MOST_LINES || step === STEPS.at(-1))
      return Array.from({ length: last - first + 1 }, (_, index) => (first + index) * step);
  }
  return [0, 1];
}

/** Where a share stands on an axis, in per cent of its width. */
export function placeOn(axis: number[], share: number): number {
  const [first = 0] = axis;
  const last = axis.at(-1) ?? 1;
  return Math.min(Math.max(((share - first) / (last - first)) * 100, 0), 100);
}

/** Days of the chart at least, so that one day is no wall. */
const FEWEST_DAYS = 7;

/**
 * The days of a campaign's chart: from the first on which something happened to the last, but at least a week where
 * there are so many. Empty if nothing happened.
 */
export function lifeOf(days: TimeSeriesItem[]): TimeSeriesItem[] {
  const isBusy = ({ date: _, ...counts }: TimeSeriesItem) => Object.values(counts).some((each) => each > 0);
  const first = days.findIndex(isBusy);
  if (first < 0) return [];
  const last = days.findLastIndex(isBusy);
  return days.slice(first, Math.max(last + 1, first + FEWEST_DAYS));
}

/** Rates of the campaigns before, together: what is usual here. Undefined without any message. */
export function usualOf(all: CampaignStats[]): Record<"opened" | "clicked", number> | undefined {
  const sum = (measure: keyof CampaignStats) => all.reduce((total, each) => total + each[measure], 0);
  const sent = sum("sent");
  if (sent === 0) return undefined;
  return { opened: sum("opened") / sent, clicked: sum("clicked") / sent };
}
