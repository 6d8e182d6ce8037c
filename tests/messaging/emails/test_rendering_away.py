"""Messages that cannot be rendered at the moment are delayed with a reason and retried until they expire."""

from datetime import timedelta

import pytest

from postern.protocols.mail.templates.rendering import RenderProcesses
from tests.messaging.emails.test_relay import entry, sender, sink

__all__ = ["sender", "sink"]

MAIL = {"from": "hello@example.com", "subject": "Hi", "text": "Hello\n"}


class FailingProcessSource:
    """A source of render processes that cannot start any."""

    def start(self, *, low_priority):
        raise OSError("Cannot allocate memory")

    def give_back(self, child):
        raise AssertionError


@pytest.fixture
async def start_render_processes(world):
    """No render process runs until the test calls the value of this fixture."""
    working, world.rendering = world.rendering, RenderProcesses(process_source=FailingProcessSource())
    yield lambda: setattr(world, "rendering", working)
    world.rendering = working


async def queued(project, number, **fields):
    emails = [{**MAIL, "to": [f"ada{index}@example.org"], **fields} for index in range(number)]
    response = await project.client.post("/emails/batch", {"emails": emails})
    return [item["id"] for item in response.json()["data"]]


async def test_a_message_is_delayed_with_a_reason_while_no_render_process_runs(
    sender, sink, start_render_processes, clock, run_due_work
):
    (waiting,) = await queued(sender, 1)
    (expiring,) = await queued(sender, 1, expiresAt=(clock() + timedelta(seconds=20)).isoformat())
    await run_due_work()
    for send_id in (waiting, expiring):
        log = await entry(sender, send_id)
        assert (log["status"], sink.messages) == ("QUEUED", [])
        assert log["reason"].startswith("Templates cannot be rendered at the moment")
    clock.move(timedelta(seconds=16))
    await run_due_work()
    log = await entry(sender, expiring)
    assert log["status"] == "EXPIRED", "The next attempt would be after its expiry."
    start_render_processes()
    clock.move(timedelta(seconds=31))
    await run_due_work()
    log = await entry(sender, waiting)
    assert (log["status"], log["reason"], len(sink.messages)) == ("SENT", None, 1)


async def test_many_expensive_messages_are_delayed(sender, sink, world, clock, run_due_work):
    """More messages wait than the separate render process of the project accepts, so the others are retried soon."""
    world.rendering._charge(sender.id, 10_000)
    assert world.rendering.is_in_slow_lane(sender.id)
    ids = await queued(sender, 40)
    await run_due_work()
    logs = [await entry(sender, send_id) for send_id in ids]
    assert {log["status"] for log in logs} == {"SENT", "QUEUED"}
    assert all("one by one" in log["reason"] for log in logs if log["status"] == "QUEUED")
    for _ in range(4):
        clock.move(timedelta(minutes=5))
        await run_due_work()
    assert {(await entry(sender, send_id))["status"] for send_id in ids} == {"SENT"}
    assert len(sink.messages) == 40
