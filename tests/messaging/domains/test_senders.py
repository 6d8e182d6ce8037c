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
    """Send mail through a relay of the project."""
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    changed = await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    assert changed.status_code == 200, changed.text
    return project


def unique(domain="single.example"):
    return f"{uuid4().hex[:12]}@{domain}"


def mail(address, **fields):
    return {"to": ["bob@example.org"], "from": f"Ada <{address}>", "subject": "Hi", "text": "Hello\n", **fields}


async def added(project, address, **changes):
    made = await project.client.post("/senders", {"email": address})
    assert made.status_code == 201, made.text
    return made.json()


async def link_to(project, world, work_off, address):
    """The link in the newest mail to an address."""
    await work_off()
    mail = system_mails(world, address)[-1]
    text = mail.get_body(("plain",)).get_content()
    (link,) = re.findall(r"https?://\S+\?token=\w+", text)
    parts = urlsplit(link)
    assert parts.query.removeprefix("token=") not in mail["Subject"]
    return f"{parts.path}?{parts.query}"


def token_of(link):
    return link.partition("token=")[2]


async def confirmed(project, world, work_off, stranger, address):
    sender = await added(project, address)
    link = await link_to(project, world, work_off, address)
    answer = await stranger.request("POST", link.partition("?")[0], data={"token": token_of(link)})
    assert answer.status_code == 200, answer.text
    return sender


async def test_a_confirmed_address_can_send_without_a_domain(project, sink, world, work_off, stranger):
    """Defects: N6"""
    address = unique()
    refused = await project.client.post("/emails", mail(address))
    assert (refused.status_code, refused.json()["code"]) == (403, "domain_not_verified")
    assert "/senders" in refused.json()["next"]
    sender = await added(project, address.upper())
    assert (sender["status"], sender["verifiedAt"]) == ("PENDING", None)
    assert (await project.client.post("/emails", mail(address))).status_code == 403
    link = await link_to(project, world, work_off, address)
    # Opening the link changes nothing: mail scanners do that.
    shown = await stranger.get(link)
    assert shown.status_code == 200
    assert address.lower() in shown.text.lower()
    assert "<form" in shown.text
    assert (await project.client.get(f"/senders/{sender['id']}")).json()["status"] == "PENDING"
    done = await stranger.request("POST", link.partition("?")[0], data={"token": token_of(link)})
    assert (done.status_code, "is confirmed" in done.text) == (200, True)
    read = (await project.client.get(f"/senders/{sender['id']}")).json()
    assert (read["status"], read["linkExpiresAt"]) == ("VERIFIED", None)
    assert (await project.client.get("/senders")).json() == [read]
    sent = await project.client.post("/emails", mail(address))
    assert (sent.status_code, sent.json()["status"]) == (201, "SENT"), sent.text
    (message,) = sink.messages
    assert (message.sender, message.raw.startswith(b"From: Ada <")) == (address, True)
    batch = await project.client.post("/emails/batch", {"emails": [mail(address), mail(unique())]})
    assert [each["status"] for each in batch.json()["data"]] == ["QUEUED", "FAILED"]
    # The link may be pressed twice; another address of the domain is not allowed by it.
    assert (await stranger.request("POST", link.partition("?")[0], data={"token": token_of(link)})).status_code == 200
    assert (await project.client.post("/emails", mail(unique()))).status_code == 403


async def test_the_token_is_only_in_the_mail_which_the_project_cannot_read(project, sink, world, work_off, stranger):
    """A project's relay or log must not contain the token.

    Defects: N6, I1
    """
    address = unique()
    await confirmed(project, world, work_off, stranger, address)
    token = token_of(await link_to(project, world, work_off, address))
    assert sink.messages == []
    for path in ("/emails/logs", "/events?limit=100", "/senders", "/inbox"):
        assert token not in (await project.client.get(path)).text
    events = [each["type"] for each in (await project.client.get("/events?limit=100")).json()["data"]]
    assert events.count("domain.sender_verified") == 1
    audited = await project.developer.get("http://postern.test/account/audit-log")
    assert token not in audited.text


async def test_wrong_expired_and_foreign_tokens_are_refused(project, new_project, world, work_off, stranger, clock):
    """Defects: N6"""
    address = unique()
    sender = await added(project, address)
    path = f"/senders/{sender['id']}"
    first = await link_to(project, world, work_off, address)
    page = first.partition("?")[0]
    assert (await project.client.post(f"{path}/resend")).json()["status"] == "PENDING"
    second = await link_to(project, world, work_off, address)
    assert first != second
    other = await new_project()
    theirs = (await other.client.post("/senders", {"email": address})).json()
    for token in ("x", "", token_of(first), "€"):
        wrong = await stranger.request("POST", page, data={"token": token})
        assert (wrong.status_code, "<form" in wrong.text) == (400, False)
        assert (await stranger.get(f"{page}?token={token}")).status_code == 400
    assert (await project.client.post(f"{path}/verify", {"token": token_of(first)})).status_code == 400
    # Another project has it confirmed for itself.
    foreign = await other.client.post(f"/senders/{theirs['id']}/verify", {"token": token_of(second)})
    assert (foreign.status_code, foreign.json()["code"]) == (400, "sender_link_invalid")
    assert (await other.client.get(path)).status_code == 404
    assert (await other.client.post(f"{path}/verify", {"token": token_of(second)})).status_code == 404
    clock.move(timedelta(hours=25))
    late = await stranger.request("POST", page, data={"token": token_of(second)})
    assert late.status_code == 400
    assert (await project.client.get(path)).json()["status"] == "PENDING"
    await project.client.post(f"{path}/resend")
    third = await link_to(project, world, work_off, address)
    verified = await project.client.post(f"{path}/verify", {"token": token_of(third)})
    assert (verified.status_code, verified.json()["status"]) == (200, "VERIFIED")
    again = await project.client.post(f"{path}/resend")
    assert (again.status_code, again.json()["code"]) == (409, "sender_verified")


async def test_waiting_sends_of_a_deleted_sender_fail_with_a_reason(project, sink, world, work_off, stranger, clock):
    """Defects: N6, M1"""
    address = unique()
    sender = await confirmed(project, world, work_off, stranger, address)
    at = (clock() + timedelta(hours=2)).isoformat()
    waiting = (await project.client.post("/emails", mail(address, scheduledAt=at))).json()["id"]
    assert (await project.client.delete(f"/senders/{sender['id']}")).json() == {"deleted": True}
    assert (await project.client.get(f"/senders/{sender['id']}")).status_code == 404
    assert (await project.client.post("/emails", mail(address))).status_code == 403
    clock.move(timedelta(hours=3))
    await work_off()
    log = (await project.client.get(f"/emails/logs/{waiting}")).json()
    assert (log["status"], sink.messages) == ("FAILED", [])
    assert log["reason"].startswith(f"{address} is not a verified sender of this project any more")
    await confirmed(project, world, work_off, stranger, address)
    assert (await project.client.post(f"/emails/{waiting}/retry")).status_code == 200
    await work_off()
    assert (await project.client.get(f"/emails/logs/{waiting}")).json()["status"] == "SENT"


async def test_campaigns_and_automations_need_a_verified_domain(project, world, work_off, stranger):
    """Defects: N6"""
    address = unique()
    await confirmed(project, world, work_off, stranger, address)
    template = (await project.client.post("/templates", {"name": "x", "subject": "x", "html": "<p>x</p>"})).json()
    step = {"type": "SEND_EMAIL", "templateId": template["id"], "fromEmail": address}
    body = {"name": "Series", "trigger": {"type": "CONTACT_CREATED"}, "steps": [step], "active": True}
    refused = await project.client.post("/automations", body)
    assert refused.status_code == 409
    assert refused.json()["errors"][0]["code"] == "domain_not_verified"


async def test_a_verified_domain_needs_no_sender_and_signs_earlier_messages(
    project, sink, world, work_off, stranger, zone
):
    """Defects: N6"""
    name = f"{uuid4().hex[:12]}.example"
    address = unique(name)
    await confirmed(project, world, work_off, stranger, address)
    domain = (await project.client.post("/domains", {"domain": name})).json()
    assert (await project.client.post("/emails", mail(address))).json()["status"] == "SENT"
    publish(zone, domain)
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    assert (await project.client.post("/emails", mail(address))).json()["status"] == "SENT"
    assert [each.raw.startswith(b"DKIM-Signature") for each in sink.messages] == [False, True]
    refused = await project.client.post("/senders", {"email": unique(name)})
    assert (refused.status_code, refused.json()["code"]) == (409, "sender_not_needed")


@pytest.mark.parametrize(("policy", "says"), [("reject", "rejected"), ("quarantine", "spam folder"), ("none", None)])
async def test_the_response_warns_about_strict_dmarc_policies(project, zone, policy, says):
    """Defects: N6"""
    name = f"{uuid4().hex[:12]}.example"
    zone.set(f"_dmarc.{name}", "TXT", f"v=DMARC1; p={policy}")
    sender = await added(project, unique(name))
    assert sender["dmarcPolicy"] == policy
    assert len(sender["warnings"]) == (2 if says else 1)
    if says:
        assert says in sender["warnings"][1]
        assert name in sender["warnings"][1]


@pytest.mark.parametrize(
    "email", ["", "nobody", "Ada <ada@single.example>", "a@b\r\nBcc: c@d.example", "a@", "x" * 400]
)
async def test_invalid_addresses_are_refused_with_the_path(project, email):
    """Defects: N6"""
    refused = await project.client.post("/senders", {"email": email})
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/email")
    assert (await project.client.get("/senders")).json() == []


async def test_senders_are_rate_limited_and_need_write_permission(project, stranger, world, work_off):
    """Defects: N6"""
    address = unique()
    sender = await added(project, address)
    same = await project.client.post("/senders", {"email": address.title()})
    assert (same.status_code, same.json()["code"]) == (409, "sender_exists")
    reader = await project.key("domains:read")
    assert (await reader.get("/senders")).json() == [sender]
    calls = [("POST", "/senders"), ("POST", f"/senders/{sender['id']}/resend"), ("DELETE", f"/senders/{sender['id']}")]
    for method, path in [*calls, ("POST", f"/senders/{sender['id']}/verify")]:
        refused = await reader.request(method, path, json={"email": unique(), "token": "x"})
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_missing"), path
    other = await project.key("emails:send")
    assert (await other.get("/senders")).status_code == 403
    for _ in range(3):
        assert (await project.client.post(f"/senders/{sender['id']}/resend")).status_code == 200
    pestered = await project.client.post(f"/senders/{sender['id']}/resend")
    assert (pestered.status_code, "Retry-After" in pestered.headers) == (429, True)


async def test_a_project_has_at_most_twenty_senders(project, world):
    """Defects: N6"""
    async with world.db.connection() as connection:
        await connection.execute(
            "insert into senders (project_id, id, email, status, token_hash, token_expires_at, created_at, updated_at)"
            " select %s, gen_random_uuid(), n || '@single.example', 'PENDING', '', now(), now(), now()"
            " from generate_series(1, 20) n",
            [project.id],
        )
    refused = await project.client.post("/senders", {"email": unique()})
    assert (refused.status_code, refused.json()["code"]) == (422, "too_many_senders")
    assert len((await project.client.get("/senders")).json()) == 20


async def test_the_spf_record_authorises_the_relay_of_the_project(project, zone):
    """Defects: N6"""
    name = f"{uuid4().hex[:12]}.example"
    hosts = ["email-smtp.eu-west-1.amazonaws.com", "smtp.relay.example", "2a00:1450:400c::25"]
    relays = [{"host": host} for host in hosts]
    assert (await project.developer.patch("", {"settings": {"relays": relays}})).status_code == 200
    domain = (await project.client.post("/domains", {"domain": name})).json()
    (record,) = [each for each in domain["records"] if each["purpose"] == "SPF"]
    assert record["value"] == "v=spf1 include:amazonses.com a:smtp.relay.example ip6:2a00:1450:400c::25 ~all"
    zone.set("amazonses.com", "TXT", "v=spf1 ip4:192.0.2.7 -all")
    zone.set("smtp.relay.example", "A", "192.0.2.8")
    publish(zone, domain)
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert seen["spfVerified"], seen["records"]
