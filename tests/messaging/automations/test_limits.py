"""The hourly limit of runs, the frequency cap, and the detection of loops."""

import asyncio
from datetime import timedelta
from uuid import uuid4

HOUR = timedelta(hours=1)


def add(audience):
    """An ADD_TO_AUDIENCE step."""
    return {"type": "ADD_TO_AUDIENCE", "audienceId": audience}


def remove(audience):
    """A REMOVE_FROM_AUDIENCE step."""
    return {"type": "REMOVE_FROM_AUDIENCE", "audienceId": audience}


def joins(audience, **fields):
    """An AUDIENCE_JOINED trigger with `once: false`."""
    return {"type": "AUDIENCE_JOINED", "audienceId": audience, "once": False, **fields}


def on(event, **fields):
    """An EVENT trigger with `once: false`."""
    return {"type": "EVENT", "event": event, "once": False, **fields}


async def post_automation(project, name, trigger, *steps, **fields):
    """Create an active automation; returns the response."""
    return await project.client.post(
        "/automations", {"name": name, "trigger": trigger, "steps": list(steps), "active": True, **fields}
    )


async def totals(project, automation):
    return (await project.client.get(f"/automations/{automation}/totals")).json()


async def test_a_contact_can_start_one_run_per_hour(
    create_automation, create_contact, project, run_due_work, read_runs, clock
):
    """Further events within the hour start no run and are counted.

    Regression test of C6 (tests/defects.md).
    """
    automation = await create_automation(on("order.placed"), {"type": "EXIT"})
    ada = await create_contact()
    for _ in range(5):
        await project.client.post("/events", {"name": "order.placed", "contactId": ada})
        await run_due_work()
    assert len(await read_runs(automation)) == 1
    assert (await totals(project, automation))["limited"] == 4
    clock.move(HOUR)
    for _ in range(2):
        await project.client.post("/events", {"name": "order.placed", "contactId": ada})
        await run_due_work()
    assert len(await read_runs(automation)) == 2
    assert (await totals(project, automation)) == {
        "totalRuns": 2,
        "completed": 2,
        "failed": 0,
        "limited": 5,
        "capped": 0,
    }


async def test_the_hourly_limit_is_configurable_and_applies_per_contact(
    create_automation, create_contact, project, run_due_work, read_runs
):
    """Regression test of C6 (tests/defects.md)."""
    automation = await create_automation(on("order.placed"), {"type": "EXIT"})
    changed = await project.client.patch(f"/automations/{automation}", {"maxRunsPerHour": 3})
    assert changed.json()["maxRunsPerHour"] == 3
    contact_ids = [await create_contact(), await create_contact("bob@example.com")]
    for _ in range(5):
        for contact_id in contact_ids:
            await project.client.post("/events", {"name": "order.placed", "contactId": contact_id})
        await run_due_work()
    started_by = [run["contactId"] for run in await read_runs(automation)]
    assert sorted(started_by) == sorted(contact_ids * 3)
    for invalid in (0, 1_001, "1"):
        response = await project.client.patch(f"/automations/{automation}", {"maxRunsPerHour": invalid})
        assert (response.status_code, response.json()["errors"][0]["path"]) == (400, "/maxRunsPerHour")


async def test_an_allowed_loop_is_limited_to_one_run_per_hour(
    create_audience, create_contact, email_step, project, run_due_work, read_runs, read_mails, clock
):
    """Two automations that trigger each other cannot flood a contact with mail.

    Regression test of C6 (tests/defects.md).
    """
    left, right = await create_audience("Left"), await create_audience("Right")
    one = await post_automation(
        project, "One", joins(left), email_step("one"), remove(left), add(right), allowLoops=True
    )
    two = await post_automation(
        project, "Two", joins(right), email_step("two"), remove(right), add(left), allowLoops=True
    )
    assert (one.status_code, two.status_code) == (201, 201)
    ada = await create_contact()
    await project.client.post(f"/audiences/{left}/contacts", {"contactId": ada})
    await run_due_work()
    assert [len(await read_runs(created.json()["id"])) for created in (one, two)] == [1, 1]
    assert len(await read_mails()) == 2
    clock.move(timedelta(minutes=59))
    await project.client.delete(f"/audiences/{left}/contacts/{ada}")
    await project.client.post(f"/audiences/{left}/contacts", {"contactId": ada})
    await run_due_work()
    assert len(await read_mails()) == 2


async def test_activating_a_loop_is_refused_with_its_steps(create_audience, project):
    """Regression test of C6 (tests/defects.md)."""
    left, right = await create_audience("Left"), await create_audience("Right")
    one = await post_automation(project, "One", joins(left), remove(left), add(right))
    assert one.status_code == 201
    two = await post_automation(project, "Two", joins(right), remove(right), add(left), active=False)
    assert two.status_code == 201
    path = f"/automations/{two.json()['id']}"
    for response in (
        await project.client.patch(f"{path}/active", {"active": True}),
        await project.client.patch(path, {"active": True}),
        await post_automation(project, "Three", joins(right), remove(right), add(left)),
    ):
        assert (response.status_code, response.json()["code"]) == (409, "automation_loop")
        messages = [error["message"] for error in response.json()["errors"]]
        name = "Three" if "Three" in messages[0] else "Two"
        assert messages == [
            f"“{name}” adds contacts to the audience “Left”, which starts “One”.",
            f"“One” adds contacts to the audience “Right”, which starts “{name}”.",
        ]
        assert response.json()["errors"][0]["path"] == "/steps/1"
    assert (await project.client.get(path)).json()["active"] is False
    allowed = await project.client.patch(path, {"active": True, "allowLoops": True})
    assert (allowed.status_code, allowed.json()["allowLoops"]) == (200, True)
    disallowed = await project.client.patch(path, {"allowLoops": False})
    assert disallowed.status_code == 409


async def test_concurrent_activations_detect_their_loop(create_audience, project):
    """Regression test of C6 (tests/defects.md)."""
    left, right = await create_audience("Left"), await create_audience("Right")
    responses = await asyncio.gather(
        post_automation(project, "One", joins(left), remove(left), add(right)),
        post_automation(project, "Two", joins(right), remove(right), add(left)),
    )
    assert sorted(response.status_code for response in responses) == [201, 409]


async def test_automations_without_an_endless_loop_can_be_activated(create_audience, email_step, project):
    """For example because of `once`, a change that no step undoes, a delay of an hour, or an EXIT.

    Regression test of C6 (tests/defects.md).
    """
    left, right = await create_audience("Left"), await create_audience("Right")
    assert (await post_automation(project, "One", joins(left), remove(left), add(right))).status_code == 201
    one_hour = {"type": "DELAY", "hours": 1}
    for name, trigger, steps in (
        ("once", joins(right, once=True), (remove(right), add(left))),
        ("no step undoes the change", joins(right), (add(right),)),
        ("delay of an hour", joins(right), (one_hour, remove(right), add(left))),
        ("EXIT before the change", joins(right), ({"type": "EXIT"}, remove(right), add(left))),
        ("same value", on("contact.updated"), ({"type": "UPDATE_CONTACT", "attributes": {"seen": True}},)),
        ("only people click", on("email.clicked"), (email_step(),)),
        (
            "webhook of another server",
            on("order.placed"),
            ({"type": "WEBHOOK", "url": "https://other.example/events"},),
        ),
    ):
        created = await post_automation(project, name, trigger, *steps)
        assert created.status_code == 201, (name, created.text)
        await project.client.delete(f"/automations/{created.json()['id']}")


async def test_every_kind_of_loop_is_detected(create_audience, email_step, project, world):
    """Loops through mail events, attributes, audience rules, and webhook calls of this server.

    Regression test of C6 (tests/defects.md).
    """
    rules = {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}
    dynamic = (await project.client.post("/audiences", {"name": "Pros", "rules": rules})).json()["id"]
    own_url = f"{world.settings.public_url}/projects/{project.id}/events"

    def update(value):
        return {"type": "UPDATE_CONTACT", "attributes": {"plan": value}}

    branch = {"type": "CONDITION", "rules": rules, "then": [update("free")], "else": [update("pro")]}
    for trigger, step, path in (
        (on("email.delivered"), email_step(), "/steps/0"),
        (on("contact.updated"), branch, "/steps/0/then/0"),
        (joins(dynamic), branch, "/steps/0/then/0"),
        (on("order.placed"), {"type": "WEBHOOK", "url": own_url}, "/steps/0"),
    ):
        response = await post_automation(project, "Self", trigger, step)
        assert (response.status_code, response.json()["code"]) == (409, "automation_loop"), trigger
        assert [error["path"] for error in response.json()["errors"]] == [path]
        assert "“Self”" in response.json()["errors"][0]["message"]


async def test_a_custom_event_that_causes_itself_is_limited(
    create_automation, create_contact, project, receiver, run_due_work
):
    """A WEBHOOK step whose receiver records the triggering event again.

    Regression test of C6 (tests/defects.md).
    """
    await create_automation(on("order.placed"), {"type": "WEBHOOK", "url": receiver.url("/in")})
    ada = await create_contact()
    for number in range(4):
        await project.client.post("/events", {"name": "order.placed", "contactId": ada, "data": {"round": number}})
        await run_due_work()
    assert len(receiver.requests) == 1


async def test_the_frequency_cap_applies_to_automations(
    create_automation, create_contact, email_step, project, run_due_work, read_runs, read_mails, clock
):
    """Mail above the cap is skipped with a reason in the run, the log and an event, and counted.

    Regression test of C6 (tests/defects.md).
    """
    response = await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": 2}})
    assert response.json()["settings"]["frequencyCap"] == 2
    automation = await create_automation(on("ping.sent"), email_step("a"), email_step("b"), email_step("c"))
    ada = await create_contact()
    await project.client.post("/events", {"name": "ping.sent", "contactId": ada})
    await run_due_work()
    (run,) = await read_runs(automation)
    assert (run["status"], [step["outcome"] for step in run["steps"]]) == ("COMPLETED", ["DONE", "DONE", "SKIPPED"])
    reason = "Frequency cap: the contact got 2 marketing messages within the last 24 hours."
    assert run["steps"][2]["detail"]["reason"] == reason
    suppressed = (await project.client.get("/emails/logs?status=SUPPRESSED")).json()["data"]
    assert [(message["subject"], message["reason"]) for message in suppressed] == [("c", reason)]
    (event,) = (await project.client.get("/events?type=email.suppressed")).json()["data"]
    assert (event["data"]["reason"], event["data"]["contactId"]) == (reason, ada)
    assert (await totals(project, automation))["capped"] == 1
    inbox = (await project.client.get("/inbox")).json()["data"]
    assert sorted(message["subject"] for message in inbox) == ["a", "b"]
    clock.move(timedelta(hours=24))
    await project.client.post("/events", {"name": "ping.sent", "contactId": ada})
    await run_due_work()
    assert len((await project.client.get("/inbox")).json()["data"]) == 4


async def test_the_default_frequency_cap_is_ten(create_automation, create_contact, email_step, project, run_due_work):
    """Regression test of C6 (tests/defects.md)."""
    await create_automation(on("ping.sent"), *[email_step(f"{number}") for number in range(12)])
    ada = await create_contact(f"{uuid4().hex}@example.com")
    await project.client.post("/events", {"name": "ping.sent", "contactId": ada})
    await run_due_work()
    assert (await project.client.get("/inbox")).json()["total"] == 10
    for invalid in (0, 10_001, "2"):
        response = await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": invalid}})
        assert (response.status_code, response.json()["errors"][0]["path"]) == (400, "/settings/frequencyCap")
