import { Modal } from "@mantine/core";
import { APIError } from "@postern/sdk";
import { type FormEvent, type ReactNode, useEffect, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { Button, Field } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { Wrong } from "../../parts/Wrong";
import { useProfile } from "../../session/profile";
import { messageOf } from "../../session/server";
import { type Places, placed } from "./placed";

/** What a role may do, beside reading, as in the guide "Manage your account". */
const ROLES = {
  projects: ["OWNER", "ADMIN", "DEVELOPER"],
  account: ["OWNER", "ADMIN"],
  own: ["OWNER"],
} as const;

/** Whether the developer may change projects, the account, or what only its owner may. */
export function useMay(what: keyof typeof ROLES): boolean {
  const { role, emailVerifiedAt } = useProfile();
  return emailVerifiedAt !== null && (ROLES[what] as readonly string[]).includes(role);
}

/** Says why there are no actions; nothing for those who may act. */
export function ReadOnly({ what }: { what: keyof typeof ROLES }) {
  const profile = useProfile();
  if (useMay(what)) return null;
  const why = !profile.emailVerifiedAt
    ? m.settings_unverified()
    : what === "projects"
      ? m.settings_readonly_project()
      : what === "own"
        ? m.settings_readonly_own()
        : m.settings_readonly_account();
  return (
    <p className="readonly muted">
      <Glyph shape="off" />
      <span>{why}</span>
    </p>
  );
}

/** A part of a part: a title with an explanation, then its rows. */
export function Section({
  title,
  lead,
  actions,
  children,
}: {
  title: string;
  lead?: ReactNode;
  actions?: ReactNode;
  children: ReactNode;
}) {
  return (
    <section className="block" aria-label={title}>
      <header>
        <div>
          <h3>{title}</h3>
          {lead && <p className="muted">{lead}</p>}
        </div>
        {actions && <div className="acts">{actions}</div>}
      </header>
      {children}
    </section>
  );
}

/** A row of settings: an icon, what it is, how it stands, and what can be done. */
export function Row({
  icon,
  title,
  children,
  action,
}: {
  icon?: ReactNode;
  title: ReactNode;
  children?: ReactNode;
  action?: ReactNode;
}) {
  return (
    <li className={icon ? "row-icon" : ""}>
      {icon}
      <div className="what">
        <p className="name">{title}</p>
        {children && <div className="muted small">{children}</div>}
      </div>
      {action && <div className="act">{action}</div>}
    </li>
  );
}

/** Milliseconds before still bars appear: what loads faster shows none. */
const LOADING_AFTER_MS = 150;

/** Rows of still bars while rows are loaded. */
export function LoadingRows({ count }: { count: number }) {
  const [isShown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), LOADING_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <ul className="rows" aria-hidden="true">
      {Array.from({ length: count }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move.
        <li key={row} className="loading">
          {isShown && <i className="skel" />}
          {isShown && <i className="skel" />}
        </li>
      ))}
    </ul>
  );
}

/** One of several, each with what it means. Without `onChange`, the form that it is in reads what is chosen. */
export function Choices<T extends string>({
  legend,
  isLegendShown = false,
  name,
  value,
  options,
  onChange,
}: {
  legend: string;
  isLegendShown?: boolean;
  name: string;
  value: T;
  options: { value: T; label: string; hint?: string | undefined }[];
  onChange?: (value: T) => void;
}) {
  return (
    <fieldset className="choices">
      <legend className={isLegendShown ? "label" : "sr"}>{legend}</legend>
      {options.map((each) => (
        <label key={each.value} className="choice">
          <input
            type="radio"
            className="radio"
            name={name}
            value={each.value}
            {...(onChange
              ? { checked: value === each.value, onChange: () => onChange(each.value) }
              : { defaultChecked: value === each.value })}
          />
          <span>
            <b>{each.label}</b>
            {each.hint && <small className="muted">{each.hint}</small>}
          </span>
        </label>
      ))}
    </fieldset>
  );
}

/** A setting of a form: its name and meaning at the left, the control at the right. */
export function Setting({ title, lead, children }: { title: string; lead: ReactNode; children: ReactNode }) {
  return (
    <div className="setting">
      <div className="what">
        <h4>{title}</h4>
        <p className="muted">{lead}</p>
      </div>
      <div className="control">{children}</div>
    </div>
  );
}

/** Sentences of the server by the field that they are about; under the empty name what is about no field. */
export type Errors = Record<string, string>;

/** Where the sentences of an error are shown. */
export function errorsOf(error: unknown, places: Places): Errors {
  return error instanceof APIError ? placed(error, places) : { "": messageOf(error) };
}

/** The class of the content of a dialog, since dialogs stand outside of the page. */
export const DIALOG = "settings-dialog";

/** What `run` of a dialog returns to leave it open: something else takes its place. */
export const STAY = Symbol("stay");

/** A dialog with a form whose button names the deed. It closes when `run` has succeeded. */
export function FormDialog({
  title,
  deed,
  kind = "primary",
  places = {},
  ready = true,
  run,
  onClose,
  children,
}: {
  title: string;
  deed: string;
  kind?: "primary" | "solid-danger";
  places?: Places;
  /** Whether the form is complete. */
  ready?: boolean;
  run: (form: FormData) => Promise<unknown>;
  onClose: () => void;
  children: (errors: Errors) => ReactNode;
}) {
  useReturnFocus();
  const [isBusy, setBusy] = useState(false);
  const [errors, setErrors] = useState<Errors>({});
  const submit = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault();
    // In React, what happens in a dialog happens in the form that has opened it, too.
    event.stopPropagation();
    if (isBusy || !ready) return;
    const form = new FormData(event.currentTarget);
    setBusy(true);
    setErrors({});
    try {
      if ((await run(form)) !== STAY) onClose();
    } catch (error) {
      setErrors(errorsOf(error, places));
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose}
      title={title}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      <form className="form" onSubmit={submit} noValidate>
        {children(errors)}
        <Wrong>{errors[""]}</Wrong>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind={kind} type="submit" busy={isBusy} disabled={!ready}>
            {deed}
          </Button>
        </div>
      </form>
    </Modal>
  );
}

/** The password of who is signed in, as a proof that it is them. */
export function OwnPassword({ error, isFirst = false }: { error: string | undefined; isFirst?: boolean }) {
  return (
    <Field
      label={m.settings_your_password()}
      name="password"
      type="password"
      autoComplete="current-password"
      error={error}
      data-autofocus={isFirst || undefined}
    />
  );
}

/** The text of a field of a form. */
export function textOf(form: FormData, name: string): string {
  return String(form.get(name) ?? "").trim();
}
