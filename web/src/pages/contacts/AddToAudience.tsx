import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Field } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { useAudiences } from "./queries";

/** Adds contacts to an audience that is filled by hand. */
export function AddToAudience({
  emails,
  without = [],
  onClose,
  onAdded,
}: {
  emails: string[];
  /** Ids of audiences that have them already. */
  without?: string[];
  onClose: () => void;
  onAdded: () => void;
}) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const { audiences, isPending } = useAudiences();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<string>();
  const [id, setId] = useState("");
  const choices = audiences.filter((each) => each.type === "STATIC" && !without.includes(each.id));
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const audience = choices.find((each) => each.id === id);
    if (!audience) return setError(m.contacts_choose_audience());
    setBusy(true);
    setError(undefined);
    try {
      const { added } = await api(projectId).audiences.contacts.addEmails(id, { emails });
      void client.invalidateQueries({ queryKey: ["contacts", projectId, "audiences"] });
      void client.invalidateQueries({ queryKey: ["contact-audiences", projectId] });
      notifications.show({
        message:
          added === 1
            ? m.contacts_joined_one({ name: audience.name })
            : m.contacts_joined({ count: count(added), name: audience.name }),
      });
      onClose();
      onAdded();
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.contacts_add_to_audience()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        {!isPending && choices.length === 0 ? (
          <p>{m.contacts_no_static()}</p>
        ) : (
          <Field label={m.contacts_audience()} hint={m.contacts_only_static()} error={error}>
            {(attributes) => (
              <select
                className="input"
                {...attributes}
                value={id}
                onChange={(event) => setId(event.target.value)}
                data-autofocus
              >
                <option value="">{m.contacts_choose()}</option>
                {choices.map((each) => (
                  <option key={each.id} value={each.id}>
                    {each.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          {choices.length > 0 && (
            <Button kind="primary" type="submit" busy={isBusy}>
              {emails.length === 1 ? m.contacts_add_this() : m.contacts_add_these({ count: count(emails.length) })}
            </Button>
          )}
        </div>
      </form>
    </Modal>
  );
}
