import { notifications } from "@mantine/notifications";
import type { Organization, SsoConnectionWithOrganization } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback } from "react";
import { Held } from "../../lists/Held";
import { ListPage } from "../../lists/ListPage";
import type { Neighbours } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { count } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Status as State, Time } from "../../parts/parts";
import { copyCurl, queryString } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { csvOf } from "../settings/csv";
import { allConnectionsQuery, INVITATION_EVENTS, ORGANIZATION_EVENTS } from "./queries";
import { type OrganizationsSearch, SORTS, STATUSES } from "./routes";
import { connectionLook, mainConnection, SORT_WORDS, STATES, stateOf } from "./words";
import "./organizations.css";

const NewOrganizationDialog = lazy(() => import("./NewOrganization"));

const page = getRouteApi("/session/projects/$projectId/organizations");

/** Organizations of one export. */
const MOST_EXPORTED = 10_000;

/** Nothing opens beside this list: an organization has a page of its own. */
const NO_NEIGHBOURS: Neighbours = {
  above: undefined,
  below: undefined,
  close: () => {},
  row: undefined,
  patch: () => {},
};

/** The companies whose people use the project's product. */
export function Organizations() {
  const projectId = useProjectId();
  const { q, status, sort, add } = page.useSearch();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const filters = { q, status, sort };
  const list = useRowList<Organization>({
    queryKey: ["organizations", projectId, "list", filters],
    first: () => api(projectId).organizations.list({ ...filters, include: ["total"], limit: PAGE_ROWS }),
    one: (id) => api(projectId).organizations.get(id),
    types: [...ORGANIZATION_EVENTS, ...INVITATION_EVENTS],
    // In another order, a new row does not belong at the top.
    live: sort === undefined,
  });
  const connections = useQuery(allConnectionsQuery(projectId));
  const setSearch = (search: OrganizationsSearch) =>
    void navigate({ to: ".", search: search as never, replace: true, resetScroll: false });
  const open = useCallback(
    ({ id }: Organization) =>
      void navigate({
        to: "/projects/$projectId/organizations/$organizationId",
        params: { projectId, organizationId: id },
      }),
    [navigate, projectId],
  );
  const close = useCallback(() => {}, []);
  const onExport = async () => {
    try {
      const rows: Organization[] = [];
      for await (const each of api(projectId).organizations.list({ ...filters, limit: PAGE_ROWS }))
        if (rows.push(each) >= MOST_EXPORTED) break;
      download(asCsv(rows), "organizations.csv", "text/csv");
      if (rows.length >= MOST_EXPORTED)
        notifications.show({ message: m.organizations_export_cut({ count: count(MOST_EXPORTED) }) });
    } catch (error) {
      notifications.show({ message: m.organizations_export_failed({ reason: messageOf(error) }) });
    }
  };
  const path = `/projects/${projectId}/b2b/organizations`;
  const isFiltered = Boolean(q || status);
  const isEmpty = !list.isPending && !list.error && list.rows.length === 0;
  return (
    <ListPage
      title={m.organizations()}
      name="organizations"
      request={{ method: "GET", path: path + queryString({ ...filters, include: "total", limit: PAGE_ROWS }) }}
      onExport={onExport}
      exportTitle={m.organizations_export()}
      neighbours={NO_NEIGHBOURS}
      actions={
        mayWrite && (
          <Button kind="primary" icon={<IconPlus {...ICON} />} onClick={() => setSearch({ ...filters, add: true })}>
            {m.organizations_new()}
          </Button>
        )
      }
    >
      {!(isEmpty && !isFiltered) && (
        <form
          className="filters"
          role="search"
          aria-label={m.organizations_filter()}
          onSubmit={(event) => event.preventDefault()}
        >
          <SearchBox
            value={q ?? ""}
            label={m.organizations_search()}
            onChange={(next) => setSearch({ status, sort, q: next || undefined })}
          />
          <select
            className="input by-sort"
            aria-label={m.organizations_sort()}
            value={sort ?? ""}
            onChange={(event) => setSearch({ q, status, sort: SORTS.find((each) => each === event.target.value) })}
          >
            <option value="">{m.organizations_sort_newest()}</option>
            {SORTS.map((each) => (
              <option key={each} value={each}>
                {SORT_WORDS[each]()}
              </option>
            ))}
          </select>
          <div className="chips">
            <div className="seg scrollx" role="group" aria-label={m.organizations_which()}>
              {[undefined, ...STATUSES].map((each) => (
                <button
                  key={each ?? "all"}
                  type="button"
                  aria-pressed={status === each}
                  onClick={() => setSearch({ q, sort, status: each })}
                >
                  {each ? STATES[each].word() : m.organizations_all()}
                </button>
              ))}
            </div>
            <span className="total muted" aria-live="polite">
              {list.total !== undefined &&
                !list.isStale &&
                (list.total === 1 ? m.organizations_total_one() : m.organizations_total({ count: count(list.total) }))}
            </span>
          </div>
        </form>
      )}
      <Held list={list} />
      {list.error && list.rows.length === 0 ? (
        <>
          <LoadingFailed error={list.error} onRetry={list.retry} />
          {isFiltered && <Button onClick={() => setSearch({ sort })}>{m.list_clear_filters()}</Button>}
        </>
      ) : isEmpty ? (
        isFiltered ? (
          <NoneMatch search={filters} onChange={setSearch} />
        ) : (
          <Empty title={m.organizations_empty()} lead={m.organizations_empty_lead()}>
            {mayWrite && <Button onClick={() => setSearch({ add: true })}>{m.organizations_new()}</Button>}
            <a className="btn" href="/guide/organizations" target="_blank" rel="noreferrer">
              {m.organizations_guide()}
            </a>
            <Button
              kind="bare"
              onClick={() => void copyCurl({ method: "POST", path, body: { name: "Acme Ltd", slug: "acme" } })}
            >
              {m.copy_as_curl()}
            </Button>
          </Empty>
        )
      ) : (
        <>
          <RowTable
            label={m.organizations()}
            columns={columns()}
            rows={list.rows}
            total={list.total}
            isPending={list.isPending}
            isStale={list.isStale}
            fresh={list.fresh}
            onOpen={open}
            onClose={close}
            onEnd={list.more}
            row={(organization) => (
              <Cells
                organization={organization}
                connections={connections.data?.filter((each) => each.organizationId === organization.id)}
              />
            )}
          />
          {list.error ? <LoadingFailed error={list.error} onRetry={list.retry} /> : null}
        </>
      )}
      <Suspense>{add && mayWrite && <NewOrganizationDialog onClose={() => setSearch(filters)} />}</Suspense>
    </ListPage>
  );
}

function asCsv(rows: Organization[]): string {
  return csvOf(
    [
      "id",
      "name",
      "slug",
      "externalId",
      "status",
      "memberCount",
      "pendingInvitationCount",
      "requireSso",
      "requireMfa",
      "createdAt",
      "metadata",
    ],
    rows.map((each) => [
      each.id,
      each.name,
      each.slug,
      each.externalId,
      each.status,
      each.memberCount,
      each.pendingInvitationCount,
      String(each.requireSso),
      String(each.requireMfa),
      each.createdAt,
      JSON.stringify(each.metadata),
    ]),
  );
}

function columns(): Column[] {
  return [
    { key: "state", label: m.organizations_state(), skeleton: 90, className: "c-st" },
    { key: "name", label: m.organizations_name(), skeleton: 220, className: "c-to" },
    { key: "slug", label: m.organizations_slug(), skeleton: 140, className: "c-slug" },
    { key: "sso", label: m.organizations_sso(), skeleton: 110, className: "c-sso" },
    { key: "members", label: m.organizations_members(), skeleton: 30, className: "num c-members" },
    { key: "invited", label: m.organizations_invited(), skeleton: 30, className: "num c-invited" },
    { key: "created", label: m.organizations_created(), skeleton: 40, className: "num c-time" },
  ];
}

function Cells({
  organization,
  connections,
}: {
  organization: Organization;
  connections: SsoConnectionWithOrganization[] | undefined;
}) {
  const projectId = useProjectId();
  const { shape, tone, word } = stateOf(organization.status);
  const connection = mainConnection(connections ?? []);
  const sso = connection && connectionLook(connection);
  const { memberCount } = organization;
  return (
    <>
      <td className="c-st">
        <State shape={shape} tone={tone}>
          {word()}
        </State>
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/organizations/$organizationId"
          params={{ projectId, organizationId: organization.id }}
        >
          {organization.name}
        </Link>
      </th>
      <td className="c-slug">
        <span className="cut muted">{organization.slug}</span>
      </td>
      <td className="c-sso">
        {sso && (
          <State shape={sso.shape} tone={sso.tone}>
            {organization.requireSso ? m.organizations_sso_required_short() : sso.word()}
          </State>
        )}
      </td>
      <td className="num c-members">
        <span className="wide">{count(memberCount)}</span>
        <span className="phone muted">
          {memberCount === 1
            ? m.organizations_members_one()
            : m.organizations_members_count({ count: count(memberCount) })}
        </span>
      </td>
      <td className="num c-invited">
        {organization.pendingInvitationCount ? count(organization.pendingInvitationCount) : ""}
      </td>
      <td className="num c-time">
        <Time at={organization.createdAt} />
      </td>
    </>
  );
}

/** No organization matches: names what can be dropped. */
function NoneMatch({
  search: { q, status, sort },
  onChange,
}: {
  search: OrganizationsSearch;
  onChange: (search: OrganizationsSearch) => void;
}) {
  return (
    <Empty title={m.organizations_none()} lead={q ? m.list_none_match_q({ q }) : m.list_none_match_filters()}>
      {q && status && (
        <Button onClick={() => onChange({ q, sort })}>
          {m.organizations_without({ filter: STATES[status].word() })}
        </Button>
      )}
      <Button kind="bare" onClick={() => onChange({ sort })}>
        {m.list_clear_filters()}
      </Button>
    </Empty>
  );
}
