import { useEffect, useRef, useState } from "react";
import { API, reachable, signedOut } from "./server";

/** An event of the project, as far as a page needs it to know what to read again. */
export interface LiveEvent {
  id: string;
  type: string;
  subjectId: string | null;
}

export type LiveState = "connecting" | "live" | "off";

/** Names of all events about sends. */
export const EMAIL_EVENTS = [
  "email.scheduled",
  "email.queued",
  "email.sent",
  "email.delivered",
  "email.delayed",
  "email.bounced",
  "email.complained",
  "email.opened",
  "email.clicked",
  "email.failed",
  "email.suppressed",
  "email.expired",
  "email.cancelled",
  "email.unsubscribed",
];

/**
 * Milliseconds after which a hidden page gives its connection back. Browsers open at most six to a server without
 * HTTP/2, for all tabs together.
 */
const HIDDEN_MS = 20_000;
/** Milliseconds until a stream that the server refused is tried again. */
const RETRY_MS = 60_000;
/** After an interruption, the last seconds come again: this many events are known. */
const KNOWN_EVENTS = 2_000;
/** Milliseconds for which an unused connection is kept, so that going to another page does not open a new one. */
const LINGER_MS = 2_000;

interface Listener {
  types: ReadonlySet<string>;
  onEvent: (event: LiveEvent) => void;
  onState: (state: LiveState) => void;
}

/** The one connection of this page to the events of one project. */
class Stream {
  readonly #projectId: string;
  readonly #listeners = new Set<Listener>();
  #source: EventSource | undefined;
  /** The types that the open connection asked for. */
  #types = new Set<string>();
  /** The position in the stream of the last event that was received: a new connection goes on after it. */
  #after = "";
  /** Ids of the last events. */
  readonly #known = new Set<string>();
  #state: LiveState = "connecting";
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(projectId: string) {
    this.#projectId = projectId;
  }

  get state(): LiveState {
    return this.#state;
  }

  add(listener: Listener): void {
    if (this.#listeners.size === 0) {
      document.addEventListener("visibilitychange", this.#visibilityChanged);
      this.#unsubscribe = [reachable.subscribe(this.#tryAgain), signedOut.subscribe(this.#tryAgain)];
    }
    this.#listeners.add(listener);
    clearTimeout(this.#timer);
    if (!this.#source || [...listener.types].some((type) => !this.#types.has(type))) this.#open();
  }

  remove(listener: Listener): void {
    this.#listeners.delete(listener);
    if (this.#listeners.size > 0) return;
    document.removeEventListener("visibilitychange", this.#visibilityChanged);
    for (const each of this.#unsubscribe) each();
    this.#later(LINGER_MS, () => this.#close());
  }

  #unsubscribe: (() => void)[] = [];

  #open(): void {
    this.#close();
    if (document.hidden) return;
    this.#types = new Set([...this.#listeners].flatMap((each) => [...each.types]));
    const query = new URLSearchParams({ type: [...this.#types].join(",") });
    if (this.#after) query.set("after", this.#after);
    const source = new EventSource(`${API}/projects/${encodeURIComponent(this.#projectId)}/events/stream?${query}`);
    this.#source = source;
    this.#setState("connecting");
    source.onopen = () => this.#setState("live");
    source.onerror = () => {
      // After an interruption, the browser connects again by itself. It gives up after a response that is no stream.
      if (source.readyState !== EventSource.CLOSED) return this.#setState("connecting");
      this.#source = undefined;
      this.#setState("off");
      this.#later(RETRY_MS, () => this.#open());
    };
    for (const type of this.#types) source.addEventListener(type, this.#received);
  }

  #close(): void {
    clearTimeout(this.#timer);
    this.#source?.close();
    this.#source = undefined;
  }

  #received = (message: MessageEvent<string>): void => {
    if (message.lastEventId) this.#after = message.lastEventId;
    const event = eventOf(message);
    if (!event || this.#known.has(event.id)) return;
    this.#known.add(event.id);
    const [oldest] = this.#known;
    if (oldest && this.#known.size > KNOWN_EVENTS) this.#known.delete(oldest);
    for (const each of this.#listeners) if (each.types.has(event.type)) each.onEvent(event);
  };

  #visibilityChanged = (): void => {
    if (document.hidden) this.#later(HIDDEN_MS, () => this.#close());
    else if (!this.#source) this.#open();
    else clearTimeout(this.#timer);
  };

  #tryAgain = (): void => {
    if (reachable.get() && !signedOut.get() && this.#state === "off") this.#open();
  };

  #later(milliseconds: number, run: () => void): void {
    clearTimeout(this.#timer);
    this.#timer = setTimeout(run, milliseconds);
  }

  #setState(state: LiveState): void {
    this.#state = state;
    for (const each of this.#listeners) each.onState(state);
  }
}

/** The event in a message of the stream. The message's own id is only a position. */
function eventOf(message: MessageEvent<string>): LiveEvent | undefined {
  try {
    const { id, subjectId } = JSON.parse(message.data) as Partial<LiveEvent>;
    return id ? { id, type: message.type, subjectId: subjectId ?? null } : undefined;
  } catch {
    return undefined;
  }
}

const streams = new Map<string, Stream>();

/**
 * Follow the events of a project that have one of these types. All users on the page share one connection, which goes
 * on after the last event when it was interrupted. Returns "off" while the server has no stream or refuses it.
 */
export function useLive(projectId: string, types: string[], onEvent: (event: LiveEvent) => void): LiveState {
  const [state, setState] = useState<LiveState>("connecting");
  const latest = useRef(onEvent);
  useEffect(() => {
    latest.current = onEvent;
  });
  const key = types.join();
  useEffect(() => {
    if (!projectId) return;
    let stream = streams.get(projectId);
    if (!stream) {
      stream = new Stream(projectId);
      streams.set(projectId, stream);
    }
    const listener: Listener = {
      types: new Set(key.split(",")),
      onEvent: (event) => latest.current(event),
      onState: setState,
    };
    stream.add(listener);
    setState(stream.state);
    return () => stream.remove(listener);
  }, [projectId, key]);
  return state;
}
