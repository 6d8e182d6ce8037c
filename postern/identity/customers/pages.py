"""Hosted pages: a login for apps that do not want to write one.

The app sends a browser to `…/auth/pages/sign-in?redirectUrl=…&codeChallenge=…&state=…` and gets it back with `code`,
which `auth/token` exchanges. The pages are forms; they keep no cookie, and do what the operations do. One script of
ours asks the browser for passkeys, and without it the rest works. With `then=passkey` a passkey is added on the way.
Whoever types an address whose domain has a single sign-on connection goes to the identity provider instead.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from typing import Any, ParamSpec, TypeVar
from urllib.parse import urlencode, urlsplit
from uuid import UUID

import msgspec

from postern.identity.customers import attempts, mailer, passkeys, provider_store, sign_in, totp
from postern.identity.customers.challenge_payloads import Grant, PasskeyPage, RecoveryCodesPage
from postern.identity.customers.model import (
    GRANT_LIFE,
    MFA_LIFE,
    SignInBlocked,
    SignInLocked,
)
from postern.identity.customers.providers import CodeChallenge, continue_grant
from postern.identity.customers.requirements import SsoRequired
from postern.identity.customers.sessions import CustomerSignInResult, bearer_of
from postern.identity.customers.sso_lookup import SsoEntry, is_sso_offered, sso_entry_of_address
from postern.kernel.http.call import Call, Caller
from postern.kernel.http.operation import Operation, RawRequest, get, post
from postern.kernel.http.problems import Invalid, Missing, Problem
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Record
from postern.platform.projects.model import Project
from postern.protocols.oidc.authorization import authorization_url
from postern.security import challenges
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.passkeys import PASSKEY_LIFE, NewPasskey, PasskeyName, PasskeyOptions, PasskeySignIn
from postern.web.colors import style_of
from postern.web.pages import FORM, SCRIPTED, page, read_form
from postern.web.qr import qr_code

P = ParamSpec("P")
R = TypeVar("R")
FORM_LIMIT = 65_536
HTML = ("text/html",)
WITH_PASSKEYS = ("sign-in.html", "passkey.html")
"""Pages that carry the script for passkeys, where the project takes them."""
PAGE_TRIES = 30
"""How often the page that adds a passkey may ask: a person who tries again is no guesser."""
BLANK: dict[str, Any] = {
    **dict.fromkeys(("email", "name", "token", "mfaToken", "pageToken", "challenge", "action", "resent"), ""),
    "qr": None,
}
"""What templates use and not every page has."""


class WrongFirstCode(CodeInvalid):
    """This is not what the app shows for this key. Enter the code that it shows now; it changes every 30 seconds."""


class NoSignOnHere(Missing):
    """No organization signs people in by this e-mail domain. Sign in another way."""


class HostedFlow(Record):
    """Where the app wants its customer back."""

    redirect_url: str
    code_challenge: str
    state: str
    adds_passkey: bool = False

    def way_back(self) -> dict[str, str]:
        """What sends a browser back to the app from anywhere."""
        return {"redirectUrl": self.redirect_url, "codeChallenge": self.code_challenge, "state": self.state}

    def fields(self) -> dict[str, str]:
        """What the pages hand on to each other."""
        return {**self.way_back(), **({"then": "passkey"} if self.adds_passkey else {})}


FIELDS = {
    "email": "E-mail address.",
    "password": "Password.",
    "name": "Name of the person who signs up.",
    "code": "One-time code from the mail or the authenticator app.",
    "token": "Token from the link in the mail.",
    "challengeId": "Identifier of the challenge, from the page before.",
    "mfaToken": "Proof of the first factor, from the page before.",
    "credential": "What the browser's `navigator.credentials` answered, as JSON.",
    "pageToken": "Session of the page, from the page before.",
    "redirectUrl": "Where the browser goes after sign-in; one of the project's redirect addresses.",
    "codeChallenge": "S256 code challenge (RFC 7636).",
    "state": "Value of the app that comes back with the answer.",
    "then": "`passkey` where a passkey is offered after sign-in.",
}
"""What the forms of these pages hold; each page sends some of it."""


def form_at(
    path: str, problems: Sequence[type[Problem]], **more: Any
) -> Callable[[Callable[P, Awaitable[R]]], Operation[P, R]]:
    """An operation that a page's form is sent to; `or_else=(303,)` where it may lead on to another page."""
    return post(
        f"/projects/{{project_id}}/auth/pages/{path}",
        public=True,
        any_query=True,
        media_types=HTML,
        takes=FORM,
        fields=FIELDS,
        body_limit=FORM_LIMIT,
        problems=problems,
        **more,
    )


@get("/projects/{project_id}/auth/pages/style.css", public=True, any_query=True, media_types=("text/css",))
async def page_style(call: Call) -> HttpResponse:
    """The look of the hosted pages, with the project's colour."""
    project = await sign_in.project_at(call)
    css = style_of(project.settings.sign_in.accent_color)
    return HttpResponse(css, media_type="text/css", headers={"Cache-Control": "public, max-age=300"})


@get("/projects/{project_id}/auth/pages/sign-in", public=True, any_query=True, media_types=HTML, problems=[Invalid])
async def sign_in_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page to sign in on. Takes `redirectUrl` (one of the project's), `codeChallenge` (S256) and `state`."""
    return await _shown(call, "sign-in.html", request.query_params)


@form_at("sign-in", sign_in.sign_in_customer.problems, or_else=(303,))
async def sign_in_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Sign in with address and password from the page."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        if elsewhere := await sso_entry_of_address(call, form["email"]):
            return await _redirect_to_app(call, flow, elsewhere)
        body = msgspec.convert({"email": form["email"], "password": form["password"]}, sign_in.PasswordSignIn)
        return await _next_page(call, flow, await sign_in.sign_in_customer(call, body))

    return await _submitted(call, request, "sign-in.html", act)


@get("/projects/{project_id}/auth/pages/sign-up", public=True, any_query=True, media_types=HTML, problems=[Invalid])
async def sign_up_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page to sign up on."""
    return await _shown(call, "sign-up.html", request.query_params)


@form_at("sign-up", sign_in.sign_up_customer.problems, or_else=(303,))
async def sign_up_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Begin an account from the page; the next one asks for the code from the mail."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        if elsewhere := await sso_entry_of_address(call, form["email"]):
            return await _redirect_to_app(call, flow, elsewhere)
        given = {"email": form["email"], "password": form.get("password") or None, "name": form.get("name") or None}
        begun = await sign_in.sign_up_customer(call, msgspec.convert(given, sign_in.CustomerSignUp))
        if begun.challenge_id is None:
            return await _next_page(call, flow, begun)
        challenge = str(begun.challenge_id)
        return await hosted_page(
            call, "verify.html", flow, challenge=challenge, action="sign-up/verify", email=form["email"]
        )

    return await _submitted(call, request, "sign-up.html", act)


@form_at("sign-up/resend", sign_in.resend_sign_up_code.problems)
async def resend_sign_up_code_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Have another code mailed for a sign-up that was begun."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        asked = await sign_in.resend_sign_up_code(call, sign_in.CodeResend(challenge_id=form["challengeId"]))
        challenge, email = str(asked.challenge_id), form.get("email", "")
        return await hosted_page(
            call, "verify.html", flow, challenge=challenge, action="sign-up/verify", email=email, resent="1"
        )

    return await _submitted(call, request, "verify.html", act, action="sign-up/verify")


@form_at("sign-up/verify", sign_in.verify_sign_up.problems, or_else=(303,))
async def verify_sign_up_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Finish an account with the code from the mail."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        return await _next_page(call, flow, await sign_in.verify_sign_up(call, _code_of(form)))

    return await _submitted(call, request, "verify.html", act, action="sign-up/verify")


@form_at("code", sign_in.request_sign_in_code.problems, or_else=(303,))
async def ask_for_code_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Have a code mailed; the next page asks for it."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        if elsewhere := await sso_entry_of_address(call, form["email"]):
            return await _redirect_to_app(call, flow, elsewhere)
        asked = await sign_in.request_sign_in_code(call, msgspec.convert({"email": form["email"]}, sign_in.EmailOnly))
        return await hosted_page(
            call,
            "verify.html",
            flow,
            challenge=str(asked.challenge_id),
            action="code/verify",
            email=form["email"],
            resent=form.get("resent", ""),
        )

    return await _submitted(call, request, "sign-in.html", act)


@form_at("sso", [Invalid, NoSignOnHere])
async def sign_on_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Go to the identity provider of one's organization, found by the address."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        elsewhere = await sso_entry_of_address(call, form["email"])
        if elsewhere is None:
            raise NoSignOnHere
        return await _redirect_to_app(call, flow, elsewhere)

    return await _submitted(call, request, "sign-in.html", act)


@form_at("code/verify", sign_in.sign_in_with_code.problems, or_else=(303,))
async def sign_in_with_code_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Sign in with the code from the mail."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        return await _next_page(call, flow, await sign_in.sign_in_with_code(call, _code_of(form)))

    return await _submitted(call, request, "verify.html", act, action="code/verify")


@form_at("mfa", totp.verify_second_factor.problems, or_else=(303,))
async def second_factor_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Finish signing in with the second factor, or a recovery code."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        given = "".join(form["code"].split())
        proof = {"code": given} if given.isascii() and given.isdigit() and len(given) == 6 else {"recoveryCode": given}
        body = msgspec.convert({"mfaToken": form["mfaToken"], **proof}, totp.SecondFactorSignIn)
        return await _next_page(call, flow, await totp.verify_second_factor(call, body))

    return await _submitted(call, request, "mfa.html", act)


@form_at("mfa/enroll", totp.confirm_required_totp.problems, or_else=(303,))
async def set_up_second_factor_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Turn on the second factor that is required, with a first code; the next page shows the recovery codes."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        token = form["mfaToken"]
        try:
            given = {"mfaToken": token, "code": "".join(form["code"].split())}
            done = await totp.confirm_required_totp(call, msgspec.convert(given, totp.EnrollmentProof))
        except SignInLocked as problem:
            return await _enrollment_page(call, flow, token, problem)
        except (CodeInvalid, msgspec.ValidationError):
            return await _enrollment_page(call, flow, token, WrongFirstCode())
        assert done.customer is not None
        assert done.session_id is not None
        page_token, _ = await challenges.issue_token(
            call.db,
            call,
            RecoveryCodesPage(session_id=done.session_id),
            MFA_LIFE,
            subject_id=done.customer.id,
        )
        return await hosted_page(call, "recovery-codes.html", flow, codes=done.recovery_codes, pageToken=page_token)

    return await _submitted(call, request, "mfa-enroll.html", act)


@form_at("mfa/enroll/done", [CodeInvalid], or_else=(303,))
async def leave_recovery_codes_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Go on to the app when the recovery codes were seen."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        challenge = await challenges.answer_token(call, RecoveryCodesPage, form["pageToken"], most=PAGE_TRIES)
        assert challenge.subject_id is not None
        async with call.db.transaction() as tx:
            page = await challenges.consume(tx, challenge)
        return await _signed_in(call, flow, challenge.subject_id, page.session_id)

    return await _submitted(call, request, "mfa-enroll.html", act)


@get("/projects/{project_id}/auth/pages/mfa", public=True, any_query=True, media_types=HTML, problems=[Invalid])
async def second_factor_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page that asks for a second factor, with the `mfaToken` of any sign-in that answered `mfaRequired`.

    Takes what `pages/sign-in` takes, with a `codeChallenge` of its own. For a sign-in that answered
    `mfaEnrollmentRequired` it is the page to set one up.
    """
    query = dict(request.query_params)
    flow, token = await _flow(call, query), query.get("mfaToken", "")
    if await totp.is_enrollment(call, token):
        return await _enrollment_page(call, flow, token)
    return await hosted_page(call, "mfa.html", flow, mfaToken=token)


@get(
    "/projects/{project_id}/auth/pages/continue",
    public=True,
    any_query=True,
    media_types=HTML,
    problems=[Invalid, CodeInvalid, SignInBlocked],
    or_else=(303,),
)
async def continue_on_page(call: Call, request: RawRequest) -> HttpResponse:
    """Where a provider's callback leads somebody who began on a hosted page: to the second factor, or to the app."""
    query = dict(request.query_params)
    flow = await _flow(call, query)
    signed_in = await continue_grant(call, query.get("code", ""), flow.code_challenge)
    return await _next_page(call, flow, signed_in)


@post(
    "/projects/{project_id}/auth/pages/passkey/options",
    public=True,
    any_query=True,
    takes=FORM,
    fields=FIELDS,
    body_limit=FORM_LIMIT,
    problems=[*passkeys.begin_passkey_registration.problems, CodeInvalid],
)
async def passkey_options_for_page(call: Call, request: RawRequest) -> PasskeyOptions:
    """What the script of the pages hands to the browser: to sign in, or with `pageToken` to add a passkey."""
    form = await read_form(request)
    if "pageToken" not in form:
        return await passkeys.begin_passkey_sign_in(call)
    attempts.throttle(call)
    _, signed_in = await _page_session(call, form)
    return await passkeys.begin_passkey_registration(signed_in)


@form_at("passkey", passkeys.sign_in_with_passkey.problems, or_else=(303,))
async def sign_in_with_passkey_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Sign in with the passkey that the browser showed."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        shown = PasskeySignIn(challenge_id=form["challengeId"], credential=_credential_of(form))
        return await _next_page(call, flow, await passkeys.sign_in_with_passkey(call, shown))

    return await _submitted(call, request, "sign-in.html", act)


@form_at("passkey/add", passkeys.add_passkey.problems, or_else=(303,))
async def add_passkey_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Keep the passkey that the browser made for whoever signed in on the page before, and go on to the app."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        challenge, signed_in = await _page_session(call, form)
        name = msgspec.convert(form.get("name") or "Passkey", PasskeyName)
        made = NewPasskey(challenge_id=form["challengeId"], credential=_credential_of(form), name=name)
        await passkeys.add_passkey(signed_in, made)
        return await _back(call, flow, *await _link_used_page(call, challenge, signed_in))

    return await _submitted(call, request, "passkey.html", act)


@form_at("passkey/skip", [CodeInvalid], or_else=(303,))
async def skip_passkey_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Go on to the app without adding a passkey."""

    async def act(form: dict[str, str], flow: HostedFlow) -> HttpResponse:
        return await _back(call, flow, *await _link_used_page(call, *await _page_session(call, form)))

    return await _submitted(call, request, "passkey.html", act)


@get("/projects/{project_id}/auth/pages/forgot", public=True, any_query=True, media_types=HTML)
async def forgot_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page to ask for a new password on. With what `pages/sign-in` takes, it leads back there."""
    query = request.query_params
    return (
        await _shown(call, "forgot.html", query)
        if "redirectUrl" in query
        else await hosted_page(call, "forgot.html", None)
    )


@form_at("forgot", sign_in.request_password_reset.problems)
async def forget_password_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Have a link mailed that sets a new password."""

    async def act(form: dict[str, str], flow: HostedFlow | None) -> HttpResponse:
        await sign_in.request_password_reset(call, msgspec.convert({"email": form["email"]}, sign_in.SignInLinkRequest))
        message = "If there is an account with this address, we have sent it a link. It is valid for 30 minutes."
        return await hosted_page(call, "notice.html", flow, heading="Look into your mailbox", message=message)

    return await _submitted(call, request, "forgot.html", act, needs_flow=False)


@get("/projects/{project_id}/auth/pages/reset", public=True, any_query=True, media_types=HTML)
async def reset_page(call: Call, token: str = "") -> HttpResponse:
    """The page that a reset link opens. Opening it uses nothing up; a link that was used or is too old says so."""
    if not await sign_in.is_reset_open(call, token):
        message = "This link was used before or is too old. Ask for a new one."
        return await hosted_page(call, "stale.html", None, message=message)
    return await hosted_page(call, "reset.html", None, token=token)


@form_at("reset", sign_in.reset_password.problems)
async def reset_password_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """Set a new password with the token of a reset link."""

    async def act(form: dict[str, str], flow: HostedFlow | None) -> HttpResponse:
        body = msgspec.convert({"token": form["token"], "password": form["password"]}, sign_in.PasswordReset)
        await sign_in.reset_password(call, body)
        message = "Your password is changed. Sign in with the new one."
        return await hosted_page(call, "notice.html", None, heading="Done", message=message)

    return await _submitted(call, request, "reset.html", act, needs_flow=False)


async def _submitted(
    call: Call,
    request: RawRequest,
    template: str,
    act: Callable[[dict[str, str], Any], Awaitable[HttpResponse]],
    *,
    needs_flow: bool = True,
    **values: str,
) -> HttpResponse:
    """Do what a form asks for, or show it again saying what is wrong."""
    form = await read_form(request)
    flow = await _flow(call, form) if needs_flow or "redirectUrl" in form else None
    try:
        return await act(form, flow)
    except SsoRequired as required:
        if flow is not None and required.sign_on is not None:
            return await _redirect_to_app(call, flow, required.sign_on)
        problem: Problem = required
    except KeyError as missing:
        problem = Invalid(f"Please fill in: {missing.args[0]}.")
    except msgspec.ValidationError:
        problem = Invalid("Please check what you entered: something is too short, too long or misspelled.")
    except Problem as raised:
        problem = raised
    kept = {name: form.get(name, "") for name in ("email", "name", "token", "mfaToken", "pageToken")}
    return await hosted_page(
        call,
        template,
        flow,
        status=problem.status,
        retry_after=problem.retry_after_seconds,
        error=_message_of(problem),
        challenge=form.get("challengeId", ""),
        **kept,
        **values,
    )


async def _shown(call: Call, template: str, query: Any) -> HttpResponse:
    given = {name: str(query.get(name, "")) for name in ("redirectUrl", "codeChallenge", "state", "then")}
    return await hosted_page(call, template, await _flow(call, given))


async def _next_page(call: Call, flow: HostedFlow, signed_in: CustomerSignInResult) -> HttpResponse:
    """Back to the app with a grant for the session that began; or first to the second factor."""
    if signed_in.mfa_enrollment_required:
        return await _enrollment_page(call, flow, signed_in.mfa_token or "")
    if signed_in.mfa_required:
        return await hosted_page(call, "mfa.html", flow, mfaToken=signed_in.mfa_token or "")
    assert signed_in.customer is not None
    assert signed_in.session_id is not None
    return await _signed_in(call, flow, signed_in.customer.id, signed_in.session_id)


async def _signed_in(call: Call, flow: HostedFlow, customer_id: UUID, session_id: UUID) -> HttpResponse:
    """Back to the app, or first to the page that adds a passkey."""
    if not flow.adds_passkey:
        return await _back(call, flow, customer_id, session_id)
    token, _ = await challenges.issue_token(
        call.db, call, PasskeyPage(session_id=session_id), PASSKEY_LIFE, subject_id=customer_id
    )
    return await hosted_page(call, "passkey.html", flow, pageToken=token)


async def _enrollment_page(call: Call, flow: HostedFlow, token: str, problem: Problem | None = None) -> HttpResponse:
    """The page to set up an authenticator app; after a wrong code with the same secret as before."""
    begun = await totp.begin_required_totp(call, totp.EnrollmentToken(mfa_token=token))
    return await hosted_page(
        call,
        "mfa-enroll.html",
        flow,
        status=200 if problem is None else problem.status,
        retry_after=None if problem is None else problem.retry_after_seconds,
        error="" if problem is None else _message_of(problem),
        mfaToken=token,
        uri=begun.uri,
        key=" ".join(begun.secret[start : start + 4] for start in range(0, len(begun.secret), 4)),
        qr=qr_code(begun.uri),
    )


async def _back(call: Call, flow: HostedFlow, customer_id: UUID, session_id: UUID) -> HttpResponse:
    """Back to the app, with a grant for the session."""
    token, _ = await challenges.issue_token(
        call.db,
        call,
        Grant(code_challenge=flow.code_challenge, session_id=session_id),
        GRANT_LIFE,
        subject_id=customer_id,
    )
    back = {"code": token, **({"state": flow.state} if flow.state else {})}
    headers = {
        "Location": authorization_url(flow.redirect_url, **back),
        "Cache-Control": "no-store",
        "Referrer-Policy": "no-referrer",
    }
    return HttpResponse(b"", media_type="text/html", status=303, headers=headers)


async def _page_session(call: Call, form: dict[str, str]) -> tuple[Challenge[PasskeyPage], Call]:
    """The challenge behind a page's token, and the call as the customer who signed in there. Raises CodeInvalid."""
    challenge = await challenges.answer_token(call, PasskeyPage, form["pageToken"], most=PAGE_TRIES)
    caller = Caller(
        kind="customer",
        actor_type="CUSTOMER",
        actor_id=challenge.subject_id,
        project_id=call.project_id,
        credential_id=challenge.payload.session_id,
    )
    return challenge, replace(call, caller=caller)


async def _link_used_page(call: Call, challenge: Challenge[PasskeyPage], signed_in: Call) -> tuple[UUID, UUID]:
    """The customer and the session behind a page's token, which is worthless now."""
    async with call.db.transaction() as tx:
        await challenges.consume(tx, challenge)
    return bearer_of(signed_in)


async def _redirect_to_app(call: Call, flow: HostedFlow, elsewhere: SsoEntry) -> HttpResponse:
    """A page that goes on by itself.

    No redirect: browsers hold one that follows a form to `form-action`, and the provider's address is not ours to list.
    """
    url = f"{elsewhere.login_url}?{urlencode(flow.way_back())}"
    return await hosted_page(call, "elsewhere.html", flow, url=url, organization=elsewhere.name)


async def hosted_page(
    call: Call,
    template: str,
    flow: HostedFlow | None,
    *,
    status: int = 200,
    retry_after: int | None = None,
    error: str = "",
    **values: Any,
) -> HttpResponse:
    """A page in the project's look; `flow` is None where nobody said to which app the person goes back."""
    project = await sign_in.project_at(call)
    settings = project.settings.sign_in
    fields = flow.fields() if flow else {}
    adds_passkey = flow is not None and flow.adds_passkey
    asks = flow is not None and not adds_passkey
    rows = await provider_store.providers(call.db, project_id=call.project_id) if asks else []
    sso_only = settings.require_sso
    scripted = (
        template in WITH_PASSKEYS and _takes_passkeys(call, project) and not (sso_only and template == "sign-in.html")
    )
    providers = [
        {"name": row.name, "url": f"{_base(call)}/providers/{row.key}/start?{urlencode({**fields, 'hosted': 'true'})}"}
        for row in rows
        if row.enabled and not sso_only
    ]
    policy = SCRIPTED if scripted else {}
    if settings.logo_url:
        policy = {**policy, "img-src": _source(settings.logo_url)}
    if flow:
        # Browsers hold the redirect that follows a form to `form-action` as well.
        policy = {**policy, "form-action": _source(flow.redirect_url)}
    return page(
        f"hosted/{template}",
        status=status,
        policy=policy,
        headers={"Retry-After": str(retry_after)} if retry_after is not None else None,
        site=mailer.app_name(project),
        error=error,
        logo=settings.logo_url,
        base=f"{_base(call)}/pages",
        methods=[] if sso_only else settings.methods,
        sign_up=settings.sign_up and not sso_only,
        sso_only=sso_only,
        providers=providers,
        sso=asks and await is_sso_offered(call),
        passkeys=scripted,
        flow=fields,
        adds_passkey=adds_passkey,
        home=_home_of(settings.redirect_urls),
        query=urlencode(fields),
        **{**BLANK, **values},
    )


def _home_of(redirect_urls: list[str]) -> str:
    """Where a page without a flow leads on to: the site of the project's first address for people to come back to."""
    parts = urlsplit(redirect_urls[0]) if redirect_urls else None
    return f"{parts.scheme}://{parts.netloc}/" if parts and parts.scheme in ("http", "https") else ""


WORDS: dict[str, str] = {
    "sign_in_failed": "Wrong email or password.",
    "code_invalid": "This code or link is wrong, has expired or was used before. Ask for a new one.",
    "method_off": "This way of signing in is switched off. Choose another one.",
    "sign_up_closed": "New accounts are by invitation only. Ask for an invitation.",
    "email_taken": "There is an account with this address already. Sign in instead.",
    "last_sign_in_method": "This is your only way to sign in.",
    "sso_required": "Sign in with your organization's sign-in. If that does not work, ask its administrator.",
}


def _message_of(problem: Problem) -> str:
    """What went wrong, for people who never heard of APIs."""
    text = WORDS.get(problem.code(), problem.detail)
    if problem.retry_after_seconds is not None and problem.status == 429:
        minutes = -(-problem.retry_after_seconds // 60)
        wait = "a minute" if minutes == 1 else f"{minutes} minutes"
        text = f"Too many attempts. Try again in {wait}."
    return text


async def _flow(call: Call, given: dict[str, str]) -> HostedFlow:
    """Where the app wants its customer back. Raises Invalid, also for an address the project does not list."""
    project: Project = await sign_in.project_at(call)
    try:
        challenge = msgspec.convert(given.get("codeChallenge", ""), CodeChallenge)
    except msgspec.ValidationError:
        raise Invalid.at(
            "query/codeChallenge", "This link is incomplete. Go back to the app and begin again.", "required"
        ) from None
    url = sign_in.require_redirect(project, given.get("redirectUrl", ""))
    return HostedFlow(
        redirect_url=url,
        code_challenge=challenge,
        state=given.get("state", "")[:1_000],
        adds_passkey=given.get("then") == "passkey" and _takes_passkeys(call, project),
    )


def _takes_passkeys(call: Call, project: Project) -> bool:
    """Whether passkeys can be used on our pages: browsers want them to belong to the page's own domain or one above."""
    host = urlsplit(call.world.settings.public_url).hostname or ""
    theirs = passkeys.relying_party(call, project).id
    return "PASSKEY" in project.settings.sign_in.methods and (host == theirs or host.endswith(f".{theirs}"))


def _credential_of(form: dict[str, str]) -> dict[str, Any]:
    """What the browser answered. Raises Invalid if it is no JSON object."""
    try:
        return msgspec.json.decode(form["credential"], type=dict[str, Any])
    except msgspec.DecodeError:
        raise Invalid("Your browser answered nothing. Adding or using a passkey needs JavaScript.") from None


def _code_of(form: dict[str, str]) -> sign_in.CodeVerification:
    code = "".join(form["code"].split())
    return msgspec.convert({"challengeId": form["challengeId"], "code": code}, sign_in.CodeVerification)


def _source(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}" if parts.scheme in ("http", "https") else f"{parts.scheme}:"


def _base(call: Call) -> str:
    return f"/projects/{call.project_id}/auth"
