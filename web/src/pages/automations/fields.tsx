import { useId } from "react";
import { m } from "../../messages/messages.js";
import { Field } from "../../parts/parts";
import { EVENT_WORDS } from "../developers/events";
import type { Choices } from "./queries";

/** The name of an event, with the known ones to choose from. */
export function EventField({
  value,
  error,
  field,
  onChange,
}: {
  value: string;
  error: string | undefined;
  field: string;
  onChange: (value: string) => void;
}) {
  const list = useId();
  const known = EVENT_WORDS[value.trim()]?.();
  return (
    <>
      <Field
        label={m.automations_f_event()}
        hint={known ?? m.automations_f_event_hint()}
        error={error}
        list={list}
        data-field={field}
        maxLength={100}
        spellCheck={false}
        autoComplete="off"
        placeholder="order.placed"
        value={value}
        onChange={(event) => onChange(event.target.value)}
      />
      <datalist id={list}>
        {Object.entries(EVENT_WORDS)
          .filter(([name]) => /^(contact|customer|email|audience)\./.test(name))
          .map(([name, words]) => (
            <option key={name} value={name}>
              {words()}
            </option>
          ))}
      </datalist>
    </>
  );
}

/** An audience to choose. Only those filled by hand, where a step changes its members. */
export function AudienceField({
  value,
  choices,
  error,
  field,
  isStatic = false,
  onChange,
}: {
  value: string;
  choices: Choices;
  error: string | undefined;
  field: string;
  isStatic?: boolean;
  onChange: (id: string) => void;
}) {
  const audiences = choices.audiences.filter((each) => !isStatic || each.type === "STATIC" || each.id === value);
  return (
    <Field label={m.contacts_audience()} error={error} hint={isStatic ? m.automations_static_hint() : undefined}>
      {(given) => (
        <select
          className="input"
          {...given}
          data-field={field}
          value={value}
          onChange={(event) => onChange(event.target.value)}
        >
          <option value="">{m.contacts_choose()}</option>
          {value && !audiences.some((each) => each.id === value) && (
            <option value={value}>{m.automations_deleted_thing()}</option>
          )}
          {audiences.map(({ id, name }) => (
            <option key={id} value={id}>
              {name}
            </option>
          ))}
        </select>
      )}
    </Field>
  );
}
