import { notifications } from "@mantine/notifications";
import type { AccountAuditEntry } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback } from "react";
import { Held } from "../../lists/Held";
import { startsLive } from "../../lists/liveness";
import { useNeighboursOf } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { count } from "../../parts/format";
import { Button, Empty, LoadingFailed, Time } from "../../parts/parts";
import { queryString } from "../../parts/request";
import { useProfile, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { aboutOf, actorOf } from "./audit";
import { actionWords, NOUNS } from "./auditWords";
import { csvOf } from "./csv";
import { Frame } from "./Frame";
import { useMembers } from "./members";
import { AUDIT_DAYS, type AuditSearch, auditParameters } from "./search";

/** Events that come with an entry of the audit log. */
const TYPES = [
  "domain.created",
  "domain.deleted",
  "domain.verified",
  "customer.banned",
  "customer.updated",
  "organization.created",
  "organization.updated",
  "campaign.scheduled",
  "campaign.started",
];
/** Entries of one export. */
const MOST_EXPORTED = 10_000;

const page = getRouteApi("/session/projects/$projectId/settings/audit-log");

/** Who changed what, when and from where. */
export function AuditPart() {
  const projectId = useProjectId();
  const { entryId } = useParams({ strict: false });
  const search = page.useSearch();
  const navigate = useNavigate();
  const list = useRowList<AccountAuditEntry>({
    queryKey: ["settings", projectId, "audit", search],
    first: () => api().account.auditLog.list({ ...auditParameters(search, projectId, new Date()), limit: PAGE_ROWS }),
    types: TYPES,
    live: startsLive(),
  });
  const setSearch = (next: AuditSearch) =>
    void navigate({
      to: "/projects/$projectId/settings/audit-log",
      params: { projectId },
      search: next,
      replace: true,
      resetScroll: false,
    });
  const open = useCallback(
    (row: AccountAuditEntry) =>
      void navigate({
        to: "/projects/$projectId/settings/audit-log/$entryId",
        params: { projectId, entryId: row.id },
        search: true,
        replace: entryId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, entryId],
  );
  const close = useCallback(
    () =>
      void navigate({
        to: "/projects/$projectId/settings/audit-log",
        params: { projectId },
        search: true,
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(list.rows, entryId, open, close, list.patch);
  const isFiltered = Object.keys(search).some((name) => name !== "where");
  const onExport = async () => {
    try {
      const entries: AccountAuditEntry[] = [];
      const all = api().account.auditLog.list({ ...auditParameters(search, projectId, new Date()), limit: PAGE_ROWS });
      for await (const each of all) if (entries.push(each) >= MOST_EXPORTED) break;
      download(entriesAsCsv(entries), "audit-log.csv", "text/csv");
      if (entries.length >= MOST_EXPORTED)
        notifications.show({ message: m.settings_audit_export_cut({ count: count(MOST_EXPORTED) }) });
    } catch (error) {
      notifications.show({ message: m.settings_audit_export_failed({ reason: messageOf(error) }) });
    }
  };
  return (
    <Frame
      name="audit"
      title={m.settings_audit()}
      lead={m.settings_audit_lead()}
      request={{
        method: "GET",
        path: `/account/audit-log${queryString({ ...auditParameters(search, projectId, new Date()), limit: PAGE_ROWS })}`,
      }}
      onExport={onExport}
      exportTitle={m.settings_audit_export()}
      neighbours={neighbours}
      panel={entryId && <Outlet />}
    >
      <Filters search={search} setSearch={setSearch} rows={list.rows} total={list.total} />
      <Held list={list} />
      {list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && list.rows.length === 0 ? (
        <NoEntries search={search} isFiltered={isFiltered} setSearch={setSearch} />
      ) : (
        <RowTable
          label={m.settings_audit()}
          columns={columns()}
          className="entries"
          rows={list.rows}
          total={list.total}
          isPending={list.isPending}
          isStale={list.isStale}
          openId={entryId}
          fresh={list.fresh}
          onOpen={open}
          onClose={close}
          onEnd={list.more}
          row={(row) => <Cells row={row} />}
        />
      )}
    </Frame>
  );
}

function entriesAsCsv(entries: AccountAuditEntry[]): string {
  return csvOf(
    [
      "createdAt",
      "action",
      "actorType",
      "actorEmail",
      "actorId",
      "ipAddress",
      "projectId",
      "targetType",
      "targetId",
      "metadata",
    ],
    entries.map((each) => [
      each.createdAt,
      each.action,
      each.actorType,
      each.actorEmail,
      each.actorId,
      each.ipAddress,
      each.projectId,
      each.targetType,
      each.targetId,
      JSON.stringify(each.metadata),
    ]),
  );
}

function NoEntries({
  search,
  isFiltered,
  setSearch,
}: {
  search: AuditSearch;
  isFiltered: boolean;
  setSearch: (search: AuditSearch) => void;
}) {
  if (!isFiltered) {
    return (
      <Empty title={m.settings_audit_empty()} lead={m.settings_audit_empty_lead()}>
        {search.where !== "account" && (
          <Button onClick={() => setSearch({ where: "account" })}>{m.settings_audit_show_account()}</Button>
        )}
      </Empty>
    );
  }
  const { what, who, where } = search;
  return (
    <Empty title={m.settings_audit_none()} lead={m.settings_audit_none_lead()}>
      {what && (
        <Button onClick={() => setSearch({ ...search, what: undefined })}>
          {m.settings_audit_without({ filter: m.settings_audit_what() })}
        </Button>
      )}
      {who && (
        <Button onClick={() => setSearch({ ...search, who: undefined })}>
          {m.settings_audit_without({ filter: m.settings_audit_who() })}
        </Button>
      )}
      <Button kind="bare" onClick={() => setSearch(where ? { where } : {})}>
        {m.list_clear_filters()}
      </Button>
    </Empty>
  );
}

/** Who can have changed something: members of the account, and keys of the project. */
function useActors(): { id: string; name: string }[] {
  const projectId = useProjectId();
  const members = useMembers();
  const keys = useQuery({
    queryKey: ["settings", projectId, "keys"],
    queryFn: async ({ signal }) => (await api(projectId).apiKeys.list({}, { signal })).data,
  });
  return [
    ...(members.data ?? []).map(({ id, email }) => ({ id, name: email })),
    ...(keys.data ?? []).map(({ id, name }) => ({ id, name: m.settings_audit_key({ name }) })),
  ];
}

function Filters({
  search,
  setSearch,
  rows,
  total,
}: {
  search: AuditSearch;
  setSearch: (search: AuditSearch) => void;
  rows: AccountAuditEntry[];
  total: number | undefined;
}) {
  const profile = useProfile();
  const actors = useActors();
  const { who, what, where, days, from, to } = search;
  const isOwnDays = from !== undefined || to !== undefined;
  const unknown = who && !actors.some((each) => each.id === who);
  const change = (part: Partial<AuditSearch>) => {
    const next = Object.entries({ ...search, ...part }).filter(([, value]) => value);
    setSearch(Object.fromEntries(next));
  };
  return (
    <form className="filters" role="search" aria-label={m.settings_audit_filter()} onSubmit={(e) => e.preventDefault()}>
      <select
        className="input"
        aria-label={m.settings_audit_who()}
        value={who ?? ""}
        onChange={(event) => change({ who: event.target.value })}
      >
        <option value="">{m.settings_audit_anybody()}</option>
        {actors.map(({ id, name }) => (
          <option key={id} value={id}>
            {name}
          </option>
        ))}
        {unknown && <option value={who}>{rows[0]?.actorEmail ?? m.settings_audit_unknown()}</option>}
      </select>
      <select
        className="input"
        aria-label={m.settings_audit_what()}
        value={what ?? ""}
        onChange={(event) => change({ what: event.target.value })}
      >
        <option value="">{m.settings_audit_anything()}</option>
        {Object.entries(NOUNS).map(([noun, word]) => (
          <option key={noun} value={noun}>
            {word()}
          </option>
        ))}
        {what && !NOUNS[what] && <option value={what}>{what}</option>}
      </select>
      <select
        className="input"
        aria-label={m.settings_audit_when()}
        value={isOwnDays ? "days" : (days ?? "")}
        onChange={({ target: { value } }) => {
          const today = new Date().toLocaleDateString("sv-SE");
          change(
            value === "days"
              ? { days: undefined, from: today, to: today }
              : { days: value, from: undefined, to: undefined },
          );
        }}
      >
        <option value="">{m.settings_audit_any_time()}</option>
        {AUDIT_DAYS.map((each) => (
          <option key={each} value={each}>
            {each === "1" ? m.settings_audit_last_day() : m.settings_audit_last_days({ count: each })}
          </option>
        ))}
        <option value="days">{m.settings_audit_own_days()}</option>
      </select>
      <select
        className="input"
        aria-label={m.settings_audit_where()}
        value={where ?? ""}
        onChange={(event) => change({ where: event.target.value === "account" ? "account" : undefined })}
      >
        <option value="">{m.settings_audit_this_project()}</option>
        <option value="account">{m.settings_audit_account({ account: profile.account.name })}</option>
      </select>
      {isOwnDays && (
        <span className="owndays">
          <label>
            {m.settings_audit_from()}{" "}
            <input
              className="input"
              type="date"
              value={from ?? ""}
              max={to}
              onChange={(event) => change({ from: event.target.value })}
            />
          </label>
          <label>
            {m.settings_audit_to()}{" "}
            <input
              className="input"
              type="date"
              value={to ?? ""}
              min={from}
              onChange={(event) => change({ to: event.target.value })}
            />
          </label>
        </span>
      )}
      <span className="total muted" role="status">
        {total !== undefined &&
          (total === 1 ? m.settings_audit_total_one() : m.settings_audit_total({ count: count(total) }))}
      </span>
    </form>
  );
}

function columns(): Column[] {
  return [
    { key: "what", label: m.settings_audit_what(), skeleton: 200, className: "c-what" },
    { key: "about", label: m.settings_audit_about(), skeleton: 140, className: "c-about" },
    { key: "who", label: m.settings_audit_who(), skeleton: 180, className: "c-who" },
    { key: "ip", label: m.settings_audit_ip(), skeleton: 90, className: "c-ip" },
    { key: "when", label: m.settings_audit_when(), skeleton: 36, className: "num c-time" },
  ];
}

function Cells({ row }: { row: AccountAuditEntry }) {
  const projectId = useProjectId();
  return (
    <>
      <th scope="row" className="c-what">
        <Link
          className="row cut"
          to="/projects/$projectId/settings/audit-log/$entryId"
          params={{ projectId, entryId: row.id }}
          search={true}
          resetScroll={false}
        >
          {actionWords(row.action)}
        </Link>
      </th>
      <td className="c-about">
        <span className="cut">{aboutOf(row)}</span>
      </td>
      <td className="c-who">
        <span className="cut muted">{actorOf(row)}</span>
      </td>
      <td className="c-ip">
        <span className="cut muted">{row.ipAddress}</span>
      </td>
      <td className="c-time num">
        <Time at={row.createdAt} />
      </td>
    </>
  );
}
