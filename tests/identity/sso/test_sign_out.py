"""Single logout, in both directions."""

import base64
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from lxml import etree

from tests.conftest import Client
from tests.identity.customers.test_erasure import places
from tests.identity.customers.test_second_factor import with_totp
from tests.identity.sso.conftest import REDIRECT_URL, VERIFIER, query_of
from tests.peers.identity_provider import keys, signed

SAMLP = "urn:oasis:names:tc:SAML:2.0:protocol"


@pytest.fixture
async def signed_in(connected):
    """Somebody with two sessions by single sign-on; the provider remembers who they are."""
    email = connected.address("maria")
    both = [await connected.browser().sign_in(email) for _ in range(2)]
    return email, both


def bearer(acme, signed_in):
    return Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")


async def is_in(acme, signed_in):
    return (await bearer(acme, signed_in).get("/me")).status_code == 200


def request_of(acme, email, index=None):
    acme.idp.now = acme.clock()
    raw = etree.fromstring(acme.idp.logout_request(acme.connection["spSloUrl"], name_id=f"subject-of-{email}"))
    for each in raw.findall(f"{{{SAMLP}}}SessionIndex"):
        if index is None:
            raw.remove(each)
        else:
            each.text = index
    return raw


async def test_an_idp_logout_ends_the_sessions_and_gets_a_response(connected, signed_in):
    email, both = signed_in
    other = await connected.browser().sign_in(connected.address("other"))
    query = connected.idp.redirect("SAMLRequest", etree.tostring(request_of(connected, email)), "keep me")
    answer = await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert answer.status_code == 302
    back = parse_qs(urlsplit(answer.headers["location"]).query)
    assert answer.headers["location"].startswith(f"{connected.idp.base}/logout?")
    assert (back["RelayState"], "SAMLResponse" in back) == (["keep me"], True)
    assert [await is_in(connected, each) for each in (*both, other)] == [False, False, True]
    again = await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert again.status_code == 302, "a signal seen before is no error"


async def test_a_replayed_logout_request_does_not_end_later_sessions(connected, signed_in, clock):
    """A logout request is valid for ten minutes and accepted once.

    Defects: S8
    """
    email, both = signed_in
    query = connected.idp.redirect("SAMLRequest", etree.tostring(request_of(connected, email)), "keep me")
    where = f"{connected.connection['spSloUrl']}?{query}"
    assert (await connected.browser().client.get(where)).status_code == 302
    later = await connected.browser().sign_in(email)
    clock.move(timedelta(minutes=4))
    again = await connected.browser().client.get(where)
    assert "SAMLResponse" in parse_qs(urlsplit(again.headers["location"]).query)
    assert await is_in(connected, later)
    assert not await is_in(connected, both[0])
    query = connected.idp.redirect("SAMLRequest", etree.tostring(request_of(connected, email)), "keep me")
    assert (await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")).status_code == 302
    assert not await is_in(connected, later), "a new message counts"


async def test_a_logout_of_another_session_index_ends_no_session(connected, signed_in):
    email, both = signed_in
    query = connected.idp.redirect("SAMLRequest", etree.tostring(request_of(connected, email, "_another")))
    answer = await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert answer.status_code == 302
    assert [await is_in(connected, each) for each in both] == [True, True]


async def test_an_http_post_logout_has_an_enveloped_signature(connected, signed_in):
    email, both = signed_in
    await connected.change(idpSloBinding="POST")
    raw = signed(request_of(connected, email, f"_session-{email}"), connected.idp.keys)
    form = {"SAMLRequest": base64.b64encode(etree.tostring(raw)).decode()}
    page = await connected.browser().post(connected.connection["spSloUrl"], form)
    assert (page.status_code, "SAMLResponse" in page.text) == (200, True)
    assert [await is_in(connected, each) for each in both] == [False, False]


@pytest.mark.parametrize("how", ["unsigned", "another key"])
async def test_a_forged_logout_ends_nothing(connected, signed_in, how):
    email, both = signed_in
    honest = connected.idp.keys
    if how == "another key":
        connected.idp.keys = keys("forger")
    query = connected.idp.redirect("SAMLRequest", etree.tostring(request_of(connected, email)))
    connected.idp.keys = honest
    if how == "unsigned":
        query = query.partition("&SigAlg")[0]
    answer = await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert answer.status_code == 403
    assert [await is_in(connected, each) for each in both] == [True, True]
    assert (await connected.traces())[0]["kind"] == "LOGOUT"


async def test_a_logout_revokes_unused_grants(connected):
    email, browser = connected.address(), connected.browser()
    code = query_of(await browser.arrive(email))["code"]
    query = connected.idp.redirect("SAMLRequest", etree.tostring(request_of(connected, email)))
    assert (await browser.client.get(f"{connected.connection['spSloUrl']}?{query}")).status_code == 302
    path = f"/projects/{connected.directory.project.id}/auth/token"
    late = await browser.client.post(path, {"code": code, "codeVerifier": VERIFIER})
    assert late.status_code == 401


async def test_a_logout_in_the_app_redirects_to_the_idp_and_back(connected, signed_in):
    _, (mine, other) = signed_in
    asked = await bearer(connected, mine).post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})
    assert asked.status_code == 200, asked.text
    url = asked.json()["url"]
    assert url.startswith(f"{connected.idp.base}/logout?SAMLRequest=")
    assert [await is_in(connected, each) for each in (mine, other)] == [False, True]
    relay_state = parse_qs(urlsplit(url).query)["RelayState"][0]
    connected.idp.now = connected.clock()
    said = connected.idp.logout_response(connected.connection["spSloUrl"], relay_state)
    query = connected.idp.redirect("SAMLResponse", said, relay_state)
    browser = connected.browser()
    back = await browser.client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert (back.status_code, back.headers["location"]) == (303, REDIRECT_URL)
    again = await browser.client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert again.status_code == 403


async def test_a_logout_of_a_session_without_sso_has_no_url(connected, auth):
    up = await auth.signed_up()
    answer = await bearer(connected, up).post("/sso/sign-out", {})
    assert (answer.status_code, answer.json()) == (200, {"url": None})
    assert not await is_in(connected, up)


async def test_erasing_a_customer_deletes_its_sso_sessions(connected, signed_in, world):
    _, (mine, _) = signed_in
    address = mine["customer"]["email"]
    browser = connected.browser()
    started = await browser.client.get((await connected.client.post(f"{connected.here}/test")).json()["url"])
    await browser.post(*browser.answer(started.headers["location"], address))
    known = {"sso_sign_ons.name_id", "sso_traces.profile", "customer_identities.subject"}
    assert known <= await places(world, [address])
    assert (await connected.client.delete(f"/customers/{mine['customer']['id']}")).status_code == 200
    assert await places(world, [address]) == set()
    async with world.db.connection() as connection:
        rows = await connection.execute(
            "select count(*) from sso_sign_ons where project_id = %s and name_id is not null",
            [connected.directory.project.id],
        )
        assert await rows.fetchone() == (0,)
    assert await connected.traces() == []


async def test_expired_sso_rows_are_deleted(connected, signed_in, work_off, clock, world):
    clock.move(timedelta(days=32))
    await work_off()
    async with world.db.connection() as connection:
        for table in ("sso_requests", "sso_sign_ons", "sso_traces"):
            rows = await connection.execute(
                f"select count(*) from {table} where project_id = %s", [connected.directory.project.id]
            )
            assert await rows.fetchone() == (0,), table


async def test_a_logout_also_ends_sessions_with_a_second_factor(connected, auth, clock):
    email = connected.address("maria")
    _, _, app, _ = await with_totp(auth, clock, email)
    asked = await connected.browser().sign_in(email)
    assert (asked["mfaRequired"], asked["accessToken"]) == (True, None)
    signed_in = (await auth.post("/mfa/verify", {"mfaToken": asked["mfaToken"], "code": app.code()})).json()
    assert await is_in(connected, signed_in)
    query = connected.idp.redirect("SAMLRequest", etree.tostring(request_of(connected, email)))
    assert (await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")).status_code == 302
    assert not await is_in(connected, signed_in)
