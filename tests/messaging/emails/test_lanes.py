"""Lanes: projects do not delay each other, and marketing mail does not delay transactional mail."""

import asyncio
import base64
import random
from dataclasses import replace
from datetime import timedelta
from uuid import UUID, uuid4

from postern.kernel.http.call import ProjectMissing
from postern.messaging.emails import delivery, enqueue, store, work
from postern.messaging.emails.delivery import deliver_claimed, hold_all, lease_keeper
from postern.messaging.emails.model import SendBody
from postern.messaging.emails.work import SENDS, deliver_share, load_jobs
from tests.workers import at_work

TRANSACTIONAL, MARKETING = SENDS
MAIL = {"to": ["ada@example.com"], "from": "Acme <hello@acme.example>", "subject": "Hello", "text": "Hello."}
NOT_NOW = {"prefer": "wait=0"}


async def until_delivered(project, number):
    async with asyncio.timeout(60):
        while (await project.client.get("/emails/logs?status=DELIVERED")).json()["total"] < number:
            await asyncio.sleep(0.02)


async def test_the_queue_of_one_project_does_not_delay_another_project(project, new_project, world):
    other = await new_project()
    for _ in range(3):
        await project.client.post("/emails/batch", {"emails": [MAIL] * 100})
    await other.client.post("/emails", MAIL, headers=NOT_NOW)
    shares = []

    async def note(there, sends):
        shares.append(str(sends[0].project_id))
        assert len({send.project_id for send in sends}) == 1
        await deliver_share(there, sends)

    async with at_work(world, [replace(TRANSACTIONAL, do=note, claim_size=10, max_claims=1)]):
        await until_delivered(other, 1)
        await until_delivered(project, 300)
    ours = [each for each in shares if each in (project.id, other.id)]
    assert ours.index(other.id) <= 2, "The one message waits for a share or two, not for the pile."
    assert ours.count(project.id) >= 30


async def test_claimed_marketing_mail_does_not_delay_transactional_mail(project, world):
    await project.client.post("/emails/batch", {"emails": [MAIL] * 50})
    async with world.db.connection() as connection:
        await connection.execute("update sends set lane = 1 where project_id = %s", [project.id])
    begun, go_on = asyncio.Event(), asyncio.Event()

    async def slowly(there, sends):
        begun.set()
        await go_on.wait()
        await deliver_share(there, sends)

    async with at_work(world, [TRANSACTIONAL, replace(MARKETING, do=slowly)]):
        try:
            async with asyncio.timeout(60):
                await begun.wait()
            await project.client.post("/emails", {**MAIL, "subject": "Your code"}, headers=NOT_NOW)
            await until_delivered(project, 1)
            (entry,) = (await project.client.get("/emails/logs?status=DELIVERED")).json()["data"]
            assert entry["subject"] == "Your code"
        finally:
            go_on.set()
        await until_delivered(project, 51)


async def test_a_long_queue_gets_several_but_never_all_workers(project, new_project, world):
    other = await new_project()
    await project.client.post("/emails/batch", {"emails": [MAIL] * 100})
    held, both, go_on = [], asyncio.Event(), asyncio.Event()

    async def hold_the_pile(there, sends):
        if str(sends[0].project_id) == project.id and not go_on.is_set():
            held.append(len(sends))
            if len(held) == 2:
                both.set()
            await go_on.wait()
        await deliver_share(there, sends)

    async with at_work(world, [replace(TRANSACTIONAL, do=hold_the_pile, claim_size=10, max_claims=4)]):
        try:
            async with asyncio.timeout(60):
                await both.wait()
            await other.client.post("/emails", MAIL, headers=NOT_NOW)
            await until_delivered(other, 1)
            assert held == [10, 10], "Two of four hands hold the pile, and the others are free."
        finally:
            go_on.set()
        await until_delivered(project, 100)


async def test_large_messages_are_sent_in_groups_that_fit_into_memory(project, world, work_off, monkeypatch):
    monkeypatch.setattr(work, "GROUP_OCTETS", 100_000)
    invoice = base64.b64encode(random.Random(1).randbytes(30_000)).decode()  # Not to be compressed: 40,000 octets.
    large = {**MAIL, "attachments": [{"filename": "invoice.pdf", "content": invoice}]}
    for mails in ([large] * 5, [MAIL] * 20):
        assert (await project.client.post("/emails/batch", {"emails": mails})).status_code == 201
    lots = []
    together = work._deliver_together

    async def note(there, sends):
        if str(sends[0].project_id) != project.id:  # Other tests leave mail due in the same database.
            await together(there, sends)
            return
        lots.append(len(sends))
        kept = [send for send in lease_keeper(there)._sends.values() if str(send.project_id) == project.id]
        assert {send.id for send in sends} <= {send.id for send in kept}
        assert len(kept) == 25 - sum(lots[:-1]), "The leases of those that still wait are kept, too."
        await together(there, sends)

    monkeypatch.setattr(work, "_deliver_together", note)
    await work_off()
    assert lots == [2, 2, 21]
    assert (await project.client.get("/emails/logs?status=DELIVERED")).json()["total"] == 25


async def test_compressed_content_counts_with_its_uncompressed_size(project, world):
    repeated = {**MAIL, "html": "<p>" + "Hello again. " * 20_000}
    made = await project.client.post("/emails/batch", {"emails": [repeated, MAIL]})
    ids = [UUID(each["id"]) for each in made.json()["data"]]
    found = await store.body_sizes(world.db, project_id=UUID(project.id), ids=ids, content_ids=[])
    sizes = {row.id: row.size for row in found}
    assert 260_000 < sizes[ids[0]] < 270_000
    assert sizes[ids[1]] < 1_000


async def queued_sends(world, project, number):
    made = await project.client.post("/emails/batch", {"emails": [MAIL] * number})
    ids = [UUID(each["id"]) for each in made.json()["data"]]
    return await store.sends_by_id(world.db, project_id=UUID(project.id), ids=ids)


async def due_of(world, send):
    (found,) = await store.sends_by_id(world.db, project_id=send.project_id, ids=[send.id])
    return found.due_at


async def test_a_deleted_project_does_not_affect_sends_of_others(project, new_project, world):
    other = await new_project()
    jobs = [
        *await load_jobs(world, await queued_sends(world, other, 1)),
        *await load_jobs(world, await queued_sends(world, project, 2)),
    ]
    assert (await other.developer.delete("")).status_code == 200
    gone, *statuses = await asyncio.gather(*(deliver_claimed(world, job) for job in jobs), return_exceptions=True)
    assert isinstance(gone, ProjectMissing)
    assert statuses == ["DELIVERED", "DELIVERED"]


async def test_a_late_lease_renewal_does_not_change_a_settled_send(project, world, clock):
    (send,) = await queued_sends(world, project, 1)
    for due, expected in (
        (timedelta(minutes=15), timedelta(minutes=15)),
        (timedelta(seconds=40), timedelta(minutes=1)),
    ):
        now = clock()
        async with world.db.connection() as connection:
            await connection.execute("update sends set due_at = %s where id = %s", [now + due, send.id])
        fence = {"project_id": [send.project_id], "id": [send.id], "attempt": [send.attempt]}
        await store.renew_leases(world.db, **fence, until=now + timedelta(minutes=1))
        assert await due_of(world, send) == now + expected


async def test_held_sends_are_no_longer_leased(project, world, monkeypatch):
    held, going = await queued_sends(world, project, 2)
    async with world.db.transaction() as tx:
        content_id = uuid4()
        await enqueue.insert_content(tx, held.project_id, content_id, SendBody(subject="Hello"), world.clock())
        await enqueue.hold_content(tx, held.project_id, [content_id])
    async with world.db.connection() as connection:
        await connection.execute("update sends set content_id = %s where id = %s", [content_id, held.id])
    sends = await store.sends_by_id(world.db, project_id=held.project_id, ids=[held.id, going.id])
    seen = []

    async def note(there, sends):
        seen.append({send.id for send in lease_keeper(there)._sends.values()})
        return await hold_all(there, sends)

    monkeypatch.setattr(delivery, "hold_all", note)
    await deliver_share(world, sends)
    assert held.id not in seen[0]
    assert await due_of(world, held) is None


def test_sends_are_grouped_in_order_without_omission():
    class One:
        content_id = None

        def __init__(self, size):
            self.id, self.size = uuid4(), size

    mega = 1024 * 1024
    sends = [One(size * mega) for size in (2, 2, 1, 20, 0, 4, 1, 3)]
    lots = list(work.group_by_size(sends, {each.id: each.size for each in sends}))
    assert [[each.size // mega for each in lot] for lot in lots] == [[2, 2], [1], [20], [0, 4], [1, 3]]
    assert [each for lot in lots for each in lot] == sends
    assert list(work.group_by_size([], {})) == []
