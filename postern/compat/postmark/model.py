"""The bodies of Postmark's mail operations, their limits, and what happens with each of their fields."""

from collections.abc import Mapping
from datetime import datetime
from typing import Annotated, Any, Final, Literal, dataclass_transform
from uuid import UUID

import msgspec

from postern.kernel.http.problems import BadRequest, Unprocessable
from postern.kernel.values import KeywordOnly, Moment, Record
from postern.messaging.emails.model import BODY_CHARACTERS, TAGS_LIMIT
from postern.protocols.mail.mime import ATTACHMENTS_LIMIT, HEADERS_LIMIT

MAX_BATCH_MESSAGES: Final = 500
MAX_ADDRESS_LIST_CHARACTERS: Final = 20_000
REPLY_TO_LIMIT: Final = 10
MAX_ALIAS_CHARACTERS: Final = 200


class TooManyMessages(Unprocessable):
    """A batch can have at most 500 messages."""


class InactiveRecipient(BadRequest):
    """All recipients of the message are on the project's suppression list."""


class SenderNotConfirmed(BadRequest):
    """The domain of the `From` address is a domain of this project that is not verified."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class PostmarkBody(msgspec.Struct, frozen=True, rename="pascal", metaclass=KeywordOnly):
    """A part of a request. Unknown fields are ignored, as Postmark does."""


class PostmarkHeader(PostmarkBody):
    """A header field of the message."""

    name: str
    value: str


class PostmarkAttachment(PostmarkBody):
    """An attached file in base64."""

    name: str
    content: str
    content_type: str | None = None
    content_id: str | None = msgspec.field(name="ContentID", default=None)


AddressList = Annotated[str, msgspec.Meta(max_length=MAX_ADDRESS_LIST_CHARACTERS)]
PostmarkText = Annotated[str, msgspec.Meta(max_length=BODY_CHARACTERS)]


class PostmarkEmail(PostmarkBody):
    """A message, with its content or with a template."""

    from_: Annotated[str, msgspec.Meta(max_length=1_000)] | None = msgspec.field(name="From", default=None)
    to: AddressList | None = None
    cc: AddressList | None = None
    bcc: AddressList | None = None
    subject: Annotated[str, msgspec.Meta(max_length=2_000)] | None = None
    tag: str | None = None
    html_body: PostmarkText | None = None
    text_body: PostmarkText | None = None
    reply_to: AddressList | None = None
    headers: Annotated[list[PostmarkHeader], msgspec.Meta(max_length=HEADERS_LIMIT)] | None = None
    track_opens: bool | None = None
    track_links: Literal["None", "HtmlAndText", "HtmlOnly", "TextOnly"] | None = None
    attachments: Annotated[list[PostmarkAttachment], msgspec.Meta(max_length=ATTACHMENTS_LIMIT)] | None = None
    metadata: Annotated[dict[str, str], msgspec.Meta(max_length=TAGS_LIMIT)] | None = None
    message_stream: str | None = None
    template_id: int | str | None = None
    template_alias: Annotated[str, msgspec.Meta(max_length=MAX_ALIAS_CHARACTERS)] | None = None
    template_model: dict[str, Any] | None = None


class PostmarkTemplateBatch(PostmarkBody):
    """Messages with templates."""

    messages: list[msgspec.Raw]


class PostmarkOutcome(Record):
    """The result of a message, in the form that is stored with an idempotency key.

    It has no fields for addresses: a repeated request contains them again. Only the text in `error` may name an
    address; the erasure of the address overwrites this text.
    """

    id: UUID | None = None
    submitted_at: datetime | None = None
    error_code: int = 0
    error: str | None = None
    """Why the message is not accepted, or which of its recipients will not get it."""


class PostmarkResult(PostmarkBody, omit_defaults=True):
    """An accepted message, or the reason why a message of a batch was not accepted."""

    to: str | None = None
    cc: str | None = None
    bcc: str | None = None
    submitted_at: Moment | None = None
    message_id: UUID | None = msgspec.field(name="MessageID", default=None)
    error_code: int
    message: str


FIELDS: Final[Mapping[str, str]] = {
    "From": "the sender, at a verified domain or a verified single sender of the project",
    "To": "addresses separated by commas, up to 50 with `Cc` and `Bcc`; at least one",
    "Cc": "addresses of a copy, separated by commas",
    "Bcc": "addresses of a blind copy, separated by commas",
    "Subject": "the subject; refused with a template, which has its own",
    "Tag": "a tag of the send, which the list of sent e-mails and all webhooks have",
    "HtmlBody": "the html, sent unchanged; refused with a template",
    "TextBody": "the text, sent unchanged; refused with a template",
    "ReplyTo": "up to 10 reply addresses, separated by commas",
    "Headers": "header fields of the message; those that Postern writes itself are refused",
    "TrackOpens": "turns the tracking of opens on or off",
    "TrackLinks": "`HtmlAndText` and `HtmlOnly` track the links of the html, `None` and `TextOnly` none",
    "Attachments": "up to 20 files",
    "Attachments.Name": "the name of the file",
    "Attachments.Content": "the file in base64",
    "Attachments.ContentType": "the content type; by default that of the file name's extension",
    "Attachments.ContentID": "`cid:…` makes the file available to the html",
    "Metadata": "each entry becomes a tag `name--value` of the send, with up to 256 characters",
    "MessageStream": "`outbound`, or `broadcast`, which adds one-click unsubscribing (RFC 8058) and sends a separate "
    "message to each recipient; others are refused",
    "TemplateId": "the id of a template of the project, as a string",
    "TemplateAlias": "the name of a template, or its name in lower case with hyphens (`welcome-mail` for "
    "`Welcome mail`)",
    "TemplateModel": "the variables of the template",
    "InlineCss": "ignored",
}
"""What happens with each field of a message, for the guide."""
