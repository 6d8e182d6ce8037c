"""Header fields: validation, encoding and folding (RFC 5322, RFC 2047)."""

import re
from binascii import b2a_base64
from typing import Final

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
        """An error for the field that the API calls `field`."""
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
    HeaderInvalid if a line would be longer than 998 octets.
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


def unstructured(name: str, value: str) -> str:
    """An unstructured field (Subject etc.): encoded if necessary, folded, with CRLF. Raises HeaderInvalid."""
    value = check_value(name, value)
    # A value that looks like an encoded-word would be decoded by the mail client, so it is encoded itself.
    if value.isascii() and "=?" not in value and not _has_long_token(name, value):
        return fold(name, value)
    if len(value) > FIELD_LIMIT:
        raise HeaderInvalid.at(name, f"the value is longer than {FIELD_LIMIT} characters.")
    return fold(name, encode_words(value, first=FOLD_AT - len(name) - 2))


def _has_long_token(name: str, value: str) -> bool:
    room = LINE_LIMIT - len(name) - 2
    return len(value) > room and any(len(token) > room for token in value.split(" "))


def encode_words(text: str, first: int = WORD_LIMIT) -> str:
    """`text` as RFC 2047 encoded-words separated by one space, which mail clients drop when decoding.

    Every word holds whole characters and has at most 75 characters, the first one at most `first`.
    """
    raw = text.encode()
    unescaped = sum(octet in _Q_SAFE or octet == 0x20 for octet in raw)
    use_q = unescaped + 3 * (len(raw) - unescaped) <= (len(raw) + 2) // 3 * 4
    words: list[str] = []
    capacity, chunk, used = min(first, WORD_LIMIT) - len("=?utf-8?q??="), bytearray(), 0
    for character in text:
        octets = character.encode()
        cost = sum(1 if octet in _Q_SAFE or octet == 0x20 else 3 for octet in octets) if use_q else len(octets)
        if chunk and (used + cost if use_q else (used + cost + 2) // 3 * 4) > capacity:
            words.append(_word(bytes(chunk), use_q))
            capacity, chunk, used = WORD_LIMIT - len("=?utf-8?q??="), bytearray(), 0
        chunk += octets
        used += cost
    words.append(_word(bytes(chunk), use_q))
    return " ".join(words)


def _word(octets: bytes, use_q: bool) -> str:
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
