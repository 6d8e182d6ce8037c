"""Domains whose records are CNAMEs into the service's zone."""

import re
from datetime import timedelta

import msgspec
import pytest

from tests.conftest import Client
from tests.messaging.domains.test_domains import by_purpose, publish


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(
        settings,
        dns_zone="post.example.net",
        sending_addresses=("192.0.2.10",),
        base_url="https://mail.postern.example",
        admin_token="a token for the zone",
    )


ADMIN = {"authorization": "Bearer a token for the zone"}


async def test_cname_records_are_verified_up_to_the_key(project, zone):
    domain = (await project.client.post("/domains", {"domain": "example.com"})).json()
    records = by_purpose(domain)
    assert {record["type"] for purpose, record in records.items() if purpose != "DMARC"} == {"CNAME"}
    assert records["DKIM"]["value"] == f"{domain['dkimTokens'][0]}.dkim.post.example.net"
    assert (records["RETURN_PATH"]["name"], records["RETURN_PATH"]["value"]) == (
        "bounce.example.com",
        "bounce.post.example.net",
    )
    publish(zone, domain)
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (checked["status"], by_purpose(checked)["DKIM"]["status"]) == ("PENDING", "PENDING"), (
        "the target of the CNAME does not exist yet"
    )
    assert by_purpose(checked)["RETURN_PATH"]["status"] == "VERIFIED"
    assert checked["spfVerified"] is False
    zone_file = await project.client.get("http://postern.test/zone", headers=ADMIN)
    assert zone_file.headers["content-type"].startswith("text/dns")
    zone.load(re.sub(r" 3600 IN ", " ", zone_file.text))
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (checked["status"], checked["dkimVerified"], checked["spfVerified"]) == ("VERIFIED", True, True)
    assert {record["status"] for record in checked["records"]} == {"VERIFIED"}
    assert by_purpose(checked)["TRACKING"]["value"] == "links.post.example.net"


async def test_keys_rotate_automatically(project, zone, clock, run_due_work):
    async def serve_zone_file():
        text = (await project.client.get("http://postern.test/zone", headers=ADMIN)).text
        zone.records = dict(owner_records)
        zone.load(re.sub(r" 3600 IN ", " ", text))

    domain = (await project.client.post("/domains", {"domain": "turning.example.org"})).json()
    publish(zone, domain)
    owner_records = dict(zone.records)
    await serve_zone_file()
    await run_due_work()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "VERIFIED"
    keys = [served_key(zone, token) for token in domain["dkimTokens"]]
    clock.move(timedelta(days=181))
    await run_due_work()
    rotated = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert rotated["dkimTokens"] == domain["dkimTokens"][::-1]
    await serve_zone_file()
    assert [served_key(zone, token) for token in domain["dkimTokens"]] == keys, "both stay published"
    clock.move(timedelta(days=8))
    await run_due_work()
    await serve_zone_file()
    assert served_key(zone, domain["dkimTokens"][0]) != keys[0]
    assert served_key(zone, domain["dkimTokens"][1]) == keys[1]
    clock.move(timedelta(days=1))
    await run_due_work()
    checked = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert checked["status"] == "VERIFIED"
    assert {by_purpose(checked)[purpose]["status"] for purpose in ("DKIM", "DKIM_NEXT")} == {"VERIFIED"}


def served_key(zone, token):
    return zone.records[f"{token}.dkim.post.example.net", "TXT"]


async def test_the_zone_file_needs_the_admin_token(app):
    other_client = Client(app, ip="203.0.113.9")
    assert (await other_client.http.get("/zone")).status_code == 403
