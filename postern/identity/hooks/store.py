"""SQL of sign-in hooks."""

from uuid import UUID

from postern.identity.hooks.model import HookRow, NewHookRow
from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment, Record
from postern.platform.projects.model import SignInHookKind


class FailureCount(Record):
    """The number of successive failures of a hook."""

    failures: int


# None if the project has a hook of this kind.
@statement("insert into sign_in_hooks {row} on conflict do nothing returning *")
async def insert_hook(tx: Transaction, row: NewHookRow) -> HookRow | None: ...


@statement("select * from sign_in_hooks where project_id = %(project_id)s order by kind")
async def hooks(db: Queries, *, project_id: UUID) -> list[HookRow]: ...


@statement("select * from sign_in_hooks where project_id = %(project_id)s and kind = %(kind)s")
async def hook(db: Queries, *, project_id: UUID, kind: SignInHookKind) -> HookRow | None: ...


@statement("select * from sign_in_hooks where project_id = %(project_id)s and kind = %(kind)s for update")
async def lock_hook(tx: Transaction, *, project_id: UUID, kind: SignInHookKind) -> HookRow | None: ...


# Store `url`, `active`, `on_failure` and `timeout_ms` of the hook. It is called again at once.
@statement("""
    update sign_in_hooks set url = %(url)s, active = %(active)s, on_failure = %(on_failure)s,
        timeout_ms = %(timeout_ms)s, failures = 0, failing_since = null, retry_at = null, updated_at = %(now)s
    where project_id = %(project_id)s and kind = %(kind)s
    returning *
""")
async def change_hook(tx: Transaction, hook: HookRow, *, now: Moment) -> HookRow: ...


@statement("""
    update sign_in_hooks set previous_sealed_secret = sealed_secret, previous_secret_expires_at = %(expires_at)s,
        sealed_secret = %(sealed_secret)s, updated_at = %(now)s
    where project_id = %(project_id)s and kind = %(kind)s
    returning *
""")
async def rotate_secret(
    tx: Transaction, *, project_id: UUID, kind: SignInHookKind, sealed_secret: bytes, expires_at: Moment, now: Moment
) -> HookRow: ...


@statement("delete from sign_in_hooks where project_id = %(project_id)s and kind = %(kind)s")
async def delete_hook(tx: Transaction, *, project_id: UUID, kind: SignInHookKind) -> None:
    """Delete a hook."""


# Claim the one call that tries a hook again after a pause. False if the pause lasts, or another call has claimed it.
@statement("""
    update sign_in_hooks set retry_at = %(next_at)s
    where project_id = %(project_id)s and kind = %(kind)s and retry_at <= %(now)s
""")
async def claim_retry(db: Queries, *, project_id: UUID, kind: SignInHookKind, now: Moment, next_at: Moment) -> bool: ...


# Returns the number of successive failures; None if the hook was deleted.
@statement("""
    update sign_in_hooks set failures = failures + 1, failing_since = coalesce(failing_since, %(now)s),
        retry_at = case when failures + 1 >= %(failures_before_pause)s::int then %(retry_at)s::timestamptz end,
        recent_failures = (
            select jsonb_agg(entry order by position) from (
                select entry, position
                from jsonb_array_elements(jsonb_build_array(%(failure)s::jsonb) || recent_failures)
                    with ordinality as list (entry, position)
                order by position limit %(limit)s
            ) as newest)
    where project_id = %(project_id)s and kind = %(kind)s
    returning failures
""")
async def record_failure(
    tx: Transaction,
    *,
    project_id: UUID,
    kind: SignInHookKind,
    failure: Jsonb,
    failures_before_pause: int,
    retry_at: Moment,
    limit: int,
    now: Moment,
) -> FailureCount | None: ...


# False if the last call succeeded, too.
@statement("""
    update sign_in_hooks set failures = 0, failing_since = null, retry_at = null
    where project_id = %(project_id)s and kind = %(kind)s and failures > 0
""")
async def record_recovery(tx: Transaction, *, project_id: UUID, kind: SignInHookKind) -> bool: ...
