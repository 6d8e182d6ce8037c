"""Background work: deleting messages that were not understood, after KEPT_FOR."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

from postern.kernel.due import Work
from postern.kernel.values import Record
from postern.messaging.inbound import store
from postern.messaging.inbound.model import LEASE

if TYPE_CHECKING:
    from postern.world import World


class ExpiringReport(Record):
    """A row of `unrecognized_reports` that is older than KEPT_FOR."""

    project_id: UUID
    id: UUID


async def delete_expired_messages(world: "World", rows: list[ExpiringReport]) -> None:
    """Delete messages that are older than KEPT_FOR, all of one project."""
    await store.delete_messages(world.db, project_id=rows[0].project_id, ids=[row.id for row in rows])


WORK: list[Work[Any]] = [
    Work("inbound.reports", "unrecognized_reports", ExpiringReport, LEASE, delete_expired_messages, claim_size=1_000)
]
