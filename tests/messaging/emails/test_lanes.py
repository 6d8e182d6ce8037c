"""Lanes: projects do not delay each other, and marketing mail does not delay transactional mail."""

import asyncio
import base64
import random
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

import psycopg

from postern.kernel.http.call import ProjectMissing
from postern.messaging.emails import delivery, enqueue, store, work
from postern.messaging.emails.delivery import deliver_claimed, hold_all, lease_keeper
from postern.messaging.emails.model import SendBody
from postern.messaging.emails.work import SENDS, deliver_batch, load_jobs
from tests.workers import at_work

TRANSACTIONAL, MARKETING = SENDS
MAIL = {"to": ["ada@example.com"], "from": "Acme <hello@acme.example>", "subject": "Hello", "text": "Hello."}
WITHOUT_WAITING = {"prefer": "wait=0"}


async def until_delivered(project, number):
    async with asyncio.timeout(60):
        while (await project.client.get("/emails/logs?status=DELIVERED")).json()["total"] < number:
            await asyncio.sleep(0.02)


async def test_the_queue_of_one_project_does_not_delay_another_project(project, new_project, world):
    other = await new_project()
    for _ in range(3):
        await project.client.post("/emails/batch", {"emails": [MAIL] * 100})
    await other.client.post("/emails", MAIL, headers=WITHOUT_WAITING)
    projects_of_shares = []

    async def record_share(world_, sends):
        projects_of_shares.append(str(sends[0].project_id))
        assert len({send.project_id for send in sends}) == 1
        await deliver_batch(world_, sends)

    async with at_work(world, [replace(TRANSACTIONAL, do=record_share, claim_size=10, max_claims=1)]):
        await until_delivered(other, 1)
        await until_delivered(project, 300)
    of_these_projects = [project_id for project_id in projects_of_shares if project_id in (project.id, other.id)]
    assert of_these_projects.index(other.id) <= 2, (
        "The other project's message waits for at most two batches of the long queue."
    )
    assert of_these_projects.count(project.id) >= 30


async def test_claimed_marketing_mail_does_not_delay_transactional_mail(project, world):
    await project.client.post("/emails/batch", {"emails": [MAIL] * 50})
    async with world.db.connection() as connection:
        await connection.execute("update sends set lane = 1 where project_id = %s", [project.id])
    started, release = asyncio.Event(), asyncio.Event()

    async def deliver_after_release(world_, sends):
        started.set()
        await release.wait()
        await deliver_batch(world_, sends)

    async with at_work(world, [TRANSACTIONAL, replace(MARKETING, do=deliver_after_release)]):
        try:
            async with asyncio.timeout(60):
                await started.wait()
            await project.client.post("/emails", {**MAIL, "subject": "Your code"}, headers=WITHOUT_WAITING)
            await until_delivered(project, 1)
            (entry,) = (await project.client.get("/emails/logs?status=DELIVERED")).json()["data"]
            assert entry["subject"] == "Your code"
        finally:
            release.set()
        await until_delivered(project, 51)


async def test_a_long_queue_gets_several_but_never_all_claims_of_a_worker(project, new_project, world):
    other = await new_project()
    await project.client.post("/emails/batch", {"emails": [MAIL] * 100})
    held_shares, two_held, release = [], asyncio.Event(), asyncio.Event()

    async def hold_shares_of_project(world_, sends):
        if str(sends[0].project_id) == project.id and not release.is_set():
            held_shares.append(len(sends))
            if len(held_shares) == 2:
                two_held.set()
            await release.wait()
        await deliver_batch(world_, sends)

    async with at_work(world, [replace(TRANSACTIONAL, do=hold_shares_of_project, claim_size=10, max_claims=4)]):
        try:
            async with asyncio.timeout(60):
                await two_held.wait()
            await other.client.post("/emails", MAIL, headers=WITHOUT_WAITING)
            await until_delivered(other, 1)
            assert held_shares == [10, 10], "The long queue has two of the four claims; the other two stay free."
        finally:
            release.set()
        await until_delivered(project, 100)


async def test_large_messages_are_sent_in_groups_that_fit_into_memory(project, world, run_due_work, monkeypatch):
    monkeypatch.setattr(work, "MAX_GROUP_OCTETS", 100_000)
    # Random octets cannot be compressed, so the base64 has 40,000 octets in the database too.
    invoice = base64.b64encode(random.Random(1).randbytes(30_000)).decode()
    large = {**MAIL, "subject": "Large", "attachments": [{"filename": "invoice.pdf", "content": invoice}]}
    for mails in ([large] * 5, [MAIL] * 20):
        assert (await project.client.post("/emails/batch", {"emails": mails})).status_code == 201
    group_sizes, large_per_group = [], []
    deliver_together = work._deliver_together

    async def record_group(world_, sends, octets, *others):
        if str(sends[0].project_id) != project.id:  # Other tests leave mail due in the same database.
            await deliver_together(world_, sends, octets, *others)
            return
        group_sizes.append(len(sends))
        large_per_group.append(sum(send.subject == "Large" for send in sends))
        renewed = [send for send in lease_keeper(world_).sends if str(send.project_id) == project.id]
        assert {send.id for send in sends} <= {send.id for send in renewed}
        assert len(renewed) == 25 - sum(group_sizes[:-1]), "The leases of sends of later groups are renewed too."
        await deliver_together(world_, sends, octets, *others)

    monkeypatch.setattr(work, "_deliver_together", record_group)
    await run_due_work()
    # Sends that are due at the same time come in any order.
    assert (sum(group_sizes), sorted(large_per_group)) == (25, [1, 2, 2])
    assert (await project.client.get("/emails/logs?status=DELIVERED")).json()["total"] == 25


async def test_compressed_content_counts_with_its_uncompressed_size(project, world):
    compressible = {**MAIL, "html": "<p>" + "Hello again. " * 20_000}
    response = await project.client.post("/emails/batch", {"emails": [compressible, MAIL]})
    ids = [UUID(item["id"]) for item in response.json()["data"]]
    rows = await store.body_sizes(world.db, project_id=UUID(project.id), ids=ids, content_ids=[])
    sizes = {row.id: row.size for row in rows}
    assert 260_000 < sizes[ids[0]] < 270_000
    assert sizes[ids[1]] < 1_000


async def queued_sends(world, project, number):
    response = await project.client.post("/emails/batch", {"emails": [MAIL] * number})
    ids = [UUID(item["id"]) for item in response.json()["data"]]
    return await store.sends_by_id(world.db, project_id=UUID(project.id), ids=ids)


async def due_of(world, send):
    (row,) = await store.sends_by_id(world.db, project_id=send.project_id, ids=[send.id])
    return row.due_at


async def test_a_deleted_project_does_not_affect_sends_of_others(project, new_project, world):
    other = await new_project()
    jobs = [
        *await load_jobs(world, await queued_sends(world, other, 1)),
        *await load_jobs(world, await queued_sends(world, project, 2)),
    ]
    assert (await other.developer.delete("")).status_code == 200
    error, *statuses = await asyncio.gather(*(deliver_claimed(world, job) for job in jobs), return_exceptions=True)
    assert isinstance(error, ProjectMissing)
    assert statuses == ["DELIVERED", "DELIVERED"]


async def test_a_late_lease_renewal_does_not_change_a_settled_send(project, world, clock):
    (send,) = await queued_sends(world, project, 1)
    for old_delay, expected_delay in (
        (timedelta(minutes=15), timedelta(minutes=15)),
        (timedelta(seconds=40), timedelta(minutes=1)),
    ):
        now = clock()
        async with world.db.connection() as connection:
            await connection.execute("update sends set due_at = %s where id = %s", [now + old_delay, send.id])
        attempt = {"project_id": [send.project_id], "id": [send.id], "attempt": [send.attempt]}
        await store.renew_leases(world.db, **attempt, until=now + timedelta(minutes=1))
        assert await due_of(world, send) == now + expected_delay


async def test_a_lease_renewal_does_not_wait_for_sends_that_are_being_changed(project, world, clock):
    """Waiting for one send with others locked could be a deadlock with a transaction that settles both."""
    changing, other = await queued_sends(world, project, 2)
    now = clock()
    until = now + timedelta(minutes=1)
    attempts = {
        "project_id": [changing.project_id, other.project_id],
        "id": [changing.id, other.id],
        "attempt": [changing.attempt, other.attempt],
    }
    async with world.db.connection() as connection:
        await connection.execute("update sends set due_at = %s where id = any (%s)", [now, [changing.id, other.id]])
    async with await psycopg.AsyncConnection.connect(world.db.url) as changes:
        await changes.execute("update sends set reason = 'changed' where id = %s", [changing.id])
        async with asyncio.timeout(10):
            await store.renew_leases(world.db, **attempts, until=until)
        assert await due_of(world, other) == until
    assert await due_of(world, changing) == now
    await store.renew_leases(world.db, **attempts, until=until)
    assert await due_of(world, changing) == until


async def test_held_sends_are_no_longer_leased(project, world, monkeypatch):
    held, other = await queued_sends(world, project, 2)
    async with world.db.transaction() as tx:
        content_id = uuid4()
        await enqueue.insert_content(tx, held.project_id, content_id, SendBody(subject="Hello"), world.clock())
        await enqueue.hold_content(tx, held.project_id, [content_id])
    async with world.db.connection() as connection:
        await connection.execute("update sends set content_id = %s where id = %s", [content_id, held.id])
    sends = await store.sends_by_id(world.db, project_id=held.project_id, ids=[held.id, other.id])
    leased_ids = []

    async def record_leases(world_, sends):
        leased_ids.append({send.id for send in lease_keeper(world_).sends})
        return await hold_all(world_, sends)

    monkeypatch.setattr(delivery, "hold_all", record_leases)
    await deliver_batch(world, sends)
    assert held.id not in leased_ids[0]
    assert await due_of(world, held) is None


def test_sends_are_grouped_in_order_without_omission():
    class SizedSend:
        content_id = None

        def __init__(self, size):
            self.id, self.size = uuid4(), size

    mebibyte = 1024 * 1024
    sends = [SizedSend(size * mebibyte) for size in (2, 2, 1, 20, 0, 4, 1, 3)]
    groups = list(work.group_by_size(sends, {send.id.int: send.size for send in sends}))
    sizes = [[send.size // mebibyte for send in group] for group, _ in groups]
    assert sizes == [[2, 2], [1], [20], [0, 4], [1, 3]]
    assert [octets // mebibyte for _, octets in groups] == [4, 1, 20, 4, 4]
    assert [send for group, _ in groups for send in group] == sends
    assert list(work.group_by_size([], {})) == []
