import { notifications } from "@mantine/notifications";
import type { Domain, Reputation } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count, percent, shortTime } from "../../parts/format";
import { Button, Field, LoadingFailed, SkeletonRows } from "../../parts/parts";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { FormDialog } from "../settings/pieces";
import { reputationQuery } from "./queries";

/** The rates of the domain's mail beside the thresholds at which it warns and holds, and the release of held mail. */
export function Rates({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  const query = useQuery(reputationQuery(projectId, domain.id));
  const reputation = query.data;
  if (query.isError && !reputation) return <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />;
  return (
    <>
      {reputation && reputation.state !== "HEALTHY" && <State reputation={reputation} />}
      <table className="table plain">
        <thead>
          <tr>
            <th scope="col">{m.rates_rate()}</th>
            <th scope="col" className="num">
              {m.rates_now()}
            </th>
            <th scope="col" className="num">
              {m.reputation_warns()}
            </th>
            <th scope="col" className="num">
              {m.reputation_holds()}
            </th>
            <th scope="col" className="wide-col">
              <span className="sr">{m.rates_share_of_limit()}</span>
            </th>
          </tr>
        </thead>
        {reputation ? (
          <tbody>
            <Rate name={m.rates_bounces()} rate={reputation.bounceRate} limits={reputation.thresholds.bounces} />
            <Rate
              name={m.rates_complaints()}
              rate={reputation.complaintRate}
              limits={reputation.thresholds.complaints}
            />
          </tbody>
        ) : (
          <SkeletonRows rows={2} widths={[110, 48, 48, 48, 120]} />
        )}
      </table>
      {reputation && (
        <p className="muted after">
          {reputation.counts.messages === 0
            ? m.reputation_none({ since: shortTime(reputation.countedFrom) })
            : m.reputation_of({ count: count(reputation.counts.messages), since: shortTime(reputation.countedFrom) })}
        </p>
      )}
    </>
  );
}

type Limits = Reputation["thresholds"]["bounces"];

function Rate({ name, rate, limits }: { name: string; rate: number; limits: Limits }) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="num">
        <b>{percent(rate, 2)}</b>
      </td>
      <td className="num">{percent(limits.warning, 2)}</td>
      <td className="num">{percent(limits.hold, 2)}</td>
      <td>
        <div className="meter" role="img" aria-label={m.rates_of_limit({ share: percent(rate / limits.hold, 0) })}>
          <i
            className={rate >= limits.warning ? "warn" : ""}
            style={{ width: `${Math.min((rate / limits.hold) * 100, 100)}%` }}
          />
          <u style={{ left: `${Math.min((limits.warning / limits.hold) * 100, 100)}%` }} />
        </div>
      </td>
    </tr>
  );
}

/** That the rates are high, and if marketing mail waits for that, how to let it go. */
function State({ reputation }: { reputation: Reputation }) {
  const mayWrite = useMayWrite();
  const [isReleasing, setReleasing] = useState(false);
  const isHeld = reputation.state === "HELD";
  return (
    <div className={isHeld ? "note bad" : "note wait"} role="status">
      <Glyph shape={isHeld ? "failed" : "attention"} />
      <div>
        <p>
          <b>{isHeld ? m.reputation_held() : m.reputation_warning()}</b> {reputation.reason}{" "}
          {reputation.since && m.reputation_since({ since: shortTime(reputation.since) })}{" "}
          {reputation.heldUntil && m.reputation_until({ until: shortTime(reputation.heldUntil) })}
        </p>
        {isHeld && mayWrite && (
          <p className="line">
            <Button size="small" onClick={() => setReleasing(true)}>
              {m.reputation_release()}
            </Button>
          </p>
        )}
      </div>
      {isReleasing && <ReleaseDialog reputation={reputation} onClose={() => setReleasing(false)} />}
    </div>
  );
}

function ReleaseDialog({ reputation, onClose }: { reputation: Reputation; onClose: () => void }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const [reason, setReason] = useState("");
  return (
    <FormDialog
      title={m.reputation_release_title({ domain: reputation.domain })}
      deed={m.reputation_release()}
      kind="solid-danger"
      ready={reason.trim() !== ""}
      places={{ reason: ["/reason"] }}
      onClose={onClose}
      run={async () => {
        const released = await api(projectId).domains.releaseReputation(reputation.domainId, { reason: reason.trim() });
        client.setQueryData(reputationQuery(projectId, reputation.domainId).queryKey, released);
        notifications.show({ message: m.reputation_released({ domain: reputation.domain }) });
      }}
    >
      {(errors) => (
        <>
          <p>{m.reputation_release_lead()}</p>
          <Field
            label={m.reputation_reason()}
            hint={m.reputation_reason_hint()}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
            error={errors.reason}
            maxLength={500}
            autoComplete="off"
            data-autofocus
          />
        </>
      )}
    </FormDialog>
  );
}
