import type { Project } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { m } from "../../messages/messages.js";
import { ConflictDialog } from "../../parts/ConflictDialog";
import { longTime } from "../../parts/format";
import { Time } from "../../parts/parts";
import { api } from "../../session/server";
import { settingWord } from "./auditWords";
import { TRANSPORTS } from "./Fallback";
import { type Draft, differences, draftOf, FIELDS, type Field } from "./project";

/** Who has changed a project since it was read, as far as that is known. */
export function useAuthor(base: Project, theirs: Project): string | undefined {
  const { data } = useQuery({
    queryKey: ["settings", base.id, "author", theirs.updatedAt],
    queryFn: async ({ signal }) => {
      const page = await api().account.auditLog.list(
        { projectId: base.id, action: "project.updated", from: base.updatedAt, limit: 1 },
        { signal },
      );
      return page.data[0] ?? null;
    },
  });
  return data?.actorEmail ?? undefined;
}

/** The project was changed by another person meanwhile: what they changed beside what was typed here. */
export function Conflict({
  base,
  mine,
  theirs,
  onMine,
  onTheirs,
  onClose,
}: {
  base: Project;
  mine: Draft;
  theirs: Project;
  onMine: () => Promise<void> | void;
  onTheirs: () => void;
  onClose: () => void;
}) {
  const before = draftOf(base);
  const after = draftOf(theirs);
  const ours = differences(before, mine);
  const others = differences(before, after);
  const who = useAuthor(base, theirs);
  return (
    <ConflictDialog
      who={who}
      lead={
        <>
          {m.settings_conflict_lead()} <Time at={theirs.updatedAt} format={longTime} />
        </>
      }
      rows={FIELDS.filter((field) => ours.includes(field) || others.includes(field)).map((field) => ({
        name: settingWord(field),
        theirs: <Value field={field} draft={after} changed={others.includes(field)} />,
        mine: ours.includes(field) ? (
          <Value field={field} draft={mine} changed />
        ) : (
          <span className="muted">{m.settings_conflict_untouched()}</span>
        ),
      }))}
      hint={m.settings_conflict_mine_hint()}
      onTheirs={onTheirs}
      onMine={onMine}
      onClose={onClose}
    />
  );
}

function Value({ field, draft, changed }: { field: Field; draft: Draft; changed: boolean }) {
  const text = valueText(field, draft);
  return <span className={changed ? "value" : "value muted"}>{text}</span>;
}

function valueText(field: Field, draft: Draft): string {
  const value = draft[field];
  if (field === "transport") return TRANSPORTS[draft.transport]();
  if (field === "onAmbiguous") return value === "hold" ? m.settings_ambiguous_hold() : m.settings_ambiguous_retry();
  if (field === "fallbackTransports") {
    const names = (draft.fallbackTransports ?? []).map((each) => TRANSPORTS[each as Draft["transport"]]?.() ?? each);
    return names.join(", ") || (draft.fallbackTransports ? m.settings_fallback_none() : m.settings_usual());
  }
  if (field === "ses")
    return draft.ses
      ? m.settings_ses_is({ region: draft.ses.region, key: draft.ses.accessKeyId })
      : m.settings_relays_none();
  if (field === "relays") return draft.relays.map((each) => each.host).join(", ") || m.settings_relays_none();
  if (typeof value === "boolean") return value ? m.settings_on() : m.settings_off();
  return String(value) || m.settings_usual();
}
