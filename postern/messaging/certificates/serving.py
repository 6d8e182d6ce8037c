"""The certificates in the memory of a process that serves TLS, and their selection by name (SNI, RFC 6066 §3)."""

import asyncio
import os
import ssl
from collections.abc import Generator
from contextlib import ExitStack, contextmanager
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Final
from uuid import UUID

import structlog
from cryptography.hazmat.primitives.asymmetric import ec

from postern.messaging.certificates import store
from postern.messaging.certificates.authority import key_context
from postern.messaging.certificates.model import CERTIFICATES_LIMIT, ServedCertificate
from postern.messaging.certificates.reloading import keep_calling
from postern.protocols.self_signed import private_key_pem, self_signed
from postern.security.secrets import SealBroken

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)
LOADED_AT_ONCE: Final = 100
"""Maximum number of certificates that one query reads."""
PIPE_BYTES: Final = 49_152
"""Bytes that can be written to a pipe on every system before they are read; certificate chains have a tenth of it."""
TEMPORARY_LIFE: Final = timedelta(days=3_650)
"""The validity of a temporary certificate."""


class ServedCertificates:
    """The TLS contexts of the certificates. `context` selects one of them by the name for which a client asks.

    Until there is a certificate for `default_name`, a self-signed one is used, which clients do not trust.
    """

    def __init__(self, world: "World", default_name: str, *, strict: bool) -> None:
        """With `strict`, a client that asks for another name gets an alert instead of the default certificate."""
        self._world = world
        self._default_name = default_name
        self._strict = strict
        self._versions: dict[str, tuple[UUID, datetime]] = {}
        self._contexts: dict[str, ssl.SSLContext] = {}
        self.context = new_context(*temporary_certificate(default_name, world.clock()))
        """The context of the listener. It is never changed: a handshake in the moment between its new certificate and
        the key of it would fail."""
        self.context.sni_callback = self._select

    async def reload(self) -> None:
        """Load the certificates that are new since the last call, and drop those that have expired."""
        world = self._world
        names = await store.served_names(world.db, now=world.clock(), limit=CERTIFICATES_LIMIT)
        versions = {row.name: (row.id, row.issued_at) for row in names}
        for name in self._versions.keys() - versions.keys():
            self._versions.pop(name)
            self._contexts.pop(name, None)
        changed = [row.id for row in names if self._versions.get(row.name) != versions[row.name]]
        for start in range(0, len(changed), LOADED_AT_ONCE):
            ids = changed[start : start + LOADED_AT_ONCE]
            rows = await store.served_certificates(world.db, ids=ids)
            for row, context in zip(rows, await asyncio.to_thread(self._load_all, rows), strict=True):
                self._versions[row.name] = (row.id, row.issued_at)
                if context is not None:
                    self._contexts[row.name] = context

    async def keep_reloading(self) -> None:
        """Call `reload` every RELOAD_SECONDS, until cancelled."""
        await keep_calling(self.reload, "certificates_not_reloaded")

    def _load_all(self, rows: list[ServedCertificate]) -> list[ssl.SSLContext | None]:
        return [self._load(row) for row in rows]

    def _load(self, row: ServedCertificate) -> ssl.SSLContext | None:
        try:
            key = self._world.secrets.open(row.private_key, key_context(row.id))
            return new_context(row.chain.encode(), key)
        except (SealBroken, ValueError, OSError) as error:
            log.exception("certificate_not_loaded", name=row.name, error=str(error))
            return None

    def _select(self, connection: ssl.SSLObject, name: str | None, _context: ssl.SSLContext) -> int | None:
        """The SNI callback, which `ssl` calls during a handshake: set the context of the requested name.

        Returns the alert to send, or None to continue.
        """
        name = (name or self._default_name).rstrip(".").lower()
        if self._strict and name != self._default_name and name not in self._contexts:
            return ssl.ALERT_DESCRIPTION_UNRECOGNIZED_NAME
        context = self._contexts.get(name) or self._contexts.get(self._default_name)
        if context is not None:
            connection.context = context
        return None


def new_context(chain: bytes, private_key: bytes) -> ssl.SSLContext:
    """The TLS context of a server with a certificate, both in PEM. Raises ValueError or OSError."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.minimum_version = ssl.TLSVersion.TLSv1_2
    context.set_alpn_protocols(["http/1.1"])
    load_chain(context, chain, private_key)
    return context


def load_chain(context: ssl.SSLContext, chain: bytes, private_key: bytes) -> None:
    """Set the certificate of a context. Raises ValueError or OSError.

    `ssl` reads certificates only from files. Pipes are used as files, so that the key is not written to a disk.
    """
    if max(len(chain), len(private_key)) > PIPE_BYTES:
        raise ValueError("the chain is too long")
    with ExitStack() as stack:
        paths = [stack.enter_context(_readable(content)) for content in (chain, private_key)]
        context.load_cert_chain(*paths)


@contextmanager
def _readable(content: bytes) -> Generator[str]:
    """The path of a pipe with this content, which can be read once."""
    reader, writer = os.pipe()
    try:
        with os.fdopen(writer, "wb") as pipe:
            pipe.write(content)
        yield f"/dev/fd/{reader}"
    finally:
        os.close(reader)


def temporary_certificate(name: str, now: datetime) -> tuple[bytes, bytes]:
    """A self-signed certificate and its key, both in PEM."""
    key = ec.generate_private_key(ec.SECP256R1())
    certificate = self_signed(key, name, not_before=now - timedelta(days=1), not_after=now + TEMPORARY_LIFE)
    return certificate.encode(), private_key_pem(key).encode()
