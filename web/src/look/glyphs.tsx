import type { ReactElement } from "react";

/** The shapes of states and outcomes. Each has its own outline, so that no meaning is in colour alone. */
const CUT = {
  fill: "none",
  stroke: "var(--glyph-cut, var(--paper))",
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;
const RING = <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" strokeWidth="1.5" />;
const DISC = <circle cx="8" cy="8" r="7" fill="currentColor" />;
const LINE = {
  fill: "none",
  stroke: "currentColor",
  strokeWidth: 1.5,
  strokeLinecap: "round",
  strokeLinejoin: "round",
} as const;
const TICK = (
  <>
    {DISC}
    <path d="m5 8.3 2.1 2.1L11.1 6" {...CUT} strokeWidth="1.6" />
  </>
);

const SHAPES = {
  attention: (
    <>
      <path d="M8 1.6 15.2 14H.8z" fill="currentColor" stroke="currentColor" strokeWidth="1.2" strokeLinejoin="round" />
      <path d="M8 6.2v3.4M8 11.7v.1" {...CUT} strokeWidth="1.6" />
    </>
  ),
  bounced: (
    <>
      <path
        d="M8 .9 15.1 8 8 15.1.9 8z"
        fill="currentColor"
        stroke="currentColor"
        strokeWidth="1"
        strokeLinejoin="round"
      />
      <path d="M10.9 9.9V8.6a1.2 1.2 0 0 0-1.2-1.2H5.4M7 5.6 5.2 7.4 7 9.2" {...CUT} strokeWidth="1.4" />
    </>
  ),
  clicked: (
    <>
      {DISC}
      <path d="M5.1 5.1 7.2 11l1.3-2.5L11 7.2z" fill="var(--glyph-cut, var(--paper))" />
    </>
  ),
  complaint: (
    <>
      <path d="M3.4 14.6V2.1" fill="none" stroke="currentColor" strokeWidth="1.7" strokeLinecap="round" />
      <path
        d="M3.4 2h9.9l-2.3 3.6 2.3 3.6H3.4z"
        fill="currentColor"
        stroke="currentColor"
        strokeWidth="1.2"
        strokeLinejoin="round"
      />
    </>
  ),
  delivered: TICK,
  failed: (
    <>
      <path d="M5.2 1.2h5.6l4 4v5.6l-4 4H5.2l-4-4V5.2z" fill="currentColor" />
      <path d="m5.8 5.8 4.4 4.4m0-4.4-4.4 4.4" {...CUT} strokeWidth="1.6" />
    </>
  ),
  no: (
    <>
      {RING}
      <path d="M5.4 8h5.2" {...LINE} />
    </>
  ),
  off: RING,
  opened: (
    <>
      {DISC}
      <path d="M4.6 6.6 8 9.6l3.4-3" {...CUT} strokeWidth="1.6" />
    </>
  ),
  scheduled: (
    <>
      {RING}
      <path d="M8 4.6V8l2.2 1.5" {...LINE} />
    </>
  ),
  sent: (
    <>
      {RING}
      <path d="M8 11V5.2M5.6 7.4 8 5l2.4 2.4" {...LINE} />
    </>
  ),
  suppressed: (
    <>
      {RING}
      <path d="m3.7 12.3 8.6-8.6" {...LINE} />
    </>
  ),
  waiting: (
    <circle cx="8" cy="8" r="6.25" fill="none" stroke="currentColor" strokeWidth="1.5" strokeDasharray="2.55 2.36" />
  ),
  yes: TICK,
} satisfies Record<string, ReactElement>;

export type Shape = keyof typeof SHAPES;

/** A shape of 14 px beside a word that says the same; it is hidden from screen readers. */
export function Glyph({ shape }: { shape: Shape }) {
  return (
    <svg className={`g ${shape}`} viewBox="0 0 16 16" aria-hidden="true">
      {SHAPES[shape]}
    </svg>
  );
}

/** The mark of the product. */
export function Mark({ size = 24 }: { size?: number }) {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" aria-hidden="true" color="var(--accent-text)">
      <path d="M3 21V11a9 9 0 0 1 18 0v10z" fill="currentColor" />
      <path d="M7.4 12.2 12 16.4l4.6-4.2" {...CUT} strokeWidth="2.2" />
    </svg>
  );
}
