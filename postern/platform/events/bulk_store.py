"""SQL with which other packages record an event for each of many rows: a fragment for the statement that changes the
rows, and a COPY."""

from collections.abc import Sequence
from typing import LiteralString
from uuid import UUID

from postern.kernel.database.statements import Transaction, copied_statement, copied_value
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


# Insert events that have all but their id, subject and data in common.
@copied_statement("""
    copy events (project_id, type, actor_type, actor_id, actor_label, occurred_at, test, id, subject_id, data)
    from stdin (format binary)
""")
async def copy_rows(
    tx: Transaction, *, project_id: UUID, constants: Sequence[bytes], rows: Sequence[bytes]
) -> None: ...


async def copy_events(tx: Transaction, project_id: UUID, bulk: BulkEvents, type: str, rows: Sequence[bytes]) -> None:
    """Insert an event of `type` for each of `rows`: the id of its subject and its data (`jsonb`), in the binary format
    of COPY. Their ids are `id_after(bulk.event_id, 1)` and following."""
    fields = (type, bulk.actor_type, bulk.actor_id, bulk.actor_label, bulk.now, bulk.test)
    start_of_id = copied_value(bulk.event_id)[:-4]
    await copy_rows(
        tx,
        project_id=project_id,
        constants=list(map(copied_value, fields)),
        rows=[start_of_id + number.to_bytes(4, "big") + row for number, row in enumerate(rows, start=1)],
    )
