"""Parsing JSON of third-party servers; documents that are nested too deeply or that PostgreSQL cannot store are
rejected."""

import math
from typing import Any, Final

import msgspec

DEPTH_LIMIT: Final = 32
"""Maximum nesting depth of arrays and objects."""
INTEGER_LIMIT: Final = 2**63
"""The absolute value of an integer must be smaller, so that it fits a PostgreSQL bigint."""


class JsonRefused(ValueError):
    """The document was rejected. The message is the reason; it does not quote the document."""


def read_untrusted_json(document: bytes) -> Any:
    """Parse a JSON document (RFC 8259) to dicts, lists and plain values. Raises JsonRefused.

    Besides invalid JSON and invalid UTF-8, the function rejects nesting deeper than 32, NUL characters and unpaired
    surrogates in strings and object keys (PostgreSQL stores neither), integers that exceed 63 bits, and numbers that
    are not finite.
    """
    try:
        value = msgspec.json.decode(document.decode("utf-8"))
    except UnicodeDecodeError:
        raise JsonRefused("not UTF-8") from None
    except (msgspec.DecodeError, UnicodeError):
        raise JsonRefused("not JSON") from None
    except RecursionError:
        raise JsonRefused("nested too deeply") from None
    _check(value)
    return value


def _check(document: Any) -> None:
    """Check the parsed document iteratively, because its depth is not limited yet."""
    remaining: list[tuple[Any, int]] = [(document, 1)]
    while remaining:
        value, depth = remaining.pop()
        if isinstance(value, str):
            _check_text(value)
        elif isinstance(value, bool) or value is None:
            continue
        elif isinstance(value, float):
            if not math.isfinite(value):
                raise JsonRefused("a number is out of range")
        elif isinstance(value, int):
            if abs(value) >= INTEGER_LIMIT:
                raise JsonRefused("a number is out of range")
        else:
            if depth > DEPTH_LIMIT:
                raise JsonRefused("nested too deeply")
            if isinstance(value, dict):
                remaining += ((name, depth) for name in value)
                remaining += ((item, depth + 1) for item in value.values())
            else:
                remaining += ((item, depth + 1) for item in value)


def _check_text(text: str) -> None:
    if "\0" in text:
        raise JsonRefused("a NUL character")
    if not text.isascii() and any("\ud800" <= character <= "\udfff" for character in text):
        raise JsonRefused("an unpaired surrogate")
