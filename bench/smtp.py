"""The rate at which mail is sent over SMTP, compared with raw writes in the same run.

    python -m bench.smtp [--messages 40000] [--smtp-sink /usr/sbin/smtp-sink]

The sink runs in another process. `raw` writes prepared commands and only counts the lines of the replies, so no SMTP
client can be faster. All ratios are relative to `raw`.
"""

import argparse
import asyncio
import os
import resource
import shutil
import subprocess
import sys
import time
from collections.abc import Awaitable, Callable

import uvloop

from postern.protocols.mail.smtp import Peer, Tls, connect
from postern.protocols.mail.transports.relay import RelayServer, RelayTransport
from postern.protocols.mail.transports.transport import Envelope

SIZE = 9_000
ENVELOPE = Envelope(
    mail_from="bounce+0123456789abcdef@mail.example.com",
    recipients=("somebody@example.net",),
    message_id="<0@example.com>",
)


def message() -> bytes:
    """A message of about 9 kB."""
    head = (
        b"Message-ID: <0@example.com>\r\nFrom: a@example.com\r\nTo: somebody@example.net\r\nSubject: Hello\r\n"
        b"MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n"
    )
    return head + b"A line of ordinary text that goes on for a while, as lines in mail do..\r\n" * (
        (SIZE - len(head)) // 74
    )


async def client(port: int, count: int, connections: int, *, hook: bool = False) -> None:
    """Send `count` messages with SmtpConnection; `hook` adds a `before_dot` that does nothing."""
    text = message()
    remaining = count

    async def before_dot() -> None:
        return None

    async def send_all() -> None:
        nonlocal remaining
        connection = await connect(Peer(host="127.0.0.1", port=port, tls=Tls.NONE))
        while remaining > 0:
            remaining -= 1
            outcome = await connection.send(ENVELOPE, text, before_dot=before_dot if hook else None)
            assert outcome.results[0].code == 250, outcome
        await connection.quit()

    await asyncio.gather(*(send_all() for _ in range(connections)))


async def hooked(port: int, count: int, connections: int) -> None:
    """`client` with a `before_dot` that does nothing."""
    await client(port, count, connections, hook=True)


async def relay(port: int, count: int, connections: int) -> None:
    """Send `count` messages with RelayTransport, which adds the connection pool and the rate shaper."""
    text = message()
    remaining = count
    transport = RelayTransport(
        [
            RelayServer(
                host="127.0.0.1",
                port=port,
                tls=Tls.NONE,
                max_connections=connections,
                max_messages_per_connection=100_000,
            )
        ]
    )

    async def send_all() -> None:
        nonlocal remaining
        while remaining > 0:
            remaining -= 1
            outcome = await transport.deliver(ENVELOPE, text)
            assert outcome.results[0].code == 250, outcome

    await asyncio.gather(*(send_all() for _ in range(connections)))
    await transport.aclose()


class Raw(asyncio.Protocol):
    """Sends each message with two prepared writes, and only counts the lines of the replies."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.lines = 0
        self.expected_lines = 1
        self.group = (
            b"MAIL FROM:<bounce+0123456789abcdef@mail.example.com>\r\nRCPT TO:<somebody@example.net>\r\nDATA\r\n"
        )
        self.text = message() + b".\r\n"
        self.phase = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self.lines += data.count(b"\n")
        if self.lines < self.expected_lines:
            return
        self.lines = 0
        if self.phase == 0:
            self.phase, self.expected_lines = 1, 1
            self.transport.write(b"HELO raw\r\n")
        elif self.phase == 1:
            if self.rounds == 0:
                self.transport.close()
                if not self.done.done():
                    self.done.set_result(None)
                return
            self.rounds -= 1
            self.phase, self.expected_lines = 2, 3
            self.transport.write(self.group)
        else:
            self.phase, self.expected_lines = 1, 1
            self.transport.write(self.text)


async def raw(port: int, count: int, connections: int) -> None:
    """Send `count` messages with prepared writes."""
    loop = asyncio.get_running_loop()

    async def send_all() -> None:
        _, protocol = await loop.create_connection(lambda: Raw(count // connections), "127.0.0.1", port)
        await protocol.done

    await asyncio.gather(*(send_all() for _ in range(connections)))


Run = Callable[[int, int, int], Awaitable[None]]


def measure(run: Run, port: int, count: int, connections: int) -> tuple[float, float]:
    """Messages per second, and messages per second of processor time of this process."""
    used, began = _processor(), time.perf_counter()
    uvloop.run(run(port, count, connections))  # type: ignore[arg-type]
    return count / (time.perf_counter() - began), count / (_processor() - used)


def _processor() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def table(title: str, port: int, count: int) -> None:
    """Print the results of all runs with one server."""
    print(f"\n{title}, {SIZE} octets per message")
    print(f"{'':10}{'connections':>12}{'messages/s':>12}{'per core':>12}{'of raw':>8}")
    for connections in (1, 8):
        limit = 0.0
        for run in (raw, client, hooked, relay):
            rate, core = measure(run, port, count, connections)
            limit = limit or core
            print(f"{run.__name__:10}{connections:>12}{rate:>12,.0f}{core:>12,.0f}{core / limit:>8.0%}")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--messages", type=int, default=40_000)
    parser.add_argument("--smtp-sink", default=shutil.which("smtp-sink", path="/usr/sbin:/usr/bin"))
    options = parser.parse_args()
    our_sink = subprocess.Popen([sys.executable, "-m", "tests.peers.smtp_sink"], stdout=subprocess.PIPE, text=True)
    try:
        assert our_sink.stdout
        table("our sink", int(our_sink.stdout.readline()), options.messages)
    finally:
        our_sink.kill()
        our_sink.wait()
    if not options.smtp_sink:
        print("\nsmtp-sink is not installed (apt-get install postfix)")
        return
    port = 20_025
    account = ["-u", "nobody"] if os.geteuid() == 0 else []
    postfix_sink = subprocess.Popen([options.smtp_sink, *account, f"127.0.0.1:{port}", "512"])
    try:
        time.sleep(0.5)
        table("Postfix's smtp-sink", port, options.messages)
    finally:
        postfix_sink.kill()
        postfix_sink.wait()


if __name__ == "__main__":
    main()
