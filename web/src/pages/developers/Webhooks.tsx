import type { Webhook } from "@postern/sdk";
import { IconPlus } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { lazy, Suspense, useCallback, useState } from "react";
import { ListPage } from "../../lists/ListPage";
import { type Column, RowTable } from "../../lists/RowTable";
import { m } from "../../messages/messages.js";
import { Button, Empty, ICON, LoadingFailed, Status, Time } from "../../parts/parts";
import { useMayWrite, useProjectId } from "../../session/profile";
import { entryWords } from "./events";
import { healthOf, nameOf, outcomeOf } from "./health";
import { lastDeliveryQuery, webhooksQuery } from "./queries";
import { Tabs } from "./Tabs";

const WebhookDialog = lazy(() => import("./WebhookDialog"));

const NO_PANEL = { above: undefined, below: undefined, close: () => {}, row: undefined, patch: () => {} };
/** Entries of a subscription that a row names. */
const NAMED = 3;

/** The webhooks of the project, and how each is. */
export function Webhooks() {
  const projectId = useProjectId();
  const navigate = useNavigate();
  const mayWrite = useMayWrite();
  const [isCreating, setCreating] = useState(false);
  const query = useQuery(webhooksQuery(projectId));
  const rows = query.data ?? [];
  const open = useCallback(
    (webhook: Webhook) =>
      void navigate({
        to: "/projects/$projectId/developers/webhooks/$webhookId",
        params: { projectId, webhookId: webhook.id },
      }),
    [navigate, projectId],
  );
  return (
    <>
      <ListPage
        title={m.developers()}
        name="developers"
        request={{ method: "GET", path: `/projects/${projectId}/webhooks` }}
        actions={
          mayWrite && (
            <Button kind="primary" icon={<IconPlus {...ICON} />} onClick={() => setCreating(true)}>
              {m.developers_hook_new()}
            </Button>
          )
        }
        tabs={<Tabs current="webhooks" />}
        neighbours={NO_PANEL}
      >
        {query.isError && !query.data ? (
          <LoadingFailed error={query.error} onRetry={query.refetch} />
        ) : query.data?.length === 0 ? (
          <Empty title={m.developers_hook_empty()} lead={m.developers_hook_empty_lead()}>
            {mayWrite && (
              <Button kind="primary" onClick={() => setCreating(true)}>
                {m.developers_hook_new()}
              </Button>
            )}
          </Empty>
        ) : (
          <RowTable
            label={m.developers_tab_webhooks()}
            columns={columns()}
            className="hooks"
            rows={rows}
            total={rows.length}
            isPending={query.isPending}
            onOpen={open}
            onClose={() => undefined}
            row={(webhook) => <Cells row={webhook} />}
          />
        )}
      </ListPage>
      {isCreating && (
        <Suspense>
          <WebhookDialog onClose={() => setCreating(false)} />
        </Suspense>
      )}
    </>
  );
}

function columns(): Column[] {
  return [
    { key: "state", label: m.developers_state(), skeleton: 110, className: "c-st" },
    { key: "url", label: m.developers_hook_to(), skeleton: 240, className: "c-to" },
    { key: "events", label: m.developers_tab_events(), skeleton: 160, className: "c-sub" },
    { key: "last", label: m.developers_hook_last(), skeleton: 120, className: "c-last" },
    { key: "at", label: m.developers_at(), skeleton: 36, className: "num c-time" },
  ];
}

function Cells({ row }: { row: Webhook }) {
  const projectId = useProjectId();
  const last = useQuery(lastDeliveryQuery(projectId, row.id)).data;
  const health = healthOf(row, last);
  const outcome = last && outcomeOf(last);
  return (
    <>
      <td className="c-st">
        <Status shape={health.shape} tone={health.tone}>
          {health.word}
        </Status>
      </td>
      <th scope="row" className="c-to">
        <Link
          className="row cut"
          to="/projects/$projectId/developers/webhooks/$webhookId"
          params={{ projectId, webhookId: row.id }}
        >
          {nameOf(row)}
          {row.description && <span className="muted"> {row.url}</span>}
        </Link>
      </th>
      <td className="c-sub">
        <span className="cut muted">
          {row.events.slice(0, NAMED).map(entryWords).join(", ")}
          {row.events.length > NAMED && ` +${row.events.length - NAMED}`}
        </span>
      </td>
      <td className="c-last">
        {outcome ? (
          <Status shape={outcome.shape} tone={outcome.tone}>
            {outcome.word}
          </Status>
        ) : (
          <span className="muted">{last === null ? m.developers_none_yet() : ""}</span>
        )}
      </td>
      <td className="c-time num">{last && <Time at={last.attemptedAt ?? last.createdAt} />}</td>
    </>
  );
}
