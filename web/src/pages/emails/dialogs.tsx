import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { EmailLogEntry } from "@postern/sdk";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { longTime } from "../../parts/format";
import { Button, Field } from "../../parts/parts";
import { localInput, timeZoneName } from "../../parts/when";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";

/** As far ahead as the API schedules. */
const HORIZON_MS = 30 * 24 * 3_600_000;

interface DialogProps {
  send: EmailLogEntry;
  onClose: () => void;
  onDone: (send: EmailLogEntry) => void;
}

/** Cancels an e-mail that waits. */
export function CancelDialog({ send, onClose, onDone }: DialogProps) {
  const projectId = useProjectId();
  return (
    <ConfirmDialog
      title={m.emails_cancel_title()}
      deed={m.emails_cancel()}
      keep={m.emails_cancel_keep()}
      onClose={onClose}
      run={async () => {
        onDone(await api(projectId).emails.cancel(send.id));
        notifications.show({ message: m.emails_cancelled() });
      }}
    >
      <p>{m.emails_cancel_lead({ subject: send.subject || m.emails_no_subject(), to: send.to.join(", ") })}</p>
    </ConfirmDialog>
  );
}

/** Gives a scheduled e-mail another time, in the viewer's time zone. */
export function RescheduleDialog({ send, onClose, onDone }: DialogProps) {
  const projectId = useProjectId();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    const at = new Date(String(new FormData(event.currentTarget).get("at")));
    if (Number.isNaN(at.getTime())) return setError(m.emails_time_missing());
    if (at.getTime() < Date.now()) return setError(m.emails_time_past());
    setBusy(true);
    setError("");
    try {
      const changed = await api(projectId).emails.reschedule(send.id, { scheduledAt: at.toISOString() });
      onDone(changed);
      notifications.show({ message: m.emails_rescheduled({ time: longTime(at.toISOString()) }) });
      onClose();
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.emails_reschedule_title()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        <p className="muted">{send.subject || m.emails_no_subject()}</p>
        <Field
          label={m.emails_planned()}
          name="at"
          type="datetime-local"
          defaultValue={localInput(new Date(send.scheduledAt ?? Date.now()))}
          min={localInput(new Date())}
          max={localInput(new Date(Date.now() + HORIZON_MS))}
          hint={m.emails_time_zone({ zone: timeZoneName() })}
          error={error}
          data-autofocus
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.emails_reschedule()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
