import { notifications } from "@mantine/notifications";
import type { Webhook } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { Glyph, type Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count, percent, shortTime } from "../../parts/format";
import { Button } from "../../parts/parts";
import { BOUNCE_LIMIT, COMPLAINT_LIMIT } from "../../parts/rateLimits";
import { useProfile, useProject } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { nameOf } from "../developers/health";
import { type Finding, findingsOf, transportSeen } from "./attention";
import { type Range, sumOf } from "./period";
import {
  capturedQuery,
  domainsQuery,
  failedQuery,
  failingWebhooksQuery,
  mailQuery,
  passkeysQuery,
  recentQuery,
  waitingQuery,
} from "./queries";
import { isLoopback } from "./snippets";

/** How many characters of a server's answer a line quotes. */
const QUOTED = 140;
/** As many findings are shown at first, and all of them if only one more would be hidden. */
const SHOWN = 4;

/** What a person should look at, the worst first. What could not be read is said instead of left out. */
export function useAttention(projectId: string, range: Range) {
  const profile = useProfile();
  const project = useProject();
  const mail = useQuery(mailQuery(projectId, range));
  const today = mail.data?.days.at(-1);
  const failed = useQuery({ ...failedQuery(projectId), enabled: (today?.failed ?? 0) > 0 });
  const waiting = useQuery(waitingQuery(projectId));
  const domains = useQuery(domainsQuery(projectId));
  const webhooks = useQuery(failingWebhooksQuery(projectId));
  const recent = useQuery(recentQuery(projectId));
  const captured = useQuery(capturedQuery(projectId));
  const passkeys = useQuery({ ...passkeysQuery, enabled: profile.role === "OWNER" && !profile.mfaEnabledAt });
  const findings = findingsOf({
    profile,
    project,
    passkeys: passkeys.data,
    local: isLoopback(location.hostname),
    domains: domains.data,
    webhooks: webhooks.data,
    waiting: waiting.data,
    failed: today?.failed ? failed.data : undefined,
    sentToday: today?.sent,
    counts: mail.data && sumOf(mail.data.days),
    seen: transportSeen(recent.data?.data ?? [], captured.data),
  });
  const sources = [waiting, domains, webhooks, recent];
  return {
    findings,
    unread: sources.filter((each) => each.isError && !each.data),
    loading: sources.some((each) => each.isPending),
    /** Whether nothing is on its way that could add a line. */
    settled: ![...sources, mail, failed, captured, passkeys].some((each) => each.isLoading),
  };
}

/** The list of `useAttention`. */
export function Attention({
  projectId,
  findings,
  unread,
  loading,
  onTransport,
}: Omit<ReturnType<typeof useAttention>, "settled"> & {
  projectId: string;
  /** Explain how mail leaves the server. */
  onTransport: () => void;
}) {
  const [all, setAll] = useState(false);
  const shown = all || findings.length <= SHOWN + 1 ? findings : findings.slice(0, SHOWN);
  return (
    <section className="todo" aria-labelledby="attention">
      <header className="sechead">
        <h2 id="attention">{m.overview_attention()}</h2>
        {findings.length > 0 && (
          <p>{findings.length === 1 ? m.overview_things_one() : m.overview_things({ count: findings.length })}</p>
        )}
      </header>
      <ul className="list">
        {shown.map((finding) => (
          <Item key={keyOf(finding)} finding={finding} projectId={projectId} onTransport={onTransport} />
        ))}
        {shown.length < findings.length && (
          <li className="more">
            <Button kind="bare" size="small" onClick={() => setAll(true)}>
              {m.overview_more_things({ count: findings.length - shown.length })}
            </Button>
          </li>
        )}
        {unread.length > 0 && (
          <Line
            shape="waiting"
            title={m.overview_unread()}
            why={messageOf(unread[0]?.error)}
            action={
              <Button size="small" onClick={() => unread.forEach((each) => void each.refetch())}>
                {m.try_again()}
              </Button>
            }
          />
        )}
        {findings.length === 0 && unread.length === 0 && (
          <li className="quiet">
            {loading ? (
              <i className="skel" style={{ width: 320 }} />
            ) : (
              <>
                <Glyph shape="yes" />
                <p className="muted">{m.overview_quiet()}</p>
              </>
            )}
          </li>
        )}
      </ul>
    </section>
  );
}

function keyOf(finding: Finding): string {
  if ("domain" in finding) return finding.domain.id;
  if ("failing" in finding) return finding.failing.webhook.id;
  return "webhook" in finding ? finding.webhook.id : finding.kind;
}

/** One sentence with its consequence, and one button if there is a page for it. */
function Line({ shape, title, why, action }: { shape: Shape; title: string; why: ReactNode; action?: ReactNode }) {
  return (
    <li>
      <Glyph shape={shape} />
      <p className="grow">
        <b>{title}</b> <span className="muted">{why}</span>
      </p>
      {action}
    </li>
  );
}

function Item({ finding, projectId, onTransport }: { finding: Finding; projectId: string; onTransport: () => void }) {
  const emails = (status: string, sent?: "today") => <EmailsLink projectId={projectId} search={{ status, sent }} />;
  switch (finding.kind) {
    case "email_unverified":
      return (
        <Line
          shape="attention"
          title={m.overview_email_unverified({ email: finding.email })}
          why={m.overview_email_unverified_why()}
          action={<VerifyButton />}
        />
      );
    case "domain_stopped": {
      const { domain, failingSince } = finding.domain;
      return (
        <Line
          shape="failed"
          title={
            failingSince
              ? m.overview_domain_stopped_since({ domain, since: shortTime(failingSince) })
              : m.overview_domain_stopped({ domain })
          }
          why={finding.domain.status === "DEGRADED" ? m.overview_domain_degraded_why() : m.overview_domain_failed_why()}
          action={<RecordLink projectId={projectId} domainId={finding.domain.id} />}
        />
      );
    }
    case "domain_failing": {
      const { domain, failingSince } = finding.domain;
      return (
        <Line
          shape="attention"
          title={m.overview_domain_failing({ domain, since: shortTime(failingSince ?? "") })}
          why={m.overview_domain_failing_why()}
          action={<RecordLink projectId={projectId} domainId={finding.domain.id} />}
        />
      );
    }
    case "webhook_failing": {
      const { webhook, waiting } = finding.failing;
      const answer = waiting?.responseStatus
        ? m.overview_webhook_answers({ status: waiting.responseStatus })
        : (waiting?.errorMessage ?? "");
      return (
        <Line
          shape="failed"
          title={m.overview_webhook_failing({ host: nameOf(webhook), since: shortTime(webhook.failingSince ?? "") })}
          why={`${answer} ${m.overview_webhook_failing_why()}`}
          action={<AnswersLink projectId={projectId} webhook={webhook} status={waiting && "PENDING"} />}
        />
      );
    }
    case "webhook_disabled":
      return (
        <Line
          shape="failed"
          title={m.overview_webhook_disabled({ host: nameOf(finding.webhook) })}
          why={`${finding.webhook.disabledReason ?? ""} ${m.overview_webhook_disabled_why()}`}
          action={<AnswersLink projectId={projectId} webhook={finding.webhook} status="FAILED" />}
        />
      );
    case "failed":
      return (
        <Line
          shape="failed"
          title={finding.total === 1 ? m.overview_failed_one() : m.overview_failed({ count: count(finding.total) })}
          why={finding.reason ? quoted(finding.reason) : m.overview_failed_why()}
          action={emails("FAILED,EXPIRED", "today")}
        />
      );
    case "waiting":
      return (
        <Line
          shape="waiting"
          title={finding.total === 1 ? m.overview_waiting_one() : m.overview_waiting({ count: count(finding.total) })}
          why={
            <>
              {m.overview_waiting_why()} {finding.reason && quoted(finding.reason)}
            </>
          }
          action={emails("DELAYED")}
        />
      );
    case "bounces":
      return (
        <Line
          shape="bounced"
          title={m.overview_too_many_bounces({ rate: percent(finding.rate, 2) })}
          why={m.overview_too_many_bounces_why({ limit: percent(BOUNCE_LIMIT, 0) })}
          action={emails("BOUNCED")}
        />
      );
    case "complaints":
      return (
        <Line
          shape="complaint"
          title={m.overview_too_many_complaints({ rate: percent(finding.rate, 2) })}
          why={m.overview_too_many_complaints_why({ limit: percent(COMPLAINT_LIMIT, 1) })}
          action={emails("COMPLAINED")}
        />
      );
    case "captured":
      return (
        <Line
          shape="off"
          title={m.overview_captured()}
          why={m.overview_captured_why()}
          action={
            <Button size="small" onClick={onTransport}>
              {m.overview_show_how()}
            </Button>
          }
        />
      );
    case "one_factor":
      return <Line shape="attention" title={m.overview_one_factor()} why={m.overview_one_factor_why()} />;
  }
}

/** The deliveries of a webhook, with what it answered. */
function AnswersLink({
  projectId,
  webhook,
  status,
}: {
  projectId: string;
  webhook: Webhook;
  status: "PENDING" | "FAILED" | undefined;
}) {
  return (
    <Link
      className="btn small"
      to="/projects/$projectId/developers/webhooks/$webhookId"
      params={{ projectId, webhookId: webhook.id }}
      search={{ status }}
    >
      {m.overview_show_answers()}
    </Link>
  );
}

/** The words of a server or of Postern, shortened. */
function quoted(reason: string): ReactNode {
  return <q>{reason.length > QUOTED ? `${reason.slice(0, QUOTED)}…` : reason}</q>;
}

/** The list of e-mails, filtered as its own page has it in the URL. */
function EmailsLink({ projectId, search }: { projectId: string; search: { status: string; sent?: "today" } }) {
  return (
    <Link className="btn small" to="/projects/$projectId/emails" params={{ projectId }} search={search as never}>
      {m.overview_show_emails()}
    </Link>
  );
}

/** The page with the records of a domain, what is wrong first. */
function RecordLink({ projectId, domainId }: { projectId: string; domainId: string }) {
  return (
    <Link className="btn small" to="/projects/$projectId/domains/$domainId" params={{ projectId, domainId }}>
      {m.overview_show_record()}
    </Link>
  );
}

function VerifyButton() {
  const [busy, setBusy] = useState(false);
  const [sent, setSent] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      await api().developers.resendVerification();
      setSent(true);
      notifications.show({ message: m.overview_verification_sent() });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button size="small" busy={busy} disabled={sent} onClick={send}>
      {m.overview_send_again()}
    </Button>
  );
}
