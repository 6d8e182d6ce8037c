"""Test copies, sender names with template tags, and validation of campaign requests."""

from datetime import timedelta
from html import unescape
from uuid import uuid4

import pytest

from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action


async def captured_messages(project):
    """The messages in the inbox, newest first."""
    listed = (await project.client.get("/inbox")).json()["data"]
    return [(await project.client.get(f"/inbox/{message['id']}")).json() for message in listed]


def header(message, name):
    return next(field["value"] for field in message["headers"] if field["name"] == name)


async def test_the_unsubscribe_link_of_a_test_copy_works_and_changes_nothing(project, stranger):
    """Regression test of C13 (tests/defects.md)."""
    html = '<p>Hi</p><a href="{{ unsubscribe_url }}">leave</a>'
    template = (await project.client.post("/templates", {"name": "T", "html": html, "subject": "Hi"})).json()["id"]
    campaign, _ = await create_campaign(project, 1, templateId=template)
    address = f"{uuid4().hex}@example.com"
    await project.client.post("/contacts", {"email": address})
    assert (await request_action(project, campaign, "test", {"to": address})).json()["sent"] == 1
    (message,) = await captured_messages(project)
    link = header(message, "List-Unsubscribe").strip("<>")
    assert f'href="{link}"' in unescape(message["html"])
    path = link[link.index("/t/u/") :]
    page = await stranger.get(path)
    assert (page.status_code, "Unsubscribe" in page.text) == (200, True)
    response = await stranger.post(path)
    assert (response.status_code, "test copy" in response.text) == (200, True)
    (contact,) = (await project.client.get(f"/contacts?q={address}")).json()["data"]
    assert contact["unsubscribed"] is False
    assert (await project.client.get(f"/suppressions/{address}")).status_code == 404


async def test_a_sender_name_with_template_tags_is_rendered(project, run_due_work):
    """In the campaign, in its test copies, and in automations.

    Regression test of C13 (tests/defects.md).
    """
    campaign, _ = await create_campaign(project, 2, fromName="Ada for {{ name }}")
    await request_action(project, campaign, "test", {"to": "nobody@example.com"})
    await request_action(project, campaign, "send")
    step = {
        "type": "SEND_EMAIL",
        "templateId": campaign["templateId"],
        "fromEmail": campaign["fromEmail"],
        "fromName": "{{ name }}'s team",
    }
    body = {"name": "A", "trigger": {"type": "CONTACT_CREATED"}, "steps": [step], "active": True}
    assert (await project.client.post("/automations", body)).status_code == 201
    await project.client.post("/contacts", {"email": f"{uuid4().hex}@example.com", "attributes": {"name": "Eve"}})
    await run_due_work()
    names = sorted(
        header(message, "From").partition(" <")[0].strip('"') for message in await captured_messages(project)
    )
    assert names == ["Ada for", "Ada for N0", "Ada for N1", "Eve's team"]


@pytest.mark.parametrize("name", ["{{ name", "{% if %}"])
async def test_a_sender_name_with_a_template_error_is_refused(project, name):
    """Regression test of C13 (tests/defects.md)."""
    response = await project.client.post("/campaigns", {"name": "x", "fromName": name})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (400, "/fromName")


async def test_scheduled_at_can_be_null(project, run_due_work, clock):
    """It has no effect on a draft; a scheduled campaign becomes a draft again.

    Regression test of C13 (tests/defects.md).
    """
    campaign, _ = await create_campaign(project, 1, scheduledAt=None)
    path = f"/campaigns/{campaign['id']}"
    at = (clock() + timedelta(hours=1)).isoformat()
    assert (await project.client.patch(path, {"scheduledAt": at})).status_code == 200
    assert (await project.client.patch(path, {"scheduledAt": None})).json()["scheduledAt"] is None
    await project.client.patch(path, {"scheduledAt": at})
    await request_action(project, campaign, "send")
    assert (await get_campaign(project, campaign))["status"] == "SCHEDULED"
    changed = (await project.client.patch(path, {"scheduledAt": None})).json()
    assert (changed["status"], changed["scheduledAt"]) == ("DRAFT", None)
    clock.move(timedelta(hours=2))
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "DRAFT"


async def test_unknown_filter_values_are_refused(project):
    """Regression test of C13 (tests/defects.md)."""
    campaign, _ = await create_campaign(project, 0)
    body = {"name": "A", "trigger": {"type": "CONTACT_CREATED"}, "steps": [{"type": "EXIT"}]}
    automation = (await project.client.post("/automations", body)).json()["id"]
    webhook = (await project.client.post("/webhooks", {"url": "https://example.com/h", "events": ["*"]})).json()["id"]
    for path in (
        f"/campaigns/{campaign['id']}/sends?status=SENDT",
        f"/campaigns/{campaign['id']}/sends/export?status=SENDT",
        f"/automations/{automation}/runs?status=GONE",
        f"/automations/{automation}/runs?contactId=ada",
        f"/webhooks/{webhook}/deliveries?status=GONE",
        f"/webhooks/{webhook}/deliveries?event=email.sendt",
        "/events?type=email.sendt",
        "/contacts?unsubscribed=perhaps",
    ):
        response = await project.client.get(path)
        assert (response.status_code, response.json()["errors"][0]["path"][:6]) == (400, "query/"), path


async def test_a_webhook_test_without_a_response_has_the_reason(project):
    """Regression test of C13 (tests/defects.md)."""
    webhook = (await project.client.post("/webhooks", {"url": "https://nowhere.invalid/h", "events": ["*"]})).json()[
        "id"
    ]
    result = (await project.client.post(f"/webhooks/{webhook}/test")).json()
    assert (result["status"], result["ok"]) == (None, False)
    assert result["reason"]
