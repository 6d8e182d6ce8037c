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
        for each in ZONES:
            zone.add(f"{each.listed_probe}.{each.name}", "A", "127.0.1.2" if each is DBL else "127.0.0.2")
        yield zone


@pytest.fixture
def resolver(zone):
    return patient(zone)


async def test_every_list_is_queried_for_its_kind_of_subject(zone, resolver):
    zone.add("10.2.0.192.zen.spamhaus.org", "A", "127.0.0.3", "127.0.0.4")
    zone.add("bad.example.dbl.spamhaus.org", "A", "127.0.1.2")
    found = await Blocklists(resolver).check(addresses=["192.0.2.10", "192.0.2.11"], domains=["bad.example"])
    assert len(found) == 2 * 5 + 3
    listed = {(each.list_name, each.subject_value, each.codes) for each in found if each.status == "listed"}
    assert listed == {
        ("zen.spamhaus.org", "192.0.2.10", ("127.0.0.3", "127.0.0.4")),
        ("dbl.spamhaus.org", "bad.example", ("127.0.1.2",)),
    }
    assert {each.status for each in found} == {ListingStatus.LISTED, ListingStatus.CLEAR}


@pytest.mark.parametrize(
    ("asked", "codes", "standing"),
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
async def test_error_codes_are_unknown_and_never_a_listing(zone, resolver, asked, codes, standing):
    subject = (
        {"addresses": ["192.0.2.10"]} if asked.subject is BlocklistSubject.ADDRESS else {"domains": ["192.0.2.10"]}
    )
    prefix = "10.2.0.192" if asked.subject is BlocklistSubject.ADDRESS else "192.0.2.10"
    zone.set(f"{prefix}.{asked.name}", "A", *codes)
    (found,) = await Blocklists(resolver, [asked]).check(**subject)
    assert found.status == standing
    assert found.reason


@pytest.mark.parametrize("each", ZONES, ids=lambda each: each.name)
async def test_a_list_that_lists_everything_or_nothing_is_unknown(zone, resolver, each):
    subject = {"addresses": ["192.0.2.10"], "domains": ["example.com"]}
    zone.add(f"{each.clear_probe}.{each.name}", "A", "127.0.0.2")
    zone.add(f"10.2.0.192.{each.name}", "A", "127.0.0.2")
    zone.add(f"example.com.{each.name}", "A", "127.0.0.2")
    assert await zone_problem(resolver, each)
    assert {found.status for found in await Blocklists(resolver, [each]).check(**subject)} == {"unknown"}
    zone.remove(f"{each.clear_probe}.{each.name}")
    assert {found.status for found in await Blocklists(resolver, [each]).check(**subject)} == {"listed"}
    zone.remove(f"{each.listed_probe}.{each.name}")
    assert {found.status for found in await Blocklists(resolver, [each]).check(**subject)} == {"unknown"}


@pytest.mark.parametrize("fault", ["servfail", "silence", "refuse"])
async def test_a_list_that_cannot_be_reached_is_unknown(zone, resolver, fault):
    asking = hasty(zone) if fault == "silence" else resolver
    lists = Blocklists(asking, [ZEN])
    getattr(zone, fault)("10.2.0.192.zen.spamhaus.org")
    (found,) = await lists.check(addresses=["192.0.2.10"])
    assert found.status is ListingStatus.UNKNOWN
    getattr(zone, fault)()
    (found,) = await Blocklists(asking, [ZEN]).check(addresses=["192.0.2.10"])
    assert found.status is ListingStatus.UNKNOWN


async def test_health_checks_are_cached(zone, resolver):
    now = 1_000.0
    lists = Blocklists(resolver, [ZEN], clock=lambda: now)
    await lists.check(addresses=[f"192.0.2.{n}" for n in range(20)])
    await lists.check(addresses=["192.0.2.99"])
    assert zone.count("2.0.0.127.zen.spamhaus.org") == 1
    now += 1_800
    await lists.check(addresses=["192.0.2.99"])
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
    for wrong in ("zen.spamhaus.org", "ip:zen.spamhaus.org", "address:"):
        with pytest.raises(ValueError):
            parse_zones(wrong)
