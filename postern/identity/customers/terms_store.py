"""SQL of the acceptances of terms."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class TermsAcceptanceRow(Record):
    """A row of `terms_acceptances`: a version of the project's terms that a customer has accepted."""

    project_id: UUID
    customer_id: UUID
    version: str
    accepted_at: Moment
    ip_address: str
    user_agent: str


# False if the customer has accepted this version before; the first acceptance stays.
@statement("insert into terms_acceptances {row} on conflict do nothing")
async def insert(tx: Transaction, row: TermsAcceptanceRow) -> bool: ...


@statement("""
    select from terms_acceptances
    where project_id = %(project_id)s and customer_id = %(customer_id)s and version = %(version)s
""")
async def has_accepted(db: Queries, *, project_id: UUID, customer_id: UUID, version: str) -> bool: ...


@statement("""
    select * from terms_acceptances where project_id = %(project_id)s and customer_id = %(customer_id)s
    order by accepted_at desc, version limit %(limit)s
""")
async def acceptances(db: Queries, *, project_id: UUID, customer_id: UUID, limit: int) -> list[TermsAcceptanceRow]: ...


@statement("""
    delete from terms_acceptances
    where project_id = %(project_id)s and customer_id = %(customer_id)s
      and accepted_at >= to_timestamp(%(since)s::float8)
""")
async def delete_since(tx: Transaction, *, project_id: UUID, customer_id: UUID, since: float) -> None:
    """Delete what a customer has accepted since a Unix time in seconds; 0 for everything."""


@statement("""
    insert into terms_acceptances (project_id, customer_id, version, accepted_at, ip_address, user_agent)
    select project_id, %(survivor)s::uuid, version, accepted_at, ip_address, user_agent from terms_acceptances
    where project_id = %(project_id)s and customer_id = %(loser)s
    on conflict do nothing
""")
async def move_acceptances(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID) -> None:
    """Give the survivor of a merge the acceptances of the merged customer. For a version that both have accepted, that
    of the survivor stays."""
