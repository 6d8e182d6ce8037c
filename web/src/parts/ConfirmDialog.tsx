import { Modal } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { m } from "../messages/messages.js";
import { messageOf } from "../session/server";
import { Button } from "./parts";
import { useReturnFocus } from "./returnFocus";

/** Asks whether something is meant that cannot be undone. The button names the deed. */
export function ConfirmDialog({
  title,
  deed,
  keep = m.cancel(),
  run,
  onClose,
  children,
}: {
  title: string;
  deed: string;
  keep?: string;
  run: () => Promise<void>;
  onClose: () => void;
  children: ReactNode;
}) {
  useReturnFocus();
  const [isBusy, setBusy] = useState(false);
  const [error, setError] = useState("");
  const submit = async () => {
    setBusy(true);
    setError("");
    try {
      await run();
      onClose();
    } catch (caught) {
      setError(messageOf(caught));
      setBusy(false);
    }
  };
  return (
    <Modal opened onClose={onClose} title={title} closeButtonProps={{ "aria-label": m.close() }}>
      <div className="form">
        {children}
        {error && (
          <p className="wrong" role="alert">
            <span>{error}</span>
          </p>
        )}
        <div className="dialog-actions">
          <Button onClick={onClose} data-autofocus>
            {keep}
          </Button>
          <Button kind="solid-danger" busy={isBusy} onClick={() => void submit()}>
            {deed}
          </Button>
        </div>
      </div>
    </Modal>
  );
}
