"""SQL statements of certificates. Certificates belong to names, which several projects may use."""

from typing import Final, LiteralString
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment
from postern.messaging.certificates.model import (
    AcmeAccount,
    CertifiedName,
    DomainOfName,
    NamedCertificate,
    OrderCounts,
    ProjectName,
    PublishedAnswer,
    ServedCertificate,
    ServedName,
    StoredCertificate,
)

# The names of hosted pages below a verified domain of their project, each with this domain.
_PAGES_NAMES: Final[LiteralString] = """
    select d.project_id, d.id, d.domain, p.settings -> 'signIn' ->> 'pagesDomain' as name
    from projects p join domains d on d.project_id = p.id and d.status = 'VERIFIED'
    where p.settings -> 'signIn' ->> 'pagesDomain' is not null and p.deleted_at is null
        and right(p.settings -> 'signIn' ->> 'pagesDomain', length(d.domain) + 1) = '.' || d.domain
"""

# The names of projects below sending domains. For tracking: `links.<domain>` if its CNAME record is verified, and a
# project's `trackingDomain` at or below one of its verified domains. For hosted pages: a project's `pagesDomain`.
_PROJECT_NAMES: Final[LiteralString] = (
    """
    select d.project_id, d.id, d.domain, %(label)s || '.' || d.domain as name
    from domains d join projects p on p.id = d.project_id and p.deleted_at is null
    where d.tracking_verified and d.status in ('VERIFIED', 'DEGRADED')
    union
    select d.project_id, d.id, d.domain, lower(p.settings ->> 'trackingDomain') as name
    from projects p join domains d on d.project_id = p.id and d.status in ('VERIFIED', 'DEGRADED')
    where p.settings ->> 'trackingDomain' is not null and p.deleted_at is null
        and (lower(p.settings ->> 'trackingDomain') = d.domain
            or right(lower(p.settings ->> 'trackingDomain'), length(d.domain) + 1) = '.' || d.domain)
        and p.settings ->> 'trackingDomain' ~ '^[A-Za-z0-9-]+([.][A-Za-z0-9-]+)+$'
    union
"""
    + _PAGES_NAMES
)


# The account at an authority, created with this key if there is none.
@statement("""
    insert into acme_accounts {row}
    on conflict (directory) do update set directory = excluded.directory
    returning *
""")
async def ensure_account(
    db: Queries, *, id: UUID, directory: str, private_key: bytes, created_at: Moment
) -> AcmeAccount: ...


@statement("select * from acme_accounts where directory = %(directory)s")
async def find_account(db: Queries, *, directory: str) -> AcmeAccount | None: ...


@statement("update acme_accounts set url = %(url)s where id = %(id)s")
async def save_account_url(db: Queries, *, id: UUID, url: str | None) -> None: ...


# Up to `limit` names of projects without a certificate, each with a project that uses it and has fewer than
# `per_project` certificates, including those of names that it no longer uses.
@statement(
    "with names as materialized (" + _PROJECT_NAMES + ") "
    "select distinct on (name) project_id, name from ("
    "select project_id, name, row_number() over (partition by project_id order by id, name) as number"
    " from names where not exists ("
    "select from certificates c where c.account_id = %(account_id)s and c.name = names.name)) as numbered"
    " where number <= %(per_project)s - (select count(*) from certificates c"
    " where c.account_id = %(account_id)s and c.counted_for = numbered.project_id)"
    " order by name, project_id limit %(limit)s"
)
async def new_project_names(
    db: Queries, *, account_id: UUID, label: str, per_project: int, limit: int
) -> list[ProjectName]: ...


# The sending domains to which a name belongs, at most 100; none if no project may use the name.
@statement("select project_id, id, domain from (" + _PROJECT_NAMES + ") as names where name = %(name)s limit 100")
async def domains_of_name(db: Queries, *, label: str, name: str) -> list[DomainOfName]: ...


# The names of projects below a domain, each with its certificate, if there is one.
@statement(
    "select names.name, c.order_url is not null as has_order, c.failures, c.problem, c.issued_at, c.expires_at,"
    " c.due_at from (" + _PROJECT_NAMES + ") as names"
    " left join certificates c on c.account_id = %(account_id)s and c.name = names.name"
    " where names.project_id = %(project_id)s and names.id = %(domain_id)s order by names.name"
)
async def names_of_domain(
    db: Queries, *, account_id: UUID, project_id: UUID, domain_id: UUID, label: str
) -> list[NamedCertificate]: ...


@statement("select count(*)::int from certificates where account_id = %(account_id)s")
async def count_certificates(db: Queries, *, account_id: UUID) -> int: ...


# Insert a certificate that is still to be ordered and is due now, unless the account has one for this name.
@statement("""
    insert into certificates (account_id, id, name, counted_for, due_at, created_at, updated_at)
    values (%(account_id)s, %(id)s, %(name)s, %(counted_for)s, %(now)s, %(now)s, %(now)s)
    on conflict (account_id, name) do nothing
""")
async def insert_certificate(
    tx: Transaction, *, account_id: UUID, id: UUID, name: str, counted_for: UUID | None, now: Moment
) -> None: ...


# Store all columns that an attempt changes. None if a later attempt has begun, or the row was deleted.
@statement("""
    update certificates set order_url = %(order_url)s, order_key = %(order_key)s, token = %(token)s,
        answer = %(answer)s, private_key = %(private_key)s, chain = %(chain)s, issued_at = %(issued_at)s,
        expires_at = %(expires_at)s, renew_at = %(renew_at)s, problem = %(problem)s, failures = %(failures)s,
        failing_since = %(failing_since)s, reported_at = %(reported_at)s, due_at = %(due_at)s,
        updated_at = %(updated_at)s
    where account_id = %(account_id)s and id = %(id)s and attempt = %(attempt)s
    returning *
""")
async def save_certificate(db: Queries, certificate: StoredCertificate) -> StoredCertificate | None: ...


@statement("""
    delete from certificates where account_id = %(account_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def delete_certificate(db: Queries, *, account_id: UUID, id: UUID, attempt: int) -> bool: ...


# The content that is published for a token.
@statement("select answer from certificates where token = %(token)s and answer is not null limit 1")
async def published_answer(db: Queries, *, token: str) -> PublishedAnswer | None: ...


# The latest certificate of each name that has not expired.
@statement("""
    select distinct on (name) name, account_id, id, issued_at from certificates
    where chain is not null and expires_at > %(now)s order by name, issued_at desc limit %(limit)s
""")
async def served_names(db: Queries, *, now: Moment, limit: int) -> list[ServedName]: ...


# The names of hosted pages of all projects, also those whose domain is not verified.
@statement("""
    select id as project_id, settings -> 'signIn' ->> 'pagesDomain' as name from projects
    where settings -> 'signIn' ->> 'pagesDomain' is not null and deleted_at is null
""")
async def claimed_pages_domains(db: Queries) -> list[ProjectName]: ...


@statement("select distinct project_id, name from (" + _PAGES_NAMES + ") as served")
async def served_pages_domains(db: Queries) -> list[ProjectName]: ...


# Those of the names that have a certificate that has not expired.
@statement("""
    select distinct name from certificates
    where name = any (%(names)s) and chain is not null and expires_at > %(now)s
""")
async def names_with_certificate(db: Queries, *, names: list[str], now: Moment) -> list[CertifiedName]: ...


@statement("""
    select account_id, id, name, private_key, chain, issued_at from certificates
    where id = any (%(ids)s) and chain is not null
""")
async def served_certificates(db: Queries, *, ids: list[UUID]) -> list[ServedCertificate]: ...


@statement("insert into certificate_orders {row}")
async def insert_order(
    tx: Transaction,
    *,
    account_id: UUID,
    id: UUID,
    name: str,
    registered_domain: str,
    counted_for: UUID | None,
    ordered_at: Moment,
) -> None: ...


# Lock the account, so that no other worker counts its orders until the transaction ends.
@statement("select id from acme_accounts where id = %(account_id)s for update")
async def lock_orders(tx: Transaction, *, account_id: UUID) -> bool: ...


@statement("""
    select count(*) filter (where ordered_at > %(recent_since)s)::int as recent,
           count(*) filter (where registered_domain = %(registered_domain)s)::int as of_domain,
           count(*) filter (where name = %(name)s)::int as of_name,
           array(
               select project.id from unnest(%(projects)s::uuid[]) as project (id)
               where (select count(*) from certificate_orders of_project
                      where of_project.account_id = %(account_id)s and of_project.counted_for = project.id
                        and of_project.ordered_at > %(recent_since)s) < %(per_project)s
               order by project.id
           ) as projects
    from certificate_orders where account_id = %(account_id)s and ordered_at > %(domain_since)s
""")
async def count_orders(
    tx: Transaction,
    *,
    account_id: UUID,
    name: str,
    registered_domain: str,
    projects: list[UUID],
    per_project: int,
    recent_since: Moment,
    domain_since: Moment,
) -> OrderCounts: ...


# Delete orders that are too old for all limits.
@statement("delete from certificate_orders where account_id = %(account_id)s and ordered_at <= %(before)s")
async def delete_orders(db: Queries, *, account_id: UUID, before: Moment) -> None: ...


@statement("select * from certificates order by name, created_at limit %(limit)s")
async def list_certificates(db: Queries, *, limit: int) -> list[StoredCertificate]: ...


# The certificates of a name, the latest first.
@statement("select * from certificates where name = %(name)s order by issued_at desc nulls last limit 10")
async def certificates_of_name(db: Queries, *, name: str) -> list[StoredCertificate]: ...


# Make a certificate due, so that the next attempt orders a new one. Returns False if the account has none for the name.
@statement("""
    update certificates set due_at = %(now)s, updated_at = %(now)s,
        renew_at = case when renew_at is not null then least(renew_at, %(now)s) end
    where account_id = %(account_id)s and name = %(name)s
""")
async def renew_now(tx: Transaction, *, account_id: UUID, name: str, now: Moment) -> bool: ...


@statement("select * from acme_accounts where id = %(id)s")
async def get_account(db: Queries, *, id: UUID) -> AcmeAccount: ...


# Delete a certificate that was revoked, so that it is no longer served, and make its row due, so that a new one is
# ordered.
@statement("""
    update certificates set chain = null, private_key = null, issued_at = null, expires_at = null, renew_at = null,
        due_at = %(now)s, attempt = attempt + 1, updated_at = %(now)s
    where account_id = %(account_id)s and id = %(id)s
""")
async def drop_chain(tx: Transaction, *, account_id: UUID, id: UUID, now: Moment) -> None: ...
