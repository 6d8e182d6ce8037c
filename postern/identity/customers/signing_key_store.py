"""SQL of the keys that sign the tokens of a project."""

from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class SigningKey(Record):
    """A row of `customer_signing_keys` (EC) or `customer_rsa_keys` (RSA): a key pair of a project."""

    project_id: UUID
    id: UUID
    public_key: bytes
    private_key: bytes
    active_at: Moment
    retired_at: Moment | None
    created_at: Moment


@statement("insert into customer_signing_keys {row}")
async def insert_key(db: Queries, key: SigningKey) -> None: ...


@statement("select * from customer_signing_keys where project_id = %(project_id)s and id = %(id)s")
async def key(db: Queries, *, project_id: UUID, id: UUID) -> SigningKey | None: ...


# Keys that are not retired, including those that do not sign yet, with the latest `active_at` first.
@statement("""
    select * from customer_signing_keys
    where project_id = %(project_id)s and (retired_at is null or retired_at > %(now)s)
    order by active_at desc, id desc
""")
async def keys(db: Queries, *, project_id: UUID, now: Moment) -> list[SigningKey]: ...


@statement("""
    update customer_signing_keys set retired_at = %(retired_at)s
    where project_id = %(project_id)s and id <> %(except_id)s and (retired_at is null or retired_at > %(retired_at)s)
""")
async def retire_keys(tx: Transaction, *, project_id: UUID, except_id: UUID, retired_at: Moment) -> None:
    """Set when the project's keys other than `except_id` retire, unless they retire earlier."""


# The same for RSA keys.


@statement("insert into customer_rsa_keys {row}")
async def insert_rsa_key(tx: Transaction, key: SigningKey) -> None: ...


@statement("select * from customer_rsa_keys where project_id = %(project_id)s and id = %(id)s")
async def rsa_key(db: Queries, *, project_id: UUID, id: UUID) -> SigningKey | None: ...


@statement("""
    select * from customer_rsa_keys
    where project_id = %(project_id)s and (retired_at is null or retired_at > %(now)s)
    order by active_at desc, id desc
""")
async def rsa_keys(db: Queries, *, project_id: UUID, now: Moment) -> list[SigningKey]: ...


@statement("""
    update customer_rsa_keys set retired_at = %(retired_at)s
    where project_id = %(project_id)s and id <> %(except_id)s and (retired_at is null or retired_at > %(retired_at)s)
""")
async def retire_rsa_keys(tx: Transaction, *, project_id: UUID, except_id: UUID, retired_at: Moment) -> None:
    """Set when the project's RSA keys other than `except_id` retire, unless they retire earlier."""
