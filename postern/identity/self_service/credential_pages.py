"""Hosted pages of the account for addresses and ways to sign in: password, passkeys, authenticator app, providers."""

from collections.abc import Awaitable, Callable
from typing import Any
from uuid import UUID

import msgspec

from postern.identity.customers import addresses, credentials, linking, passkeys, totp
from postern.identity.customers.identities import provider_name
from postern.identity.customers.mailed_challenges import CodeVerification, EmailOnly
from postern.identity.customers.model import AddressMissing
from postern.identity.customers.pages import FirstCodeWrong, credential_of
from postern.identity.customers.providers import RESERVED_KEYS
from postern.identity.customers.rules import account_link_url
from postern.identity.customers.sessions import require_fresh
from postern.identity.customers.sign_in import ATTEMPTS
from postern.identity.self_service.forms import code_input, form_values, grouped, text_input
from postern.identity.self_service.visits import (
    FIELDS,
    PAGES,
    Entered,
    PageExpired,
    Visit,
    current_visit,
    form_operation,
    page_operation,
    show,
    submit,
)
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.operation import FORM, RawRequest, post
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import HttpResponse
from postern.protocols.oidc.authorization import code_challenge
from postern.security.attempts import throttle
from postern.security.challenges import CodeInvalid
from postern.security.passkeys import NewPasskey, PasskeyChange, PasskeyMissing, PasskeyName, PasskeyOptions
from postern.security.passwords import PASSWORD_MAX, PASSWORD_MIN
from postern.web.languages import text
from postern.web.pages import read_form
from postern.web.qr import qr_code

PASSKEY_NAME_LIMIT = 100
LINK_PURPOSE = "account-link-state"
"""Purpose of the signature by which a return from a provider belongs to a session."""


async def _require_fresh(visit: Visit) -> None:
    """Raise NotFresh before a form is shown that needs a recent sign-in."""
    async with visit.call.db.transaction() as tx:
        await require_fresh(tx, visit.call)


# Addresses.


@page_operation("account/emails/add", other_statuses=(303,))
async def add_email_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that adds an address."""
    return await show(call, request, "account/emails/add", _add_email)


@form_operation("account/emails/add", other_statuses=(303,))
async def add_email_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Mail a code to a further address, or to the first one; the next page asks for it."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        body = msgspec.convert({"email": form["email"].strip()}, EmailOnly)
        if visit.customer.email is None:
            sent = await credentials.request_email_change(visit.call, body)
        else:
            sent = await addresses.add_my_email(visit.call, body)
        return await _code_page(visit, str(sent.challenge_id), body.email)

    return await submit(call, request, "account/emails/add", act, _add_email)


async def _add_email(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
    await _require_fresh(visit)
    form = form_values(
        text("Add an address"),
        visit.url("account/emails/add"),
        text("Send the code"),
        paragraphs=[text("We send a code to the address, to see that it is yours.")],
        inputs=[
            text_input(
                "email",
                text("E-mail address"),
                type="email",
                autocomplete="email",
                value=(entered or {}).get("email", ""),
            )
        ],
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


@form_operation("account/emails/verify", other_statuses=(303,))
async def send_verification_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Mail a code to the main address, which is unverified; the next page asks for it."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        sent = await credentials.request_email_verification(visit.call)
        return await _code_page(visit, str(sent.challenge_id), visit.customer.email or "")

    return await submit(call, request, "account", act, _back_to_account)


@form_operation("account/emails/code", other_statuses=(303,))
async def verify_email_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Verify an address with the code that was mailed to it."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        was_verified = visit.customer.email_verified_at is not None
        body = {"challengeId": form["challengeId"], "code": "".join(form["code"].split())}
        await credentials.verify_email(visit.call, msgspec.convert(body, CodeVerification))
        return visit.done("account", "email-added" if was_verified else "email-verified")

    async def render(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
        entered = entered or {}
        return await _code_page(visit, entered.get("challengeId", ""), entered.get("email", ""), problem)

    return await submit(call, request, "account", act, render)


async def _code_page(visit: Visit, challenge_id: str, email: str, problem: Problem | None = None) -> HttpResponse:
    form = form_values(
        text("Enter the code"),
        visit.url("account/emails/code"),
        text("Confirm the address"),
        paragraphs=[text("We have sent a six-digit code to {email}. It is valid for 10 minutes.", email=email)],
        inputs=[code_input(text("Code from the mail"))],
        hidden={"challengeId": challenge_id, "email": email},
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


@page_operation("account/emails/primary", other_statuses=(303,))
async def primary_email_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that asks before another address becomes the main one."""
    return await show(call, request, "account", _primary_email)


@form_operation("account/emails/primary", other_statuses=(303,))
async def make_email_primary_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Make one of the addresses the main one."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        await addresses.make_my_email_primary(visit.call, msgspec.convert({"email": form["email"]}, EmailOnly))
        return visit.done("account", "email-changed")

    return await submit(call, request, "account", act, _primary_email)


async def _primary_email(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
    await _require_fresh(visit)
    email = await _own_email(visit, entered)
    form = form_values(
        text("Make {email} your main address?", email=email),
        visit.url("account/emails/primary", email=email),
        text("Make it the main address"),
        paragraphs=[text("Codes and security mail will go there. Your present main address stays with your account.")],
        hidden={"email": email},
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


@page_operation("account/emails/remove", other_statuses=(303,))
async def remove_email_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that asks before an address is removed."""
    return await show(call, request, "account", _remove_email)


@form_operation("account/emails/remove", other_statuses=(303,))
async def remove_email_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Remove an address from the account."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        await addresses.remove_my_email(visit.call, msgspec.convert({"email": form["email"]}, EmailOnly))
        return visit.done("account", "email-removed")

    return await submit(call, request, "account", act, _remove_email)


async def _remove_email(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
    await _require_fresh(visit)
    email = await _own_email(visit, entered)
    form = form_values(
        text("Remove {email}?", email=email),
        visit.url("account/emails/remove", email=email),
        text("Remove the address"),
        paragraphs=[text("You can no longer sign in with it.")],
        hidden={"email": email},
        danger=True,
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


async def _own_email(visit: Visit, entered: Entered) -> str:
    """The address that a page is for: one of the customer's secondary ones. Raises AddressMissing."""
    email = (entered or {}).get("email") or visit.query.get("email", "")
    own = [row.email for row in await addresses.list_my_emails(visit.call) if not row.primary]
    if email not in own:
        raise AddressMissing
    return email


async def _back_to_account(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
    return await visit.shown("account-notice.html", problem=problem, heading=text("This did not work"))


# Password.


@page_operation("account/password", other_statuses=(303,))
async def password_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that sets or changes the password."""
    return await show(call, request, "account/password", _password)


@form_operation("account/password", other_statuses=(303,))
async def change_password_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Set or change the password. All other sessions end."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        body = {"newPassword": form["newPassword"], "currentPassword": form.get("currentPassword") or None}
        await credentials.change_customer_password(
            visit.call, msgspec.convert(body, credentials.CustomerPasswordChange)
        )
        return visit.done("account", "password")

    return await submit(call, request, "account/password", act, _password)


async def _password(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
    has_password = visit.customer.password_hash is not None
    if not has_password:
        await _require_fresh(visit)
    present = text_input(
        "currentPassword",
        text("Present password"),
        type="password",
        autocomplete="current-password",
        maxlength=PASSWORD_MAX,
    )
    new = text_input(
        "newPassword",
        text("New password"),
        type="password",
        autocomplete="new-password",
        minlength=PASSWORD_MIN,
        maxlength=PASSWORD_MAX,
        hint=text("At least {count} characters", count=str(PASSWORD_MIN)),
    )
    form = form_values(
        text("Change your password") if has_password else text("Set a password"),
        visit.url("account/password"),
        text("Save"),
        paragraphs=[text("You will be signed out everywhere else.")],
        inputs=[*([present] if has_password else []), new],
        # So that password managers know whose password it is.
        hidden={"username": visit.customer.email or ""},
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


# Passkeys.


@page_operation("account/passkeys/add", other_statuses=(303,))
async def add_passkey_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that adds a passkey, with a script."""
    return await show(call, request, "account/passkeys/add", _add_passkey)


@post(
    f"{PAGES}/account/passkeys/options",
    public=True,
    ignore_unknown_query=True,
    hidden=True,
    takes=FORM,
    fields=FIELDS,
    problems=[*passkeys.begin_passkey_registration.problems, CredentialInvalid, PageExpired],
)
async def account_passkey_options(call: Call, request: RawRequest) -> PasskeyOptions:
    """WebAuthn options for the script of the page that adds a passkey."""
    throttle(call, ATTEMPTS)
    form = await read_form(request)
    visit = await current_visit(call, request, "account/passkeys/add")
    if visit is None:
        raise CredentialInvalid
    if not visit.is_own_form(form):
        raise PageExpired
    return await passkeys.begin_passkey_registration(visit.call)


@form_operation("account/passkeys/add", other_statuses=(303,))
async def save_passkey_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Add the passkey that the browser has created."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        name = msgspec.convert(form.get("name") or "Passkey", PasskeyName)
        body = NewPasskey(challenge_id=form["challengeId"], credential=credential_of(form), name=name)
        await passkeys.add_passkey(visit.call, body)
        return visit.done("account", "passkey-added")

    return await submit(call, request, "account/passkeys/add", act, _add_passkey)


async def _add_passkey(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
    await _require_fresh(visit)
    return await visit.shown(
        "account-passkey.html",
        problem=problem,
        name=(entered or {}).get("name", ""),
        action=visit.url("account/passkeys/add"),
        options=visit.url("account/passkeys/options"),
    )


@page_operation("account/passkeys/{id}/rename", other_statuses=(303,))
async def rename_passkey_page(call: Call, request: RawRequest, id: UUID) -> HttpResponse:
    """The page that renames a passkey."""
    return await show(call, request, f"account/passkeys/{id}/rename", _rename_passkey(id))


@form_operation("account/passkeys/{id}/rename", other_statuses=(303,))
async def rename_passkey_by_page(call: Call, request: RawRequest, id: UUID) -> HttpResponse:
    """Rename a passkey."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        await passkeys.rename_passkey(visit.call, id, msgspec.convert({"name": form["name"].strip()}, PasskeyChange))
        return visit.done("account", "passkey-renamed")

    return await submit(call, request, f"account/passkeys/{id}/rename", act, _rename_passkey(id))


def _rename_passkey(id: UUID) -> Callable[..., Awaitable[HttpResponse]]:
    async def render(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
        name = (entered or {}).get("name") or await _passkey_name(visit, id)
        form = form_values(
            text("Rename the passkey"),
            visit.url(f"account/passkeys/{id}/rename"),
            text("Save"),
            inputs=[text_input("name", text("Name of this passkey"), value=name, maxlength=PASSKEY_NAME_LIMIT)],
            back=visit.url("account"),
        )
        return await visit.form(form, problem=problem)

    return render


@page_operation("account/passkeys/{id}/remove", other_statuses=(303,))
async def remove_passkey_page(call: Call, request: RawRequest, id: UUID) -> HttpResponse:
    """The page that asks before a passkey is removed."""
    return await show(call, request, f"account/passkeys/{id}/remove", _remove_passkey(id))


@form_operation("account/passkeys/{id}/remove", other_statuses=(303,))
async def remove_passkey_by_page(call: Call, request: RawRequest, id: UUID) -> HttpResponse:
    """Remove a passkey."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await passkeys.remove_passkey(visit.call, id)
        return visit.done("account", "passkey-removed")

    return await submit(call, request, f"account/passkeys/{id}/remove", act, _remove_passkey(id))


def _remove_passkey(id: UUID) -> Callable[..., Awaitable[HttpResponse]]:
    async def render(visit: Visit, *, problem: Problem | None = None, entered: Any = None) -> HttpResponse:
        await _require_fresh(visit)
        form = form_values(
            text("Remove the passkey {name}?", name=await _passkey_name(visit, id)),
            visit.url(f"account/passkeys/{id}/remove"),
            text("Remove the passkey"),
            paragraphs=[text("You can no longer sign in with it. Delete it on your device, too.")],
            danger=True,
            back=visit.url("account"),
        )
        return await visit.form(form, problem=problem)

    return render


async def _passkey_name(visit: Visit, id: UUID) -> str:
    """The name of a passkey. Raises PasskeyMissing."""
    for passkey in await passkeys.list_passkeys(visit.call):
        if passkey.id == id:
            return passkey.name
    raise PasskeyMissing


# Authenticator app and recovery codes.


@form_operation("account/totp", other_statuses=(303,))
async def set_up_totp_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Begin to set up an authenticator app: the page shows its key as a QR code. With a `code`, turn it on; the page
    then shows the recovery codes."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        if "code" not in form:
            return await _totp(visit, await totp.enrol_totp(visit.call))
        code = "".join(form["code"].split())
        try:
            enrolled = await totp.confirm_totp(visit.call, msgspec.convert({"code": code}, totp.TotpCode))
        except (CodeInvalid, msgspec.ValidationError):
            raise FirstCodeWrong from None
        return await _codes(visit, enrolled.codes, after="totp-on")

    async def render(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
        # After a wrong code, show the same key again: the app has it already. Not to a session that has no recent
        # sign-in, because another one may have begun the set-up.
        await _require_fresh(visit)
        key = await totp.pending_totp(visit.call) if "code" in (entered or {}) else None
        return await (_totp(visit, key, problem) if key is not None else _back_to_account(visit, problem=problem))

    return await submit(call, request, "account", act, render)


async def _totp(visit: Visit, enrolment: totp.TotpEnrolment, problem: Problem | None = None) -> HttpResponse:
    return await visit.shown(
        "account-totp.html",
        problem=problem,
        uri=enrolment.uri,
        key=grouped(enrolment.secret),
        qr=qr_code(enrolment.uri),
        action=visit.url("account/totp"),
    )


@page_operation("account/totp/off", other_statuses=(303,))
async def totp_off_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that turns the authenticator app off."""
    return await show(call, request, "account/totp/off", _totp_off)


@form_operation("account/totp/off", other_statuses=(303,))
async def turn_totp_off_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Turn the authenticator app off with one of its codes or a recovery code."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        body = msgspec.convert(totp.code_field_of(form["code"]), totp.SecondFactorProof)
        await totp.disable_totp(visit.call, body)
        return visit.done("account", "totp-off")

    return await submit(call, request, "account/totp/off", act, _totp_off)


async def _totp_off(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
    form = form_values(
        text("Turn off the authenticator app?"),
        visit.url("account/totp/off"),
        text("Turn off"),
        paragraphs=[text("Signing in will no longer ask for a code. Your recovery codes stop working.")],
        inputs=[code_input(text("Code from the app, or a recovery code"), maxlength=32)],
        danger=True,
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


@page_operation("account/recovery-codes", other_statuses=(303,))
async def recovery_codes_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that makes new recovery codes."""
    return await show(call, request, "account/recovery-codes", _renew_codes)


@form_operation("account/recovery-codes", other_statuses=(303,))
async def renew_recovery_codes_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Make new recovery codes, and show them once."""

    async def act(visit: Visit, form: dict[str, str]) -> HttpResponse:
        body = msgspec.convert({"code": "".join(form["code"].split())}, totp.TotpCode)
        renewed = await totp.renew_recovery_codes(visit.call, body)
        return await _codes(visit, renewed.codes)

    return await submit(call, request, "account/recovery-codes", act, _renew_codes)


async def _renew_codes(visit: Visit, *, problem: Problem | None = None, entered: Entered = None) -> HttpResponse:
    form = form_values(
        text("New recovery codes"),
        visit.url("account/recovery-codes"),
        text("Make new codes"),
        paragraphs=[text("Each code signs you in once if you lose the app. The codes that you have stop working.")],
        inputs=[code_input(text("Code from the app"))],
        back=visit.url("account"),
    )
    return await visit.form(form, problem=problem)


async def _codes(visit: Visit, codes: list[str], after: str = "") -> HttpResponse:
    next_url = visit.url("account", done=after) if after else visit.url("account")
    return await visit.shown("account-codes.html", codes=codes, next_url=next_url)


# Accounts at providers.


@form_operation("account/identities/{key}/connect", other_statuses=(303,))
async def connect_by_page(call: Call, request: RawRequest, key: str) -> HttpResponse:
    """Begin to connect an account at a provider: a page that leads there."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        body = linking.IdentityLinkRequest(
            redirect_url=account_link_url(call),
            code_challenge=code_challenge(_link_verifier(visit)),
            # Not the token of the forms: the provider sees it, and it is in URLs.
            state=visit.call.world.secrets.sign(LINK_PURPOSE, _link_data(visit)),
        )
        started = await linking.begin_identity_link(visit.call, key, body)
        # Not a redirect: browsers check a redirect after a form against its `form-action`, which does not list the
        # provider.
        return await visit.shown(
            "account-onwards.html", url=started.url, provider=await provider_name(call.db, call.project_id, key)
        )

    return await submit(call, request, "account", act, _back_to_account)


@page_operation("account/connected", other_statuses=(303,))
async def connected_page(
    call: Call, request: RawRequest, code: str = "", state: str = "", error: str = ""
) -> HttpResponse:
    """Where a provider returns to: connects the account, if this session began it."""

    async def render(visit: Visit) -> HttpResponse:
        if error or not visit.call.world.secrets.verify(LINK_PURPOSE, _link_data(visit), state):
            raise CodeInvalid
        body = msgspec.convert({"code": code, "codeVerifier": _link_verifier(visit)}, linking.IdentityLinkCompletion)
        await linking.finish_identity_link(visit.call, body)
        return visit.done("account", "connected")

    return await show(call, request, "account", render)


def _link_verifier(visit: Visit) -> str:
    """The code verifier (RFC 7636 §4.1) with which this session connects accounts."""
    session = f"{visit.call.project_id}|{visit.session.session_id}"
    return visit.call.world.secrets.digest("account-link", session).hex()


def _link_data(visit: Visit) -> bytes:
    return visit.call.project_id.bytes + visit.session.session_id.bytes


@page_operation("account/identities/{key}/disconnect", other_statuses=(303,))
async def disconnect_page(call: Call, request: RawRequest, key: str) -> HttpResponse:
    """The page that asks before an account at a provider is disconnected."""
    return await show(call, request, "account", _disconnect(key))


@form_operation("account/identities/{key}/disconnect", other_statuses=(303,))
async def disconnect_by_page(call: Call, request: RawRequest, key: str) -> HttpResponse:
    """Disconnect an account at a provider."""

    async def act(visit: Visit, _form: dict[str, str]) -> HttpResponse:
        await linking.unlink_identity(visit.call, key)
        return visit.done("account", "disconnected")

    return await submit(call, request, "account", act, _disconnect(key))


def _disconnect(key: str) -> Callable[..., Awaitable[HttpResponse]]:
    async def render(visit: Visit, *, problem: Problem | None = None, entered: Any = None) -> HttpResponse:
        await _require_fresh(visit)
        if key in RESERVED_KEYS or key not in visit.customer.providers:
            raise linking.IdentityMissing
        form = form_values(
            text("Disconnect {provider}?", provider=await provider_name(visit.call.db, visit.call.project_id, key)),
            visit.url(f"account/identities/{key}/disconnect"),
            text("Disconnect"),
            paragraphs=[text("You can no longer sign in with it.")],
            danger=True,
            back=visit.url("account"),
        )
        return await visit.form(form, problem=problem)

    return render
