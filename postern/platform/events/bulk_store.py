"""SQL fragment that records events within a statement of another feature, which changes the rows."""

from typing import LiteralString
from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.values import Record


class BulkEvents(Record):
    """What the events of one statement have in common. Their ids follow `event_id`: `id_after(event_id, 1)` and so
    on."""

    event_id: UUID
    actor_type: str
    actor_id: UUID | None
    actor_label: str | None
    now: Moment


# A CTE for statements with the parameters `project_id` and those of BulkEvents. It inserts the rows of a preceding CTE
# `happened (type, subject_id, data)`.
RECORD_HAPPENED: LiteralString = """
    recorded as (
        insert into events (project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at)
        select %(project_id)s::uuid, id_after(%(event_id)s::uuid, row_number() over ()), happened.type,
            happened.subject_id, %(actor_type)s::text, %(actor_id)s::uuid, %(actor_label)s::text, happened.data,
            %(now)s::timestamptz
        from happened
    )
"""
