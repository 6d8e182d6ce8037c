"""Impersonation: members of the project's team act as a customer, visibly and for a limited time."""

from datetime import timedelta
from uuid import UUID

import jwt
import pytest

from postern.app import OPERATIONS
from tests.identity.customers.conftest import GOOD, new_address

REASON = "Ticket 4711: the invoice page stays empty"


@pytest.fixture
async def ada(auth):
    return await auth.signed_up()


async def impersonate(client, customer, **fields):
    return await client.post(f"/customers/{customer['customer']['id']}/impersonate", {"reason": REASON, **fields})


async def test_a_member_of_the_team_acts_as_a_customer_and_everybody_sees_it(auth, project, ada, clock):
    begun = await impersonate(project.developer, ada, minutes=15)
    assert begun.status_code == 200, begun.text
    tokens, email = begun.json(), project.email
    claims = jwt.decode(tokens["accessToken"], options={"verify_signature": False})
    assert (claims["sub"], claims["amr"]) == (ada["customer"]["id"], ["impersonation"])
    assert (claims["act"]["type"], claims["act"]["name"]) == ("DEVELOPER", email)
    assert "act" not in jwt.decode(ada["accessToken"], options={"verify_signature": False})
    staff = auth.as_(tokens["accessToken"])
    assert (await staff.get("/me")).json()["impersonatedBy"] == email
    own = auth.as_(ada["accessToken"])
    assert (await own.get("/me")).json()["impersonatedBy"] is None
    listed = (await own.get("/sessions")).json()
    assert [session["impersonationReason"] for session in listed] == [REASON, None]
    shown = (await project.client.get(f"/customers/{ada['customer']['id']}")).json()
    assert [session["impersonatedBy"] for session in shown["sessions"]] == [email, None]
    (event,) = (await project.client.get("/events?type=customer.impersonated")).json()["data"]
    assert (event["data"]["reason"], event["data"]["actor"]) == (REASON, email)
    # The tokens can be refreshed until the time has passed, not longer.
    renewed = await auth.post("/token/refresh", {"refreshToken": tokens["refreshToken"]})
    assert "act" in jwt.decode(renewed.json()["accessToken"], options={"verify_signature": False})
    assert (await auth.as_(renewed.json()["accessToken"]).post("/sign-out")).status_code == 204
    log = (await project.client.get(f"/customers/{ada['customer']['id']}/audit-log")).json()["data"]
    assert [entry["action"] for entry in log] == ["customer.impersonation_ended", "customer.impersonated"]
    again = (await impersonate(project.developer, ada, minutes=15)).json()
    clock.move(timedelta(minutes=15, seconds=1))
    assert (await auth.post("/token/refresh", {"refreshToken": again["refreshToken"]})).status_code == 401
    assert (await own.get("/me")).status_code == 401, "the access token of the customer has expired, too"


async def test_it_cannot_change_or_delete_what_belongs_to_the_customer(auth, project, ada):
    tokens = (await impersonate(project.developer, ada)).json()
    staff = auth.as_(tokens["accessToken"])
    name = await staff.client.patch("/me", {"name": "Ada"})
    assert (name.status_code, name.json()["name"]) == (200, "Ada")
    log = (await project.client.get(f"/customers/{ada['customer']['id']}/audit-log")).json()["data"]
    assert [entry["action"] for entry in log] == ["customer.updated", "customer.impersonated"]
    assert log[0]["metadata"]["actor"] == project.email
    other_id = "019b1f3a-5f0e-7cc0-a2f4-0c2f6a1f9d11"
    for operation in OPERATIONS:
        if operation.accepts != {"customer"} or operation.restricted:
            continue
        path = operation.path.partition("/auth")[2]
        for parameter in ("{id}", "{session_id}", "{client_id}"):
            path = path.replace(parameter, other_id)
        refused = await staff.client.request(operation.method, path.replace("{key}", "GOOGLE"), json=None)
        assert (refused.status_code, refused.json()["code"]) == (403, "impersonation_not_allowed"), operation.path
    allowed = {
        f"{operation.method} {operation.path.partition('}')[2]}" for operation in OPERATIONS if operation.restricted
    }
    assert allowed == {
        *("GET /auth/me", "PATCH /auth/me", "GET /auth/permissions", "GET /auth/sessions", "POST /auth/sign-out"),
        *("GET /auth/passkeys", "GET /auth/organizations", "GET /auth/consents"),
        *("POST /access/check", "POST /access/check/batch", "POST /b2b/entitlements/check"),
    }, "an operation is added to this list only if it changes no credential and deletes nothing"


async def test_the_customer_ends_it(auth, project, ada):
    tokens = (await impersonate(project.developer, ada)).json()
    own = auth.as_(ada["accessToken"])
    assert (await own.client.delete(f"/sessions/{tokens['sessionId']}")).status_code == 204
    assert (await auth.as_(tokens["accessToken"]).get("/me")).status_code == 401
    assert (await own.get("/me")).status_code == 200


async def test_it_needs_a_permission_of_its_own_a_reason_and_an_unbanned_customer(project, ada, new_project):
    path = f"/customers/{ada['customer']['id']}/impersonate"
    assert (await project.client.post(path, {"reason": REASON})).status_code == 403
    every = await project.key("customers:*")
    assert (await every.post(path, {"reason": REASON})).status_code == 403, "wildcards do not include it"
    test = await project.key("customers:impersonate", environment="TEST")
    assert (await test.post(path, {"reason": REASON})).status_code == 403, "the customer would not be told"
    key = await project.key("customers:impersonate")
    begun = await key.post(path, {"reason": REASON, "actor": "grace@example.com"})
    assert begun.json()["customer"]["impersonatedBy"] == "grace@example.com"
    actor = jwt.decode(begun.json()["accessToken"], options={"verify_signature": False})["act"]
    assert (actor["type"], actor["name"], UUID(actor["sub"]).version) == ("API_KEY", "grace@example.com", 7)
    for body, where in (
        ({}, ""),
        ({"reason": "  "}, "/reason"),
        ({"reason": "x" * 501}, "/reason"),
        ({"reason": REASON, "minutes": 61}, "/minutes"),
        ({"reason": REASON, "minutes": 0}, "/minutes"),
    ):
        refused = await key.post(path, body)
        assert (refused.status_code, refused.json()["errors"][0]["path"].startswith(where)) == (400, True), body
    named = await project.developer.post(path, {"reason": REASON, "actor": "somebody else"})
    assert (named.status_code, named.json()["errors"][0]["path"]) == (400, "/actor")
    other = await new_project()
    assert (await other.developer.post(path, {"reason": REASON})).status_code == 404
    await project.client.post(f"/customers/{ada['customer']['id']}/ban", {})
    banned = await key.post(path, {"reason": REASON})
    assert (banned.status_code, banned.json()["code"]) == (409, "customer_banned")


async def test_it_is_no_sign_in_of_the_customer(auth, project):
    address = new_address()
    ada = await auth.signed_up(address)
    organization = (await project.client.post("/b2b/organizations", {"name": "Acme"})).json()
    body = {"customerId": ada["customer"]["id"]}
    await project.client.post(f"/b2b/organizations/{organization['id']}/members", body)
    await project.client.patch(f"/b2b/organizations/{organization['id']}", {"requireMfa": True})
    before = len(await auth.mails(address))
    tokens = (await impersonate(project.developer, ada)).json()
    renewed = await auth.post("/token/refresh", {"refreshToken": tokens["refreshToken"]})
    assert renewed.status_code == 200, "requirements are for the customer's own sign-ins"
    (mail,) = (await auth.mails(address))[before:]
    assert REASON in mail["text"]
    await project.client.patch(f"/b2b/organizations/{organization['id']}", {"requireMfa": False})
    # The browser of the team is not a known device of the customer.
    agent = (await project.client.get(f"/customers/{ada['customer']['id']}")).json()["sessions"][0]["userAgent"]
    assert (await auth.at(agent=agent).sign_in(address, GOOD)).status_code == 200
    assert "New sign-in" in (await auth.mails(address))[-1]["subject"]
