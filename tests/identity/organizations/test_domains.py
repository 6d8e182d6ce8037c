"""Domains of organizations: verification, lapse, and automatic joining."""

import asyncio
from datetime import timedelta

import pytest

from postern.identity.organizations.model import NEXT_DOMAIN_STATUS
from postern.identity.organizations.rules import (
    domain_input,
    is_public_mailbox,
    public_mailboxes,
    time_until_next_check,
)

STATUSES = ("PENDING", "VERIFIED", "FAILED", "LAPSED")


def path_of(domain: dict) -> str:
    return f"/b2b/organizations/{domain['organizationId']}/domains/{domain['id']}"


async def shown(project, domain):
    listed = (await project.client.get(f"/b2b/organizations/{domain['organizationId']}/domains")).json()
    return next(each for each in listed if each["id"] == domain["id"])


async def verify(project, domain):
    return await project.client.post(f"{path_of(domain)}/verify")


async def join(project, customer):
    answer = await project.client.post("/b2b/domain-join", {"customerId": customer["id"]})
    assert answer.status_code == 200, answer.text
    return answer.json()


async def test_a_domain_is_verified_by_its_txt_record(project, directory, zone):
    acme = await directory.organization()
    domain = await directory.domain(acme, "ACME.example.")
    assert (domain["domain"], domain["status"], domain["autoJoinEnabled"]) == ("acme.example", "PENDING", False)
    assert domain["recordName"] == "_postern-verification.acme.example"
    prefix, _, token = domain["record"].partition("=")
    assert (prefix, len(token)) == ("postern-verification", 32)
    missing = (await verify(project, domain)).json()
    assert (missing["status"], missing["reason"]) == ("PENDING", "RECORD_NOT_FOUND")
    zone.add(domain["recordName"], "TXT", "something else", domain["record"])
    found = (await verify(project, domain)).json()
    assert (found["status"], found["reason"]) == ("VERIFIED", None)
    assert found["verifiedAt"] is not None
    assert [each["data"]["domain"] for each in await directory.events("organization.domain_verified")] == [
        "acme.example"
    ]
    removed = await project.client.delete(path_of(domain))
    assert removed.json() == {"removed": True}
    assert (await project.client.delete(path_of(domain))).status_code == 404


async def test_the_worker_verifies_a_domain_or_fails_it_after_thirty_days(project, directory, clock, work_off):
    acme = await directory.organization()
    found, never = await directory.domain(acme, "found.example"), await directory.domain(acme, "never.example")
    await work_off()
    assert (await shown(project, found))["status"] == "PENDING"
    directory.publish(found)
    clock.move(timedelta(minutes=1))
    await work_off()
    assert (await shown(project, found))["status"] == "VERIFIED"
    clock.move(timedelta(days=30))
    await work_off()
    gone = await shown(project, never)
    assert (gone["status"], gone["nextCheckAt"]) == ("FAILED", None)
    again = (await verify(project, never)).json()
    assert (again["status"], again["nextCheckAt"] is None) == ("PENDING", False)


async def test_dns_failures_do_not_count_as_a_missing_record(project, directory, zone, clock, work_off):
    domain = await directory.proved(await directory.organization(), "acme.example")
    zone.servfail(domain["recordName"], "TXT")
    for _ in range(6):
        clock.move(timedelta(days=1))
        await work_off()
    now = await shown(project, domain)
    assert (now["status"], now["reason"], now["missingSince"]) == ("VERIFIED", "DNS_UNAVAILABLE", None)


async def test_a_domain_lapses_after_three_missing_records_in_72_hours(project, directory, zone, clock, work_off, auth):
    acme = await directory.organization()
    domain = await directory.proved(acme, "acme.example")
    old_record = domain["record"]
    zone.remove(domain["recordName"])
    for day in range(4):
        assert (await shown(project, domain))["status"] == "VERIFIED", day
        clock.move(timedelta(days=1))
        await work_off()
    lapsed = await shown(project, domain)
    assert (lapsed["status"], lapsed["autoJoinEnabled"]) == ("LAPSED", False)
    assert [each["data"]["domain"] for each in await directory.events("organization.domain_lapsed")] == ["acme.example"]
    ada = await directory.customer("ada@acme.example")
    assert (await auth.sign_in(ada["email"])).status_code == 200
    assert await directory.members_of(acme) == []
    assert (await join(project, ada))["reason"] == "NO_MATCHING_DOMAIN"
    # Whoever registers the name next can find the old record in the DNS's past: it proves nothing any more.
    assert lapsed["record"] != old_record
    zone.add(domain["recordName"], "TXT", old_record)
    assert (await verify(project, domain)).json()["status"] == "LAPSED"
    directory.publish(lapsed)
    proved = (await verify(project, domain)).json()
    assert (proved["status"], proved["autoJoinEnabled"]) == ("VERIFIED", False)


async def test_a_record_that_returns_in_time_keeps_the_domain_verified(project, directory, zone, clock, work_off):
    domain = await directory.proved(await directory.organization(), "acme.example")
    zone.remove(domain["recordName"])
    for _ in range(3):
        clock.move(timedelta(days=1))
        await work_off()
    assert (await shown(project, domain))["missingSince"] is not None
    directory.publish(domain)
    clock.move(timedelta(days=1))
    await work_off()
    zone.remove(domain["recordName"])
    for _ in range(3):
        clock.move(timedelta(days=1))
        await work_off()
    now = await shown(project, domain)
    assert (now["status"], now["autoJoinEnabled"]) == ("VERIFIED", True)


async def test_a_verified_domain_cannot_be_verified_by_another_organization(project, directory):
    domain = await directory.proved(await directory.organization(), "acme.example")
    thief = await directory.organization("Thief")
    path = f"/b2b/organizations/{thief['id']}/domains"
    taken = await project.client.post(path, {"domain": "acme.example"})
    assert (taken.status_code, taken.json()["code"]) == (409, "domain_taken")
    foreign = f"{path}/{domain['id']}"
    for refused in (
        await project.client.post(f"{foreign}/verify"),
        await project.client.patch(foreign, {"autoJoinEnabled": False}),
        await project.client.delete(foreign),
    ):
        assert refused.status_code == 404


async def test_a_lapsed_domain_can_be_verified_by_another_organization(project, directory, zone, clock, work_off):
    acme, heir = await directory.organization(), await directory.organization("Heir")
    lost = await directory.proved(acme, "acme.example")
    zone.remove(lost["recordName"])
    for _ in range(4):
        clock.move(timedelta(days=1))
        await work_off()
    await directory.proved(heir, "acme.example")
    directory.publish(await shown(project, lost))
    refused = await verify(project, lost)
    assert (refused.status_code, refused.json()["code"]) == (409, "domain_taken")
    clock.move(timedelta(days=1))
    await work_off()
    now = await shown(project, lost)
    assert (now["status"], now["reason"]) == ("LAPSED", "VERIFIED_BY_ANOTHER_ORGANIZATION")


async def test_concurrent_verifications_give_the_domain_to_the_first(project, directory, clock, work_off):
    one, two = await directory.organization("One"), await directory.organization("Two")
    first, second = await directory.domain(one, "acme.example"), await directory.domain(two, "acme.example")
    directory.publish(first)
    directory.publish(second)
    answers = await asyncio.gather(verify(project, first), verify(project, second))
    assert sorted(each.status_code for each in answers) == [200, 409]
    loser = second if answers[0].status_code == 200 else first
    clock.move(timedelta(minutes=1))
    await work_off()
    now = await shown(project, loser)
    assert (now["status"], now["reason"]) == ("PENDING", "VERIFIED_BY_ANOTHER_ORGANIZATION")


async def test_the_same_domain_can_be_verified_in_two_projects(project, directory, new_project, zone, work_off):
    from tests.identity.organizations.conftest import Directory

    elsewhere = Directory(await new_project(), zone, work_off)
    await directory.proved(await directory.organization(), "acme.example")
    theirs = await elsewhere.proved(await elsewhere.organization(), "acme.example")
    assert (await project.client.get(f"/b2b/organizations/{theirs['organizationId']}/domains")).status_code == 404


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("googlemail.com", "public_mailbox_provider"),
        ("gmail.com", "public_mailbox_provider"),
        ("GMX.de", "public_mailbox_provider"),
        ("yahoo.com.ph", "public_mailbox_provider"),
        ("mail.outlook.com", "public_mailbox_provider"),
        ("guerrillamail.com", "public_mailbox_provider"),
        ("com", "invalid_domain"),
        ("co.uk", "public_suffix"),
        ("github.io", "public_suffix"),
        ("192.0.2.1", "invalid_domain"),
        ("-acme.example", "invalid_domain"),
        ("ac me.example", "invalid_domain"),
        (".".join(["a" * 60] * 4), "invalid_domain"),
    ],
)
async def test_public_mailbox_domains_are_rejected(project, directory, name, code):
    acme = await directory.organization()
    refused = await project.client.post(f"/b2b/organizations/{acme['id']}/domains", {"domain": name})
    assert refused.status_code == 400
    assert refused.json()["errors"][0] | {"message": ""} == {"path": "/domain", "code": code, "message": ""}


def test_listed_mailbox_providers_are_public_and_similar_names_are_not():
    assert len(public_mailboxes()) > 600
    assert all(is_public_mailbox(name) for name in public_mailboxes())
    assert not any(map(is_public_mailbox, ("acme.example", "notgmail.com", "yahoo-fans.com", "gmail.acme.com")))


async def test_international_domains_are_normalized(project, directory):
    acme = await directory.organization()
    domain = await directory.domain(acme, "bücher.example")
    assert domain["domain"] == "xn--bcher-kva.example"
    again = await project.client.post(f"/b2b/organizations/{acme['id']}/domains", {"domain": "xn--bcher-kva.example"})
    assert (again.status_code, again.json()["code"]) == (409, "domain_listed")


async def test_auto_join_requires_a_verified_domain(project, directory):
    acme = await directory.organization()
    domain = await directory.domain(acme, "acme.example")
    refused = await project.client.patch(path_of(domain), {"autoJoinEnabled": True})
    assert (refused.status_code, refused.json()["code"]) == (409, "domain_not_proved")
    assert (await project.client.patch(path_of(domain), {"autoJoinEnabled": False})).status_code == 200
    assert (await project.client.patch(path_of(domain), {"autoJoinEnabled": "yes"})).status_code == 400


async def test_signing_in_joins_the_organization_of_the_domain(project, directory, auth):
    acme = await directory.organization()
    domain = await directory.proved(acme, "acme.example")
    ada = await directory.customer("ada@ACME.example")
    assert await directory.members_of(acme) == []
    assert (await auth.sign_in("ada@acme.example")).status_code == 200
    (member,) = await directory.members_of(acme)
    assert (member["customerId"], member["roles"], member["source"]) == (ada["id"], ["MEMBER"], "DOMAIN")
    (event,) = await directory.events("organization.member_added")
    assert (event["subjectId"], event["actorType"], event["data"]["customerId"]) == (acme["id"], "CUSTOMER", ada["id"])
    await project.client.patch(path_of(domain), {"autoJoinEnabled": False})
    await directory.customer("bob@acme.example")
    await auth.sign_in("bob@acme.example")
    assert [each["customerId"] for each in await directory.members_of(acme)] == [ada["id"]]


async def test_subdomains_do_not_join(project, directory, auth):
    acme = await directory.organization()
    await directory.proved(acme, "acme.example")
    for address in ("ada@mail.acme.example", "bob@notacme.example", "eve@example"):
        customer = await project.client.post("/customers", {"email": address, "emailVerified": True})
        if customer.status_code == 201:
            assert (await join(project, customer.json()))["reason"] == "NO_MATCHING_DOMAIN"
    below = await directory.organization("Below")
    await directory.proved(below, "team.acme.example")
    ada = await directory.customer("ada@team.acme.example")
    await auth.sign_in(ada["email"])
    assert await directory.members_of(acme) == []
    assert [each["customerId"] for each in await directory.members_of(below)] == [ada["id"]]


async def test_concurrent_auto_join_joins_once(project, directory, auth):
    acme = await directory.organization()
    await directory.proved(acme, "acme.example")
    ada = await directory.customer("ada@acme.example")
    signed_in = [auth.sign_in(ada["email"]) for _ in range(3)]
    asked = [project.client.post("/b2b/domain-join", {"customerId": ada["id"]}) for _ in range(5)]
    answers = await asyncio.gather(*signed_in, *asked)
    assert {each.status_code for each in answers} == {200}
    assert len(await directory.members_of(acme)) == 1
    assert len(await directory.events("organization.member_added")) == 1
    assert sum(each.json()["joined"] for each in answers[3:]) <= 1


async def test_domain_join_returns_every_result(project, directory):
    acme = await directory.organization()
    domain = await directory.proved(acme, "acme.example", auto_join=False)
    ada = await directory.customer("ada@acme.example")
    assert await join(project, ada) == {
        "joined": False,
        "organizationId": acme["id"],
        "domain": "acme.example",
        "reason": "AUTO_JOIN_DISABLED",
    }
    await project.client.patch(path_of(domain), {"autoJoinEnabled": True})
    await project.client.patch(f"/b2b/organizations/{acme['id']}", {"status": "SUSPENDED"})
    assert (await join(project, ada))["reason"] == "ORGANIZATION_SUSPENDED"
    await project.client.patch(f"/b2b/organizations/{acme['id']}", {"status": "ACTIVE"})
    await project.client.post(f"/customers/{ada['id']}/ban", {})
    assert (await join(project, ada))["reason"] == "CUSTOMER_BANNED"
    await project.client.post(f"/customers/{ada['id']}/unban")
    joined = await join(project, ada)
    assert (joined["joined"], joined["reason"]) == (True, "JOINED")
    again = await join(project, ada)
    assert (again["joined"], again["reason"], again["organizationId"]) == (False, "ALREADY_MEMBER", acme["id"])
    unproved = await directory.customer("bob@acme.example", verified=False)
    assert (await join(project, unproved))["reason"] == "EMAIL_NOT_VERIFIED"
    for address, reason in (("eve@gmail.com", "PUBLIC_DOMAIN"), ("eve@other.example", "NO_MATCHING_DOMAIN")):
        answer = await join(project, await directory.customer(address))
        assert (answer["reason"], answer["organizationId"]) == (reason, None)
    assert (await project.client.post("/b2b/domain-join", {"customerId": "nobody"})).status_code == 404


def test_the_state_table_covers_every_state_and_result():
    signs = {sign for _, sign in NEXT_DOMAIN_STATUS}
    assert set(NEXT_DOMAIN_STATUS) == {(status, sign) for status in STATUSES for sign in signs}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("seen", [True, False, None])
@pytest.mark.parametrize("days", [0, 4, 31])
@pytest.mark.parametrize("misses", [1, 3])
def test_dns_results_are_interpreted(clock, status, seen, days, misses):
    since, now = clock(), clock() + timedelta(days=days)
    sign = domain_input(status, record_exists=seen, watched_since=since, missing_since=since, misses=misses, now=now)
    if seen is not False:
        assert sign == ("SEEN" if seen else "UNSURE")
        return
    too_long = days == 31 if status != "VERIFIED" else days >= 3 and misses >= 3
    assert sign == ("MISSING_TOO_LONG" if too_long else "MISSING")


def test_the_schedule_of_domain_checks(clock):
    since, minute = clock(), timedelta(minutes=1)
    now, looks = since, []
    while now < since + timedelta(days=1):
        wait = time_until_next_check("PENDING", watched_since=since, now=now)
        looks.append(wait)
        now += wait
    assert looks[:28] == [minute] * 10 + [10 * minute] * 18
    assert set(looks[28:]) == {60 * minute}
    assert time_until_next_check("VERIFIED", watched_since=since, now=now) == timedelta(days=1)
    assert time_until_next_check("FAILED", watched_since=since, now=now) is None
