"""What both sides have agreed on: the addresses, names and keys of one connection."""

from collections.abc import Sequence

from postern.kernel.values import Record

EMAIL_NAME_ID = "urn:oasis:names:tc:SAML:1.1:nameid-format:emailAddress"
PERSISTENT_NAME_ID = "urn:oasis:names:tc:SAML:2.0:nameid-format:persistent"
REDIRECT = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-Redirect"
POST = "urn:oasis:names:tc:SAML:2.0:bindings:HTTP-POST"

MAX_IDP_CERTIFICATES = 10


class SamlConnection(Record, kw_only=True):
    """One identity provider as this service provider knows it. Certificates and keys are PEM."""

    sp_entity_id: str
    acs_url: str
    """Where responses arrive: their Destination and Recipient."""
    slo_url: str | None = None
    """Where logout messages arrive."""
    idp_entity_id: str
    idp_certificates: Sequence[str]
    """The pinned signing certificates, at most ten: any one of them may have signed."""
    decryption_keys: Sequence[str] = ()
    """Our private keys that assertions may be encrypted for: the current one, then older or next ones."""
    allow_idp_initiated: bool = False
    """Take responses that nobody here asked for."""
    want_encrypted: bool = False
    """Refuse assertions that arrive in clear."""
    allow_aes_cbc: bool = False
    """Take AES-CBC, which does not protect its content from change."""
    accept_expired_certificates: bool = False
    """Go on with a pinned certificate after its last day, so that a forgotten date locks nobody out."""
