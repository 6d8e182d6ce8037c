"""HTTP operations that show the HTML of a message in a frame of the dashboard, at a URL that works for five minutes."""

import asyncio
import base64
import binascii
from dataclasses import replace
from datetime import datetime, timedelta
from html import escape
from typing import Literal
from uuid import UUID

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.operation import DEVELOPER_ONLY, RawRequest, get, post
from postern.kernel.http.problems import Missing, Problem
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit
from postern.kernel.values import Body, Moment, Record, to_json
from postern.messaging.content_store.model import ContentStoreUnavailable
from postern.messaging.emails.model import EmailMissing, MessageGone
from postern.messaging.emails.operations import message_of
from postern.messaging.inbox import operations as inbox
from postern.messaging.inbox.frames import framed_html
from postern.messaging.inbox.model import CapturedMissing
from postern.platform.accounts import operations as accounts
from postern.web.pages import read_form

PREVIEW_LIFE = timedelta(minutes=5)
"""Validity of the URL of a preview."""
PREVIEW_RATE = RateLimit("mail-preview", 120, timedelta(minutes=1))
"""How many previews one session may show, because the message may have to be composed again for each."""
HTML_LIMIT = 8_388_608
"""Maximum bytes of a form with HTML to show. The encoding of forms makes HTML up to three times as long."""
PREVIEW_PATH = "/dashboard/preview"
SIGNATURE_PURPOSE = "mail-preview"


class PreviewExpired(Missing):
    """This preview has expired. Open the message again."""


class PreviewOptions(Body):
    """How to show the message."""

    images: bool = False
    """Whether to load images of other servers. These servers then learn that, when and where the message was read."""


class MailPreview(Record):
    """Where the message is shown. `path` is the path on this server to load in an `iframe`."""

    path: str
    expires_at: Moment


class PreviewTicket(msgspec.Struct, frozen=True, array_like=True):
    """What the URL of a preview permits, signed by this server."""

    kind: Literal["SEND", "CAPTURED"]
    project_id: UUID
    id: UUID
    developer_id: UUID
    session_id: UUID
    images: bool
    show_secrets: bool
    """Whether one-time codes and links are shown."""
    expires_at: datetime


@post(
    "/projects/{project_id}/emails/logs/{send_id}/preview",
    needs="emails:read",
    accepts=DEVELOPER_ONLY,
    problems=[EmailMissing, MessageGone, ContentStoreUnavailable],
    example={"images": False},
)
async def preview_email(call: Call, send_id: UUID, data: PreviewOptions) -> MailPreview:
    """Create a URL at which a frame of the dashboard shows the HTML of a send, for 5 minutes.

    The HTML runs no scripts, submits no forms and loads nothing from other servers, unless `images` is true. One-time
    codes and links are replaced by `[removed]`. A preview does not count as an open. The URL stops working when the
    session that has created it ends.
    """
    await message_of(call, send_id)
    return _preview(call, "SEND", send_id, data.images, show_secrets=False)


@post(
    "/projects/{project_id}/inbox/{id}/preview",
    needs="inbox:read",
    accepts=DEVELOPER_ONLY,
    problems=[CapturedMissing],
    example={"images": False},
)
async def preview_inbox_message(call: Call, id: UUID, data: PreviewOptions) -> MailPreview:
    """Create a URL at which a frame of the dashboard shows the HTML of a captured message, for 5 minutes.

    The HTML runs no scripts, submits no forms and loads nothing from other servers, unless `images` is true. One-time
    codes and links are replaced by `[removed]`, unless the caller has the permission `customers:impersonate`. A
    preview does not count as an open. The URL stops working when the session that has created it ends.
    """
    show_secrets = call.caller.may(inbox.SECRETS_PERMISSION)
    await inbox.require_message(call.world, call.project_id, id, show_secrets=show_secrets)
    return _preview(call, "CAPTURED", id, data.images, show_secrets=show_secrets)


@get(f"{PREVIEW_PATH}/{{ticket}}", public=True, ignore_unknown_query=True, hidden=True)
async def show_preview(call: Call, ticket: str) -> HttpResponse:
    """Show the HTML of a message in a sandboxed frame; its text if it has no HTML."""
    try:
        return await _show(call, ticket)
    except Problem as problem:
        # Shown in a page like that of a message, because other pages of this server must not be loaded in a frame.
        return framed_html(f"<p>{escape(problem.detail)}</p>", images=False, status=problem.status)


@post(PREVIEW_PATH, public=True, ignore_unknown_query=True, hidden=True, body_limit=HTML_LIMIT)
async def show_html(request: RawRequest) -> HttpResponse:
    """Show the `html` of a form of the dashboard in a sandboxed frame, for templates that are not saved yet.

    The form's target is the frame. `images=1` loads the images of other servers. Nothing is stored.
    """
    try:
        fields = await read_form(request)
    except Problem as problem:
        return framed_html(f"<p>{escape(problem.detail)}</p>", images=False, status=problem.status)
    return framed_html(fields.get("html", ""), images=fields.get("images") == "1")


def _preview(
    call: Call, kind: Literal["SEND", "CAPTURED"], id: UUID, images: bool, *, show_secrets: bool
) -> MailPreview:
    caller, expires_at = call.caller, Moment.of(call.now + PREVIEW_LIFE)
    assert caller.actor_id
    assert caller.credential_id
    ticket = PreviewTicket(
        kind, call.project_id, id, caller.actor_id, caller.credential_id, images, show_secrets, expires_at
    )
    content = to_json(ticket)
    text = base64.urlsafe_b64encode(content).rstrip(b"=").decode()
    signature = call.world.secrets.sign(SIGNATURE_PURPOSE, content)
    return MailPreview(path=f"{PREVIEW_PATH}/{text}.{signature}", expires_at=expires_at)


async def _show(call: Call, text: str) -> HttpResponse:
    """Show the message of a ticket. Raises PreviewExpired, TooManyRequests, EmailMissing, MessageGone,
    ContentStoreUnavailable and CapturedMissing."""
    ticket = _read_ticket(call, text)
    if ticket is None or ticket.expires_at <= call.now:
        raise PreviewExpired
    call.world.limiter.take(PREVIEW_RATE, str(ticket.session_id))
    if not await accounts.has_session(call.db, ticket.developer_id, ticket.session_id, call.now):
        raise PreviewExpired
    if ticket.kind == "SEND":
        send_id = ticket.id
        message = await message_of(replace(call, project_id=ticket.project_id), send_id)
    else:
        row = await inbox.require_message(call.world, ticket.project_id, ticket.id, show_secrets=ticket.show_secrets)
        send_id, message = row.send_id, row.message
    return framed_html(await asyncio.to_thread(inbox.shown_html, message, send_id), images=ticket.images)


def _read_ticket(call: Call, text: str) -> PreviewTicket | None:
    """The ticket in a URL; None if this server has not signed it."""
    encoded, _, signature = text.partition(".")
    try:
        content = base64.b64decode(encoded + "=" * (-len(encoded) % 4), altchars=b"-_", validate=True)
    except (binascii.Error, ValueError):
        return None
    if not call.world.secrets.verify(SIGNATURE_PURPOSE, content, signature):
        return None
    return msgspec.json.decode(content, type=PreviewTicket)
