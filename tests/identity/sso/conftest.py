"""An organization with a verified domain, its identity provider, and a browser between the two."""

import base64
import hashlib
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

import pytest

from tests.conftest import Client
from tests.identity.customers.conftest import auth
from tests.identity.organizations.conftest import Directory, directory
from tests.peers.identity_provider import IdentityProvider, Person

__all__ = ["auth", "directory"]

REDIRECT_URL = "https://app.example.com/back"
VERIFIER = "v" * 50
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def idp(clock: Any) -> IdentityProvider:
    return IdentityProvider(now=clock(), person=Person())


@dataclass
class Acme:
    """An organization with a verified domain, an identity provider, and a connection to it after `connect`."""

    directory: Directory
    idp: IdentityProvider
    organization: dict[str, Any]
    domain: dict[str, Any]
    app: Any
    clock: Any
    connection: dict[str, Any] = field(default_factory=dict)

    @property
    def client(self) -> Client:
        return self.directory.project.client

    @property
    def connections_path(self) -> str:
        return f"/b2b/organizations/{self.organization['id']}/sso-connections"

    @property
    def connection_path(self) -> str:
        return f"{self.connections_path}/{self.connection['id']}"

    def idp_fields(self) -> dict[str, Any]:
        return {
            "idpEntityId": self.idp.entity_id,
            "idpSsoUrl": f"{self.idp.base}/login",
            "idpSloUrl": f"{self.idp.base}/logout",
            "idpCertificate": [self.idp.certificate],
        }

    async def connect(self, *, active: bool = True, **fields: Any) -> dict[str, Any]:
        body = {"name": "Acme", "domain": self.domain["domain"], **self.idp_fields(), **fields}
        response = await self.client.post(self.connections_path, body)
        assert response.status_code == 201, response.text
        self.connection = response.json()
        if active:
            activated = await self.client.post(f"{self.connection_path}/activate")
            assert activated.status_code == 200, activated.text
            self.connection = activated.json()
        return self.connection

    async def change(self, **fields: Any) -> dict[str, Any]:
        changed = await self.client.patch(self.connection_path, fields)
        assert changed.status_code == 200, changed.text
        self.connection = changed.json()
        return self.connection

    async def remove_domain(self) -> None:
        """Remove the domain from the organization."""
        path = f"/b2b/organizations/{self.organization['id']}/domains/{self.domain['id']}"
        assert (await self.client.delete(path)).status_code == 200

    def advance_clock_to_now(self) -> None:
        """Move the test clock forward to the real time, which an identity provider in another process uses."""
        self.clock.move(max(datetime.now(UTC) - self.clock(), timedelta()))

    def address(self, local: str | None = None) -> str:
        return f"{local or uuid4().hex[:10]}@{self.domain['domain']}"

    def browser(self) -> "Browser":
        return Browser(self)

    async def traces(self) -> list[dict[str, Any]]:
        return (await self.client.get(f"{self.connection_path}/traces")).json()

    async def customer_count(self) -> int:
        return (await self.client.get("/customers/stats")).json()["total"]


class Browser:
    """A browser with cookies that signs on at the connection of an organization."""

    def __init__(self, acme: Acme) -> None:
        self.acme = acme
        self.client = Client(acme.app)
        self.base = f"http://127.0.0.1:8025/sso/saml/{acme.connection['id']}"

    async def start(self, **fields: str) -> Any:
        """Start a sign-on as the app does. Returns the redirect to the identity provider."""
        query = {"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE, "state": "app-state", **fields}
        return await self.client.get(f"{self.base}/login?{urlencode(query)}")

    async def post(self, url: str, form: dict[str, str]) -> Any:
        return await self.client.request("POST", url, data=form)

    async def sign_on(self, email: str | None = None, **changes: Any) -> Any:
        """Start a sign-on and post the response of the identity provider. Returns the response of `/acs`."""
        started = await self.start()
        assert started.status_code == 302, started.text
        return await self.post(*self.idp_response(started.headers["location"], email, **changes))

    def idp_response(self, location: str, email: str | None = None, **changes: Any) -> tuple[str, dict[str, str]]:
        """The response of the identity provider to the request in `location`: the URL to post to, and the form."""
        self.acme.idp.now = self.acme.clock()
        if email is not None:
            changes = {"person": person(email), **changes}
        return self.acme.idp.answer(location, **changes)

    async def idp_initiated_sign_on(self, email: str, **changes: Any) -> Any:
        """Post a response of the identity provider without a request. Returns the response of `/acs`."""
        idp = self.acme.idp
        idp.now = self.acme.clock()
        entity_id, acs_url = self.acme.connection["spEntityId"], self.acme.connection["spAcsUrl"]
        claims = idp.claims(**{"acs_url": acs_url, "audience": entity_id, "person": person(email), **changes})
        return await self.post(acs_url, {"SAMLResponse": base64.b64encode(idp.sign_on(claims)).decode()})

    async def exchange_code(self, answer: Any) -> dict[str, Any]:
        """Exchange the code in the redirect `answer` for a session."""
        query = query_of(answer)
        assert "code" in query, query
        path = f"/projects/{self.acme.directory.project.id}/auth/token"
        response = await self.client.post(path, {"code": query["code"], "codeVerifier": VERIFIER})
        assert response.status_code == 200, response.text
        return response.json()

    async def sign_in(self, email: str, **changes: Any) -> dict[str, Any]:
        """Sign on and exchange the code. Returns the session."""
        return await self.exchange_code(await self.sign_on(email, **changes))


def person(email: str, *, name_id: str | None = None, **attributes: list[str]) -> Person:
    return Person(
        name_id=name_id or f"subject-of-{email}",
        format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
        attributes={"email": [email], "displayName": ["Maria"], **attributes},
        session_index=f"_session-{email}",
    )


def query_of(answer: Any) -> dict[str, str]:
    """The query of a redirect to REDIRECT_URL."""
    assert answer.status_code in (302, 303), answer.text
    assert answer.headers["location"].startswith(REDIRECT_URL), answer.headers["location"]
    return dict(parse_qsl(urlsplit(answer.headers["location"]).query))


@pytest.fixture
async def acme(directory: Directory, idp: IdentityProvider, app: Any, clock: Any, auth: Any) -> Acme:
    await auth.settings(redirectUrls=[REDIRECT_URL])
    organization = await directory.organization("Acme")
    domain = await directory.verified_domain(organization, f"{uuid4().hex[:10]}.example", auto_join=False)
    return Acme(directory, idp, organization, domain, app, clock)


@pytest.fixture
async def connected(acme: Acme) -> Acme:
    await acme.connect()
    return acme
