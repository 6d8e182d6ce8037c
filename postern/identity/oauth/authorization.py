"""The authorization endpoint: a browser comes from a client, and goes back to it with a code or an error.

    authorize → (sign-in pages → continue → resume) → (step-up page → step-up) → (consent page → consent) → client

While the customer signs in or is asked for consent, the request is stored as a challenge, and a cookie binds it to the
browser. Errors go to the client only after its id and redirect URI were checked; before that they are shown.
"""

from dataclasses import replace
from datetime import timedelta
from typing import Literal
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec
from psycopg.errors import ForeignKeyViolation

from postern.identity.access import operations as access
from postern.identity.customers import pages, providers
from postern.identity.customers.authentication_levels import meets_level
from postern.identity.customers.model import CustomerRefreshTokenInvalid, SignInBlocked
from postern.identity.customers.providers import AuthorizationCodeGrant
from postern.identity.customers.requirements import SignInMethodNotAllowed, SsoRequired
from postern.identity.customers.rules import provider_return_url
from postern.identity.customers.tokens import HOOK_PROBLEMS
from postern.identity.oauth import device_store, registration_store, store
from postern.identity.oauth.browsers import (
    NO_EFFECT,
    browser_session,
    client_response,
    end_session,
    error_page,
    forget_request,
    is_same_browser,
    oauth_path,
    renew_session,
    request_cookie,
    session_cookie,
)
from postern.identity.oauth.device_store import DeviceRow
from postern.identity.oauth.errors import PAGE_ERRORS, OAuthError
from postern.identity.oauth.metadata_documents import client_of_document, host_of
from postern.identity.oauth.model import (
    CODE_LIFE,
    GRANT_RETENTION,
    REGISTRATION_LIFE,
    REGISTRATION_RENEWAL,
    REQUEST_LIFE,
    ClientRow,
    ConsentRow,
    SignedInCustomer,
)
from postern.identity.oauth.requests import (
    PUSHED_PREFIX,
    SIGN_IN_PROMPTS,
    AuthorizationRequest,
    PushedRequest,
    RedirectTarget,
    check_lengths,
    read_request,
    redirect_target,
    require_single,
)
from postern.identity.oauth.resources import requested_resource, require_resource
from postern.identity.oauth.rules import (
    described_scopes,
    is_document_url,
    matching_redirect_uri,
    may_remember_consent,
    permission_scopes,
)
from postern.identity.oauth.step_up_pages import step_up_page, step_up_ways
from postern.identity.oauth.tokens import meets_requirements, read_id_token_hint
from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.handler import is_head
from postern.kernel.http.operation import FORM, RawRequest, get, post
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit, TooManyRequests, network_of
from postern.kernel.values import Moment, as_id, new_id
from postern.messaging.certificates.pages_domains import pages_url
from postern.protocols.oidc.authorization import code_challenge
from postern.security import challenges, session_store
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.secrets import new_token
from postern.web.languages import Text, chosen_language, match_language, text
from postern.web.pages import read_form, redirect
from postern.web.problem_texts import text_of

HTML = ("text/html",)
AUTHORIZE_RATE = RateLimit("oauth-authorize", 60, timedelta(seconds=10))
"""Maximum authorization requests from one network to one process."""
REQUEST_TRIES = 30
"""How often the pages of one authorization request can be opened or submitted."""
BODY_LIMIT = 16_384
DEVICE_EXPIRED = text("The code of the device has expired or was used already. Look at the device again.")
EXPIRED = text("This sign-in has expired or is finished already. Go back to the app and start again.")
OTHER_BROWSER = text("This sign-in was begun in another browser, or cookies are blocked.")
NOT_SIGNED_IN = text("You were not signed in. Try again, or sign in another way.")
LOGIN_REQUIRED = OAuthError("login_required", "The customer must sign in.")
CONSENT_REQUIRED = OAuthError("consent_required", "The customer must allow the client its scopes.")
UNMET = OAuthError("unmet_authentication_requirements", "The customer cannot authenticate as the request requires.")
"""That of OpenID Connect Core Error Code unmet_authentication_requirements 1.0 §2."""
Step = Literal["SIGN_IN", "STEP_UP", "UNMET", "CONSENT"]
"""What an authorization request still needs from the customer: to sign in, to prove more in the same session, or to
allow the client its scopes. UNMET is what the customer cannot do."""
RESOURCE_FIELD = "Identifier of the API for which the access token is (RFC 8707)."
PARAMETERS = {
    "client_id": "Id of the client.",
    "redirect_uri": "Where the response goes; one of the client's `redirectUris`.",
    "response_type": "`code`.",
    "response_mode": "`query` (default) or `form_post`.",
    "scope": "Scopes, separated by spaces.",
    "resource": RESOURCE_FIELD,
    "state": "Value of the client, returned unchanged.",
    "nonce": "Value of the client, returned in the ID token.",
    "code_challenge": "S256 code challenge (RFC 7636); required.",
    "code_challenge_method": "`S256`.",
    "dpop_jkt": "Thumbprint of the key to which the code is bound (RFC 9449 §10).",
    "request_uri": "That of a pushed authorization request (RFC 9126), instead of all parameters except `client_id`.",
    "prompt": "`none`, or `login`, `consent`, `select_account` or `create`.",
    "acr_values": "Levels of authentication, the preferred one first, separated by spaces; see `acr_values_supported`.",
    "claims": "JSON object of claims; it can make `acr` of the ID token essential.",
    "max_age": "Maximum age of the sign-in, in seconds.",
    "login_hint": "E-mail address to enter into the sign-in page.",
    "id_token_hint": "ID token of the customer who should be signed in.",
    "ui_locales": "Preferred languages of the pages, separated by spaces, such as `de en`.",
}


@get(
    "/projects/{project_id}/oauth/authorize",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    other_statuses=(302,),
    problems=[TooManyRequests],
    other_errors=PAGE_ERRORS,
)
async def authorize(call: Call, request: RawRequest) -> HttpResponse:
    """The authorization endpoint of the project's OpenID provider (RFC 6749 §3.1, OpenID Connect Core §3.1.2).

    Takes the parameters of the form of the same path in the query. Signs the customer in on the hosted pages if needed,
    asks for consent if needed, and redirects to the client's `redirect_uri` with `code`, `state` and `iss`, or with
    `error`. PKCE with S256 is required. A wrong `client_id` or `redirect_uri` is shown and not redirected.
    """
    if is_head(request):
        return NO_EFFECT
    call.world.limiter.take(AUTHORIZE_RATE, f"{call.project_id}|{network_of(call.origin.ip)}")
    try:
        parameters = require_single(list(request.query_params.multi_items()))
        client = await _require_client(call, parameters.get("client_id"))
        pushed_uri = parameters.get("request_uri", "")
        pushed = await _take_pushed(call, client, pushed_uri) if pushed_uri.startswith(PUSHED_PREFIX) else None
        target = redirect_target(client, parameters) if pushed is None else target_of(pushed)
    except OAuthError as error:
        return await error_page(call, error)
    try:
        if pushed is None and client.is_fapi:
            raise OAuthError("invalid_request", "This client must push its requests (RFC 9126).")
        stored = pushed or await checked_request(call, client, parameters, target)
    except OAuthError as error:
        return await client_response(call, target, error.parameters())
    signed_in = await browser_session(call, request, test=client.is_test)
    step = await _next_step(call, client, stored, signed_in)
    if step is None and signed_in is not None:
        return await _issue_code(call, stored, signed_in)
    if step == "UNMET":
        return await client_response(call, target, UNMET.parameters())
    if "none" in stored.prompts:
        if step == "CONSENT":
            return await client_response(call, target, CONSENT_REQUIRED.parameters())
        return await client_response(call, target, LOGIN_REQUIRED.parameters())
    call = in_language(call, stored)
    stored = msgspec.structs.replace(stored, browser=new_token(32))
    token, _ = await challenges.issue_token(call.db, call, stored, REQUEST_LIFE)
    cookie = request_cookie(call, token, stored.browser, REQUEST_LIFE.total_seconds())
    if step == "SIGN_IN" or signed_in is None:
        return redirect(sign_in_url(call, token, stored), cookies=cookie)
    if step == "STEP_UP":
        return await step_up_page(
            call, client, stored, token, signed_in, sign_in_url(call, token, stored), cookies=cookie
        )
    return await _consent_page(call, client, stored, token, signed_in, cookies=cookie)


@post(
    "/projects/{project_id}/oauth/authorize",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields=PARAMETERS,
    body_limit=BODY_LIMIT,
    media_types=HTML,
    status=303,
    other_errors=PAGE_ERRORS,
)
async def authorize_by_form(call: Call, request: RawRequest) -> HttpResponse:
    """The authorization endpoint for clients that post their parameters. Redirects to the GET operation, because
    browsers send the cookies of this server, which are SameSite=Lax, only with that one."""
    try:
        fields = parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return await error_page(call, OAuthError("invalid_request", "The form has too many fields."))
    url = f"{pages_url(call.world, call.project_id)}/oauth/authorize?{urlencode(fields)}"
    return redirect(url, status=303)


@get(
    "/projects/{project_id}/oauth/continue",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    other_statuses=(303,),
    problems=[TooManyRequests],
    other_errors=PAGE_ERRORS,
)
async def continue_authorization(
    call: Call, request: RawRequest, state: str = "", code: str = "", error: str = ""
) -> HttpResponse:
    """Where the hosted sign-in pages return to. Remembers the session in a cookie, ends the one that the browser had
    before, and continues the authorization request whose token is `state`."""
    if is_head(request):
        return NO_EFFECT
    try:
        challenge = await stored_request(call, request, state)
        call = in_language(call, challenge.payload)
        client = await client_of(call, challenge.payload)
    except OAuthError as refused:
        return await error_page(call, refused)
    again = sign_in_url(call, state, challenge.payload)
    if error or not code:
        return await _try_again_page(call, again, NOT_SIGNED_IN)
    try:
        body = AuthorizationCodeGrant(code=code, code_verifier=_verifier(call, state))
        signed_in = await providers.exchange_code_on_page(call, body)
    except (
        *(CodeInvalid, CustomerRefreshTokenInvalid, SignInBlocked, SsoRequired, SignInMethodNotAllowed),
        *HOOK_PROBLEMS,
    ) as problem:
        return await _try_again_page(call, again, text_of(problem))
    if pending := pages.pending_page(signed_in):
        name, token = pending
        query = {**_flow_parameters(call, state), **_language_parameter(call, challenge.payload), **token}
        return redirect(f"{_pages_url(call)}/{name}?{urlencode(query)}", status=303)
    assert signed_in.session_id is not None
    if client.is_test:
        async with call.db.transaction() as tx:
            await session_store.mark_test(tx, project_id=call.project_id, id=signed_in.session_id)
    replaced = await browser_session(call, request, test=client.is_test)
    if replaced is not None and replaced.session_id != signed_in.session_id:
        # Without its cookie, nobody could sign it out at the provider any more.
        await end_session(call, replaced)
    # Not a redirect: browsers check each redirect after the form of a sign-in page against its `form-action`, which
    # does not list the client.
    return await pages.hosted_page(
        call,
        "oauth-continue.html",
        None,
        headers={"Set-Cookie": session_cookie(call, signed_in.session_id, test=client.is_test)},
        url=resume_url(call, challenge.payload, state),
        client=client.name,
    )


@get(
    "/projects/{project_id}/oauth/resume",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    other_statuses=(302,),
    other_errors=PAGE_ERRORS,
)
async def resume_authorization(call: Call, request: RawRequest, token: str = "") -> HttpResponse:
    """Continue a stored authorization request after the sign-in: ask for consent, or return to the client."""
    if is_head(request):
        return NO_EFFECT
    try:
        challenge = await stored_request(call, request, token)
        stored = challenge.payload
        call = in_language(call, stored)
        client = await client_of(call, stored)
    except OAuthError as error:
        return await error_page(call, error)
    signed_in = await browser_session(call, request, test=client.is_test)
    if signed_in is not None and stored.hint_subject not in (None, str(signed_in.customer_id)):
        # Signing in again would not help a customer who is not the one of `id_token_hint`.
        return await end_request(call, challenge, token, LOGIN_REQUIRED)
    step = await _next_step(call, client, stored, signed_in)
    if signed_in is None or step == "SIGN_IN":
        return redirect(sign_in_url(call, token, stored))
    if step == "UNMET":
        return await end_request(call, challenge, token, UNMET)
    if step == "STEP_UP":
        return await step_up_page(call, client, stored, token, signed_in, sign_in_url(call, token, stored))
    if step == "CONSENT":
        return await _consent_page(call, client, stored, token, signed_in)
    return await _issue_code(call, stored, signed_in, challenge=challenge, token=token)


@post(
    "/projects/{project_id}/oauth/consent",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields={
        "token": "Token of the authorization request, from the consent page.",
        "session": "Id of the session that the consent page was shown to.",
        "decision": "`allow`; anything else denies.",
    },
    body_limit=BODY_LIMIT,
    media_types=HTML,
    other_statuses=(303,),
    other_errors=PAGE_ERRORS,
)
async def decide_consent(call: Call, request: RawRequest) -> HttpResponse:
    """The form of the consent page: allow the client its scopes, and return to it with a code; or with the error
    `access_denied`."""
    form = await read_form(request)  # Refuses forms of other sites.
    token = form.get("token", "")
    try:
        challenge = await stored_request(call, request, token)
        stored = challenge.payload
        call = in_language(call, stored)
        client = await client_of(call, stored)
    except OAuthError as error:
        return await error_page(call, error)
    if form.get("decision") != "allow":
        try:
            async with call.db.transaction() as tx:
                await _consume(tx, call, stored, challenge)
                if stored.device_id is not None and not await device_store.deny(
                    tx, project_id=call.project_id, id=stored.device_id, now=call.now
                ):
                    raise CodeInvalid  # The device was allowed or denied in another request.
        except CodeInvalid:
            message = EXPIRED if stored.device_id is None else DEVICE_EXPIRED
            return await error_page(call, OAuthError("invalid_request", message))
        cookie = forget_request(call, token)
        if stored.device_id is not None:
            return await _device_notice(
                call, text("The device was not signed in"), text("You can close this page."), cookie
            )
        denied = OAuthError("access_denied", "The customer did not allow this.")
        return await client_response(call, target_of(stored), denied.parameters(), after_form=True, cookies=cookie)
    signed_in = await browser_session(call, request, test=client.is_test)
    step = await _next_step(call, client, stored, signed_in)
    if signed_in is None or step not in (None, "CONSENT") or form.get("session") != str(signed_in.session_id):
        # The session ended or changed while the page was open: go on with the present one.
        return redirect(resume_url(call, stored, token))
    return await _issue_code(call, stored, signed_in, challenge=challenge, token=token, consented=True)


async def end_request(
    call: Call, challenge: Challenge[AuthorizationRequest], token: str, error: OAuthError, *, after_form: bool = False
) -> HttpResponse:
    """Use up a stored request, and return to the client with an error."""
    try:
        async with call.db.transaction() as tx:
            await _consume(tx, call, challenge.payload, challenge)
    except CodeInvalid:
        return await error_page(call, OAuthError("invalid_request", EXPIRED))
    cookie = forget_request(call, token)
    target = target_of(challenge.payload)
    return await client_response(call, target, error.parameters(), after_form=after_form, cookies=cookie)


async def checked_request(
    call: Call, client: ClientRow, parameters: dict[str, str], target: RedirectTarget
) -> AuthorizationRequest:
    """The authorization request with these parameters. Raises OAuthError, which belongs to `target`."""
    check_lengths(parameters)
    hint = parameters.get("id_token_hint")
    hint_claims = None if hint is None else await read_id_token_hint(call, hint)
    resource = await requested_resource(call, client, parameters)
    return read_request(client, parameters, target, call.now.timestamp(), hint=hint_claims, resource=resource)


async def _take_pushed(call: Call, client: ClientRow, request_uri: str) -> AuthorizationRequest:
    """A request that the client has pushed. It can be opened again until it is finished, because browsers load pages
    twice (FAPI 2.0 §5.3.2.2). Raises OAuthError, which must be shown, because the redirect URI is unknown without the
    request."""
    refused = OAuthError("invalid_request_uri", "The request_uri is unknown, has expired or was used already.")
    try:
        token = request_uri.removeprefix(PUSHED_PREFIX)
        challenge = await challenges.answer_token(call, PushedRequest, token, max_tries=REQUEST_TRIES)
        pushed = challenge.payload.request
    except CodeInvalid:
        raise refused from None
    opened_before = challenge.payload.opened_before
    if opened_before is not None and opened_before <= call.now.timestamp():
        raise refused
    if pushed.client_id != client.id or not matching_redirect_uri(client, pushed.redirect_uri):
        raise refused
    return msgspec.structs.replace(pushed, requested_at=call.now.timestamp(), pushed_id=challenge.id)


async def _consume(
    tx: Transaction, call: Call, stored: AuthorizationRequest, challenge: Challenge[AuthorizationRequest] | None
) -> None:
    """Use up a request, stored as `challenge` or not, and the pushed one that it comes from. Raises CodeInvalid if
    either was used up."""
    if challenge is not None:
        await challenges.consume(tx, challenge)
    if stored.pushed_id is not None:
        await challenges.consume_id(tx, call.project_id, stored.pushed_id)


async def _require_client(call: Call, client_id: str | None) -> ClientRow:
    """The client with this id. Raises OAuthError, which must be shown."""
    if client_id is None:
        raise OAuthError("invalid_request", "The parameter client_id is missing.")
    if is_document_url(client_id):
        return await client_of_document(call, client_id)
    client = await store.client(call.db, project_id=call.project_id, id=as_id(client_id))
    if client is None or client.metadata_url is not None:
        raise OAuthError("invalid_client", "There is no client with this client_id.")
    return client


async def client_of(call: Call, stored: AuthorizationRequest) -> ClientRow:
    """The client of a stored request. Raises OAuthError, which must be shown, if it was deleted or its redirect URI was
    removed meanwhile."""
    client = await store.client(call.db, project_id=call.project_id, id=stored.client_id)
    if client is None:
        raise OAuthError("invalid_client", "There is no client with this client_id.")
    if stored.device_id is None and not matching_redirect_uri(client, stored.redirect_uri):
        raise OAuthError("invalid_request", "The redirect_uri is not registered for this client.")
    return client


async def stored_request(call: Call, request: RawRequest, token: str) -> Challenge[AuthorizationRequest]:
    """The stored authorization request with this token. Counts a try. Raises OAuthError, which must be shown, if the
    request has expired, is finished, or was made by another browser, as in an attack that signs a victim in as somebody
    else (RFC 9700 §4.7)."""
    try:
        challenge = await challenges.answer_token(call, AuthorizationRequest, token, max_tries=REQUEST_TRIES)
    except CodeInvalid:
        raise OAuthError("invalid_request", EXPIRED) from None
    if not is_same_browser(call, request, token, challenge.payload):
        raise OAuthError("invalid_request", OTHER_BROWSER)
    return challenge


async def _next_step(
    call: Call, client: ClientRow, stored: AuthorizationRequest, signed_in: SignedInCustomer | None
) -> Step | None:
    """What the request still needs; None if a code can be issued."""
    if signed_in is None:
        return "SIGN_IN"
    authenticated_at = signed_in.authenticated_at.timestamp()
    if not SIGN_IN_PROMPTS.isdisjoint(stored.prompts) and authenticated_at < stored.requested_at:
        return "SIGN_IN"
    if stored.max_age is not None and authenticated_at + stored.max_age < stored.requested_at:
        return "SIGN_IN"
    if stored.hint_subject not in (None, str(signed_in.customer_id)):
        return "SIGN_IN"
    if not await meets_requirements(call, signed_in):
        return "SIGN_IN"
    if stored.acr_values and not any(meets_level(signed_in.methods, acr) for acr in stored.acr_values):
        if await step_up_ways(call, stored, signed_in):
            return "STEP_UP"
        if stored.acr_essential:
            return "UNMET"
    if "consent" in stored.prompts or stored.device_id is not None:
        return "CONSENT"
    if not may_remember_consent(client, stored.redirect_uri):
        return "CONSENT"  # Also for a client of the project: another app could have begun the request.
    if client.first_party:
        return None
    consent = await store.consent(
        call.db, project_id=call.project_id, customer_id=signed_in.customer_id, client_id=client.id
    )
    return None if consent is not None and _covers(consent, stored) else "CONSENT"


def _covers(consent: ConsentRow, stored: AuthorizationRequest) -> bool:
    """Whether the customer has allowed all that is requested. Permissions at an API are allowed for this API only."""
    if stored.resource is None:
        return set(stored.scopes) <= set(consent.scopes)
    at_resource = consent.resource_scopes.get(stored.resource)
    if at_resource is None:
        return False
    permissions = permission_scopes(stored.scopes)
    return set(stored.scopes) - set(permissions) <= set(consent.scopes) and set(permissions) <= set(at_resource)


async def _issue_code(
    call: Call,
    stored: AuthorizationRequest,
    signed_in: SignedInCustomer,
    *,
    challenge: Challenge[AuthorizationRequest] | None = None,
    token: str | None = None,
    consented: bool = False,
) -> HttpResponse:
    """Return to the client with an authorization code. Uses up the stored request `challenge`, if there is one, and
    deletes the cookie of its `token`; with `consented` stores the consent."""
    device = None
    if stored.device_id is not None:
        device = await device_store.device(call.db, project_id=call.project_id, id=stored.device_id)
        if device is None or device.denied_at is not None or device.expires_at <= call.now:
            return await error_page(call, OAuthError("invalid_request", DEVICE_EXPIRED))
    at_resource = {} if stored.resource is None else {stored.resource: sorted(permission_scopes(stored.scopes))}
    grant_id = new_id() if device is None else device.id
    code = f"{grant_id.hex}{new_token(32)}"
    try:
        async with call.db.transaction() as tx:
            await _consume(tx, call, stored, challenge)
            if consented:
                await store.add_consent(
                    tx,
                    project_id=call.project_id,
                    customer_id=signed_in.customer_id,
                    client_id=stored.client_id,
                    scopes=sorted(set(stored.scopes) - set(at_resource.get(stored.resource or "", []))),
                    resource_scopes=Jsonb(at_resource),
                    now=call.now,
                )
            if not await store.insert_grant(
                tx,
                project_id=call.project_id,
                id=grant_id,
                client_id=stored.client_id,
                customer_id=signed_in.customer_id,
                session_id=signed_in.session_id,
                scopes=stored.scopes,
                resource=stored.resource,
                redirect_uri=stored.redirect_uri,
                nonce=stored.nonce,
                dpop_jkt=stored.dpop_jkt,
                acr_values=stored.acr_values,
                code_hash=code_hash(call, code) if device is None else device.code_hash,
                code_challenge=stored.code_challenge,
                code_expires_at=Moment.of(call.now + CODE_LIFE) if device is None else device.expires_at,
                expires_at=Moment.of(call.now + GRANT_RETENTION),
                now=call.now,
            ):
                raise CodeInvalid  # The device was allowed in another request; its id is that of the grant.
            # After rows that refer to the client and lock it: all deletions of clients lock in this order, too.
            await registration_store.keep_registration(
                tx,
                project_id=call.project_id,
                id=stored.client_id,
                expires_at=Moment.of(call.now + REGISTRATION_LIFE),
                renew_before=Moment.of(call.now + REGISTRATION_LIFE - REGISTRATION_RENEWAL),
            )
            await renew_session(tx, call, signed_in.session_id, signed_in.customer_id)
    except (CodeInvalid, ForeignKeyViolation):  # The client, or the customer, was deleted meanwhile.
        return await error_page(call, OAuthError("invalid_request", EXPIRED if device is None else DEVICE_EXPIRED))
    cookie = None if token is None else forget_request(call, token)
    if device is not None:
        message = text("You can go back to it and close this page.")
        return await _device_notice(call, text("The device is signed in"), message, cookie)
    return await client_response(call, target_of(stored), {"code": code}, after_form=consented, cookies=cookie)


async def _device_notice(call: Call, heading: Text, message: Text, cookie: str | None) -> HttpResponse:
    headers = None if cookie is None else {"Set-Cookie": cookie}
    return await pages.hosted_page(call, "notice.html", None, headers=headers, heading=heading, message=message)


async def begin_device_request(call: Call, client: ClientRow, device: DeviceRow) -> HttpResponse:
    """Store the request of a device whose code a customer has entered, and lead the browser on: to sign in if needed,
    then to the consent page, which is always shown (RFC 8628 §5.4)."""
    stored = AuthorizationRequest(
        client_id=client.id,
        redirect_uri="",
        form_post=False,
        scopes=device.scopes,
        state=None,
        nonce=None,
        code_challenge="",
        prompts=[],
        max_age=None,
        login_hint="",
        hint_subject=None,
        requested_at=call.now.timestamp(),
        browser=new_token(32),
        device_id=device.id,
        user_code=device.user_code,
        resource=device.resource,
    )
    token, _ = await challenges.issue_token(call.db, call, stored, REQUEST_LIFE)
    url = resume_url(call, stored, token)
    cookie = request_cookie(call, token, stored.browser, REQUEST_LIFE.total_seconds())
    return redirect(url, status=303, cookies=cookie)


def code_hash(call: Call, code: str) -> bytes:
    """The keyed hash of an authorization code, which is stored."""
    return call.world.secrets.digest("oauth-code", f"{call.project_id}|{code}")


def target_of(stored: AuthorizationRequest) -> RedirectTarget:
    """Where the response to a request goes."""
    return RedirectTarget(redirect_uri=stored.redirect_uri, form_post=stored.form_post, state=stored.state)


async def _consent_page(
    call: Call,
    client: ClientRow,
    stored: AuthorizationRequest,
    token: str,
    signed_in: SignedInCustomer,
    *,
    cookies: str | None = None,
) -> HttpResponse:
    """The page that asks the customer to allow the client its scopes."""
    try:
        resource = None if stored.resource is None else await require_resource(call, client, stored.resource)
    except OAuthError as error:  # The API was deleted meanwhile.
        return await error_page(call, error)
    descriptions = await access.descriptions_of_permissions(call.db, call.project_id, permission_scopes(stored.scopes))
    links = (
        (client.website_url, text("website")),
        (client.privacy_url, text("privacy policy")),
        (client.terms_url, text("terms of service")),
    )
    return await pages.hosted_page(
        call,
        "oauth-consent.html",
        None,
        form_target=stored.redirect_uri or None,
        headers=None if cookies is None else {"Set-Cookie": cookies},
        action=f"{oauth_path(call)}/consent",
        again=sign_in_url(call, token, stored),
        token=token,
        session=str(signed_in.session_id),
        account=signed_in.email or signed_in.name or str(signed_in.customer_id),
        client=client.name,
        third_party=not client.first_party,
        self_registered=client.self_registered,
        publisher=host_of(client),
        scopes=described_scopes(stored.scopes, descriptions),
        resource="" if resource is None else resource.name,
        destination="" if stored.device_id else _destination(stored.redirect_uri),
        user_code=shown_user_code(stored.user_code),
        switch_url=f"{oauth_path(call)}/resume?{urlencode({'token': token})}",
        links=[{"url": url, "text": name} for url, name in links if url is not None],
    )


def _destination(redirect_uri: str) -> str:
    """Where the browser goes, as the consent page names it. What looks like a host after the scheme of an app is none:
    any app can write there what it likes."""
    parts = urlsplit(redirect_uri)
    return parts.hostname or "" if parts.scheme in ("https", "http") else f"{parts.scheme}:"


def shown_user_code(code: str) -> str:
    """A user code as people read it: in two halves."""
    return f"{code[:4]}-{code[4:]}" if code else ""


async def _try_again_page(call: Call, url: str, message: Text) -> HttpResponse:
    return await pages.hosted_page(
        call, "oauth-error.html", None, status=400, code="", reason="", detail=message, again=url
    )


def resume_url(call: Call, stored: AuthorizationRequest, token: str) -> str:
    """The URL that continues a stored request, in the language of the page."""
    query = urlencode({"token": token, **_language_parameter(call, stored)})
    return f"{pages_url(call.world, call.project_id)}/oauth/resume?{query}"


# The sign-in on the hosted pages, with the provider as the app: it keeps a code verifier of its own.


def sign_in_url(call: Call, token: str, stored: AuthorizationRequest) -> str:
    """The URL of the hosted page on which the customer signs in, or signs up with `prompt=create`."""
    name = "sign-up" if "create" in stored.prompts else "sign-in"
    parameters = {**_flow_parameters(call, token), **_language_parameter(call, stored)}
    if stored.login_hint:
        parameters["email"] = stored.login_hint
    return f"{_pages_url(call)}/{name}?{urlencode(parameters)}"


def _language_parameter(call: Call, stored: AuthorizationRequest) -> dict[str, str]:
    """The parameter `lang` of a page: what the customer chose, or the best of `ui_locales`."""
    language = chosen_language(call.origin) or match_language(stored.ui_locales)
    return {"lang": language} if language else {}


def in_language(call: Call, stored: AuthorizationRequest) -> Call:
    """The call with the language of the request, unless the customer chose another one."""
    language = _language_parameter(call, stored).get("lang", "")
    return replace(call, origin=replace(call.origin, language=language))


def _flow_parameters(call: Call, token: str) -> dict[str, str]:
    return {
        "redirectUrl": provider_return_url(call),
        "codeChallenge": code_challenge(_verifier(call, token)),
        "state": token,
    }


def _verifier(call: Call, token: str) -> str:
    """The code verifier of the sign-in for a stored request (RFC 7636 §4.1)."""
    return call.world.secrets.digest("oauth-continue", token).hex()


def _pages_url(call: Call) -> str:
    return f"{pages_url(call.world, call.project_id)}/auth/pages"
