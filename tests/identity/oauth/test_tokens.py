"""The endpoints that clients call: refresh, revocation, introspection, userinfo and client credentials."""

import asyncio
import base64
from datetime import timedelta
from urllib.parse import urlencode

import jwt
import pytest

from postern.identity.customers.signing_keys import KEY_ACTIVE_AFTER, KEY_RETIRED_AFTER, signing_key
from postern.identity.oauth import client_authentication
from postern.identity.oauth.model import CODE_LIFE, TOKEN_LIFE
from postern.kernel.limits import RateLimit
from postern.security.sessions import REFRESH_GRACE
from tests.identity.oauth.conftest import FORM, parameters_of


async def signed_in(provider):
    """A browser that has signed in, and its tokens. The client belongs to the project."""
    browser = provider.browser()
    response = parameters_of(await browser.signed_in())
    return browser, (await provider.exchange(response["code"])).json()


async def test_refresh_tokens_rotate_and_reuse_ends_them(first_party, clock):
    _, tokens = await signed_in(first_party)
    first = tokens["refresh_token"]
    renewed = (await first_party.refresh(first)).json()
    second = renewed["refresh_token"]
    assert second != first
    claims = await first_party.verified(renewed["id_token"], first_party.oauth_client["clientId"])
    assert "nonce" not in claims
    assert renewed["scope"] == tokens["scope"]
    # A lost response: the same token again, soon, returns the same next one.
    assert (await first_party.refresh(first)).json()["refresh_token"] == second
    narrow = (await first_party.refresh(second, scope="openid email")).json()
    assert narrow["scope"] == "openid email"
    third = narrow["refresh_token"]
    more = await first_party.refresh(third, scope="openid phone")
    assert more.json()["error"] == "invalid_scope"
    assert (await first_party.refresh(third)).status_code == 200, "a refused scope does not use up the token"
    clock.move(REFRESH_GRACE + timedelta(seconds=1))
    reused = await first_party.refresh(third)
    assert (reused.status_code, reused.json()["error"]) == (400, "invalid_grant")
    fourth = await first_party.refresh((await first_party.introspect(third))["active"] or third)
    assert fourth.json()["error"] == "invalid_grant"
    assert (await first_party.userinfo(narrow["access_token"])).status_code == 401, "all tokens of the sign-in end"


async def test_concurrent_refreshes_return_the_same_token(first_party):
    _, tokens = await signed_in(first_party)
    responses = await asyncio.gather(*(first_party.refresh(tokens["refresh_token"]) for _ in range(4)))
    assert {response.status_code for response in responses} == {200}
    assert len({response.json()["refresh_token"] for response in responses}) == 1


async def test_a_refresh_token_is_issued_only_for_offline_access(first_party):
    browser, _ = await signed_in(first_party)
    online = await first_party.tokens(browser, scope="openid email")
    assert "refresh_token" not in online
    assert "id_token" not in await first_party.tokens(browser, scope="email")
    await first_party.register(firstParty=True, grantTypes=["authorization_code"])
    tokens = await first_party.tokens(browser)
    assert "refresh_token" not in tokens
    assert "offline_access" not in tokens["scope"]
    refused = await first_party.send("token", grant_type="refresh_token", refresh_token="or_x.y")
    assert refused.json()["error"] == "unauthorized_client"


@pytest.mark.parametrize("end", ["revoked", "banned", "expired"])
async def test_tokens_end_with_the_session(first_party, clock, end):
    _, tokens = await signed_in(first_party)
    claims = await first_party.verified(tokens["access_token"], first_party.issuer)
    customer, client = f"/customers/{claims['sub']}", first_party.project.client
    if end == "revoked":
        assert (await client.post(f"{customer}/sessions/revoke-all")).status_code < 300
    elif end == "banned":
        assert (await client.post(f"{customer}/ban", {"reason": "spam"})).status_code < 300
    else:
        clock.move(timedelta(days=7, seconds=1))
    refused = await first_party.refresh(tokens["refresh_token"])
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")
    assert (await first_party.userinfo(tokens["access_token"])).status_code == 401
    assert await first_party.introspect(tokens["access_token"]) == {"active": False}
    assert await first_party.introspect(tokens["refresh_token"]) == {"active": False}


async def test_the_use_of_refresh_tokens_keeps_the_session_alive_for_30_days(first_party, clock):
    browser, tokens = await signed_in(first_party)
    token = tokens["refresh_token"]
    for _ in range(4):
        clock.move(timedelta(days=6))
        token = (await first_party.refresh(token)).json()["refresh_token"]
    clock.move(timedelta(days=6, seconds=1))
    assert (await first_party.refresh(token)).json()["error"] == "invalid_grant"
    assert parameters_of(await browser.authorize(prompt="none"))["error"] == "login_required"


async def test_expired_grants_are_deleted(first_party, clock, run_due_work, world):
    _, tokens = await signed_in(first_party)
    browser = first_party.browser()
    await browser.signed_in(scope="openid")

    async def count():
        async with world.db.connection() as connection:
            query = "select count(*) from oauth_grants where project_id = %s"
            return (await (await connection.execute(query, [first_party.project.id])).fetchone())[0]

    clock.move(timedelta(days=1, minutes=2))
    await run_due_work()
    assert await count() == 1
    assert (await first_party.refresh(tokens["refresh_token"])).status_code == 200
    clock.move(timedelta(days=31))
    await run_due_work()
    assert await count() == 0


async def test_userinfo(first_party, clock):
    browser, tokens = await signed_in(first_party)
    post = await first_party.auth.client.request(
        "POST", f"{first_party.base}/userinfo", content=f"access_token={tokens['access_token']}", headers=FORM
    )
    assert post.json() == (await first_party.userinfo(tokens["access_token"])).json()
    bearer = {"authorization": f"Bearer {tokens['access_token']}"}
    by_header = await first_party.auth.client.request("POST", f"{first_party.base}/userinfo", headers=bearer)
    assert by_header.json() == post.json()
    assert post.json()["email"] == browser.address
    missing = await first_party.auth.client.get(f"{first_party.base}/userinfo")
    challenge = 'Bearer realm="oauth", DPoP algs="ES256 EdDSA RS256 PS256"'
    assert (missing.status_code, missing.headers["www-authenticate"]) == (401, challenge)
    only_sub = await first_party.tokens(browser, scope="openid")
    assert list((await first_party.userinfo(only_sub["access_token"])).json()) == ["sub"]
    no_openid = await first_party.tokens(browser, scope="email")
    refused = await first_party.userinfo(no_openid["access_token"])
    assert (refused.status_code, refused.json()["error"]) == (403, "insufficient_scope")
    session = (await first_party.auth.sign_in(browser.address)).json()["accessToken"]
    for token in (tokens["id_token"], tokens["refresh_token"], session, "x", "eyJ.e30.x", "ü"):
        refused = await first_party.userinfo(token) if token.isascii() else missing
        assert refused.status_code == 401, token
    clock.move(TOKEN_LIFE)
    assert (await first_party.userinfo(tokens["access_token"])).status_code == 401


async def test_introspection(provider):
    other = await provider.register(firstParty=True, name="API")
    third = await provider.register(name="Other")
    client = await provider.register(firstParty=True)
    _, tokens = await signed_in(provider)
    claims = await provider.introspect(tokens["access_token"], other)
    assert claims["active"] is True
    assert claims["client_id"] == client["clientId"]
    assert claims["scope"] == tokens["scope"]
    assert claims["iss"] == provider.issuer
    assert await provider.introspect(tokens["access_token"], third) == {"active": False}
    assert await provider.introspect(tokens["refresh_token"], other) == {"active": False}
    refresh = await provider.introspect(tokens["refresh_token"])
    assert refresh["active"] is True
    for token in (tokens["id_token"], "x", "or_x.y"):
        assert await provider.introspect(token) == {"active": False}
    public = await provider.register(type="PUBLIC")
    refused = await provider.send("introspect", public, token=tokens["access_token"])
    assert refused.status_code == 401
    assert (await provider.send("introspect", client)).json()["error"] == "invalid_request"


async def test_concurrent_introspections_get_the_state_of_their_own_token(provider):
    api = await provider.register(firstParty=True, name="API")
    stranger = await provider.register(name="Other")
    await provider.register(firstParty=True)
    tokens = [(await signed_in(provider))[1] for _ in range(3)]
    assert (await provider.send("revoke", token=tokens[1]["refresh_token"])).status_code == 200
    asked = [(tokens[number % 3]["access_token"], stranger if number == 7 else api) for number in range(9)]
    answers = await asyncio.gather(*(provider.introspect(*question) for question in asked))
    for number, ((token, client), answer) in enumerate(zip(asked, answers, strict=True)):
        if number % 3 == 1 or client is stranger:
            assert answer == {"active": False}
        else:
            assert answer["sub"] == jwt.decode(token, options={"verify_signature": False})["sub"]


async def test_an_api_may_introspect_as_often_as_an_api_key_may_send_requests(provider, monkeypatch):
    monkeypatch.setattr(client_authentication, "CLIENT_RATE", RateLimit("oauth-client", 2, timedelta(seconds=10)))
    answers = [await provider.introspect("x") for _ in range(4)]
    assert answers == [{"active": False}] * 4


@pytest.mark.parametrize("name", ["access_token", "refresh_token"])
async def test_revocation(provider, name):
    other = await provider.register(firstParty=True)
    client = await provider.register(firstParty=True)
    _, tokens = await signed_in(provider)
    for token in (tokens[name], "unknown", "or_x.y"):
        assert (await provider.send("revoke", other, token=token)).status_code == 200
    assert (await provider.userinfo(tokens["access_token"])).status_code == 200, "those of other clients stay"
    revoked = await provider.send("revoke", client, token=tokens[name], token_type_hint="refresh_token")
    assert (revoked.status_code, revoked.json()) == (200, {})
    assert (await provider.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await provider.userinfo(tokens["access_token"])).status_code == 401
    assert (await provider.send("revoke", client)).json()["error"] == "invalid_request"


async def test_client_credentials(provider):
    key = await provider.project.key("access:write")
    await key.post("/access/permissions", {"key": "posts:write", "description": "Write and change posts."})
    fields = {"grantTypes": ["client_credentials"], "redirectUris": [], "scopes": ["posts:write", "openid"]}
    client = await provider.register(**fields)
    issued = await provider.send("token", grant_type="client_credentials")
    assert issued.status_code == 200, issued.text
    tokens = issued.json()
    assert set(tokens) == {"access_token", "token_type", "expires_in", "scope"}
    claims = await provider.verified(tokens["access_token"], provider.issuer)
    assert (claims["sub"], claims["client_id"], claims["scope"]) == (client["id"], client["id"], "posts:write")
    assert (await provider.introspect(tokens["access_token"]))["active"] is True
    assert (await provider.userinfo(tokens["access_token"])).status_code == 401
    for scope in ("openid", "posts:read"):
        refused = await provider.send("token", grant_type="client_credentials", scope=scope)
        assert refused.json()["error"] == "invalid_scope"
    revoked = await provider.send("revoke", token=tokens["access_token"])
    assert (revoked.status_code, revoked.json()["error"]) == (400, "unsupported_token_type")
    assert (await provider.send("token", grant_type="authorization_code")).json()["error"] == "unauthorized_client"


async def test_scopes_are_permissions_that_the_customer_has(provider):
    key = await provider.project.key("access:write", "customers:write")
    for name in ("posts:read", "posts:write"):
        await key.post("/access/permissions", {"key": name, "description": f"Work with posts ({name})."})
    await key.post("/access/roles", {"key": "reader", "scope": "PROJECT", "permissions": ["posts:read"]})
    await provider.register(scopes=["openid", "posts:read", "posts:write", "offline_access"])
    browser = provider.browser()
    scope = "openid posts:read posts:write offline_access"
    consent = await browser.signed_in(scope=scope)
    assert "Work with posts (posts:write)." in consent.text
    response = parameters_of(await browser.submit(consent, decision="allow"))
    tokens = (await provider.exchange(response["code"])).json()
    assert tokens["scope"] == "openid offline_access"
    customer = (await provider.verified(tokens["access_token"], provider.issuer))["sub"]
    assert (await key.patch(f"/customers/{customer}/roles", {"roles": ["reader"]})).status_code == 200
    renewed = (await provider.refresh(tokens["refresh_token"])).json()
    assert renewed["scope"] == "openid posts:read offline_access"
    assert jwt.decode(renewed["access_token"], options={"verify_signature": False})["scope"] == renewed["scope"]


async def test_permissions_in_an_organization_are_not_scopes(provider):
    """An OWNER has all permissions in the organization, and without a role in the project none there."""
    key = await provider.project.key("access:write", "customers:write")
    for name in ("posts:read", "posts:write"):
        await key.post("/access/permissions", {"key": name, "description": f"Work with posts ({name})."})
    await provider.register(firstParty=True, scopes=["openid", "posts:read", "posts:write", "offline_access"])
    browser = provider.browser()
    customer = (await provider.auth.signed_up(browser.address))["customer"]["id"]
    client = provider.project.client
    organization = (await client.post("/b2b/organizations", {"name": "Acme"})).json()["id"]
    members = f"/b2b/organizations/{organization}/members"
    assert (await client.post(members, {"customerId": customer, "roles": ["OWNER"]})).status_code == 201
    response = parameters_of(await browser.sign_in(await browser.authorize(scope="openid posts:read offline_access")))
    tokens = (await provider.exchange(response["code"])).json()
    assert tokens["scope"] == "openid offline_access"
    claims = await provider.verified(tokens["access_token"], provider.issuer)
    assert claims["scope"] == "openid offline_access"
    assert claims["org"] == {"id": organization, "permissions": ["posts:read"]}, "only those that the client asked for"
    introspected = await provider.introspect(tokens["access_token"])
    assert (introspected["scope"], introspected["org"]) == (claims["scope"], claims["org"])
    await key.post("/access/roles", {"key": "reader", "scope": "PROJECT", "permissions": ["posts:read"]})
    assert (await key.patch(f"/customers/{customer}/roles", {"roles": ["reader"]})).status_code == 200
    renewed = (await provider.refresh(tokens["refresh_token"])).json()
    assert renewed["scope"] == "openid posts:read offline_access"


async def test_tokens_of_a_retired_key_are_refused(first_party, clock, world):
    """A key that has leaked can sign tokens that do not expire; rotation must end them."""
    _, tokens = await signed_in(first_party)
    project = first_party.project
    key_id, private = await signing_key(world.db, world, project.id, clock())
    claims = jwt.decode(tokens["access_token"], options={"verify_signature": False})
    forged = jwt.encode(
        {**claims, "exp": claims["exp"] + 86_400},
        private,
        algorithm="ES256",
        headers={"kid": str(key_id), "typ": "at+jwt"},
    )
    assert (await first_party.userinfo(forged)).status_code == 200
    assert (await project.developer.post(f"/projects/{project.id}/auth/signing-keys/rotate")).status_code < 300
    clock.move(KEY_ACTIVE_AFTER + KEY_RETIRED_AFTER + timedelta(seconds=1))
    assert (await first_party.userinfo(forged)).status_code == 401
    assert await first_party.introspect(forged) == {"active": False}
    renewed = (await first_party.refresh(tokens["refresh_token"])).json()
    assert (await first_party.userinfo(renewed["access_token"])).status_code == 200
    browser = first_party.browser()
    query = urlencode({"id_token_hint": tokens["id_token"]})
    asked = await browser.open(f"{first_party.base}/logout?{query}")
    assert "Sign out?" in asked.text, "an ID token of that key still names its session"


def basic(name, secret):
    return {"authorization": f"Basic {base64.b64encode(f'{name}:{secret}'.encode()).decode()}"}


async def test_client_authentication(provider):
    secret = await provider.register(grantTypes=["client_credentials"], redirectUris=[], scopes=[])
    public = await provider.register(type="PUBLIC")
    name, value = secret["clientId"], secret["clientSecret"]
    form = "grant_type=client_credentials"
    cases = [
        ({**basic(name, value)}, form, 200, None),
        ({**basic(name, value)}, f"{form}&client_id={name}", 200, None),
        ({}, f"{form}&client_id={name}&client_secret={value}", 200, None),
        ({**basic(name, value)}, f"{form}&client_secret={value}", 400, "invalid_request"),
        ({**basic(name, value)}, f"{form}&client_id={public['clientId']}", 401, "invalid_client"),
        ({**basic(name, value + "x")}, form, 401, "invalid_client"),
        ({**basic(name, "")}, form, 401, "invalid_client"),
        ({}, f"{form}&client_id={name}", 401, "invalid_client"),
        ({}, form, 401, "invalid_client"),
        ({}, f"{form}&client_id=nobody&client_secret=x", 401, "invalid_client"),
        ({**basic(public["clientId"], "x")}, form, 401, "invalid_client"),
        ({"authorization": "Basic %%%"}, form, 401, "invalid_client"),
        ({"authorization": "Basic " + base64.b64encode(b"\xff\xfe").decode()}, form, 401, "invalid_client"),
        ({"authorization": f"Bearer {value}"}, form, 401, "invalid_client"),
        ({}, f"{form}&client_id={public['clientId']}", 400, "unauthorized_client"),
        ({**basic(name, value)}, "", 400, "invalid_request"),
        ({**basic(name, value)}, "grant_type=password", 400, "unsupported_grant_type"),
        ({**basic(name, value)}, f"{form}&{form}", 400, "invalid_request"),
        ({**basic(name, value)}, f"{form}&scope=%00", 400, "invalid_request"),
        ({**basic(name, value)}, "&".join(f"a{n}=1" for n in range(60)), 400, "invalid_request"),
        ({**basic(name, value), "content-type": "application/json"}, "{}", 400, "invalid_request"),
        ({**basic(name, value)}, b"grant_type=\xff", 400, "invalid_request"),
    ]
    for headers, content, status, error in cases:
        response = await provider.auth.client.request(
            "POST", f"{provider.base}/token", content=content, headers={**FORM, **headers}
        )
        assert (response.status_code, response.json().get("error")) == (status, error), (headers, content)
        if status == 401 and "authorization" in headers:
            assert response.headers["www-authenticate"] == 'Basic realm="oauth"'


async def test_requests_of_a_client_are_limited(provider, monkeypatch):
    monkeypatch.setattr(
        client_authentication, "AUTHENTICATION_RATE", RateLimit("oauth-authentication", 2, timedelta(minutes=1))
    )
    wrong = {**provider.oauth_client, "clientSecret": "ocs_guess"}
    statuses = [(await provider.send("token", wrong, grant_type="refresh_token")).status_code for _ in range(4)]
    assert statuses == [401, 401, 429, 429]
    right = await provider.send("token", grant_type="refresh_token", refresh_token="x")
    assert right.status_code == 400, "the client itself is not locked out"


async def test_notations_of_a_client_id_are_limited_together(provider, monkeypatch):
    monkeypatch.setattr(
        client_authentication, "AUTHENTICATION_RATE", RateLimit("oauth-authentication", 2, timedelta(minutes=1))
    )
    client_id = provider.oauth_client["clientId"]
    statuses: list[int] = []
    for written in (client_id, client_id.upper(), client_id.title(), "a", "b", "c"):
        wrong = {"clientId": written, "clientSecret": "ocs_guess"}
        statuses.append((await provider.send("token", wrong, grant_type="refresh_token")).status_code)
    assert statuses == [401, 401, 429, 401, 401, 429]


async def test_a_deleted_project_issues_no_tokens(provider):
    await provider.register(firstParty=True)
    _, user_tokens = await signed_in(provider)
    machine = await provider.register(grantTypes=["client_credentials"], redirectUris=[], scopes=[])
    assert (await provider.send("token", machine, grant_type="client_credentials")).status_code == 200
    deleted = await provider.project.developer.delete(f"/projects/{provider.project.id}")
    assert deleted.status_code < 300, deleted.text
    assert (await provider.send("token", machine, grant_type="client_credentials")).status_code == 404
    assert (await provider.send("introspect", machine, token=user_tokens["access_token"])).status_code == 404
    assert (await provider.userinfo(user_tokens["access_token"])).status_code in (401, 404)


async def test_access_tokens_end_with_new_requirements(first_party):
    _, tokens = await signed_in(first_party)
    assert (await first_party.introspect(tokens["access_token"]))["active"] is True
    await first_party.auth.settings(requireMfa=True)
    assert await first_party.introspect(tokens["access_token"]) == {"active": False}
    assert (await first_party.userinfo(tokens["access_token"])).status_code == 401


async def test_a_code_expires(first_party, clock):
    browser = first_party.browser()
    code = parameters_of(await browser.signed_in())["code"]
    clock.move(CODE_LIFE)
    assert (await first_party.exchange(code)).json()["error"] == "invalid_grant"


async def test_test_clients_have_sessions_and_an_audience_of_their_own(provider):
    live = await provider.register(firstParty=True)
    browser, tokens = await signed_in(provider)
    test = await provider.register(firstParty=True, environment="TEST")
    assert parameters_of(await browser.authorize(prompt="none"))["error"] == "login_required"
    response = parameters_of(await browser.sign_in(await browser.authorize()))
    of_test = (await provider.exchange(response["code"])).json()
    with pytest.raises(jwt.InvalidAudienceError):
        await provider.verified(of_test["access_token"], provider.issuer)
    assert await provider.verified(of_test["access_token"], f"{provider.issuer}/test")
    assert await provider.introspect(of_test["access_token"], live) == {"active": False}
    assert await provider.introspect(tokens["access_token"], test) == {"active": False}
    assert (await provider.introspect(of_test["access_token"], test))["active"] is True
    assert (await provider.userinfo(of_test["access_token"])).status_code == 200
    assert "code" in parameters_of(await browser.authorize(prompt="none", client_id=live["clientId"]))


async def test_access_tokens_have_the_active_organization(first_party):
    browser = first_party.browser()
    sign_up = await first_party.auth.signed_up(browser.address)
    customer = sign_up["customer"]["id"]
    client = first_party.project.client
    organization = (await client.post("/b2b/organizations", {"name": "Acme"})).json()["id"]
    members = f"/b2b/organizations/{organization}/members"
    assert (await client.post(members, {"customerId": customer, "roles": ["MEMBER"]})).status_code == 201
    response = parameters_of(await browser.sign_in(await browser.authorize()))
    tokens = (await first_party.exchange(response["code"])).json()
    claims = await first_party.verified(tokens["access_token"], first_party.issuer)
    assert claims["org"] == {"id": organization, "permissions": []}
    suspended = await client.patch(f"/b2b/organizations/{organization}", {"status": "SUSPENDED"})
    assert suspended.status_code == 200, suspended.text
    renewed = (await first_party.refresh(tokens["refresh_token"])).json()
    assert "org" not in await first_party.verified(renewed["access_token"], first_party.issuer)
