"""Users over SCIM: creation, change, deactivation and deletion, and the customers and members they stand for."""

import asyncio
from datetime import timedelta

import psycopg
import pytest

from postern.kernel.limits import RateLimit
from tests.identity.scim.conftest import ENTERPRISE, GROUP, PATCH, USER, connect


async def test_a_user_becomes_a_verified_customer_and_a_member(acme, auth):
    body = {
        "schemas": [USER, ENTERPRISE],
        "userName": acme.address("ada"),
        "externalId": "object-1",
        "name": {"givenName": "Ada", "familyName": "Lovelace"},
        "emails": [{"value": acme.address("ada"), "type": "work", "primary": True}],
        "password": "not stored",
        "emailVerified": True,
        ENTERPRISE: {"department": "Research", "manager": "42"},
    }
    created = await acme.scim.post("/Users", body)
    assert created.status_code == 201
    user = created.json()
    assert created.headers["location"] == user["meta"]["location"] == f"{acme.connection['baseUrl']}/Users/{user['id']}"
    assert created.headers["etag"] == user["meta"]["version"] == 'W/"1"'
    assert user | {"id": "", "meta": {}} == {
        "schemas": [USER, ENTERPRISE],
        "id": "",
        "userName": acme.address("ada"),
        "externalId": "object-1",
        "name": {"givenName": "Ada", "familyName": "Lovelace"},
        "emails": [{"value": acme.address("ada"), "type": "work", "primary": True}],
        "active": True,
        ENTERPRISE: {"department": "Research", "manager": {"value": "42"}},
        "meta": {},
    }
    assert (await acme.scim.get(f"/Users/{user['id']}")).json() == user
    customer = await acme.customer(acme.address("ada"))
    assert (customer["name"], customer["emailVerifiedAt"] is not None) == ("Ada Lovelace", True)
    members = await acme.organizations.members_of(acme.organization)
    assert [(member["customerId"], member["roles"], member["source"]) for member in members] == [
        (customer["id"], ["MEMBER"], "SCIM")
    ]
    [signed_up] = (await acme.project.client.get(f"/customers/{customer['id']}/events")).json()["data"]
    assert (signed_up["type"], signed_up["actorType"]) == ("customer.signed_up", "SCIM")
    assert (signed_up["actorId"], signed_up["actorLabel"]) == (acme.connection["id"], "Acme Entra ID")
    log = (await acme.project.client.get(f"/customers/{customer['id']}/audit-log")).json()["data"]
    assert [(entry["action"], entry["actorEmail"]) for entry in log] == [("directory_user.created", "Acme Entra ID")]


async def test_the_preferred_language_is_that_of_the_customer_until_the_customer_chooses_one(acme):
    user = await acme.user("ada", preferredLanguage="pt_BR")
    assert user["preferredLanguage"] == "pt_BR"

    async def language():
        return (await acme.customer(acme.address("ada")))["language"]

    async def replace(value):
        return await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "preferredLanguage", "value": value})

    assert await language() == "pt-BR"
    customer = await acme.customer(acme.address("ada"))
    assert (await acme.project.client.patch(f"/customers/{customer['id']}", {"language": "ja"})).status_code == 200
    await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "displayName", "value": "Ada L."})
    assert await language() == "ja", "the directory has not changed its own"
    await replace("en;q=0.7, de-CH, de;q=0.9")
    assert await language() == "de-CH"
    await replace("no language, but text")
    assert await language() == "de-CH"
    # A customer who was here before keeps what was chosen, too.
    known = await acme.organizations.customer(acme.address("bob"))
    assert (await acme.project.client.patch(f"/customers/{known['id']}", {"language": "fr"})).status_code == 200
    await acme.user("bob", preferredLanguage="en-US")
    assert (await acme.customer(acme.address("bob")))["language"] == "fr"


async def test_a_duplicate_is_a_conflict(acme):
    user = await acme.user("ada", externalId="object-1")
    for fields in (
        {"userName": user["userName"].upper()},
        {"userName": "other", "externalId": "object-1"},
        {"userName": "other", "emails": user["emails"]},
    ):
        response = await acme.scim.post("/Users", {"schemas": [USER], **fields})
        assert (response.status_code, response.json()["scimType"]) == (409, "uniqueness")
    assert len(await acme.find("active eq true")) == 1
    assert list(await acme.members()) == [acme.address("ada")]


@pytest.mark.parametrize("how", ["patch", "put", "delete"])
async def test_deactivation_removes_the_member_and_ends_the_sessions_at_once(acme, auth, how):
    customer = await acme.organizations.customer(acme.address("ada"))
    user = await acme.user("ada")
    session = (await auth.sign_in(acme.address("ada"))).json()
    assert session["organizationId"] == acme.organization["id"]
    signed_in = auth.as_(session["accessToken"])
    assert (await signed_in.get("/me")).status_code == 200
    if how == "patch":
        assert (await acme.patch(f"/Users/{user['id']}", {"op": "replace", "value": {"active": False}}))["active"] is (
            False
        )
    elif how == "put":
        replaced = await acme.scim.put(f"/Users/{user['id']}", {**user, "active": "False"})
        assert (replaced.status_code, replaced.json()["active"]) == (200, False)
    else:
        assert (await acme.scim.delete(f"/Users/{user['id']}")).status_code == 204
    assert (await signed_in.get("/me")).status_code == 401
    refreshed = await auth.post("/token/refresh", {"refreshToken": session["refreshToken"]})
    assert refreshed.status_code == 401
    assert await acme.members() == {}
    [revoked] = await acme.organizations.events("customer.session_revoked")
    assert (revoked["subjectId"], revoked["data"]["reason"]) == (customer["id"], "DEPROVISIONED")
    [removed] = await acme.organizations.events("organization.member_removed")
    assert removed["data"]["customerId"] == customer["id"]
    again = (await auth.sign_in(acme.address("ada"))).json()
    assert again["organizationId"] is None
    assert (await acme.project.client.get(f"/customers/{customer['id']}")).status_code == 200


async def test_a_user_returns_with_the_roles_of_its_groups(acme):
    user = await acme.user("ada")
    await acme.group("Administrators", user)
    await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "active", "value": False})
    assert await acme.members() == {}
    again = await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "active", "value": True})
    assert again["active"] is True
    assert await acme.members() == {acme.address("ada"): ["MEMBER", "ADMIN"]}


async def test_a_removed_user_does_not_join_again_by_domain(acme, auth):
    path = f"/b2b/organizations/{acme.organization['id']}/domains"
    [domain] = (await acme.project.client.get(path)).json()
    await acme.project.client.patch(f"{path}/{domain['id']}", {"autoJoinEnabled": True})
    await acme.organizations.customer(acme.address("ada"))
    user = await acme.user("ada")
    assert (await acme.scim.delete(f"/Users/{user['id']}")).status_code == 204
    session = (await auth.sign_in(acme.address("ada"))).json()
    assert session["organizationId"] is None
    assert await acme.members() == {}


# Which customers a directory can link and change.


async def test_a_customer_is_linked_by_a_verified_domain_and_loses_what_others_may_have_set(acme, auth):
    """The customer's address was never verified: another person may have registered it (pre-hijacking)."""
    session = await auth.unverified(acme.address("ada"))
    user = await acme.user("ada", displayName="Ada Lovelace")
    customer = await acme.customer(acme.address("ada"))
    assert (customer["id"], customer["name"]) == (session["customer"]["id"], "Ada Lovelace")
    assert customer["emailVerifiedAt"] is not None
    assert (await auth.as_(session["accessToken"]).get("/me")).status_code == 401
    assert (await auth.sign_in(acme.address("ada"))).status_code == 401
    [listed] = (await acme.project.client.get(f"{acme.path}/users")).json()
    assert (listed["id"], listed["customerId"]) == (user["id"], customer["id"])


async def test_an_address_at_another_domain_is_refused_whether_or_not_it_has_an_account(acme):
    await acme.organizations.customer("ada@elsewhere.example")
    answers = []
    for address in ("ada@elsewhere.example", "bob@elsewhere.example"):
        response = await acme.scim.post("/Users", {"schemas": [USER], "userName": address})
        answers.append((response.status_code, response.json()["scimType"], response.json()["detail"]))
    assert answers[0] == answers[1]
    assert answers[0][:2] == (400, "invalidValue")
    assert "elsewhere.example" in answers[0][2]
    assert await acme.members() == {}


async def test_with_other_domains_new_guests_are_unverified_and_customers_are_not_linked(acme):
    await acme.change(allowOtherDomains=True)
    await acme.organizations.customer("ada@elsewhere.example")
    refused = await acme.scim.post("/Users", {"schemas": [USER], "userName": "ada@elsewhere.example"})
    assert (refused.status_code, refused.json()["scimType"]) == (409, "uniqueness")
    assert "verified the domain of the address" in refused.json()["detail"]
    created = await acme.scim.post("/Users", {"schemas": [USER], "userName": "bob@elsewhere.example"})
    assert created.status_code == 201
    customer = await acme.customer("bob@elsewhere.example")
    assert customer["emailVerifiedAt"] is None
    renamed = await acme.patch(f"/Users/{created.json()['id']}", {"op": "add", "path": "displayName", "value": "Bob"})
    assert renamed["displayName"] == "Bob"
    assert (await acme.customer("bob@elsewhere.example"))["name"] is None, "the organization does not vouch for it"


async def test_a_user_without_an_address_is_a_guest_until_it_gets_one(acme):
    body = {"schemas": [USER], "userName": "no-address"}
    refused = await acme.scim.post("/Users", body)
    assert (refused.status_code, refused.json()["scimType"]) == (400, "invalidValue")
    ada = await acme.user("ada")
    await acme.patch(f"/Users/{ada['id']}", {"op": "replace", "path": "active", "value": False})
    without = {"schemas": [USER], "userName": "ada", "active": True}
    assert (await acme.scim.put(f"/Users/{ada['id']}", without)).status_code == 400
    await acme.change(allowOtherDomains=True)
    created = (await acme.scim.post("/Users", body)).json()
    [listed, _] = (await acme.project.client.get(f"{acme.path}/users")).json()
    await acme.patch(
        f"/Users/{created['id']}", {"op": "add", "path": "emails", "value": [{"value": acme.address("bob")}]}
    )
    customer = await acme.customer(acme.address("bob"))
    assert (customer["id"], customer["emailVerifiedAt"] is not None) == (listed["customerId"], True)


async def test_deleted_users_count_among_the_customers_that_a_directory_creates(acme, monkeypatch):
    monkeypatch.setattr("postern.identity.scim.users.CUSTOMERS_PER_CONNECTION", 2)
    for name in ("ada", "bob"):
        assert (await acme.scim.delete(f"/Users/{(await acme.user(name))['id']}")).status_code == 204
    refused = await acme.scim.post("/Users", {"schemas": [USER], "userName": acme.address("eve")})
    assert (refused.status_code, refused.json()["scimType"]) == (400, "tooMany")


async def test_guests_are_limited_and_refused_ones_count(acme, monkeypatch):
    monkeypatch.setattr("postern.identity.scim.users.GUEST_RATE", RateLimit("guests-test", 2, timedelta(hours=1)))
    await acme.change(allowOtherDomains=True)
    await acme.organizations.customer("ada@elsewhere.example")
    statuses = []
    for name in ("ada", "bob", "eve"):
        body = {"schemas": [USER], "userName": f"{name}@elsewhere.example"}
        statuses.append((await acme.scim.post("/Users", body)).status_code)
    assert statuses == [409, 201, 429]
    await acme.user("ada")


async def test_a_member_with_another_domain_is_linked_but_not_changed(acme):
    guest = await acme.organizations.member(acme.organization, email="guest@elsewhere.example", name="Guest")
    user = await acme.scim.post(
        "/Users", {"schemas": [USER], "userName": "guest@elsewhere.example", "displayName": "Renamed"}
    )
    assert user.status_code == 201
    await acme.patch(
        f"/Users/{user.json()['id']}",
        {"op": "replace", "path": "userName", "value": "someone@elsewhere.example"},
        status=400,
    )
    customer = (await acme.project.client.get(f"/customers/{guest['id']}")).json()
    assert (customer["email"], customer["name"]) == ("guest@elsewhere.example", "Guest")


async def test_a_domain_of_another_organization_vouches_for_nothing(acme, organizations):
    """Another tenant of the project claims addresses of a domain that this organization has verified."""
    victim = await organizations.customer(acme.address("victim"))
    rival = await connect(organizations, await organizations.organization("Rival"), acme.domain, allowOtherDomains=True)
    await organizations.domain(rival.organization, "rival.example")
    answers = []
    for name in ("victim", "nobody"):
        taken = await rival.scim.post("/Users", {"schemas": [USER], "userName": acme.address(name)})
        answers.append((taken.status_code, taken.json()))
    assert answers[0] == answers[1], "whether or not it has an account"
    assert (answers[0][0], answers[0][1]["scimType"]) == (400, "invalidValue")
    path = f"/b2b/organizations/{acme.organization['id']}/domains"
    [domain] = (await acme.project.client.get(path)).json()
    assert (await acme.project.client.delete(f"{path}/{domain['id']}")).status_code == 200
    claimed = await rival.scim.post("/Users", {"schemas": [USER], "userName": acme.address("new")})
    assert claimed.status_code == 201
    assert (await rival.customer(acme.address("new")))["emailVerifiedAt"] is None
    await organizations.verified_domain(acme.organization, acme.domain, auto_join=False)
    moved = await rival.patch(
        f"/Users/{claimed.json()['id']}",
        {"op": "replace", "path": "userName", "value": acme.address("victim")},
        status=400,
    )
    assert moved["scimType"] == "invalidValue"
    assert (await rival.project.client.get(f"/customers/{victim['id']}")).json()["name"] is None
    [listed] = (await rival.project.client.get(f"{rival.path}/users")).json()
    assert listed["customerId"] != victim["id"]
    owner = await acme.user("new", displayName="Real")
    assert (await acme.customer(acme.address("new")))["name"] == "Real"
    await rival.patch(f"/Users/{claimed.json()['id']}", {"op": "add", "path": "displayName", "value": "Mine"})
    assert (await acme.customer(acme.address("new")))["name"] == "Real", "only the owner of the domain renames"
    assert (await rival.scim.delete(f"/Users/{claimed.json()['id']}")).status_code == 204
    assert list(await acme.members()) == [owner["userName"]]


async def test_an_address_that_another_may_have_registered_is_verified_like_at_creation(acme, auth):
    """The member was linked while the domain was not verified, and has a password that another person may know."""
    path = f"/b2b/organizations/{acme.organization['id']}/domains"
    [domain] = (await acme.project.client.get(path)).json()
    assert (await acme.project.client.delete(f"{path}/{domain['id']}")).status_code == 200
    member = await acme.organizations.member(acme.organization, email=acme.address("ada"), verified=False)
    user = (await acme.scim.post("/Users", {"schemas": [USER], "userName": acme.address("ada")})).json()
    assert (await auth.sign_in(acme.address("ada"))).status_code == 200
    await acme.organizations.verified_domain(acme.organization, acme.domain, auto_join=False)
    await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "userName", "value": acme.address("lovelace")})
    customer = (await acme.project.client.get(f"/customers/{member['id']}")).json()
    assert (customer["email"], customer["emailVerifiedAt"] is not None) == (acme.address("lovelace"), True)
    assert (await auth.sign_in(acme.address("lovelace"))).status_code == 401


async def test_a_user_stays_inactive_until_the_directory_activates_it(acme):
    user = await acme.user("ada")
    path = f"/Users/{user['id']}"
    await acme.patch(path, {"op": "replace", "path": "active", "value": False})
    await acme.patch(path, {"op": "remove", "path": "active"})
    replaced = await acme.scim.put(path, {"schemas": [USER], "userName": user["userName"]})
    assert (replaced.status_code, replaced.json()["active"]) == (200, False)
    assert await acme.members() == {}


async def test_long_names_are_refused(acme):
    user = await acme.user("ada")
    for name in ("userName", "externalId", "displayName"):
        for method, path in (("POST", "/Users"), ("PUT", f"/Users/{user['id']}")):
            body = {"schemas": [USER], "userName": acme.address("ada"), name: "\u4e2d" * 1_000}
            refused = await acme.scim.request(method, path, json=body)
            assert (refused.status_code, refused.json()["scimType"]) == (400, "invalidValue"), (name, method)
    refused = await acme.scim.post("/Groups", {"schemas": [GROUP], "displayName": "\u4e2d" * 1_000})
    assert refused.status_code == 400
    await acme.user(displayName="\u4e2d" * 600, externalId="\u4e2d" * 600)


async def test_name_and_address_follow_the_directory_within_the_verified_domain(acme):
    user = await acme.user("ada", name={"givenName": "Ada", "familyName": "Byron"})
    customer = await acme.customer(acme.address("ada"))
    await acme.patch(
        f"/Users/{user['id']}",
        {"op": "replace", "path": "name.familyName", "value": "Lovelace"},
        {"op": "replace", "path": 'emails[type eq "work"].value', "value": acme.address("lovelace")},
        {"op": "replace", "path": "userName", "value": acme.address("lovelace")},
    )
    renamed = (await acme.project.client.get(f"/customers/{customer['id']}")).json()
    assert (renamed["email"], renamed["name"]) == (acme.address("lovelace"), "Ada Lovelace")
    assert renamed["emailVerifiedAt"] is not None
    await acme.organizations.customer(acme.address("taken"))
    emails = [{"value": acme.address("taken"), "primary": True}]
    response = await acme.patch(
        f"/Users/{user['id']}", {"op": "replace", "path": "emails", "value": emails}, status=409
    )
    assert response["scimType"] == "uniqueness"
    outside = [{"value": "ada@elsewhere.example"}]
    response = await acme.patch(
        f"/Users/{user['id']}", {"op": "replace", "path": "emails", "value": outside}, status=400
    )
    assert response["scimType"] == "invalidValue"


async def test_a_lapsed_domain_lets_users_leave_but_not_return(acme):
    user = await acme.user("ada")
    path = f"/b2b/organizations/{acme.organization['id']}/domains"
    [domain] = (await acme.project.client.get(path)).json()
    assert (await acme.project.client.delete(f"{path}/{domain['id']}")).status_code == 200
    await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "displayName", "value": "Ada"})
    assert (await acme.customer(acme.address("ada")))["name"] is None
    await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "active", "value": False})
    assert await acme.members() == {}
    await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "active", "value": True}, status=400)
    assert await acme.members() == {}


async def test_the_last_owner_stays_until_there_is_another(acme):
    user = await acme.user("ada")
    customer = await acme.customer(acme.address("ada"))
    member = f"/b2b/organizations/{acme.organization['id']}/members/{customer['id']}"
    assert (await acme.project.client.patch(member, {"roles": ["OWNER"]})).status_code == 200
    for request in (
        acme.scim.delete(f"/Users/{user['id']}"),
        acme.scim.patch(
            f"/Users/{user['id']}", {"schemas": [PATCH], "Operations": [{"op": "replace", "value": {"active": False}}]}
        ),
    ):
        assert (await request).status_code == 409
    assert (await acme.find("active eq true"))[0]["id"] == user["id"]
    await acme.organizations.member(acme.organization, "OWNER")
    assert (await acme.scim.delete(f"/Users/{user['id']}")).status_code == 204


async def test_a_suspended_organization_gets_no_members_but_loses_them(acme):
    user = await acme.user("ada")
    organization = f"/b2b/organizations/{acme.organization['id']}"
    assert (await acme.project.client.patch(organization, {"status": "SUSPENDED"})).status_code == 200
    refused = await acme.scim.post("/Users", {"schemas": [USER], "userName": acme.address("bob")})
    assert refused.status_code == 409
    for path in (f"/Users/{user['id']}", "/Groups"):
        change = {"schemas": [PATCH], "Operations": [{"op": "add", "path": "title", "value": "x"}]}
        request = (
            acme.scim.patch(path, change)
            if path != "/Groups"
            else acme.scim.post(path, {"schemas": [GROUP], "displayName": "x"})
        )
        assert (await request).status_code == 409
    await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "active", "value": False})
    assert await acme.members() == {}
    assert (await acme.scim.delete(f"/Users/{user['id']}")).status_code == 204


async def test_merged_and_erased_customers(acme):
    ada, bob = await acme.user("ada"), await acme.user("bob")
    first, second = [await acme.customer(acme.address(name)) for name in ("ada", "bob")]
    for customer, external_id in ((first, "1"), (second, "2")):
        linked = await acme.project.client.post(
            "/customers/link", {"customerId": customer["id"], "externalUserId": external_id}
        )
        assert linked.status_code == 200, linked.text
    await acme.project.client.post("/customers/link", {"customerId": first["id"], "externalUserId": "2"})
    users = (await acme.project.client.get(f"{acme.path}/users")).json()
    assert {user["customerId"] for user in users} <= {first["id"], second["id"]}
    [survivor_id] = {user["customerId"] for user in users}
    assert (await acme.project.client.delete(f"/customers/{survivor_id}")).status_code == 200
    assert [(await acme.scim.get(f"/Users/{user['id']}")).status_code for user in (ada, bob)] == [404, 404]
    assert (await acme.user("ada"))["id"] != ada["id"], "the directory can provision the person again"


async def test_roles_of_merged_users_are_taken_away_with_their_groups(acme, run_due_work):
    await acme.user("ada", active=False)
    bob = await acme.user("bob")
    group = await acme.group("Administrators", bob)
    first, second = [await acme.customer(acme.address(name)) for name in ("ada", "bob")]
    for customer, external_id in ((second, "2"), (first, "2")):
        linked = await acme.project.client.post(
            "/customers/link", {"customerId": customer["id"], "externalUserId": external_id}
        )
        assert linked.status_code == 200, linked.text
    await run_due_work()
    assert await acme.members() == {acme.address("ada"): ["MEMBER", "ADMIN"]}
    [kept] = await acme.find("active eq true")
    assert (kept["userName"], kept["groups"][0]["value"]) == (acme.address("ada"), group["id"])
    assert (await acme.scim.delete(f"/Groups/{group['id']}")).status_code == 204
    assert await acme.members() == {acme.address("ada"): ["MEMBER"]}


async def test_a_change_waits_for_an_erasure_without_a_deadlock(acme, world, lock_waits):
    """The erasure locks the customer, and then its users."""
    user = await acme.user("ada")
    customer = await acme.customer(acme.address("ada"))
    async with await psycopg.AsyncConnection.connect(world.db.url) as erasure:
        query = "select from customers where project_id = %s and id = %s for update"
        await erasure.execute(query, (acme.organizations.project.id, customer["id"]))
        change = asyncio.create_task(acme.scim.put(f"/Users/{user['id']}", user | {"title": "Countess"}))
        await lock_waits(1)
        query = "delete from directory_users where project_id = %s and id = %s"
        await erasure.execute(query, (acme.organizations.project.id, user["id"]))
        await erasure.commit()
        assert (await change).status_code == 404


# Versions, pages and selected attributes.


async def test_if_match_and_if_none_match(acme):
    user = await acme.user("ada")
    path = f"/Users/{user['id']}"
    step = {"op": "replace", "path": "title", "value": "Countess"}
    changed = await acme.patch(path, step, headers={"if-match": user["meta"]["version"]})
    assert changed["meta"]["version"] == 'W/"2"'
    for method, body in (
        ("PATCH", {"schemas": [PATCH], "Operations": [step]}),
        ("PUT", user),
        ("DELETE", None),
    ):
        stale = await acme.scim.request(method, path, json=body, headers={"if-match": user["meta"]["version"]})
        assert stale.status_code == 412
    same = await acme.patch(path, step, headers={"if-match": "*"})
    assert same["meta"] == changed["meta"], "nothing has changed"
    assert (await acme.scim.get(path, headers={"if-none-match": 'W/"2"'})).status_code == 304
    assert (await acme.scim.get(path, headers={"if-none-match": 'W/"1"'})).status_code == 200
    assert (await acme.scim.delete(path, headers={"if-match": 'W/"1", W/"2"'})).status_code == 204


async def test_pages_and_selected_attributes(acme):
    users = [await acme.user(f"user{number}") for number in range(5)]
    page = (await acme.scim.get("/Users?startIndex=2&count=2")).json()
    assert (page["totalResults"], page["startIndex"], page["itemsPerPage"]) == (5, 2, 2)
    assert [user["id"] for user in page["Resources"]] == [user["id"] for user in users[1:3]]
    beyond = (await acme.scim.get("/Users?startIndex=9")).json()
    assert (beyond["totalResults"], beyond["Resources"]) == (5, [])
    assert (await acme.scim.get("/Users?count=0")).json()["totalResults"] == 5
    assert (await acme.scim.get("/Users?startIndex=-4&count=-1")).json()["itemsPerPage"] == 0
    for query in ("startIndex=x", "count=1e3", "count=99999999999999999999"):
        assert (await acme.scim.get(f"/Users?{query}")).status_code == 400
    [first, *_] = (await acme.scim.get("/Users?attributes=userName,emails.value,name")).json()["Resources"]
    assert first == {
        "schemas": [USER],
        "id": users[0]["id"],
        "userName": users[0]["userName"],
        "emails": [{"value": users[0]["userName"]}],
    }
    without = (await acme.scim.get(f"/Users/{users[0]['id']}?excludedAttributes=emails,meta,id")).json()
    assert without == {"schemas": [USER], "id": users[0]["id"], "userName": users[0]["userName"], "active": True}
    searched = await acme.scim.post(
        "/Users/.search",
        {"schemas": ["urn:ietf:params:scim:api:messages:2.0:SearchRequest"], "attributes": ["userName"], "count": 1},
    )
    assert searched.json()["Resources"] == [{name: users[0][name] for name in ("schemas", "id", "userName")}]
    await acme.group("Everyone", *users)
    both = (await acme.scim.post("/.search", {"startIndex": 5, "count": 10})).json()
    assert [resource["meta"]["resourceType"] for resource in both["Resources"]] == ["User", "Group"]
    assert both["totalResults"] == 6
    only_groups = (await acme.scim.post("/.search", {"filter": f'members.value eq "{users[0]["id"]}"'})).json()
    assert only_groups["totalResults"] == 1


async def test_the_number_of_users_is_limited_without_counting_them_each_time(acme, monkeypatch):
    monkeypatch.setattr("postern.identity.scim.users.USERS_PER_CONNECTION", 2)
    first = await acme.user("ada", active=False)
    await acme.user("bob", active=False)
    body = {"schemas": [USER], "userName": acme.address("eve")}
    refused = await acme.scim.post("/Users", body)
    assert (refused.status_code, refused.json()["scimType"]) == (400, "tooMany")
    customer = await acme.customer(first["userName"])
    assert (await acme.project.client.delete(f"/customers/{customer['id']}")).status_code == 200
    assert (await acme.scim.post("/Users", body)).status_code == 201, "the user was erased with the customer"
    assert (await acme.scim.post("/Users", {**body, "userName": "x"})).status_code == 400
