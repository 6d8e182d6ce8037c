import { notifications } from "@mantine/notifications";
import type { Campaign, Finding } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { m } from "../../messages/messages.js";
import { Findings } from "../../parts/Findings";
import { count } from "../../parts/format";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { type DraftForm, timeOf } from "./draft";
import { placeOf } from "./Preflight";
import { campaignQuery } from "./queries";
import { plannedInWords } from "./words";

/** Why the campaign is not sent although nothing failed. */
class NotSent extends Error {}

/** Asks once more before mail goes out: the person types how many people get it. */
export function SendDialog({
  form,
  id,
  number,
  version,
  sender,
  findings,
  onClose,
}: {
  form: DraftForm;
  id: string;
  /** Contacts that get it. */
  number: number;
  /** The record that the form was stored as. */
  version: () => Campaign;
  sender: string;
  /** What large providers would object to in the message. */
  findings: Finding[];
  onClose: () => void;
}) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const at = timeOf(form);
  const people = number === 1 ? m.campaigns_people_one() : m.campaigns_people({ count: count(number) });
  const mistakes = findings.filter((each) => each.severity === "ERROR");
  const explain = (error: unknown) => {
    if (error instanceof APIError && error.errors.length > 0)
      return (
        <div>
          <p>{m.campaigns_incomplete()}</p>
          <ul className="lacking">
            {error.errors.map((each) => (
              <li key={each.path + each.message}>{each.message}</li>
            ))}
          </ul>
        </div>
      );
    return messageOf(error);
  };
  return (
    <TypedConfirm
      title={at ? m.campaigns_schedule_title({ name: form.name }) : m.campaigns_send_title({ name: form.name })}
      name={String(number)}
      deed={
        at
          ? number === 1
            ? m.campaigns_schedule_one()
            : m.campaigns_schedule({ count: count(number) })
          : number === 1
            ? m.campaigns_send_one()
            : m.campaigns_send({ count: count(number) })
      }
      kind="primary"
      explain={explain}
      onClose={onClose}
      run={async () => {
        // A time that has passed meanwhile would be taken as "now".
        if (at && Date.parse(at) <= Date.now()) throw new NotSent(m.emails_time_past());
        // Sending has no version of its own: what goes out is what this page shows.
        const present = await api(projectId).campaigns.get(id);
        if (present.status === "DRAFT" && present.updatedAt !== version().updatedAt)
          throw new NotSent(m.campaigns_changed_meanwhile());
        try {
          await api(projectId).campaigns.send(id);
          notifications.show({
            message: at ? m.campaigns_scheduled({ time: plannedInWords(at) }) : m.campaigns_started(),
          });
        } finally {
          await client.invalidateQueries({ queryKey: campaignQuery(projectId, id).queryKey });
          void client.invalidateQueries({ queryKey: ["campaigns", projectId, "list"] });
        }
      }}
    >
      <dl className="facts">
        <dt>{m.campaigns_audience()}</dt>
        <dd>{m.campaigns_at_most({ people })}</dd>
        <dt>{m.campaigns_sender()}</dt>
        <dd>{sender}</dd>
        <dt>{m.campaigns_when()}</dt>
        <dd>{at ? plannedInWords(at) : m.campaigns_when_now()}</dd>
        {form.abTestEnabled && (
          <>
            <dt>{m.campaigns_ab()}</dt>
            <dd>{m.campaigns_ab_short({ count: form.variants.length, percent: form.abTestSamplePercent })}</dd>
          </>
        )}
      </dl>
      {mistakes.length > 0 && (
        <>
          <p>
            <b>{m.campaigns_preflight_before()}</b>
          </p>
          <Findings findings={mistakes} label={m.campaigns_preflight()} placeOf={placeOf} />
        </>
      )}
      <p className="muted">{at ? m.campaigns_schedule_lead() : m.campaigns_send_lead()}</p>
    </TypedConfirm>
  );
}
