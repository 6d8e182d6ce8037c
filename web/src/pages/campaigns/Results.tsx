import type { CampaignDetail } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { Glyph, type Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count, percent } from "../../parts/format";
import { LoadingFailed } from "../../parts/parts";
import { BOUNCE_LIMIT, COMPLAINT_LIMIT } from "../../parts/rateLimits";
import { useProjectId } from "../../session/profile";
import { Chart, NumbersTable } from "../overview/Chart";
import { bucketsOf } from "../overview/period";
import { AbTest } from "./AbTest";
import { usualOf } from "./numbers";
import { lifeQuery, usualQuery } from "./queries";
import "../overview/overview.css";
import "./campaigns.css";

const page = getRouteApi("/session/projects/$projectId/campaigns/$campaignId");
/** Weeks begin on Monday; the chart has days only. */
const MONDAY = 1;

/** What came of a campaign so far: figures, the test of its variants, and its days. */
export function Results({ campaign }: { campaign: CampaignDetail }) {
  return (
    <>
      <Figures campaign={campaign} />
      {campaign.abTestEnabled && campaign.variants.length > 0 && <AbTest campaign={campaign} />}
      <Days campaign={campaign} />
      <Skipped campaign={campaign} />
    </>
  );
}

function Figures({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const { stats } = campaign;
  const before = useQuery(usualQuery(projectId));
  const usual =
    before.data && usualOf(before.data.flatMap((each) => (each.id !== campaign.id && each.stats ? [each.stats] : [])));
  const usually = (rate: number | undefined, decimals: number) =>
    rate !== undefined && <span className="was">{m.campaigns_usual({ rate: percent(rate, decimals) })}</span>;
  const all = stats.sent + stats.bounced;
  return (
    <section className="sec" aria-labelledby="figures">
      <header>
        <h2 id="figures">{m.campaigns_results()}</h2>
        <p>{m.campaigns_of_accepted({ count: count(stats.sent) })}</p>
      </header>
      <dl className="ledger">
        <Figure shape="delivered" label={m.status_delivered()} value={stats.delivered} of={stats.sent} decimals={1}>
          {stats.delivered === 0 && stats.sent > 0 && m.overview_unconfirmed()}
        </Figure>
        <Figure shape="opened" label={m.status_opened()} value={stats.opened} of={stats.sent} decimals={1}>
          {usually(usual?.opened, 1)}
        </Figure>
        <Figure shape="clicked" label={m.status_clicked()} value={stats.clicked} of={stats.sent} decimals={1}>
          {usually(usual?.clicked, 1)}
        </Figure>
        <Figure shape="bounced" label={m.status_bounced()} value={stats.bounced} of={all} decimals={2}>
          <span className="was">{m.campaigns_limit({ rate: percent(BOUNCE_LIMIT, 0) })}</span>
        </Figure>
        <Figure shape="complaint" label={m.rates_complaints()} value={stats.complained} of={stats.sent} decimals={2}>
          <span className="was">{m.campaigns_limit({ rate: percent(COMPLAINT_LIMIT, 1) })}</span>
        </Figure>
      </dl>
    </section>
  );
}

function Figure({
  shape,
  label,
  value,
  of,
  decimals,
  children,
}: {
  shape: Shape;
  label: string;
  value: number;
  of: number;
  decimals: number;
  children?: ReactNode;
}) {
  return (
    <div>
      <dt>
        <Glyph shape={shape} />
        {label}
      </dt>
      <dd>{count(value)}</dd>
      <dd className="sub">
        {of > 0 && <b>{percent(Math.min(value / of, 1), decimals)}</b>} {children}
      </dd>
    </div>
  );
}

/** The days of the campaign: when it was sent, and when people opened it. */
function Days({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const { view } = page.useSearch();
  const life = useQuery(lifeQuery(projectId, campaign));
  const buckets = life.data ? bucketsOf(life.data.days, "day", life.data.today, MONDAY) : [];
  // One day alone is what the figures above say.
  const isDrawn = buckets.length > 1;
  return (
    <section className="sec" aria-labelledby="days">
      <header>
        <h2 id="days">{m.campaigns_days_title()}</h2>
        {isDrawn && (
          <div className="acts">
            <Link
              className="btn small bare"
              to="."
              search={(before: object) => ({ ...before, view: view === "table" ? undefined : "table" }) as never}
              replace
              resetScroll={false}
            >
              {view === "table" ? m.overview_show_chart() : m.overview_show_table()}
            </Link>
          </div>
        )}
      </header>
      {life.isError && !life.data ? (
        <LoadingFailed error={life.error} onRetry={() => void life.refetch()} />
      ) : life.data && !isDrawn ? (
        <p className="muted rule nothing">{buckets.length === 0 ? m.campaigns_no_days() : m.campaigns_one_day()}</p>
      ) : view === "table" ? (
        <NumbersTable buckets={buckets} by="day" />
      ) : isDrawn ? (
        <Chart buckets={buckets} by="day" />
      ) : (
        <div className="chart blank" />
      )}
      {isDrawn && <p className="muted foot">{m.campaigns_days_foot()}</p>}
    </section>
  );
}

/** Contacts of the audience that got nothing, by reason. */
function Skipped({ campaign }: { campaign: CampaignDetail }) {
  const { unsubscribed, suppressed, deleted, frequencyCap } = campaign.progress.skipped;
  const reasons = [
    [m.campaigns_skipped_unsubscribed, unsubscribed],
    [m.campaigns_skipped_suppressed, suppressed],
    [m.campaigns_skipped_deleted, deleted],
    [m.campaigns_skipped_cap, frequencyCap],
  ] as const;
  const shown = reasons.filter(([, number]) => number > 0);
  if (shown.length === 0) return null;
  return (
    <section className="sec" aria-labelledby="skipped">
      <header>
        <h2 id="skipped">{m.campaigns_skipped()}</h2>
      </header>
      <dl className="facts rule skippedlist">
        {shown.map(([word, number]) => (
          <div key={word()}>
            <dt>{word()}</dt>
            <dd>{count(number)}</dd>
          </div>
        ))}
      </dl>
    </section>
  );
}
