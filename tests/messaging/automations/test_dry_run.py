"""Dry runs: the steps of a contact with times, outcomes, conditions and mail, without any effect."""

from datetime import timedelta

from postern.kernel.values import Moment, timestamp
from postern.messaging.automations import dry_run as dry_run_module


def rules(*conditions, match="all"):
    return {"match": match, "conditions": list(conditions)}


def condition(field, operator, value):
    return {"field": field, "operator": operator, "value": value}


async def dry_run(project, automation, contact, **body):
    response = await project.client.post(f"/automations/{automation}/dry-run", {"contactId": contact, **body})
    assert response.status_code == 200, response.text
    return response.json()


async def counts(world):
    """The number of rows that a run could write, by table."""
    tables = ["sends", "events", "automation_runs", "automation_run_steps", "audience_members", "audit_log"]
    numbers = {}
    async with world.db.connection() as connection:
        for table in tables:
            exists = await (await connection.execute("select to_regclass(%s)", (table,))).fetchone()
            if exists and exists[0]:
                row = await (await connection.execute(f"select count(*) from {table}")).fetchone()
                numbers[table] = row[0]
        attributes = await (
            await connection.execute("select id, attributes, updated_at from contacts order by id")
        ).fetchall()
    assert len(numbers) >= 4, numbers
    return numbers, attributes


async def test_a_dry_run_executes_the_steps_without_any_effect(
    world, project, clock, create_automation, create_contact, create_audience, email_step, receiver, run_due_work
):
    """A condition sees what an earlier step changed, and delays pass at once."""
    audience = await create_audience()
    contact = await create_contact()
    is_pro = {
        "type": "CONDITION",
        "rules": rules(condition("plan", "eq", "pro"), rules(condition("name", "eq", "Bob"), match="any")),
        "then": [{"type": "EXIT"}],
        "else": [email_step("Hi {{ name }}, {{ event.total }}")],
    }
    automation = await create_automation(
        {"type": "EVENT", "event": "order.placed"},
        {"type": "UPDATE_CONTACT", "attributes": {"plan": "pro"}},
        {"type": "ADD_TO_AUDIENCE", "audienceId": audience},
        {"type": "DELAY", "days": 2},
        is_pro,
        {"type": "WEBHOOK", "url": receiver.url("/hook")},
        active=False,
    )
    before = await counts(world)
    result = await dry_run(project, automation, contact, eventData={"total": 42})
    assert await counts(world) == before, "nothing is stored"
    await run_due_work()
    assert receiver.requests == []
    assert await counts(world) == before

    assert (result["status"], result["error"], result["reasons"]) == ("COMPLETED", None, [])
    outcomes = [(step["path"], step["type"], step["outcome"]) for step in result["steps"]]
    assert outcomes == [
        ("/steps/0", "UPDATE_CONTACT", "DONE"),
        ("/steps/1", "ADD_TO_AUDIENCE", "DONE"),
        ("/steps/2", "DELAY", "DONE"),
        ("/steps/3", "CONDITION", "FALSE"),
        ("/steps/3/else/0", "SEND_EMAIL", "DONE"),
        ("/steps/4", "WEBHOOK", "DONE"),
    ]
    assert result["steps"][2]["endsAt"] == timestamp(Moment.of(clock() + timedelta(days=2)))
    assert result["steps"][3]["conditions"] == [
        {"path": "/conditions/0", "holds": True, "value": "pro"},
        {"path": "/conditions/1/conditions/0", "holds": False, "value": "Ada"},
    ]
    mail = result["steps"][4]["mail"]
    assert (mail["to"], mail["subject"], mail["html"]) == ("ada@example.com", "Hi Ada, 42", "<p>Hello Ada</p>")


async def test_unfinished_runs_are_counted_by_version_and_step(
    project, create_automation, create_contact, email_step, run_due_work
):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "DELAY", "days": 1}, email_step())
    for name in ("ada", "bob"):
        await create_contact(f"{name}@example.com")
    await run_due_work()
    exit_step = {"type": "EXIT"}
    await project.client.patch(f"/automations/{automation}", {"steps": [exit_step, {"type": "DELAY", "days": 1}]})
    response = await project.client.get(f"/automations/{automation}/positions")
    assert response.json() == [{"version": 1, "step": 0, "runs": 2}]
    (listed,) = (await project.client.get("/automations?include=counts&limit=10")).json()
    assert listed["unfinished"] == 2
    assert listed["lastRunAt"]


async def test_events_that_steps_wait_for_are_assumed(project, create_automation, create_contact, email_step):
    wait = {
        "type": "WAIT_FOR_EVENT",
        "event": "order.placed",
        "timeout": {"days": 7},
        "then": [{"type": "EXIT"}],
        "else": [email_step()],
    }
    automation = await create_automation({"type": "CONTACT_CREATED"}, wait, active=False)
    contact = await create_contact()

    def read(result):
        return result["status"], [step["outcome"] for step in result["steps"]]

    assert read(await dry_run(project, automation, contact)) == ("COMPLETED", ["TIMED_OUT", "DONE"])
    assert read(await dry_run(project, automation, contact, happened=[0])) == ("EXITED", ["HAPPENED", "DONE"])


async def test_a_dry_run_says_why_no_run_would_start(project, create_automation, create_contact, email_step):
    trigger = {"type": "EVENT", "event": "order.placed", "where": rules(condition("total", "gte", 100))}
    automation = await create_automation(trigger, email_step())
    contact = await create_contact()
    result = await dry_run(project, automation, contact, eventData={"total": 42})
    assert [reason["code"] for reason in result["reasons"]] == ["where_not_matched"]
    assert result["conditions"] == [{"path": "/conditions/0", "holds": False, "value": 42}]
    assert (await dry_run(project, automation, contact, eventData={"total": 100}))["reasons"] == []
    await project.client.post("/events", {"name": "order.placed", "contactId": contact, "data": {"total": 200}})
    result = await dry_run(project, automation, contact, eventData={"total": 100})
    assert [reason["code"] for reason in result["reasons"]] == ["already_run"]


async def test_steps_that_are_not_stored_can_be_tried(project, create_automation, create_contact, email_step):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "EXIT"}, active=False)
    contact = await create_contact(unsubscribed=True)
    result = await dry_run(project, automation, contact, steps=[email_step(), {**email_step(), "templateId": contact}])
    assert [step["outcome"] for step in result["steps"]] == ["SKIPPED", "FAILED"]
    assert (result["status"], result["error"]) == ("FAILED", "The template has been deleted.")
    refused = await project.client.post(
        f"/automations/{automation}/dry-run", {"contactId": contact, "steps": [{"type": "DELAY"}]}
    )
    assert refused.status_code == 400
    assert refused.json()["errors"][0]["path"] == "/steps/0"
    stored = (await project.client.get(f"/automations/{automation}")).json()["steps"]
    assert stored == [{"type": "EXIT"}]


async def test_a_mail_that_cannot_be_rendered_is_a_problem_of_its_step(
    project, create_automation, create_contact, email_step
):
    automation = await create_automation({"type": "CONTACT_CREATED"}, email_step("{{ 1 / 0 }}"), active=False)
    result = await dry_run(project, automation, await create_contact())
    (step,) = result["steps"]
    assert step["mail"]["problem"]
    assert step["mail"]["html"] is None


async def test_a_dry_run_counts_the_runs_that_a_start_counts(project, create_automation, create_contact, run_due_work):
    """The hourly limit without `once`; runs of TEST keys do not count for others."""
    trigger = {"type": "EVENT", "event": "order.placed", "once": False}
    automation = await create_automation(trigger, {"type": "EXIT"})
    contact = await create_contact()
    test_key = await project.key(environment="TEST")
    await test_key.post("/events", {"name": "order.placed", "contactId": contact})
    await run_due_work()
    assert (await dry_run(project, automation, contact))["reasons"] == []
    await project.client.post("/events", {"name": "order.placed", "contactId": contact})
    await run_due_work()
    result = await dry_run(project, automation, contact)
    assert [reason["code"] for reason in result["reasons"]] == ["run_limited"]


async def test_a_dry_run_ends_at_the_last_time_that_can_be_represented(project, create_automation, create_contact):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "EXIT"}, active=False)
    steps = [{"type": "DELAY", "until": "9999-12-31T00:00:00.000Z"}, {"type": "DELAY", "days": 30}]
    result = await dry_run(project, automation, await create_contact(), steps=steps)
    assert [step["endsAt"][:10] for step in result["steps"]] == ["9999-12-31", "9999-12-31"]


async def test_only_steps_that_wait_can_be_assumed_to_happen(project, create_automation, create_contact):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "DELAY", "days": 1}, active=False)
    contact = await create_contact()
    for index in (0, 7, -1):
        response = await project.client.post(
            f"/automations/{automation}/dry-run", {"contactId": contact, "happened": [index]}
        )
        assert response.status_code == 400, index
        assert response.json()["errors"][0]["path"] == "/happened/0"


async def test_slow_steps_and_large_mails_are_limited(
    project, create_automation, create_contact, email_step, monkeypatch
):
    automation = await create_automation(
        {"type": "CONTACT_CREATED"}, email_step("One"), email_step("Two"), active=False
    )
    contact = await create_contact()
    monkeypatch.setattr(dry_run_module, "RENDERED_CHARACTERS", 1)
    first, second = (await dry_run(project, automation, contact))["steps"]
    assert first["mail"]["subject"] == "One"
    assert second["mail"]["problem"] == "The mails of this dry run are too large to show all."
    monkeypatch.setattr(dry_run_module, "MAX_DURATION", timedelta(0))
    response = await project.client.post(f"/automations/{automation}/dry-run", {"contactId": contact})
    assert (response.status_code, response.json()["code"]) == (422, "dry_run_too_slow")
    monkeypatch.undo()
    assert (await dry_run(project, automation, contact))["status"] == "COMPLETED"


async def test_a_dry_run_needs_a_contact_of_the_project(project, create_automation):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "EXIT"}, active=False)
    response = await project.client.post(f"/automations/{automation}/dry-run", {"contactId": automation})
    assert response.status_code == 400
    assert response.json()["errors"][0]["code"] == "contact_missing"
    unknown = await project.client.post(f"/automations/{project.id}/dry-run", {"contactId": automation})
    assert unknown.status_code == 404
