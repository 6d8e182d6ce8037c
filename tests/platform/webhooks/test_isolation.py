"""Slow and failing endpoints do not delay the others: four of fifty, with a worker as in production."""

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
REQUEST_TIMEOUT = timedelta(hours=1)
"""Timeout of requests in these tests, so long that only the test decides when slow endpoints respond."""


async def until(condition, seconds=90):
    async with asyncio.timeout(seconds):
        while not await condition():
            await asyncio.sleep(0.05)


async def test_failing_endpoints_do_not_delay_others(subscribe, record_events, receiver, world, project, monkeypatch):
    connected = Counter()
    connect = asyncio.get_running_loop().create_connection

    async def count_and_connect(protocol_factory, host, port, **options):
        connected[host, port] += 1
        return await connect(protocol_factory, host, port, **options)

    monkeypatch.setattr(asyncio.get_running_loop(), "create_connection", count_and_connect)
    world.outbound = Outbound(
        world.resolver.addresses, allowed=world.settings.outbound_allow, total=REQUEST_TIMEOUT, connect=REQUEST_TIMEOUT
    )
    subscriptions = [await subscribe("custom.*", path=f"/{number}") for number in range(ENDPOINTS)]
    healthy = subscriptions[GONE + 1 :]
    notified = await subscribe("webhook.disabled", path="/notified")
    released = asyncio.Event()
    receiver.script("/0", Reply(until=released, mode="hangup"))
    receiver.script("/1", Reply(until=released))
    location = {"Location": "http://169.254.169.254/latest/meta-data/"}
    receiver.script("/2", Reply(status=302, headers=location))
    receiver.script("/3", Reply(status=410))
    ids = []

    async def others_have_received():
        """Whether every healthy endpoint has received every event, and the failing ones were attempted."""
        if any(len(receiver.received(subscription.path)) < EVENTS for subscription in healthy):
            return False
        deliveries_by_endpoint = [
            await subscription.deliveries(f"?limit={EVENTS}")
            for subscription in (*healthy, subscriptions[REDIRECTING], subscriptions[GONE])
        ]
        all_attempted = all(
            delivery["attempts"] or delivery["status"] == "FAILED"
            for deliveries in deliveries_by_endpoint
            for delivery in deliveries
        )
        return all_attempted and bool(receiver.received(notified.path))

    async def slow_ones_were_attempted():
        """Whether every delivery to the two slow endpoints was attempted."""
        deliveries = await subscriptions[DEAD].deliveries() + await subscriptions[SLOW].deliveries()
        return all(delivery["attempts"] for delivery in deliveries)

    async with at_work(world, WORK):
        for _ in range(EVENTS // 4):
            ids += await record_events("order.placed", 4)
        await until(others_have_received)
        for number in (DEAD, SLOW):
            waiting_requests = receiver.waiting[f"/{number}"]
            assert 1 <= waiting_requests <= CONCURRENT_REQUESTS, (
                "its requests still wait, while the others have received everything"
            )
            states = Counter(
                (delivery["status"], delivery["attempts"]) for delivery in await subscriptions[number].deliveries()
            )
            assert states == {("PENDING", 0): EVENTS}
        for subscription in healthy:
            assert Counter(
                request.headers["webhook-id"] for request in receiver.received(subscription.path)
            ) == Counter(ids)
            assert {(delivery["status"], delivery["attempts"]) for delivery in await subscription.deliveries()} == {
                ("SUCCEEDED", 1)
            }
        released.set()
        await until(slow_ones_were_attempted)

    states = {
        number: {delivery["status"] for delivery in await subscriptions[number].deliveries()} for number in range(4)
    }
    assert states == {DEAD: {"PENDING"}, SLOW: {"SUCCEEDED"}, REDIRECTING: {"PENDING"}, GONE: {"FAILED"}}
    assert [(await subscription.row())["active"] for subscription in subscriptions] == [
        number != GONE for number in range(ENDPOINTS)
    ]
    assert {delivery["responseStatus"] for delivery in await subscriptions[REDIRECTING].deliveries()} == {302}
    assert set(connected) == {("127.0.0.1", receiver.port)}, "connections went only to the receiver"
    disabled_events = (await project.client.get("/events?type=webhook.disabled")).json()["data"]
    assert [event["subjectId"] for event in disabled_events] == [subscriptions[GONE].id]
    assert len(receiver.received(notified.path)) == 1
    await world.outbound.close()


async def test_concurrent_requests_to_one_endpoint_are_limited(subscribe, record_events, receiver, run_due_work):
    subscription = await subscribe("custom.*", path="/hook?delay=0.05")
    await record_events("order.placed", 40)
    await run_due_work()
    assert len(receiver.requests) == 40
    assert receiver.connections <= 10
    assert {delivery["attempts"] for delivery in await subscription.deliveries()} == {1}
