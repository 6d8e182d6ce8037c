"""Merging two customers keeps every address, sign-in method and second factor, and weakens none."""

import asyncio
from uuid import uuid4

import pytest

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_second_factor import sign_in_with_passkey, with_passkey, with_totp

OTHER = "another password nobody has"


async def merged(project, survivor, loser):
    """Merge the customer with the id `loser` into the one with the id `survivor`. Returns the survivor's record."""
    external_id = f"u-{uuid4().hex}"
    linked = await project.client.post("/customers/link", {"customerId": loser, "externalUserId": external_id})
    assert linked.status_code == 200, linked.text
    response = await project.client.post("/customers/link", {"customerId": survivor, "externalUserId": external_id})
    assert response.status_code == 200, response.text
    assert response.json()["mergedCustomerId"] == loser
    return response.json()["customer"]


async def by_code(auth, address):
    """Sign in with a code that is mailed to the address."""
    challenge = (await auth.post("/sign-in/code", {"email": address})).json()
    return await auth.post(
        "/sign-in/code/verify", {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    )


async def test_the_second_factor_of_the_merged_customer_protects_the_survivor(auth, project, clock):
    """Regression test of I2 (tests/defects.md)."""
    address, other = new_address(), new_address()
    loser, _, app, codes = await with_totp(auth, clock, other)
    survivor = await auth.signed_up(address, OTHER)
    customer = await merged(project, survivor["customer"]["id"], loser["customer"]["id"])
    assert customer["mfaEnabledAt"] is not None
    assert customer["sessions"] == [], "sessions that began without the second factor end"
    assert (await auth.as_(survivor["accessToken"]).get("/me")).status_code == 401
    for email in (address, other):
        pending = (await auth.sign_in(email, OTHER)).json()
        assert (pending["mfaRequired"], pending["accessToken"]) == (True, None)
    signed_in = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": app.code()})
    assert signed_in.json()["customer"]["id"] == survivor["customer"]["id"]
    pending = (await auth.sign_in(address, OTHER)).json()
    signed_in = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "recoveryCode": codes[0]})
    assert signed_in.json()["customer"]["id"] == survivor["customer"]["id"]
    pending = (await auth.sign_in(address, OTHER)).json()
    reused = await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "recoveryCode": codes[0]})
    assert reused.status_code == 401, "a recovery code works once"


async def test_the_survivor_keeps_its_second_factor_if_both_have_one(auth, project, clock):
    """Regression test of I2 (tests/defects.md)."""
    address, other = new_address(), new_address()
    survivor, _, app, codes = await with_totp(auth, clock, address)
    loser, _, loser_app, loser_codes = await with_totp(auth, clock, other)
    await merged(project, survivor["customer"]["id"], loser["customer"]["id"])
    for body, status in (
        ({"code": loser_app.code()}, 401),
        ({"recoveryCode": loser_codes[0]}, 401),
        ({"code": app.code()}, 200),
        ({"recoveryCode": codes[0]}, 200),
    ):
        pending = (await auth.sign_in(other)).json()
        assert (await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], **body})).status_code == status


async def test_a_merged_second_factor_replaces_a_pending_enrollment_of_the_survivor(auth, project, clock):
    """Regression test of I2 (tests/defects.md)."""
    loser, _, app, _ = await with_totp(auth, clock, new_address())
    address = new_address()
    survivor = await auth.signed_up(address)
    assert (await auth.as_(survivor["accessToken"]).post("/mfa/totp/enroll")).status_code == 200
    await merged(project, survivor["customer"]["id"], loser["customer"]["id"])
    pending = (await auth.sign_in(address)).json()
    assert (await auth.post("/mfa/verify", {"mfaToken": pending["mfaToken"], "code": app.code()})).status_code == 200


@pytest.mark.parametrize("method", ["password", "code", "link", "reset"])
async def test_the_address_of_the_merged_customer_signs_in_to_the_survivor(auth, project, method):
    """Regression test of I2 (tests/defects.md)."""
    await auth.settings(redirectUrls=["https://app.example.com/in"])
    address, other = new_address(), new_address()
    loser, survivor = await auth.signed_up(other), await auth.signed_up(address, OTHER)
    customer = await merged(project, survivor["customer"]["id"], loser["customer"]["id"])
    assert customer["email"] == address
    assert [other_email["email"] for other_email in customer["otherEmails"]] == [other]
    assert customer["otherEmails"][0]["verifiedAt"] is not None
    if method == "password":
        assert (await auth.sign_in(other)).status_code == 401, "only the survivor's password is valid"
        signed_in = await auth.sign_in(other, OTHER)
    elif method == "code":
        signed_in = await by_code(auth, other)
    elif method == "link":
        await auth.post("/sign-in/link", {"email": other})
        signed_in = await auth.post("/sign-in/link/verify", {"token": await auth.link_token(other)})
    else:
        await auth.post("/password/forgot", {"email": other})
        body = {"token": await auth.link_token(other), "password": "a third password nobody has"}
        assert (await auth.post("/password/reset", body)).status_code == 204
        signed_in = await auth.sign_in(address, body["password"])
    assert signed_in.status_code == 200, signed_in.text
    assert signed_in.json()["customer"]["id"] == survivor["customer"]["id"]
    assert (await project.client.get("/customers/stats")).json()["total"] == 1


async def test_identities_passkeys_and_a_password_that_only_the_merged_customer_has_move(auth, project):
    """Regression test of I2 (tests/defects.md)."""
    other = new_address()
    loser, _, device, _, _ = await with_passkey(auth, other)
    survivor = (await project.client.post("/customers", {"email": new_address(), "emailVerified": True})).json()
    assert survivor["identities"] == []
    customer = await merged(project, survivor["id"], loser["customer"]["id"])
    assert {identity["provider"] for identity in customer["identities"]} == {"PASSWORD", "PASSKEY"}
    assert (await sign_in_with_passkey(auth, device)).json()["customer"]["id"] == survivor["id"]
    for address in (survivor["email"], other):
        assert (await auth.sign_in(address, GOOD)).json()["customer"]["id"] == survivor["id"]


async def test_a_merged_address_cannot_be_used_by_another_customer(auth, project):
    """Regression test of I2 (tests/defects.md)."""
    other = new_address()
    loser, survivor = await auth.signed_up(other), await auth.signed_up()
    await merged(project, survivor["customer"]["id"], loser["customer"]["id"])
    created = await project.client.post("/customers", {"email": other})
    assert (created.status_code, created.json()["code"]) == (409, "email_taken")
    imported = await project.client.post("/customers/import", {"customers": [{"email": other}]})
    assert imported.json()["skipped"] == 1
    response = await auth.post("/sign-up", {"email": other, "password": GOOD})
    assert response.status_code == 201
    assert "already have an account" in (await auth.mails(other))[-1]["subject"]
    await auth.settings(verifyEmail="LATER")
    assert (await auth.post("/sign-up", {"email": other, "password": GOOD})).json()["code"] == "email_taken"
    await auth.settings(verifyEmail="REQUIRED")
    another = await auth.signed_up()
    ada = auth.as_(another["accessToken"])
    challenge = (await ada.post("/email/change", {"email": other})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(other)}
    assert (await ada.post("/verify-email", body)).json()["code"] == "email_taken"
    survivor_client = auth.as_((await auth.sign_in(other)).json()["accessToken"])
    challenge = (await survivor_client.post("/email/change", {"email": other})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(other)}
    assert (await survivor_client.post("/verify-email", body)).json()["email"] == other
    assert (await project.client.get(f"/customers/{survivor['customer']['id']}")).json()["otherEmails"] == []


async def test_verifying_a_merged_address_revokes_credentials_of_unverified_origin(auth, project):
    """Regression test of I2 (tests/defects.md)."""
    address, other = new_address(), new_address()
    survivor = (await project.client.post("/customers", {"email": address, "password": GOOD})).json()
    loser = (await project.client.post("/customers", {"email": other, "password": OTHER})).json()
    await merged(project, survivor["id"], loser["id"])
    assert (await auth.sign_in(other)).json()["customer"]["id"] == survivor["id"]
    signed_in = (await by_code(auth, other)).json()
    assert (signed_in["customer"]["id"], signed_in["customer"]["email"]) == (survivor["id"], other)
    assert (await auth.sign_in(address)).status_code == 401
    second = (await by_code(auth, address)).json()
    assert second["customer"]["id"] == survivor["id"]
    assert (await auth.as_(signed_in["accessToken"]).get("/me")).status_code == 200, (
        "verifying the second address removes nothing"
    )


@pytest.mark.parametrize("request_kind", ["password", "code", "sign-up", "create"])
async def test_a_merge_during_a_sign_in_keeps_the_second_factor(auth, project, clock, request_kind):
    """Regression test of I2 (tests/defects.md)."""
    other = new_address()
    loser, _, _, _ = await with_totp(auth, clock, other)
    survivor = await auth.signed_up(None, OTHER)
    external_id = f"u-{uuid4().hex}"
    await project.client.post("/customers/link", {"customerId": loser["customer"]["id"], "externalUserId": external_id})
    link = {"customerId": survivor["customer"]["id"], "externalUserId": external_id}
    if request_kind == "code":
        challenge = (await auth.post("/sign-in/code", {"email": other})).json()
        body = {"challengeId": challenge["challengeId"], "code": await auth.code(other)}
        concurrent = [auth.post("/sign-in/code/verify", body)]
    elif request_kind == "password":
        concurrent = [auth.sign_in(other) for _ in range(4)]
    elif request_kind == "sign-up":
        await auth.settings(verifyEmail="LATER")
        concurrent = [auth.post("/sign-up", {"email": other, "password": GOOD}) for _ in range(4)]
    else:
        concurrent = [project.client.post("/customers", {"email": other}) for _ in range(4)]
    responses = await asyncio.gather(project.client.post("/customers/link", link), *concurrent)
    assert responses[0].status_code == 200, responses[0].text
    for response in responses[1:]:
        assert response.status_code in (200, 401, 409), response.text
        assert response.json().get("accessToken") is None
    assert (await project.client.get("/customers/stats")).json()["total"] == 1
    assert (await auth.sign_in(other, OTHER)).json()["mfaRequired"] is True


async def test_erasing_the_survivor_releases_its_other_addresses(auth, project):
    """Regression test of I2 (tests/defects.md)."""
    other = new_address()
    loser, survivor = await auth.signed_up(other), await auth.signed_up()
    await merged(project, survivor["customer"]["id"], loser["customer"]["id"])
    assert (await project.client.delete(f"/customers/{survivor['customer']['id']}")).status_code == 200
    assert (await auth.signed_up(other))["customer"]["id"] not in (survivor["customer"]["id"], loser["customer"]["id"])
