"""HTTP operations on invitations to an organization."""

from datetime import timedelta
from math import ceil
from uuid import UUID

from postern.identity.access import operations as access
from postern.identity.access.model import RoleUnknown
from postern.identity.customers.address_proofs import is_address_of, is_verified_address_of
from postern.identity.customers.model import CUSTOMER, SIGN_IN_CALLERS
from postern.identity.customers.rules import read_email
from postern.identity.customers.sessions import lock_calling_customer
from postern.identity.organizations import invitation_store, store
from postern.identity.organizations.members import join
from postern.identity.organizations.model import (
    NEXT_INVITATION_STATUS,
    PENDING_INVITATIONS_LIMIT,
    RESEND_AFTER,
    AcceptedInvitation,
    AddressNotVerified,
    AlreadyInvited,
    AlreadyOrganizationMember,
    InvitationAction,
    InvitationClosed,
    InvitationPreview,
    InvitationStatus,
    InvitationToken,
    InvitedSomebodyElse,
    InviterUnknown,
    NewOrganizationInvitation,
    OrganizationInvitation,
    OrganizationInvitationMissing,
    OrganizationInvitationRow,
    OrganizationMissing,
    OrganizationSuspended,
    ResentTooSoon,
    TooManyInvitations,
)
from postern.identity.organizations.operations import ORGANIZATIONS, lock_organization, ref_of, require_organization
from postern.identity.organizations.rules import is_current_token, read_invitation_token
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete, get, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, before_id, linked_list
from postern.kernel.http.problems import Invalid
from postern.kernel.values import Moment, as_id, build_view, is_safe_redirect_url, new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events

# In the paths, `id` is the id of the organization.
INVITATIONS = f"{ORGANIZATIONS}/{{id}}/invitations"


@get(INVITATIONS, needs="organizations:read", problems=(OrganizationMissing,))
async def list_organization_invitations(
    call: Call, id: UUID, status: InvitationStatus | None = None, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[OrganizationInvitation]:
    """List the invitations to an organization, newest first.

    Filter by `status`: PENDING, ACCEPTED, REVOKED or EXPIRED.
    """
    await require_organization(call.db, call, id)
    scope = f"invitations|{id}|{status or ''}"
    rows = await invitation_store.list_invitations(
        call.db,
        project_id=call.project_id,
        organization_id=id,
        status=status,
        before=before_id(call, scope, cursor),
        limit=limit + 1,
        now=call.now,
    )
    return linked_list(call, scope, [_as_view(row, call) for row in rows], limit)


@post(
    INVITATIONS,
    needs="organizations:write",
    status=201,
    problems=(
        *(OrganizationMissing, OrganizationSuspended, AlreadyInvited, AlreadyOrganizationMember),
        *(TooManyInvitations, InviterUnknown, RoleUnknown),
    ),
    example={"email": "ada@example.com", "role": "ADMIN", "acceptUrl": "https://app.example.com/join"},
)
async def create_organization_invitation(
    call: Call, id: UUID, data: NewOrganizationInvitation
) -> OrganizationInvitation:
    """Invite an address to an organization, as MEMBER or another role of the scope ORGANIZATION.

    Sends an e-mail with a link to `acceptUrl`, or to a hosted page with a button to accept. An invited address can sign
    up even if sign-up is closed. The invitation expires after `expiresInDays` (1 to 30, default 7). An address can have
    one pending invitation per organization.
    """
    email, email_key = read_email(data.email)
    if data.accept_url is not None and not is_safe_redirect_url(data.accept_url):
        raise Invalid.at("/acceptUrl", "`acceptUrl` is not a valid http or https URL.", "invalid_address")
    async with call.db.transaction() as tx:
        await _lock_active_organization(tx, call, id)
        await access.require_roles(tx, call.project_id, "ORGANIZATION", [data.role], path="/role")
        inviter_id = await _require_inviter(tx, call, id, data.invited_by_end_user_id)
        if await store.is_member_by_email(tx, project_id=call.project_id, organization_id=id, email_key=email_key):
            raise AlreadyOrganizationMember
        await _expire_earlier(tx, call, id, email_key)
        await tx.lock_quota("invitations", id)
        pending_count = await invitation_store.count_pending_invitations(
            tx, project_id=call.project_id, organization_id=id
        )
        if pending_count >= PENDING_INVITATIONS_LIMIT:
            raise TooManyInvitations
        life = timedelta(days=data.expires_in_days)
        row = OrganizationInvitationRow(
            project_id=call.project_id,
            id=new_id(),
            organization_id=id,
            email=email,
            email_key=email_key,
            role=data.role,
            status="PENDING",
            accept_url=data.accept_url,
            invited_by=inviter_id,
            life=life,
            sent_at=call.now,
            expires_at=call.now + life,
            accepted_at=None,
            revoked_at=None,
            mailed_at=None,
            mail_problem=None,
            created_at=call.now,
            due_at=call.now,
        )
        row = await invitation_store.insert_invitation(tx, row)
        if row is None:
            raise AlreadyInvited
        # A customer who was removed from the organization may be invited back.
        await store.delete_removals_of(tx, project_id=call.project_id, organization_id=id, email_key=email_key)
        tx.mark_due("invitations", call.project_id)
        await events.record(tx, call, "invitation.created", row.id, organizationId=str(id), role=row.role)
        await audit.record(tx, call, "invitation.created", "Invitation", row.id, organizationId=id, role=row.role)
    return _as_view(row, call)


@post(
    f"{INVITATIONS}/{{invitation_id}}/resend",
    needs="organizations:write",
    problems=(OrganizationInvitationMissing, InvitationClosed, OrganizationSuspended, AlreadyInvited, ResentTooSoon),
)
async def resend_organization_invitation(call: Call, id: UUID, invitation_id: UUID) -> OrganizationInvitation:
    """Send an invitation again, with a new token and expiry. The previous token becomes invalid.

    At most once a minute (429). An expired invitation can be resent, unless the address has another pending one
    (409). An accepted or revoked invitation cannot be resent (409).
    """
    async with call.db.transaction() as tx:
        await _lock_active_organization(tx, call, id)
        row = await lock_invitation(tx, call, id, invitation_id)
        require_action_allowed(row, call, "RESEND")
        wait = row.sent_at + RESEND_AFTER - call.now
        if wait > timedelta():
            raise ResentTooSoon(retry_after_seconds=ceil(wait.total_seconds()))
        if row.status == "EXPIRED":
            await _expire_earlier(tx, call, id, row.email_key)
            if await invitation_store.lock_pending_invitation(
                tx, project_id=call.project_id, organization_id=id, email_key=row.email_key
            ):
                raise AlreadyInvited
        row = await invitation_store.renew_invitation(tx, project_id=call.project_id, id=invitation_id, now=call.now)
        tx.mark_due("invitations", call.project_id)
        await events.record(tx, call, "invitation.resent", row.id, organizationId=str(id), role=row.role)
        await audit.record(tx, call, "invitation.resent", "Invitation", row.id, organizationId=id)
    return _as_view(row, call)


@delete(
    f"{INVITATIONS}/{{invitation_id}}",
    needs="organizations:write",
    problems=(OrganizationInvitationMissing, InvitationClosed),
    response_example={"status": "REVOKED", "revokedAt": "2026-01-31T12:00:00.000Z"},
)
async def revoke_organization_invitation(call: Call, id: UUID, invitation_id: UUID) -> OrganizationInvitation:
    """Revoke an invitation; its token becomes invalid. Returns 409 if it was accepted or revoked already."""
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, id)
        row = await lock_invitation(tx, call, id, invitation_id)
        row = await revoke_locked(tx, call, row)
        await audit.record(tx, call, "invitation.revoked", "Invitation", row.id, organizationId=id)
    return _as_view(row, call)


@post(
    "/projects/{project_id}/auth/invitations/preview",
    accepts=SIGN_IN_CALLERS,
    problems=(OrganizationInvitationMissing,),
    example={"token": "019b1f3a5f0e7cc0a2f40c2f6a1f9d11.Zm9yIGV4YW1wbGU"},
)
async def preview_invitation(call: Call, data: InvitationToken) -> InvitationPreview:
    """Get the organization and address of an invitation, for a page that asks the visitor to sign up or sign in before
    accepting."""
    row = await invitation_of_token(call.db, call, data.token)
    organization = await require_organization(call.db, call, row.organization_id)
    return build_view(InvitationPreview, row, organization=ref_of(organization), status=row.status_at(call.now))


@post(
    "/projects/{project_id}/auth/invitations/accept",
    accepts=CUSTOMER,
    problems=(
        OrganizationInvitationMissing,
        InvitationClosed,
        InvitedSomebodyElse,
        AddressNotVerified,
        OrganizationSuspended,
        RoleUnknown,
    ),
    example={"token": "019b1f3a5f0e7cc0a2f40c2f6a1f9d11.Zm9yIGV4YW1wbGU"},
    response_example={
        "invitation": {"status": "ACCEPTED", "acceptedAt": "2026-01-31T12:00:00.000Z"},
        "roles": ["ADMIN"],
    },
)
async def accept_invitation(call: Call, data: InvitationToken) -> AcceptedInvitation:
    """Accept an invitation as the signed-in customer. The invited address must be a verified address of the customer.

    An existing member gets the invitation's role in addition to other roles. Accepting an invitation again is not an
    error.
    """
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        invitation = await invitation_of_token(tx, call, data.token)
        organization = await lock_organization(tx, call, invitation.organization_id)
        row = await lock_invitation(tx, call, invitation.organization_id, invitation.id)
        if not await is_address_of(tx, call, customer, row.email_key):
            raise InvitedSomebodyElse
        if not await is_verified_address_of(tx, call, customer, row.email_key):
            raise AddressNotVerified
        if row.accepted_by != customer.id:
            # Resending an invitation replaces its token, which may have happened since the invitation was read.
            require_invitation_with_token(call, row, data.token)
            require_action_allowed(row, call, "ACCEPT")
            await access.require_roles(tx, call.project_id, "ORGANIZATION", [row.role], path="/token")
            await join_by_invitation(tx, call, row, customer.id)
            row = await invitation_store.accept_invitation(
                tx, project_id=call.project_id, id=row.id, customer_id=customer.id, now=call.now
            )
            await events.record(
                tx,
                call,
                "invitation.accepted",
                row.id,
                organizationId=str(organization.id),
                customerId=str(customer.id),
            )
        member = await store.get_member(
            tx, project_id=call.project_id, organization_id=organization.id, customer_id=customer.id
        )
    roles = member.roles if member else []
    return AcceptedInvitation(invitation=_as_view(row, call), organization=ref_of(organization), roles=roles)


async def is_invited(db: Queries, project_id: UUID, email_key: str, now: Moment) -> bool:
    """Whether an address has a pending invitation, not expired, to an ACTIVE organization."""
    return await invitation_store.is_invited(db, project_id=project_id, email_key=email_key, now=now)


async def join_by_invitation(tx: Transaction, call: Call, row: OrganizationInvitationRow, customer_id: UUID) -> None:
    """Add a customer as member with the invitation's role; an existing member gets the role in addition to others.

    Records the event of a new member (see `join`), but none if an existing member gets the role. Raises the problems of
    `join`. The invitation itself does not change.
    """
    if await join(tx, call, row.organization_id, customer_id, [row.role], "INVITATION"):
        return
    member = await store.get_member(
        tx, project_id=call.project_id, organization_id=row.organization_id, customer_id=customer_id
    )
    if member is not None and row.role not in member.roles:
        await store.set_roles(
            tx,
            project_id=call.project_id,
            organization_id=row.organization_id,
            customer_id=customer_id,
            roles=[*member.roles, row.role],
            now=call.now,
        )


async def _lock_active_organization(tx: Transaction, call: Call, organization_id: UUID) -> None:
    """Lock the organization for update, so that concurrent requests create its invitations one after the other.
    Raises OrganizationMissing and OrganizationSuspended."""
    organization = await lock_organization(tx, call, organization_id)
    if organization.status == "SUSPENDED":
        raise OrganizationSuspended


async def _require_inviter(tx: Transaction, call: Call, organization_id: UUID, inviter: str | None) -> UUID | None:
    """The id of the inviting customer, or None without one. Raises InviterUnknown if the customer is not a member."""
    if inviter is None:
        return None
    inviter_id = as_id(inviter)
    if not await store.get_member(
        tx, project_id=call.project_id, organization_id=organization_id, customer_id=inviter_id
    ):
        raise InviterUnknown
    return inviter_id


async def _expire_earlier(tx: Transaction, call: Call, organization_id: UUID, email_key: str) -> None:
    """Mark an earlier invitation of the address as EXPIRED if it has expired but the worker has not marked it yet."""
    earlier = await invitation_store.lock_pending_invitation(
        tx, project_id=call.project_id, organization_id=organization_id, email_key=email_key
    )
    if earlier and await invitation_store.expire_invitation(
        tx, project_id=call.project_id, id=earlier.id, now=call.now
    ):
        event = events.make_event(
            call.project_id, "invitation.expired", earlier.id, call.now, organizationId=str(organization_id)
        )
        await events.record_all(tx, [event])


async def lock_invitation(tx: Transaction, call: Call, organization_id: UUID, id: UUID) -> OrganizationInvitationRow:
    """Lock an invitation of an organization for update. Raises OrganizationInvitationMissing."""
    row = await invitation_store.lock_invitation(tx, project_id=call.project_id, id=id)
    if row is None or row.organization_id != organization_id:
        raise OrganizationInvitationMissing
    return row


async def require_invitation(call: Call, organization_id: UUID, id: UUID) -> OrganizationInvitation:
    """An invitation of an organization. Raises OrganizationInvitationMissing."""
    row = await invitation_store.get_invitation(call.db, project_id=call.project_id, id=id)
    if row is None or row.organization_id != organization_id:
        raise OrganizationInvitationMissing
    return _as_view(row, call)


def require_action_allowed(row: OrganizationInvitationRow, call: Call, action: InvitationAction) -> None:
    """Raise InvitationClosed if the current status of the invitation does not allow `action`."""
    status = row.status_at(call.now)
    if NEXT_INVITATION_STATUS[status, action] is None:
        raise InvitationClosed(f"This invitation is {status}.")


async def revoke_locked(tx: Transaction, call: Call, row: OrganizationInvitationRow) -> OrganizationInvitationRow:
    """Revoke a locked invitation and record the event. Raises InvitationClosed if it was accepted or revoked."""
    require_action_allowed(row, call, "REVOKE")
    row = await invitation_store.revoke_invitation(tx, project_id=call.project_id, id=row.id, now=call.now)
    details = {"organizationId": str(row.organization_id), "role": row.role}
    await events.record(tx, call, "invitation.revoked", row.id, **details)
    return row


async def invitation_of_token(db: Queries, call: Call, token: str) -> OrganizationInvitationRow:
    """The invitation with this token. Raises OrganizationInvitationMissing if this is not its latest token."""
    row = await invitation_store.get_invitation(db, project_id=call.project_id, id=read_invitation_token(token))
    return require_invitation_with_token(call, row, token)


def require_invitation_with_token(
    call: Call, row: OrganizationInvitationRow | None, token: str
) -> OrganizationInvitationRow:
    """Return the invitation `row`. Raises OrganizationInvitationMissing if it is None or `token` is not its latest
    token."""
    if row is None or not is_current_token(call.world.secrets, token, call.project_id, row.id, row.generation):
        raise OrganizationInvitationMissing
    return row


def _as_view(row: OrganizationInvitationRow, call: Call) -> OrganizationInvitation:
    # In organizations, the API calls the project an app and customers end users.
    return build_view(
        OrganizationInvitation,
        row,
        app_id=row.project_id,
        status=row.status_at(call.now),
        invited_by_end_user_id=row.invited_by,
    )
