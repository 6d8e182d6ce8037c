"""Hosted pages: sign-in, sign-up and password reset for apps without such pages of their own.

The app sends a browser to `…/auth/pages/sign-in?redirectUrl=…&codeChallenge=…&state=…`. The browser returns with
`code`, which the app exchanges at `auth/token`. The pages are HTML forms without cookies; they call the operations of
the API. JavaScript is needed only for passkeys. With `then=passkey`, the customer can add a passkey after signing in.
If the domain of an address has a single sign-on connection, the pages send the browser to the identity provider.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlencode, urlsplit
from uuid import UUID

import msgspec

from postern.identity.customers import (
    credentials,
    mailer,
    page_text_store,
    passkeys,
    provider_store,
    requirement_store,
    rules,
    sign_in,
    sign_up,
    terms,
    totp,
)
from postern.identity.customers.challenge_payloads import Grant, PasskeyPage, RecoveryCodesPage
from postern.identity.customers.mailed_challenges import (
    CodeVerification,
    EmailOnly,
    SignInCodeVerification,
    SignInLinkRequest,
)
from postern.identity.customers.model import (
    CODE_LIFE,
    GRANT_LIFE,
    MFA_LIFE,
    SignInBlocked,
    SignInLocked,
    TermsNotAccepted,
)
from postern.identity.customers.providers import CodeChallenge, continue_grant, require_flow_redirect
from postern.identity.customers.remembered_devices import days_offered
from postern.identity.customers.requirements import SsoEntry, SsoRequired
from postern.identity.customers.sessions import bearer_of
from postern.identity.customers.tokens import CustomerSignInResult
from postern.kernel.http.call import Call
from postern.kernel.http.cookies import cookie, cookie_name
from postern.kernel.http.operation import FORM, Operation, RawRequest, get, post
from postern.kernel.http.problems import Invalid, Missing, Problem
from postern.kernel.http.responses import HttpResponse
from postern.kernel.http.validation import invalid_value
from postern.kernel.values import Moment, Record, timestamp
from postern.messaging.certificates.pages_domains import pages_base_url
from postern.platform.projects.model import Project, SignInSettings
from postern.protocols.oidc.authorization import authorization_url
from postern.security import challenges
from postern.security.attempts import throttle
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.passkeys import PASSKEY_CHALLENGE_LIFE, NewPasskey, PasskeyName, PasskeyOptions, PasskeySignIn
from postern.web.languages import (
    DEFAULT_LANGUAGE,
    LANGUAGES,
    Text,
    chosen_language,
    counted_text,
    format_moment,
    format_time_of_day,
    language_of,
    text,
)
from postern.web.page_texts import texts_in
from postern.web.pages import SCRIPT_SOURCES, page, read_form, redirect
from postern.web.problem_texts import text_of
from postern.web.qr import qr_code
from postern.web.themes import style_of, theme_of

P = ParamSpec("P")
R = TypeVar("R")
FORM_LIMIT = 65_536
HTML = ("text/html",)
WITH_PASSKEYS = ("sign-in.html", "credentials.html", "passkey.html", "account-passkey.html", "oauth-step-up.html")
"""Pages that load the script for passkeys, if the project uses passkeys."""
ICONS = {
    "accounts.google.com": "GOOGLE",
    "login.microsoftonline.com": "MICROSOFT",
    "appleid.apple.com": "APPLE",
    "github.com": "GITHUB",
    "gitlab.com": "GITLAB",
    "discord.com": "DISCORD",
    "slack.com": "SLACK",
    "www.linkedin.com": "LINKEDIN",
    "www.facebook.com": "FACEBOOK",
    "x.com": "X",
}
"""The icons of providers by the hosts of their issuers."""
DEVICE_COOKIE = "postern-device-"
"""Prefix of the names of the cookies by which browsers are remembered."""
DEVICE_TOKEN_LIMIT = 200
"""Longest token of a remembered device that is read, in characters."""
EMAIL_LIMIT = 254
"""Maximum length of the address that a link can enter into a form, in characters (RFC 5321 §4.5.3.1)."""
PAGE_TRIES = 30
"""How many requests one page token allows, successful or not."""
BLANK: dict[str, Any] = {
    **dict.fromkeys(("email", "name", "token", "mfaToken", "pageToken", "challenge", "action", "resent"), ""),
    **dict.fromkeys(("termsToken", "acceptedTerms", "terms_error"), ""),
    "qr": None,
    "until": None,
    "wrong_password": False,
}
"""Defaults for values that templates use and that not every page sets."""


class FirstCodeWrong(CodeInvalid, code="wrong_first_code"):
    """This code is wrong. Enter the code that the authenticator app shows now for this key. It changes every 30
    seconds."""


class SsoNotOffered(Missing, code="no_sign_on_here"):
    """No organization uses single sign-on for this e-mail domain. Sign in another way."""


class HostedFlow(Record):
    """The parameters with which an app began a sign-in on hosted pages."""

    redirect_url: str
    code_challenge: str
    state: str
    adds_passkey: bool = False
    asks_factor: bool = False
    """Whether the second factor is asked for on a remembered device, too."""

    def return_parameters(self) -> dict[str, str]:
        """The parameters that a redirect to the app needs."""
        return {"redirectUrl": self.redirect_url, "codeChallenge": self.code_challenge, "state": self.state}

    def fields(self) -> dict[str, str]:
        """The hidden form fields that pages pass on to each other."""
        return {
            **self.return_parameters(),
            **({"then": "passkey"} if self.adds_passkey else {}),
            **({"factor": "ask"} if self.asks_factor else {}),
        }


FIELDS = {
    "email": "E-mail address.",
    "password": "Password.",
    "name": "Name of the person who signs up.",
    "code": "One-time code from the mail or the authenticator app.",
    "token": "Token from the link in the mail.",
    "challengeId": "Id of the challenge, from the previous page.",
    "mfaToken": "Token for the second factor, from the previous page.",
    "termsToken": "Token of the sign-in that waits for the terms, from the previous page.",
    "acceptedTerms": "Version of the terms that the person has accepted.",
    "credential": "Credential from the browser's `navigator.credentials`, as JSON.",
    "pageToken": "Token of this page, from its hidden form field; it can complete the page once.",
    "redirectUrl": "Where the browser goes after sign-in; one of the project's `redirectUrls`.",
    "codeChallenge": "S256 code challenge (RFC 7636).",
    "state": "Value of the app, returned to `redirectUrl` unchanged.",
    "then": "`passkey` to offer adding a passkey after sign-in.",
    "factor": "`ask` to ask for the second factor on a remembered device, too.",
    "remember": "Whether the second factor shall not be asked for on this device again for some days.",
    "switch": "If this is sent, the page is shown again, in the language `lang` of the query.",
}
"""All fields of the forms of these pages; each page has some of them."""


def page_form(
    path: str, problems: Sequence[type[Problem]], **options: Any
) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """A decorator for an operation that takes the form of a page. `options` are those of `post`, such as
    `other_statuses=(303,)` if the operation may redirect."""
    return post(
        f"/projects/{{project_id}}/auth/pages/{path}",
        public=True,
        ignore_unknown_query=True,
        media_types=HTML,
        takes=FORM,
        fields=FIELDS,
        body_limit=FORM_LIMIT,
        problems=problems,
        **options,
    )


@get("/projects/{project_id}/auth/pages/style.css", public=True, ignore_unknown_query=True, media_types=("text/css",))
async def page_style(call: Call) -> HttpResponse:
    """The stylesheet of the hosted pages, with the project's theme."""
    project = await sign_in.project_of_call(call)
    css = style_of(theme_of(project.settings.sign_in.accent_color, project.settings.sign_in.theme))
    return HttpResponse(css, media_type="text/css", headers={"Cache-Control": "public, max-age=300"})


@get(
    "/projects/{project_id}/auth/pages/sign-in",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    problems=[Invalid],
)
async def sign_in_page(call: Call, request: RawRequest) -> HttpResponse:
    """The sign-in page. Takes `redirectUrl` (one of the project's), `codeChallenge` (S256) and `state`."""
    return await _form_page(call, "sign-in.html", request.query_params)


@page_form("sign-in", sign_in.sign_in_customer.problems, other_statuses=(303,))
async def sign_in_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Sign in with e-mail address and password.

    With the address alone, the next page asks for what the address can sign in with: single sign-on if its domain has
    it, otherwise what the project and the organization of the domain allow. It does not tell whether there is an
    account.
    """

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        email, _ = rules.read_email(form["email"])
        if sso := await call.world.hooks.sso_entry_of_address(call, form["email"]):
            return await _sso_page(call, flow, sso)
        if "password" not in form:
            return await hosted_page(call, "credentials.html", flow, email=email)
        fields = {"email": form["email"], "password": form["password"], **_device_field(call, request, flow)}
        body = msgspec.convert(fields, sign_in.PasswordSignIn)
        return await _next_page(call, flow, await sign_in.sign_in_customer(call, body))

    return await _process_form(call, request, "credentials.html", act)


@get(
    "/projects/{project_id}/auth/pages/sign-up",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    problems=[Invalid],
)
async def sign_up_page(call: Call, request: RawRequest) -> HttpResponse:
    """The sign-up page."""
    return await _form_page(call, "sign-up.html", request.query_params)


@page_form("sign-up", sign_up.sign_up_customer.problems, other_statuses=(303,))
async def sign_up_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Sign up. The next page asks for the code that was mailed; if no code is needed, the sign-in continues at once."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        if sso := await call.world.hooks.sso_entry_of_address(call, form["email"]):
            return await _sso_page(call, flow, sso)
        body = {
            "email": form["email"],
            **{name: form.get(name) or None for name in ("password", "name", "acceptedTerms")},
        }
        pending = await sign_up.sign_up_customer(call, msgspec.convert(body, sign_up.CustomerSignUp))
        if pending.challenge_id is None:
            return await _next_page(call, flow, pending)
        challenge = str(pending.challenge_id)
        return await hosted_page(
            call,
            "verify.html",
            flow,
            challenge=challenge,
            action="sign-up/verify",
            email=form["email"],
            until=call.now + CODE_LIFE,
        )

    return await _process_form(call, request, "sign-up.html", act)


@page_form("sign-up/resend", sign_up.resend_sign_up_code.problems)
async def resend_sign_up_code_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Mail another code for a pending sign-up."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        pending = await sign_up.resend_sign_up_code(call, sign_up.CodeResend(challenge_id=form["challengeId"]))
        challenge, email = str(pending.challenge_id), form.get("email", "")
        return await hosted_page(
            call,
            "verify.html",
            flow,
            challenge=challenge,
            action="sign-up/verify",
            email=email,
            resent="1",
            until=call.now + CODE_LIFE,
        )

    return await _process_form(call, request, "verify.html", act, action="sign-up/verify")


@page_form("sign-up/verify", sign_up.verify_sign_up.problems, other_statuses=(303,))
async def verify_sign_up_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Finish a sign-up with the code that was mailed."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        return await _next_page(call, flow, await sign_up.verify_sign_up(call, _code_of(form)))

    return await _process_form(call, request, "verify.html", act, action="sign-up/verify")


@page_form("code", sign_in.request_sign_in_code.problems, other_statuses=(303,))
async def ask_for_code_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Mail a sign-in code; the next page asks for it."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        if sso := await call.world.hooks.sso_entry_of_address(call, form["email"]):
            return await _sso_page(call, flow, sso)
        pending = await sign_in.request_sign_in_code(call, msgspec.convert({"email": form["email"]}, EmailOnly))
        return await hosted_page(
            call,
            "verify.html",
            flow,
            challenge=str(pending.challenge_id),
            action="code/verify",
            email=form["email"],
            resent=form.get("resent", ""),
            until=call.now + CODE_LIFE,
        )

    return await _process_form(call, request, "sign-in.html", act)


@page_form("sso", [Invalid, SsoNotOffered])
async def sign_on_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Sign in with single sign-on: forward the browser to the identity provider of the organization that has the domain
    of the address."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        sso = await call.world.hooks.sso_entry_of_address(call, form["email"])
        if sso is None:
            raise SsoNotOffered
        return await _sso_page(call, flow, sso)

    return await _process_form(call, request, "sign-in.html", act)


@page_form("code/verify", sign_in.sign_in_with_code.problems, other_statuses=(303,))
async def sign_in_with_code_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Sign in with the code that was mailed."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        code_fields = {"challengeId": form["challengeId"], "code": "".join(form["code"].split())}
        body = msgspec.convert({**code_fields, **_device_field(call, request, flow)}, SignInCodeVerification)
        return await _next_page(call, flow, await sign_in.sign_in_with_code(call, body))

    return await _process_form(call, request, "verify.html", act, action="code/verify")


@page_form("mfa", totp.verify_second_factor.problems, other_statuses=(303,))
async def second_factor_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Finish a sign-in with a code of the authenticator app or a recovery code."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        body = {"mfaToken": form["mfaToken"], **totp.code_field_of(form["code"]), "rememberDevice": "remember" in form}
        body = msgspec.convert(body, totp.SecondFactorSignIn)
        signed_in = await totp.verify_second_factor(call, body)
        response = await _next_page(call, flow, signed_in)
        if signed_in.remembered_device_token is not None and signed_in.remembered_device_expires_at is not None:
            seconds = (signed_in.remembered_device_expires_at - call.now).total_seconds()
            set_cookie = {"Set-Cookie": _device_cookie(call, signed_in.remembered_device_token, seconds)}
            response = replace(response, headers={**(response.headers or {}), **set_cookie})
        return response

    return await _process_form(call, request, "mfa.html", act)


@page_form("mfa/enroll", totp.confirm_required_totp.problems, other_statuses=(303,))
async def set_up_second_factor_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Turn on a required second factor with its first code; the next page shows the recovery codes."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        token = form["mfaToken"]
        try:
            body = {"mfaToken": token, "code": "".join(form["code"].split())}
            enrolled = await totp.confirm_required_totp(call, msgspec.convert(body, totp.EnrollmentProof))
        except SignInLocked as problem:
            return await _enrollment_page(call, flow, token, problem)
        except (CodeInvalid, msgspec.ValidationError):
            return await _enrollment_page(call, flow, token, FirstCodeWrong())
        assert enrolled.customer is not None
        assert enrolled.session_id is not None
        page_token, _ = await challenges.issue_token(
            call.db,
            call,
            RecoveryCodesPage(session_id=enrolled.session_id),
            MFA_LIFE,
            subject_id=enrolled.customer.id,
        )
        return await hosted_page(call, "recovery-codes.html", flow, codes=enrolled.recovery_codes, pageToken=page_token)

    return await _process_form(call, request, "mfa-enroll.html", act)


@page_form("mfa/enroll/done", [CodeInvalid], other_statuses=(303,))
async def leave_recovery_codes_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Leave the page with the recovery codes: continue to the app, or first to the page that adds a passkey."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        # Checks the page token, and counts a try.
        challenge = await challenges.answer_token(call, RecoveryCodesPage, form["pageToken"], max_tries=PAGE_TRIES)
        assert challenge.subject_id is not None
        async with call.db.transaction() as tx:
            payload = await challenges.consume(tx, challenge)
        return await _passkey_page_or_return(call, flow, challenge.subject_id, payload.session_id)

    return await _process_form(call, request, "mfa-enroll.html", act)


@get(
    "/projects/{project_id}/auth/pages/mfa",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    problems=[Invalid],
)
async def second_factor_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that asks for a second factor, with the `mfaToken` of a sign-in that returned `mfaRequired`.

    Also takes the parameters of `pages/sign-in`, with a new `codeChallenge`. After a sign-in that returned
    `mfaEnrollmentRequired`, the page sets up a second factor.
    """
    query = dict(request.query_params)
    flow, token = await _read_flow(call, query), query.get("mfaToken", "")
    if await totp.is_enrollment(call, token):
        return await _enrollment_page(call, flow, token)
    return await hosted_page(call, "mfa.html", flow, mfaToken=token)


@get(
    "/projects/{project_id}/auth/pages/terms",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    problems=[Invalid],
)
async def terms_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that asks to accept the terms, with the `termsToken` of a sign-in that returned `termsRequired`.

    Also takes the parameters of `pages/sign-in`, with a new `codeChallenge`.
    """
    query = dict(request.query_params)
    flow, token = await _read_flow(call, query), query.get("termsToken", "")
    if not await terms.is_pending(call, token):
        return await _form_page(call, "sign-in.html", query, CodeInvalid())
    return await hosted_page(call, "terms.html", flow, termsToken=token)


@page_form("terms", terms.accept_terms.problems, other_statuses=(303,))
async def accept_terms_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Accept the terms, and continue the sign-in."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        body = terms.TermsProof(terms_token=form["termsToken"], accepted_terms=form.get("acceptedTerms") or None)
        return await _next_page(call, flow, await terms.accept_terms(call, body))

    return await _process_form(call, request, "terms.html", act)


@get(
    "/projects/{project_id}/auth/pages/continue",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    problems=[Invalid, CodeInvalid, SignInBlocked],
    other_statuses=(303,),
)
async def continue_on_page(call: Call, request: RawRequest) -> HttpResponse:
    """Continue a sign-in that began on a hosted page, after the customer has signed in at a provider.

    Shows the page for the second factor if one is needed, otherwise redirects to the app.
    """
    query = dict(request.query_params)
    flow = await _read_flow(call, query)
    token = _device_field(call, request, flow).get("rememberedDeviceToken")
    signed_in = await continue_grant(call, query.get("code", ""), flow.code_challenge, remembered_device_token=token)
    return await _next_page(call, flow, signed_in)


@post(
    "/projects/{project_id}/auth/pages/passkey/options",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields=FIELDS,
    body_limit=FORM_LIMIT,
    problems=[*passkeys.begin_passkey_registration.problems, CodeInvalid],
)
async def passkey_options_for_page(call: Call, request: RawRequest) -> PasskeyOptions:
    """WebAuthn options for the script of the pages: to sign in or, with `pageToken`, to add a passkey."""
    form = await read_form(request)
    if "pageToken" not in form:
        return await passkeys.begin_passkey_sign_in(call)
    throttle(call, sign_in.ATTEMPTS)
    _, customer_call = await _page_session(call, form)
    return await passkeys.begin_passkey_registration(customer_call)


@page_form("passkey", passkeys.sign_in_with_passkey.problems, other_statuses=(303,))
async def sign_in_with_passkey_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Sign in with a passkey."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        body = PasskeySignIn(challenge_id=form["challengeId"], credential=credential_of(form))
        return await _next_page(call, flow, await passkeys.sign_in_with_passkey(call, body))

    return await _process_form(call, request, "sign-in.html", act)


@page_form("passkey/add", passkeys.add_passkey.problems, other_statuses=(303,))
async def add_passkey_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Add a passkey to the customer who signed in on the previous page, and continue to the app."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        challenge, customer_call = await _page_session(call, form)
        name = msgspec.convert(form.get("name") or "Passkey", PasskeyName)
        body = NewPasskey(challenge_id=form["challengeId"], credential=credential_of(form), name=name)
        await passkeys.add_passkey(customer_call, body)
        customer_id, session_id = await _consume_page_token(call, challenge, customer_call)
        return await _return_to_app(call, flow, customer_id, session_id)

    return await _process_form(call, request, "passkey.html", act)


@page_form("passkey/skip", [CodeInvalid], other_statuses=(303,))
async def skip_passkey_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Continue to the app without adding a passkey."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        challenge, customer_call = await _page_session(call, form)
        customer_id, session_id = await _consume_page_token(call, challenge, customer_call)
        return await _return_to_app(call, flow, customer_id, session_id)

    return await _process_form(call, request, "passkey.html", act)


@get("/projects/{project_id}/auth/pages/forgot", public=True, ignore_unknown_query=True, media_types=HTML)
async def forgot_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page to request a password reset. With the parameters of `pages/sign-in`, it links back to that page."""
    if "redirectUrl" in request.query_params:
        return await _form_page(call, "forgot.html", request.query_params)
    return await hosted_page(call, "forgot.html", None)


@page_form("forgot", credentials.request_password_reset.problems)
async def forget_password_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Request a password reset: if there is an account with this address, mail a link to set a new password. The
    response is the same if there is none."""

    async def act(form: dict[str, str], flow: HostedFlow | None) -> HttpResponse:
        await credentials.request_password_reset(call, msgspec.convert({"email": form["email"]}, SignInLinkRequest))
        message = text("If there is an account with this address, we have sent it a link. It is valid for 30 minutes.")
        return await hosted_page(call, "notice.html", flow, heading=text("Check your e-mail"), message=message)

    return await _process_form(call, request, "forgot.html", act, needs_flow=False)


@get("/projects/{project_id}/auth/pages/reset", public=True, ignore_unknown_query=True, media_types=HTML)
async def reset_page(call: Call, token: str = "") -> HttpResponse:
    """The page of a reset link. Opening it does not use up the link; a used or expired link shows a message."""
    if not await credentials.is_reset_open(call, token):
        message = text("This link was already used or has expired. Request a new one.")
        return await hosted_page(call, "expired-link.html", None, message=message)
    return await hosted_page(call, "reset.html", None, token=token)


@page_form("reset", credentials.reset_password.problems)
async def reset_password_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Set a new password with the token of a reset link, and show a notice. All sessions of the customer end; for the
    other effects see `POST …/auth/password/reset`."""

    async def act(form: dict[str, str], flow: HostedFlow | None) -> HttpResponse:
        body = msgspec.convert({"token": form["token"], "password": form["password"]}, credentials.PasswordReset)
        await credentials.reset_password(call, body)
        message = text("Your password was changed. Sign in with the new one.")
        return await hosted_page(call, "notice.html", None, heading=text("Done"), message=message)

    return await _process_form(call, request, "reset.html", act, needs_flow=False)


async def _process_form(
    call: Call,
    request: RawRequest,
    template: str,
    act: Callable[[dict[str, str], Any], Awaitable[HttpResponse]],
    *,
    needs_flow: bool = True,
    **values: Any,
) -> HttpResponse:
    """Read a form and return the response of `act`. If `act` raises a problem, show the form again with a message.

    `act` gets the fields and the flow. Without `needs_flow`, the flow is None if the form has no `redirectUrl`.
    `template` is the page with the form, `values` are for this template.
    """
    form = await read_form(request)
    flow = await _read_flow(call, form) if needs_flow or "redirectUrl" in form else None
    kept = ("email", "name", "token", "mfaToken", "pageToken", "termsToken", "acceptedTerms")
    entered: dict[str, Any] = {name: form.get(name, "") for name in kept}
    entered["challenge"] = form.get("challengeId", "")
    if "switch" in form:
        return await hosted_page(call, template, flow, **entered, **values)  # Only in another language.
    try:
        return await act(form, flow)
    except SsoRequired as required:
        if flow is not None and required.sign_on is not None:
            return await _sso_page(call, flow, required.sign_on)
        problem: Problem = required
    except KeyError as missing:
        problem = Invalid.at(f"/{missing.args[0]}", "This field is missing.", "field_missing")
    except msgspec.ValidationError as error:
        problem = invalid_value(error, dict)
    except Problem as raised:
        problem = raised
    wrong_address = any(error.path == "/email" for error in problem.errors or [])
    if template == "credentials.html" and ("password" not in form or wrong_address):
        template = "sign-in.html"  # The next page cannot correct the address.
    if template == "terms.html" and isinstance(problem, CodeInvalid):
        template = "sign-in.html"  # The sign-in does not wait any more.
    error = text_of(problem)
    wrong_password = any(error.path == "/password" for error in problem.errors or [])
    if isinstance(problem, TermsNotAccepted):
        entered["terms_error"], error = error, ""  # Beside the box.
    return await hosted_page(
        call,
        template,
        flow,
        status=problem.status,
        retry_after=problem.retry_after_seconds,
        error=error,
        wrong_password=wrong_password,
        **entered,
        **values,
    )


async def _form_page(call: Call, template: str, query: Any, problem: Problem | None = None) -> HttpResponse:
    """A page with an empty form, or with the `email` of `query`, which also has the parameters of the flow. `problem`
    is shown above the form. Raises Invalid."""
    parameters = {
        name: str(query.get(name, "")) for name in ("redirectUrl", "codeChallenge", "state", "then", "factor")
    }
    email = str(query.get("email", ""))[:EMAIL_LIMIT]
    flow = await _read_flow(call, parameters)
    status, error = (200, "") if problem is None else (problem.status, text_of(problem))
    return await hosted_page(call, template, flow, status=status, error=error, email=email)


def pending_page(signed_in: CustomerSignInResult) -> tuple[str, dict[str, str]] | None:
    """The page on which a sign-in must be finished, and its parameter; None if a session has begun."""
    if signed_in.mfa_required:
        return "mfa", {"mfaToken": signed_in.mfa_token or ""}
    if signed_in.terms_required:
        return "terms", {"termsToken": signed_in.terms_token or ""}
    return None


async def _next_page(call: Call, flow: HostedFlow, signed_in: CustomerSignInResult) -> HttpResponse:
    """The next step of a sign-in: the page for the second factor or the terms if one is needed, otherwise the redirect
    to the app, or first the page that adds a passkey."""
    if signed_in.mfa_enrollment_required:
        return await _enrollment_page(call, flow, signed_in.mfa_token or "")
    if signed_in.mfa_required:
        return await hosted_page(call, "mfa.html", flow, mfaToken=signed_in.mfa_token or "")
    if signed_in.terms_required:
        return await hosted_page(call, "terms.html", flow, termsToken=signed_in.terms_token or "")
    assert signed_in.customer is not None
    assert signed_in.session_id is not None
    return await _passkey_page_or_return(call, flow, signed_in.customer.id, signed_in.session_id)


async def _passkey_page_or_return(call: Call, flow: HostedFlow, customer_id: UUID, session_id: UUID) -> HttpResponse:
    """Redirect to the app, or show the page that adds a passkey first."""
    if not flow.adds_passkey:
        return await _return_to_app(call, flow, customer_id, session_id)
    token, _ = await challenges.issue_token(
        call.db, call, PasskeyPage(session_id=session_id), PASSKEY_CHALLENGE_LIFE, subject_id=customer_id
    )
    return await hosted_page(call, "passkey.html", flow, pageToken=token)


async def _enrollment_page(call: Call, flow: HostedFlow, token: str, problem: Problem | None = None) -> HttpResponse:
    """The page to set up an authenticator app. After a wrong code it shows the same secret again."""
    enrollment = await totp.begin_required_totp(call, totp.EnrollmentToken(mfa_token=token))
    return await hosted_page(
        call,
        "mfa-enroll.html",
        flow,
        status=200 if problem is None else problem.status,
        retry_after=None if problem is None else problem.retry_after_seconds,
        error="" if problem is None else text_of(problem),
        mfaToken=token,
        uri=enrollment.uri,
        key=" ".join(enrollment.secret[start : start + 4] for start in range(0, len(enrollment.secret), 4)),
        qr=qr_code(enrollment.uri),
    )


async def _return_to_app(call: Call, flow: HostedFlow, customer_id: UUID, session_id: UUID) -> HttpResponse:
    """Redirect to the app with a grant for the session."""
    token, _ = await challenges.issue_token(
        call.db,
        call,
        Grant(code_challenge=flow.code_challenge, session_id=session_id),
        GRANT_LIFE,
        subject_id=customer_id,
    )
    parameters = {"code": token, **({"state": flow.state} if flow.state else {})}
    chosen = chosen_language(call.origin)
    if chosen and flow.redirect_url in (rules.provider_return_url(call), rules.account_return_url(call)):
        parameters["lang"] = chosen  # These are pages of this server, which has them in this language, too.
    return redirect(authorization_url(flow.redirect_url, **parameters), status=303)


async def _page_session(call: Call, form: dict[str, str]) -> tuple[Challenge[PasskeyPage], Call]:
    """The stored challenge (`security.challenges`) of a page token, and the call as if the customer had sent
    it. Counts a try. Raises CodeInvalid."""
    challenge = await challenges.answer_token(call, PasskeyPage, form["pageToken"], max_tries=PAGE_TRIES)
    caller = rules.caller_for(call, challenge.subject_id, session_id=challenge.payload.session_id)
    return challenge, replace(call, caller=caller)


async def _consume_page_token(call: Call, challenge: Challenge[PasskeyPage], customer_call: Call) -> tuple[UUID, UUID]:
    """Consume a page token. Returns the ids of its customer and session."""
    async with call.db.transaction() as tx:
        await challenges.consume(tx, challenge)
    return bearer_of(customer_call)


async def _sso_page(call: Call, flow: HostedFlow, sso: SsoEntry) -> HttpResponse:
    """A page that forwards the browser to the identity provider, or lets the person choose one of several.

    It is not a redirect: browsers also check a redirect after a form against the `form-action` of the page with the
    form, which does not list the provider.
    """
    query = urlencode(flow.return_parameters())
    if sso.choices:
        choices = [{"name": choice.name, "url": f"{choice.login_url}?{query}"} for choice in sso.choices]
        return await hosted_page(call, "sso-choose.html", flow, choices=choices)
    url = f"{sso.login_url}?{query}"
    return await hosted_page(call, "sso-redirect.html", flow, url=url, organization=sso.name)


async def hosted_page(
    call: Call,
    template: str,
    flow: HostedFlow | None,
    *,
    status: int = 200,
    retry_after: int | None = None,
    error: str | Text = "",
    form_target: str | None = None,
    headers: dict[str, str] | None = None,
    policy: dict[str, str] | None = None,
    switch_url: str | None = None,
    **values: Any,
) -> HttpResponse:
    """Render a template of `hosted/` with `values` and the project's branding.

    `flow` is None if no app began a flow, as with a mailed link. Providers and single sign-on are offered only with a
    flow, and not if the customer is going to add a passkey (`then=passkey`). `retry_after` is in seconds.
    `form_target` is the URL to which the form of the page is posted or redirects, if it is not one of this server.
    `policy` replaces sources of the Content-Security-Policy, by directive. `switch_url` shows this page again, for the
    links to other languages; pages of this module have their own. A datetime in `values` is shown as date and time in
    the language of the page, and `until` as time of day.
    """
    project = await sign_in.project_of_call(call)
    settings = project.settings.sign_in
    fields = flow.fields() if flow else {}
    language = language_of(call.origin, default=settings.default_language)
    chosen = chosen_language(call.origin)
    chosen_fields = {"lang": chosen} if chosen else {}
    adds_passkey = flow is not None and flow.adds_passkey
    offers_providers = flow is not None and not adds_passkey
    rows = await provider_store.providers(call.db, project_id=call.project_id) if offers_providers else []
    sso_only = settings.require_sso
    loads_script = (
        template in WITH_PASSKEYS
        and supports_passkeys(call, project)
        and not (sso_only and template in ("sign-in.html", "credentials.html"))
    )
    shown_email = str(values.get("email", ""))
    ways: list[str] = []
    if template == "credentials.html":
        ways = await _methods_of_address(call, settings, shown_email)
        loads_script = loads_script and "PASSKEY" in ways
    start_query = urlencode({**fields, **chosen_fields, "hosted": "true"})
    providers = [
        {
            "name": row.name,
            "icon": icon_of(row.kind, row.issuer),
            "url": f"{_auth_path(call)}/providers/{row.key}/start?{start_query}",
        }
        for row in rows
        if row.enabled and not sso_only
    ]
    shown_values: dict[str, Any] = {
        **BLANK,
        **{
            name: format_moment(language, value) if isinstance(value, datetime) else value
            for name, value in values.items()
        },
        "until": _shown_time(language, values.get("until")),
    }
    loads_times = template == "verify.html" and values.get("until") is not None
    content_security = SCRIPT_SOURCES if loads_script or loads_times else {}
    pictures = dict.fromkeys(_source(url) for url in (settings.logo_url, settings.theme.picture_url) if url)
    if pictures:
        content_security = {**content_security, "img-src": " ".join(pictures)}
    target = flow.redirect_url if flow else form_target
    if target:
        # Browsers check the redirect after a form against `form-action`, too.
        content_security = {**content_security, "form-action": _source(target)}
    own_texts = await page_text_store.own_texts(call.db, project_id=call.project_id, language=language)
    return page(
        f"hosted/{template}",
        own_texts={row.english: row.text for row in own_texts},
        status=status,
        policy={**content_security, **(policy or {})},
        language=language,
        headers={**(headers or {}), **({"Retry-After": str(retry_after)} if retry_after is not None else {})},
        site=mailer.app_name(project),
        error=error,
        logo=settings.logo_url,
        picture=settings.theme.picture_url,
        base=f"{_auth_path(call)}/pages",
        methods=[] if sso_only else settings.methods,
        texts=texts_in(settings.page_texts, language, settings.default_language or DEFAULT_LANGUAGE),
        ways=ways,
        forgot_url=f"{_auth_path(call)}/pages/forgot?{urlencode({**fields, **chosen_fields, 'email': shown_email})}",
        sign_up=settings.sign_up and not sso_only,
        sso_only=sso_only,
        providers=providers,
        sso=offers_providers and await call.world.hooks.has_active_sso(call),
        passkeys=loads_script,
        flow=fields,
        adds_passkey=adds_passkey,
        remember=_remember_label(project) if template == "mfa.html" else "",
        home=_home_of(settings.redirect_urls),
        query=urlencode({**fields, **chosen_fields}),
        lang_query=f"?{urlencode(chosen_fields)}" if chosen_fields else "",
        foot_links=[
            {"url": url, "text": name}
            for url, name in (
                (settings.privacy_url, text("Privacy")),
                (settings.terms_url, text("Terms")),
                (settings.help_url, text("Help")),
            )
            if url is not None
        ],
        accepted_links=[
            {"url": url, "text": name}
            for url, name in ((settings.terms_url, text("Terms")), (settings.privacy_url, text("Privacy")))
            if url is not None
        ],
        terms=rules.required_terms(settings),
        **_language_switch(call, template, language, fields, values, switch_url),
        **shown_values,
    )


def _language_switch(
    call: Call, template: str, language: str, fields: dict[str, str], values: dict[str, Any], switch_url: str | None
) -> dict[str, Any]:
    """The values of the page's foot that offer the other languages. None are offered on pages that cannot be shown
    again, such as that with the recovery codes.

    Pages that only a form can open are opened again by a form, which has a field `switch`.
    """
    pages_path = f"{_auth_path(call)}/pages"
    form: dict[str, Any] | None = None
    if template in ("sign-in.html", "sign-up.html", "forgot.html"):
        switch_url = f"{pages_path}/{template.removesuffix('.html')}?{urlencode(fields)}"
    elif template in ("mfa.html", "mfa-enroll.html"):
        switch_url = f"{pages_path}/mfa?{urlencode({**fields, 'mfaToken': values.get('mfaToken', '')})}"
    elif template == "terms.html":
        switch_url = f"{pages_path}/terms?{urlencode({**fields, 'termsToken': values.get('termsToken', '')})}"
    elif template == "reset.html":
        switch_url = f"{pages_path}/reset?{urlencode({'token': values.get('token', '')})}"
    elif template == "verify.html":
        switch_url = f"{pages_path}/{values['action']}"
        form = {**fields, "challengeId": values.get("challenge", ""), "email": values.get("email", "")}
    elif template == "credentials.html":
        switch_url = f"{pages_path}/sign-in"
        form = {**fields, "email": values.get("email", "")}
    elif template == "passkey.html":
        switch_url = f"{pages_path}/passkey/add"
        form = {**fields, "pageToken": values.get("pageToken", "")}
    path, _, query = (switch_url or "").partition("?")
    offered = [
        {"code": code, "name": name, "url": f"{path}?{'&'.join(part for part in (query, f'lang={code}') if part)}"}
        for code, name in LANGUAGES.items()
        if switch_url is not None and code != language
    ]
    return {
        "languages": offered,
        "language_name": LANGUAGES[language],
        "switch_form": None if form is None else {"action": switch_url, "fields": form},
    }


async def _methods_of_address(call: Call, settings: SignInSettings, email: str) -> list[str]:
    """The methods with which an address can sign in, as far as its domain tells: the same for all addresses at it."""
    if settings.require_sso:
        return []
    domain = email.rpartition("@")[2].strip().lower()
    lists = await requirement_store.methods_of_domain(call.db, project_id=call.project_id, domain=domain)
    return [method for method in settings.methods if all(method in allowed.allowed_methods for allowed in lists)]


def icon_of(kind: str, issuer: str) -> str:
    """The name of a provider's icon; "" if it has none. Only the issuer tells whose sign-in it is, not the name."""
    return kind if kind in ("GITHUB", "GITLAB", "APPLE") else ICONS.get(urlsplit(issuer).hostname or "", "")


def _shown_time(language: str, moment: datetime | None) -> dict[str, str] | None:
    """A time of day on a page: for the script that shows it in the time zone of the browser, and without it in UTC."""
    if moment is None:
        return None
    return {"iso": timestamp(Moment.of(moment)), "text": format_time_of_day(language, moment)}


def _home_of(redirect_urls: list[str]) -> str:
    """Where a page without a flow links to: the origin of the project's first redirect URL, or "" if it has none."""
    parts = urlsplit(redirect_urls[0]) if redirect_urls else None
    return f"{parts.scheme}://{parts.netloc}/" if parts and parts.scheme in ("http", "https") else ""


async def _read_flow(call: Call, parameters: dict[str, str]) -> HostedFlow:
    """The flow from the parameters of a page. Raises Invalid, also if the project does not list the redirect URL."""
    project: Project = await sign_in.project_of_call(call)
    try:
        challenge = msgspec.convert(parameters.get("codeChallenge", ""), CodeChallenge)
    except msgspec.ValidationError:
        raise Invalid.at(
            "query/codeChallenge", "This link is incomplete. Go back to the app and start again.", "required"
        ) from None
    url = await require_flow_redirect(call, project, parameters.get("redirectUrl", ""))
    return HostedFlow(
        redirect_url=url,
        code_challenge=challenge,
        state=parameters.get("state", "")[:1_000],
        adds_passkey=parameters.get("then") == "passkey" and supports_passkeys(call, project),
        asks_factor=parameters.get("factor") == "ask",
    )


def supports_passkeys(call: Call, project: Project) -> bool:
    """Whether pages can use passkeys: the passkey domain must be the host of the pages or a parent of it (WebAuthn)."""
    host = urlsplit(pages_base_url(call.world, call.project_id)).hostname or ""
    rp_id = passkeys.relying_party(call, project).id
    return "PASSKEY" in project.settings.sign_in.methods and (host == rp_id or host.endswith(f".{rp_id}"))


def credential_of(form: dict[str, str]) -> dict[str, Any]:
    """The credential of a form. Raises Invalid unless it is a JSON object."""
    try:
        return msgspec.json.decode(form["credential"], type=dict[str, Any])
    except msgspec.DecodeError:
        message = "Your browser sent no passkey. Passkeys need JavaScript: switch it on and try again."
        raise Invalid.at("/credential", message, "passkey_missing") from None


def _device_field(call: Call, request: RawRequest, flow: HostedFlow) -> dict[str, str]:
    """The field of a sign-in with the token by which this browser is remembered; empty if it is not, or the second
    factor is needed all the same, as it is to add a passkey."""
    token = request.cookies.get(cookie_name(call.world.settings, _device_cookie_name(call)), "")
    if not token or flow.asks_factor or flow.adds_passkey:
        return {}
    return {"rememberedDeviceToken": token[:DEVICE_TOKEN_LIMIT]}


def _remember_label(project: Project) -> Text | str:
    """The label of the box with which a browser is remembered; "" if it is not offered."""
    days = days_offered(project)
    if days is None:
        return ""
    return counted_text(
        "Do not ask for it on this device for {count} day", "Do not ask for it on this device for {count} days", days
    )


def _device_cookie(call: Call, token: str, seconds: float) -> str:
    """The cookie by which this browser is remembered after the second factor."""
    path = f"{_auth_path(call)}/pages"
    return cookie(call.world.settings, _device_cookie_name(call), token, path=path, seconds=int(seconds))


def _device_cookie_name(call: Call) -> str:
    return f"{DEVICE_COOKIE}{call.project_id}"


def _code_of(form: dict[str, str]) -> CodeVerification:
    code = "".join(form["code"].split())
    return msgspec.convert({"challengeId": form["challengeId"], "code": code}, CodeVerification)


def _source(url: str) -> str:
    """The source expression of a URL for `Content-Security-Policy`: its origin, or the scheme of a native app."""
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def _auth_path(call: Call) -> str:
    return f"/projects/{call.project_id}/auth"
