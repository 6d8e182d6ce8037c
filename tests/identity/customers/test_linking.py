"""Linking an account at a provider to the signed-in customer, and unlinking it."""

import asyncio
from datetime import timedelta
from urllib.parse import urlsplit

import pytest

from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.customers.test_providers import (
    BACK,
    CHALLENGE,
    VERIFIER,
    ProviderBrowser,
    provider,
    provider_browser,
    put,
    query_of,
    settings,
)

__all__ = ["provider", "provider_browser", "settings"]


async def begun(auth, key="ACME"):
    """The answer of our own address that the browser is sent to."""
    body = {"redirectUrl": BACK, "codeChallenge": CHALLENGE, "state": "mine"}
    asked = await auth.post(f"/identities/{key}/link", body)
    assert asked.status_code == 200, asked.text
    url = urlsplit(asked.json()["url"])
    return await auth.client.request("GET", f"{url.path}?{url.query}")


async def come_back(auth, provider_browser, **claims):
    provider_browser.provider.claims = claims
    back = query_of(await provider_browser.come_back(await begun(auth)))
    assert back["state"] == "mine"
    return back["code"]


async def finish(auth, code, verifier=VERIFIER):
    return await auth.post("/identities", {"code": code, "codeVerifier": verifier})


async def test_a_provider_account_is_linked_and_can_then_sign_in(provider_browser, auth, project):
    address = new_address()
    up = await auth.signed_up(address)
    ada = auth.as_(up["accessToken"])
    # Whatever address the account elsewhere has, verified or not: the person proves both accounts.
    code = await come_back(ada, provider_browser, sub="42", email=new_address(), email_verified=False)
    assert (await ada.get("/me")).json()["identities"] == ["PASSWORD"], "coming back links nothing by itself"
    linked = await finish(ada, code)
    assert (linked.status_code, linked.json()["identities"]) == (200, ["ACME", "PASSWORD"])
    assert linked.json()["email"] == address
    assert (await finish(ada, code)).status_code == 401, "it works once"
    into = await provider_browser.sign_in(sub="42")
    assert into["customer"]["id"] == up["customer"]["id"]
    events = (await project.client.get(f"/customers/{up['customer']['id']}/events")).json()["data"]
    assert any(each["type"] == "customer.linked" and each["metadata"]["provider"] == "ACME" for each in events)
    assert any("How you sign in" in mail["subject"] for mail in await auth.mails(address))
    again = await come_back(ada, provider_browser, sub="42")
    assert (await finish(ada, again)).json()["identities"] == ["ACME", "PASSWORD"]


async def test_only_the_session_that_began_a_link_can_finish_it(provider_browser, auth):
    ada = auth.as_((await auth.signed_up())["accessToken"])
    mallory_address = new_address()
    mallory = auth.as_((await auth.signed_up(mallory_address))["accessToken"])
    code = await come_back(mallory, provider_browser, sub="ada elsewhere")
    # Ada was lured into opening Mallory's address, and her app is given what came back.
    assert (await finish(ada, code)).status_code == 401
    assert (await finish(mallory, code, "w" * 50)).status_code == 401, "another app's verifier"
    second = auth.as_((await auth.sign_in(mallory_address)).json()["accessToken"])
    assert (await finish(second, code)).status_code == 401, "another session"
    grant = await auth.post("/token", {"code": code, "codeVerifier": VERIFIER})
    assert grant.status_code == 401, "a code that links does not sign in"
    signed = query_of(await provider_browser.come_back(await provider_browser.start()))["code"]
    assert (await finish(mallory, signed)).status_code == 401, "a code that signs in does not link"
    await mallory.post("/sign-out")
    assert (await finish(mallory, code)).status_code == 401


async def test_a_link_url_works_once_and_only_for_its_provider(provider_browser, auth, provider):
    await put(auth, "OTHER", provider.issuer)
    ada = auth.as_((await auth.signed_up())["accessToken"])
    body = {"redirectUrl": BACK, "codeChallenge": CHALLENGE}
    url = (await ada.post("/identities/ACME/link", body)).json()["url"]
    path = urlsplit(url)._replace(scheme="", netloc="").geturl()
    elsewhere_path = path.replace("/providers/ACME/", "/providers/OTHER/")
    assert (await ada.client.request("GET", elsewhere_path)).status_code == 400
    assert (await ada.client.request("GET", path)).status_code == 302
    assert (await ada.client.request("GET", path)).status_code == 400
    assert (await ada.post("/identities/NOWHERE/link", body)).status_code == 404
    evil = await ada.post("/identities/ACME/link", {**body, "redirectUrl": "https://evil.example/"})
    assert evil.status_code == 400


async def test_a_provider_account_of_another_customer_cannot_be_linked(provider_browser, auth):
    held = await provider_browser.sign_in(sub="42", email=new_address(), email_verified=True)
    ada = auth.as_((await auth.signed_up())["accessToken"])
    refused = await finish(ada, await come_back(ada, provider_browser, sub="42"))
    assert (refused.status_code, refused.json()["code"]) == (409, "identity_taken")
    assert (await provider_browser.sign_in(sub="42"))["customer"]["id"] == held["customer"]["id"]


async def test_concurrent_links_of_one_account_to_two_customers_one_wins(provider_browser, auth):
    people = [auth.as_((await auth.signed_up())["accessToken"]) for _ in range(3)]
    codes = [await come_back(each, provider_browser, sub="42") for each in people]
    answers = await asyncio.gather(*(finish(each, code) for each, code in zip(people, codes, strict=True)))
    assert sorted(each.status_code for each in answers) == [200, 409, 409]


async def test_linking_and_unlinking_require_a_recent_sign_in(provider_browser, auth, clock):
    up = await auth.signed_up()
    ada = auth.as_(up["accessToken"])
    await finish(ada, await come_back(ada, provider_browser, sub="42"))
    clock.move(timedelta(hours=1, minutes=1))
    renewed = (await auth.post("/token/refresh", {"refreshToken": up["refreshToken"]})).json()
    late = auth.as_(renewed["accessToken"])
    body = {"redirectUrl": BACK, "codeChallenge": CHALLENGE}
    for answer in (await late.post("/identities/ACME/link", body), await late.client.delete("/identities/ACME")):
        assert (answer.status_code, answer.json()["code"]) == (403, "not_fresh")


async def test_an_account_is_unlinked_unless_it_is_the_last_sign_in_method(provider_browser, auth, project):
    address = new_address()
    ada = auth.as_((await auth.signed_up(address))["accessToken"])
    await finish(ada, await come_back(ada, provider_browser, sub="42"))
    assert (await ada.client.delete("/identities/PASSWORD")).status_code == 404
    assert (await ada.client.delete("/identities/ACME")).status_code == 204
    assert (await ada.client.delete("/identities/ACME")).status_code == 404
    assert (await ada.get("/me")).json()["identities"] == ["PASSWORD"]
    somebody = await provider_browser.sign_in(sub="42")
    assert somebody["customer"]["email"] is None, "whoever comes by it now is somebody new"
    only = auth.as_(somebody["accessToken"])
    refused = await only.client.delete("/identities/ACME")
    assert (refused.status_code, refused.json()["code"]) == (409, "last_way_in")
    assert (await auth.sign_in(address, GOOD)).status_code == 200


async def test_concurrent_first_sign_ins_of_a_provider_account_create_one_customer(provider_browser, project):
    provider_browser.provider.claims = {"sub": "42"}
    started = [await provider_browser.start() for _ in range(4)]
    answers = [query_of(each) for each in await asyncio.gather(*(provider_browser.come_back(each) for each in started))]
    assert any("code" in each for each in answers)
    assert (await project.client.get("/customers/stats")).json()["total"] == 1
    assert (await provider_browser.sign_in(sub="42"))["customer"]["identities"] == ["ACME"]


@pytest.mark.parametrize("who", ["somebody banned", "a provider switched off"])
async def test_linking_fails_after_a_ban_or_when_the_provider_was_disabled(
    provider_browser, auth, project, provider, who
):
    up = await auth.signed_up()
    ada = auth.as_(up["accessToken"])
    if who == "somebody banned":
        code = await come_back(ada, provider_browser, sub="42")
        await project.client.post(f"/customers/{up['customer']['id']}/ban")
        assert (await finish(ada, code)).status_code == 401
    else:
        started = await begun(ada)
        await put(auth, "ACME", provider.issuer, enabled=False)
        assert query_of(await ProviderBrowser(auth, provider).come_back(started))["error"] == "provider_error"
