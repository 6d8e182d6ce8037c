"""SQL of the events of one record: reading, moving and erasing them."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.platform.events.model import EventContent


class PastEvent(EventContent):
    """A stored event of a record."""

    erased_at: Moment | None
    """When its data was erased; None if it was not."""


# Up to `limit` events of a record, newest first, before the position (`before`, `before_id`) unless `before` is None.
# Events of the types `audited_types` that developers or API keys caused are omitted, because the audit log has them.
@statement("""
    select id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at, erased_at from events
    where project_id = %(project_id)s and subject_id = %(subject_id)s
      and (actor_type not in ('DEVELOPER', 'API_KEY', 'TEST_KEY') or type <> all (%(audited_types)s::text[]))
      and (%(before)s::timestamptz is null or (occurred_at, id) < (%(before)s, %(before_id)s::uuid))
    order by occurred_at desc, id desc limit %(limit)s
""")
async def of_subject(
    db: Queries,
    *,
    project_id: UUID,
    subject_id: UUID,
    before: Moment | None,
    before_id: UUID | None,
    limit: int,
    audited_types: list[str],
) -> list[PastEvent]: ...


@statement("""
    update events set subject_id = %(to)s
    where project_id = %(project_id)s and subject_id = %(subject_id)s
""")
async def move_subject(tx: Transaction, *, project_id: UUID, subject_id: UUID, to: UUID) -> None:
    """Move the events of a record to the record `to`, into which it was merged."""


@statement("""
    update events set data = '{}', actor_label = null, erased_at = %(now)s
    where project_id = %(project_id)s and subject_id = any (%(subject_ids)s)
""")
async def erase_subjects(tx: Transaction, *, project_id: UUID, subject_ids: list[UUID], now: Moment) -> None:
    """Erase data and actor label of the events of records. Call `webhooks.operations.erase_events` instead, which also
    erases stored webhook responses."""
