"""Metadata with a URL is fetched regularly, and certificate changes at the provider are applied."""

from datetime import timedelta
from ipaddress import ip_network

import pytest

from postern.kernel.config import Settings
from tests.identity.sso.conftest import query_of
from tests.peers.identity_provider import IdentityProvider, keys

DAY = timedelta(days=1)


@pytest.fixture
def settings(tmp_path, zone):
    return Settings(
        data=tmp_path,
        secret="a secret that all tests of one run have in common",
        database_pool=8,
        dns=(f"{zone.address}:{zone.port}",),
        outbound_allow=(ip_network("127.0.0.0/8"),),
    )


@pytest.fixture
async def served(acme, run_due_work):
    """An active connection whose provider publishes its metadata."""
    acme.idp = IdentityProvider("https://served.example/metadata", now=acme.clock())
    with acme.idp.serving() as base:
        body = {"name": "Served", "domain": acme.domain["domain"], "idpMetadataUrl": f"{base}/metadata"}
        created = await acme.client.post(acme.connections_path, body)
        assert created.status_code == 201, created.text
        acme.connection = created.json()
        assert (await acme.client.post(f"{acme.connection_path}/activate")).status_code == 200
        await run_due_work()
        yield acme


async def connection_after(acme, run_due_work, clock, time):
    """Move the clock by `time` and run the worker. Returns the connection."""
    clock.move(time)
    await run_due_work()
    return (await acme.client.get(acme.connection_path)).json()


async def test_a_new_certificate_replaces_the_pinned_one(served, run_due_work, clock):
    old, new = served.idp.keys, keys("rolled-over")
    served.idp.keys = new
    before = await connection_after(served, run_due_work, clock, DAY - timedelta(minutes=1))
    assert before["idpCertificate"] == [old.pem]
    after = await connection_after(served, run_due_work, clock, timedelta(minutes=1))
    assert (after["idpCertificate"], after["idpMetadataProblem"]) == ([new.pem], None)
    assert after["idpMetadataReadAt"] > before["idpMetadataReadAt"]
    assert after["updatedAt"] > before["updatedAt"]
    (event,) = await served.directory.events("sso.metadata_changed")
    assert event["data"]["changed"] == ["idpCertificate"]
    await served.browser().sign_in(served.address())
    served.idp.keys = old
    refused = await served.browser().sign_on(served.address())
    assert (refused.status_code, "UNKNOWN_CERTIFICATE" in refused.text) == (403, True)


async def test_an_unknown_certificate_triggers_a_metadata_refresh(served, run_due_work, clock):
    clock.move(timedelta(minutes=10))
    served.idp.keys = keys("rolled-over")
    refused = await served.browser().sign_on(served.address())
    assert "UNKNOWN_CERTIFICATE" in refused.text
    await run_due_work()
    assert "code" in query_of(await served.browser().sign_on(served.address()))
    served.idp.keys = keys("rolled-over-again")
    await served.browser().sign_on(served.address())
    await run_due_work()
    assert "UNKNOWN_CERTIFICATE" in (await served.browser().sign_on(served.address())).text, (
        "the URL is fetched at most every ten minutes"
    )


async def test_unchanged_metadata_changes_nothing(served, run_due_work, clock):
    before = (await served.client.get(served.connection_path)).json()
    after = await connection_after(served, run_due_work, clock, DAY)
    assert after == before | {"idpMetadataReadAt": after["idpMetadataReadAt"]}
    assert await served.directory.events("sso.metadata_changed") == []


PROBLEMS = {
    "another entity id": lambda idp: setattr(idp, "entity_id", "https://other.example"),
    "only an expired certificate": lambda idp: setattr(idp, "keys", keys("long-gone", not_after=idp.now - DAY)),
    "nonsense": lambda idp: setattr(idp, "metadata", lambda: b"<nonsense/>"),
    "too large": lambda idp: setattr(idp, "metadata", lambda: b"<" + b"x" * 200_000),
}


@pytest.mark.parametrize("problem", PROBLEMS)
async def test_invalid_metadata_is_ignored_and_reported_once(served, run_due_work, clock, problem):
    before = (await served.client.get(served.connection_path)).json()
    entity_id, idp_keys, metadata = served.idp.entity_id, served.idp.keys, served.idp.metadata
    PROBLEMS[problem](served.idp)
    failing = await connection_after(served, run_due_work, clock, DAY)
    assert failing == before | {"idpMetadataProblem": failing["idpMetadataProblem"]}
    assert failing["idpMetadataProblem"]
    assert await served.directory.events("sso.metadata_failing") == []
    for _ in range(3):
        await connection_after(served, run_due_work, clock, DAY)
    (event,) = await served.directory.events("sso.metadata_failing")
    assert event["data"]["problem"] == failing["idpMetadataProblem"]
    served.idp.entity_id, served.idp.keys, served.idp.metadata = entity_id, idp_keys, metadata
    assert (await connection_after(served, run_due_work, clock, timedelta(hours=1)))["idpMetadataProblem"] is None
    await served.browser().sign_in(served.address())


async def test_metadata_is_not_fetched_after_its_url_was_removed(served, run_due_work, clock):
    changed = await served.change(idpMetadataUrl=None)
    assert (changed["idpMetadataUrl"], changed["idpMetadataReadAt"]) == (None, None)
    served.idp.keys = keys("rolled-over")
    after = await connection_after(served, run_due_work, clock, 3 * DAY)
    assert after["idpCertificate"] == changed["idpCertificate"]


async def test_an_unavailable_metadata_url_is_retried(acme, run_due_work, clock):
    acme.idp = IdentityProvider("https://served.example/metadata", now=acme.clock())
    with acme.idp.serving() as base:
        await acme.connect(active=False, idpMetadataUrl=f"{base}/metadata")
    connection = await connection_after(acme, run_due_work, clock, DAY)
    assert "could not be fetched" in connection["idpMetadataProblem"]
    assert connection["idpCertificate"] == acme.connection["idpCertificate"]
