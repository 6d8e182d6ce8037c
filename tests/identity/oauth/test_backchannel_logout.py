"""Back-channel logout (OpenID Connect Back-Channel Logout 1.0)."""

from datetime import timedelta
from urllib.parse import parse_qs, urlencode

import jwt
import msgspec
import pytest

from postern.identity.oauth.work import NOTICE_LEASE, NOTICES_CLAIMED
from postern.kernel.outbound.client import TOTAL_TIMEOUT
from postern.kernel.outbound.ssrf import read_networks
from tests.identity.oauth.conftest import Provider, parameters_of
from tests.peers.http_receiver import Reply, http_receiver


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8")))


async def signed_in(auth, receiver, path="/logout"):
    """A provider whose client is told about ended sessions, a browser that has signed in, and its tokens."""
    provider = Provider(auth)
    await provider.register(firstParty=True, backchannelLogoutUri=receiver.url(path))
    browser = provider.browser()
    response = parameters_of(await browser.signed_in())
    return provider, browser, (await provider.exchange(response["code"])).json()


async def logout_claims(provider, request):
    """The claims of the logout token in a request, checked as clients do it."""
    assert request.headers["content-type"] == "application/x-www-form-urlencoded"
    (token,) = parse_qs(request.body.decode())["logout_token"]
    assert jwt.get_unverified_header(token)["typ"] == "logout+jwt"
    return await provider.verified(token, provider.oauth_client["clientId"])


@pytest.mark.parametrize("end", ["logout", "sign-out everywhere", "erased"])
async def test_a_client_is_told_that_the_session_has_ended(auth, run_due_work, end):
    async with http_receiver() as receiver:
        provider, browser, tokens = await signed_in(auth, receiver)
        claims = await provider.verified(tokens["id_token"], provider.oauth_client["clientId"])
        client = provider.project.client
        if end == "logout":
            await browser.open(f"{provider.base}/logout?{urlencode({'id_token_hint': tokens['id_token']})}")
        elif end == "erased":
            assert (await client.delete(f"/customers/{claims['sub']}")).status_code == 200
        else:
            revoked = await client.post(f"/customers/{claims['sub']}/sessions/revoke-all")
            assert revoked.status_code < 300
        assert receiver.requests == []
        await run_due_work()
        notices = [await logout_claims(provider, request) for request in receiver.requests]
        (logout,) = [notice for notice in notices if notice["sid"] == claims["sid"]]
        assert logout["sub"] == claims["sub"]
        assert logout["events"] == {"http://schemas.openid.net/event/backchannel-logout": {}}
        assert logout["exp"] - logout["iat"] <= 120
        assert "nonce" not in logout
        await run_due_work()
        assert len(receiver.requests) == len(notices), "once"
        token = parse_qs(receiver.requests[0].body.decode())["logout_token"][0]
        refused = await browser.open(f"{provider.base}/logout?{urlencode({'id_token_hint': token})}")
        assert refused.status_code == 400, "a logout token is no ID token"
        assert (await provider.userinfo(token)).status_code == 401


async def test_a_client_that_does_not_answer_is_told_again(auth, run_due_work, clock, world):
    async with http_receiver() as receiver:
        receiver.script("/logout", Reply(status=503), Reply(status=302), Reply(status=200))
        provider, browser, tokens = await signed_in(auth, receiver)
        await browser.open(f"{provider.base}/logout?{urlencode({'id_token_hint': tokens['id_token']})}")
        for pause, count in ((timedelta(), 1), (timedelta(seconds=30), 1), (timedelta(seconds=31), 2)):
            clock.move(pause)
            await run_due_work()
            assert len(receiver.requests) == count
        clock.move(timedelta(minutes=11))
        await run_due_work()
        clock.move(timedelta(days=1))
        await run_due_work()
        assert len(receiver.requests) == 3
        tokens = {parse_qs(request.body.decode())["logout_token"][0] for request in receiver.requests}
        assert len(tokens) == 3, "each attempt has a token that is valid then"


async def test_notices_are_given_up(auth, run_due_work, clock, world):
    async with http_receiver() as receiver:
        receiver.script("/logout", Reply(status=400))
        provider, browser, tokens = await signed_in(auth, receiver)
        await browser.open(f"{provider.base}/logout?{urlencode({'id_token_hint': tokens['id_token']})}")
        for _ in range(8):
            await run_due_work()
            clock.move(timedelta(hours=13))
        assert len(receiver.requests) == 5
        async with world.db.connection() as connection:
            query = "select count(*) from oauth_logouts where project_id = %s"
            assert await (await connection.execute(query, [provider.project.id])).fetchone() == (0,)


async def test_only_clients_that_used_the_session_are_told(auth, run_due_work):
    async with http_receiver() as receiver:
        provider, browser, tokens = await signed_in(auth, receiver)
        await provider.register(firstParty=True, backchannelLogoutUri=receiver.url("/other"))
        parameters_of(await browser.authorize())
        await browser.open(f"{provider.base}/logout?{urlencode({'id_token_hint': tokens['id_token']})}")
        await run_due_work()
        assert [request.path for request in receiver.requests] == ["/logout"], "the other's code was not used"


async def test_a_client_without_refresh_tokens_is_told_days_later(auth, run_due_work, clock):
    async with http_receiver() as receiver:
        provider = Provider(auth)
        await provider.register(firstParty=True, backchannelLogoutUri=receiver.url("/logout"))
        browser = provider.browser()
        response = parameters_of(await browser.signed_in(scope="openid"))
        tokens = (await provider.exchange(response["code"])).json()
        assert "refresh_token" not in tokens
        clock.move(timedelta(days=3))
        await run_due_work()
        assert (await provider.exchange(response["code"])).json()["error"] == "invalid_grant"
        await browser.open(f"{provider.base}/logout?{urlencode({'id_token_hint': tokens['id_token']})}")
        await run_due_work()
        (request,) = receiver.requests
        claims = await provider.verified(tokens["id_token"], provider.oauth_client["clientId"])
        assert (await logout_claims(provider, request))["sid"] == claims["sid"]


async def test_a_client_is_told_when_another_sign_in_replaces_the_session(auth, run_due_work, clock):
    async with http_receiver() as receiver:
        provider, browser, tokens = await signed_in(auth, receiver)
        clock.move(timedelta(seconds=1))
        parameters_of(await browser.sign_in(await browser.authorize(prompt="login")))
        await run_due_work()
        (request,) = receiver.requests
        claims = await provider.verified(tokens["id_token"], provider.oauth_client["clientId"])
        assert (await logout_claims(provider, request))["sid"] == claims["sid"]


async def test_notices_are_sent_with_https_except_to_allowed_addresses(auth):
    provider = Provider(auth)
    for uri, status in (
        ("https://reports.example.com/logout", 201),
        ("http://127.0.0.1:8080/logout", 201),
        ("http://reports.example.com/logout", 400),
        ("http://8.8.8.8/logout", 400),
    ):
        body = {"name": "App", "redirectUris": ["https://a.example/"], "backchannelLogoutUri": uri}
        response = await provider.project.developer.post("/oauth-clients", body)
        assert response.status_code == status, uri


def test_notices_that_are_claimed_fit_into_the_lease():
    rounds = -(-NOTICES_CLAIMED // 10)
    assert rounds * TOTAL_TIMEOUT < NOTICE_LEASE


async def test_addresses_that_must_not_be_called_are_refused(provider):
    for uri in ("http://169.254.169.254/latest", "ftp://example.com/logout", "https://[::]/logout", "no url at all"):
        body = {"name": "App", "redirectUris": ["https://a.example/"], "backchannelLogoutUri": uri}
        refused = await provider.project.developer.post("/oauth-clients", body)
        assert refused.status_code == 400, uri
        assert refused.json()["errors"][0]["path"] == "/backchannelLogoutUri"
