"""E-mails of Resend's API: send, and batches."""

from base64 import b64encode
from collections.abc import Sequence
from datetime import timedelta
from typing import Annotated, Any

import msgspec

from postern.compat.resend.errors import RESEND
from postern.compat.resend.model import ResendAttachment, ResendEmail, ResendTag
from postern.compat.resend.schedules import parse_schedule
from postern.kernel.http.binding import read_json
from postern.kernel.http.call import Call
from postern.kernel.http.compatible_api import NotOffered
from postern.kernel.http.operation import HeaderParameter, post
from postern.kernel.http.problems import Invalid, Problem
from postern.kernel.http.responses import HttpResponse
from postern.kernel.http.validation import invalid_value
from postern.kernel.values import to_json
from postern.messaging.emails import operations as emails
from postern.messaging.emails.model import (
    BATCH_BYTES,
    SINGLE_BYTES,
    Email,
    EmailBatchResult,
    SendResult,
)
from postern.messaging.emails.submission import parse_key

BATCH_EMAILS = 100
"""Maximum e-mails of one batch of this API."""
TAG_SEPARATOR = "--"
"""Between name and value of a tag, which are one text in our API."""

EMAIL_DECODER = msgspec.json.Decoder(ResendEmail)

IdempotencyHeader = Annotated[str | None, HeaderParameter("Idempotency-Key")]
ValidationHeader = Annotated[str | None, HeaderParameter("x-batch-validation")]


@post("/emails", needs="emails:send", compatible_api=RESEND, body_limit=SINGLE_BYTES)
async def send_resend_email(call: Call, data: ResendEmail, idempotency_key: IdempotencyHeader = None) -> HttpResponse:
    """Send an e-mail. The workers transmit it; the response has only its id."""
    # The key belongs to the body as it was sent: the time that `in 1 min` names is another one in a repeated request.
    key = parse_key(call.project_id, "resend/emails", idempotency_key, data)
    email = to_email(data, call)
    response = await emails.accept_email(call, email, key, wait=timedelta())
    result = msgspec.json.decode(_content(response), type=SendResult)
    return HttpResponse(to_json({"id": result.id}), headers=response.headers)


@post("/emails/batch", needs="emails:send", compatible_api=RESEND, body_limit=BATCH_BYTES)
async def send_resend_batch(
    call: Call,
    data: list[msgspec.Raw],
    idempotency_key: IdempotencyHeader = None,
    x_batch_validation: ValidationHeader = None,
) -> HttpResponse:
    """Send up to 100 e-mails. If one is invalid, all are refused. With `x-batch-validation: permissive`, those that are
    valid are sent, and `errors` has the others."""
    if not 1 <= len(data) <= BATCH_EMAILS:
        raise Invalid.at("", f"A batch must have 1 to {BATCH_EMAILS} e-mails.", "too_many")
    is_strict = x_batch_validation != "permissive"
    key = parse_key(call.project_id, "resend/batch", idempotency_key, data)
    batch = [_read_item(raw, call) for raw in data]
    response = await emails.accept_batch(call, batch, key, all_or_nothing=is_strict)
    result = msgspec.json.decode(_content(response), type=EmailBatchResult)
    body: dict[str, Any] = {"data": [{"id": item.id} for item in result.data if item.id is not None]}
    if not is_strict:
        body["errors"] = [
            {"index": index, "message": item.error} for index, item in enumerate(result.data) if item.id is None
        ]
    return HttpResponse(to_json(body), headers=response.headers)


def to_email(data: ResendEmail, call: Call) -> Email:
    """The e-mail in the form of our API. Raises Invalid, and NotOffered for a topic."""
    if data.topic_id is not None:
        raise NotOffered("Postern has no topics: send to an audience, or leave `topic_id` out.")
    if data.from_ is None and data.template is None:
        raise Invalid.at("/from", "Missing `from` field.", "required")
    fields: dict[str, Any] = {
        "from": data.from_,
        "to": _address_list(data.to),
        "cc": _address_list(data.cc),
        "bcc": _address_list(data.bcc),
        "replyTo": _address_list(data.reply_to),
        "subject": data.subject,
        "html": data.html,
        "text": data.text,
        "headers": data.headers,
        "tags": [_tag(tag) for tag in data.tags or []] or None,
        "attachments": [_attachment(file) for file in data.attachments or []] or None,
        "scheduledAt": parse_schedule(data.scheduled_at, call.now) if data.scheduled_at else None,
        "engine": "none",
    }
    if data.template is not None:
        if data.html is not None or data.text is not None:
            raise Invalid.at("/template", "An e-mail with `template` cannot have `html` or `text`.")
        fields |= {"templateId": data.template.id, "variables": data.template.variables or {}, "engine": None}
    try:
        return msgspec.convert({name: value for name, value in fields.items() if value is not None}, Email)
    except msgspec.ValidationError as error:
        raise invalid_value(error, Email) from None


def _read_item(raw: msgspec.Raw, call: Call) -> Email | Problem:
    try:
        return to_email(read_json(EMAIL_DECODER, raw), call)
    except Problem as problem:
        return problem


def _content(response: HttpResponse) -> bytes | str:
    assert isinstance(response.content, bytes | str)
    return response.content


def _address_list(addresses: str | Sequence[str] | None) -> list[str] | None:
    return [addresses] if isinstance(addresses, str) else None if addresses is None else list(addresses)


def _tag(tag: ResendTag) -> str:
    return f"{tag.name}{TAG_SEPARATOR}{tag.value}" if tag.value else tag.name


def _attachment(file: ResendAttachment) -> dict[str, Any]:
    content = b64encode(bytes(file.content)).decode() if isinstance(file.content, list) else file.content
    return {
        "filename": file.filename or "attachment",
        "content": content or "",
        "contentType": file.content_type,
        "contentId": file.content_id or file.inline_content_id,
    }
