import { IconAlignLeft, IconDeviceDesktop, IconDeviceMobile, IconMoon } from "@tabler/icons-react";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { m } from "../../messages/messages.js";
import { Button, ICON } from "../../parts/parts";
import { useProjectId } from "../../session/profile";
import { messageOf } from "../../session/server";
import { MailFrame } from "../templates/MailFrame";
import { NoPreview, type Previewed, previewUrl } from "./preview";

type View = "computer" | "phone" | "dark" | "text";

const VIEWS = [
  ["computer", IconDeviceDesktop, m.emails_view_computer],
  ["phone", IconDeviceMobile, m.emails_view_phone],
  ["dark", IconMoon, m.emails_view_dark],
  ["text", IconAlignLeft, m.emails_view_text],
] as const;

/** Milliseconds after which the URL of a preview is fetched anew. The server's is valid for five minutes. */
const FRESH_MS = 4 * 60_000;

/**
 * An e-mail as its recipient sees it, in a frame that runs nothing. `text` is its plain text; undefined if it is not
 * known, null if there is none.
 */
export function Preview({
  of,
  title,
  text,
  large = false,
}: {
  of: Previewed | { receivedId: string; html: string };
  title: string;
  text?: string | null;
  large?: boolean;
}) {
  const projectId = useProjectId();
  // What has no HTML is its text.
  const [view, setView] = useState<View>("html" in of && !of.html ? "text" : "computer");
  const [images, setImages] = useState(false);
  const key = "sendId" in of ? of.sendId : "messageId" in of ? of.messageId : of.receivedId;
  const query = useQuery({
    queryKey: ["preview", projectId, key, images],
    queryFn: ({ signal }) => ("html" in of ? "" : previewUrl(projectId, of, images, signal)),
    staleTime: FRESH_MS,
    refetchOnWindowFocus: false,
    retry: false,
  });
  const views = VIEWS.filter(([name]) => (name === "text" ? text !== undefined : !("html" in of) || of.html !== ""));
  return (
    <section className={large ? "preview large" : "preview"} aria-labelledby={`preview-${key}`}>
      <header className="sechead">
        <h3 id={`preview-${key}`}>{m.emails_part_preview()}</h3>
        <div className="acts">
          {view !== "text" && query.isSuccess && (
            <label className="line images">
              <input
                className="switch"
                type="checkbox"
                checked={images}
                onChange={(event) => setImages(event.target.checked)}
              />
              {m.emails_show_images()}
            </label>
          )}
          <div className="seg" role="group" aria-label={m.emails_view_as()}>
            {views.map(([name, Icon, label]) => (
              <button
                key={name}
                type="button"
                aria-pressed={view === name}
                aria-label={label()}
                title={label()}
                onClick={() => setView(name)}
              >
                <Icon {...ICON} />
              </button>
            ))}
          </div>
        </div>
      </header>
      {view === "text" ? (
        <pre className="code letter plain">{text || m.emails_no_text()}</pre>
      ) : "html" in of ? (
        <MailFrame html={of.html} title={m.emails_preview_title({ subject: title })} look={view} images={images} />
      ) : query.isError ? (
        <div className="nopreview">
          <p className="muted">{query.error instanceof NoPreview ? m.emails_no_preview() : messageOf(query.error)}</p>
          {query.error instanceof NoPreview && query.error.message && (
            <p className="said">
              <code>{query.error.message}</code>
            </p>
          )}
          <Button size="small" onClick={() => void query.refetch()}>
            {m.try_again()}
          </Button>
        </div>
      ) : (
        <div className={`letterbox ${view}`}>
          {query.data && (
            <iframe
              // Another scheme needs another document: the media query is answered while it loads.
              key={`${query.data} ${view === "dark"}`}
              src={query.data}
              title={m.emails_preview_title({ subject: title })}
              sandbox="allow-popups allow-popups-to-escape-sandbox"
              referrerPolicy="no-referrer"
              style={{ colorScheme: view === "dark" ? "dark" : "light" }}
            />
          )}
        </div>
      )}
    </section>
  );
}
