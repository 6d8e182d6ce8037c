"""Records in use by automations cannot be deleted; failed runs can be retried."""

from uuid import UUID, uuid4

import pytest

from tests.messaging.campaigns.test_campaigns import prepared


async def refused(project, path, what):
    answer = await project.client.delete(path)
    assert (answer.status_code, answer.json()["code"]) == (409, f"{what}_in_use"), answer.text
    return [(each["path"], each["message"]) for each in answer.json()["errors"]]


async def test_a_template_in_use_cannot_be_deleted(automate, email, project, template):
    """Defects: C5"""
    automation = await automate({"type": "CONTACT_CREATED"}, email())
    named = [(f"/automations/{automation}", "The automation “Series” uses it.")]
    assert await refused(project, f"/templates/{template}", "template") == named
    await project.client.patch(f"/automations/{automation}/active", {"active": False})
    assert (await project.client.delete(f"/templates/{template}")).status_code == 200


@pytest.mark.parametrize("where", ["trigger", "step", "rules"])
async def test_an_audience_in_use_cannot_be_deleted(automate, audience, project, where):
    """Defects: C5"""
    used = await audience()
    rules = {"match": "all", "conditions": [{"field": "audience", "operator": "eq", "value": used}]}
    trigger = {"type": "AUDIENCE_JOINED", "audienceId": used} if where == "trigger" else {"type": "CONTACT_CREATED"}
    inner = {"type": "ADD_TO_AUDIENCE", "audienceId": used} if where == "step" else {"type": "EXIT"}
    condition = {"type": "CONDITION", "rules": rules, "then": [inner], "else": []}
    step = condition if where == "rules" else {"type": "WAIT_FOR_EVENT", "event": "x.y", "then": [inner], "else": []}
    automation = await automate(trigger, step)
    named = [(f"/automations/{automation}", "The automation “Series” uses it.")]
    assert await refused(project, f"/audiences/{used}", "audience") == named


async def test_a_sending_domain_in_use_cannot_be_deleted(automate, email, project):
    """Also a domain that is used only through the sender's address.

    Defects: C5
    """
    domain = (await project.client.post("/domains", {"domain": f"{uuid4().hex[:8]}.example"})).json()
    await automate({"type": "CONTACT_CREATED"}, {**email(), "fromEmail": f"hello@{domain['domain'].upper()}"})
    assert len(await refused(project, f"/domains/{domain['id']}", "domain")) == 1


async def test_unfinished_runs_of_inactive_automations_count_as_use(
    automate, contact, email, project, template, work_off
):
    """Defects: C5"""
    automation = await automate({"type": "CONTACT_CREATED"}, {"type": "DELAY", "days": 1}, email())
    ada = await contact()
    await work_off()
    await project.client.patch(f"/automations/{automation}", {"steps": [{"type": "EXIT"}], "active": False})
    assert len(await refused(project, f"/templates/{template}", "template")) == 1
    await project.client.delete(f"/contacts/{ada}")
    assert (await project.client.delete(f"/templates/{template}")).status_code == 200


async def test_campaigns_are_listed_and_a_draft_variant_keeps_its_template(project):
    """Defects: C5"""
    other = (await project.client.post("/templates", {"name": "B", "html": "<p>B</p>", "subject": "B"})).json()["id"]
    variants = [{"name": "A", "weight": 50}, {"name": "B", "weight": 50, "templateId": other}]
    campaign, _ = await prepared(project, 1, variants=variants, abTestEnabled=True)
    named = [(f"/campaigns/{campaign['id']}", "The campaign “Spring” uses it.")]
    assert await refused(project, f"/templates/{other}", "template") == named
    await project.client.patch(f"/campaigns/{campaign['id']}", {"variants": None})
    assert (await project.client.delete(f"/templates/{other}")).status_code == 200


@pytest.fixture
def broken(world, project, template, automate, email, contact, work_off):
    """An automation with failed runs because its template was deleted; `mend` restores the template."""

    async def make(count=1):
        automation = await automate(
            {"type": "CONTACT_CREATED"}, {"type": "UPDATE_CONTACT", "attributes": {"a": 1}}, email()
        )
        async with world.db.connection() as connection:
            await connection.execute("update templates set subject = null where id = %s", [UUID(template)])
        people = [await contact(f"p{number}@example.com") for number in range(count)]
        await work_off()
        return automation, people

    return make


async def mend(world, template):
    async with world.db.connection() as connection:
        await connection.execute("update templates set subject = 'Back' where id = %s", [UUID(template)])


async def test_a_failed_run_resumes_at_the_failed_step(broken, project, world, template, work_off, runs, mails):
    """Defects: C5"""
    automation, _ = await broken()
    (run,) = await runs(automation)
    assert (run["status"], run["currentStep"]) == ("FAILED", 1)
    await mend(world, template)
    path = f"/automations/{automation}/runs/{run['id']}/retry"
    retried = await project.client.post(path)
    assert (retried.status_code, retried.json()["status"], retried.json()["error"]) == (200, "RUNNING", None)
    assert (await project.client.post(path)).status_code == 409, "it runs again"
    await work_off()
    (run,) = await runs(automation)
    assert (run["status"], [step["outcome"] for step in run["steps"]]) == ("COMPLETED", ["DONE", "DONE"])
    assert await mails() == [("p0@example.com", "Back")]
    totals = (await project.client.get(f"/automations/{automation}/totals")).json()
    assert (totals["totalRuns"], totals["completed"], totals["failed"]) == (1, 1, 0)
    assert (await project.client.post(path)).json()["code"] == "run_not_failed"
    assert (await project.client.post(f"/automations/{automation}/runs/{uuid4()}/retry")).status_code == 404


async def test_all_failed_runs_are_retried_at_once(broken, project, world, template, work_off, runs):
    """Defects: C5"""
    automation, _ = await broken(3)
    path = f"/automations/{automation}/runs/retry"
    await mend(world, template)
    assert (await project.client.post(path)).json() == {"retried": 3, "more": False}
    await work_off()
    assert [run["status"] for run in await runs(automation)] == ["COMPLETED"] * 3
    assert (await project.client.post(path)).json() == {"retried": 0, "more": False}
    assert (await project.client.post(f"/automations/{uuid4()}/runs/retry")).status_code == 404
