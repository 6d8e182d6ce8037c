"""The rate of mail to good sites while a bad site defers 80 % of its messages (451), compared with the rate without it.
A site is a group of mail servers that are limited together; here, each domain has one of its own.

Run: python -m bench.sites [rounds]

One worker sends directly to ten domains on loopback. Rounds without and with the bad site alternate, so only their
ratio is meaningful. The bad site gets as many messages as five good ones, mixed with theirs. All messages are queued
before the worker starts, and the mail servers reply slowly, so that they determine the rate.
"""

import asyncio
import statistics
import sys
import tempfile
import time
from pathlib import Path

from bench.emails import Server, verified_domain
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate
from tests.peers.dns_zone import dns_zone
from tests.peers.loopback_internet import LoopbackInternet, loopback_internet
from tests.peers.smtp_sink import Behaviour, Sink

ROUNDS = 3
GOOD_SITES = 10
MESSAGES = 200
"""Messages to each good site in a round."""
TO_BAD_SITE = 5 * MESSAGES
REPLY_SECONDS = 0.25
"""How long a server takes to accept a message."""
DEFERRED_SHARE = 0.8
SHAPING = "[direct]\nmessages_per_minute = 60000\n"
"""Higher than the default, so that the servers' replies and not the limits determine the rate."""
BATCH = 500


def queue(server: Server, project: str, key: str, addresses: list[str]) -> None:
    mail = {"from": "Acme <a@acme.example>", "subject": "Hello", "text": "Hello"}
    for start in range(0, len(addresses), BATCH):
        emails = [{**mail, "to": [address]} for address in addresses[start : start + BATCH]]
        server.call("POST", f"/projects/{project}/emails/batch", {"emails": emails}, key)


async def send_round(
    server: Server, tenant: tuple[str, str], internet: LoopbackInternet, name: str, bad: bool
) -> float:
    """Messages per second to the good sites, until they have all of theirs."""
    sinks: list[Sink] = []
    addresses: list[str] = []
    for number in range(GOOD_SITES):
        domain = f"good{number}-{name}.test"
        sinks.append(await internet.mail_server(domain, Behaviour(slow_seconds=REPLY_SECONDS, keep=False)))
        addresses += [f"a{message}@{domain}" for message in range(MESSAGES)]
    bad_sink = None
    if bad:
        behaviour = Behaviour(deferred_share=DEFERRED_SHARE, slow_seconds=REPLY_SECONDS)
        bad_sink = await internet.mail_server(f"bad-{name}.test", behaviour)
        addresses += [f"b{message}@bad-{name}.test" for message in range(TO_BAD_SITE)]
    addresses.sort(key=lambda address: hash((address, name)))
    await asyncio.to_thread(queue, server, *tenant, addresses)
    worker = server.start("worker")
    while not any(sink.accepted for sink in sinks):
        await asyncio.sleep(0.01)
    began, before = time.perf_counter(), sum(sink.accepted for sink in sinks)
    total = GOOD_SITES * MESSAGES
    while sum(sink.accepted for sink in sinks) < total:
        await asyncio.sleep(0.01)
    seconds = time.perf_counter() - began
    attempts = sum(command.startswith("RCPT") for command in bad_sink.commands) if bad_sink else 0
    print(
        f"{name}: {(total - before) / seconds:,.0f}/s to the good sites, {attempts} attempts at the bad site",
        flush=True,
    )
    worker.terminate()
    await asyncio.to_thread(worker.wait, 60)
    server.running.remove(worker)
    return (total - before) / seconds


async def main(rounds: int) -> None:
    with tempfile.TemporaryDirectory() as folder, run_embedded(Path(folder) / "pg") as postgres:
        url = postgres.url("postgres")
        migrate(url)
        shaping = Path(folder) / "shaping.toml"
        shaping.write_text(SHAPING)
        async with dns_zone() as zone, loopback_internet(zone) as internet:
            server = Server(
                Path(folder),
                url,
                POSTERN_TRANSPORT="direct",
                POSTERN_DIRECT_PORT=str(internet.port),
                POSTERN_DNS=f"{zone.address}:{zone.port}",
                POSTERN_OUTBOUND_ALLOW="127.0.0.0/8",
                POSTERN_SHAPING_FILE=str(shaping),
                POSTERN_SEND_WAIT="0",
            )
            try:
                await asyncio.to_thread(server.start, "api")
                project, key, token = await asyncio.to_thread(server.project)
                await asyncio.to_thread(verified_domain, url, server, project, token)
                ratios = []
                for number in range(rounds):
                    without = await send_round(server, (project, key), internet, f"{number}-without", False)
                    ratios.append(await send_round(server, (project, key), internet, f"{number}-with", True) / without)
                    print(f"ratio {ratios[-1]:.2f}", flush=True)
                print(f"median ratio {statistics.median(ratios):.2f}")
            finally:
                await asyncio.to_thread(server.stop)


if __name__ == "__main__":
    asyncio.run(main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS))
