"""Mail servers on this machine. Relays of test projects run on it, too, so its addresses are allowed
(POSTERN_OUTBOUND_ALLOW).
"""

import asyncio
from contextlib import AsyncExitStack

import msgspec
import pytest

from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import read_networks
from postern.messaging.emails import sts_policies as sts_module
from postern.protocols.mail import smtp
from tests.peers.certificates import CertificateAuthority
from tests.peers.loopback_internet import loopback_internet

POLICY = "version: STSv1\r\nmode: {mode}\r\nmx: mx.{domain}\r\nmax_age: 604800\r\n"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))


@pytest.fixture
async def internet(zone):
    async with loopback_internet(zone) as internet:
        yield internet


@pytest.fixture
def unique_domain(project):
    """A domain whose policy no other test has stored."""
    return f"d{project.id[-12:]}.test"


@pytest.fixture(scope="module")
def authority():
    return CertificateAuthority()


class PolicyServer:
    """The HTTPS server of a domain's MTA-STS policy."""

    def __init__(self, body: str) -> None:
        self.head = "200 OK"
        self.headers = "Content-Type: text/plain\r\n"
        self.body = body
        self.requests = 0

    async def serve(self, reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        self.requests += 1
        body = self.body.encode()
        head = f"HTTP/1.1 {self.head}\r\n{self.headers}Content-Length: {len(body)}\r\nConnection: close\r\n\r\n"
        writer.write(head.encode() + body)
        await writer.drain()
        writer.close()


@pytest.fixture
async def publish_policy(internet, zone, world, authority, monkeypatch):
    """A function that publishes the MTA-STS policy of a domain and returns its server."""
    monkeypatch.setattr(sts_module, "POLICY_PORT", internet.port)
    monkeypatch.setenv("SSL_CERT_FILE", str(authority.file))
    smtp.verifying_context.cache_clear()
    world.outbound._tls = authority.client_context()
    async with AsyncExitStack() as stack:

        async def publish_one(domain, body, *, policy_id="1"):
            server, address = PolicyServer(body), internet.new_address()
            zone.add(f"_mta-sts.{domain}", "TXT", f"v=STSv1; id={policy_id};")
            zone.add(f"mta-sts.{domain}", "A", address)
            context = authority.server(f"mta-sts.{domain}")[0]
            listener = await asyncio.start_server(server.serve, address, internet.port, ssl=context)
            stack.callback(listener.close)
            server.stop = listener.close
            return server

        yield publish_one
    smtp.verifying_context.cache_clear()
