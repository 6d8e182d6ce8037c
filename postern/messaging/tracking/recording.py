"""Recording tracking hits in batches: the response to a hit is sent after the commit of its batch."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.values import Moment, new_id
from postern.messaging.audiences import membership
from postern.messaging.audiences.contacts import lock_contacts, store_engagement
from postern.messaging.emails import engagement
from postern.messaging.emails.model import TrackedSend
from postern.messaging.emails.outcomes import event_of
from postern.messaging.tracking import store
from postern.messaging.tracking.model import HitClassification, HitRequest, StoredHit
from postern.messaging.tracking.rules import BURST_WINDOW, classify
from postern.platform.events import operations as events

if TYPE_CHECKING:
    from postern.world import World

ClassifiedHit = tuple[HitRequest, TrackedSend, HitClassification]


async def record_hits(world: "World", hits: list[HitRequest]) -> list[bool]:
    """Store hits with their classification, update their sends and contacts, and record events, in one transaction.

    Hits of unknown sends are ignored. Returns whether the send of each hit exists.
    """
    async with world.db.transaction() as tx:
        sends = {send.id: send for send in await engagement.tracked_sends(tx, [hit.send_id for hit in hits])}
        hits_of_sends = [hit for hit in hits if hit.send_id in sends]
        if hits_of_sends:
            classified = await _classify_hits(tx, hits_of_sends, sends)
            await _lock_contacts(tx, classified)
            await store.insert_hits(tx, [_stored_hit(*hit) for hit in classified])
            before = await engagement.store_engagement(tx, [_engagement_mark(hit) for hit in classified])
            await _update_engagement(tx, classified)
            await events.record_all(tx, _events(classified, {send.id: send for send in before}))
    return [hit.send_id in sends for hit in hits]


async def erase_hits(tx: Transaction, project_id: UUID, send_ids: list[UUID]) -> None:
    """Erase IP address, user agent and URL of all hits of these sends; kind, verdict and time stay."""
    if send_ids:
        await store.erase_hits(tx, project_id=project_id, send_ids=send_ids)


async def _classify_hits(
    tx: Transaction, hits: list[HitRequest], sends: dict[UUID, TrackedSend]
) -> list[ClassifiedHit]:
    clicks = [hit for hit in hits if hit.kind == "CLICK"]
    recent: list[Any] = []
    if clicks:
        recent = await store.recent_clicks(
            tx,
            project_id=sorted({sends[hit.send_id].project_id for hit in clicks}),
            send_ids=[hit.send_id for hit in clicks],
            since=min(hit.occurred_at for hit in clicks) - BURST_WINDOW,
        )
    classified: list[ClassifiedHit] = []
    for hit in hits:
        send = sends[hit.send_id]
        same_send = [click for click in [*recent, *clicks] if click.send_id == hit.send_id]
        classified.append((hit, send, classify(hit, send.delivered_at or send.sent_at, same_send)))
    return classified


async def _lock_contacts(tx: Transaction, classified: list[ClassifiedHit]) -> None:
    """Lock the audiences and contacts of the batch, sorted, and before the counters of sends are changed.

    All transactions lock in this order, so that they cannot deadlock.
    """
    contact_ids: dict[UUID, set[UUID]] = {}
    for _, send, classification in classified:
        if _is_engagement(send, classification) and send.contact_id is not None:
            contact_ids.setdefault(send.project_id, set()).add(send.contact_id)
    for project_id, ids in sorted(contact_ids.items()):
        await membership.lock_audiences(tx, project_id)
        await lock_contacts(tx, project_id, sorted(ids))


async def _update_engagement(tx: Transaction, classified: list[ClassifiedHit]) -> None:
    """Store when contacts last opened or clicked, for the rules of audiences."""
    times_by_contact: dict[tuple[UUID, bool], dict[UUID, Moment]] = {}
    for hit, send, classification in classified:
        if _is_engagement(send, classification) and send.contact_id is not None:
            hit_times = times_by_contact.setdefault((send.project_id, hit.kind == "CLICK"), {})
            hit_times[send.contact_id] = max(hit.occurred_at, hit_times.get(send.contact_id, hit.occurred_at))
    for (project_id, clicked), contacts in sorted(times_by_contact.items()):
        at = max(contacts.values())
        await store_engagement(
            tx,
            project_id,
            sorted(contacts),
            at,
            opened_at=None if clicked else at,
            clicked_at=at if clicked else None,
        )


def _is_engagement(send: TrackedSend, classification: HitClassification) -> bool:
    """Whether a hit counts for the rules of audiences: not one by a machine, nor one of a TEST key's message."""
    return classification.verdict != "machine" and not send.test


def _stored_hit(hit: HitRequest, send: TrackedSend, classification: HitClassification) -> StoredHit:
    return StoredHit(
        project_id=send.project_id,
        id=new_id(),
        send_id=send.id,
        kind=hit.kind,
        url=hit.url,
        verdict=classification.verdict,
        reason=classification.reason,
        ip_address=hit.ip_address,
        user_agent=hit.user_agent,
        occurred_at=hit.occurred_at,
    )


def _engagement_mark(classified: ClassifiedHit) -> engagement.EngagementMark:
    hit, send, classification = classified
    return engagement.EngagementMark(
        send=send, clicked=hit.kind == "CLICK", by_person=classification.verdict != "machine", at=hit.occurred_at
    )


def _events(classified: list[ClassifiedHit], sends: dict[UUID, TrackedSend]) -> list[Any]:
    """One event for each hit; `sends` have the times of their first open and click before these hits.

    Counting events with `first` gives the unique opens, and with `firstByPerson` those by people; likewise clicks.
    """
    hit_events: list[Any] = []
    previous_hits: set[tuple[UUID, str, bool]] = set()
    for hit, _, classification in classified:
        send, by_person = sends[hit.send_id], classification.verdict != "machine"
        if hit.kind == "CLICK":
            first_hit_at, first_person_hit_at = send.clicked_at, send.human_clicked_at
        else:
            first_hit_at, first_person_hit_at = send.opened_at, send.human_opened_at
        first = first_hit_at is None and not {(send.id, hit.kind, True), (send.id, hit.kind, False)} & previous_hits
        first_by_person = by_person and first_person_hit_at is None and (send.id, hit.kind, True) not in previous_hits
        previous_hits.add((send.id, hit.kind, by_person))
        data: dict[str, Any] = {
            "verdict": classification.verdict,
            "reason": classification.reason,
            "ipAddress": hit.ip_address,
            "userAgent": hit.user_agent,
            "first": first,
            "firstByPerson": first_by_person,
        }
        if hit.kind == "CLICK":
            data["link"] = hit.url
        hit_events.append(
            event_of(send, "email.clicked" if hit.kind == "CLICK" else "email.opened", hit.occurred_at, **data)
        )
    return hit_events
