/** Changes of one field within this time are taken back together. */
const TOGETHER_MS = 1500;
/** States that can be taken back. */
const MOST_STATES = 200;

/** What is edited, with the states before it and those that were taken back. */
export interface History<T> {
  past: T[];
  present: T;
  future: T[];
  /** What the last change was about; a further change of it is not a state of its own. */
  mark?: string | undefined;
  at: number;
}

export function historyOf<T>(present: T): History<T> {
  return { past: [], present, future: [], at: 0 };
}

export function withChange<T>(history: History<T>, next: T, mark: string | undefined, now: number): History<T> {
  const { past, present } = history;
  if (next === present) return history;
  const isTogether = mark !== undefined && mark === history.mark && now - history.at < TOGETHER_MS;
  return { past: isTogether ? past : [...past, present].slice(-MOST_STATES), present: next, future: [], mark, at: now };
}

export function undone<T>({ past, present, future }: History<T>): History<T> {
  const before = past.at(-1);
  if (before === undefined) return { past, present, future, at: 0 };
  return { past: past.slice(0, -1), present: before, future: [present, ...future], at: 0 };
}

export function redone<T>({ past, present, future }: History<T>): History<T> {
  const [next, ...later] = future;
  if (next === undefined) return { past, present, future, at: 0 };
  return { past: [...past, present], present: next, future: later, at: 0 };
}
