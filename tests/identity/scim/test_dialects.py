"""Requests as Entra ID and Okta send them, recorded from their documentation.

https://learn.microsoft.com/entra/identity/app-provisioning/use-scim-to-provision-users-and-groups and
https://developer.okta.com/docs/api/openapi/okta-scim/guides/scim-20
"""

from tests.identity.scim.conftest import ENTERPRISE, GROUP, PATCH, USER


async def test_the_requests_of_entra_id(acme):
    # Test of the connection: a user that does not exist.
    probe = await acme.scim.get('/Users?filter=userName eq "6db7c0e5-5d4c-4d3a-8f2e-9c5b1f9b2f11"')
    assert (probe.json()["totalResults"], probe.json()["Resources"]) == (0, [])

    principal = acme.address("test_user_ab6490ee")
    created = await acme.scim.post(
        "/Users",
        {
            "schemas": [USER, ENTERPRISE],
            "externalId": "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef",
            "userName": principal,
            "active": True,
            "emails": [{"primary": True, "type": "work", "value": principal}],
            "meta": {"resourceType": "User"},
            "name": {"formatted": "givenName familyName", "familyName": "familyName", "givenName": "givenName"},
            "roles": [],
        },
    )
    assert created.status_code == 201
    user_id = created.json()["id"]
    assert [user["id"] for user in await acme.find(f'userName eq "{principal}"')] == [user_id]
    assert [user["id"] for user in await acme.find('externalId eq "0a21f0f2-8d2a-4f8e-bf98-7363c4aed4ef"')] == [user_id]

    # Multi-valued and single-valued attributes; operations in upper case, booleans as texts.
    moved = acme.address("updatedEmail")
    changed = await acme.patch(
        f"/Users/{user_id}",
        {"op": "Replace", "path": 'emails[type eq "work"].value', "value": moved},
        {"op": "Replace", "path": "name.familyName", "value": "updatedFamilyName"},
        {"op": "Add", "path": 'phoneNumbers[type eq "mobile"].value', "value": "+4915112345678"},
        {"op": "Add", "path": f"{ENTERPRISE}:department", "value": "Research"},
        {"op": "Add", "path": f"{ENTERPRISE}:manager", "value": "7"},
        {"op": "Replace", "path": "userName", "value": moved},
    )
    assert changed["emails"] == [{"primary": True, "type": "work", "value": moved}]
    assert changed["phoneNumbers"] == [{"type": "mobile", "value": "+4915112345678"}]
    assert changed[ENTERPRISE] == {"department": "Research", "manager": {"value": "7"}}
    disabled = await acme.patch(f"/Users/{user_id}", {"op": "Replace", "path": "active", "value": "False"})
    assert disabled["active"] is False
    enabled = await acme.patch(f"/Users/{user_id}", {"op": "Add", "value": {"active": "True"}})
    assert enabled["active"] is True

    group = await acme.scim.post(
        "/Groups",
        {
            "schemas": [GROUP, "http://schemas.microsoft.com/2006/11/ResourceManagement/ADSCIM/2.0/Group"],
            "externalId": "8aa1a0c0-c4c3-4bc0-b4a5-2ef676900159",
            "displayName": "Administrators",
            "meta": {"resourceType": "Group"},
        },
    )
    assert group.status_code == 201
    path = f"/Groups/{group.json()['id']}"
    await acme.patch(path, {"op": "Replace", "path": "displayName", "value": "administrators"})
    added = {"op": "Add", "path": "members", "value": [{"$ref": None, "value": user_id}]}
    await acme.patch(path, added)
    await acme.patch(path, added)
    assert await acme.members() == {moved: ["MEMBER", "ADMIN"]}
    [listed] = await acme.find('displayName eq "Administrators"', "/Groups", excludedAttributes="members")
    assert "members" not in listed
    await acme.patch(path, {"op": "Remove", "path": "members", "value": [{"$ref": None, "value": user_id}]})
    assert list((await acme.members()).values()) == [["MEMBER"]]
    assert (await acme.scim.delete(path)).status_code == 204
    assert (await acme.scim.delete(f"/Users/{user_id}")).status_code == 204
    assert (await acme.scim.get(f"/Users/{user_id}")).status_code == 404


async def test_the_requests_of_okta(acme):
    # Test of the connection, and the test of a user that does not exist.
    assert (await acme.scim.get("/Users?startIndex=1&count=2")).status_code == 200
    missing = await acme.scim.get("/Users/010101001010101011001010101011")
    assert (missing.status_code, missing.json()["status"]) == (404, "404")
    login = acme.address("isaac.brock")
    assert await acme.find(f'userName eq "{login}"', startIndex=1, count=100) == []

    body = {
        "schemas": [USER],
        "userName": login,
        "name": {"givenName": "Isaac", "familyName": "Brock"},
        "emails": [{"primary": True, "value": login, "type": "work"}],
        "displayName": "Isaac Brock",
        "locale": "en-US",
        "externalId": "00ujl29u0le5T6Aj10h7",
        "groups": [],
        "password": "1mz050nq",
        "active": True,
    }
    created = await acme.scim.post("/Users", body)
    assert created.status_code == 201
    user = created.json()
    assert "password" not in user
    again = await acme.scim.post("/Users", body)
    assert (again.status_code, again.json()["scimType"]) == (409, "uniqueness")
    profile = {**user, "name": {"givenName": "Another", "middleName": "E", "familyName": "Name"}, "displayName": None}
    replaced = await acme.scim.put(f"/Users/{user['id']}", profile)
    assert (replaced.status_code, replaced.json()["name"]["givenName"]) == (200, "Another")
    assert (await acme.customer(login))["name"] == "Another Name"
    off = await acme.patch(f"/Users/{user['id']}", {"op": "replace", "value": {"active": False}})
    assert off["active"] is False
    assert await acme.members() == {}
    on = await acme.scim.put(f"/Users/{user['id']}", {**profile, "active": True})
    assert on.json()["active"] is True

    group = await acme.scim.post("/Groups", {"schemas": [GROUP], "displayName": "Administrators", "members": []})
    assert group.status_code == 201
    path = f"/Groups/{group.json()['id']}"
    listed = (await acme.scim.get("/Groups?startIndex=1&count=100")).json()
    assert [item["id"] for item in listed["Resources"]] == [group.json()["id"]]
    operation = {"op": "replace", "value": {"id": group.json()["id"], "displayName": "ADMINISTRATORS"}}
    assert (await acme.patch(path, operation))["displayName"] == "ADMINISTRATORS"
    response = await acme.scim.patch(
        path,
        {
            "schemas": [PATCH],
            "Operations": [
                {"op": "remove", "path": 'members[value eq "23a35c27-23d3-4c03-b4c5-6443c09e7173"]'},
                {"op": "add", "path": "members", "value": [{"value": user["id"], "display": login}]},
            ],
        },
    )
    assert response.status_code == 200
    assert await acme.members() == {login: ["MEMBER", "ADMIN"]}
    members = [{"value": user["id"], "display": login}]
    await acme.patch(path, {"op": "replace", "path": "members", "value": members})
    assert (await acme.scim.put(path, {**group.json(), "members": []})).status_code == 200
    assert await acme.members() == {login: ["MEMBER"]}
