import { APIError, type Template, type TemplateChange } from "@postern/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { type History, historyOf, redone, undone, withChange } from "./history";
import { templateQuery } from "./queries";

/** Milliseconds without a change until the draft is kept. */
const KEEP_AFTER_MS = 500;
const KEY = "postern.draft.";

/** What this browser keeps of a template that someone edits. */
interface KeptDraft<T> {
  /** The version that the draft began with, and its content. */
  version: number;
  base: T;
  content: T;
  /** When it was changed last. */
  at: string;
}

/** Whether this browser has a draft of a template. */
export function hasDraft(templateId: string): boolean {
  try {
    return localStorage.getItem(KEY + templateId) !== null;
  } catch {
    return false;
  }
}

function keptDraft<T>(templateId: string, isContent: (value: unknown) => boolean): KeptDraft<T> | undefined {
  try {
    const kept = JSON.parse(localStorage.getItem(KEY + templateId) ?? "null") as KeptDraft<T> | null;
    const isWhole = kept && typeof kept.version === "number" && isContent(kept.base) && isContent(kept.content);
    return isWhole ? kept : undefined;
  } catch {
    return undefined;
  }
}

/** Whether the draft is kept now. */
function keepDraft<T>(templateId: string, draft: KeptDraft<T>): boolean {
  try {
    localStorage.setItem(KEY + templateId, JSON.stringify(draft));
    return true;
  } catch {
    return false;
  }
}

export function dropDraft(templateId: string): void {
  try {
    localStorage.removeItem(KEY + templateId);
  } catch {
    // Without storage there is no draft.
  }
}

/** How an editor reads a template, and writes it. */
export interface Kind<T> {
  read: (template: Template) => T;
  write: (content: T) => TemplateChange;
  /** Whether something that this browser kept is content of this kind. */
  isContent: (value: unknown) => boolean;
}

/** What became of the last try to publish. */
interface Outcome {
  /** The version of another person, which was published while this draft was written. */
  conflict?: Template | undefined;
  error?: unknown;
}

/**
 * A template that someone edits. Changes are kept in this browser, and are sent to nobody until they are published:
 * the API has no drafts, and what it stores is in use at once.
 */
export function useDraft<T>(template: Template, { read, write, isContent }: Kind<T>) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const { id } = template;
  const [first] = useState(() => keptDraft<T>(id, isContent));
  const [base, setBase] = useState(() => ({
    version: first?.version ?? template.version,
    content: first?.base ?? read(template),
  }));
  const [history, setHistory] = useState<History<T>>(() => historyOf(first?.content ?? base.content));
  const [keptAt, setKeptAt] = useState<string | undefined>(first?.at);
  const [isKeepable, setKeepable] = useState(true);
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome>({});
  const content = history.present;
  const isChanged = JSON.stringify(content) !== JSON.stringify(base.content);

  const keep = useRef(() => {});
  const isResumed = useRef(first !== undefined);
  useEffect(() => {
    // A draft that was only opened keeps its time.
    if (isResumed.current) {
      isResumed.current = false;
      return;
    }
    keep.current = () => {
      keep.current = () => {};
      if (!isChanged) {
        dropDraft(id);
        return setKeptAt(undefined);
      }
      const at = new Date().toISOString();
      const isKept = keepDraft(id, { version: base.version, base: base.content, content, at });
      setKeepable(isKept);
      setKeptAt(isKept ? at : undefined);
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
  // Where nothing can be kept, who leaves is asked.
  useEffect(() => {
    if (isKeepable || !isChanged) return;
    const ask = (event: BeforeUnloadEvent) => event.preventDefault();
    addEventListener("beforeunload", ask);
    return () => removeEventListener("beforeunload", ask);
  }, [isKeepable, isChanged]);

  const change = useCallback(
    (next: (content: T) => T, mark?: string) =>
      setHistory((before) => withChange(before, next(before.present), mark, Date.now())),
    [],
  );

  const publish = async (mine: T = content, over?: Template): Promise<Template | undefined> => {
    setBusy(true);
    setOutcome({});
    try {
      const latest = over ?? (await api(projectId).templates.get(id));
      if (!over && latest.version !== base.version) {
        setOutcome({ conflict: latest });
        return undefined;
      }
      const stored = await api(projectId).templates.update(id, write(mine), { ifMatch: latest });
      setBase({ version: stored.version, content: mine });
      dropDraft(id);
      client.setQueryData(templateQuery(projectId, id).queryKey, stored);
      void client.invalidateQueries({ queryKey: ["template", projectId, id, "versions"] });
      void client.invalidateQueries({ queryKey: ["templates", projectId] });
      return stored;
    } catch (error) {
      if (!(error instanceof APIError) || error.status !== 412) setOutcome({ error });
      else
        await api(projectId)
          .templates.get(id)
          .then((conflict) => setOutcome({ conflict }))
          .catch((failure: unknown) => setOutcome({ error: failure }));
      return undefined;
    } finally {
      setBusy(false);
    }
  };

  return {
    content,
    base,
    isChanged,
    keptAt,
    isKeepable,
    isBusy,
    conflict: outcome.conflict,
    error: outcome.error === undefined ? "" : messageOf(outcome.error),
    change,
    publish,
    /** Go on from the version of another person, with what became of both. */
    async resolve(theirs: Template, merged: T): Promise<Template | undefined> {
      setBase({ version: theirs.version, content: read(theirs) });
      setHistory((before) => withChange(before, merged, undefined, Date.now()));
      return publish(merged, theirs);
    },
    /** Compare with a version of another person. */
    meet: (theirs: Template) => setOutcome({ conflict: theirs }),
    giveUp: () => setOutcome({}),
    /** Go back to what is in use. */
    discard(latest: Template) {
      setBase({ version: latest.version, content: read(latest) });
      setHistory((before) => withChange(before, read(latest), undefined, Date.now()));
      setOutcome({});
    },
    undo: history.past.length > 0 ? () => setHistory(undone) : undefined,
    redo: history.future.length > 0 ? () => setHistory(redone) : undefined,
  };
}

export type DraftOf<T> = ReturnType<typeof useDraft<T>>;
