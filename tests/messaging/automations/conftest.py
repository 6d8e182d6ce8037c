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
    """The id of a template whose subject and html have the placeholder `name`."""
    template_id = new_id()
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into templates (project_id, id, name, subject, html, created_at, updated_at)"
            " values (%s, %s, 'Welcome', 'Hello {{ name }}', '<p>Hello {{ name }}</p>', now(), now())",
            (UUID(project.id), template_id),
        )
    return str(template_id)


@pytest.fixture
def email_step(template: str) -> Callable[..., dict[str, Any]]:
    """Makes a SEND_EMAIL step for the fixture `template`; `subject` replaces the subject of the template."""

    def make_step(subject: str | None = None) -> dict[str, Any]:
        fields = {"type": "SEND_EMAIL", "templateId": template, "fromEmail": "hello@example.org"}
        return fields if subject is None else {**fields, "subject": subject}

    return make_step


@pytest.fixture
def create_audience(project: Tenant) -> Callable[..., Awaitable[str]]:
    """Creates a STATIC audience; returns its id."""

    async def create(name: str = "Newcomers") -> str:
        response = await project.client.post("/audiences", {"name": name})
        assert response.status_code == 201, response.text
        return response.json()["id"]

    return create


@pytest.fixture
def create_contact(project: Tenant) -> Callable[..., Awaitable[str]]:
    """Creates a contact with the attribute `name`; returns its id."""

    async def create(email: str = "ada@example.com", **fields: Any) -> str:
        response = await project.client.post("/contacts", {"email": email, "attributes": {"name": "Ada"}, **fields})
        assert response.status_code == 201, response.text
        return response.json()["id"]

    return create


@pytest.fixture
def create_automation(project: Tenant) -> Callable[..., Awaitable[str]]:
    """Creates an automation, active unless `active=False`; returns its id."""

    async def create(trigger: dict[str, Any], *steps: dict[str, Any], active: bool = True) -> str:
        body = {"name": "Series", "trigger": trigger, "steps": list(steps), "active": active}
        response = await project.client.post("/automations", body)
        assert response.status_code == 201, response.text
        return response.json()["id"]

    return create


@pytest.fixture
def read_runs(project: Tenant) -> Callable[..., Awaitable[list[dict[str, Any]]]]:
    """Reads the runs of an automation with their histories, oldest first."""

    async def read(automation: str) -> list[dict[str, Any]]:
        listed = (await project.client.get(f"/automations/{automation}/runs")).json()
        details = [await project.client.get(f"/automations/{automation}/runs/{run['id']}") for run in listed]
        return [detail.json() for detail in reversed(details)]

    return read


@pytest.fixture
def read_mails(project: Tenant) -> Callable[[], Awaitable[list[tuple[str, str]]]]:
    """Reads the recipient and subject of each message in the log, oldest first."""

    async def read() -> list[tuple[str, str]]:
        sends = (await project.client.get("/emails/logs?limit=100")).json()["data"]
        return [(send["contact"]["email"], send["subject"]) for send in reversed(sends)]

    return read
