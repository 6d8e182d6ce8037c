"""Developers and customers behind one interface, so that tests of their common behaviour run for both."""

import re
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from postern.identity.customers import tokens as customer_tokens
from postern.kernel.values import NO_ID
from postern.platform.accounts import operations as developer_operations
from postern.security.subjects import Subject
from tests.conftest import PASSWORD, Client
from tests.identity.customers.conftest import new_address, received_mails
from tests.platform.accounts.members import AccountHelper, token_in


@dataclass
class Person:
    """A developer or customer with a verified address and a password, and the operations of this kind of person.

    Each operation returns its HTTP response. The fields hide the different paths and JSON names of the two kinds. To
    test another common operation, add a field here and set it in both functions of KINDS.
    """

    subject: Subject
    table: str
    """The table that has the person's `password_hash`."""
    email: str
    password: str
    sessions_module: Any
    """The module whose constant SESSIONS is the SessionPolicy of this kind."""
    sign_in: Callable[..., Awaitable[Any]]
    """Sign in with a password, from the address `ip`."""
    refresh: Callable[[str], Awaitable[Any]]
    """Exchange a refresh token."""
    sessions: Callable[[str], Awaitable[Any]]
    """List the own sessions with an access token."""
    end_session: Callable[[str, str], Awaitable[Any]]
    """Arguments: access token, id of the session to end."""
    end_others: Callable[[str], Awaitable[Any]]
    """End all sessions except that of an access token."""
    change_password: Callable[[str, str, str], Awaitable[Any]]
    """Arguments: access token, current password, new password."""
    anonymous_client: Callable[[str], Client]
    """A client for the sign-in operations from an IP address, without a session."""
    session_client: Callable[[str], Client]
    """Like `anonymous_client`, with the access token of a session."""
    enrol_path: str
    """The path at which `session_client` sets up an authenticator app."""
    codes_field: str
    """The field of a response that has the recovery codes."""
    confirmation: dict[str, str]
    """The body that confirms who sets up an authenticator app or adds a passkey: the password, or nothing."""
    request_reset: Callable[..., Awaitable[Any]]
    """Request a mail with a link that resets the password of an address, from the address `ip`. Arguments: `ip`, and
    the e-mail address if it is not the person's."""
    reset_token: Callable[[], Awaitable[str]]
    """The token of the newest reset link that was mailed to the person."""
    reset_password: Callable[[str, str, str], Awaitable[Any]]
    """Arguments: token, new password, `ip`."""
    begin_sign_in: Callable[[str], Awaitable[Callable[[str], Awaitable[Any]]]]
    """Sign in with the password from an IP address; returns a function that finishes the sign-in with a TOTP or
    recovery code."""


async def make_developer(house: AccountHelper) -> Person:
    """A member of an account."""
    developer_id, client = await house.member()
    app, stranger = client.app, house.stranger
    email = (await client.get("/account")).json()["email"]

    async def begin_sign_in(ip: str) -> Callable[[str], Awaitable[Any]]:
        anonymous = Client(app, ip=ip)
        return lambda code: anonymous.post("/auth/sign-in", {"email": email, "password": PASSWORD, "code": code})

    async def reset_token() -> str:
        return token_in(await house.mail(email, "Reset your password"))

    return Person(
        subject=Subject(project_id=NO_ID, id=UUID(developer_id)),
        table="developers",
        email=email,
        password=PASSWORD,
        sessions_module=developer_operations,
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
        anonymous_client=lambda ip: Client(app, None, "/auth", ip=ip),
        session_client=lambda ip: Client(app, client.token, "/auth", ip=ip),
        enrol_path="/mfa/totp",
        codes_field="recoveryCodes",
        confirmation={"password": PASSWORD},
        request_reset=lambda ip, address=email: Client(app, ip=ip).post("/auth/password/forgot", {"email": address}),
        reset_token=reset_token,
        reset_password=lambda token, password, ip: Client(app, ip=ip).post(
            "/auth/password/reset", {"token": token, "newPassword": password}
        ),
        begin_sign_in=begin_sign_in,
    )


async def make_customer(house: AccountHelper) -> Person:
    """A customer of a project."""
    email, project = new_address(), house.tenant
    body = {"email": email, "password": PASSWORD, "emailVerified": True}
    created = await project.client.post("/customers", body)
    assert created.status_code == 201, created.text

    def auth(access: str | None = None, ip: str = "127.0.0.1") -> Client:
        return Client(house.stranger.app, access, f"/projects/{project.id}/auth", ip=ip)

    token = (await auth().post("/sign-in", {"email": email, "password": PASSWORD})).json()["accessToken"]

    async def begin_sign_in(ip: str) -> Callable[[str], Awaitable[Any]]:
        mfa_token = (await auth(ip=ip).post("/sign-in", {"email": email, "password": PASSWORD})).json()["mfaToken"]
        return lambda code: auth(ip=ip).post(
            "/mfa/verify", {"mfaToken": mfa_token, "code" if len(code) == 6 else "recoveryCode": code}
        )

    async def reset_token() -> str:
        await house.run_due_work()
        mails = await received_mails(house.world, project.id, email)
        # Other mails, such as that about the lock, are sent at the same time, in any order.
        return [token for mail in mails for token in re.findall(r"token=(\w+)", mail["text"])][-1]

    return Person(
        subject=Subject(project_id=UUID(project.id), id=UUID(created.json()["id"])),
        table="customers",
        email=email,
        password=PASSWORD,
        sessions_module=customer_tokens,
        sign_in=lambda password, ip="127.0.0.1": auth(ip=ip).post("/sign-in", {"email": email, "password": password}),
        refresh=lambda token: auth().post("/token/refresh", {"refreshToken": token}),
        sessions=lambda access: auth(access).get("/sessions"),
        end_session=lambda access, session: auth(access).delete(f"/sessions/{session}"),
        end_others=lambda access: auth(access).post("/sessions/revoke-others"),
        change_password=lambda access, old, new: auth(access).post(
            "/password/change", {"currentPassword": old, "newPassword": new}
        ),
        anonymous_client=lambda ip: auth(ip=ip),
        session_client=lambda ip: auth(token, ip=ip),
        enrol_path="/mfa/totp/enroll",
        codes_field="codes",
        confirmation={},
        request_reset=lambda ip, address=email: auth(ip=ip).post("/password/forgot", {"email": address}),
        reset_token=reset_token,
        reset_password=lambda token, password, ip: auth(ip=ip).post(
            "/password/reset", {"token": token, "password": password}
        ),
        begin_sign_in=begin_sign_in,
    )


CONCURRENT_REQUESTS = 50


def ip_addresses(count: int = CONCURRENT_REQUESTS) -> list[str]:
    """Addresses in different networks, so that no limit per network is reached."""
    return [f"198.18.{number}.1" for number in range(count)]


KINDS = {"developer": make_developer, "customer": make_customer}
"""The functions that create a Person of each kind."""
