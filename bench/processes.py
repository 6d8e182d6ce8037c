"""Processor time of processes, by the part of Postern that they are."""

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Final, NamedTuple

TICKS: Final = os.sysconf("SC_CLK_TCK")
Part = str
"""`compose`, `worker`, `api`, `PostgreSQL`, `sink` or `other`."""


class Process(NamedTuple):
    """A process: the id of its parent, its command line, and its processor time in seconds."""

    parent: int
    command: str
    seconds: float
    """Of the process and of its children that have ended."""


def processes() -> dict[int, Process]:
    """All processes of this machine, by id."""
    by_id: dict[int, Process] = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            command = (folder / "cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")
        except (OSError, IndexError):  # It has ended.
            continue
        # Counted from the field `state`: the parent, and utime, stime, cutime and cstime.
        by_id[int(folder.name)] = Process(int(fields[1]), command, sum(map(int, fields[11:15])) / TICKS)
    return by_id


def family(pid: int, by_id: dict[int, Process]) -> Iterator[int]:
    """A process and its descendants."""
    yield pid
    for child, process in by_id.items():
        if process.parent == pid:
            yield from family(child, by_id)


def part_of(command: str) -> Part:
    """The part that a process of Postern, its database or the sink is."""
    if "render_process" in command:
        return "compose"
    if "postgres" in command.split(" ", 1)[0]:
        return "PostgreSQL"
    if "smtp-sink" in command or "smtp_sink" in command:
        return "sink"
    command = command.replace(" -m postern.cli.child ", " /postern ", 1).replace(" -m postern ", " /postern ", 1)
    words = command.split()
    return words[2] if len(words) > 2 and words[1].endswith("/postern") else "other"


def seconds_by_part(by_id: dict[int, Process]) -> dict[Part, float]:
    """Processor time so far by part, of this process's descendants; that of this process itself is left out."""
    sums: dict[Part, float] = {}
    for pid in family(os.getpid(), by_id):
        if pid != os.getpid():
            part = part_of(by_id[pid].command)
            sums[part] = sums.get(part, 0.0) + by_id[pid].seconds
    return sums


def meter() -> Callable[[int], str]:
    """Start to measure; the returned function describes the microseconds for each of a number of messages."""
    before = seconds_by_part(processes())

    def describe(count: int) -> str:
        after = seconds_by_part(processes())
        used = {part: (after[part] - before.get(part, 0.0)) / count * 1_000_000 for part in after}
        shown = ", ".join(f"{part} {used[part]:,.0f}" for part in sorted(used) if used[part] >= 1)
        return f"{sum(used.values()):,.0f} µs of processor time each: {shown}"

    return describe
