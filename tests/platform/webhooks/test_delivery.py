"""Delivery of events: signing, retries, deactivation, replays, and retention."""

from datetime import timedelta
from uuid import UUID, uuid4

import pytest
import standardwebhooks
import svix

from postern.kernel.due import claim, drain, find_due
from postern.platform.events import operations as events
from postern.platform.webhooks.rules import ATTEMPT_DELAYS
from postern.platform.webhooks.work import WORK, deliver
from tests.event_data import MADE_BY_TEST
from tests.peers.http_receiver import Reply

DELIVERY_WORK = WORK[0]
ALL_RETRIES = timedelta(days=30)


async def test_an_event_is_delivered_signed(subscribe, record_events, receiver, run_due_work, clock):
    subscription = await subscribe("email.delivered")
    (event_id,) = await record_events(recipient="ada@example.com")
    await record_events("email.bounced")
    await run_due_work()
    (request,) = receiver.requests
    assert request.headers["webhook-id"] == event_id
    assert request.headers["content-type"] == "application/json"
    assert int(request.headers["webhook-timestamp"]) == int(clock().timestamp())
    for library in (standardwebhooks.Webhook, svix.Webhook):
        library(subscription.secret).verify(request.body, dict(request.headers))
    delivery = await subscription.delivery()
    assert request.json == delivery["payload"]
    assert request.json["type"] == "email.delivered"
    assert request.json["data"]["recipient"] == "ada@example.com"
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == ("SUCCEEDED", 1, 200)
    assert (delivery["event"], delivery["eventId"], delivery["errorMessage"]) == ("email.delivered", event_id, None)
    assert delivery["deliveredAt"]
    detail = (await subscription.project.client.get(f"/webhooks/{subscription.id}/deliveries/{delivery['id']}")).json()
    assert detail["responseBody"] == "ok"


async def test_an_event_of_a_rolled_back_transaction_is_not_delivered(
    subscribe, world, project, receiver, run_due_work
):
    await subscribe("*")
    with pytest.raises(ZeroDivisionError):
        async with world.db.transaction() as tx:
            await events.record_all(
                tx,
                [events.make_event(UUID(project.id), "email.sent", uuid4(), world.clock(), actor_label=MADE_BY_TEST)],
            )
            raise ZeroDivisionError
    await run_due_work()
    assert not receiver.requests


async def test_events_are_not_delivered_to_other_projects(
    subscribe, record_events, new_project, receiver, run_due_work
):
    other_project = await new_project()
    await subscribe("*", of=other_project, path="/theirs")
    await subscribe("*", path="/mine")
    await record_events()
    await run_due_work()
    assert [request.path for request in receiver.requests] == ["/mine"]


async def test_retries_follow_the_schedule(subscribe, record_events, receiver, run_due_work, clock, world):
    """Ten attempts, each after 80% to 120% of the delay of the schedule."""
    subscription = await subscribe()
    receiver.script("/hook", Reply(status=500, body=b"no\0pe"))
    (event_id,) = await record_events()
    for number, delay in enumerate(ATTEMPT_DELAYS):
        if number:
            clock.move(delay * 0.79)
            await run_due_work()
            assert len(receiver.requests) == number, "too early"
            clock.move(delay * 0.42)
        await run_due_work()
        assert len(receiver.requests) == number + 1, f"attempt {number + 1} is late"
    delivery = await subscription.delivery()
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == ("FAILED", 10, 500)
    assert (delivery["errorMessage"], delivery["nextAttemptAt"]) == ("The endpoint responded with 500.", None)
    clock.move(timedelta(days=1))
    await run_due_work()
    assert len(receiver.requests) == 10
    assert {request.headers["webhook-id"] for request in receiver.requests} == {event_id}
    assert len({request.headers["webhook-timestamp"] for request in receiver.requests}) == 10
    assert all(subscription.verify(request) for request in receiver.requests)
    assert (await subscription.row())["active"], "three days of failures do not deactivate it"


async def test_retry_after_is_respected(subscribe, record_events, receiver, run_due_work, clock):
    await subscribe()
    receiver.script("/hook", Reply(status=429, headers={"Retry-After": "1800"}), Reply())
    await record_events()
    await run_due_work()
    clock.move(timedelta(seconds=1_800 * 0.79))
    await run_due_work()
    assert len(receiver.requests) == 1
    clock.move(timedelta(seconds=1_800 * 0.42))
    await run_due_work()
    assert len(receiver.requests) == 2


async def test_410_deactivates_the_subscription_at_once(subscribe, record_events, receiver, run_due_work, project):
    subscription, other = await subscribe("email.*"), await subscribe("webhook.*", path="/other")
    receiver.script("/hook", Reply(status=410))
    await record_events(count=25)
    await run_due_work()
    row = await subscription.row()
    assert (row["active"], row["disabledReason"]) == (False, "The endpoint responded with 410 Gone.")
    assert {delivery["status"] for delivery in await subscription.deliveries()} == {"FAILED"}
    assert len(receiver.received("/hook")) <= 10, "pending deliveries are not sent any more"
    (notification,) = receiver.received("/other")
    assert other.verify(notification)["type"] == "webhook.disabled"
    assert notification.json["data"]["id"] == subscription.id
    disabled_events = (await project.client.get("/events?type=webhook.disabled")).json()["data"]
    assert len(disabled_events) == 1
    await record_events()
    await run_due_work()
    assert len(await subscription.deliveries()) == 25, "nothing is queued for an inactive subscription"


async def test_five_days_of_failures_deactivate_the_subscription(
    subscribe, record_events, receiver, run_due_work, clock, project
):
    subscription = await subscribe("email.*")
    receiver.script("/hook", Reply(status=503))
    for _ in range(6):
        await record_events(count=2)
        await run_due_work()
        assert (await subscription.row())["active"]
        clock.move(timedelta(hours=23))
    clock.move(timedelta(hours=1))
    await record_events()
    await run_due_work()
    row = await subscription.row()
    assert row["active"] is False
    assert "5 days" in row["disabledReason"]
    clock.move(ALL_RETRIES)
    await run_due_work()
    assert len((await project.client.get("/events?type=webhook.disabled")).json()["data"]) == 1
    activated = await project.client.patch(f"/webhooks/{subscription.id}", {"active": True})
    assert (activated.json()["active"], activated.json()["disabledReason"], activated.json()["failingSince"]) == (
        True,
        None,
        None,
    )
    receiver.script("/hook", Reply())
    await record_events()
    await run_due_work()
    assert (await subscription.deliveries())[0]["status"] == "SUCCEEDED"


async def test_a_success_resets_the_failures(subscribe, record_events, receiver, run_due_work, clock):
    subscription = await subscribe("email.*")
    receiver.script("/hook", *[Reply(status=500)] * 3, Reply(), Reply(status=500))
    for _ in range(5):
        await record_events()
        await run_due_work()
        clock.move(timedelta(seconds=1))
    since = (await subscription.row())["failingSince"]
    assert since > (await subscription.deliveries())[1]["deliveredAt"]


async def test_a_redirect_is_not_followed(subscribe, record_events, receiver, run_due_work):
    subscription = await subscribe(path="/hook?status=302&location=http://169.254.169.254/")
    await record_events()
    await run_due_work()
    delivery = await subscription.delivery()
    assert (delivery["status"], delivery["responseStatus"]) == ("PENDING", 302)
    assert "not followed" in delivery["errorMessage"]


async def test_a_name_that_resolves_to_a_private_address_is_never_called(
    subscribe, record_events, run_due_work, world, monkeypatch
):
    async def resolve(name):
        return ["10.0.0.1"]

    monkeypatch.setattr(world.outbound, "_lookup", resolve)
    subscription = await subscribe(url="http://inside.example/")
    await record_events()
    await run_due_work()
    delivery = await subscription.delivery()
    assert (delivery["status"], delivery["responseStatus"]) == ("PENDING", None)
    assert delivery["errorMessage"].startswith("Not called")
    result = (await subscription.project.client.post(f"/webhooks/{subscription.id}/test")).json()
    assert (result["status"], result["ok"]) == (None, False)


async def test_two_secrets_sign_after_a_rotation(subscribe, record_events, receiver, run_due_work, clock, project):
    subscription = await subscribe()
    old = subscription.secret
    rotated = await project.client.post(f"/webhooks/{subscription.id}/rotate-secret", {"gracePeriodSeconds": 600})
    subscription.secret = rotated.json()["secret"]
    assert subscription.secret != old
    await record_events()
    await run_due_work()
    for secret in (old, subscription.secret):
        standardwebhooks.Webhook(secret).verify(receiver.requests[0].body, dict(receiver.requests[0].headers))
    clock.move(timedelta(seconds=601))
    await record_events()
    await run_due_work()
    subscription.verify(receiver.requests[1])
    subscription.secret = old
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        subscription.verify(receiver.requests[1])
    rotated_again = await project.client.post(f"/webhooks/{subscription.id}/rotate-secret")
    assert rotated_again.json()["previousSecretExpiresAt"]
    refused = await project.client.post(f"/webhooks/{subscription.id}/rotate-secret", {"gracePeriodSeconds": 604_801})
    assert refused.status_code == 400


async def test_a_replay_has_the_same_webhook_id(subscribe, record_events, receiver, run_due_work, clock, project):
    subscription = await subscribe()
    await record_events()
    await run_due_work()
    delivery = await subscription.delivery()
    clock.move(timedelta(hours=1))
    replayed = await project.client.post(f"/webhooks/{subscription.id}/deliveries/{delivery['id']}/replay")
    assert replayed.status_code == 204
    assert (await subscription.delivery())["status"] == "PENDING"
    await run_due_work()
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-timestamp"] < second.headers["webhook-timestamp"]
    assert first.body == second.body
    assert (await subscription.delivery())["attempts"] == 2
    await project.client.patch(f"/webhooks/{subscription.id}", {"active": False})
    refused = await project.client.post(f"/webhooks/{subscription.id}/deliveries/{delivery['id']}/replay")
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_inactive")
    unknown = await project.client.post(f"/webhooks/{subscription.id}/deliveries/{uuid4()}/replay")
    assert unknown.status_code == 409


async def test_failed_deliveries_are_replayed_after_an_outage(
    subscribe, record_events, receiver, run_due_work, clock, project
):
    subscription = await subscribe()
    receiver.script("/hook", Reply())
    await record_events(count=3)
    await run_due_work()
    clock.move(timedelta(minutes=1))
    outage_began = clock()
    await project.client.patch(f"/webhooks/{subscription.id}", {"active": True})
    receiver.script("/hook", Reply(status=500))
    await record_events(count=5)
    for delay in ATTEMPT_DELAYS:
        clock.move(delay * 1.2)
        await run_due_work()
    assert [delivery["status"] for delivery in await subscription.deliveries("?status=FAILED")] == ["FAILED"] * 5
    receiver.script("/hook", Reply())
    body = {
        "since": outage_began.isoformat(),
        "until": (outage_began + timedelta(minutes=1)).isoformat(),
        "status": "FAILED",
    }
    replayed = await project.client.post(f"/webhooks/{subscription.id}/deliveries/replay", body)
    assert replayed.json() == {"replayed": 5, "more": False}
    await run_due_work()
    assert {delivery["status"] for delivery in await subscription.deliveries()} == {"SUCCEEDED"}
    assert [delivery["attempts"] for delivery in await subscription.deliveries()] == [11] * 5 + [1] * 3
    none_replayed = await project.client.post(
        f"/webhooks/{subscription.id}/deliveries/replay", {"since": clock().isoformat()}
    )
    assert none_replayed.json()["replayed"] == 0
    reversed_period = {"since": clock().isoformat(), "until": outage_began.isoformat()}
    assert (
        await project.client.post(f"/webhooks/{subscription.id}/deliveries/replay", reversed_period)
    ).status_code == 400


async def test_the_list_of_deliveries_is_paginated_and_filtered(
    subscribe, record_events, receiver, run_due_work, project
):
    subscription = await subscribe()
    receiver.script("/hook", Reply(status=500), Reply())
    await record_events("email.bounced")
    await run_due_work()
    ids = await record_events(count=4)
    await run_due_work()
    assert [delivery["eventId"] for delivery in await subscription.deliveries("?event=email.delivered")] == ids[::-1]
    assert [delivery["event"] for delivery in await subscription.deliveries("?status=PENDING")] == ["email.bounced"]
    assert len(await subscription.deliveries("?status=PENDING,SUCCEEDED")) == 5
    first = await project.client.get(f"/webhooks/{subscription.id}/deliveries?limit=3")
    next_page = first.links["next"]["url"].split("8025")[1]
    second = await project.client.get(next_page)
    assert [delivery["eventId"] for delivery in first.json() + second.json()][:4] == ids[::-1]
    assert "next" not in second.links
    for path in (next_page + "x", f"/webhooks/{subscription.id}/deliveries?status=LOST"):
        assert (await project.client.get(path)).status_code == 400


async def test_the_test_operation_returns_the_result(subscribe, receiver, project):
    subscription = await subscribe("email.sent")
    receiver.script("/hook", Reply(status=418, body=b"secret"))
    result = (await project.client.post(f"/webhooks/{subscription.id}/test")).json()
    assert set(result) == {"status", "ok", "responseTime", "reason"}
    assert (result["status"], result["ok"]) == (418, False)
    assert "418" in result["reason"]
    (request,) = receiver.requests
    assert subscription.verify(request)["type"] == "webhook.test"
    assert await subscription.deliveries() == []


async def test_pending_deliveries_of_an_inactive_subscription_fail(
    subscribe, record_events, receiver, run_due_work, project
):
    subscription = await subscribe()
    await record_events()
    await project.client.patch(f"/webhooks/{subscription.id}", {"active": False})
    await run_due_work()
    delivery = await subscription.delivery()
    assert (delivery["status"], delivery["attempts"]) == ("FAILED", 0)
    assert "inactive" in delivery["errorMessage"]
    assert not receiver.requests


async def test_erasing_an_event_erases_the_payload_of_its_deliveries(
    subscribe, record_events, receiver, world, project
):
    subscription = await subscribe()
    (event_id,) = await record_events(name="Ada")
    async with world.db.connection() as connection:
        await connection.execute(
            "delete from events where project_id = %s and id = %s", (UUID(project.id), UUID(event_id))
        )
    await drain(world, [DELIVERY_WORK])
    delivery = await subscription.delivery()
    assert (delivery["status"], delivery["payload"]) == ("FAILED", {})
    assert not receiver.requests


async def test_a_worker_whose_lease_expired_stores_no_result(subscribe, record_events, receiver, world, clock):
    subscription = await subscribe()
    receiver.script("/hook", Reply(), Reply(status=500))
    await record_events()
    (lane,) = [
        lane for lane in (await find_due(world.db, DELIVERY_WORK, clock())).lanes if str(lane.group) == subscription.id
    ]
    expired_claim = await claim(world.db, DELIVERY_WORK, lane, clock(), 10)
    assert await claim(world.db, DELIVERY_WORK, lane, clock(), 10) == [], "leased"
    clock.move(timedelta(seconds=61))
    valid_claim = await claim(world.db, DELIVERY_WORK, lane, clock(), 10)
    await deliver(world, valid_claim)
    await deliver(world, expired_claim)
    delivery = await subscription.delivery()
    assert (delivery["status"], delivery["attempts"]) == ("SUCCEEDED", 1)
    assert len(receiver.requests) == 2, "requested twice, recorded once"


async def test_expired_deliveries_are_deleted(subscribe, record_events, run_due_work, clock):
    subscription = await subscribe()
    await record_events(count=3)
    await run_due_work()
    clock.move(timedelta(days=29))
    await record_events()
    await run_due_work()
    assert len(await subscription.deliveries()) == 4
    clock.move(timedelta(days=2))
    await run_due_work()
    assert len(await subscription.deliveries()) == 1


async def test_deleting_a_subscription_deletes_its_deliveries(
    subscribe, record_events, receiver, run_due_work, project
):
    subscription = await subscribe()
    await record_events()
    await project.client.delete(f"/webhooks/{subscription.id}")
    await run_due_work()
    assert not receiver.requests
    assert (await project.client.get(f"/webhooks/{subscription.id}/deliveries")).status_code == 404


async def test_events_recorded_in_bulk_are_delivered(subscribe, project, receiver, run_due_work):
    subscription, other = await subscribe("audience.joined"), await subscribe("email.*", path="/other")
    audience = (await project.client.post("/audiences", {"name": "All"})).json()["id"]
    body = {"emails": [f"{number}@example.com" for number in range(120)]}
    await project.client.post(f"/audiences/{audience}/contacts/bulk-email", body)
    await run_due_work()
    requests = receiver.received(subscription.path)
    assert len({request.headers["webhook-id"] for request in requests}) == len(requests) == 120
    assert {subscription.verify(request)["data"]["audienceId"] for request in requests} == {audience}
    assert len({request.json["data"]["id"] for request in requests}) == 120
    assert receiver.received(other.path) == []
