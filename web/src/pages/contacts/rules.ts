/** The rules of audiences as the builder holds them: a tree whose values are texts of inputs. */

export const MATCHES = ["all", "any"] as const;
export type Match = (typeof MATCHES)[number];

/** Groups within groups that the API allows, the outermost included. */
export const MOST_LEVELS = 4;
/** Conditions, and groups, that the API allows. */
export const MOST_CONDITIONS = 50;

export type Operator =
  | "eq"
  | "neq"
  | "gt"
  | "gte"
  | "lt"
  | "lte"
  | "contains"
  | "notContains"
  | "startsWith"
  | "endsWith"
  | "in"
  | "notIn"
  | "exists"
  | "notExists"
  | "before"
  | "after"
  | "withinDays"
  | "notWithinDays";

const OPERATORS: Operator[] = [
  "eq",
  "neq",
  "gt",
  "gte",
  "lt",
  "lte",
  "contains",
  "notContains",
  "startsWith",
  "endsWith",
  "in",
  "notIn",
  "exists",
  "notExists",
  "before",
  "after",
  "withinDays",
  "notWithinDays",
];

/** What a field of a condition is, which decides the operators. `unknown` is an attribute without a type. */
export type FieldKind =
  | "email"
  | "moment"
  | "flag"
  | "audience"
  | "event"
  | "string"
  | "number"
  | "boolean"
  | "date"
  | "list"
  | "unknown";

/** How a value is typed in. `texts` and `numbers` have a line for each value, `audiences` are ids. */
export type ValueKind =
  | "none"
  | "text"
  | "number"
  | "boolean"
  | "date"
  | "days"
  | "count"
  | "texts"
  | "numbers"
  | "audience"
  | "audiences";

export interface Condition {
  key: string;
  field: string;
  operator: Operator;
  kind: ValueKind;
  text: string;
  /** For how often an event happened: the days in which it counts, as text. Empty: at any time. */
  within: string;
}

export interface Group {
  key: string;
  match: Match;
  nodes: Node[];
}

export type Node = Condition | Group;

export function isGroup(node: Node): node is Group {
  return "nodes" in node;
}

const FIELDS: Record<string, FieldKind> = {
  email: "email",
  createdAt: "moment",
  unsubscribed: "flag",
  lastOpenedAt: "moment",
  lastClickedAt: "moment",
  audience: "audience",
};
/** The fields of a contact itself, as they are offered. */
export const OWN_FIELDS = ["email", "createdAt", "unsubscribed", "lastOpenedAt", "lastClickedAt"] as const;
export const EVENT_PREFIX = "events.";
const ATTRIBUTE_PREFIX = "attributes.";

/** The name of the attribute that a field means; undefined for other fields. */
export function attributeOf(field: string): string | undefined {
  if (field in FIELDS || field.startsWith(EVENT_PREFIX)) return undefined;
  return field.startsWith(ATTRIBUTE_PREFIX) ? field.slice(ATTRIBUTE_PREFIX.length) : field;
}

export function fieldOfAttribute(name: string): string {
  return ATTRIBUTE_PREFIX + name;
}

/** Types of attributes by name. */
export type Types = ReadonlyMap<string, string>;

export function fieldKind(field: string, types: Types): FieldKind {
  if (field in FIELDS) return FIELDS[field] as FieldKind;
  if (field.startsWith(EVENT_PREFIX)) return "event";
  return (types.get(attributeOf(field) ?? "") as FieldKind | undefined) ?? "unknown";
}

const COMPARED: Operator[] = ["eq", "neq", "gt", "gte", "lt", "lte"];
const TEXT: Operator[] = [
  "eq",
  "neq",
  "contains",
  "notContains",
  "startsWith",
  "endsWith",
  "in",
  "notIn",
  "exists",
  "notExists",
];
const TIMES: Operator[] = ["withinDays", "notWithinDays", "before", "after", "exists", "notExists"];

/** The operators that are offered for a kind of field. Others are shown where a rule has them. */
export const OFFERED: Record<FieldKind, Operator[]> = {
  email: ["eq", "neq", "contains", "notContains", "startsWith", "endsWith", "in", "notIn"],
  moment: TIMES,
  flag: ["eq"],
  audience: ["eq", "neq", "in", "notIn"],
  event: [...TIMES, ...COMPARED],
  string: TEXT,
  number: [...COMPARED, "in", "notIn", "exists", "notExists"],
  boolean: ["eq", "neq", "exists", "notExists"],
  date: [...TIMES, "eq"],
  list: ["contains", "notContains", "exists", "notExists"],
  unknown: [...TEXT, "gt", "gte", "lt", "lte", "before", "after", "withinDays", "notWithinDays"],
};

/** Whether the number of events is compared, and not the time of the last one. */
export function countsEvents(condition: { field: string; operator: string }): boolean {
  return condition.field.startsWith(EVENT_PREFIX) && (COMPARED as string[]).includes(condition.operator);
}

/** The input that a field and an operator take at first. */
export function valueKind(field: string, operator: Operator, types: Types): ValueKind {
  const kind = fieldKind(field, types);
  if (operator === "exists" || operator === "notExists") return "none";
  if (operator === "withinDays" || operator === "notWithinDays") return "days";
  if (operator === "before" || operator === "after") return "date";
  if (countsEvents({ field, operator })) return "count";
  const isList = operator === "in" || operator === "notIn";
  if (kind === "audience") return isList ? "audiences" : "audience";
  if (isList) return kind === "number" ? "numbers" : "texts";
  if (operator === "startsWith" || operator === "endsWith") return "text";
  if (kind === "number") return "number";
  if (kind === "boolean" || kind === "flag") return "boolean";
  return kind === "date" || kind === "moment" ? "date" : "text";
}

let keys = 0;
export function newKey(): string {
  keys += 1;
  return `n${keys}`;
}

export function newCondition(field: string, types: Types): Condition {
  const operator = OFFERED[fieldKind(field, types)][0] as Operator;
  return withOperator({ key: newKey(), field, operator, kind: "text", text: "", within: "" }, operator, types);
}

export function newGroup(match: Match, nodes: Node[]): Group {
  return { key: newKey(), match, nodes };
}

/** A condition with another field, with the same operator if the field takes it. */
export function withField(condition: Condition, field: string, types: Types): Condition {
  const offered = OFFERED[fieldKind(field, types)];
  const operator = offered.includes(condition.operator) ? condition.operator : (offered[0] as Operator);
  return withOperator({ ...condition, field }, operator, types);
}

/** A condition with another operator. What was typed stays if the input is of the same sort. */
export function withOperator(condition: Condition, operator: Operator, types: Types): Condition {
  const kind = valueKind(condition.field, operator, types);
  const isKept = kind === condition.kind || (kind === "texts" && condition.kind === "text");
  const first = kind === "boolean" ? (condition.field === "unsubscribed" ? "false" : "true") : "";
  return {
    ...condition,
    operator,
    kind,
    text: isKept && condition.text ? condition.text : first,
    within: countsEvents({ field: condition.field, operator }) ? condition.within : "",
  };
}

/** Why rules cannot be shown in the builder. */
export type Reason = "json" | "shape" | "operator" | "value";

const DAY = /^\d{4}-\d{2}-\d{2}$/;

class Unshown extends Error {
  readonly reason: Reason;
  constructor(reason: Reason) {
    super(reason);
    this.reason = reason;
  }
}

/** Rules of the API as a tree; or why the builder cannot show them without losing something. */
export function treeOf(rules: unknown): { tree: Group } | { reason: Reason } {
  try {
    return { tree: readGroup(rules, 1) };
  } catch (error) {
    if (error instanceof Unshown) return { reason: error.reason };
    throw error;
  }
}

function record(value: unknown, names: string[]): Record<string, unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) throw new Unshown("shape");
  if (Object.keys(value).some((name) => !names.includes(name))) throw new Unshown("shape");
  return value as Record<string, unknown>;
}

function readGroup(value: unknown, level: number): Group {
  const { match = "all", conditions } = record(value, ["match", "conditions"]);
  if ((match !== "all" && match !== "any") || !Array.isArray(conditions) || level > MOST_LEVELS)
    throw new Unshown("shape");
  return newGroup(
    match,
    conditions.map((each: unknown) =>
      typeof each === "object" && each !== null && "conditions" in each
        ? readGroup(each, level + 1)
        : readCondition(each),
    ),
  );
}

function readCondition(given: unknown): Condition {
  const { field, operator, value, withinDays } = record(given, ["field", "operator", "value", "withinDays"]);
  if (typeof field !== "string" || !field) throw new Unshown("shape");
  const known = OPERATORS.find((each) => each === operator);
  if (!known) throw new Unshown("operator");
  if (withinDays !== undefined && (typeof withinDays !== "number" || !countsEvents({ field, operator: known })))
    throw new Unshown("shape");
  const within = withinDays === undefined ? "" : String(withinDays);
  return { key: newKey(), field, operator: known, ...readValue(field, known, value), within };
}

function readValue(field: string, operator: Operator, value: unknown): { kind: ValueKind; text: string } {
  if (operator === "exists" || operator === "notExists") {
    if (value !== undefined && value !== null && value !== true) throw new Unshown("value");
    return { kind: "none", text: "" };
  }
  if (field === "audience" && typeof value === "string") return { kind: "audience", text: value };
  if (Array.isArray(value)) {
    if (operator !== "in" && operator !== "notIn") throw new Unshown("value");
    if (value.every((each) => typeof each === "string" && each.trim() !== "" && !/[\r\n]/.test(each)) && value.length)
      return { kind: field === "audience" ? "audiences" : "texts", text: value.join("\n") };
    if (value.length && value.every((each) => typeof each === "number"))
      return { kind: "numbers", text: value.join("\n") };
    throw new Unshown("value");
  }
  if (typeof value === "boolean") return { kind: "boolean", text: String(value) };
  if (typeof value === "number") {
    const isDays = operator === "withinDays" || operator === "notWithinDays";
    return { kind: isDays ? "days" : countsEvents({ field, operator }) ? "count" : "number", text: String(value) };
  }
  if (typeof value !== "string" || /[\r\n]/.test(value) || value === "") throw new Unshown("value");
  const isDay = DAY.test(value) && operator !== "contains" && operator !== "notContains";
  const isText = operator === "startsWith" || operator === "endsWith" || field === "email";
  return { kind: isDay && !isText ? "date" : "text", text: value };
}

/** What is missing or wrong in a condition that was typed in. */
export type Missing = "empty" | "number" | "days" | "count" | "event";

const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;
const MOST_DAYS = 36_500;
const MOST_EVENTS = 10_000;

/** A value as the API takes it, or what is wrong with it. */
function valueIn({ kind, text }: Condition): { value: unknown } | { missing: Missing } {
  const trimmed = text.trim();
  if (kind === "none") return { value: undefined };
  if (!trimmed) return { missing: "empty" };
  const number = NUMBER.test(trimmed) ? Number(trimmed) : Number.NaN;
  const lines = text
    .split("\n")
    .map((line) => line.trim())
    .filter(Boolean);
  switch (kind) {
    case "number":
      return Number.isFinite(number) ? { value: number } : { missing: "number" };
    case "days":
      return number >= 0 && number <= MOST_DAYS ? { value: number } : { missing: "days" };
    case "count":
      return Number.isInteger(number) && number >= 0 && number <= MOST_EVENTS
        ? { value: number }
        : { missing: "count" };
    case "numbers":
      return lines.every((line) => NUMBER.test(line)) ? { value: lines.map(Number) } : { missing: "number" };
    case "texts":
      return { value: text.split("\n").filter((line) => line.trim()) };
    case "audiences":
      return { value: lines };
    case "boolean":
      return { value: trimmed === "true" };
    default:
      return { value: text };
  }
}

/** What is missing in a condition; undefined if it is complete. */
export function missingIn(condition: Condition): Missing | undefined {
  if (!condition.field || condition.field === EVENT_PREFIX) return "event";
  if (condition.within.trim()) {
    const days = Number(condition.within);
    if (!NUMBER.test(condition.within.trim()) || days < 0 || days > MOST_DAYS) return "days";
  }
  const read = valueIn(condition);
  return "missing" in read ? read.missing : undefined;
}

/** The rules of a tree as the API takes them. Values that are missing are left out. */
export function rulesOf(group: Group): { match: Match; conditions: Record<string, unknown>[] } {
  return {
    match: group.match,
    conditions: group.nodes.map((node) => {
      if (isGroup(node)) return rulesOf(node) as unknown as Record<string, unknown>;
      const read = valueIn(node);
      return {
        field: node.field,
        operator: node.operator,
        ...("value" in read && read.value !== undefined && { value: read.value }),
        ...(node.within.trim() && { withinDays: Number(node.within) }),
      };
    }),
  };
}

/** All conditions of a tree. */
export function conditionsIn(group: Group): Condition[] {
  return group.nodes.flatMap((node) => (isGroup(node) ? conditionsIn(node) : [node]));
}

/** The tree with a node replaced, or removed with `undefined`. */
export function replaced(group: Group, key: string, by: Node | undefined): Group {
  if (group.key === key && by && isGroup(by)) return by;
  return {
    ...group,
    nodes: group.nodes.flatMap((node) => {
      if (node.key === key) return by ? [by] : [];
      return [isGroup(node) ? replaced(node, key, by) : node];
    }),
  };
}

/** The node that an error of the API is about, by a path such as `/rules/conditions/0/conditions/1/value`. */
export function nodeAt(tree: Group, path: string): Node | undefined {
  let node: Node = tree;
  const indexes = [...path.matchAll(/\/conditions\/(\d+)/g)];
  if (!/\/conditions/.test(path)) return undefined;
  for (const [, index] of indexes) {
    if (!isGroup(node)) return node;
    const next: Node | undefined = node.nodes[Number(index)];
    if (!next) return node;
    node = next;
  }
  return node;
}

/** Whether something that a browser kept is a group with all that the builder needs. */
export function isTree(value: unknown): value is Group {
  if (typeof value !== "object" || value === null || !("nodes" in value) || !Array.isArray(value.nodes)) return false;
  if (!("key" in value) || typeof value.key !== "string") return false;
  if (!("match" in value) || !MATCHES.includes(value.match as Match)) return false;
  return value.nodes.every((node: unknown) => isTree(node) || isCondition(node));
}

/** The same group with keys that nothing else on this page has. */
export function withNewKeys(group: Group): Group {
  const nodes = group.nodes.map((node) => (isGroup(node) ? withNewKeys(node) : { ...node, key: newKey() }));
  return { ...group, key: newKey(), nodes };
}

function isCondition(value: unknown): value is Condition {
  const isText = (key: keyof Condition) =>
    typeof value === "object" && value !== null && typeof (value as Condition)[key] === "string";
  return (["key", "field", "operator", "kind", "text", "within"] as const).every(isText);
}
