import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { Webhook } from "@postern/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { CodeTabs } from "../../parts/CodeTabs";
import { CopyRequest } from "../../parts/CopyRequest";
import { fieldErrors } from "../../parts/fieldErrors";
import { count } from "../../parts/format";
import { Button, Field } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { localInput, timeZoneName } from "../../parts/when";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { nameOf } from "./health";
import { webhookQuery } from "./queries";
import type { DeliveryStatus } from "./routes";
import { verifyCode } from "./verify";
import { NewSecret } from "./WebhookDialog";

const HOUR_SECONDS = 3_600;
const DAY_MS = 86_400_000;
/** Hours for which the old secret signs, too. */
const GRACES = [0, 1, 24, 72, 168] as const;

/** Replaces the signing secret; the old one goes on for a while. */
export function RotateDialog({ webhook, onClose }: { webhook: Webhook; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const [secret, setSecret] = useState("");
  const [hours, setHours] = useState<number>(24);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const body = { gracePeriodSeconds: hours * HOUR_SECONDS };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setError("");
    try {
      setSecret((await api(projectId).webhooks.rotateSecret(webhook.id, body)).secret);
      void client.invalidateQueries({ queryKey: webhookQuery(projectId, webhook.id).queryKey });
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  const path = `/projects/${projectId}/webhooks/${webhook.id}/rotate-secret`;
  return (
    <Modal
      opened
      onClose={onClose}
      className="developers-dialog"
      size={620}
      title={secret ? m.developers_secret_title() : m.developers_rotate_title({ name: nameOf(webhook) })}
      closeOnClickOutside={!secret}
      closeOnEscape={!secret}
      withCloseButton={!secret}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      {secret ? (
        <NewSecret
          secret={secret}
          lead={hours ? m.developers_rotated({ time: graceWords(hours) }) : m.developers_rotated_now()}
          onClose={onClose}
        />
      ) : (
        <form className="form" onSubmit={submit}>
          <p>{m.developers_rotate_lead()}</p>
          <Field label={m.developers_grace()} hint={hours ? m.developers_grace_hint() : m.developers_grace_none_hint()}>
            {(attributes) => (
              <select
                className="input"
                {...attributes}
                value={hours}
                onChange={(event) => setHours(Number(event.target.value))}
              >
                {GRACES.map((each) => (
                  <option key={each} value={each}>
                    {graceWords(each)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {error && (
            <p className="wrong" role="alert">
              <span>{error}</span>
            </p>
          )}
          <div className="dialog-actions">
            <span className="grow">
              <CopyRequest request={{ method: "POST", path, body }} />
            </span>
            <Button onClick={onClose}>{m.cancel()}</Button>
            <Button kind={hours ? "primary" : "solid-danger"} type="submit" busy={isBusy}>
              {m.developers_rotate()}
            </Button>
          </div>
        </form>
      )}
    </Modal>
  );
}

function graceWords(hours: number): string {
  if (hours === 0) return m.developers_grace_none();
  if (hours === 1) return m.developers_grace_hour();
  return hours === 24 ? m.developers_grace_day() : m.developers_grace_days({ days: hours / 24 });
}

/** Sends the deliveries of a period again, all of one result. */
export function ReplayDialog({
  webhook,
  onClose,
  onReplayed,
}: {
  webhook: Webhook;
  onClose: () => void;
  onReplayed: () => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const [since, setSince] = useState(() =>
    localInput(new Date(webhook.failingSince ? Date.parse(webhook.failingSince) - 60_000 : Date.now() - DAY_MS)),
  );
  const [until, setUntil] = useState("");
  const [status, setStatus] = useState<DeliveryStatus>("FAILED");
  const [isBusy, setBusy] = useState(false);
  const [sent, setSent] = useState(0);
  const [errors, setErrors] = useState<{ since?: string; until?: string; form?: string }>({});
  const body = { since: moment(since), until: moment(until), status };
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    setBusy(true);
    setErrors({});
    let total = 0;
    try {
      let more = true;
      while (more) {
        const result = await api(projectId).webhooks.deliveries.replayAll(webhook.id, body);
        total += result.replayed;
        more = result.more;
        setSent(total);
        // What failed fails again only after days, so each request takes the next ones. What was delivered or waits may
        // be so again at once: a second request would send the same ones again.
        if (status !== "FAILED") break;
      }
      notifications.show({
        message:
          total === 0
            ? m.developers_replayed_none()
            : total === 1
              ? m.developers_replayed_one()
              : more
                ? m.developers_replayed_part({ count: count(total) })
                : m.developers_replayed({ count: count(total) }),
      });
      onReplayed();
      onClose();
    } catch (error) {
      setErrors(fieldErrors(error, ["since", "until"]));
      setBusy(false);
    }
  };
  const path = `/projects/${projectId}/webhooks/${webhook.id}/deliveries/replay`;
  return (
    <Modal
      opened
      onClose={onClose}
      size={520}
      title={m.developers_replay_title()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <form className="form" onSubmit={submit} noValidate>
        <p>{m.developers_replay_lead()}</p>
        <Field label={m.developers_outcome()}>
          {(attributes) => (
            <select
              className="input"
              {...attributes}
              value={status}
              onChange={(event) => setStatus(event.target.value as DeliveryStatus)}
            >
              <option value="FAILED">{m.developers_replay_failed()}</option>
              <option value="PENDING">{m.developers_replay_waiting()}</option>
              <option value="SUCCEEDED">{m.developers_replay_delivered()}</option>
            </select>
          )}
        </Field>
        <Field
          label={m.developers_since()}
          hint={timeZoneName()}
          error={errors.since}
          type="datetime-local"
          value={since}
          onChange={(event) => setSince(event.target.value)}
        />
        <Field
          label={m.developers_replay_until()}
          hint={m.developers_replay_until_hint()}
          error={errors.until}
          type="datetime-local"
          value={until}
          onChange={(event) => setUntil(event.target.value)}
        />
        {errors.form && (
          <p className="wrong" role="alert">
            <span>{errors.form}</span>
          </p>
        )}
        {isBusy && sent > 0 && <p role="status">{m.developers_replayed({ count: count(sent) })}</p>}
        <div className="dialog-actions">
          <span className="grow">
            <CopyRequest request={{ method: "POST", path, body }} />
          </span>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.developers_send_again()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function moment(local: string): string | undefined {
  const time = Date.parse(local);
  return Number.isNaN(time) ? undefined : new Date(time).toISOString();
}

/** How an endpoint verifies that a request comes from here. */
export function VerifyDialog({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  return (
    <Modal
      opened
      onClose={onClose}
      size={680}
      title={m.developers_verify()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <div className="form">
        <p>{m.developers_verify_lead()}</p>
        <CodeTabs label={m.developers_verify_code()} codes={verifyCode()} />
        <p className="muted">
          {m.developers_verify_more()}{" "}
          <a href="/guide/webhooks" target="_blank" rel="noreferrer">
            {m.developers_guide_webhooks()}
          </a>
        </p>
      </div>
    </Modal>
  );
}
