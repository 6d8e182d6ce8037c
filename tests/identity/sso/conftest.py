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
    """An organization with a domain of its own, and a connection to its identity provider."""

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
    def path(self) -> str:
        return f"/b2b/organizations/{self.organization['id']}/sso-connections"

    @property
    def here(self) -> str:
        return f"{self.path}/{self.connection['id']}"

    def idp_fields(self) -> dict[str, Any]:
        return {
            "idpEntityId": self.idp.entity_id,
            "idpSsoUrl": f"{self.idp.base}/login",
            "idpSloUrl": f"{self.idp.base}/logout",
            "idpCertificate": [self.idp.certificate],
        }

    async def connect(self, *, active: bool = True, **fields: Any) -> dict[str, Any]:
        body = {"name": "Acme", "domain": self.domain["domain"], **self.idp_fields(), **fields}
        made = await self.client.post(self.path, body)
        assert made.status_code == 201, made.text
        self.connection = made.json()
        if active:
            switched = await self.client.post(f"{self.here}/activate")
            assert switched.status_code == 200, switched.text
            self.connection = switched.json()
        return self.connection

    async def change(self, **fields: Any) -> dict[str, Any]:
        changed = await self.client.patch(self.here, fields)
        assert changed.status_code == 200, changed.text
        self.connection = changed.json()
        return self.connection

    async def lapse(self) -> None:
        """The organization loses its domain."""
        path = f"/b2b/organizations/{self.organization['id']}/domains/{self.domain['id']}"
        assert (await self.client.delete(path)).status_code == 200

    def keep_up(self) -> None:
        """Let our clock go on to the real time, which a provider in a process of its own goes by."""
        self.clock.move(max(datetime.now(UTC) - self.clock(), timedelta()))

    def address(self, local: str | None = None) -> str:
        return f"{local or uuid4().hex[:10]}@{self.domain['domain']}"

    def browser(self) -> "Browser":
        return Browser(self)

    async def traces(self) -> list[dict[str, Any]]:
        return (await self.client.get(f"{self.here}/traces")).json()

    async def customers(self) -> int:
        return (await self.client.get("/customers/stats")).json()["total"]


class Browser:
    """Somebody's browser: keeps cookies, goes where it is sent, and posts what it is told to."""

    def __init__(self, acme: Acme) -> None:
        self.acme = acme
        self.client = Client(acme.app)
        self.base = f"http://127.0.0.1:8025/sso/saml/{acme.connection['id']}"

    async def start(self, **fields: str) -> Any:
        """Begin at the app: the answer that sends the browser to the identity provider."""
        query = {"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE, "state": "mine", **fields}
        return await self.client.get(f"{self.base}/login?{urlencode(query)}")

    async def post(self, url: str, form: dict[str, str]) -> Any:
        return await self.client.request("POST", url, data=form)

    async def arrive(self, email: str | None = None, **changes: Any) -> Any:
        """Sign on from start to the answer of our consumer of assertions."""
        started = await self.start()
        assert started.status_code == 302, started.text
        return await self.post(*self.answer(started.headers["location"], email, **changes))

    def answer(self, location: str, email: str | None = None, **changes: Any) -> tuple[str, dict[str, str]]:
        self.acme.idp.now = self.acme.clock()
        if email is not None:
            changes = {"person": person(email), **changes}
        return self.acme.idp.answer(location, **changes)

    async def unsolicited(self, email: str, **changes: Any) -> Any:
        """A response that nobody asked for."""
        idp = self.acme.idp
        idp.now = self.acme.clock()
        entity_id, acs_url = self.acme.connection["spEntityId"], self.acme.connection["spAcsUrl"]
        claims = idp.claims(**{"acs_url": acs_url, "audience": entity_id, "person": person(email), **changes})
        return await self.post(acs_url, {"SAMLResponse": base64.b64encode(idp.sign_on(claims)).decode()})

    async def redeem(self, answer: Any) -> dict[str, Any]:
        """The session that the app makes of what came back."""
        back = query_of(answer)
        assert "code" in back, back
        path = f"/projects/{self.acme.directory.project.id}/auth/token"
        done = await self.client.post(path, {"code": back["code"], "codeVerifier": VERIFIER})
        assert done.status_code == 200, done.text
        return done.json()

    async def sign_in(self, email: str, **changes: Any) -> dict[str, Any]:
        return await self.redeem(await self.arrive(email, **changes))


def person(email: str, *, name_id: str | None = None, **attributes: list[str]) -> Person:
    return Person(
        name_id=name_id or f"subject-of-{email}",
        format="urn:oasis:names:tc:SAML:2.0:nameid-format:persistent",
        attributes={"email": [email], "displayName": ["Maria"], **attributes},
        session_index=f"_session-{email}",
    )


def query_of(answer: Any) -> dict[str, str]:
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
