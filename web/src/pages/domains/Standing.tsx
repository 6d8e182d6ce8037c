import type { BlocklistEntry, DmarcSummary, Domain } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count, shortTime } from "../../parts/format";
import { Button } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { Passed } from "./DmarcReports";
import { blocklistsQuery, dmarcQuery, RATE_DAYS } from "./queries";
import { Rates } from "./Rates";
import { failedOf, ownAddresses, type Policy, policyOf, readinessOf } from "./records";
import { USUAL_DMARC_DAYS } from "./routes";

/** The rates of the domain's mail against their thresholds, and the blocklists. */
export function Reputation({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  return (
    <section className="sec rep" aria-labelledby="rep">
      <header>
        <h2 id="rep">{m.domains_reputation()}</h2>
        <p>{m.domains_last_days({ days: RATE_DAYS })}</p>
        <div className="acts">
          <Link
            className="btn small bare"
            to="/projects/$projectId/emails"
            params={{ projectId }}
            search={{ domainId: domain.id }}
          >
            {m.domains_show_emails()}
          </Link>
        </div>
      </header>
      <Rates domain={domain} />
      <Blocklists domain={domain} />
    </section>
  );
}

function Blocklists({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  const query = useQuery(blocklistsQuery(projectId, domain.id));
  const entries = query.data ?? [];
  const names = [...new Set(entries.map((each) => each.listName))];
  const listed = entries.filter((each) => each.listed);
  const answered = names.filter((name) => entries.some((each) => each.listName === name && each.status !== "UNKNOWN"));
  const isChecked = entries.some((each) => each.lastCheckedAt);
  const at = entries
    .map((each) => each.lastCheckedAt ?? "")
    .sort()
    .at(-1);
  return (
    <>
      <h3>{m.domains_blocklists()}</h3>
      {query.isError && !query.data ? (
        <p className="line">
          <span className="muted">{m.domains_blocklists_failed()}</span>
          <Button size="small" onClick={() => void query.refetch()}>
            {m.try_again()}
          </Button>
        </p>
      ) : !query.data ? (
        <i className="skel" style={{ width: 260 }} />
      ) : names.length === 0 ? (
        <p className="muted">{m.domains_blocklists_none()}</p>
      ) : (
        <>
          {listed.length > 0 && (
            <ul className="listings">
              {listed.map((each) => (
                <li key={each.id}>
                  <Glyph shape="attention" />
                  <p>
                    <b>
                      {m.domains_listed({
                        subject: each.subjectValue,
                        list: LIST_NAMES[each.listName] ?? each.listName,
                      })}
                    </b>{" "}
                    {each.firstListedAt && m.domains_listed_since({ since: shortTime(each.firstListedAt) })}
                    {each.reason && <span className="muted reasontext">{each.reason}</span>}
                  </p>
                </li>
              ))}
            </ul>
          )}
          <ul className="lists">
            {names.map((name) => (
              <List key={name} name={name} entries={entries.filter((each) => each.listName === name)} />
            ))}
          </ul>
          <p className="muted after">
            {!isChecked
              ? m.domains_blocklists_waiting()
              : listed.length > 0
                ? m.domains_on_some()
                : answered.length === 0
                  ? m.domains_no_answers()
                  : m.domains_on_none({ count: answered.length })}{" "}
            {isChecked && answered.length > 0 && answered.length < names.length && m.domains_unanswered()}{" "}
            {at && m.domains_lists_at({ at: shortTime(at) })}
          </p>
        </>
      )}
    </>
  );
}

/** The names under which well-known lists are known. */
const LIST_NAMES: Record<string, string> = {
  "b.barracudacentral.org": "Barracuda",
  "bl.mailspike.net": "Mailspike",
  "bl.spamcop.net": "SpamCop",
  "dbl.spamhaus.org": "Spamhaus DBL",
  "multi.surbl.org": "SURBL",
  "multi.uribl.com": "URIBL",
  "psbl.surriel.com": "PSBL",
  "zen.spamhaus.org": "Spamhaus ZEN",
};

/** One blocklist with the worst of its results. */
function List({ name, entries }: { name: string; entries: BlocklistEntry[] }) {
  if (entries.some((each) => each.listed))
    return (
      <li>
        <Glyph shape="attention" />
        <span title={name}>
          {LIST_NAMES[name] ?? name} <span className="sr">{m.domains_is_listed()}</span>
        </span>
      </li>
    );
  const isUnknown = entries.some((each) => each.status === "UNKNOWN");
  return (
    <li>
      <Glyph shape={isUnknown ? "no" : "yes"} />
      <span title={name}>
        {LIST_NAMES[name] ?? name}{" "}
        {isUnknown ? (
          <span className="muted">
            {entries.some((each) => each.lastCheckedAt) ? m.domains_no_answer() : m.domains_not_asked()}
          </span>
        ) : (
          <span className="sr">{m.domains_not_listed()}</span>
        )}
      </span>
    </li>
  );
}

const LADDER: { policy: Policy; word: () => string }[] = [
  { policy: "none", word: m.domains_policy_none },
  { policy: "quarantine", word: m.domains_policy_quarantine },
  { policy: "reject", word: m.domains_policy_reject },
];

/** Hosts that are shown here; the part about reports has the others. */
const MOST_SOURCES = 3;

/** The published policy as a step of three, who sends in the domain's name, and when the next step is due. */
export function Dmarc({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  const record = domain.records.find((each) => each.purpose === "DMARC");
  const policy = record && policyOf(record.found);
  const reports = useQuery(dmarcQuery(projectId, domain.id, USUAL_DMARC_DAYS)).data;
  const advice = adviceOf(domain, policy, reports);
  return (
    <section className="sec dmarc" aria-labelledby="dmarc">
      <header>
        <h2 id="dmarc">DMARC</h2>
        <p>{m.domains_dmarc_lead()}</p>
      </header>
      <ol className="ladder" aria-label={m.domains_dmarc()}>
        {LADDER.map((each) => (
          <li key={each.policy} aria-current={each.policy === policy ? "step" : undefined}>
            <b>{each.word()}</b>
            <span>
              p={each.policy}
              {each.policy === policy && `, ${m.domains_policy_today()}`}
            </span>
          </li>
        ))}
      </ol>
      {reports && reports.totals.messages > 0 && <Sources domain={domain} reports={reports} />}
      {record && record.found.length > 0 && (
        <p className="after">
          <span className="muted">{m.domains_published()}</span> <code className="published">{record.found[0]}</code>
        </p>
      )}
      <p className="after">
        <b>{advice.title}</b> <span className="muted">{advice.why}</span>
      </p>
    </section>
  );
}

/** The hosts that sent the most mail in the domain's name. */
function Sources({ domain, reports }: { domain: Domain; reports: DmarcSummary }) {
  const own = ownAddresses(domain.records);
  return (
    <>
      <table className="table plain">
        <thead>
          <tr>
            <th scope="col">{m.dmarc_sources()}</th>
            <th scope="col" className="num">
              {m.dmarc_messages()}
            </th>
            <th scope="col" className="num">
              {m.dmarc_passed()}
            </th>
          </tr>
        </thead>
        <tbody>
          {reports.sources.slice(0, MOST_SOURCES).map((each) => (
            <tr key={each.sourceIp}>
              <th scope="row">
                <code>{each.sourceIp}</code>
                {own.has(each.sourceIp) && <span className="muted"> {m.dmarc_own_server()}</span>}
              </th>
              <td className="num">{count(each.messages)}</td>
              <td className="num">
                <Passed row={each} />
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="after">
        <Link to="." search={(before: object) => ({ ...before, tab: "dmarc" }) as never}>
          {m.dmarc_show({ count: USUAL_DMARC_DAYS })}
        </Link>
      </p>
    </>
  );
}

/** Whether the next step of the policy is due, and why. */
function adviceOf(
  domain: Domain,
  policy: Policy | undefined,
  reports: DmarcSummary | undefined,
): { title: string; why: string } {
  const isSigned = domain.records.some((each) => each.purpose === "DKIM" && each.status === "VERIFIED");
  if (!policy) return { title: m.domains_policy_missing(), why: m.domains_policy_missing_why() };
  if (!isSigned) return { title: m.domains_policy_unsigned(), why: m.domains_policy_unsigned_why() };
  if (policy === "reject") return { title: m.domains_policy_done(), why: m.domains_policy_done_why() };
  const next = policy === "none" ? "p=quarantine" : "p=reject";
  switch (reports && readinessOf(reports)) {
    case "ready":
      return {
        title: m.domains_policy_due(),
        why: m.domains_policy_due_why({ next, messages: count(reports?.totals.messages ?? 0) }),
      };
    case "failing":
      return {
        title: m.domains_policy_not_yet(),
        why: m.domains_policy_not_yet_why({ next, failed: count(reports ? failedOf(reports.totals) : 0) }),
      };
    default:
      return { title: m.domains_policy_later(), why: m.domains_policy_later_why({ next }) };
  }
}
