import type { Campaign } from "@postern/sdk";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { getLocale } from "../../messages/runtime.js";
import type { Tone } from "../../parts/parts";
import type { DraftForm, Need } from "./draft";
import type { Group, Sort } from "./routes";

interface Look {
  shape: Shape;
  tone: Tone;
  word: () => string;
}

const STATUSES: Record<string, Look> = {
  DRAFT: { shape: "off", tone: "", word: m.campaigns_state_draft },
  SCHEDULED: { shape: "scheduled", tone: "", word: m.campaigns_state_scheduled },
  TESTING: { shape: "sent", tone: "", word: m.campaigns_state_testing },
  SENDING: { shape: "sent", tone: "", word: m.campaigns_state_sending },
  PAUSED: { shape: "waiting", tone: "wait", word: m.campaigns_state_paused },
  SENT: { shape: "yes", tone: "", word: m.campaigns_state_sent },
  CANCELLED: { shape: "suppressed", tone: "", word: m.campaigns_state_cancelled },
  FAILED: { shape: "failed", tone: "fail", word: m.campaigns_state_failed },
};

/** How the state of a campaign looks. */
export function lookOf({ status }: Pick<Campaign, "status">): Look {
  return STATUSES[status] ?? { shape: "off", tone: "", word: () => status };
}

export const GROUP_WORDS: Record<Group, () => string> = {
  draft: m.campaigns_group_draft,
  scheduled: m.campaigns_state_scheduled,
  running: m.campaigns_group_running,
  sent: m.campaigns_state_sent,
  stopped: m.campaigns_group_stopped,
};

export const SORT_WORDS: Record<Sort, () => string> = {
  "-updatedAt": m.campaigns_sort_changed,
  name: m.campaigns_sort_name,
};

/** What is missing, as a sentence that says what to do. */
export const NEED_WORDS: Record<Need, () => string> = {
  name: m.campaigns_need_name,
  audience: m.campaigns_need_audience,
  nobody: m.campaigns_need_nobody,
  domain: m.campaigns_need_domain,
  domain_gone: m.campaigns_need_domain_gone,
  domain_not_ready: m.campaigns_need_domain_ready,
  sender: m.campaigns_need_sender,
  template: m.campaigns_need_template,
  blank: m.campaigns_need_blank,
  subject: m.campaigns_need_subject,
  test_template: m.campaigns_need_test_template,
  variants: m.campaigns_need_variants,
  percent: m.campaigns_need_percent,
  time: m.campaigns_need_time,
  past: m.campaigns_need_past,
};

/** The names of the parts of a draft, for what two versions of it have differently. */
export const PART_WORDS: Record<keyof DraftForm, () => string> = {
  name: m.campaigns_name,
  subject: m.campaigns_subject,
  previewText: m.campaigns_preview_text,
  fromName: m.campaigns_from_name,
  fromEmail: m.campaigns_from_address,
  domainId: m.campaigns_domain,
  audienceId: m.campaigns_audience,
  templateId: m.campaigns_template,
  when: m.campaigns_when,
  at: m.campaigns_at,
  abTestEnabled: m.campaigns_ab,
  abTestSamplePercent: m.campaigns_ab_percent,
  abTestMetric: m.campaigns_ab_metric,
  abTestDurationMinutes: m.campaigns_ab_duration,
  variants: m.campaigns_ab_variants,
};

/** A time to come, in full: `Tuesday 9 June at 10:30`, with the year if it is another one. */
export function plannedInWords(at: string): string {
  const date = new Date(at);
  const isThisYear = date.getFullYear() === new Date().getFullYear();
  return new Intl.DateTimeFormat(getLocale() === "en" ? "en-GB" : getLocale(), {
    weekday: "long",
    day: "numeric",
    month: "long",
    year: isThisYear ? undefined : "numeric",
    hour: "2-digit",
    minute: "2-digit",
  }).format(date);
}

/** Minutes in the largest unit that divides them: `4 hours`. */
export function minutesInWords(minutes: number): string {
  if (minutes % 1_440 === 0)
    return minutes === 1_440 ? m.campaigns_day_one() : m.campaigns_days({ count: minutes / 1_440 });
  if (minutes % 60 === 0) return minutes === 60 ? m.campaigns_hour_one() : m.campaigns_hours({ count: minutes / 60 });
  return m.campaigns_minutes({ count: minutes });
}
