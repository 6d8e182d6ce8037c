import type { Organization, SsoConnection, SsoTrace } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useEffect, useRef } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { Empty, LoadingFailed, Status, Time } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { tracesQuery } from "./queries";
import { valueText } from "./values";
import { Waiting } from "./Waiting";
import { kindWord, reasonWord, stepWord } from "./words";

const page = getRouteApi("/session/projects/$projectId/organizations/$organizationId");

/** The attempts to sign in of the last seven days, each with every check. */
export function Traces({ organization, connection }: { organization: Organization; connection: SsoConnection }) {
  const projectId = useProjectId();
  const { trace: openId } = page.useSearch();
  const query = useQuery(tracesQuery(projectId, organization.id, connection.id));
  return (
    <section className="sec" aria-labelledby="traces">
      <header>
        <h2 id="traces">{m.organizations_traces()}</h2>
        <p>{m.organizations_traces_lead()}</p>
      </header>
      {query.isError && !query.data ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : query.isPending ? (
        <Waiting />
      ) : query.data.length === 0 ? (
        <Empty title={m.organizations_traces_empty()} lead={m.organizations_traces_empty_lead()} />
      ) : (
        <ul className="list ruled traces">
          {query.data.map((trace) => (
            <TraceItem key={trace.id} trace={trace} isOpen={trace.id === openId} />
          ))}
        </ul>
      )}
    </section>
  );
}

/** Who tried, as far as the assertion says it. */
const personOf = ({ profile }: SsoTrace): string => valueText(profile?.email) || valueText(profile?.subject);

function TraceItem({ trace, isOpen }: { trace: SsoTrace; isOpen: boolean }) {
  const isAccepted = trace.outcome === "ACCEPTED";
  return (
    <li className={isOpen ? "open" : ""}>
      <div className="tracehead">
        <Status shape={isAccepted ? "yes" : "failed"} tone={isAccepted ? "" : "fail"}>
          {isAccepted ? m.organizations_trace_accepted() : m.organizations_trace_refused()}
        </Status>
        <Link
          className="grow quietlink breaks"
          to="."
          search={(before: object) => ({ ...before, trace: isOpen ? undefined : trace.id }) as never}
          replace
          resetScroll={false}
          aria-expanded={isOpen}
        >
          {kindWord(trace.kind)}
          {personOf(trace) && <span className="muted"> · {personOf(trace)}</span>}
          {!isAccepted && <span className="muted"> · {reasonWord(trace.reason) ?? trace.detail ?? trace.reason}</span>}
        </Link>
        <Time at={trace.createdAt} format={longTime} />
      </div>
      {isOpen && <Checks trace={trace} />}
    </li>
  );
}

/** What was checked, in order, what was found, and who it was. */
export function Checks({ trace }: { trace: SsoTrace }) {
  const projectId = useProjectId();
  const why = reasonWord(trace.reason);
  const attributes = trace.profile?.attributes;
  const facts = Object.entries(trace.profile ?? {}).filter(
    ([name, value]) => name !== "attributes" && valueText(value) !== "",
  );
  const sent = attributes && typeof attributes === "object" ? Object.entries(attributes) : [];
  const words: Record<string, () => string> = {
    subject: m.organizations_map_subject,
    nameId: () => "NameID",
    email: m.organizations_map_email,
    name: m.organizations_map_name,
    groups: m.organizations_map_groups,
    roles: m.organizations_roles,
  };
  return (
    <div className="checks">
      {trace.outcome !== "ACCEPTED" && (
        <div className="note bad trouble">
          <Glyph shape="attention" />
          <div>
            {why && <p>{why}</p>}
            {trace.detail && <p className={why ? "muted breaks" : "breaks"}>{trace.detail}</p>}
          </div>
        </div>
      )}
      <ol className="checklist">
        {trace.steps.map(({ step, ok, detail }, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: the steps of an attempt never change.
          <li key={index}>
            <Glyph shape={ok ? "yes" : "failed"} />
            <div>
              <b>{stepWord(step)}</b>
              <span className="sr"> {ok ? m.organizations_check_passed() : m.organizations_check_failed()}</span>
              {detail && <p className="muted breaks">{detail}</p>}
            </div>
          </li>
        ))}
      </ol>
      {(facts.length > 0 || sent.length > 0) && (
        <div>
          <h3>{m.organizations_profile()}</h3>
          <dl className="facts">
            {facts.map(([name, value]) => (
              <Fact key={name} name={words[name]?.() ?? name} value={valueText(value)} />
            ))}
          </dl>
          {sent.length > 0 && (
            <>
              <h3>{m.organizations_sent_attributes()}</h3>
              <dl className="facts sent">
                {sent.map(([name, value]) => (
                  <Fact key={name} name={name} value={valueText(value)} />
                ))}
              </dl>
            </>
          )}
        </div>
      )}
      {trace.customerId && (
        <p>
          <Link to="/projects/$projectId/customers/$customerId" params={{ projectId, customerId: trace.customerId }}>
            {m.organizations_show_customer()}
          </Link>
        </p>
      )}
    </div>
  );
}

function Fact({ name, value }: { name: string; value: string }) {
  return (
    <>
      <dt className="breaks">{name}</dt>
      <dd>{value}</dd>
    </>
  );
}

/** The result of the latest test; after a start in this page, only of one that is newer. */
export function LastTest({
  organization,
  connection,
  startedAt,
  onResult,
}: {
  organization: Organization;
  connection: SsoConnection;
  startedAt: string | undefined;
  onResult: () => void;
}) {
  const projectId = useProjectId();
  const query = useQuery(tracesQuery(projectId, organization.id, connection.id));
  const latest = query.data?.find((each) => each.kind === "TEST");
  /** The latest test when this page started one. */
  const before = useRef<{ startedAt: string; id: string | undefined }>(undefined);
  if (startedAt && before.current?.startedAt !== startedAt) before.current = { startedAt, id: latest?.id };
  const isWaiting = before.current !== undefined && before.current.id === latest?.id;
  const arrived = isWaiting ? undefined : latest?.id;
  const told = useRef(onResult);
  useEffect(() => {
    told.current = onResult;
  });
  useEffect(() => {
    if (arrived) told.current();
  }, [arrived]);
  if (isWaiting)
    return (
      <p className="muted waiting" role="status">
        <Glyph shape="waiting" /> {m.organizations_test_waiting()}
      </p>
    );
  if (!latest) return null;
  const isAccepted = latest.outcome === "ACCEPTED";
  return (
    <div className={isAccepted ? "note trouble" : "note bad trouble"} role="status">
      <Glyph shape={isAccepted ? "yes" : "attention"} />
      <div>
        <p>
          <b>{isAccepted ? m.organizations_test_passed() : m.organizations_test_failed()}</b>{" "}
          {isAccepted
            ? m.organizations_test_passed_as({ who: personOf(latest) })
            : (reasonWord(latest.reason) ?? latest.detail ?? latest.reason)}
        </p>
        <p>
          <Link
            to="."
            search={(old: object) => ({ ...old, trace: latest.id }) as never}
            replace
            resetScroll={false}
            hash="traces"
          >
            {m.organizations_test_checks()}
          </Link>
        </p>
      </div>
    </div>
  );
}
