import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Webhook, type WebhookWithSecret } from "@postern/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { CodeTabs } from "../../parts/CodeTabs";
import { CopyRequest } from "../../parts/CopyRequest";
import { fieldErrors } from "../../parts/fieldErrors";
import { longTime } from "../../parts/format";
import { Button, Copy, Field } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { EventPicker } from "./EventPicker";
import { entryWords } from "./events";
import { webhookQuery, webhooksQuery } from "./queries";
import { verifyCode } from "./verify";

const URL_CHARACTERS = 2_048;
const DESCRIPTION_CHARACTERS = 500;

const FIELDS = ["url", "description", "events"] as const;

/** Creates a webhook and shows its secret once, or changes one. */
export default function WebhookDialog({ webhook, onClose }: { webhook?: Webhook; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const navigate = useNavigate();
  const [created, setCreated] = useState<WebhookWithSecret>();
  const finish = () => {
    onClose();
    if (created)
      void navigate({
        to: "/projects/$projectId/developers/webhooks/$webhookId",
        params: { projectId, webhookId: created.id },
      });
  };
  return (
    <Modal
      opened
      onClose={finish}
      className="developers-dialog"
      size={620}
      title={created ? m.developers_secret_title() : webhook ? m.developers_hook_edit_title() : m.developers_hook_new()}
      closeOnClickOutside={false}
      closeOnEscape={!created}
      withCloseButton={!created}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      {created ? (
        <NewSecret secret={created.secret} lead={m.developers_secret_once()} onClose={finish} />
      ) : (
        <WebhookForm webhook={webhook} onCancel={onClose} onCreated={setCreated} />
      )}
    </Modal>
  );
}

/** A signing secret, this once, with what to do with it. */
export function NewSecret({ secret, lead, onClose }: { secret: string; lead: string; onClose: () => void }) {
  return (
    <div className="form">
      <p>{lead}</p>
      <div className="secret">
        <code>{secret}</code>
        <Copy value={secret} label={m.developers_secret_copy()} />
      </div>
      <CodeTabs label={m.developers_verify()} codes={verifyCode()} />
      <div className="dialog-actions">
        <Button kind="primary" onClick={onClose}>
          {m.developers_saved()}
        </Button>
      </div>
    </div>
  );
}

function WebhookForm({
  webhook,
  onCancel,
  onCreated,
}: {
  webhook: Webhook | undefined;
  onCancel: () => void;
  onCreated: (created: WebhookWithSecret) => void;
}) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Partial<Record<(typeof FIELDS)[number] | "form", string>>>({});
  /** The version that the form began with, or that was seen in a conflict. */
  const [base, setBase] = useState(webhook);
  const [theirs, setTheirs] = useState<Webhook>();
  const [author, setAuthor] = useState("");
  const [url, setUrl] = useState(webhook?.url ?? "https://");
  const [description, setDescription] = useState(webhook?.description ?? "");
  const [events, setEvents] = useState<string[]>(webhook?.events ?? ["email.*"]);
  const body = { url: url.trim(), events, description: description.trim() };
  const save = async (version: Webhook | undefined): Promise<void> => {
    if (events.length === 0) return setErrors({ events: m.developers_events_missing() });
    setBusy(true);
    setErrors({});
    try {
      if (version) {
        const changed = await api(projectId).webhooks.update(version.id, body, { ifMatch: version });
        client.setQueryData(webhookQuery(projectId, version.id).queryKey, changed);
        notifications.show({ message: m.developers_hook_changed() });
        onCancel();
      } else onCreated(await api(projectId).webhooks.create(body));
      void client.invalidateQueries({ queryKey: webhooksQuery(projectId).queryKey });
    } catch (error) {
      if (error instanceof APIError && error.status === 412 && version) {
        try {
          const newest = await api(projectId).webhooks.get(version.id);
          // A new secret, or switching it off and on, is no other version of what stands here.
          if (isSame(newest, version)) return save(newest);
          setAuthor(await authorOf(newest));
          setTheirs(newest);
        } catch (again) {
          setErrors({ form: messageOf(again) });
        }
      } else setErrors(fieldErrors(error, FIELDS));
    }
    setBusy(false);
  };
  const take = () => {
    if (!theirs) return;
    setUrl(theirs.url);
    setDescription(theirs.description);
    setEvents(theirs.events);
    setBase(theirs);
    setTheirs(undefined);
  };
  if (theirs)
    return (
      <div className="form">
        <p>{m.developers_conflict({ who: author, at: longTime(theirs.updatedAt) })}</p>
        <table className="table plain tight">
          <thead>
            <tr>
              <th scope="col">
                <span className="sr">{m.developers_field()}</span>
              </th>
              <th scope="col">{m.developers_theirs()}</th>
              <th scope="col">{m.developers_yours()}</th>
            </tr>
          </thead>
          <tbody>
            {[
              [m.developers_hook_url(), theirs.url, body.url],
              [m.developers_hook_description(), theirs.description, body.description],
              [
                m.developers_tab_events(),
                theirs.events.map(entryWords).join(", "),
                body.events.map(entryWords).join(", "),
              ],
            ]
              .filter(([, first, second]) => first !== second)
              .map(([label, first, second]) => (
                <tr key={label}>
                  <th scope="row">{label}</th>
                  <td className="wrap">{first}</td>
                  <td className="wrap">{second}</td>
                </tr>
              ))}
          </tbody>
        </table>
        <div className="dialog-actions">
          <Button onClick={take}>{m.developers_take_theirs()}</Button>
          <Button
            kind="primary"
            busy={isBusy}
            onClick={() => {
              setBase(theirs);
              setTheirs(undefined);
              void save(theirs);
            }}
          >
            {m.developers_save_mine()}
          </Button>
        </div>
      </div>
    );
  const path = `/projects/${projectId}/webhooks`;
  return (
    <form
      className="form"
      noValidate
      onSubmit={(event: FormEvent) => {
        event.preventDefault();
        void save(base);
      }}
    >
      <Field
        label={m.developers_hook_url()}
        hint={m.developers_hook_url_hint()}
        error={errors.url}
        type="url"
        maxLength={URL_CHARACTERS}
        autoComplete="off"
        value={url}
        onChange={(event) => setUrl(event.target.value)}
        data-autofocus
      />
      <Field
        label={m.developers_hook_description()}
        hint={m.developers_hook_description_hint()}
        error={errors.description}
        maxLength={DESCRIPTION_CHARACTERS}
        autoComplete="off"
        value={description}
        onChange={(event) => setDescription(event.target.value)}
      />
      <fieldset className="field">
        <legend className="label">{m.developers_tab_events()}</legend>
        <EventPicker chosen={events} onChange={setEvents} />
        {errors.events && (
          <p className="wrong" role="alert">
            <span>{errors.events}</span>
          </p>
        )}
      </fieldset>
      {errors.form && (
        <p className="wrong" role="alert">
          <span>{errors.form}</span>
        </p>
      )}
      <div className="dialog-actions">
        <span className="grow">
          <CopyRequest
            request={base ? { method: "PATCH", path: `${path}/${base.id}`, body } : { method: "POST", path, body }}
          />
        </span>
        <Button onClick={onCancel}>{m.cancel()}</Button>
        <Button kind="primary" type="submit" busy={isBusy}>
          {base ? m.developers_save() : m.developers_hook_create()}
        </Button>
      </div>
    </form>
  );
}

/** Who made this version of a webhook, as far as the audit log tells. */
async function authorOf({ id }: Webhook): Promise<string> {
  const changes = { action: "webhook.updated", targetId: id, limit: 1 };
  const entry = await api()
    .account.auditLog.list(changes)
    .then(
      ({ data }) => data[0],
      () => undefined,
    );
  return entry?.actorEmail ?? (entry?.actorType.endsWith("_KEY") ? m.developers_actor_key() : m.developers_somebody());
}

/** Whether two versions of a webhook have the same in the fields of the form. */
function isSame(one: Webhook, other: Webhook): boolean {
  return FIELDS.every((each) => JSON.stringify(one[each]) === JSON.stringify(other[each]));
}
