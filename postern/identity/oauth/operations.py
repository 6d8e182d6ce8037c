"""HTTP operations that manage the clients of a project's OpenID provider, and the consents of customers."""

from collections.abc import Collection, Sequence
from datetime import timedelta
from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.identity.access import operations as access
from postern.identity.customers.model import CUSTOMER
from postern.identity.customers.sessions import bearer_of
from postern.identity.customers.signing_keys import publish_key
from postern.identity.customers.tokens import issuer_of
from postern.identity.oauth import store
from postern.identity.oauth.metadata_documents import host_of
from postern.identity.oauth.model import (
    CLIENTS_PER_PROJECT,
    DEVICE_GRANT,
    ClientRow,
    KeyClientSecret,
    NewOAuthClient,
    OAuthClient,
    OAuthClientChange,
    OAuthClientMissing,
    OAuthClientWithSecret,
    OAuthConsent,
    OAuthConsentMissing,
    OAuthSecretRotation,
    PublicClientSecret,
    TooManyOAuthClients,
)
from postern.identity.oauth.rules import (
    SECRET_PREFIX,
    check_fapi,
    check_keys,
    check_outbound_url,
    check_redirect_uri,
    client_algorithms,
    described_scopes,
    permission_scopes,
    secret_hash,
)
from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import Invalid, require_found
from postern.kernel.outbound.ssrf import AddressRefused
from postern.kernel.values import Deleted, Moment, Removed, build_view, fields_set, new_id
from postern.platform.audit import operations as audit
from postern.security.secrets import new_key
from postern.web.languages import Text

EXAMPLE = {
    "name": "Northwind Reports",
    "redirectUris": ["https://reports.example.com/callback"],
    "postLogoutRedirectUris": ["https://reports.example.com/"],
    "scopes": ["openid", "profile", "email", "offline_access"],
}


@get("/projects/{project_id}/oauth-clients", needs="projects:read")
async def list_oauth_clients(
    call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[OAuthClient]:
    """List the clients of the project's OpenID provider, newest first. A TEST key gets only TEST clients."""
    environments = ["TEST"] if call.caller.environment == "TEST" else ["LIVE", "TEST"]
    page = await newest_first(call, "oauth-clients", cursor, limit, store.clients, environments=environments)
    return page.convert_items(lambda row: _view(call, row))


@post(
    "/projects/{project_id}/oauth-clients",
    needs="projects:write",
    status=201,
    problems=[TooManyOAuthClients],
    example=EXAMPLE,
)
async def create_oauth_client(call: Call, data: NewOAuthClient) -> OAuthClientWithSecret:
    """Register a client of the project's OpenID provider.

    The response has its `clientSecret`, which is returned only here and by a rotation; a PUBLIC client has none, and
    neither has one with `jwks` or `jwksUri`.
    Customers are asked whether they allow the client its scopes, unless it is `firstParty`. For a PUBLIC client with a
    redirect URI that another app could take, they are asked each time. A TEST key can register
    only TEST clients.
    """
    environment = data.environment or call.caller.environment
    if environment == "LIVE":
        call.require_live("register a LIVE client")
    has_key = data.jwks is not None or data.jwks_uri is not None
    secret = new_key(SECRET_PREFIX) if data.type == "CONFIDENTIAL" and not has_key else None
    row = ClientRow(
        project_id=call.project_id,
        id=new_id(),
        environment=environment,
        name=data.name,
        type=data.type,
        first_party=data.first_party,
        self_registered=False,
        secret_hash=None if secret is None else secret_hash(call.world.secrets, call.project_id, secret),
        secret_last_four=None if secret is None else secret[-4:],
        previous_secret_hash=None,
        previous_secret_expires_at=None,
        redirect_uris=list(dict.fromkeys(data.redirect_uris)),
        post_logout_redirect_uris=list(dict.fromkeys(data.post_logout_redirect_uris)),
        grant_types=list(dict.fromkeys(data.grant_types)),
        scopes=list(dict.fromkeys(data.scopes)),
        website_url=data.website_url,
        privacy_url=data.privacy_url,
        terms_url=data.terms_url,
        backchannel_logout_uri=data.backchannel_logout_uri,
        require_dpop=data.require_dpop,
        jwks=None if data.jwks is None else msgspec.to_builtins(data.jwks),
        jwks_uri=data.jwks_uri,
        security_profile=data.security_profile,
        id_token_signing_alg=data.id_token_signing_alg,
        created_at=call.now,
        updated_at=call.now,
    )
    _check(call, row)
    async with call.db.transaction() as tx:
        await tx.lock_quota("oauth-clients", call.project_id)
        if await store.count_clients(tx, project_id=call.project_id) >= CLIENTS_PER_PROJECT:
            raise TooManyOAuthClients
        await require_declared_scopes(tx, call.project_id, row.scopes)
        await store.insert_client(tx, row)
        await audit.record(
            tx,
            call,
            "oauth_client.created",
            "OAuthClient",
            row.id,
            name=row.name,
            type=row.type,
            first_party=row.first_party,
            redirect_uris=row.redirect_uris,
        )
    await publish_key(call.world, call.project_id, row.id_token_signing_alg, call.now)
    return _view_with_secret(call, row, secret)


@get("/projects/{project_id}/oauth-clients/{id}", needs="projects:read", problems=[OAuthClientMissing])
async def get_oauth_client(call: Call, id: UUID) -> OAuthClient:
    """Get a client, without its secret."""
    row = require_found(await store.client(call.db, project_id=call.project_id, id=id), OAuthClientMissing)
    return _view(call, _require_environment(call, row))


@patch(
    "/projects/{project_id}/oauth-clients/{id}",
    needs="projects:write",
    problems=[OAuthClientMissing],
    example={"redirectUris": ["https://reports.example.com/callback", "http://127.0.0.1/callback"]},
)
async def change_oauth_client(call: Call, id: UUID, data: OAuthClientChange) -> OAuthClient:
    """Change a client. Fields that are left out keep their values. Honours `If-Match`.

    A removed redirect URI is refused from the next request on. Type and environment cannot be changed.
    """
    async with call.db.transaction() as tx:
        row = await _lock_client(tx, call, id)
        call.require_match(row.updated_at)
        changes = {
            name: list(dict.fromkeys(value)) if isinstance(value, list) else value  # pyright: ignore[reportUnknownArgumentType]
            for name, value in fields_set(data).items()
        }
        if data.jwks:
            changes["jwks"] = msgspec.to_builtins(data.jwks)
        changed = replace(row, **changes)
        _check(call, changed)
        if "scopes" in changes:
            await require_declared_scopes(tx, call.project_id, changed.scopes)
        changed = await store.change_client(
            tx,
            project_id=call.project_id,
            id=id,
            name=changed.name,
            first_party=changed.first_party,
            redirect_uris=changed.redirect_uris,
            post_logout_redirect_uris=changed.post_logout_redirect_uris,
            grant_types=changed.grant_types,
            scopes=changed.scopes,
            website_url=changed.website_url,
            privacy_url=changed.privacy_url,
            terms_url=changed.terms_url,
            backchannel_logout_uri=changed.backchannel_logout_uri,
            require_dpop=changed.require_dpop,
            jwks=None if changed.jwks is None else Jsonb(changed.jwks),
            jwks_uri=changed.jwks_uri,
            security_profile=changed.security_profile,
            id_token_signing_alg=changed.id_token_signing_alg,
            now=call.now,
        )
        if changed.has_key and changed.secret_hash is not None:
            changed = await store.remove_secret(tx, project_id=call.project_id, id=id)
        await audit.record(
            tx,
            call,
            "oauth_client.updated",
            "OAuthClient",
            id,
            changed=sorted(changes),
            first_party=changed.first_party,
            redirect_uris=changed.redirect_uris,
        )
    await publish_key(call.world, call.project_id, changed.id_token_signing_alg, call.now)
    return _view(call, changed)


@post(
    "/projects/{project_id}/oauth-clients/{id}/rotate-secret",
    needs="projects:write",
    problems=[OAuthClientMissing, PublicClientSecret, KeyClientSecret],
    example={"gracePeriodSeconds": 86_400},
)
async def rotate_oauth_client_secret(
    call: Call, id: UUID, data: OAuthSecretRotation | None = None
) -> OAuthClientWithSecret:
    """Create a new secret for a CONFIDENTIAL client. It is returned only here.

    The old secret works in addition for `gracePeriodSeconds` (default 24 hours, at most 7 days, 0 to end it now). If an
    even older one still works, it ends at once.
    """
    secret = new_key(SECRET_PREFIX)
    grace = timedelta(seconds=(data or OAuthSecretRotation()).grace_period_seconds)
    async with call.db.transaction() as tx:
        row = await _lock_client(tx, call, id)
        if row.type == "PUBLIC":
            raise PublicClientSecret
        if row.has_key:
            raise KeyClientSecret
        row = await store.rotate_secret(
            tx,
            project_id=call.project_id,
            id=id,
            secret_hash=secret_hash(call.world.secrets, call.project_id, secret),
            last_four=secret[-4:],
            previous_expires_at=Moment.of(call.now + grace),
            now=call.now,
        )
        await audit.record(
            tx,
            call,
            "oauth_client.secret_rotated",
            "OAuthClient",
            id,
            grace_period_seconds=int(grace.total_seconds()),
        )
    return _view_with_secret(call, row, secret)


@delete("/projects/{project_id}/oauth-clients/{id}", needs="projects:write", problems=[OAuthClientMissing])
async def delete_oauth_client(call: Call, id: UUID) -> Deleted:
    """Delete a client with its consents. Its codes and refresh tokens stop working at once, access tokens that its APIs
    check offline within ten minutes. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        row = await _lock_client(tx, call, id)
        call.require_match(row.updated_at)
        await store.delete_client(tx, project_id=call.project_id, id=id)
        await audit.record(tx, call, "oauth_client.deleted", "OAuthClient", id, name=row.name)
    return Deleted()


@get("/projects/{project_id}/customers/{id}/oauth-consents", needs="customers:read")
async def list_customer_consents(call: Call, id: UUID) -> list[OAuthConsent]:
    """List the clients that a customer has allowed something. Empty for an unknown customer."""
    return await store.consents_of(call.db, project_id=call.project_id, customer_id=id, limit=CLIENTS_PER_PROJECT)


@delete(
    "/projects/{project_id}/customers/{id}/oauth-consents/{client_id}",
    needs="customers:write",
    problems=[OAuthConsentMissing],
)
async def revoke_customer_consent(call: Call, id: UUID, client_id: UUID) -> Removed:
    """Withdraw the consent of a customer to a client, whose refresh tokens for this customer end. The customer is asked
    again at the next sign-in."""
    async with call.db.transaction() as tx:
        await _revoke_consent(tx, call, id, client_id)
        await audit.record(tx, call, "oauth_consent.revoked", "Customer", id, client_id=str(client_id))
    return Removed()


@get("/projects/{project_id}/auth/consents", accepts=CUSTOMER, restricted=True)
async def list_my_consents(call: Call) -> list[OAuthConsent]:
    """The clients that you have allowed something."""
    customer_id, _ = bearer_of(call)
    return await store.consents_of(
        call.db, project_id=call.project_id, customer_id=customer_id, limit=CLIENTS_PER_PROJECT
    )


async def scope_texts(call: Call, scopes: Collection[str]) -> dict[str, str | Text]:
    """What each of these scopes allows, as the consent page says it."""
    names = sorted(scopes)
    permissions = await access.descriptions_of_permissions(call.db, call.project_id, permission_scopes(names))
    return dict(zip(names, described_scopes(names, permissions), strict=True))


async def publishers_of(call: Call, client_ids: list[UUID]) -> dict[UUID, str]:
    """The hosts that publish the metadata of these clients, which chose their names; without other clients."""
    clients = await store.published_clients(call.db, project_id=call.project_id, ids=client_ids)
    return {client.id: host_of(client) for client in clients}


@delete("/projects/{project_id}/auth/consents/{client_id}", accepts=CUSTOMER, problems=[OAuthConsentMissing])
async def revoke_my_consent(call: Call, client_id: UUID) -> Removed:
    """Withdraw your consent to a client. Its refresh tokens end, and you are asked again at the next sign-in."""
    customer_id, _ = bearer_of(call)
    async with call.db.transaction() as tx:
        await _revoke_consent(tx, call, customer_id, client_id)
    return Removed()


async def _revoke_consent(tx: Transaction, call: Call, customer_id: UUID, client_id: UUID) -> None:
    ids = {"project_id": call.project_id, "customer_id": customer_id, "client_id": client_id}
    if not await store.delete_consent(tx, **ids):
        raise OAuthConsentMissing
    await store.revoke_grants(tx, **ids, now=call.now)


async def _lock_client(tx: Transaction, call: Call, id: UUID) -> ClientRow:
    """Lock a client for a change. Raises OAuthClientMissing, and LiveKeyRequired for a LIVE client and a TEST key."""
    row = require_found(await store.lock_client(tx, project_id=call.project_id, id=id), OAuthClientMissing)
    return _require_environment(call, row)


def _require_environment(call: Call, row: ClientRow) -> ClientRow:
    """Raises OAuthClientMissing if a TEST key asks for a LIVE client."""
    if call.caller.environment == "TEST" and not row.is_test:
        raise OAuthClientMissing
    return row


def _check(call: Call, row: ClientRow) -> None:
    """Raises Invalid unless the fields of a client fit together."""
    for field, uris in (("redirectUris", row.redirect_uris), ("postLogoutRedirectUris", row.post_logout_redirect_uris)):
        for index, uri in enumerate(uris):
            check_redirect_uri(uri, row.type, f"/{field}/{index}")
    if "authorization_code" in row.grant_types:
        if not row.redirect_uris:
            raise Invalid.at("/redirectUris", "`authorization_code` needs at least one redirect URI.", "required")
    elif "refresh_token" in row.grant_types and DEVICE_GRANT not in row.grant_types:
        raise Invalid.at("/grantTypes", "`refresh_token` needs a grant type that issues the first one.")
    for field, uri in (("backchannelLogoutUri", row.backchannel_logout_uri), ("jwksUri", row.jwks_uri)):
        try:
            if uri is not None:
                check_outbound_url(uri, call.world.settings.outbound_allow)
        except AddressRefused as refused:
            raise Invalid.at(f"/{field}", str(refused), "url_refused") from None
    if row.jwks is not None:
        check_keys(row.jwks, client_algorithms(row))
        if row.jwks_uri is not None:
            raise Invalid.at("/jwksUri", "A client has either `jwks` or `jwksUri`.")
    if row.has_key and row.type == "PUBLIC":
        raise Invalid.at("/jwksUri" if row.jwks is None else "/jwks", "A PUBLIC client cannot keep a private key.")
    if row.is_fapi:
        check_fapi(row)
    if row.self_registered and row.first_party:
        raise Invalid.at("/firstParty", "A client that has registered itself does not belong to the project.")
    if "client_credentials" in row.grant_types and row.type == "PUBLIC":
        raise Invalid.at("/grantTypes", "A PUBLIC client cannot use `client_credentials`: it has no secret.")


async def require_declared_scopes(db: Queries, project_id: UUID, scopes: Sequence[str]) -> None:
    """Raises Invalid unless each scope is a standard one or a permission that the project has declared."""
    keys = permission_scopes(scopes)
    declared = await access.descriptions_of_permissions(db, project_id, keys)
    for key in keys:
        if key not in declared:
            message = f"`{key}` is neither a standard scope nor a permission that the project has declared."
            raise Invalid.at(f"/scopes/{scopes.index(key)}", message, "undeclared_permission")


def _view(call: Call, row: ClientRow) -> OAuthClient:
    return build_view(OAuthClient, row, client_id=row.client_id, issuer=issuer_of(call.world, call.project_id))


def _view_with_secret(call: Call, row: ClientRow, secret: str | None) -> OAuthClientWithSecret:
    issuer = issuer_of(call.world, call.project_id)
    return build_view(OAuthClientWithSecret, row, client_id=row.client_id, issuer=issuer, client_secret=secret)
