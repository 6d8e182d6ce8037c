"""Shaping: the limits of sites (groups of mail servers that are limited together), and operations on the messages that
wait for them; with mail servers on loopback."""

import asyncio
import json
import os
import re
from collections import Counter
from datetime import UTC, datetime, timedelta

import msgspec
import psycopg
import pytest

from bench.emails import Server, verified_domain
from postern.kernel.config import SettingInvalid
from postern.kernel.values import NO_ID
from postern.messaging.emails import site_control, site_store
from postern.messaging.emails import sites as sites_module
from postern.messaging.emails.retention import delete_expired
from postern.messaging.emails.site_operations import RELEASED_AGAIN_AFTER
from postern.messaging.emails.sites import SHARE_LEASE, USED_SECONDS, Sites, read_shaping, renew_shares, sites
from postern.protocols.mail.transports import shaping
from postern.protocols.mail.transports.shaping import SiteKey
from tests.commands import run_command
from tests.messaging.emails.test_direct import MAIL, entry, sender
from tests.peers.loopback_internet import loopback_internet
from tests.peers.smtp_sink import Behaviour, Sink
from tests.peers.whole_server import own_database

__all__ = ["sender"]

BUSY = b"451 4.7.28 Too many messages from <ada@b.test>, slow down"


@pytest.fixture
async def internet(zone):
    async with loopback_internet(zone) as internet:
        yield internet


@pytest.fixture
def settings(settings, internet):
    return msgspec.structs.replace(settings, transport="direct", direct_port=internet.port)


async def queue(project, *addresses):
    """The ids of messages that a worker will deliver."""
    emails = [{**MAIL, "to": [address]} for address in addresses]
    created = await project.client.post("/emails/batch", {"emails": emails})
    assert created.status_code in (200, 201), created.text
    return [item["id"] for item in created.json()["data"]]


async def statuses(project, ids):
    return Counter([(await entry(project, send_id))["status"] for send_id in ids])


async def site_of(project, world, name):
    await sites(world).update()
    response = await project.client.get(f"/delivery/sites/{name}")
    assert response.status_code == 200, response.text
    return response.json()


async def operate(project, name, operation, **data):
    response = await project.client.post(f"/delivery/sites/{name}/{operation}", data or None)
    assert response.status_code in (200, 201), response.text
    return response.json()


# What is shown ---------------------------------------------------


async def test_a_site_has_the_results_of_its_domains(sender, internet, world, run_due_work):
    """Domains with the same mail servers are one site."""
    await internet.mail_server("b.test")
    internet.zone.add("c.test", "MX", "10 mx.b.test.")
    await queue(sender, "ada@b.test", "ada@c.test", "permfail@b.test", "tempfail@b.test")
    await run_due_work()
    site = await site_of(sender, world, "mx.b.test")
    assert (site["delivered"], site["deferred"], site["bounced"], site["waiting"]) == (2, 1, 1, 1)
    assert (site["state"], site["transport"], site["hosts"]) == ("OPEN", "direct", ["mx.b.test"])
    assert site["limits"] == site["defaultLimits"]
    assert site["limits"]["connections"] == 10
    assert site["oldestWaitingAt"]
    listed = (await sender.client.get("/delivery/sites?state=OPEN&transport=direct&q=b.test&include=total")).json()
    assert listed == [site]
    assert (await sender.client.get("/delivery/sites?state=SLOWED")).json() == []


async def test_a_project_sees_only_its_own_numbers(sender, internet, world, run_due_work, new_project):
    await internet.mail_server("b.test")
    await queue(sender, "ada@b.test", "tempfail@b.test")
    await run_due_work()
    await sites(world).update()
    other = await new_project()
    assert (await other.client.get("/delivery/sites")).json() == []
    assert (await other.client.get("/delivery/sites/mx.b.test")).status_code == 404
    for operation in ("suspend", "resume", "bounce"):
        body = None if operation == "resume" else {"reason": "x"}
        refused = await other.client.post(f"/delivery/sites/mx.b.test/{operation}", body)
        assert refused.status_code == 404, refused.text


# Slowing down and recovery ---------------------------------------------------


async def test_a_site_that_asks_for_less_mail_is_slowed_down_and_recovers(sender, internet, world, clock, run_due_work):
    sink = await internet.mail_server("b.test", Behaviour(replies={"RCPT": BUSY}))
    (first,) = await queue(sender, "ada@b.test")
    await run_due_work()
    await settled_background(world)
    site = await site_of(sender, world, "mx.b.test")
    assert (site["state"], site["throttledUntil"]) == ("SLOWED", None)
    assert site["limits"]["connections"] == 5
    assert site["limits"]["messagesPerMinute"] == site["defaultLimits"]["messagesPerMinute"] / 2
    assert site["lastReply"] == "451 4.7.28 Too many messages from <(address)>, slow down"
    clock.move(timedelta(minutes=7))
    await run_due_work()  # The second attempt: now there is a pause, too.
    await settled_background(world)
    site = await site_of(sender, world, "mx.b.test")
    assert site["limits"]["connections"] == 2
    assert site["throttledUntil"]
    (second,) = await queue(sender, "bob@b.test")
    attempts = sink.connections
    await run_due_work()
    assert sink.connections == attempts
    assert (await entry(sender, second))["status"] == "QUEUED", "It does not count as an attempt."
    sink.behaviour.replies.clear()
    for _ in range(20):
        clock.move(timedelta(minutes=2))
        await queue(sender, "eve@b.test")
        await run_due_work()
        site = await site_of(sender, world, "mx.b.test")
    assert site["state"] == "OPEN"
    assert site["limits"] == site["defaultLimits"]
    assert await statuses(sender, [first, second]) == {"DELIVERED": 2}


async def settled_background(world):
    """Wait until the processes know what this one has reported."""
    await world.run_in_background.wait(30)


async def test_a_throttled_site_does_not_delay_others(sender, internet, world, clock, run_due_work):
    """One site replies 451 to four of five messages. The others get all of theirs at once, and it gets few attempts."""
    bad = await internet.mail_server("bad.test", Behaviour(deferred_share=0.8))
    good = [await internet.mail_server(f"good{number}.test") for number in range(3)]
    to_bad = await queue(sender, *(f"a{number}@bad.test" for number in range(200)))
    for _ in range(3):
        await run_due_work()
        await settled_background(world)
        await sites(world).update()
        clock.move(timedelta(seconds=6))
    attempts_until_paused = sum(command.startswith("RCPT") for command in bad.commands)
    await queue(sender, *(f"b{number}@good{number % 3}.test" for number in range(200)))
    more_to_bad = await queue(sender, *(f"c{number}@bad.test" for number in range(200)))
    await run_due_work()
    assert sum(len(sink.messages) for sink in good) == 200
    attempts = sum(command.startswith("RCPT") for command in bad.commands)
    assert attempts_until_paused <= 200
    assert attempts - attempts_until_paused <= 20
    assert (await statuses(sender, more_to_bad))["QUEUED"] >= 180
    assert (await site_of(sender, world, "mx.bad.test"))["waiting"] >= 180
    assert len(to_bad) == 200


async def test_the_retry_period_also_ends_for_messages_that_a_slow_site_keeps_waiting(
    sender, internet, world, clock, run_due_work
):
    """Messages that were tried do not wait for ever behind others. Those that never were get their first attempt."""
    sink = await internet.mail_server("b.test", Behaviour(replies={"RCPT": BUSY}))
    (tried,) = await queue(sender, "ada@b.test")
    await run_due_work()
    (never_tried,) = await queue(sender, "bob@b.test")
    for hours, status in ((23, "DELAYED"), (2, "FAILED")):
        clock.move(timedelta(hours=hours))
        until = clock() + timedelta(minutes=15)
        async with world.db.connection() as connection:
            await connection.execute("update mail_sites set throttled_until = %s where name = 'mx.b.test'", [until])
        await sites(world).update()
        await run_due_work()
        assert (await entry(sender, tried))["status"] == status
    assert (await entry(sender, tried))["reason"] == (
        "The retry period has ended. The site mx.b.test has asked for less mail."
    )
    assert (await entry(sender, never_tried))["status"] == "QUEUED"
    sink.behaviour.replies.clear()
    clock.move(timedelta(hours=24))
    await sites(world).update()
    await run_due_work()
    assert (await entry(sender, never_tried))["status"] == "DELIVERED"
    assert [message.recipients for message in sink.messages] == [("bob@b.test",)]


async def test_greylisting_slows_nothing_down(sender, internet, world, run_due_work):
    await internet.mail_server("b.test", Behaviour(replies={"RCPT": b"450 4.7.1 Greylisted, try again in 300 seconds"}))
    await queue(sender, *(f"a{number}@b.test" for number in range(30)))
    await run_due_work()
    await settled_background(world)
    site = await site_of(sender, world, "mx.b.test")
    assert (site["state"], site["deferred"], site["waiting"]) == ("OPEN", 30, 30)


# Shares ---------------------------------------------------


async def test_processes_never_have_more_connections_than_the_limit(sender, internet, world, clock, monkeypatch):
    """Whichever process asks when: the shares are at most the limit, and even after a few rounds."""
    hosts, table = ["mx.b.test"], {}
    processes = [Sites(world) for _ in range(3)]
    controls = [process.of_mail_servers(hosts, "") for process in processes]

    async def renew(number):
        monkeypatch.setitem(world.resources, Sites, processes[number])
        await renew_shares(world, [controls[number]])
        table[number] = controls[number].connections_share
        assert sum(table.values()) <= 10

    await renew(0)
    assert table == {0: 10}
    await renew(1)
    assert table[1] == 0, "The other process still has all of them."
    for _ in range(4):
        for number in range(3):
            await renew(number)
    assert sorted(table.values()) == [3, 3, 4]
    # A process that died has its share until the lease ends.
    del table[2]
    await renew(0)
    assert table[0] <= 4
    for _ in range(3):
        clock.move(SHARE_LEASE / 2)
        await renew(0)
        await renew(1)
    assert table == {0: 5, 1: 5}
    await processes[1].aclose()
    del table[1]
    await renew(0)
    assert controls[0].connections_share == 10


async def test_a_process_that_renews_its_share_too_late_uses_no_connection_before(world, clock, monkeypatch):
    late, other = Sites(world), Sites(world)
    of_late, of_other = (process.of_mail_servers(["mx.b.test"], "") for process in (late, other))

    async def prepare(process, control):
        monkeypatch.setitem(world.resources, Sites, process)
        await control.prepare()
        return control.connections_share

    async def renew(process, control):
        monkeypatch.setitem(world.resources, Sites, process)
        await renew_shares(world, [control])
        return control.connections_share

    assert await prepare(late, of_late) == 10
    of_late.open_connections = 3  # Messages in transmission, which go on.
    clock.move(SHARE_LEASE)
    assert not of_late.has_slot(bulk=False)
    assert await prepare(other, of_other) == 10
    assert await prepare(late, of_late) == 0
    assert not of_late.has_slot(bulk=False)
    assert await renew(other, of_other) == 5
    assert await renew(other, of_other) == 5
    assert await renew(late, of_late) == 5
    assert of_late.has_slot(bulk=False)
    of_late.open_connections = 0
    for process in (late, other):
        await process.aclose()


async def test_a_process_without_a_connection_delays_no_message(
    sender, internet, world, clock, run_due_work, monkeypatch
):
    """With one connection for two processes, one has none. Its messages are sent by the other, and when that no longer
    sends to the site, it gets the connection: neither a message nor a process waits for ever."""
    sink = await internet.mail_server("b.test")
    table = [Sites(world) for _ in range(2)]

    def activate(number):
        monkeypatch.setitem(world.resources, Sites, table[number])

    for number in range(2):
        activate(number)
        await queue(sender, f"first{number}@b.test")
        await run_due_work()
        clock.move(timedelta(seconds=6))
    controls = [process.of_mail_servers(["mx.b.test"], "") for process in table]
    async with world.db.connection() as connection:
        await connection.execute("update mail_sites set factor = 0.1 where name = 'mx.b.test'")
    for _ in range(3):
        for number in range(2):
            activate(number)
            await table[number].update()
            await renew_shares(world, [controls[number]])
    assert sorted(control.connections_share for control in controls) == [0, 1]
    having = next(number for number, control in enumerate(controls) if control.connections_share)
    sent = len(sink.messages)
    for process, control in zip(table, controls, strict=True):
        process.learn(str(sender.id), "b.test", control)
    activate(1 - having)
    (waiting,) = await queue(sender, "ada@b.test")
    await run_due_work()
    assert "Other processes have all connections" in (await entry(sender, waiting))["reason"]
    activate(having)
    clock.move(timedelta(seconds=5))
    await run_due_work()
    assert (await entry(sender, waiting))["status"] == "DELIVERED"
    assert len(sink.messages) == sent + 1
    # The process that has the connection does not use the site any more.
    controls[having].used_at -= USED_SECONDS + 1
    controls[having].counts.clear()
    for pool in [*controls[having].idle_pools]:
        await pool.aclose()
    assert not controls[having].open_connections
    await table[having].update()
    assert not controls[having].is_shared
    clock.move(SHARE_LEASE)
    activate(1 - having)
    await renew_shares(world, [controls[1 - having]])
    assert controls[1 - having].connections_share == 1


# Suspend, resume, bounce ---------------------------------------------------


async def test_a_suspended_site_gets_no_mail_until_it_is_resumed(sender, internet, world, run_due_work):
    sink = await internet.mail_server("b.test")
    await internet.mail_server("c.test")
    await queue(sender, "first@b.test")
    await run_due_work()
    await sites(world).update()
    site = await operate(sender, "mx.b.test", "suspend", reason="Wait until Monday.")
    assert site["state"] == "SUSPENDED"
    assert (site["suspension"]["by"], site["suspension"]["reason"]) == ("PROJECT", "Wait until Monday.")
    await sites(world).update()
    ids = await queue(sender, "ada@b.test", "ada@c.test")
    await run_due_work()
    assert len(sink.messages) == 1
    assert await statuses(sender, ids) == {"QUEUED": 1, "DELIVERED": 1}
    assert "Wait until Monday." in (await entry(sender, ids[0]))["reason"]
    assert (await site_of(sender, world, "mx.b.test"))["waiting"] == 1
    assert (await operate(sender, "mx.b.test", "resume"))["state"] == "OPEN"
    await sites(world).update()
    await run_due_work()
    assert len(sink.messages) == 2
    again = await sender.client.post("/delivery/sites/mx.b.test/resume")
    assert (again.status_code, again.json()["code"]) == (409, "site_not_suspended")
    log = (await sender.developer.get("http://postern.test/account/audit-log")).json()["data"]
    actions = [entry["action"] for entry in log]
    assert actions[:2] == ["delivery_site.resumed", "delivery_site.suspended"]


@pytest.mark.parametrize("by_operator", [False, True])
async def test_messages_that_a_worker_held_back_after_the_end_of_a_suspension_are_released(
    sender, internet, world, clock, run_due_work, monkeypatch, by_operator
):
    """Workers see the end of a suspension up to a second later; until then they let released messages wait for an hour
    more."""
    monkeypatch.setattr(sites_module, "TICK_SECONDS", 3600)  # The test says when the worker sees it.
    sink = await internet.mail_server("b.test")
    await queue(sender, "first@b.test")
    await run_due_work()
    await sites(world).update()

    async def change(operation, reason=""):
        if by_operator:
            await site_control.operate(world.db, operation, "mx.b.test", None, now=clock(), reason=reason)
        else:
            data = {"reason": reason} if reason else {}
            await operate(sender, "mx.b.test", {"suspended": "suspend", "resumed": "resume"}[operation], **data)

    await change("suspended", "Wait.")
    await sites(world).update()
    ids = await queue(sender, "ada@b.test", "bob@b.test")
    await run_due_work()
    for again in (False, True):
        await change("resumed")
        await run_due_work()  # With the state of before.
        assert len(sink.messages) == 1
        assert "Wait." in (await entry(sender, ids[0]))["reason"]
        if not again:
            await change("suspended", "Wait.")
            clock.move(timedelta(seconds=2))
    await sites(world).update()
    clock.move(RELEASED_AGAIN_AFTER)
    await run_due_work()
    assert len(sink.messages) == 3
    assert await statuses(sender, ids) == {"DELIVERED": 2}


@pytest.mark.parametrize("recipients", [["ada@b.test"], ["ada@b.test", "bob@b.test"]])
async def test_the_time_of_a_suspension_does_not_count_in_the_retry_period(
    sender, internet, world, clock, run_due_work, monkeypatch, recipients
):
    """A message to several recipients is postponed by the transport, because the worker does not know its site."""
    monkeypatch.setattr(shaping, "SUSPENDED_CHECK", timedelta(hours=13))
    sink = await internet.mail_server("b.test")
    await queue(sender, "first@b.test")
    await run_due_work()
    await sites(world).update()
    await operate(sender, "mx.b.test", "suspend", reason="Wait.")
    await sites(world).update()
    sent = (await sender.client.post("/emails", {**MAIL, "to": recipients})).json()
    expires_at = (clock() + timedelta(hours=20)).isoformat()
    expiring = (await sender.client.post("/emails", {**MAIL, "to": recipients, "expiresAt": expires_at})).json()
    await run_due_work()
    for _ in range(3):
        clock.move(timedelta(hours=13, minutes=1))
        await sites(world).update()
        await run_due_work()
    assert (await entry(sender, sent["id"]))["status"] == "QUEUED"
    assert (await entry(sender, expiring["id"]))["status"] == "EXPIRED"
    sink.behaviour.replies["RCPT"] = b"450 4.2.0 Greylisted"
    await operate(sender, "mx.b.test", "resume")
    await sites(world).update()
    await run_due_work()
    log = await entry(sender, sent["id"])
    assert (log["status"], log["waiting"]["cause"]) == ("DELAYED", "DEFERRED")
    del sink.behaviour.replies["RCPT"]
    clock.move(timedelta(minutes=10))
    await run_due_work()
    assert (await entry(sender, sent["id"]))["status"] == "DELIVERED"


@pytest.mark.parametrize("suspended_for", [timedelta(), timedelta(hours=10)])
async def test_the_retry_period_ends_on_time(sender, internet, world, clock, run_due_work, monkeypatch, suspended_for):
    """Also if a suspension ended before the messages that wait for its end were looked at again."""
    monkeypatch.setattr(shaping, "SUSPENDED_CHECK", timedelta(hours=100))
    sink = await internet.mail_server("b.test")
    sink.behaviour.replies["RCPT"] = b"450 4.2.0 Greylisted"
    (send_id,) = await queue(sender, "ada@b.test")
    began_at = clock()
    await run_due_work()
    await sites(world).update()
    if suspended_for:
        await operate(sender, "mx.b.test", "suspend", reason="Wait.")
        await sites(world).update()
        clock.move(timedelta(minutes=10))
        await run_due_work()
        assert (await entry(sender, send_id))["waiting"]["cause"] == "SITE_SUSPENDED"
        clock.move(suspended_for)
        await operate(sender, "mx.b.test", "resume")
        await sites(world).update()
        await run_due_work()
    while (await entry(sender, send_id))["status"] == "DELAYED":
        clock.move(timedelta(hours=1))
        await run_due_work()
    assert (await entry(sender, send_id))["status"] == "FAILED"
    assert timedelta(hours=20) <= clock() - began_at - suspended_for <= timedelta(hours=25)


async def test_a_suspension_ends_by_itself(sender, internet, world, clock, run_due_work):
    sink = await internet.mail_server("b.test")
    await queue(sender, "first@b.test")
    await run_due_work()
    await sites(world).update()
    until = (clock() + timedelta(hours=3)).isoformat()
    await operate(sender, "mx.b.test", "suspend", reason="Maintenance.", until=until)
    await sites(world).update()
    await queue(sender, "ada@b.test")
    await run_due_work()
    assert len(sink.messages) == 1
    clock.move(timedelta(hours=3, minutes=1))
    await sites(world).update()
    await run_due_work()
    assert len(sink.messages) == 2
    past = await sender.client.post(
        "/delivery/sites/mx.b.test/suspend", {"reason": "x", "until": (clock() - timedelta(hours=1)).isoformat()}
    )
    assert (past.status_code, past.json()["errors"][0]["path"]) == (400, "/until")


async def test_the_messages_that_wait_for_a_site_are_given_up(sender, internet, world, run_due_work, monkeypatch):
    monkeypatch.setattr("postern.messaging.emails.site_operations.BATCH", 2)
    sink = await internet.mail_server("b.test", Behaviour(replies={"RCPT": b"450 4.2.0 Busy"}))
    ids = await queue(sender, *(f"a{number}@b.test" for number in range(5)))
    await run_due_work()
    assert await statuses(sender, ids) == {"DELAYED": 5}
    await sites(world).update()
    site = await operate(sender, "mx.b.test", "bounce", reason="They blocked us.")
    assert (site["bounce"]["failed"], site["bounce"]["endedAt"]) == (0, None)
    await run_due_work()
    site = await site_of(sender, world, "mx.b.test")
    assert (site["bounce"]["failed"], site["waiting"]) == (5, 0)
    assert site["bounce"]["endedAt"]
    assert await statuses(sender, ids) == {"FAILED": 5}
    assert "They blocked us." in (await entry(sender, ids[0]))["reason"]
    failed = (await sender.client.get("/events?type=email.failed")).json()["data"]
    assert len(failed) == 5
    assert (await sender.client.get("/suppressions")).json()["total"] == 0
    # A message that is accepted later is sent, and each can be retried.
    sink.behaviour.replies.clear()
    assert (await sender.client.post(f"/emails/{ids[0]}/retry")).status_code == 200
    later = await queue(sender, "later@b.test")
    await run_due_work()
    assert await statuses(sender, [ids[0], *later]) == {"DELIVERED": 2}


async def test_a_message_in_transmission_is_not_given_up(sender, internet, world, clock, run_due_work):
    """The task waits for its result, which is stored; then the message is given up."""
    sink = await internet.mail_server("b.test", Behaviour(replies={"RCPT": b"450 4.2.0 Busy"}))
    (send_id,) = await queue(sender, "ada@b.test")
    await run_due_work()
    sink.behaviour.replies.clear()
    sink.behaviour.stall_at = "DOT"
    clock.move(timedelta(minutes=7))
    running = asyncio.create_task(run_due_work())
    while sum(command.startswith("DATA") for command in sink.commands) < 2:
        await asyncio.sleep(0.02)
    await sites(world).update()
    await operate(sender, "mx.b.test", "bounce", reason="They blocked us.")
    for session in list(sink.open_sessions):
        session.reset()
    await running
    log = await entry(sender, send_id)
    assert (log["status"], log["ambiguousAttempts"]) == ("FAILED", 1)


async def test_operations_need_the_permission(sender, internet, world, run_due_work):
    await internet.mail_server("b.test")
    await queue(sender, "ada@b.test")
    await run_due_work()
    await sites(world).update()
    reader = await sender.key("emails:read")
    assert (await reader.get("/delivery/sites/mx.b.test")).status_code == 200
    for operation in ("suspend", "resume", "bounce"):
        refused = await reader.post(f"/delivery/sites/mx.b.test/{operation}", {"reason": "x"})
        assert (refused.status_code, refused.json()["code"]) == (403, "permission_missing")


async def test_the_operator_suspends_a_site_for_all_projects(sender, internet, world, run_due_work):
    sink = await internet.mail_server("b.test")
    await queue(sender, "first@b.test")
    await run_due_work()
    async with world.db.transaction() as tx:
        assert await site_store.set_suspension_for_all(
            tx, name="mx.b.test", until=None, reason="Blocked.", now=world.clock()
        ) == ["mx.b.test"]
    site = await site_of(sender, world, "mx.b.test")
    assert (site["state"], site["suspension"]["by"]) == ("SUSPENDED", "OPERATOR")
    await queue(sender, "ada@b.test")
    await run_due_work()
    assert len(sink.messages) == 1


async def test_unused_sites_are_deleted_after_a_month(sender, internet, world, clock, run_due_work):
    await internet.mail_server("b.test")
    await queue(sender, "ada@b.test")
    await run_due_work()
    await sites(world).update()
    clock.move(timedelta(days=31))
    await delete_expired(world)
    assert (await sender.client.get("/delivery/sites")).json() == []
    await queue(sender, "bob@b.test")
    await run_due_work()
    assert (await site_of(sender, world, "mx.b.test"))["delivered"] == 1


# Rules ---------------------------------------------------


async def test_the_mail_servers_of_a_provider_are_one_site(world):
    process = sites(world)
    one = process.of_mail_servers(["a-test.mail.protection.outlook.com"], "")
    two = process.of_mail_servers(["b-test.mail.protection.outlook.com"], "")
    assert one is two
    assert one.key == SiteKey("", "microsoft")
    assert process.of_mail_servers(["mx.notgoogle.com"], "").key.name == "mx.notgoogle.com"
    assert process.of_mail_servers(["aspmx.l.google.com"], "").rules.provider == "google"
    assert process.of_mail_servers(["aspmx.l.google.com"], str(NO_ID)) is not process.of_mail_servers(
        ["aspmx.l.google.com"], ""
    )


OWN_FILE = """
[direct]
connections = 4

[[providers]]
name = "google"
connections = 3

[[providers]]
name = "partner"
mx = ["mx.partner.test"]
messages_per_minute = 30
[[providers.throttled]]
pattern = "not so fast"
pause_minutes = 5

[[relays]]
host = "smtp.relay.test"
connections = 7
"""


def test_a_file_of_the_operator_takes_precedence(settings, tmp_path):
    path = tmp_path / "shaping.toml"
    path.write_text(OWN_FILE)
    table = read_shaping(msgspec.structs.replace(settings, shaping_file=path))
    _, google = table.for_mail_servers(["aspmx.l.google.com"])
    assert (google.limits.connections, google.limits.messages_per_connection) == (3, 50)
    _, partner = table.for_mail_servers(["mx.partner.test"])
    assert (partner.provider, partner.limits.connections, partner.limits.messages_per_minute) == ("partner", 4, 30)
    assert any(pattern.pattern == "not so fast" for pattern, _ in partner.throttled)
    assert table.for_relay("SMTP.relay.test").limits.connections == 7
    assert table.for_relay("other.test").limits.connections is None
    assert table.for_mail_servers(["mx.other.test"])[1].limits.connections == 4


def test_only_servers_of_one_owner_share_a_site(settings):
    """MX records can name any server: what the others reply must not slow its owner down."""
    table = read_shaping(settings)

    def name_of(*hosts: str) -> str:
        return table.for_mail_servers(hosts)[0]

    assert name_of("aspmx.l.google.com", "alt1.aspmx.l.google.com") == "google"
    assert name_of("mx1.example.com", "mx2.example.com") == "mx1.example.com"
    mixed, rules = table.for_mail_servers(["www.google.com", "mx.example.net"])
    assert mixed.startswith("www.google.com~")
    assert rules.provider is None
    assert mixed == name_of("www.google.com", "mx2.example.net") != name_of("www.google.com", "mx.example.org")
    assert name_of("mx1.example.com", "mx.example.net") not in ("mx1.example.com", mixed)


INVALID_FILES = {
    "not toml": ("[direct", "not TOML"),
    "unknown field": ("[direct]\nconection = 3", "conection"),
    "zero": ("[direct]\nconnections = 0", "$.direct.connections"),
    "text": ('[[relays]]\nhost = "a.test"\nconnections = "3"', "$.relays[0].connections"),
    "no host": ("[[relays]]\nconnections = 3", "host"),
    "pattern": ("[[throttled]]\npattern = '('", "not a regular expression"),
    "without mail servers": ('[[providers]]\nname = "partner"', "providers partner: `mx` is missing"),
    "twice": ('[[relays]]\nhost = "a.test"\n[[relays]]\nhost = "A.test"', "relays has a.test twice"),
}


@pytest.mark.parametrize(("text", "expected"), INVALID_FILES.values(), ids=INVALID_FILES)
def test_an_invalid_file_is_reported_at_the_start(settings, tmp_path, text, expected):
    path = tmp_path / "shaping.toml"
    path.write_text(text)
    with pytest.raises(SettingInvalid) as raised:
        read_shaping(msgspec.structs.replace(settings, shaping_file=path))
    assert "POSTERN_SHAPING_FILE" in str(raised.value)
    assert expected in str(raised.value)


def test_a_missing_file_is_reported(settings, tmp_path):
    with pytest.raises(SettingInvalid, match="cannot be read"):
        read_shaping(msgspec.structs.replace(settings, shaping_file=tmp_path / "missing.toml"))


# The command ---------------------------------------------------


async def test_the_operator_sees_and_controls_the_sites_of_all_projects(
    sender, internet, world, clock, run_due_work, command
):
    sink = await internet.mail_server("b.test", Behaviour(replies={"RCPT": b"450 4.2.0 Busy"}))
    ids = await queue(sender, "ada@b.test", "bob@b.test")
    await run_due_work()
    await sites(world).update()
    (row,) = json.loads((await command("sites", "--json")).stdout)
    assert (row["name"], row["state"], row["waiting"], row["projects"]) == ("mx.b.test", "OPEN", 2, 1)
    assert re.search(r"^mx\.b\.test +OPEN +100% +2 ", (await command("sites")).stdout, re.MULTILINE)
    await command("sites", "suspend", "mx.b.test", "--reason", "Our address is blocked.", "--hours", "2")
    site = await site_of(sender, world, "mx.b.test")
    assert (site["state"], site["suspension"]["by"], site["suspension"]["reason"]) == (
        "SUSPENDED",
        "OPERATOR",
        "Our address is blocked.",
    )
    await command("sites", "resume", "mx.b.test")
    assert (await site_of(sender, world, "mx.b.test"))["state"] == "OPEN"
    await command("sites", "suspend", "mx.b.test", "--reason", "Not this one.", "--project", sender.id)
    assert (await site_of(sender, world, "mx.b.test"))["suspension"]["by"] == "OPERATOR"
    for operation, body in (("resume", None), ("suspend", {"reason": "For a minute."})):
        refused = await sender.client.post(f"/delivery/sites/mx.b.test/{operation}", json=body)
        assert (refused.status_code, refused.json()["code"]) == (409, "site_suspended_by_operator")
    await command("sites", "resume", "mx.b.test", "--project", sender.id)
    await command("sites", "bounce", "mx.b.test", "--reason", "Our address is blocked.")
    # The command uses the time of the machine, and the clock stood still meanwhile.
    clock.move(datetime.now(UTC) - clock() + timedelta(minutes=1))
    await run_due_work()
    assert await statuses(sender, ids) == {"FAILED": 2}
    assert sink.messages == []


async def test_wrong_arguments_of_the_command_are_reported(command):
    unknown = await command("sites", "bounce", "mx.unknown.test", "--reason", "x", status=78)
    assert "No mail was sent to 'mx.unknown.test'" in unknown.stderr
    assert "is not an id" in (await command("sites", "resume", "mx.b.test", "--project", "7", status=78)).stderr
    assert "1 to 500" in (await command("sites", "suspend", "mx.b.test", "--reason", "", status=78)).stderr


@pytest.fixture
def command(database_url, tmp_path):
    """A function that runs `postern` on the database of the tests.

    It runs in a thread: a transaction of the application that is open meanwhile must be able to end.
    """

    def run(arguments, status):
        environment = {**os.environ, "DATABASE_URL": database_url, "POSTERN_DATA": str(tmp_path)}
        done = run_command(*arguments, environment=environment)
        assert done.returncode == status, done.stderr
        return done

    async def call(*arguments, status=0):
        return await asyncio.to_thread(run, arguments, status)

    return call


# Connections ---------------------------------------------------


async def test_connections_of_all_pools_count_until_the_server_has_closed_them(
    sender, internet, world, settings, run_due_work, tmp_path
):
    """The domains have pools of their own, because their certificates are checked by different names."""
    path = tmp_path / "shaping.toml"
    path.write_text("[direct]\nconnections = 2\nmessages_per_connection = 1\n")
    sites(world)._table = read_shaping(msgspec.structs.replace(settings, shaping_file=path))
    sink = await internet.mail_server("b.test", Behaviour(slow_quit_seconds=0.1))
    internet.zone.add("c.test", "MX", "10 mx.b.test.")
    ids = await queue(sender, *(f"a{n}@{domain}" for n in range(4) for domain in ("b.test", "c.test")))
    await run_due_work()
    assert await statuses(sender, ids) == {"DELIVERED": 8}
    assert (sink.connections, sink.most_open_sessions) == (8, 2)


# Several processes ---------------------------------------------------

RELAY_FILE = """
[[relays]]
host = "127.0.0.1"
connections = 4
"""


async def test_two_workers_share_the_connections_and_one_is_killed(tmp_path):
    """The relay never sees more connections than the limit, and all messages arrive although one worker is killed."""
    (tmp_path / "shaping.toml").write_text(RELAY_FILE)
    messages = 200
    async with Sink(Behaviour(slow_seconds=0.05)) as sink:
        with own_database() as url:
            server = Server(
                tmp_path,
                url,
                POSTERN_TRANSPORT="relay",
                POSTERN_RELAY=f"smtp://127.0.0.1:{sink.port}?tls=none",
                POSTERN_SHAPING_FILE=str(tmp_path / "shaping.toml"),
                POSTERN_LEASE="2",
            )
            try:
                await asyncio.to_thread(server.start, "api")
                project, key, token = await asyncio.to_thread(server.project)
                await asyncio.to_thread(verified_domain, url, server, project, token, "acme.example")
                first = server.start("worker")
                server.start("worker")
                path = f"/projects/{project}/emails/batch"
                for start in range(0, messages, 10):
                    emails = [{**MAIL, "from": "a@acme.example", "to": [f"a{n}@b.test"]} for n in range(10)]
                    await asyncio.to_thread(server.call, "POST", path, {"emails": emails}, key)
                    if start == 0:
                        while not sink.accepted:  # The other worker may still be starting.
                            await asyncio.sleep(0.05)
                with psycopg.connect(url, autocommit=True) as connection:
                    shares = "select count(*) from mail_site_shares"
                    while connection.execute(shares).fetchone() != (2,) or sink.accepted < messages // 4:
                        emails = [{**MAIL, "from": "a@acme.example", "to": ["more@b.test"]}]
                        await asyncio.to_thread(server.call, "POST", path, {"emails": emails}, key)
                        messages += 1
                first.kill()
                while len({message.message_id for message in sink.messages}) < messages:
                    await asyncio.sleep(0.05)
                assert sink.most_open_sessions <= 4
            finally:
                await asyncio.to_thread(server.stop)
