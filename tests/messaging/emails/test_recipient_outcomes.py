"""The outcome of each recipient of a message to several, including suppressed ones."""

from datetime import timedelta
from uuid import UUID, uuid4

import psycopg

from postern.kernel.database.statements import Jsonb
from postern.kernel.values import Moment
from postern.messaging.emails import store
from postern.messaging.emails.model import ReachedRecipient
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


async def test_events_of_accepted_and_rejected_recipients_do_not_wait_for_the_deferred_ones(
    sender, sink, clock, run_due_work
):
    suffix = uuid4().hex[:8]
    mail = mail_to(f"permfail-{suffix}@example.org", f"good-{suffix}@example.org", f"tempfail-{suffix}@example.org")
    sent = (await sender.client.post("/emails", mail)).json()

    async def types():
        events = (await sender.client.get(f"/events?subjectId={sent['id']}")).json()["data"]
        return sorted(event["type"] for event in events)

    first = ["email.bounced", "email.delayed", "email.queued", "email.sent"]
    assert await types() == first
    clock.move(timedelta(days=10))
    await run_due_work()
    log = await entry(sender, sent["id"])
    assert (log["status"], outcomes(log)["permfail"]) == ("SENT", "BOUNCED")
    assert await types() == first, "each once"


async def test_a_message_that_arrives_ends_the_row_of_soft_failures(sender, sink, new_project, database_url):
    """Also at the first attempt; not of another address, and not of the same address in another project."""
    suffix, other = uuid4().hex[:8], await new_project()
    address, another = f"good-{suffix}@example.org", f"another-{suffix}@example.org"
    rows = {(sender.id, address), (sender.id, another), (other.id, address), (other.id, another)}
    async with await psycopg.AsyncConnection.connect(database_url, autocommit=True) as connection:
        for project_id, failing in rows:
            await connection.execute(
                "insert into soft_bounces (project_id, address, times, first_at, last_at) "
                "values (%s, %s, 2, now(), now())",
                [project_id, failing],
            )
        await sender.client.post("/emails", mail_to(address))
        cursor = await connection.execute(
            "select project_id::text, address from soft_bounces where project_id = any (%s)", [[sender.id, other.id]]
        )
        assert {*await cursor.fetchall()} == rows - {(sender.id, address)}


async def test_successes_of_two_projects_end_only_their_own_rows_of_soft_failures(project, new_project, world):
    first, second = UUID(project.id), UUID((await new_project()).id)
    rows = [(owner, address) for owner in (first, second) for address in ("x@example.org", "y@example.org")]
    async with world.db.transaction() as tx:
        for owner, address in rows:
            await store.count_soft_bounce(
                tx,
                project_id=owner,
                address=address,
                times=3,
                span=timedelta(hours=72),
                gap=timedelta(days=14),
                reported=False,
                now=Moment.of(world.clock()),
            )
        reached = [
            ReachedRecipient(project_id=first, address="x@example.org", delivered=False),
            ReachedRecipient(project_id=second, address="y@example.org", delivered=False),
        ]
        await store.delete_soft_bounces(tx, project_id=[first, second], reached=Jsonb(reached))
        async with tx.connection() as connection:
            cursor = await connection.execute(
                "select project_id, address from soft_bounces where project_id = any (%s)", [[first, second]]
            )
            assert {*await cursor.fetchall()} == {(first, "y@example.org"), (second, "x@example.org")}


async def test_a_send_to_one_address_has_the_outcome_of_its_recipient(sender):
    """Regression test of M7 (tests/defects.md)."""
    address = f"gone-{uuid4().hex[:8]}@example.org"
    await sender.client.post("/suppressions", {"address": address})
    sent = (await sender.client.post("/emails", mail_to(address))).json()
    log = await entry(sender, sent["id"])
    assert [(recipient["email"], recipient["status"]) for recipient in log["recipients"]] == [(address, "SUPPRESSED")]
    (event,) = (await sender.client.get("/events?type=email.suppressed")).json()["data"]
    assert event["data"]["recipient"] == address
