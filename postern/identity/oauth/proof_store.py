"""SQL of the JWTs of clients that were accepted, each of which works once."""

from uuid import UUID

from postern.kernel.database.statements import Queries, statement
from postern.kernel.values import Moment


# Returns False if the JWT was used before.
@statement("""
    insert into oauth_used_jwts (project_id, id, expires_at, due_at)
    values (%(project_id)s, %(id)s, %(expires_at)s, %(expires_at)s)
    on conflict (project_id, id) do nothing
""")
async def use_jwt(db: Queries, *, project_id: UUID, id: UUID, expires_at: Moment) -> bool: ...


@statement("""
    delete from oauth_used_jwts where project_id = %(project_id)s and id = any (%(ids)s) and expires_at <= %(now)s
""")
async def delete_expired_jwts(db: Queries, *, project_id: UUID, ids: list[UUID], now: Moment) -> None: ...
