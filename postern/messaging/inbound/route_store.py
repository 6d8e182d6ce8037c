"""SQL statements of routes."""

from typing import Final, LiteralString
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.messaging.inbound.model import MxCheck, RouteCandidate, StoredRoute


# Insert a route; returns None if the project has one for the address already.
@statement("insert into inbound_routes {row} on conflict do nothing returning *")
async def insert_route(tx: Transaction, row: StoredRoute) -> StoredRoute | None: ...


@statement("select count(*)::int as count from inbound_routes where project_id = %(project_id)s")
async def count_routes(tx: Transaction, *, project_id: UUID) -> int: ...


@statement("""
    select * from inbound_routes where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def routes(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[StoredRoute]: ...


@statement("select * from inbound_routes where project_id = %(project_id)s and id = %(id)s")
async def route(db: Queries, *, project_id: UUID, id: UUID) -> StoredRoute | None: ...


# The route, locked for update.
@statement("select * from inbound_routes where project_id = %(project_id)s and id = %(id)s for update")
async def lock_route(tx: Transaction, *, project_id: UUID, id: UUID) -> StoredRoute | None: ...


@statement("""
    update inbound_routes set name = %(name)s, active = %(active)s, updated_at = %(updated_at)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def change_route(tx: Transaction, route: StoredRoute) -> StoredRoute: ...


# Store the result of a lookup of MX records. The route itself is unchanged.
@statement("""
    update inbound_routes set mx_status = %(mx_status)s, mx_found = %(mx_found)s, mx_reason = %(mx_reason)s,
        mx_checked_at = %(mx_checked_at)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def store_check(db: Queries, check: MxCheck, *, project_id: UUID, id: UUID) -> StoredRoute | None: ...


@statement("delete from inbound_routes where project_id = %(project_id)s and id = %(id)s returning *")
async def delete_route(tx: Transaction, *, project_id: UUID, id: UUID) -> StoredRoute | None: ...


# Whether the project of a route may receive the mail: it has verified the domain and, if its DKIM key is no longer
# published, no other project has published a key for the domain or one above it (`names`). So a former owner of a
# domain receives nothing once the present owner uses it here, and a key that is missing by mistake loses no mail. Reads
# tables of the `domains` package.
_OWNED: Final[LiteralString] = """
    domains.status in ('VERIFIED', 'DEGRADED') and projects.deleted_at is null
    and (domains.failing_since is null or not exists (
        select from proof
        where (proof.domain = route.domain or right(route.domain, length(proof.domain) + 1) = '.' || proof.domain)
          and proof.project_id <> route.project_id))
"""
_PUBLISHED_KEYS: Final[LiteralString] = """
    with proof as materialized (
        select proof.project_id, proof.domain
        from domains proof join projects owner on owner.id = proof.project_id and owner.deleted_at is null
        where proof.domain = any (%(names)s) and proof.status = 'VERIFIED' and proof.failing_since is null
    )
"""
"""The published keys. Only read for a route whose key is not published any more."""


# The routes of domains, of all projects that may receive their mail, for one of these local parts (lower case) or for
# every address. `names` has the domains and those above them.
@statement(
    _PUBLISHED_KEYS
    + """
    select route.project_id, route.id, route.domain, route.local_part, route.active,
           coalesce(usage.octets, 0) >= %(stored_limit)s as is_full
    from inbound_routes route
    join domains on (domains.project_id, domains.id) = (route.project_id, route.domain_id)
    join projects on projects.id = route.project_id
    left join inbound_usage usage on usage.project_id = route.project_id
    where route.domain = any (%(domains)s) and (route.local_part is null or route.local_part = any (%(local_parts)s))
      and"""
    + _OWNED
    + "order by route.project_id, route.id"
)
async def candidates(
    db: Queries, *, domains: list[str], names: list[str], local_parts: list[str], stored_limit: int
) -> list[RouteCandidate]: ...


# Whether a domain has an active route of any project. Returns a row if it does. `names` has the domain and those above
# it.
@statement(
    _PUBLISHED_KEYS
    + """
    select from inbound_routes route
    join domains on (domains.project_id, domains.id) = (route.project_id, route.domain_id)
    join projects on projects.id = route.project_id
    where route.domain = %(domain)s and route.active and"""
    + _OWNED
    + "limit 1"
)
async def has_route(db: Queries, *, domain: str, names: list[str]) -> bool: ...
