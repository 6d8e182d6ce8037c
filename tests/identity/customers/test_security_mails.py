"""Security notices to customers: each kind is sent, and can be switched off."""

import base64
from datetime import timedelta

import lxml.html
import pytest

from postern.platform.projects.model import SECURITY_MAILS
from postern.security.totp import code_at
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_linking import code_of_account, finish, provider, provider_browser, settings

__all__ = ["provider", "provider_browser", "settings"]

NEW = "an entirely different one"


async def new_device(auth, ada, address, **_):
    assert (await auth.at(agent="curl/8").sign_in(address)).status_code == 200


async def password_changed(auth, ada, address, **_):
    body = {"currentPassword": GOOD, "newPassword": NEW}
    assert (await ada.post("/password/change", body)).status_code == 204


async def email_changed(auth, ada, address, **_):
    new = new_address()
    challenge = (await ada.post("/email/change", {"email": new})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(new)}
    assert (await ada.post("/verify-email", body)).status_code == 200


async def mfa_changed(auth, ada, address, clock, **_):
    secret = base64.b32decode((await ada.post("/mfa/totp/enroll")).json()["secret"])
    code = code_at(secret, int(clock().timestamp()) // 30)
    assert (await ada.post("/mfa/totp/confirm", {"code": code})).status_code == 200


async def identity_changed(auth, ada, address, provider_browser, **_):
    assert (await finish(ada, await code_of_account(ada, provider_browser, sub="42"))).status_code == 200


async def impersonated(auth, ada, address, **_):
    customer_id = (await ada.get("/me")).json()["id"]
    developer = auth.project.developer
    assert (await developer.post(f"/customers/{customer_id}/impersonate", {"reason": "Ticket 1"})).status_code == 200


CHANGES = {
    "NEW_DEVICE": (new_device, "New sign-in"),
    "PASSWORD_CHANGED": (password_changed, "password was changed"),
    "EMAIL_CHANGED": (email_changed, "address was changed"),
    "MFA_CHANGED": (mfa_changed, "second factor"),
    "IDENTITY_CHANGED": (identity_changed, "How you sign in"),
    "IMPERSONATED": (impersonated, "acted in your account"),
}
"""For each kind of notice: a function that causes it, and words of its subject."""


async def test_mails_that_cannot_be_sent_are_reported_by_an_event(auth, project, clock):
    relay = {"host": "relay.example", "tls": "none"}
    settings = {"transport": "relay", "relays": [relay], "signIn": {"mailFrom": "login@never-verified.example"}}
    assert (await project.developer.patch("", {"settings": settings})).status_code == 200
    assert (await auth.post("/sign-up", {"email": new_address(), "password": GOOD})).status_code == 201
    for _ in range(7):
        await auth.run_due_work()
        assert (await project.client.get("/events?type=customer.mail_failed")).json()["data"] == []
        clock.move(timedelta(seconds=61))
    await auth.run_due_work()
    (event,) = (await project.client.get("/events?type=customer.mail_failed")).json()["data"]
    assert (event["data"]["kind"], event["data"]["code"]) == ("SIGN_UP", "domain_not_verified")
    assert "settings.signIn.mailFrom" in event["data"]["reason"], "the reason tells the developer what to do"


async def test_an_expired_code_is_not_mailed(auth, project, clock, world):
    address = new_address()
    await auth.post("/sign-in/code", {"email": address})
    clock.move(timedelta(minutes=11))
    assert await auth.mails(address) == []
    (event,) = (await project.client.get("/events?type=customer.mail_failed")).json()["data"]
    assert (event["data"]["kind"], event["data"]["code"]) == ("CODE", "expired")
    await auth.post("/sign-in/code", {"email": address})
    await auth.run_due_work()
    async with world.db.connection() as connection:
        rows = await connection.execute(
            "select expires_at - created_at from sends where project_id = %s and recipient = %s", [project.id, address]
        )
        ((life,),) = await rows.fetchall()
    assert life <= timedelta(minutes=10)


def test_the_test_covers_every_kind_of_security_mail():
    assert set(CHANGES) == set(SECURITY_MAILS)


@pytest.mark.parametrize("kind", SECURITY_MAILS)
@pytest.mark.parametrize("on", [True, False], ids=["on", "off"])
async def test_each_security_mail_is_sent_unless_switched_off(auth, provider_browser, clock, kind, on):
    change, subject = CHANGES[kind]
    address = new_address()
    sign_up = await auth.signed_up(address)
    await auth.settings(securityMails=[kind] if on else [other for other in SECURITY_MAILS if other != kind])
    before = len(await auth.mails(address))
    await change(auth, auth.as_(sign_up["accessToken"]), address, clock=clock, provider_browser=provider_browser)
    mails = (await auth.mails(address))[before:]
    assert [subject in mail["subject"] for mail in mails] == ([True] if on else [])


async def test_mails_have_a_button_with_the_link_and_name_the_app(auth):
    """Regression test of I12 (tests/defects.md)."""
    await auth.settings(appName="Acme & Sons")
    address = new_address()
    await auth.signed_up(address)
    await auth.post("/password/forgot", {"email": address})
    mail = (await auth.mails(address))[-1]
    assert ">Choose a new password</a>" in mail["html"]
    assert "Acme &amp; Sons</td>" in mail["html"]
    button, address_line = lxml.html.fromstring(mail["html"]).iterfind(".//a")
    assert address_line.text == address_line.get("href") == button.get("href")
    assert "If the button does nothing, open this address:" in mail["html"]
    assert button.get("href") in mail["text"]
    assert f"Sent to {address} because somebody asked for a new password at Acme &amp; Sons" in mail["html"]
    assert f"-- \nSent to {address} because" in mail["text"].replace("\r\n", "\n")
