"""Records of customers: consistent times, events, ETags and errors, and the fields that a project can change."""

import asyncio
from datetime import timedelta
from uuid import uuid4

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_second_factor import with_passkey
from tests.identity.organizations.conftest import directory

__all__ = ["directory"]


async def test_all_operations_report_the_same_end_of_a_session(auth, project):
    """Regression test of I6 (tests/defects.md)."""
    sign_up = await auth.signed_up()
    path = f"/customers/{sign_up['customer']['id']}"
    own_session = (await auth.as_(sign_up["accessToken"]).get("/sessions")).json()[0]
    session = (await project.client.get(path)).json()["sessions"][0]
    entries = (await project.client.get(f"{path}/timeline")).json()["data"]
    expires_at = next(entry["data"]["expiresAt"] for entry in entries if entry["kind"] == "SESSION")
    assert own_session["expiresAt"] == session["expiresAt"] == expires_at == sign_up["refreshTokenExpiresAt"]


async def test_adding_and_removing_a_passkey_are_events(auth, project):
    """Regression test of I6 (tests/defects.md)."""
    sign_up, ada, _, passkey, _ = await with_passkey(auth, new_address())
    assert (await ada.client.delete(f"/passkeys/{passkey['id']}")).status_code == 204
    path = f"/customers/{sign_up['customer']['id']}"
    events = (await project.client.get(f"{path}/events")).json()["data"]
    metadata = {event["type"]: event["metadata"] for event in events if "passkey" in event["type"]}
    assert metadata["customer.passkey_added"] == {"passkeyId": passkey["id"], "name": "Laptop"}
    assert metadata["customer.passkey_removed"] == {"passkeyId": passkey["id"]}
    assert not [event for event in events if "mfa" in event["type"]]


async def test_the_etag_of_a_customer_changes_with_its_body(auth, project, clock):
    """Regression test of I6 (tests/defects.md)."""
    address = new_address()
    sign_up = await auth.signed_up(address)
    path = f"/customers/{sign_up['customer']['id']}"
    first = await project.client.get(path)
    assert (await project.client.get(path)).headers["etag"] == first.headers["etag"]
    etags = {first.headers["etag"]}
    for change in (
        lambda: auth.sign_in(address),
        lambda: auth.sign_in(address, "wrong password"),
        lambda: project.client.post(f"{path}/sessions/revoke-all"),
        lambda: project.client.patch(f"{path}/metadata", {"metadata": {"a": 1}}),
    ):
        await change()
        etags.add((await project.client.get(path)).headers["etag"])
    assert len(etags) == 5
    tag = (await project.client.get(path)).headers["etag"]
    body = {"metadata": {"a": 2}}
    clock.move(timedelta(seconds=1))
    assert (await project.client.patch(f"{path}/metadata", body, headers={"if-match": tag})).status_code == 200
    stale = await project.client.patch(f"{path}/metadata", body, headers={"if-match": tag})
    assert stale.status_code == 412


async def test_the_etag_of_an_organization_changes_with_its_counts(directory):
    """Regression test of I6 (tests/defects.md)."""
    acme = await directory.organization()
    path = f"/b2b/organizations/{acme['id']}"
    first = (await directory.project.client.get(path)).headers["etag"]
    await directory.member(acme)
    second = (await directory.project.client.get(path)).headers["etag"]
    await directory.project.client.post(f"{path}/invitations", {"email": new_address()})
    assert len({first, second, (await directory.project.client.get(path)).headers["etag"]}) == 3


async def test_invalid_values_are_400_with_the_path_of_the_value(auth, project):
    """Regression test of I6 (tests/defects.md)."""
    sign_up = await auth.signed_up()
    customer = f"/customers/{sign_up['customer']['id']}"
    ada = auth.as_(sign_up["accessToken"])
    for response, code, path in (
        (await auth.post("/sign-up", {"email": new_address(), "password": "password123"}), "password_common", None),
        (
            await ada.post("/password/change", {"currentPassword": GOOD, "newPassword": "password123"}),
            "password_common",
            "/newPassword",
        ),
        (
            await project.client.post("/customers", {"email": new_address(), "passwordHash": "x" * 20}),
            "hash_refused",
            "/passwordHash",
        ),
        (
            await project.client.patch(f"{customer}/metadata", {"metadata": {"a": "x" * 17_000}}),
            "metadata_too_large",
            "/metadata",
        ),
    ):
        assert (response.status_code, response.json()["code"]) == (400, code), response.text
        assert [error["path"] for error in response.json()["errors"]] == [path or "/password"]


async def test_missing_and_unknown_permissions_have_different_codes(project):
    """Regression test of I6 (tests/defects.md)."""
    reader = await project.key("access:read")
    missing = await reader.delete("/access/permissions/nothing.here")
    unknown = await project.client.delete("/access/permissions/nothing.here")
    assert (missing.status_code, missing.json()["code"]) == (403, "permission_missing")
    assert (unknown.status_code, unknown.json()["code"]) == (404, "permission_unknown")


async def test_changes_by_a_key_are_in_the_timeline_once_with_their_actor(project):
    """Regression test of I6 (tests/defects.md)."""
    customer = (await project.client.post("/customers", {"email": new_address()})).json()
    path = f"/customers/{customer['id']}"
    for change in ("ban", "unban", "unlock", "mfa/reset"):
        await project.client.post(f"{path}/{change}")
    await project.developer.patch(f"{path}/metadata", {"metadata": {"a": 1}})
    merged = (await project.client.post("/customers", {"externalUserId": "u-1"})).json()
    await project.client.post("/customers/link", {"customerId": customer["id"], "externalUserId": "u-1"})
    entries = (await project.client.get(f"{path}/timeline")).json()["data"]
    types = sorted(entry["type"] for entry in entries)
    expected = ["banned", "linked", "metadata_updated", "mfa_reset", "signed_up", "signed_up", "unbanned", "unlocked"]
    assert types == [f"customer.{change}" for change in expected]
    for entry in entries:
        assert entry["actor"]["type"] == ("DEVELOPER" if "metadata" in entry["type"] else "API_KEY")
        assert entry["actor"]["id"] is not None
    log = (await project.client.get(f"{path}/audit-log")).json()["data"]
    linked = next(entry for entry in log if entry["action"] == "customer.linked")
    assert linked["metadata"] == {"mergedCustomerId": merged["id"]}


async def test_audit_metadata_is_in_camel_case(auth, project):
    """Regression test of I6 (tests/defects.md)."""
    sign_up = await auth.signed_up()
    path = f"/customers/{sign_up['customer']['id']}"
    await project.client.post(f"{path}/sessions/{sign_up['sessionId']}/revoke")
    log = (await project.client.get(f"{path}/audit-log")).json()["data"]
    assert log[0]["metadata"] == {"sessionId": sign_up["sessionId"]}


async def test_the_last_owner_cannot_be_deleted_without_transferring_ownership(directory):
    """Regression test of I7 (tests/defects.md)."""
    client = directory.project.client
    acme, other = await directory.organization(), await directory.organization("Other")
    owner = await directory.member(acme, "OWNER")
    await client.post(f"/b2b/organizations/{other['id']}/members", {"customerId": owner["id"], "roles": ["OWNER"]})
    new_owner = await directory.member(other, "MEMBER")
    for path in (f"/customers/{owner['id']}", f"/apps/{directory.project.id}/end-users/{owner['id']}"):
        refused = await client.delete(path)
        assert (refused.status_code, refused.json()["code"]) == (409, "customer_owns_organizations")
        assert "transferOwnershipTo" in refused.json()["next"]
        messages = " ".join(error["message"] for error in refused.json()["errors"])
        assert acme["id"] in messages
        assert other["id"] in messages
    path = f"/customers/{owner['id']}"
    for invalid_id in (owner["id"], str(uuid4())):
        unknown = await client.delete(f"{path}?transferOwnershipTo={invalid_id}")
        assert (unknown.status_code, unknown.json()["errors"][0]["path"]) == (400, "query/transferOwnershipTo")
    assert (await client.get(path)).status_code == 200
    assert (await client.delete(f"{path}?transferOwnershipTo={new_owner['id']}")).status_code == 200
    for organization, roles in ((acme, ["OWNER"]), (other, ["MEMBER", "OWNER"])):
        members = (await client.get(f"/b2b/organizations/{organization['id']}/members")).json()
        assert [(member["customerId"], sorted(member["roles"])) for member in members] == [(new_owner["id"], roles)]
    assert (await client.delete(f"/b2b/organizations/{acme['id']}")).status_code == 200
    assert (await client.delete(f"/b2b/organizations/{other['id']}")).status_code == 200
    assert (await client.delete(f"/customers/{new_owner['id']}")).status_code == 200


async def test_concurrent_deletions_of_two_owners_leave_one(directory):
    """Regression test of I7 (tests/defects.md)."""
    acme = await directory.organization()
    owners = [await directory.member(acme, "OWNER") for _ in range(2)]
    responses = await asyncio.gather(
        *(directory.project.client.delete(f"/customers/{owner['id']}") for owner in owners)
    )
    assert sorted(response.status_code for response in responses) == [200, 409]


async def test_a_project_can_change_address_name_and_phone(auth, project, clock):
    """Regression test of I9 (tests/defects.md)."""
    old, new = new_address(), new_address()
    sign_up = await auth.signed_up(old)
    path = f"/customers/{sign_up['customer']['id']}"
    challenge = (await auth.post("/sign-in/code", {"email": old})).json()
    code = await auth.code(old)
    body = {"email": new, "name": "Ada", "phone": "+15550100", "phoneVerified": True}
    changed = (await project.client.patch(path, body)).json()
    assert (changed["email"], changed["emailVerifiedAt"], changed["name"]) == (new, None, "Ada")
    assert changed["phone"] == "+15550100"
    assert changed["phoneVerifiedAt"] is not None
    late = await auth.post("/sign-in/code/verify", {"challengeId": challenge["challengeId"], "code": code})
    assert late.status_code == 401, "the code was mailed to the old address"
    assert (await auth.sign_in(old)).status_code == 401
    assert (await auth.sign_in(new)).status_code == 200
    assert "address was changed" in (await auth.mails(old))[-1]["subject"]
    verified = (await project.client.patch(path, {"emailVerified": True})).json()
    assert verified["emailVerifiedAt"] is not None
    new_phone = (await project.client.patch(path, {"phone": "+15550101"})).json()
    assert (new_phone["phone"], new_phone["phoneVerifiedAt"], new_phone["email"]) == ("+15550101", None, new)
    removed = (await project.client.patch(path, {"phone": None, "name": None})).json()
    assert (removed["phone"], removed["name"]) == (None, None)
    log = (await project.client.get(f"{path}/audit-log")).json()["data"]
    assert log[0]["metadata"] == {"changed": ["name", "phone"]}
    events = (await project.client.get(f"{path}/events")).json()["data"]
    assert sum(event["type"] == "customer.updated" for event in events) == 4


async def test_an_invalid_change_has_no_effect(project):
    """Regression test of I9 (tests/defects.md)."""
    other = (await project.client.post("/customers", {"email": new_address()})).json()
    customer = (await project.client.post("/customers", {"name": "Ada"})).json()
    path = f"/customers/{customer['id']}"
    for body, status, code in (
        ({"email": other["email"], "name": "Eve"}, 409, "email_taken"),
        ({"email": "nonsense"}, 400, "invalid"),
        ({"email": None}, 400, "invalid"),
        ({"emailVerified": True}, 400, "invalid"),
        ({"phoneVerified": True}, 400, "invalid"),
        ({"phone": "12"}, 400, "invalid"),
        ({"colour": "red"}, 400, "invalid"),
    ):
        refused = await project.client.patch(path, body)
        assert (refused.status_code, refused.json()["code"]) == (status, code), body
    assert (await project.client.get(path)).json()["name"] == "Ada"
    assert (await project.client.patch(f"/customers/{uuid4()}", {"name": "Eve"})).status_code == 404
    reader = await project.key("customers:read")
    assert (await reader.patch(path, {"name": "Eve"})).status_code == 403


async def test_a_customer_is_created_with_a_verified_phone_number(project):
    """Regression test of I9 (tests/defects.md)."""
    customer = (await project.client.post("/customers", {"phone": "+15550100", "phoneVerified": True})).json()
    assert customer["phoneVerifiedAt"] is not None
    refused = await project.client.post("/customers", {"name": "Ada", "phoneVerified": True})
    assert refused.json()["errors"][0]["path"] == "/phoneVerified"


async def test_a_key_can_list_the_organizations_of_a_customer(directory):
    """Regression test of I9 (tests/defects.md)."""
    client = directory.project.client
    acme, other = await directory.organization(), await directory.organization("Other")
    ada = await directory.member(acme, "ADMIN")
    await client.post(f"/b2b/organizations/{other['id']}/members", {"customerId": ada["id"]})
    memberships = (await client.get(f"/customers/{ada['id']}/organizations")).json()
    assert [(membership["organization"]["id"], membership["roles"]) for membership in memberships] == [
        (other["id"], ["MEMBER"]),
        (acme["id"], ["ADMIN"]),
    ]
    assert (await client.get(f"/customers/{uuid4()}/organizations")).status_code == 404
    other_key = await directory.project.key("customers:read")
    assert (await other_key.get(f"/customers/{ada['id']}/organizations")).status_code == 403


async def test_the_plan_of_an_organization_can_be_read(directory):
    """Regression test of I9 (tests/defects.md)."""
    client = directory.project.client
    acme = await directory.organization()
    path = f"/b2b/organizations/{acme['id']}/plan"
    without_plan = (await client.get(path)).json()
    assert without_plan == {"organizationId": acme["id"], "planKey": None, "plan": None}
    assert (await client.post("/b2b/plans", {"key": "pro", "name": "Pro"})).status_code == 201
    assert (await client.put(path, {"planKey": "pro"})).status_code == 204
    with_plan = (await client.get(path)).json()
    assert (with_plan["planKey"], with_plan["plan"]["name"]) == ("pro", "Pro")
    assert (await client.get(f"/b2b/organizations/{uuid4()}/plan")).status_code == 404
