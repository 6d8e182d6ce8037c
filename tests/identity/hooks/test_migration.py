"""Lazy migration: at the first sign-in with a password, the system that the project leaves is asked."""

import asyncio
from uuid import uuid4

import pytest
from standardwebhooks import Webhook

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_second_factor import App
from tests.peers.http_receiver import Reply

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
NO = {"authenticated": False}


def yes(**fields):
    return {"authenticated": True, "customer": {"externalUserId": f"old|{uuid4()}", "emailVerified": True, **fields}}


async def test_a_person_moves_with_the_first_sign_in(auth, hooks, project, clock):
    address, organization = new_address(), f"org_{uuid4()}"
    profile = {
        "name": "Ada",
        "metadata": {"plan": "pro"},
        "totpSecret": SECRET,
        "organizations": [{"externalId": organization, "roles": ["ADMIN"]}],
    }
    await hooks.create("MIGRATION", yes(**profile))
    pending = await auth.sign_in(address)
    assert pending.status_code == 200, (await hooks.get("MIGRATION"))["recentFailures"]
    assert pending.json()["mfaRequired"] is True, "the second factor has moved, too"
    body = {"mfaToken": pending.json()["mfaToken"], "code": App(SECRET, clock).code()}
    signed_in = (await auth.post("/mfa/verify", body)).json()
    assert (signed_in["customer"]["name"], signed_in["customer"]["metadata"]) == ("Ada", {"plan": "pro"})
    assert signed_in["customer"]["emailVerifiedAt"] is not None
    members = (await project.client.get(f"/b2b/organizations?externalId={organization}")).json()
    assert len(members) == 1
    (call,) = hooks.calls("MIGRATION")
    asked = Webhook(hooks.secrets["MIGRATION"]).verify(call.body, dict(call.headers))
    assert (asked["data"]["email"], asked["data"]["password"]) == (address, GOOD)
    # From now on, the password is checked here, and the other system is not asked.
    hooks.answer("MIGRATION", Reply(status=500))
    assert (await auth.sign_in(address)).status_code == 200
    assert (await auth.sign_in(address, "another password")).status_code == 401
    assert len(hooks.calls("MIGRATION")) == 1


async def test_a_person_without_account_there_gets_the_response_to_a_wrong_password(auth, hooks, project):
    known, unknown = new_address(), new_address()
    await auth.signed_up(known)
    await hooks.create("MIGRATION", NO, timeoutMs=200)
    loop = asyncio.get_running_loop()
    durations, bodies = [], []
    for address in (known, unknown):
        began = loop.time()
        response = await auth.sign_in(address, "wrong password")
        durations.append(loop.time() - began)
        bodies.append((response.status_code, response.json()["code"], response.json()["detail"]))
    assert bodies[0] == bodies[1] == (401, "sign_in_failed", bodies[0][2])
    assert min(durations) >= 0.3, "both take as long as the slowest answer, so the duration does not tell them apart"
    (call,) = hooks.calls("MIGRATION")
    assert call.json["data"]["email"] == unknown, "passwords of customers are not sent to the other system"
    assert (await project.client.get("/customers")).json()["total"] == 1


async def test_guesses_lock_the_address_before_the_other_system_is_asked_again(auth, hooks):
    await hooks.create("MIGRATION", NO, timeoutMs=100)
    address = new_address()
    responses = [await auth.sign_in(address, f"guess {number}") for number in range(12)]
    assert [response.status_code for response in responses] == [401] * 10 + [429] * 2
    assert len(hooks.calls("MIGRATION")) == 10


@pytest.mark.parametrize(
    "answer",
    [
        {"authenticated": True},
        {"authenticated": "yes"},
        {},
        yes(passwordHash="$2b$10$C9hB01.YxRSTcn/ZOOo4j.TW7xCKKFKBSF.C7E0xiUwumqIDqWUXG"),
        yes(email="mallory@example.com"),
        yes(roles=["WIZARD"]),
        yes(metadata={"text": "x" * 20_000}),
        yes(totpSecret="no base32!"),
        yes(surname="Lovelace"),
        Reply(body=b'{"authenticated": true, "customer": {"externalUserId": "a\\u0000b"}}'),
        Reply(mode="garbage"),
    ],
)
async def test_an_answer_that_cannot_be_used_creates_nothing(auth, hooks, project, answer):
    await hooks.create("MIGRATION", answer, timeoutMs=100)
    refused = await auth.sign_in(new_address())
    assert (refused.status_code, refused.json()["code"]) == (503, "hook_failed")
    await project.developer.patch("/sign-in-hooks/MIGRATION", {"onFailure": "CONTINUE"})
    wrong = await auth.sign_in(new_address())
    assert (wrong.status_code, wrong.json()["code"]) == (401, "sign_in_failed")
    assert len((await hooks.get("MIGRATION"))["recentFailures"]) == 2
    assert (await project.client.get("/customers")).json()["total"] == 0


async def test_a_failure_of_the_other_system_does_not_lock_the_address(auth, hooks):
    await hooks.create("MIGRATION", Reply(status=500), timeoutMs=100)
    address = new_address()
    for _ in range(12):
        assert (await auth.sign_in(address)).status_code == 503
    assert len(hooks.calls("MIGRATION")) == 5


async def test_an_existing_customer_gets_a_password_only_as_the_same_person(auth, hooks, project):
    async def customer(**fields):
        body = {"email": new_address(), "emailVerified": True, **fields}
        created = await project.client.post("/customers", body)
        assert created.status_code == 201, created.text
        return body["email"], created.json()["id"]

    await hooks.create("MIGRATION", yes(emailVerified=False, name="Mallory"), timeoutMs=100)
    address, customer_id = await customer()
    assert (await auth.sign_in(address)).status_code == 401, "anybody could have registered the address there"
    hooks.answer("MIGRATION", yes(name="Mallory"))
    linked, _ = await customer(externalUserId="old|1")
    assert (await auth.sign_in(linked)).status_code == 401, "another account of the other system"
    hooks.answer("MIGRATION", yes(externalUserId="old|1", emailVerified=False))
    assert (await auth.sign_in(linked)).status_code == 200
    hooks.answer("MIGRATION", yes(name="Other name"))
    signed_in = await auth.sign_in(address)
    assert signed_in.status_code == 200, signed_in.text
    assert (signed_in.json()["customer"]["id"], signed_in.json()["customer"]["name"]) == (customer_id, None)


async def test_whoever_registered_the_address_here_loses_the_account(auth, hooks, project):
    address = new_address()
    await auth.settings(verifyEmail="LATER")
    thief = (await auth.post("/sign-up", {"email": address})).json()
    await hooks.create("MIGRATION", yes(emailVerified=False), timeoutMs=100)
    assert (await auth.sign_in(address)).status_code == 401
    hooks.answer("MIGRATION", yes())
    signed_in = (await auth.sign_in(address)).json()
    assert signed_in["customer"]["id"] == thief["customer"]["id"]
    assert signed_in["customer"]["emailVerifiedAt"] is not None
    assert (await auth.as_(thief["accessToken"]).get("/me")).status_code == 401
    assert (await auth.as_(signed_in["accessToken"]).get("/me")).status_code == 200


async def test_two_sign_ins_at_once_create_one_customer(auth, hooks, project):
    release = asyncio.Event()
    reply = Reply(body=b'{"authenticated": true, "customer": {"externalUserId": "old|7"}}', until=release)
    await hooks.create("MIGRATION", reply)
    address = new_address()
    sign_ins = [asyncio.ensure_future(auth.sign_in(address)) for _ in range(2)]
    while hooks.receiver.waiting["/MIGRATION"] < 2:
        await asyncio.sleep(0.01)
    release.set()
    statuses = sorted([(await sign_in).status_code for sign_in in sign_ins])
    assert statuses[0] == 200
    assert (await project.client.get("/customers")).json()["total"] == 1
