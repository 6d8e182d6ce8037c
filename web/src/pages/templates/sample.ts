/** What is shown for a variable until someone writes something better. */
const GUESSES: [RegExp, unknown][] = [
  [/^(first_?name|given_?name|vorname)$/i, "Lena"],
  [/^(last_?name|family_?name|surname|nachname)$/i, "Hoffmann"],
  [/^(name|full_?name)$/i, "Lena Hoffmann"],
  [/e_?mail$/i, "lena@example.com"],
  [/^(company|organi[sz]ation)(_?name)?$/i, "Northwind Coffee"],
  [/(url|link|href)$/i, "https://example.com/"],
  [/^order(_?number|_?id)?$/i, "10482"],
  [/(price|total|amount|sum)$/i, "€ 132.00"],
  [/date|day$/i, "Thursday 11 June"],
  [/time$/i, "10:30"],
  [/code$/i, "482 913"],
  [
    /^(items|lines|products)$/i,
    [item("Summer roast, whole beans", 6, "€ 132.00"), item("Paper filters", 2, "€ 18.50")],
  ],
  [/^(is|has)[A-Z_]/, true],
];

function item(name: string, quantity: number, price: string) {
  return { name, quantity, price };
}

/** A value for a variable of this name, such as `plan.name`. */
export function guess(name: string): unknown {
  const last = name.split(".").at(-1) ?? name;
  const found = GUESSES.find(([pattern]) => pattern.test(last));
  return found ? found[1] : wordsOf(last);
}

/** The name of a variable as words: `orderNumber`, `order_number` and `order.number` are "Order number". */
export function wordsOf(name: string): string {
  const words = name
    .replace(/([a-z0-9])([A-Z])/g, "$1 $2")
    .replace(/[._-]+/g, " ")
    .trim()
    .toLowerCase()
    .replace(/\b(id|url)\b/g, (short) => short.toUpperCase());
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** HTML of a template with the names of its variables in their places, for a picture that is too small to be read. */
export function withNames(html: string): string {
  return html
    .replace(/\{%[\s\S]*?%\}|\{#[\s\S]*?#\}/g, "")
    .replace(/\{\{-?\s*([A-Za-z_][\w.]*)?[\s\S]*?\}\}/g, (_, name?: string) => (name ? wordsOf(name) : ""));
}

/** A sample value as a person types it: text as it is, the others as JSON. */
export function typedOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}

/** What a person typed: lists, objects, true and false as in JSON, the others as text. */
export function readTyped(typed: string): unknown {
  if (!/^\s*(\[|\{|true\s*$|false\s*$)/.test(typed)) return typed;
  try {
    return JSON.parse(typed);
  } catch {
    return typed;
  }
}

/** The variables as the server takes them: `plan.name` is the field `name` of the object `plan`. */
export function variablesOf(names: string[], typed: Record<string, string>): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  // The longer names last: `plan` is an object if there is also `plan.name`.
  for (const name of [...names].sort((a, b) => a.split(".").length - b.split(".").length)) {
    const path = name.split(".");
    const value = typed[name] === undefined ? guess(name) : readTyped(typed[name]);
    let at = values;
    for (const part of path.slice(0, -1)) {
      const inner = Object.hasOwn(at, part) ? at[part] : undefined;
      const next = typeof inner === "object" && inner !== null && !Array.isArray(inner) ? inner : {};
      Object.defineProperty(at, part, { value: next, enumerable: true, configurable: true, writable: true });
      at = next as Record<string, unknown>;
    }
    Object.defineProperty(at, path.at(-1) ?? name, { value, enumerable: true, configurable: true, writable: true });
  }
  return values;
}

const KEY = "postern.sample.";

/** The sample data of a template, as this browser keeps it. */
export function keptSample(templateId: string): Record<string, string> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY + templateId) ?? "{}");
    const entries = typeof kept === "object" && kept ? Object.entries(kept) : [];
    return Object.fromEntries(entries.filter(([, value]) => typeof value === "string"));
  } catch {
    return {};
  }
}

export function keepSample(templateId: string, typed: Record<string, string>): void {
  try {
    localStorage.setItem(KEY + templateId, JSON.stringify(typed));
  } catch {
    // Without room, the data is kept until the page is left.
  }
}
