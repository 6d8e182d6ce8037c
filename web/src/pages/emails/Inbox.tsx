import { notifications } from "@mantine/notifications";
import type { CapturedMessage, InboxMessage } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconPaperclip, IconTrash } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { Held } from "../../lists/Held";
import { startsLive } from "../../lists/liveness";
import { useNeighbours, useNeighboursOf } from "../../lists/neighbours";
import { Panel, PanelTabs } from "../../lists/Panel";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { SearchBox } from "../../lists/SearchBox";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { CopyRequest } from "../../parts/CopyRequest";
import { download } from "../../parts/download";
import { bytes, longTime } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Time } from "../../parts/parts";
import { queryString, usePageRequest } from "../../parts/request";
import { useUndo } from "../../parts/undo";
import { EMAIL_EVENTS } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { Frame } from "./Frame";
import { NothingSent } from "./Log";
import { Preview } from "./Preview";
import type { SendTab } from "./routes";
import { HeaderList, SourceText } from "./Source";

const page = getRouteApi("/session/projects/$projectId/emails/inbox");

/** Captured messages: mail that this project sent and nobody got. */
export function Inbox() {
  const projectId = useProjectId();
  const { messageId } = useParams({ strict: false });
  const { q } = page.useSearch();
  const navigate = useNavigate();
  const [live] = useState(startsLive);
  const list = useRowList<CapturedMessage>({
    queryKey: ["emails", projectId, "inbox", q],
    first: () => api(projectId).inbox.list({ q, limit: PAGE_ROWS }),
    types: EMAIL_EVENTS,
    live,
  });
  const undo = useUndo();
  const rows = list.rows.filter((each) => !undo.hidden.has(each.id));
  const open = useCallback(
    (message: CapturedMessage) =>
      void navigate({
        to: "/projects/$projectId/emails/inbox/$messageId",
        params: { projectId, messageId: message.id },
        search: true,
        replace: messageId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, messageId],
  );
  const close = useCallback(
    () =>
      void navigate({
        to: "/projects/$projectId/emails/inbox",
        params: { projectId },
        search: ({ q }: { q?: string }) => (q ? { q } : {}),
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(rows, messageId, open, close, list.patch);
  const path = `/projects/${projectId}/inbox`;
  return (
    <Frame
      tab="inbox"
      request={{ method: "GET", path: path + queryString({ q, limit: PAGE_ROWS }) }}
      neighbours={neighbours}
      panel={messageId && <Outlet />}
    >
      <form
        className="filters"
        role="search"
        aria-label={m.emails_filter()}
        onSubmit={(event) => event.preventDefault()}
      >
        <SearchBox
          value={q ?? ""}
          label={m.emails_inbox_search()}
          onChange={(next) =>
            void navigate({ to: ".", search: (next ? { q: next } : {}) as never, replace: true, resetScroll: false })
          }
        />
        <p className="lead muted">{m.emails_inbox_lead()}</p>
      </form>
      <Held list={list} />
      {list.error && rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && rows.length === 0 ? (
        q ? (
          <Empty title={m.emails_none_match()} lead={m.list_none_match_q({ q })}>
            <Button onClick={() => void navigate({ to: ".", search: {} as never, replace: true })}>
              {m.emails_drop_search()}
            </Button>
          </Empty>
        ) : (
          <NothingSent title={m.emails_inbox_empty()} lead={m.emails_inbox_empty_lead()} />
        )
      ) : (
        <RowTable
          label={m.emails_inbox_table()}
          columns={columns()}
          className="inbox"
          rows={rows}
          total={list.total}
          isPending={list.isPending}
          isStale={list.isStale}
          openId={messageId}
          fresh={list.fresh}
          onOpen={open}
          onClose={close}
          onEnd={list.more}
          row={(message) => <Cells message={message} />}
        />
      )}
    </Frame>
  );
}

function columns(): Column[] {
  return [
    { key: "to", label: m.emails_col_to(), skeleton: 200, className: "c-to" },
    { key: "subject", label: m.emails_col_subject(), skeleton: 220, className: "c-sub" },
    { key: "from", label: m.emails_from(), skeleton: 160, className: "c-from" },
    { key: "at", label: m.emails_col_caught(), skeleton: 36, className: "num c-time" },
  ];
}

function Cells({ message }: { message: CapturedMessage }) {
  const projectId = useProjectId();
  const others = message.recipients.length - 1;
  return (
    <>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/emails/inbox/$messageId"
          params={{ projectId, messageId: message.id }}
          search={true}
          resetScroll={false}
        >
          {message.recipients[0]}
          {others > 0 && <span className="muted"> {m.emails_and_more({ count: others })}</span>}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut">{message.subject || <span className="muted">{m.emails_no_subject()}</span>}</span>
      </td>
      <td className="c-from">
        <span className="cut">{message.sender}</span>
      </td>
      <td className="c-time num">
        <Time at={message.capturedAt} />
      </td>
    </>
  );
}

/** One captured message beside the list. */
export function InboxPanel() {
  const projectId = useProjectId();
  const { messageId = "" } = useParams({ strict: false });
  const { tab } = useSearch({ strict: false }) as { tab?: SendTab };
  const { close, patch, below, above } = useNeighbours();
  const mayWrite = useMayWrite();
  const undo = useUndo();
  const query = useQuery({
    queryKey: ["inbox", projectId, messageId],
    queryFn: ({ signal }) => api(projectId).inbox.get(messageId, { signal }),
    // A captured message never changes.
    staleTime: Number.POSITIVE_INFINITY,
  });
  const path = `/projects/${projectId}/inbox/${messageId}`;
  usePageRequest({ method: "GET", path });
  const remove = () => {
    undo.start({
      id: messageId,
      said: m.emails_inbox_deleted(),
      run: async () => {
        await api(projectId).inbox.delete(messageId);
        patch(messageId, undefined);
      },
      failed: (error) => m.emails_inbox_delete_failed({ reason: messageOf(error) }),
    });
    (below ?? above ?? close)();
  };
  const message = query.data;
  if (query.isError)
    return (
      <Panel label={m.emails_one()} actions={null}>
        {query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.emails_inbox_gone()} lead={m.emails_inbox_gone_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )}
      </Panel>
    );
  if (!message)
    return (
      <Panel label={m.emails_one()} actions={null} busy>
        {null}
      </Panel>
    );
  return (
    <Panel
      label={message.subject || m.emails_no_subject()}
      actions={
        <>
          <CopyRequest request={{ method: "GET", path }} />
          {mayWrite && (
            <Button size="small" icon={<IconTrash {...ICON} />} onClick={remove}>
              {m.yes_delete()}
            </Button>
          )}
        </>
      }
    >
      <header className="subject">
        <h2>{message.subject || m.emails_no_subject()}</h2>
        <dl className="facts">
          <dt>{m.emails_col_to()}</dt>
          <dd>{message.recipients.join(", ")}</dd>
          <dt>{m.emails_from()}</dt>
          <dd>{message.sender}</dd>
          <dt>{m.emails_col_caught()}</dt>
          <dd>
            <Time at={message.capturedAt} format={longTime} />
            <span className="muted">· {bytes(message.size)}</span>
          </dd>
          <dt>{m.emails_tab_log()}</dt>
          <dd>
            <Link to="/projects/$projectId/emails/$sendId" params={{ projectId, sendId: message.sendId }}>
              {m.emails_inbox_to_log()}
            </Link>
          </dd>
        </dl>
        {message.redacted && (
          <p className="note">
            <Glyph shape="no" />
            <span>{m.emails_inbox_redacted()}</span>
          </p>
        )}
      </header>
      <PanelTabs
        tabs={[
          [undefined, m.emails_part_preview()],
          ["headers", m.emails_part_headers()],
          ["source", m.emails_part_source()],
        ]}
      />
      {tab === "headers" ? (
        <HeaderList fields={message.headers} />
      ) : tab === "source" ? (
        <InboxSource messageId={messageId} />
      ) : (
        <>
          <Attachments message={message} />
          <Preview of={{ messageId }} title={message.subject} text={message.text} large key={messageId} />
        </>
      )}
    </Panel>
  );
}

function InboxSource({ messageId }: { messageId: string }) {
  const projectId = useProjectId();
  const query = useQuery({
    queryKey: ["inbox", projectId, messageId, "raw"],
    queryFn: async ({ signal }) => {
      const octets = await api(projectId).inbox.getRaw(messageId, { signal });
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

function Attachments({ message }: { message: InboxMessage }) {
  const projectId = useProjectId();
  const [saving, setSaving] = useState<number>();
  if (message.attachments.length === 0) return null;
  const save = async ({ number, filename }: InboxMessage["attachments"][number]) => {
    setSaving(number);
    try {
      // Whatever it says it is, the browser only saves it.
      const octets = await api(projectId).inbox.getAttachment(message.id, String(number));
      download(octets, filename, "application/octet-stream");
    } catch (error) {
      notifications.show({ message: m.emails_save_failed({ reason: messageOf(error) }) });
    } finally {
      setSaving(undefined);
    }
  };
  return (
    <section className="why" aria-labelledby="attachments">
      <h3 id="attachments">{m.emails_attachments()}</h3>
      <ul className="list">
        {message.attachments.map((each) => (
          <li key={each.number}>
            <IconPaperclip {...ICON} />
            <span className="grow cut">
              {each.filename} <span className="muted">{bytes(each.size)}</span>
            </span>
            <Button size="small" busy={saving === each.number} onClick={() => void save(each)}>
              {m.emails_save()}
            </Button>
          </li>
        ))}
      </ul>
    </section>
  );
}
