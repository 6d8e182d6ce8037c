"""Sending over HTTP: submission, delivery, and the log."""

import base64
import email
import email.policy
import json
from datetime import timedelta
from uuid import uuid4

import msgspec
import pytest

from postern.messaging.emails import submission

MAIL = {"to": ["ada@example.com"], "from": "Acme <hello@acme.example>", "subject": "Hello {{name}}", "text": "Hello."}


async def message_of(project, send_id):
    raw = (await project.client.get(f"/emails/logs/{send_id}/message")).content
    return email.message_from_bytes(raw, policy=email.policy.default)


async def test_a_message_is_sent_and_its_events_are_in_the_log(project):
    body = {**MAIL, "html": "<p>Dear {{name}}</p>", "text": None, "variables": {"name": "Ada & Co"}}
    sent = await project.client.post("/emails", body)
    assert sent.status_code == 201
    assert sent.json()["status"] == "DELIVERED"  # the capture transport delivers
    entry = (await project.client.get(f"/emails/logs/{sent.json()['id']}")).json()
    assert entry["subject"] == "Hello Ada & Co"
    assert entry["messageId"] == sent.json()["messageId"]
    assert [event["type"] for event in entry["webhookEvents"]] == ["Send", "Delivery"]
    message = await message_of(project, entry["id"])
    assert message["Subject"] == "Hello Ada & Co"
    assert message["Message-ID"] == entry["messageId"]
    assert "Dear Ada &amp; Co" in message.get_body(("html",)).get_content()
    assert "Dear Ada & Co" in message.get_body(("plain",)).get_content()
    attempts = (await project.client.get(f"/emails/logs/{entry['id']}/attempts")).json()
    assert [attempt["outcome"] for attempt in attempts] == ["ACCEPTED"]


async def test_the_smallest_request_is_sent(project):
    sent = await project.client.post("/emails", {**MAIL, "subject": "Bare"})
    assert (sent.status_code, sent.json()["status"]) == (201, "DELIVERED")


async def test_accepted_mail_names_the_contact_with_the_address_of_the_recipient(project):
    ada = (await project.client.post("/contacts", {"email": "ada@example.com"})).json()
    recipients = {"ADA@example.com": ada["id"], "bob@example.com": None}
    emails = [{**MAIL, "to": [address]} for address in recipients]
    batch = await project.client.post("/emails/batch", {"emails": emails})
    assert batch.is_success, batch.text
    queued = (await project.client.get("/events?type=email.queued")).json()["data"]
    assert {event["data"]["to"][0]: event["data"]["contactId"] for event in queued} == recipients


async def test_without_waiting_the_status_is_queued_and_workers_send_the_message(project, world, run_due_work):
    sent = await project.client.post("/emails", MAIL, headers={"prefer": "wait=0"})
    assert sent.json()["status"] == "QUEUED"
    assert not world.run_in_background._running
    await run_due_work()
    assert (await project.client.get(f"/emails/logs/{sent.json()['id']}")).json()["status"] == "DELIVERED"


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"to": []}, "/to"),
        ({"to": ["nobody"]}, "/to/0"),
        ({"to": ["a@example.com"] * 51}, "/to"),
        ({"cc": ["a@example.com"] * 50}, "/to"),
        ({"from": "nobody"}, "/from"),
        ({"from": None}, "/from"),
        ({"subject": None}, "/subject"),
        ({"subject": "a\r\nBcc: x@example.com"}, "/subject"),
        ({"subject": "a\u2028b"}, "/subject"),
        ({"tags": ["welcome\n"]}, "/tags/0"),
        ({"expiresAt": "9999-12-31T23:59:59-14:00"}, "/expiresAt"),
        ({"scheduledAt": "0001-01-01T00:00:00+14:00"}, "/scheduledAt"),
        ({"subject": "{{ broken"}, "/subject"),
        ({"html": "{% for x in %}"}, "/html"),
        ({"text": "{% if %}"}, "/text"),
        ({"templateId": "x"}, "/templateId"),
        ({"replyTo": "x"}, "/replyTo"),
        ({"headers": {"Bcc": "x@example.com"}}, "/headers/Bcc"),
        ({"headers": {"X-A": "a\nb"}}, "/headers/X-A"),
        ({"headers": {"X A": "a"}}, "/headers/X A"),
        ({"attachments": [{"filename": "a", "content": "%%%"}]}, "/attachments/0/content"),
        ({"attachments": [{"filename": "a\nb", "content": "YQ=="}]}, "/attachments/0/filename"),
        ({"attachments": [{"filename": "a", "content": "YQ==", "contentType": "nope"}]}, "/attachments/0/contentType"),
        ({"tags": ["not a tag"]}, "/tags/0"),
        ({"scheduledAt": "2999-01-01T00:00:00Z"}, "/scheduledAt"),
        ({"scheduledAt": "tomorrow"}, "/scheduledAt"),
        ({"expiresAt": "2001-01-01T00:00:00Z"}, "/expiresAt"),
        ({"variables": []}, "/variables"),
        ({"colour": "red"}, "/colour"),
        ({"to": ["Bob\r\n <a@example.com>"]}, "/to/0"),
    ],
)
async def test_invalid_mail_is_refused_with_the_path(project, change, path):
    response = await project.client.post("/emails", {**MAIL, **change})
    assert response.status_code == 400, response.text
    assert response.json()["errors"][0]["path"] == path
    assert (await project.client.get("/emails/logs")).json()["total"] == 0


async def test_a_scheduled_send_can_be_rescheduled_and_cancelled(project, clock, run_due_work):
    later = (clock() + timedelta(hours=2)).isoformat()
    sent = (await project.client.post("/emails", {**MAIL, "scheduledAt": later})).json()
    assert sent["status"] == "SCHEDULED"
    other = (await project.client.post("/emails", {**MAIL, "scheduledAt": later})).json()
    await run_due_work()
    assert (await project.client.get(f"/emails/logs/{sent['id']}")).json()["status"] == "SCHEDULED"
    sooner = (clock() + timedelta(hours=1)).isoformat()
    assert (await project.client.patch(f"/emails/{sent['id']}", {"scheduledAt": sooner})).status_code == 200
    assert (await project.client.post(f"/emails/{other['id']}/cancel")).json()["status"] == "CANCELLED"
    clock.move(timedelta(minutes=61))
    await run_due_work()
    assert (await project.client.get(f"/emails/logs/{sent['id']}")).json()["status"] == "DELIVERED"
    clock.move(timedelta(hours=3))
    await run_due_work()
    assert (await project.client.get(f"/emails/logs/{other['id']}")).json()["status"] == "CANCELLED"
    refused = await project.client.patch(f"/emails/{sent['id']}", {"scheduledAt": sooner})
    assert (refused.status_code, refused.json()["code"]) == (409, "not_scheduled")
    assert (await project.client.post(f"/emails/{sent['id']}/cancel")).status_code == 409
    assert (await project.client.post(f"/emails/{sent['id']}/retry")).status_code == 409


async def test_an_expired_send_is_not_sent(project, clock, run_due_work):
    scheduled_at, expires_at = (clock() + timedelta(hours=hours) for hours in (1, 2))
    body = {**MAIL, "scheduledAt": scheduled_at.isoformat(), "expiresAt": expires_at.isoformat()}
    sent = (await project.client.post("/emails", body)).json()
    clock.move(timedelta(hours=3))
    await run_due_work()
    assert (await project.client.get(f"/emails/logs/{sent['id']}")).json()["status"] == "EXPIRED"


@pytest.mark.parametrize(
    ("local", "status", "types"),
    [
        ("delivered", "DELIVERED", ["Send", "Delivery"]),
        ("bounced", "BOUNCED", ["Bounce"]),
        ("complained", "COMPLAINED", ["Send", "Delivery", "Complaint"]),
        ("deferred", "DELAYED", ["DeliveryDelay"]),
        ("suppressed", "SUPPRESSED", ["Reject"]),
    ],
)
async def test_test_addresses_have_a_fixed_outcome(project, local, status, types):
    sent = (await project.client.post("/emails", {**MAIL, "to": [f"{local}+x@postern.test"]})).json()
    assert sent["status"] == status
    entry = (await project.client.get(f"/emails/logs/{sent['id']}")).json()
    assert [event["type"] for event in entry["webhookEvents"]] == types


async def test_a_deferred_send_is_retried_until_retries_end(project, clock, run_due_work):
    sent = (await project.client.post("/emails", {**MAIL, "to": ["deferred@postern.test"]})).json()
    for _ in range(12):
        clock.move(timedelta(hours=3))
        await run_due_work()
    entry = (await project.client.get(f"/emails/logs/{sent['id']}")).json()
    assert entry["status"] == "FAILED"
    assert [event["type"] for event in entry["webhookEvents"]] == ["DeliveryDelay", "Reject"]
    attempts = (await project.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    assert len(attempts) > 3
    retried = await project.client.post(f"/emails/{sent['id']}/retry")
    assert retried.json()["status"] == "QUEUED"
    await run_due_work()
    assert (await project.client.get(f"/emails/logs/{sent['id']}")).json()["status"] == "DELAYED"


async def test_suppressed_addresses_get_no_mail(project):
    added = await project.client.post("/suppressions", {"address": "Ada@Example.com"})
    assert added.status_code == 201
    assert (await project.client.post("/suppressions", {"address": "ada@example.com"})).status_code == 409
    sent = (await project.client.post("/emails", MAIL)).json()
    assert sent["status"] == "SUPPRESSED"
    to_both = (await project.client.post("/emails", {**MAIL, "to": ["ada@example.com", "bob@example.com"]})).json()
    assert to_both["status"] == "DELIVERED"
    page = (await project.client.get("/suppressions?q=ada")).json()
    assert (page["total"], page["data"][0]["reason"]) == (1, "MANUAL")
    assert (await project.client.get("/suppressions/ada@example.com")).status_code == 200
    assert (await project.client.delete("/suppressions/ADA@example.com")).status_code == 200
    assert (await project.client.delete("/suppressions/ada@example.com")).status_code == 404
    bulk = await project.client.post("/suppressions/bulk", {"addresses": ["a@b.example", "A@b.example", "nonsense"]})
    assert bulk.json() == {"added": 1, "skipped": 2, "upgraded": 0}
    assert (await project.client.post("/emails", MAIL)).json()["status"] == "DELIVERED"


async def test_a_batch_keeps_its_order_and_invalid_items_fail_alone(project, run_due_work):
    items = [{**MAIL, "subject": f"n {n}"} for n in range(4)]
    items[2] = {**MAIL, "to": ["nonsense"]}
    response = await project.client.post("/emails/batch", {"emails": [*items, {"to": 7}]})
    assert response.status_code == 201
    data = response.json()["data"]
    assert [item["status"] for item in data] == ["QUEUED", "QUEUED", "FAILED", "QUEUED", "FAILED"]
    assert data[2]["error"].startswith("/to/0")
    assert data[4]["id"] is None
    await run_due_work()
    log = (await project.client.get("/emails/logs")).json()
    assert (log["total"], {item["status"] for item in log["data"]}) == (3, {"DELIVERED"})
    assert [item["subject"] for item in log["data"]] == ["n 3", "n 1", "n 0"]
    assert (await project.client.post("/emails/batch", {"emails": items * 126})).status_code == 400


@pytest.mark.parametrize(
    ("item", "error"),
    [
        (b'{"to": ["a@example.com"], "from": "a@example.com", "subject": "\xff"}', "not valid JSON"),
        (b'{"to": ["a@example.com"], "from": "a@example.com", "subject": "a\\u0000b"}', "/subject: "),
        (
            b'{"to": ["a@example.com"], "from": "a@example.com", "variables": {"n": ' + b"9" * 5_000 + b"}}",
            "/variables",
        ),
        (b'{"to": ["a@example.com"], "from": "a@example.com", "expiresAt": "9999-12-31T23:59:59-14:00"}', "/expiresAt"),
        (b'{"to": ["a@example.com"], "from": "a@example.com", "tags": ["a\\n"]}', "/tags/0"),
        (b'"words"', "object"),
        (b"null", "object"),
    ],
)
@pytest.mark.parametrize("headers", [{}, {"idempotency-key": "order-42"}])
async def test_an_unparsable_item_of_a_batch_fails_alone(project, item, error, headers):
    body = b'{"emails": [' + item + b", " + json.dumps({**MAIL, "subject": "Valid"}).encode() + b"]}"
    headers = {**headers, "content-type": "application/json"}
    response = await project.client.request("POST", "/emails/batch", content=body, headers=headers)
    assert response.status_code == 201, response.text
    rejected, accepted = response.json()["data"]
    assert (rejected["status"], rejected["id"], accepted["status"]) == ("FAILED", None, "QUEUED")
    assert error in rejected["error"]


async def test_the_log_can_be_searched_and_counted(project):
    first = (await project.client.post("/emails", {**MAIL, "subject": "Invoice 100%"})).json()
    await project.client.post("/emails", {**MAIL, "to": ["zoe@example.org"], "subject": "Other"})
    await project.client.post("/emails", {**MAIL, "to": ["bounced@postern.test"]})
    for q, total in (
        ("voice", 1),
        ("100%", 1),
        ("zoe@EXAMPLE", 1),
        ("acme", 3),
        ("nowhere", 0),
        (first["messageId"][5:30], 1),
    ):
        assert (await project.client.get("/emails/logs", params={"q": q})).json()["total"] == total, q
    for status, total in (("BOUNCED", 1), ("delivered", 2), ("BOUNCED,DELIVERED", 3), ("QUEUED", 0)):
        page = (await project.client.get("/emails/logs", params={"status": status})).json()
        assert (page["total"], len(page["data"])) == (total, total), status
    assert (await project.client.get("/emails/logs?status=GONE")).status_code == 400
    response = await project.client.get("/emails/logs?status=DELIVERED&q=Other")
    assert response.json()["total"] == 1
    assert (await project.client.get("/emails/logs?page=101&limit=100")).status_code == 400


async def test_sends_of_other_projects_are_not_found(project, new_project):
    other_project = await new_project()
    sent = (await other_project.client.post("/emails", MAIL)).json()
    of_other_project = await project.client.get(f"/emails/logs/{sent['id']}")
    unknown = await project.client.get(f"/emails/logs/{uuid4()}")
    assert of_other_project.status_code == unknown.status_code == 404
    assert of_other_project.json()["code"] == unknown.json()["code"]
    assert (await project.client.post(f"/emails/{sent['id']}/cancel")).status_code == 404


@pytest.mark.parametrize(
    "parts",
    [
        {"attachments": [{"filename": f"{n}.bin", "content": "A" * 9_000_000} for n in range(3)]},
        {"attachments": [{"filename": "a.bin", "content": "A" * 24_000_000}], "html": "x" * 1_900_000},
    ],
    ids=["attachments", "attachment and html"],
)
async def test_a_message_that_is_too_large_without_rendering_is_refused(project, parts):
    single = await project.client.post("/emails", {**MAIL, **parts})
    assert (single.status_code, single.json()["errors"][0]["path"]) == (413, "/attachments")
    batch = await project.client.post("/emails/batch", {"emails": [{**MAIL, **parts}, MAIL]})
    assert [item["status"] for item in batch.json()["data"]] == ["FAILED", "QUEUED"]
    assert batch.json()["data"][0]["error"].startswith("/attachments")
    assert (await project.client.get("/emails/logs")).json()["total"] == 1


async def test_large_and_small_messages_of_a_batch_are_stored_with_their_bodies(project, run_due_work):
    """A large body is inserted by a statement of its own, and its base64 is decoded in pieces."""
    content = bytes(range(256)) * 4_000
    attachment = {"filename": "scan.bin", "content": base64.b64encode(content).decode()}
    large = {**MAIL, "subject": "Large", "attachments": [attachment]}
    broken = {**large, "attachments": [{**attachment, "content": f"{attachment['content']}===="}]}
    padded = {**large, "attachments": [{**attachment, "content": "YQ==" * 200_000}]}
    batch = await project.client.post("/emails/batch", {"emails": [large, MAIL, broken, padded]})
    assert [item["status"] for item in batch.json()["data"]] == ["QUEUED", "QUEUED", "FAILED", "FAILED"]
    await run_due_work()
    sent, small = [await message_of(project, item["id"]) for item in batch.json()["data"][:2]]
    assert [part.get_content() for part in sent.iter_attachments()] == [content]
    assert small.get_content().strip() == "Hello."
    single = await project.client.post("/emails", large)
    assert single.json()["status"] == "DELIVERED"


async def test_a_relay_that_is_not_configured_is_refused(project, world):
    """Mail of a project that uses the server's relay is refused while the server has no relay."""
    change = {"settings": {"transport": "relay"}}
    refused = await project.developer.patch("", change)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/settings/relays")
    assert (await project.client.post("/emails", MAIL)).json()["status"] == "DELIVERED"
    with_relay = msgspec.structs.replace(world.settings, relay="smtp://127.0.0.1:9")
    without_relay, world.settings = world.settings, with_relay
    assert (await project.developer.patch("", change)).status_code == 200
    world.settings = without_relay
    for path, body in (("/emails", MAIL), ("/emails/batch", {"emails": [MAIL]})):
        response = await project.client.post(path, body)
        assert (response.status_code, response.json()["code"]) == (503, "no_smart_host"), path
    assert (await project.client.get("/emails/logs")).json()["total"] == 1


async def test_mail_from_an_unverified_domain_is_refused_unless_captured(project):
    """For an unknown and for an unverified domain, the response has the request that comes next.

    Regression test of N6 (tests/defects.md).
    """
    await project.developer.patch("", {"settings": {"transport": "relay", "relays": [{"host": "relay.example"}]}})
    response = await project.client.post("/emails", MAIL)
    assert (response.status_code, response.json()["code"]) == (403, "domain_not_verified")
    domain_name = MAIL["from"].rpartition("@")[2].rstrip(">")
    assert f'POST /projects/{project.id}/domains and {{"domain": "{domain_name}"}}' in response.json()["next"]
    domain = (await project.client.post("/domains", {"domain": domain_name})).json()
    response = await project.client.post("/emails", MAIL)
    assert f"POST /projects/{project.id}/domains/{domain['id']}/verify" in response.json()["next"]
    test_key = await project.key(environment="TEST")
    sent = await test_key.post("/emails", MAIL)
    assert (sent.status_code, sent.json()["status"]) == (201, "DELIVERED")


SAME_IN_BOTH_WAYS = """
    select to_jsonb(s) - array['id', 'message_id'] as send, b.body, b.sealed,
           replace(t.search_text, lower(s.message_id), '') as search_text
    from sends s join send_bodies b on (b.project_id, b.send_id) = (s.project_id, s.id)
    join send_search t on (t.project_id, t.send_id) = (s.project_id, s.id) where s.project_id = %s order by s.id
"""


async def test_an_email_inserted_row_by_row_is_the_same(project, world, clock, monkeypatch):
    """As in a distributed database, see decision 0171; there with microseconds, which JSON does not have."""
    clock.move(-timedelta(microseconds=clock().microsecond % 1_000))
    await project.client.post("/contacts", {"email": "ada@example.org"})
    later = (clock() + timedelta(days=2)).isoformat()
    emails = [
        {"to": ["ada@example.org"], "from": "a@example.com", "subject": "Hi", "html": "<p>Hi</p>"},
        {
            "to": ["Ada <ada@example.org>", "b@example.org"],
            "cc": ["c@example.org"],
            "bcc": ["d@example.org"],
            "from": "a@example.com",
            "subject": "Later",
            "text": "Hi",
            "tags": ["a", "b"],
            "scheduledAt": later,
            "expiresAt": (clock() + timedelta(days=3)).isoformat(),
        },
    ]
    for mail in emails:
        assert (await project.client.post("/emails", mail, headers={"prefer": "wait=0"})).status_code == 201
    together = submission._insert
    monkeypatch.setattr(submission, "_insert", submission._insert_few)
    for mail in emails:
        assert (await project.client.post("/emails", mail, headers={"prefer": "wait=0"})).status_code == 201
    monkeypatch.setattr(submission, "_insert", together)
    async with world.db.connection() as connection:
        stored = await (await connection.execute(SAME_IN_BOTH_WAYS, [project.id])).fetchall()
    assert len(stored) == 4
    assert stored[:2] == stored[2:]
    assert all(send["contact_id"] for send, *_ in stored)
