"""A campaign whose worker is killed and whose database is restarted: one send per contact, correct counters.

Run: python -m bench.chaos_campaign [--contacts 100000] [--kills 20] [--restarts 2] [--seed 7]

The sink records every recipient on disk before it replies. Processes are killed (`kill -9`) when the sink has received
certain numbers of messages, which depend on the seed, so all kills are during the campaign. At the end:

I1  the campaign is SENT, and every contact got at least one copy;
I2  copies ≤ 1 + recorded ambiguous attempts, for every message;
I3  one send per contact;
I4  the counters equal a recount.
"""

import signal
import sys
import time
from collections import Counter
from pathlib import Path

import psycopg

from bench.chaos import Chaos, open_folder, run_from_command_line
from bench.emails import HTML, Server, relay_environment, sink, verified_domain
from postern.kernel.database.migrations import migrate

QUIET_SECONDS = 600
"""How long a campaign may take after the last kill; this includes the leases of killed workers."""


class CampaignChaos(Chaos):
    """Sends one campaign, kills processes meanwhile, and checks the result."""

    def __init__(self, folder: Path, contacts: int, kills: int, restarts: int, seed: int) -> None:
        super().__init__(folder, contacts, 0, kills, seed)
        self.restarts = restarts

    def run(self) -> dict[str, int]:
        url = self.postgres.start()
        migrate(url)
        ledger = self.folder / "ledger"
        ledger.touch()
        with sink(ledger) as port:
            self.server = Server(self.folder, url, **relay_environment(port), POSTERN_LEASE="4")
            try:
                self.parts = {"api": self.server.start("api"), "worker": self.server.start("worker")}
                self.project, self.key, token = self.server.project()
                verified_domain(url, self.server, self.project, token)
                campaign = campaign_to(url, self.server, self.project, self.key, self.messages)
                self.server.call("POST", f"{campaign}/send", None, self.key)
                self._kill_during_campaign(ledger)
                self._wait_until_sent(url, campaign)
                return self._check_campaign(url, ledger, campaign)
            finally:
                self.server.stop()
                self.postgres.stop()

    def _kill_during_campaign(self, ledger: Path) -> None:
        victims = ["worker"] * self.kills + ["database"] * self.restarts
        self.chance.shuffle(victims)
        points = sorted(self.chance.uniform(0, 0.9) * self.messages for _ in victims)
        for victim, point in zip(victims, points, strict=True):
            self._wait_for(ledger, point)
            if victim == "database":
                self._restart_database()
            else:
                self._kill_worker()
            self.killed[victim] += 1

    def _wait_for(self, ledger: Path, count: float) -> None:
        ends = time.monotonic() + QUIET_SECONDS
        while (received := ledger.read_bytes().count(b"\n")) < count:
            assert time.monotonic() < ends, f"only {received} messages were received"
            time.sleep(0.05)

    def _kill_worker(self) -> None:
        worker = self.parts["worker"]
        worker.send_signal(signal.SIGKILL)
        worker.wait()
        self.server.running.remove(worker)
        self.parts["worker"] = self.server.start("worker")

    def _wait_until_sent(self, url: str, campaign: str) -> None:
        ends = time.monotonic() + QUIET_SECONDS
        status = None
        while time.monotonic() < ends:
            with psycopg.connect(url) as connection:
                row = connection.execute("select status from campaigns where id = %s", [id_of(campaign)]).fetchone()
            status = row[0] if row else None
            if status not in ("SENDING", "TESTING"):
                break
            time.sleep(0.3)
        assert status == "SENT", f"I1: the campaign is {status}"

    def _check_campaign(self, url: str, ledger: Path, campaign: str) -> dict[str, int]:
        copies = Counter(line.split("\t")[1] for line in ledger.read_text().splitlines())
        with psycopg.connect(url) as connection:
            rows = connection.execute(
                "select message_id, contact_id, status, ambiguous_attempts, sent_at from sends where campaign_id = %s",
                [id_of(campaign)],
            ).fetchall()
            counted = connection.execute(
                "select measure, sum(count)::int from send_counters where campaign_id = %s group by 1",
                [id_of(campaign)],
            ).fetchall()
        assert len({row[1] for row in rows}) == len(rows) == self.messages, f"I3: {len(rows)} sends"
        lost = [row for row in rows if row[2] != "SENT" or copies[row[0]] < 1]
        assert not lost, f"I1: {len(lost)} contacts got nothing, such as {lost[:3]}"
        unaccounted = [row for row in rows if copies[row[0]] > 1 + row[3]]
        assert not unaccounted, (
            f"I2: {len(unaccounted)} messages with more copies than allowed, such as {unaccounted[:3]}"
        )
        stored = {measure: count for measure, count in counted if count}
        recounted = {"SENT": len(rows), "sent": sum(row[4] is not None for row in rows)}
        assert stored == recounted, f"I4: the counters are {stored}, a recount gives {recounted}"
        return {
            "contacts": self.messages,
            "copies": (copy_count := sum(copies[row[0]] for row in rows)),
            "duplicates": copy_count - len(rows),
            "ambiguous": sum(row[3] for row in rows),
            "killed_worker": self.killed["worker"],
            "restarted_database": self.killed["database"],
        }


def campaign_to(url: str, server: Server, project: str, key: str, contacts: int, *, html: str = HTML) -> str:
    """Create a campaign to an audience with this number of new contacts; returns its path."""
    base = f"/projects/{project}"
    audience = server.call("POST", f"{base}/audiences", {"name": "All"}, key)["id"]
    content = {"name": "News", "html": html, "subject": "Hello {{name}}"}
    template = server.call("POST", f"{base}/templates", content, key)["id"]
    domain = server.call("GET", f"{base}/domains", None, key)[0]["id"]
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute(
            """
            with inserted as (
                insert into contacts (project_id, id, email, email_key, attributes, created_at, updated_at)
                select %(project)s::uuid, gen_random_uuid(), 'user' || n || '@example.org', 'user' || n ||
                       '@example.org', jsonb_build_object('name', 'User ' || n), now(), now()
                from generate_series(1, %(contacts)s) as n returning id
            )
            insert into audience_members (project_id, audience_id, contact_id, joined_at)
            select %(project)s, %(audience)s, id, now() from inserted
            """,
            {"project": project, "audience": audience, "contacts": contacts},
        )
        connection.execute("analyze contacts")
        connection.execute("analyze audience_members")
    body = {
        "name": "News",
        "fromName": "Acme",
        "fromEmail": "news@acme.example",
        "templateId": template,
        "domainId": domain,
        "audienceId": audience,
    }
    return f"{base}/campaigns/{server.call('POST', f'{base}/campaigns', body, key)['id']}"


def id_of(campaign: str) -> str:
    """The identifier at the end of a path."""
    return campaign.rpartition("/")[2]


def run(contacts: int, kills: int, restarts: int, seed: int) -> dict[str, int]:
    """Run the test once; returns its counts. Raises AssertionError with the violated invariant."""
    with open_folder() as folder:
        return CampaignChaos(folder, contacts, kills, restarts, seed).run()


def main() -> None:
    run_from_command_line(run, contacts=100_000, kills=20, restarts=2, seed=7)


if __name__ == "__main__":
    sys.exit(main())
