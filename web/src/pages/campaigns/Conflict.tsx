import { m } from "../../messages/messages.js";
import { ConflictDialog } from "../../parts/ConflictDialog";
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
  return (
    // One of the two has to be chosen: nothing is stored until then.
    <ConflictDialog
      lead={m.campaigns_conflict_lead()}
      rows={differences(mine, theirs).map((part) => ({
        name: PART_WORDS[part](),
        theirs: inWords(theirs, part),
        mine: inWords(mine, part),
      }))}
      onTheirs={onTheirs}
      onMine={onMine}
    />
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
