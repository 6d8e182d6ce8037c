"""Certificates: containers of a key that both sides have agreed on. Nobody vouches for them."""

import base64
import binascii
import re
from datetime import UTC, datetime, timedelta

from cryptography import x509
from cryptography.exceptions import UnsupportedAlgorithm
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

from postern.kernel.http.problems import BadRequest
from postern.kernel.values import Record

MIN_RSA_BITS = 2048
MAX_RSA_BITS = 8192
"""Beyond that, one verification takes milliseconds."""
MIN_EC_BITS = 256
SP_KEY_BITS = 2048
SP_CERTIFICATE_LIFE = timedelta(days=3650)
CLOCK_SLACK = timedelta(hours=1)
"""A new certificate is already valid for a peer whose clock is behind."""
MAX_CERTIFICATE_CHARS = 16_384
MAX_COMMON_NAME_CHARS = 64
"""RFC 5280, ub-common-name."""

_PEM = re.compile(r"-----BEGIN CERTIFICATE-----(.+?)-----END CERTIFICATE-----", re.DOTALL)


class CertificateRefused(BadRequest):
    """That is not a certificate that signatures can be checked with."""


class Certificate(Record, kw_only=True):
    """An identity provider's signing certificate, as an administrator sees it."""

    pem: str
    subject: str
    fingerprint: str
    """SHA-256 of the DER form, lower-case hexadecimal."""
    not_before: datetime
    not_after: datetime


class KeyPair(Record, kw_only=True):
    """A private key (PKCS #8 PEM: keep it encrypted at rest) and its self-signed certificate (PEM)."""

    private_key: str
    certificate: str
    not_after: datetime


def new_sp_certificate(common_name: str, *, now: datetime) -> KeyPair:
    """A new RSA-2048 key with a self-signed certificate that holds for ten years."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=SP_KEY_BITS)
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name[:MAX_COMMON_NAME_CHARS])])
    not_after = (now + SP_CERTIFICATE_LIFE).astimezone(UTC).replace(microsecond=0)
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - CLOCK_SLACK)
        .not_valid_after(not_after)
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    return KeyPair(
        private_key=private.decode("ascii"),
        certificate=certificate.public_bytes(serialization.Encoding.PEM).decode("ascii"),
        not_after=not_after,
    )


def read_certificate(text: str) -> Certificate:
    """What a PEM certificate or its bare base64 says.

    Raises CertificateRefused if it is no certificate, or its key is neither RSA of 2048 to 8192 bits
    nor an elliptic curve of 256 bits or more.
    """
    loaded = load_certificate(text)
    key = loaded.public_key()
    strong_rsa = isinstance(key, rsa.RSAPublicKey) and MIN_RSA_BITS <= key.key_size <= MAX_RSA_BITS
    strong_ec = isinstance(key, ec.EllipticCurvePublicKey) and key.key_size >= MIN_EC_BITS
    if not (strong_rsa or strong_ec):
        raise CertificateRefused(
            f"The certificate's key must be RSA of {MIN_RSA_BITS} to {MAX_RSA_BITS} bits "
            f"or an elliptic curve of at least {MIN_EC_BITS}."
        )
    try:
        subject = loaded.subject.rfc4514_string()
    except (ValueError, TypeError):
        subject = ""
    return Certificate(
        pem=loaded.public_bytes(serialization.Encoding.PEM).decode("ascii"),
        subject=subject,
        fingerprint=fingerprint(loaded),
        not_before=loaded.not_valid_before_utc,
        not_after=loaded.not_valid_after_utc,
    )


def load_certificate(text: str) -> x509.Certificate:
    """The certificate in a PEM text or its bare base64. Raises CertificateRefused."""
    if len(text) > MAX_CERTIFICATE_CHARS:
        raise CertificateRefused(f"A certificate has at most {MAX_CERTIFICATE_CHARS:,} characters.")
    found = _PEM.search(text)
    try:
        packed = "".join((found[1] if found else text).split())
        loaded = x509.load_der_x509_certificate(base64.b64decode(packed, validate=True))
        loaded.public_key()
    except (binascii.Error, ValueError, TypeError, UnsupportedAlgorithm, x509.InvalidVersion) as error:
        raise CertificateRefused from error
    return loaded


def fingerprint(certificate: x509.Certificate) -> str:
    """SHA-256 over the DER form, lower-case hexadecimal."""
    return certificate.fingerprint(hashes.SHA256()).hex()


def bare(certificate: str) -> str:
    """The base64 of a PEM certificate on one line, as XML wants it."""
    found = _PEM.search(certificate)
    return "".join((found[1] if found else certificate).split())
