"""Fifty endpoints, four of them bad: the others notice nothing. With a worker as it runs in production."""

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from datetime import timedelta

from postern.kernel.due import Worker
from postern.kernel.outbound import Outbound
from postern.webhooks.work import WORK

ENDPOINTS = 50
BAD = {
    0: "/0?mode=silent",
    1: "/1?delay=0.4",
    2: "/2?status=302&location=http://169.254.169.254/latest/meta-data/",
    3: "/3?status=410",
}
EVENTS = 40


@asynccontextmanager
async def at_work(world):
    worker = Worker(world, WORK)
    running = asyncio.create_task(worker.run())
    try:
        yield
    finally:
        worker.stop()
        await asyncio.wait_for(running, 30)


async def until(condition, seconds=90):
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.05)


async def test_bad_endpoints_delay_nobody(subscribe, happen, receiver, world, clock, project, monkeypatch):
    clock.start = None  # Real time: this is about waiting.
    connected = Counter()
    connect = asyncio.get_running_loop().create_connection

    async def counted(make, host, port, **options):
        connected[host, port] += 1
        return await connect(make, host, port, **options)

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", counted)
    world.outbound = Outbound(
        world.resolver.addresses, allowed=world.settings.outbound_allow, total=timedelta(seconds=0.6)
    )
    hooks = [await subscribe("custom.*", path=BAD.get(number, f"/{number}")) for number in range(ENDPOINTS)]
    healthy = hooks[len(BAD) :]
    told = await subscribe("webhook.disabled", path="/told")
    ids = []

    async def all_told():
        return all(len(receiver.received(hook.path)) >= EVENTS for hook in healthy)

    async with at_work(world):
        for _ in range(EVENTS // 4):
            ids += await happen("order.placed", 4)
        await until(all_told)
        assert receiver.received(hooks[1].path), "the slow one is told too, at its own pace"

    assert [(await hook.row())["active"] for hook in hooks] == [number != 3 for number in range(ENDPOINTS)]
    for hook in healthy:
        assert Counter(request.headers["webhook-id"] for request in receiver.received(hook.path)) == Counter(ids)
        assert {each["status"] for each in await hook.deliveries()} == {"SUCCEEDED"}
    assert {each["responseStatus"] for each in await hooks[2].deliveries() if each["attempts"]} == {302}
    assert {each["status"] for each in await hooks[3].deliveries()} == {"FAILED"}
    assert set(connected) == {("127.0.0.1", receiver.port)}, "nothing but the receiver was ever connected to"
    off = (await project.client.get("/events?type=webhook.disabled")).json()["data"]
    assert [event["subjectId"] for event in off] == [hooks[3].id]
    async with at_work(world):
        await until(lambda: _arrived(receiver, told))
    await world.outbound.close()


async def _arrived(receiver, hook):
    return bool(receiver.received(hook.path))


async def test_requests_to_one_endpoint_are_few_at_a_time(subscribe, happen, receiver, work_off):
    hook = await subscribe("custom.*", path="/hook?delay=0.05")
    await happen("order.placed", 40)
    await work_off()
    assert len(receiver.requests) == 40
    assert receiver.connections <= 10
    assert {each["attempts"] for each in await hook.deliveries()} == {1}
