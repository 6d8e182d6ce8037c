"""Clients that register themselves (RFC 7591)."""

import html
import json
from datetime import timedelta

import jwt
import msgspec
import pytest

from postern.identity.oauth import registration, store
from postern.identity.oauth.model import REGISTRATION_LIFE
from postern.kernel.limits import RateLimit
from tests.identity.oauth.conftest import REDIRECT_URI, Provider, parameters_of
from tests.identity.oauth.keys import ClientKey
from tests.tokens import with_another_end

LOOPBACK = "http://127.0.0.1:33418/callback"
METADATA = {
    "client_name": "Notes in the terminal",
    "redirect_uris": [REDIRECT_URI],
    "token_endpoint_auth_method": "none",
    "grant_types": ["authorization_code", "refresh_token"],
    "response_types": ["code"],
    "client_uri": "https://terminal.example.com",
    "policy_uri": "https://terminal.example.com/privacy",
    "tos_uri": "https://terminal.example.com/terms",
    "logo_uri": "https://terminal.example.com/logo.png",
    "software_id": "ignored",
}


async def allow(provider, mode):
    body = {"settings": {"signIn": {"clientRegistration": mode}}}
    assert (await provider.project.developer.patch("", body)).status_code == 200


async def register(provider, token=None, **fields):
    body = {name: value for name, value in {**METADATA, **fields}.items() if value is not None}
    headers = {"content-type": "application/json", **({"authorization": f"Bearer {token}"} if token else {})}
    content = json.dumps(body)
    return await provider.auth.client.request("POST", f"{provider.base}/register", content=content, headers=headers)


@pytest.fixture
async def open_provider(auth):
    """A provider at which anybody can register clients."""
    provider = Provider(auth)
    await allow(provider, "OPEN")
    return provider


def select_client(provider, registered):
    """Use a client that has registered itself."""
    provider.oauth_client = {"clientId": registered["client_id"], "clientSecret": registered.get("client_secret")}


async def test_a_client_registers_itself_and_signs_a_customer_in(open_provider):
    response = await register(open_provider)
    assert (response.status_code, response.headers["cache-control"]) == (201, "no-store")
    registered = response.json()
    assert "client_secret" not in registered
    assert "logo_uri" not in registered
    assert registered["scope"] == "openid profile email phone offline_access"
    assert registered["client_uri"] == "https://terminal.example.com"
    select_client(open_provider, registered)
    browser = open_provider.browser()
    page = await browser.signed_in()
    assert "has registered itself" in page.text
    assert "reports.example.com" in page.text
    for name in ("privacy", "terms"):
        assert f'href="https://terminal.example.com/{name}"' in html.unescape(page.text)
    tokens = (await open_provider.exchange(parameters_of(await browser.submit(page, decision="allow"))["code"])).json()
    assert (await open_provider.userinfo(tokens["access_token"])).json()["email"] == browser.address
    assert registered["id_token_signed_response_alg"] == "RS256", "the default of OpenID Connect"
    assert jwt.get_unverified_header(tokens["id_token"])["alg"] == "RS256"
    await open_provider.verified(tokens["id_token"], registered["client_id"])
    assert "code" in parameters_of(await browser.authorize()), "a consent for an https URL is remembered"
    (listed,) = (await open_provider.project.developer.get("/oauth-clients")).json()
    assert (listed["selfRegistered"], listed["firstParty"], listed["environment"]) == (True, False, "LIVE")
    refused = await open_provider.project.developer.patch(f"/oauth-clients/{listed['id']}", {"firstParty": True})
    assert refused.json()["errors"][0]["path"] == "/firstParty"


async def test_a_confidential_client_gets_a_secret_and_asks_on_loopback_each_time(open_provider):
    registered = (await register(open_provider, redirect_uris=[LOOPBACK], token_endpoint_auth_method=None)).json()
    assert registered["token_endpoint_auth_method"] == "client_secret_basic"
    assert registered["client_secret_expires_at"] == 0
    api = {"identifier": "https://notes.example.com", "name": "N", "introspectionClientId": registered["client_id"]}
    refused = await open_provider.project.developer.post("/oauth-resources", api)
    assert refused.json()["errors"][0]["path"] == "/introspectionClientId", "it does not belong to the project"
    select_client(open_provider, registered)
    browser = open_provider.browser()
    page = await browser.signed_in(redirect_uri=LOOPBACK)
    code = parameters_of(await browser.submit(page, decision="allow"), LOOPBACK)["code"]
    wrong = {**open_provider.oauth_client, "clientSecret": "ocs_wrong"}
    assert (await open_provider.exchange(code, wrong, redirect_uri=LOOPBACK)).status_code == 401
    assert (await open_provider.exchange(code, redirect_uri=LOOPBACK)).status_code == 200
    assert "has registered itself" in (await browser.authorize(redirect_uri=LOOPBACK)).text


async def test_sectors_are_ignored_because_all_clients_get_the_same_subject(open_provider):
    """`sector_identifier_uri` is for pairwise subjects, which `subject_types_supported` does not have. It is ignored
    (OpenID Connect Dynamic Client Registration §5)."""
    browser, subjects = open_provider.browser(), []
    await open_provider.auth.signed_up(browser.address)
    for host in ("terminal.example.com", "127.0.0.1:1"):
        sector = f"https://{host}/redirect_uris.json"
        response = await register(open_provider, sector_identifier_uri=sector, subject_type="pairwise")
        assert response.status_code == 201, response.text
        registered = response.json()
        assert registered.keys().isdisjoint(("sector_identifier_uri", "subject_type")), "what was not registered"
        select_client(open_provider, registered)
        started = await browser.authorize()
        page = started if subjects else await browser.sign_in(started)
        code = parameters_of(await browser.submit(page, decision="allow"))["code"]
        id_token = (await open_provider.exchange(code)).json()["id_token"]
        subjects.append((await open_provider.verified(id_token, registered["client_id"]))["sub"])
    assert subjects[0] == subjects[1]


async def test_the_consent_page_shows_the_scheme_of_an_app_and_no_host(open_provider):
    uri = "com.evil.app://accounts.example.com/callback"
    select_client(open_provider, (await register(open_provider, redirect_uris=[uri])).json())
    page = await open_provider.browser().signed_in(redirect_uri=uri)
    assert "and know com.evil.app:." in page.text
    assert "accounts.example.com" not in page.text
    assert "<bdi>Notes in the terminal</bdi>" in page.text, "the direction of the name is that of the name only"


async def test_registration_is_off_by_default(provider):
    refused = await register(provider)
    assert (refused.status_code, refused.json()["error"]) == (403, "access_denied")
    url = f"/projects/{provider.project.id}/.well-known/openid-configuration"
    assert "registration_endpoint" not in (await provider.auth.client.get(url)).json()
    assert (await provider.project.developer.post("/oauth-clients/registration-tokens")).status_code == 409
    await allow(provider, "OPEN")
    metadata = (await provider.auth.client.get(url)).json()
    assert metadata["registration_endpoint"] == f"{provider.issuer}/oauth/register"


async def test_an_initial_access_token_is_required(provider, clock, monkeypatch):
    await allow(provider, "TOKEN")
    key = await provider.project.key("projects:read", "projects:write", environment="TEST")
    assert (await key.post("/oauth-clients/registration-tokens")).status_code == 403
    created = await provider.project.developer.post("/oauth-clients/registration-tokens")
    assert created.status_code == 201
    token = created.json()["token"]
    for wrong in (None, "x", with_another_end(token), f"{token}x"):
        refused = await register(provider, wrong)
        assert (refused.status_code, refused.json()["error"]) == (401, "invalid_token")
    registered = await register(provider, token)
    assert registered.status_code == 201
    log = (await provider.project.developer.get("/account/audit-log?action=oauth_client.registered")).json()
    (entry,) = log["data"]
    assert (entry["actorType"], entry["targetId"]) == ("SYSTEM", registered.json()["client_id"])
    assert entry["metadata"] == {"name": METADATA["client_name"], "redirectUris": [REDIRECT_URI]}
    monkeypatch.setattr(registration, "TOKEN_USES", 4)
    assert (await register(provider, token)).status_code == 201
    assert (await register(provider, token)).status_code == 401, "wrong secrets count, too"
    monkeypatch.undo()
    clock.move(registration.TOKEN_LIFE)
    assert (await register(provider, token)).status_code == 401


INVALID = [
    ({"redirect_uris": None}, "invalid_redirect_uri"),
    ({"redirect_uris": []}, "invalid_redirect_uri"),
    ({"redirect_uris": ["http://reports.example.com/callback"]}, "invalid_redirect_uri"),
    ({"redirect_uris": ["https://*.example.com/callback"]}, "invalid_redirect_uri"),
    ({"redirect_uris": ["https://reports.example.com/callback#x"]}, "invalid_redirect_uri"),
    ({"redirect_uris": ["javascript:alert(1)"]}, "invalid_redirect_uri"),
    ({"redirect_uris": ["cursor://callback"]}, "invalid_redirect_uri"),
    ({"redirect_uris": [f"{REDIRECT_URI}{number}" for number in range(11)]}, "invalid_redirect_uri"),
    ({"redirect_uris": ["com.example.app:/back"], "token_endpoint_auth_method": None}, "invalid_redirect_uri"),
    ({"client_name": "x" * 201}, "invalid_client_metadata"),
    ({"client_name": "two\nlines"}, "invalid_client_metadata"),
    ({"client_name": "\0"}, "invalid_client_metadata"),
    ({"client_name": "\u202emoc.elpmaxe"}, "invalid_client_metadata"),
    ({"client_name": "North\u200bwind"}, "invalid_client_metadata"),
    ({"client_name": "\u3164 \u2800"}, "invalid_client_metadata"),
    ({"client_uri": "javascript:alert(1)"}, "invalid_client_metadata"),
    ({"client_uri": "https://terminal.example.com/\0"}, "invalid_client_metadata"),
    ({"policy_uri": "https://terminal.example.com/\u202e"}, "invalid_client_metadata"),
    ({"tos_uri": "https://terminal.example.com/\0"}, "invalid_client_metadata"),
    ({"token_endpoint_auth_method": "private_key_jwt"}, "invalid_client_metadata"),
    ({"grant_types": ["client_credentials"]}, "invalid_client_metadata"),
    ({"response_types": ["token"]}, "invalid_client_metadata"),
    ({"scope": 1}, "invalid_client_metadata"),
    ({"id_token_signed_response_alg": "none"}, "invalid_client_metadata"),
    ({"id_token_signed_response_alg": "PS256"}, "invalid_client_metadata"),
]


async def test_invalid_metadata_are_refused(open_provider, monkeypatch):
    monkeypatch.setattr(registration, "REGISTRATION_RATE", RateLimit("oauth-registration", 100, timedelta(minutes=1)))
    for fields, code in INVALID:
        refused = await register(open_provider, **fields)
        assert (refused.status_code, refused.json()["error"]) == (400, code), fields
    for content in (b"", b"{", b"[]", b"\xff", b'{"redirect_uris": "x"}', b"[" * 10_000):
        headers = {"content-type": "application/json"}
        path = f"{open_provider.base}/register"
        refused = await open_provider.auth.client.request("POST", path, content=content, headers=headers)
        assert refused.status_code == 400, content
    too_large = await register(open_provider, client_name="x" * 20_000)
    assert too_large.status_code == 413
    assert (await open_provider.project.developer.get("/oauth-clients")).json() == []


async def test_a_client_is_not_at_the_host_of_the_server(open_provider, world):
    world.settings = msgspec.structs.replace(world.settings, base_url="https://id.example.com")
    for uri in ("https://id.example.com/projects/x", "https://ID.example.com:8443/"):
        refused = await register(open_provider, redirect_uris=[REDIRECT_URI, uri])
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_redirect_uri"), uri
    assert (await register(open_provider, redirect_uris=["https://app.id.example.com/"])).status_code == 201


async def test_a_client_gets_no_scopes_but_those_of_apis(open_provider):
    key = await open_provider.project.key("access:write")
    for name in ("posts:read", "posts:write"):
        await key.post("/access/permissions", {"key": name, "description": f"Do {name}"})
    api = {"identifier": "https://notes.example.com/mcp", "name": "Notes", "scopes": ["posts:read"]}
    assert (await open_provider.project.developer.post("/oauth-resources", api)).status_code == 201
    registered = await register(open_provider, scope="openid posts:write posts:read admin")
    assert registered.json()["scope"] == "openid posts:read"
    assert (await register(open_provider)).json()["scope"].endswith("offline_access posts:read")
    more = await register(open_provider, grant_types=["authorization_code", "client_credentials", "implicit"])
    assert more.json()["grant_types"] == ["authorization_code"]


async def test_registrations_are_limited(open_provider, monkeypatch):
    monkeypatch.setattr(registration, "REGISTRATIONS_PER_PROJECT", 1)
    assert (await register(open_provider)).status_code == 201
    full = await register(open_provider)
    assert (full.status_code, full.json()["error"]) == (503, "temporarily_unavailable")
    await open_provider.register()  # The developers' own clients have another limit.
    monkeypatch.setattr(registration, "REGISTRATION_RATE", RateLimit("oauth-registration-2", 1, timedelta(hours=1)))
    assert [(await register(open_provider)).status_code for _ in range(2)] == [503, 429]


async def test_unused_clients_make_room(open_provider, clock, monkeypatch):
    key = await open_provider.project.key("projects:read")
    monkeypatch.setattr(registration, "REGISTRATIONS_PER_PROJECT", 3)
    used, first, second = [(await register(open_provider)).json() for _ in range(3)]
    select_client(open_provider, used)
    browser = open_provider.browser()
    parameters_of(await browser.submit(await browser.signed_in(), decision="allow"))
    assert (await register(open_provider)).status_code == 503, "a customer may be signing in"
    clock.move(registration.REPLACED_AFTER + timedelta(seconds=1))
    third, fourth = [(await register(open_provider)).json() for _ in range(2)]
    assert (await register(open_provider)).status_code == 503
    listed = {client["id"] for client in (await key.get("/oauth-clients")).json()}
    assert listed == {client["client_id"] for client in (used, third, fourth)}, (first, second)


async def test_unused_clients_are_deleted(open_provider, clock, run_due_work):
    key = await open_provider.project.key("projects:read")
    used, unused = [(await register(open_provider)).json() for _ in range(2)]
    select_client(open_provider, used)
    browser = open_provider.browser()
    parameters_of(await browser.submit(await browser.signed_in(), decision="allow"))
    clock.move(registration.UNUSED_LIFE + timedelta(seconds=1))
    await run_due_work()
    listed = [client["id"] for client in (await key.get("/oauth-clients")).json()]
    assert listed == [used["client_id"]], unused
    clock.move(timedelta(days=3))
    assert "code" in parameters_of(await browser.authorize())
    clock.move(REGISTRATION_LIFE - timedelta(days=1))
    await run_due_work()
    assert len((await key.get("/oauth-clients")).json()) == 1, "the last use counts"
    clock.move(timedelta(days=1, seconds=1))
    await run_due_work()
    assert (await key.get("/oauth-clients")).json() == []


async def test_permissions_are_for_apis_only(open_provider):
    key = await open_provider.project.key("access:write")
    await key.post("/access/permissions", {"key": "posts:read", "description": "Read posts"})
    api = {"identifier": "https://notes.example.com/mcp", "name": "Notes", "scopes": ["posts:read"]}
    assert (await open_provider.project.developer.post("/oauth-resources", api)).status_code == 201
    select_client(open_provider, (await register(open_provider)).json())
    browser = open_provider.browser()
    page = await browser.signed_in(scope="openid posts:read", resource=api["identifier"])
    assert "Read posts" in page.text
    assert "Read posts" not in (await browser.authorize(scope="openid posts:read")).text, "for the issuer"
    refused = parameters_of(await browser.authorize(scope="posts:read"))
    assert refused["error"] == "invalid_scope"


async def test_a_client_that_is_deleted_during_a_sign_in_gets_no_code(open_provider, monkeypatch):
    registered = (await register(open_provider)).json()
    select_client(open_provider, registered)
    browser = open_provider.browser()
    page = await browser.signed_in()
    add = store.add_consent

    async def delete_and_add(tx, **values):
        path = f"/oauth-clients/{registered['client_id']}"
        assert (await open_provider.project.developer.delete(path)).status_code == 200
        await add(tx, **values)

    monkeypatch.setattr(store, "add_consent", delete_and_add)
    answer = await browser.submit(page, decision="allow")
    assert (answer.status_code, "has expired or is finished" in answer.text) == (400, True)


async def test_a_client_registers_the_algorithm_of_its_id_tokens(open_provider):
    algorithm = "ES256"  # The default is RS256.
    registered = (await register(open_provider, id_token_signed_response_alg=algorithm)).json()
    assert registered["id_token_signed_response_alg"] == algorithm
    (listed,) = (await open_provider.project.developer.get("/oauth-clients")).json()
    assert listed["idTokenSigningAlg"] == algorithm
    select_client(open_provider, registered)
    browser = open_provider.browser()
    page = await browser.signed_in()
    tokens = (await open_provider.exchange(parameters_of(await browser.submit(page, decision="allow"))["code"])).json()
    assert jwt.get_unverified_header(tokens["id_token"])["alg"] == algorithm
    await open_provider.verified(tokens["id_token"], registered["client_id"])


async def test_a_client_registers_itself_with_keys(open_provider, clock):
    key = ClientKey()
    method = {"token_endpoint_auth_method": "private_key_jwt"}
    response = await register(open_provider, jwks=key.jwks(), **method, dpop_bound_access_tokens=True)
    assert response.status_code == 201, response.text
    registered = response.json()
    assert (registered["jwks"], registered["dpop_bound_access_tokens"]) == (key.jwks(), True)
    assert "client_secret" not in registered
    open_provider.oauth_client = {"clientId": None}
    refused = await open_provider.send(
        "par", client_id=registered["client_id"], **open_provider.request(client_id=None)
    )
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_client")
    assertion = key.assertion(registered["client_id"], open_provider.issuer, now=clock().timestamp())
    pushed = await open_provider.send("par", **assertion, **open_provider.request(client_id=None))
    assert pushed.status_code == 201, pushed.text
    published = await register(open_provider, jwks_uri="https://terminal.example.com/keys", **method)
    assert published.json()["jwks_uri"] == "https://terminal.example.com/keys"
    refusals = [
        {},
        {"jwks": key.jwks(), "jwks_uri": "https://terminal.example.com/keys"},
        {"jwks": {"keys": []}},
        {"jwks": {"keys": [{**key.jwk, "crv": "P-384"}]}},
        {"jwks": {"keys": [key.private_jwk]}},
        {"jwks_uri": "https://10.0.0.1/keys"},
        {"jwks_uri": "ftp://terminal.example.com/keys"},
    ]
    for fields in refusals:
        refused = await register(open_provider, **method, **fields)
        assert (refused.status_code, refused.json()["error"]) == (400, "invalid_client_metadata"), fields
    # Without the method, keys are ignored: the client is PUBLIC.
    ignored = await register(open_provider, jwks=key.jwks())
    assert (ignored.status_code, "jwks" in ignored.json()) == (201, False)
