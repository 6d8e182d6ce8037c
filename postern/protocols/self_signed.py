"""Self-signed X.509 certificates (RFC 5280)."""

from datetime import UTC, datetime

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec, rsa
from cryptography.x509.oid import NameOID

MAX_COMMON_NAME_CHARS = 64
"""RFC 5280 appendix A.1, ub-common-name."""


def self_signed(
    key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey, common_name: str, *, not_before: datetime, not_after: datetime
) -> str:
    """A self-signed certificate of a key, in PEM; it cannot sign other certificates.

    `common_name` is cut to MAX_COMMON_NAME_CHARS.
    """
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, common_name[:MAX_COMMON_NAME_CHARS])])
    certificate = (
        x509.CertificateBuilder()
        .subject_name(name)
        .issuer_name(name)
        .public_key(key.public_key())
        .serial_number(x509.random_serial_number())
        .not_valid_before(not_before.astimezone(UTC))
        .not_valid_after(not_after.astimezone(UTC))
        .add_extension(x509.BasicConstraints(ca=False, path_length=None), critical=True)
        .sign(key, hashes.SHA256())
    )
    return certificate.public_bytes(serialization.Encoding.PEM).decode("ascii")


def private_key_pem(key: rsa.RSAPrivateKey | ec.EllipticCurvePrivateKey) -> str:
    """A private key as unencrypted PKCS #8 in PEM."""
    pem = serialization.Encoding.PEM
    return key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()).decode("ascii")
