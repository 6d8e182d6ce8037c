import type { APIError, MailBlock, MailTextContent } from "@postern/sdk";

export const LANGUAGES = ["en", "de", "es", "fr", "pt", "ja"] as const;
export type Language = (typeof LANGUAGES)[number];

/** The name of a language, in the language of the dashboard. */
export function languageName(language: string): string {
  return new Intl.DisplayNames([document.documentElement.lang || "en"], { type: "language" }).of(language) ?? language;
}

/** Whether two texts say the same. */
export function isSame(one: MailTextContent, other: MailTextContent): boolean {
  const parts = ({ subject, preheader = "", blocks, footer = "" }: MailTextContent) =>
    JSON.stringify([subject, preheader, blocks.map(({ type, text }) => [type, text]), footer]);
  return parts(one) === parts(other);
}

/** The blocks with a new paragraph at the end. */
export function addBlock(blocks: MailBlock[]): MailBlock[] {
  return [...blocks, { type: "text", text: "" }];
}

/** The blocks without the one at an index. */
export function removeBlock(blocks: MailBlock[], index: number): MailBlock[] {
  return blocks.filter((_, at) => at !== index);
}

/** The blocks with the one at an index before the one that was above it. */
export function moveBlock(blocks: MailBlock[], index: number): MailBlock[] {
  const moved = [...blocks];
  moved.splice(index - 1, 0, ...moved.splice(index, 1));
  return moved;
}

/** What is wrong, by the place within the text; "" for all of it. The API names places of previews `/content/…`. */
export function faultsOf(error: APIError): Record<string, string> {
  if (error.errors.length === 0) return { "": error.detail };
  return Object.fromEntries(error.errors.map(({ path, message }) => [path.replace(/^\/content/, ""), message]));
}
