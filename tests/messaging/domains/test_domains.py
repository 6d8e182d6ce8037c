"""Sending domains over HTTP, with a DNS server whose records and faults the tests set."""

import re
from datetime import timedelta
from uuid import UUID as as_uuid  # noqa: N811 - it reads as what it does

import dkim
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from postern.messaging.domains.operations import sending_domain, sending_domains, signers
from postern.protocols.mail.blocklists import ZONES
from postern.protocols.mail.dkim import key_record, key_record_problem, sign

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
ADDRESS = "192.0.2.10"


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, sending_addresses=(ADDRESS,), base_url="https://mail.postern.example")


def publish(zone, domain, *purposes):
    """Publish the records of a domain, as its owner does."""
    for record in domain["records"]:
        if not purposes or record["purpose"] in purposes:
            zone.set(record["name"], record["type"], record["value"])


def by_purpose(domain):
    return {record["purpose"]: record for record in domain["records"]}


async def added(project, name="example.com"):
    answer = await project.client.post("/domains", {"domain": name})
    assert answer.status_code == 201, answer.text
    return answer.json()


async def verified(project, zone, name="example.com"):
    domain = await added(project, name)
    publish(zone, domain)
    answer = await project.client.post(f"/domains/{domain['id']}/verify")
    assert answer.json()["status"] == "VERIFIED", answer.text
    return answer.json()


async def events_of(project, kind="domain"):
    found = (await project.client.get("/events?limit=200")).json()["data"]
    return [each["type"] for each in reversed(found) if each["type"].startswith(kind)]


async def test_a_new_domain_lists_the_records_to_publish(project):
    domain = await added(project, "Example.COM")
    assert (domain["domain"], domain["status"], domain["appId"]) == ("example.com", "PENDING", project.id)
    assert len(set(domain["dkimTokens"])) == 2
    records = by_purpose(domain)
    current, following = domain["dkimTokens"]
    assert records["DKIM"]["name"] == f"{current}._domainkey.example.com"
    assert records["DKIM_NEXT"]["name"] == f"{following}._domainkey.example.com"
    assert records["DKIM"]["value"].startswith("v=DKIM1; k=rsa; p=MIIBIjAN")
    assert records["DKIM_ED25519"]["value"].startswith("v=DKIM1; k=ed25519; p=")
    assert records["SPF"]["value"] == f"v=spf1 ip4:{ADDRESS} ~all"
    assert records["DMARC"]["name"] == "_dmarc.example.com"
    assert (records["TRACKING"]["name"], records["TRACKING"]["value"]) == (
        "links.example.com",
        "mail.postern.example",
    )
    assert [name for name, record in records.items() if record["required"]] == ["DKIM"]
    assert {record["status"] for record in domain["records"]} == {"PENDING"}
    assert (await project.client.get(f"/domains/{domain['id']}")).json() == domain
    assert (await project.client.get("/domains")).json() == [domain]


async def test_a_published_domain_is_verified_at_once(project, zone):
    domain = await added(project)
    publish(zone, domain)
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert seen["status"] == "VERIFIED"
    assert (seen["dkimVerified"], seen["spfVerified"], seen["dmarcVerified"]) == (True, True, True)
    assert {record["status"] for record in seen["records"]} == {"VERIFIED"}
    assert seen["verifiedAt"]
    assert await events_of(project) == ["domain.created", "domain.verified"]
    await project.client.post(f"/domains/{domain['id']}/verify")
    assert await events_of(project) == ["domain.created", "domain.verified"], "verified once, told once"


async def test_the_dkim_key_alone_verifies_a_domain_and_other_records_are_reported(project, zone):
    domain = await added(project)
    publish(zone, domain, "DKIM")
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert seen["status"] == "VERIFIED"
    assert (seen["dkimVerified"], seen["spfVerified"], seen["dmarcVerified"]) == (True, False, False)
    assert by_purpose(seen)["SPF"]["status"] == "PENDING"


async def test_a_domain_without_its_dkim_key_is_not_verified(project, zone):
    domain = await added(project)
    publish(zone, domain, "DKIM_NEXT", "DKIM_ED25519", "SPF", "DMARC", "TRACKING")
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (seen["status"], seen["dkimVerified"], seen["spfVerified"]) == ("PENDING", False, True)


async def test_a_different_key_is_wrong_and_shown(project, new_project, zone):
    other = await new_project()
    theirs = await added(other)
    mine = await added(project)
    name = by_purpose(mine)["DKIM"]["name"]
    zone.set(name, "TXT", by_purpose(theirs)["DKIM"]["value"])
    seen = (await project.client.post(f"/domains/{mine['id']}/verify")).json()
    record = by_purpose(seen)["DKIM"]
    assert (seen["status"], record["status"]) == ("PENDING", "WRONG")
    assert record["found"] == [by_purpose(theirs)["DKIM"]["value"]]
    zone.add(name, "TXT", by_purpose(mine)["DKIM"]["value"])
    seen = (await project.client.post(f"/domains/{mine['id']}/verify")).json()
    assert by_purpose(seen)["DKIM"]["status"] == "WRONG", "two keys at one name are undefined (RFC 6376)"
    zone.set(name, "TXT", by_purpose(mine)["DKIM"]["value"].replace("p=", "p= ").replace("; ", ";"))
    seen = (await project.client.post(f"/domains/{mine['id']}/verify")).json()
    assert seen["status"] == "VERIFIED", "white space means nothing in a key"


async def test_an_existing_spf_record_is_valid_if_it_authorises_the_server(project, zone):
    domain = await added(project)
    zone.set("example.com", "TXT", "v=spf1 include:_spf.example.net -all", "other=1")
    zone.set("_spf.example.net", "TXT", f"v=spf1 ip4:{ADDRESS} -all")
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["spfVerified"] is True
    zone.set("_spf.example.net", "TXT", "v=spf1 ip4:203.0.113.1 -all")
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (seen["spfVerified"], by_purpose(seen)["SPF"]["status"]) == (False, "WRONG")
    zone.add("example.com", "TXT", "v=spf1 -all")
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert "2 SPF records" in by_purpose(seen)["SPF"]["reason"]


async def test_the_dmarc_policy_of_the_organizational_domain_is_used(project, zone):
    domain = await added(project, "news.example.com")
    zone.set("_dmarc.example.com", "TXT", "v=DMARC1; p=reject")
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert seen["dmarcVerified"] is True
    assert by_purpose(seen)["DMARC"]["found"] == ["v=DMARC1; p=reject"]


@pytest.mark.parametrize("fault", ["servfail", "refuse"])
async def test_a_failed_lookup_is_not_a_missing_record(project, zone, clock, work_off, fault):
    domain = await verified(project, zone)
    getattr(zone, fault)()
    for _ in range(6):
        clock.move(DAY)
        await work_off()
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (seen["status"], seen["dkimVerified"], seen["spfVerified"], seen["failingSince"]) == (
        "VERIFIED",
        True,
        True,
        None,
    )
    assert by_purpose(seen)["DKIM"]["status"] == "UNKNOWN"
    zone.heal()
    seen = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert by_purpose(seen)["DKIM"]["status"] == "VERIFIED"


async def test_a_pending_domain_is_verified_by_the_periodic_check(project, zone, clock, work_off):
    domain = await added(project)
    await work_off()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["lastCheckedAt"]
    publish(zone, domain)
    await work_off()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "PENDING", "not due yet"
    clock.move(MINUTE)
    await work_off()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "VERIFIED"
    assert await events_of(project) == ["domain.created", "domain.verified"]


async def test_an_unpublished_domain_fails_and_can_be_checked_again(project, zone, clock, work_off):
    domain = await added(project)
    await work_off()
    clock.move(30 * DAY)
    await work_off()
    failed = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert (failed["status"], failed["nextCheckAt"]) == ("FAILED", None)
    again = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert again["status"] == "PENDING"
    assert again["nextCheckAt"]
    publish(zone, domain)
    clock.move(MINUTE)
    await work_off()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "VERIFIED"


async def test_a_key_missing_for_three_days_degrades_the_domain_until_it_is_back(project, zone, clock, work_off):
    domain = await verified(project, zone)
    name = by_purpose(domain)["DKIM"]["name"]
    zone.remove(name)
    clock.move(DAY)
    await work_off()
    missing = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert (missing["status"], missing["dkimVerified"]) == ("VERIFIED", False)
    assert missing["failingSince"]
    clock.move(3 * DAY - HOUR)
    await work_off()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "VERIFIED"
    clock.move(HOUR)
    await work_off()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "DEGRADED"
    publish(zone, domain)
    clock.move(HOUR)
    await work_off()
    mended = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert (mended["status"], mended["failingSince"]) == ("VERIFIED", None)
    assert await events_of(project) == ["domain.created", "domain.verified", "domain.degraded", "domain.verified"]


async def test_one_successful_check_resets_the_missing_time(project, zone, clock, work_off):
    domain = await verified(project, zone)
    for _ in range(3):
        zone.remove(by_purpose(domain)["DKIM"]["name"])
        clock.move(2 * DAY)
        await work_off()
        publish(zone, domain)
        clock.move(2 * HOUR)
        await work_off()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "VERIFIED"
    assert "domain.degraded" not in await events_of(project)


@pytest.mark.parametrize("name", ["com", "co.uk", "not a domain", "192.0.2.1", "a_b.example.com", "x" * 300])
async def test_a_name_that_cannot_send_mail_is_refused_with_the_path(project, name):
    answer = await project.client.post("/domains", {"domain": name})
    assert answer.status_code == 400
    assert [fault["path"] for fault in answer.json()["errors"]] == ["/domain"]
    assert (await project.client.get("/domains")).json() == []


@pytest.mark.parametrize("body", [{}, {"domain": None}, {"domain": 7}, {"domain": "a.example", "colour": "red"}])
async def test_an_invalid_body_is_refused(project, body):
    assert (await project.client.post("/domains", body)).status_code == 400


async def test_a_domain_can_be_added_once_to_each_project(project, new_project):
    await added(project)
    again = await project.client.post("/domains", {"domain": "EXAMPLE.com."})
    assert (again.status_code, again.json()["code"]) == (409, "domain_exists")
    theirs = await added(await new_project())
    assert theirs["domain"] == "example.com"


async def test_a_domain_of_another_project_is_not_found(project, new_project):
    theirs = await added(await new_project())
    for method, path in [
        ("GET", ""), ("DELETE", ""), ("POST", "/verify"), ("GET", "/blocklist-status"),
    ]:  # fmt: skip
        for identifier in (theirs["id"], "not-an-id"):
            answer = await project.client.request(method, f"/domains/{identifier}{path}")
            assert (answer.status_code, answer.json()["code"]) == (404, "domain_missing")


async def test_a_key_with_read_permission_cannot_write(project):
    domain = await added(project)
    reader = await project.key("domains:read")
    assert (await reader.get(f"/domains/{domain['id']}")).status_code == 200
    assert (await reader.post("/domains", {"domain": "b.example"})).status_code == 403
    assert (await reader.post(f"/domains/{domain['id']}/verify")).status_code == 403
    assert (await reader.delete(f"/domains/{domain['id']}")).status_code == 403


async def test_a_deleted_domain_has_no_background_work(project, zone, clock, work_off, world):
    domain = await verified(project, zone, "gone.example.org")
    stale = await project.client.delete(f"/domains/{domain['id']}", headers={"if-match": '"0"'})
    assert stale.status_code == 412
    assert (await project.client.delete(f"/domains/{domain['id']}")).json() == {"deleted": True}
    assert (await project.client.delete(f"/domains/{domain['id']}")).status_code == 404
    assert await sending_domain(world.db, as_uuid(project.id), "gone.example.org") is None
    zone.asked.clear()
    clock.move(2 * DAY)
    await work_off()
    assert zone.count("_dmarc.gone.example.org") == 0
    assert (await events_of(project))[-1] == "domain.deleted"
    assert (await added(project, "gone.example.org"))["id"] != domain["id"], "and the name can be added again"


async def test_a_list_continues_at_the_cursor(project):
    for number in range(3):
        await added(project, f"d{number}.example.com")
    first = await project.client.get("/domains?limit=2")
    assert [each["domain"] for each in first.json()] == ["d2.example.com", "d1.example.com"]
    link = first.headers["link"].partition("<")[2].partition(">")[0]
    rest = await project.client.get("/domains?" + link.partition("?")[2])
    assert [each["domain"] for each in rest.json()] == ["d0.example.com"]


async def test_the_signers_of_a_domain(project, zone, world):
    domain = await added(project)
    found = await sending_domain(world.db, as_uuid(project.id), "Example.com")
    assert (found.status, found.may_send) == ("PENDING", False)
    (rsa,) = await signers(world, found)
    assert isinstance(rsa.private_key, RSAPrivateKey)
    assert (rsa.domain, rsa.selector) == ("example.com", domain["dkimTokens"][0])
    publish(zone, domain)
    await project.client.post(f"/domains/{domain['id']}/verify")
    found = await sending_domain(world.db, as_uuid(project.id), "example.com")
    assert found.may_send
    rsa, ed25519 = await signers(world, found)
    assert isinstance(ed25519.private_key, Ed25519PrivateKey), "once it is published, it signs too"
    assert (await signers(world, found))[0].private_key is rsa.private_key, "loaded once"
    assert await sending_domains(world.db, as_uuid(project.id), [found.id]) == [found]
    assert await sending_domain(world.db, as_uuid(project.id), "mail.example.com") is None


async def test_signatures_verify_with_the_published_keys(project, zone, world):
    await verified(project, zone)
    found = await sending_domain(world.db, as_uuid(project.id), "example.com")
    message = b"From: a@example.com\r\nTo: b@example.net\r\nSubject: Hello\r\n\r\nHello.\r\n"
    signed = sign(message, await signers(world, found), now=int(world.clock().timestamp()))

    for index in range(2):
        (key,) = await world.resolver.txt(selector_of(signed, index))
        checker = dkim.DKIM(signed)
        assert checker.verify(idx=index, dnsfunc=lambda name, timeout=5, key=key: key.encode()), index


def selector_of(signed, index):
    fields = re.findall(rb"DKIM-Signature:.*?\bs=([a-z2-7]+);", signed, re.DOTALL)
    return f"{fields[index].decode()}._domainkey.example.com"


async def test_private_keys_are_stored_encrypted_and_never_returned(project, world):
    domain = await added(project)
    assert "PRIVATE" not in (await project.client.get(f"/domains/{domain['id']}")).text
    async with world.db.connection() as connection:
        rows = await (
            await connection.execute("select private_key from domain_keys where domain_id = %s", [domain["id"]])
        ).fetchall()
    assert len(rows) == 3
    assert not any(b"PRIVATE" in bytes(key) for (key,) in rows)


async def test_keys_rotate_only_to_a_published_key(project, zone, clock, work_off, world):
    domain = await added(project, "keys.example.org")
    publish(zone, domain, "DKIM")
    refused = await project.client.post(f"/domains/{domain['id']}/rotate-keys")
    assert (refused.status_code, refused.json()["code"]) == (409, "next_key_unpublished")
    publish(zone, domain)
    await project.client.post(f"/domains/{domain['id']}/verify")
    rotated = (await project.client.post(f"/domains/{domain['id']}/rotate-keys")).json()
    assert rotated["dkimTokens"] == domain["dkimTokens"][::-1]
    assert {r["name"]: r["value"] for r in rotated["records"]} == {r["name"]: r["value"] for r in domain["records"]}
    signer = (await signers(world, await sending_domain(world.db, as_uuid(project.id), "keys.example.org")))[0]
    assert signer.selector == domain["dkimTokens"][1]
    assert (await project.client.post(f"/domains/{domain['id']}/rotate-keys")).status_code == 409, "no next one yet"
    clock.move(7 * DAY)
    await work_off()
    later = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert later["status"] == "VERIFIED"
    assert later["dkimTokens"] == rotated["dkimTokens"]
    fresh = by_purpose(later)["DKIM_NEXT"]
    assert fresh["value"] != by_purpose(domain)["DKIM"]["value"], "a new key under the old selector"
    publish(zone, later)
    again = (await project.client.post(f"/domains/{domain['id']}/rotate-keys")).json()
    assert again["dkimTokens"] == domain["dkimTokens"]
    signer = (await signers(world, await sending_domain(world.db, as_uuid(project.id), "keys.example.org")))[0]
    assert key_record(signer.private_key) == fresh["value"]


# Blocklists


@pytest.fixture
def lists(zone):
    """Healthy blocklists that list only their test entries (RFC 5782)."""
    for each in ZONES:
        zone.add(f"{each.listed_probe}.{each.name}", "A", "127.0.0.2")
    return zone


async def blocklist_status(project, domain):
    answer = await project.client.get(f"/domains/{domain['id']}/blocklist-status")
    return {(entry["listName"], entry["subjectValue"]): entry for entry in answer.json()}


async def test_blocklist_entries_exist_at_once_and_are_checked_soon(project, lists, work_off):
    domain = await added(project, "news.example.com")
    entries = await blocklist_status(project, domain)
    assert len(entries) == 5 + 3 * 2
    assert {entry["status"] for entry in entries.values()} == {"UNKNOWN"}
    assert {entry["lastCheckedAt"] for entry in entries.values()} == {None}
    await work_off()
    entries = await blocklist_status(project, domain)
    assert {entry["status"] for entry in entries.values()} == {"CLEAR"}
    assert {subject for _, subject in entries} == {ADDRESS, "news.example.com", "example.com"}
    assert all(entry["lastCheckedAt"] and not entry["listed"] for entry in entries.values())


async def test_a_listing_and_a_delisting_have_one_event_each(project, lists, clock, work_off):
    domain = await added(project)
    await work_off()
    lists.add("10.2.0.192.zen.spamhaus.org", "A", "127.0.0.3")
    for _ in range(2):
        clock.move(6 * HOUR)
        await work_off()
    entry = (await blocklist_status(project, domain))["zen.spamhaus.org", ADDRESS]
    assert (entry["listed"], entry["status"], entry["codes"]) == (True, "LISTED", ["127.0.0.3"])
    assert entry["firstListedAt"] < entry["lastCheckedAt"]
    assert (await events_of(project)).count("domain.blocklisted") == 1
    lists.remove("10.2.0.192.zen.spamhaus.org")
    clock.move(6 * HOUR)
    await work_off()
    entry = (await blocklist_status(project, domain))["zen.spamhaus.org", ADDRESS]
    assert (entry["listed"], entry["firstListedAt"]) == (False, None)
    assert (await events_of(project))[-1] == "domain.delisted"


@pytest.mark.parametrize("code", ["127.255.255.254", "127.0.0.1", "203.0.113.9"])
async def test_a_blocklist_that_refuses_queries_changes_nothing(project, lists, clock, work_off, code):
    domain = await added(project)
    lists.set("example.com.multi.uribl.com", "A", code)
    await work_off()
    entry = (await blocklist_status(project, domain))["multi.uribl.com", "example.com"]
    assert (entry["listed"], entry["status"]) == (False, "UNKNOWN")
    lists.set("example.com.multi.uribl.com", "A", "127.0.0.2")
    clock.move(HOUR)
    await work_off()
    assert (await blocklist_status(project, domain))["multi.uribl.com", "example.com"]["listed"] is True
    lists.set("example.com.multi.uribl.com", "A", code)
    clock.move(6 * HOUR)
    await work_off()
    entry = (await blocklist_status(project, domain))["multi.uribl.com", "example.com"]
    assert (entry["listed"], entry["status"]) == (True, "UNKNOWN"), "what was known stays known"
    assert (await events_of(project)).count("domain.delisted") == 0


async def test_a_blocklist_that_does_not_respond_is_unknown(project, zone, work_off):
    domain = await added(project)
    await work_off()
    assert {entry["status"] for entry in (await blocklist_status(project, domain)).values()} == {"UNKNOWN"}
    assert "domain.blocklisted" not in await events_of(project)


def test_a_key_record_in_quotation_marks_is_reported():
    """
    Defects: M6
    """
    said = key_record_problem('"v=DKIM1; p=abc"', algorithm="rsa-sha256", public_key="abc")
    assert said is not None
    assert "quotation marks" in said


def key_of(domain):
    return by_purpose(domain)["DKIM"]


@pytest.mark.parametrize(
    ("spoil", "says"),
    [
        (lambda value: value.replace(";", r"\;"), "backslashes"),
        (lambda value: value.replace("DKIM1", "DKIM2"), "`v`"),
        (lambda value: value.partition("; ")[2] + "; v=DKIM1", "`v`"),
        (lambda value: value.replace("k=rsa", "k=ed25519"), "`k`"),
        (lambda value: value.replace("k=rsa", "h=sha1"), "`h`"),
        (lambda value: value.replace("k=rsa", "s=tlsrpt"), "`s`"),
        (lambda value: value.replace("k=rsa", "t=y:s"), "`t`"),
        (lambda value: value.replace("k=rsa", "k=rsa; k=rsa"), "`k`"),
        (lambda value: value.replace("k=rsa", "rsa"), "`rsa`"),
        (lambda value: value.replace("p=", "p=A"), "different public key"),
        (lambda value: value.partition("p=")[0] + "p=", "revoked"),
        (lambda value: value.partition("; p=")[0], "`p`"),
    ],
)
async def test_a_key_that_receivers_cannot_use_is_not_verified(project, zone, spoil, says):
    """
    Defects: M6
    """
    domain = await added(project)
    record = key_of(domain)
    zone.set(record["name"], "TXT", spoil(record["value"]))
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (checked["status"], key_of(checked)["status"]) != ("VERIFIED", "VERIFIED")
    assert key_of(checked)["status"] == "WRONG"
    assert says in key_of(checked)["reason"]
    assert key_of(checked)["found"]


@pytest.mark.parametrize(
    "written",
    [
        lambda value: value.replace("v=DKIM1; k=rsa; ", ""),
        lambda value: value.replace("; ", ";") + ";",
        lambda value: value.replace("k=rsa", "h=sha1:sha256; k=rsa; s=email:tlsrpt; t=s; n=some notes; x=1"),
        lambda value: value.replace("k=rsa", "s=*"),
        lambda value: value.replace("p=", "p = ").replace("MII", "MII "),
    ],
)
async def test_every_valid_form_of_a_key_record_is_verified(project, zone, written):
    """
    Defects: M6
    """
    domain = await added(project)
    record = key_of(domain)
    zone.set(record["name"], "TXT", written(record["value"]))
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert key_of(checked)["status"] == "VERIFIED", key_of(checked)
