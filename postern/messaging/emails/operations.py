"""HTTP operations of sends: send, reschedule, cancel, retry and read; and functions with which other packages send."""

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from operator import attrgetter
from typing import TYPE_CHECKING, Annotated, Any
from uuid import UUID

import msgspec
import structlog

from postern.kernel.database.statements import Queries
from postern.kernel.http.call import ANONYMOUS, Call, LiveKeyRequired, Origin
from postern.kernel.http.handler import read_item
from postern.kernel.http.idempotency import IdempotencyHeader
from postern.kernel.http.operation import HeaderParameter, get, patch, post
from postern.kernel.http.problems import Invalid, Problem, require_found
from postern.kernel.http.responses import HttpResponse
from postern.kernel.http.scheduling import paused_request
from postern.kernel.values import Moment, to_json
from postern.messaging.content_store.model import ContentStoreUnavailable
from postern.messaging.emails import rules, store
from postern.messaging.emails.content_store import object_octets
from postern.messaging.emails.contents import read_body, read_document, restore_content
from postern.messaging.emails.delivery import (
    LINKS_PURPOSE,
    DeliveryJob,
    ProjectState,
    deliver_claimed,
    draft_of,
    lease_keeper,
    unsubscribe_address,
)
from postern.messaging.emails.model import (
    AWAITING_ATTEMPT,
    BATCH_BYTES,
    EVENT_TYPE,
    RETRIABLE,
    SCHEDULE_HORIZON,
    SINGLE_BYTES,
    TRANSITIONS,
    WAIT_LIMIT,
    WAITING,
    ContactRef,
    DomainNotVerified,
    Email,
    EmailBatch,
    EmailBatchItem,
    EmailBatchResult,
    EmailInvalid,
    EmailLogEntry,
    EmailLogEntryDetail,
    EmailMissing,
    EmailReschedule,
    EmailWaiting,
    IdempotencyKey,
    IdempotencyKeyInProgress,
    IdempotencyKeyReused,
    IdempotencyRow,
    MessageGone,
    NotCancellable,
    NotRetriable,
    NotScheduled,
    RecipientMessage,
    RecipientOutcome,
    Send,
    SendAttempt,
    SendBody,
    SendEvent,
    SendReport,
    SendResult,
    TransmittedParts,
)
from postern.messaging.emails.outcomes import event_of
from postern.messaging.emails.redaction import open_body, redacted_body
from postern.messaging.emails.return_addresses import RETURN_PATH_PURPOSE
from postern.messaging.emails.site_operations import suspension_of
from postern.messaging.emails.submission import (
    NewSend,
    SubmissionContext,
    SubmissionRequest,
    check_email,
    parse_key,
    render_check,
    split_by_recipient,
    store_responses,
    stored_response,
    submit,
    with_secrets,
)
from postern.messaging.emails.transports import (
    DirectNotOffered,
    NoSmartHost,
    is_captured,
    require_transport,
    transport_of,
)
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.model import ProjectSettings
from postern.platform.projects.quotas import max_concurrent, require_quota
from postern.protocols.mail.address import AddressInvalid
from postern.protocols.mail.mime import MessageTooLarge
from postern.protocols.mail.templates.composing import ComposeRequest, TemplateCrashed, TemplateTooExpensive, address_of
from postern.protocols.mail.templates.rendering import RenderingBusy, RenderingUnavailable
from postern.protocols.mail.templates.template import Engine

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

MAX_OWN_DELIVERIES = 400
"""An API process delivers at most this many messages itself at a time; it leaves further ones to the workers."""

RENDER_PROBLEMS: list[type[Problem]] = [TemplateTooExpensive, TemplateCrashed, RenderingBusy, RenderingUnavailable]
SEND_PROBLEMS: list[type[Problem]] = [
    DomainNotVerified,
    EmailInvalid,
    IdempotencyKeyInProgress,
    IdempotencyKeyReused,
    MessageTooLarge,
    NoSmartHost,
    DirectNotOffered,
    *RENDER_PROBLEMS,
]

PreferHeader = Annotated[
    str | None, HeaderParameter("Prefer"), msgspec.Meta(description="`wait=N`: seconds to wait for the delivery.")
]
EMAIL_DECODER = msgspec.json.Decoder(Email)

EXAMPLE = {
    "to": ["ada@example.com"],
    "from": "Acme <hello@acme.example>",
    "subject": "Hello {{name}}",
    "html": '<p>Dear {{name}}, <a href="https://acme.example">look</a>.</p>',
    "variables": {"name": "Ada"},
}


@post(
    "/projects/{project_id}/emails",
    needs="emails:send",
    status=201,
    body_limit=SINGLE_BYTES,
    problems=SEND_PROBLEMS,
    example=EXAMPLE,
    response_type=SendResult,
)
async def send_email(
    call: Call, data: Email, idempotency_key: IdempotencyHeader = None, prefer: PreferHeader = None
) -> HttpResponse:
    """Send an e-mail.

    The response 201 means that the e-mail is stored and will be sent. It is transmitted at once, and the response waits
    up to two seconds for that (`Prefer: wait=N` changes this): `status` is `SENT` if the next server has accepted the
    message, otherwise `QUEUED`. With `wait=0` the workers transmit it, which gives the highest throughput. An
    `unsubscribable` e-mail with several recipients becomes a separate message for each, listed in `messages`; `id` and
    `status` are those of the first. A request that is repeated with its `Idempotency-Key` within 24 hours gets the
    first response again and sends nothing.
    """
    key = parse_key(call, "emails", idempotency_key, data)
    return await accept_email(call, data, key, wait=_wait_time(call, prefer))


async def accept_email(call: Call, data: Email, key: IdempotencyKey | None, *, wait: timedelta) -> HttpResponse:
    """Check and commit an e-mail, and wait for its delivery for at most `wait`; see `send_email`.

    The response is a SendResult as JSON. With `wait=0` the workers transmit the e-mail.
    """
    settings = await projects.settings_of(call)
    context = SubmissionContext()
    try:
        require_transport(call.world, settings, test=call.caller.environment == "TEST")
        deliver_now = bool(wait) and _can_deliver_now(call, settings)
        new = await check_email(call, data, settings, deliver_now=deliver_now, context=context)
        sends = split_by_recipient(new)
        near_quota = await _require_quota(call, len(sends))
    except Problem:
        # A repeated request gets its first response, even if its template or domain was deleted since.
        if stored := key and await stored_response(call, key):
            return await replay(call, stored)
        raise
    accepted = _result([new_send.send for new_send in sends])
    response_at_commit = None if new.deliver_now else (201, accepted)
    submitted = await submit(
        call,
        SubmissionRequest(
            project_id=call.project_id, sends=sends, key=key, response=response_at_commit, near_quota=near_quota
        ),
    )
    if isinstance(submitted, IdempotencyRow):
        return await replay(call, submitted)
    if not new.deliver_now:
        return _created(accepted)
    project = ProjectState(settings=settings, domains=context.domains, suppressed=submitted.suppressed)
    tasks = [call.world.run_in_background(_deliver_now(call.world, new_send, project)) for new_send in sends]
    with paused_request():
        done, _ = await asyncio.wait(tasks, timeout=wait.total_seconds())
    statuses = [task.result() if task in done else new.send.status for task in tasks]
    result = _result([new_send.send for new_send in sends], statuses)
    if key is not None:
        await call.world.batcher(store_responses, by=attrgetter("project_id"))(
            msgspec.structs.replace(key, status=201, response=result)
        )
    return _created(result)


@post(
    "/projects/{project_id}/emails/batch",
    needs="emails:send",
    status=201,
    body_limit=BATCH_BYTES,
    problems=SEND_PROBLEMS,
    example={"emails": [EXAMPLE]},
    response_type=EmailBatchResult,
)
async def send_email_batch(call: Call, data: EmailBatch, idempotency_key: IdempotencyHeader = None) -> HttpResponse:
    """Send up to 500 e-mails in one request.

    The e-mails are independent, and the results are in the order of the request. An e-mail that is not accepted has an
    `error` and the status `FAILED`; the others are sent. Accepted e-mails are `QUEUED`, and the workers transmit them.
    """
    key = parse_key(call, "emails/batch", idempotency_key, data)
    return await accept_batch(call, [read_item(EMAIL_DECODER, raw) for raw in data.emails], key)


async def accept_batch(
    call: Call, batch: Sequence[Email | Problem], key: IdempotencyKey | None, *, all_or_nothing: bool = False
) -> HttpResponse:
    """Check and commit a batch; see `send_email_batch`. The response is an EmailBatchResult as JSON.

    A Problem in the batch stands for an e-mail that is not accepted because of it. `all_or_nothing`: if an e-mail is
    not accepted, none is, and the first problem is raised, with the e-mail's index in its paths.
    """
    checked = await check_batch(call, batch)
    result = EmailBatchResult(data=[_item_of(result) for result in checked.results])
    stored = await commit_batch(call, checked, key, (201, result), all_or_nothing=all_or_nothing)
    if stored is not None:
        return await replay(call, stored)
    return _created(result)


class CheckedBatch(msgspec.Struct, frozen=True, kw_only=True):
    """The e-mails of a batch after all checks, in the order of the request."""

    results: list[list[NewSend] | Problem]
    """The messages of each e-mail, or the problem because of which it is not accepted."""
    settings: ProjectSettings

    @property
    def sends(self) -> list[NewSend]:
        """The messages of all e-mails that are accepted."""
        return [send for result in self.results if not isinstance(result, Problem) for send in result]


async def check_batch(
    call: Call, batch: Sequence[Email | Problem], context: SubmissionContext | None = None
) -> CheckedBatch:
    """Check each e-mail of a batch separately; see `accept_batch`. Stores nothing."""
    settings = await projects.settings_of(call)
    context = SubmissionContext() if context is None else context
    checked: list[NewSend | Problem] = []
    for item in batch:
        checked.append(await _checked_item(call, item, settings, context))
        await asyncio.sleep(0)  # Other requests are served between two e-mails.
    rendered = await asyncio.gather(*(_rendered_item(call, item) for item in checked))
    return CheckedBatch(results=[_split_item(item) for item in rendered], settings=settings)


async def commit_batch(
    call: Call,
    checked: CheckedBatch,
    key: IdempotencyKey | None,
    response: tuple[int, Any],
    *,
    all_or_nothing: bool = False,
) -> IdempotencyRow | None:
    """Commit the accepted e-mails of a batch and return None; if the request is a repetition, commit nothing and return
    the row of its key. `response` (status and body) is stored with the key; for `all_or_nothing` see `accept_batch`.
    """
    try:
        if all_or_nothing:
            _require_all_accepted(checked.results)
        require_transport(call.world, checked.settings, test=call.caller.environment == "TEST")
        sends = checked.sends
        near_quota = await _require_quota(call, len(sends))
    except Problem:
        if stored := key and await stored_response(call, key):
            return stored
        raise
    submitted = await submit(
        call,
        SubmissionRequest(project_id=call.project_id, sends=sends, key=key, response=response, near_quota=near_quota),
    )
    return submitted if isinstance(submitted, IdempotencyRow) else None


@get("/projects/{project_id}/emails/logs/{send_id}", needs="emails:read", problems=[EmailMissing])
async def get_email_log(call: Call, send_id: UUID) -> EmailLogEntryDetail:
    """A send with its events."""
    send = await require_send(call.db, call.project_id, send_id)
    send_events = await events.of_subject(call.db, call.project_id, send_id, limit=500)
    options = await store.content_options(
        call.db, project_id=call.project_id, send_id=send_id, content_id=send.content_id
    )
    entry = entry_of(send)
    return EmailLogEntryDetail(
        **{name: getattr(entry, name) for name in EmailLogEntry.__struct_fields__},
        webhook_events=[
            SendEvent(id=event.id, type=EVENT_TYPE[event.type], created_at=event.occurred_at)  # pyright: ignore[reportArgumentType]
            for event in reversed(send_events)
            if event.type in EVENT_TYPE
        ],
        engine=options and options.engine,
        waiting=await _waiting(call, send),
        require_tls=options and options.require_tls,
    )


async def _waiting(call: Call, send: Send) -> EmailWaiting | None:
    waiting = rules.waiting_of(send, call.now)
    if waiting is None or waiting.cause != "SITE_SUSPENDED" or waiting.site is None:
        return waiting
    # `waiting.until` is only when a worker checks the suspension again.
    suspension = await suspension_of(call, waiting.site)
    return msgspec.structs.replace(waiting, until=suspension.until) if suspension else waiting


@get(
    "/projects/{project_id}/emails/logs/{send_id}/message",
    needs="emails:read",
    problems=[EmailMissing, MessageGone, ContentStoreUnavailable],
    media_types=["message/rfc822"],
)
async def get_email_message(call: Call, send_id: UUID) -> HttpResponse:
    """The message as it was transmitted, as an `.eml` file.

    It equals the transmitted message byte for byte, including its DKIM signatures. After several attempts, it is the
    message of the last accepted one. A message that was not transmitted yet has no signatures and the date of its
    creation. One-time codes and links (sign-in codes, password resets, invitations) are replaced by `[removed]`, and
    such messages have no signatures.
    """
    headers = {"Content-Disposition": f'attachment; filename="{send_id}.eml"'}
    return HttpResponse(await message_of(call, send_id), media_type="message/rfc822", headers=headers)


@get("/projects/{project_id}/emails/logs/{send_id}/attempts", needs="emails:read", problems=[EmailMissing])
async def list_email_attempts(call: Call, send_id: UUID) -> list[SendAttempt]:
    """The delivery attempts of a send, each with the server's replies and the SMTP dialogue."""
    await require_send(call.db, call.project_id, send_id)
    return await store.attempts(call.db, project_id=call.project_id, send_id=send_id)


@get("/projects/{project_id}/emails/logs/{send_id}/reports", needs="emails:read", problems=[EmailMissing])
async def list_email_reports(call: Call, send_id: UUID) -> list[SendReport]:
    """The reports about a send that arrived after its attempts, oldest first: bounces, complaints, delays, deliveries.

    The same report that arrives again is counted in `times` and changes nothing.
    """
    await require_send(call.db, call.project_id, send_id)
    return await store.reports(call.db, project_id=call.project_id, send_id=send_id)


@patch(
    "/projects/{project_id}/emails/{send_id}",
    needs="emails:write",
    problems=[EmailMissing, NotScheduled, LiveKeyRequired],
    example={"scheduledAt": "2030-01-31T12:00:00Z"},
    response_example={"status": "SCHEDULED", "sentAt": None, "deliveredAt": None},
)
async def reschedule_email(call: Call, send_id: UUID, data: EmailReschedule) -> EmailLogEntry:
    """Reschedule a SCHEDULED send to a time at most 30 days in the future; a time in the past means now."""
    if data.scheduled_at > call.now + SCHEDULE_HORIZON:
        raise Invalid.at("/scheduledAt", "The time can be at most 30 days in the future.", "too_far")
    async with call.db.transaction() as tx:
        send = await _lock(call, tx, send_id)
        if not send.test:
            call.require_live("reschedule an e-mail that a TEST key did not send")
        if send.status != "SCHEDULED":
            raise NotScheduled
        if send.expires_at is not None and send.expires_at <= data.scheduled_at:
            raise Invalid.at("/scheduledAt", "The e-mail would expire before it is sent.", "too_late")
        new_values = msgspec.structs.replace(
            send,
            status="SCHEDULED",
            due_at=max(data.scheduled_at, call.now),
            scheduled_at=data.scheduled_at,
            reason=None,
        )
        rescheduled = await store.change_schedule(tx, new_values, now=call.now)
        await events.record_all(
            tx, [event_of(rescheduled, "email.scheduled", call.now, scheduledAt=rescheduled.scheduled_at)]
        )
        tx.mark_due("sends", call.project_id)
    return entry_of(rescheduled)


@post(
    "/projects/{project_id}/emails/{send_id}/cancel",
    needs="emails:write",
    problems=[EmailMissing, NotCancellable],
    response_example={"status": "CANCELLED", "sentAt": None, "deliveredAt": None},
)
async def cancel_email(call: Call, send_id: UUID) -> EmailLogEntry:
    """Cancel a waiting send. The response is 409 if the message is being transmitted right now.

    One-time codes and links in the stored content are erased.
    """
    async with call.db.transaction() as tx:
        send = await _lock(call, tx, send_id)
        if send.status not in WAITING or send.handed_over is not None:
            raise NotCancellable
        new_values = msgspec.structs.replace(send, status="CANCELLED", due_at=None, reason="Cancelled.")
        cancelled = await store.change_schedule(tx, new_values, now=call.now)
        await store.erase_secrets(tx, project_id=[call.project_id], ids=[send_id])
        await events.record_all(tx, [event_of(cancelled, "email.cancelled", call.now)])
    return entry_of(cancelled)


@post(
    "/projects/{project_id}/emails/{send_id}/retry",
    needs="emails:write",
    problems=[EmailMissing, NotRetriable, LiveKeyRequired, ContentStoreUnavailable],
    response_example={"status": "QUEUED", "sentAt": None, "deliveredAt": None},
)
async def retry_email(call: Call, send_id: UUID) -> EmailLogEntry:
    """Retry a send.

    A send that failed, bounced or expired is queued as if it had just been accepted. A send that was deferred is
    retried now, and its retry period does not begin again.
    """
    document = await _moved_content(call, send_id)
    async with call.db.transaction() as tx:
        if document is not None:
            await restore_content(tx, call.project_id, send_id, document, call.now)
        send = await _lock(call, tx, send_id)
        _require_retriable(call, send)
        if send.status in AWAITING_ATTEMPT:
            brought_forward = await store.bring_forward(tx, project_id=call.project_id, id=send_id, now=call.now)
            if brought_forward is None:
                raise NotRetriable("This send is being transmitted right now.")
            tx.mark_due("sends", call.project_id)
            return entry_of(brought_forward)
        for stored in await store.bodies(tx, project_id=call.project_id, ids=[send_id]):
            if stored.object_octets is not None:
                raise ContentStoreUnavailable  # A worker has moved it since it was read.
            if open_body(call.world, send_id, stored.body, stored.sealed) is None:
                raise NotRetriable("The one-time code or link in this e-mail was erased; request a new one.")
        new_values = msgspec.structs.replace(
            send,
            status="QUEUED",
            due_at=call.now,
            scheduled_at=call.now,
            reason=None,
            tries=0,
            # A message that bounced did not arrive, so the retry sets these times again.
            sent_at=None if send.status == "BOUNCED" else send.sent_at,
            delivered_at=None if send.status == "BOUNCED" else send.delivered_at,
        )
        queued = await store.change_schedule(tx, new_values, now=call.now)
        await events.record_all(tx, [event_of(queued, "email.queued", call.now, retry=True)])
        tx.mark_due("sends", call.project_id)
    return entry_of(queued)


def _require_retriable(call: Call, send: Send) -> None:
    """Raises NotRetriable if a send cannot be retried, whatever its content, and LiveKeyRequired."""
    if not send.test:
        call.require_live("retry an e-mail that a TEST key did not send")
    if send.status in AWAITING_ATTEMPT:
        return
    if send.status not in RETRIABLE:
        raise NotRetriable
    if send.expires_at is not None and send.expires_at <= call.now:
        raise NotRetriable("This send has expired; send a new e-mail.")


async def _moved_content(call: Call, send_id: UUID) -> bytes | None:
    """The content of a send that can be retried, if it was moved to the store. Raises NotRetriable, LiveKeyRequired and
    ContentStoreUnavailable."""
    send = await store.get_send(call.db, project_id=call.project_id, id=send_id)
    if send is None:
        return None
    _require_retriable(call, send)
    if send.status in AWAITING_ATTEMPT:
        return None
    octets = await object_octets(call.db, project_id=call.project_id, send_id=send_id)
    if octets is None:
        return None
    document = await read_document(call.world, call.project_id, send_id, octets)
    if document is None:
        raise NotRetriable("The content of this e-mail is no longer stored; send a new e-mail.")
    return document


async def send_project_mail(
    world: "World",
    project_id: UUID,
    *,
    to: str,
    from_: str,
    subject: str,
    html: str,
    text: str | None = None,
    expires_at: Any = None,
    tags: list[str] | None = None,
    secrets: list[str] | None = None,
    request_id: str = "",
    test: bool = False,
) -> UUID:
    """Send a mail of the project (a code, an invitation, a security notice) without tracking; returns the send's id.

    The send is committed before this returns, and transmitted in the background. Raises the problems of `send_email`.
    No template engine renders it, so template tags in names that people choose have no effect. `secrets` are the
    one-time codes and tokens in html and text; they are only stored encrypted. A mail that a TEST key caused (`test`)
    is captured.
    """
    project = await projects.require_project(world.db, project_id)
    call = Call(
        world=world,
        db=world.db,
        caller=replace(ANONYMOUS, environment="TEST" if test else "LIVE"),
        now=world.clock(),
        request_id=request_id,
        origin=Origin("", ""),
        project_id=project_id,
    )
    data = Email(
        to=[to],
        from_=from_,
        subject=subject,
        html=html,
        text=text,
        expires_at=expires_at,
        tags=tags,
        track_opens=False,
        track_clicks=False,
        engine="none",
    )
    new = await check_email(call, data, project.settings, deliver_now=_can_deliver_now(call, project.settings))
    new = with_secrets(world, new, secrets or [])
    await submit(call, SubmissionRequest(project_id=project_id, sends=[new], key=None, response=None))
    if new.deliver_now:
        world.run_in_background(_deliver_now(world, new))
    return new.send.id


async def send_copy(
    call: Call,
    *,
    to: str,
    from_: str,
    subject: str,
    html: str | None,
    text: str | None,
    variables: dict[str, Any],
    tags: list[str],
    from_name: str | None = None,
    engine: Engine = "minijinja",
) -> UUID:
    """Send a test copy of a campaign's message, without tracking; returns the send's id.

    The copy has an unsubscribe link, as the campaign's messages have. `from_name` is the sender's display name as a
    template. Waits until the first attempt is settled, unless the workers deliver it. Raises the problems of
    `send_email`.
    """
    settings = await projects.settings_of(call)
    data = Email(
        to=[to],
        from_=from_,
        subject=subject,
        html=html,
        text=text,
        variables=variables,
        tags=tags,
        track_opens=False,
        track_clicks=False,
        unsubscribable=True,
        engine=engine,
    )
    new = await check_email(call, data, settings, deliver_now=_can_deliver_now(call, settings))
    if from_name is not None:
        new = msgspec.structs.replace(new, body=msgspec.structs.replace(new.body, from_name=from_name))
    await submit(call, SubmissionRequest(project_id=call.project_id, sends=[new], key=None, response=None))
    if new.deliver_now:
        await call.world.run_in_background(_deliver_now(call.world, new))
    return new.send.id


async def require_send(db: Queries, project_id: UUID, send_id: UUID) -> Send:
    """The row of a send. Raises EmailMissing."""
    return require_found(await store.get_send(db, project_id=project_id, id=send_id), EmailMissing)


async def message_of(call: Call, send_id: UUID) -> bytes:
    """The message of a send, as `get_email_message` returns it. Raises EmailMissing, MessageGone and
    ContentStoreUnavailable."""
    send = await require_send(call.db, call.project_id, send_id)
    message = await store.captured_message(call.db, project_id=call.project_id, send_id=send_id)
    return await _compose_again(call, send) if message is None else message


async def stored_content(call: Call, send: Send) -> SendBody | None:
    """The content of a send without its one-time secrets; None if it is no longer stored, and for a campaign's send.

    Raises ContentStoreUnavailable.
    """
    if send.content_id is not None:
        return None
    for stored in await store.bodies(call.db, project_id=send.project_id, ids=[send.id]):
        if stored.object_octets is None:
            return redacted_body(stored.body)
        # It has no secrets: a content with an encrypted copy is not moved.
        return await read_body(call.world, send.project_id, send.id, stored.object_octets)
    return None


async def count_sends(db: Queries, project_id: UUID, statuses: list[str], campaign_id: UUID | None = None) -> int:
    """The number of sends of a campaign, or of the whole project, that have one of these statuses.

    Counts all sends if `statuses` is empty. Reads the counters, not the sends.
    """
    counts = await counts_by_status(db, project_id, campaign_id)
    return sum(counts.get(status, 0) for status in {*(statuses or counts)})


async def counts_by_status(db: Queries, project_id: UUID, campaign_id: UUID | None = None) -> dict[str, int]:
    """The number of sends of a campaign, or of the whole project, with each status. Reads the counters."""
    counters = await store.counters(db, project_id=project_id, campaign_id=campaign_id)
    return {counter.measure: counter.count for counter in counters if counter.measure in TRANSITIONS}


def entry_of(send: Send) -> EmailLogEntry:
    """The log entry of a send."""
    return EmailLogEntry(
        id=send.id,
        status=send.status,
        message_id=send.message_id,
        subject=send.subject,
        from_=send.sender,
        to=send.to_addresses,
        cc=send.cc_addresses or [],
        bcc=send.bcc_addresses or [],
        contact=ContactRef(id=send.contact_id, email=send.recipient),
        recipients=recipient_outcomes(send),
        campaign_id=send.campaign_id,
        tags=send.tags or [],
        reason=send.reason,
        ambiguous_attempts=send.ambiguous_attempts,
        test=send.test,
        scheduled_at=send.scheduled_at,
        expires_at=send.expires_at,
        sent_at=send.sent_at,
        delivered_at=send.delivered_at,
        opened_at=send.opened_at,
        clicked_at=send.clicked_at,
        bounced_at=send.bounced_at,
        complained_at=send.complained_at,
        created_at=send.created_at,
    )


def recipient_outcomes(send: Send) -> list[RecipientOutcome]:
    """The status of a send for each recipient in to, cc and bcc; that of the send where none is stored separately."""
    fields: dict[str, Any] = {}
    fields_of_send = (("to", send.to_addresses), ("cc", send.cc_addresses or []), ("bcc", send.bcc_addresses or []))
    for field, texts in fields_of_send:
        for text in texts:
            fields.setdefault(_address_without_name(text), field)
    outcomes: dict[str, Any] = send.outcomes or {}
    return [_recipient_outcome(send, email, field, outcomes.get(email)) for email, field in fields.items()]


def _recipient_outcome(send: Send, email: str, field: Any, outcome: dict[str, Any] | None) -> RecipientOutcome:
    if outcome is None:
        reported_at = {"COMPLAINED": send.complained_at, "BOUNCED": send.bounced_at}.get(send.status)
        at = reported_at or send.delivered_at or send.bounced_at or send.sent_at or send.delayed_at
        return RecipientOutcome(email=email, field=field, status=send.status, reason=send.reason, at=at)
    return RecipientOutcome(
        email=email,
        field=field,
        status=outcome["status"],
        reason=outcome["reason"],
        at=Moment.of(datetime.fromisoformat(outcome["at"])),
    )


def _address_without_name(text: str) -> str:
    try:
        return address_of(text).spec
    except AddressInvalid:
        return text  # The address was erased.


def _can_deliver_now(call: Call, settings: ProjectSettings) -> bool:
    """Whether this process can deliver another message itself: it has capacity, and the transport is not known to be
    down."""
    if len(lease_keeper(call.world)) >= MAX_OWN_DELIVERIES:
        return False
    if is_captured(call.world, settings, test=call.caller.environment == "TEST"):
        return True
    return not transport_of(call.world, call.project_id, settings).circuit_open


async def _deliver_now(world: "World", new: NewSend, project: ProjectState | None = None) -> str:
    """`project` is the state that the request has read, and None if the delivery must read it."""
    try:
        # The commit that accepted the send also claimed it and set its mark "transmission begun, reply unknown".
        return await deliver_claimed(world, DeliveryJob(send=new.send, body=new.body, is_marked=True, project=project))
    except Exception:  # A worker claims the send when the lease ends.
        log.exception("delivery_failed", send=str(new.send.id))
        return new.send.status


def _wait_time(call: Call, prefer: str | None) -> timedelta:
    """How long the response waits for the delivery: `wait` of the `Prefer` header (RFC 7240 §4.3), or the default."""
    match = re.search(r"(?:^|[,;\s])wait=(\d{1,6})", prefer or "")
    return min(timedelta(seconds=int(match[1])), WAIT_LIMIT) if match else call.world.settings.send_wait


def _result(sends: list[Send], statuses: Sequence[str] | None = None) -> SendResult:
    """The response for the sends of one e-mail; `statuses` are their current statuses, if they have changed."""
    current: Any = statuses or [send.status for send in sends]
    messages = [
        RecipientMessage(to=send.to_addresses[0], id=send.id, message_id=send.message_id, status=status)
        for send, status in zip(sends, current, strict=True)
    ]
    first = messages[0]
    return SendResult(
        id=first.id,
        message_id=first.message_id,
        status=first.status,
        messages=messages if len(messages) > 1 else [],
    )


def _created(result: Any) -> HttpResponse:
    return HttpResponse(to_json(result), status=201)


async def _require_quota(call: Call, count: int) -> bool:
    """Raises PlanLimitReached if `count` messages exceed the quota.

    Returns True if the quota is nearly used up, so that it must be checked again in the transaction.
    """
    if call.caller.environment == "TEST" or not call.world.settings.plan_limits:
        return False
    remaining = await require_quota(call.db, call, "emails", count)
    return remaining is not None and remaining.number - count < max_concurrent("emails")


async def replay(call: Call, stored: IdempotencyRow) -> HttpResponse:
    """The response to a repeated request: the stored first response. If the process died before it stored the response,
    that is rebuilt from the sends."""
    status, response, ids = stored.status, stored.response, stored.send_ids
    if status is None:
        sends = {send.id: send for send in await store.sends_by_id(call.db, project_id=call.project_id, ids=ids)}
        status, response = 201, _result([sends[send_id] for send_id in ids])
    return HttpResponse(to_json(response), status=status, headers={"Idempotent-Replayed": "true"})


async def _checked_item(
    call: Call, item: Email | Problem, settings: ProjectSettings, context: SubmissionContext
) -> NewSend | Problem:
    """An e-mail of a batch, not yet rendered; the problem if it is not accepted."""
    if isinstance(item, Problem):
        return item
    try:
        return await check_email(call, item, settings, deliver_now=False, context=context, render=False)
    except Problem as problem:
        return problem


def _split_item(new: NewSend | Problem) -> list[NewSend] | Problem:
    if isinstance(new, Problem):
        return new
    try:
        return split_by_recipient(new)
    except Problem as problem:
        return problem


async def _rendered_item(call: Call, new: NewSend | Problem) -> NewSend | Problem:
    if isinstance(new, Problem):
        return new
    try:
        return await render_check(call, new)
    except Problem as problem:
        return problem


def _require_all_accepted(items: Sequence[list[NewSend] | Problem]) -> None:
    """Raise the first problem of a batch; its paths begin with the index of the e-mail."""
    for index, item in enumerate(items):
        if isinstance(item, Problem):
            raise item.relocated(lambda path, index=index: f"/{index}{path}")


def _item_of(accepted: list[NewSend] | Problem) -> EmailBatchItem:
    if isinstance(accepted, Problem):
        return _rejected_item(accepted)
    result = _result([new_send.send for new_send in accepted])
    return EmailBatchItem(
        id=result.id, message_id=result.message_id, status=result.status, error=None, messages=result.messages
    )


def _rejected_item(problem: Problem) -> EmailBatchItem:
    path = problem.errors[0].path if problem.errors else ""
    error = f"{path}: {problem.detail}" if path else problem.detail
    return EmailBatchItem(id=None, message_id=None, status="FAILED", error=error)


async def _lock(call: Call, tx: Any, send_id: UUID) -> Send:
    return require_found(await store.lock_send(tx, project_id=call.project_id, id=send_id), EmailMissing)


async def _compose_again(call: Call, send: Send) -> bytes:
    """Compose the message of a send from its stored content. Raises MessageGone and ContentStoreUnavailable."""
    if send.content_id is not None:
        raise MessageGone("Messages of campaigns are composed for each contact and not stored.")
    bodies = await store.bodies(call.db, project_id=call.project_id, ids=[send.id])
    body = bodies[0].body if bodies else None
    if bodies and (octets := bodies[0].object_octets) is not None:
        body = await read_body(call.world, send.project_id, send.id, octets)
    if body is None:
        raise MessageGone
    parts = await store.transmitted_parts(call.db, project_id=call.project_id, send_id=send.id)
    if parts is None:
        settings = await projects.settings_of(call)
        base = f"https://{settings.tracking_domain}" if settings.tracking_domain else call.world.settings.public_url
        parts = TransmittedParts(signatures="", links_base=base)
    key = call.world.secrets.key(LINKS_PURPOSE)
    return_path_key = call.world.secrets.key(RETURN_PATH_PURPOSE)
    templates, draft = draft_of(
        send,
        body,
        {},
        parts.links_base,
        key,
        now=send.created_at,
        unsubscribe_address=unsubscribe_address(return_path_key, send, parts.unsubscribe_domain),
    )
    result = await call.world.rendering.compose(ComposeRequest(templates, draft, (), str(call.project_id)), now=0)
    if result.reason is not None:
        raise MessageGone(f"This message cannot be composed again: {result.reason}")
    return parts.signatures.encode() + result.message
