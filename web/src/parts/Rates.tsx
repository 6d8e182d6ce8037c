import type { ReactNode } from "react";
import { m } from "../messages/messages.js";
import { percent } from "./format";
import { SkeletonRows } from "./parts";
import { BOUNCE_LIMIT, COMPLAINT_LIMIT } from "./rateLimits";

/** Where the limit stands on a meter, in per cent of its width. */
const LIMIT_AT = 80;

/** A rate as a bar with a tick at its limit. */
function Meter({ share, limit }: { share: number; limit: number }) {
  const width = Math.min((share / limit) * LIMIT_AT, 100);
  const label = m.rates_of_limit({ share: percent(share / limit, 0) });
  return (
    <div className="meter" role="img" aria-label={label}>
      <i className={share > limit ? "warn" : ""} style={{ width: `${width}%` }} />
      <u style={{ left: `${LIMIT_AT}%` }} />
    </div>
  );
}

function Limited({ name, share, limit }: { name: string; share: number | undefined; limit: number }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="num">{share === undefined ? m.rates_none() : <b>{percent(share, 2)}</b>}</td>
      <td className="num">{percent(limit, 2)}</td>
      <td>{share !== undefined && <Meter share={share} limit={limit} />}</td>
    </tr>
  );
}

/**
 * The shares of mail that bounced and that was reported as spam, beside the limits of mailbox providers. `shares` is
 * undefined while they are loaded; a share is undefined if nothing was sent. `children` are further rows.
 */
export function Rates({
  shares,
  children,
}: {
  shares: { bounced: number | undefined; complained: number | undefined } | undefined;
  children?: ReactNode;
}) {
  return (
    <table className="table plain">
      <thead>
        <tr>
          <th scope="col">{m.rates_rate()}</th>
          <th scope="col" className="num">
            {m.rates_now()}
          </th>
          <th scope="col" className="num">
            {m.rates_limit()}
          </th>
          <th scope="col" className="wide-col">
            <span className="sr">{m.rates_share_of_limit()}</span>
          </th>
        </tr>
      </thead>
      {shares ? (
        <tbody>
          <Limited name={m.rates_bounces()} share={shares.bounced} limit={BOUNCE_LIMIT} />
          <Limited name={m.rates_complaints()} share={shares.complained} limit={COMPLAINT_LIMIT} />
          {children}
        </tbody>
      ) : (
        <SkeletonRows rows={2} widths={[110, 48, 48, 160]} />
      )}
    </table>
  );
}
