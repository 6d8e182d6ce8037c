import { Modal } from "@mantine/core";
import { type ReactNode, useState } from "react";
import { m } from "../messages/messages.js";
import { Button } from "./parts";
import { useReturnFocus } from "./returnFocus";

/** One thing in which two versions of a record differ. */
export interface Difference {
  name: string;
  theirs: ReactNode;
  mine: ReactNode;
}

/** Two versions of what another person has changed meanwhile: the person chooses which one stays. */
export function ConflictDialog({
  who,
  lead,
  rows,
  hint,
  onTheirs,
  onMine,
  onClose,
}: {
  /** Who changed it, if that is known. */
  who?: string | undefined;
  lead: ReactNode;
  rows: Difference[];
  hint?: string;
  onTheirs: () => void;
  /** Stores the own version; the button is busy meanwhile. */
  onMine: () => Promise<void> | void;
  /** Leaves both as they are. Without it, one of them has to be chosen. */
  onClose?: () => void;
}) {
  useReturnFocus();
  const [isBusy, setBusy] = useState(false);
  const keepMine = async () => {
    setBusy(true);
    try {
      await onMine();
    } finally {
      setBusy(false);
    }
  };
  return (
    <Modal
      opened
      onClose={onClose ?? (() => {})}
      withCloseButton={onClose !== undefined}
      closeOnClickOutside={onClose !== undefined}
      closeOnEscape={onClose !== undefined}
      size={640}
      title={who ? m.conflict_by({ who }) : m.conflict()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <p>{lead}</p>
      <div className="scrollx">
        <table className="table plain conflict">
          <thead>
            <tr>
              <th scope="col">
                <span className="sr">{m.conflict_part()}</span>
              </th>
              <th scope="col">{m.conflict_theirs()}</th>
              <th scope="col">{m.conflict_mine()}</th>
            </tr>
          </thead>
          <tbody>
            {rows.map(({ name, theirs, mine }) => (
              <tr key={name}>
                <th scope="row">{name}</th>
                <td>{theirs}</td>
                <td>{mine}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      {hint && <p className="muted">{hint}</p>}
      <div className="dialog-actions">
        <Button onClick={onTheirs} disabled={isBusy}>
          {m.conflict_take_theirs()}
        </Button>
        <Button kind="primary" busy={isBusy} onClick={() => void keepMine()} data-autofocus>
          {m.conflict_keep_mine()}
        </Button>
      </div>
    </Modal>
  );
}
