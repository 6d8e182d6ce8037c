import type { InboundSummary } from "@postern/sdk";
import { IconPaperclip, IconX } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { Held } from "../../lists/Held";
import { startsLive } from "../../lists/liveness";
import { useNeighboursOf } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { CodeBox } from "../../parts/CodeBox";
import { Button, Copy, Empty, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { queryString } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { Frame } from "./Frame";
import { authenticityOf, routesQuery, senderOf } from "./received";
import type { ReceivedSearch } from "./routes";
import { startOf } from "./search";
import "../overview/overview.css";

const page = getRouteApi("/session/projects/$projectId/emails/received");

const PERIODS = [
  ["today", m.emails_sent_today],
  ["7d", () => m.emails_sent_days({ days: 7 })],
  ["30d", () => m.emails_sent_days({ days: 30 })],
] as const;

/** Mail that people sent to the project's addresses. */
export function Received() {
  const projectId = useProjectId();
  const { messageId } = useParams({ strict: false });
  // What is open beside the list has a part of its own in the URL.
  const { sender, recipient, routeId, emailId, sent } = page.useSearch();
  const filters = { sender, recipient, routeId, emailId };
  const navigate = useNavigate();
  const [live] = useState(startsLive);
  const parameters = { ...filters, from: sent && startOf(sent), limit: PAGE_ROWS };
  const list = useRowList<InboundSummary>({
    queryKey: ["emails", projectId, "received", filters, sent],
    first: () => api(projectId).inbound.list(parameters),
    types: ["inbound.received"],
    live,
  });
  const open = useCallback(
    (message: InboundSummary) =>
      void navigate({
        to: "/projects/$projectId/emails/received/$messageId",
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
        to: "/projects/$projectId/emails/received",
        params: { projectId },
        search: (({ tab: _, ...rest }: ReceivedSearch & { tab?: string }) => rest) as never,
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(list.rows, messageId, open, close, list.patch);
  const filter = (change: ReceivedSearch) =>
    void navigate({
      to: ".",
      search: ((before: object) => ({ ...before, ...change })) as never,
      replace: true,
      resetScroll: false,
    });
  const isFiltered = Boolean(sender || recipient || routeId || emailId || sent);
  return (
    <Frame
      tab="received"
      request={{ method: "GET", path: `/projects/${projectId}/inbound${queryString(parameters)}` }}
      neighbours={neighbours}
      panel={messageId && <Outlet />}
    >
      <Filters search={{ ...filters, sent } as ReceivedSearch} onChange={filter} />
      <Held list={list} />
      {list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && list.rows.length === 0 ? (
        isFiltered ? (
          <Empty title={m.received_none_match()} lead={m.received_none_match_lead()}>
            <Button
              onClick={() =>
                void navigate({ to: "/projects/$projectId/emails/received", params: { projectId }, replace: true })
              }
            >
              {m.received_clear()}
            </Button>
          </Empty>
        ) : (
          <NothingReceived />
        )
      ) : (
        <RowTable
          label={m.received_table()}
          columns={columns()}
          className="received"
          rows={list.rows}
          total={undefined}
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

function Filters({ search, onChange }: { search: ReceivedSearch; onChange: (change: ReceivedSearch) => void }) {
  const projectId = useProjectId();
  const routes = useQuery(routesQuery(projectId)).data ?? [];
  const isGone = search.routeId && !routes.some((each) => each.id === search.routeId);
  return (
    <form
      className="filters"
      role="search"
      aria-label={m.received_filter()}
      onSubmit={(event) => event.preventDefault()}
    >
      <SearchBox
        value={search.sender ?? ""}
        label={m.received_sender_filter()}
        onChange={(sender) => onChange({ sender: sender || undefined } as ReceivedSearch)}
      />
      <div className="chips">
        <select
          className="input small"
          aria-label={m.received_address_filter()}
          value={search.routeId ?? ""}
          onChange={(event) => onChange({ routeId: event.target.value || undefined } as ReceivedSearch)}
        >
          <option value="">{m.received_all_addresses()}</option>
          {isGone && <option value={search.routeId}>{search.routeId}</option>}
          {routes.map((each) => (
            <option key={each.id} value={each.id}>
              {each.address}
            </option>
          ))}
        </select>
        <select
          className="input small"
          aria-label={m.received_period()}
          value={search.sent ?? ""}
          onChange={(event) => onChange({ sent: event.target.value || undefined } as ReceivedSearch)}
        >
          <option value="">{m.received_any_time()}</option>
          {PERIODS.map(([value, label]) => (
            <option key={value} value={value}>
              {label()}
            </option>
          ))}
        </select>
        {(["recipient", "emailId"] as const).map(
          (name) =>
            search[name] && (
              <span key={name} className="filter">
                <span className="value">
                  {name === "emailId" ? m.received_replies_to() : m.emails_col_to()} {search[name]}
                </span>
                <button
                  type="button"
                  aria-label={m.emails_remove_filter({ filter: search[name] ?? "" })}
                  onClick={() => onChange({ [name]: undefined } as ReceivedSearch)}
                >
                  <IconX {...ICON} />
                </button>
              </span>
            ),
        )}
        <Link className="btn small" to="/projects/$projectId/emails/received/addresses" params={{ projectId }}>
          {m.received_addresses()}
        </Link>
      </div>
    </form>
  );
}

function columns(): Column[] {
  return [
    { key: "from", label: m.emails_from(), skeleton: 200, className: "c-to" },
    { key: "subject", label: m.emails_col_subject(), skeleton: 220, className: "c-sub" },
    { key: "to", label: m.emails_col_to(), skeleton: 160, className: "c-from" },
    { key: "sender", label: m.received_col_sender(), skeleton: 90, className: "c-st" },
    { key: "at", label: m.received_col_at(), skeleton: 36, className: "num c-time" },
  ];
}

function Cells({ message }: { message: InboundSummary }) {
  const projectId = useProjectId();
  const { shape, tone, word } = authenticityOf(message);
  return (
    <>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/emails/received/$messageId"
          params={{ projectId, messageId: message.id }}
          search={true}
          resetScroll={false}
        >
          {senderOf(message.from)}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut">
          {message.attachmentCount > 0 && <IconPaperclip {...ICON} size={14} aria-label={m.emails_attachments()} />}{" "}
          {message.subject || <span className="muted">{m.emails_no_subject()}</span>}
        </span>
      </td>
      <td className="c-from">
        <span className="cut">{message.recipients.map((each) => each.address).join(", ")}</span>
      </td>
      <td className="c-st">
        <Status shape={shape} tone={tone}>
          {word()}
        </Status>
      </td>
      <td className="c-time num">
        <Time at={message.receivedAt} />
      </td>
    </>
  );
}

/** What is missing until mail arrives: an address, its MX record, or only mail. */
function NothingReceived() {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const routes = useQuery(routesQuery(projectId));
  const [first] = routes.data ?? [];
  if (routes.isPending) return null;
  if (!first)
    return (
      <Empty title={m.received_no_address()} lead={m.received_no_address_lead()}>
        {mayWrite && (
          <Link
            className="btn primary"
            to="/projects/$projectId/emails/received/addresses"
            params={{ projectId }}
            search={{ add: "1" }}
          >
            {m.received_add_address()}
          </Link>
        )}
      </Empty>
    );
  const address = first.address.replace(/^\*@/, "hello@");
  const command = `printf 'From: Ada <ada@example.com>\\r\\nTo: ${address}\\r\\nSubject: Hello\\r\\n\\r\\nHello\\r\\n' |
  curl -sS '${location.origin}/projects/${projectId}/inbound' \\
    -H "Authorization: Bearer $POSTERN_KEY" \\
    -H 'Content-Type: message/rfc822' --data-binary @-`;
  return (
    <>
      <Empty title={m.received_empty()} lead={m.received_empty_lead({ address })} />
      <div className="command">
        <CodeBox label={m.received_command()}>{command}</CodeBox>
        <Copy value={command} label={m.copy_code()} />
      </div>
    </>
  );
}
