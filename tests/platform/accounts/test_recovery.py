"""Confirmation of addresses, and password reset."""

from datetime import timedelta
from uuid import uuid4

import pytest

from tests.conftest import PASSWORD, Client
from tests.platform.accounts.members import system_mails, token_in

NEW_PASSWORD = "an entirely new password"


async def sign_up(stranger) -> tuple[str, Client]:
    """Create an account with an unverified address; returns the address and a client with its session."""
    email = f"{uuid4().hex[:12]}@example.com"
    signed_up = await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD})
    assert signed_up.status_code == 201, signed_up.text
    return email, Client(stranger.app, signed_up.json()["accessToken"])


async def test_a_sign_up_sends_a_confirmation_mail(account, stranger):
    email, session = await sign_up(stranger)
    token = token_in(await account.mail(email))
    assert (await session.get("/account")).json()["emailVerifiedAt"] is None
    assert (await stranger.post("/auth/verify-email", {"token": token})).json() == {"email": email}
    signed_in = await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})
    assert signed_in.json()["developer"]["emailVerifiedAt"] is not None
    again = await stranger.post("/auth/verify-email", {"token": token})
    assert (again.status_code, again.json()["code"]) == (400, "link_invalid")


async def test_only_the_newest_confirmation_link_works_for_a_day(account, stranger, clock):
    email, session = await sign_up(stranger)
    first = token_in(await account.mail(email))
    assert (await session.post("/auth/verify-email/resend")).status_code == 204
    second = token_in(await account.mail(email))
    assert first != second
    assert (await stranger.post("/auth/verify-email", {"token": first})).status_code == 400
    clock.move(timedelta(hours=24, seconds=1))
    assert (await stranger.post("/auth/verify-email", {"token": second})).status_code == 400


async def test_a_password_reset_ends_all_sessions(account, stranger):
    email = account.tenant.email
    assert (await stranger.post("/auth/password/forgot", {"email": email.upper()})).status_code == 204
    mail = await account.mail(email, "Reset your password")
    token = token_in(mail)
    assert mail["Auto-Submitted"] == "auto-generated"
    assert (
        await stranger.post("/auth/password/reset", {"token": token, "newPassword": NEW_PASSWORD})
    ).status_code == 204
    assert (await account.owner.get("/account")).status_code == 401
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).status_code == 401
    signed_in = await stranger.post("/auth/sign-in", {"email": email, "password": NEW_PASSWORD})
    assert signed_in.status_code == 200
    profile = (await Client(stranger.app, signed_in.json()["accessToken"]).get("/account")).json()
    assert profile["emailVerifiedAt"] is not None
    assert (
        await stranger.post("/auth/password/reset", {"token": token, "newPassword": NEW_PASSWORD})
    ).status_code == 400
    assert (await account.mail(email))["Subject"] == "Your password was reset"


async def test_a_reset_for_an_unknown_address_sends_nothing_and_responds_the_same(account, stranger, world):
    unknown = f"{uuid4().hex}@example.com"
    response = await stranger.post("/auth/password/forgot", {"email": unknown})
    known = await stranger.post("/auth/password/forgot", {"email": account.tenant.email})
    assert (response.status_code, response.content) == (known.status_code, known.content) == (204, b"")
    await account.run_due_work()
    assert system_mails(world, unknown) == []
    assert len(system_mails(world, account.tenant.email)) == 1


async def test_a_reset_link_works_for_half_an_hour(account, stranger, clock):
    email = account.tenant.email
    tokens = []
    for _ in range(2):
        await stranger.post("/auth/password/forgot", {"email": email})
        tokens.append(token_in(await account.mail(email, "Reset your password")))
        clock.move(timedelta(minutes=20))
    expired = await stranger.post("/auth/password/reset", {"token": tokens[0], "newPassword": NEW_PASSWORD})
    assert (expired.status_code, expired.json()["code"]) == (400, "link_invalid")
    valid = await stranger.post("/auth/password/reset", {"token": tokens[1], "newPassword": NEW_PASSWORD})
    assert valid.status_code == 204, valid.text


async def test_a_refused_password_does_not_use_up_the_link(account, stranger):
    email = account.tenant.email
    await stranger.post("/auth/password/forgot", {"email": email})
    token = token_in(await account.mail(email, "Reset your password"))
    for _ in range(6):
        refused = await stranger.post("/auth/password/reset", {"token": token, "newPassword": "12345678"})
        assert (refused.status_code, refused.json()["code"]) == (400, "password_common")
    assert (
        await stranger.post("/auth/password/reset", {"token": token, "newPassword": NEW_PASSWORD})
    ).status_code == 204


async def test_system_mail_is_encrypted_and_not_in_the_email_log(account, stranger, world):
    """A member who may read the project's email log must not find the owner's reset link in it."""
    await stranger.post("/auth/password/forgot", {"email": account.tenant.email})
    async with world.db.connection() as connection:
        rows = await (await connection.execute("select sealed from account_mails")).fetchall()
    assert rows
    assert not any(account.tenant.email.encode() in bytes(sealed) for (sealed,) in rows)
    await account.mail(account.tenant.email, "Reset your password")
    assert (await account.tenant.client.get("/emails/logs")).json()["total"] == 0


async def test_system_mail_is_retried_after_an_outage_of_the_relay(account, stranger, world, clock):
    class UnavailableTransport:
        open = False

        async def deliver(self, envelope, message, hooks=None):
            from postern.protocols.mail.transports.transport import defer_all

            return defer_all(envelope, "The relay is unavailable.", "relay")

        async def aclose(self):
            pass

    import msgspec

    email = account.tenant.email
    await account.run_due_work()
    captured, world.transports["relay"] = world.settings, UnavailableTransport()
    world.settings = msgspec.structs.replace(captured, transport="relay", relay="smtp://127.0.0.1:1")
    await stranger.post("/auth/password/forgot", {"email": email})
    await account.run_due_work()
    assert system_mails(account.world, email) == []
    world.settings = captured
    clock.move(timedelta(minutes=5))
    assert token_in(await account.mail(email, "Reset your password"))


@pytest.mark.parametrize("path", ["/auth/verify-email", "/auth/password/reset"])
async def test_invalid_tokens_are_refused(stranger, path):
    body = {"token": "x" * 40} | ({"newPassword": NEW_PASSWORD} if "reset" in path else {})
    response = await stranger.post(path, body)
    assert (response.status_code, response.json()["code"]) == (400, "link_invalid")
