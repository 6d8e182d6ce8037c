"""The TLS certificate of a mail server: read from two files, and again when they change."""

import ssl
from pathlib import Path


class CertificateInvalid(Exception):
    """The certificate or its key cannot be used; the message names the file and the reason."""


class ServerCertificate:
    """A certificate chain and its private key, each in a PEM file."""

    def __init__(self, certificate: Path, key: Path) -> None:
        """Read the files. Raises CertificateInvalid."""
        self._certificate, self._key = certificate, key
        self._version = self._read_version()
        self.context = self._read()
        """The TLS context for the server. It stays the same object when the files change."""

    def reload(self) -> bool:
        """Read the files again if they have changed: new connections then use the new certificate.

        Returns whether the certificate was replaced. Raises CertificateInvalid, and keeps the old certificate, if the
        new files cannot be used, for example because only one of them has been replaced so far; the next call tries
        again.
        """
        version = self._read_version()
        if version == self._version:
            return False
        self._read()  # Into another context, because an error would leave this one without a certificate.
        self.context.load_cert_chain(self._certificate, self._key)
        self._version = version
        return True

    def _read_version(self) -> tuple[tuple[int, int, int], ...]:
        """Inode, size and time of modification of each file; a change means that a file was replaced."""
        try:
            stats = [path.stat() for path in (self._certificate, self._key)]
        except OSError as error:
            raise CertificateInvalid(f"{error.filename}: {error.strerror}") from None
        return tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats)

    def _read(self) -> ssl.SSLContext:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            # Without a password function, OpenSSL would ask on the terminal for the password of an encrypted key.
            context.load_cert_chain(self._certificate, self._key, password=_refuse_password)
        except (OSError, ValueError) as error:
            reason = error.reason if isinstance(error, ssl.SSLError) else str(error)
            raise CertificateInvalid(
                f"{self._certificate} and {self._key} are not a certificate and its unencrypted key in PEM: {reason}"
            ) from None
        return context


def _refuse_password() -> str:
    raise ValueError("the key is encrypted")
