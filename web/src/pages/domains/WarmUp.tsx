import { notifications } from "@mantine/notifications";
import type { Domain, WarmUp } from "@postern/sdk";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { count, shortDay, shortTime } from "../../parts/format";
import { Button, Empty, Field, LoadingFailed } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { FormDialog, textOf } from "../settings/pieces";
import { dateOf } from "./DmarcChart";
import { warmUpQuery } from "./queries";

const STATES: Record<string, () => string> = {
  SCHEDULED: m.warm_up_scheduled,
  ACTIVE: m.warm_up_active,
  COMPLETED: m.warm_up_completed,
};

/** The plan by which the domain sends more each day, and how far it is. */
export function WarmUpPlan({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const mayWrite = useMayWrite();
  const [dialog, setDialog] = useState<"" | "plan" | "end">("");
  const query = useQuery(warmUpQuery(projectId, domain.id));
  const path = `/projects/${projectId}/domains/${domain.id}/warm-up`;
  usePageRequest({ method: "GET", path });
  const plan = query.data;
  return (
    <section className="sec" aria-labelledby="warmup">
      <header>
        <h2 id="warmup">{m.warm_up()}</h2>
        <p>{plan ? (STATES[plan.status]?.() ?? plan.status) : m.warm_up_lead()}</p>
        {mayWrite && plan && (
          <div className="acts">
            <Button size="small" onClick={() => setDialog("plan")}>
              {m.warm_up_replace()}
            </Button>
            {plan.status !== "COMPLETED" && (
              <Button size="small" kind="bare" onClick={() => setDialog("end")}>
                {m.warm_up_end()}
              </Button>
            )}
          </div>
        )}
      </header>
      {query.isError && plan === undefined ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : plan === undefined ? (
        <i className="skel" style={{ width: 260 }} />
      ) : plan === null ? (
        <Empty title={m.warm_up_none()} lead={m.warm_up_none_lead()}>
          {mayWrite && (
            <Button kind="primary" onClick={() => setDialog("plan")}>
              {m.warm_up_start()}
            </Button>
          )}
        </Empty>
      ) : (
        <Steps plan={plan} />
      )}
      {dialog === "plan" && <PlanDialog domain={domain} onClose={() => setDialog("")} />}
      {dialog === "end" && (
        <ConfirmDialog
          title={m.warm_up_end_title({ domain: domain.domain })}
          deed={m.warm_up_end()}
          onClose={() => setDialog("")}
          run={async () => {
            await api(projectId).domains.deleteWarmUp(domain.id);
            client.setQueryData(warmUpQuery(projectId, domain.id).queryKey, null);
            notifications.show({ message: m.warm_up_ended({ domain: domain.domain }) });
          }}
        >
          <p>{m.warm_up_end_lead()}</p>
        </ConfirmDialog>
      )}
    </section>
  );
}

function Steps({ plan }: { plan: WarmUp }) {
  const top = Math.max(...plan.steps, 1);
  const isActive = plan.status === "ACTIVE";
  return (
    <>
      {plan.ceiling !== null && (
        <p className="after">
          <b>{m.warm_up_today({ used: count(plan.used), ceiling: count(plan.ceiling) })}</b>{" "}
          {plan.nextDayAt && <span className="muted">{m.warm_up_next({ at: shortTime(plan.nextDayAt) })}</span>}
        </p>
      )}
      <p className="after muted">
        {m.warm_up_from({ day: shortDay(dateOf(plan.startsOn)) })}{" "}
        {plan.lastDay && m.warm_up_to({ day: shortDay(dateOf(plan.lastDay)) })}{" "}
        {plan.repeatedDays > 0 && m.warm_up_repeated({ count: plan.repeatedDays })}
      </p>
      <ol className="warmsteps" aria-label={m.warm_up_steps()}>
        {plan.steps.map((ceiling, index) => {
          const step = index + 1;
          const isDone = plan.status === "COMPLETED" || step < plan.step;
          const isToday = isActive && step === plan.step;
          return (
            // biome-ignore lint/suspicious/noArrayIndexKey: a step is known by its number.
            <li key={index} aria-current={isToday ? "step" : undefined}>
              <Glyph shape={isDone ? "yes" : isToday ? "waiting" : "off"} />
              <span className="day">{m.warm_up_day({ step })}</span>
              <span className="bar">
                <i style={{ width: `${(ceiling / top) * 100}%` }} />
                {isToday && <u style={{ width: `${(Math.min(plan.used, ceiling) / top) * 100}%` }} />}
              </span>
              <span className="num">{count(ceiling)}</span>
            </li>
          );
        })}
      </ol>
    </>
  );
}

/** The most that a domain that is warmed up like this sends on its last day, unless it is said otherwise. */
const USUAL_TARGET = 5_000;

function PlanDialog({ domain, onClose }: { domain: Domain; onClose: () => void }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  return (
    <FormDialog
      title={m.warm_up_start_title({ domain: domain.domain })}
      deed={m.warm_up_start()}
      places={{ target: ["/targetPerDay"], days: ["/days", "/steps"], start: ["/start"] }}
      onClose={onClose}
      run={async (form) => {
        const days = Number(textOf(form, "days"));
        const start = textOf(form, "start");
        const plan = await api(projectId).domains.setWarmUp(domain.id, {
          targetPerDay: Number(textOf(form, "target")),
          ...(days && { days }),
          ...(start && { start }),
        });
        client.setQueryData(warmUpQuery(projectId, domain.id).queryKey, plan);
        notifications.show({ message: m.warm_up_started({ domain: domain.domain }) });
      }}
    >
      {(errors) => (
        <>
          <p>{m.warm_up_start_lead()}</p>
          <Field
            label={m.warm_up_target()}
            name="target"
            type="number"
            min={1}
            defaultValue={USUAL_TARGET}
            hint={m.warm_up_target_hint()}
            error={errors.target}
            data-autofocus
          />
          <div className="two even">
            <Field
              label={m.warm_up_days()}
              name="days"
              type="number"
              min={1}
              hint={m.warm_up_days_hint()}
              error={errors.days}
            />
            <Field
              label={m.warm_up_first_day()}
              name="start"
              type="date"
              hint={m.warm_up_first_day_hint()}
              error={errors.start}
            />
          </div>
        </>
      )}
    </FormDialog>
  );
}
