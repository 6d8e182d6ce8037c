"""The rate at which mail is received by SMTP, compared with Postfix and with a server that stores nothing.

Run: python -m bench.inbound [rounds]

PostgreSQL (durable), the SMTP server, its peers and the load share the machine and run one after the other, so only the
ratios are meaningful. The server receives messages to a route, which it parses, checks by SPF, DKIM and DMARC, and
stores; and bounces of sent messages to signed return paths, which change the state of the sent messages. Postfix writes
the same messages to its queue (with fsync), and discards them or delivers them to a Maildir; its smtp-sink drops them.
The rate of Postfix is that of accepted messages; the share of them that is in the Maildir at the end is printed.
"""

import asyncio
import os
import pwd
import shutil
import statistics
import sys
import tempfile
import time
from itertools import count, islice
from pathlib import Path
from uuid import UUID

import psycopg
import uvloop

from bench.emails import Server, free_port, percentile, quick_sink, sink, verified_domain
from bench.submission import cpu_seconds, expect
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from postern.kernel.values import new_id
from tests.peers.dns_zone import dns_zone
from tests.peers.mail_servers import postfix, wait_until_open

ROUNDS = 3
SECONDS = 6.0
CONNECTIONS = 32
SENT = 6_000
"""Number of messages that are sent first; the bounces report these as undeliverable."""
BATCH = 500
LONGEST_SECONDS = 120
ROUTE = "support@reply.example"
TEXT = "A line of ordinary text that goes on for a while, as lines in mail do.\r\n" * 40
numbers = count()


def message_to_route() -> tuple[str, str, str]:
    """Sender, recipient and content of a new message, with a Message-ID that no other has."""
    content = (
        f"From: Ada <ada@recipients.test>\r\nTo: {ROUTE}\r\nMessage-ID: <{next(numbers)}@recipients.test>\r\n"
        "Date: Tue, 03 Nov 2026 10:00:00 +0000\r\nSubject: A question\r\nMIME-Version: 1.0\r\n"
        f"Content-Type: text/plain; charset=utf-8\r\n\r\n{TEXT}"
    )
    return "ada@recipients.test", ROUTE, content


def bounce(recipient: str, return_path: str) -> tuple[str, str, str]:
    """Sender, recipient and content of a delivery status notification (RFC 3464) about a sent message."""
    content = (
        "From: MAILER-DAEMON@mx.recipients.test\r\n"
        f"To: {return_path}\r\nMessage-ID: <{next(numbers)}@mx.recipients.test>\r\nSubject: Undelivered Mail\r\n"
        "Date: Tue, 03 Nov 2026 10:00:00 +0000\r\nMIME-Version: 1.0\r\n"
        'Content-Type: multipart/report; report-type=delivery-status; boundary="b"\r\n\r\n'
        f"--b\r\n\r\nThe message could not be delivered.\r\n{TEXT}"
        "--b\r\nContent-Type: message/delivery-status\r\n\r\nReporting-MTA: dns; mx.recipients.test\r\n\r\n"
        f"Final-Recipient: rfc822; {recipient}\r\nAction: failed\r\nStatus: 5.1.1\r\n"
        "Diagnostic-Code: smtp; 550 5.1.1 No such user\r\n\r\n--b--\r\n"
    )
    return "", return_path, content


async def deliver(port: int, messages, seconds: float) -> tuple[float, list[float]]:
    """Deliver messages of an iterator on CONNECTIONS connections; returns messages per second and durations."""
    times: list[float] = []
    ends = time.perf_counter() + seconds

    async def repeat() -> None:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await expect(reader, b"220")
        writer.write(b"EHLO mx.recipients.test\r\n")
        await expect(reader, b"250")
        while time.perf_counter() < ends and (message := next(messages, None)) is not None:
            sender, recipient, content = message
            began = time.perf_counter()
            writer.write(f"MAIL FROM:<{sender}>\r\nRCPT TO:<{recipient}>\r\nDATA\r\n".encode())
            for code in (b"250", b"250", b"354"):
                await expect(reader, code)
            writer.write(content.encode() + b".\r\n")
            await expect(reader, b"250")
            times.append(time.perf_counter() - began)
        writer.close()

    began = time.perf_counter()
    await asyncio.gather(*(repeat() for _ in range(CONNECTIONS)))
    return len(times) / (time.perf_counter() - began), times


def measure(port: int, messages, seconds: float = SECONDS, process_id: int | None = None) -> tuple[float, str]:
    """Deliver messages; returns the rate, and a text with the rate, percentiles and CPU time."""
    used = cpu_seconds(process_id) if process_id else 0.0
    rate, times = uvloop.run(deliver(port, messages, seconds))
    text = f"{rate:,.0f}/s, p50 {percentile(times, 0.5):.1f} ms, p99 {percentile(times, 0.99):.1f} ms"
    if process_id:
        text += f", {(cpu_seconds(process_id) - used) * 1e6 / len(times):.0f} µs of the server's CPU time each"
    return rate, text


def send(server: Server, url: str, project: str, key: str, ledger: Path) -> list[tuple[str, str]]:
    """Send SENT messages; returns recipient and return path of each."""
    for start in range(0, SENT, BATCH):
        emails = [
            {"from": "a@acme.example", "to": [f"user{start + number}@recipients.test"], "subject": "x", "text": "x"}
            for number in range(BATCH)
        ]
        server.call("POST", f"/projects/{project}/emails/batch", {"emails": emails}, key)
    worker = server.start("worker")
    ends = time.monotonic() + LONGEST_SECONDS
    with psycopg.connect(url, autocommit=True) as connection:
        while connection.execute("select count(*) from sends where status = 'SENT'").fetchone() != (SENT,):
            assert time.monotonic() < ends, "The messages were not sent."
            time.sleep(0.2)
    worker.terminate()
    worker.wait(60)
    server.running.remove(worker)
    lines = [line.split("\t") for line in ledger.read_text().splitlines()]
    return [(recipient, sender) for recipient, _, sender in lines]


def add_route(url: str, project: str) -> None:
    """Insert a verified domain and a route for ROUTE."""
    ids = {"project": UUID(project), "domain": new_id(), "route": new_id()}
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            "insert into domains (project_id, id, domain, status, keys, watched_since, verified_at, created_at, "
            "updated_at) values (%(project)s, %(domain)s, 'reply.example', 'VERIFIED', '[]', now(), now(), now(), "
            "now())",
            ids,
        )
        connection.execute(
            "insert into inbound_routes (project_id, id, domain_id, name, domain, local_part, active, mx_status, "
            "mx_found, mx_checked_at, created_at, updated_at) values (%(project)s, %(route)s, %(domain)s, "
            "'Support', 'reply.example', 'support', true, 'PENDING', '{}', now(), now(), now())",
            ids,
        )


def stored(url: str) -> tuple[int, int]:
    """The number of received messages, and of messages that have bounced."""
    with psycopg.connect(url, autocommit=True) as connection:
        row = connection.execute(
            "select (select count(*) from inbound_messages), (select count(*) from sends where status = 'BOUNCED')"
        ).fetchone()
    assert row
    return row


def measure_rounds(server: Server, url: str, port: int, folder: Path, rounds: int) -> None:
    """Measure in turns, and print each result and the medians of the ratios."""
    ledger = folder / "ledger"
    ledger.touch()
    with sink(ledger) as relay_port:
        server.environment["POSTERN_RELAY"] = f"smtp://127.0.0.1:{relay_port}?tls=none&connections=10"
        server.start("api")
        project, key, token = server.project()
        verified_domain(url, server, project, token)
        add_route(url, project)
        bounces = iter([bounce(*sent) for sent in send(server, url, project, key, ledger)])
    process = server.start("smtp")
    wait_until_open("127.0.0.1", port)
    measure(port, iter(message_to_route, None), 1)
    ratios: dict[str, list[float]] = {}
    for number in range(rounds):
        before = stored(url)
        routed, text = measure(port, iter(message_to_route, None), process_id=process.pid)
        print(f"{'messages to a route':30} {text}")
        # A fast machine must not use up the sent messages before the last round.
        bounced, text = measure(port, islice(bounces, SENT // rounds), SECONDS / 3, process.pid)
        print(f"{'bounces':30} {text}")
        after = stored(url)
        assert after[0] > before[0], "Nothing was stored."
        assert after[1] > before[1], "Nothing bounced."
        with quick_sink() as (sink_port, name):
            limit, text = measure(sink_port, iter(message_to_route, None))
        print(f"{name:30} {text}", flush=True)
        ratios.setdefault(f"messages to a route beside {name}", []).append(routed / limit)
        if shutil.which("postfix") and os.geteuid() == 0:
            postfix_port = free_port()
            with postfix("127.0.0.1", postfix_port, {"default_transport": "discard:"}):
                measure(postfix_port, iter(message_to_route, None), 1)
                peer, text = measure(postfix_port, iter(message_to_route, None))
            print(f"{'Postfix, discards':30} {text}", flush=True)
            ratios.setdefault("messages to a route beside Postfix that discards", []).append(routed / peer)
            ratios.setdefault("bounces beside Postfix that discards", []).append(bounced / peer)
            peer = measure_local_delivery(folder / f"maildir{number}", postfix_port)
            ratios.setdefault("messages to a route beside Postfix that delivers", []).append(routed / peer)
            ratios.setdefault("bounces beside Postfix that delivers", []).append(bounced / peer)
    for name, values in ratios.items():
        print(f"{name}, median of {rounds}: {statistics.median(values):.2f}")


def measure_local_delivery(mailboxes: Path, port: int) -> float:
    """Messages per second that a Postfix accepts while it delivers them to a Maildir."""
    mailboxes.mkdir()
    shutil.chown(mailboxes, "nobody")
    ids = pwd.getpwnam("nobody")
    settings = {
        "virtual_mailbox_domains": ROUTE.partition("@")[2],
        "virtual_mailbox_base": mailboxes,
        "virtual_mailbox_maps": "static:support/",
        "virtual_minimum_uid": 1,
        "virtual_uid_maps": f"static:{ids.pw_uid}",
        "virtual_gid_maps": f"static:{ids.pw_gid}",
    }
    with postfix("127.0.0.1", port, settings):
        measure(port, iter(message_to_route, None), 1)
        before, began = delivered(mailboxes), time.perf_counter()
        rate, text = measure(port, iter(message_to_route, None))
        share = (delivered(mailboxes) - before) / (time.perf_counter() - began) / rate
    print(f"{'Postfix, delivers':30} {text}; {share:.2f} of it delivered at the end", flush=True)
    return rate


def delivered(mailboxes: Path) -> int:
    """The number of messages in the Maildir."""
    folder = mailboxes / "support" / "new"
    return sum(1 for _ in folder.iterdir()) if folder.exists() else 0


async def run(rounds: int) -> None:
    """Start what the measurements need, and measure."""
    with tempfile.TemporaryDirectory() as name, run_embedded(Path(name) / "data") as database:
        folder = Path(name)
        folder.chmod(0o755)
        url = database.url("postgres")
        migrate(url)
        port = free_port()
        async with dns_zone() as zone:
            server = Server(
                folder,
                url,
                POSTERN_INBOUND_PORT=str(port),
                POSTERN_RETURN_PATH_DOMAIN="bounce.post.example",
                POSTERN_DNS=f"{zone.address}:{zone.port}",
                POSTERN_OUTBOUND_ALLOW="127.0.0.0/8",
                POSTERN_TRANSPORT="relay",
                POSTERN_SEND_WAIT="0",
            )
            try:
                await asyncio.to_thread(measure_rounds, server, url, port, folder, rounds)
            finally:
                await asyncio.to_thread(server.stop)


def main() -> None:
    """Run `argv[1]` rounds."""
    asyncio.run(run(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))


if __name__ == "__main__":
    main()
