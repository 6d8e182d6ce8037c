"""Fixtures for webhooks: a receiver on loopback, which this instance is allowed to call."""

from collections.abc import AsyncIterator, Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID, uuid4

import msgspec
import pytest
import standardwebhooks

from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import read_networks
from postern.platform.events import operations as events
from postern.world import World
from tests.conftest import Tenant
from tests.peers.http_receiver import Receiver, http_receiver


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with http_receiver() as receiver:
        yield receiver


@dataclass
class Subscribed:
    """A subscription, with helpers to read it over the API."""

    project: Tenant
    id: str
    secret: str
    path: str

    async def row(self) -> dict[str, Any]:
        return (await self.project.client.get(f"/webhooks/{self.id}")).json()

    async def deliveries(self, query: str = "") -> list[dict[str, Any]]:
        return (await self.project.client.get(f"/webhooks/{self.id}/deliveries{query}")).json()

    async def delivery(self) -> dict[str, Any]:
        (only,) = await self.deliveries()
        return only

    def verify(self, request: Any) -> Any:
        """Verify a request as a receiver does, except the age of its timestamp: tests move the clock."""
        webhook = standardwebhooks.Webhook(self.secret)
        webhook._Webhook__verify_timestamp = lambda seconds: _moment(seconds)
        return webhook.verify(request.body, dict(request.headers))


def _moment(seconds: str) -> Any:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(float(seconds), UTC)


@pytest.fixture
def subscribe(project: Tenant, receiver: Receiver) -> Callable[..., Awaitable[Subscribed]]:
    """Subscribe a path of the receiver to events."""

    async def make(*names: str, path: str = "/hook", of: Tenant = project, url: str = "") -> Subscribed:
        body = {"url": url or receiver.url(path), "events": list(names or ("*",))}
        made = await of.client.post("/webhooks", body)
        assert made.status_code == 201, made.text
        return Subscribed(of, made.json()["id"], made.json()["secret"], path.partition("?")[0])

    return make


@pytest.fixture
def happen(world: World, project: Tenant) -> Callable[..., Awaitable[list[str]]]:
    """Record events, all in one transaction; returns their ids."""

    async def make(type: str = "email.delivered", count: int = 1, *, of: Tenant = project, **data: Any) -> list[str]:
        made = [events.make_event(UUID(of.id), type, uuid4(), world.clock(), **data) for _ in range(count)]
        async with world.db.transaction() as tx:
            await events.record_all(tx, made)
        return [str(event.id) for event in made]

    return make
