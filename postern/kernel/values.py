"""Base types. A Body is what callers send; a Record is what the database keeps and we return."""

import os
import time
from datetime import UTC, datetime
from functools import lru_cache
from ipaddress import ip_address
from typing import Annotated, Any, TypeVar, dataclass_transform
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]
"""An ISO 8601 moment that a caller sends; must say its time zone."""

A_NAME = r"^(?!\s*$)[^\x00-\x1f\x7f-\x9f\u2028\u2029]+(?!\n)$"
"""One line that is not blank."""
ONE_LINE = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*(?!\n)$"
"""The pattern of a text that can stand in the header of a mail, as names of people and things do."""

NameForPeople = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=200,
        pattern=A_NAME,
        description="A name for people: one line of text, not only blanks.",
    ),
]
"""What somebody calls a person or a thing, as requests give it."""

NO_ID = UUID(int=0)
"""The identifier that no record has: what a malformed identifier is read as."""


class KeywordOnly(type(msgspec.Struct)):
    """Makes every field of every descendant keyword-only, which msgspec does not inherit by itself."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        config.setdefault("kw_only", True)
        return super().__new__(cls, name, bases, namespace, **config)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Body(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, metaclass=KeywordOnly):
    """Something a caller sent. Unknown fields are refused, so a typo is never silently ignored."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record(msgspec.Struct, frozen=True, rename="camel", metaclass=KeywordOnly):
    """A row as callers see it: snake_case columns in SQL, camelCase in JSON."""


class Deleted(Record):
    """The answer to a deletion that returns no record."""

    deleted: bool = True


class Removed(Record):
    """The answer to taking something out of something else."""

    removed: bool = True


View = TypeVar("View", bound=Record)


def is_address(url: str) -> bool:
    """Whether a URL can be taken apart: its host and port are such."""
    try:
        parts = urlsplit(url)
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


NO_APP_SCHEMES = frozenset(
    (
        *("about", "blob", "chrome", "data", "file", "filesystem", "ftp", "ftps", "intent", "jar", "javascript"),
        *("mailto", "sms", "tel", "urn", "vbscript", "view-source", "ws", "wss"),
    )
)
"""Schemes that browsers or systems give a meaning of their own: none of them leads back to a page or an app."""


def is_own_address(url: str) -> bool:
    """Whether a browser may be sent to a URL with a code: a page over TLS, one on loopback, or an app's own scheme.

    What is sent to a page without TLS can be read on the way (RFC 9700 §2.6); apps: RFC 8252 §7.
    """
    if not is_address(url):
        return False
    parts = urlsplit(url)
    if parts.scheme == "https":
        return bool(parts.hostname)
    if parts.scheme == "http":
        return is_loopback(parts.hostname or "")
    return parts.scheme not in NO_APP_SCHEMES


def is_loopback(host: str) -> bool:
    """Whether a host's name or address is that of the machine itself (RFC 6761 §6.3)."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def as_seen(view: type[View], row: Record, /, **more: Any) -> View:
    """What callers see of a row: the fields of `view` from `row`, and `more` that the row lacks."""
    given = {name: getattr(row, name) for name in view.__struct_fields__ if name not in more}
    return view(**given, **more)


_latest = 0
"""The moment in the last identifier of this process, in 1/4096 ms."""


def new_id() -> UUID:
    """A UUIDv7 (RFC 9562 §5.7 and §6.2 method 3): sorts by creation time to 0.25 µs, 62 bits of chance.

    In one process a later one is always the larger one, also where the clock is coarse or steps back.
    """
    global _latest
    millis, nanos = divmod(time.time_ns(), 1_000_000)
    _latest = moment = max((millis << 12) | (nanos * 4096 // 1_000_000), _latest + 1)
    high = (moment >> 12 << 16) | 0x7000 | (moment & 0xFFF)
    low = (0b10 << 62) | (int.from_bytes(os.urandom(8), "big") >> 2)
    return UUID(int=(high << 64) | low)


def as_id(text: object) -> UUID:
    """The identifier that `text` spells in canonical form, or the one that no record has."""
    try:
        found = UUID(str(text))
    except ValueError:
        return NO_ID
    return found if str(found) == str(text).lower() else NO_ID


@lru_cache(4_096)  # What is written together mostly happened in the same few moments.
def timestamp(moment: datetime) -> str:
    """`2026-01-31T12:00:00.000Z`: the one way a moment is written in JSON, CSV and headers."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def _written(value: Any) -> Any:
    if isinstance(value, datetime):
        return timestamp(value)
    raise NotImplementedError(f"{type(value).__name__} has no JSON form.")


_encoder = msgspec.json.Encoder(enc_hook=_written)


def to_json(value: Any) -> bytes:
    """`value` as JSON; moments (`kernel.clock.Moment`) with exactly three decimals."""
    return _encoder.encode(value)


def to_plain(value: Any) -> Any:
    """`value` as dicts, lists and plain values, as its JSON would decode."""
    return msgspec.json.decode(to_json(value))
