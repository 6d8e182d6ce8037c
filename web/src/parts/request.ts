import { notifications } from "@mantine/notifications";
import { useEffect } from "react";
import { m } from "../messages/messages.js";
import { createSignal } from "../session/signal";
import { type Credential, credentialOf } from "./credential";

/** A request to the API that does what a page or a button does. */
export interface ApiRequest {
  method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path from the root of the API, with its query. */
  path: string;
  body?: unknown;
}

/** The request of the page that is open: what C and the palette copy. */
export const pageRequest = createSignal<ApiRequest | undefined>(undefined);

/** Declare what the page shows as a request, for "Copy as curl", TypeScript or Python. */
export function usePageRequest(request: ApiRequest | undefined): void {
  const key = JSON.stringify(request);
  useEffect(() => {
    const declared: ApiRequest | undefined = key ? JSON.parse(key) : undefined;
    pageRequest.set(declared);
    return () => {
      if (pageRequest.get() === declared) pageRequest.set(undefined);
    };
  }, [key]);
}

/** The curl command of a request. Without a key, it comes from the environment, so that none is copied. */
export function curlOf(request: ApiRequest, key?: string): string {
  const { method, path, body } = request;
  const lines = [
    `curl -sS ${method === "GET" || (method === "POST" && body !== undefined) ? "" : `-X ${method} `}${quote(location.origin + path)}`,
  ];
  lines.push(
    `  -H ${key ? quote(`Authorization: Bearer ${key}`) : `"Authorization: Bearer $${credentialOf(request)}"`}`,
  );
  if (body !== undefined) {
    lines.push("  -H 'Content-Type: application/json'");
    lines.push(`  -d ${quote(JSON.stringify(body, null, 2))}`);
  }
  return lines.join(" \\\n");
}

/** A value as one word of a POSIX shell. */
function quote(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`;
}

/** The forms in which a request is copied. */
export const LANGUAGES = ["curl", "typescript", "python"] as const;
export type Language = (typeof LANGUAGES)[number];

const LANGUAGE = "postern.language";

function remembered(): Language {
  const stored = localStorage.getItem(LANGUAGE);
  return LANGUAGES.find((each) => each === stored) ?? "curl";
}

/** The language in which the person copied last, kept by this browser. */
export const language = createSignal<Language>(remembered());

/** Choose the language of copied requests and remember it. */
export function chooseLanguage(chosen: Language): void {
  localStorage.setItem(LANGUAGE, chosen);
  language.set(chosen);
}

/** The form of a request in a language; undefined if the client of that language has no method for it. */
export async function codeOf(request: ApiRequest, form: Language): Promise<string | undefined> {
  if (form === "curl") return curlOf(request);
  // With the table of operations, and seldom needed: not part of the first page.
  const { typescriptOf, pythonOf } = await import("./code");
  return (form === "typescript" ? typescriptOf : pythonOf)(request, { url: location.origin });
}

const NEEDS: Record<Credential, () => string> = {
  POSTERN_KEY: m.copied_needs_key,
  POSTERN_TOKEN: m.copied_needs_token,
};

/** Copy a request in a language and remember that one, or in the one that was used last; and say what it needs. */
export async function copyRequest(request: ApiRequest, chosen?: Language): Promise<void> {
  if (chosen) chooseLanguage(chosen);
  const form = language.get();
  const code = await codeOf(request, form);
  await navigator.clipboard.writeText(code ?? curlOf(request));
  const said = { curl: m.copied_curl, typescript: m.copied_typescript, python: m.copied_python };
  const needs = NEEDS[credentialOf(request)]();
  notifications.show({ message: code ? said[form]({ needs }) : m.copied_curl_instead({ needs }) });
}

/** Copy the curl command of a request, and say what it needs. */
export async function copyCurl(request: ApiRequest): Promise<void> {
  await navigator.clipboard.writeText(curlOf(request));
  notifications.show({ message: m.copied_curl({ needs: NEEDS[credentialOf(request)]() }) });
}

/** The query of a URL without what is empty: `?status=SENT&q=ada`, or nothing. */
export function queryString(parameters: Record<string, string | number | boolean | string[] | undefined>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(parameters)) {
    if (value !== undefined && value !== "" && !(Array.isArray(value) && value.length === 0))
      search.set(name, String(value));
  }
  const text = search.toString();
  return text && `?${text}`;
}
