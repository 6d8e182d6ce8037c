"""A strict parser for messages from outside: MIME parts, header fields, address lists and texts.

It follows RFC 5322, RFC 2045 to 2047, RFC 2231 and RFC 6532, and accepts deviations of common programs. Size and number
of fields, parts and depth are limited, and the time is proportional to the size. A message must have CRLF line ends.
"""

import codecs
import re
from binascii import Error as Base64Error
from binascii import a2b_base64, a2b_qp
from collections.abc import Iterator
from email.message import Message as ParameterReader
from typing import Final

import msgspec

FIELDS_OCTETS: Final = 512 * 1024
"""Octets of all header fields of a message and its parts."""
FIELDS_LIMIT: Final = 1_000
"""Header fields of a message and its parts."""
STRUCTURED_OCTETS: Final = 4_096
"""Octets of a Content-Type or Content-Disposition field, whose parameters take quadratic time to parse."""
STRUCTURED_TOTAL: Final = 64 * 1024
"""Octets of all these fields of a message and its parts."""
DELIMITERS_LIMIT: Final = 100_000
"""Occurrences of the delimiters of multiparts, also in the texts of their parts."""
PARTS_LIMIT: Final = 200
"""Parts of a message, multiparts included."""
DEPTH_LIMIT: Final = 20
"""Depth of nested multiparts."""
BOUNDARY_LIMIT: Final = 200
"""Characters of a boundary; RFC 2046 §5.1.1 allows 70."""

_FIELD = re.compile(rb"([\x21-\x39\x3b-\x7e]+)[ \t]*:((?:[^\r]++|\r\n[ \t])*+)\r\n")
_FOLD = re.compile(r"\r\n(?=[ \t])")
_ENCODED_WORD = re.compile(r"=\?([!->@-~]{1,60})\?([BbQq])\?([!->@-~]*)\?=")
_CHARSET_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9_.:+-]{0,39}")
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]+")
_MEDIA_TYPE = re.compile(r"[\w!#$&^.+-]{1,100}/[\w!#$&^.+-]{1,100}", re.ASCII)

CHARSET_ALIASES = {
    # As browsers and mail clients read these names (WHATWG Encoding §4.2).
    "iso-8859-1": "cp1252",
    "latin1": "cp1252",
    "ks_c_5601-1987": "cp949",
    "ks_c_5601": "cp949",
    "gb2312": "gb18030",
    "gbk": "gb18030",
    "iso-8859-8-i": "iso-8859-8",
    "shift_jis": "cp932",
    "x-sjis": "cp932",
    "macintosh": "mac-roman",
    "x-mac-roman": "mac-roman",
}
UNUSABLE_CODECS = frozenset(("utf-7", "idna", "punycode", "unicode-escape", "raw-unicode-escape", "undefined"))
"""Python's codecs that are no charsets of messages, or that let a text hide characters from checks."""


class MimeInvalid(Exception):
    """The message cannot be parsed; the message of the exception says where and why."""


class MimePart(msgspec.Struct, frozen=True, kw_only=True):
    """A part of a message, or the message itself."""

    fields: list[tuple[str, str]]
    """Name and value of each header field, in order. Values are unfolded, and their encoded-words are not decoded."""
    content_type: str
    """Type and subtype in lower case, without parameters."""
    parameters: dict[str, str]
    """The parameters of Content-Type; names are in lower case."""
    body: memoryview
    """The octets between the header and the next boundary, with the transfer encoding."""
    parts: list["MimePart"] = []

    def all(self, name: str) -> list[str]:
        """The values of all header fields with this name."""
        lower = name.lower()
        return [value for field, value in self.fields if field.lower() == lower]

    def get(self, name: str) -> str:
        """The value of the first header field with this name; an empty string without one."""
        return next(iter(self.all(name)), "")

    @property
    def disposition(self) -> str:
        """`attachment`, `inline`, another value in lower case, or an empty string."""
        return self.get("Content-Disposition").partition(";")[0].strip().lower()

    @property
    def filename(self) -> str:
        """The file name in Content-Disposition or Content-Type, decoded; an empty string without one."""
        reader = ParameterReader()
        reader["Content-Type"], reader["Content-Disposition"] = (
            self.get("Content-Type"),
            self.get("Content-Disposition"),
        )
        try:
            name = reader.get_filename("")
        except (TypeError, ValueError):  # The reader fails for parameters in contradictory parts (RFC 2231 §3).
            name = ""
        # Outlook and others write encoded-words into the parameter, against RFC 2047 §5.
        return _CONTROLS.sub(" ", decode_words(name)).strip()

    @property
    def content_id(self) -> str:
        """The Content-ID without angle brackets."""
        return self.get("Content-ID").strip().removeprefix("<").removesuffix(">").strip()

    def decoded_body(self) -> bytes:
        """The body without its transfer encoding (RFC 2045 §6). Raises MimeInvalid."""
        encoding = self.get("Content-Transfer-Encoding").partition(";")[0].strip().lower()
        if encoding in ("", "7bit", "8bit", "binary"):
            return bytes(self.body)
        if encoding == "quoted-printable":
            return a2b_qp(self.body)
        if encoding != "base64":
            raise MimeInvalid(f"Content-Transfer-Encoding: {encoding[:50]} is not supported.")
        try:
            return a2b_base64(self.body)
        except Base64Error:
            raise MimeInvalid("Content-Transfer-Encoding: a part is not valid base64.") from None

    def text(self) -> str:
        """The body as text, with line feeds as line ends. Octets that the charset does not have are replaced.

        Raises MimeInvalid.
        """
        return decode_text(self.decoded_body(), self.parameters.get("charset", "")).replace("\r\n", "\n")


class _Budget:
    """How much of each limit is left while a message is parsed."""

    def __init__(self) -> None:
        self.octets, self.fields, self.parts = FIELDS_OCTETS, FIELDS_LIMIT, PARTS_LIMIT
        self.structured, self.delimiters = STRUCTURED_TOTAL, DELIMITERS_LIMIT


def parse_message(content: bytes) -> MimePart:
    """Parse a message with all its parts. Raises MimeInvalid."""
    return _parse_part(content, 0, len(content), _Budget(), 0)


def _parse_part(content: bytes, start: int, end: int, budget: _Budget, depth: int) -> MimePart:
    budget.parts -= 1
    if budget.parts < 0:
        raise MimeInvalid(f"A message can have at most {PARTS_LIMIT} parts.")
    fields, body_start = _parse_fields(content, start, end, budget)
    by_name = {name.lower(): value for name, value in reversed(fields)}
    budget.structured -= len(by_name.get("content-type", "")) + len(by_name.get("content-disposition", ""))
    if budget.structured < 0:
        limit = STRUCTURED_TOTAL // 1024
        raise MimeInvalid(f"The fields Content-Type and Content-Disposition together can have at most {limit} KiB.")
    content_type, parameters = _parse_content_type(by_name.get("content-type", ""))
    if len(by_name.get("content-disposition", "")) > STRUCTURED_OCTETS:
        raise MimeInvalid(f"Content-Disposition: the field is longer than {STRUCTURED_OCTETS} characters.")
    parts: list[MimePart] = []
    if content_type.startswith("multipart/"):
        if depth == DEPTH_LIMIT:
            raise MimeInvalid(f"Parts can be nested at most {DEPTH_LIMIT} times.")
        boundary = parameters.get("boundary", "").rstrip(" ")
        if not 0 < len(boundary) <= BOUNDARY_LIMIT:
            raise MimeInvalid("Content-Type: a multipart needs a boundary.")
        delimiter = b"--" + boundary.encode("utf-8", "surrogateescape")
        parts = [
            _parse_part(content, part_start, part_end, budget, depth + 1)
            for part_start, part_end in _split_parts(content, body_start, end, delimiter, budget)
        ]
    return MimePart(
        fields=fields,
        content_type=content_type,
        parameters=parameters,
        body=memoryview(content)[body_start:end],
        parts=parts,
    )


def _parse_fields(content: bytes, start: int, end: int, budget: _Budget) -> tuple[list[tuple[str, str]], int]:
    """The header fields, and where the body begins."""
    if content.startswith(b"\r\n", start, end):
        return [], start + 2
    head_end = content.find(b"\r\n\r\n", start, end)
    body_start = end if head_end < 0 else head_end + 4
    head_end = end if head_end < 0 else head_end + 2
    budget.octets -= head_end - start
    if budget.octets < 0:
        raise MimeInvalid(f"The header fields together can have at most {FIELDS_OCTETS // 1024} KiB.")
    head = content[start:head_end]
    if head and not head.endswith(b"\r\n"):
        head += b"\r\n"
    fields: list[tuple[str, str]] = []
    position = 0
    while position < len(head):
        match = _FIELD.match(head, position)
        if match is None:
            line = head[position:].partition(b"\r\n")[0][:80].decode("ascii", "backslashreplace")
            raise MimeInvalid(f"This line is not a header field: {line}")
        budget.fields -= 1
        if budget.fields < 0:
            raise MimeInvalid(f"A message can have at most {FIELDS_LIMIT} header fields.")
        fields.append((match[1].decode("ascii"), _FOLD.sub("", _decode_octets(match[2])).strip(" \t")))
        position = match.end()
    return fields, body_start


def _parse_content_type(value: str) -> tuple[str, dict[str, str]]:
    """Type and parameters; `text/plain` if the field is missing or malformed (RFC 2045 §5.2)."""
    if len(value) > STRUCTURED_OCTETS:
        raise MimeInvalid(f"Content-Type: the field is longer than {STRUCTURED_OCTETS} characters.")
    media_type = value.partition(";")[0].strip().lower()
    if not _MEDIA_TYPE.fullmatch(media_type):
        return "text/plain", {}
    reader = ParameterReader()
    reader["Content-Type"] = value
    parameters: dict[str, str] = {}
    try:
        read = (reader.get_params() or [])[1:]
    except (TypeError, ValueError):  # As for the file name above.
        return media_type, {}
    for name, text in read:
        # RFC 2231 §4: charset, language and value.
        decoded = decode_text(text[2].encode("latin-1", "replace"), text[0] or "") if isinstance(text, tuple) else text
        parameters.setdefault(name.lower(), decoded)
    return media_type, parameters


def _split_parts(content: bytes, start: int, end: int, delimiter: bytes, budget: _Budget) -> Iterator[tuple[int, int]]:
    """Start and end of each part of a multipart (RFC 2046 §5.1.1). Without a closing delimiter, the last part ends with
    the multipart."""
    part_start = -1
    position = start
    while True:
        delimiter_start = content.find(delimiter, position, end)
        if delimiter_start < 0:
            break
        budget.delimiters -= 1
        if budget.delimiters < 0:
            raise MimeInvalid(f"The delimiters of parts can occur at most {DELIMITERS_LIMIT:,} times.")
        position = delimiter_start + len(delimiter)
        if delimiter_start != start and not content.startswith(b"\r\n", delimiter_start - 2):
            continue  # Text that contains the delimiter. Its line may be long, so the line's end is not searched.
        line_end = content.find(b"\r\n", position, end)
        line_end = end if line_end < 0 else line_end
        rest = content[position : min(line_end, position + BOUNDARY_LIMIT)]
        is_closing = rest.startswith(b"--")
        if rest.removeprefix(b"--" if is_closing else b"").strip(b" \t"):
            continue  # Another boundary that begins with this one.
        if part_start >= 0:
            yield part_start, max(part_start, delimiter_start - 2)
        if is_closing:
            return
        part_start = min(line_end + 2, end)
    if part_start >= 0:
        yield part_start, end


def decode_text(octets: bytes | bytearray, charset: str) -> str:
    """Decode text whose charset is declared (an empty string if it is not).

    A charset that is missing, unknown or wrong is guessed as UTF-8, or else as Windows-1252. Octets that the charset
    does not have become U+FFFD.
    """
    name = charset.partition("*")[0].strip().strip('"').lower()
    codec = _codec_of(name)
    if codec is None or codec.name in ("ascii", "utf-8"):
        return _decode_octets(octets)
    return codec.decode(octets, "replace")[0]


def _codec_of(charset: str) -> codecs.CodecInfo | None:
    if not _CHARSET_NAME.fullmatch(charset):
        return None
    try:
        codec = codecs.lookup(CHARSET_ALIASES.get(charset, charset))
    except (LookupError, ValueError):
        return None
    is_charset = getattr(codec, "_is_text_encoding", True) and codec.name not in UNUSABLE_CODECS
    return codec if is_charset else None


def _decode_octets(octets: bytes | bytearray) -> str:
    try:
        return octets.decode()
    except UnicodeDecodeError:
        return octets.decode("cp1252", "replace")


def decode_words(text: str) -> str:
    """The text of a header field with its encoded-words decoded (RFC 2047).

    Spaces between adjacent encoded-words are removed. Adjacent ones with the same charset are decoded together, because
    some programs split a character between two of them.
    """
    if "=?" not in text:
        return text
    segments: list[tuple[str, bytearray | str]] = []
    position = 0
    for match in _ENCODED_WORD.finditer(text):
        between = text[position : match.start()]
        position = match.end()
        if between.strip() or not segments:
            segments.append(("", between))
        charset, octets = match[1].lower(), _decode_word(match[2].lower(), match[3])
        last = segments[-1]
        if isinstance(last[1], bytearray) and last[0] == charset:
            last[1].extend(octets)
        else:
            segments.append((charset, bytearray(octets)))
    segments.append(("", text[position:]))
    return "".join(
        [segment if isinstance(segment, str) else decode_text(segment, charset) for charset, segment in segments]
    )


def _decode_word(encoding: str, text: str) -> bytes:
    if encoding == "q":
        return a2b_qp(text.encode(), header=True)
    try:
        return a2b_base64(text + "=" * (-len(text) % 4))
    except Base64Error:
        return text.encode()


class Mailbox(msgspec.Struct, frozen=True):
    """A mailbox of an address list: its display name, decoded, and its address as written."""

    name: str
    spec: str

    def __str__(self) -> str:
        """`"Name" <spec>`, with the name always quoted; or only `spec` without a name."""
        if not self.name:
            return self.spec
        escaped = self.name.replace("\\", "\\\\").replace('"', '\\"')
        return f'"{escaped}" <{self.spec}>'


_ADDRESS_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[(),:;<>]|\\.?|[^"(),:;<>\\]+|"', re.DOTALL)


def parse_mailboxes(text: str) -> list[Mailbox]:
    """The mailboxes of an address list (RFC 5322 §3.4), also those in groups. Addresses are not checked.

    A comment is taken as the display name if there is no other. Encoded-words are decoded after the list is split, so
    that a comma in a name does not separate.
    """
    mailboxes: list[Mailbox] = []
    words, spec, comment, depth, in_angle = "", None, "", 0, False

    def finish() -> None:
        nonlocal words, spec, comment, in_angle
        name = _display_name(words if spec is not None else comment)
        address = (spec if spec is not None else words).strip()
        if address or name:
            mailboxes.append(Mailbox(name or (_display_name(comment) if spec is not None else ""), address))
        words, spec, comment, in_angle = "", None, "", False

    for piece in _ADDRESS_PIECE.findall(text):
        if in_angle:
            if piece == ">":
                in_angle = False
            else:
                # A colon ends a source route (RFC 5322 §4.4).
                spec = "" if piece == ":" else f"{spec}{piece}"
        elif piece == "(":
            depth += 1
        elif depth:
            depth -= piece == ")"
            comment += "" if piece == ")" else piece
        elif piece in (",", ";"):
            finish()
        elif piece == "<" and spec is None:
            spec, in_angle = "", True
        elif piece == ":":
            words = ""  # The name of a group.
        elif spec is None:
            words += piece
    finish()
    return mailboxes


def _display_name(text: str) -> str:
    """A display name without quotes and escapes, decoded, on one line."""
    # A quote without an end is matched to the end of the text, and kept: to search again from each later quote takes
    # quadratic time.
    text = re.sub(
        r'"((?:[^"\\]++|\\.)*+)("?)', lambda match: re.sub(r"\\(.)", r"\1", match[1]) if match[2] else match[0], text
    )
    return re.sub(r" +", " ", _CONTROLS.sub(" ", decode_words(text))).strip()
