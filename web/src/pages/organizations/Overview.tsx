import type { Organization } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { m } from "../../messages/messages.js";
import { count, longTime } from "../../parts/format";
import { Copy, LoadingFailed, Status, Time } from "../../parts/parts";
import { useMayWrite, useProjectId } from "../../session/profile";
import { History } from "./History";
import { connectionsQuery, directoriesQuery, domainsQuery, planQuery, plansQuery } from "./queries";
import type { Tab } from "./routes";
import { valueText } from "./values";
import { connectionLook, directoryLook, domainLook, mainConnection } from "./words";

/** What an organization is, how its people sign in, and what happened last. */
export function Overview({ organization }: { organization: Organization }) {
  return (
    <div className="split">
      <div className="leftcol">
        <FirstSteps organization={organization} />
        <About organization={organization} />
      </div>
      <div className="rightcol">
        <History organization={organization} most={12} />
      </div>
    </div>
  );
}

/** What an organization that nobody belongs to needs next. */
function FirstSteps({ organization: { memberCount, pendingInvitationCount } }: { organization: Organization }) {
  const mayWrite = useMayWrite();
  if (memberCount > 0 || !mayWrite) return null;
  return (
    <div className="note wait trouble">
      <div>
        <p>
          <b>{m.organizations_nobody()}</b>{" "}
          {pendingInvitationCount ? m.organizations_nobody_invited() : m.organizations_nobody_lead()}
        </p>
        <p className="line">
          <TabLink tab="members">{m.organizations_member_add()}</TabLink>
          <TabLink tab="invitations">{m.organizations_invite()}</TabLink>
        </p>
      </div>
    </div>
  );
}

function TabLink({ tab, children }: { tab: Tab; children: ReactNode }) {
  return (
    <Link to="." search={{ tab } as never} resetScroll={false}>
      {children}
    </Link>
  );
}

function About({ organization }: { organization: Organization }) {
  const projectId = useProjectId();
  const { id, slug, externalId, memberCount, pendingInvitationCount, requireMfa, requireSso, createdAt, metadata } =
    organization;
  const domains = useQuery(domainsQuery(projectId, id));
  const connections = useQuery(connectionsQuery(projectId, id));
  const directories = useQuery(directoriesQuery(projectId, id));
  const now = Date.now();
  const plan = useQuery(planQuery(projectId, id));
  const plans = useQuery(plansQuery(projectId));
  const connection = mainConnection(connections.data ?? []);
  const look = connection && connectionLook(connection);
  const planKey = plan.data?.planKey;
  return (
    <section className="sec" aria-labelledby="about">
      <header>
        <h2 id="about">{m.organizations_about()}</h2>
      </header>
      <dl className="facts ruled">
        <dt>{m.organizations_members()}</dt>
        <dd>
          <TabLink tab="members">{count(memberCount)}</TabLink>
          {pendingInvitationCount > 0 && (
            <TabLink tab="invitations">
              {pendingInvitationCount === 1
                ? m.organizations_invited_one()
                : m.organizations_invited_count({ count: count(pendingInvitationCount) })}
            </TabLink>
          )}
        </dd>
        <dt>{m.organizations_domains()}</dt>
        <dd className="states">
          {domains.isPending ? (
            <Waiting />
          ) : domains.isError ? (
            <span className="muted">{m.list_failed()}</span>
          ) : domains.data.length === 0 ? (
            <TabLink tab="domains">{m.organizations_none_yet()}</TabLink>
          ) : (
            domains.data.map((each) => {
              const { shape, tone, word } = domainLook(each);
              return (
                <span key={each.id} className="domain">
                  <TabLink tab="domains">{each.domain}</TabLink>{" "}
                  <Status shape={shape} tone={tone}>
                    {word()}
                  </Status>
                </span>
              );
            })
          )}
        </dd>
        <dt>{m.organizations_sso()}</dt>
        <dd>
          {connections.isPending ? (
            <Waiting />
          ) : look ? (
            <>
              <Status shape={look.shape} tone={look.tone}>
                {look.word()}
              </Status>
              <TabLink tab="sso">{connection.name}</TabLink>
              {requireSso && <span className="muted">{m.organizations_sso_required_short()}</span>}
            </>
          ) : (
            <TabLink tab="sso">{m.organizations_none_yet()}</TabLink>
          )}
        </dd>
        <dt>{m.organizations_directory()}</dt>
        <dd>
          {directories.isPending ? (
            <Waiting />
          ) : directories.isError ? (
            <span className="muted">{m.list_failed()}</span>
          ) : directories.data.length === 0 ? (
            <TabLink tab="directory">{m.organizations_none_yet()}</TabLink>
          ) : (
            directories.data.map((each) => {
              const { shape, tone, word } = directoryLook(each, now);
              return (
                <span key={each.id} className="domain">
                  <TabLink tab="directory">{each.name}</TabLink>{" "}
                  <Status shape={shape} tone={tone}>
                    {word()}
                  </Status>
                </span>
              );
            })
          )}
        </dd>
        <dt>{m.organizations_second_factor()}</dt>
        <dd>{requireMfa ? m.organizations_required() : m.organizations_not_required()}</dd>
        <dt>{m.organizations_plan()}</dt>
        <dd>
          {plan.isPending ? (
            <Waiting />
          ) : (
            <TabLink tab="plan">
              {planKey
                ? (plans.data?.find((each) => each.key === planKey)?.name ?? planKey)
                : m.organizations_plan_none()}
            </TabLink>
          )}
        </dd>
        <dt>{m.organizations_id()}</dt>
        <dd>
          <code>{id}</code>
          <Copy value={id} label={m.organizations_copy_id()} />
        </dd>
        <dt>{m.organizations_slug()}</dt>
        <dd>
          <code>{slug}</code>
        </dd>
        {externalId && (
          <>
            <dt>{m.organizations_external_id()}</dt>
            <dd>
              <code>{externalId}</code>
            </dd>
          </>
        )}
        <dt>{m.organizations_created()}</dt>
        <dd>
          <Time at={createdAt} format={longTime} />
        </dd>
        {Object.entries(metadata).map(([key, value]) => (
          <Datum key={key} name={key} value={value} />
        ))}
      </dl>
      {connections.isError && <LoadingFailed error={connections.error} onRetry={() => void connections.refetch()} />}
    </section>
  );
}

function Waiting() {
  return (
    <>
      <span className="sr">{m.loading()}</span>
      <i className="skel" style={{ width: 90 }} />
    </>
  );
}

function Datum({ name, value }: { name: string; value: unknown }) {
  return (
    <>
      <dt className="breaks">{name}</dt>
      <dd>{typeof value === "string" ? value : <code>{valueText(value) || "null"}</code>}</dd>
    </>
  );
}
