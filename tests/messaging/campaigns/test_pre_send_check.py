"""The check right before transmission: the campaign's state, and the recipient's suppression and subscription."""

import asyncio
from contextlib import AsyncExitStack, asynccontextmanager
from types import SimpleNamespace
from typing import Any, cast
from uuid import uuid4

import pytest
from psycopg import OperationalError

from postern.messaging.campaigns import running
from postern.messaging.emails import pre_send_check
from tests.messaging.campaigns.test_campaigns import get_campaign, request_action
from tests.messaging.campaigns.test_stopping import send_statuses, start_relayed_campaign
from tests.messaging.emails.test_relay import MAIL, sender
from tests.peers.smtp_sink import Sink

__all__ = ["sender"]
CONNECTIONS = 8
"""How many of a relay's ten connections marketing mail may use."""
WAIT_SECONDS = 30


class SlowSink(Sink):
    """A relay that receives messages, but delays its final replies until `may_reply` is set."""

    def __init__(self) -> None:
        super().__init__()
        self.may_reply = asyncio.Event()
        self.may_reply.set()
        self.reply_delay = 0.0
        """If not 0, each reply is delayed by this many seconds instead."""

    def _commit(self) -> None:
        if self.reply_delay:
            asyncio.get_running_loop().call_later(self.reply_delay, super()._commit)
        elif self.may_reply.is_set():
            super()._commit()
        else:
            self._delayed_commit = asyncio.ensure_future(self._commit_later())

    async def _commit_later(self) -> None:
        await self.may_reply.wait()
        super()._commit()

    async def wait_for_messages(self, number: int) -> None:
        """Wait until the relay has received this many messages; its replies may be delayed."""
        async with asyncio.timeout(WAIT_SECONDS):
            while self.accepted < number:
                await asyncio.sleep(0.005)

    def recipients(self) -> set[str]:
        """The recipients of all messages that were received."""
        return {recipient for message in self.messages for recipient in message.recipients}


@pytest.fixture
async def sink():
    async with SlowSink() as sink:
        yield sink


@asynccontextmanager
async def all_connections_busy(sink, run_due_work, connections=CONNECTIONS):
    """Run workers until each connection to the relay transmits a message; the other sends wait for a connection.

    The relay replies at the end of the block; then everything that is due is processed.
    """
    sink.may_reply.clear()
    work = asyncio.ensure_future(run_due_work())
    try:
        await sink.wait_for_messages(connections)
        yield
        await asyncio.sleep(pre_send_check.MAX_FRESH_SECONDS)
    finally:
        sink.may_reply.set()
        await work


async def test_after_cancelling_only_messages_in_transmission_arrive(sender, sink, run_due_work):
    """Regression test of C1 (tests/defects.md)."""
    campaign, _ = await start_relayed_campaign(sender, 40)
    async with all_connections_busy(sink, run_due_work):
        assert (await request_action(sender, campaign, "cancel")).status_code == 200
    await run_due_work()
    assert sink.accepted == CONNECTIONS
    assert await send_statuses(sender, campaign) == ["CANCELLED"] * (40 - CONNECTIONS) + ["SENT"] * CONNECTIONS
    progress = (await get_campaign(sender, campaign))["progress"]
    assert (progress["waiting"], progress["handedOver"]) == (0, CONNECTIONS)


@pytest.mark.parametrize("action", ["cancel", "pause"])
async def test_after_cancel_or_pause_a_fast_relay_gets_only_messages_in_transmission(
    sender, sink, run_due_work, action
):
    """Many sends were checked before the campaign stopped; the response waits until they are transmitted.

    Regression test of C1 (tests/defects.md).
    """
    campaign, _ = await start_relayed_campaign(sender, 400)
    sink.reply_delay = 0.02
    work = asyncio.ensure_future(run_due_work())
    await sink.wait_for_messages(60)
    assert (await request_action(sender, campaign, action)).status_code == 200
    received_at_response = sink.accepted
    await work
    await run_due_work()
    assert received_at_response < 400
    assert sink.accepted - received_at_response <= CONNECTIONS


async def test_a_committed_pause_succeeds_even_if_the_database_fails_afterwards(sender, monkeypatch):
    campaign, _ = await start_relayed_campaign(sender, 4)

    async def fail(*_, **__):
        raise OperationalError("the connection is lost")

    monkeypatch.setattr(pre_send_check.store, "has_unsettled_transmissions", fail)
    response = await request_action(sender, campaign, "pause")
    assert (response.status_code, response.json()["status"]) == (200, "PAUSED")


async def test_after_a_pause_only_messages_in_transmission_arrive_and_resume_sends_the_rest(
    sender, sink, clock, run_due_work
):
    """Regression test of C1 (tests/defects.md)."""
    campaign, emails = await start_relayed_campaign(sender, 30)
    async with all_connections_busy(sink, run_due_work):
        assert (await request_action(sender, campaign, "pause")).json()["status"] == "PAUSED"
    await run_due_work()
    assert sink.accepted == CONNECTIONS
    assert await send_statuses(sender, campaign) == ["QUEUED"] * (30 - CONNECTIONS) + ["SENT"] * CONNECTIONS
    assert (await request_action(sender, campaign, "resume")).status_code == 200
    await run_due_work()
    clock.move(running.POLL_INTERVAL)
    await run_due_work()
    assert sorted(recipient for message in sink.messages for recipient in message.recipients) == sorted(emails)
    sends = (await sender.client.get(f"/campaigns/{campaign['id']}/sends?limit=100")).json()["data"]
    assert {send["status"] for send in sends} == {"SENT"}
    log = (await sender.client.get("/emails/logs?limit=100")).json()["data"]
    assert {send["ambiguousAttempts"] for send in log} == {0}


async def test_unsubscribed_suppressed_and_deleted_contacts_waiting_for_a_connection_get_nothing(
    sender, sink, clock, run_due_work
):
    """Regression test of C1 (tests/defects.md)."""
    campaign, emails = await start_relayed_campaign(sender, 20)
    async with all_connections_busy(sink, run_due_work):
        unsubscribed, suppressed, deleted, *_ = sorted(set(emails) - sink.recipients())
        contacts = {
            contact["email"]: contact for contact in (await sender.client.get("/contacts?limit=100")).json()["data"]
        }
        change = {"unsubscribed": True}
        assert (await sender.client.patch(f"/contacts/{contacts[unsubscribed]['id']}", change)).status_code == 200
        assert (await sender.client.post("/suppressions", {"address": suppressed})).status_code == 201
        assert (await sender.client.delete(f"/contacts/{contacts[deleted]['id']}")).status_code == 200
    await run_due_work()
    assert sink.recipients() == set(emails) - {unsubscribed, suppressed, deleted}
    assert sink.accepted == 17
    clock.move(running.POLL_INTERVAL)
    await run_due_work()
    current = await get_campaign(sender, campaign)
    assert current["status"] == "SENT"
    skipped = current["progress"]["skipped"]
    assert {name: skipped[name] for name in ("unsubscribed", "suppressed", "deleted")} == dict.fromkeys(
        ("unsubscribed", "suppressed", "deleted"), 1
    )
    assert (current["progress"]["waiting"], current["progress"]["handedOver"]) == (0, 17)
    assert await send_statuses(sender, campaign) == ["CANCELLED"] + ["SENT"] * 17 + ["SUPPRESSED"] * 2


async def test_a_single_send_that_waits_for_a_connection_can_be_cancelled_and_its_recipient_suppressed(
    sender, sink, run_due_work
):
    """Regression test of C1 (tests/defects.md)."""
    emails = [{**MAIL, "to": [f"waits{number}@example.org"], "cc": None, "bcc": None} for number in range(30)]
    batch = (await sender.client.post("/emails/batch", {"emails": emails})).json()["data"]
    cancelled = set()
    async with all_connections_busy(sink, run_due_work, connections=10):
        for number in range(30):
            if (await sender.client.post(f"/emails/{batch[number]['id']}/cancel")).status_code == 200:
                cancelled.add(f"waits{number}@example.org")
            if len(cancelled) == 3:
                break
        waiting = sorted({email["to"][0] for email in emails} - sink.recipients() - cancelled)
        suppressed = waiting[0]
        assert (await sender.client.post("/suppressions", {"address": suppressed})).status_code == 201
    await run_due_work()
    assert len(cancelled) == 3
    assert sink.recipients() == {email["to"][0] for email in emails} - cancelled - {suppressed}
    assert sink.accepted == 26


async def test_the_contact_of_an_erased_customer_gets_no_waiting_message(sender, sink, run_due_work):
    """Regression test of C1 (tests/defects.md)."""
    _, emails = await start_relayed_campaign(sender, 12)
    async with all_connections_busy(sink, run_due_work):
        address = min(set(emails) - sink.recipients())
        created = await sender.client.post("/customers", {"email": address})
        assert created.status_code == 201, created.text
        erased = await sender.client.delete(f"/customers/{created.json()['id']}")
        assert erased.status_code < 300, erased.text
    await run_due_work()
    assert sink.recipients() == set(emails) - {address}


async def test_a_mark_that_is_needed_during_a_check_is_written_by_the_next_one(monkeypatch):
    """The check that runs does not write it. Without the mark, nobody would know that the message may have arrived."""
    marked: list[list[bool]] = []
    may_answer = asyncio.Event()

    async def check_sends(world, turns):
        marked.append([turn.needs_mark for turn in turns])
        numbers = [turn.send.id.int for turn in turns]
        await may_answer.wait()
        return dict.fromkeys(numbers, True)

    monkeypatch.setattr(pre_send_check, "check_sends", check_sends)
    queue = pre_send_check.SendQueue(cast(Any, None))
    turn = pre_send_check.SendTurn(
        cast(Any, SimpleNamespace(id=uuid4())), cast(Any, []), skip_unsubscribed=False, needs_mark=False
    )
    async with queue.keeping_queued(turn):
        turn.result, turn.checked_at = "GO", asyncio.get_running_loop().time()
        queue._begin_check([turn])
        await asyncio.sleep(0)
        turn.needs_mark = True
        admission = asyncio.create_task(queue.admit(turn))
        await asyncio.sleep(0)
        may_answer.set()
        async with asyncio.timeout(WAIT_SECONDS):
            await admission
    assert marked == [[False], [True]]
    assert not turn.needs_mark


async def test_an_attempt_ends_after_the_check_that_may_commit_its_mark(monkeypatch):
    """If it was settled before, the mark would make it look interrupted."""
    may_answer = asyncio.Event()

    async def check_sends(world, turns):
        await may_answer.wait()
        return {turn.send.id.int: True for turn in turns}

    monkeypatch.setattr(pre_send_check, "check_sends", check_sends)
    queue = pre_send_check.SendQueue(cast(Any, None))
    turn = pre_send_check.SendTurn(
        cast(Any, SimpleNamespace(id=uuid4())), cast(Any, []), skip_unsubscribed=False, needs_mark=True
    )

    async def defer_during_the_check():
        async with queue.keeping_queued(turn):
            queue._begin_check([turn])

    attempt = asyncio.create_task(defer_during_the_check())
    await asyncio.sleep(0.01)
    assert not attempt.done()
    may_answer.set()
    async with asyncio.timeout(WAIT_SECONDS):
        await attempt
    assert turn.check is None


async def test_messages_to_a_slow_server_do_not_take_the_place_of_others_in_checks(monkeypatch):
    """They wait for a connection that does not become free; each is checked ahead at most twice."""
    checked: list[set[str]] = []

    async def check_sends(world, turns):
        checked.append({turn.addresses[0] for turn in turns})
        return {turn.send.id.int: True for turn in turns}

    def new_turn(name):
        send = cast(Any, SimpleNamespace(id=uuid4()))
        return pre_send_check.SendTurn(send, [name], skip_unsubscribed=False, needs_mark=False)

    monkeypatch.setattr(pre_send_check, "check_sends", check_sends)
    monkeypatch.setattr(pre_send_check, "MAX_FRESH_SECONDS", 0.0)
    queue = pre_send_check.SendQueue(cast(Any, None))
    slow = [new_turn(f"slow {number}") for number in range(pre_send_check.AHEAD_AT_LEAST)]
    async with AsyncExitStack() as stack:
        for turn in slow:
            await stack.enter_async_context(queue.keeping_queued(turn))
        for number in range(4):
            turns = [new_turn(f"fast {number}"), new_turn(f"next {number}")]
            for turn in turns:
                await stack.enter_async_context(queue.keeping_queued(turn))
            await queue.admit(turns[0])
            queue._waiting.pop(turns[1])
    assert all(turn.checks == pre_send_check.MAX_UNUSED_CHECKS for turn in slow)
    assert checked[-1] == {"fast 3", "next 3"}


def test_only_results_that_will_be_too_old_are_renewed(monkeypatch):
    """A message that gets its connection soon is not checked again, one that gets it after the end of its result is."""
    now = 1_000.0
    loop = SimpleNamespace(time=lambda: now)
    monkeypatch.setattr(pre_send_check, "asyncio", SimpleNamespace(get_running_loop=lambda: loop))
    queue = pre_send_check.SendQueue(cast(Any, None))
    turns = [
        pre_send_check.SendTurn(
            cast(Any, SimpleNamespace(id=uuid4())), ["ada@example.org"], skip_unsubscribed=False, needs_mark=False
        )
        for _ in range(40)
    ]
    for turn in turns:
        queue.enter(turn)
    queue._pace = len(turns) / pre_send_check.FRESH_SECONDS
    assert queue._next_to_check() == turns, "None has a result."
    for turn in turns:
        turn.result, turn.checked_at = "GO", now - pre_send_check.FRESH_SECONDS / 2
    # The second half get their connections after the end of their results, and one shortly before it.
    assert queue._next_to_check() == turns[19:]
