"""Background work: deletion of expired attempts, sessions and challenges."""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from uuid import UUID

from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work
from postern.kernel.values import Record
from postern.security import attempt_store, challenge_store, session_store
from postern.security.session_store import SessionRow

if TYPE_CHECKING:
    from postern.world import World

OnExpiredImpersonations = Callable[[Transaction, list[SessionRow]], Awaitable[None]]
"""Records the end of sessions in which somebody acted as a customer, in the transaction that deletes them."""
DELETE_LEASE = timedelta(minutes=10)
"""When another worker may delete the rows that a killed worker had claimed."""
MIN_COUNT_AGE = timedelta(hours=1)
"""A counter of attempts whose time window began more recently is kept: an attempt restarted it after the worker
had claimed its row."""


class ExpiredRow(Record):
    """A row that becomes due when it may be deleted."""

    project_id: UUID
    """NO_ID for rows of developers."""
    id: UUID
    attempt: int
    """How often the row was claimed; see `kernel.due`."""


async def delete_expired_attempts(world: "World", rows: list[ExpiredRow]) -> None:
    """Delete counts of attempts whose retention has ended. All rows must be of one project."""
    now = world.clock()
    await attempt_store.delete_expired(
        world.db, project_id=rows[0].project_id, ids=[row.id for row in rows], now=now, before=now - MIN_COUNT_AGE
    )


async def delete_expired_sessions(world: "World", rows: list[ExpiredRow]) -> None:
    """Delete sessions that have expired. All rows must be of one project."""
    ids = [row.id for row in rows]
    async with world.db.transaction() as tx:
        impersonations = await session_store.delete_expired(
            tx, project_id=rows[0].project_id, ids=ids, now=world.clock()
        )
        if impersonations:
            await world.hooks.on_expired_impersonations(tx, impersonations)


async def delete_expired_challenges(world: "World", rows: list[ExpiredRow]) -> None:
    """Delete challenges that have expired. All rows must be of one project."""
    ids = [row.id for row in rows]
    await challenge_store.delete_expired(world.db, project_id=rows[0].project_id, ids=ids, now=world.clock())


WORK: list[Work[Any]] = [
    Work("security.attempts", "sign_in_attempts", ExpiredRow, DELETE_LEASE, delete_expired_attempts, claim_size=1_000),
    Work("security.sessions", "sessions", ExpiredRow, DELETE_LEASE, delete_expired_sessions, claim_size=1_000),
    Work("security.challenges", "challenges", ExpiredRow, DELETE_LEASE, delete_expired_challenges, claim_size=1_000),
]
