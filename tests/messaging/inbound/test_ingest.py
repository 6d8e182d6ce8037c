"""Reports through the API, for servers whose mail arrives elsewhere."""

import pytest

from tests.messaging.emails.test_relay import entry, sender, sink
from tests.messaging.inbound.test_receiving import (
    complaint,
    dsn,
    events_of,
    send_one,
    settings,
    suppression_reason,
)
from tests.protocols.aws.test_ses_events import bounce, event
from tests.protocols.aws.test_ses_mail import mail_of

__all__ = ["sender", "settings", "sink"]

RFC822 = {"content-type": "message/rfc822"}


async def ingest(client, content):
    response = await client.post("/inbound/reports", content=content, headers=RFC822)
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_bounce_through_the_api(sender, sink):
    sent, address, return_path, raw = await send_one(sender, sink)
    report = dsn(address, raw).replace(b"To: <>", f"To: {return_path}".encode())
    for result in ("applied", "unchanged"):
        receipt = await ingest(sender.client, report)
        assert receipt == {
            "type": "delivery",
            "emailId": sent["id"],
            "results": [{"kind": "BOUNCED", "recipient": address, "result": result}],
            "reportId": None,
            "reason": None,
        }
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"
    assert await suppression_reason(sender, address) == "BOUNCE"
    assert len(await events_of(sender, sent, "email.bounced")) == 1


async def test_the_email_is_found_by_its_message_id(sender, sink):
    sent, address, _, raw = await send_one(sender, sink)
    assert (await ingest(sender.client, dsn(address, raw)))["emailId"] == sent["id"]
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"


async def test_a_complaint_through_the_api(sender, sink):
    _, address, return_path, _ = await send_one(sender, sink)
    receipt = await ingest(sender.client, complaint(address, return_path))
    assert (receipt["type"], receipt["results"][0]["kind"]) == ("complaint", "COMPLAINED")
    assert await suppression_reason(sender, address) == "COMPLAINT"


async def test_a_notification_of_ses_by_mail_through_the_api(sender, sink, new_project):
    sent, address, return_path, _ = await send_one(sender, sink)
    for source, type_ in (("b-1-forged@bounce.post.example", "unrecognized"), (return_path, "delivery")):
        details = bounce(emailAddress=address, status="5.1.1", diagnosticCode="smtp; 550 5.1.1 user unknown")
        notification = mail_of(event("Bounce", details, mail={"source": source}))
        assert (await ingest(sender.client, notification))["type"] == type_
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"
    assert await suppression_reason(sender, address) == "BOUNCE"


async def test_reports_about_mail_of_another_project_change_nothing(sender, sink, new_project):
    sent, address, return_path, raw = await send_one(sender, sink)
    other = await new_project()
    report = dsn(address, raw).replace(b"To: <>", f"To: {return_path}".encode())
    receipt = await ingest(other.client, report)
    assert (receipt["type"], receipt["emailId"]) == ("unrecognized", None)
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    assert [kept["id"] for kept in (await other.client.get("/inbound/reports")).json()] == [receipt["reportId"]]
    assert (await sender.client.get("/inbound/reports")).json() == []


@pytest.mark.parametrize("content", [b"what?", b"\0" * 1_000, b"\xff\xfe", b"Subject: Hello\r\n\r\nHello"])
async def test_other_messages_are_kept(project, content):
    receipt = await ingest(project.client, content)
    assert (receipt["type"], receipt["results"]) == ("unrecognized", [])
    kept = await project.client.get(f"/inbound/reports/{receipt['reportId']}/message")
    assert kept.content == content


async def test_a_vacation_notice_is_recognized(sender, sink):
    sent, _, return_path, _ = await send_one(sender, sink)
    notice = f"From: a@b.c\r\nTo: {return_path}\r\nSubject: Out of office\r\nAuto-Submitted: auto-replied\r\n\r\nHi"
    receipt = await ingest(sender.client, notice.encode())
    assert (receipt["type"], receipt["emailId"], receipt["reportId"]) == ("automatic_reply", sent["id"], None)


async def test_bodies_that_are_no_message(project):
    assert (await project.client.post("/inbound/reports", content=b"", headers=RFC822)).status_code == 400
    large = b"x" * 10_000_001
    assert (await project.client.post("/inbound/reports", content=large, headers=RFC822)).status_code == 413


async def test_permissions(project):
    reader, writer = await project.key("emails:read"), await project.key("emails:write")
    assert (await reader.post("/inbound/reports", content=b"x", headers=RFC822)).status_code == 403
    assert (await writer.post("/inbound/reports", content=b"x", headers=RFC822)).status_code == 200
    assert (await reader.get("/inbound/reports")).status_code == 200
    assert (await writer.get("/inbound/reports")).status_code == 403
