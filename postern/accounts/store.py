"""SQL of accounts, developers and their sessions."""

from uuid import UUID

from postern.accounts.model import Developer, Session, SessionOwner, UsedToken
from postern.kernel.clock import Moment
from postern.kernel.database import Queries, Transaction, statement


@statement("""
    insert into accounts (id, name, created_at, updated_at) values (%(id)s, %(name)s, %(now)s, %(now)s)
""")
async def insert_account(tx: Transaction, *, id: UUID, name: str, now: Moment) -> None: ...


@statement("""
    insert into developers (id, account_id, email, name, role, password_hash, joined_at, created_at, updated_at)
    values (%(id)s, %(account_id)s, %(email)s, %(name)s, %(role)s, %(password_hash)s, %(now)s, %(now)s, %(now)s)
    on conflict do nothing
    returning *
""")
async def insert_developer(
    tx: Transaction,
    *,
    id: UUID,
    account_id: UUID,
    email: str,
    name: str,
    role: str,
    password_hash: str,
    now: Moment,
) -> Developer | None: ...


@statement("select * from developers where lower(email) = lower(%(email)s)")
async def developer_by_email(db: Queries, *, email: str) -> Developer | None: ...


@statement("select * from developers where id = %(id)s")
async def developer(db: Queries, *, id: UUID) -> Developer | None: ...


@statement("update developers set last_sign_in_at = %(now)s where id = %(id)s")
async def signed_in(tx: Transaction, *, id: UUID, now: Moment) -> None: ...


@statement("update developers set password_hash = %(password_hash)s where id = %(id)s")
async def rehash(db: Queries, *, id: UUID, password_hash: str) -> None: ...


@statement("""
    insert into developer_sessions (id, developer_id, access_hash, access_expires_at, refresh_hash, expires_at,
                                    ip_address, user_agent, created_at)
    values (%(id)s, %(developer_id)s, %(access_hash)s, %(access_expires_at)s, %(refresh_hash)s, %(expires_at)s,
            %(ip_address)s, %(user_agent)s, %(now)s)
""")
async def insert_session(
    tx: Transaction,
    *,
    id: UUID,
    developer_id: UUID,
    access_hash: bytes,
    access_expires_at: Moment,
    refresh_hash: bytes,
    expires_at: Moment,
    ip_address: str,
    user_agent: str,
    now: Moment,
) -> None: ...


@statement("""
    select s.id as session_id, d.id as developer_id, d.account_id, d.email, d.role, s.access_expires_at, s.revoked_at,
           %(project_id)s::uuid is null
           or exists (select from projects p where p.id = %(project_id)s and p.account_id = d.account_id)
           as project_is_theirs
    from developer_sessions s join developers d on d.id = s.developer_id
    where s.access_hash = %(access_hash)s
""")
async def session_owner(db: Queries, *, access_hash: bytes, project_id: UUID | None) -> SessionOwner | None: ...


@statement("""
    select * from developer_sessions
    where refresh_hash = %(refresh_hash)s or previous_refresh_hash = %(refresh_hash)s
    limit 1 for update
""")
async def lock_session_of_refresh(tx: Transaction, *, refresh_hash: bytes) -> Session | None: ...


@statement("""
    update developer_sessions set access_hash = %(access_hash)s, access_expires_at = %(access_expires_at)s,
        previous_refresh_hash = %(previous_refresh_hash)s, refresh_hash = %(refresh_hash)s, rotated_at = %(rotated_at)s
    where id = %(id)s
""")
async def rotate(
    tx: Transaction,
    *,
    id: UUID,
    access_hash: bytes,
    access_expires_at: Moment,
    previous_refresh_hash: bytes,
    refresh_hash: bytes,
    rotated_at: Moment | None,
) -> None: ...


@statement("update developer_sessions set revoked_at = %(now)s where id = %(id)s and revoked_at is null")
async def revoke(db: Queries, *, id: UUID, now: Moment) -> bool: ...


@statement("""
    insert into developer_tokens (hash, developer_id, purpose, email, expires_at, created_at)
    values (%(hash)s, %(developer_id)s, %(purpose)s, %(email)s, %(expires_at)s, %(now)s)
""")
async def insert_token(
    db: Queries,
    *,
    hash: bytes,
    developer_id: UUID,
    purpose: str,
    email: str | None,
    expires_at: Moment,
    now: Moment,
) -> None: ...


@statement("""
    delete from developer_tokens where hash = %(hash)s and purpose = %(purpose)s
    returning developer_id, email, expires_at
""")
async def use_token(tx: Transaction, *, hash: bytes, purpose: str) -> UsedToken | None: ...
