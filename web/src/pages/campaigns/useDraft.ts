import type { Campaign, CampaignDetail } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { drop, keep, kept } from "../../parts/kept";
import { localInput } from "../../parts/when";
import { useMayWrite, useProfile, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { changeOf, type DraftForm, differences, formOf, isKept, type KeptForm, withKept } from "./draft";
import { campaignQuery } from "./queries";

/** Milliseconds after the last change until it is stored. */
const PAUSE_MS = 700;

export type SaveState = "saved" | "unsaved" | "saving" | "failed" | "conflict";

export interface Draft {
  form: DraftForm;
  set: (change: Partial<DraftForm>) => void;
  state: SaveState;
  /** What was refused, by the name of its field; under an empty name what is about none of them. */
  errors: Record<string, string>;
  /** Store what is not stored yet. False if that did not succeed. */
  save: () => Promise<boolean>;
  /** The draft as another person has stored it, while a person has to choose. */
  theirs: DraftForm | undefined;
  keepMine: () => Promise<void>;
  takeTheirs: () => void;
  /** The record as it was stored last, for the version. */
  stored: () => Campaign | CampaignDetail;
}

/** The fields beside which an error can stand. */
const FIELDS = [
  ...["name", "subject", "previewText", "fromName", "fromEmail", "domainId", "audienceId", "templateId", "at"],
  ...["variants", "abTestSamplePercent", "abTestMetric", "abTestDurationMinutes"],
];

/** The field of an error's path: `variants` of `/variants/0/subject`; empty if there is none. */
function fieldOf(path: string): string {
  const name = path.split("/")[1] ?? "";
  return FIELDS.find((each) => each === (name === "scheduledAt" ? "at" : name)) ?? "";
}

/** A draft that stores itself, and notices when another person has stored another version. */
export function useDraft(loaded: CampaignDetail): Draft {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const { id } = loaded;
  const name = `campaign.${useProfile().id}.${id}`;
  /** The draft as it was loaded, and with what this browser had typed before and could not store. */
  const [first] = useState(() => {
    const form = formOf(loaded, localInput);
    const before = mayWrite && kept(name, (value): value is KeptForm => isKept(value, form));
    return { loaded: form, ...(before ? withKept(before, form) : { form, isConflict: false }) };
  });
  const [form, setForm] = useState(first.form);
  const [state, setState] = useState<SaveState>(first.isConflict ? "conflict" : "saved");
  const [errors, setErrors] = useState<Record<string, string>>({});
  const [theirs, setTheirs] = useState<DraftForm | undefined>(first.isConflict ? first.loaded : undefined);
  /** The form as the server has it, and the record that has its version. */
  const saved = useRef(first.loaded);
  const version = useRef<Campaign | CampaignDetail>(loaded);
  const latest = useRef(form);
  const running = useRef<Promise<boolean>>(undefined);
  const isBlocked = useRef(first.isConflict);

  /** Keep in this browser what the server does not have yet. */
  const keepTyped = useCallback(() => {
    if (differences(saved.current, latest.current).length === 0) drop(name);
    else keep(name, { base: saved.current, form: latest.current } satisfies KeptForm);
  }, [name]);

  const store = useCallback(async (): Promise<boolean> => {
    const { change, stored } = changeOf(saved.current, latest.current);
    if (!change) {
      setState("saved");
      return true;
    }
    setState("saving");
    try {
      const row = await api(projectId).campaigns.update(id, change, { ifMatch: version.current });
      version.current = row;
      saved.current = stored;
      keepTyped();
      setErrors({});
      setState(changeOf(stored, latest.current).change ? "unsaved" : "saved");
      // What else is known of it, such as warnings about the size of a test, may be different now.
      void client.invalidateQueries({ queryKey: campaignQuery(projectId, id).queryKey });
      void client.invalidateQueries({ queryKey: ["campaigns", projectId, "list"], refetchType: "none" });
      return true;
    } catch (error) {
      if (error instanceof APIError && error.status === 412) {
        try {
          const other = await api(projectId).campaigns.get(id);
          if (other.status === "DRAFT") {
            const form = formOf(other, localInput);
            version.current = other;
            saved.current = form;
            // The same was written by another person, or by this page in an attempt whose answer was lost.
            if (changeOf(form, latest.current).change === undefined) {
              keepTyped();
              setState("saved");
              return true;
            }
            isBlocked.current = true;
            setTheirs(form);
            setState("conflict");
            return false;
          }
        } catch {
          // The page says what is wrong with it.
        }
      }
      setState("failed");
      const found: Record<string, string> = {};
      if (error instanceof APIError)
        for (const { path, message } of error.errors) {
          const field = fieldOf(path);
          found[field] = found[field] ? `${found[field]} ${message}` : message;
        }
      setErrors(Object.keys(found).length ? found : { "": messageOf(error) });
      // It may have been sent or deleted meanwhile.
      if (error instanceof APIError && [404, 409, 412].includes(error.status))
        void client.invalidateQueries({ queryKey: campaignQuery(projectId, id).queryKey });
      return false;
    }
  }, [client, projectId, id, keepTyped]);

  /** One request at a time, each with the version that the one before has made. */
  const save = useCallback(async (): Promise<boolean> => {
    while (running.current) await running.current;
    if (isBlocked.current) return false;
    running.current = store();
    try {
      return await running.current;
    } finally {
      running.current = undefined;
    }
  }, [store]);

  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const set = useCallback(
    (change: Partial<DraftForm>) => {
      latest.current = { ...latest.current, ...change };
      setForm(latest.current);
      keepTyped();
      setErrors((before) => {
        const left = Object.entries(before).filter(([field]) => field !== "" && !(field in change));
        return Object.fromEntries(left);
      });
      clearTimeout(timer.current);
      if (isBlocked.current) return;
      setState("unsaved");
      timer.current = setTimeout(() => void save(), PAUSE_MS);
    },
    [save, keepTyped],
  );

  // What this browser had kept is stored now.
  useEffect(() => {
    if (!isBlocked.current && differences(saved.current, latest.current).length > 0) void save();
  }, [save]);

  // What is typed last is stored when the page is left.
  useEffect(
    () => () => {
      clearTimeout(timer.current);
      if (!isBlocked.current && changeOf(saved.current, latest.current).change) void save();
    },
    [save],
  );
  useEffect(() => {
    const leaving = (event: BeforeUnloadEvent) => {
      if (changeOf(saved.current, latest.current).change) event.preventDefault();
    };
    addEventListener("beforeunload", leaving);
    return () => removeEventListener("beforeunload", leaving);
  }, []);

  // Another person has stored another version, and nothing is typed here that it would overwrite.
  useEffect(() => {
    if (running.current || isBlocked.current || loaded.updatedAt <= version.current.updatedAt) return;
    if (changeOf(saved.current, latest.current).change) return;
    const form = formOf(loaded, localInput);
    version.current = loaded;
    if (differences(saved.current, form).length === 0) return;
    saved.current = form;
    latest.current = form;
    setForm(form);
  }, [loaded]);

  const adopt = (form: DraftForm) => {
    latest.current = form;
    setForm(form);
  };
  return {
    form,
    set,
    state,
    errors,
    save: async () => {
      clearTimeout(timer.current);
      return save();
    },
    theirs,
    keepMine: async () => {
      isBlocked.current = false;
      setTheirs(undefined);
      await save();
    },
    takeTheirs: () => {
      isBlocked.current = false;
      if (theirs) adopt(theirs);
      keepTyped();
      setTheirs(undefined);
      setErrors({});
      setState("saved");
    },
    stored: () => version.current,
  };
}

/** The words for the state of a draft's storage. */
export const SAVE_WORDS: Record<SaveState, () => string> = {
  saved: m.campaigns_saved,
  unsaved: m.campaigns_unsaved,
  saving: m.campaigns_saving,
  failed: m.campaigns_not_saved,
  conflict: m.campaigns_not_saved,
};
