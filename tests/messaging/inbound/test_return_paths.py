"""The return paths of domains whose records lead into the service's zone."""

import re
from uuid import UUID

import msgspec
import pytest

from postern.kernel.outbound.ssrf import read_networks
from tests.messaging.domains.test_domains import publish
from tests.messaging.inbound.test_receiving import deliver, dsn, entry, port, send_one, sink, unsubscribe_addresses

__all__ = ["port", "sink"]


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(
        settings,
        outbound_allow=tuple(read_networks("127.0.0.0/8, ::1/128")),
        dns_zone="post.example.net",
        sending_addresses=("192.0.2.10",),
        inbound_port=25,
        mx_host="mx.example.net",
    )


async def test_a_domain_has_its_own_return_path_once_its_record_leads_here(project, zone, sink, port, stranger):
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    return_path_record = next(record for record in domain["records"] if record["purpose"] == "RETURN_PATH")
    publish(zone, {**domain, "records": [other for other in domain["records"] if other != return_path_record]})
    zone.load(re.sub(r" 3600 IN ", " ", (await stranger.http.get("/zone")).text))
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    relays = [{"host": "127.0.0.1", "port": sink.port, "tls": "none"}]
    await project.developer.patch("", {"settings": {"transport": "relay", "relays": relays}})
    sent, _, return_path, _ = await send_one(project, sink)
    assert re.fullmatch(rf"b-{UUID(sent['id']).hex}-\w{{16}}@bounce\.post\.example\.net", return_path)
    publish(zone, {**domain, "records": [return_path_record]})
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["status"] == "VERIFIED"
    sent, address, return_path, raw = await send_one(project, sink, unsubscribable=True)
    assert return_path.endswith("@bounce.example.com")
    assert unsubscribe_addresses(raw)[0].endswith("@bounce.example.com")
    assert await deliver(port, [return_path], dsn(address)) == ([250], 250)
    assert (await entry(project, sent["id"]))["status"] == "BOUNCED"
    assert await deliver(port, ["fbl@bounce.post.example.net"], dsn(address, raw)) == ([250], 250)
    assert await deliver(port, ["fbl@bounce.example.com"], dsn(address, raw)) == ([550], None)
