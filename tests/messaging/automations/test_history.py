"""The history of runs, and runs of deleted contacts."""

from datetime import timedelta
from uuid import uuid4

import pytest


async def test_the_history_is_in_the_order_of_execution(
    create_automation, create_contact, email_step, project, run_due_work, read_runs, clock
):
    """A late worker records the steps in order, with times that never decrease.

    Regression test of C7 (tests/defects.md).
    """
    wait = {
        "type": "WAIT_FOR_EVENT",
        "event": "order.placed",
        "then": [email_step("then")],
        "else": [email_step("else")],
    }
    automation = await create_automation({"type": "CONTACT_CREATED"}, email_step("first"), wait, email_step("last"))
    ada = await create_contact()
    clock.move(timedelta(hours=1))
    await run_due_work()
    clock.move(timedelta(hours=1))
    await project.client.post("/events", {"name": "order.placed", "contactId": ada})
    await run_due_work()
    (run,) = await read_runs(automation)
    assert [step["type"] for step in run["steps"]] == ["SEND_EMAIL", "WAIT_FOR_EVENT", "SEND_EMAIL", "SEND_EMAIL"]
    assert [step["step"] for step in run["steps"]] == sorted(step["step"] for step in run["steps"])
    times = [time for step in run["steps"] for time in (step["startedAt"], step["finishedAt"])]
    assert times == sorted(times)


@pytest.mark.parametrize("erased", [False, True])
async def test_deleting_a_contact_cancels_its_runs(
    create_automation, create_contact, project, world, run_due_work, read_runs, clock, erased
):
    """For a deleted contact and for an erased customer (`erased`): the runs end at once and have a reason.

    Regression test of C7 (tests/defects.md).
    """
    wait = {"type": "WAIT_FOR_EVENT", "event": "order.placed"}
    automation = await create_automation({"type": "CONTACT_CREATED"}, wait)
    address = f"{uuid4().hex}@example.com"
    ada, bob = await create_contact(address), await create_contact("bob@example.com")
    await run_due_work()
    if erased:
        body = {"email": address, "password": "correct horse battery staple"}
        customer = await project.client.post("/customers", body)
        assert customer.status_code == 201, customer.text
        assert (await project.client.delete(f"/customers/{customer.json()['id']}")).status_code in (200, 204)
    else:
        await project.client.delete(f"/contacts/{ada}")
    runs_by_contact = {run["contactId"]: run for run in await read_runs(automation)}
    cancelled, other = runs_by_contact[ada], runs_by_contact[bob]
    assert (cancelled["status"], cancelled["error"], cancelled["nextAt"]) == (
        "CANCELLED",
        "The contact was deleted.",
        None,
    )
    assert (cancelled["waitingFor"], other["status"]) == (None, "WAITING")
    assert cancelled["finishedAt"]
    completed = (await project.client.get("/events?type=automation.completed")).json()["data"]
    outcomes = [(event["data"]["status"], event["data"]["error"]) for event in completed]
    assert outcomes == ([] if erased else [("CANCELLED", "The contact was deleted.")]), (
        "no such event remains of an erased customer"
    )
    clock.move(timedelta(days=31))
    await run_due_work()
