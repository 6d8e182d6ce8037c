import type { CampaignDetail } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { LoadingFailed } from "../../parts/parts";
import { localInput } from "../../parts/when";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { Preview } from "../emails/Preview";
import { formOf } from "./draft";
import { Elsewhere } from "./Elsewhere";
import { LetterPreview } from "./Letter";
import { audienceQuery, recipientsQuery, templateQuery } from "./queries";
import { minutesInWords } from "./words";
import "../emails/emails.css";

/** What is sent to whom: the settings of the campaign, and its message. */
export function Content({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const audience = useQuery(audienceQuery(projectId, campaign.audienceId));
  const template = useQuery(templateQuery(projectId, campaign.templateId ?? ""));
  const isPlanned = campaign.status === "SCHEDULED";
  return (
    <div className="split">
      <section className="sec formcol" aria-labelledby="settings">
        <header>
          <h2 id="settings">{m.campaigns_settings()}</h2>
        </header>
        <dl className="facts">
          <dt>{m.campaigns_audience()}</dt>
          <dd>
            {audience.data ? (
              <Elsewhere to="audience" id={audience.data.id}>
                {audience.data.name}
              </Elsewhere>
            ) : audience.isError || campaign.audienceId === null ? (
              <span className="muted">{m.campaigns_deleted_since()}</span>
            ) : (
              <i className="skel" style={{ width: 120 }} />
            )}
            {campaign.progress.expected > 0 && (
              <span className="muted">{m.campaigns_at_start({ count: count(campaign.progress.expected) })}</span>
            )}
          </dd>
          <dt>{m.campaigns_sender()}</dt>
          <dd>{campaign.fromName ? `${campaign.fromName} <${campaign.fromEmail}>` : campaign.fromEmail}</dd>
          <dt>{m.campaigns_subject()}</dt>
          <dd>{campaign.subject ?? <span className="muted">{m.campaigns_subject_of_template()}</span>}</dd>
          <dt>{m.campaigns_preview_text()}</dt>
          <dd>{campaign.previewText ?? <span className="muted">{m.campaigns_no_preview_text()}</span>}</dd>
          <dt>{m.campaigns_template()}</dt>
          <dd>
            {template.data ? (
              <Elsewhere to="template" id={template.data.id}>
                {template.data.name}
              </Elsewhere>
            ) : campaign.templateId === null || template.isError ? (
              <span className="muted">
                {campaign.variants.length > 0 ? m.campaigns_template_of_variants() : m.campaigns_deleted_since()}
              </span>
            ) : (
              <i className="skel" style={{ width: 120 }} />
            )}
          </dd>
          {campaign.abTestEnabled && (
            <>
              <dt>{m.campaigns_ab()}</dt>
              <dd>
                {m.campaigns_ab_short({
                  count: campaign.variants.length,
                  percent: campaign.abTestSamplePercent ?? 100,
                })}
                {", "}
                {minutesInWords(campaign.abTestDurationMinutes ?? 0)}
              </dd>
            </>
          )}
        </dl>
        <p className="muted foot">{isPlanned ? m.campaigns_fixed_later() : m.campaigns_fixed()}</p>
      </section>
      <div className="sidecol">{isPlanned ? <Planned campaign={campaign} /> : <Sent campaign={campaign} />}</div>
    </div>
  );
}

/** The message as it stands now: a scheduled campaign takes its content when it starts. */
function Planned({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const template = useQuery(templateQuery(projectId, campaign.templateId ?? ""));
  const recipients = useQuery(recipientsQuery(projectId, campaign.audienceId ?? ""));
  return (
    <LetterPreview
      form={formOf(campaign, localInput)}
      template={template.data}
      error={campaign.templateId ? template.error : null}
      contacts={recipients.data?.contacts ?? []}
    />
  );
}

/** A message that was really sent: what the template is now may be something else. */
function Sent({ campaign }: { campaign: CampaignDetail }) {
  const projectId = useProjectId();
  const first = useQuery({
    queryKey: ["campaigns", projectId, "first", campaign.id],
    queryFn: async ({ signal }) => {
      const sends = await api(projectId).campaigns.listSends(campaign.id, { limit: 1 }, { signal });
      return sends.data[0] ?? null;
    },
    refetchInterval: ({ state: { data } }) => (data === null ? 5_000 : false),
  });
  if (first.isError && !first.data) return <LoadingFailed error={first.error} onRetry={() => void first.refetch()} />;
  if (first.data === null) return <p className="muted well blankletter">{m.campaigns_nothing_sent()}</p>;
  if (!first.data) return null;
  const send = first.data;
  return (
    <>
      <p className="muted foot sentto">{m.campaigns_sent_to({ email: send.contact.email || (send.to[0] ?? "") })}</p>
      <div className="inboxline">
        <b className="cut">{send.from}</b>
        <span className="cut ink">{send.subject || m.campaigns_no_subject()}</span>
      </div>
      <Preview of={{ sendId: send.id }} title={send.subject || m.campaigns_no_subject()} />
    </>
  );
}
