"""A worker process for tests that kill it: `python -m tests.platform.webhooks.worker <data folder> <database url>`."""

import sys
from datetime import timedelta
from pathlib import Path

import uvloop

import postern.app
from postern.kernel.config import Settings
from postern.kernel.due import Worker
from postern.kernel.outbound.client import Outbound
from postern.kernel.outbound.ssrf import read_networks
from postern.world import open_world

REQUEST_TIMEOUT = timedelta(minutes=5)


async def work(folder: str, url: str, secret: str) -> None:
    allowed = tuple(read_networks("127.0.0.0/8"))
    settings = Settings(data=Path(folder), secret=secret, database_pool=6, outbound_allow=allowed)
    async with open_world(settings, url, postern.app.HOOKS) as world:
        # A long timeout, so that on a slow machine, too, only the requests of a killed worker are repeated.
        world.outbound = Outbound(
            world.resolver.addresses, allowed=allowed, total=REQUEST_TIMEOUT, connect=REQUEST_TIMEOUT
        )
        sys.stdout.write("working\n")
        sys.stdout.flush()
        await Worker(world, [work_item for work_item in postern.app.WORK if work_item.name.startswith("webhook")]).run()


if __name__ == "__main__":
    uvloop.run(work(*sys.argv[1:]))
