import type { ErrorDetail } from "@postern/sdk";
import { IconPlus, IconTrash } from "@tabler/icons-react";
import { useId, useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field, ICON } from "../../parts/parts";
import { type Fault, isSame, type Kind, kindOf, parsed, TYPES, textOf } from "./attributes";
import { ATTRIBUTE_NAME_CHARACTERS } from "./limits";
import type { Types } from "./rules";
import { typeName } from "./values";

/** One attribute in a form. */
export interface Draft {
  key: string;
  name: string;
  kind: Kind;
  text: string;
  /** The value before; undefined for an attribute that is added. */
  was: unknown;
  isRemoved: boolean;
}

export function draftsOf(attributes: Record<string, unknown>, types: Types): Draft[] {
  return Object.entries(attributes)
    .sort(([a], [b]) => a.localeCompare(b))
    .map(([name, was]) => {
      const kind = kindOf(was, types.get(name));
      return { key: `attribute ${name}`, name, kind, text: textOf(was, kind), was, isRemoved: false };
    });
}

const FAULTS: Record<Fault, () => string> = {
  number: m.contacts_fault_number,
  date: m.contacts_fault_date,
  boolean: m.contacts_fault_boolean,
  json: m.contacts_fault_json,
};

/** The change that drafts mean, with null for what is removed; or what is wrong, by the key of the draft. */
export function changeOf(drafts: Draft[]): { change: Record<string, unknown> } | { errors: Record<string, string> } {
  const change: Record<string, unknown> = {};
  const errors: Record<string, string> = {};
  const names = new Set<string>();
  for (const draft of drafts) {
    const name = draft.was === undefined ? draft.name.trim() : draft.name;
    if (draft.isRemoved) {
      change[name] = null;
      continue;
    }
    if (!name) errors[draft.key] = m.contacts_fault_name();
    else if (names.has(name)) errors[draft.key] = m.contacts_fault_twice({ name });
    names.add(name);
    const read = parsed(draft.text, draft.kind);
    if ("fault" in read) errors[draft.key] ??= FAULTS[read.fault]();
    else if (draft.was === undefined || !isSame(read.value, draft.was)) change[name] = read.value;
  }
  return Object.keys(errors).length ? { errors } : { change };
}

/** Errors of the API by the key of the draft that they are about. */
export function errorsOf(details: ErrorDetail[], drafts: Draft[]): Record<string, string> {
  const found: Record<string, string> = {};
  for (const { path, message } of details) {
    const draft = drafts.find((each) => path === `/attributes/${each.name.trim()}`);
    if (draft) found[draft.key] = message;
  }
  return found;
}

/** The attributes of a contact as fields that fit their types. */
export function AttributeFields({
  drafts,
  types,
  errors,
  onChange,
}: {
  drafts: Draft[];
  types: Types;
  errors: Record<string, string>;
  onChange: (drafts: Draft[]) => void;
}) {
  const added = useRef(0);
  const [newest, setNewest] = useState<string>();
  const names = useId();
  const set = (key: string, change: Partial<Draft>) =>
    onChange(drafts.map((each) => (each.key === key ? { ...each, ...change } : each)));
  const remove = (draft: Draft) =>
    draft.was === undefined
      ? onChange(drafts.filter((each) => each.key !== draft.key))
      : set(draft.key, { isRemoved: true });
  const add = () => {
    added.current += 1;
    const key = `new ${added.current}`;
    setNewest(key);
    onChange([...drafts, { key, name: "", kind: "string", text: "", was: undefined, isRemoved: false }]);
  };
  const rename = (draft: Draft, name: string) => {
    const type = types.get(name.trim());
    set(draft.key, { name, ...(type && type !== draft.kind && { kind: kindOf(undefined, type), text: "" }) });
  };
  return (
    <fieldset className="attributes">
      <legend className="label">{m.contacts_attributes()}</legend>
      <datalist id={names}>
        {[...types.keys()].map((name) => (
          <option key={name} value={name} />
        ))}
      </datalist>
      {drafts.map((draft) => {
        const label = draft.was === undefined ? draft.name.trim() || m.contacts_value() : draft.name;
        if (draft.isRemoved)
          return (
            <p key={draft.key} className="removed line">
              <span className="muted">{m.contacts_will_be_removed({ name: draft.name })}</span>
              <Button size="small" kind="bare" onClick={() => set(draft.key, { isRemoved: false })}>
                {m.undo()}
              </Button>
            </p>
          );
        return (
          <div key={draft.key} className={draft.was === undefined ? "attribute new" : "attribute"}>
            {draft.was === undefined && (
              <>
                <Field
                  label={m.contacts_attribute_name()}
                  value={draft.name}
                  list={names}
                  maxLength={ATTRIBUTE_NAME_CHARACTERS}
                  autoComplete="off"
                  autoFocus={draft.key === newest}
                  onChange={(event) => rename(draft, event.target.value)}
                />
                <Field label={m.contacts_attribute_type()}>
                  {(attributes) => (
                    <select
                      className="input"
                      {...attributes}
                      value={draft.kind}
                      onChange={(event) => set(draft.key, { kind: event.target.value as Kind, text: "" })}
                    >
                      {[...TYPES, "json"].map((each) => (
                        <option key={each} value={each}>
                          {typeName(each)}
                        </option>
                      ))}
                    </select>
                  )}
                </Field>
              </>
            )}
            <ValueField
              label={label}
              draft={draft}
              declared={types.get(draft.name)}
              error={errors[draft.key]}
              onChange={(text) => set(draft.key, { text })}
            />
            <button
              type="button"
              className="iconbtn"
              aria-label={m.contacts_remove_attribute({ name: label })}
              title={m.contacts_remove_attribute({ name: label })}
              onClick={() => remove(draft)}
            >
              <IconTrash {...ICON} />
            </button>
          </div>
        );
      })}
      <div>
        <Button size="small" icon={<IconPlus {...ICON} />} onClick={add}>
          {m.contacts_add_attribute()}
        </Button>
      </div>
    </fieldset>
  );
}

function ValueField({
  label,
  draft: { kind, text, was },
  declared,
  error,
  onChange,
}: {
  label: string;
  draft: Draft;
  declared: string | undefined;
  error: string | undefined;
  onChange: (text: string) => void;
}) {
  const isOther = was !== undefined && declared !== undefined && declared !== kindOf(was, declared) && kind !== "json";
  const hint =
    kind === "list"
      ? m.contacts_list_hint()
      : isOther
        ? m.contacts_other_type({ type: typeName(kind), declared: typeName(declared) })
        : undefined;
  const isLong = kind === "list" || kind === "json" || /[\r\n]/.test(text) || text.length > 80;
  return (
    <Field
      label={label}
      error={error}
      hint={hint}
      type={kind === "date" ? "date" : "text"}
      inputMode={kind === "number" ? "decimal" : undefined}
      autoComplete="off"
      value={text}
      onChange={(event) => onChange(event.target.value)}
    >
      {kind === "boolean"
        ? (attributes) => (
            <select className="input" {...attributes} value={text} onChange={(event) => onChange(event.target.value)}>
              {!text && <option value="">{m.contacts_choose()}</option>}
              <option value="true">{m.contacts_yes()}</option>
              <option value="false">{m.contacts_no()}</option>
            </select>
          )
        : isLong
          ? (attributes) => (
              <textarea
                className={kind === "json" ? "input mono" : "input"}
                rows={3}
                spellCheck={kind !== "json"}
                {...attributes}
                value={text}
                onChange={(event) => onChange(event.target.value)}
              />
            )
          : undefined}
    </Field>
  );
}
