"""The outcome of each recipient of a message to several, including suppressed ones."""

from datetime import timedelta
from uuid import uuid4

from tests.messaging.emails.test_relay import MAIL, entry, sender, sink

__all__ = ["sender", "sink"]


def message(*to):
    return {**MAIL, "to": list(to), "cc": None, "bcc": None, "unsubscribable": False}


def outcomes(log):
    return {each["email"].partition("-")[0]: each["status"] for each in log["recipients"]}


async def test_suppressed_recipients_are_in_the_log_the_attempt_and_an_event(sender, sink):
    """Defects: M7"""
    mark = uuid4().hex[:8]
    suppressed, good = f"gone-{mark}@example.org", f"good-{mark}@example.org"
    await sender.client.post("/suppressions", {"address": suppressed, "reason": "BOUNCE"})
    sent = (await sender.client.post("/emails", message(suppressed, good))).json()
    log = await entry(sender, sent["id"])
    assert (log["status"], outcomes(log)) == ("SENT", {"gone": "SUPPRESSED", "good": "SENT"})
    assert suppressed in log["reason"]
    assert [each.recipients for each in sink.messages] == [(good,)]
    (attempt,) = (await sender.client.get(f"/emails/logs/{sent['id']}/attempts")).json()
    assert {each["recipient"]: each["result"] for each in attempt["results"]} == {
        suppressed: "SUPPRESSED",
        good: "ACCEPTED",
    }
    (event,) = (await sender.client.get("/events?type=email.suppressed")).json()["data"]
    assert (event["data"]["emailId"], event["data"]["recipient"]) == (sent["id"], suppressed)


async def test_each_recipient_has_an_outcome_over_several_attempts(sender, sink, clock, work_off):
    """Defects: M7"""
    mark = uuid4().hex[:8]
    body = message(f"permfail-{mark}@example.org", f"good-{mark}@example.org")
    body["cc"], body["bcc"] = [f"tempfail-{mark}@example.org"], [f"gone-{mark}@example.org"]
    await sender.client.post("/suppressions", {"address": f"gone-{mark}@example.org"})
    sent = (await sender.client.post("/emails", body)).json()
    log = await entry(sender, sent["id"])
    expected = {"permfail": "BOUNCED", "good": "SENT", "tempfail": "DELAYED", "gone": "SUPPRESSED"}
    assert (log["status"], outcomes(log)) == ("DELAYED", expected)
    assert [each["field"] for each in log["recipients"]] == ["to", "to", "cc", "bcc"]
    await sender.client.post("/suppressions", {"address": f"tempfail-{mark}@example.org"})
    clock.move(timedelta(hours=1))
    await work_off()
    log = await entry(sender, sent["id"])
    assert (log["status"], outcomes(log)) == ("SENT", {**expected, "tempfail": "SUPPRESSED"})
    told = (await sender.client.get("/events?type=email.suppressed")).json()["data"]
    assert sorted(each["data"]["recipient"].partition("-")[0] for each in told) == ["gone", "tempfail"]


async def test_a_send_to_one_address_has_the_outcome_of_its_recipient(sender):
    """Defects: M7"""
    gone = f"gone-{uuid4().hex[:8]}@example.org"
    await sender.client.post("/suppressions", {"address": gone})
    sent = (await sender.client.post("/emails", message(gone))).json()
    log = await entry(sender, sent["id"])
    assert [(each["email"], each["status"]) for each in log["recipients"]] == [(gone, "SUPPRESSED")]
    (event,) = (await sender.client.get("/events?type=email.suppressed")).json()["data"]
    assert event["data"]["recipient"] == gone
