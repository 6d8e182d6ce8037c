"""Base classes of the objects that the API returns and webhooks deliver."""

from datetime import datetime
from typing import Any

from msgspec import Struct


class Record(Struct, frozen=True, kw_only=True, rename="camel", dict=True):
    """An object of the API. Members that this version of the package does not know are ignored."""


def etag(record: Record) -> str | None:
    """The version of a record that a method returned, for `if_match=`; None if the response did not have one."""
    return record.__dict__.get("etag")


class WebhookEvent(Struct, frozen=True, kw_only=True):
    """An event that a webhook delivered. `id` is the same on every attempt: store it to ignore repetitions."""

    id: str = ""
    timestamp: datetime


class UnknownEvent(WebhookEvent, frozen=True, kw_only=True):
    """An event without a class of its own: a custom event, or one of a server that is newer than this package.

    An event whose details were too large is one, too: its `data` has `truncated`.
    """

    type: str
    data: Any
