"""The rate of submission by SMTP, compared with Postfix and with `POST /emails`.

Run: python -m bench.submission

PostgreSQL (durable), the SMTP server, Postfix and the load share the machine, and run one after the other, so only the
ratios are meaningful. Postfix, if it is installed and this is root, accepts the same messages without authentication,
writes them to its queue (with fsync), and discards them.
"""

import asyncio
import base64
import os
import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

import uvloop

from bench.emails import Server, free_port, load, percentile, post
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from tests.peers.mail_servers import postfix, wait_until_open

SECONDS = 8.0
CONNECTIONS = 32
TEXT = "A line of ordinary text that goes on for a while, as lines in mail do.\r\n" * 40
CONTENT = (
    "From: Acme <a@acme.example>\r\nTo: ada@example.com\r\nSubject: Hello\r\nMIME-Version: 1.0\r\n"
    f"Content-Type: text/plain; charset=utf-8\r\n\r\n{TEXT}"
)


async def submit(port: int, key: str | None, seconds: float) -> tuple[float, list[float]]:
    """Submit messages on CONNECTIONS connections; returns messages per second, and the duration of each."""
    times: list[float] = []
    ends = time.perf_counter() + seconds
    commands = b"MAIL FROM:<a@acme.example>\r\nRCPT TO:<ada@example.com>\r\nDATA\r\n"

    async def repeat() -> None:
        reader, writer = await connect(port, key)
        while time.perf_counter() < ends:
            began = time.perf_counter()
            writer.write(commands)
            await expect(reader, b"250", b"250", b"354")
            writer.write(CONTENT.encode() + b".\r\n")
            await expect(reader, b"250")
            times.append(time.perf_counter() - began)
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(repeat() for _ in range(CONNECTIONS)))
    return len(times) / (time.perf_counter() - began), times


async def connect(port: int, key: str | None) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    """Open an SMTP connection to loopback, with AUTH PLAIN if there is a key. Raises AssertionError if that fails."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    await expect(reader, b"220")
    writer.write(b"EHLO bench.example\r\n")
    await expect(reader, b"250")
    if key is not None:
        writer.write(b"AUTH PLAIN " + base64.b64encode(f"\0apikey\0{key}".encode()) + b"\r\n")
        await expect(reader, b"235")
    return reader, writer


async def expect(reader: asyncio.StreamReader, *codes: bytes) -> None:
    """Read a reply for each code. Raises AssertionError if one has another code."""
    for code in codes:
        while True:
            line = await reader.readline()
            assert line.startswith(code), line
            if line[3:4] == b" ":
                break


def rate(server: Server, port: int, api_id: int, smtp_id: int) -> list[tuple[str, str]]:
    project, key, _ = server.project()
    rows = []
    mail = {
        "to": ["ada@example.com"],
        "from": "Acme <a@acme.example>",
        "subject": "Hello",
        "text": TEXT,
        "engine": "none",
    }
    request = post(f"/projects/{project}/emails", key, mail, "Prefer: wait=0")
    uvloop.run(load(server.port, request, connections=CONNECTIONS, seconds=1))
    used = cpu_seconds(api_id)
    api_rate, times, statuses = uvloop.run(load(server.port, request, connections=CONNECTIONS, seconds=SECONDS))
    used = (cpu_seconds(api_id) - used) * 1e6 / len(times)
    assert set(statuses) == {b"201"}, statuses
    row = f"{described(api_rate, times)}, {used:.0f} µs of the API's CPU time each"
    rows.append((f"POST /emails (wait=0), {CONNECTIONS} connections", row))
    uvloop.run(submit(port, key, 1))
    used = cpu_seconds(smtp_id)
    smtp_rate, times = uvloop.run(submit(port, key, SECONDS))
    used = (cpu_seconds(smtp_id) - used) * 1e6 / len(times)
    row = f"{described(smtp_rate, times)}, {used:.0f} µs of the server's CPU time each"
    row += f", {smtp_rate / api_rate:.2f} of POST /emails"
    if shutil.which("postfix") and os.geteuid() == 0:
        postfix_port = free_port()
        with postfix("127.0.0.1", postfix_port, {"default_transport": "discard:"}):
            uvloop.run(submit(postfix_port, None, 1))
            postfix_rate, times = uvloop.run(submit(postfix_port, None, SECONDS))
        rows.append((f"Postfix, {CONNECTIONS} connections, without AUTH", described(postfix_rate, times)))
        row += f", {smtp_rate / postfix_rate:.2f} of Postfix"
    return [*rows, (f"submission by SMTP, {CONNECTIONS} connections", row)]


def described(messages_per_second: float, times: list[float]) -> str:
    """A rate with percentiles."""
    p50, p99 = percentile(times, 0.5), percentile(times, 0.99)
    return f"{messages_per_second:,.0f} messages/s, p50 {p50:.1f} ms, p99 {p99:.1f} ms"


def cpu_seconds(process_id: int) -> float:
    """The CPU time that a process has used, without its children."""
    fields = Path(f"/proc/{process_id}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def resident_megabytes(process_id: int) -> float:
    """The resident memory of a process, in MB."""
    pages = int(Path(f"/proc/{process_id}/statm").read_text().split()[1])
    return pages * resource.getpagesize() / 1_000_000


def main() -> None:
    """Measure, and print the results."""
    folder = Path(tempfile.mkdtemp(prefix="bench-"))
    with run_embedded() as database:
        url = database.url("postgres")
        migrate(url)
        port = free_port()
        server = Server(folder, url, POSTERN_SUBMISSION_PORT=str(port))
        try:
            api = server.start("api")
            smtp = server.start("smtp")
            wait_until_open("127.0.0.1", port)
            rows = rate(server, port, api.pid, smtp.pid)
        finally:
            server.stop()
            shutil.rmtree(folder, ignore_errors=True)
    for name, result in rows:
        print(f"{name:60} {result}")


if __name__ == "__main__":
    sys.exit(main())
