import type { EmailLogEntryDetail, SendAttempt, TrackingHit } from "@postern/sdk";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Glyph, type Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { clockTime, duration, exactTime, longTime } from "../../parts/format";
import { Status } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { MACHINES, programOf, type Reply, reasonOf, repliesOf, replyText } from "./explain";
import { shapeOf, toneOf, wordOf } from "./status";

interface Step {
  key: string;
  at: string | undefined;
  shape: Shape;
  title: string;
  /** Said after the title, quietly. */
  also?: ReactNode;
  body?: ReactNode;
}

/** What happened to an e-mail, oldest first, in plain words with the servers' own words below them. */
export function Timeline({
  send,
  attempts,
  hits,
}: {
  send: EmailLogEntryDetail;
  attempts: SendAttempt[] | undefined;
  hits: TrackingHit[] | undefined;
}) {
  const steps = [
    ...begin(send),
    ...(attempts ?? []).map((each) => attemptStep(each, send)),
    ...readerSteps(hits ?? []),
    ...endSteps(send),
  ];
  const ordered = steps
    .map((step, number) => ({ step, number }))
    .sort((a, b) => time(a.step.at) - time(b.step.at) || a.number - b.number);
  const days = new Set(steps.flatMap(({ at }) => (at ? [new Date(at).toDateString()] : [])));
  return (
    <ol className="timeline" aria-label={m.emails_timeline()}>
      {ordered.map(({ step: { key, at, shape, title, also, body } }, index) => (
        <li key={key}>
          {at ? (
            <time dateTime={at} title={exactTime(at)}>
              {clockTime(at)}
            </time>
          ) : (
            <span />
          )}
          <Glyph shape={shape} />
          <div>
            <b>{title}</b> {also && <span className="muted">{also}</span>}
            {at && days.size > 1 && isNewDay(at, ordered[index - 1]?.step.at) && (
              <span className="muted"> · {longTime(at).split(",")[0]}</span>
            )}
            {body}
          </div>
        </li>
      ))}
    </ol>
  );
}

/** Steps without a time come last: they are what is waited for. */
function time(at: string | undefined): number {
  return at ? Date.parse(at) : Number.POSITIVE_INFINITY;
}

function isNewDay(at: string, before: string | undefined): boolean {
  return !before || new Date(at).toDateString() !== new Date(before).toDateString();
}

function begin(send: EmailLogEntryDetail): Step[] {
  const steps: Step[] = [
    {
      key: "accepted",
      at: send.createdAt,
      shape: "sent",
      title: m.emails_step_accepted(),
      also: send.test ? m.emails_step_accepted_test() : m.emails_step_accepted_also(),
    },
  ];
  if (send.status === "SCHEDULED" && send.scheduledAt) {
    steps.push({
      key: "scheduled",
      at: undefined,
      shape: "scheduled",
      title: m.emails_step_scheduled(),
      also: <time dateTime={send.scheduledAt}>{longTime(send.scheduledAt)}</time>,
    });
  } else if (send.scheduledAt && Date.parse(send.scheduledAt) - Date.parse(send.createdAt) > 1000) {
    steps.push({
      key: "due",
      at: send.scheduledAt,
      shape: "scheduled",
      title: m.emails_step_due(),
    });
  }
  return steps;
}

function attemptStep(attempt: SendAttempt, send: EmailLogEntryDetail): Step {
  const replies = repliesOf(attempt);
  const host = hostName(attempt.host);
  const step = { key: `attempt-${attempt.attempt}`, at: attempt.finishedAt };
  const said = (
    <>
      <Said replies={replies.filter((each) => each.result !== "ACCEPTED")} several={replies.length > 1} />
      <Dialogue attempt={attempt} />
    </>
  );
  switch (attempt.outcome) {
    case "ACCEPTED": {
      if (attempt.host === "capture")
        return {
          ...step,
          shape: "delivered",
          title: m.emails_step_captured(),
          also: m.emails_step_captured_also(),
          body: <Captured send={send} />,
        };
      const isDelivered = send.deliveredAt !== null;
      return {
        ...step,
        shape: isDelivered ? "delivered" : "sent",
        title: isDelivered ? m.emails_step_delivered() : m.emails_step_handed_over(),
        also: host && m.emails_step_to({ host }),
        body: (
          <>
            {!isDelivered && <p>{m.emails_step_handed_over_body()}</p>}
            {said}
          </>
        ),
      };
    }
    case "DEFERRED":
      return {
        ...step,
        shape: "waiting",
        title: m.emails_step_deferred(),
        also: host && m.emails_step_by({ host }),
        body: (
          <>
            <Meaning send={send} text={meaning(replies, "DEFERRED")} />
            {said}
          </>
        ),
      };
    case "REJECTED":
      return {
        ...step,
        shape: "bounced",
        title: m.emails_step_rejected(),
        also: host && m.emails_step_by({ host }),
        body: (
          <>
            <Meaning send={send} text={meaning(replies, "REJECTED")} />
            {said}
          </>
        ),
      };
    case "AMBIGUOUS":
      return {
        ...step,
        shape: "waiting",
        title: m.emails_step_ambiguous(),
        body: (
          <>
            <p>{m.emails_step_ambiguous_body()}</p>
            {said}
          </>
        ),
      };
    default:
      return { ...step, shape: "failed", title: m.emails_step_failed(), body: said };
  }
}

/** Leads to the captured message. */
function Captured({ send }: { send: EmailLogEntryDetail }) {
  const projectId = useProjectId();
  return (
    <p>
      <Link to="/projects/$projectId/emails/inbox" params={{ projectId }} search={{ q: send.contact.email }}>
        {m.emails_step_captured_link()}
      </Link>
    </p>
  );
}

/** `mx1.example.com:25` without what says nothing. */
function hostName(host: string): string {
  return host.replace(/:(25|465|587)$/, "");
}

function meaning(replies: Reply[], result: string): string {
  const reply = replies.find((each) => each.result === result) ?? replies[0];
  return reply ? reasonOf(replyText(reply)) : m.emails_why_unclear();
}

/** What a reply means, unless it is what the panel begins with. */
function Meaning({ send, text }: { send: EmailLogEntryDetail; text: string }) {
  const isSaid = ["BOUNCED", "DELAYED"].includes(send.status) && reasonOf(send.reason ?? "") === text;
  return isSaid ? null : <p>{text}</p>;
}

/** The servers' own words. */
function Said({ replies, several }: { replies: Reply[]; several: boolean }) {
  return replies.map((reply) => (
    <p key={reply.recipient} className="said">
      {several && <span className="muted">{reply.recipient}: </span>}
      <code>{replyText(reply)}</code>
    </p>
  ));
}

/** Line numbers in a run of answers from which on they are folded. */
const SHOWN_RUN = 2;

/** How an attempt left, by the transport that made it. */
const WAYS: Record<string, () => string> = {
  relay: m.emails_way_relay,
  ses: m.emails_way_ses,
  direct: m.emails_way_direct,
};

/** What the dialogue says about encryption: a line `TLS:` with version and cipher, or only that it was switched on. */
function encryptionOf({ dialogue }: SendAttempt): string | undefined {
  const version = dialogue.map((line) => /^TLS: ?(TLSv?[\d.]+)/i.exec(line)?.[1]).find(Boolean);
  if (version) return m.emails_dialogue_tls({ version: version.replace(/^TLSv/i, "TLS ") });
  return dialogue.some((line) => /^C: STARTTLS/i.test(line)) ? m.emails_dialogue_encrypted() : undefined;
}

/** The dialogue of an attempt, folded. */
function Dialogue({ attempt }: { attempt: SendAttempt }) {
  const [isOpen, setOpen] = useState(false);
  if (attempt.dialogue.length === 0) return null;
  return (
    <details onToggle={(event) => setOpen(event.currentTarget.open)}>
      <summary>
        {m.emails_dialogue()}{" "}
        <span className="muted">
          {[duration(attempt.durationMs), WAYS[attempt.transport ?? ""]?.(), encryptionOf(attempt)]
            .filter(Boolean)
            .join(", ")}
        </span>
      </summary>
      {isOpen && (
        <div className="smtp" role="group" aria-label={m.emails_dialogue_label()}>
          {folded(attempt.dialogue).map(({ line, isAnswer, more, key }) => (
            <p key={key} className={isAnswer ? "in" : line.startsWith("TLS:") ? "tls" : ""}>
              {line}
              {more > 0 && <i>{m.emails_dialogue_more({ count: more })}</i>}
            </p>
          ))}
        </div>
      )}
    </details>
  );
}

/** The lines of a dialogue; long answers of several lines are shown by their first line and the number of the rest. */
function folded(dialogue: string[]): { line: string; isAnswer: boolean; more: number; key: number }[] {
  const lines: { line: string; isAnswer: boolean; more: number; key: number }[] = [];
  for (let at = 0; at < dialogue.length; at++) {
    const text = dialogue[at] ?? "";
    const isAnswer = text.startsWith("S:");
    const line = text.replace(/^[CS]: ?/, "");
    let end = at;
    // `250-SIZE` goes on in the next line, `250 OK` does not (RFC 5321 §4.2.1).
    while (isAnswer && /^S: ?\d{3}-/.test(dialogue[end] ?? "")) end++;
    const more = end - at;
    lines.push({ line, isAnswer, more: more > SHOWN_RUN ? more : 0, key: at });
    if (more > SHOWN_RUN) at = end;
  }
  return lines;
}

/** Opens and clicks by people; those of machines are one step that explains itself. */
function readerSteps(hits: TrackingHit[]): Step[] {
  const byTime = [...hits].sort((a, b) => time(a.occurredAt) - time(b.occurredAt));
  const people = byTime.filter((hit) => hit.verdict !== "machine");
  const machines = byTime.filter((hit) => hit.verdict === "machine");
  const steps: Step[] = [];
  const opens = people.filter((hit) => hit.kind === "OPEN");
  const [first] = opens;
  if (first) {
    const last = opens.at(-1);
    const program = programOf(first.userAgent, first.verdict === "proxy");
    steps.push({
      key: first.id,
      at: first.occurredAt,
      shape: "opened",
      title: m.emails_step_opened(),
      also: program && m.emails_step_in({ program }),
      body: last && opens.length > 1 && (
        <p>{m.emails_step_opened_again({ count: opens.length - 1, last: longTime(last.occurredAt) })}</p>
      ),
    });
  }
  for (const hit of people) {
    if (hit.kind === "CLICK")
      steps.push({
        key: hit.id,
        at: hit.occurredAt,
        shape: "clicked",
        title: m.emails_step_clicked(),
        body: <Target url={hit.url} />,
      });
    if (hit.kind === "UNSUBSCRIBE")
      steps.push({ key: hit.id, at: hit.occurredAt, shape: "no", title: m.emails_step_unsubscribed() });
  }
  const [machine] = machines;
  if (machine)
    steps.push({
      key: machine.id,
      at: machine.occurredAt,
      shape: "off",
      title: m.emails_step_machine(),
      also: m.emails_step_machine_also({ count: machines.length }),
      body: <Machines hits={machines} />,
    });
  return steps;
}

/** Where a link leads. It is shown and not linked: opening it may be the recipient's to do. */
function Target({ url }: { url: string | null }) {
  return url ? (
    <p className="said">
      <code>{url}</code>
    </p>
  ) : null;
}

function Machines({ hits }: { hits: TrackingHit[] }) {
  return (
    <details>
      <summary>{m.emails_machine_why()}</summary>
      <ul className="hits">
        {hits.map((hit) => (
          <li key={hit.id}>
            <time dateTime={hit.occurredAt} title={exactTime(hit.occurredAt)}>
              {clockTime(hit.occurredAt)}
            </time>
            <div>
              {hit.kind === "CLICK" ? m.emails_machine_click() : m.emails_machine_open()}{" "}
              <span className="muted">{MACHINES[hit.reason ?? ""]?.() ?? m.emails_machine_agent()}</span>
              <p className="said">
                <code>{[hit.ipAddress, hit.userAgent].filter(Boolean).join(" · ")}</code>
              </p>
            </div>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** How it ended, or what it waits for, as far as no attempt has said it. */
function endSteps(send: EmailLogEntryDetail): Step[] {
  const last = send.webhookEvents.findLast((each) => each.type === "Reject")?.createdAt;
  const reason = send.reason ? <Reason text={send.reason} /> : undefined;
  switch (send.status) {
    case "QUEUED":
      return [{ key: "end", at: undefined, shape: "waiting", title: m.emails_step_queued() }];
    case "DELAYED":
      return [{ key: "end", at: undefined, shape: "waiting", title: m.emails_step_delayed() }];
    case "SUPPRESSED":
      return [{ key: "end", at: last, shape: "suppressed", title: m.emails_step_suppressed(), body: reason }];
    case "FAILED":
      return [{ key: "end", at: last, shape: "failed", title: m.emails_step_failed(), body: reason }];
    case "EXPIRED":
      return [{ key: "end", at: last, shape: "suppressed", title: m.emails_step_expired(), body: reason }];
    case "CANCELLED":
      return [{ key: "end", at: undefined, shape: "suppressed", title: m.emails_step_cancelled() }];
    case "COMPLAINED":
      return [
        {
          key: "end",
          at: send.complainedAt ?? undefined,
          shape: "complaint",
          title: m.emails_step_complained(),
          body: <p>{m.emails_step_complained_body()}</p>,
        },
      ];
    default:
      return [];
  }
}

function Reason({ text }: { text: string }) {
  return (
    <p className="said">
      <code>{text}</code>
    </p>
  );
}

/** The state for each recipient of an e-mail that went to several. */
export function Recipients({ send }: { send: EmailLogEntryDetail }) {
  if (send.recipients.length < 2) return null;
  return (
    <section className="why" aria-labelledby="recipients">
      <h3 id="recipients">{m.emails_recipients({ count: send.recipients.length })}</h3>
      <ul className="list recipients">
        {send.recipients.map((each) => (
          <li key={each.email}>
            <div className="grow">
              <span className="cut">{each.email}</span>
              {each.field !== "to" && (
                <span className="muted"> {each.field === "cc" ? m.emails_cc() : m.emails_bcc()}</span>
              )}
              {each.reason && (
                <p className="said">
                  <code>{each.reason}</code>
                </p>
              )}
            </div>
            <Status {...outcome(each.status)}>
              {wordOf({ status: each.status, openedAt: null, clickedAt: null })}
            </Status>
          </li>
        ))}
      </ul>
    </section>
  );
}

function outcome(status: string): { shape: Shape; tone: ReturnType<typeof toneOf> } {
  const state = { status, openedAt: null, clickedAt: null };
  return { shape: shapeOf(state), tone: toneOf(state) };
}
