"""Background work of directory connections: roles after a change of the connection, deletion, and the deletion of old
refused requests."""

from typing import TYPE_CHECKING, Any
from uuid import UUID

import structlog

from postern.identity.scim import store, user_store
from postern.identity.scim.model import ROLES_CHUNK, ROLES_LEASE, ConnectionRecord
from postern.identity.scim.roles import synchronize_roles
from postern.kernel.database.catalog import delete_rows, dependent_rows
from postern.kernel.due import Work, for_each_row
from postern.kernel.http.call import Call, Caller, Origin
from postern.kernel.values import Record

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class ExpiredError(Record):
    """A refused request that is to be deleted."""

    project_id: UUID
    id: UUID


async def process_connection(world: "World", row: ConnectionRecord) -> None:
    """Delete a chunk of the rows of a deleted connection, or compute the roles of the next users anew."""
    if row.status == "DELETED":
        await _delete_rows(world, row)
    else:
        await _update_roles(world, row)


async def _delete_rows(world: "World", row: ConnectionRecord) -> None:
    key: dict[str, Any] = {"project_id": row.project_id, "id": row.id}
    if await delete_rows(world.db, await dependent_rows(world.db, "directory_connections"), **key):
        await store.delete_connection(world.db, **key)
        log.info("directory_deleted", **{name: str(value) for name, value in key.items()})
    else:
        await store.store_progress(
            world.db,
            **key,
            attempt=row.attempt,
            updated_at=row.updated_at,
            roles_through=row.roles_through,
            due_at=world.clock(),
        )


async def _update_roles(world: "World", row: ConnectionRecord) -> None:
    """Compute the roles of up to ROLES_CHUNK users. The connection stays due until all are done.

    A change of the connection meanwhile begins anew, because it changes `updated_at` or `attempt`.
    """
    now = world.clock()
    caller = Caller(
        kind="anonymous", actor_type="SCIM", actor_id=row.id, actor_label=row.name, project_id=row.project_id
    )
    call = Call(world, world.db, caller, now, "", Origin("", ""), project_id=row.project_id)
    async with world.db.transaction() as tx:
        await tx.lock_quota("directory", row.id)
        current = await store.lock_connection_shared(tx, project_id=row.project_id, id=row.id)
        if current is None or (current.attempt, current.updated_at) != (row.attempt, row.updated_at):
            return
        users = await user_store.users_after(
            tx, project_id=row.project_id, connection_id=row.id, after=row.roles_through, limit=ROLES_CHUNK
        )
        await synchronize_roles(tx, call, row, [user.id for user in users])
        await store.store_progress(
            tx,
            project_id=row.project_id,
            id=row.id,
            attempt=row.attempt,
            updated_at=row.updated_at,
            roles_through=users[-1].id if len(users) == ROLES_CHUNK else None,
            due_at=now if len(users) == ROLES_CHUNK else None,
        )


async def delete_expired_errors(world: "World", rows: list[ExpiredError]) -> None:
    """Delete refused requests that were kept long enough. All `rows` belong to one project."""
    await store.delete_expired_errors(world.db, project_id=rows[0].project_id, ids=[row.id for row in rows])


WORK: list[Work[Any]] = [
    Work(
        "scim.connections",
        "directory_connections",
        ConnectionRecord,
        ROLES_LEASE,
        for_each_row(process_connection),
        claim_size=1,
        max_claims=2,
    ),
    Work("scim.errors", "directory_errors", ExpiredError, ROLES_LEASE, delete_expired_errors, claim_size=1_000),
]
"""Due work of this feature."""
