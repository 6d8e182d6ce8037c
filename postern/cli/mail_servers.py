"""The SMTP servers of a process: which ports they listen on, and what they do with mail."""

import asyncio
import socket
from collections.abc import Callable, Mapping
from contextlib import suppress
from datetime import timedelta
from ipaddress import ip_address
from typing import Final
from urllib.parse import urlsplit

import msgspec
import structlog

from postern.kernel.config import Settings
from postern.messaging.emails.model import RECIPIENTS_LIMIT
from postern.messaging.inbound import model as inbound
from postern.messaging.inbound.smtp import InboundHandler
from postern.messaging.smtp_submission.handler import SubmissionHandler
from postern.protocols.mail.address import parse_domain_name
from postern.protocols.mail.mime import MESSAGE_BYTES_LIMIT
from postern.protocols.mail.smtp_server.certificate import CertificateInvalid, ServerCertificate
from postern.protocols.mail.smtp_server.server import SmtpServer
from postern.protocols.mail.smtp_server.session import SmtpLimits, SmtpOptions
from postern.world import World

CERTIFICATE_CHECK_SECONDS: Final = 10.0
"""How often the files of the certificate are checked for changes."""

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


def submission_server(world: World, certificate: ServerCertificate | None) -> SmtpServer:
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
            tls=certificate and certificate.context,
            offers_auth=True,
            requires_auth=True,
            allows_plain_auth=allows_plain_auth,
        ),
    )


def inbound_server(world: World, certificate: ServerCertificate | None) -> SmtpServer:
    """The server for bounces, complaints and requests to unsubscribe."""
    settings = world.settings
    limits = limits_of(settings, recipients=inbound.RECIPIENTS_LIMIT)
    return SmtpServer(
        InboundHandler(world),
        SmtpOptions(
            host=settings.mx_name,
            limits=msgspec.structs.replace(limits, message_octets=inbound.MESSAGE_OCTETS),
            tls=certificate and certificate.context,
        ),
    )


def host_name(settings: Settings) -> str:
    """The name of the SMTP servers in their greetings: the host of the base URL."""
    name = urlsplit(settings.public_url).hostname or "localhost"
    return name if name.isascii() else parse_domain_name(name)


def limits_of(settings: Settings, *, recipients: int) -> SmtpLimits:
    """The limits that the settings configure."""
    return SmtpLimits(
        message_octets=MESSAGE_BYTES_LIMIT,
        recipients=recipients,
        connections=settings.smtp_connections,
        connections_per_network=settings.smtp_connections_per_address,
        content_octets=settings.smtp_memory * 1_000_000,
    )


class MailListener(msgspec.Struct, frozen=True):
    """What listens on a port."""

    make_server: Callable[[World, ServerCertificate | None], SmtpServer]
    """Listeners with the same function have one server, with common limits."""
    implicit_tls: bool = False


LISTENERS: Mapping[str, MailListener] = {
    "submission": MailListener(submission_server),
    "submissions": MailListener(submission_server, implicit_tls=True),
    "inbound": MailListener(inbound_server),
}
"""What listens on each of the ports in `Settings.mail_ports`."""


class MailServers:
    """The SMTP servers of a process."""

    def __init__(self, world: World) -> None:
        """Read the certificate, if one is set. Raises CertificateInvalid."""
        self._world = world
        certificate, key = world.settings.tls_certificate, world.settings.tls_key
        self._certificate = ServerCertificate(certificate, key) if certificate and key else None
        self._servers: dict[object, SmtpServer] = {}

    async def run(self, sockets: Mapping[str, socket.socket], stopping: asyncio.Event, drain: timedelta) -> None:
        """Serve on the sockets, keyed by the name of the listener, until `stopping` is set; then finish running
        messages, for at most `drain`."""
        for name, listening_socket in sockets.items():
            listener = LISTENERS[name]
            if listener.make_server not in self._servers:
                self._servers[listener.make_server] = listener.make_server(self._world, self._certificate)
            server = self._servers[listener.make_server]
            await server.listen(listening_socket, implicit_tls=listener.implicit_tls)
        reloading = asyncio.create_task(self._reload_certificate())
        await stopping.wait()
        reloading.cancel()
        with suppress(asyncio.CancelledError):
            await reloading
        await asyncio.gather(*(server.stop(drain.total_seconds()) for server in self._servers.values()))

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
