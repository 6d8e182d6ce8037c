"""SQL of what proves who somebody is: challenges, failures, second factors, passkeys, letters."""

from uuid import UUID

from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Record


class Challenge(Record):
    """Something to answer, once."""

    project_id: UUID
    id: UUID
    purpose: str
    customer_id: UUID | None
    identifier: bytes | None
    secret_hash: bytes
    tries: int
    data: bytes
    expires_at: Moment


class TotpSecret(Record):
    """A customer's authenticator app."""

    customer_id: UUID
    secret: bytes
    confirmed_at: Moment | None
    used_step: int


class PasskeyRow(Record):
    """A passkey as it lies in the database."""

    id: UUID
    customer_id: UUID
    credential_id: bytes
    public_key: bytes
    sign_count: int
    backed_up: bool
    name: str
    created_at: Moment
    last_used_at: Moment | None


class QueuedMail(Record):
    """A letter to be written."""

    project_id: UUID
    id: UUID
    customer_id: UUID | None
    sealed: bytes
    attempt: int
    created_at: Moment


class ExpiringRow(Record):
    """A row that becomes due when it may be forgotten."""

    project_id: UUID
    id: UUID
    attempt: int


@statement("""
    insert into customer_challenges (project_id, id, purpose, customer_id, identifier, secret_hash, data, expires_at,
                                     created_at, due_at)
    values (%(project_id)s, %(id)s, %(purpose)s, %(customer_id)s, %(identifier)s, %(secret_hash)s, %(data)s,
            %(expires_at)s, %(now)s, %(expires_at)s)
""")
async def insert_challenge(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    purpose: str,
    customer_id: UUID | None,
    identifier: bytes | None,
    secret_hash: bytes,
    data: bytes,
    expires_at: Moment,
    now: Moment,
) -> None: ...


# The try is counted before the answer is looked at: guesses side by side cannot share one.
@statement("""
    update customer_challenges set tries = tries + 1
    where project_id = %(project_id)s and id = %(id)s and purpose = %(purpose)s and tries < %(most)s
      and expires_at > %(now)s
    returning *
""")
async def count_try(
    db: Queries, *, project_id: UUID, id: UUID, purpose: str, most: int, now: Moment
) -> Challenge | None: ...


@statement("""
    select * from customer_challenges
    where project_id = %(project_id)s and id = %(id)s and purpose = %(purpose)s and expires_at > %(now)s
""")
async def get_challenge(db: Queries, *, project_id: UUID, id: UUID, purpose: str, now: Moment) -> Challenge | None: ...


# Whoever deletes the row has used the challenge: exactly one can.
@statement("delete from customer_challenges where project_id = %(project_id)s and id = %(id)s")
async def consume_challenge(tx: Transaction, *, project_id: UUID, id: UUID) -> bool: ...


@statement("""
    delete from customer_challenges where project_id = %(project_id)s and customer_id = %(customer_id)s
      and (%(purpose)s::text is null or purpose = %(purpose)s)
""")
async def drop_challenges_of(tx: Transaction, *, project_id: UUID, customer_id: UUID, purpose: str | None) -> None: ...


@statement("""
    delete from customer_challenges where project_id = %(project_id)s and identifier = %(identifier)s
""")
async def drop_challenges_to(db: Queries, *, project_id: UUID, identifier: bytes) -> None: ...


# Authenticator apps and recovery codes.


@statement("""
    insert into customer_totp as t (project_id, customer_id, secret, created_at)
    values (%(project_id)s, %(customer_id)s, %(secret)s, %(now)s)
    on conflict (project_id, customer_id) do update
        set secret = excluded.secret, created_at = excluded.created_at, used_step = 0
        where t.confirmed_at is null
""")
async def enrol_totp(tx: Transaction, *, project_id: UUID, customer_id: UUID, secret: bytes, now: Moment) -> bool: ...


@statement("select * from customer_totp where project_id = %(project_id)s and customer_id = %(customer_id)s")
async def totp(db: Queries, *, project_id: UUID, customer_id: UUID) -> TotpSecret | None: ...


# A step that was used, or any before it, touches nothing: the replay of a code fails here.
@statement("""
    update customer_totp set used_step = %(step)s
    where project_id = %(project_id)s and customer_id = %(customer_id)s and used_step < %(step)s
""")
async def use_step(tx: Transaction, *, project_id: UUID, customer_id: UUID, step: int) -> bool: ...


# Only the secret whose code was seen: another enrolment may have begun in between.
@statement("""
    update customer_totp set confirmed_at = %(now)s
    where project_id = %(project_id)s and customer_id = %(customer_id)s and confirmed_at is null
      and secret = %(secret)s
""")
async def confirm_totp(tx: Transaction, *, project_id: UUID, customer_id: UUID, secret: bytes, now: Moment) -> bool: ...


# A secret whose first code was seen already; not over one that is on.
@statement("""
    insert into customer_totp as t (project_id, customer_id, secret, used_step, created_at, confirmed_at)
    values (%(project_id)s, %(customer_id)s, %(secret)s, %(step)s, %(now)s, %(now)s)
    on conflict (project_id, customer_id) do update
        set secret = excluded.secret, used_step = excluded.used_step, created_at = excluded.created_at,
            confirmed_at = excluded.confirmed_at
        where t.confirmed_at is null
""")
async def put_totp(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, secret: bytes, step: int, now: Moment
) -> bool: ...


@statement("delete from customer_totp where project_id = %(project_id)s and customer_id = %(customer_id)s")
async def drop_totp(tx: Transaction, *, project_id: UUID, customer_id: UUID) -> None: ...


@statement("""
    delete from customer_recovery_codes where project_id = %(project_id)s and customer_id = %(customer_id)s
""")
async def drop_recovery_codes(tx: Transaction, *, project_id: UUID, customer_id: UUID) -> None: ...


@statement("""
    insert into customer_recovery_codes (project_id, customer_id, hash)
    select %(project_id)s, %(customer_id)s, unnest(%(hashes)s::bytea[])
""")
async def insert_recovery_codes(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, hashes: list[bytes]
) -> None: ...


@statement("""
    delete from customer_recovery_codes
    where project_id = %(project_id)s and customer_id = %(customer_id)s and hash = any (%(hashes)s::bytea[])
""")
async def use_recovery_code(tx: Transaction, *, project_id: UUID, customer_id: UUID, hashes: list[bytes]) -> bool: ...


@statement("""
    update customer_totp set customer_id = %(survivor)s, secret = %(secret)s
    where project_id = %(project_id)s and customer_id = %(loser)s
""")
async def move_totp(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID, secret: bytes) -> None: ...


@statement("""
    update customer_recovery_codes set customer_id = %(survivor)s
    where project_id = %(project_id)s and customer_id = %(loser)s
""")
async def move_recovery_codes(tx: Transaction, *, project_id: UUID, survivor: UUID, loser: UUID) -> None: ...


@statement("""
    select count(*)::int from customer_recovery_codes
    where project_id = %(project_id)s and customer_id = %(customer_id)s
""")
async def count_recovery_codes(db: Queries, *, project_id: UUID, customer_id: UUID) -> int: ...


# Passkeys.


@statement("""
    insert into customer_passkeys (project_id, id, customer_id, credential_id, public_key, sign_count, backed_up,
                                   name, created_at)
    values (%(project_id)s, %(id)s, %(customer_id)s, %(credential_id)s, %(public_key)s, %(sign_count)s,
            %(backed_up)s, %(name)s, %(now)s)
    on conflict do nothing
    returning *
""")
async def insert_passkey(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    customer_id: UUID,
    credential_id: bytes,
    public_key: bytes,
    sign_count: int,
    backed_up: bool,
    name: str,
    now: Moment,
) -> PasskeyRow | None: ...


@statement("""
    select * from customer_passkeys where project_id = %(project_id)s and credential_id = %(credential_id)s
""")
async def passkey(db: Queries, *, project_id: UUID, credential_id: bytes) -> PasskeyRow | None: ...


@statement("""
    select * from customer_passkeys where project_id = %(project_id)s and customer_id = %(customer_id)s
    order by id desc
""")
async def passkeys(db: Queries, *, project_id: UUID, customer_id: UUID) -> list[PasskeyRow]: ...


@statement("""
    update customer_passkeys set sign_count = %(sign_count)s, backed_up = %(backed_up)s, last_used_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and (sign_count = 0 or sign_count < %(sign_count)s)
""")
async def use_passkey(
    tx: Transaction, *, project_id: UUID, id: UUID, sign_count: int, backed_up: bool, now: Moment
) -> bool: ...


@statement("""
    delete from customer_passkeys
    where project_id = %(project_id)s and customer_id = %(customer_id)s and (%(id)s::uuid is null or id = %(id)s)
""")
async def drop_passkeys(tx: Transaction, *, project_id: UUID, customer_id: UUID, id: UUID | None) -> bool: ...


# Letters.


@statement("""
    insert into customer_letters (project_id, id, customer_id, sealed, created_at, due_at)
    values (%(project_id)s, %(id)s, %(customer_id)s, %(sealed)s, %(now)s, %(now)s)
""")
async def insert_mail(
    tx: Transaction, *, project_id: UUID, id: UUID, customer_id: UUID | None, sealed: bytes, now: Moment
) -> None: ...


@statement("""
    delete from customer_letters where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def delete_mail(db: Queries, *, project_id: UUID, id: UUID, attempt: int) -> bool: ...


# What has passed.


@statement("""
    delete from customer_challenges where project_id = %(project_id)s and id = any (%(ids)s) and expires_at <= %(now)s
""")
async def delete_expired_challenges(db: Queries, *, project_id: UUID, ids: list[UUID], now: Moment) -> None: ...
