"""The hourly limit of runs, the frequency cap, and the detection of loops."""

import asyncio
from datetime import timedelta
from uuid import uuid4

HOUR = timedelta(hours=1)


def add(audience):
    return {"type": "ADD_TO_AUDIENCE", "audienceId": audience}


def remove(audience):
    return {"type": "REMOVE_FROM_AUDIENCE", "audienceId": audience}


def joins(audience, **fields):
    return {"type": "AUDIENCE_JOINED", "audienceId": audience, "once": False, **fields}


def on(event, **fields):
    return {"type": "EVENT", "event": event, "once": False, **fields}


async def create(project, name, trigger, *steps, **fields):
    return await project.client.post(
        "/automations", {"name": name, "trigger": trigger, "steps": list(steps), "active": True, **fields}
    )


async def totals(project, automation):
    return (await project.client.get(f"/automations/{automation}/totals")).json()


async def test_a_contact_can_start_one_run_per_hour(automate, contact, project, work_off, runs, clock):
    """Further events within the hour start no run and are counted.

    Defects: C6
    """
    automation = await automate(on("order.placed"), {"type": "EXIT"})
    ada = await contact()
    for _ in range(5):
        await project.client.post("/events", {"name": "order.placed", "contactId": ada})
        await work_off()
    assert len(await runs(automation)) == 1
    assert (await totals(project, automation))["limited"] == 4
    clock.move(HOUR)
    for _ in range(2):
        await project.client.post("/events", {"name": "order.placed", "contactId": ada})
        await work_off()
    assert len(await runs(automation)) == 2
    assert (await totals(project, automation)) == {
        "totalRuns": 2,
        "completed": 2,
        "failed": 0,
        "limited": 5,
        "capped": 0,
    }


async def test_the_hourly_limit_is_configurable_and_applies_per_contact(automate, contact, project, work_off, runs):
    """Defects: C6"""
    automation = await automate(on("order.placed"), {"type": "EXIT"})
    changed = await project.client.patch(f"/automations/{automation}", {"maxRunsPerHour": 3})
    assert changed.json()["maxRunsPerHour"] == 3
    people = [await contact(), await contact("bob@example.com")]
    for _ in range(5):
        for each in people:
            await project.client.post("/events", {"name": "order.placed", "contactId": each})
        await work_off()
    found = [run["contactId"] for run in await runs(automation)]
    assert sorted(found) == sorted(people * 3)
    for wrong in (0, 1_001, "1"):
        refused = await project.client.patch(f"/automations/{automation}", {"maxRunsPerHour": wrong})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/maxRunsPerHour")


async def test_an_allowed_loop_is_limited_to_one_run_per_hour(
    audience, contact, email, project, work_off, runs, mails, clock
):
    """Two automations that trigger each other cannot flood a contact with mail.

    Defects: C6
    """
    left, right = await audience("Left"), await audience("Right")
    one = await create(project, "One", joins(left), email("one"), remove(left), add(right), allowLoops=True)
    two = await create(project, "Two", joins(right), email("two"), remove(right), add(left), allowLoops=True)
    assert (one.status_code, two.status_code) == (201, 201)
    ada = await contact()
    await project.client.post(f"/audiences/{left}/contacts", {"contactId": ada})
    await work_off()
    assert [len(await runs(each.json()["id"])) for each in (one, two)] == [1, 1]
    assert len(await mails()) == 2
    clock.move(timedelta(minutes=59))
    await project.client.delete(f"/audiences/{left}/contacts/{ada}")
    await project.client.post(f"/audiences/{left}/contacts", {"contactId": ada})
    await work_off()
    assert len(await mails()) == 2


async def test_activating_a_loop_is_refused_with_its_steps(audience, project):
    """Defects: C6"""
    left, right = await audience("Left"), await audience("Right")
    one = await create(project, "One", joins(left), remove(left), add(right))
    assert one.status_code == 201
    two = await create(project, "Two", joins(right), remove(right), add(left), active=False)
    assert two.status_code == 201
    path = f"/automations/{two.json()['id']}"
    for refused in (
        await project.client.patch(f"{path}/active", {"active": True}),
        await project.client.patch(path, {"active": True}),
        await create(project, "Three", joins(right), remove(right), add(left)),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "automation_loop")
        messages = [each["message"] for each in refused.json()["errors"]]
        name = "Three" if "Three" in messages[0] else "Two"
        assert messages == [
            f"“{name}” adds contacts to the audience “Left”, which starts “One”.",
            f"“One” adds contacts to the audience “Right”, which starts “{name}”.",
        ]
        assert refused.json()["errors"][0]["path"] == "/steps/1"
    assert (await project.client.get(path)).json()["active"] is False
    allowed = await project.client.patch(path, {"active": True, "allowLoops": True})
    assert (allowed.status_code, allowed.json()["allowLoops"]) == (200, True)
    unset = await project.client.patch(path, {"allowLoops": False})
    assert unset.status_code == 409


async def test_concurrent_activations_detect_their_loop(audience, project):
    """Defects: C6"""
    left, right = await audience("Left"), await audience("Right")
    answers = await asyncio.gather(
        create(project, "One", joins(left), remove(left), add(right)),
        create(project, "Two", joins(right), remove(right), add(left)),
    )
    assert sorted(each.status_code for each in answers) == [201, 409]


async def test_automations_without_an_endless_loop_can_be_activated(audience, email, project):
    """`once`, a change that is not reversed, a delay of an hour, or an EXIT prevent a loop.

    Defects: C6
    """
    left, right = await audience("Left"), await audience("Right")
    assert (await create(project, "One", joins(left), remove(left), add(right))).status_code == 201
    hour = {"type": "DELAY", "hours": 1}
    for name, trigger, steps in (
        ("once", joins(right, once=True), (remove(right), add(left))),
        ("nothing comes back", joins(right), (add(right),)),
        ("weekly", joins(right), (hour, remove(right), add(left))),
        ("ended", joins(right), ({"type": "EXIT"}, remove(right), add(left))),
        ("same value", on("contact.updated"), ({"type": "UPDATE_CONTACT", "attributes": {"seen": True}},)),
        ("clicks are people's", on("email.clicked"), (email(),)),
        ("elsewhere", on("order.placed"), ({"type": "WEBHOOK", "url": "https://other.example/events"},)),
    ):
        made = await create(project, name, trigger, *steps)
        assert made.status_code == 201, (name, made.text)
        await project.client.delete(f"/automations/{made.json()['id']}")


async def test_every_kind_of_loop_is_detected(audience, email, project, world):
    """Loops through mail events, attributes, audience rules, and webhook calls of this server.

    Defects: C6
    """
    rules = {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}
    dynamic = (await project.client.post("/audiences", {"name": "Pros", "rules": rules})).json()["id"]
    own = f"{world.settings.public_url}/projects/{project.id}/events"

    def update(value):
        return {"type": "UPDATE_CONTACT", "attributes": {"plan": value}}

    branch = {"type": "CONDITION", "rules": rules, "then": [update("free")], "else": [update("pro")]}
    for trigger, step, path in (
        (on("email.delivered"), email(), "/steps/0"),
        (on("contact.updated"), branch, "/steps/0/then/0"),
        (joins(dynamic), branch, "/steps/0/then/0"),
        (on("order.placed"), {"type": "WEBHOOK", "url": own}, "/steps/0"),
    ):
        refused = await create(project, "Self", trigger, step)
        assert (refused.status_code, refused.json()["code"]) == (409, "automation_loop"), trigger
        assert [each["path"] for each in refused.json()["errors"]] == [path]
        assert "“Self”" in refused.json()["errors"][0]["message"]


async def test_a_custom_event_that_causes_itself_is_limited(automate, contact, project, receiver, work_off):
    """A WEBHOOK step whose receiver records the triggering event again.

    Defects: C6
    """
    await automate(on("order.placed"), {"type": "WEBHOOK", "url": receiver.url("/in")})
    ada = await contact()
    for number in range(4):
        await project.client.post("/events", {"name": "order.placed", "contactId": ada, "data": {"round": number}})
        await work_off()
    assert len(receiver.requests) == 1


async def test_the_frequency_cap_applies_to_automations(
    automate, contact, email, project, work_off, runs, mails, clock
):
    """Mail above the cap is skipped with a reason in the run, the log and an event, and counted.

    Defects: C6
    """
    set_ = await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": 2}})
    assert set_.json()["settings"]["frequencyCap"] == 2
    automation = await automate(on("ping.sent"), email("a"), email("b"), email("c"))
    ada = await contact()
    await project.client.post("/events", {"name": "ping.sent", "contactId": ada})
    await work_off()
    (run,) = await runs(automation)
    assert (run["status"], [step["outcome"] for step in run["steps"]]) == ("COMPLETED", ["DONE", "DONE", "SKIPPED"])
    reason = "Frequency cap: the contact got 2 marketing messages within the last 24 hours."
    assert run["steps"][2]["detail"]["reason"] == reason
    logged = (await project.client.get("/emails/logs?status=SUPPRESSED")).json()["data"]
    assert [(each["subject"], each["reason"]) for each in logged] == [("c", reason)]
    (told,) = (await project.client.get("/events?type=email.suppressed")).json()["data"]
    assert (told["data"]["reason"], told["data"]["contactId"]) == (reason, ada)
    assert (await totals(project, automation))["capped"] == 1
    inbox = (await project.client.get("/inbox")).json()["data"]
    assert sorted(each["subject"] for each in inbox) == ["a", "b"]
    clock.move(timedelta(hours=24))
    await project.client.post("/events", {"name": "ping.sent", "contactId": ada})
    await work_off()
    assert len((await project.client.get("/inbox")).json()["data"]) == 4


async def test_the_default_frequency_cap_is_ten(automate, contact, email, project, work_off):
    """Defects: C6"""
    await automate(on("ping.sent"), *[email(f"{number}") for number in range(12)])
    ada = await contact(f"{uuid4().hex}@example.com")
    await project.client.post("/events", {"name": "ping.sent", "contactId": ada})
    await work_off()
    assert (await project.client.get("/inbox")).json()["total"] == 10
    for wrong in (0, 10_001, "2"):
        refused = await project.developer.patch(f"/projects/{project.id}", {"settings": {"frequencyCap": wrong}})
        assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/settings/frequencyCap")
