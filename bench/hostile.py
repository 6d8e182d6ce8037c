"""Templates written to hurt, eight at a time, beside an ordinary client that sends fifty mails a second.

Run: python -m bench.hostile [--mutations 500] [--seed 7] [--short]

Every input and its mutations go through every entry point that reads templates, subjects or builder documents, against
a real API and worker process and an SMTP sink. Held to:

H1  no API or worker process ends;
H2  `/healthz` answers within 200 ms (99 of 100);
H3  every mail of the ordinary client is delivered;
H4  the memory of the API and the worker stays flat: it ends below 1.5 times what it was after the first tenth;
H5  no answer is a 500.

`--short` takes each input and one mutation, through one entry point each, and asserts H1, H3 and
H5 alone. Exits with 1 when a figure is missed.
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

AT_ONCE = 8
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
    """Templates, as html, text or subject."""
    return [*DEEP.values(), *OBJECTS, *(make(20_000) for make in GROWING.values())]


def mutated(source: str, chance: random.Random) -> str:
    """The same text with a piece taken out, put twice, or changed."""
    for _ in range(chance.randint(1, 3)):
        start, end = sorted(chance.randrange(len(source) + 1) for _ in range(2))
        end = min(end, start + chance.choice([1, 2, 5, 100, 10_000]))
        piece = chance.choice(["", source[start:end] * 2, chance.choice("{}%#|()[]<>\"'&=- \n\0é")])
        source = source[:start] + piece + source[end:]
    return source[:400_000] or "{"


def requests(source: str) -> list[tuple[str, str, dict]]:
    """One input through every entry point: method, path below the project, body."""
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
    """The server, those who attack it, and the one who does not."""

    def __init__(self, folder: Path, mutations: int, seed: int) -> None:
        self.folder, self.mutations, self.chance = folder, mutations, random.Random(seed)
        self.short = mutations <= 1
        self.answers: Counter[int] = Counter()
        self.slow: list[float] = []
        self.health: list[float] = []
        self.memory: list[int] = []
        self.sent: list[str] = []

    def run(self) -> dict[str, tuple[str, bool]]:
        """What was seen of each rule, and whether it holds."""
        postgres = EmbeddedPostgres(self.folder / "data")
        url = postgres.start()
        ledger = self.folder / "ledger"
        ledger.touch()
        try:
            migrate(url)
            with sink(ledger) as port:
                server = Server(self.folder, url, **relay_environment(port))
                try:
                    parts = [server.start("api"), server.start("worker")]
                    hostile, ordinary = server.project(), server.project()
                    verified_domain(url, server, ordinary[0], ordinary[2])
                    verified_domain(url, server, hostile[0], hostile[2], "other.example")
                    asyncio.run(self._attack(server, hostile, ordinary, [each.pid for each in parts]))
                    missing = self._missing(ledger)
                    alive = [each.poll() is None for each in parts]
                finally:
                    server.stop()
        finally:
            postgres.stop()
        flat = self.memory[-1] <= 1.5 * self.memory[len(self.memory) // 10]
        p99 = percentile(self.health, 0.99)
        return {
            "H1": (f"{sum(alive)} of {len(alive)} processes alive", all(alive)),
            "H2": (f"/healthz p99 {p99:.0f} ms", p99 < HEALTH_LIMIT_MS),
            "H3": (f"{len(self.sent) - missing} of {len(self.sent)} ordinary mails delivered", not missing),
            "H4": (f"{self.memory[len(self.memory) // 10] >> 20} → {self.memory[-1] >> 20} MiB", flat),
            "H5": (f"answers {dict(sorted(self.answers.items()))}", not self.answers[500]),
        }

    async def _attack(self, server: Server, hostile: tuple, ordinary: tuple, pids: list[int]) -> None:
        async with httpx.AsyncClient(timeout=120, limits=httpx.Limits(max_connections=64)) as client:
            self.client, self.base = client, f"{server.base}/projects/{hostile[0]}"
            self.headers = {"authorization": f"Bearer {hostile[1]}"}
            made = await client.post(
                f"{self.base}/templates", json={"name": "x", "html": "{{ first }}"}, headers=self.headers
            )
            self.template = made.json()["id"]
            beside = [
                asyncio.create_task(self._send(server, ordinary)),
                asyncio.create_task(self._probe(server)),
                asyncio.create_task(self._watch(pids)),
            ]
            inputs = iter(self._inputs())
            await asyncio.gather(*(self._attacker(inputs) for _ in range(AT_ONCE)))
            for each in beside:
                each.cancel()
            await asyncio.gather(*beside, return_exceptions=True)

    def _inputs(self):
        for source in [*MJML.values(), *sources()]:
            for number in range(self.mutations + 1):
                wanted = requests(source if number == 0 else mutated(source, self.chance))
                # The input itself goes everywhere, its mutations through one entry point each.
                everywhere = number == 0 and not self.short
                yield from wanted if everywhere else [self.chance.choice(wanted)]

    def _progress(self) -> None:
        """Say on a terminal how far it is: in full it takes half an hour."""
        total = (len(MJML) + len(sources())) * (self.mutations + (1 if self.short else len(requests(""))))
        if sys.stderr.isatty():
            print(f"\r{len(self.slow):,} of {total:,} requests", end="", file=sys.stderr, flush=True)

    async def _attacker(self, inputs) -> None:
        for method, path, body in inputs:
            self._progress()
            started = time.monotonic()
            try:
                answer = await self.client.request(
                    method, f"{self.base}/{path.format(template=self.template)}", json=body, headers=self.headers
                )
                self.answers[answer.status_code] += 1
            except httpx.HTTPError:
                self.answers[0] += 1
            self.slow.append(time.monotonic() - started)

    async def _send(self, server: Server, ordinary: tuple) -> None:
        project, key, _ = ordinary
        headers = {"authorization": f"Bearer {key}", "prefer": "wait=0"}
        async with httpx.AsyncClient(timeout=120) as client:

            async def one(recipient: str) -> None:
                body = {
                    "from": "Acme <hello@acme.example>",
                    "to": [recipient],
                    "subject": "Hello {{name}}",
                    "html": "<p>Dear {{name}}, <a href='https://acme.example'>look</a>.</p>",
                    "variables": {"name": "Ada"},
                }
                answer = await client.post(f"{server.base}/projects/{project}/emails", json=body, headers=headers)
                if answer.status_code == 201:
                    self.sent.append(recipient)

            under_way: set[asyncio.Task] = set()
            number = 0
            try:
                while True:
                    number += 1
                    task = asyncio.create_task(one(f"ordinary{number}@example.org"))
                    under_way.add(task)
                    task.add_done_callback(under_way.discard)
                    await asyncio.sleep(1 / MAILS_PER_SECOND)
            finally:
                await asyncio.gather(*under_way, return_exceptions=True)

    async def _probe(self, server: Server) -> None:
        async with httpx.AsyncClient(timeout=30) as client:
            while True:
                started = time.monotonic()
                await client.get(f"{server.base}/healthz")
                self.health.append(time.monotonic() - started)
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
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="postern-hostile-") as folder:
        attack = Attack(Path(folder), 1 if given.short else given.mutations, given.seed)
        seen = attack.run()
    for rule, (what, holds) in seen.items():
        print(f"{rule}  {what}{'' if holds else '  MISSED'}")
    print(f"    hostile requests: p50 {percentile(attack.slow, 0.5):.0f} ms, slowest {max(attack.slow):.1f} s")
    held = [holds for rule, (_, holds) in seen.items() if not given.short or rule in {"H1", "H3", "H5"}]
    return 0 if all(held) else 1


if __name__ == "__main__":
    sys.exit(main())
