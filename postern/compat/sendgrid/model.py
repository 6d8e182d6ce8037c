"""The body of SendGrid's `POST /v3/mail/send`, its limits, and what happens with each of its fields."""

from collections.abc import Mapping
from typing import Annotated, Any, Final, dataclass_transform

import msgspec

from postern.kernel.values import KeywordOnly
from postern.messaging.emails.model import BODY_CHARACTERS
from postern.protocols.mail.mime import ATTACHMENTS_LIMIT, HEADERS_LIMIT

PERSONALIZATIONS_LIMIT: Final = 1_000
"""Maximum personalizations of one request."""
TOTAL_RECIPIENTS_LIMIT: Final = 1_000
"""Maximum recipients of one request, in `to`, `cc` and `bcc` of all personalizations together."""
REPLY_TO_LIMIT: Final = 10
CATEGORIES_LIMIT: Final = 10
MAX_CATEGORY_CHARACTERS: Final = 255
MAX_SUBSTITUTIONS_BYTES: Final = 10_000
"""The largest size of the substitutions of one personalization, or of all sections, in octets."""
MAX_CUSTOM_ARGS_BYTES: Final = 10_000
"""The largest size of the custom arguments of one message, in octets."""
SUBSTITUTIONS_LIMIT: Final = 10_000
MAX_SEARCHED_PER_MESSAGE: Final = 50_000_000
"""Maximum number of characters that are searched for substitution tags in one message. Each tag is a search of the
whole text."""
MAX_SEARCHED_PER_REQUEST: Final = 500_000_000
"""Maximum number of characters that are searched for substitution tags in all messages of one request."""
LAST_SECOND: Final = 253_402_300_799
"""The last second of the year 9999 in Unix time."""


@dataclass_transform(frozen_default=True, kw_only_default=True)
class SendGridBody(msgspec.Struct, frozen=True, metaclass=KeywordOnly):
    """A part of a request, in snake_case. Unknown fields are ignored."""


class SendGridAddress(SendGridBody):
    """An address with an optional display name."""

    email: Annotated[str, msgspec.Meta(max_length=1_000)]
    name: Annotated[str, msgspec.Meta(max_length=1_000)] | None = None


SendGridAddresses = Annotated[list[SendGridAddress], msgspec.Meta(max_length=TOTAL_RECIPIENTS_LIMIT)]
SendGridHeaders = Annotated[dict[str, str], msgspec.Meta(max_length=HEADERS_LIMIT)]
SendGridValues = Annotated[dict[str, str], msgspec.Meta(max_length=SUBSTITUTIONS_LIMIT)]
SendGridSubject = Annotated[str, msgspec.Meta(max_length=2_000)]
UnixTime = Annotated[int, msgspec.Meta(ge=0, le=LAST_SECOND)]


class SendGridPersonalization(SendGridBody):
    """One message: its recipients, and what differs from the other messages of the request."""

    to: SendGridAddresses
    from_: SendGridAddress | None = msgspec.field(name="from", default=None)
    cc: SendGridAddresses | None = None
    bcc: SendGridAddresses | None = None
    subject: SendGridSubject | None = None
    headers: SendGridHeaders | None = None
    substitutions: SendGridValues | None = None
    dynamic_template_data: dict[str, Any] | None = None
    custom_args: SendGridValues | None = None
    send_at: UnixTime | None = None


class SendGridContent(SendGridBody):
    """The text or the html."""

    type: Annotated[str, msgspec.Meta(max_length=255)]
    value: Annotated[str, msgspec.Meta(max_length=BODY_CHARACTERS)]


class SendGridAttachment(SendGridBody):
    """An attached file in base64."""

    content: str
    filename: str
    type: str | None = None
    disposition: str | None = None
    content_id: str | None = None


class SendGridSwitch(SendGridBody):
    """A setting that is on or off."""

    enable: bool | None = None


class SendGridFooter(SendGridSwitch):
    """Text below every message."""

    text: str | None = None
    html: str | None = None


class SendGridBccCopy(SendGridSwitch):
    """A blind copy of every message, to one address."""

    email: str | None = None


class SendGridSpamCheck(SendGridSwitch):
    """A check of the content by SendGrid."""

    threshold: int | None = None
    post_to_url: str | None = None


class SendGridMailSettings(SendGridBody):
    """How the request is handled."""

    sandbox_mode: SendGridSwitch | None = None
    bypass_list_management: SendGridSwitch | None = None
    bypass_spam_management: SendGridSwitch | None = None
    bypass_bounce_management: SendGridSwitch | None = None
    bypass_unsubscribe_management: SendGridSwitch | None = None
    footer: SendGridFooter | None = None
    bcc: SendGridBccCopy | None = None
    spam_check: SendGridSpamCheck | None = None


class SendGridClickTracking(SendGridSwitch):
    """Whether links are tracked."""

    enable_text: bool | None = None


class SendGridOpenTracking(SendGridSwitch):
    """Whether opens are tracked."""

    substitution_tag: str | None = None


class SendGridSubscriptionTracking(SendGridSwitch):
    """Whether the message has an unsubscribe link."""

    text: str | None = None
    html: str | None = None
    substitution_tag: str | None = None


class SendGridAnalytics(SendGridSwitch):
    """Parameters for Google Analytics in links."""

    utm_source: str | None = None
    utm_medium: str | None = None
    utm_term: str | None = None
    utm_content: str | None = None
    utm_campaign: str | None = None


class SendGridTrackingSettings(SendGridBody):
    """What is tracked."""

    click_tracking: SendGridClickTracking | None = None
    open_tracking: SendGridOpenTracking | None = None
    subscription_tracking: SendGridSubscriptionTracking | None = None
    ganalytics: SendGridAnalytics | None = None


class SendGridGroup(SendGridBody):
    """An unsubscribe group."""

    group_id: int
    groups_to_display: list[int] | None = None


class SendGridMail(SendGridBody):
    """A request: one or several messages."""

    personalizations: Annotated[list[SendGridPersonalization], msgspec.Meta(max_length=PERSONALIZATIONS_LIMIT)]
    from_: SendGridAddress = msgspec.field(name="from")
    reply_to: SendGridAddress | None = None
    reply_to_list: Annotated[list[SendGridAddress], msgspec.Meta(max_length=REPLY_TO_LIMIT)] | None = None
    subject: SendGridSubject | None = None
    content: Annotated[list[SendGridContent], msgspec.Meta(max_length=10)] | None = None
    attachments: Annotated[list[SendGridAttachment], msgspec.Meta(max_length=ATTACHMENTS_LIMIT)] | None = None
    template_id: str | None = None
    headers: SendGridHeaders | None = None
    categories: Annotated[list[str], msgspec.Meta(max_length=CATEGORIES_LIMIT)] | None = None
    custom_args: SendGridValues | None = None
    sections: SendGridValues | None = None
    send_at: UnixTime | None = None
    batch_id: str | None = None
    asm: SendGridGroup | None = None
    ip_pool_name: str | None = None
    mail_settings: SendGridMailSettings | None = None
    tracking_settings: SendGridTrackingSettings | None = None


REFUSED: Final[Mapping[str, str]] = {
    "asm": "There are no unsubscribe groups here. Remove `asm`; to add an unsubscribe link that counts for the whole "
    "project, set `tracking_settings.subscription_tracking.enable`.",
    "mail_settings.bypass_list_management": "Suppressed addresses get no mail here. Remove an address from the "
    "project's suppression list instead.",
    "mail_settings.bypass_spam_management": "Suppressed addresses get no mail here. Remove an address from the "
    "project's suppression list instead.",
    "mail_settings.bypass_bounce_management": "Suppressed addresses get no mail here. Remove an address from the "
    "project's suppression list instead.",
    "mail_settings.bypass_unsubscribe_management": "Suppressed addresses get no mail here. Remove an address from the "
    "project's suppression list instead.",
    "mail_settings.footer": "There are no footers here. Put the footer into the content or the template.",
    "mail_settings.bcc": "There is no blind copy of all mail here. Add the address to `personalizations.bcc`.",
    "tracking_settings.subscription_tracking.substitution_tag": "There is no such substitution here. Use a template "
    "with `{{unsubscribe_url}}` where the link belongs.",
}
"""Fields that are refused with 400 and this sentence if they are set (a setting: if it is enabled), because ignoring
them would change who gets a message or what is in it."""

FIELDS: Final[Mapping[str, str]] = {
    "personalizations": "one message for each, up to 1,000 with 1,000 recipients together",
    "personalizations.to": "recipients, up to 50 with `cc` and `bcc`; an address may be used once",
    "personalizations.cc": "recipients of a copy",
    "personalizations.bcc": "recipients of a blind copy",
    "personalizations.from": "replaces `from`",
    "personalizations.subject": "replaces `subject`",
    "personalizations.headers": "added to `headers`, or replaces them where the names are equal",
    "personalizations.substitutions": "replaced in subject, content and reply address, without HTML escapes",
    "personalizations.dynamic_template_data": "the variables of the template",
    "personalizations.custom_args": "added to `custom_args`, or replaces them where the names are equal",
    "personalizations.send_at": "replaces `send_at`",
    "from": "the sender, at a verified domain or a verified single sender of the project",
    "reply_to": "the reply address",
    "reply_to_list": "up to 10 reply addresses",
    "subject": "the subject; that of the template wins if it has one",
    "content": "`text/plain` and `text/html`, sent unchanged; other types are refused",
    "attachments": "up to 20 files",
    "attachments.content": "the file in base64",
    "attachments.filename": "the name of the file",
    "attachments.type": "the content type; by default that of the file name's extension",
    "attachments.disposition": "`inline` makes the file available to the html as `cid:` with its `content_id`",
    "attachments.content_id": "the content id; ignored unless `disposition` is `inline`",
    "template_id": "the id of a template of the project, with `d-` before it or without; an unknown one is refused",
    "headers": "header fields of the message; those that Postern writes itself are refused",
    "categories": "tags of the send, which the list of sent e-mails and all webhooks have",
    "custom_args": "each entry becomes a tag `name--value` of the send, with up to 256 characters",
    "sections": "texts that replace their tags in the values of substitutions",
    "send_at": "the time of a scheduled send, up to 30 days ahead",
    "batch_id": "a tag `batch_id--value` of the send",
    "asm": "refused: there are no unsubscribe groups",
    "ip_pool_name": "ignored",
    "mail_settings.sandbox_mode": "the request is checked completely and answered with 200; nothing is sent",
    "mail_settings.bypass_list_management": "refused if enabled: suppressed addresses get no mail",
    "mail_settings.bypass_spam_management": "refused if enabled: suppressed addresses get no mail",
    "mail_settings.bypass_bounce_management": "refused if enabled: suppressed addresses get no mail",
    "mail_settings.bypass_unsubscribe_management": "refused if enabled: suppressed addresses get no mail",
    "mail_settings.footer": "refused if enabled: put the footer into the content",
    "mail_settings.bcc": "refused if enabled: add the address to `personalizations.bcc`",
    "mail_settings.spam_check": "ignored",
    "tracking_settings.click_tracking": "turns the tracking of links on or off; `enable_text` is ignored",
    "tracking_settings.open_tracking": "turns the tracking of opens on or off; `substitution_tag` is removed",
    "tracking_settings.subscription_tracking": "`enable` adds one-click unsubscribing (RFC 8058), with a separate "
    "message for each recipient; `text` and `html` are ignored, `substitution_tag` is refused",
    "tracking_settings.ganalytics": "ignored",
}
"""What happens with each field of a request, for the guide."""
