import { useCallback, useSyncExternalStore } from "react";
import { m } from "../../messages/messages.js";

/** Columns that fit beside the address. */
export const MOST_COLUMNS = 6;
/** Columns until someone chooses: the first attributes by age. */
const COLUMNS_AT_FIRST = 3;

/** Columns that are fields of a contact; others are `attributes.<name>`. */
export const TIME_COLUMNS = ["lastOpenedAt", "lastClickedAt", "updatedAt"] as const;
export type TimeColumn = (typeof TIME_COLUMNS)[number];

export const TIME_NAMES: Record<TimeColumn, () => string> = {
  lastOpenedAt: m.contacts_last_opened,
  lastClickedAt: m.contacts_last_clicked,
  updatedAt: m.contacts_changed,
};

export function isTimeColumn(column: string): column is TimeColumn {
  return (TIME_COLUMNS as readonly string[]).includes(column);
}

const PREFIX = "attributes.";

export function columnOf(attribute: string): string {
  return PREFIX + attribute;
}

export function attributeOfColumn(column: string): string | undefined {
  return column.startsWith(PREFIX) ? column.slice(PREFIX.length) : undefined;
}

const listeners = new Set<() => void>();

function keyOf(projectId: string): string {
  return `postern.contacts.columns.${projectId}`;
}

/** What is kept for a project; undefined if nothing is, or nothing that can be read. */
export function readColumns(stored: string | null): string[] | undefined {
  try {
    const found: unknown = JSON.parse(stored ?? "");
    return Array.isArray(found) && found.every((each) => typeof each === "string")
      ? found.slice(0, MOST_COLUMNS)
      : undefined;
  } catch {
    return undefined;
  }
}

/** The columns of the list of contacts, as this browser keeps them for the project. */
export function useColumns(
  projectId: string,
  attributes: { name: string; createdAt: string }[],
): [string[], (columns: string[]) => void] {
  const stored = useSyncExternalStore(
    (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    () => localStorage.getItem(keyOf(projectId)),
  );
  const choose = useCallback(
    (columns: string[]) => {
      localStorage.setItem(keyOf(projectId), JSON.stringify(columns));
      for (const each of listeners) each();
    },
    [projectId],
  );
  const known = new Set(attributes.map((each) => columnOf(each.name)));
  const chosen = readColumns(stored)?.filter((each) => isTimeColumn(each) || known.has(each));
  return [chosen ?? firstColumns(attributes), choose];
}

function firstColumns(attributes: { name: string; createdAt: string }[]): string[] {
  const oldest = [...attributes].sort((a, b) => (a.createdAt < b.createdAt ? -1 : 1));
  return oldest.slice(0, COLUMNS_AT_FIRST).map((each) => columnOf(each.name));
}
