"""SQL of connections, their keys, requests and sign-ons."""

from typing import LiteralString
from uuid import UUID

from postern.identity.sso.model import (
    ConnectionKind,
    ConnectionRow,
    KeyRow,
    MetadataRow,
    RequestRow,
    SignOnRow,
    SsoTrace,
)
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class ConnectionWithOrganization(ConnectionRow):
    """A connection with columns of its organization, domain and metadata."""

    organization_name: str
    organization_slug: str
    organization_status: str
    domain_verified: bool
    idp_metadata_read_at: Moment | None
    idp_metadata_problem: str | None


class WorkingConnection(Record):
    """A connection by which members can sign in now: active, with a verified domain and an active organization."""

    id: UUID
    organization_id: UUID
    kind: ConnectionKind
    name: str
    for_domain: bool
    """Whether it is the connection for the domain that was asked for."""


class ConnectionProject(Record):
    """The project of a connection."""

    project_id: UUID


@statement("insert into sso_connections {row}")
async def insert_connection(tx: Transaction, connection: ConnectionRow) -> None: ...


@statement("""
    update sso_connections set name = %(name)s, domain = %(domain)s, idp_entity_id = %(idp_entity_id)s,
        idp_sso_url = %(idp_sso_url)s, idp_sso_binding = %(idp_sso_binding)s, idp_slo_url = %(idp_slo_url)s,
        idp_slo_binding = %(idp_slo_binding)s, idp_slo_response_url = %(idp_slo_response_url)s,
        idp_certificate = %(idp_certificate)s, idp_metadata_url = %(idp_metadata_url)s,
        oidc_client_id = %(oidc_client_id)s, oidc_client_secret = %(oidc_client_secret)s, options = %(options)s,
        tested_at = %(tested_at)s, due_at = %(due_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def update_connection(tx: Transaction, connection: ConnectionRow, *, now: Moment) -> None: ...


# Connections of a project, newest first. `organization_id` and `id` filter them, unless None.
@statement("""
    select connection.*, organization.name as organization_name, organization.slug as organization_slug,
           organization.status as organization_status,
           exists (select from organization_domains domain
                   where domain.project_id = connection.project_id and domain.domain = connection.domain
                     and domain.organization_id = connection.organization_id and domain.status = 'VERIFIED'
                     /*distributed and domain.project_id = :project */)
           as domain_verified, metadata.read_at as idp_metadata_read_at, metadata.problem as idp_metadata_problem
    from sso_connections connection
    join organizations organization
      on organization.project_id = connection.project_id and organization.id = connection.organization_id
     and organization.status <> 'DELETED'
    left join sso_metadata metadata on metadata.project_id = connection.project_id and metadata.id = connection.id
    where connection.project_id = %(project_id)s
      and (%(organization_id)s::uuid is null or connection.organization_id = %(organization_id)s)
      and (%(id)s::uuid is null or connection.id = %(id)s)
      and (%(before)s::uuid is null or connection.id < %(before)s)
    order by connection.id desc limit %(limit)s
""")
async def list_connections(
    db: Queries, *, project_id: UUID, organization_id: UUID | None, id: UUID | None, before: UUID | None, limit: int
) -> list[ConnectionWithOrganization]: ...


# Lock a connection for update. Returns None if its organization is deleted.
@statement("""
    select connection.* from sso_connections connection
    join organizations organization
      on organization.project_id = connection.project_id and organization.id = connection.organization_id
     and organization.status <> 'DELETED'
    where connection.project_id = %(project_id)s and connection.organization_id = %(organization_id)s
      and connection.id = %(id)s for update of connection
""")
async def lock_connection(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, id: UUID
) -> ConnectionRow | None: ...


# Lock a connection for update, even if its organization is deleted.
@statement("select * from sso_connections where project_id = %(project_id)s and id = %(id)s for update")
async def lock_due_connection(tx: Transaction, *, project_id: UUID, id: UUID) -> ConnectionRow | None: ...


@statement("""
    select count(*)::int from sso_connections
    where project_id = %(project_id)s and organization_id = %(organization_id)s
""")
async def count_connections(db: Queries, *, project_id: UUID, organization_id: UUID) -> int: ...


@statement("select project_id from sso_connections where id = %(id)s")
async def project_of_connection(db: Queries, *, id: UUID) -> ConnectionProject | None: ...


class ServingConnection(Record):
    """The active connection for a domain."""

    id: UUID
    organization_id: UUID


@statement("""
    select id, organization_id from sso_connections
    where project_id = %(project_id)s and domain = %(domain)s and status = 'ACTIVE'
""")
async def active_connection_of_domain(db: Queries, *, project_id: UUID, domain: str) -> ServingConnection | None: ...


# Lock a domain until the transaction ends, so that concurrent transactions cannot both activate a connection for it.
@statement("""
    select pg_advisory_xact_lock(hashtextextended('sso|' || %(project_id)s::text || '|' || %(domain)s, 0)) is not null
""")
async def lock_activation(tx: Transaction, *, project_id: UUID, domain: str) -> None: ...


# Set the status, and the time of the next certificate warning (`due_at`).
@statement("""
    update sso_connections set status = %(status)s, due_at = %(due_at)s, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def set_status(
    tx: Transaction, *, project_id: UUID, id: UUID, status: str, due_at: Moment | None, now: Moment
) -> None: ...


# Deactivate the active connections of organizations. Records no events.
@statement("""
    update sso_connections set status = 'INACTIVE', due_at = null, updated_at = %(now)s
    where project_id = %(project_id)s and organization_id = any (%(organization_ids)s) and status = 'ACTIVE'
""")
async def deactivate_connections(
    tx: Transaction, *, project_id: UUID, organization_ids: list[UUID], now: Moment
) -> None: ...


# Store that a test succeeded, unless the connection was changed after `if_updated_at`.
@statement("""
    update sso_connections set tested_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and updated_at = %(if_updated_at)s
""")
async def set_tested(tx: Transaction, *, project_id: UUID, id: UUID, if_updated_at: Moment, now: Moment) -> None: ...


# Set the time of the next certificate warning. Returns False if the connection was claimed again since the claim
# `attempt`.
@statement("""
    update sso_connections set due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def set_next_warning(
    tx: Transaction, *, project_id: UUID, id: UUID, attempt: int, due_at: Moment | None
) -> bool: ...


@statement("delete from sso_connections where project_id = %(project_id)s and id = %(id)s")
async def delete_connection(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


# The working connections of the organization that has verified a domain: the one for that domain first, then the
# newest.
@statement("""
    select connection.id, connection.organization_id, connection.kind, connection.name,
           connection.domain = requested_domain.domain as for_domain
    from organization_domains requested_domain
    join organizations organization
      on organization.project_id = requested_domain.project_id and organization.id = requested_domain.organization_id
     and organization.status = 'ACTIVE'
    join sso_connections connection
      on connection.project_id = requested_domain.project_id
     and connection.organization_id = requested_domain.organization_id and connection.status = 'ACTIVE'
    join organization_domains domain
      on domain.project_id = connection.project_id and domain.organization_id = connection.organization_id
     and domain.domain = connection.domain and domain.status = 'VERIFIED'
    where requested_domain.project_id = %(project_id)s and requested_domain.domain = %(domain)s
      and requested_domain.status = 'VERIFIED'
    order by (connection.domain = requested_domain.domain) desc, connection.id desc limit %(limit)s
""")
async def connections_for_domain(
    db: Queries, *, project_id: UUID, domain: str, limit: int
) -> list[WorkingConnection]: ...


# Working connections of an organization, or of any organization if it is None: the one for `domain` first, then the
# newest.
@statement("""
    select connection.id, connection.organization_id, connection.kind, connection.name,
           coalesce(connection.domain = %(domain)s::text, false) as for_domain
    from sso_connections connection
    join organizations organization
      on organization.project_id = connection.project_id and organization.id = connection.organization_id
     and organization.status = 'ACTIVE'
    join organization_domains domain
      on domain.project_id = connection.project_id and domain.organization_id = connection.organization_id
     and domain.domain = connection.domain and domain.status = 'VERIFIED'
    where connection.project_id = %(project_id)s and connection.status = 'ACTIVE'
      and (%(organization_id)s::uuid is null or connection.organization_id = %(organization_id)s)
    order by (connection.domain = %(domain)s::text) desc nulls last, connection.id desc limit %(limit)s
""")
async def working_connections(
    db: Queries, *, project_id: UUID, organization_id: UUID | None, domain: str | None, limit: int
) -> list[WorkingConnection]: ...


# A working connection with an account that is linked to the customer. `login.issuer_of` builds the issuer of the
# account: an account from before a change of the entity id cannot sign in any more.
@statement("""
    select connection.id, connection.organization_id, connection.kind, connection.name, false as for_domain
    from customer_identities identity
    join sso_connections connection
      on connection.project_id = identity.project_id and connection.status = 'ACTIVE'
     and identity.issuer = connection.id::text || ' ' || connection.idp_entity_id
    join organizations organization
      on organization.project_id = connection.project_id and organization.id = connection.organization_id
     and organization.status = 'ACTIVE'
    join organization_domains domain
      on domain.project_id = connection.project_id and domain.organization_id = connection.organization_id
     and domain.domain = connection.domain and domain.status = 'VERIFIED'
    where identity.project_id = %(project_id)s and identity.customer_id = %(customer_id)s
      and identity.provider in ('SAML', 'SSO_OIDC')
    limit 1
""")
async def working_connection_of_customer(
    db: Queries, *, project_id: UUID, customer_id: UUID
) -> WorkingConnection | None: ...


class ConnectionName(Record):
    """The name of a connection."""

    name: str


# The name of any active connection of the project, or None.
@statement("select name from sso_connections where project_id = %(project_id)s and status = 'ACTIVE' limit 1")
async def active_connection_name(db: Queries, *, project_id: UUID) -> ConnectionName | None: ...


# Metadata that is fetched from a URL.


# Insert or reset the refresh state of metadata that was just fetched. The result of a refresh in progress will be
# ignored.
@statement("""
    insert into sso_metadata {row}
    on conflict (project_id, id) do update
    set read_at = excluded.read_at, looked_at = excluded.looked_at, problem = null, failing_since = null,
        told = false, due_at = excluded.due_at, attempt = sso_metadata.attempt + 1
""")
async def upsert_metadata(
    tx: Transaction, *, project_id: UUID, id: UUID, read_at: Moment, looked_at: Moment, due_at: Moment
) -> None: ...


@statement("delete from sso_metadata where project_id = %(project_id)s and id = %(id)s")
async def delete_metadata(tx: Transaction, *, project_id: UUID, id: UUID) -> None: ...


@statement("select * from sso_connections where project_id = %(project_id)s and id = %(id)s")
async def connection(db: Queries, *, project_id: UUID, id: UUID) -> ConnectionRow | None: ...


# Store the result of a refresh. Returns False if the row was claimed again since the claim `attempt`.
@statement("""
    update sso_metadata
    set read_at = %(read_at)s, looked_at = %(looked_at)s, problem = %(problem)s, failing_since = %(failing_since)s,
        told = %(told)s, due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def record_metadata_result(tx: Transaction, row: MetadataRow) -> bool: ...


# Make the next refresh due now if the URL was last fetched before `fetched_before`. Returns False if that is not so, or
# if the refresh was due already.
@statement("""
    update sso_metadata set due_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and due_at > %(now)s and looked_at <= %(fetched_before)s
""")
async def make_metadata_due(
    db: Queries, *, project_id: UUID, id: UUID, fetched_before: Moment, now: Moment
) -> bool: ...


# Service provider keys.


@statement("insert into sso_keys {row}")
async def insert_key(tx: Transaction, key: KeyRow) -> None: ...


# The service provider keys of connections, in the order CURRENT, NEXT, PREVIOUS.
@statement("""
    select * from sso_keys where project_id = %(project_id)s and connection_id = any(%(connection_ids)s)
    order by array_position(array['CURRENT', 'NEXT', 'PREVIOUS'], place)
""")
async def keys(db: Queries, *, project_id: UUID, connection_ids: list[UUID]) -> list[KeyRow]: ...


@statement("""
    delete from sso_keys
    where project_id = %(project_id)s and connection_id = %(connection_id)s and place = 'PREVIOUS'
""")
async def delete_previous_key(tx: Transaction, *, project_id: UUID, connection_id: UUID) -> None: ...


# Move NEXT to CURRENT and CURRENT to PREVIOUS.
@statement("""
    update sso_keys set place = case when place = 'NEXT' then 'CURRENT' else 'PREVIOUS' end
    where project_id = %(project_id)s and connection_id = %(connection_id)s and place in ('CURRENT', 'NEXT')
""")
async def shift_keys(tx: Transaction, *, project_id: UUID, connection_id: UUID) -> None: ...


# Requests to identity providers, and ids of logout requests from them.


@statement("insert into sso_requests {row}")
async def insert_request(db: Queries, request: RequestRow) -> None: ...


# The requests of a browser that have not expired and have no response yet, newest first.
@statement("""
    select * from sso_requests
    where project_id = %(project_id)s and connection_id = %(connection_id)s and browser = %(browser)s
      and answered_at is null and expires_at > %(now)s and kind = any(%(kinds)s)
    order by id desc limit %(limit)s
""")
async def open_requests(
    db: Queries, *, project_id: UUID, connection_id: UUID, browser: bytes, kinds: list[str], now: Moment, limit: int
) -> list[RequestRow]: ...


# The logout request to the provider with this message id, if it has not expired and has no response yet.
@statement("""
    select * from sso_requests
    where project_id = %(project_id)s and connection_id = %(connection_id)s and message_id = %(message_id)s
      and kind = 'LOGOUT' and answered_at is null and expires_at > %(now)s
""")
async def logout_request(
    db: Queries, *, project_id: UUID, connection_id: UUID, message_id: str, now: Moment
) -> RequestRow | None: ...


# Store that a request got its response. Returns False if it has a response already.
@statement("""
    update sso_requests set answered_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s and answered_at is null
""")
async def mark_request_answered(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> bool: ...


@statement("""
    delete from sso_requests
    where project_id = %(project_id)s and id = any(%(ids)s) and due_at is not null and expires_at <= %(now)s
""")
async def delete_expired_requests(db: Queries, *, project_id: UUID, ids: list[UUID], now: Moment) -> None: ...


# Sign-ons: used assertions, with the customers and sessions that they signed in.


# Store the message id of a logout request from the provider, to detect replays. Returns False if it is stored already.
@statement("insert into sso_requests {row} on conflict (project_id, connection_id, message_id) do nothing")
async def insert_logout_id(tx: Transaction, request: RequestRow) -> bool: ...


# Insert a sign-on with the id of its assertion, without a customer yet. Returns False if the assertion was used before.
@statement("""
    insert into sso_sign_ons {row} on conflict (project_id, connection_id, issuer, assertion_id) do nothing
""")
async def insert_assertion_id(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    connection_id: UUID,
    issuer: str,
    assertion_id: str,
    created_at: Moment,
    due_at: Moment,
) -> bool: ...


# Store the customer of a sign-on, and what single logout needs. The row is kept until `until` or longer.
@statement("""
    update sso_sign_ons set customer_id = %(customer_id)s, name_id = %(name_id)s, name_id_format = %(name_id_format)s,
        session_index = %(session_index)s, logout_hint = %(logout_hint)s,
        due_at = greatest(due_at, %(until)s::timestamptz)
    where project_id = %(project_id)s and id = %(id)s
""")
async def set_customer(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    customer_id: UUID,
    name_id: str,
    name_id_format: str | None,
    session_index: str | None,
    logout_hint: bytes | None,
    until: Moment,
) -> None: ...


HAS_CONNECTIONS: LiteralString = "exists (select from sso_connections where project_id = any (%(project_id)s))"
"""Whether one of the projects has a connection; only then events of sign-ins concern this feature."""


# Store the session that a sign-on of this customer has started.
@statement("""
    update sso_sign_ons set session_id = %(session_id)s
    where project_id = %(project_id)s and id = %(id)s and customer_id = %(customer_id)s
""")
async def set_session(tx: Transaction, *, project_id: UUID, id: UUID, customer_id: UUID, session_id: UUID) -> None: ...


# The sign-ons of a NameID that have a session; of any NameID if it is None, which needs `session_indexes`. If
# `session_indexes` (sessions at the provider) is not empty, only the sign-ons with one of these session indexes.
@statement("""
    select * from sso_sign_ons
    where project_id = %(project_id)s and connection_id = %(connection_id)s and name_id is not null
      and (%(name_id)s::text is null or name_id = %(name_id)s) and customer_id is not null and session_id is not null
      and (cardinality(%(session_indexes)s::text[]) = 0 or session_index = any(%(session_indexes)s))
    order by customer_id, id
""")
async def sign_ons_of_logout(
    tx: Transaction, *, project_id: UUID, connection_id: UUID, name_id: str | None, session_indexes: list[str]
) -> list[SignOnRow]: ...


# Clear the NameID of the sign-ons that a logout ends. Returns their customers; the caller must revoke their unused
# codes, so that the app cannot start a session after the logout.
@statement("""
    update sso_sign_ons set name_id = null, logout_hint = null
    where project_id = %(project_id)s and connection_id = %(connection_id)s and name_id is not null
      and (%(name_id)s::text is null or name_id = %(name_id)s)
      and (cardinality(%(session_indexes)s::text[]) = 0 or session_index = any(%(session_indexes)s))
    returning customer_id
""")
async def clear_sign_ons(
    tx: Transaction, *, project_id: UUID, connection_id: UUID, name_id: str | None, session_indexes: list[str]
) -> list[UUID | None]: ...


# Erase customers from their sign-ons. The assertion ids stay.
@statement("""
    update sso_sign_ons set name_id = null, name_id_format = null, session_index = null, session_id = null,
        logout_hint = null, customer_id = null
    where project_id = %(project_id)s and customer_id = any(%(customer_ids)s)
""")
async def erase_customers(tx: Transaction, *, project_id: UUID, customer_ids: list[UUID]) -> None: ...


# Delete the traces without a customer id that contain the address of a customer. Tests and refused sign-ons have such
# traces.
@statement("""
    delete from sso_traces trace using customers customer
    where customer.project_id = %(project_id)s and customer.id = any(%(customer_ids)s)
      and trace.project_id = %(project_id)s and trace.customer_id is null
      and (strpos(lower(trace.detail), customer.email_key) > 0
           or strpos(lower(trace.steps::text), customer.email_key) > 0
           or strpos(lower(trace.profile::text), customer.email_key) > 0)
""")
async def delete_traces_mentioning(tx: Transaction, *, project_id: UUID, customer_ids: list[UUID]) -> None: ...


# The sign-on that started a session; None if there is none, or if a single logout has ended it.
@statement("""
    select * from sso_sign_ons
    where project_id = %(project_id)s and session_id = %(session_id)s and customer_id is not null
      and name_id is not null
""")
async def sign_on_of_session(db: Queries, *, project_id: UUID, session_id: UUID) -> SignOnRow | None: ...


@statement("""
    delete from sso_sign_ons
    where project_id = %(project_id)s and id = any(%(ids)s) and due_at is not null
""")
async def delete_expired_sign_ons(db: Queries, *, project_id: UUID, ids: list[UUID]) -> None: ...


# Traces: the recorded checks of sign-ons, tests and logouts.


# Insert a trace, and delete the oldest traces of the connection, so that `max_traces` remain.
@statement("""
    with surplus as materialized (
        select id from sso_traces where project_id = %(project_id)s and connection_id = %(connection_id)s
        order by id desc offset %(max_traces)s - 1
    ), inserted as (insert into sso_traces {row})
    delete from sso_traces where project_id = %(project_id)s and id in (select id from surplus)
""")
async def insert_trace(db: Queries, trace: SsoTrace, *, project_id: UUID, due_at: Moment, max_traces: int) -> None: ...


@statement("""
    select * from sso_traces
    where project_id = %(project_id)s and connection_id = %(connection_id)s
      and (%(before)s::uuid is null or id < %(before)s)
    order by id desc limit %(limit)s
""")
async def traces(
    db: Queries, *, project_id: UUID, connection_id: UUID, before: UUID | None, limit: int
) -> list[SsoTrace]: ...


@statement("delete from sso_traces where project_id = %(project_id)s and id = any(%(ids)s) and due_at is not null")
async def delete_expired_traces(db: Queries, *, project_id: UUID, ids: list[UUID]) -> None: ...
