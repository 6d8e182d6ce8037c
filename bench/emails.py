"""Measurements of sending e-mail: acceptance, delivery, SMTP rate, tracking; each compared with a limit.

Run: python -m bench.emails [accept] [batch] [latency] [wire] [tracking] [pooler]

`pooler`, which runs only when it is named, is `accept` through PgBouncer in transaction mode.

PostgreSQL (durable), the API, the worker, the sink and the load share the machine, so only
the ratios are meaningful.
"""

import asyncio
import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
import weakref
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import psycopg
import uvloop
from cryptography.hazmat.primitives.asymmetric import padding, rsa
from cryptography.hazmat.primitives.hashes import SHA256

from bench import smtp
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from postern.protocols.mail.address import parse_address
from postern.protocols.mail.mime import Message, compose
from postern.protocols.mail.templates.content import TrackingOptions, compile_content
from tests.peers.pgbouncer import pgbouncer
from tests.peers.ports import reserved_port

SECONDS = 8.0
CONNECTIONS = 32
BATCH = 500
WIRE = 20_000
START_SECONDS = 120
"""How long a process may take to start; long, because the machine may be slow."""
WORDS = "Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor incididunt ut labore. "
HTML = (
    "<html><body><h1>Hello {{name}}</h1>"
    + "".join(f'<p>{WORDS * 3}<a href="https://acme.example/page/{n}">Read on</a></p>' for n in range(10))
    + "</body></html>"
)


def free_port() -> int:
    with socket.socket() as free_socket:
        free_socket.bind(("127.0.0.1", 0))
        return free_socket.getsockname()[1]


class Server:
    """Postern's processes (`api`, `worker`) with a port on loopback and the database `url`."""

    def __init__(self, folder: Path, url: str, **environment: str) -> None:
        # The port stays reserved, because a client connection could take it between two starts of the API.
        reservation = ExitStack()
        self.port = reservation.enter_context(reserved_port()).getsockname()[1]
        weakref.finalize(self, reservation.close)
        self.base = f"http://127.0.0.1:{self.port}"
        self.environment = {
            **os.environ,
            "DATABASE_URL": url,
            "POSTERN_DATA": str(folder),
            "POSTERN_PORT": str(self.port),
            "POSTERN_BASE_URL": self.base,
            "POSTERN_SECRET": "a secret for the length of one benchmark",
            "POSTERN_PROJECT_RATE": "1000000",
            "POSTERN_LOG_LEVEL": "warning",
            **environment,
        }
        self.running: list[subprocess.Popen[bytes]] = []

    def start(self, part: str, *options: str) -> subprocess.Popen[bytes]:
        """Start `postern PART`. Waits until an API responds. What `postern serve` prints at its start is left out."""
        command = [str(Path(sys.executable).with_name("postern")), part, *options]
        process = subprocess.Popen(
            command, env=self.environment, stdout=subprocess.DEVNULL if part == "serve" else None
        )
        self.running.append(process)
        if part in ("api", "serve"):
            self._wait_until_healthy(process)
        return process

    def _wait_until_healthy(self, process: subprocess.Popen[bytes]) -> None:
        ends = time.monotonic() + START_SECONDS
        while time.monotonic() < ends:
            if process.poll() is not None:
                raise AssertionError(f"The API ended with {process.returncode} instead of starting.")
            try:
                urllib.request.urlopen(self.base + "/healthz", timeout=5).read()
            except OSError:
                time.sleep(0.05)
            else:
                return
        raise AssertionError(f"The API did not start within {START_SECONDS} seconds.")

    def stop(self) -> None:
        """End all processes."""
        for process in self.running:
            process.send_signal(signal.SIGTERM)
        for process in self.running:
            try:
                process.wait(30)
            except subprocess.TimeoutExpired:
                process.kill()
        self.running.clear()

    def call(self, method: str, path: str, body=None, token: str | None = None, **headers: str):
        """Send a request and return the JSON response. Raises HTTPError."""
        request = urllib.request.Request(
            self.base + path, json.dumps(body).encode() if body is not None else None, method=method
        )
        request.add_header("content-type", "application/json")
        if token:
            request.add_header("authorization", f"Bearer {token}")
        for name, value in headers.items():
            request.add_header(name, value)
        return json.loads(urllib.request.urlopen(request, timeout=60).read() or b"null")

    def project(self) -> tuple[str, str, str]:
        """Create a project; returns its id, a live secret key and the developer's token."""
        created = self.account()
        return created["projectId"], created["secretKey"], created["developerToken"]

    def account(self) -> dict[str, str]:
        """Create an account with a project; returns what `postern bootstrap --json` prints."""
        command = [str(Path(sys.executable).with_name("postern")), "bootstrap", "--json"]
        return json.loads(subprocess.run(command, env=self.environment, capture_output=True, check=True).stdout)


@contextmanager
def sink(ledger: Path | None = None, reply_delay: float = 0.0):
    """Start an SMTP sink as a process; yields its port. `reply_delay`: seconds before the reply to the final dot."""
    command = [sys.executable, "-m", "tests.peers.smtp_sink", *(["--ledger", str(ledger)] if ledger else [])]
    command += ["--slow", str(reply_delay)] if reply_delay else []
    with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
        try:
            assert process.stdout
            yield int(process.stdout.readline())
        finally:
            process.terminate()


@contextmanager
def quick_sink():
    """Start Postfix's smtp-sink if it is installed, otherwise our sink without a ledger; yields port and name."""
    program = shutil.which("smtp-sink", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    if program is None:
        with sink() as port:
            yield port, "our sink"
        return
    port = free_port()
    account = ["-u", "nobody"] if os.geteuid() == 0 else []
    process = subprocess.Popen([program, *account, f"127.0.0.1:{port}", "512"])
    try:
        time.sleep(0.5)
        yield port, "smtp-sink"
    finally:
        process.terminate()
        process.wait()


async def load(port: int, request: bytes, *, connections: int, seconds: float) -> tuple[float, list[float], dict]:
    """Repeat `request` on keep-alive connections; returns responses per second, durations, and counts by status."""
    times: list[float] = []
    statuses: dict[bytes, int] = {}
    ends = time.perf_counter() + seconds

    async def repeat() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        while time.perf_counter() < ends:
            began = time.perf_counter()
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            lowered = head.lower()
            start = lowered.index(b"content-length:") + 15
            await reader.readexactly(int(lowered[start : lowered.index(b"\r", start)]))
            times.append(time.perf_counter() - began)
            status = head[9:12]
            statuses[status] = statuses.get(status, 0) + 1
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(repeat() for _ in range(connections)))
    return len(times) / (time.perf_counter() - began), times, statuses


def post(path: str, key: str, body: object, *headers: str) -> bytes:
    """The octets of a POST request."""
    content = json.dumps(body).encode()
    lines = [f"POST {path} HTTP/1.1", "Host: bench", f"Authorization: Bearer {key}", "Content-Type: application/json"]
    lines += [f"Content-Length: {len(content)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + content


def percentile(times: list[float], share: float) -> float:
    """A percentile of durations in seconds, in milliseconds. `share` is 0.95 for the 95th."""
    return sorted(times)[int(len(times) * share)] * 1_000


# The limits ------------------------------------------------------------------------------------------------


def bare_inserts(url: str, connections: int, seconds: float = 3.0) -> float:
    """Durable single-row INSERTs per second over this number of connections."""
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("create table if not exists bare (id bigserial primary key, body text)")

    async def run() -> float:
        count, ends = 0, time.perf_counter() + seconds

        async def insert() -> None:
            nonlocal count
            async with await psycopg.AsyncConnection.connect(url, autocommit=True) as connection:
                while time.perf_counter() < ends:
                    await connection.execute("insert into bare (body) values (%s)", ("x" * 300,))
                    count += 1

        await asyncio.gather(*(insert() for _ in range(connections)))
        return count / seconds

    return uvloop.run(run())


def rsa_signs(seconds: float = 2.0) -> float:
    """RSA-2048 signatures per second on one core."""
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    count, ends = 0, time.process_time() + seconds
    while time.process_time() < ends:
        key.sign(b"x" * 200, padding.PKCS1v15(), SHA256())
        count += 1
    return count / seconds


def composes(seconds: float = 2.0) -> float:
    """Messages like those of `wire` that one core renders (with ten signed links) and composes per second."""
    content = compile_content(subject="Hello {{name}}", html=HTML)
    tracking = TrackingOptions(base="http://127.0.0.1:8025", key=b"k" * 32)
    count, ends = 0, time.process_time() + seconds
    while time.process_time() < ends:
        rendered = content.render({"name": "Ada"}, send_id="01", tracking=tracking)
        message = Message(
            from_=parse_address("Acme <a@acme.example>"),
            to=[parse_address("ada@example.com")],
            subject=rendered.subject,
            date=datetime.now(UTC),
            message_id="<01@acme.example>",
            html=rendered.html,
        )
        compose(message)
        count += 1
    return count / seconds


# The measurements ------------------------------------------------------------------------------------------


def accept(server: Server, url: str) -> list[tuple[str, str]]:
    project, key, _ = server.project()
    body = {"to": ["ada@example.com"], "from": "a@acme.example", "subject": "Code {{n}}", "text": "12", "variables": {}}
    rows = []
    limit = bare_inserts(url, CONNECTIONS)
    rows.append((f"plain durable INSERT, {CONNECTIONS} connections", f"{limit:,.0f}/s"))
    for name, header in (
        ("delivered by workers (Prefer: wait=0)", "Prefer: wait=0"),
        ("response after delivery", "X: y"),
    ):
        request = post(f"/projects/{project}/emails", key, body, header)
        uvloop.run(load(server.port, request, connections=CONNECTIONS, seconds=1))
        rate, times, statuses = uvloop.run(load(server.port, request, connections=CONNECTIONS, seconds=SECONDS))
        assert set(statuses) == {b"201"}, statuses
        p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
        rows.append(
            (f"accept, {name}", f"{rate:,.0f}/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms, {rate / limit:.2f} of the limit")
        )
        time.sleep(2)
    return rows


def batch(server: Server, url: str) -> list[tuple[str, str]]:
    project, key, _ = server.project()
    mail = {"to": ["ada@example.com"], "from": "a@acme.example", "subject": "Code {{n}}", "text": "12", "variables": {}}
    request = post(f"/projects/{project}/emails/batch", key, {"emails": [mail] * BATCH})
    rate, times, statuses = uvloop.run(load(server.port, request, connections=4, seconds=SECONDS))
    assert set(statuses) == {b"201"}, statuses
    return [
        (
            "accept in batches of 500, 4 connections",
            f"{rate * BATCH:,.0f} messages/s, p50 {percentile(times, 0.5):.0f} ms",
        )
    ]


def relay_environment(port: int, connections: int = 10) -> dict[str, str]:
    relay = f"smtp://127.0.0.1:{port}?tls=none&connections={connections}"
    return {"POSTERN_TRANSPORT": "relay", "POSTERN_RELAY": relay}


def verified_domain(url: str, server: Server, project: str, token: str, name: str = "acme.example") -> None:
    """Create a sending domain and mark it as verified in the database, without DNS.

    Workers do not check it: they would find no record, and no longer sign with Ed25519.
    """
    domain = server.call("POST", f"/projects/{project}/domains", {"domain": name}, token)
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "update domains set status = 'VERIFIED', dkim_verified = true, ed25519_verified = true, "
            "verified_at = now(), due_at = null where id = %s",
            [domain["id"]],
        )


def latency(server: Server, url: str, ledger: Path) -> list[tuple[str, str]]:
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    body = {"to": ["ada@example.com"], "from": "a@acme.example", "subject": "Code", "html": HTML, "variables": {}}
    request = post(f"/projects/{project}/emails", key, body)
    rate, times, statuses = uvloop.run(load(server.port, request, connections=1, seconds=5))
    assert set(statuses) == {b"201"}, statuses
    delivered = len(ledger.read_text().splitlines())
    assert delivered >= len(times), (delivered, len(times))
    return [
        (
            "from POST to the reply to the final dot, one by one",
            f"p50 {percentile(times, 0.5):.1f} ms, p99 {percentile(times, 0.99):.1f} ms ({rate:,.0f}/s)",
        )
    ]


def wire(server: Server, url: str, port: int, to: str, workers: int, signs: float) -> list[tuple[str, str]]:
    raw, _ = smtp.measure(smtp.raw, port, 10_000, 8)
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    for start in range(0, WIRE, BATCH):
        emails = [
            {
                "to": [f"user{start + n}@example.com"],
                "from": "Acme <a@acme.example>",
                "subject": "Hello {{name}}",
                "html": HTML,
                "variables": {"name": f"User {start + n}"},
            }
            for n in range(BATCH)
        ]
        server.call("POST", f"/projects/{project}/emails/batch", {"emails": emails}, key)
    with psycopg.connect(url, autocommit=True) as connection:
        began = time.perf_counter()
        for _ in range(workers):
            server.start("worker")
        first_count = 0
        while (count := count_sent(connection, project)) < WIRE:
            if count and not first_count:
                # Measured from the first messages on, without the start of the workers.
                first_count, began = count, time.perf_counter()
            if time.perf_counter() - began > 180:
                raise SystemExit(f"Only {count} of {WIRE} messages arrived.")
            time.sleep(0.05)
        rate = (WIRE - first_count) / (time.perf_counter() - began)
    return [
        (
            f"wire: {WIRE:,} queued messages to {to}, {workers} worker(s)",
            f"{rate:,.0f} messages/s, {rate / signs:.2f} of one core's RSA limit, {rate / raw:.2f} of raw SMTP",
        ),
        ("raw SMTP to the same sink, 8 connections", f"{raw:,.0f} messages/s"),
    ]


def count_sent(connection: psycopg.Connection, project: str) -> int:
    """The number of sends of a project that the relay accepted, from Postern's counters."""
    row = connection.execute(
        "select coalesce(sum(count), 0) from send_counters where project_id = %s and measure = 'sent'", [project]
    ).fetchone()
    return int(row[0]) if row else 0


def tracking(server: Server, url: str) -> list[tuple[str, str]]:
    project, key, _ = server.project()
    body = {"to": ["ada@example.com"], "from": "a@acme.example", "subject": "x", "html": HTML}
    email = server.call("POST", f"/projects/{project}/emails", body, key)
    request = (
        f"GET /t/o/{email['id']} HTTP/1.1\r\nHost: bench\r\nUser-Agent: Mozilla/5.0 (X11; Linux) Firefox/140\r\n\r\n"
    ).encode()
    limit = bare_inserts(url, CONNECTIONS)
    rate, times, statuses = uvloop.run(load(server.port, request, connections=CONNECTIONS, seconds=SECONDS))
    assert set(statuses) == {b"200"}, statuses
    return [
        (
            "tracking hits, stored durably before the response",
            f"{rate:,.0f}/s, p99 {percentile(times, 0.99):.1f} ms, {rate / limit:.2f} of the plain INSERT limit",
        )
    ]


def main() -> None:
    parts = set(sys.argv[1:]) or {"accept", "batch", "latency", "wire", "tracking"}
    rows: list[tuple[str, str]] = []
    signs = rsa_signs()
    rows.append(("RSA-2048 signatures, one core", f"{signs:,.0f}/s"))
    rows.append(("messages with ten tracked links rendered and composed, one core", f"{composes():,.0f}/s"))
    with tempfile.TemporaryDirectory(prefix="postern-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with run_embedded(folder / "data") as postgres:
            url = postgres.url()
            migrate(url)
            if parts & {"accept", "batch", "tracking"}:
                server = Server(folder, url)
                server.start("api")
                for part in ("accept", "batch", "tracking"):
                    if part in parts:
                        rows += {"accept": accept, "batch": batch, "tracking": tracking}[part](server, url)
                server.stop()
            if "pooler" in parts:
                with pgbouncer(url, size=16) as pooler:
                    server = Server(folder, url, DATABASE_POOLER_URL=pooler.url)
                    server.start("api")
                    rows += [(f"through PgBouncer: {name}", figure) for name, figure in accept(server, url)[1:]]
                    server.stop()
            for part, workers in (("latency", 0), ("wire", 1), ("wire", 2)):
                if part not in parts:
                    continue
                with psycopg.connect(url, autocommit=True) as connection:
                    # Messages of earlier parts that were not delivered yet would take half of the workers' time.
                    connection.execute("update sends set due_at = null where due_at is not null")
                if part == "latency":
                    ledger = folder / "ledger"
                    ledger.touch()
                    with sink(ledger) as port:
                        server = Server(folder, url, **relay_environment(port))
                        server.start("api")
                        rows += latency(server, url, ledger)
                        server.stop()
                    continue
                with quick_sink() as (port, to):
                    server = Server(folder, url, **relay_environment(port))
                    server.start("api")
                    rows += wire(server, url, port, to, workers, signs)
                    server.stop()
    width = max(len(name) for name, _ in rows)
    for name, figure in rows:
        print(f"{name:<{width}}  {figure}")


if __name__ == "__main__":
    main()
