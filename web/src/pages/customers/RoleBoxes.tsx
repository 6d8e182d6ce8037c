import type { Role } from "@postern/sdk";
import { m } from "../../messages/messages.js";

/** A choice among the roles of a scope. Roles that are set stay in it, even if they are not known. */
export function RoleBoxes({
  roles,
  scope,
  legend,
  chosen,
  disabled = false,
  onChange,
}: {
  roles: Role[] | undefined;
  scope: "PROJECT" | "ORGANIZATION";
  legend: string;
  chosen: string[];
  /** While it is not known yet what is chosen. */
  disabled?: boolean;
  onChange: (chosen: string[]) => void;
}) {
  const known = (roles ?? []).filter((each) => each.scope === scope);
  const others = chosen.filter((key) => !known.some((each) => each.key === key));
  const choices = [
    ...known.map(({ key, name, description, system, permissions }) => ({
      key,
      name,
      hint: description ?? (system ? systemHint(key) : permissions.slice(0, 4).join(", ")),
    })),
    ...others.map((key) => ({ key, name: key, hint: "" })),
  ];
  if (choices.length === 0) return null;
  return (
    <fieldset className="roleboxes" disabled={disabled}>
      <legend className="label">{legend}</legend>
      {choices.map(({ key, name, hint }) => (
        <label key={key} className="boxed">
          <input
            type="checkbox"
            className="check"
            checked={chosen.includes(key)}
            onChange={(event) =>
              onChange(event.target.checked ? [...chosen, key] : chosen.filter((each) => each !== key))
            }
          />
          <span>
            {name}
            {hint && <span className="muted">{hint}</span>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** What a role that is built in grants. */
function systemHint(key: string): string {
  return key === "MEMBER" ? m.customers_role_nothing() : m.customers_role_everything();
}
