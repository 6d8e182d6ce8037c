"""The public addresses that mail points to."""

import re
from typing import Annotated, Any
from urllib.parse import parse_qs
from uuid import UUID

import msgspec

from postern.kernel.http.binding import is_head
from postern.kernel.http.call import Call
from postern.kernel.http.operation import Lenient, RawRequest, get, post
from postern.kernel.http.responses import HttpResponse
from postern.messaging.audiences import contacts
from postern.messaging.emails import engagement
from postern.messaging.emails import operations as emails
from postern.messaging.emails.delivery import LINKS_PURPOSE
from postern.messaging.emails.model import TEST_COPY_TAG, TouchedSend
from postern.messaging.emails.outcomes import event_of
from postern.messaging.tracking import store
from postern.messaging.tracking.model import URL_LIMIT, USER_AGENT_LIMIT, HitKind, HitRequest, TrackingHit
from postern.messaging.tracking.recording import record_hits
from postern.platform.events import operations as events
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.templates.links import CLICK, UNSUBSCRIBE, verify_link
from postern.web.pages import page, simple_page

GIF = bytes.fromhex("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b")
"""One transparent pixel, 43 bytes."""

NEVER_KEPT = {"Cache-Control": "no-store, no-cache, must-revalidate, private", "Referrer-Policy": "no-referrer"}
UNSUBSCRIBE_BODY_LIMIT = 8_192
"""Bytes of a request that unsubscribes: it holds `List-Unsubscribe=One-Click` and perhaps a signature."""
HEAD_LIMIT = 512
"""Characters of a `Content-Type`, and bytes of the head of a part, that are looked at."""
_BOUNDARY = re.compile(r';\s*boundary="?([^\s";]{1,70})', re.IGNORECASE)
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_FIELD_S = re.compile(rb'content-disposition:[^\r\n]*;[ \t]*name="?s"?[ \t]*(?:[;\r\n]|$)', re.IGNORECASE)

Target = Annotated[
    Annotated[str, msgspec.Meta(max_length=URL_LIMIT, description="Where the link leads.")] | None, Lenient()
]
Signature = Annotated[
    Annotated[str, msgspec.Meta(max_length=200, description="The link's signature.")] | None, Lenient()
]


@get("/t/o/{send_id}", public=True, any_query=True, media_types=["image/gif"])
async def track_open(call: Call, send_id: UUID, request: RawRequest) -> HttpResponse:
    """The pixel of a message. Always answers the 43-byte GIF, also for an unknown send; HEAD never counts."""
    if not is_head(request):
        await call.world.batcher(record_hits)(_hit(call, send_id, "OPEN", None))
    return HttpResponse(GIF, media_type="image/gif", headers=NEVER_KEPT)


@get("/t/c/{send_id}", public=True, any_query=True, status=302, media_types=["text/html"])
async def track_click(
    call: Call, send_id: UUID, request: RawRequest, u: Target = None, s: Signature = None
) -> HttpResponse:
    """A link of a message: notes the click and leads on to `u` with a 302.

    `s` signs purpose, send and target; without a valid one the answer is a plain 404 page and never a redirect.
    """
    if (
        not u
        or not s
        or not _is_signed(call, CLICK, send_id, s, u)
        or not u.lower().startswith(("http://", "https://"))
    ):
        return _no_such_link()
    if not is_head(request):
        await call.world.batcher(record_hits)(_hit(call, send_id, "CLICK", u))
    return HttpResponse(b"", media_type="text/html", status=302, headers={**NEVER_KEPT, "Location": _as_header(u)})


@get("/t/u/{send_id}", public=True, any_query=True, media_types=["text/html"])
async def show_unsubscribe(call: Call, send_id: UUID, s: Signature = None) -> HttpResponse:
    """The page behind an unsubscribe link: one button, and nothing changes before it is pressed."""
    if not s or not _is_signed(call, UNSUBSCRIBE, send_id, s):
        return _no_such_link()
    sends = await engagement.touched_sends(call.db, [send_id])
    sender, recipient = _described(sends[0]) if sends else ("", "")
    values: dict[str, Any] = {"send_id": str(send_id), "signature": s, "sender": sender, "recipient": recipient}
    return page("unsubscribe.html", "Unsubscribe", site="", **values)


@post("/t/u/{send_id}", public=True, any_query=True, media_types=["text/html"], body_limit=UNSUBSCRIBE_BODY_LIMIT)
async def unsubscribe(call: Call, send_id: UUID, request: RawRequest, s: Signature = None) -> HttpResponse:
    """Unsubscribe the recipient of a send: the button of the page, or one click in the mail program (RFC 8058).

    `s` may be in the query or in the body (form, multipart or JSON). Idempotent; needs no cookie.
    """
    signature = s or _signature_in(await request.body(), request.headers.get("content-type", ""))
    if not signature or not _is_signed(call, UNSUBSCRIBE, send_id, signature):
        return _no_such_link()
    async with call.db.transaction() as tx:
        for send in await engagement.touched_sends(tx, [send_id]):
            if TEST_COPY_TAG in (send.tags or []):
                return _page("Unsubscribed", "This was a test copy. The link works; nothing was changed.")
            contact = await contacts.contact_of(tx, send.project_id, send.recipient)
            if contact is not None and not send.test:
                await contacts.unsubscribe(tx, send.project_id, contact.id, call.now, emailId=send.id)
            if await engagement.unsubscribe_recipient(tx, send, source="unsubscribe", at=call.now):
                await events.record_all(tx, [event_of(send, "email.unsubscribed", call.now, recipient=send.recipient)])
    return _page("Unsubscribed", "You will not receive these messages any more.")


@get("/projects/{project_id}/emails/logs/{send_id}/hits", needs="emails:read", problems=[emails.EmailMissing])
async def list_email_hits(call: Call, send_id: UUID) -> list[TrackingHit]:
    """Every open and click of a send, newest first, with who we think was behind it and why."""
    await emails.require_send(call.db, call.project_id, send_id)
    return await store.hits(call.db, project_id=call.project_id, send_id=send_id)


def _hit(call: Call, send_id: UUID, kind: HitKind, url: str | None) -> HitRequest:
    return HitRequest(
        send_id=send_id,
        kind=kind,
        url=url,
        ip_address=call.origin.ip,
        user_agent=call.origin.user_agent[:USER_AGENT_LIMIT].replace("\0", ""),
        occurred_at=call.now,
    )


def _is_signed(call: Call, purpose: str, send_id: UUID, signature: str, url: str = "") -> bool:
    return verify_link([call.world.secrets.key(LINKS_PURPOSE)], purpose, str(send_id), signature, url)


def _as_header(url: str) -> str:
    """A target as a header can carry it: what is not ASCII or would end the line is percent-encoded."""
    return "".join(
        character if 0x20 < ord(character) < 0x7F else "".join(f"%{octet:02X}" for octet in character.encode())
        for character in url
    )


def _signature_in(body: bytes, content_type: str) -> str | None:
    kind = content_type.partition(";")[0].strip().lower()
    if kind == "application/json":
        try:
            found = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        value = found.get("s") if isinstance(found, dict) else None  # pyright: ignore[reportUnknownMemberType]
        return value if isinstance(value, str) else None
    if kind == "multipart/form-data":
        return _multipart_signature_in(body, content_type)
    return parse_qs(body.decode("utf-8", "replace")).get("s", [None])[0]


def _multipart_signature_in(body: bytes, content_type: str) -> str | None:
    """The field `s` of a form (RFC 7578). Python's parser of mail takes time that grows with the square of what
    strangers send here, and nesting that exhausts its stack."""
    found = _BOUNDARY.search(content_type[:HEAD_LIMIT])
    if found is None:
        return None
    for part in body.split(b"--" + found[1].encode("latin-1", "replace"))[1:]:
        head, *content = _BLANK_LINE.split(part, maxsplit=1)
        if content and _FIELD_S.search(head[:HEAD_LIMIT]):
            return content[0].decode("utf-8", "replace").strip()
    return None


def _described(send: TouchedSend) -> tuple[str, str]:
    """Who sends the messages that a page is about, and to which address, for whoever reads it."""
    sender = parse_address(send.sender)
    local, _, domain = send.recipient.rpartition("@")
    # Links are passed on with forwarded mail: the page does not tell the whole address.
    return f"{sender.name} ({sender.spec})" if sender.name else sender.spec, f"{local[:1]}…@{domain}"


def _no_such_link() -> HttpResponse:
    return _page("Not found", "This link is not valid.", status=404)


def _page(title: str, text: str, *, status: int = 200) -> HttpResponse:
    """A page for recipients of mail, who need not know what sends it."""
    return simple_page(title, text, status=status, site="")
