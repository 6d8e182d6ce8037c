"""The public URLs that messages contain (pixel, tracked links, unsubscribe page), and the list of a send's hits."""

import re
from operator import attrgetter
from typing import Annotated, Any
from urllib.parse import parse_qs
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.handler import is_head
from postern.kernel.http.operation import Lenient, RawRequest, get, post
from postern.kernel.http.responses import HttpResponse
from postern.messaging.emails import engagement
from postern.messaging.emails import operations as emails
from postern.messaging.emails.delivery import LINKS_PURPOSE
from postern.messaging.emails.model import TrackedSend
from postern.messaging.tracking import store
from postern.messaging.tracking.model import URL_LIMIT, USER_AGENT_LIMIT, HitKind, HitRequest, TrackingHit
from postern.messaging.tracking.recording import record_hits
from postern.messaging.tracking.unsubscribing import unsubscribe_recipient_of
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.templates.links import CLICK, UNSUBSCRIBE, verify_link
from postern.web.pages import page, simple_page

GIF = bytes.fromhex("47494638396101000100800000ffffff00000021f90401000000002c00000000010001000002024401003b")
"""One transparent pixel, 43 bytes."""

NO_STORE_HEADERS = {"Cache-Control": "no-store, no-cache, must-revalidate, private", "Referrer-Policy": "no-referrer"}
UNSUBSCRIBE_BODY_LIMIT = 8_192
"""Maximum bytes of the body of an unsubscribe request: `List-Unsubscribe=One-Click` and perhaps a signature."""
PARSED_HEADER_CHARACTERS = 512
"""Maximum characters that are parsed of a `Content-Type` and of the header of a multipart body part."""
_BOUNDARY = re.compile(r';\s*boundary="?([^\s";]{1,70})', re.IGNORECASE)
_BLANK_LINE = re.compile(rb"\r?\n\r?\n")
_DISPOSITION_OF_S = re.compile(rb'content-disposition:[^\r\n]*;[ \t]*name="?s"?[ \t]*(?:[;\r\n]|$)', re.IGNORECASE)

Target = Annotated[
    Annotated[str, msgspec.Meta(max_length=URL_LIMIT, description="The target URL of the link.")] | None, Lenient()
]
Signature = Annotated[
    Annotated[str, msgspec.Meta(max_length=200, description="The link's signature.")] | None, Lenient()
]


@get("/t/o/{send_id}", public=True, ignore_unknown_query=True, media_types=["image/gif"])
async def track_open(call: Call, send_id: UUID, request: RawRequest) -> HttpResponse:
    """The tracking pixel of a message. The response is always the 43-byte GIF, even for an unknown send.

    A HEAD request is not recorded.
    """
    if not is_head(request):
        await call.world.batcher(record_hits, by=attrgetter("send_id"))(_hit_request(call, send_id, "OPEN", None))
    return HttpResponse(GIF, media_type="image/gif", headers=NO_STORE_HEADERS)


@get("/t/c/{send_id}", public=True, ignore_unknown_query=True, status=302, media_types=["text/html"])
async def track_click(
    call: Call, send_id: UUID, request: RawRequest, u: Target = None, s: Signature = None
) -> HttpResponse:
    """A tracked link of a message: records the click and redirects to `u` with a 302.

    `s` is a signature of purpose, send and target. Without a valid signature the response is a 404 page, never a
    redirect.
    """
    if (
        not u
        or not s
        or not _is_signed(call, CLICK, send_id, s, u)
        or not u.lower().startswith(("http://", "https://"))
    ):
        return _link_invalid()
    if not is_head(request):
        await call.world.batcher(record_hits, by=attrgetter("send_id"))(_hit_request(call, send_id, "CLICK", u))
    return HttpResponse(
        b"", media_type="text/html", status=302, headers={**NO_STORE_HEADERS, "Location": _percent_encoded(u)}
    )


@get("/t/u/{send_id}", public=True, ignore_unknown_query=True, media_types=["text/html"])
async def show_unsubscribe(call: Call, send_id: UUID, s: Signature = None) -> HttpResponse:
    """The page of an unsubscribe link. Opening it changes nothing; its button unsubscribes."""
    if not s or not _is_signed(call, UNSUBSCRIBE, send_id, s):
        return _link_invalid()
    sends = await engagement.tracked_sends(call.db, [send_id])
    if not sends:
        return _link_expired()
    sender, recipient = _sender_and_masked_recipient(sends[0])
    values: dict[str, Any] = {"send_id": str(send_id), "signature": s, "sender": sender, "recipient": recipient}
    return page("unsubscribe.html", "Unsubscribe", site="", **values)


@post(
    "/t/u/{send_id}",
    public=True,
    ignore_unknown_query=True,
    media_types=["text/html"],
    body_limit=UNSUBSCRIBE_BODY_LIMIT,
)
async def unsubscribe(call: Call, send_id: UUID, request: RawRequest, s: Signature = None) -> HttpResponse:
    """Unsubscribe the recipient of a send: by the button of the page, or by one click in a mail client (RFC 8058).

    The contact is unsubscribed, and the address is suppressed with the reason UNSUBSCRIBE. The link of a test copy
    changes nothing. `s` can be in the query or in the body (form, multipart or JSON). Idempotent; needs no cookie.
    """
    signature = s or _signature_in(await request.body(), request.headers.get("content-type", ""))
    if not signature or not _is_signed(call, UNSUBSCRIBE, send_id, signature):
        return _link_invalid()
    async with call.db.transaction() as tx:
        sends = await engagement.tracked_sends(tx, [send_id])
        if not sends:
            return _link_expired()
        if not await unsubscribe_recipient_of(tx, sends[0], call.now, source="unsubscribe"):
            return _simple_page("Unsubscribed", "This was a test copy. The link works, but nothing was changed.")
    return _simple_page("Unsubscribed", "You will not receive these messages any more.")


@get("/projects/{project_id}/emails/logs/{send_id}/hits", needs="emails:read", problems=[emails.EmailMissing])
async def list_email_hits(call: Call, send_id: UUID) -> list[TrackingHit]:
    """The opens and clicks of a send, newest first, each with its classification and the reason for it."""
    await emails.require_send(call.db, call.project_id, send_id)
    return await store.hits(call.db, project_id=call.project_id, send_id=send_id)


def _hit_request(call: Call, send_id: UUID, kind: HitKind, url: str | None) -> HitRequest:
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


def _percent_encoded(url: str) -> str:
    """A URL for a `Location` header, with control and non-ASCII characters percent-encoded."""
    return "".join(
        character if 0x20 < ord(character) < 0x7F else "".join(f"%{octet:02X}" for octet in character.encode())
        for character in url
    )


def _signature_in(body: bytes, content_type: str) -> str | None:
    """The signature `s` in a body (JSON, multipart or form); None if there is none."""
    media_type = content_type.partition(";")[0].strip().lower()
    if media_type == "application/json":
        try:
            data = msgspec.json.decode(body)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return None
        value = data.get("s") if isinstance(data, dict) else None  # pyright: ignore[reportUnknownMemberType]
        return value if isinstance(value, str) else None
    if media_type == "multipart/form-data":
        return _multipart_signature_in(body, content_type)
    return parse_qs(body.decode("utf-8", "replace")).get("s", [None])[0]


def _multipart_signature_in(body: bytes, content_type: str) -> str | None:
    """The field `s` of a multipart form (RFC 7578).

    Python's `email` parser is not used, because it takes quadratic time on hostile input and overflows its stack on
    nested parts.
    """
    boundary = _BOUNDARY.search(content_type[:PARSED_HEADER_CHARACTERS])
    if boundary is None:
        return None
    for part in body.split(b"--" + boundary[1].encode("latin-1", "replace"))[1:]:
        head, *content = _BLANK_LINE.split(part, maxsplit=1)
        if content and _DISPOSITION_OF_S.search(head[:PARSED_HEADER_CHARACTERS]):
            return content[0].decode("utf-8", "replace").strip()
    return None


def _sender_and_masked_recipient(send: TrackedSend) -> tuple[str, str]:
    """The sender, and the masked recipient address, for the unsubscribe page."""
    sender = parse_address(send.sender)
    local, _, domain = send.recipient.rpartition("@")
    # If the mail is forwarded, other people get the link, so the page does not show the whole address.
    return f"{sender.name} ({sender.spec})" if sender.name else sender.spec, f"{local[:1]}…@{domain}"


def _link_expired() -> HttpResponse:
    """The page of an unsubscribe link whose message was deleted with the log, so that its recipient is not known."""
    text = "This message is too old for its link to work. Use the link in a newer message, or write to the sender."
    return _simple_page("Link expired", text, status=404)


def _link_invalid() -> HttpResponse:
    return _simple_page("Not found", "This link is not valid.", status=404)


def _simple_page(title: str, text: str, *, status: int = 200) -> HttpResponse:
    """A page for recipients of mail, without the name of the service."""
    return simple_page(title, text, status=status, site="")
