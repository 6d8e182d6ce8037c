"""Structured logs: one event per line, with the request's id and without secrets or message bodies."""

import logging
import re
import sys
from collections.abc import Callable, MutableMapping
from time import monotonic
from typing import Any

import structlog

from postern.kernel.terminal import printable

SECRET_WORDS = ("password", "secret", "token", "authorization", "cookie", "apikey", "api_key", "signature")
"""The value of an event field is redacted if the name of the field contains one of these words."""
BODY_FIELDS = ("html", "text", "body", "content", "variables")
"""Event fields with one of these names are redacted, too."""
REDACTED = "[left out]"
REPEAT_SECONDS = 10.0
"""In this time, one message of a library's logger and level is logged."""
PARAMETER_NAME = re.compile("[A-Za-z][A-Za-z_.-]{0,31}")
"""The names of query parameters that are logged. A name with a digit is not, because it may be a random token."""


def set_up_logs(format: str = "auto", level: str = "info") -> None:
    """Configure logging to standard error.

    `format` is `json`, `console` or `auto` (console on a terminal, otherwise JSON); `level` is the lowest level logged.
    """
    structlog.configure(
        processors=processors(human_readable=format == "console" or (format == "auto" and sys.stderr.isatty())),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, handlers=[LibraryHandler()])


class LibraryHandler(logging.Handler):
    """Logs warnings and errors of libraries as events with the name `library_message`.

    At most one message of a logger and level is logged in REPEAT_SECONDS, with the number of `others` before it: while
    the database is away, the connection pool reports each of its attempts, many in a second.
    """

    def __init__(self, monotonic: Callable[[], float] = monotonic) -> None:
        super().__init__()
        self._monotonic = monotonic
        self._logged_at: dict[tuple[str, int], float] = {}
        self._suppressed: dict[tuple[str, int], int] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Log one message, unless one of the same logger and level was logged shortly before."""
        kind, now = (record.name, record.levelno), self._monotonic()
        if record.exc_info is None and now - self._logged_at.get(kind, -REPEAT_SECONDS) < REPEAT_SECONDS:
            self._suppressed[kind] = self._suppressed.get(kind, 0) + 1
            return
        self._logged_at[kind] = now
        try:
            fields: dict[str, Any] = {"library": record.name, "error": record.getMessage()}
            if others := self._suppressed.pop(kind, 0):
                fields["others"] = others
            if record.exc_info:
                fields["exc_info"] = record.exc_info
            structlog.get_logger().log(record.levelno, "library_message", **fields)
        except Exception:
            self.handleError(record)


def processors(*, human_readable: bool) -> list[Any]:
    """The structlog processors: the last one formats the event for a terminal if `human_readable`, else as JSON."""
    # structlog's default traceback on a terminal shows local variables, which may hold keys, passwords or messages.
    renderer: Any = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if human_readable
        else structlog.processors.JSONRenderer()
    )
    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _redact_secrets,
        *([_make_printable] if human_readable else []),
        renderer,
    ]


def _without_value(part: str) -> str:
    """A part of a query string (`name=value`) without the value. A part without a PARAMETER_NAME is removed as a whole,
    because it may itself be a secret (`?3f9c…`)."""
    name, separator, _ = part.partition("=")
    return f"{name}={REDACTED}" if separator and PARAMETER_NAME.fullmatch(name) else REDACTED


def _make_printable(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    """Replace characters that could send commands to the terminal: values contain text from outside, such as replies of
    mail servers. JSON logs do not need this, because JSON escapes these characters."""
    for name, value in event.items():
        if isinstance(value, str):
            event[name] = "\n".join(map(printable, value.split("\n"))) if name == "exception" else printable(value)
    return event


def _redact_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        if any(word in name.lower() for word in SECRET_WORDS) or name.lower() in BODY_FIELDS:
            event[name] = REDACTED
        elif name == "query" and value:
            # Query strings contain one-time tokens, signatures and e-mail addresses.
            event[name] = "&".join(_without_value(part) for part in str(value).split("&"))
        elif name in ("exception", "error"):
            # PostgreSQL includes the values of the rejected row.
            event[name] = re.sub(r"(DETAIL|CONTEXT):[^\n]*", rf"\1: {REDACTED}", str(value))
    return event
