"""Contacts over HTTP."""

import asyncio
import json

import pytest


async def create_contact(project, email, **fields):
    created = await project.client.post("/contacts", {"email": email, **fields})
    assert created.status_code == 201, created.text
    return created.json()


async def event_types(project):
    return [event["type"] for event in (await project.client.get("/events")).json()["data"]]


async def test_create_get_change_and_delete_a_contact(project):
    contact = await create_contact(project, "Ada@Example.COM", attributes={"plan": "pro", "seats": 4, "gone": None})
    assert contact["email"] == "Ada@example.com"
    assert contact["attributes"] == {"plan": "pro", "seats": 4}
    assert contact["appId"] == project.id
    assert contact["unsubscribed"] is False
    path = f"/contacts/{contact['id']}"
    assert (await project.client.get(path)).json() == contact
    change = {"attributes": {"seats": None, "city": "Rome"}, "unsubscribed": True}
    changed = (await project.client.patch(path, change)).json()
    assert changed["attributes"] == {"plan": "pro", "city": "Rome"}
    assert changed["unsubscribedAt"] is not None
    changed_again = (await project.client.patch(path, {"unsubscribed": False, "email": "ada@new.example"})).json()
    assert (changed_again["email"], changed_again["unsubscribedAt"]) == ("ada@new.example", None)
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
    contact = await create_contact(project, "ada@example.com", attributes={"a": 1})
    unchanged = await project.client.patch(
        f"/contacts/{contact['id']}", {"attributes": {"a": 1}, "unsubscribed": False}
    )
    assert unchanged.json() == contact
    assert await event_types(project) == ["contact.created"]


async def test_addresses_are_unique_regardless_of_case(project, new_project):
    contact = await create_contact(project, "ada@example.com")
    other = await create_contact(project, "grace@example.com")
    for spelling in ("ada@example.com", "ADA@EXAMPLE.com", "Ada <aDa@example.com>"):
        response = await project.client.post("/contacts", {"email": spelling})
        assert (response.status_code, response.json()["code"]) == (409, "contact_exists")
    conflict = await project.client.patch(f"/contacts/{other['id']}", {"email": "ADA@example.com"})
    assert conflict.status_code == 409
    respelled = await project.client.patch(f"/contacts/{contact['id']}", {"email": "Ada@Example.com"})
    assert respelled.json()["email"] == "Ada@example.com"
    other_project = await new_project()
    await create_contact(other_project, "ada@example.com")


async def test_of_concurrent_creations_one_succeeds(project):
    responses = await asyncio.gather(
        *(project.client.post("/contacts", {"email": f"{'aA'[n % 2]}da@example.com"}) for n in range(12))
    )
    assert sorted(response.status_code for response in responses) == [201] + [409] * 11
    assert (await project.client.get("/contacts")).json()["total"] == 1


async def test_pages_and_searches(project):
    for number in range(7):
        await create_contact(project, f"user{number}@example.com", unsubscribed=number % 2 == 0)
    page = (await project.client.get("/contacts?limit=3&page=2")).json()
    assert (page["total"], page["page"], page["pages"]) == (7, 2, 3)
    assert [contact["email"][4] for contact in page["data"]] == ["3", "2", "1"]
    matching = (await project.client.get("/contacts", params={"q": "USER3@"})).json()
    assert [contact["email"] for contact in matching["data"]] == ["user3@example.com"]
    for text in ("r3", "3@", "3@EXA", "user3@example.com"):
        assert (await project.client.get("/contacts", params={"q": text})).json()["total"] == 1
    for text in ("%", "user_@", "user\\3", "\\", "3@e%", "''"):
        assert (await project.client.get("/contacts", params={"q": text})).json()["total"] == 0
    assert (await project.client.get("/contacts?unsubscribed=true")).json()["total"] == 4
    assert (await project.client.get("/contacts?unsubscribed=false")).json()["total"] == 3
    assert (await project.client.get("/contacts?page=401")).json()["code"] == "page_too_deep"


async def test_the_total_is_counted_up_to_a_limit(project):
    for number in range(5):
        await project.client.post("/contacts", {"email": f"ada{number}@example.com", "unsubscribed": number > 2})
    for filters, total in (("", 5), ("&q=ada", 5), ("&q=ada3", 1), ("&q=grace", 0), ("&q=ada&unsubscribed=true", 2)):
        exact = (await project.client.get(f"/contacts?limit=2{filters}")).json()
        assert exact["total"] == total
        for limit in (1, 3, 10):
            page = (await project.client.get(f"/contacts?limit=2{filters}&countLimit={limit}")).json()
            assert page["total"] == min(total, limit)
            assert page["data"] == exact["data"]
            if page["nextCursor"]:
                path = f"/contacts?limit=2{filters}&countLimit={limit}&cursor={page['nextCursor']}"
                second = (await project.client.get(path)).json()
                assert second["data"] == (await project.client.get(f"/contacts?limit=2&page=2{filters}")).json()["data"]


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
    response = await project.client.post("/contacts", body)
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"] == path


async def test_changes_cannot_exceed_the_attribute_limit(project):
    contact = await create_contact(project, "a@example.com", attributes={"x": "y" * 9_000})
    path = f"/contacts/{contact['id']}"
    assert (await project.client.patch(path, {"attributes": {"z": "y" * 9_000}})).status_code == 400
    assert (await project.client.patch(path, {"attributes": {"x": None, "z": "y" * 9_000}})).status_code == 200


async def test_contacts_of_other_projects_are_not_found(project, new_project):
    contact = await create_contact(project, "a@example.com")
    other_project = await new_project()
    for method, body in (("GET", None), ("PATCH", {"unsubscribed": True}), ("DELETE", None)):
        response = await other_project.client.request(method, f"/contacts/{contact['id']}", json=body)
        assert response.status_code == 404
        assert response.json()["code"] == "contact_missing"
    assert (await other_project.client.get("/contacts")).json()["total"] == 0


async def test_if_match_is_honoured(project):
    contact = await create_contact(project, "a@example.com")
    path = f"/contacts/{contact['id']}"
    tag = (await project.client.get(path)).headers["etag"]
    changed = await project.client.patch(path, {"attributes": {"a": 1}}, headers={"if-match": tag})
    assert changed.status_code == 200
    stale = await project.client.patch(path, {"attributes": {"a": 2}}, headers={"if-match": '"0"'})
    assert stale.status_code == 412


@pytest.mark.parametrize(
    ("before", "after"), [(1, True), (0, False), (True, 1), ([1], [True]), ({"a": 1}, {"a": True})]
)
async def test_true_is_not_one(project, before, after):
    contact = await create_contact(project, "a@example.com", attributes={"x": before})
    changed = (await project.client.patch(f"/contacts/{contact['id']}", {"attributes": {"x": after}})).json()
    assert json.dumps(changed["attributes"]) == json.dumps({"x": after})


async def test_of_concurrent_changes_to_one_address_one_succeeds(project):
    created = [await create_contact(project, f"{number}@example.com") for number in range(6)]
    changes = [project.client.patch(f"/contacts/{contact['id']}", {"email": "same@example.com"}) for contact in created]
    statuses = sorted(response.status_code for response in await asyncio.gather(*changes))
    assert statuses == [200, 409, 409, 409, 409, 409]


async def test_if_match_is_honoured_by_deletion(project):
    contact = await create_contact(project, "a@example.com")
    path = f"/contacts/{contact['id']}"
    tag = (await project.client.get(path)).headers["etag"]
    assert (await project.client.delete(path, headers={"if-match": '"0"'})).status_code == 412
    assert (await project.client.delete(path, headers={"if-match": tag})).status_code == 200
