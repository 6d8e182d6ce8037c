import type { Contact } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { Time } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { messageOf } from "../../session/server";
import { SOURCES } from "../emails/why";
import { suppressionOf } from "./queries";

/** Whether the contact gets marketing mail, and what is known about how that came. */
export function ContactSubscription({ contact }: { contact: Contact }) {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: ["contact-suppression", projectId, contact.id, contact.email, contact.unsubscribed],
    queryFn: ({ signal }) => suppressionOf(projectId, contact.email, signal),
  });
  const suppression = query.data;
  const steps = [
    ...(suppression?.history ?? []),
    ...(suppression ? [{ ...suppression, since: suppression.updatedAt }] : []),
  ];
  const isBlocked = suppression && suppression.reason !== "UNSUBSCRIBE";
  return (
    <section className="part" aria-label={m.contacts_tab_subscription()}>
      <p>{contact.unsubscribed ? m.contacts_unsubscribed_means() : m.contacts_subscribed_means()}</p>
      {isBlocked && (
        <p className="note bad">
          <Glyph shape="bounced" />
          <span>
            {m.contacts_suppressed()}{" "}
            <Link
              to="/projects/$projectId/emails/suppressions/$address"
              params={{ projectId, address: suppression.address }}
            >
              {m.contacts_show_suppression()}
            </Link>
          </span>
        </p>
      )}
      {query.isError ? (
        <Wrong>{messageOf(query.error)}</Wrong>
      ) : (
        <ol className="timeline" aria-label={m.contacts_history()}>
          <Step shape="yes" title={m.contacts_step_added()} at={contact.createdAt} />
          {steps.map((step) => (
            <Step
              key={step.since}
              shape={step.reason === "UNSUBSCRIBE" ? "no" : step.reason === "MANUAL" ? "suppressed" : "bounced"}
              title={STEPS[step.reason]?.() ?? step.reason}
              at={step.since}
            >
              <p>
                {SOURCES[step.source]?.() ?? step.source}{" "}
                {step.sendId && (
                  <Link to="/projects/$projectId/emails/$sendId" params={{ projectId, sendId: step.sendId }}>
                    {m.contacts_show_email()}
                  </Link>
                )}
              </p>
              {step.detail && (
                <p className="said">
                  <code>{step.detail}</code>
                </p>
              )}
            </Step>
          ))}
          {contact.unsubscribed && contact.unsubscribedAt && !steps.some((each) => each.reason === "UNSUBSCRIBE") && (
            <Step shape="no" title={m.contacts_step_unsubscribed()} at={contact.unsubscribedAt} />
          )}
        </ol>
      )}
    </section>
  );
}

const STEPS: Record<string, () => string> = {
  UNSUBSCRIBE: m.contacts_step_unsubscribed,
  BOUNCE: m.contacts_step_bounced,
  COMPLAINT: m.contacts_step_complained,
  MANUAL: m.contacts_step_manual,
};

function Step({
  shape,
  title,
  at,
  children,
}: {
  shape: "yes" | "no" | "suppressed" | "bounced";
  title: string;
  at: string;
  children?: ReactNode;
}) {
  return (
    <li className="dated">
      <Glyph shape={shape} />
      <div>
        <b>{title}</b>{" "}
        <span className="muted">
          <Time at={at} format={longTime} />
        </span>
        {children}
      </div>
    </li>
  );
}
