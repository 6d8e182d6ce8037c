import "./templates.css";
import type { Template } from "@postern/sdk";
import { IconLayoutGrid, IconList, IconPlus } from "@tabler/icons-react";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { ListPage } from "../../lists/ListPage";
import { useNeighboursOf } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS } from "../../lists/rows";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Time } from "../../parts/parts";
import { queryString } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { Cards } from "./Cards";
import { NewTemplate } from "./NewTemplate";
import { type Usage, useTemplates, useUsage } from "./queries";
import type { Sort } from "./routes";

const page = getRouteApi("/session/projects/$projectId/templates");

const CHANGED_FIRST = "-updatedAt";

function nothing(): void {}

/** All templates of the project. */
export function Templates() {
  const projectId = useProjectId();
  const { q, sort, as, new: kind } = page.useSearch();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const [isChoosing, setChoosing] = useState(false);
  const list = useTemplates(projectId, q, sort ?? CHANGED_FIRST);
  const usage = useUsage(projectId).data;
  const setSearch = (search: { q?: string | undefined; sort?: Sort | undefined; as?: "pictures" | undefined }) =>
    void navigate({ to: ".", search: search as never, replace: true, resetScroll: false });
  const open = useCallback(
    (row: Template) =>
      void navigate({ to: "/projects/$projectId/templates/$templateId", params: { projectId, templateId: row.id } }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(list.rows, undefined, open, nothing, nothing);
  const choose = () => setChoosing(true);
  const closeNew = () => {
    setChoosing(false);
    if (kind) setSearch({ q, sort, as });
  };
  return (
    <ListPage
      title={m.templates()}
      name="templates"
      request={{
        method: "GET",
        path: `/projects/${projectId}/templates${queryString({ q, sort: sort ?? CHANGED_FIRST, view: "summary", limit: PAGE_ROWS })}`,
      }}
      actions={
        mayWrite && (
          <Button kind="primary" icon={<IconPlus {...ICON} />} data-tour="template" onClick={choose}>
            {m.templates_new()}
          </Button>
        )
      }
      neighbours={neighbours}
    >
      <form
        className="filters"
        role="search"
        aria-label={m.templates_filter()}
        onSubmit={(event) => event.preventDefault()}
      >
        <SearchBox
          value={q ?? ""}
          label={m.templates_search()}
          onChange={(next) => setSearch({ q: next || undefined, sort, as })}
        />
        <label className="sorting">
          <span className="sr">{m.templates_sort()}</span>
          <select
            className="input"
            value={sort ?? CHANGED_FIRST}
            onChange={({ target }) =>
              setSearch({ q, sort: target.value === CHANGED_FIRST ? undefined : (target.value as Sort), as })
            }
          >
            <option value={CHANGED_FIRST}>{m.templates_sort_changed()}</option>
            <option value="-createdAt">{m.templates_sort_created()}</option>
            <option value="name">{m.templates_sort_name()}</option>
          </select>
        </label>
        <div className="seg" role="group" aria-label={m.templates_view_as()}>
          <button
            type="button"
            aria-pressed={!as}
            aria-label={m.templates_view_list()}
            title={m.templates_view_list()}
            onClick={() => setSearch({ q, sort })}
          >
            <IconList {...ICON} />
          </button>
          <button
            type="button"
            aria-pressed={as === "pictures"}
            aria-label={m.templates_view_pictures()}
            title={m.templates_view_pictures()}
            onClick={() => setSearch({ q, sort, as: "pictures" })}
          >
            <IconLayoutGrid {...ICON} />
          </button>
        </div>
        <span className="total muted" aria-live="polite">
          {list.total !== undefined && !list.isStale && list.total > 0 && totalOf(list.total)}
        </span>
      </form>
      {list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && list.rows.length === 0 ? (
        q ? (
          <Empty title={m.templates_none()} lead={m.list_none_match_q({ q })}>
            <Button onClick={() => setSearch({ sort, as })}>{m.templates_drop_search()}</Button>
          </Empty>
        ) : (
          <Empty title={m.templates_empty()} lead={m.templates_empty_lead()}>
            {mayWrite && <Button onClick={choose}>{m.templates_new()}</Button>}
          </Empty>
        )
      ) : as === "pictures" && !list.isPending ? (
        <Cards rows={list.rows} total={list.total} onMore={list.more} />
      ) : (
        <RowTable
          label={m.templates()}
          columns={columns()}
          rows={list.rows}
          total={list.total}
          isPending={list.isPending}
          isStale={list.isStale}
          onOpen={open}
          onClose={nothing}
          onEnd={list.more}
          row={(row) => <Cells row={row} usage={usage} />}
        />
      )}
      {(isChoosing || kind) && mayWrite && <NewTemplate first={kind} onClose={closeNew} />}
    </ListPage>
  );
}

/** How many templates there are; the server counts up to 10,000, which is also the most a project can have. */
function totalOf(total: number): string {
  return total === 1 ? m.templates_total_one() : m.templates_total({ count: count(total) });
}

function columns(): Column[] {
  return [
    { key: "name", label: m.templates_name(), skeleton: 180, className: "c-to" },
    { key: "subject", label: m.templates_subject(), skeleton: 240, className: "c-sub" },
    { key: "used", label: m.templates_used_by(), skeleton: 120, className: "c-used" },
    { key: "changed", label: m.templates_changed(), skeleton: 48, className: "num c-time" },
  ];
}

function Cells({ row, usage }: { row: Template; usage: Usage | undefined }) {
  const projectId = useProjectId();
  return (
    <>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/templates/$templateId"
          params={{ projectId, templateId: row.id }}
        >
          {row.name}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut muted">{row.subject || m.templates_no_subject()}</span>
      </td>
      <td className="c-used">
        <span className="cut">{usage && usedBy(usage, row.id)}</span>
      </td>
      <td className="c-time num">
        <Time at={row.updatedAt} />
      </td>
    </>
  );
}

/** The name of what uses a template, or how many campaigns and automations do. */
function usedBy(usage: Usage, id: string): string {
  const users = usage.of(id);
  const [only] = users;
  if (!only) return "";
  if (users.length === 1) return only.name;
  const campaigns = users.filter((each) => each.kind === "campaign").length;
  const automations = users.length - campaigns;
  const parts = [
    campaigns === 1 ? m.templates_campaigns_one() : campaigns > 1 && m.templates_campaigns({ count: campaigns }),
    automations === 1
      ? m.templates_automations_one()
      : automations > 1 && m.templates_automations({ count: automations }),
  ];
  return parts.filter(Boolean).join(", ");
}
