"""SQL of access tokens: their customers, and signing keys."""

from uuid import UUID

from postern.identity.customers.model import CustomerRow
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Record


class TokenBearer(CustomerRow):
    """The customer of an access token, with the session and key of the token."""

    session_id: UUID
    session_test: bool
    """Whether the session began with a TEST key."""
    key_id: UUID


class SigningKey(Record):
    """A row of `customer_signing_keys`: a key pair that signs a project's tokens."""

    id: UUID
    public_key: bytes
    private_key: bytes
    active_at: Moment
    retired_at: Moment | None


# `project_id`, `id` (of the session) and `key_id` are parallel lists. Omits tokens whose session or key has ended, or
# whose customer is banned.
@statement("""
    select c.*, s.id as session_id, s.test as session_test, k.id as key_id
    from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(key_id)s::uuid[]) as tokens (project_id, id, key_id)
    join sessions s on s.project_id = tokens.project_id and s.id = tokens.id
    join customers c on c.project_id = s.project_id and c.id = s.subject_id
    join customer_signing_keys k on k.project_id = tokens.project_id and k.id = tokens.key_id
    where s.revoked_at is null and s.expires_at > %(now)s and s.idle_expires_at > %(now)s
      and (c.banned_at is null or c.ban_expires_at <= %(now)s)
      and (k.retired_at is null or k.retired_at > %(now)s)
""")
async def token_bearers(
    db: Queries, *, project_id: list[UUID], id: list[UUID], key_id: list[UUID], now: Moment
) -> list[TokenBearer]: ...


# The organization that is active in a new session: that of the single sign-on; else the only organization; else that of
# the customer's most recent session. Only ACTIVE organizations of which the customer is a member count. None without
# one.
@statement("""
    with member as materialized (
        select member.organization_id from organization_members member
        join organizations organization
          on organization.project_id = member.project_id and organization.id = member.organization_id
         and organization.status = 'ACTIVE'
        where member.project_id = %(project_id)s and member.customer_id = %(customer_id)s
    )
    select organization_id from member
    where organization_id = %(sso_organization_id)s
       or organization_id = (
           select recent.organization_id from sessions recent
           where recent.project_id = %(project_id)s and recent.subject_id = %(customer_id)s
             and recent.id <> %(session_id)s
           order by recent.id desc limit 1)
       or (select count(*) from member) = 1
    order by organization_id = %(sso_organization_id)s desc nulls last limit 1
""")
async def first_organization(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, session_id: UUID, sso_organization_id: UUID | None
) -> UUID | None: ...


# At most 1,000 IP addresses from which the customer with this e-mail address began sessions.
@statement("""
    select distinct ip_address from sessions
    where project_id = %(project_id)s and subject_id = (
        select id from customers where project_id = %(project_id)s and email_key = %(email_key)s
        union all
        select customer_id from customer_other_addresses
        where project_id = %(project_id)s and email_key = %(email_key)s
        limit 1)
    limit 1000
""")
async def session_ip_addresses(db: Queries, *, project_id: UUID, email_key: str) -> list[str]: ...


@statement("""
    insert into customer_signing_keys (project_id, id, public_key, private_key, active_at, created_at)
    values (%(project_id)s, %(id)s, %(public_key)s, %(private_key)s, %(active_at)s, %(now)s)
    returning *
""")
async def insert_key(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    public_key: bytes,
    private_key: bytes,
    active_at: Moment,
    now: Moment,
) -> SigningKey: ...


@statement("select * from customer_signing_keys where project_id = %(project_id)s and id = %(id)s")
async def key(db: Queries, *, project_id: UUID, id: UUID) -> SigningKey | None: ...


# Keys that are not retired, including those that do not sign yet; the one that signs last comes first.
@statement("""
    select * from customer_signing_keys
    where project_id = %(project_id)s and (retired_at is null or retired_at > %(now)s)
    order by active_at desc, id desc
""")
async def keys(db: Queries, *, project_id: UUID, now: Moment) -> list[SigningKey]: ...


@statement("""
    update customer_signing_keys set retired_at = %(retired_at)s
    where project_id = %(project_id)s and id <> %(but)s and (retired_at is null or retired_at > %(retired_at)s)
""")
async def retire_keys(tx: Transaction, *, project_id: UUID, but: UUID, retired_at: Moment) -> None:
    """Set when the project's keys other than `but` retire, unless they retire earlier."""
