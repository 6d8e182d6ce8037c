"""Signed addresses of a send at the return-path domain: for reports about it (VERP), and for unsubscribing by mail.

`b-<send>-<signature>` gets bounces and complaints, `u-<send>-<signature>` unsubscribes the recipient. The case does not
matter, because some servers change it.
"""

import hmac
import re
from base64 import b32encode
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple
from uuid import UUID

if TYPE_CHECKING:
    from postern.world import World

RETURN_PATH_PURPOSE = "return-path"
"""The purpose of the key that signs the addresses (`Secrets.key`)."""
SIGNATURE_OCTETS = 10
"""The length of a signature: 80 bits of HMAC-SHA256, which are 16 characters of base32 (RFC 4648 §6)."""
_LOCAL_PART = re.compile(r"([bu])-([0-9a-f]{32})-([a-z2-7]{16})", re.ASCII)


class AddressKind(StrEnum):
    """What a signed address is for; the value is its first letter."""

    REPORTS = "b"
    UNSUBSCRIBE = "u"


class SignedAddress(NamedTuple):
    """A signed address whose signature is valid."""

    kind: AddressKind
    send_id: UUID


def signed_address(key: bytes, kind: AddressKind, send_id: UUID, domain: str) -> str:
    """The address of a send at `domain`; its local part has 51 characters (RFC 5321 §4.5.3.1.1 allows 64)."""
    name = f"{kind.value}-{send_id.hex}"
    return f"{name}-{_signature(key, name)}@{domain}"


def verify_address(world: "World", address: str) -> SignedAddress | None:
    """The kind and the send of a signed address; None for any other address. Compares signatures in constant time.

    The domain does not matter: mail arrives here for every domain whose MX or CNAME record leads here.
    """
    match = _LOCAL_PART.fullmatch(address.rpartition("@")[0].lower())
    if match is None:
        return None
    kind, send_id, signature = match.groups()
    expected = _signature(world.secrets.key(RETURN_PATH_PURPOSE), f"{kind}-{send_id}")
    if not hmac.compare_digest(expected.encode(), signature.encode()):
        return None
    return SignedAddress(AddressKind(kind), UUID(send_id))


def _signature(key: bytes, name: str) -> str:
    return b32encode(hmac.digest(key, name.encode(), "sha256")[:SIGNATURE_OCTETS]).decode().lower()
