/** How the value of an attribute is edited. `json` is for values that no other input can hold. */
export type Kind = "string" | "number" | "boolean" | "date" | "list" | "json";

/** Types that an attribute can be given, as the API names them. */
export const TYPES = ["string", "number", "boolean", "date", "list"] as const;

const DAY = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|[12]\d|3[01])$/;
const NUMBER = /^-?\d+(\.\d+)?([eE][+-]?\d+)?$/;

/** The input for a value: what the value is decides, and for an empty one the declared type of its attribute. */
export function kindOf(value: unknown, declared?: string): Kind {
  if (value === undefined) return TYPES.find((each) => each === declared) ?? "string";
  if (typeof value === "number" || typeof value === "boolean") return typeof value as Kind;
  if (typeof value === "string") return declared === "date" && DAY.test(value) ? "date" : "string";
  if (Array.isArray(value) && value.every((each) => typeof each === "string" && each && !/[\r\n]/.test(each)))
    return "list";
  return "json";
}

/** A value as the text of its input. A list has a line for each of its elements. */
export function textOf(value: unknown, kind: Kind): string {
  if (value === undefined) return "";
  if (kind === "list") return (value as string[]).join("\n");
  return kind === "json" ? JSON.stringify(value, null, 2) : String(value);
}

export type Fault = "number" | "date" | "boolean" | "json";

/** The value that the text of an input means, or what is wrong with it. */
export function parsed(text: string, kind: Kind): { value: unknown } | { fault: Fault } {
  const trimmed = text.trim();
  switch (kind) {
    case "number":
      return NUMBER.test(trimmed) && Number.isFinite(Number(trimmed))
        ? { value: Number(trimmed) }
        : { fault: "number" };
    case "boolean":
      return text === "true" || text === "false" ? { value: text === "true" } : { fault: "boolean" };
    case "date":
      return DAY.test(trimmed) ? { value: trimmed } : { fault: "date" };
    case "list":
      return { value: text.split(/\r?\n/).filter((line) => line.trim() !== "") };
    case "json":
      try {
        return { value: JSON.parse(text) };
      } catch {
        return { fault: "json" };
      }
    default:
      return { value: text };
  }
}

/** Whether two values are the same JSON, whatever the order of keys. */
export function isSame(first: unknown, second: unknown): boolean {
  return JSON.stringify(ordered(first)) === JSON.stringify(ordered(second));
}

function ordered(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(ordered);
  if (typeof value !== "object" || value === null) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([key, each]) => [key, ordered(each)]));
}

/** Text that a spreadsheet would run as a formula. */
const FORMULA = /^'*[=+\-@]/;

/** A cell of a CSV file. Text that a spreadsheet would run gets an apostrophe, as in the exports of the API. */
export function csvCell(value: unknown): string {
  if (value === undefined || value === null) return "";
  const isText = typeof value === "string";
  const text = isText ? value : typeof value === "object" ? JSON.stringify(value) : String(value);
  const safe = isText && FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n;]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

/** Rows as a CSV file. */
export function csvOf(rows: unknown[][]): string {
  return rows.map((row) => `${row.map(csvCell).join(",")}\r\n`).join("");
}
