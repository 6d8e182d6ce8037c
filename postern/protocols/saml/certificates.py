"""X.509 certificates as containers of public keys.

SAML peers pin each other's certificates; no issuer chain is checked.
"""

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa

from postern.kernel.http.problems import BadRequest
from postern.kernel.values import Record
from postern.protocols.self_signed import private_key_pem, self_signed

MIN_RSA_BITS = 2048
MAX_RSA_BITS = 8192
"""The upper limit: verifying a signature with a larger key takes milliseconds."""
MIN_EC_BITS = 256
SP_KEY_BITS = 2048
SP_CERTIFICATE_LIFE = timedelta(days=3650)
CLOCK_SLACK = timedelta(hours=1)
"""How long before its creation the validity of a new certificate begins, for peers whose clocks are behind."""
MAX_CERTIFICATE_CHARS = 16_384

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)


class CertificateRefused(BadRequest):
    """The certificate cannot be used: it must be a valid X.509 certificate in PEM or base64 form."""


class Certificate(Record, kw_only=True):
    """An identity provider's signing certificate and the properties shown to administrators."""

    pem: str
    subject: str
    fingerprint: str
    """SHA-256 of the DER form, lower-case hexadecimal."""
    not_before: datetime
    not_after: datetime


class KeyPair(Record, kw_only=True):
    """A private key (unencrypted PKCS #8 PEM; callers encrypt it at rest) and its self-signed certificate (PEM)."""

    private_key: str
    certificate: str
    not_after: datetime


def new_key() -> rsa.RSAPrivateKey:
    """A new RSA key of SP_KEY_BITS bits."""
    return rsa.generate_private_key(public_exponent=65537, key_size=SP_KEY_BITS)


def new_sp_certificate(common_name: str, *, now: datetime) -> KeyPair:
    """Create an RSA-2048 key and a self-signed certificate that is valid for ten years.

    `common_name` is cut to 64 characters.
    """
    key = new_key()
    not_after = (now + SP_CERTIFICATE_LIFE).astimezone(UTC).replace(microsecond=0)
    certificate = self_signed(key, common_name, not_before=now - CLOCK_SLACK, not_after=not_after)
    return KeyPair(private_key=private_key_pem(key), certificate=certificate, not_after=not_after)


def read_certificate(text: str) -> Certificate:
    """Parse a certificate from PEM or base64 DER text and check the strength of its key.

    Raises CertificateRefused if the text is not a certificate, or if its key is neither RSA of 2048 to 8192 bits
    nor an elliptic-curve key of at least 256 bits.
    """
    certificate = load_certificate(text)
    key = certificate.public_key()
    strong_rsa = isinstance(key, rsa.RSAPublicKey) and MIN_RSA_BITS <= key.key_size <= MAX_RSA_BITS
    strong_ec = isinstance(key, ec.EllipticCurvePublicKey) and key.key_size >= MIN_EC_BITS
    if not (strong_rsa or strong_ec):
        raise CertificateRefused(
            f"The certificate's key must be RSA of {MIN_RSA_BITS} to {MAX_RSA_BITS} bits "
            f"or an elliptic-curve key of at least {MIN_EC_BITS} bits."
        )
    try:
        subject = certificate.subject.rfc4514_string()
    except (ValueError, TypeError):
        subject = ""
    return Certificate(
        pem=certificate.public_bytes(serialization.Encoding.PEM).decode("ascii"),
        subject=subject,
        fingerprint=fingerprint(certificate),
        not_before=certificate.not_valid_before_utc,
        not_after=certificate.not_valid_after_utc,
    )


def load_certificate(text: str) -> x509.Certificate:
    """Parse a certificate from PEM or base64 DER text, without checks of its key. Raises CertificateRefused."""
    if len(text) > MAX_CERTIFICATE_CHARS:
        raise CertificateRefused(f"The certificate is longer than {MAX_CERTIFICATE_CHARS:,} characters.")
    pem_match = _PEM.search(text)
    try:
        encoded = "".join((pem_match[1] if pem_match else text).split())
        certificate = x509.load_der_x509_certificate(base64.b64decode(encoded, validate=True))
        certificate.public_key()
    except (binascii.Error, ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion) as error:
        raise CertificateRefused from error
    return certificate


def fingerprint(certificate: x509.Certificate) -> str:
    """SHA-256 of the DER form, lower-case hexadecimal."""
    return certificate.fingerprint(hashes.SHA256()).hex()


def base64_der(certificate: str) -> str:
    """The base64 DER content of a PEM certificate on one line, as ds:X509Certificate holds it."""
    pem_match = _PEM.search(certificate)
    return "".join((pem_match[1] if pem_match else certificate).split())
