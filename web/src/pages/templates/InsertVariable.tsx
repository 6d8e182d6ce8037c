import { Popover } from "@mantine/core";
import { IconBraces } from "@tabler/icons-react";
import { type FormEvent, useId, useRef, useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, Field, ICON } from "../../parts/parts";
import { wordsOf } from "./sample";

/** Variables that campaigns and automations know of each recipient, and the link of every e-mail. */
const KNOWN = ["firstName", "lastName", "email", "unsubscribe_url"];

/** A name as the template language takes it. */
const NAME = /^[A-Za-z_]\w*(\.[A-Za-z_]\w*)*$/;

/** The tag of a variable, with what stands there if a recipient has no value. */
export function tagOf(name: string, fallback: string): string {
  if (!fallback) return `{{ ${name} }}`;
  // JSON quotes as the template language does. The second argument: an empty value counts as none.
  return `{{ ${name}|default(${JSON.stringify(fallback)}, true) }}`;
}

/** A button with a form that inserts a variable. */
export function InsertVariable({ names, onInsert }: { names: string[]; onInsert: (tag: string) => void }) {
  const [isOpen, setOpen] = useState(false);
  const [name, setName] = useState("");
  const [fallback, setFallback] = useState("");
  const [error, setError] = useState("");
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  const submit = (event: FormEvent) => {
    event.preventDefault();
    // The form is in a portal; a form around it in React must not see it.
    event.stopPropagation();
    if (!NAME.test(name.trim())) return setError(m.templates_variable_wrong());
    setOpen(false);
    setName("");
    setFallback("");
    setError("");
    onInsert(tagOf(name.trim(), fallback));
  };
  return (
    <Popover
      opened={isOpen}
      onChange={(open) => {
        setOpen(open);
        if (!open) button.current?.focus();
      }}
      width={280}
      position="bottom-end"
      trapFocus
      portalProps={{ target: "#menus" }}
    >
      <Popover.Target>
        <button type="button" ref={button} className="ins btn small" onClick={() => setOpen(!isOpen)}>
          <IconBraces {...ICON} />
          {m.templates_insert()}
        </button>
      </Popover.Target>
      <Popover.Dropdown className="insertpopover" aria-label={m.templates_insert_variable()}>
        <form className="form" onSubmit={submit} noValidate>
          <Field
            label={m.templates_variable()}
            hint={name && NAME.test(name) ? wordsOf(name) : m.templates_variable_hint()}
            error={error}
            list={`${id}names`}
            value={name}
            onChange={({ target }) => setName(target.value)}
            autoComplete="off"
            data-autofocus
          />
          <datalist id={`${id}names`}>
            {[...new Set([...names, ...KNOWN])].map((each) => (
              <option key={each} value={each} />
            ))}
          </datalist>
          <Field
            label={m.templates_fallback()}
            hint={m.templates_fallback_hint()}
            value={fallback}
            onChange={({ target }) => setFallback(target.value)}
            autoComplete="off"
          />
          <Button kind="primary" type="submit">
            {m.templates_insert()}
          </Button>
        </form>
      </Popover.Dropdown>
    </Popover>
  );
}
