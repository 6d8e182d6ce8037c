"""Notifications of SES: posted by SNS, verified with a certificate that is served over HTTPS on loopback."""

import json
import ssl
from datetime import timedelta
from uuid import UUID

import msgspec
import pytest

from postern.kernel.limits import RateLimiter
from postern.kernel.outbound.client import default_tls
from postern.messaging.emails.rules import send_reference
from postern.messaging.emails.ses_notifications import CERTIFICATE_RATE, MAX_AGE, MAX_AHEAD
from tests.conftest import Client
from tests.kernel.test_outbound import create_certificate
from tests.messaging.emails.test_relay import entry, sender, sink
from tests.messaging.emails.test_signals import event_types, new_address, send_to, suppression_of
from tests.messaging.emails.unprocessed_reports import kept_reports, unprocessed
from tests.peers.http_receiver import Reply, http_receiver
from tests.peers.sns_topic import CERTIFICATE_PATH, HOST, SnsTopic

__all__ = ["sender", "sink"]

SERVER = "http://postern.test/ses/notifications"


@pytest.fixture(scope="module")
def tls(tmp_path_factory):
    """The TLS contexts of the host of SNS and of a client that trusts it."""
    folder = tmp_path_factory.mktemp("sns")
    certificate, key = create_certificate(HOST)
    (folder / "cert.pem").write_bytes(certificate)
    (folder / "key.pem").write_bytes(key)
    server, client = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER), default_tls()
    server.load_cert_chain(folder / "cert.pem", folder / "key.pem")
    client.load_verify_locations(folder / "cert.pem")
    return server, client


@pytest.fixture
async def sns(tls, zone, world):
    """The HTTPS server of SNS."""
    zone.set(HOST, "A", "127.0.0.1")
    async with http_receiver(tls=tls[0]) as receiver:
        world.outbound._tls = tls[1]
        yield receiver


@pytest.fixture
def topic(sns, world):
    """A topic that the server accepts."""
    topic = SnsTopic(sns.port)
    sns.script(CERTIFICATE_PATH, Reply(body=topic.certificate))
    world.settings = msgspec.structs.replace(world.settings, ses_topics=(topic.arn,))
    return topic


@pytest.fixture
def post(stranger, topic, clock):
    """Posts a message as SNS does; content that is no string is a notification's."""

    async def post(message, *, path=SERVER, **fields):
        if not isinstance(message, bytes):
            signed = "Signature" in message
            message = json.dumps(message if signed else topic.message(message, at=clock(), **fields)).encode()
        return await stranger.request(
            "POST", path, content=message, headers={"content-type": "text/plain; charset=UTF-8"}
        )

    return post


@pytest.fixture
def event(sender, world):
    """The event of a send."""

    def event(sent, type_, details, *, reference=None):
        reference = reference or send_reference(world.secrets, UUID(sender.id), UUID(sent["id"]))
        key = type_[0].lower() + type_[1:]
        return {"eventType": type_, key: details, "mail": {"tags": {"postern-send": [reference]}}}

    return event


def bounce_of(address, type_="Permanent", **recipient):
    return {
        "bounceType": type_,
        "bounceSubType": "General",
        "bouncedRecipients": [{"emailAddress": address, **recipient}],
    }


def complaint_of(address):
    return {"complainedRecipients": [{"emailAddress": address}], "complaintFeedbackType": "abuse"}


def delivery_of(address):
    return {"recipients": [address], "smtpResponse": "250 2.0.0 OK"}


@pytest.mark.parametrize("version", ["1", "2"])
async def test_a_permanent_bounce_suppresses_the_recipient(sender, post, event, version):
    address = new_address()
    sent = await send_to(sender, address)
    response = await post(event(sent, "Bounce", bounce_of(address)), version=version)
    assert (response.status_code, response.content) == (204, b"")
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"
    suppression = await suppression_of(sender, address)
    assert (suppression["reason"], suppression["source"]) == ("BOUNCE", "ses")


async def test_a_transient_bounce_does_not_suppress_the_recipient(sender, post, event):
    address = new_address()
    sent = await send_to(sender, address)
    assert (await post(event(sent, "Bounce", bounce_of(address, "Transient")))).status_code == 204
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"
    assert await suppression_of(sender, address) is None


async def test_events_in_any_order_and_repeated_give_the_same_state(sender, post, event):
    address = new_address()
    sent = await send_to(sender, address)
    delivery, complaint = event(sent, "Delivery", delivery_of(address)), event(sent, "Complaint", complaint_of(address))
    for content in (complaint, delivery, complaint, delivery):
        assert (await post(content)).status_code == 204
    assert (await entry(sender, sent["id"]))["status"] == "COMPLAINED"
    assert (await suppression_of(sender, address))["reason"] == "COMPLAINT"
    assert await event_types(sender, sent) == ["queued", "sent", "complained"]


async def test_a_repeated_message_changes_nothing(sender, post, event, topic, clock):
    address = new_address()
    sent = await send_to(sender, address)
    message = topic.message(event(sent, "Bounce", bounce_of(address)), at=clock())
    for _ in range(3):
        assert (await post(message)).status_code == 204
    assert (await event_types(sender, sent)).count("bounced") == 1


async def test_a_delivery_and_a_delay_are_recorded(sender, post, event):
    address = new_address()
    sent = await send_to(sender, address)
    delayed = {"delayType": "General", "delayedRecipients": [{"emailAddress": address, "status": "4.4.1"}]}
    assert (await post(event(sent, "DeliveryDelay", delayed))).status_code == 204
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    assert (await post(event(sent, "Delivery", delivery_of(address)))).status_code == 204
    assert (await entry(sender, sent["id"]))["status"] == "DELIVERED"
    assert await event_types(sender, sent) == ["queued", "sent", "delayed", "delivered"]


async def test_a_feedback_notification_without_tags_is_attributed_by_its_header(sender, post, event):
    address = new_address()
    sent = await send_to(sender, address)
    content = event(sent, "Bounce", bounce_of(address))
    (reference,) = content["mail"].pop("tags")["postern-send"]
    content["notificationType"] = content.pop("eventType")
    content["mail"]["headers"] = [{"name": "X-Postern-Send", "value": reference}]
    assert (await post(content)).status_code == 204
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"


async def test_forged_messages_are_refused(sender, post, event, topic, clock, sns):
    address = new_address()
    sent = await send_to(sender, address)
    content = event(sent, "Bounce", bounce_of(address))
    good = topic.message(content, at=clock())
    forger = SnsTopic(sns.port)
    forgeries = [
        {**good, "Message": good["Message"] + " "},
        {**good, "Signature": "AAAA"},
        forger.message(content, at=clock()),
        {**good, "SignatureVersion": "1"},
        {**good, "SigningCertURL": "https://sns.eu-central-1.evil.example/SimpleNotificationService-1.pem"},
    ]
    for forged in forgeries:
        response = await post(forged)
        assert (response.status_code, response.json()["code"]) == (400, "notification_refused"), forged
    assert (await entry(sender, sent["id"]))["status"] == "SENT"


async def test_messages_of_another_topic_are_refused_without_fetching_a_certificate(post, sns, clock):
    foreign = SnsTopic(sns.port, name="foreign")
    assert (await post(foreign.message({}, at=clock()))).status_code == 400
    assert (await post(foreign.confirmation(at=clock()))).status_code == 400
    assert sns.requests == []


@pytest.mark.parametrize(
    ("offset", "status"),
    [
        (-MAX_AGE - timedelta(seconds=1), 400),
        (-MAX_AGE + timedelta(seconds=1), 204),
        (MAX_AHEAD - timedelta(seconds=1), 204),
        (MAX_AHEAD + timedelta(seconds=1), 400),
    ],
)
async def test_the_age_of_messages_is_limited(post, topic, clock, offset, status):
    assert (await post(topic.message({"eventType": "Send"}, at=clock() + offset))).status_code == status


async def test_a_reference_that_this_server_did_not_sign_changes_nothing(sender, post, event, world):
    address = new_address()
    sent = await send_to(sender, address)
    signed = event(sent, "Bounce", bounce_of(address))["mail"]["tags"]["postern-send"][0]
    for reference in (signed[:-1] + ("A" if signed[-1] != "A" else "B"), "", "x-y-z", "-" * 200, f"{sent['id']}--"):
        content = event(sent, "Bounce", bounce_of(address), reference=reference or "x")
        assert (await post(content)).status_code == 204
    assert (await entry(sender, sent["id"]))["status"] == "SENT"


async def test_a_subscription_is_confirmed_only_for_the_configured_topic(post, topic, sns, clock):
    assert (await post(topic.confirmation(at=clock()))).status_code == 204
    assert [request.path for request in sns.requests] == [CERTIFICATE_PATH, "/confirm"]
    assert f"TopicArn={topic.arn}" in sns.requests[1].target
    unsubscribed = topic.confirmation(at=clock(), Type="UnsubscribeConfirmation")
    assert (await post(unsubscribed)).status_code == 204
    assert len(sns.requests) == 2


async def test_sns_repeats_a_confirmation_that_failed(post, topic, sns, clock):
    sns.script("/confirm", Reply(status=500), Reply())
    message = topic.confirmation(at=clock())
    response = await post(message)
    assert (response.status_code, response.json()["code"]) == (503, "notification_not_processed")
    assert (await post(message)).status_code == 204


async def test_the_certificate_is_fetched_once_and_again_after_a_failure(post, topic, sns):
    sns.script(CERTIFICATE_PATH, Reply(status=500), Reply(body=topic.certificate))
    assert (await post({"eventType": "Send"})).status_code == 503
    for _ in range(3):
        assert (await post({"eventType": "Send"})).status_code == 204
    assert len(sns.received(CERTIFICATE_PATH)) == 2


@pytest.fixture
def constant_limits(world):
    """The limits of rates do not recover during a test, however slow the machine is."""
    world.limiter = RateLimiter(clock=lambda: 0.0)


@pytest.mark.usefixtures("constant_limits")
async def test_certificates_are_fetched_at_a_limited_rate(post, topic, sns):
    sns.script(CERTIFICATE_PATH, Reply(body=b"no certificate"))
    statuses = [(await post({"eventType": "Send"})).status_code for _ in range(CERTIFICATE_RATE.quota + 2)]
    assert statuses == [400] * CERTIFICATE_RATE.quota + [429] * 2


@pytest.mark.usefixtures("constant_limits")
async def test_forged_messages_of_others_do_not_stop_those_of_sns(app, sender, new_project, post, event, topic, clock):
    """Nothing is signed yet when the certificate is fetched, and each project names its topics itself."""
    url = f"{topic.base}/SimpleNotificationService-0.pem"
    forged = {**topic.message({"eventType": "Send"}, at=clock()), "SigningCertURL": url}
    other = await new_project()
    ses = {
        "region": "eu-central-1",
        "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
        "secretAccessKey": "secret",
        "topics": [topic.arn],
    }
    assert (await other.developer.patch("", {"settings": {"ses": ses}})).status_code == 200
    for path in (f"http://postern.test/projects/{other.id}/ses/notifications", SERVER):
        attacker = Client(app, ip="203.0.113.9")
        for _ in range(CERTIFICATE_RATE.quota + 1):
            refused = await attacker.request("POST", path, content=json.dumps(forged))
        assert refused.status_code == 429
    address = new_address()
    sent = await send_to(sender, address)
    assert (await post(event(sent, "Bounce", bounce_of(address)))).status_code == 204


async def test_a_message_that_is_being_transmitted_is_reported_again_later(sender, post, event, world):
    address = new_address()
    sent = await send_to(sender, address)
    async with world.db.connection() as connection:
        await connection.execute(
            "update sends set status = 'QUEUED', sent_at = null, attempt = 2, handed_over = 2 where id = %s",
            [sent["id"]],
        )
    # SNS repeats a message after a status 503, but not after a 409.
    assert (await post(event(sent, "Delivery", delivery_of(address)))).status_code == 503


@pytest.mark.parametrize(
    "content",
    ["Successfully validated SNS topic for Amazon SES event publishing.", '{"eventType": "Open"}'],
)
async def test_contents_that_change_nothing_are_accepted(post, stranger, content):
    before = await unprocessed(stranger)
    assert (await post(content)).status_code == 204
    assert await unprocessed(stranger) == before


@pytest.mark.parametrize("content", ["[]", "{}", "hello", "[" * 200_000, '{"eventType": 1}'])
async def test_unreadable_contents_are_acknowledged_counted_and_kept(post, stranger, topic, database_url, content):
    before = await unprocessed(stranger)
    assert (await post(content)).status_code == 204
    assert await unprocessed(stranger) - before == {"ses": 1}
    first, second = kept_reports(database_url)[:2]
    assert first.endswith(f"{len(content):,} octets")
    assert topic.arn in second


@pytest.mark.parametrize("body", [b"", b"{}", b"[[[[", b"\xff\xfe", b'{"Type": "Notification"}', b"[" * 200_000])
async def test_other_bodies_are_refused(post, body):
    assert (await post(body)).status_code == 400


async def test_large_bodies_are_refused(post):
    assert (await post(b"x" * 2_000_000)).status_code == 413


async def test_without_topics_everything_is_refused(post, topic, clock, world):
    message = topic.message({"eventType": "Send"}, at=clock())
    world.settings = msgspec.structs.replace(world.settings, ses_topics=())
    assert (await post(message)).status_code == 400


async def test_the_topic_of_a_project_concerns_only_its_own_messages(sender, new_project, post, event, sns, clock):
    own = SnsTopic(sns.port, name="own")
    sns.script(CERTIFICATE_PATH, Reply(body=own.certificate))
    other = await new_project()
    ses = {
        "region": "eu-central-1",
        "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
        "secretAccessKey": "secret",
        "topics": [own.arn],
    }
    for project in (sender, other):
        changed = await project.developer.patch("", {"settings": {"ses": ses}})
        assert changed.status_code == 200, changed.text
    address = new_address()
    sent = await send_to(sender, address)
    message = own.message(event(sent, "Bounce", bounce_of(address)), at=clock())
    assert (await post(message, path=f"/projects/{other.id}/ses/notifications")).status_code == 204
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    assert (await post(message)).status_code == 400
    assert (await post(message, path=f"/projects/{sender.id}/ses/notifications")).status_code == 204
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"
    unknown = "/projects/0199f1a2-7c00-7000-8000-000000000000/ses/notifications"
    assert (await post(message, path=unknown)).status_code == 404
