"""Single senders: addresses that are confirmed by a mail, without a verified domain."""

import re
from datetime import timedelta
from urllib.parse import urlsplit
from uuid import uuid4

import msgspec
import pytest

from postern.kernel.outbound.ssrf import read_networks
from tests.messaging.domains.test_domains import publish
from tests.peers.smtp_sink import Sink
from tests.platform.accounts.members import system_mails


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")))


@pytest.fixture
async def sink():
    async with Sink() as sink:
        yield sink


@pytest.fixture
async def project(project, sink):
    """A project that sends mail through its own relay."""
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    assert changed.status_code == 200, changed.text
    return project


def unique_address(domain="single.example"):
    return f"{uuid4().hex[:12]}@{domain}"


def mail_request(address, **fields):
    return {"to": ["bob@example.org"], "from": f"Ada <{address}>", "subject": "Hi", "text": "Hello\n", **fields}


async def add_sender(project, address):
    created = await project.client.post("/senders", {"email": address})
    assert created.status_code == 201, created.text
    return created.json()


async def confirmation_link(project, world, run_due_work, address):
    """The link in the newest mail to an address."""
    await run_due_work()
    mail = system_mails(world, address)[-1]
    text = mail.get_body(("plain",)).get_content()
    (link,) = re.findall(r"https?://\S+\?token=\w+", text)
    parts = urlsplit(link)
    assert parts.query.removeprefix("token=") not in mail["Subject"]
    return f"{parts.path}?{parts.query}"


def token_of(link):
    return link.partition("token=")[2]


async def add_confirmed_sender(project, world, run_due_work, stranger, address):
    sender = await add_sender(project, address)
    link = await confirmation_link(project, world, run_due_work, address)
    response = await stranger.request("POST", link.partition("?")[0], data={"token": token_of(link)})
    assert response.status_code == 200, response.text
    return sender


async def test_a_confirmed_address_can_send_without_a_domain(project, sink, world, run_due_work, stranger):
    """Regression test of N6 (tests/defects.md)."""
    address = unique_address()
    refused = await project.client.post("/emails", mail_request(address))
    assert (refused.status_code, refused.json()["code"]) == (403, "domain_not_verified")
    assert "/senders" in refused.json()["next"]
    sender = await add_sender(project, address.upper())
    assert (sender["status"], sender["verifiedAt"]) == ("PENDING", None)
    assert (await project.client.post("/emails", mail_request(address))).status_code == 403
    link = await confirmation_link(project, world, run_due_work, address)
    # Opening the link changes nothing: mail scanners do that.
    page = await stranger.get(link)
    assert page.status_code == 200
    assert address.lower() in page.text.lower()
    assert "<form" in page.text
    assert (await project.client.get(f"/senders/{sender['id']}")).json()["status"] == "PENDING"
    confirmation = await stranger.request("POST", link.partition("?")[0], data={"token": token_of(link)})
    assert (confirmation.status_code, "is confirmed" in confirmation.text) == (200, True)
    verified_sender = (await project.client.get(f"/senders/{sender['id']}")).json()
    assert (verified_sender["status"], verified_sender["linkExpiresAt"]) == ("VERIFIED", None)
    assert (await project.client.get("/senders")).json() == [verified_sender]
    sent = await project.client.post("/emails", mail_request(address))
    assert (sent.status_code, sent.json()["status"]) == (201, "SENT"), sent.text
    (message,) = sink.messages
    assert (message.sender, message.raw.startswith(b"From: Ada <")) == (address, True)
    batch = await project.client.post(
        "/emails/batch", {"emails": [mail_request(address), mail_request(unique_address())]}
    )
    assert [email["status"] for email in batch.json()["data"]] == ["QUEUED", "FAILED"]
    # The link can be used again. It allows no other address of the domain.
    assert (await stranger.request("POST", link.partition("?")[0], data={"token": token_of(link)})).status_code == 200
    assert (await project.client.post("/emails", mail_request(unique_address()))).status_code == 403


async def test_the_token_is_only_in_a_mail_that_the_project_cannot_read(project, sink, world, run_due_work, stranger):
    """A project's relay or log must not contain the token.

    Regression test of N6, I1 (tests/defects.md).
    """
    address = unique_address()
    await add_confirmed_sender(project, world, run_due_work, stranger, address)
    token = token_of(await confirmation_link(project, world, run_due_work, address))
    assert sink.messages == []
    for path in ("/emails/logs", "/events?limit=100", "/senders", "/inbox"):
        assert token not in (await project.client.get(path)).text
    events = [event["type"] for event in (await project.client.get("/events?limit=100")).json()["data"]]
    assert events.count("domain.sender_verified") == 1
    audit_log = await project.developer.get("http://postern.test/account/audit-log")
    assert token not in audit_log.text


async def test_wrong_expired_and_foreign_tokens_are_refused(project, new_project, world, run_due_work, stranger, clock):
    """Regression test of N6 (tests/defects.md)."""
    address = unique_address()
    sender = await add_sender(project, address)
    path = f"/senders/{sender['id']}"
    first_link = await confirmation_link(project, world, run_due_work, address)
    page = first_link.partition("?")[0]
    assert (await project.client.post(f"{path}/resend")).json()["status"] == "PENDING"
    second_link = await confirmation_link(project, world, run_due_work, address)
    assert first_link != second_link
    other_project = await new_project()
    their_sender = (await other_project.client.post("/senders", {"email": address})).json()
    for token in ("x", "", token_of(first_link), "€"):
        wrong = await stranger.request("POST", page, data={"token": token})
        assert (wrong.status_code, "<form" in wrong.text) == (400, False)
        assert (await stranger.get(f"{page}?token={token}")).status_code == 400
    assert (await project.client.post(f"{path}/verify", {"token": token_of(first_link)})).status_code == 400
    # The token confirms the address only in the project that requested it.
    with_foreign_token = await other_project.client.post(
        f"/senders/{their_sender['id']}/verify", {"token": token_of(second_link)}
    )
    assert (with_foreign_token.status_code, with_foreign_token.json()["code"]) == (400, "sender_link_invalid")
    assert (await other_project.client.get(path)).status_code == 404
    assert (await other_project.client.post(f"{path}/verify", {"token": token_of(second_link)})).status_code == 404
    clock.move(timedelta(hours=25))
    expired = await stranger.request("POST", page, data={"token": token_of(second_link)})
    assert expired.status_code == 400
    assert (await project.client.get(path)).json()["status"] == "PENDING"
    await project.client.post(f"{path}/resend")
    third_link = await confirmation_link(project, world, run_due_work, address)
    verified = await project.client.post(f"{path}/verify", {"token": token_of(third_link)})
    assert (verified.status_code, verified.json()["status"]) == (200, "VERIFIED")
    resent = await project.client.post(f"{path}/resend")
    assert (resent.status_code, resent.json()["code"]) == (409, "sender_verified")


async def test_waiting_sends_of_a_deleted_sender_fail_with_a_reason(
    project, sink, world, run_due_work, stranger, clock
):
    """Regression test of N6, M1 (tests/defects.md)."""
    address = unique_address()
    sender = await add_confirmed_sender(project, world, run_due_work, stranger, address)
    scheduled_at = (clock() + timedelta(hours=2)).isoformat()
    email_id = (await project.client.post("/emails", mail_request(address, scheduledAt=scheduled_at))).json()["id"]
    assert (await project.client.delete(f"/senders/{sender['id']}")).json() == {"deleted": True}
    assert (await project.client.get(f"/senders/{sender['id']}")).status_code == 404
    assert (await project.client.post("/emails", mail_request(address))).status_code == 403
    clock.move(timedelta(hours=3))
    await run_due_work()
    email = (await project.client.get(f"/emails/logs/{email_id}")).json()
    assert (email["status"], sink.messages) == ("FAILED", [])
    assert email["reason"].startswith(f"{address} is not a verified sender of this project any more")
    await add_confirmed_sender(project, world, run_due_work, stranger, address)
    assert (await project.client.post(f"/emails/{email_id}/retry")).status_code == 200
    await run_due_work()
    assert (await project.client.get(f"/emails/logs/{email_id}")).json()["status"] == "SENT"


async def test_campaigns_and_automations_need_a_verified_domain(project, world, run_due_work, stranger):
    """Regression test of N6 (tests/defects.md)."""
    address = unique_address()
    await add_confirmed_sender(project, world, run_due_work, stranger, address)
    template = (await project.client.post("/templates", {"name": "x", "subject": "x", "html": "<p>x</p>"})).json()
    step = {"type": "SEND_EMAIL", "templateId": template["id"], "fromEmail": address}
    body = {"name": "Series", "trigger": {"type": "CONTACT_CREATED"}, "steps": [step], "active": True}
    refused = await project.client.post("/automations", body)
    assert refused.status_code == 409
    assert refused.json()["errors"][0]["code"] == "domain_not_verified"


async def test_messages_are_signed_once_the_domain_is_verified_and_no_sender_is_needed(
    project, sink, world, run_due_work, stranger, zone
):
    """Regression test of N6 (tests/defects.md)."""
    name = f"{uuid4().hex[:12]}.example"
    address = unique_address(name)
    await add_confirmed_sender(project, world, run_due_work, stranger, address)
    domain = (await project.client.post("/domains", {"domain": name})).json()
    assert (await project.client.post("/emails", mail_request(address))).json()["status"] == "SENT"
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    assert (await project.client.post("/emails", mail_request(address))).json()["status"] == "SENT"
    assert [message.raw.startswith(b"DKIM-Signature") for message in sink.messages] == [False, True]
    refused = await project.client.post("/senders", {"email": unique_address(name)})
    assert (refused.status_code, refused.json()["code"]) == (409, "sender_not_needed")


@pytest.mark.parametrize(
    ("policy", "expected_words"), [("reject", "rejected"), ("quarantine", "spam folder"), ("none", None)]
)
async def test_the_response_warns_about_strict_dmarc_policies(project, zone, policy, expected_words):
    """Regression test of N6 (tests/defects.md)."""
    name = f"{uuid4().hex[:12]}.example"
    zone.set(f"_dmarc.{name}", "TXT", f"v=DMARC1; p={policy}")
    sender = await add_sender(project, unique_address(name))
    assert sender["dmarcPolicy"] == policy
    assert len(sender["warnings"]) == (2 if expected_words else 1)
    if expected_words:
        assert expected_words in sender["warnings"][1]
        assert name in sender["warnings"][1]


@pytest.mark.parametrize(
    "email", ["", "nobody", "Ada <ada@single.example>", "a@b\r\nBcc: c@d.example", "a@", "x" * 400]
)
async def test_invalid_addresses_are_refused_with_the_path(project, email):
    """Regression test of N6 (tests/defects.md)."""
    refused = await project.client.post("/senders", {"email": email})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/email")
    assert (await project.client.get("/senders")).json() == []


async def test_senders_are_rate_limited_and_need_write_permission(project, stranger, world, run_due_work):
    """Regression test of N6 (tests/defects.md)."""
    address = unique_address()
    sender = await add_sender(project, address)
    duplicate = await project.client.post("/senders", {"email": address.title()})
    assert (duplicate.status_code, duplicate.json()["code"]) == (409, "sender_exists")
    reader = await project.key("domains:read")
    assert (await reader.get("/senders")).json() == [sender]
    calls = [("POST", "/senders"), ("POST", f"/senders/{sender['id']}/resend"), ("DELETE", f"/senders/{sender['id']}")]
    for method, path in [*calls, ("POST", f"/senders/{sender['id']}/verify")]:
        refused = await reader.request(method, path, json={"email": unique_address(), "token": "x"})
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_missing"), path
    without_permission = await project.key("emails:send")
    assert (await without_permission.get("/senders")).status_code == 403
    for _ in range(3):
        assert (await project.client.post(f"/senders/{sender['id']}/resend")).status_code == 200
    limited = await project.client.post(f"/senders/{sender['id']}/resend")
    assert (limited.status_code, "Retry-After" in limited.headers) == (429, True)


async def test_a_project_has_at_most_twenty_senders(project, world):
    """Regression test of N6 (tests/defects.md)."""
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into senders (project_id, id, email, status, token_hash, token_expires_at, created_at, updated_at)"
            " select %s, gen_random_uuid(), n || '@single.example', 'PENDING', '', now(), now(), now()"
            " from generate_series(1, 20) n",
            [project.id],
        )
    refused = await project.client.post("/senders", {"email": unique_address()})
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_senders")
    assert len((await project.client.get("/senders")).json()) == 20


async def test_the_spf_record_authorises_the_relay_of_the_project(project, zone):
    """Regression test of N6 (tests/defects.md)."""
    name = f"{uuid4().hex[:12]}.example"
    hosts = ["email-smtp.eu-west-1.amazonaws.com", "smtp.relay.example", "2a00:1450:400c::25"]
    relays = [{"host": host} for host in hosts]
    assert (await project.developer.patch("", {"settings": {"relays": relays}})).status_code == 200
    domain = (await project.client.post("/domains", {"domain": name})).json()
    (record,) = [record for record in domain["records"] if record["purpose"] == "SPF"]
    assert record["value"] == "v=spf1 include:amazonses.com a:smtp.relay.example ip6:2a00:1450:400c::25 ~all"
    zone.set("amazonses.com", "TXT", "v=spf1 ip4:192.0.2.7 -all")
    zone.set("smtp.relay.example", "A", "192.0.2.8")
    publish(zone, domain)
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert checked["spfVerified"], checked["records"]
