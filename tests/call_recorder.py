"""Records in which files of postern/ functions are called, in this process and in the processes that it starts.

In a process that is started, a copy of this file is the module `sitecustomize`, which Python imports at the start. It
has its own folder in common with the process that started it: not an environment variable, because a render process
gets only some of them.
"""

import os
import sys
import threading
from pathlib import Path
from types import FrameType
from typing import Any

SWITCH = "recording"
"""Calls are recorded while this file exists in the folder."""
CALLS = "calls"
"""The file in the folder to which the processes append the file of each recorded call."""
TIMERS = {"Sites._tick_while_used"}
"""Functions that run periodically while the process is used, independently of a request."""


def record_calls(folder: Path) -> None:
    """Record the calls of this thread and of all threads that it starts from now on."""
    root, switch, calls = f"{Path.cwd()}/postern/", folder / SWITCH, folder / CALLS

    def called(frame: FrameType, event: str, argument: Any) -> None:
        file = frame.f_code.co_filename
        if event == "call" and file.startswith(root) and switch.exists() and not _is_unrelated(frame, root):
            with calls.open("a") as output:
                output.write(f"{file.removeprefix(root)}\n")

    threading.setprofile(called)
    sys.setprofile(called)


def record_calls_of_children(folder: Path) -> None:
    """Make the Python processes that this process starts from now on record their calls too."""
    (folder / "sitecustomize.py").write_bytes(Path(__file__).read_bytes())
    os.environ["PYTHONPATH"] = str(folder)


def _is_unrelated(frame: FrameType, root: str) -> bool:
    """Whether a function is called while a module is imported, or by a timer."""
    caller, outermost = frame, ""
    while caller is not None:
        if caller.f_code.co_filename.startswith(root):
            outermost = caller.f_code.co_qualname
            if outermost == "<module>":
                return True
        caller = caller.f_back
    return outermost in TIMERS


if __name__ == "sitecustomize":
    record_calls(Path(__file__).parent)
