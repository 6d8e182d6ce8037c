"""The priority of processes, which decides who waits when all processors are busy."""

import os
import threading
import time
from pathlib import Path
from typing import Final

_AUTOGROUP: Final = Path("/proc/self/autogroup")
"""The niceness of the group of processes to which this one belongs; see sched(7), "The autogroup feature"."""
_TRIES: Final = 50
_PAUSE_SECONDS: Final = 0.11
"""Without privileges, Linux changes the niceness of one group in a tenth of a second, of all processes together."""


def lower_priority(niceness: int) -> None:
    """Set the niceness of this process and its threads (0 to 19, see nice(2)), unless it already has a higher one.
    Call this before threads are started. Children inherit it.

    Linux may schedule the processes of each session as a group. Then niceness decides only between the processes of
    one session, so a process that has a session of its own sets that of its group, too, within some seconds. One that
    has inherited its niceness calls this with 0 to do so.
    """
    niceness = os.nice(max(0, niceness - os.nice(0)))
    if niceness > 0 and os.getsid(0) == os.getpid():
        threading.Thread(target=_lower_group, args=(niceness,), daemon=True).start()


def _lower_group(niceness: int) -> None:
    for _ in range(_TRIES):
        try:
            _AUTOGROUP.write_text(f"{niceness}\n")
        except BlockingIOError:
            time.sleep(_PAUSE_SECONDS)
        except OSError:  # There are no such groups, or a container forbids to write the file.
            return
        else:
            return
