"""Payloads of deliveries: the contact, the rendered subject, and custom data in its own field."""

from uuid import uuid4

import pytest

from postern.platform.events.model import CAMPAIGN_SEND_EVENTS, EVENT_NAMES
from tests.messaging.campaigns.test_campaigns import create_campaign, request_action


def types_and_data(receiver):
    return [(request.json["type"], request.json["data"]) for request in receiver.requests]


async def test_custom_data_does_not_overwrite_payload_fields(subscribe, receiver, project, run_due_work):
    """Regression test of C2 (tests/defects.md)."""
    hook = await subscribe("custom.order.placed")
    custom_data = {"id": "mine", "projectId": "theirs", "contact": "none", "total": 42}
    created = await project.client.post(
        "/events", {"name": "order.placed", "email": "ada@example.com", "data": custom_data}
    )
    contact = {"id": created.json()["contactId"], "email": "ada@example.com"}
    await run_due_work()
    ((type_, data),) = types_and_data(receiver)
    assert type_ == "order.placed"
    assert data == {"id": contact["id"], "projectId": project.id, "contact": contact, "data": custom_data}
    assert (await hook.delivery())["payload"]["data"] == data
    (event,) = (await project.client.get("/events?type=order.placed")).json()["data"]
    assert (event["contact"], event["data"]) == (contact, custom_data)


async def test_a_custom_event_without_a_contact_has_none_in_its_payload(subscribe, receiver, project, run_due_work):
    """Regression test of C2 (tests/defects.md)."""
    await subscribe("custom.*")
    await project.client.post("/events", {"name": "stock.low", "data": {"sku": 7}})
    await run_due_work()
    ((_, data),) = types_and_data(receiver)
    assert data == {"id": None, "projectId": project.id, "contact": None, "data": {"sku": 7}}


async def test_events_of_contacts_audiences_and_automations_name_the_contact(
    subscribe, receiver, project, run_due_work
):
    """Regression test of C2 (tests/defects.md)."""
    await subscribe("contact.*", "audience.joined", "audience.left", "automation.*")
    audience = (await project.client.post("/audiences", {"name": "All"})).json()["id"]
    trigger = {"type": "AUDIENCE_JOINED", "audienceId": audience}
    body = {"name": "Short", "trigger": trigger, "steps": [{"type": "EXIT"}], "active": True}
    await project.client.post("/automations", body)
    address = f"{uuid4().hex}@example.com"
    ada = (await project.client.post("/contacts", {"email": address})).json()["id"]
    await project.client.post(f"/audiences/{audience}/contacts", {"contactId": ada})
    await project.client.delete(f"/audiences/{audience}/contacts/{ada}")
    await run_due_work()
    await project.client.delete(f"/contacts/{ada}")
    await run_due_work()
    data_by_type = dict(types_and_data(receiver))
    assert set(data_by_type) >= {
        "contact.created",
        "contact.deleted",
        "audience.joined",
        "audience.left",
        "automation.started",
        "automation.completed",
    }
    for type_, data in data_by_type.items():
        assert data["contact"] == {"id": ada, "email": address}, type_
    (left,) = (await project.client.get("/events?type=audience.left")).json()["data"]
    assert left["contact"] == {"id": ada, "email": None}, "the address of a deleted contact is not stored"


async def test_events_of_a_campaign_have_the_rendered_subject_and_the_contact(
    subscribe, receiver, project, run_due_work
):
    """Regression test of C2 (tests/defects.md)."""
    await subscribe("email.*", "campaign.*")
    campaign, emails = await create_campaign(project, 2)
    await project.client.post("/suppressions", {"address": emails[1]})
    late = f"{uuid4().hex}@example.com"
    bulk = {"contacts": [{"email": late, "attributes": {"name": "Late"}}]}
    await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/bulk-email", bulk)
    await request_action(project, campaign, "send")
    await run_due_work()
    mail = [(type_, data) for type_, data in types_and_data(receiver) if type_.startswith("email.")]
    assert {type_ for type_, _ in mail} <= set(CAMPAIGN_SEND_EVENTS)
    subjects = {(data["contact"]["email"], data["subject"]) for _, data in mail}
    assert subjects == {(emails[0], "Hello N0"), (late, "Hello Late")}
    assert all(data["contact"]["id"] == data["contactId"] for _, data in mail)


async def test_a_campaign_message_that_was_never_composed_has_no_subject(subscribe, receiver, project, run_due_work):
    """Regression test of C2 (tests/defects.md)."""
    await subscribe("email.*")
    campaign, _ = await create_campaign(project, 1, subject="Hello {{ name | upper(1) }}")
    await request_action(project, campaign, "send")
    await run_due_work()
    ((type_, data),) = types_and_data(receiver)
    assert (type_, data["subject"]) == ("email.failed", None)


@pytest.mark.parametrize("name", ["email.queued", "email.scheduled", "email.cancelled"])
def test_the_catalogue_says_which_events_campaign_sends_have(name):
    """Regression test of C2 (tests/defects.md)."""
    from pathlib import Path

    text = (Path(__file__).parents[3] / "docs/guide/events.md").read_text()
    campaign_section = text.partition("the events of its delivery:")[2].partition("`subject`")[0]
    assert name in EVENT_NAMES
    assert f"`{name}`" not in campaign_section
    assert all(f"`{event_name}`" in campaign_section for event_name in CAMPAIGN_SEND_EVENTS)
