import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type SignInHook, type SignInHookChange } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { CopyRequest } from "../../parts/CopyRequest";
import { Button, Copy, Field, LoadingFailed } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { isConflict } from "../customers/queries";
import { Choices, DIALOG, type Errors, LoadingRows } from "../settings/pieces";
import { placed } from "../settings/placed";
import { HOOK_WORDS, type HookKind, hookQuery, hooksQuery } from "./hookQueries";

const URL_CHARACTERS = 2_048;
const PLACES = {
  url: ["/url"],
  onFailure: ["/onFailure"],
  timeoutMs: ["/timeoutMs"],
};

interface HookDraft {
  url: string;
  active: boolean;
  onFailure: "REFUSE" | "CONTINUE";
  timeoutMs: string;
}

const NEW: HookDraft = { url: "", active: true, onFailure: "REFUSE", timeoutMs: "2000" };

const draftOf = ({ url, active, onFailure, timeoutMs }: SignInHook): HookDraft => ({
  url,
  active,
  onFailure: onFailure === "CONTINUE" ? "CONTINUE" : "REFUSE",
  timeoutMs: String(timeoutMs),
});

/** All of a draft as the API takes it; a timeout that is no number is refused there. */
const bodyOf = ({ url, active, onFailure, timeoutMs }: HookDraft) => ({
  url: url.trim(),
  active,
  onFailure,
  timeoutMs: Number(timeoutMs),
});

/** Only what is new in a draft. */
function changeOf(base: HookDraft, draft: HookDraft): SignInHookChange {
  const [before, after] = [bodyOf(base), bodyOf(draft)];
  const names = Object.keys(after) as (keyof typeof after)[];
  return Object.fromEntries(names.filter((name) => before[name] !== after[name]).map((name) => [name, after[name]]));
}

/** Creates a hook, and shows its secret once. */
export function NewHook({ kind, onClose }: { kind: HookKind; onClose: () => void }) {
  const [secret, setSecret] = useState("");
  if (secret) return <SecretModal kind={kind} secret={secret} onClose={onClose} />;
  return <HookForm kind={kind} hook={undefined} onSecret={setSecret} onClose={onClose} />;
}

/** Changes a hook as it is stored now. */
export function EditHook({ kind, onClose }: { kind: HookKind; onClose: () => void }) {
  const projectId = useProjectId();
  const { data, error, refetch } = useQuery(hookQuery(projectId, kind));
  // What is read again later is no reason to lose what is typed.
  const [first, setFirst] = useState(data);
  if (data && !first) setFirst(data);
  if (first) return <HookForm kind={kind} hook={first} onClose={onClose} />;
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.access_hook_edit({ name: HOOK_WORDS[kind].label() })}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      {error ? <LoadingFailed error={error} onRetry={() => void refetch()} /> : <LoadingRows count={3} />}
    </Modal>
  );
}

function HookForm({
  kind,
  hook,
  onSecret,
  onClose,
}: {
  kind: HookKind;
  hook: SignInHook | undefined;
  onSecret?: (secret: string) => void;
  onClose: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const [base, setBase] = useState(hook);
  const [theirs, setTheirs] = useState<SignInHook>();
  const [draft, setDraft] = useState(() => (hook ? draftOf(hook) : NEW));
  const [errors, setErrors] = useState<Errors>({});
  const [isBusy, setBusy] = useState(false);
  const { signInHooks } = api(projectId);
  const { label } = HOOK_WORDS[kind];
  const path = `/projects/${projectId}/sign-in-hooks`;
  const set = (part: Partial<HookDraft>) => {
    setDraft((before) => ({ ...before, ...part }));
    setErrors((before) => Object.fromEntries(Object.entries(before).filter(([field]) => field && !(field in part))));
  };
  const save = async (version: SignInHook | undefined) => {
    const wrong: Errors = {};
    if (!draft.url.trim()) wrong.url = m.access_required();
    if (!/^\d+$/.test(draft.timeoutMs.trim())) wrong.timeoutMs = m.access_hook_timeout_wrong();
    setErrors(wrong);
    if (Object.keys(wrong).length) return setTheirs(undefined);
    setBusy(true);
    try {
      if (version && base) {
        await signInHooks.update(kind, changeOf(draftOf(base), draft), { ifMatch: version });
        await client.invalidateQueries(hooksQuery(projectId));
        notifications.show({ message: m.access_saved({ name: label() }) });
        return onClose();
      }
      const created = await signInHooks.create({ kind, ...bodyOf(draft) });
      void client.invalidateQueries(hooksQuery(projectId));
      return onSecret?.(created.secret);
    } catch (error) {
      if (version && isConflict(error))
        await signInHooks.get(kind).then(setTheirs, (failed: unknown) => setErrors({ "": messageOf(failed) }));
      else {
        setTheirs(undefined);
        setErrors(error instanceof APIError ? placed(error, PLACES) : { "": messageOf(error) });
      }
    }
    setBusy(false);
  };
  if (theirs) {
    const parts = (each: HookDraft) => ({
      [m.access_hook_url()]: each.url,
      [m.access_hook_state()]: each.active ? m.access_hook_on() : m.access_hook_off(),
      [m.access_hook_on_failure()]: each.onFailure === "REFUSE" ? m.access_hook_refuse() : m.access_hook_continue(),
      [m.access_hook_timeout()]: each.timeoutMs,
    });
    const [now, mine] = [parts(draftOf(theirs)), parts(draft)];
    return (
      <ConflictDialog
        lead={m.access_app_conflict_lead()}
        rows={Object.keys(mine)
          .filter((name) => now[name] !== mine[name])
          .map((name) => ({
            name,
            theirs: <span className="breaks">{now[name]}</span>,
            mine: <span className="breaks">{mine[name]}</span>,
          }))}
        hint={m.access_app_conflict_hint()}
        onClose={() => setTheirs(undefined)}
        onTheirs={() => {
          setDraft(draftOf(theirs));
          setBase(theirs);
          setTheirs(undefined);
        }}
        onMine={() => save(theirs)}
      />
    );
  }
  return (
    <Modal
      opened
      onClose={onClose}
      size={560}
      title={hook ? m.access_hook_edit({ name: label() }) : m.access_hook_new_of({ name: label() })}
      closeOnClickOutside={false}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      <form
        className="form accessform"
        noValidate
        onSubmit={(event: FormEvent) => {
          event.preventDefault();
          event.stopPropagation();
          if (!isBusy) void save(base);
        }}
      >
        <Field
          label={m.access_hook_url()}
          hint={m.access_hook_url_hint()}
          type="url"
          maxLength={URL_CHARACTERS}
          autoComplete="off"
          spellCheck={false}
          placeholder="https://app.example.com/hooks/sign-in"
          error={errors.url}
          value={draft.url}
          onChange={(event) => set({ url: event.target.value })}
          data-autofocus
        />
        <Choices
          legend={m.access_hook_on_failure()}
          isLegendShown
          name="onFailure"
          value={draft.onFailure}
          options={[
            { value: "REFUSE", label: m.access_hook_refuse(), hint: m.access_hook_refuse_hint() },
            { value: "CONTINUE", label: m.access_hook_continue(), hint: m.access_hook_continue_hint() },
          ]}
          onChange={(onFailure) => set({ onFailure })}
        />
        <Wrong>{errors.onFailure}</Wrong>
        <Field
          label={m.access_hook_timeout()}
          hint={m.access_hook_timeout_hint()}
          inputMode="numeric"
          autoComplete="off"
          error={errors.timeoutMs}
          value={draft.timeoutMs}
          onChange={(event) => set({ timeoutMs: event.target.value })}
        />
        <label className="line">
          <input
            className="switch"
            type="checkbox"
            checked={draft.active}
            onChange={(event) => set({ active: event.target.checked })}
          />
          <span>
            {m.access_hook_active()}
            <small className="muted">{m.access_hook_active_hint()}</small>
          </span>
        </label>
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <span className="grow">
            <CopyRequest
              request={
                base
                  ? { method: "PATCH", path: `${path}/${kind}`, body: changeOf(draftOf(base), draft) }
                  : { method: "POST", path, body: { kind, ...bodyOf(draft) } }
              }
            />
          </span>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {base ? m.settings_save() : m.access_hook_create()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** Replaces the secret of a hook; the old one goes on for a day. */
export function RotateHook({ kind, onClose }: { kind: HookKind; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const [secret, setSecret] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const rotate = async () => {
    setBusy(true);
    setError("");
    try {
      setSecret((await api(projectId).signInHooks.rotateSecret(kind)).secret);
      void client.invalidateQueries(hooksQuery(projectId));
    } catch (caught) {
      setError(messageOf(caught));
    }
    setBusy(false);
  };
  if (secret) return <SecretModal kind={kind} secret={secret} onClose={onClose} />;
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.access_hook_rotate_of({ name: HOOK_WORDS[kind].label() })}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      <div className="form">
        <p>{m.access_hook_rotate_lead()}</p>
        <Wrong>{error}</Wrong>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" busy={isBusy} onClick={() => void rotate()}>
            {m.access_app_rotate_deed()}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

/** The secret of a hook, this once. */
function SecretModal({ kind, secret, onClose }: { kind: HookKind; secret: string; onClose: () => void }) {
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.access_hook_secret_title({ name: HOOK_WORDS[kind].label() })}
      // What is shown only once does not vanish by a slip.
      closeOnClickOutside={false}
      closeOnEscape={false}
      withCloseButton={false}
      classNames={{ body: DIALOG }}
    >
      <div className="form accessform">
        <p>{m.access_hook_secret_lead()}</p>
        <div className="onesecret">
          <code>{secret}</code>
          <Copy value={secret} label={m.access_app_secret_copy()} />
        </div>
        <div className="dialog-actions">
          <Button kind="primary" onClick={onClose}>
            {m.access_app_secret_saved()}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
