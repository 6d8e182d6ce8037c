"""Requests as both clients send them, and the waits between attempts.

Modules that take long to load are imported where they are needed, because this module is loaded with the client.
"""

import os
import re
from collections.abc import AsyncIterable, Awaitable, Callable, Iterable, Mapping
from datetime import UTC, date, datetime
from typing import Any, Final, NamedTuple, final
from urllib.parse import quote, urlencode, urlsplit

from postern_sdk._version import __version__
from postern_sdk.errors import ConfigurationError

USER_AGENT = f"postern-python/{__version__}"
DEFAULT_TIMEOUT_SECONDS = 30.0
DEFAULT_RETRIES = 2
RETRY_AFTER_LIMIT_SECONDS = 60.0
"""A longer `Retry-After` is not waited for: the error is raised at once."""
BACKOFF_SECONDS = 0.5
"""Upper bound of the random wait before the first retry; it doubles with each retry."""
RETRIED_STATUSES = {429, 502, 503, 504}

Key = str | Callable[[], str]
"""An API key or access token, or a function that returns the present one for each request."""
AsyncKey = str | Callable[[], str | Awaitable[str]]
"""The same, also a coroutine function."""
Content = bytes | str | Iterable[bytes]
AsyncContent = bytes | str | Iterable[bytes] | AsyncIterable[bytes]


def environment_key() -> str:
    """POSTERN_KEY, or an empty text."""
    return os.environ.get("POSTERN_KEY", "")


@final
class NotGiven:
    """The type of `NOT_GIVEN`, the default of arguments that are left out of the request: None is JSON's null."""

    def __bool__(self) -> bool:
        return False

    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN: Final = NotGiven()


class Operation(NamedTuple):
    """An operation of the API."""

    id: str
    method: str
    path: str
    response: str
    """`json`, `empty`, `text`, `bytes` or `redirect`."""
    result: str = ""
    """Name in postern_sdk.types, or of a JSON type. Of a list: that of its entries."""
    many: bool = False
    """Whether the response is an array."""
    page: str = ""
    """How further pages are found: `links`, `pages` or `cursor`."""
    idempotent: bool = False
    """Whether a write takes an `Idempotency-Key`, so that it can be repeated."""
    permission: str = ""
    """The permission that the key needs; empty if the operation needs no key, or that of a person."""
    body: str = ""
    """`json`, `form` or `bytes`."""
    media_type: str = ""


class Request(NamedTuple):
    """A request without its credentials. Every attempt sends the same."""

    operation: Operation
    url: str
    headers: dict[str, str]
    content: Any
    timeout: float
    idempotency_key: str | None

    @property
    def is_repeatable(self) -> bool:
        """Whether a second attempt cannot execute it twice."""
        return self.operation.method in {"GET", "HEAD"} or self.operation.idempotent


class Answer(NamedTuple):
    """A complete response."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class Settings:
    """The settings of a client; what is not given comes from the environment."""

    def __init__(
        self,
        url: str | None,
        project: str | None,
        timeout: float,
        retries: int,
        insecure: bool,
    ) -> None:
        self.url = (url or os.environ.get("POSTERN_URL", "")).rstrip("/")
        self.project = project or os.environ.get("POSTERN_PROJECT", "")
        self.timeout = timeout
        self.retries = retries
        self.insecure = insecure

    def request(
        self,
        operation: Operation,
        path_values: Iterable[str],
        *,
        query: Mapping[str, Any] | None = None,
        body: Mapping[str, Any] | None = None,
        data: Any = None,
        headers: Mapping[str, str | None] | None = None,
        idempotency_key: str | None = None,
        if_match: str | None = None,
        project: str | None = None,
        timeout: float | None = None,
    ) -> Request:
        """The request of a call. Raises ConfigurationError if the URL or the project is missing."""
        if not self.url:
            raise ConfigurationError("The server's URL is missing: set POSTERN_URL, or give the client a `url`.")
        if not _is_url(self.url):
            raise ConfigurationError(f"The server's URL {self.url!r} is not a URL such as https://postern.example.com.")
        sent = {name: value for name, value in (headers or {}).items() if value is not None}
        sent["Accept"] = "application/json, */*;q=0.5"
        sent["User-Agent"] = USER_AGENT
        if operation.idempotent:
            idempotency_key = idempotency_key or os.urandom(16).hex()
            sent["Idempotency-Key"] = idempotency_key
        if if_match is not None:
            sent["If-Match"] = if_match
        content = data
        if body is not None:
            given = {name: value for name, value in body.items() if value is not NOT_GIVEN}
            if operation.body == "form":
                content = urlencode({name: _text(value) for name, value in given.items()}).encode()
            else:
                import msgspec

                content = msgspec.json.encode(given)
        elif isinstance(data, str):
            content = data.encode()
        if content is not None:
            sent["Content-Type"] = operation.media_type
        url = self.url + self._path(operation, path_values, project)
        pairs = [(name, _text(value)) for name, value in (query or {}).items() if value is not None]
        if pairs:
            url += "?" + urlencode(pairs)
        limit = self.timeout if timeout is None else timeout
        return Request(operation, url, sent, content, limit, idempotency_key)

    def authorization(self, key: str, operation: Operation) -> dict[str, str]:
        """The header with the key. Raises ConfigurationError if it is missing, or would be sent unencrypted."""
        if not key:
            if operation.permission:
                raise ConfigurationError(
                    f"{operation.id} needs an API key or an access token: set POSTERN_KEY, or give the client a `key`."
                )
            return {}
        url = urlsplit(self.url)
        if url.scheme != "https" and not self.insecure and not is_loopback(url.hostname or ""):
            raise ConfigurationError(
                f"The key would be sent unencrypted to {self.url}: use https, or allow it with `insecure=True`."
            )
        return {"Authorization": f"Bearer {key}"}

    def _path(self, operation: Operation, values: Iterable[str], project: str | None) -> str:
        remaining = iter(values)

        def value_of(match: re.Match[str]) -> str:
            if match[1] not in {"projectId", "appId"}:
                value = next(remaining)
                # Clients and proxies resolve the segments "." and "..", encoded or not: the path would be another one.
                if str(value) in {"", ".", ".."}:
                    raise ValueError(
                        f"The argument for {match[1]} of {operation.id} is {str(value)!r}, which is no id."
                    )
                return quote(str(value), safe="")
            value = project or self.project
            if not value:
                raise ConfigurationError(
                    f"{operation.id} needs a project: set POSTERN_PROJECT, or give the client or the call a `project`."
                )
            return quote(value, safe="")

        return re.sub(r"{(\w+)}", value_of, operation.path)


def _is_url(text: str) -> bool:
    try:
        url = urlsplit(text)
        return url.scheme in {"http", "https"} and bool(url.hostname)
    except ValueError:
        return False


def is_loopback(host: str) -> bool:
    """Whether a host name is this machine's."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    from ipaddress import ip_address

    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _text(value: Any) -> str:
    match value:
        case None:
            return ""
        case bool():
            return "true" if value else "false"
        case datetime():
            return value.isoformat().replace("+00:00", "Z")
        case date():
            return value.isoformat()
        case list() | tuple():
            return ",".join(_text(each) for each in value)
        case _:
            return str(value)


# Retries


def wait_before_retry(attempt: int, answer: Answer | None) -> float | None:
    """Seconds until the next attempt after `attempt` (from 0); None if the server asks for a wait that is too long."""
    after = None if answer is None else _retry_after(answer.headers.get("retry-after", ""))
    if after is not None:
        return after if after <= RETRY_AFTER_LIMIT_SECONDS else None
    import random

    return random.uniform(0, BACKOFF_SECONDS * 2**attempt)  # noqa: S311 - spreads load, protects nothing


def _retry_after(value: str) -> float | None:
    value = value.strip()
    if value.isdecimal():
        return float(value)
    from email.utils import parsedate_to_datetime

    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return None
    return max(0.0, (moment.replace(tzinfo=moment.tzinfo or UTC) - datetime.now(UTC)).total_seconds())
