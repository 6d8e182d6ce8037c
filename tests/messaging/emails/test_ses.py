"""End to end: mail of projects goes through Amazon SES (moto), and to another transport if SES cannot be reached."""

import asyncio
import email.policy
import re
from datetime import timedelta
from types import SimpleNamespace
from uuid import UUID

import dkim
import msgspec
import pytest

from postern.messaging.emails.rules import read_reference
from postern.messaging.emails.sites import Sites
from postern.messaging.emails.transports import NoSesAccount, transport_of
from postern.platform.projects import operations as projects
from postern.protocols.mail.transports.failover import FailoverTransport
from tests.messaging.emails.test_direct import sender
from tests.messaging.emails.test_relay import MAIL, entry, published_keys
from tests.peers.moto_server import REGION
from tests.peers.ports import reserved_port
from tests.peers.smtp_sink import Sink
from tests.protocols.mail.test_ses import ACCEPTED, SesFaults, reply

__all__ = ["sender"]

OWN = {
    "region": "eu-west-1",
    "accessKeyId": "AKIAIOSFODNN7EXAMPLE",
    "secretAccessKey": "the secret of the access key",
    "configurationSet": "own",
    "topics": ["arn:aws:sns:eu-west-1:123456789012:mail"],
}


def with_ses(settings, url, **more):
    return msgspec.structs.replace(
        settings,
        transport="ses",
        ses_region=REGION,
        ses_access_key_id="AKIDEXAMPLE",
        ses_secret_access_key="secret",
        ses_endpoint=url,
        **more,
    )


@pytest.fixture
def settings(settings, moto):
    moto.reset()
    moto.verify("example.com")
    return with_ses(settings, moto.url)


async def attempts_of(project, sent):
    return (await project.client.get(f"/emails/logs/{sent['id']}/attempts")).json()


async def test_a_message_arrives_at_ses(sender, moto, world):
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "SENT"
    (message,) = moto.messages
    assert {"ada@example.org", "bob@example.org", "secret@example.org"} <= message.recipients
    assert b"secret@" not in message.raw
    parsed = email.message_from_bytes(message.raw, policy=email.policy.default)
    assert parsed["Subject"] == "Hello Zoë 🎉"
    assert parsed["From"].addresses[0].addr_spec == "hello@example.com"
    reference = read_reference(world.secrets, parsed["X-Postern-Send"])
    assert [str(part) for part in reference] == [sender.id, sent["id"]]
    (attempt,) = await attempts_of(sender, sent)
    assert (attempt["outcome"], attempt["transport"]) == ("ACCEPTED", "ses")
    assert attempt["host"] == moto.url.removeprefix("http://")
    assert message.id in attempt["results"][0]["text"]
    assert attempt["dialogue"][0] == "C: POST /v2/email/outbound-emails HTTP/1.1"
    assert any(message.id in line for line in attempt["dialogue"])
    assert not re.search("AKID|Signature|Authorization", str(attempt))


async def test_the_signature_is_valid_after_ses_replaced_date_and_message_id(sender, moto, world):
    await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})
    (message,) = moto.messages
    assert message.raw.count(b"DKIM-Signature:") == 1
    rewritten = re.sub(rb"\r\nDate: [^\r]*", b"\r\nDate: Mon, 05 Jan 2026 00:00:00 +0000", message.raw)
    rewritten = re.sub(rb"\r\nMessage-ID: [^\r]*", b"\r\nMessage-ID: <new@eu-central-1.amazonses.com>", rewritten)
    assert rewritten != message.raw
    (key,) = await published_keys(SimpleNamespace(raw=rewritten), world)
    assert dkim.DKIM(rewritten).verify(dnsfunc=lambda *_, **__: key.encode())


async def test_a_rejection_by_ses_does_not_suppress_the_recipient(sender, moto):
    moto.reset()
    sent = (await sender.client.post("/emails", {**MAIL, "cc": None, "bcc": None})).json()
    assert sent["status"] == "BOUNCED"
    (attempt,) = await attempts_of(sender, sent)
    assert attempt["outcome"] == "REJECTED"
    assert "MessageRejected" in attempt["results"][0]["text"]
    assert (await sender.client.get("/suppressions")).json()["data"] == []


async def test_a_message_that_requires_tls_does_not_go_to_ses(sender, moto):
    """SES cannot promise TLS on the rest of the way."""
    sent = (await sender.client.post("/emails", {**MAIL, "requireTls": True})).json()
    log = (await sender.client.get(f"/emails/logs/{sent['id']}")).json()
    assert (log["status"], "5.7.30" in log["reason"]) == ("BOUNCED", True)
    assert moto.messages == []
    assert (await sender.client.get("/suppressions")).json()["total"] == 0


async def test_if_ses_cannot_be_reached_the_relay_takes_the_message(sender, world):
    async with Sink() as sink:
        with reserved_port() as closed:
            url = f"http://127.0.0.1:{closed.getsockname()[1]}"
            relay = f"smtp://127.0.0.1:{sink.port}?tls=none"
            world.settings = with_ses(world.settings, url, relay=relay, fallback_transports=("relay",))
            sent = (await sender.client.post("/emails", MAIL)).json()
        assert sent["status"] == "SENT"
        assert len(sink.messages) == 1
        (attempt,) = await attempts_of(sender, sent)
        assert (attempt["transport"], attempt["host"]) == ("relay", f"127.0.0.1:{sink.port}")


async def test_if_the_relay_is_down_ses_takes_the_message_of_a_project(sender, world, moto):
    with reserved_port() as closed:
        relays = [{"host": "127.0.0.1", "port": closed.getsockname()[1], "tls": "none"}]
        change = {"transport": "relay", "relays": relays, "fallbackTransports": ["ses"]}
        changed = await sender.developer.patch("", {"settings": change})
        assert changed.status_code == 200, changed.text
        sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "SENT"
    assert len(moto.messages) == 1
    (attempt,) = await attempts_of(sender, sent)
    assert attempt["transport"] == "ses"


async def test_an_ambiguous_message_is_not_passed_to_the_next_transport(sender, world):
    async def drop(reader, writer):
        head = await reader.readuntil(b"\r\n\r\n")
        await reader.readexactly(int(re.search(rb"content-length: (\d+)", head, re.IGNORECASE)[1]))
        writer.transport.abort()

    server = await asyncio.start_server(drop, "127.0.0.1", 0)
    async with Sink() as sink:
        url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
        relay = f"smtp://127.0.0.1:{sink.port}?tls=none"
        world.settings = with_ses(world.settings, url, relay=relay, fallback_transports=("relay",))
        sent = (await sender.client.post("/emails", MAIL)).json()
        assert sent["status"] == "DELAYED"
        assert sink.messages == []
    server.close()
    (attempt,) = await attempts_of(sender, sent)
    assert (attempt["outcome"], attempt["transport"]) == ("AMBIGUOUS", "ses")
    assert (await entry(sender, sent["id"]))["status"] == "DELAYED"


@pytest.fixture
async def faults(world):
    """A server that replies as SES, whose replies a test sets."""
    server_state = SesFaults()
    server = await asyncio.start_server(server_state.serve, "127.0.0.1", 0, limit=2**20)
    server_state.port = server.sockets[0].getsockname()[1]
    world.settings = with_ses(world.settings, f"http://127.0.0.1:{server_state.port}")
    yield server_state
    server.close()


@pytest.mark.parametrize(
    ("answer", "pause"),
    [
        (reply(429, "TooManyRequestsException", "Maximum sending rate exceeded."), timedelta(seconds=5)),
        (reply(429, "TooManyRequestsException", "Daily message quota exceeded."), timedelta(minutes=10)),
        (reply(400, "SendingPausedException", "Paused."), timedelta(minutes=10)),
        (reply(503, "", "", "Retry-After: 90\r\n"), timedelta(seconds=90)),
    ],
)
async def test_all_processes_send_less_to_ses_when_it_throttles(
    sender, faults, world, clock, monkeypatch, answer, pause
):
    first, second = Sites(world), Sites(world)
    monkeypatch.setitem(world.resources, Sites, second)
    of_second = second.of_ses("127.0.0.1", f"127.0.0.1:{faults.port}", "")
    await of_second.prepare()
    monkeypatch.setitem(world.resources, Sites, first)
    mail = {**MAIL, "cc": None, "bcc": None}
    assert (await sender.client.post("/emails", mail)).json()["status"] == "SENT"
    faults.replies = [answer, ACCEPTED]
    assert (await sender.client.post("/emails", mail)).json()["status"] == "DELAYED"
    await world.run_in_background.wait(5)
    requests = len(faults.heads)
    waiting = (await sender.client.post("/emails", mail)).json()
    log = await entry(sender, waiting["id"])
    assert (log["status"], log["waiting"]["cause"]) == ("QUEUED", "SITE_SLOWED")
    assert len(faults.heads) == requests
    await first.update()
    await second.update()
    for process, control in ((first, first.of_ses("127.0.0.1", of_second.key.name, "")), (second, of_second)):
        assert control.factor == 0.5, process
        assert control.most_connections(10) == 5
        left = control.obstacle(sender.id, bulk=False).delay
        assert pause - timedelta(seconds=3) < left <= pause
    site = (await sender.client.get(f"/delivery/sites/{of_second.key.name}")).json()
    assert (site["transport"], site["state"], site["deferred"]) == ("ses", "SLOWED", 1)
    clock.move(pause)
    assert (await sender.client.post("/emails", mail)).json()["status"] == "SENT"
    await second.aclose()


async def test_the_own_account_of_a_project_is_used_and_its_secret_is_never_returned(project, world):
    changed = await project.developer.patch("", {"settings": {"transport": "ses", "ses": OWN}})
    assert changed.status_code == 200, changed.text
    shown = {**OWN, "secretAccessKey": "********", "forwardFeedback": False}
    assert changed.json()["settings"]["ses"] == shown
    assert (await project.developer.get("")).json()["settings"]["ses"] == shown
    stored = await projects.require_project(world.db, project_id_of(changed))
    assert OWN["secretAccessKey"] not in str(stored)
    account = transport_of(world, stored.id, stored.settings)._queue._account
    assert account.credentials.secret_access_key == OWN["secretAccessKey"]
    assert account.url == "https://email.eu-west-1.amazonaws.com"
    assert account.configuration_set == "own"
    # A change without the secret keeps it, and closes the former transport.
    again = {**shown, "region": "us-east-1"}
    assert (await project.developer.patch("", {"settings": {"ses": again}})).status_code == 200
    stored = await projects.require_project(world.db, stored.id)
    account = transport_of(world, stored.id, stored.settings)._queue._account
    assert (account.credentials.secret_access_key, account.region) == (OWN["secretAccessKey"], "us-east-1")
    assert len([key for key in world.transports if key.startswith(f"ses:{stored.id}")]) == 1


def project_id_of(response):
    return UUID(response.json()["id"])


@pytest.mark.parametrize(
    ("change", "path"),
    [
        ({"ses": {**OWN, "region": "eu-west-1.evil.example"}}, "/settings/ses/region"),
        ({"ses": {**OWN, "region": "127.0.0.1:1/"}}, "/settings/ses/region"),
        ({"ses": {**OWN, "endpoint": "http://127.0.0.1"}}, "/settings/ses"),
        ({"ses": {**OWN, "secretAccessKey": "********"}}, "/settings/ses/secretAccessKey"),
        ({"ses": {**OWN, "secretAccessKey": "x" * 129}}, "/settings/ses/secretAccessKey"),
        ({"ses": {**OWN, "secretAccessKey": "ü" * 20}}, "/settings/ses/secretAccessKey"),
        ({"ses": {**OWN, "configurationSet": "a b"}}, "/settings/ses/configurationSet"),
        ({"ses": {**OWN, "topics": ["arn:aws:sqs:eu-west-1:123456789012:q"]}}, "/settings/ses/topics/0"),
        ({"ses": {**OWN, "accessKeyId": "key\r\nX: y"}}, "/settings/ses/accessKeyId"),
        ({"transport": "ses", "fallbackTransports": ["ses"]}, "/settings/fallbackTransports"),
        ({"transport": "capture", "fallbackTransports": ["ses"]}, "/settings/fallbackTransports"),
        ({"transport": "ses", "fallbackTransports": ["relay"]}, "/settings/relays"),
        ({"fallbackTransports": ["capture"]}, "/settings/fallbackTransports/0"),
    ],
)
async def test_invalid_settings_are_refused(project, change, path):
    response = await project.developer.patch("", {"settings": change})
    assert response.status_code in (400, 422), response.text
    assert any(error["path"].startswith(path) for error in response.json()["errors"]), response.text


async def test_without_an_account_the_request_says_so(sender, world):
    await sender.developer.patch("", {"settings": {"transport": "ses"}})
    world.settings = msgspec.structs.replace(world.settings, ses_region=None)
    response = await sender.client.post("/emails", MAIL)
    assert (response.status_code, response.json()["code"]) == (503, "no_ses_account")
    stored = await projects.require_project(world.db, project_id_of(await sender.developer.get("")))
    with pytest.raises(NoSesAccount):
        transport_of(world, stored.id, stored.settings)


async def test_a_transport_that_is_not_configured_is_left_out(sender, world, moto):
    world.settings = msgspec.structs.replace(world.settings, relay=None, fallback_transports=("relay",))
    sent = (await sender.client.post("/emails", MAIL)).json()
    assert sent["status"] == "SENT"
    assert len(moto.messages) == 1
    assert not any(isinstance(transport, FailoverTransport) for transport in world.transports.values())
