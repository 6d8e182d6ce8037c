import { Fragment, type KeyboardEvent, type PointerEvent, type ReactNode, useState } from "react";
import { Glyph, type Shape } from "../../look/glyphs";
import { m } from "../../messages/messages.js";
import { count } from "../../parts/format";
import { columnAt } from "./scale";

/** The columns of a chart, which the pointer and the arrow keys read one by one. */
export function Reader({
  columns,
  label,
  textOf,
  children,
}: {
  columns: number;
  label: string;
  /** A column as a sentence, for screen readers. */
  textOf: (column: number) => string;
  /** What is drawn, with the column that is read, if any. */
  children: (column: number | undefined) => ReactNode;
}) {
  const [read, setRead] = useState<number>();
  // There may be fewer columns than when one was pointed at.
  const at = read === undefined ? undefined : Math.min(read, columns - 1);
  const point = (event: PointerEvent<HTMLElement>) => {
    const { left, width } = event.currentTarget.getBoundingClientRect();
    setRead(columnAt((event.clientX - left) / width, columns));
  };
  const move = (event: KeyboardEvent) => {
    const from = at ?? columns;
    const to = { ArrowLeft: from - 1, ArrowRight: from + 1, Home: 0, End: columns - 1 }[event.key];
    if (event.key === "Escape") setRead(undefined);
    if (to === undefined) return;
    event.preventDefault();
    setRead(Math.min(Math.max(to, 0), columns - 1));
  };
  return (
    <div
      className="reader"
      role="slider"
      tabIndex={0}
      aria-label={label}
      aria-valuemin={0}
      aria-valuemax={columns - 1}
      aria-valuenow={at ?? columns - 1}
      aria-valuetext={at === undefined ? m.overview_chart_hint() : textOf(at)}
      onKeyDown={move}
      onBlur={() => setRead(undefined)}
      onPointerMove={point}
      onPointerDown={point}
      onPointerLeave={() => setRead(undefined)}
    >
      {children(at)}
    </div>
  );
}

/** From this share of the width on, a tooltip stands to the left of its line. */
const TURN = 60;

/** A number of a column, with its name. */
export interface Numbered {
  shape: Shape;
  name: string;
  value: number;
}

/** The numbers of a column, beside a line through it at this per cent of the width. */
export function Tip({ title, numbers, at }: { title: string; numbers: Numbered[]; at: number }) {
  return (
    <>
      <div className="crosshair" style={{ left: `${at}%` }} />
      <div className={at > TURN ? "tip before" : "tip"} style={{ left: `${at}%` }}>
        <b>{title}</b>
        <dl>
          {numbers.map(({ shape, name, value }) => (
            <Fragment key={name}>
              <dt>
                <Glyph shape={shape} />
                {name}
              </dt>
              <dd>{count(value)}</dd>
            </Fragment>
          ))}
        </dl>
      </div>
    </>
  );
}

/** The numbers of a column as a sentence. */
export function inWords(title: string, numbers: Numbered[]): string {
  return `${title}: ${numbers.map(({ name, value }) => `${name} ${count(value)}`).join(", ")}`;
}
