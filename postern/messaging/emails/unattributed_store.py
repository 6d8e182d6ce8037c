"""SQL statements on reports that could not be processed and belong to no project, and the counters of all reports that
could not be processed."""

from typing import Literal
from uuid import UUID

import msgspec

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment

UnattributedKind = Literal["complaint", "delivery", "ses"]
"""A complaint or a delivery report that names no e-mail of this server, or an unreadable notification of SES."""
UnprocessedKind = UnattributedKind | Literal["unrecognized", "dmarc"]
"""Also the kinds that are kept with a project: a message that came to a return path but is no report (`unrecognized`;
counted like a report all the same), and a DMARC report that could not be added."""


class UnattributedReport(msgspec.Struct, frozen=True, kw_only=True):
    """A row of `unattributed_reports`."""

    id: UUID
    kind: UnattributedKind
    reason: str
    """Why it could not be processed."""
    sender: str
    subject: str
    size: int
    message: bytes
    received_at: Moment
    due_at: Moment
    """When a worker deletes the row. Reports are not processed again."""
    attempt: int = 0
    """How often workers have claimed the row; see `kernel.due`."""


@statement("insert into unattributed_reports {row}")
async def insert_report(tx: Transaction, row: UnattributedReport) -> None: ...


# Delete all but the newest `kept` reports. `instance_id` is 0 in all rows: they belong to the whole instance.
@statement("""
    delete from unattributed_reports
    where instance_id = '00000000-0000-0000-0000-000000000000' and id in (
        select id from unattributed_reports where instance_id = '00000000-0000-0000-0000-000000000000'
        order by id desc offset %(kept)s)
""")
async def delete_older(tx: Transaction, *, kept: int) -> None: ...


@statement("""
    delete from unattributed_reports
    where instance_id = '00000000-0000-0000-0000-000000000000' and id = any (%(ids)s)
""")
async def delete_reports(db: Queries, *, ids: list[UUID]) -> None: ...


# Count a report that could not be processed.
@statement("""
    insert into report_counts as counted (kind, reports) values (%(kind)s, 1)
    on conflict (kind) do update set reports = counted.reports + 1
""")
async def count_report(tx: Transaction, *, kind: UnprocessedKind) -> None: ...
