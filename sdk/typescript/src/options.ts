/** What a request body of bytes may be. A stream is read once, so its request is never repeated. */
export type RawBody = Blob | string | ArrayBuffer | Uint8Array | ReadableStream<Uint8Array>;

/** A secret key or an access token, or a function that returns one and is called before every request. */
export type Key = string | (() => string | null | undefined | Promise<string | null | undefined>);

/** Options of a client. What is absent comes from `POSTERN_URL`, `POSTERN_KEY` and `POSTERN_PROJECT`. */
export interface ClientOptions {
  /** The server, such as `https://mail.example.com`. */
  url?: string | undefined;
  /** A secret key, or the access token of a developer or customer. */
  key?: Key | undefined;
  /** Id of the project that operations refer to. */
  project?: string | undefined;
  /** Milliseconds for one attempt, including the response's body. Default: 30,000. */
  timeout?: number | undefined;
  /** How often a request is repeated if that is safe. Default: 2. */
  retries?: number | undefined;
  /** Allow to send a key over `http:` to other hosts than this one. */
  insecure?: boolean | undefined;
  /** Used instead of the global `fetch`. */
  fetch?: ((url: string, init: RequestInit) => Promise<Response>) | undefined;
}

/** Options of one call. */
export interface RequestOptions {
  /** Ends the call at once; the promise rejects with the signal's reason. */
  signal?: AbortSignal | undefined;
  /** As of the client, for this call. */
  timeout?: number | undefined;
  /** As of the client, for this call. */
  retries?: number | undefined;
  /** As of the client, for this call. */
  key?: Key | undefined;
  /** As of the client, for this call. */
  project?: string | undefined;
  /** `Idempotency-Key` of operations that take one. By default every call has its own. */
  idempotencyKey?: string | undefined;
  /** `If-Match`: an ETag, or a record that this client returned. The write fails if the record has changed since. */
  ifMatch?: string | object | undefined;
  /** `Prefer`, such as `wait=0`. */
  prefer?: string | undefined;
  /** Further headers; they replace those of the client. */
  headers?: { [name: string]: string } | undefined;
}
