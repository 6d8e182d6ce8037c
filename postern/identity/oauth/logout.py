"""Sign-out that a client begins (OpenID Connect RP-Initiated Logout 1.0).

Signing out ends the session of the browser, and with it the refresh tokens of all clients that used it; and the session
of the ID token, if it is another one. The browser goes back to the client only at a registered URI. Without an ID token
of the session of the browser, the customer is asked first, because any page can link here.
"""

from typing import Any
from urllib.parse import parse_qsl, urlencode

from postern.identity.customers import pages
from postern.identity.oauth import store
from postern.identity.oauth.browsers import (
    NO_EFFECT,
    browser_session,
    end_session,
    error_page,
    forget_session,
    oauth_path,
)
from postern.identity.oauth.errors import PAGE_ERRORS, OAuthError
from postern.identity.oauth.model import ClientRow, SignedInCustomer
from postern.identity.oauth.requests import PARAMETER_LIMIT, require_single
from postern.identity.oauth.rules import client_row_id
from postern.identity.oauth.tokens import read_id_token_hint
from postern.kernel.http.call import Call
from postern.kernel.http.handler import is_head
from postern.kernel.http.operation import FORM, RawRequest, get, post
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import NO_ID, as_id
from postern.messaging.certificates.pages_domains import pages_url
from postern.protocols.oidc.authorization import authorization_url
from postern.web.languages import text
from postern.web.pages import read_form, redirect

HTML = ("text/html",)
BODY_LIMIT = 16_384
FIELDS = {
    "id_token_hint": "An ID token of the session to end.",
    "client_id": "Id of the client, if `id_token_hint` is not sent.",
    "post_logout_redirect_uri": "Where the browser goes afterwards; one of the client's `postLogoutRedirectUris`.",
    "state": "Value of the client, returned unchanged.",
}


@get(
    "/projects/{project_id}/oauth/logout",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    other_statuses=(302,),
    other_errors=PAGE_ERRORS,
)
async def end_oauth_session(call: Call, request: RawRequest) -> HttpResponse:
    """The end-session endpoint. Takes the parameters of the form of the same path in the query.

    With an `id_token_hint` of the present session, it ends at once; otherwise a page asks the customer, and the session
    of the hint ends too. Then the browser goes to `post_logout_redirect_uri` with `state`, or sees a notice. A URI that
    is not registered is refused.
    """
    if is_head(request):
        return NO_EFFECT
    try:
        parameters = require_single(list(request.query_params.multi_items()))
        hint = await _hint_of(call, parameters)
        client = await _client_of(call, parameters, hint)
        _require_redirect(client, parameters)
    except OAuthError as error:
        return await error_page(call, error)
    test = client is not None and client.is_test
    signed_in = await browser_session(call, request, test=test)
    hinted = await _session_of(call, hint, test=test)
    if signed_in is None and hinted is None:
        return await _after_logout(call, client, parameters)
    if signed_in is None or hinted is None or hinted.session_id != signed_in.session_id:
        return await _question(call, client, parameters, signed_in, hint if hinted is not None else None)
    await end_session(call, signed_in)
    return await _after_logout(call, client, parameters)


@post(
    "/projects/{project_id}/oauth/logout",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields=FIELDS,
    body_limit=BODY_LIMIT,
    media_types=HTML,
    status=303,
    other_errors=PAGE_ERRORS,
)
async def end_oauth_session_by_form(call: Call, request: RawRequest) -> HttpResponse:
    """The end-session endpoint for clients that post their parameters. Redirects to the GET operation, with which
    browsers send the cookie of the session."""
    try:
        fields = parse_qsl((await request.body()).decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=50)
    except ValueError:
        return await error_page(call, OAuthError("invalid_request", "The form has too many fields."))
    return redirect(f"{pages_url(call.world, call.project_id)}/oauth/logout?{urlencode(fields)}", status=303)


@post(
    "/projects/{project_id}/oauth/logout/confirm",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields={**FIELDS, "session": "Id of the session that the page was shown to."},
    body_limit=BODY_LIMIT,
    media_types=HTML,
    other_statuses=(303,),
    other_errors=PAGE_ERRORS,
)
async def confirm_logout(call: Call, request: RawRequest) -> HttpResponse:
    """The form of the page that asks whether to sign out: end the session of the browser, and that of the
    `id_token_hint`. If the browser has another session than the page was shown to, the customer is asked again."""
    form = await read_form(request)  # Refuses forms of other sites.
    parameters = {name: value for name, value in form.items() if value}
    try:
        hint = await _hint_of(call, parameters)
        client = await _client_of(call, parameters, hint)
        _require_redirect(client, parameters)
    except OAuthError as error:
        return await error_page(call, error)
    test = client is not None and client.is_test
    signed_in = await browser_session(call, request, test=test)
    if signed_in is not None and str(signed_in.session_id) != parameters.get("session"):
        again = urlencode({name: parameters[name] for name in FIELDS if name in parameters})
        return redirect(f"{pages_url(call.world, call.project_id)}/oauth/logout?{again}", status=303)
    for session in (signed_in, await _session_of(call, hint, test=test)):
        if session is not None:
            await end_session(call, session)
    return await _after_logout(call, client, parameters, after_form=True)


async def _question(
    call: Call,
    client: ClientRow | None,
    parameters: dict[str, str],
    signed_in: SignedInCustomer | None,
    hint: dict[str, Any] | None,
) -> HttpResponse:
    """The page that asks whether to sign out: `signed_in`, the session of the browser, and that of `hint`. One of them
    is not None."""
    account = "" if hint is None else hint.get("email", "")
    if signed_in is not None:
        account = signed_in.email or signed_in.name or str(signed_in.customer_id)
    return await pages.hosted_page(
        call,
        "oauth-logout.html",
        None,
        form_target=parameters.get("post_logout_redirect_uri"),
        switch_url=f"{oauth_path(call)}/logout?{urlencode({n: parameters[n] for n in FIELDS if n in parameters})}",
        action=f"{oauth_path(call)}/logout/confirm",
        account=account,
        client="" if client is None or hint is None else client.name,
        fields={
            "session": "" if signed_in is None else str(signed_in.session_id),
            "id_token_hint": parameters.get("id_token_hint", ""),
            "client_id": "" if client is None else client.client_id,
            "post_logout_redirect_uri": parameters.get("post_logout_redirect_uri", ""),
            "state": parameters.get("state", ""),
        },
    )


async def _session_of(call: Call, hint: dict[str, Any] | None, *, test: bool) -> SignedInCustomer | None:
    """The session of an ID token; None if it has ended or there is no token."""
    if hint is None:
        return None
    signed_in = await store.signed_in_customer(
        call.db, project_id=call.project_id, session_id=as_id(hint["sid"]), now=call.now
    )
    is_same = signed_in is not None and str(signed_in.customer_id) == hint["sub"] and signed_in.test == test
    return signed_in if is_same else None


async def _hint_of(call: Call, parameters: dict[str, str]) -> dict[str, Any] | None:
    """The claims of the `id_token_hint`; None without one. Raises OAuthError if it is not one of this provider."""
    if "id_token_hint" not in parameters:
        return None
    hint = await read_id_token_hint(call, parameters["id_token_hint"])
    if hint is None:
        raise OAuthError("invalid_request", "The id_token_hint is not an ID token of this provider.")
    if parameters.get("client_id", hint["aud"]) != hint["aud"]:
        raise OAuthError("invalid_request", "The client_id is not that of the id_token_hint.")
    return hint


async def _client_of(call: Call, parameters: dict[str, str], hint: dict[str, Any] | None) -> ClientRow | None:
    """The client that signs out, by the ID token or `client_id`; None if neither was sent. Raises OAuthError."""
    client_id = client_row_id(call.project_id, parameters.get("client_id") if hint is None else hint["aud"])
    if client_id == NO_ID and "client_id" not in parameters:
        return None
    client = await store.client(call.db, project_id=call.project_id, id=client_id)
    if client is None:
        raise OAuthError("invalid_client", "There is no client with this client_id.")
    return client


def _require_redirect(client: ClientRow | None, parameters: dict[str, str]) -> None:
    """Raises OAuthError unless `post_logout_redirect_uri`, if it was sent, is registered."""
    if any(len(parameters.get(name, "")) > PARAMETER_LIMIT for name in ("state", "post_logout_redirect_uri")):
        raise OAuthError("invalid_request", "A parameter is too long.")
    uri = parameters.get("post_logout_redirect_uri")
    if uri is None:
        return
    if client is None:
        raise OAuthError("invalid_request", "Send id_token_hint or client_id with post_logout_redirect_uri.")
    if uri not in client.post_logout_redirect_uris:
        raise OAuthError("invalid_request", "The post_logout_redirect_uri is not registered for this client.")


async def _after_logout(
    call: Call, client: ClientRow | None, parameters: dict[str, str], *, after_form: bool = False
) -> HttpResponse:
    """The redirect to the client, or a notice. Deletes the cookie of the session."""
    cookie = forget_session(call, test=client is not None and client.is_test)
    uri = parameters.get("post_logout_redirect_uri")
    if uri is not None:
        state = {"state": parameters["state"]} if "state" in parameters else {}
        url = authorization_url(uri, **state) if state else uri
        return redirect(url, status=303 if after_form else 302, cookies=cookie)
    return await pages.hosted_page(
        call,
        "notice.html",
        None,
        headers={"Set-Cookie": cookie},
        heading=text("You are signed out"),
        message=text("You can close this page."),
    )
