import { IconChevronDown, IconX } from "@tabler/icons-react";
import { Link, useLocation } from "@tanstack/react-router";
import { type ReactNode, useEffect, useRef } from "react";
import { Glyph } from "../look/glyphs";
import { m } from "../messages/messages.js";
import { download } from "../parts/download";
import { Button, ICON } from "../parts/parts";
import { useProjectId } from "../session/profile";
import { useDone } from "./done";
import { after, before, STOPS, type Stop } from "./progress";
import { takeChanged, useTour } from "./state";
import "./tour.css";
import "./tourlink.css";

interface Words {
  title: () => string;
  /** What to do there, with the name of what to press. */
  lead: () => string;
  to: "" | "/developers" | "/domains" | "/contacts" | "/templates";
  page: () => string;
}

const WORDS: Record<Stop, Words> = {
  email: { title: m.tour_email, lead: m.tour_email_lead, to: "", page: m.overview },
  key: { title: m.tour_key, lead: m.tour_key_lead, to: "/developers", page: m.developers },
  domain: { title: m.tour_domain, lead: m.tour_domain_lead, to: "/domains", page: m.domains },
  contacts: { title: m.tour_contacts, lead: m.tour_contacts_lead, to: "/contacts", page: m.contacts },
  template: { title: m.tour_template, lead: m.tour_template_lead, to: "/templates", page: m.templates },
};

/** A file for those who have none at hand. */
const SAMPLE = "email,name,plan\nada@example.com,Ada,pro\ngrace@example.com,Grace,free\nalan@example.com,Alan,pro\n";

/** The element that a stop is about, if it is on the page. */
function marked(stop: Stop): HTMLElement | undefined {
  const elements = document.querySelectorAll<HTMLElement>(`[data-tour="${stop}"]`);
  return [...elements].find((each) => each.offsetParent !== null);
}

/** The tour beside the page: where to go, what to press there, and whether it is done. */
export default function Tour() {
  const projectId = useProjectId();
  const { progress, change } = useTour();
  const at = progress?.at ?? "email";
  const isFolded = progress?.state === "folded";
  const done = useDone(projectId, at);
  const isDone = at === "end" || done.has(at);
  const card = useRef<HTMLElement>(null);
  const place = useLocation({ select: ({ pathname }) => pathname });

  // The styles mark what to press on the page of this stop.
  useEffect(() => {
    const root = document.documentElement;
    root.dataset.tourAt = isDone ? "" : at;
    root.dataset.tourCard = isFolded ? "folded" : "open";
    return () => {
      delete root.dataset.tourAt;
      delete root.dataset.tourCard;
    };
  }, [at, isDone, isFolded]);

  // Whoever opens the tour, or goes on in it, hears where it is. Loading a page leaves the focus where it is.
  // biome-ignore lint/correctness/useExhaustiveDependencies: the focus follows the stop.
  useEffect(() => {
    if (takeChanged()) card.current?.focus({ preventScroll: true });
  }, [at, isFolded]);

  const away = () => {
    change({ at, state: "away" });
    document.getElementById("main")?.querySelector<HTMLElement>("a, button, input")?.focus({ preventScroll: true });
  };
  const number = at === "end" ? STOPS.length : STOPS.indexOf(at) + 1;
  const count = m.tour_count({ number, all: STOPS.length });

  if (isFolded)
    return (
      <aside className="tour folded" aria-label={m.tour()}>
        <Button onClick={() => change({ at, state: "open" })}>
          {at !== "end" && done.has(at) && <Glyph shape="yes" />}
          {count}
        </Button>
      </aside>
    );
  return (
    <aside className="tour" aria-label={m.tour()} ref={card} tabIndex={-1}>
      <header>
        <p className="muted">{at === "end" ? m.tour() : count}</p>
        <button
          type="button"
          className="iconbtn small"
          aria-label={m.tour_fold()}
          onClick={() => change({ at, state: "folded" })}
        >
          <IconChevronDown {...ICON} />
        </button>
        <button type="button" className="iconbtn small" aria-label={m.tour_away()} onClick={away}>
          <IconX {...ICON} />
        </button>
      </header>
      <ol className="tourstops" aria-label={m.tour_stops()}>
        {STOPS.map((stop) => (
          <li key={stop}>
            <button
              type="button"
              className={done.has(stop) ? "done" : undefined}
              aria-current={stop === at ? "step" : undefined}
              aria-label={done.has(stop) ? m.tour_stop_done({ title: WORDS[stop].title() }) : WORDS[stop].title()}
              title={WORDS[stop].title()}
              onClick={() => change({ at: stop, state: "open" })}
            />
          </li>
        ))}
      </ol>
      {at === "end" ? (
        <End done={done} onDone={away} onStop={(stop) => change({ at: stop, state: "open" })} />
      ) : (
        <StopCard
          key={at}
          stop={at}
          isDone={done.has(at)}
          isHere={place.replace(/\/$/, "") === `/projects/${projectId}${WORDS[at].to}`}
        />
      )}
    </aside>
  );
}

function StopCard({ stop, isDone, isHere }: { stop: Stop; isDone: boolean; isHere: boolean }) {
  const projectId = useProjectId();
  const { change } = useTour();
  const { title, lead, to, page } = WORDS[stop];
  const previous = before(stop);
  const show = () => {
    const element = marked(stop);
    element?.scrollIntoView({ block: "center" });
    element?.focus({ preventScroll: true });
  };
  return (
    <>
      <h2>{title()}</h2>
      <p>{lead()}</p>
      {stop === "contacts" && !isDone && (
        <p>
          <button
            type="button"
            className="linkbtn"
            onClick={() => download(SAMPLE, "contacts-sample.csv", "text/csv;charset=utf-8")}
          >
            {m.tour_sample()}
          </button>
        </p>
      )}
      <p className="tourstate" role="status">
        {isDone && (
          <>
            <Glyph shape="yes" />
            <b>{m.tour_done()}</b>
          </>
        )}
      </p>
      <div className="touracts">
        {previous && (
          <Button size="small" kind="bare" onClick={() => change({ at: previous, state: "open" })}>
            {m.tour_back()}
          </Button>
        )}
        <span className="grow" />
        {!isDone && (
          <Button size="small" kind="bare" onClick={() => change({ at: after(stop), state: "open" })}>
            {m.tour_skip()}
          </Button>
        )}
        {isDone ? (
          <Button size="small" kind="primary" onClick={() => change({ at: after(stop), state: "open" })}>
            {m.tour_next()}
          </Button>
        ) : isHere ? (
          <Button size="small" kind="primary" onClick={show}>
            {m.tour_show()}
          </Button>
        ) : (
          <Link className="btn small primary" to={`/projects/$projectId${to}`} params={{ projectId }}>
            {m.tour_go({ page: page() })}
          </Link>
        )}
      </div>
    </>
  );
}

function End({
  done,
  onDone,
  onStop,
}: {
  done: ReadonlySet<Stop>;
  onDone: () => void;
  onStop: (stop: Stop) => void;
}): ReactNode {
  const projectId = useProjectId();
  const left = STOPS.filter((stop) => !done.has(stop));
  return (
    <>
      <h2>{m.tour_end()}</h2>
      {left.length > 0 ? (
        <>
          <p>{m.tour_end_left()}</p>
          <ul>
            {left.map((stop) => (
              <li key={stop}>
                <button type="button" className="linkbtn" onClick={() => onStop(stop)}>
                  {WORDS[stop].title()}
                </button>
              </li>
            ))}
          </ul>
        </>
      ) : (
        <p>{m.tour_end_lead()}</p>
      )}
      <div className="touracts">
        <span className="grow" />
        <Link className="btn small" to="/projects/$projectId/campaigns" params={{ projectId }} search={{ add: "1" }}>
          {m.tour_campaign()}
        </Link>
        <Button size="small" kind="primary" onClick={onDone}>
          {m.tour_finish()}
        </Button>
      </div>
    </>
  );
}
