"""The two kinds of people who sign in, as one table: tests of what they have in common run over both."""

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postern.identity.customers import tokens as customer_tokens
from postern.kernel.values import NO_ID
from postern.platform.accounts import operations as developer_operations
from postern.security.subjects import Subject
from tests.conftest import PASSWORD, Client
from tests.identity.customers.conftest import new_address
from tests.platform.accounts.members import House


@dataclass
class Person:
    """Somebody with a proven address and a password, and the operations of their kind.

    Each operation answers with its HTTP response. What differs between the kinds in paths and fields stands here: for
    another capability that both have, add a field here and a line to both functions of KINDS.
    """

    subject: Subject
    table: str
    """Where the row with `password_hash` is."""
    email: str
    password: str
    policy: Any
    """The module whose SESSIONS is the policy of this kind."""
    sign_in: Callable[..., Awaitable[Any]]
    """By a password, and from the network `ip`."""
    refresh: Callable[[str], Awaitable[Any]]
    sessions: Callable[[str], Awaitable[Any]]
    """The own sessions, by an access token."""
    end_session: Callable[[str, str], Awaitable[Any]]
    """By an access token and the session's id."""
    end_others: Callable[[str], Awaitable[Any]]
    change_password: Callable[[str, str, str], Awaitable[Any]]
    """By an access token, the present password and the new one."""
    at: Callable[[str], Client]
    """The sign-in operations from the network `ip`, without a session."""
    mine: Callable[[str], Client]
    """The same with the access token of a session."""
    enrol_path: str
    """Where an authenticator app is set up, below `mine`."""
    codes_field: str
    """Of the answer that shows recovery codes."""
    proof: dict[str, str]
    """What is sent to set up an authenticator app, and to begin to add a passkey."""
    begin: Callable[[str], Awaitable[Callable[[str], Awaitable[Any]]]]
    """Sign in with the password from the network `ip`; the result finishes that with a code of either kind."""


async def make_developer(house: House) -> Person:
    """A member of an account."""
    developer_id, client = await house.member()
    app, stranger = client.app, house.stranger
    email = (await client.get("/account")).json()["email"]

    async def begin(ip: str) -> Callable[[str], Awaitable[Any]]:
        at = Client(app, ip=ip)
        return lambda code: at.post("/auth/sign-in", {"email": email, "password": PASSWORD, "code": code})

    return Person(
        subject=Subject(project_id=NO_ID, id=UUID(developer_id)),
        table="developers",
        email=email,
        password=PASSWORD,
        policy=developer_operations,
        sign_in=lambda password, ip="127.0.0.1": Client(app, ip=ip).post(
            "/auth/sign-in", {"email": email, "password": password}
        ),
        refresh=lambda token: stranger.post("/auth/refresh", {"refreshToken": token}),
        sessions=lambda access: Client(app, access).get("/auth/sessions"),
        end_session=lambda access, session: Client(app, access).delete(f"/auth/sessions/{session}"),
        end_others=lambda access: Client(app, access).delete("/auth/sessions"),
        change_password=lambda access, old, new: Client(app, access).patch(
            "/account/password", {"currentPassword": old, "newPassword": new}
        ),
        at=lambda ip: Client(app, None, "/auth", ip=ip),
        mine=lambda ip: Client(app, client.token, "/auth", ip=ip),
        enrol_path="/mfa/totp",
        codes_field="recoveryCodes",
        proof={"password": PASSWORD},
        begin=begin,
    )


async def make_customer(house: House) -> Person:
    """A customer of a project."""
    email, project = new_address(), house.tenant
    body = {"email": email, "password": PASSWORD, "emailVerified": True}
    made = await project.client.post("/customers", body)
    assert made.status_code == 201, made.text

    def auth(access: str | None = None, ip: str = "127.0.0.1") -> Client:
        return Client(house.stranger.app, access, f"/projects/{project.id}/auth", ip=ip)

    token = (await auth().post("/sign-in", {"email": email, "password": PASSWORD})).json()["accessToken"]

    async def begin(ip: str) -> Callable[[str], Awaitable[Any]]:
        asked = (await auth(ip=ip).post("/sign-in", {"email": email, "password": PASSWORD})).json()["mfaToken"]
        return lambda code: auth(ip=ip).post(
            "/mfa/verify", {"mfaToken": asked, "code" if len(code) == 6 else "recoveryCode": code}
        )

    return Person(
        subject=Subject(project_id=UUID(project.id), id=UUID(made.json()["id"])),
        table="customers",
        email=email,
        password=PASSWORD,
        policy=customer_tokens,
        sign_in=lambda password, ip="127.0.0.1": auth(ip=ip).post("/sign-in", {"email": email, "password": password}),
        refresh=lambda token: auth().post("/token/refresh", {"refreshToken": token}),
        sessions=lambda access: auth(access).get("/sessions"),
        end_session=lambda access, session: auth(access).delete(f"/sessions/{session}"),
        end_others=lambda access: auth(access).post("/sessions/revoke-others"),
        change_password=lambda access, old, new: auth(access).post(
            "/password/change", {"currentPassword": old, "newPassword": new}
        ),
        at=lambda ip: auth(ip=ip),
        mine=lambda ip: auth(token, ip=ip),
        enrol_path="/mfa/totp/enroll",
        codes_field="codes",
        proof={},
        begin=begin,
    )


AT_ONCE = 50


def networks(count: int = AT_ONCE) -> list[str]:
    """Addresses in different networks, so that limits by network do not answer instead."""
    return [f"198.18.{number}.1" for number in range(count)]


KINDS = {"developer": make_developer, "customer": make_customer}
