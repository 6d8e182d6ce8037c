"""The form of the step-up page (`step_up_pages`)."""

import msgspec

from postern.identity.customers import step_up
from postern.identity.customers.operations import require_customer
from postern.identity.customers.pages import credential_of, hosted_page
from postern.identity.customers.sessions import call_of_customer
from postern.identity.customers.totp import code_field_of
from postern.identity.oauth.authorization import (
    UNMET,
    client_of,
    end_request,
    in_language,
    resume_url,
    sign_in_url,
    stored_request,
)
from postern.identity.oauth.browsers import browser_session, customer_call, error_page
from postern.identity.oauth.errors import PAGE_ERRORS, OAuthError
from postern.identity.oauth.model import SignedInCustomer
from postern.identity.oauth.step_up_pages import step_up_page
from postern.kernel.http.call import Call, CredentialInvalid
from postern.kernel.http.operation import FORM, RawRequest, post
from postern.kernel.http.problems import Problem
from postern.kernel.http.responses import HttpResponse
from postern.security.challenges import CodeInvalid
from postern.security.passkeys import PasskeyOptions, PasskeySignIn
from postern.web.pages import read_form, redirect

BODY_LIMIT = 65_536
FIELDS = {
    "token": "Token of the authorization request, from the page.",
    "session": "Id of the session that the page was shown to.",
    "code": "Code of the authenticator app, or a recovery code.",
    "challengeId": "Id of the challenge for the passkey.",
    "credential": "Credential from the browser's `navigator.credentials`, as JSON.",
    "decision": "`cancel` to return to the client without.",
}
CANCELLED = OAuthError("access_denied", "The customer did not authenticate again.")


@post(
    "/projects/{project_id}/oauth/step-up",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields=FIELDS,
    body_limit=BODY_LIMIT,
    media_types=("text/html",),
    other_statuses=(303,),
    problems=step_up.step_up.problems,
    other_errors=PAGE_ERRORS,
)
async def step_up_by_page(call: Call, request: RawRequest) -> HttpResponse:
    """The form of the page that asks for a second factor or a passkey: authenticate again in the session of the
    browser, and go on with the authorization request. The session stays the same."""
    form = await read_form(request)  # Refuses forms of other sites.
    token = form.get("token", "")
    try:
        challenge = await stored_request(call, request, token)
        call = in_language(call, challenge.payload)
        client = await client_of(call, challenge.payload)
    except OAuthError as error:
        return await error_page(call, error)
    stored = challenge.payload
    if form.get("decision") == "cancel":
        return await end_request(call, challenge, token, UNMET if stored.acr_essential else CANCELLED, after_form=True)
    signed_in = await browser_session(call, request, test=client.is_test)
    if signed_in is None or form.get("session") != str(signed_in.session_id):
        # The session ended or changed while the page was open: go on with the present one.
        return redirect(resume_url(call, stored, token), status=303)
    try:
        await step_up.authenticate_again(await _acting(call, signed_in), _proof_of(form))
    except CredentialInvalid:
        return redirect(resume_url(call, stored, token), status=303)
    except Problem as problem:
        again = sign_in_url(call, token, stored)
        return await step_up_page(call, client, stored, token, signed_in, again, problem=problem)
    # Not a redirect: browsers check each redirect after a form against `form-action`, and the client may redirect on.
    return await hosted_page(call, "oauth-continue.html", None, url=resume_url(call, stored, token), client=client.name)


@post(
    "/projects/{project_id}/oauth/step-up/passkey-options",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields=FIELDS,
    body_limit=BODY_LIMIT,
    problems=[*step_up.begin_passkey_step_up.problems, CodeInvalid],
)
async def passkey_options_for_step_up(call: Call, request: RawRequest) -> PasskeyOptions:
    """WebAuthn options for the script of the page: for a passkey of the customer who is signed in."""
    form = await read_form(request)
    try:
        challenge = await stored_request(call, request, form.get("token", ""))
        client = await client_of(call, challenge.payload)
    except OAuthError:
        raise CodeInvalid from None
    signed_in = await browser_session(call, request, test=client.is_test)
    if signed_in is None or form.get("session") != str(signed_in.session_id):
        raise CodeInvalid
    return await step_up.begin_passkey_step_up(await _acting(call, signed_in))


async def _acting(call: Call, signed_in: SignedInCustomer) -> Call:
    """The call as if the customer of the browser's session had sent it with an access token."""
    customer = await require_customer(call.db, call.project_id, signed_in.customer_id)
    return call_of_customer(customer_call(call, signed_in), customer, signed_in.session_id, signed_in.organization_id)


def _proof_of(form: dict[str, str]) -> step_up.StepUp:
    """The proof in a form. Raises Invalid."""
    if "credential" in form:
        passkey = PasskeySignIn(challenge_id=form.get("challengeId", ""), credential=credential_of(form))
        return step_up.StepUp(passkey=passkey)
    try:
        return msgspec.convert(code_field_of(form.get("code", "")), step_up.StepUp)
    except msgspec.ValidationError:
        raise CodeInvalid from None
