import { IconExternalLink } from "@tabler/icons-react";
import type { ReactNode } from "react";
import { m } from "../../messages/messages.js";
import { CodeBox } from "../../parts/CodeBox";
import { CodeTabs } from "../../parts/CodeTabs";
import { pythonOf, typescriptOf } from "../../parts/code";
import { Copy, ICON } from "../../parts/parts";
import { type ApiRequest, curlOf, usePageRequest } from "../../parts/request";
import { useProfile, useProjectId } from "../../session/profile";
import { Tabs } from "./Tabs";

/** Where the API is, how to call it, and what there is to read about it. */
export function Reference() {
  const projectId = useProjectId();
  const { email } = useProfile();
  const request: ApiRequest = {
    method: "POST",
    path: `/projects/${projectId}/emails`,
    body: { from: "Acme <hello@example.com>", to: [email], subject: "Hello", text: "It works." },
  };
  usePageRequest(request);
  const url = location.origin;
  const place = { url };
  const environment = `export POSTERN_URL=${url}
export POSTERN_PROJECT=${projectId}
export POSTERN_KEY=sk_…`;
  return (
    <main id="main" className="page developers reference">
      <div className="head">
        <h1>{m.developers()}</h1>
      </div>
      <Tabs current="api" />
      <div className="split">
        <div className="main">
          <section className="sec" aria-labelledby="where">
            <header>
              <h2 id="where">{m.developers_where()}</h2>
            </header>
            <dl className="facts">
              <dt>{m.developers_base_url()}</dt>
              <dd>
                <code>{url}</code> <Copy value={url} label={m.developers_copy_url()} />
              </dd>
              <dt>{m.developers_project_id()}</dt>
              <dd>
                <code>{projectId}</code> <Copy value={projectId} label={m.developers_copy_project()} />
              </dd>
            </dl>
            <Command label={m.developers_environment()}>{environment}</Command>
            <p className="muted">{m.developers_environment_lead()}</p>
          </section>
          <section className="sec" aria-labelledby="first">
            <header>
              <h2 id="first">{m.developers_first_call()}</h2>
              <p>{m.developers_first_call_lead()}</p>
            </header>
            <CodeTabs
              label={m.developers_send_email()}
              codes={{
                curl: curlOf(request),
                typescript: typescriptOf(request, place),
                python: pythonOf(request, place),
              }}
            />
          </section>
          <section className="sec" aria-labelledby="line">
            <header>
              <h2 id="line">{m.developers_command_line()}</h2>
              <p>{m.developers_command_line_lead()}</p>
            </header>
            <Command label={m.developers_tail()}>postern tail</Command>
            <Command label={m.developers_listen()}>postern listen --forward http://localhost:3000/hook</Command>
          </section>
        </div>
        <div className="aside">
          <section className="sec" aria-labelledby="read">
            <header>
              <h2 id="read">{m.developers_read()}</h2>
            </header>
            <ul className="list">
              <Page href="/docs" title={m.api_reference()}>
                {m.developers_docs_lead()}
              </Page>
              <Page href="/openapi.json" title="OpenAPI 3.1">
                {m.developers_openapi_lead()}
              </Page>
              <Page href="/guide" title={m.developers_guides()}>
                {m.developers_guides_lead()}
              </Page>
              <Page href="/guide/events" title={m.developers_catalogue()}>
                {m.developers_catalogue_lead()}
              </Page>
              <Page href="/guide/errors" title={m.developers_errors()}>
                {m.developers_errors_lead()}
              </Page>
            </ul>
          </section>
          <section className="sec" aria-labelledby="clients">
            <header>
              <h2 id="clients">{m.developers_clients()}</h2>
            </header>
            <Command label="TypeScript">npm install @postern/sdk</Command>
            <p>
              <Guide path="sdk-typescript">{m.developers_guide_typescript()}</Guide>
            </p>
            <Command label="Python">pip install postern-sdk</Command>
            <p>
              <Guide path="sdk-python">{m.developers_guide_python()}</Guide>
            </p>
            <p className="muted">
              {m.developers_compat()} <Guide path="resend">Resend</Guide>, <Guide path="sendgrid">SendGrid</Guide>,{" "}
              <Guide path="postmark">Postmark</Guide>.
            </p>
          </section>
        </div>
      </div>
    </main>
  );
}

function Guide({ path, children }: { path: string; children: ReactNode }) {
  return (
    <a href={`/guide/${path}`} target="_blank" rel="noreferrer">
      {children}
    </a>
  );
}

function Page({ href, title, children }: { href: string; title: string; children: ReactNode }) {
  return (
    <li>
      <p className="grow">
        <a href={href} target="_blank" rel="noreferrer">
          {title}
        </a>
        <br />
        <span className="muted">{children}</span>
      </p>
      <IconExternalLink {...ICON} />
    </li>
  );
}

function Command({ label, children }: { label: string; children: string }) {
  return (
    <div className="command">
      <p className="label">{label}</p>
      <div>
        <CodeBox label={label}>{children}</CodeBox>
        <Copy value={children} />
      </div>
    </div>
  );
}
