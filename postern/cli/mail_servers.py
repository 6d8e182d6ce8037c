"""The SMTP servers of a process: for submission, and for received mail."""

import asyncio
import socket
import ssl
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import asdict
from datetime import timedelta
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import msgspec
import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.instance import HEARTBEAT_TIMEOUT
from postern.instance_store import record_smtp_counters, remove_smtp_process
from postern.kernel.config import Settings
from postern.kernel.database.statements import Jsonb
from postern.kernel.values import new_id
from postern.messaging.certificates.serving import ServedCertificates
from postern.messaging.emails.model import RECIPIENTS_LIMIT
from postern.messaging.inbound import model as inbound
from postern.messaging.inbound.smtp import InboundHandler
from postern.messaging.smtp_submission.handler import SubmissionHandler
from postern.protocols.mail.address import parse_domain_name
from postern.protocols.mail.mime import MESSAGE_BYTES_LIMIT
from postern.protocols.mail.smtp_server.certificate import CertificateInvalid, ServerCertificate
from postern.protocols.mail.smtp_server.server import SmtpServer
from postern.protocols.mail.smtp_server.session import SmtpCounters, SmtpLimits, SmtpOptions
from postern.world import World

RECORD_SECONDS: Final = 5.0
"""The interval at which the counters are stored for the metrics."""
CERTIFICATE_CHECK_SECONDS: Final = 10.0
"""The interval at which the certificate's files are checked for changes."""

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


def submission_server(world: World, tls: ssl.SSLContext | None) -> SmtpServer:
    """The server for mail that programs submit with an API key."""
    settings = world.settings

    def allows_plain_auth(peer: str) -> bool:
        address = ip_address(peer.partition("%")[0])
        address = getattr(address, "ipv4_mapped", None) or address
        return any(address in network for network in world.settings.smtp_plain_auth)

    return SmtpServer(
        SubmissionHandler(world),
        SmtpOptions(
            host=host_name(settings),
            limits=limits_of(settings, recipients=RECIPIENTS_LIMIT),
            tls=tls,
            offers_auth=True,
            offers_require_tls=True,
            requires_auth=True,
            allows_plain_auth=allows_plain_auth,
        ),
    )


def inbound_server(world: World, tls: ssl.SSLContext | None) -> SmtpServer:
    """The server for bounces, complaints and requests to unsubscribe, and for mail to the addresses of routes."""
    settings = world.settings
    limits = limits_of(settings, recipients=inbound.RECIPIENTS_LIMIT)
    return SmtpServer(
        InboundHandler(world),
        SmtpOptions(
            host=settings.mx_name,
            limits=msgspec.structs.replace(limits, message_octets=inbound.INBOUND_OCTETS),
            tls=tls,
        ),
    )


def host_name(settings: Settings) -> str:
    """The name of the SMTP servers in their greetings: the host of the base URL."""
    name = urlsplit(settings.public_url).hostname or "localhost"
    return name if name.isascii() else parse_domain_name(name)


def limits_of(settings: Settings, *, recipients: int) -> SmtpLimits:
    """The limits from the settings, with at most `recipients` recipients per message."""
    return SmtpLimits(
        message_octets=MESSAGE_BYTES_LIMIT,
        recipients=recipients,
        connections=settings.smtp_connections,
        connections_per_network=settings.smtp_connections_per_address,
        content_octets=settings.smtp_memory * 1_000_000,
    )


class MailListener(msgspec.Struct, frozen=True):
    """How connections to a port are served."""

    make_server: Callable[[World, ssl.SSLContext | None], SmtpServer]
    """Creates the server. Listeners with the same function share one server and its limits."""
    implicit_tls: bool = False
    """Whether a connection begins with TLS (RFC 8314) instead of STARTTLS."""


LISTENERS: Mapping[str, MailListener] = {
    "submission": MailListener(submission_server),
    "submissions": MailListener(submission_server, implicit_tls=True),
    "inbound": MailListener(inbound_server),
}
"""The listener of each port in `Settings.mail_ports`, keyed by the name of the port."""


class MailServers:
    """The SMTP servers of a process."""

    def __init__(self, world: World) -> None:
        """Read the certificate, if one is set. Raises CertificateInvalid."""
        self._world = world
        certificate, key = world.settings.tls_certificate, world.settings.tls_key
        self._certificate = ServerCertificate(certificate, key) if certificate and key else None
        self._served: dict[object, ServedCertificates] = {}
        """The certificates obtained by ACME, keyed by the name of the listener; empty if a certificate file is set."""
        self._servers: dict[object, SmtpServer] = {}
        """Keyed by `MailListener.make_server`."""
        self._id = new_id()
        self._counters: dict[str, SmtpCounters] = {}
        """Keyed by the name of the listener."""

    async def run(self, sockets: Mapping[str, socket.socket], stopping: asyncio.Event, drain: timedelta) -> None:
        """Serve on the sockets, which are keyed by the name of the listener, until `stopping` is set. Messages that are
        being received then may take up to `drain` to finish."""
        for name, listening_socket in sockets.items():
            listener = LISTENERS[name]
            if listener.make_server not in self._servers:
                self._servers[listener.make_server] = listener.make_server(self._world, await self._tls_of(name))
            server = self._servers[listener.make_server]
            counters = self._counters[name] = SmtpCounters()
            await server.listen(listening_socket, implicit_tls=listener.implicit_tls, counters=counters)
        tasks = [
            asyncio.create_task(forever)
            for forever in (
                self._reload_certificate(),
                self._record_periodically(),
                *(served.keep_reloading() for served in self._served.values()),
            )
        ]
        await stopping.wait()
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await asyncio.gather(*(server.stop(drain.total_seconds()) for server in self._servers.values()))
        with suppress(OperationalError, PoolTimeout):
            # This also removes the records of killed processes, which have not stored counters for long.
            await remove_smtp_process(self._world.db, id=self._id, before=self._world.clock() - 10 * HEARTBEAT_TIMEOUT)

    async def _record_periodically(self) -> None:
        while True:
            try:
                await self.record_counters()
            except (OperationalError, PoolTimeout) as error:
                log.warning("smtp_counters_not_recorded", error=str(error).strip()[:200])
            await asyncio.sleep(RECORD_SECONDS)

    async def record_counters(self) -> None:
        """Store the counters for the metrics. Raises errors of the database."""
        counters = {name: asdict(counted) for name, counted in self._counters.items()}
        await record_smtp_counters(self._world.db, id=self._id, now=self._world.clock(), counters=Jsonb(counters))

    async def _tls_of(self, listener_name: str) -> ssl.SSLContext | None:
        """The TLS context for a listener's server; None if no certificate is set and ACME is not used."""
        settings = self._world.settings
        if self._certificate is not None:
            return self._certificate.context
        if not settings.acme_terms_agreed:
            return None
        name = settings.mx_name if listener_name == "inbound" else host_name(settings)
        served = self._served[listener_name] = ServedCertificates(self._world, name, strict=False)
        await served.reload()
        return served.context

    async def _reload_certificate(self) -> None:
        reported = ""
        while self._certificate is not None:
            await asyncio.sleep(CERTIFICATE_CHECK_SECONDS)
            try:
                if self._certificate.reload():
                    log.info("certificate_reloaded")
                reported = ""
            except CertificateInvalid as error:
                if str(error) != reported:
                    log.warning("certificate_not_reloaded", error=str(error))
                reported = str(error)
