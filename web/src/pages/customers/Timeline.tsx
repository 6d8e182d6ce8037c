import type { Customer, Page, TimelineEntry } from "@postern/sdk";
import { useInfiniteQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { exactTime, longDay } from "../../parts/format";
import { Button, ICON, LoadingFailed } from "../../parts/parts";
import { plannedTime } from "../../parts/when";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { shapeOf, wordOf } from "../emails/status";
import { byDay, type Kind, kindOf, withoutDoubles } from "./history";
import { HISTORY_ENTRIES } from "./queries";
import { deviceWord } from "./Sessions";
import { detailOf, happened, methodsWord } from "./words";

const page = getRouteApi("/session/projects/$projectId/customers/$customerId");

/** What happened to a customer, newest first; `most` shortens it. */
export function Timeline({ customer, most }: { customer: Customer; most?: number }) {
  const projectId = useProjectId();
  const { show } = page.useSearch();
  const query = useInfiniteQuery({
    queryKey: ["customers", projectId, "timeline", customer.id],
    queryFn: ({ pageParam, signal }) =>
      pageParam
        ? pageParam.next()
        : api(projectId).customers.listTimeline(customer.id, { limit: HISTORY_ENTRIES }, { signal }),
    initialPageParam: undefined as Page<TimelineEntry> | undefined,
    getNextPageParam: (last) => (last?.hasNext ? last : undefined),
    // Pages of the client are no plain objects.
    structuralSharing: false,
  });
  const all = withoutDoubles(query.data?.pages.flatMap((each) => each?.data ?? []) ?? []);
  const matching = all.filter((each) => !show || kindOf(each) === show);
  const entries = matching.slice(0, most);
  const kinds: [Kind | undefined, string][] = [
    [undefined, m.customers_show_all()],
    ["emails", m.emails()],
    ["signins", m.customers_show_signins()],
    ["changes", m.customers_show_changes()],
  ];
  return (
    <section className="sec" aria-labelledby="timeline" aria-busy={query.isPending || undefined}>
      <header>
        <h2 id="timeline">{m.customers_timeline()}</h2>
        <div className="acts">
          <div className="seg" role="group" aria-label={m.customers_show_what()}>
            {kinds.map(([kind, word]) => (
              <Link
                key={word}
                to="."
                search={(before: object) => ({ ...before, show: kind }) as never}
                replace
                resetScroll={false}
                activeOptions={{ exact: true, explicitUndefined: true }}
                aria-current={show === kind ? "true" : undefined}
              >
                {word}
              </Link>
            ))}
          </div>
        </div>
      </header>
      {query.isError && all.length === 0 ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        !query.isPending &&
        entries.length === 0 && (
          <p className="muted rule nothing">
            {query.hasNextPage ? m.customers_timeline_none_yet({ count: all.length }) : m.customers_timeline_none()}
          </p>
        )
      )}
      {byDay(entries).map(({ day, entries: ofDay }) => (
        <div key={day}>
          <h3 className="day">{dayWord(day)}</h3>
          <ol className="feed">
            {ofDay.map((entry) => (
              <Entry key={entry.kind + entry.id} entry={entry} />
            ))}
          </ol>
        </div>
      ))}
      {matching.length > entries.length ? (
        <p className="more">
          <Link to="." search={(before: object) => ({ ...before, tab: "timeline" }) as never} resetScroll={false}>
            {m.customers_timeline_all()}
          </Link>
        </p>
      ) : (
        (query.hasNextPage || query.isFetchNextPageError) && (
          <p className="more">
            <Button size="small" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
              {m.older()}
            </Button>
            {query.isFetchNextPageError && (
              <span className="wrong" role="alert">
                {m.list_failed()}
              </span>
            )}
          </p>
        )
      )}
    </section>
  );
}

function dayWord(day: string): string {
  const date = new Date(day);
  const now = new Date();
  if (date.toDateString() === now.toDateString()) return m.today();
  if (date.getFullYear() === now.getFullYear()) return longDay(date);
  return `${longDay(date)} ${date.getFullYear()}`;
}

function Entry({ entry }: { entry: TimelineEntry }) {
  const { occurredAt } = entry;
  return (
    <li>
      <time dateTime={occurredAt} title={exactTime(occurredAt)}>
        {clock(occurredAt)}
      </time>
      {entry.kind === "EMAIL" ? <Email entry={entry} /> : <Happened entry={entry} />}
    </li>
  );
}

/** The hour and the minute. Seconds are in the title. */
function clock(at: string): string {
  const date = new Date(at);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${two(date.getHours())}:${two(date.getMinutes())}`;
}

function Email({ entry }: { entry: TimelineEntry }) {
  const projectId = useProjectId();
  const state = { status: String(entry.data.status), openedAt: null, clickedAt: null };
  return (
    <>
      <Glyph shape={shapeOf(state)} />
      <div>
        <b>
          <Link
            className="quiet"
            to="/projects/$projectId/emails/$sendId"
            params={{ projectId, sendId: entry.id }}
            search={{}}
          >
            {entry.title || m.emails_no_subject()}
          </Link>
        </b>{" "}
        <span className="muted">{m.customers_email_was({ state: wordOf(state) })}</span>
      </div>
    </>
  );
}

function Happened({ entry }: { entry: TimelineEntry }) {
  const { word, icon: Icon, isTrouble } = happened(entry);
  const { kind, data, actor } = entry;
  const details: ReactNode[] =
    kind === "SESSION"
      ? [
          methodsWord(data.methods),
          deviceWord({ userAgent: String(data.userAgent ?? "") }),
          typeof data.ipAddress === "string" ? data.ipAddress : "",
          typeof data.revokedAt === "string" ? m.customers_session_over({ when: plannedTime(data.revokedAt) }) : "",
        ]
      : [detailOf(entry), byWhom(actor)];
  return (
    <>
      {isTrouble ? <Glyph shape="attention" /> : <Icon {...ICON} />}
      <div>
        <b>{word()}</b> <span className="muted">{details.filter(Boolean).join(" · ")}</span>
      </div>
    </>
  );
}

/** Who did it, if that was not the customer. */
function byWhom({ type, label }: TimelineEntry["actor"]): string {
  if (type === "DEVELOPER") return label ? m.customers_by({ who: label }) : m.customers_by_developer();
  return type === "API_KEY" || type === "TEST_KEY" ? m.customers_by_key() : "";
}
