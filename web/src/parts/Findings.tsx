import type { Finding } from "@postern/sdk";
import type { ReactNode } from "react";
import { Glyph, type Shape } from "../look/glyphs";
import { m } from "../messages/messages.js";
import { count } from "./format";
import "./findings.css";

const LOOKS: Record<string, { shape: Shape; word: () => string }> = {
  ERROR: { shape: "failed", word: m.findings_error },
  WARNING: { shape: "attention", word: m.findings_warning },
  ADVICE: { shape: "off", word: m.findings_advice },
};
const RANKS = Object.keys(LOOKS);

interface Shown {
  findings: Finding[];
  label: string;
  /** The place of a finding for people, if its path is not; undefined to say nothing about it. */
  placeOf?: ((path: string) => string | undefined) | undefined;
}

/** What the API finds about a domain or a message, the most severe first: what is wrong, what to do, and where. */
export function Findings({ findings, label, placeOf }: Shown) {
  const ordered = findings.toSorted((first, second) => RANKS.indexOf(first.severity) - RANKS.indexOf(second.severity));
  const trouble = ordered.filter((each) => each.severity !== "ADVICE");
  const advice = ordered.filter((each) => each.severity === "ADVICE");
  return (
    <div className="findings">
      {trouble.length > 0 && <List findings={trouble} label={label} placeOf={placeOf} />}
      {advice.length > 0 && (
        <details open={trouble.length === 0}>
          <summary>
            {advice.length === 1 ? m.findings_advice_one() : m.findings_advice_count({ count: advice.length })}
          </summary>
          <List findings={advice} label={m.findings_advice()} placeOf={placeOf} />
        </details>
      )}
    </div>
  );
}

function List({ findings, label, placeOf }: Shown) {
  return (
    <ul aria-label={label}>
      {findings.map((each) => (
        <Item key={`${each.code} ${each.path} ${each.message}`} finding={each} placeOf={placeOf} />
      ))}
    </ul>
  );
}

function Item({
  finding: { severity, path, message, fix, count: times, snippets },
  placeOf,
}: Pick<Shown, "placeOf"> & { finding: Finding }) {
  const { shape, word } = LOOKS[severity] ?? { shape: "off", word: () => severity };
  const place = placeOf?.(path);
  return (
    <li>
      <Glyph shape={shape} />
      <div>
        <p>
          <span className="sr">{word()}: </span>
          <b>{withCode(message)}</b> {withCode(fix)}
        </p>
        <p className="where">
          {placeOf ? <span className="muted">{place}</span> : path && <code>{path}</code>}
          {times > Math.max(snippets.length, 1) && (
            <span className="muted"> {m.findings_times({ count: count(times) })}</span>
          )}
        </p>
        {snippets.length > 0 && (
          <ul className="snippets">
            {[...new Set(snippets)].map((each) => (
              <li key={each}>
                <code>{each}</code>
              </li>
            ))}
          </ul>
        )}
      </div>
    </li>
  );
}

/** A sentence of the API, with what stands between backquotes as code. */
function withCode(sentence: string): ReactNode {
  return sentence.split("`").map((part, number) =>
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of a sentence have no other identity.
    number % 2 ? <code key={number}>{part}</code> : part,
  );
}

/** How many findings there are of each severity, in words: `1 mistake, 2 warnings`; empty if there is none. */
export function findingsInWords(findings: Finding[]): string {
  const of = (severity: string) => findings.filter((each) => each.severity === severity).length;
  const [errors, warnings, advice] = [of("ERROR"), of("WARNING"), of("ADVICE")];
  return [
    errors && (errors === 1 ? m.findings_error_one() : m.findings_error_count({ count: errors })),
    warnings && (warnings === 1 ? m.findings_warning_one() : m.findings_warning_count({ count: warnings })),
    advice && (advice === 1 ? m.findings_advice_one() : m.findings_advice_count({ count: advice })),
  ]
    .filter(Boolean)
    .join(", ");
}
