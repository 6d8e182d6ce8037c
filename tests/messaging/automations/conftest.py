"""Fixtures of automations: contacts, audiences, a template, and a receiver of webhook calls."""

from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any
from uuid import UUID

import msgspec
import pytest

from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import read_networks
from postern.kernel.values import new_id
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


@pytest.fixture
async def template(world: World, project: Tenant) -> str:
    """A template with a variable."""
    made = new_id()
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into templates (project_id, id, name, subject, html, created_at, updated_at)"
            " values (%s, %s, 'Welcome', 'Hello {{ name }}', '<p>Hello {{ name }}</p>', now(), now())",
            (UUID(project.id), made),
        )
    return str(made)


@pytest.fixture
def email(template: str) -> Callable[..., dict[str, Any]]:
    """A SEND_EMAIL step."""

    def step(subject: str | None = None) -> dict[str, Any]:
        made = {"type": "SEND_EMAIL", "templateId": template, "fromEmail": "hello@example.org"}
        return made if subject is None else {**made, "subject": subject}

    return step


@pytest.fixture
def audience(project: Tenant) -> Callable[..., Awaitable[str]]:
    async def make(name: str = "Newcomers") -> str:
        made = await project.client.post("/audiences", {"name": name})
        assert made.status_code == 201, made.text
        return made.json()["id"]

    return make


@pytest.fixture
def contact(project: Tenant) -> Callable[..., Awaitable[str]]:
    async def make(email: str = "ada@example.com", **fields: Any) -> str:
        made = await project.client.post("/contacts", {"email": email, "attributes": {"name": "Ada"}, **fields})
        assert made.status_code == 201, made.text
        return made.json()["id"]

    return make


@pytest.fixture
def automate(project: Tenant) -> Callable[..., Awaitable[str]]:
    """Create an active automation."""

    async def make(trigger: dict[str, Any], *steps: dict[str, Any], active: bool = True) -> str:
        body = {"name": "Series", "trigger": trigger, "steps": list(steps), "active": active}
        made = await project.client.post("/automations", body)
        assert made.status_code == 201, made.text
        return made.json()["id"]

    return make


@pytest.fixture
def runs(project: Tenant) -> Callable[..., Awaitable[list[dict[str, Any]]]]:
    """The runs of an automation with their histories, oldest first."""

    async def read(automation: str) -> list[dict[str, Any]]:
        found = (await project.client.get(f"/automations/{automation}/runs")).json()
        details = [await project.client.get(f"/automations/{automation}/runs/{run['id']}") for run in found]
        return [detail.json() for detail in reversed(details)]

    return read


@pytest.fixture
def mails(project: Tenant) -> Callable[[], Awaitable[list[tuple[str, str]]]]:
    """Recipient and subject of what was sent, oldest first."""

    async def read() -> list[tuple[str, str]]:
        found = (await project.client.get("/emails/logs?limit=100")).json()["data"]
        return [(each["contact"]["email"], each["subject"]) for each in reversed(found)]

    return read
