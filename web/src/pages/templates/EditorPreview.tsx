import type { TemplateFault } from "@postern/sdk";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { Button } from "../../parts/parts";
import { messageOf } from "../../session/server";
import { MailFrame } from "./MailFrame";
import { Faults, type useRendered, type View } from "./Preview";

/** What is written, as the server renders it, and what is wrong with it. */
export function EditorPreview({
  rendered,
  view,
  name,
  failure,
  onShow,
}: {
  rendered: ReturnType<typeof useRendered>;
  view: View;
  name: string;
  /** Why it was not published. */
  failure: string;
  onShow: (fault: TemplateFault) => void;
}) {
  const { data: of, isError } = rendered;
  return (
    <>
      <Failure failure={failure} />
      {of && <Faults faults={of.problems} onShow={onShow} />}
      {isError ? (
        <RenderingFailed rendered={rendered} />
      ) : view === "text" || (of && of.html === null && of.problems.length === 0) ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
        <pre className="code plain" tabIndex={0}>
          {of?.text || m.templates_no_text()}
        </pre>
      ) : (
        of?.html && <MailFrame html={of.html} title={m.templates_preview_of({ name })} look={view} />
      )}
    </>
  );
}

/** Why a draft was not published. */
export function Failure({ failure }: { failure: string }) {
  if (!failure) return null;
  return (
    <p className="wrong unpublished" role="alert">
      <Glyph shape="failed" />
      <span>
        {m.templates_not_published()} {failure}
      </span>
    </p>
  );
}

/** Why the server did not render what is written. */
export function RenderingFailed({ rendered }: { rendered: ReturnType<typeof useRendered> }) {
  if (!rendered.isError) return null;
  return (
    <div className="nopreview" role="alert">
      <p className="muted">{messageOf(rendered.error)}</p>
      <Button size="small" onClick={() => void rendered.refetch()}>
        {m.try_again()}
      </Button>
    </div>
  );
}
