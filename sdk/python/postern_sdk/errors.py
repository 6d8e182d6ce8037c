"""The exceptions of this package. `postern_sdk.problems` has one more for each problem code of the API."""

from collections.abc import Mapping
from typing import Any, NamedTuple

BODY_SHOWN = 200
"""Maximum characters that a message quotes of a response which is no problem document."""


class PosternError(Exception):
    """Base class of all exceptions of this package."""


class ConfigurationError(PosternError):
    """The client lacks a setting that a call needs, or would send its key unencrypted."""


class ConnectionFailed(PosternError):
    """The server did not answer. `may_have_been_executed` says whether it may have received the request."""

    def __init__(
        self, message: str, *, may_have_been_executed: bool = False, idempotency_key: str | None = None
    ) -> None:
        super().__init__(message)
        self.may_have_been_executed = may_have_been_executed
        self.idempotency_key = idempotency_key


class RequestTimedOut(ConnectionFailed):
    """The server did not answer within the time limit of one attempt."""


class InvalidResponse(PosternError):
    """The server reported success, but the body was incomplete or unreadable. A write may have been executed."""

    def __init__(
        self, message: str, *, status: int = 0, request_id: str | None = None, idempotency_key: str | None = None
    ) -> None:
        super().__init__(message)
        self.status = status
        self.request_id = request_id
        self.idempotency_key = idempotency_key


class ServerUnavailable(PosternError):
    """Sessions and sign-in: the server did not answer, or its answer cannot be used. The same may succeed later."""


class WebhookVerificationError(PosternError):
    """A webhook delivery is not signed with a secret given, or too old. The message says which."""


class FieldError(NamedTuple):
    """What is wrong with one value of a request."""

    path: str
    """JSON pointer of the value in the body, such as `/to/0`."""
    code: str
    message: str


class APIError(PosternError):
    """The server rejected the request, or failed."""

    def __init__(
        self,
        status: int,
        problem: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
        text: str = "",
    ) -> None:
        self.status = status
        """HTTP status."""
        self.problem: dict[str, Any] = dict(problem or {})
        """The whole problem document (RFC 9457); empty if the response had none."""
        self.headers: dict[str, str] = {name.lower(): value for name, value in (headers or {}).items()}
        """The response's headers, with names in lower case."""
        self.text = text
        """The beginning of a response that is no problem document."""
        self.code = str(self.problem.get("code", ""))
        """Problem code, such as `domain_not_verified`; empty if the response had none."""
        self.title = str(self.problem.get("title", ""))
        self.detail = str(self.problem.get("detail") or self.title)
        self.request_id: str | None = self.problem.get("requestId") or self.headers.get("x-request-id")
        self.errors = _field_errors(self.problem.get("errors"))
        super().__init__(self._message())

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.status, self.problem, self.headers, self.text)

    def _message(self) -> str:
        name = f"{self.code} ({self.status})" if self.code else f"HTTP status {self.status}"
        reason = self.detail or self.text or "The response has no description of the error."
        places = "".join(
            f" ({error.path})" if error.message in reason else f" {error.path}: {error.message}"
            for error in self.errors
            if error.path
        )
        return f"{name}: {reason}{places}" + (f" [request {self.request_id}]" if self.request_id else "")


class BadRequestError(APIError):
    """Status 400."""


class UnauthorizedError(APIError):
    """Status 401."""


class ForbiddenError(APIError):
    """Status 403."""


class NotFoundError(APIError):
    """Status 404."""


class ConflictError(APIError):
    """Status 409."""


class GoneError(APIError):
    """Status 410."""


class PreconditionFailedError(APIError):
    """Status 412: the record is no longer the version that `if_match` named."""


class PayloadTooLargeError(APIError):
    """Status 413."""


class UnsupportedMediaTypeError(APIError):
    """Status 415."""


class UnprocessableEntityError(APIError):
    """Status 422."""


class RateLimitError(APIError):
    """Status 429."""


class ServerError(APIError):
    """A status of 500 or above."""


BY_STATUS: dict[int, type[APIError]] = {
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
}
"""The exception of a status, for problem codes that this package does not know."""


def api_error(status: int, headers: Mapping[str, str], body: bytes) -> APIError:
    """The exception of a response: of its problem code, otherwise of its status."""
    import msgspec

    from postern_sdk.problems import BY_CODE

    problem: dict[str, Any] = {}
    text = ""
    try:
        document = msgspec.json.decode(body)
        problem = document if isinstance(document, dict) else {}
    except (msgspec.DecodeError, UnicodeDecodeError):
        pass
    if "code" not in problem:
        text = body[: BODY_SHOWN * 4].decode(errors="replace")[:BODY_SHOWN].strip()
    by_status = BY_STATUS.get(status, ServerError if status >= 500 else APIError)
    return BY_CODE.get(str(problem.get("code")), by_status)(status, problem, headers, text)


def _field_errors(errors: Any) -> list[FieldError]:
    if not isinstance(errors, list):
        return []
    return [
        FieldError(str(error.get("path", "")), str(error.get("code", "")), str(error.get("message", "")))
        for error in errors
        if isinstance(error, dict)
    ]
