import type { ContactImportPreview, ContactImportPreviewColumn } from "@postern/sdk";
import { useId, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { Button, Field } from "../../parts/parts";
import { TYPES } from "./attributes";
import { type Choice, choiceOf, type Target } from "./csvStart";
import { delimiterWords } from "./importWords";
import { ATTRIBUTE_NAME_CHARACTERS } from "./limits";
import { inWords, typeName } from "./values";

const CHARSETS = [
  "utf-8",
  "utf-16le",
  "windows-1252",
  "windows-1250",
  "windows-1251",
  "windows-1256",
  "koi8-r",
  "shift_jis",
  "gb18030",
  "big5",
  "euc-kr",
];
const TARGETS: Target[] = ["email", "attribute", "unsubscribed", "subscribed", "attributes", "none"];

/** How the bytes of the file are read. */
export function Encoding({
  found,
  charset,
  onChange,
}: {
  found: ContactImportPreview;
  charset: string;
  onChange: (charset: string) => void;
}) {
  const charsets = CHARSETS.includes(found.charset) ? CHARSETS : [found.charset, ...CHARSETS];
  return (
    <div className="encoding">
      <Field label={m.contacts_encoding()}>
        {(attributes) => (
          <select className="input" {...attributes} value={charset} onChange={(event) => onChange(event.target.value)}>
            <option value="">{m.contacts_encoding_detected({ charset: charset ? "…" : found.charset })}</option>
            {charsets.map((each) => (
              <option key={each} value={each}>
                {each}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div className="field">
        <span className="label">{m.contacts_delimiter()}</span>
        <span className="said">{delimiterWords(found.delimiter)}</span>
      </div>
    </div>
  );
}

/** What is wrong with the file as a whole. */
export function Notices({ found, onEmail }: { found: ContactImportPreview; onEmail: (column: string) => void }) {
  const addresses = found.columns.find(
    (each) => each.name && each.samples.length > 0 && each.samples.some((sample) => sample.includes("@")),
  );
  return found.problems
    .filter((each) => each.column === null)
    .map((each) => {
      const isMissing = each.code === "email_column_missing";
      return (
        <p key={each.code + each.message} className={each.blocking ? "note bad" : "note"} role="status">
          <Glyph shape={each.blocking ? "failed" : "attention"} />
          <span>
            {isMissing ? m.contacts_no_email_column() : `${each.message} ${each.next ?? ""}`}{" "}
            {isMissing && addresses && (
              <Button size="small" onClick={() => onEmail(addresses.name)}>
                {m.contacts_take_column({ column: addresses.name })}
              </Button>
            )}
          </span>
        </p>
      );
    });
}

const TARGET_NAMES: Record<Target, () => string> = {
  email: m.contacts_email,
  attribute: m.contacts_target_attribute,
  unsubscribed: m.contacts_target_unsubscribed,
  subscribed: m.contacts_target_subscribed,
  attributes: m.contacts_target_attributes,
  none: m.contacts_target_none,
};

/** The columns of the file, and what becomes of each. */
export function Mapping({
  found,
  choices,
  types,
  onChange,
}: {
  found: ContactImportPreview;
  /** What the person chose, by the name of the column. */
  choices: ReadonlyMap<string, Choice>;
  types: ReadonlyMap<string, string>;
  onChange: (name: string, choice: Choice) => void;
}) {
  const names = useId();
  return (
    <>
      <datalist id={names}>
        {[...types.keys()].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      <ul className="mapping">
        {found.columns.map((column) => (
          <MappedColumn
            key={column.number}
            column={column}
            problems={found.problems.filter((each) => each.column === column.number)}
            choice={choices.get(column.name) ?? choiceOf(column)}
            known={types}
            names={names}
            onChange={(choice) => onChange(column.name, choice)}
          />
        ))}
      </ul>
    </>
  );
}

function MappedColumn({
  column,
  problems,
  choice,
  known,
  names,
  onChange,
}: {
  column: ContactImportPreviewColumn;
  problems: ContactImportPreview["problems"];
  choice: Choice;
  known: ReadonlyMap<string, string>;
  names: string;
  onChange: (choice: Choice) => void;
}) {
  const name = column.name || m.contacts_no_name();
  // While it is typed, nothing is sent: the name counts when the field is left.
  const [typed, setTyped] = useState<string>();
  const isKnown = known.has(choice.name);
  const type = known.get(choice.name) ?? column.type;
  const apply = () => {
    const next = typed?.trim();
    setTyped(undefined);
    if (next && next !== choice.name) onChange({ ...choice, name: next, type: "" });
  };
  return (
    <li>
      <div className="about">
        <b className="cut" title={name}>
          {name}
        </b>
        <span className="cut muted">{column.samples.join(" · ") || m.contacts_no_samples()}</span>
      </div>
      <div className="becomes">
        <select
          className="input"
          aria-label={m.contacts_becomes({ column: name })}
          value={choice.target}
          disabled={!column.name}
          onChange={(event) => onChange({ ...choice, target: event.target.value as Target, type: "" })}
        >
          {TARGETS.map((each) => (
            <option key={each} value={each}>
              {TARGET_NAMES[each]()}
            </option>
          ))}
        </select>
        {choice.target === "attribute" && (
          <>
            <input
              className="input"
              aria-label={m.contacts_attribute_of({ column: name })}
              list={names}
              maxLength={ATTRIBUTE_NAME_CHARACTERS}
              autoComplete="off"
              value={typed ?? choice.name}
              onChange={(event) => setTyped(event.target.value)}
              onBlur={apply}
              onKeyDown={(event) => event.key === "Enter" && apply()}
            />
            <select
              className="input"
              aria-label={m.contacts_type_of({ column: name })}
              value={choice.type}
              disabled={isKnown}
              onChange={(event) => onChange({ ...choice, type: event.target.value })}
            >
              <option value="">
                {isKnown && type
                  ? m.contacts_type_as({ type: typeName(type) })
                  : type
                    ? m.contacts_type_found({ type: typeName(type) })
                    : m.contacts_type_by_values()}
              </option>
              {!isKnown &&
                TYPES.map((each) => (
                  <option key={each} value={each}>
                    {typeName(each)}
                  </option>
                ))}
            </select>
          </>
        )}
      </div>
      {problems.map((each) => (
        <p key={each.code + each.message} className={each.blocking ? "wrong" : "muted"} role="status">
          <Glyph shape={each.blocking ? "failed" : "attention"} />
          <span>
            {each.message} {each.next}
          </span>
        </p>
      ))}
    </li>
  );
}

/** The first rows as the import would read them. */
export function Rows({ found, types }: { found: ContactImportPreview; types: ReadonlyMap<string, string> }) {
  const names = [...new Set(found.rows.flatMap((row) => Object.keys(row.attributes ?? {})))];
  const refused = found.rows.filter((row) => row.error !== null).length;
  if (found.rows.length === 0) return null;
  return (
    <section className="sec">
      <header>
        <h2 id="rows-title">{m.contacts_first_rows()}</h2>
        <p>
          {refused
            ? m.contacts_rows_refused({ refused, count: found.rows.length })
            : found.rows.length === 1
              ? m.contacts_rows_good_one()
              : m.contacts_rows_good({ count: found.rows.length })}
        </p>
      </header>
      <p className="muted">{m.contacts_rows_lead()}</p>
      {/* biome-ignore lint/a11y/noNoninteractiveTabindex: a wide table is scrolled with the keyboard, too. */}
      <div className="scrollx" role="region" aria-labelledby="rows-title" tabIndex={0}>
        <table className="table plain tight">
          <thead>
            <tr>
              <th scope="col" className="num">
                {m.contacts_line_head()}
              </th>
              <th scope="col">{m.contacts_email()}</th>
              <th scope="col">{m.contacts_state()}</th>
              {names.map((name) => (
                <th key={name} scope="col">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {found.rows.map((row) => (
              <tr key={row.line}>
                <td className="num muted">{row.line}</td>
                {row.error !== null ? (
                  <td colSpan={2 + names.length}>
                    <span className="wrong">
                      <Glyph shape="failed" />
                      <span>{row.error}</span>
                    </span>
                  </td>
                ) : (
                  <>
                    <th scope="row">{row.email}</th>
                    <td>{row.unsubscribed ? m.contacts_will_unsubscribe() : ""}</td>
                    {names.map((name) => (
                      <td key={name}>{inWords(row.attributes?.[name], types.get(name))}</td>
                    ))}
                  </>
                )}
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}
