"""The content of a received message: addresses, texts, attachments, and which message it replies to.

Malformed and hostile messages raise nothing: `ReceivedContent.notices` says what could not be read, and why. Size,
parts, depth and fields are limited, and the time is proportional to the size.
"""

import re
from collections.abc import Iterator, Sequence
from datetime import UTC
from email.utils import parsedate_to_datetime
from typing import Final, NamedTuple

import msgspec
from msgspec.structs import replace

from postern.kernel.values import Moment, Record
from postern.protocols.mail.mime_parser import (
    MimeInvalid,
    MimePart,
    decode_words,
    parse_mailboxes,
    parse_message,
)
from postern.protocols.mail.received import MessagePart, html_text, read_message
from postern.protocols.mail.reply_text import reply_text

TEXT_CHARACTERS: Final = 1_000_000
"""Longer texts and html are cut."""
FIELD_CHARACTERS: Final = 8_192
"""Longer values of header fields are cut."""
NAME_CHARACTERS: Final = 500
"""Longer subjects, display names and file names are cut."""
STRUCTURED_CHARACTERS: Final = 500
"""Characters of each field of the parts of a malformed message: parameters take quadratic time to parse."""
ADDRESS_LIST_CHARACTERS: Final = 32_768
"""The rest of a longer list of addresses is left out."""
ADDRESSES_LIMIT: Final = 200
"""Further addresses of a field are left out."""
REFERENCES_LIMIT: Final = 50
"""Maximum message ids in `references`; of more, the last ones are kept (RFC 5322 §3.6.4)."""
NOTICES_LIMIT: Final = 20
"""Further notices are left out."""

_UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_MESSAGE_ID = re.compile(r"<[^<>\s]{1,996}>")
_MEDIA_TYPE = re.compile(r"[\w.+-]{1,100}/[\w.+-]{1,100}", re.ASCII)
_AUTOMATIC_PRECEDENCES = frozenset(("bulk", "junk", "list", "auto_reply"))


class MessageField(Record):
    """A header field."""

    name: str
    """The name as it is written in the message."""
    value: str
    """The value, unfolded, with its encoded words (RFC 2047) decoded. At most 8,192 characters."""


class MailContact(Record):
    """An address in a header field."""

    name: str
    """The display name; empty if there is none."""
    email: str
    """The address as it is written in the message, which can be invalid."""


class ReceivedAttachment(Record):
    """A part of a message that is not its text."""

    id: str
    """The number of the attachment in the message, from 1."""
    filename: str
    """The name that the sender gave it; `attachment-1` and so on without one. Do not use it as a path."""
    content_type: str
    """The media type that the sender declares, without parameters."""
    size: int
    """The size of the decoded file in octets."""
    content_id: str | None
    """The id by which the html refers to it (`cid:`), without angle brackets; null if there is none."""
    inline: bool
    """Whether it is meant to be shown within the message and not as a file."""


class ReceivedContent(msgspec.Struct, frozen=True, kw_only=True):
    """What a message contains."""

    headers: list[MessageField]
    from_: list[MailContact]
    to: list[MailContact]
    cc: list[MailContact]
    reply_to: list[MailContact]
    subject: str
    message_id: str | None
    date: Moment | None
    in_reply_to: str | None
    references: list[str]
    """The message ids in References and In-Reply-To, the latest last."""
    text: str | None
    html: str | None
    reply_text: str
    attachments: list[ReceivedAttachment]
    is_automatic: bool
    """Whether the header says that a program sent the message (RFC 3834)."""
    hops: int
    """The number of Received fields."""
    notices: list[str]


class _Leaf(NamedTuple):
    """A part that is not a multipart, and its file name, which is parsed only once because that takes long."""

    part: MimePart
    filename: str

    def is_body(self, content_type: str) -> bool:
        """Whether it is text of the message, of this media type."""
        return self.part.content_type == content_type and self.part.disposition != "attachment" and not self.filename

    @property
    def is_attachment(self) -> bool:
        """Whether it is neither text of the message nor empty."""
        return not self.is_body("text/plain") and not self.is_body("text/html") and bool(self.part.body)


class _Reader:
    """Reads the parts of one message."""

    def __init__(self) -> None:
        self.notices: list[str] = []

    def notice(self, text: str) -> None:
        if text not in self.notices and len(self.notices) < NOTICES_LIMIT:
            self.notices.append(text)

    def parse(self, content: bytes) -> MimePart:
        """The message, read by the strict parser or, if that raises, by the tolerant one."""
        try:
            return parse_message(content)
        except MimeInvalid as error:
            self.notice(f"The message is malformed, so that parts of it can be missing here. {error}")
        message = read_message(content)
        return MimePart(
            fields=list(message.fields),
            content_type="multipart/mixed",
            parameters={},
            body=memoryview(b""),
            parts=[_decoded_part(part) for part in message.parts],
        )

    def body(self, part: MimePart) -> bytes:
        """The decoded body of a part, or its octets as they are if they cannot be decoded."""
        try:
            return part.decoded_body()
        except MimeInvalid as error:
            self.notice(str(error))
            return bytes(part.body)

    def text(self, part: MimePart) -> str:
        """The text of a part. Not more octets are decoded than TEXT_CHARACTERS characters can have."""
        body = self.body(part)[: 4 * TEXT_CHARACTERS + 4]
        decoded = replace(part, fields=_without_encoding(part.fields), body=memoryview(body))
        return _clean(decoded.text()).replace("\r\n", "\n")

    def joined(self, leaves: Sequence[_Leaf], content_type: str) -> str | None:
        """The texts of this media type as one, at most TEXT_CHARACTERS; None if there are none."""
        parts = [leaf.part for leaf in leaves if leaf.is_body(content_type)]
        if not parts:
            return None
        text = "\n".join([self.text(part) for part in parts])
        if len(text) > TEXT_CHARACTERS:
            self.notice(f"The text is longer than {TEXT_CHARACTERS:,} characters and was cut.")
        return text[:TEXT_CHARACTERS]


def read_content(content: bytes) -> ReceivedContent:
    """Read a message, which must have CRLF line ends."""
    reader = _Reader()
    message = reader.parse(content)
    leaves = list(_leaves(message))
    text, html = reader.joined(leaves, "text/plain"), reader.joined(leaves, "text/html")
    attached = [leaf for leaf in leaves if leaf.is_attachment]
    own_text = text if text is not None and text.strip() else html_text(html or "")
    message_ids = _message_ids(message.get("Message-ID"))
    if not message.fields:
        reader.notice("The message has no header.")
    return ReceivedContent(
        headers=[MessageField(name=name, value=_value(value)) for name, value in message.fields],
        from_=_mailboxes(message, "From"),
        to=_mailboxes(message, "To"),
        cc=_mailboxes(message, "Cc"),
        reply_to=_mailboxes(message, "Reply-To"),
        subject=_value(message.get("Subject"))[:NAME_CHARACTERS],
        message_id=message_ids[0] if message_ids else None,
        date=_date(message.get("Date")),
        in_reply_to=next(iter(_message_ids(message.get("In-Reply-To"))), None),
        references=_references(message),
        text=text,
        html=html,
        reply_text=reply_text(own_text),
        attachments=[_attachment(number, leaf, reader.body(leaf.part)) for number, leaf in enumerate(attached, 1)],
        is_automatic=_is_automatic(message),
        hops=len(message.all("Received")),
        notices=[_clean(notice) for notice in reader.notices],
    )


def read_attachment(content: bytes, id: str) -> tuple[ReceivedAttachment, bytes] | None:
    """An attachment of a message with its decoded octets; None if there is none with this id."""
    reader = _Reader()
    attached = [leaf for leaf in _leaves(reader.parse(content)) if leaf.is_attachment]
    number = next((number for number in range(1, len(attached) + 1) if str(number) == id), None)
    if number is None:
        return None
    leaf = attached[number - 1]
    body = reader.body(leaf.part)
    return _attachment(number, leaf, body), body


def _decoded_part(part: MessagePart) -> MimePart:
    fields = [(name, value[:STRUCTURED_CHARACTERS]) for name, value in part.fields]
    return MimePart(
        fields=_without_encoding(fields),
        content_type=part.content_type,
        parameters=part.parameters,
        body=memoryview(part.content),
    )


def _without_encoding(fields: list[tuple[str, str]]) -> list[tuple[str, str]]:
    return [field for field in fields if field[0].lower() != "content-transfer-encoding"]


def _leaves(part: MimePart) -> Iterator[_Leaf]:
    """The parts that are not multiparts, in their order."""
    if not part.parts:
        yield _Leaf(part, _clean(part.filename)[:NAME_CHARACTERS])
    for inner in part.parts:
        yield from _leaves(inner)


def _attachment(number: int, leaf: _Leaf, body: bytes) -> ReceivedAttachment:
    part = leaf.part
    content_type = part.content_type if _MEDIA_TYPE.fullmatch(part.content_type) else "application/octet-stream"
    content_id = _clean(part.content_id)[:NAME_CHARACTERS] or None
    default_name = f"message-{number}.eml" if content_type == "message/rfc822" else f"attachment-{number}"
    return ReceivedAttachment(
        id=str(number),
        filename=leaf.filename or default_name,
        content_type=content_type,
        size=len(body),
        content_id=content_id,
        inline=part.disposition == "inline" or (content_id is not None and part.disposition != "attachment"),
    )


def _mailboxes(message: MimePart, name: str) -> list[MailContact]:
    text = ", ".join(message.all(name))[:ADDRESS_LIST_CHARACTERS]
    return [
        MailContact(name=_clean(mailbox.name)[:NAME_CHARACTERS], email=_clean(mailbox.spec)[:NAME_CHARACTERS])
        for mailbox in parse_mailboxes(text)[:ADDRESSES_LIMIT]
    ]


def _message_ids(value: str) -> list[str]:
    return [_clean(message_id) for message_id in _MESSAGE_ID.findall(value)]


def _references(message: MimePart) -> list[str]:
    message_ids = [*_message_ids(message.get("References")), *_message_ids(message.get("In-Reply-To"))]
    latest = list(dict.fromkeys(reversed(message_ids)))[:REFERENCES_LIMIT]
    return latest[::-1]


def _date(value: str) -> Moment | None:
    """The time of a Date field (RFC 5322 §3.3) in UTC; None if it cannot be read."""
    try:
        parsed = parsedate_to_datetime(value[:NAME_CHARACTERS])
        return Moment.of(parsed.replace(tzinfo=parsed.tzinfo or UTC))
    except (ValueError, TypeError, IndexError, OverflowError):
        return None


def _is_automatic(message: MimePart) -> bool:
    submitted = message.get("Auto-Submitted").partition(";")[0].strip().lower()
    return (
        submitted not in ("", "no")
        or message.get("Precedence").strip().lower() in _AUTOMATIC_PRECEDENCES
        or any(message.get(name) for name in ("List-Id", "X-Autoreply", "X-Autorespond", "X-Auto-Response-Suppress"))
    )


def _value(value: str) -> str:
    return _clean(decode_words(value[:FIELD_CHARACTERS])).strip()[:FIELD_CHARACTERS]


def _clean(text: str) -> str:
    """A text without NUL and unpaired surrogates, which neither PostgreSQL nor JSON can hold."""
    return _UNSTORABLE.sub("\N{REPLACEMENT CHARACTER}", text)
