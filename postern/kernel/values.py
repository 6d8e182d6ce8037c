"""Base types. A Body is what callers send; a Record is what the database keeps and we return."""

import os
import time
from datetime import UTC, datetime
from typing import Any, dataclass_transform
from uuid import UUID

import msgspec

NO_ID = UUID(int=0)
"""The identifier that no record has: what a malformed identifier is read as."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Body(msgspec.Struct, frozen=True, kw_only=True, rename="camel", forbid_unknown_fields=True):
    """Something a caller sent. Unknown fields are refused, so a typo is never silently ignored."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel"):
    """A row as callers see it: snake_case columns in SQL, camelCase in JSON."""


class Deleted(Record):
    """The answer to a deletion that returns no record."""

    deleted: bool = True


class Removed(Record):
    """The answer to taking something out of something else."""

    removed: bool = True


def new_id() -> UUID:
    """A UUIDv7 (RFC 9562 §5.7): sorts by creation time, 74 bits of chance."""
    millis = time.time_ns() // 1_000_000
    chance = int.from_bytes(os.urandom(10), "big")
    high = (millis << 16) | 0x7000 | (chance >> 68)
    low = (0b10 << 62) | (chance & ((1 << 62) - 1))
    return UUID(int=(high << 64) | low)


def as_id(text: object) -> UUID:
    """The identifier that `text` spells in canonical form, or the one that no record has."""
    try:
        found = UUID(str(text))
    except ValueError:
        return NO_ID
    return found if str(found) == str(text).lower() else NO_ID


def timestamp(moment: datetime) -> str:
    """`2026-01-31T12:00:00.000Z`: the one way a moment is written in JSON, CSV and headers."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.") + f"{moment.microsecond // 1000:03d}Z"


def encode_hook(value: Any) -> Any:
    """Teach the JSON encoder the few types it does not know."""
    if isinstance(value, bytes | memoryview):
        return bytes(value).decode("utf-8", "replace")
    raise NotImplementedError(f"{type(value).__name__} has no JSON form.")
