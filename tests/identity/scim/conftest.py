"""A directory that provisions users of an organization with a verified domain."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from functools import partial
from typing import Any
from uuid import uuid4

import httpx
import pytest

from postern.world import World
from tests.conftest import Client, Tenant
from tests.identity.customers.conftest import auth
from tests.identity.organizations.conftest import Directory as Organizations
from tests.identity.organizations.conftest import directory as organizations
from tests.lock_waits import until_lock_waits

__all__ = ["auth", "organizations"]

USER = "urn:ietf:params:scim:schemas:core:2.0:User"
GROUP = "urn:ietf:params:scim:schemas:core:2.0:Group"
ENTERPRISE = "urn:ietf:params:scim:schemas:extension:enterprise:2.0:User"
PATCH = "urn:ietf:params:scim:api:messages:2.0:PatchOp"
BULK = "urn:ietf:params:scim:api:messages:2.0:BulkRequest"
ERROR = "urn:ietf:params:scim:api:messages:2.0:Error"
MEDIA_TYPE = "application/scim+json"


class ScimClient(Client):
    """A client with the token of a connection, which sends and expects SCIM's media type."""

    async def request(self, method: str, path: str, **kwargs: Any) -> httpx.Response:
        headers = {"content-type": MEDIA_TYPE, **(kwargs.pop("headers", None) or {})}
        response = await super().request(method, self.base + path, headers=headers, **kwargs)
        if response.content:
            assert response.headers["content-type"] == MEDIA_TYPE
        if response.status_code >= 400:
            body = response.json()
            assert (body["schemas"], body["status"]) == ([ERROR], str(response.status_code))
            assert body["detail"]
        return response


@dataclass
class Acme:
    """An organization with a verified domain, and its directory connection."""

    organizations: Organizations
    organization: dict[str, Any]
    domain: str
    connection: dict[str, Any]
    scim: ScimClient

    @property
    def project(self) -> Tenant:
        return self.organizations.project

    @property
    def connections_path(self) -> str:
        return f"/b2b/organizations/{self.organization['id']}/directory-connections"

    @property
    def path(self) -> str:
        return f"{self.connections_path}/{self.connection['id']}"

    def address(self, local: str | None = None) -> str:
        return f"{local or uuid4().hex[:10]}@{self.domain}"

    async def user(self, local: str | None = None, **fields: Any) -> dict[str, Any]:
        """Create a user with an address at the domain."""
        address = self.address(local)
        body = {
            "schemas": [USER],
            "userName": address,
            "emails": [{"value": address, "type": "work", "primary": True}],
            **fields,
        }
        response = await self.scim.post("/Users", body)
        assert response.status_code == 201, response.text
        return response.json()

    async def group(self, name: str, *members: dict[str, Any], **fields: Any) -> dict[str, Any]:
        body = {"schemas": [GROUP], "displayName": name, "members": [{"value": user["id"]} for user in members]}
        response = await self.scim.post("/Groups", {**body, **fields})
        assert response.status_code == 201, response.text
        return response.json()

    async def patch(self, path: str, *operations: dict[str, Any], status: int = 200, **kwargs: Any) -> Any:
        response = await self.scim.patch(path, {"schemas": [PATCH], "Operations": list(operations)}, **kwargs)
        assert response.status_code == status, response.text
        return response.json()

    async def find(self, filter: str, endpoint: str = "/Users", **parameters: Any) -> list[dict[str, Any]]:
        """The resources that match a filter."""
        response = await self.scim.get(endpoint, params={"filter": filter, **parameters})
        assert response.status_code == 200, response.text
        return response.json()["Resources"]

    async def change(self, **fields: Any) -> dict[str, Any]:
        changed = await self.project.client.patch(self.path, fields)
        assert changed.status_code == 200, changed.text
        return changed.json()

    async def members(self) -> dict[str, list[str]]:
        """The roles of the members, by their address."""
        return {member["email"]: member["roles"] for member in await self.organizations.members_of(self.organization)}

    async def customer(self, email: str) -> dict[str, Any]:
        customers = (await self.project.client.get("/customers", params={"q": email})).json()["data"]
        return next(customer for customer in customers if customer["email"] == email)


async def connect(organizations: Organizations, organization: dict[str, Any], domain: str, **fields: Any) -> Acme:
    """Create a directory connection."""
    path = f"/b2b/organizations/{organization['id']}/directory-connections"
    created = await organizations.project.client.post(path, {"name": "Acme Entra ID", **fields})
    assert created.status_code == 201, created.text
    connection = created.json()
    base = connection["baseUrl"].removeprefix("http://127.0.0.1:8025")
    scim = ScimClient(organizations.project.client.app, connection["token"], base)
    return Acme(organizations, organization, domain, connection, scim)


@pytest.fixture
async def lock_waits(world: World) -> Callable[[int], Awaitable[None]]:
    """A function that waits until this many statements of the database wait for a lock."""
    return partial(until_lock_waits, world.db.url)


@pytest.fixture
async def acme(organizations: Organizations) -> Acme:
    organization = await organizations.organization("Acme")
    domain = f"{uuid4().hex[:10]}.example"
    await organizations.verified_domain(organization, domain, auto_join=False)
    return await connect(organizations, organization, domain, groupRoles={"Administrators": ["ADMIN"]})
