import type { DmarcDay } from "@postern/sdk";
import { m } from "../../messages/messages.js";
import { count, longDay, shortDay } from "../../parts/format";
import { inWords, type Numbered, Reader, Tip } from "../overview/Reader";
import { columnOf, middleOf, namedColumns, ticksOf, WIDTH } from "../overview/scale";
import { failedOf } from "./records";

const HEIGHT = 200;
const DAYS_OF_WEEK = 7;
/** The day of the API, which is one in UTC, as a date of the calendar. */
export const dateOf = (at: string) => new Date(`${at.slice(0, 10)}T12:00:00`);

function numbersOf(day: DmarcDay): Numbered[] {
  return [
    { shape: "yes", name: m.dmarc_passed(), value: day.aligned },
    { shape: "bounced", name: m.dmarc_failed(), value: failedOf(day) },
    { shape: "suppressed", name: m.dmarc_quarantined(), value: day.quarantined },
    { shape: "failed", name: m.dmarc_rejected(), value: day.rejected },
  ];
}

/** Mail by day: what passed, and on top of it what failed. Arrow keys and the pointer read the numbers. */
export function DmarcChart({ days }: { days: DmarcDay[] }) {
  const columns = days.length;
  const ticks = ticksOf(Math.max(...days.map((each) => each.messages)));
  const top = ticks[0] ?? 1;
  return (
    <figure className="chart">
      <Reader
        columns={columns}
        label={m.dmarc_chart()}
        textOf={(at) => {
          const day = days[at];
          return day ? inWords(longDay(dateOf(day.day)), numbersOf(day)) : "";
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
                {days.map((day, index) => {
                  const place = columnOf(index, columns);
                  const passed = (day.aligned / top) * HEIGHT;
                  const failed = (failedOf(day) / top) * HEIGHT;
                  return (
                    <g key={day.day} className="day">
                      {passed > 0 && <rect className="c-delivered" {...place} y={HEIGHT - passed} height={passed} />}
                      {failed > 0 && (
                        <rect className="c-bounced" {...place} y={HEIGHT - passed - failed} height={failed} />
                      )}
                    </g>
                  );
                })}
              </svg>
              {at !== undefined && days[at] && (
                <Tip title={longDay(dateOf(days[at].day))} numbers={numbersOf(days[at])} at={middleOf(at, columns)} />
              )}
            </div>
            <div className="xaxis" aria-hidden="true">
              {namedColumns(columns, DAYS_OF_WEEK).map((index) => {
                const day = days[index];
                if (!day) return null;
                return (
                  <span key={day.day} style={{ left: `${middleOf(index, columns)}%` }}>
                    {index === columns - 1 ? m.today() : shortDay(dateOf(day.day))}
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
