"""Organizations, customers and members for them."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

import pytest

from tests.conftest import Tenant
from tests.identity.customers.conftest import auth

__all__ = ["auth"]

PASSWORD = "a password nobody has"


@dataclass
class Directory:
    """Makes organizations, customers and members of one project."""

    project: Tenant
    zone: Any
    work_off: Callable[[], Awaitable[int]]

    async def organization(self, name: str = "Acme", **fields: Any) -> dict[str, Any]:
        made = await self.project.client.post("/b2b/organizations", {"name": name, **fields})
        assert made.status_code == 201, made.text
        return made.json()

    async def customer(self, email: str | None = None, *, verified: bool = True, **fields: Any) -> dict[str, Any]:
        body = {"email": email or f"{uuid4().hex[:12]}@example.com", "emailVerified": verified, **fields}
        made = await self.project.client.post("/customers", {"password": PASSWORD, **body})
        assert made.status_code == 201, made.text
        return made.json()

    async def member(self, organization: dict[str, Any], *roles: str, **fields: Any) -> dict[str, Any]:
        customer = await self.customer(**fields)
        body = {"customerId": customer["id"], **({"roles": list(roles)} if roles else {})}
        made = await self.project.client.post(f"/b2b/organizations/{organization['id']}/members", body)
        assert made.status_code == 201, made.text
        return customer

    async def domain(self, organization: dict[str, Any], name: str) -> dict[str, Any]:
        path = f"/b2b/organizations/{organization['id']}/domains"
        made = await self.project.client.post(path, {"domain": name})
        assert made.status_code == 201, made.text
        return made.json()

    def publish(self, domain: dict[str, Any]) -> None:
        self.zone.add(domain["recordName"], "TXT", domain["record"])

    async def proved(self, organization: dict[str, Any], name: str, *, auto_join: bool = True) -> dict[str, Any]:
        """A verified domain of an organization."""
        domain = await self.domain(organization, name)
        self.publish(domain)
        path = f"/b2b/organizations/{organization['id']}/domains/{domain['id']}"
        verified = await self.project.client.post(f"{path}/verify")
        assert verified.json()["status"] == "VERIFIED", verified.text
        changed = await self.project.client.patch(path, {"autoJoinEnabled": auto_join})
        assert changed.status_code == 200, changed.text
        return changed.json()

    async def members_of(self, organization: dict[str, Any]) -> list[dict[str, Any]]:
        return (await self.project.client.get(f"/b2b/organizations/{organization['id']}/members")).json()

    async def events(self, type: str) -> list[dict[str, Any]]:
        return (await self.project.client.get(f"/events?type={type}")).json()["data"]


@pytest.fixture
def directory(project: Tenant, zone: Any, work_off: Callable[[], Awaitable[int]]) -> Directory:
    return Directory(project, zone, work_off)
