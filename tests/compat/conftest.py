"""Projects that send through an SMTP sink, and applications on a port, for client libraries with sockets."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from typing import Any

import httpx
import msgspec
import pytest
import uvicorn

from postern.cli.bootstrap import BootstrapResult
from postern.kernel.config import Settings
from postern.kernel.http.connections import limited_protocol
from postern.kernel.outbound.ssrf import read_networks
from tests.messaging.domains.test_domains import publish
from tests.peers.http_receiver import Receiver, http_receiver
from tests.peers.ports import listening_socket
from tests.peers.smtp_sink import Sink
from tests.peers.whole_server import WholeServer, whole_server


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The relays of test projects run on this machine, so its addresses are allowed."""
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))


@pytest.fixture
async def sink() -> AsyncIterator[Sink]:
    async with Sink() as sink:
        yield sink


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with http_receiver() as receiver:
        yield receiver


@pytest.fixture
async def sender(project: Any, zone: Any, sink: Sink) -> Any:
    """A project with the verified domain example.com that sends through the sink."""
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    assert changed.status_code == 200, changed.text
    return project


@pytest.fixture
async def url(app: Any, settings: Settings) -> AsyncIterator[str]:
    """The URL of the application, which serves it on a port of this machine until the test ends."""
    listener = listening_socket()
    config = uvicorn.Config(app, http=limited_protocol(settings), ws="none", lifespan="off", log_config=None)
    server = uvicorn.Server(config)
    serving = asyncio.create_task(server.serve([listener]))
    try:
        while not server.started:
            await asyncio.sleep(0.01)
        yield f"http://127.0.0.1:{listener.getsockname()[1]}"
    finally:
        server.should_exit = True
        await serving


@dataclass
class Installation:
    """A running server with an account, and the peers to which it sends."""

    server: WholeServer
    account: BootstrapResult
    sink: Sink
    receiver: Receiver

    def publish(self, records: list[dict[str, str]]) -> None:
        """Publish DNS records in the zone that the server queries."""
        assert self.server.zone is not None
        for record in records:
            self.server.zone.set(record["name"], record["type"], record["value"])


@pytest.fixture(scope="session")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[WholeServer, BootstrapResult]]:
    networks = tuple(read_networks("127.0.0.0/8"))
    with whole_server(tmp_path_factory.mktemp("compat"), outbound_allow=networks) as server:
        yield server, asyncio.run(server.account())


@pytest.fixture
async def installation(whole: tuple[WholeServer, BootstrapResult]) -> AsyncIterator[Installation]:
    """The server; mail of its project goes to an SMTP sink."""
    server, account = whole
    async with Sink() as sink, http_receiver() as receiver, httpx.AsyncClient() as client:
        relay = {"host": "127.0.0.1", "port": sink.port, "tls": "none"}
        changed = await client.patch(
            f"{server.url}/projects/{account.project_id}",
            json={"settings": {"transport": "relay", "relays": [relay]}},
            headers={"Authorization": f"Bearer {account.developer_token}"},
        )
        assert changed.status_code == 200, changed.text
        yield Installation(server, account, sink, receiver)
