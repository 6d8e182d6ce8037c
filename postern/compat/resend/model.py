"""Bodies of Resend's API. Unknown fields are ignored, as Resend does."""

from typing import Annotated, Any, TypeVar

import msgspec

from postern.kernel.http.validation import invalid_value
from postern.kernel.values import LenientBody
from postern.protocols.mail.mime import ATTACHMENTS_LIMIT

ValidatedBody = TypeVar("ValidatedBody", bound=msgspec.Struct)
Addresses = str | Annotated[list[str], msgspec.Meta(max_length=50)]
"""One address or a list of addresses."""


def build_validated(kind: type[ValidatedBody], /, **fields: Any) -> ValidatedBody:
    """A request body of our own API with these fields. Raises Invalid, as our API does for such a request."""
    try:
        return msgspec.convert(msgspec.to_builtins(kind(**fields)), kind)
    except msgspec.ValidationError as error:
        raise invalid_value(error, kind) from None


class ResendTag(LenientBody):
    """A name and value by which sends can be found."""

    name: str
    value: str = ""


class ResendAttachment(LenientBody):
    """An attached file: its content in base64 or as a list of octets, or a URL from which it is read."""

    content: str | list[Annotated[int, msgspec.Meta(ge=0, le=255)]] | None = None
    path: str | None = None
    filename: str | None = None
    content_type: str | None = None
    content_id: str | None = None
    inline_content_id: str | None = None
    """A former name of `content_id`."""


class ResendTemplateInput(LenientBody):
    """The template of an e-mail, with its variables."""

    id: str
    variables: dict[str, Any] | None = None


class ResendEmail(LenientBody):
    """An e-mail to send."""

    from_: str | None = msgspec.field(name="from", default=None)
    to: Addresses
    subject: str | None = None
    bcc: Addresses | None = None
    cc: Addresses | None = None
    reply_to: Addresses | None = None
    html: str | None = None
    text: str | None = None
    headers: dict[str, str] | None = None
    scheduled_at: str | None = None
    attachments: Annotated[list[ResendAttachment], msgspec.Meta(max_length=ATTACHMENTS_LIMIT)] | None = None
    tags: list[ResendTag] | None = None
    template: ResendTemplateInput | None = None
    topic_id: str | None = None


class ResendReschedule(LenientBody):
    """The new time of a scheduled e-mail."""

    scheduled_at: str | None = None
