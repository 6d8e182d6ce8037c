"""Developers sign up, sign in and stay signed in."""

import asyncio
from datetime import timedelta
from uuid import uuid4

from tests.conftest import PASSWORD, Client
from tests.platform.accounts.members import system_mails, token_in


async def test_sign_up_sign_in_refresh_and_sign_out(stranger, app, run_due_work, world):
    email = f"{uuid4().hex}@example.com"
    signed_up = await stranger.post("/auth/sign-up", {"email": email, "password": PASSWORD, "name": "Ada"})
    assert signed_up.status_code == 201
    assert (signed_up.json()["developer"]["role"], signed_up.json()["developer"]["emailVerifiedAt"]) == ("OWNER", None)
    assert len(signed_up.json()["projects"]) == 1
    assert (await stranger.post("/auth/sign-in", {"email": email, "password": PASSWORD})).status_code == 401
    await run_due_work()
    confirmed = await stranger.post("/auth/verify-email", {"token": token_in(system_mails(world, email)[-1])})
    assert confirmed.json() == {"email": email}
    signed_in = await stranger.post("/auth/sign-in", {"email": email.upper(), "password": PASSWORD})
    assert signed_in.status_code == 200
    developer = Client(app, signed_in.json()["accessToken"])
    assert (await developer.get("/projects/")).status_code in (200, 404)
    assert (await developer.post("/auth/sign-out")).status_code == 204
    assert (await developer.post("/auth/sign-out")).status_code == 401


async def test_only_one_sign_up_of_an_address_is_confirmed(stranger, run_due_work, world):
    """Several sign-ups may use one address; the first to verify it wins, and only a mail informs the others."""
    body = {"email": f"{uuid4().hex}@example.com", "password": PASSWORD}
    again = {**body, "email": body["email"].upper()}
    responses = [await stranger.post("/auth/sign-up", sign_up_body) for sign_up_body in (body, again)]
    assert [response.status_code for response in responses] == [201, 201]
    await run_due_work()
    first, second = (token_in(mail) for mail in system_mails(world, body["email"]))
    assert (await stranger.post("/auth/verify-email", {"token": second})).status_code == 200
    late = await stranger.post("/auth/verify-email", {"token": first})
    assert (late.status_code, late.json()["code"]) == (409, "email_taken")


async def test_common_passwords_are_refused(account, stranger):
    """At every operation that sets a password; a reset link still works after a refused password."""
    email, grace = (f"{uuid4().hex}@example.com" for _ in range(2))
    invited = await account.invite(grace)
    forgotten = account.tenant.email
    await stranger.post("/auth/password/forgot", {"email": forgotten})
    token = token_in(await account.mail(forgotten, "Reset your password"))
    for bad in ("password1", "PASSWORD1", "iloveyou1"):
        for refused in (
            await stranger.post("/auth/sign-up", {"email": email, "password": bad}),
            await stranger.post("/auth/sign-up", {"email": grace, "password": bad, "invitationToken": invited}),
            await stranger.post("/auth/password/reset", {"token": token, "newPassword": bad}),
            await account.owner.patch("/account/password", {"currentPassword": PASSWORD, "newPassword": bad}),
        ):
            assert (refused.status_code, refused.json()["code"]) == (400, "password_common"), refused.text
    own = await account.owner.patch("/account/password", {"currentPassword": PASSWORD, "newPassword": f"{forgotten}1"})
    assert own.json()["code"] == "password_common"
    assert (
        await stranger.post("/auth/password/reset", {"token": token, "newPassword": "not so common"})
    ).status_code == 204


async def test_unknown_addresses_and_wrong_passwords_have_the_same_response(stranger, project):
    wrong = await stranger.post("/auth/sign-in", {"email": project.email, "password": "wrong password"})
    unknown = await stranger.post("/auth/sign-in", {"email": f"{uuid4().hex}@example.com", "password": PASSWORD})
    assert wrong.status_code == unknown.status_code == 401
    assert {**wrong.json(), "requestId": ""} == {**unknown.json(), "requestId": ""}


async def test_wrong_passwords_lock_the_account(stranger, project):
    responses = [
        await stranger.post("/auth/sign-in", {"email": project.email, "password": f"guess number {number}"})
        for number in range(12)
    ]
    assert [response.status_code for response in responses] == [401] * 10 + [429] * 2
    assert int(responses[-1].headers["retry-after"]) > 0


async def test_a_reused_refresh_token_ends_the_session(stranger, clock, app):
    signed_up = await stranger.post("/auth/sign-up", {"email": f"{uuid4().hex}@example.com", "password": PASSWORD})
    old = signed_up.json()["refreshToken"]
    renewed = (await stranger.post("/auth/refresh", {"refreshToken": old})).json()
    assert (await stranger.post("/auth/refresh", {"refreshToken": old})).status_code == 200  # Within 30 seconds.
    latest = (await stranger.post("/auth/refresh", {"refreshToken": old})).json()
    clock.move(timedelta(seconds=31))
    assert (await stranger.post("/auth/refresh", {"refreshToken": old})).status_code == 401
    assert (await stranger.post("/auth/refresh", {"refreshToken": latest["refreshToken"]})).status_code == 401
    assert (await Client(app, renewed["accessToken"]).post("/auth/sign-out")).status_code == 401


async def test_concurrent_refreshes_keep_the_session(stranger, app):
    """Two tabs, or a lost response: every request gets the same valid tokens."""
    signed_up = await stranger.post("/auth/sign-up", {"email": f"{uuid4().hex}@example.com", "password": PASSWORD})
    body = {"refreshToken": signed_up.json()["refreshToken"]}
    token_sets = [
        response.json() for response in await asyncio.gather(*(stranger.post("/auth/refresh", body) for _ in range(4)))
    ]
    assert [tokens["refreshToken"] for tokens in token_sets] == [token_sets[0]["refreshToken"]] * 4
    assert [tokens["accessTokenExpiresAt"] for tokens in token_sets] == [token_sets[0]["accessTokenExpiresAt"]] * 4
    for tokens in token_sets:
        assert (await Client(app, tokens["accessToken"]).get("/account")).status_code == 200
    assert (await Client(app, signed_up.json()["accessToken"]).get("/account")).status_code == 401
    further = await stranger.post("/auth/refresh", {"refreshToken": token_sets[3]["refreshToken"]})
    assert (await Client(app, further.json()["accessToken"]).get("/account")).status_code == 200


async def test_an_access_token_lives_thirty_minutes(project, clock):
    assert (await project.developer.get("")).status_code == 200
    clock.move(timedelta(minutes=31))
    assert (await project.developer.get("")).status_code == 401
