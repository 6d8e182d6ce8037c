"""The session of a browser with a project's OpenID provider, and how pages respond to clients.

A cookie names the session that the customer has signed in to on the hosted pages. It is not a credential of the API:
only the endpoints of this package that browsers visit, and the account pages (`self_service`), read it.
"""

import hmac
from dataclasses import replace
from uuid import UUID

from postern.identity.customers import pages, rules
from postern.identity.customers.form_posts import form_post_page
from postern.identity.customers.model import SESSION_IDLE, SESSION_LIFE
from postern.identity.customers.requirements import requirement_of, session_limits
from postern.identity.customers.tokens import issuer_of
from postern.identity.oauth import store
from postern.identity.oauth.errors import OAuthError
from postern.identity.oauth.model import SignedInCustomer
from postern.identity.oauth.requests import AuthorizationRequest, RedirectTarget
from postern.kernel.database.statements import Queries
from postern.kernel.http.call import Call
from postern.kernel.http.cookies import cookie, cookie_name
from postern.kernel.http.operation import RawRequest
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Moment
from postern.platform.events import operations as events
from postern.protocols.oidc.authorization import authorization_url
from postern.security import session_store
from postern.web.languages import text
from postern.web.pages import redirect

SESSION_COOKIE = "postern-oauth-"
"""Prefix of the names of the cookies with the session of a browser."""
SESSION_PURPOSE = "oauth-browser-session"
REQUEST_COOKIE = "postern-request-"
"""Prefix of the names of the cookies that bind an authorization request to the browser that made it."""

REQUEST_REFUSED = text("The app that sent you here has made a mistake in its request.")
NO_EFFECT = HttpResponse(media_type="text/html")
"""The response to HEAD of the endpoints that sign in and out: programs that check a link must not use it up."""


def oauth_path(call: Call) -> str:
    """The path of the endpoints of the project's provider."""
    return f"/projects/{call.project_id}/oauth"


# The session of the browser.


async def browser_session(call: Call, request: RawRequest, *, test: bool) -> SignedInCustomer | None:
    """The session that a browser has with the provider; None if it has none, or it has ended or the customer is banned.
    `test`: for TEST clients, which have sessions of their own."""
    value = request.cookies.get(cookie_name(call.world.settings, _session_cookie(call, test=test)), "")
    text, _, signature = value.partition(".")
    try:
        session_id = UUID(hex=text)
    except ValueError:
        return None
    if not call.world.secrets.verify(SESSION_PURPOSE, _signed(call, session_id, test=test), signature):
        return None
    signed_in = await live_session(call, session_id)
    return signed_in if signed_in is not None and signed_in.test == test else None


async def live_session(call: Call, session_id: UUID) -> SignedInCustomer | None:
    """A session that the provider knows, with its customer; None if it has ended, or the customer is banned."""
    return await store.signed_in_customer(call.db, project_id=call.project_id, session_id=session_id, now=call.now)


async def renew_session(db: Queries, call: Call, session_id: UUID, customer_id: UUID) -> None:
    """Count the use of a session by a client, so that it does not end by idleness."""
    _, idle = session_limits(await requirement_of(db, call.project_id, customer_id))
    await session_store.renew(
        db,
        project_id=call.project_id,
        id=session_id,
        idle_expires_at=Moment.of(call.now + (SESSION_IDLE if idle is None else min(SESSION_IDLE, idle))),
        now=call.now,
    )


async def end_session(call: Call, signed_in: SignedInCustomer) -> None:
    """End a session that the provider knows, as its customer would; the refresh tokens of its clients end with it."""
    async with call.db.transaction() as tx:
        if await session_store.revoke_session(
            tx,
            project_id=call.project_id,
            subject_id=signed_in.customer_id,
            id=signed_in.session_id,
            now=call.now,
        ):
            await events.record(
                tx,
                customer_call(call, signed_in),
                "customer.signed_out",
                signed_in.customer_id,
                sessionId=str(signed_in.session_id),
            )


def session_cookie(call: Call, session_id: UUID, *, test: bool) -> str:
    """The cookie that names the session of a browser."""
    signature = call.world.secrets.sign(SESSION_PURPOSE, _signed(call, session_id, test=test))
    return _session(
        call, _session_cookie(call, test=test), f"{session_id.hex}.{signature}", SESSION_LIFE.total_seconds()
    )


def forget_session(call: Call, *, test: bool) -> str:
    """The cookie that deletes that of `session_cookie`."""
    return _session(call, _session_cookie(call, test=test), "", 0)


def _session_cookie(call: Call, *, test: bool) -> str:
    return f"{SESSION_COOKIE}{call.project_id}{'-test' if test else ''}"


def _session(call: Call, name: str, value: str, seconds: float) -> str:
    """A cookie for the provider and the account pages of the project."""
    path = f"/projects/{call.project_id}"
    return cookie(call.world.settings, name, value, path=path, seconds=int(seconds))


def _signed(call: Call, session_id: UUID, *, test: bool) -> bytes:
    return call.project_id.bytes + session_id.bytes + (b"test" if test else b"live")


# The binding of a request to the browser.


def request_cookie(call: Call, token: str, value: str, seconds: float) -> str:
    """The cookie that binds the stored request with this token to the browser."""
    return _cookie(call, f"{REQUEST_COOKIE}{token[:32]}", value, seconds)


def forget_request(call: Call, token: str) -> str:
    """The cookie that deletes that of `request_cookie`, when the request is finished. With TLS a browser sends it with
    every request to this server, so that those of many requests would be too large."""
    return request_cookie(call, token, "", 0)


def is_same_browser(call: Call, request: RawRequest, token: str, stored: AuthorizationRequest) -> bool:
    """Whether the browser that sends `request` made the authorization request with this token."""
    value = request.cookies.get(cookie_name(call.world.settings, f"{REQUEST_COOKIE}{token[:32]}"), "")
    return hmac.compare_digest(value.encode(), stored.browser.encode())


def _cookie(call: Call, name: str, value: str, seconds: float) -> str:
    return cookie(call.world.settings, name, value, path=oauth_path(call), seconds=int(seconds))


# Responses.


async def client_response(
    call: Call,
    target: RedirectTarget,
    parameters: dict[str, str],
    *,
    after_form: bool = False,
    cookies: str | None = None,
) -> HttpResponse:
    """The authorization response: a redirect to the client, or a page that posts a form to it
    (OAuth 2.0 Form Post Response Mode). It names the issuer (RFC 9207)."""
    state = {"state": target.state} if target.state is not None else {}
    parameters = {**parameters, **state, "iss": issuer_of(call.world, call.project_id)}
    if target.form_post:
        return await form_post_page(
            call, text("Going back to the app"), target.redirect_uri, parameters, cookies=cookies
        )
    url = authorization_url(target.redirect_uri, **parameters)
    return redirect(url, status=303 if after_form else 302, cookies=cookies)


async def error_page(call: Call, error: OAuthError) -> HttpResponse:
    """A page for an error that must not be sent to the client, because client or redirect URI are not known to be
    right."""
    return await pages.hosted_page(
        call,
        "oauth-error.html",
        None,
        status=error.status,
        code=error.error,
        detail=error.shown or REQUEST_REFUSED,
        reason="" if error.shown else error.description,
        again="",
    )


def customer_call(call: Call, signed_in: SignedInCustomer) -> Call:
    """The call as if the customer had sent it, for events."""
    caller = rules.caller_for(call, signed_in.customer_id, session_id=signed_in.session_id)
    return replace(call, caller=replace(caller, environment="TEST" if signed_in.test else "LIVE"))
