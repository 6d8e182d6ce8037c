"""The side of Postern: a campaign with the newsletter."""

import time
from typing import Final

import psycopg

from bench.campaigns import newsletter, running
from bench.chaos_campaign import campaign_to, id_of
from bench.emails import relay_environment, verified_domain
from bench.peers.running import Measurement, counting_sink, measure_at
from bench.processes import processes, seconds_by_part

SIGNATURES: Final = {
    "RSA and Ed25519": None,
    "RSA": "update domains set ed25519_verified = false where project_id = %s",
    "unsigned": "update domains set keys = '[]' where project_id = %s",
}
"""What a campaign is signed with, and how to get that in the database. No operation turns signing off."""


def parts() -> dict[str, float]:
    """The processor time of Postern's processes and its database so far. The sink is measured apart."""
    seconds = seconds_by_part(processes())
    return {part: used for part, used in seconds.items() if part not in ("sink", "other")}


def campaign(count: int, signatures: str) -> Measurement:
    """Send a campaign with one worker, until every message is recorded as sent."""
    with counting_sink() as sink, running(**relay_environment(sink.port)) as (server, url):
        project, key, token = server.project()
        verified_domain(url, server, project, token)
        with psycopg.connect(url, autocommit=True) as connection:
            if statement := SIGNATURES[signatures]:
                connection.execute(statement, [project])
            path = campaign_to(url, server, project, key, count, html=newsletter())
            server.start("worker")
            time.sleep(3)

            def finish() -> None:
                query = "select count(sent_at) from sends where campaign_id = %s"
                while connection.execute(query, [id_of(path)]).fetchone() != (count,):
                    time.sleep(0.02)

            return measure_at(sink, count, parts, lambda: server.call("POST", f"{path}/send", None, key), finish)
