import { notifications } from "@mantine/notifications";
import { APIError, type WebhookDelivery, type WebhookDeliveryDetail } from "@postern/sdk";
import { IconRefresh } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { Link, useParams } from "@tanstack/react-router";
import { useState } from "react";
import { useNeighbours } from "../../lists/neighbours";
import { Panel } from "../../lists/Panel";
import { m } from "../../messages/messages.js";
import { CodeBox } from "../../parts/CodeBox";
import { CopyRequest } from "../../parts/CopyRequest";
import { bytes, duration, longTime } from "../../parts/format";
import { Button, Copy, Empty, ICON, LoadingFailed, Pill, Time } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { eventWords } from "./events";
import { outcomeOf, pillTone } from "./health";
import { webhookQuery } from "./queries";

/** Milliseconds between two looks at a delivery that is not finished. */
const LOOK_MS = 3_000;
/** Attempts of one series. */
const ATTEMPTS = 10;

/** One delivery: what was sent, what came back, and when it goes on. */
export function DeliveryPanel() {
  const projectId = useProjectId();
  const { webhookId = "", deliveryId = "" } = useParams({ strict: false });
  const { row, patch } = useNeighbours();
  const mayWrite = useMayWrite();
  const webhook = useQuery(webhookQuery(projectId, webhookId)).data;
  const [isBusy, setBusy] = useState(false);
  const query = useQuery({
    queryKey: ["developers", projectId, "delivery", webhookId, deliveryId],
    queryFn: ({ signal }) => api(projectId).webhooks.deliveries.get(webhookId, deliveryId, { signal }),
    refetchInterval: ({ state }) => (state.data?.status === "PENDING" ? LOOK_MS : false),
    placeholderData: row ? { ...(row as WebhookDelivery), responseBody: null } : undefined,
  });
  const path = `/projects/${projectId}/webhooks/${webhookId}/deliveries/${deliveryId}`;
  usePageRequest({ method: "GET", path });
  const found = query.data;
  if (!found)
    return (
      <Panel label={m.developers_delivery()} actions={null} busy={query.isPending}>
        {query.isError &&
          (query.error instanceof APIError && query.error.status === 404 ? (
            <Empty title={m.developers_del_gone()} lead={m.developers_del_gone_lead()} />
          ) : (
            <LoadingFailed title={m.list_one_failed()} error={query.error} onRetry={query.refetch} />
          ))}
      </Panel>
    );
  const replay = async () => {
    setBusy(true);
    try {
      await api(projectId).webhooks.deliveries.replay(webhookId, deliveryId);
      notifications.show({ message: m.developers_replayed_one() });
      const { data } = await query.refetch();
      if (data) patch(data.id, data);
    } catch (error) {
      notifications.show({ message: messageOf(error) });
    } finally {
      setBusy(false);
    }
  };
  const outcome = outcomeOf(found);
  return (
    <Panel
      label={eventWords(found.event)}
      actions={
        <>
          <CopyRequest request={{ method: "GET", path }} />
          {mayWrite && (
            <Button
              size="small"
              icon={<IconRefresh {...ICON} />}
              busy={isBusy}
              disabled={webhook?.active === false}
              title={webhook?.active === false ? m.developers_replay_off() : undefined}
              onClick={() => void replay()}
            >
              {m.developers_send_again()}
            </Button>
          )}
        </>
      }
    >
      <header className="subject">
        <Pill shape={outcome.shape} tone={pillTone(outcome)}>
          {outcome.word}
        </Pill>
        <h2>{eventWords(found.event)}</h2>
        <dl className="facts">
          <dt>{m.developers_event()}</dt>
          <dd>
            <code>{found.event}</code>
            <Link to="/projects/$projectId/developers/events/$eventId" params={{ projectId, eventId: found.eventId }}>
              {m.developers_show_event()}
            </Link>
          </dd>
          <dt>{m.developers_attempts()}</dt>
          <dd>
            {found.status === "PENDING"
              ? m.developers_attempts_of({ count: found.attempts, most: ATTEMPTS })
              : found.attempts}
          </dd>
          {found.attemptedAt && (
            <>
              <dt>{m.developers_last_attempt()}</dt>
              <dd>
                <Time at={found.attemptedAt} format={longTime} />
                {found.responseTime !== null && (
                  <span className="muted">{m.developers_after({ time: duration(found.responseTime) })}</span>
                )}
              </dd>
            </>
          )}
          {found.nextAttemptAt && (
            <>
              <dt>{m.developers_next_attempt()}</dt>
              <dd>
                <Time at={found.nextAttemptAt} format={longTime} />
              </dd>
            </>
          )}
          <dt>{m.developers_created()}</dt>
          <dd>
            <Time at={found.createdAt} format={longTime} />
          </dd>
        </dl>
      </header>
      <Answer delivery={found} isLoaded={!query.isPlaceholderData} />
      <Sent delivery={found} prefix={webhook?.format === "resend" ? "svix" : "webhook"} url={webhook?.url ?? ""} />
    </Panel>
  );
}

/** The answer to the last attempt. */
function Answer({ delivery, isLoaded }: { delivery: WebhookDeliveryDetail; isLoaded: boolean }) {
  const { responseStatus, responseBody, errorMessage, attempts, status } = delivery;
  if (attempts === 0 && status === "PENDING")
    return (
      <section className="block">
        <h3>{m.developers_answer()}</h3>
        <p className="muted">{m.developers_not_called()}</p>
      </section>
    );
  return (
    <section className="block">
      <div className="sechead">
        <h3>{m.developers_answer()}</h3>
        {responseStatus !== null && <p>HTTP {responseStatus}</p>}
        <div className="acts">{responseBody && <Copy value={responseBody} />}</div>
      </div>
      {errorMessage && <p>{errorMessage}</p>}
      {responseBody ? (
        <CodeBox label={m.developers_answer()}>{responseBody}</CodeBox>
      ) : (
        isLoaded && responseStatus !== null && <p className="muted">{m.developers_answer_empty()}</p>
      )}
      <p className="muted small">{m.developers_answer_kept()}</p>
    </section>
  );
}

/** What is sent at every attempt. */
function Sent({ delivery, prefix, url }: { delivery: WebhookDelivery; prefix: string; url: string }) {
  const payload = JSON.stringify(delivery.payload, null, 2);
  const isGone = Object.keys(delivery.payload).length === 0;
  return (
    <section className="block">
      <div className="sechead">
        <h3>{m.developers_request()}</h3>
        {!isGone && <p>{bytes(new Blob([JSON.stringify(delivery.payload)]).size)}</p>}
        <div className="acts">{!isGone && <Copy value={payload} label={m.developers_copy_payload()} />}</div>
      </div>
      <CodeBox label={m.developers_request_headers()}>
        {`POST ${url}\nContent-Type: application/json\n${prefix}-id: ${delivery.eventId}\n${prefix}-timestamp: ${m.developers_anew()}\n${prefix}-signature: v1,${m.developers_anew()}`}
      </CodeBox>
      {isGone ? (
        <p className="muted">{m.developers_payload_gone()}</p>
      ) : (
        <CodeBox label={m.developers_payload()}>{payload}</CodeBox>
      )}
    </section>
  );
}
