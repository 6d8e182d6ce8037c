"""Domains whose records, and whose standing on blocklists, are due to be looked at."""

from typing import TYPE_CHECKING, Any

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.due import Work, one_by_one
from postern.kernel.values import to_plain
from postern.messaging.domains import store
from postern.messaging.domains.blocklists import check_listings
from postern.messaging.domains.dns_check import DnsCheckResult
from postern.messaging.domains.keys import GeneratedKey, keep, next_key
from postern.messaging.domains.model import LOOK_LEASE, BlocklistWatch, StoredDomain
from postern.messaging.domains.rules import lingered, rotated, rotation_is_due
from postern.messaging.domains.verification import check_domain, record_check
from postern.platform.events.operations import make_event, record_all

if TYPE_CHECKING:
    from postern.world import World


async def check_domains(world: "World", domain: StoredDomain) -> None:
    """Look at the records of one domain and write down what was seen; bring its keys forward if it is time."""
    seen = await check_domain(world, domain)
    now = world.clock()
    worn = lingered(domain.keys, now)
    fresh = await next_key(worn.selector, now) if worn else None
    async with world.db.transaction() as tx:
        current = await store.lock_domain(tx, project_id=domain.project_id, id=domain.id)
        if current is None or current.attempt != domain.attempt:
            return  # It was deleted, or a later attempt has begun.
        row, event = await record_check(tx, current, seen, now)
        if event:
            await record_all(tx, [make_event(row.project_id, event, row.id, now, domain=row.domain)])
        if row.keys == domain.keys:
            await _bring_keys_forward(tx, world, row, seen, fresh, now)


async def _bring_keys_forward(
    tx: Transaction, world: "World", row: StoredDomain, seen: DnsCheckResult, fresh: GeneratedKey | None, now: Moment
) -> None:
    """Put a fresh next key in the place of the retired one; or let the next one sign, if nobody need do a thing.

    Only aliases into the service's zone make that so. Elsewhere the owner rotates when they are ready.
    """
    if fresh:
        keys = [fresh.public if key.selector == fresh.public.selector else key for key in row.keys]
        await keep(tx, world.secrets, row.project_id, row.id, fresh)
    elif world.settings.dns_zone and rotation_is_due(row.keys, now) and seen.verdict("DKIM_NEXT"):
        keys = rotated(row.keys, now)
    else:
        return
    await store.set_keys(tx, project_id=row.project_id, id=row.id, keys=Jsonb(to_plain(keys)), now=now)


WORK: list[Work[Any]] = [
    Work(
        name="domain_checks",
        table="domains",
        kind=StoredDomain,
        lease=LOOK_LEASE,
        do=one_by_one(check_domains),
        share=50,
    ),
    Work(
        name="blocklist_checks",
        table="blocklist_watches",
        kind=BlocklistWatch,
        lease=LOOK_LEASE,
        do=one_by_one(check_listings),
        share=50,
    ),
]
"""What becomes due."""
