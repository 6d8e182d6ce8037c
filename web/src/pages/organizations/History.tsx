import type { Event, Organization } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { m } from "../../messages/messages.js";
import { roleOf } from "../../parts/access";
import { rolesQuery } from "../../parts/accessQueries";
import { longTime } from "../../parts/format";
import { Button, Empty, LoadingFailed, SkeletonRows, Time } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { api } from "../../session/server";
import { eventWords } from "../developers/events";
import { keyOf, useParts } from "./queries";
import { SOURCES } from "./words";

/** What happened to an organization, newest first; `most` shortens the list. */
export function History({ organization: { id }, most }: { organization: Organization; most?: number }) {
  const projectId = useProjectId();
  const { query, rows } = useParts<Event>(keyOf(projectId, "history", id), (parameters, options) =>
    api(projectId).events.list({ ...parameters, subjectId: id }, options),
  );
  const shown = rows.slice(0, most);
  return (
    <section className="sec" aria-labelledby="history">
      <header>
        <h2 id="history">{most ? m.organizations_latest() : m.organizations_history()}</h2>
        {!most && <p>{m.organizations_history_lead()}</p>}
      </header>
      {query.isError && rows.length === 0 ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.data && rows.length === 0 ? (
        <Empty title={m.organizations_history_empty()} lead={m.organizations_history_empty_lead()} />
      ) : (
        <table className="table plain audit" aria-busy={query.isPending || undefined}>
          <thead>
            <tr>
              <th scope="col">{m.organizations_history_what()}</th>
              <th scope="col">{m.organizations_history_who()}</th>
              <th scope="col" className="num">
                {m.organizations_history_when()}
              </th>
            </tr>
          </thead>
          {query.isPending ? (
            <SkeletonRows rows={4} widths={[180, 140, 90]} />
          ) : (
            <tbody>
              {shown.map((event) => (
                <tr key={event.id}>
                  <th scope="row">
                    {eventWords(event.type)}
                    <Detail event={event} />
                  </th>
                  <td>{actorOf(event)}</td>
                  <td className="num">
                    <Time at={event.occurredAt} format={longTime} />
                  </td>
                </tr>
              ))}
            </tbody>
          )}
        </table>
      )}
      {most ? (
        rows.length > most && (
          <p className="more">
            <Link to="." search={{ tab: "history" } as never} resetScroll={false}>
              {m.organizations_history_all()}
            </Link>
          </p>
        )
      ) : (
        <Older query={query} />
      )}
    </section>
  );
}

/** The button that reads the next part of a list. */
export function Older({
  query,
}: {
  query: { hasNextPage: boolean; isFetchingNextPage: boolean; fetchNextPage: () => unknown };
}) {
  if (!query.hasNextPage) return null;
  return (
    <p className="more">
      <Button size="small" busy={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
        {m.older()}
      </Button>
    </p>
  );
}

function actorOf({ actorType, actorLabel }: Event): string {
  if (actorLabel) return actorLabel;
  if (actorType === "SYSTEM") return m.organizations_by_postern();
  if (actorType === "CUSTOMER") return m.organizations_by_customer();
  return actorType === "DEVELOPER" ? m.organizations_by_developer() : m.customers_audit_key();
}

/** What an event says beside its name, quietly. */
function Detail({ event: { data } }: { event: Event }) {
  const projectId = useProjectId();
  const said = (name: string) => (typeof data[name] === "string" ? data[name] : "");
  const known = useQuery(rolesQuery(projectId));
  const roles = (Array.isArray(data.roles) ? data.roles.map(String) : [])
    .map((key) => roleOf(known.data ?? [], key, "ORGANIZATION")?.name ?? key)
    .join(", ");
  const status = said("status") === "SUSPENDED" ? m.organizations_suspended() : "";
  const source = said("source");
  const texts = [
    said("domain"),
    said("featureKey"),
    said("planKey") && m.organizations_plan_is({ plan: said("planKey") }),
    roles,
    status,
    SOURCES[source]?.(),
  ].filter(Boolean);
  const customerId = said("customerId");
  if (texts.length === 0 && !customerId) return null;
  return (
    <span className="muted detail">
      {texts.join(" · ")}
      {texts.length > 0 && customerId && " · "}
      {customerId && (
        <Link to="/projects/$projectId/customers/$customerId" params={{ projectId, customerId }}>
          {m.organizations_show_customer()}
        </Link>
      )}
    </span>
  );
}
