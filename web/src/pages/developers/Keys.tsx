import { notifications } from "@mantine/notifications";
import type { ApiKey } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { queryOptions, useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useState } from "react";
import { ListPage } from "../../lists/ListPage";
import { useNeighbours, useNeighboursOf } from "../../lists/neighbours";
import { Panel } from "../../lists/Panel";
import { type Column, RowTable } from "../../lists/RowTable";
import type { Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { CopyRequest } from "../../parts/CopyRequest";
import { longTime } from "../../parts/format";
import { Button, Copy, Empty, ICON, LoadingFailed, Pill, Status, Time, type Tone } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { DeleteDialog } from "./DeleteDialog";
import { isExpired, permissionLines, scopeWords } from "./permissions";
import type { Mode } from "./routes";
import { Tabs } from "./Tabs";

const KeyDialog = lazy(() => import("./KeyDialog"));

const page = getRouteApi("/session/projects/$projectId/developers");

/** Days after the last use in which a key counts as one that programs use. */
const IN_USE_DAYS = 30;
const DAY_MS = 86_400_000;

/** All keys of the project: there are at most 1,000. */
export function keysQuery(projectId: string) {
  return queryOptions({
    queryKey: ["developers", projectId, "keys"],
    queryFn: async ({ signal }) => (await api(projectId).apiKeys.list({ limit: 1_000 }, { signal })).data,
  });
}

/** The API keys of the project: what each may do, and when it was last used. */
export function Keys() {
  const projectId = useProjectId();
  const { keyId } = useParams({ strict: false });
  const { mode } = page.useSearch();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const [isCreating, setCreating] = useState(false);
  const query = useQuery(keysQuery(projectId));
  const rows = (query.data ?? []).filter((each) => !mode || each.environment === mode);
  const open = useCallback(
    (key: ApiKey) =>
      void navigate({
        to: "/projects/$projectId/developers/keys/$keyId",
        params: { projectId, keyId: key.id },
        search: true,
        replace: keyId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, keyId],
  );
  const close = useCallback(
    () =>
      void navigate({
        to: "/projects/$projectId/developers",
        params: { projectId },
        search: true,
        resetScroll: false,
      }),
    [navigate, projectId],
  );
  const neighbours = useNeighboursOf(rows, keyId, open, close, () => undefined);
  const path = `/projects/${projectId}/api-keys`;
  const choose = (next: Mode | undefined) =>
    void navigate({ to: ".", search: { mode: next } as never, replace: true, resetScroll: false });
  return (
    <>
      <ListPage
        title={m.developers()}
        name="developers"
        request={{ method: "GET", path }}
        actions={
          mayWrite && (
            <Button kind="primary" icon={<IconPlus {...ICON} />} data-tour="key" onClick={() => setCreating(true)}>
              {m.developers_key_new()}
            </Button>
          )
        }
        tabs={<Tabs current="keys" />}
        neighbours={neighbours}
        panel={keyId && <Outlet />}
      >
        <div className="filters">
          <div className="chips">
            <div className="seg" role="group" aria-label={m.developers_key_mode()}>
              {([undefined, "LIVE", "TEST"] as const).map((each) => (
                <button key={each ?? "all"} type="button" aria-pressed={mode === each} onClick={() => choose(each)}>
                  {each ? MODES[each]() : m.developers_all()}
                </button>
              ))}
            </div>
            <span className="total muted" aria-live="polite">
              {query.data &&
                (rows.length === 1 ? m.developers_key_total_one() : m.developers_key_total({ count: rows.length }))}
            </span>
          </div>
        </div>
        {query.isError && !query.data ? (
          <LoadingFailed error={query.error} onRetry={query.refetch} />
        ) : query.data && rows.length === 0 ? (
          mode && query.data.length > 0 ? (
            <Empty title={m.developers_key_none()} lead={m.list_none_match_filters()}>
              <Button onClick={() => choose(undefined)}>{m.list_clear_filters()}</Button>
            </Empty>
          ) : (
            <Empty title={m.developers_key_empty()} lead={m.developers_key_empty_lead()}>
              {mayWrite && (
                <Button kind="primary" onClick={() => setCreating(true)}>
                  {m.developers_key_new()}
                </Button>
              )}
            </Empty>
          )
        ) : (
          <RowTable
            label={m.developers_tab_keys()}
            columns={columns()}
            className="keys"
            rows={rows}
            total={rows.length}
            isPending={query.isPending}
            openId={keyId}
            onOpen={open}
            onClose={close}
            row={(key) => <Cells row={key} />}
          />
        )}
      </ListPage>
      {isCreating && (
        <Suspense>
          <KeyDialog onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </>
  );
}

export const MODES: Record<Mode, () => string> = { LIVE: m.developers_live, TEST: m.developers_test };

function columns(): Column[] {
  return [
    { key: "mode", label: m.developers_key_mode(), skeleton: 50, className: "c-st" },
    { key: "name", label: m.developers_key_name(), skeleton: 160, className: "c-to" },
    { key: "scope", label: m.developers_key_scope(), skeleton: 180, className: "c-sub" },
    { key: "key", label: m.developers_key_key(), skeleton: 130, className: "c-key" },
    { key: "used", label: m.developers_key_used(), skeleton: 40, className: "num c-time" },
  ];
}

/** The state of a key: live, test, or no longer valid. */
function stateOf(key: ApiKey): { shape: Shape; tone: Tone; word: string } {
  if (isExpired(key)) return { shape: "failed", tone: "fail", word: m.developers_key_expired() };
  return key.environment === "TEST"
    ? { shape: "off", tone: "", word: m.developers_test() }
    : { shape: "yes", tone: "", word: m.developers_live() };
}

function Cells({ row }: { row: ApiKey }) {
  const projectId = useProjectId();
  const { shape, tone, word } = stateOf(row);
  return (
    <>
      <td className="c-st">
        <Status shape={shape} tone={tone}>
          {word}
        </Status>
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/developers/keys/$keyId"
          params={{ projectId, keyId: row.id }}
          search={true}
          resetScroll={false}
        >
          {row.name}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut muted">{scopeWords(row)}</span>
      </td>
      <td className="c-key">
        <code className="cut">{row.key}</code>
      </td>
      <td className="c-time num">{row.lastUsedAt ? <Time at={row.lastUsedAt} /> : m.developers_never()}</td>
    </>
  );
}

/** One key with everything the API says about it, a replacement, and its end. */
export function KeyPanel() {
  const projectId = useProjectId();
  const { keyId = "" } = useParams({ strict: false });
  const { close } = useNeighbours();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const [dialog, setDialog] = useState<"replace" | "delete">();
  const query = useQuery(keysQuery(projectId));
  const path = `/projects/${projectId}/api-keys`;
  usePageRequest({ method: "GET", path });
  const key = query.data?.find((each) => each.id === keyId);
  if (!key)
    return (
      <Panel label={m.developers_key_one()} actions={null} busy={query.isPending}>
        {query.isError ? (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        ) : (
          query.data && <Empty title={m.developers_key_gone()} lead={m.developers_key_gone_lead()} />
        )}
      </Panel>
    );
  const { shape, tone, word } = stateOf(key);
  const isInUse = key.lastUsedAt !== null && Date.now() - Date.parse(key.lastUsedAt) < IN_USE_DAYS * DAY_MS;
  return (
    <Panel
      label={key.name}
      actions={
        <>
          <CopyRequest request={{ method: "GET", path }} />
          {mayWrite && (
            <>
              <Button size="small" onClick={() => setDialog("replace")}>
                {m.developers_key_replace()}
              </Button>
              <Button size="small" kind="danger" onClick={() => setDialog("delete")}>
                {m.developers_delete()}
              </Button>
            </>
          )}
        </>
      }
    >
      <header className="subject">
        <Pill shape={shape} tone={tone === "fail" ? "fail" : key.environment === "TEST" ? "" : "good"}>
          {word}
        </Pill>
        <h2>{key.name}</h2>
        <p>{key.environment === "TEST" ? m.developers_test_means() : m.developers_live_means()}</p>
        <dl className="facts">
          <dt>{m.developers_key_key()}</dt>
          <dd>
            <code>{key.key}</code>
          </dd>
          <dt>{m.developers_key_kind()}</dt>
          <dd>{key.type === "PUBLISHABLE" ? m.developers_kind_publishable() : m.developers_kind_secret()}</dd>
          <dt>{m.developers_key_used()}</dt>
          <dd>{key.lastUsedAt ? <Time at={key.lastUsedAt} format={longTime} /> : m.developers_never()}</dd>
          <dt>{m.developers_key_expires()}</dt>
          <dd>{key.expiresAt ? <Time at={key.expiresAt} format={longTime} /> : m.developers_never()}</dd>
          <dt>{m.developers_key_from()}</dt>
          <dd>{key.ipAllowList ? <code>{key.ipAllowList.join(", ")}</code> : m.developers_anywhere()}</dd>
          <dt>{m.developers_created()}</dt>
          <dd>
            <Time at={key.createdAt} format={longTime} />
          </dd>
          <dt>{m.developers_id()}</dt>
          <dd className="id">
            <code className="cut">{key.id}</code> <Copy value={key.id} />
          </dd>
        </dl>
      </header>
      <section className="block">
        <h3>{m.developers_key_scope()}</h3>
        {key.permissions && key.type !== "PUBLISHABLE" ? (
          <dl className="facts">
            {permissionLines(key.permissions).map(([area, verbs]) => (
              <div key={area} className="contents">
                <dt>{area}</dt>
                <dd>{verbs}</dd>
              </div>
            ))}
          </dl>
        ) : (
          <p>{key.type === "PUBLISHABLE" ? m.developers_publishable_means() : m.developers_all_means()}</p>
        )}
      </section>
      {dialog === "replace" && (
        <Suspense>
          <KeyDialog like={key} onClose={() => setDialog(undefined)} />
        </Suspense>
      )}
      {dialog === "delete" && (
        <DeleteDialog
          title={m.developers_key_delete_title({ name: key.name })}
          deed={m.developers_key_delete()}
          keep={m.developers_key_keep()}
          name={isInUse ? key.name : undefined}
          onClose={() => setDialog(undefined)}
          run={async () => {
            await api(projectId).apiKeys.delete(key.id);
            client.setQueryData(keysQuery(projectId).queryKey, (old) => old?.filter((each) => each.id !== key.id));
            void client.invalidateQueries({ queryKey: ["overview", projectId, "keys"] });
            notifications.show({ message: m.developers_key_deleted({ name: key.name }) });
            close();
          }}
        >
          <p>
            {key.lastUsedAt
              ? m.developers_key_delete_used({ at: longTime(key.lastUsedAt) })
              : m.developers_key_delete_unused()}
          </p>
        </DeleteDialog>
      )}
    </Panel>
  );
}
