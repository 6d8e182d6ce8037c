"""The world: everything a test may replace, in one place."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from random import Random, SystemRandom

from postern.kernel.addresses import Remembered
from postern.kernel.clock import Clock, system_clock
from postern.kernel.database import Database, open_database
from postern.kernel.due import Doorbell
from postern.kernel.limits import Limiter, Rate
from postern.kernel.outbound import Outbound, open_outbound
from postern.kernel.secrets import Secrets, load_master_key
from postern.kernel.settings import Settings
from postern.mail.blocklists import ZONES, Blocklists, parse_zones
from postern.mail.resolver import Resolver, parse_nameservers


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
    resolver: Resolver
    outbound: Outbound
    blocklists: Blocklists

    @property
    def project_rate(self) -> Rate:
        return Rate("project", self.settings.project_rate, timedelta(seconds=1))


@asynccontextmanager
async def open_world(settings: Settings, url: str, *, clock: Clock = system_clock) -> AsyncIterator[World]:
    """The real world on the database at `url`, closed on leaving."""
    resolver = Resolver(parse_nameservers(" ".join(settings.dns)))
    async with (
        open_database(url, size=settings.database_pool) as db,
        open_outbound(Remembered(resolver.addresses), allowed=settings.outbound_allow) as outbound,
    ):
        world = World(
            settings=settings,
            db=db,
            secrets=Secrets(load_master_key(settings.secret, settings.data)),
            clock=clock,
            chance=SystemRandom(),
            limiter=Limiter(),
            bell=Doorbell(db),
            resolver=resolver,
            outbound=outbound,
            blocklists=Blocklists(resolver, parse_zones(settings.blocklists) if settings.blocklists else ZONES),
        )
        try:
            yield world
        finally:
            await world.bell.aclose()
