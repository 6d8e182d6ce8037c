import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Contact } from "@postern/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { AttributeFields, changeOf, type Draft } from "./AttributeFields";
import { type ContactErrors, contactErrors } from "./contactErrors";
import { ADDRESS_CHARACTERS } from "./limits";
import { useAttributes } from "./queries";

interface Errors extends ContactErrors {
  /** Id of the contact that has the address. */
  existing?: string;
}

/** Adds one contact. */
export function AddContact({ onClose, onAdded }: { onClose: () => void; onAdded: (contact: Contact) => void }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const { types } = useAttributes();
  const [isBusy, setBusy] = useState(false);
  const [email, setEmail] = useState("");
  const [drafts, setDrafts] = useState<Draft[]>([]);
  const [errors, setErrors] = useState<Errors>({ attributes: {} });
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const address = email.trim();
    if (!address) return setErrors({ email: m.contacts_email_missing(), attributes: {} });
    const read = changeOf(drafts);
    if ("errors" in read) return setErrors({ attributes: read.errors });
    setBusy(true);
    setErrors({ attributes: {} });
    try {
      const contact = await api(projectId).contacts.create({ email: address, attributes: read.change });
      void client.invalidateQueries({ queryKey: ["contacts", projectId] });
      notifications.show({ message: m.contacts_was_added({ email: contact.email }) });
      onClose();
      onAdded(contact);
    } catch (error) {
      setErrors(await errorsIn(error, projectId, address, drafts));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.contacts_add()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form contacts-form" onSubmit={submit} noValidate>
        <Field
          label={m.contacts_email()}
          type="email"
          autoComplete="off"
          maxLength={ADDRESS_CHARACTERS}
          error={errors.email}
          value={email}
          onChange={(event) => setEmail(event.target.value)}
          data-autofocus
        />
        {errors.existing && (
          <p>
            <Link
              to="/projects/$projectId/contacts/$contactId"
              params={{ projectId, contactId: errors.existing }}
              onClick={onClose}
            >
              {m.contacts_open_existing()}
            </Link>
          </p>
        )}
        <AttributeFields drafts={drafts} types={types} errors={errors.attributes} onChange={setDrafts} />
        <p className="muted small">{m.contacts_add_hint()}</p>
        {errors.all && <Wrong>{errors.all}</Wrong>}
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.contacts_add()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

async function errorsIn(error: unknown, projectId: string, email: string, drafts: Draft[]): Promise<Errors> {
  const errors = contactErrors(error, drafts);
  if (!(error instanceof APIError) || error.code !== "contact_exists") return errors;
  const found = await api(projectId)
    .contacts.list({ q: email })
    .catch(() => undefined);
  const existing = found?.data.find((each) => each.email.toLowerCase() === email.toLowerCase())?.id;
  return { ...errors, ...(existing && { existing }) };
}
