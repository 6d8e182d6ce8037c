"""HTTP operations that create, list and revoke the setup links of an organization."""

from datetime import timedelta
from urllib.parse import urlencode
from uuid import UUID

from postern.identity.access import operations as access
from postern.identity.access.model import RoleUnknown
from postern.identity.customers.mailer import enqueue_security_mail
from postern.identity.customers.rules import read_email
from postern.identity.organizations.model import OrganizationMissing, OrganizationSuspended
from postern.identity.organizations.operations import lock_organization, require_organization
from postern.identity.setup_links import store
from postern.identity.setup_links.model import (
    BEGIN_RATE,
    MEMBER_LINK_DAYS,
    OPEN_LINKS_PER_ORGANIZATION,
    RETENTION,
    NewSetupLink,
    SetupLink,
    SetupLinkClosed,
    SetupLinkMissing,
    SetupLinkRow,
    SetupLinkWithUrl,
    TooManySetupLinks,
)
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.values import Moment, build_view, new_id
from postern.messaging.certificates.pages_domains import pages_url
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events
from postern.security.secrets import new_token

# In the paths, `id` is the id of the organization, and `link_id` that of the link.
LINKS = "/projects/{project_id}/b2b/organizations/{id}/setup-links"
LINK = f"{LINKS}/{{link_id}}"
NEEDED = {"SSO": "sso:write", "SCIM": "scim:write"}
"""The permissions that creating a link needs for a step, besides `organizations:write`."""


@get(LINKS, needs="organizations:read", problems=(OrganizationMissing,))
async def list_setup_links(
    call: Call, id: UUID, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[SetupLink]:
    """List the setup links of an organization, newest first. Links are kept for 90 days after their expiry."""
    await require_organization(call.db, call, id)
    page = await newest_first(call, f"setup_links|{id}", cursor, limit, store.list_links, organization_id=id)
    return page.convert_items(lambda row: _as_view(row, call))


@post(
    LINKS,
    needs="organizations:write",
    status=201,
    problems=(OrganizationMissing, OrganizationSuspended, TooManySetupLinks, RoleUnknown),
    example={"steps": ["DOMAIN", "SSO"], "email": "admin@acme.example", "expiresInDays": 7},
    response_example={"status": "PENDING", "openedAt": None, "completedAt": None, "revokedAt": None, "provider": None},
)
async def create_setup_link(call: Call, id: UUID, data: NewSetupLink) -> SetupLinkWithUrl:
    """Create a link with which an administrator of the organization sets it up on a hosted page, without an account.

    The page leads through the permitted `steps`: add and verify domains, create, test and activate a single sign-on
    connection, connect a directory (SCIM). `url` is not returned again; with `email`, it is also mailed. The first
    browser that opens the link can use it until `expiresAt` (1 to 30 days), all others are refused.

    The steps SSO and SCIM also need the permissions `sso:write` and `scim:write`, because the link grants them for this
    organization. Every change is in the audit log, with the actor type `SETUP_LINK`.
    """
    for step in data.steps:
        if step in NEEDED:
            call.require(NEEDED[step])
    row, secret = await _create(call, id, data)
    return build_view(SetupLinkWithUrl, _as_view(row, call), url=_url_of(call, row.id, secret))


async def create_link_of_member(call: Call, organization_id: UUID, session_id: UUID) -> str:
    """Create a link for all steps that works only while the session of an OWNER is live, and return its token.

    An earlier link of the session is revoked. The caller checks that the session is one of an OWNER. Raises
    OrganizationMissing, OrganizationSuspended, TooManySetupLinks, and TooManyRequests beyond BEGIN_RATE.
    """
    call.world.limiter.take(BEGIN_RATE, f"{call.project_id}|{call.caller.actor_id}")
    data = NewSetupLink(expires_in_days=MEMBER_LINK_DAYS)
    row, secret = await _create(call, organization_id, data, session_id)
    return f"{row.id}{secret}"


async def _create(call: Call, id: UUID, data: NewSetupLink, session_id: UUID | None = None) -> tuple[SetupLinkRow, str]:
    """Create a link. Returns it and the secret of its token."""
    email = None if data.email is None else read_email(data.email)[0]
    secret, now = new_token(), call.now
    async with call.db.transaction() as tx:
        organization = await lock_organization(tx, call, id)
        if organization.status == "SUSPENDED":
            raise OrganizationSuspended
        await access.require_roles(tx, call.project_id, "ORGANIZATION", data.assignable_roles, "/assignableRoles/{}")
        await store.delete_old_links(
            tx, project_id=call.project_id, organization_id=id, expired_before=Moment.of(now - RETENTION)
        )
        if session_id is not None:
            for earlier_link in await store.revoke_links_of_session(
                tx, project_id=call.project_id, organization_id=id, session_id=session_id, now=now
            ):
                await _record_revocation(tx, call, id, earlier_link.id)
        open_count = await store.count_open_links(tx, project_id=call.project_id, organization_id=id, now=now)
        if open_count >= OPEN_LINKS_PER_ORGANIZATION:
            raise TooManySetupLinks
        earlier = await store.list_links(tx, project_id=call.project_id, organization_id=id, before=None, limit=1)
        link_id = new_id()
        row = SetupLinkRow(
            project_id=call.project_id,
            id=link_id,
            organization_id=id,
            steps=list(dict.fromkeys(data.steps)),
            assignable_roles=list(dict.fromkeys(data.assignable_roles)),
            email=email,
            test=call.caller.environment == "TEST",
            token_hash=token_hash(call, link_id, secret),
            browser_hash=None,
            # A new link continues what an earlier one has begun.
            provider=earlier[0].provider if earlier else None,
            sso_connection_id=earlier[0].sso_connection_id if earlier else None,
            directory_connection_id=earlier[0].directory_connection_id if earlier else None,
            created_at=now,
            expires_at=Moment.of(now + timedelta(days=data.expires_in_days)),
            opened_at=None,
            last_used_at=None,
            completed_at=None,
            revoked_at=None,
            session_id=session_id,
        )
        await store.insert_link(tx, row)
        if email is not None:
            url = _url_of(call, row.id, secret)
            await enqueue_security_mail(tx, call, "SETUP_LINK", email, organization=organization.name, link=url)
        await events.record(tx, call, "setup_link.created", row.id, organizationId=str(id), steps=row.steps)
        await audit.record(tx, call, "setup_link.created", "SetupLink", row.id, organizationId=id, steps=row.steps)
    return row, secret


@get(LINK, needs="organizations:read", problems=(OrganizationMissing, SetupLinkMissing))
async def get_setup_link(call: Call, id: UUID, link_id: UUID) -> SetupLink:
    """Get a setup link: whether it was opened and completed, and the connections that it has created."""
    await require_organization(call.db, call, id)
    row = await store.get_link(call.db, project_id=call.project_id, id=link_id)
    if row is None or row.organization_id != id:
        raise SetupLinkMissing
    return _as_view(row, call)


@delete(
    LINK,
    needs="organizations:write",
    problems=(OrganizationMissing, SetupLinkMissing, SetupLinkClosed),
    response_example={"status": "REVOKED", "revokedAt": "2026-01-31T12:00:00.000Z", "completedAt": None},
)
async def revoke_setup_link(call: Call, id: UUID, link_id: UUID) -> SetupLink:
    """Revoke a setup link. It stops working with the next request; what it has set up stays.

    Returns 409 if it is completed, revoked or expired.
    """
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, id)
        row = await store.lock_link(tx, project_id=call.project_id, id=link_id)
        if row is None or row.organization_id != id:
            raise SetupLinkMissing
        if row.status_at(call.now) not in ("PENDING", "OPENED"):
            raise SetupLinkClosed
        row = await store.mark_revoked(tx, project_id=call.project_id, id=link_id, now=call.now)
        await _record_revocation(tx, call, id, link_id)
    return _as_view(row, call)


async def _record_revocation(tx: Transaction, call: Call, organization_id: UUID, link_id: UUID) -> None:
    await events.record(tx, call, "setup_link.revoked", link_id, organizationId=str(organization_id))
    await audit.record(tx, call, "setup_link.revoked", "SetupLink", link_id, organizationId=organization_id)


def token_hash(call: Call, link_id: UUID, secret: str) -> bytes:
    """The keyed hash of the secret in the token of a link."""
    return call.world.secrets.digest("setup-link", f"{call.project_id}|{link_id}|{secret}")


def _url_of(call: Call, link_id: UUID, secret: str) -> str:
    query = urlencode({"token": f"{link_id}{secret}"})
    return f"{pages_url(call.world, call.project_id)}/auth/pages/setup?{query}"


def _as_view(row: SetupLinkRow, call: Call) -> SetupLink:
    return build_view(SetupLink, row, status=row.status_at(call.now))
