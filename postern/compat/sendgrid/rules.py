"""Pure functions: the e-mails that a SendGrid request describes, and the location of their errors in the request."""

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from postern.compat.sendgrid.model import (
    MAX_CATEGORY_CHARACTERS,
    MAX_CUSTOM_ARGS_BYTES,
    MAX_SEARCHED_PER_MESSAGE,
    MAX_SEARCHED_PER_REQUEST,
    MAX_SUBSTITUTIONS_BYTES,
    REFUSED,
    TOTAL_RECIPIENTS_LIMIT,
    SendGridAddress,
    SendGridAttachment,
    SendGridMail,
    SendGridPersonalization,
    SendGridSwitch,
    SendGridTrackingSettings,
)
from postern.kernel.http.problems import ContentTooLarge, Invalid
from postern.kernel.values import as_id
from postern.messaging.emails.model import (
    BODY_CHARACTERS,
    RECIPIENTS_LIMIT,
    SEPARATE_MESSAGES_BYTES,
    TAG_PAIR_SEPARATOR,
    Email,
    EmailAttachment,
)
from postern.messaging.emails.rules import check_tags
from postern.messaging.templates.model import TemplateContent


class TooLargeTogether(ContentTooLarge):
    """The messages of one request are too large together. Send fewer personalizations in one request."""


def require_valid(mail: SendGridMail) -> None:
    """Raises Invalid if the request sets a refused field, lacks a required one, or has too many or repeated recipients.

    Does not check addresses and content.
    """
    for field, sentence in REFUSED.items():
        if _is_set(mail, field):
            raise Invalid.at("/" + field.replace(".", "/"), sentence, "not_offered")
    if not mail.personalizations:
        raise Invalid.at("/personalizations", "There must be at least one personalization.", "required")
    if mail.template_id is None and not mail.content:
        raise Invalid.at("/content", "Set `content`, or use a template with `template_id`.", "required")
    if mail.reply_to is not None and mail.reply_to_list is not None:
        raise Invalid.at("/reply_to", "Use either `reply_to` or `reply_to_list`.", "ambiguous")
    total = 0
    for index, personalization in enumerate(mail.personalizations):
        path = f"/personalizations/{index}"
        count = _require_distinct(personalization, path)
        if not personalization.to:
            raise Invalid.at(f"{path}/to", "A personalization must have at least one address in `to`.", "required")
        if count > RECIPIENTS_LIMIT:
            message = (
                f"A message can have at most {RECIPIENTS_LIMIT} recipients in `to`, `cc` and `bcc` together. Use "
                "several personalizations."
            )
            raise Invalid.at(f"{path}/to", message, "too_many")
        total += count
    if total > TOTAL_RECIPIENTS_LIMIT:
        message = f"A request can have at most {TOTAL_RECIPIENTS_LIMIT} recipients in `to`, `cc` and `bcc` together."
        raise Invalid.at("/personalizations", message, "too_many")


def _is_set(mail: SendGridMail, field: str) -> bool:
    value: Any = mail
    for name in field.split("."):
        value = getattr(value, name, None)
    return value.enable is True if isinstance(value, SendGridSwitch) else bool(value)


def _require_distinct(personalization: SendGridPersonalization, path: str) -> int:
    """The number of recipients. Raises Invalid if a personalization contains an address twice."""
    seen: set[str] = set()
    for field in ("to", "cc", "bcc"):
        for number, address in enumerate(getattr(personalization, field) or []):
            key = address.email.strip().lower()
            if key in seen:
                message = "An address must be used only once in `to`, `cc` and `bcc` of a personalization."
                raise Invalid.at(f"{path}/{field}/{number}/email", message, "repeated")
            seen.add(key)
    return len(seen)


def is_sandbox(mail: SendGridMail) -> bool:
    """Whether the request is only checked, and nothing is sent (sandbox mode)."""
    return mail.mail_settings is not None and _is_enabled(mail.mail_settings.sandbox_mode) is True


def template_id_of(mail: SendGridMail) -> UUID | None:
    """The id of the template: `template_id`, with or without the prefix `d-` of dynamic templates.

    SendGrid's client library for Node.js sends `dynamic_template_data` only to templates with this prefix.
    """
    return None if mail.template_id is None else as_id(mail.template_id.removeprefix("d-"))


def emails_of(mail: SendGridMail, template: TemplateContent | None) -> Iterator[Email]:
    """The e-mail of each personalization of a request that `require_valid` has accepted.

    `template` is the content of its template, or None. Raises Invalid with a location in the request, or
    TooLargeTogether.
    """
    text, html = _contents(mail)
    if template is not None:  # A template always has content, which takes precedence.
        text = html = None
    attachments = [_attachment(attachment) for attachment in mail.attachments or []]
    categories = _categories(mail)
    _require_small(mail.sections or {}, MAX_SUBSTITUTIONS_BYTES, "/sections")
    template_id = template_id_of(mail)
    budget = SizeBudget(mail)
    tracking = mail.tracking_settings or SendGridTrackingSettings()
    for index, personalization in enumerate(mail.personalizations):
        path = f"/personalizations/{index}"
        substitute = _Substituter(mail, personalization, path, budget)
        subject = personalization.subject if personalization.subject is not None else mail.subject
        email = Email(
            from_=_mailbox(personalization.from_ or mail.from_, "/from"),
            to=_mailboxes(personalization.to, f"{path}/to"),
            cc=_mailboxes(personalization.cc, f"{path}/cc") or None,
            bcc=_mailboxes(personalization.bcc, f"{path}/bcc") or None,
            reply_to=_reply_to(mail, substitute) or None,
            subject=None if template is not None and template.subject is not None else substitute(subject),
            text=substitute(text),
            html=substitute(html),
            template_id=None if template_id is None else str(template_id),
            engine="none" if template_id is None else None,
            variables=personalization.dynamic_template_data or {} if template_id is not None else {},
            headers=_headers(mail, personalization) or None,
            attachments=attachments or None,
            tags=_tags(mail, personalization, path, categories) or None,
            scheduled_at=_moment(personalization.send_at if personalization.send_at is not None else mail.send_at),
            track_opens=_is_enabled(tracking.open_tracking),
            track_clicks=_is_enabled(tracking.click_tracking),
            unsubscribable=_is_enabled(tracking.subscription_tracking) is True,
        )
        budget.count_stored(email, template)
        yield email


def path_in_request(mail: SendGridMail, index: int, path: str) -> str:
    """The JSON pointer into the SendGrid request for `path`, a JSON pointer into the e-mail that `emails_of` made from
    the personalization `index`.

    For example, `/scheduledAt` becomes `/personalizations/0/send_at`.
    """
    field, *rest = path.lstrip("/").split("/")
    personalization, own_path = mail.personalizations[index], f"/personalizations/{index}"
    if field in ("to", "cc", "bcc"):
        return f"{own_path}/{field}" + (f"/{rest[0]}/email" if rest else "")
    if field == "from":
        return f"{own_path}/from/email" if personalization.from_ is not None else "/from/email"
    if field == "subject" and mail.template_id is None:
        return f"{own_path}/subject" if personalization.subject is not None else "/subject"
    if field in ("subject", "html", "text", "templateId"):
        return "/content" if mail.template_id is None else "/template_id"
    if field == "headers" and rest and rest[0] in (personalization.headers or {}):
        return f"{own_path}{path}"
    if field == "attachments" and len(rest) == 2:
        return f"/attachments/{rest[0]}/{_ATTACHMENT_FIELDS.get(rest[1], rest[1])}"
    if field == "scheduledAt" and personalization.send_at is not None:
        return f"{own_path}/send_at"
    return {
        "variables": f"{own_path}/dynamic_template_data",
        "replyTo": "/reply_to" if mail.reply_to_list is None else "/reply_to_list",
        "scheduledAt": "/send_at",
    }.get(field, path)


_ATTACHMENT_FIELDS = {"contentType": "type", "contentId": "content_id"}


class SizeBudget:
    """Counts, over all messages of one request, the characters that are stored and those that are searched for tags."""

    def __init__(self, mail: SendGridMail) -> None:
        self._is_single = len(mail.personalizations) == 1
        self._stored = 0
        self._searched = 0

    def count_searched(self, searched: int, added: int) -> int:
        """Count `added` characters that are searched for a tag. `searched` is how many were already searched for the
        same message. Returns their sum. Raises TooLargeTogether beyond the limits."""
        self._searched += added
        if searched + added > MAX_SEARCHED_PER_MESSAGE or self._searched > MAX_SEARCHED_PER_REQUEST:
            raise TooLargeTogether("There are too many substitutions for messages of this size. Send fewer at a time.")
        return searched + added

    def count_stored(self, email: Email, template: TemplateContent | None) -> None:
        """Count the characters that are stored for an e-mail. Raises TooLargeTogether beyond the limit."""
        files = sum(len(attachment.content) for attachment in email.attachments or [])
        texts = [email.html, email.text, *((template.html, template.text) if template is not None else ())]
        size = sum(len(text) for text in texts if text is not None) + files
        recipients = len(email.to) + len(email.cc or []) + len(email.bcc or [])
        self._stored += size * recipients if email.unsubscribable else size
        if not self._is_single and self._stored > SEPARATE_MESSAGES_BYTES:
            raise TooLargeTogether


class _Substituter:
    """Replaces the substitution tags of one personalization."""

    def __init__(
        self, mail: SendGridMail, personalization: SendGridPersonalization, path: str, budget: SizeBudget
    ) -> None:
        substitutions, sections = personalization.substitutions or {}, mail.sections or {}
        self._path, self._budget, self._searched = f"{path}/substitutions", budget, 0
        if substitutions and mail.template_id is not None:
            message = "A template gets its values from `dynamic_template_data`, not from `substitutions`."
            raise Invalid.at(self._path, message, "ambiguous")
        _require_small(substitutions, MAX_SUBSTITUTIONS_BYTES, self._path)
        # A value may be the tag of a section, whose text may contain tags.
        self._rounds = [substitutions, sections, substitutions] if substitutions and sections else [substitutions]

    def __call__(self, text: str | None) -> str | None:
        """The text with its tags replaced by their values; None for None. Raises Invalid if it becomes too large."""
        if text is None:
            return None
        for values in self._rounds:
            for tag, value in values.items():
                self._searched = self._budget.count_searched(self._searched, len(text))
                count = text.count(tag)
                if count and len(text) + count * (len(value) - len(tag)) > BODY_CHARACTERS:
                    raise Invalid.at(self._path, "The message becomes too large with these substitutions.", "too_large")
                text = text.replace(tag, value) if count else text
        return text


def _require_small(values: Mapping[str, str], limit: int, path: str) -> None:
    if "" in values:
        raise Invalid.at(path, "A tag must have at least one character.")
    if sum(len(tag.encode()) + len(value.encode()) for tag, value in values.items()) > limit:
        raise Invalid.at(path, f"These values can have at most {limit:,} octets together.", "too_large")


def _contents(mail: SendGridMail) -> tuple[str | None, str | None]:
    """Text and html. Raises Invalid for other types."""
    contents: dict[str, str] = {}
    for index, content in enumerate(mail.content or []):
        kind = content.type.partition(";")[0].strip().lower()
        if kind not in ("text/plain", "text/html"):
            message = "The content must be `text/plain` or `text/html`. Attach other types as files."
            raise Invalid.at(f"/content/{index}/type", message, "not_offered")
        if kind in contents:
            raise Invalid.at(f"/content/{index}/type", f"There can be only one content of the type {kind}.", "repeated")
        if not content.value:
            raise Invalid.at(f"/content/{index}/value", "The content must have at least one character.", "required")
        contents[kind] = content.value
    html = contents.get("text/html")
    opens = mail.tracking_settings and mail.tracking_settings.open_tracking
    if html is not None and opens and opens.substitution_tag:
        html = html.replace(opens.substitution_tag, "")
    return contents.get("text/plain"), html


def _mailbox(address: SendGridAddress, path: str) -> str:
    """The address with its name as text. Raises Invalid if `email` contains a display name besides the address."""
    email = address.email.strip()
    if "<" in email or ">" in email:
        raise Invalid.at(f"{path}/email", "Put the display name into `name`, and only the address into `email`.")
    if not address.name:
        return email
    escaped = address.name.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}" <{email}>'


def _mailboxes(addresses: list[SendGridAddress] | None, path: str) -> list[str]:
    return [_mailbox(address, f"{path}/{number}") for number, address in enumerate(addresses or [])]


def _reply_to(mail: SendGridMail, substitute: _Substituter) -> list[str]:
    addresses = [mail.reply_to] if mail.reply_to is not None else mail.reply_to_list or []
    substituted = [
        SendGridAddress(email=substitute(address.email) or "", name=substitute(address.name)) for address in addresses
    ]
    return _mailboxes(substituted, "/reply_to_list" if mail.reply_to is None else "/reply_to")


def _headers(mail: SendGridMail, personalization: SendGridPersonalization) -> dict[str, str]:
    own = personalization.headers or {}
    names = {name.lower() for name in own}
    return {name: value for name, value in (mail.headers or {}).items() if name.lower() not in names} | own


def _attachment(attachment: SendGridAttachment) -> EmailAttachment:
    is_inline = (attachment.disposition or "").strip().lower() == "inline"
    return EmailAttachment(
        filename=attachment.filename,
        content=attachment.content,
        content_type=attachment.type or None,
        content_id=attachment.content_id or None if is_inline else None,
    )


def _categories(mail: SendGridMail) -> list[str]:
    for index, category in enumerate(mail.categories or []):
        if len(category) > MAX_CATEGORY_CHARACTERS:
            message = f"A category can have at most {MAX_CATEGORY_CHARACTERS} characters."
            raise Invalid.at(f"/categories/{index}", message, "too_large")
    return check_tags(dict.fromkeys(mail.categories or []), "/categories")


def _tags(mail: SendGridMail, personalization: SendGridPersonalization, path: str, categories: list[str]) -> list[str]:
    """The categories, the batch and the custom arguments as tags. Raises Invalid."""
    own = personalization.custom_args or {}
    arguments = {**(mail.custom_args or {}), **own}
    path = f"{path if own else ''}/custom_args"
    if sum(len(name.encode()) + len(value.encode()) for name, value in arguments.items()) > MAX_CUSTOM_ARGS_BYTES:
        message = f"Custom arguments can have at most {MAX_CUSTOM_ARGS_BYTES:,} octets together."
        raise Invalid.at(path, message, "too_large")
    pairs = [*arguments.items(), *([("batch_id", mail.batch_id)] if mail.batch_id else [])]
    return check_tags([*categories, *(f"{name}{TAG_PAIR_SEPARATOR}{value}" for name, value in pairs)], path)


def _moment(seconds: int | None) -> datetime | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)


def _is_enabled(setting: SendGridSwitch | None) -> bool | None:
    return None if setting is None else setting.enable
