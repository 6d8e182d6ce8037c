"""Sending domains over HTTP, with a DNS server whose records and failures the tests set."""

import re
from datetime import timedelta
from uuid import UUID

import dkim
import msgspec
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey

from postern.messaging.domains import store
from postern.messaging.domains.sending import sending_domain, sending_domains, signers
from postern.messaging.domains.work import run_domain_check
from postern.protocols.mail.blocklists import ZONES
from postern.protocols.mail.dkim import key_record, key_record_error, sign

DAY, HOUR, MINUTE = timedelta(days=1), timedelta(hours=1), timedelta(minutes=1)
ADDRESS = "192.0.2.10"


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, sending_addresses=(ADDRESS,), base_url="https://mail.postern.example")


def publish(zone, domain, *purposes):
    """Publish the records of a domain, or only those with these purposes."""
    for record in domain["records"]:
        if not purposes or record["purpose"] in purposes:
            zone.set(record["name"], record["type"], record["value"])


def by_purpose(domain):
    return {record["purpose"]: record for record in domain["records"]}


async def add_domain(project, name="example.com"):
    response = await project.client.post("/domains", {"domain": name})
    assert response.status_code == 201, response.text
    return response.json()


async def add_verified_domain(project, zone, name="example.com"):
    domain = await add_domain(project, name)
    publish(zone, domain)
    response = await project.client.post(f"/domains/{domain['id']}/verify")
    assert response.json()["status"] == "VERIFIED", response.text
    return response.json()


async def event_types(project, prefix="domain"):
    newest_first = (await project.client.get("/events?limit=200")).json()["data"]
    return [event["type"] for event in reversed(newest_first) if event["type"].startswith(prefix)]


async def test_a_new_domain_lists_the_records_to_publish(project):
    domain = await add_domain(project, "Example.COM")
    assert (domain["domain"], domain["status"], domain["appId"]) == ("example.com", "PENDING", project.id)
    assert len(set(domain["dkimTokens"])) == 2
    records = by_purpose(domain)
    current_token, next_token = domain["dkimTokens"]
    assert records["DKIM"]["name"] == f"{current_token}._domainkey.example.com"
    assert records["DKIM_NEXT"]["name"] == f"{next_token}._domainkey.example.com"
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
    domain = await add_domain(project)
    publish(zone, domain)
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert checked["status"] == "VERIFIED"
    assert (checked["dkimVerified"], checked["spfVerified"], checked["dmarcVerified"]) == (True, True, True)
    assert {record["status"] for record in checked["records"]} == {"VERIFIED"}
    assert checked["verifiedAt"]
    assert await event_types(project) == ["domain.created", "domain.verified"]
    await project.client.post(f"/domains/{domain['id']}/verify")
    assert await event_types(project) == ["domain.created", "domain.verified"], "a second check records no second event"


async def test_the_dkim_key_alone_verifies_a_domain_and_other_records_are_reported(project, zone):
    domain = await add_domain(project)
    publish(zone, domain, "DKIM")
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert checked["status"] == "VERIFIED"
    assert (checked["dkimVerified"], checked["spfVerified"], checked["dmarcVerified"]) == (True, False, False)
    assert by_purpose(checked)["SPF"]["status"] == "PENDING"


async def test_a_domain_without_its_dkim_key_is_not_verified(project, zone):
    domain = await add_domain(project)
    publish(zone, domain, "DKIM_NEXT", "DKIM_ED25519", "SPF", "DMARC", "TRACKING")
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (checked["status"], checked["dkimVerified"], checked["spfVerified"]) == ("PENDING", False, True)


async def test_a_different_key_is_wrong_and_shown(project, new_project, zone):
    other_project = await new_project()
    their_domain = await add_domain(other_project)
    domain = await add_domain(project)
    name = by_purpose(domain)["DKIM"]["name"]
    zone.set(name, "TXT", by_purpose(their_domain)["DKIM"]["value"])
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    record = by_purpose(checked)["DKIM"]
    assert (checked["status"], record["status"]) == ("PENDING", "WRONG")
    assert record["found"] == [by_purpose(their_domain)["DKIM"]["value"]]
    zone.add(name, "TXT", by_purpose(domain)["DKIM"]["value"])
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert by_purpose(checked)["DKIM"]["status"] == "WRONG", "RFC 6376 does not define what two keys at one name mean"
    zone.set(name, "TXT", by_purpose(domain)["DKIM"]["value"].replace("p=", "p= ").replace("; ", ";"))
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert checked["status"] == "VERIFIED", "white space in a key is ignored"


async def test_an_existing_spf_record_is_valid_if_it_authorises_the_server(project, zone):
    domain = await add_domain(project)
    zone.set("example.com", "TXT", "v=spf1 include:_spf.example.net -all", "other=1")
    zone.set("_spf.example.net", "TXT", f"v=spf1 ip4:{ADDRESS} -all")
    assert (await project.client.post(f"/domains/{domain['id']}/verify")).json()["spfVerified"] is True
    zone.set("_spf.example.net", "TXT", "v=spf1 ip4:203.0.113.1 -all")
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (checked["spfVerified"], by_purpose(checked)["SPF"]["status"]) == (False, "WRONG")
    zone.add("example.com", "TXT", "v=spf1 -all")
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert "2 SPF records" in by_purpose(checked)["SPF"]["reason"]


async def test_the_dmarc_policy_of_the_organizational_domain_is_used(project, zone):
    domain = await add_domain(project, "news.example.com")
    zone.set("_dmarc.example.com", "TXT", "v=DMARC1; p=reject")
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert checked["dmarcVerified"] is True
    assert by_purpose(checked)["DMARC"]["found"] == ["v=DMARC1; p=reject"]


@pytest.mark.parametrize("fault", ["servfail", "refuse"])
async def test_a_failed_lookup_is_not_a_missing_record(project, zone, clock, run_due_work, fault):
    domain = await add_verified_domain(project, zone)
    getattr(zone, fault)()
    for _ in range(6):
        clock.move(DAY)
        await run_due_work()
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (checked["status"], checked["dkimVerified"], checked["spfVerified"], checked["failingSince"]) == (
        "VERIFIED",
        True,
        True,
        None,
    )
    assert by_purpose(checked)["DKIM"]["status"] == "UNKNOWN"
    zone.heal()
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert by_purpose(checked)["DKIM"]["status"] == "VERIFIED"


async def test_a_pending_domain_is_verified_by_the_periodic_check(project, zone, clock, run_due_work):
    domain = await add_domain(project)
    await run_due_work()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["lastCheckedAt"]
    publish(zone, domain)
    await run_due_work()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "PENDING", "not due yet"
    clock.move(MINUTE)
    await run_due_work()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "VERIFIED"
    assert await event_types(project) == ["domain.created", "domain.verified"]


async def test_an_unpublished_domain_fails_and_can_be_checked_again(project, zone, clock, run_due_work):
    domain = await add_domain(project)
    await run_due_work()
    clock.move(30 * DAY)
    await run_due_work()
    failed = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert (failed["status"], failed["nextCheckAt"]) == ("FAILED", None)
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert checked["status"] == "PENDING"
    assert checked["nextCheckAt"]
    publish(zone, domain)
    clock.move(MINUTE)
    await run_due_work()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "VERIFIED"


async def test_a_key_missing_for_three_days_degrades_the_domain_until_it_is_back(project, zone, clock, run_due_work):
    domain = await add_verified_domain(project, zone)
    name = by_purpose(domain)["DKIM"]["name"]
    zone.remove(name)
    clock.move(DAY)
    await run_due_work()
    missing = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert (missing["status"], missing["dkimVerified"]) == ("VERIFIED", False)
    assert missing["failingSince"]
    clock.move(3 * DAY - HOUR)
    await run_due_work()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "VERIFIED"
    clock.move(HOUR)
    await run_due_work()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "DEGRADED"
    publish(zone, domain)
    clock.move(HOUR)
    await run_due_work()
    recovered = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert (recovered["status"], recovered["failingSince"]) == ("VERIFIED", None)
    assert await event_types(project) == ["domain.created", "domain.verified", "domain.degraded", "domain.verified"]


async def test_a_slow_check_does_not_replace_the_result_of_a_newer_one(project, zone, clock, run_due_work, world):
    domain = await add_verified_domain(project, zone)
    clock.move(HOUR)
    async with world.db.transaction() as tx:
        as_claimed = await store.lock_domain(tx, project_id=UUID(project.id), id=UUID(domain["id"]))
    zone.remove(by_purpose(domain)["DKIM"]["name"])
    verified = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert not verified["dkimVerified"]
    publish(zone, domain)
    clock.move(MINUTE)
    await run_domain_check(world, as_claimed)
    assert (await project.client.get(f"/domains/{domain['id']}")).json() == verified
    clock.move(HOUR)
    await run_due_work()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["dkimVerified"], "the next check is due"


async def test_one_successful_check_resets_the_missing_time(project, zone, clock, run_due_work):
    domain = await add_verified_domain(project, zone)
    for _ in range(3):
        zone.remove(by_purpose(domain)["DKIM"]["name"])
        clock.move(2 * DAY)
        await run_due_work()
        publish(zone, domain)
        clock.move(2 * HOUR)
        await run_due_work()
    assert (await project.client.get(f"/domains/{domain['id']}")).json()["status"] == "VERIFIED"
    assert "domain.degraded" not in await event_types(project)


@pytest.mark.parametrize("name", ["com", "co.uk", "not a domain", "192.0.2.1", "a_b.example.com", "x" * 300])
async def test_a_name_that_cannot_send_mail_is_refused_with_the_path(project, name):
    response = await project.client.post("/domains", {"domain": name})
    assert response.status_code == 400
    assert [fault["path"] for fault in response.json()["errors"]] == ["/domain"]
    assert (await project.client.get("/domains")).json() == []


@pytest.mark.parametrize("body", [{}, {"domain": None}, {"domain": 7}, {"domain": "a.example", "colour": "red"}])
async def test_an_invalid_body_is_refused(project, body):
    assert (await project.client.post("/domains", body)).status_code == 400


async def test_a_domain_can_be_added_once_to_each_project(project, new_project):
    await add_domain(project)
    again = await project.client.post("/domains", {"domain": "EXAMPLE.com."})
    assert (again.status_code, again.json()["code"]) == (409, "domain_exists")
    their_domain = await add_domain(await new_project())
    assert their_domain["domain"] == "example.com"


async def test_a_domain_of_another_project_is_not_found(project, new_project):
    their_domain = await add_domain(await new_project())
    for method, path in [
        ("GET", ""), ("DELETE", ""), ("POST", "/verify"), ("GET", "/blocklist-status"),
    ]:  # fmt: skip
        for identifier in (their_domain["id"], "not-an-id"):
            response = await project.client.request(method, f"/domains/{identifier}{path}")
            assert (response.status_code, response.json()["code"]) == (404, "domain_missing")


async def test_a_key_with_read_permission_cannot_write(project):
    domain = await add_domain(project)
    reader = await project.key("domains:read")
    assert (await reader.get(f"/domains/{domain['id']}")).status_code == 200
    assert (await reader.post("/domains", {"domain": "b.example"})).status_code == 403
    assert (await reader.post(f"/domains/{domain['id']}/verify")).status_code == 403
    assert (await reader.delete(f"/domains/{domain['id']}")).status_code == 403


async def test_a_deleted_domain_has_no_background_work(project, zone, clock, run_due_work, world):
    domain = await add_verified_domain(project, zone, "gone.example.org")
    stale = await project.client.delete(f"/domains/{domain['id']}", headers={"if-match": '"0"'})
    assert stale.status_code == 412
    assert (await project.client.delete(f"/domains/{domain['id']}")).json() == {"deleted": True}
    assert (await project.client.delete(f"/domains/{domain['id']}")).status_code == 404
    assert await sending_domain(world.db, UUID(project.id), "gone.example.org") is None
    zone.queries.clear()
    clock.move(2 * DAY)
    await run_due_work()
    assert zone.count("_dmarc.gone.example.org") == 0
    assert (await event_types(project))[-1] == "domain.deleted"
    assert (await add_domain(project, "gone.example.org"))["id"] != domain["id"], "the name can be added again"


async def test_a_list_continues_at_the_cursor(project):
    for number in range(3):
        await add_domain(project, f"d{number}.example.com")
    first = await project.client.get("/domains?limit=2")
    assert [domain["domain"] for domain in first.json()] == ["d2.example.com", "d1.example.com"]
    link = first.headers["link"].partition("<")[2].partition(">")[0]
    second = await project.client.get("/domains?" + link.partition("?")[2])
    assert [domain["domain"] for domain in second.json()] == ["d0.example.com"]


async def test_the_signers_of_a_domain(project, zone, world):
    domain = await add_domain(project)
    domain_row = await sending_domain(world.db, UUID(project.id), "Example.com")
    assert (domain_row.status, domain_row.may_send) == ("PENDING", False)
    (rsa,) = await signers(world, domain_row)
    assert isinstance(rsa.private_key, RSAPrivateKey)
    assert (rsa.domain, rsa.selector) == ("example.com", domain["dkimTokens"][0])
    publish(zone, domain)
    await project.client.post(f"/domains/{domain['id']}/verify")
    domain_row = await sending_domain(world.db, UUID(project.id), "example.com")
    assert domain_row.may_send
    rsa, ed25519 = await signers(world, domain_row)
    assert isinstance(ed25519.private_key, Ed25519PrivateKey), "the Ed25519 key signs once it is published"
    assert (await signers(world, domain_row))[0].private_key is rsa.private_key, "signers are cached"
    assert await sending_domains(world.db, UUID(project.id), [domain_row.id]) == [domain_row]
    assert await sending_domain(world.db, UUID(project.id), "mail.example.com") is None


async def test_signatures_verify_with_the_published_keys(project, zone, world):
    await add_verified_domain(project, zone)
    domain_row = await sending_domain(world.db, UUID(project.id), "example.com")
    message = b"From: a@example.com\r\nTo: b@example.net\r\nSubject: Hello\r\n\r\nHello.\r\n"
    signed = sign(message, await signers(world, domain_row), now=int(world.clock().timestamp()))

    for index in range(2):
        (key,) = await world.resolver.txt(selector_of(signed, index))
        checker = dkim.DKIM(signed)
        assert checker.verify(idx=index, dnsfunc=lambda name, timeout=5, key=key: key.encode()), index


def selector_of(signed, index):
    fields = re.findall(rb"DKIM-Signature:.*?\bs=([a-z2-7]+);", signed, re.DOTALL)
    return f"{fields[index].decode()}._domainkey.example.com"


async def test_private_keys_are_stored_encrypted_and_never_returned(project, world):
    domain = await add_domain(project)
    assert "PRIVATE" not in (await project.client.get(f"/domains/{domain['id']}")).text
    async with world.db.connection() as connection:
        rows = await (
            await connection.execute("select private_key from domain_keys where domain_id = %s", [domain["id"]])
        ).fetchall()
    assert len(rows) == 3
    assert not any(b"PRIVATE" in bytes(key) for (key,) in rows)


async def test_keys_rotate_only_to_a_published_key(project, zone, clock, run_due_work, world):
    domain = await add_domain(project, "keys.example.org")
    publish(zone, domain, "DKIM")
    refused = await project.client.post(f"/domains/{domain['id']}/rotate-keys")
    assert (refused.status_code, refused.json()["code"]) == (409, "next_key_unpublished")
    publish(zone, domain)
    await project.client.post(f"/domains/{domain['id']}/verify")
    rotated = (await project.client.post(f"/domains/{domain['id']}/rotate-keys")).json()
    assert rotated["dkimTokens"] == domain["dkimTokens"][::-1]
    assert {record["name"]: record["value"] for record in rotated["records"]} == {
        record["name"]: record["value"] for record in domain["records"]
    }
    signer = (await signers(world, await sending_domain(world.db, UUID(project.id), "keys.example.org")))[0]
    assert signer.selector == domain["dkimTokens"][1]
    assert (await project.client.post(f"/domains/{domain['id']}/rotate-keys")).status_code == 409, (
        "there is no NEXT key yet"
    )
    clock.move(7 * DAY)
    await run_due_work()
    domain_later = (await project.client.get(f"/domains/{domain['id']}")).json()
    assert domain_later["status"] == "VERIFIED"
    assert domain_later["dkimTokens"] == rotated["dkimTokens"]
    next_record = by_purpose(domain_later)["DKIM_NEXT"]
    assert next_record["value"] != by_purpose(domain)["DKIM"]["value"], "a new key with the selector of the retired one"
    publish(zone, domain_later)
    rotated_again = (await project.client.post(f"/domains/{domain['id']}/rotate-keys")).json()
    assert rotated_again["dkimTokens"] == domain["dkimTokens"]
    signer = (await signers(world, await sending_domain(world.db, UUID(project.id), "keys.example.org")))[0]
    assert key_record(signer.private_key) == next_record["value"]


# Blocklists


@pytest.fixture
def healthy_blocklists(zone):
    """Healthy blocklists that list only their test entries (RFC 5782)."""
    for blocklist in ZONES:
        zone.add(f"{blocklist.listed_probe}.{blocklist.name}", "A", "127.0.0.2")
    return zone


async def blocklist_status(project, domain):
    response = await project.client.get(f"/domains/{domain['id']}/blocklist-status")
    return {(entry["listName"], entry["subjectValue"]): entry for entry in response.json()}


async def test_blocklist_entries_exist_at_once_and_are_checked_soon(project, healthy_blocklists, run_due_work):
    domain = await add_domain(project, "news.example.com")
    entries = await blocklist_status(project, domain)
    assert len(entries) == 5 + 3 * 2
    assert {entry["status"] for entry in entries.values()} == {"UNKNOWN"}
    assert {entry["lastCheckedAt"] for entry in entries.values()} == {None}
    await run_due_work()
    entries = await blocklist_status(project, domain)
    assert {entry["status"] for entry in entries.values()} == {"CLEAR"}
    assert {subject for _, subject in entries} == {ADDRESS, "news.example.com", "example.com"}
    assert all(entry["lastCheckedAt"] and not entry["listed"] for entry in entries.values())


async def test_a_listing_and_a_delisting_have_one_event_each(project, healthy_blocklists, clock, run_due_work):
    domain = await add_domain(project)
    await run_due_work()
    healthy_blocklists.add("10.2.0.192.zen.spamhaus.org", "A", "127.0.0.3")
    for _ in range(2):
        clock.move(6 * HOUR)
        await run_due_work()
    entry = (await blocklist_status(project, domain))["zen.spamhaus.org", ADDRESS]
    assert (entry["listed"], entry["status"], entry["codes"]) == (True, "LISTED", ["127.0.0.3"])
    assert entry["firstListedAt"] < entry["lastCheckedAt"]
    assert (await event_types(project)).count("domain.blocklisted") == 1
    healthy_blocklists.remove("10.2.0.192.zen.spamhaus.org")
    clock.move(6 * HOUR)
    await run_due_work()
    entry = (await blocklist_status(project, domain))["zen.spamhaus.org", ADDRESS]
    assert (entry["listed"], entry["firstListedAt"]) == (False, None)
    assert (await event_types(project))[-1] == "domain.delisted"


@pytest.mark.parametrize("code", ["127.255.255.254", "127.0.0.1", "203.0.113.9"])
async def test_a_blocklist_that_refuses_queries_changes_nothing(project, healthy_blocklists, clock, run_due_work, code):
    domain = await add_domain(project)
    healthy_blocklists.set("example.com.multi.uribl.com", "A", code)
    await run_due_work()
    entry = (await blocklist_status(project, domain))["multi.uribl.com", "example.com"]
    assert (entry["listed"], entry["status"]) == (False, "UNKNOWN")
    healthy_blocklists.set("example.com.multi.uribl.com", "A", "127.0.0.2")
    clock.move(HOUR)
    await run_due_work()
    assert (await blocklist_status(project, domain))["multi.uribl.com", "example.com"]["listed"] is True
    healthy_blocklists.set("example.com.multi.uribl.com", "A", code)
    clock.move(6 * HOUR)
    await run_due_work()
    entry = (await blocklist_status(project, domain))["multi.uribl.com", "example.com"]
    assert (entry["listed"], entry["status"]) == (True, "UNKNOWN"), "an UNKNOWN result does not change `listed`"
    assert (await event_types(project)).count("domain.delisted") == 0


async def test_a_blocklist_that_does_not_respond_is_unknown(project, zone, run_due_work):
    domain = await add_domain(project)
    await run_due_work()
    assert {entry["status"] for entry in (await blocklist_status(project, domain)).values()} == {"UNKNOWN"}
    assert "domain.blocklisted" not in await event_types(project)


def test_a_key_record_in_quotation_marks_is_reported():
    """Regression test of M6 (tests/defects.md)."""
    fault = key_record_error('"v=DKIM1; p=abc"', algorithm="rsa-sha256", public_key="abc")
    assert fault is not None
    assert "quotation marks" in fault.message


def key_record_of(domain):
    return by_purpose(domain)["DKIM"]


@pytest.mark.parametrize(
    ("damage", "expected_words"),
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
async def test_a_key_that_receivers_cannot_use_is_not_verified(project, zone, damage, expected_words):
    """Regression test of M6 (tests/defects.md)."""
    domain = await add_domain(project)
    record = key_record_of(domain)
    zone.set(record["name"], "TXT", damage(record["value"]))
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert (checked["status"], key_record_of(checked)["status"]) != ("VERIFIED", "VERIFIED")
    assert key_record_of(checked)["status"] == "WRONG"
    assert expected_words in key_record_of(checked)["reason"]
    assert key_record_of(checked)["found"]


@pytest.mark.parametrize(
    "rewrite",
    [
        lambda value: value.replace("v=DKIM1; k=rsa; ", ""),
        lambda value: value.replace("; ", ";") + ";",
        lambda value: value.replace("k=rsa", "h=sha1:sha256; k=rsa; s=email:tlsrpt; t=s; n=some notes; x=1"),
        lambda value: value.replace("k=rsa", "s=*"),
        lambda value: value.replace("p=", "p = ").replace("MII", "MII "),
    ],
)
async def test_every_valid_form_of_a_key_record_is_verified(project, zone, rewrite):
    """Regression test of M6 (tests/defects.md)."""
    domain = await add_domain(project)
    record = key_record_of(domain)
    zone.set(record["name"], "TXT", rewrite(record["value"]))
    checked = (await project.client.post(f"/domains/{domain['id']}/verify")).json()
    assert key_record_of(checked)["status"] == "VERIFIED", key_record_of(checked)
