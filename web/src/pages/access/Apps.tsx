import type { OAuthClient } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useState } from "react";
import { SearchBox } from "../../lists/SearchBox";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { Button, Empty, ICON, LoadingFailed, Status } from "../../parts/parts";
import { copyCurl } from "../../parts/request";
import { useProjectId } from "../../session/profile";
import { LoadingRows, ReadOnly, Row, Section, useMay } from "../settings/pieces";
import { appsQuery } from "./appQueries";
import type { Environment } from "./apps";
import { environmentLook, grantWord, typeWord } from "./appWords";
import { Registration } from "./Registration";
import { Resources } from "./Resources";

const AppDialog = lazy(() => import("./AppDialog"));

const page = getRouteApi("/session/projects/$projectId/access");

/** Apps that fit on a page without a search. */
const FEW = 8;

/** The apps that sign customers in with their account at the project: the clients of its OpenID provider. */
export function Apps() {
  const projectId = useProjectId();
  const mayWrite = useMay("projects");
  const navigate = useNavigate();
  const { q = "", mode } = page.useSearch();
  const query = useQuery(appsQuery(projectId));
  const [isAdding, setAdding] = useState(false);
  const apps = query.data ?? [];
  const typed = q.toLowerCase();
  const isMatching = (app: OAuthClient) =>
    (!mode || app.environment === mode) &&
    [app.name, app.clientId, ...app.redirectUris].some((each) => each.toLowerCase().includes(typed));
  const shown = apps.filter(isMatching);
  const search = (next: { q?: string | undefined; mode?: Environment | undefined }) =>
    void navigate({
      to: ".",
      search: (before: object) => ({ ...before, ...next }) as never,
      replace: true,
      resetScroll: false,
    });
  return (
    <>
      <ReadOnly what="projects" />
      <Section
        title={m.access_apps()}
        actions={
          mayWrite &&
          apps.length > 0 && (
            <Button size="small" icon={<IconPlus {...ICON} />} onClick={() => setAdding(true)}>
              {m.access_app_new()}
            </Button>
          )
        }
      >
        {query.isPending ? (
          <LoadingRows count={3} />
        ) : query.data === undefined ? (
          <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
        ) : apps.length === 0 ? (
          <Empty title={m.access_apps_none()} lead={m.access_apps_none_lead()}>
            {mayWrite && (
              <Button kind="primary" onClick={() => setAdding(true)}>
                {m.access_app_new()}
              </Button>
            )}
            <a className="btn" href="/guide/openid-provider" target="_blank" rel="noreferrer">
              {m.access_app_guide()}
            </a>
            <Button
              kind="bare"
              onClick={() =>
                void copyCurl({
                  method: "POST",
                  path: `/projects/${projectId}/oauth-clients`,
                  body: { name: "Northwind Reports", redirectUris: ["https://reports.example.com/callback"] },
                })
              }
            >
              {m.copy_as_curl()}
            </Button>
          </Empty>
        ) : (
          <>
            <div className="filters">
              {(apps.length > FEW || q) && (
                <SearchBox
                  value={q}
                  label={m.access_app_search()}
                  onChange={(next) => search({ q: next || undefined })}
                />
              )}
              <div className="chips">
                <div className="seg" role="group" aria-label={m.access_app_environment()}>
                  {([undefined, "LIVE", "TEST"] as const).map((each) => (
                    <button
                      key={each ?? "all"}
                      type="button"
                      aria-pressed={mode === each}
                      onClick={() => search({ mode: each })}
                    >
                      {each ? environmentLook({ environment: each }).word : m.access_app_all()}
                    </button>
                  ))}
                </div>
                <span className="total muted" aria-live="polite">
                  {shown.length === 1 ? m.access_app_total_one() : m.access_app_total({ count: count(shown.length) })}
                </span>
              </div>
            </div>
            {shown.length === 0 ? (
              <Empty title={m.access_app_no_match()} lead={m.list_none_match_filters()}>
                <Button onClick={() => search({ q: undefined, mode: undefined })}>{m.list_clear_filters()}</Button>
              </Empty>
            ) : (
              <ul className="rows applist" aria-label={m.access_apps()}>
                {shown.map((app) => (
                  <AppRow key={app.id} app={app} />
                ))}
              </ul>
            )}
          </>
        )}
      </Section>
      <Resources />
      <Registration />
      {isAdding && (
        <Suspense>
          <AppDialog onClose={() => setAdding(false)} />
        </Suspense>
      )}
    </>
  );
}

function AppRow({ app }: { app: OAuthClient }) {
  const projectId = useProjectId();
  const { shape, word } = environmentLook(app);
  const does = app.grantTypes.filter((each) => each !== "refresh_token").map(grantWord);
  return (
    <Row
      title={
        <Link
          className="quiet"
          to="/projects/$projectId/access/apps/$clientId"
          params={{ projectId, clientId: app.id }}
        >
          {app.name}
        </Link>
      }
      action={<Status shape={shape}>{word}</Status>}
    >
      {[
        ...does,
        typeWord(app),
        app.firstParty ? m.access_app_own() : m.access_app_others(),
        app.selfRegistered && m.access_app_self_registered(),
      ]
        .filter(Boolean)
        .join(" · ")}
    </Row>
  );
}
