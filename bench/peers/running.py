"""Programs of other projects as child processes, an SMTP sink that counts, and the processor time of both."""

import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final, NamedTuple

from bench.emails import free_port
from bench.processes import family, processes
from postern.kernel.database.embedded import account_for

START_SECONDS: Final = 240
STALL_SECONDS: Final = 60
"""Without another message for so long, a measurement is given up."""
SBIN: Final = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"


class PeerMissing(Exception):
    """A program that is not on this machine. The message says what to install."""


class Failed(Exception):
    """Why a program could not be measured."""


class Measurement(NamedTuple):
    """What one run of one side gave."""

    rate: float
    """Messages, requests or deliveries per second."""
    microseconds: Mapping[str, float]
    """Processor time of each message, request or delivery, by part. `sink` is not counted in totals."""
    remark: str = ""

    @property
    def total(self) -> float:
        """The processor time of all parts but the sink."""
        return sum(used for part, used in self.microseconds.items() if part != "sink")


Seconds = Callable[[], Mapping[str, float]]
"""The processor time so far, by part."""


def seconds_of(**roots: int) -> Seconds:
    """The processor time of processes with their descendants, given as the part and the process id of each."""

    def read() -> Mapping[str, float]:
        running = processes()
        return {
            part: sum(running[member].seconds for member in family(pid, running) if member in running)
            for part, pid in roots.items()
        }

    return read


def since(before: Mapping[str, float], after: Mapping[str, float], count: int) -> dict[str, float]:
    """Microseconds of processor time for each of `count`, by part."""
    used = {part: (seconds - before.get(part, 0.0)) / count * 1_000_000 for part, seconds in after.items()}
    return {part: microseconds for part, microseconds in used.items() if microseconds >= 0.5}


def find_program(variable: str, name: str, install: str) -> Path:
    """The program that an environment variable names, or that is on the PATH. Raises PeerMissing."""
    path = os.environ.get(variable) or shutil.which(name, path=f"{os.environ.get('PATH', '')}:{SBIN}")
    if not path or not Path(path).is_file():
        raise PeerMissing(f"there is no {name} ({f'{variable} is {path}' if path else 'not on the PATH'}): {install}")
    return Path(path).resolve()


@contextmanager
def scratch() -> Iterator[Path]:
    """A temporary folder of the account under which peers run (see `started`)."""
    folder = Path(tempfile.mkdtemp(prefix="postern-peers-", dir="/tmp"))
    try:
        folder.chmod(0o755)
        if account := account_for(folder / "none"):
            os.chown(folder, account.user, account.group)
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def started(
    command: Sequence[object],
    folder: Path,
    *,
    ready: Callable[[], bool],
    environment: Mapping[str, str] | None = None,
    stop: signal.Signals = signal.SIGTERM,
) -> Iterator[subprocess.Popen[bytes]]:
    """A program that runs during the block, with its output in `folder/NAME.log`. Raises Failed if it does not start.

    If this is root, it runs under an account without privileges. At the end its process group gets the signal `stop`,
    and SIGKILL if it does not end within 20 seconds.
    """
    name = Path(str(command[0])).name
    log = folder / f"{name}.log"
    account = account_for(folder / "none")
    with log.open("wb") as output:
        process = subprocess.Popen(
            [str(word) for word in command],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            cwd=folder,
            env={"PATH": os.environ.get("PATH", SBIN), "HOME": str(folder), "LC_ALL": "C.UTF-8", **(environment or {})},
            start_new_session=True,
            user=account.user if account else None,
            group=account.group if account else None,
            extra_groups=[] if account else None,
        )
    try:
        ends = time.monotonic() + START_SECONDS
        while not ready():
            if process.poll() is not None or time.monotonic() > ends:
                raise Failed(f"{name} did not start: {last_lines(log)}")
            time.sleep(0.05)
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, stop)
        with suppress(subprocess.TimeoutExpired):
            process.wait(20)
        # A program may have left children behind.
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def run_as_peer(command: Sequence[object], folder: Path, **environment: str) -> str:
    """Run a program to its end like `started`; returns its output. Raises Failed if its exit status is not 0."""
    account = account_for(folder / "none")
    done = subprocess.run(
        [str(word) for word in command],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        cwd=folder,
        env={"PATH": os.environ.get("PATH", SBIN), "HOME": str(folder), "LC_ALL": "C.UTF-8", **environment},
        user=account.user if account else None,
        group=account.group if account else None,
        extra_groups=[] if account else None,
    )
    if done.returncode:
        raise Failed(f"{command[0]} ended with {done.returncode}: {done.stdout[-400:]}")
    return done.stdout


def own(path: Path, folder: Path) -> None:
    """Give a file in a folder of `scratch` to the account under which peers run."""
    if account := account_for(folder / "none"):
        os.chown(path, account.user, account.group)


def last_lines(log: Path) -> str:
    """The end of a log, on one line."""
    return " | ".join(log.read_text(errors="replace").strip().splitlines()[-3:])


def listens(port: int, host: str = "127.0.0.1") -> bool:
    """Whether a server accepts connections there."""
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex((host, port)) == 0


class Sink:
    """Postfix's smtp-sink, which counts what it receives."""

    def __init__(self, port: int, process: subprocess.Popen[bytes], log: Path) -> None:
        self.port, self.process, self._log = port, process, log

    def messages(self) -> int:
        """How many messages it has received since it started."""
        with self._log.open("rb") as counters:
            counters.seek(max(0, counters.seek(0, os.SEEK_END) - 300))
            counts = re.findall(rb"mesg=(\d+)\r", counters.read())
        return int(counts[-1]) if counts else 0

    def octets(self) -> int:
        """How many octets it has read: messages and SMTP commands."""
        return int(Path(f"/proc/{self.process.pid}/io").read_text().split()[1])

    def seconds(self) -> float:
        """Its processor time so far."""
        return processes()[self.process.pid].seconds


@contextmanager
def counting_sink() -> Iterator[Sink]:
    """A sink on loopback. Raises PeerMissing."""
    program = shutil.which("smtp-sink", path=SBIN)
    if program is None:
        raise PeerMissing("there is no smtp-sink: install the package postfix, which need not run")
    port = free_port()
    with scratch() as folder:
        command = [program, "-c", f"127.0.0.1:{port}", 1000]
        with started(command, folder, ready=lambda: listens(port)) as process:
            yield Sink(port, process, folder / "smtp-sink.log")


def measure_at(
    sink: Sink,
    count: int,
    seconds: Seconds,
    begin: Callable[[], object],
    finish: Callable[[], object],
    failed: Callable[[], object] = lambda: None,
) -> Measurement:
    """Begin to send `count` messages and measure them at the sink, from the first that it has received to the last.

    The processor time is that from `begin` until `finish` has returned. Raises Failed if no message has come for
    STALL_SECONDS, or if `failed` returns a reason.
    """
    before, already, octets = {**seconds(), "sink": sink.seconds()}, sink.messages(), sink.octets()
    begin()
    first, began, last, moved = 0, 0.0, 0, time.monotonic()
    while True:
        now, seen = time.perf_counter(), sink.messages() - already
        if seen and not first:
            first, began = seen, now
        if seen >= count:
            break
        if seen > last:
            last, moved = seen, time.monotonic()
        if reason := failed():
            raise Failed(f"the load ended: {reason!r}")
        if time.monotonic() - moved > STALL_SECONDS:
            raise Failed(f"only {last:,} of {count:,} messages arrived")
        time.sleep(0.01)
    finish()
    used = since(before, {**seconds(), "sink": sink.seconds()}, count)
    size = (sink.octets() - octets) / count / 1000
    return Measurement((count - first) / (now - began), used, f"{size:.1f} kB")


def stop_on_sigterm() -> None:
    """Let SIGTERM end this program like an exception, so that everything that it started is ended."""

    def leave(*_: object) -> None:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        sys.exit(143)

    signal.signal(signal.SIGTERM, leave)
