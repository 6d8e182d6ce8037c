"""Where the links in mail to developers lead: a page with a button, so that a link preview uses nothing up."""

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


@get("/verify-email", public=True, any_query=True, hidden=True)
async def verify_email_page(token: TokenText = "") -> HttpResponse:
    """Asks to confirm an address."""
    return _verify_page(token)


@post("/verify-email", public=True, any_query=True, hidden=True)
async def verify_email_form(call: Call, request: RawRequest) -> HttpResponse:
    """Confirms an address."""
    token = (await read_form(request)).get("token", "")
    try:
        verified = await verify_developer_email(call, VerifyEmail(token=token))
    except Problem as problem:
        return simple_page("Confirm your address", error=problem.detail, status=problem.status)
    return simple_page("Thank you", f"{verified.email} is confirmed. You can sign in with it now.")


@get("/reset-password", public=True, any_query=True, hidden=True)
async def reset_password_page(token: TokenText = "") -> HttpResponse:
    """Asks for a new password."""
    return _reset_page(token)


@post("/reset-password", public=True, any_query=True, hidden=True)
async def reset_password_form(call: Call, request: RawRequest) -> HttpResponse:
    """Sets the new password."""
    given = await read_form(request)
    token = given.get("token", "")
    try:
        password = msgspec.convert(given.get("password", ""), Password)
        await reset_developer_password(call, ResetPassword(token=token, new_password=password))
    except msgspec.ValidationError:
        return _reset_page(token, "A password has 8 to 256 characters.", 400)
    except Problem as problem:
        return _reset_page(token, problem.detail, problem.status)
    return simple_page("Done", "Your password is changed, and all sessions have ended. Sign in with the new one.")


@get("/join", public=True, any_query=True, hidden=True)
async def join_page(token: TokenText = "") -> HttpResponse:
    """Asks an invited person for what a sign-up needs."""
    return _join_page(token)


@post("/join", public=True, any_query=True, hidden=True)
async def join_form(call: Call, request: RawRequest) -> HttpResponse:
    """Signs an invited person up."""
    given = await read_form(request)
    token = given.get("token", "")
    body = {name: given.get(name, "") for name in ("email", "password", "name")} | {"invitationToken": token}
    try:
        joined = await sign_up_developer(call, msgspec.convert(body, DeveloperSignUp))
    except msgspec.ValidationError:
        return _join_page(token, given, "An address, and a password of 8 to 256 characters, are needed.", 400)
    except Problem as problem:
        return _join_page(token, given, problem.detail, problem.status)
    return simple_page("Welcome", f"You are a member now, as {joined.developer.role}. Sign in with your address.")


def _verify_page(token: str) -> HttpResponse:
    return simple_page("Confirm your address", forms=[PageForm(button="Confirm", hidden={"token": token})])


def _reset_page(token: str, problem: str = "", status: int = 200) -> HttpResponse:
    password = FormField(name="password", label="New password", type="password", autocomplete="new-password")
    form = PageForm(button="Change password", fields=[password], hidden={"token": token})
    return simple_page("Choose a new password", error=problem, forms=[form], status=status)


def _join_page(token: str, given: dict[str, str] | None = None, problem: str = "", status: int = 200) -> HttpResponse:
    kept = given or {}
    fields = [
        FormField(name="name", label="Your name", type="text", autocomplete="name", value=kept.get("name", "")),
        FormField(name="email", label="E-mail", type="email", autocomplete="username", value=kept.get("email", "")),
        FormField(name="password", label="Password", type="password", autocomplete="new-password"),
    ]
    return simple_page(
        "Accept the invitation",
        "Sign up with the address that the invitation was sent to. If you have a developer account already, accept it "
        "there instead, through the API.",
        error=problem,
        forms=[PageForm(button="Join", fields=fields, hidden={"token": token})],
        status=status,
    )
