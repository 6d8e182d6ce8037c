import { OPERATIONS } from "../../../sdk/typescript/src/generated/operations.ts";
import { type Credential, credentialOf } from "./credential.ts";
import type { ApiRequest } from "./request.ts";

/** Query parameters that are not text in the clients. Lists stand in the URL with commas. */
export const NUMBERS = ["limit", "page", "days", "countLimit"];
export const BOOLEANS = ["active", "changed", "force", "hosted", "unsubscribed"];
export const LISTS = ["event", "include", "recipients"];
/** The methods whose `status` is a list; that of others is one value. */
export const STATUS_LISTS = [
  "webhooks.deliveries.list",
  "emails.list",
  "emails.export",
  "campaigns.list",
  "campaigns.listSends",
  "campaigns.exportSends",
  "automations.runs.list",
];

/** A method of the clients with its arguments. */
interface Call {
  /** `contacts.imports.list`. */
  method: string;
  /** Parameters of the path, except the project. */
  path: string[];
  fields: [string, unknown][];
  flags: string;
  project: string | undefined;
}

/** The call of the clients that sends a request; undefined if they have no method for it. */
function callOf({ method, path, body }: ApiRequest): Call | undefined {
  const [location = "", query = ""] = path.split("?", 2);
  const segments = location.split("/");
  let found: { names: string; flags: string; values: [string, string][] } | undefined;
  for (const line of OPERATIONS.trim().split("\n")) {
    const [names = "", verb, template = "", flags = ""] = line.split(" ");
    const parts = template.split("/");
    if (verb !== method || parts.length !== segments.length || flags.includes("b")) continue;
    const values: [string, string][] = [];
    const fits = parts.every((part, number) => {
      const segment = segments[number] ?? "";
      if (!/^{\w+}$/.test(part)) return part === segment;
      values.push([part.slice(1, -1), decodeURIComponent(segment)]);
      return true;
    });
    // Of /contacts/{id} and /contacts/export, the one with the name.
    if (fits && (!found || values.length < found.values.length)) found = { names, flags, values };
  }
  if (!found || (body !== undefined && !isRecord(body))) return undefined;
  const { names, flags, values } = found;
  const parameters = [...new URLSearchParams(query)].map(([name, text]): [string, unknown] => [
    name,
    parsed(names, name, text),
  ]);
  return {
    method: names,
    path: values.filter(([name]) => !isProject(name)).map(([, value]) => value),
    fields: [...parameters, ...Object.entries(body ?? {})].filter(([, value]) => value !== undefined),
    flags,
    project: values.find(([name]) => isProject(name))?.[1],
  };
}

function isProject(name: string): boolean {
  return name === "projectId" || name === "appId";
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

function parsed(method: string, name: string, text: string): unknown {
  if (LISTS.includes(name) || (name === "status" && STATUS_LISTS.includes(method))) return text.split(",");
  if (NUMBERS.includes(name) && /^\d+$/.test(text)) return Number(text);
  if (BOOLEANS.includes(name) && /^(true|false)$/.test(text)) return text === "true";
  return text;
}

/** Whether the clients refuse to send a key to this URL unless told to. */
function needsPermission(url: string): boolean {
  const { protocol, hostname } = new URL(url);
  return protocol !== "https:" && !/^(localhost|\[::1\]|127\.[\d.]+)$/.test(hostname);
}

/** Characters of a line. */
const COLUMNS = 88;

/** `open` … `close` on one line if that is short, else an item a line. */
function wrapped(open: string, items: string[], close: string, indent: string, step: string, space = ""): string {
  const line = `${open}${space}${items.join(", ")}${space}${close}`;
  if (items.length === 0) return open + close;
  if (line.length + indent.length <= COLUMNS && !line.includes("\n")) return line;
  return `${open}\n${items.map((each) => `${indent}${step}${each},\n`).join("")}${indent}${close}`;
}

/** A value as a literal of TypeScript. */
function scriptValue(value: unknown, indent = ""): string {
  const step = "  ";
  if (Array.isArray(value))
    return wrapped(
      "[",
      value.map((each) => scriptValue(each, indent + step)),
      "]",
      indent,
      step,
    );
  if (!isRecord(value)) return JSON.stringify(value);
  const items = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => {
      const key = /^[A-Za-z_$][\w$]*$/.test(name) ? name : JSON.stringify(name);
      return `${key}: ${scriptValue(each, indent + step)}`;
    });
  return wrapped("{", items, "}", indent, step, " ");
}

/** A value as a literal of Python. */
function pythonValue(value: unknown, indent = ""): string {
  const step = "    ";
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (Array.isArray(value))
    return wrapped(
      "[",
      value.map((each) => pythonValue(each, indent + step)),
      "]",
      indent,
      step,
    );
  if (!isRecord(value)) return JSON.stringify(value);
  const items = Object.entries(value)
    .filter(([, each]) => each !== undefined)
    .map(([name, each]) => `${JSON.stringify(name)}: ${pythonValue(each, indent + step)}`);
  return wrapped("{", items, "}", indent, step);
}

/** Words that cannot be names in Python; those that the API uses. */
const RESERVED = new Set(["from", "import", "class", "global", "in", "is", "not", "or", "and", "if", "for", "pass"]);

/** A name of the API in Python: `api_keys`, `from_`. */
export function pythonName(name: string): string {
  const snake = name
    .replace(/(?<=[a-z0-9])(?=[A-Z])/g, "_")
    .toLowerCase()
    .replaceAll("-", "_");
  return RESERVED.has(snake) ? `${snake}_` : snake;
}

/** What the variable of a credential contains. The clients read POSTERN_KEY by themselves. */
const CREDENTIALS: Record<Credential, string> = {
  POSTERN_KEY: "a secret key",
  POSTERN_TOKEN: "the access token of a developer",
};

/** The key is a text of the code if it is given, and comes from the environment otherwise. */
export interface Place {
  /** Base URL of the server. */
  url: string;
  key?: string;
}

/** A request as a program with @postern/sdk; undefined if it has no method for it. */
export function typescriptOf(request: ApiRequest, { url, key }: Place): string | undefined {
  const call = callOf(request);
  if (!call) return undefined;
  const { method, path, fields, flags, project } = call;
  const credential = credentialOf(request);
  const options = [
    `url: ${JSON.stringify(url)}`,
    ...(project ? [`project: ${JSON.stringify(project)}`] : []),
    ...(key ? [`key: ${JSON.stringify(key)}`] : credential === "POSTERN_KEY" ? [] : [`key: process.env.${credential}`]),
    ...(needsPermission(url) ? ["insecure: true"] : []),
  ];
  const parameters = fields.length ? [scriptValue(Object.fromEntries(fields))] : [];
  const args = [...path.map((each) => JSON.stringify(each)), ...parameters].join(", ");
  const run = `await postern.${method}(${args});`;
  const lines = [
    "// npm install @postern/sdk",
    ...(key ? [] : [`// ${credential}: ${CREDENTIALS[credential]}`]),
    'import { Postern } from "@postern/sdk";',
    "",
    `const postern = new Postern(${wrapped("{", options, "}", "", "  ", " ")});`,
    "",
    ...(flags.includes("E") ? [run] : result(flags, run)),
  ];
  return lines.join("\n");
}

function result(flags: string, run: string): string[] {
  return /[lpc]/.test(flags)
    ? [`const page = ${run}`, "console.log(page.data);"]
    : [`const result = ${run}`, "console.log(result);"];
}

/** A request as a program with postern-sdk; undefined if it has no method for it. */
export function pythonOf(request: ApiRequest, { url, key }: Place): string | undefined {
  const call = callOf(request);
  if (!call) return undefined;
  const { method, path, fields, flags, project } = call;
  const credential = credentialOf(request);
  const fromEnvironment = !key && credential !== "POSTERN_KEY";
  const options = [
    JSON.stringify(url),
    ...(key ? [`key=${JSON.stringify(key)}`] : fromEnvironment ? [`key=os.environ["${credential}"]`] : []),
    ...(project ? [`project=${JSON.stringify(project)}`] : []),
    ...(needsPermission(url) ? ["insecure=True"] : []),
  ];
  const args = [
    ...path.map((each) => JSON.stringify(each)),
    ...fields.map(([name, value]) => `${pythonName(name)}=${pythonValue(value, "    ")}`),
  ];
  const name = method.split(".").map(pythonName).join(".");
  const isList = /[lpc]/.test(flags);
  const target = flags.includes("E") ? "" : isList ? "page = " : "result = ";
  const lines = [
    "# pip install postern-sdk",
    ...(key ? [] : [`# ${credential}: ${CREDENTIALS[credential]}`]),
    ...(fromEnvironment ? ["import os", ""] : []),
    "from postern_sdk import Postern",
    "",
    wrapped("postern = Postern(", options, ")", "", "    "),
    "",
    wrapped(`${target}postern.${name}(`, args, ")", "", "    "),
    ...(target ? [isList ? "print(page.data)" : "print(result)"] : []),
  ];
  return lines.join("\n");
}
