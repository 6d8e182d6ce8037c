"""SQL of sessions and the keys that sign their tokens."""

from uuid import UUID

from postern.identity.customers.model import CustomerRow
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Record


class SessionRow(Record):
    """A session as it lies in the database."""

    project_id: UUID
    id: UUID
    customer_id: UUID
    generation: int
    rotated_at: Moment | None
    methods: list[str]
    authenticated_at: Moment
    user_agent: str
    ip_address: str
    created_at: Moment
    last_used_at: Moment
    expires_at: Moment
    idle_expires_at: Moment
    revoked_at: Moment | None
    sso_organization_id: UUID | None
    """The organization whose connection began it; none if it began in another way."""

    @property
    def ends_at(self) -> Moment:
        """When the session ends if nobody uses it until then: what every operation calls `expiresAt`."""
        return min(self.expires_at, self.idle_expires_at)

    def is_live(self, now: Moment) -> bool:
        return self.revoked_at is None and self.ends_at > now


class RefreshedSession(Record):
    """What new tokens of a session need to say."""

    project_id: UUID
    id: UUID
    customer_id: UUID
    generation: int
    methods: list[str]
    authenticated_at: Moment
    expires_at: Moment
    idle_expires_at: Moment
    roles: list[str]
    email: str | None
    email_verified: bool
    sso_organization_id: UUID | None
    project_requires_sso: bool
    project_requires_mfa: bool


class TokenBearer(CustomerRow):
    """A customer whose token was admitted, and the session and key that it names."""

    session_id: UUID
    key_id: UUID


class KnownDevice(Record):
    """Whether a customer was seen with this kind of device, or at all."""

    known: bool
    any: bool


class SigningKey(Record):
    """A key pair that signs a project's tokens."""

    id: UUID
    public_key: bytes
    private_key: bytes
    active_at: Moment
    retired_at: Moment | None


@statement("""
    insert into customer_sessions (project_id, id, customer_id, methods, authenticated_at, user_agent, ip_address,
                                   created_at, last_used_at, expires_at, idle_expires_at, due_at,
                                   sso_organization_id)
    values (%(project_id)s, %(id)s, %(customer_id)s, %(methods)s, %(now)s, %(user_agent)s, %(ip_address)s,
            %(now)s, %(now)s, %(expires_at)s, %(idle_expires_at)s, %(expires_at)s, %(sso_organization_id)s)
    returning *
""")
async def insert_session(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    customer_id: UUID,
    methods: list[str],
    user_agent: str,
    ip_address: str,
    now: Moment,
    expires_at: Moment,
    idle_expires_at: Moment,
    sso_organization_id: UUID | None,
) -> SessionRow: ...


# One statement renews the sessions of all requests that come together, where everything is in order; whoever finds no
# row looks for the reason. Rows are locked in one order, so that groups of two processes do not wait for each other.
@statement("""
    with good as materialized (
        select s.project_id, s.id, c.roles, c.email, c.email_verified_at is not null as email_verified,
            coalesce((p.settings #>> '{signIn,requireSso}')::boolean, false) as project_requires_sso,
            coalesce((p.settings #>> '{signIn,requireMfa}')::boolean, false) as project_requires_mfa
        from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(generation)s::int[]) as asked (project_id, id, generation)
        join customer_sessions s on s.project_id = asked.project_id and s.id = asked.id
            and s.generation = asked.generation
        join customers c on c.project_id = s.project_id and c.id = s.customer_id
        join projects p on p.id = s.project_id
        where s.revoked_at is null and s.expires_at > %(now)s and s.idle_expires_at > %(now)s
          and (c.banned_at is null or c.ban_expires_at <= %(now)s)
        order by s.project_id, s.id for update of s
    )
    update customer_sessions s set generation = s.generation + 1, rotated_at = %(now)s, last_used_at = %(now)s,
        idle_expires_at = least(%(idle_expires_at)s, s.expires_at)
    from good where s.project_id = good.project_id and s.id = good.id
    returning s.project_id, s.id, s.customer_id, s.generation, s.methods, s.authenticated_at, s.expires_at,
        s.idle_expires_at, good.roles, good.email, good.email_verified, s.sso_organization_id,
        good.project_requires_sso, good.project_requires_mfa
""")
async def renew_all(
    db: Queries,
    *,
    project_id: list[UUID],
    id: list[UUID],
    generation: list[int],
    now: Moment,
    idle_expires_at: Moment,
) -> list[RefreshedSession]: ...


@statement("""
    select s.project_id, s.id, s.customer_id, s.generation, s.methods, s.authenticated_at, s.expires_at,
           s.idle_expires_at, c.roles, c.email, c.email_verified_at is not null as email_verified,
           s.sso_organization_id,
           coalesce((p.settings #>> '{signIn,requireSso}')::boolean, false) as project_requires_sso,
           coalesce((p.settings #>> '{signIn,requireMfa}')::boolean, false) as project_requires_mfa
    from customer_sessions s join customers c on c.project_id = s.project_id and c.id = s.customer_id
    join projects p on p.id = s.project_id
    where s.project_id = %(project_id)s and s.id = %(id)s and s.revoked_at is null and s.expires_at > %(now)s
      and s.idle_expires_at > %(now)s and (c.banned_at is null or c.ban_expires_at <= %(now)s)
      and s.generation = %(generation)s + 1 and s.rotated_at >= %(grace)s
""")
async def refreshed_again(
    db: Queries, *, project_id: UUID, id: UUID, generation: int, now: Moment, grace: Moment
) -> RefreshedSession | None: ...


@statement("""
    select c.*, s.id as session_id, k.id as key_id
    from unnest(%(project_id)s::uuid[], %(id)s::uuid[], %(key_id)s::uuid[]) as asked (project_id, id, key_id)
    join customer_sessions s on s.project_id = asked.project_id and s.id = asked.id
    join customers c on c.project_id = s.project_id and c.id = s.customer_id
    join customer_signing_keys k on k.project_id = asked.project_id and k.id = asked.key_id
    where s.revoked_at is null and s.expires_at > %(now)s and s.idle_expires_at > %(now)s
      and (c.banned_at is null or c.ban_expires_at <= %(now)s)
      and (k.retired_at is null or k.retired_at > %(now)s)
""")
async def token_bearers(
    db: Queries, *, project_id: list[UUID], id: list[UUID], key_id: list[UUID], now: Moment
) -> list[TokenBearer]: ...


@statement("select * from customer_sessions where project_id = %(project_id)s and id = %(id)s for update")
async def lock_session(tx: Transaction, *, project_id: UUID, id: UUID) -> SessionRow | None: ...


@statement("""
    select * from customer_sessions
    where project_id = %(project_id)s and customer_id = any (%(customer_ids)s) and revoked_at is null
      and expires_at > %(now)s and idle_expires_at > %(now)s
    order by id desc limit %(limit)s
""")
async def live_sessions(
    db: Queries, *, project_id: UUID, customer_ids: list[UUID], now: Moment, limit: int
) -> list[SessionRow]: ...


@statement("""
    select * from customer_sessions where project_id = %(project_id)s and customer_id = %(customer_id)s
      and (%(before)s::timestamptz is null or (created_at, id) < (%(before)s, %(before_id)s::uuid))
    order by created_at desc, id desc limit %(limit)s
""")
async def sessions_of(
    db: Queries, *, project_id: UUID, customer_id: UUID, before: Moment | None, before_id: UUID | None, limit: int
) -> list[SessionRow]: ...


@statement("""
    select exists (select from customer_sessions where project_id = %(project_id)s
                   and customer_id = %(customer_id)s and user_agent = %(user_agent)s) as known,
           exists (select from customer_sessions where project_id = %(project_id)s
                   and customer_id = %(customer_id)s) as any
""")
async def is_known_device(db: Queries, *, project_id: UUID, customer_id: UUID, user_agent: str) -> KnownDevice: ...


@statement("""
    select distinct ip_address from customer_sessions
    where project_id = %(project_id)s and customer_id = (
        select id from customers where project_id = %(project_id)s and email_key = %(email_key)s
        union all
        select customer_id from customer_other_addresses
        where project_id = %(project_id)s and email_key = %(email_key)s
        limit 1)
    limit 1000
""")
async def addresses_seen(db: Queries, *, project_id: UUID, email_key: str) -> list[str]: ...


@statement("""
    update customer_sessions set revoked_at = %(now)s
    where project_id = %(project_id)s and customer_id = %(customer_id)s and id = %(id)s and revoked_at is null
""")
async def revoke_session(db: Queries, *, project_id: UUID, customer_id: UUID, id: UUID, now: Moment) -> bool: ...


@statement("""
    update customer_sessions set revoked_at = %(now)s
    where project_id = %(project_id)s and customer_id = %(customer_id)s and revoked_at is null
      and (%(but)s::uuid is null or id <> %(but)s)
    returning id
""")
async def revoke_all(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, but: UUID | None, now: Moment
) -> list[UUID]: ...


@statement("""
    update customer_sessions set revoked_at = %(now)s
    where project_id = %(project_id)s and customer_id = %(customer_id)s and revoked_at is null and id in (
        select id from customer_sessions where project_id = %(project_id)s and customer_id = %(customer_id)s
          and revoked_at is null order by id desc offset %(keep)s)
""")
async def revoke_oldest(tx: Transaction, *, project_id: UUID, customer_id: UUID, keep: int, now: Moment) -> None: ...


@statement("""
    update customer_sessions set methods = array_append(methods, %(method)s::text)
    where project_id = %(project_id)s and id = %(id)s
""")
async def add_method(tx: Transaction, *, project_id: UUID, id: UUID, method: str) -> None: ...


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
async def retire_keys(tx: Transaction, *, project_id: UUID, but: UUID, retired_at: Moment) -> None: ...
