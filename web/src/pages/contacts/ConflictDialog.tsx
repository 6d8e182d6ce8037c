import { Modal } from "@mantine/core";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { Button } from "../../parts/parts";
import { api } from "../../session/server";

/** One thing in which two versions differ. */
export interface Version {
  name: string;
  theirs: string;
  mine: string;
}

/** Two versions of what somebody else changed meanwhile: the person chooses. */
export function ConflictDialog({
  who,
  rows,
  onTheirs,
  onMine,
  onClose,
}: {
  /** Who changed it, if that is known. */
  who: string | undefined;
  rows: Version[];
  onTheirs: () => void;
  onMine: () => Promise<void>;
  onClose: () => void;
}) {
  const [isBusy, setBusy] = useState(false);
  return (
    <Modal
      opened
      onClose={onClose}
      size={560}
      title={who ? m.contacts_conflict_by({ who }) : m.contacts_conflict()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <div className="form">
        <p>{m.contacts_conflict_lead()}</p>
        <table className="table plain contacts-versions">
          <thead>
            <tr>
              <th scope="col">
                <span className="sr">{m.contacts_field()}</span>
              </th>
              <th scope="col">{m.contacts_theirs()}</th>
              <th scope="col">{m.contacts_mine()}</th>
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
        <div className="dialog-actions">
          <Button onClick={onTheirs} data-autofocus>
            {m.contacts_take_theirs()}
          </Button>
          <Button
            kind="primary"
            busy={isBusy}
            onClick={async () => {
              setBusy(true);
              await onMine().finally(() => setBusy(false));
            }}
          >
            {m.contacts_take_mine()}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

/** Who changed a record last, by the events of the project; undefined if they do not tell. */
export async function lastChangedBy(projectId: string, type: string, id: string): Promise<string | undefined> {
  try {
    const { data } = await api(projectId).events.list({ type, subjectId: id, limit: 1 });
    return data[0]?.actorLabel ?? undefined;
  } catch {
    return undefined;
  }
}
