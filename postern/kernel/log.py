"""Structured logs: one event a line, with the request's id, never a secret or a message body."""

import logging
import re
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

SECRET_WORDS = ("password", "secret", "token", "authorization", "cookie", "apikey", "api_key", "signature")
BODY_WORDS = ("html", "text", "body", "content", "variables")
LEFT_OUT = "[left out]"
PARAMETER_NAME = re.compile("[A-Za-z][A-Za-z_.-]{0,31}")
"""What parameters are called; random tokens have digits."""


def set_up_logs(form: str = "auto", level: str = "info") -> None:
    """Write logs to standard error as JSON lines, or for people when that is a terminal."""
    structlog.configure(
        processors=processors(for_people=form == "console" or (form == "auto" and sys.stderr.isatty())),
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s %(levelname)s %(message)s")


def processors(*, for_people: bool) -> list[Any]:
    """What every event passes through, the last of them writing the line."""
    # The traceback that structlog prefers on a terminal shows local variables: keys, passwords, messages.
    writer: Any = (
        structlog.dev.ConsoleRenderer(exception_formatter=structlog.dev.plain_traceback)
        if for_people
        else structlog.processors.JSONRenderer()
    )
    return [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.format_exc_info,
        _leave_out_secrets,
        writer,
    ]


def _without_value(part: str) -> str:
    """The name of a query parameter; nothing of what may be a value that lost its name (`?3f9c…`)."""
    name, separator, _ = part.partition("=")
    return f"{name}={LEFT_OUT}" if separator and PARAMETER_NAME.fullmatch(name) else LEFT_OUT


def _leave_out_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name, value in event.items():
        if any(word in name.lower() for word in SECRET_WORDS) or name.lower() in BODY_WORDS:
            event[name] = LEFT_OUT
        elif name == "query" and value:
            # One-time links, signatures and addresses that are searched for stand in queries.
            event[name] = "&".join(_without_value(part) for part in str(value).split("&"))
        elif name in ("exception", "error"):
            # PostgreSQL adds the row that it refused.
            event[name] = re.sub(r"(DETAIL|CONTEXT):[^\n]*", rf"\1: {LEFT_OUT}", str(value))
    return event
