"""Time from `script/server` until the server is ready, on a data folder that was used before, and the time of commands.

Run: python -m bench.start [rounds]

Compared with what the machine needs for the same: `pg_ctl start` of the same cluster, `python -c pass` and
`python -c "import httpx"`. A round starts the server, and measures when the port is open, when `/healthz` and when
`/readyz` first returns 200, the processor time of all processes until then (the database's excluded), and the time to
stop. The parts are measured alone, as are the commands, which use the running server. All figures are medians.
"""

import json
import os
import resource
import shlex
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from bench.emails import free_port
from postern.kernel.database.embedded import EmbeddedPostgres, account_for, as_account, reachable_programs
from postern.kernel.database.migrations import migrate

ROOT = Path(__file__).parent.parent
ROUNDS = 7
POLL_SECONDS = 0.002
LONGEST_SECONDS = 120.0
TARGET_MS, COMMAND_TARGET_MS = 1_000, 300
MARKS = ("port open", "/healthz 200", "/readyz 200")
LOADED = (
    "import gc, sys; gc.disable(); from postern.cli.child import UNUSED_LIBRARIES; "
    "sys.modules.update(dict.fromkeys(UNUSED_LIBRARIES)); import postern.cli.processes; "
)
PARTS = {
    "imports of one process": LOADED,
    "imports and the application with its routes": LOADED
    + (
        "from types import SimpleNamespace as S; "
        "from postern.app import make_app; from postern.kernel.config import Settings; "
        "make_app(S(settings=Settings(), db=None))"
    ),
}
LIMITS = {"python -c pass": "pass", 'python -c "import httpx"': "import httpx"}


def main() -> None:
    """Measure and print the start, its parts, and the commands."""
    rounds = int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS
    with tempfile.TemporaryDirectory(prefix="bench-start-", dir="/tmp" if os.getuid() == 0 else None) as name:
        folder = Path(name, "data")
        Path(name).chmod(0o755)
        environment = server_environment(folder)
        with running_server(environment) as (_, printed):
            credentials = dict(
                line.strip().removeprefix("export ").split("=", 1)
                for line in printed().splitlines()
                if line.strip().startswith("export POSTERN_")
            )
        show_starts(environment, rounds)
        show_parts(folder, environment, rounds)
        with running_server(environment):
            show_commands({**environment, **credentials}, rounds)


def server_environment(folder: Path) -> dict[str, str]:
    """The environment of this process for a server on `folder` and a free port, with the bytecode cache of Python."""
    removed = ("POSTERN_", "DATABASE_URL", "PYTHONDONTWRITEBYTECODE")
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(removed)}
    return {**inherited, "POSTERN_DATA": str(folder), "POSTERN_PORT": str(free_port())}


@contextmanager
def running_server(environment: dict[str, str]) -> Iterator[tuple[dict[str, float], Callable[[], str]]]:
    """Run `script/server` until it is ready. Yields when each of MARKS was reached, in seconds, with the processor time
    of its processes in `cpu`, and a function that returns its output. Sets `stopped` to the seconds that it needed to
    stop."""
    marks: dict[str, float] = {}
    with tempfile.TemporaryFile("w+") as output:

        def printed() -> str:
            output.seek(0)
            return output.read()

        began = time.perf_counter()
        server = subprocess.Popen([ROOT / "script/server"], env=environment, stdout=output, stderr=output)
        try:
            for mark, path in zip(MARKS, (None, "/healthz", "/readyz"), strict=True):
                while not answers(int(environment["POSTERN_PORT"]), path):
                    if server.poll() is not None or time.perf_counter() - began > LONGEST_SECONDS:
                        sys.exit(f"The server does not start:\n{printed()}")
                    time.sleep(POLL_SECONDS)
                marks[mark] = time.perf_counter() - began
            marks["cpu"] = processor_seconds(server.pid)
            while "Postern is ready" not in printed():
                time.sleep(POLL_SECONDS)
            yield marks, printed
        finally:
            began = time.perf_counter()
            server.send_signal(signal.SIGTERM)
            if server.wait(LONGEST_SECONDS):
                sys.exit(f"The server did not stop normally:\n{printed()}")
            marks["stopped"] = time.perf_counter() - began


def answers(port: int, path: str | None) -> bool:
    """Whether a GET of `path` returns 200; without a path, whether the port is open."""
    with suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=LONGEST_SECONDS) as connection:
        if path is None:
            return True
        connection.sendall(f"GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n".encode())
        return b" 200 " in connection.recv(100)
    return False


def processor_seconds(pid: int) -> float:
    """Processor time of a process and its descendants, also of those that have ended, without PostgreSQL."""
    process = Path("/proc", str(pid))
    with suppress(OSError):
        fields = (process / "stat").read_text().rpartition(")")[2].split()
        if (process / "comm").read_text().strip() == "postgres":
            return 0
        children = [int(child) for task in process.glob("task/*/children") for child in task.read_text().split()]
        own = sum(map(int, fields[11:15])) / os.sysconf("SC_CLK_TCK")
        return own + sum(map(processor_seconds, children))
    return 0


def show_starts(environment: dict[str, str], rounds: int) -> None:
    """Start and stop the server several times."""
    all_marks: list[dict[str, float]] = []
    for _ in range(rounds):
        with running_server(environment) as (marks, _):
            pass
        all_marks.append(marks)
    for mark in MARKS:
        cpu = [marks["cpu"] for marks in all_marks] if mark == MARKS[-1] else ()
        show(f"script/server, until {mark}", [marks[mark] for marks in all_marks], cpu=cpu, target=TARGET_MS)
    show("script/server, SIGTERM until its end", [marks["stopped"] for marks in all_marks])


def show_parts(folder: Path, environment: dict[str, str], rounds: int) -> None:
    """Measure the parts of the start alone, and `pg_ctl start` of the same cluster."""
    run("part: script/setup run", rounds, ROOT / "script/setup", "run", env=environment)
    for label, code in PARTS.items():
        run(f"part: {label}", rounds, sys.executable, "-c", code, env=environment)
    embedded, started, migrated = EmbeddedPostgres(folder), list[float](), list[float]()
    for _ in range(rounds):
        began = time.perf_counter()
        url = embedded.start()
        started.append(time.perf_counter() - began)
        began = time.perf_counter()
        assert not migrate(url)
        migrated.append(time.perf_counter() - began)
        embedded.stop()
    show("part: start of the database", started)
    show("part: check of the migrations", migrated)
    cluster = embedded.cluster
    account = account_for(cluster)
    control = [reachable_programs(account) / "pg_ctl", "-D", cluster, "-s", "-w", "-l", "/dev/null"]
    options = ["-o", f"-c listen_addresses= -c unix_socket_directories={shlex.quote(str(cluster))}"]
    with_pg_ctl: list[float] = []
    for _ in range(rounds):
        began = time.perf_counter()
        subprocess.run([*control, *options, "start"], check=True, cwd=cluster, **as_account(account))
        with_pg_ctl.append(time.perf_counter() - began)
        subprocess.run([*control, "stop"], check=True, cwd=cluster, **as_account(account))
    show("limit: pg_ctl start", with_pg_ctl)


def show_commands(environment: dict[str, str], rounds: int) -> None:
    """Measure commands, which use the running server."""
    for label, code in LIMITS.items():
        run(f"limit: {label}", rounds, sys.executable, "-c", code, env=environment)
    postern = Path(sys.executable).with_name("postern")
    url = json.loads(Path(environment["POSTERN_DATA"], "running.json").read_text())["base_url"]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as text:
        text.write("Hello.\n")
        text.flush()
        message = ("send", "--url", url, "--to", "ada@example.com", "--subject", "Hello", "--text", text.name)
        for words in (
            ("--version",),
            ("--help",),
            ("send", "--help"),
            ("health", "--ready"),
            message,
            ("sites",),
            ("sources",),
            ("reports",),
            ("certificates", "list"),
            ("sign-in-link",),
            ("access",),
            ("developers", "reset-password"),
            ("keys", "create"),
            ("bootstrap", "--json"),
            ("contract", "/campaigns"),
            ("migrate",),
            ("import", "--help"),
            ("doctor", "--help"),
        ):
            shown = "send" if words is message else " ".join(words)
            run(f"postern {shown}", rounds, postern, *words, env=environment, target=COMMAND_TARGET_MS)


def run(label: str, rounds: int, *words: str | Path, env: dict[str, str], target: int | None = None) -> None:
    """Run a program several times, and print its time. Exits if the program fails."""
    seconds, cpu = list[float](), list[float]()
    for _ in range(rounds + 1):
        began, cpu_began = time.perf_counter(), children_cpu()
        ended = subprocess.run(words, env=env, cwd=ROOT, capture_output=True, text=True, check=False)
        seconds.append(time.perf_counter() - began)
        cpu.append(children_cpu() - cpu_began)
        if ended.returncode:
            sys.exit(f"{shlex.join(map(str, words))} failed:\n{ended.stdout}{ended.stderr}")
    show(label, seconds[1:], cpu=cpu[1:], target=target)  # The first run may write bytecode.


def children_cpu() -> float:
    """The processor time of all programs that this process has run."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def show(label: str, seconds: Sequence[float], *, cpu: Sequence[float] = (), target: int | None = None) -> None:
    """Print a median in milliseconds, the fastest and slowest round, and the median of the processor time."""
    median, fastest, slowest = (1000 * part(seconds) for part in (statistics.median, min, max))
    used = f", processor time {1000 * statistics.median(cpu):,.0f} ms" if cpu else ""
    goal = "" if target is None else f", target {target:,} ms" + ("" if median < target else ": not met")
    print(f"{label:48} {median:7,.0f} ms ({fastest:,.0f} to {slowest:,.0f}){used}{goal}", flush=True)


if __name__ == "__main__":
    main()
