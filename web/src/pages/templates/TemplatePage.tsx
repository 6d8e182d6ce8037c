import "./templates.css";
import { notifications } from "@mantine/notifications";
import { APIError, type Template } from "@postern/sdk";
import { IconCopyPlus, IconTerminal2, IconTrash } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { bytes, longTime } from "../../parts/format";
import { Button, Copy, Empty, ICON, LoadingFailed, Time } from "../../parts/parts";
import { type ApiRequest, copyCurl, usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { dropDraft, hasDraft } from "./drafts";
import { Preview, useRendered } from "./Preview";
import { templateQuery, useUsage } from "./queries";
import { SampleData } from "./SampleData";
import { keepSample, keptSample, variablesOf } from "./sample";
import { Versions } from "./Versions";

const TestDialog = lazy(() => import("./TestDialog"));
const page = getRouteApi("/session/projects/$projectId/templates/$templateId");

/** Bytes of HTML after which Gmail cuts a message. */
const GMAIL_BYTES = 102_400;

/** One template: what it looks like, with which data, its versions, and what sends it. */
export function TemplatePage() {
  const projectId = useProjectId();
  const { templateId } = page.useParams();
  const query = useQuery(templateQuery(projectId, templateId));
  if (query.data) return <Found key={templateId} template={query.data} />;
  return (
    <main id="main" className="page template" aria-busy={query.isPending || undefined}>
      <Crumb />
      {query.isError &&
        (query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.templates_missing_title()} lead={m.templates_missing_lead()} />
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={() => void query.refetch()} />
        ))}
    </main>
  );
}

function Crumb() {
  const projectId = useProjectId();
  return (
    <p className="crumb">
      <Link to="/projects/$projectId/templates" params={{ projectId }}>
        {m.templates()}
      </Link>
    </p>
  );
}

function Found({ template }: { template: Template }) {
  const projectId = useProjectId();
  const { tab } = page.useSearch();
  const navigate = useNavigate();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const users = useUsage(projectId).data?.of(template.id) ?? [];
  const [typed, setTyped] = useState(() => keptSample(template.id));
  const [dialog, setDialog] = useState<"" | "test" | "delete">("");
  const [isCopying, setCopying] = useState(false);
  const { subject, html, text, engine } = template;
  const variables = variablesOf(template.variables, typed);
  const rendered = useRendered({ subject, html, text, engine, variables });
  const request: ApiRequest = { method: "GET", path: `/projects/${projectId}/templates/${template.id}` };
  const type = (next: Record<string, string>) => {
    setTyped(next);
    keepSample(template.id, next);
  };
  const duplicate = async () => {
    setCopying(true);
    try {
      const copy = await api(projectId).templates.duplicate(template.id);
      void client.invalidateQueries({ queryKey: ["templates", projectId] });
      await navigate({
        to: "/projects/$projectId/templates/$templateId",
        params: { projectId, templateId: copy.id },
      });
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    }
    setCopying(false);
  };
  return (
    <main id="main" className="page template">
      <Crumb />
      <div className="head">
        <h1 className="cut">{template.name}</h1>
        <div className="acts">
          <button
            type="button"
            className="iconbtn wide"
            aria-label={m.copy_as_curl()}
            title={m.copy_as_curl()}
            onClick={() => void copyCurl(request)}
          >
            <IconTerminal2 {...ICON} />
          </button>
          {mayWrite && (
            <>
              <button
                type="button"
                className="iconbtn"
                aria-label={m.templates_duplicate()}
                title={m.templates_duplicate()}
                aria-busy={isCopying || undefined}
                disabled={isCopying}
                onClick={() => void duplicate()}
              >
                <IconCopyPlus {...ICON} />
              </button>
              <button
                type="button"
                className="iconbtn"
                aria-label={m.templates_delete()}
                title={m.templates_delete()}
                onClick={() => setDialog("delete")}
              >
                <IconTrash {...ICON} />
              </button>
              <Button disabled={!rendered.data || rendered.data.problems.length > 0} onClick={() => setDialog("test")}>
                {m.templates_test()}
              </Button>
              <Link
                className="btn primary"
                to="/projects/$projectId/templates/$templateId/edit"
                params={{ projectId, templateId: template.id }}
              >
                {hasDraft(template.id) ? m.templates_edit_draft() : m.templates_edit()}
              </Link>
            </>
          )}
        </div>
      </div>
      <nav className="tabs" aria-label={m.list_parts()}>
        {(
          [
            [undefined, m.templates_preview(), 0],
            ["versions", m.templates_versions(), template.version],
            ["usage", m.templates_used_by(), users.length],
          ] as const
        ).map(([name, label, number]) => (
          <Link
            key={label}
            to="."
            search={name ? { tab: name } : {}}
            replace
            resetScroll={false}
            activeOptions={{ exact: true, explicitUndefined: true }}
            aria-current={tab === name ? "page" : undefined}
          >
            {label}
            {number > 0 && <span className="count">{number}</span>}
          </Link>
        ))}
      </nav>
      {tab === "versions" ? (
        <Versions template={template} typed={typed} />
      ) : tab === "usage" ? (
        <UsedBy template={template} />
      ) : (
        <div className="parts">
          <PageRequest request={request} />
          <Preview
            of={rendered.data}
            error={rendered.isError ? rendered.error : undefined}
            onRetry={() => void rendered.refetch()}
            title={m.templates_preview_of({ name: template.name })}
          />
          <aside aria-label={m.templates_sample()}>
            <section className="sec">
              <header>
                <h2>{m.templates_sample()}</h2>
              </header>
              <SampleData names={template.variables} typed={typed} onType={type} />
            </section>
            <section className="sec">
              <header>
                <h2>{m.templates_facts()}</h2>
              </header>
              <dl className="facts">
                <dt>{m.templates_changed()}</dt>
                <dd>
                  <Time at={template.updatedAt} format={longTime} />
                </dd>
                <dt>{m.templates_written_as()}</dt>
                <dd>{kindOf(template)}</dd>
                <dt>{m.templates_text()}</dt>
                <dd>{template.text === null ? m.templates_text_derived() : m.templates_text_own()}</dd>
                {rendered.data?.html && (
                  <>
                    <dt>{m.templates_size()}</dt>
                    <dd>
                      <Size html={rendered.data.html} />
                    </dd>
                  </>
                )}
                <dt>{m.templates_id()}</dt>
                <dd className="id">
                  <code className="cut">{template.id}</code>
                  <Copy value={template.id} label={m.templates_copy_id()} />
                </dd>
              </dl>
            </section>
          </aside>
        </div>
      )}
      {dialog === "test" && rendered.data && (
        <Suspense>
          <TestDialog mail={rendered.data} onClose={() => setDialog("")} />
        </Suspense>
      )}
      {dialog === "delete" && (
        <ConfirmDialog
          title={m.templates_delete_title({ name: template.name })}
          deed={m.templates_delete()}
          keep={m.templates_keep()}
          onClose={() => setDialog("")}
          run={async () => {
            await api(projectId).templates.delete(template.id);
            dropDraft(template.id);
            notifications.show({ message: m.templates_deleted({ name: template.name }) });
            void client.invalidateQueries({ queryKey: ["templates", projectId] });
            await navigate({ to: "/projects/$projectId/templates", params: { projectId } });
          }}
        >
          <p>{m.templates_delete_lead()}</p>
        </ConfirmDialog>
      )}
    </main>
  );
}

/** The request of the page, while no tab has one of its own. */
function PageRequest({ request }: { request: ApiRequest }) {
  usePageRequest(request);
  return null;
}

/** What a template was written as. */
function kindOf({ builderJson, html }: Template): string {
  if (Array.isArray(builderJson?.blocks)) return m.templates_kind_blocks();
  if (builderJson) return "MJML";
  return html === null ? m.templates_kind_text() : "HTML";
}

function Size({ html }: { html: string }) {
  const size = new TextEncoder().encode(html).length;
  if (size <= GMAIL_BYTES) return bytes(size);
  return (
    <span className="st bad">
      <Glyph shape="attention" />
      <span className="w">{m.templates_too_long({ size: bytes(size) })}</span>
    </span>
  );
}

const STATES: Record<string, () => string> = {
  DRAFT: m.templates_state_draft,
  SCHEDULED: m.templates_state_scheduled,
  TESTING: m.templates_state_sending,
  SENDING: m.templates_state_sending,
  PAUSED: m.templates_state_paused,
  SENT: m.templates_state_sent,
  CANCELLED: m.templates_state_cancelled,
  FAILED: m.templates_state_failed,
  ON: m.templates_state_on,
  OFF: m.templates_state_off,
};

/** The campaigns and automations that send a template. */
function UsedBy({ template }: { template: Template }) {
  const projectId = useProjectId();
  const usage = useUsage(projectId);
  usePageRequest({ method: "GET", path: `/projects/${projectId}/campaigns` });
  if (usage.isError && !usage.data) return <LoadingFailed error={usage.error} onRetry={() => void usage.refetch()} />;
  if (!usage.data) return <p className="muted waits">{m.loading()}</p>;
  const users = usage.data.of(template.id);
  return (
    <div className="usage">
      {users.length ? (
        <table className="table plain">
          <caption className="sr">{m.templates_used_by()}</caption>
          <thead>
            <tr>
              <th scope="col">{m.templates_name()}</th>
              <th scope="col">{m.templates_user_kind()}</th>
              <th scope="col">{m.templates_user_state()}</th>
            </tr>
          </thead>
          <tbody>
            {users.map((each) => (
              <tr key={each.id}>
                <th scope="row">
                  {each.kind === "campaign" ? (
                    <Link to="/projects/$projectId/campaigns/$campaignId" params={{ projectId, campaignId: each.id }}>
                      {each.name}
                    </Link>
                  ) : (
                    each.name
                  )}
                </th>
                <td>{each.kind === "campaign" ? m.templates_campaign() : m.templates_automation()}</td>
                <td>{STATES[each.state]?.() ?? each.state}</td>
              </tr>
            ))}
          </tbody>
        </table>
      ) : (
        <Empty title={m.templates_unused()} lead={m.templates_unused_lead()} />
      )}
      {usage.data.isPartial && <p className="muted">{m.templates_usage_partial()}</p>}
      <p className="muted">{m.templates_usage_lead()}</p>
    </div>
  );
}
