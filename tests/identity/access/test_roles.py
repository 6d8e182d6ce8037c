"""Permissions and roles of a project."""

import pytest

from postern.identity.access.model import SYSTEM_ROLES
from postern.identity.access.operations import require_roles, role_keys


async def declare(project, *keys: str) -> None:
    for key in keys:
        response = await project.client.post("/access/permissions", {"key": key})
        assert response.status_code == 201, response.text


async def make_role(project, key: str, **fields):
    return await project.client.post("/access/roles", {"key": key, "name": key.capitalize(), **fields})


@pytest.mark.parametrize(
    "key", ["posts", "Posts:read", "a:b:c:d:e", "posts:*", "posts:", ":read", "9a:b", "a:b\n", "a:b" * 50]
)
async def test_permission_keys_are_validated(project, key):
    refused = await project.client.post("/access/permissions", {"key": key})
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == "/key"


async def test_permissions_are_declared_listed_and_deleted(project):
    await declare(project, "posts:read", "posts:write")
    twice = await project.client.post("/access/permissions", {"key": "posts:read"})
    assert (twice.status_code, twice.json()["code"]) == (409, "permission_exists")
    first_page = await project.client.get("/access/permissions?limit=1")
    assert [permission["key"] for permission in first_page.json()] == ["posts:write"]
    second_page = await project.client.get(first_page.headers["link"].partition(">")[0][1:])
    assert [permission["key"] for permission in second_page.json()] == ["posts:read"]
    await make_role(project, "editor", permissions=["posts:read", "posts:write", "posts:*"])
    assert (await project.client.delete("/access/permissions/posts:read")).json() == {"deleted": True}
    assert (await project.client.get("/access/roles/editor")).json()["permissions"] == ["posts:write", "posts:*"]
    assert (await project.client.delete("/access/permissions/posts:read")).status_code == 404


async def test_a_role_is_created_changed_and_deleted(project):
    await declare(project, "posts:read", "posts:write")
    created = await make_role(project, "editor", permissions=["posts:write", "posts:write"], description="Writes.")
    assert created.status_code == 201
    assert created.json() | {"createdAt": 0, "updatedAt": 0} == {
        "key": "editor",
        "name": "Editor",
        "description": "Writes.",
        "scope": "PROJECT",
        "appliesToAllOrganizations": False,
        "system": False,
        "permissions": ["posts:write"],
        "createdAt": 0,
        "updatedAt": 0,
    }
    change = {"permissions": ["posts:*"], "description": None, "appliesToAllOrganizations": True}
    stale = await project.client.patch("/access/roles/editor", change, headers={"If-Match": '"0"'})
    assert stale.status_code == 412
    changed = await project.client.patch("/access/roles/editor", change, headers={"If-Match": created.headers["etag"]})
    assert changed.status_code == 200
    assert changed.json()["permissions"] == ["posts:*"]
    assert changed.json()["description"] is None
    assert (await project.client.get("/access/roles/editor")).json() == changed.json()
    assert (await project.client.delete("/access/roles/editor")).json() == {"deleted": True}
    assert (await project.client.get("/access/roles/editor")).status_code == 404
    assert (await project.client.delete("/access/roles/editor")).status_code == 404


async def test_roles_are_listed_by_scope_with_the_system_roles_last(project):
    await make_role(project, "one")
    await make_role(project, "two", scope="ORGANIZATION")
    roles = (await project.client.get("/access/roles")).json()
    assert [(role["key"], role["scope"]) for role in roles] == [
        ("two", "ORGANIZATION"),
        ("one", "PROJECT"),
        *(("OWNER", "PROJECT"), ("ADMIN", "PROJECT"), ("MEMBER", "PROJECT")),
        *(("OWNER", "ORGANIZATION"), ("ADMIN", "ORGANIZATION"), ("MEMBER", "ORGANIZATION")),
    ]
    in_project = (await project.client.get("/access/roles?scope=PROJECT")).json()
    assert [role["key"] for role in in_project] == ["one", *SYSTEM_ROLES]
    keys, path = [], "/access/roles?scope=ORGANIZATION&limit=1"
    for _ in range(4):
        answer = await project.client.get(path)
        keys += [role["key"] for role in answer.json()]
        path = answer.headers.get("link", "<").partition(">")[0][1:]
    assert (keys, path) == (["two", *SYSTEM_ROLES], "")
    assert (await project.client.get("/access/roles?scope=EVERYWHERE")).status_code == 400


@pytest.mark.parametrize("key", SYSTEM_ROLES)
async def test_system_roles_are_fixed(project, key):
    role = await project.client.get(f"/access/roles/{key}?scope=ORGANIZATION")
    assert (role.json()["system"], role.json()["scope"]) == (True, "ORGANIZATION")
    for refused in (
        await project.client.patch(f"/access/roles/{key}", {"name": "Boss"}),
        await project.client.delete(f"/access/roles/{key}"),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "system_role_fixed")
    assert (await make_role(project, key.lower())).json()["code"] == "role_exists"


async def test_invalid_roles_are_rejected(project):
    await make_role(project, "editor")
    assert (await make_role(project, "editor", scope="ORGANIZATION")).json()["code"] == "role_exists"
    undeclared = await make_role(project, "author", permissions=["posts:*", "posts:wirte"])
    assert (undeclared.status_code, undeclared.json()["code"]) == (422, "permission_undeclared")
    assert undeclared.json()["errors"][0]["path"] == "/permissions/1"
    for fields in ({"permissions": ["po*"]}, {"permissions": ["a:b:c:d:*"]}, {"scope": "TEAM"}, {"colour": "red"}):
        assert (await make_role(project, "author", **fields)).status_code == 400
    for key in ("two words", "editor\n", ""):
        assert (await make_role(project, key)).status_code == 400


async def test_assignable_roles_by_scope(project, world, new_project):
    await make_role(project, "editor")
    await make_role(project, "buyer", scope="ORGANIZATION")
    await make_role(project, "support", scope="ORGANIZATION", appliesToAllOrganizations=True)
    assert await role_keys(world.db, project.id, "PROJECT") == {*SYSTEM_ROLES, "editor", "support"}
    assert await role_keys(world.db, project.id, "ORGANIZATION") == {*SYSTEM_ROLES, "buyer", "support"}
    assert await role_keys(world.db, (await new_project()).id, "PROJECT") == {*SYSTEM_ROLES}
    async with world.db.transaction() as tx:
        await require_roles(tx, project.id, "PROJECT", ["OWNER", "support"])
        with pytest.raises(Exception, match="no role 'buyer' in the scope PROJECT") as unknown:
            await require_roles(tx, project.id, "PROJECT", ["editor", "buyer"])
        assert unknown.value.errors[0].path == "/roles/1"
