import { useDebouncedValue } from "@mantine/hooks";
import type { RenderedDraft, TemplateDraft, TemplateFault } from "@postern/sdk";
import { IconAlignLeft, IconDeviceDesktop, IconDeviceMobile, IconMoon } from "@tabler/icons-react";
import { keepPreviousData, useQuery } from "@tanstack/react-query";
import { type ReactNode, useState } from "react";
import { Glyph } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { Button, ICON } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { api, messageOf } from "../../session/server";
import { type Look, MailFrame } from "./MailFrame";

/** Milliseconds without a change until the server renders. */
const PAUSE_MS = 400;

const VIEWS = [
  ["computer", IconDeviceDesktop, m.templates_view_computer],
  ["phone", IconDeviceMobile, m.templates_view_phone],
  ["dark", IconMoon, m.templates_view_dark],
  ["text", IconAlignLeft, m.templates_view_text],
] as const;
export type View = Look | "text";

/** The content as the server renders it now; the result before stays while it is at it. */
export function useRendered(draft: TemplateDraft | undefined, pause = PAUSE_MS) {
  const projectId = useProjectId();
  const key = JSON.stringify(draft);
  const [settled] = useDebouncedValue(key, pause);
  const query = useQuery({
    queryKey: ["rendered", projectId, settled],
    queryFn: ({ signal }) => api(projectId).templates.render(JSON.parse(settled ?? "{}") as TemplateDraft, { signal }),
    enabled: settled !== undefined,
    placeholderData: keepPreviousData,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 60_000,
    refetchOnWindowFocus: false,
    retry: false,
  });
  return { ...query, isSettled: settled === key && !query.isFetching };
}

/** The buttons for what a preview is like: a computer, a phone, dark, or plain text. */
export function Views({
  view,
  onView,
  views,
}: {
  view: View | undefined;
  onView: (view: View) => void;
  views?: View[];
}) {
  return (
    <div className="seg" role="group" aria-label={m.templates_view_as()}>
      {VIEWS.filter(([name]) => !views || views.includes(name)).map(([name, Icon, label]) => (
        <button
          key={name}
          type="button"
          aria-pressed={view === name}
          aria-label={label()}
          title={label()}
          onClick={() => onView(name)}
        >
          <Icon {...ICON} />
        </button>
      ))}
    </div>
  );
}

/** What is wrong with the content, with the place where the server knows it. */
export function Faults({ faults, onShow }: { faults: TemplateFault[]; onShow?: (fault: TemplateFault) => void }) {
  if (!faults.length) return null;
  return (
    <ul className="faults" aria-label={m.templates_faults()} role="alert">
      {faults.map((fault) => (
        <li key={`${fault.path} ${fault.message}`} className="wrong">
          <Glyph shape="failed" />
          <span>
            {placeOf(fault)} {fault.message}{" "}
            {onShow && (
              <button type="button" className="linklike" onClick={() => onShow(fault)}>
                {m.templates_show_place()}
              </button>
            )}
          </span>
        </li>
      ))}
    </ul>
  );
}

/** Which part of the content a fault is in, as a word. */
export function placeOf({ path }: TemplateFault): string {
  if (path.startsWith("/subject")) return `${m.templates_subject()}:`;
  if (path.startsWith("/text")) return `${m.templates_text()}:`;
  if (path.startsWith("/html")) return `${m.templates_html()}:`;
  return "";
}

/** Rendered content in a frame, with its subject above it. */
export function Preview({
  of,
  error,
  onRetry,
  title,
  actions,
}: {
  of: RenderedDraft | undefined;
  error: unknown;
  onRetry: () => void;
  title: string;
  actions?: ReactNode;
}) {
  const [view, setView] = useState<View>("computer");
  return (
    <section className="rendered" aria-label={m.templates_preview()}>
      <header className="sechead">
        <h2 className="cut">{of?.subject || <span className="muted">{m.templates_no_subject()}</span>}</h2>
        <div className="acts">
          {actions}
          <Views view={view} onView={setView} />
        </div>
      </header>
      {of && <Faults faults={of.problems} />}
      {error ? (
        <div className="nopreview" role="alert">
          <p className="muted">{messageOf(error)}</p>
          <Button size="small" onClick={onRetry}>
            {m.try_again()}
          </Button>
        </div>
      ) : view === "text" || (of && of.html === null && of.problems.length === 0) ? (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it scrolls.
        <pre className="code plain" tabIndex={0}>
          {of?.text || m.templates_no_text()}
        </pre>
      ) : (
        of?.html && <MailFrame html={of.html} title={title} look={view} />
      )}
    </section>
  );
}
