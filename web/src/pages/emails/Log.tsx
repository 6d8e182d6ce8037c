import { notifications } from "@mantine/notifications";
import type { EmailLogEntry } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconTerminal2 } from "@tabler/icons-react";
import { useQueries } from "@tanstack/react-query";
import { Link, Outlet, useNavigate, useParams, useSearch } from "@tanstack/react-router";
import { type ReactNode, useCallback, useMemo, useState } from "react";
import { Held } from "../../lists/Held";
import { keepLive, startsLive } from "../../lists/liveness";
import { useNeighboursOf } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, type RowList, useRowList } from "../../lists/rows";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { COUNT_LIMIT, countUpTo } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { type ApiRequest, copyCurl, queryString } from "../../parts/request";
import { plannedTime } from "../../parts/when";
import { EMAIL_EVENTS } from "../../session/live";
import { useMayWrite, useProfile, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { FILTER_LABELS, Filters } from "./Filters";
import { Frame, useSendTest } from "./Frame";
import { countLimitOf, filterOfPath, filtersIn, type LogSearch, parametersOf, readLogSearch, without } from "./search";
import { shapeOf, toneOf, wordOf } from "./status";

/** The log of all e-mails, with filters, and the one that is open beside it. */
export function Log() {
  const projectId = useProjectId();
  const { sendId } = useParams({ strict: false });
  const everything = useSearch({ strict: false });
  const search = useMemo(() => readLogSearch(everything), [everything]);
  const navigate = useNavigate();
  const [live, setLive] = useState(startsLive);

  const parameters = parametersOf(search);
  const list = useRowList<EmailLogEntry>({
    queryKey: ["emails", projectId, "log", parameters],
    first: () => api(projectId).emails.list({ ...parameters, countLimit: countLimitOf(search), limit: PAGE_ROWS }),
    one: (id) => api(projectId).emails.get(id),
    types: EMAIL_EVENTS,
    live,
  });

  const setSearch = useCallback(
    (next: LogSearch) =>
      void navigate({
        to: ".",
        // `tab` belongs to the e-mail that is open.
        search: (previous: object) => ({ ...("tab" in previous && { tab: previous.tab }), ...next }) as never,
        replace: true,
        resetScroll: false,
      }),
    [navigate],
  );
  const open = useCallback(
    (send: EmailLogEntry) =>
      void navigate({
        to: "/projects/$projectId/emails/$sendId",
        params: { projectId, sendId: send.id },
        search: true,
        replace: sendId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, sendId],
  );
  const close = useCallback(
    () =>
      void navigate({
        to: "/projects/$projectId/emails",
        params: { projectId },
        search: readLogSearch,
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(list.rows, sendId, open, close, list.patch);

  const path = `/projects/${projectId}/emails/logs`;
  const request: ApiRequest = { method: "GET", path: path + queryString({ ...parameters, limit: PAGE_ROWS }) };
  const onExport = async () => {
    try {
      download(await api(projectId).emails.export(parameters), "emails.csv", "text/csv");
    } catch (error) {
      notifications.show({ message: m.emails_export_failed({ reason: messageOf(error) }) });
    }
  };
  const refused = refusalsOf(list.error);
  return (
    <Frame tab="log" request={request} onExport={onExport} neighbours={neighbours} panel={sendId && <Outlet />}>
      <Filters
        search={search}
        onChange={setSearch}
        refused={refused}
        total={list.isStale ? undefined : list.total}
        live={live}
        state={list.state}
        onLive={(next) => {
          keepLive(next);
          setLive(next);
          if (next && list.held) list.showHeld();
        }}
      />
      <Held list={list} />
      <SendRows
        list={list}
        openId={sendId}
        onOpen={open}
        onClose={close}
        empty={
          filtersIn(search).length || search.q ? (
            <EmptyByFilter search={search} onChange={setSearch} />
          ) : (
            <NothingSent />
          )
        }
        refused={refused.length > 0}
        to="/projects/$projectId/emails/$sendId"
      />
    </Frame>
  );
}

export interface Refusal {
  filter: ReturnType<typeof filterOfPath>;
  message: string;
}

/** What the API refused about the filters. */
function refusalsOf(error: unknown): Refusal[] {
  if (!(error instanceof APIError) || error.status !== 400) return [];
  return error.errors.map(({ path, message }) => ({ filter: filterOfPath(path), message }));
}

function columnsOf(scheduled: boolean): Column[] {
  return [
    { key: "status", label: m.emails_col_status(), skeleton: 72, className: "c-st" },
    { key: "to", label: m.emails_col_to(), skeleton: 200, className: "c-to" },
    { key: "subject", label: m.emails_col_subject(), skeleton: 164, className: "c-sub" },
    { key: "tag", label: m.emails_col_tag(), skeleton: 60, className: "c-tag" },
    { key: "at", label: scheduled ? m.emails_col_at() : m.emails_col_sent(), skeleton: 36, className: "num c-time" },
  ];
}

/** E-mails as rows, with the states of a list: loading, failed, empty. */
export function SendRows({
  list,
  rows = list.rows,
  openId,
  onOpen,
  onClose,
  empty,
  refused = false,
  scheduled = false,
  to,
}: {
  list: Pick<RowList<EmailLogEntry>, "rows" | "total" | "isPending" | "isStale" | "error" | "retry"> &
    Partial<Pick<RowList<EmailLogEntry>, "more" | "fresh">>;
  rows?: EmailLogEntry[];
  openId: string | undefined;
  onOpen: (send: EmailLogEntry) => void;
  onClose: () => void;
  empty: ReactNode;
  /** The filters say what is wrong. */
  refused?: boolean;
  /** Show when they will be sent, not when they were. */
  scheduled?: boolean;
  to: "/projects/$projectId/emails/$sendId" | "/projects/$projectId/emails/scheduled/$sendId";
}) {
  if (refused) return null;
  if (list.error && rows.length === 0) return <LoadingFailed error={list.error} onRetry={list.retry} />;
  if (!list.isPending && rows.length === 0) return empty;
  return (
    <>
      <RowTable
        label={m.emails_table()}
        columns={columnsOf(scheduled)}
        className={scheduled ? "planned" : ""}
        rows={rows}
        total={list.total}
        isPending={list.isPending}
        isStale={list.isStale}
        openId={openId}
        fresh={list.fresh}
        onOpen={onOpen}
        onClose={onClose}
        onEnd={list.more}
        row={(send) => <SendCells send={send} scheduled={scheduled} to={to} />}
      />
      {list.error ? <LoadingFailed error={list.error} onRetry={list.retry} /> : null}
      {!list.isPending && (
        <p className="pager">
          <span className="keys muted">
            <kbd>J</kbd> <kbd>K</kbd> {m.emails_keys_move()} <kbd>Enter</kbd> {m.emails_keys_open()}
          </span>
        </p>
      )}
    </>
  );
}

/** The cells of one e-mail. */
function SendCells({
  send,
  scheduled,
  to,
}: {
  send: EmailLogEntry;
  scheduled: boolean;
  to: "/projects/$projectId/emails/$sendId" | "/projects/$projectId/emails/scheduled/$sendId";
}) {
  const projectId = useProjectId();
  const others = send.recipients.length - 1;
  return (
    <>
      <td className="c-st">
        <Status shape={shapeOf(send)} tone={toneOf(send)}>
          {wordOf(send)}
        </Status>
      </td>
      <th scope="row" className="c-to">
        <Link className="row cut" to={to} params={{ projectId, sendId: send.id }} search={true} resetScroll={false}>
          {send.contact.email || send.to[0]}
          {others > 0 && <span className="muted"> {m.emails_and_more({ count: others })}</span>}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut">{send.subject || <span className="muted">{m.emails_no_subject()}</span>}</span>
      </td>
      <td className="c-tag">
        {send.tags[0] && <span className="tag cut">{send.tags[0]}</span>}
        {send.tags.length > 1 && <span className="muted"> +{send.tags.length - 1}</span>}
      </td>
      <td className="c-time num">
        <Time at={(scheduled && send.scheduledAt) || send.createdAt} format={scheduled ? plannedTime : undefined} />
      </td>
    </>
  );
}

/** A project that has sent nothing. */
export function NothingSent({ title = m.emails_empty_title(), lead = m.emails_empty_lead() }) {
  const { email } = useProfile();
  const sendTest = useSendTest();
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const body = { from: "Me <me@example.com>", to: [email], subject: "Hello", text: "It works." };
  return (
    <Empty title={title} lead={lead}>
      {mayWrite && (
        <Button kind="primary" onClick={sendTest}>
          {m.emails_send_test()}
        </Button>
      )}
      <Button
        icon={<IconTerminal2 {...ICON} />}
        onClick={() => void copyCurl({ method: "POST", path: `/projects/${projectId}/emails`, body })}
      >
        {m.emails_copy_send()}
      </Button>
    </Empty>
  );
}

/** No e-mail matches. The filter is offered without which there are some. */
function EmptyByFilter({ search, onChange }: { search: LogSearch; onChange: (search: LogSearch) => void }) {
  const projectId = useProjectId();
  const { q, ...filters } = search;
  const names = filtersIn(search);
  const choices = [
    ...names.map((name) => ({ label: FILTER_LABELS[name](), rest: without(search, name) })),
    ...(q ? [{ label: m.emails_the_search(), rest: filters as LogSearch }] : []),
  ];
  const totals = useQueries({
    queries: choices.map(({ rest }) => ({
      queryKey: ["emails", projectId, "total", parametersOf(rest)],
      queryFn: async ({ signal }: { signal: AbortSignal }) =>
        (await api(projectId).emails.list({ ...parametersOf(rest), countLimit: COUNT_LIMIT, limit: 1 }, { signal }))
          .total ?? 0,
      enabled: choices.length > 1,
    })),
  });
  const found = choices
    .map((choice, number) => ({ ...choice, total: totals[number]?.data ?? 0 }))
    .filter((each) => each.total > 0)
    .sort((a, b) => b.total - a.total);
  const [best] = found;
  return (
    <Empty
      title={m.emails_none_match()}
      lead={
        best
          ? best.total === 1
            ? m.emails_none_match_without_one({ filter: best.label })
            : m.emails_none_match_without({ filter: best.label, count: countUpTo(best.total) })
          : q
            ? m.list_none_match_q({ q })
            : m.list_none_match_filters()
      }
    >
      {best && (
        <Button onClick={() => onChange(best.rest)}>
          {best.total === 1 ? m.emails_show_that() : m.emails_show_those({ count: countUpTo(best.total) })}
        </Button>
      )}
      <Button kind="bare" onClick={() => onChange({})}>
        {m.list_clear_filters()}
      </Button>
    </Empty>
  );
}
