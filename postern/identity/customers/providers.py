"""Sign-in providers of a project (OpenID Connect, OAuth 2.0), and the authorization code flow with them.

    start → provider → callback → grant → `auth/token` with the app's own code verifier → session

URLs never contain session tokens: the app receives a code for a grant. The code is valid for two minutes, works once,
and only with the code verifier of the app that began the sign-in (RFC 7636).
"""

import dataclasses
import hmac
import re
from collections.abc import Sequence
from typing import Annotated, Any, Literal
from urllib.parse import urlencode
from uuid import UUID

import jwt
import msgspec
import structlog
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from postern.identity.customers import oidc, provider_store, social, store
from postern.identity.customers.challenge_payloads import (
    Grant,
    LinkingSession,
    PendingEnrollment,
    PendingIdentityLink,
    PendingSecondFactor,
    PendingTerms,
    ProvenAccount,
    ProviderSignIn,
    SignInContext,
)
from postern.identity.customers.identities import (
    AccountNotLinked,
    ExternalIdentity,
    IdentityConflict,
    IdentityHeld,
    account_name,
    ask_before_sign_up,
    find_or_create_customer,
)
from postern.identity.customers.identity_requests import request_identity
from postern.identity.customers.model import (
    GRANT_LIFE,
    PROVIDER_LIFE,
    SIGN_IN_CALLERS,
    SSO_PROVIDERS,
    CustomerRow,
    CustomerSignUpClosed,
    IdentityKey,
    SignInBlocked,
    Token,
    Url,
)
from postern.identity.customers.oidc import ProviderTrouble
from postern.identity.customers.provider_store import ProviderRow
from postern.identity.customers.remembered_devices import device_of_token
from postern.identity.customers.requirements import (
    SignInMethodNotAllowed,
    SsoRequired,
    check_rules,
    check_sso_requirement,
    reject_if_sso_required,
)
from postern.identity.customers.rules import (
    account_link_url,
    account_return_url,
    is_banned,
    provider_return_url,
    require_redirect,
)
from postern.identity.customers.sign_in import ATTEMPTS, complete_sign_in, project_of_call
from postern.identity.customers.social import (
    ISSUERS,
    NAMES,
    SCOPES,
    SECRET_IN_FORM,
    WITHOUT_ID_TOKENS,
    WITHOUT_NONCE,
    WITHOUT_PKCE,
    ProviderKind,
)
from postern.identity.customers.tokens import HOOK_PROBLEMS, CustomerSignInResult, add_hook_claims, resume_session
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.cookies import cookie, cookie_name
from postern.kernel.http.operation import RawRequest, delete, get, post, put
from postern.kernel.http.problems import Forbidden, Invalid, Missing
from postern.kernel.http.responses import HttpResponse
from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json
from postern.kernel.values import Body, Deleted, Moment, Record, build_view
from postern.messaging.certificates.pages_domains import pages_url
from postern.platform.audit import operations as audit
from postern.platform.projects.model import Project
from postern.platform.projects.quotas import PlanLimitReached
from postern.protocols.oidc.authorization import authorization_url, matches_challenge
from postern.protocols.oidc.id_token import SKEW, TokenRefused
from postern.security import challenges, session_store
from postern.security.attempts import throttle
from postern.security.challenges import Challenge, CodeInvalid
from postern.security.secrets import new_token
from postern.security.sessions import is_trusted_test
from postern.web.languages import chosen_language
from postern.web.pages import redirect

OnNewSubject = Literal["REFUSE", "HOLD"]
RESERVED_KEYS = frozenset(("PASSWORD", "EMAIL_CODE", "PASSKEY", *SSO_PROVIDERS))
"""Keys that no provider can have, because they are the `provider` of identities of other sign-in methods."""
FLOW_COOKIE = "postern-flow-"
"""Prefix of the names of the cookies that bind a sign-in to the browser that began it."""
PROVIDERS_LIMIT = 50
ProviderKey = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Z][A-Z0-9_]{0,39}(?!\n)$",
        description="Upper-case letters, digits and `_`, beginning with a letter, such as `GOOGLE`.",
    ),
]
CodeChallenge = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9_-]{43}(?!\n)$",
        description="An S256 code challenge (RFC 7636 §4.2): 43 characters of base64url.",
    ),
]
CodeVerifier = Annotated[
    str,
    msgspec.Meta(
        pattern=r"^[A-Za-z0-9._~-]{43,128}(?!\n)$",
        description="A code verifier (RFC 7636 §4.1): 43 to 128 letters, digits, `-`, `.`, `_` and `~`.",
    ),
]
AcrValue = Annotated[
    str,
    msgspec.Meta(
        max_length=200,
        pattern=r"^[\x21-\x7e]+(?!\n)$",
        description="An authentication context class (OpenID Connect `acr`): printable ASCII without spaces.",
    ),
]
Scopes = Annotated[
    str,
    msgspec.Meta(
        max_length=500,
        pattern=r"^[\x21-\x7e]+( [\x21-\x7e]+)*(?!\n)$",
        description="OAuth scopes separated by single spaces, such as `openid email profile`.",
    ),
]
OpaqueParameter = Annotated[str, msgspec.Meta(max_length=1_000)]
"""A parameter whose content this server does not interpret, such as the `state` of an app."""
UserName = Annotated[str, msgspec.Meta(max_length=200)]
NAME_LIMIT = 200
USER_LIMIT = 4_000
"""Maximum length of the field `user` in Apple's form, in characters."""
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class ProviderMissing(Missing):
    """There is no such sign-in provider."""


class FlowInvalid(CodeInvalid):
    """This sign-in was begun in another browser, has expired, or is already finished; begin again."""

    status = 400


class ProofTooWeak(Forbidden):
    """The sign-in at the provider is weaker or older than the project requires (`acrValues`, `maxAgeSeconds`)."""


class SignInProvider(Record):
    """A sign-in provider of the project, without its client secret."""

    key: str
    kind: ProviderKind
    name: str
    issuer: str
    client_id: str
    has_secret: bool
    scopes: str
    trusted_email_domains: list[str]
    team_id: str | None
    key_id: str | None
    acr_values: list[str]
    max_age_seconds: int | None
    on_new_subject: OnNewSubject
    enabled: bool
    callback_url: str
    """The redirect URI to register at the provider."""
    created_at: Moment
    updated_at: Moment


class ProviderSettings(Body):
    """Settings of a provider. Only the kind `OIDC` needs an `issuer`. Apple's `clientSecret` is a private key (PEM)."""

    kind: ProviderKind = "OIDC"
    client_id: Annotated[str, msgspec.Meta(min_length=1, max_length=300)]
    client_secret: Annotated[str, msgspec.Meta(max_length=4_000)] | None = None
    """If left out, the stored secret is kept."""
    name: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    issuer: Url | None = None
    scopes: Scopes | None = None
    trusted_email_domains: Annotated[list[str], msgspec.Meta(max_length=100)] = []
    """Domains whose addresses count as verified when this provider reports them: for your own directory that does not
    send `email_verified`."""
    team_id: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    """Only for Apple: the id of your team in Apple's developer program."""
    key_id: Annotated[str, msgspec.Meta(max_length=100)] | None = None
    """Only for Apple: the id of the private key."""
    acr_values: Annotated[list[AcrValue], msgspec.Meta(max_length=10)] = []
    """Accepted authentication contexts: the ID token's `acr` must be one of these."""
    max_age_seconds: Annotated[int, msgspec.Meta(ge=0, le=31_536_000)] | None = None
    """Maximum age of the authentication at the provider, in seconds; `0` requires a new one at each sign-in."""
    on_new_subject: OnNewSubject = "REFUSE"
    """How to treat an account with the address of a customer who is linked to another account of this provider: REFUSE
    it, or HOLD it in `identity-requests` until an administrator approves it."""
    enabled: bool = True


class AuthorizationCodeGrant(Body):
    """The code that the app received, and the code verifier that it kept."""

    code: Token
    code_verifier: CodeVerifier | None = None
    """Required, except for a single sign-on that the app did not begin: the project's server exchanges such a code with
    its secret key."""
    remembered_device_token: Token | None = None
    """The `rememberedDeviceToken` that `mfa/verify` has returned on this device."""


@get("/projects/{project_id}/auth/providers", needs="projects:read")
async def list_providers(call: Call) -> list[SignInProvider]:
    """The project's sign-in providers."""
    rows = await provider_store.providers(call.db, project_id=call.project_id)
    return [_provider_view(call, row) for row in rows]


@put(
    "/projects/{project_id}/auth/providers/{key}",
    needs="projects:write",
    example={"kind": "GOOGLE", "clientId": "123.apps.googleusercontent.com", "clientSecret": "GOCSPX-…"},
)
async def set_provider(call: Call, key: str, data: ProviderSettings) -> SignInProvider:
    """Add or change a provider. `key` identifies it: `GOOGLE`, or a key of your own such as `ACME_DIRECTORY`."""
    key, issuer = _checked_key(key, data.kind), data.issuer or ISSUERS.get(data.kind)
    if issuer is None:
        raise Invalid.at("/issuer", "Send the `issuer` of the OIDC provider.", "required")
    if data.kind == "APPLE":
        _check_apple(data)
    if data.kind in WITHOUT_ID_TOKENS and (data.acr_values or data.max_age_seconds is not None):
        name = NAMES.get(data.kind, data.kind.title())
        raise Invalid(f"{name} sends neither `acr` nor `auth_time`: leave out `acrValues` and `maxAgeSeconds`.")
    options = {
        "scopes": data.scopes,
        "trustedEmailDomains": [domain.lower() for domain in data.trusted_email_domains],
        "teamId": data.team_id,
        "keyId": data.key_id,
        "acrValues": data.acr_values,
        "maxAgeSeconds": data.max_age_seconds,
        "onNewSubject": data.on_new_subject,
    }
    async with call.db.transaction() as tx:
        await tx.lock_quota("providers", call.project_id)
        if await provider_store.count(tx, project_id=call.project_id, except_key=key) >= PROVIDERS_LIMIT:
            raise Invalid(f"A project can have at most {PROVIDERS_LIMIT} providers.")
        secret = data.client_secret
        existing = await provider_store.provider(tx, project_id=call.project_id, key=key)
        if existing is not None and existing.client_secret is not None and not secret and existing.issuer != issuer:
            # Otherwise a developer who cannot read the secret could have it sent to an issuer of their own.
            raise Invalid.at("/clientSecret", "Send the client secret again when you change the issuer.", "required")
        row = ProviderRow(
            project_id=call.project_id,
            key=key,
            kind=data.kind,
            name=data.name or NAMES.get(key) or key.replace("_", " ").title(),
            issuer=issuer.rstrip("/") if data.kind in WITHOUT_ID_TOKENS else issuer,
            client_id=data.client_id,
            client_secret=call.world.secrets.seal(secret.encode(), _secret_context(call, key)) if secret else None,
            options=options,
            enabled=data.enabled,
            created_at=call.now,
            updated_at=call.now,
        )
        row = await provider_store.upsert(tx, row)
        await audit.record(tx, call, "provider.updated", "Provider", key, kind=data.kind, issuer=issuer)
    return _provider_view(call, row)


@delete("/projects/{project_id}/auth/providers/{key}", needs="projects:write", problems=[ProviderMissing])
async def delete_provider(call: Call, key: str) -> Deleted:
    """Delete a provider. Its customers stay, and need another method to sign in."""
    async with call.db.transaction() as tx:
        if not await provider_store.delete(tx, project_id=call.project_id, key=key):
            raise ProviderMissing
        await audit.record(tx, call, "provider.deleted", "Provider", key)
    return Deleted()


@get(
    "/projects/{project_id}/auth/providers/{key}/start",
    public=True,
    ignore_unknown_query=True,
    media_types=["text/html"],
    status=302,
    problems=[ProviderMissing, ProviderTrouble, SsoRequired],
)
async def start_provider(
    call: Call,
    key: str,
    redirect_url: Url,
    code_challenge: CodeChallenge,
    state: OpaqueParameter = "",
    link: Token | None = None,
    hosted: bool = False,
    factor: OpaqueParameter = "",
) -> HttpResponse:
    """Redirect a browser to a provider, and set a cookie that binds the sign-in to this browser.

    The browser returns to `redirectUrl` (one of the project's) with `code` and `state`, or with `error`. Make the S256
    `codeChallenge` (RFC 7636) from a verifier that you keep. `link` is part of the URLs that `identities/{key}/link`
    returns. With `hosted`, a hosted page asks for the second factor, if there is one, before the app gets its `code`;
    with `factor=ask` on a remembered device, too.
    """
    throttle(call, ATTEMPTS)
    project = await project_of_call(call)
    await require_flow_redirect(call, project, redirect_url)
    row = await provider_store.provider(call.db, project_id=call.project_id, key=key)
    if row is None or not row.enabled:
        raise ProviderMissing
    if link is None:
        await reject_if_sso_required(call, project, None)
    endpoint = (
        social.endpoints_of(row.kind, row.issuer).authorization
        if row.kind in WITHOUT_ID_TOKENS
        else str((await oidc.discover(call.world, row.issuer))["authorization_endpoint"])
    )
    linking = await _consume_link_token(call, key, link) if link is not None else None
    verifier, challenge = oidc.new_pkce()
    nonce, cookie_value = new_token(32), new_token(32)
    token, _ = await challenges.issue_token(
        call.db,
        call,
        ProviderSignIn(
            key=key,
            verifier=verifier,
            nonce=nonce,
            browser=cookie_value,
            redirect_url=redirect_url,
            state=state,
            code_challenge=code_challenge,
            linking=linking,
            hosted=hosted and linking is None,
            language=chosen_language(call.origin) or "",
            asks_factor=factor == "ask",
            callback_url=callback_url(call),
        ),
        PROVIDER_LIFE,
    )
    parameters = {
        "response_type": "code",
        "client_id": row.client_id,
        "redirect_uri": callback_url(call),
        "scope": _scopes(row),
        "state": token,
    }
    if row.kind not in WITHOUT_ID_TOKENS | WITHOUT_NONCE:
        parameters["nonce"] = nonce
    if row.kind not in WITHOUT_PKCE:
        parameters |= {"code_challenge": challenge, "code_challenge_method": "S256"}
    if row.kind == "APPLE":
        parameters["response_mode"] = "form_post"
    parameters |= _strength_parameters(row)
    return redirect(
        authorization_url(endpoint, **parameters), cookies=_cookie(call, token, cookie_value, PROVIDER_LIFE.seconds)
    )


@get(
    "/projects/{project_id}/auth/providers/callback",
    public=True,
    ignore_unknown_query=True,
    media_types=["text/html"],
    status=302,
    problems=[FlowInvalid],
)
async def provider_callback(
    call: Call,
    request: RawRequest,
    state: Token,
    code: OpaqueParameter | None = None,
    error: OpaqueParameter | None = None,
    iss: OpaqueParameter | None = None,
    user_name: UserName | None = None,
) -> HttpResponse:
    """The redirect URI of providers. Redirects the browser to the app's `redirectUrl` with `code`, or with `error`."""
    try:
        challenge = await challenges.answer_token(call, ProviderSignIn, state)
        async with call.db.transaction() as tx:
            flow = await challenges.consume(tx, challenge)
    except CodeInvalid:
        raise FlowInvalid from None
    cookie_value = request.cookies.get(_cookie_name(call, state), "")
    if not hmac.compare_digest(cookie_value.encode(), flow.browser.encode()):
        raise FlowInvalid
    call = dataclasses.replace(call, origin=dataclasses.replace(call.origin, language=flow.language))
    app_parameters = {"state": flow.state} if flow.state else {}
    try:
        if error is not None or code is None:
            raise ProviderTrouble("access_denied" if error == "access_denied" else "The provider sent no code.")
        identity = await _external_identity(call, flow, code, iss, _display_name({"name": user_name}))
        issue_code = _issue_link_code if flow.linking else _issue_sign_in_grant
        app_parameters["code"] = await issue_code(call, identity, flow)
    except (
        *(AccountNotLinked, IdentityConflict, CustomerSignUpClosed, SignInBlocked, SsoRequired, PlanLimitReached),
        *(SignInMethodNotAllowed, ProofTooWeak, *HOOK_PROBLEMS),
    ) as problem:
        app_parameters["error"] = problem.code()
        if problem.for_people is not None:
            app_parameters["error_description"] = problem.for_people
    except (ProviderTrouble, ProviderMissing, TokenRefused) as trouble:
        log.info("provider_refused", project=str(call.project_id), provider=flow.key, reason=str(trouble))
        app_parameters["error"] = "access_denied" if str(trouble) == "access_denied" else "provider_error"
        if app_parameters["error"] == "provider_error":
            app_parameters["error_description"] = _error_description(trouble)
    url, parameters = flow.redirect_url, app_parameters
    if flow.hosted and "code" in app_parameters:
        url = _continue_url(call)
        parameters = {"redirectUrl": flow.redirect_url, "codeChallenge": flow.code_challenge, **app_parameters}
        if flow.language:
            parameters["lang"] = flow.language
        if flow.asks_factor:
            parameters["factor"] = "ask"
    return redirect(authorization_url(url, **parameters), cookies=_cookie(call, state, "", 0))


@post(
    "/projects/{project_id}/auth/providers/callback",
    public=True,
    ignore_unknown_query=True,
    takes="application/x-www-form-urlencoded",
    fields={
        "state": "State of the sign-in, as it was sent.",
        "code": "Authorization code.",
        "error": "Error code of the provider (RFC 6749 §4.1.2.1).",
        "iss": "Issuer (RFC 9207).",
        "user": "Name and address as JSON, which Apple sends at the first sign-in only.",
    },
    media_types=["text/html"],
    status=303,
)
async def provider_callback_by_form(call: Call, request: RawRequest) -> HttpResponse:
    """The redirect URI of providers that post a form. Redirects to the GET operation with the same parameters.

    Browsers send the cookie of the sign-in, which is SameSite=Lax, with this GET, but not with the form.
    """
    form = await request.form()
    parameters = {name: str(form[name]) for name in ("state", "code", "error", "iss") if form.get(name)}
    if name := _name_from_apple(str(form.get("user") or "")):
        parameters["userName"] = name
    return redirect(f"{callback_url(call)}?{urlencode(parameters)}", status=303)


@post(
    "/projects/{project_id}/auth/token",
    accepts=SIGN_IN_CALLERS,
    problems=[CodeInvalid, SignInBlocked, SsoRequired, SignInMethodNotAllowed, *HOOK_PROBLEMS],
    example={"code": "0199…", "codeVerifier": "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"},
)
async def exchange_authorization_code(call: Call, data: AuthorizationCodeGrant) -> CustomerSignInResult:
    """Exchange the code from a provider or a hosted page for the tokens of a session. The code works once."""
    return await _consume_grant(call, await _grant_of(call, data), data.remembered_device_token)


async def exchange_code_on_page(call: Call, data: AuthorizationCodeGrant) -> CustomerSignInResult:
    """Exchange a code for a page of this server, which then remembers the session in a cookie of the browser.

    Raises CodeInvalid, too, for the code of an impersonation: its session is only for the app, because these pages act
    as the customer who has signed in. Raises what `exchange_authorization_code` raises.
    """
    challenge = await _grant_of(call, data)
    if challenge.payload.impersonation:
        raise CodeInvalid
    return await _consume_grant(call, challenge, data.remembered_device_token)


async def _grant_of(call: Call, data: AuthorizationCodeGrant) -> Challenge[Grant]:
    """The grant of a code that the caller may exchange. Counts a try. Raises CodeInvalid and TooManyRequests."""
    throttle(call, ATTEMPTS)
    challenge = await challenges.answer_token(call, Grant, data.code)
    if not _may_exchange(call, challenge.payload.code_challenge, data.code_verifier):
        raise CodeInvalid
    return challenge


async def _consume_grant(
    call: Call, challenge: Challenge[Grant], remembered_device_token: str | None
) -> CustomerSignInResult:
    """Consume a grant: resume the session that began on a hosted page, or begin one."""
    project = await project_of_call(call)
    # After single sign-on the second factor is always asked for.
    is_sso = challenge.payload.sso_organization_id is not None
    device = None if is_sso else await device_of_token(call, remembered_device_token)
    assert challenge.subject_id is not None
    async with call.db.transaction() as tx:
        customer = await store.lock_customer(tx, project_id=call.project_id, id=challenge.subject_id)
        if customer is None:
            raise CodeInvalid
        grant = await challenges.consume(tx, challenge)
        if grant.session_id is None:
            signed_in = await complete_sign_in(tx, call, project, customer, grant.methods, context=grant, device=device)
        else:
            signed_in = None
            if is_trusted_test(call.caller) and not grant.impersonation:
                await session_store.mark_test(tx, project_id=call.project_id, id=grant.session_id)
    if signed_in is not None:
        return await add_hook_claims(call, project.settings.sign_in.hooks, signed_in)
    assert grant.session_id is not None
    return await resume_session(call, grant.session_id, customer)


async def continue_grant(
    call: Call, code: str, code_challenge: str, *, remembered_device_token: str | None
) -> CustomerSignInResult:
    """Exchange the code of a grant on a hosted page, before the app gets a code.

    Returns the tokens of a session, or the step that is still required.

    Raises CodeInvalid if the grant has another code challenge, or belongs to a session that exists already. No code
    verifier is needed, because the page then issues a new code for the app, with the same code challenge.
    """
    throttle(call, ATTEMPTS)
    challenge = await challenges.answer_token(call, Grant, code)
    if challenge.payload.code_challenge != code_challenge or challenge.payload.session_id is not None:
        raise CodeInvalid
    return await _consume_grant(call, challenge, remembered_device_token)


async def require_flow_redirect(call: Call, project: Project, url: str) -> str:
    """Like `rules.require_redirect`, for flows in a browser: the account pages are one of the project's apps, and so is
    its OpenID provider, if there are clients."""
    if url in (account_return_url(call), account_link_url(call)):
        return url
    if url == provider_return_url(call) and await provider_store.has_oauth_client(call.db, project_id=call.project_id):
        return url
    return require_redirect(project, url)


def _continue_url(call: Call) -> str:
    return f"{pages_url(call.world, call.project_id)}/auth/pages/continue"


def callback_url(call: Call) -> str:
    """The redirect URI of the project's providers."""
    return f"{pages_url(call.world, call.project_id)}/auth/providers/callback"


async def _consume_link_token(call: Call, key: str, token: str) -> LinkingSession:
    """Consume a link token. Returns the customer and the session that are linking an account of this provider.

    Raises FlowInvalid.
    """
    try:
        challenge = await challenges.answer_token(call, PendingIdentityLink, token)
        if challenge.payload.key != key:
            raise FlowInvalid
        async with call.db.transaction() as tx:
            link = await challenges.consume(tx, challenge)
    except CodeInvalid:
        raise FlowInvalid from None
    assert challenge.subject_id is not None
    return LinkingSession(customer_id=challenge.subject_id, session_id=link.session_id)


async def _issue_link_code(call: Call, identity: ExternalIdentity, flow: ProviderSignIn) -> str:
    """Issue a code with which the session that began to link the account completes the link. Nothing is linked yet."""
    assert flow.linking is not None
    token, _ = await challenges.issue_token(
        call.db,
        call,
        ProvenAccount(
            session_id=flow.linking.session_id,
            code_challenge=flow.code_challenge,
            account=build_view(IdentityKey, identity),
            account_name=account_name(identity),
        ),
        GRANT_LIFE,
        subject_id=flow.linking.customer_id,
    )
    return token


async def _issue_sign_in_grant(call: Call, identity: ExternalIdentity, flow: ProviderSignIn) -> str:
    """Find or create the customer, and issue a grant for the app."""
    project = await project_of_call(call)
    row = await provider_store.provider(call.db, project_id=call.project_id, key=identity.provider)
    hold = row is not None and row.options.get("onNewSubject") == "HOLD"
    answer = await ask_before_sign_up(call, project, identity)
    if answer.name is not None:
        identity = msgspec.structs.replace(identity, name=answer.name)
    try:
        async with call.db.transaction() as tx:
            customer = await find_or_create_customer(tx, call, project, identity, hold=hold, metadata=answer.metadata)
            if is_banned(customer, call.now):
                raise SignInBlocked
            required = await check_sso_requirement(tx, call, project, customer, sso_organization_id=None)
            check_rules(required, ["fed"], None)  # Here, not only at the exchange: the browser returns with `error`.
            return await issue_grant(tx, call, customer, flow.code_challenge)
    except IdentityHeld as problem:
        await request_identity(call, problem.customer_id, identity)
        raise


async def issue_grant(
    tx: Transaction,
    call: Call,
    customer: CustomerRow,
    code_challenge: str | None,
    *,
    methods: Sequence[str] = ("fed",),
    context: SignInContext | None = None,
) -> str:
    """Issue a code, valid for two minutes, that the app exchanges for a session of this customer.

    If `code_challenge` is None, only the project's server can exchange the code, with its secret key. `methods` are the
    authentication methods (RFC 8176), `context` is that of the sign-in. The exchange of the code checks the ban and the
    sign-in requirements.
    """
    context = context or SignInContext()
    token, _ = await challenges.issue_token(
        tx,
        call,
        Grant(
            code_challenge=code_challenge,
            methods=list(methods),
            via=context.via,
            until=context.until,
            sso_organization_id=context.sso_organization_id,
        ),
        GRANT_LIFE,
        subject_id=customer.id,
        identifier=customer.identifier,
    )
    return token


async def revoke_grants(tx: Transaction, call: Call, customer_id: UUID) -> None:
    """Delete a customer's pending sign-ins: unused grants, and sign-ins that wait for a second factor or the terms."""
    kinds = (Grant, PendingSecondFactor, PendingEnrollment, PendingTerms)
    await challenges.revoke(tx, call.project_id, customer_id, kinds)


def _may_exchange(call: Call, challenge: str | None, verifier: str | None) -> bool:
    """Whether the caller may exchange a code: with the verifier of its code challenge or, if the code was issued
    without a challenge, with a secret key."""
    if challenge is None:
        return call.caller.kind == "secret_key"
    return verifier is not None and matches_challenge(verifier, challenge)


async def _external_identity(
    call: Call, flow: ProviderSignIn, code: str, iss: str | None, user_name: str | None
) -> ExternalIdentity:
    """Exchange the code and read the account from the ID token. `user_name` is the name that Apple sent beside it.

    Raises ProviderTrouble, TokenRefused, ProviderMissing.
    """
    row = await provider_store.provider(call.db, project_id=call.project_id, key=flow.key)
    if row is None or not row.enabled:
        raise ProviderMissing
    if row.kind in WITHOUT_ID_TOKENS:
        return await _external_identity_from_api(call, row, flow, code)
    metadata = await oidc.discover(call.world, row.issuer)
    oidc.check_issuer_parameter(metadata, iss)
    tokens = await oidc.redeem_at(
        call.world,
        metadata,
        code=code,
        redirect_uri=flow.callback_url or callback_url(call),
        verifier=None if row.kind in WITHOUT_PKCE else flow.verifier,
        client_id=row.client_id,
        client_secret=_client_secret(call, row),
        allow_basic=row.kind not in SECRET_IN_FORM,
    )
    claims = await oidc.verify_id_token(
        call.world,
        metadata,
        tokens.get("id_token"),
        issuer=row.issuer,
        client_id=row.client_id,
        nonce=None if row.kind in WITHOUT_NONCE else flow.nonce,
    )
    _require_strength(row, claims, call.now)
    token_claims = claims
    claims = await oidc.with_user_info(call.world, metadata, tokens, claims)
    email = claims.get("email") if isinstance(claims.get("email"), str) else None
    return ExternalIdentity(
        provider=row.key,
        issuer=claims["iss"],
        subject=social.subject_of(row.kind, claims),
        email=email,
        email_verified=email is not None
        and (social.is_email_verified(row.kind, claims, token_claims) or _is_trusted(row, claims["iss"], email)),
        name=_display_name(claims) or (user_name if row.kind == "APPLE" else None),
    )


async def _external_identity_from_api(
    call: Call, row: ProviderRow, flow: ProviderSignIn, code: str
) -> ExternalIdentity:
    """Exchange the code and read the account from the API of a provider that issues no ID tokens."""
    endpoints = social.endpoints_of(row.kind, row.issuer)
    client_secret = _client_secret(call, row)
    tokens = await oidc.redeem(
        call.world,
        endpoints.token,
        code=code,
        redirect_uri=flow.callback_url or callback_url(call),
        verifier=flow.verifier,
        client_id=row.client_id,
        client_secret=client_secret,
        basic=endpoints.basic,
    )
    access_token = tokens.get("access_token")
    if not isinstance(access_token, str):
        raise ProviderTrouble("The sign-in provider sent no access token.")
    account = await social.read_account(
        call.world, row.kind, endpoints, access_token, client_secret=client_secret, scopes=_scopes(row)
    )
    return ExternalIdentity(
        provider=row.key,
        issuer=row.issuer,
        subject=account.subject,
        email=account.email,
        email_verified=account.email_verified,
        name=_display_name({"name": account.name}),
    )


def _display_name(profile: dict[str, Any]) -> str | None:
    """The name in a profile without control characters and line breaks, or None."""
    name = profile.get("name")
    return (
        " ".join(re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]", " ", name).split()) or None
        if isinstance(name, str)
        else None
    )


def _name_from_apple(user: str) -> str | None:
    """The name in the field `user` of Apple's form, or None. It is not signed, so it is only used as display name."""
    try:
        value = read_untrusted_json(user[:USER_LIMIT].encode())
    except JsonRefused:
        return None
    name = value.get("name") if isinstance(value, dict) else None
    parts = [name.get("firstName"), name.get("lastName")] if isinstance(name, dict) else []
    return _display_name({"name": " ".join(part for part in parts if isinstance(part, str))[:NAME_LIMIT]})


def _error_description(trouble: Exception) -> str:
    """Why a provider's response was refused, as `error_description` in the characters of RFC 6749 §4.1.2.1."""
    text = f"ID token refused: {trouble}" if isinstance(trouble, TokenRefused) else str(trouble)
    return re.sub(r"[^\x20-\x21\x23-\x5b\x5d-\x7e]", "?", text)[:300]


def _client_secret(call: Call, row: ProviderRow) -> str | None:
    """The client secret to send. For Apple it is a JWT that is signed with the private key and valid for 5 minutes."""
    if row.client_secret is None:
        return None
    secret = call.world.secrets.open(row.client_secret, _secret_context(call, row.key)).decode()
    if row.kind != "APPLE":
        return secret
    now = int(call.now.timestamp())
    claims = {"iss": row.options.get("teamId"), "iat": now, "exp": now + 300, "aud": row.issuer, "sub": row.client_id}
    return jwt.encode(claims, secret, algorithm="ES256", headers={"kid": row.options.get("keyId")})


def _check_apple(data: ProviderSettings) -> None:
    for name, value in (("teamId", data.team_id), ("keyId", data.key_id)):
        if value is None:
            raise Invalid.at(f"/{name}", f"Send `{name}`, which Apple needs.", "required")
    if data.client_secret is not None:
        try:
            load_pem_private_key(data.client_secret.encode(), None)
        except (ValueError, TypeError, UnsupportedAlgorithm):
            raise Invalid.at("/clientSecret", "For Apple, send the private key (.p8) in PEM format.") from None


def _checked_key(key: str, kind: str) -> str:
    """Return the key. Raises Invalid if it is malformed, or reserved for a method or another kind of provider."""
    try:
        key = msgspec.convert(key, ProviderKey)
    except msgspec.ValidationError:
        raise Invalid.at(
            "path/key", "The key must have capital letters, digits and `_` only, such as GOOGLE or ACME_DIRECTORY."
        ) from None
    if key in RESERVED_KEYS or (key in ISSUERS and key != kind):
        raise Invalid.at("path/key", f"`{key}` is reserved; choose another key.")
    return key


def _strength_parameters(row: ProviderRow) -> dict[str, str]:
    """`acr_values` and `max_age` of the authentication request (OpenID Connect Core §3.1.2.1)."""
    parameters = {"acr_values": " ".join(row.options.get("acrValues") or [])}
    if row.options.get("maxAgeSeconds") is not None:
        parameters["max_age"] = str(row.options["maxAgeSeconds"])
    return {name: value for name, value in parameters.items() if value}


def _require_strength(row: ProviderRow, claims: dict[str, Any], now: Moment) -> None:
    """Raises ProofTooWeak unless `acr` and `auth_time` meet the settings: a provider may ignore what was requested."""
    acr_values, max_age = row.options.get("acrValues"), row.options.get("maxAgeSeconds")
    if acr_values and claims.get("acr") not in acr_values:
        raise ProofTooWeak
    if max_age is not None:
        auth_time = claims.get("auth_time")
        if isinstance(auth_time, bool) or not isinstance(auth_time, int | float):
            raise ProofTooWeak
        if not now.timestamp() - auth_time <= max_age + SKEW.total_seconds():
            raise ProofTooWeak


def _scopes(row: ProviderRow) -> str:
    return row.options.get("scopes") or SCOPES.get(row.kind, "openid email profile")


def _is_trusted(row: ProviderRow, issuer: str, email: str) -> bool:
    """Whether the domain of an address is trusted.

    Never for a multi-tenant issuer, whose tokens name another issuer than the configured one: each of its tenants could
    assert any address.
    """
    return issuer == row.issuer and email.rpartition("@")[2].lower() in (row.options.get("trustedEmailDomains") or [])


def _cookie(call: Call, token: str, value: str, seconds: int) -> str:
    """The cookie that binds a sign-in to the browser that began it."""
    path = f"/projects/{call.project_id}/auth/providers"
    return cookie(call.world.settings, f"{FLOW_COOKIE}{token[:32]}", value, path=path, seconds=seconds)


def _cookie_name(call: Call, token: str) -> str:
    return cookie_name(call.world.settings, f"{FLOW_COOKIE}{token[:32]}")


def _secret_context(call: Call, key: str) -> str:
    return f"provider:{call.project_id}:{key}"


def _provider_view(call: Call, row: ProviderRow) -> SignInProvider:
    return SignInProvider(
        key=row.key,
        kind=msgspec.convert(row.kind, ProviderKind),
        name=row.name,
        issuer=row.issuer,
        client_id=row.client_id,
        has_secret=row.client_secret is not None,
        scopes=_scopes(row),
        trusted_email_domains=row.options.get("trustedEmailDomains") or [],
        team_id=row.options.get("teamId"),
        key_id=row.options.get("keyId"),
        acr_values=row.options.get("acrValues") or [],
        max_age_seconds=row.options.get("maxAgeSeconds"),
        on_new_subject=row.options.get("onNewSubject") or "REFUSE",
        enabled=row.enabled,
        callback_url=callback_url(call),
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
