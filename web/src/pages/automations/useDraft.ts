import { useCallback, useEffect, useRef, useState } from "react";
import { type History, historyOf, redone, undone, withChange } from "../templates/history";
import { type Content, isContent } from "./steps";

/** Milliseconds without a change until the draft is kept. */
const KEEP_AFTER_MS = 500;
const KEY = "postern.automation.";

/** What this browser keeps of an automation that someone edits, by the names of the person and the automation. */
interface KeptDraft {
  /** The last change of the stored automation that the draft began with; empty for a new one. */
  updatedAt: string;
  base: Content;
  content: Content;
}

export function keptDraft(id: string): KeptDraft | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY + id) ?? "null") as KeptDraft | null;
    return kept && typeof kept.updatedAt === "string" && isContent(kept.base) && isContent(kept.content)
      ? kept
      : undefined;
  } catch {
    return undefined;
  }
}

export function dropDraft(id: string): void {
  try {
    localStorage.removeItem(KEY + id);
  } catch {
    // Without storage there is no draft.
  }
}

/** An automation that someone edits, kept in this browser until it is saved. */
export function useDraft(id: string, stored: { updatedAt: string; content: Content }) {
  const [kept] = useState(() => keptDraft(id));
  const [base, setBase] = useState(() => ({
    updatedAt: kept?.updatedAt ?? stored.updatedAt,
    content: kept?.base ?? stored.content,
  }));
  const [history, setHistory] = useState<History<Content>>(() => historyOf(kept?.content ?? stored.content));
  const content = history.present;
  const isChanged = JSON.stringify(content) !== JSON.stringify(base.content);

  const keep = useRef(() => {});
  useEffect(() => {
    keep.current = () => {
      keep.current = () => {};
      if (!isChanged) return dropDraft(id);
      try {
        const draft: KeptDraft = { updatedAt: base.updatedAt, base: base.content, content };
        localStorage.setItem(KEY + id, JSON.stringify(draft));
      } catch {
        // Who leaves the page is asked in any case.
      }
    };
    const timer = setTimeout(() => keep.current(), KEEP_AFTER_MS);
    return () => clearTimeout(timer);
  }, [content, base, isChanged, id]);
  useEffect(() => {
    const leave = () => keep.current();
    addEventListener("pagehide", leave);
    return () => {
      removeEventListener("pagehide", leave);
      leave();
    };
  }, []);

  const change = useCallback(
    (next: (content: Content) => Content, mark?: string) =>
      setHistory((before) => withChange(before, next(before.present), mark, Date.now())),
    [],
  );
  return {
    content,
    base,
    isChanged,
    isResumed: kept !== undefined,
    change,
    /** The content is stored: nothing is kept any more. */
    saved(updatedAt: string) {
      keep.current = () => {};
      dropDraft(id);
      setBase({ updatedAt, content });
    },
    /** Go back to what is stored. */
    discard(latest: { updatedAt: string; content: Content }) {
      setBase(latest);
      setHistory((before) => withChange(before, latest.content, undefined, Date.now()));
    },
    undo: history.past.length > 0 ? () => setHistory(undone) : undefined,
    redo: history.future.length > 0 ? () => setHistory(redone) : undefined,
  };
}
