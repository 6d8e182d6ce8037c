"""Clients whose id is the URL of their metadata (draft-ietf-oauth-client-id-metadata-document)."""

import asyncio
import json
from datetime import timedelta

import jwt
import msgspec
import pytest

from postern.identity.oauth import registration
from postern.identity.oauth.metadata_documents import DOCUMENT_LIMIT, MIN_LIFE, document_life
from postern.kernel.outbound.ssrf import read_networks
from tests.identity.oauth.conftest import REDIRECT_URI, Provider, parameters_of
from tests.identity.oauth.keys import ClientKey
from tests.identity.oauth.test_step_up import MULTI, with_one_factor
from tests.peers.http_receiver import Reply, http_receiver

PATH = "/oauth/client.json"


@pytest.fixture
def settings(settings):
    return msgspec.structs.replace(settings, outbound_allow=tuple(read_networks("127.0.0.0/8, 10.0.0.0/8")))


class Publisher:
    """The website of a client, which publishes its metadata."""

    def __init__(self, provider, receiver):
        self.provider, self.receiver = provider, receiver
        self.url = receiver.url(PATH)

    def document(self, **fields):
        metadata = {
            "client_id": self.url,
            "client_name": "Notes in the terminal",
            "redirect_uris": [REDIRECT_URI],
            "grant_types": ["authorization_code", "refresh_token"],
            "token_endpoint_auth_method": "none",
            "logo_uri": "https://terminal.example.com/logo.png",
            **fields,
        }
        return {name: value for name, value in metadata.items() if value is not None}

    def publish(self, content=None, *, status=200, headers=None, **fields):
        body = json.dumps(self.document(**fields)).encode() if content is None else content
        headers = {"Content-Type": "application/json", **(headers or {})}
        self.receiver.script(PATH, Reply(status=status, body=body, headers=headers))

    @property
    def fetches(self):
        return len(self.receiver.received(PATH))

    async def refusal(self, **fields):
        """What the page of a refused authorization request says. Nothing is redirected."""
        response = await self.provider.browser().authorize(**fields)
        assert response.status_code == 400, response.text
        assert "location" not in response.headers
        return response.text


async def allow(provider, value=True):
    body = {"settings": {"signIn": {"clientMetadataDocuments": value}}}
    assert (await provider.project.developer.patch("", body)).status_code == 200


@pytest.fixture
async def publisher(auth):
    provider = Provider(auth)
    await allow(provider)
    async with http_receiver() as receiver:
        publisher = Publisher(provider, receiver)
        publisher.publish()
        provider.oauth_client = {"clientId": publisher.url}
        yield publisher


async def test_documents_are_off_by_default(publisher):
    provider = publisher.provider
    await allow(provider, value=False)
    configuration = await provider.auth.client.get(f"/projects/{provider.project.id}/.well-known/openid-configuration")
    assert "client_id_metadata_document_supported" not in configuration.json()
    assert "does not accept the URL" in await publisher.refusal()
    assert publisher.fetches == 0
    await allow(provider)
    configuration = await provider.auth.client.get(f"/projects/{provider.project.id}/.well-known/openid-configuration")
    assert configuration.json()["client_id_metadata_document_supported"] is True
    assert "registration_endpoint" not in configuration.json()


async def test_a_client_is_known_by_its_document(publisher):
    provider = publisher.provider
    browser = provider.browser()
    page = await browser.signed_in()
    host = publisher.url.split("/")[2]
    assert "Notes in the terminal is not part of" in page.text.replace("\u2068", "").replace("\u2069", "")
    assert f'<p class="publisher"><bdi>{host}</bdi></p>' in page.text
    assert f"This app is published at {host}" in page.text
    assert publisher.fetches == 1
    code = parameters_of(await browser.submit(page, decision="allow"))["code"]
    tokens = (await provider.exchange(code)).json()
    claims = await provider.verified(tokens["id_token"], publisher.url)
    assert claims["aud"] == publisher.url
    assert jwt.get_unverified_header(tokens["id_token"])["alg"] == "RS256", "the default of OpenID Connect"
    access = await provider.verified(tokens["access_token"], claims["iss"])
    assert access["client_id"] == publisher.url
    assert (await provider.userinfo(tokens["access_token"])).json()["email"] == browser.address
    refreshed = await provider.refresh(tokens["refresh_token"])
    assert refreshed.status_code == 200, refreshed.text
    # The consent is remembered, and an ID token of the client is a hint.
    again = await browser.authorize(id_token_hint=refreshed.json()["id_token"], prompt="none")
    assert "code" in parameters_of(again)
    # The name is chosen by the client, its host is not.
    account = await browser.open(f"/projects/{provider.project.id}/auth/pages/account")
    assert f'<p><bdi>Notes in the terminal</bdi></p><p class="small"><bdi>{host}</bdi></p>' in account.text
    (client,) = (await provider.project.developer.get("/oauth-clients")).json()
    assert (client["clientId"], client["metadataUrl"]) == (publisher.url, publisher.url)
    assert (client["selfRegistered"], client["firstParty"], client["type"]) == (True, False, "PUBLIC")
    refused = await provider.project.developer.patch(f"/oauth-clients/{client['id']}", {"firstParty": True})
    assert refused.status_code == 400
    # Its id is the URL only.
    assert "no client with this client_id" in await publisher.refusal(client_id=client["id"])
    assert (await provider.refresh(refreshed.json()["refresh_token"], {"clientId": client["id"]})).status_code == 401
    logout = await browser.open(f"{provider.base}/logout?id_token_hint={refreshed.json()['id_token']}")
    assert logout.status_code in (200, 302), logout.text


async def test_the_document_is_fetched_again_when_its_time_has_passed(publisher, clock):
    provider = publisher.provider
    publisher.publish(headers={"Cache-Control": "public, max-age=600"})
    await provider.browser().authorize()
    clock.move(timedelta(minutes=9))
    await provider.browser().authorize()
    assert publisher.fetches == 1
    other = "https://reports.example.com/other"
    publisher.publish(redirect_uris=[other], client_name="Notes again", headers={"Cache-Control": "no-store"})
    clock.move(timedelta(minutes=2))
    assert "redirect_uri is not registered" in await publisher.refusal()
    assert (await provider.browser().authorize(redirect_uri=other)).status_code == 302
    assert publisher.fetches == 2
    (client,) = (await provider.project.developer.get("/oauth-clients")).json()
    assert (client["name"], client["redirectUris"]) == ("Notes again", [other])
    # What a developer has chosen stays while the document says nothing.
    chosen = {"idTokenSigningAlg": "ES256"}
    assert (await provider.project.developer.patch(f"/oauth-clients/{client['id']}", chosen)).status_code == 200
    clock.move(timedelta(minutes=6))
    assert (await provider.browser().authorize(redirect_uri=other)).status_code == 302
    assert publisher.fetches == 3
    (client,) = (await provider.project.developer.get("/oauth-clients")).json()
    assert client["idTokenSigningAlg"] == "ES256"
    # For a while, it is used although it cannot be fetched again.
    publisher.publish(status=503)
    clock.move(timedelta(hours=23))
    assert (await provider.browser().authorize(redirect_uri=other)).status_code == 302
    # A document that is withdrawn is not used any longer than its time.
    publisher.publish(status=404)
    clock.move(MIN_LIFE + timedelta(seconds=1))
    assert "status 404" in await publisher.refusal(redirect_uri=other)
    publisher.publish(status=503)
    assert "cannot be fetched" in await publisher.refusal(redirect_uri=other)


def test_cache_control_counts_within_limits():
    lives = {
        "": 3_600,
        "max-age=7200": 7_200,
        "public, MAX-AGE = 60, immutable": 300,
        "max-age=999999999": 86_400,
        "max-age=x": 3_600,
        "no-cache, max-age=7200": 300,
        "s-maxage=20": 3_600,
    }
    assert {text: document_life(text).total_seconds() for text in lives} == lives


async def test_documents_that_are_wrong_are_refused_on_a_page(publisher, clock):
    keys = ClientKey().jwks()
    wrong = {
        "its client_id is not its URL": {"client_id": f"{publisher.url}/"},
        "client_id is not its URL": {"client_id": None},
        "it has client_secret": {"client_secret": "x"},
        "token_endpoint_auth_method": {"token_endpoint_auth_method": "client_secret_basic"},
        "redirect_uris": {"redirect_uris": []},
        "either jwks or jwks_uri": {"token_endpoint_auth_method": "private_key_jwt"},
        "has either jwks": {
            "token_endpoint_auth_method": "private_key_jwt",
            "jwks": keys,
            "jwks_uri": "https://terminal.example.com/keys",
        },
        "missing or invalid: jwks": {"jwks": "Your account is locked."},
        "invisible": {"client_name": "Notes\u202e"},
        "cannot contain wildcards": {"redirect_uris": ["https://*.example.com/"]},
        "http is possible only": {"redirect_uris": ["http://terminal.example.com/"]},
        "authorization_code": {"grant_types": ["client_credentials"]},
    }
    for reason, fields in wrong.items():
        publisher.publish(**fields)
        page = await publisher.refusal()
        assert reason in page, reason
        assert "Your account is locked" not in page
        clock.move(timedelta(minutes=1))
    replies = {
        "a redirect, which is not followed": {"status": 302, "headers": {"Location": publisher.receiver.url("/x")}},
        "status 500": {"status": 500},
        "status 204": {"status": 204, "content": b""},
        "Content-Type": {"headers": {"Content-Type": "text/html"}},
        f"more than {DOCUMENT_LIMIT} bytes": {"logo_uri": "x" * DOCUMENT_LIMIT},
        "not valid JSON.": {"content": b'{"client_id": '},
        "not a JSON object": {"content": b"[]"},
    }
    for reason, fields in replies.items():
        publisher.publish(**fields)
        assert reason in await publisher.refusal(), reason
        clock.move(timedelta(minutes=1))
    assert (await publisher.provider.project.developer.get("/oauth-clients")).json() == []
    publisher.publish(headers={"Content-Type": "application/client-metadata+json; charset=utf-8"})
    assert (await publisher.provider.browser().authorize()).status_code == 302


async def test_urls_that_cannot_be_ids_are_refused_without_a_request(publisher, world, monkeypatch):
    origin = publisher.url.removesuffix(PATH)
    urls = {
        "has no path": f"{origin}/",
        "dots only": f"{origin}/a/../client.json",
        "fragment": f"{origin}/client.json#x",
        "more than 500": f"{origin}/{'x' * 500}",
        "ASCII": f"{origin}/é",
        "not on the public Internet": "https://10.0.0.1/client.json",
        "Use https": "http://terminal.example.com/client.json",
        "cannot be the URL": "https://terminal.example.com:99999/client.json",
    }
    for reason, url in urls.items():
        assert reason in await publisher.refusal(client_id=url), reason
    user = publisher.url.replace("://", "://ada@")
    assert "cannot be the URL" in await publisher.refusal(client_id=user)
    assert publisher.receiver.requests == []
    # Without permission to call addresses in a private network, loopback is refused, and http.
    monkeypatch.setattr(world, "settings", msgspec.structs.replace(world.settings, outbound_allow=()))
    assert "not on the public Internet" in await publisher.refusal()
    # Nor may clients be at the host of this server, however it is written.
    monkeypatch.setattr(world, "settings", msgspec.structs.replace(world.settings, base_url="https://auth.example.com"))
    assert "host of this server" in await publisher.refusal(client_id="https://AUTH.example.com./client.json")


async def test_many_requests_fetch_a_document_once_and_urls_are_limited(publisher):
    provider = publisher.provider
    responses = await asyncio.gather(*(provider.browser().authorize() for _ in range(4)))
    assert [response.status_code for response in responses] == [302] * 4
    assert len((await provider.project.developer.get("/oauth-clients")).json()) == 1
    for number in range(20):
        response = await provider.browser().authorize(client_id=publisher.receiver.url(f"/missing/{number}"))
    assert response.status_code == 429


async def test_clients_are_limited_and_deleted_if_they_are_not_used(publisher, clock, run_due_work, monkeypatch):
    monkeypatch.setattr(registration, "REGISTRATIONS_PER_PROJECT", 1)
    provider = publisher.provider
    await provider.browser().authorize()
    second = publisher.receiver.url("/second.json")
    body = json.dumps(publisher.document(client_id=second)).encode()
    publisher.receiver.script("/second.json", Reply(body=body, headers={"Content-Type": "application/json"}))
    full = await provider.browser().authorize(client_id=second)
    assert (full.status_code, "Too many clients" in full.text) == (503, True)
    # After the time of its request, an unused client makes room.
    clock.move(timedelta(minutes=31))
    assert (await provider.browser().authorize(client_id=second)).status_code == 302
    (client,) = (await provider.project.client.get("/oauth-clients")).json()
    assert client["metadataUrl"] == second
    clock.move(timedelta(days=1, minutes=1))
    await run_due_work()
    assert (await provider.project.client.get("/oauth-clients")).json() == []


async def test_a_client_pushes_its_request_and_authenticates_with_its_key(publisher, clock):
    provider = publisher.provider
    key = ClientKey()
    publisher.publish(token_endpoint_auth_method="private_key_jwt", jwks=key.jwks())

    def signed():
        return key.assertion(publisher.url, provider.issuer, now=clock().timestamp())

    request = provider.request()
    del request["client_id"]
    refused = await provider.send("par", {"clientId": publisher.url}, **request)
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    pushed = await provider.send("par", {"clientId": publisher.url}, **request, **signed())
    assert pushed.status_code == 201, pushed.text
    browser = provider.browser()
    await provider.auth.signed_up(browser.address)
    query = dict.fromkeys(request) | {"request_uri": pushed.json()["request_uri"]}
    page = await browser.sign_in(await browser.authorize(**query))
    code = parameters_of(await browser.submit(page, decision="allow"))["code"]
    exchanged = await provider.exchange(code, **signed())
    assert exchanged.status_code == 200, exchanged.text
    # It replaces its key, and all requests that need one follow the document.
    new = ClientKey()
    publisher.publish(token_endpoint_auth_method="private_key_jwt", jwks=new.jwks())
    clock.move(timedelta(hours=2))
    old = await provider.refresh(exchanged.json()["refresh_token"], {"clientId": publisher.url}, **signed())
    assert (old.status_code, old.json()["error"]) == (401, "invalid_client")
    by_new_key = new.assertion(publisher.url, provider.issuer, now=clock().timestamp())
    refreshed = await provider.refresh(exchanged.json()["refresh_token"], {"clientId": publisher.url}, **by_new_key)
    assert refreshed.status_code == 200, refreshed.text
    clock.move(timedelta(hours=2))
    publisher.publish(status=404)
    by_new_key = new.assertion(publisher.url, provider.issuer, now=clock().timestamp())
    gone = await provider.send("par", {"clientId": publisher.url}, **request, **by_new_key)
    assert (gone.status_code, "404" in gone.text) == (401, True)
    wrong = await provider.send("par", {"clientId": publisher.receiver.url("/other")}, **request)
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_client")
    assert "client_id is not its URL" not in wrong.text


async def test_a_foreign_project_does_not_know_the_client(publisher, new_project, app):
    await publisher.provider.browser().authorize()
    other = await new_project()
    response = await publisher.provider.auth.client.get(
        f"/projects/{other.id}/oauth/authorize?client_id={publisher.url}&redirect_uri={REDIRECT_URI}"
    )
    assert response.status_code == 400
    assert publisher.fetches == 1


async def test_networks_of_the_operator_are_not_reached(publisher, world, monkeypatch):
    """Anybody can name the URL of a document or of keys, other than the URLs that developers configure."""
    provider = publisher.provider
    publisher.publish(token_endpoint_auth_method="private_key_jwt", jwks_uri="https://10.0.0.1/keys")
    assert "not on the public Internet" in await publisher.refusal()

    async def lookup(name):
        return ["10.0.0.1"]

    monkeypatch.setattr(world.outbound, "_lookup", lookup)
    page = await publisher.refusal(client_id="https://internal.example.com/client.json")
    assert "The document of the client cannot be fetched." in page
    assert "public Internet" not in page
    # A server at a public host reaches no loopback address either.
    settings = msgspec.structs.replace(world.settings, base_url="https://auth.example.com")
    monkeypatch.setattr(world, "settings", settings)
    assert "not on the public Internet" in await publisher.refusal()
    assert publisher.fetches == 1
    assert (await provider.project.developer.get("/oauth-clients")).json() == []


async def test_one_network_causes_few_requests_for_keys(publisher, new_project, clock):
    provider, receiver, key = publisher.provider, publisher.receiver, ClientKey()
    for number in range(5):
        url, keys = receiver.url(f"/{number}.json"), receiver.url(f"/keys/{number}")
        fields = {"client_id": url, "token_endpoint_auth_method": "private_key_jwt", "jwks_uri": keys}
        body = json.dumps(publisher.document(**fields)).encode()
        receiver.script(f"/{number}.json", Reply(body=body, headers={"Content-Type": "application/json"}))
        # This assertion is for another server: the keys are not needed to refuse it.
        foreign = key.assertion(url, "https://other.example.com", now=clock().timestamp())
        assert (await provider.send("par", {"clientId": url}, **foreign)).status_code == 401
    assert not any("/keys/" in request.path for request in receiver.requests)
    statuses = []
    for number in range(6):
        url = receiver.url(f"/{number % 5}.json")
        assertion = key.assertion(url, provider.issuer, now=clock().timestamp())
        statuses.append((await provider.send("par", {"clientId": url}, **assertion)).status_code)
    assert statuses == [401] * 5 + [429]
    # The limit is that of the network, in whichever project.
    other = await new_project()
    body = {"settings": {"signIn": {"clientMetadataDocuments": True}}}
    assert (await other.developer.patch("", body)).status_code == 200
    query = f"client_id={publisher.url}&redirect_uri={REDIRECT_URI}"
    limited = await provider.auth.client.get(f"/projects/{other.id}/oauth/authorize?{query}")
    assert limited.status_code == 429
    # Documents that are known need no request, or are used although it is time for one.
    clock.move(timedelta(minutes=61))
    for number in range(12):
        assert (await provider.browser().authorize(client_id=receiver.url(f"/{number % 5}.json"))).status_code == 302


async def test_clients_from_one_network_are_limited(publisher, clock):
    provider, receiver = publisher.provider, publisher.receiver
    statuses = []
    for number in range(11):
        url = receiver.url(f"/{number}.json")
        body = json.dumps(publisher.document(client_id=url)).encode()
        receiver.script(f"/{number}.json", Reply(body=body, headers={"Content-Type": "application/json"}))
        statuses.append((await provider.browser().authorize(client_id=url)).status_code)
        clock.move(timedelta(seconds=6))
    assert statuses == [302] * 10 + [429]


async def test_a_document_must_fit_the_profile_of_its_client(publisher, clock):
    provider = publisher.provider
    key = {"token_endpoint_auth_method": "private_key_jwt", "jwks": ClientKey().jwks()}
    publisher.publish(**key, dpop_bound_access_tokens=True)
    await provider.browser().authorize()
    (client,) = (await provider.project.developer.get("/oauth-clients")).json()
    path, profile = f"/oauth-clients/{client['id']}", {"securityProfile": "FAPI2"}
    refused = await provider.project.developer.patch(path, profile)
    assert refused.json()["errors"][0]["path"] == "/idTokenSigningAlg", "RS256 is the default of a document"
    changed = await provider.project.developer.patch(path, {**profile, "idTokenSigningAlg": "ES256"})
    assert changed.status_code == 200, changed.text
    clock.move(timedelta(hours=2))
    assert "has the profile FAPI2" not in (await provider.browser().authorize()).text
    assert (await provider.project.client.get(path)).json()["idTokenSigningAlg"] == "ES256"
    publisher.publish(**key, dpop_bound_access_tokens=True, id_token_signed_response_alg="RS256")
    clock.move(timedelta(hours=2))
    assert "must be signed with ES256" in await publisher.refusal()
    publisher.publish()
    clock.move(timedelta(hours=2))
    assert "has the profile FAPI2" in await publisher.refusal()
    (client,) = (await provider.project.client.get("/oauth-clients")).json()
    assert (client["type"], client["requireDpop"]) == ("CONFIDENTIAL", True)


async def test_the_step_up_page_names_the_host(publisher, first_party, clock):
    browser, app, _, _ = await with_one_factor(first_party, clock)
    page = await browser.authorize(client_id=publisher.url, acr_values=MULTI)
    host = publisher.url.split("/")[2]
    assert "\u2068Notes in the terminal\u2069 asks for a stronger proof" in page.text
    assert f'<p class="publisher"><bdi>{host}</bdi></p>' in page.text
    clock.move(timedelta(seconds=30))
    going_on = await browser.submit(page, code=app.code())
    assert "Going on to \u2068Notes in the terminal\u2069." in going_on.text
