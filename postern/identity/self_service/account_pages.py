"""Hosted pages of a customer's account: what there is, name, sessions, organizations, connected apps, and the data.

An app links to `…/auth/pages/account?returnUrl=…`. `credential_pages` has the pages of addresses and ways to sign in.
"""

from dataclasses import replace
from typing import Any
from uuid import UUID

import msgspec

from postern.identity.customers import addresses, own_account, passkeys, providers, remembered_devices, sessions
from postern.identity.customers.devices import device_name
from postern.identity.customers.identities import account_names
from postern.identity.customers.pages import icon_of, pending_page
from postern.identity.customers.providers import RESERVED_KEYS, AuthorizationCodeGrant
from postern.identity.customers.rules import account_return_url
from postern.identity.customers.sign_in import project_of_call
from postern.identity.oauth import operations as oauth
from postern.identity.oauth.browsers import (
    NO_EFFECT,
    browser_session,
    end_session,
    forget_session,
    session_cookie,
)
from postern.identity.organizations import members
from postern.identity.self_service import operations
from postern.identity.self_service.authority import names_of_roles
from postern.identity.self_service.forms import choice_input, form_values, text_input
from postern.identity.self_service.visits import (
    Visit,
    form_operation,
    page_operation,
    page_url,
    problem_page,
    read_state,
    replace_language,
    show,
    signed_out,
    submit,
)
from postern.kernel.http.call import Call
from postern.kernel.http.handler import is_head
from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import Invalid, Problem
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import to_json
from postern.protocols.oidc.authorization import code_challenge
from postern.security import second_factor
from postern.security.challenges import CodeInvalid
from postern.web.languages import LANGUAGES, match_language, text
from postern.web.pages import redirect

DONE = {
    "name": text("Your name was changed."),
    "language": text("Your language was changed."),
    "password": text("Your password was changed. You are signed out everywhere else."),
    "email-added": text("The address was added."),
    "email-changed": text("Your main address was changed."),
    "email-removed": text("The address was removed."),
    "email-verified": text("Your address was confirmed."),
    "passkey-added": text("The passkey was added."),
    "passkey-renamed": text("The passkey has a new name."),
    "passkey-removed": text("The passkey was removed."),
    "totp-on": text("The authenticator app is set up. You are signed out everywhere else."),
    "totp-off": text("The authenticator app was turned off."),
    "session-ended": text("That device is signed out."),
    "device-forgotten": text("That device is asked for the second factor again."),
    "sessions-ended": text("You are signed out everywhere else."),
    "connected": text("The account was connected."),
    "disconnected": text("The account was disconnected."),
    "left": text("You have left the organization."),
    "withdrawn": text("The app can no longer use your account."),
}
"""What the page says after something was done, by the parameter `done`."""
MEMBERSHIPS_SHOWN = 100
CONFIRMATION = "DELETE"
"""What people without an address type to delete their account."""


@page_operation("account", other_statuses=(303,))
async def account_page(call: Call, request: RawRequest) -> HttpResponse:
    """The account of the signed-in customer. Takes `returnUrl`, one of the project's `redirectUrls`."""
    return await show(call, request, "account", _account)


async def _account(visit: Visit, *, problem: Problem | None = None, entered: Any = None) -> HttpResponse:
    call, customer = visit.call, visit.customer
    project = await project_of_call(call)
    settings = project.settings.sign_in
    rows = await sessions.list_my_sessions(call)
    others = [row for row in rows if not row.current]
    factor_on = customer.mfa_enabled_at is not None
    codes_left = await second_factor.recovery_codes_left(call.db, customer.subject) if factor_on else 0
    memberships = await members.list_my_organizations(call, limit=MEMBERSHIPS_SHOWN)
    role_names = await names_of_roles(call) if memberships.items else {}
    consents = await oauth.list_my_consents(call)
    publishers = await oauth.publishers_of(call, [consent.client_id for consent in consents])
    scope_texts = await oauth.scope_texts(call, {scope for consent in consents for scope in consent.scopes})
    accounts = await account_names(call, customer.id)
    return await visit.shown(
        "account.html",
        problem=problem,
        messages=DONE,
        name=customer.name or "",
        own_language=LANGUAGES.get(match_language(customer.language or "") or "", customer.language or ""),
        urls={
            name: visit.url(f"account/{path}")
            for name, path in {
                "name": "name",
                "language": "language",
                "email": "emails/add",
                "verify": "emails/verify",
                "password": "password",
                "passkey": "passkeys/add",
                "totp": "totp",
                "totp_off": "totp/off",
                "codes": "recovery-codes",
                "end_others": "sessions/end-others",
                "export": "export",
                "delete": "delete",
            }.items()
        },
        emails=[
            {
                "email": address.email,
                "primary": address.primary,
                "verified": address.verified_at is not None,
                "primary_url": visit.url("account/emails/primary", email=address.email or ""),
                "remove_url": visit.url("account/emails/remove", email=address.email or ""),
            }
            for address in await addresses.list_my_emails(call)
        ],
        offers={
            "password": "PASSWORD" in settings.methods and customer.email is not None,
            "passkey": "PASSKEY" in settings.methods,
            "delete": settings.account_deletion,
        },
        has_password=customer.password_hash is not None,
        password_changed=visit.moment(customer.password_changed_at),
        factor=visit.moment(customer.mfa_enabled_at),
        codes_left=str(codes_left),
        keys=[
            {
                "name": passkey.name,
                "detail": text("Used {used}, added {added}", used=used, added=visit.moment(passkey.created_at))
                if (used := visit.moment(passkey.last_used_at))
                else text("Added {added}", added=visit.moment(passkey.created_at)),
                "rename_url": visit.url(f"account/passkeys/{passkey.id}/rename"),
                "remove_url": visit.url(f"account/passkeys/{passkey.id}/remove"),
            }
            for passkey in await passkeys.list_passkeys(call)
        ],
        devices=[
            {
                "name": device_name(row.user_agent),
                "current": row.current,
                "ip": row.ip_address,
                "used": visit.moment(row.last_used_at),
                "end_url": visit.url(f"account/sessions/{row.id}/end"),
            }
            for row in [*(row for row in rows if row.current), *others]
        ],
        others=len(others),
        remembered=[
            {
                "name": device_name(device.user_agent),
                "ip": device.ip_address,
                "until": text("Until {time}", time=visit.moment(device.expires_at)),
                "forget_url": visit.url(f"account/devices/{device.id}/forget"),
            }
            for device in await remembered_devices.list_remembered_devices(call)
        ],
        identities=[
            {
                "name": provider.name,
                "icon": icon_of(provider.kind, provider.issuer),
                "account": accounts.get(provider.key, ""),
                "connected": provider.key in customer.providers,
                "url": visit.url(
                    f"account/identities/{provider.key}/"
                    f"{'disconnect' if provider.key in customer.providers else 'connect'}"
                ),
            }
            for provider in await providers.list_providers(call)
            if (provider.enabled or provider.key in customer.providers) and provider.key not in RESERVED_KEYS
        ],
        organizations=[
            {
                "name": membership.organization.name,
                "roles": ", ".join(role_names.get(key, key) for key in membership.roles),
                "url": visit.url(f"organizations/{membership.organization.id}"),
                "leave_url": visit.url(f"account/organizations/{membership.organization.id}/leave"),
            }
            for membership in memberships.items
        ],
        apps=[
            {
                "name": consent.client_name,
                "publisher": publishers.get(consent.client_id, ""),
                "scopes": [scope_texts[scope] for scope in consent.scopes],
                "since": visit.moment(consent.created_at),
                "url": visit.url(f"account/apps/{consent.client_id}/withdraw"),
            }
            for consent in consents
        ],
    )


@page_operation("account/signed-in", other_statuses=(303,))
async def account_signed_in(call: Call, request: RawRequest, code: str = "", state: str = "") -> HttpResponse:
    """Where the hosted sign-in pages return to. Remembers the session in a cookie, ends the one that the browser had
    before, and goes on to the page that asked for the sign-in."""
    if is_head(request):
        return NO_EFFECT
    page = "account"
    try:
        target, verifier = read_state(call, request, state)
        page = target.page
        body = msgspec.convert({"code": code, "codeVerifier": verifier}, AuthorizationCodeGrant)
        signed_in = await providers.exchange_code_on_page(call, body)
    except msgspec.ValidationError:
        return await problem_page(call, CodeInvalid(), page)
    except Problem as problem:
        return await problem_page(call, problem, page)
    if pending := pending_page(signed_in):
        name, token = pending
        query = {"redirectUrl": account_return_url(call), "state": state, "codeChallenge": code_challenge(verifier)}
        return redirect(page_url(call, name, "", **query, **token), status=303)
    assert signed_in.session_id is not None
    replaced = await browser_session(call, request, test=False)
    if replaced is not None and replaced.session_id != signed_in.session_id:
        # Without its cookie, nobody could sign it out here any more.
        await end_session(call, replaced)
    cookies = session_cookie(call, signed_in.session_id, test=False)
    return redirect(page_url(call, target.page, target.return_url), status=303, cookies=cookies)


@form_operation("account/sign-out", other_statuses=(303,))
async def sign_out_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """End the session of the browser, at the OpenID provider and its clients, too."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await end_session(visit.call, visit.session)
        # Not to the app: browsers check a redirect after a form against its `form-action`, which does not list it.
        return redirect(
            visit.url("account/signed-out", **visit.language_parameter),
            status=303,
            cookies=forget_session(call, test=False),
        )

    return await submit(call, request, "account", act, _account)


@page_operation("account/signed-out")
async def signed_out_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page after signing out, with a link back to the app."""
    return await signed_out(call, request, text("You are signed out."))


@page_operation("account/name", other_statuses=(303,))
async def name_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that changes the name."""
    return await show(call, request, "account/name", _name)


@form_operation("account/name", other_statuses=(303,))
async def change_name_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Change the name; an empty one removes it."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        body = msgspec.convert({"name": form["name"].strip() or None}, sessions.CurrentCustomerChange)
        await sessions.change_current_customer(visit.call, body)
        return visit.done("account", "name")

    return await submit(call, request, "account/name", act, _name)


async def _name(visit: Visit, *, problem: Problem | None = None, entered: dict[str, str] | None = None) -> HttpResponse:
    value = (entered or {}).get("name", visit.customer.name or "")
    label = text("Name")
    name = text_input("name", label, autocomplete="name", value=value, required=False, maxlength=200)
    form = form_values(
        text("Change your name"),
        visit.url("account/name"),
        text("Save"),
        paragraphs=[text("Shown to people in your organizations.")],
        inputs=[name],
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


@page_operation("account/language", other_statuses=(303,))
async def language_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that changes the language."""
    return await show(call, request, "account/language", _language)


@form_operation("account/language", other_statuses=(303,))
async def change_language_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Change the language. The pages that follow are in it, whatever their URL asked for before."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        if form["language"] not in LANGUAGES:
            raise Invalid.at("/language", "Choose one of the languages.")
        body = sessions.CurrentCustomerChange(language=form["language"])
        await sessions.change_current_customer(visit.call, body)
        return replace(visit, call=replace_language(visit.call)).done("account", "language")

    return await submit(call, request, "account/language", act, _language)


async def _language(visit: Visit, *, problem: Problem | None = None, entered: Any = None) -> HttpResponse:
    options = [
        {
            "value": code,
            "label": name,
            "selected": code == (match_language(visit.customer.language or "") or visit.language),
        }
        for code, name in LANGUAGES.items()
    ]
    form = form_values(
        text("Change your language"),
        visit.url("account/language"),
        text("Save"),
        paragraphs=[text("For these pages, and for the mails that you get.")],
        inputs=[choice_input("language", text("Language"), options)],
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


# Sessions.


@form_operation("account/sessions/{session_id}/end", other_statuses=(303,))
async def end_session_by_page(call: Call, request: RawRequest, session_id: UUID) -> HttpResponse:
    """End one of the sessions."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await sessions.revoke_my_session(visit.call, session_id)
        return visit.done("account", "session-ended")

    return await submit(call, request, "account", act, _account)


@form_operation("account/devices/{device_id}/forget", other_statuses=(303,))
async def forget_device_by_page(call: Call, request: RawRequest, device_id: UUID) -> HttpResponse:
    """Ask for the second factor on a remembered device again."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await remembered_devices.forget_remembered_device(visit.call, device_id)
        return visit.done("account", "device-forgotten")

    return await submit(call, request, "account", act, _account)


@form_operation("account/sessions/end-others", other_statuses=(303,))
async def end_other_sessions_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """End all sessions except that of this browser."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await sessions.revoke_my_other_sessions(visit.call)
        return visit.done("account", "sessions-ended")

    return await submit(call, request, "account", act, _account)


# Organizations and connected apps.


@page_operation("account/organizations/{organization_id}/leave", other_statuses=(303,))
async def leave_page(call: Call, request: RawRequest, organization_id: UUID) -> HttpResponse:
    """The page that asks before leaving an organization."""
    return await show(call, request, _leave_path(organization_id), _leave(organization_id))


@form_operation("account/organizations/{organization_id}/leave", other_statuses=(303,))
async def leave_by_page(call: Call, request: RawRequest, organization_id: UUID) -> HttpResponse:
    """Leave an organization."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await members.leave_organization(visit.call, organization_id)
        return visit.done("account", "left")

    return await submit(call, request, _leave_path(organization_id), act, _leave(organization_id))


def _leave_path(organization_id: UUID) -> str:
    return f"account/organizations/{organization_id}/leave"


def _leave(organization_id: UUID) -> Any:
    async def render(visit: Visit, *, problem: Problem | None = None, entered: Any = None) -> HttpResponse:
        organization = await members.require_membership(visit.call, organization_id)
        form = form_values(
            text("Leave {organization}?", organization=organization.name),
            visit.url(_leave_path(organization_id)),
            text("Leave"),
            paragraphs=[text("You lose access to what belongs to it. To come back, you need an invitation.")],
            danger=True,
            back=visit.url("account"),
        )
        return await visit.form(form, problem=problem)

    return render


@form_operation("account/apps/{client_id}/withdraw", other_statuses=(303,))
async def withdraw_consent_by_page(call: Call, request: RawRequest, client_id: UUID) -> HttpResponse:
    """Withdraw the consent to a client of the OpenID provider."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await oauth.revoke_my_consent(visit.call, client_id)
        return visit.done("account", "withdrawn")

    return await submit(call, request, "account", act, _account)


# The data.


@page_operation("account/export", other_statuses=(303,))
async def export_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that downloads all data about the customer."""
    return await show(call, request, "account/export", _export)


@form_operation("account/export", other_statuses=(303,))
async def export_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Download all data about the customer, as JSON."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        content = msgspec.json.format(to_json(await operations.export_my_data(visit.call)), indent=2)
        headers = {"Content-Disposition": 'attachment; filename="account.json"', "Cache-Control": "no-store"}
        return HttpResponse(content, headers=headers)

    return await submit(call, request, "account/export", act, _export)


async def _export(visit: Visit, *, problem: Problem | None = None, entered: Any = None) -> HttpResponse:
    async with visit.call.db.transaction() as tx:
        await sessions.require_fresh(tx, visit.call)
    form = form_values(
        text("Take a copy of your data"),
        visit.url("account/export"),
        text("Download"),
        paragraphs=[text("One file (JSON) with everything that is kept about your account here.")],
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


@page_operation("account/delete", other_statuses=(303,))
async def delete_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that asks before the account is deleted."""
    return await show(call, request, "account/delete", _delete)


@form_operation("account/delete", other_statuses=(303,))
async def delete_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Delete the account, after the customer has typed its address."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        if form["confirmation"].strip().casefold() != _confirmation(visit).casefold():
            raise Invalid.at("/confirmation", "Type the address of the account.", "wrong_confirmation")
        await own_account.delete_current_customer(visit.call)
        url = page_url(call, "account/deleted", visit.return_url, **visit.language_parameter)
        return redirect(url, status=303, cookies=forget_session(call, test=False))

    return await submit(call, request, "account/delete", act, _delete)


@page_operation("account/deleted")
async def deleted_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page after the account was deleted, with a link back to the app."""
    return await signed_out(call, request, text("Your account was deleted."))


def _confirmation(visit: Visit) -> str:
    return visit.customer.email or CONFIRMATION


async def _delete(visit: Visit, *, problem: Problem | None = None, entered: Any = None) -> HttpResponse:
    await own_account.require_deletable(visit.call)
    confirmation = _confirmation(visit)
    form = form_values(
        text("Delete your account?"),
        visit.url("account/delete"),
        text("Delete my account"),
        paragraphs=[text("Your account and all data about you here are deleted. This cannot be undone.")],
        inputs=[text_input("confirmation", text("Type {confirmation} to confirm", confirmation=confirmation))],
        danger=True,
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)
