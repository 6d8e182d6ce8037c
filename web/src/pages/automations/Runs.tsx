import { notifications } from "@mantine/notifications";
import { APIError, type Automation, type AutomationRun } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useState } from "react";
import { useNeighboursOf } from "../../lists/neighbours";
import { Panel } from "../../lists/Panel";
import { type Column, RowTable } from "../../lists/RowTable";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { CopyRequest } from "../../parts/CopyRequest";
import { exactTime } from "../../parts/format";
import { Button, Empty, LoadingFailed, Status, Time } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { plannedTime } from "../../parts/when";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { contactQuery } from "../contacts/queries";
import { type Choices, runQuery, useRuns } from "./queries";
import { type AutomationSearch, RUN_STATUSES } from "./routes";
import { type Content, flattened, type StepType } from "./steps";
import { outcomeLook, runLook, STEP_NAMES, stepWords } from "./words";

const page = getRouteApi("/session/projects/$projectId/automations/$automationId");

/** The API's words for a run that ended because its contact was deleted. */
const CONTACT_DELETED = "The contact was deleted.";

/** The runs of an automation, and what lies around the one that is open. */
export function useRunList(automation: Automation, isShown: boolean) {
  const projectId = useProjectId();
  const search = page.useSearch();
  const navigate = useNavigate();
  const list = useRuns(projectId, automation.id, search.status);
  const { tab, status, run } = search;
  const set = useCallback(
    (next: AutomationSearch) => void navigate({ to: ".", search: next as never, replace: true, resetScroll: false }),
    [navigate],
  );
  const open = useCallback(({ id }: AutomationRun) => set({ tab, status, run: id }), [set, tab, status]);
  const close = useCallback(() => set({ tab, status }), [set, tab, status]);
  const patch = useCallback(() => {}, []);
  const neighbours = useNeighboursOf(list.rows, isShown ? run : undefined, open, close, patch);
  return { list, neighbours, open, close, set };
}

export function Runs({
  list: { list, open, close, set },
  automation,
  content,
}: {
  list: ReturnType<typeof useRunList>;
  automation: Automation;
  content: Content;
}) {
  const { status, run: openId, tab } = page.useSearch();
  const positions = flattened(content.steps);
  return (
    <>
      <form className="filters" aria-label={m.automations_runs_filter()} onSubmit={(event) => event.preventDefault()}>
        <div className="chips">
          <div className="seg scrollx" role="group" aria-label={m.automations_state()}>
            {[undefined, ...RUN_STATUSES].map((each) => (
              <button
                key={each ?? "all"}
                type="button"
                aria-pressed={status === each}
                onClick={() => set({ tab, status: each })}
              >
                {each ? runLook(each).word() : m.automations_all()}
              </button>
            ))}
          </div>
        </div>
      </form>
      {list.error && list.rows.length === 0 ? (
        <LoadingFailed error={list.error} onRetry={list.retry} />
      ) : !list.isPending && list.rows.length === 0 ? (
        <Empty
          title={status ? m.automations_runs_none() : m.automations_runs_empty()}
          lead={status ? m.list_none_match_filters() : m.automations_runs_empty_lead()}
        >
          {status && <Button onClick={() => set({ tab })}>{m.automations_runs_all()}</Button>}
        </Empty>
      ) : (
        <RowTable
          label={m.automations_runs()}
          className="runs"
          columns={columns()}
          rows={list.rows}
          total={undefined}
          isPending={list.isPending}
          isStale={list.isStale}
          openId={openId}
          onOpen={open}
          onClose={close}
          onEnd={list.more}
          row={(run) => {
            const { shape, tone, word } = runLook(run.status);
            const position = run.version === automation.version ? positions[run.currentStep] : undefined;
            return (
              <>
                <td className="c-st">
                  <Status shape={shape} tone={tone}>
                    {word()}
                  </Status>
                </td>
                <th scope="row" className="c-to">
                  <Link
                    className="row cut"
                    to="."
                    search={{ tab, status, run: run.id } as never}
                    replace
                    resetScroll={false}
                  >
                    <ContactName run={run} />
                  </Link>
                </th>
                <td className="c-sub">
                  <span className="cut muted">
                    {run.error ??
                      (run.nextAt && position
                        ? m.automations_at_step({
                            step: STEP_NAMES[position.step.type](),
                            time: plannedTime(run.nextAt),
                          })
                        : "")}
                  </span>
                </td>
                <td className="num c-time">
                  <Time at={run.startedAt} />
                </td>
              </>
            );
          }}
        />
      )}
    </>
  );
}

function columns(): Column[] {
  return [
    { key: "state", label: m.automations_state(), skeleton: 90, className: "c-st" },
    { key: "contact", label: m.contacts_one(), skeleton: 200, className: "c-to" },
    { key: "step", label: m.automations_now(), skeleton: 200, className: "c-sub" },
    { key: "time", label: m.automations_began(), skeleton: 60, className: "num c-time" },
  ];
}

function useContactName(run: AutomationRun | undefined): string {
  const projectId = useProjectId();
  const isGone = run?.error === CONTACT_DELETED;
  const { data, isError } = useQuery({
    ...contactQuery(projectId, run?.contactId ?? ""),
    enabled: run !== undefined && !isGone,
    staleTime: 60_000,
  });
  return isGone || isError ? m.automations_contact_gone() : (data?.email ?? "…");
}

function ContactName({ run }: { run: AutomationRun }) {
  return useContactName(run);
}

/** What happened in a run, step by step. */
export function RunPanel({
  automation,
  runId,
  content,
  choices,
}: {
  automation: Automation;
  runId: string;
  content: Content;
  choices: Choices;
}) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const { data: run, error, refetch } = useQuery(runQuery(projectId, automation.id, runId));
  const name = useContactName(run);
  const [isCancelling, setCancelling] = useState(false);
  const [isBusy, setBusy] = useState(false);
  const path = `/projects/${projectId}/automations/${automation.id}/runs/${runId}`;
  const request = { method: "GET", path } as const;
  usePageRequest(request);
  const reload = () => client.invalidateQueries({ queryKey: ["automations", projectId] });
  if (!run)
    return (
      <Panel label={m.automations_run()} actions={null} busy={!error}>
        {error &&
          (error instanceof APIError && error.status === 404 ? (
            <Empty title={m.automations_run_missing()} lead={m.automations_missing_lead()} />
          ) : (
            <LoadingFailed title={m.list_one_failed()} error={error} onRetry={refetch} />
          ))}
      </Panel>
    );
  const { shape, tone, word } = runLook(run.status);
  const isOld = run.version !== automation.version;
  const positions = flattened(content.steps);
  const isUnfinished = run.status === "RUNNING" || run.status === "WAITING";
  const said = (index: number, type: string) => {
    const position = isOld ? undefined : positions[index];
    return position ? stepWords(position.step, choices) : (STEP_NAMES[type as StepType]?.() ?? type);
  };
  const retry = async () => {
    setBusy(true);
    try {
      await api(projectId).automations.runs.retry(automation.id, runId);
      notifications.show({ message: m.automations_run_retried() });
      await reload();
    } catch (caught) {
      notifications.show({ message: messageOf(caught) });
    } finally {
      setBusy(false);
    }
  };
  return (
    <Panel label={m.automations_run_of({ name })} actions={<CopyRequest request={request} icon />}>
      <h2 className="cut">{name}</h2>
      <p className="line">
        <Status shape={shape} tone={tone}>
          {word()}
        </Status>
        {run.error !== CONTACT_DELETED && (
          <Link to="/projects/$projectId/contacts/$contactId" params={{ projectId, contactId: run.contactId }}>
            {m.automations_contact()}
          </Link>
        )}
      </p>
      {run.error && <p className="wrong">{run.error}</p>}
      {isOld && <p className="muted small">{m.automations_run_old({ version: run.version })}</p>}
      <ol className="history">
        <li>
          <Glyph shape="clicked" />
          <div>
            <b>{m.automations_run_began()}</b>
            <Time at={run.startedAt} format={exactTime} />
          </div>
        </li>
        {run.steps.map((step) => {
          const look = outcomeLook(step.outcome);
          const reason = typeof step.detail.reason === "string" ? step.detail.reason : undefined;
          const sendId = typeof step.detail.sendId === "string" ? step.detail.sendId : undefined;
          return (
            <li key={step.step}>
              <Glyph shape={look.shape} />
              <div>
                <b>{said(step.step, step.type)}</b>
                <span className={look.tone ? "failed" : "muted"}>
                  {look.word()}
                  {reason && `: ${reason}`}
                </span>
                {sendId && (
                  <Link to="/projects/$projectId/emails/$sendId" params={{ projectId, sendId }}>
                    {m.automations_open_email()}
                  </Link>
                )}
                <Time at={step.finishedAt} format={exactTime} />
              </div>
            </li>
          );
        })}
        {isUnfinished && (
          <li>
            <Glyph shape="waiting" />
            <div>
              <b>{isOld ? m.automations_run_waiting() : said(run.currentStep, "")}</b>
              {run.nextAt && <span className="muted">{m.automations_goes_on_at({ time: exactTime(run.nextAt) })}</span>}
            </div>
          </li>
        )}
      </ol>
      {mayWrite && (isUnfinished || run.status === "FAILED") && (
        <p className="line">
          {isUnfinished ? (
            <Button kind="danger" onClick={() => setCancelling(true)}>
              {m.automations_run_cancel()}
            </Button>
          ) : (
            <Button busy={isBusy} onClick={() => void retry()}>
              {m.automations_run_retry()}
            </Button>
          )}
        </p>
      )}
      {isCancelling && (
        <ConfirmDialog
          title={m.automations_run_cancel_title({ name })}
          deed={m.automations_run_cancel()}
          keep={m.automations_run_keep()}
          onClose={() => setCancelling(false)}
          run={async () => {
            await api(projectId).automations.runs.cancel(automation.id, runId);
            await reload();
          }}
        >
          <p>{m.automations_run_cancel_lead()}</p>
        </ConfirmDialog>
      )}
    </Panel>
  );
}
