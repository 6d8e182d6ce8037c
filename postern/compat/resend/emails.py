"""E-mails of Resend's API: send, batches, list, reschedule, cancel, and attachments."""

import asyncio
from base64 import b64decode, b64encode, urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Mapping, Sequence
from datetime import timedelta
from email import message_from_bytes, policy
from functools import partial
from typing import Annotated, Any
from urllib.parse import quote, urlsplit
from uuid import UUID, uuid5

import msgspec

from postern.compat.resend.errors import RESEND
from postern.compat.resend.lists import ResendListQuery, read_paged_list
from postern.compat.resend.model import ResendAttachment, ResendEmail, ResendReschedule, ResendTag
from postern.compat.resend.schedules import parse_schedule
from postern.kernel.http.call import Call
from postern.kernel.http.compatible_api import NotOffered
from postern.kernel.http.handler import read_item
from postern.kernel.http.idempotency import IdempotencyHeader
from postern.kernel.http.operation import HeaderParameter, get, patch, post
from postern.kernel.http.problems import Invalid, Missing, Problem
from postern.kernel.http.responses import HttpResponse
from postern.kernel.http.validation import invalid_value
from postern.kernel.outbound.client import OutboundResponse
from postern.kernel.values import Moment, to_json
from postern.messaging.emails import logs
from postern.messaging.emails import operations as emails
from postern.messaging.emails.model import (
    BATCH_BYTES,
    SINGLE_BYTES,
    TAG_PAIR_SEPARATOR,
    Email,
    EmailBatchResult,
    EmailLogEntry,
    EmailReschedule,
    IdempotencyKey,
    SendResult,
    StoredAttachment,
)
from postern.messaging.emails.submission import parse_key, stored_response
from postern.protocols.mail import mime

MAX_BATCH_EMAILS = 100
"""Maximum e-mails of one batch of this API."""

MAX_FETCHED_BYTES = BATCH_BYTES * 3 // 4
"""Maximum total size of the files that are fetched from URLs for one request: as much as fits,
in base64, into the largest body."""
FETCH_TIMEOUT = timedelta(seconds=30)
"""The time limit for fetching all files of one request from URLs."""
DOWNLOAD_LINK_LIFETIME = timedelta(hours=1)
DOWNLOAD_LINK_PURPOSE = "resend-attachment"
LAST_EVENTS: Mapping[str, str] = {
    "SCHEDULED": "scheduled",
    "QUEUED": "queued",
    "SENT": "sent",
    "DELIVERED": "delivered",
    "DELAYED": "delivery_delayed",
    "BOUNCED": "bounced",
    "COMPLAINED": "complained",
    "SUPPRESSED": "suppressed",
    "FAILED": "failed",
    "EXPIRED": "failed",
    "CANCELLED": "canceled",
}
"""`last_event` by the status of a send."""

EMAIL_DECODER = msgspec.json.Decoder(ResendEmail)

ValidationHeader = Annotated[str | None, HeaderParameter("x-batch-validation")]


class DownloadLink(msgspec.Struct, frozen=True, array_like=True):
    """The signed content of a download URL."""

    project_id: UUID
    send_id: UUID
    index: int
    """The position of the attachment in the e-mail."""
    expires_at: int
    """Unix time in seconds."""


class ResendAttachmentMissing(Missing):
    """There is no such attachment."""


@post("/emails", needs="emails:send", compatible_api=RESEND, body_limit=SINGLE_BYTES)
async def send_resend_email(call: Call, data: ResendEmail, idempotency_key: IdempotencyHeader = None) -> HttpResponse:
    """Send an e-mail. The workers transmit it; the response has only its id."""
    # The key is bound to the body as it was sent, not to the e-mail made of it: a relative time such as `in 1 min` is
    # another time when the request is repeated.
    key = parse_key(call, "resend/emails", idempotency_key, data)
    response = await _replay_before_fetching(call, [data], key)
    if response is None:
        email = to_email(await _with_files(data, AttachmentFetcher(call)), call)
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
    if not 1 <= len(data) <= MAX_BATCH_EMAILS:
        raise Invalid.at("", f"A batch must have 1 to {MAX_BATCH_EMAILS} e-mails.", "too_many")
    is_strict = x_batch_validation != "permissive"
    key = parse_key(call, "resend/batch", idempotency_key, data)
    items = [read_item(EMAIL_DECODER, raw) for raw in data]
    response = await _replay_before_fetching(call, items, key)
    if response is None:
        fetcher = AttachmentFetcher(call)
        batch = [await _email_of(item, fetcher) for item in items]
        response = await emails.accept_batch(call, batch, key, all_or_nothing=is_strict)
    result = msgspec.json.decode(_content(response), type=EmailBatchResult)
    body: dict[str, Any] = {"data": [{"id": item.id} for item in result.data if item.id is not None]}
    if not is_strict:
        body["errors"] = [
            {"index": index, "message": item.error} for index, item in enumerate(result.data) if item.id is None
        ]
    return HttpResponse(to_json(body), headers=response.headers)


@get("/emails", needs="emails:read", compatible_api=RESEND)
async def list_resend_emails(call: Call, query: ResendListQuery) -> dict[str, Any]:
    """The e-mails, newest first, without their content."""
    return await read_paged_list(
        call, query, partial(logs.list_email_logs, filters=logs.LogFilter()), "email-logs|{}", _list_item
    )


@get("/emails/{id}", needs="emails:read", compatible_api=RESEND)
async def get_resend_email(call: Call, id: UUID) -> dict[str, Any]:
    """An e-mail with its content; `html` and `text` are null once the content is no longer stored."""
    send = await emails.require_send(call.db, call.project_id, id)
    content = await emails.stored_content(call, send)
    html, text = (content.html, content.text) if content else (None, None)
    if content is not None and content.engine != "none":
        html, text = await _rendered_parts(call, id)
    reply_to = content.reply_to if content else []
    return {"object": "email", **_list_item(emails.entry_of(send)), "reply_to": reply_to, "html": html, "text": text}


@patch("/emails/{id}", needs="emails:write", compatible_api=RESEND)
async def update_resend_email(call: Call, id: UUID, data: ResendReschedule) -> dict[str, Any]:
    """Reschedule a scheduled e-mail. Without `scheduled_at`, nothing is changed."""
    if data.scheduled_at is not None:
        scheduled_at = parse_schedule(data.scheduled_at, call.now)
        await emails.reschedule_email(call, id, EmailReschedule(scheduled_at=scheduled_at))
    else:
        await emails.require_send(call.db, call.project_id, id)
    return {"object": "email", "id": id}


@post("/emails/{id}/cancel", needs="emails:write", compatible_api=RESEND)
async def cancel_resend_email(call: Call, id: UUID) -> dict[str, Any]:
    """Cancel an e-mail that is scheduled, queued or delayed."""
    await emails.cancel_email(call, id)
    return {"object": "email", "id": id}


@get("/emails/{id}/attachments", needs="emails:read", compatible_api=RESEND)
async def list_resend_attachments(call: Call, id: UUID) -> dict[str, Any]:
    """The attachments of an e-mail; none once its content is no longer stored."""
    files = await _stored_attachments(call, id)
    return {
        "object": "list",
        "has_more": False,
        "data": [_attachment_response(call, id, index, file) for index, file in enumerate(files)],
    }


@get("/emails/{id}/attachments/{attachment_id}", needs="emails:read", compatible_api=RESEND)
async def get_resend_attachment(call: Call, id: UUID, attachment_id: UUID) -> dict[str, Any]:
    """An attachment of a send, with a URL from which it can be downloaded for an hour."""
    for index, file in enumerate(await _stored_attachments(call, id)):
        if _attachment_id(id, index) == attachment_id:
            return {"object": "attachment", **_attachment_response(call, id, index, file)}
    raise ResendAttachmentMissing


@get("/attachments/{token}", public=True, compatible_api=RESEND, media_types=["application/octet-stream"])
async def download_resend_attachment(call: Call, token: str) -> HttpResponse:
    """The content of an attachment, by the signed and expiring URL of `get_resend_attachment`."""
    body, _, signature = token.partition(".")
    try:
        payload = urlsafe_b64decode(body + "=" * (-len(body) % 4))
    except ValueError:
        raise ResendAttachmentMissing from None
    if not call.world.secrets.verify(DOWNLOAD_LINK_PURPOSE, payload, signature):
        raise ResendAttachmentMissing
    link = msgspec.json.decode(payload, type=DownloadLink)
    if link.expires_at <= call.now.timestamp():
        raise ResendAttachmentMissing("This link has expired: fetch the attachment again to get another one.")
    send = await emails.require_send(call.db, link.project_id, link.send_id)
    content = await emails.stored_content(call, send)
    if content is None or link.index >= len(content.attachments):
        raise ResendAttachmentMissing
    file = content.attachments[link.index]
    name = quote(file.filename, safe="")
    headers = {
        # The content is untrusted, so the browser must download it and never render it on our origin.
        "Content-Disposition": f"attachment; filename*=UTF-8''{name}",
        "Content-Security-Policy": "sandbox",
    }
    return HttpResponse(b64decode(file.content), media_type="application/octet-stream", headers=headers)


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
        "attachments": [_attachment_fields(file) for file in data.attachments or []] or None,
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


async def _email_of(item: ResendEmail | Problem, fetcher: "AttachmentFetcher") -> Email | Problem:
    if isinstance(item, Problem):
        return item
    try:
        return to_email(await _with_files(item, fetcher), fetcher.call)
    except Problem as problem:
        return problem


async def _replay_before_fetching(
    call: Call, items: Sequence[ResendEmail | Problem], key: IdempotencyKey | None
) -> HttpResponse | None:
    """The stored response to a repeated request that has attachments as URLs, so that these are not fetched again.

    None for a first request, and without URLs: then sending returns the stored response by itself.
    """
    if key is None or not any(isinstance(item, ResendEmail) and _has_urls(item) for item in items):
        return None
    stored = await stored_response(call, key)
    return None if stored is None else await emails.replay(call, stored)


class AttachmentFetcher:
    """Fetches the attachments of one request that are given as URLs, within limits of size and time."""

    def __init__(self, call: Call) -> None:
        self.call = call
        self._capacity = MAX_FETCHED_BYTES
        self._deadline = asyncio.get_running_loop().time() + FETCH_TIMEOUT.total_seconds()

    async def fetch(self, url: str, error_path: str, max_bytes: int) -> bytes:
        """The file at a URL.

        Raises Invalid at `error_path` if it cannot be read, is larger than `max_bytes`, or exceeds the remaining size
        or time of the request.
        """
        max_bytes = min(max_bytes, self._capacity)
        try:
            async with asyncio.timeout_at(self._deadline):
                outcome = await self.call.world.outbound.get(url, keep=max_bytes)
        except TimeoutError:
            seconds = FETCH_TIMEOUT.total_seconds()
            raise Invalid.at(
                error_path, f"The file at this URL cannot be read: the files took longer than {seconds:g} s."
            ) from None
        if not isinstance(outcome, OutboundResponse):
            raise Invalid.at(error_path, f"The file at this URL cannot be read: {outcome.reason}")
        self._capacity -= len(outcome.body)
        if not outcome.ok:
            raise Invalid.at(error_path, f"The file at this URL cannot be read: status {outcome.status}")
        if not outcome.complete:
            sentence = "The file at this URL is too large, alone or with the other files."
            raise Invalid.at(error_path, sentence, "message_too_large")
        return outcome.body


def _has_urls(data: ResendEmail) -> bool:
    return any(file.path is not None for file in data.attachments or [])


async def _with_files(data: ResendEmail, fetcher: AttachmentFetcher) -> ResendEmail:
    """The e-mail with the content of the attachments that are given as URLs. Raises Invalid if one cannot be read."""
    if not _has_urls(data):
        return data
    capacity = mime.MESSAGE_BYTES_LIMIT
    files: list[ResendAttachment] = []
    for index, file in enumerate(data.attachments or []):
        if file.path is not None:
            body = await fetcher.fetch(file.path, f"/attachments/{index}/path", capacity)
            capacity -= len(body)
            name = file.filename or urlsplit(file.path).path.rpartition("/")[2] or None
            file = msgspec.structs.replace(file, content=b64encode(body).decode(), filename=name)
        files.append(file)
    return msgspec.structs.replace(data, attachments=files)


def _list_item(entry: EmailLogEntry) -> dict[str, Any]:
    return {
        "id": entry.id,
        "message_id": entry.message_id,
        "to": entry.to,
        "from": entry.from_,
        "created_at": entry.created_at,
        "subject": entry.subject,
        "bcc": entry.bcc,
        "cc": entry.cc,
        "reply_to": [],
        "last_event": _last_event(entry),
        "scheduled_at": entry.scheduled_at,
        "tags": [{"name": name, "value": value} for name, value in split_tags(entry.tags).items()],
    }


def split_tags(tags: Sequence[str]) -> dict[str, str]:
    """Split tags that join name and value into a dict; the value is empty if a tag has none."""
    return {name: value for name, _, value in (tag.partition(TAG_PAIR_SEPARATOR) for tag in tags)}


def _last_event(entry: EmailLogEntry) -> str:
    if entry.status in ("SENT", "DELIVERED") and (entry.clicked_at or entry.opened_at):
        return "clicked" if entry.clicked_at else "opened"
    return LAST_EVENTS[entry.status]


async def _rendered_parts(call: Call, id: UUID) -> tuple[str | None, str | None]:
    """Html and text of a message as it is transmitted; None for a part that it does not have."""
    raw = _content(await emails.get_email_message(call, id))
    message = message_from_bytes(raw.encode() if isinstance(raw, str) else raw, policy=policy.default)
    html, text = message.get_body(("html",)), message.get_body(("plain",))
    return html.get_content() if html else None, text.get_content() if text else None


async def _stored_attachments(call: Call, id: UUID) -> list[StoredAttachment]:
    send = await emails.require_send(call.db, call.project_id, id)
    content = await emails.stored_content(call, send)
    return content.attachments if content else []


def _attachment_id(send_id: UUID, index: int) -> UUID:
    return uuid5(send_id, str(index))


def _attachment_response(call: Call, send_id: UUID, index: int, file: StoredAttachment) -> dict[str, Any]:
    expires_at = Moment.of(call.now + DOWNLOAD_LINK_LIFETIME)
    payload = msgspec.json.encode(
        DownloadLink(project_id=call.project_id, send_id=send_id, index=index, expires_at=int(expires_at.timestamp()))
    )
    body = urlsafe_b64encode(payload).rstrip(b"=").decode()
    token = f"{body}.{call.world.secrets.sign(DOWNLOAD_LINK_PURPOSE, payload)}"
    return {
        "id": _attachment_id(send_id, index),
        "filename": file.filename,
        "content_type": file.content_type,
        "content_id": file.content_id,
        "content_disposition": "inline" if file.content_id else "attachment",
        "download_url": f"{call.world.settings.public_url}{RESEND.path}/attachments/{token}",
        "expires_at": expires_at,
        "size": len(b64decode(file.content)),
    }


def _content(response: HttpResponse) -> bytes | str:
    assert isinstance(response.content, bytes | str)
    return response.content


def _address_list(addresses: str | Sequence[str] | None) -> list[str] | None:
    return [addresses] if isinstance(addresses, str) else None if addresses is None else list(addresses)


def _tag(tag: ResendTag) -> str:
    return f"{tag.name}{TAG_PAIR_SEPARATOR}{tag.value}" if tag.value else tag.name


def _attachment_fields(file: ResendAttachment) -> dict[str, Any]:
    content = b64encode(bytes(file.content)).decode() if isinstance(file.content, list) else file.content
    return {
        "filename": file.filename or "attachment",
        "content": content or "",
        "contentType": file.content_type,
        "contentId": file.content_id or file.inline_content_id,
    }
