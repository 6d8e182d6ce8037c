"""Single logout, started by the identity provider (SAML) or by the customer (both protocols)."""

import asyncio
from urllib.parse import parse_qs
from uuid import UUID

from msgspec.structs import replace

from postern.identity.customers.form_posts import form_post_page
from postern.identity.customers.model import CUSTOMER
from postern.identity.customers.rules import require_redirect
from postern.identity.customers.sessions import bearer_of, end_session
from postern.identity.sso import keys, oidc_endpoints, pages, store
from postern.identity.sso.endpoints import (
    FORM_LIMIT,
    HTML,
    SAML_PATH,
    PublicConnection,
    public_connection,
    record_trace,
)
from postern.identity.sso.logged_out_sessions import end_sessions, logout_row
from postern.identity.sso.model import REQUEST_LIFE, SsoConnectionMissing, SsoSignOut, SsoSignOutRequest
from postern.identity.sso.service_provider import connection_settings
from postern.kernel.http.call import Call
from postern.kernel.http.operation import FORM, RawRequest, get, post
from postern.kernel.http.responses import HttpResponse
from postern.platform.projects import operations as projects
from postern.protocols.saml.logout import Binding, ReceivedLogoutRequest, read_logout_request, read_logout_response
from postern.protocols.saml.request import (
    MAX_RELAY_STATE_BYTES,
    logout_request,
    logout_response,
    new_message_id,
    post_fields,
    redirect_url,
)
from postern.protocols.saml.trace import SamlRejected
from postern.web.languages import text
from postern.web.pages import redirect


@post(
    "/projects/{project_id}/auth/sso/sign-out",
    accepts=CUSTOMER,
    example={"redirectUrl": "https://app.example.com/signed-out"},
)
async def sign_out_everywhere(call: Call, data: SsoSignOutRequest | None = None) -> SsoSignOut:
    """End the customer's session, and return the URL to sign out at the identity provider too.

    `url` is null if the session was not started by single sign-on, or the provider does not support logout by redirect.
    After the logout the browser returns to `redirectUrl`.
    """
    customer_id, session_id = bearer_of(call)
    return_url = data.redirect_url if data else None
    if return_url is not None:
        require_redirect(await projects.require_project(call.db, call.project_id), return_url)
    sign_on = await store.sign_on_of_session(call.db, project_id=call.project_id, session_id=session_id)
    async with call.db.transaction() as tx:
        await end_session(tx, call, customer_id, session_id)
    if sign_on is None:
        return SsoSignOut(url=None)
    _, connection = await public_connection(call, sign_on.connection_id)
    if connection.row.kind == "OIDC":
        return SsoSignOut(url=await oidc_endpoints.logout_url(call, connection.row, sign_on, return_url))
    if connection.row.idp_slo_url is None or connection.row.idp_slo_binding != "REDIRECT":
        return SsoSignOut(url=None)
    message_id = new_message_id()
    row = logout_row(call, connection.row.id, "LOGOUT", message_id, REQUEST_LIFE)
    await store.insert_request(call.db, replace(row, redirect_url=return_url))
    message = logout_request(
        connection_settings(call.world, connection.row, connection.sp_keys, decrypting=False),
        id=message_id,
        destination=connection.row.idp_slo_url,
        now=call.now,
        name_id=sign_on.name_id,
        format=sign_on.name_id_format,
        session_index=sign_on.session_index,
    )
    private_key = keys.private_key_of(call.world, call.project_id, keys.key_of_place(connection.sp_keys, "CURRENT"))
    return SsoSignOut(
        url=redirect_url(
            connection.row.idp_slo_url, message, field="SAMLRequest", private_key=private_key, relay_state=message_id
        )
    )


@get(f"{SAML_PATH}/slo", public=True, ignore_unknown_query=True, media_types=HTML, problems=[SsoConnectionMissing])
async def receive_saml_logout(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """Receive logout messages of the identity provider (SAML HTTP-Redirect binding).

    A request ends the matching sessions and redirects back to the provider with a response. A response redirects to the
    app.
    """
    query = request.scope["query_string"].decode("latin-1")
    parameters = parse_qs(query)
    if "SAMLResponse" in parameters:
        return await _handle_logout_response(
            call, conn_id, query, Binding.REDIRECT, next(iter(parameters.get("RelayState", [])), None)
        )
    return await _handle_logout_request(call, conn_id, query, Binding.REDIRECT, None)


@post(
    f"{SAML_PATH}/slo",
    public=True,
    ignore_unknown_query=True,
    takes=FORM,
    fields={
        "SAMLRequest": "A SAML logout request, base64-encoded.",
        "SAMLResponse": "The response to a logout request, base64-encoded.",
        "RelayState": "The RelayState of the logout request.",
    },
    media_types=HTML,
    body_limit=FORM_LIMIT,
    problems=[SsoConnectionMissing],
)
async def receive_saml_logout_by_form(call: Call, request: RawRequest, conn_id: UUID) -> HttpResponse:
    """Receive logout messages of the identity provider (SAML HTTP-POST binding)."""
    form = {name: value for name, value in (await request.form()).items() if isinstance(value, str)}
    relay_state = form.get("RelayState")
    if "SAMLResponse" in form:
        return await _handle_logout_response(call, conn_id, form["SAMLResponse"], Binding.POST, relay_state)
    return await _handle_logout_request(call, conn_id, form.get("SAMLRequest", ""), Binding.POST, relay_state)


async def _handle_logout_request(
    call: Call, conn_id: UUID, raw: str, binding: Binding, relay_state: str | None
) -> HttpResponse:
    """End the sessions that a logout request of the provider names, and respond to the provider.

    `raw` is the query of the URL, which contains the relay state, or for Binding.POST the form field.
    """
    call, connection = await public_connection(call, conn_id, "SAML")
    try:
        incoming_request = await asyncio.to_thread(
            read_logout_request,
            raw,
            binding=binding,
            connection=connection_settings(call.world, connection.row, connection.sp_keys, decrypting=False),
            now=call.now,
            relay_state=relay_state,
        )
    except SamlRejected as rejection:
        return await _reject_message(call, connection, rejection)
    await end_sessions(
        call,
        conn_id,
        incoming_request.id,
        name_id=incoming_request.name_id,
        session_indexes=incoming_request.session_indexes,
    )
    await record_trace(call, conn_id, "LOGOUT", incoming_request.trace)
    return await _send_logout_response(call, connection, incoming_request)


async def _send_logout_response(
    call: Call, connection: PublicConnection, incoming_request: ReceivedLogoutRequest
) -> HttpResponse:
    """Send the browser to the identity provider with the logout response, or show a page if the provider has no logout
    URL."""
    destination = connection.row.idp_slo_response_url or connection.row.idp_slo_url
    if destination is None:
        return await pages.message_page(call, text("You are signed out"), text("You can close this page."))
    message = logout_response(
        connection_settings(call.world, connection.row, connection.sp_keys, decrypting=False),
        id=new_message_id(),
        destination=destination,
        now=call.now,
        in_response_to=incoming_request.id,
    )
    current_key = keys.key_of_place(connection.sp_keys, "CURRENT")
    private_key = keys.private_key_of(call.world, call.project_id, current_key)
    relay_state = incoming_request.relay_state
    if relay_state is not None and len(relay_state.encode()) > MAX_RELAY_STATE_BYTES:
        relay_state = None
    if connection.row.idp_slo_binding == "POST":
        fields = post_fields(
            message,
            field="SAMLResponse",
            private_key=private_key,
            certificate=current_key.certificate,
            relay_state=relay_state,
        )
        return await form_post_page(call, text("Signing out"), destination, fields)
    return redirect(
        redirect_url(destination, message, field="SAMLResponse", private_key=private_key, relay_state=relay_state)
    )


async def _handle_logout_response(
    call: Call, conn_id: UUID, raw: str, binding: Binding, relay_state: str | None
) -> HttpResponse:
    """Handle the provider's logout response. The browser returns to the app even if the response reports a failure."""
    call, connection = await public_connection(call, conn_id, "SAML")
    message_id = relay_state or ""  # `sign_out_everywhere` sent the message id as relay state.
    request_row = (
        await store.logout_request(
            call.db, project_id=call.project_id, connection_id=conn_id, message_id=message_id, now=call.now
        )
        if "\0" not in message_id  # PostgreSQL accepts no text with NUL.
        else None
    )
    try:
        logout_result = await asyncio.to_thread(
            read_logout_response,
            raw,
            binding=binding,
            connection=connection_settings(call.world, connection.row, connection.sp_keys, decrypting=False),
            expected_request_ids=[request_row.message_id] if request_row else [],
            now=call.now,
            relay_state=relay_state,
        )
    except SamlRejected as rejection:
        return await _reject_message(call, connection, rejection)
    assert request_row is not None
    async with call.db.transaction() as tx:
        await store.mark_request_answered(tx, project_id=call.project_id, id=request_row.id, now=call.now)
    await record_trace(call, conn_id, "LOGOUT", logout_result.trace)
    if request_row.redirect_url is not None:
        return redirect(request_row.redirect_url, status=303)
    if not logout_result.success:
        return await pages.message_page(
            call, text("You are signed out here"), text("Your identity provider could not end every session.")
        )
    return await pages.message_page(call, text("You are signed out"), text("You can close this page."))


async def _reject_message(call: Call, connection: PublicConnection, rejection: SamlRejected) -> HttpResponse:
    """Record a trace of a rejected logout message, and return the error page."""
    await record_trace(
        call, connection.row.id, "LOGOUT", rejection.trace, reason=rejection.reason, detail=rejection.detail
    )
    return await pages.message_page(
        call,
        text("This sign-out failed"),
        text("Your identity provider sent a message that this service could not accept."),
        status=403,
        reason=rejection.reason,
    )
