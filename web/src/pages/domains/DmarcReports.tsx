import type { DmarcOrganization, DmarcSource, DmarcSummary, Domain } from "@postern/sdk";
import { IconUpload } from "@tabler/icons-react";
import { useQuery, useQueryClient } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { type ReactNode, useRef, useState } from "react";
import { Glyph, type Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { CodeBox } from "../../parts/CodeBox";
import { bytes, count, percent, shortDay } from "../../parts/format";
import { Button, Copy, Empty, ICON, LoadingFailed, SkeletonRows } from "../../parts/parts";
import { usePageRequest } from "../../parts/request";
import { useMayWrite, useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { DmarcChart, dateOf } from "./DmarcChart";
import { dmarcQuery } from "./queries";
import { failedOf, ownAddresses } from "./records";
import { DMARC_DAYS, USUAL_DMARC_DAYS } from "./routes";
import "../overview/overview.css";

const page = getRouteApi("/session/projects/$projectId/domains/$domainId");

/** Octets of a report that the API takes. */
const MOST_OCTETS = 10_000_000;
/** Rows of a table until all are asked for. */
const FIRST_ROWS = 10;

/** Who sends mail in the name of the domain, and whether it passes, as receivers report it. */
export function DmarcReports({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  const mayWrite = useMayWrite();
  const days = page.useSearch().days ?? USUAL_DMARC_DAYS;
  const query = useQuery(dmarcQuery(projectId, domain.id, days));
  usePageRequest({ method: "GET", path: `/projects/${projectId}/domains/${domain.id}/dmarc?days=${days}` });
  const summary = query.data;
  return (
    <section className="sec dmarcreports" aria-labelledby="dmarcreports">
      <header>
        <h2 id="dmarcreports">{m.dmarc_reports()}</h2>
        <p>{m.dmarc_lead()}</p>
        <div className="acts">
          <nav className="seg" aria-label={m.dmarc_period()}>
            {DMARC_DAYS.map((each) => (
              <Link
                key={each}
                to="."
                search={
                  ((before: object) => ({ ...before, days: each === USUAL_DMARC_DAYS ? undefined : each })) as never
                }
                replace
                resetScroll={false}
                activeOptions={{ exact: true, explicitUndefined: true }}
              >
                {m.dmarc_days({ count: each })}
              </Link>
            ))}
          </nav>
        </div>
      </header>
      {mayWrite && <Upload domain={domain} />}
      {query.isError && !summary ? (
        <LoadingFailed error={query.error} onRetry={() => void query.refetch()} />
      ) : !summary ? (
        <div aria-busy="true">
          <div className="chart blank" />
          <table className="table plain">
            <SkeletonRows rows={4} widths={[180, 60, 60]} />
          </table>
        </div>
      ) : summary.totals.messages === 0 ? (
        <NoReports domain={domain} days={days} mayWrite={mayWrite} />
      ) : (
        <Reported summary={summary} domain={domain} />
      )}
      {summary && summary.unauthenticated > 0 && (
        <p className="muted">{m.dmarc_unauthenticated({ count: summary.unauthenticated })}</p>
      )}
    </section>
  );
}

function Reported({
  summary: { totals, days, sources, organizations },
  domain,
}: {
  summary: DmarcSummary;
  domain: Domain;
}) {
  const own = ownAddresses(domain.records);
  return (
    <>
      <dl className="ledger four">
        <Figure shape="yes" label={m.dmarc_passed()} value={totals.aligned} of={totals.messages} />
        <Figure shape="bounced" label={m.dmarc_failed()} value={failedOf(totals)} of={totals.messages} />
        <Figure shape="suppressed" label={m.dmarc_quarantined()} value={totals.quarantined} of={totals.messages} />
        <Figure shape="failed" label={m.dmarc_rejected()} value={totals.rejected} of={totals.messages} />
      </dl>
      <DmarcChart days={days} />
      <h3 id="sources">{m.dmarc_sources()}</h3>
      <Rows<DmarcSource>
        label="sources"
        rows={sources}
        nameOf={(each) => each.sourceIp}
        head={m.dmarc_source()}
        name={(each) => (
          <>
            <code>{each.sourceIp}</code>
            {own.has(each.sourceIp) && <span className="muted"> {m.dmarc_own_server()}</span>}
          </>
        )}
      />
      <h3 id="receivers">{m.dmarc_receivers()}</h3>
      <Rows<DmarcOrganization>
        label="receivers"
        rows={organizations}
        nameOf={(each) => `${each.organization} ${each.reporter ?? ""}`}
        head={m.dmarc_receiver()}
        name={(each) => (
          <>
            {each.organization}
            {each.reporter !== null && each.reporter !== each.organization && (
              <span className="muted"> {m.dmarc_reporter({ domain: each.reporter })}</span>
            )}
          </>
        )}
      />
    </>
  );
}

function Figure({ shape, label, value, of }: { shape: Shape; label: string; value: number; of: number }) {
  return (
    <div>
      <dt>
        <Glyph shape={shape} />
        {label}
      </dt>
      <dd>{count(value)}</dd>
      <dd className="sub">
        <b>{percent(value / of, 1)}</b>
      </dd>
    </div>
  );
}

/** Hosts or receivers with their numbers, those with the most messages first. */
function Rows<T extends DmarcSource | DmarcOrganization>({
  label,
  rows,
  head,
  name,
  nameOf,
}: {
  label: string;
  rows: T[];
  head: string;
  name: (row: T) => ReactNode;
  nameOf: (row: T) => string;
}) {
  const [isAll, setAll] = useState(false);
  const shown = isAll ? rows : rows.slice(0, FIRST_ROWS);
  return (
    <>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what is wider than the page is read by scrolling it. */}
      <div className="scrollx" role="group" tabIndex={0} aria-labelledby={label}>
        <table className="table plain dmarcrows" aria-labelledby={label}>
          <thead>
            <tr>
              <th scope="col">{head}</th>
              <th scope="col" className="num">
                {m.dmarc_messages()}
              </th>
              <th scope="col" className="num">
                {m.dmarc_passed()}
              </th>
              <th scope="col" className="num more">
                {m.dmarc_dkim()}
              </th>
              <th scope="col" className="num more">
                {m.dmarc_spf()}
              </th>
              <th scope="col" className="num more">
                {m.dmarc_stopped()}
              </th>
              <th scope="col" className="num more">
                {m.dmarc_last()}
              </th>
            </tr>
          </thead>
          <tbody>
            {shown.map((each) => (
              <tr key={nameOf(each)}>
                <th scope="row">{name(each)}</th>
                <td className="num">{count(each.messages)}</td>
                <td className="num">
                  <Passed row={each} />
                </td>
                <td className="num more">{percent(each.dkimAligned / each.messages, 0)}</td>
                <td className="num more">{percent(each.spfAligned / each.messages, 0)}</td>
                <td className="num more">{count(each.quarantined + each.rejected)}</td>
                <td className="num more">{shortDay(dateOf(each.lastDay))}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {rows.length > shown.length && (
        <p className="after">
          <Button size="small" kind="bare" onClick={() => setAll(true)}>
            {m.dmarc_all({ count: rows.length })}
          </Button>
        </p>
      )}
    </>
  );
}

/** The share of mail that passed, with a mark if some failed. */
export function Passed({ row }: { row: Pick<DmarcSource, "messages" | "aligned"> }) {
  const share = percent(row.aligned / row.messages, 1);
  if (failedOf(row) === 0) return share;
  return (
    <span className="st bad">
      <Glyph shape="attention" />
      {share}
    </span>
  );
}

/** Adds reports from files: as XML, packed, or as the e-mail in which they came. */
function Upload({ domain }: { domain: Domain }) {
  const projectId = useProjectId();
  const client = useQueryClient();
  const input = useRef<HTMLInputElement>(null);
  const [isBusy, setBusy] = useState(false);
  const [results, setResults] = useState<{ name: string; text: string; isWrong: boolean }[]>([]);
  const add = async (files: File[]) => {
    if (files.length === 0) return;
    setBusy(true);
    setResults([]);
    for (const file of files) {
      const result = await addOne(file);
      setResults((before) => [...before, { name: file.name, ...result }]);
    }
    setBusy(false);
    void client.invalidateQueries({ queryKey: ["domains", projectId, "dmarc", domain.id] });
  };
  const addOne = async (file: File): Promise<{ text: string; isWrong: boolean }> => {
    if (file.size > MOST_OCTETS) return { text: m.dmarc_too_large({ size: bytes(MOST_OCTETS) }), isWrong: true };
    try {
      const report = await api(projectId).domains.addDmarcReport(domain.id, await file.arrayBuffer());
      const facts = {
        organization: report.organization,
        count: count(report.messages),
        day: shortDay(dateOf(report.begins)),
      };
      return { text: report.duplicate ? m.dmarc_known(facts) : m.dmarc_added(facts), isWrong: false };
    } catch (error) {
      return { text: messageOf(error), isWrong: true };
    }
  };
  return (
    <div className="upload">
      <input
        ref={input}
        type="file"
        hidden
        multiple
        accept=".xml,.gz,.zip,.eml,application/xml,application/gzip,application/zip,message/rfc822"
        onChange={(event) => {
          void add([...(event.target.files ?? [])]);
          // The same file can be chosen again.
          event.target.value = "";
        }}
      />
      <p className="line">
        <Button
          size="small"
          busy={isBusy}
          icon={<IconUpload {...ICON} />}
          onClick={() => input.current?.click()}
          aria-describedby="upload-hint"
        >
          {m.dmarc_upload()}
        </Button>
        <span className="muted" id="upload-hint">
          {m.dmarc_upload_hint()}
        </span>
      </p>
      <div role="status">
        <ul className="results">
          {results.map((each, number) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: files can have the same name, and none moves.
            <li key={number}>
              <Glyph shape={each.isWrong ? "failed" : "yes"} />
              <span>
                <b>{each.name}</b> {each.text}
              </span>
            </li>
          ))}
        </ul>
      </div>
    </div>
  );
}

/** What reports are and how they come here. */
function NoReports({ domain, days, mayWrite }: { domain: Domain; days: number; mayWrite: boolean }) {
  const projectId = useProjectId();
  const policy = domain.records.find((each) => each.purpose === "DMARC");
  const command = `curl -sS '${location.origin}/projects/${projectId}/domains/${domain.id}/dmarc-reports' \\
  -H "Authorization: Bearer $POSTERN_KEY" \\
  -H 'Content-Type: application/octet-stream' \\
  --data-binary @report.xml.gz`;
  return (
    <>
      <Empty title={m.dmarc_none({ count: days })} lead={m.dmarc_none_lead()} />
      <p className="after muted">{m.dmarc_none_address({ name: policy?.name ?? `_dmarc.${domain.domain}` })}</p>
      {mayWrite && (
        <div className="command">
          <CodeBox label={m.dmarc_command()}>{command}</CodeBox>
          <Copy value={command} label={m.copy_code()} />
        </div>
      )}
    </>
  );
}
