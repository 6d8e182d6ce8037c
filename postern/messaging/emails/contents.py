"""The contents of sent e-mails in a folder or an object store: `POSTERN_CONTENT_STORE`.

An e-mail is accepted and delivered with its content in the database. When it is settled, a worker moves a large content
to an object and keeps a small rest in the row. `content_objects` has a row for each content from before its object is
written until the object is deleted, so that neither can be lost if a process is killed in between. A trigger marks the
object for deletion, whichever statement deletes the content.

An object is compressed, then encrypted with the master key, for its send only.
"""

import asyncio
import zlib
from collections.abc import AsyncIterator, Awaitable, Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import msgspec
import structlog

from postern.kernel.database.statements import Transaction
from postern.kernel.due import Work
from postern.kernel.http.scheduling import paused_request
from postern.kernel.object_store import ObjectStore, StoreFailed
from postern.kernel.values import Moment, id_at
from postern.messaging.emails import content_store
from postern.messaging.emails.content_store import ContentCandidate, ContentObject
from postern.messaging.emails.model import WAITING, ContentStoreUnavailable, SendBody
from postern.security.secrets import SealBroken

if TYPE_CHECKING:
    from postern.world import World

Result = TypeVar("Result")
log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

MOVED_OCTETS = 16 * 1024
"""From which size in the database on (compressed) a content is moved. A smaller one costs less in the database, for the
30 days that it is kept, than the requests that write and delete an object; and most e-mails without attachments are
smaller, so that the number of objects stays far below that of e-mails. The trigger of the migration 0254 expects at
least 8 KiB."""
MAX_CONTENT_OCTETS = 256 * 1024 * 1024
"""Maximum octets of a content that is read from the store. A request has at most 50 MB, and JSON can write an octet
as six."""
READ_TIMEOUT = timedelta(seconds=10)
"""How long a request waits for a content, besides the time in which it arrives at MIN_OCTETS_PER_SECOND."""
MIN_OCTETS_PER_SECOND = 1_000_000
FAILURES_OF_EXPORT = 3
"""After so many contents in a row that could not be read, an export does not wait for the store again."""
MAX_READS = 16
"""Maximum contents that a process reads at a time, as many as it has connections to the database, because each may have
many megabytes."""
SCANNED_AFTER = timedelta(hours=1)
"""The age at which a content is found. Most e-mails are settled by then, and no transaction that inserts an older one
is still open."""
SCANNED_SPAN = timedelta(hours=1)
"""The contents of how long a time one transaction looks through."""
MAX_SPANS = 100
"""Maximum spans of one run, so that the worker is not occupied for long."""
FIRST_MOMENT = Moment.of(datetime.fromtimestamp(0, UTC))
CHECKED_AFTER = timedelta(hours=1)
"""When a worker looks again at an e-mail that is not settled yet, or tries again with an object that failed."""
WRITES_END_AFTER = timedelta(minutes=15)
"""No worker writes an object for so long after it has claimed it. The migration 0254 has the same number."""
GROUP_OCTETS = 8 * 1024 * 1024
"""Maximum octets of the contents that one worker moves at a time; a larger one is moved alone."""
GROUP_SIZE = 8
"""Maximum number of objects that one worker writes or deletes at a time."""
COMPRESSION_LEVEL = 1
"""Higher levels of zlib make base64 hardly smaller."""
MARKER = "postern-contents"
"""The name of the object that tells a store from another one, and from the empty folder of a disk that is not
mounted."""
MARKER_OCTETS = 1_000


class Contents:
    """The store of contents of an instance."""

    def __init__(self, world: "World") -> None:
        settings = world.settings
        self._world = world
        self.reads = asyncio.Semaphore(MAX_READS)
        self.objects = (
            ObjectStore(settings.content_store, settings.content_store_endpoint) if settings.content_store else None
        )

    async def aclose(self) -> None:
        """Give up requests to the store that have not begun."""
        if self.objects is not None:
            self.objects.close()

    async def read(self, project_id: UUID, send_id: UUID, octets: int) -> bytes | None:
        """The content of a send, a JSON object, from its object of about `octets` octets.

        None if there is no such object, or if it was changed or encrypted with another master key. Raises StoreFailed.
        """
        objects = self._require_objects()
        # A worker whose lease has ended may replace the object by one that another release of zlib has compressed.
        sealed = await objects.get(object_name(project_id, send_id), max_octets=2 * octets)
        if sealed is None:
            await self.require_marker()
            return None
        return await asyncio.to_thread(self._open, project_id, send_id, sealed)

    async def write(self, project_id: UUID, send_id: UUID, document: str) -> int:
        """Store the content of a send, a JSON object; returns the octets of its object. Raises StoreFailed."""
        sealed = await asyncio.to_thread(self._seal, project_id, send_id, document)
        await self._require_objects().put(object_name(project_id, send_id), sealed)
        return len(sealed)

    async def delete(self, project_id: UUID, send_id: UUID) -> None:
        """Delete the object of a send, if there is one. Raises StoreFailed."""
        await self._require_objects().delete(object_name(project_id, send_id))

    async def require_marker(self) -> None:
        """Raise StoreFailed if the store is not that of this instance."""
        if not await self.has_marker():
            raise StoreFailed(
                f"{self._require_objects().place} does not have the contents of this instance: {MARKER} is missing."
            )

    async def mark(self, *, is_new: bool = False) -> None:
        """Mark an empty store as that of this instance, before the first content is written.

        Raises StoreFailed if it is that of another instance, or if this instance has another store already, unless
        that `is_new`.
        """
        state = await content_store.get_state(self._world.db)
        is_marked = state is not None and state.marked_at is not None
        if is_marked and not is_new:
            await self.require_marker()
            return
        if not await self.has_marker():
            await self._require_objects().put(MARKER, self._mark)
        if not is_marked:
            await content_store.set_marked(self._world.db, now=self._world.clock())

    async def has_marker(self) -> bool:
        """Whether the store is marked as that of this instance. Raises StoreFailed if it is that of another one."""
        objects = self._require_objects()
        marker = await objects.get(MARKER, max_octets=MARKER_OCTETS)
        if marker is not None and marker != self._mark:
            raise StoreFailed(f"{objects.place} has the contents of an instance with another master key.")
        return marker is not None

    @property
    def _mark(self) -> bytes:
        return self._world.secrets.digest("content-store", MARKER).hex().encode()

    def _require_objects(self) -> ObjectStore:
        if self.objects is None:
            raise StoreFailed("POSTERN_CONTENT_STORE is not set.")
        return self.objects

    def _seal(self, project_id: UUID, send_id: UUID, document: str) -> bytes:
        compressed = zlib.compress(document.encode(), COMPRESSION_LEVEL)
        return self._world.secrets.seal(compressed, _context(project_id, send_id))

    def _open(self, project_id: UUID, send_id: UUID, sealed: bytes) -> bytes | None:
        try:
            compressed = self._world.secrets.open(sealed, _context(project_id, send_id))
        except SealBroken:
            log.warning("content_not_decrypted", send=str(send_id))
            return None
        decompressor = zlib.decompressobj()
        document = decompressor.decompress(compressed, MAX_CONTENT_OCTETS)
        if not decompressor.eof:
            raise StoreFailed(f"The content of {send_id} has more than {MAX_CONTENT_OCTETS} octets.")
        return document


def _context(project_id: UUID, send_id: UUID) -> str:
    return f"send-content:{project_id}:{send_id}"


def object_name(project_id: UUID, send_id: UUID) -> str:
    """The name of the object with the content of a send. Its folder has a 256th of the contents of the project."""
    return f"emails/{project_id}/{send_id.hex[-2:]}/{send_id}"


async def read_document(world: "World", project_id: UUID, send_id: UUID, octets: int) -> bytes | None:
    """The content of a send, a JSON object, from its object of about `octets` octets; None if the store does not have
    it.

    Raises ContentStoreUnavailable, at the latest after READ_TIMEOUT and the time for so many octets.
    """
    contents: Contents = world.resources[Contents]
    seconds = READ_TIMEOUT.total_seconds() + octets / MIN_OCTETS_PER_SECOND
    try:
        with paused_request():
            async with asyncio.timeout(seconds), contents.reads:
                return await contents.read(project_id, send_id, octets)
    except (StoreFailed, TimeoutError) as error:
        log.warning("content_not_read", send=str(send_id), error=str(error) or "no response in time")
        raise ContentStoreUnavailable from None


async def read_body(world: "World", project_id: UUID, send_id: UUID, octets: int) -> SendBody | None:
    """Like `read_document`, but decoded."""
    document = await read_document(world, project_id, send_id, octets)
    return None if document is None else msgspec.json.decode(document, type=SendBody)


async def restore_content(tx: Transaction, project_id: UUID, send_id: UUID, document: bytes, now: Moment) -> None:
    """Put a content that was moved back into the database, because the e-mail is sent again. Call it before the send
    is locked."""
    if await content_store.restore_content(tx, project_id=project_id, send_id=send_id, document=document.decode()):
        due_at = Moment.of(now + CHECKED_AFTER)
        await content_store.move_again(tx, project_id=project_id, id=send_id, due_at=due_at)


async def exported_contents(
    world: "World", project_id: UUID, chunks: AsyncIterator[list[str]]
) -> AsyncIterator[list[str]]:
    """Rows of the table `send_bodies` of an export, JSON objects, with the contents from the store.

    A content that cannot be read is left out, and the row then says so: `"contentMissing": true`.
    """
    failures = 0
    """In a row."""

    async def completed(text: str) -> str:
        nonlocal failures
        row = msgspec.json.decode(text)
        octets = row.pop("objectOctets", None)
        document = None
        if octets is None:
            return msgspec.json.encode(row).decode()
        if failures < FAILURES_OF_EXPORT:
            try:
                document = await read_document(world, project_id, UUID(row["sendId"]), octets)
                failures = 0
            except ContentStoreUnavailable:
                failures += 1
        row |= {"contentMissing": True} if document is None else {"body": msgspec.Raw(document)}
        return msgspec.json.encode(row).decode()

    async for rows in chunks:
        for start in range(0, len(rows), GROUP_SIZE):
            yield await _all_of(completed(text) for text in rows[start : start + GROUP_SIZE])


async def find_contents(world: "World") -> int:
    """Look for large contents, once for each time span, and have them moved when their e-mails are settled; returns
    the number of spans. Does nothing without POSTERN_CONTENT_STORE."""
    if world.settings.content_store is None:
        return 0
    end = Moment.of(world.clock() - SCANNED_AFTER)
    state = await content_store.get_state(world.db)
    begin = (state and state.scanned_until) or FIRST_MOMENT
    if begin > world.clock():
        # The clock of a worker was ahead: what was accepted since has not been looked through.
        begin = FIRST_MOMENT
        await content_store.reset_scanned_until(world.db, until=begin)
    if end - begin > MAX_SPANS * SCANNED_SPAN:
        oldest = await content_store.oldest_content(world.db, first_id=id_at(begin))
        begin = end if oldest is None else min(_time_of(oldest), end)
    spans = 0
    while begin < end and spans < MAX_SPANS:
        until = min(Moment.of(begin + SCANNED_SPAN), end)
        async with world.db.transaction() as tx:
            # First, because it locks the row: two workers that insert the same objects could wait for each other.
            await content_store.set_scanned_until(tx, until=until)
            if await content_store.insert_objects(
                tx, first_id=id_at(begin), end_id=id_at(until), octets=MOVED_OCTETS, now=world.clock()
            ):
                tx.mark_due("content_objects")
        begin, spans = until, spans + 1
    return spans


def _time_of(send_id: UUID) -> Moment:
    """When a UUIDv7 was made, in whole milliseconds."""
    return Moment.of(datetime.fromtimestamp((send_id.int >> 80) / 1_000, UTC))


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
        await _move(world, contents, [row for row in rows if row.state == "WAITING"])
    except StoreFailed as error:
        log.warning("content_store_failed", project=str(rows[0].project_id), error=str(error))


async def _delete(world: "World", contents: Contents, rows: Sequence[ContentObject]) -> None:
    if rows:
        # An object that is not there counts as deleted, which is wrong in the folder of a disk that is not mounted.
        await contents.mark()
    for start in range(0, len(rows), GROUP_SIZE):
        group = rows[start : start + GROUP_SIZE]
        results = await _attempt(world, group, [contents.delete(row.project_id, row.id) for row in group])
        await content_store.forget_objects(world.db, project_id=group[0].project_id, ids=list(results))


async def _move(world: "World", contents: Contents, rows: Sequence[ContentObject]) -> None:
    if not rows:
        return
    project_id, by_id = rows[0].project_id, {row.id: row for row in rows}
    candidates = await content_store.candidates(world.db, project_id=project_id, ids=list(by_id), waiting=list(WAITING))
    for row in [row for send_id, row in by_id.items() if send_id not in {candidate.id for candidate in candidates}]:
        # The content was deleted when it was found. The trigger has not seen this row then.
        await content_store.mark_deleted(
            world.db, project_id=project_id, id=row.id, attempt=row.attempt, delay=WRITES_END_AFTER
        )
    later = [one for one in candidates if not one.may_move or one.octets > MAX_CONTENT_OCTETS]
    times = [Moment.of(max(world.clock(), one.send_due_at or world.clock()) + CHECKED_AFTER) for one in later]
    await _postpone(world, [by_id[candidate.id] for candidate in later], times)
    movable = [candidate for candidate in candidates if candidate.may_move and candidate.octets <= MAX_CONTENT_OCTETS]
    if movable:
        await contents.mark()
    for group in _groups(movable):
        await _move_group(world, contents, [by_id[candidate.id] for candidate in group])


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


async def _move_group(world: "World", contents: Contents, rows: Sequence[ContentObject]) -> None:
    """Write the objects, then replace those contents that have not changed meanwhile."""
    project_id, attempts = rows[0].project_id, {row.id: row.attempt for row in rows}
    documents = await content_store.documents(world.db, project_id=project_id, ids=list(attempts))
    claimed = {row.id: row for row in rows}
    writes = [contents.write(project_id, row.id, row.document) for row in documents]
    octets = await _attempt(world, [claimed[row.id] for row in documents], writes)
    async with world.db.transaction() as tx:
        ids = await content_store.lock_to_move(
            tx,
            project_id=project_id,
            ids=list(octets),
            attempts=[attempts[send_id] for send_id in octets],
            waiting=list(WAITING),
        )
        sizes = [octets[send_id] for send_id in ids]
        await content_store.replace_contents(tx, project_id=project_id, ids=ids, octets=sizes)
        await content_store.mark_stored(tx, project_id=project_id, ids=ids)
    if others := [send_id for send_id in octets if send_id not in ids]:
        # If this took so long that a worker has deleted the object before it was written, nobody else deletes it.
        known = await content_store.known_objects(world.db, project_id=project_id, ids=others)
        await _all_of(contents.delete(project_id, send_id) for send_id in others if send_id not in known)


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
    for send_id, error in failed.items():
        log.warning("content_store_failed", project=str(rows[0].project_id), send=str(send_id), error=str(error))
    later = [row for row in rows if row.id in failed]
    await _postpone(world, later, [Moment.of(world.clock() + CHECKED_AFTER)] * len(later))
    return succeeded


async def _all_of(tasks: Iterable[Awaitable[Result]]) -> list[Result]:
    """The results of these tasks. If some fail, the others are finished before the error of the first is raised."""
    results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result
    return [result for result in results if not isinstance(result, BaseException)]


async def _postpone(world: "World", rows: Sequence[ContentObject], due_at: list[Moment]) -> None:
    if rows:
        await content_store.postpone_objects(
            world.db,
            project_id=rows[0].project_id,
            ids=[row.id for row in rows],
            attempts=[row.attempt for row in rows],
            due_at=due_at,
        )


CONTENTS: Work[Any] = Work(
    name="emails.contents",
    table="content_objects",
    row_type=ContentObject,
    lease=timedelta(minutes=5),
    do=process_objects,
    claim_size=32,
    max_claims=2,
)
