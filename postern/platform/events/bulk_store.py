"""SQL that records events within the statement of another package that changes the rows."""

from typing import LiteralString
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.values import Record


class BulkEvents(Record):
    """What events of one statement have in common; their ids are `id_after(event_id, 1)` and following."""

    event_id: UUID
    actor_type: str
    actor_id: UUID | None
    actor_label: str | None
    now: Moment


# For statements with the parameter `project_id` and a `BulkEvents`, after a CTE `happened (type, subject_id, data)`.
RECORD_HAPPENED: LiteralString = """
    recorded as (
        insert into events (project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at)
        select %(project_id)s::uuid, id_after(%(event_id)s::uuid, row_number() over ()), happened.type,
            happened.subject_id, %(actor_type)s::text, %(actor_id)s::uuid, %(actor_label)s::text, happened.data,
            %(now)s::timestamptz
        from happened
    )
"""
