import { PosternError } from "./errors.js";
import type { Operations, WebhooksApi } from "./generated/client.js";
import { OPERATIONS } from "./generated/operations.js";
import type { ClientOptions, RawBody, RequestOptions } from "./options.js";
import { listPages } from "./pages.js";
import { Transport } from "./transport.js";
import { verify } from "./webhooks.js";

type Params = { [name: string]: unknown };

/**
 * A client of one Postern server. Its methods are grouped as in the API: `postern.emails.send(…)`.
 *
 * A method takes the parameters of the path, then `params` (fields of the body or query parameters), then options.
 */
export interface Postern extends Omit<Operations, "webhooks"> {
  readonly webhooks: WebhooksApi & { readonly verify: typeof verify };
}
export class Postern {
  constructor(options: ClientOptions = {}) {
    const transport = new Transport(options);
    const groups: Params = { webhooks: { verify } };
    for (const line of OPERATIONS.trim().split("\n")) {
      const [names = "", ...operation] = line.split(" ");
      const path = names.split(".");
      const method = path.pop() as string;
      let group = groups;
      for (const name of path) group = (group[name] ??= {}) as Params;
      group[method] = (...values: unknown[]) => call(transport, operation, values);
    }
    Object.assign(this, groups);
  }
}

/** Call an operation of the table with the positional values of its method. */
function call(transport: Transport, operation: string[], values: unknown[]): unknown {
  const [method = "", template = "", flags = "", mediaType] = operation;
  const rest = [...values];
  const segments = new Map<string, unknown>();
  for (const [, name = ""] of template.matchAll(/{(\w+)}/g)) {
    if (!isProject(name)) segments.set(name, rest.shift());
  }
  const raw = flags.includes("b") ? (rest.shift() as RawBody) : undefined;
  const params = /[jfqb]/.test(flags) ? (rest.shift() as Params | undefined) : undefined;
  const options = (rest.shift() ?? {}) as RequestOptions;

  const send = async (query: Params) => {
    const path = template.replace(/{(\w+)}/g, (_, name: string) =>
      segment(name, isProject(name) ? transport.setting("project", options) : segments.get(name)),
    );
    const [body, contentType] =
      raw !== undefined
        ? [raw, mediaType]
        : flags.includes("f")
          ? [search(params ?? {}), undefined]
          : flags.includes("j") && params !== undefined
            ? [JSON.stringify(params), "application/json"]
            : [undefined, undefined];
    const text = search(query).toString();
    return transport.send({ method, path: path + (text && `?${text}`), flags, body, contentType, options });
  };
  const query = (/[qb]/.test(flags) && params) || {};
  const kind = /[lpc]/.exec(flags)?.[0];
  if (kind) return listPages(kind, query, send);
  return send(query).then((answer) => answer.body);
}

function isProject(name: string): boolean {
  return name === "projectId" || name === "appId";
}

/** A value in the path. An empty one, `.` and `..` would address another operation. */
function segment(name: string, value: unknown): string {
  const text = typeof value === "string" || typeof value === "number" ? String(value) : "";
  if (/^\.{0,2}$/.test(text))
    throw new PosternError(`\`${name}\` must be an id or a name, not ${JSON.stringify(value)}.`);
  return encodeURIComponent(text);
}

/** Query or form parameters. Lists are separated by commas, times are ISO 8601; undefined and null are left out. */
function search(params: Params): URLSearchParams {
  const result = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) {
    if (value === undefined || value === null) continue;
    result.set(name, value instanceof Date ? value.toISOString() : String(value));
  }
  return result;
}
