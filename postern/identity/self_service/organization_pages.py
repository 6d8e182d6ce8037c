"""Hosted pages of an organization for its members: people, invitations, roles, domains, sign-in and plan.

A member sees and changes what a role permits; see `authority`. Each form checks that again when it is sent.
"""

from typing import Any
from uuid import UUID

import msgspec

from postern.identity.customers.sessions import require_fresh
from postern.identity.customers.sign_in import project_of_call
from postern.identity.entitlements import features, plans
from postern.identity.entitlements import operations as entitlements
from postern.identity.organizations import domains, invitations, members
from postern.identity.organizations.model import (
    NewOrganizationDomain,
    NewOrganizationInvitation,
    OrganizationDomainChange,
    OrganizationDomainMissing,
    OrganizationInvitation,
    OrganizationMember,
    OrganizationMemberChange,
)
from postern.identity.self_service.authority import (
    DOMAINS,
    MEMBERS,
    ORGANIZATION,
    PLAN,
    SIGN_IN,
    Authority,
    MemberNotPermitted,
    authority_in,
    organization_path,
    require_authority,
)
from postern.identity.self_service.forms import choice_input, form_values
from postern.identity.self_service.invitation_limits import require_mail_allowed
from postern.identity.self_service.sign_in_rules_pages import sign_in_values
from postern.identity.self_service.visits import (
    Entered,
    Render,
    Visit,
    form_operation,
    page_operation,
    page_url,
    replace_language,
    show,
    submit,
)
from postern.identity.setup_links.holder import begin_setup
from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import HttpResponse
from postern.web.languages import counted_text, format_number, text
from postern.web.pages import redirect

PEOPLE_SHOWN = 25
"""Members on one page."""
LIST_SHOWN = 100
"""Invitations, domains and connections on the page."""
DONE = {
    "role": text("The role was changed."),
    "removed": text("The person no longer belongs to the organization."),
    "invited": text("The invitation was sent."),
    "resent": text("The invitation was sent again."),
    "revoked": text("The invitation was withdrawn."),
    "domain-added": text("The domain was added. Publish its record, then check it."),
    "domain-verified": text("The domain is confirmed."),
    "domain-missing": text("The record was not found. It can take an hour until a new record is visible."),
    "domain-changed": text("The domain was changed."),
    "domain-removed": text("The domain was removed."),
    "rules": text("The rules were changed."),
    "setup": text("The setup is finished."),
}
DOMAIN_STATES = {
    "PENDING": text("Waiting for the record"),
    "VERIFIED": text("Confirmed"),
    "FAILED": text("The record was never found"),
    "LAPSED": text("The record is gone"),
}


def _organization(organization_id: UUID) -> Render:
    async def render(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
        organization = await members.require_membership(visit.call, organization_id)
        authority = await authority_in(visit, organization)
        names = {role.key: role.name for role in authority.known_roles}
        return await visit.shown(
            "organization.html",
            problem=problem,
            messages=DONE,
            organization=organization.name,
            size=counted_text("{count} person", "{count} people", organization.member_count),
            suspended=organization.status == "SUSPENDED",
            own_roles=", ".join(names.get(key, key) for key in authority.roles),
            may={
                "members": MEMBERS in authority.permissions,
                "domains": DOMAINS in authority.permissions,
                "sign_in": SIGN_IN in authority.permissions,
                "plan": PLAN in authority.permissions,
            },
            kept=visit.kept,
            self_url=visit.url(organization_path(organization_id)),
            invite_url=visit.url(organization_path(organization_id, "/invitations")),
            domain_url=visit.url(organization_path(organization_id, "/domains")),
            setup_url=visit.url(organization_path(organization_id, "/setup")),
            rules_url=visit.url(organization_path(organization_id, "/rules")),
            entered=(entered or {}).get("email", ""),
            **(await _members(visit, authority, names)),
            **(await _domains(visit, authority)),
            **(await sign_in_values(visit, authority)),
            **(await _plan(visit, authority)),
        )

    return render


async def _members(visit: Visit, authority: Authority, names: dict[str, str]) -> dict[str, Any]:
    """The values of people, invitations and roles; empty without the permission."""
    organization_id, q = authority.organization.id, visit.query.get("q", "").replace("\0", "").strip()[:300]
    shown: dict[str, Any] = {"q": q, "members": [], "more_url": "", "invitations": [], "roles": [], "role_choices": []}
    if MEMBERS not in authority.permissions:
        return shown
    page = await members.list_organization_members(
        visit.call, organization_id, q=q or None, limit=PEOPLE_SHOWN, cursor=visit.query.get("cursor") or None
    )
    if page.next_cursor:
        shown["more_url"] = visit.url(
            organization_path(organization_id), cursor=page.next_cursor, **({"q": q} if q else {})
        )
    shown["members"] = [
        {
            "name": member.name or member.email or str(member.customer_id),
            "email": (member.email or "") if member.name else "",
            "roles": ", ".join(names.get(key, key) for key in member.roles),
            "own": member.customer_id == visit.customer.id,
            "changeable": all(authority.may_assign(key) for key in member.roles),
            "role_url": visit.url(organization_path(organization_id, f"/members/{member.customer_id}")),
            "remove_url": visit.url(organization_path(organization_id, f"/members/{member.customer_id}/remove")),
        }
        for member in page.items
    ]
    pending = await invitations.list_organization_invitations(
        visit.call, organization_id, status="PENDING", limit=LIST_SHOWN
    )
    shown["invitations"] = [
        {
            "email": invitation.email,
            "detail": text(
                "As {role}, valid until {time}",
                role=names.get(invitation.role, invitation.role),
                time=visit.moment(invitation.expires_at),
            ),
            "failed": invitation.mail_problem is not None,
            "changeable": authority.may_assign(invitation.role),
            "resend_url": visit.url(organization_path(organization_id, f"/invitations/{invitation.id}/resend")),
            "revoke_url": visit.url(organization_path(organization_id, f"/invitations/{invitation.id}/revoke")),
        }
        for invitation in pending.items
    ]
    shown["roles"] = [
        {
            "name": role.name,
            "description": role.description or "",
            "permissions": text("Everything") if "*" in role.permissions else ", ".join(role.permissions),
        }
        for role in authority.known_roles
    ]
    shown["role_choices"] = [{"value": role.key, "label": role.name} for role in authority.assignable]
    return shown


async def _domains(visit: Visit, authority: Authority) -> dict[str, Any]:
    if DOMAINS not in authority.permissions:
        return {"domains": []}
    organization_id = authority.organization.id
    page = await domains.list_organization_domains(visit.call, organization_id, limit=LIST_SHOWN)
    return {
        "domains": [
            {
                "domain": row.domain,
                "state": DOMAIN_STATES[row.status],
                "verified": row.status == "VERIFIED",
                "joins": row.auto_join_enabled,
                "record_name": row.record_name,
                "record": row.record,
                "checked": visit.moment(row.last_checked_at),
                "verify_url": visit.url(organization_path(organization_id, f"/domains/{row.id}/verify")),
                "join_url": visit.url(organization_path(organization_id, f"/domains/{row.id}/join")),
                "remove_url": visit.url(organization_path(organization_id, f"/domains/{row.id}/remove")),
            }
            for row in page.items
        ]
    }


async def _plan(visit: Visit, authority: Authority) -> dict[str, Any]:
    if PLAN not in authority.permissions:
        return {"plan": "", "features": []}
    organization_id = authority.organization.id
    plan = (await plans.get_organization_plan(visit.call, organization_id)).plan
    rows = await entitlements.list_entitlements(visit.call, organization_id)
    names = {feature.key: feature.name for feature in (await features.list_features(visit.call)).items}
    return {
        "plan": "" if plan is None else plan.name,
        "features": [
            {
                "name": names.get(row.feature_key, row.feature_key),
                "limit": text("Not included")
                if not row.enabled
                else text("Included")
                if row.type != "LIMIT"
                else text("No limit")
                if row.limit is None
                else text("Up to {count}", count=format_number(visit.language, row.limit)),
            }
            for row in rows
        ],
    }


@page_operation(ORGANIZATION, other_statuses=(303,))
async def organization_page(call: Call, request: RawRequest, organization_id: UUID) -> HttpResponse:
    """An organization, as far as the member's role permits. Takes `returnUrl`, `q` (a search) and `cursor`."""
    return await show(call, request, organization_path(organization_id), _organization(organization_id))


# People.


async def _member(visit: Visit, authority: Authority, customer_id: UUID) -> OrganizationMember:
    """A member whom the visitor may change. Raises MemberNotPermitted for the visitor, and RoleNotAssignable."""
    member = await members.get_organization_member(visit.call, authority.organization.id, customer_id)
    if customer_id == visit.customer.id:
        raise MemberNotPermitted
    authority.require_assignable(member.roles)
    return member


def _role(organization_id: UUID, customer_id: UUID) -> Render:
    async def render(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
        authority = await require_authority(visit, organization_id, MEMBERS)
        member = await _member(visit, authority, customer_id)
        chosen = (entered or {}).get("role", member.roles[0] if len(member.roles) == 1 else "")
        choices = [
            {"value": role.key, "label": role.name, "selected": role.key == chosen} for role in authority.assignable
        ]
        if len(member.roles) > 1:
            choices.insert(0, {"value": "", "label": ", ".join(member.roles), "selected": chosen == ""})
        form = form_values(
            text("Change the role of {name}", name=member.name or member.email or ""),
            visit.url(organization_path(organization_id, f"/members/{customer_id}")),
            text("Save"),
            inputs=[choice_input("role", text("Role"), choices)],
            back=visit.url(organization_path(organization_id)),
        )
        return await visit.form(form, problem=problem)

    return render


@page_operation(f"{ORGANIZATION}/members/{{customer_id}}", other_statuses=(303,))
async def member_page(call: Call, request: RawRequest, organization_id: UUID, customer_id: UUID) -> HttpResponse:
    """The page that changes the role of a member."""
    page = organization_path(organization_id, f"/members/{customer_id}")
    return await show(call, request, page, _role(organization_id, customer_id))


@form_operation(f"{ORGANIZATION}/members/{{customer_id}}", other_statuses=(303,))
async def change_member_by_page(
    call: Call, request: RawRequest, organization_id: UUID, customer_id: UUID
) -> HttpResponse:
    """Change the role of a member."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        authority = await require_authority(visit, organization_id, MEMBERS)
        member = await _member(visit, authority, customer_id)
        roles = [form["role"]] if form["role"] else member.roles
        authority.require_assignable(roles)
        await members.change_organization_member(
            visit.call, organization_id, customer_id, msgspec.convert({"roles": roles}, OrganizationMemberChange)
        )
        return visit.done(organization_path(organization_id), "role")

    page = organization_path(organization_id, f"/members/{customer_id}")
    return await submit(call, request, page, act, _role(organization_id, customer_id))


def _remove(organization_id: UUID, customer_id: UUID) -> Render:
    async def render(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
        authority = await require_authority(visit, organization_id, MEMBERS)
        member = await _member(visit, authority, customer_id)
        form = form_values(
            text("Remove {email}?", email=member.email or member.name or ""),
            visit.url(organization_path(organization_id, f"/members/{customer_id}/remove")),
            text("Remove from the organization"),
            paragraphs=[text("The person loses access to what belongs to the organization. The account stays.")],
            danger=True,
            back=visit.url(organization_path(organization_id)),
        )
        return await visit.form(form, problem=problem)

    return render


@page_operation(f"{ORGANIZATION}/members/{{customer_id}}/remove", other_statuses=(303,))
async def remove_member_page(call: Call, request: RawRequest, organization_id: UUID, customer_id: UUID) -> HttpResponse:
    """The page that asks before a member is removed."""
    page = organization_path(organization_id, f"/members/{customer_id}/remove")
    return await show(call, request, page, _remove(organization_id, customer_id))


@form_operation(f"{ORGANIZATION}/members/{{customer_id}}/remove", other_statuses=(303,))
async def remove_member_by_page(
    call: Call, request: RawRequest, organization_id: UUID, customer_id: UUID
) -> HttpResponse:
    """Remove a member from the organization."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        authority = await require_authority(visit, organization_id, MEMBERS)
        await _member(visit, authority, customer_id)
        await members.remove_organization_member(visit.call, organization_id, customer_id)
        return visit.done(organization_path(organization_id), "removed")

    page = organization_path(organization_id, f"/members/{customer_id}/remove")
    return await submit(call, request, page, act, _remove(organization_id, customer_id))


# Invitations.


async def _invitation(visit: Visit, organization_id: UUID, id: UUID) -> OrganizationInvitation:
    """An invitation that the visitor may send again or withdraw. Raises MemberNotPermitted, RoleNotAssignable and
    OrganizationInvitationMissing."""
    authority = await require_authority(visit, organization_id, MEMBERS)
    invitation = await invitations.require_invitation(visit.call, organization_id, id)
    authority.require_assignable([invitation.role])
    return invitation


@form_operation(f"{ORGANIZATION}/invitations", other_statuses=(303,))
async def invite_by_page(call: Call, request: RawRequest, organization_id: UUID) -> HttpResponse:
    """Invite an address to the organization."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        authority = await require_authority(visit, organization_id, MEMBERS)
        role = form.get("role") or "MEMBER"
        authority.require_assignable([role])
        body = {"email": form["email"].strip(), "role": role, "invitedByEndUserId": str(visit.customer.id)}
        invitation = msgspec.convert(body, NewOrganizationInvitation)
        await require_mail_allowed(visit, invitation.email)
        await invitations.create_organization_invitation(visit.call, organization_id, invitation)
        return visit.done(organization_path(organization_id), "invited")

    return await submit(call, request, organization_path(organization_id), act, _organization(organization_id))


@form_operation(f"{ORGANIZATION}/invitations/{{id}}/resend", other_statuses=(303,))
async def resend_invitation_by_page(call: Call, request: RawRequest, organization_id: UUID, id: UUID) -> HttpResponse:
    """Send an invitation again."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        invitation = await _invitation(visit, organization_id, id)
        await require_mail_allowed(visit, invitation.email)
        await invitations.resend_organization_invitation(visit.call, organization_id, id)
        return visit.done(organization_path(organization_id), "resent")

    return await submit(call, request, organization_path(organization_id), act, _organization(organization_id))


@form_operation(f"{ORGANIZATION}/invitations/{{id}}/revoke", other_statuses=(303,))
async def revoke_invitation_by_page(call: Call, request: RawRequest, organization_id: UUID, id: UUID) -> HttpResponse:
    """Withdraw an invitation."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await _invitation(visit, organization_id, id)
        await invitations.revoke_organization_invitation(visit.call, organization_id, id)
        return visit.done(organization_path(organization_id), "revoked")

    return await submit(call, request, organization_path(organization_id), act, _organization(organization_id))


# Domains.


@form_operation(f"{ORGANIZATION}/domains", other_statuses=(303,))
async def add_domain_by_page(call: Call, request: RawRequest, organization_id: UUID) -> HttpResponse:
    """Add a domain; the page then shows the TXT record to publish."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        await require_authority(visit, organization_id, DOMAINS)
        body = msgspec.convert({"domain": form["domain"].strip()}, NewOrganizationDomain)
        await domains.add_organization_domain(visit.call, organization_id, body)
        return visit.done(organization_path(organization_id), "domain-added")

    return await submit(call, request, organization_path(organization_id), act, _organization(organization_id))


@form_operation(f"{ORGANIZATION}/domains/{{id}}/verify", other_statuses=(303,))
async def verify_domain_by_page(call: Call, request: RawRequest, organization_id: UUID, id: UUID) -> HttpResponse:
    """Check the TXT record of a domain now."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await require_authority(visit, organization_id, DOMAINS)
        row = await domains.verify_organization_domain(visit.call, organization_id, id)
        return visit.done(
            organization_path(organization_id), "domain-verified" if row.status == "VERIFIED" else "domain-missing"
        )

    return await submit(call, request, organization_path(organization_id), act, _organization(organization_id))


@form_operation(f"{ORGANIZATION}/domains/{{id}}/join", other_statuses=(303,))
async def change_domain_by_page(call: Call, request: RawRequest, organization_id: UUID, id: UUID) -> HttpResponse:
    """Set whether people with an address at the domain join by themselves."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        await require_authority(visit, organization_id, DOMAINS)
        body = OrganizationDomainChange(auto_join_enabled=form["joins"] == "1")
        await domains.change_organization_domain(visit.call, organization_id, id, body)
        return visit.done(organization_path(organization_id), "domain-changed")

    return await submit(call, request, organization_path(organization_id), act, _organization(organization_id))


def _remove_domain(organization_id: UUID, id: UUID) -> Render:
    async def render(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
        await require_authority(visit, organization_id, DOMAINS)
        page = await domains.list_organization_domains(visit.call, organization_id, limit=LIST_SHOWN)
        row = next((row for row in page.items if row.id == id), None)
        if row is None:
            raise OrganizationDomainMissing
        form = form_values(
            text("Remove {email}?", email=row.domain),
            visit.url(organization_path(organization_id, f"/domains/{id}/remove")),
            text("Remove the domain"),
            paragraphs=[text("People stay, but nobody joins or uses the company sign-in by this domain any more.")],
            danger=True,
            back=visit.url(organization_path(organization_id)),
        )
        return await visit.form(form, problem=problem)

    return render


@page_operation(f"{ORGANIZATION}/domains/{{id}}/remove", other_statuses=(303,))
async def remove_domain_page(call: Call, request: RawRequest, organization_id: UUID, id: UUID) -> HttpResponse:
    """The page that asks before a domain is removed."""
    return await show(
        call, request, organization_path(organization_id, f"/domains/{id}/remove"), _remove_domain(organization_id, id)
    )


@form_operation(f"{ORGANIZATION}/domains/{{id}}/remove", other_statuses=(303,))
async def remove_domain_by_page(call: Call, request: RawRequest, organization_id: UUID, id: UUID) -> HttpResponse:
    """Remove a domain."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await require_authority(visit, organization_id, DOMAINS)
        await domains.remove_organization_domain(visit.call, organization_id, id)
        return visit.done(organization_path(organization_id), "domain-removed")

    page = organization_path(organization_id, f"/domains/{id}/remove")
    return await submit(call, request, page, act, _remove_domain(organization_id, id))


# Setup of the domain, the company sign-in and the directory.


@form_operation(f"{ORGANIZATION}/setup", other_statuses=(303,))
async def begin_setup_by_page(call: Call, request: RawRequest, organization_id: UUID) -> HttpResponse:
    """Create a setup link for this browser, which works while the visitor is signed in as an OWNER, and go there.

    Needs a sign-in in the last hour.
    """

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        authority = await require_authority(visit, organization_id, SIGN_IN)
        project = await project_of_call(visit.call)
        if not (authority.owns and project.settings.sign_in.organization_setup):
            raise MemberNotPermitted
        async with visit.call.db.transaction() as tx:
            await require_fresh(tx, visit.call)
        link_id, browser_cookie = await begin_setup(visit.call, request, organization_id, visit.session.session_id)
        # The setup does not know the customer, so the URL has the language, and hands on the way back to the app.
        url = page_url(replace_language(visit.call), f"setup/{link_id}", visit.return_url, lang=visit.language)
        return redirect(url, status=303, cookies=browser_cookie)

    return await submit(call, request, organization_path(organization_id), act, _organization(organization_id))
