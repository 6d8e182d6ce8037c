"""Contacts over HTTP."""

import asyncio
import json

import pytest


async def create(project, email, **fields):
    made = await project.client.post("/contacts", {"email": email, **fields})
    assert made.status_code == 201, made.text
    return made.json()


async def event_types(project):
    return [each["type"] for each in (await project.client.get("/events")).json()["data"]]


async def test_create_get_change_and_delete_a_contact(project):
    made = await create(project, "Ada@Example.COM", attributes={"plan": "pro", "seats": 4, "gone": None})
    assert made["email"] == "Ada@example.com"
    assert made["attributes"] == {"plan": "pro", "seats": 4}
    assert made["appId"] == project.id
    assert made["unsubscribed"] is False
    path = f"/contacts/{made['id']}"
    assert (await project.client.get(path)).json() == made
    change = {"attributes": {"seats": None, "city": "Rome"}, "unsubscribed": True}
    changed = (await project.client.patch(path, change)).json()
    assert changed["attributes"] == {"plan": "pro", "city": "Rome"}
    assert changed["unsubscribedAt"] is not None
    again = (await project.client.patch(path, {"unsubscribed": False, "email": "ada@new.example"})).json()
    assert (again["email"], again["unsubscribedAt"]) == ("ada@new.example", None)
    assert (await project.client.delete(path)).json() == {"deleted": True}
    assert (await project.client.get(path)).status_code == 404
    assert (await project.client.delete(path)).status_code == 404
    assert await event_types(project) == [
        "contact.deleted",
        "contact.updated",
        "contact.unsubscribed",
        "contact.updated",
        "contact.created",
    ]


async def test_a_change_without_effect_records_no_event(project):
    made = await create(project, "ada@example.com", attributes={"a": 1})
    same = await project.client.patch(f"/contacts/{made['id']}", {"attributes": {"a": 1}, "unsubscribed": False})
    assert same.json() == made
    assert await event_types(project) == ["contact.created"]


async def test_addresses_are_unique_regardless_of_case(project, new_project):
    made = await create(project, "ada@example.com")
    other = await create(project, "grace@example.com")
    for spelling in ("ada@example.com", "ADA@EXAMPLE.com", "Ada <aDa@example.com>"):
        answer = await project.client.post("/contacts", {"email": spelling})
        assert (answer.status_code, answer.json()["code"]) == (409, "contact_exists")
    taken = await project.client.patch(f"/contacts/{other['id']}", {"email": "ADA@example.com"})
    assert taken.status_code == 409
    own = await project.client.patch(f"/contacts/{made['id']}", {"email": "Ada@Example.com"})
    assert own.json()["email"] == "Ada@example.com"
    theirs = await new_project()
    await create(theirs, "ada@example.com")


async def test_of_concurrent_creations_one_succeeds(project):
    answers = await asyncio.gather(
        *(project.client.post("/contacts", {"email": f"{'aA'[n % 2]}da@example.com"}) for n in range(12))
    )
    assert sorted(answer.status_code for answer in answers) == [201] + [409] * 11
    assert (await project.client.get("/contacts")).json()["total"] == 1


async def test_pages_and_searches(project):
    for number in range(7):
        await create(project, f"user{number}@example.com", unsubscribed=number % 2 == 0)
    page = (await project.client.get("/contacts?limit=3&page=2")).json()
    assert (page["total"], page["page"], page["pages"]) == (7, 2, 3)
    assert [each["email"][4] for each in page["data"]] == ["3", "2", "1"]
    found = (await project.client.get("/contacts", params={"q": "USER3@"})).json()
    assert [each["email"] for each in found["data"]] == ["user3@example.com"]
    assert (await project.client.get("/contacts", params={"q": "%"})).json()["total"] == 0
    assert (await project.client.get("/contacts?unsubscribed=true")).json()["total"] == 4
    assert (await project.client.get("/contacts?unsubscribed=false")).json()["total"] == 3
    assert (await project.client.get("/contacts?page=401")).json()["code"] == "page_too_deep"


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({}, "/email"),
        ({"email": "nobody"}, "/email"),
        ({"email": "a@b@c"}, "/email"),
        ({"email": "a@example.com", "attributes": []}, "/attributes"),
        ({"email": "a@example.com", "attributes": {"": 1}}, "/attributes/"),
        ({"email": "a@example.com", "attributes": {" x": 1}}, "/attributes/ x"),
        ({"email": "a@example.com", "attributes": {"x" * 101: 1}}, f"/attributes/{'x' * 101}"),
        ({"email": "a@example.com", "attributes": {f"x{n}": 1 for n in range(101)}}, "/attributes"),
        ({"email": "a@example.com", "attributes": {"x": "y" * 17_000}}, "/attributes"),
        ({"email": "a@example.com", "attributes": {"x": "a\0b"}}, "/attributes/x"),
        ({"email": "a@example.com", "unsubscribed": "perhaps"}, "/unsubscribed"),
        ({"email": "a@example.com", "colour": "red"}, "/colour"),
    ],
)
async def test_an_invalid_contact_is_refused_with_the_path(project, body, path):
    answer = await project.client.post("/contacts", body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["path"] == path


async def test_changes_cannot_exceed_the_attribute_limit(project):
    made = await create(project, "a@example.com", attributes={"x": "y" * 9_000})
    path = f"/contacts/{made['id']}"
    assert (await project.client.patch(path, {"attributes": {"z": "y" * 9_000}})).status_code == 400
    assert (await project.client.patch(path, {"attributes": {"x": None, "z": "y" * 9_000}})).status_code == 200


async def test_contacts_of_other_projects_are_not_found(project, new_project):
    made = await create(project, "a@example.com")
    theirs = await new_project()
    for method, body in (("GET", None), ("PATCH", {"unsubscribed": True}), ("DELETE", None)):
        answer = await theirs.client.request(method, f"/contacts/{made['id']}", json=body)
        assert answer.status_code == 404
        assert answer.json()["code"] == "contact_missing"
    assert (await theirs.client.get("/contacts")).json()["total"] == 0


async def test_if_match_is_honoured(project):
    made = await create(project, "a@example.com")
    path = f"/contacts/{made['id']}"
    tag = (await project.client.get(path)).headers["etag"]
    ok = await project.client.patch(path, {"attributes": {"a": 1}}, headers={"if-match": tag})
    assert ok.status_code == 200
    stale = await project.client.patch(path, {"attributes": {"a": 2}}, headers={"if-match": '"0"'})
    assert stale.status_code == 412


@pytest.mark.parametrize(
    ("before", "after"), [(1, True), (0, False), (True, 1), ([1], [True]), ({"a": 1}, {"a": True})]
)
async def test_true_is_not_one(project, before, after):
    made = await create(project, "a@example.com", attributes={"x": before})
    changed = (await project.client.patch(f"/contacts/{made['id']}", {"attributes": {"x": after}})).json()
    assert json.dumps(changed["attributes"]) == json.dumps({"x": after})


async def test_of_concurrent_changes_to_one_address_one_succeeds(project):
    made = [await create(project, f"{number}@example.com") for number in range(6)]
    changes = [project.client.patch(f"/contacts/{each['id']}", {"email": "same@example.com"}) for each in made]
    statuses = sorted(answer.status_code for answer in await asyncio.gather(*changes))
    assert statuses == [200, 409, 409, 409, 409, 409]


async def test_if_match_is_honoured_by_deletion(project):
    made = await create(project, "a@example.com")
    path = f"/contacts/{made['id']}"
    tag = (await project.client.get(path)).headers["etag"]
    assert (await project.client.delete(path, headers={"if-match": '"0"'})).status_code == 412
    assert (await project.client.delete(path, headers={"if-match": tag})).status_code == 200
