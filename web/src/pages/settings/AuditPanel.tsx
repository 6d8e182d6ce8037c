import type { AccountAuditEntry } from "@postern/sdk";
import { useIsFetching } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useNeighbours } from "../../lists/neighbours";
import { Panel } from "../../lists/Panel";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { Copy, Empty, Time } from "../../parts/parts";
import { queryString, usePageRequest } from "../../parts/request";
import { useProfile, useProjectId } from "../../session/profile";
import { actorOf, detailsOf } from "./audit";
import { actionWords } from "./auditWords";

/** One change: who, from where, and what it was before. */
export function AuditPanel() {
  const projectId = useProjectId();
  const { projects } = useProfile();
  const entry = useNeighbours().row as AccountAuditEntry | undefined;
  const isLoading = useIsFetching({ queryKey: ["settings", projectId, "audit"] }) > 0;
  usePageRequest(
    entry && { method: "GET", path: `/account/audit-log${queryString({ targetId: entry.targetId ?? undefined })}` },
  );
  if (!entry) {
    return (
      <Panel label={m.settings_audit_entry()} actions={null} busy={isLoading}>
        {!isLoading && <Empty title={m.settings_audit_gone()} lead={m.settings_audit_gone_lead()} />}
      </Panel>
    );
  }
  const details = detailsOf(entry);
  const project = projects.find((each) => each.id === entry.projectId);
  return (
    <Panel label={actionWords(entry.action)} actions={null}>
      <header className="subject">
        <h2>{actionWords(entry.action)}</h2>
        <dl className="facts">
          <dt>{m.settings_audit_when()}</dt>
          <dd>
            <Time at={entry.createdAt} format={longTime} />
          </dd>
          <dt>{m.settings_audit_who()}</dt>
          <dd>
            {actorOf(entry)}
            {entry.actorId && (
              <Link
                to="/projects/$projectId/settings/audit-log"
                params={{ projectId }}
                search={{ who: entry.actorId, where: "account" }}
              >
                {m.settings_audit_all_by()}
              </Link>
            )}
          </dd>
          {entry.impersonatedByStaffEmail && (
            <>
              <dt>{m.settings_audit_on_behalf()}</dt>
              <dd>{entry.impersonatedByStaffEmail}</dd>
            </>
          )}
          {entry.ipAddress && (
            <>
              <dt>{m.settings_audit_ip()}</dt>
              <dd>
                <code>{entry.ipAddress}</code>
              </dd>
            </>
          )}
          <dt>{m.settings_audit_where()}</dt>
          <dd>
            {entry.projectId ? (project?.name ?? m.settings_audit_gone_project()) : m.settings_audit_in_account()}
          </dd>
          {entry.targetId && (
            <>
              <dt>{m.settings_audit_record()}</dt>
              <dd className="id">
                <code>
                  {entry.targetType} {entry.targetId}
                </code>
                <Copy value={entry.targetId} label={m.settings_id_copy()} />
              </dd>
            </>
          )}
        </dl>
      </header>
      <section className="changes" aria-label={m.settings_audit_details()}>
        <h3>{m.settings_audit_details()}</h3>
        {details.length === 0 ? (
          <p className="muted">{m.settings_audit_no_details()}</p>
        ) : (
          <dl className="facts">
            {details.map(({ name, value, before }) => (
              <div key={name} className="fact">
                <dt>{name}</dt>
                <dd>
                  {before !== undefined && (
                    <>
                      <del>
                        <span className="sr">{m.settings_detail_before()}: </span>
                        {before}
                      </del>
                      <span aria-hidden="true">→</span>
                    </>
                  )}
                  {before === undefined ? value : <ins>{value}</ins>}
                </dd>
              </div>
            ))}
          </dl>
        )}
      </section>
      <details className="raw">
        <summary>{m.settings_audit_raw()}</summary>
        {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls is reached with the keyboard. */}
        <pre className="code" tabIndex={0} aria-label={m.settings_audit_raw()} role="region">
          {JSON.stringify(entry, null, 2)}
        </pre>
      </details>
    </Panel>
  );
}
