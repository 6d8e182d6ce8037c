/** What this browser keeps of something that is typed and not stored yet, so that it outlives the page. */

const PREFIX = "postern.kept.";

/** What is kept under a name, if `isWhole` recognizes it. */
export function kept<T>(name: string, isWhole: (value: unknown) => value is T): T | undefined {
  try {
    const value: unknown = JSON.parse(localStorage.getItem(PREFIX + name) ?? "null");
    return isWhole(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

export function keep(name: string, value: unknown): void {
  try {
    localStorage.setItem(PREFIX + name, JSON.stringify(value));
  } catch {
    // Without storage, or without room in it, who leaves the page is asked.
  }
}

export function drop(name: string): void {
  try {
    localStorage.removeItem(PREFIX + name);
  } catch {
    // Without storage nothing is kept.
  }
}
