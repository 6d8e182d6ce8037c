/** The trigger and steps of an automation as the editor holds them: texts of inputs, and trees of rules. */
import { type Group, newCondition, newGroup, rulesOf, treeOf } from "../contacts/rules.ts";

export const STEP_TYPES = [
  "SEND_EMAIL",
  "DELAY",
  "CONDITION",
  "WAIT_FOR_EVENT",
  "UPDATE_CONTACT",
  "ADD_TO_AUDIENCE",
  "REMOVE_FROM_AUDIENCE",
  "WEBHOOK",
  "EXIT",
] as const;
export type StepType = (typeof STEP_TYPES)[number];
export const TRIGGER_TYPES = ["AUDIENCE_JOINED", "AUDIENCE_LEFT", "CONTACT_CREATED", "EVENT"] as const;
export type TriggerType = (typeof TRIGGER_TYPES)[number];
export const BRANCHES = ["then", "else"] as const;
export type Branch = (typeof BRANCHES)[number];

/** Steps that the API allows, those in branches included, and branches within branches. */
export const MOST_STEPS = 150;
export const MOST_LEVELS = 10;

/** A change of one attribute of a contact. */
export interface AttributeRow {
  key: string;
  name: string;
  kind: "text" | "number" | "boolean" | "remove" | "json";
  text: string;
}

export interface EditedStep {
  id: string;
  type: StepType;
  /** The texts of the inputs, by the name of the field in the API. */
  fields: Record<string, string>;
  /** The rules of a condition; without a tree, they are `raw` and shown as text. */
  tree?: Group;
  raw?: unknown;
  attributes?: AttributeRow[];
  then: EditedStep[];
  else: EditedStep[];
}

/** A condition on the data of the event that starts a run. */
export interface DataRow {
  key: string;
  field: string;
  operator: string;
  text: string;
}
export const DATA_OPERATORS = ["eq", "neq", "gt", "gte", "lt", "lte", "contains", "exists", "notExists"] as const;

export interface EditedTrigger {
  type: TriggerType;
  audienceId: string;
  event: string;
  once: boolean;
  match: "all" | "any";
  rows: DataRow[];
  /** Rules that the rows cannot show. */
  raw?: unknown;
}

export interface Content {
  name: string;
  trigger: EditedTrigger;
  steps: EditedStep[];
}

export function newId(): string {
  return crypto.randomUUID().slice(0, 13);
}

export function newStep(type: StepType, fields: Record<string, string> = {}): EditedStep {
  const step: EditedStep = { id: newId(), type, fields, then: [], else: [] };
  if (type === "CONDITION") return { ...step, tree: newGroup("all", [newCondition("lastOpenedAt", new Map())]) };
  if (type === "DELAY") return { ...step, fields: { days: "1", ...fields } };
  if (type === "WAIT_FOR_EVENT") return { ...step, fields: { event: "", days: "3", ...fields } };
  if (type === "UPDATE_CONTACT") return { ...step, attributes: [{ key: newId(), name: "", kind: "text", text: "" }] };
  return step;
}

export function isBranching(step: Pick<EditedStep, "type">): boolean {
  return step.type === "CONDITION" || step.type === "WAIT_FOR_EVENT";
}

type Json = Record<string, unknown>;
const words = (value: unknown): string => (value === undefined || value === null ? "" : String(value));

/** What a step of the API is as an edited one. */
function stepOf(given: Json): EditedStep {
  const type = given.type as StepType;
  const step: EditedStep = { id: newId(), type, fields: {}, then: [], else: [] };
  const list = (value: unknown) => (Array.isArray(value) ? value.map((each) => stepOf(each as Json)) : []);
  switch (type) {
    case "CONDITION": {
      const read = treeOf(given.rules);
      return {
        ...step,
        ...("tree" in read ? { tree: read.tree } : { raw: given.rules }),
        then: list(given.then),
        else: list(given.else),
      };
    }
    case "WAIT_FOR_EVENT": {
      const timeout = (given.timeout ?? { days: 30 }) as Json;
      const { days, hours, minutes } = timeout;
      const fields = { event: words(given.event), days: words(days), hours: words(hours), minutes: words(minutes) };
      return { ...step, fields, then: list(given.then), else: list(given.else) };
    }
    case "UPDATE_CONTACT":
      return { ...step, attributes: Object.entries((given.attributes ?? {}) as Json).map(rowOf) };
    default: {
      const { type: _, ...fields } = given;
      return {
        ...step,
        fields: Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, words(value)])),
      };
    }
  }
}

function rowOf([name, value]: [string, unknown]): AttributeRow {
  const key = newId();
  if (value === null) return { key, name, kind: "remove", text: "" };
  if (typeof value === "number") return { key, name, kind: "number", text: String(value) };
  if (typeof value === "boolean") return { key, name, kind: "boolean", text: String(value) };
  if (typeof value === "string") return { key, name, kind: "text", text: value };
  return { key, name, kind: "json", text: JSON.stringify(value) };
}

function valueIn({ kind, text }: AttributeRow): unknown {
  if (kind === "remove") return null;
  if (kind === "number") return Number(text.trim());
  if (kind === "boolean") return text === "true";
  if (kind !== "json") return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}

/** A step as the API takes it. What is empty is left out, except what the API requires. */
export function apiStep(step: EditedStep): Json {
  const { type, fields } = step;
  const number = (name: string) => (fields[name]?.trim() ? Number(fields[name]) : undefined);
  const some = (names: Json): Json =>
    Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined));
  const duration = () => some({ minutes: number("minutes"), hours: number("hours"), days: number("days") });
  const branches = { then: step.then.map(apiStep), else: step.else.map(apiStep) };
  switch (type) {
    case "SEND_EMAIL":
      return some({
        type,
        templateId: fields.templateId ?? "",
        domainId: fields.domainId || undefined,
        fromEmail: fields.fromEmail?.trim() ?? "",
        fromName: fields.fromName?.trim() || undefined,
        subject: fields.subject?.trim() || undefined,
        replyTo: fields.replyTo?.trim() || undefined,
      });
    case "DELAY":
      return fields.until ? { type, until: fields.until } : { type, ...duration() };
    case "CONDITION":
      return { type, rules: step.tree ? rulesOf(step.tree) : step.raw, ...branches };
    case "WAIT_FOR_EVENT": {
      const timeout = duration();
      const event = fields.event?.trim() ?? "";
      return { type, event, ...(Object.keys(timeout).length > 0 && { timeout }), ...branches };
    }
    case "UPDATE_CONTACT":
      return {
        type,
        attributes: Object.fromEntries(
          (step.attributes ?? []).filter((row) => row.name.trim()).map((row) => [row.name.trim(), valueIn(row)]),
        ),
      };
    case "ADD_TO_AUDIENCE":
    case "REMOVE_FROM_AUDIENCE":
      return { type, audienceId: fields.audienceId ?? "" };
    case "WEBHOOK":
      return { type, url: fields.url?.trim() ?? "" };
    default:
      return { type };
  }
}

function triggerOf(given: Json): EditedTrigger {
  const trigger: EditedTrigger = {
    type: given.type as TriggerType,
    audienceId: words(given.audienceId),
    event: words(given.event),
    once: given.once !== false,
    match: "all",
    rows: [],
  };
  const where = given.where as { match?: "all" | "any"; conditions: Json[] } | undefined;
  if (!where) return trigger;
  const isPlain = where.conditions.every(
    ({ field, operator, value, ...others }) =>
      typeof field === "string" &&
      DATA_OPERATORS.some((each) => each === operator) &&
      (value === undefined || value === null || ["string", "number", "boolean"].includes(typeof value)) &&
      Object.keys(others).length === 0,
  );
  if (!isPlain) return { ...trigger, raw: where };
  const rows = where.conditions.map(({ field, operator, value }) => ({
    key: newId(),
    field: words(field),
    operator: words(operator),
    // A text that looks like a number or a truth value is written in quotes, as in JSON.
    text: typeof value === "string" && typeof typed(value) !== "string" ? JSON.stringify(value) : words(value),
  }));
  return { ...trigger, match: where.match ?? "all", rows };
}

/** A typed value: a number, true or false, or text. Quotes make text of anything. */
export function typed(text: string): unknown {
  const trimmed = text.trim();
  if (trimmed === "true" || trimmed === "false") return trimmed === "true";
  if (/^-?\d+(\.\d+)?$/.test(trimmed)) return Number(trimmed);
  const quoted = /^"(.*)"$/.exec(trimmed);
  return quoted ? quoted[1] : trimmed;
}

export function apiTrigger({ type, audienceId, event, once, match, rows, raw }: EditedTrigger): Json {
  if (type === "CONTACT_CREATED") return { type, once };
  if (type !== "EVENT") return { type, audienceId, once };
  const conditions = rows.map((row) => ({
    field: row.field.trim(),
    operator: row.operator,
    ...(row.operator !== "exists" && row.operator !== "notExists" && { value: typed(row.text) }),
  }));
  const where = raw ?? (conditions.length > 0 ? { match, conditions } : undefined);
  return { type, event: event.trim(), once, ...(where !== undefined && { where }) };
}

export function contentOf({ name, trigger, steps }: { name: string; trigger: Json; steps: Json[] }): Content {
  return { name, trigger: triggerOf(trigger), steps: steps.map(stepOf) };
}

export function bodyOf({ name, trigger, steps }: Content): { name: string; trigger: Json; steps: Json[] } {
  return { name: name.trim(), trigger: apiTrigger(trigger), steps: steps.map(apiStep) };
}

/** Whether something that this browser kept can be edited. */
export function isContent(value: unknown): value is Content {
  const content = value as Content | null;
  const areSteps = (steps: unknown): boolean =>
    Array.isArray(steps) &&
    steps.every(
      (step: EditedStep) =>
        typeof step?.id === "string" &&
        STEP_TYPES.includes(step.type) &&
        typeof step.fields === "object" &&
        areSteps(step.then) &&
        areSteps(step.else),
    );
  return (
    typeof content?.name === "string" &&
    TRIGGER_TYPES.includes(content.trigger?.type) &&
    Array.isArray(content.trigger.rows) &&
    areSteps(content.steps)
  );
}

export interface Position {
  step: EditedStep;
  /** Where it is in the body of a request: `/steps/1/then/0`. */
  path: string;
  /** Its number in the list that a run counts. */
  index: number;
  level: number;
}

/** All steps in the order in which the API counts them: a branching step, its `then`, its `else`, what follows. */
export function flattened(steps: EditedStep[]): Position[] {
  const found: Position[] = [];
  const walk = (list: EditedStep[], path: string, level: number) => {
    for (const [at, step] of list.entries()) {
      const own = `${path}/${at}`;
      found.push({ step, path: own, index: found.length, level });
      for (const branch of BRANCHES) walk(step[branch], `${own}/${branch}`, level + 1);
    }
  };
  walk(steps, "/steps", 0);
  return found;
}

/** The step that a path of an error is about, and the rest of the path: `templateId`. */
export function stepAt(steps: EditedStep[], path: string): { step: EditedStep; field: string } | undefined {
  const positions = flattened(steps).filter((each) => path === each.path || path.startsWith(`${each.path}/`));
  const deepest = positions.sort((a, b) => b.path.length - a.path.length)[0];
  return deepest && { step: deepest.step, field: path.slice(deepest.path.length + 1) };
}

/** The list that a step is in. */
interface Place {
  parent: EditedStep | undefined;
  branch: Branch | undefined;
  list: EditedStep[];
  at: number;
}

export function placeOf(steps: EditedStep[], id: string, parent?: EditedStep, branch?: Branch): Place | undefined {
  const at = steps.findIndex((each) => each.id === id);
  if (at >= 0) return { parent, branch, list: steps, at };
  for (const step of steps)
    for (const name of BRANCHES) {
      const found = placeOf(step[name], id, step, name);
      if (found) return found;
    }
  return undefined;
}

/** The steps with the list replaced that belongs to a branch of a step, or the outermost one. */
export function withList(
  steps: EditedStep[],
  parent: string | undefined,
  branch: Branch | undefined,
  change: (list: EditedStep[]) => EditedStep[],
): EditedStep[] {
  if (parent === undefined || branch === undefined) return change(steps);
  return steps.map((step) =>
    step.id === parent
      ? { ...step, [branch]: change(step[branch]) }
      : isBranching(step)
        ? {
            ...step,
            then: withList(step.then, parent, branch, change),
            else: withList(step.else, parent, branch, change),
          }
        : step,
  );
}

export function replacedStep(steps: EditedStep[], id: string, by: (step: EditedStep) => EditedStep[]): EditedStep[] {
  return steps.flatMap((step) =>
    step.id === id
      ? by(step)
      : [{ ...step, then: replacedStep(step.then, id, by), else: replacedStep(step.else, id, by) }],
  );
}

function copyOf(step: EditedStep): EditedStep {
  return { ...step, id: newId(), then: step.then.map(copyOf), else: step.else.map(copyOf) };
}

export function duplicated(steps: EditedStep[], id: string): { steps: EditedStep[]; id: string } {
  let copied = id;
  const next = replacedStep(steps, id, (step) => {
    const copy = copyOf(step);
    copied = copy.id;
    return [step, copy];
  });
  return { steps: next, id: copied };
}

export type Move = "up" | "down" | "in" | "out";

/**
 * The steps after a move; the same steps if it is not possible.
 *
 * Up and down go past a neighbour, and from one branch of a step to the other or out of it. In goes to the end of the
 * branching step above; out goes behind the step whose branch it is.
 */
export function moved(steps: EditedStep[], id: string, move: Move): EditedStep[] {
  const place = placeOf(steps, id);
  const step = place?.list[place.at];
  if (!place || !step) return steps;
  const { parent, branch, list, at } = place;
  const without = replacedStep(steps, id, () => []);
  const put = (of: string | undefined, name: Branch | undefined, index: (list: EditedStep[]) => number) =>
    withList(without, of, name, (target) => target.toSpliced(index(target), 0, step));
  const outer = parent && placeOf(steps, parent.id);
  const beside = (offset: number) =>
    outer
      ? put(outer.parent?.id, outer.branch, (target) => target.findIndex((each) => each.id === parent?.id) + offset)
      : steps;
  const swap = (to: number) => put(parent?.id, branch, () => to);
  switch (move) {
    case "up":
      if (at > 0) return swap(at - 1);
      if (branch === "else") return put(parent?.id, "then", (target) => target.length);
      return beside(0);
    case "down":
      if (at < list.length - 1) return swap(at + 1);
      if (branch === "then") return put(parent?.id, "else", () => 0);
      return beside(1);
    case "out":
      return beside(1);
    case "in": {
      const above = list[at - 1];
      return above && isBranching(above) ? put(above.id, "then", (target) => target.length) : steps;
    }
  }
}

/** What is missing in the trigger or a step before the automation can run; the first is the name of the field. */
export type Need =
  | "name"
  | "audience"
  | "event"
  | "where"
  | "steps"
  | "template"
  | "sender"
  | "duration"
  | "rules"
  | "attributes"
  | "url"
  | "limit";

export interface Missing {
  /** The step; undefined for the trigger and the whole. */
  id: string | undefined;
  need: Need;
}

const WHOLE = /^\d+$/;

function hasDuration({ fields }: EditedStep): boolean {
  const parts = ["days", "hours", "minutes"].map((name) => fields[name]?.trim() ?? "").filter(Boolean);
  return parts.length > 0 && parts.every((part) => WHOLE.test(part) && Number(part) > 0);
}

/** What of a step is missing. `isComplete` says whether the values of a tree of rules are all there. */
export function needsOf(step: EditedStep, isComplete: (tree: Group) => boolean): Need[] {
  const { type, fields } = step;
  const needs: Need[] = [];
  if (type === "SEND_EMAIL") {
    if (!fields.templateId) needs.push("template");
    if (!/^[^@\s]+@[^@\s]+$/.test(fields.fromEmail?.trim() ?? "")) needs.push("sender");
  } else if (type === "DELAY") {
    if (!fields.until && !hasDuration(step)) needs.push("duration");
  } else if (type === "CONDITION") {
    if (step.tree && !isComplete(step.tree)) needs.push("rules");
  } else if (type === "WAIT_FOR_EVENT") {
    if (!fields.event?.trim()) needs.push("event");
    if (!hasDuration(step)) needs.push("duration");
  } else if (type === "UPDATE_CONTACT") {
    const rows = step.attributes ?? [];
    const isWrong = (row: AttributeRow) =>
      !row.name.trim() || (row.kind === "number" && !Number.isFinite(Number(row.text.trim() || "x")));
    if (rows.length === 0 || rows.some(isWrong)) needs.push("attributes");
  } else if (type === "WEBHOOK") {
    if (!/^https?:\/\/\S+$/.test(fields.url?.trim() ?? "")) needs.push("url");
  } else if (type !== "EXIT" && !fields.audienceId) needs.push("audience");
  return needs;
}

export function missingIn(content: Content, isComplete: (tree: Group) => boolean): Missing[] {
  const { name, trigger, steps } = content;
  const missing: Missing[] = [];
  const add = (id: string | undefined, need: Need) => missing.push({ id, need });
  if (!name.trim()) add(undefined, "name");
  if (trigger.type.startsWith("AUDIENCE") && !trigger.audienceId) add(undefined, "audience");
  if (trigger.type === "EVENT" && !trigger.event.trim()) add(undefined, "event");
  if (
    trigger.type === "EVENT" &&
    trigger.rows.some((row) => !row.field.trim() || (!row.operator.endsWith("xists") && !row.text.trim()))
  )
    add(undefined, "where");
  if (steps.length === 0) add(undefined, "steps");
  const positions = flattened(steps);
  if (positions.length > MOST_STEPS || positions.some((each) => each.level >= MOST_LEVELS)) add(undefined, "limit");
  for (const { step } of positions) for (const need of needsOf(step, isComplete)) add(step.id, need);
  return missing;
}

/** What the API refuses to store; the rest may be chosen later, before the automation is activated. */
export const NEEDED_TO_SAVE: Need[] = [
  "name",
  "event",
  "where",
  "sender",
  "duration",
  "rules",
  "attributes",
  "url",
  "limit",
];
