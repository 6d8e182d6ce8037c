"""The link “This was not me” in the notice about a sign-in from a new device."""

import re
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from tests.identity.customers.conftest import GOOD, new_address

NEW = "an entirely different one"


@pytest.fixture
async def alerted(auth):
    """A customer, the session of another device, and the path and token of the link in the notice."""
    address = new_address()
    own = await auth.signed_up(address)
    other = (await auth.at(agent="curl/8").sign_in(address)).json()
    return address, own, other, await newest_link(auth, address)


async def newest_link(auth, address):
    links = [re.search(r"http\S+/not-me\?token=\w+", mail["text"]) for mail in await auth.mails(address)]
    url = urlsplit([link[0] for link in links if link][-1])
    return url.path, url.query.partition("=")[2]


async def press(auth, link):
    return await auth.client.request("POST", link[0], data={"token": link[1]})


async def test_the_link_ends_sessions_and_asks_for_a_new_password(auth, project, alerted):
    address, own, other, link = alerted
    for _ in range(2):
        page = await auth.client.get(f"{link[0]}?token={link[1]}")
        assert page.status_code == 200
    assert "Secure my account" in page.text
    assert (await auth.as_(other["accessToken"]).get("/me")).status_code == 200, "opening the link changes nothing"
    secured = await press(auth, link)
    assert secured.status_code == 200, secured.text
    for tokens in (own, other):
        assert (await auth.as_(tokens["accessToken"]).get("/me")).status_code == 401
    assert (await auth.sign_in(address)).status_code == 401, "the password no longer works"
    token = re.search(r'name="token" value="(\w+)"', secured.text)[1]
    form = {"token": token, "password": NEW}
    assert (await auth.client.request("POST", "/pages/reset", data=form)).status_code == 200
    assert (await auth.sign_in(address, NEW)).status_code == 200
    again = await press(auth, link)
    assert again.status_code == 401, "the link works once"
    (event,) = (await project.client.get("/events?type=customer.sign_in_denied")).json()["data"]
    assert event["data"]["sessionId"] == other["sessionId"]


async def test_what_was_added_since_is_removed_and_the_address_restored(auth, project, alerted, clock):
    address, own, other, link = alerted
    thief, stolen = auth.as_(other["accessToken"]), new_address()
    challenge = (await thief.post("/email/change", {"email": stolen})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(stolen)}
    assert (await thief.post("/verify-email", body)).status_code == 200
    assert (await thief.post("/sessions/revoke-others")).status_code == 204, "this does not disable the link"
    assert (await press(auth, link)).status_code == 200
    customer = (await project.client.get(f"/customers/{own['customer']['id']}")).json()
    assert (customer["email"], customer["sessions"]) == (address, [])
    forgot = await auth.post("/password/forgot", {"email": stolen})
    assert forgot.status_code == 204
    assert not [mail for mail in await auth.mails(stolen) if "/reset?token" in mail["text"]]


@pytest.mark.parametrize("primary", [False, True])
async def test_a_further_address_that_was_added_since_is_removed(auth, project, alerted, primary):
    address, own, other, link = alerted
    thief, stolen = auth.as_(other["accessToken"]), new_address()
    challenge = (await thief.post("/emails", {"email": stolen})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(stolen)}
    assert (await thief.post("/verify-email", body)).status_code == 200
    if primary:
        assert (await thief.post("/emails/primary", {"email": stolen})).status_code == 200
    assert (await auth.post("/password/forgot", {"email": stolen})).status_code == 204
    token = await auth.link_token(stolen)
    assert (await press(auth, link)).status_code == 200
    customer = (await project.client.get(f"/customers/{own['customer']['id']}")).json()
    assert (customer["email"], customer["otherEmails"]) == (address, [])
    refused = await auth.post("/password/reset", {"token": token, "password": NEW})
    assert refused.status_code == 401, "a link that was mailed before stops working"


@pytest.mark.parametrize("verified", [False, True])
async def test_nobody_keeps_a_new_address_by_registering_the_old_one(auth, project, alerted, verified):
    address, own, other, link = alerted
    thief, stolen = auth.as_(other["accessToken"]), new_address()
    challenge = (await thief.post("/email/change", {"email": stolen})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(stolen)}
    assert (await thief.post("/verify-email", body)).status_code == 200
    registered = await project.client.post("/customers", {"email": address, "emailVerified": verified})
    assert registered.status_code == 201, registered.text
    secured = await press(auth, link)
    assert (secured.status_code, 'name="password"' in secured.text) == (200, not verified)
    emails = [
        (await project.client.get(f"/customers/{customer_id}")).json()["email"]
        for customer_id in (own["customer"]["id"], registered.json()["id"])
    ]
    assert emails == ([None, address] if verified else [address, None])
    assert (await auth.post("/password/forgot", {"email": stolen})).status_code == 204
    assert not [mail for mail in await auth.mails(stolen) if "/reset?token" in mail["text"]]


async def test_whoever_registered_a_foreign_address_keeps_nothing(auth, project):
    address = new_address()
    squatter = await auth.unverified(address)
    other = (await auth.at(agent="curl/8").sign_in(address)).json()
    link = await newest_link(auth, address)
    own, new = auth.as_(other["accessToken"]), new_address()
    challenge = (await own.post("/email/change", {"email": new})).json()
    body = {"challengeId": challenge["challengeId"], "code": await auth.code(new)}
    assert (await own.post("/verify-email", body)).status_code == 200
    assert (await press(auth, link)).status_code == 200
    customer = (await project.client.get(f"/customers/{squatter['customer']['id']}")).json()
    assert (customer["email"], customer["identities"], customer["sessions"]) == (address, [], [])


async def test_the_link_expires_and_belongs_to_a_project(auth, alerted, clock, new_project):
    address, _, _, link = alerted
    foreign = await new_project()
    path = link[0].replace(str(auth.project.id), str(foreign.id))
    assert (await press(auth, (path, link[1]))).status_code == 401
    for token in ("", "x", f"{link[1][:-1]}{'a' if link[1][-1] != 'a' else 'b'}"):
        assert (await press(auth, (link[0], token))).status_code == 401
    clock.move(timedelta(days=3, seconds=1))
    assert "expired" in (await auth.client.get(f"{link[0]}?token={link[1]}")).text
    assert (await press(auth, link)).status_code == 401
    assert (await auth.sign_in(address, GOOD)).status_code == 200


async def test_a_customer_without_password_is_only_signed_out(auth):
    address = new_address()
    await auth.signed_up(address, password=None)
    body = {"email": address}
    challenge = (await auth.at(agent="curl/8").post("/sign-in/code", body)).json()
    answer = {"challengeId": challenge["challengeId"], "code": await auth.code(address)}
    other = (await auth.at(agent="curl/8").post("/sign-in/code/verify", answer)).json()
    secured = await press(auth, await newest_link(auth, address))
    assert (secured.status_code, "password" in secured.text) == (200, False)
    assert (await auth.as_(other["accessToken"]).get("/me")).status_code == 401
