"""The commands of an SMTP client as a server parses them, and its replies as it writes them (RFC 5321 §4.1, §4.2)."""

import binascii
import re
from base64 import b64decode
from ipaddress import IPv4Address, IPv6Address

import msgspec

from postern.protocols.mail.address import ADDRESS_LIMIT, AddressInvalid, parse_domain_name
from postern.protocols.mail.smtp import SmtpReply

REPLY_TEXT_LIMIT = 450
"""Characters of text in one line of a reply; with its codes and CRLF it has less than 512 octets (RFC 5321
§4.5.3.1.5)."""
REPLY_LINES_LIMIT = 10
"""Lines of a reply to a command other than EHLO; a longer text is cut."""
PARAMETERS_LIMIT = 20
"""Parameters of a MAIL or RCPT command."""

_PATH = re.compile(r'\s*<(?P<mailbox>(?:"(?:[^"\\]|\\.)*"|[^<>"\\])*)>(?: +(?P<parameters>.*))?')
_SOURCE_ROUTE = re.compile(r"@[^:\s]+:")
_PARAMETER = re.compile(
    r"(?P<name>[A-Za-z0-9][A-Za-z0-9-]*)(?:=(?P<value>[^=\s\x00-\x1f\x7f]+(?:=[^\s\x00-\x1f\x7f]*)?))?"
)
_LOCAL = re.compile(r'[^\s()<>\[\]:;@\\,"\x00-\x1f\x7f-\x9f]+')
_QUOTED_LOCAL = re.compile(r'"(?:[^"\\\x00-\x1f\x7f-\x9f]|\\[\x20-\x7e])*"')
_LITERAL = re.compile(r"\[(?:(?P<ipv4>[0-9.]{7,15})|IPv6:(?P<ipv6>[0-9A-Fa-f:.]{2,45}))\]", re.IGNORECASE)
_HELLO = re.compile(r"[^\s<>\x00-\x1f\x7f]{1,255}")
_UNPRINTABLE = re.compile(r"[^\x20-\x7e]+")


class CommandRefused(Exception):
    """A command that cannot be executed, with the reply to it."""

    def __init__(self, code: int, enhanced: str, text: str) -> None:
        super().__init__(text)
        self.reply = SmtpReply(code, enhanced, text)

    @classmethod
    def of(cls, reply: SmtpReply) -> "CommandRefused":
        """The refusal with this reply."""
        return cls(reply.code, reply.enhanced, reply.text)


class MailPath(msgspec.Struct, frozen=True, gc=False):
    """The argument of a MAIL or RCPT command."""

    address: str
    """The address with its domain in A-labels; an empty string for the null reverse-path `<>`."""
    parameters: dict[str, str]
    """The parameters; names are in upper case, and values without `=` are empty strings."""


def parse_path(argument: str, keyword: str, *, smtputf8: bool) -> MailPath:
    """Parse the argument of MAIL (`keyword` is `FROM`) or RCPT (`TO`), RFC 5321 §4.1.1.2 and §4.1.1.3.

    `smtputf8` says whether the transaction may have addresses that are not ASCII; for MAIL, its own parameter counts
    too (RFC 6531 §3.4). Spaces after the colon are accepted, because many clients send them. Raises CommandRefused.
    """
    enhanced = "5.1.7" if keyword == "FROM" else "5.1.3"
    head, colon, rest = argument.partition(":")
    match = _PATH.fullmatch(rest) if colon and head.strip().upper() == keyword else None
    if match is None:
        raise CommandRefused(501, "5.5.4", f"Syntax: {'MAIL' if keyword == 'FROM' else 'RCPT'} {keyword}:<address>")
    parameters = parse_parameters(match["parameters"] or "")
    smtputf8 = smtputf8 or (keyword == "FROM" and "SMTPUTF8" in parameters)
    return MailPath(_mailbox(match["mailbox"], keyword, enhanced, smtputf8=smtputf8), parameters)


def parse_parameters(text: str) -> dict[str, str]:
    """The ESMTP parameters of a command. Raises CommandRefused."""
    words = text.split()
    if len(words) > PARAMETERS_LIMIT:
        raise CommandRefused(501, "5.5.4", f"A command can have at most {PARAMETERS_LIMIT} parameters.")
    parameters: dict[str, str] = {}
    for word in words:
        match = _PARAMETER.fullmatch(word)
        if match is None or match["name"].upper() in parameters:
            raise CommandRefused(501, "5.5.4", "A parameter of the command is malformed or repeated.")
        parameters[match["name"].upper()] = match["value"] or ""
    return parameters


def _mailbox(text: str, keyword: str, enhanced: str, *, smtputf8: bool) -> str:
    if not text:
        if keyword == "FROM":
            return ""
        raise CommandRefused(501, "5.1.3", "The address is empty.")
    if not text.isascii() and not smtputf8:
        # RFC 6531 §3.5.
        raise CommandRefused(553, "5.6.7", "An address that is not ASCII needs the parameter SMTPUTF8 of MAIL.")
    text = _SOURCE_ROUTE.sub("", text, count=1) if text.startswith("@") else text
    local, at, domain = text.rpartition("@")
    if not at and keyword == "TO" and text.lower() == "postmaster":
        return text  # RFC 5321 §4.5.1.
    if not at or not (_LOCAL.fullmatch(local) or _QUOTED_LOCAL.fullmatch(local)):
        raise CommandRefused(501, enhanced, "This is not an address: write local@domain in angle brackets.")
    try:
        domain = _address_literal(domain) if domain.startswith("[") else parse_domain_name(domain)
    except (AddressInvalid, ValueError):
        raise CommandRefused(501, enhanced, "The domain of the address is not valid.") from None
    address = f"{local}@{domain}"
    if len(address.encode()) > ADDRESS_LIMIT:
        raise CommandRefused(501, enhanced, f"The address is longer than {ADDRESS_LIMIT} octets.")
    return address


def _address_literal(text: str) -> str:
    """An address literal (RFC 5321 §4.1.3) with an IP address. Raises ValueError."""
    match = _LITERAL.fullmatch(text)
    if match is None:
        raise ValueError(text)
    if match["ipv4"]:
        return f"[{IPv4Address(match['ipv4'])}]"
    return f"[IPv6:{IPv6Address(match['ipv6'])}]"


def parse_hello(argument: str) -> str:
    """The name that a client gives in EHLO or HELO: any printable text without spaces. Raises CommandRefused."""
    name = argument.strip()
    if not _HELLO.fullmatch(name):
        raise CommandRefused(501, "5.5.4", "Syntax: EHLO name")
    return name


def parse_size(parameters: dict[str, str]) -> int:
    """The octets that a MAIL command declares (RFC 1870); 0 if it declares none. Raises CommandRefused."""
    text = parameters.get("SIZE")
    if text is None:
        return 0
    if not text.isascii() or not text.isdigit() or len(text) > 20:
        raise CommandRefused(501, "5.5.4", "SIZE must be a number of octets.")
    return int(text)


def parse_chunk(argument: str) -> tuple[int, bool]:
    """The octets of a BDAT command, and whether it is the last one (RFC 3030 §2). Raises CommandRefused."""
    size, _, last = argument.strip().partition(" ")
    if not size.isascii() or not size.isdigit() or len(size) > 20 or last.strip().upper() not in ("", "LAST"):
        raise CommandRefused(501, "5.5.4", "Syntax: BDAT octets [LAST]")
    return int(size), bool(last)


def decode_credential(line: str) -> str:
    """The text of a base64 line of the AUTH dialogue (RFC 4954 §4). Raises CommandRefused."""
    try:
        return b64decode("" if line == "=" else line, validate=True).decode()
    except (binascii.Error, ValueError):
        raise CommandRefused(501, "5.5.2", "The response to AUTH must be UTF-8 text in base64.") from None


def parse_plain(response: str) -> tuple[str, str]:
    """User and password of the mechanism PLAIN (RFC 4616). Raises CommandRefused, also if one user asks to act as
    another."""
    acting_as, _, rest = response.partition("\0")
    user, separator, password = rest.partition("\0")
    if not separator or "\0" in password:
        raise CommandRefused(501, "5.5.2", "The response to AUTH PLAIN must have the form NUL user NUL password.")
    if acting_as not in ("", user):
        raise CommandRefused(535, "5.7.8", "A user cannot act as another one.")
    return user, password


def encode_reply(reply: SmtpReply) -> bytes:
    """A reply as sent, in ASCII (RFC 5321 §4.2), with its enhanced code on each line (RFC 2034 §4)."""
    text = _UNPRINTABLE.sub(_escaped, reply.text)
    prefix = f"{reply.enhanced} " if reply.enhanced else ""
    if len(text) <= REPLY_TEXT_LIMIT:
        return f"{reply.code} {prefix}{text}\r\n".encode()
    lines: list[str] = []
    while text and len(lines) < REPLY_LINES_LIMIT:
        # At a space if there is one in the second half of the line, so that no word is broken.
        end = text.rfind(" ", REPLY_TEXT_LIMIT // 2, REPLY_TEXT_LIMIT) if len(text) > REPLY_TEXT_LIMIT else -1
        end = REPLY_TEXT_LIMIT if end < 0 else end
        lines.append(f"{prefix}{text[:end]}")
        text = text[end:].lstrip()
    return encode_lines(reply.code, lines)


def encode_lines(code: int, lines: list[str]) -> bytes:
    """A reply of several lines, which are ASCII."""
    last = len(lines) - 1
    return "".join([f"{code}{' ' if number == last else '-'}{line}\r\n" for number, line in enumerate(lines)]).encode()


def _escaped(match: re.Match[str]) -> str:
    """Text that is not printable ASCII, for a reply: line breaks and tabs become a space."""
    return " " if match[0].isspace() else match[0].encode("unicode_escape").decode()
