"""Clients of the sign-in operations of a project, and the mail that customers receive."""

import asyncio
import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from functools import partial
from typing import Any
from uuid import UUID, uuid4

import pytest

from postern.messaging.emails.redaction import open_captured
from tests.conftest import Client

GOOD = "a password nobody has"
"""A password that the server accepts, and the one that `AuthClient` signs up with."""
WAIT_SECONDS = 60
"""Maximum time to wait for a mail; long, because the machine may be busy."""
BROWSER = "Mozilla/5.0 (X11; Linux) Firefox/128.0"


def new_address() -> str:
    return f"{uuid4().hex[:12]}@example.com"


@dataclass
class AuthClient:
    """A client of the sign-in operations of a project, as used by a browser."""

    app: Any
    project: Any
    run_due_work: Callable[[], Awaitable[int]]
    read_mail: Callable[[str], Awaitable[list[dict[str, Any]]]]
    ip: str = "203.0.113.7"
    agent: str = BROWSER
    token: str | None = None
    client: Client = field(init=False)

    def __post_init__(self) -> None:
        self.client = Client(self.app, self.token, f"/projects/{self.project.id}/auth", ip=self.ip)

    def as_(self, token: str | None) -> "AuthClient":
        """The same client with the access token of a customer."""
        return AuthClient(self.app, self.project, self.run_due_work, self.read_mail, self.ip, self.agent, token)

    def at(self, *, ip: str | None = None, agent: str | None = None) -> "AuthClient":
        """The same client with another IP address or user agent."""
        return AuthClient(
            self.app, self.project, self.run_due_work, self.read_mail, ip or self.ip, agent or self.agent, self.token
        )

    async def post(self, path: str, json: Any = None, **headers: str) -> Any:
        return await self.client.post(path, json, headers={"user-agent": self.agent, **headers})

    async def get(self, path: str) -> Any:
        return await self.client.get(path, headers={"user-agent": self.agent})

    async def settings(self, **sign_in: Any) -> None:
        """Change the project's `settings.signIn`."""
        response = await self.project.developer.patch("", {"settings": {"signIn": sign_in}})
        assert response.status_code == 200, response.text

    async def mails(self, address: str) -> list[dict[str, Any]]:
        """The mails to an address, oldest first."""
        await self.run_due_work()
        return await self.read_mail(address)

    async def code(self, address: str) -> str:
        """The newest code that was mailed to an address."""
        matches = [re.search(r"[:：] (\d{6})\b", mail["text"]) for mail in await self.mails(address)]
        return [match[1] for match in matches if match][-1]

    async def link_token(self, address: str) -> str:
        """The token of the newest link that was mailed to an address."""
        matches = [re.search(r"token=(\w+)", mail["text"]) for mail in await self.mails(address)]
        return [match[1] for match in matches if match][-1]

    async def signed_up(self, address: str | None = None, password: str | None = GOOD) -> dict[str, Any]:
        """Sign up a customer and verify the address. Returns the response with the tokens."""
        address = address or new_address()
        challenge = await self.post("/sign-up", {"email": address, **({"password": password} if password else {})})
        assert challenge.status_code == 201, challenge.text
        body = {"challengeId": challenge.json()["challengeId"], "code": await self.code(address)}
        verified = await self.post("/sign-up/verify", body)
        assert verified.status_code == 200, verified.text
        return verified.json()

    async def unverified(self, address: str | None = None) -> dict[str, Any]:
        """Sign up a customer whose address is not verified. Returns the response with the tokens."""
        await self.settings(verifyEmail="LATER")
        response = await self.post("/sign-up", {"email": address or new_address(), "password": GOOD})
        assert response.status_code == 201, response.text
        await self.settings(verifyEmail="REQUIRED")
        return response.json()

    async def sign_in(self, address: str, password: str = GOOD) -> Any:
        return await self.post("/sign-in", {"email": address, "password": password})


def _received_mail(world: Any, send_id: UUID, subject: str, body: Any, sealed: bytes | None) -> dict[str, Any]:
    if sealed is None:
        return {"subject": subject, "text": body["text"], "html": body["html"]}
    message = message_from_bytes(open_captured(world, send_id, sealed), policy=policy.default)
    parts: dict[str, Any] = {name: message.get_body((kind,)) for name, kind in (("text", "plain"), ("html", "html"))}
    return {"subject": subject, **{name: part.get_content() for name, part in parts.items()}}


async def received_mails(world: Any, project_id: str, address: str) -> list[dict[str, Any]]:
    """The mails to an address, oldest first: from the captured messages if there are any, or as they are stored."""
    queued_mails = "select 1 from sends where project_id = %s and recipient = %s and status = 'QUEUED'"
    async with asyncio.timeout(WAIT_SECONDS), world.db.connection() as connection:
        # Delivery runs in the background after the worker has accepted the mails: wait for it.
        while await (await connection.execute(queued_mails, [project_id, address])).fetchone():
            await asyncio.sleep(0.02)
        rows = await connection.execute(
            "select s.id, s.subject, b.body, c.sealed from sends s"
            " join send_bodies b on (b.project_id, b.send_id) = (s.project_id, s.id)"
            " left join captured_messages c on (c.project_id, c.send_id) = (s.project_id, s.id)"
            " where s.project_id = %s and s.recipient = %s order by s.id",
            [project_id, address],
        )
        return [_received_mail(world, *row) for row in await rows.fetchall()]


@pytest.fixture
def auth(app: Any, project: Any, run_due_work: Any, world: Any) -> AuthClient:
    return AuthClient(app, project, run_due_work, partial(received_mails, world, project.id))
