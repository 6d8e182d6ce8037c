/** A page of a list. Iterating it goes on over all further pages: `for await (const contact of page)`. */
export class Page<T> implements AsyncIterable<T> {
  readonly #next: (() => Promise<Page<T>>) | undefined;

  constructor(
    /** The records of this page. */
    readonly data: T[],
    /** Number of records of the whole list, where the API counts them. */
    readonly total: number | undefined,
    next: (() => Promise<Page<T>>) | undefined,
  ) {
    this.#next = next;
  }

  /** Whether there is a further page. */
  get hasNext(): boolean {
    return this.#next !== undefined;
  }

  /** The next page; undefined after the last one. */
  async next(): Promise<Page<T> | undefined> {
    return this.#next?.();
  }

  async *[Symbol.asyncIterator](): AsyncIterator<T> {
    for (let page: Page<T> | undefined = this; page; page = await page.next()) yield* page.data;
  }
}

/** The promise of a list's first page, which can be iterated itself: `for await (const each of client.contacts.list())`. */
export interface PagePromise<T> extends Promise<Page<T>>, AsyncIterable<T> {}

type Params = { [name: string]: unknown };

/**
 * Read a list from the page that `params` ask for. `load` returns the body and the headers of one page; `kind` says
 * where a page names the next one: `l` in the header `Link`, `p` in `nextCursor` or by number, `c` in `nextCursor`.
 */
export function listPages<T>(
  kind: string,
  params: Params,
  load: (params: Params) => Promise<{ body: unknown; headers: Headers }>,
): PagePromise<T> {
  const read = async (current: Params): Promise<Page<T>> => {
    const { body, headers } = await load(current);
    const page = (kind === "l" ? { data: body } : body) as Params & { data: T[] };
    const { page: _, ...filters } = current;
    let next: Params | undefined;
    const cursor = kind === "l" ? cursorOf(headers.get("link")) : page.nextCursor;
    if (cursor) next = { ...filters, cursor };
    else if (kind === "p" && page.nextCursor === undefined && (page.page as number) < (page.pages as number)) {
      next = { ...filters, page: (page.page as number) + 1 };
    }
    const counted = headers.get("total-count");
    const total = counted === null ? (page.total as number | undefined) : Number(counted);
    return new Page(page.data, total, next && (() => read(next)));
  };
  const first = read(params);
  return Object.assign(first, {
    async *[Symbol.asyncIterator]() {
      yield* await first;
    },
  });
}

/** The cursor in the URL of the next page. Only the cursor is used, so that no header can lead to another server. */
function cursorOf(link: string | null): string | null {
  const next = /<([^>]*)>[^,]*;\s*rel="?next"?/.exec(link ?? "")?.[1];
  return next ? new URL(next, "http://localhost").searchParams.get("cursor") : null;
}
