import type { ContactAttribute, ListedAudience } from "@postern/sdk";
import { IconPlus, IconX } from "@tabler/icons-react";
import { useId } from "react";
import { m } from "../../messages/messages.js";
import { Button, ICON } from "../../parts/parts";
import { Wrong } from "../../parts/Wrong";
import {
  attributeOf,
  type Condition,
  conditionsIn,
  countsEvents,
  EVENT_PREFIX,
  fieldKind,
  fieldOfAttribute,
  type Group,
  isGroup,
  type Match,
  MOST_CONDITIONS,
  MOST_LEVELS,
  type Node,
  newCondition,
  newGroup,
  OFFERED,
  type Operator,
  OWN_FIELDS,
  replaced,
  type Types,
  type ValueKind,
  withField,
  withOperator,
} from "./rules";
import { fieldWords, operatorWords } from "./ruleWords";
import { typeName } from "./values";

interface Shared {
  /** The audience that is edited: it cannot be part of its own rules. */
  ownId: string | undefined;
  attributes: ContactAttribute[];
  audiences: ListedAudience[];
  types: Types;
  /** What is wrong, by the key of the node. */
  faults: ReadonlyMap<string, string>;
  isFull: boolean;
  onReplace: (key: string, by: Node | undefined) => void;
}

/** Rules as groups of conditions. */
export function RuleBuilder({
  tree,
  onChange,
  ...shared
}: Omit<Shared, "onReplace" | "isFull"> & { tree: Group; onChange: (tree: Group) => void }) {
  const isFull = conditionsIn(tree).length >= MOST_CONDITIONS;
  return (
    <GroupBox
      {...shared}
      isFull={isFull}
      group={tree}
      level={1}
      onReplace={(key, by) => onChange(replaced(tree, key, by))}
    />
  );
}

function GroupBox({ group, level, within, ...shared }: Shared & { group: Group; level: number; within?: Match }) {
  const { faults, isFull, onReplace, types } = shared;
  const set = (change: Partial<Group>) => onReplace(group.key, { ...group, ...change });
  const fault = faults.get(group.key);
  const first = OWN_FIELDS[0];
  return (
    <fieldset className={level === 1 ? "rulegroup outer" : "rulegroup"}>
      <legend className="sr">{m.contacts_rule_group()}</legend>
      <div className="grouphead">
        <span>
          {within === undefined
            ? m.contacts_rule_match()
            : within === "all"
              ? m.contacts_rule_match_and()
              : m.contacts_rule_match_or()}
        </span>
        <select
          className="input"
          aria-label={m.contacts_rule_match_label()}
          value={group.match}
          onChange={(event) => set({ match: event.target.value as Group["match"] })}
        >
          <option value="all">{m.contacts_rule_all()}</option>
          <option value="any">{m.contacts_rule_any()}</option>
        </select>
        {level > 1 && (
          <button
            type="button"
            className="iconbtn end"
            aria-label={m.contacts_rule_remove_group()}
            title={m.contacts_rule_remove_group()}
            onClick={() => onReplace(group.key, undefined)}
          >
            <IconX {...ICON} />
          </button>
        )}
      </div>
      {group.nodes.length === 0 && (
        <p className="muted">
          {group.match === "all" ? m.contacts_rule_everybody_hint() : m.contacts_rule_nobody_hint()}
        </p>
      )}
      {group.nodes.map((node, index) =>
        isGroup(node) ? (
          <GroupBox key={node.key} {...shared} group={node} level={level + 1} within={group.match} />
        ) : (
          <ConditionRow key={node.key} {...shared} condition={node} number={index + 1} />
        ),
      )}
      {fault && <Wrong>{fault}</Wrong>}
      <div className="line">
        <Button
          size="small"
          icon={<IconPlus {...ICON} />}
          disabled={isFull}
          onClick={() => set({ nodes: [...group.nodes, newCondition(first, types)] })}
        >
          {m.contacts_rule_add()}
        </Button>
        {level < MOST_LEVELS && (
          <Button
            size="small"
            kind="bare"
            disabled={isFull}
            onClick={() => {
              const inner = newGroup(group.match === "all" ? "any" : "all", [newCondition(first, types)]);
              set({ nodes: [...group.nodes, inner] });
            }}
          >
            {m.contacts_rule_add_group()}
          </Button>
        )}
        {isFull && <span className="muted">{m.contacts_rule_full({ most: MOST_CONDITIONS })}</span>}
      </div>
    </fieldset>
  );
}

function ConditionRow({ condition, number, ...shared }: Shared & { condition: Condition; number: number }) {
  const { types, faults, onReplace } = shared;
  const id = useId();
  const fault = faults.get(condition.key);
  const { field, operator } = condition;
  const offered = offeredFor(condition, types);
  const set = (next: Condition) => onReplace(condition.key, next);
  return (
    <div className="condition" role="group" aria-label={m.contacts_rule_condition({ number })}>
      <FieldSelect {...shared} field={field} onChange={(next) => set(withField(condition, next, types))} />
      {field.startsWith(EVENT_PREFIX) && (
        <input
          className="input"
          aria-label={m.contacts_rule_event_name()}
          placeholder={m.contacts_rule_event_placeholder()}
          value={field.slice(EVENT_PREFIX.length)}
          maxLength={100}
          spellCheck={false}
          autoComplete="off"
          onChange={(event) => set({ ...condition, field: EVENT_PREFIX + event.target.value.trim() })}
        />
      )}
      <select
        className="input"
        aria-label={m.contacts_rule_operator()}
        value={operator}
        onChange={(event) => set(withOperator(condition, event.target.value as Operator, types))}
      >
        {offered.map((each) => (
          <option key={each} value={each}>
            {operatorWords(field, each)}
          </option>
        ))}
      </select>
      <CompareAs condition={condition} types={types} onChange={set} />
      <ValueInput
        {...shared}
        condition={condition}
        describedBy={fault ? `${id}e` : undefined}
        onChange={(text) => set({ ...condition, text })}
      />
      {countsEvents(condition) && (
        <span className="unit within">
          <span>{m.contacts_rule_within()}</span>
          <input
            className="input"
            inputMode="numeric"
            aria-label={m.contacts_rule_within_label()}
            placeholder={m.contacts_rule_within_any()}
            value={condition.within}
            onChange={(event) => set({ ...condition, within: event.target.value })}
          />
          <span>{m.contacts_days()}</span>
        </span>
      )}
      <button
        type="button"
        className="iconbtn end"
        aria-label={m.contacts_rule_remove({ number })}
        title={m.contacts_rule_remove({ number })}
        onClick={() => onReplace(condition.key, undefined)}
      >
        <IconX {...ICON} />
      </button>
      {fault && <Wrong id={`${id}e`}>{fault}</Wrong>}
    </div>
  );
}

/** The operators to choose from: those of the field, and the one that the rule has. */
function offeredFor({ field, operator }: Condition, types: Types): Operator[] {
  const offered = OFFERED[fieldKind(field, types)].filter(
    (each) => field !== "createdAt" || (each !== "exists" && each !== "notExists"),
  );
  return offered.includes(operator) ? offered : [...offered, operator];
}

function FieldSelect({
  field,
  attributes,
  audiences,
  types,
  onChange,
}: Shared & { field: string; onChange: (field: string) => void }) {
  const name = attributeOf(field);
  const isUnknown = name !== undefined && !types.has(name);
  const value = field.startsWith(EVENT_PREFIX) ? EVENT_PREFIX : name === undefined ? field : fieldOfAttribute(name);
  return (
    <select
      className="input"
      aria-label={m.contacts_rule_field()}
      value={value}
      onChange={(event) => onChange(event.target.value)}
    >
      <optgroup label={m.contacts_one()}>
        {OWN_FIELDS.map((each) => (
          <option key={each} value={each}>
            {fieldWords(each)}
          </option>
        ))}
        {(audiences.length > 0 || field === "audience") && <option value="audience">{m.contacts_audience()}</option>}
      </optgroup>
      <optgroup label={m.contacts_attributes()}>
        {isUnknown && <option value={fieldOfAttribute(name)}>{name}</option>}
        {attributes.map((each) => (
          <option key={each.id} value={fieldOfAttribute(each.name)}>
            {each.name}
          </option>
        ))}
      </optgroup>
      <optgroup label={m.contacts_rule_events()}>
        <option value={EVENT_PREFIX}>{m.contacts_rule_event()}</option>
      </optgroup>
    </select>
  );
}

const SCALARS: ValueKind[] = ["text", "number", "boolean"];

/** How a value is compared, where the type of the attribute does not say it, or says something else. */
function CompareAs({
  condition,
  types,
  onChange,
}: {
  condition: Condition;
  types: Types;
  onChange: (condition: Condition) => void;
}) {
  const { field, operator, kind } = condition;
  const name = attributeOf(field);
  if (name === undefined || !SCALARS.includes(kind) || operator === "startsWith" || operator === "endsWith")
    return null;
  const type = types.get(name);
  const usual = type === "number" || type === "boolean" ? type : type === undefined ? undefined : "text";
  if (usual === kind && type !== "list") return null;
  const names = { text: "string", number: "number", boolean: "boolean" } as const;
  return (
    <select
      className="input"
      aria-label={m.contacts_rule_compare_as()}
      value={kind}
      onChange={(event) => {
        const next = event.target.value as ValueKind;
        onChange({ ...condition, kind: next, text: next === "boolean" ? "true" : "" });
      }}
    >
      {(["text", "number", "boolean"] as const).map((each) => (
        <option key={each} value={each}>
          {typeName(names[each])}
        </option>
      ))}
    </select>
  );
}

function ValueInput({
  condition: { field, kind, text },
  audiences,
  ownId,
  describedBy,
  onChange,
}: Shared & { condition: Condition; describedBy: string | undefined; onChange: (text: string) => void }) {
  const attributes = {
    className: "input value",
    "aria-label": m.contacts_value(),
    "aria-invalid": describedBy ? (true as const) : undefined,
    "aria-describedby": describedBy,
    value: text,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  };
  const choices = audiences.filter((each) => each.id !== ownId);
  switch (kind) {
    case "none":
      return null;
    case "days":
    case "count":
      return (
        <span className="unit">
          <input {...attributes} inputMode="decimal" autoComplete="off" />
          <span>{kind === "days" ? m.contacts_days() : m.contacts_times()}</span>
        </span>
      );
    case "boolean":
      return (
        <select {...attributes}>
          <option value={field === "unsubscribed" ? "false" : "true"}>
            {field === "unsubscribed" ? m.contacts_subscribed() : m.contacts_yes()}
          </option>
          <option value={field === "unsubscribed" ? "true" : "false"}>
            {field === "unsubscribed" ? m.contacts_unsubscribed() : m.contacts_no()}
          </option>
        </select>
      );
    case "date":
      return <input {...attributes} type="date" />;
    case "number":
      return <input {...attributes} inputMode="decimal" autoComplete="off" />;
    case "texts":
    case "numbers":
      return (
        <textarea
          {...attributes}
          rows={Math.min(Math.max(text.split("\n").length, 2), 8)}
          placeholder={m.contacts_list_hint()}
        />
      );
    case "audience":
      return (
        <select {...attributes}>
          <option value="">{m.contacts_choose()}</option>
          {text && !choices.some((each) => each.id === text) && <option value={text}>{text}</option>}
          {choices.map((each) => (
            <option key={each.id} value={each.id}>
              {each.name}
            </option>
          ))}
        </select>
      );
    case "audiences":
      return <AudienceChoices ids={text.split("\n").filter(Boolean)} audiences={choices} onChange={onChange} />;
    default:
      return <input {...attributes} autoComplete="off" />;
  }
}

function AudienceChoices({
  ids,
  audiences,
  onChange,
}: {
  ids: string[];
  audiences: ListedAudience[];
  onChange: (text: string) => void;
}) {
  const unknown = ids.filter((id) => !audiences.some((each) => each.id === id)).map((id) => ({ id, name: id }));
  return (
    <div className="value checks" role="group" aria-label={m.contacts_audiences()}>
      {[...unknown, ...audiences].map(({ id, name }) => (
        <label key={id} className="line">
          <input
            className="check"
            type="checkbox"
            checked={ids.includes(id)}
            onChange={() => onChange((ids.includes(id) ? ids.filter((each) => each !== id) : [...ids, id]).join("\n"))}
          />
          <span className="cut">{name}</span>
        </label>
      ))}
    </div>
  );
}
