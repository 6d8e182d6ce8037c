"""HTTP operations on single sign-on connections for administrators."""

from collections.abc import Sequence
from typing import Any
from uuid import UUID

from msgspec import UNSET
from msgspec.structs import replace

from postern.identity.access import operations as access
from postern.identity.access.model import RoleUnknown
from postern.identity.organizations.domains import owner_of_domain
from postern.identity.organizations.model import OrganizationMissing, OrganizationRef
from postern.identity.organizations.operations import lock_organization, require_organization, require_sso_works_after
from postern.identity.sso import keys, rules, store
from postern.identity.sso.metadata_import import import_metadata
from postern.identity.sso.model import (
    CONNECTIONS_PER_ORGANIZATION,
    DEFAULT_SCOPES,
    GROUPS_LIMIT,
    IDP_COLUMNS,
    METADATA_REFRESH_INTERVAL,
    NEXT_STATUS,
    OIDC_FIELDS,
    SAML_FIELDS,
    TEST_LIFE,
    TESTED_COLUMNS,
    ConnectionAction,
    ConnectionKind,
    ConnectionRow,
    IdpCertificate,
    KeyPlace,
    KeyRow,
    MetadataUnreachable,
    NewSsoConnection,
    Options,
    SamlOnly,
    SpCertificate,
    SsoConnection,
    SsoConnectionChange,
    SsoConnectionDraft,
    SsoConnectionIncomplete,
    SsoConnectionMissing,
    SsoConnectionWithOrganization,
    SsoDomainServed,
    SsoTest,
    SsoTrace,
    TooManySsoConnections,
)
from postern.identity.sso.oidc_secrets import seal_client_secret
from postern.identity.sso.service_provider import login_url_of, metadata_of, oidc_urls_of, test_url, urls_of
from postern.identity.sso.store import ConnectionWithOrganization
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, linked_list, newest_first
from postern.kernel.http.problems import Invalid, ProblemError
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Moment, Removed, build_view, new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.sso_check import SsoStillRequired
from postern.protocols.saml.certificates import read_certificate
from postern.protocols.saml.metadata import SamlMetadataRefused, SamlMetadataTooLarge

# In the paths, `id` is the id of the organization, and `conn_id` that of the connection.
CONNECTIONS = "/projects/{project_id}/b2b/organizations/{id}/sso-connections"
CONNECTION = f"{CONNECTIONS}/{{conn_id}}"
MISSING = (OrganizationMissing, SsoConnectionMissing)
IMPORT_PROBLEMS = (SamlMetadataRefused, SamlMetadataTooLarge, MetadataUnreachable)
URL_COLUMNS = ("idp_sso_url", "idp_slo_url", "idp_slo_response_url")


@get("/projects/{project_id}/b2b/sso-connections", needs="sso:read")
async def list_all_sso_connections(
    call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[SsoConnectionWithOrganization]:
    """List the connections of all organizations of the project, newest first, each with its organization."""
    scope = "sso_connections"
    before = before_id(call, scope, cursor)
    rows = await store.list_connections(
        call.db, project_id=call.project_id, organization_id=None, id=None, before=before, limit=limit + 1
    )
    return linked_list(call, scope, await _with_organizations(call, rows), limit)


@get(CONNECTIONS, needs="sso:read", problems=(OrganizationMissing,))
async def list_sso_connections(
    call: Call, id: UUID, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[SsoConnection]:
    """List the connections of an organization, newest first."""
    await require_organization(call.db, call, id)
    scope = f"sso_connections|{id}"
    before = before_id(call, scope, cursor)
    rows = await store.list_connections(
        call.db, project_id=call.project_id, organization_id=id, id=None, before=before, limit=limit + 1
    )
    return linked_list(call, scope, await _as_connections(call, call.db, rows), limit)


@post(
    CONNECTIONS,
    needs="sso:write",
    status=201,
    problems=(OrganizationMissing, TooManySsoConnections, RoleUnknown, *IMPORT_PROBLEMS),
    example={
        "name": "Acme Okta",
        "domain": "acme.example",
        "idpMetadataUrl": "https://acme.okta.com/app/abc/sso/saml/metadata",
    },
    response_example={"status": "DRAFT", "testedAt": None},
)
async def create_sso_connection(call: Call, id: UUID, data: NewSsoConnection) -> SsoConnection:
    """Create a connection as DRAFT, by SAML, or with `kind: OIDC` by OpenID Connect.

    SAML: set the identity provider's metadata now or later: as XML, by URL, or field by field. Enter `spEntityId` and
    `spAcsUrl`, or `spMetadataUrl`, at the identity provider. The service provider keys are generated.

    OpenID Connect: set `oidcIssuer`, `oidcClientId` and `oidcClientSecret`, and enter `oidcRedirectUrl` at the
    provider.

    Try the connection with `test`; then `activate` it.
    """
    await require_organization(call.db, call, id)
    metadata_columns = await _metadata_columns(call, data)
    row = _validate(call, _with_changes(call, _new_draft(call, id, data.kind), data, metadata_columns))
    places: tuple[KeyPlace, ...] = ("CURRENT", "NEXT") if row.kind == "SAML" else ()
    key_pairs = [await keys.new_key_pair(row.id, call.now) for _ in places]
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, id)
        if (
            await store.count_connections(tx, project_id=call.project_id, organization_id=id)
            >= CONNECTIONS_PER_ORGANIZATION
        ):
            raise TooManySsoConnections
        await _check_references(tx, call, row)
        await store.insert_connection(tx, row)
        for place, key_pair in zip(places, key_pairs, strict=True):
            await keys.insert_key(tx, call, row.id, place, key_pair)
        await _schedule_refresh(tx, call, row.id, metadata_columns)
        await audit.record(tx, call, "sso_connection.created", "SsoConnection", row.id, domain=row.domain)
        return await _get_connection(tx, call, id, row.id)


@get(CONNECTION, needs="sso:read", problems=MISSING)
async def get_sso_connection(call: Call, id: UUID, conn_id: UUID) -> SsoConnection:
    """Get a connection, with the values to enter at the identity provider and its pinned certificates."""
    return await _get_connection(call.db, call, id, conn_id)


@patch(
    CONNECTION,
    needs="sso:write",
    problems=(*MISSING, SsoConnectionIncomplete, SsoDomainServed, RoleUnknown, *IMPORT_PROBLEMS),
    example={"groupRoles": {"platform-admins": ["ADMIN"]}, "requireEncryption": True},
)
async def change_sso_connection(call: Call, id: UUID, conn_id: UUID, data: SsoConnectionChange) -> SsoConnection:
    """Change a connection. Omitted fields keep their values. Honours `If-Match`.

    `idpMetadataXml` or `idpMetadataUrl` sets every field whose name begins with `idp` from the metadata; `idp` fields
    in the same request take precedence. `testedAt` becomes null if the change invalidates the test.

    A change that would make an ACTIVE connection incomplete returns 409; deactivate it first. If this connection is
    ACTIVE and another organization, which has lost the domain, still has an active connection for it, the connection of
    the other organization is deactivated.
    """
    await require_organization(call.db, call, id)
    metadata_columns = await _metadata_columns(call, data)
    async with call.db.transaction() as tx:
        old_row = await _lock_connection(tx, call, id, conn_id)
        call.require_match(old_row.updated_at)
        row = _validate(call, _with_changes(call, old_row, data, metadata_columns))
        await _check_references(tx, call, row)
        if row.status == "ACTIVE":
            await _require_complete(tx, call, row)
        test_still_valid = all(getattr(row, name) == getattr(old_row, name) for name in TESTED_COLUMNS)
        # New certificates need a new time for the expiry warning.
        certificates_unchanged = row.idp_certificate == old_row.idp_certificate
        tested_at = old_row.tested_at if test_still_valid else None
        due_at = old_row.due_at if certificates_unchanged else await _first_warning_at(tx, call, row)
        await store.update_connection(tx, replace(row, tested_at=tested_at, due_at=due_at), now=call.now)
        if not certificates_unchanged:
            tx.mark_due("sso_connections", call.project_id)
        await _schedule_refresh(tx, call, conn_id, metadata_columns)
        changed = [
            rules.json_name_of(name)
            for name in ("name", "domain", *IDP_COLUMNS, "oidc_client_id", "oidc_client_secret", "options")
            if getattr(row, name) != getattr(old_row, name)
        ]
        await audit.record(tx, call, "sso_connection.updated", "SsoConnection", conn_id, changed=changed)
        return await _get_connection(tx, call, id, conn_id)


@delete(CONNECTION, needs="sso:write", problems=(*MISSING, SsoStillRequired))
async def delete_sso_connection(call: Call, id: UUID, conn_id: UUID) -> Removed:
    """Delete a connection with its keys. Customers who used it stay and can use other sign-in methods.

    Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        # Not for a quota: this lock serialises the changes that may disable the last working connection.
        await tx.lock_quota("required sso", call.project_id)
        row = await _lock_connection(tx, call, id, conn_id)
        call.require_match(row.updated_at)
        async with require_sso_works_after(tx, call, id):
            await store.delete_connection(tx, project_id=call.project_id, id=conn_id)
        if row.status == "ACTIVE":
            await events.record(tx, call, "sso.deactivated", conn_id, organizationId=str(id), domain=row.domain)
        await audit.record(tx, call, "sso_connection.deleted", "SsoConnection", conn_id, domain=row.domain)
    return Removed()


@get(f"{CONNECTION}/metadata.xml", needs="sso:read", media_types=("application/xml",), problems=(*MISSING, SamlOnly))
async def get_sso_metadata(call: Call, id: UUID, conn_id: UUID) -> HttpResponse:
    """Get the service provider metadata: URLs, and the certificates of the CURRENT and the NEXT key."""
    _require_saml(await _require_connection(call.db, call, id, conn_id))
    sp_keys = await store.keys(call.db, project_id=call.project_id, connection_ids=[conn_id])
    return HttpResponse(metadata_of(urls_of(call.world, conn_id), sp_keys), media_type="application/xml")


@post(f"{CONNECTION}/activate", needs="sso:write", problems=(*MISSING, SsoConnectionIncomplete, SsoDomainServed))
async def activate_sso_connection(call: Call, id: UUID, conn_id: UUID) -> SsoConnection:
    """Activate a connection.

    The connection needs the identity provider's entity id, an https sign-on URL and a certificate that has not expired,
    or for OpenID Connect an issuer and a client id; and a VERIFIED domain of the organization equal to `domain`.
    Otherwise the response is 409 with the missing parts in
    `errors`. Only one active connection can serve a domain. If another organization, which has lost the domain, still
    has an active connection for it, the connection of the other organization is deactivated. Honours `If-Match`.
    """
    return await _change_status(call, id, conn_id, "ACTIVATE")


@post(
    f"{CONNECTION}/deactivate",
    needs="sso:write",
    problems=(*MISSING, SsoConnectionDraft, SsoStillRequired),
    response_example={"status": "INACTIVE"},
)
async def deactivate_sso_connection(call: Call, id: UUID, conn_id: UUID) -> SsoConnection:
    """Deactivate a connection. Existing sessions continue.

    Returns 409 if single sign-on is required and this is the only working connection. Honours `If-Match`.
    """
    return await _change_status(call, id, conn_id, "DEACTIVATE")


@post(f"{CONNECTION}/rotate-certificate", needs="sso:write", problems=(*MISSING, SamlOnly))
async def rotate_sso_certificate(call: Call, id: UUID, conn_id: UUID) -> SsoConnection:
    """Rotate the keys: NEXT becomes CURRENT and signs from now on, and a new NEXT is published.

    Do this after the identity provider has imported the NEXT certificate from the metadata. Messages encrypted for the
    previous key can be decrypted until the next rotation. Honours `If-Match`.
    """
    key_pair = await keys.new_key_pair(conn_id, call.now)
    async with call.db.transaction() as tx:
        row = await _lock_connection(tx, call, id, conn_id)
        call.require_match(row.updated_at)
        _require_saml(row)
        await keys.rotate_keys(tx, call, conn_id, key_pair)
        due_at = await _first_warning_at(tx, call, row)
        # The status stays; only the time of the next certificate warning changes.
        await store.set_status(
            tx, project_id=call.project_id, id=conn_id, status=row.status, due_at=due_at, now=call.now
        )
        tx.mark_due("sso_connections", call.project_id)
        await audit.record(tx, call, "sso_connection.certificate_rotated", "SsoConnection", conn_id)
        return await _get_connection(tx, call, id, conn_id)


@post(f"{CONNECTION}/test", needs="sso:write", problems=(*MISSING, SsoConnectionIncomplete))
async def test_sso_connection(call: Call, id: UUID, conn_id: UUID) -> SsoTest:
    """Create a link to test the connection, even if it is not active: open the link in a browser and sign on.

    The final page and the operation `…/traces` show every check and the resulting profile. No customer is created
    or signed in. The link is valid for an hour.
    """
    row = await _require_connection(call.db, call, id, conn_id)
    # Only missing settings prevent a test; the traces of the test report an expired certificate.
    errors = rules.missing_parts(row, domain_verified=True, now=call.now)
    missing = [error for error in errors if error.code == "missing"]
    if missing:
        raise SsoConnectionIncomplete(errors=missing)
    async with call.db.transaction() as tx:
        await audit.record(tx, call, "sso_connection.test_started", "SsoConnection", conn_id)
    expires_at = call.now + TEST_LIFE
    return SsoTest(url=test_url(call.world, row.kind, conn_id, expires_at), expires_at=expires_at)


@get(f"{CONNECTION}/traces", needs="sso:read", problems=MISSING)
async def list_sso_traces(
    call: Call, id: UUID, conn_id: UUID, limit: ListLimit = 100, cursor: Cursor | None = None
) -> LinkedList[SsoTrace]:
    """List the checks of the latest sign-ons, tests and logouts, newest first. They are kept for seven days."""
    await _require_connection(call.db, call, id, conn_id)
    scope = f"sso_traces|{conn_id}"
    return await newest_first(call, scope, cursor, limit, store.traces, connection_id=conn_id)


def as_connection(call: Call, row: ConnectionWithOrganization, sp_keys: Sequence[KeyRow]) -> SsoConnection:
    """A connection as the API returns it. `sp_keys` are its service provider keys, among them CURRENT."""
    is_saml = row.kind == "SAML"
    urls = urls_of(call.world, row.id)
    oidc_urls = None if is_saml else oidc_urls_of(call.world, row.id)
    options = {name: getattr(row.options, name) for name in Options.__struct_fields__}
    if not is_saml:
        options["oidc_scopes"] = row.options.oidc_scopes or DEFAULT_SCOPES
    return build_view(
        SsoConnection,
        row,
        held=_reason_not_working(row),  # `held` in the API is the reason, not a flag.
        idp_certificates=[_idp_certificate(pem, call) for pem in row.idp_certificate],
        # In the contract these are texts that are never null, so they are empty for OpenID Connect.
        sp_certificate=next(key.certificate for key in sp_keys if key.place == "CURRENT") if is_saml else "",
        sp_certificates=[_sp_certificate(key) for key in sp_keys],
        sp_entity_id=urls.entity_id if is_saml else "",
        sp_acs_url=urls.acs_url if is_saml else "",
        sp_slo_url=urls.slo_url if is_saml else "",
        sp_metadata_url=urls.metadata_url if is_saml else "",
        idp_entity_id=row.idp_entity_id if is_saml else None,
        oidc_issuer=None if is_saml else row.idp_entity_id,
        oidc_has_secret=row.oidc_client_secret is not None,
        oidc_redirect_url=oidc_urls.redirect_url if oidc_urls else None,
        oidc_post_logout_redirect_url=oidc_urls.post_logout_redirect_url if oidc_urls else None,
        oidc_backchannel_logout_url=oidc_urls.backchannel_logout_url if oidc_urls else None,
        login_url=login_url_of(call.world, row.kind, row.id),
        **options,
    )


async def _as_connections(call: Call, db: Queries, rows: Sequence[ConnectionWithOrganization]) -> list[SsoConnection]:
    """The connections as the API returns them, in the order of the rows."""
    ids = [row.id for row in rows]
    sp_keys = await store.keys(db, project_id=call.project_id, connection_ids=ids) if ids else []
    return [as_connection(call, row, [key for key in sp_keys if key.connection_id == row.id]) for row in rows]


async def _with_organizations(
    call: Call, rows: Sequence[ConnectionWithOrganization]
) -> list[SsoConnectionWithOrganization]:
    connections = await _as_connections(call, call.db, rows)
    return [
        build_view(
            SsoConnectionWithOrganization,
            connection,
            organization=OrganizationRef(
                id=row.organization_id, name=row.organization_name, slug=row.organization_slug
            ),
        )
        for connection, row in zip(connections, rows, strict=True)
    ]


def _reason_not_working(row: ConnectionWithOrganization) -> str | None:
    """Why an active connection does not work now, as `held` returns it; None if it works or is not active."""
    if row.status != "ACTIVE":
        return None
    if row.organization_status != "ACTIVE":
        return "ORGANIZATION_SUSPENDED"
    return None if row.domain_verified else "DOMAIN_NOT_VERIFIED"


def _idp_certificate(pem: str, call: Call) -> IdpCertificate:
    certificate = read_certificate(pem)
    return IdpCertificate(
        subject=certificate.subject,
        fingerprint=certificate.fingerprint,
        expires_at=Moment.of(certificate.not_after),
        expired=certificate.not_after <= call.now,
    )


def _sp_certificate(row: KeyRow) -> SpCertificate:
    certificate = read_certificate(row.certificate)
    return SpCertificate(
        place=row.place, certificate=row.certificate, fingerprint=certificate.fingerprint, expires_at=row.not_after
    )


async def _require_connection(
    db: Queries, call: Call, organization_id: UUID, connection_id: UUID
) -> ConnectionWithOrganization:
    rows = await store.list_connections(
        db, project_id=call.project_id, organization_id=organization_id, id=connection_id, before=None, limit=1
    )
    if not rows:
        await require_organization(db, call, organization_id)
        raise SsoConnectionMissing
    return rows[0]


async def _get_connection(db: Queries, call: Call, organization_id: UUID, connection_id: UUID) -> SsoConnection:
    return (await _as_connections(call, db, [await _require_connection(db, call, organization_id, connection_id)]))[0]


async def _lock_connection(tx: Transaction, call: Call, organization_id: UUID, connection_id: UUID) -> ConnectionRow:
    row = await store.lock_connection(tx, project_id=call.project_id, organization_id=organization_id, id=connection_id)
    if row is None:
        await require_organization(tx, call, organization_id)
        raise SsoConnectionMissing
    return row


def _require_saml(row: ConnectionRow) -> None:
    """Raise SamlOnly for a connection by OpenID Connect."""
    if row.kind != "SAML":
        raise SamlOnly


def _new_draft(call: Call, organization_id: UUID, kind: ConnectionKind) -> ConnectionRow:
    return ConnectionRow(
        project_id=call.project_id,
        id=new_id(),
        organization_id=organization_id,
        kind=kind,
        name="",
        domain="",
        status="DRAFT",
        idp_entity_id=None,
        idp_sso_url=None,
        idp_sso_binding="REDIRECT",
        idp_slo_url=None,
        idp_slo_binding="REDIRECT",
        idp_slo_response_url=None,
        idp_certificate=[],
        idp_metadata_url=None,
        oidc_client_id=None,
        oidc_client_secret=None,
        options=Options(),
        tested_at=None,
        created_at=call.now,
        updated_at=call.now,
        due_at=None,
        attempt=0,
    )


async def _metadata_columns(call: Call, data: NewSsoConnection | SsoConnectionChange) -> dict[str, Any]:
    """The values of the columns that `idpMetadataXml` or `idpMetadataUrl` in a request sets; empty if it has neither. A
    null `idpMetadataUrl` only removes the stored URL. Raises the problems of `import_metadata`.

    Call this outside transactions, because it may fetch the URL.
    """
    xml, url = data.idp_metadata_xml, data.idp_metadata_url
    if xml is UNSET and url in (UNSET, None):
        return {} if url is UNSET else {"idp_metadata_url": None}
    if xml is not UNSET and url not in (UNSET, None):
        raise Invalid.at("/idpMetadataUrl", "Set `idpMetadataXml` or `idpMetadataUrl`, not both.", "conflicting")
    entity_id = data.idp_entity_id if isinstance(data.idp_entity_id, str) else None
    return await import_metadata(
        call.world,
        call.now,
        xml=xml if isinstance(xml, str) else None,
        url=url if isinstance(url, str) else None,
        entity_id=entity_id,
    )


async def _schedule_refresh(tx: Transaction, call: Call, connection_id: UUID, metadata_columns: dict[str, Any]) -> None:
    """Schedule the refresh of metadata that was fetched from a URL; end the refresh if the URL was removed."""
    if metadata_columns.get("idp_metadata_url") is not None:
        due_at = Moment.of(call.now + METADATA_REFRESH_INTERVAL)
        await store.upsert_metadata(
            tx, project_id=call.project_id, id=connection_id, read_at=call.now, looked_at=call.now, due_at=due_at
        )
    elif "idp_metadata_url" in metadata_columns:
        await store.delete_metadata(tx, project_id=call.project_id, id=connection_id)


def _with_changes(
    call: Call, row: ConnectionRow, data: NewSsoConnection | SsoConnectionChange, metadata_columns: dict[str, Any]
) -> ConnectionRow:
    """The row with the columns from the metadata and the fields of the request. Fields of the request take
    precedence. Raises Invalid for fields of the other kind of connections."""
    for name in SAML_FIELDS if row.kind == "OIDC" else OIDC_FIELDS:
        if getattr(data, name) is not UNSET:
            message = f"This field is not for connections of the kind {row.kind}."
            raise Invalid.at(f"/{rules.json_name_of(name)}", message, "not_for_kind")
    change = {**metadata_columns, **_oidc_columns(call, row, data)}
    for name in ("name", *IDP_COLUMNS):
        value = getattr(data, name)
        if value is not UNSET and name not in ("idp_metadata_url", "idp_certificate"):
            change[name] = value
    if data.domain is not UNSET:
        change["domain"] = rules.as_connection_domain(data.domain)
    if data.idp_certificate is not UNSET:
        change["idp_certificate"] = [certificate.pem for certificate in rules.as_certificates(data.idp_certificate)]
    options = {name: value for name in Options.__struct_fields__ if (value := getattr(data, name)) is not UNSET}
    return replace(row, **change, options=replace(row.options, **options))


def _oidc_columns(call: Call, row: ConnectionRow, data: NewSsoConnection | SsoConnectionChange) -> dict[str, Any]:
    """The values of the columns that the fields for OpenID Connect in a request set. Raises Invalid."""
    columns: dict[str, Any] = {}
    if data.oidc_issuer is not UNSET:
        columns["idp_entity_id"] = data.oidc_issuer
    if data.oidc_client_id is not UNSET:
        columns["oidc_client_id"] = data.oidc_client_id
    secret = data.oidc_client_secret
    if secret is not UNSET:
        columns["oidc_client_secret"] = None if secret is None else seal_client_secret(call, row.id, secret)
    elif row.oidc_client_secret is not None and columns.get("idp_entity_id", row.idp_entity_id) != row.idp_entity_id:
        # Otherwise a developer who cannot read the secret could have it sent to an issuer of their own.
        message = "Send the client secret again when you change the issuer."
        raise Invalid.at("/oidcClientSecret", message, "required")
    if isinstance(data.oidc_scopes, str) and "openid" not in data.oidc_scopes.split(" "):
        raise Invalid.at("/oidcScopes", "The scopes must contain `openid`.", "required")
    return columns


def _validate(call: Call, row: ConnectionRow) -> ConnectionRow:
    """Validate the URLs and groups of a row; returns the row. Raises Invalid."""
    allow_http = bool(call.world.settings.outbound_allow)
    for name in URL_COLUMNS:
        url: str | None = getattr(row, name)
        if url is not None:
            rules.require_web_url(url, f"/{rules.json_name_of(name)}", allow_http=allow_http)
    if row.kind == "OIDC" and row.idp_entity_id is not None:
        rules.require_issuer(row.idp_entity_id, "/oidcIssuer", allow_http=allow_http)
    if len(row.options.group_roles) > GROUPS_LIMIT:
        raise Invalid.at("/groupRoles", f"At most {GROUPS_LIMIT} groups are allowed.", "too_many")
    return row


async def _check_references(tx: Transaction, call: Call, row: ConnectionRow) -> None:
    """Raise RoleUnknown or Invalid if the project does not have the roles or the default redirect URL."""
    options = row.options
    await access.require_roles(tx, call.project_id, "ORGANIZATION", options.default_roles, path="/defaultRoles")
    for group, roles in options.group_roles.items():
        escaped = group.replace("~", "~0").replace("/", "~1")
        await access.require_roles(tx, call.project_id, "ORGANIZATION", roles, path=f"/groupRoles/{escaped}")
    if options.default_redirect_url is not None:
        project = await projects.require_project(tx, call.project_id)
        if options.default_redirect_url not in project.settings.sign_in.redirect_urls:
            message = "This URL is not among the project's `redirectUrls`."
            raise Invalid.at("/defaultRedirectUrl", message, "not_allowed")


async def _change_status(
    call: Call, organization_id: UUID, connection_id: UUID, action: ConnectionAction
) -> SsoConnection:
    async with call.db.transaction() as tx:
        if action == "DEACTIVATE":
            # Not for a quota: this lock serialises the changes that may disable the last working connection.
            await tx.lock_quota("required sso", call.project_id)
        row = await _lock_connection(tx, call, organization_id, connection_id)
        call.require_match(row.updated_at)
        status = NEXT_STATUS[row.status, action]
        if status is None:
            raise SsoConnectionDraft
        changed_row = replace(row, status=status)
        if action == "ACTIVATE":
            await _require_complete(tx, call, changed_row)
        if status != row.status:
            due_at = await _first_warning_at(tx, call, changed_row)
            async with require_sso_works_after(tx, call, organization_id):
                await store.set_status(
                    tx, project_id=call.project_id, id=connection_id, status=status, due_at=due_at, now=call.now
                )
            tx.mark_due("sso_connections", call.project_id)
            verb = "activated" if action == "ACTIVATE" else "deactivated"
            await events.record(
                tx, call, f"sso.{verb}", connection_id, organizationId=str(organization_id), domain=row.domain
            )
            await audit.record(tx, call, f"sso_connection.{verb}", "SsoConnection", connection_id, domain=row.domain)
        return await _get_connection(tx, call, organization_id, connection_id)


async def _require_complete(tx: Transaction, call: Call, row: ConnectionRow) -> None:
    """Raise SsoConnectionIncomplete or SsoDomainServed if the connection cannot be active.

    If an organization that has lost the domain still has an active connection for it, that connection is deactivated.
    """
    owner_id = await owner_of_domain(tx, call.project_id, row.domain)
    errors = rules.missing_parts(row, domain_verified=owner_id == row.organization_id, now=call.now)
    if errors:
        raise SsoConnectionIncomplete(
            "The connection is incomplete: " + " ".join(error.message for error in errors), errors=errors
        )
    await store.lock_activation(tx, project_id=call.project_id, domain=row.domain)
    active = await store.active_connection_of_domain(tx, project_id=call.project_id, domain=row.domain)
    if active is None or active.id == row.id:
        return
    if active.organization_id == row.organization_id:
        error = ProblemError(path="/domain", code="domain_served", message=SsoDomainServed.message())
        raise SsoDomainServed(errors=[error])
    await _deactivate_after_domain_loss(tx, call, active, row.domain)


async def _deactivate_after_domain_loss(
    tx: Transaction, call: Call, connection: store.ServingConnection, domain: str
) -> None:
    """Deactivate the connection of an organization that has lost the domain, and record `sso.deactivated`."""
    await store.set_status(
        tx, project_id=call.project_id, id=connection.id, status="INACTIVE", due_at=None, now=call.now
    )
    organization_id = str(connection.organization_id)
    await events.record(
        tx, call, "sso.deactivated", connection.id, organizationId=organization_id, domain=domain, reason="DOMAIN_LOST"
    )


async def _first_warning_at(tx: Transaction, call: Call, row: ConnectionRow) -> Moment | None:
    """When to warn first that a certificate expires: the value of `due_at`; None if the connection is not active, or
    has no certificates because it is by OpenID Connect."""
    if row.kind == "OIDC":
        return None
    sp_keys = await store.keys(tx, project_id=call.project_id, connection_ids=[row.id])
    return rules.first_warning_at(row, next(key.not_after for key in sp_keys if key.place == "CURRENT"), call.now)
