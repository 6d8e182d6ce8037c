"""The SAML service provider side of a connection: URLs, metadata, settings and test links."""

from collections.abc import Sequence
from typing import TYPE_CHECKING
from uuid import UUID

from postern.identity.sso import keys
from postern.identity.sso.model import ConnectionKind, ConnectionRow, KeyRow
from postern.kernel.values import Moment, Record
from postern.protocols.saml.connection import SamlConnection
from postern.protocols.saml.metadata import ServiceProvider, sp_metadata

if TYPE_CHECKING:
    from postern.world import World


class ConnectionUrls(Record):
    """URLs of a connection. Every connection has its own entity id, so an assertion is valid for one connection
    only."""

    entity_id: str
    acs_url: str
    slo_url: str
    metadata_url: str
    login_url: str


def urls_of(world: "World", connection_id: UUID) -> ConnectionUrls:
    """The URLs of a connection."""
    base = f"{world.settings.public_url}/sso/saml/{connection_id}"
    return ConnectionUrls(
        entity_id=base,
        acs_url=f"{base}/acs",
        slo_url=f"{base}/slo",
        metadata_url=f"{base}/metadata.xml",
        login_url=f"{base}/login",
    )


class OidcUrls(Record):
    """URLs of a connection by OpenID Connect. Every connection has its own redirect URI, so that the response of one
    provider cannot be taken for that of another (RFC 9700 §4.4.2)."""

    redirect_url: str
    post_logout_redirect_url: str
    backchannel_logout_url: str
    login_url: str


def oidc_urls_of(world: "World", connection_id: UUID) -> OidcUrls:
    """The URLs of a connection by OpenID Connect."""
    base = f"{world.settings.public_url}/sso/oidc/{connection_id}"
    return OidcUrls(
        redirect_url=f"{base}/callback",
        post_logout_redirect_url=f"{base}/signed-out",
        backchannel_logout_url=f"{base}/backchannel-logout",
        login_url=f"{base}/login",
    )


def login_url_of(world: "World", kind: ConnectionKind, connection_id: UUID) -> str:
    """Where browsers start a sign-on with a connection."""
    return (urls_of if kind == "SAML" else oidc_urls_of)(world, connection_id).login_url


def metadata_of(urls: ConnectionUrls, sp_keys: Sequence[KeyRow]) -> bytes:
    """The service provider metadata as XML, with the certificates of the CURRENT and the NEXT key."""
    current_certificate = keys.key_of_place(sp_keys, "CURRENT").certificate
    return sp_metadata(
        ServiceProvider(
            entity_id=urls.entity_id,
            acs_url=urls.acs_url,
            slo_url=urls.slo_url,
            signing_certificates=[current_certificate],
            encryption_certificates=[current_certificate],
            next_certificates=[keys.key_of_place(sp_keys, "NEXT").certificate],
        )
    )


def connection_settings(
    world: "World", row: ConnectionRow, sp_keys: Sequence[KeyRow], *, decrypting: bool
) -> SamlConnection:
    """The settings to read and write SAML messages. With `decrypting`, they contain the private keys of `sp_keys`, to
    decrypt assertions; otherwise `sp_keys` is not used."""
    urls = urls_of(world, row.id)
    return SamlConnection(
        sp_entity_id=urls.entity_id,
        acs_url=urls.acs_url,
        slo_url=urls.slo_url,
        idp_entity_id=row.idp_entity_id or "",
        idp_certificates=row.idp_certificate,
        decryption_keys=[keys.private_key_of(world, row.project_id, key) for key in sp_keys] if decrypting else (),
        allow_idp_initiated=row.options.allow_idp_initiated,
        want_encrypted=row.options.require_encryption,
        allow_aes_cbc=row.options.allow_aes_cbc,
        accept_expired_certificates=row.options.accept_expired_certificates,
    )


def test_url(world: "World", kind: ConnectionKind, connection_id: UUID, expires_at: Moment) -> str:
    """The URL that starts a test; valid until `expires_at`."""
    return f"{login_url_of(world, kind, connection_id)}?test={test_ticket(world, connection_id, expires_at)}"


def test_ticket(world: "World", connection_id: UUID, expires_at: Moment) -> str:
    """A signed ticket that authorises a test of the connection until `expires_at`."""
    expiry = int(expires_at.timestamp())
    return f"{expiry}.{world.secrets.sign('sso-test', f'{connection_id}|{expiry}'.encode())}"


def is_valid_test_ticket(world: "World", connection_id: UUID, ticket: str, now: Moment) -> bool:
    """Whether a ticket has a valid signature for this connection and has not expired."""
    expiry, _, signature = ticket.partition(".")
    if not expiry.isascii() or not expiry.isdigit() or len(expiry) > 12 or int(expiry) <= now.timestamp():
        return False
    return world.secrets.verify("sso-test", f"{connection_id}|{expiry}".encode(), signature)
