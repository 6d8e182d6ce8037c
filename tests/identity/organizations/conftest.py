"""The `directory` fixture, which creates organizations, their members and domains, and customers of one project."""

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
    """Creates organizations, customers, members and domains of one project, and lists members and events."""

    project: Tenant
    zone: Any
    run_due_work: Callable[[], Awaitable[int]]

    async def organization(self, name: str = "Acme", **fields: Any) -> dict[str, Any]:
        response = await self.project.client.post("/b2b/organizations", {"name": name, **fields})
        assert response.status_code == 201, response.text
        return response.json()

    async def customer(self, email: str | None = None, *, verified: bool = True, **fields: Any) -> dict[str, Any]:
        body = {"email": email or f"{uuid4().hex[:12]}@example.com", "emailVerified": verified, **fields}
        response = await self.project.client.post("/customers", {"password": PASSWORD, **body})
        assert response.status_code == 201, response.text
        return response.json()

    async def member(self, organization: dict[str, Any], *roles: str, **fields: Any) -> dict[str, Any]:
        """Create a customer and add it to an organization; returns the customer."""
        customer = await self.customer(**fields)
        body = {"customerId": customer["id"], **({"roles": list(roles)} if roles else {})}
        response = await self.project.client.post(f"/b2b/organizations/{organization['id']}/members", body)
        assert response.status_code == 201, response.text
        return customer

    async def domain(self, organization: dict[str, Any], name: str) -> dict[str, Any]:
        path = f"/b2b/organizations/{organization['id']}/domains"
        response = await self.project.client.post(path, {"domain": name})
        assert response.status_code == 201, response.text
        return response.json()

    def publish(self, domain: dict[str, Any]) -> None:
        """Publish the TXT record of a domain in the test DNS zone."""
        self.zone.add(domain["recordName"], "TXT", domain["record"])

    async def verified_domain(
        self, organization: dict[str, Any], name: str, *, auto_join: bool = True
    ) -> dict[str, Any]:
        """Create a domain of an organization, publish its TXT record, and verify it."""
        domain = await self.domain(organization, name)
        self.publish(domain)
        path = f"/b2b/organizations/{organization['id']}/domains/{domain['id']}"
        verify_response = await self.project.client.post(f"{path}/verify")
        assert verify_response.json()["status"] == "VERIFIED", verify_response.text
        change_response = await self.project.client.patch(path, {"autoJoinEnabled": auto_join})
        assert change_response.status_code == 200, change_response.text
        return change_response.json()

    async def members_of(self, organization: dict[str, Any]) -> list[dict[str, Any]]:
        return (await self.project.client.get(f"/b2b/organizations/{organization['id']}/members")).json()

    async def events(self, type: str) -> list[dict[str, Any]]:
        return (await self.project.client.get(f"/events?type={type}")).json()["data"]


@pytest.fixture
def directory(project: Tenant, zone: Any, run_due_work: Callable[[], Awaitable[int]]) -> Directory:
    return Directory(project, zone, run_due_work)
