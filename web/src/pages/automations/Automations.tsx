import "./automations.css";
import { Modal } from "@mantine/core";
import type { ListedAutomation } from "@postern/sdk";
import { IconPlus, IconTerminal2 } from "@tabler/icons-react";
import { useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { ListPage } from "../../lists/ListPage";
import type { Neighbours } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { copyCurl, queryString } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { useLive } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { AUTOMATION_EVENTS, type Choices, parametersOf, useAutomations, useChoices } from "./queries";
import { BLANK, RECIPES } from "./recipes";
import { type AutomationsSearch, SORTS, STATES } from "./routes";
import { contentOf } from "./steps";
import { SORT_WORDS, STATE_WORDS, triggerWords } from "./words";

const page = getRouteApi("/session/projects/$projectId/automations");

/** Nothing opens beside this list: an automation has a page of its own. */
const NO_NEIGHBOURS: Neighbours = {
  above: undefined,
  below: undefined,
  close: () => {},
  row: undefined,
  patch: () => {},
};

/** All automations: what starts them, and what became of their runs. */
export function Automations() {
  const projectId = useProjectId();
  const search = page.useSearch();
  const { q, show, sort, add } = search;
  const navigate = useNavigate();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const choices = useChoices();
  const list = useAutomations(projectId, { q, show, sort });
  useLive(projectId, AUTOMATION_EVENTS, () => void client.invalidateQueries({ queryKey: ["automations", projectId] }));
  const setSearch = useCallback(
    (next: AutomationsSearch) => void navigate({ to: ".", search: next as never, replace: true, resetScroll: false }),
    [navigate],
  );
  const open = useCallback(
    ({ id }: ListedAutomation) =>
      void navigate({
        to: "/projects/$projectId/automations/$automationId",
        params: { projectId, automationId: id },
      }),
    [navigate, projectId],
  );
  const close = useCallback(() => {}, []);
  const { rows, total } = list;
  const path = `/projects/${projectId}/automations`;
  const isFiltered = q !== undefined || show !== undefined;
  const example = {
    name: m.automations_r_welcome(),
    trigger: { type: "CONTACT_CREATED" },
    steps: [{ type: "DELAY", days: 1 }],
  };
  return (
    <ListPage
      title={m.automations()}
      name="automations"
      request={{ method: "GET", path: path + queryString(parametersOf({ q, show, sort })) }}
      neighbours={NO_NEIGHBOURS}
      actions={
        mayWrite && (
          <Button kind="primary" icon={<IconPlus {...ICON} />} onClick={() => setSearch({ ...search, add: "1" })}>
            {m.automations_new()}
          </Button>
        )
      }
    >
      {(rows.length > 0 || list.isPending || isFiltered) && (
        <form
          className="filters"
          role="search"
          aria-label={m.automations_filter()}
          onSubmit={(event) => event.preventDefault()}
        >
          <SearchBox
            value={q ?? ""}
            label={m.automations_search()}
            onChange={(next) => setSearch({ show, sort, q: next || undefined } as AutomationsSearch)}
          />
          <select
            className="input sort"
            aria-label={m.automations_sort()}
            value={sort ?? ""}
            onChange={(event) =>
              setSearch({ q, show, sort: SORTS.find((each) => each === event.target.value) } as AutomationsSearch)
            }
          >
            <option value="">{m.automations_sort_newest()}</option>
            {SORTS.map((each) => (
              <option key={each} value={each}>
                {SORT_WORDS[each]()}
              </option>
            ))}
          </select>
          <div className="chips">
            <div className="seg scrollx" role="group" aria-label={m.automations_state()}>
              {[undefined, ...STATES].map((each) => (
                <button
                  key={each ?? "all"}
                  type="button"
                  aria-pressed={show === each}
                  onClick={() => setSearch({ q, sort, show: each } as AutomationsSearch)}
                >
                  {each ? STATE_WORDS[each]() : m.automations_all()}
                </button>
              ))}
            </div>
            <span className="total muted" aria-live="polite">
              {total !== undefined &&
                !list.isStale &&
                (total === 1 ? m.automations_total_one() : m.automations_total({ count: count(total) }))}
            </span>
          </div>
        </form>
      )}
      {list.error && rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && rows.length === 0 ? (
        isFiltered ? (
          <Empty title={m.automations_none()} lead={q ? m.list_none_match_q({ q }) : m.list_none_match_filters()}>
            <Button kind="bare" onClick={() => setSearch(sort ? { sort } : {})}>
              {m.list_clear_filters()}
            </Button>
          </Empty>
        ) : (
          <Empty title={m.automations_empty()} lead={m.automations_empty_lead()}>
            {mayWrite && (
              <Button kind="primary" onClick={() => setSearch({ add: "1" })}>
                {m.automations_new_recipe()}
              </Button>
            )}
            <Button
              kind="bare"
              icon={<IconTerminal2 {...ICON} />}
              onClick={() => void copyCurl({ method: "POST", path, body: example })}
            >
              {m.copy_as_curl()}
            </Button>
          </Empty>
        )
      ) : (
        <>
          <RowTable
            label={m.automations()}
            columns={columns()}
            rows={rows}
            total={total}
            isPending={list.isPending}
            isStale={list.isStale}
            onOpen={open}
            onClose={close}
            onEnd={list.more}
            row={(automation) => <Cells automation={automation} choices={choices} />}
          />
          {list.error ? <LoadingFailed error={list.error} onRetry={list.retry} /> : null}
        </>
      )}
      {add && mayWrite && (
        <RecipesDialog
          onClose={() => {
            const { add: _, ...others } = search;
            setSearch(others);
          }}
        />
      )}
    </ListPage>
  );
}

function columns(): Column[] {
  return [
    { key: "state", label: m.automations_state(), skeleton: 70, className: "c-st" },
    { key: "name", label: m.automations_name(), skeleton: 180, className: "c-to" },
    { key: "trigger", label: m.automations_trigger(), skeleton: 220, className: "c-sub" },
    { key: "running", label: m.automations_running(), skeleton: 40, className: "num c-num" },
    { key: "completed", label: m.automations_completed(), skeleton: 40, className: "num c-num" },
    { key: "failed", label: m.automations_failed(), skeleton: 40, className: "num c-num" },
    { key: "time", label: m.automations_last_run(), skeleton: 60, className: "num c-time" },
  ];
}

function Cells({ automation, choices }: { automation: ListedAutomation; choices: Choices }) {
  const projectId = useProjectId();
  const { id, name, active, totals, unfinished, lastRunAt } = automation;
  const { trigger } = contentOf({ name, trigger: automation.trigger, steps: [] });
  return (
    <>
      <td className="c-st">
        <Status shape={active ? "yes" : "off"}>{active ? m.automations_active() : m.automations_inactive()}</Status>
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/automations/$automationId"
          params={{ projectId, automationId: id }}
        >
          {name}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut">{triggerWords(trigger, choices)}</span>
      </td>
      <td className="num c-num">{unfinished ? count(unfinished) : ""}</td>
      <td className="num c-num">{totals?.completed ? count(totals.completed) : ""}</td>
      <td className={`num c-num ${totals?.failed ? "some" : ""}`}>{totals?.failed ? count(totals.failed) : ""}</td>
      <td className="num c-time">
        {lastRunAt ? <Time at={lastRunAt} /> : <span className="muted">{m.automations_never()}</span>}
      </td>
    </>
  );
}

/** What a new automation begins with. */
function RecipesDialog({ onClose }: { onClose: () => void }) {
  useReturnFocus();
  const projectId = useProjectId();
  return (
    <Modal
      opened
      size={760}
      onClose={onClose}
      title={m.automations_new_recipe()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <ul className="recipes">
        {[...RECIPES, BLANK].map(({ key, name, lead }) => (
          <li key={key}>
            <Link to="/projects/$projectId/automations/new" params={{ projectId }} search={{ recipe: key }}>
              <b>{name()}</b>
              <span className="muted">{lead()}</span>
            </Link>
          </li>
        ))}
      </ul>
    </Modal>
  );
}
