"""A thin client of OpenID providers (OpenID Connect Core 1.0 and Discovery 1.0, RFC 7636, RFC 9207).

Everything it fetches goes through the guarded outbound client. It follows no redirects, believes a document only if
it names the issuer that was asked, and an ID token only if every claim that binds it to this sign-in is right.
"""

import base64
import hashlib
import re
from collections import OrderedDict
from datetime import timedelta
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode, urlsplit
from weakref import WeakKeyDictionary

import jwt
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives.asymmetric import rsa

from postern.kernel.clock import Moment
from postern.kernel.http.problems import Unavailable
from postern.kernel.outbound.client import Outbound, OutboundResponse, Outcome
from postern.kernel.outbound.ssrf import AddressRefused, read_target
from postern.kernel.untrusted_json import JsonRefused, read_untrusted_json
from postern.security.secrets import new_token

if TYPE_CHECKING:
    from postern.world import World

DOCUMENT_LIMIT = 262_144
"""Bytes of any document that a provider serves."""
DOCUMENT_LIFE = timedelta(hours=1)
KEYS_FETCHED_AT_MOST_EVERY = timedelta(minutes=1)
"""However many unknown key ids are shown to us."""
SKEW = timedelta(seconds=60)
SUBJECT_LIMIT = 255
DOCUMENTS_REMEMBERED = 2_000
TOKEN_CHARACTERS = 65_536
"""Of an ID token or an access token."""
RSA_BITS = range(2_048, 8_193)
"""Shorter keys are too weak (RFC 7518 §3.3), longer ones take long to check."""
TENANT = "{tenantid}"
"""What Microsoft's documents for all tenants have in the issuer where tokens have the tenant."""

ALGORITHMS_OF_KEYS: dict[tuple[str, str | None], str] = {
    ("RSA", None): "RS256",
    ("EC", "P-256"): "ES256",
    ("EC", "P-384"): "ES384",
    ("OKP", "Ed25519"): "EdDSA",
}
"""The one algorithm of a key that does not name one itself. None of them takes a shared secret."""
ALGORITHMS = frozenset((*ALGORITHMS_OF_KEYS.values(), "RS384", "RS512", "PS256", "PS384", "PS512"))


class ProviderTrouble(Unavailable):
    """The sign-in provider does not answer as it should."""

    retry_after_seconds = 5


class TokenRefused(Exception):
    """An ID token that proves nothing; the message says why."""


_documents: "WeakKeyDictionary[Outbound, OrderedDict[str, tuple[Moment, Any]]]" = WeakKeyDictionary()
"""What each client fetched; it goes with the client."""


async def discover(world: "World", issuer: str) -> dict[str, Any]:
    """The metadata of an issuer. Raises ProviderTrouble, also if it speaks for another issuer."""
    document = await _document(world, f"{issuer.rstrip('/')}/.well-known/openid-configuration", DOCUMENT_LIFE)
    said = document.get("issuer")
    if said != issuer and not (isinstance(said, str) and TENANT in said and _is_tenant_of(said, issuer)):
        raise ProviderTrouble(f"The document at {issuer} speaks for another issuer.")
    for name in ("authorization_endpoint", "token_endpoint", "jwks_uri"):
        _checked(world, document.get(name))
    if document.get("userinfo_endpoint") is not None:
        _checked(world, document["userinfo_endpoint"])
    ways = document.get("token_endpoint_auth_methods_supported")
    if ways is not None and not (isinstance(ways, list) and all(isinstance(way, str) for way in ways)):
        raise ProviderTrouble("The sign-in provider answered something unexpected.")
    return document


def authorization_url(endpoint: str, **parameters: str) -> str:
    """Where to send a browser."""
    return f"{endpoint}{'&' if '?' in endpoint else '?'}{urlencode(parameters)}"


def pkce() -> tuple[str, str]:
    """A code verifier and its S256 challenge (RFC 7636 §4)."""
    verifier = new_token(64)
    return verifier, challenge_of(verifier)


def challenge_of(verifier: str) -> str:
    """The S256 challenge of a verifier (RFC 7636 §4.2)."""
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


async def redeem(
    world: "World",
    endpoint: str,
    *,
    code: str,
    redirect_uri: str,
    verifier: str,
    client_id: str,
    client_secret: str | None,
    basic: bool,
) -> dict[str, Any]:
    """Exchange a code for tokens. Raises ProviderTrouble."""
    form = {
        "grant_type": "authorization_code",
        "code": code,
        "redirect_uri": redirect_uri,
        "code_verifier": verifier,
    }
    headers = {"Content-Type": "application/x-www-form-urlencoded", "Accept": "application/json"}
    if client_secret is not None and basic:
        # RFC 6749 §2.3.1: both are form-encoded before they are joined.
        pair = f"{quote(client_id, safe='')}:{quote(client_secret, safe='')}"
        headers["Authorization"] = f"Basic {base64.b64encode(pair.encode()).decode()}"
    else:
        form["client_id"] = client_id
        if client_secret is not None:
            form["client_secret"] = client_secret
    url = _checked(world, endpoint)
    answered = await world.outbound.post(url, urlencode(form).encode(), headers=headers, keep=DOCUMENT_LIMIT)
    return _json_of(answered)


async def fetch(world: "World", url: str, access_token: object) -> Any:
    """A protected document of the provider's (user info). Raises ProviderTrouble."""
    if not isinstance(access_token, str) or not _ACCESS_TOKEN.fullmatch(access_token):
        raise ProviderTrouble("The sign-in provider gave no access token that can be sent.")
    headers = {"Authorization": f"Bearer {access_token}", "Accept": "application/json"}
    return _json_of(
        await world.outbound.get(_checked(world, url), headers=headers, keep=DOCUMENT_LIMIT), any_shape=True
    )


_ACCESS_TOKEN = re.compile(rf"[\x21-\x7e]{{1,{TOKEN_CHARACTERS}}}")
"""RFC 6749 appendix A.12, without spaces: it goes into a header field."""


async def verify_id_token(
    world: "World", metadata: dict[str, Any], token: object, *, issuer: str, client_id: str, nonce: str
) -> dict[str, Any]:
    """The claims of an ID token that is meant for us, now. Raises TokenRefused saying why, and ProviderTrouble.

    OpenID Connect Core §3.1.3.7.
    """
    if not isinstance(token, str):
        raise TokenRefused("no ID token")
    header, _ = _parts_of(token)
    try:
        key, algorithm = await _key_of(world, metadata["jwks_uri"], header)
        claims: dict[str, Any] = jwt.decode(
            token,
            key,
            algorithms=[algorithm],
            audience=client_id,
            # Times are checked below, by the world's clock; the issuer too, because one provider has a template.
            options={"require": ["iss", "sub", "aud", "exp", "iat"], "verify_exp": False, "verify_iat": False},
        )
    except jwt.PyJWTError as error:
        raise TokenRefused(str(error)) from None
    except (ValueError, TypeError, UnsupportedAlgorithm):
        raise TokenRefused("a signature that cannot be checked with that key") from None
    expected = str(metadata["issuer"]).replace(TENANT, str(claims.get("tid", TENANT)))
    if claims["iss"] != expected or (TENANT not in str(metadata["issuer"]) and claims["iss"] != issuer):
        raise TokenRefused("another issuer")
    audiences = claims["aud"] if isinstance(claims["aud"], list) else [claims["aud"]]
    if (len(audiences) > 1 or "azp" in claims) and claims.get("azp") != client_id:
        raise TokenRefused("meant for another party")
    if claims.get("nonce") != nonce:
        raise TokenRefused("another nonce")
    now = world.clock().timestamp()
    if not all(isinstance(claims[name], int | float) and not isinstance(claims[name], bool) for name in ("exp", "iat")):
        raise TokenRefused("times that are no numbers")
    if claims["exp"] <= now - SKEW.total_seconds() or claims["iat"] > now + SKEW.total_seconds():
        raise TokenRefused("expired, or from the future")
    if not isinstance(claims["sub"], str) or not 0 < len(claims["sub"]) <= SUBJECT_LIMIT:
        raise TokenRefused("no subject")
    return claims


def _parts_of(token: str) -> tuple[dict[str, Any], dict[str, Any]]:
    """The header and the claims of a token (RFC 7519), nothing of it verified yet. Raises TokenRefused."""
    parts = token.split(".") if len(token) <= TOKEN_CHARACTERS and token.isascii() else []
    if len(parts) != 3:
        raise TokenRefused("not a signed token")
    try:
        header, claims = (
            read_untrusted_json(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))) for part in parts[:2]
        )
    except JsonRefused as error:
        raise TokenRefused(f"a part of it is {error}") from None
    except ValueError:
        raise TokenRefused("not a signed token") from None
    if not isinstance(header, dict) or not isinstance(claims, dict):
        raise TokenRefused("not a signed token")
    return header, claims


async def _key_of(world: "World", jwks_uri: str, header: dict[str, Any]) -> tuple[jwt.PyJWK, str]:
    """The provider's key that a token names, and the one algorithm it is used with."""
    found = _find_key(await _document(world, jwks_uri, DOCUMENT_LIFE), header.get("kid"))
    if found is None:
        found = _find_key(await _document(world, jwks_uri, KEYS_FETCHED_AT_MOST_EVERY), header.get("kid"))
    if found is None:
        raise TokenRefused("signed with an unknown key")
    algorithm = found.get("alg") or ALGORITHMS_OF_KEYS.get(
        (str(found.get("kty")), found.get("crv") if found.get("kty") != "RSA" else None)
    )
    if algorithm not in ALGORITHMS or header.get("alg") != algorithm:
        raise TokenRefused("signed with another algorithm")
    try:
        key = jwt.PyJWK(found, algorithm)
    except (jwt.PyJWTError, ValueError, TypeError, KeyError, AttributeError, OverflowError, UnsupportedAlgorithm):
        raise TokenRefused("signed with a key that cannot be read") from None
    if isinstance(key.key, rsa.RSAPublicKey) and key.key.key_size not in RSA_BITS:
        raise TokenRefused(f"signed with an RSA key of {key.key.key_size} bits")
    return key, algorithm


def _find_key(document: dict[str, Any], key_id: object) -> dict[str, Any] | None:
    listed = document.get("keys")
    keys = [key for key in listed if isinstance(key, dict)] if isinstance(listed, list) else []
    signing = [key for key in keys if key.get("use", "sig") == "sig"]
    if key_id is None:
        return signing[0] if len(signing) == 1 else None
    return next((key for key in signing if key.get("kid") == key_id), None)


async def _document(world: "World", url: str, life: timedelta) -> dict[str, Any]:
    """A document of a provider, remembered for `life`."""
    documents, now = _documents.setdefault(world.outbound, OrderedDict()), world.clock()
    known = documents.get(url)
    if known is not None and timedelta(0) <= now - known[0] < life:
        return known[1]
    found = _json_of(await world.outbound.get(_checked(world, url), keep=DOCUMENT_LIMIT))
    documents[url] = now, found
    if len(documents) > DOCUMENTS_REMEMBERED:
        documents.popitem(last=False)
    return found


def _json_of(outcome: Outcome, *, any_shape: bool = False) -> Any:
    if not isinstance(outcome, OutboundResponse):
        raise ProviderTrouble(f"The sign-in provider cannot be reached: {outcome.reason}")
    if not outcome.ok or not outcome.complete:
        raise ProviderTrouble(f"The sign-in provider answered {outcome.status}.")
    try:
        value = read_untrusted_json(outcome.body)
    except JsonRefused as error:
        raise ProviderTrouble(f"The sign-in provider answered a document that cannot be used: {error}.") from None
    if not any_shape and not isinstance(value, dict):
        raise ProviderTrouble("The sign-in provider answered something unexpected.")
    return value


def _checked(world: "World", url: object) -> str:
    """Raises ProviderTrouble for what is no address, or one without TLS unless development opens such addresses."""
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
        raise ProviderTrouble("The sign-in provider names an endpoint that is no https address.")
    return url


def _is_tenant_of(template: str, issuer: str) -> bool:
    return urlsplit(template).netloc == urlsplit(issuer).netloc
