"""A client of OpenID providers (OpenID Connect Core 1.0 and Discovery 1.0, RFC 7636, RFC 9207).

All requests go through the outbound client with SSRF protection and follow no redirects. A discovery document is
accepted only if it names the configured issuer, and an ID token only if all claims that bind it to this sign-in match.
"""

import base64
import re
from collections import OrderedDict
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from postern.kernel.http.problems import Unavailable
from postern.kernel.outbound.client import OutboundResponse, Outcome
from postern.kernel.outbound.ssrf import AddressRefused, Network, read_target
from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json
from postern.kernel.values import Moment
from postern.protocols.oidc.authorization import code_challenge
from postern.protocols.oidc.id_token import (
    ID_TOKEN_CLAIMS,
    MAX_TOKEN_CHARS,
    TENANT_PLACEHOLDER,
    TokenRefused,
    find_key,
    is_tenant_of,
    read_header,
    verification_key,
    verify_claims,
)
from postern.security.secrets import new_token

if TYPE_CHECKING:
    from postern.world import World

DOCUMENT_LIMIT = 262_144
"""Maximum size of a provider's response, in bytes."""
DOCUMENT_LIFE = timedelta(hours=1)
"""How long discovery documents and key sets are cached."""
KEY_REFETCH_INTERVAL = timedelta(minutes=1)
"""Minimum time between two fetches of a key set when ID tokens name unknown key ids."""
MAX_DOCUMENTS = 2_000
"""Maximum number of cached documents."""
MAX_CACHED_BYTES = 8 * 1024 * 1024
"""Maximum size of all cached documents together, as they were sent: parsed, they can take 20 times as much memory."""


class ProviderTrouble(Unavailable):
    """The sign-in provider cannot be reached or sent an unexpected response; try again later."""

    retry_after_seconds = 5


class ProviderDocuments:
    """A cache of provider documents, per process."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._documents: OrderedDict[str, tuple[Moment, dict[str, Any], int]] = OrderedDict()
        self._cached_bytes = 0

    def get(self, url: str, life: timedelta) -> dict[str, Any] | None:
        """The cached document of a URL; None if it was not fetched, or longer than `life` ago."""
        if url not in self._documents:
            return None
        now = self._world.clock()
        fetched_at, document, _ = self._documents[url]
        return document if now - life < fetched_at <= now else None

    def put(self, url: str, document: dict[str, Any], fetched_at: Moment, size: int) -> None:
        """Cache a document of `size` bytes; evicts the oldest above `MAX_DOCUMENTS` or `MAX_CACHED_BYTES`."""
        _, _, replaced_size = self._documents.pop(url, (None, None, 0))
        self._documents[url] = fetched_at, document, size
        self._cached_bytes += size - replaced_size
        while len(self._documents) > MAX_DOCUMENTS or self._cached_bytes > MAX_CACHED_BYTES:
            _, (_, _, evicted_size) = self._documents.popitem(last=False)
            self._cached_bytes -= evicted_size

    async def aclose(self) -> None:
        """Nothing to close; the process calls this for all resources."""


async def discover(world: "World", issuer: str) -> dict[str, Any]:
    """The discovery document of an issuer, cached for an hour.

    Raises ProviderTrouble if it cannot be fetched, names another issuer, or has an endpoint that is not an https URL.
    """
    document = await _document(world, f"{issuer.rstrip('/')}/.well-known/openid-configuration", DOCUMENT_LIFE)
    document_issuer = document.get("issuer")
    # Microsoft's document for all tenants has a placeholder in its issuer, and so never equals the configured one.
    if document_issuer != issuer and not (
        isinstance(document_issuer, str)
        and TENANT_PLACEHOLDER in document_issuer
        and is_tenant_of(document_issuer, issuer)
    ):
        raise ProviderTrouble(f"The discovery document of {issuer} names another issuer.")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        _endpoint_url(world, document.get(name))
    for name in ("userinfo_endpoint", "end_session_endpoint"):
        if document.get(name) is not None:
            _endpoint_url(world, document[name])
    methods = document.get("token_endpoint_auth_methods_supported")
    if methods is not None and not (isinstance(methods, list) and all(isinstance(method, str) for method in methods)):
        raise ProviderTrouble("The discovery document of the sign-in provider is not valid.")
    return document


def check_issuer_parameter(metadata: dict[str, Any], issuer: str | None) -> None:
    """Check the parameter `iss` of an authorization response, against mix-up of providers (RFC 9207 §2.4).

    Raises TokenRefused if it names another issuer, or is missing although the discovery document promises it.
    """
    if issuer is None and metadata.get("authorization_response_iss_parameter_supported") is True:
        raise TokenRefused("the response names no issuer", "issuer")
    if issuer is not None and issuer != metadata["issuer"] and TENANT_PLACEHOLDER not in str(metadata["issuer"]):
        raise TokenRefused("the response names another issuer", "issuer")


def new_pkce() -> tuple[str, str]:
    """A code verifier and its S256 challenge (RFC 7636 §4)."""
    verifier = new_token(64)
    return verifier, code_challenge(verifier)


async def redeem_at(
    world: "World",
    metadata: dict[str, Any],
    *,
    code: str,
    redirect_uri: str,
    verifier: str | None,
    client_id: str,
    client_secret: str | None,
    allow_basic: bool = True,
) -> dict[str, Any]:
    """Exchange an authorization code at the token endpoint of a discovery document; see `redeem`. The credentials are
    sent in the header if the provider accepts that, unless `allow_basic` is false."""
    auth_methods = metadata.get("token_endpoint_auth_methods_supported") or ["client_secret_basic"]
    return await redeem(
        world,
        str(metadata["token_endpoint"]),
        code=code,
        redirect_uri=redirect_uri,
        verifier=verifier,
        client_id=client_id,
        client_secret=client_secret,
        basic=allow_basic and "client_secret_basic" in auth_methods,
    )


async def with_user_info(
    world: "World", metadata: dict[str, Any], tokens: dict[str, Any], claims: dict[str, Any]
) -> dict[str, Any]:
    """The claims of an ID token, with those of the user info endpoint if the token has no e-mail address. Claims of the
    token take precedence. Raises ProviderTrouble."""
    if "email" not in claims and isinstance(metadata.get("userinfo_endpoint"), str) and tokens.get("access_token"):
        user_info = await fetch(world, metadata["userinfo_endpoint"], tokens["access_token"])
        if isinstance(user_info, dict) and user_info.get("sub") == claims["sub"]:  # OpenID Connect Core §5.3.2
            return {**user_info, **claims}
    return claims


async def redeem(
    world: "World",
    endpoint: str,
    *,
    code: str,
    redirect_uri: str,
    verifier: str | None,
    client_id: str,
    client_secret: str | None,
    basic: bool,
) -> dict[str, Any]:
    """Exchange an authorization code for tokens (RFC 6749 §4.1.3). Returns the provider's response.

    With `basic`, the client's credentials are sent in the Authorization header, otherwise in the form. `verifier` is
    None for a provider without PKCE. Raises ProviderTrouble, also if the provider rejects the code: GitHub and Slack
    then answer with status 200 and `error`.
    """
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": redirect_uri}
    if verifier is not None:
        form["code_verifier"] = verifier
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    if client_secret is not None and basic:
        # RFC 6749 §2.3.1: both are form-encoded before they are joined.
        pair = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = client_id
        if client_secret is not None:
            form["client_secret"] = client_secret
    url = _endpoint_url(world, endpoint)
    outcome = await world.outbound.post(url, urlencode(form).encode(), headers=headers, keep=DOCUMENT_LIMIT)
    tokens: dict[str, Any] = _json_of(outcome)
    if isinstance(tokens.get("error"), str):
        raise ProviderTrouble(f"The sign-in provider refused the code: {tokens['error'][:100]}")
    return tokens


async def fetch(world: "World", url: str, access_token: object) -> Any:
    """Fetch JSON that requires an access token, such as UserInfo. Returns the JSON value, of any type.

    Raises ProviderTrouble, also if `access_token` is not a string of allowed characters.
    """
    if not isinstance(access_token, str) or not _ACCESS_TOKEN.fullmatch(access_token):
        raise ProviderTrouble("The sign-in provider sent no valid access token.")
    headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}
    return _json_of(
        await world.outbound.get(_endpoint_url(world, url), headers=headers, keep=DOCUMENT_LIMIT), any_type=True
    )


_ACCESS_TOKEN = re.compile(rf"[\x21-\x7e]{{1,{MAX_TOKEN_CHARS}}}")
"""RFC 6749 appendix A.12, without spaces, because it goes into a header field."""


async def verify_id_token(
    world: "World",
    metadata: dict[str, Any],
    token: object,
    *,
    issuer: str,
    client_id: str,
    nonce: str | None,
    required: Sequence[str] = ID_TOKEN_CLAIMS,
) -> dict[str, Any]:
    """Verify an ID token for this client, or a logout token, and return its claims; see `verify_claims`.

    `metadata` is the provider's discovery document. Raises TokenRefused with the reason if the token is not valid, and
    ProviderTrouble if the provider's keys cannot be fetched.
    """
    header = read_header(token)
    jwk = await published_key(world, metadata["jwks_uri"], header.get("kid"))
    key, algorithm = verification_key(jwk, header)
    return verify_claims(
        str(token),
        key,
        algorithm,
        metadata,
        issuer=issuer,
        client_id=client_id,
        nonce=nonce,
        now=world.clock().timestamp(),
        required=required,
    )


async def published_key(
    world: "World",
    url: str,
    key_id: object,
    *,
    before_fetch: Callable[[], None] | None = None,
    allowed: Sequence[Network] | None = None,
) -> dict[str, Any] | None:
    """The key of a published key set with this `kid`; None if there is none. `before_fetch` is called before each
    request, and may refuse it; for `allowed` see `Outbound.send`. Raises ProviderTrouble."""
    jwk = None
    # An unknown key id may be that of a new key: fetch the key set again, at most once a minute.
    for life in (DOCUMENT_LIFE, KEY_REFETCH_INTERVAL):
        jwk = jwk or find_key(await _document(world, url, life, before_fetch, allowed), key_id)
    return jwk


async def _document(
    world: "World",
    url: str,
    life: timedelta,
    before_fetch: Callable[[], None] | None = None,
    allowed: Sequence[Network] | None = None,
) -> dict[str, Any]:
    """A document of a provider, from the cache if it is not older than `life`."""
    documents: ProviderDocuments = world.resources[ProviderDocuments]
    document = documents.get(url, life)
    if document is None:
        if before_fetch is not None:
            before_fetch()
        now = world.clock()
        outcome = await world.outbound.get(_endpoint_url(world, url), keep=DOCUMENT_LIMIT, allowed=allowed)
        document = _json_of(outcome)
        documents.put(url, document, now, len(outcome.body) if isinstance(outcome, OutboundResponse) else 0)
    return document


def _json_of(outcome: Outcome, *, any_type: bool = False) -> Any:
    """The JSON object in a response or, with `any_type`, any JSON value. Raises ProviderTrouble."""
    if not isinstance(outcome, OutboundResponse):
        raise ProviderTrouble(f"The sign-in provider cannot be reached: {outcome.reason}")
    if not outcome.ok or not outcome.complete:
        raise ProviderTrouble(f"The sign-in provider answered with status {outcome.status}.")
    try:
        value = read_untrusted_json(outcome.body)
    except JsonRefused as error:
        raise ProviderTrouble(f"The sign-in provider sent a document that is not valid JSON: {error}.") from None
    if not any_type and not isinstance(value, dict):
        raise ProviderTrouble("The sign-in provider sent JSON that is not an object.")
    return value


def _endpoint_url(world: "World", url: object) -> str:
    """The URL of an endpoint. Raises ProviderTrouble unless it is https (or http, if `outbound_allow` is set)."""
    try:
        if isinstance(url, str) and url.isascii():
            read_target(url)
        else:
            url = None
    except AddressRefused:
        url = None
    if not isinstance(url, str) or not (
        url.startswith("https://") or (url.startswith("http://") and world.settings.outbound_allow)
    ):
        raise ProviderTrouble("The sign-in provider names an endpoint that is not an https URL.")
    return url
