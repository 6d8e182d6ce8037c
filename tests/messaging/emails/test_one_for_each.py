"""An unsubscribable e-mail becomes a separate message for each recipient, with its own link."""

import re
from urllib.parse import urlsplit
from uuid import uuid4

from tests.messaging.emails.test_relay import entry, sender, sink

__all__ = ["sender", "sink"]


def mail(**fields):
    mark = uuid4().hex[:8]
    return {
        "to": [f"Ada <ada-{mark}@example.org>", f"bob-{mark}@example.org"],
        "cc": [f"cy-{mark}@example.org"],
        "bcc": [f"dan-{mark}@example.org", f"bob-{mark}@example.org"],
        "from": "hello@example.com",
        "subject": "Hello",
        "text": "Hello.",
        "unsubscribable": True,
        **fields,
    }


def link_of(message):
    return urlsplit(re.search(rb"List-Unsubscribe: <([^>]+)>", message.raw.replace(b"\r\n ", b" "))[1].decode())


async def test_each_recipient_gets_a_message_with_a_link_that_unsubscribes_them(sender, sink, stranger):
    """Defects: M12"""
    body = mail()
    answer = await sender.client.post("/emails", body)
    assert answer.status_code == 201, answer.text
    sent = answer.json()
    names = [each.partition("@")[0] for each in ("Ada <ada", "bob", "cy", "dan")]
    assert [each["to"].partition("-")[0] for each in sent["messages"]] == names
    assert (sent["id"], sent["status"]) == (sent["messages"][0]["id"], "SENT")
    assert len({each["id"] for each in sent["messages"]}) == len({each["messageId"] for each in sent["messages"]}) == 4
    assert sorted(message.recipients[0].partition("-")[0] for message in sink.messages) == ["ada", "bob", "cy", "dan"]
    assert all(len(message.recipients) == 1 for message in sink.messages)
    assert all(message.raw.count(b"@example.org") <= 2 for message in sink.messages)
    third = next(message for message in sink.messages if message.recipients[0].startswith("cy-"))
    link = link_of(third)
    assert (await stranger.post(f"{link.path}?{link.query}")).status_code == 200
    listed = (await sender.client.get("/suppressions?limit=100")).json()["data"]
    assert [each["address"] for each in listed] == [third.recipients[0]]
    again = (await sender.client.post("/emails", body)).json()
    statuses = [(await entry(sender, each["id"]))["status"] for each in again["messages"]]
    assert statuses == ["SENT", "SENT", "SUPPRESSED", "SENT"]


async def test_a_repeated_request_gets_the_same_response_and_sends_nothing(sender, sink):
    """Defects: M12"""
    body, headers = mail(), {"Idempotency-Key": uuid4().hex}
    first = await sender.client.post("/emails", body, headers=headers)
    second = await sender.client.post("/emails", body, headers=headers)
    assert (second.status_code, second.json()) == (201, first.json())
    assert (len(first.json()["messages"]), sink.accepted) == (4, 4)
    left = await sender.client.post("/emails", mail(), headers={"Prefer": "wait=0"})
    assert {each["status"] for each in left.json()["messages"]} == {"QUEUED"}


async def test_unsubscribable_messages_in_a_batch_and_for_one_recipient(sender, sink, work_off):
    """Defects: M12"""
    alone = mail(to=[f"eve-{uuid4().hex[:8]}@example.org"], cc=None, bcc=None)
    answer = (await sender.client.post("/emails/batch", {"emails": [mail(), alone]})).json()["data"]
    assert [len(each.get("messages", [])) for each in answer] == [4, 0]
    await work_off()
    assert sink.accepted == 5
    assert (await entry(sender, answer[0]["id"]))["status"] == "SENT"


async def test_messages_that_are_too_large_together_are_refused(sender):
    """Defects: M12"""
    body = mail(to=[f"u{number}@example.org" for number in range(50)], cc=None, bcc=None, text="x" * 1_100_000)
    refused = await sender.client.post("/emails", body)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/to")
