"""Whether the host name of hosted pages (`settings.signIn.pagesDomain`) can be used: what its developer must do."""

import json
from datetime import timedelta
from ipaddress import ip_network
from uuid import uuid4

import msgspec
import pytest

from postern.kernel.values import new_id
from postern.messaging.certificates import names, store
from postern.messaging.certificates.authority import authority_of
from postern.messaging.certificates.operations import PAGES_CHECK_RATE
from postern.messaging.certificates.pages_domains import PagesDomains
from tests.peers.http_receiver import Reply, http_receiver

HOST = "post.example.net"
"""The host of the base URL."""


@pytest.fixture
def server():
    """Further settings of the server."""
    return {}


@pytest.fixture
def settings(settings, server):
    return msgspec.structs.replace(settings, **{"base_url": f"https://{HOST}", **server})


@pytest.fixture
def domain():
    """A domain that no other test has."""
    return f"{uuid4().hex[:12]}.example"


@pytest.fixture
async def name(project, zone, domain):
    """The `pagesDomain` of the project, below a verified domain."""
    created = (await project.client.post("/domains", {"domain": domain})).json()
    for record in created["records"]:
        zone.add(record["name"], record["type"], record["value"])
    assert (await project.client.post(f"/domains/{created['id']}/verify")).json()["status"] == "VERIFIED"
    changed = await project.developer.patch("", {"settings": {"signIn": {"pagesDomain": f"login.{domain}"}}})
    assert changed.status_code == 200, changed.text
    zone.add(HOST, "A", "192.0.2.1", "192.0.2.2")
    return f"login.{domain}"


async def status_of(project):
    response = await project.developer.get("/pages-domain")
    assert response.status_code == 200, response.text
    return response.json()


async def record_of(project):
    return (await status_of(project))["record"]


async def test_a_project_without_a_name_has_no_status(project, zone):
    missing = await project.developer.get("/pages-domain")
    assert (missing.status_code, missing.json()["code"]) == (404, "pages_domain_missing")
    assert "pagesDomain" in missing.json()["detail"]
    assert zone.count() == 0


async def test_the_record_is_looked_up_for_each_request(project, zone, world, name):
    expected = {"type": "CNAME", "name": name, "value": HOST, "purpose": "PAGES", "required": True}
    await world.resources[PagesDomains].reload()
    status = await status_of(project)
    assert (status["name"], status["domainVerified"], status["certificate"]) == (name, True, None)
    assert status["inUse"] is True, "behind a proxy, the name is used as soon as it is set"
    assert status["record"].items() >= {**expected, "status": "PENDING", "found": []}.items()

    zone.add(name, "CNAME", "old.example.org.")
    assert (await record_of(project)).items() >= {"status": "WRONG", "found": ["old.example.org"]}.items()
    zone.add("old.example.org", "A", "192.0.2.2")
    assert (await record_of(project))["status"] == "VERIFIED", "an alias of this server"
    zone.set(name, "CNAME", f"{HOST}.")
    assert await record_of(project) == {**expected, "status": "VERIFIED", "found": [HOST], "reason": None}

    zone.set(name, "A", "192.0.2.1")
    zone.remove(name, "CNAME")
    assert (await record_of(project)).items() >= {"status": "VERIFIED", "found": ["192.0.2.1"]}.items()
    zone.add(name, "AAAA", "2001:db8::1")
    wrong = await record_of(project)
    assert (wrong["status"], wrong["found"]) == ("WRONG", ["2001:db8::1", "192.0.2.1"])
    assert wrong["reason"] == f"{name} resolves to 2001:db8::1 and not only to this server, {HOST}."


@pytest.mark.parametrize("server", [{"outbound_allow": (ip_network("127.0.0.0/8"),)}])
async def test_a_name_behind_a_cdn_is_verified_if_this_server_answers_there(project, zone, world, name, monkeypatch):
    zone.add(name, "A", "127.0.0.1")
    path = f"/projects/{project.id}/.well-known/openid-configuration"
    await world.resources[PagesDomains].reload()
    async with http_receiver() as cdn:
        base_url = f"http://{HOST}:{cdn.port}"
        monkeypatch.setattr(world, "settings", msgspec.structs.replace(world.settings, base_url=base_url))
        issuer = f"{base_url}/projects/{project.id}"
        for reply in (
            Reply(body=b"A page of the CDN"),
            Reply(body=b'["issuer"]'),
            Reply(body=b'{"issuer": "\xff"}'),
            Reply(body=b'{"issuer": ' + b"[" * 10_000),
            Reply(body=json.dumps({"issuer": f"{base_url}/projects/{new_id()}"}).encode()),
            Reply(status=404, body=json.dumps({"issuer": issuer}).encode()),
            Reply(status=302, headers={"Location": f"{issuer}/.well-known/openid-configuration"}),
        ):
            cdn.script(path, reply)
            assert (await record_of(project))["status"] == "WRONG", reply
        for status in (200, 503):
            cdn.script(path, Reply(body=json.dumps({"issuer": issuer}).encode()))
            cdn.script("/readyz", Reply(status=status))
            assert (await record_of(project))["status"] == "WRONG", "the proxy sends another Host"
        cdn.script(path, Reply(body=json.dumps({"issuer": issuer}).encode()))
        cdn.script("/readyz", Reply(status=404))
        record = await record_of(project)
        assert (record["status"], record["found"], record["reason"]) == ("VERIFIED", ["127.0.0.1"], None)
        assert cdn.received(path)[-1].headers["host"].partition(":")[0] == name
        cdn.script(path, Reply(body=json.dumps({"issuer": issuer}).encode(), delay=30))
        monkeypatch.setattr(names, "PAGES_PROBE_TIME", timedelta(milliseconds=50))
        assert (await record_of(project))["status"] == "WRONG", "it does not answer in time"


@pytest.mark.parametrize("question", ["CNAME", "A", "of the server", "too slow"])
async def test_a_failed_lookup_is_not_a_missing_record(project, zone, name, monkeypatch, question):
    zone.add(name, "A", "192.0.2.1")
    if question == "of the server":
        zone.servfail(HOST)
    elif question == "too slow":
        monkeypatch.setattr(names, "PAGES_CHECK_TIME", timedelta(seconds=0))
    else:
        zone.servfail(name, question)
    record = await record_of(project)
    assert (record["status"], record["found"]) == ("UNKNOWN", [])
    assert record["reason"]


async def test_a_domain_that_is_no_longer_verified_stops_the_name(project, zone, world, name):
    zone.add(name, "CNAME", f"{HOST}.")
    async with world.db.connection() as connection:
        await connection.execute("update domains set status = 'DEGRADED' where project_id = %s", [project.id])
    await world.resources[PagesDomains].reload()
    status = await status_of(project)
    assert (status["domainVerified"], status["certificate"], status["inUse"]) == (False, None, False)
    assert status["record"]["status"] == "VERIFIED"


@pytest.mark.parametrize(
    "server", [{"https_port": 0, "acme_terms_agreed": True, "acme_directory": "https://ca.test/1"}]
)
async def test_the_name_is_used_once_it_has_a_certificate(project, world, clock, name):
    names_of_pages = world.resources[PagesDomains]
    await names_of_pages.reload()
    status = await status_of(project)
    assert (status["certificate"]["name"], status["certificate"]["status"]) == (name, "PENDING")
    assert status["inUse"] is False
    account, now = await authority_of(world).account(), clock()
    async with world.db.transaction() as tx:
        await store.insert_certificate(
            tx, account_id=account.id, id=new_id(), name=name, counted_for=None, now=now + timedelta(days=99)
        )
    async with world.db.connection() as connection:
        row = "update certificates set {} where name = %s"
        await connection.execute(row.format("problem = 'No address.', failures = 1"), [name])
        failed = (await status_of(project))["certificate"]
        assert (failed["status"], failed["problem"], failed["expiresAt"]) == ("FAILED", "No address.", None)
        issued = "problem = null, failures = 0, chain = 'x', private_key = 'x', issued_at = %s, renew_at = %s"
        moments = [now, now + timedelta(days=60), now + timedelta(days=90)]
        await connection.execute(row.format(f"{issued}, expires_at = %s"), [*moments, name])
    await names_of_pages.reload()
    status = await status_of(project)
    assert (status["certificate"]["status"], status["inUse"]) == ("ISSUED", True)
    async with world.db.connection() as connection:
        await connection.execute("delete from certificates where name = %s", [name])


@pytest.mark.parametrize("server", [{"base_url": "http://127.0.0.1:8025"}])
async def test_no_record_leads_to_a_server_without_a_name(project, zone, name):
    before = zone.count()
    assert (await status_of(project))["record"] is None
    assert zone.count() == before


async def test_only_who_reads_the_project_reads_the_status(project, zone, name, new_project):
    other = await new_project()
    before = zone.count()
    assert (await other.developer.get(f"/projects/{project.id}/pages-domain")).status_code == 404
    assert (await (await project.key("domains:read")).get("/pages-domain")).status_code == 403
    assert (await (await project.key("contacts:read", type="PUBLISHABLE")).get("/pages-domain")).status_code == 403
    assert zone.count() == before
    allowed = await (await project.key("projects:read")).get("/pages-domain")
    assert allowed.json()["name"] == name


async def test_the_lookups_of_a_project_are_limited(project, zone, name, clock):
    zone.add(name, "CNAME", f"{HOST}.")
    for _ in range(PAGES_CHECK_RATE.quota):
        assert (await project.developer.get("/pages-domain")).status_code == 200
    before = zone.count()
    limited = await project.developer.get("/pages-domain")
    assert (limited.status_code, "Retry-After" in limited.headers) == (429, True)
    assert zone.count() == before
    clock.move(PAGES_CHECK_RATE.window)
    assert (await record_of(project))["status"] == "VERIFIED"
