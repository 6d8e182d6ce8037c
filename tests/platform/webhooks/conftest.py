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
from tests.event_data import MADE_BY_TEST
from tests.peers.http_receiver import Receiver, http_receiver


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))


@pytest.fixture
async def receiver() -> AsyncIterator[Receiver]:
    async with http_receiver() as receiver:
        yield receiver


@dataclass
class Subscription:
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
        """The only delivery of the subscription."""
        (delivery,) = await self.deliveries()
        return delivery

    def verify(self, request: Any) -> Any:
        """Verify a request as a receiver does, but not the age of its timestamp, because tests move the clock."""
        webhook = standardwebhooks.Webhook(self.secret)
        webhook._Webhook__verify_timestamp = lambda seconds: _moment(seconds)
        return webhook.verify(request.body, dict(request.headers))


def _moment(seconds: str) -> Any:
    from datetime import UTC, datetime

    return datetime.fromtimestamp(float(seconds), UTC)


@pytest.fixture
def subscribe(project: Tenant, receiver: Receiver) -> Callable[..., Awaitable[Subscription]]:
    """A function that subscribes a path of the receiver to events (default: all)."""

    async def make(*names: str, path: str = "/hook", of: Tenant = project, url: str = "") -> Subscription:
        body = {"url": url or receiver.url(path), "events": list(names or ("*",))}
        created = await of.client.post("/webhooks", body)
        assert created.status_code == 201, created.text
        return Subscription(of, created.json()["id"], created.json()["secret"], path.partition("?")[0])

    return make


@pytest.fixture
def record_events(world: World, project: Tenant) -> Callable[..., Awaitable[list[str]]]:
    """A function that records events in one transaction, and returns their ids."""

    async def make(type: str = "email.delivered", count: int = 1, *, of: Tenant = project, **data: Any) -> list[str]:
        new_events = [
            events.make_event(UUID(of.id), type, uuid4(), world.clock(), actor_label=MADE_BY_TEST, **data)
            for _ in range(count)
        ]
        async with world.db.transaction() as tx:
            await events.record_all(tx, new_events)
        return [str(event.id) for event in new_events]

    return make
