"""Who a message is from and to: `a@b` or `Name <a@b>` (RFC 5322 §3.4, RFC 5321 §4.1.2, RFC 6531)."""

import re
from functools import lru_cache
from typing import Final

import idna
import msgspec
from email_validator import EmailNotValidError, EmailSyntaxError, validate_email

from postern.kernel.http.problems import BadRequest
from postern.protocols.mail.header import CONTROL, encode_words, quote_phrase

LOCAL_LIMIT: Final = 64
"""Octets before the `@` (RFC 5321 §4.5.3.1.1)."""
ADDRESS_LIMIT: Final = 254
"""Octets of a whole address (RFC 5321 §4.5.3.1.3, less the angle brackets of a path)."""
NAME_LIMIT: Final = 320
"""Characters of a display name."""


class AddressInvalid(BadRequest):
    """That is not an e-mail address we can send to."""


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """One mailbox. `domain` is the ASCII (A-label) form that goes on the wire."""

    name: str = ""
    local: str
    domain: str
    spec: str
    """`local@domain`, as SMTP and headers carry it."""
    needs_smtputf8: bool = False
    """The part before the `@` is not ASCII, so the receiving server has to offer SMTPUTF8."""

    def header(self) -> str:
        """The mailbox as one header token list: `spec`, or `Name <spec>` with the name safely written."""
        if not self.name:
            return self.spec
        return f"{_phrase(self.name)} <{self.spec}>"

    def __str__(self) -> str:
        """What people read, and what `parse_address` reads again: `Name <spec>`, the name quoted where it must be."""
        if not self.name:
            return self.spec
        if not _NEEDS_QUOTES.search(self.name):
            return f"{self.name} <{self.spec}>"
        escaped = re.sub(r'(["\\])', r"\\\1", self.name)
        return f'"{escaped}" <{self.spec}>'


def parse_address(text: str) -> Address:
    """Read `a@b` or `Name <a@b>`.

    Raises AddressInvalid, with a sentence that says what is wrong.
    """
    if CONTROL.search(text):
        raise AddressInvalid("An address must not contain line breaks or control characters.")
    name, spec = _split(text.strip())
    if len(name) > NAME_LIMIT:
        raise AddressInvalid(f"The display name is longer than {NAME_LIMIT} characters.")
    local, domain = _parse_spec(spec)
    wire = f"{local}@{domain}"
    if len(wire.encode()) > ADDRESS_LIMIT:
        raise AddressInvalid(f"The address is longer than {ADDRESS_LIMIT} octets.")
    return Address(name=name, local=local, domain=domain, spec=wire, needs_smtputf8=not local.isascii())


def normalise(spec: str) -> str:
    """The form that lookups compare: one address, whatever its letter case or spelling of the domain."""
    return lookup_key(parse_address(spec))


def lookup_key(address: Address) -> str:
    """The form of a parsed address that lookups compare."""
    return f"{_in_small(address.local)}@{address.domain}"


def _in_small(local: str) -> str:
    """In small letters, but no more alike than that: `ß` is not `ss`, nor the long `ſ` an `s`, as case folding has it.

    Mail for either goes to another mailbox, and who has the one shall not pass for who has the other.
    """
    return local.lower()


def piece_of_address(text: str) -> str:
    """A piece of an address as it stands in the form that lookups compare: `@Bücher.example` in A-labels."""
    local, at, domain = _in_small(text).rpartition("@")
    try:
        return f"{local}@{domain_of(domain)}" if at and not domain.isascii() else f"{local}{at}{domain}"
    except AddressInvalid:  # Only the beginning of a domain, perhaps.
        return f"{local}@{domain}"


def domain_of(text: str) -> str:
    """The A-label, lower-case form of a domain name. Raises AddressInvalid."""
    if CONTROL.search(text):
        raise AddressInvalid("A domain must not contain line breaks or control characters.")
    return _parse_spec(f"postmaster@{text.strip().rstrip('.')}")[1]


_NAMED = re.compile(r"^(?P<name>[^<>]*)<(?P<spec>[^<>]*)>$")


def _split(text: str) -> tuple[str, str]:
    """The display name and the bare address."""
    if not text:
        raise AddressInvalid("The address is empty.")
    quoted = _QUOTED_NAMED.match(text)
    if quoted:
        return re.sub(r"\\(.)", r"\1", quoted["name"]).strip(), quoted["spec"].strip()
    if "<" not in text and ">" not in text:
        return "", text
    named = _NAMED.match(text)
    if named is None:
        raise AddressInvalid("Write an address as a@b or Name <a@b>, with one pair of angle brackets.")
    return named["name"].strip(), named["spec"].strip()


_NEEDS_QUOTES = re.compile(r'[<>]|^"|\\')
_QUOTED_NAMED = re.compile(r'^"(?P<name>(?:[^"\\]|\\.)*)"\s*<(?P<spec>[^<>]*)>$')


_PLAIN_LOCAL = re.compile(r"[A-Za-z0-9_+-]+(?:\.[A-Za-z0-9_+-]+)*")


def _parse_spec(spec: str) -> tuple[str, str]:
    """The local part and the A-label domain of a bare address.

    Recipients differ and their domains recur: what comes before the `@` is mostly plain, and a domain is judged once.
    """
    local, at, domain = spec.rpartition("@")
    if at and len(local) <= LOCAL_LIMIT and _PLAIN_LOCAL.fullmatch(local):
        try:
            return local, _judged_spec(f"{_SOMEBODY}@{domain}")[1]
        except AddressInvalid:
            pass  # The refusal should show the caller's own address.
    return _judged_spec(spec)


_SOMEBODY = "a"


@lru_cache(maxsize=65_536)
def _judged_spec(spec: str) -> tuple[str, str]:
    if spec.startswith('"'):
        raise AddressInvalid("Quoted local parts are not supported; write the address without quotes.")
    try:
        found = validate_email(spec, check_deliverability=False, test_environment=True, globally_deliverable=False)
    except EmailSyntaxError as refusal:
        raise AddressInvalid(f"{shown(spec)} is not an address: {refusal}") from None
    except EmailNotValidError as refusal:
        raise AddressInvalid(str(refusal)) from None
    if len(found.local_part.encode()) > LOCAL_LIMIT:
        raise AddressInvalid(f"The part before the @ is longer than {LOCAL_LIMIT} octets.")
    return found.local_part, _a_label(found.domain)


def _a_label(domain: str) -> str:
    """The domain as the wire carries it: every label in ASCII (RFC 5891), in lower case."""
    if domain.isascii():
        return domain.lower()
    try:
        return idna.encode(domain, uts46=True, transitional=False).decode("ascii").lower()
    except idna.IDNAError as refusal:
        raise AddressInvalid(f"{shown(domain)} is not a domain name: {refusal}.") from None


def shown(text: str) -> str:
    """A piece of the caller's own text, short enough for a message."""
    return f"“{text if len(text) <= 80 else text[:79] + '…'}”"


def _phrase(name: str) -> str:
    if name.isascii() and "=?" not in name:
        return quote_phrase(name)
    return encode_words(name)
