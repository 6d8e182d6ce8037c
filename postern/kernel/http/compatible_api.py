"""Operations that follow another company's API, so that programs written for it work with Postern.

They are operations like all others: the same credentials, permissions, rate limits, binding of arguments and responses.
A CompatibleApi says what differs on the wire.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from postern.kernel.http.problems import Problem
from postern.kernel.limits import RateLimitState
from postern.kernel.values import Moment


class NotOffered(Problem):
    """Postern does not offer this part of the API."""

    status = 501


@dataclass(frozen=True)
class CompatibleApi:
    """How the operations below a path differ from ours on the wire. Their paths contain no project: the
    project is that of the API key."""

    path: str
    """The path that replaces the base URL of the other API, such as `/compat/resend`."""
    read_token: Callable[[Mapping[str, str]], str | None]
    """Reads the API key from the request headers; None without one. Raises CredentialInvalid."""
    render_problem: Callable[[Problem], tuple[int, Any]]
    """The status and the JSON body that the other API has for a problem."""
    rate_limit_headers: Callable[[RateLimitState, Moment], dict[str, str]] = lambda _state, _now: {}
    """The other API's headers for the state of a rate limit now, on all responses including errors."""
    media_type: str = "application/json"
    """The media type of errors."""

    def covers(self, path: str) -> bool:
        """Whether a request path belongs to this API."""
        return path.startswith(f"{self.path}/") or path == self.path
