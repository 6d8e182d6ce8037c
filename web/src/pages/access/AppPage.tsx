import "../../lists/lists.css";
import "../settings/settings.css";
import "./access.css";
import { Modal } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import type { OAuthClient, OAuthClientWithSecret } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { type FormEvent, lazy, type ReactNode, Suspense, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { permissionsQuery } from "../../parts/accessQueries";
import { CodeTabs } from "../../parts/CodeTabs";
import { CopyRequest } from "../../parts/CopyRequest";
import { longTime } from "../../parts/format";
import { Button, Copy, Empty, Field, LoadingFailed, Pill, Time } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useReturnFocus } from "../../parts/returnFocus";
import { TypedConfirm } from "../../parts/TypedConfirm";
import { Wrong } from "../../parts/Wrong";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { isMissing } from "../customers/queries";
import { DIALOG, LoadingRows, ReadOnly, useMay } from "../settings/pieces";
import { codesOf, flowsOf } from "./appCode";
import { appQuery, appsQuery, providerQuery } from "./appQueries";
import { draftOfApp } from "./apps";
import { AUTHENTICATION_WORDS, environmentLook, FLOW_WORDS, grantWord, scopeWord, typeWord } from "./appWords";

const dialogs = () => import("./AppDialog");
const AppDialog = lazy(dialogs);
const SecretModal = lazy(async () => ({ default: (await dialogs()).SecretModal }));

const page = getRouteApi("/session/projects/$projectId/access/apps/$clientId");

const HOUR_SECONDS = 3_600;
/** Hours for which the old secret works, too. */
const GRACES = [0, 1, 24, 72, 168] as const;

/** The URLs of the provider beside the issuer, by their names in its configuration. */
const ENDPOINTS: [string, () => string][] = [
  ["authorization_endpoint", m.access_app_url_authorize],
  ["token_endpoint", m.access_app_url_token],
  ["userinfo_endpoint", m.access_app_url_userinfo],
  ["jwks_uri", m.access_app_url_keys],
  ["end_session_endpoint", m.access_app_url_logout],
  ["revocation_endpoint", m.access_app_url_revoke],
  ["introspection_endpoint", m.access_app_url_introspect],
  ["pushed_authorization_request_endpoint", m.access_app_url_push],
  ["device_authorization_endpoint", m.access_app_url_device],
];

/** One app: the values that it needs, code that uses them, and what it may do. */
export function AppPage() {
  const projectId = useProjectId();
  const { clientId } = page.useParams();
  // While it is deleted here, it is not read any more.
  const [isLeaving, setLeaving] = useState(false);
  const query = useQuery({ ...appQuery(projectId, clientId), enabled: !isLeaving });
  const request = { method: "GET" as const, path: `/projects/${projectId}/oauth-clients/${clientId}` };
  usePageRequest(request);
  if (query.data) return <Loaded key={clientId} app={query.data} onLeaving={setLeaving} />;
  const isGone = query.isError && isMissing(query.error);
  return (
    <main id="main" className="page access oneapp" aria-busy={query.isPending || undefined}>
      <Crumb />
      <div className="head">
        <h1>
          {query.isPending ? (
            <>
              <span className="sr">{m.loading()}</span>
              <i className="skel" style={{ width: 260, height: 16 }} />
            </>
          ) : (
            m.access_app_one()
          )}
        </h1>
      </div>
      {isGone ? (
        <Empty title={m.access_app_missing()} lead={m.access_app_missing_lead()}>
          <Link className="btn" to="/projects/$projectId/access" params={{ projectId }} search={{ tab: "apps" }}>
            {m.access_app_to_list()}
          </Link>
        </Empty>
      ) : (
        query.isError && (
          <LoadingFailed title={m.page_failed()} error={query.error} onRetry={() => void query.refetch()} />
        )
      )}
    </main>
  );
}

function Crumb({ name }: { name?: string }) {
  const projectId = useProjectId();
  return (
    <p className="crumb cut">
      <Link to="/projects/$projectId/access" params={{ projectId }} activeOptions={{ exact: true }}>
        {m.access()}
      </Link>
      {" / "}
      <Link to="/projects/$projectId/access" params={{ projectId }} search={{ tab: "apps" }}>
        {m.access_tab_apps()}
      </Link>
      {name && ` / ${name}`}
    </p>
  );
}

function Loaded({ app, onLeaving }: { app: OAuthClient; onLeaving: (isLeaving: boolean) => void }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const navigate = useNavigate();
  const mayWrite = useMay("projects");
  const [dialog, setDialog] = useState<"" | "edit" | "rotate" | "delete">("");
  const [rotated, setRotated] = useState<{ app: OAuthClientWithSecret; hours: number }>();
  const { id, name } = app;
  const { shape, word } = environmentLook(app);
  const path = `/projects/${projectId}/oauth-clients/${id}`;
  const close = () => setDialog("");
  return (
    <main id="main" className="page access oneapp">
      <Crumb name={name} />
      <div className="head">
        <h1 className="cut" title={name}>
          {name}
        </h1>
        <Pill shape={shape} tone={app.environment === "TEST" ? "" : "good"}>
          {word}
        </Pill>
        <div className="acts">
          <CopyRequest request={{ method: "GET", path }} icon />
          {mayWrite && <Button onClick={() => setDialog("edit")}>{m.access_edit()}</Button>}
        </div>
      </div>
      <div className="settings body">
        <ReadOnly what="projects" />
        {app.environment === "TEST" && (
          <div className="note">
            <Glyph shape="off" />
            <p>{m.access_app_test_note()}</p>
          </div>
        )}
        <Part title={m.access_app_connect()} lead={m.access_app_connect_lead()}>
          <Values app={app} onRotate={mayWrite ? () => setDialog("rotate") : undefined} />
        </Part>
        {flowsOf(app).length > 0 && (
          <Part title={m.access_app_code()} lead={m.access_app_code_lead()}>
            <div className="flows">
              {flowsOf(app).map((flow) => (
                <CodeTabs key={flow} label={FLOW_WORDS[flow]()} codes={codesOf(app, flow)} />
              ))}
            </div>
            <p className="muted">
              <a href="/guide/openid-provider" target="_blank" rel="noreferrer">
                {m.access_app_guide()}
              </a>
            </p>
          </Part>
        )}
        <Part
          title={m.access_app_rights()}
          actions={
            mayWrite && (
              <Button kind="bare" size="small" onClick={() => setDialog("edit")}>
                {m.access_edit()}
              </Button>
            )
          }
        >
          <Rights app={app} />
        </Part>
        {mayWrite && (
          <Part title={m.access_app_delete_title({ name })} lead={m.access_app_delete_lead()}>
            <p>
              <Button kind="danger" onClick={() => setDialog("delete")}>
                {m.access_app_delete()}
              </Button>
            </p>
          </Part>
        )}
      </div>
      <Suspense>
        {dialog === "edit" && <AppDialog app={app} onClose={close} />}
        {dialog === "rotate" && !rotated && (
          <RotateDialog app={app} onClose={close} onRotated={(next, hours) => setRotated({ app: next, hours })} />
        )}
        {rotated && (
          <SecretModal
            app={rotated.app}
            lead={
              rotated.hours
                ? m.access_app_rotated({
                    when: longTime(
                      new Date(Date.parse(rotated.app.updatedAt) + rotated.hours * HOUR_SECONDS * 1000).toISOString(),
                    ),
                  })
                : m.access_app_rotated_now()
            }
            onClose={() => {
              setRotated(undefined);
              close();
            }}
          />
        )}
      </Suspense>
      {dialog === "delete" && (
        <TypedConfirm
          title={m.access_app_delete_title({ name })}
          name={name}
          deed={m.access_app_delete()}
          onClose={close}
          run={async () => {
            onLeaving(true);
            try {
              await api(projectId).oauthClients.delete(id);
            } catch (error) {
              onLeaving(false);
              throw error;
            }
            client.setQueryData(appsQuery(projectId).queryKey, (old) => old?.filter((each) => each.id !== id));
            await navigate({ to: "/projects/$projectId/access", params: { projectId }, search: { tab: "apps" } });
            client.removeQueries({ queryKey: appQuery(projectId, id).queryKey });
            notifications.show({ message: m.access_deleted({ name }) });
          }}
        >
          <p>{m.access_app_delete_lead()}</p>
          <p>{m.access_app_delete_tokens()}</p>
        </TypedConfirm>
      )}
    </main>
  );
}

/** A part of the page, below its title. */
function Part({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: string;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="block" aria-label={title}>
      <header>
        <div>
          <h2>{title}</h2>
          {lead && <p className="muted">{lead}</p>}
        </div>
        {actions && <div className="acts">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** A name and a value that is copied as a whole. */
function Value({ name, value, children }: { name: string; value: string; children?: ReactNode }) {
  return (
    <div className="fact">
      <dt>{name}</dt>
      <dd>
        <code>{value}</code> <Copy value={value} label={m.access_app_copy_value({ what: name })} />
        {children}
      </dd>
    </div>
  );
}

/** What is entered in the app or given to its library. */
function Values({ app, onRotate }: { app: OAuthClient; onRotate: (() => void) | undefined }) {
  const projectId = useProjectId();
  const provider = useQuery(providerQuery(projectId));
  const { clientId, issuer, secretLastFour } = app;
  return (
    <>
      <dl className="facts">
        <Value name={m.access_app_client_id()} value={clientId} />
        <div className="fact">
          <dt>{m.access_app_secret()}</dt>
          <dd>
            {secretLastFour ? (
              <>
                <code>ocs_…{secretLastFour}</code>
                {onRotate && (
                  <Button kind="bare" size="small" onClick={onRotate}>
                    {m.access_app_rotate()}
                  </Button>
                )}
              </>
            ) : app.jwks || app.jwksUri ? (
              <span className="muted">{m.access_app_secret_keys()}</span>
            ) : app.type === "PUBLIC" ? (
              <span className="muted">{m.access_app_secret_none()}</span>
            ) : (
              <>
                <span className="muted">{m.access_none()}</span>
                {onRotate && (
                  <Button kind="bare" size="small" onClick={onRotate}>
                    {m.access_app_rotate()}
                  </Button>
                )}
              </>
            )}
          </dd>
        </div>
        <Value name={m.access_issuer()} value={issuer} />
        <Value name={m.access_app_discovery()} value={`${issuer}/.well-known/openid-configuration`} />
      </dl>
      <details className="endpoints">
        <summary>{m.access_app_urls()}</summary>
        {provider.isPending ? (
          <LoadingRows count={3} />
        ) : provider.data === undefined ? (
          <LoadingFailed error={provider.error} onRetry={() => void provider.refetch()} />
        ) : (
          <dl className="facts">
            {ENDPOINTS.map(([key, name]) => {
              const url = provider.data[key];
              return typeof url === "string" ? <Value key={key} name={name()} value={url} /> : null;
            })}
          </dl>
        )}
      </details>
    </>
  );
}

/** What an app may do, whom it asks, and where it sends the browser. */
function Rights({ app }: { app: OAuthClient }) {
  const projectId = useProjectId();
  const permissions = useQuery(permissionsQuery(projectId));
  const meaningOf = (scope: string) =>
    scopeWord(scope) ?? permissions.data?.find((each) => each.key === scope)?.description ?? "";
  const links: [string, string | null][] = [
    [m.access_app_website(), app.websiteUrl],
    [m.access_app_privacy(), app.privacyUrl],
    [m.access_app_terms(), app.termsUrl],
  ];
  return (
    <dl className="facts">
      <dt>{m.access_app_type()}</dt>
      <dd>{typeWord(app)}</dd>
      <dt>{m.access_app_does()}</dt>
      <dd>{app.grantTypes.map(grantWord).join(", ")}</dd>
      <dt>{m.access_app_consent()}</dt>
      <dd>{app.firstParty ? m.access_app_consent_own() : m.access_app_consent_others()}</dd>
      {app.type === "CONFIDENTIAL" && (
        <>
          <dt>{m.access_app_authentication()}</dt>
          <dd className="stacked">
            <span>{AUTHENTICATION_WORDS[draftOfApp(app).authentication].label()}</span>
            {app.jwks && <span className="muted">{keyIdsOf(app)}</span>}
            {app.jwksUri && <code>{app.jwksUri}</code>}
          </dd>
        </>
      )}
      <dt>{m.access_app_dpop()}</dt>
      <dd>{app.requireDpop ? m.access_app_yes() : m.access_app_no()}</dd>
      <dt>{m.access_app_id_tokens()}</dt>
      <dd>{app.idTokenSigningAlg}</dd>
      {app.securityProfile === "FAPI2" && (
        <>
          <dt>{m.access_app_profile()}</dt>
          <dd>{m.access_app_fapi()}</dd>
        </>
      )}
      {app.selfRegistered && (
        <>
          <dt>{m.access_app_origin()}</dt>
          <dd>{m.access_app_self_registered()}</dd>
        </>
      )}
      <dt>{m.access_app_scopes()}</dt>
      <dd className="stacked">
        {app.scopes.length === 0 && <span className="muted">{m.access_none()}</span>}
        {app.scopes.map((scope) => (
          <span key={scope}>
            <code>{scope}</code> <span className="muted">{meaningOf(scope)}</span>
          </span>
        ))}
      </dd>
      <dt>{m.access_app_redirects()}</dt>
      <dd className="stacked">
        {app.redirectUris.length === 0 && <span className="muted">{m.access_none()}</span>}
        {app.redirectUris.map((uri) => (
          <code key={uri}>{uri}</code>
        ))}
      </dd>
      {app.postLogoutRedirectUris.length > 0 && (
        <>
          <dt>{m.access_app_post_logout()}</dt>
          <dd className="stacked">
            {app.postLogoutRedirectUris.map((uri) => (
              <code key={uri}>{uri}</code>
            ))}
          </dd>
        </>
      )}
      {app.backchannelLogoutUri && (
        <>
          <dt>{m.access_app_backchannel()}</dt>
          <dd>
            <code>{app.backchannelLogoutUri}</code>
          </dd>
        </>
      )}
      {links.map(
        ([name, url]) =>
          url && (
            <div key={name} className="fact">
              <dt>{name}</dt>
              <dd>
                <a href={url} target="_blank" rel="noreferrer">
                  {url}
                </a>
              </dd>
            </div>
          ),
      )}
      <dt>{m.access_app_since()}</dt>
      <dd>
        <Time at={app.createdAt} format={longTime} />
      </dd>
    </dl>
  );
}

/** The names of the public keys of an app. */
function keyIdsOf(app: OAuthClient): string {
  const keys = (app.jwks?.keys ?? []) as { kid?: string; kty?: string }[];
  return keys.map(({ kid, kty }) => kid ?? kty ?? "").join(", ");
}

/** Creates another secret; the old one goes on for a while. */
function RotateDialog({
  app,
  onClose,
  onRotated,
}: {
  app: OAuthClient;
  onClose: () => void;
  onRotated: (app: OAuthClientWithSecret, hours: number) => void;
}) {
  useReturnFocus();
  const projectId = useProjectId();
  const client = useQueryClient();
  const [hours, setHours] = useState<number>(24);
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const body = { gracePeriodSeconds: hours * HOUR_SECONDS };
  const path = `/projects/${projectId}/oauth-clients/${app.id}/rotate-secret`;
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    setBusy(true);
    setError("");
    try {
      onRotated(await api(projectId).oauthClients.rotateSecret(app.id, body), hours);
      void client.invalidateQueries({ queryKey: appQuery(projectId, app.id).queryKey });
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={m.access_app_rotate_title({ name: app.name })}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      <form className="form" onSubmit={submit}>
        <p>{m.access_app_rotate_lead()}</p>
        <Field label={m.access_app_grace()} hint={hours ? m.access_app_grace_hint() : m.access_app_grace_none_hint()}>
          {(attributes) => (
            <select
              className="input"
              {...attributes}
              value={hours}
              onChange={(event) => setHours(Number(event.target.value))}
            >
              {GRACES.map((each) => (
                <option key={each} value={each}>
                  {graceWord(each)}
                </option>
              ))}
            </select>
          )}
        </Field>
        <Wrong>{error}</Wrong>
        <div className="dialog-actions">
          <span className="grow">
            <CopyRequest request={{ method: "POST", path, body }} />
          </span>
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind={hours ? "primary" : "solid-danger"} type="submit" busy={isBusy}>
            {m.access_app_rotate_deed()}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

function graceWord(hours: number): string {
  if (hours === 0) return m.access_app_grace_none();
  if (hours === 1) return m.access_app_grace_hour();
  return hours === 24 ? m.access_app_grace_day() : m.access_app_grace_days({ days: hours / 24 });
}
