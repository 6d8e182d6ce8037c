"""A project that sends through an SMTP sink, and the application on a port, for client libraries with sockets."""

import asyncio
import socket
from collections.abc import AsyncIterator
from typing import Any

import msgspec
import pytest
import uvicorn

from postern.kernel.config import Settings
from postern.kernel.http.connections import limited_protocol
from postern.kernel.outbound.ssrf import read_networks
from tests.messaging.domains.test_domains import publish
from tests.peers.smtp_sink import Sink


@pytest.fixture
def settings(settings: Settings) -> Settings:
    """The relays of test projects run on this machine, so its addresses are allowed."""
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))


@pytest.fixture
async def sink() -> AsyncIterator[Sink]:
    async with Sink() as sink:
        yield sink


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
    listener = socket.create_server(("127.0.0.1", 0))
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
