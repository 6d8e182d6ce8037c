import type { DnsRecord, Domain } from "@postern/sdk";
import { IconDownload, IconMailForward } from "@tabler/icons-react";
import { getRouteApi, useNavigate } from "@tanstack/react-router";
import { useEffect, useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { download } from "../../parts/download";
import { Button, Copy, ICON, Status } from "../../parts/parts";
import { relative, useNow } from "../../parts/relative";
import { HandOver } from "./HandOver";
import { difference, foundValue, inOrder, nameIn, type Piece, toPublish, zoneFile, zonesOf } from "./records";
import { nameOf, PURPOSES, recordLook } from "./words";

const page = getRouteApi("/session/projects/$projectId/domains/$domainId");

/** Milliseconds for which a record that was just found stands out. */
const FOUND_MS = 4_000;

/** The records to publish, each with what was found at the last look. */
export function Records({ domain, isLooking }: { domain: Domain; isLooking: boolean }) {
  const { zone: wanted } = page.useSearch();
  const navigate = useNavigate();
  const [isHandingOver, setHandingOver] = useState(false);
  const zones = zonesOf(domain.domain);
  const zone = zones.find((each) => each === wanted);
  const records = inOrder(domain.records);
  const right = records.filter((each) => each.status === "VERIFIED").length;
  const fresh = useJustFound(domain);
  return (
    <section className="sec records" aria-labelledby="records">
      <header>
        <h2 id="records">{m.domains_records()}</h2>
        <p>{right === records.length ? m.domains_all_right() : m.domains_right({ right, all: records.length })}</p>
        <div className="acts">
          <label className="names">
            <span>{m.domains_names()}</span>
            <select
              className="input"
              value={zone ?? ""}
              onChange={(event) =>
                void navigate({
                  to: ".",
                  search: (before: object) => ({ ...before, zone: event.target.value || undefined }) as never,
                  replace: true,
                  resetScroll: false,
                })
              }
            >
              <option value="">{m.domains_names_full()}</option>
              {zones.map((each) => (
                <option key={each} value={each}>
                  {m.domains_names_without({ zone: each })}
                </option>
              ))}
            </select>
          </label>
          <Button
            size="small"
            icon={<IconDownload {...ICON} />}
            onClick={() => download(zoneFile(domain.records), `${domain.domain}.zone`, "text/dns")}
          >
            {m.domains_zone_file()}
          </Button>
          <Button size="small" icon={<IconMailForward {...ICON} />} onClick={() => setHandingOver(true)}>
            {m.domains_hand_over()}
          </Button>
        </div>
      </header>
      <div className="edge">
        <table className="table dns">
          <thead>
            <tr>
              <th scope="col">{m.domains_state()}</th>
              <th scope="col">{m.domains_for()}</th>
              <th scope="col">{m.domains_type()}</th>
              <th scope="col">{m.domains_name()}</th>
              <th scope="col">{m.domains_value()}</th>
            </tr>
          </thead>
          <tbody>
            {records.map((record) => (
              <Row
                key={`${record.purpose} ${record.name}`}
                record={record}
                zone={zone}
                checked={domain.lastCheckedAt !== null}
                isFresh={fresh.has(record.purpose)}
              />
            ))}
          </tbody>
        </table>
      </div>
      <Looks domain={domain} isLooking={isLooking} />
      {isHandingOver && <HandOver domain={domain} zone={zone} onClose={() => setHandingOver(false)} />}
    </section>
  );
}

/** The purposes of the records that were found since the page was opened, for a moment each. */
function useJustFound(domain: Domain): ReadonlySet<string> {
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const known = useRef(domain);
  useEffect(() => {
    const before = new Map(known.current.records.map((each) => [each.purpose, each.status]));
    known.current = domain;
    const found = domain.records.filter(
      (each) => each.status === "VERIFIED" && before.get(each.purpose) !== "VERIFIED",
    );
    if (found.length === 0) return;
    setFresh(new Set(found.map((each) => each.purpose)));
    const timer = setTimeout(() => setFresh(new Set()), FOUND_MS);
    return () => clearTimeout(timer);
  }, [domain]);
  return fresh;
}

function Row({
  record,
  zone,
  checked,
  isFresh,
}: {
  record: DnsRecord;
  zone: string | undefined;
  checked: boolean;
  isFresh: boolean;
}) {
  const { shape, tone, word } = recordLook(record, checked);
  const purpose = PURPOSES[record.purpose];
  const name = nameIn(record.name, zone);
  const value = toPublish(record);
  const found = record.status === "WRONG" ? foundValue(record) : undefined;
  const of = nameOf(record);
  const copyValue = <Copy value={value} label={m.domains_copy_value({ record: of })} />;
  return (
    <tr className={`${record.status === "WRONG" ? "differs" : ""} ${isFresh ? "found" : ""}`}>
      <td>
        <Status shape={shape} tone={tone}>
          {word()}
        </Status>
      </td>
      <th scope="row" title={purpose?.why()}>
        {purpose?.what() ?? record.purpose}
        <small>
          {purpose?.term()}
          {record.required && `, ${m.domains_needed()}`}
        </small>
      </th>
      <td>
        <span className="tag key">{record.type}</span>
      </td>
      <td className="name">
        <code>{breakable(name)}</code>
        <Copy value={name} label={m.domains_copy_name({ record: of })} />
      </td>
      <td className="value">
        {found === undefined ? (
          <>
            <Value text={value} />
            {copyValue}
          </>
        ) : (
          <Difference found={found} expected={value}>
            {copyValue}
          </Difference>
        )}
        {record.status === "WRONG" && record.found.length > 1 && (
          <p className="reason">{m.domains_others({ count: record.found.length })}</p>
        )}
        {(record.status === "WRONG" || record.status === "UNKNOWN") && record.reason && (
          <p className="reason">{record.reason}</p>
        )}
        {value !== record.value && <p className="reason">{m.domains_merged()}</p>}
      </td>
    </tr>
  );
}

/** A name that is broken at its dots where it is too long for its column. */
function breakable(name: string): React.ReactNode {
  return name.split(".").map((label, number) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the labels of a name have no other identity.
    <span key={number}>
      {number > 0 && (
        <>
          <wbr />.
        </>
      )}
      {label}
    </span>
  ));
}

/** Characters of a value that are shown before it is cut: keys are longer, and nobody reads them. */
const LONG = 120;

function Value({ text }: { text: string }) {
  return text.length > LONG ? (
    <code className="long" title={text}>
      {text}
    </code>
  ) : (
    <code>{text}</code>
  );
}

/** Characters around a difference in long values. */
const AROUND = 24;

/** What was found over what is expected, with the difference marked. */
function Difference({ found, expected, children }: { found: string; expected: string; children: React.ReactNode }) {
  const pieces = difference(found, expected);
  return (
    <dl className="diff">
      <dt>{m.domains_found()}</dt>
      <dd>
        <code>
          <Pieces pieces={pieces.found} as="del" />
        </code>
      </dd>
      <dt>{m.domains_should_be()}</dt>
      <dd>
        <code>
          <Pieces pieces={pieces.expected} as="ins" />
        </code>
        {children}
      </dd>
    </dl>
  );
}

function Pieces({ pieces, as: Mark }: { pieces: Piece[]; as: "del" | "ins" }) {
  return pieces.map(({ text, differs }, number) => {
    const key = `${number}${differs}`;
    if (differs) return <Mark key={key}>{shortened(text, 2 * AROUND)}</Mark>;
    const isFirst = number === 0;
    if (text.length <= LONG / 2) return <span key={key}>{text}</span>;
    return <span key={key}>{isFirst ? `…${text.slice(-AROUND)}` : `${text.slice(0, AROUND)}…`}</span>;
  });
}

function shortened(text: string, most: number): string {
  return text.length > most ? `${text.slice(0, most / 2)}…${text.slice(-most / 2)}` : text;
}

/** When the records were looked up and when they are next, and what a look waits for. */
function Looks({ domain, isLooking }: { domain: Domain; isLooking: boolean }) {
  const now = useNow();
  const { lastCheckedAt, nextCheckAt, status } = domain;
  if (isLooking)
    return (
      <p className="muted after" role="status">
        {m.domains_looking_lead({ domain: domain.domain })}
      </p>
    );
  return (
    <p className="muted after">
      {lastCheckedAt ? m.domains_looked_up({ when: relative(lastCheckedAt, now) }) : m.domains_never_looked()}{" "}
      {status === "FAILED"
        ? m.domains_no_more_looks()
        : nextCheckAt &&
          (Date.parse(nextCheckAt) > now
            ? m.domains_next_look_at({ when: relative(nextCheckAt, now) })
            : m.domains_next_look_now())}{" "}
      {m.domains_dns_delay()}
    </p>
  );
}
