"""Background work of the OpenID provider: deletion of expired grants, devices, used JWTs and unused clients, and
notices of ended sessions."""

from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from postern.identity.oauth import device_store, proof_store, registration_store, store
from postern.identity.oauth.backchannel import notify_client
from postern.identity.oauth.logout_store import DueLogout
from postern.kernel.due import Work, for_each_row
from postern.kernel.values import Record

if TYPE_CHECKING:
    from postern.world import World

DELETE_LEASE = timedelta(minutes=10)
"""When another worker may delete the rows that a killed worker had claimed."""
NOTICE_LEASE = timedelta(minutes=1)
"""When another worker may send the notices that a killed worker had claimed: longer than NOTICES_CLAIMED take, ten at a
time, each with the time limit of a request (15 seconds)."""
NOTICES_CLAIMED = 30


class ExpiredGrant(Record):
    """A grant, a device, a registration or a used JWT that becomes due when it may be deleted."""

    project_id: UUID
    id: UUID


async def delete_expired_grants(world: "World", rows: list[ExpiredGrant]) -> None:
    """Delete grants whose last tokens have expired. All rows must be of one project."""
    ids = [row.id for row in rows]
    await store.delete_expired_grants(world.db, project_id=rows[0].project_id, ids=ids, now=world.clock())


async def delete_expired_devices(world: "World", rows: list[ExpiredGrant]) -> None:
    """Delete devices whose codes have expired. All rows must be of one project."""
    ids = [row.id for row in rows]
    await device_store.delete_expired_devices(world.db, project_id=rows[0].project_id, ids=ids, now=world.clock())


async def delete_expired_jwts(world: "World", rows: list[ExpiredGrant]) -> None:
    """Delete used JWTs that have expired. All rows must be of one project."""
    ids = [row.id for row in rows]
    await proof_store.delete_expired_jwts(world.db, project_id=rows[0].project_id, ids=ids, now=world.clock())


async def delete_unused_clients(world: "World", rows: list[ExpiredGrant]) -> None:
    """Delete clients that have registered themselves and were not used since. All rows must be of one project."""
    project_id, ids = rows[0].project_id, [row.id for row in rows]
    async with world.db.transaction() as tx:
        await registration_store.lock_clients(tx, project_id=project_id, ids=ids)
        expired = await registration_store.lock_expired(tx, project_id=project_id, ids=ids, now=world.clock())
        await store.delete_clients(tx, project_id=project_id, ids=expired)


WORK: list[Work[Any]] = [
    Work("oauth.grants", "oauth_grants", ExpiredGrant, DELETE_LEASE, delete_expired_grants, claim_size=1_000),
    Work(
        "oauth.logouts",
        "oauth_logouts",
        DueLogout,
        NOTICE_LEASE,
        for_each_row(notify_client),
        claim_size=NOTICES_CLAIMED,
    ),
    Work("oauth.devices", "oauth_devices", ExpiredGrant, DELETE_LEASE, delete_expired_devices, claim_size=1_000),
    Work("oauth.used_jwts", "oauth_used_jwts", ExpiredGrant, DELETE_LEASE, delete_expired_jwts, claim_size=1_000),
    Work("oauth.registrations", "oauth_registrations", ExpiredGrant, DELETE_LEASE, delete_unused_clients),
]
