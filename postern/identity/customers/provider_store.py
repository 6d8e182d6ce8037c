"""SQL of sign-in providers."""

from typing import Any
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class ProviderRow(Record):
    """A row of `customer_providers`; the client secret is sealed."""

    project_id: UUID
    key: str
    kind: str
    name: str
    issuer: str
    client_id: str
    client_secret: bytes | None
    options: dict[str, Any]
    enabled: bool
    created_at: Moment
    updated_at: Moment


@statement("select * from customer_providers where project_id = %(project_id)s order by key")
async def providers(db: Queries, *, project_id: UUID) -> list[ProviderRow]: ...


@statement("select * from customer_providers where project_id = %(project_id)s and key = %(key)s")
async def provider(db: Queries, *, project_id: UUID, key: str) -> ProviderRow | None: ...


# Whether apps sign in with the project's own OpenID provider.
@statement("select from oauth_clients where project_id = %(project_id)s limit 1")
async def has_oauth_client(db: Queries, *, project_id: UUID) -> bool: ...


# The number of the project's providers, not counting the one with the key `except_key`.
@statement("select count(*)::int from customer_providers where project_id = %(project_id)s and key <> %(except_key)s")
async def count(db: Queries, *, project_id: UUID, except_key: str) -> int: ...


# None as `client_secret` keeps the stored secret of an existing provider.
@statement("""
    insert into customer_providers as current {row}
    on conflict (project_id, key) do update set kind = excluded.kind, name = excluded.name, issuer = excluded.issuer,
        client_id = excluded.client_id, client_secret = coalesce(excluded.client_secret, current.client_secret),
        options = excluded.options, enabled = excluded.enabled, updated_at = excluded.updated_at
    returning *
""")
async def upsert(tx: Transaction, provider: ProviderRow) -> ProviderRow: ...


@statement("delete from customer_providers where project_id = %(project_id)s and key = %(key)s")
async def delete(tx: Transaction, *, project_id: UUID, key: str) -> bool: ...
