"""Reports about sends: transitions, recipients, suppression, events, statistics, repetition and order."""

import asyncio
from datetime import timedelta
from itertools import product
from uuid import UUID, uuid4

import psycopg
import pytest

from postern.kernel.values import NO_ID, new_id
from postern.messaging.emails.model import TRANSITIONS, WAITING
from postern.messaging.emails.signals import (
    SIGNALS_LIMIT,
    DeliverySignal,
    SendInTransmission,
    SignalResult,
    apply_signals,
)
from tests.lock_waits import until_lock_waits
from tests.messaging.emails.test_relay import MAIL, entry, sender, sink

__all__ = ["sender", "sink"]

APPLIED, UNCHANGED, UNKNOWN_SEND = SignalResult.APPLIED, SignalResult.UNCHANGED, SignalResult.UNKNOWN_SEND
UNKNOWN_USER = {"code": 550, "enhanced": "5.1.1", "text": "No such user here"}


def signal_of(project, sent, kind, world, **fields):
    values = {"source": "dsn", "occurred_at": world.clock(), **fields}
    return DeliverySignal(project_id=UUID(project.id), send_id=UUID(sent["id"]), kind=kind, **values)


async def apply_one(world, project, sent, kind, **fields):
    (result,) = await apply_signals(world, [signal_of(project, sent, kind, world, **fields)])
    return result


async def send_to(project, *addresses):
    mail = {**MAIL, "to": list(addresses), "cc": None, "bcc": None}
    response = await project.client.post("/emails", mail)
    assert response.status_code == 201, response.text
    return response.json()


def new_address(name="ada"):
    return f"{name}-{uuid4().hex[:8]}@example.org"


async def suppression_of(project, address):
    response = await project.client.get(f"/suppressions/{address}")
    return response.json() if response.status_code == 200 else None


async def event_types(project, sent):
    events = (await project.client.get(f"/events?subjectId={sent['id']}")).json()["data"]
    return [event["type"].removeprefix("email.") for event in reversed(events)]


async def reports_of(project, sent):
    response = await project.client.get(f"/emails/logs/{sent['id']}/reports")
    assert response.status_code == 200, response.text
    return response.json()


async def set_columns(world, sent, **columns):
    text = ", ".join(f"{name} = %s" for name in columns)
    async with world.db.connection() as connection:
        await connection.execute(f"update sends set {text} where id = %s", [*columns.values(), sent["id"]])


async def test_a_late_bounce_is_a_bounce_also_after_delivered(sender, world, clock):
    address = new_address()
    sent = await send_to(sender, address)
    assert sent["status"] == "SENT"
    clock.move(timedelta(minutes=1))
    assert await apply_one(world, sender, sent, "DELIVERED") is APPLIED
    assert (await entry(sender, sent["id"]))["status"] == "DELIVERED"
    clock.move(timedelta(minutes=1))
    signal = {"recipient": address.upper(), "host": "mx.example.org", **UNKNOWN_USER}
    assert await apply_one(world, sender, sent, "BOUNCED", **signal) is APPLIED
    log = await entry(sender, sent["id"])
    assert (log["status"], log["reason"]) == ("BOUNCED", f"{address}: 550 5.1.1 No such user here")
    assert log["sentAt"] < log["deliveredAt"] < log["bouncedAt"]
    (recipient,) = log["recipients"]
    assert (recipient["status"], recipient["at"]) == ("BOUNCED", log["bouncedAt"])
    suppression = await suppression_of(sender, address)
    assert (suppression["reason"], suppression["source"], suppression["sendId"]) == ("BOUNCE", "dsn", sent["id"])
    assert await event_types(sender, sent) == ["queued", "sent", "delivered", "bounced"]
    event = (await sender.client.get(f"/events?subjectId={sent['id']}&type=email.bounced")).json()["data"][0]
    assert {name: event["data"][name] for name in ("recipient", "type", "code", "enhancedCode", "source")} == {
        "recipient": address,
        "type": "hard",
        "code": 550,
        "enhancedCode": "5.1.1",
        "source": "dsn",
    }
    delivered, bounced = await reports_of(sender, sent)
    assert (delivered["kind"], delivered["changed"], delivered["times"]) == ("DELIVERED", True, 1)
    assert (bounced["kind"], bounced["type"], bounced["host"]) == ("BOUNCED", "hard", "mx.example.org")
    assert [event["type"] for event in log["webhookEvents"]] == ["Send", "Delivery", "Bounce"]


async def test_statistics_count_a_late_bounce_as_bounced_and_not_as_sent(sender, world, clock, run_due_work):
    sends = [await send_to(sender, new_address()) for _ in range(4)]
    clock.move(timedelta(minutes=20))
    for sent in sends[:2]:
        await apply_one(world, sender, sent, "DELIVERED")
    for sent in sends[1:3]:
        await apply_one(world, sender, sent, "BOUNCED", **UNKNOWN_USER)
    await apply_one(world, sender, sends[0], "COMPLAINED")

    async def counts():
        sums = (await sender.client.get("/analytics")).json()["sends"]
        (domain,) = (await sender.client.get("/analytics/by-domain")).json()
        assert domain["bounceRate"] == sums["bounceRate"]
        return [sums[name] for name in ("total", "sent", "delivered", "bounced", "complained", "bounceRate")]

    assert await counts() == [4, 2, 1, 2, 1, 0.5]
    clock.move(timedelta(minutes=1))
    address = (await entry(sender, sends[1]["id"]))["to"][0]
    assert (await sender.client.delete(f"/suppressions/{address}")).status_code == 200
    retried = (await sender.client.post(f"/emails/{sends[1]['id']}/retry")).json()
    assert (retried["status"], retried["sentAt"]) == ("QUEUED", None)
    await run_due_work()
    assert (await entry(sender, sends[1]["id"]))["status"] == "SENT"
    assert (await counts())[1:4] == [3, 1, 2], "as after a retry of a message that bounced at once"
    clock.move(timedelta(minutes=30))
    await apply_one(world, sender, sends[1], "BOUNCED", **UNKNOWN_USER)
    assert (await counts())[1:4] == [2, 1, 2]
    series = (await sender.client.get("/analytics/time-series")).json()
    assert sum(day["sent"] for day in series) == 2
    assert sum(day["bounced"] for day in series) == 2


@pytest.mark.parametrize(
    ("kind", "fields"),
    [
        ("BOUNCED", UNKNOWN_USER),
        ("COMPLAINED", {"source": "arf", "feedback_type": "abuse"}),
        ("DELIVERED", {}),
        ("DELAYED", {"enhanced": "4.4.1", "text": "Connection timed out"}),
    ],
)
async def test_a_repeated_signal_changes_nothing(sender, world, clock, kind, fields):
    sent = await send_to(sender, address := new_address())
    signal = signal_of(sender, sent, kind, world, **fields)
    assert await apply_signals(world, [signal, signal]) == [APPLIED, UNCHANGED]
    log, types = await entry(sender, sent["id"]), await event_types(sender, sent)
    if kind in ("BOUNCED", "COMPLAINED"):
        assert (await sender.client.delete(f"/suppressions/{address}")).status_code == 200
    clock.move(timedelta(hours=1))
    results = await asyncio.gather(*(apply_signals(world, [signal]) for _ in range(5)))
    assert results == [[UNCHANGED]] * 5
    assert (await entry(sender, sent["id"]), await event_types(sender, sent)) == (log, types)
    assert await suppression_of(sender, address) is None, "a repetition does not suppress again"
    (report,) = await reports_of(sender, sent)
    assert (report["times"], report["changed"]) == (6, True)


async def test_concurrent_equal_signals_are_applied_once(sender, world):
    sent = await send_to(sender, new_address())
    signal = signal_of(sender, sent, "BOUNCED", world, **UNKNOWN_USER)
    results = await asyncio.gather(*(apply_signals(world, [signal]) for _ in range(8)))
    assert sorted(result for (result,) in results) == [APPLIED] + [UNCHANGED] * 7
    assert (await event_types(sender, sent)).count("bounced") == 1


async def test_out_of_order_signals_do_not_move_a_send_back(sender, world):
    sent = await send_to(sender, new_address())
    kinds = ["BOUNCED", "DELIVERED", "DELAYED", "COMPLAINED", "BOUNCED", "DELIVERED"]
    results = await apply_signals(world, [signal_of(sender, sent, kind, world, **UNKNOWN_USER) for kind in kinds])
    assert results == [APPLIED, UNCHANGED, UNCHANGED, APPLIED, UNCHANGED, UNCHANGED]
    log = await entry(sender, sent["id"])
    assert (log["status"], log["deliveredAt"]) == ("COMPLAINED", None)
    assert len(await reports_of(sender, sent)) == 4


@pytest.mark.parametrize("ambiguous", [0, 1])
async def test_signals_move_sends_exactly_along_the_table(sender, world, ambiguous):
    """A send that no server took cannot be reported; a forged or mistaken report does not end its delivery."""
    for status, kind in product(TRANSITIONS, ("DELIVERED", "BOUNCED", "COMPLAINED", "DELAYED")):
        sent = await send_to(sender, new_address())
        due_at = world.clock() + timedelta(hours=1) if status in WAITING else None
        await set_columns(world, sent, status=status, ambiguous_attempts=ambiguous, due_at=due_at)
        result = await apply_one(world, sender, sent, kind, **UNKNOWN_USER)
        is_certain = status not in (*WAITING, "FAILED", "EXPIRED")
        moves = kind in TRANSITIONS[status] and kind != "DELAYED" and (is_certain or ambiguous == 1)
        assert (result is APPLIED) == (moves or (status, kind) == ("SENT", "DELAYED")), (status, kind)
        async with world.db.connection() as connection:
            cursor = await connection.execute("select status, due_at, attempt from sends where id = %s", [sent["id"]])
            row = await cursor.fetchone()
        # A worker that has claimed a waiting send gives up its attempt.
        attempt = 1 + (moves and status in WAITING)
        assert row == (kind if moves else status, None if moves else due_at, attempt), (status, kind)


async def test_a_send_in_transmission_is_not_changed(sender, world):
    sent = await send_to(sender, new_address())
    other = await send_to(sender, new_address())
    due_at = world.clock() + timedelta(minutes=1)
    await set_columns(world, sent, status="QUEUED", due_at=due_at, handed_over=1, attempt=1)
    signals = [signal_of(sender, email, "BOUNCED", world, **UNKNOWN_USER) for email in (other, sent)]
    with pytest.raises(SendInTransmission):
        await apply_signals(world, signals)
    assert [(await entry(sender, email["id"]))["status"] for email in (sent, other)] == ["QUEUED", "SENT"]
    await set_columns(world, sent, attempt=2)
    assert await apply_signals(world, signals) == [APPLIED, APPLIED], "the interrupted attempt transmitted it"


async def test_each_recipient_has_its_own_result(sender, world, clock):
    one, two = new_address("one"), new_address("two")
    sent = await send_to(sender, one, two)

    async def outcome():
        log = await entry(sender, sent["id"])
        return log["status"], [recipient["status"] for recipient in log["recipients"]]

    assert await apply_one(world, sender, sent, "DELIVERED", recipient=one) is APPLIED
    assert await outcome() == ("SENT", ["DELIVERED", "SENT"])
    assert await apply_one(world, sender, sent, "DELIVERED", recipient=two) is APPLIED
    assert await outcome() == ("DELIVERED", ["DELIVERED", "DELIVERED"])
    assert await apply_one(world, sender, sent, "BOUNCED", recipient=two, **UNKNOWN_USER) is APPLIED
    assert await outcome() == ("DELIVERED", ["DELIVERED", "BOUNCED"])
    assert (await entry(sender, sent["id"]))["reason"].startswith(f"Some recipients were rejected: {two}: 550")
    assert await apply_one(world, sender, sent, "BOUNCED", recipient=one, **UNKNOWN_USER) is APPLIED
    assert await outcome() == ("BOUNCED", ["BOUNCED", "BOUNCED"])
    assert [bool(await suppression_of(sender, address)) for address in (one, two)] == [True, True]
    assert await event_types(sender, sent) == ["queued", "sent", "delivered", "bounced", "bounced"]


async def test_a_report_about_an_unknown_recipient_of_several_suppresses_nobody(sender, world):
    one, two = new_address("one"), new_address("two")
    sent = await send_to(sender, one, two)
    other = {"recipient": new_address("other"), **UNKNOWN_USER}
    assert await apply_one(world, sender, sent, "BOUNCED", **other) is UNCHANGED
    assert await apply_one(world, sender, sent, "BOUNCED", **UNKNOWN_USER) is UNCHANGED
    assert await apply_one(world, sender, sent, "COMPLAINED", source="arf") is APPLIED, "a recipient complained"
    log = await entry(sender, sent["id"])
    assert log["status"] == "COMPLAINED"
    assert [await suppression_of(sender, address) for address in (one, two, other["recipient"])] == [None] * 3
    assert [report["changed"] for report in await reports_of(sender, sent)] == [False, False, True]


async def test_recipients_are_reported_while_others_are_still_tried(sender, world, clock, run_due_work):
    good, late = new_address("good"), new_address("tempfail")
    sent = await send_to(sender, good, late)
    assert (await entry(sender, sent["id"]))["status"] == "DELAYED"
    assert await apply_one(world, sender, sent, "BOUNCED", recipient=late, **UNKNOWN_USER) is UNCHANGED, "not sent"
    assert await apply_one(world, sender, sent, "BOUNCED", recipient=good, **UNKNOWN_USER) is APPLIED
    log = await entry(sender, sent["id"])
    assert (log["status"], [recipient["status"] for recipient in log["recipients"]]) == (
        "DELAYED",
        ["BOUNCED", "DELAYED"],
    )
    clock.move(timedelta(days=3))
    await run_due_work()
    log = await entry(sender, sent["id"])
    assert [recipient["status"] for recipient in log["recipients"]] == ["BOUNCED", "FAILED"]


@pytest.mark.parametrize(
    ("fields", "type_", "is_suppressed"),
    [
        ({"enhanced": "5.1.1"}, "hard", True),
        ({"enhanced": "5.1.1", "bounce": "soft"}, "soft", False),
        ({"bounce": "hard", "text": "Mail could not be delivered"}, "hard", True),
        ({"bounce": "hard", "code": 550, "enhanced": "5.7.1", "text": "listed at zen.spamhaus.org"}, "block", False),
        ({"bounce": "hard", "code": 550, "enhanced": "5.7.26", "text": "Unauthenticated"}, "policy", False),
        ({"code": 552, "enhanced": "5.2.2", "text": "Mailbox full"}, "soft", False),
        ({"code": 450, "enhanced": "4.1.1", "text": "User unknown in virtual alias table"}, "hard", True),
        ({"code": 450, "enhanced": "4.1.1", "text": "unverified address"}, "soft", False),
        ({"text": "what\0ever" * 1_000, "host": "h" * 5_000, "enhanced": "x" * 5_000, "code": 10**12}, "soft", False),
    ],
)
async def test_only_faults_of_the_recipient_suppress(sender, world, fields, type_, is_suppressed):
    sent = await send_to(sender, address := new_address())
    assert await apply_one(world, sender, sent, "BOUNCED", **fields) is APPLIED
    assert (await entry(sender, sent["id"]))["status"] == "BOUNCED"
    (report,) = await reports_of(sender, sent)
    assert report["type"] == type_
    assert bool(await suppression_of(sender, address)) == is_suppressed


async def test_soft_bounces_are_counted_in_the_order_of_the_addresses(sender, world, database_url):
    """Otherwise, transactions with several of them deadlock."""
    addresses = [new_address("a"), new_address("z")]
    soft = {"code": 452, "enhanced": "4.2.2", "text": "Mailbox full"}
    for address in addresses:
        assert await apply_one(world, sender, await send_to(sender, address), "BOUNCED", **soft) is APPLIED
    sends = [await send_to(sender, address) for address in reversed(addresses)]
    lock = "select from soft_bounces where project_id = %s and address = %s for update"
    connect = psycopg.AsyncConnection.connect
    async with await connect(database_url) as blocker, await connect(database_url, autocommit=True) as observer:
        await blocker.execute(lock, [sender.id, addresses[0]])
        signals = [signal_of(sender, sent, "BOUNCED", world, **soft) for sent in sends]
        applying = asyncio.create_task(apply_signals(world, signals))
        await until_lock_waits(database_url)
        assert (await observer.execute(f"{lock} nowait", [sender.id, addresses[1]])).rowcount == 1
        await blocker.rollback()
        assert await applying == [APPLIED, APPLIED]


async def test_three_soft_bounces_in_a_row_over_72_hours_suppress(sender, world, clock):
    address, full = new_address(), {"enhanced": "5.2.2", "text": "Mailbox full"}
    for hours, is_suppressed in ((0, False), (30, False), (73, True)):
        clock.move(timedelta(hours=hours))
        sent = await send_to(sender, address)
        await apply_one(world, sender, sent, "BOUNCED", **full)
        assert bool(await suppression_of(sender, address)) == is_suppressed
    other = new_address()
    for kind in ("BOUNCED", "DELIVERED", "BOUNCED", "BOUNCED"):
        clock.move(timedelta(hours=40))
        await apply_one(world, sender, await send_to(sender, other), kind, **full)
    assert await suppression_of(sender, other) is None, "a delivery ends the row"
    seldom = new_address()
    for _ in range(4):
        clock.move(timedelta(days=15))
        await apply_one(world, sender, await send_to(sender, seldom), "BOUNCED", **full)
    assert await suppression_of(sender, seldom) is None, "the failures are too far apart"


async def test_a_complaint_replaces_a_weaker_suppression(sender, world):
    sent = await send_to(sender, address := new_address())
    await sender.client.post("/suppressions", {"address": address, "reason": "UNSUBSCRIBE"})
    assert await apply_one(world, sender, sent, "COMPLAINED", source="arf", feedback_type="abuse") is APPLIED
    suppression = await suppression_of(sender, address)
    assert (suppression["reason"], suppression["source"], suppression["detail"]) == ("COMPLAINT", "arf", "abuse")
    (event,) = (await sender.client.get(f"/events?subjectId={sent['id']}&type=email.complained")).json()["data"]
    assert (event["data"]["recipient"], event["data"]["feedbackType"]) == (address, "abuse")


async def test_a_reported_delay_does_not_send_the_message_again(sender, sink, world, clock, run_due_work):
    sent = await send_to(sender, new_address())
    delay = {"enhanced": "4.4.1", "text": "Connection timed out"}
    assert await apply_one(world, sender, sent, "DELAYED", **delay) is APPLIED
    log = await entry(sender, sent["id"])
    assert (log["status"], [event["type"] for event in log["webhookEvents"]]) == ("SENT", ["Send", "DeliveryDelay"])
    clock.move(timedelta(days=1))
    await run_due_work()
    assert len(sink.messages) == 1


async def test_an_ambiguous_send_that_was_delivered_is_not_sent_again(sender, sink, world, clock, run_due_work):
    sink.behaviour.drop_after_dot = 1.0
    sent = await send_to(sender, new_address())
    sink.behaviour.drop_after_dot = 0.0
    assert (await entry(sender, sent["id"]))["status"] == "DELAYED"
    assert await apply_one(world, sender, sent, "DELIVERED") is APPLIED
    clock.move(timedelta(days=1))
    await run_due_work()
    log = await entry(sender, sent["id"])
    assert (log["status"], len(sink.messages)) == ("DELIVERED", 1)
    assert log["sentAt"] is not None
    assert (await event_types(sender, sent))[-2:] == ["sent", "delivered"]


async def test_unknown_sends_and_other_projects_are_not_touched(sender, world, new_project):
    sent, other = await send_to(sender, new_address()), await new_project()
    unknown = {"id": str(new_id())}
    signals = [
        signal_of(sender, unknown, "BOUNCED", world),
        signal_of(other, sent, "BOUNCED", world),
        signal_of(sender, {"id": str(NO_ID)}, "COMPLAINED", world),
    ]
    assert await apply_signals(world, signals) == [UNKNOWN_SEND] * 3
    assert (await entry(sender, sent["id"]))["status"] == "SENT"
    assert await reports_of(sender, sent) == []
    assert (await other.client.get(f"/emails/logs/{sent['id']}/reports")).status_code == 404
    assert await apply_signals(world, []) == []
    with pytest.raises(ValueError, match="1000"):
        await apply_signals(world, signals[:1] * (SIGNALS_LIMIT + 1))


async def test_the_time_of_a_report_is_not_trusted(sender, world, clock):
    early, late = await send_to(sender, new_address()), await send_to(sender, new_address())
    clock.move(timedelta(minutes=1))
    moment = world.clock()
    await apply_one(world, sender, early, "BOUNCED", occurred_at=moment - timedelta(days=9_000))
    await apply_one(world, sender, late, "BOUNCED", occurred_at=moment + timedelta(days=9_000))
    log = await entry(sender, early["id"])
    assert log["bouncedAt"] == log["sentAt"]
    assert (await entry(sender, late["id"]))["bouncedAt"] == moment.isoformat(timespec="milliseconds").replace(
        "+00:00", "Z"
    )


async def test_reports_of_an_erased_send_name_nobody(sender, world):
    sent = await send_to(sender, address := new_address())
    await apply_one(world, sender, sent, "DELAYED", recipient=address, text=f"<{address}> is busy")
    customer = (await sender.client.post("/customers", {"email": address})).json()
    response = await sender.client.delete(f"/customers/{customer['id']}")
    assert response.status_code == 200, response.text
    assert await reports_of(sender, sent) == []
    for kind in ("BOUNCED", "COMPLAINED"):
        assert await apply_one(world, sender, sent, kind, recipient=address, text=f"{address} is gone") is APPLIED
    assert address not in (await sender.client.get(f"/emails/logs/{sent['id']}/reports")).text
    assert address not in (await sender.client.get(f"/emails/logs/{sent['id']}")).text
    assert (await sender.client.get("/suppressions")).json()["data"] == []
