/** One error in a request: `path` is a JSON pointer into the body, `query/name` or `header/Name`. */
export interface ErrorDetail {
  path: string;
  code: string;
  message: string;
}

/** Every error of this package. */
export class PosternError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options);
    this.name = "PosternError";
  }
}

/** The client lacks a setting that a call needs, or would send its key unencrypted. */
export class ConfigurationError extends PosternError {
  override name = "ConfigurationError";
}

/** The server did not answer. */
export class ConnectionFailed extends PosternError {
  override name = "ConnectionFailed";

  constructor(
    message: string,
    /** Whether the server may have executed the request. */
    readonly mayHaveBeenExecuted: boolean,
    /** The `Idempotency-Key` that was sent. A call with the same one repeats the request safely. */
    readonly idempotencyKey: string | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

/** The server did not answer within `timeout`. */
export class RequestTimedOut extends ConnectionFailed {
  override name = "RequestTimedOut";
}

/** The server reported success, but the body is incomplete or is not JSON. A write may have been executed. */
export class InvalidResponse extends PosternError {
  override name = "InvalidResponse";

  constructor(
    message: string,
    /** HTTP status. */
    readonly status: number,
    readonly requestId: string | undefined,
    /** The `Idempotency-Key` that was sent. A call with the same one repeats the request safely. */
    readonly idempotencyKey: string | undefined,
    cause: unknown,
  ) {
    super(message, { cause });
  }
}

/** The server responded with an error. Each code of a problem has its own class, such as `DomainNotVerified`. */
export class APIError extends PosternError {
  /** The code of the problem, such as `domain_not_verified`; empty if the response is not from Postern. */
  readonly code: string;
  readonly title: string;
  /** What is wrong, for people. */
  readonly detail: string;
  /** The errors in the request, with their location. */
  readonly errors: ErrorDetail[];
  /** Quote it when you ask for help. */
  readonly requestId: string | undefined;

  constructor(
    /** HTTP status. */
    readonly status: number,
    /** The problem document (RFC 9457) with members of its own. */
    readonly problem: { readonly [member: string]: unknown },
    /** Headers of the response. */
    readonly headers: Headers,
  ) {
    const text = (name: string) => (typeof problem[name] === "string" ? problem[name] : "");
    const code = text("code");
    const requestId = text("requestId") || headers.get("x-request-id") || undefined;
    const errors = (Array.isArray(problem.errors) ? problem.errors : []) as ErrorDetail[];
    const detail = text("detail") || text("title");
    const where = errors.map((each) => ` ${each.path}: ${each.message}`).join("");
    super(`${code || "HTTP error"} (${status}): ${detail}${where}${requestId ? ` [request ${requestId}]` : ""}`);
    this.name = "APIError";
    this.code = code;
    this.title = text("title");
    this.detail = detail;
    this.errors = errors;
    this.requestId = requestId;
  }
}

/** Status 400. */
export class BadRequestError extends APIError {}
/** Status 401. */
export class UnauthorizedError extends APIError {}
/** Status 403. */
export class ForbiddenError extends APIError {}
/** Status 404. */
export class NotFoundError extends APIError {}
/** Status 409. */
export class ConflictError extends APIError {}
/** Status 410. */
export class GoneError extends APIError {}
/** Status 412: the record has changed since the ETag of `ifMatch`. */
export class PreconditionFailedError extends APIError {}
/** Status 413. */
export class PayloadTooLargeError extends APIError {}
/** Status 415. */
export class UnsupportedMediaTypeError extends APIError {}
/** Status 422. */
export class UnprocessableEntityError extends APIError {}
/** Status 429. */
export class RateLimitError extends APIError {}
/** Status 500 or above. */
export class ServerError extends APIError {}

const BY_STATUS: { [status: number]: typeof APIError } = {
  400: BadRequestError,
  401: UnauthorizedError,
  403: ForbiddenError,
  404: NotFoundError,
  409: ConflictError,
  410: GoneError,
  412: PreconditionFailedError,
  413: PayloadTooLargeError,
  415: UnsupportedMediaTypeError,
  422: UnprocessableEntityError,
  429: RateLimitError,
};

/** The class of a status without a known problem code. */
export function errorOfStatus(status: number): typeof APIError {
  return BY_STATUS[status] ?? (status >= 500 ? ServerError : APIError);
}
