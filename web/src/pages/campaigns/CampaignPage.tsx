import { notifications } from "@mantine/notifications";
import type { Campaign, CampaignDetail } from "@postern/sdk";
import { APIError } from "@postern/sdk";
import { IconPlayerPause, IconPlayerPlay } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { PAGE_ROWS } from "../../lists/rows";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { count, longTime } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed } from "../../parts/parts";
import { queryString, usePageRequest } from "../../parts/request";
import { useLive } from "../../session/live";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { Compose } from "./Compose";
import { Content } from "./Content";
import { Crumb, MoreActions, StatePill } from "./Head";
import { partsOf } from "./numbers";
import { Progress } from "./Progress";
import { CAMPAIGN_EVENTS, campaignQuery, isDraft, isRunning } from "./queries";
import { Recipients } from "./Recipients";
import { Results } from "./Results";
import { TABS } from "./routes";
import { Scheduled } from "./Scheduled";
import { TestDialog } from "./TestDialog";
import "../../lists/lists.css";
import "./campaigns.css";

const page = getRouteApi("/session/projects/$projectId/campaigns/$campaignId");

/** One campaign: a draft to write, one that waits or is being sent, or what came of it. */
export function CampaignPage() {
  const projectId = useProjectId();
  const { campaignId } = page.useParams();
  const { tab, outcome } = page.useSearch();
  const client = useQueryClient();
  const query = useQuery(campaignQuery(projectId, campaignId));
  useLive(projectId, CAMPAIGN_EVENTS, (event) => {
    if (event.subjectId === campaignId)
      void client.invalidateQueries({ queryKey: campaignQuery(projectId, campaignId).queryKey });
  });
  const path = `/projects/${projectId}/campaigns/${encodeURIComponent(campaignId)}`;
  const sends = `/sends${queryString({ status: outcome, limit: PAGE_ROWS })}`;
  usePageRequest({ method: "GET", path: tab === "recipients" ? path + sends : path });
  if (query.isError && !query.data) {
    const isMissing = query.error instanceof APIError && [400, 404].includes(query.error.status);
    return (
      <main id="main" className="page campaign">
        <Crumb />
        <div className="head">
          <h1>{m.campaigns_one()}</h1>
        </div>
        {isMissing ? (
          <Empty title={m.campaigns_missing()} lead={m.campaigns_missing_lead()}>
            <Link className="btn" to="/projects/$projectId/campaigns" params={{ projectId }}>
              {m.campaigns_to_list()}
            </Link>
          </Empty>
        ) : (
          <LoadingFailed title={m.page_failed()} error={query.error} onRetry={() => void query.refetch()} />
        )}
      </main>
    );
  }
  if (!query.data) {
    return (
      <main id="main" className="page campaign" aria-busy="true">
        <Crumb />
        <div className="head">
          <h1>
            <span className="sr">{m.loading()}</span>
            <i className="skel" style={{ width: 260, height: 16 }} />
          </h1>
        </div>
      </main>
    );
  }
  // A draft that is sent becomes another page; what was typed in it is gone then.
  return isDraft(query.data) ? (
    <Compose campaign={query.data} key={query.data.id} />
  ) : (
    <Started campaign={query.data} key={query.data.id} />
  );
}

/** A campaign that can no longer be written: it waits for its time, is being sent, or has ended. */
function Started({ campaign }: { campaign: CampaignDetail }) {
  const { tab } = page.useSearch();
  const [isTesting, setTesting] = useState(false);
  const isScheduled = campaign.status === "SCHEDULED";
  const total = campaign.stats.total;
  return (
    <main id="main" className="page campaign">
      <Crumb name={campaign.name} />
      <div className="head">
        <h1>{campaign.name}</h1>
        <StatePill campaign={campaign} />
        <div className="acts">
          <StateActions campaign={campaign} />
          <MoreActions campaign={campaign} onTest={() => setTesting(true)} />
        </div>
      </div>
      {isScheduled ? (
        <>
          <Scheduled campaign={campaign} />
          <Content campaign={campaign} />
        </>
      ) : (
        <>
          <Progress campaign={campaign} />
          <nav className="tabs" aria-label={m.campaigns_parts()}>
            {[undefined, ...TABS].map((each) => (
              <Link
                key={each ?? "results"}
                to="."
                search={(before: object) => ({ ...before, tab: each, outcome: undefined }) as never}
                replace
                resetScroll={false}
                activeOptions={{ exact: true, explicitUndefined: true }}
                aria-current={each === tab ? "page" : undefined}
              >
                {TAB_WORDS[each ?? "results"]()}
                {each === "recipients" && total > 0 && <span className="count">{count(total)}</span>}
              </Link>
            ))}
          </nav>
          {tab === "recipients" ? (
            <Recipients campaign={campaign} />
          ) : tab === "content" ? (
            <Content campaign={campaign} />
          ) : (
            <Results campaign={campaign} />
          )}
        </>
      )}
      {isTesting && <TestDialog campaign={campaign} onClose={() => setTesting(false)} />}
    </main>
  );
}

const TAB_WORDS = {
  results: m.campaigns_results,
  recipients: m.campaigns_recipients,
  content: m.campaigns_content,
} as const;

/** Pause, resume and cancel, as the state of the campaign allows. */
function StateActions({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const [isBusy, setBusy] = useState(false);
  const [isCancelling, setCancelling] = useState(false);
  if (!mayWrite) return null;
  const { status, progress } = campaign;
  const refresh = () => client.invalidateQueries({ queryKey: ["campaigns", projectId] });
  const change = async (run: () => Promise<Campaign>, failed: (reason: { reason: string }) => string) => {
    setBusy(true);
    try {
      await run();
    } catch (error) {
      notifications.show({ message: failed({ reason: messageOf(error) }) });
    } finally {
      // The result, or the state for which it was refused.
      await refresh();
      setBusy(false);
    }
  };
  const isStoppable = isRunning(campaign) || status === "PAUSED";
  const retries = status === "SENT" ? progress.retrying : 0;
  if (!isStoppable && retries === 0) return null;
  const { accepted, bounced, waiting, rest } = partsOf(campaign);
  const lead: ReactNode =
    retries > 0
      ? m.campaigns_stop_retries_lead({ count: count(retries) })
      : m.campaigns_cancel_lead({ sent: count(accepted + bounced), left: count(waiting + rest) });
  return (
    <>
      {isRunning(campaign) && (
        <Button
          busy={isBusy}
          icon={<IconPlayerPause {...ICON} />}
          onClick={() => void change(() => api(projectId).campaigns.pause(campaign.id), m.campaigns_pause_failed)}
        >
          {m.campaigns_pause()}
        </Button>
      )}
      {status === "PAUSED" && (
        <Button
          kind="primary"
          busy={isBusy}
          icon={<IconPlayerPlay {...ICON} />}
          onClick={() => void change(() => api(projectId).campaigns.resume(campaign.id), m.campaigns_resume_failed)}
        >
          {m.campaigns_resume()}
        </Button>
      )}
      <Button kind="danger" onClick={() => setCancelling(true)}>
        {retries > 0 ? m.campaigns_stop_retries_open() : m.campaigns_cancel_open()}
      </Button>
      {isCancelling && (
        <ConfirmDialog
          title={retries > 0 ? m.campaigns_stop_retries_title() : m.campaigns_cancel_title({ name: campaign.name })}
          deed={retries > 0 ? m.campaigns_stop_retries() : m.campaigns_cancel()}
          keep={m.campaigns_cancel_keep()}
          onClose={() => setCancelling(false)}
          run={async () => {
            try {
              await api(projectId).campaigns.cancel(campaign.id);
            } finally {
              void refresh();
            }
            notifications.show({ message: m.campaigns_cancelled({ time: longTime(new Date().toISOString()) }) });
          }}
        >
          <p>{lead}</p>
        </ConfirmDialog>
      )}
    </>
  );
}
