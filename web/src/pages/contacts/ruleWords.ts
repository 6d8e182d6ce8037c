import { m } from "../../messages/messages.js";
import { count, shortDay } from "../../parts/format";
import { attributeOf, type Condition, countsEvents, EVENT_PREFIX, type Group, isGroup, type Operator } from "./rules";
import type { AudienceType } from "./search";

/** How the types of audiences get their members, in words. */
export const KINDS: Record<AudienceType, () => string> = {
  DYNAMIC: m.contacts_filled_rules,
  STATIC: m.contacts_filled_hand,
};

/** A field of a condition in words. */
export function fieldWords(field: string): string {
  const own: Record<string, () => string> = {
    email: m.contacts_email,
    createdAt: m.contacts_added,
    unsubscribed: m.contacts_state,
    lastOpenedAt: m.contacts_last_opened,
    lastClickedAt: m.contacts_last_clicked,
    audience: m.contacts_audience,
  };
  if (field.startsWith(EVENT_PREFIX)) return m.contacts_rule_event_words({ name: field.slice(EVENT_PREFIX.length) });
  return own[field]?.() ?? attributeOf(field) ?? field;
}

const OPERATORS: Record<Operator, () => string> = {
  eq: m.contacts_op_eq,
  neq: m.contacts_op_neq,
  gt: m.contacts_op_gt,
  gte: m.contacts_op_gte,
  lt: m.contacts_op_lt,
  lte: m.contacts_op_lte,
  contains: m.contacts_op_contains,
  notContains: m.contacts_op_not_contains,
  startsWith: m.contacts_op_starts,
  endsWith: m.contacts_op_ends,
  in: m.contacts_op_in,
  notIn: m.contacts_op_not_in,
  exists: m.contacts_op_exists,
  notExists: m.contacts_op_not_exists,
  before: m.contacts_op_before,
  after: m.contacts_op_after,
  withinDays: m.contacts_op_within,
  notWithinDays: m.contacts_op_not_within,
};
const COUNTS: Partial<Record<Operator, () => string>> = {
  eq: m.contacts_count_eq,
  neq: m.contacts_count_neq,
  gt: m.contacts_count_gt,
  gte: m.contacts_count_gte,
  lt: m.contacts_count_lt,
  lte: m.contacts_count_lte,
};
const HAPPENED: Partial<Record<Operator, () => string>> = {
  exists: m.contacts_happened,
  notExists: m.contacts_never_happened,
};

/** An operator in words, which depend on what is compared. */
export function operatorWords(field: string, operator: Operator): string {
  if (countsEvents({ field, operator })) return (COUNTS[operator] ?? OPERATORS[operator])();
  const isTime = field === "lastOpenedAt" || field === "lastClickedAt" || field.startsWith(EVENT_PREFIX);
  return ((isTime && HAPPENED[operator]) || OPERATORS[operator])();
}

/** Names of audiences by id. */
export type Names = ReadonlyMap<string, string>;

function valueWords({ field, kind, text, within }: Condition, names: Names): string {
  const lines = text.split("\n").filter((line) => line.trim());
  switch (kind) {
    case "none":
      return "";
    case "days":
      return m.contacts_rule_days({ days: text });
    case "count":
      return within.trim()
        ? m.contacts_rule_times_within({ times: text, days: within.trim() })
        : m.contacts_rule_times({ times: text });
    case "boolean":
      if (field === "unsubscribed") return text === "true" ? m.contacts_unsubscribed() : m.contacts_subscribed();
      return text === "true" ? m.contacts_yes() : m.contacts_no();
    case "audience":
    case "audiences":
      return lines.map((id) => names.get(id) ?? id).join(", ");
    case "date": {
      const date = new Date(`${text}T00:00`);
      return Number.isNaN(date.getTime()) ? text : `${shortDay(date)} ${date.getFullYear()}`;
    }
    case "number":
      return Number.isInteger(Number(text)) ? count(Number(text)) : text;
    default:
      return lines.join(", ");
  }
}

/** A condition in words: `plan is one of pro, team`. */
export function conditionWords(condition: Condition, names: Names): string {
  const { field, operator } = condition;
  return `${fieldWords(field)} ${operatorWords(field, operator)} ${valueWords(condition, names)}`.trim();
}

/** All of a rule in one line. */
export function groupWords(group: Group, names: Names, isInner = false): string {
  if (group.nodes.length === 0) return group.match === "all" ? m.contacts_rule_everybody() : m.contacts_rule_nobody();
  const parts = group.nodes.map((node) =>
    isGroup(node) ? groupWords(node, names, true) : conditionWords(node, names),
  );
  const words = parts.join(group.match === "all" ? m.contacts_rule_and() : m.contacts_rule_or());
  return isInner && parts.length > 1 ? `(${words})` : words;
}
