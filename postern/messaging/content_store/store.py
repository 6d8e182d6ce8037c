"""SQL of the objects in the store of contents. A row of `content_objects` is there before its object and until the
object is deleted."""

from datetime import timedelta
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.messaging.content_store.model import ContentsState


@statement("select scanned_until, marked_at from content_state where id = %(row)s")
async def get_state(db: Queries, *, row: int) -> ContentsState | None: ...


@statement("""
    insert into content_state as s (id, scanned_until) values (%(row)s, %(until)s)
    on conflict (id) do update set scanned_until = greatest(s.scanned_until, excluded.scanned_until)
""")
async def set_scanned_until(tx: Transaction, *, row: int, until: Moment) -> None: ...


@statement("update content_state set scanned_until = %(until)s where id = %(row)s")
async def reset_scanned_until(db: Queries, *, row: int, until: Moment) -> None: ...


@statement("""
    insert into content_state as s (id, marked_at) values (%(row)s, %(now)s)
    on conflict (id) do update set marked_at = coalesce(s.marked_at, excluded.marked_at)
""")
async def set_marked(db: Queries, *, row: int, now: Moment) -> None: ...


@statement("""
    update content_objects set state = 'STORED', due_at = null
    where project_id = %(project_id)s and id = any (%(ids)s)
""")
async def mark_stored(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None: ...


@statement("""
    update content_objects set state = 'WAITING', attempt = attempt + 1, due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and state = 'STORED'
""")
async def move_again(tx: Transaction, *, project_id: UUID, id: UUID, due_at: Moment) -> None: ...


# In the attempt of this worker. Waits for no lock: what is locked becomes due again when the lease ends.
@statement("""
    with locked as materialized (
        select o.project_id, o.id, v.due_at from content_objects o
        join unnest(%(ids)s::uuid[], %(attempts)s::int[], %(due_at)s::timestamptz[]) as v (id, attempt, due_at)
          on (o.id, o.attempt) = (v.id, v.attempt)
        where o.project_id = %(project_id)s order by o.id for update of o skip locked
    )
    update content_objects as o set due_at = locked.due_at from locked
    where o.project_id = %(project_id)s and (o.project_id, o.id) = (locked.project_id, locked.id)
""")
async def postpone_objects(
    db: Queries, *, project_id: UUID, ids: list[UUID], attempts: list[int], due_at: list[Moment]
) -> None: ...


@statement("""
    update content_objects set state = 'DELETED', due_at = now() + %(delay)s::interval
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s and state = 'WAITING'
""")
async def mark_deleted(db: Queries, *, project_id: UUID, id: UUID, attempt: int, delay: timedelta) -> None: ...


@statement("""
    delete from content_objects where project_id = %(project_id)s and id = any (%(ids)s) and state = 'DELETED'
""")
async def forget_objects(db: Queries, *, project_id: UUID, ids: list[UUID]) -> None:
    """Delete the rows of objects that are deleted."""


@statement("select id from content_objects where project_id = %(project_id)s and id = any (%(ids)s)")
async def known_objects(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[UUID]: ...
