"""The octets of SMTP: replies read, addresses and messages written (RFC 5321)."""

import re

import idna
import msgspec

LONGEST_LINE = 2_048
"""Octets of one reply line. RFC 5321 §4.5.3.1.5 says 512; real servers need a little more."""
MOST_LINES = 100
"""Lines of one reply."""
LONGEST_ADDRESS = 320
"""Octets of one address: 64 of local part, `@`, 255 of domain (RFC 5321 §4.5.3.1)."""

_ENHANCED = re.compile(r"([245]\.\d{1,3}\.\d{1,3})(?:[ \t]|$)")
_ADDRESS = re.compile(
    r'(?:"(?:[^"\\\x00-\x1f\x7f-\x9f]|\\[\x20-\x7e])*"|[^\s<>"\\@,;:\x00-\x1f\x7f-\x9f]+)'
    r"@[^\s<>\"\\@\x00-\x1f\x7f-\x9f]+"
)


class SmtpSyntaxError(Exception):
    """What the peer says is no SMTP."""


class SmtpReply(msgspec.Struct, frozen=True, gc=False):
    """One reply: its code, its enhanced code where it has one, its lines without either."""

    code: int
    enhanced: str
    text: str

    @property
    def good(self) -> bool:
        """Whether it is a 2xx."""
        return 200 <= self.code < 300


class ReplyReader:
    """Cuts what arrives into replies, in memory that the peer cannot make grow."""

    def __init__(self) -> None:
        self._torn = b""
        self._lines: list[bytes] = []

    def feed(self, data: bytes) -> list[SmtpReply]:
        """The replies that `data` completes. Raises SmtpSyntaxError where it cannot be SMTP."""
        *lines, self._torn = (self._torn + data).split(b"\n")
        if len(self._torn) > LONGEST_LINE:
            raise SmtpSyntaxError(f"A reply line of more than {LONGEST_LINE} octets.")
        return [reply for line in lines if (reply := self._add(line))]

    def _add(self, line: bytes) -> SmtpReply | None:
        line = line.removesuffix(b"\r")
        code, separator = line[:3], line[3:4]
        if len(line) > LONGEST_LINE or not code.isdigit() or not b"200" <= code <= b"599":
            raise SmtpSyntaxError(f"No reply line: {line[:80].decode('ascii', 'backslashreplace')}")
        if separator not in (b" ", b"-", b"") or (self._lines and self._lines[0][:3] != code):
            raise SmtpSyntaxError(f"A torn reply: {line[:80].decode('ascii', 'backslashreplace')}")
        self._lines.append(line)
        if len(self._lines) > MOST_LINES:
            raise SmtpSyntaxError(f"A reply of more than {MOST_LINES} lines.")
        if separator == b"-":
            return None
        lines, self._lines = self._lines, []
        return _reply(lines)


def _reply(lines: list[bytes]) -> SmtpReply:
    """RFC 2034 §4: every line of a reply repeats the enhanced code, and its class is the code's."""
    code = int(lines[0][:3])
    texts = [line[4:].decode("utf-8", "replace") for line in lines]
    found = _ENHANCED.match(texts[-1])
    if not found or found[1][0] != str(code)[0]:
        return SmtpReply(code, "", "\n".join(texts))
    enhanced = found[1]
    return SmtpReply(code, enhanced, "\n".join(text.removeprefix(enhanced).lstrip() for text in texts))


def spelled(address: str, *, smtputf8: bool) -> bytes | None:
    """An address as it stands between `<` and `>`, or None where that takes SMTPUTF8 and there is none.

    A domain is written in ASCII when the local part is ASCII (RFC 5891 §4.4), so that any server takes it.
    Raises ValueError for what is no address at all.
    """
    if len(address) > LONGEST_ADDRESS or not _ADDRESS.fullmatch(address):
        raise ValueError(address)
    if address.isascii():
        return address.encode("ascii")
    local, _, domain = address.rpartition("@")
    if local.isascii():
        return local.encode("ascii") + b"@" + idna.encode(domain, uts46=True)
    return address.encode("utf-8") if smtputf8 else None


def dot_stuffed(message: bytes) -> bytes:
    """A message as it follows DATA, without the final dot (RFC 5321 §4.5.2)."""
    if message.startswith(b"."):
        message = b"." + message
    if b"\r\n." in message:
        message = message.replace(b"\r\n.", b"\r\n..")
    return message if message.endswith(b"\r\n") else message + b"\r\n"
