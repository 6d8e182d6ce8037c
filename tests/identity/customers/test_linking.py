"""Linking an account at a provider to the signed-in customer, and unlinking it."""

import asyncio
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_providers import (
    CHALLENGE,
    REDIRECT_URL,
    VERIFIER,
    ProviderBrowser,
    provider,
    provider_browser,
    put,
    query_of,
    settings,
)

__all__ = ["provider", "provider_browser", "settings"]


async def start_linking(auth, key="ACME"):
    """Begin to link an account, and open the returned URL. Returns the redirect to the provider."""
    body = {"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE, "state": "app-state"}
    link = await auth.post(f"/identities/{key}/link", body)
    assert link.status_code == 200, link.text
    url = urlsplit(link.json()["url"])
    return await auth.client.request("GET", f"{url.path}?{url.query}")


async def code_of_account(auth, provider_browser, **claims):
    """Sign in to the provider to link an account with these claims. Returns the code that finishes the link."""
    provider_browser.provider.claims = claims
    parameters = query_of(await provider_browser.come_back(await start_linking(auth)))
    assert parameters["state"] == "app-state"
    return parameters["code"]


async def finish(auth, code, verifier=VERIFIER):
    return await auth.post("/identities", {"code": code, "codeVerifier": verifier})


async def test_a_provider_account_is_linked_and_can_then_sign_in(provider_browser, auth, project):
    address = new_address()
    sign_up = await auth.signed_up(address)
    ada = auth.as_(sign_up["accessToken"])
    # The address of the account at the provider does not matter: the customer has proved to own both accounts.
    code = await code_of_account(ada, provider_browser, sub="42", email=new_address(), email_verified=False)
    assert (await ada.get("/me")).json()["identities"] == ["PASSWORD"], "the redirect itself links nothing"
    linked = await finish(ada, code)
    assert (linked.status_code, linked.json()["identities"]) == (200, ["ACME", "PASSWORD"])
    assert linked.json()["email"] == address
    assert (await finish(ada, code)).status_code == 401, "a code works once"
    signed_in = await provider_browser.sign_in(sub="42")
    assert signed_in["customer"]["id"] == sign_up["customer"]["id"]
    events = (await project.client.get(f"/customers/{sign_up['customer']['id']}/events")).json()["data"]
    assert any(event["type"] == "customer.linked" and event["metadata"]["provider"] == "ACME" for event in events)
    assert any("How you sign in" in mail["subject"] for mail in await auth.mails(address))
    again = await code_of_account(ada, provider_browser, sub="42")
    assert (await finish(ada, again)).json()["identities"] == ["ACME", "PASSWORD"]


async def test_only_the_session_that_began_a_link_can_finish_it(provider_browser, auth):
    ada = auth.as_((await auth.signed_up())["accessToken"])
    mallory_address = new_address()
    mallory = auth.as_((await auth.signed_up(mallory_address))["accessToken"])
    code = await code_of_account(mallory, provider_browser, sub="42")
    # Mallory got Ada to open Mallory's link, so Ada's app receives the code.
    assert (await finish(ada, code)).status_code == 401
    assert (await finish(mallory, code, "w" * 50)).status_code == 401, "another app's verifier"
    second = auth.as_((await auth.sign_in(mallory_address)).json()["accessToken"])
    assert (await finish(second, code)).status_code == 401, "another session"
    grant = await auth.post("/token", {"code": code, "codeVerifier": VERIFIER})
    assert grant.status_code == 401, "a code that links does not sign in"
    sign_in_code = query_of(await provider_browser.come_back(await provider_browser.start()))["code"]
    assert (await finish(mallory, sign_in_code)).status_code == 401, "a code that signs in does not link"
    await mallory.post("/sign-out")
    assert (await finish(mallory, code)).status_code == 401


async def test_a_link_url_works_once_and_only_for_its_provider(provider_browser, auth, provider):
    await put(auth, "OTHER", provider.issuer)
    ada = auth.as_((await auth.signed_up())["accessToken"])
    body = {"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE}
    url = (await ada.post("/identities/ACME/link", body)).json()["url"]
    path = urlsplit(url)._replace(scheme="", netloc="").geturl()
    other_path = path.replace("/providers/ACME/", "/providers/OTHER/")
    assert (await ada.client.request("GET", other_path)).status_code == 400
    assert (await ada.client.request("GET", path)).status_code == 302
    assert (await ada.client.request("GET", path)).status_code == 400
    assert (await ada.post("/identities/UNKNOWN/link", body)).status_code == 404
    evil = await ada.post("/identities/ACME/link", {**body, "redirectUrl": "https://evil.example/"})
    assert evil.status_code == 400


async def test_a_provider_account_of_another_customer_cannot_be_linked(provider_browser, auth):
    first = await provider_browser.sign_in(sub="42", email=new_address(), email_verified=True)
    ada = auth.as_((await auth.signed_up())["accessToken"])
    refused = await finish(ada, await code_of_account(ada, provider_browser, sub="42"))
    assert (refused.status_code, refused.json()["code"]) == (409, "identity_taken")
    assert (await provider_browser.sign_in(sub="42"))["customer"]["id"] == first["customer"]["id"]


async def test_concurrent_links_of_one_account_to_two_customers_one_wins(provider_browser, auth):
    customers = [auth.as_((await auth.signed_up())["accessToken"]) for _ in range(3)]
    codes = [await code_of_account(person, provider_browser, sub="42") for person in customers]
    responses = await asyncio.gather(*(finish(person, code) for person, code in zip(customers, codes, strict=True)))
    assert sorted(response.status_code for response in responses) == [200, 409, 409]


async def test_linking_and_unlinking_require_a_recent_sign_in(provider_browser, auth, clock):
    sign_up = await auth.signed_up()
    ada = auth.as_(sign_up["accessToken"])
    await finish(ada, await code_of_account(ada, provider_browser, sub="42"))
    clock.move(timedelta(hours=1, minutes=1))
    renewed = (await auth.post("/token/refresh", {"refreshToken": sign_up["refreshToken"]})).json()
    late = auth.as_(renewed["accessToken"])
    body = {"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE}
    for response in (await late.post("/identities/ACME/link", body), await late.client.delete("/identities/ACME")):
        assert (response.status_code, response.json()["code"]) == (401, "not_fresh")


async def test_an_account_is_unlinked_unless_it_is_the_last_sign_in_method(provider_browser, auth, project):
    address = new_address()
    ada = auth.as_((await auth.signed_up(address))["accessToken"])
    await finish(ada, await code_of_account(ada, provider_browser, sub="42"))
    assert (await ada.client.delete("/identities/PASSWORD")).status_code == 404
    assert (await ada.client.delete("/identities/ACME")).status_code == 204
    assert (await ada.client.delete("/identities/ACME")).status_code == 404
    assert (await ada.get("/me")).json()["identities"] == ["PASSWORD"]
    new_customer = await provider_browser.sign_in(sub="42")
    assert new_customer["customer"]["email"] is None, "the unlinked account now signs up a new customer"
    new_client = auth.as_(new_customer["accessToken"])
    refused = await new_client.client.delete("/identities/ACME")
    assert (refused.status_code, refused.json()["code"]) == (409, "last_sign_in_method")
    assert (await auth.sign_in(address, GOOD)).status_code == 200


async def test_concurrent_first_sign_ins_of_a_provider_account_create_one_customer(provider_browser, project):
    provider_browser.provider.claims = {"sub": "42"}
    starts = [await provider_browser.start() for _ in range(4)]
    redirects = await asyncio.gather(*(provider_browser.come_back(start) for start in starts))
    responses = [query_of(redirect) for redirect in redirects]
    assert any("code" in query for query in responses)
    assert (await project.client.get("/customers/stats")).json()["total"] == 1
    assert (await provider_browser.sign_in(sub="42"))["customer"]["identities"] == ["ACME"]


@pytest.mark.parametrize("disabled", ["customer", "provider"])
async def test_linking_fails_after_a_ban_or_when_the_provider_was_disabled(
    provider_browser, auth, project, provider, disabled
):
    sign_up = await auth.signed_up()
    ada = auth.as_(sign_up["accessToken"])
    if disabled == "customer":
        code = await code_of_account(ada, provider_browser, sub="42")
        await project.client.post(f"/customers/{sign_up['customer']['id']}/ban")
        assert (await finish(ada, code)).status_code == 401
    else:
        started = await start_linking(ada)
        await put(auth, "ACME", provider.issuer, enabled=False)
        assert query_of(await ProviderBrowser(auth, provider).come_back(started))["error"] == "provider_error"
