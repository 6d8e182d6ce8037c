"""Domains of organizations: verification, lapse, and automatic joining."""

import asyncio
from datetime import timedelta

import pytest

from postern.identity.organizations.model import NEXT_DOMAIN_STATUS
from postern.identity.organizations.rules import (
    domain_input,
    is_mailbox_provider_domain,
    time_until_next_check,
)
from postern.protocols.mail.mailbox_providers import mailbox_provider_domains

STATUSES = ("PENDING", "VERIFIED", "FAILED", "LAPSED")


def path_of(domain: dict) -> str:
    return f"/b2b/organizations/{domain['organizationId']}/domains/{domain['id']}"


async def get_domain(project, domain):
    domains = (await project.client.get(f"/b2b/organizations/{domain['organizationId']}/domains")).json()
    return next(listed_domain for listed_domain in domains if listed_domain["id"] == domain["id"])


async def verify(project, domain):
    return await project.client.post(f"{path_of(domain)}/verify")


async def join(project, customer):
    response = await project.client.post("/b2b/domain-join", {"customerId": customer["id"]})
    assert response.status_code == 200, response.text
    return response.json()


async def test_a_domain_is_verified_by_its_txt_record(project, directory, zone):
    acme = await directory.organization()
    domain = await directory.domain(acme, "ACME.example.")
    assert (domain["domain"], domain["status"], domain["autoJoinEnabled"]) == ("acme.example", "PENDING", False)
    assert domain["recordName"] == "_postern-verification.acme.example"
    prefix, _, token = domain["record"].partition("=")
    assert (prefix, len(token)) == ("postern-verification", 32)
    without_record = (await verify(project, domain)).json()
    assert (without_record["status"], without_record["reason"]) == ("PENDING", "RECORD_NOT_FOUND")
    zone.add(domain["recordName"], "TXT", "something else", domain["record"])
    with_record = (await verify(project, domain)).json()
    assert (with_record["status"], with_record["reason"]) == ("VERIFIED", None)
    assert with_record["verifiedAt"] is not None
    assert [event["data"]["domain"] for event in await directory.events("organization.domain_verified")] == [
        "acme.example"
    ]
    removed = await project.client.delete(path_of(domain))
    assert removed.json() == {"removed": True}
    assert (await project.client.delete(path_of(domain))).status_code == 404


async def test_the_worker_verifies_a_domain_or_fails_it_after_thirty_days(project, directory, clock, run_due_work):
    acme = await directory.organization()
    published, unpublished = [await directory.domain(acme, name) for name in ("one.example", "two.example")]
    await run_due_work()
    assert (await get_domain(project, published))["status"] == "PENDING"
    directory.publish(published)
    clock.move(timedelta(minutes=1))
    await run_due_work()
    assert (await get_domain(project, published))["status"] == "VERIFIED"
    clock.move(timedelta(days=30))
    await run_due_work()
    failed = await get_domain(project, unpublished)
    assert (failed["status"], failed["nextCheckAt"]) == ("FAILED", None)
    restarted = (await verify(project, unpublished)).json()
    assert (restarted["status"], restarted["nextCheckAt"] is None) == ("PENDING", False)


async def test_dns_failures_do_not_count_as_a_missing_record(project, directory, zone, clock, run_due_work):
    domain = await directory.verified_domain(await directory.organization(), "acme.example")
    zone.servfail(domain["recordName"], "TXT")
    for _ in range(6):
        clock.move(timedelta(days=1))
        await run_due_work()
    checked = await get_domain(project, domain)
    assert (checked["status"], checked["reason"], checked["missingSince"]) == ("VERIFIED", "DNS_UNAVAILABLE", None)


async def test_a_domain_lapses_after_three_missing_records_in_72_hours(
    project, directory, zone, clock, run_due_work, auth
):
    acme = await directory.organization()
    domain = await directory.verified_domain(acme, "acme.example")
    old_record = domain["record"]
    zone.remove(domain["recordName"])
    for day in range(4):
        assert (await get_domain(project, domain))["status"] == "VERIFIED", day
        clock.move(timedelta(days=1))
        await run_due_work()
    lapsed = await get_domain(project, domain)
    assert (lapsed["status"], lapsed["autoJoinEnabled"]) == ("LAPSED", False)
    assert [event["data"]["domain"] for event in await directory.events("organization.domain_lapsed")] == [
        "acme.example"
    ]
    ada = await directory.customer("ada@acme.example")
    assert (await auth.sign_in(ada["email"])).status_code == 200
    assert await directory.members_of(acme) == []
    assert (await join(project, ada))["reason"] == "NO_MATCHING_DOMAIN"
    # The next registrant of the name can find the old record in DNS history, so it must not verify the domain.
    assert lapsed["record"] != old_record
    zone.add(domain["recordName"], "TXT", old_record)
    assert (await verify(project, domain)).json()["status"] == "LAPSED"
    directory.publish(lapsed)
    verified_again = (await verify(project, domain)).json()
    assert (verified_again["status"], verified_again["autoJoinEnabled"]) == ("VERIFIED", False)


async def test_a_record_that_returns_in_time_keeps_the_domain_verified(project, directory, zone, clock, run_due_work):
    domain = await directory.verified_domain(await directory.organization(), "acme.example")
    zone.remove(domain["recordName"])
    for _ in range(3):
        clock.move(timedelta(days=1))
        await run_due_work()
    assert (await get_domain(project, domain))["missingSince"] is not None
    directory.publish(domain)
    clock.move(timedelta(days=1))
    await run_due_work()
    zone.remove(domain["recordName"])
    for _ in range(3):
        clock.move(timedelta(days=1))
        await run_due_work()
    checked = await get_domain(project, domain)
    assert (checked["status"], checked["autoJoinEnabled"]) == ("VERIFIED", True)


async def test_a_verified_domain_cannot_be_verified_by_another_organization(project, directory):
    domain = await directory.verified_domain(await directory.organization(), "acme.example")
    other = await directory.organization("Other")
    path = f"/b2b/organizations/{other['id']}/domains"
    refused = await project.client.post(path, {"domain": "acme.example"})
    assert (refused.status_code, refused.json()["code"]) == (409, "domain_taken")
    foreign_path = f"{path}/{domain['id']}"
    for refused in (
        await project.client.post(f"{foreign_path}/verify"),
        await project.client.patch(foreign_path, {"autoJoinEnabled": False}),
        await project.client.delete(foreign_path),
    ):
        assert refused.status_code == 404


async def test_a_lapsed_domain_can_be_verified_by_another_organization(project, directory, zone, clock, run_due_work):
    acme, new_owner = await directory.organization(), await directory.organization("New owner")
    lapsed = await directory.verified_domain(acme, "acme.example")
    zone.remove(lapsed["recordName"])
    for _ in range(4):
        clock.move(timedelta(days=1))
        await run_due_work()
    await directory.verified_domain(new_owner, "acme.example")
    directory.publish(await get_domain(project, lapsed))
    refused = await verify(project, lapsed)
    assert (refused.status_code, refused.json()["code"]) == (409, "domain_taken")
    clock.move(timedelta(days=1))
    await run_due_work()
    checked = await get_domain(project, lapsed)
    assert (checked["status"], checked["reason"]) == ("LAPSED", "VERIFIED_BY_ANOTHER_ORGANIZATION")


async def test_concurrent_verifications_give_the_domain_to_the_first(project, directory, clock, run_due_work):
    acme, other = await directory.organization("One"), await directory.organization("Two")
    first, second = await directory.domain(acme, "acme.example"), await directory.domain(other, "acme.example")
    directory.publish(first)
    directory.publish(second)
    answers = await asyncio.gather(verify(project, first), verify(project, second))
    assert sorted(answer.status_code for answer in answers) == [200, 409]
    loser = second if answers[0].status_code == 200 else first
    clock.move(timedelta(minutes=1))
    await run_due_work()
    checked = await get_domain(project, loser)
    assert (checked["status"], checked["reason"]) == ("PENDING", "VERIFIED_BY_ANOTHER_ORGANIZATION")


async def test_the_same_domain_can_be_verified_in_two_projects(project, directory, new_project, zone, run_due_work):
    from tests.identity.organizations.conftest import Directory

    other_directory = Directory(await new_project(), zone, run_due_work)
    await directory.verified_domain(await directory.organization(), "acme.example")
    other_domain = await other_directory.verified_domain(await other_directory.organization(), "acme.example")
    assert (await project.client.get(f"/b2b/organizations/{other_domain['organizationId']}/domains")).status_code == 404


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
    assert len(mailbox_provider_domains()) > 600
    assert all(is_mailbox_provider_domain(name) for name in mailbox_provider_domains())
    others = ("acme.example", "notgmail.com", "yahoo-fans.com", "gmail.acme.com")
    assert not any(map(is_mailbox_provider_domain, others))


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


async def test_a_sign_in_adds_the_customer_to_the_organization_of_the_domain(project, directory, auth):
    acme = await directory.organization()
    domain = await directory.verified_domain(acme, "acme.example")
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
    assert [member["customerId"] for member in await directory.members_of(acme)] == [ada["id"]]


async def test_addresses_at_subdomains_do_not_join(project, directory, auth):
    acme = await directory.organization()
    await directory.verified_domain(acme, "acme.example")
    for address in ("ada@mail.acme.example", "bob@notacme.example", "eve@example"):
        customer = await project.client.post("/customers", {"email": address, "emailVerified": True})
        if customer.status_code == 201:
            assert (await join(project, customer.json()))["reason"] == "NO_MATCHING_DOMAIN"
    subdomain_owner = await directory.organization("Subdomain owner")
    await directory.verified_domain(subdomain_owner, "team.acme.example")
    ada = await directory.customer("ada@team.acme.example")
    await auth.sign_in(ada["email"])
    assert await directory.members_of(acme) == []
    assert [member["customerId"] for member in await directory.members_of(subdomain_owner)] == [ada["id"]]


async def test_concurrent_auto_join_joins_once(project, directory, auth):
    acme = await directory.organization()
    await directory.verified_domain(acme, "acme.example")
    ada = await directory.customer("ada@acme.example")
    sign_ins = [auth.sign_in(ada["email"]) for _ in range(3)]
    joins = [project.client.post("/b2b/domain-join", {"customerId": ada["id"]}) for _ in range(5)]
    responses = await asyncio.gather(*sign_ins, *joins)
    assert {response.status_code for response in responses} == {200}
    assert len(await directory.members_of(acme)) == 1
    assert len(await directory.events("organization.member_added")) == 1
    assert sum(response.json()["joined"] for response in responses[3:]) <= 1


async def test_domain_join_returns_every_result(project, directory):
    acme = await directory.organization()
    domain = await directory.verified_domain(acme, "acme.example", auto_join=False)
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
    unverified = await directory.customer("bob@acme.example", verified=False)
    assert (await join(project, unverified))["reason"] == "EMAIL_NOT_VERIFIED"
    for address, reason in (("eve@gmail.com", "PUBLIC_DOMAIN"), ("eve@other.example", "NO_MATCHING_DOMAIN")):
        answer = await join(project, await directory.customer(address))
        assert (answer["reason"], answer["organizationId"]) == (reason, None)
    assert (await project.client.post("/b2b/domain-join", {"customerId": "nobody"})).status_code == 404


def test_the_state_table_covers_every_state_and_result():
    inputs = {state_input for _, state_input in NEXT_DOMAIN_STATUS}
    assert set(NEXT_DOMAIN_STATUS) == {(status, state_input) for status in STATUSES for state_input in inputs}


@pytest.mark.parametrize("status", STATUSES)
@pytest.mark.parametrize("record_exists", [True, False, None])
@pytest.mark.parametrize("days", [0, 4, 31])
@pytest.mark.parametrize("misses", [1, 3])
def test_dns_results_are_interpreted(clock, status, record_exists, days, misses):
    since, now = clock(), clock() + timedelta(days=days)
    outcome = domain_input(
        status, record_exists=record_exists, watched_since=since, missing_since=since, misses=misses, now=now
    )
    if record_exists is not False:
        assert outcome == ("SEEN" if record_exists else "UNSURE")
        return
    too_long = days == 31 if status != "VERIFIED" else days >= 3 and misses >= 3
    assert outcome == ("MISSING_TOO_LONG" if too_long else "MISSING")


def test_the_schedule_of_domain_checks(clock):
    since, minute = clock(), timedelta(minutes=1)
    now, waits = since, []
    while now < since + timedelta(days=1):
        wait = time_until_next_check("PENDING", watched_since=since, now=now)
        waits.append(wait)
        now += wait
    assert waits[:28] == [minute] * 10 + [10 * minute] * 18
    assert set(waits[28:]) == {60 * minute}
    assert time_until_next_check("VERIFIED", watched_since=since, now=now) == timedelta(days=1)
    assert time_until_next_check("FAILED", watched_since=since, now=now) is None
