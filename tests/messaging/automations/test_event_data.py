"""Event data in mails, in trigger rules, and in conditions that count events."""

from datetime import timedelta

import pytest

from postern.kernel.values import timestamp


def on(event, **fields):
    """An EVENT trigger."""
    return {"type": "EVENT", "event": event, **fields}


def rules(*conditions, match="all"):
    return {"match": match, "conditions": list(conditions)}


def condition(field, operator, value, **fields):
    return {"field": field, "operator": operator, "value": value, **fields}


async def record_event(project, contact, data, name="order.placed"):
    response = await project.client.post("/events", {"name": name, "contactId": contact, "data": data})
    assert response.status_code == 201, response.text


async def test_mails_of_automations_can_use_event_data(
    create_automation, create_contact, email_step, project, run_due_work, read_mails
):
    """Regression test of C4 (tests/defects.md)."""
    await create_automation(
        on("order.placed"), email_step("{{ name }}: {{ event.total }} / {{ event.data.items[0].sku }}")
    )
    await record_event(project, await create_contact(), {"total": 42, "items": [{"sku": "x-1"}]})
    await run_due_work()
    assert await read_mails() == [("ada@example.com", "Ada: 42 / x-1")]


async def test_mails_can_use_the_name_and_time_of_any_event(
    create_automation, create_contact, email_step, run_due_work, read_mails, clock
):
    """Regression test of C4 (tests/defects.md)."""
    await create_automation({"type": "CONTACT_CREATED"}, email_step("{{ event.name }} {{ event.occurredAt }}"))
    await create_contact()
    await run_due_work()
    assert await read_mails() == [("ada@example.com", f"contact.created {timestamp(clock())}")], (
        "times have the same form as in the API"
    )


async def test_a_condition_on_a_field_of_the_event_is_refused(project):
    def body(*conditions):
        step = {"type": "CONDITION", "rules": rules(*conditions), "then": [], "else": []}
        return {"name": "A", "trigger": on("order.placed"), "steps": [step]}

    gold = condition("attributes.event.tier", "eq", "gold")  # An attribute that has such a name.
    large = condition("event.total", "gte", 100)
    group = {"match": "any", "conditions": [gold, large]}
    refused = await project.client.post("/automations", body(gold, group))
    assert refused.status_code == 400, refused.text
    (error,) = refused.json()["errors"]
    assert error["path"] == "/steps/0/rules/conditions/1/conditions/1/field"
    assert "`where` of the trigger" in error["message"]
    created = await project.client.post("/automations", body(gold))
    assert created.status_code == 201, created.text
    path = f"/automations/{created.json()['id']}"
    changed = await project.client.patch(path, {"steps": body(large)["steps"]})
    assert changed.json()["errors"][0]["path"] == "/steps/0/rules/conditions/0/field"


@pytest.mark.parametrize(
    ("where", "matching", "other"),
    [
        (rules(condition("total", "gte", 100)), {"total": 100}, {"total": 99}),
        (rules(condition("data.total", "gt", 1)), {"total": 2}, {}),
        (rules(condition("customer.plan", "eq", "pro")), {"customer": {"plan": "pro"}}, {"customer": {"plan": "free"}}),
        (rules(condition("email", "contains", "@acme")), {"email": "x@acme.example"}, {"email": "x@other.example"}),
        (rules(condition("tags", "contains", "new")), {"tags": ["new"]}, {"tags": "old"}),
        (
            rules(condition("a", "eq", 1), {"match": "all", "conditions": [condition("b", "eq", 2)]}, match="any"),
            {"b": 2},
            {"a": 2, "b": 1},
        ),
    ],
)
async def test_only_events_with_matching_data_start_a_run(
    create_automation, create_contact, project, run_due_work, read_runs, where, matching, other
):
    """Regression test of C4 (tests/defects.md)."""
    automation = await create_automation(on("order.placed", where=where), {"type": "EXIT"})
    stored = (await project.client.get(f"/automations/{automation}")).json()
    assert stored["trigger"]["where"] == where
    ada = await create_contact()
    await record_event(project, ada, other)
    await run_due_work()
    assert await read_runs(automation) == []
    await record_event(project, ada, matching)
    await run_due_work()
    assert len(await read_runs(automation)) == 1


@pytest.mark.parametrize(
    ("trigger", "path"),
    [
        (on("order.placed", where=rules(condition("total", "above", 1))), "/trigger/where/conditions/0/operator"),
        (on("order.placed", where=rules(condition("total", "in", 1))), "/trigger/where/conditions/0/value"),
        (on("order.placed", where={"conditions": "x"}), "/trigger/where/conditions"),
        ({"type": "CONTACT_CREATED", "where": rules(condition("total", "eq", 1))}, "/trigger/where"),
    ],
)
async def test_invalid_trigger_rules_are_refused(project, trigger, path):
    """Regression test of C4 (tests/defects.md)."""
    body = {"name": "x", "trigger": trigger, "steps": []}
    response = await project.client.post("/automations", body)
    assert (response.status_code, response.json()["errors"][0]["path"]) == (400, path)


async def test_conditions_can_count_recent_events(
    create_automation, create_contact, project, run_due_work, read_runs, clock
):
    """Regression test of C4 (tests/defects.md)."""
    three_in_a_week = rules(condition("events.order.placed", "gte", 3, withinDays=7))
    automation = await create_automation(
        on("check.requested", once=False), {"type": "CONDITION", "rules": three_in_a_week, "then": [], "else": []}
    )
    ada = await create_contact()

    async def outcome_of_condition():
        await record_event(project, ada, {}, "check.requested")
        await run_due_work()
        return (await read_runs(automation))[-1]["steps"][0]["outcome"]

    for _ in range(2):
        await record_event(project, ada, {})
    assert await outcome_of_condition() == "FALSE"
    clock.move(timedelta(days=6))
    await record_event(project, ada, {})
    assert await outcome_of_condition() == "TRUE"
    clock.move(timedelta(days=2))
    assert await outcome_of_condition() == "FALSE", "two of the three orders are older than a week"


async def test_audience_rules_can_count_recent_events(create_contact, project, run_due_work, clock):
    """Regression test of C4 (tests/defects.md)."""
    response = await project.client.post(
        "/audiences", {"name": "Buyers", "rules": rules(condition("events.order.placed", "eq", 1, withinDays=1))}
    )
    assert response.status_code == 201, response.text
    ada = await create_contact()
    path = f"/audiences/{response.json()['id']}/contacts"
    await record_event(project, ada, {})
    assert (await project.client.get(path)).json()["total"] == 1
    clock.move(timedelta(days=2))
    await run_due_work()
    assert (await project.client.get(path)).json()["total"] == 0


@pytest.mark.parametrize(
    ("rule", "path"),
    [
        (condition("events.order.placed", "gte", -1), "value"),
        (condition("events.order.placed", "gte", "3"), "value"),
        (condition("events.order.placed", "gte", 10_001), "value"),
        (condition("events.order.placed", "contains", 1), "operator"),
        (condition("events.order.placed", "exists", None, withinDays=3), "withinDays"),
        (condition("plan", "eq", "pro", withinDays=3), "withinDays"),
    ],
)
async def test_invalid_counts_are_refused(project, rule, path):
    """Regression test of C4 (tests/defects.md)."""
    response = await project.client.post("/audiences", {"name": "x", "rules": rules(rule)})
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"].endswith(f"/conditions/0/{path}")
