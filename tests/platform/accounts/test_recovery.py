"""Confirmation of addresses, and password reset."""

from datetime import timedelta
from uuid import uuid4

import pytest

from tests.conftest import PASSWORD, Client
from tests.platform.accounts.members import system_mails, token_in

NEW = "an entirely new password"


async def sign_up(stranger) -> tuple[str, Client]:
    """Create an account with an unverified address; returns the address and a client with its session."""
    email = f"{uuid4().hex[:12]}@example.com"
    up = await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD})
    assert up.status_code == 201, up.text
    return email, Client(stranger.app, up.json()["accessToken"])


async def test_a_sign_up_sends_a_confirmation_mail(house, stranger):
    email, session = await sign_up(stranger)
    token = token_in(await house.mail(email))
    assert (await session.get("/account")).json()["emailVerifiedAt"] is None
    assert (await stranger.post("/auth/verify-email", {"token": token})).json() == {"email": email}
    into = await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})
    assert into.json()["developer"]["emailVerifiedAt"] is not None
    again = await stranger.post("/auth/verify-email", {"token": token})
    assert (again.status_code, again.json()["code"]) == (400, "link_invalid")


async def test_only_the_newest_confirmation_link_works_for_a_day(house, stranger, clock):
    email, session = await sign_up(stranger)
    first = token_in(await house.mail(email))
    assert (await session.post("/auth/verify-email/resend")).status_code == 204
    second = token_in(await house.mail(email))
    assert first != second
    assert (await stranger.post("/auth/verify-email", {"token": first})).status_code == 400
    clock.move(timedelta(hours=24, seconds=1))
    assert (await stranger.post("/auth/verify-email", {"token": second})).status_code == 400


async def test_a_password_reset_ends_all_sessions(house, stranger):
    email = house.tenant.email
    assert (await stranger.post("/auth/password/forgot", {"email": email.upper()})).status_code == 204
    mail = await house.mail(email, "Reset your password")
    token = token_in(mail)
    assert mail["Auto-Submitted"] == "auto-generated"
    assert (await stranger.post("/auth/password/reset", {"token": token, "newPassword": NEW})).status_code == 204
    assert (await house.owner.get("/account")).status_code == 401
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).status_code == 401
    into = await stranger.post("/auth/sign-in", {"email": email, "password": NEW})
    assert into.status_code == 200
    profile = (await Client(stranger.app, into.json()["accessToken"]).get("/account")).json()
    assert profile["emailVerifiedAt"] is not None
    assert (await stranger.post("/auth/password/reset", {"token": token, "newPassword": NEW})).status_code == 400
    assert (await house.mail(email))["Subject"] == "Your password was reset"


async def test_a_reset_for_an_unknown_address_sends_nothing_and_responds_the_same(house, stranger, world):
    unknown = f"{uuid4().hex}@example.com"
    answer = await stranger.post("/auth/password/forgot", {"email": unknown})
    known = await stranger.post("/auth/password/forgot", {"email": house.tenant.email})
    assert (answer.status_code, answer.content) == (known.status_code, known.content) == (204, b"")
    await house.work_off()
    assert system_mails(world, unknown) == []
    assert len(system_mails(world, house.tenant.email)) == 1


async def test_only_the_newest_reset_link_works_for_half_an_hour(house, stranger, clock):
    email = house.tenant.email
    tokens = []
    for _ in range(2):
        await stranger.post("/auth/password/forgot", {"email": email})
        tokens.append(token_in(await house.mail(email, "Reset your password")))
    assert (await stranger.post("/auth/password/reset", {"token": tokens[0], "newPassword": NEW})).status_code == 400
    clock.move(timedelta(minutes=31))
    assert (await stranger.post("/auth/password/reset", {"token": tokens[1], "newPassword": NEW})).status_code == 400


async def test_system_mail_is_encrypted_and_not_in_the_email_log(house, stranger, world):
    """A member who may read the project's email log must not find the owner's reset link in it."""
    await stranger.post("/auth/password/forgot", {"email": house.tenant.email})
    async with world.db.connection() as connection:
        rows = await (await connection.execute("select sealed from account_mails")).fetchall()
    assert rows
    assert not any(house.tenant.email.encode() in bytes(sealed) for (sealed,) in rows)
    await house.mail(house.tenant.email, "Reset your password")
    assert (await house.tenant.client.get("/emails/logs")).json()["total"] == 0


async def test_system_mail_is_retried_after_an_outage_of_the_relay(house, stranger, world, clock):
    class Away:
        open = False

        async def deliver(self, envelope, message, *, before_dot=None):
            from postern.protocols.mail.transports.transport import defer_all

            return defer_all(envelope, "Nobody there.", "relay")

        async def aclose(self):
            pass

    import msgspec

    email = house.tenant.email
    await house.work_off()
    captured, world.transports["relay"] = world.settings, Away()
    world.settings = msgspec.structs.replace(captured, transport="relay", relay="smtp://127.0.0.1:1")
    await stranger.post("/auth/password/forgot", {"email": email})
    await house.work_off()
    assert system_mails(house.world, email) == []
    world.settings = captured
    clock.move(timedelta(minutes=5))
    assert token_in(await house.mail(email, "Reset your password"))


@pytest.mark.parametrize("path", ["/auth/verify-email", "/auth/password/reset"])
async def test_invalid_tokens_are_refused(stranger, path):
    body = {"token": "x" * 40} | ({"newPassword": NEW} if "reset" in path else {})
    answer = await stranger.post(path, body)
    assert (answer.status_code, answer.json()["code"]) == (400, "link_invalid")
