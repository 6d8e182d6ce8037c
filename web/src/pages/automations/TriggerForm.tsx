import { IconPlus, IconX } from "@tabler/icons-react";
import { m } from "../../messages/messages.js";
import { Button, Field, ICON } from "../../parts/parts";
import { operatorWords } from "../contacts/ruleWords";
import { AudienceField, EventField } from "./fields";
import type { Choices } from "./queries";
import { DATA_OPERATORS, type DataRow, type EditedTrigger, newId, TRIGGER_TYPES } from "./steps";
import { TRIGGER_NAMES } from "./words";

/** What starts a run. `errors` are by the field of the trigger. */
export function TriggerForm({
  trigger,
  choices,
  errors,
  onChange,
}: {
  trigger: EditedTrigger;
  choices: Choices;
  errors: Record<string, string>;
  onChange: (trigger: EditedTrigger, mark?: string) => void;
}) {
  const set = (change: Partial<EditedTrigger>, mark?: string) => onChange({ ...trigger, ...change }, mark);
  return (
    <div className="form">
      <Field label={m.automations_trigger()} error={errors.type}>
        {(given) => (
          <select
            className="input"
            {...given}
            value={trigger.type}
            onChange={(event) => {
              const type = TRIGGER_TYPES.find((each) => each === event.target.value);
              if (type) set({ type });
            }}
          >
            {TRIGGER_TYPES.map((each) => (
              <option key={each} value={each}>
                {TRIGGER_NAMES[each]()}
              </option>
            ))}
          </select>
        )}
      </Field>
      {trigger.type.startsWith("AUDIENCE") && (
        <AudienceField
          value={trigger.audienceId}
          choices={choices}
          error={errors.audienceId}
          field="trigger-audience"
          onChange={(audienceId) => set({ audienceId })}
        />
      )}
      {trigger.type === "EVENT" && (
        <>
          <EventField
            value={trigger.event}
            error={errors.event}
            field="trigger-event"
            onChange={(event) => set({ event }, "trigger-event")}
          />
          <Where trigger={trigger} error={errors.where} set={set} />
        </>
      )}
      <label className="line">
        <input
          className="check"
          type="checkbox"
          checked={trigger.once}
          onChange={(event) => set({ once: event.target.checked })}
        />
        <span>{m.automations_once()}</span>
      </label>
      <p className="muted hint">{trigger.once ? m.automations_once_hint() : m.automations_often_hint()}</p>
    </div>
  );
}

/** Conditions on the data of the event. */
function Where({
  trigger,
  error,
  set,
}: {
  trigger: EditedTrigger;
  error: string | undefined;
  set: (change: Partial<EditedTrigger>, mark?: string) => void;
}) {
  const { rows, match, raw } = trigger;
  if (raw !== undefined)
    return (
      <Field label={m.automations_where()} hint={m.automations_where_raw()}>
        {(given) => (
          <textarea className="input mono" rows={6} readOnly {...given} value={JSON.stringify(raw, null, 2)} />
        )}
      </Field>
    );
  const setRow = (row: DataRow) =>
    set({ rows: rows.map((each) => (each.key === row.key ? row : each)) }, `where-${row.key}`);
  return (
    <fieldset className="where">
      <legend className="label">{m.automations_where()}</legend>
      {rows.length === 0 && <p className="muted">{m.automations_where_none()}</p>}
      {rows.length > 1 && (
        <select
          className="input"
          aria-label={m.automations_where_match()}
          value={match}
          onChange={(event) => set({ match: event.target.value === "any" ? "any" : "all" })}
        >
          <option value="all">{m.automations_where_all()}</option>
          <option value="any">{m.automations_where_any()}</option>
        </select>
      )}
      {rows.map((row, index) => (
        <div
          className="datarow"
          key={row.key}
          role="group"
          aria-label={m.contacts_rule_condition({ number: index + 1 })}
        >
          <input
            className="input"
            aria-label={m.automations_where_field()}
            placeholder="total"
            value={row.field}
            data-field={index === 0 ? "trigger-where" : undefined}
            autoComplete="off"
            spellCheck={false}
            onChange={(event) => setRow({ ...row, field: event.target.value })}
          />
          <select
            className="input"
            aria-label={m.contacts_rule_operator()}
            value={row.operator}
            onChange={(event) => setRow({ ...row, operator: event.target.value })}
          >
            {DATA_OPERATORS.map((each) => (
              <option key={each} value={each}>
                {operatorWords("attributes.x", each)}
              </option>
            ))}
          </select>
          {!row.operator.endsWith("xists") && (
            <input
              className="input"
              aria-label={m.contacts_value()}
              value={row.text}
              autoComplete="off"
              onChange={(event) => setRow({ ...row, text: event.target.value })}
            />
          )}
          <button
            type="button"
            className="iconbtn"
            aria-label={m.contacts_rule_remove({ number: index + 1 })}
            onClick={() => set({ rows: rows.filter((each) => each.key !== row.key) })}
          >
            <IconX {...ICON} />
          </button>
        </div>
      ))}
      {error && (
        <p className="wrong" role="alert">
          <span>{error}</span>
        </p>
      )}
      <Button
        size="small"
        icon={<IconPlus {...ICON} />}
        onClick={() => set({ rows: [...rows, { key: newId(), field: "", operator: "eq", text: "" }] })}
      >
        {m.automations_where_add()}
      </Button>
    </fieldset>
  );
}
