"""Messages as bytes (RFC 5322, RFC 2045 to 2049, RFC 2231).

`compile_message` does once what all copies share; `Skeleton.fill` makes one copy. A text is written in the shortest of
7bit, quoted-printable and base64 that survives any relay unchanged; files are base64. The boundaries hold `=_`, which
occurs in neither of the last two, and a text that has it is not written in 7bit.
"""

import re
from binascii import b2a_base64, b2a_qp
from collections.abc import Iterable, Sequence
from datetime import UTC, datetime
from mimetypes import MimeTypes
from struct import Struct
from typing import Final
from urllib.parse import quote

import msgspec

from postern.kernel.http.problems import BadRequest, ContentTooLarge, ProblemError
from postern.protocols.mail.address import Address
from postern.protocols.mail.header import (
    CONTROL,
    FIELD_NAME,
    LINE_LIMIT,
    HeaderInvalid,
    check_value,
    fold,
    unstructured,
)

LINE_OCTETS: Final = 76
"""Characters of a line of base64 (RFC 2045 §6.8)."""
MESSAGE_BYTES_LIMIT: Final = 25 * 1024 * 1024
"""Octets of a whole message, encoded."""
ATTACHMENTS_LIMIT: Final = 20
"""Attachments of one message, inline ones included."""
FILENAME_LIMIT: Final = 255
"""Characters of an attachment's file name."""
HEADERS_LIMIT: Final = 50
"""Header fields that a caller may add."""


class AttachmentInvalid(BadRequest):
    """An attachment cannot be sent as it is described."""

    @classmethod
    def at(cls, number: int, field: str, message: str) -> "AttachmentInvalid":
        """The bad field of the attachment with this number, from 0."""
        path = f"/attachments/{number}/{field}"
        return cls(message, errors=[ProblemError(path=path, code=cls.code(), message=message)])


class MessageTooLarge(ContentTooLarge):
    """The message is larger than 25 MB once encoded."""


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """A file that travels with a message; with a `content_id` it is shown inside the html (`cid:…`)."""

    filename: str
    content: bytes
    content_type: str = "application/octet-stream"
    content_id: str | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """All that is written into a message. Blind copies are no part of it: they are envelope recipients."""

    from_: Address
    to: Sequence[Address] = ()
    cc: Sequence[Address] = ()
    reply_to: Sequence[Address] = ()
    subject: str = ""
    date: datetime
    message_id: str
    """With its angle brackets."""
    headers: Sequence[tuple[str, str]] = ()
    """Fields that the caller asked for; structural ones are refused."""
    own_headers: Sequence[tuple[str, str]] = ()
    """Fields that the service writes (List-Unsubscribe, Feedback-ID): ASCII, never encoded."""
    text: str | None = None
    html: str | None = None
    attachments: Sequence[Attachment] = ()
    quoted_printable: bool = True
    """Whether texts may be written in quoted-printable. It takes five times as long as base64, which counts where a
    message is one of many."""


def compose(message: Message) -> bytes:
    """The message as it goes on the wire, before DKIM and dot-stuffing.

    Raises HeaderInvalid, AttachmentInvalid or MessageTooLarge.
    """
    return compile_message(message).fill(
        to=message.to,
        subject=message.subject,
        date=message.date,
        message_id=message.message_id,
        own_headers=message.own_headers,
        text=message.text,
        html=message.html,
    )


class Skeleton:
    """What all copies of a message share, encoded: the sender, fixed fields, the attachments."""

    __slots__ = (
        "_between",
        "_closing",
        "_fixed",
        "_from",
        "_opening",
        "_quoted_printable",
        "_single",
        "has_html",
        "has_text",
    )

    def __init__(self, message: Message) -> None:
        self.has_text = message.text is not None or message.html is None
        self.has_html = message.html is not None
        self._from = fold("From", message.from_.header()).encode()
        self._fixed = _fixed_fields(message).encode()
        self._opening, self._between, self._closing = _frame(message, self.has_text, self.has_html)
        self._single = not (self.has_text and self.has_html)
        self._quoted_printable = message.quoted_printable

    def fill(
        self,
        *,
        to: Sequence[Address],
        subject: str,
        date: datetime,
        message_id: str,
        own_headers: Iterable[tuple[str, str]] = (),
        text: str | None = None,
        html: str | None = None,
    ) -> bytes:
        """One copy. `text` and `html` are used where the compiled message had them."""
        if not _MESSAGE_ID.fullmatch(message_id) or len(message_id) > 250:
            raise HeaderInvalid.at("Message-ID", "it has to be <left@right> in ASCII.")
        own = "".join([_own_field(name, value) for name, value in own_headers])
        head = (
            f"{addresses('To', to)}{_subject(subject)}Date: {wire_date(date)}\r\nMessage-ID: {message_id}\r\n{own}"
        ).encode()
        parts = [self._from, head, self._fixed, self._opening]
        if self.has_text:
            parts.append(self._body(text or ""))
        if not self._single:
            parts.append(self._between)
        if self.has_html:
            parts.append(self._body(html or ""))
        parts.append(self._closing)
        whole = b"".join(parts)
        if len(whole) > MESSAGE_BYTES_LIMIT:
            raise MessageTooLarge
        return whole

    def _body(self, text: str) -> bytes:
        return _body(text, is_part=bool(self._closing), quoted_printable=self._quoted_printable)


def compile_message(message: Message) -> Skeleton:
    """Do once what every copy shares; recipients, subject, date, id and bodies come with `fill`."""
    return Skeleton(message)


# Header fields ---------------------------------------------------------------------------------------------

_MESSAGE_ID = re.compile(r"<[!-;=?A-~]+@[!-;=?A-~]+>")
_STRUCTURAL = frozenset(
    [
        "from",
        "to",
        "cc",
        "bcc",
        "date",
        "subject",
        "message-id",
        "mime-version",
        "dkim-signature",
        "received",
        "return-path",
        "sender",
        "reply-to",
        "authentication-results",
        "delivered-to",
        "errors-to",
        "resent-from",
        "resent-to",
        "resent-cc",
        "resent-bcc",
        "resent-date",
        "resent-sender",
        "resent-message-id",
        "apparently-to",
        "x-original-to",
        "received-spf",
        "disposition-notification-to",
        "return-receipt-to",
        "envelope-to",
        "bounces-to",
    ]
)
_STRUCTURAL_STARTS = ("content-", "arc-", "resent-", "dkim-", "x-postern-")
_NEVER_ENCODED = ("list-", "references", "in-reply-to", "feedback-id", "x-entity-ref-id", "auto-submitted")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def check_headers(headers: Iterable[tuple[str, str]]) -> None:
    """Refuse the fields a caller may not set, before anything is sent. Raises HeaderInvalid."""
    for number, (name, value) in enumerate(headers):
        if number >= HEADERS_LIMIT:
            raise HeaderInvalid.at("headers", f"at most {HEADERS_LIMIT} of them.")
        _caller_field(name, value)


def check_subject(subject: str) -> None:
    """Refuse a subject that cannot be written. Raises HeaderInvalid."""
    _subject(subject)


def _caller_field(name: str, value: str) -> str:
    if not FIELD_NAME.fullmatch(name):
        raise HeaderInvalid.at("headers", "a field name is 1 to 76 printable ASCII characters without a colon.")
    lower = name.lower()
    if lower in _STRUCTURAL or lower.startswith(_STRUCTURAL_STARTS):
        raise HeaderInvalid.at(name, "this field is written by the service and cannot be set.")
    if lower.startswith(_NEVER_ENCODED):
        return _own_field(name, value)
    return unstructured(name, value)


def _own_field(name: str, value: str) -> str:
    """A structured field: folded where it has spaces, and never put into encoded-words (RFC 2047 §5)."""
    value = check_value(name, value)
    if not value.isascii():
        raise HeaderInvalid.at(name, "only ASCII is allowed in this field.")
    return fold(name, value)


def addresses(field: str, found: Sequence[Address]) -> str:
    """An address field with CRLF, or nothing when there are no addresses (RFC 5322 §3.6.3)."""
    if not found:
        return ""
    return fold(field, ", ".join([address.header() for address in found]))


def _subject(subject: str) -> str:
    field = unstructured("Subject", subject)
    if len(field) > LINE_LIMIT + len("Subject: \r\n"):
        raise HeaderInvalid.at("subject", f"it is longer than {LINE_LIMIT} octets once encoded.")
    return field


def wire_date(moment: datetime) -> str:
    """`Sat, 31 Jan 2026 12:00:00 +0000` (RFC 5322 §3.3), whatever the locale."""
    at = moment.astimezone(UTC)
    return (
        f"{_DAYS[at.weekday()]}, {at.day:02d} {_MONTHS[at.month - 1]} {at.year} "
        f"{at.hour:02d}:{at.minute:02d}:{at.second:02d} +0000"
    )


def _fixed_fields(message: Message) -> str:
    check_headers(message.headers)
    return (
        addresses("Cc", message.cc)
        + addresses("Reply-To", message.reply_to)
        + "".join([_caller_field(name, value) for name, value in message.headers])
        + "MIME-Version: 1.0\r\n"
    )


# The body --------------------------------------------------------------------------------------------------

_TEXT = b"Content-Type: text/plain; charset=utf-8\r\n"
_HTML = b"Content-Type: text/html; charset=utf-8\r\n"


def _frame(message: Message, has_text: bool, has_html: bool) -> tuple[bytes, bytes, bytes]:
    """What stands before the first body, between the two, and after the last (RFC 2046 §5.1).

    The header of a body ends with its `Content-Transfer-Encoding`, which `_body` writes.
    """
    opening, between, closing = _HTML if has_html else _TEXT, b"", b""
    if has_text and has_html:
        mark = b"--=_alternative\r\n"
        opening = b'Content-Type: multipart/alternative; boundary="=_alternative"\r\n\r\n' + mark + _TEXT
        between, closing = mark + _HTML, b"--=_alternative--\r\n"
    encoded = [_attachment(number, each, inline=has_html) for number, each in enumerate(message.attachments)]
    if len(encoded) > ATTACHMENTS_LIMIT:
        raise AttachmentInvalid(f"A message takes at most {ATTACHMENTS_LIMIT} attachments.")
    related = [part for shown, part in encoded if shown]
    mixed = [part for shown, part in encoded if not shown]
    if related:
        # RFC 2387 §3.1: the type of the root part has to be named.
        root = b"multipart/alternative" if has_text else b"text/html"
        opening, closing = _wrap(b"related", b'; type="%s"' % root, opening, closing, related)
    if mixed:
        opening, closing = _wrap(b"mixed", b"", opening, closing, mixed)
    return opening, between, closing


def _wrap(kind: bytes, parameters: bytes, opening: bytes, closing: bytes, parts: list[bytes]) -> tuple[bytes, bytes]:
    mark = b"--=_" + kind
    start = b'Content-Type: multipart/%s%s;\r\n boundary="=_%s"\r\n\r\n' % (kind, parameters, kind)
    tail = b"".join([mark + b"\r\n" + part for part in parts])
    return start + mark + b"\r\n" + opening, closing + tail + mark + b"--\r\n"


SEVEN_BIT: Final = b"Content-Transfer-Encoding: 7bit\r\n\r\n"
QUOTED_PRINTABLE: Final = b"Content-Transfer-Encoding: quoted-printable\r\n\r\n"
BASE64: Final = b"Content-Transfer-Encoding: base64\r\n\r\n"

_UNCHANGED: Final = bytes([0x09, 0x0A, *range(0x20, 0x3D), *range(0x3E, 0x7F)])
"""Octets that quoted-printable leaves as they are, but at the end of a line."""
_PRINTABLE: Final = _UNCHANGED + b"="


def _body(text: str, *, is_part: bool, quoted_printable: bool) -> bytes:
    """A text from its `Content-Transfer-Encoding` on: line ends as CRLF (RFC 2049 §4), without NUL.

    The line end before a boundary belongs to the boundary, so that a part of a multipart message is decoded to exactly
    the text. A text that is the whole message gets a line end, where it has none and is not in base64.
    Each test of the text is one pass at the speed of C.
    """
    if "\x00" in text:
        text = text.replace("\x00", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    content = text.encode("utf-8", "replace")
    if not content:
        return SEVEN_BIT
    is_open = not content.endswith(b"\n")
    line_end = b"\r\n" if is_part or is_open else b""
    if _is_seven_bit(content + b"\n" if is_open else content):
        return SEVEN_BIT + content.replace(b"\n", b"\r\n") + line_end
    size = len(content) + content.count(b"\n")
    base64_size = (size + 2) // 3 * 4 * (LINE_OCTETS + 2) // LINE_OCTETS
    # Escaped octets take three; what is not worth it is seen without trying.
    if quoted_printable and size + 2 * len(content.translate(None, _UNCHANGED)) < base64_size:
        quoted = _quoted_printable(content)
        if quoted is not None and len(quoted) < base64_size:
            return QUOTED_PRINTABLE + quoted + line_end
    return BASE64 + base64_lines(content.replace(b"\n", b"\r\n"))


def _is_seven_bit(content: bytes) -> bool:
    """Whether no relay changes a text that is sent as it is. `content` has LF line ends, the last line has one too."""
    if not content.isascii() or content.translate(None, _PRINTABLE):
        return False
    if content.startswith(_CHANGED_AT_THE_START) or _CHANGED_ON_THE_WAY.search(content):
        return False
    at, size = 0, len(content)
    while at + LINE_LIMIT < size:  # To the last line end that the limit allows for, and on from there.
        at = content.rfind(b"\n", at, at + LINE_LIMIT + 1) + 1
        if not at:
            return False
    return True


_CHANGED_ON_THE_WAY: Final = re.compile(rb"\n(?:(?<=[ \t]\n)|From |\.\n|--=_)")
"""What relays and mailboxes change in text that is not encoded: they remove blanks at the end of lines, write `>From`
for `From`, and take a lone dot for the end; and what looks like a boundary. All is found by its line end: a search that
begins with one fixed character takes a tenth of the time of others."""
_CHANGED_AT_THE_START: Final = (b"From ", b".\n", b"--=_")


def _quoted_printable(content: bytes) -> bytes | None:
    """A text with LF line ends as quoted-printable with CRLF line ends (RFC 2045 §6.7); None where it does not fit."""
    quoted = b2a_qp(content, quotetabs=False, istext=True, header=False)
    if quoted.startswith(b"From "):
        quoted = b"=46" + quoted[1:]
    lines = quoted.replace(b"\nFrom ", b"\n=46rom ").split(b"\n")
    if max(map(len, lines)) > LINE_OCTETS:
        lines = [_broken(line) if len(line) > LINE_OCTETS else line for line in lines]
        if max(len(piece) for line in lines for piece in line.split(b"\r\n")) > LINE_OCTETS:
            return None
    return b"\r\n".join(lines)


def _broken(line: bytes) -> bytes:
    """A line that was made too long by escaping its first letter or its last blank, with a soft line break there."""
    at = 3 if line.startswith(b"=46rom ") else len(line) - 3
    return line[:at] + b"=\r\n" + line[at:]


def base64_lines(content: bytes) -> bytes:
    """Base64 in CRLF lines of 76 characters (RFC 2045 §6.8)."""
    encoded = b2a_base64(content, newline=False)
    blocks = len(encoded) // _BLOCK.size * _BLOCK.size
    lines: list[bytes] = []
    for block in _BLOCK.iter_unpack(encoded[:blocks]):
        lines += block
    lines += [encoded[start : start + LINE_OCTETS] for start in range(blocks, len(encoded), LINE_OCTETS)]
    lines.append(b"")
    return b"\r\n".join(lines)


# Many lines are cut at once in a quarter of the time of as many slices.
_BLOCK: Final = Struct(f"{LINE_OCTETS}s" * 16)


# Attachments -----------------------------------------------------------------------------------------------

_TOKEN = r"[A-Za-z0-9!#$%&'*+\-.^_`{|}~]+"  # noqa: S105 - RFC 2045 §5.1
_CONTENT_TYPE = re.compile(
    rf'(?P<type>{_TOKEN})/(?P<subtype>{_TOKEN})(?P<parameters>(?:\s*;\s*{_TOKEN}=(?:{_TOKEN}|"[^"\\\x00-\x1f]*"))*)'
)
_CONTENT_ID = re.compile(r"[A-Za-z0-9!#$%&'*+\-./=?^_`{|}~@]{1,200}")
_PLAIN_FILENAME = re.compile(r"[A-Za-z0-9!#$&+\-.^_`{}~ ()]{1,60}")


def check_attachments(attachments: Sequence[Attachment]) -> None:
    """Refuse attachments that cannot be sent, before anything is.

    Raises AttachmentInvalid or MessageTooLarge.
    """
    if len(attachments) > ATTACHMENTS_LIMIT:
        raise AttachmentInvalid(f"A message takes at most {ATTACHMENTS_LIMIT} attachments.")
    for number, attachment in enumerate(attachments):
        _attachment_fields(number, attachment, inline=True)
    if sum(len(attachment.content) for attachment in attachments) * 4 // 3 > MESSAGE_BYTES_LIMIT:
        raise MessageTooLarge


def content_type_of(filename: str) -> str:
    """The content type that the ending of a file name stands for; the same on every machine."""
    kind, encoding = _TYPES.guess_type(filename)
    return (
        kind if kind and not encoding else {"gzip": "application/gzip"}.get(encoding or "", "application/octet-stream")
    )


_OFFICE: Final = "application/vnd.openxmlformats-officedocument"
_MORE_TYPES: Final = {
    ".docx": f"{_OFFICE}.wordprocessingml.document",
    ".xlsx": f"{_OFFICE}.spreadsheetml.sheet",
    ".pptx": f"{_OFFICE}.presentationml.presentation",
    ".odt": "application/vnd.oasis.opendocument.text",
    ".ods": "application/vnd.oasis.opendocument.spreadsheet",
    ".odp": "application/vnd.oasis.opendocument.presentation",
    ".rtf": "application/rtf",
    ".ics": "text/calendar",
    ".vcf": "text/vcard",
    ".md": "text/markdown",
    ".webp": "image/webp",
    ".pkpass": "application/vnd.apple.pkpass",
    ".asc": "application/pgp-signature",
    ".p7s": "application/pkcs7-signature",
    ".7z": "application/x-7z-compressed",
}
"""What people attach and the oldest supported Python does not know; newer ones know some of it."""


def _types() -> MimeTypes:
    """The table of the standard library and ours, without files that this machine may have."""
    types = MimeTypes()
    for ending, kind in _MORE_TYPES.items():
        types.add_type(kind, ending)
    return types


_TYPES: Final = _types()


def _attachment(number: int, attachment: Attachment, *, inline: bool) -> tuple[bool, bytes]:
    """Whether the part belongs to the html, and the part."""
    shown = inline and attachment.content_id is not None
    if len(attachment.content) * 4 // 3 > MESSAGE_BYTES_LIMIT:
        raise MessageTooLarge
    fields = _attachment_fields(number, attachment, inline=shown)
    return shown, fields.encode("ascii") + base64_lines(attachment.content)


def _attachment_fields(number: int, attachment: Attachment, *, inline: bool) -> str:
    content_type = _content_type(number, attachment.content_type)
    fields = f"Content-Type: {content_type}\r\nContent-Transfer-Encoding: base64\r\n"
    if attachment.content_id is not None:
        bare = attachment.content_id.removeprefix("<").removesuffix(">")
        if not _CONTENT_ID.fullmatch(bare):
            raise AttachmentInvalid.at(number, "contentId", "A content id is printable ASCII without spaces.")
        fields += f"Content-ID: <{bare}>\r\n"
    kind = "inline" if inline and attachment.content_id is not None else "attachment"
    return f"{fields}Content-Disposition: {kind}{_filename(number, attachment.filename)}\r\n\r\n"


def _content_type(number: int, text: str) -> str:
    found = _CONTENT_TYPE.fullmatch(text.strip()) if len(text) <= 200 and text.isascii() else None
    if found is None or CONTROL.search(text):
        raise AttachmentInvalid.at(number, "contentType", "A content type looks like application/pdf.")
    kind = found["type"].lower()
    if kind == "multipart":
        raise AttachmentInvalid.at(number, "contentType", "An attachment cannot be multipart.")
    # RFC 2046 §5.2 allows no base64 for messages, so they travel as files.
    if kind == "message":
        return "application/octet-stream"
    parameters = "".join(f";\r\n {part.strip()}" for part in _split_parameters(found["parameters"]))
    return f"{kind}/{found['subtype'].lower()}{parameters}"


def _split_parameters(text: str) -> list[str]:
    return [part[0] for part in re.finditer(rf'{_TOKEN}=(?:{_TOKEN}|"[^"]*")', text)]


def _filename(number: int, filename: str) -> str:
    """The `filename` parameter; in pieces of RFC 2231 where it is long or not plain ASCII."""
    filename = filename.strip(" ")
    if not filename or len(filename) > FILENAME_LIMIT or CONTROL.search(filename):
        raise AttachmentInvalid.at(
            number, "filename", f"A file name has 1 to {FILENAME_LIMIT} characters and no control characters."
        )
    if _PLAIN_FILENAME.fullmatch(filename):
        return f';\r\n filename="{filename}"'
    escaped = quote(filename, safe="")
    if len(escaped) <= 55:
        return f";\r\n filename*=utf-8''{escaped}"
    units = re.findall(r"%[0-9A-F]{2}|.", escaped)
    pieces, current = [], ""
    for unit in units:
        if len(current) + len(unit) > 50:
            pieces.append(current)
            current = ""
        current += unit
    pieces.append(current)
    return "".join(
        f";\r\n filename*{n}*={'utf-8' + chr(39) * 2 if n == 0 else ''}{piece}" for n, piece in enumerate(pieces)
    )
