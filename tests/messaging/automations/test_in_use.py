"""Records in use by automations cannot be deleted; failed runs can be retried."""

from uuid import UUID, uuid4

import pytest

from tests.messaging.campaigns.test_campaigns import create_campaign


async def errors_of_delete(project, path, kind):
    """Try to delete a record in use; returns the path and message of each error. `kind` is part of the code."""
    response = await project.client.delete(path)
    assert (response.status_code, response.json()["code"]) == (409, f"{kind}_in_use"), response.text
    return [(error["path"], error["message"]) for error in response.json()["errors"]]


async def test_a_template_in_use_cannot_be_deleted(create_automation, email_step, project, template):
    """Regression test of C5 (tests/defects.md)."""
    automation = await create_automation({"type": "CONTACT_CREATED"}, email_step())
    expected = [(f"/automations/{automation}", "The automation “Series” uses it.")]
    assert await errors_of_delete(project, f"/templates/{template}", "template") == expected
    await project.client.patch(f"/automations/{automation}/active", {"active": False})
    assert (await project.client.delete(f"/templates/{template}")).status_code == 200


@pytest.mark.parametrize("where", ["trigger", "step", "rules"])
async def test_an_audience_in_use_cannot_be_deleted(create_automation, create_audience, project, where):
    """Regression test of C5 (tests/defects.md)."""
    audience_id = await create_audience()
    rules = {"match": "all", "conditions": [{"field": "audience", "operator": "eq", "value": audience_id}]}
    trigger = (
        {"type": "AUDIENCE_JOINED", "audienceId": audience_id} if where == "trigger" else {"type": "CONTACT_CREATED"}
    )
    branch_step = {"type": "ADD_TO_AUDIENCE", "audienceId": audience_id} if where == "step" else {"type": "EXIT"}
    condition = {"type": "CONDITION", "rules": rules, "then": [branch_step], "else": []}
    step = (
        condition if where == "rules" else {"type": "WAIT_FOR_EVENT", "event": "x.y", "then": [branch_step], "else": []}
    )
    automation = await create_automation(trigger, step)
    expected = [(f"/automations/{automation}", "The automation “Series” uses it.")]
    assert await errors_of_delete(project, f"/audiences/{audience_id}", "audience") == expected


async def test_a_sending_domain_in_use_cannot_be_deleted(create_automation, email_step, project):
    """This also applies if the step names no domain and only its sender address is at the domain.

    Regression test of C5 (tests/defects.md).
    """
    domain = (await project.client.post("/domains", {"domain": f"{uuid4().hex[:8]}.example"})).json()
    await create_automation(
        {"type": "CONTACT_CREATED"}, {**email_step(), "fromEmail": f"hello@{domain['domain'].upper()}"}
    )
    assert len(await errors_of_delete(project, f"/domains/{domain['id']}", "domain")) == 1


async def test_unfinished_runs_of_inactive_automations_count_as_use(
    create_automation, create_contact, email_step, project, template, run_due_work
):
    """Regression test of C5 (tests/defects.md)."""
    automation = await create_automation({"type": "CONTACT_CREATED"}, {"type": "DELAY", "days": 1}, email_step())
    ada = await create_contact()
    await run_due_work()
    await project.client.patch(f"/automations/{automation}", {"steps": [{"type": "EXIT"}], "active": False})
    assert len(await errors_of_delete(project, f"/templates/{template}", "template")) == 1
    await project.client.delete(f"/contacts/{ada}")
    assert (await project.client.delete(f"/templates/{template}")).status_code == 200


async def test_a_template_of_a_draft_campaigns_variant_cannot_be_deleted(project):
    """Regression test of C5 (tests/defects.md)."""
    template_b = (await project.client.post("/templates", {"name": "B", "html": "<p>B</p>", "subject": "B"})).json()[
        "id"
    ]
    variants = [{"name": "A", "weight": 50}, {"name": "B", "weight": 50, "templateId": template_b}]
    campaign, _ = await create_campaign(project, 1, variants=variants, abTestEnabled=True)
    expected = [(f"/campaigns/{campaign['id']}", "The campaign “Spring” uses it.")]
    assert await errors_of_delete(project, f"/templates/{template_b}", "template") == expected
    await project.client.patch(f"/campaigns/{campaign['id']}", {"variants": None})
    assert (await project.client.delete(f"/templates/{template_b}")).status_code == 200


@pytest.fixture
def failing_automation(world, project, template, create_automation, email_step, create_contact, run_due_work):
    """Creates an automation with failed runs: its template has no subject. `set_subject` repairs the template."""

    async def create(count=1):
        automation = await create_automation(
            {"type": "CONTACT_CREATED"}, {"type": "UPDATE_CONTACT", "attributes": {"a": 1}}, email_step()
        )
        async with world.db.connection() as connection:
            await connection.execute("update templates set subject = null where id = %s", [UUID(template)])
        contact_ids = [await create_contact(f"p{number}@example.com") for number in range(count)]
        await run_due_work()
        return automation, contact_ids

    return create


async def set_subject(world, template):
    async with world.db.connection() as connection:
        await connection.execute("update templates set subject = 'Back' where id = %s", [UUID(template)])


async def test_a_failed_run_resumes_at_the_failed_step(
    failing_automation, project, world, template, run_due_work, read_runs, read_mails
):
    """Regression test of C5 (tests/defects.md)."""
    automation, _ = await failing_automation()
    (run,) = await read_runs(automation)
    assert (run["status"], run["currentStep"]) == ("FAILED", 1)
    await set_subject(world, template)
    path = f"/automations/{automation}/runs/{run['id']}/retry"
    retried = await project.client.post(path)
    assert (retried.status_code, retried.json()["status"], retried.json()["error"]) == (200, "RUNNING", None)
    assert (await project.client.post(path)).status_code == 409, "the run has not failed again"
    await run_due_work()
    (run,) = await read_runs(automation)
    assert (run["status"], [step["outcome"] for step in run["steps"]]) == ("COMPLETED", ["DONE", "DONE"])
    assert await read_mails() == [("p0@example.com", "Back")]
    totals = (await project.client.get(f"/automations/{automation}/totals")).json()
    assert (totals["totalRuns"], totals["completed"], totals["failed"]) == (1, 1, 0)
    assert (await project.client.post(path)).json()["code"] == "run_not_failed"
    assert (await project.client.post(f"/automations/{automation}/runs/{uuid4()}/retry")).status_code == 404


async def test_all_failed_runs_are_retried_at_once(
    failing_automation, project, world, template, run_due_work, read_runs
):
    """Regression test of C5 (tests/defects.md)."""
    automation, _ = await failing_automation(3)
    path = f"/automations/{automation}/runs/retry"
    await set_subject(world, template)
    assert (await project.client.post(path)).json() == {"retried": 3, "more": False}
    await run_due_work()
    assert [run["status"] for run in await read_runs(automation)] == ["COMPLETED"] * 3
    assert (await project.client.post(path)).json() == {"retried": 0, "more": False}
    assert (await project.client.post(f"/automations/{uuid4()}/runs/retry")).status_code == 404
