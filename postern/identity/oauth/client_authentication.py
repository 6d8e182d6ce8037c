"""Authentication of clients (RFC 6749 §2.3): with a secret, with a key (`private_key_jwt`), or not at all, if they are
PUBLIC."""

import base64
import binascii
from datetime import UTC, timedelta
from operator import itemgetter
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote_plus
from uuid import UUID

from postern.identity.customers import oidc
from postern.identity.customers.tokens import issuer_of
from postern.identity.oauth import proof_store, store
from postern.identity.oauth.dpop import used_id
from postern.identity.oauth.errors import OAuthError
from postern.identity.oauth.metadata_documents import NETWORK_RATE, client_of_document, current_client, is_outdated
from postern.identity.oauth.model import ClientRow, ClientWithSettings
from postern.identity.oauth.rules import (
    client_algorithms,
    client_row_id,
    is_document_url,
    is_secret_of,
    unregistered_networks,
)
from postern.kernel.http.call import Call
from postern.kernel.http.operation import RawRequest
from postern.kernel.limits import RateLimit, network_of
from postern.kernel.values import NO_ID, Moment, build_view
from postern.platform.projects import operations as projects
from postern.protocols.oidc.client_assertion import (
    ASSERTION_TYPE,
    UnverifiedAssertion,
    check_assertion,
    read_assertion,
    verify_assertion,
)
from postern.protocols.oidc.dpop import ProofRefused
from postern.protocols.oidc.id_token import find_key

if TYPE_CHECKING:
    from postern.world import World

CLIENT_RATE = RateLimit("oauth-client", 300, timedelta(seconds=10))
"""Maximum requests of one client from one network to one process, to the endpoints that clients call."""
AUTHENTICATION_RATE = RateLimit("oauth-authentication", 30, timedelta(minutes=1))
"""Maximum failed authentications of one client from one network to one process."""
KEYS_RATE = RateLimit("oauth-client-keys", 10, timedelta(minutes=1))
"""How often one process fetches the keys of a client, whose address may not answer."""
CLIENT_FIELDS = {
    "client_id": "Id of the client, unless the `Authorization` header or the assertion has it.",
    "client_secret": "Secret of the client, unless the `Authorization` header has it.",
    "client_assertion_type": f"`{ASSERTION_TYPE}`, if the client authenticates with a key.",
    "client_assertion": "JWT that the client has signed with its key (RFC 7523).",
}


async def authenticated_client(
    call: Call, request: RawRequest, form: dict[str, str], rate: RateLimit | None = None
) -> ClientWithSettings:
    """The client that sends the request. `rate` limits the requests of one client from one network to one process;
    default CLIENT_RATE. Raises OAuthError, TooManyRequests and ProjectMissing."""
    assertion = _sent_assertion(request, form)
    client_id, secret = (assertion.client_id, None) if assertion else _client_credential(request, form)
    # Not as it was sent: a UUID can be written in several ways, and text that is none would have a key each time.
    parsed_id = client_row_id(call.project_id, client_id)
    key = f"{call.project_id}|{parsed_id}|{network_of(call.origin.ip)}"
    call.world.limiter.take(rate or CLIENT_RATE, key)
    client: ClientWithSettings | None = None
    if parsed_id != NO_ID:
        client = await call.world.batcher(_clients_with_settings, max_concurrent=2, by=itemgetter(0))(
            (call.project_id, parsed_id)
        )
        if client is None and client_id is not None and is_document_url(client_id):
            # A client that pushes its request, or a device: a browser has not brought its document here yet.
            client = await _client_of_document(call, client_id, None)
        if client is not None and client.metadata_url not in (None, client_id):
            client = None  # Its id is the URL, not the id of the row.
        if client is not None and is_outdated(client, call.now) and _needs_document(request, client, assertion):
            client = await _client_of_document(call, client.client_id, client)
    reason = "The client is unknown, or its secret is wrong or missing."
    if client is not None and client.has_key:
        reason = "The client authenticates with its key, by private_key_jwt."
        if assertion is not None and client_id == client.client_id:
            try:
                await _check_assertion(call, request, client, assertion)
                return client
            except ProofRefused as refused:
                reason = f"The client_assertion is refused: {refused}."
    elif client is not None and assertion is None:
        if client.type == "PUBLIC" and secret is None:
            return client
        if secret is not None and is_secret_of(call.world.secrets, client, secret, call.now):
            return client
    call.world.limiter.take(AUTHENTICATION_RATE, key)
    # The clients of a project that was deleted exist until its data are erased. Raises ProjectMissing.
    await projects.require_project(call.db, call.project_id)
    raise OAuthError("invalid_client", reason, 401)


def _needs_document(request: RawRequest, client: ClientRow, assertion: UnverifiedAssertion | None) -> bool:
    """Whether a request depends on the present document of a client: it begins an authorization, or the document says
    with which keys the client authenticates. Others, such as refreshing tokens, go on with what was authorized."""
    return client.has_key or assertion is not None or request.url.path.endswith("/oauth/par")


async def _client_of_document(call: Call, url: str, stored: ClientWithSettings | None) -> ClientWithSettings:
    """The client with this id, which is `stored` or must be looked up. Raises OAuthError if there is no such client."""
    try:
        if stored is None:
            client = await client_of_document(call, url)
        else:
            client = await current_client(call, url, stored)
    except OAuthError as error:
        raise OAuthError(error.error, error.description, 401) from None
    project = await projects.require_project(call.db, call.project_id)
    return build_view(ClientWithSettings, client, project_settings=project.settings)


async def _clients_with_settings(world: "World", asked: list[tuple[UUID, UUID]]) -> list[ClientWithSettings | None]:
    """The clients with these pairs of project id and client id, for concurrent requests together."""
    project_ids, ids = (list(column) for column in zip(*dict.fromkeys(asked), strict=True))
    rows = await store.clients_with_settings(world.db, project_ids=project_ids, ids=ids)
    clients = {(row.project_id, row.id): row for row in rows}
    return [clients.get(pair) for pair in asked]


def _sent_assertion(request: RawRequest, form: dict[str, str]) -> UnverifiedAssertion | None:
    """The assertion of a request, which is not verified yet; None without one. Raises OAuthError."""
    text, kind = form.get("client_assertion"), form.get("client_assertion_type")
    if text is None and kind is None:
        return None
    if "client_secret" in form or request.headers.get("authorization") is not None:
        raise OAuthError("invalid_request", "Authenticate in one way only.")
    if text is None or kind != ASSERTION_TYPE:
        raise OAuthError("invalid_client", f"Send a client_assertion and its type {ASSERTION_TYPE}.", 401)
    try:
        assertion = read_assertion(text)
    except ProofRefused as refused:
        raise OAuthError("invalid_client", f"The client_assertion is refused: {refused}.", 401) from None
    if form.get("client_id", assertion.client_id) != assertion.client_id:
        raise OAuthError("invalid_client", "The client_assertion and the form name different clients.", 401)
    return assertion


async def _check_assertion(call: Call, request: RawRequest, client: ClientRow, assertion: UnverifiedAssertion) -> None:
    """Raises ProofRefused unless the client has signed the assertion for this server, and sends it the first time."""
    issuer = issuer_of(call.world, call.project_id)
    endpoints = (f"{issuer}/oauth/token", f"{call.world.settings.public_url}{request.url.path}")
    # The issuer is what clients should send (draft-ietf-oauth-rfc7523bis); many send the URL of an endpoint.
    audiences = (issuer,) if client.is_fapi else (issuer, *endpoints)
    algorithms, now = client_algorithms(client), call.now.timestamp()
    # Others than the client could make this server fetch its keys.
    check_assertion(assertion, audiences=audiences, exact=client.is_fapi, algorithms=algorithms, now=now)
    key = await _key_of(call, client, assertion.header.get("kid"))
    verified = verify_assertion(
        assertion, key, audiences=audiences, exact=client.is_fapi, algorithms=algorithms, now=now
    )
    expires_at = Moment.fromtimestamp(verified.expires_at, UTC)
    row_id = used_id("assertion", client.client_id, verified.id)
    if not await proof_store.use_jwt(call.db, project_id=call.project_id, id=row_id, expires_at=expires_at):
        raise ProofRefused("it was used before")


async def _key_of(call: Call, client: ClientRow, key_id: object) -> dict[str, Any] | None:
    """The key of a client with this `kid`; None if there is none. Raises ProofRefused if its keys cannot be fetched."""
    if client.jwks is not None:
        return find_key(client.jwks, key_id)
    assert client.jwks_uri is not None

    def before_fetch() -> None:
        if client.self_registered:  # Anybody can have many such clients.
            call.world.limiter.take(NETWORK_RATE, network_of(call.origin.ip))
        call.world.limiter.take(KEYS_RATE, f"{call.project_id}|{client.id}")

    allowed = unregistered_networks(call.world.settings) if client.self_registered else None
    try:
        return await oidc.published_key(call.world, client.jwks_uri, key_id, before_fetch=before_fetch, allowed=allowed)
    except oidc.ProviderTrouble:
        raise ProofRefused("the keys at the client's jwksUri cannot be fetched") from None


def _client_credential(request: RawRequest, form: dict[str, str]) -> tuple[str | None, str | None]:
    """The id and secret of the client: from the `Authorization` header or from the form, but not from both."""
    header = request.headers.get("authorization")
    if header is None:
        return form.get("client_id"), form.get("client_secret")
    scheme, _, encoded = header.partition(" ")
    if scheme.lower() != "basic":
        raise OAuthError("invalid_client", "Authenticate with Basic, or in the form.", 401)
    if "client_secret" in form:
        raise OAuthError("invalid_request", "Authenticate in one way only.")
    try:
        name, separator, secret = base64.b64decode(encoded.strip(), validate=True).decode().partition(":")
    except (binascii.Error, ValueError):
        raise OAuthError("invalid_client", "The Authorization header is malformed.", 401) from None
    name, secret = unquote_plus(name), unquote_plus(secret)  # RFC 6749 §2.3.1
    if not separator or form.get("client_id", name) != name:
        raise OAuthError("invalid_client", "The header and the form name different clients.", 401)
    return name, secret
