"""Merging two customers keeps every address, sign-in method and second factor, and weakens none."""

import asyncio
from uuid import uuid4

import pytest

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_second_factor import use, with_passkey, with_totp

OTHER = "another password nobody has"


async def merged(project, survivor, loser):
    """Merge customer `loser` into customer `survivor`; returns the survivor as the project sees it."""
    name = f"u-{uuid4().hex}"
    first = await project.client.post("/customers/link", {"customerId": loser, "externalUserId": name})
    assert first.status_code == 200, first.text
    answer = await project.client.post("/customers/link", {"customerId": survivor, "externalUserId": name})
    assert answer.status_code == 200, answer.text
    assert answer.json()["mergedCustomerId"] == loser
    return answer.json()["customer"]


async def by_code(auth, address):
    asked = (await auth.post("/sign-in/code", {"email": address})).json()
    return await auth.post(
        "/sign-in/code/verify", {"challengeId": asked["challengeId"], "code": await auth.code(address)}
    )


async def test_the_second_factor_of_the_merged_customer_protects_the_survivor(auth, project, clock):
    """Defects: I2"""
    address, other = new_address(), new_address()
    up, _, app, codes = await with_totp(auth, clock, other)
    target = await auth.signed_up(address, OTHER)
    customer = await merged(project, target["customer"]["id"], up["customer"]["id"])
    assert customer["mfaEnabledAt"] is not None
    assert customer["sessions"] == [], "a session that began without the second factor does not outlive it"
    assert (await auth.as_(target["accessToken"]).get("/me")).status_code == 401
    for each in (address, other):
        asked = (await auth.sign_in(each, OTHER)).json()
        assert (asked["mfaRequired"], asked["accessToken"]) == (True, None)
    into = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": app.code()})
    assert into.json()["customer"]["id"] == target["customer"]["id"]
    asked = (await auth.sign_in(address, OTHER)).json()
    into = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "recoveryCode": codes[0]})
    assert into.json()["customer"]["id"] == target["customer"]["id"]
    asked = (await auth.sign_in(address, OTHER)).json()
    again = await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "recoveryCode": codes[0]})
    assert again.status_code == 401, "a recovery code works once"


async def test_the_survivor_keeps_its_second_factor_if_both_have_one(auth, project, clock):
    """Defects: I2"""
    address, other = new_address(), new_address()
    kept, _, app, codes = await with_totp(auth, clock, address)
    gone, _, weaker, their_codes = await with_totp(auth, clock, other)
    await merged(project, kept["customer"]["id"], gone["customer"]["id"])
    for proof, status in (
        ({"code": weaker.code()}, 401),
        ({"recoveryCode": their_codes[0]}, 401),
        ({"code": app.code()}, 200),
        ({"recoveryCode": codes[0]}, 200),
    ):
        asked = (await auth.sign_in(other)).json()
        assert (await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], **proof})).status_code == status


async def test_a_merged_second_factor_replaces_a_pending_enrollment_of_the_survivor(auth, project, clock):
    """Defects: I2"""
    up, _, app, _ = await with_totp(auth, clock, new_address())
    address = new_address()
    target = await auth.signed_up(address)
    assert (await auth.as_(target["accessToken"]).post("/mfa/totp/enroll")).status_code == 200
    await merged(project, target["customer"]["id"], up["customer"]["id"])
    asked = (await auth.sign_in(address)).json()
    assert (await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": app.code()})).status_code == 200


@pytest.mark.parametrize("how", ["password", "code", "link", "reset"])
async def test_the_address_of_the_merged_customer_signs_in_to_the_survivor(auth, project, how):
    """Defects: I2"""
    await auth.settings(redirectUrls=["https://app.example.com/in"])
    address, other = new_address(), new_address()
    gone, kept = await auth.signed_up(other), await auth.signed_up(address, OTHER)
    customer = await merged(project, kept["customer"]["id"], gone["customer"]["id"])
    assert customer["email"] == address
    assert [each["email"] for each in customer["otherEmails"]] == [other]
    assert customer["otherEmails"][0]["verifiedAt"] is not None
    if how == "password":
        assert (await auth.sign_in(other)).status_code == 401, "the password of the survivor is the one that holds"
        into = await auth.sign_in(other, OTHER)
    elif how == "code":
        into = await by_code(auth, other)
    elif how == "link":
        await auth.post("/sign-in/link", {"email": other})
        into = await auth.post("/sign-in/link/verify", {"token": await auth.link_token(other)})
    else:
        await auth.post("/password/forgot", {"email": other})
        body = {"token": await auth.link_token(other), "password": "a third password nobody has"}
        assert (await auth.post("/password/reset", body)).status_code == 204
        into = await auth.sign_in(address, body["password"])
    assert into.status_code == 200, into.text
    assert into.json()["customer"]["id"] == kept["customer"]["id"]
    assert (await project.client.get("/customers/stats")).json()["total"] == 1


async def test_identities_passkeys_and_a_password_that_only_the_merged_customer_has_move(auth, project):
    """Defects: I2"""
    other = new_address()
    up, _, device, _, _ = await with_passkey(auth, other)
    survivor = (await project.client.post("/customers", {"email": new_address(), "emailVerified": True})).json()
    assert survivor["identities"] == []
    customer = await merged(project, survivor["id"], up["customer"]["id"])
    assert {each["provider"] for each in customer["identities"]} == {"PASSWORD", "PASSKEY"}
    assert (await use(auth, device)).json()["customer"]["id"] == survivor["id"]
    for address in (survivor["email"], other):
        assert (await auth.sign_in(address, GOOD)).json()["customer"]["id"] == survivor["id"]


async def test_a_merged_address_cannot_be_used_by_another_customer(auth, project):
    """Defects: I2"""
    other = new_address()
    gone, kept = await auth.signed_up(other), await auth.signed_up()
    await merged(project, kept["customer"]["id"], gone["customer"]["id"])
    made = await project.client.post("/customers", {"email": other})
    assert (made.status_code, made.json()["code"]) == (409, "email_taken")
    imported = await project.client.post("/customers/import", {"customers": [{"email": other}]})
    assert imported.json()["skipped"] == 1
    begun = await auth.post("/sign-up", {"email": other, "password": GOOD})
    assert begun.status_code == 201
    assert "already have an account" in (await auth.mails(other))[-1]["subject"]
    await auth.settings(verifyEmail="LATER")
    assert (await auth.post("/sign-up", {"email": other, "password": GOOD})).json()["code"] == "email_taken"
    await auth.settings(verifyEmail="REQUIRED")
    someone = await auth.signed_up()
    ada = auth.as_(someone["accessToken"])
    asked = (await ada.post("/email/change", {"email": other})).json()
    body = {"challengeId": asked["challengeId"], "code": await auth.code(other)}
    assert (await ada.post("/verify-email", body)).json()["code"] == "email_taken"
    mine = auth.as_((await auth.sign_in(other)).json()["accessToken"])
    asked = (await mine.post("/email/change", {"email": other})).json()
    body = {"challengeId": asked["challengeId"], "code": await auth.code(other)}
    assert (await mine.post("/verify-email", body)).json()["email"] == other
    assert (await project.client.get(f"/customers/{kept['customer']['id']}")).json()["otherEmails"] == []


async def test_verifying_a_merged_address_revokes_credentials_of_unverified_origin(auth, project):
    """Defects: I2"""
    address, other = new_address(), new_address()
    kept = (await project.client.post("/customers", {"email": address, "password": GOOD})).json()
    gone = (await project.client.post("/customers", {"email": other, "password": OTHER})).json()
    await merged(project, kept["id"], gone["id"])
    assert (await auth.sign_in(other)).json()["customer"]["id"] == kept["id"]
    into = (await by_code(auth, other)).json()
    assert (into["customer"]["id"], into["customer"]["email"]) == (kept["id"], other)
    assert (await auth.sign_in(address)).status_code == 401
    again = (await by_code(auth, address)).json()
    assert again["customer"]["id"] == kept["id"]
    assert (await auth.as_(into["accessToken"]).get("/me")).status_code == 200, "the second proof drops nothing"


@pytest.mark.parametrize("way", ["password", "code", "sign-up", "create"])
async def test_a_merge_during_a_sign_in_keeps_the_second_factor(auth, project, clock, way):
    """Defects: I2"""
    other = new_address()
    gone, _, _, _ = await with_totp(auth, clock, other)
    kept = await auth.signed_up(None, OTHER)
    name = f"u-{uuid4().hex}"
    await project.client.post("/customers/link", {"customerId": gone["customer"]["id"], "externalUserId": name})
    link = {"customerId": kept["customer"]["id"], "externalUserId": name}
    if way == "code":
        asked = (await auth.post("/sign-in/code", {"email": other})).json()
        body = {"challengeId": asked["challengeId"], "code": await auth.code(other)}
        beside = [auth.post("/sign-in/code/verify", body)]
    elif way == "password":
        beside = [auth.sign_in(other) for _ in range(4)]
    elif way == "sign-up":
        await auth.settings(verifyEmail="LATER")
        beside = [auth.post("/sign-up", {"email": other, "password": GOOD}) for _ in range(4)]
    else:
        beside = [project.client.post("/customers", {"email": other}) for _ in range(4)]
    answers = await asyncio.gather(project.client.post("/customers/link", link), *beside)
    assert answers[0].status_code == 200, answers[0].text
    for each in answers[1:]:
        assert each.status_code in (200, 401, 409), each.text
        assert each.json().get("accessToken") is None
    assert (await project.client.get("/customers/stats")).json()["total"] == 1
    assert (await auth.sign_in(other, OTHER)).json()["mfaRequired"] is True


async def test_erasing_the_survivor_releases_its_other_addresses(auth, project):
    """Defects: I2"""
    other = new_address()
    gone, kept = await auth.signed_up(other), await auth.signed_up()
    await merged(project, kept["customer"]["id"], gone["customer"]["id"])
    assert (await project.client.delete(f"/customers/{kept['customer']['id']}")).status_code == 200
    assert (await auth.signed_up(other))["customer"]["id"] not in (kept["customer"]["id"], gone["customer"]["id"])
