"""Reading captured messages. One-time codes and links in them are for callers who may act for a customer."""

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
from postern.kernel.http.call import Call, Caller
from postern.kernel.http.operation import delete, get
from postern.kernel.http.pagination import (
    Cursor,
    Page,
    PageLimit,
    PageNumber,
    PagePosition,
    offset_of,
    page_at,
    page_of,
    position_of,
)
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Deleted
from postern.messaging.emails.erasure import delete_captured
from postern.messaging.emails.redaction import open_captured
from postern.messaging.inbox import store
from postern.messaging.inbox.model import (
    CapturedMessage,
    CapturedMissing,
    HeaderField,
    InboxAttachment,
    InboxMessage,
    Raw,
)
from postern.platform.audit import operations as audit
from postern.protocols.mail.templates.html_tokens import HtmlTokenKind, attributes, tokens

if TYPE_CHECKING:
    from postern.world import World

SEES_SECRETS = "customers:impersonate"
SHOWN_IMAGES_LIMIT = 64 * 1_048_576
"""Characters that the images of one message may add to the html that is shown: a message can name one very often."""
SAFE_TYPE = re.compile(r"^[\w.+-]+/[\w.+-]+$")
Search = Annotated[str, msgspec.Meta(max_length=320)]


@get("/projects/{project_id}/inbox", needs="inbox:read")
async def list_inbox(
    call: Call,
    q: Search | None = None,
    page: PageNumber = 1,
    limit: PageLimit = 25,
    cursor: Cursor | None = None,
) -> Page[CapturedMessage]:
    """Captured messages, newest first. `q` searches subject and recipients."""
    scope = f"inbox|{q or ''}"
    position = position_of(call, scope, page, limit, cursor)
    rows, total = await inbox_from(call.db, call.project_id, q, position, limit + 1)
    return page_at(call, scope, rows, total, position, limit)


@get("/projects/{project_id}/inbox/{id}", needs="inbox:read", problems=[CapturedMissing])
async def get_inbox_message(call: Call, id: UUID) -> InboxMessage:
    """One captured message with its headers, html, text and attachments.

    One-time codes and links (sign-in codes, password resets, invitations) read `[removed]` and `redacted` is true,
    unless the caller has the permission `customers:impersonate`: owners and admins have it, and API keys where it is
    named.
    """
    raw = await require_message(call.world, call.caller, call.project_id, id)
    return await asyncio.to_thread(parse_captured, raw)


@get(
    "/projects/{project_id}/inbox/{id}/raw",
    needs="inbox:read",
    problems=[CapturedMissing],
    media_types=["message/rfc822"],
)
async def get_inbox_raw(call: Call, id: UUID) -> HttpResponse:
    """The message to the byte, as an `.eml` file; without one-time codes and links, unless the caller has the
    permission `customers:impersonate`.
    """
    raw = await require_message(call.world, call.caller, call.project_id, id)
    return HttpResponse(
        raw.message,
        media_type="message/rfc822",
        headers={"Content-Disposition": f'attachment; filename="{raw.id}.eml"'},
    )


@get(
    "/projects/{project_id}/inbox/{id}/attachments/{number}",
    needs="inbox:read",
    problems=[CapturedMissing],
    media_types=["application/octet-stream"],
)
async def get_inbox_attachment(call: Call, id: UUID, number: str) -> HttpResponse:
    """One attachment, by its number."""
    return attachment_of(await require_message(call.world, call.caller, call.project_id, id), number)


@delete("/projects/{project_id}/inbox/{id}", needs="emails:write", problems=[CapturedMissing])
async def delete_inbox_message(call: Call, id: UUID) -> Deleted:
    """Throw a captured message away; its send stays in the log."""
    async with call.db.transaction() as tx:
        if not await delete_captured(tx, call.project_id, id):
            raise CapturedMissing
        await audit.record(tx, call, "inbox_message.deleted", "InboxMessage", id)
    return Deleted()


async def page_of_inbox(db: Queries, project_id: UUID, q: str | None, page: int, limit: int) -> Page[CapturedMessage]:
    """One page of a project's captured messages."""
    rows, total = await inbox_from(db, project_id, q, PagePosition(page, offset_of(page, limit)), limit)
    return page_of(rows, total, page, limit)


async def inbox_from(
    db: Queries, project_id: UUID, q: str | None, position: PagePosition, limit: int
) -> tuple[list[CapturedMessage], int]:
    """Captured messages from a position on, and how many there are in all."""
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


async def require_message(world: "World", caller: Caller, project_id: UUID, id: UUID) -> Raw:
    """A captured message as this caller may see it. Raises CapturedMissing."""
    raw = await store.get_message(world.db, project_id=project_id, id=id)
    if raw is None:
        raise CapturedMissing
    if raw.sealed is None:
        return raw
    if not caller.may(SEES_SECRETS):
        return msgspec.structs.replace(raw, redacted=True)
    message = open_captured(world, raw.send_id, raw.sealed)
    return msgspec.structs.replace(raw, message=message, size=len(message))


def parse_captured(raw: Raw) -> InboxMessage:
    """The message as people look at it."""
    message = _parsed(raw)
    html, text = (_content(message, kind) for kind in ("html", "plain"))
    return InboxMessage(
        **{name: getattr(raw, name) for name in CapturedMessage.__struct_fields__},
        redacted=raw.redacted,
        headers=[HeaderField(name=name, value=str(value)) for name, value in message.items()],
        html=html,
        text=text,
        attachments=[
            InboxAttachment(
                number=number,
                filename=part.get_filename() or f"attachment-{number}",
                content_type=part.get_content_type(),
                content_id=(part.get("content-id") or "").strip("<> ") or None,
                size=len(_bytes(part)),
            )
            for number, part in enumerate(_files(message))
        ],
    )


def attachment_of(raw: Raw, number: str) -> HttpResponse:
    """One attachment as a download. Raises CapturedMissing."""
    files = _files(_parsed(raw))
    if not (number.isascii() and number.isdigit()) or len(number) > 3 or int(number) >= len(files):
        raise CapturedMissing
    part = files[int(number)]
    kind = part.get_content_type()
    filename = part.get_filename() or f"attachment-{number}"
    return HttpResponse(
        _bytes(part),
        media_type=kind if SAFE_TYPE.match(kind) else "application/octet-stream",
        headers={"Content-Disposition": f"attachment; filename*=UTF-8''{quote(filename, safe='')}"},
    )


def shown_html(raw: Raw) -> str | None:
    """The html as the inbox view shows it: with the images that came along, and without the tracking pixel.

    Looking at a captured message is no opening of it.
    """
    message = _parsed(raw)
    html = _content(message, "html")
    if html is None:
        return None
    images = {
        str(part.get("content-id") or "").strip("<> "): part
        for part in _files(message)
        if part.get_content_maintype() == "image"
    }
    pieces: list[str] = []
    known: dict[int, str] = {}
    done, room = 0, SHOWN_IMAGES_LIMIT
    for token in tokens(html):
        if token.kind is not HtmlTokenKind.START:
            continue
        for attribute in attributes(html, token):
            value = attribute.value.strip()
            if attribute.name == "src" and _path_of(value) == f"/t/o/{raw.send_id}":
                pieces.append(html[done : token.start])
                done = token.end
                break
            if value[:4].lower() == "cid:" and (part := images.get(unquote(value[4:]))) is not None:
                quoted = len(attribute.quote)
                image = _as_url(part, known)
                if len(image) > room:
                    continue  # It shows as a missing image.
                room -= len(image)
                pieces += (html[done : attribute.start - quoted], image)
                done = attribute.end + quoted
    return "".join(pieces) + html[done:]


def _as_url(part: Any, known: dict[int, str]) -> str:
    """An image as a quoted `data:` address; `known` are those that were made before, by the image."""
    found = known.get(id(part))
    if found is None:
        content = b64encode(_bytes(part)).decode()
        found = known[id(part)] = f'"data:{escape(part.get_content_type())};base64,{content}"'
    return found


def _path_of(url: str) -> str:
    """The path of an address; nothing where it has none."""
    try:
        return urlsplit(url).path
    except ValueError:
        return ""


def _parsed(raw: Raw) -> EmailMessage:
    return email.message_from_bytes(raw.message, policy=email.policy.default)


def _content(message: EmailMessage, kind: str) -> str | None:
    part: Any = message.get_body((kind,))
    return None if part is None else str(part.get_content())


def _files(message: EmailMessage) -> list[Any]:
    return [
        part for part in message.walk() if not part.is_multipart() and (part.get_filename() or part.get("content-id"))
    ]


def _bytes(part: Any) -> bytes:
    found = part.get_payload(decode=True)
    return found if isinstance(found, bytes) else b""
