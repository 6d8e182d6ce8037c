import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count, longDay, shortDay } from "../../parts/format";
import { type Bucket, dateOf, type Interval, MEASURES, type Measure } from "./period";
import { inWords, type Numbered, Reader, Tip } from "./Reader";
import { columnOf, middleOf, namedColumns, ticksOf, WIDTH } from "./scale";

/** Heights of the two parts in units of their drawings. */
const HEIGHT = 200;
const LOW_HEIGHT = 40;
/** The lower part leaves this much room for the number over its highest column. */
const LOW_TOP = 4;
const CAP = 2;
const DAYS_OF_WEEK = 7;

export const NAMES: Record<Measure, () => string> = {
  sent: m.status_sent,
  delivered: m.status_delivered,
  opened: m.status_opened,
  clicked: m.status_clicked,
  bounced: m.status_bounced,
  complained: m.rates_complaints,
  failed: m.overview_not_sent,
};
const SHAPES = {
  sent: "sent",
  delivered: "delivered",
  opened: "opened",
  clicked: "clicked",
  bounced: "bounced",
  complained: "complaint",
  failed: "failed",
} as const;

/** The name of a column, in full: its day, or the first and last day of its week. */
function titleOf({ first, last }: Bucket, by: Interval): string {
  if (by === "day" || first === last) return longDay(dateOf(first));
  return m.overview_from_to({ from: shortDay(dateOf(first)), to: shortDay(dateOf(last)) });
}

/** The numbers that a tooltip lists: those of the ledger, and trouble if there is some. */
function numbersOf(bucket: Bucket): Numbered[] {
  return MEASURES.filter((each) => bucket[each] > 0 || (each !== "complained" && each !== "failed")).map((each) => ({
    shape: SHAPES[each],
    name: NAMES[each](),
    value: bucket[each],
  }));
}

/** Mail over time: nested columns, and what bounced below on its own scale. Arrow keys and the pointer read numbers. */
export function Chart({ buckets, by }: { buckets: Bucket[]; by: Interval }) {
  const columns = buckets.length;
  const ticks = ticksOf(Math.max(...buckets.map((each) => Math.max(each.sent, each.delivered, each.opened))));
  const top = ticks[0] ?? 1;
  const peak = buckets.reduce((best, each, index) => (each.bounced > (buckets[best]?.bounced ?? 0) ? index : best), 0);
  const most = buckets[peak]?.bounced ?? 0;
  const title = (bucket: Bucket) => titleOf(bucket, by);

  return (
    <figure className="chart">
      <Reader
        columns={columns}
        label={by === "week" ? m.overview_chart_weeks() : m.overview_chart_days()}
        textOf={(at) => {
          const bucket = buckets[at];
          return bucket ? inWords(title(bucket), numbersOf(bucket)) : "";
        }}
      >
        {(at) => (
          <>
            <div className="plot main">
              <div className="grid">
                {ticks.map((tick) => (
                  <span key={tick}>
                    <i>{count(tick)}</i>
                  </span>
                ))}
              </div>
              <svg className="cols" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
                {buckets.map((bucket, index) => (
                  <Column key={bucket.first} bucket={bucket} index={index} columns={columns} top={top} />
                ))}
              </svg>
              {at !== undefined && buckets[at] && (
                <Tip title={title(buckets[at])} numbers={numbersOf(buckets[at])} at={middleOf(at, columns)} />
              )}
            </div>
            <div className="plot below">
              <span className="tag-line">
                <Glyph shape="bounced" />
                {most > 0 ? m.overview_bounced_scale() : m.overview_none_bounced()}
              </span>
              {most > 0 && (
                <span className="peak" style={{ left: `${middleOf(peak, columns)}%`, top: LOW_TOP - 1 }}>
                  {count(most)}
                </span>
              )}
              <svg
                className="cols low"
                viewBox={`0 0 ${WIDTH} ${LOW_HEIGHT}`}
                preserveAspectRatio="none"
                aria-hidden="true"
              >
                {buckets.map((bucket, index) => {
                  const height = most ? (bucket.bounced / most) * (LOW_HEIGHT - LOW_TOP) : 0;
                  return (
                    <rect
                      key={bucket.first}
                      className={bucket.running ? "c-bounced partial" : "c-bounced"}
                      {...columnOf(index, columns)}
                      y={LOW_HEIGHT - height}
                      height={height}
                    />
                  );
                })}
              </svg>
            </div>
            <div className="xaxis" aria-hidden="true">
              {namedColumns(columns, by === "day" ? DAYS_OF_WEEK : 1).map((index) => {
                const bucket = buckets[index];
                if (!bucket) return null;
                return (
                  <span key={bucket.first} style={{ left: `${middleOf(index, columns)}%` }}>
                    {bucket.running && by === "day" ? m.today() : shortDay(dateOf(bucket.first))}
                  </span>
                );
              })}
            </div>
          </>
        )}
      </Reader>
    </figure>
  );
}

/** A column of nested parts: what was sent, of that delivered, opened and clicked. */
function Column({ bucket, index, columns, top }: { bucket: Bucket; index: number; columns: number; top: number }) {
  const place = columnOf(index, columns);
  const part = (measure: Measure, className: string) => {
    const height = (bucket[measure] / top) * HEIGHT;
    return height > 0 && <rect className={className} {...place} y={HEIGHT - height} height={height} />;
  };
  const cap = (measure: Measure, className: string) =>
    bucket[measure] > 0 && (
      <rect className={className} {...place} y={HEIGHT - (bucket[measure] / top) * HEIGHT} height={CAP} />
    );
  return (
    <g className={bucket.running ? "day partial" : "day"}>
      {bucket.sent > bucket.delivered && (
        <>
          {part("sent", "c-sent")}
          {cap("sent", "c-sent-cap")}
        </>
      )}
      {part("delivered", "c-delivered")}
      {cap("delivered", "c-cap")}
      {part("opened", "c-opened")}
      {part("clicked", "c-clicked")}
    </g>
  );
}

/** The numbers of the chart. */
export function NumbersTable({ buckets, by }: { buckets: Bucket[]; by: Interval }) {
  return (
    <div
      className="numbers scrollx"
      role="group"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is read by scrolling it.
      tabIndex={0}
      aria-label={by === "week" ? m.overview_chart_weeks() : m.overview_chart_days()}
    >
      <table className="table tight">
        <thead>
          <tr>
            <th scope="col">{by === "week" ? m.overview_week() : m.overview_day()}</th>
            {MEASURES.map((measure) => (
              <th key={measure} scope="col" className="num">
                {NAMES[measure]()}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {buckets.toReversed().map((bucket) => (
            <tr key={bucket.first}>
              <th scope="row">
                {titleOf(bucket, by)}
                {bucket.running && by === "day" && <span className="muted"> {m.overview_so_far()}</span>}
              </th>
              {MEASURES.map((measure) => (
                <td key={measure} className="num">
                  {count(bucket[measure])}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}
