import { Modal } from "@mantine/core";
import { type FormEvent, type ReactNode, useState } from "react";
import { m } from "../messages/messages.js";
import { messageOf } from "../session/server";
import { Button, Field } from "./parts";
import { useReturnFocus } from "./returnFocus";

/** Asks for a deed that cannot be undone: the person types the name of what it concerns. */
export function TypedConfirm({
  title,
  name,
  deed,
  kind = "solid-danger",
  run,
  explain = messageOf,
  onClose,
  children,
}: {
  title: string;
  /** What is to be typed; upper and lower case are alike. */
  name: string;
  deed: string;
  /** Primary if it is what the page is for, and not the end of something. */
  kind?: "primary" | "solid-danger";
  run: () => Promise<void>;
  /** The words for an error, if others than the server's. */
  explain?: (error: unknown) => ReactNode;
  onClose: () => void;
  children: ReactNode;
}) {
  useReturnFocus();
  const [typed, setTyped] = useState("");
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState<ReactNode>();
  const [isWrong, setWrong] = useState(false);
  const submit = async (event: FormEvent) => {
    event.preventDefault();
    if (isBusy) return;
    if (typed.trim().toLowerCase() !== name.toLowerCase()) return setWrong(true);
    setBusy(true);
    setError(undefined);
    try {
      await run();
      onClose();
    } catch (caught) {
      setError(explain(caught));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": m.close() }}>
      <form className="form" onSubmit={submit} noValidate>
        {children}
        <Field
          label={m.confirm_type({ name })}
          error={isWrong ? m.confirm_other({ name }) : undefined}
          autoComplete="off"
          spellCheck={false}
          value={typed}
          onChange={(event) => {
            setTyped(event.target.value);
            setWrong(false);
          }}
          data-autofocus
        />
        {error && (
          <div className="wrong" role="alert">
            {error}
          </div>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.cancel()}</Button>
          <Button kind={kind} type="submit" busy={isBusy}>
            {deed}
          </Button>
        </div>
      </form>
    </Modal>
  );
}
