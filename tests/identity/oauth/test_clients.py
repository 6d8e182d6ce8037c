"""Registration of OAuth clients, their secrets, and the consents of customers."""

import base64
from datetime import timedelta

import pytest

from postern.identity.oauth import operations
from tests.identity.oauth.conftest import FORM, REDIRECT_URI, parameters_of

APP_URI = "com.example.reports:/callback"


def with_basic(client, secret):
    credential = base64.b64encode(f"{client['clientId']}:{secret}".encode()).decode()
    return {**FORM, "authorization": f"Basic {credential}"}


async def test_a_client_is_registered_changed_and_deleted(provider):
    developer, created = provider.project.developer, provider.oauth_client
    assert created["clientId"] == created["id"]
    assert created["issuer"] == provider.issuer
    assert created["clientSecret"].startswith("ocs_")
    assert created["secretLastFour"] == created["clientSecret"][-4:]
    path = f"/oauth-clients/{created['id']}"
    read = await developer.get(path)
    assert "clientSecret" not in read.json()
    assert (await developer.get("/oauth-clients")).json() == [read.json()]
    stale = await developer.patch(path, {"name": "Other"}, headers={"if-match": '"0-0"'})
    assert stale.status_code == 412
    changed = await developer.patch(path, {"name": "Other", "redirectUris": [REDIRECT_URI, REDIRECT_URI]})
    assert (changed.json()["name"], changed.json()["redirectUris"]) == ("Other", [REDIRECT_URI])
    assert changed.json()["scopes"] == created["scopes"]
    deleted = await developer.delete(path)
    assert deleted.json() == {"deleted": True}
    assert (await developer.get(path)).status_code == 404
    assert (await developer.delete(path)).status_code == 404
    log = (await developer.get(f"/account/audit-log?projectId={provider.project.id}")).json()["data"]
    actions = [entry["action"] for entry in log if entry["action"].startswith("oauth_client")]
    assert actions == ["oauth_client.deleted", "oauth_client.updated", "oauth_client.created"]
    assert created["clientSecret"] not in str(log)


INVALID = [
    ({"redirectUris": ["http://reports.example.com/callback"]}, "/redirectUris/0"),
    ({"redirectUris": ["https://*.example.com/callback"]}, "/redirectUris/0"),
    ({"redirectUris": ["https://user@reports.example.com/callback"]}, "/redirectUris/0"),
    ({"redirectUris": ["https://reports.example.com/callback#part"]}, "/redirectUris/0"),
    ({"redirectUris": ["https://münchen.example/callback"]}, "/redirectUris/0"),
    ({"redirectUris": ["https://reports.example.com/caf\u00e9"]}, "/redirectUris/0"),
    ({"redirectUris": ["https://reports.example.com;script-src/callback"]}, "/redirectUris/0"),
    ({"redirectUris": ["javascript:/alert(1)"]}, "/redirectUris/0"),
    ({"redirectUris": ["myapp:/callback"], "type": "PUBLIC"}, "/redirectUris/0"),
    ({"redirectUris": [APP_URI]}, "/redirectUris/0"),
    ({"redirectUris": ["https:///callback"]}, "/redirectUris/0"),
    ({"redirectUris": ["https://[::1/callback"]}, "/redirectUris/0"),
    ({"redirectUris": ["https://reports.example.com:99999/callback"]}, "/redirectUris/0"),
    ({"redirectUris": []}, "/redirectUris"),
    ({"redirectUris": [f"{REDIRECT_URI}{number}" for number in range(51)]}, "/redirectUris"),
    ({"postLogoutRedirectUris": ["ftp://example.com/"]}, "/postLogoutRedirectUris/0"),
    ({"grantTypes": ["password"]}, "/grantTypes/0"),
    ({"grantTypes": []}, "/grantTypes"),
    ({"grantTypes": ["refresh_token"]}, "/grantTypes"),
    ({"grantTypes": ["client_credentials"], "type": "PUBLIC"}, "/grantTypes"),
    ({"scopes": ["openid", "posts:read"]}, "/scopes/1"),
    ({"scopes": ["open id"]}, "/scopes/0"),
    ({"privacyUrl": "javascript:alert(1)"}, "/privacyUrl"),
    ({"name": " "}, "/name"),
    ({"clientSecret": "chosen"}, "/clientSecret"),
]


async def test_invalid_clients_are_refused_with_the_location(provider):
    for fields, path in INVALID:
        body = {"name": "App", "redirectUris": [REDIRECT_URI], **fields}
        response = await provider.project.developer.post("/oauth-clients", body)
        assert response.status_code == 400, fields
        assert response.json()["errors"][0]["path"] == path, response.text
    assert len((await provider.project.developer.get("/oauth-clients")).json()) == 1


async def test_the_number_of_clients_is_limited(provider, monkeypatch):
    monkeypatch.setattr(operations, "CLIENTS_PER_PROJECT", 1)
    body = {"name": "App", "redirectUris": [REDIRECT_URI]}
    response = await provider.project.developer.post("/oauth-clients", body)
    assert (response.status_code, response.json()["code"]) == (422, "too_many_oauth_clients")


async def test_a_rotated_secret_works_for_its_grace_period(provider, clock):
    client = await provider.register(grantTypes=["client_credentials"], redirectUris=[], scopes=[])
    path = f"/oauth-clients/{client['id']}/rotate-secret"
    rotated = (await provider.project.developer.post(path, {"gracePeriodSeconds": 3_600})).json()
    old, new = client["clientSecret"], rotated["clientSecret"]

    async def status(secret):
        url = f"{provider.base}/token"
        content, headers = "grant_type=client_credentials", with_basic(client, secret)
        return (await provider.auth.client.request("POST", url, content=content, headers=headers)).status_code

    assert [await status(old), await status(new), await status("ocs_other")] == [200, 200, 401]
    third = (await provider.project.developer.post(path, {"gracePeriodSeconds": 60})).json()["clientSecret"]
    assert [await status(old), await status(new), await status(third)] == [401, 200, 200]
    clock.move(timedelta(seconds=61))
    assert [await status(new), await status(third)] == [401, 200]
    last = (await provider.project.developer.post(path, {"gracePeriodSeconds": 0})).json()["clientSecret"]
    assert [await status(third), await status(last)] == [401, 200]
    public = await provider.register(type="PUBLIC")
    assert public["clientSecret"] is None
    refused = await provider.project.developer.post(f"/oauth-clients/{public['id']}/rotate-secret")
    assert refused.status_code == 409


async def test_a_test_key_has_only_test_clients(provider):
    live = provider.oauth_client
    key = await provider.project.key("projects:read", "projects:write", environment="TEST")
    assert (await key.get("/oauth-clients")).json() == []
    assert (await key.get(f"/oauth-clients/{live['id']}")).status_code == 404
    assert (await key.patch(f"/oauth-clients/{live['id']}", {"name": "Mine"})).status_code == 404
    assert (await key.delete(f"/oauth-clients/{live['id']}")).status_code == 404
    body = {"name": "App", "redirectUris": [REDIRECT_URI]}
    assert (await key.post("/oauth-clients", {**body, "environment": "LIVE"})).status_code == 403
    created = await key.post("/oauth-clients", body)
    assert created.json()["environment"] == "TEST"
    assert len((await key.get("/oauth-clients")).json()) == 1
    assert len((await provider.project.developer.get("/oauth-clients")).json()) == 2


async def test_consents_are_listed_and_revoked(provider):
    browser = provider.browser()
    await browser.submit(await browser.signed_in(), decision="allow")
    tokens = await provider.tokens(browser)
    customer = (await provider.verified(tokens["access_token"], provider.issuer))["sub"]
    client_id, client = provider.oauth_client["id"], provider.project.client
    (consent,) = (await client.get(f"/customers/{customer}/oauth-consents")).json()
    assert consent["clientName"] == "Northwind Reports"
    assert consent["scopes"] == ["email", "offline_access", "openid", "profile"]
    session = (await provider.auth.sign_in(browser.address)).json()
    ada = provider.auth.as_(session["accessToken"])
    assert (await ada.get("/consents")).json() == [consent]
    path = f"/customers/{customer}/oauth-consents/{client_id}"
    assert (await client.delete(path)).json() == {"removed": True}
    assert (await client.delete(path)).status_code == 404
    assert (await provider.refresh(tokens["refresh_token"])).json()["error"] == "invalid_grant"
    assert (await provider.userinfo(tokens["access_token"])).status_code == 401
    assert (await provider.introspect(tokens["access_token"])) == {"active": False}
    refused = parameters_of(await browser.authorize(prompt="none"))
    assert refused["error"] == "consent_required"
    await browser.submit(await browser.authorize(), decision="allow")
    assert (await ada.client.delete(f"/consents/{client_id}")).status_code == 200
    assert (await ada.client.delete(f"/consents/{client_id}")).status_code == 404
    assert parameters_of(await browser.authorize(prompt="none"))["error"] == "consent_required"


async def test_changes_of_a_client_apply_at_once(first_party):
    browser = first_party.browser()
    tokens = (await first_party.exchange(parameters_of(await browser.signed_in())["code"])).json()
    page = await browser.authorize(prompt="consent")
    path, developer = f"/oauth-clients/{first_party.oauth_client['id']}", first_party.project.developer
    changed = await developer.patch(
        path, {"redirectUris": [f"{REDIRECT_URI}2"], "scopes": ["openid", "offline_access"]}
    )
    assert changed.status_code == 200
    refused = await browser.submit(page, decision="allow")
    assert refused.status_code == 400
    assert "not registered" in refused.text
    assert (await browser.authorize()).status_code == 400
    renewed = (await first_party.refresh(tokens["refresh_token"])).json()
    assert renewed["scope"] == "openid offline_access"
    claims = await first_party.verified(renewed["id_token"], first_party.oauth_client["clientId"])
    assert "email" not in claims


@pytest.mark.parametrize("removed", ["client", "customer"])
async def test_tokens_end_with_the_client_and_the_customer(first_party, removed):
    browser = first_party.browser()
    response = parameters_of(await browser.signed_in())
    tokens = (await first_party.exchange(response["code"])).json()
    customer = (await first_party.verified(tokens["access_token"], first_party.issuer))["sub"]
    other = await first_party.register(firstParty=True)
    client = (await first_party.project.developer.get("/oauth-clients")).json()[1]
    if removed == "client":
        await first_party.project.developer.delete(f"/oauth-clients/{client['id']}")
    else:
        assert (await first_party.project.client.delete(f"/customers/{customer}")).status_code == 200
    assert (await first_party.userinfo(tokens["access_token"])).status_code == 401
    assert await first_party.introspect(tokens["access_token"], other) == {"active": False}
