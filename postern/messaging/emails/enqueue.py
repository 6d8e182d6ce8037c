"""Storing sends for campaigns and automations in their own transaction; shared content; and the frequency cap.

The frequency cap is the maximum of marketing messages to one contact within 24 hours, from campaigns and automations
together. It counts the messages that were accepted for the contact, except those that were suppressed, failed, expired
or cancelled. It neither counts nor limits messages of `POST /emails`, test copies and messages of TEST keys.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from datetime import timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.problems import Problem
from postern.kernel.values import Moment
from postern.messaging.domains import sending as domains
from postern.messaging.emails import store
from postern.messaging.emails.model import MARKETING, Send, SendBody
from postern.messaging.emails.outcomes import event_of
from postern.messaging.emails.rules import new_send
from postern.messaging.emails.transports import is_captured
from postern.platform.events import operations as events
from postern.platform.events.model import EventRow
from postern.platform.projects import operations as projects
from postern.protocols.mail.templates.composing import address_of

if TYPE_CHECKING:
    from postern.world import World

SUBJECTS_TIMEOUT = timedelta(seconds=1)
"""Maximum time for rendering subjects."""
CAP_PERIOD: Final = timedelta(hours=24)
"""The period over which the messages to a contact are counted."""


class MailRequest(msgspec.Struct, frozen=True, kw_only=True):
    """One message to one contact."""

    once_key: str
    """Identifies the message: the project never sends a second one with the same key."""
    contact_id: UUID
    to: str
    sender: str
    """`a@b` or `Name <a@b>`."""
    domain_id: UUID | None
    body: SendBody


async def require_sending_domain_id(
    world: "World", db: Queries, project_id: UUID, sender: str, *, test: bool = False
) -> UUID | None:
    """The id of the sending domain of an address.

    The domain must be verified, unless the mail is captured, because the project captures all its mail or because a
    TEST key caused this mail (`test`). Returns None for captured mail from an unknown domain. Raises LookupError, with
    a message that users may see, if the domain is not verified. Raises AddressInvalid if `sender` is not an address.
    """
    name = address_of(sender).domain
    domain = await domains.sending_domain(db, project_id, name)
    project = await projects.require_project(db, project_id)
    if not is_captured(world, project.settings, test=test) and (domain is None or not domain.may_send):
        raise LookupError(f"{name} is not a verified sending domain of this project.")
    return domain.id if domain else None


class AcceptedSend(msgspec.Struct, frozen=True):
    """A new send."""

    id: UUID
    reason: str | None
    """Why it is not delivered: the frequency cap suppressed it. None if it will be delivered."""


async def enqueue_all(
    world: "World",
    tx: Transaction,
    project_id: UUID,
    requests: list[MailRequest],
    cap: int | None,
    now: Moment,
    *,
    test: bool = False,
) -> dict[str, AcceptedSend]:
    """Store messages as sends in an open transaction; returns the new sends, keyed by `once_key`.

    Requests whose `once_key` was used before are left out. Messages beyond the frequency cap (`cap` messages to a
    contact) are stored as SUPPRESSED; None: no cap. Locks the frequency cap, records events, and wakes the workers at
    the commit. With `test` the messages are captured.
    """
    reasons: list[str | None] = [None] * len(requests)
    if cap is not None:
        exceeds = await exceeds_cap(tx, project_id, [request.contact_id for request in requests], cap, now)
        reasons = [cap_reason(cap) if is_exceeding else None for is_exceeding in exceeds]
    subjects = await _subjects(world, project_id, requests)
    sends = [
        _send_of(project_id, request, subject, reason, now, test=test)
        for request, subject, reason in zip(requests, subjects, reasons, strict=True)
    ]
    inserted_ids = set(await store.insert_once(tx, sends))
    new_sends = [(send, request) for send, request in zip(sends, requests, strict=True) if send.id in inserted_ids]
    if new_sends:
        await store.insert_bodies(
            tx,
            project_id=[project_id for _ in new_sends],
            id=[send.id for send, _ in new_sends],
            body=[Jsonb(request.body) for _, request in new_sends],
            search_text=[f"{send.recipient} {send.subject} {send.message_id}".lower()[:4_000] for send, _ in new_sends],
        )
        await events.record_all(tx, [_first_event(send, now) for send, _ in new_sends])
        tx.mark_due("sends", project_id)
    return {request.once_key: AcceptedSend(send.id, send.reason) for send, request in new_sends}


def _first_event(send: Send, now: Moment) -> EventRow:
    if send.reason is None:
        return event_of(send, "email.queued", now)
    return event_of(send, "email.suppressed", now, reason=send.reason)


def _send_of(
    project_id: UUID, request: MailRequest, subject: str, reason: str | None, now: Moment, *, test: bool
) -> Send:
    return msgspec.structs.replace(
        new_send(project_id, address_of(request.sender), request.to, now),
        status="QUEUED" if reason is None else "SUPPRESSED",
        lane=MARKETING,
        test=test,
        subject=subject,
        contact_id=request.contact_id,
        domain_id=request.domain_id,
        once_key=request.once_key,
        due_at=now if reason is None else None,
        reason=reason,
    )


async def _subjects(world: "World", project_id: UUID, requests: list[MailRequest]) -> list[str]:
    """The rendered subjects, for the e-mail log. A transaction is open, so rendering may take at most SUBJECTS_TIMEOUT.

    A subject that cannot be rendered in that time stays a template in the log until the delivery, which renders it or
    fails with the reason. Subjects of a project with its own render process are not rendered here, because its slow
    templates would use up the time.
    """
    subjects = [request.body.subject for request in requests]
    tenant = str(project_id)
    to_render = [
        index for index, request in enumerate(requests) if request.body.engine != "none" and "{" in subjects[index]
    ]
    if to_render and not world.rendering.is_in_slow_lane(tenant):
        values = [(subjects[index], requests[index].body.variables) for index in to_render]
        with suppress(Problem, TimeoutError):
            async with asyncio.timeout(SUBJECTS_TIMEOUT.total_seconds()):
                rendered = await world.rendering.call(tenant, "render_subjects", values)
                for index, subject in zip(to_render, rendered, strict=True):
                    subjects[index] = subject or subjects[index]
    return [subject[:2_000] for subject in subjects]


async def insert_content(tx: Transaction, project_id: UUID, content_id: UUID, body: SendBody, now: Moment) -> None:
    """Store content that many sends share. They refer to it by `content_id`."""
    await store.insert_content(tx, project_id=project_id, id=content_id, body=Jsonb(body), created_at=now)


async def hold_content(tx: Transaction, project_id: UUID, ids: list[UUID]) -> None:
    """Stop delivering the sends of these contents until `release_content`. Changes no send; workers check the state.

    After the commit, call `pre_send_check.wait_until_stopped`.
    """
    await store.set_content_state(tx, project_id=project_id, ids=ids, state="HELD")


async def release_content(tx: Transaction, project_id: UUID, ids: list[UUID]) -> None:
    """Allow delivery of the sends of these contents again. Then the caller must call `campaign_store.release_sends`."""
    await store.set_content_state(tx, project_id=project_id, ids=ids, state="GOING")


async def stop_content(tx: Transaction, project_id: UUID, ids: list[UUID]) -> None:
    """Cancel the waiting sends of these contents for good: each becomes CANCELLED when it is due."""
    await store.set_content_state(tx, project_id=project_id, ids=ids, state="STOPPED")


async def content_subjects(db: Queries, project_id: UUID, ids: list[UUID]) -> dict[UUID, str]:
    """The subjects of shared contents, keyed by content id; unknown ids are left out."""
    return {row.id: row.body.subject for row in await store.get_contents(db, project_id=project_id, ids=ids)}


async def lock_frequency_cap(tx: Transaction, project_id: UUID) -> None:
    """Lock the frequency cap until the transaction ends: others that enqueue marketing mail of the project wait."""
    await store.lock_frequency_cap(tx, project_id=project_id)


async def exceeds_cap(
    tx: Transaction, project_id: UUID, contact_ids: Sequence[UUID], cap: int, now: Moment
) -> list[bool]:
    """Whether a message to each of `contact_ids`, in this order, exceeds the frequency cap.

    An id that occurs several times is counted several times. Locks the frequency cap until the transaction ends.
    """
    await lock_frequency_cap(tx, project_id)
    rows = await store.count_recent_marketing(
        tx, project_id=project_id, contact_ids=sorted(set(contact_ids)), since=now - CAP_PERIOD
    )
    counts = {row.id: row.count for row in rows}
    exceeds: list[bool] = []
    for contact_id in contact_ids:
        counts[contact_id] = counts.get(contact_id, 0) + 1
        exceeds.append(counts[contact_id] > cap)
    return exceeds


def cap_reason(cap: int) -> str:
    """The reason of a send that the frequency cap suppressed, for the e-mail log."""
    number = "message" if cap == 1 else "messages"
    return f"Frequency cap: the contact got {cap} marketing {number} within the last 24 hours."
