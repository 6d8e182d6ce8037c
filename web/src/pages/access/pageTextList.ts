import type { PageText } from "@postern/sdk";

/** Pages that belong together, in the order in which customers meet them. */
export const PAGE_GROUPS = [
  "SIGN_IN",
  "SIGN_UP",
  "SECOND_FACTOR",
  "PASSKEY",
  "PASSWORD",
  "TERMS",
  "INVITATION",
  "ACCOUNT",
  "ORGANIZATION",
  "APPS",
  "SINGLE_SIGN_ON",
  "SETUP",
  "SUPPORT",
  "PROBLEMS",
  "ALL",
] as const;
export type PageGroup = (typeof PAGE_GROUPS)[number];
/** The texts of some pages, or those that the project has replaced. */
export type TextFilter = PageGroup | "CHANGED";

/** Whether a text is one of those that are looked for: all words are in it, its built-in text or the English one. */
export function isMatch(text: PageText, search: string, filter: TextFilter | undefined): boolean {
  if (filter === "CHANGED" ? text.text === null : filter && !(text.pages as string[]).includes(filter)) return false;
  const shown = [text.text ?? "", text.builtIn, text.english].join("\n").toLocaleLowerCase();
  return search
    .toLocaleLowerCase()
    .split(/\s+/)
    .every((word) => shown.includes(word));
}
