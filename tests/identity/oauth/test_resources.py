"""APIs as audiences of access tokens (RFC 8707)."""

from datetime import timedelta

import pytest

from postern.identity.oauth import resources
from postern.identity.oauth.model import DEVICE_GRANT
from tests.identity.oauth.conftest import FORM, REDIRECT_URI, Provider, parameters_of
from tests.identity.oauth.test_devices import consent_page

NOTES, PHOTOS = "https://notes.example.com/mcp", "https://photos.example.com"
SCOPE = "openid email offline_access posts:read posts:write"


async def declare(provider, identifier=NOTES, **fields):
    body = {"identifier": identifier, "name": "Northwind Notes", "scopes": ["posts:read"], **fields}
    response = await provider.project.developer.post("/oauth-resources", body)
    assert response.status_code == 201, response.text
    return response.json()


@pytest.fixture
async def notes(auth):
    """A provider with two APIs and permissions, whose client is third-party."""
    provider = Provider(auth)
    key = await provider.project.key("access:write")
    for name in ("posts:read", "posts:write"):
        await key.post("/access/permissions", {"key": name, "description": f"Do {name}"})
    permissions = ["posts:read", "posts:write"]
    await key.post("/access/roles", {"key": "writer", "scope": "PROJECT", "permissions": permissions})
    await provider.register(scopes=SCOPE.split())
    await declare(provider)
    await declare(provider, PHOTOS, name="Photos", scopes=[])
    return provider


async def allowed(browser, page):
    """The authorization response after the customer, who has both permissions, has allowed everything."""
    key = await browser.provider.project.key("customers:read", "customers:write", "access:write")
    (customer,) = (await key.get(f"/customers?q={browser.address}")).json()["data"]
    assert (await key.patch(f"/customers/{customer['id']}/roles", {"roles": ["writer"]})).status_code == 200
    return parameters_of(await browser.submit(page, decision="allow"))


async def test_a_token_for_an_api_is_for_this_api_only(notes):
    browser = notes.browser()
    page = await browser.signed_in(scope=SCOPE, resource=NOTES)
    assert "use Northwind Notes in your name" in page.text
    assert "Do posts:read" in page.text
    assert "Do posts:write" not in page.text, "the API does not know this scope"
    tokens = (await notes.exchange((await allowed(browser, page))["code"], resource=NOTES)).json()
    assert tokens["scope"] == "openid email offline_access posts:read"
    claims = await notes.verified(tokens["access_token"], NOTES)
    assert claims["scope"] == "posts:read"
    assert (await notes.verified(tokens["id_token"], notes.oauth_client["clientId"]))["email"] == browser.address
    refused = await notes.userinfo(tokens["access_token"])
    assert (refused.status_code, refused.json()["error"]) == (401, "invalid_token")
    headers = {"authorization": f"Bearer {tokens['access_token']}"}
    for path in ("", "/auth/me", "/auth/consents", "/customers", "/oauth-resources"):
        own = await notes.auth.client.get(f"/projects/{notes.project.id}{path}", headers=headers)
        assert own.status_code == 401, path
    renewed = (await notes.refresh(tokens["refresh_token"])).json()
    assert (await notes.verified(renewed["access_token"], NOTES))["scope"] == "posts:read"
    for wrong in (PHOTOS, notes.issuer, f"{NOTES}/", "x" * 3_000):
        other = await notes.refresh(renewed["refresh_token"], resource=wrong)
        assert (other.status_code, other.json()["error"]) == (400, "invalid_target")
    assert (await notes.refresh(renewed["refresh_token"], resource=NOTES)).status_code == 200


async def test_a_code_without_a_resource_cannot_be_exchanged_for_one(notes):
    browser = notes.browser()
    page = await browser.signed_in(scope=SCOPE)
    code = (await allowed(browser, page))["code"]
    refused = await notes.exchange(code, resource=NOTES)
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_target")
    tokens = (await notes.exchange(code)).json()
    assert (await notes.verified(tokens["access_token"], notes.issuer))["scope"].endswith("posts:write")
    refused = await notes.refresh(tokens["refresh_token"], resource=NOTES)
    assert refused.json()["error"] == "invalid_target"


async def test_unknown_and_repeated_resources_are_refused(notes):
    browser = notes.browser()
    await declare(notes, "https://staging.example.com", environment="TEST")
    for wrong in ("https://evil.example.com", f"{NOTES}#part", "https://staging.example.com", "\0", "notes"):
        error = parameters_of(await browser.authorize(resource=wrong))
        assert error["error"] in ("invalid_target", "invalid_request")
    url = f"{notes.base}/authorize?client_id={notes.oauth_client['clientId']}&resource={NOTES}&resource={PHOTOS}"
    page = await browser.open(url)
    assert page.status_code == 400
    assert "one resource" in page.text
    pushed = await notes.send("par", **notes.request(resource="https://evil.example.com"))
    assert pushed.json()["error"] == "invalid_target"
    content = f"grant_type=refresh_token&resource={NOTES}&resource={PHOTOS}"
    repeated = await notes.auth.client.request("POST", f"{notes.base}/token", content=content, headers=FORM)
    assert repeated.json()["error"] == "invalid_target"


async def test_consent_for_one_api_is_none_for_another(notes):
    browser = notes.browser()
    await allowed(browser, await browser.signed_in(scope="openid posts:read", resource=NOTES))
    again = await browser.authorize(scope="openid posts:read", resource=NOTES)
    assert "code" in parameters_of(again), "the same is remembered"
    await declare(notes, "https://blog.example.com", name="Blog", scopes=["posts:read", "posts:write"])
    for fields in ({"resource": PHOTOS, "scope": "openid"}, {"resource": "https://blog.example.com"}, {}):
        page = await browser.authorize(**{"scope": "openid posts:read", **fields})
        assert "asks for access to your account" in page.text, fields
    await allowed(browser, page)
    assert "asks for access" in (await browser.authorize(scope="posts:read", resource="https://blog.example.com")).text
    customer = (await notes.project.client.get(f"/customers?q={browser.address}")).json()["data"][0]["id"]
    (consent,) = (await notes.project.client.get(f"/customers/{customer}/oauth-consents")).json()
    assert consent["resourceScopes"] == {NOTES: ["posts:read"]}
    assert consent["scopes"] == ["openid", "posts:read"]


async def test_a_request_without_scope_gets_what_the_api_knows(notes):
    browser = notes.browser()
    # Clients that parse the URL add the slash of an empty path.
    page = await browser.signed_in(scope=None, resource=f"{PHOTOS}/")
    tokens = (await notes.exchange((await allowed(browser, page))["code"], resource=f"{PHOTOS}/")).json()
    assert (await notes.verified(tokens["access_token"], PHOTOS))["scope"] == ""
    assert "refresh_token" in tokens
    page = await browser.authorize(scope=None, resource=NOTES)
    tokens = (await notes.exchange((await allowed(browser, page))["code"])).json()
    assert (await notes.verified(tokens["access_token"], NOTES))["scope"] == "posts:read"


async def test_only_the_api_and_the_client_can_introspect_a_token(notes):
    client = notes.oauth_client
    browser = notes.browser()
    page = await browser.signed_in(scope="openid posts:read", resource=NOTES)
    token = (await notes.exchange((await allowed(browser, page))["code"])).json()["access_token"]
    first_party = await notes.register(firstParty=True)
    own_client, other = await notes.register(name="API"), await notes.register(name="Other")
    (resource,) = [
        api for api in (await notes.project.developer.get("/oauth-resources")).json() if api["identifier"] == NOTES
    ]
    path = f"/oauth-resources/{resource['id']}"
    changed = await notes.project.developer.patch(path, {"introspectionClientId": own_client["id"]})
    assert changed.status_code == 200, changed.text
    states = [(await notes.introspect(token, asking))["active"] for asking in (client, first_party, own_client, other)]
    assert states == [True, False, True, False]
    assert (await notes.introspect(token, own_client))["aud"] == NOTES
    assert (await notes.project.developer.delete(path)).json() == {"deleted": True}
    assert await notes.introspect(token, client) == {"active": False}


async def test_tokens_end_when_the_api_is_deleted_or_loses_a_scope(notes, clock):
    browser = notes.browser()
    page = await browser.signed_in(scope=SCOPE, resource=NOTES)
    tokens = (await notes.exchange((await allowed(browser, page))["code"])).json()
    resource = (await notes.project.developer.get("/oauth-resources")).json()[1]
    path = f"/oauth-resources/{resource['id']}"
    assert (await notes.project.developer.patch(path, {"scopes": []})).json()["scopes"] == []
    tokens = (await notes.refresh(tokens["refresh_token"])).json()
    assert (await notes.verified(tokens["access_token"], NOTES))["scope"] == ""
    assert (await notes.project.developer.delete(path)).status_code == 200
    refused = await notes.refresh(tokens["refresh_token"])
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_target")
    clock.move(timedelta(seconds=1))
    await declare(notes)
    revived = await notes.refresh(tokens["refresh_token"])
    assert (revived.status_code, revived.json()["error"]) == (400, "invalid_grant"), "its deletion has ended it"


async def test_machines_and_devices_ask_for_an_api(notes):
    machine = await notes.register(grantTypes=["client_credentials"], redirectUris=[], scopes=["posts:write"])
    answer = await notes.send("token", machine, grant_type="client_credentials", resource=NOTES)
    assert (await notes.verified(answer.json()["access_token"], NOTES))["scope"] == ""
    more = await notes.send("token", machine, grant_type="client_credentials", resource=NOTES, scope="posts:write")
    assert more.json()["error"] == "invalid_scope"
    other = await notes.send("token", machine, grant_type="client_credentials", resource="https://evil.example.com")
    assert other.json()["error"] == "invalid_target"
    await notes.register(type="PUBLIC", redirectUris=[], grantTypes=[DEVICE_GRANT], scopes=["openid", "posts:read"])
    begun = await notes.send("device_authorization", scope="openid posts:read", resource=NOTES)
    browser = notes.browser()
    page = await consent_page(browser, begun.json())
    assert "Northwind Notes" in page.text
    await browser.submit(page, decision="allow")
    wrong = await notes.send("token", grant_type=DEVICE_GRANT, device_code=begun.json()["device_code"], resource=PHOTOS)
    assert wrong.json()["error"] == "invalid_target"


async def test_a_pushed_request_is_for_an_api(notes):
    parameters = notes.request(scope="posts:read", resource=NOTES)
    pushed = (await notes.send("par", **parameters)).json()
    browser = notes.browser()
    await notes.auth.signed_up(browser.address)
    url = f"{notes.base}/authorize?client_id={notes.oauth_client['clientId']}&request_uri={pushed['request_uri']}"
    page = await browser.sign_in(await browser.open(f"{url}&resource={PHOTOS}"))
    tokens = (await notes.exchange((await allowed(browser, page))["code"])).json()
    assert (await notes.verified(tokens["access_token"], NOTES))["scope"] == "posts:read"


INVALID = [
    ({"identifier": "http://notes.example.com"}, "/identifier"),
    ({"identifier": "https://notes.example.com/"}, "/identifier"),
    ({"identifier": "https://notes.example.com/mcp#part"}, "/identifier"),
    ({"identifier": "https://notes.example.com/mcp?part"}, "/identifier"),
    ({"identifier": "https://user@notes.example.com/mcp"}, "/identifier"),
    ({"identifier": "https://[::1/mcp"}, "/identifier"),
    ({"identifier": "urn:notes"}, "/identifier"),
    ({"identifier": "https://Notes.example.com/mcp"}, "/identifier"),
    ({"identifier": "https://notes.example.com:443/mcp"}, "/identifier"),
    ({"identifier": "http://localhost:80/mcp"}, "/identifier"),
    ({"identifier": "https://notes.example.com./mcp"}, "/identifier"),
    ({"identifier": "https://notes.example.com/a/../mcp"}, "/identifier"),
    ({"identifier": "https://notes.example.com/a/%2E."}, "/identifier"),
    ({"scopes": ["openid"]}, "/scopes/0"),
    ({"scopes": ["unknown:read"]}, "/scopes/0"),
    ({"name": ""}, "/name"),
    ({"introspectionClientId": "019c13f9-5a00-7cc0-a2f4-0c2f6a1f9d11"}, "/introspectionClientId"),
]


async def test_invalid_apis_are_refused_with_the_location(provider, monkeypatch):
    developer = provider.project.developer
    for fields, path in [*INVALID, ({"identifier": provider.issuer}, "/identifier")]:
        response = await developer.post("/oauth-resources", {"identifier": NOTES, "name": "Notes", **fields})
        assert response.status_code == 400, fields
        assert response.json()["errors"][0]["path"] == path, response.text
    created = await declare(provider, scopes=[])
    twice = await developer.post("/oauth-resources", {"identifier": NOTES, "name": "Notes"})
    assert (twice.status_code, twice.json()["code"]) == (409, "oauth_resource_exists")
    path = f"/oauth-resources/{created['id']}"
    assert (await developer.get(path)).json() == created
    assert (await developer.patch(path, {"name": "Other"}, headers={"if-match": '"0-0"'})).status_code == 412
    public = await provider.register(type="PUBLIC", redirectUris=[REDIRECT_URI])
    wrong = await developer.patch(path, {"introspectionClientId": public["id"]})
    assert wrong.json()["errors"][0]["path"] == "/introspectionClientId"
    confidential = await provider.register(redirectUris=[REDIRECT_URI])
    named = await developer.patch(path, {"introspectionClientId": confidential["id"]})
    assert named.json()["introspectionClientId"] == confidential["id"]
    assert (await developer.delete(f"/oauth-clients/{confidential['id']}")).status_code == 200
    assert (await developer.patch(path, {"name": "Other"})).json()["name"] == "Other", "it names a deleted client"
    monkeypatch.setattr(resources, "RESOURCES_PER_PROJECT", 1)
    limited = await developer.post("/oauth-resources", {"identifier": PHOTOS, "name": "Photos"})
    assert (limited.status_code, limited.json()["code"]) == (422, "too_many_oauth_resources")
    key = await provider.project.key("projects:read", "projects:write", environment="TEST")
    assert (await key.get("/oauth-resources")).json() == []
    assert (await key.get(path)).status_code == 404
    assert (await key.delete(path)).status_code == 404
    live = await key.post("/oauth-resources", {"identifier": PHOTOS, "name": "Photos", "environment": "LIVE"})
    assert live.status_code == 403
