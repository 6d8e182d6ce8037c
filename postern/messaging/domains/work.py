"""The background work of domains: DNS checks with key rotation, and blocklist checks."""

from typing import TYPE_CHECKING, Any

from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.due import Work, for_each_row
from postern.kernel.values import Moment, to_plain
from postern.messaging.domains import dmarc_store, store
from postern.messaging.domains.blocklists import check_listings
from postern.messaging.domains.dns_check import DnsCheckResult
from postern.messaging.domains.keys import GeneratedKey, next_key, save_key
from postern.messaging.domains.model import (
    CHECK_LEASE,
    DMARC_DELETED_AT_ONCE,
    DMARC_RETENTION,
    BlocklistWatch,
    StoredDomain,
)
from postern.messaging.domains.rules import replaceable_key, rotate, rotation_is_due
from postern.messaging.domains.verification import check_domain, record_check
from postern.platform.events.operations import make_event, record_all

if TYPE_CHECKING:
    from postern.world import World


async def run_domain_check(world: "World", domain: StoredDomain) -> None:
    """Check the DNS records of one domain, store the result, and rotate or replace its keys if that is due. Also delete
    its expired DMARC data.

    Records an event if the status changed. Changes nothing if the domain was deleted, a later attempt has begun, or the
    result of another check was stored meanwhile.
    """
    result = await check_domain(world, domain)
    now = world.clock()
    retired = replaceable_key(domain.keys, now)
    replacement = await next_key(retired.selector, now) if retired else None
    async with world.db.transaction() as tx:
        current = await store.lock_domain(tx, project_id=domain.project_id, id=domain.id)
        if current is None or current.attempt != domain.attempt:
            return  # The domain was deleted, or a later attempt has begun.
        if current.last_checked_at != domain.last_checked_at:
            return  # What this check has looked up may be older than the stored result, which scheduled the next one.
        row, event = await record_check(tx, current, result, now)
        await dmarc_store.delete_expired(
            tx,
            project_id=row.project_id,
            domain_id=row.id,
            before=(now - DMARC_RETENTION).date(),
            limit=DMARC_DELETED_AT_ONCE,
        )
        if event:
            await record_all(tx, [make_event(row.project_id, event, row.id, now, domain=row.domain)])
        if row.keys == domain.keys:
            await _advance_keys(tx, world, row, result, replacement, now)


async def _advance_keys(
    tx: Transaction,
    world: "World",
    row: StoredDomain,
    result: DnsCheckResult,
    replacement: GeneratedKey | None,
    now: Moment,
) -> None:
    """Replace the retired key by a new NEXT key, or rotate the keys if that is due.

    Keys rotate automatically only if the records are CNAMEs into the service's zone, because then the owner need not
    publish anything. Otherwise the owner calls `rotate-keys`.
    """
    if replacement:
        keys = [replacement.public if key.selector == replacement.public.selector else key for key in row.keys]
        await save_key(tx, world.secrets, row.project_id, row.id, replacement)
    elif world.settings.dns_zone and rotation_is_due(row.keys, now) and result.verdict("DKIM_NEXT"):
        keys = rotate(row.keys, now)
    else:
        return
    await store.set_keys(tx, project_id=row.project_id, id=row.id, keys=Jsonb(to_plain(keys)), now=now)


WORK: list[Work[Any]] = [
    Work(
        name="domain_checks",
        table="domains",
        row_type=StoredDomain,
        lease=CHECK_LEASE,
        do=for_each_row(run_domain_check),
        claim_size=50,
    ),
    Work(
        name="blocklist_checks",
        table="blocklist_watches",
        row_type=BlocklistWatch,
        lease=CHECK_LEASE,
        do=for_each_row(check_listings),
        claim_size=50,
    ),
]
"""The background work that the worker processes run."""
