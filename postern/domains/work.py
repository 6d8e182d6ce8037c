"""Domains whose records, and whose standing on blocklists, are due to be looked at."""

from typing import TYPE_CHECKING, Any

from postern.domains import store
from postern.domains.model import LOOK_LEASE, BlocklistWatch, StoredDomain
from postern.domains.recheck import look, write_down
from postern.domains.standing import refresh
from postern.events.operations import make_event, record_all
from postern.kernel.due import Work, each

if TYPE_CHECKING:
    from postern.world import World


async def recheck(world: "World", domain: StoredDomain) -> None:
    """Look at the records of one domain and write down what was seen."""
    seen = await look(world, domain)
    now = world.clock()
    async with world.db.transaction() as tx:
        current = await store.lock(tx, project_id=domain.project_id, id=domain.id)
        if current is None or current.attempt != domain.attempt:
            return  # It was deleted, or a later attempt has begun.
        row, event = await write_down(tx, current, seen, now)
        if event:
            await record_all(tx, [make_event(row.project_id, event, row.id, now, domain=row.domain)])


WORK: list[Work[Any]] = [
    Work(name="domain_checks", table="domains", kind=StoredDomain, lease=LOOK_LEASE, do=each(recheck), share=50),
    Work(
        name="blocklist_checks",
        table="blocklist_watches",
        kind=BlocklistWatch,
        lease=LOOK_LEASE,
        do=each(refresh),
        share=50,
    ),
]
"""What becomes due."""
