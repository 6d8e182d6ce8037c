"""Helpers for tests of accounts: reading a developer's mail, and adding members to an account."""

import re
from typing import Any
from uuid import uuid4

from postern.messaging.emails.system_mail import captured_system_mail
from tests.conftest import PASSWORD, Client, Tenant


def system_mails(world: Any, to: str) -> list[Any]:
    """The captured system mail to an address, oldest first."""
    return captured_system_mail(world, to)


def token_in(mail: Any) -> str:
    """The token of the only link in a mail."""
    text = mail.get_body(("plain",)).get_content()
    tokens = re.findall(r"\?token=(\w+)", text)
    assert len(tokens) == 1, text
    return tokens[0]


async def sign_up_and_verify(stranger: Client, run_due_work: Any, world: Any, email: str) -> str:
    """Sign up, follow the link in the mail, and sign in; returns the access token."""
    signed_up = await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD, "name": "Ada"})
    assert signed_up.status_code == 201, signed_up.text
    await run_due_work()
    token = token_in(system_mails(world, email)[-1])
    assert (await stranger.post("/auth/verify-email", {"token": token})).status_code == 200
    signed_in = await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})
    assert signed_in.status_code == 200, signed_in.text
    return signed_in.json()["accessToken"]


class AccountHelper:
    """An account with its owner, and helpers to add members."""

    def __init__(self, tenant: Tenant, stranger: Client, run_due_work: Any, world: Any) -> None:
        self.tenant, self.stranger, self.run_due_work, self.world = tenant, stranger, run_due_work, world
        self.owner = tenant.developer

    async def mail(self, to: str, subject: str | None = None) -> Any:
        """Run the workers, and return the latest mail to an address, with this subject if it is not None."""
        await self.run_due_work()
        return [mail for mail in system_mails(self.world, to) if subject is None or mail["Subject"] == subject][-1]

    async def invite(self, email: str, role: str = "DEVELOPER") -> str:
        """Invite an address to the account; returns the token from the mail."""
        response = await self.owner.post("/account/invitations", {"email": email, "role": role})
        assert response.status_code == 201, response.text
        return token_in(await self.mail(email, "You are invited to an account"))

    async def member(self, role: str = "DEVELOPER") -> tuple[str, Client]:
        """Add a member by invitation; returns the developer's id, and a client with their token."""
        email = f"{uuid4().hex[:12]}@example.com"
        token = await self.invite(email, role)
        signed_up = await self.stranger.post(
            "/auth/sign-up", {"email": email, "password": PASSWORD, "name": "Grace", "invitationToken": token}
        )
        assert signed_up.status_code == 201, signed_up.text
        return signed_up.json()["developer"]["id"], Client(
            self.stranger.app, signed_up.json()["accessToken"], self.owner.base
        )

    async def members(self) -> dict[str, str]:
        """The role of each member, keyed by the developer's id."""
        rows = (await self.owner.get("/account/members")).json()
        return {row["id"]: row["role"] for row in rows}
