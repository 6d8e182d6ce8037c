import type { AutomationRunStep } from "@postern/sdk";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count, exactTime } from "../../parts/format";
import type { Tone } from "../../parts/parts";
import { groupWords } from "../contacts/ruleWords";
import { EVENT_WORDS } from "../developers/events";
import type { RunStatus, Sort, State } from "./routes";
import type { Branch, EditedStep, EditedTrigger, Need, StepType, TriggerType } from "./steps";

export const STATE_WORDS: Record<State, () => string> = {
  active: m.automations_active,
  inactive: m.automations_inactive,
};
export const SORT_WORDS: Record<Sort, () => string> = {
  "-updatedAt": m.automations_sort_changed,
  name: m.automations_sort_name,
};

export const TRIGGER_NAMES: Record<TriggerType, () => string> = {
  AUDIENCE_JOINED: m.automations_t_joined,
  AUDIENCE_LEFT: m.automations_t_left,
  CONTACT_CREATED: m.automations_t_created,
  EVENT: m.automations_t_event,
};

export const STEP_NAMES: Record<StepType, () => string> = {
  SEND_EMAIL: m.automations_s_email,
  DELAY: m.automations_s_delay,
  CONDITION: m.automations_s_condition,
  WAIT_FOR_EVENT: m.automations_s_wait,
  UPDATE_CONTACT: m.automations_s_update,
  ADD_TO_AUDIENCE: m.automations_s_add,
  REMOVE_FROM_AUDIENCE: m.automations_s_remove,
  WEBHOOK: m.automations_s_webhook,
  EXIT: m.automations_s_exit,
};

export const NEED_WORDS: Record<Need, () => string> = {
  name: m.automations_n_name,
  audience: m.automations_n_audience,
  event: m.automations_n_event,
  where: m.automations_n_where,
  steps: m.automations_n_steps,
  template: m.automations_n_template,
  sender: m.automations_n_sender,
  duration: m.automations_n_duration,
  rules: m.automations_n_rules,
  attributes: m.automations_n_attributes,
  url: m.automations_n_url,
  limit: m.automations_n_limit,
};

interface Look {
  shape: Shape;
  tone: Tone;
  word: () => string;
}

const RUNS: Record<RunStatus, Look> = {
  RUNNING: { shape: "waiting", tone: "", word: m.automations_run_running },
  WAITING: { shape: "scheduled", tone: "", word: m.automations_run_waiting },
  COMPLETED: { shape: "delivered", tone: "", word: m.automations_run_completed },
  EXITED: { shape: "no", tone: "", word: m.automations_run_exited },
  FAILED: { shape: "failed", tone: "fail", word: m.automations_run_failed },
  CANCELLED: { shape: "suppressed", tone: "", word: m.automations_run_cancelled },
};

export function runLook(status: string): Look {
  return RUNS[status as RunStatus] ?? { shape: "off", tone: "", word: () => status };
}

const OUTCOMES: Record<string, Look> = {
  DONE: { shape: "yes", tone: "", word: m.automations_o_done },
  SKIPPED: { shape: "suppressed", tone: "", word: m.automations_o_skipped },
  FAILED: { shape: "failed", tone: "fail", word: m.automations_o_failed },
  TRUE: { shape: "yes", tone: "", word: m.automations_o_true },
  FALSE: { shape: "no", tone: "", word: m.automations_o_false },
  HAPPENED: { shape: "yes", tone: "", word: m.automations_o_happened },
  TIMED_OUT: { shape: "scheduled", tone: "", word: m.automations_o_timed_out },
};

export function outcomeLook(outcome: AutomationRunStep["outcome"]): Look {
  return OUTCOMES[outcome] ?? { shape: "off", tone: "", word: () => outcome };
}

export function branchWords(step: Pick<EditedStep, "type">, branch: Branch): string {
  if (step.type === "CONDITION") return branch === "then" ? m.automations_branch_true() : m.automations_branch_false();
  return branch === "then" ? m.automations_branch_happened() : m.automations_branch_timeout();
}

/** An event in words, and its own name if it is one of your programs'. */
export function eventWords(name: string): string {
  return EVENT_WORDS[name]?.() ?? (name || "…");
}

export interface Names {
  templateNames: ReadonlyMap<string, string>;
  audienceNames: ReadonlyMap<string, string>;
}

const named = (names: ReadonlyMap<string, string>, id: string | undefined): string =>
  id ? (names.get(id) ?? m.automations_deleted_thing()) : m.automations_not_chosen();

export function triggerWords(trigger: Pick<EditedTrigger, "type" | "audienceId" | "event">, names: Names): string {
  switch (trigger.type) {
    case "AUDIENCE_JOINED":
      return m.automations_w_joined({ audience: named(names.audienceNames, trigger.audienceId) });
    case "AUDIENCE_LEFT":
      return m.automations_w_left({ audience: named(names.audienceNames, trigger.audienceId) });
    case "CONTACT_CREATED":
      return m.automations_w_created();
    default:
      return m.automations_w_event({ event: eventWords(trigger.event) });
  }
}

/** A duration in words: `1 day 2 hours`. */
export function durationWords(fields: Record<string, string>): string {
  const parts: string[] = [];
  const add = (text: string | undefined, one: () => string, many: (values: { count: string }) => string) => {
    const number = Number(text?.trim() || 0);
    if (number === 1) parts.push(one());
    else if (number) parts.push(many({ count: Number.isFinite(number) ? count(number) : (text ?? "") }));
  };
  add(fields.days, m.automations_day, m.automations_days);
  add(fields.hours, m.automations_hour, m.automations_hours);
  add(fields.minutes, m.automations_minute, m.automations_minutes);
  return parts.join(" ") || "…";
}

/** What a step does, in a sentence. */
export function stepWords(step: EditedStep, names: Names): string {
  const { type, fields } = step;
  switch (type) {
    case "SEND_EMAIL":
      return fields.subject
        ? m.automations_w_email_subject({
            template: named(names.templateNames, fields.templateId),
            subject: fields.subject,
          })
        : m.automations_w_email({ template: named(names.templateNames, fields.templateId) });
    case "DELAY":
      return fields.until
        ? m.automations_w_until({ time: exactTime(fields.until) })
        : m.automations_w_delay({ duration: durationWords(fields) });
    case "CONDITION":
      return m.automations_w_condition({
        rules: step.tree ? groupWords(step.tree, names.audienceNames) : JSON.stringify(step.raw),
      });
    case "WAIT_FOR_EVENT":
      return m.automations_w_wait({ event: eventWords(fields.event ?? ""), duration: durationWords(fields) });
    case "UPDATE_CONTACT": {
      const changes = (step.attributes ?? []).map((row) =>
        row.kind === "remove" ? m.automations_w_unset({ name: row.name || "…" }) : `${row.name || "…"} = ${row.text}`,
      );
      return m.automations_w_update({ changes: changes.join(", ") });
    }
    case "ADD_TO_AUDIENCE":
      return m.automations_w_add({ audience: named(names.audienceNames, fields.audienceId) });
    case "REMOVE_FROM_AUDIENCE":
      return m.automations_w_remove({ audience: named(names.audienceNames, fields.audienceId) });
    case "WEBHOOK":
      return m.automations_w_webhook({ url: fields.url || "…" });
    default:
      return m.automations_w_exit();
  }
}

/** All of an automation as lines, for a comparison. */
export function linesOf(steps: EditedStep[], names: Names, level = 0): string[] {
  const indent = "    ".repeat(level);
  return steps.flatMap((step) => [
    indent + stepWords(step, names),
    ...(["then", "else"] as const).flatMap((branch) =>
      step[branch].length
        ? [`${indent}  ${branchWords(step, branch)}`, ...linesOf(step[branch], names, level + 1)]
        : [],
    ),
  ]);
}
