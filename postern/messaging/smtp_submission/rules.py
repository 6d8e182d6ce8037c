"""Pure functions: the e-mail that a submitted message describes, and the SMTP replies to problems."""

import re
from base64 import b64encode
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, Final

import msgspec

from postern.kernel.http.handler import read_json
from postern.kernel.http.problems import (
    ContentTooLarge,
    Forbidden,
    Invalid,
    Problem,
    RateLimited,
    Unauthenticated,
    Unavailable,
)
from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json
from postern.kernel.values import to_json
from postern.messaging.emails.model import RECIPIENTS_LIMIT, SEPARATE_MESSAGES_BYTES, TAG_PAIR_SEPARATOR, Email
from postern.messaging.emails.operations import EMAIL_DECODER
from postern.messaging.emails.rules import check_tags
from postern.protocols.mail.address import AddressInvalid, parse_address, parsed_address_key
from postern.protocols.mail.mime import extension_of
from postern.protocols.mail.mime_parser import (
    Mailbox,
    MimeInvalid,
    MimePart,
    decode_words,
    parse_mailboxes,
    parse_message,
)
from postern.protocols.mail.smtp import SmtpReply

IDEMPOTENCY_FIELD: Final = "idempotency-key"
OPTION_PREFIX: Final = "x-postern-"
METADATA_PREFIX: Final = "x-postern-metadata-"
WRITTEN_BY_SERVICE = frozenset(
    [
        *("bcc", "date", "message-id", "mime-version", "return-path", "received", "authentication-results"),
        *("received-spf", "delivered-to", "x-original-to", "envelope-to", "dkim-signature"),
    ]
)
"""Header fields that are left out, because the service writes its own or because they describe earlier deliveries
of the message."""
_LEFT_OUT_PREFIXES = ("content-", "arc-", OPTION_PREFIX)
MAPPED = frozenset(("from", "to", "cc", "reply-to", "subject", "sender", IDEMPOTENCY_FIELD))
"""Header fields that become fields of the e-mail; each may occur once (RFC 5322 §3.6)."""
PROTECTED_TYPES = frozenset(("multipart/signed", "multipart/encrypted"))
"""Types whose content must stay byte for byte the same, so that messages with them are refused."""
ALTERNATIVES = ("multipart/", "text/plain", "text/html", "text/calendar")
"""How the types of parts in a multipart/alternative may begin. A `text/calendar`, which is an invitation, becomes an
attachment, where calendar programs find it, too."""
_CONTROLS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")
_PLAIN_PARAMETER = re.compile(r"[\w.+-]{1,60}", re.ASCII)


class SubmittedMessage(msgspec.Struct, frozen=True, kw_only=True):
    """The e-mails that a message describes."""

    emails: list[Email]
    """One e-mail, or one for each recipient if `To` and `Cc` name none of them."""
    idempotency_key: str | None
    """The value of the header field `Idempotency-Key`; None without it."""


def read_message(content: bytes, recipients: Sequence[str]) -> SubmittedMessage:
    """The e-mails that a message to these envelope recipients describes.

    Raises a Problem whose paths begin with the name of the header field, such as `/Reply-To`.
    """
    try:
        message = parse_message(content)
        values = _values_of(message)
    except MimeInvalid as error:
        raise Invalid(str(error)) from None
    tags = values.pop("tags")  # Set below: they may have characters that the tags of an Email must not have.
    first, *others = _addresses_of(message, recipients)
    if len(content) * (1 + len(others)) > SEPARATE_MESSAGES_BYTES:
        sentence = (
            "A message without recipients in `To` and `Cc` is stored once for each recipient, and is too large for so "
            "many. Send to fewer recipients at a time."
        )
        raise Invalid.at("/To", sentence, "too_large")
    try:
        email = read_json(EMAIL_DECODER, to_json({**values, **first}))
    except Problem as problem:
        raise problem.relocated(field_of_path) from None
    email = msgspec.structs.replace(email, tags=tags or None)
    keys = message.all(IDEMPOTENCY_FIELD)
    return SubmittedMessage(
        emails=[email, *(msgspec.structs.replace(email, to=other["to"]) for other in others)],
        idempotency_key=keys[0].strip() if keys else None,
    )


def _values_of(message: MimePart) -> dict[str, Any]:
    """The fields of the e-mail as JSON values, except its recipients. Raises MimeInvalid and Invalid."""
    _check_fields(message)
    values: dict[str, Any] = {"from": _sender(message), "subject": _one_line(message.get("Subject"))}
    reply_to = [str(mailbox) for mailbox in parse_mailboxes(message.get("Reply-To"))]
    if reply_to:
        values["replyTo"] = reply_to
    headers = _headers(message)
    if headers:
        values["headers"] = headers
    values |= _options(message)
    text, html, attachments = _content(message)
    if attachments:
        values["attachments"] = attachments
    if "templateId" in values:
        # The template replaces text and html, which programs cannot leave out of a message.
        return values if values["subject"] else {**values, "subject": None}
    return {"engine": "minijinja" if "variables" in values else "none", **values, "text": text, "html": html}


def _check_fields(message: MimePart) -> None:
    """Raises Invalid for a field that occurs twice."""
    seen: set[str] = set()
    for name, _ in message.fields:
        lower = name.lower()
        if lower in WRITTEN_BY_SERVICE or lower.startswith(("arc-", "content-")) or lower == "x-postern-tag":
            continue
        if lower in seen:
            raise Invalid.at(f"/{name}", "The field may occur only once.", "repeated")
        seen.add(lower)


def _sender(message: MimePart) -> str:
    mailboxes = parse_mailboxes(message.get("From"))
    if len(mailboxes) != 1:
        raise Invalid.at("/From", "A message must have exactly one sender address.", "required")
    senders = parse_mailboxes(message.get("Sender"))
    if len(senders) > 1 or (senders and _key(senders[0], "Sender") != _key(mailboxes[0], "From")):
        raise Invalid.at("/Sender", "The field must have the same address as `From`, or be left out.", "not_offered")
    return str(mailboxes[0])


def _headers(message: MimePart) -> dict[str, str]:
    """The fields that the e-mail gets unchanged."""
    return {
        name: _one_line(value)
        for name, value in message.fields
        if (lower := name.lower()) not in WRITTEN_BY_SERVICE | MAPPED and not lower.startswith(_LEFT_OUT_PREFIXES)
    }


def _one_line(value: str) -> str:
    """A field's value, decoded, without control characters."""
    return _CONTROLS.sub(" ", decode_words(value)).strip()


# Recipients.


def _addresses_of(message: MimePart, recipients: Sequence[str]) -> list[dict[str, Any]]:
    """`to`, `cc` and `bcc` of each e-mail. Raises Invalid.

    The envelope decides who gets the message: its recipients that are not in the header fields become `bcc`. A field
    with an address that is not a recipient would send to it, so it is refused.
    """
    envelope: dict[str, str] = {}
    for recipient in recipients:
        envelope.setdefault(_key(Mailbox("", recipient), "RCPT"), recipient)
    named: dict[str, list[str]] = {}
    visible: set[str] = set()
    for field in ("To", "Cc"):
        mailboxes = parse_mailboxes(message.get(field))
        if len(mailboxes) > RECIPIENTS_LIMIT:
            raise Invalid.at(f"/{field}", f"A message can have at most {RECIPIENTS_LIMIT} recipients.", "too_many")
        for mailbox in mailboxes:
            if not mailbox.spec:
                continue  # An empty group, such as `undisclosed-recipients:;`.
            key = _key(mailbox, field)
            if key not in envelope:
                sentence = (
                    f"{mailbox.spec[:100]} is not a recipient of the message (RCPT). Send the message to all addresses "
                    "in `To` and `Cc` in one transaction, or leave this address out."
                )
                raise Invalid.at(f"/{field}", sentence, "not_a_recipient")
            visible.add(key)
            named.setdefault(field.lower(), []).append(str(mailbox))
    hidden = [recipient for key, recipient in envelope.items() if key not in visible]
    if not named:
        return [{"to": [recipient]} for recipient in hidden]
    if "to" not in named:
        raise Invalid.at("/To", "Name at least one recipient in `To`.", "required")
    return [{**named, **({"bcc": hidden} if hidden else {})}]


def _key(mailbox: Mailbox, field: str) -> str:
    try:
        return parsed_address_key(parse_address(mailbox.spec))
    except AddressInvalid as error:
        raise Invalid.at(f"/{field}", error.detail, "address_invalid") from None


# Options in header fields.


def _options(message: MimePart) -> dict[str, Any]:
    """The fields of the e-mail that `X-Postern-…` fields set, and `tags`. Raises Invalid."""
    values: dict[str, Any] = {}
    tags: list[str] = []
    for name, raw in message.fields:
        lower = name.lower()
        if not lower.startswith(OPTION_PREFIX):
            continue
        value = _one_line(raw)
        if lower.startswith(METADATA_PREFIX):
            tags.append(f"{lower.removeprefix(METADATA_PREFIX)}{TAG_PAIR_SEPARATOR}{value}")
        elif lower == "x-postern-tag":
            tags += [tag.strip() for tag in value.split(",") if tag.strip()]
        elif lower in _OPTIONS:
            values |= _OPTIONS[lower](name, value)
        else:
            known = ", ".join(sorted([*_OPTION_NAMES, "X-Postern-Metadata-…", "X-Postern-Tag"]))
            raise Invalid.at(f"/{name}", f"There is no such option. The options are {known}.", "unknown_field")
    return {**values, "tags": check_tags(tags, "/X-Postern-Tag")}


def _tracking(name: str, value: str) -> dict[str, Any]:
    words = {word.strip().lower() for word in value.split(",")}
    if not words <= {"opens", "clicks", "none"} or ("none" in words and len(words) > 1):
        raise Invalid.at(f"/{name}", "Use `opens`, `clicks`, `opens, clicks` or `none`.", "invalid")
    return {"trackOpens": "opens" in words, "trackClicks": "clicks" in words}


def _variables(name: str, value: str) -> dict[str, Any]:
    try:
        variables = read_untrusted_json(value.encode())
    except JsonRefused:
        raise Invalid.at(f"/{name}", 'Use a JSON object, such as {"name": "Ada"}.', "invalid") from None
    return {"variables": variables}


def _flag(field: str, name: str, value: str) -> dict[str, Any]:
    if value.lower() not in ("true", "false"):
        raise Invalid.at(f"/{name}", "Use `true` or `false`.", "invalid")
    return {field: value.lower() == "true"}


_OPTIONS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "x-postern-template": lambda _name, value: {"templateId": value},
    "x-postern-variables": _variables,
    "x-postern-track": _tracking,
    "x-postern-scheduled-at": lambda _name, value: {"scheduledAt": value},
    "x-postern-expires-at": lambda _name, value: {"expiresAt": value},
    "x-postern-unsubscribable": partial(_flag, "unsubscribable"),
    "x-postern-require-tls": partial(_flag, "requireTls"),
}
_OPTION_NAMES = [name.title() for name in _OPTIONS]


# Text, html and attachments.


def _content(message: MimePart) -> tuple[str | None, str | None, list[dict[str, Any]]]:
    """The text, the html and the attachments of a message. Raises MimeInvalid and Invalid."""
    text = html = None
    files: list[MimePart] = []
    for part in _leaves(message):
        is_body = part.disposition != "attachment" and not part.filename
        if is_body and part.content_type == "text/plain" and text is None:
            text = part.text()
        elif is_body and part.content_type == "text/html" and html is None:
            html = part.text()
        else:
            files.append(part)
    return text, html, [_attachment(number, part, html or "") for number, part in enumerate(files, start=1)]


def _leaves(part: MimePart) -> Iterator[MimePart]:
    """The parts that are not multiparts, in order. Raises Invalid for PROTECTED_TYPES, and for types that cannot be an
    alternative."""
    if part.content_type in PROTECTED_TYPES:
        message = f"A {part.content_type} message cannot be sent, because its content would be composed again."
        raise Invalid.at("/Content-Type", message, "not_offered")
    if not part.content_type.startswith("multipart/"):
        yield part
        return
    for child in part.parts:
        if part.content_type == "multipart/alternative" and not child.content_type.startswith(ALTERNATIVES):
            message = f"An alternative of the type {child.content_type} is not possible; send text and html."
            raise Invalid.at("/Content-Type", message, "not_offered")
        yield from _leaves(child)


def _attachment(number: int, part: MimePart, html: str) -> dict[str, Any]:
    parameters = "".join(
        f"; {name}={part.parameters[name]}"
        for name in ("charset", "method")
        if _PLAIN_PARAMETER.fullmatch(part.parameters.get(name, ""))
    )
    attachment = {
        "filename": part.filename or _default_filename(number, part.content_type),
        "content": b64encode(part.decoded_body()).decode(),
        "contentType": f"{part.content_type}{parameters}",
    }
    # Many programs give every attachment a Content-ID; only those that the html shows are inline.
    content_id = part.content_id
    return {**attachment, "contentId": content_id} if content_id and f"cid:{content_id}" in html else attachment


def _default_filename(number: int, content_type: str) -> str:
    if content_type == "text/calendar":
        return "invite.ics"
    ending = ".eml" if content_type == "message/rfc822" else extension_of(content_type)
    return f"attachment-{number}{ending}"


# Replies.

_FIELDS: dict[str, str] = {
    "from": "From",
    "to": "To",
    "cc": "Cc",
    "bcc": "RCPT",
    "replyTo": "Reply-To",
    "subject": "Subject",
    "html": "Content",
    "text": "Content",
    "attachments": "Attachment",
    "templateId": "X-Postern-Template",
    "variables": "X-Postern-Variables",
    "scheduledAt": "X-Postern-Scheduled-At",
    "expiresAt": "X-Postern-Expires-At",
    "unsubscribable": "X-Postern-Unsubscribable",
    "requireTls": "X-Postern-Require-Tls",
}


def field_of_path(path: str) -> str:
    """Convert `path`, a JSON pointer within an Email, to the part of the submitted message that has the value.

    For example, `/replyTo/0` becomes `/Reply-To`.
    """
    field, *rest = path.removeprefix("/").split("/")
    if field.isdigit() and rest:  # The index of an e-mail.
        field, *rest = rest
    if field == "headers" and rest:
        return f"/{rest[0]}"
    if field == "attachments" and rest and rest[0].isdigit():
        return f"/Attachment {int(rest[0]) + 1}"
    if field == "header" and rest:
        return f"/{rest[0]}"
    return f"/{_FIELDS[field]}" if field in _FIELDS else path


def reply_of(problem: Problem) -> SmtpReply:
    """The reply to a message that is not accepted because of a problem."""
    code, enhanced = _codes(problem)
    first = problem.errors[0] if problem.errors else None
    field = first.path.removeprefix("/") if first else ""
    sentences = [f"{field}: {problem.detail}" if field and not problem.detail.startswith(field) else problem.detail]
    return SmtpReply(code, enhanced, " ".join([*sentences, problem.next or ""]).strip())


def _codes(problem: Problem) -> tuple[int, str]:
    """Reply code and enhanced code (RFC 3463) of a problem."""
    error = problem.errors[0] if problem.errors else None
    if isinstance(problem, RateLimited):
        return 450, "4.7.1"
    if isinstance(problem, Unavailable) or problem.retry_after_seconds is not None or problem.status >= 500:
        return 451, "4.3.0"
    if isinstance(problem, Unauthenticated):
        return 535, "5.7.8"
    if isinstance(problem, Forbidden):
        return 550, "5.7.1"
    if isinstance(problem, ContentTooLarge):
        return 552, "5.3.4"
    if error is not None and error.code == "address_invalid":
        return 550, "5.1.7" if error.path == "/From" else "5.1.3"
    return 554, "5.6.0"
