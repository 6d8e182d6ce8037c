"""Keeping hits: durable before they are answered, many in one transaction."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Transaction
from postern.kernel.values import new_id
from postern.messaging.audiences import membership
from postern.messaging.audiences.contacts import lock_contacts, touch_engagement
from postern.messaging.emails import engagement
from postern.messaging.emails.model import TouchedSend
from postern.messaging.emails.outcomes import event_of
from postern.messaging.tracking import store
from postern.messaging.tracking.model import HitJudgement, HitRequest
from postern.messaging.tracking.rules import AT_ONCE_WITHIN, judge
from postern.platform.events import operations as events

if TYPE_CHECKING:
    from postern.world import World

Seen = tuple[HitRequest, TouchedSend, HitJudgement]


async def record_hits(world: "World", hits: list[HitRequest]) -> list[bool]:
    """Keep hits with their verdicts, mark the sends and record the events. False for sends that do not exist."""
    async with world.db.transaction() as tx:
        sends = {send.id: send for send in await engagement.touched_sends(tx, [hit.send_id for hit in hits])}
        known = [hit for hit in hits if hit.send_id in sends]
        if known:
            seen = await _judged(tx, known, sends)
            await _lock_contacts(tx, seen)
            await _insert(tx, seen)
            await engagement.mark(tx, [_mark(each) for each in seen])
            await _touch_contacts(tx, seen)
            await events.record_all(tx, _events(seen))
    return [hit.send_id in sends for hit in hits]


async def erase_hits(tx: Transaction, project_id: UUID, send_ids: list[UUID]) -> None:
    """Erase who opened and clicked some mails, and which links; kinds, verdicts and times stay."""
    if send_ids:
        await store.erase_hits(tx, project_id=project_id, send_ids=send_ids)


async def _judged(tx: Transaction, hits: list[HitRequest], sends: dict[UUID, TouchedSend]) -> list[Seen]:
    clicks = [hit for hit in hits if hit.kind == "CLICK"]
    recent: list[Any] = []
    if clicks:
        recent = await store.recent_clicks(
            tx,
            project_id=sorted({sends[hit.send_id].project_id for hit in clicks}),
            send_ids=[hit.send_id for hit in clicks],
            since=min(hit.occurred_at for hit in clicks) - AT_ONCE_WITHIN,
        )
    found: list[Seen] = []
    for hit in hits:
        send = sends[hit.send_id]
        near = [each for each in [*recent, *clicks] if each.send_id == hit.send_id]
        found.append((hit, send, judge(hit, send.delivered_at or send.sent_at, near)))
    return found


async def _lock_contacts(tx: Transaction, seen: list[Seen]) -> None:
    """Those who opened and those who clicked together, before the sums that others change after their contacts."""
    everybody: dict[UUID, set[UUID]] = {}
    for _, send, judged in seen:
        if send.contact_id is not None and judged.verdict != "machine":
            everybody.setdefault(send.project_id, set()).add(send.contact_id)
    for project_id, ids in sorted(everybody.items()):
        await membership.lock_audiences(tx, project_id)
        await lock_contacts(tx, project_id, sorted(ids))


async def _insert(tx: Transaction, seen: list[Seen]) -> None:
    await store.insert_hits(
        tx,
        project_id=[send.project_id for _, send, _ in seen],
        id=[new_id() for _ in seen],
        send_id=[send.id for _, send, _ in seen],
        kind=[hit.kind for hit, _, _ in seen],
        url=[hit.url for hit, _, _ in seen],
        verdict=[judged.verdict for _, _, judged in seen],
        reason=[judged.reason for _, _, judged in seen],
        ip_address=[hit.ip_address for hit, _, _ in seen],
        user_agent=[hit.user_agent for hit, _, _ in seen],
        occurred_at=[hit.occurred_at for hit, _, _ in seen],
    )


async def _touch_contacts(tx: Transaction, seen: list[Seen]) -> None:
    """Let audiences know which contacts opened or clicked; machines are nobody's interest."""
    touched: dict[tuple[UUID, bool], dict[UUID, Moment]] = {}
    for hit, send, judged in seen:
        if send.contact_id is not None and judged.verdict != "machine":
            of_kind = touched.setdefault((send.project_id, hit.kind == "CLICK"), {})
            of_kind[send.contact_id] = max(hit.occurred_at, of_kind.get(send.contact_id, hit.occurred_at))
    for (project_id, clicked), contacts in sorted(touched.items()):
        at = max(contacts.values())
        await touch_engagement(
            tx,
            project_id,
            sorted(contacts),
            at,
            opened_at=None if clicked else at,
            clicked_at=at if clicked else None,
        )


def _mark(seen: Seen) -> engagement.EngagementMark:
    hit, send, judged = seen
    return engagement.EngagementMark(
        send=send, clicked=hit.kind == "CLICK", by_person=judged.verdict != "machine", at=hit.occurred_at
    )


def _events(seen: list[Seen]) -> list[Any]:
    """One event a hit; `first` and `firstByPerson` let those who count people count each send once."""
    found: list[Any] = []
    done: set[tuple[UUID, str, bool]] = set()
    for hit, send, judged in seen:
        by_person = judged.verdict != "machine"
        if hit.kind == "CLICK":
            before, person_before = send.clicked_at, send.human_clicked_at
        else:
            before, person_before = send.opened_at, send.human_opened_at
        first = before is None and not {(send.id, hit.kind, True), (send.id, hit.kind, False)} & done
        first_by_person = by_person and person_before is None and (send.id, hit.kind, True) not in done
        done.add((send.id, hit.kind, by_person))
        data: dict[str, Any] = {
            "verdict": judged.verdict,
            "reason": judged.reason,
            "ipAddress": hit.ip_address,
            "userAgent": hit.user_agent,
            "first": first,
            "firstByPerson": first_by_person,
        }
        if hit.kind == "CLICK":
            data["link"] = hit.url
        found.append(
            event_of(send, "email.clicked" if hit.kind == "CLICK" else "email.opened", hit.occurred_at, **data)
        )
    return found
