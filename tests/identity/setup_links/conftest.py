"""A setup link of an organization, and the browser of the administrator who uses it."""

from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import lxml.html
import pytest

from tests.conftest import Client
from tests.identity.organizations.conftest import auth, directory
from tests.identity.sso.conftest import Acme, acme, idp

__all__ = ["acme", "auth", "directory", "idp"]

FORM = {"content-type": "application/x-www-form-urlencoded"}


@dataclass
class Administrator:
    """The browser of an administrator, with its cookies. It has no credential."""

    acme: Acme
    client: Client
    link: dict[str, Any] = field(default_factory=dict)
    headers: dict[str, str] = field(default_factory=dict)

    @property
    def path(self) -> str:
        """The path of the overview of the link."""
        return f"{urlsplit(self.link['url']).path}/{self.link['id']}"

    async def create(self, **fields: Any) -> dict[str, Any]:
        """Create a link as the developer."""
        path = f"/b2b/organizations/{self.acme.organization['id']}/setup-links"
        created = await self.acme.client.post(path, fields)
        assert created.status_code == 201, created.text
        self.link = created.json()
        return self.link

    async def stored(self) -> dict[str, Any]:
        """The link as the API returns it now."""
        path = f"/b2b/organizations/{self.acme.organization['id']}/setup-links/{self.link['id']}"
        return (await self.acme.client.get(path)).json()

    async def open(self) -> Any:
        """Open the link and press the button."""
        url = urlsplit(self.link["url"])
        shown = await self.client.get(f"{url.path}?{url.query}")
        assert shown.status_code == 200, shown.text
        (token,) = lxml.html.fromstring(shown.text).xpath("//input[@name='token']/@value")
        return await self.post_to(url.path, token=token)

    async def begin(self, **fields: Any) -> "Administrator":
        await self.create(**fields)
        assert (await self.open()).status_code == 303
        return self

    async def get(self, page: str = "") -> Any:
        return await self.client.get(f"{self.path}{page}", headers=self.headers)

    async def post(self, page: str, **form: str) -> Any:
        return await self.post_to(f"{self.path}{page}", **form)

    async def post_to(self, path: str, **form: str) -> Any:
        return await self.client.request("POST", path, content=urlencode(form), headers={**FORM, **self.headers})

    async def done(self, page: str, **form: str) -> Any:
        """Send a form that must succeed, and follow the redirect. Returns the page."""
        answer = await self.post(page, **form)
        assert answer.status_code == 303, answer.text
        shown = await self.client.get(answer.headers["location"])
        assert shown.status_code == 200, shown.text
        return shown


@pytest.fixture
def administrator(acme: Acme, app: Any) -> Administrator:
    return Administrator(acme, Client(app))
