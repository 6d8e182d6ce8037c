"""The device grant (RFC 8628): televisions, printers and command lines, on which nobody can sign in, show a code that
the customer enters in a browser.

    device: device_authorization → codes; polls the token endpoint
    browser: device (enter the code) → sign-in → consent page → the device gets its tokens
"""

import secrets
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

from postern.identity.customers import pages
from postern.identity.oauth import device_store, store
from postern.identity.oauth.authorization import RESOURCE_FIELD, begin_device_request, code_hash, shown_user_code
from postern.identity.oauth.browsers import oauth_path
from postern.identity.oauth.client_authentication import CLIENT_FIELDS
from postern.identity.oauth.endpoints import BODY_LIMIT, serve_client
from postern.identity.oauth.errors import CLIENT_ERRORS, PAGE_ERRORS, OAuthError, OAuthErrorDocument, json_response
from postern.identity.oauth.model import DEVICE_GRANT, DEVICE_INTERVAL_SECONDS, DEVICE_LIFE, ClientRow
from postern.identity.oauth.requests import allowed_scopes
from postern.identity.oauth.resources import requested_resource
from postern.kernel.http.call import Call
from postern.kernel.http.operation import FORM, OtherError, RawRequest, get, post
from postern.kernel.http.responses import HttpResponse
from postern.kernel.limits import RateLimit, TooManyRequests, network_of
from postern.kernel.values import Moment, new_id
from postern.messaging.certificates.pages_domains import pages_url
from postern.security.secrets import new_token
from postern.web.languages import Text, text
from postern.web.pages import read_form
from postern.web.problem_texts import text_of

HTML = ("text/html",)
USER_CODE_LETTERS = "BCDFGHJKLMNPQRSTVWXZ"
"""Consonants only, so that no words come out, and case does not matter (RFC 8628 §6.1)."""
USER_CODE_LENGTH = 8
DEVICE_CODE_WRONG = text("This code is wrong or has expired. Look at the device again.")
USER_CODE_RATE = RateLimit("oauth-user-code", 10, timedelta(minutes=1))
"""Maximum codes that one network can try with one process. There are 25,600,000,000."""
MAX_COLLISIONS = 5


@post(
    "/projects/{project_id}/oauth/device_authorization",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields={"scope": "Scopes, separated by spaces.", "resource": RESOURCE_FIELD, **CLIENT_FIELDS},
    body_limit=BODY_LIMIT,
    response_type=dict[str, Any],
    response_example={"user_code": "WDJB-MJHT", "expires_in": 600, "interval": 5},
    problems=[TooManyRequests],
    other_errors={**CLIENT_ERRORS, 503: OtherError("No code is free; try again.", OAuthErrorDocument)},
)
async def authorize_device(call: Call, request: RawRequest) -> HttpResponse:
    """Begin the sign-in of a device (RFC 8628 §3.1).

    Show `user_code` and `verification_uri`, or a QR code of `verification_uri_complete`, and ask the token endpoint for
    the tokens every `interval` seconds with `grant_type=urn:ietf:params:oauth:grant-type:device_code` and
    `device_code`, until they arrive or the code expires after ten minutes.
    """
    return await serve_client(call, request, _device_response)


@get(
    "/projects/{project_id}/oauth/device",
    public=True,
    ignore_unknown_query=True,
    media_types=HTML,
    other_errors=PAGE_ERRORS,
)
async def device_page(call: Call, request: RawRequest) -> HttpResponse:
    """The page on which a customer enters the code that a device shows. The query may have it as `user_code`."""
    return await _page(call, str(request.query_params.get("user_code", ""))[:20])


@post(
    "/projects/{project_id}/oauth/device",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields={"user_code": "The code that the device shows."},
    body_limit=BODY_LIMIT,
    media_types=HTML,
    other_statuses=(303,),
    other_errors={**PAGE_ERRORS, 429: OtherError("A page: there were too many attempts.")},
)
async def enter_device_code(call: Call, request: RawRequest) -> HttpResponse:
    """The form of that page: go on to the sign-in and the consent page."""
    form = await read_form(request)  # Refuses forms of other sites.
    entered = form.get("user_code", "")[:20]
    try:
        call.world.limiter.take(USER_CODE_RATE, f"{call.project_id}|{network_of(call.origin.ip)}")
    except TooManyRequests as problem:
        return await _page(call, entered, text_of(problem), status=429)
    code = "".join(character for character in entered.upper() if character in USER_CODE_LETTERS)
    device = await device_store.device_of_user_code(call.db, project_id=call.project_id, user_code=code, now=call.now)
    client = None if device is None else await store.client(call.db, project_id=call.project_id, id=device.client_id)
    if device is None or client is None:
        return await _page(call, entered, DEVICE_CODE_WRONG, status=400)
    return await begin_device_request(call, client, device)


async def _page(call: Call, user_code: str, error: str | Text = "", *, status: int = 200) -> HttpResponse:
    action = f"{oauth_path(call)}/device"
    return await pages.hosted_page(
        call,
        "oauth-device.html",
        None,
        status=status,
        error=error,
        switch_url=f"{action}?{urlencode({'user_code': user_code})}",
        action=action,
        user_code=user_code,
    )


async def _device_response(call: Call, client: ClientRow, form: dict[str, str]) -> HttpResponse:
    if DEVICE_GRANT not in client.grant_types:
        raise OAuthError("unauthorized_client", "The client is not registered for the device grant.")
    resource = await requested_resource(call, client, form)
    scopes = allowed_scopes(client, form.get("scope", ""), resource)
    device_id = new_id()
    device_code = f"{device_id.hex}{new_token(32)}"
    for _ in range(MAX_COLLISIONS):
        user_code = _new_user_code()
        if await device_store.insert_device(
            call.db,
            project_id=call.project_id,
            id=device_id,
            client_id=client.id,
            scopes=scopes,
            resource=None if resource is None else resource.identifier,
            user_code=user_code,
            code_hash=code_hash(call, device_code),
            interval_seconds=DEVICE_INTERVAL_SECONDS,
            expires_at=Moment.of(call.now + DEVICE_LIFE),
            now=call.now,
        ):
            break
    else:
        raise OAuthError("temporarily_unavailable", "No code is free; try again.", 503)
    url = f"{pages_url(call.world, call.project_id)}/oauth/device"
    return json_response(
        {
            "device_code": device_code,
            "user_code": shown_user_code(user_code),
            "verification_uri": url,
            "verification_uri_complete": f"{url}?user_code={shown_user_code(user_code)}",
            "expires_in": int(DEVICE_LIFE.total_seconds()),
            "interval": DEVICE_INTERVAL_SECONDS,
        }
    )


def _new_user_code() -> str:
    """Eight random letters: 34 bits, which nobody guesses within ten minutes."""
    return "".join(secrets.choice(USER_CODE_LETTERS) for _ in range(USER_CODE_LENGTH))
