import { m } from "../../messages/messages.js";
import { Field } from "../../parts/parts";
import { DELIVERING, type Draft } from "./project";

/** The names of transports. */
export const TRANSPORTS: Record<Draft["transport"], () => string> = {
  "": m.settings_transport_default,
  capture: m.settings_transport_capture,
  relay: m.settings_transport_relay,
  ses: m.settings_transport_ses,
  direct: m.settings_transport_direct,
};

/** What is chosen if the server's own order is used, and if no other transport is. */
const AS_SERVER = "server";
const NONE = "";

/** The transports that take mail if the one before cannot be reached: a first one, and one after that. */
export function Fallback({
  transport,
  value,
  error,
  onChange,
}: {
  transport: Draft["transport"];
  value: string[] | null;
  error: string | undefined;
  onChange: (value: string[] | null) => void;
}) {
  const [first, second, ...more] = value ?? [];
  const offered = DELIVERING.filter((each) => each !== transport);
  const options = (except?: string) =>
    offered
      .filter((each) => each !== except)
      .map((each) => (
        <option key={each} value={each}>
          {TRANSPORTS[each]()}
        </option>
      ));
  const change = (...names: (string | undefined)[]) =>
    onChange(names.filter((each) => each !== undefined && each !== NONE) as string[]);
  return (
    <>
      <Field label={m.settings_fallback_first()} error={error} hint={m.settings_fallback_hint()}>
        {(attributes) => (
          <select
            className="input"
            {...attributes}
            value={first ?? (value === null && transport === "" ? AS_SERVER : NONE)}
            onChange={({ target: { value: name } }) => {
              if (name === AS_SERVER) onChange(null);
              else if (name === NONE) onChange(transport === "" ? [] : null);
              else change(name, ...[second, ...more].filter((each) => each !== name));
            }}
          >
            {transport === "" && <option value={AS_SERVER}>{m.settings_transport_default()}</option>}
            <option value={NONE}>{m.settings_fallback_none()}</option>
            {options()}
          </select>
        )}
      </Field>
      {first !== undefined && (
        <Field label={m.settings_fallback_second()}>
          {(attributes) => (
            <select
              className="input"
              {...attributes}
              value={second ?? NONE}
              onChange={({ target: { value: name } }) => change(first, name, ...more.filter((each) => each !== name))}
            >
              <option value={NONE}>{m.settings_fallback_no_second()}</option>
              {options(first)}
            </select>
          )}
        </Field>
      )}
    </>
  );
}
