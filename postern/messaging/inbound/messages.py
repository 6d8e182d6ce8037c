"""HTTP operations of received messages."""

import asyncio
import ipaddress
from datetime import timedelta
from typing import Annotated
from urllib.parse import quote
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.operation import QueryParameter, RawRequest, delete, get, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import ContentTooLarge, Invalid, Problem, require_found
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Deleted, QueryString, Timestamp, as_id, build_view
from postern.messaging.content_store.model import ContentStoreUnavailable
from postern.messaging.emails.model import MessageGone
from postern.messaging.inbound import message_store as store
from postern.messaging.inbound.contents import message_of
from postern.messaging.inbound.model import (
    DEFAULT_RETENTION_DAYS,
    INBOUND_OCTETS,
    RECIPIENTS_LIMIT,
    InboundAttachmentMissing,
    InboundEnvelope,
    InboundMailboxFull,
    InboundMessage,
    InboundMessageLoops,
    InboundMessageMissing,
    InboundReceipt,
    InboundRow,
    InboundSummary,
    NoInboundRoute,
)
from postern.messaging.inbound.retention import erase_received
from postern.messaging.inbound.routing import routes_of
from postern.messaging.inbound.storing import Arrival, dkim_summary, store_message
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects
from postern.protocols.mail.address import AddressInvalid, parse_address
from postern.protocols.mail.message_authentication import authentication_results
from postern.protocols.mail.received_content import MailContact, read_attachment, read_content
from postern.protocols.mail.reports import envelope_addresses

RFC822 = "message/rfc822"
MESSAGE_PROBLEMS: list[type[Problem]] = [InboundMessageMissing, MessageGone, ContentStoreUnavailable]

Address = Annotated[str, msgspec.Meta(max_length=320)]
ReceivedFrom = Annotated[Timestamp, msgspec.Meta(description="Only messages that were received at this time or later.")]
ReceivedTo = Annotated[Timestamp, msgspec.Meta(description="Only messages that were received before this time.")]
Recipient = Annotated[
    Address, msgspec.Meta(description="Only messages to exactly this address in the envelope, in any letter case.")
]
Sender = Annotated[Address, msgspec.Meta(description="Only messages with this address in From, in any letter case.")]
RouteId = Annotated[str, msgspec.Meta(max_length=36, description="Only messages to this route.")]
EmailId = Annotated[str, msgspec.Meta(max_length=36, description="Only replies to this e-mail.")]
Recipients = Annotated[
    list[Address],
    msgspec.Meta(
        max_length=RECIPIENTS_LIMIT,
        description="The recipients in the envelope, separated by commas. By default, those in the header.",
    ),
]
EnvelopeSender = Annotated[
    Address, msgspec.Meta(description="The envelope sender, for SPF; empty for the null reverse-path.")
]
ClientIp = Annotated[
    str,
    msgspec.Meta(max_length=45, description="The IP address of the client, for SPF; without it, SPF has no result."),
]
ClientName = Annotated[
    str,
    msgspec.Meta(
        max_length=255, pattern=r"^[^\s<>]+(?!\n)$", description="The name that the client gave in EHLO, for SPF."
    ),
]


class InboundFilter(QueryString, omit_defaults=True):
    """The filters of received messages. A message must match all that are not None."""

    since: Annotated[ReceivedFrom | None, QueryParameter("from")] = None
    until: Annotated[ReceivedTo | None, QueryParameter("to")] = None
    recipient: Recipient | None = None
    sender: Sender | None = None
    route_id: RouteId | None = None
    email_id: EmailId | None = None


@get("/projects/{project_id}/inbound", needs="inbound:read")
async def list_inbound_messages(
    call: Call, filters: InboundFilter, limit: ListLimit = 100, cursor: Cursor | None = None
) -> LinkedList[InboundSummary]:
    """List the received messages, newest first, without their content. All given filters must match.

    Messages are deleted after the project's setting `inboundRetentionDays`, by default 30 days.
    """
    page = await newest_first(
        call,
        f"inbound|{msgspec.json.encode(filters).decode()}",
        cursor,
        limit,
        store.messages,
        recipient=filters.recipient and filters.recipient.strip().lower(),
        sender=filters.sender and filters.sender.strip().lower(),
        route=filters.route_id and msgspec.json.encode([{"routeId": as_id(filters.route_id)}]).decode(),
        send_id=as_id(filters.email_id) if filters.email_id else None,
        since=filters.since,
        until=filters.until,
    )
    retention = await _retention(call)
    return page.convert_items(lambda row: _to_summary(row, retention))


@post(
    "/projects/{project_id}/inbound",
    needs="inbound:write",
    status=201,
    body_limit=INBOUND_OCTETS,
    takes=RFC822,
    problems=[NoInboundRoute, InboundMailboxFull, InboundMessageLoops],
)
async def add_inbound_message(
    call: Call,
    request: RawRequest,
    recipients: Recipients | None = None,
    sender: EnvelopeSender = "",
    client_ip: ClientIp | None = None,
    client_name: ClientName | None = None,
) -> InboundReceipt:
    """Add a message that another mail server received: the body is the message (RFC 5322).

    It is stored as if it had arrived here, for the recipients that have a route of the project. Adding the same message
    for the same recipients again changes nothing. For bounces and complaints, use `…/inbound/reports`.
    """
    content = await asyncio.to_thread(_with_crlf, await request.body())
    if not content:
        raise Invalid.at("", "The body is missing: send the message.", "required")
    if len(content) > INBOUND_OCTETS:
        raise ContentTooLarge(f"With CRLF line ends, the message has more than {INBOUND_OCTETS:,} octets.")
    if client_ip is not None:
        try:
            client_ip = str(ipaddress.ip_address(client_ip))
        except ValueError:
            raise Invalid.at("query/clientIp", "This is not an IP address.", "invalid_address") from None
    addresses = [_address(text) for text in recipients or envelope_addresses(content)[:RECIPIENTS_LIMIT]]
    routes = {
        address: [match for match in await routes_of(call.db, address) if match.project_id == call.project_id]
        for address in dict.fromkeys(filter(None, addresses))
    }
    matches = [match for matches_of_address in routes.values() for match in matches_of_address]
    if not matches:
        raise NoInboundRoute
    if matches[0].is_full:
        raise InboundMailboxFull
    mail_from = _address(sender) if sender else ""
    if mail_from is None:
        raise Invalid.at("query/sender", "This is not an address.", "invalid_address")
    arrival = Arrival(source="api", sender=mail_from, client_ip=client_ip, client_name=client_name, content=content)
    (stored,) = await store_message(call.world, arrival, routes, call.caller)
    return InboundReceipt(id=stored.id, duplicate=stored.is_duplicate)


@get("/projects/{project_id}/inbound/{id}", needs="inbound:read", problems=MESSAGE_PROBLEMS)
async def get_inbound_message(call: Call, id: UUID) -> InboundMessage:
    """Get a received message: header, addresses, texts, attachments, and how it was authenticated.

    Malformed parts are shown as far as they can be read; `notices` lists what could not be read. `html` is as it
    arrived: sanitize it before you show it.
    """
    row = require_found(await store.message(call.db, project_id=call.project_id, id=id), InboundMessageMissing)
    message = await message_of(call.world, call.project_id, id, row)
    content = await asyncio.to_thread(read_content, message)
    summary = _to_summary(row, await _retention(call))
    return build_view(
        InboundMessage,
        summary,
        headers=content.headers,
        cc=content.cc,
        reply_to=content.reply_to,
        date=content.date,
        in_reply_to=content.in_reply_to,
        references=content.references,
        text=content.text,
        html=content.html,
        reply_text=content.reply_text,
        attachments=content.attachments,
        authentication=row.authentication,
        authentication_results=authentication_results(
            row.authentication, authserv_id=call.world.settings.mx_name, mail_from=row.sender
        ),
        envelope=InboundEnvelope(sender=row.sender, client_ip=row.client_ip, client_name=row.client_name),
        notices=content.notices,
    )


@get(
    "/projects/{project_id}/inbound/{id}/raw",
    needs="inbound:read",
    problems=MESSAGE_PROBLEMS,
    media_types=[RFC822],
)
async def get_inbound_raw(call: Call, id: UUID) -> HttpResponse:
    """Download a received message, octet for octet, as an `.eml` file."""
    return _download(await _content(call, id), RFC822, f"{id}.eml")


@get(
    "/projects/{project_id}/inbound/{id}/attachments/{number}",
    needs="inbound:read",
    problems=[*MESSAGE_PROBLEMS, InboundAttachmentMissing],
    media_types=["application/octet-stream"],
)
async def get_inbound_message_attachment(call: Call, id: UUID, number: str) -> HttpResponse:
    """Download an attachment by its `id`. The sender chose the content: check it before you use it."""
    attachment, body = require_found(
        await asyncio.to_thread(read_attachment, await _content(call, id), number), InboundAttachmentMissing
    )
    return _download(body, "application/octet-stream", attachment.filename)


@delete("/projects/{project_id}/inbound/{id}", needs="inbound:write", problems=[InboundMessageMissing])
async def delete_inbound_message(call: Call, id: UUID) -> Deleted:
    """Delete a received message, and its data in the event `inbound.received`."""
    async with call.db.transaction() as tx:
        if not await erase_received(tx, call.project_id, [id], call.now):
            raise InboundMessageMissing
        await audit.record(tx, call, "inbound_message.deleted", "InboundMessage", id)
    return Deleted()


async def _content(call: Call, id: UUID) -> bytes:
    """The octets of a received message."""
    stored = require_found(await store.content(call.db, project_id=call.project_id, id=id), InboundMessageMissing)
    return await message_of(call.world, call.project_id, id, stored)


async def _retention(call: Call) -> timedelta:
    """How long the received messages of the project are kept."""
    settings = (await projects.require_project(call.db, call.project_id)).settings
    return timedelta(days=settings.inbound_retention_days or DEFAULT_RETENTION_DAYS)


def _to_summary(row: InboundRow, retention: timedelta) -> InboundSummary:
    return build_view(
        InboundSummary,
        row,
        from_=MailContact(name=row.from_name, email=row.from_email) if row.from_email or row.from_name else None,
        to=row.to_addresses,
        attachment_count=row.attachments,
        spf=row.authentication.spf.verdict,
        dkim=dkim_summary(row.authentication),
        dmarc=row.authentication.dmarc.verdict,
        expires_at=row.received_at + retention,
    )


def _with_crlf(content: bytes) -> bytes:
    """A message with CRLF line ends. Programs that read a message from a file or a pipe often send LF only."""
    return content.replace(b"\r\n", b"\n").replace(b"\r", b"\n").replace(b"\n", b"\r\n")


def _address(text: str) -> str | None:
    """The address with its domain in A-labels; None if it is not one."""
    try:
        return parse_address(text).spec
    except AddressInvalid:
        return None


def _download(content: bytes, media_type: str, filename: str) -> HttpResponse:
    headers = {
        # The name comes from the sender, so it is sent only in its encoded form (RFC 6266).
        "Content-Disposition": f"attachment; filename*=UTF-8''{quote(filename, safe='')}",
        "Content-Security-Policy": "default-src 'none'; sandbox",
        "X-Content-Type-Options": "nosniff",
    }
    return HttpResponse(content, media_type=media_type, headers=headers)
