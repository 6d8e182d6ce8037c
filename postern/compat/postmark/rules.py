"""Pure functions: the e-mail that a Postmark message describes, and the results of messages."""

import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from uuid import UUID

from postern.compat.postmark.model import (
    REPLY_TO_LIMIT,
    InactiveRecipient,
    PostmarkAttachment,
    PostmarkEmail,
    PostmarkHeader,
    PostmarkOutcome,
    PostmarkResult,
)
from postern.kernel.http.problems import Invalid, Problem
from postern.kernel.values import Moment
from postern.messaging.emails.model import RECIPIENTS_LIMIT, TAG_PAIR_SEPARATOR, Email, EmailAttachment, Send
from postern.messaging.emails.rules import check_tags
from postern.protocols.mail.address import AddressInvalid
from postern.protocols.mail.templates.composing import address_of

TEMPLATE_MISSING = "template_missing"
STREAM_MISSING = "stream_missing"
STREAMS = {"outbound": False, "broadcast": True}
"""The message streams, and whether their messages have an unsubscribe link."""


def email_of(message: PostmarkEmail, template_id: str | None) -> Email:
    """The e-mail that a message describes. Raises Invalid with a location in the message.

    `template_id` is the id of its template; None if the message has content of its own.
    """
    to = split_addresses(message.to)
    if not to:
        raise Invalid.at("/To", "Zero recipients specified: `To` must have at least one address.", "required")
    if not message.from_ or not message.from_.strip():
        raise Invalid.at("/From", "The 'From' address is missing.", "required")
    if template_id is not None:
        _require_only_template(message)
    elif not (message.html_body or message.text_body):
        raise Invalid.at("/HtmlBody", "Provide either email TextBody or HtmlBody or both.", "required")
    cc, bcc = split_addresses(message.cc), split_addresses(message.bcc)
    # Checked before addresses are parsed, because parsing takes long.
    if len(to) + len(cc) + len(bcc) > RECIPIENTS_LIMIT:
        sentence = f"`To`, `Cc` and `Bcc` together can have at most {RECIPIENTS_LIMIT} recipients."
        raise Invalid.at("/To", sentence, "too_many")
    reply_to = split_addresses(message.reply_to)
    if len(reply_to) > REPLY_TO_LIMIT:
        raise Invalid.at("/ReplyTo", f"There can be at most {REPLY_TO_LIMIT} reply addresses.", "too_many")
    return Email(
        from_=message.from_,
        to=to,
        cc=cc or None,
        bcc=bcc or None,
        reply_to=reply_to or None,
        subject=None if template_id is not None else message.subject or "",
        html=message.html_body or None,
        text=message.text_body or None,
        template_id=template_id,
        engine="none" if template_id is None else None,
        variables=message.template_model or {} if template_id is not None else {},
        headers=_headers(message.headers or []) or None,
        attachments=[_attachment(attachment) for attachment in message.attachments or []] or None,
        tags=_tags(message) or None,
        track_opens=message.track_opens,
        track_clicks=None if message.track_links is None else message.track_links.startswith("Html"),
        unsubscribable=_is_unsubscribable(message.message_stream),
    )


def _require_only_template(message: PostmarkEmail) -> None:
    for name, value in (
        ("Subject", message.subject),
        ("HtmlBody", message.html_body),
        ("TextBody", message.text_body),
    ):
        if value:
            raise Invalid.at(f"/{name}", f"`{name}` is part of the template; leave it out.", "ambiguous")


_PARTS = re.compile(r'["\\,]|[^"\\,]+')


def split_addresses(text: str | None) -> list[str]:
    """The addresses of a list separated by commas; commas in quoted strings (RFC 5322 §3.2.4) do not separate."""
    addresses, in_quotes, is_escaped = [""], False, False
    for part in _PARTS.findall(text or ""):
        if part == "," and not in_quotes:
            addresses.append("")
            continue
        if part == '"' and not is_escaped:
            in_quotes = not in_quotes
        is_escaped = part == "\\" and in_quotes and not is_escaped
        addresses[-1] += part
    return [address.strip() for address in addresses if address.strip()]


def _headers(headers: Sequence[PostmarkHeader]) -> dict[str, str]:
    values: dict[str, str] = {}
    for index, header in enumerate(headers):
        if header.name in values:
            raise Invalid.at(f"/Headers/{index}/Name", "There can be only one header with this name.", "repeated")
        values[header.name] = header.value
    return values


def _attachment(attachment: PostmarkAttachment) -> EmailAttachment:
    content_id = (attachment.content_id or "").strip()
    return EmailAttachment(
        filename=attachment.name,
        content=attachment.content,
        content_type=attachment.content_type or None,
        content_id=content_id.removeprefix("cid:") or None,
    )


def _tags(message: PostmarkEmail) -> list[str]:
    tags = check_tags([message.tag] if message.tag else [], "/Tag")
    pairs = [f"{name}{TAG_PAIR_SEPARATOR}{value}" for name, value in (message.metadata or {}).items()]
    return check_tags([*tags, *pairs], "/Metadata")


def _is_unsubscribable(stream: str | None) -> bool:
    if stream and stream not in STREAMS:
        message = f"The stream provided: '{stream[:100]}' does not exist on this server. Use `outbound` or `broadcast`."
        raise Invalid.at("/MessageStream", message, STREAM_MISSING)
    return STREAMS[stream or "outbound"]


def path_in_message(path: str) -> str:
    """Convert the location of an error in the e-mail into its location in the message: `/html` becomes `/HtmlBody`."""
    field, *rest = path.lstrip("/").split("/")
    if field == "attachments":
        return "/".join(["/Attachments", *rest[:1], *(_ATTACHMENT_FIELDS.get(name, name) for name in rest[1:])])
    return f"/{_FIELDS[field]}" if field in _FIELDS else path


_FIELDS = {
    "from": "From",
    "to": "To",
    "cc": "Cc",
    "bcc": "Bcc",
    "replyTo": "ReplyTo",
    "subject": "Subject",
    "html": "HtmlBody",
    "text": "TextBody",
    "headers": "Headers",
    "tags": "Tag",
    "variables": "TemplateModel",
    "templateId": "TemplateId",
}
_ATTACHMENT_FIELDS = {"filename": "Name", "content": "Content", "contentType": "ContentType", "contentId": "ContentID"}


def template_id_of(message: PostmarkEmail, ids_by_alias: Mapping[str, Sequence[UUID]]) -> str:
    """The id of the template of a message. Raises Invalid without a template, and for an unknown or ambiguous alias."""
    if message.template_id:
        return str(message.template_id)
    if not message.template_alias:
        raise Invalid.at("/TemplateId", "Set `TemplateId` or `TemplateAlias`.", TEMPLATE_MISSING)
    ids = ids_by_alias.get(message.template_alias, ())
    if len(ids) == 1:
        return str(ids[0])
    count = "Several templates of this project have" if ids else "No template of this project has"
    sentence = f"{count} the name '{message.template_alias[:100]}'. Set `TemplateId` to the id of a template."
    raise Invalid.at("/TemplateAlias", sentence, TEMPLATE_MISSING)


def plain_addresses(addresses: Sequence[str]) -> list[str]:
    """The addresses without display names and without repetitions; invalid ones are left out."""
    plain: dict[str, None] = {}
    for text in addresses:
        with suppress(AddressInvalid):
            plain[address_of(text).spec] = None
    return list(plain)


def inactive_among(addresses: Sequence[str], suppressed: Mapping[str, str]) -> list[str]:
    """The addresses that are suppressed. Raises InactiveRecipient if all of them are."""
    inactive = [address for address in addresses if address.lower() in suppressed]
    if inactive and len(inactive) == len(addresses):
        # Postmark's client libraries read the addresses from these words.
        raise InactiveRecipient(
            "You tried to send to recipient(s) that have been marked as inactive. Found inactive addresses: "
            f"{', '.join(inactive)}. Inactive recipients are ones that have generated a hard bounce, a spam complaint, "
            "or a manual suppression."
        )
    return inactive


def outcome_of(send: Send, inactive: Sequence[str]) -> PostmarkOutcome:
    """The outcome of an accepted message; `inactive` are its recipients that are suppressed."""
    sentence = f"Message OK, but will not deliver to these inactive addresses: {', '.join(inactive)}."
    return PostmarkOutcome(id=send.id, submitted_at=send.created_at, error=sentence if inactive else None)


def result_of(message: PostmarkEmail | Problem, outcome: PostmarkOutcome) -> PostmarkResult:
    """The result of a message for the response."""
    if outcome.error_code or isinstance(message, Problem):
        return PostmarkResult(error_code=outcome.error_code, message=outcome.error or "")
    return PostmarkResult(
        to=message.to,
        cc=message.cc or None,
        bcc=message.bcc or None,
        submitted_at=outcome.submitted_at and Moment.of(outcome.submitted_at),
        message_id=outcome.id,
        error_code=0,
        message=outcome.error or "OK",
    )
