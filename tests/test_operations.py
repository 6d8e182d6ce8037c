"""The operations guide lists every setting and metric correctly."""

import re
from dataclasses import asdict
from datetime import timedelta
from pathlib import Path
from uuid import uuid4

import msgspec
import pytest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

import postern.app
from postern.instance_store import record_smtp_counters
from postern.kernel.config import DATABASE_URLS, Settings
from postern.kernel.database.statements import Jsonb
from postern.protocols.mail.smtp_server.session import SmtpCounters
from tests.conftest import Client

ROOT = Path(__file__).parent.parent
GUIDE = (ROOT / "docs/guide/operations.md").read_text()
ROWS = {
    name: row
    for row in GUIDE.splitlines()
    if row.startswith("| `")
    for name in re.findall(r"`([A-Z0-9_]+)`", row.split("|")[1])
}
METRICS = "http://postern.test/metrics"


@pytest.fixture
def local(app) -> Client:
    """A client on loopback."""
    return Client(app)


def variables() -> dict[str, msgspec.structs.FieldInfo]:
    """The settings by the name of their environment variable."""
    return {
        setting.name.upper() if setting.name in DATABASE_URLS else f"POSTERN_{setting.name.upper()}": setting
        for setting in msgspec.structs.fields(Settings)
    }


def test_the_guide_lists_exactly_the_settings():
    assert set(ROWS) == set(variables())


@pytest.mark.parametrize("name", sorted(variables()))
def test_the_guide_names_the_defaults(name):
    default = variables()[name].default
    if isinstance(default, timedelta):
        default = f"{default.total_seconds():.0f}"
    documented = re.findall(r"`([^`]+)`", ROWS[name].split("|")[2])
    if isinstance(default, int | str) and name != "POSTERN_DATA":
        assert str(default).lower() in documented
    names = re.findall(r"`([A-Z0-9_]+)`", ROWS[name].split("|")[1])
    if len(documented) == len(names) > 1:
        assert documented[names.index(name)] == str(default)


async def values(client: Client, **labels: str) -> dict[str, float]:
    """The values of all metrics, by name and labels."""
    response = await client.get(METRICS)
    assert response.status_code == 200
    return {
        name: float(value)
        for name, value in (line.rsplit(" ", 1) for line in response.text.splitlines() if not line.startswith("#"))
    }


async def test_every_metric_of_the_guide_exists(local, world, clock):
    await record_smtp_counters(world.db, id=uuid4(), now=clock(), counters=Jsonb({"inbound": asdict(SmtpCounters())}))
    await local.get("http://postern.test/projects")
    names = {re.split(r"[{]", name)[0] for name in await values(local)}
    rows = "\n".join(row.split("|")[1] for row in GUIDE.splitlines() if row.startswith("| `"))
    documented = set(re.findall(r"`((?:postern|process)_[a-z_]+)", rows))
    assert len(documented) == 17
    for name in documented:
        assert name in names or f"{name}_bucket" in names


async def test_waiting_work_and_workers_are_measured(local, project, world, clock):
    async with world.db.connection() as connection:
        await connection.execute("delete from workers")
        await connection.execute("insert into workers values (%s, %s, %s)", (uuid4(), clock(), clock()))
    before = await values(local)
    assert (before["postern_database_up"], before["postern_workers"]) == (1, 1)
    assert {f'postern_due_seconds{{work="{work.name}"}}' for work in postern.app.WORK} <= set(before)
    created = await project.client.post(
        "/emails",
        {"to": ["a@example.com"], "from": "a@acme.example", "subject": "Hi", "text": "Hello"},
        headers={"prefer": "wait=0"},
    )
    assert created.status_code == 201
    clock.move(timedelta(hours=2))
    later = await values(local)
    assert later["postern_workers"] == 0
    waits = [value for name, value in later.items() if name.startswith("postern_due_seconds")]
    assert max(waits) >= 3_600


async def test_metrics_require_loopback_or_the_token(app, world):
    remote = Client(app, ip="203.0.113.7")
    assert (await remote.get(METRICS)).status_code == 403
    world.settings = msgspec.structs.replace(world.settings, admin_token="a token for scraping")
    assert (await remote.get(METRICS, headers={"authorization": "Bearer another"})).status_code == 403
    scraped = await remote.get(METRICS, headers={"authorization": "Bearer a token for scraping"})
    assert scraped.status_code == 200
    # Prometheus rejects a media type with two charset parameters.
    assert scraped.headers.get_list("content-type") == [CONTENT_TYPE_LATEST]


PROXY_HEADERS = {
    "x-forwarded-for": "203.0.113.5",
    "x-forwarded-host": "mail.example.com",
    "x-forwarded-proto": "https",
    "x-forwarded-anything": "1",
    "forwarded": "for=203.0.113.5",
    "via": "1.1 proxy",
    "x-real-ip": "203.0.113.5",
    "cf-connecting-ip": "203.0.113.5",
    "true-client-ip": "203.0.113.5",
    "cdn-loop": "cloudflare",
}


@pytest.mark.parametrize("path", ["/metrics", "/zone"])
async def test_metrics_behind_a_proxy_require_the_token(local, world, path):
    """A local proxy's requests come from loopback, so a public base URL or a proxy header requires the token.

    Regression test of N2 (tests/defects.md).
    """
    page = f"http://postern.test{path}"
    token = {"authorization": "Bearer a token for scraping"}
    world.settings = msgspec.structs.replace(world.settings, admin_token="a token for scraping")
    for name, value in PROXY_HEADERS.items():
        assert (await local.get(page, headers={name: value})).status_code == 403, name
        assert (await local.get(page, headers={name: value, **token})).status_code == 200, name
    for base_url, status in (
        ("https://mail.example.com", 403),
        ("http://192.168.1.5:8025", 403),
        ("http://localhost:8025", 200),
        ("http://[::1]:8025", 200),
        ("http://127.0.0.1:8025", 200),
    ):
        world.settings = msgspec.structs.replace(world.settings, base_url=base_url)
        response = await local.get(page)
        assert response.status_code == status, base_url
        assert ("POSTERN_ADMIN_TOKEN" in response.text) == (status == 403)
        assert (await local.get(page, headers=token)).status_code == 200, base_url


async def test_metrics_report_an_unavailable_database(settings, clock):
    from postern.app import HOOKS, make_app
    from postern.world import open_world

    async with open_world(settings, "postgresql://127.0.0.1:1/none", HOOKS, clock=clock) as world:
        response = await values(Client(make_app(world)))
    assert response["postern_database_up"] == 0
