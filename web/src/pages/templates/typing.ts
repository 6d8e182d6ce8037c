type TextField = HTMLInputElement | HTMLTextAreaElement;

/** Put text at the cursor of a field, instead of what is selected, and leave the cursor after it. */
export function insertAt(field: TextField | null, text: string, onChange: (value: string) => void): void {
  if (!field) return;
  const [start, end] = [field.selectionStart ?? field.value.length, field.selectionEnd ?? field.value.length];
  field.setRangeText(text, start, end, "end");
  onChange(field.value);
  field.focus();
}

/** Put marks around what is selected, or take them away; without a selection the cursor is between them. */
export function toggleMark(field: TextField | null, mark: "*" | "**", onChange: (value: string) => void): void {
  if (!field) return;
  const [start, end] = [field.selectionStart ?? 0, field.selectionEnd ?? 0];
  const { value } = field;
  const before = /\**$/.exec(value.slice(0, start))?.[0].length ?? 0;
  const after = /^\**/.exec(value.slice(end))?.[0].length ?? 0;
  const count = Math.min(before, after);
  const selected = value.slice(start, end);
  // Three marks are both.
  const isMarked = end > start && !selected.includes("*") && (count === mark.length || count >= 3);
  if (isMarked) field.setRangeText(selected, start - mark.length, end + mark.length, "select");
  else {
    field.setRangeText(mark + selected + mark, start, end, "select");
    field.setSelectionRange(start + mark.length, end + mark.length);
  }
  onChange(field.value);
  field.focus();
}

/** Make the lines of the selection entries of a list, or lines again. */
export function toggleList(field: TextField | null, onChange: (value: string) => void): void {
  if (!field) return;
  const { value } = field;
  const start = value.lastIndexOf("\n", (field.selectionStart ?? 0) - 1) + 1;
  const next = value.indexOf("\n", field.selectionEnd ?? 0);
  const end = next < 0 ? value.length : next;
  const lines = value.slice(start, end).split("\n");
  const isList = lines.every((line) => line.startsWith("- "));
  field.setRangeText(lines.map((line) => (isList ? line.slice(2) : `- ${line}`)).join("\n"), start, end, "end");
  onChange(field.value);
  field.focus();
}

/** Make the selection a link. */
export function insertLink(field: TextField | null, url: string, onChange: (value: string) => void): void {
  if (!field) return;
  const selected = field.value.slice(field.selectionStart ?? 0, field.selectionEnd ?? 0);
  insertAt(field, `[${selected || url}](${url})`, onChange);
}
