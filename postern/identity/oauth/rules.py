"""Rules of the OpenID provider that need no database: redirect URIs, scopes, secrets and the texts of scopes."""

import hashlib
import hmac
import re
from collections.abc import Iterable, Sequence
from ipaddress import ip_address, ip_network
from typing import Any
from urllib.parse import urlsplit
from uuid import UUID

from postern.identity.oauth.model import STANDARD_SCOPES, ClientRow, ClientType, ResourceRow
from postern.kernel.config import Settings
from postern.kernel.http.problems import Invalid
from postern.kernel.outbound.ssrf import AddressRefused, Network, check_target, is_special, read_target
from postern.kernel.values import Moment, as_id
from postern.protocols.oidc.client_assertion import usable_algorithms
from postern.protocols.oidc.dpop import ALGORITHMS, ProofRefused
from postern.security.secrets import Secrets
from postern.web.languages import Text, text

LOOPBACK_IPS = frozenset(("127.0.0.1", "::1"))
"""The addresses of RFC 8252 §7.3. For native apps on them, the port is chosen when the app starts."""
LOOPBACK_HOSTS = LOOPBACK_IPS | {"localhost"}
LOOPBACK_NETWORKS: tuple[Network, ...] = (ip_network("127.0.0.0/8"), ip_network("::1/128"))
HOST = re.compile(r"(\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9.-]+)(:[0-9]{1,5})?")
"""A host with an optional port, as it can stand in a Content-Security-Policy."""
FAPI_ALGORITHMS = tuple(name for name in ALGORITHMS if name != "RS256")
"""FAPI 2.0 Security Profile §5.4.1."""
FAPI_GRANT_TYPES = ("authorization_code", "refresh_token", "client_credentials")
SECRET_PREFIX = "ocs_"  # noqa: S105 - a label, not a secret
SCOPE_TEXTS = {
    "openid": text("Know who you are (an identifier)"),
    "profile": text("See your name and language"),
    "email": text("See your e-mail address"),
    "phone": text("See your phone number"),
    "offline_access": text("Keep this access while you are not using it"),
}
"""What the consent page says about the standard scopes."""


def client_row_id(project_id: UUID, client_id: object) -> UUID:
    """The id of the row of a client with this `client_id`, which need not exist; NO_ID if it cannot exist. That of a
    client whose id is a URL is derived from it, so that neither needs to be read to find the other."""
    if isinstance(client_id, str) and is_document_url(client_id):
        # As in version 5 (RFC 9562 §5.5), but with SHA-256, for which nobody can find two URLs with one id.
        return UUID(bytes=hashlib.sha256(f"{project_id}|{client_id}".encode()).digest()[:16], version=5)
    return as_id(client_id)


def is_document_url(client_id: str) -> bool:
    """Whether a client id is a URL, and so that of a document (`metadata_documents`)."""
    return client_id.startswith(("https://", "http://"))


def check_redirect_uri(uri: str, type: ClientType, path: str) -> None:
    """Raises Invalid at `path` unless a client of this type may register the redirect URI (RFC 8252 §7, RFC 9700 §2.1).

    Allowed are https URLs, http URLs on loopback, and for PUBLIC clients schemes with a dot, which belong to the owner
    of a domain.
    """
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError:
        raise Invalid.at(path, "This is not a valid URL.") from None
    if "*" in uri:
        raise Invalid.at(path, "A redirect URI cannot contain wildcards: register each URI.")
    if "@" in parts.netloc:
        raise Invalid.at(path, "A redirect URI cannot contain a user name or password.")
    if parts.netloc and not HOST.fullmatch(parts.netloc):
        raise Invalid.at(path, "The host must be a domain name in ASCII (Punycode) or an IP address.")
    if parts.scheme == "https":
        if not host:
            raise Invalid.at(path, "The URL has no host.")
    elif parts.scheme == "http":
        if host not in LOOPBACK_HOSTS:
            raise Invalid.at(path, "Use https; http is possible only for 127.0.0.1, [::1] and localhost.")
    elif "." not in parts.scheme:
        message = "The scheme of an app must contain a dot, such as `com.example.app:/callback` (RFC 8252 §7.1)."
        raise Invalid.at(path, message)
    elif type != "PUBLIC":
        raise Invalid.at(path, "Only a PUBLIC client can have a scheme of its own: such an app runs on a device.")


def check_outbound_url(uri: str, allowed: Sequence[Network]) -> None:
    """Raises AddressRefused unless this server may call the URL of a client, for notices of ended sessions, which name
    customers, or its keys. https is required, except for special-purpose addresses that the operator has `allowed`."""
    check_target(uri, allowed)
    target = read_target(uri)
    addresses = [ip_address(text) for text in target.known_addresses]
    if not target.secure and not (addresses and all(is_special(address) for address in addresses)):
        raise AddressRefused("Use https; http is possible only for addresses that the operator has allowed.")


def host_in(url: str) -> str:
    """The host of a URL, so that it can be compared: in lower case, without the dot that may end a name. Raises
    ValueError."""
    return (urlsplit(url).hostname or "").rstrip(".")


def unregistered_networks(settings: Settings) -> list[Network]:
    """The special-purpose networks that URLs may reach of clients which nobody of the project has registered: none,
    whatever the operator has allowed for others, because anybody names such URLs. Only a server that is itself at a
    loopback address, for development, reaches what is allowed of loopback."""
    if host_in(settings.public_url) not in LOOPBACK_HOSTS:
        return []
    return [
        min(network, loopback, key=lambda either: either.num_addresses)
        for network in settings.outbound_allow
        for loopback in LOOPBACK_NETWORKS
        if network.overlaps(loopback)
    ]


def matching_redirect_uri(client: ClientRow, uri: str) -> bool:
    """Whether a redirect URI of a request is registered (RFC 9700 §4.1.3): the same text, except for the port of a
    PUBLIC client on a loopback address (RFC 8252 §7.3)."""
    if uri in client.redirect_uris:
        return True
    if client.type != "PUBLIC":
        return False
    requested = _without_loopback_port(uri)
    return requested is not None and any(
        requested == _without_loopback_port(registered) for registered in client.redirect_uris
    )


def _without_loopback_port(uri: str) -> str | None:
    """An http URL on a loopback address without its port; None for other URLs."""
    try:
        parts = urlsplit(uri)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return None
    if parts.scheme != "http" or host not in LOOPBACK_IPS or not HOST.fullmatch(parts.netloc) or "#" in uri:
        return None
    address = f"[{host}]" if ":" in host else host
    return uri.replace(f"//{parts.netloc}", f"//{address}", 1)


def may_remember_consent(client: ClientRow, redirect_uri: str) -> bool:
    """Whether an earlier consent counts. Not for apps whose redirect URI another app on the device can take, because
    such an app could pretend to be this client (RFC 8252 §8.6)."""
    has_checked_secret = client.type == "CONFIDENTIAL" and not client.self_registered
    return has_checked_secret or urlsplit(redirect_uri).scheme == "https"


def is_secret_of(secrets: Secrets, client: ClientRow, secret: str, now: Moment) -> bool:
    """Whether `secret` is the client's secret, or the previous one within its grace period."""
    sent = secret_hash(secrets, client.project_id, secret)
    if client.secret_hash is not None and hmac.compare_digest(sent, client.secret_hash):
        return True
    previous, until = client.previous_secret_hash, client.previous_secret_expires_at
    return previous is not None and until is not None and until > now and hmac.compare_digest(sent, previous)


def client_algorithms(client: ClientRow | None) -> tuple[str, ...]:
    """The algorithms that a client may sign with; all of them for an unknown client."""
    return FAPI_ALGORITHMS if client is not None and client.is_fapi else ALGORITHMS


def check_keys(jwks: dict[str, Any], algorithms: Sequence[str]) -> None:
    """Raises Invalid unless the public keys of a client can be told apart, and can sign with one of `algorithms`."""
    keys: list[dict[str, Any]] = jwks["keys"]
    key_ids = [key.get("kid") for key in keys]
    for index, key in enumerate(keys):
        path = f"/jwks/keys/{index}"
        try:
            usable = usable_algorithms(key)
        except ProofRefused as refused:
            raise Invalid.at(path, f"This key cannot be used: {refused}.") from None
        if not set(usable) & set(algorithms):
            raise Invalid.at(f"{path}/alg", f"The algorithm must be one of {', '.join(algorithms)}.")
        if (len(keys) > 1 or key_ids[index] is not None) and not isinstance(key_ids[index], str):
            raise Invalid.at(f"{path}/kid", "Each of several keys needs a `kid`, a text.")
        if key_ids.count(key_ids[index]) > 1:
            raise Invalid.at(f"{path}/kid", "Two keys have this `kid`.")


def check_fapi(client: ClientRow) -> None:
    """Raises Invalid unless a client has what the FAPI 2.0 Security Profile requires (§5.3.2)."""
    if not client.has_key:
        raise Invalid.at("/jwks", "A FAPI2 client authenticates with a key: set `jwks` or `jwksUri`.", "required")
    if not client.require_dpop:
        raise Invalid.at("/requireDpop", "A FAPI2 client gets only tokens that are bound to its key: set it to true.")
    if client.id_token_signing_alg not in FAPI_ALGORITHMS:
        raise Invalid.at("/idTokenSigningAlg", "The ID tokens of a FAPI2 client must be signed with ES256.")
    for index, grant_type in enumerate(client.grant_types):
        if grant_type not in FAPI_GRANT_TYPES:
            raise Invalid.at(f"/grantTypes/{index}", f"A FAPI2 client cannot use `{grant_type}`.")
    for index, uri in enumerate(client.redirect_uris):
        if urlsplit(uri).scheme != "https":
            raise Invalid.at(f"/redirectUris/{index}", "The redirect URI of a FAPI2 client must be an https URL.")


def secret_hash(secrets: Secrets, project_id: UUID, secret: str) -> bytes:
    """The keyed hash of a client secret that is stored."""
    return secrets.digest("oauth-client-secret", f"{project_id}|{secret}")


def split_scope(scope: str) -> list[str]:
    """The scopes of a space-separated list, without duplicates, in their order."""
    return list(dict.fromkeys(name for name in scope.split(" ") if name))


def usable_scopes(resource: ResourceRow | None, scopes: list[str]) -> list[str]:
    """The scopes without permissions that the API does not know."""
    if resource is None:
        return scopes
    return [scope for scope in scopes if scope in STANDARD_SCOPES or scope in resource.scopes]


def permission_scopes(scopes: Iterable[str]) -> list[str]:
    """The scopes that are permissions."""
    return [scope for scope in scopes if scope not in STANDARD_SCOPES]


def described_scopes(scopes: Sequence[str], descriptions: dict[str, str]) -> list[str | Text]:
    """What each scope allows, for the pages of the consent and the account. `descriptions` are those of permissions."""
    return [SCOPE_TEXTS.get(scope) or descriptions.get(scope) or scope for scope in scopes]
