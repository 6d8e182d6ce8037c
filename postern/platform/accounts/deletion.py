"""Deletion of projects and accounts. They become inaccessible at once; workers delete their rows in chunks.

The tables to delete from are read from the database's catalog, so that no table of any package is forgotten. If a
worker dies, another one continues when the lease expires.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Literal
from uuid import UUID

import structlog

from postern.kernel.database.catalog import MAX_CHUNKS, PROJECT_CONDITION, RowsToDelete, delete_rows, tenant_tables
from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work, for_each_row
from postern.kernel.http.call import Call, PermissionMissing, ProjectMissing
from postern.kernel.http.operation import DEVELOPER_ONLY, delete
from postern.kernel.values import Body, Deleted, Moment, Record
from postern.platform.accounts import store
from postern.platform.accounts.model import SIGN_UP_LIFE, LockedOut, PasswordToCheck, PasswordWrong
from postern.platform.accounts.operations import lock_proven_developer, require_password
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

STALE_LIMIT = 500
"""Maximum number of unverified accounts whose deletion one run starts."""
LATE_ROWS_DELAY = timedelta(hours=1)
"""Delay before the tables are checked again, for rows that a running request inserted after the first deletion."""

NOT_DELETED = frozenset(("content_objects",))
"""Tables whose rows outlive their project. `content_objects` has the objects that still have to be deleted from a
store; its work deletes the rows."""

CloseAccount = Callable[[Transaction, Call], Awaitable[None]]
"""Type of the hook `close_account`, which is called in the transaction that marks an account as deleted."""


class AccountDeletion(Body):
    """The owner's password."""

    password: PasswordToCheck


class DeletionRow(Record):
    """A project or account that is being deleted."""

    target_id: UUID
    """The project or the account, by `kind`."""
    id: UUID
    account_id: UUID
    kind: Literal["PROJECT", "ACCOUNT"]
    swept_at: Moment | None
    """When the rows of a project were deleted for the first time; null before. LATE_ROWS_DELAY later they are deleted
    once more."""
    attempt: int
    """Number of claims by workers; a worker reschedules the row only if nobody has claimed it since."""


@delete("/projects/{project_id}", needs="projects:write", accepts=DEVELOPER_ONLY, problems=[ProjectMissing])
async def delete_project(call: Call) -> Deleted:
    """Delete a project with all its data. This cannot be undone.

    From the next request on it returns 404 and its keys are refused; its rows are deleted in the background. The
    account's audit log keeps its entries.
    """
    async with call.db.transaction() as tx:
        if not await _delete_projects(tx, call.account_id, call.project_id, call.now):
            raise ProjectMissing
        await audit.record(tx, call, "project.deleted", "Project", call.project_id, account_wide=True)
        tx.mark_due("deletions")
    return Deleted()


@delete(
    "/account",
    needs="account:own",
    accepts=DEVELOPER_ONLY,
    problems=[PasswordWrong, LockedOut],
    example={"password": "correct horse battery"},
)
async def delete_account(call: Call, data: AccountDeletion) -> Deleted:
    """Delete the account with its members, projects and all data. Requires the owner's password; cannot be undone.

    All tokens and keys are refused from the next request on, and the members' addresses can sign up again at once. The
    rows are deleted in the background.
    """
    owner = await require_password(call, data.password)
    async with call.db.transaction() as tx:
        await store.lock_account(tx, id=call.account_id)
        if (await lock_proven_developer(tx, owner)).role != "OWNER":  # Ownership was transferred concurrently.
            raise PermissionMissing("Only the owner can delete the account.")
        await begin_account_deletion(tx, call)
        await store.delete_developers(tx, account_id=call.account_id)
    return Deleted()


async def begin_account_deletion(tx: Transaction, call: Call) -> None:
    """Mark the account of `call` and its projects as deleted, revoke its invitations, and call the hook
    `close_account`. Workers delete the rows after the commit.

    Does not delete the developers of the account: delete or move them in the same transaction.
    """
    await _delete_projects(tx, call.account_id, None, call.now)
    await store.schedule_account_deletion(tx, account_id=call.account_id, now=call.now)
    await store.delete_invitations(tx, account_id=call.account_id)
    await call.world.hooks.close_account(tx, call)
    tx.mark_due("deletions")


async def delete_stale_sign_ups(world: "World") -> int:
    """Start to delete up to STALE_LIMIT accounts whose owner's address was not verified within SIGN_UP_LIFE.

    Returns how many such accounts were found.
    """
    before = Moment.of(world.clock() - SIGN_UP_LIFE)
    account_ids = await store.stale_sign_ups(world.db, before=before, limit=STALE_LIMIT)
    for account_id in account_ids:
        async with world.db.transaction() as tx:
            await store.lock_account(tx, id=account_id)
            # Clearing the column `unproven` claims the account, so that only one worker continues.
            if not await store.clear_unproven(tx, id=account_id):
                continue  # The address was verified, or another worker has started the deletion.
            await _delete_projects(tx, account_id, None, world.clock())
            await store.schedule_account_deletion(tx, account_id=account_id, now=world.clock())
            await store.delete_developers(tx, account_id=account_id)
            tx.mark_due("deletions")
    return len(account_ids)


async def _delete_projects(tx: Transaction, account_id: UUID, project_id: UUID | None, now: Moment) -> bool:
    """Mark one project, or all of an account if `project_id` is None, as deleted, and schedule the deletion of their
    rows.

    Returns False if there are none.
    """
    ids = await projects.mark_deleted(tx, account_id, project_id, now)
    await store.schedule_project_deletions(tx, account_id=account_id, ids=ids, now=now)
    return bool(ids)


async def continue_deletion(world: "World", deletion: DeletionRow) -> None:
    """Delete the next chunks of rows, and schedule the next run if rows remain.

    The rows of a project are deleted a second time after LATE_ROWS_DELAY, in case a running request inserted some.
    """
    if deletion.kind == "ACCOUNT":
        await _delete_account_rows(world, deletion)
        return
    if not await _delete_project_rows(world, deletion.target_id):
        await _reschedule(world, deletion, world.clock())
        return
    async with world.db.transaction() as tx:
        await projects.delete_marked_project(tx, deletion.target_id)
        await store.make_account_deletion_due(tx, account_id=deletion.account_id, now=world.clock())
        if deletion.swept_at is not None:
            await store.finish_deletion(tx, target_id=deletion.target_id, id=deletion.id)
            log.info("project_deleted", project=str(deletion.target_id))
        tx.mark_due("deletions")
    if deletion.swept_at is None:
        await _reschedule(world, deletion, world.clock() + LATE_ROWS_DELAY, swept_at=world.clock())


async def _delete_project_rows(world: "World", project_id: UUID) -> bool:
    """Delete some rows of a project; returns whether all are deleted."""
    tables = [table.name for table in await tenant_tables(world.db) if table.name not in NOT_DELETED]
    return await delete_rows(
        world.db, [RowsToDelete(name, PROJECT_CONDITION) for name in tables], project_id=project_id
    )


async def _delete_account_rows(world: "World", deletion: DeletionRow) -> None:
    """Delete the rows of an account once its projects are deleted: the audit log in chunks, then the account itself."""
    if await store.find_project(world.db, account_id=deletion.account_id) is not None:
        # Projects are marked again, in case one was created while the account was being marked.
        async with world.db.transaction() as tx:
            await _delete_projects(tx, deletion.account_id, None, world.clock())
            tx.mark_due("deletions")
        # The deletion of the last project makes this deletion due earlier; see `make_account_deletion_due`.
        await _reschedule(world, deletion, world.clock() + LATE_ROWS_DELAY)
        return
    for _ in range(MAX_CHUNKS):
        if not await audit.delete_entries(world.db, deletion.account_id):
            async with world.db.transaction() as tx:
                await store.delete_mails(tx, account_id=deletion.account_id)
                await store.delete_account_row(tx, account_id=deletion.account_id)
                await store.finish_deletion(tx, target_id=deletion.target_id, id=deletion.id)
            log.info("account_deleted", account=str(deletion.account_id))
            return
    await _reschedule(world, deletion, world.clock())


async def _reschedule(world: "World", deletion: DeletionRow, due_at: Moment, swept_at: Moment | None = None) -> None:
    await store.reschedule_deletion(
        world.db,
        target_id=deletion.target_id,
        id=deletion.id,
        attempt=deletion.attempt,
        swept_at=swept_at,
        due_at=due_at,
    )


DELETIONS: Work[DeletionRow] = Work(
    name="deletions",
    table="deletions",
    partition_column="target_id",
    row_type=DeletionRow,
    lease=timedelta(minutes=5),
    do=for_each_row(continue_deletion),
    claim_size=1,
    max_claims=2,
)
