"""Turns of browsers and containers.

A container adds a network interface to this machine and removes it. When Chromium notices, it ends all requests with
`net::ERR_NETWORK_CHANGED`. So no container starts or stops in one process of a test run while a browser of another
process is open.

Who comes later waits behind who waits already: otherwise some browser would always be open, and containers would wait
until all tests with browsers have ended. A process that has a browser may open others at once.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path


@dataclass
class _Browsers:
    """The open browsers of this process, and their turn, which ends with the last one."""

    count: int = 0
    turn: ExitStack = field(default_factory=ExitStack)


_BROWSERS = _Browsers()


@contextmanager
def interfaces_stay() -> Iterator[None]:
    """Wait until the containers of this test run are gone; no others start during the block."""
    if not _BROWSERS.count:
        _BROWSERS.turn.enter_context(_turn(fcntl.LOCK_SH))
    _BROWSERS.count += 1
    try:
        yield
    finally:
        _BROWSERS.count -= 1
        if not _BROWSERS.count:
            _BROWSERS.turn.close()


@contextmanager
def interfaces_change() -> Iterator[None]:
    """Wait until all browsers of this test run are closed; no others open during the block."""
    with _turn(fcntl.LOCK_EX):
        yield


@contextmanager
def _turn(lock: int) -> Iterator[None]:
    folder = Path(os.environ["POSTERN_TEST_RUN"])
    with (folder / "interfaces.lock").open("w") as file:
        with (folder / "interfaces.queue").open("w") as queue:
            fcntl.flock(queue, fcntl.LOCK_EX)
            fcntl.flock(file, lock)
        yield
