"""SQL of projects and API keys."""

from uuid import UUID

from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.platform.projects.model import (
    ApiKey,
    ApiKeyWithProject,
    Project,
    ProjectId,
    ProjectRetention,
    StoredApiKey,
)


@statement("insert into projects {row} returning *")
async def insert_project(
    tx: Transaction,
    *,
    id: UUID,
    account_id: UUID,
    name: str,
    settings: Jsonb,
    created_at: Moment,
    updated_at: Moment,
) -> Project: ...


# Projects of an account that are not deleted, newest first.
@statement("""
    select * from projects
    where account_id = %(account_id)s and deleted_at is null and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def projects_of(db: Queries, *, account_id: UUID, before: UUID | None, limit: int) -> list[Project]: ...


# A project that is not deleted, or None.
@statement("select * from projects where id = %(project_id)s and deleted_at is null")
async def project(db: Queries, *, project_id: UUID) -> Project | None: ...


# The projects that delete their records of one kind after a number of days, which the setting of this name has.
@statement("""
    select id as project_id, (settings ->> %(setting)s)::int as days,
           coalesce((settings ->> 'archiveExpired')::boolean, false) as archives
    from projects
    where settings ->> %(setting)s is not null and deleted_at is null order by id
""")
async def retention_by_project(db: Queries, *, setting: str) -> list[ProjectRetention]: ...


# Lock a project for update; None if it does not exist or is deleted.
@statement("select * from projects where id = %(project_id)s and deleted_at is null for update")
async def lock_project(tx: Transaction, *, project_id: UUID) -> Project | None: ...


@statement("""
    update projects set name = %(name)s, settings = %(settings)s, updated_at = %(now)s where id = %(project_id)s
    returning *
""")
async def update_project(tx: Transaction, *, project_id: UUID, name: str, settings: Jsonb, now: Moment) -> Project: ...


# Whether another project has this `pagesDomain`.
@statement("""
    select id from projects
    where settings -> 'signIn' ->> 'pagesDomain' = %(name)s and deleted_at is null and id <> %(project_id)s limit 1
""")
async def is_pages_domain_of_other(db: Queries, *, name: str, project_id: UUID) -> bool: ...


# The id of the project with this `pagesDomain`, locked, so that it keeps it until the transaction ends.
@statement("""
    select id from projects where settings -> 'signIn' ->> 'pagesDomain' = %(name)s and deleted_at is null for update
""")
async def project_of_pages_domain(tx: Transaction, *, name: str) -> ProjectId | None: ...


@statement("""
    update projects set settings = jsonb_set(settings, array['signIn', 'pagesDomain'], 'null'), updated_at = %(now)s
    where id = %(project_id)s
""")
async def release_pages_domain(tx: Transaction, *, project_id: UUID, now: Moment) -> None: ...


@statement("""
    select id, name, type, environment, prefix || '…' || last_four as key, permissions, ip_allow_list,
           expires_at, last_used_at, created_at
    from api_keys where project_id = %(project_id)s and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def keys(db: Queries, *, project_id: UUID, before: UUID | None, limit: int) -> list[ApiKey]: ...


# Return a key, even if it has expired.
@statement("""
    select id, name, type, environment, prefix || '…' || last_four as key, permissions, ip_allow_list,
           expires_at, last_used_at, created_at
    from api_keys where project_id = %(project_id)s and id = %(id)s
""")
async def key(db: Queries, *, project_id: UUID, id: UUID) -> ApiKey | None: ...


@statement("select count(*)::int from api_keys where project_id = %(project_id)s")
async def count_keys(db: Queries, *, project_id: UUID) -> int: ...


@statement("""
    insert into api_keys {row}
    returning id, name, type, environment, prefix || '…' || last_four as key, permissions, ip_allow_list,
              expires_at, last_used_at, created_at
""")
async def insert_key(tx: Transaction, key: StoredApiKey) -> ApiKey: ...


# Delete a key and return it; None if there is no such key.
@statement("""
    delete from api_keys where project_id = %(project_id)s and id = %(id)s
    returning id, name, type, environment, prefix || '…' || last_four as key, permissions, ip_allow_list,
              expires_at, last_used_at, created_at
""")
async def delete_key(tx: Transaction, *, project_id: UUID, id: UUID) -> ApiKey | None: ...


# The keys with these hashes, expired ones too, whose project is not deleted. The list is in a subselect, so that
# PostgreSQL does not plan the statement again for each length; `offset 0` makes it search each row by its key.
@statement("""
    select k.hash, k.id, k.project_id, p.account_id, k.name, k.type, k.environment, k.permissions, k.ip_allow_list,
           k.expires_at, k.last_used_at, p.settings
    from unnest((select %(hashes)s::bytea[])) as sent (hash)
    cross join lateral (select * from api_keys where hash = sent.hash offset 0) as k
    cross join lateral (
        select account_id, settings from projects where id = k.project_id and deleted_at is null offset 0) as p
""")
async def keys_by_hash(db: Queries, *, hashes: list[bytes]) -> list[ApiKeyWithProject]: ...


# Store the time of the last use, unless the stored time is less than a minute ago.
@statement("""
    update api_keys set last_used_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
      and (last_used_at is null or last_used_at < %(now)s::timestamptz - interval '1 minute')
""")
async def record_key_use(db: Queries, *, project_id: UUID, id: UUID, now: Moment) -> None: ...


# Set `transport` to null, which means the default of the instance, in the projects of an account where it is `capture`.
@statement("""
    update projects set settings = jsonb_set(settings, array['transport'], 'null')
    where account_id = %(account_id)s and settings ->> 'transport' = 'capture'
""")
async def reset_capturing_transport(tx: Transaction, *, account_id: UUID) -> None: ...


@statement("""
    delete from api_keys k using projects p where p.id = k.project_id and p.account_id = %(account_id)s
""")
async def delete_keys_of_account(tx: Transaction, *, account_id: UUID) -> None: ...


# Mark the projects of an account as deleted; if `only` is given, only the project with this id. Returns the ids of
# those that were not marked before.
@statement("""
    update projects set deleted_at = %(now)s, updated_at = %(now)s
    where account_id = %(account_id)s and deleted_at is null and (%(only)s::uuid is null or id = %(only)s)
    returning id
""")
async def mark_deleted(tx: Transaction, *, account_id: UUID, only: UUID | None, now: Moment) -> list[UUID]: ...


# Delete the row of a project. Returns False if the project does not exist or is not marked as deleted.
@statement("delete from projects where id = %(project_id)s and deleted_at is not null")
async def delete_marked_project(tx: Transaction, *, project_id: UUID) -> bool: ...
