"""Moving contents of messages from the database to the store of objects.

A message is accepted and processed with its content in the database. Once it is settled, a worker moves a large content
to an object and keeps a small rest in the row. `content_objects` has a row for each content from before its object is
written until the object is deleted, so that neither can be lost if a process is killed in between. Triggers mark the
object for deletion, whichever statement deletes the content.
"""

import asyncio
from collections.abc import Awaitable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import structlog

from postern.kernel.batching import all_of, groups_of
from postern.kernel.due import Work
from postern.kernel.object_store import StoreFailed
from postern.kernel.values import Moment, id_at
from postern.messaging.content_store import store
from postern.messaging.content_store.model import STATE_ROWS, ContentCandidate, ContentObject, MovedContents
from postern.messaging.content_store.operations import CHECKED_AFTER, MAX_CONTENT_OCTETS, Contents

if TYPE_CHECKING:
    from postern.world import World

Result = TypeVar("Result")
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

MOVED_OCTETS = 16 * 1024
"""From which size in the database on (compressed) a content is moved. A smaller one costs less in the database, for the
30 days that it is kept, than the requests that write and delete an object; and most messages without attachments are
smaller, so that the number of objects stays far below that of messages. The triggers of the migrations 0254 and 0256
expect at least 8 KiB."""
SCANNED_AFTER = timedelta(hours=1)
"""The age at which a content is found. Most e-mails are settled by then, and no transaction that inserts an older one
is still open."""
SCANNED_SPAN = timedelta(hours=1)
"""The contents of how long a time one transaction looks through."""
MAX_SPANS = 100
"""Maximum spans of one kind in one run, so that the worker is not occupied for long."""
FIRST_MOMENT = Moment.of(datetime.fromtimestamp(0, UTC))
WRITES_END_AFTER = timedelta(minutes=15)
"""No worker writes an object for so long after it has claimed it. The migrations 0254 and 0256 have the same
number."""
GROUP_OCTETS = 8 * 1024 * 1024
"""Maximum octets of the contents that one worker moves at a time; a larger one is moved alone."""
GROUP_SIZE = 8
"""Maximum number of objects that one worker writes or deletes at a time."""


async def find_contents(world: "World") -> int:
    """Look for large contents, once for each time span, and have them moved when their messages are settled; returns
    the number of spans. Does nothing without POSTERN_CONTENT_STORE."""
    if world.settings.content_store is None:
        return 0
    return sum([await _find_contents(world, moved) for moved in world.hooks.moved_contents.values()])


async def _find_contents(world: "World", moved: MovedContents) -> int:
    row = STATE_ROWS[moved.kind]
    end = Moment.of(world.clock() - SCANNED_AFTER)
    state = await store.get_state(world.db, row=row)
    begin = (state and state.scanned_until) or FIRST_MOMENT
    if begin > world.clock():
        # The clock of a worker was ahead: what was accepted since has not been looked through.
        begin = FIRST_MOMENT
        await store.reset_scanned_until(world.db, row=row, until=begin)
    if end - begin > MAX_SPANS * SCANNED_SPAN:
        oldest = await moved.oldest(world.db, first_id=id_at(begin))
        begin = end if oldest is None else min(_time_of(oldest), end)
    spans = 0
    while begin < end and spans < MAX_SPANS:
        until = min(Moment.of(begin + SCANNED_SPAN), end)
        async with world.db.transaction() as tx:
            # First, because it locks the row: two workers that insert the same objects could wait for each other.
            await store.set_scanned_until(tx, row=row, until=until)
            if await moved.insert_objects(
                tx, first_id=id_at(begin), end_id=id_at(until), octets=MOVED_OCTETS, now=world.clock()
            ):
                tx.mark_due("content_objects")
        begin, spans = until, spans + 1
    return spans


def _time_of(id: UUID) -> Moment:
    """When a UUIDv7 was made, in whole milliseconds."""
    return Moment.of(datetime.fromtimestamp((id.int >> 80) / 1_000, UTC))


async def process_objects(world: "World", rows: list[ContentObject]) -> None:
    """Move contents of one project to the store, and delete objects whose contents are deleted.

    If the store does not respond, the rows are claimed again when their lease ends. An object that fails alone is tried
    again after CHECKED_AFTER, and does not keep the others waiting.
    """
    contents: Contents = world.resources[Contents]
    if contents.objects is None:
        log.warning("content_store_not_set", project=str(rows[0].project_id), objects=len(rows))
        await _postpone(world, rows, [Moment.of(world.clock() + CHECKED_AFTER)] * len(rows))
        return
    try:
        await _delete(world, contents, [row for row in rows if row.state == "DELETED"])
        for group in groups_of((row for row in rows if row.state == "WAITING"), lambda row: row.kind):
            await _move(world, contents, world.hooks.moved_contents[group[0].kind], group)
    except StoreFailed as error:
        log.warning("content_store_failed", project=str(rows[0].project_id), error=str(error))


async def _delete(world: "World", contents: Contents, rows: Sequence[ContentObject]) -> None:
    if rows:
        # An object that is not there counts as deleted, which is wrong in the folder of a disk that is not mounted.
        await contents.mark()
    for start in range(0, len(rows), GROUP_SIZE):
        group = rows[start : start + GROUP_SIZE]
        results = await _attempt(world, group, [contents.delete(row.kind, row.project_id, row.id) for row in group])
        await store.forget_objects(world.db, project_id=group[0].project_id, ids=list(results))


async def _move(world: "World", contents: Contents, moved: MovedContents, rows: Sequence[ContentObject]) -> None:
    project_id, by_id = rows[0].project_id, {row.id: row for row in rows}
    candidates = await moved.candidates(world.db, project_id=project_id, ids=list(by_id))
    for row in [row for row in rows if row.id not in {candidate.id for candidate in candidates}]:
        # The content was deleted when it was found. The trigger has not seen this row then.
        await store.mark_deleted(
            world.db, project_id=project_id, id=row.id, attempt=row.attempt, delay=WRITES_END_AFTER
        )
    later = [one for one in candidates if not one.may_move or one.octets > MAX_CONTENT_OCTETS]
    times = [Moment.of(max(world.clock(), one.due_at or world.clock()) + CHECKED_AFTER) for one in later]
    await _postpone(world, [by_id[candidate.id] for candidate in later], times)
    movable = [candidate for candidate in candidates if candidate.may_move and candidate.octets <= MAX_CONTENT_OCTETS]
    if movable:
        await contents.mark()
    for group in _groups(movable):
        await _move_group(world, contents, moved, [by_id[candidate.id] for candidate in group])


def _groups(candidates: Sequence[ContentCandidate]) -> list[list[ContentCandidate]]:
    groups: list[list[ContentCandidate]] = []
    octets = 0
    for candidate in candidates:
        if not groups or len(groups[-1]) == GROUP_SIZE or octets + candidate.octets > GROUP_OCTETS:
            groups.append([])
            octets = 0
        groups[-1].append(candidate)
        octets += candidate.octets
    return groups


async def _move_group(world: "World", contents: Contents, moved: MovedContents, rows: Sequence[ContentObject]) -> None:
    """Write the objects, then replace those contents that have not changed meanwhile."""
    project_id, attempts = rows[0].project_id, {row.id: row.attempt for row in rows}
    documents = await moved.documents(world.db, project_id=project_id, ids=list(attempts))
    claimed = {row.id: row for row in rows}
    writes = [contents.write(moved, project_id, row.id, row.document) for row in documents]
    octets = await _attempt(world, [claimed[row.id] for row in documents], writes)
    async with world.db.transaction() as tx:
        ids = await moved.lock_to_move(
            tx, project_id=project_id, ids=list(octets), attempts=[attempts[id_] for id_ in octets]
        )
        await moved.replace(tx, project_id=project_id, ids=ids, octets=[octets[id_] for id_ in ids])
        await store.mark_stored(tx, project_id=project_id, ids=ids)
    if others := [id_ for id_ in octets if id_ not in ids]:
        # If this took so long that a worker has deleted the object before it was written, nobody else deletes it.
        known = await store.known_objects(world.db, project_id=project_id, ids=others)
        await all_of(contents.delete(moved.kind, project_id, id_) for id_ in others if id_ not in known)


async def _attempt(
    world: "World", rows: Sequence[ContentObject], tasks: Sequence[Awaitable[Result]]
) -> dict[UUID, Result]:
    """The results of those tasks that succeed, by the ids of their rows. The rows of the others are postponed.

    Raises StoreFailed if several fail and none succeeds: the store is away.
    """
    results = await asyncio.gather(*tasks, return_exceptions=True)
    failed: dict[UUID, StoreFailed] = {}
    succeeded: dict[UUID, Result] = {}
    for row, result in zip(rows, results, strict=True):
        if isinstance(result, StoreFailed):
            failed[row.id] = result
        elif isinstance(result, BaseException):
            raise result
        else:
            succeeded[row.id] = result
    if len(failed) > 1 and not succeeded:
        raise next(iter(failed.values()))
    for id_, error in failed.items():
        log.warning("content_store_failed", project=str(rows[0].project_id), id=str(id_), error=str(error))
    later = [row for row in rows if row.id in failed]
    await _postpone(world, later, [Moment.of(world.clock() + CHECKED_AFTER)] * len(later))
    return succeeded


async def _postpone(world: "World", rows: Sequence[ContentObject], due_at: list[Moment]) -> None:
    if rows:
        await store.postpone_objects(
            world.db,
            project_id=rows[0].project_id,
            ids=[row.id for row in rows],
            attempts=[row.attempt for row in rows],
            due_at=due_at,
        )


CONTENTS: Work[Any] = Work(
    name="content_store",
    table="content_objects",
    row_type=ContentObject,
    lease=timedelta(minutes=5),
    do=process_objects,
    # Those of later releases are left to their workers.
    where="kind in ('emails', 'received')",
    claim_size=32,
    max_claims=2,
)
