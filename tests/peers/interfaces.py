"""Turns of browsers and containers.

A container adds a network interface to this machine and removes it. When Chromium notices, it ends all requests with
`net::ERR_NETWORK_CHANGED`. So no container starts or stops in one process of a test run while a browser of another
process is open.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def interfaces_stay() -> Iterator[None]:
    """Wait until the containers of this test run are gone; no others start during the block."""
    with _turn(fcntl.LOCK_SH):
        yield


@contextmanager
def interfaces_change() -> Iterator[None]:
    """Wait until all browsers of this test run are closed; no others open during the block."""
    with _turn(fcntl.LOCK_EX):
        yield


@contextmanager
def _turn(lock: int) -> Iterator[None]:
    with (Path(os.environ["POSTERN_TEST_RUN"]) / "interfaces.lock").open("w") as file:
        fcntl.flock(file, lock)
        yield
