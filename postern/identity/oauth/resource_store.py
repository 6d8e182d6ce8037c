"""SQL of the APIs for which clients can ask for access tokens (RFC 8707)."""

from uuid import UUID

from postern.identity.oauth.model import ResourceRow
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment


# Newest first, without those whose environment is not in `environments`.
@statement("""
    select * from oauth_resources
    where project_id = %(project_id)s and environment = any (%(environments)s)
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def resources(
    db: Queries, *, project_id: UUID, environments: list[str], before: UUID | None, limit: int
) -> list[ResourceRow]: ...


@statement("select * from oauth_resources where project_id = %(project_id)s and id = %(id)s")
async def resource(db: Queries, *, project_id: UUID, id: UUID) -> ResourceRow | None: ...


@statement("select * from oauth_resources where project_id = %(project_id)s and identifier = %(identifier)s")
async def resource_of_identifier(db: Queries, *, project_id: UUID, identifier: str) -> ResourceRow | None: ...


@statement("select * from oauth_resources where project_id = %(project_id)s and id = %(id)s for update")
async def lock_resource(tx: Transaction, *, project_id: UUID, id: UUID) -> ResourceRow | None: ...


# The scopes of the LIVE resources, at most as many as a client can have.
@statement("""
    select distinct scope from oauth_resources resource, unnest(resource.scopes) as scope
    where resource.project_id = %(project_id)s and resource.environment = 'LIVE' order by scope limit 90
""")
async def all_scopes(db: Queries, *, project_id: UUID) -> list[str]: ...


@statement("select count(*)::int from oauth_resources where project_id = %(project_id)s")
async def count_resources(db: Queries, *, project_id: UUID) -> int: ...


# Returns False if the project has a resource with this identifier.
@statement("insert into oauth_resources {row} on conflict (project_id, identifier) do nothing")
async def insert_resource(tx: Transaction, resource: ResourceRow) -> bool: ...


@statement("""
    update oauth_resources set name = %(name)s, scopes = %(scopes)s,
        introspection_client_id = %(introspection_client_id)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def change_resource(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    name: str,
    scopes: list[str],
    introspection_client_id: UUID | None,
    now: Moment,
) -> ResourceRow: ...


@statement("delete from oauth_resources where project_id = %(project_id)s and id = %(id)s")
async def delete_resource(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...
