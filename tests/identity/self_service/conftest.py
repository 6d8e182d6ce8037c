"""Browsers on the account and organization pages: they keep cookies, follow redirects and submit forms."""

import html
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import urlencode, urlsplit

import pytest

from postern.web.pages import TEMPLATES
from tests.conftest import Client
from tests.identity.customers.conftest import GOOD, AuthClient, auth, new_address
from tests.identity.customers.test_pages import Page
from tests.identity.organizations.conftest import Directory, directory

__all__ = ["GOOD", "AuthClient", "auth", "directory", "new_address"]

APP_URL = "https://app.example.com/back"
HOPS = 6
"""How many redirects a browser follows."""
assert TEMPLATES


def heading(page: Page) -> str:
    match = re.search(r"<h1>(.*?)</h1>", page.text, re.DOTALL)
    assert match, page.text
    return html.unescape(match[1]).strip()


def asks_to_sign_in(page: Page) -> bool:
    """Whether a page is the first one of a sign-in."""
    return any("/sign-in" in action for action in page.actions)


def problem_of(page: Page) -> str:
    """The message of the error on a page; "" for none."""
    match = re.search(r'role="alert" id="error">(.*?)</p>', page.text, re.DOTALL)
    return html.unescape(match[1]) if match else ""


def done_of(page: Page) -> str:
    """The message of what was done; "" for none."""
    match = re.search(r'class="done" role="status">(.*?)</p>', page.text, re.DOTALL)
    return html.unescape(match[1]) if match else ""


@dataclass
class Visitor:
    """A browser of a customer. `path` are relative to the pages of the project."""

    auth: AuthClient
    agent: str = "Mozilla/5.0 (Windows NT 10.0) Firefox/140.0"
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        # Its own cookies.
        self.client = Client(self.auth.app, None, f"/projects/{self.auth.project.id}/auth/pages", ip=self.auth.ip)

    async def send(self, method: str, path: str, *, follow: bool = True, **options: Any) -> Any:
        headers = {"user-agent": self.agent, "accept": "text/html", **options.pop("headers", {})}
        path = path if path.startswith("/projects/") else f"/projects/{self.auth.project.id}/auth/pages{path}"
        response = await self.client.request(method, path, headers=headers, **options)
        hops = 0
        while follow and response.status_code in (302, 303) and hops < HOPS:
            hops += 1
            url = urlsplit(response.headers["location"])
            target = f"{url.path}?{url.query}" if url.query else url.path
            response = await self.client.request("GET", target, headers=headers)
        return response

    @staticmethod
    def page(response: Any) -> Page:
        return Page(response)

    async def open(self, path: str, *, follow: bool = True, **query: str) -> Page:
        url = f"/{path}{'?' if query else ''}{urlencode(query)}"
        return Page(await self.send("GET", url, follow=follow))

    async def submit(self, page: Page, action: str = "", *, follow: bool = True, **fields: str) -> Page:
        """Submit the form of a page whose action contains `action`: its hidden fields and these."""
        paths = [path for path in page.actions if action in path]
        assert paths, (action, page.actions)
        body = urlencode({**page.hidden(), **fields})
        headers = {"content-type": "application/x-www-form-urlencoded"}
        return Page(await self.send("POST", paths[-1], follow=follow, content=body, headers=headers))

    async def sign_in(self, address: str, password: str = GOOD, path: str = "account", **query: str) -> Page:
        """Open a page, sign in, and return the page to which the sign-in leads."""
        page = await self.open(path, **query)
        assert asks_to_sign_in(page), page.text
        return await self.submit(page, "/sign-in", email=address, password=password)


Member = tuple[dict[str, Any], Visitor]
"""A customer and their browser."""


@pytest.fixture
async def address(auth: AuthClient) -> str:
    """The address of a customer, who has the password GOOD; the app's URL is APP_URL."""
    await auth.settings(redirectUrls=[APP_URL], appName="Northwind")
    return (await auth.signed_up())["customer"]["email"]


@pytest.fixture
def visitor(auth: AuthClient) -> Visitor:
    return Visitor(auth)


@pytest.fixture
async def acme(auth: AuthClient, directory: Directory) -> tuple[dict[str, Any], dict[str, Member]]:
    """An organization with an owner, an administrator and a member, and a browser of each, by role."""
    await auth.settings(redirectUrls=[APP_URL], appName="Northwind")
    organization = await directory.organization("Acme & Sons")
    browsers = {}
    for role in ("OWNER", "ADMIN", "MEMBER"):
        customer = await directory.member(organization, role, name=f"{role.title()} Person")
        browsers[role] = (customer, Visitor(auth))
    return organization, browsers


def path_of(organization: dict[str, Any], more: str = "") -> str:
    """The path of a page of an organization."""
    return f"organizations/{organization['id']}{more}"


async def entered(person: Member, organization: dict[str, Any], more: str = "") -> Page:
    """Sign in on a page of an organization, and return it."""
    customer, browser = person
    return await browser.sign_in(customer["email"], path=path_of(organization, more))


def section_of(page: Page, id: str) -> str:
    """The text of a section of the page, by the id of its heading."""
    section = page.text.partition(f'<section aria-labelledby="{id}">')[2].partition("</section>")[0]
    return " ".join(html.unescape(re.sub(r"<[^>]+>", " ", section)).split())
