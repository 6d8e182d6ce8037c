"""Structured logs: one event a line, with the request's id, never a secret or a message body."""

import logging
import sys
from collections.abc import MutableMapping
from typing import Any

import structlog

SECRET_WORDS = ("password", "secret", "token", "authorization", "cookie", "apikey", "api_key", "signature")
BODY_WORDS = ("html", "text", "body", "content", "variables")


def set_up_logs(form: str = "auto", level: str = "info") -> None:
    """Write logs to standard error as JSON lines, or for people when that is a terminal."""
    for_people = form == "console" or (form == "auto" and sys.stderr.isatty())
    shared: list[Any] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        _leave_out_secrets,
    ]
    ending: list[Any] = (
        [structlog.dev.ConsoleRenderer()]
        if for_people
        else [structlog.processors.format_exc_info, structlog.processors.JSONRenderer()]
    )
    structlog.configure(
        processors=[*shared, *ending],
        wrapper_class=structlog.make_filtering_bound_logger(level),
        logger_factory=structlog.PrintLoggerFactory(sys.stderr),
        cache_logger_on_first_use=True,
    )
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr, format="%(name)s %(levelname)s %(message)s")


def _leave_out_secrets(_: Any, __: str, event: MutableMapping[str, Any]) -> MutableMapping[str, Any]:
    for name in event:
        if any(word in name.lower() for word in SECRET_WORDS) or name.lower() in BODY_WORDS:
            event[name] = "[left out]"
    return event
