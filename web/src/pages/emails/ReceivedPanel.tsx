import { notifications } from "@mantine/notifications";
import type { InboundMessage } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconPaperclip, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams, useSearch } from "@tanstack/react-router";
import { useState } from "react";
import { useNeighbours } from "../../lists/neighbours";
import { Panel, PanelTabs } from "../../lists/Panel";
import { Glyph, type Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { CodeBox } from "../../parts/CodeBox";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { CopyRequest } from "../../parts/CopyRequest";
import { download } from "../../parts/download";
import { bytes, longTime } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { Preview } from "./Preview";
import { authenticityOf, inlineImages, senderOf, withImages } from "./received";
import { HeaderList, SourceText } from "./Source";

/** One received message beside the list. */
export function ReceivedPanel() {
  const projectId = useProjectId();
  const { messageId = "" } = useParams({ strict: false });
  const { tab } = useSearch({ strict: false }) as { tab?: "headers" | "checks" | "source" };
  const query = useQuery({
    queryKey: ["received", projectId, messageId],
    queryFn: ({ signal }) => api(projectId).inbound.get(messageId, { signal }),
    // A received message never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const path = `/projects/${projectId}/inbound/${messageId}`;
  usePageRequest({ method: "GET", path });
  const message = query.data;
  const lost = query.error instanceof APIError && query.error.code === "message_gone" ? query.error : undefined;
  if (query.isError)
    return (
      <Panel label={m.received_one()} actions={lost && <DeleteMessage messageId={messageId} />}>
        {lost ? (
          <Empty title={m.emails_message_gone()} lead={lost.detail} />
        ) : query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.received_gone()} lead={m.received_gone_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </Panel>
    );
  if (!message)
    return (
      <Panel label={m.received_one()} actions={null} busy>
        {null}
      </Panel>
    );
  const subject = message.subject || m.emails_no_subject();
  return (
    <Panel
      label={subject}
      actions={
        <>
          <CopyRequest request={{ method: "GET", path }} />
          <DeleteMessage messageId={messageId} />
        </>
      }
    >
      <Subject message={message} />
      <PanelTabs
        tabs={[
          [undefined, m.received_message()],
          ["checks", m.received_checks()],
          ["headers", m.emails_part_headers()],
          ["source", m.emails_part_source()],
        ]}
      />
      {tab === "headers" ? (
        <HeaderList fields={message.headers} />
      ) : tab === "source" ? (
        <ReceivedSource messageId={messageId} />
      ) : tab === "checks" ? (
        <Checks message={message} />
      ) : (
        <>
          <Reply message={message} />
          <Attachments message={message} />
          <Content message={message} key={message.id} />
        </>
      )}
    </Panel>
  );
}

/** The button that deletes a message, after a question. */
function DeleteMessage({ messageId }: { messageId: string }) {
  const projectId = useProjectId();
  const { close, patch, below, above } = useNeighbours();
  const mayWrite = useMayWrite();
  const [isDeleting, setDeleting] = useState(false);
  if (!mayWrite) return null;
  return (
    <>
      <Button size="small" icon={<IconTrash {...ICON} />} onClick={() => setDeleting(true)}>
        {m.yes_delete()}
      </Button>
      {isDeleting && (
        <ConfirmDialog
          title={m.received_delete_title()}
          deed={m.yes_delete()}
          onClose={() => setDeleting(false)}
          run={async () => {
            await api(projectId).inbound.delete(messageId);
            patch(messageId, undefined);
            notifications.show({ message: m.received_deleted() });
            (below ?? above ?? close)();
          }}
        >
          <p>{m.received_delete_lead()}</p>
        </ConfirmDialog>
      )}
    </>
  );
}

function Subject({ message }: { message: InboundMessage }) {
  const projectId = useProjectId();
  const { shape, tone, word } = authenticityOf(message);
  return (
    <header className="subject">
      <h2>{message.subject || m.emails_no_subject()}</h2>
      <dl className="facts">
        <dt>{m.emails_from()}</dt>
        <dd>
          {senderOf(message.from)} {message.from?.name && <span className="muted">&lt;{message.from.email}&gt;</span>}{" "}
          <Status shape={shape} tone={tone}>
            {word()}
          </Status>
        </dd>
        <dt>{m.emails_col_to()}</dt>
        <dd>{message.recipients.map((each) => each.address).join(", ")}</dd>
        <dt>{m.received_col_at()}</dt>
        <dd>
          <Time at={message.receivedAt} format={longTime} />
          <span className="muted">
            · {bytes(message.size)} · {m.received_until()} <Time at={message.expiresAt} />
          </span>
        </dd>
        {message.emailId && (
          <>
            <dt>{m.received_reply_to()}</dt>
            <dd>
              <Link to="/projects/$projectId/emails/$sendId" params={{ projectId, sendId: message.emailId }}>
                {m.received_show_email()}
              </Link>
            </dd>
          </>
        )}
      </dl>
      {message.automatic && (
        <p className="note">
          <Glyph shape="no" />
          <span>{m.received_automatic()}</span>
        </p>
      )}
      {message.hints.map((each) => (
        <p key={each.code} className="note wait">
          <Glyph shape="attention" />
          <span>{each.message}</span>
        </p>
      ))}
      {message.notices.map((each) => (
        <p key={each} className="note">
          <Glyph shape="no" />
          <span>{each}</span>
        </p>
      ))}
    </header>
  );
}

/** What the person has written, without what it answers and without the signature. */
function Reply({ message: { replyText, text, emailId, inReplyTo } }: { message: InboundMessage }) {
  if (!replyText || !(emailId || inReplyTo) || replyText.trim() === text?.trim()) return null;
  return (
    <section className="why" aria-labelledby="reply">
      <h3 id="reply">{m.received_reply()}</h3>
      <p className="replytext">{replyText}</p>
    </section>
  );
}

function Content({ message }: { message: InboundMessage }) {
  const projectId = useProjectId();
  const images = useQuery({
    queryKey: ["received", projectId, message.id, "images"],
    queryFn: ({ signal }) => inlineImages(projectId, message, signal),
    enabled: message.html !== null && message.attachments.some((each) => each.contentId),
    staleTime: Number.POSITIVE_INFINITY,
    retry: false,
  });
  const html = withImages(message.html ?? "", images.data ?? new Map());
  return <Preview of={{ receivedId: message.id, html }} title={message.subject} text={message.text} large />;
}

function Attachments({ message }: { message: InboundMessage }) {
  const projectId = useProjectId();
  const [saving, setSaving] = useState("");
  if (message.attachments.length === 0) return null;
  const save = async ({ id, filename }: InboundMessage["attachments"][number]) => {
    setSaving(id);
    try {
      // Whatever it says it is, the browser only saves it.
      const octets = await api(projectId).inbound.getAttachment(message.id, id);
      download(octets, filename, "application/octet-stream");
    } catch (error) {
      notifications.show({ message: m.emails_save_failed({ reason: messageOf(error) }) });
    } finally {
      setSaving("");
    }
  };
  return (
    <section className="why" aria-labelledby="attachments">
      <h3 id="attachments">{m.emails_attachments()}</h3>
      <ul className="list">
        {message.attachments.map((each) => (
          <li key={each.id}>
            <IconPaperclip {...ICON} />
            <span className="grow cut">
              {each.filename} <span className="muted">{bytes(each.size)}</span>
            </span>
            <Button size="small" busy={saving === each.id} onClick={() => void save(each)}>
              {m.emails_save()}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}

/** SPF, each DKIM signature and DMARC, with the reasons. */
function Checks({ message: { authentication, authenticationResults, envelope } }: { message: InboundMessage }) {
  const rows = [
    {
      key: "spf",
      name: "SPF",
      domain: authentication.spfDomain,
      verdict: String(authentication.spf.verdict),
      reason: authentication.spf.reason,
    },
    ...authentication.dkim.map((each, number) => ({
      key: `dkim ${number}`,
      name: "DKIM",
      domain: [each.domain, each.selector].filter(Boolean).join(" · "),
      verdict: String(each.verdict),
      reason: each.reason,
    })),
    {
      key: "dmarc",
      name: "DMARC",
      domain: authentication.dmarc.domain,
      verdict: authentication.dmarc.verdict,
      reason: authentication.dmarc.reason,
    },
  ];
  return (
    <section className="why" aria-labelledby="checks">
      <h3 id="checks">{m.received_checks()}</h3>
      <table className="table plain checktable">
        <thead>
          <tr>
            <th scope="col">{m.received_check()}</th>
            <th scope="col">{m.received_result()}</th>
            <th scope="col">{m.received_why()}</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ key, name, domain, verdict, reason }) => (
            <tr key={key}>
              <th scope="row">
                {name} <span className="muted">{domain}</span>
              </th>
              <td>
                <Status shape={shapeOf(verdict)} tone={verdict === "fail" ? "bad" : ""}>
                  {verdict}
                </Status>
              </td>
              <td>{reason}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <dl className="headers">
        <div>
          <dt>{m.received_envelope()}</dt>
          <dd>
            <code>{envelope.sender || "<>"}</code>
          </dd>
        </div>
        {envelope.clientIp && (
          <div>
            <dt>{m.received_client()}</dt>
            <dd>
              <code>{[envelope.clientName, envelope.clientIp].filter(Boolean).join(" · ")}</code>
            </dd>
          </div>
        )}
      </dl>
      <h3>Authentication-Results</h3>
      <CodeBox label="Authentication-Results">{authenticationResults}</CodeBox>
    </section>
  );
}

function shapeOf(verdict: string): Shape {
  return verdict === "pass" ? "yes" : verdict === "fail" ? "attention" : "no";
}

function ReceivedSource({ messageId }: { messageId: string }) {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: ["received", projectId, messageId, "raw"],
    queryFn: async ({ signal }) => {
      const octets = await api(projectId).inbound.getRaw(messageId, { signal });
      return { text: new TextDecoder().decode(octets), octets };
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  if (query.isError)
    return <LoadingFailed title={m.emails_source_failed()} error={query.error} onRetry={query.refetch} />;
  return query.data ? (
    <SourceText raw={query.data} filename={`${messageId}.eml`} />
  ) : (
    <p className="sr">{m.loading()}</p>
  );
}
