"""What is exchanged with an ACME server (RFC 8555), and the keys and requests of certificates.

The client is in another module, because it imports a library that takes long to load.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

PROBLEM_CHARACTERS: Final = 1_000
"""Characters of an error text that are kept."""
CHALLENGE_PATH: Final = "/.well-known/acme-challenge/"
"""The path of http-01, before the token (RFC 8555 §8.3)."""
TOKEN: Final = re.compile(r"[A-Za-z0-9_-]{22,256}")
"""A token of a challenge: at least 128 bits in base64url (RFC 8555 §8.1)."""
COMMON_NAME_CHARACTERS: Final = 64

OrderStatus = Literal["pending", "ready", "processing", "valid", "invalid"]


class AcmeResponse(NamedTuple):
    """The response to a request; names of headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


Send = Callable[[Literal["GET", "POST"], str, bytes, str | None], Awaitable[AcmeResponse]]
"""Sends a request: method, URL, body and content type. Raises AcmeFailed if there is no complete response."""


class AcmeFailed(Exception):
    """The authority cannot be reached, or refuses a request; the message is for users."""

    def __init__(self, text: str, *, code: str = "", retry_after: int | None = None) -> None:
        super().__init__(printable(text))
        self.code = code
        """The error type of RFC 8555 §6.7 without its prefix, such as `rateLimited`; empty if there is none."""
        self.retry_after = retry_after
        """Seconds after which the authority allows the next attempt; None if it does not say."""


class AcmeOrder(NamedTuple):
    """An order as the authority describes it (RFC 8555 §7.1.3)."""

    url: str
    status: OrderStatus
    authorization_url: str
    finalize_url: str
    certificate_url: str | None
    problem: str | None
    """Why the order is `invalid`."""


class HttpChallenge(NamedTuple):
    """The challenge http-01 of an authorization (RFC 8555 §8.3)."""

    status: Literal["pending", "valid", "failed"]
    """The status of the authorization: `pending` also while the authority validates."""
    url: str
    token: str
    key_authorization: str
    """The body of the response that the server must return for CHALLENGE_PATH followed by the token."""
    is_answered: bool
    """Whether the authority was asked to validate."""
    problem: str | None
    """Why the validation failed."""


class RenewalWindow(NamedTuple):
    """When the authority suggests to renew a certificate (RFC 9773 §4.2)."""

    start: datetime
    end: datetime


class ExternalAccount(NamedTuple):
    """The key that binds an ACME account to an existing account at the authority (RFC 8555 §7.3.4)."""

    key_id: str
    hmac_key: str
    """In base64url."""


def new_private_key() -> bytes:
    """A new private key (ECDSA, P-256) as PKCS #8 in PEM, for an account or a certificate."""
    return ec.generate_private_key(ec.SECP256R1()).private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )


def signing_request(private_key: bytes, name: str) -> x509.CertificateSigningRequest:
    """The request for a certificate of a name and a key in PEM."""
    key = _ec_key(private_key)
    subject = [x509.NameAttribute(NameOID.COMMON_NAME, name)] if len(name) <= COMMON_NAME_CHARACTERS else []
    return (
        x509.CertificateSigningRequestBuilder()
        .subject_name(x509.Name(subject))
        .add_extension(x509.SubjectAlternativeName([x509.DNSName(name)]), critical=False)
        .sign(key, hashes.SHA256())
    )


def read_chain(chain: str, private_key: bytes, name: str) -> x509.Certificate:
    """The certificate at the beginning of a chain in PEM. Raises AcmeFailed unless it has this key and this name."""
    try:
        certificate = x509.load_pem_x509_certificates(chain.encode())[0]
        names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        has_name = name in names.get_values_for_type(x509.DNSName)
    except (ValueError, IndexError, x509.ExtensionNotFound):
        raise AcmeFailed("The certificate authority sent a certificate that cannot be read.") from None
    if certificate.public_key() != _ec_key(private_key).public_key() or not has_name:
        raise AcmeFailed(f"The certificate authority sent a certificate that is not the one for {name}.")
    return certificate


def printable(text: str) -> str:
    """A text of a peer without control characters and surrogates, cut to PROBLEM_CHARACTERS."""
    return re.sub(r"[\x00-\x1f\x7f\ud800-\udfff]+", " ", text)[:PROBLEM_CHARACTERS]


def _ec_key(private_key: bytes) -> ec.EllipticCurvePrivateKey:
    key = serialization.load_pem_private_key(private_key, password=None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    return key


def as_utc(moment: datetime) -> datetime:
    """The time with a time zone: UTC if it has none."""
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
