"""SQL of notices to clients that a session has ended."""

from typing import LiteralString
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record

HAS_LOGOUT_URIS: LiteralString = """exists (
    select from oauth_clients where project_id = any (%(project_id)s) and backchannel_logout_uri is not null)"""
"""Whether a client of one of the projects wants to know about ended sessions; only then their events concern this
feature."""


class DueLogout(Record):
    """A row of `oauth_logouts` that is due, as it was claimed."""

    project_id: UUID
    id: UUID
    client_id: UUID
    customer_id: UUID
    session_id: UUID
    tried: int
    """The number of attempts before this one."""
    attempt: int
    """How often the row was claimed; see `kernel.due`."""


# Add a notice for each client that has a backchannel logout URI and got a code in this session, or, if `session_id` is
# None, in any session of the customer. Returns whether there were any.
@statement("""
    insert into oauth_logouts (project_id, id, client_id, customer_id, session_id, created_at, due_at)
    select used.project_id, gen_random_uuid(), used.client_id, used.customer_id, used.session_id, %(now)s, %(now)s
    from (select distinct project_id, client_id, customer_id, session_id from oauth_grants
          where project_id = %(project_id)s and customer_id = %(customer_id)s and code_used_at is not null
            and (%(session_id)s::uuid is null or session_id = %(session_id)s)) as used
    join oauth_clients client on client.project_id = used.project_id and client.id = used.client_id
     and client.backchannel_logout_uri is not null
     /*distributed and client.project_id = %(project_id)s */
""")
async def insert_logouts(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, session_id: UUID | None, now: Moment
) -> bool: ...


@statement("""
    update oauth_logouts set tried = tried + 1, due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def retry_logout(db: Queries, *, project_id: UUID, id: UUID, attempt: int, due_at: Moment) -> None: ...


@statement("delete from oauth_logouts where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s")
async def delete_logout(db: Queries, *, project_id: UUID, id: UUID, attempt: int) -> None: ...
