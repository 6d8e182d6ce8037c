import { useSyncExternalStore } from "react";

/** A value outside of React that components follow with `use`. */
export interface Signal<T> {
  get(): T;
  set(value: T): void;
  subscribe(listener: () => void): () => void;
  use(): T;
}

export function createSignal<T>(initial: T): Signal<T> {
  let current = initial;
  const listeners = new Set<() => void>();
  const signal: Signal<T> = {
    get: () => current,
    set(value) {
      if (Object.is(value, current)) return;
      current = value;
      for (const each of listeners) each();
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    use: () => useSyncExternalStore(signal.subscribe, signal.get),
  };
  return signal;
}
