"""SQL of what proves who somebody is: failures, second factors, passkeys, letters."""

from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Record


class QueuedMail(Record):
    """A letter to be written."""

    project_id: UUID
    id: UUID
    customer_id: UUID | None
    sealed: bytes
    attempt: int
    created_at: Moment


# Letters.


@statement("""
    insert into customer_mails (project_id, id, customer_id, sealed, created_at, due_at)
    values (%(project_id)s, %(id)s, %(customer_id)s, %(sealed)s, %(now)s, %(now)s)
""")
async def insert_mail(
    tx: Transaction, *, project_id: UUID, id: UUID, customer_id: UUID | None, sealed: bytes, now: Moment
) -> None: ...


@statement("""
    delete from customer_mails where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def delete_mail(db: Queries, *, project_id: UUID, id: UUID, attempt: int) -> bool: ...
