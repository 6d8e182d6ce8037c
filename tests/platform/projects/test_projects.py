"""Projects and API keys over HTTP."""

from datetime import timedelta
from uuid import UUID

import pytest

from postern.platform.projects import operations as projects
from postern.security.secrets import looks_like_key
from tests.conftest import Client


async def test_a_key_is_shown_once_and_works_until_it_is_deleted(project):
    created = (await project.developer.post("/api-keys", {"name": "ci", "type": "SECRET"})).json()
    assert created["key"].startswith("sk_live_")
    assert looks_like_key(created["key"])
    keys = (await project.developer.get("/api-keys")).json()
    assert [key["name"] for key in keys] == ["ci", "server"]
    assert keys[0]["key"] == f"sk_live_…{created['key'][-4:]}"
    client = Client(project.client.app, created["key"], project.client.base)
    assert (await client.get("")).status_code == 200
    deleted = await project.developer.delete(f"/api-keys/{created['id']}")
    assert deleted.json()["id"] == created["id"]
    assert (await client.get("")).status_code == 401
    assert (await project.developer.delete(f"/api-keys/{created['id']}")).status_code == 404


async def test_projects_are_created_listed_and_renamed(project, new_project):
    other = await new_project()
    path = "http://postern.test/projects"
    created = await project.developer.post(path, {"name": "Second"})
    assert created.status_code == 201
    await project.developer.patch(f"/projects/{created.json()['id']}", {"name": "Renamed"})
    projects_listed = (await project.developer.get(path)).json()
    assert {row["id"]: row["name"] for row in projects_listed}[created.json()["id"]] == "Renamed"
    assert {row["id"] for row in projects_listed} == {project.id, created.json()["id"]}
    assert other.id not in str(projects_listed)


async def test_a_key_cannot_create_keys(project):
    refused = await project.client.post("/api-keys", {"name": "more"})
    assert (refused.status_code, refused.json()["code"]) == (403, "credential_not_accepted")
    assert refused.json()["detail"] == (
        "This operation does not accept a secret key. It needs the access token of a developer (POST /auth/sign-in)."
    )


async def test_an_expired_key_is_refused(project, clock):
    expires_at = (clock() + timedelta(hours=1)).isoformat()
    client = await project.key(expiresAt=expires_at)
    assert (await client.get("")).status_code == 200
    clock.move(timedelta(hours=2))
    assert (await client.get("")).status_code == 401


async def test_a_key_is_limited_to_its_ip_allow_list(project):
    elsewhere_only = await project.key(ipAllowList=["203.0.113.0/24"])
    assert (await elsewhere_only.get("")).status_code == 403
    loopback_only = await project.key(ipAllowList=["127.0.0.0/8"])
    assert (await loopback_only.get("")).status_code == 200


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "/name"),
        ({"name": ""}, "/name"),
        ({"name": 7}, "/name"),
        ({"name": "a", "type": "ROOT"}, "/type"),
        ({"name": "a", "permissions": ["emails:fly"]}, "/permissions/0"),
        ({"name": "a", "ipAllowList": ["not an address"]}, "/ipAllowList/0"),
        ({"name": "a", "expiresAt": "2001-01-01T00:00:00Z"}, "/expiresAt"),
        ({"name": "a", "expiresAt": "soon"}, "/expiresAt"),
        ({"name": "a", "colour": "red"}, "/colour"),
        ({"name": "a\0b"}, "/name"),
        ({"name": "a\ud800"}, None),
    ],
)
async def test_an_invalid_key_request_points_to_the_field(project, body, path):
    import json

    response = await project.developer.request(
        "POST", "/api-keys", content=json.dumps(body), headers={"content-type": "application/json"}
    )
    assert response.status_code == 400
    if path:
        assert response.json()["errors"][0]["path"] == path


async def test_settings_change_one_by_one_and_hide_passwords(project):
    relay = {"host": "smtp.example.com", "username": "u", "password": "hunter2hunter2"}
    first = await project.developer.patch("", {"settings": {"relays": [relay], "trackOpens": False}})
    assert first.json()["settings"]["relays"][0]["password"] == "********"
    second = await project.developer.patch("", {"name": "Renamed", "settings": {"trackClicks": False}})
    settings = second.json()["settings"]
    assert (settings["trackOpens"], settings["trackClicks"], settings["relays"][0]["host"]) == (
        False,
        False,
        "smtp.example.com",
    )


async def test_a_relay_password_of_maximum_length_is_accepted(project, world):
    longest = "🔑" * 1_000
    relay = {"host": "smtp.example.com", "username": "u", "password": longest}
    assert (await project.developer.patch("", {"settings": {"relays": [relay]}})).status_code == 200
    assert (await project.developer.get("")).json()["settings"]["relays"][0]["password"] == "********"
    stored = await projects.require_project(world.db, UUID(project.id))
    assert projects.relay_password(world, stored.id, stored.settings.relays[0]) == longest
    longer = {"settings": {"relays": [{**relay, "password": longest + "🔑"}]}}
    refused = await project.developer.patch("", longer)
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == "/settings/relays/0/password"


async def test_if_match_is_checked(project):
    read = await project.developer.get("")
    changed = await project.developer.patch("", {"name": "One"}, headers={"if-match": read.headers["etag"]})
    assert changed.status_code == 200
    late = await project.developer.patch("", {"name": "Two"}, headers={"if-match": '"0"'})
    assert late.status_code == 412


async def test_a_malformed_id_is_not_found(project):
    for identifier in (
        "x",
        "00000000-0000-0000-0000-00000000000",
        "%00",
        "01990000-0000-7000-8000-000000000000",
    ):
        response = await project.developer.delete(f"/api-keys/{identifier}")
        assert response.status_code == 404
        assert response.json()["code"] == "api_key_missing"


async def test_lists_are_paginated(project):
    for number in range(4):
        await project.developer.post("/api-keys", {"name": f"key {number}"})
    first = await project.developer.get("/api-keys?limit=2")
    assert [key["name"] for key in first.json()] == ["key 3", "key 2"]
    next_page = first.links["next"]["url"].split("8025")[1]
    second = await project.developer.get(next_page)
    assert [key["name"] for key in second.json()] == ["key 1", "key 0"]
    tampered = await project.developer.get(next_page + "x")
    assert tampered.status_code == 400
