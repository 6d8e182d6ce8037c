"""Directory connections: management, tokens, permissions, and what developers see of a directory."""

from datetime import timedelta

import pytest

from tests.conftest import Client
from tests.identity.scim.conftest import GROUP, USER, ScimClient, connect


async def test_a_connection_is_created_with_a_token_that_is_shown_once(acme):
    connection = acme.connection
    assert connection["baseUrl"] == f"http://127.0.0.1:8025/scim/v2/{connection['id']}"
    assert connection["token"].startswith("scim_")
    read = (await acme.project.client.get(acme.path)).json()
    assert read | {"token": connection["token"]} == connection
    assert read == {
        "id": connection["id"],
        "projectId": acme.project.id,
        "organizationId": acme.organization["id"],
        "name": "Acme Entra ID",
        "status": "ACTIVE",
        "baseUrl": connection["baseUrl"],
        "defaultRoles": ["MEMBER"],
        "groupRoles": {"Administrators": ["ADMIN"]},
        "allowOtherDomains": False,
        "tokens": connection["tokens"],
        "userCount": 0,
        "activeUserCount": 0,
        "groupCount": 0,
        "lastSyncedAt": None,
        "recentErrors": [],
        "createdAt": connection["createdAt"],
        "updatedAt": connection["updatedAt"],
    }
    assert (await acme.project.client.get(acme.connections_path)).json() == [read]
    for number in range(9):
        assert (await acme.project.client.post(acme.connections_path, {"name": str(number)})).status_code == 201
    too_many = await acme.project.client.post(acme.connections_path, {"name": "11"})
    assert (too_many.status_code, too_many.json()["code"]) == (409, "too_many_directory_connections")


async def test_what_a_directory_did_is_shown(acme, clock):
    user = await acme.user("ada")
    inactive = await acme.user("bob", active=False)
    group = await acme.group("Administrators", user)
    assert (await acme.scim.post("/Users", {"schemas": [USER], "userName": user["userName"]})).status_code == 409
    assert (await acme.scim.get("/Users?filter=nothing eq 1")).status_code == 400
    connection = (await acme.project.client.get(acme.path)).json()
    assert [connection[name] for name in ("userCount", "activeUserCount", "groupCount")] == [2, 1, 1]
    assert connection["lastSyncedAt"] is not None
    assert connection["tokens"][0]["lastUsedAt"] is not None
    assert [
        (error["method"], error["path"], error["status"], error["scimType"]) for error in connection["recentErrors"]
    ] == [("GET", "/Users", 400, "invalidFilter"), ("POST", "/Users", 409, "uniqueness")]
    [second, first] = (await acme.project.client.get(f"{acme.path}/users")).json()
    assert (first["id"], second["id"]) == (user["id"], inactive["id"])
    assert (first["active"], second["active"], second["roles"]) == (True, False, [])
    assert first["roles"] == [{"role": "MEMBER", "groups": []}, {"role": "ADMIN", "groups": ["Administrators"]}]
    [listed] = (await acme.project.client.get(f"{acme.path}/groups")).json()
    assert listed | {"createdAt": 0, "updatedAt": 0} == {
        "id": group["id"],
        "externalId": None,
        "displayName": "Administrators",
        "memberCount": 1,
        "roles": ["ADMIN"],
        "createdAt": 0,
        "updatedAt": 0,
    }


async def test_refused_requests_are_kept_for_a_month_without_personal_data(acme, clock, run_due_work):
    emails = [{"value": "maria@invalid"}]
    await acme.scim.post("/Users", {"schemas": [USER], "userName": "x", "emails": emails})
    await acme.scim.get('/Users?filter=maria eq "maria"')
    await acme.scim.post(
        "/Bulk",
        {"Operations": [{"method": "MARIA@EXAMPLE.COM", "path": "/maria", "data": {}}, {"path": "bulkId:maria"}]},
    )
    errors = (await acme.project.client.get(acme.path)).json()["recentErrors"]
    assert len(errors) == 4
    assert all("maria" not in error["detail"].lower() and len(error["method"]) <= 10 for error in errors)
    clock.move(timedelta(days=29))
    await run_due_work()
    assert len((await acme.project.client.get(acme.path)).json()["recentErrors"]) == 4
    clock.move(timedelta(days=1))
    await run_due_work()
    assert (await acme.project.client.get(acme.path)).json()["recentErrors"] == []


async def test_a_rotated_token_stays_valid_for_a_day(acme, clock):
    rotated = await acme.project.client.post(f"{acme.path}/rotate-token")
    assert rotated.status_code == 200
    new = ScimClient(acme.scim.app, rotated.json()["token"], acme.scim.base)
    assert len(rotated.json()["tokens"]) == 2
    assert [(await client.get("/Users")).status_code for client in (acme.scim, new)] == [200, 200]
    clock.move(timedelta(hours=24, seconds=1))
    assert [(await client.get("/Users")).status_code for client in (acme.scim, new)] == [401, 200]
    at_once = await acme.project.client.post(f"{acme.path}/rotate-token", {"overlapHours": 0})
    assert len(at_once.json()["tokens"]) == 1
    latest = ScimClient(acme.scim.app, at_once.json()["token"], acme.scim.base)
    assert [(await client.get("/Users")).status_code for client in (new, latest)] == [401, 200]
    for _ in range(5):
        rotated = await acme.project.client.post(f"{acme.path}/rotate-token", {"overlapHours": 168})
        assert len(rotated.json()["tokens"]) <= 3


async def test_a_disabled_or_deleted_connection_accepts_nothing(acme, run_due_work, world):
    user = await acme.user("ada")
    await acme.group("Everyone", user)
    assert (await acme.change(status="DISABLED"))["status"] == "DISABLED"
    assert (await acme.scim.get("/Users")).status_code == 403
    await acme.change(status="ACTIVE")
    assert (await acme.scim.get("/Users")).status_code == 200
    assert (await acme.project.client.delete(acme.path)).json() == {"removed": True}
    assert (await acme.scim.get("/Users")).status_code == 401
    assert (await acme.project.client.get(acme.path)).status_code == 404
    assert (await acme.project.client.get(acme.connections_path)).json() == []
    await run_due_work()
    async with world.db.connection() as connection:
        for table in ("connections", "users", "groups", "tokens", "errors"):
            rows = await connection.execute(
                f"select count(*) from directory_{table} where project_id = %s",
                (acme.project.id,),
            )
            assert await rows.fetchone() == (0,), table
    assert list(await acme.members()) == [acme.address("ada")], "members stay"


async def test_the_directory_of_a_deleted_project_has_no_access(acme, world):
    assert (await acme.scim.get("/Users")).status_code == 200
    async with world.db.connection() as connection:
        await connection.execute("update projects set deleted_at = now() where id = %s", (acme.project.id,))
    assert (await acme.scim.get("/Users")).status_code == 401


async def test_changed_roles_reach_all_members(acme, run_due_work):
    users = [await acme.user(name) for name in ("ada", "bob")]
    await acme.group("Administrators", users[0])
    assert await acme.members() == {acme.address("ada"): ["MEMBER", "ADMIN"], acme.address("bob"): ["MEMBER"]}
    created = await acme.project.client.post(
        "/access/roles", {"key": "billing", "scope": "ORGANIZATION", "permissions": []}
    )
    assert created.status_code == 201, created.text
    await acme.change(groupRoles={"ADMINISTRATORS": ["billing"]}, defaultRoles=["MEMBER", "ADMIN"])
    await run_due_work()
    members = await acme.members()
    assert {address: sorted(roles) for address, roles in members.items()} == {
        acme.address("ada"): ["ADMIN", "MEMBER", "billing"],
        acme.address("bob"): ["ADMIN", "MEMBER"],
    }
    unknown = await acme.project.client.patch(acme.path, {"groupRoles": {"a/b": ["nobody"]}})
    assert (unknown.status_code, unknown.json()["errors"][0]["path"]) == (422, "/groupRoles/a~1b/0")


async def test_only_who_may_assign_roles_can_let_a_directory_assign_them(acme):
    """A key that cannot make a member ADMIN itself cannot do so by a group of a directory either."""
    narrow = await acme.project.key("scim:read", "scim:write")
    for fields in ({"groupRoles": {"Everyone": ["OWNER"]}}, {"defaultRoles": ["ADMIN"]}):
        refused = await narrow.post(acme.connections_path, {"name": "Mine", **fields})
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_missing")
        assert (await narrow.patch(acme.path, fields)).status_code == 403
    plain = await narrow.post(acme.connections_path, {"name": "Mine"})
    assert plain.status_code == 201
    assert (await narrow.patch(acme.path, {"name": "Renamed", "groupRoles": {"Administrators": ["ADMIN"]}})).json()[
        "name"
    ] == "Renamed", "roles that stay need no permission"
    for change in ({"status": "ACTIVE"}, {"allowOtherDomains": True}):
        await acme.change(status="DISABLED")
        assert (await narrow.patch(acme.path, change)).status_code == 403, change
    assert (await narrow.patch(acme.path, {"allowOtherDomains": False})).status_code == 200
    rotated = await narrow.post(f"{acme.path}/rotate-token")
    assert (rotated.status_code, rotated.json()["code"]) == (403, "permission_missing")
    assert (await narrow.post(f"{acme.connections_path}/{plain.json()['id']}/rotate-token")).status_code == 200
    reader = await acme.project.key("scim:read")
    assert (await reader.get(acme.path)).status_code == 200
    assert (await reader.post(f"{acme.path}/rotate-token")).status_code == 403
    assert (await reader.get(f"/b2b/organizations/{acme.organization['id']}")).status_code == 403


async def test_tokens_of_others_are_refused(acme, organizations, new_project):
    other = await connect(organizations, await organizations.organization("Other"), "other.example")
    user = await acme.user("ada")
    group = await acme.group("Everyone", user)
    strangers = [
        ScimClient(acme.scim.app, other.scim.token, acme.scim.base),
        ScimClient(acme.scim.app, None, acme.scim.base),
        ScimClient(acme.scim.app, acme.project.secret_key, acme.scim.base),
        ScimClient(acme.scim.app, f"{acme.scim.token[:-7]}{'x' * 7}", acme.scim.base),
        ScimClient(acme.scim.app, acme.scim.token, f"/scim/v2/{acme.organization['id']}"),
    ]
    for stranger in strangers:
        for method, path in (
            ("GET", "/Users"),
            ("GET", f"/Users/{user['id']}"),
            ("DELETE", f"/Users/{user['id']}"),
            ("POST", "/Bulk"),
            ("GET", "/Schemas"),
        ):
            response = await stranger.request(method, path, json={} if method == "POST" else None)
            assert response.status_code == 401, (stranger.base, method, path)
            assert response.headers["www-authenticate"].startswith("Bearer")
    for path in (f"/Users/{user['id']}", f"/Groups/{group['id']}"):
        assert (await other.scim.get(path)).status_code == 404
        assert (await other.scim.delete(path)).status_code == 404
        assert (
            await other.scim.put(path, {"schemas": [USER, GROUP], "userName": "x", "displayName": "x"})
        ).status_code == 404
    stolen = await other.scim.post(
        "/Groups", {"schemas": [GROUP], "displayName": "Mine", "members": [{"value": user["id"]}]}
    )
    assert (stolen.status_code, stolen.json()["scimType"]) == (400, "invalidValue")
    assert await other.find("userName pr") == []
    stranger_project = await new_project()
    client = Client(acme.scim.app, stranger_project.secret_key, f"/projects/{acme.project.id}")
    assert (await client.get(acme.path)).status_code == 404


@pytest.mark.parametrize("name", ["token", "address"])
async def test_logs_contain_neither_tokens_nor_addresses(acme, capsys, name):
    await acme.user("ada")
    await acme.find(f'emails.value eq "{acme.address("ada")}"')
    await acme.scim.post("/Users", {"schemas": [USER], "userName": acme.address("ada")})
    captured = capsys.readouterr()
    secret = acme.scim.token if name == "token" else acme.address("ada")
    assert "create_scim_user" in captured.out
    assert secret not in captured.out + captured.err
