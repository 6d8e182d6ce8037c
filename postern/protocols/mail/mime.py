"""Composing messages (RFC 5322, RFC 2045 to 2049, RFC 2231).

A text is encoded in the shortest of 7bit, quoted-printable and base64 that no relay changes; attachments are base64.
Boundaries contain `=_`, which cannot occur in quoted-printable or base64. A text with a line that begins with `--=_` is
not sent as 7bit.
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
from postern.protocols.mail.address import (
    CONTROL,
    FIELD_NAME,
    LINE_LIMIT,
    Address,
    HeaderInvalid,
    check_value,
    fold,
    unstructured_field,
)

LINE_OCTETS: Final = 76
"""Maximum octets of a base64 or quoted-printable line, without CRLF (RFC 2045 §6.7 and §6.8)."""
MESSAGE_BYTES_LIMIT: Final = 25 * 1024 * 1024
"""Octets of an encoded message."""
ATTACHMENTS_LIMIT: Final = 20
"""Attachments of one message, including inline ones."""
FILENAME_LIMIT: Final = 255
"""Characters of an attachment's file name."""
HEADERS_LIMIT: Final = 50
"""Custom header fields of one message."""


class AttachmentInvalid(BadRequest):
    """An attachment's file name, content type or content id is invalid, or there are more than 20 attachments."""

    @classmethod
    def at(cls, number: int, field: str, message: str) -> "AttachmentInvalid":
        """An error in one field of the attachment with the index `number`, counted from 0."""
        path = f"/attachments/{number}/{field}"
        return cls(message, errors=[ProblemError(path=path, code=cls.code(), message=message)])


class MessageTooLarge(ContentTooLarge):
    """The message is larger than 25 MB after encoding."""


class Attachment(msgspec.Struct, frozen=True, kw_only=True):
    """An attached file. If it has a `content_id`, the html can show it as `cid:<content_id>`."""

    filename: str
    content: bytes
    content_type: str = "application/octet-stream"
    content_id: str | None = None


class Message(msgspec.Struct, frozen=True, kw_only=True):
    """The content of a message. Bcc recipients are not part of it: they are envelope recipients only."""

    from_: Address
    to: Sequence[Address] = ()
    cc: Sequence[Address] = ()
    reply_to: Sequence[Address] = ()
    subject: str = ""
    date: datetime
    message_id: str
    """Including the angle brackets."""
    headers: Sequence[tuple[str, str]] = ()
    """The caller's custom fields; fields that the service writes are refused."""
    own_headers: Sequence[tuple[str, str]] = ()
    """Fields that the service writes (List-Unsubscribe, Feedback-ID): ASCII, never encoded."""
    text: str | None = None
    html: str | None = None
    attachments: Sequence[Attachment] = ()
    quoted_printable: bool = True
    """Whether texts may be encoded as quoted-printable. That takes five times as long as base64, which matters for
    bulk mail."""


def compose(message: Message) -> bytes:
    """The message as sent by SMTP, before DKIM signing and dot-stuffing.

    Raises HeaderInvalid, AttachmentInvalid or MessageTooLarge.
    """
    head = header_fields(message)
    text = message.text if message.html is not None else message.text or ""
    opening, between, closing = _frame(message, text is not None, message.html is not None)
    bodies = [
        _body(body, is_part=bool(closing), quoted_printable=message.quoted_printable)
        for body in (text, message.html)
        if body is not None
    ]
    encoded = b"".join([head.encode(), opening, between.join(bodies), closing])
    if len(encoded) > MESSAGE_BYTES_LIMIT:
        raise MessageTooLarge
    return encoded


def header_fields(message: Message) -> str:
    """The header fields of a message up to `MIME-Version`. Raises HeaderInvalid."""
    return (
        f"{address_field('From', [message.from_])}{address_field('To', message.to)}{subject_field(message.subject)}"
        f"{date_field(message.date)}{message_id_field(message.message_id)}{closing_fields(message)}"
    )


def closing_fields(message: Message) -> str:
    """The header fields after `Message-ID`, up to `MIME-Version`. Raises HeaderInvalid."""
    check_headers(message.headers)
    return (
        f"{''.join([structured_field(name, value) for name, value in message.own_headers])}"
        f"{address_field('Cc', message.cc)}{address_field('Reply-To', message.reply_to)}"
        f"{''.join([_caller_field(name, value) for name, value in message.headers])}MIME-Version: 1.0\r\n"
    )


# Header fields ---------------------------------------------------------------------------------------------

_MESSAGE_ID = re.compile(r"<[!-;=?A-~]+@[!-;=?A-~]+>")
_RESERVED_FIELDS = frozenset(
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
_RESERVED_PREFIXES = ("content-", "arc-", "resent-", "dkim-", "x-postern-")
_NEVER_ENCODED = ("list-", "references", "in-reply-to", "feedback-id", "x-entity-ref-id", "auto-submitted")
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def check_headers(headers: Iterable[tuple[str, str]]) -> None:
    """Validate custom header fields before sending. Raises HeaderInvalid."""
    for number, (name, value) in enumerate(headers):
        if number >= HEADERS_LIMIT:
            raise HeaderInvalid.at("headers", f"at most {HEADERS_LIMIT} header fields are allowed.")
        _caller_field(name, value)


def check_subject(subject: str) -> None:
    """Validate a subject. Raises HeaderInvalid."""
    subject_field(subject)


def _caller_field(name: str, value: str) -> str:
    """A custom field, validated, encoded and folded. Raises HeaderInvalid."""
    if not FIELD_NAME.fullmatch(name):
        raise HeaderInvalid.at("headers", "a field name must have 1 to 76 printable ASCII characters and no colon.")
    lower = name.lower()
    if lower in _RESERVED_FIELDS or lower.startswith(_RESERVED_PREFIXES):
        raise HeaderInvalid.at(name, "this field is written by the service and cannot be set.")
    if lower.startswith(_NEVER_ENCODED):
        return structured_field(name, value)
    return unstructured_field(name, value)


def structured_field(name: str, value: str) -> str:
    """A structured field: folded at spaces, never written as encoded-words (RFC 2047 §5)."""
    value = check_value(name, value)
    if not value.isascii():
        raise HeaderInvalid.at(name, "only ASCII is allowed in this field.")
    return fold(name, value)


def address_field(field: str, mailboxes: Sequence[Address]) -> str:
    """An address field with CRLF, or an empty string if `mailboxes` is empty (RFC 5322 §3.6.3)."""
    if not mailboxes:
        return ""
    return fold(field, ", ".join([address.header() for address in mailboxes]))


def message_id_field(message_id: str) -> str:
    """The Message-ID field with CRLF. Raises HeaderInvalid."""
    if not _MESSAGE_ID.fullmatch(message_id) or len(message_id) > 250:
        raise HeaderInvalid.at("Message-ID", "must have the form <left@right> in ASCII, with at most 250 characters.")
    return f"Message-ID: {message_id}\r\n"


def date_field(moment: datetime) -> str:
    """The Date field with CRLF."""
    return f"Date: {rfc5322_date(moment)}\r\n"


def subject_field(subject: str) -> str:
    """The Subject field with CRLF. Raises HeaderInvalid."""
    field = unstructured_field("Subject", subject)
    if len(field) > LINE_LIMIT + len("Subject: \r\n"):
        raise HeaderInvalid.at("subject", f"longer than {LINE_LIMIT} octets after encoding.")
    return field


def rfc5322_date(moment: datetime) -> str:
    """`Sat, 31 Jan 2026 12:00:00 +0000` (RFC 5322 §3.3), independent of the locale."""
    utc = moment.astimezone(UTC)
    return (
        f"{_DAYS[utc.weekday()]}, {utc.day:02d} {_MONTHS[utc.month - 1]} {utc.year} "
        f"{utc.hour:02d}:{utc.minute:02d}:{utc.second:02d} +0000"
    )


# The body --------------------------------------------------------------------------------------------------

_TEXT = b"Content-Type: text/plain; charset=utf-8\r\n"
_HTML = b"Content-Type: text/html; charset=utf-8\r\n"


def text_frame(has_text: bool, has_html: bool) -> tuple[bytes, bytes, bytes]:
    """The same as `_frame` of a message without attachments."""
    if not (has_text and has_html):
        return _HTML if has_html else _TEXT, b"", b""
    boundary = b"--=_alternative\r\n"
    opening = b'Content-Type: multipart/alternative; boundary="=_alternative"\r\n\r\n' + boundary + _TEXT
    return opening, boundary + _HTML, b"--=_alternative--\r\n"


def _frame(message: Message, has_text: bool, has_html: bool) -> tuple[bytes, bytes, bytes]:
    """The bytes before the first body, between the two bodies, and after the last (RFC 2046 §5.1).

    `_body` writes the `Content-Transfer-Encoding` field that ends the header of each body.
    """
    opening, between, closing = text_frame(has_text, has_html)
    encoded = [
        _attachment(index, attachment, allow_inline=has_html) for index, attachment in enumerate(message.attachments)
    ]
    if len(encoded) > ATTACHMENTS_LIMIT:
        raise AttachmentInvalid(f"A message can have at most {ATTACHMENTS_LIMIT} attachments.")
    related = [part for is_inline, part in encoded if is_inline]
    mixed = [part for is_inline, part in encoded if not is_inline]
    if related:
        # RFC 2387 §3.1: the `type` parameter names the type of the root part.
        root = b"multipart/alternative" if has_text else b"text/html"
        opening, closing = _wrap(b"related", b'; type="%s"' % root, opening, closing, related)
    if mixed:
        opening, closing = _wrap(b"mixed", b"", opening, closing, mixed)
    return opening, between, closing


def _wrap(kind: bytes, parameters: bytes, opening: bytes, closing: bytes, parts: list[bytes]) -> tuple[bytes, bytes]:
    """The opening and closing of a multipart whose first part is the message so far, followed by `parts`."""
    boundary = b"--=_" + kind
    start = b'Content-Type: multipart/%s%s;\r\n boundary="=_%s"\r\n\r\n' % (kind, parameters, kind)
    encoded_parts = b"".join([boundary + b"\r\n" + part for part in parts])
    return start + boundary + b"\r\n" + opening, closing + encoded_parts + boundary + b"--\r\n"


SEVEN_BIT: Final = b"Content-Transfer-Encoding: 7bit\r\n\r\n"
QUOTED_PRINTABLE: Final = b"Content-Transfer-Encoding: quoted-printable\r\n\r\n"
BASE64: Final = b"Content-Transfer-Encoding: base64\r\n\r\n"

_UNCHANGED: Final = bytes([0x09, 0x0A, *range(0x20, 0x3D), *range(0x3E, 0x7F)])
"""Octets that quoted-printable does not escape, except at the end of a line."""
_PRINTABLE: Final = _UNCHANGED + b"="


def _body(text: str, *, is_part: bool, quoted_printable: bool) -> bytes:
    """A text with its `Content-Transfer-Encoding` field: line ends as CRLF (RFC 2049 §4), without NUL.

    The line end before a boundary belongs to the boundary, so a body part decodes to exactly the text. A text that is
    the whole message gets a final line end if it has none, unless it is base64. Each check of the text is a single
    pass of a function written in C.
    """
    if "\x00" in text:
        text = text.replace("\x00", "")
    if "\r" in text:
        text = text.replace("\r\n", "\n").replace("\r", "\n")
    content = text.encode("utf-8", "replace")
    if not content:
        return SEVEN_BIT
    lacks_line_end = not content.endswith(b"\n")
    line_end = b"\r\n" if is_part or lacks_line_end else b""
    if _is_seven_bit(content + b"\n" if lacks_line_end else content):
        return SEVEN_BIT + content.replace(b"\n", b"\r\n") + line_end
    size = len(content) + content.count(b"\n")
    # An escaped octet is written as three. This gives a lower bound of the size as quoted-printable, which saves
    # encoding texts for which base64 is shorter.
    if quoted_printable and size + 2 * len(content.translate(None, _UNCHANGED)) < base64_size(size):
        quoted = _quoted_printable(content)
        if quoted is not None and len(quoted) < base64_size(size):
            return QUOTED_PRINTABLE + quoted + line_end
    return BASE64 + base64_lines(content.replace(b"\n", b"\r\n"))


def _is_seven_bit(content: bytes) -> bool:
    """Whether no relay changes the text if it is sent unencoded. `content` has LF line ends, also at its end."""
    if not content.isascii() or content.translate(None, _PRINTABLE):
        return False
    if content.startswith(_CHANGED_AT_THE_START) or _CHANGED_IN_TRANSIT.search(content):
        return False
    at, size = 0, len(content)
    while at + LINE_LIMIT < size:  # Jump to the last line end within the limit.
        at = content.rfind(b"\n", at, at + LINE_LIMIT + 1) + 1
        if not at:
            return False
    return True


_CHANGED_IN_TRANSIT: Final = re.compile(rb"\n(?:(?<=[ \t]\n)|From |\.\n|--=_)")
"""Patterns that relays and mailboxes change in unencoded text: trailing spaces are removed, `From ` becomes `>From `,
and a line with a single dot ends the message; also anything that looks like a boundary. Each match starts with a line
end: a pattern that begins with one fixed character takes a tenth of the time of others.
"""
_CHANGED_AT_THE_START: Final = (b"From ", b".\n", b"--=_")


def _quoted_printable(content: bytes) -> bytes | None:
    """Encode a text with LF line ends as quoted-printable with CRLF (RFC 2045 §6.7); None if a line stays too long."""
    quoted = b2a_qp(content, quotetabs=False, istext=True, header=False)
    if quoted.startswith(b"From "):
        quoted = b"=46" + quoted[1:]
    lines = quoted.replace(b"\nFrom ", b"\n=46rom ").split(b"\n")
    if max(map(len, lines)) > LINE_OCTETS:
        lines = [_soft_break(line) if len(line) > LINE_OCTETS else line for line in lines]
        if max(len(piece) for line in lines for piece in line.split(b"\r\n")) > LINE_OCTETS:
            return None
    return b"\r\n".join(lines)


def _soft_break(line: bytes) -> bytes:
    """Insert a soft line break into a line that became too long when its first letter or last space was escaped."""
    at = 3 if line.startswith(b"=46rom ") else len(line) - 3
    return line[:at] + b"=\r\n" + line[at:]


def base64_size(octets: int) -> int:
    """The size of this number of octets as base64 with line ends."""
    return (octets + 2) // 3 * 4 * (LINE_OCTETS + 2) // LINE_OCTETS


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


# Unpacking 16 lines at once takes a quarter of the time of 16 slices.
_BLOCK: Final = Struct(f"{LINE_OCTETS}s" * 16)


# Attachments -----------------------------------------------------------------------------------------------

_TOKEN = r"[A-Za-z0-9!#$%&'*+\-.^_`{|}~]+"  # noqa: S105 - RFC 2045 §5.1
_CONTENT_TYPE = re.compile(
    rf'(?P<type>{_TOKEN})/(?P<subtype>{_TOKEN})(?P<parameters>(?:\s*;\s*{_TOKEN}=(?:{_TOKEN}|"[^"\\\x00-\x1f]*"))*)'
)
_CONTENT_ID = re.compile(r"[A-Za-z0-9!#$%&'*+\-./=?^_`{|}~@]{1,200}")
_PLAIN_FILENAME = re.compile(r"[A-Za-z0-9!#$&+\-.^_`{}~ ()]{1,60}")


def check_attachments(attachments: Sequence[Attachment]) -> None:
    """Validate attachments before sending. Raises AttachmentInvalid or MessageTooLarge."""
    if len(attachments) > ATTACHMENTS_LIMIT:
        raise AttachmentInvalid(f"A message can have at most {ATTACHMENTS_LIMIT} attachments.")
    for number, attachment in enumerate(attachments):
        _attachment_fields(number, attachment, allow_inline=True)
    if sum(len(attachment.content) for attachment in attachments) * 4 // 3 > MESSAGE_BYTES_LIMIT:
        raise MessageTooLarge


def content_type_of(filename: str) -> str:
    """The content type for a file name's extension, independent of the machine's configuration.

    `application/octet-stream` if the extension is unknown.
    """
    kind, encoding = _TYPES.guess_type(filename)
    return (
        kind if kind and not encoding else {"gzip": "application/gzip"}.get(encoding or "", "application/octet-stream")
    )


def extension_of(content_type: str) -> str:
    """The usual extension of file names with this content type, with its dot; `.bin` if it is unknown."""
    return _TYPES.guess_extension(content_type) or ".bin"


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
"""Common attachment types that the oldest supported Python version lacks."""


def _types() -> MimeTypes:
    """The standard library's types and `_MORE_TYPES`, without the machine's mime.types files."""
    types = MimeTypes()
    for ending, kind in _MORE_TYPES.items():
        types.add_type(kind, ending)
    return types


_TYPES: Final = _types()


def _attachment(index: int, attachment: Attachment, *, allow_inline: bool) -> tuple[bool, bytes]:
    """Whether the part is inline (related to the html), and the encoded part."""
    is_inline = allow_inline and attachment.content_id is not None
    if len(attachment.content) * 4 // 3 > MESSAGE_BYTES_LIMIT:
        raise MessageTooLarge
    fields = _attachment_fields(index, attachment, allow_inline=is_inline)
    return is_inline, fields.encode("ascii") + base64_lines(attachment.content)


def _attachment_fields(index: int, attachment: Attachment, *, allow_inline: bool) -> str:
    """The header fields of an attachment, with the empty line that ends them. Raises AttachmentInvalid."""
    content_type = _content_type(index, attachment.content_type)
    fields = f"Content-Type: {content_type}\r\nContent-Transfer-Encoding: base64\r\n"
    if attachment.content_id is not None:
        content_id = attachment.content_id.removeprefix("<").removesuffix(">")
        if not _CONTENT_ID.fullmatch(content_id):
            raise AttachmentInvalid.at(
                index, "contentId", "A content id must be 1 to 200 printable ASCII characters without spaces."
            )
        fields += f"Content-ID: <{content_id}>\r\n"
    kind = "inline" if allow_inline and attachment.content_id is not None else "attachment"
    return f"{fields}Content-Disposition: {kind}{_filename(index, attachment.filename)}\r\n\r\n"


def _content_type(index: int, text: str) -> str:
    match = _CONTENT_TYPE.fullmatch(text.strip()) if len(text) <= 200 and text.isascii() else None
    if match is None or CONTROL.search(text):
        raise AttachmentInvalid.at(index, "contentType", "A content type must have a form like application/pdf.")
    kind = match["type"].lower()
    if kind == "multipart":
        raise AttachmentInvalid.at(index, "contentType", "An attachment cannot be multipart.")
    # RFC 2046 §5.2 forbids base64 for message types, so they are sent as application/octet-stream.
    if kind == "message":
        return "application/octet-stream"
    parameters = "".join(f";\r\n {part.strip()}" for part in _split_parameters(match["parameters"]))
    return f"{kind}/{match['subtype'].lower()}{parameters}"


def _split_parameters(text: str) -> list[str]:
    return [part[0] for part in re.finditer(rf'{_TOKEN}=(?:{_TOKEN}|"[^"]*")', text)]


def _filename(index: int, filename: str) -> str:
    """The `filename` parameter; RFC 2231 encoded, with continuations if long, unless it is plain ASCII."""
    filename = filename.strip(" ")
    if not filename or len(filename) > FILENAME_LIMIT or CONTROL.search(filename):
        raise AttachmentInvalid.at(
            index, "filename", f"A file name must have 1 to {FILENAME_LIMIT} characters and no control characters."
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


# Patterns that begin with a literal octet are searched faster than `\r\n` is counted.
_BARE_CR = re.compile(rb"\r(?!\n)")
_BARE_LF = re.compile(rb"\n(?<!\r\n)")


_DOT = re.compile(rb"\n\.")
"""A line that begins with a dot. A regular expression finds it in half the time that `in` takes."""


def has_dot_lines(message: bytes) -> bool:
    """Whether a line begins with a dot, so that SMTP needs a second one (RFC 5321 §4.5.2)."""
    return message.startswith(b".") or _DOT.search(message) is not None


def has_safe_lines(octets: bytes) -> bool:
    """Whether SMTP can transmit these lines as they are: ASCII without NUL, only CRLF line ends, no dots at their
    start."""
    return octets.isascii() and message_problem(octets) is None and not has_dot_lines(octets)


def message_problem(message: bytes) -> str | None:
    """Why these octets must not be sent as a message; None if they can be.

    A bare CR or LF is forbidden (RFC 5321 §2.3.8), because some servers take it for a line end, which allows SMTP
    smuggling (CVE-2023-51764). NUL is forbidden even in 8-bit text (RFC 6152).
    """
    if _BARE_CR.search(message) or _BARE_LF.search(message):
        return "The message contains a bare CR or LF."
    if b"\0" in message:
        return "The message contains a NUL character."
    return None
