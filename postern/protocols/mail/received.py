"""A tolerant reader for received messages (RFC 5322, MIME), with limits for size, depth, parts and fields.

It takes linear time and raises nothing: what cannot be read is left out or kept as text. The standard library's parser
takes quadratic time on hostile input and overflows its stack on nested parts. `mime_parser` is the strict reader.
"""

import binascii
import re
import string
from base64 import b64decode
from collections.abc import Iterator
from email.errors import HeaderParseError
from email.header import decode_header
from html import unescape
from typing import Final

import msgspec

DEPTH_LIMIT = 8
"""Multiparts and messages that are nested deeper are not opened."""
PARTS_LIMIT = 200
"""Further parts are left out."""
HEADER_OCTETS = 262_144
"""The rest of a longer header is left out."""
FIELDS_LIMIT = 1_000
"""Further fields of a header are left out."""
FIELD_CHARACTERS = 8_192
"""Longer values of fields are cut."""
WORDS_CHARACTERS = 2_000
"""The rest of a longer value with encoded words is left out."""
TEXT_OCTETS = 262_144
"""The rest of a longer text is left out."""

_END_OF_HEADER = re.compile(rb"\r?\n\r?\n|\A\r?\n")
_NO_FIELD = re.compile(rb"\n(?![\x21-\x39\x3b-\x7e]{1,100}[ \t]*:|[ \t]|\r?\n|\Z)")
"""The line end before the first line that cannot be in a header, because the blank line after the header is missing."""
_PARAMETER = re.compile(r';\s{0,99}([\w!#$&^.+-]{1,64})\s{0,99}=\s{0,99}("(?:[^"\\]|\\.){0,1000}"|[^\s;"]{0,1000})')
_CHARSET = re.compile(
    r"utf-?8|us-ascii|ascii|iso-8859-\d+|windows-\d+|cp\d+|koi8-[ru]|shift_jis|sjis|euc-\w+|gb2312|gbk|gb18030|big5"
    r"|iso-2022-\w+",
    re.IGNORECASE,
)
"""Charsets that are decoded, in linear time."""
_TAG = re.compile(r"<(?!\w[^\s<>@]{0,100}@)[^<>]{0,2000}>")
"""A tag of html, but not an address in angle brackets."""
_BREAK = re.compile(r"<(?:br|/p|/div|/tr|/li|/td|/h\d|p)\b[^<>]{0,500}>", re.IGNORECASE)


class MessagePart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a message that is not a multipart, or a whole message within it."""

    content_type: str
    """In lower case without parameters, such as `text/plain`."""
    parameters: dict[str, str]
    """The parameters of `Content-Type`, with names in lower case."""
    fields: tuple[tuple[str, str], ...]
    """The header of the part: names in lower case, and unfolded values."""
    content: bytes
    """The octets of the part, decoded from base64 or quoted-printable."""
    depth: int
    """How many multiparts and messages contain it."""

    def field(self, name: str) -> str:
        """The first value of a field, by its name in lower case; empty if there is none."""
        return next((value for field, value in self.fields if field == name), "")

    @property
    def text(self) -> str:
        """The text of the part; html without its tags. At most TEXT_OCTETS are read."""
        text = decode_text(self.content[:TEXT_OCTETS], self.parameters.get("charset", ""))
        return html_text(text) if self.content_type == "text/html" else text


class ReceivedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """A received message: its header, and its parts in their order."""

    fields: tuple[tuple[str, str], ...]
    content_type: str
    parameters: dict[str, str]
    parts: tuple[MessagePart, ...]
    """Parts that are not multiparts. A message within a message (`message/rfc822`) is one part, whose header and parts
    are not among them."""

    def field(self, name: str) -> str:
        """The first value of a field, by its name in lower case; empty if there is none."""
        return next((value for field, value in self.fields if field == name), "")

    @property
    def subject(self) -> str:
        """The subject with its encoded words (RFC 2047) decoded."""
        return decode_words(self.field("subject"))


def read_message(content: bytes) -> ReceivedMessage:
    """Read a message. Line endings may be CRLF or LF. The `From ` line of an mbox file is left out."""
    if content.startswith(b"From "):
        content = content.partition(b"\n")[2]
    fields, body = read_header(content)
    content_type, parameters = content_type_of(fields)
    parts: list[MessagePart] = []
    _read_parts(fields, body, depth=0, parts=parts)
    return ReceivedMessage(fields=fields, content_type=content_type, parameters=parameters, parts=tuple(parts))


def read_header(content: bytes) -> tuple[tuple[tuple[str, str], ...], bytes]:
    """The fields of a header and the octets after it. A line that is neither a field nor a continuation ends it."""
    end = _END_OF_HEADER.search(content, 0, HEADER_OCTETS)
    if end is not None:
        head, body = content[: end.start()], content[end.end() :]
    elif len(content) <= HEADER_OCTETS:
        head, body = content, b""
    else:
        # Other threads would wait while a regular expression searches all of a large message.
        blanks = (b"\n\n", b"\n\r\n")
        ends = [at + len(blank) for blank in blanks if (at := content.find(blank, HEADER_OCTETS - 3)) >= 0]
        head, body = content[:HEADER_OCTETS].rstrip(b"\r\n"), content[min(ends) :] if ends else b""
    head = re.sub(rb";[ \t]{0,100}\r?\n(?=[a-z-]{1,40}=)", b"; ", head)  # A parameter that should have been indented.
    wrong = _NO_FIELD.search(head)
    if wrong is not None:
        return tuple(read_fields(head[: wrong.start()])), head[wrong.end() :] + b"\r\n\r\n" + body
    return tuple(read_fields(head)), body


def read_fields(head: bytes) -> Iterator[tuple[str, str]]:
    """The fields of a block of lines: names in lower case, unfolded values without surrounding spaces."""
    unfolded = re.sub(rb"\r?\n[ \t]+", b" ", head[:HEADER_OCTETS])
    for line in unfolded.split(b"\n", FIELDS_LIMIT)[:FIELDS_LIMIT]:
        name, colon, value = line.partition(b":")
        name = name.strip()
        if colon and 0 < len(name) <= 100 and not re.search(rb"[^\x21-\x7e]", name):
            text = decode_text(value[:FIELD_CHARACTERS], "")
            yield name.decode("ascii").lower(), text.replace("\r", " ").strip()


def content_type_of(fields: tuple[tuple[str, str], ...]) -> tuple[str, dict[str, str]]:
    """The media type of a header in lower case, with its parameters; `text/plain` if it has none or an invalid one."""
    value = next((value for field, value in fields if field == "content-type"), "")
    media_type = value.partition(";")[0].strip().lower()
    if not re.fullmatch(r"[\w!#$&^.+-]{1,100}/[\w!#$&^.+-]{1,100}", media_type):
        return "text/plain", {}
    parameters: dict[str, str] = {}
    for name, text in _PARAMETER.findall(value):
        unquoted = re.sub(r"\\(.)", r"\1", text[1:-1]) if text.startswith('"') else text
        parameters.setdefault(name.lower(), unquoted)
    return media_type, parameters


def decode_text(octets: bytes, charset: str) -> str:
    """Octets as text without NUL: in this charset if it is known, otherwise in UTF-8. Invalid octets are replaced.

    ISO-2022-JP (RFC 1468) that is declared as ASCII or UTF-8 is recognised by its escape sequences.
    """
    known = charset if _CHARSET.fullmatch(charset.strip()) else "utf-8"
    if b"\x1b$" in octets and known.strip().lower() in ("utf-8", "us-ascii", "ascii"):
        known = "iso-2022-jp"
    try:
        text = octets.decode(known.strip(), "replace")
    except LookupError:
        text = octets.decode("utf-8", "replace")
    return text.replace("\0", "\N{REPLACEMENT CHARACTER}")


def decode_words(value: str) -> str:
    """The value of a field with its encoded words (RFC 2047) decoded, as far as they can be."""
    if "=?" not in value:
        return value
    try:
        chunks = decode_header(value[:WORDS_CHARACTERS])
    except (HeaderParseError, ValueError):
        return value
    return "".join(chunk if isinstance(chunk, str) else decode_text(chunk, charset or "") for chunk, charset in chunks)


def html_text(html: str) -> str:
    """The text of html, with a line break where an element ends a line."""
    return unescape(_TAG.sub(" ", _BREAK.sub("\n", html[:TEXT_OCTETS]))).replace("\N{NO-BREAK SPACE}", " ")


def _read_parts(fields: tuple[tuple[str, str], ...], body: bytes, *, depth: int, parts: list[MessagePart]) -> None:
    content_type, parameters = content_type_of(fields)
    boundary = parameters.get("boundary", "")
    if content_type.startswith("multipart/") and boundary and len(boundary) <= 200 and depth < DEPTH_LIMIT:
        sections = _sections(body, boundary)
        if not sections:  # The declared boundary does not occur.
            fields, content_type, parameters = (), "text/plain", {}
        for section in sections:
            if len(parts) >= PARTS_LIMIT:
                return
            part_fields, content = read_header(section)
            _read_parts(part_fields, content, depth=depth + 1, parts=parts)
        if sections:
            return
    parts.append(
        MessagePart(
            content_type=content_type,
            parameters=parameters,
            fields=fields,
            content=_decode(body, next((value for field, value in fields if field == "content-transfer-encoding"), "")),
            depth=depth,
        )
    )


def _sections(body: bytes, boundary: str) -> list[bytes]:
    """The body parts of a multipart (RFC 2046 §5.1.1), without preamble and epilogue. The last may lack its end."""
    delimiter = b"\n--" + boundary.encode("utf-8", "replace")
    pieces = (b"\n" + body).split(delimiter, PARTS_LIMIT + 1)
    sections: list[list[bytes]] = []
    for piece in pieces[1 : PARTS_LIMIT + 1]:
        if piece.startswith(b"--"):
            break
        line, _, section = piece.partition(b"\n")
        if line.strip():  # A longer boundary that begins with this one: the line belongs to the part before.
            if sections:
                sections[-1] += (delimiter, piece)
            continue
        sections.append([section])
    return [b"".join(section).removesuffix(b"\r") for section in sections]


def _decode(body: bytes, encoding: str) -> bytes:
    match encoding.strip().lower():
        case "base64":
            try:
                data = body.translate(None, _NOT_BASE64)
                return b64decode(data[: len(data) // 4 * 4] + (data[len(data) // 4 * 4 :] + b"==")[: _tail(data)])
            except (binascii.Error, ValueError):
                return body
        case "quoted-printable":
            return binascii.a2b_qp(body)
        case _:
            return body


_NOT_BASE64: Final = bytes(set(range(256)) - set(string.ascii_letters.encode() + string.digits.encode() + b"+/"))


def _tail(data: bytes) -> int:
    """The length of the padded last group of base64 characters: 0 if the groups before are complete."""
    return 4 if len(data) % 4 > 1 else 0
