"""The hosted page of an invitation. The invitation e-mail links to it if the invitation has no `acceptUrl`.

The token proves that the visitor received the e-mail and owns the address, so accepting needs no session. Opening the
page does not accept the invitation, because mail scanners open links.
"""

from dataclasses import replace
from urllib.parse import urlencode

from postern.identity.access import operations as access
from postern.identity.customers.address_proofs import find_or_create_verified
from postern.identity.customers.model import CustomerBanned
from postern.identity.customers.pages import FORM_LIMIT, HTML, hosted_page
from postern.identity.customers.rules import caller_for, is_banned
from postern.identity.customers.sign_in import project_of_call
from postern.identity.organizations import invitation_store
from postern.identity.organizations.invitations import (
    invitation_of_token,
    join_by_invitation,
    lock_invitation,
    require_action_allowed,
    require_invitation_with_token,
    revoke_locked,
)
from postern.identity.organizations.mails import inviter_name, is_test_invitation
from postern.identity.organizations.model import (
    InvitationClosed,
    OrganizationInvitationMissing,
    OrganizationInvitationRow,
    OrganizationMissing,
    OrganizationSuspended,
)
from postern.identity.organizations.operations import lock_organization, require_organization
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import FORM, RawRequest, get, post
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import HttpResponse
from postern.platform.events import operations as events
from postern.web.languages import text
from postern.web.pages import read_form
from postern.web.problem_texts import PROBLEM_TEXTS, text_of

PAGE = "/projects/{project_id}/auth/pages/invitation"
STATUS_MESSAGES = {
    "ACCEPTED": text("You have accepted this invitation."),
    "REVOKED": text("This invitation was declined or withdrawn. Ask the person who invited you for a new one."),
    "EXPIRED": text("This invitation has expired. Ask the person who invited you for a new one."),
}


@get(PAGE, public=True, ignore_unknown_query=True, media_types=HTML)
async def invitation_page(call: Call, token: str = "") -> HttpResponse:
    """Show the hosted page of an invitation: who invites, to which organization, as what and until when, and buttons to
    accept and to decline."""
    try:
        row = await invitation_of_token(call.db, call, token)
        organization = await require_organization(call.db, call, row.organization_id)
    except (OrganizationInvitationMissing, OrganizationMissing):
        message = PROBLEM_TEXTS["invitation_missing"]
        return await hosted_page(call, "notice.html", None, status=404, heading=text("Invitation"), message=message)
    status = row.status_at(call.now)
    if status != "PENDING":
        return await hosted_page(call, "notice.html", None, heading=organization.name, message=STATUS_MESSAGES[status])
    role = await access.role_named(call.db, call.project_id, row.role)
    return await hosted_page(
        call,
        "invitation.html",
        None,
        switch_url=f"/projects/{call.project_id}/auth/pages/invitation?{urlencode({'token': token})}",
        organization=organization.name,
        inviter=await inviter_name(call.db, row),
        role=role.name,
        role_description=role.description,
        email=row.email,
        valid_until=row.expires_at,
        token=token,
    )


@post(
    PAGE,
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    takes=FORM,
    fields={
        "token": "Token from the link in the mail.",
        "answer": "`decline` to decline the invitation; otherwise it is accepted.",
    },
    body_limit=FORM_LIMIT,
    problems=(OrganizationInvitationMissing, InvitationClosed, OrganizationSuspended, CustomerBanned),
)
async def accept_invitation_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Accept an invitation from the page: the customer with the invited address becomes a member. If there is no such
    customer, one is created. With the answer `decline`, the invitation is revoked instead."""
    form = await read_form(request)
    declines = form.get("answer") == "decline"
    try:
        name = await (_decline if declines else _accept)(call, form.get("token", ""))
    except Problem as problem:
        return await hosted_page(
            call,
            "notice.html",
            None,
            status=problem.status,
            heading=text("Invitation"),
            message="",
            error=text_of(problem),
        )
    if declines:
        message = text("You have declined the invitation. If you change your mind, ask for a new one.")
        return await hosted_page(call, "notice.html", None, heading=name, message=message)
    message = text(
        "You are now a member of {organization}. Sign in with the address that this invitation was sent to.",
        organization=name,
    )
    return await hosted_page(call, "notice.html", None, heading=name, message=message)


async def _invitation_and_call(tx: Transaction, call: Call, token: str) -> tuple[OrganizationInvitationRow, Call]:
    """The invitation with this token, and the call, in TEST if a TEST key made the invitation."""
    invitation = await invitation_of_token(tx, call, token)
    if await is_test_invitation(tx, call.project_id, invitation.id):
        call = replace(call, caller=replace(call.caller, environment="TEST"))
    return invitation, call


async def _accept(call: Call, token: str) -> str:
    """Accept an invitation by its token, without a session. Returns the name of the organization."""
    project = await project_of_call(call)
    async with call.db.transaction() as tx:
        invitation, call = await _invitation_and_call(tx, call, token)
        # Lock the customer before the organization, as all other transactions do, to avoid deadlocks.
        customer = await find_or_create_verified(tx, call, project, invitation.email, invitation.email_key)
        if is_banned(customer, call.now):
            raise CustomerBanned("This account is blocked.")
        customer_call = replace(call, caller=caller_for(call, customer.id))
        organization = await lock_organization(tx, call, invitation.organization_id)
        row = await lock_invitation(tx, call, invitation.organization_id, invitation.id)
        if row.accepted_by == customer.id:
            return organization.name  # Accepting twice succeeds.
        # Resending an invitation replaces its token, which may have happened since the invitation was read.
        require_invitation_with_token(call, row, token)
        require_action_allowed(row, call, "ACCEPT")
        await access.require_roles(tx, call.project_id, "ORGANIZATION", [row.role], path="/token")
        await join_by_invitation(tx, customer_call, row, customer.id)
        await invitation_store.accept_invitation(
            tx, project_id=call.project_id, id=row.id, customer_id=customer.id, now=call.now
        )
        details = {"organizationId": str(organization.id), "customerId": str(customer.id)}
        await events.record(tx, customer_call, "invitation.accepted", row.id, **details)
        return organization.name


async def _decline(call: Call, token: str) -> str:
    """Decline an invitation by its token, which revokes it. Returns the name of the organization."""
    async with call.db.transaction() as tx:
        invitation, call = await _invitation_and_call(tx, call, token)
        organization = await lock_organization(tx, call, invitation.organization_id)
        row = await lock_invitation(tx, call, invitation.organization_id, invitation.id)
        require_invitation_with_token(call, row, token)
        await revoke_locked(tx, call, row)
        return organization.name
