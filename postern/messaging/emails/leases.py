"""What this process has in hand, and keeping it: leases are short, and renewed while an attempt is alive.

A peer may take ten minutes to answer the final dot (RFC 5321 §4.5.3.2.6); a process that died should not keep its
messages for so long. So a lease is a minute, and whoever is alive renews it.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING
from uuid import UUID

import structlog
from psycopg import OperationalError
from psycopg_pool import PoolTimeout

from postern.messaging.emails import store
from postern.messaging.emails.model import Send

if TYPE_CHECKING:
    from postern.world import World

log: structlog.stdlib.BoundLogger = structlog.get_logger(__name__)


class LeaseKeeper:
    """The attempts of one process that are not settled yet."""

    def __init__(self, world: "World") -> None:
        self._world = world
        self._sends: dict[tuple[UUID, int], Send] = {}
        self._keeper: asyncio.Task[None] | None = None

    def __len__(self) -> int:
        return len(self._sends)

    @contextmanager
    def keeping(self, *sends: Send) -> Iterator[None]:
        """Keep the leases of these attempts for as long as the block runs, or until each is let go."""
        for send in sends:
            self._sends[send.id, send.attempt] = send
        if self._keeper is None or self._keeper.done():
            self._keeper = asyncio.create_task(self._keep())
        try:
            yield
        finally:
            for send in sends:
                self.release(send)

    def release(self, send: Send) -> None:
        """An attempt is settled: when it is due next is not to be changed any more."""
        self._sends.pop((send.id, send.attempt), None)

    async def _keep(self) -> None:
        lease = self._world.settings.lease
        while True:
            await asyncio.sleep(lease.total_seconds() / 3)
            if not self._sends:
                return
            sends = list(self._sends.values())
            try:
                await store.renew_leases(
                    self._world.db,
                    project_id=[send.project_id for send in sends],
                    id=[send.id for send in sends],
                    attempt=[send.attempt for send in sends],
                    until=self._world.clock() + lease,
                )
            except (OperationalError, PoolTimeout) as error:
                log.warning("leases_not_renewed", sends=len(sends), error=str(error).strip())

    async def aclose(self) -> None:
        """Renew nothing more."""
        if self._keeper is not None:
            self._keeper.cancel()


def lease_keeper(world: "World") -> LeaseKeeper:
    """What this process has in hand."""
    found = world.resources.get(LeaseKeeper)
    if found is None:
        found = world.resources[LeaseKeeper] = LeaseKeeper(world)
    return found
