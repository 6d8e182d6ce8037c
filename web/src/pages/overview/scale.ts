/** The greatest number of spaces between horizontal lines. */
const MAX_SPACES = 4;
const ROUND_STEPS = [1, 2, 2.5, 4, 5, 10];

/** The numbers at the horizontal lines of a chart, from the top to 0: round, whole, and at most five. */
export function ticksOf(max: number): number[] {
  if (max <= 0) return [1, 0];
  const power = 10 ** Math.floor(Math.log10(max / MAX_SPACES));
  const step =
    ROUND_STEPS.map((each) => each * power).find((each) => Number.isInteger(each) && each * MAX_SPACES >= max) ??
    Math.ceil(max / MAX_SPACES);
  const spaces = Math.ceil(max / step);
  return Array.from({ length: spaces + 1 }, (_, index) => (spaces - index) * step);
}

/** Width of a chart in units of its drawing, which is stretched to the page. */
export const WIDTH = 900;
/** The part of its place that a column takes, and the greatest width of one. */
const FILL = 0.64;
const MAX_COLUMN = 44;

/** Left edge and width of a column. */
export function columnOf(index: number, columns: number): { x: number; width: number } {
  const place = WIDTH / columns;
  const width = Math.min(place * FILL, MAX_COLUMN);
  return { x: place * index + (place - width) / 2, width };
}

/** The middle of a column, from 0 to 100 per cent of the chart's width. */
export function middleOf(index: number, columns: number): number {
  return ((index + 0.5) / columns) * 100;
}

/** The column at a distance from the left edge, as a share of the width from 0 to 1. */
export function columnAt(share: number, columns: number): number {
  return Math.min(Math.max(Math.floor(share * columns), 0), columns - 1);
}

/** The number of columns for which each has a name below it. */
const ALL_NAMED = 7;
const MAX_NAMES = 7;
/** Names closer than this to the last one would touch it, in per cent of the width. */
const NAME_ROOM = 8;

/** The columns that are named below the chart: at even distances, whole weeks if columns are days, and the last one. */
export function namedColumns(columns: number, unit: number): number[] {
  if (columns <= ALL_NAMED) return Array.from({ length: columns }, (_, index) => index);
  const steps = [unit, unit * 2, unit * 3, unit * 4];
  const step = steps.find((each) => columns / each <= MAX_NAMES) ?? Math.ceil(columns / MAX_NAMES);
  const last = columns - 1;
  const named = Array.from({ length: Math.ceil(columns / step) }, (_, index) => index * step);
  return [...named.filter((each) => middleOf(last, columns) - middleOf(each, columns) >= NAME_ROOM), last];
}
