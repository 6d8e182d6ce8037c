"""What readers do, as far as sends are concerned: marks on the send, and leaving the list."""

from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.values import Record, new_id
from postern.messaging.emails import store
from postern.messaging.emails.model import SUPPRESSION_STRENGTH, SuppressionEntry, TouchedSend


class EngagementMark(Record):
    """A first (or later) open or click of a send."""

    send: TouchedSend
    clicked: bool
    by_person: bool
    at: Moment


async def touched_sends(db: Queries, ids: list[UUID]) -> list[TouchedSend]:
    """Sends by id alone: tracking links name no project."""
    return await store.touched_sends(db, ids=sorted(set(ids)))


async def mark(tx: Transaction, marks: list[EngagementMark]) -> None:
    """Note first opens and clicks; later ones change nothing. A click shows that the message was open."""
    first: dict[UUID, dict[str, Moment | None]] = {}
    for each in sorted(marks, key=lambda mark: (mark.send.id, mark.at)):
        row = first.setdefault(
            each.send.id, {"opened": None, "clicked": None, "human_opened": None, "human_clicked": None}
        )
        kind = "clicked" if each.clicked else "opened"
        row[kind] = row[kind] or each.at
        if each.by_person:
            row[f"human_{kind}"] = row[f"human_{kind}"] or each.at
    by_id = {each.send.id: each.send for each in marks}
    changed = [(by_id[id_], row) for id_, row in first.items() if _is_first(by_id[id_], row)]
    if not changed:
        return
    await store.mark_engaged(
        tx,
        project_id=[send.project_id for send, _ in changed],
        id=[send.id for send, _ in changed],
        opened_at=[row["opened"] for _, row in changed],
        clicked_at=[row["clicked"] for _, row in changed],
        human_opened_at=[row["human_opened"] for _, row in changed],
        human_clicked_at=[row["human_clicked"] for _, row in changed],
    )


def _is_first(send: TouchedSend, row: dict[str, Moment | None]) -> bool:
    known = {
        "opened": send.opened_at,
        "clicked": send.clicked_at,
        "human_opened": send.human_opened_at,
        "human_clicked": send.human_clicked_at,
    }
    return any(at is not None and known[name] is None for name, at in row.items())


async def unsubscribe_recipient(tx: Transaction, send: TouchedSend, *, source: str, at: Moment) -> bool:
    """Put the recipient of a send on the list of those who unsubscribed; False if they were on a list already.

    Mail that a TEST key sent is for trying out: leaving it changes nothing for live mail.
    """
    if send.test:
        return False
    address = SuppressionEntry(
        project_id=send.project_id,
        id=new_id(),
        address=send.recipient.lower(),
        reason="UNSUBSCRIBE",
        source=source,
        send_id=send.id,
        created_at=at,
    )
    return bool(await store.suppress(tx, [address], strength=SUPPRESSION_STRENGTH))
