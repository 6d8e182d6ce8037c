import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { m } from "../../messages/messages.js";
import { clockTime, count } from "../../parts/format";
import { LoadingFailed, SkeletonRows, Status, Time } from "../../parts/parts";
import { countStuck, readinessQuery, STUCK_MINUTES, stuckQuery } from "../../session/health";
import { useProject, useProjectId } from "../../session/profile";
import { api, reachable } from "../../session/server";
import { transportSeen } from "../overview/attention";
import { CAPTURED } from "../overview/queries";
import { Frame } from "./Frame";
import { Section } from "./pieces";

/** E-mails that tell how mail leaves at present. */
const RECENT = 25;

/** Each part in words: what it is for, and what follows while it fails. */
const PARTS: Record<string, { name: () => string; well: () => string; trouble: () => string; todo: () => string }> = {
  database: {
    name: m.settings_part_database,
    well: m.settings_part_database_well,
    trouble: m.settings_part_database_trouble,
    todo: m.settings_part_database_todo,
  },
  migrations: {
    name: m.settings_part_migrations,
    well: m.settings_part_migrations_well,
    trouble: m.settings_part_migrations_trouble,
    todo: m.settings_part_migrations_todo,
  },
  disk: {
    name: m.settings_part_disk,
    well: m.settings_part_disk_well,
    trouble: m.settings_part_disk_trouble,
    todo: m.settings_part_disk_todo,
  },
  worker: {
    name: m.settings_part_worker,
    well: m.settings_part_worker_well,
    trouble: m.settings_part_worker_trouble,
    todo: m.settings_part_worker_todo,
  },
};

/** How the server is: what its readiness check tells, and what waits in this project. */
export function InstancePart() {
  const projectId = useProjectId();
  const up = reachable.use();
  const readiness = useQuery(readinessQuery);
  const stuck = useQuery(stuckQuery(projectId));
  const version = useQuery({
    queryKey: ["version"],
    queryFn: async ({ signal }) => {
      const response = await fetch("/", { signal, headers: { accept: "application/json" } });
      return ((await response.json()) as { version?: string }).version;
    },
    staleTime: Number.POSITIVE_INFINITY,
  });
  const troubles = countStuck(readiness.data, stuck.data?.total);
  return (
    <Frame
      name="instance"
      title={m.settings_instance()}
      lead={m.settings_instance_lead()}
      request={{ method: "GET", path: "/readyz" }}
    >
      {readiness.error && !readiness.data ? (
        <LoadingFailed
          title={m.settings_health_unknown()}
          error={readiness.error}
          onRetry={() => void readiness.refetch()}
        />
      ) : (
        <p className="verdict" role="status">
          {readiness.data && stuck.data && (
            <Status shape={!up ? "waiting" : troubles ? "attention" : "yes"} tone={up && troubles ? "bad" : ""}>
              {!up
                ? m.server_down()
                : troubles === 0
                  ? m.settings_health_well()
                  : troubles === 1
                    ? m.settings_health_one()
                    : m.settings_health_some({ count: troubles })}
            </Status>
          )}
          {readiness.dataUpdatedAt > 0 && (
            <span className="muted">
              {m.settings_health_looked()}{" "}
              <Time at={new Date(readiness.dataUpdatedAt).toISOString()} format={clockTime} />
            </span>
          )}
        </p>
      )}
      <Section title={m.settings_health_parts()} lead={m.settings_health_parts_lead()}>
        <table className="table plain health-parts" aria-busy={readiness.isPending || undefined}>
          <caption className="sr">{m.settings_health_parts()}</caption>
          <thead>
            <tr>
              <th scope="col">{m.settings_health_part()}</th>
              <th scope="col">{m.settings_health_state()}</th>
              <th scope="col">{m.settings_health_means()}</th>
            </tr>
          </thead>
          {readiness.isPending ? (
            <SkeletonRows rows={4} widths={[90, 60, 260]} />
          ) : (
            <tbody>
              {Object.entries(readiness.data?.parts ?? {}).map(([name, { ok, detail }]) => (
                // What is well needs no evidence, except how much space there is.
                <PartRow
                  key={name}
                  name={PARTS[name]?.name() ?? name}
                  ok={ok}
                  detail={!ok || name === "disk" || !PARTS[name] ? detail : undefined}
                >
                  {ok ? (
                    PARTS[name]?.well()
                  ) : (
                    <>
                      {PARTS[name]?.trouble()} <b>{PARTS[name]?.todo()}</b>
                    </>
                  )}
                </PartRow>
              ))}
            </tbody>
          )}
        </table>
      </Section>
      <Mail />
      <Section title={m.settings_about()}>
        <dl className="facts">
          <dt>{m.settings_version()}</dt>
          <dd>{version.data ? `Postern ${version.data}` : !version.isPending && m.settings_unknown()}</dd>
          <dt>{m.settings_address()}</dt>
          <dd>
            <code>{location.origin}</code>
          </dd>
        </dl>
        <p className="muted small">
          {m.settings_about_more()}{" "}
          <a href="/guide/operations" target="_blank" rel="noreferrer">
            {m.settings_about_guide()}
          </a>
        </p>
      </Section>
    </Frame>
  );
}

function PartRow({
  name,
  ok,
  detail,
  children,
}: {
  name: string;
  ok: boolean;
  detail?: string | undefined;
  children: ReactNode;
}) {
  return (
    <tr>
      <th scope="row">{name}</th>
      <td className="c-state">
        <Status shape={ok ? "yes" : "attention"} tone={ok ? "" : "bad"}>
          {ok ? m.settings_well() : m.settings_trouble()}
        </Status>
      </td>
      <td>
        {children}
        {detail && (
          <p className="said">
            <code>{detail}</code>
          </p>
        )}
      </td>
    </tr>
  );
}

/** How this project's mail leaves, and what waits. */
function Mail() {
  const projectId = useProjectId();
  const chosen = useProject()?.settings.transport;
  const emails = api(projectId).emails;
  const stuck = useQuery(stuckQuery(projectId));
  const facts = useQuery({
    queryKey: ["settings", projectId, "mail"],
    queryFn: async ({ signal }) => {
      const [queued, delayed, recent, captured] = await Promise.all([
        emails.list({ status: ["QUEUED"], limit: 1 }, { signal }),
        emails.list({ status: ["DELAYED"], limit: 1 }, { signal }),
        emails.list({ limit: RECENT }, { signal }),
        api(projectId).inbox.list({ limit: CAPTURED }, { signal }),
      ]);
      const ids = captured.data.map((each) => each.sendId);
      return { queued: queued.total ?? 0, delayed: delayed.total ?? 0, seen: transportSeen(recent.data, ids) };
    },
  });
  const leaves = chosen ?? facts.data?.seen;
  const link = { to: "/projects/$projectId/emails", params: { projectId } } as const;
  const { total = 0, newest } = stuck.data ?? {};
  return (
    <Section title={m.settings_mail()} lead={m.settings_mail_lead()}>
      {facts.error && !facts.data ? (
        <LoadingFailed error={facts.error} onRetry={() => void facts.refetch()} />
      ) : (
        <dl className="facts">
          <dt>{m.settings_mail_leaves()}</dt>
          <dd>
            {leaves === "capture"
              ? m.settings_mail_captured()
              : leaves === "relay"
                ? m.settings_mail_relayed()
                : leaves === "direct"
                  ? m.settings_mail_direct()
                  : facts.data && m.settings_mail_unknown()}{" "}
            <Link to="/projects/$projectId/settings" params={{ projectId }}>
              {m.settings_change()}
            </Link>
          </dd>
          <dt>{m.settings_mail_queued()}</dt>
          <dd>
            {facts.data && (
              <Link {...link} search={{ status: "QUEUED" }}>
                {count(facts.data.queued)}
              </Link>
            )}
            <span className="muted">{m.settings_mail_queued_means()}</span>
          </dd>
          <dt>{m.settings_mail_delayed()}</dt>
          <dd>
            {facts.data && (
              <Link {...link} search={{ status: "DELAYED" }}>
                {count(facts.data.delayed)}
              </Link>
            )}
            <span className="muted">{m.settings_mail_delayed_means()}</span>
          </dd>
        </dl>
      )}
      {total > 0 && (
        <div className="note bad">
          <Status shape="attention" tone="bad">
            {total === 1
              ? m.settings_stuck_one({ minutes: STUCK_MINUTES })
              : m.settings_stuck({ count: count(total), minutes: STUCK_MINUTES })}
          </Status>
          <p>{m.settings_stuck_todo()}</p>
          {newest?.reason && (
            <p className="said">
              <code>{newest.reason}</code>
            </p>
          )}
        </div>
      )}
    </Section>
  );
}
