"""The world: everything a test may replace, in one place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random, SystemRandom

from postern.kernel.clock import Clock, system_clock
from postern.kernel.database import Database, open_database
from postern.kernel.due import Doorbell
from postern.kernel.limits import Limiter, Rate
from postern.kernel.secrets import Secrets, load_master_key
from postern.kernel.settings import Settings


@dataclass
class World:
    """What operations and work reach for: never the machine's clock, network or chance directly."""

    settings: Settings
    db: Database
    secrets: Secrets
    clock: Clock
    chance: Random
    limiter: Limiter
    bell: Doorbell

    @property
    def project_rate(self) -> Rate:
        return Rate("project", self.settings.project_rate, timedelta(seconds=1))


@asynccontextmanager
async def open_world(settings: Settings, url: str, *, clock: Clock = system_clock) -> AsyncIterator[World]:
    """The real world on the database at `url`, closed on leaving."""
    async with open_database(url, size=settings.database_pool) as db:
        world = World(
            settings=settings,
            db=db,
            secrets=Secrets(load_master_key(settings.secret, settings.data)),
            clock=clock,
            chance=SystemRandom(),
            limiter=Limiter(),
            bell=Doorbell(db),
        )
        try:
            yield world
        finally:
            await world.bell.aclose()
