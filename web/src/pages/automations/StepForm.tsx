import "../contacts/contacts.css";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useId } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field, ICON } from "../../parts/parts";
import { useAttributes } from "../contacts/queries";
import { RuleBuilder } from "../contacts/RuleBuilder";
import { conditionsIn, type Group, missingIn, nodeAt } from "../contacts/rules";
import { AudienceField, EventField } from "./fields";
import type { Choices } from "./queries";
import { type AttributeRow, type EditedStep, newId } from "./steps";

type Change = (step: EditedStep, mark?: string) => void;

/** The fields of a step. `errors` are by the rest of their path: `templateId`, `rules/conditions/0/value`. */
export function StepForm({
  step,
  choices,
  errors,
  isAsked,
  onChange,
}: {
  step: EditedStep;
  choices: Choices;
  errors: Record<string, string>;
  /** A person has tried to save: what is missing is marked. */
  isAsked: boolean;
  onChange: Change;
}) {
  const { type, fields, id } = step;
  const set = (name: string) => (value: string) =>
    onChange({ ...step, fields: { ...fields, [name]: value } }, `${id}-${name}`);
  const input = (
    name: string,
    label: string,
    hint?: string,
    more: { placeholder?: string; maxLength?: number } = {},
  ) => (
    <Field
      label={label}
      hint={hint}
      error={errors[name]}
      data-field={`${id}-${name}`}
      autoComplete="off"
      value={fields[name] ?? ""}
      onChange={(event) => set(name)(event.target.value)}
      {...more}
    />
  );
  switch (type) {
    case "SEND_EMAIL":
      return (
        <div className="form">
          <Field label={m.automations_f_template()} error={errors.templateId}>
            {(given) => (
              <select
                className="input"
                {...given}
                data-field={`${id}-templateId`}
                value={fields.templateId ?? ""}
                onChange={(event) => set("templateId")(event.target.value)}
              >
                <option value="">{m.contacts_choose()}</option>
                {fields.templateId && !choices.templateNames.has(fields.templateId) && (
                  <option value={fields.templateId}>{m.automations_deleted_thing()}</option>
                )}
                {choices.templates.map((each) => (
                  <option key={each.id} value={each.id}>
                    {each.name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          {input("subject", m.automations_f_subject(), m.automations_f_subject_hint(), { maxLength: 2000 })}
          <div className="pair">
            {input("fromEmail", m.automations_f_from(), senderHint(choices), { placeholder: "hello@example.com" })}
            {input("fromName", m.automations_f_from_name(), undefined, { maxLength: 200 })}
          </div>
          {input("replyTo", m.automations_f_reply())}
        </div>
      );
    case "DELAY":
      return (
        <div className="form">
          {fields.until ? (
            <Field
              label={m.automations_f_until()}
              type="datetime-local"
              error={errors.until ?? errors[""]}
              data-field={`${id}-days`}
              value={localTime(fields.until)}
              onChange={(event) => event.target.value && set("until")(new Date(event.target.value).toISOString())}
            />
          ) : (
            <Duration step={step} errors={errors} onChange={onChange} />
          )}
          <label className="line">
            <input
              className="check"
              type="checkbox"
              checked={Boolean(fields.until)}
              onChange={(event) =>
                onChange({
                  ...step,
                  fields: event.target.checked
                    ? { until: new Date(Date.now() + 86_400_000).toISOString() }
                    : { days: "1" },
                })
              }
            />
            <span>{m.automations_f_fixed()}</span>
          </label>
        </div>
      );
    case "CONDITION":
      return <Rules step={step} choices={choices} errors={errors} isAsked={isAsked} onChange={onChange} />;
    case "WAIT_FOR_EVENT":
      return (
        <div className="form">
          <EventField
            value={fields.event ?? ""}
            error={errors.event}
            field={`${id}-event`}
            onChange={(value) => set("event")(value)}
          />
          <Duration step={step} errors={errors} label={m.automations_f_timeout()} onChange={onChange} />
        </div>
      );
    case "UPDATE_CONTACT":
      return <Attributes step={step} errors={errors} onChange={onChange} />;
    case "ADD_TO_AUDIENCE":
    case "REMOVE_FROM_AUDIENCE":
      return (
        <div className="form">
          <AudienceField
            isStatic
            value={fields.audienceId ?? ""}
            choices={choices}
            error={errors.audienceId}
            field={`${id}-audienceId`}
            onChange={set("audienceId")}
          />
        </div>
      );
    case "WEBHOOK":
      return (
        <div className="form">
          {input("url", m.automations_f_url(), m.automations_f_url_hint(), { placeholder: "https://" })}
        </div>
      );
    default:
      return <p className="muted">{m.automations_f_exit()}</p>;
  }
}

function senderHint({ domains }: Choices): string {
  const names = domains.slice(0, 3).map((each) => each.domain);
  return names.length ? m.automations_f_from_hint({ domains: names.join(", ") }) : m.automations_f_from_none();
}

/** A moment as an input of the browser takes it, in the viewer's time zone. */
function localTime(at: string): string {
  const time = new Date(at);
  if (Number.isNaN(time.getTime())) return "";
  return new Date(time.getTime() - time.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function Duration({
  step,
  errors,
  label = m.automations_f_wait(),
  onChange,
}: {
  step: EditedStep;
  errors: Record<string, string>;
  label?: string;
  onChange: Change;
}) {
  const error = errors.timeout ?? errors[""] ?? errors.days ?? errors.hours ?? errors.minutes;
  const unit = (name: string, words: string) => (
    <label className="unit">
      <input
        className="input"
        inputMode="numeric"
        autoComplete="off"
        data-field={`${step.id}-${name}`}
        aria-invalid={error ? true : undefined}
        value={step.fields[name] ?? ""}
        onChange={(event) =>
          onChange({ ...step, fields: { ...step.fields, [name]: event.target.value } }, `${step.id}-${name}`)
        }
      />
      <span>{words}</span>
    </label>
  );
  return (
    <fieldset className="duration">
      <legend className="label">{label}</legend>
      <div className="line">
        {unit("days", m.automations_unit_days())}
        {unit("hours", m.automations_unit_hours())}
        {unit("minutes", m.automations_unit_minutes())}
      </div>
      {error && (
        <p className="wrong" role="alert">
          <span>{error}</span>
        </p>
      )}
    </fieldset>
  );
}

/** Whether all values of a tree of rules are there. */
export function isComplete(tree: Group): boolean {
  return conditionsIn(tree).every((each) => missingIn(each) === undefined);
}

function Rules({
  step,
  choices,
  errors,
  isAsked,
  onChange,
}: {
  step: EditedStep;
  choices: Choices;
  errors: Record<string, string>;
  isAsked: boolean;
  onChange: Change;
}) {
  const { attributes, types } = useAttributes();
  const { tree } = step;
  if (!tree)
    return (
      <Field label={m.automations_s_condition()} hint={m.automations_f_raw()}>
        {(given) => (
          <textarea className="input mono" rows={8} readOnly {...given} value={JSON.stringify(step.raw, null, 2)} />
        )}
      </Field>
    );
  const faults = new Map<string, string>();
  if (isAsked)
    for (const each of conditionsIn(tree)) if (missingIn(each)) faults.set(each.key, m.automations_f_incomplete());
  const loose: string[] = [];
  for (const [path, message] of Object.entries(errors)) {
    const node = nodeAt(tree, `/${path}`);
    if (node) faults.set(node.key, message);
    else loose.push(message);
  }
  return (
    <div className="rulespage" data-field={`${step.id}-rules`} tabIndex={-1}>
      <RuleBuilder
        tree={tree}
        ownId={undefined}
        attributes={attributes}
        audiences={choices.audiences}
        types={types}
        faults={faults}
        onChange={(next) => onChange({ ...step, tree: next }, `${step.id}-rules`)}
      />
      {loose.map((message) => (
        <p className="wrong" role="alert" key={message}>
          <span>{message}</span>
        </p>
      ))}
    </div>
  );
}

const KINDS: Record<AttributeRow["kind"], () => string> = {
  text: m.automations_k_text,
  number: m.automations_k_number,
  boolean: m.automations_k_boolean,
  json: m.automations_k_json,
  remove: m.automations_k_remove,
};

function Attributes({
  step,
  errors,
  onChange,
}: {
  step: EditedStep;
  errors: Record<string, string>;
  onChange: Change;
}) {
  const list = useId();
  const { attributes } = useAttributes();
  const rows = step.attributes ?? [];
  const set = (next: AttributeRow[], mark?: string) => onChange({ ...step, attributes: next }, mark);
  const setRow = (row: AttributeRow) =>
    set(
      rows.map((each) => (each.key === row.key ? row : each)),
      `${step.id}-${row.key}`,
    );
  const messages = Object.values(errors);
  return (
    <div className="form">
      {rows.map((row, index) => (
        <div
          className="datarow"
          key={row.key}
          role="group"
          aria-label={m.automations_f_attribute({ number: index + 1 })}
        >
          <input
            className="input"
            list={list}
            aria-label={m.automations_f_attribute_name()}
            data-field={index === 0 ? `${step.id}-attributes` : undefined}
            value={row.name}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setRow({ ...row, name: event.target.value })}
          />
          <select
            className="input"
            aria-label={m.automations_f_kind()}
            value={row.kind}
            onChange={(event) => {
              const kind = event.target.value as AttributeRow["kind"];
              setRow({ ...row, kind, text: kind === "boolean" ? "true" : kind === row.kind ? row.text : "" });
            }}
          >
            {(Object.keys(KINDS) as AttributeRow["kind"][])
              .filter((each) => each !== "json" || row.kind === "json")
              .map((each) => (
                <option key={each} value={each}>
                  {KINDS[each]()}
                </option>
              ))}
          </select>
          {row.kind === "boolean" ? (
            <select
              className="input"
              aria-label={m.contacts_value()}
              value={row.text}
              onChange={(event) => setRow({ ...row, text: event.target.value })}
            >
              <option value="true">{m.contacts_yes()}</option>
              <option value="false">{m.contacts_no()}</option>
            </select>
          ) : (
            row.kind !== "remove" && (
              <input
                className="input"
                aria-label={m.contacts_value()}
                value={row.text}
                autoComplete="off"
                onChange={(event) => setRow({ ...row, text: event.target.value })}
              />
            )
          )}
          <button
            type="button"
            className="iconbtn"
            aria-label={m.automations_f_attribute_remove({ number: index + 1 })}
            onClick={() => set(rows.filter((each) => each.key !== row.key))}
          >
            <IconX {...ICON} />
          </button>
        </div>
      ))}
      <datalist id={list}>
        {attributes.map((each) => (
          <option key={each.id} value={each.name} />
        ))}
      </datalist>
      {messages.map((message) => (
        <p className="wrong" role="alert" key={message}>
          <span>{message}</span>
        </p>
      ))}
      <p>
        <Button
          size="small"
          icon={<IconPlus {...ICON} />}
          onClick={() => set([...rows, { key: newId(), name: "", kind: "text", text: "" }])}
        >
          {m.automations_f_attribute_add()}
        </Button>
      </p>
    </div>
  );
}
