"""Campaigns over HTTP: each contact gets exactly one message."""

import csv
import io
from datetime import UTC, datetime, timedelta
from email import message_from_bytes, policy
from uuid import uuid4

import pytest

from postern.kernel.values import new_id, timestamp
from postern.messaging.campaigns.model import ALLOWED_ACTIONS, TRANSITIONS
from postern.protocols.mail.address import parse_address

BROWSER = {"user-agent": "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0"}
HTML = '<html><body><p>Dear {{ name }}</p><a href="https://acme.example/x">look</a></body></html>'


async def create_campaign(project, count=5, **fields):
    """Create a draft campaign with a template, a domain, and an audience of `count` contacts.

    Returns the campaign and the addresses of the contacts. `fields` replace fields of the request.
    """
    template = (await project.client.post("/templates", {"name": "T", "html": HTML, "subject": "Hi {{ name }}"})).json()
    domain = (await project.client.post("/domains", {"domain": f"{uuid4().hex[:8]}.example"})).json()
    audience = (await project.client.post("/audiences", {"name": "All"})).json()
    emails = [f"c{number}-{uuid4().hex[:6]}@example.com" for number in range(count)]
    contacts = [{"email": email, "attributes": {"name": f"N{number}"}} for number, email in enumerate(emails)]
    if contacts:
        await project.client.post(f"/audiences/{audience['id']}/contacts/bulk-email", {"contacts": contacts})
    body = {
        "name": "Spring",
        "subject": "Hello {{ name }}",
        "fromEmail": f"news@{domain['domain']}",
        "fromName": "Acme News",
        "previewText": "The first words",
        "templateId": template["id"],
        "domainId": domain["id"],
        "audienceId": audience["id"],
        **fields,
    }
    created = await project.client.post("/campaigns", body)
    assert created.status_code == 201, created.text
    return created.json(), emails


async def get_campaign(project, campaign):
    """The campaign as it is now."""
    return (await project.client.get(f"/campaigns/{campaign['id']}")).json()


async def request_action(project, campaign, action, body=None):
    """Request an action of a campaign, such as `send`; returns the response."""
    return await project.client.post(f"/campaigns/{campaign['id']}/{action}", body)


async def test_each_contact_gets_one_message_and_the_campaign_becomes_sent(project, run_due_work):
    campaign, emails = await create_campaign(project)
    assert campaign["status"] == "DRAFT"
    assert (await request_action(project, campaign, "send")).json() == {"success": True}
    assert (await request_action(project, campaign, "send")).status_code == 409
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert current["status"] == "SENT"
    assert current["sentAt"]
    assert (current["stats"]["total"], current["stats"]["delivered"]) == (5, 5)
    inbox = (await project.client.get("/inbox?limit=100")).json()
    assert sorted(captured["recipients"][0] for captured in inbox["data"]) == sorted(emails)
    message = (await project.client.get(f"/inbox/{inbox['data'][0]['id']}")).json()
    number = emails.index(message["recipients"][0])
    assert message["subject"] == f"Hello N{number}"
    assert "The first words" in message["html"]
    assert f"Dear N{number}" in message["html"]
    headers = {field["name"]: field["value"] for field in message["headers"]}
    assert headers["List-Unsubscribe-Post"] == "List-Unsubscribe=One-Click"
    assert headers["List-Id"].startswith(f"<{campaign['audienceId']}.")
    assert headers["From"].startswith("Acme News <news@")
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends")).json()
    assert (sends["total"], {send["status"] for send in sends["data"]}) == (5, {"DELIVERED"})
    assert all(send["contact"]["id"] for send in sends["data"])
    export = await project.client.get(f"/campaigns/{campaign['id']}/sends/export")
    rows = list(csv.DictReader(io.StringIO(export.text)))
    assert sorted(row["email"] for row in rows) == sorted(emails)
    recorded = (await project.client.get("/events?type=campaign.started,campaign.sent")).json()["data"]
    assert [event["type"] for event in recorded] == ["campaign.sent", "campaign.started"]


async def test_unsubscribed_and_suppressed_contacts_are_skipped_and_counted(project, run_due_work):
    campaign, emails = await create_campaign(project, 4)
    contact = (await project.client.get(f"/contacts?q={emails[0]}")).json()["data"][0]
    await project.client.patch(f"/contacts/{contact['id']}", {"unsubscribed": True})
    await project.client.post("/suppressions", {"address": emails[1]})
    await request_action(project, campaign, "send")
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert (current["status"], current["stats"]["total"]) == ("SENT", 2)
    skipped = {"unsubscribed": 1, "suppressed": 1, "deleted": 0, "frequencyCap": 0}
    assert current["progress"]["skipped"] == skipped


async def test_a_campaign_to_an_empty_audience_is_sent_at_once(project, run_due_work):
    campaign, _ = await create_campaign(project, 0)
    await request_action(project, campaign, "send")
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "SENT"


async def test_missing_settings_are_listed(project):
    campaign = (await project.client.post("/campaigns", {"name": "Bare"})).json()
    response = await request_action(project, campaign, "send")
    assert (response.status_code, response.json()["code"]) == (409, "campaign_incomplete")
    assert {error["path"] for error in response.json()["errors"]} == {
        "/audienceId",
        "/domainId",
        "/fromEmail",
        "/templateId",
    }


async def test_content_and_audience_are_fixed_at_the_start(project, run_due_work, clock):
    campaign, emails = await create_campaign(project, 2)
    await request_action(project, campaign, "send")
    await project.client.patch(f"/templates/{campaign['templateId']}", {"html": "<p>changed</p>"})
    clock.move(timedelta(seconds=1))
    await project.client.post(f"/audiences/{campaign['audienceId']}/contacts/by-email", {"email": "late@example.com"})
    await run_due_work()
    inbox = (await project.client.get("/inbox")).json()
    assert sorted(captured["recipients"][0] for captured in inbox["data"]) == sorted(emails)
    message = (await project.client.get(f"/inbox/{inbox['data'][0]['id']}")).json()
    assert "Dear N" in message["html"]


async def test_a_scheduled_campaign_waits_for_its_time(project, clock, run_due_work):
    at = clock() + timedelta(hours=2)
    campaign, _ = await create_campaign(project, 2, scheduledAt=at.isoformat())
    await request_action(project, campaign, "send")
    assert (await get_campaign(project, campaign))["status"] == "SCHEDULED"
    await run_due_work()
    assert (await get_campaign(project, campaign))["stats"]["total"] == 0
    assert (await project.client.delete(f"/templates/{campaign['templateId']}")).status_code == 409
    assert (await project.client.delete(f"/audiences/{campaign['audienceId']}")).status_code == 409
    clock.move(timedelta(hours=3))
    await run_due_work()
    assert (await get_campaign(project, campaign))["status"] == "SENT"


async def test_a_pause_skips_no_contact_and_repeats_no_message(project, run_due_work):
    campaign, emails = await create_campaign(project, 6)
    await request_action(project, campaign, "send")
    assert (await request_action(project, campaign, "pause")).json()["status"] == "PAUSED"
    await run_due_work()
    assert (await project.client.get("/inbox")).json()["total"] == 0
    assert (await request_action(project, campaign, "resume")).json()["status"] == "SENDING"
    await run_due_work()
    inbox = (await project.client.get("/inbox")).json()
    assert sorted(captured["recipients"][0] for captured in inbox["data"]) == sorted(emails)
    assert (await get_campaign(project, campaign))["status"] == "SENT"


async def test_cancelling_stops_sends_that_were_not_transmitted(project, world, run_due_work):
    from postern.kernel.due import claim, find_due
    from postern.messaging.campaigns.work import WORK

    campaign, _ = await create_campaign(project, 6)
    await request_action(project, campaign, "send")
    (lane, *_) = [
        lane for lane in (await find_due(world.db, WORK[0], world.clock())).lanes if str(lane.partition) == project.id
    ]
    for row in await claim(world.db, WORK[0], lane, world.clock(), 1):
        await WORK[0].do(world, [row])  # The sends now exist, but none was transmitted.
    assert (await get_campaign(project, campaign))["progress"]["waiting"] == 6
    assert (await request_action(project, campaign, "cancel")).json()["status"] == "CANCELLED"
    await run_due_work()
    assert (await project.client.get("/inbox")).json()["total"] == 0
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?status=CANCELLED")).json()
    assert sends["total"] == 6


async def test_sends_of_a_paused_campaign_are_in_the_log_of_waiting_ones(project, world, clock, run_due_work):
    from postern.kernel.due import claim, find_due
    from postern.messaging.campaigns.work import WORK

    campaign, _ = await create_campaign(project, 6)
    await request_action(project, campaign, "send")
    (lane, *_) = [
        lane for lane in (await find_due(world.db, WORK[0], world.clock())).lanes if str(lane.partition) == project.id
    ]
    for row in await claim(world.db, WORK[0], lane, world.clock(), 1):
        await WORK[0].do(world, [row])
    await request_action(project, campaign, "pause")
    await run_due_work()  # The worker holds them.
    later = timestamp(clock() + timedelta(hours=1)).replace("+", "%2B")
    for query in ("status=QUEUED", f"status=QUEUED&to={later}", f"status=QUEUED,DELAYED&to={later}"):
        page = (await project.client.get(f"/emails/logs?{query}")).json()
        assert (page["total"], len(page["data"])) == (6, 6), query
    await request_action(project, campaign, "resume")
    await run_due_work()
    assert (await project.client.get(f"/emails/logs?status=QUEUED&to={later}")).json()["data"] == []


async def test_one_faulty_contact_does_not_affect_the_others(project, run_due_work):
    campaign, _ = await create_campaign(project, 8)
    await project.client.patch(f"/templates/{campaign['templateId']}", {"html": "<p>{{ 1 / (name|length - 2) }}</p>"})
    contacts = (await project.client.get("/contacts?limit=100")).json()["data"]
    await project.client.patch(f"/contacts/{contacts[0]['id']}", {"attributes": {"name": "long name"}})
    await request_action(project, campaign, "send")
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert current["status"] == "SENT"
    assert current["stats"]["total"] == 8
    assert current["stats"]["failed"] in (1, 7)
    failed = (await project.client.get(f"/campaigns/{campaign['id']}/sends?status=FAILED")).json()["data"]
    assert all(send["reason"] for send in failed)


async def test_test_copies_are_marked_and_not_counted(project, run_due_work):
    campaign, emails = await create_campaign(project, 1)
    assert (await request_action(project, campaign, "test", {"to": emails[0]})).json() == {"success": True, "sent": 1}
    (message,) = (await project.client.get("/inbox")).json()["data"]
    assert message["subject"] == "[Test] Hello N0"
    assert (await request_action(project, campaign, "test-seed-list")).status_code == 409
    await project.developer.patch("", {"settings": {"seedList": ["a@seed.example", "b@seed.example"]}})
    assert (await request_action(project, campaign, "test-seed-list")).json() == {"success": True, "sent": 2}
    assert (await request_action(project, campaign, "test", {"to": "nobody"})).status_code == 400
    assert (await project.client.get("/analytics")).json()["sends"]["total"] == 0
    assert (await get_campaign(project, campaign))["stats"]["total"] == 0


async def test_a_duplicate_is_an_independent_draft(project):
    campaign, _ = await create_campaign(project, 0)
    copy = (await request_action(project, campaign, "duplicate")).json()
    assert copy["id"] != campaign["id"]
    assert (copy["status"], copy["name"], copy["templateId"]) == ("DRAFT", "Copy of Spring", campaign["templateId"])
    assert [listed["id"] for listed in (await project.client.get("/campaigns")).json()] == [copy["id"], campaign["id"]]
    assert (await project.client.delete(f"/campaigns/{copy['id']}")).json() == {"deleted": True}


async def set_status(world, campaign, status):
    async with world.db.connection() as connection:
        await connection.execute(
            """
            update campaigns set status = %(status)s, due_at = null,
                scheduled_at = case when %(status)s = 'SCHEDULED' then %(tomorrow)s::timestamptz end
            where id = %(id)s
            """,
            {"status": status, "id": campaign["id"], "tomorrow": datetime.now(UTC) + timedelta(days=1)},
        )


ACTIONS = {
    "edit": ("PATCH", "", {"name": "New"}),
    "delete": ("DELETE", "", None),
    "send": ("POST", "/send", None),
    "cancel": ("POST", "/cancel", None),
    "pause": ("POST", "/pause", None),
    "resume": ("POST", "/resume", None),
    "cancel_test": ("POST", "/ab-test/cancel", None),
    "select_winner": ("POST", "/ab-test/select-winner", None),
    "duplicate": ("POST", "/duplicate", None),
}


@pytest.mark.parametrize("status", ALLOWED_ACTIONS)
@pytest.mark.parametrize("action", ACTIONS)
async def test_every_action_in_every_state(project, world, status, action):
    variants = [{"name": "A", "weight": 50}, {"name": "B", "weight": 50}]
    campaign, _ = await create_campaign(project, 0, variants=variants)
    created = await get_campaign(project, campaign)
    await set_status(world, campaign, status)
    method, path, body = ACTIONS[action]
    if action == "select_winner":
        body = {"variantId": created["variants"][1]["id"]}
    response = await project.client.request(method, f"/campaigns/{campaign['id']}{path}", json=body)
    if action in ALLOWED_ACTIONS[status]:
        assert response.status_code in (200, 201), response.text
    else:
        assert (response.status_code, response.json()["code"]) == (409, "campaign_state_conflict")
        message, _, possible = response.json()["detail"].partition("possible now: ")
        assert status in message
        assert possible.removesuffix(".").split(", ") == sorted(
            allowed.replace("_", " ") for allowed in ALLOWED_ACTIONS[status]
        )
        after = await get_campaign(project, campaign)
        assert after["status"] == status


def test_every_state_is_reachable_and_final_states_have_no_successor():
    assert set(TRANSITIONS) == set(ALLOWED_ACTIONS)
    reached, pending = set(), ["DRAFT"]
    while pending:
        state = pending.pop()
        if state not in reached:
            reached.add(state)
            pending += TRANSITIONS[state]
    assert reached == set(TRANSITIONS)
    for final in ("SENT", "CANCELLED", "FAILED"):
        assert not TRANSITIONS[final]


async def test_an_ab_test_chooses_the_winner_by_people_and_sends_it_to_the_rest(project, stranger, clock, run_due_work):
    campaign, emails = await create_campaign(
        project,
        60,
        abTestEnabled=True,
        abTestSamplePercent=50,
        abTestMetric="OPEN_RATE",
        abTestDurationMinutes=60,
        variants=[{"name": "A", "subject": "A", "weight": 50}, {"name": "B", "subject": "B", "weight": 50}],
    )
    await request_action(project, campaign, "send")
    assert (await get_campaign(project, campaign))["status"] == "TESTING"
    await run_due_work()
    testing = await get_campaign(project, campaign)
    assert testing["status"] == "TESTING"
    sample = testing["stats"]["total"]
    assert 10 < sample < 50
    assert sum(variant["stats"]["sent"] for variant in testing["variants"]) == sample
    clock.move(timedelta(minutes=5))
    sends = (await project.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    for send in sends:
        headers = (
            BROWSER if send["subject"] == "B" else {"user-agent": "Mozilla/5.0"}
        )  # People open B, machines open A.
        await stranger.get(f"/t/o/{send['id']}", headers=headers)
    clock.move(timedelta(minutes=60))
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert current["status"] == "SENT"
    assert current["stats"]["total"] == 60
    winner = next(variant for variant in current["variants"] if variant["isWinner"])
    assert winner["subject"] == "B"
    assert current["evidence"]["winnerId"] == winner["id"]
    assert current["variants"][0]["stats"]["opened"] == 0
    inbox = (await project.client.get("/inbox?limit=100")).json()["data"]
    assert sorted(captured["recipients"][0] for captured in inbox) == sorted(emails)


@pytest.mark.parametrize("decided_by", ["hand", "cancelled"])
async def test_an_ab_test_can_be_ended_manually(project, run_due_work, decided_by):
    campaign, emails = await create_campaign(
        project,
        10,
        abTestEnabled=True,
        abTestSamplePercent=50,
        abTestMetric="CLICK_RATE",
        abTestDurationMinutes=600,
        variants=[{"name": "A", "subject": "A", "weight": 50}, {"name": "B", "subject": "B", "weight": 50}],
    )
    await request_action(project, campaign, "send")
    await run_due_work()
    variants = (await get_campaign(project, campaign))["variants"]
    assert (
        await request_action(project, campaign, "ab-test/select-winner", {"variantId": str(uuid4())})
    ).status_code == 404
    if decided_by == "hand":
        response = await request_action(project, campaign, "ab-test/select-winner", {"variantId": variants[1]["id"]})
    else:
        response = await request_action(project, campaign, "ab-test/cancel")
    assert response.json()["status"] == "SENDING"
    await run_due_work()
    current = await get_campaign(project, campaign)
    assert (current["status"], current["stats"]["total"]) == ("SENT", 10)
    assert current["evidence"]["decidedBy"] == decided_by
    assert [variant["isWinner"] for variant in current["variants"]] == (
        [False, True] if decided_by == "hand" else [True, False]
    )
    assert len({captured["recipients"][0] for captured in (await project.client.get("/inbox")).json()["data"]}) == len(
        emails
    )


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"name": ""}, "/name"),
        ({"name": "x", "templateId": str(new_id())}, "/templateId"),
        ({"name": "x", "domainId": "x"}, "/domainId"),
        ({"name": "x", "audienceId": str(new_id())}, "/audienceId"),
        ({"name": "x", "fromEmail": "nobody"}, "/fromEmail"),
        ({"name": "x", "fromName": "Acme\nBcc: all@example.com"}, "/fromName"),
        ({"name": "x", "fromName": "x" * 321}, "/fromName"),
        ({"name": "x", "subject": "Hello {{ name"}, "/subject"),
        ({"name": "x", "subject": "Hello\r\nBcc: all@example.com"}, "/subject"),
        ({"name": "x", "previewText": "{% if name %}"}, "/previewText"),
        (
            {"name": "x", "variants": [{"name": "A", "weight": 50}, {"name": "B", "weight": 50, "subject": "{{"}]},
            "/variants/1/subject",
        ),
        ({"name": "x", "abTestSamplePercent": 4}, "/abTestSamplePercent"),
        ({"name": "x", "abTestDurationMinutes": 14}, "/abTestDurationMinutes"),
        ({"name": "x", "abTestMetric": "SALES"}, "/abTestMetric"),
        ({"name": "x", "variants": [{"name": "A", "weight": 100}]}, "/variants"),
        ({"name": "x", "variants": [{"name": "A", "weight": 50}, {"name": "B", "weight": 40}]}, "/variants"),
    ],
)
async def test_an_invalid_campaign_is_refused_with_the_path(project, body, path):
    response = await project.client.post("/campaigns", body)
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"] == path
    draft = (await project.client.post("/campaigns", {"name": "Draft"})).json()
    response = await project.client.patch(f"/campaigns/{draft['id']}", {**body, "name": body["name"]})
    assert (response.status_code, response.json()["errors"][0]["path"]) == (400, path)


@pytest.mark.parametrize(
    "name", ["Bob\\", 'Bob "B" Smith', "a <b> c", '"quoted"', "Müller, Jörg", "=?utf-8?q?x?=", " "]
)
async def test_any_printable_sender_name_is_accepted(project, run_due_work, name):
    campaign, _ = await create_campaign(project, 1, fromName=name)
    assert (await request_action(project, campaign, "send")).status_code == 200
    await run_due_work()
    assert (await get_campaign(project, campaign))["stats"]["delivered"] == 1
    send = (await project.client.get(f"/campaigns/{campaign['id']}/sends")).json()["data"][0]
    assert parse_address(send["from"]).name == name.strip()
    source = await project.client.get(f"/emails/logs/{send['id']}/message")
    parsed = message_from_bytes(source.content, policy=policy.default)
    assert parsed["from"].addresses[0].display_name == name.strip()
    assert parsed["from"].addresses[0].addr_spec == campaign["fromEmail"]


async def test_template_tags_in_the_preview_text_are_rendered(project, run_due_work):
    campaign, _ = await create_campaign(project, 1, previewText="""<Hi> & {{ name | default("friend") }}""")
    assert (await request_action(project, campaign, "send")).status_code == 200
    await run_due_work()
    send = (await project.client.get(f"/campaigns/{campaign['id']}/sends")).json()["data"][0]
    source = await project.client.get(f"/emails/logs/{send['id']}/message")
    parsed = message_from_bytes(source.content, policy=policy.default)
    assert ">&lt;Hi&gt; &amp; N0</div>" in parsed.get_body(("html",)).get_content()


async def test_if_match_is_honoured_by_deletion(project):
    draft = (await project.client.post("/campaigns", {"name": "Draft"})).json()
    path = f"/campaigns/{draft['id']}"
    etag = (await project.client.patch(path, {"name": "Other"})).headers["etag"]
    assert (await project.client.delete(path, headers={"if-match": '"0"'})).status_code == 412
    assert (await project.client.delete(path, headers={"if-match": etag})).status_code == 200


async def test_templates_and_campaigns_of_other_projects_are_not_found(project, new_project):
    other_project = await new_project()
    campaign, _ = await create_campaign(other_project, 0)
    assert (await project.client.get(f"/campaigns/{campaign['id']}")).status_code == 404
    response = await project.client.post("/campaigns", {"name": "x", "templateId": campaign["templateId"]})
    assert response.json()["errors"][0]["path"] == "/templateId"


async def test_a_contact_who_subscribes_again_gets_mail_again(project, stranger, run_due_work):
    """This does not apply to a contact whose address bounced."""
    campaign, (ada, bounced) = await create_campaign(project, 2)
    await project.client.post("/suppressions", {"address": bounced, "reason": "BOUNCE"})
    await request_action(project, campaign, "send")
    await run_due_work()
    (send,) = (await project.client.get(f"/campaigns/{campaign['id']}/sends")).json()["data"]
    source = await project.client.get(f"/emails/logs/{send['id']}/message")
    link = message_from_bytes(source.content, policy=policy.default)["list-unsubscribe"].strip("<>")
    assert (await stranger.post("/t/u/" + link.partition("/t/u/")[2])).status_code == 200
    contacts = {contact["email"]: contact for contact in (await project.client.get("/contacts")).json()["data"]}
    assert contacts[ada]["unsubscribed"]
    for email in (ada, bounced):
        path = f"/contacts/{contacts[email]['id']}"
        await project.client.patch(path, {"unsubscribed": True})
        assert not (await project.client.patch(path, {"unsubscribed": False})).json()["unsubscribed"]
    copy = (await request_action(project, campaign, "duplicate")).json()
    await request_action(project, copy, "send")
    await run_due_work()
    current = await get_campaign(project, copy)
    assert (current["stats"]["delivered"], current["progress"]["skipped"]["suppressed"]) == (1, 1)
