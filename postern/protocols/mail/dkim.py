"""DKIM signing (RFC 6376, RFC 8301, RFC 8463): relaxed/relaxed canonicalization, rsa-sha256 and ed25519-sha256.

`sign` has no side effects; the RSA signature takes most of its time.
"""

import re
from base64 import b64encode
from binascii import b2a_base64
from collections.abc import Sequence
from functools import lru_cache
from hashlib import sha256
from typing import Final, Literal, NamedTuple

import msgspec
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey, generate_private_key
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.serialization import (
    Encoding,
    NoEncryption,
    PrivateFormat,
    PublicFormat,
    load_pem_private_key,
)

from postern.kernel.http.problems import BadRequest

RSA_BITS: Final = 2048
"""The size of RSA keys. RFC 8301 §3.2 recommends at least 2048 bits for signing."""
OVERSIGNED: Final = (
    "from", "to", "cc", "reply-to", "subject", "date", "message-id", "mime-version", "content-type",
    "list-unsubscribe", "list-unsubscribe-post",
)  # fmt: skip
"""Fields listed in `h=` once more than they occur, so that adding another one breaks the signature (RFC 6376 §8.15)."""
SIGNED_WHERE_PRESENT: Final = (
    "list-id", "feedback-id", "in-reply-to", "references", "auto-submitted",
    "tls-required", "tls-report-domain", "tls-report-submitter",
)  # fmt: skip
"""Fields listed in `h=` as often as they occur. RFC 8460 §5.3 recommends the last two."""

PrivateKey = RSAPrivateKey | Ed25519PrivateKey


class KeyUnusable(BadRequest):
    """The private key cannot be used for DKIM: use RSA of 2048 bits or more, or Ed25519, in PEM."""


class Signer(msgspec.Struct, frozen=True):
    """A signing identity: the private key whose public key is published at `<selector>._domainkey.<domain>`."""

    domain: str
    selector: str
    private_key: PrivateKey

    @classmethod
    def load(cls, domain: str, selector: str, pem: bytes) -> "Signer":
        """Create a signer from a PEM key. Parsing takes about 26 ms, so parsed keys are cached. Raises KeyUnusable."""
        return cls(domain, selector, load_key(pem))


def generate_rsa() -> bytes:
    """A new RSA-2048 private key as PEM (PKCS #8)."""
    return _pem(generate_private_key(public_exponent=65537, key_size=RSA_BITS))


def generate_ed25519() -> bytes:
    """A new Ed25519 private key as PEM (PKCS #8)."""
    return _pem(Ed25519PrivateKey.generate())


def _pem(key: PrivateKey) -> bytes:
    return key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())


@lru_cache(maxsize=1_024)
def load_key(pem: bytes) -> PrivateKey:
    """Parse a PEM private key. Raises KeyUnusable."""
    try:
        key = load_pem_private_key(pem, password=None)
    except (ValueError, TypeError):
        raise KeyUnusable from None
    if isinstance(key, Ed25519PrivateKey) or (isinstance(key, RSAPrivateKey) and key.key_size >= RSA_BITS):
        return key
    raise KeyUnusable


def key_record(key: PrivateKey | bytes) -> str:
    """The value of the TXT record that publishes the public key of a private key (RFC 6376 §3.6.1, RFC 8463 §4.2).

    `key` may also be PEM; then KeyUnusable is raised if it cannot be used.
    """
    key = load_key(key) if isinstance(key, bytes) else key
    if isinstance(key, Ed25519PrivateKey):
        raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        return f"v=DKIM1; k=ed25519; p={b64encode(raw).decode()}"
    der = key.public_key().public_bytes(Encoding.DER, PublicFormat.SubjectPublicKeyInfo)
    return f"v=DKIM1; k=rsa; p={b64encode(der).decode()}"


KeyRecordErrorCode = Literal[
    "dkim_quoted", "dkim_backslashes", "dkim_syntax", "dkim_wrong_version", "dkim_wrong_type", "dkim_wrong_hash",
    "dkim_wrong_service", "dkim_testing", "dkim_no_key", "dkim_revoked", "dkim_split", "dkim_truncated",
    "dkim_other_key",
]  # fmt: skip


class KeyRecordError(NamedTuple):
    """Why receivers cannot verify signatures with a key record. The message names the tag and its correct value."""

    code: KeyRecordErrorCode
    message: str


def key_record_error(
    text: str, *, algorithm: Literal["rsa-sha256", "ed25519-sha256"], public_key: str
) -> KeyRecordError | None:
    """The first error of a key record (RFC 6376 §3.6.1); None if receivers can verify signatures with it.

    `public_key` is the expected base64 value of `p=`.
    """
    stripped = text.strip()
    if stripped.startswith('"') or stripped.endswith('"'):
        return KeyRecordError("dkim_quoted", "The value is published with quotation marks. Enter it without them.")
    if "\\;" in stripped or stripped.endswith("\\"):
        message = "The semicolons are published with backslashes (`\\;`). Enter the value without backslashes."
        return KeyRecordError("dkim_backslashes", message)
    if '"' in stripped:
        message = "The value has quotation marks in it: its parts were not joined. Enter it as one text without them."
        return KeyRecordError("dkim_split", message)
    tags = parse_tags(stripped)
    if isinstance(tags, str):
        return KeyRecordError("dkim_syntax", tags)
    return _tag_error(tags, "rsa" if algorithm == "rsa-sha256" else "ed25519") or _key_error(tags, public_key)


def _tag_error(tags: dict[str, str], kind: str) -> KeyRecordError | None:
    """The first error of a tag other than `p`."""
    if "v" in tags and (next(iter(tags)) != "v" or tags["v"] != "DKIM1"):
        message = f"The tag `v` is `{tags['v']}`; it must be `DKIM1` and the first tag."
        return KeyRecordError("dkim_wrong_version", message)
    if tags.get("k", "rsa") != kind:
        return KeyRecordError("dkim_wrong_type", f"The tag `k` is `{tags.get('k', 'rsa')}`; it must be `{kind}`.")
    if "h" in tags and "sha256" not in parse_list(tags["h"]):
        message = f"The tag `h` is `{tags['h']}`; it must contain `sha256` or be omitted."
        return KeyRecordError("dkim_wrong_hash", message)
    if "s" in tags and not {"*", "email"} & set(parse_list(tags["s"])):
        message = f"The tag `s` is `{tags['s']}`; it must contain `email` or be omitted."
        return KeyRecordError("dkim_wrong_service", message)
    if "y" in parse_list(tags.get("t", "")):
        message = "The tag `t` has the flag `y` (testing): receivers treat the mail as unsigned. Remove the flag."
        return KeyRecordError("dkim_testing", message)
    return None


def _key_error(tags: dict[str, str], public_key: str) -> KeyRecordError | None:
    """The error of the tag `p`."""
    if "p" not in tags:
        return KeyRecordError("dkim_no_key", "The tag `p` is missing; it must contain the public key.")
    if not tags["p"]:
        message = "The tag `p` is empty, which means that the key is revoked. Publish the public key."
        return KeyRecordError("dkim_revoked", message)
    published = _WHITESPACE.sub("", tags["p"])
    if published == public_key:
        return None
    if public_key.startswith(published):
        message = (
            f"The public key in the tag `p` ends after {len(published)} of {len(public_key)} characters. Publish all of"
            " it, in several strings of at most 255 characters if your DNS provider requires that."
        )
        return KeyRecordError("dkim_truncated", message)
    if sorted(published) == sorted(public_key):
        message = "The parts of the public key in the tag `p` are in another order. Publish them in the order shown."
        return KeyRecordError("dkim_split", message)
    message = "The tag `p` has a different public key. Publish the one shown for this domain."
    return KeyRecordError("dkim_other_key", message)


_WHITESPACE = re.compile(r"[ \t\r\n]+")
_TAG_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_]*")
_TAG_VALUE = re.compile(r"[!-:<-~ \t\r\n]*")


def parse_tags(text: str) -> dict[str, str] | str:
    """The tags of a record or signature in order (RFC 6376 §3.2), or a message if the list is malformed."""
    tags: dict[str, str] = {}
    parts = text.split(";")
    if not parts[-1].strip():  # A trailing semicolon is allowed.
        parts.pop()
    for part in parts:
        name, equals, value = part.partition("=")
        name, value = name.strip(" \t\r\n"), value.strip(" \t\r\n")
        if not equals or not _TAG_NAME.fullmatch(name) or not _TAG_VALUE.fullmatch(value):
            shown = part.strip()[:40]
            return f"`{shown}` is not a tag: the record must be a list of `name=value` separated by semicolons."
        if name in tags:
            return f"The tag `{name}` occurs more than once."
        tags[name] = value
    return tags


def parse_list(value: str) -> list[str]:
    """The items of a tag's value that are separated by colons, without white space."""
    return [_WHITESPACE.sub("", item) for item in value.split(":")]


def sign(message: bytes, signers: Sequence[Signer], *, now: int, unsigned: Sequence[str] = ()) -> bytes:
    """Return `message` with one DKIM-Signature field per signer in front.

    `message` must have CRLF line ends; `now` is in seconds since 1970. Body and header fields are canonicalized once
    for all signers. `unsigned` are names of header fields, in lower case, that are not signed.
    """
    return signatures_of(signed_parts(message, unsigned), signers, now=now) + message


class SignedParts(NamedTuple):
    """What the signatures of a message cover."""

    names: str
    """The value of `h=`."""
    fields: bytes
    """The canonical header fields in the order of their names."""
    body_hash: bytes
    """The value of `bh=`."""


def signed_parts(message: bytes, unsigned: Sequence[str] = ()) -> SignedParts:
    """What the signatures of a message cover; see `sign`."""
    head, _, body = message.partition(b"\r\n\r\n")
    return SignedParts(*signed_fields(head, unsigned), body_hash(canonical_body(body)))


def signed_fields(head: bytes, unsigned: Sequence[str] = ()) -> tuple[str, bytes]:
    """The value of `h=` for these header fields, and their canonical form in its order."""
    names, fields = _signed_fields(_canonical_values(head), unsigned)
    return names, b"".join(fields)


def body_hash(canonical: bytes) -> bytes:
    """The hash of a canonical body, in base64."""
    return b2a_base64(sha256(canonical).digest(), newline=False)


def signatures_of(parts: SignedParts, signers: Sequence[Signer], *, now: int) -> bytes:
    """The DKIM-Signature fields, one per signer; `now` is in seconds since 1970."""
    return b"".join([_signature(signer, parts, now) for signer in signers])


class FieldsForm:
    """The signed header fields of messages that have most of them in common; these are canonicalized once."""

    def __init__(self, head: bytes, varying: Sequence[str], unsigned: Sequence[str] = ()) -> None:
        """`head` has the common fields. `varying` are the names of the others, in lower case; each occurs once.

        Raises ValueError if a common field has one of these names.
        """
        values = _canonical_values(head)
        marks = [b"\n%d" % number for number in range(len(varying))]  # No value contains a line end.
        for name, mark in zip(varying, marks, strict=True):
            if values.setdefault(name.encode(), [mark]) != [mark]:
                raise ValueError(f"{name} is one of the common fields")
        self.names, fields = _signed_fields(values, unsigned)
        self._fields = fields
        marked = [name.encode() + b":" + mark + b"\r\n" for name, mark in zip(varying, marks, strict=True)]
        self._varying = [(fields.index(field), number) for number, field in enumerate(marked) if field in fields]
        """The index of each varying field in `_fields`, and in the parameter `varying`."""

    def fill(self, varying: Sequence[bytes]) -> bytes:
        """The canonical fields of a message; `varying` are the canonical forms of the varying fields in their order."""
        fields = self._fields.copy()
        for index, number in self._varying:
            fields[index] = varying[number]
        return b"".join(fields)


_BLANKS_AND_TABS = re.compile(rb"[ \t]+")
_BLANK_AT_END = re.compile(rb" \r\n")
"""Searching for this pattern takes half the time of `in` if spaces or line ends are frequent."""


def canonical_body(body: bytes) -> bytes:
    """Relaxed body canonicalization (RFC 6376 §3.4.4)."""
    body = body.replace(b"\t", b" ")
    # A regular expression is slower, and other threads would wait while it processes all of a large body.
    while b"  " in body:
        body = body.replace(b"  ", b" ")
    if _BLANK_AT_END.search(body):
        body = body.replace(b" \r\n", b"\r\n")
    body = body.removesuffix(b" ")
    end = len(body)
    while body.endswith(b"\r\n", 0, end):
        end -= 2
    return body[:end] + b"\r\n" if end else b""


_FOLDED = re.compile(rb"\r\n(?=[ \t])")


def canonical_field(field: bytes) -> bytes:
    """Relaxed canonicalization of one header field with its CRLF (RFC 6376 §3.4.2)."""
    name, _, value = field.partition(b":")
    return name.strip(b" \t").lower() + b":" + _canonical_value(_FOLDED.sub(b"", value[:-2])) + b"\r\n"


def _canonical_value(value: bytes) -> bytes:
    """The canonical form of an unfolded value."""
    canonical = value.strip(b" \t")
    if b"  " in canonical or b"\t" in canonical:
        return _BLANKS_AND_TABS.sub(b" ", canonical)
    return canonical


def _canonical_values(head: bytes) -> dict[bytes, list[bytes]]:
    """The canonical values of the fields, by name in lower case."""
    values: dict[bytes, list[bytes]] = {}
    for line in _FOLDED.sub(b"", head).split(b"\r\n"):
        name, colon, value = line.partition(b":")
        if colon:
            values.setdefault(name.strip(b" \t").lower(), []).append(_canonical_value(value))
    return values


def _signed_fields(values: dict[bytes, list[bytes]], unsigned: Sequence[str]) -> tuple[str, list[bytes]]:
    """The `h=` list and the canonical fields in its order (RFC 6376 §5.4.2)."""
    names: list[str] = []
    fields: list[bytes] = []
    for name in OVERSIGNED + SIGNED_WHERE_PRESENT:
        if name in unsigned:
            continue
        key = name.encode()
        # Fields with the same name are signed from the last to the first. The additional entry of an oversigned name
        # refers to no field, so it adds nothing to the signed octets.
        for value in reversed(values.get(key, ())):
            names.append(name)
            fields.append(key + b":" + value + b"\r\n")
        if name in OVERSIGNED:
            names.append(name)
    return _folded_names(tuple(names)), fields


@lru_cache(maxsize=256)
def _folded_names(names: tuple[str, ...]) -> str:
    """`from:from:to:…`, folded after every fourth name."""
    groups = [":".join(names[start : start + 4]) for start in range(0, len(names), 4)]
    return ":\r\n ".join(groups)


def _signature(signer: Signer, parts: SignedParts, now: int) -> bytes:
    """The complete DKIM-Signature field with CRLF: PKCS #1 v1.5 (RFC 6376 §3.3.1) or PureEdDSA (RFC 8463 §3)."""
    key = signer.private_key
    is_rsa = isinstance(key, RSAPrivateKey)
    opening, canonical_opening = _field_opening(signer.domain, signer.selector, is_rsa, parts.names, now)
    # The signature covers its own field with an empty b= and without the final CRLF (RFC 6376 §3.7).
    digest = sha256(b"".join((parts.fields, canonical_opening, parts.body_hash, b"; b="))).digest()
    signature = key.sign(digest, _PADDING, _PREHASHED) if is_rsa else key.sign(digest)
    encoded = b2a_base64(signature, newline=False)
    lines = b"\r\n ".join([encoded[start : start + 72] for start in range(0, len(encoded), 72)])
    return b"".join((opening, parts.body_hash, b";\r\n b=", lines, b"\r\n"))


@lru_cache(maxsize=256)
def _field_opening(domain: str, selector: str, is_rsa: bool, names: str, now: int) -> tuple[bytes, bytes]:
    """The field up to `bh=`, which all messages of a second have in common, and its canonical form."""
    field = (
        f"DKIM-Signature: v=1; a={'rsa' if is_rsa else 'ed25519'}-sha256; c=relaxed/relaxed; d={domain};\r\n"
        f" s={selector}; t={now};\r\n"
        f" h={names};\r\n bh="
    ).encode()
    return field, b"dkim-signature:" + field[len(b"DKIM-Signature: ") :].replace(b"\r\n", b"")


_PADDING: Final = PKCS1v15()
_PREHASHED: Final = Prehashed(hashes.SHA256())
