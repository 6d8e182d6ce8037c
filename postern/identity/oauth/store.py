"""SQL of clients, consents and grants of the OpenID provider."""

from typing import LiteralString
from uuid import UUID

from postern.identity.oauth.model import (
    AccessTokenCustomer,
    ClientRow,
    ClientWithSettings,
    ConsentRow,
    GrantRow,
    OAuthConsent,
    SignedInCustomer,
)
from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment

# Clients.


# Newest first, without those whose environment is not in `environments`.
@statement("""
    select * from oauth_clients
    where project_id = %(project_id)s and environment = any (%(environments)s)
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def clients(
    db: Queries, *, project_id: UUID, environments: list[str], before: UUID | None, limit: int
) -> list[ClientRow]: ...


@statement("select * from oauth_clients where project_id = %(project_id)s and id = %(id)s")
async def client(db: Queries, *, project_id: UUID, id: UUID) -> ClientRow | None: ...


# The clients of these parallel lists, with the settings of their projects; omits those of deleted projects.
@statement("""
    select client.*, project.settings as project_settings
    from unnest((select %(project_ids)s::uuid[]), (select %(ids)s::uuid[])) as wanted (project_id, id)
    cross join lateral (
        select * from oauth_clients where project_id = wanted.project_id and id = wanted.id
          /*distributed and project_id = any (%(project_ids)s) */ offset 0) as client
    join projects project on project.id = client.project_id and project.deleted_at is null
""")
async def clients_with_settings(
    db: Queries, *, project_ids: list[UUID], ids: list[UUID]
) -> list[ClientWithSettings]: ...


# Those of the clients with these ids whose id is the URL of a document.
@statement("""
    select * from oauth_clients
    where project_id = %(project_id)s and id = any (%(ids)s) and metadata_url is not null
""")
async def published_clients(db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ClientRow]: ...


@statement("select * from oauth_clients where project_id = %(project_id)s and id = %(id)s for update")
async def lock_client(tx: Transaction, *, project_id: UUID, id: UUID) -> ClientRow | None: ...


# Without those that have registered themselves, which have a limit of their own.
@statement("select count(*)::int from oauth_clients where project_id = %(project_id)s and not self_registered")
async def count_clients(db: Queries, *, project_id: UUID) -> int: ...


@statement("insert into oauth_clients {row}")
async def insert_client(tx: Transaction, client: ClientRow) -> None: ...


@statement("""
    update oauth_clients set name = %(name)s, first_party = %(first_party)s, redirect_uris = %(redirect_uris)s,
        post_logout_redirect_uris = %(post_logout_redirect_uris)s, grant_types = %(grant_types)s, scopes = %(scopes)s,
        website_url = %(website_url)s, privacy_url = %(privacy_url)s, terms_url = %(terms_url)s,
        backchannel_logout_uri = %(backchannel_logout_uri)s, require_dpop = %(require_dpop)s,
        jwks = %(jwks)s, jwks_uri = %(jwks_uri)s, security_profile = %(security_profile)s,
        id_token_signing_alg = %(id_token_signing_alg)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def change_client(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    name: str,
    first_party: bool,
    redirect_uris: list[str],
    post_logout_redirect_uris: list[str],
    grant_types: list[str],
    scopes: list[str],
    website_url: str | None,
    privacy_url: str | None,
    terms_url: str | None,
    backchannel_logout_uri: str | None,
    require_dpop: bool,
    jwks: Jsonb | None,
    jwks_uri: str | None,
    security_profile: str,
    id_token_signing_alg: str,
    now: Moment,
) -> ClientRow: ...


# Replace the metadata of a client that were published at its URL. None if there is no such client.
@statement("""
    update oauth_clients set name = %(name)s, type = %(type)s, redirect_uris = %(redirect_uris)s,
        grant_types = %(grant_types)s, scopes = %(scopes)s, website_url = %(website_url)s,
        privacy_url = %(privacy_url)s, terms_url = %(terms_url)s, require_dpop = %(require_dpop)s, jwks = %(jwks)s,
        jwks_uri = %(jwks_uri)s, id_token_signing_alg = %(id_token_signing_alg)s,
        metadata_expires_at = %(metadata_expires_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and metadata_url is not null
    returning *
""")
async def replace_metadata(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    name: str,
    type: str,
    redirect_uris: list[str],
    grant_types: list[str],
    scopes: list[str],
    website_url: str | None,
    privacy_url: str | None,
    terms_url: str | None,
    require_dpop: bool,
    jwks: Jsonb | None,
    jwks_uri: str | None,
    id_token_signing_alg: str,
    metadata_expires_at: Moment | None,
    now: Moment,
) -> ClientRow | None: ...


# Make the metadata of a client outdated since `expires_at` or longer, because its document is not valid any more.
@statement("""
    update oauth_clients set metadata_expires_at = %(expires_at)s
    where project_id = %(project_id)s and id = %(id)s and metadata_expires_at > %(expires_at)s
""")
async def withdraw_metadata(db: Queries, *, project_id: UUID, id: UUID, expires_at: Moment) -> None: ...


# Replace the secret of a client; the old one is accepted until `previous_expires_at`.
@statement("""
    update oauth_clients set previous_secret_hash = secret_hash, previous_secret_expires_at = %(previous_expires_at)s,
        secret_hash = %(secret_hash)s, secret_last_four = %(last_four)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def rotate_secret(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    secret_hash: bytes,
    last_four: str,
    previous_expires_at: Moment,
    now: Moment,
) -> ClientRow: ...


@statement("""
    update oauth_clients set secret_hash = null, secret_last_four = null, previous_secret_hash = null,
        previous_secret_expires_at = null
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def remove_secret(tx: Transaction, *, project_id: UUID, id: UUID) -> ClientRow: ...


@statement("delete from oauth_clients where project_id = %(project_id)s and id = any (%(ids)s)")
async def delete_clients(tx: Transaction, *, project_id: UUID, ids: list[UUID]) -> None:
    """Delete clients with their consents and grants."""


@statement("delete from oauth_clients where project_id = %(project_id)s and id = %(id)s")
async def delete_client(tx: Transaction, *, project_id: UUID, id: UUID) -> None:
    """Delete a client with its consents and grants."""


# Consents.


@statement("""
    select consent.client_id, client.name as client_name, client.first_party,
           array(select distinct scope from unnest(consent.scopes) as scope order by scope) as scopes,
           consent.resource_scopes, consent.created_at, consent.updated_at
    from oauth_consents consent
    join oauth_clients client on client.project_id = consent.project_id and client.id = consent.client_id
    where consent.project_id = %(project_id)s and consent.customer_id = %(customer_id)s
    order by consent.client_id desc limit %(limit)s
""")
async def consents_of(db: Queries, *, project_id: UUID, customer_id: UUID, limit: int) -> list[OAuthConsent]: ...


@statement("""
    select * from oauth_consents
    where project_id = %(project_id)s and customer_id = %(customer_id)s and client_id = %(client_id)s
""")
async def consent(db: Queries, *, project_id: UUID, customer_id: UUID, client_id: UUID) -> ConsentRow | None: ...


# Add scopes to what the customer has allowed the client; the permissions at an API replace earlier ones at the same.
# Citus refuses subqueries here, so a scope may be stored twice; `consents_of` lists it once.
@statement("""
    insert into oauth_consents as current (project_id, customer_id, client_id, scopes, resource_scopes, created_at,
                                           updated_at)
    values (%(project_id)s, %(customer_id)s, %(client_id)s, %(scopes)s, %(resource_scopes)s, %(now)s, %(now)s)
    on conflict (project_id, customer_id, client_id) do update set updated_at = excluded.updated_at,
        resource_scopes = current.resource_scopes || excluded.resource_scopes,
        scopes = case when current.scopes @> excluded.scopes then current.scopes
                      else current.scopes || excluded.scopes end
""")
async def add_consent(
    tx: Transaction,
    *,
    project_id: UUID,
    customer_id: UUID,
    client_id: UUID,
    scopes: list[str],
    resource_scopes: Jsonb,
    now: Moment,
) -> None: ...


@statement("""
    delete from oauth_consents
    where project_id = %(project_id)s and customer_id = %(customer_id)s and client_id = %(client_id)s
""")
async def delete_consent(tx: Transaction, *, project_id: UUID, customer_id: UUID, client_id: UUID) -> bool: ...


# Grants.


# Returns False if there is a grant with this id: that of a device has the id of the device.
@statement("""
    insert into oauth_grants (project_id, id, client_id, customer_id, session_id, scopes, redirect_uri, nonce,
                              code_hash, code_challenge, code_expires_at, created_at, expires_at, due_at,
                              resource, dpop_jkt, acr_values)
    values (%(project_id)s, %(id)s, %(client_id)s, %(customer_id)s, %(session_id)s, %(scopes)s, %(redirect_uri)s,
            %(nonce)s, %(code_hash)s, %(code_challenge)s, %(code_expires_at)s, %(now)s, %(expires_at)s, %(expires_at)s,
            %(resource)s, %(dpop_jkt)s, %(acr_values)s)
    on conflict (project_id, id) do nothing
""")
async def insert_grant(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    client_id: UUID,
    customer_id: UUID,
    session_id: UUID,
    scopes: list[str],
    resource: str | None,
    redirect_uri: str,
    nonce: str | None,
    dpop_jkt: str | None,
    acr_values: list[str],
    code_hash: bytes,
    code_challenge: str,
    code_expires_at: Moment,
    expires_at: Moment,
    now: Moment,
) -> bool: ...


@statement("select * from oauth_grants where project_id = %(project_id)s and id = %(id)s")
async def grant(db: Queries, *, project_id: UUID, id: UUID) -> GrantRow | None: ...


# Use the code of a grant. Returns None if it was used, has expired or was revoked. `generation` is 1 if a refresh token
# is issued, otherwise 0; `dpop_jkt` the key to which it is bound.
@statement("""
    update oauth_grants set code_used_at = %(now)s, generation = %(generation)s, rotated_at = %(now)s,
        dpop_jkt = %(dpop_jkt)s, expires_at = %(expires_at)s, due_at = %(expires_at)s
    where project_id = %(project_id)s and id = %(id)s and code_used_at is null and code_expires_at > %(now)s
      and revoked_at is null
    returning *
""")
async def use_code(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    generation: int,
    dpop_jkt: str | None,
    expires_at: Moment,
    now: Moment,
) -> GrantRow | None: ...


# Replace the current refresh token, which has the number `generation`. Returns None if it is not the current one, or
# the grant was revoked.
@statement("""
    update oauth_grants set generation = generation + 1, rotated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and generation = %(generation)s and revoked_at is null
    returning *
""")
async def rotate(db: Queries, *, project_id: UUID, id: UUID, generation: int, now: Moment) -> GrantRow | None: ...


@statement("""
    update oauth_grants set revoked_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and revoked_at is null
""")
async def revoke_grant(db: Queries, *, project_id: UUID, id: UUID, now: Moment) -> bool: ...


@statement("""
    update oauth_grants set revoked_at = %(now)s
    where project_id = %(project_id)s and customer_id = %(customer_id)s and client_id = %(client_id)s
      and revoked_at is null
""")
async def revoke_grants(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, client_id: UUID, now: Moment
) -> None: ...


@statement("""
    delete from oauth_grants where project_id = %(project_id)s and id = any (%(ids)s) and expires_at <= %(now)s
""")
async def delete_expired_grants(db: Queries, *, project_id: UUID, ids: list[UUID], now: Moment) -> None: ...


SIGNED_IN: LiteralString = """s.id as session_id, s.subject_id as customer_id, s.methods, s.authenticated_at,
           s.created_at, s.expires_at as session_expires_at, s.test, s.sso_organization_id,
           (select organization.id from organization_members member
            join organizations organization
              on organization.project_id = member.project_id and organization.id = member.organization_id
             and organization.status = 'ACTIVE'
            where member.project_id = s.project_id and member.organization_id = s.organization_id
              and member.customer_id = s.subject_id
              /*distributed and member.project_id = :project and organization.project_id = :project */)
               as organization_id,
           c.email, c.email_verified_at, c.name, c.language, c.phone, c.phone_verified_at, c.updated_at,
           coalesce((select project.settings -> 'signIn' -> 'hooks' from projects project
                     where project.id = s.project_id), '[]') as hooks"""
"""The columns of SignedInCustomer, from a session `s` and its customer `c`."""


# A live session with its customer; None if the session has ended, the customer is banned, or somebody acts as the
# customer in it.
@statement(
    "select "
    + SIGNED_IN
    + """
    from sessions s join customers c on c.project_id = s.project_id and c.id = s.subject_id
    where s.project_id = %(project_id)s and s.id = %(session_id)s and s.revoked_at is null and s.expires_at > %(now)s
      and s.idle_expires_at > %(now)s and s.impersonation is null
      and (c.banned_at is null or c.ban_expires_at <= %(now)s)
"""
)
async def signed_in_customer(
    db: Queries, *, project_id: UUID, session_id: UUID, now: Moment
) -> SignedInCustomer | None: ...


# The customers of access tokens. `project_ids`, `grant_ids`, `client_ids` and `key_ids` are parallel lists, in
# subselects so that PostgreSQL does not plan the statement again for each of their lengths. Omits tokens whose grant
# was revoked or is that of another client, whose signing key has retired, whose session has ended, or whose customer is
# banned. `offset 0` makes PostgreSQL search each row by its primary key.
@statement(
    "select tokens.project_id, tokens.grant_id, tokens.key_id, "
    + SIGNED_IN
    + """
    from unnest((select %(project_ids)s::uuid[]), (select %(grant_ids)s::uuid[]), (select %(client_ids)s::uuid[]),
                (select %(key_ids)s::uuid[])) as tokens (project_id, grant_id, client_id, key_id)
    cross join lateral (
        select session_id from oauth_grants
        where project_id = tokens.project_id and id = tokens.grant_id and client_id = tokens.client_id
          and revoked_at is null /*distributed and project_id = any (%(project_ids)s) */ offset 0) as issued
    cross join lateral (
        select * from sessions
        where project_id = tokens.project_id and id = issued.session_id
          and revoked_at is null and expires_at > %(now)s and idle_expires_at > %(now)s
          /*distributed and project_id = any (%(project_ids)s) */ offset 0) as s
    cross join lateral (
        select email, email_verified_at, name, language, phone, phone_verified_at, updated_at from customers
        where project_id = s.project_id and id = s.subject_id
          and (banned_at is null or ban_expires_at <= %(now)s)
          /*distributed and project_id = any (%(project_ids)s) */ offset 0) as c
    where exists (
        select from customer_signing_keys
        where project_id = tokens.project_id and id = tokens.key_id
          and (retired_at is null or retired_at > %(now)s)
          /*distributed and project_id = any (%(project_ids)s) */ offset 0)
"""
)
async def access_token_customers(
    db: Queries,
    *,
    project_ids: list[UUID],
    grant_ids: list[UUID],
    client_ids: list[UUID],
    key_ids: list[UUID],
    now: Moment,
) -> list[AccessTokenCustomer]: ...
