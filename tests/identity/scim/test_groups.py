"""Groups over SCIM, and the roles that their members get."""

from uuid import uuid4

import pytest

from tests.identity.scim.conftest import BULK, GROUP


async def roles(acme, name):
    return sorted((await acme.members())[acme.address(name)])


async def test_a_role_comes_and_goes_with_the_group(acme):
    ada, bob = await acme.user("ada"), await acme.user("bob")
    group = await acme.group("ADMINISTRATORS", ada, externalId="group-1")
    assert group | {"id": 0, "meta": 0} == {
        "schemas": [GROUP],
        "id": 0,
        "externalId": "group-1",
        "displayName": "ADMINISTRATORS",
        "members": [{"value": ada["id"], "$ref": ada["meta"]["location"]}],
        "meta": 0,
    }
    assert (await acme.scim.get(f"/Groups/{group['id']}")).json() == group
    read = (await acme.scim.get(f"/Users/{ada['id']}")).json()
    assert read["groups"] == [{"value": group["id"], "$ref": group["meta"]["location"], "display": "ADMINISTRATORS"}]
    assert (await roles(acme, "ada"), await roles(acme, "bob")) == (["ADMIN", "MEMBER"], ["MEMBER"])
    path = f"/Groups/{group['id']}"
    await acme.patch(path, {"op": "Add", "path": "members", "value": [{"value": bob["id"]}]})
    assert await roles(acme, "bob") == ["ADMIN", "MEMBER"]
    await acme.patch(path, {"op": "Remove", "path": "members", "value": [{"value": ada["id"]}]})
    assert await roles(acme, "ada") == ["MEMBER"]
    await acme.patch(path, {"op": "replace", "value": {"displayName": "Others"}})
    assert await roles(acme, "bob") == ["MEMBER"], "the name has no roles"
    await acme.patch(path, {"op": "replace", "path": "displayName", "value": "Administrators"})
    assert await roles(acme, "bob") == ["ADMIN", "MEMBER"]
    assert (await acme.scim.delete(path)).status_code == 204
    assert await roles(acme, "bob") == ["MEMBER"]
    assert (await acme.scim.get(path)).status_code == 404


async def test_a_change_returns_the_members_only_if_they_are_asked_for(acme, monkeypatch):
    users = [await acme.user(name) for name in ("ada", "bob")]
    group = await acme.group("Others", *users)
    monkeypatch.setattr("postern.identity.scim.groups.RETURNED_MEMBERS", 1)
    rename = {"op": "replace", "path": "displayName", "value": "Renamed"}
    path = f"/Groups/{group['id']}"
    assert (await acme.patch(path, rename, status=400))["scimType"] == "tooMany"
    for query in ("excludedAttributes=members", "attributes=displayName"):
        renamed = await acme.patch(f"{path}?{query}", rename)
        assert (renamed["displayName"], "members" in renamed) == ("Renamed", False)
    data = {"schemas": [GROUP], "displayName": "Others", "members": [{"value": user["id"]} for user in users]}
    operations = [{"method": "PUT", "path": path, "data": data}]
    results = (await acme.scim.post("/Bulk", {"schemas": [BULK], "Operations": operations})).json()
    assert results["Operations"][0]["status"] == "200"


async def test_roles_of_many_members_are_computed_in_the_background(acme, monkeypatch, run_due_work):
    users = [await acme.user(name) for name in ("ada", "bob")]
    group = await acme.group("Others", *users)
    monkeypatch.setattr("postern.identity.scim.groups.SYNCHRONIZED_USERS", 1)
    await acme.patch(f"/Groups/{group['id']}", {"op": "replace", "path": "displayName", "value": "Administrators"})
    assert [await roles(acme, name) for name in ("ada", "bob")] == [["MEMBER"]] * 2
    await run_due_work()
    assert [await roles(acme, name) for name in ("ada", "bob")] == [["ADMIN", "MEMBER"]] * 2


async def test_roles_that_were_assigned_otherwise_stay(acme):
    ada = await acme.user("ada")
    customer = await acme.customer(acme.address("ada"))
    member = f"/b2b/organizations/{acme.organization['id']}/members/{customer['id']}"
    await acme.project.client.patch(member, {"roles": ["ADMIN"]})
    group = await acme.group("Administrators", ada)
    assert await roles(acme, "ada") == ["ADMIN", "MEMBER"]
    [listed] = (await acme.project.client.get(f"{acme.path}/users")).json()
    assert [role["role"] for role in listed["roles"]] == ["MEMBER"]
    await acme.scim.delete(f"/Groups/{group['id']}")
    assert await roles(acme, "ada") == ["ADMIN", "MEMBER"]


async def test_the_last_owner_stays_owner_without_the_group(acme):
    await acme.change(groupRoles={"Owners": ["OWNER"]})
    ada, bob = await acme.user("ada"), await acme.user("bob")
    group = await acme.group("Owners", ada, bob)
    assert [await roles(acme, name) for name in ("ada", "bob")] == [["MEMBER", "OWNER"]] * 2
    await acme.patch(f"/Groups/{group['id']}", {"op": "remove", "path": "members"})
    assert sorted([await roles(acme, "ada"), await roles(acme, "bob")]) == [["MEMBER"], ["MEMBER", "OWNER"]]


async def test_every_form_of_a_change_of_members(acme):
    ada, bob, eve = [await acme.user(name) for name in ("ada", "bob", "eve")]
    group = await acme.group("Everyone", ada)
    path = f"/Groups/{group['id']}"

    async def after(*operations):
        changed = await acme.patch(path, *operations)
        return {member["value"] for member in changed.get("members", [])}

    ids = {user["id"] for user in (ada, bob, eve)}
    assert await after({"op": "add", "value": {"members": [{"value": bob["id"]}, {"value": eve["id"]}]}}) == ids
    assert await after({"op": "remove", "path": f'members[value eq "{ada["id"]}"]'}) == {bob["id"], eve["id"]}
    assert await after({"op": "remove", "path": f'members[value eq "{ada["id"]}"]'}) == {bob["id"], eve["id"]}
    either = f'members[value eq "{bob["id"]}" or value eq "{eve["id"]}"]'
    assert await after({"op": "remove", "path": either}, {"op": "add", "path": "members", "value": ada["id"]}) == {
        ada["id"]
    }
    assert await after({"op": "replace", "path": "members", "value": [{"$ref": eve["meta"]["location"]}]}) == {
        eve["id"]
    }
    assert await after({"op": "replace", "value": {"id": group["id"], "members": [{"value": bob["id"]}]}}) == {
        bob["id"]
    }
    assert await after({"op": "remove", "path": "members"}) == set()
    replaced = await acme.scim.put(path, {"schemas": [GROUP], "displayName": "All", "members": [{"value": ada["id"]}]})
    assert [member["value"] for member in replaced.json()["members"]] == [ada["id"]]
    assert (await acme.find('displayName eq "all"', "/Groups"))[0]["id"] == group["id"]
    emptied = await acme.scim.put(path, {"schemas": [GROUP], "displayName": "All"})
    assert "members" not in emptied.json()


async def test_what_a_group_refuses(acme):
    ada = await acme.user("ada")
    group = await acme.group("Everyone", ada, externalId="1")
    path = f"/Groups/{group['id']}"
    for fields in ({"displayName": "EVERYONE"}, {"displayName": "x", "externalId": "1"}):
        duplicate = await acme.scim.post("/Groups", {"schemas": [GROUP], **fields})
        assert (duplicate.status_code, duplicate.json()["scimType"]) == (409, "uniqueness")
    for member in (str(uuid4()), "x", group["id"]):
        operation = {"op": "add", "path": "members", "value": [{"value": ada["id"]}, {"value": member}]}
        problem = await acme.patch(path, operation, status=400)
        assert problem["scimType"] == "invalidValue"
    refused = {
        "mutability": {"op": "replace", "path": "members.value", "value": "x"},
        "invalidPath": {"op": "replace", "path": 'members[value eq "x"]', "value": {"value": ada["id"]}},
        "invalidValue": {"op": "replace", "path": "displayName", "value": ""},
    }
    for scim_type, operation in refused.items():
        assert (await acme.patch(path, operation, status=400))["scimType"] == scim_type
    problem = await acme.patch(path, {"op": "remove", "path": "members[value pr]"}, status=400)
    assert problem["scimType"] == "invalidPath"
    many = [{"value": str(uuid4())} for _ in range(10_001)]
    problem = await acme.patch(path, {"op": "add", "path": "members", "value": many}, status=400)
    assert problem["scimType"] == "tooMany"
    assert (await acme.scim.get(path)).json() == group, "nothing has changed"
    stale = {"schemas": [GROUP], "displayName": "x"}
    assert (await acme.scim.put(path, stale, headers={"if-match": 'W/"9"'})).status_code == 412
    assert (await acme.scim.delete(path, headers={"if-match": 'W/"9"'})).status_code == 412


async def test_members_can_be_left_out(acme, monkeypatch):
    users = [await acme.user(name) for name in ("ada", "bob", "eve")]
    group = await acme.group("Everyone", *users)
    query = "excludedAttributes=members"
    assert "members" not in (await acme.scim.get(f"/Groups/{group['id']}?{query}")).json()
    [listed] = (await acme.scim.get(f'/Groups?{query}&filter=displayName eq "Everyone"')).json()["Resources"]
    assert "members" not in listed
    monkeypatch.setattr("postern.identity.scim.groups.RETURNED_MEMBERS", 2)
    too_many = await acme.scim.get("/Groups")
    assert (too_many.status_code, too_many.json()["scimType"]) == (400, "tooMany")
    assert (await acme.scim.get(f"/Groups?{query}")).json()["totalResults"] == 1
    monkeypatch.setattr("postern.identity.scim.users.RETURNED_MEMBERS", 2)
    assert (await acme.scim.get("/Users")).status_code == 400
    assert (await acme.scim.get("/Users?attributes=userName")).json()["totalResults"] == 3


GROUP_FILTERS = {
    'displayName eq "administrators"': ["Administrators"],
    'displayName sw "A" and not (externalId pr)': ["All"],
    'externalId eq "1" or displayName ew "L"': ["Administrators", "All"],
    'displayName ne "All"': ["Administrators"],
    'meta.created gt "2000-01-01T00:00:00Z"': ["Administrators", "All"],
    'members.value eq "{ada}"': ["Administrators", "All"],
    'members[value eq "{bob}"]': ["All"],
    'members eq "{bob}" and displayName co "dmin"': [],
    'meta.resourceType eq "Group" and displayName eq "all"': ["All"],
    'id eq "x"': [],
    'displayName eq "100%_"': [],
}


@pytest.mark.parametrize("filter", GROUP_FILTERS)
async def test_groups_are_filtered(acme, filter):
    ada, bob = await acme.user("ada"), await acme.user("bob")
    await acme.group("Administrators", ada, externalId="1")
    await acme.group("All", ada, bob)
    text = filter.replace("{ada}", ada["id"]).replace("{bob}", bob["id"])
    assert [group["displayName"] for group in await acme.find(text, "/Groups")] == GROUP_FILTERS[filter]
