import { useEffect, useId, useRef, useState } from "react";

export type Look = "computer" | "phone" | "dark";

/**
 * HTML in a frame of the server, which runs nothing of it. The frame before stays until the new one is loaded, so that
 * nothing flashes; a frame of its own for each HTML keeps them out of the history of the browser.
 */
export function MailFrame({
  html,
  title,
  look,
  images = true,
}: {
  html: string;
  title: string;
  look: Look;
  /** Whether images of other servers are loaded, which tells these servers that the message is read. */
  images?: boolean;
}) {
  const name = useId().replace(/\W/g, "");
  const form = useRef<HTMLFormElement>(null);
  const [frames, setFrames] = useState<{ next: number; shown: number }>({ next: 0, shown: 0 });
  const submitted = useRef(0);
  // Another scheme needs another document: the media query is answered while it loads.
  const dark = look === "dark";
  // biome-ignore lint/correctness/useExhaustiveDependencies: each HTML and each scheme has a frame.
  useEffect(() => setFrames(({ next, shown }) => ({ next: next + 1, shown })), [html, dark, images]);
  useEffect(() => {
    if (!frames.next || submitted.current === frames.next) return;
    submitted.current = frames.next;
    form.current?.submit();
  }, [frames.next]);
  const numbers = [...new Set([frames.shown, frames.next])].filter(Boolean);
  return (
    <div className={`letterbox ${look}`}>
      <form ref={form} method="post" action="/dashboard/preview" target={`${name}${frames.next}`} hidden>
        <input type="hidden" name="html" value={html} />
        <input type="hidden" name="images" value={images ? "1" : ""} />
      </form>
      {numbers.map((number) => (
        <iframe
          key={number}
          name={`${name}${number}`}
          title={title}
          className={number === frames.shown || !frames.shown ? "" : "next"}
          aria-hidden={number !== frames.shown && frames.shown > 0 ? true : undefined}
          tabIndex={number !== frames.shown && frames.shown > 0 ? -1 : undefined}
          sandbox="allow-popups allow-popups-to-escape-sandbox"
          referrerPolicy="no-referrer"
          style={{ colorScheme: dark ? "dark" : "light" }}
          // The first event is that of the empty document.
          onLoad={() => submitted.current >= number && setFrames(({ next }) => ({ next, shown: number }))}
        />
      ))}
    </div>
  );
}
