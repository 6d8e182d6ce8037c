"""Rules of `/compat/resend`: idempotency, batches, schedules, lists, records of other projects, and webhooks."""

import json
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import UUID

import pytest
from svix.webhooks import Webhook, WebhookVerificationError

from postern.compat.resend.schedules import parse_schedule
from postern.compat.resend.variables import CONTACT_NAMES, fallbacks_of, from_resend_variables, to_resend_variables
from postern.kernel.http.problems import Invalid
from postern.kernel.values import Moment

BASE = "/compat/resend"
SEND = f"{BASE}/emails"
EMAIL = {"from": "Acme <hello@acme.example>", "to": "ada@example.com", "subject": "Hi", "html": "<p>Hi</p>"}
NOW = Moment.of(Moment.fromisoformat("2026-01-31T12:30:00+00:00"))


@pytest.fixture
async def captured(project):
    """A project whose mail is captured, so that every sender is allowed."""
    changed = await project.developer.patch("", {"settings": {"transport": "capture"}})
    assert changed.status_code == 200
    return project


async def refusal(response) -> tuple[int, str]:
    """Status and name of an error; its body has exactly Resend's fields."""
    assert response.json().keys() == {"statusCode", "name", "message"}
    assert response.json()["statusCode"] == response.status_code
    return response.status_code, response.json()["name"]


async def test_an_unverified_domain_is_403_and_sends_nothing(sender):
    response = await sender.client.post(SEND, EMAIL)
    assert await refusal(response) == (403, "validation_error")
    assert "acme.example is not a verified sending domain" in response.json()["message"]
    assert (await sender.client.get(SEND)).json()["data"] == []


async def test_a_key_needs_the_permission_of_our_operation(captured):
    sender = await captured.key("emails:send")
    sent = await sender.post(SEND, EMAIL)
    assert sent.status_code == 200
    for path in ("/emails", "/domains", "/contacts", "/broadcasts", "/webhooks", "/templates", "/suppressions"):
        assert await refusal(await sender.get(BASE + path)) == (401, "restricted_api_key")
    writer = await captured.key("campaigns:write", "audiences:read")
    broadcast = {"from": "a@acme.example", "subject": "News", "html": "<p>News</p>", "send": True}
    assert await refusal(await writer.post(f"{BASE}/broadcasts", broadcast)) == (401, "restricted_api_key")


async def test_suppressions_are_filtered_by_the_origin_that_they_show(captured):
    for reason in ("BOUNCE", "COMPLAINT", "MANUAL", "UNSUBSCRIBE"):
        suppression = {"address": f"{reason.lower()}@example.org", "reason": reason}
        assert (await captured.client.post("/suppressions", suppression)).status_code == 201
    listed = (await captured.client.get(f"{BASE}/suppressions")).json()["data"]
    assert sorted({item["origin"] for item in listed}) == ["bounce", "complaint", "manual"]
    for origin in ("bounce", "complaint", "manual"):
        expected = [item for item in listed if item["origin"] == origin]
        filtered = f"{BASE}/suppressions?origin={origin}&limit=1"
        pages = [(await captured.client.get(filtered)).json()]
        while pages[-1]["has_more"]:
            pages.append((await captured.client.get(f"{filtered}&after={pages[-1]['data'][-1]['id']}")).json())
        assert [item for page in pages for item in page["data"]] == expected
    assert (await captured.client.get(f"{BASE}/suppressions?origin=other")).status_code == 422


async def test_a_broadcast_is_changed_only_with_all_permissions_for_the_change(captured):
    segment = (await captured.client.post(f"{BASE}/segments", {"name": "All"})).json()["id"]
    broadcast = {"segment_id": segment, "from": "a@acme.example", "subject": "News", "html": "<p>News</p>"}
    path = f"{BASE}/broadcasts/{(await captured.client.post(f'{BASE}/broadcasts', broadcast)).json()['id']}"
    before = (await captured.client.get(path)).json()
    sender = await captured.key("campaigns:send", "campaigns:read")
    refused = await sender.post(f"{path}/send", {"scheduled_at": "in 1 day"})
    assert await refusal(refused) == (401, "restricted_api_key")
    writer = await captured.key("campaigns:write", "campaigns:read")
    refused = await writer.patch(path, {"subject": "Other", "html": "<p>Other</p>"})
    assert await refusal(refused) == (401, "restricted_api_key")
    assert (await captured.client.get(path)).json() == before
    assert (await writer.patch(path, {"subject": "Other"})).status_code == 200


async def test_a_key_for_contacts_learns_no_members_of_audiences(captured):
    audience = (await captured.client.post(f"{BASE}/audiences", {"name": "All"})).json()["id"]
    path = f"{BASE}/audiences/{audience}/contacts"
    assert (await captured.client.post(path, {"email": "ada@example.com"})).status_code == 201
    await captured.client.post(f"{BASE}/contacts", {"email": "bob@example.com"})
    reader = await captured.key("contacts:read", "contacts:write")
    for name in ("ada", "bob"):
        member = f"{path}/{name}@example.com"
        for response in (await reader.get(member), await reader.patch(member, {"first_name": "A"})):
            assert await refusal(response) == (401, "restricted_api_key")


async def test_only_secret_keys_are_accepted(captured):
    publishable = await captured.key(type="PUBLISHABLE")
    for client in (captured.developer, publishable):
        assert await refusal(await client.post(SEND, EMAIL)) == (403, "invalid_api_key")


async def test_a_test_key_only_captures(captured):
    client = await captured.key(environment="TEST")
    sent = (await client.post(SEND, {**EMAIL, "from": "hello@unverified.example"})).json()
    entry = (await captured.client.get(f"/emails/logs/{sent['id']}")).json()
    assert entry["test"]


async def test_another_body_with_the_same_idempotency_key_is_409(captured):
    header = {"Idempotency-Key": "welcome-1"}
    later = {**EMAIL, "scheduled_at": "in 10 min"}
    first = await captured.client.post(SEND, later, headers=header)
    # The same text names another time now, but the body is the same.
    repeated = await captured.client.post(SEND, later, headers=header)
    assert repeated.json() == first.json()
    assert repeated.headers["idempotent-replayed"] == "true"
    changed = await captured.client.post(SEND, {**later, "subject": "Other"}, headers=header)
    assert await refusal(changed) == (409, "invalid_idempotent_request")
    invalid = await captured.client.post(SEND, EMAIL, headers={"Idempotency-Key": "x" * 300})
    assert await refusal(invalid) == (400, "invalid_idempotency_key")


async def test_a_repeated_relative_schedule_is_the_same_request_later(captured, clock):
    header = {"Idempotency-Key": "later"}
    first = await captured.client.post(SEND, {**EMAIL, "scheduled_at": "in 10 min"}, headers=header)
    clock.move(timedelta(minutes=1))
    repeated = await captured.client.post(SEND, {**EMAIL, "scheduled_at": "in 10 min"}, headers=header)
    assert repeated.json() == first.json()


async def test_a_strict_batch_sends_all_or_nothing_and_a_permissive_one_the_valid_emails(captured):
    batch = [EMAIL, {**EMAIL, "from": "nobody"}, {"subject": "No recipient"}]
    strict = await captured.client.post(f"{SEND}/batch", batch)
    assert await refusal(strict) == (422, "invalid_from_address")
    assert (await captured.client.get(SEND)).json()["data"] == []
    header = {"x-batch-validation": "permissive"}
    permissive = (await captured.client.post(f"{SEND}/batch", batch, headers=header)).json()
    assert len(permissive["data"]) == 1
    assert [error["index"] for error in permissive["errors"]] == [1, 2]
    repeated = [await captured.client.post(f"{SEND}/batch", [EMAIL], headers={"Idempotency-Key": "b"}) for _ in "12"]
    assert repeated[0].json() == repeated[1].json()


async def test_a_batch_has_1_to_100_emails(captured):
    for batch in ([], [EMAIL] * 101):
        assert await refusal(await captured.client.post(f"{SEND}/batch", batch)) == (422, "validation_error")


async def test_recipients_are_counted_before_an_address_is_read(captured):
    response = await captured.client.post(SEND, {**EMAIL, "to": ["üü@"] * 20, "cc": ["üü@"] * 20, "bcc": ["üü@"] * 11})
    assert "at most 50 recipients" in response.json()["message"]


async def test_records_of_other_projects_are_404(captured, new_project):
    other = await new_project()
    sent = (await captured.client.post(SEND, EMAIL)).json()["id"]
    segment = (await captured.client.post(f"{BASE}/segments", {"name": "Readers"})).json()["id"]
    template = (
        await captured.client.post(f"{BASE}/templates", {"name": "T", "subject": "T", "html": "<p>T</p>"})
    ).json()
    for path in (f"/emails/{sent}", f"/segments/{segment}", f"/templates/{template['id']}", "/emails/not-an-id"):
        assert await refusal(await other.client.get(BASE + path)) == (404, "not_found")
    assert await refusal(await other.client.post(f"{SEND}/{sent}/cancel")) == (404, "not_found")
    in_foreign_segment = {"email": "ada@example.com", "segments": [{"id": segment}]}
    assert await refusal(await other.client.post(f"{BASE}/contacts", in_foreign_segment)) == (404, "not_found")
    # Nothing was done before the segment was refused.
    assert (await other.client.get(f"{BASE}/contacts")).json()["data"] == []


async def test_too_many_requests_are_429_with_the_headers_of_resend(captured):
    await captured.developer.patch("", {"settings": {"rateLimit": 2}})
    responses = [await captured.client.get(f"{BASE}/domains") for _ in range(4)]
    limited = next(response for response in responses if response.status_code == 429)
    assert limited.json()["name"] == "rate_limit_exceeded"
    assert limited.headers["ratelimit-limit"] == "2"
    assert limited.headers["ratelimit-remaining"] == "0"
    assert int(limited.headers["retry-after"]) >= 1


async def test_errors_after_admission_have_the_rate_limit_headers(captured):
    missing = await captured.client.get(f"{BASE}/emails/00000000-0000-7000-8000-000000000000")
    assert int(missing.headers["ratelimit-limit"]) > int(missing.headers["ratelimit-remaining"])


async def test_unknown_fields_and_query_parameters_are_ignored(captured):
    sent = await captured.client.post(f"{SEND}?trace=1", {**EMAIL, "some_new_field": True})
    assert sent.status_code == 200


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/emails", {**EMAIL, "topic_id": "news"}),
        ("/domains", {"name": "acme.example", "tls": "enforced"}),
        ("/domains", {"name": "acme.example", "capabilities": {"receiving": "enabled"}}),
        ("/segments", {"name": "Dynamic", "filter": {"field": "plan"}}),
        ("/templates", {"name": "T", "html": "<p>T</p>", "alias": "t"}),
        ("/contact-properties", {"key": "plan", "type": "string", "fallback_value": "free"}),
        ("/contacts", {"email": "ada@example.com", "topics": [{"id": "x"}]}),
        ("/webhooks", {"endpoint": "https://example.com/hook", "events": ["email.received"]}),
    ],
    ids=str,
)
async def test_what_a_request_asks_for_in_vain_is_501(captured, path, body):
    assert await refusal(await captured.client.post(BASE + path, body)) == (501, "not_implemented")


async def test_values_that_our_api_refuses_are_refused(captured):
    long_name = {"name": "x" * 300}
    assert (await refusal(await captured.client.post(f"{BASE}/segments", long_name)))[0] == 422
    assert (await refusal(await captured.client.post(SEND, {**EMAIL, "to": ["a@example.com"] * 60})))[0] == 422
    tags = [{"name": "not a tag!"}]
    assert (await refusal(await captured.client.post(SEND, {**EMAIL, "tags": tags})))[0] == 422
    attachments = [{"filename": "a.txt", "content": "%%%"}]
    response = await captured.client.post(SEND, {**EMAIL, "attachments": attachments})
    assert await refusal(response) == (422, "invalid_attachment")


async def test_an_attachment_is_not_read_from_an_internal_address(captured):
    attachments = [{"path": "http://169.254.169.254/latest/meta-data"}]
    response = await captured.client.post(SEND, {**EMAIL, "attachments": attachments})
    assert await refusal(response) == (422, "invalid_attachment")


async def test_an_email_with_too_many_attachments_reads_none(captured, receiver):
    attachments = [{"path": receiver.url("/a.txt")}] * 21
    response = await captured.client.post(SEND, {**EMAIL, "attachments": attachments})
    assert response.status_code == 422
    results = await captured.client.post(f"{SEND}/batch", [{**EMAIL, "attachments": attachments}])
    assert results.status_code == 422
    assert receiver.requests == []


async def test_files_from_urls_have_a_size_limit_for_each_email_and_request(captured, receiver, monkeypatch):
    size = 1_000
    monkeypatch.setattr("postern.protocols.mail.mime.MESSAGE_BYTES_LIMIT", 2 * size)
    monkeypatch.setattr("postern.compat.resend.emails.MAX_FETCHED_BYTES", 3 * size)
    file = {"path": receiver.url(f"/a.txt?size={size}")}
    response = await captured.client.post(SEND, {**EMAIL, "attachments": [file] * 3})
    assert (response.status_code, "too large" in response.json()["message"]) == (422, True)
    one = {**EMAIL, "attachments": [file]}
    batch = await captured.client.post(f"{SEND}/batch", [one] * 5, headers={"x-batch-validation": "permissive"})
    assert [(error["index"], "too large" in error["message"]) for error in batch.json()["errors"]] == [
        (3, True),
        (4, True),
    ]
    assert len(batch.json()["data"]) == 3


async def test_all_files_of_a_request_have_one_time_limit(captured, receiver, monkeypatch):
    monkeypatch.setattr("postern.compat.resend.emails.FETCH_TIMEOUT", timedelta(milliseconds=50))
    one = {**EMAIL, "attachments": [{"path": receiver.url("/a.txt?mode=silent")}]}
    batch = await captured.client.post(f"{SEND}/batch", [one, EMAIL, one], headers={"x-batch-validation": "permissive"})
    assert ["took longer" in error["message"] for error in batch.json()["errors"]] == [True, True]
    assert len(batch.json()["data"]) == 1


async def test_a_repeated_request_reads_no_file_again(captured, receiver):
    one, key = {**EMAIL, "attachments": [{"path": receiver.url("/a.txt")}]}, {"Idempotency-Key": "files"}
    for path, body in ((SEND, one), (f"{SEND}/batch", [one])):
        receiver.requests.clear()
        first, again = [await captured.client.post(path, body, headers=key) for _ in range(2)]
        assert (first.status_code, first.json()) == (200, again.json())
        assert again.headers["idempotent-replayed"] == "true"
        assert len(receiver.requests) == 1


async def test_download_urls_expire_and_cannot_be_changed(captured, stranger, clock):
    attachments = [{"filename": "a.txt", "content": "aGVsbG8="}]
    sent = (await captured.client.post(SEND, {**EMAIL, "attachments": attachments})).json()["id"]
    (file,) = (await captured.client.get(f"{SEND}/{sent}/attachments")).json()["data"]
    path = urlsplit(file["download_url"]).path
    download = await stranger.get(path)
    assert download.content == b"hello"
    assert download.headers["content-disposition"].startswith("attachment")
    assert (await stranger.get(path[:-2] + ("A" if path[-2] != "A" else "B") + path[-1])).status_code == 404
    clock.move(timedelta(hours=2))
    assert (await stranger.get(path)).status_code == 404


async def test_creating_a_contact_again_does_not_subscribe_it(captured):
    person = {"email": "ada@example.com", "first_name": "Ada", "unsubscribed": True}
    first = (await captured.client.post(f"{BASE}/contacts", person)).json()["id"]
    again = await captured.client.post(f"{BASE}/contacts", {**person, "last_name": "Lovelace", "unsubscribed": False})
    assert again.json()["id"] == first
    contact = (await captured.client.get(f"{BASE}/contacts/ada@example.com")).json()
    assert (contact["last_name"], contact["unsubscribed"]) == ("Lovelace", True)
    await captured.client.patch(f"{BASE}/contacts/{first}", {"unsubscribed": False})
    assert not (await captured.client.get(f"{BASE}/contacts/{first}")).json()["unsubscribed"]


async def test_changes_are_in_the_audit_log_with_the_key(captured):
    created = await captured.client.post(f"{BASE}/segments", {"name": "Readers"})
    entries = (await captured.developer.get("/account/audit-log")).json()["data"]
    entry = next(entry for entry in entries if entry["action"] == "audience.created")
    assert (entry["targetId"], entry["actorType"]) == (created.json()["id"], "API_KEY")


async def test_lists_are_read_forward_and_back(captured):
    for number in range(5):
        await captured.client.post(f"{BASE}/segments", {"name": str(number)})

    async def names(**query) -> tuple[list[str], bool]:
        body = (await captured.client.get(f"{BASE}/segments", params=query)).json()
        return [item["name"] for item in body["data"]], body["has_more"]

    ids = [item["id"] for item in (await captured.client.get(f"{BASE}/segments")).json()["data"]]
    assert await names(limit=2) == (["4", "3"], True)
    assert await names(limit=2, after=ids[3]) == (["0"], False)
    assert await names(limit=2, before=ids[3]) == (["3", "2"], True)
    assert await names(limit=2, before=ids[1]) == (["4"], False)
    unknown = str(UUID(int=UUID(ids[0]).int ^ 1))
    for query in ({"limit": 0}, {"after": "x"}, {"before": unknown}, {"after": ids[0], "before": ids[1]}):
        response = await captured.client.get(f"{BASE}/segments", params=query)
        assert (await refusal(response))[0] == 422


async def test_before_finds_every_record_of_a_long_list(captured, run_due_work):
    csv = "\n".join(["email", *(f"c{number}@example.com" for number in range(1_000))]).encode()
    await captured.client.post("/contacts/import", content=csv, headers={"content-type": "text/csv"})
    await run_due_work()
    ids, last = [], {}
    while len(ids) < 1_000:
        body = (await captured.client.get(f"{BASE}/contacts", params={"limit": 100, **last})).json()
        ids += [item["id"] for item in body["data"]]
        last = {"after": ids[-1]}
    for place, limit in ((0, 20), (1, 20), (99, 100), (100, 100), (101, 100), (102, 1), (555, 20), (999, 100)):
        body = (await captured.client.get(f"{BASE}/contacts", params={"limit": limit, "before": ids[place]})).json()
        assert [item["id"] for item in body["data"]] == ids[max(place - limit, 0) : place], place
        assert body["has_more"] is (place > limit)
    unknown = str(UUID(int=UUID(ids[555]).int ^ 1))
    response = await captured.client.get(f"{BASE}/contacts", params={"before": unknown})
    assert (await refusal(response))[0] == 422


async def test_a_webhook_is_signed_for_svix_and_has_the_payload_of_resend(captured, run_due_work, receiver):
    hook = {"endpoint": receiver.url("/hook"), "events": ["email.scheduled", "contact.created", "contact.deleted"]}
    webhook = (await captured.client.post(f"{BASE}/webhooks", hook)).json()
    tags = [{"name": "category", "value": "welcome"}, {"name": "plain"}]
    sent = (await captured.client.post(SEND, {**EMAIL, "tags": tags, "scheduled_at": "in 1 hour"})).json()["id"]
    contact = (await captured.client.post(f"{BASE}/contacts", {"email": "bob@example.com", "first_name": "Bob"})).json()
    await captured.client.delete(f"{BASE}/contacts/{contact['id']}")
    await run_due_work()
    events = {}
    for request in receiver.received("/hook"):
        Webhook(webhook["signing_secret"]).verify(request.body, dict(request.headers))
        with pytest.raises(WebhookVerificationError):
            Webhook(webhook["signing_secret"]).verify(request.body + b" ", dict(request.headers))
        assert "webhook-id" not in request.headers
        event = json.loads(request.body)
        assert event.keys() == {"type", "created_at", "data"}
        events[event["type"]] = event["data"]
    assert events["email.scheduled"]["email_id"] == sent
    assert events["email.scheduled"]["tags"] == {"category": "welcome", "plain": ""}
    assert events["email.scheduled"]["to"] == ["ada@example.com"]
    assert events["contact.created"]["id"] == events["contact.deleted"]["id"] == contact["id"]
    deliveries = (await captured.client.get(f"/webhooks/{webhook['id']}/deliveries")).json()
    assert {delivery["payload"]["type"] for delivery in deliveries} == events.keys()
    assert (await captured.client.get(f"/webhooks/{webhook['id']}")).json()["format"] == "resend"


async def test_our_own_webhooks_keep_their_format(captured, run_due_work, receiver):
    await captured.client.post("/webhooks", {"url": receiver.url("/own"), "events": ["email.scheduled"]})
    await captured.client.post(SEND, {**EMAIL, "scheduled_at": "in 1 hour"})
    await run_due_work()
    (request,) = receiver.received("/own")
    assert "webhook-signature" in request.headers
    assert json.loads(request.body).keys() == {"type", "timestamp", "data"}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("in 1 min", "2026-01-31T12:31:00+00:00"),
        ("in 2 hours", "2026-01-31T14:30:00+00:00"),
        ("In a day", "2026-02-01T12:30:00+00:00"),
        ("tomorrow at 9am", "2026-02-01T09:00:00+00:00"),
        ("today at 11:15 pm", "2026-01-31T23:15:00+00:00"),
        ("tomorrow", "2026-02-01T12:30:00+00:00"),
        ("2026-02-05T11:52:01.858Z", "2026-02-05T11:52:01.858000+00:00"),
        ("2026-02-05T13:52:01+02:00", "2026-02-05T11:52:01+00:00"),
        ("2026-02-05 11:52:01", "2026-02-05T11:52:01+00:00"),
    ],
)
def test_times_are_read_as_resend_reads_them(text, expected):
    assert parse_schedule(text, NOW).isoformat() == expected


@pytest.mark.parametrize("text", ["", "soon", "in many days", "tomorrow at 25", "tomorrow at 13pm", "in 99999999 days"])
def test_other_times_are_refused(text):
    with pytest.raises(Invalid):
        parse_schedule(text, NOW)


async def test_a_time_too_far_ahead_is_refused(captured):
    for text in ("in 40 days", "in 999999 weeks", "sometime"):
        assert (await refusal(await captured.client.post(SEND, {**EMAIL, "scheduled_at": text})))[0] == 422


@pytest.mark.parametrize(
    "text",
    [
        "Hi {{{NAME}}}",
        "Hi {{{NAME|you (all)}}}, {{{contact.plan}}}",
        '{{not a variable}} {% raw %} {# comment #} {{{NAME|a "quoted" fallback}}}',
        "plain",
    ],
)
def test_variables_are_converted_and_back(text):
    assert to_resend_variables(from_resend_variables(text)) == text


def test_variables_of_broadcasts_have_the_names_of_our_contacts():
    text = "{{{FIRST_NAME|there}}} {{{RESEND_UNSUBSCRIBE_URL}}}"
    converted = from_resend_variables(text, names=CONTACT_NAMES)
    assert converted == '{{ firstName|default("there", true) }} {{ unsubscribe_url }}'
    assert to_resend_variables(converted, is_broadcast=True) == text


def test_fallback_values_of_variables_are_in_the_content():
    assert fallbacks_of(from_resend_variables("{{{A}}} {{{B}}} {{{C|c}}}", {"A": 1, "B": None})) == {
        "A": 1,
        "B": None,
        "C": "c",
    }
