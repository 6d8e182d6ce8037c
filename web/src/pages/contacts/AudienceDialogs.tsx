import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Audience } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Field } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { AUDIENCE_NAME_CHARACTERS } from "./limits";

/** Addresses of one addition. */
const MOST_ADDRESSES = 10_000;

/** Gives an audience another name. */
export function RenameAudience({
  audience,
  onClose,
  onRenamed,
}: {
  audience: Audience;
  onClose: () => void;
  onRenamed: (audience: Audience) => void;
}) {
  const projectId = useProjectId();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [name, setName] = useState(audience.name);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (!name.trim()) return setError(m.contacts_name_missing());
    setBusy(true);
    setError(undefined);
    try {
      onRenamed(await api(projectId).audiences.update(audience.id, { name: name.trim() }, { ifMatch: audience }));
      onClose();
    } catch (caught) {
      const isStale = caught instanceof APIError && caught.status === 412;
      setError(isStale ? m.contacts_rename_stale() : messageOf(caught));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.contacts_rename()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        <Field
          label={m.contacts_audience_name()}
          error={error}
          value={name}
          maxLength={AUDIENCE_NAME_CHARACTERS}
          autoComplete="off"
          onChange={(event) => setName(event.target.value)}
          data-autofocus
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.contacts_rename()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** Adds addresses to an audience that is filled by hand. */
export function AddPeople({
  audience,
  onClose,
  onAdded,
}: {
  audience: Audience;
  onClose: () => void;
  onAdded: () => void;
}) {
  const projectId = useProjectId();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [typed, setTyped] = useState("");
  const emails = typed.split(/[\s,;]+/).filter(Boolean);
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (emails.length === 0) return setError(m.contacts_email_missing());
    if (emails.length > MOST_ADDRESSES) return setError(m.contacts_too_many({ most: count(MOST_ADDRESSES) }));
    setBusy(true);
    setError(undefined);
    try {
      const [email] = emails;
      if (emails.length === 1 && email) {
        await api(projectId).audiences.contacts.addEmail(audience.id, { email });
        notifications.show({ message: m.contacts_joined_one({ name: audience.name }) });
      } else {
        const { added, skipped } = await api(projectId).audiences.contacts.addEmails(audience.id, { emails });
        notifications.show({ message: m.contacts_people_added({ added: count(added), skipped: count(skipped) }) });
      }
      onAdded();
      onClose();
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.contacts_add_people()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        <Field
          label={m.contacts_addresses()}
          hint={m.contacts_addresses_hint({ most: count(MOST_ADDRESSES) })}
          error={error}
        >
          {(attributes) => (
            <textarea
              className="input"
              rows={5}
              {...attributes}
              value={typed}
              onChange={(event) => setTyped(event.target.value)}
              data-autofocus
            />
          )}
        </Field>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {emails.length > 1 ? m.contacts_add_these({ count: count(emails.length) }) : m.contacts_add_this()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
