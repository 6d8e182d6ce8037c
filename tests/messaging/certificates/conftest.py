"""An authority, and this server at the port where the authority validates."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import msgspec
import pytest
from psycopg.sql import SQL, Identifier

from postern.cli.processes import uvicorn_config
from postern.kernel.config import Settings
from postern.kernel.database.statements import Database
from postern.kernel.http.https_listener import HttpsServer
from postern.kernel.outbound.ssrf import read_networks
from postern.messaging.certificates.names import public_host
from postern.messaging.certificates.serving import ServedCertificates
from postern.world import World
from tests.peers.dns_zone import DnsZone
from tests.peers.pebble import Pebble, pebble_server
from tests.peers.ports import listening_socket, reserved_port

HOST = "post.example"
"""The host of the base URL."""


@pytest.fixture
def http_port() -> Iterator[int]:
    """The port on which the authority asks for challenges."""
    with reserved_port() as port_socket:
        yield port_socket.getsockname()[1]


@pytest.fixture
def pebble_options(request: pytest.FixtureRequest) -> dict:
    return getattr(request, "param", {})


@pytest.fixture
async def pebble(zone: DnsZone, http_port: int, tmp_path: Path, pebble_options: dict) -> AsyncIterator[Pebble]:
    """The authority."""
    # Started and stopped in a thread: the DNS server that it may ask runs in this event loop.
    running = pebble_server(zone.nameserver, http_port, tmp_path, **pebble_options)
    pebble = await asyncio.to_thread(running.__enter__)
    yield pebble
    await asyncio.to_thread(running.__exit__, None, None, None)


@pytest.fixture
def settings(settings: Settings, zone: DnsZone, pebble: Pebble, http_port: int) -> Settings:
    zone.add(HOST, "A", "127.0.0.1")
    return msgspec.structs.replace(
        settings,
        base_url=f"https://{HOST}",
        https_port=0,
        acme_terms_agreed=True,
        acme_directory=pebble.directory,
        acme_ca_file=pebble.ca_file,
        acme_http_port=http_port,
        outbound_allow=tuple(read_networks("127.0.0.0/8")),
    )


@pytest.fixture(autouse=True)
async def no_earlier_certificates(database: Database) -> None:
    """Names belong to no project, so a test must not see those of the tests before it."""
    async with database._pool.connection() as connection:
        for table in ("certificates", "certificate_orders"):
            await connection.execute(SQL("delete from {}").format(Identifier(table)))
        await connection.execute("update domains set tracking_verified = false, status = 'PENDING'")


class RunningServer:
    """This server in the test's process."""

    def __init__(self, https_port: int, served: ServedCertificates) -> None:
        self.https_port = https_port
        self.served = served


@asynccontextmanager
async def serve(world: World, http_port: int) -> AsyncIterator[RunningServer]:
    """Serve HTTP at the port, and HTTPS at another one."""
    listener = listening_socket(http_port)
    https_listener = listening_socket()
    served = ServedCertificates(world, public_host(world.settings), strict=True)
    await served.reload()
    server = HttpsServer(uvicorn_config(world.settings, world), https_listener, served.context)
    task = asyncio.create_task(server.serve([listener]))
    while not server.started:
        await asyncio.sleep(0.01)
    try:
        yield RunningServer(https_listener.getsockname()[1], served)
    finally:
        server.should_exit = True
        await task
        listener.close()


@pytest.fixture
async def server(world: World, http_port: int) -> AsyncIterator[RunningServer]:
    async with serve(world, http_port) as running:
        yield running
