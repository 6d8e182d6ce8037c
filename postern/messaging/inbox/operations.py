"""HTTP operations of captured messages: e-mails that were stored instead of being sent, because their project captures
mail or they were sent with a TEST key. Only callers with the permission `customers:impersonate` see one-time codes and
links."""

import asyncio
import email
import email.policy
import re
from base64 import b64encode
from email.message import EmailMessage
from html import escape
from typing import TYPE_CHECKING, Annotated, Any
from urllib.parse import quote, unquote, urlsplit
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries, like_pattern
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get
from postern.kernel.http.pagination import (
    Page,
    PagePosition,
    PageQuery,
    offset_of,
    page_at,
    page_of,
    position_of,
)
from postern.kernel.http.problems import require_found
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Deleted
from postern.messaging.emails.erasure import delete_captured
from postern.messaging.emails.redaction import open_captured
from postern.messaging.inbox import store
from postern.messaging.inbox.model import (
    CapturedMessage,
    CapturedMissing,
    CapturedRow,
    HeaderField,
    InboxAttachment,
    InboxMessage,
)
from postern.platform.audit import operations as audit
from postern.protocols.mail.templates.html_tokens import HtmlTokenKind, attributes, tokens

if TYPE_CHECKING:
    from postern.world import World

SECRETS_PERMISSION = "customers:impersonate"
"""The permission to see one-time codes and links, because they allow signing in as the customer."""
IMAGES_LIMIT = 64 * 1_048_576
"""Maximum characters that embedded images add to the html, because a message can refer to an image many times."""
SAFE_TYPE = re.compile(r"^[\w.+-]+/[\w.+-]+$")
"""Media types that can be sent as `Content-Type` of an attachment; others become `application/octet-stream`."""
Search = Annotated[str, msgspec.Meta(max_length=320)]


@get("/projects/{project_id}/inbox", needs="inbox:read")
async def list_inbox(call: Call, q: Search | None = None, *, page: PageQuery) -> Page[CapturedMessage]:
    """Captured messages, newest first. `q` searches subject and recipients."""
    scope = f"inbox|{q or ''}"
    position = position_of(call, scope, page)
    rows, total = await captured_messages(call.db, call.project_id, q, position, page.limit + 1)
    return page_at(call, scope, rows, total, position, page.limit)


@get("/projects/{project_id}/inbox/{id}", needs="inbox:read", problems=[CapturedMissing])
async def get_inbox_message(call: Call, id: UUID) -> InboxMessage:
    """A captured message with its headers, html, text and attachments.

    One-time codes and links (sign-in codes, password resets, invitations) are replaced by `[removed]`, and `redacted`
    is true, unless the caller has the permission `customers:impersonate`. Owners and admins have it, and API keys to
    which it was granted.
    """
    row = await require_message(call.world, call.project_id, id, show_secrets=call.caller.may(SECRETS_PERMISSION))
    return await asyncio.to_thread(parse_captured, row)


@get(
    "/projects/{project_id}/inbox/{id}/raw",
    needs="inbox:read",
    problems=[CapturedMissing],
    media_types=["message/rfc822"],
)
async def get_inbox_raw(call: Call, id: UUID) -> HttpResponse:
    """A captured message as an `.eml` file.

    One-time codes and links are removed unless the caller has the permission `customers:impersonate`.
    """
    row = await require_message(call.world, call.project_id, id, show_secrets=call.caller.may(SECRETS_PERMISSION))
    return HttpResponse(
        row.message,
        media_type="message/rfc822",
        headers={"Content-Disposition": f'attachment; filename="{row.id}.eml"'},
    )


@get(
    "/projects/{project_id}/inbox/{id}/attachments/{number}",
    needs="inbox:read",
    problems=[CapturedMissing],
    media_types=["application/octet-stream"],
)
async def get_inbox_attachment(call: Call, id: UUID, number: str) -> HttpResponse:
    """An attachment by its number, as a download."""
    row = await require_message(call.world, call.project_id, id, show_secrets=call.caller.may(SECRETS_PERMISSION))
    return attachment_of(row, number)


@delete("/projects/{project_id}/inbox/{id}", needs="emails:write", problems=[CapturedMissing])
async def delete_inbox_message(call: Call, id: UUID) -> Deleted:
    """Delete a captured message. The e-mail stays in the e-mail log."""
    async with call.db.transaction() as tx:
        if not await delete_captured(tx, call.project_id, id):
            raise CapturedMissing
        await audit.record(tx, call, "inbox_message.deleted", "InboxMessage", id)
    return Deleted()


async def page_of_inbox(db: Queries, project_id: UUID, q: str | None, page: int, limit: int) -> Page[CapturedMessage]:
    """A page of a project's captured messages, newest first; `q` searches subject and recipients."""
    rows, total = await captured_messages(db, project_id, q, PagePosition(page, offset_of(page, limit)), limit)
    return page_of(rows, total, page, limit)


async def captured_messages(
    db: Queries, project_id: UUID, q: str | None, position: PagePosition, limit: int
) -> tuple[list[CapturedMessage], int]:
    """At most `limit` captured messages from a position on, newest first, and the total number without the limit.

    `q` searches subject and recipients.
    """
    pattern = like_pattern(q) if q else None
    total = await store.count(db, project_id=project_id, pattern=pattern)
    rows = await store.list_messages(
        db,
        project_id=project_id,
        pattern=pattern,
        before=position.after,
        limit=limit,
        offset=position.offset,
    )
    return rows, total


async def require_message(world: "World", project_id: UUID, id: UUID, *, show_secrets: bool) -> CapturedRow:
    """A captured message. Raises CapturedMissing.

    `show_secrets`: whether `message` of the row is complete, for callers with SECRETS_PERMISSION; otherwise it lacks
    one-time codes and links.
    """
    row = require_found(await store.get_message(world.db, project_id=project_id, id=id), CapturedMissing)
    if row.sealed is None:
        return row
    if not show_secrets:
        return msgspec.structs.replace(row, redacted=True)
    message = open_captured(world, row.send_id, row.sealed)
    return msgspec.structs.replace(row, message=message, size=len(message))


def parse_captured(row: CapturedRow) -> InboxMessage:
    """Parse a message into headers, html, text and attachments. Call it in a thread, because it takes CPU time."""
    message = _parse(row.message)
    html, text = (_body_text(message, kind) for kind in ("html", "plain"))
    return InboxMessage(
        **{name: getattr(row, name) for name in CapturedMessage.__struct_fields__},
        redacted=row.redacted,
        headers=[HeaderField(name=name, value=str(value)) for name, value in message.items()],
        html=html,
        text=text,
        attachments=[
            InboxAttachment(
                number=number,
                filename=part.get_filename() or f"attachment-{number}",
                content_type=part.get_content_type(),
                content_id=(part.get("content-id") or "").strip("<> ") or None,
                size=len(_decoded_bytes(part)),
            )
            for number, part in enumerate(_attachment_parts(message))
        ],
    )


def attachment_of(row: CapturedRow, number: str) -> HttpResponse:
    """The attachment with a number as a download. Raises CapturedMissing if there is none."""
    parts = _attachment_parts(_parse(row.message))
    if not (number.isascii() and number.isdigit()) or len(number) > 3 or int(number) >= len(parts):
        raise CapturedMissing
    part = parts[int(number)]
    content_type = part.get_content_type()
    filename = part.get_filename() or f"attachment-{number}"
    return HttpResponse(
        _decoded_bytes(part),
        media_type=content_type if SAFE_TYPE.match(content_type) else "application/octet-stream",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{quote(filename, safe='')}"},
    )


def shown_html(message: bytes, send_id: UUID) -> str:
    """The html of a message for a frame, with attached images embedded and without the tracking pixel; its text as html
    if it has no html.

    The pixel is removed because viewing a message here must not count as an open. Images beyond IMAGES_LIMIT are not
    embedded. Call it in a thread, because it takes CPU time.
    """
    parsed = _parse(message)
    html = _body_text(parsed, "html")
    if html is not None:
        return _rewritten_html(parsed, html, send_id)
    return f'<pre style="white-space: pre-wrap">{escape(_body_text(parsed, "plain") or "")}</pre>'


def _rewritten_html(message: EmailMessage, html: str, send_id: UUID) -> str:
    images = {
        str(part.get("content-id") or "").strip("<> "): part
        for part in _attachment_parts(message)
        if part.get_content_maintype() == "image"
    }
    pieces: list[str] = []
    data_urls: dict[int, str] = {}
    position, characters_left = 0, IMAGES_LIMIT
    for token in tokens(html):
        if token.kind is not HtmlTokenKind.START:
            continue
        for attribute in attributes(html, token):
            value = attribute.value.strip()
            if attribute.name == "src" and _path_of(value) == f"/t/o/{send_id}":
                pieces.append(html[position : token.start])
                position = token.end
                break
            if value[:4].lower() == "cid:" and (part := images.get(unquote(value[4:]))) is not None:
                quote_length = len(attribute.quote)
                image = _data_url(part, data_urls)
                if len(image) > characters_left:
                    continue  # The `cid:` URL stays, which the browser shows as a missing image.
                characters_left -= len(image)
                pieces += (html[position : attribute.start - quote_length], image)
                position = attribute.end + quote_length
    return "".join(pieces) + html[position:]


def _data_url(part: Any, cache: dict[int, str]) -> str:
    """An image as a `data:` URL in quotes. `cache` has the URLs of images that were encoded before."""
    url = cache.get(id(part))
    if url is None:
        content = b64encode(_decoded_bytes(part)).decode()
        url = cache[id(part)] = f'"data:{escape(part.get_content_type())};base64,{content}"'
    return url


def _path_of(url: str) -> str:
    """The path of a URL; empty if the URL is invalid."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _parse(message: bytes) -> EmailMessage:
    return email.message_from_bytes(message, policy=email.policy.default)


def _body_text(message: EmailMessage, kind: str) -> str | None:
    part: Any = message.get_body((kind,))
    return None if part is None else str(part.get_content())


def _attachment_parts(message: EmailMessage) -> list[Any]:
    return [
        part for part in message.walk() if not part.is_multipart() and (part.get_filename() or part.get("content-id"))
    ]


def _decoded_bytes(part: Any) -> bytes:
    payload = part.get_payload(decode=True)
    return payload if isinstance(payload, bytes) else b""
