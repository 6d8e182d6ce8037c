"""Memory while mail servers send endless replies, and while clients send messages of 1 GB.

Run: python -m bench.oversize [megabytes]

Mail servers send an endless greeting, or an endless reply to EHLO, MAIL, DATA or the message: as one line, as lines of
one reply, or as unsolicited replies. Clients send a message that is far beyond the limit to the ports for received mail
and for submission: with DATA as lines and as one line, and with BDAT. Required: the connection is closed or the message
refused, an ordinary message is accepted at the same time, and the memory of the process grows by less than 64 MB.
Otherwise the exit status is 1.
"""

import asyncio
import base64
import sys
import tempfile
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack
from pathlib import Path

import psycopg

from bench.emails import Server, free_port, verified_domain
from bench.inbound import ROUTE, add_route
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from tests.peers.dns_zone import DnsZone, dns_zone
from tests.peers.endless_server import FORMS, REPLIES, STAGES, EndlessServer, endless_server
from tests.peers.mail_servers import wait_until_open
from tests.peers.ports import reserved_port

MEGABYTES = 1_000
GROWTH_LIMIT = 64
"""Megabytes by which the memory may grow; more than the size limit of a message."""
CHUNK = 65_536
LONGEST_SECONDS = 120.0


def peak_megabytes(process_id: int) -> float:
    """The peak resident memory of a process, in MB."""
    lines = Path(f"/proc/{process_id}/status").read_text().splitlines()
    (kilobytes,) = (line.split()[1] for line in lines if line.startswith("VmHWM:"))
    return int(kilobytes) / 1_000


async def replies(server: Server, url: str, zone: DnsZone, port: int, octets: int) -> bool:
    """Send a message to each kind of endless server, and meanwhile an ordinary message."""
    project, key, token = await asyncio.to_thread(server.project)
    await asyncio.to_thread(verified_domain, url, server, project, token)
    servers: dict[str, EndlessServer] = {}
    async with AsyncExitStack() as stack:
        for stage in STAGES:
            for form in FORMS:
                number = len(servers)
                domain, address = f"endless{number}.test", f"127.0.3.{number + 1}"
                zone.add(domain, "MX", f"10 mx.{domain}.")
                zone.add(f"mx.{domain}", "A", address)
                endless = endless_server(stage, form, octets, address=address, port=port)
                servers[domain] = await stack.enter_async_context(endless)
        worker = await asyncio.to_thread(server.start, "worker")
        before = await _send(server, url, project, key, ["good.test"])
        start = peak_megabytes(worker.pid)
        statuses = await _send(server, url, project, key, ["good.test", *servers])
        growth = peak_megabytes(worker.pid) - start
        for domain, endless in servers.items():
            print(f"direct, {endless.stage:8} {endless.form:13} {endless.sent / 1e6:7.1f} MB sent; {statuses[domain]}")
        print(f"worker: {start:.0f} MB, grows by {growth:.1f} MB", flush=True)
        worker.terminate()
        await asyncio.to_thread(worker.wait, 60)
        server.running.remove(worker)
    closed = all(0 < endless.sent < octets for endless in servers.values())
    return closed and growth < GROWTH_LIMIT and before["good.test"] == statuses["good.test"] == "DELIVERED"


async def _send(server: Server, url: str, project: str, key: str, domains: list[str]) -> dict[str, str]:
    """Send a message to each domain; returns the status of each after its first attempt."""
    mail = {"from": "a@acme.example", "subject": "x", "text": "x"}
    emails = [{**mail, "to": [f"ada@{domain}"]} for domain in domains]
    path = f"/projects/{project}/emails/batch"
    created = await asyncio.to_thread(server.call, "POST", path, {"emails": emails}, key)
    ids = [item["id"] for item in created["data"]]
    async with asyncio.timeout(LONGEST_SECONDS):
        while True:
            with psycopg.connect(url, autocommit=True) as connection:
                query = "select id::text, status, attempt from sends where id::text = any (%s)"
                rows = {row[0]: row[1:] for row in connection.execute(query, [ids])}
            if all(attempt > 0 and status != "QUEUED" for status, attempt in rows.values()):
                break
            await asyncio.sleep(0.2)
    return {domain: rows[send_id][0] for domain, send_id in zip(domains, ids, strict=True)}


class Client:
    """An SMTP client that sends as much as the server reads."""

    def __init__(self, port: int, key: str | None) -> None:
        self._port, self._key = port, key
        self.sent = 0

    async def begin(self) -> None:
        """Connect, log in with the key, and begin a transaction."""
        self.reader, self.writer = await asyncio.open_connection("127.0.0.1", self._port)
        await self.reply()
        await self.ask(b"EHLO client.test")
        if self._key:
            await self.ask(b"AUTH PLAIN " + base64.b64encode(f"\0apikey\0{self._key}".encode()))
        await self.ask(b"MAIL FROM:<a@acme.example>")
        await self.ask(f"RCPT TO:<{ROUTE}>".encode())

    async def ask(self, line: bytes) -> bytes:
        """Send a command and return the last line of the reply."""
        self.writer.write(line + b"\r\n")
        return await self.reply()

    async def reply(self) -> bytes:
        """The last line of the next reply; empty if the connection was closed."""
        while (line := await self.reader.readline())[3:4] == b"-":
            pass
        return line

    async def stream(self, chunk: bytes, octets: int) -> None:
        """Send a chunk again and again; `sent` counts the octets. Raises ConnectionError."""
        while self.sent < octets:
            self.writer.write(chunk)
            await self.writer.drain()
            self.sent += len(chunk)


HEADER = b"From: a@acme.example\r\nSubject: x\r\n\r\n"


async def data_lines(client: Client, octets: int) -> bytes:
    await client.ask(b"DATA")
    await client.stream(HEADER + (b"x" * 998 + b"\r\n") * 64, octets)
    return await client.ask(b"\r\n.")


async def data_one_line(client: Client, octets: int) -> bytes:
    await client.ask(b"DATA")
    client.writer.write(HEADER)
    await client.stream(b"x" * CHUNK, octets)
    return await client.ask(b"\r\n.")


async def bdat(client: Client, octets: int) -> bytes:
    """One chunk of this size, which the client announces."""
    client.writer.write(f"BDAT {octets} LAST\r\n".encode())
    await client.stream(b"x" * CHUNK, octets)
    return await client.reply()


WAYS: dict[str, Callable[[Client, int], Awaitable[bytes]]] = {
    "DATA, lines": data_lines,
    "DATA, one line": data_one_line,
    "BDAT, one chunk": bdat,
}


async def messages(server: Server, url: str, ports: dict[str, int], octets: int) -> bool:
    """Send messages that are too large to each port, and an ordinary message after each."""
    project, key, token = await asyncio.to_thread(server.project)
    await asyncio.to_thread(verified_domain, url, server, project, token)
    add_route(url, project)
    process = server.start("smtp")
    for port in ports.values():
        await asyncio.to_thread(wait_until_open, "127.0.0.1", port)
    is_bounded = True
    for name, port in ports.items():
        secret = key if name == "submission" else None
        await _ordinary(port, secret)
        for way, send in WAYS.items():
            before = peak_megabytes(process.pid)
            client = Client(port, secret)
            await client.begin()
            try:
                reply = await send(client, octets)
            except ConnectionError:
                reply = b""
            growth = peak_megabytes(process.pid) - before
            shown = reply.decode().strip()[:60] or "connection closed"
            print(f"{name:10} {way:16} {client.sent / 1e6:7.1f} MB sent, grows by {growth:.1f} MB; {shown}", flush=True)
            client.writer.transport.abort()
            is_bounded &= growth < GROWTH_LIMIT and not reply.startswith(b"2")
            is_bounded &= (await _ordinary(port, secret)).startswith(b"250")
    print(f"SMTP server: {peak_megabytes(process.pid):.0f} MB at most")
    return is_bounded


async def _ordinary(port: int, key: str | None) -> bytes:
    """Send an ordinary message; returns the reply to it."""
    client = Client(port, key)
    await client.begin()
    await client.ask(b"DATA")
    client.writer.write(HEADER + b"Hello\r\n")
    return await client.ask(b".")


async def run(megabytes: int) -> bool:
    """Measure both; returns whether the requirements are met."""
    octets = megabytes * 1_000_000
    with (
        tempfile.TemporaryDirectory() as name,
        run_embedded(Path(name) / "data") as database,
        reserved_port() as socket,
    ):
        url = database.url("postgres")
        migrate(url)
        port = socket.getsockname()[1]
        ports = {"inbound": free_port(), "submission": free_port()}
        async with dns_zone() as zone:
            server = Server(
                Path(name),
                url,
                POSTERN_TRANSPORT="direct",
                POSTERN_DIRECT_PORT=str(port),
                POSTERN_DNS=f"{zone.address}:{zone.port}",
                POSTERN_OUTBOUND_ALLOW="127.0.0.0/8",
                POSTERN_SEND_WAIT="0",
                POSTERN_INBOUND_PORT=str(ports["inbound"]),
                POSTERN_SUBMISSION_PORT=str(ports["submission"]),
                POSTERN_RETURN_PATH_DOMAIN="bounce.post.example",
            )
            zone.add("good.test", "MX", "10 mx.good.test.")
            zone.add("mx.good.test", "A", "127.0.3.200")
            good = await asyncio.start_server(_serve_well, "127.0.3.200", port)
            try:
                await asyncio.to_thread(server.start, "api")
                results = [await messages(server, url, ports, octets), await replies(server, url, zone, port, octets)]
            finally:
                good.close()
                await asyncio.to_thread(server.stop)
    return all(results)


async def _serve_well(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accept every message."""
    writer.write(b"220 mx.good.test ESMTP\r\n")
    try:
        while line := await reader.readline():
            verb = line[:4].upper().rstrip()
            writer.write(REPLIES.get(verb, b"221 bye\r\n" if verb == b"QUIT" else b"250 ok\r\n"))
            if verb == b"DATA":
                while (await reader.readline()) != b".\r\n":
                    pass
                writer.write(b"250 ok\r\n")
    except ConnectionError:
        pass
    finally:
        writer.close()


def main() -> None:
    """Send `argv[1]` megabytes each."""
    sys.exit(not asyncio.run(run(int(sys.argv[1]) if len(sys.argv) > 1 else MEGABYTES)))


if __name__ == "__main__":
    main()
