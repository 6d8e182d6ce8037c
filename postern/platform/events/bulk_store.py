"""A fragment of SQL with which a statement of another package records an event for each row that it changes."""

from typing import LiteralString
from uuid import UUID

from postern.kernel.values import Moment, Record


class BulkEvents(Record):
    """The fields that all events of one statement have in common. The ids of the events are `id_after(event_id, 1)`,
    `id_after(event_id, 2)` and so on."""

    event_id: UUID
    actor_type: str
    actor_id: UUID | None
    actor_label: str | None
    test: bool
    now: Moment


# A common table expression `recorded`, which inserts an event for each row of the expression `happened (type,
# subject_id, data)`. The statement must define `happened` before it, and have the parameter `project_id` and the fields
# of BulkEvents as parameters.
INSERT_HAPPENED_EVENTS: LiteralString = """
    recorded as (
        insert into events (project_id, id, type, subject_id, actor_type, actor_id, actor_label, data, occurred_at,
                            test)
        select %(project_id)s::uuid, id_after(%(event_id)s::uuid, row_number() over ()), happened.type,
            happened.subject_id, %(actor_type)s::text, %(actor_id)s::uuid, %(actor_label)s::text, happened.data,
            %(now)s::timestamptz, %(test)s::boolean
        from happened
    )
"""
