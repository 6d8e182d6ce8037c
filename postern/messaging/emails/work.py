"""The background work of sends: a worker claims a batch of due sends and delivers them.

A batch must not occupy the worker for as long as its slowest server takes, which may be ten minutes (RFC 5321
§4.5.3.2.6). So after a few seconds, its last deliveries go on in the background, and the worker claims the next batch.
"""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, LiteralString
from uuid import UUID

import msgspec
import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.config import Settings
from postern.kernel.due import Work
from postern.kernel.values import distinct_ids
from postern.messaging.audiences.contacts import contacts_with_ids
from postern.messaging.emails import store
from postern.messaging.emails.contents import read_body
from postern.messaging.emails.delivery import DeliveryJob, deliver_leased, lease_keeper
from postern.messaging.emails.domain_limits import admitted
from postern.messaging.emails.model import MARKETING, Send, SendBody
from postern.messaging.emails.redaction import open_body
from postern.messaging.emails.sites import postpone_sends, sites
from postern.messaging.emails.source_limits import choose_sources
from postern.messaging.templates.rules import contact_variables

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

MAX_GROUP_OCTETS = 4 * 1024 * 1024
"""Maximum octets of content and attachments that a worker loads at a time for one batch. A worker processes twelve
batches at a time and holds each message in up to three forms. The limit bounds its memory even if each message has its
own attachments."""
BATCH_SECONDS = 8.0
"""After this time, the last deliveries of a batch go on in the background."""
MAX_LAST_DELIVERIES = 64
"""How many deliveries of a batch may go on in the background."""
MAX_BACKGROUND_DELIVERIES = 1_000
"""How many deliveries of all batches may go on in the background of one process."""
MAX_BACKGROUND_OCTETS = 64 * 1024 * 1024
"""How many octets of content and attachments these deliveries may hold in memory."""


async def deliver_batch(world: "World", sends: list[Send]) -> None:
    """Deliver the claimed sends of one project; at least one. Renews their leases meanwhile.

    An error of a delivery is not raised: it is logged, and the send is claimed again when its lease ends.
    """
    chosen = await choose_sources(world, await admitted(world, await postpone_sends(world, sends)))
    sends = chosen.sends
    if not sends:
        return
    with lease_keeper(world).renewing(*sends):
        sizes = await _sizes(world, sends)
        for group, octets in group_by_size(sends, sizes):
            await _deliver_together(world, group, octets, chosen.addresses)


def group_by_size(sends: Sequence[Send], sizes: Mapping[int, int]) -> Iterator[tuple[list[Send], int]]:
    """Split sends, in their order, into groups of at most MAX_GROUP_OCTETS; a send that is larger is a separate group.
    Gives each group with its octets.

    `sizes` in octets are keyed by the number of the id (`UUID.int`) of the shared content, or of the send if it has no
    shared content: the hash of a UUID takes many times as long.
    """
    group: list[Send] = []
    octets = 0
    for send in sends:
        size = sizes.get((send.content_id or send.id).int, 0)
        if group and octets + size > MAX_GROUP_OCTETS:
            yield group, octets
            group, octets = [], 0
        group.append(send)
        octets += size
    if group:
        yield group, octets


async def _sizes(world: "World", sends: Sequence[Send]) -> dict[int, int]:
    """The approximate octets of content and attachments, keyed as `group_by_size` needs it."""
    sizes = await store.body_sizes(
        world.db,
        project_id=sends[0].project_id,
        ids=[send.id for send in sends if send.content_id is None],
        content_ids=distinct_ids(send.content_id for send in sends),
    )
    return {row.id.int: row.size for row in sizes}


async def _deliver_together(
    world: "World", sends: Sequence[Send], octets: int, sources: Mapping[UUID, tuple[str, ...]]
) -> None:
    """Deliver these sends; returns when all are delivered, or when the last ones go on in the background.

    `sources`: the IP addresses from which a send must leave, by its id; the transport chooses those of other sends.
    """
    jobs = await load_jobs(world, sends)
    if sources:
        jobs = [msgspec.structs.replace(job, sources=sources.get(job.send.id)) for job in jobs]
    deliveries = {asyncio.create_task(_deliver_one(world, job)): job for job in jobs}
    remaining = set(deliveries)
    try:
        _, remaining = await asyncio.wait(remaining, timeout=BATCH_SECONDS)
        background: BackgroundDeliveries = world.resources[BackgroundDeliveries]
        while remaining:
            last = {task: deliveries[task].send for task in remaining}
            if len(last) <= MAX_LAST_DELIVERIES and background.take_over(last, octets):
                return
            _, remaining = await asyncio.wait(remaining, return_when=asyncio.FIRST_COMPLETED)
    except asyncio.CancelledError:
        for task in remaining:
            task.cancel()
        raise


async def _deliver_one(world: "World", job: DeliveryJob) -> None:
    """Deliver one send. An error is logged, and the send is claimed again when its lease ends."""
    site = sites(world).of_send(job.send)
    try:
        if site is None:
            await deliver_leased(world, job)
        else:
            with site.counting_in_memory(bulk=job.send.lane == MARKETING):
                await deliver_leased(world, job)
    except (OperationalError, PoolTimeout) as error:
        log.warning("database_away", send=str(job.send.id), error=str(error).strip()[:200])
    except Exception:
        log.exception("delivery_failed", send=str(job.send.id))


class BackgroundDeliveries:
    """The deliveries of one process that go on after their batch. Their leases are renewed until they are done."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._count = 0
        self._octets = 0

    def take_over(self, deliveries: Mapping[asyncio.Task[None], Send], octets: int) -> bool:
        """Let running deliveries, with `octets` of content, go on; returns False if there are too many already."""
        if self._count + len(deliveries) > MAX_BACKGROUND_DELIVERIES:
            return False
        if self._octets and self._octets + octets > MAX_BACKGROUND_OCTETS:
            return False
        self._count += len(deliveries)
        self._octets += octets
        self._world.run_in_background(self._finish(dict(deliveries), octets))
        return True

    async def _finish(self, deliveries: dict[asyncio.Task[None], Send], octets: int) -> None:
        try:
            # A delivery that has ended has released its lease, which must not be renewed any more.
            with lease_keeper(self._world).renewing(*(send for task, send in deliveries.items() if not task.done())):
                await asyncio.wait(deliveries)
        finally:
            self._count -= len(deliveries)
            self._octets -= octets
            for task in deliveries:
                task.cancel()

    async def aclose(self) -> None:
        """Does nothing: the shutdown waits for the tasks of `World.run_in_background`."""


async def load_jobs(world: "World", sends: Sequence[Send]) -> list[DeliveryJob]:
    """The jobs for claimed sends of one project (at least one), each with its content and its contact's attributes.

    The content of a job is None if it is no longer stored or its one-time secrets were erased. Raises
    ContentStoreUnavailable.
    """
    project_id = sends[0].project_id
    unshared_ids = [send.id for send in sends if send.content_id is None]
    content_ids = distinct_ids(send.content_id for send in sends)
    bodies: dict[int, SendBody] = {}
    if unshared_ids:
        for row in await store.bodies(world.db, project_id=project_id, ids=unshared_ids):
            body = open_body(world, row.send_id, row.body, row.sealed)
            if row.object_octets is not None:  # A retry restores the content, so that this should not happen.
                body = await read_body(world, project_id, row.send_id, row.object_octets)
            if body is not None:
                bodies[row.send_id.int] = body
    if content_ids:
        contents = await store.get_contents(world.db, project_id=project_id, ids=content_ids)
        bodies |= {row.id.int: row.body for row in contents}
    contact_ids = distinct_ids(send.contact_id for send in sends if send.content_id is not None)
    values = {
        contact.id.int: contact_variables(contact.email, contact.attributes)
        for contact in (await contacts_with_ids(world.db, project_id, contact_ids) if contact_ids else [])
    }
    return [
        DeliveryJob(
            send=send,
            body=bodies.get((send.content_id or send.id).int),
            values=values.get((send.contact_id or send.id).int, {}),
        )
        for send in sends
    ]


def _sends_of_lane(name: str, where: LiteralString) -> Work[Send]:
    return Work(
        name=name,
        table="sends",
        row_type=Send,
        lease=Settings().lease,
        do=deliver_batch,
        claim_size=250,
        where=where,
        max_claims=12,
    )


SENDS = [_sends_of_lane("sends.transactional", "lane = 0"), _sends_of_lane("sends.marketing", "lane = 1")]

WORK: list[Work[Any]] = [*SENDS]
