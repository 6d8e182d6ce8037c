"""An unsubscribable e-mail becomes a separate message for each recipient, each with a different unsubscribe link."""

import re
from urllib.parse import urlsplit
from uuid import uuid4

from tests.messaging.emails.test_relay import entry, sender, sink

__all__ = ["sender", "sink"]


def mail(**fields):
    suffix = uuid4().hex[:8]
    return {
        "to": [f"Ada <ada-{suffix}@example.org>", f"bob-{suffix}@example.org"],
        "cc": [f"cy-{suffix}@example.org"],
        "bcc": [f"dan-{suffix}@example.org", f"bob-{suffix}@example.org"],
        "from": "hello@example.com",
        "subject": "Hello",
        "text": "Hello.",
        "unsubscribable": True,
        **fields,
    }


def link_of(message):
    return urlsplit(re.search(rb"List-Unsubscribe: <([^>]+)>", message.raw.replace(b"\r\n ", b" "))[1].decode())


async def test_each_recipient_gets_a_message_with_a_link_that_unsubscribes_them(sender, sink, stranger):
    """Regression test of M12 (tests/defects.md)."""
    body = mail()
    response = await sender.client.post("/emails", body)
    assert response.status_code == 201, response.text
    sent = response.json()
    assert [message["to"].partition("-")[0] for message in sent["messages"]] == ["Ada <ada", "bob", "cy", "dan"]
    assert (sent["id"], sent["status"]) == (sent["messages"][0]["id"], "SENT")
    assert (
        len({message["id"] for message in sent["messages"]})
        == len({message["messageId"] for message in sent["messages"]})
        == 4
    )
    assert sorted(message.recipients[0].partition("-")[0] for message in sink.messages) == ["ada", "bob", "cy", "dan"]
    assert all(len(message.recipients) == 1 for message in sink.messages)
    assert all(message.raw.count(b"@example.org") <= 2 for message in sink.messages)
    message_to_cy = next(message for message in sink.messages if message.recipients[0].startswith("cy-"))
    link = link_of(message_to_cy)
    assert (await stranger.post(f"{link.path}?{link.query}")).status_code == 200
    suppressions = (await sender.client.get("/suppressions?limit=100")).json()["data"]
    assert [item["address"] for item in suppressions] == [message_to_cy.recipients[0]]
    repeated = (await sender.client.post("/emails", body)).json()
    statuses = [(await entry(sender, message["id"]))["status"] for message in repeated["messages"]]
    assert statuses == ["SENT", "SENT", "SUPPRESSED", "SENT"]


async def test_a_repeated_request_gets_the_same_response_and_sends_nothing(sender, sink):
    """Regression test of M12 (tests/defects.md)."""
    body, headers = mail(), {"Idempotency-Key": uuid4().hex}
    first = await sender.client.post("/emails", body, headers=headers)
    second = await sender.client.post("/emails", body, headers=headers)
    assert (second.status_code, second.json()) == (201, first.json())
    assert (len(first.json()["messages"]), sink.accepted) == (4, 4)
    queued = await sender.client.post("/emails", mail(), headers={"Prefer": "wait=0"})
    assert {message["status"] for message in queued.json()["messages"]} == {"QUEUED"}


async def test_unsubscribable_messages_in_a_batch_and_for_one_recipient(sender, sink, run_due_work):
    """Regression test of M12 (tests/defects.md)."""
    mail_to_one = mail(to=[f"eve-{uuid4().hex[:8]}@example.org"], cc=None, bcc=None)
    results = (await sender.client.post("/emails/batch", {"emails": [mail(), mail_to_one]})).json()["data"]
    assert [len(item.get("messages", [])) for item in results] == [4, 0]
    await run_due_work()
    assert sink.accepted == 5
    assert (await entry(sender, results[0]["id"]))["status"] == "SENT"


async def test_messages_that_are_too_large_together_are_refused(sender):
    """Regression test of M12 (tests/defects.md)."""
    body = mail(to=[f"u{number}@example.org" for number in range(50)], cc=None, bcc=None, text="x" * 1_100_000)
    refused = await sender.client.post("/emails", body)
    assert (refused.status_code, refused.json()["errors"][0]["path"]) == (400, "/to")
