"""A worker that does everything that is due at a moved clock, then ends; tests kill it on the way.

`python -m tests.automations.worker <data folder> <database url> <secret> <seconds ahead>`
"""

import sys
from datetime import timedelta
from pathlib import Path

import uvloop

import postern.app  # noqa: F401 - says who reacts to events
from postern.automations.work import WORK
from postern.kernel.addresses import read_networks
from postern.kernel.clock import FixedClock
from postern.kernel.due import drain
from postern.kernel.settings import Settings
from postern.world import open_world


async def work(folder: str, url: str, secret: str, ahead: str) -> None:
    allowed = tuple(read_networks("127.0.0.0/8"))
    settings = Settings(data=Path(folder), secret=secret, database_pool=4, outbound_allow=allowed)
    clock = FixedClock()
    clock.move(timedelta(seconds=float(ahead)))
    async with open_world(settings, url, clock=clock) as world:
        await drain(world, WORK)


if __name__ == "__main__":
    uvloop.run(work(*sys.argv[1:]))
