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
from tests.peers.http_receiver import Reply

DELIVERING = WORK[0]
WHOLE = timedelta(days=30)


async def test_an_event_is_delivered_signed(subscribe, happen, receiver, work_off, clock):
    hook = await subscribe("email.delivered")
    (event_id,) = await happen(recipient="ada@example.com")
    await happen("email.bounced")
    await work_off()
    (request,) = receiver.requests
    assert request.headers["webhook-id"] == event_id
    assert request.headers["content-type"] == "application/json"
    assert int(request.headers["webhook-timestamp"]) == int(clock().timestamp())
    for library in (standardwebhooks.Webhook, svix.Webhook):
        library(hook.secret).verify(request.body, dict(request.headers))
    delivery = await hook.delivery()
    assert request.json == delivery["payload"]
    assert request.json["type"] == "email.delivered"
    assert request.json["data"]["recipient"] == "ada@example.com"
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == ("SUCCEEDED", 1, 200)
    assert (delivery["event"], delivery["eventId"], delivery["errorMessage"]) == ("email.delivered", event_id, None)
    assert delivery["deliveredAt"]
    detail = (await hook.project.client.get(f"/webhooks/{hook.id}/deliveries/{delivery['id']}")).json()
    assert detail["responseBody"] == "ok"


async def test_an_event_of_a_rolled_back_transaction_is_not_delivered(subscribe, world, project, receiver, work_off):
    await subscribe("*")
    with pytest.raises(ZeroDivisionError):
        async with world.db.transaction() as tx:
            await events.record_all(tx, [events.make_event(UUID(project.id), "email.sent", uuid4(), world.clock())])
            raise ZeroDivisionError
    await work_off()
    assert not receiver.requests


async def test_events_are_not_delivered_to_other_projects(subscribe, happen, new_project, receiver, work_off):
    theirs = await new_project()
    await subscribe("*", of=theirs, path="/theirs")
    await subscribe("*", path="/mine")
    await happen()
    await work_off()
    assert [request.path for request in receiver.requests] == ["/mine"]


async def test_retries_follow_the_schedule(subscribe, happen, receiver, work_off, clock, world):
    """Ten attempts, each after 80% to 120% of the delay of the schedule."""
    hook = await subscribe()
    receiver.script("/hook", Reply(status=500, body=b"no\0pe"))
    (event_id,) = await happen()
    for number, pause in enumerate(ATTEMPT_DELAYS):
        if number:
            clock.move(pause * 0.79)
            await work_off()
            assert len(receiver.requests) == number, "too early"
            clock.move(pause * 0.42)
        await work_off()
        assert len(receiver.requests) == number + 1, f"attempt {number + 1} is late"
    delivery = await hook.delivery()
    assert (delivery["status"], delivery["attempts"], delivery["responseStatus"]) == ("FAILED", 10, 500)
    assert (delivery["errorMessage"], delivery["nextAttemptAt"]) == ("The endpoint responded with 500.", None)
    clock.move(timedelta(days=1))
    await work_off()
    assert len(receiver.requests) == 10
    assert {request.headers["webhook-id"] for request in receiver.requests} == {event_id}
    assert len({request.headers["webhook-timestamp"] for request in receiver.requests}) == 10
    assert all(hook.verify(request) for request in receiver.requests)
    assert (await hook.row())["active"], "three days of failures are not five"


async def test_retry_after_is_respected(subscribe, happen, receiver, work_off, clock):
    await subscribe()
    receiver.script("/hook", Reply(status=429, headers={"Retry-After": "1800"}), Reply())
    await happen()
    await work_off()
    clock.move(timedelta(seconds=1_800 * 0.79))
    await work_off()
    assert len(receiver.requests) == 1
    clock.move(timedelta(seconds=1_800 * 0.42))
    await work_off()
    assert len(receiver.requests) == 2


async def test_410_deactivates_the_subscription_at_once(subscribe, happen, receiver, work_off, project):
    hook, other = await subscribe("email.*"), await subscribe("webhook.*", path="/other")
    receiver.script("/hook", Reply(status=410))
    await happen(count=25)
    await work_off()
    row = await hook.row()
    assert (row["active"], row["disabledReason"]) == (False, "The endpoint responded with 410 Gone.")
    assert {each["status"] for each in await hook.deliveries()} == {"FAILED"}
    assert len(receiver.received("/hook")) <= 10, "what was not under way is not sent any more"
    (told,) = receiver.received("/other")
    assert other.verify(told)["type"] == "webhook.disabled"
    assert told.json["data"]["id"] == hook.id
    happened = (await project.client.get("/events?type=webhook.disabled")).json()["data"]
    assert len(happened) == 1
    await happen()
    await work_off()
    assert len(await hook.deliveries()) == 25, "nothing is queued for a subscription that is off"


async def test_five_days_of_failures_deactivate_the_subscription(subscribe, happen, receiver, work_off, clock, project):
    hook = await subscribe("email.*")
    receiver.script("/hook", Reply(status=503))
    for _ in range(6):
        await happen(count=2)
        await work_off()
        assert (await hook.row())["active"]
        clock.move(timedelta(hours=23))
    clock.move(timedelta(hours=1))
    await happen()
    await work_off()
    row = await hook.row()
    assert row["active"] is False
    assert "5 days" in row["disabledReason"]
    clock.move(WHOLE)
    await work_off()
    assert len((await project.client.get("/events?type=webhook.disabled")).json()["data"]) == 1
    on = await project.client.patch(f"/webhooks/{hook.id}", {"active": True})
    assert (on.json()["active"], on.json()["disabledReason"], on.json()["failingSince"]) == (True, None, None)
    receiver.script("/hook", Reply())
    await happen()
    await work_off()
    assert (await hook.deliveries())[0]["status"] == "SUCCEEDED"


async def test_a_success_resets_the_failures(subscribe, happen, receiver, work_off, clock):
    hook = await subscribe("email.*")
    receiver.script("/hook", *[Reply(status=500)] * 3, Reply(), Reply(status=500))
    for _ in range(5):
        await happen()
        await work_off()
        clock.move(timedelta(seconds=1))
    since = (await hook.row())["failingSince"]
    assert since > (await hook.deliveries())[1]["deliveredAt"]


async def test_a_redirect_is_not_followed(subscribe, happen, receiver, work_off):
    hook = await subscribe(path="/hook?status=302&location=http://169.254.169.254/")
    await happen()
    await work_off()
    delivery = await hook.delivery()
    assert (delivery["status"], delivery["responseStatus"]) == ("PENDING", 302)
    assert "not followed" in delivery["errorMessage"]


async def test_a_name_that_resolves_to_a_private_address_is_never_called(
    subscribe, happen, work_off, world, monkeypatch
):
    async def lookup(name):
        return ["10.0.0.1"]

    monkeypatch.setattr(world.outbound, "_lookup", lookup)
    hook = await subscribe(url="http://inside.example/")
    await happen()
    await work_off()
    delivery = await hook.delivery()
    assert (delivery["status"], delivery["responseStatus"]) == ("PENDING", None)
    assert delivery["errorMessage"].startswith("Not called")
    tried = (await hook.project.client.post(f"/webhooks/{hook.id}/test")).json()
    assert (tried["status"], tried["ok"]) == (None, False)


async def test_two_secrets_sign_after_a_rotation(subscribe, happen, receiver, work_off, clock, project):
    hook = await subscribe()
    old = hook.secret
    rotated = await project.client.post(f"/webhooks/{hook.id}/rotate-secret", {"gracePeriodSeconds": 600})
    hook.secret = rotated.json()["secret"]
    assert hook.secret != old
    await happen()
    await work_off()
    for secret in (old, hook.secret):
        standardwebhooks.Webhook(secret).verify(receiver.requests[0].body, dict(receiver.requests[0].headers))
    clock.move(timedelta(seconds=601))
    await happen()
    await work_off()
    hook.verify(receiver.requests[1])
    hook.secret = old
    with pytest.raises(standardwebhooks.WebhookVerificationError):
        hook.verify(receiver.requests[1])
    plain = await project.client.post(f"/webhooks/{hook.id}/rotate-secret")
    assert plain.json()["previousSecretExpiresAt"]
    refused = await project.client.post(f"/webhooks/{hook.id}/rotate-secret", {"gracePeriodSeconds": 604_801})
    assert refused.status_code == 400


async def test_a_replay_has_the_same_webhook_id(subscribe, happen, receiver, work_off, clock, project):
    hook = await subscribe()
    await happen()
    await work_off()
    delivery = await hook.delivery()
    clock.move(timedelta(hours=1))
    again = await project.client.post(f"/webhooks/{hook.id}/deliveries/{delivery['id']}/replay")
    assert again.status_code == 204
    assert (await hook.delivery())["status"] == "PENDING"
    await work_off()
    first, second = receiver.requests
    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-timestamp"] < second.headers["webhook-timestamp"]
    assert first.body == second.body
    assert (await hook.delivery())["attempts"] == 2
    await project.client.patch(f"/webhooks/{hook.id}", {"active": False})
    refused = await project.client.post(f"/webhooks/{hook.id}/deliveries/{delivery['id']}/replay")
    assert (refused.status_code, refused.json()["code"]) == (409, "webhook_inactive")
    unknown = await project.client.post(f"/webhooks/{hook.id}/deliveries/{uuid4()}/replay")
    assert unknown.status_code == 409


async def test_failed_deliveries_are_replayed_after_an_outage(subscribe, happen, receiver, work_off, clock, project):
    hook = await subscribe()
    receiver.script("/hook", Reply())
    await happen(count=3)
    await work_off()
    clock.move(timedelta(minutes=1))
    began = clock()
    await project.client.patch(f"/webhooks/{hook.id}", {"active": True})
    receiver.script("/hook", Reply(status=500))
    await happen(count=5)
    for pause in ATTEMPT_DELAYS:
        clock.move(pause * 1.2)
        await work_off()
    assert [each["status"] for each in await hook.deliveries("?status=FAILED")] == ["FAILED"] * 5
    receiver.script("/hook", Reply())
    body = {"since": began.isoformat(), "until": (began + timedelta(minutes=1)).isoformat(), "status": "FAILED"}
    replayed = await project.client.post(f"/webhooks/{hook.id}/deliveries/replay", body)
    assert replayed.json() == {"replayed": 5, "more": False}
    await work_off()
    assert {each["status"] for each in await hook.deliveries()} == {"SUCCEEDED"}
    assert [each["attempts"] for each in await hook.deliveries()] == [11] * 5 + [1] * 3
    nothing = await project.client.post(f"/webhooks/{hook.id}/deliveries/replay", {"since": clock().isoformat()})
    assert nothing.json()["replayed"] == 0
    backwards = {"since": clock().isoformat(), "until": began.isoformat()}
    assert (await project.client.post(f"/webhooks/{hook.id}/deliveries/replay", backwards)).status_code == 400


async def test_the_list_of_deliveries_is_paginated_and_filtered(subscribe, happen, receiver, work_off, project):
    hook = await subscribe()
    receiver.script("/hook", Reply(status=500), Reply())
    await happen("email.bounced")
    await work_off()
    ids = await happen(count=4)
    await work_off()
    assert [each["eventId"] for each in await hook.deliveries("?event=email.delivered")] == ids[::-1]
    assert [each["event"] for each in await hook.deliveries("?status=PENDING")] == ["email.bounced"]
    assert len(await hook.deliveries("?status=PENDING,SUCCEEDED")) == 5
    first = await project.client.get(f"/webhooks/{hook.id}/deliveries?limit=3")
    following = first.links["next"]["url"].split("8025")[1]
    second = await project.client.get(following)
    assert [each["eventId"] for each in first.json() + second.json()][:4] == ids[::-1]
    assert "next" not in second.links
    for path in (following + "x", f"/webhooks/{hook.id}/deliveries?status=LOST"):
        assert (await project.client.get(path)).status_code == 400


async def test_the_test_operation_returns_the_result(subscribe, receiver, project):
    hook = await subscribe("email.sent")
    receiver.script("/hook", Reply(status=418, body=b"secret"))
    tried = (await project.client.post(f"/webhooks/{hook.id}/test")).json()
    assert set(tried) == {"status", "ok", "responseTime", "reason"}
    assert (tried["status"], tried["ok"]) == (418, False)
    assert "418" in tried["reason"]
    (request,) = receiver.requests
    assert hook.verify(request)["type"] == "webhook.test"
    assert await hook.deliveries() == []


async def test_pending_deliveries_of_an_inactive_subscription_fail(subscribe, happen, receiver, work_off, project):
    hook = await subscribe()
    await happen()
    await project.client.patch(f"/webhooks/{hook.id}", {"active": False})
    await work_off()
    delivery = await hook.delivery()
    assert (delivery["status"], delivery["attempts"]) == ("FAILED", 0)
    assert "inactive" in delivery["errorMessage"]
    assert not receiver.requests


async def test_erasing_an_event_erases_the_payload_of_its_deliveries(subscribe, happen, receiver, world, project):
    hook = await subscribe()
    (event_id,) = await happen(name="Ada")
    async with world.db.connection() as connection:
        await connection.execute(
            "delete from events where project_id = %s and id = %s", (UUID(project.id), UUID(event_id))
        )
    await drain(world, [DELIVERING])
    delivery = await hook.delivery()
    assert (delivery["status"], delivery["payload"]) == ("FAILED", {})
    assert not receiver.requests


async def test_a_worker_whose_lease_expired_stores_no_result(subscribe, happen, receiver, world, clock):
    hook = await subscribe()
    receiver.script("/hook", Reply(), Reply(status=500))
    await happen()
    (lane,) = [lane for lane in (await find_due(world.db, DELIVERING, clock())).lanes if str(lane.group) == hook.id]
    slow = await claim(world.db, DELIVERING, lane, clock(), 10)
    assert await claim(world.db, DELIVERING, lane, clock(), 10) == [], "leased"
    clock.move(timedelta(seconds=61))
    quick = await claim(world.db, DELIVERING, lane, clock(), 10)
    await deliver(world, quick)
    await deliver(world, slow)
    delivery = await hook.delivery()
    assert (delivery["status"], delivery["attempts"]) == ("SUCCEEDED", 1)
    assert len(receiver.requests) == 2, "told twice, recorded once"


async def test_expired_deliveries_are_deleted(subscribe, happen, work_off, clock):
    hook = await subscribe()
    await happen(count=3)
    await work_off()
    clock.move(timedelta(days=29))
    await happen()
    await work_off()
    assert len(await hook.deliveries()) == 4
    clock.move(timedelta(days=2))
    await work_off()
    assert len(await hook.deliveries()) == 1


async def test_deleting_a_subscription_deletes_its_deliveries(subscribe, happen, receiver, work_off, project):
    hook = await subscribe()
    await happen()
    await project.client.delete(f"/webhooks/{hook.id}")
    await work_off()
    assert not receiver.requests
    assert (await project.client.get(f"/webhooks/{hook.id}/deliveries")).status_code == 404


async def test_events_recorded_in_bulk_are_delivered(subscribe, project, receiver, work_off):
    hook, other = await subscribe("audience.joined"), await subscribe("email.*", path="/other")
    audience = (await project.client.post("/audiences", {"name": "All"})).json()["id"]
    body = {"emails": [f"{number}@example.com" for number in range(120)]}
    await project.client.post(f"/audiences/{audience}/contacts/bulk-email", body)
    await work_off()
    told = receiver.received(hook.path)
    assert len({request.headers["webhook-id"] for request in told}) == len(told) == 120
    assert {hook.verify(request)["data"]["audienceId"] for request in told} == {audience}
    assert len({request.json["data"]["id"] for request in told}) == 120
    assert receiver.received(other.path) == []
