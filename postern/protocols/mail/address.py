"""Header fields (RFC 5322, RFC 2047), and the addresses in them (RFC 5322 §3.4, RFC 5321 §4.1.2, RFC 6531)."""

import re
from binascii import b2a_base64
from functools import lru_cache
from typing import Final

import idna
import msgspec

from postern.kernel.http.problems import BadRequest, ProblemError

LINE_LIMIT: Final = 998
"""Octets of one header line, without its CRLF (RFC 5322 §2.1.1)."""
FOLD_AT: Final = 78
"""Octets after which a header line is folded at the next space (RFC 5322 §2.1.1 recommends 78)."""
WORD_LIMIT: Final = 75
"""Characters of one encoded-word (RFC 2047 §2)."""
FIELD_LIMIT: Final = 8_192
"""Octets of one header field's value."""

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
"""Characters that no header value may contain: C0 (with CR, LF, NUL, TAB), DEL, C1 (with NEL), line separators, and
unpaired surrogates, which UTF-8 cannot encode.
"""
FIELD_NAME = re.compile(r"[\x21-\x39\x3b-\x7e]{1,76}")
"""RFC 5322 §3.6.8 ftext."""
_ATOMS = re.compile(r"[A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+(?: [A-Za-z0-9!#$%&'*+\-/=?^_`{|}~]+)*")
_PIECES = re.compile(r" *[^ ]+")
_Q_SAFE = frozenset(b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789!*+-/")


class HeaderInvalid(BadRequest):
    """A header field's name or value is not allowed in a message."""

    @classmethod
    def at(cls, field: str, message: str) -> "HeaderInvalid":
        """An error whose path is `/field` and whose message begins with the name of the field."""
        text = f"{field}: {message}"
        return cls(text, errors=[ProblemError(path=f"/{field}", code=cls.code(), message=text)])


def check_value(field: str, value: str) -> str:
    """Return `value` without surrounding spaces. Raises HeaderInvalid if it has control characters."""
    if CONTROL.search(value):
        raise HeaderInvalid.at(field, "line breaks and control characters are not allowed in a header.")
    return value.strip(" ")


def fold(name: str, value: str) -> str:
    """`Name: value` with CRLF, folded at spaces into lines of about 78 octets.

    CRLF is inserted only before an existing space (RFC 5322 §2.2.3), so unfolding restores `value`. Raises
    HeaderInvalid if a line would be longer than 998 octets, or a value that must be folded is longer than FIELD_LIMIT.
    """
    line = f"{name}: {value}"
    if len(line) <= FOLD_AT and line.isascii():
        return line + "\r\n"
    if len(value.encode()) > FIELD_LIMIT:
        raise HeaderInvalid.at(name, f"the value is longer than {FIELD_LIMIT} octets.")
    lines: list[str] = []
    current, used = f"{name}:", len(name) + 1
    for number, piece in enumerate(_PIECES.findall(" " + value)):
        size = len(piece.encode())
        if number and used + size > FOLD_AT:
            lines.append(current)
            current, used = piece, size
        else:
            current, used = current + piece, used + size
        if used > LINE_LIMIT:
            raise HeaderInvalid.at(
                name, f"a word of the value is longer than {LINE_LIMIT} octets and cannot be folded."
            )
    lines.append(current)
    return "\r\n".join(lines) + "\r\n"


def unstructured_field(name: str, value: str) -> str:
    """An unstructured field (Subject etc.): encoded if necessary, folded, with CRLF. Raises HeaderInvalid."""
    value = check_value(name, value)
    # A value that looks like an encoded-word would be decoded by the mail client, so such a value is encoded too.
    if value.isascii() and "=?" not in value and not _has_long_token(name, value):
        return fold(name, value)
    if len(value) > FIELD_LIMIT:
        raise HeaderInvalid.at(name, f"the value is longer than {FIELD_LIMIT} characters.")
    return fold(name, encode_words(value, first_limit=FOLD_AT - len(name) - 2))


def _has_long_token(name: str, value: str) -> bool:
    """Whether a word of the value is longer than a line may be; such a word cannot be folded."""
    longest = LINE_LIMIT - len(name) - 2
    return len(value) > longest and any(len(token) > longest for token in value.split(" "))


def encode_words(text: str, first_limit: int = WORD_LIMIT) -> str:
    """`text` as RFC 2047 encoded-words separated by one space, which mail clients drop when decoding.

    Every encoded-word contains whole characters of `text` and is at most 75 characters long, the first one at most
    `first_limit`. Uses the encoding (Q or B) that gives the shorter result.
    """
    raw = text.encode()
    unescaped = sum(octet in _Q_SAFE or octet == 0x20 for octet in raw)
    use_q = unescaped + 3 * (len(raw) - unescaped) <= (len(raw) + 2) // 3 * 4
    words: list[str] = []
    capacity, chunk, used = min(first_limit, WORD_LIMIT) - len("=?utf-8?q??="), bytearray(), 0
    for character in text:
        octets = character.encode()
        cost = sum(1 if octet in _Q_SAFE or octet == 0x20 else 3 for octet in octets) if use_q else len(octets)
        if chunk and (used + cost if use_q else (used + cost + 2) // 3 * 4) > capacity:
            words.append(_encoded_word(bytes(chunk), use_q))
            capacity, chunk, used = WORD_LIMIT - len("=?utf-8?q??="), bytearray(), 0
        chunk += octets
        used += cost
    words.append(_encoded_word(bytes(chunk), use_q))
    return " ".join(words)


def _encoded_word(octets: bytes, use_q: bool) -> str:
    if not use_q:
        return f"=?utf-8?b?{b2a_base64(octets, newline=False).decode()}?="
    return "=?utf-8?q?" + "".join(_Q_TABLE[octet] for octet in octets) + "?="


_Q_TABLE = [chr(o) if o in _Q_SAFE else "_" if o == 0x20 else f"={o:02X}" for o in range(256)]


def quote_phrase(text: str) -> str:
    """An ASCII display name as atoms, or as a quoted-string if it has other characters."""
    if _ATOMS.fullmatch(text):
        return text
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


LOCAL_LIMIT: Final = 64
"""Octets of the local part (RFC 5321 §4.5.3.1.1)."""
ADDRESS_LIMIT: Final = 254
"""Octets of an address. A path may have 256 (RFC 5321 §4.5.3.1.3), and two of them are its angle brackets."""
NAME_LIMIT: Final = 320
"""Characters of a display name."""


class AddressInvalid(BadRequest):
    """The e-mail address is invalid or cannot receive mail. Write it as a@b or Name <a@b>."""


class Address(msgspec.Struct, frozen=True, kw_only=True):
    """One mailbox. `domain` is in ASCII (A-labels)."""

    name: str = ""
    local: str
    domain: str
    spec: str
    """The addr-spec `local@domain`, as used in SMTP commands and header fields."""
    needs_smtputf8: bool = False
    """The local part is not ASCII, so the receiving server must support SMTPUTF8 (RFC 6531)."""

    def header(self) -> str:
        """The mailbox for a header field: `spec`, or `Name <spec>` with the name quoted or encoded (RFC 2047)."""
        if not self.name:
            return self.spec
        return f"{_phrase(self.name)} <{self.spec}>"

    def __str__(self) -> str:
        """A readable form that `parse_address` accepts: `Name <spec>`, with the name quoted where necessary."""
        if not self.name:
            return self.spec
        if not _NEEDS_QUOTES.search(self.name):
            return f"{self.name} <{self.spec}>"
        escaped = re.sub(r'(["\\])', r"\\\1", self.name)
        return f'"{escaped}" <{self.spec}>'


def parse_address(text: str) -> Address:
    """Parse `a@b` or `Name <a@b>`. Raises AddressInvalid with a message for the caller."""
    if CONTROL.search(text):
        raise AddressInvalid("An address must not contain line breaks or control characters.")
    name, spec = _split(text.strip())
    if len(name) > NAME_LIMIT:
        raise AddressInvalid(f"The display name is longer than {NAME_LIMIT} characters.")
    local, domain = _parse_spec(spec)
    addr_spec = f"{local}@{domain}"
    if len(addr_spec.encode()) > ADDRESS_LIMIT:
        raise AddressInvalid(f"The address is longer than {ADDRESS_LIMIT} octets.")
    return Address(name=name, local=local, domain=domain, spec=addr_spec, needs_smtputf8=not local.isascii())


def address_key(spec: str) -> str:
    """The lookup key of an address, equal for spellings that differ in letter case or in the encoding of the domain.

    Raises AddressInvalid.
    """
    return parsed_address_key(parse_address(spec))


def parsed_address_key(address: Address) -> str:
    """The lookup key of a parsed address (see `address_key`): `local@domain` in lower case."""
    return f"{_lower(address.local)}@{address.domain}"


def without_subaddress(spec: str) -> str:
    """The address without its subaddress (RFC 5233): limits count `ada+1@…` and `ada@…` together."""
    local, _, domain = spec.rpartition("@")
    return f"{local.partition('+')[0] or local}@{domain}"


def _lower(local: str) -> str:
    """Lower-case without Unicode case folding, which would equate `ß` with `ss` and `ſ` with `s`.

    Those are different mailboxes, and the owner of one must not be taken for the owner of the other.
    """
    return local.lower()


def normalize_part(text: str) -> str:
    """Normalize a part of an address for substring search: `@Bücher.example` becomes `@xn--bcher-kva.example`.

    Raises nothing: a text that is not a complete domain is only written in lower case.
    """
    local, at, domain = _lower(text).rpartition("@")
    try:
        return f"{local}@{parse_domain_name(domain)}" if at and not domain.isascii() else f"{local}{at}{domain}"
    except AddressInvalid:  # An incomplete domain cannot be converted to A-labels.
        return f"{local}@{domain}"


def parse_domain_name(text: str) -> str:
    """The domain name in lower-case A-labels. Raises AddressInvalid."""
    if CONTROL.search(text):
        raise AddressInvalid("A domain must not contain line breaks or control characters.")
    return _parse_spec(f"postmaster@{text.strip().rstrip('.')}")[1]


_NAMED = re.compile(r"^(?P<name>[^<>]*)<(?P<spec>[^<>]*)>$")


def _split(text: str) -> tuple[str, str]:
    """Split into display name and addr-spec."""
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
    """The local part and the A-label domain of an addr-spec.

    Most local parts are plain ASCII and many recipients share a domain, so the domain is validated once and cached.
    """
    local, at, domain = spec.rpartition("@")
    if at and len(local) <= LOCAL_LIMIT and _PLAIN_LOCAL.fullmatch(local):
        try:
            return local, _validate_spec(f"{_PLACEHOLDER_LOCAL}@{domain}")[1]
        except AddressInvalid:
            pass  # Validated again below with its local part, so that the message shows the complete address.
    return _validate_spec(spec)


_PLACEHOLDER_LOCAL = "a"
"""Replaces plain local parts for the validation, so that the cache has one entry per domain."""


@lru_cache(maxsize=65_536)
def _validate_spec(spec: str) -> tuple[str, str]:
    from email_validator import EmailNotValidError, EmailSyntaxError, validate_email

    if spec.startswith('"'):
        raise AddressInvalid("Quoted local parts are not supported; write the address without quotes.")
    try:
        result = validate_email(spec, check_deliverability=False, test_environment=True, globally_deliverable=False)
    except EmailSyntaxError as error:
        raise AddressInvalid(f"{quote_input(spec)} is not an address: {error}") from None
    except EmailNotValidError as error:
        raise AddressInvalid(str(error)) from None
    if len(result.local_part.encode()) > LOCAL_LIMIT:
        raise AddressInvalid(f"The part before the @ is longer than {LOCAL_LIMIT} octets.")
    return result.local_part, _a_label(result.domain)


def _a_label(domain: str) -> str:
    """The domain with every label in lower-case ASCII (RFC 5891)."""
    if domain.isascii():
        return domain.lower()
    try:
        return idna.encode(domain, uts46=True, transitional=False).decode("ascii").lower()
    except idna.IDNAError as error:
        raise AddressInvalid(f"{quote_input(domain)} is not a domain name: {error}.") from None


def quote_input(text: str) -> str:
    """Quote the caller's text in a message, truncated to 80 characters."""
    return f"“{text if len(text) <= 80 else text[:79] + '…'}”"


def _phrase(name: str) -> str:
    if name.isascii() and "=?" not in name:
        return quote_phrase(name)
    return encode_words(name)
