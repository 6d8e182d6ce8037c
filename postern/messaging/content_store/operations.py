"""The store of contents: reading, writing and deleting objects, and its marker.

An object is compressed, then encrypted with the master key, for its message only.
"""

import asyncio
import zlib
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID

import structlog

from postern.kernel.database.statements import Transaction
from postern.kernel.http.scheduling import paused_request
from postern.kernel.object_store import ObjectStore, StoreFailed
from postern.kernel.values import Moment
from postern.messaging.content_store import store
from postern.messaging.content_store.model import STATE_ROWS, ContentStoreUnavailable, Kind, MovedContents
from postern.security.secrets import SealBroken

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)

MAX_CONTENT_OCTETS = 256 * 1024 * 1024
"""Maximum octets of a content that is read from the store. A request has at most 50 MB, and JSON can write an octet
as six."""
READ_TIMEOUT = timedelta(seconds=10)
"""How long a request waits for a content, besides the time in which it arrives at MIN_OCTETS_PER_SECOND."""
MIN_OCTETS_PER_SECOND = 1_000_000
MAX_READS = 16
"""Maximum contents that a process reads at a time, as many as it has connections to the database, because each may have
many megabytes."""
CHECKED_AFTER = timedelta(hours=1)
"""When a worker looks again at a message that is not settled yet, or tries again with an object that failed."""
COMPRESSION_LEVEL = 1
"""Higher levels of zlib make base64 hardly smaller."""
MARKER = "postern-contents"
"""The name of the object that tells a store from another one, and from the empty folder of a disk that is not
mounted."""
MARKER_OCTETS = 1_000
MARKER_ROW = STATE_ROWS["emails"]


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

    async def read(self, moved: MovedContents, project_id: UUID, id: UUID, octets: int) -> bytes | None:
        """The content of a message, from its object of about `octets` octets.

        None if there is no such object, or if it was changed or encrypted with another master key. Raises StoreFailed.
        """
        objects = self._require_objects()
        # A worker whose lease has ended may replace the object by one that another release of zlib has compressed.
        sealed = await objects.get(object_name(moved.kind, project_id, id), max_octets=2 * octets)
        if sealed is None:
            await self.require_marker()
            return None
        return await asyncio.to_thread(self._open, moved, project_id, id, sealed)

    async def write(self, moved: MovedContents, project_id: UUID, id: UUID, document: bytes) -> int:
        """Store the content of a message; returns the octets of its object. Raises StoreFailed."""
        sealed = await asyncio.to_thread(self._seal, moved, project_id, id, document)
        await self._require_objects().put(object_name(moved.kind, project_id, id), sealed)
        return len(sealed)

    async def delete(self, kind: Kind, project_id: UUID, id: UUID) -> None:
        """Delete the object of a message, if there is one. Raises StoreFailed."""
        await self._require_objects().delete(object_name(kind, project_id, id))

    async def require_marker(self) -> None:
        """Raise StoreFailed if the store is not that of this instance."""
        if not await self.has_marker():
            raise StoreFailed(
                f"{self._require_objects().place} does not have the contents of this instance: {MARKER} is missing."
            )

    async def is_used(self) -> bool:
        """Whether contents were moved to a store, be it this one or one that is lost."""
        state = await store.get_state(self._world.db, row=MARKER_ROW)
        return state is not None and state.marked_at is not None

    async def mark(self, *, is_new: bool = False) -> None:
        """Mark an empty store as that of this instance, before the first content is written.

        Raises StoreFailed if it is that of another instance, or if this instance has another store already, unless
        that `is_new`.
        """
        is_used = await self.is_used()
        if is_used and not is_new:
            await self.require_marker()
            return
        if not await self.has_marker():
            await self._require_objects().put(MARKER, self._mark)
        if not is_used:
            await store.set_marked(self._world.db, row=MARKER_ROW, now=self._world.clock())

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

    def _seal(self, moved: MovedContents, project_id: UUID, id: UUID, document: bytes) -> bytes:
        compressed = zlib.compress(document, COMPRESSION_LEVEL)
        return self._world.secrets.seal(compressed, _context(moved, project_id, id))

    def _open(self, moved: MovedContents, project_id: UUID, id: UUID, sealed: bytes) -> bytes | None:
        try:
            compressed = self._world.secrets.open(sealed, _context(moved, project_id, id))
        except SealBroken:
            log.warning("content_not_decrypted", kind=moved.kind, id=str(id))
            return None
        decompressor = zlib.decompressobj()
        document = decompressor.decompress(compressed, MAX_CONTENT_OCTETS)
        if not decompressor.eof:
            raise StoreFailed(f"The content of {id} has more than {MAX_CONTENT_OCTETS} octets.")
        return document


def _context(moved: MovedContents, project_id: UUID, id: UUID) -> str:
    return f"{moved.purpose}:{project_id}:{id}"


def object_name(kind: Kind, project_id: UUID, id: UUID) -> str:
    """The name of the object with the content of a message. Its folder has a 256th of the contents of the project."""
    return f"{kind}/{project_id}/{id.hex[-2:]}/{id}"


async def read_content(world: "World", moved: MovedContents, project_id: UUID, id: UUID, octets: int) -> bytes | None:
    """The content of a message, from its object of about `octets` octets; None if the store does not have it.

    Raises ContentStoreUnavailable, at the latest after READ_TIMEOUT and the time for so many octets.
    """
    contents: Contents = world.resources[Contents]
    seconds = READ_TIMEOUT.total_seconds() + octets / MIN_OCTETS_PER_SECOND
    try:
        with paused_request():
            async with asyncio.timeout(seconds), contents.reads:
                return await contents.read(moved, project_id, id, octets)
    except (StoreFailed, TimeoutError) as error:
        log.warning("content_not_read", kind=moved.kind, id=str(id), error=str(error) or "no response in time")
        raise ContentStoreUnavailable from None


async def move_again(tx: Transaction, project_id: UUID, id: UUID, now: Moment) -> None:
    """Have a content moved again that was put back into the database."""
    await store.move_again(tx, project_id=project_id, id=id, due_at=Moment.of(now + CHECKED_AFTER))
