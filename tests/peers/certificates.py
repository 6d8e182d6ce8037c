"""A certificate authority for tests, which issues certificates of servers."""

import ssl
import tempfile
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from ipaddress import ip_address
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import ExtendedKeyUsageOID, NameOID


class CertificateAuthority:
    """Its own certificate is in `file`. All files are deleted when the object is no longer used."""

    def __init__(self, name: str = "Test CA") -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="ca-")
        self._key = ec.generate_private_key(ec.SECP256R1())
        self._name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, name)])
        usage = x509.KeyUsage(False, False, False, False, False, True, True, False, False)
        self.certificate = (
            self._builder(self._name, self._key.public_key())
            .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
            .add_extension(usage, critical=True)
            .add_extension(x509.SubjectKeyIdentifier.from_public_key(self._key.public_key()), critical=False)
            .sign(self._key, hashes.SHA256())
        )
        self.file = Path(self._folder.name) / "ca.pem"
        self.file.write_bytes(self.certificate.public_bytes(serialization.Encoding.PEM))

    def client_context(self) -> ssl.SSLContext:
        """The TLS context of a client that trusts only this authority."""
        return ssl.create_default_context(cafile=str(self.file))

    def server(self, *names: str, days: int = 30, has_san: bool = True) -> tuple[ssl.SSLContext, x509.Certificate]:
        """The TLS context of a server with these names, which sends the authority's certificate too, and its own
        certificate. With negative `days`, it has expired. Without SAN, only the common name is the first name."""
        key, certificate = self.key_pair(*names, days=days, has_san=has_san)
        pem = serialization.Encoding.PEM
        chain = Path(self._folder.name) / f"{certificate.serial_number}.pem"
        chain.write_bytes(
            certificate.public_bytes(pem)
            + self.certificate.public_bytes(pem)
            + key.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
        )
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
        context.load_cert_chain(chain)
        return context, certificate

    def key_pair(
        self, *names: str, days: int = 30, has_san: bool = True
    ) -> tuple[ec.EllipticCurvePrivateKey, x509.Certificate]:
        """The key and the certificate of a server with these names or addresses."""
        key = ec.generate_private_key(ec.SECP256R1())
        subject = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, names[0])])
        authority_key = x509.AuthorityKeyIdentifier.from_issuer_public_key(self._key.public_key())
        builder = self._builder(subject, key.public_key(), days)
        if has_san:
            alternative_names = x509.SubjectAlternativeName([_general_name(name) for name in names])
            builder = builder.add_extension(alternative_names, critical=False)
        certificate = (
            builder.add_extension(x509.ExtendedKeyUsage([ExtendedKeyUsageOID.SERVER_AUTH]), critical=False)
            .add_extension(authority_key, critical=False)
            .sign(self._key, hashes.SHA256())
        )
        return key, certificate

    def _builder(self, subject: x509.Name, key: ec.EllipticCurvePublicKey, days: int = 30) -> x509.CertificateBuilder:
        now = datetime.now(UTC)
        return (
            x509.CertificateBuilder()
            .subject_name(subject)
            .issuer_name(self._name)
            .public_key(key)
            .serial_number(x509.random_serial_number())
            .not_valid_before(now - timedelta(days=60))
            .not_valid_after(now + timedelta(days=days))
        )


def _general_name(text: str) -> x509.GeneralName:
    with suppress(ValueError):
        return x509.IPAddress(ip_address(text))
    return x509.DNSName(text)
