import { notifications } from "@mantine/notifications";
import type { CampaignDetail, CampaignVariant } from "@postern/sdk";
import { useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { count, percent } from "../../parts/format";
import { Button } from "../../parts/parts";
import { plannedTime } from "../../parts/when";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { evidenceOf, resultsOf } from "./evidence";
import { axisOf, likelyRange, placeOn } from "./numbers";

/** The variants of the A/B test, each with its rate and the range in which the true rate likely is. */
export function AbTest({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const [chosen, setChosen] = useState<CampaignVariant>();
  const [isEnding, setEnding] = useState(false);
  const isClicks = campaign.abTestMetric === "CLICK_RATE";
  const evidence = evidenceOf(campaign.evidence);
  const results = resultsOf(campaign, evidence);
  const ranges = results.map((each) => likelyRange(each.successes, each.messages));
  const axis = axisOf(ranges.filter((_, index) => (results[index]?.messages ?? 0) > 0));
  const isOpen = campaign.status === "TESTING" && mayWrite;
  const winner = campaign.variants.find((each) => each.isWinner);
  const first = campaign.variants[0];
  const refresh = () => client.invalidateQueries({ queryKey: ["campaigns", projectId] });
  return (
    <section className="sec" aria-labelledby="ab">
      <header>
        <h2 id="ab">{m.campaigns_ab_title()}</h2>
        <p>
          {campaign.abTestSampleSize !== null && m.campaigns_ab_sample({ count: count(campaign.abTestSampleSize) })}{" "}
          {campaign.status === "TESTING" &&
            campaign.abTestEndsAt &&
            m.campaigns_ab_until({ time: plannedTime(campaign.abTestEndsAt) })}
        </p>
        {isOpen && first && (
          <div className="acts">
            <Button size="small" onClick={() => setEnding(true)}>
              {m.campaigns_ab_end_open()}
            </Button>
          </div>
        )}
      </header>
      <table className="table plain ab">
        <thead>
          <tr>
            <th scope="col">{m.campaigns_ab_variant()}</th>
            <th scope="col" className="num">
              {m.campaigns_ab_people()}
            </th>
            <th scope="col" className="num">
              {isClicks ? m.status_clicked() : m.status_opened()}
            </th>
            <th scope="col" className="range">
              {isClicks ? m.campaigns_ab_click_range() : m.campaigns_ab_open_range()}
            </th>
            {isOpen && (
              <th scope="col">
                <span className="sr">{m.campaigns_ab_choose()}</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {results.map(({ variant, successes, messages, rate }, index) => {
            const [low, high] = ranges[index] ?? [0, 1];
            const from = placeOn(axis, low);
            return (
              <tr key={variant.id} className={variant.isWinner ? "won" : ""}>
                <th scope="row">
                  <span className="v cut">{variant.name}</span>
                  <span>{variant.subject ?? campaign.subject ?? m.campaigns_subject_of_template()}</span>
                </th>
                <td className="num">{count(messages)}</td>
                <td className="num">{count(successes)}</td>
                <td className="range">
                  {messages > 0 ? (
                    <div className="rng">
                      <div
                        className="ci"
                        role="img"
                        aria-label={m.campaigns_ab_likely({
                          rate: percent(rate, 1),
                          low: percent(low, 1),
                          high: percent(high, 1),
                        })}
                      >
                        <i style={{ left: `${from}%`, width: `${placeOn(axis, high) - from}%` }} />
                        <u style={{ left: `${placeOn(axis, rate)}%` }} />
                      </div>
                      <b>{percent(rate, 1)}</b>
                    </div>
                  ) : (
                    <span className="muted">{m.campaigns_ab_none_yet()}</span>
                  )}
                </td>
                {isOpen && (
                  <td className="choose">
                    <Button
                      size="small"
                      aria-label={m.campaigns_ab_choose_this({ name: variant.name })}
                      onClick={() => setChosen(variant)}
                    >
                      {m.campaigns_ab_choose()}
                    </Button>
                  </td>
                )}
              </tr>
            );
          })}
        </tbody>
        {results.some((each) => each.messages > 0) && (
          <tfoot aria-hidden="true">
            <tr>
              <td colSpan={3} />
              <td className="range">
                <div className="scale">
                  {axis.map((each) => (
                    <span key={each} style={{ left: `${placeOn(axis, each)}%` }}>
                      {percent(each, 0)}
                    </span>
                  ))}
                </div>
              </td>
              {isOpen && <td />}
            </tr>
          </tfoot>
        )}
      </table>
      {evidence ? (
        <p className="verdict">
          <Glyph shape={evidence.decisive ? "yes" : "no"} />
          <span>
            <b>{verdict()}</b> <span className="muted">{reason()}</span>
          </span>
        </p>
      ) : (
        campaign.warnings.map((each) => (
          <p key={each.path + each.message} className="verdict">
            <Glyph shape="attention" />
            <span>{each.message}</span>
          </p>
        ))
      )}
      {chosen && (
        <ConfirmDialog
          title={m.campaigns_ab_choose_title({ name: chosen.name })}
          deed={m.campaigns_ab_choose_this({ name: chosen.name })}
          onClose={() => setChosen(undefined)}
          run={async () => {
            try {
              await api(projectId).campaigns.selectAbTestWinner(campaign.id, { variantId: chosen.id });
            } finally {
              void refresh();
            }
            notifications.show({ message: m.campaigns_ab_chosen({ name: chosen.name }) });
          }}
        >
          <p>{m.campaigns_ab_choose_lead()}</p>
        </ConfirmDialog>
      )}
      {isEnding && first && (
        <ConfirmDialog
          title={m.campaigns_ab_end_title()}
          deed={m.campaigns_ab_end()}
          onClose={() => setEnding(false)}
          run={async () => {
            try {
              await api(projectId).campaigns.cancelAbTest(campaign.id);
            } finally {
              void refresh();
            }
            notifications.show({ message: m.campaigns_ab_ended() });
          }}
        >
          <p>{m.campaigns_ab_end_lead({ name: first.name })}</p>
        </ConfirmDialog>
      )}
    </section>
  );

  function verdict(): string {
    if (!evidence) return "";
    if (evidence.decidedBy === "too_small") return m.campaigns_ab_too_small();
    const name = winner?.name ?? first?.name ?? "";
    if (evidence.decidedBy === "hand") return m.campaigns_ab_by_hand({ name });
    if (evidence.decidedBy === "cancelled") return m.campaigns_ab_was_ended({ name });
    const probability = evidence.variants.find((each) => each.variantId === winner?.id)?.probabilityOfBeingBest;
    return evidence.decisive && probability !== undefined
      ? m.campaigns_ab_won({ name, probability: percent(Math.min(probability, 0.999), 0) })
      : m.campaigns_ab_leads({ name });
  }

  /** What follows, and how sure it is. */
  function reason(): string {
    if (evidence?.decidedBy !== "rule") return "";
    return `${evidence.decisive ? "" : `${m.campaigns_ab_not_sure()} `}${m.campaigns_ab_kept()}`;
  }
}
