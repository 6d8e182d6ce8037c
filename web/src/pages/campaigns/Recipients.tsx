import type { CampaignDetail, EmailLogEntry } from "@postern/sdk";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { type Column, RowTable } from "../../lists/RowTable";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Empty, LoadingFailed, Status, Time } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { STATUS_GROUPS, shapeOf, toneOf, wordOf } from "../emails/status";
import { Elsewhere, useHasPage } from "./Elsewhere";
import { isRunning, useRecipients } from "./queries";
import type { CampaignSearch } from "./routes";

const page = getRouteApi("/session/projects/$projectId/campaigns/$campaignId");

/** The groups by which recipients are filtered: a campaign's own sends are never scheduled. */
const OUTCOMES = STATUS_GROUPS.filter((each) => !each.statuses.includes("SCHEDULED"));

/** Who has got the campaign, and what became of each message. */
export function Recipients({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const { outcome } = page.useSearch();
  const navigate = useNavigate();
  const hasContacts = useHasPage("contact");
  const statuses = outcome?.split(",");
  const list = useRecipients(projectId, campaign.id, statuses, isRunning(campaign));
  const choose = (next: string | undefined) =>
    void navigate({
      to: ".",
      search: ((before: CampaignSearch) => ({ ...before, outcome: next })) as never,
      replace: true,
      resetScroll: false,
    });
  const open = useCallback(
    (send: EmailLogEntry) =>
      void navigate({
        to: "/projects/$projectId/emails/$sendId",
        params: { projectId, sendId: send.id },
        search: { campaignId: campaign.id },
      }),
    [navigate, projectId, campaign.id],
  );
  const close = useCallback(() => {}, []);
  return (
    <>
      <form
        className="filters"
        aria-label={m.campaigns_recipients_filter()}
        onSubmit={(event) => event.preventDefault()}
      >
        <div className="chips">
          <div className="seg scrollx" role="group" aria-label={m.campaigns_outcome()}>
            <button type="button" aria-pressed={outcome === undefined} onClick={() => choose(undefined)}>
              {m.campaigns_all()}
            </button>
            {OUTCOMES.map(({ statuses, word }) => (
              <button
                key={statuses.join()}
                type="button"
                aria-pressed={outcome === statuses.join()}
                onClick={() => choose(statuses.join())}
              >
                {word()}
              </button>
            ))}
          </div>
          <span className="total muted" aria-live="polite">
            {list.total !== undefined &&
              !list.isStale &&
              (list.total === 1
                ? m.campaigns_recipients_one()
                : m.campaigns_recipients_total({ count: count(list.total) }))}
          </span>
        </div>
      </form>
      {list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && list.rows.length === 0 ? (
        outcome ? (
          <Empty title={m.campaigns_recipients_none()} lead={m.list_none_match_filters()}>
            <Button onClick={() => choose(undefined)}>{m.campaigns_recipients_all()}</Button>
          </Empty>
        ) : (
          <Empty title={m.campaigns_recipients_empty()} lead={m.campaigns_recipients_empty_lead()} />
        )
      ) : (
        <>
          <RowTable
            label={m.campaigns_recipients()}
            className="recipients"
            columns={columns(hasContacts)}
            rows={list.rows}
            total={list.total}
            isPending={list.isPending}
            isStale={list.isStale}
            onOpen={open}
            onClose={close}
            onEnd={list.more}
            row={(send) => (
              <>
                <td className="c-st">
                  <Status shape={shapeOf(send)} tone={toneOf(send)}>
                    {wordOf(send)}
                  </Status>
                </td>
                <th scope="row" className="c-to">
                  <Link
                    className="row cut"
                    to="/projects/$projectId/emails/$sendId"
                    params={{ projectId, sendId: send.id }}
                    search={{ campaignId: campaign.id }}
                  >
                    {send.contact.email || send.to[0]}
                  </Link>
                </th>
                <td className="c-sub">
                  <span className="cut muted">{send.reason ?? send.subject}</span>
                </td>
                {hasContacts && (
                  <td className="c-contact">
                    {send.contact.id && (
                      <Elsewhere to="contact" id={send.contact.id} className="above">
                        {m.campaigns_contact()}
                      </Elsewhere>
                    )}
                  </td>
                )}
                <td className="num c-time">
                  <Time at={send.clickedAt ?? send.openedAt ?? send.deliveredAt ?? send.sentAt ?? send.createdAt} />
                </td>
              </>
            )}
          />
          {list.error ? <LoadingFailed error={list.error} onRetry={list.retry} /> : null}
        </>
      )}
    </>
  );
}

function columns(hasContacts: boolean): Column[] {
  return [
    { key: "outcome", label: m.campaigns_outcome(), skeleton: 90, className: "c-st" },
    { key: "to", label: m.campaigns_recipient(), skeleton: 220, className: "c-to" },
    { key: "detail", label: m.campaigns_detail(), skeleton: 240, className: "c-sub" },
    ...(hasContacts ? [{ key: "contact", label: m.campaigns_contact(), skeleton: 50, className: "c-contact" }] : []),
    { key: "time", label: m.campaigns_last(), skeleton: 40, className: "num c-time" },
  ];
}
