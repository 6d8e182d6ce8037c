/** A line of a comparison: in both texts, only in the old one, or only in the new one. */
export interface DiffLine {
  kind: "same" | "old" | "new";
  text: string;
}

/** Comparisons with more pairs of lines than this show all old lines, then all new ones. */
const MOST_PAIRS = 4_000_000;

/** The lines of two texts, with the fewest lines that differ. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const a = before ? before.split("\n") : [];
  const b = after ? after.split("\n") : [];
  let start = 0;
  while (start < a.length && start < b.length && a[start] === b[start]) start++;
  let end = 0;
  while (end < a.length - start && end < b.length - start && a.at(-1 - end) === b.at(-1 - end)) end++;
  const lines = (kind: DiffLine["kind"], texts: string[]) => texts.map((text) => ({ kind, text }));
  const middle = changes(a.slice(start, a.length - end), b.slice(start, b.length - end));
  return [...lines("same", a.slice(0, start)), ...middle, ...lines("same", end ? a.slice(-end) : [])];
}

function changes(a: string[], b: string[]): DiffLine[] {
  const result: DiffLine[] = [];
  const push = (kind: DiffLine["kind"], text: string | undefined) => result.push({ kind, text: text ?? "" });
  if (a.length * b.length > MOST_PAIRS) {
    for (const text of a) push("old", text);
    for (const text of b) push("new", text);
    return result;
  }
  // The length of the longest common part of what follows each pair of lines.
  const width = b.length + 1;
  const common = new Uint32Array((a.length + 1) * width);
  const at = (i: number, j: number) => common[i * width + j] ?? 0;
  for (let i = a.length - 1; i >= 0; i--)
    for (let j = b.length - 1; j >= 0; j--)
      common[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1));
  let i = 0;
  let j = 0;
  while (i < a.length || j < b.length) {
    if (i < a.length && j < b.length && a[i] === b[j]) {
      push("same", a[i++]);
      j++;
    } else if (i < a.length && (j >= b.length || at(i + 1, j) >= at(i, j + 1))) push("old", a[i++]);
    else push("new", b[j++]);
  }
  return result;
}

/** The lines that differ, with some lines around them; `gap` stands for those that are left out. */
export function excerpt(lines: DiffLine[], around = 2): (DiffLine | { kind: "gap"; count: number })[] {
  const shown = lines.map((_, index) =>
    lines.slice(Math.max(0, index - around), index + around + 1).some((line) => line.kind !== "same"),
  );
  const result: (DiffLine | { kind: "gap"; count: number })[] = [];
  for (const [index, line] of lines.entries()) {
    const last = result.at(-1);
    if (shown[index]) result.push(line);
    else if (last?.kind === "gap") last.count++;
    else result.push({ kind: "gap", count: 1 });
  }
  return result;
}

/** At most so many characters of a text, from the line on in which it begins to differ from another text. */
export function fromFirstDifference(text: string, other: string, characters: number): string {
  if (text.length <= characters) return text;
  let same = 0;
  while (same < text.length && text[same] === other[same]) same++;
  // Of a very long line, its beginning would not show the difference.
  const line = text.lastIndexOf("\n", same - 1) + 1;
  const start =
    same === text.length
      ? text.length - characters
      : same - line < characters / 2
        ? line
        : same - Math.floor(characters / 4);
  const end = start + characters;
  return `${start ? "…" : ""}${text.slice(start, end)}${end < text.length ? "…" : ""}`;
}
