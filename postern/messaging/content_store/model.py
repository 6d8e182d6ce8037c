"""Types of the contents of messages that are moved to the store of objects."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import ClassVar, Final, Literal, Protocol
from uuid import UUID

from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.problems import Unavailable
from postern.kernel.values import Moment, Record

Kind = Literal["emails", "received"]
"""Sent e-mails, or received messages."""
STATE_ROWS: Final[Mapping[Kind, int]] = MappingProxyType({"emails": 1, "received": 2})
"""The ids of the rows of `content_state`, by kind. The first one also says since when the store has its marker."""


class ContentStoreUnavailable(Unavailable):
    """The content of this message is in a store that does not respond at the moment. Nothing was changed; try again
    shortly."""

    retry_after_seconds = 5


class ContentObject(Record):
    """A content that may be in the store, claimed by a worker."""

    project_id: UUID
    id: UUID
    """The id of the message."""
    kind: Kind
    state: Literal["WAITING", "STORED", "DELETED"]
    attempt: int


class ContentCandidate(Record):
    """A content that waits to be moved."""

    id: UUID
    octets: int
    """Its size, not compressed."""
    may_move: bool
    """Whether it does not change any more, and has no one-time secrets."""
    due_at: Moment | None = None
    """When the message is processed next, if it is not settled."""


class ContentDocument(Record):
    """A content as it is stored in the database."""

    id: UUID
    document: bytes


class ContentsState(Record):
    """What is known of the contents of all projects."""

    scanned_until: Moment | None = None
    """Until when the contents of one kind were looked through."""
    marked_at: Moment | None = None
    """When the marker was written to the store."""


class MovedContents(Protocol):
    """How the contents of one kind of messages are moved: which of them may be, and the statements for it. `ids` are
    those of messages, which are UUIDv7. All statements concern one project, except those that look for contents."""

    kind: ClassVar[Kind]
    purpose: ClassVar[str]
    """What the objects are encrypted for, besides the ids of project and message."""

    async def oldest(self, db: Queries, *, first_id: UUID) -> UUID | None:
        """The id of the oldest message from `first_id` on; None if there is none."""
        ...

    async def insert_objects(self, tx: Transaction, *, first_id: UUID, end_id: UUID, octets: int, now: Moment) -> bool:
        """Insert rows of `content_objects`, due at `now`, for the messages from `first_id` to before `end_id` whose
        content is in the database and occupies `octets` or more there, settled or not; returns whether there are
        any new ones."""
        ...

    async def candidates(self, db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ContentCandidate]:
        """Those of these contents that exist."""
        ...

    async def documents(self, db: Queries, *, project_id: UUID, ids: list[UUID]) -> list[ContentDocument]:
        """Those of these contents that are in the database and may be moved."""
        ...

    async def lock_to_move(
        self, tx: Transaction, *, project_id: UUID, ids: list[UUID], attempts: list[int]
    ) -> list[UUID]:
        """Lock those contents that may still be moved, and their rows of `content_objects` in these attempts. Waits for
        no lock, so that there are no deadlocks: what is locked is moved another time."""
        ...

    async def replace(self, tx: Transaction, *, project_id: UUID, ids: list[UUID], octets: list[int]) -> None:
        """Replace contents that are locked by the sizes of their objects."""
        ...
