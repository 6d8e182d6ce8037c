"""The response times of a quiet project, alone and while another project causes one storm after another.

Run: python -m bench.fairness [--seconds N] [--processes N] [--connections N] [--rows N] [--contacts N]
                              [--body MEGABYTES] [--only STORM,STORM]

Starts a whole server (`postern serve`) with two API processes and one worker. The quiet project sends mail, lists it,
checks access and signs customers in, at fixed rates (RATES). The time of a request counts from the moment at which it
was due, so that a request that waits for the one before it is not measured as fast.

The storms of the other project (STORMS) run one at a time: requests as fast as many connections allow, large bodies, an
import, a campaign. `overload`, at the end, has no quiet project: one project makes one to three times as many requests
a second as 256 connections are served. `processor` is none of Postern's: it is two processes that only compute, so it
shows what the operating system takes from the quiet project when both processors are busy. All clients share the
machine with the server and PostgreSQL. Those of the storms run with nice 10, because they would be on other machines.

The sizes are small by default. For those of the project's aim: --rows 1000000 --contacts 1000000 --seconds 120.
"""

import argparse
import asyncio
import base64
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
import uvloop

from bench.audiences import write_file
from bench.chaos_campaign import campaign_to
from bench.customers import get, import_customers, sign_in_request
from bench.emails import Server, percentile, post, quick_sink, relay_environment, verified_domain
from bench.load import generate_load
from bench.processes import meter
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate

RATES: Final[dict[str, float]] = {"send": 10, "list": 10, "check": 20, "sign-in": 2}
"""Requests of the quiet project per second, by kind."""
STORMS: Final = ("processor", "requests", "bodies", "import", "campaign", "overload")
MAX_RATIO: Final = 2.0
STORM_NICE: Final = 10
BODY_CONNECTIONS: Final = 8
OVERLOADS: Final = (1, 2, 3)
"""How many times as many requests as are served at most."""
OVERLOAD_CONNECTIONS: Final = 256
OVERLOAD_SECONDS: Final = 8.0
OPEN_CONNECTIONS: Final = 2_500
"""Connections that are opened before. A process accepts 2,000."""
WARM_UP_SECONDS: Final = 2.0
"""How long a storm runs before the quiet project is measured."""
PAUSE_SECONDS: Final = 3.0
MAIL: Final = {"to": ["ada@example.com"], "subject": "Code {{n}}", "text": "12", "variables": {}}


@dataclass
class Measured:
    """The responses to the quiet project."""

    seconds: dict[str, list[float]] = field(default_factory=lambda: {kind: [] for kind in RATES})
    """Response times, by kind."""
    statuses: Counter[int] = field(default_factory=Counter[int])
    served: list[float] = field(default_factory=list[float])
    """Response times of those that were not refused."""
    served_in_time: int = 0
    """Those of `served` that were complete before the last request was due."""
    without_retry_after: int = 0
    """Refused requests whose response has no `Retry-After`."""

    def p(self, kind: str, share: float) -> float:
        """A percentile of the response times of a kind, in milliseconds."""
        return percentile(self.seconds[kind], share)


class _OpenConnection(asyncio.Protocol):
    """A keep-alive connection for one request at a time, of which the response is a future."""

    has_retry_after = False
    """Whether the last response has `Retry-After`."""

    def connection_made(self, transport: Any) -> None:
        self.transport = transport
        self._received, self._response = b"", asyncio.get_running_loop().create_future()

    def send(self, request: bytes) -> "asyncio.Future[int]":
        """Send a request; the future is the status of its response."""
        self._received, self._response = b"", asyncio.get_running_loop().create_future()
        self.transport.write(request)
        return self._response

    def data_received(self, data: bytes) -> None:
        self._received += data
        head, separator, body = self._received.partition(b"\r\n\r\n")
        if separator:
            length = next(
                (int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")), 0
            )
            self.has_retry_after = b"\nretry-after:" in head.lower()
            if len(body) >= length and not self._response.done():
                self._response.set_result(int(head[9:12]))

    def connection_lost(self, exc: Exception | None) -> None:
        if not self._response.done():
            self._response.set_result(0)


async def measure_quiet(
    port: int,
    requests: dict[str, list[bytes]],
    seconds: float,
    rates: Mapping[str, float] = RATES,
    connections: int = 0,
) -> Measured:
    """Send the requests of each kind at its rate, for `seconds`. Each of them has a free connection; `connections` are
    opened before."""
    loop, measured = asyncio.get_running_loop(), Measured()
    free: list[_OpenConnection] = []

    async def send(kind: str, request: bytes, due: float) -> None:
        connection = None
        while free and (connection is None or connection.transport.is_closing()):
            connection = free.pop()
        if connection is None or connection.transport.is_closing():
            _, connection = await loop.create_connection(_OpenConnection, "127.0.0.1", port)
        status = await connection.send(request)
        measured.seconds[kind].append(loop.time() - due)
        measured.statuses[status] += 1
        if status in (200, 201):
            measured.served.append(loop.time() - due)
            measured.served_in_time += loop.time() < begins + seconds
        elif not connection.has_retry_after:
            measured.without_retry_after += 1
        if status and not connection.transport.is_closing():
            free.append(connection)

    async def repeat(kind: str, rate: float, shift: float) -> None:
        tasks: list[asyncio.Task[None]] = []
        for number in range(int(rate * seconds)):
            due = begins + shift + number / rate
            await asyncio.sleep(due - loop.time())
            tasks.append(asyncio.create_task(send(kind, requests[kind][number % len(requests[kind])], due)))
        await asyncio.gather(*tasks)

    for _ in range(connections):
        _, connection = await loop.create_connection(_OpenConnection, "127.0.0.1", port)
        free.append(connection)
    begins = loop.time() + 0.1
    # The kinds are not due at the same moments.
    await asyncio.gather(*(repeat(kind, rate, index * 0.0061) for index, (kind, rate) in enumerate(rates.items())))
    for connection in free:
        connection.transport.close()
    return measured


def quiet_requests(server: Server, url: str) -> dict[str, list[bytes]]:
    """Create the quiet project, with customers and some mail; returns its requests by kind."""
    project, key, addresses = import_customers(server, 200)
    verified_domain(url, server, project, key, "quiet.example")
    base = f"/projects/{project}"
    customers = server.call("GET", f"{base}/customers?limit=50", None, key)
    ids = [customer["id"] for customer in customers["data"]]
    mail = {**MAIL, "from": "a@quiet.example"}
    server.call("POST", f"{base}/emails/batch", {"emails": [mail] * 200}, key)
    check = [post(f"{base}/access/check", key, {"permission": "orders:read", "customerId": id_}) for id_ in ids]
    return {
        "send": [post(f"{base}/emails", key, mail, "Prefer: wait=0")],
        "list": [get(f"{base}/emails/logs?limit=20", key)],
        "check": check,
        "sign-in": [sign_in_request(project, address) for address in addresses],
    }


# The storms --------------------------------------------------------------------------------------------------


@contextmanager
def storm_process(kind: str, *arguments: object) -> Iterator[subprocess.Popen[str]]:
    """A process of this module that runs a storm until it is ended; it prints what it has counted."""
    command = [sys.executable, "-m", "bench.fairness", "--storm", kind, *map(str, arguments)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        try:
            yield process
        finally:
            assert process.stdin
            assert process.stdout
            process.stdin.close()
            for line in process.stdout:
                print(f"    {line.rstrip()}", flush=True)


@dataclass
class Stormy:
    """The other project."""

    server: Server
    url: str
    folder: Path
    project: str
    key: str
    options: argparse.Namespace

    @contextmanager
    def storm(self, kind: str) -> Iterator[None]:
        """Run a storm during the block."""
        base, port, seconds = f"/projects/{self.project}", self.server.port, 2 * self.options.seconds + 30
        with ExitStack() as stack:
            if kind == "processor":
                for _ in range(os.cpu_count() or 1):
                    stack.enter_context(storm_process(kind))
            elif kind == "requests":
                arguments = (port, base, self.key, self.options.connections, seconds)
                stack.enter_context(storm_process(kind, *arguments))
            elif kind == "bodies":
                arguments = (port, base, self.key, BODY_CONNECTIONS, seconds, self.options.body)
                stack.enter_context(storm_process(kind, *arguments))
            elif kind == "import":
                file = self.folder / "contacts.csv"
                write_file(file, self.options.rows)
                stack.enter_context(storm_process(kind, port, base, self.key, file))
            else:
                campaign = campaign_to(self.url, self.server, self.project, self.key, self.options.contacts)
                self.server.call("POST", f"{campaign}/send", None, self.key)
                stack.callback(lambda: print(f"    the campaign is {self._state_of(campaign)}", flush=True))
            yield

    def _state_of(self, campaign: str) -> str:
        state = self.server.call("GET", campaign, None, self.key)
        if state["status"] == "SENDING":
            self.server.call("POST", f"{campaign}/cancel", None, self.key)
        return state["status"]


def run_storm(kind: str, arguments: list[str]) -> None:
    """What a process of a storm does; see `storm_process`."""
    os.nice(STORM_NICE)
    if kind == "processor":
        os.set_blocking(sys.stdin.fileno(), False)
        while sys.stdin.buffer.read(1) is None:
            sum(range(100_000))
    elif kind == "import":
        uvloop.run(until_stdin_ends(import_again(*arguments)))
    else:
        uvloop.run(until_stdin_ends(send_again(kind, *arguments)))


async def until_stdin_ends(storm) -> None:
    """Run the storm until the parent closes the pipe."""
    loop, ended = asyncio.get_running_loop(), asyncio.Event()
    loop.add_reader(sys.stdin.fileno(), ended.set)
    task = asyncio.create_task(storm)
    await asyncio.wait([task, asyncio.create_task(ended.wait())], return_when=asyncio.FIRST_COMPLETED)
    if task.done():
        task.result()
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def send_again(
    kind: str, port: str, base: str, key: str, connections: str, seconds: str, megabytes: str = "0"
) -> None:
    """Send mail as fast as the connections allow."""
    mail: dict[str, Any] = {**MAIL, "from": "a@acme.example"}
    if kind == "bodies":
        content = base64.b64encode(os.urandom(int(float(megabytes) * 750_000))).decode()
        mail["attachments"] = [{"filename": "scan.pdf", "content": content, "contentType": "application/pdf"}]
    request = post(f"{base}/emails", key, mail, "Prefer: wait=0")
    statuses: Counter[int] = Counter()
    began = time.perf_counter()
    try:
        await generate_load(
            int(port), lambda _: request, connections=int(connections), seconds=float(seconds), statuses=statuses
        )
    finally:
        rate = sum(statuses.values()) / (time.perf_counter() - began)
        print(f"{rate:,.1f} responses/s by status {dict(statuses)}", flush=True)


async def import_again(port: str, base: str, key: str, file: str) -> None:
    """Import the file again and again."""
    rows, began = 0, time.perf_counter()
    headers = {"authorization": f"Bearer {key}", "content-type": "text/csv"}
    async with httpx.AsyncClient(base_url=f"http://127.0.0.1:{port}{base}/", headers=headers, timeout=600) as client:
        try:
            while True:
                content = Path(file).read_bytes()
                response = await client.post("contacts/import?mode=upsert", content=content)
                path = f"contacts/imports/{response.raise_for_status().json()['id']}"
                done = 0
                while True:
                    state = (await client.get(path)).json()
                    rows, done = rows + state["rows"] - done, state["rows"]
                    if state["status"] not in ("PENDING", "RUNNING"):
                        break
                    await asyncio.sleep(0.2)
        finally:
            print(f"{rows:,} rows imported in {time.perf_counter() - began:.0f} s", flush=True)


# The report ------------------------------------------------------------------------------------------------------


def show(name: str, measured: Measured, alone: Measured | None) -> None:
    """Print p50 and p99 of each kind, and the ratio to those of the project alone."""
    parts: list[str] = []
    for kind in RATES:
        p50, p99 = measured.p(kind, 0.5), measured.p(kind, 0.99)
        ratio = "" if alone is None else f" ({p99 / alone.p(kind, 0.99):4.1f} x)"
        parts.append(f"{kind} {p50:5.1f} {p99:6.1f}{ratio}")
    failed = {status: count for status, count in measured.statuses.items() if status not in (200, 201)}
    print(f"{name:<10} {' | '.join(parts)}{f'  failed: {failed}' if failed else ''}", flush=True)


def show_overload(server: Server, project: str, key: str) -> None:
    """Print how many requests of one project are served of more and more that are made a second, and how fast."""
    request = post(f"/projects/{project}/emails", key, {**MAIL, "from": "a@acme.example"}, "Prefer: wait=0")
    load = generate_load(server.port, lambda _: request, connections=OVERLOAD_CONNECTIONS, seconds=OVERLOAD_SECONDS)
    most, _, _ = uvloop.run(load)
    print(f"overload   {OVERLOAD_CONNECTIONS} connections: {most:,.0f} served/s")
    for factor in OVERLOADS:
        rates = {"send": factor * most}
        measured = uvloop.run(
            measure_quiet(server.port, {"send": [request]}, OVERLOAD_SECONDS, rates, OPEN_CONNECTIONS)
        )
        served = measured.served_in_time / OVERLOAD_SECONDS
        refused = {status: count for status, count in measured.statuses.items() if status != 201}
        p50, p99 = percentile(measured.served, 0.5), percentile(measured.served, 0.99)
        print(
            f"overload   {factor} x: {served:,.0f} served/s, {served / most:.2f} of the most, "
            f"in {p50:,.0f}, {p99:,.0f} ms; refused: {refused}, {measured.without_retry_after} without Retry-After",
            flush=True,
        )


def run(options: argparse.Namespace, measured_kinds: Callable[[str], bool]) -> bool:
    """Run the measurement; returns whether no storm moved a p99 by more than MAX_RATIO."""
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)
        url = stack.enter_context(run_embedded(folder / "data")).url()
        migrate(url)
        port, _ = stack.enter_context(quick_sink())
        environment = relay_environment(port) | {"POSTERN_PROJECT_RATE": str(options.rate)}
        server = Server(folder, url, **environment)
        stack.callback(server.stop)
        server.start("serve", "--api-processes", str(options.processes), "--workers", "1")
        requests = quiet_requests(server, url)
        project, key, token = server.project()
        verified_domain(url, server, project, token)
        stormy = Stormy(server, url, folder, project, key, options)
        print("milliseconds: p50, p99 (p99 in relation to the project alone)")
        uvloop.run(measure_quiet(server.port, requests, WARM_UP_SECONDS * 2))
        alone = uvloop.run(measure_quiet(server.port, requests, options.seconds))
        show("alone", alone, None)
        is_met = True
        for kind in STORMS:
            if not measured_kinds(kind):
                continue
            if kind == "overload":
                show_overload(server, project, key)
                continue
            with stormy.storm(kind):
                time.sleep(WARM_UP_SECONDS)
                describe = meter()
                measured = uvloop.run(measure_quiet(server.port, requests, options.seconds))
                used = describe(max(1, sum(measured.statuses.values())))
            show(kind, measured, alone)
            if options.processor_time:
                print(f"    for each request of the quiet project: {used}")
            ratios = [measured.p(name, 0.99) / alone.p(name, 0.99) for name in RATES]
            is_met = is_met and (kind == "processor" or max(ratios) <= MAX_RATIO)
            time.sleep(PAUSE_SECONDS)
        return is_met


def main() -> None:
    if sys.argv[1:2] == ["--storm"]:
        run_storm(sys.argv[2], sys.argv[3:])
        return
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--connections", type=int, default=128)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--contacts", type=int, default=30_000)
    parser.add_argument("--body", type=float, default=10)
    parser.add_argument("--rate", type=int, default=5_000, help="POSTERN_PROJECT_RATE")
    parser.add_argument("--only", default=",".join(STORMS))
    parser.add_argument("--processor-time", action="store_true")
    options = parser.parse_args()
    only = set(options.only.split(","))
    print(json.dumps(vars(options)))
    print(f"aim, at most {MAX_RATIO} x: {'met' if run(options, lambda kind: kind in only) else 'MISSED'}")


if __name__ == "__main__":
    main()
