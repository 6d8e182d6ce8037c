"""Certificates are ordered from a real ACME server, renewed, and served by name."""

import asyncio
import ssl
from datetime import UTC, datetime, timedelta

import msgspec
import pytest
from cryptography import x509

from postern.cli.certificates import diagnose
from postern.kernel.values import as_id, new_id
from postern.messaging.certificates import store, work
from postern.messaging.certificates.authority import authority_of
from postern.messaging.certificates.model import (
    CHECK_RETRY,
    DOMAIN_WINDOW,
    FIRST_RETRY,
    LEASE,
    MAX_RETRY_DELAY,
    ORDERS_PER_DOMAIN,
    ORDERS_WINDOW,
    RENEWAL_CHECK,
    REPORT_AFTER,
    UNREACHABLE_RETRY,
)
from postern.messaging.certificates.pages_domains import PagesDomains, pages_url
from postern.messaging.certificates.work import plan_certificates, run_certificate
from tests.messaging.certificates.conftest import HOST, serve
from tests.peers.pebble import DAYS, needs_pebble

pytestmark = needs_pebble


async def handshake(port: int, name: str | None, context: ssl.SSLContext) -> x509.Certificate:
    """The certificate that a client gets that asks for a name and checks the chain."""
    reader, writer = await asyncio.open_connection("127.0.0.1", port, ssl=context, server_hostname=name)
    try:
        der = writer.get_extra_info("ssl_object").getpeercert(binary_form=True)
        writer.write(f"GET /healthz HTTP/1.1\r\nHost: {name}\r\nConnection: close\r\n\r\n".encode())
        assert (await reader.read(65_536)).startswith(b"HTTP/1.1 200")
    finally:
        writer.close()
    return x509.load_der_x509_certificate(der)


async def certificate_of(world, name):
    account = await authority_of(world).account()
    return next(row for row in await store.certificates_of_name(world.db, name=name) if row.account_id == account.id)


async def verified_domain(project, world, zone, domain):
    """A sending domain with the records that this server expects."""
    created = (await project.client.post("/domains", {"domain": domain})).json()
    for record in created["records"]:
        zone.add(record["name"], record["type"], record["value"])
    verified = (await project.client.post(f"/domains/{created['id']}/verify")).json()
    assert verified["status"] == "VERIFIED"
    assert next(r for r in verified["records"] if r["purpose"] == "TRACKING")["status"] == "VERIFIED"
    return created["id"]


async def test_the_own_name_and_tracking_names_get_certificates(project, world, zone, pebble, server, run_due_work):
    domain_id = await verified_domain(project, world, zone, "shop.example")
    assert (await project.client.get(f"/domains/{domain_id}/certificates")).json() == []
    await plan_certificates(world)
    [waiting] = (await project.client.get(f"/domains/{domain_id}/certificates")).json()
    assert (waiting["name"], waiting["status"], waiting["expiresAt"]) == ("links.shop.example", "PENDING", None)

    await run_due_work()
    [issued] = (await project.client.get(f"/domains/{domain_id}/certificates")).json()
    assert (issued["status"], issued["problem"]) == ("ISSUED", None)
    life = datetime.fromisoformat(issued["expiresAt"]) - datetime.now(UTC)
    assert timedelta(days=DAYS - 1) < life <= timedelta(days=DAYS)
    [event] = (await project.client.get("/events?type=domain.certificate_issued")).json()["data"]
    assert event["data"]["name"] == "links.shop.example"

    await server.served.reload()
    trusted = await asyncio.to_thread(pebble.client_context)
    for name in (HOST, "links.shop.example"):
        leaf = await handshake(server.https_port, name, trusted)
        names = leaf.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
        assert names.get_values_for_type(x509.DNSName) == [name]
    with pytest.raises((ssl.SSLError, ConnectionError)):
        await handshake(server.https_port, "other.example", trusted)
    stored = await certificate_of(world, HOST)
    assert stored.token is None
    assert b"PRIVATE KEY" not in stored.private_key


async def test_the_host_of_pages_is_in_urls_once_it_has_a_certificate(project, world, zone, pebble, run_due_work):
    domain_id = await verified_domain(project, world, zone, "pages.example")
    zone.add("login.pages.example", "CNAME", f"{HOST}.")
    change = {"settings": {"signIn": {"pagesDomain": "login.pages.example"}}}
    assert (await project.developer.patch("", change)).status_code == 200
    domains, project_id = world.resources[PagesDomains], as_id(project.id)
    await domains.reload()
    assert (domains.project_of("login.pages.example"), domains.name_of(project_id)) == (project_id, None)
    async with serve(world, world.settings.acme_http_port):
        await plan_certificates(world)
        await run_due_work()
    names = (await project.client.get(f"/domains/{domain_id}/certificates")).json()
    assert {row["name"]: row["status"] for row in names}["login.pages.example"] == "ISSUED"
    await domains.reload()
    assert pages_url(world, project_id) == f"https://login.pages.example/projects/{project.id}"


async def orders_of(world, name):
    """The number of orders of a name that were counted."""
    async with world.db.connection() as connection:
        cursor = await connection.execute("select count(*) from certificate_orders where name = %s", [name])
        return (await cursor.fetchone())[0]


async def issue(world, run_due_work, name=HOST):
    """Order what is due; returns the row of a name."""
    await plan_certificates(world)
    await run_due_work()
    return await certificate_of(world, name)


async def test_a_renewed_certificate_is_served_without_a_restart(world, clock, pebble, server, run_due_work):
    first = await issue(world, run_due_work)
    await server.served.reload()
    trusted = await asyncio.to_thread(pebble.client_context)
    before = await handshake(server.https_port, HOST, trusted)

    # Pebble suggests a time within a day of two thirds.
    clock.move(timedelta(days=DAYS * 2 / 3 - 2))
    await run_due_work()
    assert (await certificate_of(world, HOST)).issued_at == first.issued_at
    clock.move(timedelta(days=3))
    await run_due_work()
    renewed = await certificate_of(world, HOST)
    assert renewed.issued_at > first.issued_at
    assert renewed.private_key != first.private_key
    await server.served.reload()
    assert (await handshake(server.https_port, HOST, trusted)).serial_number != before.serial_number


async def test_a_failed_validation_is_tried_again_after_an_hour(project, world, zone, clock, http_port, run_due_work):
    """Nobody listens where the authority asks."""
    world.settings = msgspec.structs.replace(world.settings, acme_self_test=False)
    domain_id = await verified_domain(project, world, zone, "shop.example")
    failed = await issue(world, run_due_work, "links.shop.example")
    assert failed.order_url is None
    assert failed.due_at == clock() + FIRST_RETRY
    [shown] = (await project.client.get(f"/domains/{domain_id}/certificates")).json()
    assert shown["status"] == "FAILED"
    assert "(connection)" in shown["problem"]
    clock.move(FIRST_RETRY / 2)
    await run_due_work()
    assert await orders_of(world, "links.shop.example") == 1
    assert (await project.client.get("/events?type=domain.certificate_failed")).json()["data"] == []

    clock.move(REPORT_AFTER)
    await run_due_work()
    clock.move(FIRST_RETRY * 2)
    await run_due_work()
    [event] = (await project.client.get("/events?type=domain.certificate_failed")).json()["data"]
    assert event["data"] | {"problem": ""} == {
        "domain": "shop.example",
        "name": "links.shop.example",
        "expiresAt": None,
        "problem": "",
    }
    clock.move(MAX_RETRY_DELAY)
    async with serve(world, http_port):
        await run_due_work()
    [shown] = (await project.client.get(f"/domains/{domain_id}/certificates")).json()
    assert (shown["status"], shown["problem"]) == ("ISSUED", None)


async def test_the_authority_is_not_asked_for_names_of_other_servers(project, world, zone, server, run_due_work):
    await verified_domain(project, world, zone, "shop.example")
    zone.remove("links.shop.example")
    zone.add("links.shop.example", "A", "127.0.0.1", "192.0.2.7")
    refused = await issue(world, run_due_work, "links.shop.example")
    assert refused.problem == (f"links.shop.example resolves to 192.0.2.7 and not only to this server, {HOST}.")
    assert await orders_of(world, "links.shop.example") == 0

    zone.remove("links.shop.example")
    world.clock.move(CHECK_RETRY)
    await run_due_work()
    assert (await certificate_of(world, "links.shop.example")).problem == "links.shop.example does not exist."


async def test_the_authority_is_not_asked_if_another_server_answers(world, http_port, run_due_work):
    async def respond(reader, writer):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nConnection: close\r\n\r\nhello")
        writer.close()

    async with await asyncio.start_server(respond, "127.0.0.1", http_port):
        refused = await issue(world, run_due_work)
    assert "is not answered by this server" in refused.problem
    world.clock.move(CHECK_RETRY)
    await run_due_work()
    assert "cannot be reached" in (await certificate_of(world, HOST)).problem
    assert await orders_of(world, HOST) == 0


async def test_a_tracking_domain_needs_a_verified_domain(project, world, zone, server, run_due_work):
    zone.add("go.shop.example", "CNAME", HOST)
    zone.add("go.other.example", "CNAME", HOST)
    await verified_domain(project, world, zone, "shop.example")
    for name, expected in (
        ("go.other.example", False),
        ("Go.Shop.example", True),
        ("evilshop.example", False),
        ("a:80.shop.example", False),
    ):
        changed = await project.developer.patch(
            f"http://postern.test/projects/{project.id}", {"settings": {"trackingDomain": name}}
        )
        assert changed.status_code == 200, changed.text
        await issue(world, run_due_work)
        assert bool(await certificate_of_any(world, name.lower())) is expected


async def certificate_of_any(world, name):
    return await store.certificates_of_name(world.db, name=name)


async def test_an_unreachable_authority_is_asked_again(world, clock, pebble, server, run_due_work):
    await asyncio.to_thread(pebble.stop)
    failed = await issue(world, run_due_work)
    assert "cannot be reached" in failed.problem
    assert failed.due_at == clock() + UNREACHABLE_RETRY
    await asyncio.to_thread(pebble.start)
    clock.move(UNREACHABLE_RETRY)
    await run_due_work()
    assert (await certificate_of(world, HOST)).failures == 0


async def test_an_account_that_the_authority_has_lost_is_registered_again(world, clock, pebble, server, run_due_work):
    first = await issue(world, run_due_work)
    await asyncio.to_thread(pebble.stop)
    await asyncio.to_thread(pebble.start)
    clock.move(timedelta(days=DAYS - 20))
    await run_due_work()
    assert "(accountDoesNotExist)" in (await certificate_of(world, HOST)).problem
    clock.move(FIRST_RETRY)
    await run_due_work()
    renewed = await certificate_of(world, HOST)
    assert renewed.issued_at > first.issued_at
    assert renewed.problem is None


async def test_a_killed_worker_is_followed_by_another_with_the_same_order(world, clock, http_port, run_due_work):
    """The first worker dies after it has ordered, before the authority has asked."""
    world.settings = msgspec.structs.replace(world.settings, acme_self_test=False)
    asked = asyncio.Event()

    async def stall(_reader, _writer):
        asked.set()
        await asyncio.Event().wait()

    stalling = await asyncio.start_server(stall, "127.0.0.1", http_port)
    await plan_certificates(world)
    worker = asyncio.create_task(run_due_work())
    await asked.wait()
    worker.cancel()
    await asyncio.gather(worker, return_exceptions=True)
    killed = await certificate_of(world, HOST)
    assert killed.order_url
    assert killed.due_at == clock() + LEASE
    stalling.close()
    clock.move(LEASE)
    async with serve(world, http_port):
        await run_due_work()
        # What the authority asked of the killed worker's server failed, so that a new order may be needed.
        clock.move(FIRST_RETRY)
        await run_due_work()
    finished = await certificate_of(world, HOST)
    assert finished.chain
    await run_certificate(world, killed)
    assert await certificate_of(world, HOST) == finished


async def test_two_workers_order_once(world, server, run_due_work):
    await plan_certificates(world)
    await asyncio.gather(run_due_work(), run_due_work())
    assert (await certificate_of(world, HOST)).chain
    assert await orders_of(world, HOST) == 1


async def test_orders_wait_for_the_limits_of_the_authority(world, clock, server, run_due_work):
    account = await authority_of(world).account()
    async with world.db.transaction() as tx:
        for number in range(ORDERS_PER_DOMAIN):
            await store.insert_order(
                tx,
                account_id=account.id,
                id=new_id(),
                name=f"n{number}.{HOST}",
                registered_domain=HOST,
                counted_for=None,
                ordered_at=clock(),
            )
    waiting = await issue(world, run_due_work)
    assert waiting.problem.startswith(f"{ORDERS_PER_DOMAIN} certificates below {HOST} were ordered")
    assert (waiting.failures, waiting.due_at) == (0, clock() + FIRST_RETRY)
    clock.move(DOMAIN_WINDOW)
    await run_due_work()
    assert (await certificate_of(world, HOST)).chain


async def test_one_project_leaves_orders_to_the_others(
    project, new_project, world, zone, clock, server, run_due_work, monkeypatch
):
    """Orders of new names are limited for each project; one for two projects counts for one that has orders left."""
    monkeypatch.setattr(work, "ORDERS_PER_PROJECT", 2)
    other = await new_project()
    for number in range(4):
        await verified_domain(project, world, zone, f"shop{number}.example")
    await verified_domain(other, world, zone, "other.example")
    await plan_certificates(world)
    await run_due_work()
    names = [f"links.shop{number}.example" for number in range(4)]
    certificates = [await certificate_of(world, name) for name in names]
    assert sum(certificate.chain is not None for certificate in certificates) == 2
    waiting = [certificate for certificate in certificates if certificate.chain is None]
    for certificate in waiting:
        assert certificate.problem.startswith("2 certificates of the project were ordered within three hours.")
        assert (certificate.failures, certificate.due_at) == (0, clock() + FIRST_RETRY)
    assert (await certificate_of(world, "links.other.example")).chain
    assert (await certificate_of(world, HOST)).chain
    shared = waiting[0].name
    await verified_domain(other, world, zone, shared.removeprefix("links."))
    clock.move(FIRST_RETRY)
    await run_due_work()
    assert (await certificate_of(world, shared)).chain
    assert (await certificate_of(world, waiting[1].name)).chain is None
    clock.move(ORDERS_WINDOW)
    await run_due_work()
    assert (await certificate_of(world, waiting[1].name)).chain


async def test_a_project_cannot_use_up_the_places_of_all_with_changing_names(
    project, new_project, world, zone, server, run_due_work, monkeypatch
):
    """The place of a name that the project no longer uses is taken until its certificate expires."""
    monkeypatch.setattr(work, "NAMES_PER_PROJECT", 2)
    for number in range(4):
        domain_id = await verified_domain(project, world, zone, f"shop{number}.example")
        await plan_certificates(world)
        await run_due_work()
        assert (await project.client.delete(f"/domains/{domain_id}")).status_code == 200
    for number, is_issued in ((0, True), (1, True), (2, False), (3, False)):
        assert bool(await certificate_of_any(world, f"links.shop{number}.example")) is is_issued
    await verified_domain(await new_project(), world, zone, "other.example")
    await plan_certificates(world)
    await run_due_work()
    assert (await certificate_of(world, "links.other.example")).chain


async def test_a_name_that_no_project_uses_gets_no_further_certificate(
    project, world, zone, clock, server, run_due_work
):
    domain_id = await verified_domain(project, world, zone, "shop.example")
    issued = await issue(world, run_due_work, "links.shop.example")
    assert (await project.client.delete(f"/domains/{domain_id}")).status_code == 200
    clock.move(timedelta(days=DAYS - 20))
    await run_due_work()
    unused = await certificate_of(world, "links.shop.example")
    # A project may use it again before it expires.
    assert (unused.issued_at, unused.due_at) == (issued.issued_at, clock() + RENEWAL_CHECK)
    clock.move(timedelta(days=21))
    await run_due_work()
    assert await certificate_of_any(world, "links.shop.example") == []
    assert await orders_of(world, "links.shop.example") == 1


async def test_the_operator_renews_and_revokes(world, clock, pebble, server, run_due_work):
    first = await issue(world, run_due_work)
    authority = authority_of(world)
    assert not await authority.renew("other.example")
    assert await authority.renew(HOST)
    clock.move(timedelta(minutes=1))
    await run_due_work()
    second = await certificate_of(world, HOST)
    assert second.issued_at > first.issued_at
    await authority.revoke(second)
    serial = x509.load_pem_x509_certificates(second.chain.encode())[0].serial_number
    assert await asyncio.to_thread(pebble.status_of, serial) == "Revoked"
    await run_due_work()
    assert (await certificate_of(world, HOST)).chain not in (None, second.chain)
    results = [str(result) async for result in diagnose(world)]
    assert [line.split()[0] for line in results] == ["ok", "ok", "ok"]


async def test_another_authority_in_the_settings_gets_new_orders(world, server, run_due_work):
    await issue(world, run_due_work)
    first = await certificate_of(world, HOST)
    world.settings = msgspec.structs.replace(world.settings, acme_directory=world.settings.acme_directory + "?2")
    world.resources.clear()
    world.clock.move(timedelta(days=DAYS))
    second = await issue(world, run_due_work)
    assert second.account_id != first.account_id
    assert second.chain
    rows = await certificate_of_any(world, HOST)
    assert next(row for row in rows if row.account_id == first.account_id).due_at is None


async def test_a_proxy_may_ask_for_names(project, world, zone, stranger):
    await verified_domain(project, world, zone, "shop.example")
    for name, status in (
        (HOST, 200),
        ("Links.Shop.example.", 200),
        ("shop.example", 404),
        ("other.example", 404),
        ("\u00fc.example", 404),
        ("x\0.example", 404),
        ("", 404),
        ("x" * 300, 400),
    ):
        response = await stranger.http.get("/.well-known/postern/tls-allowed", params={"domain": name})
        assert response.status_code == status, (name, response.text)
    assert (await stranger.http.get("/.well-known/postern/tls-allowed")).status_code == 400
    assert (await stranger.http.get("/.well-known/acme-challenge/x")).status_code == 404
    assert (await stranger.http.get("/.well-known/acme-challenge/" + "x" * 43)).status_code == 404
