import { useWindowVirtualizer } from "@tanstack/react-virtual";
import { type ReactNode, useCallback, useEffect, useLayoutEffect, useRef, useState } from "react";
import { SkeletonRows } from "../parts/parts";

/** Height of a row in pixels until one was measured. */
const ROW_PX = 38;
const OVERSCAN_ROWS = 12;
/** The next page is asked for when this many rows or fewer are left below. */
const ROWS_AHEAD = 60;
const SKELETON_ROWS = 14;
/** Pixels that bars at the top and bottom of a phone cover. */
const COVERED_PX = 64;

export interface Column {
  key: string;
  label: ReactNode;
  className?: string;
  /** Pixels of a still bar while the rows load. */
  skeleton: number;
}

/**
 * A real table of any length: only the rows near the window exist, between two rows as high as the others together.
 *
 * J and K go to the next and previous row, Enter opens it, Escape closes what is open and returns to its row.
 */
export function RowTable<T extends { id: string }>({
  label,
  columns,
  rows,
  total,
  isPending,
  isStale = false,
  className = "",
  openId,
  fresh,
  row,
  onOpen,
  onClose,
  onEnd,
}: {
  label: string;
  columns: Column[];
  rows: T[];
  total: number | undefined;
  isPending: boolean;
  isStale?: boolean;
  className?: string;
  /** Id of the row whose panel is open. */
  openId?: string | undefined;
  fresh?: ReadonlySet<string>;
  /** The cells of a row. One contains an element of the class `row`, the link that opens it. */
  row: (item: T) => ReactNode;
  onOpen: (item: T) => void;
  onClose: () => void;
  /** The last rows have come near. */
  onEnd?: () => void;
}) {
  const body = useRef<HTMLTableSectionElement>(null);
  const [margin, setMargin] = useState(0);
  const [height, setHeight] = useState(ROW_PX);
  const virtualizer = useWindowVirtualizer<HTMLTableRowElement>({
    count: rows.length,
    estimateSize: () => height,
    getItemKey: (index) => rows[index]?.id ?? index,
    overscan: OVERSCAN_ROWS,
    scrollMargin: margin,
    scrollPaddingStart: COVERED_PX,
    scrollPaddingEnd: COVERED_PX,
  });

  // What is above the table changes with the filters; the height of a row with the width of the window.
  useLayoutEffect(() => {
    const measure = () => {
      if (!body.current) return;
      setMargin(Math.round(body.current.getBoundingClientRect().top + window.scrollY));
      const found = body.current.querySelector<HTMLElement>("tr[data-row]")?.getBoundingClientRect().height;
      if (found) setHeight(found);
    };
    measure();
    window.addEventListener("resize", measure);
    return () => window.removeEventListener("resize", measure);
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: all rows have the new height.
  useEffect(() => virtualizer.measure(), [virtualizer, height]);

  const items = virtualizer.getVirtualItems();
  const last = items.at(-1)?.index ?? -1;
  useEffect(() => {
    if (rows.length && last >= rows.length - ROWS_AHEAD) onEnd?.();
  }, [rows.length, last, onEnd]);

  const focusRow = useCallback(
    (index: number) => {
      const id = rows[index]?.id;
      if (!id) return;
      virtualizer.scrollToIndex(index);
      // The row exists only after the scroll.
      const focus = (attempts: number) => {
        const link = body.current?.querySelector<HTMLElement>(`[data-row="${CSS.escape(id)}"] .row`);
        if (link) link.focus({ preventScroll: true });
        else if (attempts) requestAnimationFrame(() => focus(attempts - 1));
      };
      focus(10);
    },
    [rows, virtualizer],
  );

  /** The row that J and K go on from. */
  const at = useRef<string>(undefined);
  if (openId) at.current = openId;

  // Closing the panel gives the focus back to its row.
  const wasOpen = useRef(openId);
  useEffect(() => {
    const closed = wasOpen.current;
    wasOpen.current = openId;
    if (closed && !openId) focusRow(rows.findIndex((each) => each.id === closed));
  }, [openId, rows, focusRow]);

  useEffect(() => {
    const pressed = (event: KeyboardEvent) => {
      if (event.ctrlKey || event.metaKey || event.altKey || event.defaultPrevented) return;
      if (document.querySelector("[role=dialog], [role=menu], [role=listbox]")) return;
      const target = event.target as HTMLElement;
      if (/^(INPUT|TEXTAREA|SELECT)$/.test(target.tagName) || target.isContentEditable) return;
      if (event.key === "Escape" && openId) return onClose();
      const step = { j: 1, k: -1 }[event.key];
      if (!step || rows.length === 0) return;
      event.preventDefault();
      const index = rows.findIndex((each) => each.id === at.current);
      const next = Math.min(Math.max(index + (index < 0 ? 1 : step), 0), rows.length - 1);
      const item = rows[next];
      if (!item) return;
      at.current = item.id;
      if (openId) {
        virtualizer.scrollToIndex(next);
        onOpen(item);
      } else focusRow(next);
    };
    document.addEventListener("keydown", pressed);
    return () => document.removeEventListener("keydown", pressed);
  }, [rows, openId, onOpen, onClose, focusRow, virtualizer]);

  const before = (items[0]?.start ?? margin) - margin;
  const after = virtualizer.getTotalSize() - ((items.at(-1)?.end ?? margin) - margin);
  return (
    <div className="edge">
      <table
        className={`table log ${className}`}
        aria-busy={isPending || isStale || undefined}
        // The total may stand for more records than it says.
        aria-rowcount={total === undefined ? undefined : Math.max(total, rows.length) + 1}
      >
        <caption className="sr">{label}</caption>
        <thead>
          <tr>
            {columns.map(({ key, label, className }) => (
              <th key={key} scope="col" className={className}>
                {label}
              </th>
            ))}
          </tr>
        </thead>
        {isPending ? (
          <SkeletonRows rows={SKELETON_ROWS} widths={columns.map((each) => each.skeleton)} />
        ) : (
          <tbody ref={body} className={isStale ? "stale" : ""}>
            <Space height={before} />
            {items.map(({ index }) => {
              const item = rows[index];
              if (!item) return null;
              const state = `${item.id === openId ? "on" : ""} ${fresh?.has(item.id) ? "fresh" : ""}`;
              return (
                <tr
                  key={item.id}
                  data-row={item.id}
                  className={state}
                  aria-rowindex={index + 2}
                  onFocus={() => {
                    at.current = item.id;
                  }}
                >
                  {row(item)}
                </tr>
              );
            })}
            <Space height={after} />
          </tbody>
        )}
      </table>
    </div>
  );
}

/** The rows that do not exist now. */
function Space({ height }: { height: number }) {
  if (height <= 0) return null;
  return (
    // biome-ignore lint/a11y/noAriaHiddenOnFocusable: the row has nothing that could have the focus.
    <tr className="space" aria-hidden="true">
      <td style={{ height }} />
    </tr>
  );
}
