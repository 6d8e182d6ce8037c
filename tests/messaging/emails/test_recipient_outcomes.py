"""The outcome of each recipient of a message to several, including suppressed ones."""

from datetime import timedelta
from uuid import uuid4

from tests.messaging.emails.test_relay import MAIL, entry, sender, sink

__all__ = ["sender", "sink"]


def mail_to(*to):
    return {**MAIL, "to": list(to), "cc": None, "bcc": None, "unsubscribable": False}


def outcomes(log):
    return {recipient["email"].partition("-")[0]: recipient["status"] for recipient in log["recipients"]}


async def test_suppressed_recipients_are_in_the_log_the_attempt_and_an_event(sender, sink):
    """Regression test of M7 (tests/defects.md)."""
    suffix = uuid4().hex[:8]
    suppressed, good = f"gone-{suffix}@example.org", f"good-{suffix}@example.org"
    await sender.client.post("/suppressions", {"address": suppressed, "reason": "BOUNCE"})
    sent = (await sender.client.post("/emails", mail_to(suppressed, good))).json()
    log = await entry(sender, sent["id"])
    assert (log["status"], outcomes(log)) == ("SENT", {"gone": "SUPPRESSED", "good": "SENT"})
    assert suppressed in log["reason"]
    assert [message.recipients for message in sink.messages] == [(good,)]
    (attempt,) = (await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    assert {result["recipient"]: result["result"] for result in attempt["results"]} == {
        suppressed: "SUPPRESSED",
        good: "ACCEPTED",
    }
    (event,) = (await sender.client.get("/events?type=email.suppressed")).json()["data"]
    assert (event["data"]["emailId"], event["data"]["recipient"]) == (sent["id"], suppressed)


async def test_each_recipient_has_an_outcome_over_several_attempts(sender, sink, clock, run_due_work):
    """Regression test of M7 (tests/defects.md)."""
    suffix = uuid4().hex[:8]
    mail = mail_to(f"permfail-{suffix}@example.org", f"good-{suffix}@example.org")
    mail["cc"], mail["bcc"] = [f"tempfail-{suffix}@example.org"], [f"gone-{suffix}@example.org"]
    await sender.client.post("/suppressions", {"address": f"gone-{suffix}@example.org"})
    sent = (await sender.client.post("/emails", mail)).json()
    log = await entry(sender, sent["id"])
    expected = {"permfail": "BOUNCED", "good": "SENT", "tempfail": "DELAYED", "gone": "SUPPRESSED"}
    assert (log["status"], outcomes(log)) == ("DELAYED", expected)
    assert [recipient["field"] for recipient in log["recipients"]] == ["to", "to", "cc", "bcc"]
    await sender.client.post("/suppressions", {"address": f"tempfail-{suffix}@example.org"})
    clock.move(timedelta(hours=1))
    await run_due_work()
    log = await entry(sender, sent["id"])
    assert (log["status"], outcomes(log)) == ("SENT", {**expected, "tempfail": "SUPPRESSED"})
    events = (await sender.client.get("/events?type=email.suppressed")).json()["data"]
    assert sorted(event["data"]["recipient"].partition("-")[0] for event in events) == ["gone", "tempfail"]


async def test_a_send_to_one_address_has_the_outcome_of_its_recipient(sender):
    """Regression test of M7 (tests/defects.md)."""
    address = f"gone-{uuid4().hex[:8]}@example.org"
    await sender.client.post("/suppressions", {"address": address})
    sent = (await sender.client.post("/emails", mail_to(address))).json()
    log = await entry(sender, sent["id"])
    assert [(recipient["email"], recipient["status"]) for recipient in log["recipients"]] == [(address, "SUPPRESSED")]
    (event,) = (await sender.client.get("/events?type=email.suppressed")).json()["data"]
    assert event["data"]["recipient"] == address
