"""Everything that can go wrong on purpose (RFC 9457).

* Problem
  - BadRequest        400  the request makes no sense
  - Unauthenticated        401  we do not know who is asking
  - Forbidden      403  we know, and the answer is no
  - Missing        404  no such record in this project
  - Conflict       409  true elsewhere at the same time
  - PreconditionFailed          412  the record changed since it was read
  - ContentTooLarge       413  more than we take
  - Unprocessable  422  well formed, but a rule forbids it
  - RateLimited        429  too many, come back later
  - Unavailable    503  not now, come back later

Subclass next to the rule it protects; the docstring is the message callers read.
"""

import re
from typing import ClassVar, Self

from postern.kernel.values import Record


class ProblemError(Record):
    """One thing that is wrong with a request, and where."""

    path: str
    """JSON pointer (RFC 6901) into the body, or `query/name`, `header/Name`; for a file `column/3` or `byte/17`."""
    code: str
    message: str


class Problem(Exception):
    """Something went wrong."""

    status: ClassVar[int] = 500
    retry_after_seconds: int | None = None
    next: str | None = None
    """What the caller does about it, where that is more than reading the message: a request to make, a page to open."""
    _code: ClassVar[str] = "problem"

    def __init_subclass__(cls, code: str | None = None) -> None:
        """`code` is the stable name for programs; without it the class's name decides."""
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

    @classmethod
    def message(cls) -> str:
        """The sentence that callers read unless the raiser has a better one."""
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
    """The request makes no sense."""

    status = 400

    @classmethod
    def of_value(cls, path: str, message: str | None = None) -> Self:
        """The problem of one value, at the JSON pointer `path`."""
        problem = cls(message)
        problem.errors = [ProblemError(path=path, code=cls.code(), message=problem.detail)]
        return problem


class Invalid(BadRequest):
    """Some of the values sent are not valid; `errors` says which."""

    @classmethod
    def at(cls, path: str, message: str, code: str = "invalid") -> "Invalid":
        """One bad value, at the JSON pointer `path`."""
        return cls(message, errors=[ProblemError(path=path, code=code, message=message)])


class Unauthenticated(Problem, code="unknown"):
    """This needs a credential: send `Authorization: Bearer …`."""

    status = 401


class Forbidden(Problem):
    """This credential may not do that."""

    status = 403


class Missing(Problem):
    """There is no such record here."""

    status = 404


class Conflict(Problem):
    """That does not fit the present state."""

    status = 409


class PreconditionFailed(Problem, code="stale"):
    """The record has changed since you read it; fetch it again."""

    status = 412


class ContentTooLarge(Problem, code="too_large"):
    """That is more than we take in one request."""

    status = 413


class Unprocessable(Problem):
    """Well formed, but a rule forbids it."""

    status = 422


class RateLimited(Problem, code="limited"):
    """Too many requests; slow down."""

    status = 429
    retry_after_seconds = 1


class Unavailable(Problem):
    """Not now; try again shortly."""

    status = 503
    retry_after_seconds = 2
