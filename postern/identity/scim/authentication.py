"""The credential of a directory: a bearer token, which is valid for one connection only."""

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import timedelta
from typing import TYPE_CHECKING
from uuid import UUID
from weakref import WeakValueDictionary

from postern.identity.organizations.model import OrganizationSuspended
from postern.identity.scim import store
from postern.identity.scim.model import NOTED_EVERY, TOKEN_PREFIX, TOKEN_PURPOSE, ConnectionRecord
from postern.kernel.database.statements import Transaction, limit_connections
from postern.kernel.http.call import Call, Caller, CredentialInvalid, CredentialMissing
from postern.kernel.http.handler import read_bearer
from postern.kernel.http.operation import RawRequest
from postern.kernel.http.problems import Forbidden
from postern.kernel.limits import RateLimit, TooManyRequests
from postern.security.secrets import looks_like_key

if TYPE_CHECKING:
    from postern.world import World

SCIM_PATH = "/scim/v2"
SCIM_RATE = RateLimit("scim", 500, timedelta(seconds=10))
"""Limit of the requests of one connection to one process."""
CONNECTIONS_PER_CHANGE = 4
"""Database connections for each change of directories that one process executes."""
QUEUE_LIMIT = 20
"""Changes of one directory that wait in one process."""
QUEUE_RETRY_SECONDS = 5


class DirectoryDisabled(Forbidden):
    """This directory connection is disabled."""


@dataclass(eq=False)
class DirectorySlot:
    """The changes of one directory in this process: one is executed, the others wait."""

    semaphore: asyncio.Semaphore
    change_count: int = 0


class DirectorySlots:
    """Limits how many changes of directories are executed at the same time in this process: one of each directory, and
    in total one for every CONNECTIONS_PER_CHANGE database connections."""

    def __init__(self, world: "World") -> None:
        self._all = asyncio.Semaphore(max(1, world.db.size // CONNECTIONS_PER_CHANGE))
        self._by_connection: WeakValueDictionary[UUID, DirectorySlot] = WeakValueDictionary()

    @contextmanager
    def limiting(self, connection_id: UUID) -> Iterator[None]:
        """Make the block wait for its turn before it takes a connection of the pool. Raises TooManyRequests."""
        slot = self._by_connection.setdefault(connection_id, DirectorySlot(asyncio.Semaphore(1)))
        if slot.change_count > QUEUE_LIMIT:
            raise TooManyRequests(
                "Many changes of this directory are waiting; slow down.", retry_after_seconds=QUEUE_RETRY_SECONDS
            )
        slot.change_count += 1
        try:
            with limit_connections(slot.semaphore, self._all):
                yield
        finally:
            slot.change_count -= 1

    async def aclose(self) -> None:
        """Does nothing; a resource of a World must have this method."""


@dataclass(frozen=True)
class Directory:
    """The connection that a request belongs to, and the Call with the directory as caller."""

    call: Call
    connection: ConnectionRecord
    base_url: str
    is_suspended: bool
    """Whether the organization is suspended: then users can only be deactivated, and users and groups deleted."""

    @property
    def key(self) -> dict[str, UUID]:
        """The project and the connection, for statements."""
        return {"project_id": self.connection.project_id, "connection_id": self.connection.id}

    @asynccontextmanager
    async def changing(self) -> AsyncIterator[tuple[Transaction, "Directory"]]:
        """A transaction, and the directory with its connection as it is now, whose settings cannot change until the
        transaction ends.

        The changes of a directory are serialised: the names of users and groups are unique, and roles depend on groups.
        So that the changes that wait do not hold connections of the pool, they wait in this process first. Raises
        TooManyRequests if many wait, and DirectoryDisabled.
        """
        with self.call.world.resources[DirectorySlots].limiting(self.connection.id):
            async with self.call.db.transaction() as tx:
                await tx.lock_quota("directory", self.connection.id)
                row = await store.lock_connection_shared(
                    tx, project_id=self.connection.project_id, id=self.connection.id
                )
                if row is None or row.status != "ACTIVE":
                    raise DirectoryDisabled
                yield tx, replace(self, connection=row)

    def require_not_suspended(self) -> None:
        """Raise OrganizationSuspended if the organization is suspended."""
        if self.is_suspended:
            raise OrganizationSuspended


async def authenticate(call: Call, request: RawRequest, conn_id: UUID) -> Directory:
    """The directory whose token a request has.

    Raises CredentialMissing, CredentialInvalid (also for the token of another connection), DirectoryDisabled and
    TooManyRequests.
    """
    token = read_bearer(request.headers)
    if token is None:
        raise CredentialMissing
    if not token.startswith(TOKEN_PREFIX) or not looks_like_key(token):
        raise CredentialInvalid
    token_hash = call.world.secrets.digest(TOKEN_PURPOSE, token)
    row = await store.connection_of_token(call.db, hash=token_hash, id=conn_id, now=call.now)
    if row is None:
        raise CredentialInvalid
    call.world.limiter.take(SCIM_RATE, str(conn_id))
    if row.status != "ACTIVE":
        raise DirectoryDisabled
    if row.token_used_at is None or call.now - row.token_used_at > NOTED_EVERY:
        await store.note_use(call.db, project_id=row.project_id, id=row.token_id, now=call.now)
    caller = Caller(
        kind="anonymous", actor_type="SCIM", actor_id=row.id, actor_label=row.name, project_id=row.project_id
    )
    directory_call = replace(call, caller=caller, project_id=row.project_id)
    return Directory(directory_call, row, base_url_of(call, conn_id), row.organization_status == "SUSPENDED")


def count_operations(directory: Directory, count: int) -> None:
    """Count the operations of a bulk request as requests; the first one is counted already. Raises TooManyRequests."""
    for _ in range(count - 1):
        directory.call.world.limiter.take(SCIM_RATE, str(directory.connection.id))


def base_url_of(call: Call, connection_id: UUID) -> str:
    """The base URL of a connection, to enter in the directory."""
    return f"{call.world.settings.public_url}{SCIM_PATH}/{connection_id}"
