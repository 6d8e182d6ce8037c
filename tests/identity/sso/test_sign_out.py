"""Single logout, in both directions."""

import base64
from datetime import timedelta
from urllib.parse import parse_qs, urlsplit

import pytest
from lxml import etree

from tests.conftest import Client
from tests.identity.customers.test_erasure import columns_with
from tests.identity.customers.test_second_factor import with_totp
from tests.identity.sso.conftest import REDIRECT_URL, VERIFIER, query_of
from tests.peers.identity_provider import keys, signed

SAMLP = "urn:oasis:names:tc:SAML:2.0:protocol"


@pytest.fixture
async def sessions(connected):
    """The address of a customer with two sessions by single sign-on, and both sessions."""
    email = connected.address("maria")
    both = [await connected.browser().sign_in(email) for _ in range(2)]
    return email, both


def client_of(acme, session):
    return Client(acme.app, session["accessToken"], f"/projects/{acme.directory.project.id}/auth")


async def is_signed_in(acme, session):
    return (await client_of(acme, session).get("/me")).status_code == 200


def logout_request_of(acme, email, index=None):
    """A logout request of the provider, for all sessions of the user or for the session `index` at the provider."""
    acme.idp.now = acme.clock()
    request = etree.fromstring(acme.idp.logout_request(acme.connection["spSloUrl"], name_id=f"subject-of-{email}"))
    for session_index in request.findall(f"{{{SAMLP}}}SessionIndex"):
        if index is None:
            request.remove(session_index)
        else:
            session_index.text = index
    return request


async def test_an_idp_logout_ends_the_sessions_and_gets_a_response(connected, sessions):
    email, both = sessions
    other = await connected.browser().sign_in(connected.address("other"))
    query = connected.idp.redirect("SAMLRequest", etree.tostring(logout_request_of(connected, email)), "relay-state")
    answer = await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert answer.status_code == 302
    query_back = parse_qs(urlsplit(answer.headers["location"]).query)
    assert answer.headers["location"].startswith(f"{connected.idp.base}/logout?")
    assert (query_back["RelayState"], "SAMLResponse" in query_back) == (["relay-state"], True)
    assert [await is_signed_in(connected, session) for session in (*both, other)] == [False, False, True]
    again = await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert again.status_code == 302, "a repeated request is not an error"


async def test_a_replayed_logout_request_does_not_end_later_sessions(connected, sessions, clock):
    """A logout request is valid for ten minutes and accepted once.

    Regression test of S8 (tests/defects.md).
    """
    email, both = sessions
    query = connected.idp.redirect("SAMLRequest", etree.tostring(logout_request_of(connected, email)), "relay-state")
    url = f"{connected.connection['spSloUrl']}?{query}"
    assert (await connected.browser().client.get(url)).status_code == 302
    later = await connected.browser().sign_in(email)
    clock.move(timedelta(minutes=4))
    replay = await connected.browser().client.get(url)
    assert "SAMLResponse" in parse_qs(urlsplit(replay.headers["location"]).query)
    assert await is_signed_in(connected, later)
    assert not await is_signed_in(connected, both[0])
    query = connected.idp.redirect("SAMLRequest", etree.tostring(logout_request_of(connected, email)), "relay-state")
    assert (await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")).status_code == 302
    assert not await is_signed_in(connected, later), "a new request ends the session"


async def test_a_logout_of_another_session_index_ends_no_session(connected, sessions):
    email, both = sessions
    query = connected.idp.redirect("SAMLRequest", etree.tostring(logout_request_of(connected, email, "_another")))
    answer = await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert answer.status_code == 302
    assert [await is_signed_in(connected, session) for session in both] == [True, True]


async def test_an_http_post_logout_has_an_enveloped_signature(connected, sessions):
    email, both = sessions
    await connected.change(idpSloBinding="POST")
    request = signed(logout_request_of(connected, email, f"_session-{email}"), connected.idp.keys)
    form = {"SAMLRequest": base64.b64encode(etree.tostring(request)).decode()}
    page = await connected.browser().post(connected.connection["spSloUrl"], form)
    assert (page.status_code, "SAMLResponse" in page.text) == (200, True)
    assert [await is_signed_in(connected, session) for session in both] == [False, False]


@pytest.mark.parametrize("how", ["unsigned", "another key"])
async def test_a_forged_logout_ends_nothing(connected, sessions, how):
    email, both = sessions
    idp_keys = connected.idp.keys
    if how == "another key":
        connected.idp.keys = keys("forger")
    query = connected.idp.redirect("SAMLRequest", etree.tostring(logout_request_of(connected, email)))
    connected.idp.keys = idp_keys
    if how == "unsigned":
        query = query.partition("&SigAlg")[0]
    answer = await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert answer.status_code == 403
    assert [await is_signed_in(connected, session) for session in both] == [True, True]
    assert (await connected.traces())[0]["kind"] == "LOGOUT"


async def test_a_logout_revokes_unused_grants(connected):
    email, browser = connected.address(), connected.browser()
    code = query_of(await browser.sign_on(email))["code"]  # Unlike `sign_in`, `sign_on` does not exchange the code.
    query = connected.idp.redirect("SAMLRequest", etree.tostring(logout_request_of(connected, email)))
    assert (await browser.client.get(f"{connected.connection['spSloUrl']}?{query}")).status_code == 302
    path = f"/projects/{connected.directory.project.id}/auth/token"
    exchange = await browser.client.post(path, {"code": code, "codeVerifier": VERIFIER})
    assert exchange.status_code == 401


async def test_a_logout_in_the_app_redirects_to_the_idp_and_back(connected, sessions):
    _, (own, other) = sessions
    sign_out = await client_of(connected, own).post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})
    assert sign_out.status_code == 200, sign_out.text
    url = sign_out.json()["url"]
    assert url.startswith(f"{connected.idp.base}/logout?SAMLRequest=")
    assert [await is_signed_in(connected, session) for session in (own, other)] == [False, True]
    relay_state = parse_qs(urlsplit(url).query)["RelayState"][0]
    connected.idp.now = connected.clock()
    response = connected.idp.logout_response(connected.connection["spSloUrl"], relay_state)
    query = connected.idp.redirect("SAMLResponse", response, relay_state)
    browser = connected.browser()
    final_redirect = await browser.client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert (final_redirect.status_code, final_redirect.headers["location"]) == (303, REDIRECT_URL)
    replay = await browser.client.get(f"{connected.connection['spSloUrl']}?{query}")
    assert replay.status_code == 403


async def test_a_logout_of_a_session_without_sso_has_no_url(connected, auth):
    session = await auth.signed_up()
    answer = await client_of(connected, session).post("/sso/sign-out", {})
    assert (answer.status_code, answer.json()) == (200, {"url": None})
    assert not await is_signed_in(connected, session)


async def test_erasing_a_customer_deletes_its_sso_sessions(connected, sessions, world):
    _, (session, _) = sessions
    address = session["customer"]["email"]
    browser = connected.browser()
    started = await browser.client.get((await connected.client.post(f"{connected.connection_path}/test")).json()["url"])
    await browser.post(*browser.idp_response(started.headers["location"], address))
    expected_columns = {"sso_sign_ons.name_id", "sso_traces.profile", "customer_identities.subject"}
    assert expected_columns <= await columns_with(world, [address])
    assert (await connected.client.delete(f"/customers/{session['customer']['id']}")).status_code == 200
    assert await columns_with(world, [address]) == set()
    async with world.db.connection() as connection:
        rows = await connection.execute(
            "select count(*) from sso_sign_ons where project_id = %s and name_id is not null",
            [connected.directory.project.id],
        )
        assert await rows.fetchone() == (0,)
    assert await connected.traces() == []


async def test_expired_sso_rows_are_deleted(connected, sessions, run_due_work, clock, world):
    clock.move(timedelta(days=32))
    await run_due_work()
    async with world.db.connection() as connection:
        for table in ("sso_requests", "sso_sign_ons", "sso_traces"):
            rows = await connection.execute(
                f"select count(*) from {table} where project_id = %s", [connected.directory.project.id]
            )
            assert await rows.fetchone() == (0,), table


async def test_a_logout_also_ends_sessions_with_a_second_factor(connected, auth, clock):
    email = connected.address("maria")
    _, _, app, _ = await with_totp(auth, clock, email)
    first_factor = await connected.browser().sign_in(email)
    assert (first_factor["mfaRequired"], first_factor["accessToken"]) == (True, None)
    signed_in = (await auth.post("/mfa/verify", {"mfaToken": first_factor["mfaToken"], "code": app.code()})).json()
    assert await is_signed_in(connected, signed_in)
    query = connected.idp.redirect("SAMLRequest", etree.tostring(logout_request_of(connected, email)))
    assert (await connected.browser().client.get(f"{connected.connection['spSloUrl']}?{query}")).status_code == 302
    assert not await is_signed_in(connected, signed_in)
