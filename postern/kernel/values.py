"""Base types: `Body` for request bodies, `Record` for database rows and response objects; ids, time and JSON."""

import os
import time
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from ipaddress import ip_address
from itertools import accumulate
from struct import Struct, unpack
from typing import Annotated, Any, Final, Protocol, Self, TypeVar, dataclass_transform
from urllib.parse import urlsplit
from uuid import UUID

import msgspec

Timestamp = Annotated[datetime, msgspec.Meta(tz=True)]
"""An ISO 8601 timestamp in a request; it must have a time zone."""


class Moment(datetime):
    """A UTC timestamp. It is a separate type so that `to_json` writes it with exactly three decimals."""

    @classmethod
    def of(cls, moment: datetime) -> Self:
        """Convert a datetime with a time zone."""
        # Conversion through a float would round the end of the year 9999 up to the year 10000.
        utc = moment.astimezone(UTC)
        return cls.combine(utc.date(), utc.time(), UTC)


class Clock(Protocol):
    """A callable that returns the current time."""

    def __call__(self) -> Moment: ...


def system_clock() -> Moment:
    """The system's current time."""
    return Moment.now(UTC)


class FixedClock:
    """A clock for tests: always `start`, or the system's time if there is no `start`. `move` adds an offset to it."""

    def __init__(self, start: datetime | None = None) -> None:
        self.offset = timedelta()
        self.start = Moment.of(start) if start else None

    def __call__(self) -> Moment:
        return (self.start or Moment.now(UTC)) + self.offset

    def move(self, by: timedelta) -> None:
        """Set the clock forward by `by`, or back if `by` is negative."""
        self.offset += by


NON_BLANK_LINE = r"^(?!\s*$)[^\x00-\x1f\x7f-\x9f\u2028\u2029]+(?!\n)$"
"""Pattern of one line of text with at least one character that is not white space."""
ONE_LINE = r"^[^\x00-\x1f\x7f-\x9f\u2028\u2029]*(?!\n)$"
"""Pattern of one line of text, which may be empty. Without line breaks, it is safe in a mail header."""

DisplayName = Annotated[
    str,
    msgspec.Meta(
        min_length=1,
        max_length=200,
        pattern=NON_BLANK_LINE,
        description="A display name: one line of text, not only blanks.",
    ),
]
"""The display name of a person or record in requests."""

NO_ID = UUID(int=0)
"""The id that no record has; malformed ids are parsed as this one."""
CANONICAL_ID_LENGTH = 36
"""Characters of a UUID with hyphens (RFC 9562 §4); msgspec also reads the form without them."""


class KeywordOnly(type(msgspec.Struct)):
    """A metaclass that makes the fields of every subclass keyword-only; msgspec does not inherit that option."""

    def __new__(cls, name: str, bases: tuple[type, ...], namespace: dict[str, Any], **config: Any) -> Any:
        config.setdefault("kw_only", True)
        return super().__new__(cls, name, bases, namespace, **config)


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Body(msgspec.Struct, frozen=True, rename="camel", forbid_unknown_fields=True, metaclass=KeywordOnly):
    """A request body. Unknown fields are rejected, so that a misspelled field is not silently ignored."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class QueryString(msgspec.Struct, frozen=True, metaclass=KeywordOnly):
    """Query parameters that several operations share. An operation takes them as one parameter of a subclass, whose
    fields are declared like parameters of an operation."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class LenientBody(msgspec.Struct, frozen=True, metaclass=KeywordOnly):
    """A request body of another company's API: unknown fields are ignored, and names are not converted."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class Record(msgspec.Struct, frozen=True, rename="camel", metaclass=KeywordOnly):
    """A database row or response object: snake_case columns in SQL, camelCase in JSON."""


class Deleted(Record):
    """The response of an operation that deletes a record and does not return it."""

    deleted: bool = True


class Removed(Record):
    """The response of an operation that removes a member from a group, such as a contact from an audience."""

    removed: bool = True


View = TypeVar("View", bound=Record)
Row = TypeVar("Row", bound=msgspec.Struct)
Time = TypeVar("Time", bound=datetime)


def is_parseable_url(url: str) -> bool:
    """Whether `urlsplit` can parse the URL and its port is valid. Scheme and host are not checked."""
    try:
        parts = urlsplit(url)
        return parts.port is None or parts.port > 0
    except ValueError:
        return False


RESERVED_SCHEMES = frozenset(
    (
        *("about", "blob", "chrome", "data", "file", "filesystem", "ftp", "ftps", "intent", "jar", "javascript"),
        *("mailto", "sms", "tel", "urn", "vbscript", "view-source", "ws", "wss"),
    )
)
"""Schemes with a meaning of their own in browsers or operating systems, which cannot be an app's redirect scheme."""


def is_safe_redirect_url(url: str) -> bool:
    """Whether a URL may receive a code by redirect: https with a host, http on loopback, or a custom scheme of
    an app.

    A URL without a scheme also passes; schemes in RESERVED_SCHEMES do not.

    A URL without TLS would expose the code to the network (RFC 9700 §2.6); for app schemes see RFC 8252 §7.
    """
    if not is_parseable_url(url):
        return False
    parts = urlsplit(url)
    if parts.scheme == "https":
        return bool(parts.hostname)
    if parts.scheme == "http":
        return is_loopback(parts.hostname or "")
    return parts.scheme not in RESERVED_SCHEMES


def is_loopback(host: str) -> bool:
    """Whether a host name or address is a loopback one (RFC 6761 §6.3)."""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def build_view(view: type[View], row: Record, /, **extra: Any) -> View:
    """Create a response object of the class `view` from the fields of `row` and the values in `extra`.

    A value in `extra` takes precedence over the field of `row` with this name.
    """
    fields = {name: getattr(row, name) for name in view.__struct_fields__ if name not in extra}
    return view(**fields, **extra)


def fields_set(change: msgspec.Struct) -> dict[str, Any]:
    """The fields of a change that the request contains: all that are not UNSET."""
    return {name: value for name in change.__struct_fields__ if (value := getattr(change, name)) is not msgspec.UNSET}


_latest = 0
"""The timestamp of this process's last id, in ticks of 1/4096 ms."""


def new_id() -> UUID:
    """A UUIDv7 (RFC 9562 §5.7, §6.2 method 3): sorts by creation time with 0.25 µs precision, 62 random bits.

    Within one process ids always increase, even if the clock is coarse or is set back.
    """
    global _latest
    millis, nanos = divmod(time.time_ns(), 1_000_000)
    _latest = ticks = max((millis << 12) | (nanos * 4096 // 1_000_000), _latest + 1)
    high = (ticks >> 12 << 16) | 0x7000 | (ticks & 0xFFF)
    low = (0b10 << 62) | (int.from_bytes(os.urandom(8), "big") >> 2)
    return UUID(int=(high << 64) | low)


ID_TOLERANCE = timedelta(days=1)
"""The time in an id (UUIDv7) may differ from `createdAt` by this much, because host clocks are adjusted."""


def id_at(moment: datetime, shift: timedelta = timedelta()) -> UUID:
    """A UUID that sorts before every UUIDv7 (RFC 9562 §5.7) created at `moment` plus `shift` or later, and after every
    UUIDv7 created earlier. It has no version bits, so it is not a UUIDv7 itself."""
    milliseconds = min(max(int((moment.timestamp() + shift.total_seconds()) * 1_000), 0), (1 << 48) - 1)
    return UUID(int=milliseconds << 80)


def distinct_ids(ids: Iterable[UUID | None]) -> list[UUID]:
    """The different ids among `ids` in ascending order, without None.

    Compares their numbers, because the hash and the comparisons of a UUID are functions in Python.
    """
    by_number = {value.int: value for value in ids if value is not None}
    return [by_number[number] for number in sorted(by_number)]


def new_ids(count: int) -> list[bytes]:
    """Like `count` calls of `new_id`, in a quarter of the time: the 16 octets of each id, in ascending order."""
    global _latest
    millis, nanos = divmod(time.time_ns(), 1_000_000)
    first = max((millis << 12) | (nanos * 4096 // 1_000_000), _latest + 1)
    _latest = first + count - 1
    random = unpack(f"!{count}Q", os.urandom(8 * count))
    return [
        _HALVES.pack((ticks >> 12 << 16) | 0x7000 | (ticks & 0xFFF), (0b10 << 62) | (low >> 2))
        for ticks, low in enumerate(random, start=first)
    ]


_HALVES = Struct("!QQ")


def as_id(text: object) -> UUID:
    """Parse a UUID in canonical form, in any letter case. Returns NO_ID for anything else; raises nothing."""
    text = str(text)
    if len(text) != CANONICAL_ID_LENGTH:
        return NO_ID
    try:
        return msgspec.convert(text, UUID)  # Faster than UUID(text), and accepts no other punctuation.
    except msgspec.ValidationError:
        return NO_ID


@lru_cache(4_096)  # Rows of one response often share timestamps.
def timestamp(moment: datetime) -> str:
    """Format a timestamp in UTC as in all JSON, CSV and headers: `2026-01-31T12:00:00.000Z`."""
    if moment.tzinfo is not UTC:
        moment = moment.astimezone(UTC)
    return moment.isoformat(timespec="milliseconds")[:23] + "Z"


def _encode_datetime(value: Any) -> Any:
    """Encode datetimes that msgspec does not encode itself: those of a subclass, such as Moment."""
    if isinstance(value, datetime):
        return timestamp(value)
    raise NotImplementedError(f"{type(value).__name__} has no JSON form.")


_encoder = msgspec.json.Encoder(enc_hook=_encode_datetime)


def to_json(value: Any) -> bytes:
    """Encode `value` as JSON. A Moment has exactly three decimals; a plain datetime has those that msgspec writes."""
    return _encoder.encode(value)


def in_milliseconds(moment: Time) -> Time:
    """The time cut to milliseconds, as `to_json` writes it."""
    return moment.replace(microsecond=moment.microsecond // 1_000 * 1_000)


def with_milliseconds(row: Row) -> Row:
    """The row with its times cut to milliseconds: for a row that is inserted by its values where others are inserted as
    JSON, so that times of both can be compared."""
    times = {name: value for name in row.__struct_fields__ if isinstance(value := getattr(row, name), datetime)}
    return msgspec.structs.replace(row, **{name: in_milliseconds(value) for name, value in times.items()})


def to_json_lines(values: Iterable[Any]) -> list[bytes]:
    """Encode each of `values` as JSON, faster than a call of `to_json` for each."""
    return _encoder.encode_lines(values).split(b"\n")[:-1]


def to_plain(value: Any) -> Any:
    """Convert `value` to dicts, lists, strings, numbers, bools and None, by encoding it as JSON and decoding that."""
    return msgspec.json.decode(to_json(value))


JSON_DEPTH_LIMIT: Final = 64
"""Maximum nesting depth of arrays and objects in a request body, far below Python's recursion limit, because the value
may later be part of a larger document, such as a webhook's.
"""
_NO_BRACKETS: Final = bytes(sorted(set(range(256)) - set(b"[]{}")))
_DEPTH_CHANGES: Final = dict(zip(b"[]{}", (1, -1, 1, -1), strict=True))


def is_too_deep(document: bytes) -> bool:
    """Whether a JSON document is nested deeper than JSON_DEPTH_LIMIT. The document must be valid JSON."""
    if _count(document, b"[") + _count(document, b"{") <= JSON_DEPTH_LIMIT:
        return False
    brackets = b"".join(_parts(document)[::2]).translate(None, _NO_BRACKETS)
    return max(accumulate(map(_DEPTH_CHANGES.__getitem__, brackets)), default=0) > JSON_DEPTH_LIMIT


JSON_VALUES_LIMIT: Final = 500_000
"""Maximum number of values in the arrays and objects of a request body. A value of two bytes takes up to 100 bytes of
memory after it is decoded.
"""
_PIECE_BYTES: Final = 1_000_000
_SEARCHED: Final = 64
"""How many occurrences of a character are searched one by one before the others are counted."""


def has_too_many_values(document: bytes) -> bool:
    """Whether a JSON document has more than JSON_VALUES_LIMIT values. The document need not be valid JSON."""
    starts = range(0, len(document), _PIECE_BYTES)
    counts = accumulate(_count_separators(document[start : start + _PIECE_BYTES]) for start in starts)
    if not any(count > JSON_VALUES_LIMIT for count in counts):
        return False
    # Separators in strings are not counted.
    count = start = in_string = 0
    while start < len(document) and count <= JSON_VALUES_LIMIT:
        piece = document[start : start + _PIECE_BYTES]
        if (len(piece) - len(piece.rstrip(b"\\"))) % 2:  # Its last escape is incomplete.
            piece = document[start : start + _PIECE_BYTES + 1]
        parts = _parts(piece)
        count += _count_separators(b"".join(parts[in_string::2]))
        in_string ^= 1 - len(parts) % 2
        start += len(piece)
    return count > JSON_VALUES_LIMIT


def _count_separators(document: bytes) -> int:
    """The number of characters that begin an array, an object or a further value."""
    return _count(document, b",") + _count(document, b"[") + _count(document, b"{")


def _count(document: bytes, character: bytes) -> int:
    """Like `document.count(character)`, which takes 1.4 ms for each megabyte, but a hundred times as fast in a document
    that mostly is one long string, such as an attachment."""
    count, position = 0, document.find(character)
    while position >= 0:
        count += 1
        if count == _SEARCHED:
            return count + document.count(character, position + 1)
        position = document.find(character, position + 1)
    return count


def _parts(document: bytes) -> list[bytes]:
    """A JSON document without escapes, split at its quotes: the parts are alternately outside and inside strings."""
    return document.replace(b"\\\\", b"").replace(b'\\"', b"").split(b'"')
