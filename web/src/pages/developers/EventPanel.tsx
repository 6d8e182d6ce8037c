import type { Event, Webhook } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useNeighbours } from "../../lists/neighbours";
import { Panel } from "../../lists/Panel";
import { m } from "../../messages/messages.js";
import { CodeBox } from "../../parts/CodeBox";
import { CopyRequest } from "../../parts/CopyRequest";
import { longTime } from "../../parts/format";
import { Button, Copy, Empty, LoadingFailed, Status, Time } from "../../parts/parts";
import { queryString, usePageRequest } from "../../parts/request";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { aboutOf } from "./Events";
import { areaOf, eventWords } from "./events";
import { nameOf, outcomeOf } from "./health";
import { idBefore, matchesEvent } from "./ids";
import { webhooksQuery } from "./queries";

/** Deliveries of a webhook that are looked through for the event. */
const LOOKED_AT = 100;
/** Milliseconds between two looks at a delivery that is not finished. */
const LOOK_MS = 3_000;

/** One event: what it says, who caused it, and which webhooks got it. */
export function EventPanel() {
  const projectId = useProjectId();
  const { eventId = "" } = useParams({ strict: false });
  const { row } = useNeighbours();
  const after = idBefore(eventId);
  const parameters = { after: after ?? eventId, limit: 1 };
  const query = useQuery({
    queryKey: ["developers", projectId, "event", eventId],
    queryFn: async ({ signal }) =>
      (await api(projectId).events.list(parameters, { signal })).data.find((each) => each.id === eventId) ?? null,
    enabled: after !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    initialData: row as Event | undefined,
  });
  const path = `/projects/${projectId}/events${queryString(parameters)}`;
  usePageRequest({ method: "GET", path });
  const event = query.data;
  if (!event)
    return (
      <Panel label={m.developers_event()} actions={null} busy={query.isPending && after !== undefined}>
        {query.isError ? (
          <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
        ) : (
          (event === null || after === undefined) && (
            <Empty title={m.developers_event_gone()} lead={m.developers_event_gone_lead()} />
          )
        )}
      </Panel>
    );
  const payload = JSON.stringify(event.data, null, 2);
  const isEmail = event.type.startsWith("email.") && event.subjectId;
  return (
    <Panel label={eventWords(event.type)} actions={<CopyRequest request={{ method: "GET", path }} />}>
      <header className="subject">
        <h2>{eventWords(event.type)}</h2>
        <dl className="facts">
          <dt>{m.developers_name()}</dt>
          <dd>
            <code>{event.type}</code>
          </dd>
          <dt>{m.developers_at()}</dt>
          <dd>
            <Time at={event.occurredAt} format={longTime} />
          </dd>
          <dt>{m.developers_about()}</dt>
          <dd>
            {isEmail ? (
              <Link to="/projects/$projectId/emails/$sendId" params={{ projectId, sendId: event.subjectId ?? "" }}>
                {aboutOf(event)}
              </Link>
            ) : (
              aboutOf(event)
            )}
          </dd>
          <dt>{m.developers_by()}</dt>
          <dd>
            {ACTORS[event.actorType]?.() ?? event.actorType}
            {event.actorLabel && <span className="muted"> {event.actorLabel}</span>}
          </dd>
          {event.subjectId && (
            <>
              <dt>{m.developers_subject()}</dt>
              <dd className="id">
                <code className="cut">{event.subjectId}</code> <Copy value={event.subjectId} />
              </dd>
            </>
          )}
          <dt>{m.developers_id()}</dt>
          <dd className="id">
            <code className="cut">{event.id}</code> <Copy value={event.id} />
          </dd>
        </dl>
        {event.subjectId && (
          <Link
            className="btn small"
            to="/projects/$projectId/developers/events"
            params={{ projectId }}
            search={{ subject: event.subjectId }}
          >
            {m.developers_same_subject()}
          </Link>
        )}
      </header>
      <section className="block">
        <div className="sechead">
          <h3>{m.developers_data()}</h3>
          <div className="acts">
            <Copy value={payload} label={m.developers_copy_payload()} />
          </div>
        </div>
        <CodeBox label={m.developers_data()}>{payload}</CodeBox>
      </section>
      <Receivers event={event} />
    </Panel>
  );
}

const ACTORS: Record<string, () => string> = {
  DEVELOPER: m.developers_actor_developer,
  API_KEY: m.developers_actor_key,
  TEST_KEY: m.developers_actor_test_key,
  CUSTOMER: m.developers_actor_customer,
  SSO: m.developers_actor_sso,
  SCIM: m.developers_actor_scim,
  SYSTEM: m.developers_actor_system,
};

/** The webhooks that subscribe to such an event, with what became of it at each. */
function Receivers({ event }: { event: Event }) {
  const projectId = useProjectId();
  const webhooks = useQuery(webhooksQuery(projectId));
  const isCustom = areaOf(event.type) === "custom";
  const receiving = (webhooks.data ?? []).filter((each) => matchesEvent(each.events, event.type, isCustom));
  return (
    <section className="block">
      <h3>{m.developers_tab_webhooks()}</h3>
      {webhooks.isError && !webhooks.data ? (
        <Button size="small" onClick={() => void webhooks.refetch()}>
          {m.try_again()}
        </Button>
      ) : webhooks.data && receiving.length === 0 ? (
        <p className="muted">{m.developers_event_no_hook()}</p>
      ) : (
        <ul className="list">
          {receiving.map((each) => (
            <Receiver key={each.id} event={event} webhook={each} />
          ))}
        </ul>
      )}
    </section>
  );
}

function Receiver({ event, webhook }: { event: Event; webhook: Webhook }) {
  const projectId = useProjectId();
  const filter = { event: [event.type], limit: LOOKED_AT };
  // Deliveries cannot be asked for by their event: the newest of its name are looked through.
  const query = useQuery({
    queryKey: ["developers", projectId, "receiver", webhook.id, event.id],
    queryFn: async ({ signal }) => {
      const { data, hasNext } = await api(projectId).webhooks.deliveries.list(webhook.id, filter, { signal });
      const found = data.find((each) => each.eventId === event.id);
      const oldest = data.at(-1)?.createdAt ?? "";
      return { found, isFarther: !found && hasNext && oldest > event.occurredAt };
    },
    refetchInterval: ({ state }) => (state.data?.found?.status === "PENDING" ? LOOK_MS : false),
  });
  const { found, isFarther } = query.data ?? {};
  const outcome = found && outcomeOf(found);
  return (
    <li>
      {found && outcome ? (
        <>
          <Link
            className="grow cut"
            to="/projects/$projectId/developers/webhooks/$webhookId/$deliveryId"
            params={{ projectId, webhookId: webhook.id, deliveryId: found.id }}
          >
            {nameOf(webhook)}
          </Link>
          <Status shape={outcome.shape} tone={outcome.tone}>
            {outcome.word}
          </Status>
        </>
      ) : (
        <>
          <Link
            className="grow cut"
            to="/projects/$projectId/developers/webhooks/$webhookId"
            params={{ projectId, webhookId: webhook.id }}
            search={{ event: event.type }}
          >
            {nameOf(webhook)}
          </Link>
          <span className="muted">
            {query.data &&
              (isFarther ? m.developers_receiver_farther({ count: LOOKED_AT }) : m.developers_receiver_none())}
          </span>
        </>
      )}
    </li>
  );
}
