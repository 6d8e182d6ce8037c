"""The background work of sends: a worker claims some of the due sends (a share) and delivers them."""

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, LiteralString
from uuid import UUID

import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.kernel.config import Settings
from postern.kernel.due import Work
from postern.messaging.audiences.contacts import contacts_with_ids
from postern.messaging.emails import store
from postern.messaging.emails.delivery import DeliveryJob, deliver_leased, lease_keeper
from postern.messaging.emails.model import Send, SendBody
from postern.messaging.emails.redaction import open_body
from postern.messaging.templates.rules import contact_variables

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

GROUP_OCTETS = 4 * 1024 * 1024
"""Maximum octets of content and attachments that one share holds in memory at a time. A worker processes twelve shares
at a time and holds each message in up to three forms. This bounds its memory when each recipient has a separate
file."""


async def deliver_share(world: "World", sends: list[Send]) -> None:
    """Deliver the claimed sends of one project; at least one. Renews their leases meanwhile.

    An error of a delivery is not raised: it is logged, and the send is claimed again when its lease ends.
    """
    with lease_keeper(world).renewing(*sends):
        for group in group_by_size(sends, await _sizes(world, sends)):
            await _deliver_together(world, group)


def group_by_size(sends: Sequence[Send], sizes: Mapping[UUID, int]) -> Iterator[list[Send]]:
    """Split sends, in their order, into groups of at most GROUP_OCTETS; a send that is larger is a separate group.

    `sizes` in octets are keyed by the id of the shared content, or of the send if it has no shared content.
    """
    group: list[Send] = []
    octets = 0
    for send in sends:
        size = sizes.get(send.content_id or send.id, 0)
        if group and octets + size > GROUP_OCTETS:
            yield group
            group, octets = [], 0
        group.append(send)
        octets += size
    if group:
        yield group


async def _sizes(world: "World", sends: Sequence[Send]) -> dict[UUID, int]:
    """The approximate octets of content and attachments, keyed as `group_by_size` needs it."""
    sizes = await store.body_sizes(
        world.db,
        project_id=sends[0].project_id,
        ids=[send.id for send in sends if send.content_id is None],
        content_ids=sorted({send.content_id for send in sends if send.content_id is not None}),
    )
    return {row.id: row.size for row in sizes}


async def _deliver_together(world: "World", sends: Sequence[Send]) -> None:
    jobs = await load_jobs(world, sends)
    done = await asyncio.gather(*(deliver_leased(world, job) for job in jobs), return_exceptions=True)
    for job, result in zip(jobs, done, strict=True):
        if isinstance(result, OperationalError | PoolTimeout):
            log.warning("database_away", send=str(job.send.id), error=str(result).strip()[:200])
        elif isinstance(result, BaseException):
            log.error("hand_over_failed", send=str(job.send.id), exc_info=result)


async def load_jobs(world: "World", sends: Sequence[Send]) -> list[DeliveryJob]:
    """The jobs for claimed sends of one project (at least one), each with its content and its contact's attributes.

    The content of a job is None if it is no longer stored or its one-time secrets were erased.
    """
    project_id = sends[0].project_id
    unshared_ids = [send.id for send in sends if send.content_id is None]
    content_ids = sorted({send.content_id for send in sends if send.content_id is not None})
    bodies: dict[UUID, SendBody] = {}
    if unshared_ids:
        for row in await store.bodies(world.db, project_id=project_id, ids=unshared_ids):
            body = open_body(world, row.send_id, row.body, row.sealed)
            if body is not None:
                bodies[row.send_id] = body
    if content_ids:
        contents = await store.get_contents(world.db, project_id=project_id, ids=content_ids)
        bodies |= {row.id: row.body for row in contents}
    contact_ids = sorted({send.contact_id for send in sends if send.content_id and send.contact_id})
    values = {
        contact.id: contact_variables(contact.email, contact.attributes)
        for contact in (await contacts_with_ids(world.db, project_id, contact_ids) if contact_ids else [])
    }
    return [
        DeliveryJob(
            send=send,
            body=bodies.get(send.content_id or send.id),
            values=values.get(send.contact_id or send.id, {}),
        )
        for send in sends
    ]


def _sends_of_lane(name: str, where: LiteralString) -> Work[Send]:
    return Work(
        name=name,
        table="sends",
        row_type=Send,
        lease=Settings().lease,
        do=deliver_share,
        claim_size=250,
        where=where,
        max_claims=12,
    )


SENDS = [_sends_of_lane("sends.transactional", "lane = 0"), _sends_of_lane("sends.marketing", "lane = 1")]
