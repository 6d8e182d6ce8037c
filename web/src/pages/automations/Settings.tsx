import { notifications } from "@mantine/notifications";
import { APIError, type Automation } from "@postern/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { Button, Copy, Field } from "../../parts/parts";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { automationQuery } from "./queries";
import { type Content, flattened } from "./steps";

const MOST_RUNS = 1_000;

/** What belongs neither to the trigger nor to a step. */
export function Settings({ automation, content }: { automation: Automation; content: Content }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  // The form works on the version that it began with.
  const [base, setBase] = useState(automation);
  const [runs, setRuns] = useState(String(automation.maxRunsPerHour));
  const [allowLoops, setAllowLoops] = useState(automation.allowLoops);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const [failure, setFailure] = useState("");
  const [conflict, setConflict] = useState<Automation>();
  const [secret, setSecret] = useState("");
  // What the same person did meanwhile, such as activating it, is no conflict. What this form shows has not changed.
  if (
    automation.updatedAt > base.updatedAt &&
    !conflict &&
    !isBusy &&
    automation.maxRunsPerHour === base.maxRunsPerHour &&
    automation.allowLoops === base.allowLoops
  )
    setBase(automation);
  const hasWebhook = flattened(content.steps).some(({ step }) => step.type === "WEBHOOK");
  const save = async (over: Automation) => {
    const number = Number(runs);
    if (!/^\d+$/.test(runs.trim()) || number < 1 || number > MOST_RUNS) return setError(m.automations_max_wrong());
    setBusy(true);
    setFailure("");
    try {
      const saved = await api(projectId).automations.update(
        automation.id,
        { maxRunsPerHour: number, allowLoops },
        { ifMatch: over },
      );
      setBase(saved);
      client.setQueryData(automationQuery(projectId, automation.id).queryKey, saved);
      notifications.show({ message: m.automations_saved() });
    } catch (caught) {
      if (caught instanceof APIError && caught.status === 412)
        await api(projectId)
          .automations.get(automation.id)
          .then(setConflict)
          .catch((failed: unknown) => setFailure(messageOf(failed)));
      else setFailure(messageOf(caught));
    } finally {
      setBusy(false);
    }
  };
  const submit = (event: FormEvent) => {
    event.preventDefault();
    if (!isBusy) void save(base);
  };
  const yes = (value: boolean) => (value ? m.contacts_yes() : m.contacts_no());
  return (
    <section className="sec settingspart" aria-labelledby="settings-title">
      <header>
        <h2 id="settings-title">{m.automations_settings()}</h2>
      </header>
      <form className="form" onSubmit={submit} noValidate>
        <Field
          label={m.automations_max()}
          hint={m.automations_max_hint()}
          error={error}
          inputMode="numeric"
          autoComplete="off"
          disabled={!mayWrite}
          value={runs}
          onChange={(event) => {
            setRuns(event.target.value);
            setError("");
          }}
        />
        <label className="line">
          <input
            className="check"
            type="checkbox"
            disabled={!mayWrite}
            checked={allowLoops}
            onChange={(event) => setAllowLoops(event.target.checked)}
          />
          <span>{m.automations_loops()}</span>
        </label>
        <p className="muted hint">{m.automations_loops_hint()}</p>
        {failure && (
          <p className="wrong" role="alert">
            <span>{failure}</span>
          </p>
        )}
        {mayWrite && (
          <p>
            <Button kind="primary" type="submit" busy={isBusy}>
              {m.automations_save()}
            </Button>
          </p>
        )}
      </form>
      {hasWebhook && mayWrite && (
        <div className="secret">
          <h3>{m.automations_secret()}</h3>
          <p className="muted">{m.automations_secret_lead()}</p>
          {secret ? (
            <p className="line">
              <code>{secret}</code>
              <Copy value={secret} />
            </p>
          ) : (
            <Button
              size="small"
              onClick={() =>
                void api(projectId)
                  .automations.getWebhookSecret(automation.id)
                  .then((found) => setSecret(found.secret))
                  .catch((caught: unknown) => notifications.show({ message: messageOf(caught) }))
              }
            >
              {m.automations_secret_show()}
            </Button>
          )}
        </div>
      )}
      {conflict && (
        <ConflictDialog
          lead={m.automations_conflict_lead()}
          rows={[
            { name: m.automations_max(), theirs: conflict.maxRunsPerHour, mine: runs },
            { name: m.automations_loops(), theirs: yes(conflict.allowLoops), mine: yes(allowLoops) },
          ]}
          onTheirs={() => {
            setBase(conflict);
            setRuns(String(conflict.maxRunsPerHour));
            setAllowLoops(conflict.allowLoops);
            setConflict(undefined);
          }}
          onMine={async () => {
            setConflict(undefined);
            await save(conflict);
          }}
          onClose={() => setConflict(undefined)}
        />
      )}
    </section>
  );
}
