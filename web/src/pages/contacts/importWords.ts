import type { ContactImport } from "@postern/sdk";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import type { Tone } from "../../parts/parts";

const WORDS: Record<string, () => string> = {
  UPLOADING: m.contacts_import_uploading,
  PENDING: m.contacts_import_pending,
  RUNNING: m.contacts_import_running,
  COMPLETED: m.contacts_import_completed,
  FAILED: m.contacts_import_failed,
};
const SHAPES: Record<string, Shape> = { COMPLETED: "yes", FAILED: "failed" };

/** Milliseconds between two looks at an import that runs. */
export const PROGRESS_MS = 1_000;

type State = Pick<ContactImport, "status">;

export function isRunning({ status }: State): boolean {
  return status === "UPLOADING" || status === "PENDING" || status === "RUNNING";
}

export function importWord({ status }: State): string {
  return WORDS[status]?.() ?? status;
}

export function importShape({ status }: State): Shape {
  return SHAPES[status] ?? "waiting";
}

export function importTone({ status }: State): Tone {
  return status === "FAILED" ? "fail" : status === "COMPLETED" ? "" : "wait";
}

/** What a column of a file fills, in words. */
export function targetWords(target: string | null): string {
  if (target === null) return m.contacts_target_none();
  const own: Record<string, () => string> = {
    email: m.contacts_email,
    unsubscribed: m.contacts_target_unsubscribed,
    subscribed: m.contacts_target_subscribed,
    attributes: m.contacts_target_attributes,
  };
  return own[target]?.() ?? target.replace(/^attributes\./, "");
}

/** The name of a delimiter. */
export function delimiterWords(delimiter: string): string {
  const names: Record<string, () => string> = {
    ",": m.contacts_delimiter_comma,
    ";": m.contacts_delimiter_semicolon,
    "\t": m.contacts_delimiter_tab,
    "|": m.contacts_delimiter_bar,
  };
  return names[delimiter]?.() ?? delimiter;
}
