import { Menu } from "@mantine/core";
import { APIError, type Event } from "@postern/sdk";
import { IconChevronDown } from "@tabler/icons-react";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { Held } from "../../lists/Held";
import { ListPage } from "../../lists/ListPage";
import { LiveToggle } from "../../lists/LiveToggle";
import { keepLive, startsLive } from "../../lists/liveness";
import { useNeighboursOf } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { clockTime, shortTime } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Time } from "../../parts/parts";
import { queryString } from "../../parts/request";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { AREA_WORDS, areaOf, EVENT_NAMES, entryWords, eventWords } from "./events";
import { FilterChip } from "./FilterChip";
import { isId } from "./ids";
import type { EventSearch } from "./routes";
import { Tabs } from "./Tabs";

const page = getRouteApi("/session/projects/$projectId/developers/events");

/** Milliseconds between two looks for events of names that the stream cannot be asked for yet. */
const LOOK_MS = 10_000;
/** Names of the project's own events that the stream is asked for: they stand in a URL. Others wait for the next look. */
const MOST_OWN = 50;

/** The events of the project as they happen, and the one that is open. */
export function Events() {
  const projectId = useProjectId();
  const { eventId } = useParams({ strict: false });
  const search = page.useSearch();
  const { type, subject } = search;
  const navigate = useNavigate();
  const [live, setLive] = useState(startsLive);
  // A browser gets the events of a stream by their names: those of the project are learned from the list.
  const [own, setOwn] = useState<string[]>([]);
  const isWrong = subject !== undefined && !isId(subject);
  const parameters = { type, subjectId: isWrong ? undefined : subject };
  const list = useRowList<Event>({
    queryKey: ["developers", projectId, "events", parameters],
    first: () => api(projectId).events.list({ ...parameters, limit: PAGE_ROWS }),
    types: [...EVENT_NAMES, ...own],
    live,
    pollMs: live ? LOOK_MS : undefined,
  });
  const unknown = list.rows.map((each) => each.type).filter((each) => areaOf(each) === "custom" && !own.includes(each));
  if (unknown.length > 0 && own.length < MOST_OWN) setOwn([...new Set([...own, ...unknown])].slice(0, MOST_OWN));

  const setSearch = (next: EventSearch) =>
    void navigate({ to: ".", search: next as never, replace: true, resetScroll: false });
  const open = useCallback(
    (event: Event) =>
      void navigate({
        to: "/projects/$projectId/developers/events/$eventId",
        params: { projectId, eventId: event.id },
        search: true,
        replace: eventId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, eventId],
  );
  const close = useCallback(
    () =>
      void navigate({
        to: "/projects/$projectId/developers/events",
        params: { projectId },
        search: true,
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(list.rows, eventId, open, close, list.patch);
  const path = `/projects/${projectId}/events`;
  const refused = list.error instanceof APIError && list.error.status === 400 ? messageOf(list.error) : "";
  const goLive = (next: boolean) => {
    keepLive(next);
    setLive(next);
    if (next && list.held) list.showHeld();
  };
  return (
    <ListPage
      title={m.developers()}
      name="developers"
      request={{ method: "GET", path: path + queryString({ ...parameters, limit: PAGE_ROWS }) }}
      tabs={<Tabs current="events" />}
      neighbours={neighbours}
      panel={eventId && <Outlet />}
    >
      <form
        className="filters"
        role="search"
        aria-label={m.developers_event_filter()}
        onSubmit={(event) => event.preventDefault()}
      >
        <SearchBox
          value={subject ?? ""}
          label={m.developers_event_subject()}
          invalid={isWrong}
          onChange={(next) => setSearch({ type, subject: next || undefined })}
        />
        <LiveToggle live={live} state={list.state} onLive={goLive} />
        <TypeMenu type={type} own={own} onChange={(next) => setSearch({ subject, type: next })} />
        {type && (
          <div className="chips">
            <FilterChip name={m.developers_event()} onRemove={() => setSearch({ subject })}>
              {type.split(",").map(entryWords).join(", ")}
            </FilterChip>
          </div>
        )}
        {(isWrong || refused) && (
          <p className="wrong" role="alert">
            <span>{isWrong ? m.developers_subject_wrong() : refused}</span>
          </p>
        )}
      </form>
      <Held list={list} />
      {isWrong || refused ? null : list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && list.rows.length === 0 ? (
        type || subject ? (
          <Empty title={m.developers_event_empty_filter()} lead={m.list_none_match_filters()}>
            {type && subject && <Button onClick={() => setSearch({ subject })}>{m.developers_any_event()}</Button>}
            <Button kind="bare" onClick={() => setSearch({})}>
              {m.list_clear_filters()}
            </Button>
          </Empty>
        ) : (
          <Empty title={m.developers_event_empty()} lead={m.developers_event_empty_lead()} />
        )
      ) : (
        <>
          <RowTable
            label={m.developers_tab_events()}
            columns={columns()}
            className="events"
            rows={list.rows}
            total={undefined}
            isPending={list.isPending}
            isStale={list.isStale}
            openId={eventId}
            fresh={list.fresh}
            onOpen={open}
            onClose={close}
            onEnd={list.more}
            row={(event) => <Cells row={event} />}
          />
          {list.error ? <LoadingFailed error={list.error} onRetry={list.retry} /> : null}
        </>
      )}
    </ListPage>
  );
}

/** Chooses what the events are about, or one of the project's own. */
function TypeMenu({
  type,
  own,
  onChange,
}: {
  type: string | undefined;
  own: string[];
  onChange: (type: string | undefined) => void;
}) {
  const [area, setArea] = useState("");
  const names = EVENT_NAMES.filter((each) => areaOf(each) === area);
  return (
    <Menu
      position="bottom-end"
      width={300}
      portalProps={{ target: "#menus" }}
      onClose={() => setArea("")}
      withInitialFocusPlaceholder={false}
    >
      <Menu.Target>
        <Button>
          {m.developers_event()} <IconChevronDown {...ICON} />
        </Button>
      </Menu.Target>
      <Menu.Dropdown className="developers-types">
        {area ? (
          <>
            <Menu.Item closeMenuOnClick={false} onClick={() => setArea("")}>
              {m.developers_back()}
            </Menu.Item>
            <Menu.Item onClick={() => onChange(`${area}.*`)}>{entryWords(`${area}.*`)}</Menu.Item>
            <Menu.Divider />
            {names.map((each) => (
              <Menu.Item key={each} aria-current={each === type || undefined} onClick={() => onChange(each)}>
                {eventWords(each)}
              </Menu.Item>
            ))}
          </>
        ) : (
          <>
            <Menu.Item onClick={() => onChange(undefined)}>{m.developers_all_events()}</Menu.Item>
            <Menu.Divider />
            {Object.entries(AREA_WORDS)
              .filter(([each]) => each !== "custom")
              .map(([each, words]) => (
                <Menu.Item key={each} closeMenuOnClick={false} onClick={() => setArea(each)}>
                  {words()}
                </Menu.Item>
              ))}
            {own.length > 0 && <Menu.Label>{AREA_WORDS.custom?.()}</Menu.Label>}
            {own.map((each) => (
              <Menu.Item key={each} onClick={() => onChange(each)}>
                {each}
              </Menu.Item>
            ))}
          </>
        )}
      </Menu.Dropdown>
    </Menu>
  );
}

function columns(): Column[] {
  return [
    { key: "at", label: m.developers_at(), skeleton: 60, className: "c-clock" },
    { key: "event", label: m.developers_event(), skeleton: 200, className: "c-to" },
    { key: "about", label: m.developers_about(), skeleton: 180, className: "c-sub" },
    { key: "name", label: m.developers_name(), skeleton: 110, className: "c-name" },
  ];
}

/** The clock of what happened today, else the day. */
function when(at: string): string {
  return new Date(at).toDateString() === new Date().toDateString() ? clockTime(at) : shortTime(at);
}

/** Whom or what an event is about, as far as it says. */
export function aboutOf({ contact, data, actorLabel, subjectId }: Event): string {
  if (contact?.email) return contact.email;
  if (Array.isArray(data.to) && typeof data.to[0] === "string") return data.to[0];
  for (const name of ["email", "domain", "name", "url"]) {
    const value = data[name];
    if (typeof value === "string" && value) return value;
  }
  return actorLabel ?? subjectId ?? "";
}

function Cells({ row }: { row: Event }) {
  const projectId = useProjectId();
  return (
    <>
      <td className="c-clock">
        <Time at={row.occurredAt} format={when} />
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/developers/events/$eventId"
          params={{ projectId, eventId: row.id }}
          search={true}
          resetScroll={false}
        >
          {eventWords(row.type)}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut muted">
          {aboutOf(row)}
          {row.type.startsWith("email.") && typeof row.data.subject === "string" && `, ${row.data.subject}`}
        </span>
      </td>
      <td className="c-name">
        <code className="cut muted">{row.type}</code>
      </td>
    </>
  );
}
