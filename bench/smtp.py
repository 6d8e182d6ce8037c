"""How fast mail leaves over SMTP, against the limit of the wire in the same run.

    python -m bench.smtp [--messages 40000] [--smtp-sink /usr/sbin/smtp-sink]

The sink runs in another process. `raw` writes whole prepared conversations and only counts the octets that
come back: nothing that speaks SMTP in lock-step can be faster. Ratios are to `raw`.
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
    """9 kB of a usual shape."""
    head = (
        b"Message-ID: <0@example.com>\r\nFrom: a@example.com\r\nTo: somebody@example.net\r\nSubject: Hello\r\n"
        b"MIME-Version: 1.0\r\nContent-Type: text/plain\r\n\r\n"
    )
    return head + b"A line of ordinary text that goes on for a while, as lines in mail do..\r\n" * (
        (SIZE - len(head)) // 74
    )


async def client(port: int, count: int, connections: int, *, hook: bool = False) -> None:
    """`count` messages over so many connections of `mail/smtp.py`."""
    text = message()
    left = count

    async def before_dot() -> None:
        return None

    async def one() -> None:
        nonlocal left
        connection = await connect(Peer(host="127.0.0.1", port=port, tls=Tls.NONE))
        while left > 0:
            left -= 1
            outcome = await connection.send(ENVELOPE, text, before_dot=before_dot if hook else None)
            assert outcome.results[0].code == 250, outcome
        await connection.quit()

    await asyncio.gather(*(one() for _ in range(connections)))


async def hooked(port: int, count: int, connections: int) -> None:
    """The same, with a `before_dot` that has nothing to do."""
    await client(port, count, connections, hook=True)


async def relay(port: int, count: int, connections: int) -> None:
    """The same through the relay transport with its pool and shaper."""
    text = message()
    left = count
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

    async def one() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            outcome = await transport.deliver(ENVELOPE, text)
            assert outcome.results[0].code == 250, outcome

    await asyncio.gather(*(one() for _ in range(connections)))
    await transport.aclose()


class Raw(asyncio.Protocol):
    """Whole conversations in two writes, replies counted and not read."""

    def __init__(self, rounds: int) -> None:
        self.rounds = rounds
        self.done: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.lines = 0
        self.wanted = 1
        self.group = (
            b"MAIL FROM:<bounce+0123456789abcdef@mail.example.com>\r\nRCPT TO:<somebody@example.net>\r\nDATA\r\n"
        )
        self.text = message() + b".\r\n"
        self.phase = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: asyncio.Transport = transport  # type: ignore[assignment]

    def data_received(self, data: bytes) -> None:
        self.lines += data.count(b"\n")
        if self.lines < self.wanted:
            return
        self.lines = 0
        if self.phase == 0:
            self.phase, self.wanted = 1, 1
            self.transport.write(b"HELO raw\r\n")
        elif self.phase == 1:
            if self.rounds == 0:
                self.transport.close()
                if not self.done.done():
                    self.done.set_result(None)
                return
            self.rounds -= 1
            self.phase, self.wanted = 2, 3
            self.transport.write(self.group)
        else:
            self.phase, self.wanted = 1, 1
            self.transport.write(self.text)


async def raw(port: int, count: int, connections: int) -> None:
    """The limit of the wire."""
    loop = asyncio.get_running_loop()

    async def one() -> None:
        _, protocol = await loop.create_connection(lambda: Raw(count // connections), "127.0.0.1", port)
        await protocol.done

    await asyncio.gather(*(one() for _ in range(connections)))


Run = Callable[[int, int, int], Awaitable[None]]


def measure(run: Run, port: int, count: int, connections: int) -> tuple[float, float]:
    """Messages per second, and per second of this process's own processor time."""
    used, began = _processor(), time.perf_counter()
    uvloop.run(run(port, count, connections))  # type: ignore[arg-type]
    return count / (time.perf_counter() - began), count / (_processor() - used)


def _processor() -> float:
    usage = resource.getrusage(resource.RUSAGE_SELF)
    return usage.ru_utime + usage.ru_stime


def table(title: str, port: int, count: int) -> None:
    """All runs against one server."""
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
    asked = parser.parse_args()
    own = subprocess.Popen([sys.executable, "-m", "tests.peers.smtp_sink"], stdout=subprocess.PIPE, text=True)
    try:
        assert own.stdout
        table("our sink", int(own.stdout.readline()), asked.messages)
    finally:
        own.kill()
        own.wait()
    if not asked.smtp_sink:
        print("\nsmtp-sink is not installed (apt-get install postfix)")
        return
    port = 20_025
    account = ["-u", "nobody"] if os.geteuid() == 0 else []
    theirs = subprocess.Popen([asked.smtp_sink, *account, f"127.0.0.1:{port}", "512"])
    try:
        time.sleep(0.5)
        table("Postfix's smtp-sink", port, asked.messages)
    finally:
        theirs.kill()
        theirs.wait()


if __name__ == "__main__":
    main()
