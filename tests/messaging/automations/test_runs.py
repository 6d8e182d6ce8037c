"""Runs of automations, over the HTTP API: triggers, steps, waits, versions, and how runs end."""

import asyncio
from datetime import timedelta
from uuid import UUID, uuid4

import msgspec
import pytest
import standardwebhooks
from psycopg.sql import SQL

from postern.kernel.database.statements import Jsonb
from postern.kernel.due import Lane, claim
from postern.messaging.automations import steps
from postern.messaging.automations import store as automation_store
from postern.messaging.automations.work import WORK, advance
from postern.platform.events import operations as events
from postern.platform.events import store
from tests.conftest import Client
from tests.event_data import MADE_BY_TEST
from tests.peers.http_receiver import Reply

DAY = timedelta(days=1)
PRO = {"match": "all", "conditions": [{"field": "plan", "operator": "eq", "value": "pro"}]}


def outcomes(run):
    """The type and outcome of each executed step."""
    return [(step["type"], step["outcome"]) for step in run["steps"]]


async def test_joining_an_audience_starts_a_run(
    create_automation, create_audience, create_contact, email_step, project, run_due_work, read_runs, read_mails, clock
):
    audience_id = await create_audience()
    automation = await create_automation(
        {"type": "AUDIENCE_JOINED", "audienceId": audience_id},
        email_step(),
        {"type": "DELAY", "days": 2},
        email_step("Again, {{ name }}"),
    )
    ada = await create_contact()
    await run_due_work()
    assert await read_mails() == []
    await project.client.post(f"/audiences/{audience_id}/contacts", {"contactId": ada})
    await run_due_work()
    assert await read_mails() == [("ada@example.com", "Hello Ada")]
    (run,) = await read_runs(automation)
    assert (run["status"], run["currentStep"], run["contactId"], run["finishedAt"]) == ("WAITING", 1, ada, None)
    clock.move(2 * DAY - timedelta(seconds=1))
    await run_due_work()
    assert len(await read_mails()) == 1
    clock.move(timedelta(seconds=1))
    await run_due_work()
    assert await read_mails() == [("ada@example.com", "Hello Ada"), ("ada@example.com", "Again, Ada")]
    (run,) = await read_runs(automation)
    assert (run["status"], run["currentStep"], run["error"]) == ("COMPLETED", 3, None)
    assert run["finishedAt"]
    assert outcomes(run) == [("SEND_EMAIL", "DONE"), ("DELAY", "DONE"), ("SEND_EMAIL", "DONE")]
    assert run["steps"][0]["detail"]["sendId"]
    assert run["steps"][1]["startedAt"] < run["steps"][1]["finishedAt"]
    totals = (await project.client.get(f"/automations/{automation}/totals")).json()
    # `limited`: runs that did not start because of `maxRunsPerHour`; `capped`: messages not sent because of the cap.
    assert totals == {"totalRuns": 1, "completed": 1, "failed": 0, "limited": 0, "capped": 0}
    recorded = (await project.client.get("/events?type=automation.started,automation.completed")).json()["data"]
    assert [(event["type"], event["data"]["contactId"]) for event in recorded] == [
        ("automation.completed", ada),
        ("automation.started", ada),
    ]


async def test_an_automation_with_once_starts_one_run_per_contact(
    create_automation, create_audience, create_contact, project, run_due_work, read_runs
):
    audience_id = await create_audience()
    once = await create_automation({"type": "AUDIENCE_JOINED", "audienceId": audience_id}, {"type": "EXIT"})
    often = await create_automation(
        {"type": "AUDIENCE_JOINED", "audienceId": audience_id, "once": False}, {"type": "DELAY", "days": 1}
    )
    left = await create_automation({"type": "AUDIENCE_LEFT", "audienceId": audience_id}, {"type": "EXIT"})
    ada = await create_contact()
    for _ in range(2):
        await project.client.post(f"/audiences/{audience_id}/contacts", {"contactId": ada})
        await project.client.delete(f"/audiences/{audience_id}/contacts/{ada}")
    await run_due_work()
    assert [len(await read_runs(automation)) for automation in (once, often, left)] == [1, 1, 1], (
        "`often` has one run too, because the first one is unfinished"
    )


async def test_a_contact_can_start_another_run_after_the_end(
    create_automation, create_audience, create_contact, project, run_due_work, read_runs, clock
):
    audience_id = await create_audience()
    often = await create_automation(
        {"type": "AUDIENCE_JOINED", "audienceId": audience_id, "once": False}, {"type": "DELAY", "days": 1}
    )
    ada = await create_contact()
    for _ in range(2):
        await project.client.post(f"/audiences/{audience_id}/contacts", {"contactId": ada})
        await run_due_work()
        clock.move(DAY)
        await run_due_work()
        await project.client.delete(f"/audiences/{audience_id}/contacts/{ada}")
    assert [run["status"] for run in await read_runs(often)] == ["COMPLETED", "COMPLETED"]


async def test_other_audiences_and_projects_start_nothing(
    create_automation, create_audience, create_contact, new_project, project, run_due_work, read_runs
):
    automation = await create_automation(
        {"type": "AUDIENCE_JOINED", "audienceId": await create_audience()}, {"type": "EXIT"}
    )
    created = await create_automation({"type": "CONTACT_CREATED"}, {"type": "EXIT"})
    other_project = await new_project()
    await other_project.client.post("/contacts", {"email": "eve@example.com"})
    ada = await create_contact()
    await project.client.post(f"/audiences/{await create_audience('Other')}/contacts", {"contactId": ada})
    await run_due_work()
    assert await read_runs(automation) == []
    assert [run["contactId"] for run in await read_runs(created)] == [ada]


async def test_only_active_automations_start_runs(
    create_automation, create_contact, project, run_due_work, read_runs, clock
):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "DELAY", "days": 1}, {"type": "EXIT"})
    await create_contact()
    await run_due_work()
    await project.client.patch(f"/automations/{automation}/active", {"active": False})
    await create_contact("bob@example.com")
    clock.move(DAY)
    await run_due_work()
    (run,) = await read_runs(automation)
    assert run["status"] == "EXITED", "a run that has started is finished"


async def test_conditions_branch(create_automation, create_contact, email_step, run_due_work, read_runs, read_mails):
    automation = await create_automation(
        {"type": "CONTACT_CREATED"},
        {
            "type": "CONDITION",
            "rules": PRO,
            "then": [email_step("pro")],
            "else": [email_step("free"), {"type": "EXIT"}],
        },
        email_step("both"),
    )
    await create_contact("ada@example.com", attributes={"plan": "pro"})
    await create_contact("bob@example.com", attributes={"plan": "free"})
    await run_due_work()
    assert sorted(await read_mails()) == [
        ("ada@example.com", "both"),
        ("ada@example.com", "pro"),
        ("bob@example.com", "free"),
    ]
    ada, bob = await read_runs(automation)
    assert (ada["status"], bob["status"]) == ("COMPLETED", "EXITED")
    assert outcomes(ada) == [("CONDITION", "TRUE"), ("SEND_EMAIL", "DONE"), ("SEND_EMAIL", "DONE")]
    assert outcomes(bob) == [("CONDITION", "FALSE"), ("SEND_EMAIL", "DONE"), ("EXIT", "DONE")]


async def test_waiting_for_an_event(
    create_automation, create_contact, email_step, project, run_due_work, read_runs, read_mails, clock
):
    automation = await create_automation(
        {"type": "CONTACT_CREATED"},
        {
            "type": "WAIT_FOR_EVENT",
            "event": "order.placed",
            "timeout": {"days": 3},
            "then": [email_step("thanks")],
            "else": [email_step("forgot?")],
        },
    )
    ada, bob = await create_contact(), await create_contact("bob@example.com")
    await run_due_work()
    assert [run["waitingFor"] for run in await read_runs(automation)] == ["order.placed"] * 2
    await project.client.post("/events", {"name": "order.paid", "contactId": ada})
    placed = await project.client.post("/events", {"name": "order.placed", "email": "ADA@example.com"})
    await run_due_work()
    assert await read_mails() == [("ada@example.com", "thanks")]
    clock.move(3 * DAY)
    await run_due_work()
    assert (await read_mails())[1:] == [("bob@example.com", "forgot?")]
    first, second = await read_runs(automation)
    assert outcomes(first) == [("WAIT_FOR_EVENT", "HAPPENED"), ("SEND_EMAIL", "DONE")]
    assert first["steps"][0]["detail"]["eventId"] == placed.json()["id"]
    assert outcomes(second) == [("WAIT_FOR_EVENT", "TIMED_OUT"), ("SEND_EMAIL", "DONE")]
    assert second["contactId"] == bob


async def test_an_event_recorded_before_a_late_worker_executes_the_wait_ends_the_wait(
    create_automation, create_contact, email_step, project, run_due_work, read_runs, read_mails, clock
):
    """Events since the step began count, however late a worker executes the step; earlier events do not."""
    wait = {"type": "WAIT_FOR_EVENT", "event": "order.placed", "timeout": {"days": 3}, "else": [email_step("forgot?")]}
    automation = await create_automation(
        {"type": "EVENT", "event": "cart.filled"}, wait, {"type": "DELAY", "days": 1}, wait, {"type": "EXIT"}
    )
    for number in range(3):
        await create_contact(f"{number}@example.com")

    async def record(*contacts_and_names):
        for number, name in contacts_and_names:
            await project.client.post("/events", {"name": name, "email": f"{number}@example.com"})
            clock.move(timedelta(seconds=1))

    batch = [{"name": name, "email": "0@example.com"} for name in ("order.placed", "cart.filled", "order.placed")]
    await project.client.post("/events/batch", {"events": batch})
    await record((1, "order.placed"), (1, "cart.filled"), (2, "cart.filled"), (2, "order.placed"), (2, "order.placed"))
    await run_due_work()
    assert [run["waitingFor"] for run in await read_runs(automation)] == [None, "order.placed", None]
    await record((1, "order.placed"), (0, "order.placed"))
    await run_due_work()
    clock.move(DAY)
    await record((2, "order.placed"))
    await run_due_work()
    assert [run["waitingFor"] for run in await read_runs(automation)] == ["order.placed", "order.placed", None]
    clock.move(3 * DAY)
    await run_due_work()
    first, second, third = await read_runs(automation)
    timed_out = [("WAIT_FOR_EVENT", "TIMED_OUT"), ("SEND_EMAIL", "DONE"), ("EXIT", "DONE")]
    happened = [("WAIT_FOR_EVENT", "HAPPENED"), ("DELAY", "DONE")]
    assert outcomes(first) == outcomes(second) == happened + timed_out
    assert outcomes(third) == [*happened, ("WAIT_FOR_EVENT", "HAPPENED"), ("EXIT", "DONE")]
    assert sorted(await read_mails()) == [("0@example.com", "forgot?"), ("1@example.com", "forgot?")]


async def test_one_event_ends_one_wait_of_several(create_automation, create_contact, project, run_due_work, read_runs):
    wait = {"type": "WAIT_FOR_EVENT", "event": "order.placed"}
    automation = await create_automation({"type": "EVENT", "event": "order.placed"}, wait, wait, wait)
    ada = await create_contact()
    for count in (1, 2, 3):
        await project.client.post("/events", {"name": "order.placed", "contactId": ada})
        await run_due_work()
        assert [run["currentStep"] for run in await read_runs(automation)] == [count - 1]
    await project.client.post("/events", {"name": "order.placed", "contactId": ada})
    await run_due_work()
    (run,) = await read_runs(automation)
    assert run["status"] == "COMPLETED"


async def test_an_event_recorded_while_a_wait_begins_is_found_at_the_timeout(
    create_automation, create_contact, email_step, project, run_due_work, read_runs, world, clock
):
    """The event is inserted without waking the run, as if neither transaction saw the other."""
    wait = {"type": "WAIT_FOR_EVENT", "event": "order.placed", "timeout": {"days": 3}, "else": [email_step("forgot?")]}
    automation = await create_automation({"type": "CONTACT_CREATED"}, wait)
    ada = await create_contact()
    await run_due_work()
    clock.move(timedelta(milliseconds=1))
    event = events.make_event(UUID(project.id), "order.placed", UUID(ada), clock())
    async with world.db.transaction() as tx:
        await store.insert_events(
            tx, project_id=[event.project_id], rows=Jsonb([msgspec.structs.asdict(event)]), conditions=SQL("true")
        )
    await run_due_work()
    assert (await read_runs(automation))[0]["status"] == "WAITING"
    clock.move(3 * DAY)
    await run_due_work()
    (run,) = await read_runs(automation)
    assert outcomes(run) == [("WAIT_FOR_EVENT", "HAPPENED")]


async def test_batches_of_events_in_opposite_order_do_not_deadlock(
    create_automation, create_audience, project, run_due_work
):
    """They lock the runs in the order of their ids."""
    wait = {"type": "WAIT_FOR_EVENT", "event": "order.placed"}
    automation = await create_automation({"type": "CONTACT_CREATED"}, wait)
    audience_id = await create_audience()
    body = {"emails": [f"{number}@example.com" for number in range(500)]}
    await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", body)
    await run_due_work()
    batch = [{"name": "order.placed", "email": address} for address in body["emails"]]
    responses = await asyncio.gather(
        *[project.client.post("/events/batch", {"events": events}) for events in (batch, batch[::-1]) * 2]
    )
    assert [response.status_code for response in responses] == [201] * 4
    await run_due_work()
    totals = (await project.client.get(f"/automations/{automation}/totals")).json()
    assert totals == {"totalRuns": 500, "completed": 500, "failed": 0, "limited": 0, "capped": 0}


async def test_the_data_of_custom_events_does_not_identify_contacts(
    create_automation, create_contact, project, run_due_work, read_runs
):
    automation = await create_automation({"type": "EVENT", "event": "order.placed"}, {"type": "EXIT"})
    ada = await create_contact()
    await project.client.post(
        "/events", {"name": "order.placed", "contactId": ada, "data": {"contactId": str(uuid4())}}
    )
    await run_due_work()
    assert [run["contactId"] for run in await read_runs(automation)] == [ada]


async def test_an_email_event_concerns_its_contact(
    create_automation, create_contact, email_step, world, project, run_due_work, read_runs
):
    wait = {"type": "WAIT_FOR_EVENT", "event": "email.opened", "then": [{"type": "EXIT"}]}
    automation = await create_automation({"type": "CONTACT_CREATED"}, email_step(), wait)
    ada = await create_contact()
    await run_due_work()
    sends = (await project.client.get("/emails/logs")).json()["data"]
    assert sends[0]["contact"]["id"] == ada
    event = events.make_event(
        UUID(project.id), "email.opened", UUID(sends[0]["id"]), world.clock(), actor_label=MADE_BY_TEST, contactId=ada
    )
    async with world.db.transaction() as tx:
        await events.record_all(tx, [event])
    await run_due_work()
    (run,) = await read_runs(automation)
    assert run["status"] == "EXITED"


async def test_a_customer_event_starts_a_run_of_the_contact_with_the_address(
    create_automation, email_step, create_contact, project, run_due_work, read_mails, read_runs
):
    automation = await create_automation({"type": "EVENT", "event": "customer.signed_up"}, email_step("Welcome"))
    grace = await create_contact("grace@example.com")
    for email in ("new@example.com", "Grace@Example.com"):
        assert (await project.client.post("/customers", {"email": email})).status_code == 201
    await run_due_work()
    assert await read_mails() == [("new@example.com", "Welcome"), ("grace@example.com", "Welcome")]
    assert (await read_runs(automation))[1]["contactId"] == grace


async def test_an_unverified_address_gets_no_mail_of_automations(
    create_automation, email_step, project, run_due_work, read_mails
):
    settings = {"signIn": {"verifyEmail": "LATER"}}
    assert (await project.developer.patch("", {"settings": settings})).status_code == 200
    for event in ("signed_up", "signed_in", "sign_in_failed", "email_verified"):
        await create_automation({"type": "EVENT", "event": f"customer.{event}"}, email_step(f"customer.{event}"))

    async def mails_of_automations():
        await run_due_work()
        return [mail for mail in await read_mails() if mail[1].startswith("customer.")]

    visitor = Client(project.client.app, base=f"/projects/{project.id}/auth")
    body = {"email": "victim@example.com", "password": "a password nobody has"}
    assert (await visitor.post("/sign-up", body)).status_code == 201
    # An attempt at an address without a customer has no subject.
    for email in (body["email"], "nobody@example.com"):
        failed = await visitor.post("/sign-in", {"email": email, "password": "a wrong password"})
        assert failed.status_code == 401, failed.text
    assert await mails_of_automations() == []
    assert (await project.client.get("/contacts")).json()["data"] == []
    (customer,) = (await project.client.get("/customers")).json()["data"]
    verified = await project.client.patch(f"/customers/{customer['id']}", {"emailVerified": True})
    assert verified.status_code == 200, verified.text
    assert await mails_of_automations() == [("victim@example.com", "customer.email_verified")]


async def test_customer_events_create_contacts_only_for_runs(create_automation, email_step, project, run_due_work):
    signed_up = {"type": "EVENT", "event": "customer.signed_up"}
    where = {"conditions": [{"field": "method", "operator": "neq", "value": "API"}]}
    await create_automation({**signed_up, "where": where}, email_step("Welcome"))
    wait = {"type": "WAIT_FOR_EVENT", "event": "customer.signed_up", "timeout": {"hours": 1}, "then": [], "else": []}
    await create_automation({"type": "CONTACT_CREATED"}, wait)
    await create_automation({"type": "EVENT", "event": "customer.deleted"}, email_step("Bye"))
    created = (await project.client.post("/customers", {"email": "ada@example.com", "emailVerified": True})).json()
    assert (await project.client.delete(f"/customers/{created['id']}")).status_code == 200
    await run_due_work()
    assert (await project.client.get("/contacts")).json()["data"] == []


async def test_a_run_waits_for_the_events_of_a_customer(
    create_automation, create_contact, project, run_due_work, read_runs
):
    wait = {"type": "WAIT_FOR_EVENT", "event": "customer.updated", "timeout": {"hours": 1}, "then": [], "else": []}
    automation = await create_automation({"type": "EVENT", "event": "customer.signed_up"}, wait, {"type": "EXIT"})
    for email in ("before@example.com", "later@example.com"):
        body = {"email": email, "emailVerified": True}
        customer = (await project.client.post("/customers", body)).json()
        if email.startswith("later"):
            await run_due_work()
        assert (await project.client.patch(f"/customers/{customer['id']}", {"name": "Ada"})).status_code == 200
        await run_due_work()
    runs = await read_runs(automation)
    assert [outcomes(run)[0] for run in runs] == [("WAIT_FOR_EVENT", "HAPPENED")] * 2


async def test_steps_change_contacts_and_audiences(
    create_automation, create_audience, create_contact, project, run_due_work, read_runs
):
    old_audience, new_audience = await create_audience("Old"), await create_audience("New")
    automation = await create_automation(
        {"type": "AUDIENCE_JOINED", "audienceId": old_audience},
        {"type": "UPDATE_CONTACT", "attributes": {"stage": "customer", "name": None}},
        {"type": "ADD_TO_AUDIENCE", "audienceId": new_audience},
        {"type": "REMOVE_FROM_AUDIENCE", "audienceId": old_audience},
    )
    on_leaving = await create_automation({"type": "AUDIENCE_LEFT", "audienceId": old_audience}, {"type": "EXIT"})
    ada = await create_contact()
    await project.client.post(f"/audiences/{old_audience}/contacts", {"contactId": ada})
    await run_due_work()
    assert (await project.client.get(f"/contacts/{ada}")).json()["attributes"] == {"stage": "customer"}
    members = {
        name: (await project.client.get(f"/audiences/{audience_id}/contacts")).json()["total"]
        for name, audience_id in (("old", old_audience), ("new", new_audience))
    }
    assert members == {"old": 0, "new": 1}
    (run,) = await read_runs(automation)
    assert run["status"] == "COMPLETED"
    assert [run["status"] for run in await read_runs(on_leaving)] == ["EXITED"], (
        "the change of a step starts other automations"
    )


async def test_attributes_above_the_limit_are_skipped_with_a_reason(
    create_automation, create_contact, project, run_due_work, read_runs
):
    automation = await create_automation(
        {"type": "CONTACT_CREATED"},
        {"type": "UPDATE_CONTACT", "attributes": {"more": "y" * 9_000}},
        {"type": "UPDATE_CONTACT", "attributes": {"stage": "new"}},
        {"type": "UPDATE_CONTACT", "attributes": {"stage": "new", "name": None}},
    )
    created = await project.client.post("/contacts", {"email": "ada@example.com", "attributes": {"x": "y" * 9_000}})
    await run_due_work()
    (run,) = await read_runs(automation)
    steps = (await project.client.get(f"/automations/{automation}/runs/{run['id']}")).json()["steps"]
    assert [step["outcome"] for step in steps] == ["SKIPPED", "DONE", "DONE"]
    assert "exceed a limit" in steps[0]["detail"]["reason"]
    attributes = (await project.client.get(f"/contacts/{created.json()['id']}")).json()["attributes"]
    assert set(attributes) == {"x", "stage"}


async def test_a_delay_ends_after_its_duration_or_at_its_time(
    create_automation, create_contact, run_due_work, read_runs, clock
):
    until = (clock() + 3 * DAY).isoformat()
    delays = [{"minutes": 90}, {"hours": 2, "minutes": 30}, {"days": 1}, {"until": until}, {"until": until}]
    automation = await create_automation(
        {"type": "CONTACT_CREATED"}, *[{"type": "DELAY", **fields} for fields in delays]
    )
    await create_contact()
    until_third_day = 3 * DAY - timedelta(hours=28)  # The first three delays take 28 hours.
    for step, wait in enumerate([timedelta(minutes=90), timedelta(hours=2, minutes=30), DAY, until_third_day]):
        await run_due_work()
        clock.move(wait - timedelta(seconds=1))
        await run_due_work()
        (run,) = await read_runs(automation)
        assert (run["status"], run["currentStep"]) == ("WAITING", step)
        clock.move(timedelta(seconds=1))
    await run_due_work()
    (run,) = await read_runs(automation)
    assert run["status"] == "COMPLETED", "a delay until a past time ends at once"


async def test_webhook_calls_are_signed_and_retried(
    create_automation, create_contact, receiver, project, run_due_work, read_runs, clock
):
    receiver.script("/ok", Reply(status=500), Reply())
    receiver.script("/dead", Reply(status=503))
    automation = await create_automation(
        {"type": "CONTACT_CREATED"},
        {"type": "WEBHOOK", "url": receiver.url("/ok")},
        {"type": "WEBHOOK", "url": receiver.url("/dead")},
        {"type": "UPDATE_CONTACT", "attributes": {"called": True}},
    )
    ada = await create_contact()
    for _ in range(8):
        await run_due_work()
        clock.move(timedelta(hours=2))
    assert [len(receiver.received(path)) for path in ("/ok", "/dead")] == [2, 5]
    for path in ("/ok", "/dead"):
        assert len({request.headers["webhook-id"] for request in receiver.received(path)}) == 1
    secret = (await project.client.get(f"/automations/{automation}/webhook-secret")).json()["secret"]
    first = receiver.requests[0]
    webhook = standardwebhooks.Webhook(secret)
    webhook.verify(first.body, dict(first.headers))
    assert first.json["data"]["contact"]["email"] == "ada@example.com"
    (run,) = await read_runs(automation)
    assert run["status"] == "COMPLETED"
    assert outcomes(run) == [("WEBHOOK", "DONE"), ("WEBHOOK", "FAILED"), ("UPDATE_CONTACT", "DONE")]
    assert (await project.client.get(f"/contacts/{ada}")).json()["attributes"]["called"] is True


async def test_a_call_that_causes_an_internal_error_fails_only_its_run(
    create_automation, create_contact, receiver, world, run_due_work, read_runs, monkeypatch
):
    post = world.outbound.post

    async def post_or_fail(url, body, **options):
        if b"faulty@example.com" in body:
            raise ValueError("faulty")
        return await post(url, body, **options)

    monkeypatch.setattr(world.outbound, "post", post_or_fail)
    automation = await create_automation(
        {"type": "CONTACT_CREATED"}, {"type": "WEBHOOK", "url": receiver.url("/called")}
    )
    for name in ("ada", "faulty", "bob"):
        await create_contact(f"{name}@example.com")
    await run_due_work()
    called = [request.json["data"]["contact"]["email"] for request in receiver.received("/called")]
    assert sorted(called) == ["ada@example.com", "bob@example.com"]
    listed = await read_runs(automation)
    assert [run["status"] for run in listed] == ["COMPLETED", "FAILED", "COMPLETED"]
    assert "ValueError" in listed[1]["error"]


async def test_runs_are_advanced_although_the_cache_of_versions_is_cleared_meanwhile(
    create_automation, create_contact, email_step, run_due_work, read_runs, clock, world, monkeypatch
):
    list_versions = automation_store.list_versions

    async def list_versions_and_clear(tx, **arguments):
        versions = await list_versions(tx, **arguments)
        world.db.cache(steps.VersionSteps).clear()  # As by another task that loads versions at this time.
        return versions

    monkeypatch.setattr(automation_store, "list_versions", list_versions_and_clear)
    cached = await create_automation({"type": "CONTACT_CREATED"}, email_step())
    await create_contact()
    await run_due_work()
    uncached = await create_automation({"type": "CONTACT_CREATED"}, email_step())
    await create_contact("bob@example.com")
    await run_due_work()
    assert [run["status"] for run in await read_runs(cached)] == ["COMPLETED", "COMPLETED"]
    assert [run["status"] for run in await read_runs(uncached)] == ["COMPLETED"]


async def test_webhook_calls_to_private_addresses_are_refused(
    create_automation, create_contact, world, run_due_work, read_runs, monkeypatch, clock
):
    async def lookup(name):
        return ["10.0.0.1"]

    monkeypatch.setattr(world.outbound, "_lookup", lookup)
    automation = await create_automation(
        {"type": "CONTACT_CREATED"}, {"type": "WEBHOOK", "url": "http://private.example/"}
    )
    await create_contact()
    for _ in range(6):
        await run_due_work()
        clock.move(timedelta(hours=2))
    (run,) = await read_runs(automation)
    assert "public Internet" in run["steps"][0]["detail"]["reason"]


async def test_unsubscribed_contacts_get_no_mail(
    create_automation, create_contact, email_step, run_due_work, read_runs, read_mails
):
    automation = await create_automation({"type": "CONTACT_CREATED"}, email_step())
    await create_contact("gone@example.com", unsubscribed=True)
    await run_due_work()
    assert await read_mails() == []
    (run,) = await read_runs(automation)
    assert (run["status"], outcomes(run)) == ("COMPLETED", [("SEND_EMAIL", "SKIPPED")])


async def test_a_run_keeps_its_version(
    create_automation, create_contact, email_step, project, run_due_work, read_mails, clock
):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "DELAY", "days": 1}, email_step("old"))
    await create_contact()
    await run_due_work()
    await project.client.patch(f"/automations/{automation}", {"steps": [email_step("new")]})
    await create_contact("bob@example.com")
    clock.move(DAY)
    await run_due_work()
    assert sorted(await read_mails()) == [("ada@example.com", "old"), ("bob@example.com", "new")]


async def test_a_deleted_template_fails_the_run_with_a_reason(
    create_automation, create_contact, email_step, template, world, project, run_due_work, read_runs
):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "DELAY", "minutes": 1}, email_step())
    await create_contact()
    await run_due_work()
    async with world.db.connection() as connection:
        await connection.execute("delete from templates where project_id = %s", (UUID(project.id),))
    world.clock.move(timedelta(minutes=1))
    await run_due_work()
    (run,) = await read_runs(automation)
    assert (run["status"], run["error"]) == ("FAILED", "The template has been deleted.")
    assert outcomes(run)[-1] == ("SEND_EMAIL", "FAILED")
    failed = (await project.client.get("/events?type=automation.failed")).json()["data"]
    assert failed[0]["data"]["error"] == run["error"]


async def test_the_run_of_a_deleted_contact_ends(
    create_automation, create_contact, project, run_due_work, read_runs, clock
):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "DELAY", "days": 1}, {"type": "EXIT"})
    ada = await create_contact()
    await run_due_work()
    await project.client.delete(f"/contacts/{ada}")
    clock.move(DAY)
    await run_due_work()
    (run,) = await read_runs(automation)
    assert run["status"] == "CANCELLED"


async def test_a_run_can_be_cancelled(
    create_automation, create_contact, email_step, project, run_due_work, read_runs, read_mails, clock
):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "DELAY", "days": 1}, email_step())
    await create_contact()
    await run_due_work()
    (run,) = await read_runs(automation)
    cancelled = await project.client.post(f"/automations/{automation}/runs/{run['id']}/cancel")
    assert cancelled.json()["status"] == "CANCELLED"
    again = await project.client.post(f"/automations/{automation}/runs/{run['id']}/cancel")
    assert (again.status_code, again.json()["code"]) == (409, "run_finished")
    clock.move(DAY)
    await run_due_work()
    assert await read_mails() == []


async def test_the_list_of_runs_is_filtered_and_paginated(create_automation, create_contact, project, run_due_work):
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "EXIT"})
    contact_ids = [await create_contact(f"{number}@example.com") for number in range(4)]
    await run_due_work()
    first = await project.client.get(f"/automations/{automation}/runs?limit=3&status=EXITED")
    next_path = first.links["next"]["url"].split("8025")[1]  # What follows the port of the base URL.
    second = await project.client.get(next_path)
    assert [run["contactId"] for run in first.json() + second.json()] == contact_ids[::-1]
    by_contact = await project.client.get(f"/automations/{automation}/runs?contactId={contact_ids[2]}")
    assert [run["contactId"] for run in by_contact.json()] == [contact_ids[2]]
    assert (await project.client.get(f"/automations/{automation}/runs?status=LOST")).status_code == 400


async def test_each_step_is_executed_once_although_two_workers_have_the_run(
    create_automation, create_contact, email_step, world, run_due_work, read_runs, read_mails, clock, project
):
    automation = await create_automation({"type": "CONTACT_CREATED"}, email_step(), {"type": "DELAY", "days": 1})
    await create_contact()
    lane, (advancing, _) = Lane(partition=UUID(project.id)), WORK
    claimed_first = await claim(world.db, advancing, lane, clock(), 10)
    clock.move(timedelta(minutes=3))
    claimed_second = await claim(world.db, advancing, lane, clock(), 10)
    assert [run.attempt for run in claimed_first + claimed_second] == [1, 2]
    await advance(world, claimed_first)
    assert await read_mails() == [], "the lease of the first worker has expired"
    await advance(world, claimed_second)
    await advance(world, claimed_second)
    await run_due_work()
    assert len(await read_mails()) == 1
    (run,) = await read_runs(automation)
    assert run["status"] == "WAITING"


async def test_a_deleted_automation_does_not_block_the_calls_of_others(
    create_automation, create_contact, receiver, world, read_runs, clock, project, run_due_work
):
    deleted, other = [
        await create_automation({"type": "CONTACT_CREATED"}, {"type": "WEBHOOK", "url": receiver.url(path)})
        for path in ("/deleted", "/other")
    ]
    await create_contact()
    lane, (advancing, calling) = Lane(partition=UUID(project.id)), WORK
    await advance(world, await claim(world.db, advancing, lane, clock(), 10))
    jobs = await claim(world.db, calling, lane, clock(), 10)
    assert len(jobs) == 2
    assert (await project.client.delete(f"/automations/{deleted}")).status_code == 200
    world.db.cache(steps.VersionSteps).clear()  # As in a process that has not loaded these versions yet.
    await calling.do(world, jobs)
    assert [request.target for request in receiver.requests] == ["/other"]
    assert [run["status"] for run in await read_runs(other)] == ["COMPLETED"]


async def test_one_faulty_run_fails_alone(
    create_automation, create_contact, email_step, world, run_due_work, read_runs, read_mails, monkeypatch
):
    original_send = steps.RunBatch._send

    async def send(self, group, step):
        if any(self.contacts[run.row.contact_id].email == "faulty@example.com" for run in group):
            raise ValueError("faulty")
        await original_send(self, group, step)

    monkeypatch.setattr(steps.RunBatch, "_send", send)
    automation = await create_automation({"type": "CONTACT_CREATED"}, email_step())
    for name in ("ada", "faulty", "bob"):
        await create_contact(f"{name}@example.com")
    await run_due_work()
    # `create_contact` gives every contact the name Ada.
    assert sorted(await read_mails()) == [("ada@example.com", "Hello Ada"), ("bob@example.com", "Hello Ada")]
    listed = await read_runs(automation)
    assert [run["status"] for run in listed] == ["COMPLETED", "FAILED", "COMPLETED"]
    assert "ValueError" in listed[1]["error"]


async def test_members_added_in_bulk_start_one_run_each(
    create_automation, create_audience, project, run_due_work, world
):
    audience_id = await create_audience()
    automation = await create_automation(
        {"type": "AUDIENCE_JOINED", "audienceId": audience_id}, {"type": "DELAY", "days": 1}
    )
    body = {"emails": [f"{number}@example.com" for number in range(2_500)]}
    added = await project.client.post(f"/audiences/{audience_id}/contacts/bulk-email", body)
    assert added.json()["added"] == 2_500
    await run_due_work()
    totals = (await project.client.get(f"/automations/{automation}/totals")).json()
    assert totals["totalRuns"] == 2_500
    async with world.db.connection() as connection:
        query = "select status, count(*) from automation_runs where project_id = %s group by 1"
        assert await (await connection.execute(query, (UUID(project.id),))).fetchall() == [("WAITING", 2_500)]


@pytest.mark.parametrize("name", ["CONTACT_CREATED", "contact.created"])
async def test_both_names_of_the_contact_created_trigger_work(
    create_automation, create_contact, run_due_work, read_runs, name
):
    trigger = {"type": name} if name.isupper() else {"type": "EVENT", "event": name}
    automation = await create_automation(trigger, {"type": "EXIT"})
    await create_contact()
    await run_due_work()
    assert len(await read_runs(automation)) == 1
