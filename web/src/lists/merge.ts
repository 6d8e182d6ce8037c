import type { Page } from "@postern/sdk";

/** One page of a list as it was read. */
export interface Loaded<T> {
  rows: T[];
  total: number;
  next: Page<T> | undefined;
}

/**
 * The pages of a list with what a new look at its first page shows: changed rows, rows that no longer match, and, with
 * `withNew`, new rows. Ids are ordered by time.
 */
export function merged<T extends { id: string }>(
  pages: Loaded<T>[],
  page: Loaded<T>,
  withNew: boolean,
): { pages: Loaded<T>[]; newIds: string[] } {
  const known = new Set(pages.flatMap((each) => each.rows.map((row) => row.id)));
  const newest = pages.find((each) => each.rows.length)?.rows[0]?.id ?? "";
  // A row may also match again, among those of the first page.
  const reach = pages[0]?.next ? (pages[0].rows.at(-1)?.id ?? "") : "";
  const newIds = page.rows.filter((row) => !known.has(row.id) && row.id > reach).map((row) => row.id);
  // More is new than one page has: what lies between is not known.
  const isGap = page.next !== undefined && known.size > 0 && page.rows.every((row) => row.id > newest);
  if (isGap) return withNew ? { pages: [page], newIds } : { pages, newIds };
  const now = new Map(page.rows.map((row) => [row.id, row]));
  const oldest = page.next ? (page.rows.at(-1)?.id ?? "") : "";
  const updated = pages.map((each) => ({
    ...each,
    total: page.total,
    rows: each.rows.flatMap((row) => {
      const found = now.get(row.id);
      return found ? [found] : row.id >= oldest ? [] : [row];
    }),
  }));
  const head = updated[0];
  if (withNew && head) {
    const rows = [...page.rows.filter((row) => newIds.includes(row.id)), ...head.rows];
    head.rows = rows.sort((a, b) => (a.id < b.id ? 1 : -1));
  }
  return { pages: updated, newIds };
}
