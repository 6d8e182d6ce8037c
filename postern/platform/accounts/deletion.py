"""Deleting a project or an account: gone for callers at once, gone from the disk in bounded chunks.

What to delete is asked of the database's own catalog, so that every feature's rows are included. A worker that dies
half-way gives the record back with its lease, and the next one goes on with what is left.
"""

from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TYPE_CHECKING, Literal
from uuid import UUID

import structlog

from postern.kernel.clock import Moment
from postern.kernel.database.catalog import CHUNKS_AT_ONCE, OF_PROJECT, RowsToDelete, delete_rows, tenant_tables
from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work, one_by_one
from postern.kernel.http.call import Call, PermissionMissing, ProjectMissing
from postern.kernel.http.operation import DEVELOPER_ONLY, delete
from postern.kernel.values import Body, Deleted, Record
from postern.platform.accounts import store
from postern.platform.accounts.model import SIGN_UP_LIFE, GivenPassword, LockedOut, PasswordWrong
from postern.platform.accounts.operations import locked_developer, require_password
from postern.platform.audit import operations as audit
from postern.platform.projects import operations as projects

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

STALE_AT_ONCE = 500
"""Accounts that nobody proved which one tidying begins to delete."""
LATE_ROWS = timedelta(hours=1)
"""When we look again for rows that a request in flight wrote after the sweep."""

CloseAccount = Callable[[Transaction, Call], Awaitable[None]]
"""What else happens, in the same transaction, when an account is deleted."""


class AccountDeletion(Body):
    """The owner's password, asked again."""

    password: GivenPassword


class DeletionRow(Record):
    """Something that is being deleted."""

    target_id: UUID
    """The project or the account, by `kind`."""
    id: UUID
    account_id: UUID
    kind: Literal["PROJECT", "ACCOUNT"]
    swept_at: Moment | None
    attempt: int


@delete("/projects/{project_id}", needs="projects:write", accepts=DEVELOPER_ONLY, problems=[ProjectMissing])
async def delete_project(call: Call) -> Deleted:
    """Delete a project and everything in it, for good.

    From the next request on it answers 404 and its keys are refused; its rows are removed in the background. The
    account's audit log keeps what was done in it.
    """
    async with call.db.transaction() as tx:
        if not await _delete_projects(tx, call.account_id, call.project_id, call.now):
            raise ProjectMissing
        await audit.record(tx, call, "project.deleted", "Project", call.project_id, account_wide=True)
        tx.makes_due("deletions")
    return Deleted()


@delete(
    "/account",
    needs="account:own",
    accepts=DEVELOPER_ONLY,
    problems=[PasswordWrong, LockedOut],
    example={"password": "correct horse battery"},
)
async def delete_account(call: Call, data: AccountDeletion) -> Deleted:
    """Delete the account, its members, its projects and everything in them, for good. Needs the owner's password.

    All tokens and keys are refused from the next request on, and the addresses can sign up anew at once; the rows
    are removed in the background.
    """
    owner = await require_password(call, data.password)
    async with call.db.transaction() as tx:
        await store.lock_account(tx, id=call.account_id)
        if (await locked_developer(tx, owner)).role != "OWNER":  # The account was handed over meanwhile.
            raise PermissionMissing("Only the owner can delete the account.")
        await begin_account_deletion(tx, call)
        await store.delete_developers(tx, account_id=call.account_id)
    return Deleted()


async def begin_account_deletion(tx: Transaction, call: Call) -> None:
    """Take an account's projects away from callers, and let workers remove the rest."""
    await _delete_projects(tx, call.account_id, None, call.now)
    await store.delete_account(tx, account_id=call.account_id, now=call.now)
    await store.drop_invitations(tx, account_id=call.account_id)
    await call.world.hooks.close_account(tx, call)
    tx.makes_due("deletions")


async def delete_stale_sign_ups(world: "World") -> int:
    """Begin to delete accounts whose address nobody proved in time; returns how many."""
    before = Moment.of(world.clock() - SIGN_UP_LIFE)
    stale = await store.stale_sign_ups(world.db, before=before, limit=STALE_AT_ONCE)
    for account_id in stale:
        async with world.db.transaction() as tx:
            await store.lock_account(tx, id=account_id)
            if not await store.mark_proven(tx, id=account_id):
                continue  # It was proven in the meantime, or another worker was quicker.
            await _delete_projects(tx, account_id, None, world.clock())
            await store.delete_account(tx, account_id=account_id, now=world.clock())
            await store.delete_developers(tx, account_id=account_id)
            tx.makes_due("deletions")
    return len(stale)


async def _delete_projects(tx: Transaction, account_id: UUID, only: UUID | None, now: Moment) -> bool:
    """Take projects away from callers and let workers remove their rows. False if there are none."""
    ids = await projects.mark_deleted(tx, account_id, only, now)
    await store.delete_projects(tx, account_id=account_id, ids=ids, now=now)
    return bool(ids)


async def continue_deletion(world: "World", deletion: DeletionRow) -> None:
    """Remove some more, and say when to come back."""
    if deletion.kind == "ACCOUNT":
        await _delete_account_rows(world, deletion)
        return
    if not await _delete_project_rows(world, deletion.target_id):
        await _reschedule(world, deletion, world.clock())
        return
    async with world.db.transaction() as tx:
        await projects.delete_marked(tx, deletion.target_id)
        await store.wake_account_deletion(tx, account_id=deletion.account_id, now=world.clock())
        if deletion.swept_at is not None:
            await store.finish_deletion(tx, target_id=deletion.target_id, id=deletion.id)
            log.info("project_deleted", project=str(deletion.target_id))
        tx.makes_due("deletions")
    if deletion.swept_at is None:
        await _reschedule(world, deletion, world.clock() + LATE_ROWS, swept_at=world.clock())


async def _delete_project_rows(world: "World", project_id: UUID) -> bool:
    """Delete some of a project's rows; true if nothing is left."""
    tables = [each.name for each in await tenant_tables(world.db)]
    return await delete_rows(world.db, [RowsToDelete(name, OF_PROJECT) for name in tables], project_id=project_id)


async def _delete_account_rows(world: "World", deletion: DeletionRow) -> None:
    """What is left once the projects are gone: the audit log, in chunks, and then the account itself."""
    if await store.any_project(world.db, account_id=deletion.account_id) is not None:
        async with world.db.transaction() as tx:  # One that was created at the same moment goes too.
            await _delete_projects(tx, deletion.account_id, None, world.clock())
            tx.makes_due("deletions")
        await _reschedule(world, deletion, world.clock() + LATE_ROWS)  # The last project wakes us.
        return
    for _ in range(CHUNKS_AT_ONCE):
        if not await audit.delete_expired(world.db, deletion.account_id):
            async with world.db.transaction() as tx:
                await store.drop_mails(tx, account_id=deletion.account_id)
                await store.drop_account(tx, account_id=deletion.account_id)
                await store.finish_deletion(tx, target_id=deletion.target_id, id=deletion.id)
            log.info("account_deleted", account=str(deletion.account_id))
            return
    await _reschedule(world, deletion, world.clock())


async def _reschedule(world: "World", deletion: DeletionRow, due_at: Moment, swept_at: Moment | None = None) -> None:
    await store.continue_deletion(
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
    kind=DeletionRow,
    lease=timedelta(minutes=5),
    do=one_by_one(continue_deletion),
    share=1,
    at_once=2,
)
