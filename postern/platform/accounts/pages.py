"""The pages to which links in mail to developers lead.

A link works once, so each page uses it only when its button is pressed: programs that preview links open the page.
"""

from typing import Annotated

import msgspec

from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest, get, post
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import HttpResponse
from postern.platform.accounts.model import DeveloperSignUp, Password
from postern.platform.accounts.operations import sign_up_developer
from postern.platform.accounts.recovery import (
    ResetPassword,
    VerifyEmail,
    reset_developer_password,
    verify_developer_email,
)
from postern.web.pages import FormField, PageForm, read_form, simple_page

TokenText = Annotated[str, msgspec.Meta(max_length=200)]


@get("/verify-email", public=True, ignore_unknown_query=True, hidden=True)
async def verify_email_page(token: TokenText = "") -> HttpResponse:
    """Show the page that asks to confirm an address."""
    return _verify_page(token)


@post("/verify-email", public=True, ignore_unknown_query=True, hidden=True)
async def verify_email_form(call: Call, request: RawRequest) -> HttpResponse:
    """Confirm an address."""
    token = (await read_form(request)).get("token", "")
    try:
        verified = await verify_developer_email(call, VerifyEmail(token=token))
    except Problem as problem:
        return simple_page("Confirm your address", error=problem.detail, status=problem.status)
    return simple_page("Thank you", f"Your address {verified.email} is confirmed. You can now sign in with it.")


@get("/reset-password", public=True, ignore_unknown_query=True, hidden=True)
async def reset_password_page(token: TokenText = "") -> HttpResponse:
    """Show the page that asks for a new password."""
    return _reset_page(token)


@post("/reset-password", public=True, ignore_unknown_query=True, hidden=True)
async def reset_password_form(call: Call, request: RawRequest) -> HttpResponse:
    """Set the new password."""
    form = await read_form(request)
    token = form.get("token", "")
    try:
        password = msgspec.convert(form.get("password", ""), Password)
        await reset_developer_password(call, ResetPassword(token=token, new_password=password))
    except msgspec.ValidationError:
        return _reset_page(token, "The password must have 8 to 256 characters.", 400)
    except Problem as problem:
        return _reset_page(token, problem.detail, problem.status)
    return simple_page("Done", "Your password was changed, and all sessions were ended. Sign in with the new password.")


@get("/join", public=True, ignore_unknown_query=True, hidden=True)
async def join_page(token: TokenText = "") -> HttpResponse:
    """Show the page on which an invited developer signs up."""
    return _join_page(token)


@post("/join", public=True, ignore_unknown_query=True, hidden=True)
async def join_form(call: Call, request: RawRequest) -> HttpResponse:
    """Sign up an invited developer, who becomes a member of the inviting account. Shows a page that asks to sign in."""
    form = await read_form(request)
    token = form.get("token", "")
    body = {name: form.get(name, "") for name in ("email", "password", "name")} | {"invitationToken": token}
    try:
        joined = await sign_up_developer(call, msgspec.convert(body, DeveloperSignUp))
    except msgspec.ValidationError:
        return _join_page(token, form, "Enter an email address, and a password of 8 to 256 characters.", 400)
    except Problem as problem:
        return _join_page(token, form, problem.detail, problem.status)
    text = f"You are now a member of the account, as {joined.developer.role}. Sign in with your email address."
    return simple_page("Welcome", text)


def _verify_page(token: str) -> HttpResponse:
    return simple_page("Confirm your address", forms=[PageForm(button="Confirm", hidden={"token": token})])


def _reset_page(token: str, problem: str = "", status: int = 200) -> HttpResponse:
    password = FormField(name="password", label="New password", type="password", autocomplete="new-password")
    form = PageForm(button="Change password", fields=[password], hidden={"token": token})
    return simple_page("Choose a new password", error=problem, forms=[form], status=status)


def _join_page(token: str, form: dict[str, str] | None = None, problem: str = "", status: int = 200) -> HttpResponse:
    entered = form or {}
    fields = [
        FormField(name="name", label="Your name", type="text", autocomplete="name", value=entered.get("name", "")),
        FormField(name="email", label="E-mail", type="email", autocomplete="username", value=entered.get("email", "")),
        FormField(name="password", label="Password", type="password", autocomplete="new-password"),
    ]
    return simple_page(
        "Accept the invitation",
        "Sign up with the address to which the invitation was sent. If you have a developer account already, accept "
        "the invitation with the API instead (POST /account/invitations/accept).",
        error=problem,
        forms=[PageForm(button="Join", fields=fields, hidden={"token": token})],
        status=status,
    )
