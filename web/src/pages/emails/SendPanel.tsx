import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { EmailLogEntry, EmailLogEntryDetail, Suppression, TrackingHit } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconDots, IconRefresh } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { useNeighbours } from "../../lists/neighbours";
import { Panel, PanelTabs } from "../../lists/Panel";
import { m } from "../../messages/messages.js";
import { CopyRequest } from "../../parts/CopyRequest";
import { download } from "../../parts/download";
import { duration, longTime } from "../../parts/format";
import { Button, Copy, ICON, LoadingFailed, Pill, Time } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { EMAIL_EVENTS, useLive } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { CancelDialog, RescheduleDialog } from "./dialogs";
import { reasonOf } from "./explain";
import { useCampaign } from "./Filters";
import { Preview } from "./Preview";
import type { SendTab } from "./routes";
import { Headers, RequestTab, Source } from "./Source";
import { outcomeOf, shapeOf, wordOf } from "./status";
import { Recipients, Timeline } from "./Timeline";
import { EXPLAINED, waitSentence } from "./waits";
import { REASONS } from "./why";

/** Milliseconds between two looks at an e-mail on its way, without a live stream. */
const POLL_MS = 4_000;
/** Suppressed addresses that contain another one, at most. */
const SIMILAR_ADDRESSES = 25;
const RETRIABLE = ["BOUNCED", "FAILED", "EXPIRED"];
const WAITING = ["QUEUED", "DELAYED"];

/** One e-mail of the log beside the list: what happened to it, its content, and what can be done. */
export function SendPanel() {
  const projectId = useProjectId();
  const { sendId = "" } = useParams({ strict: false });
  const { tab } = useSearch({ strict: false }) as { tab?: SendTab };
  const client = useQueryClient();
  const { row, patch } = useNeighbours();
  const listed = row as EmailLogEntry | undefined;

  const live = useLive(projectId, EMAIL_EVENTS, (event) => {
    if (event.subjectId === sendId) void client.invalidateQueries({ queryKey: ["send", projectId, sendId] });
  });
  const query = useQuery({
    queryKey: ["send", projectId, sendId, "record"],
    queryFn: ({ signal }) => api(projectId).emails.get(sendId, { signal }),
    refetchInterval: ({ state }) =>
      live === "off" && state.data && ["waiting", "scheduled"].includes(outcomeOf(state.data)) ? POLL_MS : false,
  });
  const stamp = query.data && `${query.data.status} ${query.data.openedAt} ${query.data.clickedAt}`;
  const attempts = useQuery({
    queryKey: ["send", projectId, sendId, "attempts", stamp],
    queryFn: ({ signal }) => api(projectId).emails.listAttempts(sendId, { signal }),
    enabled: query.isSuccess,
    placeholderData: (previous, of) => (of?.queryKey[2] === sendId ? previous : undefined),
  });
  const hits = useQuery({
    queryKey: ["send", projectId, sendId, "hits", stamp],
    queryFn: ({ signal }) => api(projectId).emails.listHits(sendId, { signal }),
    enabled: Boolean(query.data?.openedAt || query.data?.clickedAt),
    placeholderData: (previous, of) => (of?.queryKey[2] === sendId ? previous : undefined),
  });
  const path = `/projects/${projectId}/emails/logs/${sendId}`;
  usePageRequest({ method: "GET", path });

  const update = (next: EmailLogEntry) => {
    patch(next.id, next);
    void client.invalidateQueries({ queryKey: ["send", projectId, sendId] });
    void client.invalidateQueries({ queryKey: ["emails", projectId, "count"] });
  };
  const send: EmailLogEntryDetail | undefined =
    query.data ?? (listed && { ...listed, webhookEvents: [], engine: null, requireTls: null, waiting: null });
  const seen = send && seenByPeople(send, hits.data);
  if (query.isError && !query.data)
    return (
      <Panel label={m.emails_one()} actions={null}>
        {query.error instanceof APIError && query.error.status === 404 ? (
          <LoadingFailed title={m.emails_gone_title()} error={m.emails_gone_lead()} onRetry={query.refetch} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </Panel>
    );
  if (!send || !seen)
    return (
      <Panel label={m.emails_one()} actions={null} busy>
        {null}
      </Panel>
    );
  return (
    <Panel
      label={send.subject || m.emails_no_subject()}
      actions={<Actions send={send} path={path} onChanged={update} />}
    >
      <header className="subject">
        <Pill shape={shapeOf(seen)} tone={pillTone(seen)}>
          {wordOf(seen)}
        </Pill>
        <h2>{send.subject || m.emails_no_subject()}</h2>
        <Facts send={send} />
      </header>
      <PanelTabs
        tabs={[
          [undefined, m.emails_part_timeline()],
          ["preview", m.emails_part_preview()],
          ["headers", m.emails_part_headers()],
          ["source", m.emails_part_source()],
          ["request", m.emails_part_request()],
        ]}
      />
      {tab === "preview" ? (
        <Preview of={{ sendId }} title={send.subject} large />
      ) : tab === "headers" ? (
        <Headers sendId={sendId} />
      ) : tab === "source" ? (
        <Source sendId={sendId} />
      ) : tab === "request" ? (
        <RequestTab path={path} record={query.data} />
      ) : (
        <>
          <Why send={send} />
          {attempts.isError ? (
            <LoadingFailed title={m.emails_timeline_failed()} error={attempts.error} onRetry={attempts.refetch} />
          ) : (
            <Timeline send={send} attempts={attempts.data} hits={hits.data} />
          )}
          <Recipients send={send} />
          <Preview of={{ sendId }} title={send.subject} />
        </>
      )}
    </Panel>
  );
}

/** The state without the opens and clicks of machines, which `openedAt` and `clickedAt` include. */
function seenByPeople(send: EmailLogEntryDetail, hits: TrackingHit[] | undefined) {
  if (!hits) return send;
  const by = (kind: string) => hits.some((each) => each.kind === kind && each.verdict !== "machine");
  return { ...send, openedAt: by("OPEN") ? send.openedAt : null, clickedAt: by("CLICK") ? send.clickedAt : null };
}

function pillTone(send: EmailLogEntry): "" | "good" | "wait" | "bad" | "fail" {
  switch (outcomeOf(send)) {
    case "delivered":
    case "opened":
    case "clicked":
      return "good";
    case "waiting":
      return "wait";
    case "bounced":
      return "bad";
    case "complaint":
    case "failed":
    case "expired":
      return "fail";
    default:
      return "";
  }
}

/** Who, when, and what belongs to it. */
function Facts({ send }: { send: EmailLogEntryDetail }) {
  const projectId = useProjectId();
  const campaign = useCampaign(send.campaignId);
  const log = { to: "/projects/$projectId/emails", params: { projectId } } as const;
  const took = send.deliveredAt && Date.parse(send.deliveredAt) - Date.parse(send.scheduledAt ?? send.createdAt);
  const planned = send.status === "SCHEDULED" ? send.scheduledAt : null;
  return (
    <dl className="facts">
      <dt>{m.emails_col_to()}</dt>
      <dd>
        <Link
          {...log}
          search={{ recipient: send.contact.email }}
          title={m.emails_all_to({ email: send.contact.email })}
        >
          {send.to.join(", ")}
        </Link>
      </dd>
      {send.cc.length > 0 && <Fact label={m.emails_cc()}>{send.cc.join(", ")}</Fact>}
      {send.bcc.length > 0 && <Fact label={m.emails_bcc()}>{send.bcc.join(", ")}</Fact>}
      <Fact label={m.emails_from()}>{send.from}</Fact>
      {planned ? (
        <Fact label={m.emails_planned()}>
          <Time at={planned} format={longTime} />
        </Fact>
      ) : (
        <Fact label={m.emails_col_sent()}>
          <Time at={send.createdAt} format={longTime} />
          {typeof took === "number" && took >= 0 && (
            <span className="muted">· {m.emails_delivered_after({ time: duration(took) })}</span>
          )}
        </Fact>
      )}
      {send.requireTls && <Fact label={m.emails_tls()}>{m.emails_tls_required()}</Fact>}
      {send.expiresAt && (
        <Fact label={m.emails_expires()}>
          <Time at={send.expiresAt} format={longTime} />
        </Fact>
      )}
      {send.campaignId && (
        <Fact label={m.emails_filter_campaign()}>
          <Link {...log} search={{ campaignId: send.campaignId }}>
            {campaign?.name ?? send.campaignId}
          </Link>
        </Fact>
      )}
      {send.tags.length > 0 && (
        <Fact label={m.emails_tags()}>
          {send.tags.map((tag) => (
            <Link key={tag} {...log} search={{ tag }} className="tag" title={m.emails_all_tagged({ tag })}>
              {tag}
            </Link>
          ))}
        </Fact>
      )}
      <Fact label={m.emails_message_id()}>
        <span className="id">
          <code className="cut">{send.messageId}</code>
          <Copy value={send.messageId} label={m.emails_copy_message_id()} />
        </span>
      </Fact>
    </dl>
  );
}

function Fact({ label, children }: { label: string; children: ReactNode }) {
  return (
    <>
      <dt>{label}</dt>
      <dd>{children}</dd>
    </>
  );
}

/** Why the e-mail is where it is: the sentence first, then the consequence. */
function Why({ send }: { send: EmailLogEntryDetail }) {
  const projectId = useProjectId();
  const outcome = outcomeOf(send);
  const address = send.recipients.find((each) => each.status === send.status)?.email ?? send.contact.email;
  const isAboutAddress = ["bounced", "suppressed", "complaint"].includes(outcome);
  const suppression = useQuery({
    queryKey: ["suppression", projectId, address, "listed"],
    // The list does not fail for an address that is not on it.
    queryFn: async ({ signal }): Promise<Suppression | null> => {
      const { data } = await api(projectId).suppressions.list({ q: address, limit: SIMILAR_ADDRESSES }, { signal });
      return data.find((each) => each.address === address.toLowerCase()) ?? null;
    },
    enabled: isAboutAddress && address !== "",
  }).data;
  const listed = suppression && (
    <p>
      {m.emails_on_list({ email: address, reason: REASONS[suppression.reason]?.() ?? suppression.reason })}{" "}
      <Link to="/projects/$projectId/emails/suppressions/$address" params={{ projectId, address }}>
        {m.emails_show_suppression()}
      </Link>
    </p>
  );
  const { waiting } = send;
  const sentence = (waiting && waitSentence(waiting)) ?? whyOf(send, outcome);
  if (!sentence && !listed) return null;
  return (
    <section className="why" aria-label={titleOf(outcome)}>
      <h3>{titleOf(outcome)}</h3>
      {sentence && <p>{sentence}</p>}
      {waiting && EXPLAINED.includes(waiting.cause) && send.reason && <p className="muted reason">{send.reason}</p>}
      {waiting?.until && waiting.cause !== "SCHEDULE" && (
        <p>
          {m.emails_wait_until()} <Time at={waiting.until} format={longTime} />
        </p>
      )}
      {waiting?.site && (
        <p>
          <Link to="/projects/$projectId/emails/sites" params={{ projectId }} search={{ q: waiting.site }}>
            {m.emails_wait_show_site()}
          </Link>
        </p>
      )}
      {listed}
    </section>
  );
}

function titleOf(outcome: ReturnType<typeof outcomeOf>): string {
  switch (outcome) {
    case "bounced":
      return m.emails_why_bounced_title();
    case "waiting":
      return m.emails_why_waiting_title();
    case "suppressed":
    case "cancelled":
    case "expired":
      return m.emails_why_suppressed_title();
    case "failed":
      return m.emails_why_failed_title();
    case "complaint":
      return m.emails_why_complaint_title();
    default:
      return m.emails_why_title();
  }
}

function whyOf(send: EmailLogEntryDetail, outcome: ReturnType<typeof outcomeOf>): string | undefined {
  const reason = send.reason ?? "";
  switch (outcome) {
    case "bounced":
      return `${reasonOf(reason)} ${m.emails_why_not_again()}`;
    case "waiting":
      return send.status === "DELAYED" ? `${reasonOf(reason)} ${m.emails_step_deferred_next()}` : undefined;
    case "suppressed":
      return /frequency cap/i.test(reason) ? m.emails_why_cap() : m.emails_why_suppressed();
    case "cancelled":
      return /campaign was cancelled/i.test(reason)
        ? m.emails_why_campaign_cancelled()
        : /contact was deleted/i.test(reason)
          ? m.emails_why_contact_deleted()
          : m.emails_why_cancelled();
    case "expired":
      return m.emails_why_expired();
    case "failed":
      return /no longer a verified sending domain|not a verified sender/i.test(reason)
        ? m.emails_why_domain_lost()
        : /^Gave up/.test(reason)
          ? m.emails_why_gave_up()
          : m.emails_why_failed();
    case "complaint":
      return m.emails_why_complaint();
    default:
      if (send.test) return m.emails_why_test();
      if (send.tags.includes("campaign-test")) return m.emails_why_campaign_test();
      return undefined;
  }
}

function Actions({
  send,
  path,
  onChanged,
}: {
  send: EmailLogEntryDetail;
  path: string;
  onChanged: (send: EmailLogEntry) => void;
}) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const [isBusy, setBusy] = useState(false);
  const [dialog, setDialog] = useState<"cancel" | "reschedule">();
  const canRetry = mayWrite && (RETRIABLE.includes(send.status) || WAITING.includes(send.status));
  const canCancel = mayWrite && (send.status === "SCHEDULED" || WAITING.includes(send.status));
  const retry = async () => {
    setBusy(true);
    try {
      onChanged(await api(projectId).emails.retry(send.id));
      notifications.show({ message: m.emails_retried() });
    } catch (error) {
      notifications.show({ message: m.emails_retry_failed({ reason: messageOf(error) }) });
    } finally {
      setBusy(false);
    }
  };
  const save = async () => {
    try {
      download(await api(projectId).emails.getRaw(send.id), `${send.id}.eml`, "message/rfc822");
    } catch (error) {
      notifications.show({ message: m.emails_save_failed({ reason: messageOf(error) }) });
    }
  };
  return (
    <>
      <CopyRequest request={{ method: "GET", path }} />
      {canRetry && (
        <Button size="small" icon={<IconRefresh {...ICON} />} busy={isBusy} onClick={() => void retry()}>
          {WAITING.includes(send.status) ? m.emails_try_now() : m.emails_send_again()}
        </Button>
      )}
      {mayWrite && send.status === "SCHEDULED" && (
        <Button size="small" onClick={() => setDialog("reschedule")}>
          {m.emails_reschedule()}
        </Button>
      )}
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <button className="iconbtn small" type="button" aria-label={m.emails_more_actions()}>
            <IconDots {...ICON} />
          </button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void save()}>{m.emails_save_eml()}</Menu.Item>
          {canCancel && <Menu.Item onClick={() => setDialog("cancel")}>{m.emails_cancel()}</Menu.Item>}
        </Menu.Dropdown>
      </Menu>
      {dialog === "cancel" && <CancelDialog send={send} onClose={() => setDialog(undefined)} onDone={onChanged} />}
      {dialog === "reschedule" && (
        <RescheduleDialog send={send} onClose={() => setDialog(undefined)} onDone={onChanged} />
      )}
    </>
  );
}
