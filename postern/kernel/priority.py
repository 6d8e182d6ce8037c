"""The priority of processes, which decides who waits when all processors are busy."""

import os
from contextlib import suppress
from pathlib import Path
from typing import Final

_AUTOGROUP: Final = Path("/proc/self/autogroup")
"""The niceness of the group of processes to which this one belongs; see sched(7), "The autogroup feature"."""


def lower_priority(niceness: int) -> None:
    """Set the niceness of this process and its threads (0 to 19, see nice(2)), unless it already has a higher one.
    Call this before threads are started. Children inherit it.

    Linux may schedule the processes of each session as a group. Then niceness decides only between the processes of
    one session, so a process that has a session of its own sets that of its group, too. One that has inherited its
    niceness calls this with 0 to do so.
    """
    niceness = os.nice(max(0, niceness - os.nice(0)))
    if os.getsid(0) == os.getpid():
        # Without such groups there is no such file, and a container may forbid to write it.
        with suppress(OSError):
            _AUTOGROUP.write_text(f"{niceness}\n")
