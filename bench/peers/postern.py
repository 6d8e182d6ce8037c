"""The side of Postern: a campaign with the newsletter, and a server for requests."""

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import psycopg

from bench.campaigns import newsletter, running
from bench.chaos_campaign import campaign_to, id_of
from bench.emails import Server, relay_environment, verified_domain
from bench.peers.running import Measurement, Seconds, counting_sink, measure_at, scratch, seconds_of
from bench.processes import processes, seconds_by_part
from postern.kernel.database.embedded import run_embedded
from postern.kernel.database.migrations import migrate

SIGNATURES: Final = {"RSA and Ed25519": "rsa+ed25519", "RSA": "rsa", "unsigned": "none"}
"""What a campaign is signed with, and the setting POSTERN_DKIM for it."""

CONNECTIONS: Final = 40
"""Connections of a campaign to the sink: of 10, 20, 40 and 80, these gave the highest rate."""


def parts() -> dict[str, float]:
    """The processor time of Postern's processes and its database so far. The sink is measured apart."""
    seconds = seconds_by_part(processes())
    return {part: used for part, used in seconds.items() if part not in ("sink", "other")}


@contextmanager
def served() -> Iterator[tuple[Server, str, Seconds]]:
    """`postern serve` with an API process for each core; yields the server, its database, and their processor time."""
    with scratch() as folder, run_embedded(folder / "data") as database:
        url = database.url()
        migrate(url)
        server = Server(folder, url)
        try:
            process = server.start("serve", f"--api-processes={os.cpu_count()}")
            assert database.pid
            yield server, url, seconds_of(Postern=process.pid, PostgreSQL=database.pid)
        finally:
            server.stop()


def campaign(count: int, signatures: str) -> Measurement:
    """Send a campaign with one worker, until every message is recorded as sent."""
    settings = {"POSTERN_DKIM": SIGNATURES[signatures]}
    with counting_sink() as sink, running(**relay_environment(sink.port, CONNECTIONS), **settings) as (server, url):
        project, key, token = server.project()
        verified_domain(url, server, project, token)
        with psycopg.connect(url, autocommit=True) as connection:
            path = campaign_to(url, server, project, key, count, html=newsletter())
            server.start("worker")
            time.sleep(3)

            def finish() -> None:
                query = "select count(sent_at) from sends where campaign_id = %s"
                while connection.execute(query, [id_of(path)]).fetchone() != (count,):
                    time.sleep(0.02)

            return measure_at(sink, count, parts, lambda: server.call("POST", f"{path}/send", None, key), finish)
