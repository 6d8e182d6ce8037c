"""A project whose sign-in hooks call a server on loopback."""

import json
from dataclasses import dataclass, field
from ipaddress import ip_network
from typing import Any

import msgspec
import pytest

from postern.kernel.config import Settings
from tests.identity.customers.conftest import auth
from tests.peers.http_receiver import Received, Receiver, Reply, http_receiver

__all__ = ["auth"]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(settings, outbound_allow=(ip_network("127.0.0.0/8"),))


@dataclass
class HookServer:
    """The project's server, and its hooks."""

    project: Any
    receiver: Receiver
    secrets: dict[str, str] = field(default_factory=dict[str, str])

    async def create(self, kind: str, answer: Any = None, **fields: Any) -> dict[str, Any]:
        """Create a hook that answers with this document, or a Reply."""
        self.answer(kind, answer)
        body = {"kind": kind, "url": self.receiver.url(f"/{kind}"), "timeoutMs": 1_000, **fields}
        response = await self.project.developer.post("/sign-in-hooks", body)
        assert response.status_code == 201, response.text
        self.secrets[kind] = response.json()["secret"]
        return response.json()

    def answer(self, kind: str, *answers: Any) -> None:
        replies = [
            answer if isinstance(answer, Reply) else Reply(body=b"" if answer is None else json.dumps(answer).encode())
            for answer in answers
        ]
        self.receiver.script(f"/{kind}", *replies)

    def calls(self, kind: str) -> list[Received]:
        return self.receiver.received(f"/{kind}")

    async def get(self, kind: str) -> dict[str, Any]:
        return (await self.project.client.get(f"/sign-in-hooks/{kind}")).json()


@pytest.fixture
async def hooks(project):
    async with http_receiver() as receiver:
        yield HookServer(project, receiver)
