"""Hostile templates from eight concurrent clients, while an ordinary client sends fifty mails per second.

Run: python -m bench.hostile [--mutations 500] [--seed 7] [--short]

Every input is sent to every operation that takes templates, subjects or builder documents, and every mutation of it to
one of them. The API and the worker are real processes, with an SMTP sink. Required:

H1  no API or worker process ends;
H2  `/healthz` responds within 200 ms (99 % of the requests);
H3  every mail of the ordinary client is delivered;
H4  the memory of the API and the worker at the end is below 1.5 times that after the first tenth;
H5  no response is a 500.

`--short` sends each input and one mutation to one operation each, and requires only H1, H3 and H5. The exit status is 1
if a requirement is not met.
"""

import argparse
import asyncio
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import httpx

from bench.emails import Server, percentile, relay_environment, sink, verified_domain
from postern.kernel.database.embedded import EmbeddedPostgres
from postern.kernel.database.migrations import migrate
from tests.messaging.templates.test_hostile import DEEP, GROWING, MJML

ATTACKERS = 8
MAILS_PER_SECOND = 50
HEALTH_LIMIT_MS = 200
DELIVERED_WITHIN_SECONDS = 120
OBJECTS = [
    "{% set range = l.extend %}" + "{{ range(l) }}" * 24,
    "{{ l.append }}{{ m.update }}",
    "{{ range('a') }}",
    "{{ l|map('indent', 1000000)|list }}",
    "{% for x in l %}{{ big|replace('a', 'bb')|replace('b', 'aa')|length }}{% endfor %}",
]
VARIABLES = {"a": "x", "l": [1] * 200, "m": {"a": 1}, "xs": ["b", "a"], "big": "a" * 100_000}


def sources() -> list[str]:
    """The hostile templates; each is used as html, text and subject."""
    return [*DEEP.values(), *OBJECTS, *(make(20_000) for make in GROWING.values())]


def mutated(source: str, chance: random.Random) -> str:
    """The text with one to three random pieces removed, doubled or replaced."""
    for _ in range(chance.randint(1, 3)):
        start, end = sorted(chance.randrange(len(source) + 1) for _ in range(2))
        end = min(end, start + chance.choice([1, 2, 5, 100, 10_000]))
        piece = chance.choice(["", source[start:end] * 2, chance.choice("{}%#|()[]<>\"'&=- \n\0é")])
        source = source[:start] + piece + source[end:]
    return source[:400_000] or "{"


def requests(source: str) -> list[tuple[str, str, dict]]:
    """A request with this input for every operation: method, path below the project, body."""
    mail = {"from": "Acme <a@other.example>", "to": ["sink@example.org"], "subject": "s", "variables": VARIABLES}
    steps = [{"type": "SEND_EMAIL", "templateId": "0" * 32, "fromEmail": "a@other.example", "subject": source[:2_000]}]
    return [
        ("POST", "emails", {**mail, "html": source}),
        ("POST", "emails", {**mail, "text": source}),
        ("POST", "emails", {**mail, "subject": source[:2_000], "text": "t"}),
        ("POST", "emails/batch", {"emails": [{**mail, "html": source}, {**mail, "text": source}]}),
        ("POST", "templates", {"name": "x", "html": source}),
        ("POST", "templates", {"name": "x", "text": source, "subject": source[:2_000]}),
        ("POST", "templates", {"name": "x", "builderJson": {"mjml": source}}),
        ("POST", "templates", {"name": "x", "builderJson": {"blocks": [{"type": "html", "html": source}]}}),
        ("PATCH", "templates/{template}", {"html": source}),
        ("POST", "templates/{template}/preview", {"variables": {**VARIABLES, "first": source[:100_000]}}),
        ("POST", "campaigns", {"name": "x", "subject": source[:2_000], "previewText": source[:500]}),
        ("POST", "automations", {"name": "x", "trigger": {"type": "CONTACT_CREATED"}, "steps": steps}),
    ]


class Attack:
    """Runs the server, the attackers and the ordinary client, and checks the requirements."""

    def __init__(self, folder: Path, mutations: int, seed: int) -> None:
        self.folder, self.mutations, self.chance = folder, mutations, random.Random(seed)
        self.short = mutations <= 1
        self.statuses: Counter[int] = Counter()
        """Responses by status; 0 for no response."""
        self.durations: list[float] = []
        """Seconds of each hostile request."""
        self.health_durations: list[float] = []
        self.memory: list[int] = []
        """Resident octets of the API and the worker, every half second."""
        self.sent: list[str] = []
        """Recipients of the accepted mails of the ordinary client."""

    def run(self) -> dict[str, tuple[str, bool]]:
        """For each requirement, the measured values and whether it is met."""
        postgres = EmbeddedPostgres(self.folder / "data")
        url = postgres.start()
        ledger = self.folder / "ledger"
        ledger.touch()
        try:
            migrate(url)
            with sink(ledger) as port:
                server = Server(self.folder, url, **relay_environment(port))
                try:
                    processes = [server.start("api"), server.start("worker")]
                    hostile, ordinary = server.project(), server.project()
                    verified_domain(url, server, ordinary[0], ordinary[2])
                    verified_domain(url, server, hostile[0], hostile[2], "other.example")
                    asyncio.run(self._attack(server, hostile, ordinary, [process.pid for process in processes]))
                    missing = self._missing(ledger)
                    alive = [process.poll() is None for process in processes]
                finally:
                    server.stop()
        finally:
            postgres.stop()
        is_flat = self.memory[-1] <= 1.5 * self.memory[len(self.memory) // 10]
        p99 = percentile(self.health_durations, 0.99)
        return {
            "H1": (f"{sum(alive)} of {len(alive)} processes alive", all(alive)),
            "H2": (f"/healthz p99 {p99:.0f} ms", p99 < HEALTH_LIMIT_MS),
            "H3": (f"{len(self.sent) - missing} of {len(self.sent)} ordinary mails delivered", not missing),
            "H4": (f"{self.memory[len(self.memory) // 10] >> 20} → {self.memory[-1] >> 20} MiB", is_flat),
            "H5": (f"responses {dict(sorted(self.statuses.items()))}", not self.statuses[500]),
        }

    async def _attack(self, server: Server, hostile: tuple, ordinary: tuple, pids: list[int]) -> None:
        async with httpx.AsyncClient(timeout=120, limits=httpx.Limits(max_connections=64)) as client:
            self.client, self.base = client, f"{server.base}/projects/{hostile[0]}"
            self.headers = {"authorization": f"Bearer {hostile[1]}"}
            created = await client.post(
                f"{self.base}/templates", json={"name": "x", "html": "{{ first }}"}, headers=self.headers
            )
            self.template = created.json()["id"]
            background = [
                asyncio.create_task(self._send(server, ordinary)),
                asyncio.create_task(self._probe(server)),
                asyncio.create_task(self._watch(pids)),
            ]
            inputs = iter(self._inputs())
            await asyncio.gather(*(self._attacker(inputs) for _ in range(ATTACKERS)))
            for task in background:
                task.cancel()
            await asyncio.gather(*background, return_exceptions=True)

    def _inputs(self):
        for source in [*MJML.values(), *sources()]:
            for number in range(self.mutations + 1):
                candidates = requests(source if number == 0 else mutated(source, self.chance))
                # The input itself is sent to all operations, each mutation to one of them.
                to_all = number == 0 and not self.short
                yield from candidates if to_all else [self.chance.choice(candidates)]

    def _progress(self) -> None:
        """Print the progress on a terminal: the full run takes half an hour."""
        total = (len(MJML) + len(sources())) * (self.mutations + (1 if self.short else len(requests(""))))
        if sys.stderr.isatty():
            print(f"\r{len(self.durations):,} of {total:,} requests", end="", file=sys.stderr, flush=True)

    async def _attacker(self, inputs) -> None:
        for method, path, body in inputs:
            self._progress()
            started = time.monotonic()
            try:
                response = await self.client.request(
                    method, f"{self.base}/{path.format(template=self.template)}", json=body, headers=self.headers
                )
                self.statuses[response.status_code] += 1
            except httpx.HTTPError:
                self.statuses[0] += 1
            self.durations.append(time.monotonic() - started)

    async def _send(self, server: Server, ordinary: tuple) -> None:
        project, key, _ = ordinary
        headers = {"authorization": f"Bearer {key}", "prefer": "wait=0"}
        async with httpx.AsyncClient(timeout=120) as client:

            async def send_one(recipient: str) -> None:
                body = {
                    "from": "Acme <hello@acme.example>",
                    "to": [recipient],
                    "subject": "Hello {{name}}",
                    "html": "<p>Dear {{name}}, <a href='https://acme.example'>look</a>.</p>",
                    "variables": {"name": "Ada"},
                }
                response = await client.post(f"{server.base}/projects/{project}/emails", json=body, headers=headers)
                if response.status_code == 201:
                    self.sent.append(recipient)

            pending: set[asyncio.Task] = set()
            number = 0
            try:
                while True:
                    number += 1
                    task = asyncio.create_task(send_one(f"ordinary{number}@example.org"))
                    pending.add(task)
                    task.add_done_callback(pending.discard)
                    await asyncio.sleep(1 / MAILS_PER_SECOND)
            finally:
                await asyncio.gather(*pending, return_exceptions=True)

    async def _probe(self, server: Server) -> None:
        async with httpx.AsyncClient(timeout=30) as client:
            while True:
                started = time.monotonic()
                await client.get(f"{server.base}/healthz")
                self.health_durations.append(time.monotonic() - started)
                await asyncio.sleep(0.05)

    async def _watch(self, pids: list[int]) -> None:
        while True:
            pages = [int(Path(f"/proc/{pid}/statm").read_text().split()[1]) for pid in pids]
            self.memory.append(sum(pages) * resource.getpagesize())
            await asyncio.sleep(0.5)

    def _missing(self, ledger: Path) -> int:
        ends = time.monotonic() + DELIVERED_WITHIN_SECONDS
        while True:
            delivered = {line.partition("\t")[0] for line in ledger.read_text().splitlines()}
            missing = len(set(self.sent) - delivered)
            if not missing or time.monotonic() > ends:
                return missing
            time.sleep(0.5)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--mutations", type=int, default=500)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--short", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="postern-hostile-") as folder:
        attack = Attack(Path(folder), 1 if options.short else options.mutations, options.seed)
        results = attack.run()
    for rule, (values, is_met) in results.items():
        print(f"{rule}  {values}{'' if is_met else '  MISSED'}")
    print(
        f"    hostile requests: p50 {percentile(attack.durations, 0.5):.0f} ms, slowest {max(attack.durations):.1f} s"
    )
    met = [is_met for rule, (_, is_met) in results.items() if not options.short or rule in {"H1", "H3", "H5"}]
    return 0 if all(met) else 1


if __name__ == "__main__":
    sys.exit(main())
