"""SQL of organizations' domains."""

from uuid import UUID

from postern.identity.organizations.model import OrganizationDomainRow
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment


# Insert a PENDING domain that is due for a check now. Returns None if the organization has the domain already.
@statement("""
    insert into organization_domains (project_id, id, organization_id, domain, status, token, watched_since,
                                      created_at, updated_at, due_at)
    values (%(project_id)s, %(id)s, %(organization_id)s, %(domain)s, 'PENDING', %(token)s, %(now)s, %(now)s,
            %(now)s, %(now)s)
    on conflict (project_id, organization_id, domain) do nothing
    returning *
""")
async def insert_domain(
    tx: Transaction, *, project_id: UUID, id: UUID, organization_id: UUID, domain: str, token: str, now: Moment
) -> OrganizationDomainRow | None: ...


@statement("""
    select count(*)::int from organization_domains
    where project_id = %(project_id)s and organization_id = %(organization_id)s
""")
async def count_domains(db: Queries, *, project_id: UUID, organization_id: UUID) -> int: ...


@statement("""
    select * from organization_domains
    where project_id = %(project_id)s and organization_id = %(organization_id)s
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def list_domains(
    db: Queries, *, project_id: UUID, organization_id: UUID, before: UUID | None, limit: int
) -> list[OrganizationDomainRow]: ...


@statement("""
    select * from organization_domains
    where project_id = %(project_id)s and organization_id = %(organization_id)s and id = %(id)s
""")
async def get_domain(
    db: Queries, *, project_id: UUID, organization_id: UUID, id: UUID
) -> OrganizationDomainRow | None: ...


# Lock a domain for update.
@statement("select * from organization_domains where project_id = %(project_id)s and id = %(id)s for update")
async def lock_domain(tx: Transaction, *, project_id: UUID, id: UUID) -> OrganizationDomainRow | None: ...


# The row of the organization that has verified a domain, or None.
@statement("""
    select * from organization_domains
    where project_id = %(project_id)s and domain = %(domain)s and status = 'VERIFIED'
""")
async def get_verified_domain(db: Queries, *, project_id: UUID, domain: str) -> OrganizationDomainRow | None: ...


# Lock a domain name until the transaction ends, so that concurrent transactions cannot both verify it.
@statement("""
    select pg_advisory_xact_lock(hashtextextended(%(project_id)s::text || '|' || %(domain)s, 0)) is not null
""")
async def lock_domain_name(tx: Transaction, *, project_id: UUID, domain: str) -> None: ...


# Store the result of a check. `misses` counts the successive checks that did not find the TXT record; `missing_since`
# is the time of the first of them, `watched_since` that of the current series of checks (see
# OrganizationDomainRow). The domain is not checked again if `due_at` is None.
@statement("""
    update organization_domains set status = %(status)s, token = %(token)s, auto_join_enabled = %(auto_join_enabled)s,
        verified_at = %(verified_at)s, reason = %(reason)s, watched_since = %(watched_since)s,
        missing_since = %(missing_since)s, misses = %(misses)s, last_checked_at = %(now)s, due_at = %(due_at)s,
        updated_at = case when status = %(status)s then updated_at else %(now)s end
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def record_check(tx: Transaction, row: OrganizationDomainRow, *, now: Moment) -> OrganizationDomainRow: ...


@statement("""
    update organization_domains set auto_join_enabled = %(enabled)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def set_auto_join(
    tx: Transaction, *, project_id: UUID, id: UUID, enabled: bool, now: Moment
) -> OrganizationDomainRow: ...


@statement("""
    delete from organization_domains where project_id = %(project_id)s and organization_id = %(organization_id)s
""")
async def delete_domains_of_organization(tx: Transaction, *, project_id: UUID, organization_id: UUID) -> None: ...


@statement("delete from organization_domains where project_id = %(project_id)s and id = %(id)s")
async def delete_domain(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...
