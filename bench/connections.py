"""Many open connections to the SMTP servers: how many are accepted, their memory, and mail at the same time.

Run: python -m bench.connections [inbound] [submission]

Clients in several processes connect to the port for received mail and to that for submission, with the default limits:

- from one address;
- from many addresses, more than are allowed, without sending anything;
- from many addresses, each sending the first 3 kB of a message;
- from many addresses, each sending 100 kB of a message, together four times the memory for messages.

Required: each connection beyond the limits gets 421; the memory of the server grows by less than 10 kB for each
connection, and by less than two octets for each received octet of messages, up to POSTERN_SMTP_MEMORY; and an ordinary
message is accepted at the same time, or as soon as slow clients are disconnected. Otherwise the exit status is 1.
"""

import argparse
import asyncio
import base64
import multiprocessing
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from multiprocessing.connection import Connection
from multiprocessing.context import SpawnProcess
from pathlib import Path
from typing import Any

import msgspec
import uvloop

from bench.emails import Server, free_port, verified_domain
from bench.inbound import ROUTE, add_route
from bench.submission import expect, resident_megabytes
from postern.kernel.config import Settings
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from tests.peers.dns_zone import dns_zone
from tests.peers.mail_servers import wait_until_open

PROCESSES = 4
ALLOWED = Settings().smtp_connections
ALLOWED_PER_ADDRESS = Settings().smtp_connections_per_address
MEMORY_MEGABYTES = Settings().smtp_memory
KILOBYTES_EACH = 10
MEMORY_FACTOR = 2
"""Octets of memory for each received octet: messages are received into arrays that have room to grow."""
ADDRESSES = 60
"""Addresses of clients; their connections together are more than the server allows."""
SENDING_ADDRESSES, SENDING_PER_ADDRESS = 50, 198
"""Addresses of clients that send, and connections of each: fewer than the server allows, so that others can connect."""
AT_ONCE = 100
"""How many connections a client process opens at the same time."""
SECONDS = 6.0
LONGEST_SECONDS = 120.0
HEADER = "From: Ada <a@acme.example>\r\nTo: {recipient}\r\nMessage-ID: <{number}@acme.example>\r\nSubject: x\r\n\r\n"
LINE = b"A line of ordinary text that goes on for a while, as lines in mail do.\r\n"
numbers = count()


class Dialogue(msgspec.Struct, frozen=True, kw_only=True):
    """What a client sends on a connection."""

    port: int
    key: str | None
    """The secret key for AUTH; None without it."""
    octets: int | None = None
    """Octets of a message that the client begins and does not end; None to send nothing."""

    async def begin(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, again: bool = False) -> bytes:
        """Send the commands up to DATA; `again` for a further message on the same connection. Returns the reply to
        DATA, or the first reply with an error."""
        commands = [b"MAIL FROM:<a@acme.example>", f"RCPT TO:<{ROUTE}>".encode(), b"DATA"]
        if not again:
            login = [b"AUTH PLAIN " + base64.b64encode(f"\0apikey\0{self.key}".encode())] if self.key else []
            commands = [b"EHLO client.example", *login, *commands]
        writer.write(b"\r\n".join([*commands, b""]))
        line = b""
        for _ in commands:
            while (line := await reader.readline())[3:4] == b"-":
                pass
            if not line.startswith(b"2"):
                break
        return line

    async def send(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, *, again: bool = False) -> bytes:
        """Send an ordinary message over a connection; returns the last reply."""
        line = await self.begin(reader, writer, again=again)
        if line.startswith(b"354"):
            writer.write(HEADER.format(recipient=ROUTE, number=next(numbers)).encode() + LINE * 40 + b".\r\n")
            line = await reader.readline()
        return line


async def hold(pipe: Connection, dialogue: Dialogue, addresses: list[str], per_address: int) -> None:
    """Open connections from these addresses, send the counts of their replies to `pipe`, and keep the connections open
    until `pipe` receives something."""
    writers: list[asyncio.StreamWriter] = []
    replies: Counter[str] = Counter()
    permits = asyncio.Semaphore(AT_ONCE)

    async def open_one(address: str) -> None:
        async with permits:
            try:
                reader, writer = await asyncio.open_connection("127.0.0.1", dialogue.port, local_addr=(address, 0))
                writers.append(writer)
                line = await reader.readline()
                if line.startswith(b"220") and dialogue.octets is not None:
                    line = await dialogue.begin(reader, writer)
                    if line.startswith(b"354"):
                        writer.write((LINE * (dialogue.octets // len(LINE) + 1))[: dialogue.octets])
                        await writer.drain()
            except ConnectionError:
                line = b"reset"
            replies[line[:3].decode() or "none"] += 1

    await asyncio.gather(*(open_one(address) for address in addresses for _ in range(per_address)))
    pipe.send(dict(replies))
    await asyncio.to_thread(pipe.recv)
    for writer in writers:
        writer.transport.abort()


def run_client(pipe: Connection, dialogue: Dialogue, addresses: list[str], per_address: int) -> None:
    """The main function of a client process."""
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    uvloop.run(hold(pipe, dialogue, addresses, per_address))


@contextmanager
def held(dialogue: Dialogue, addresses: int, per_address: int) -> Iterator[Counter[str]]:
    """Keep connections of client processes open during the block; yields the number of connections by reply code."""
    names = [f"127.0.5.{number + 1}" for number in range(addresses)]
    context = multiprocessing.get_context("spawn")
    clients: list[tuple[SpawnProcess, Any]] = []
    for number in range(min(PROCESSES, addresses)):
        ours, theirs = context.Pipe()
        arguments = (theirs, dialogue, names[number::PROCESSES], per_address)
        process = context.Process(target=run_client, args=arguments, daemon=True)
        process.start()
        clients.append((process, ours))
    replies: Counter[str] = Counter()
    try:
        for _, pipe in clients:
            assert pipe.poll(LONGEST_SECONDS * 3), "A client process did not open its connections."
            replies.update(pipe.recv())
        yield replies
    finally:
        for process, pipe in clients:
            pipe.send(None)
            process.join(LONGEST_SECONDS)


async def try_once(dialogue: Dialogue) -> bytes:
    """Send an ordinary message over a connection of its own; returns the last reply."""
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", dialogue.port)
        line = await reader.readline()
        if line.startswith(b"220"):
            line = await dialogue.send(reader, writer)
        writer.transport.abort()
    except ConnectionError:
        return b"reset"
    return line


def until_accepted(dialogue: Dialogue) -> tuple[str, float]:
    """Send an ordinary message until it is accepted; returns the first reply, and the seconds. Raises AssertionError
    after LONGEST_SECONDS."""
    began, first = time.monotonic(), ""
    while True:
        line = uvloop.run(try_once(dialogue))
        first = first or line[:3].decode()
        if line.startswith(b"250"):
            return first, time.monotonic() - began
        assert time.monotonic() - began < LONGEST_SECONDS, f"An ordinary message gets {line!r}."
        time.sleep(0.2)


async def rate(dialogue: Dialogue) -> float:
    """Ordinary messages per second on one connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", dialogue.port)
    await expect(reader, b"220")
    sent, began = 0, time.perf_counter()
    while time.perf_counter() - began < SECONDS:
        line = await dialogue.send(reader, writer, again=sent > 0)
        assert line.startswith(b"250"), line
        sent += 1
    writer.transport.abort()
    return sent / (time.perf_counter() - began)


def measure(name: str, dialogue: Dialogue, process_id: int) -> bool:
    """Measure one port, and print the results; returns whether the requirements are met."""
    until_accepted(dialogue)
    alone = uvloop.run(rate(dialogue))
    before = resident_megabytes(process_id)
    is_bounded = True
    print(f"{name}: {before:.0f} MB; {alone:,.0f} messages/s on one connection")

    def check(title: str, replies: Counter[str], allowed: int, beside: str, octets: int = 0) -> None:
        nonlocal is_bounded
        used, opened = resident_megabytes(process_id), sum(replies.values())
        accepted, refused = replies["220"] + replies["354"], replies["421"]
        print(f"{name}: {title}: {accepted:,} accepted, {refused:,} refused; {used:.0f} MB; {beside}", flush=True)
        is_bounded &= 0 < accepted <= allowed and accepted + refused == opened
        received = min(MEMORY_MEGABYTES, accepted * octets / 1_000_000)
        is_bounded &= used - before < MEMORY_FACTOR * received + KILOBYTES_EACH * ALLOWED / 1_000

    with held(dialogue, 1, ALLOWED) as replies:
        first, seconds = until_accepted(dialogue)
        beside = f"an ordinary message gets {first}, and 250 after {seconds:.1f} s"
        check(f"{ALLOWED:,} connections from one address", replies, ALLOWED_PER_ADDRESS, beside)
    with held(dialogue, ADDRESSES, ALLOWED_PER_ADDRESS) as replies:
        used = resident_megabytes(process_id)
        first, seconds = until_accepted(dialogue)
        beside = f"{used:.0f} MB at first; an ordinary message gets {first}, and 250 after {seconds:.1f} s"
        check(f"{ADDRESSES * ALLOWED_PER_ADDRESS:,} from {ADDRESSES} addresses", replies, ALLOWED, beside)
    until_accepted(dialogue)
    total = SENDING_ADDRESSES * SENDING_PER_ADDRESS
    octets = len(LINE) * 42
    sending = msgspec.structs.replace(dialogue, octets=octets)
    with held(sending, SENDING_ADDRESSES, SENDING_PER_ADDRESS) as replies:
        beside = f"{uvloop.run(rate(dialogue)):,.0f} messages/s on one connection"
        check(f"{total:,} that have sent {octets:,} octets each", replies, total, beside, octets)
    until_accepted(dialogue)
    octets = 100_000
    sending = msgspec.structs.replace(dialogue, octets=octets)
    with held(sending, SENDING_ADDRESSES, SENDING_PER_ADDRESS) as replies:
        used = resident_megabytes(process_id)
        first, seconds = until_accepted(dialogue)
        beside = f"{used:.0f} MB at first; an ordinary message gets {first}, and 250 after {seconds:.1f} s"
        check(f"{total:,} that have sent {octets:,} octets each", replies, total, beside, octets)
    return is_bounded


async def run(names: list[str]) -> bool:
    """Start what the measurements need, and measure; returns whether the requirements are met."""
    with tempfile.TemporaryDirectory() as folder, run_embedded(Path(folder) / "data") as database:
        url = database.url("postgres")
        migrate(url)
        results: list[bool] = []
        async with dns_zone() as zone:
            server = Server(
                Path(folder),
                url,
                POSTERN_DNS=f"{zone.address}:{zone.port}",
                POSTERN_OUTBOUND_ALLOW="127.0.0.0/8",
                POSTERN_RETURN_PATH_DOMAIN="bounce.post.example",
            )
            try:
                await asyncio.to_thread(server.start, "api")
                project, key, token = await asyncio.to_thread(server.project)
                await asyncio.to_thread(verified_domain, url, server, project, token)
                add_route(url, project)
                await asyncio.to_thread(server.stop)
                for name in names:  # Each server has a process of its own, with all files that a process may open.
                    variable, port = f"POSTERN_{name.upper()}_PORT", free_port()
                    server.environment[variable] = str(port)
                    process = server.start("smtp")
                    del server.environment[variable]
                    dialogue = Dialogue(port=port, key=key if name == "submission" else None)
                    await asyncio.to_thread(wait_until_open, "127.0.0.1", port)
                    results.append(await asyncio.to_thread(measure, name, dialogue, process.pid))
                    await asyncio.to_thread(server.stop)
            finally:
                await asyncio.to_thread(server.stop)
    return all(results)


def main() -> None:
    """Measure the chosen ports, or both."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    ports = ["inbound", "submission"]
    parser.add_argument("ports", nargs="*", choices=[[], *ports])
    sys.exit(not asyncio.run(run(parser.parse_args().ports or ports)))


if __name__ == "__main__":
    main()
