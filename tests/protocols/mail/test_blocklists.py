"""Blocklist queries to healthy, refusing, faulty and unreachable lists."""

import pytest

from postern.protocols.mail.blocklists import (
    ZONES,
    Blocklists,
    BlocklistSubject,
    ListingStatus,
    Zone,
    parse_zones,
    reversed_address,
    zone_problem,
)
from tests.peers.dns_zone import dns_zone, hasty, patient

BY_NAME = {zone.name: zone for zone in ZONES}
DBL, ZEN, URIBL = BY_NAME["dbl.spamhaus.org"], BY_NAME["zen.spamhaus.org"], BY_NAME["multi.uribl.com"]


@pytest.fixture
async def zone():
    async with dns_zone() as zone:
        for blocklist in ZONES:
            listed = "127.0.1.2" if blocklist is DBL else "127.0.0.2"
            zone.add(f"{blocklist.listed_probe}.{blocklist.name}", "A", listed)
        yield zone


@pytest.fixture
def resolver(zone):
    return patient(zone)


async def test_every_list_is_queried_for_its_kind_of_subject(zone, resolver):
    zone.add("10.2.0.192.zen.spamhaus.org", "A", "127.0.0.3", "127.0.0.4")
    zone.add("bad.example.dbl.spamhaus.org", "A", "127.0.1.2")
    findings = await Blocklists(resolver).check(addresses=["192.0.2.10", "192.0.2.11"], domains=["bad.example"])
    assert len(findings) == 2 * 5 + 3
    listed = {
        (finding.list_name, finding.subject_value, finding.codes) for finding in findings if finding.status == "listed"
    }
    assert listed == {
        ("zen.spamhaus.org", "192.0.2.10", ("127.0.0.3", "127.0.0.4")),
        ("dbl.spamhaus.org", "bad.example", ("127.0.1.2",)),
    }
    assert {finding.status for finding in findings} == {ListingStatus.LISTED, ListingStatus.CLEAR}


@pytest.mark.parametrize(
    ("blocklist", "codes", "status"),
    [
        (ZEN, ["127.0.0.2"], "listed"),
        (ZEN, ["127.0.0.10"], "listed"),
        (ZEN, ["127.255.255.252"], "unknown"),
        (ZEN, ["127.255.255.254"], "unknown"),
        (ZEN, ["127.255.255.255"], "unknown"),
        (ZEN, ["127.0.0.2", "127.255.255.254"], "unknown"),
        (ZEN, ["203.0.113.5"], "unknown"),
        (DBL, ["127.0.1.2"], "listed"),
        (DBL, ["127.0.1.255"], "unknown"),
        (URIBL, ["127.0.0.2"], "listed"),
        (URIBL, ["127.0.0.1"], "unknown"),
    ],
)
async def test_error_codes_are_unknown_and_never_a_listing(zone, resolver, blocklist, codes, status):
    subject = (
        {"addresses": ["192.0.2.10"]} if blocklist.subject is BlocklistSubject.ADDRESS else {"domains": ["192.0.2.10"]}
    )
    prefix = "10.2.0.192" if blocklist.subject is BlocklistSubject.ADDRESS else "192.0.2.10"
    zone.set(f"{prefix}.{blocklist.name}", "A", *codes)
    (finding,) = await Blocklists(resolver, [blocklist]).check(**subject)
    assert finding.status == status
    assert finding.reason


@pytest.mark.parametrize("blocklist", ZONES, ids=lambda blocklist: blocklist.name)
async def test_a_list_that_lists_everything_or_nothing_is_unknown(zone, resolver, blocklist):
    subject = {"addresses": ["192.0.2.10"], "domains": ["example.com"]}
    zone.add(f"{blocklist.clear_probe}.{blocklist.name}", "A", "127.0.0.2")
    zone.add(f"10.2.0.192.{blocklist.name}", "A", "127.0.0.2")
    zone.add(f"example.com.{blocklist.name}", "A", "127.0.0.2")
    assert await zone_problem(resolver, blocklist)
    assert {finding.status for finding in await Blocklists(resolver, [blocklist]).check(**subject)} == {"unknown"}
    zone.remove(f"{blocklist.clear_probe}.{blocklist.name}")
    assert {finding.status for finding in await Blocklists(resolver, [blocklist]).check(**subject)} == {"listed"}
    zone.remove(f"{blocklist.listed_probe}.{blocklist.name}")
    assert {finding.status for finding in await Blocklists(resolver, [blocklist]).check(**subject)} == {"unknown"}


@pytest.mark.parametrize("fault", ["servfail", "silence", "refuse"])
async def test_a_list_that_cannot_be_reached_is_unknown(zone, resolver, fault):
    if fault == "silence":
        resolver = hasty(zone)
    blocklists = Blocklists(resolver, [ZEN])
    getattr(zone, fault)("10.2.0.192.zen.spamhaus.org")
    (finding,) = await blocklists.check(addresses=["192.0.2.10"])
    assert finding.status is ListingStatus.UNKNOWN
    getattr(zone, fault)()
    (finding,) = await Blocklists(resolver, [ZEN]).check(addresses=["192.0.2.10"])
    assert finding.status is ListingStatus.UNKNOWN


async def test_health_checks_are_cached(zone, resolver):
    now = 1_000.0
    blocklists = Blocklists(resolver, [ZEN], clock=lambda: now)
    await blocklists.check(addresses=[f"192.0.2.{n}" for n in range(20)])
    await blocklists.check(addresses=["192.0.2.99"])
    assert zone.count("2.0.0.127.zen.spamhaus.org") == 1
    now += 1_800
    await blocklists.check(addresses=["192.0.2.99"])
    assert zone.count("2.0.0.127.zen.spamhaus.org") == 2


def test_addresses_are_queried_in_reverse_order():
    assert reversed_address("192.0.2.1") == "1.2.0.192"
    assert reversed_address("::ffff:192.0.2.1") == "1.2.0.192"
    assert reversed_address("2001:db8::1") == "1" + ".0" * 23 + ".8.b.d.0.1.0.0.2"


def test_zones_are_configurable():
    assert parse_zones("address:zen.spamhaus.org., domain:dbl.spamhaus.org address:bl.example") == (
        ZEN,
        DBL,
        Zone("bl.example", BlocklistSubject.ADDRESS),
    )
    for invalid in ("zen.spamhaus.org", "ip:zen.spamhaus.org", "address:"):
        with pytest.raises(ValueError):
            parse_zones(invalid)
