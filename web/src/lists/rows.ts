import type { Page } from "@postern/sdk";
import { type InfiniteData, type QueryClient, useInfiniteQuery, useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";
import { type LiveEvent, type LiveState, useLive } from "../session/live";
import { type Loaded, merged } from "./merge";

/** Rows of one request: the most that the API gives. */
export const PAGE_ROWS = 100;
/** Milliseconds between two looks at a list in which something happens. */
const SYNC_MS = 1_000;
/** Milliseconds between two looks without a live stream. */
const POLL_MS = 10_000;
/** Rows below the first page that are read again one by one after an event. */
const MOST_SINGLE_READS = 20;
/** Pixels from the top of the page within which new rows move in. */
const TOP_PX = 80;
/** Milliseconds for which a row counts as new. */
const FRESH_MS = 1_000;

interface Source<T> {
  /** Begins with the name of the page and the id of the project. */
  queryKey: readonly [string, string, ...unknown[]];
  /** The first page, newest first. */
  first: () => Promise<Page<T>>;
  /** One row again, after an event about it. */
  one?: (id: string) => Promise<T>;
  /** The events after which the list may be different. */
  types: string[];
  /** Whether new rows may move in by themselves. */
  live: boolean;
  /** Milliseconds between two looks although the stream is open, if there are changes that it does not tell. */
  pollMs?: number | undefined;
}

export interface RowList<T> {
  rows: T[];
  total: number | undefined;
  /** Nothing is known yet. */
  isPending: boolean;
  /** The rows are those of the filters before. */
  isStale: boolean;
  error: unknown;
  retry: () => void;
  more: () => void;
  state: LiveState;
  /** Number of new rows that wait at the top. */
  held: number;
  showHeld: () => void;
  /** Ids of rows that have just moved in. */
  fresh: ReadonlySet<string>;
  /** Change a row at once, or remove it with `undefined`. */
  patch: (id: string, row: T | undefined) => void;
}

type Pages<T> = InfiniteData<Loaded<T>, Page<T> | undefined>;

function loaded<T>(page: Page<T> | undefined): Loaded<T> {
  return { rows: page?.data ?? [], total: page?.total ?? 0, next: page?.hasNext ? page : undefined };
}

/** A list of the API, newest first, that loads further pages on demand and follows the live stream. */
export function useRowList<T extends { id: string }>({
  queryKey,
  first,
  one,
  types,
  live,
  pollMs,
}: Source<T>): RowList<T> {
  const client = useQueryClient();
  const projectId = queryKey[1];
  const query = useInfiniteQuery({
    queryKey,
    queryFn: async ({ pageParam }) => loaded(await (pageParam ? pageParam.next() : first())),
    initialPageParam: undefined as Page<T> | undefined,
    getNextPageParam: (last) => last.next,
    // Reading all pages again would be much for nothing: `sync` reads the first one.
    staleTime: Number.POSITIVE_INFINITY,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    placeholderData: (previous, of) =>
      of?.queryKey[1] === projectId && of?.queryKey[2] === queryKey[2] ? previous : undefined,
  });

  const [held, setHeld] = useState<Loaded<T> | undefined>();
  const [fresh, setFresh] = useState<ReadonlySet<string>>(new Set());
  const key = JSON.stringify(queryKey);
  const current = useRef({ key, queryKey, first, one, live });
  useEffect(() => {
    current.current = { key, queryKey, first, one, live };
  });
  // biome-ignore lint/correctness/useExhaustiveDependencies: with other filters, the rows that wait are others.
  useEffect(() => setHeld(undefined), [key]);

  const apply = useCallback(
    (page: Loaded<T>, withNew: boolean) => {
      const known = client.getQueryData<Pages<T>>(current.current.queryKey);
      if (!known) return;
      const { pages, newIds } = merged(known.pages, page, withNew);
      client.setQueryData<Pages<T>>(current.current.queryKey, {
        pages,
        pageParams: known.pageParams.slice(0, pages.length),
      });
      const waiting = !withNew && newIds.length > 0;
      setHeld(waiting ? page : undefined);
      if (!withNew || newIds.length === 0) return;
      setFresh(new Set(newIds));
      setTimeout(() => setFresh(new Set()), FRESH_MS);
    },
    [client],
  );

  const changed = useRef(new Set<string>());
  const sync = useCallback(async () => {
    const { key, queryKey, first, one } = current.current;
    const ids = changed.current;
    changed.current = new Set();
    const known = client.getQueryData<Pages<T>>(queryKey);
    if (!known || client.isFetching({ queryKey, exact: true })) return;
    const page = loaded(await first());
    if (current.current.key !== key) return;
    const rows = new Set(known.pages.flatMap((each) => each.rows.map((row) => row.id)));
    apply(page, rows.size === 0 || (current.current.live && window.scrollY < TOP_PX));
    for (const row of page.rows) rows.delete(row.id);
    const below = one ? [...ids].filter((id) => rows.has(id)).slice(0, MOST_SINGLE_READS) : [];
    const read = await Promise.all(below.map((id) => one?.(id).catch(() => undefined)));
    for (const row of read) if (row) replace(client, queryKey, row.id, row);
  }, [client, apply]);

  // At most one look in SYNC_MS, the last event included.
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  const syncSoon = useCallback(() => {
    if (timer.current !== undefined || document.hidden) return;
    timer.current = setTimeout(() => {
      timer.current = undefined;
      // A look that fails is no state of the list: the banner says that the server does not answer.
      void sync().catch(() => undefined);
    }, SYNC_MS);
  }, [sync]);
  useEffect(() => () => clearTimeout(timer.current), []);

  const onEvent = useCallback(
    (event: LiveEvent) => {
      if (event.subjectId) changed.current.add(event.subjectId);
      syncSoon();
    },
    [syncSoon],
  );
  const state = useLive(projectId, types, onEvent);

  useEffect(() => {
    const look = () => !document.hidden && syncSoon();
    look();
    document.addEventListener("visibilitychange", look);
    const interval = state === "off" ? POLL_MS : pollMs;
    const polling = interval ? setInterval(look, interval) : undefined;
    return () => {
      document.removeEventListener("visibilitychange", look);
      clearInterval(polling);
    };
  }, [state, pollMs, syncSoon]);

  // What waits moves in when the person comes back to the top.
  useEffect(() => {
    if (!held || !live) return;
    const scrolled = () => window.scrollY < TOP_PX && apply(held, true);
    window.addEventListener("scroll", scrolled, { passive: true });
    return () => window.removeEventListener("scroll", scrolled);
  }, [held, live, apply]);

  const pages = query.data?.pages;
  const rows = pages?.flatMap((each) => each.rows) ?? [];
  const ids = new Set(rows.map((row) => row.id));
  return {
    rows,
    total: held?.total ?? pages?.[0]?.total,
    isPending: query.isPending,
    isStale: query.isPlaceholderData,
    error: query.isError && !query.isFetching ? query.error : undefined,
    retry: () => void (pages && query.isFetchNextPageError ? query.fetchNextPage() : query.refetch()),
    more: () => {
      if (query.hasNextPage && !query.isFetching && !query.isError) void query.fetchNextPage();
    },
    state,
    held: held?.rows.filter((row) => !ids.has(row.id)).length ?? 0,
    showHeld: () => {
      window.scrollTo({ top: 0 });
      if (held) apply(held, true);
    },
    fresh,
    patch: (id, row) => replace(client, queryKey, id, row),
  };
}

function replace<T extends { id: string }>(
  client: QueryClient,
  queryKey: readonly unknown[],
  id: string,
  row: T | undefined,
): void {
  client.setQueryData<Pages<T>>(queryKey, (old) => {
    if (!old?.pages.some((page) => page.rows.some((each) => each.id === id))) return old;
    const pages = old.pages.map((page) => ({
      ...page,
      total: page.total - (row ? 0 : 1),
      rows: page.rows.flatMap((each) => (each.id !== id ? [each] : row ? [row] : [])),
    }));
    return { ...old, pages };
  });
}
