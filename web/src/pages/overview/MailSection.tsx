import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Glyph, type Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { getLocale } from "../../messages/runtime.js";
import { count, percent } from "../../parts/format";
import { LoadingFailed } from "../../parts/parts";
import { Chart, NumbersTable } from "./Chart";
import { bucketsOf, type Counts, firstWeekdayOf, growthOf, type Range, ratesOf, shareOf, sumOf } from "./period";
import { type Mail, mailQuery, totalsQuery, ZONE } from "./queries";
import { type OverviewSearch, useOverviewSearch } from "./search";

/** The locale whose weeks are shown: that of the browser, if it has the language of the page. */
function weekLocale(): string {
  return navigator.languages.find((each) => each.startsWith(getLocale())) ?? navigator.language;
}

/** What was sent in the range and what became of it: five figures, the chart, and its numbers as a table. */
export function MailSection({ projectId, range }: { projectId: string; range: Range }) {
  const { by = "day", view } = useOverviewSearch();
  const mail = useQuery(mailQuery(projectId, range));
  const totals = useQuery(totalsQuery(projectId, range));
  if (mail.isError && !mail.data) return <LoadingFailed error={mail.error} onRetry={() => void mail.refetch()} />;
  const machines = totals.data?.sends.machineOpened;
  return (
    <section className="sec mail" aria-labelledby="mail">
      <h2 id="mail" className="sr">
        {m.overview_mail_in({ days: range })}
      </h2>
      <Ledger mail={mail.data} range={range} />
      {mail.data ? <Drawing mail={mail.data} by={by} view={view} /> : <div className="chart blank" />}
      <p className="chartfoot muted">
        {m.overview_foot_day()} {machines ? m.overview_foot_machines({ count: count(machines), days: range }) : ""}{" "}
        {mail.data && hasUnconfirmed(mail.data) && m.overview_foot_relay()}{" "}
        {mail.data && mail.data.zone !== ZONE && m.overview_foot_zone({ zone: mail.data.zone })}{" "}
        <Link
          to="."
          search={(before: OverviewSearch): OverviewSearch => ({
            ...before,
            view: view === "table" ? undefined : "table",
          })}
          replace
          resetScroll={false}
        >
          {view === "table" ? m.overview_show_chart() : m.overview_show_table()}
        </Link>
      </p>
    </section>
  );
}

/** The share of mail from which on it is explained that a relay does not report deliveries. */
const EXPLAINED_FROM = 0.01;

function hasUnconfirmed({ days }: Mail): boolean {
  const { sent, delivered } = sumOf(days);
  return (shareOf(sent - delivered, sent) ?? 0) > EXPLAINED_FROM;
}

function Drawing({ mail, by, view }: { mail: Mail; by: "day" | "week"; view: "table" | undefined }) {
  const buckets = bucketsOf(mail.days, by, mail.today, firstWeekdayOf(weekLocale()));
  if (view === "table") return <NumbersTable buckets={buckets} by={by} />;
  if (Object.values(sumOf(mail.days)).every((each) => each === 0)) {
    return (
      <div className="chart blank">
        <div className="empty">
          <h3>{m.overview_no_mail({ days: mail.days.length })}</h3>
          <p className="muted">{m.overview_no_mail_lead()}</p>
        </div>
      </div>
    );
  }
  return <Chart buckets={buckets} by={by} />;
}

/** The five figures over the chart, which are its legend. */
function Ledger({ mail, range }: { mail: Mail | undefined; range: Range }) {
  const now = mail && sumOf(mail.days);
  const before = mail && sumOf(mail.before);
  return (
    <dl className="ledger">
      <Figure shape="sent" label={m.status_sent()} value={now?.sent}>
        {now && before && <Growth now={now.sent} before={before.sent} days={range} />}
      </Figure>
      <Figure shape="delivered" label={m.status_delivered()} value={now?.delivered}>
        {now &&
          (now.delivered === 0 && now.sent > 0 ? (
            m.overview_unconfirmed()
          ) : (
            <Share value={shareOf(now.delivered, now.sent)} decimals={2} of={m.overview_of_sent} />
          ))}
      </Figure>
      <Rate shape="opened" label={m.status_opened()} measure="opened" now={now} before={before} decimals={1} />
      <Rate shape="clicked" label={m.status_clicked()} measure="clicked" now={now} before={before} decimals={1} />
      <Rate shape="bounced" label={m.status_bounced()} measure="bounced" now={now} before={before} decimals={2} />
    </dl>
  );
}

function Figure({
  shape,
  label,
  value,
  children,
}: {
  shape: Shape;
  label: string;
  value: number | undefined;
  children?: ReactNode;
}) {
  return (
    <div>
      <dt>
        <Glyph shape={shape} />
        {label}
      </dt>
      <dd>{value === undefined ? <i className="skel" style={{ width: 72 }} /> : count(value)}</dd>
      <dd className="sub">{value === undefined ? <i className="skel" style={{ width: 110 }} /> : children}</dd>
    </div>
  );
}

function Rate({
  measure,
  now,
  before,
  decimals,
  ...figure
}: {
  shape: Shape;
  label: string;
  measure: "opened" | "clicked" | "bounced";
  now: Counts | undefined;
  before: Counts | undefined;
  decimals: number;
}) {
  const earlier = before && ratesOf(before)[measure];
  return (
    <Figure {...figure} value={now?.[measure]}>
      {now && (
        <Share
          value={ratesOf(now)[measure]}
          decimals={decimals}
          of={measure === "bounced" ? m.overview_of_all : m.overview_of_sent}
        />
      )}
      {earlier !== undefined && <span className="was">{m.overview_was({ rate: percent(earlier, decimals) })}</span>}
    </Figure>
  );
}

function Share({ value, decimals, of }: { value: number | undefined; decimals: number; of: () => string }) {
  if (value === undefined) return <span>{m.rates_none()}</span>;
  return (
    <span>
      <b>{percent(value, decimals)}</b> {of()}
    </span>
  );
}

/** By how much a number grew, in words that do not judge: more mail is neither good nor bad. */
function Growth({ now, before, days }: { now: number; before: number; days: number }) {
  const growth = growthOf(now, before);
  if (growth === undefined) return <span>{m.overview_none_before({ days })}</span>;
  const sign = growth > 0 ? "+" : growth < 0 ? "−" : "±";
  return (
    <span>
      <span className={growth > 0 ? "up" : "same"}>
        {sign}
        {percent(Math.abs(growth), 1)}
      </span>{" "}
      {m.overview_on_before({ days })}
    </span>
  );
}
