"""Opens and clicks of sends, and unsubscribing of their recipients."""

from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.values import Moment, Record, new_id
from postern.messaging.emails import store
from postern.messaging.emails.model import ProviderMessage, SuppressionEntry, TrackedSend


class EngagementMark(Record):
    """An open or click of a send."""

    send: TrackedSend
    clicked: bool
    """Whether it is a click; otherwise it is an open."""
    by_person: bool
    """Whether a person caused it, directly or through an image proxy, and not a machine."""
    at: Moment


async def tracked_sends(db: Queries, ids: list[UUID]) -> list[TrackedSend]:
    """The sends with these ids, each once; unknown ids are left out. Sends of any project are returned, because
    tracking URLs do not contain the project."""
    return await store.tracked_sends(db, ids=sorted(set(ids)))


async def sends_with_provider_ids(
    db: Queries, project_ids: list[UUID], ids: list[str]
) -> dict[str, list[ProviderMessage]]:
    """The sends of these projects, keyed by the id that a provider such as Amazon SES gave to their message. Unknown
    ids are left out."""
    messages: dict[str, list[ProviderMessage]] = {}
    for message in await store.sends_with_provider_ids(db, project_id=project_ids, provider_ids=sorted(set(ids))):
        messages.setdefault(message.provider_id, []).append(message)
    return messages


async def store_engagement(tx: Transaction, marks: list[EngagementMark]) -> list[TrackedSend]:
    """Store the time of the first open and the first click of each send; later ones change nothing.

    Opens and clicks by people are stored separately as well. Returns the sends with the times that they had before;
    another transaction may have stored some since they were read. Records no events.
    """
    first_times: dict[UUID, dict[str, Moment | None]] = {}
    for mark in sorted(marks, key=lambda mark: (mark.send.id, mark.at)):
        times = first_times.setdefault(
            mark.send.id, {"opened": None, "clicked": None, "human_opened": None, "human_clicked": None}
        )
        kind = "clicked" if mark.clicked else "opened"
        times[kind] = times[kind] or mark.at
        if mark.by_person:
            times[f"human_{kind}"] = times[f"human_{kind}"] or mark.at
    by_id = {mark.send.id: mark.send for mark in marks}
    sends_to_update = [(by_id[id_], times) for id_, times in first_times.items() if _has_new_times(by_id[id_], times)]
    if not sends_to_update:
        return list(by_id.values())
    previous = await store.mark_engaged(
        tx,
        project_id=[send.project_id for send, _ in sends_to_update],
        id=[send.id for send, _ in sends_to_update],
        opened_at=[times["opened"] for _, times in sends_to_update],
        clicked_at=[times["clicked"] for _, times in sends_to_update],
        human_opened_at=[times["human_opened"] for _, times in sends_to_update],
        human_clicked_at=[times["human_clicked"] for _, times in sends_to_update],
    )
    before = {row.id: msgspec.structs.asdict(row) for row in previous}
    return [msgspec.structs.replace(send, **before.get(send.id, {})) for send in by_id.values()]


def _has_new_times(send: TrackedSend, times: dict[str, Moment | None]) -> bool:
    stored = {
        "opened": send.opened_at,
        "clicked": send.clicked_at,
        "human_opened": send.human_opened_at,
        "human_clicked": send.human_clicked_at,
    }
    return any(at is not None and stored[name] is None for name, at in times.items())


async def unsubscribe_recipient(tx: Transaction, send: TrackedSend, *, source: str, at: Moment) -> bool:
    """Suppress the recipient of a send with the reason UNSUBSCRIBE; False if the address was already suppressed.

    For a message that a TEST key sent, it does nothing and returns False, so that tests do not affect live mail.
    `source` is stored as the origin of the suppression. Records no events.
    """
    if send.test:
        return False
    entry = SuppressionEntry(
        project_id=send.project_id,
        id=new_id(),
        address=send.recipient.lower(),
        reason="UNSUBSCRIBE",
        source=source,
        send_id=send.id,
        created_at=at,
    )
    return bool(await store.suppress(tx, [entry]))
