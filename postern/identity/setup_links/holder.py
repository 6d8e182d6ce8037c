"""What the holder of a setup link can do: the same functions as the API, for one organization and the permitted steps.

The first browser that opens a link is bound to it by a cookie. Its changes are those of the actor type `SETUP_LINK`.
"""

import hmac
from dataclasses import dataclass, replace
from typing import Any
from uuid import UUID

import msgspec

from postern.identity.customers.sign_in import ATTEMPTS, project_of_call
from postern.identity.oauth.browsers import live_session, renew_session
from postern.identity.oauth.model import SignedInCustomer
from postern.identity.oauth.tokens import meets_requirements
from postern.identity.organizations import domains, members
from postern.identity.organizations.model import (
    NewOrganizationDomain,
    Organization,
    OrganizationDomain,
    OrganizationDomainMissing,
    OrganizationMemberMissing,
    OrganizationSuspended,
)
from postern.identity.organizations.operations import lock_organization, require_organization
from postern.identity.setup_links import store
from postern.identity.setup_links.guides import GUIDES
from postern.identity.setup_links.model import (
    RATE,
    USE_NOTED_EVERY,
    Provider,
    SetupConnectionActive,
    SetupLinkClosed,
    SetupLinkInUse,
    SetupLinkMissing,
    SetupLinkOwnerRequired,
    SetupLinkRow,
    SetupStepNotAllowed,
    SetupTestMissing,
    Step,
)
from postern.identity.setup_links.operations import create_link_of_member, token_hash
from postern.identity.sso import operations as sso
from postern.identity.sso.model import (
    NewSsoConnection,
    SsoConnection,
    SsoConnectionChange,
    SsoConnectionMissing,
    SsoTest,
    SsoTrace,
)
from postern.kernel.http.call import Call, Caller, etag
from postern.kernel.http.cookies import cookie, cookie_name
from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import Invalid
from postern.kernel.values import as_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.security.attempts import throttle
from postern.security.secrets import new_token

COOKIE = "postern-setup-"
"""Prefix of the names of the cookies that bind a link to the browser that has opened it."""
ID_LENGTH = 36
"""Characters of the id of the link at the beginning of its token."""
PERMISSIONS = {"DOMAIN": "organizations:write", "SSO": "sso:write", "SCIM": "scim:write"}


@dataclass(frozen=True)
class Holder:
    """A browser that has opened a link."""

    call: Call
    """The request as that of the link, with the permissions of its steps."""
    link: SetupLinkRow
    organization: Organization
    return_url: str = ""
    """Where the app wants a member back, who came from the page of the organization; "" if it did not say."""

    def require_step(self, step: Step) -> None:
        """Raise SetupStepNotAllowed unless the link permits the step."""
        if step not in self.link.steps:
            raise SetupStepNotAllowed


async def link_of_token(call: Call, token: str) -> tuple[SetupLinkRow, Organization, SignedInCustomer | None]:
    """The link of a token, its organization and, for a link of a member, the member. Raises SetupLinkMissing,
    SetupLinkClosed and SetupLinkOwnerRequired."""
    throttle(call, ATTEMPTS)
    link_id = as_id(token[:ID_LENGTH])
    row = await store.get_link(call.db, project_id=call.project_id, id=link_id)
    if row is None or not hmac.compare_digest(row.token_hash, token_hash(call, link_id, token[ID_LENGTH:])):
        raise SetupLinkMissing
    return row, *await _require_open(call, row)


async def open_link(call: Call, request: RawRequest, token: str) -> tuple[UUID, str | None]:
    """Bind a link to this browser, or continue in the browser to which it is bound. Returns the id of the link, and the
    cookie to set.

    Raises SetupLinkMissing, SetupLinkClosed, and SetupLinkInUse if the link was opened in another browser.
    """
    row, _, owner = await link_of_token(call, token)
    _throttle(call, row)
    holder_call = await _call_of(call, row, owner)
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, row.organization_id)
        locked = await store.lock_link(tx, project_id=call.project_id, id=row.id)
        if locked is None:
            raise SetupLinkMissing
        if locked.status_at(call.now) == "OPENED":
            if not _is_same_browser(call, request, locked):
                raise SetupLinkInUse
            return row.id, None
        if locked.status_at(call.now) != "PENDING":
            raise SetupLinkClosed
        value = new_token(43)
        await store.mark_opened(
            tx,
            project_id=call.project_id,
            id=row.id,
            browser_hash=_browser_hash(call, row.id, value),
            now=call.now,
        )
        organization_id = str(row.organization_id)
        await events.record(tx, holder_call, "setup_link.opened", row.id, organizationId=organization_id)
        await audit.record(tx, holder_call, "setup_link.opened", "SetupLink", row.id, organizationId=organization_id)
    seconds = int((row.expires_at - call.now).total_seconds())
    name = f"{COOKIE}{row.id.hex}"
    # The page of the organization looks for it, too.
    path = f"/projects/{call.project_id}/auth/pages"
    # Strict: only pages of this server lead to the pages of the setup.
    return row.id, cookie(call.world.settings, name, value, path=path, seconds=seconds, same_site="Strict")


async def begin_setup(
    call: Call, request: RawRequest, organization_id: UUID, session_id: UUID
) -> tuple[UUID, str | None]:
    """Go on with the open link of an OWNER's session if this browser has opened it, or else create one for it. Returns
    the id of the link, and the cookie to set. The caller checks the session.

    Raises the problems of `create_link_of_member` and `open_link`.
    """
    row = await store.open_link_of_session(
        call.db, project_id=call.project_id, organization_id=organization_id, session_id=session_id, now=call.now
    )
    if row is not None and _is_same_browser(call, request, row):
        return row.id, None
    return await open_link(call, request, await create_link_of_member(call, organization_id, session_id))


async def require_holder(call: Call, request: RawRequest, link_id: UUID) -> Holder:
    """The link that is bound to the browser of a request. Notes its use.

    Raises SetupLinkMissing, also for another browser, SetupLinkClosed and OrganizationSuspended.
    """
    row = await store.get_link(call.db, project_id=call.project_id, id=link_id)
    if row is None or not _is_same_browser(call, request, row):
        raise SetupLinkMissing
    organization, owner = await _require_open(call, row)
    _throttle(call, row)
    if owner is not None:
        await renew_session(call.db, call, owner.session_id, owner.customer_id)
    if row.last_used_at is None or call.now - row.last_used_at >= USE_NOTED_EVERY:
        await store.note_use(call.db, project_id=call.project_id, id=row.id, now=call.now)
    return Holder(
        call=await _call_of(call, row, owner),
        link=row,
        organization=organization,
        return_url="" if owner is None else await allowed_return_url(call, request),
    )


async def organization_of_member(call: Call, link_id: UUID) -> UUID | None:
    """The organization of a link that one of its members has created; None for other links."""
    row = await store.get_link(call.db, project_id=call.project_id, id=link_id)
    return None if row is None or row.session_id is None else row.organization_id


async def allowed_return_url(call: Call, request: RawRequest) -> str:
    """The parameter `returnUrl`, which the pages hand on; "" if it is not one of the project's `redirectUrls`."""
    url = str(request.query_params.get("returnUrl", ""))
    return url if url in (await project_of_call(call)).settings.sign_in.redirect_urls else ""


async def finish(holder: Holder) -> None:
    """Complete the link: it cannot be used any more. Raises SetupLinkClosed."""
    link, call = holder.link, holder.call
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, link.organization_id)
        locked = await store.lock_link(tx, project_id=link.project_id, id=link.id)
        if locked is None or locked.status_at(call.now) != "OPENED":
            raise SetupLinkClosed
        await store.mark_completed(tx, project_id=link.project_id, id=link.id, now=call.now)
        organization_id = str(link.organization_id)
        await events.record(tx, call, "setup_link.completed", link.id, organizationId=organization_id)
        await audit.record(tx, call, "setup_link.completed", "SetupLink", link.id, organizationId=organization_id)


# Domains.


async def domains_of(holder: Holder) -> list[OrganizationDomain]:
    """The domains of the organization, newest first."""
    return (await domains.list_organization_domains(holder.call, holder.organization.id)).items


async def add_domain(holder: Holder, domain: str) -> None:
    """Add a domain. Raises the problems of `add_organization_domain`."""
    holder.require_step("DOMAIN")
    body = msgspec.convert({"domain": domain.strip()}, NewOrganizationDomain)
    await domains.add_organization_domain(holder.call, holder.organization.id, body)


async def check_domain(holder: Holder, domain_id: str) -> None:
    """Check the TXT record of a domain now. Raises the problems of `verify_organization_domain`."""
    holder.require_step("DOMAIN")
    await domains.verify_organization_domain(holder.call, holder.organization.id, as_id(domain_id))


async def remove_domain(holder: Holder, domain_id: str) -> None:
    """Remove a domain that is not verified and never was. Raises SetupStepNotAllowed for others."""
    holder.require_step("DOMAIN")
    domain = next((row for row in await domains_of(holder) if row.id == as_id(domain_id)), None)
    if domain is None:
        raise OrganizationDomainMissing
    if domain.verified_at is not None:
        raise SetupStepNotAllowed
    # Only in this state: a check can verify the domain at the same time.
    remove_call = replace(holder.call, if_match=etag(domain.updated_at, b""))
    await domains.remove_organization_domain(remove_call, holder.organization.id, domain.id)


# Single sign-on.


async def connection_of(holder: Holder) -> SsoConnection | None:
    """The connection that the link has created; None if there is none, or it was deleted."""
    if holder.link.sso_connection_id is None:
        return None
    try:
        return await sso.get_sso_connection(holder.call, holder.organization.id, holder.link.sso_connection_id)
    except SsoConnectionMissing:
        return None


async def choose_provider(holder: Holder, provider: str, domain: str) -> None:
    """Create the connection for a provider and a domain of the organization. A connection of the link for another
    protocol that was never active is replaced. Raises Invalid, SetupConnectionActive, and the problems of
    `create_sso_connection`."""
    holder.require_step("SSO")
    if provider not in GUIDES:
        raise Invalid.at("/provider", "Choose a provider.", "field_missing")
    if domain not in [row.domain for row in await domains_of(holder)]:
        raise Invalid.at("/domain", "Choose a domain of the organization.", "field_missing")
    link, holder_call = holder.link, holder.call
    connection = await connection_of(holder)
    key: dict[str, Any] = {"project_id": link.project_id, "id": link.id}
    kind = "OIDC" if provider == "OIDC" else "SAML"
    chosen = msgspec.convert(provider, Provider)
    name = GUIDES[chosen].name
    if connection is not None and connection.status != "DRAFT":
        raise SetupConnectionActive
    if connection is not None and connection.kind == kind:
        change = msgspec.convert({"name": name, "domain": domain}, SsoConnectionChange)
        await sso.change_sso_connection(_only_if(holder_call, connection), link.organization_id, connection.id, change)
        await store.set_provider(holder_call.db, **key, provider=chosen)
        return
    body = msgspec.convert({"kind": kind, "name": name, "domain": domain}, NewSsoConnection)
    created = await sso.create_sso_connection(holder_call, link.organization_id, body)
    is_ours = await store.set_sso_connection(
        holder_call.db, **key, provider=chosen, connection_id=created.id, previous_id=link.sso_connection_id
    )
    # The form may have been sent twice: then only one of the new connections stays.
    outdated = connection if is_ours else created
    if outdated is not None:
        await sso.delete_sso_connection(_only_if(holder_call, outdated), link.organization_id, outdated.id)


async def save_settings(holder: Holder, form: dict[str, str]) -> None:
    """Store the settings of the identity provider from a form: `metadataUrl` or `metadataXml`, or `issuer`, `clientId`
    and `clientSecret`. Raises Invalid, SetupConnectionActive, and the problems of `change_sso_connection`."""
    connection = await _require_draft(holder)
    entered = {name: value.strip() for name, value in form.items() if value.strip()}
    if connection.kind == "OIDC":
        names = {"issuer": "oidcIssuer", "clientId": "oidcClientId", "clientSecret": "oidcClientSecret"}
        required = {"issuer", "clientId"} if connection.oidc_has_secret else set(names)
    else:
        names = {"metadataXml": "idpMetadataXml"} if "metadataXml" in entered else {"metadataUrl": "idpMetadataUrl"}
        required = set(names)
    if required - entered.keys():
        raise Invalid.at(f"/{min(required - entered.keys())}", "This field is missing.", "field_missing")
    change = msgspec.convert(
        {field: entered[name] for name, field in names.items() if name in entered}, SsoConnectionChange
    )
    await sso.change_sso_connection(_only_if(holder.call, connection), holder.organization.id, connection.id, change)


async def start_test(holder: Holder) -> SsoTest:
    """A link that tests the connection. Raises the problems of `test_sso_connection`."""
    connection = await _require_connection(holder)
    return await sso.test_sso_connection(holder.call, holder.organization.id, connection.id)


async def latest_test(holder: Holder, connection: SsoConnection) -> SsoTrace | None:
    """The checks of the newest test of the connection, or None."""
    traces = await sso.list_sso_traces(holder.call, holder.organization.id, connection.id, limit=20)
    return next((trace for trace in traces.items if trace.kind == "TEST"), None)


async def activate(holder: Holder) -> None:
    """Activate the connection, which must have been tested with its current settings.

    Raises SetupTestMissing and the problems of `activate_sso_connection`.
    """
    connection = await _require_connection(holder)
    if connection.tested_at is None:
        raise SetupTestMissing
    activate_call = _only_if(holder.call, connection)
    await sso.activate_sso_connection(activate_call, holder.organization.id, connection.id)


async def _require_connection(holder: Holder) -> SsoConnection:
    holder.require_step("SSO")
    connection = await connection_of(holder)
    if connection is None:
        raise SsoConnectionMissing
    return connection


async def _require_draft(holder: Holder) -> SsoConnection:
    """The connection of the link. Raises SetupConnectionActive unless it is a DRAFT: a link must not change the
    sign-in that people already use."""
    connection = await _require_connection(holder)
    if connection.status != "DRAFT":
        raise SetupConnectionActive
    return connection


def _only_if(call: Call, connection: SsoConnection) -> Call:
    """The call, which changes the connection only if it is still the same: `If-Match`."""
    return replace(call, if_match=etag(connection.updated_at, b""))


async def _require_open(call: Call, row: SetupLinkRow) -> tuple[Organization, SignedInCustomer | None]:
    """The organization of a link that can be used, and for a link of a member, the member. Raises SetupLinkClosed,
    OrganizationSuspended and SetupLinkOwnerRequired."""
    if row.status_at(call.now) not in ("PENDING", "OPENED"):
        raise SetupLinkClosed
    organization = await require_organization(call.db, call, row.organization_id)
    if organization.status == "SUSPENDED":
        raise OrganizationSuspended
    owner = None if row.session_id is None else await _require_owner(call, row.organization_id, row.session_id)
    return organization, owner


async def _require_owner(call: Call, organization_id: UUID, session_id: UUID) -> SignedInCustomer:
    """The customer of a session. Raises SetupLinkOwnerRequired unless the project permits the setup, and the session is
    live, is enough for what is required of a sign-in now, and is one of an OWNER."""
    project = await project_of_call(call)
    owner = await live_session(call, session_id)
    if (
        owner is None
        or not project.settings.sign_in.organization_setup
        or not await meets_requirements(call, owner, project.settings)
    ):
        raise SetupLinkOwnerRequired
    try:
        member = await members.get_organization_member(call, organization_id, owner.customer_id)
    except OrganizationMemberMissing:
        raise SetupLinkOwnerRequired from None
    if "OWNER" not in member.roles:
        raise SetupLinkOwnerRequired
    return owner


async def _call_of(call: Call, link: SetupLinkRow, owner: SignedInCustomer | None) -> Call:
    """The call as that of the holder of a link, with the permissions of its steps. The account is for the audit log."""
    project = await project_of_call(call)
    assigns_roles = ("organizations:write",) if link.assignable_roles else ()
    caller = Caller(
        kind="anonymous",
        actor_type="SETUP_LINK",
        actor_id=link.id,
        actor_label=link.email if owner is None else owner.email or owner.name,
        account_id=project.account_id,
        project_id=call.project_id,
        environment="TEST" if link.test else "LIVE",
        permissions=frozenset((*(PERMISSIONS[step] for step in link.steps), *assigns_roles)),
    )
    return replace(call, caller=caller, if_match=None)


def _throttle(call: Call, row: SetupLinkRow) -> None:
    call.world.limiter.take(RATE, f"{call.project_id}|{row.id}")


def _is_same_browser(call: Call, request: RawRequest, row: SetupLinkRow) -> bool:
    value = request.cookies.get(cookie_name(call.world.settings, f"{COOKIE}{row.id.hex}"), "")
    return row.browser_hash is not None and hmac.compare_digest(row.browser_hash, _browser_hash(call, row.id, value))


def _browser_hash(call: Call, link_id: UUID, value: str) -> bytes:
    return call.world.secrets.digest("setup-link-browser", f"{call.project_id}|{link_id}|{value}")
