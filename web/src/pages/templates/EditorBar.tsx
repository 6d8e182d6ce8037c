import type { RenderedDraft, Template } from "@postern/sdk";
import {
  IconAdjustmentsHorizontal,
  IconArrowBackUp,
  IconArrowForwardUp,
  IconArrowLeft,
  IconTerminal2,
} from "@tabler/icons-react";
import { Link } from "@tanstack/react-router";
import { lazy, Suspense, useEffect, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { ConfirmDialog } from "../../parts/ConfirmDialog";
import { clockTime } from "../../parts/format";
import { Button, ICON } from "../../parts/parts";
import { copyCurl, usePageRequest } from "../../parts/request";
import { useProjectId } from "../../session/profile";
import type { DraftOf } from "./drafts";

const TestDialog = lazy(() => import("./TestDialog"));

/** The keys of an editor: Ctrl Z takes back, Ctrl Shift Z and Ctrl Y make again, Ctrl S does nothing. */
function useUndoKeys(undo: (() => void) | undefined, redo: (() => void) | undefined): void {
  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      if (document.querySelector("[role=dialog], [role=menu]")) return;
      const key = event.key.toLowerCase();
      const isRedo = key === "y" || (key === "z" && event.shiftKey);
      // What is typed is kept by itself; the browser would store the page.
      if (key !== "z" && key !== "s" && !isRedo) return;
      event.preventDefault();
      if (isRedo) redo?.();
      else if (key === "z") undo?.();
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [undo, redo]);
}

/** The bar of an editor: the way back, the state of the draft, and what is done with it. */
export function EditorBar<T extends { name: string }>({
  template,
  draft,
  body,
  rendered,
  onPublish,
  onSettings,
}: {
  template: Template;
  draft: DraftOf<T>;
  /** What publishing sends. */
  body: unknown;
  rendered: RenderedDraft | undefined;
  onPublish: () => void;
  /** Shows the settings, where they are not beside the e-mail. */
  onSettings?: (() => void) | undefined;
}) {
  const projectId = useProjectId();
  const [dialog, setDialog] = useState<"" | "test" | "discard">("");
  const { content, base, isChanged, keptAt, isKeepable, isBusy } = draft;
  const request = { method: "PATCH" as const, path: `/projects/${projectId}/templates/${template.id}`, body };
  usePageRequest(request);
  useUndoKeys(draft.undo, draft.redo);
  const isNewer = template.version > base.version;
  return (
    <header className="ebar">
      <Link
        className="iconbtn"
        to="/projects/$projectId/templates/$templateId"
        params={{ projectId, templateId: template.id }}
        aria-label={m.templates_editor_back()}
        title={m.templates_editor_back()}
      >
        <IconArrowLeft {...ICON} />
      </Link>
      <div className="ename">
        <h1 className="cut">{content.name || template.name}</h1>
        <p className="muted">
          <span role="status" className="state">
            {!isKeepable ? (
              <>
                <Glyph shape="attention" />
                {m.templates_draft_lost()}
              </>
            ) : isChanged ? (
              keptAt ? (
                <>
                  <Glyph shape="yes" />
                  <span>{m.templates_draft_kept({ time: clockTime(keptAt) })}</span>
                </>
              ) : (
                m.templates_draft_keeping()
              )
            ) : (
              m.templates_draft_none()
            )}
          </span>
          <span className="dot wide">·</span>
          <span className="wide">
            {m.templates_version_in_use({ number: Math.max(template.version, base.version) })}
          </span>
          {isChanged && (
            <button type="button" className="linklike" onClick={() => setDialog("discard")}>
              {m.templates_discard()}
            </button>
          )}
        </p>
      </div>
      <div className="eacts">
        <button
          type="button"
          className="iconbtn"
          aria-label={m.undo()}
          title={m.undo()}
          aria-disabled={!draft.undo || undefined}
          onClick={draft.undo}
        >
          <IconArrowBackUp {...ICON} />
        </button>
        <button
          type="button"
          className="iconbtn"
          aria-label={m.templates_redo()}
          title={m.templates_redo()}
          aria-disabled={!draft.redo || undefined}
          onClick={draft.redo}
        >
          <IconArrowForwardUp {...ICON} />
        </button>
        <button
          type="button"
          className="iconbtn wide"
          aria-label={m.copy_as_curl()}
          title={m.copy_as_curl()}
          onClick={() => void copyCurl(request)}
        >
          <IconTerminal2 {...ICON} />
        </button>
        {onSettings && (
          <button
            type="button"
            className="iconbtn settings"
            aria-label={m.templates_settings()}
            title={m.templates_settings()}
            onClick={onSettings}
          >
            <IconAdjustmentsHorizontal {...ICON} />
          </button>
        )}
        <Button className="wide" disabled={!rendered || rendered.problems.length > 0} onClick={() => setDialog("test")}>
          {m.templates_test()}
        </Button>
        {isNewer ? (
          <Button onClick={() => draft.meet(template)}>
            <span className="wide">{m.templates_compare_newer()}</span>
            <span className="narrow">{m.templates_compare()}</span>
          </Button>
        ) : (
          <Button kind="primary" busy={isBusy} disabled={!isChanged} onClick={onPublish}>
            <span className="wide">{m.templates_publish_version({ number: base.version + 1 })}</span>
            <span className="narrow">{m.templates_publish()}</span>
          </Button>
        )}
      </div>
      {dialog === "test" && rendered && (
        <Suspense>
          <TestDialog mail={rendered} onClose={() => setDialog("")} />
        </Suspense>
      )}
      {dialog === "discard" && (
        <ConfirmDialog
          title={m.templates_discard_title()}
          deed={m.templates_discard()}
          keep={m.templates_discard_keep()}
          onClose={() => setDialog("")}
          run={async () => draft.discard(template)}
        >
          <p>{m.templates_discard_lead({ number: template.version })}</p>
        </ConfirmDialog>
      )}
    </header>
  );
}
