"""Domains whose records are aliases into a zone that the service keeps."""

import msgspec
import pytest

from tests.domains.test_domains import by_purpose, publish


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, dns_zone="post.example.net", sending_addresses=("192.0.2.10",))


async def test_records_are_aliases_and_verified_through_to_the_key(project, zone):
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    records = by_purpose(domain)
    assert {record["type"] for purpose, record in records.items() if purpose != "DMARC"} == {"CNAME"}
    assert records["DKIM"]["value"] == f"{domain['dkimTokens'][0]}.dkim.post.example.net"
    assert (records["RETURN_PATH"]["name"], records["RETURN_PATH"]["value"]) == (
        "bounce.example.com",
        "bounce.post.example.net",
    )
    publish(zone, domain)
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (seen["status"], by_purpose(seen)["DKIM"]["status"]) == ("PENDING", "PENDING"), "an alias to nothing"
    assert by_purpose(seen)["RETURN_PATH"]["status"] == "VERIFIED"
    assert seen["spfVerified"] is False
