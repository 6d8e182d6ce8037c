import { Modal } from "@mantine/core";
import type { Project } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { Button, Time } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { api } from "../../session/server";
import { settingWord } from "./auditWords";
import { DIALOG } from "./pieces";
import { type Draft, differences, draftOf, FIELDS, type Field } from "./project";

/** The project was changed by somebody else meanwhile: what they changed beside what was typed here. */
export function Conflict({
  base,
  mine,
  theirs,
  isBusy,
  onMine,
  onTheirs,
  onClose,
}: {
  base: Project;
  mine: Draft;
  theirs: Project;
  isBusy: boolean;
  onMine: () => void;
  onTheirs: () => void;
  onClose: () => void;
}) {
  useReturnFocus();
  const before = draftOf(base);
  const after = draftOf(theirs);
  const ours = differences(before, mine);
  const others = differences(before, after);
  const author = useQuery({
    queryKey: ["settings", base.id, "author", theirs.updatedAt],
    queryFn: async ({ signal }) => {
      const page = await api().account.auditLog.list(
        { projectId: base.id, action: "project.updated", from: base.updatedAt, limit: 1 },
        { signal },
      );
      return page.data[0] ?? null;
    },
  });
  const who = author.data?.actorEmail ?? m.settings_conflict_somebody();
  return (
    <Modal
      opened
      onClose={onClose}
      size={640}
      title={m.settings_conflict_title()}
      closeButtonProps={{ "aria-label": m.close() }}
      classNames={{ body: DIALOG }}
    >
      <p>
        {m.settings_conflict_lead({ who })} <Time at={theirs.updatedAt} format={longTime} />
      </p>
      <table className="table plain tight conflict">
        <caption className="sr">{m.settings_conflict_title()}</caption>
        <thead>
          <tr>
            <th scope="col">{m.settings_conflict_setting()}</th>
            <th scope="col">{m.settings_conflict_now()}</th>
            <th scope="col">{m.settings_conflict_yours()}</th>
          </tr>
        </thead>
        <tbody>
          {FIELDS.filter((field) => ours.includes(field) || others.includes(field)).map((field) => (
            <tr key={field}>
              <th scope="row">{settingWord(field)}</th>
              <td>
                <Value field={field} draft={after} changed={others.includes(field)} />
              </td>
              <td>
                {ours.includes(field) ? (
                  <Value field={field} draft={mine} changed />
                ) : (
                  <span className="muted">{m.settings_conflict_untouched()}</span>
                )}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
      <p className="muted">{m.settings_conflict_mine_hint()}</p>
      <div className="dialog-actions">
        <Button onClick={onTheirs} disabled={isBusy}>
          {m.settings_conflict_theirs()}
        </Button>
        <Button kind="primary" busy={isBusy} onClick={onMine} data-autofocus>
          {m.settings_conflict_mine()}
        </Button>
      </div>
    </Modal>
  );
}

function Value({ field, draft, changed }: { field: Field; draft: Draft; changed: boolean }) {
  const text = valueText(field, draft);
  return <span className={changed ? "value" : "value muted"}>{text}</span>;
}

const TRANSPORTS = {
  "": m.settings_transport_default,
  capture: m.settings_transport_capture,
  relay: m.settings_transport_relay,
};

function valueText(field: Field, draft: Draft): string {
  const value = draft[field];
  if (field === "transport") return TRANSPORTS[draft.transport]();
  if (field === "onAmbiguous") return value === "hold" ? m.settings_ambiguous_hold() : m.settings_ambiguous_retry();
  if (field === "relays") return draft.relays.map((each) => each.host).join(", ") || m.settings_relays_none();
  if (typeof value === "boolean") return value ? m.settings_on() : m.settings_off();
  return String(value) || m.settings_usual();
}
