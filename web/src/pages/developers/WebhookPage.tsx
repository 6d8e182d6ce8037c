import "./developers.css";
import { Menu } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { APIError, type Webhook, type WebhookDelivery, type WebhookTestResult } from "@postern/sdk";
import { IconDots } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, Outlet, useNavigate, useParams } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useState } from "react";
import { Held } from "../../lists/Held";
import { ListPage } from "../../lists/ListPage";
import { useNeighboursOf } from "../../lists/neighbours";
import { type Column, RowTable } from "../../lists/RowTable";
import { PAGE_ROWS, useRowList } from "../../lists/rows";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { duration, longTime } from "../../parts/format";
import { Button, Copy, Empty, ICON, LoadingFailed, Pill, Status, Time } from "../../parts/parts";
import { queryString } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { DeleteDialog } from "./DeleteDialog";
import { EVENT_NAMES, entryWords, eventWords } from "./events";
import { FilterChip } from "./FilterChip";
import { answerOf, healthOf, nameOf, outcomeOf, pillTone } from "./health";
import { lastDeliveryQuery, webhookQuery, webhooksQuery } from "./queries";
import type { DeliverySearch, DeliveryStatus } from "./routes";

const WebhookDialog = lazy(() => import("./WebhookDialog"));
const dialogs = () => import("./webhookDialogs");
const RotateDialog = lazy(async () => ({ default: (await dialogs()).RotateDialog }));
const ReplayDialog = lazy(async () => ({ default: (await dialogs()).ReplayDialog }));
const VerifyDialog = lazy(async () => ({ default: (await dialogs()).VerifyDialog }));

type DialogName = "edit" | "rotate" | "replay" | "verify" | "delete" | "off";

const page = getRouteApi("/session/projects/$projectId/developers/webhooks/$webhookId");

/** Milliseconds between two looks at the deliveries: attempts have no events of their own. */
const LOOK_MS = 5_000;
const STATUSES: DeliveryStatus[] = ["FAILED", "PENDING", "SUCCEEDED"];

/** One webhook: how it is, what it gets, and its deliveries with the one that is open. */
export function WebhookPage() {
  const projectId = useProjectId();
  const { webhookId = "" } = useParams({ strict: false });
  const query = useQuery(webhookQuery(projectId, webhookId));
  const webhook = query.data;
  if (webhook) return <Loaded key={webhookId} webhook={webhook} />;
  return (
    <main id="main" className="page developers">
      <p className="crumb">
        <Crumb />
      </p>
      <div className="head">
        <h1>{m.developers_hook_one()}</h1>
      </div>
      {query.isError ? (
        query.error instanceof APIError && query.error.status === 404 ? (
          <Empty title={m.developers_hook_gone()} lead={m.developers_hook_gone_lead()}>
            <Link className="btn" to="/projects/$projectId/developers/webhooks" params={{ projectId }}>
              {m.developers_tab_webhooks()}
            </Link>
          </Empty>
        ) : (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        )
      ) : (
        <p className="sr">{m.loading()}</p>
      )}
    </main>
  );
}

function Loaded({ webhook }: { webhook: Webhook }) {
  const projectId = useProjectId();
  const webhookId = webhook.id;
  const { deliveryId } = useParams({ strict: false });
  const search = page.useSearch();
  const { status, event } = search;
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const client = useQueryClient();
  const [dialog, setDialog] = useState<DialogName>();
  const last = useQuery(lastDeliveryQuery(projectId, webhookId)).data;
  const filters = { status: status && [status], event: event?.split(",") };
  const list = useRowList<WebhookDelivery>({
    queryKey: ["developers", projectId, `deliveries ${webhookId}`, filters],
    first: () => api(projectId).webhooks.deliveries.list(webhookId, { ...filters, limit: PAGE_ROWS }),
    types: EVENT_NAMES,
    live: true,
    pollMs: LOOK_MS,
  });
  const setSearch = (next: DeliverySearch) =>
    void navigate({ to: ".", search: next as never, replace: true, resetScroll: false });
  const open = useCallback(
    (row: WebhookDelivery) =>
      void navigate({
        to: "/projects/$projectId/developers/webhooks/$webhookId/$deliveryId",
        params: { projectId, webhookId, deliveryId: row.id },
        search: true,
        replace: deliveryId !== undefined,
        resetScroll: false,
      }),
    [navigate, projectId, webhookId, deliveryId],
  );
  const close = useCallback(
    () =>
      void navigate({
        to: "/projects/$projectId/developers/webhooks/$webhookId",
        params: { projectId, webhookId },
        search: true,
        resetScroll: false,
      }),
    [navigate, projectId, webhookId],
  );
  const neighbours = useNeighboursOf(list.rows, deliveryId, open, close, list.patch);
  const refresh = () => {
    void client.invalidateQueries({ queryKey: ["developers", projectId, `deliveries ${webhookId}`] });
    void client.invalidateQueries({ queryKey: lastDeliveryQuery(projectId, webhookId).queryKey });
    void client.invalidateQueries({ queryKey: webhookQuery(projectId, webhookId).queryKey });
  };
  const setActive = async (active: boolean) => {
    const changed = await api(projectId).webhooks.update(webhookId, { active });
    client.setQueryData(webhookQuery(projectId, webhookId).queryKey, changed);
    void client.invalidateQueries({ queryKey: webhooksQuery(projectId).queryKey });
    notifications.show({ message: active ? m.developers_hook_is_on() : m.developers_hook_is_off() });
  };
  const health = healthOf(webhook, last);
  const path = `/projects/${projectId}/webhooks/${webhookId}/deliveries`;
  const name = nameOf(webhook);
  return (
    <>
      <ListPage
        title={name}
        crumb={<Crumb />}
        state={
          <Pill shape={health.shape} tone={pillTone(health)}>
            {health.word}
          </Pill>
        }
        name="developers webhook"
        request={{ method: "GET", path: path + queryString({ status, event, limit: PAGE_ROWS }) }}
        actions={
          <>
            {mayWrite && <TestButton webhook={webhook} />}
            {mayWrite && <Button onClick={() => setDialog("edit")}>{m.developers_edit()}</Button>}
            <Menu
              position="bottom-end"
              width={240}
              portalProps={{ target: "#menus" }}
              withInitialFocusPlaceholder={false}
            >
              <Menu.Target>
                <button className="iconbtn" type="button" aria-label={m.developers_more()}>
                  <IconDots {...ICON} />
                </button>
              </Menu.Target>
              <Menu.Dropdown>
                <Menu.Item onClick={() => setDialog("verify")}>{m.developers_verify()}</Menu.Item>
                {mayWrite && (
                  <>
                    <Menu.Item onClick={() => setDialog("rotate")}>{m.developers_rotate()}</Menu.Item>
                    <Menu.Divider />
                    {webhook.active ? (
                      <Menu.Item onClick={() => setDialog("off")}>{m.developers_hook_switch_off()}</Menu.Item>
                    ) : (
                      <Menu.Item onClick={() => void setActive(true).catch(failed)}>
                        {m.developers_hook_switch_on()}
                      </Menu.Item>
                    )}
                    <Menu.Item onClick={() => setDialog("delete")}>{m.developers_hook_delete()}</Menu.Item>
                  </>
                )}
              </Menu.Dropdown>
            </Menu>
          </>
        }
        neighbours={neighbours}
        panel={deliveryId && <Outlet />}
      >
        <section className="about" aria-label={m.developers_hook_one()}>
          {!webhook.active && (
            <div className={webhook.disabledReason ? "note bad" : "note"}>
              <Glyph shape={webhook.disabledReason ? "failed" : "off"} />
              <p>
                {webhook.disabledReason ? (
                  <>
                    <b>
                      {webhook.disabledAt
                        ? m.developers_disabled_at({ at: longTime(webhook.disabledAt) })
                        : m.developers_hook_disabled()}
                    </b>{" "}
                    <q>{webhook.disabledReason}</q>{" "}
                  </>
                ) : null}
                {m.developers_hook_off_means()}
              </p>
              {mayWrite && (
                <p>
                  <Button size="small" onClick={() => void setActive(true).catch(failed)}>
                    {m.developers_hook_switch_on()}
                  </Button>
                </p>
              )}
            </div>
          )}
          <dl className="facts">
            <dt>{m.developers_hook_url()}</dt>
            <dd>
              <code>{webhook.url}</code> <Copy value={webhook.url} />
            </dd>
            <dt>{m.developers_tab_events()}</dt>
            <dd>
              <Entries entries={webhook.events} />
            </dd>
            <dt>{m.developers_hook_format()}</dt>
            <dd>{webhook.format === "resend" ? m.developers_format_resend() : m.developers_format_postern()}</dd>
            {webhook.previousSecretExpiresAt && new Date(webhook.previousSecretExpiresAt) > new Date() && (
              <>
                <dt>{m.developers_old_secret()}</dt>
                <dd>{m.developers_until({ at: longTime(webhook.previousSecretExpiresAt) })}</dd>
              </>
            )}
          </dl>
        </section>
        <div className="sechead deliveries">
          <h2>{m.developers_deliveries()}</h2>
          <p className="wide">{m.developers_deliveries_lead()}</p>
        </div>
        <div className="filters">
          <div className="chips">
            <div className="seg scrollx" role="group" aria-label={m.developers_outcome()}>
              {[undefined, ...STATUSES].map((each) => (
                <button
                  key={each ?? "all"}
                  type="button"
                  aria-pressed={status === each}
                  onClick={() => setSearch({ ...search, status: each })}
                >
                  {each ? outcomeOf({ status: each, attempts: 0 }).word : m.developers_all()}
                </button>
              ))}
            </div>
            {event && (
              <FilterChip name={m.developers_event()} onRemove={() => setSearch({ status })}>
                {event.split(",").map(eventWords).join(", ")}
              </FilterChip>
            )}
            {mayWrite && webhook.active && (
              <Button size="small" className="right" onClick={() => setDialog("replay")}>
                {m.developers_replay_many()}
              </Button>
            )}
          </div>
        </div>
        <Held list={list} />
        {list.error && list.rows.length === 0 ? (
          <LoadingFailed error={list.error} onRetry={list.retry} />
        ) : !list.isPending && list.rows.length === 0 ? (
          status || event ? (
            <Empty title={m.developers_del_none()} lead={m.list_none_match_filters()}>
              <Button onClick={() => setSearch({})}>{m.list_clear_filters()}</Button>
            </Empty>
          ) : (
            <Empty title={m.developers_del_empty()} lead={m.developers_del_empty_lead()}>
              {mayWrite && <TestButton webhook={webhook} />}
            </Empty>
          )
        ) : (
          <>
            <RowTable
              label={m.developers_deliveries()}
              columns={columns()}
              className="dels"
              rows={list.rows}
              total={undefined}
              isPending={list.isPending}
              isStale={list.isStale}
              openId={deliveryId}
              fresh={list.fresh}
              onOpen={open}
              onClose={close}
              onEnd={list.more}
              row={(row) => <Cells row={row} />}
            />
            {list.error ? <LoadingFailed error={list.error} onRetry={list.retry} /> : null}
          </>
        )}
      </ListPage>
      <Suspense>
        {dialog === "edit" && <WebhookDialog webhook={webhook} onClose={() => setDialog(undefined)} />}
        {dialog === "rotate" && <RotateDialog webhook={webhook} onClose={() => setDialog(undefined)} />}
        {dialog === "verify" && <VerifyDialog onClose={() => setDialog(undefined)} />}
        {dialog === "replay" && (
          <ReplayDialog webhook={webhook} onClose={() => setDialog(undefined)} onReplayed={refresh} />
        )}
        {dialog === "off" && (
          <ConfirmDialog
            title={m.developers_hook_off_title({ name })}
            deed={m.developers_hook_switch_off()}
            onClose={() => setDialog(undefined)}
            run={() => setActive(false)}
          >
            <p>{m.developers_hook_off_means()}</p>
          </ConfirmDialog>
        )}
        {dialog === "delete" && (
          <DeleteDialog
            title={m.developers_hook_delete_title({ name })}
            deed={m.developers_hook_delete()}
            keep={m.developers_hook_keep()}
            name={last ? name : undefined}
            onClose={() => setDialog(undefined)}
            run={async () => {
              await api(projectId).webhooks.delete(webhookId);
              await client.invalidateQueries({ queryKey: webhooksQuery(projectId).queryKey });
              notifications.show({ message: m.developers_hook_deleted({ name }) });
              void navigate({ to: "/projects/$projectId/developers/webhooks", params: { projectId } });
            }}
          >
            <p>
              {last
                ? m.developers_hook_delete_used({ at: longTime(last.attemptedAt ?? last.createdAt) })
                : m.developers_hook_delete_unused()}
            </p>
          </DeleteDialog>
        )}
      </Suspense>
    </>
  );
}

/** The way back to the list. */
function Crumb() {
  const projectId = useProjectId();
  return (
    <>
      <Link to="/projects/$projectId/developers" params={{ projectId }}>
        {m.developers()}
      </Link>{" "}
      /{" "}
      <Link to="/projects/$projectId/developers/webhooks" params={{ projectId }}>
        {m.developers_tab_webhooks()}
      </Link>
    </>
  );
}

function failed(error: unknown): void {
  notifications.show({ message: messageOf(error) });
}

/** Entries of a subscription that are shown until all are asked for. */
const SHOWN = 8;

function Entries({ entries }: { entries: string[] }) {
  const [all, setAll] = useState(false);
  const shown = all || entries.length <= SHOWN + 1 ? entries : entries.slice(0, SHOWN);
  return (
    <>
      {shown.map((entry) => (
        <span key={entry} className="tag" title={entry}>
          {entryWords(entry)}
        </span>
      ))}
      {shown.length < entries.length && (
        <Button kind="bare" size="small" onClick={() => setAll(true)}>
          {m.developers_more_count({ count: entries.length - shown.length })}
        </Button>
      )}
    </>
  );
}

/** Sends a test event at once and says what the endpoint answered. */
function TestButton({ webhook }: { webhook: Webhook }) {
  const projectId = useProjectId();
  const [isBusy, setBusy] = useState(false);
  const send = async () => {
    setBusy(true);
    try {
      notifications.show({ message: testWords(await api(projectId).webhooks.sendTest(webhook.id)) });
    } catch (error) {
      failed(error);
    } finally {
      setBusy(false);
    }
  };
  return (
    <Button busy={isBusy} onClick={() => void send()}>
      {m.developers_hook_test()}
    </Button>
  );
}

function testWords({ ok, status, responseTime, reason }: WebhookTestResult): string {
  if (ok) return m.developers_test_ok({ status: status ?? 0, time: duration(responseTime) });
  return m.developers_test_failed({ reason: reason ?? "" });
}

function columns(): Column[] {
  return [
    { key: "status", label: m.developers_outcome(), skeleton: 80, className: "c-st" },
    { key: "event", label: m.developers_event(), skeleton: 200, className: "c-to" },
    { key: "answer", label: m.developers_answer(), skeleton: 160, className: "c-sub" },
    { key: "took", label: m.developers_took(), skeleton: 40, className: "num c-took" },
    { key: "at", label: m.developers_at(), skeleton: 36, className: "num c-time" },
  ];
}

function Cells({ row }: { row: WebhookDelivery }) {
  const projectId = useProjectId();
  const { shape, tone, word } = outcomeOf(row);
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
          to="/projects/$projectId/developers/webhooks/$webhookId/$deliveryId"
          params={{ projectId, webhookId: row.subscriptionId, deliveryId: row.id }}
          search={true}
          resetScroll={false}
        >
          {eventWords(row.event)}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut muted">{answerOf(row)}</span>
      </td>
      <td className="c-took num muted">{row.responseTime === null ? "" : duration(row.responseTime)}</td>
      <td className="c-time num">
        <Time at={row.attemptedAt ?? row.createdAt} />
      </td>
    </>
  );
}
