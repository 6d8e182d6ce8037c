"""DKIM verification of received messages (RFC 6376 §6, RFC 8301, RFC 8463).

The keys are looked up first; then the signatures are verified in a thread, because hashing a large body takes a while.
"""

import asyncio
import re
from base64 import b64decode
from collections.abc import Callable
from enum import StrEnum
from functools import partial
from hashlib import sha256
from typing import NamedTuple

from cryptography.exceptions import InvalidSignature, UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PublicKey
from cryptography.hazmat.primitives.asymmetric.padding import PKCS1v15
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPublicKey
from cryptography.hazmat.primitives.asymmetric.utils import Prehashed
from cryptography.hazmat.primitives.serialization import load_der_public_key

from postern.kernel.values import Record
from postern.protocols.mail.dkim import canonical_body, parse_list, parse_tags
from postern.protocols.mail.dns import DnsUnavailable, NoSuchRecord, Resolver

MAX_SIGNATURES = 8
"""Maximum signatures of a message that are verified, from the top; the others are ignored (RFC 6376 §6.1)."""
MAX_KEY_RECORDS = 4
"""Maximum TXT records at the name of a key that are tried."""
MIN_RSA_BITS, MAX_RSA_BITS = 1_024, 8_192
"""Sizes of RSA keys that are accepted. RFC 8301 §3.2 forbids shorter keys; longer ones take too much time."""
MAX_TAG_LIST = 16_384
"""Maximum octets of a DKIM-Signature field that is parsed."""
SIGNATURE_FIELD = b"dkim-signature"


class DkimVerdict(StrEnum):
    """The results of RFC 8601 §2.7.1 that a signature can have."""

    PASS = "pass"  # noqa: S105 - a verdict
    FAIL = "fail"
    TEMPERROR = "temperror"
    PERMERROR = "permerror"


class DkimResult(Record):
    """The result of one signature."""

    verdict: DkimVerdict
    reason: str
    domain: str = ""
    """The signing domain `d=` in lower case; empty if the signature cannot be parsed."""
    selector: str = ""
    """The selector `s=`, which names the key."""
    algorithm: str = ""
    """The algorithm `a=`, such as `rsa-sha256`."""
    signature: str = ""
    """The first eight characters of `b=`, which identify the signature (RFC 6008)."""


class RawField(NamedTuple):
    """A header field: its name in lower case, and the complete field with its folding, without the final CRLF."""

    name: bytes
    text: bytes


class DkimSignature(NamedTuple):
    """A parsed DKIM-Signature field."""

    field: RawField
    domain: str
    selector: str
    identity_domain: str
    """The domain of `i=`: the signing domain or a subdomain of it."""
    algorithm: str
    relaxed_headers: bool
    relaxed_body: bool
    names: tuple[bytes, ...]
    """The names of the signed fields in lower case, in the order of `h=`."""
    body_hash: bytes
    signature: bytes
    body_length: int | None
    """How many octets of the canonical body are signed (`l=`); None for all."""


class _Invalid(Exception):
    """The signature or its key cannot be used (permerror)."""


async def verify(resolver: Resolver, message: bytes, *, now: int) -> list[DkimResult]:
    """The results of the signatures of a message, from the top; empty if it has none.

    `message` must have CRLF line ends; `now` is in seconds since 1970. Nothing is raised for any message.
    """
    head, _, body = message.partition(b"\r\n\r\n")
    fields = header_fields(head)
    signed = [field for field in fields if field.name == SIGNATURE_FIELD][:MAX_SIGNATURES]
    parsed = [_parse_or_result(field, now) for field in signed]
    keys = await asyncio.gather(*(_keys_or_result(resolver, signature) for signature in parsed))
    return await asyncio.to_thread(_verify_all, parsed, keys, fields, body) if parsed else []


_FIELD_START = re.compile(rb"\r\n(?![ \t])")
MAX_HEADER = 512 * 1024
"""Octets of a header."""
MAX_FIELDS = 1_000
"""Fields of a header."""


def header_fields(head: bytes) -> list[RawField]:
    """The fields of a message's header, from the top. Lines that are not fields are left out.

    Empty if the header exceeds MAX_HEADER or MAX_FIELDS: a header of which only a part is checked could show another
    author than the one who is authenticated.
    """
    texts = _FIELD_START.split(head, MAX_FIELDS) if len(head) <= MAX_HEADER else []
    if len(texts) > MAX_FIELDS:
        return []
    fields: list[RawField] = []
    for text in texts:
        name, colon, _ = text.partition(b":")
        if colon and (name := name.rstrip(b" \t")):
            fields.append(RawField(name.lower(), text))
    return fields


# The signature field (RFC 6376 §3.5, §6.1.1).


def _parse_or_result(field: RawField, now: int) -> DkimSignature | DkimResult:
    try:
        tags = _tags_of(field)
    except _Invalid as error:
        return DkimResult(verdict=DkimVerdict.PERMERROR, reason=str(error))
    try:
        signature = _parse(field, tags)
    except _Invalid as error:
        return _result_of_tags(tags, DkimVerdict.PERMERROR, str(error))
    if "x" in tags and now > int(tags["x"]):
        return _result_of_tags(tags, DkimVerdict.FAIL, "The signature has expired.")
    return signature


def _result_of_tags(tags: dict[str, str], verdict: DkimVerdict, reason: str) -> DkimResult:
    return DkimResult(
        verdict=verdict,
        reason=reason,
        domain=tags.get("d", "").lower(),
        selector=tags.get("s", ""),
        algorithm=tags.get("a", ""),
        signature=_without_space(tags.get("b", ""))[:8],
    )


def _tags_of(field: RawField) -> dict[str, str]:
    _, _, value = field.text.partition(b":")
    if len(value) > MAX_TAG_LIST:
        raise _Invalid(f"The signature has more than {MAX_TAG_LIST} octets.")
    try:
        tags = parse_tags(value.decode("ascii"))
    except UnicodeDecodeError:
        raise _Invalid("The signature has octets that are not ASCII.") from None
    if isinstance(tags, str):
        raise _Invalid(tags)
    return tags


_DIGITS = re.compile(r"[0-9]{1,12}")
_DOMAIN = re.compile(r"[A-Za-z0-9_-]{1,63}(\.[A-Za-z0-9_-]{1,63})*")


def _parse(field: RawField, tags: dict[str, str]) -> DkimSignature:
    """Raises _Invalid."""
    missing = [name for name in ("v", "a", "b", "bh", "d", "h", "s") if not tags.get(name)]
    if missing:
        raise _Invalid(f"The signature has no tag `{missing[0]}`.")
    if tags["v"] != "1":
        raise _Invalid(f"The signature has version {tags['v'][:20]}, not 1.")
    algorithm = tags["a"].lower()
    if algorithm not in ("rsa-sha256", "ed25519-sha256"):
        raise _Invalid(f"The algorithm {algorithm[:40]} is not accepted (RFC 8301).")
    domain, selector = tags["d"].lower(), tags["s"]
    if not _DOMAIN.fullmatch(domain) or not _DOMAIN.fullmatch(selector):
        raise _Invalid("The tag `d` or `s` is not a domain name.")
    for name in ("t", "x", "l"):
        if name in tags and not _DIGITS.fullmatch(tags[name]):
            raise _Invalid(f"The tag `{name}` is not a number.")
    if "t" in tags and "x" in tags and int(tags["x"]) <= int(tags["t"]):
        raise _Invalid("The signature expires before it was made.")
    if "q" in tags and "dns/txt" not in parse_list(tags["q"]):
        raise _Invalid("The key is not published in the DNS.")
    identity_domain = tags.get("i", f"@{domain}").rpartition("@")[2].lower()
    if identity_domain != domain and not identity_domain.endswith(f".{domain}"):
        raise _Invalid("The domain of `i` is not the signing domain or a subdomain of it.")
    names = tuple(name.lower().encode() for name in parse_list(tags["h"]))
    if b"from" not in names:
        raise _Invalid("The signature does not cover the field From.")
    headers, _, body = tags.get("c", "simple/simple").lower().partition("/")
    if headers not in ("simple", "relaxed") or body not in ("", "simple", "relaxed"):
        raise _Invalid("The canonicalization is not known.")
    return DkimSignature(
        field=field,
        domain=domain,
        selector=selector,
        identity_domain=identity_domain,
        algorithm=algorithm,
        relaxed_headers=headers == "relaxed",
        relaxed_body=body == "relaxed",
        names=names,
        body_hash=_base64(tags["bh"], "bh"),
        signature=_base64(tags["b"], "b"),
        body_length=int(tags["l"]) if "l" in tags else None,
    )


_SPACE = re.compile(r"[ \t\r\n]+")


def _without_space(text: str) -> str:
    return _SPACE.sub("", text)


def _base64(text: str, name: str) -> bytes:
    try:
        return b64decode(_without_space(text), validate=True)
    except ValueError:
        raise _Invalid(f"The tag `{name}` is not base64.") from None


# The key (RFC 6376 §3.6.1, §6.1.2).


async def _keys_or_result(resolver: Resolver, signature: DkimSignature | DkimResult) -> list[str] | DkimResult:
    """The TXT records at the name of the key, or the result if they cannot be looked up."""
    if isinstance(signature, DkimResult):
        return signature
    name = f"{signature.selector}._domainkey.{signature.domain}"
    try:
        return (await resolver.txt(name))[:MAX_KEY_RECORDS]
    except NoSuchRecord:
        return _result(signature, DkimVerdict.PERMERROR, f"There is no key at {name}.")
    except DnsUnavailable as error:
        return _result(signature, DkimVerdict.TEMPERROR, str(error))


def _result(signature: DkimSignature, verdict: DkimVerdict, reason: str) -> DkimResult:
    return _result_of_tags(_tags_of(signature.field), verdict, reason)


def _public_key(record: str, signature: DkimSignature) -> RSAPublicKey | Ed25519PublicKey:
    """The public key of a record, if it may be used for this signature. Raises _Invalid."""
    tags = parse_tags(record.strip())
    if isinstance(tags, str):
        raise _Invalid(f"The key record is malformed: {tags}")
    kind = "rsa" if signature.algorithm == "rsa-sha256" else "ed25519"
    if "v" in tags and (next(iter(tags)) != "v" or tags["v"] != "DKIM1"):
        raise _Invalid("The key record does not begin with v=DKIM1.")
    if tags.get("k", "rsa").lower() != kind:
        raise _Invalid("The key is of another type than the signature.")
    if "h" in tags and "sha256" not in parse_list(tags["h"].lower()):
        raise _Invalid("The key must not be used with sha256.")
    if "s" in tags and not {"*", "email"} & set(parse_list(tags["s"].lower())):
        raise _Invalid("The key is not for e-mail.")
    if "s" in parse_list(tags.get("t", "")) and signature.identity_domain != signature.domain:
        raise _Invalid("The key must not be used for subdomains.")
    if "p" not in tags:
        raise _Invalid("The key record has no tag `p`.")
    if not tags["p"]:
        raise _Invalid("The key has been revoked.")
    octets = _base64(tags["p"], "p")
    try:
        key = Ed25519PublicKey.from_public_bytes(octets) if kind == "ed25519" else load_der_public_key(octets)
    except (ValueError, UnsupportedAlgorithm):
        raise _Invalid("The tag `p` of the key record is not a public key.") from None
    if isinstance(key, RSAPublicKey) and not MIN_RSA_BITS <= key.key_size <= MAX_RSA_BITS:
        raise _Invalid(f"An RSA key of {key.key_size} bits is not accepted.")
    if not isinstance(key, RSAPublicKey | Ed25519PublicKey):
        raise _Invalid("The key is of another type than its record says.")
    return key


# The hashes and the signature (RFC 6376 §3.4, §3.7, §6.1.3).


def _verify_all(
    signatures: list[DkimSignature | DkimResult],
    keys: list[list[str] | DkimResult],
    fields: list[RawField],
    body: bytes,
) -> list[DkimResult]:
    bodies: dict[bool, bytes] = {}

    def body_in(relaxed: bool) -> bytes:
        if relaxed not in bodies:
            bodies[relaxed] = canonical_body(body) if relaxed else _simple_body(body)
        return bodies[relaxed]

    return [
        signature
        if isinstance(signature, DkimResult)
        else records
        if isinstance(records, DkimResult)
        else _verify(signature, records, fields, body_in)
        for signature, records in zip(signatures, keys, strict=True)
    ]


def _verify(
    signature: DkimSignature, records: list[str], fields: list[RawField], body_in: Callable[[bool], bytes]
) -> DkimResult:
    result = partial(_result, signature)
    body = body_in(signature.relaxed_body)
    length = len(body) if signature.body_length is None else signature.body_length
    if length > len(body):
        return result(DkimVerdict.PERMERROR, "The body is shorter than the signature says (`l=`).")
    if sha256(memoryview(body)[:length]).digest() != signature.body_hash:
        return result(DkimVerdict.FAIL, "The body was changed after it was signed.")
    digest = sha256(_signed_octets(signature, fields)).digest()
    reason = ""
    for record in records:
        try:
            _check_signature(_public_key(record, signature), signature.signature, digest)
        except _Invalid as error:
            reason = reason or str(error)
        except InvalidSignature:
            return result(DkimVerdict.FAIL, "The header was changed after it was signed, or the key is another one.")
        else:
            unsigned = len(body) - length
            return result(
                DkimVerdict.PASS, f"The last {unsigned} octets of the body are not signed." if unsigned else ""
            )
    return result(DkimVerdict.PERMERROR, reason)


def _check_signature(key: RSAPublicKey | Ed25519PublicKey, signature: bytes, digest: bytes) -> None:
    """Raises InvalidSignature."""
    if isinstance(key, Ed25519PublicKey):
        key.verify(signature, digest)
    else:
        key.verify(signature, digest, PKCS1v15(), Prehashed(hashes.SHA256()))


def _simple_body(body: bytes) -> bytes:
    """Simple body canonicalization (RFC 6376 §3.4.3); an empty body becomes a line end."""
    end = len(body)
    while body.endswith(b"\r\n", 0, end):
        end -= 2
    return body[:end] + b"\r\n"


_SIGNATURE_VALUE = re.compile(rb"((?:^|;)[ \t\r\n]*b[ \t\r\n]*=)[^;]*")


def _signed_octets(signature: DkimSignature, fields: list[RawField]) -> bytes:
    """The canonical signed fields, and the signature's own field with an empty `b=` (RFC 6376 §3.7)."""
    canonical = _relaxed_field if signature.relaxed_headers else _simple_field
    positions: dict[bytes, list[RawField]] = {}
    for field in fields:
        positions.setdefault(field.name, []).append(field)
    octets: list[bytes] = []
    for name in signature.names:
        # Fields with the same name are signed from the last to the first; a name in `h=` that has no field left adds
        # nothing.
        if positions.get(name):
            octets.append(canonical(positions[name].pop()) + b"\r\n")
    name, colon, value = signature.field.text.partition(b":")
    own = RawField(signature.field.name, name + colon + _SIGNATURE_VALUE.sub(rb"\1", value, count=1))
    return b"".join(octets) + canonical(own)


def _simple_field(field: RawField) -> bytes:
    return field.text


_FOLDS = re.compile(rb"\r\n")
_BLANKS = re.compile(rb"[ \t]+")


def _relaxed_field(field: RawField) -> bytes:
    _, _, value = field.text.partition(b":")
    return field.name + b":" + _BLANKS.sub(b" ", _FOLDS.sub(b"", value)).strip(b" ")
