import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { CampaignDetail } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { type FormEvent, useState } from "react";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Field } from "../../parts/parts";
import { relative, useNow } from "../../parts/relative";
import { useReturnFocus } from "../../parts/returnFocus";
import { localInput, timeZoneName } from "../../parts/when";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { campaignQuery, recipientsQuery } from "./queries";
import { plannedInWords } from "./words";

/** A campaign that waits for its time: when that is, another time, and the way back to a draft. */
export function Scheduled({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const now = useNow();
  const [isMoving, setMoving] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const recipients = useQuery(recipientsQuery(projectId, campaign.audienceId ?? ""));
  const at = campaign.scheduledAt ?? campaign.updatedAt;
  const withdraw = async () => {
    setBusy(true);
    try {
      await api(projectId).campaigns.update(campaign.id, { scheduledAt: null }, { ifMatch: campaign });
      notifications.show({ message: m.campaigns_withdrawn() });
    } catch (error) {
      notifications.show({ message: m.campaigns_withdraw_failed({ reason: conflictOr(error) }) });
    } finally {
      await client.invalidateQueries({ queryKey: ["campaigns", projectId] });
      setBusy(false);
    }
  };
  return (
    <section className="planned" aria-labelledby="planned">
      <h2 id="planned" className="sr">
        {m.campaigns_when()}
      </h2>
      <p className="figure">
        <b>{plannedInWords(at)}</b> {relative(at, now)}
      </p>
      <p className="muted">
        {recipients.data &&
          (recipients.data.count === 1
            ? m.campaigns_planned_one()
            : m.campaigns_planned({ count: count(recipients.data.count) }))}{" "}
        {m.campaigns_planned_lead()}
      </p>
      {mayWrite && (
        <p className="line">
          <Button onClick={() => setMoving(true)}>{m.campaigns_move()}</Button>
          <Button busy={isBusy} onClick={() => void withdraw()}>
            {m.campaigns_withdraw()}
          </Button>
        </p>
      )}
      {isMoving && <MoveDialog campaign={campaign} onClose={() => setMoving(false)} />}
    </section>
  );
}

function conflictOr(error: unknown): string {
  return error instanceof APIError && error.status === 412 ? m.campaigns_changed_meanwhile() : messageOf(error);
}

/** Gives a scheduled campaign another time. */
function MoveDialog({ campaign, onClose }: { campaign: CampaignDetail; onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    if (isBusy) return;
    const at = new Date(String(new FormData(event.currentTarget).get("at")));
    if (Number.isNaN(at.getTime())) return setError(m.emails_time_missing());
    if (at.getTime() <= Date.now()) return setError(m.emails_time_past());
    setBusy(true);
    setError("");
    try {
      // Of what the page shows: another version may have another audience.
      await api(projectId).campaigns.update(campaign.id, { scheduledAt: at.toISOString() }, { ifMatch: campaign });
      await client.invalidateQueries({ queryKey: campaignQuery(projectId, campaign.id).queryKey });
      void client.invalidateQueries({ queryKey: ["campaigns", projectId, "list"] });
      notifications.show({ message: m.campaigns_moved({ time: plannedInWords(at.toISOString()) }) });
      onClose();
    } catch (caught) {
      setError(conflictOr(caught));
      if (caught instanceof APIError && (caught.status === 409 || caught.status === 412))
        void client.invalidateQueries({ queryKey: campaignQuery(projectId, campaign.id).queryKey });
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={m.campaigns_move()} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        <Field
          label={m.campaigns_at()}
          name="at"
          type="datetime-local"
          defaultValue={localInput(new Date(campaign.scheduledAt ?? Date.now()))}
          min={localInput(new Date())}
          hint={m.campaigns_zone({ zone: timeZoneName() })}
          error={error}
          data-autofocus
        />
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind="primary" type="submit" busy={isBusy}>
            {m.campaigns_move()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
