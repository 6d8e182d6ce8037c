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
from tests.platform.accounts.members import proven_sign_up, system_mails, token_in

NEW = "an entirely new password"
MAIL = {"to": ["ada@example.com"], "from": "a@acme.example", "subject": "Hi", "text": "Hello"}


async def sign_up(stranger, email: str | None = None, password: str = PASSWORD) -> tuple[str, dict, Client]:
    email = email or f"{uuid4().hex[:12]}@example.com"
    up = await stranger.post("/auth/sign-up", {"email": email, "password": password, "name": "Ada"})
    assert up.status_code == 201, up.text
    base = f"/projects/{up.json()['projects'][0]['id']}"
    return email, up.json(), Client(stranger.app, up.json()["accessToken"], base)


CLOSED = [
    each
    for each in OPERATIONS
    if "developer" in each.accepts and not ((each.needs in UNVERIFIED_PERMISSIONS) if each.needs else each.unverified)
]


async def test_an_unverified_developer_can_only_read_and_send_captured_mail(stranger):
    """All operations for developers are refused, except reading and sending mail, which is captured.

    Defects: S6
    """
    _, up, session = await sign_up(stranger)
    project = up["projects"][0]["id"]
    assert {"create_api_key", "invite_account_member", "enrol_developer_totp", "create_project", "change_project"} <= {
        each.name for each in CLOSED
    }
    for each in CLOSED:
        path = re.sub(r"{(project_id|app_id)}", project, each.path)
        path = "http://postern.test" + re.sub(r"{\w+}", str(uuid4()), path)
        answer = await session.request(each.method, path, json={} if each.method != "GET" else None)
        assert (answer.status_code, answer.json()["code"]) == (403, "email_unverified"), f"{each.method} {path}"
    assert "/auth/verify-email/resend" in answer.json()["detail"]
    assert "postern developers mail" in answer.json()["detail"]
    for path in ("", "/emails/logs", "/account", "http://postern.test/projects"):
        assert (await session.get(path)).status_code == 200


async def test_mail_of_an_unverified_account_is_captured_until_verification(stranger, work_off, world, app):
    """Mail that its session sends, and mail caused by customers who sign in to its project.

    Defects: S6
    """
    email, up, session = await sign_up(stranger)
    assert up["projects"][0]["settings"]["transport"] == "capture"
    sent = await session.post("/emails", MAIL)
    assert (sent.status_code, sent.json()["status"]) == (201, "DELIVERED")
    await work_off()
    token = token_in(system_mails(world, email)[-1])
    assert (await stranger.post("/auth/verify-email", {"token": token})).status_code == 200
    into = (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).json()
    assert into["projects"][0]["settings"]["transport"] is None
    key = await Client(app, into["accessToken"]).post(f"{session.base}/api-keys", {"name": "k"})
    assert key.status_code == 201


@pytest.mark.parametrize("proof", ["link", "reset"])
async def test_verification_ends_earlier_sessions_keys_and_invitations(stranger, work_off, world, app, proof):
    """An attacker signed up with the victim's address and created what an earlier release allowed: sessions, a key, a
    member, an invitation and a second factor.

    Defects: S6
    """
    victim, _, thief = await sign_up(stranger, password="the thief's own password")
    await set_proven(world, victim, proven=True)
    key = (await thief.post("/api-keys", {"name": "mine"})).json()["key"]
    guest = f"{uuid4().hex[:12]}@example.com"
    assert (await thief.post("/account/invitations", {"email": guest, "role": "ADMIN"})).status_code == 201
    await work_off()
    joined = await stranger.post(
        "/auth/sign-up",
        {"email": guest, "password": PASSWORD, "invitationToken": token_in(system_mails(world, guest)[-1])},
    )
    member = Client(app, joined.json()["accessToken"], thief.base)
    assert (await member.post("/account/invitations", {"email": f"{uuid4().hex}@example.com"})).status_code == 201
    secret = (await thief.post("/auth/mfa/totp", {"password": "the thief's own password"})).json()["secret"]
    code = code_at(base64.b32decode(secret + "=" * (-len(secret) % 8)), int(world.clock().timestamp()) // 30)
    assert (await thief.post("/auth/mfa/totp/confirm", {"code": code})).status_code == 200
    await set_proven(world, victim, proven=False)

    if proof == "link":
        assert (await thief.post("/auth/verify-email/resend")).status_code == 204
        await work_off()
        confirmed = {"token": token_in(system_mails(world, victim)[-1])}
        assert (await stranger.post("/auth/verify-email", confirmed)).status_code == 200
        password = "the thief's own password"
    else:
        assert (await stranger.post("/auth/password/forgot", {"email": victim})).status_code == 204
        await work_off()
        reset = {"token": token_in(system_mails(world, victim)[-1]), "newPassword": NEW}
        assert (await stranger.post("/auth/password/reset", reset)).status_code == 204
        old = {"email": victim, "password": "the thief's own password"}
        assert (await stranger.post("/auth/sign-in", old)).status_code == 401
        password = NEW
    assert (await thief.get("/account")).status_code == 401
    assert (await member.get("/account")).status_code == 401
    assert (await Client(app, key, thief.base).get("")).status_code == 401
    into = await stranger.post("/auth/sign-in", {"email": victim, "password": password})
    assert into.status_code == 200, "no second factor stands in the way"
    owner = Client(app, into.json()["accessToken"], thief.base)
    assert [each["email"] for each in (await owner.get("/account/members")).json()] == [victim]
    assert (await owner.get("/account/invitations")).json() == []
    assert (await owner.get("/api-keys")).json() == []


async def set_proven(world, email: str, *, proven: bool) -> None:
    async with world.db.connection() as connection:
        value = "now()" if proven else "null"
        await connection.execute(f"update developers set email_verified_at = {value} where email = %s", [email])


async def test_sign_up_does_not_reveal_whether_an_account_exists(stranger, work_off, world, project):
    """Response and session are the same for a known address; its owner is informed by mail.

    Defects: S10
    """
    shapes = []
    for email in (project.email, f"{uuid4().hex[:12]}@example.com"):
        _, up, session = await sign_up(stranger, email)
        assert up["developer"]["email"] == email
        into = await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD + "?"})
        again = await session.post("/auth/verify-email/resend")
        profile = (await session.get("/account")).json()
        shapes.append([sorted(up), into.status_code, into.json()["detail"], again.status_code, sorted(profile)])
    assert shapes[0] == shapes[1]
    await work_off()
    told = system_mails(world, project.email)
    assert {each["Subject"] for each in told} == {"You already have an account"}
    assert not any("token=" in each.get_body(("plain",)).get_content() for each in told)
    assert (await stranger.post("/auth/sign-in", {"email": project.email, "password": PASSWORD})).status_code == 200


async def test_mails_to_one_address_are_limited(stranger):
    """Defects: S10"""
    email = f"{uuid4().hex[:12]}@example.com"
    answers = [await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD}) for _ in range(6)]
    assert [each.status_code for each in answers] == [201] * 5 + [429]


async def test_an_unverified_sign_up_is_deleted(stranger, work_off, world, clock):
    """Defects: S6"""
    email, up, session = await sign_up(stranger)
    kept = f"{uuid4().hex[:12]}@example.com"
    await proven_sign_up(stranger, work_off, world, kept)
    clock.move(timedelta(days=7, seconds=1))
    while await delete_stale_sign_ups(world):
        pass
    await work_off()
    assert (await session.post("/auth/refresh", {"refreshToken": up["refreshToken"]})).status_code == 401
    async with world.db.connection() as connection:
        rows = await connection.execute("select email from developers where email = any(%s)", [[email, kept]])
        assert await rows.fetchall() == [(kept,)]
