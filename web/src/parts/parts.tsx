import { IconCheck, IconCopy } from "@tabler/icons-react";
import { type ComponentPropsWithoutRef, type ReactNode, useEffect, useId, useRef, useState } from "react";
import { Glyph, type Shape } from "../look/glyphs";
import { m } from "../messages/messages.js";
import { messageOf } from "../session/server";
import { exactTime, shortTime } from "./format";

/** The size and stroke of an icon in a button or a menu. */
export const ICON = { className: "i", size: 18, stroke: 1.6, "aria-hidden": true } as const;

/** How a state's word is tinted: only trouble is. */
export type Tone = "" | "bad" | "fail" | "comp" | "wait";

/** A state in a table: shape and word on plain ground. */
export function Status({ shape, tone = "", children }: { shape: Shape; tone?: Tone; children: ReactNode }) {
  return (
    <span className={`st ${tone}`}>
      <Glyph shape={shape} />
      <span className="w">{children}</span>
    </span>
  );
}

/** The state of the whole page's object. A page has one, beside or above its title. */
export function Pill({
  shape,
  tone = "",
  children,
}: {
  shape: Shape;
  tone?: "" | "good" | "wait" | "bad" | "fail";
  children: ReactNode;
}) {
  return (
    <span className={`pill ${tone}`}>
      <Glyph shape={shape} />
      {children}
    </span>
  );
}

/** A button. `kind` is primary for the one main action of a page, danger for what cannot be undone. */
export function Button({
  kind = "",
  size = "",
  busy = false,
  icon,
  children,
  className = "",
  ...rest
}: ComponentPropsWithoutRef<"button"> & {
  kind?: "" | "primary" | "bare" | "danger" | "solid-danger";
  size?: "" | "small";
  busy?: boolean;
  icon?: ReactNode;
}) {
  return (
    <button
      type="button"
      {...rest}
      className={`btn ${kind} ${size} ${busy ? "busy" : ""} ${className}`}
      aria-busy={busy || undefined}
      disabled={rest.disabled || busy}
    >
      {busy ? <i aria-hidden="true" /> : icon}
      {children}
    </button>
  );
}

/** A labelled field with an explanation and, if the value was refused, the reason. */
export function Field({
  label,
  hint,
  error,
  children,
  ...input
}: Omit<ComponentPropsWithoutRef<"input">, "children"> & {
  label: string;
  hint?: ReactNode;
  error?: string | undefined;
  /** Another control than an input; gets the attributes that connect it with label and explanation. */
  children?: (attributes: { id: string; "aria-invalid"?: true; "aria-describedby"?: string }) => ReactNode;
}) {
  const id = useId();
  const described = error ? `${id}e` : hint ? `${id}h` : undefined;
  const attributes = { id, "aria-invalid": error ? (true as const) : undefined, "aria-describedby": described };
  return (
    <div className="field">
      <label htmlFor={id}>{label}</label>
      {children ? children(attributes) : <input className="input" {...input} {...attributes} />}
      {error ? (
        <p className="wrong" id={`${id}e`} role="alert">
          <Glyph shape="failed" />
          <span>{error}</span>
        </p>
      ) : (
        hint && (
          <p className="hint" id={`${id}h`}>
            {hint}
          </p>
        )
      )}
    </div>
  );
}

/** A point in time: short in the text, exact on hover, in the viewer's time zone. */
export function Time({ at, format = shortTime }: { at: string; format?: (at: string) => string }) {
  return (
    <time dateTime={at} title={exactTime(at)}>
      {format(at)}
    </time>
  );
}

/** What a list shows instead of rows: what will be here, one action. */
export function Empty({
  title,
  lead,
  shape,
  children,
}: {
  title: string;
  lead: ReactNode;
  shape?: Shape;
  children?: ReactNode;
}) {
  return (
    <div className="empty">
      <h2>
        {shape && <Glyph shape={shape} />} {title}
      </h2>
      <p className="muted">{lead}</p>
      {children && <p className="line">{children}</p>}
    </div>
  );
}

/** The state of a list or a page that could not be loaded, with the reason and a button to try again. */
export function LoadingFailed({
  title = m.list_failed(),
  error,
  onRetry,
}: {
  title?: string;
  error: unknown;
  onRetry: () => void;
}) {
  return (
    <div role="alert">
      <Empty title={title} lead={messageOf(error)} shape="failed">
        <Button onClick={onRetry}>{m.try_again()}</Button>
      </Empty>
    </div>
  );
}

/** Milliseconds before still bars appear: what loads faster shows none. */
const SKELETON_AFTER_MS = 150;

/** Rows of still bars under the real head of a table. `widths` are pixels, one for each column. */
export function SkeletonRows({ rows, widths }: { rows: number; widths: number[] }) {
  const [shown, setShown] = useState(false);
  useEffect(() => {
    const timer = setTimeout(() => setShown(true), SKELETON_AFTER_MS);
    return () => clearTimeout(timer);
  }, []);
  return (
    <tbody aria-hidden="true">
      {Array.from({ length: rows }, (_, row) => (
        // biome-ignore lint/suspicious/noArrayIndexKey: the rows are all alike and never move.
        <tr key={row}>
          {widths.map((width, column) => (
            // biome-ignore lint/suspicious/noArrayIndexKey: as above.
            <td key={column}>
              {/* There from the start, so that the rows are as high as they will be: nothing jumps when bars appear. */}
              <i
                className="skel"
                style={{
                  width: width - ((row * 37 + column * 17) % 5) * (width / 14),
                  visibility: shown ? undefined : "hidden",
                }}
              />
            </td>
          ))}
        </tr>
      ))}
    </tbody>
  );
}

/** A button that copies a value, and says so for a moment. */
export function Copy({ value, label = m.copy() }: { value: string; label?: string }) {
  const [copied, setCopied] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);
  return (
    <button
      type="button"
      className="copy"
      aria-label={copied ? m.copied() : label}
      title={copied ? m.copied() : label}
      onClick={async () => {
        await navigator.clipboard.writeText(value);
        setCopied(true);
        clearTimeout(timer.current);
        timer.current = setTimeout(() => setCopied(false), 2000);
      }}
    >
      {copied ? <IconCheck {...ICON} /> : <IconCopy {...ICON} />}
    </button>
  );
}
