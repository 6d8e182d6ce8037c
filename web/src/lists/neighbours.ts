import { createContext, use, useMemo } from "react";

/** What the panel beside a list needs to know of the list. */
export interface Neighbours {
  above: (() => void) | undefined;
  below: (() => void) | undefined;
  close: () => void;
  /** The list's own copy of what is open, to show until all of it is read. */
  row: unknown;
  /** Change the row of the list, or remove it with `undefined`. */
  patch: (id: string, row: unknown) => void;
}

export const NeighboursContext = createContext<Neighbours>({
  above: undefined,
  below: undefined,
  close: () => {},
  row: undefined,
  patch: () => {},
});

export function useNeighbours(): Neighbours {
  return use(NeighboursContext);
}

/** The rows around the one that is open, for the panel. */
export function useNeighboursOf<T extends { id: string }>(
  rows: T[],
  openId: string | undefined,
  open: (row: T) => void,
  close: () => void,
  patch: (id: string, row: T | undefined) => void,
): Neighbours {
  return useMemo(() => {
    const index = openId ? rows.findIndex((each) => each.id === openId) : -1;
    const to = (at: number) => {
      const row = index < 0 ? undefined : rows[at];
      return row && (() => open(row));
    };
    return {
      above: to(index - 1),
      below: to(index + 1),
      close,
      row: rows[index],
      patch: patch as (id: string, row: unknown) => void,
    };
  }, [rows, openId, open, close, patch]);
}
