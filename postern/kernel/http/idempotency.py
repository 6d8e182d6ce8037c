"""The `Idempotency-Key` header, which makes the repetition of a request safe
(draft-ietf-httpapi-idempotency-key-header)."""

import hashlib
from typing import Annotated

import msgspec

from postern.kernel.http.operation import HeaderParameter
from postern.kernel.http.problems import Invalid

IdempotencyHeader = Annotated[
    str | None,
    HeaderParameter("Idempotency-Key"),
    msgspec.Meta(
        description="Unique key of the request. If it is sent again with this key within 24 hours, it gets the first "
        "response."
    ),
]
"""The parameter of an operation that accepts a key."""


def read_key(header: str) -> str:
    """Return the key in the value of the header, with or without quotes (RFC 8941 string).

    Raises Invalid unless the key has 1 to 255 printable ASCII characters.
    """
    key = header[1:-1] if len(header) >= 2 and header[0] == header[-1] == '"' else header
    if not 1 <= len(key) <= 255 or not key.isascii() or not key.isprintable():
        raise Invalid.at("header/Idempotency-Key", "A key must have 1 to 255 printable ASCII characters.")
    return key


def digest_of(key: str) -> str:
    """The SHA-256 of a key in hexadecimal digits. It is stored instead of the key, which may contain personal data."""
    return hashlib.sha256(key.encode()).hexdigest()
