"""SQL statements of messages that were not understood."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.messaging.inbound.model import UnrecognizedMessage, UnrecognizedReportRow


@statement("insert into unrecognized_reports {row}")
async def insert_message(tx: Transaction, row: UnrecognizedReportRow) -> None: ...


# Delete all but the newest `kept` messages of a project.
@statement("""
    delete from unrecognized_reports where project_id = %(project_id)s and id in (
        select id from unrecognized_reports where project_id = %(project_id)s order by id desc offset %(kept)s)
""")
async def delete_older(tx: Transaction, *, project_id: UUID, kept: int) -> None: ...


@statement("""
    select id, send_id, source, reason, sender, subject, size, received_at from unrecognized_reports
    where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def messages(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[UnrecognizedMessage]: ...


@statement("select message from unrecognized_reports where project_id = %(project_id)s and id = %(id)s")
async def message(db: Queries, *, project_id: UUID, id: UUID) -> bytes | None: ...


@statement("delete from unrecognized_reports where project_id = %(project_id)s and id = any (%(ids)s)")
async def delete_messages(db: Queries, *, project_id: UUID, ids: list[UUID]) -> None: ...


# Delete the messages about these sends.
@statement("delete from unrecognized_reports where project_id = %(project_id)s and send_id = any (%(send_ids)s)")
async def erase_messages(tx: Transaction, *, project_id: UUID, send_ids: list[UUID]) -> None: ...
