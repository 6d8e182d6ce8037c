"""The mails of one person: listing them beside what else happened, and erasing what they say."""

import re
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Record
from postern.platform.events import history

ERASED = "erased"
"""What stands where an address or a subject stood."""


class MailHistoryEntry(Record):
    """A mail that somebody was sent."""

    id: UUID
    status: str
    subject: str
    message_id: str
    created_at: Moment


# The mails to one address, and those of campaigns to the contact with it, up to a point, newest first.
@statement("""
    (
        select id, status, subject, message_id, created_at from sends
        where project_id = %(project_id)s and lower(recipient) = lower(%(address)s) and campaign_id is null
          and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s::uuid))
        order by created_at desc, id desc limit %(limit)s
    ) union (
        select id, status, subject, message_id, created_at from sends
        where project_id = %(project_id)s and contact_id = %(contact_id)s and campaign_id is not null
          and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s::uuid))
        order by created_at desc, id desc limit %(limit)s
    )
    order by created_at desc, id desc limit %(limit)s
""")
async def mails_to(
    db: Queries,
    *,
    project_id: UUID,
    address: str,
    contact_id: UUID | None,
    before: Moment | None,
    before_id: UUID | None,
    limit: int,
) -> list[MailHistoryEntry]: ...


async def erase_address(tx: Transaction, project_id: UUID, address: str, contact_ids: list[UUID], now: Moment) -> None:
    """Let everything go that mails to an address say: words, addresses, dialogues; states and times stay.

    What still waits is cancelled. The suppression of the address goes too: keeping it would keep the address.
    """
    ids = await _sends_of(
        tx,
        project_id=project_id,
        address=address.lower(),
        pattern=f"%{_LIKE_SIGNS.sub(_ESCAPED, address.lower())}%",
        mention=_addressed_to(address.lower()),
        contact_ids=contact_ids,
    )
    if ids:
        await _erase_bodies(tx, project_id=project_id, ids=ids)
        await _erase_search(tx, project_id=project_id, ids=ids)
        await _erase_attempts(tx, project_id=project_id, ids=ids)
        await _erase_captured(tx, project_id=project_id, ids=ids)
        await _erase_hits(tx, project_id=project_id, ids=ids)
        await _erase_answers(tx, project_id=project_id, ids=ids, erased=ERASED)
        await history.erase_subjects(tx, project_id=project_id, subject_ids=ids, now=now)
        await _erase_sends(tx, project_id=project_id, ids=ids, erased=ERASED)
    await _erase_suppression(tx, project_id=project_id, address=address)
    await _erase_soft_bounces(tx, project_id=project_id, address=address)


_LIKE_SIGNS = re.compile(r"[%_\\]")
_ESCAPED = r"\\\g<0>"


def _addressed_to(address: str) -> str:
    """A PostgreSQL pattern for the address in a text, where it is not the end or the beginning of a longer one."""
    escaped = "".join(each if each.isalnum() else f"\\{each}" for each in address)
    return rf"(?<![[:alnum:]!#$%&*+/=?^_`{{|}}~.-]){escaped}(?![[:alnum:]-]|\.[[:alnum:]])"


# The sends to an address, as to, cc or bcc, and those whose subject names it. Searched are the words that the log is
# searched through, which have an index; they also hold addresses that only contain this one.
@statement("""
    select id from sends
    where project_id = %(project_id)s and lower(recipient) = %(address)s and campaign_id is null
    union
    select id from sends where project_id = %(project_id)s and contact_id = any (%(contact_ids)s)
    union
    select s.id from send_search w join sends s on (s.project_id, s.id) = (w.project_id, w.send_id)
    where w.project_id = %(project_id)s and w.search_text like %(pattern)s
      and (lower(s.subject) ~ %(mention)s or exists (
          select from unnest(s.to_addresses || s.cc_addresses || s.bcc_addresses) as named
          where lower(named) = %(address)s or right(lower(named), length(%(address)s) + 2) = '<' || %(address)s || '>'
      ))
""")
async def _sends_of(
    db: Queries, *, project_id: UUID, address: str, pattern: str, mention: str, contact_ids: list[UUID]
) -> list[UUID]: ...


@statement("delete from send_bodies where project_id = %(project_id)s and send_id = any (%(ids)s)")
async def _erase_bodies(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("delete from send_search where project_id = %(project_id)s and send_id = any (%(ids)s)")
async def _erase_search(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("delete from send_attempts where project_id = %(project_id)s and send_id = any (%(ids)s)")
async def _erase_attempts(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("delete from captured_messages where project_id = %(project_id)s and send_id = any (%(ids)s)")
async def _erase_captured(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


# That somebody looked, and when, stays: counted is what a mail did, not who did it.
@statement("""
    update tracking_hits set ip_address = '', user_agent = '', url = null
    where project_id = %(project_id)s and send_id = any (%(ids)s)
""")
async def _erase_hits(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


# A repeated request still gets its first answer: ids and states name nobody. Reasons in a batch may quote addresses.
@statement("""
    update idempotency_keys as known
    set response = jsonb_build_object('data', array(
            select case when item ->> 'error' is null then item
                        else item || jsonb_build_object('error', %(erased)s::text) end
            from jsonb_array_elements(known.response -> 'data') with ordinality as items (item, place) order by place
        ))
    where project_id = %(project_id)s and send_ids && %(ids)s::uuid[] and jsonb_typeof(response -> 'data') = 'array'
""")
async def _erase_answers(tx: Transaction, *, project_id: UUID, ids: list[UUID], erased: str) -> None: ...


@statement("""
    update sends set recipient = %(erased)s, to_addresses = array[%(erased)s], cc_addresses = null,
        bcc_addresses = null, subject = %(erased)s, reason = null, pending = null, outcomes = null, due_at = null,
        attempt = attempt + (status in ('SCHEDULED', 'QUEUED', 'DELAYED'))::int,
        status = case when status in ('SCHEDULED', 'QUEUED', 'DELAYED') then 'CANCELLED' else status end
    where project_id = %(project_id)s and id = any (%(ids)s)
""")
async def _erase_sends(tx: Transaction, *, project_id: UUID, ids: list[UUID], erased: str) -> None: ...


@statement("delete from suppressions where project_id = %(project_id)s and lower(address) = lower(%(address)s)")
async def _erase_suppression(tx: Transaction, *, project_id: UUID, address: str) -> None: ...


@statement("delete from soft_bounces where project_id = %(project_id)s and lower(address) = lower(%(address)s)")
async def _erase_soft_bounces(tx: Transaction, *, project_id: UUID, address: str) -> None: ...
