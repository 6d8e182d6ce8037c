type Cell = string | number | null | undefined;

/** A table as CSV (RFC 4180). What a spreadsheet would take for a formula gets an apostrophe in front. */
export function csvOf(head: string[], rows: Cell[][]): string {
  const cell = (value: Cell) => {
    const text = value === null || value === undefined ? "" : String(value);
    const safe = /^[=+\-@\t\r]/.test(text) ? `'${text}` : text;
    return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
  };
  return [head, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");
}
