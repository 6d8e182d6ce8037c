"""What a developer may do before the address is verified, and what verification revokes."""

import base64
import re
from datetime import timedelta
from uuid import uuid4

import pytest

from postern.app import OPERATIONS
from postern.platform.accounts.deletion import delete_stale_sign_ups
from postern.platform.projects.permissions import UNVERIFIED_PERMISSIONS
from postern.security.totp import code_at
from tests.conftest import PASSWORD, Client
from tests.platform.accounts.members import sign_up_and_verify, system_mails, token_in

NEW_PASSWORD = "an entirely new password"
MAIL = {"to": ["ada@example.com"], "from": "a@acme.example", "subject": "Hi", "text": "Hello"}


async def sign_up(stranger, email: str | None = None, password: str = PASSWORD) -> tuple[str, dict, Client]:
    email = email or f"{uuid4().hex[:12]}@example.com"
    signed_up = await stranger.post("/auth/sign-up", {"email": email, "password": password, "name": "Ada"})
    assert signed_up.status_code == 201, signed_up.text
    base = f"/projects/{signed_up.json()['projects'][0]['id']}"
    return email, signed_up.json(), Client(stranger.app, signed_up.json()["accessToken"], base)


FORBIDDEN = [
    operation
    for operation in OPERATIONS
    if "developer" in operation.accepts
    and not ((operation.needs in UNVERIFIED_PERMISSIONS) if operation.needs else operation.unverified)
]


async def test_an_unverified_developer_can_only_read_and_send_captured_mail(stranger):
    """All operations for developers are refused, except reading and sending mail, which is captured.

    Regression test of S6 (tests/defects.md).
    """
    _, signed_up, session = await sign_up(stranger)
    project = signed_up["projects"][0]["id"]
    assert {"create_api_key", "invite_account_member", "enrol_developer_totp", "create_project", "change_project"} <= {
        operation.name for operation in FORBIDDEN
    }
    for operation in FORBIDDEN:
        path = re.sub(r"{(project_id|app_id)}", project, operation.path)
        path = "http://postern.test" + re.sub(r"{\w+}", str(uuid4()), path)
        response = await session.request(operation.method, path, json={} if operation.method != "GET" else None)
        assert (response.status_code, response.json()["code"]) == (403, "email_unverified"), (
            f"{operation.method} {path}"
        )
    assert "/auth/verify-email/resend" in response.json()["detail"]
    assert "postern developers mail" in response.json()["detail"]
    for path in ("", "/emails/logs", "/account", "http://postern.test/projects"):
        assert (await session.get(path)).status_code == 200


async def test_mail_of_an_unverified_account_is_captured_until_verification(stranger, run_due_work, world, app):
    """The session's mail is captured; after the verification, the project sends through the default transport.

    Regression test of S6 (tests/defects.md).
    """
    email, signed_up, session = await sign_up(stranger)
    assert signed_up["projects"][0]["settings"]["transport"] == "capture"
    sent = await session.post("/emails", MAIL)
    assert (sent.status_code, sent.json()["status"]) == (201, "DELIVERED")
    await run_due_work()
    token = token_in(system_mails(world, email)[-1])
    assert (await stranger.post("/auth/verify-email", {"token": token})).status_code == 200
    signed_in = (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).json()
    assert signed_in["projects"][0]["settings"]["transport"] is None
    key = await Client(app, signed_in["accessToken"]).post(f"{session.base}/api-keys", {"name": "k"})
    assert key.status_code == 201


@pytest.mark.parametrize("method", ["link", "reset"])
async def test_verification_ends_earlier_sessions_keys_and_invitations(stranger, run_due_work, world, app, method):
    """An attacker signed up with the victim's address and created what an earlier release allowed: sessions, a key, a
    member, an invitation and a second factor.

    Regression test of S6 (tests/defects.md).
    """
    victim, _, attacker = await sign_up(stranger, password="the attacker's own password")
    await set_verified(world, victim, verified=True)
    key = (await attacker.post("/api-keys", {"name": "mine"})).json()["key"]
    invited_address = f"{uuid4().hex[:12]}@example.com"
    assert (await attacker.post("/account/invitations", {"email": invited_address, "role": "ADMIN"})).status_code == 201
    await run_due_work()
    joined = await stranger.post(
        "/auth/sign-up",
        {
            "email": invited_address,
            "password": PASSWORD,
            "invitationToken": token_in(system_mails(world, invited_address)[-1]),
        },
    )
    member = Client(app, joined.json()["accessToken"], attacker.base)
    assert (await member.post("/account/invitations", {"email": f"{uuid4().hex}@example.com"})).status_code == 201
    secret = (await attacker.post("/auth/mfa/totp", {"password": "the attacker's own password"})).json()["secret"]
    code = code_at(base64.b32decode(secret + "=" * (-len(secret) % 8)), int(world.clock().timestamp()) // 30)
    assert (await attacker.post("/auth/mfa/totp/confirm", {"code": code})).status_code == 200
    await set_verified(world, victim, verified=False)

    if method == "link":
        assert (await attacker.post("/auth/verify-email/resend")).status_code == 204
        await run_due_work()
        confirmed = {"token": token_in(system_mails(world, victim)[-1])}
        assert (await stranger.post("/auth/verify-email", confirmed)).status_code == 200
        password = "the attacker's own password"
    else:
        assert (await stranger.post("/auth/password/forgot", {"email": victim})).status_code == 204
        await run_due_work()
        reset = {"token": token_in(system_mails(world, victim)[-1]), "newPassword": NEW_PASSWORD}
        assert (await stranger.post("/auth/password/reset", reset)).status_code == 204
        old = {"email": victim, "password": "the attacker's own password"}
        assert (await stranger.post("/auth/sign-in", old)).status_code == 401
        password = NEW_PASSWORD
    assert (await attacker.get("/account")).status_code == 401
    assert (await member.get("/account")).status_code == 401
    assert (await Client(app, key, attacker.base).get("")).status_code == 401
    signed_in = await stranger.post("/auth/sign-in", {"email": victim, "password": password})
    assert signed_in.status_code == 200, "the second factor was deleted"
    owner = Client(app, signed_in.json()["accessToken"], attacker.base)
    assert [member["email"] for member in (await owner.get("/account/members")).json()] == [victim]
    assert (await owner.get("/account/invitations")).json() == []
    assert (await owner.get("/api-keys")).json() == []


async def set_verified(world, email: str, *, verified: bool) -> None:
    async with world.db.connection() as connection:
        value = "now()" if verified else "null"
        await connection.execute(f"update developers set email_verified_at = {value} where email = %s", [email])


async def test_sign_up_does_not_reveal_whether_an_account_exists(stranger, run_due_work, world, project):
    """Response and session are the same for a known address; its owner is informed by mail.

    Regression test of S10 (tests/defects.md).
    """
    observations = []
    for email in (project.email, f"{uuid4().hex[:12]}@example.com"):
        _, signed_up, session = await sign_up(stranger, email)
        assert signed_up["developer"]["email"] == email
        signed_in = await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD + "?"})
        again = await session.post("/auth/verify-email/resend")
        profile = (await session.get("/account")).json()
        observations.append(
            [sorted(signed_up), signed_in.status_code, signed_in.json()["detail"], again.status_code, sorted(profile)]
        )
    assert observations[0] == observations[1]
    await run_due_work()
    mails = system_mails(world, project.email)
    assert {mail["Subject"] for mail in mails} == {"You already have an account"}
    assert not any("token=" in mail.get_body(("plain",)).get_content() for mail in mails)
    assert (await stranger.post("/auth/sign-in", {"email": project.email, "password": PASSWORD})).status_code == 200


async def test_mails_to_one_address_are_limited(stranger):
    """Regression test of S10 (tests/defects.md)."""
    email = f"{uuid4().hex[:12]}@example.com"
    responses = [await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD}) for _ in range(6)]
    assert [response.status_code for response in responses] == [201] * 5 + [429]


async def test_an_unverified_sign_up_is_deleted(stranger, run_due_work, world, clock):
    """Regression test of S6 (tests/defects.md)."""
    email, signed_up, session = await sign_up(stranger)
    verified_address = f"{uuid4().hex[:12]}@example.com"
    await sign_up_and_verify(stranger, run_due_work, world, verified_address)
    clock.move(timedelta(days=7, seconds=1))
    while await delete_stale_sign_ups(world):
        pass
    await run_due_work()
    assert (await session.post("/auth/refresh", {"refreshToken": signed_up["refreshToken"]})).status_code == 401
    async with world.db.connection() as connection:
        rows = await connection.execute(
            "select email from developers where email = any(%s)", [[email, verified_address]]
        )
        assert await rows.fetchall() == [(verified_address,)]
