"""Contacts with a template error, an invalid address or a huge attribute fail alone, with a reason."""

import os
from collections import Counter

from postern.messaging.campaigns import running
from tests.messaging.campaigns.test_campaigns import create_campaign, get_campaign, request_action
from tests.messaging.campaigns.test_stopping import start_relayed_campaign
from tests.messaging.emails.test_relay import sender, sink

__all__ = ["sender", "sink"]

CONTACTS = int(os.environ.get("POSTERN_TEST_CONTACTS", "10000"))
HUGE = "x" * 15_900
"""Almost as large as a contact's attributes may be. The template repeats it, so that the message is too large."""
HTML = """<p>Dear {{ name }}, you are number {{ 1000 // rank }}</p>
<p>{% if bio %}{% for n in range(700) %}{{ bio }}{% endfor %}{% endif %}</p>"""


def csv_file(count):
    """A CSV file with `count` contacts.

    One has an invalid address, one causes a division by zero, and one has a huge attribute.
    """
    lines = ["email,name,rank,bio"]
    lines += [f"c{number}@example.org,N{number},{number + 1}," for number in range(count)]
    lines[count // 4] = "not-an-address,Nobody,7,"
    lines[count // 2] = "zero@example.org,Zero,0,"
    lines[count // 4 * 3] = f"huge@example.org,Huge,9,{HUGE}"
    return "\n".join(lines) + "\n"


async def test_three_faulty_contacts_do_not_affect_the_others(sender, sink, clock, run_due_work):
    upload = await sender.client.post(
        "/contacts/import", content=csv_file(CONTACTS).encode(), headers={"content-type": "text/csv"}
    )
    await run_due_work()
    imported = (await sender.client.get(f"/contacts/imports/{upload.json()['id']}")).json()
    assert (imported["rows"], imported["created"], imported["failed"]) == (CONTACTS, CONTACTS - 1, 1)
    (error,) = imported["errors"]
    assert error["line"] == CONTACTS // 4 + 1
    assert error["message"]

    campaign, _ = await create_campaign_to_all(sender)
    assert (await request_action(sender, campaign, "send")).status_code == 200
    for _ in range(10):  # At most MAX_QUEUED sends exist before their first attempt; more are created later.
        await run_due_work()
        clock.move(running.POLL_INTERVAL)
    current = await get_campaign(sender, campaign)
    assert current["status"] == "SENT"
    assert (current["stats"]["total"], current["stats"]["sent"], current["stats"]["failed"]) == (
        CONTACTS - 1,
        CONTACTS - 3,
        2,
    )
    failed = (await sender.client.get(f"/campaigns/{campaign['id']}/sends?status=FAILED")).json()["data"]
    reasons = {send["to"][0]: send["reason"] for send in failed}
    assert set(reasons) == {"zero@example.org", "huge@example.org"}
    assert "unable to calculate 1000 // 0" in reasons["zero@example.org"]
    assert "longer than 10000000 characters" in reasons["huge@example.org"]

    copies = Counter(message.recipients for message in sink.messages)
    assert len(copies) == CONTACTS - 3
    assert set(copies.values()) == {1}
    assert all(b"Subject: Hello N" in message.raw for message in sink.messages)


async def create_campaign_to_all(sender):
    """Create a draft campaign to a dynamic audience of all contacts."""
    (domain,) = (await sender.client.get("/domains")).json()
    audience = (await sender.client.post("/audiences", {"name": "All"})).json()["id"]
    rules = {"conditions": [{"field": "name", "operator": "exists"}]}
    assert (await sender.client.patch(f"/audiences/{audience}/rules", rules)).json()["added"] == CONTACTS - 1
    body = {"name": "Bad", "html": HTML, "subject": "Hello {{ name }}"}
    template = (await sender.client.post("/templates", body)).json()["id"]
    fields = {"domainId": domain["id"], "fromEmail": "news@example.com"}
    return await create_campaign(sender, 0, templateId=template, audienceId=audience, **fields)


async def test_an_invalid_address_does_not_affect_the_others(sender, sink, world, run_due_work):
    """The API refuses such an address, but an older database may contain one."""
    campaign, emails = await start_relayed_campaign(sender, 3)
    async with world.db.connection() as connection:
        await connection.execute(
            "update contacts set email = 'a b@@example' where project_id = %s and email = %s", [sender.id, emails[1]]
        )
    await run_due_work()
    current = await get_campaign(sender, campaign)
    assert (current["status"], current["stats"]["sent"], current["stats"]["failed"]) == ("SENT", 2, 1)
    (failed,) = (await sender.client.get(f"/campaigns/{campaign['id']}/sends?status=FAILED")).json()["data"]
    assert failed["to"] == ["a b@@example"]
    assert failed["reason"]
    assert sorted(message.recipients[0] for message in sink.messages) == sorted([emails[0], emails[2]])
