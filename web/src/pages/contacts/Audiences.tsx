import type { ListedAudience } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { useNeighboursOf } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Time } from "../../parts/parts";
import { copyCurl, queryString } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { Frame } from "./Frame";
import { useAudiences } from "./queries";
import { treeOf } from "./rules";
import { groupWords, KINDS, type Names } from "./ruleWords";
import type { AudiencesSearch, AudienceType } from "./search";

const page = getRouteApi("/session/projects/$projectId/contacts/audiences");
const EVENTS = ["audience.created", "audience.updated", "audience.deleted", "audience.refilled"];
/** Members are counted up to this number. */
const MOST_COUNTED = 100_000;
const TYPES: (AudienceType | undefined)[] = [undefined, "DYNAMIC", "STATIC"];

/** How many members an audience has, in words: the API counts up to a limit. */
function membersOf(counted: number | null): string {
  if (counted === null) return "";
  return counted >= MOST_COUNTED ? `${count(MOST_COUNTED)}+` : count(counted);
}

/** All audiences of the project. */
export function Audiences() {
  const projectId = useProjectId();
  const { audienceId } = useParams({ strict: false });
  const { q, type } = page.useSearch();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const { audiences } = useAudiences();
  const names = useMemo(() => new Map(audiences.map((each) => [each.id, each.name])), [audiences]);
  const parameters = { q, type, limit: PAGE_ROWS };
  const list = useRowList<ListedAudience>({
    queryKey: ["contacts", projectId, "audiences", { q, type }],
    first: () => api(projectId).audiences.list({ ...parameters, include: ["counts", "total"] }),
    types: EVENTS,
    live: true,
  });
  const setSearch = (next: AudiencesSearch) =>
    void navigate({ to: ".", search: next as never, replace: true, resetScroll: false });
  const open = useCallback(
    (row: ListedAudience) =>
      void navigate({
        to: "/projects/$projectId/contacts/audiences/$audienceId",
        params: { projectId, audienceId: row.id },
        search: true,
        replace: audienceId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, audienceId],
  );
  const close = useCallback(
    () =>
      void navigate({
        to: "/projects/$projectId/contacts/audiences",
        params: { projectId },
        search: (({ tab: _, ...rest }: { tab?: unknown }) => rest) as never,
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(list.rows, audienceId, open, close, list.patch);
  const path = `/projects/${projectId}/audiences`;
  const create = mayWrite && (
    <Link className="btn primary" to="/projects/$projectId/contacts/audiences/new" params={{ projectId }}>
      <IconPlus {...ICON} />
      {m.contacts_new_audience()}
    </Link>
  );
  return (
    <Frame
      tab="audiences"
      request={{ method: "GET", path: `${path}${queryString({ ...parameters, include: "counts,total" })}` }}
      actions={create}
      neighbours={neighbours}
      panel={audienceId && <Outlet />}
    >
      <form
        className="filters"
        role="search"
        aria-label={m.contacts_filter_audiences()}
        onSubmit={(event) => event.preventDefault()}
      >
        <SearchBox
          value={q ?? ""}
          label={m.contacts_search_audiences()}
          onChange={(next) => setSearch({ ...(type && { type }), ...(next && { q: next }) })}
        />
        <div className="chips">
          <div className="seg scrollx" role="group" aria-label={m.contacts_filled()}>
            {TYPES.map((each) => (
              <button
                key={each ?? "all"}
                type="button"
                aria-pressed={type === each}
                onClick={() => setSearch({ ...(q && { q }), ...(each && { type: each }) })}
              >
                {each ? KINDS[each]() : m.contacts_all()}
              </button>
            ))}
          </div>
          <span className="total muted" aria-live="polite">
            {list.total !== undefined &&
              !list.isStale &&
              (list.total === 1
                ? m.contacts_audiences_total_one()
                : m.contacts_audiences_total({ count: count(list.total) }))}
          </span>
        </div>
      </form>
      {list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && list.rows.length === 0 ? (
        q || type ? (
          <Empty
            title={m.contacts_audiences_none()}
            lead={q ? m.list_none_match_q({ q }) : m.list_none_match_filters()}
          >
            {q && type && <Button onClick={() => setSearch({ q })}>{m.contacts_any_kind()}</Button>}
            <Button kind="bare" onClick={() => setSearch({})}>
              {m.list_clear_filters()}
            </Button>
          </Empty>
        ) : (
          <Empty title={m.contacts_audiences_empty()} lead={m.contacts_audiences_empty_lead()}>
            {mayWrite && (
              <Link className="btn" to="/projects/$projectId/contacts/audiences/new" params={{ projectId }}>
                {m.contacts_new_audience()}
              </Link>
            )}
            <Button kind="bare" onClick={() => void copyCurl({ method: "POST", path, body: { name: "Newsletter" } })}>
              {m.copy_as_curl()}
            </Button>
          </Empty>
        )
      ) : (
        <RowTable
          label={m.contacts_audiences_table()}
          columns={columns()}
          className="groups"
          rows={list.rows}
          total={list.total}
          isPending={list.isPending}
          isStale={list.isStale}
          openId={audienceId}
          fresh={list.fresh}
          onOpen={open}
          onClose={close}
          onEnd={list.more}
          row={(row) => <Cells row={row} names={names} />}
        />
      )}
    </Frame>
  );
}

function columns(): Column[] {
  return [
    { key: "name", label: m.contacts_audience_name(), className: "c-to", skeleton: 180 },
    { key: "rules", label: m.contacts_filled(), className: "c-sub", skeleton: 260 },
    { key: "members", label: m.contacts_members(), className: "num c-n", skeleton: 40 },
    { key: "changed", label: m.contacts_changed(), className: "num c-time", skeleton: 36 },
  ];
}

function Cells({ row, names }: { row: ListedAudience; names: Names }) {
  const projectId = useProjectId();
  const read = row.rules ? treeOf(row.rules) : undefined;
  const words =
    read === undefined
      ? m.contacts_filled_hand()
      : "tree" in read
        ? groupWords(read.tree, names)
        : m.contacts_filled_rules();
  return (
    <>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/contacts/audiences/$audienceId"
          params={{ projectId, audienceId: row.id }}
          search={true}
          resetScroll={false}
        >
          {row.name}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut muted" title={words}>
          {words}
        </span>
      </td>
      <td className="c-n num">{membersOf(row.memberCount)}</td>
      <td className="c-time num">
        <Time at={row.updatedAt} />
      </td>
    </>
  );
}
