"""Errors of the API as problem details (RFC 9457).

* Problem
  - BadRequest          400  the request is not valid
  - Unauthenticated     401  there is no valid credential
  - Forbidden           403  the credential does not allow the request
  - Missing             404  there is no such record in this project
  - Conflict            409  the state of a record does not allow the request
  - PreconditionFailed  412  the record has changed since it was read
  - ContentTooLarge     413  the request is too large
  - Unprocessable       422  the request is valid, but a rule forbids it
  - RateLimited         429  too many requests
  - Unavailable         503  the request is temporarily not possible

Define subclasses next to the code that raises them. The docstring is the message that callers read.
"""

import re
from collections.abc import Callable
from typing import ClassVar, Self, TypeVar

import msgspec

from postern.kernel.values import Record

T = TypeVar("T")


class ProblemError(Record):
    """One error in a request, with its location."""

    path: str
    """JSON pointer (RFC 6901) into the body, or `query/name`, `header/Name`; for a file `column/3` or `byte/17`."""
    code: str
    message: str


class Problem(Exception):
    """Something went wrong."""

    status: ClassVar[int] = 500
    retry_after_seconds: int | None = None
    """Sent as `Retry-After`."""
    for_people: str | None = None
    """A message that pages show as it is, instead of their text for the code of the problem."""
    next: str | None = None
    """A specific next step for the caller: a request to make, or a page to open."""
    challenge: str | None = None
    """Parameters of `WWW-Authenticate` that say what is wrong with the credential, such as `error="invalid_token"`."""
    _code: ClassVar[str] = "problem"

    def __init_subclass__(cls, code: str | None = None) -> None:
        """`code` is the stable name for programs. Default: the class name in snake_case."""
        cls._code = code or re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()

    def __init__(
        self,
        message: str | None = None,
        *,
        errors: list[ProblemError] | None = None,
        retry_after_seconds: int | None = None,
        next: str | None = None,
    ) -> None:
        super().__init__(message or self.message())
        self.detail = str(self)
        self.errors = errors or []
        if retry_after_seconds is not None:
            self.retry_after_seconds = retry_after_seconds
        if next is not None:
            self.next = next

    def relocated(self, path: Callable[[str], str]) -> Self:
        """Replace the location of each error by `path(location)`, in place, and return this problem."""
        self.errors = [msgspec.structs.replace(error, path=path(error.path)) for error in self.errors]
        return self

    @classmethod
    def message(cls) -> str:
        """The default message of this class: its docstring on one line."""
        return re.sub(r"\s+", " ", (cls.__doc__ or "Something went wrong.").strip())

    @classmethod
    def code(cls) -> str:
        """A stable name for programs: RecordMissing becomes `record_missing`."""
        return cls._code

    @classmethod
    def title(cls) -> str:
        """A short name for people: RecordMissing becomes `Record missing`."""
        return cls.code().replace("_", " ").capitalize()


class BadRequest(Problem, code="refused"):
    """The request is not valid."""

    status = 400

    @classmethod
    def of_value(cls, path: str, message: str | None = None) -> Self:
        """This problem for one value, at the JSON pointer `path`; `message` replaces the default message."""
        problem = cls(message)
        problem.errors = [ProblemError(path=path, code=cls.code(), message=problem.detail)]
        return problem


class Invalid(BadRequest):
    """Some of the values sent are not valid; `errors` says which."""

    @classmethod
    def at(cls, path: str, message: str, code: str = "invalid") -> "Invalid":
        """The problem for one invalid value, at `path` (see `ProblemError.path`)."""
        return cls(message, errors=[ProblemError(path=path, code=code, message=message)])


class Unauthenticated(Problem, code="unknown"):
    """This request needs a credential: send `Authorization: Bearer …`."""

    status = 401


class Forbidden(Problem):
    """This credential does not allow this request."""

    status = 403


class Missing(Problem):
    """There is no such record."""

    status = 404


class Conflict(Problem):
    """The current state of the record does not allow this."""

    status = 409


class PreconditionFailed(Problem, code="stale"):
    """The record has changed since you read it; fetch it again."""

    status = 412


class ContentTooLarge(Problem, code="too_large"):
    """The request is larger than this operation accepts."""

    status = 413


class Unprocessable(Problem):
    """The request is well formed, but a rule forbids it."""

    status = 422


class RateLimited(Problem, code="limited"):
    """Too many requests; slow down."""

    status = 429
    retry_after_seconds = 1


class Unavailable(Problem):
    """This is temporarily not available; try again shortly."""

    status = 503
    retry_after_seconds = 2


def require_found(record: T | None, problem: type[Missing]) -> T:
    """The record that was read. Raises `problem` if it is None."""
    if record is None:
        raise problem
    return record
