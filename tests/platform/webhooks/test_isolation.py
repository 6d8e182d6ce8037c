"""Of fifty endpoints four are slow or failing, which does not delay the others. With a worker as in production."""

import asyncio
from collections import Counter
from datetime import timedelta

from postern.kernel.outbound.client import Outbound
from postern.platform.webhooks.work import CONCURRENT_REQUESTS, WORK
from tests.peers.http_receiver import Reply
from tests.workers import at_work

ENDPOINTS = 50
DEAD, SLOW, REDIRECTING, GONE = range(4)
EVENTS = 40
PATIENCE = timedelta(hours=1)
"""Timeout of requests in these tests, so long that only the test decides when slow endpoints respond."""


async def until(condition, seconds=90):
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.05)


async def test_failing_endpoints_do_not_delay_others(subscribe, happen, receiver, world, project, monkeypatch):
    connected = Counter()
    connect = asyncio.get_running_loop().create_connection

    async def counted(make, host, port, **options):
        connected[host, port] += 1
        return await connect(make, host, port, **options)

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", counted)
    world.outbound = Outbound(
        world.resolver.addresses, allowed=world.settings.outbound_allow, total=PATIENCE, connect=PATIENCE
    )
    hooks = [await subscribe("custom.*", path=f"/{number}") for number in range(ENDPOINTS)]
    healthy = hooks[GONE + 1 :]
    told = await subscribe("webhook.disabled", path="/told")
    released = asyncio.Event()
    receiver.script("/0", Reply(until=released, mode="hangup"))
    receiver.script("/1", Reply(until=released))
    location = {"Location": "http://169.254.169.254/latest/meta-data/"}
    receiver.script("/2", Reply(status=302, headers=location))
    receiver.script("/3", Reply(status=410))
    ids = []

    async def all_told():
        """Whether every responding endpoint has received every event."""
        if any(len(receiver.received(hook.path)) < EVENTS for hook in healthy):
            return False
        answering = [await hook.deliveries(f"?limit={EVENTS}") for hook in (*healthy, hooks[REDIRECTING], hooks[GONE])]
        tried = all(each["attempts"] or each["status"] == "FAILED" for found in answering for each in found)
        return tried and bool(receiver.received(told.path))

    async def slow_ones_told():
        found = await hooks[DEAD].deliveries() + await hooks[SLOW].deliveries()
        return all(each["attempts"] for each in found)

    async with at_work(world, WORK):
        for _ in range(EVENTS // 4):
            ids += await happen("order.placed", 4)
        await until(all_told)
        for number in (DEAD, SLOW):
            held = receiver.waiting[f"/{number}"]
            assert 1 <= held <= CONCURRENT_REQUESTS, "it is still at it while everybody else has everything"
            states = Counter((each["status"], each["attempts"]) for each in await hooks[number].deliveries())
            assert states == {("PENDING", 0): EVENTS}
        for hook in healthy:
            assert Counter(request.headers["webhook-id"] for request in receiver.received(hook.path)) == Counter(ids)
            assert {(each["status"], each["attempts"]) for each in await hook.deliveries()} == {("SUCCEEDED", 1)}
        released.set()
        await until(slow_ones_told)

    states = {number: {each["status"] for each in await hooks[number].deliveries()} for number in range(4)}
    assert states == {DEAD: {"PENDING"}, SLOW: {"SUCCEEDED"}, REDIRECTING: {"PENDING"}, GONE: {"FAILED"}}
    assert [(await hook.row())["active"] for hook in hooks] == [number != GONE for number in range(ENDPOINTS)]
    assert {each["responseStatus"] for each in await hooks[REDIRECTING].deliveries()} == {302}
    assert set(connected) == {("127.0.0.1", receiver.port)}, "nothing but the receiver was ever connected to"
    off = (await project.client.get("/events?type=webhook.disabled")).json()["data"]
    assert [event["subjectId"] for event in off] == [hooks[GONE].id]
    assert len(receiver.received(told.path)) == 1
    await world.outbound.close()


async def test_concurrent_requests_to_one_endpoint_are_limited(subscribe, happen, receiver, work_off):
    hook = await subscribe("custom.*", path="/hook?delay=0.05")
    await happen("order.placed", 40)
    await work_off()
    assert len(receiver.requests) == 40
    assert receiver.connections <= 10
    assert {each["attempts"] for each in await hook.deliveries()} == {1}
