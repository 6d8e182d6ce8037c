"""The rate of mail directly to the mail servers of 50 domains, compared with the rate to one relay.

Run: python -m bench.direct [rounds]

Rounds to the relay and directly to the mail servers alternate, with one worker and the same messages (ten tracked
links, signed), so only their ratio is meaningful. The relay and the mail servers are processes of
Postfix's smtp-sink, without TLS. The CPU time is that of the worker with its render processes, and of PostgreSQL.
"""

import asyncio
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psycopg

from bench.emails import HTML, Server, count_sent, verified_domain
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from tests.peers.dns_zone import DnsZone, dns_zone
from tests.peers.mail_servers import wait_until_open
from tests.peers.ports import reserved_port

ROUNDS = 3
DOMAINS = 50
MESSAGES = 10_000
BATCH = 500
LONGEST_SECONDS = 300
SHAPING = "[direct]\nmessages_per_minute = 60000\n"
"""Higher than the default of 600 for each domain, so that the machine and not the limits determine the rate."""
RELAY_ADDRESS = "127.0.0.1"


@contextmanager
def mail_servers(addresses: list[str], port: int) -> Iterator[None]:
    """Start an SMTP server on each address. Raises AssertionError if smtp-sink is not installed."""
    program = shutil.which("smtp-sink", path="/usr/sbin:/usr/bin:/usr/local/sbin")
    assert program, "smtp-sink is not installed; it is part of Postfix."
    account = ["-u", "nobody"] if os.geteuid() == 0 else []
    running = [subprocess.Popen([program, *account, f"{address}:{port}", "512"]) for address in addresses]
    try:
        for address in addresses:
            wait_until_open(address, port)
        yield
    finally:
        for process in running:
            process.terminate()
        for process in running:
            process.wait()


def cpu_seconds_of(root: int) -> float:
    """The CPU time of a process and its descendants, including those that have ended."""
    fields_of: dict[int, list[str]] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit():
            try:
                fields_of[int(folder.name)] = (folder / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue  # The process has just ended.
    family = {root}
    while children := {child for child, fields in fields_of.items() if int(fields[1]) in family} - family:
        family |= children
    ticks = sum(sum(map(int, fields_of[member][11:15])) for member in family if member in fields_of)
    return ticks / os.sysconf("SC_CLK_TCK")


def queue(server: Server, project: str, key: str, domains: list[str]) -> None:
    """Queue MESSAGES messages, the same number to each domain."""
    for start in range(0, MESSAGES, BATCH):
        emails = [
            {
                "to": [f"user{number}@{domains[number % len(domains)]}"],
                "from": "Acme <a@acme.example>",
                "subject": "Hello {{name}}",
                "html": HTML,
                "variables": {"name": f"User {number}"},
            }
            for number in range(start, start + BATCH)
        ]
        server.call("POST", f"/projects/{project}/emails/batch", {"emails": emails}, key)


def send_round(server: Server, url: str, postgres_id: int, name: str, domains: list[str]) -> tuple[float, float, float]:
    """Messages per second, and microseconds of CPU time per message of the worker and of PostgreSQL."""
    project, key, token = server.project()
    verified_domain(url, server, project, token)
    queue(server, project, key, domains)
    with psycopg.connect(url, autocommit=True) as connection:
        worker = server.start("worker")
        first_count, ends = 0, time.perf_counter() + LONGEST_SECONDS
        began, used = 0.0, (0.0, 0.0)
        while (count := count_sent(connection, project)) < MESSAGES:
            if count and not first_count:
                # Measured from the first messages on, without the start of the worker.
                first_count, began = count, time.perf_counter()
                used = cpu_seconds_of(worker.pid), cpu_seconds_of(postgres_id)
            if time.perf_counter() > ends:
                raise SystemExit(f"Only {count} of {MESSAGES} messages were sent.")
            time.sleep(0.05)
        seconds, sent = time.perf_counter() - began, MESSAGES - first_count
        of_worker = (cpu_seconds_of(worker.pid) - used[0]) * 1e6 / sent
        of_postgres = (cpu_seconds_of(postgres_id) - used[1]) * 1e6 / sent
        worker.terminate()
        worker.wait(60)
        server.running.remove(worker)
        rows = connection.execute("select status from sends where project_id = %s", [project]).fetchall()
    assert {status for (status,) in rows} == {"DELIVERED" if name == "direct" else "SENT"}, rows[:3]
    assert len(rows) == MESSAGES
    print(
        f"{name:6} {sent / seconds:7,.0f} messages/s; µs of CPU time per message: worker {of_worker:,.0f}, "
        f"PostgreSQL {of_postgres:,.0f}",
        flush=True,
    )
    return sent / seconds, of_worker, of_postgres


def publish(zone: DnsZone) -> tuple[list[str], list[str]]:
    """Give each domain a mail server with an address of its own; returns the domains and the addresses."""
    domains = [f"recipients{number}.test" for number in range(DOMAINS)]
    addresses = [f"127.0.2.{number + 1}" for number in range(DOMAINS)]
    for domain, address in zip(domains, addresses, strict=True):
        zone.add(domain, "MX", f"10 mx.{domain}.")
        zone.add(f"mx.{domain}", "A", address)
    return domains, addresses


async def run(rounds: int) -> None:
    """Measure, and print each round and the medians of the ratios."""
    with tempfile.TemporaryDirectory() as name, run_embedded(Path(name) / "pg") as postgres, reserved_port() as socket:
        folder = Path(name)
        url = postgres.url("postgres")
        migrate(url)
        postgres_id = int((folder / "pg" / "postgres" / "postmaster.pid").read_text().split()[0])
        (folder / "shaping.toml").write_text(SHAPING)
        port = socket.getsockname()[1]
        async with dns_zone() as zone:
            domains, addresses = publish(zone)
            server = Server(
                folder,
                url,
                POSTERN_DIRECT_PORT=str(port),
                POSTERN_RELAY=f"smtp://{RELAY_ADDRESS}:{port}?tls=none&connections=10",
                POSTERN_DNS=f"{zone.address}:{zone.port}",
                POSTERN_OUTBOUND_ALLOW="127.0.0.0/8",
                POSTERN_SHAPING_FILE=str(folder / "shaping.toml"),
                POSTERN_SEND_WAIT="0",
                POSTERN_TRANSPORT="direct",
            )

            def measure() -> None:
                server.start("api")
                ratios = []
                for _ in range(rounds):
                    results = []
                    for transport in ("relay", "direct"):
                        server.environment["POSTERN_TRANSPORT"] = transport
                        results.append(send_round(server, url, postgres_id, transport, domains))
                    ratios.append([direct / relay for relay, direct in zip(*results, strict=True)])
                rate, worker, database = (statistics.median(values) for values in zip(*ratios, strict=True))
                print(
                    f"direct beside relay, medians of {rounds}: rate {rate:.2f}, CPU time of the worker {worker:.2f}, "
                    f"of PostgreSQL {database:.2f}"
                )

            try:
                with mail_servers([RELAY_ADDRESS, *addresses], port):
                    await asyncio.to_thread(measure)
            finally:
                await asyncio.to_thread(server.stop)


def main() -> None:
    """Run `argv[1]` rounds."""
    asyncio.run(run(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))


if __name__ == "__main__":
    main()
