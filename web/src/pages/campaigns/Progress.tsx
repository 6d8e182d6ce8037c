import type { CampaignDetail } from "@postern/sdk";
import { Glyph, type Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count, duration, longTime } from "../../parts/format";
import { Time } from "../../parts/parts";
import { plannedTime } from "../../parts/when";
import { doneOf, type Parts, partsOf, timeLeft } from "./numbers";

const SEGMENTS: { part: keyof Parts; shape: Shape; word: () => string; always?: true }[] = [
  { part: "accepted", shape: "delivered", word: m.campaigns_part_accepted, always: true },
  { part: "waiting", shape: "waiting", word: m.campaigns_part_waiting },
  { part: "bounced", shape: "bounced", word: m.status_bounced, always: true },
  { part: "failed", shape: "failed", word: m.status_failed },
  { part: "cancelled", shape: "suppressed", word: m.status_cancelled },
  { part: "skipped", shape: "no", word: m.campaigns_part_skipped },
  { part: "rest", shape: "off", word: m.campaigns_part_rest },
];

/** How far a campaign is: every contact of its audience by what became of it. */
export function Progress({ campaign }: { campaign: CampaignDetail }) {
  const { progress, status } = campaign;
  const parts = partsOf(campaign);
  const shown = SEGMENTS.filter(({ part, always }) => always || parts[part] > 0);
  const words = shown.map(({ part, word }) => `${count(parts[part])} ${word()}`).join(", ");
  return (
    <section className="progress" aria-labelledby="progress">
      <h2 id="progress" className="sr">
        {m.campaigns_progress()}
      </h2>
      <p className="figure">
        <b>{count(doneOf(parts))}</b> {m.campaigns_of({ all: count(progress.expected) })}
      </p>
      <p className="muted">
        <Story campaign={campaign} parts={parts} />
      </p>
      <div className="stack" role="img" aria-label={words}>
        {shown.map(
          ({ part }) => parts[part] > 0 && <i key={part} className={`s-${part}`} style={{ flex: parts[part] }} />,
        )}
      </div>
      <dl className="legend">
        {shown.map(({ part, shape, word }) => (
          <div key={part}>
            <dt>
              <Glyph shape={shape} />
              {word()}
            </dt>
            <dd>{count(parts[part])}</dd>
          </div>
        ))}
      </dl>
      {progress.waitingReason && (
        <p className="note wait" role="status">
          <Glyph shape="waiting" />
          <span>
            {progress.waitingReason} {progress.waitingUntil && m.campaigns_waits_until()}{" "}
            {progress.waitingUntil && <Time at={progress.waitingUntil} format={longTime} />}
          </span>
        </p>
      )}
      {status === "FAILED" && campaign.reason && (
        <p className="note bad" role="status">
          <Glyph shape="failed" />
          <span>{campaign.reason}</span>
        </p>
      )}
    </section>
  );
}

/** What happens at present, in a sentence. */
function Story({ campaign, parts }: { campaign: CampaignDetail; parts: Parts }) {
  const { status, progress, sentAt, abTestEndsAt } = campaign;
  const left = timeLeft(parts, progress);
  switch (status) {
    case "TESTING":
      return abTestEndsAt
        ? m.campaigns_story_testing({ time: plannedTime(abTestEndsAt) })
        : m.campaigns_state_testing();
    case "SENDING":
      return (
        <>
          {progress.perSecond > 0 && m.campaigns_rate({ count: count(Math.round(progress.perSecond * 60)) })}{" "}
          {left !== undefined && (
            <span className="nowrap">{m.campaigns_left({ time: duration(Math.max(left, 1_000)) })}</span>
          )}
        </>
      );
    case "PAUSED":
      return m.campaigns_story_paused();
    case "SENT":
      return (
        <>
          {sentAt && (
            <>
              {m.campaigns_story_sent()} <Time at={sentAt} format={longTime} />.{" "}
            </>
          )}
          {progress.retrying > 0 &&
            (progress.retrying === 1
              ? m.campaigns_story_retrying_one()
              : m.campaigns_story_retrying({ count: count(progress.retrying) }))}
        </>
      );
    case "CANCELLED":
      return progress.expected > 0 ? m.campaigns_story_cancelled() : m.campaigns_story_cancelled_before();
    default:
      return m.campaigns_story_failed();
  }
}
