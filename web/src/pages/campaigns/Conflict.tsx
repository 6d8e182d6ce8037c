import { Modal } from "@mantine/core";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { Button } from "../../parts/parts";
import { useReturnFocus } from "../../parts/returnFocus";
import { type DraftForm, differences } from "./draft";
import { minutesInWords, PART_WORDS } from "./words";

/** Two people have written the same draft: shows what differs, and asks which version stays. */
export function Conflict({
  mine,
  theirs,
  onMine,
  onTheirs,
}: {
  mine: DraftForm;
  theirs: DraftForm;
  onMine: () => Promise<void>;
  onTheirs: () => void;
}) {
  useReturnFocus();
  const [isBusy, setBusy] = useState(false);
  const parts = differences(mine, theirs);
  return (
    // One of the two has to be chosen: nothing is stored until then.
    <Modal
      opened
      onClose={() => {}}
      withCloseButton={false}
      closeOnClickOutside={false}
      closeOnEscape={false}
      size={640}
      title={m.campaigns_conflict()}
    >
      <p>{m.campaigns_conflict_lead()}</p>
      <div className="scrollx">
        <table className="table plain versions">
          <thead>
            <tr>
              <th scope="col">{m.campaigns_conflict_part()}</th>
              <th scope="col">{m.campaigns_conflict_mine()}</th>
              <th scope="col">{m.campaigns_conflict_theirs()}</th>
            </tr>
          </thead>
          <tbody>
            {parts.map((part) => (
              <tr key={part}>
                <th scope="row">{PART_WORDS[part]()}</th>
                <td>{inWords(mine, part)}</td>
                <td>{inWords(theirs, part)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <div className="dialog-actions">
        <Button onClick={onTheirs} data-autofocus>
          {m.campaigns_take_theirs()}
        </Button>
        <Button
          kind="primary"
          busy={isBusy}
          onClick={() => {
            setBusy(true);
            void onMine();
          }}
        >
          {m.campaigns_keep_mine()}
        </Button>
      </div>
    </Modal>
  );
}

/** A part of a draft for a person; ids are only told apart as set or another. */
function inWords(form: DraftForm, part: keyof DraftForm): string {
  const value = form[part];
  switch (part) {
    case "audienceId":
    case "templateId":
    case "domainId":
      return value ? m.campaigns_conflict_chosen() : m.campaigns_conflict_empty();
    case "variants":
      return (
        form.variants.map((each) => `${each.name}: ${each.subject || "–"} (${each.weight} %)`).join("; ") ||
        m.campaigns_conflict_empty()
      );
    case "abTestEnabled":
      return value ? m.campaigns_on() : m.campaigns_off();
    case "abTestSamplePercent":
      return `${value} %`;
    case "abTestDurationMinutes":
      return minutesInWords(Number(value));
    case "abTestMetric":
      return value === "CLICK_RATE" ? m.campaigns_ab_clicks() : m.campaigns_ab_opens();
    case "when":
      return value === "now" ? m.campaigns_when_now() : m.campaigns_when_later();
    case "at":
      return String(value).replace("T", " ") || m.campaigns_conflict_empty();
    default:
      return String(value) || m.campaigns_conflict_empty();
  }
}
