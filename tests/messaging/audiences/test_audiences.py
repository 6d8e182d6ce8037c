"""Audiences over HTTP."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import pytest

from postern.messaging.audiences import contacts, store
from tests.messaging.audiences.test_contacts import create_contact

PRO = {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}


async def create_audience(project, name="Newsletter", rules=None):
    created = await project.client.post("/audiences", {"name": name})
    assert created.status_code == 201, created.text
    if rules is not None:
        rules_response = await project.client.patch(f"/audiences/{created.json()['id']}/rules", rules)
        assert rules_response.status_code == 200, rules_response.text
    return created.json()["id"]


async def member_names(project, audience_id):
    page = (await project.client.get(f"/audiences/{audience_id}/contacts?limit=100")).json()
    assert page["total"] == len(page["data"])
    return {contact["email"].partition("@")[0] for contact in page["data"]}


async def membership_events(project):
    newest_first = (await project.client.get("/events?type=audience.joined,audience.left")).json()["data"]
    return [(event["type"], event["data"]["contactId"]) for event in newest_first[::-1]]


async def test_a_static_audience(project):
    audience_id = await create_audience(project)
    path = f"/audiences/{audience_id}"
    audience = (await project.client.get(path)).json()
    assert (audience["name"], audience["type"], audience["rules"], audience["appId"]) == (
        "Newsletter",
        "STATIC",
        None,
        project.id,
    )
    renamed = await project.client.patch(path, {"name": "News"})
    assert renamed.json()["name"] == "News"
    assert [audience["name"] for audience in (await project.client.get("/audiences")).json()] == ["News"]
    ada = await create_contact(project, "ada@example.com")
    for _ in range(2):
        added = await project.client.post(f"{path}/contacts", {"contactId": ada["id"]})
        assert (added.status_code, added.json()) == (200, {"audienceId": audience_id, "contactId": ada["id"]})
    by_email = await project.client.post(f"{path}/contacts/by-email", {"email": "ADA@example.com"})
    assert by_email.json()["contactId"] == ada["id"]
    created = await project.client.post(f"{path}/contacts/by-email", {"email": "grace@example.com"})
    assert created.status_code == 200
    assert await member_names(project, audience_id) == {"ada", "grace"}
    assert (await project.client.get(f"/contacts/{ada['id']}/audiences")).json() == [audience_id]
    assert (await project.client.post(f"{path}/recompute")).json() == {"added": 0, "removed": 0}
    removed = await project.client.delete(f"{path}/contacts/{ada['id']}")
    assert removed.json() == {"audienceId": audience_id, "contactId": ada["id"]}
    removed_again = await project.client.delete(f"{path}/contacts/{ada['id']}")
    assert removed_again.status_code == 404
    grace = created.json()["contactId"]
    expected_events = [("audience.joined", ada["id"]), ("audience.joined", grace), ("audience.left", ada["id"])]
    assert await membership_events(project) == expected_events
    assert (await project.client.delete(path)).json() == {"deleted": True}
    assert (await project.client.get(path)).status_code == 404
    assert (await project.client.get(f"/contacts/{grace}")).status_code == 200
    assert (await project.client.get(f"/contacts/{grace}/audiences")).json() == []


async def test_bulk_addition(project):
    audience_id = await create_audience(project)
    await create_contact(project, "ada@example.com", attributes={"plan": "free"})
    await project.client.post(f"/audiences/{audience_id}/contacts/by-email", {"email": "ada@example.com"})
    emails = ["ADA@example.com", "b@example.com", "B@example.com", "nonsense", "", "c@example.com"]
    added = await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", {"emails": emails})
    assert (added.status_code, added.json()) == (200, {"added": 2, "skipped": 4})
    assert await member_names(project, audience_id) == {"ada", "b", "c"}
    with_attributes = {
        "contacts": [{"email": "ada@example.com", "attributes": {"plan": "pro"}}, {"email": "d@example.com"}]
    }
    added = await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", with_attributes)
    assert added.json() == {"added": 1, "skipped": 1}
    ada = (await project.client.get("/contacts?q=ada@")).json()["data"][0]
    assert ada["attributes"] == {"plan": "pro"}
    again = await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", {"emails": emails})
    assert again.json() == {"added": 0, "skipped": 6}
    empty = await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", {})
    assert empty.json() == {"added": 0, "skipped": 0}
    over_limit_together = [
        {"email": "e@example.com", "attributes": {f"{part}-{n}": n for n in range(60)}} for part in range(2)
    ]
    refused = await project.client.post(
        f"/audiences/{audience_id}/contacts/bulk-email", {"contacts": over_limit_together}
    )
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == "/contacts/0/attributes"
    too_many = [f"{number}@example.com" for number in range(10_001)]
    refused = await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", {"emails": too_many})
    assert refused.status_code == 400


async def test_rules_choose_the_members_of_a_dynamic_audience(project):
    ada = await create_contact(project, "ada@example.com", attributes={"plan": "pro"})
    bob = await create_contact(project, "bob@example.com", attributes={"plan": "free"})
    audience_id = await create_audience(project)
    await project.client.post(f"/audiences/{audience_id}/contacts", {"contactId": bob["id"]})
    changed = await project.client.patch(f"/audiences/{audience_id}/rules", PRO)
    assert changed.json() == {"added": 1, "removed": 1}
    audience = (await project.client.get(f"/audiences/{audience_id}")).json()
    assert (audience["type"], audience["rules"]) == ("DYNAMIC", PRO)
    assert await member_names(project, audience_id) == {"ada"}
    await create_contact(project, "cy@example.com", attributes={"plan": "pro"})
    assert await member_names(project, audience_id) == {"ada", "cy"}
    await project.client.patch(f"/contacts/{bob['id']}", {"attributes": {"plan": "pro"}})
    await project.client.patch(f"/contacts/{ada['id']}", {"attributes": {"plan": None}})
    assert await member_names(project, audience_id) == {"bob", "cy"}
    assert (await project.client.post(f"/audiences/{audience_id}/recompute")).json() == {"added": 0, "removed": 0}
    await project.client.delete(f"/contacts/{bob['id']}")
    assert await member_names(project, audience_id) == {"cy"}
    refilled = (await project.client.get("/events?type=audience.refilled")).json()["data"]
    assert [(event["data"]["added"], event["data"]["removed"]) for event in refilled] == [(0, 0), (1, 1)]
    events = await membership_events(project)
    assert sorted(events[1:3]) == sorted([("audience.joined", ada["id"]), ("audience.left", bob["id"])])


async def test_contacts_cannot_be_added_to_a_dynamic_audience(project):
    ada = await create_contact(project, "ada@example.com")
    audience_id = await create_audience(project, rules=PRO)
    path = f"/audiences/{audience_id}/contacts"
    responses = [
        await project.client.post(path, {"contactId": ada["id"]}),
        await project.client.post(f"{path}/by-email", {"email": "ada@example.com"}),
        await project.client.post(f"{path}/by-email", {"email": "new@example.com"}),
        await project.client.post(f"{path}/bulk-email", {"emails": ["new@example.com"]}),
        await project.client.delete(f"{path}/{ada['id']}"),
    ]
    assert [(response.status_code, response.json()["code"]) for response in responses] == [
        (409, "audience_dynamic")
    ] * 5
    assert (await project.client.get("/contacts")).json()["total"] == 1


async def test_a_dynamic_audience_can_become_static(project):
    await create_contact(project, "ada@example.com", attributes={"plan": "pro"})
    audience_id = await create_audience(project, rules=PRO)
    static = (await project.client.patch(f"/audiences/{audience_id}", {"type": "STATIC"})).json()
    assert (static["type"], static["rules"]) == ("STATIC", None)
    await create_contact(project, "bob@example.com", attributes={"plan": "pro"})
    assert await member_names(project, audience_id) == {"ada"}
    assert (
        await project.client.post(f"/audiences/{audience_id}/contacts/by-email", {"email": "x@example.com"})
    ).is_success


async def test_rules_can_refer_to_other_audiences(project):
    base_id = await create_audience(project, "base")
    ada = await create_contact(project, "ada@example.com", attributes={"plan": "pro"})
    bob = await create_contact(project, "bob@example.com")
    in_base_and_pro = {"conditions": [{"field": "audience", "operator": "eq", "value": base_id}, *PRO["conditions"]]}
    above_id = await create_audience(project, "above", in_base_and_pro)
    not_in_above = {"match": "any", "conditions": [{"field": "audience", "operator": "notIn", "value": [above_id]}]}
    top_id = await create_audience(project, "top", not_in_above)
    assert (await member_names(project, above_id), await member_names(project, top_id)) == (set(), {"ada", "bob"})
    for contact in (ada, bob):
        await project.client.post(f"/audiences/{base_id}/contacts", {"contactId": contact["id"]})
    assert (await member_names(project, above_id), await member_names(project, top_id)) == ({"ada"}, {"bob"})
    await project.client.patch(f"/contacts/{bob['id']}", {"attributes": {"plan": "pro"}})
    assert (await member_names(project, above_id), await member_names(project, top_id)) == ({"ada", "bob"}, set())
    await project.client.delete(f"/audiences/{base_id}/contacts/{ada['id']}")
    assert (await member_names(project, above_id), await member_names(project, top_id)) == ({"bob"}, {"ada"})
    await project.client.patch(f"/audiences/{base_id}/rules", PRO)
    assert (await member_names(project, above_id), await member_names(project, top_id)) == ({"ada", "bob"}, set())
    refused = await project.client.delete(f"/audiences/{base_id}")
    assert (refused.status_code, refused.json()["code"]) == (409, "audience_in_use")


async def test_circular_rules_are_refused(project):
    first_id = await create_audience(project, "first")
    second_id = await create_audience(
        project, "second", {"conditions": [{"field": "audience", "operator": "eq", "value": first_id}]}
    )
    for referenced_id in (first_id, second_id):
        rules = {"conditions": [{"field": "audience", "operator": "in", "value": [referenced_id]}]}
        response = await project.client.patch(f"/audiences/{first_id}/rules", rules)
        assert (response.status_code, response.json()["errors"][0]["code"]) == (400, "circular")
    assert (await project.client.get(f"/audiences/{first_id}")).json()["type"] == "STATIC"
    previous_id = second_id
    for _ in range(4):
        rules = {"conditions": [{"field": "audience", "operator": "eq", "value": previous_id}]}
        previous_id = await create_audience(project, "more", rules)
    last_id = await create_audience(project, "last")
    rules = {"conditions": [{"field": "audience", "operator": "eq", "value": previous_id}]}
    response = await project.client.patch(f"/audiences/{last_id}/rules", rules)
    assert response.json()["errors"][0]["code"] == "too_deep"


async def test_rules_cannot_refer_to_other_projects(project, new_project):
    other_project = await new_project()
    foreign_id = await create_audience(other_project)
    audience_id = await create_audience(project)
    for referenced_id in (foreign_id, str(uuid4()), "x"):
        rules = {"conditions": [{"field": "audience", "operator": "eq", "value": referenced_id}]}
        response = await project.client.patch(f"/audiences/{audience_id}/rules", rules)
        assert (response.status_code, response.json()["errors"][0]["code"]) == (400, "audience_missing")


async def test_audiences_and_contacts_of_other_projects_are_not_found(project, new_project):
    other_project = await new_project()
    foreign_audience_id = await create_audience(other_project)
    foreign_contact = await create_contact(other_project, "a@example.com")
    audience_id = await create_audience(project)
    for method, path, body in [
        ("GET", "", None),
        ("PATCH", "", {"name": "x"}),
        ("DELETE", "", None),
        ("PATCH", "/rules", PRO),
        ("POST", "/recompute", None),
        ("GET", "/contacts", None),
        ("POST", "/contacts", {"contactId": foreign_contact["id"]}),
        ("POST", "/contacts/by-email", {"email": "a@example.com"}),
        ("POST", "/contacts/bulk-email", {"emails": ["a@example.com"]}),
        ("DELETE", f"/contacts/{foreign_contact['id']}", None),
    ]:
        for inaccessible_id in (foreign_audience_id, "nonsense"):
            response = await project.client.request(method, f"/audiences/{inaccessible_id}{path}", json=body)
            assert (response.status_code, response.json()["code"]) == (404, "audience_missing"), path
    for contact_id in (foreign_contact["id"], "nonsense"):
        response = await project.client.post(f"/audiences/{audience_id}/contacts", {"contactId": contact_id})
        assert (response.status_code, response.json()["code"]) == (404, "contact_missing")
    assert await member_names(other_project, foreign_audience_id) == set()


async def test_engagement_updates_memberships(project, world, clock):
    ada = await create_contact(project, "ada@example.com")
    active_id = await create_audience(
        project, rules={"conditions": [{"field": "lastOpenedAt", "operator": "withinDays", "value": 7}]}
    )
    never_clicked_id = await create_audience(
        project, rules={"conditions": [{"field": "lastClickedAt", "operator": "notExists"}]}
    )
    assert (await member_names(project, active_id), await member_names(project, never_clicked_id)) == (set(), {"ada"})
    contact_ids = [UUID(ada["id"]), uuid4()]
    async with world.db.transaction() as tx:
        await contacts.store_engagement(tx, UUID(project.id), contact_ids, clock(), opened_at=clock())
    assert (await member_names(project, active_id), await member_names(project, never_clicked_id)) == ({"ada"}, {"ada"})
    async with world.db.transaction() as tx:
        earlier = clock() - timedelta(days=9)
        await contacts.store_engagement(
            tx, UUID(project.id), contact_ids, clock(), opened_at=earlier, clicked_at=earlier
        )
    assert (await member_names(project, active_id), await member_names(project, never_clicked_id)) == ({"ada"}, set())
    assert (await project.client.get(f"/contacts/{ada['id']}")).json()["lastOpenedAt"] == ada["createdAt"]


async def test_time_dependent_rules_are_evaluated_again(project, clock, run_due_work):
    await create_contact(project, "ada@example.com")
    audience_id = await create_audience(
        project, rules={"conditions": [{"field": "createdAt", "operator": "withinDays", "value": 30}]}
    )
    assert await member_names(project, audience_id) == {"ada"}
    clock.move(timedelta(days=31))
    await run_due_work()
    assert await member_names(project, audience_id) == set()
    types = [event["type"] for event in (await project.client.get("/events?type=audience.left")).json()["data"]]
    assert types == ["audience.left"]


async def test_recompute_corrects_memberships(project, world):
    """A member is missing, and a contact is a member that should not be one."""
    ada = await create_contact(project, "ada@example.com", attributes={"plan": "pro"})
    bob = await create_contact(project, "bob@example.com", attributes={"plan": "free"})
    audience_id = await create_audience(project, rules=PRO)
    async with world.db.connection() as connection:
        await connection.execute(
            "update audience_members set contact_id = %s where contact_id = %s", [bob["id"], ada["id"]]
        )
    assert await member_names(project, audience_id) == {"bob"}
    assert (await project.client.post(f"/audiences/{audience_id}/recompute")).json() == {"added": 1, "removed": 1}
    assert await member_names(project, audience_id) == {"ada"}
    assert sorted((await membership_events(project))[-2:]) == sorted(
        [("audience.joined", ada["id"]), ("audience.left", bob["id"])]
    )
    assert (await project.client.post(f"/audiences/{audience_id}/recompute")).json() == {"added": 0, "removed": 0}


async def test_contact_membership_and_event_are_one_transaction(project, world, clock):
    audience_id = await create_audience(project, rules=PRO)
    opened_id = await create_audience(project, rules={"conditions": [{"field": "lastOpenedAt", "operator": "exists"}]})
    contact = await create_contact(project, "ada@example.com")
    changed = await project.client.patch(f"/contacts/{contact['id']}", {"attributes": {"plan": "pro"}})
    assert changed.status_code == 200
    assert await in_one_transaction(world, contact["id"], audience_id)
    async with world.db.transaction() as tx:
        await contacts.store_engagement(tx, UUID(project.id), [UUID(contact["id"])], clock(), opened_at=clock())
    assert await in_one_transaction(world, contact["id"], opened_id)
    with pytest.raises(RuntimeError):
        async with world.db.transaction() as tx:
            await contacts.find_or_create(tx, UUID(project.id), "bob@example.com", clock(), attributes={"plan": "pro"})
            raise RuntimeError("rolls the transaction back")
    assert await member_names(project, audience_id) == {"ada"}


async def in_one_transaction(world, contact_id, audience_id):
    """Whether one transaction wrote the contact, its membership and the event."""
    async with world.db.connection() as connection:
        query = """
            select c.xmin = m.xmin and m.xmin = e.xmin from contacts c
            join audience_members m on (m.project_id, m.contact_id) = (c.project_id, c.id)
                and m.audience_id = %(audience)s
            join events e on (e.project_id, e.subject_id) = (c.project_id, c.id) and e.type = 'audience.joined'
                and e.data ->> 'audienceId' = %(audience)s::text
            where c.id = %(contact)s
        """
        cursor = await connection.execute(query, {"audience": audience_id, "contact": contact_id})
        return (await cursor.fetchall()) == [(True,)]


async def test_contact_functions_find_or_create_and_unsubscribe_once(project, world, clock):
    project_id = UUID(project.id)
    unsubscribed_id = await create_audience(
        project, rules={"conditions": [{"field": "unsubscribed", "operator": "eq", "value": True}]}
    )
    async with world.db.transaction() as tx:
        contact = await contacts.find_or_create(tx, project_id, "Ada@example.com", clock(), attributes={"a": 1})
        same_contact = await contacts.find_or_create(tx, project_id, "ada@EXAMPLE.com", clock())
        assert (same_contact.id, same_contact.attributes) == (contact.id, {"a": 1})
        assert await contacts.unsubscribe(tx, project_id, contact.id, clock(), sendId="s")
        assert not await contacts.unsubscribe(tx, project_id, contact.id, clock())
        assert not await contacts.unsubscribe(tx, project_id, uuid4(), clock())
    assert await member_names(project, unsubscribed_id) == {"Ada"}
    events = (await project.client.get("/events?type=contact.unsubscribed")).json()["data"]
    assert [event["data"]["sendId"] for event in events] == ["s"]


@pytest.mark.parametrize(
    ("rules", "path", "code"),
    [
        ({}, "/conditions", "required"),
        ({"match": "some", "conditions": []}, "/match", "invalid"),
        (
            {"conditions": [{"field": "a", "operator": "like", "value": 1}]},
            "/conditions/0/operator",
            "unknown_operator",
        ),
        ({"conditions": [{"field": "a"}]}, "/conditions/0/operator", "required"),
        ({"conditions": [{"operator": "eq"}]}, "/conditions/0/field", "required"),
        ({"conditions": [{"field": "a", "operator": "eq"}]}, "/conditions/0/value", "invalid"),
        ({"conditions": [{"field": "", "operator": "eq", "value": 1}]}, "/conditions/0/field", "invalid"),
        ({"conditions": [{"field": "a", "operator": "in", "value": "x"}]}, "/conditions/0/value", "invalid"),
        ({"conditions": [{"field": "a", "operator": "in", "value": [[]]}]}, "/conditions/0/value", "invalid"),
        ({"conditions": [{"field": "a", "operator": "withinDays", "value": -1}]}, "/conditions/0/value", "invalid"),
        ({"conditions": [{"field": "a", "operator": "before", "value": "soon"}]}, "/conditions/0/value", "invalid"),
        ({"conditions": [{"field": "a", "operator": "gt", "value": True}]}, "/conditions/0/value", "invalid"),
        ({"conditions": [{"field": "a", "operator": "exists", "value": False}]}, "/conditions/0/value", "invalid"),
        ({"conditions": [{"field": "audience", "operator": "exists"}]}, "/conditions/0/operator", "invalid"),
        ({"conditions": [{"field": "a", "operator": "eq", "value": 1, "x": 1}]}, "/conditions/0/x", "unknown_field"),
        ({"conditions": [{"field": "a", "conditions": []}]}, "/conditions/0", "invalid"),
        ({"conditions": [{"field": "a", "operator": "exists"}] * 51}, "/conditions", "too_many"),
        (
            {"conditions": [{"conditions": [{"conditions": [{"conditions": [{"conditions": []}]}]}]}]},
            "/conditions/0/conditions/0/conditions/0/conditions/0/conditions",
            "too_deep",
        ),
    ],
)
async def test_invalid_rules_are_refused_with_the_path(project, rules, path, code):
    audience_id = await create_audience(project)
    response = await project.client.patch(f"/audiences/{audience_id}/rules", rules)
    assert response.status_code == 400, response.text
    assert (response.json()["errors"][0]["path"], response.json()["errors"][0]["code"]) == (path, code)


async def test_webhooks_get_events_of_single_and_bulk_joins(project, world):
    webhook = await project.client.post(
        "/webhooks", {"url": "https://hooks.example.com/in", "events": ["audience.joined", "contact.created"]}
    )
    assert webhook.status_code == 201, webhook.text
    emails = [f"u{number}@example.com" for number in range(30)]
    audience_id = await create_audience(project)
    await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", {"emails": emails})
    await project.client.patch(f"/audiences/{audience_id}/rules", {"match": "any", "conditions": []})
    await project.client.patch(f"/audiences/{audience_id}/rules", {"conditions": []})
    await create_contact(project, "later@example.com")
    async with world.db.connection() as connection:
        query = """
            select d.event, count(*), count(distinct e.subject_id), count(distinct d.id), bool_and(d.event = e.type)
            from webhook_deliveries d join events e using (project_id)
            where project_id = %s and e.id = d.event_id group by 1 order by 1
        """
        deliveries = await (await connection.execute(query, (project.id,))).fetchall()
    assert deliveries == [("audience.joined", 61, 31, 61, True), ("contact.created", 31, 31, 31, True)]


async def test_a_timestamp_equals_its_value_in_responses(project):
    ada = await create_contact(project, "ada@example.com")
    audience_id = await create_audience(project)
    for operator, value, is_member in (
        ("eq", ada["createdAt"], True),
        ("in", [ada["createdAt"]], True),
        ("lte", ada["createdAt"], True),
        ("gt", ada["createdAt"], False),
        ("neq", ada["createdAt"], False),
    ):
        rules = {"conditions": [{"field": "createdAt", "operator": operator, "value": value}]}
        assert (await project.client.patch(f"/audiences/{audience_id}/rules", rules)).status_code == 200
        assert (await member_names(project, audience_id) == {"ada"}) is is_member, operator


@pytest.mark.parametrize(
    ("operator", "value"),
    [
        ("eq", "Jürgen@Bücher.example"),
        ("in", ["jürgen@bücher.example"]),
        ("endsWith", "@BÜCHER.example"),
        ("contains", "@xn--bcher-kva."),
        ("startsWith", "JÜRGEN"),
    ],
)
async def test_internationalised_domains_are_compared_in_one_form(project, operator, value):
    await create_contact(project, "Jürgen@bücher.example")
    audience_id = await create_audience(project)
    rules = {"conditions": [{"field": "email", "operator": operator, "value": value}]}
    assert (await project.client.patch(f"/audiences/{audience_id}/rules", rules)).json() == {"added": 1, "removed": 0}
    matching = await project.client.get("/contacts", params={"q": "@bücher.example"})
    assert matching.json()["total"] == 1


async def test_nested_groups_are_limited_too(project):
    audience_id = await create_audience(project)
    group = {"match": "all", "conditions": []}
    for count, status in ((50, 200), (51, 400)):
        response = await project.client.patch(f"/audiences/{audience_id}/rules", {"conditions": [group] * count})
        assert response.status_code == status


async def test_a_contact_that_is_being_deleted_cannot_join(project, world):
    ada = await create_contact(project, "ada@example.com")
    audience_id = await create_audience(project)
    async with world.db.transaction() as tx:
        await store.delete_contact(tx, project_id=UUID(project.id), id=UUID(ada["id"]))
        addition = asyncio.create_task(
            project.client.post(f"/audiences/{audience_id}/contacts", {"contactId": ada["id"]})
        )
        await asyncio.wait([addition], timeout=0.3)
    await addition
    assert (await project.client.get(f"/audiences/{audience_id}/contacts")).json()["total"] == 0


async def test_a_change_that_started_before_an_event_sees_it(project, clock):
    """The event is later than the time of the change, as if the change had waited for a lock after it read the time."""
    ada = await create_contact(project, "ada@example.com")
    audience_id = await create_audience(project)
    conditions = [
        {"field": "events.order.placed", "operator": "withinDays", "value": 1},
        {"field": "audience", "operator": "eq", "value": audience_id},
    ]
    buyers_id = await create_audience(project, "Buyers", {"conditions": conditions})
    clock.move(timedelta(seconds=2))
    await project.client.post("/events", {"name": "order.placed", "contactId": ada["id"]})
    clock.move(timedelta(seconds=-1))
    await project.client.post(f"/audiences/{audience_id}/contacts", {"contactId": ada["id"]})
    assert await member_names(project, buyers_id) == {"ada"}


async def test_concurrent_changes_of_the_same_contacts_see_each_other(project):
    """Each contact matches only after several changes, so a change must be evaluated together with earlier ones."""
    conditions = [{"field": name, "operator": "eq", "value": 1} for name in ("a", "b")]
    both_id = await create_audience(project, "Both", {"conditions": conditions})
    audience_id = await create_audience(project)
    third_id = await create_audience(
        project, "Third", {"conditions": [*conditions, {"field": "audience", "operator": "eq", "value": audience_id}]}
    )
    emails = [f"c{number}@example.com" for number in range(60)]
    created_contacts = [await create_contact(project, email) for email in emails]

    async def set_in_bulk(name, addresses):
        body = [{"email": email, "attributes": {name: 1}} for email in addresses]
        return await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", {"contacts": body})

    single_changes = [
        project.client.patch(f"/contacts/{contact['id']}", {"attributes": {"c": 1}})
        for contact in created_contacts[::3]
    ]
    for response in await asyncio.gather(set_in_bulk("a", emails), set_in_bulk("b", reversed(emails)), *single_changes):
        assert response.status_code == 200
    assert len(await member_names(project, both_id)) == 60
    assert len(await member_names(project, third_id)) == 60
