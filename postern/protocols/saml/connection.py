"""The settings of one SAML connection: entity ids, URLs, certificates and keys of both parties."""

from collections.abc import Sequence

from postern.kernel.values import Record

EMAIL_NAME_ID = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
PERSISTENT_NAME_ID = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"

MAX_IDP_CERTIFICATES = 10


class SamlConnection(Record, kw_only=True):
    """One identity provider (IdP) and this service's configuration for it. Certificates and keys are PEM."""

    sp_entity_id: str
    acs_url: str
    """Assertion consumer service URL: responses must name it as Destination and Recipient."""
    slo_url: str | None = None
    """Single logout service URL: logout messages must name it as Destination."""
    idp_entity_id: str
    idp_certificates: Sequence[str]
    """The pinned signing certificates, at most ten. A signature by any of them is accepted."""
    decryption_keys: Sequence[str] = ()
    """This service's private keys for encrypted assertions: the current key first, then previous or next ones."""
    allow_idp_initiated: bool = False
    """Accept responses without InResponseTo (IdP-initiated sign-in)."""
    want_encrypted: bool = False
    """Reject assertions that are not encrypted."""
    allow_aes_cbc: bool = False
    """Accept AES-CBC, which is unauthenticated: changes of the ciphertext are not detected."""
    accept_expired_certificates: bool = False
    """Accept signatures by a pinned certificate after its notAfter date, so that an expired certificate does not lock
    users out.
    """
