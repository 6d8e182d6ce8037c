"""The SMTP server for submission of the test's world, and clients that use it."""

import asyncio
import email.policy
import ssl
from collections.abc import AsyncIterator
from dataclasses import dataclass
from datetime import timedelta
from email.message import EmailMessage
from smtplib import SMTP, SMTP_SSL
from typing import Any

import msgspec
import pytest

from postern.cli.mail_servers import MailServers
from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import read_networks
from tests.messaging.domains.test_domains import publish
from tests.peers.ports import listening_socket
from tests.peers.smtp_sink import Sink, certificate, client_context

CLIENT_TIMEOUT_SECONDS = 60


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The relays of test projects run on this machine, so its addresses are allowed (POSTERN_OUTBOUND_ALLOW)."""
    crt, key = certificate("localhost")
    networks = tuple(read_networks("127.0.0.0/8, ::1/128"))
    return msgspec.structs.replace(settings, outbound_allow=networks, tls_certificate=crt, tls_key=key)


@dataclass
class Submission:
    """The ports of the server, and a client for them (Python's smtplib, in a thread)."""

    starttls_port: int
    tls_port: int

    async def send(self, key: str, message: EmailMessage | bytes, to: list[str], **options: Any) -> str:
        """Send a message and return the text of the reply to its content."""
        return await asyncio.to_thread(self._send, key, message, to, **options)

    def _send(
        self,
        key: str,
        message: EmailMessage | bytes,
        to: list[str],
        *,
        user: str = "apikey",
        sender: str = "bounces@anything.example",
        secured: str = "starttls",
    ) -> str:
        with self.client(secured) as client:
            client.login(user, key)
            content = message if isinstance(message, bytes) else message.as_bytes(policy=email.policy.SMTP)
            client.mail(sender)
            for recipient in to:
                assert client.rcpt(recipient)[0] == 250
            code, text = client.data(content)
            return f"{code} {text.decode()}"

    def client(self, secured: str = "starttls") -> SMTP:
        """A connection that is encrypted by `starttls`, `tls`, or (`none`) not at all."""
        context: ssl.SSLContext = client_context()
        if secured == "tls":
            return SMTP_SSL("localhost", self.tls_port, context=context, timeout=CLIENT_TIMEOUT_SECONDS)
        client = SMTP("localhost", self.starttls_port, timeout=CLIENT_TIMEOUT_SECONDS)
        if secured == "starttls":
            client.starttls(context=context)
        client.ehlo()
        return client


@pytest.fixture
async def submission(world) -> AsyncIterator[Submission]:
    sockets = {name: listening_socket() for name in ("submission", "submissions")}
    ports = [listener.getsockname()[1] for listener in sockets.values()]
    stopping = asyncio.Event()
    running = asyncio.create_task(MailServers(world).run(sockets, stopping, timedelta(seconds=5)))
    yield Submission(*ports)
    stopping.set()
    await running


@pytest.fixture
async def sink():
    async with Sink() as sink:
        yield sink


@pytest.fixture
async def sender(project, zone, sink):
    """A project with the verified domain example.com that sends through the sink."""
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    assert changed.status_code == 200, changed.text
    return project


def message(text: str = "Hello Ada.\n", **fields: str) -> EmailMessage:
    """A message from hello@example.com to ada@example.org; `fields` replace or add header fields, with `_` as `-`."""
    composed = EmailMessage()
    defaults = {"From": "Acme <hello@example.com>", "To": "Ada <ada@example.org>", "Subject": "Hello"}
    for name, value in (defaults | {name.replace("_", "-"): value for name, value in fields.items()}).items():
        if value:
            composed[name] = value
    composed.set_content(text)
    return composed


def sent_id(reply: str) -> str:
    """The id of the send in a reply to a message."""
    code, _, text = reply.partition(" ")
    assert code == "250", reply
    assert text.startswith("2.0.0 queued as "), reply
    return text.removeprefix("2.0.0 queued as ")
