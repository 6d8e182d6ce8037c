"""Clients whose id is the URL of a document with their metadata (draft-ietf-oauth-client-id-metadata-document).

Off by default. The document is fetched when such a client begins an authorization, and becomes a row of
`oauth_clients`, as of a client that has registered itself: it is never first-party, the consent page names the host of
its id, and it is deleted when it is not used. The row is also the cache of the document. See decision 0160.
"""

import re
from datetime import timedelta
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

import msgspec
import structlog

from postern.identity.customers.signing_keys import publish_key
from postern.identity.oauth import registration, store
from postern.identity.oauth.errors import OAuthError
from postern.identity.oauth.model import ClientRow
from postern.identity.oauth.registration import ClientMetadata
from postern.identity.oauth.rules import (
    LOOPBACK_HOSTS,
    check_fapi,
    check_keys,
    check_outbound_url,
    client_algorithms,
    client_row_id,
    unregistered_networks,
)
from postern.kernel.database.statements import Jsonb
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Invalid
from postern.kernel.limits import RateLimit, TooManyRequests, network_of
from postern.kernel.outbound.client import OutboundRefused, OutboundResponse
from postern.kernel.outbound.ssrf import AddressRefused, OutboundUrl, read_target
from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json
from postern.kernel.values import Moment
from postern.messaging.certificates.pages_domains import is_own_host
from postern.platform.projects import operations as projects

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)
DOCUMENT_LIMIT = 16_384
"""Maximum size of a document, in bytes. The draft recommends to accept at least 5 KB (§6.6)."""
URL_LIMIT = 500
"""Maximum length of a client id, in characters: access tokens contain it."""
DEFAULT_LIFE, MIN_LIFE, MAX_LIFE = timedelta(hours=1), timedelta(minutes=5), timedelta(days=1)
"""How long a document is used before it is fetched again: without `Cache-Control`, and the limits of what that says.
While it cannot be fetched again, it is used for MAX_LIFE more."""
NETWORK_RATE = RateLimit("oauth-client-documents", 10, timedelta(minutes=1))
"""How often requests from one network make one process fetch documents, or keys of clients that nobody of a project has
registered, for all projects together."""
NEW_RATE = RateLimit("oauth-client-documents-new", 10, timedelta(minutes=10))
"""How many clients one network adds with one process, for all projects together."""
HOST_RATE = RateLimit("oauth-client-documents-host", 120, timedelta(minutes=1))
"""How often one process fetches documents from one host, for all projects together: more than one network can cause, so
that it cannot keep others from signing in."""
JSON_TYPE = re.compile(r"application/(?:[a-z0-9!#$&^_.+-]+\+)?json")
"""The media types of JSON (RFC 6839 §3.1)."""
MAX_AGE = re.compile(r"(?:^|,)\s*max-age\s*=\s*\"?([0-9]{1,9})\"?\s*(?:,|$)", re.IGNORECASE)
PLACE = re.compile(r" - at `\$\.([a-z_]+(?:\[[0-9]+\])?)[^`]*`\Z")
"""A member, and maybe the number of an element, in the text of an error of msgspec."""
NO_CACHE = re.compile(r"(?:^|,)\s*no-(?:store|cache)\b", re.IGNORECASE)


class ClientDocument(ClientMetadata, rename=None):
    """The members of a document that are read; others are ignored. A client has no secret, because nobody could give it
    one (§4.1)."""

    client_id: Annotated[str, msgspec.Meta(max_length=URL_LIMIT)]  # pyright: ignore[reportGeneralTypeIssues]
    token_endpoint_auth_method: Literal["none", "private_key_jwt"] = "none"  # noqa: S105 - a method


class _Unreachable(OAuthError):
    """The document cannot be fetched at present, which says nothing about the client."""


async def client_of_document(call: Call, url: str) -> ClientRow:
    """The client with this id, from a document that is not older than it may be. Raises OAuthError, which must be shown
    and not redirected, ProjectMissing and TooManyRequests."""
    project = await projects.require_project(call.db, call.project_id)
    if not project.settings.sign_in.client_metadata_documents:
        raise OAuthError("invalid_client", "This provider does not accept the URL of a document as client_id.")
    stored = await store.client(call.db, project_id=call.project_id, id=client_row_id(call.project_id, url))
    return await current_client(call, url, stored)


def is_outdated(client: ClientRow, now: Moment) -> bool:
    """Whether the document of a client must be fetched again; False for other clients."""
    return client.metadata_expires_at is not None and client.metadata_expires_at <= now


async def current_client(call: Call, url: str, stored: ClientRow | None) -> ClientRow:
    """The client with this id, whose row is `stored` if there is one: fetches its document if that is missing or
    outdated. While it cannot be fetched, an outdated one is used for MAX_LIFE more. Raises OAuthError and
    TooManyRequests."""
    if stored is not None and not is_outdated(stored, call.now):
        return stored
    try:
        target = _check_url(call, url)
        call.world.limiter.take(NETWORK_RATE, network_of(call.origin.ip))
        call.world.limiter.take(HOST_RATE, target.host)
        document, life = await _fetch(call, url)
        metadata = _read(document, url)
        if stored is not None and metadata.id_token_signed_response_alg is None:
            # What it expects of the tokens that it gets already, and what a developer has chosen for it.
            algorithm = stored.id_token_signing_alg
            metadata = msgspec.structs.replace(metadata, id_token_signed_response_alg=algorithm)
        row = await registration.client_row(
            call,
            metadata,
            id=client_row_id(call.project_id, url),
            metadata_url=url,
            metadata_expires_at=Moment.of(call.now + life),
        )
        row = await _store(call, row)
        await publish_key(call.world, call.project_id, row.id_token_signing_alg, call.now)
        return row
    except (TooManyRequests, _Unreachable):
        expires_at = None if stored is None else stored.metadata_expires_at
        if stored is None or expires_at is None or expires_at + MAX_LIFE <= call.now:
            raise
        return stored
    except OAuthError:
        if stored is not None:
            # Otherwise the next request could use it, when the limits let no request through.
            await store.withdraw_metadata(
                call.db, project_id=call.project_id, id=stored.id, expires_at=Moment.of(call.now - MAX_LIFE)
            )
        raise


def host_of(client: ClientRow) -> str:
    """The host that publishes the metadata of a client; "" for other clients."""
    return "" if client.metadata_url is None else urlsplit(client.metadata_url).netloc


def _check_url(call: Call, url: str) -> OutboundUrl:
    """Parse a client id. Raises OAuthError unless it can be the URL of a document (§3)."""

    def refuse(reason: str) -> OAuthError:
        return OAuthError("invalid_client", f"The client_id cannot be the URL of a document: {reason}.")

    if len(url) > URL_LIMIT:
        raise refuse(f"it has more than {URL_LIMIT} characters")
    try:
        if not url.isascii():
            raise AddressRefused("it has characters that are not ASCII")
        target = read_target(url)
        check_outbound_url(url, unregistered_networks(call.world.settings))
        parts = urlsplit(url)
    except (AddressRefused, ValueError) as refused:
        raise refuse(str(refused).rstrip(".")) from None
    if "#" in url or "@" in parts.netloc:
        raise refuse("it has a fragment or a user name")
    if parts.path in ("", "/"):
        raise refuse("it has no path")
    if any(segment in (".", "..") for segment in parts.path.split("/")):
        raise refuse("its path has segments with dots only")
    if target.host not in LOOPBACK_HOSTS and is_own_host(call.world, target.host):
        raise refuse("no client is at the host of this server")
    return target


async def _fetch(call: Call, url: str) -> tuple[dict[str, Any], timedelta]:
    """The document at a URL, and how long it can be used. Redirects are not followed (§5). Raises OAuthError."""
    outcome = await call.world.outbound.get(
        url,
        headers={"Accept": "application/json"},
        keep=DOCUMENT_LIMIT,
        allowed=unregistered_networks(call.world.settings),
    )
    if not isinstance(outcome, OutboundResponse):
        # Not on the page: the reason would tell anybody what this server can reach.
        log.info("client_document_not_fetched", project=str(call.project_id), url=url, reason=outcome.reason)
        kind = OAuthError if isinstance(outcome, OutboundRefused) else _Unreachable
        raise kind("invalid_client", "The document of the client cannot be fetched.")
    if outcome.status == 429 or outcome.status >= 500:
        raise _Unreachable("invalid_client", f"The document of the client cannot be fetched: status {outcome.status}.")
    if 300 <= outcome.status < 400:
        raise _refused("the server answered with a redirect, which is not followed")
    if outcome.status != 200:
        raise _refused(f"the server answered with status {outcome.status}")
    media_type = outcome.headers.get("content-type", "").partition(";")[0].strip().lower()
    if not JSON_TYPE.fullmatch(media_type):
        raise _refused("its Content-Type is not application/json")
    if not outcome.complete:
        raise _refused(f"it has more than {DOCUMENT_LIMIT} bytes")
    try:
        document = read_untrusted_json(outcome.body)
    except JsonRefused:
        raise _refused("it is not valid JSON") from None
    if not isinstance(document, dict):
        raise _refused("it is not a JSON object")
    return document, document_life(outcome.headers.get("cache-control", ""))


def document_life(cache_control: str) -> timedelta:
    """How long a document with this `Cache-Control` is used (RFC 9111 §5.2.2), within the limits."""
    if NO_CACHE.search(cache_control):
        return MIN_LIFE
    max_age = MAX_AGE.search(cache_control)
    return DEFAULT_LIFE if max_age is None else min(MAX_LIFE, max(MIN_LIFE, timedelta(seconds=int(max_age[1]))))


def _read(document: dict[str, Any], url: str) -> ClientDocument:
    """The metadata in a document (§4.1). Raises OAuthError."""
    if document.get("client_id") != url:
        raise _refused("its client_id is not its URL")
    for name in ("client_secret", "client_secret_expires_at"):
        if name in document:
            raise _refused(f"it has {name}, and secrets are not published")
    try:
        metadata = msgspec.convert(document, ClientDocument)
        registration.check_metadata(metadata)
    except msgspec.ValidationError as error:
        raise _refused(f"a member is missing or invalid{_place(error)}") from None
    except OAuthError as error:
        raise _refused(error.description) from None
    return metadata


def _place(error: msgspec.ValidationError) -> str:
    """Where a document is wrong. Not what is there, because anybody could make this server show a text."""
    match = PLACE.search(str(error))
    return "" if match is None else f": {match[1]}"


def _refused(reason: str) -> OAuthError:
    return OAuthError("invalid_client", f"The document of the client is refused: {reason.rstrip('.')}.")


async def _store(call: Call, row: ClientRow) -> ClientRow:
    """Insert the client, or replace its metadata. Raises OAuthError if the project has too many, or the metadata do not
    fit the security profile that the project has set, and TooManyRequests."""
    async with call.db.transaction() as tx:
        await tx.lock_quota("oauth-registrations", call.project_id)
        stored = await store.replace_metadata(
            tx,
            project_id=row.project_id,
            id=row.id,
            name=row.name,
            type=row.type,
            redirect_uris=row.redirect_uris,
            grant_types=row.grant_types,
            scopes=row.scopes,
            website_url=row.website_url,
            privacy_url=row.privacy_url,
            terms_url=row.terms_url,
            require_dpop=row.require_dpop,
            jwks=None if row.jwks is None else Jsonb(row.jwks),
            jwks_uri=row.jwks_uri,
            id_token_signing_alg=row.id_token_signing_alg,
            metadata_expires_at=row.metadata_expires_at,
            now=call.now,
        )
        if stored is not None:
            if stored.is_fapi:
                _check_fapi(stored)
            return stored
        call.world.limiter.take(NEW_RATE, network_of(call.origin.ip))
        await registration.add_client(tx, call, row)
    return row


def _check_fapi(row: ClientRow) -> None:
    """Raises OAuthError unless the metadata are those of a FAPI2 client, as which the project has marked it."""
    try:
        check_fapi(row)
        if row.jwks is not None:
            check_keys(row.jwks, client_algorithms(row))
    except Invalid as problem:
        raise _refused(f"this client has the profile FAPI2. {problem.errors[0].message}") from None
