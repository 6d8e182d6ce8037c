"""Links that developers and customers request by mail: they work once, and requests are limited by address."""

import asyncio

from tests.identity.customers.conftest import new_address
from tests.security.kinds import ip_addresses
from tests.security.test_factor_races import count_results

NEW_PASSWORD = "an entirely new password"


async def test_concurrent_uses_of_one_mailed_link_succeed_once(person):
    await person.request_reset("127.0.0.1")
    token = await person.reset_token()
    responses = await asyncio.gather(
        *(person.reset_password(token, f"{NEW_PASSWORD} {number}", ip) for number, ip in enumerate(ip_addresses()))
    )
    succeeded, statuses = count_results(responses)
    assert (succeeded, statuses - {400, 401, 429}) == (1, set())
    (winner,) = [number for number, response in enumerate(responses) if response.status_code == 204]
    assert (await person.sign_in(f"{NEW_PASSWORD} {winner}")).status_code == 200


async def test_a_link_requested_by_another_person_does_not_invalidate_an_earlier_one(person):
    """Regression test of I3 (tests/defects.md)."""
    await person.request_reset("127.0.0.1")
    token = await person.reset_token()
    for _ in range(3):
        assert (await person.request_reset("198.51.100.7")).status_code == 204
    stranger_token = await person.reset_token()
    assert stranger_token != token
    assert (await person.reset_password(token, NEW_PASSWORD, "127.0.0.1")).status_code == 204
    # The reset ends the other links, too: another person may have read them.
    assert (await person.reset_password(stranger_token, "again a new password", "127.0.0.1")).status_code in (400, 401)


async def test_requests_for_mail_to_one_address_are_limited_over_all_networks(person):
    """Neither the sender of many requests nor the response reveals whether the address has an account."""
    unknown = new_address()
    for number, address in enumerate((person.email, unknown)):
        for network in range(3):
            responses = [await person.request_reset(f"198.51.{number}.{network}", address) for _ in range(10)]
            assert {response.status_code for response in responses} == {204}
        refused = await person.request_reset(f"192.0.2.{number}", address)
        assert (refused.status_code, refused.json()["code"]) == (429, "too_many_requests")
    known_network = await person.request_reset("127.0.0.1")
    assert known_network.status_code == 204, "the person has signed in from this network"
    assert (await person.request_reset("127.0.0.1", unknown)).status_code == 429


async def test_addresses_of_one_mailbox_share_the_limit(person):
    local, _, domain = person.email.partition("@")
    for number in range(10):
        response = await person.request_reset("198.51.100.7", f"{local}+{number}@{domain}")
        assert response.status_code == 204, response.text
    assert (await person.request_reset("198.51.100.7", f"{local}+x@{domain}")).status_code == 429
