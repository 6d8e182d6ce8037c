import { Modal } from "@mantine/core";
import type { Template } from "@postern/sdk";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { longTime } from "../../parts/format";
import { Button } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { nameOfBlock } from "./blocks";
import { fromFirstDifference } from "./diff";
import type { Difference, Merge, Side } from "./merge";
import { versionsQuery } from "./queries";

/** Characters of a part that are shown to choose between two. */
const SHOWN_CHARACTERS = 400;

/** Someone published the template while a draft of it was written: what either changed, and which of two goes on. */
export function ConflictDialog<T>({
  theirs,
  merge,
  isBusy,
  onResolve,
  onClose,
}: {
  theirs: Template;
  merge: Merge<T>;
  isBusy: boolean;
  onResolve: (merged: T) => void;
  onClose: () => void;
}) {
  const projectId = useProjectId();
  const [choices, setChoices] = useState<Record<string, Side>>({});
  const versions = useQuery(versionsQuery(projectId, theirs.id)).data;
  const who = versions?.find((each) => each.version === theirs.version)?.createdBy;
  const { differences } = merge;
  const open = differences.filter((each) => each.by === "both").length;
  return (
    <Modal
      opened
      onClose={onClose}
      size={720}
      className="template-conflict"
      title={who ? m.templates_conflict_by({ who }) : m.templates_conflict()}
      closeButtonProps={{ "aria-label": m.close() }}
    >
      <div className="form">
        <p className="muted">{open ? m.templates_conflict_lead() : m.templates_conflict_lead_merged()}</p>
        <ul className="merge">
          {differences.map((each) => (
            <li key={each.key}>
              <span className={`st ${each.by === "both" ? "bad" : ""}`}>
                <Glyph shape={each.by === "both" ? "attention" : "yes"} />
                <span className="w">{nameOf(each)}</span>
              </span>
              <span className="muted">
                {each.by === "both"
                  ? m.templates_conflict_both()
                  : each.by === "mine"
                    ? m.templates_conflict_mine()
                    : m.templates_conflict_theirs()}
              </span>
              {each.by === "both" && (
                <fieldset className="choices">
                  <legend className="sr">{m.templates_conflict_choose({ part: nameOf(each) })}</legend>
                  {(["theirs", "mine"] as const).map((side) => (
                    <label key={side}>
                      <input
                        type="radio"
                        name={each.key}
                        checked={(choices[each.key] ?? "mine") === side}
                        onChange={() => setChoices({ ...choices, [each.key]: side })}
                      />
                      <span>
                        <b>{side === "mine" ? m.templates_conflict_yours() : m.templates_conflict_other()}</b>{" "}
                        <span className="muted">
                          {side === "mine" ? m.templates_conflict_unpublished() : longTime(theirs.updatedAt)}
                        </span>
                        <span className="said">{saidBy(each[side], each[side === "mine" ? "theirs" : "mine"])}</span>
                      </span>
                    </label>
                  ))}
                </fieldset>
              )}
            </li>
          ))}
        </ul>
        <div className="dialog-actions">
          <Button onClick={onClose}>{m.templates_conflict_later()}</Button>
          <Button kind="primary" busy={isBusy} data-autofocus onClick={() => onResolve(merge.result(choices))}>
            {m.templates_publish_version({ number: theirs.version + 1 })}
          </Button>
        </div>
      </div>
    </Modal>
  );
}

function saidBy(text: string | undefined, other: string | undefined): string {
  if (text === undefined) return m.templates_conflict_removed();
  if (!text) return m.templates_conflict_nothing();
  return fromFirstDifference(text, other ?? "", SHOWN_CHARACTERS);
}

function nameOf({ part, type }: Difference): string {
  if (part === "block") return nameOfBlock(type);
  if (part === "name") return m.templates_name();
  if (part === "subject") return m.templates_subject();
  if (part === "source") return m.templates_source();
  return part === "text" ? m.templates_text() : m.templates_settings();
}
