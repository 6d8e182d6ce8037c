import type { EmailLogEntry } from "@postern/sdk";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import type { Tone } from "../../parts/parts";

/** What a person calls the state of an e-mail. Opened and clicked are shown instead of delivered. */
export type Outcome =
  | "scheduled"
  | "waiting"
  | "sent"
  | "delivered"
  | "opened"
  | "clicked"
  | "suppressed"
  | "cancelled"
  | "expired"
  | "bounced"
  | "complaint"
  | "failed";

const OUTCOMES: Record<string, Outcome> = {
  SCHEDULED: "scheduled",
  QUEUED: "waiting",
  DELAYED: "waiting",
  SENT: "sent",
  DELIVERED: "delivered",
  SUPPRESSED: "suppressed",
  CANCELLED: "cancelled",
  EXPIRED: "expired",
  BOUNCED: "bounced",
  COMPLAINED: "complaint",
  FAILED: "failed",
};

type State = Pick<EmailLogEntry, "status" | "openedAt" | "clickedAt">;

export function outcomeOf(send: State): Outcome {
  const outcome = OUTCOMES[send.status] ?? "waiting";
  if (outcome !== "sent" && outcome !== "delivered") return outcome;
  return send.clickedAt ? "clicked" : send.openedAt ? "opened" : outcome;
}

export function shapeOf(send: State): Shape {
  const outcome = outcomeOf(send);
  if (outcome === "cancelled" || outcome === "expired") return "suppressed";
  return outcome;
}

const TONES: Partial<Record<Outcome, Tone>> = {
  waiting: "wait",
  bounced: "bad",
  complaint: "comp",
  failed: "fail",
  expired: "fail",
};

export function toneOf(send: State): Tone {
  return TONES[outcomeOf(send)] ?? "";
}

export function wordOf(send: State): string {
  return WORDS[outcomeOf(send)]();
}

export const WORDS: Record<Outcome, () => string> = {
  scheduled: m.status_scheduled,
  waiting: m.status_waiting,
  sent: m.status_sent,
  delivered: m.status_delivered,
  opened: m.status_opened,
  clicked: m.status_clicked,
  suppressed: m.status_suppressed,
  cancelled: m.status_cancelled,
  expired: m.status_expired,
  bounced: m.status_bounced,
  complaint: m.status_complaint,
  failed: m.status_failed,
};

/** The statuses of the API by which the log can be filtered, under the word for them. */
export const STATUS_GROUPS: { shape: Shape; statuses: string[]; word: () => string }[] = [
  { shape: "scheduled", statuses: ["SCHEDULED"], word: m.status_scheduled },
  { shape: "waiting", statuses: ["QUEUED", "DELAYED"], word: m.status_waiting },
  { shape: "sent", statuses: ["SENT"], word: m.status_sent },
  { shape: "delivered", statuses: ["DELIVERED"], word: m.status_delivered },
  { shape: "suppressed", statuses: ["SUPPRESSED"], word: m.status_suppressed },
  { shape: "bounced", statuses: ["BOUNCED"], word: m.status_bounced },
  { shape: "complaint", statuses: ["COMPLAINED"], word: m.status_complaint },
  { shape: "failed", statuses: ["FAILED"], word: m.status_failed },
  { shape: "suppressed", statuses: ["EXPIRED"], word: m.status_expired },
  { shape: "suppressed", statuses: ["CANCELLED"], word: m.status_cancelled },
];

/** Statuses of the API in words. One that is not known stays as it is. */
export function wordsOfStatuses(statuses: string[]): string {
  const left = new Set(statuses);
  const words = STATUS_GROUPS.filter((group) => group.statuses.some((each) => left.has(each))).map((group) => {
    for (const each of group.statuses) left.delete(each);
    return group.word();
  });
  return [...words, ...left].join(", ");
}
