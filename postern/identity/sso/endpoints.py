"""Public SAML endpoints of a connection, for browsers and identity providers.

    login → identity provider → acs → the app's `redirectUrl` with a code → `auth/token` → session

A cookie binds requests to the browser that started them. Responses are posted to `acs` from another site, so with https
the cookie is `SameSite=None`.
"""

import asyncio
import dataclasses
import re
from datetime import timedelta
from typing import Annotated, Any
from urllib.parse import urlencode
from uuid import UUID

import msgspec
from msgspec.structs import replace

from postern.identity.customers.form_posts import form_post_page
from postern.identity.customers.mailed_challenges import EmailOnly
from postern.identity.customers.model import SIGN_IN_CALLERS, Url
from postern.identity.customers.providers import CodeChallenge, OpaqueParameter, require_flow_redirect
from postern.identity.customers.requirements import SsoChoice, SsoEntry
from postern.identity.organizations.rules import domain_of
from postern.identity.sso import keys, pages, rules, store
from postern.identity.sso.login import CheckedLogin, SignOnRefused, accept_login, check_login, consume_assertion_id
from postern.identity.sso.model import (
    CONNECTIONS_PER_ORGANIZATION,
    MAX_OPEN_REQUESTS,
    METADATA_MIN_INTERVAL,
    REQUEST_LIFE,
    TRACE_RETENTION,
    TRACES_PER_CONNECTION,
    ConnectionKind,
    KeyRow,
    Kind,
    LoginRefusal,
    ProvenSignOn,
    RequestRow,
    SsoConnectionMissing,
    SsoLookup,
    SsoLookupChoice,
    SsoProfile,
    SsoTrace,
)
from postern.identity.sso.service_provider import (
    connection_settings,
    is_valid_test_ticket,
    login_url_of,
    metadata_of,
    urls_of,
)
from postern.identity.sso.store import ConnectionWithOrganization, WorkingConnection
from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call, Caller
from postern.kernel.http.cookies import cookie, cookie_name
from postern.kernel.http.operation import FORM, RawRequest, get, post
from postern.kernel.http.problems import Conflict, Forbidden, Invalid, require_found
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.kernel.values import Moment, Record, new_id, to_plain
from postern.platform.projects import operations as projects
from postern.protocols.saml.request import authn_request, new_message_id, post_fields, redirect_url
from postern.protocols.saml.response import read_response
from postern.protocols.saml.trace import SamlRejected, SamlRejectionReason, SsoTraceStep
from postern.security.secrets import new_token
from postern.web.languages import Text, text
from postern.web.pages import redirect

SAML_PATH = "/sso/saml/{conn_id}"
HTML = ("text/html",)
FORM_LIMIT = 600_000
"""Maximum bytes of a form: a response of 256 KB, base64-encoded and percent-encoded."""
COOKIE = "postern-sso"
BROWSER_SECRET_PATTERN = re.compile(r"^[A-Za-z0-9]{40}$")
SIGN_IN_RATE = RateLimit("sso", 100, timedelta(seconds=10))
"""Limit of requests from one IP address to one connection; enough for an office behind one IP address."""
TRACE_RATE = RateLimit("sso-traces", 30, timedelta(minutes=1))
"""Limit of rejected messages of one connection that are recorded as traces, so that spam does not displace useful
traces."""


TestTicket = Annotated[str, msgspec.Meta(max_length=200)]


class SsoUnavailable(Conflict):
    """Single sign-on by this connection is unavailable: the connection is inactive, its domain is not verified, or the
    organization is suspended."""


class SsoTestInvalid(Forbidden):
    """This test link is invalid or has expired; create a new one."""


class PublicConnection(Record):
    """A connection looked up by its public id, with its service provider keys."""

    row: ConnectionWithOrganization
    sp_keys: list[KeyRow]
    """Empty for connections by OpenID Connect."""


@get("/projects/{project_id}/auth/sso", accepts=SIGN_IN_CALLERS)
async def find_sso_connection(
    call: Call, email: Annotated[str, msgspec.Meta(min_length=3, max_length=254)]
) -> SsoLookup:
    """Find the single sign-on connection that serves the domain of an e-mail address.

    Redirect the browser to `loginUrl` with `redirectUrl`, `codeChallenge` and `state`. If `choices` is not null, let
    the person choose one of them first. All other fields are null if there is no connection, if the domain is no longer
    verified, or if the organization is suspended.
    """
    call.world.limiter.take(SIGN_IN_RATE, f"{call.project_id}|{call.origin.ip}")
    await projects.require_project(call.db, call.project_id)
    if "@" not in email:
        raise Invalid.at("query/email", "`email` must be an e-mail address.", "invalid_address")
    try:
        domain = rules.as_connection_domain(domain_of(email))
    except Invalid:
        domain = ""
    rows = await store.connections_for_domain(
        call.db, project_id=call.project_id, domain=domain, limit=CONNECTIONS_PER_ORGANIZATION
    )
    if not rows:
        return SsoLookup(connection_id=None, organization_id=None, name=None, login_url=None)
    return SsoLookup(
        connection_id=rows[0].id,
        organization_id=rows[0].organization_id,
        name=rows[0].name,
        login_url=login_url_of(call.world, rows[0].kind, rows[0].id),
        choices=[
            SsoLookupChoice(connection_id=row.id, name=row.name, login_url=login_url_of(call.world, row.kind, row.id))
            for row in _choices(rows)
        ]
        or None,
    )


def _choices(rows: list[WorkingConnection]) -> list[WorkingConnection]:
    """The connections among which the person must choose: all, if there are several and none is for the domain."""
    return rows if len(rows) > 1 and not rows[0].for_domain else []


@post("/projects/{project_id}/auth/sso", accepts=SIGN_IN_CALLERS, example={"email": "maria@acme.example"})
async def find_sso_connection_by_form(call: Call, data: EmailOnly) -> SsoLookup:
    """Find a connection like the GET operation, with the address in the body, so that it is not logged in URLs."""
    return await find_sso_connection(call, data.email)


async def sso_entry_of_address(call: Call, email: str) -> SsoEntry | None:
    """The name and login URL of the connection for the domain of an address, to which the hosted pages link; None if
    there is no working one.

    Raises the problems of `find_sso_connection`.
    """
    lookup = await find_sso_connection(call, email)
    if not lookup.name or not lookup.login_url:
        return None
    choices = [SsoChoice(name=choice.name, login_url=choice.login_url) for choice in lookup.choices or []]
    return SsoEntry(name=lookup.name, login_url=lookup.login_url, choices=choices)


async def sso_entry_of_organization(
    db: Queries, call: Call, organization_id: UUID, domain: str | None
) -> SsoEntry | None:
    """The name and login URL of a working connection of an organization, preferably of the one for `domain`, to
    which the hosted pages link; None if there is none."""
    rows = await store.working_connections(
        db,
        project_id=call.project_id,
        organization_id=organization_id,
        domain=domain,
        limit=CONNECTIONS_PER_ORGANIZATION,
    )
    if not rows:
        return None
    first, *_ = entries = [
        SsoChoice(name=row.name, login_url=login_url_of(call.world, row.kind, row.id)) for row in rows
    ]
    choices = entries if _choices(rows) else []
    return SsoEntry(name=first.name, login_url=first.login_url, choices=choices)


async def has_working_connection(db: Queries, project_id: UUID, organization_id: UUID | None) -> bool:
    """Whether an organization, or if it is None any organization of the project, has a connection by which members can
    sign in now."""
    return bool(
        await store.working_connections(
            db, project_id=project_id, organization_id=organization_id, domain=None, limit=1
        )
    )


async def has_working_account(db: Queries, project_id: UUID, customer_id: UUID) -> bool:
    """Whether the customer is linked to an account at a connection that works, that is, by which members can sign in
    now."""
    return await store.working_connection_of_customer(db, project_id=project_id, customer_id=customer_id) is not None


async def has_active_connection(call: Call) -> bool:
    """Whether the project has an active connection, even if it does not work now."""
    return await store.active_connection_name(call.db, project_id=call.project_id) is not None


@get(
    f"{SAML_PATH}/metadata.xml",
    public=True,
    ignore_unknown_query=True,
    media_types=("application/xml",),
    problems=[SsoConnectionMissing],
)
async def get_public_sso_metadata(call: Call, conn_id: UUID) -> HttpResponse:
    """Get the service provider metadata, at a URL that the identity provider can fetch."""
    call, connection = await public_connection(call, conn_id, "SAML")
    return HttpResponse(metadata_of(urls_of(call.world, conn_id), connection.sp_keys), media_type="application/xml")


@get(
    f"{SAML_PATH}/login",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    problems=[SsoConnectionMissing, SsoUnavailable, SsoTestInvalid],
)
async def begin_sso(
    call: Call,
    request: RawRequest,
    conn_id: UUID,
    redirect_url: Url | None = None,
    code_challenge: CodeChallenge | None = None,
    state: OpaqueParameter = "",
    test: TestTicket | None = None,
) -> HttpResponse:
    """Start single sign-on: redirect the browser to the identity provider.

    The browser returns to `redirectUrl`, which must be among the project's `redirectUrls`, with `code` and `state`, or
    with `error`. Exchange the code at `auth/token`: with the verifier if you sent a `codeChallenge` (S256, RFC 7636),
    otherwise with a secret key. A `test` link shows the result as a page instead, and needs no `redirectUrl`.
    """
    call, connection = await public_connection(call, conn_id, "SAML")
    request_row, cookie_header = await begin_request(
        call,
        request,
        connection,
        new_message_id(),
        redirect_url=redirect_url,
        code_challenge=code_challenge,
        state=state,
        test=test,
    )
    return await _redirect_to_provider(call, connection, request_row.message_id, cookie_header)


async def begin_request(
    call: Call,
    request: RawRequest,
    connection: PublicConnection,
    message_id: str,
    *,
    redirect_url: str | None,
    code_challenge: str | None,
    state: str,
    test: str | None,
) -> tuple[RequestRow, str]:
    """Check that a sign-on or test may begin, and store its request. Returns the request, and the `Set-Cookie` header
    that binds it to the browser. The parameters are those of `begin_sso`.

    Raises SsoUnavailable, SsoTestInvalid and Invalid.
    """
    conn_id = connection.row.id
    if test is None:
        if (
            connection.row.status != "ACTIVE"
            or not connection.row.domain_verified
            or connection.row.organization_status != "ACTIVE"
        ):
            raise SsoUnavailable
        project = await projects.require_project(call.db, call.project_id)
        if redirect_url is None:
            raise Invalid.at("query/redirectUrl", "`redirectUrl` is required.", "required")
        await require_flow_redirect(call, project, redirect_url)
    elif not is_valid_test_ticket(call.world, conn_id, test, call.now):
        raise SsoTestInvalid
    browser_secret, cookie_header = _browser_secret_and_cookie(call, request, connection)
    request_row = RequestRow(
        project_id=call.project_id,
        id=new_id(),
        connection_id=conn_id,
        kind="SIGN_ON" if test is None else "TEST",
        message_id=message_id,
        browser=_browser_digest(call, browser_secret),
        redirect_url=redirect_url if test is None else None,
        state=state,
        code_challenge=code_challenge,
        created_at=call.now,
        expires_at=call.now + REQUEST_LIFE,
        due_at=call.now + REQUEST_LIFE,
    )
    await store.insert_request(call.db, request_row)
    return request_row, cookie_header


@post(
    f"{SAML_PATH}/acs",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields={
        "SAMLResponse": "The SAML response in base64.",
        "RelayState": "The RelayState of the authentication request.",
    },
    media_types=HTML,
    body_limit=FORM_LIMIT,
    problems=[SsoConnectionMissing],
)
async def receive_saml_response(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """Receive the identity provider's response (SAML HTTP-POST binding): the assertion consumer service.

    Redirects the browser to the app with a code, or with `error`. An invalid response, or one for another browser,
    returns a page with the reason; the operation `…/traces` lists every check.
    """
    call, connection = await public_connection(call, conn_id, "SAML")
    form = await request.form()
    raw = form.get("SAMLResponse")
    open_requests = await open_requests_of(call, request, conn_id)
    try:
        # In a thread: a valid response takes about 1 ms, but a maliciously large one about 30 ms (`bench.saml`).
        saml_login = await asyncio.to_thread(
            read_response,
            raw if isinstance(raw, str) else "",
            connection=connection_settings(call.world, connection.row, connection.sp_keys, decrypting=True),
            expected_request_ids=[open_request.message_id for open_request in open_requests],
            now=call.now,
            skew=timedelta(seconds=connection.row.options.clock_skew_seconds),
        )
    except SamlRejected as rejection:
        test_request = next((open_request for open_request in open_requests if open_request.kind == "TEST"), None)
        kind = "TEST" if test_request else "SIGN_ON"
        await record_trace(call, conn_id, kind, rejection.trace, reason=rejection.reason, detail=rejection.detail)
        if rejection.reason in (SamlRejectionReason.UNKNOWN_CERTIFICATE, SamlRejectionReason.DECRYPTION_FAILED):
            # The provider may sign with a new certificate. For an assertion in AES-CBC, any failure, an unknown
            # certificate included, is reported as DECRYPTION_FAILED.
            await _refresh_metadata_early(call, conn_id)
        if test_request:
            return await pages.failed_test_page(call, rejection.reason, rejection.detail, rejection.trace)
        return await refusal_page(call, rejection.reason)
    request_row = next(
        (open_request for open_request in open_requests if open_request.message_id == saml_login.in_response_to), None
    )
    return await finish_sign_on(call, connection.row, rules.saml_sign_on(connection.row, saml_login), request_row)


async def finish_sign_on(
    call: Call, row: ConnectionWithOrganization, sign_on: ProvenSignOn, request_row: RequestRow | None
) -> HttpResponse:
    """Sign the user of a valid assertion or ID token in, or show the result of a test. `request_row` is None if the
    sign-on started at the identity provider."""
    is_test = request_row is not None and request_row.kind == "TEST"
    checked_login = await check_login(call.db, call, row, sign_on, test=is_test)
    if request_row is not None and is_test:
        return await _test_result_page(call, row, sign_on, request_row, checked_login)
    return await _complete_login(call, row, sign_on, request_row, checked_login)


async def public_connection(
    call: Call, conn_id: UUID, kind: ConnectionKind | None = None
) -> tuple[Call, PublicConnection]:
    """Find a connection by the id in a public URL. Returns a copy of `call` with the connection's project and with the
    connection as caller, and the connection. There is none if `kind` is not None and the connection has another one.

    Raises SsoConnectionMissing, and TooManyRequests beyond SIGN_IN_RATE.
    """
    call.world.limiter.take(SIGN_IN_RATE, f"{conn_id}|{call.origin.ip}")
    connection_project = require_found(await store.project_of_connection(call.db, id=conn_id), SsoConnectionMissing)
    project_id = connection_project.project_id
    rows = await store.list_connections(
        call.db, project_id=project_id, organization_id=None, id=conn_id, before=None, limit=1
    )
    sp_keys = await store.keys(call.db, project_id=project_id, connection_ids=[conn_id])
    if not rows or kind not in (None, rows[0].kind) or (rows[0].kind == "SAML" and not sp_keys):
        raise SsoConnectionMissing
    caller = Caller(kind="anonymous", actor_type="SSO", actor_id=conn_id, actor_label=rows[0].name)
    return dataclasses.replace(call, project_id=project_id, caller=caller), PublicConnection(
        row=rows[0], sp_keys=sp_keys
    )


async def project_of_connection(db: Queries, id: UUID) -> UUID | None:
    """The project of a connection; None if there is no connection with this id."""
    row = await store.project_of_connection(db, id=id)
    return None if row is None else row.project_id


async def record_trace(
    call: Call,
    conn_id: UUID,
    kind: Kind,
    steps: list[SsoTraceStep],
    *,
    reason: str | None = None,
    detail: str | None = None,
    profile: dict[str, Any] | None = None,
    customer_id: UUID | None = None,
) -> None:
    """Record the checks of a message of an identity provider as a trace: REFUSED if `reason` is set, otherwise
    ACCEPTED.

    Refused messages beyond TRACE_RATE are not recorded.
    """
    if reason is not None:
        try:
            call.world.limiter.take(TRACE_RATE, str(conn_id))
        except TooManyRequests:
            return
    trace = SsoTrace(
        id=new_id(),
        connection_id=conn_id,
        kind=kind,
        outcome="REFUSED" if reason else "ACCEPTED",
        reason=reason,
        detail=_storable(detail) if detail else None,
        steps=[replace(step, detail=_storable(step.detail)) for step in steps],
        profile=profile or None,
        customer_id=customer_id,
        created_at=call.now,
    )
    due_at = call.now + TRACE_RETENTION
    await store.insert_trace(
        call.db, trace, project_id=call.project_id, due_at=due_at, max_traces=TRACES_PER_CONNECTION
    )


async def _refresh_metadata_early(call: Call, conn_id: UUID) -> None:
    """Make the metadata due for a refresh now, unless its URL was fetched within the last METADATA_MIN_INTERVAL."""
    fetched_before = Moment.of(call.now - METADATA_MIN_INTERVAL)
    async with call.db.transaction() as tx:
        if await store.make_metadata_due(
            tx, project_id=call.project_id, id=conn_id, fetched_before=fetched_before, now=call.now
        ):
            tx.mark_due("sso_metadata", call.project_id)


async def _redirect_to_provider(
    call: Call, connection: PublicConnection, message_id: str, cookie_header: str
) -> HttpResponse:
    """Redirect the browser to the identity provider with a signed request. `cookie_header` is set as `Set-Cookie`."""
    row = connection.row
    assert row.idp_sso_url is not None
    message = authn_request(
        connection_settings(call.world, row, connection.sp_keys, decrypting=False),
        id=message_id,
        destination=row.idp_sso_url,
        now=call.now,
        name_id_format=row.options.name_id_format,
        force_authn=row.options.force_authn,
    )
    current_key = keys.key_of_place(connection.sp_keys, "CURRENT")
    private_key = keys.private_key_of(call.world, call.project_id, current_key)
    if row.idp_sso_binding == "POST":
        fields = post_fields(message, field="SAMLRequest", private_key=private_key, certificate=current_key.certificate)
        return await form_post_page(call, text("Signing in"), row.idp_sso_url, fields, cookies=cookie_header)
    return redirect(
        redirect_url(row.idp_sso_url, message, field="SAMLRequest", private_key=private_key), cookies=cookie_header
    )


async def _complete_login(
    call: Call,
    row: ConnectionWithOrganization,
    sign_on: ProvenSignOn,
    request_row: RequestRow | None,
    checked_login: CheckedLogin,
) -> HttpResponse:
    """Redirect the browser to the app with a code, or with `error` if the sign-on is refused; record a trace.

    `request_row` is None if the sign-on started at the identity provider.
    """
    steps = [*sign_on.trace, *checked_login.steps]
    target_url = request_row.redirect_url if request_row else await _idp_initiated_redirect_url(call, row)
    parameters = {"state": request_row.state} if request_row and request_row.state else {}
    try:
        if target_url is None:
            detail = "Sign-on started at the identity provider, and there is no valid `defaultRedirectUrl`."
            raise SignOnRefused(LoginRefusal.NOWHERE_TO_GO, detail)
        result = await accept_login(call, row, sign_on, request_row, checked_login)
    except SignOnRefused as refused:
        steps.append(SsoTraceStep(step="sign-on", ok=False, detail=refused.detail))
        await record_trace(call, row.id, "SIGN_ON", steps, reason=refused.reason, detail=refused.detail)
        if request_row and target_url and refused.reason != LoginRefusal.REPLAYED:
            return redirect(with_query(target_url, error=refused.reason.lower(), **parameters), status=303)
        return await refusal_page(call, refused.reason)
    await record_trace(call, row.id, "SIGN_ON", steps, customer_id=result.customer_id)
    if not request_row:
        parameters["connectionId"] = str(row.id)
    return redirect(with_query(target_url, code=result.code, **parameters), status=303)


async def _test_result_page(
    call: Call,
    row: ConnectionWithOrganization,
    sign_on: ProvenSignOn,
    request_row: RequestRow,
    checked_login: CheckedLogin,
) -> HttpResponse:
    """The result page of a test. The assertion is consumed, and no customer is created."""
    profile = {**to_plain(checked_login.profile), "attributes": sign_on.attributes, "nameId": sign_on.name_id}
    steps = [*sign_on.trace, *checked_login.steps]
    refusal = checked_login.refusal
    try:
        async with call.db.transaction() as tx:
            await consume_assertion_id(tx, call, row, sign_on, request_row)
            if refusal is None:
                await store.set_tested(
                    tx, project_id=call.project_id, id=row.id, if_updated_at=row.updated_at, now=call.now
                )
    except SignOnRefused as refused:
        refusal = (refused.reason, refused.detail)
    reason, detail = refusal or (None, None)
    await record_trace(call, row.id, "TEST", steps, reason=reason, detail=detail, profile=profile)
    profile_lines = _profile_lines(checked_login.profile, sign_on)
    if reason:
        return await pages.failed_test_page(call, reason, detail or "", steps, profile_lines)
    return await pages.passed_test_page(call, steps, profile_lines)


def _profile_lines(profile: SsoProfile, sign_on: ProvenSignOn) -> list[dict[str, str | Text]]:
    """The profile as lines: the mapped fields, then the attributes as they were sent."""
    none = text("none")
    lines: list[tuple[str | Text, str | Text]] = [
        (text("Subject"), profile.subject or text("no persistent identifier")),
        (text("E-mail address"), profile.email or none),
        (text("Name"), profile.name or none),
        (text("Groups"), ", ".join(profile.groups) or none),
        (text("Name identifier"), sign_on.name_id),
        *((name, ", ".join(values)) for name, values in sign_on.attributes.items()),
    ]
    return [{"label": label, "value": value} for label, value in lines]


async def _idp_initiated_redirect_url(call: Call, row: ConnectionWithOrganization) -> str | None:
    """`defaultRedirectUrl` of the connection, if it is still among the project's `redirectUrls`; otherwise None."""
    url = row.options.default_redirect_url
    project = await projects.require_project(call.db, call.project_id)
    return url if url in project.settings.sign_in.redirect_urls else None


async def open_requests_of(call: Call, request: RawRequest, conn_id: UUID) -> list[RequestRow]:
    """The requests that this browser started and that have no response yet, newest first."""
    token = request.cookies.get(cookie_name(call.world.settings, COOKIE), "")
    if not BROWSER_SECRET_PATTERN.fullmatch(token):
        return []
    return await store.open_requests(
        call.db,
        project_id=call.project_id,
        connection_id=conn_id,
        browser=_browser_digest(call, token),
        kinds=["SIGN_ON", "TEST"],
        now=call.now,
        limit=MAX_OPEN_REQUESTS,
    )


def _browser_secret_and_cookie(call: Call, request: RawRequest, connection: PublicConnection) -> tuple[str, str]:
    """The secret that binds requests to this browser, and the cookie that stores it."""
    token = request.cookies.get(cookie_name(call.world.settings, COOKIE), "")
    if not BROWSER_SECRET_PATTERN.fullmatch(token):
        token = new_token(40)
    settings, seconds = call.world.settings, int(REQUEST_LIFE.total_seconds())
    # A SAML response is posted from another site, and browsers accept SameSite=None only with TLS.
    site = "None" if settings.has_tls and connection.row.kind == "SAML" else None
    path = f"/sso/{connection.row.kind.lower()}/{connection.row.id}"
    return token, cookie(settings, COOKIE, token, path=path, seconds=seconds, same_site=site)


def _browser_digest(call: Call, token: str) -> bytes:
    return call.world.secrets.digest("sso-browser", token)


async def refusal_page(call: Call, reason: str) -> HttpResponse:
    """A page with the reason why a sign-on was refused."""
    # Only administrators see the details of the message, in the trace.
    return await pages.message_page(
        call,
        text("You could not be signed in"),
        text(
            "This service did not accept the answer of your organization’s sign-in. Tell your administrator the reason."
        ),
        status=403,
        reason=reason,
    )


def with_query(url: str, **parameters: str) -> str:
    """A URL with more parameters in its query."""
    return f"{url}{'&' if '?' in url else '?'}{urlencode(parameters)}"


def _storable(text: str) -> str:
    """Replace NUL and lone surrogates, which PostgreSQL cannot store."""
    return text.replace("\0", "").encode("utf-8", "replace").decode()
