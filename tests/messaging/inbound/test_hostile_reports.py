"""Hostile values in bounces and complaints: the report is applied, and the API, events and webhooks can show it."""

import re

import pytest

from tests.messaging.emails.test_relay import entry, sender, sink
from tests.messaging.inbound.test_receiving import (
    DOMAIN,
    complaint,
    deliver,
    dsn,
    port,
    send_one,
    settings,
    suppression_reason,
)
from tests.peers.http_receiver import http_receiver

__all__ = ["port", "sender", "settings", "sink"]

CONTROL = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
TEXT = b"smtp; 550 5.1.1 No such user here"
DIAGNOSTICS = {
    "nul": b"smtp; 550 5.1.1 a\0b",
    "octets": b"smtp; 550 5.1.1 \xff\xfe\x80",
    "encoded nul": b"smtp; 550 5.1.1 =?utf-8?b?AA==?=",
    "encoded surrogate": b"smtp; 550 5.1.1 =?utf-16-le?b?ANg=?=",
    "escape sequence": b"smtp; 550 5.1.1 \x1b]0;title\x07\x1b[31m",
    "lines": b"smtp; 550 5.1.1 a\x0b\x0c\x85\xe2\x80\xa8b",
    "long": b"smtp; 550 5.1.1 " + b"x" * 900 + (b"\r\n " + b"y" * 900) * 1_000,
    "direction": "smtp; 550 5.1.1 a\u202eb\u2066c".encode(),
    "markup": b"smtp; 550 5.1.1 <script>alert(1)</script>",
    "empty": b"",
}


@pytest.mark.parametrize("name", DIAGNOSTICS)
async def test_diagnostics(sender, sink, port, run_due_work, name):
    async with http_receiver() as receiver:
        hook = {"url": receiver.url("/hook"), "events": ["email.bounced"]}
        assert (await sender.client.post("/webhooks", hook)).status_code == 201
        sent, address, return_path, raw = await send_one(sender, sink)
        assert await deliver(port, [return_path], dsn(address, raw).replace(TEXT, DIAGNOSTICS[name])) == ([250], 250)
        await run_due_work()
        (request,) = receiver.requests
    log = await entry(sender, sent["id"])
    assert log["status"] == "BOUNCED"
    assert not CONTROL.search(log["reason"])
    assert len(log["reason"]) <= 2_000
    assert request.json["data"]["text"][:500] in log["reason"]
    (report,) = (await sender.client.get(f"/emails/logs/{sent['id']}/reports")).json()
    assert report["type"] == "hard"


FIELDS = {
    "Reporting-MTA nul": b"Reporting-MTA: dns; a\0b",
    "Reporting-MTA octets": b"Reporting-MTA: dns; \xff\xfe",
    "Reporting-MTA long": b"Reporting-MTA: dns; " + b"x" * 990,
    "Remote-MTA nul": b"Remote-MTA: dns; \0",
    "Original-Envelope-Id nul": b"Original-Envelope-Id: \0\xff",
    "Arrival-Date": b"Arrival-Date: Fri, 99 Foo 99999999999999999999 99:99:99 +9999",
}


@pytest.mark.parametrize("name", FIELDS)
async def test_other_fields_of_a_bounce(sender, sink, port, name):
    sent, address, return_path, raw = await send_one(sender, sink)
    report = dsn(address, raw).replace(b"Reporting-MTA: dns; mx.example.org", FIELDS[name])
    assert await deliver(port, [return_path], report) == ([250], 250)
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"
    assert (await sender.client.get(f"/emails/logs/{sent['id']}/reports")).status_code == 200
    assert (await sender.client.get("/events")).status_code == 200


@pytest.mark.parametrize("field", [b"User-Agent", b"Arrival-Date", b"Source-IP", b"Reported-Domain"])
@pytest.mark.parametrize("value", [b"\0", b"\xff\xfe\x80", b"=?utf-16-le?b?ANg=?=", b"x" * 990])
async def test_fields_of_a_complaint(sender, sink, port, field, value):
    sent, address, return_path, _ = await send_one(sender, sink)
    report = complaint(address, return_path).replace(b"User-Agent: Provider/1", field + b": " + value)
    assert await deliver(port, [f"fbl@{DOMAIN}"], report) == ([250], 250)
    assert (await entry(sender, sent["id"]))["status"] == "COMPLAINED"
    for path in (f"/emails/logs/{sent['id']}/reports", "/inbound/reports", "/events"):
        assert (await sender.client.get(path)).status_code == 200, path


@pytest.mark.parametrize("value", ["\0", "\x1b[31m", "x" * 990, "abuse\0"])
async def test_the_type_of_a_complaint(sender, sink, port, value):
    """Only `not-spam` is no complaint; any other value is one."""
    sent, address, return_path, _ = await send_one(sender, sink)
    assert await deliver(port, [f"fbl@{DOMAIN}"], complaint(address, return_path, kind=value)) == ([250], 250)
    assert (await entry(sender, sent["id"]))["status"] == "COMPLAINED"
    assert (await sender.client.get(f"/emails/logs/{sent['id']}/reports")).status_code == 200


async def test_a_bounce_that_encloses_another_message(sender, sink, port):
    """The signed return path decides about which message it is, whatever the report says."""
    sent, address, return_path, _ = await send_one(sender, sink)
    other, other_address, other_path, other_raw = await send_one(sender, sink)
    report = dsn(other_address, other_raw).replace(b"To: <>", f"To: {other_path}".encode())
    assert await deliver(port, [return_path], report) == ([250], 250)
    assert (await entry(sender, other["id"]))["status"] == "SENT"
    assert await suppression_reason(sender, other_address) is None
    # Its only recipient may have forwarded it.
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"
    assert await suppression_reason(sender, address) == "BOUNCE"
