"""Sign-in of customers with an account at a provider (OpenID Connect, GitHub, Apple)."""

import asyncio
import base64
import hashlib
import json
import warnings
from datetime import UTC, datetime, timedelta
from ipaddress import ip_network
from types import SimpleNamespace
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

import httpx
import jwt
import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from postern.identity.customers import oidc
from postern.kernel.config import Settings
from postern.kernel.values import as_id
from postern.messaging.certificates.pages_domains import PagesDomains
from tests.identity.customers.conftest import new_address
from tests.peers.sign_in_provider import lying_provider

REDIRECT_URL = "https://app.example.com/back"
VERIFIER = "v" * 50
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()


@pytest.fixture
def settings(tmp_path, zone):
    return Settings(
        data=tmp_path,
        secret="a secret that all tests of one run have in common",
        database_pool=8,
        dns=(f"{zone.address}:{zone.port}",),
        outbound_allow=(ip_network("127.0.0.0/8"), ip_network("::1/128")),
    )


@pytest.fixture
async def provider(clock):
    async with lying_provider() as provider:
        # The provider uses the test's clock, which stands still: ID tokens do not expire on a slow machine.
        provider.clock = lambda: clock().timestamp()
        yield provider


@pytest.fixture
async def provider_browser(auth, provider):
    await auth.settings(redirectUrls=[REDIRECT_URL])
    await put(auth, "ACME", provider.issuer)
    return ProviderBrowser(auth, provider)


async def put(auth, key, issuer, **fields):
    """Add or change a provider of the project, and return it."""
    body = {"kind": "OIDC", "issuer": issuer, "clientId": "client", "clientSecret": "hush", **fields}
    response = await auth.project.developer.put(f"/projects/{auth.project.id}/auth/providers/{key}", body)
    assert response.status_code == 200, response.text
    return response.json()


def query_of(response):
    """The query parameters of the URL to which a response redirects."""
    assert response.status_code == 302, response.text
    return dict(parse_qsl(urlsplit(response.headers["location"]).query))


class ProviderBrowser:
    """A browser that signs in at a provider, and follows the redirects to it and back."""

    def __init__(self, auth, provider, key="ACME"):
        self.auth = auth
        self.provider = provider
        self.key = key

    async def start(self, **fields):
        query = {"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE, "state": "app-state", **fields}
        return await self.auth.get(f"/providers/{self.key}/start?{urlencode(query)}")

    async def come_back(self, started, **fields):
        """Return from the provider to the callback; `started` is the response of `start`."""
        request = self.provider.authorize(started.headers["location"])
        cookie = started.headers["set-cookie"].split(";")[0]
        query = urlencode({"code": "code", "state": request["state"], **fields})
        path = f"/projects/{self.auth.project.id}/auth/providers/callback?{query}"
        return await self.auth.client.request("GET", path, headers={"cookie": cookie})

    async def sign_in(self, **claims):
        """Sign in with these claims in the ID token. Returns the body with the tokens, or the `error` for the app."""
        self.provider.claims = claims
        parameters = query_of(await self.come_back(await self.start()))
        assert parameters["state"] == "app-state"
        if "error" in parameters:
            return parameters["error"]
        response = await self.auth.post("/token", {"code": parameters["code"], "codeVerifier": VERIFIER})
        assert response.status_code == 200, response.text
        return response.json()


async def test_a_provider_account_signs_up_and_signs_in(provider_browser, auth, project):
    address = new_address()
    first = await provider_browser.sign_in(email=address, email_verified=True, name="Ada")
    assert first["customer"]["email"] == address
    assert first["customer"]["emailVerifiedAt"] is not None
    assert (first["customer"]["name"], first["customer"]["identities"]) == ("Ada", ["ACME"])
    organization = (await project.client.post("/b2b/organizations", {"name": "Acme"})).json()
    body = {"customerId": first["customer"]["id"]}
    await project.client.post(f"/b2b/organizations/{organization['id']}/members", body)
    new_email = new_address()
    second = await provider_browser.sign_in(email=new_email, email_verified=True)
    assert second["customer"]["id"] == first["customer"]["id"], (
        "customers are identified by the subject, not by the address"
    )
    assert (first["organizationId"], second["organizationId"]) == (None, organization["id"])
    assert second["customer"]["email"] == new_email, "a new verified address at the provider replaces the old one"
    customers = (await project.client.get("/customers?provider=ACME")).json()
    assert customers["total"] == 1


async def test_sign_in_works_with_an_independent_openid_provider(auth, clock):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        import oidc_provider_mock

    address = new_address()
    user = oidc_provider_mock.User(sub="42", claims={"email": address, "email_verified": True})
    with oidc_provider_mock.run_server_in_thread(user_claims=[user], require_nonce=True) as server:
        issuer = f"http://localhost:{server.server_port}"
        await auth.settings(redirectUrls=[REDIRECT_URL])
        await put(auth, "MOCK", issuer)
        query = urlencode({"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE})
        started = await auth.get(f"/providers/MOCK/start?{query}")
        async with httpx.AsyncClient(timeout=60) as browser:
            to_callback = await browser.post(started.headers["location"], data={"sub": "42"})
        assert to_callback.status_code == 302
        clock.move(datetime.now(UTC) - clock())  # This provider uses the real time.
        returned = urlsplit(to_callback.headers["location"])
        cookie = started.headers["set-cookie"].split(";")[0]
        to_app = await auth.client.request("GET", f"{returned.path}?{returned.query}", headers={"cookie": cookie})
        code = query_of(to_app)["code"]
    signed_in = await auth.post("/token", {"code": code, "codeVerifier": VERIFIER})
    assert signed_in.json()["customer"]["email"] == address


async def test_the_jwks_is_cached_and_refetched_at_a_limited_rate_for_unknown_keys(provider_browser, provider, clock):
    address = new_address()
    await provider_browser.sign_in(email=address, email_verified=True)
    await provider_browser.sign_in(email=address, email_verified=True)
    fetches = [path for path, _, _ in provider.requests].count("/jwks")
    assert fetches == 1
    provider.header = {"kid": "two"}
    for _ in range(3):
        await provider_browser.sign_in(email=address, email_verified=True)
    assert [path for path, _, _ in provider.requests].count("/jwks") == 1, "not again within a minute of the last fetch"


def test_the_cache_of_documents_is_limited_by_size(clock):
    """Each issuer that somebody enters can send 256 KB."""
    cache = oidc.ProviderDocuments(SimpleNamespace(clock=clock))
    for number in range(3 * oidc.MAX_CACHED_BYTES // oidc.DOCUMENT_LIMIT):
        cache.put("https://again.example", {}, clock(), oidc.DOCUMENT_LIMIT)
        cache.put(f"https://{number}.example", {"number": number}, clock(), oidc.DOCUMENT_LIMIT)
        kept = [size for _, _, size in cache._documents.values()]
        assert sum(kept) == cache._cached_bytes <= oidc.MAX_CACHED_BYTES
    assert cache.get(f"https://{number}.example", oidc.DOCUMENT_LIFE) == {"number": number}
    assert cache.get("https://0.example", oidc.DOCUMENT_LIFE) is None


async def test_a_discovery_document_of_another_issuer_is_rejected(provider_browser, provider):
    provider.metadata["issuer"] = "https://evil.example"
    response = await provider_browser.start()
    assert (response.status_code, response.json()["code"]) == (503, "provider_trouble")


async def test_a_response_with_another_iss_is_rejected(provider_browser):
    parameters = query_of(await provider_browser.come_back(await provider_browser.start(), iss="https://evil.example"))
    reason = "ID token refused: the response names another issuer"
    assert parameters == {"state": "app-state", "error": "provider_error", "error_description": reason}


async def test_a_sign_in_is_bound_to_the_browser_that_began_it(provider_browser, provider, auth):
    other_browser = await provider_browser.start()
    path = f"/projects/{auth.project.id}/auth/providers/callback"
    for cookie in ("", other_browser.headers["set-cookie"].split(";")[0]):
        fresh = await provider_browser.start()
        parameters = provider.authorize(fresh.headers["location"])
        query = urlencode({"code": "code", "state": parameters["state"]})
        refused = await auth.client.request("GET", f"{path}?{query}", headers={"cookie": cookie})
        assert (refused.status_code, refused.json()["code"]) == (400, "flow_invalid")
    unknown = await auth.client.request("GET", f"{path}?code=x&state={'0' * 64}")
    assert unknown.status_code == 400


async def test_a_provider_response_is_accepted_once(provider_browser, provider):
    provider.claims = {"email": new_address(), "email_verified": True}
    started = await provider_browser.start()
    responses = await asyncio.gather(*(provider_browser.come_back(started) for _ in range(3)))
    assert sorted(response.status_code for response in responses) == [302, 400, 400]


async def test_a_grant_works_once_and_only_with_the_code_verifier(provider_browser, provider, auth, clock):
    provider.claims = {"email": new_address(), "email_verified": True}
    code = query_of(await provider_browser.come_back(await provider_browser.start()))["code"]
    wrong = await auth.post("/token", {"code": code, "codeVerifier": "w" * 50})
    assert wrong.status_code == 401
    assert (await auth.post("/token", {"code": code, "codeVerifier": VERIFIER})).status_code == 200
    assert (await auth.post("/token", {"code": code, "codeVerifier": VERIFIER})).status_code == 401
    code = query_of(await provider_browser.come_back(await provider_browser.start()))["code"]
    clock.move(timedelta(minutes=3))
    assert (await auth.post("/token", {"code": code, "codeVerifier": VERIFIER})).status_code == 401


async def test_providers_redirect_only_to_listed_redirect_urls(provider_browser):
    response = await provider_browser.start(redirectUrl="https://evil.example/")
    assert response.status_code == 400
    assert response.json()["errors"][0]["path"] == "/redirectUrl"


async def test_a_denied_consent_returns_access_denied(provider_browser):
    parameters = query_of(await provider_browser.come_back(await provider_browser.start(), error="access_denied"))
    assert parameters["error"] == "access_denied"


@pytest.mark.parametrize("verified", [False, None, "yes", 1, "false"])
async def test_an_unverified_address_does_not_link_to_a_customer(provider_browser, auth, verified):
    victim = new_address()
    sign_up = await auth.signed_up(victim)
    assert await provider_browser.sign_in(email=victim, email_verified=verified) == "account_not_linked"
    me = (await auth.as_(sign_up["accessToken"]).get("/me")).json()
    assert me["identities"] == ["PASSWORD"]


async def test_another_subject_with_a_linked_address_does_not_get_the_customer(provider_browser, auth, project):
    """Regression test of I4 (tests/defects.md)."""
    address = new_address()
    first = await provider_browser.sign_in(sub="1", email=address, email_verified=True)
    assert await provider_browser.sign_in(sub="2", email=address, email_verified=True) == "identity_conflict"
    settings = (await project.developer.get(f"/projects/{project.id}/auth/providers")).json()[0]
    body = {"issuer": settings["issuer"], "clientId": settings["clientId"], "onNewSubject": "HOLD"}
    changed = await project.developer.put(f"/projects/{project.id}/auth/providers/ACME", body)
    assert changed.json()["onNewSubject"] == "HOLD"
    assert await provider_browser.sign_in(sub="2", email=address, email_verified=True) == "identity_held"
    (request,) = (await project.client.get("/identity-requests")).json()
    assert (request["customerId"], request["provider"], request["connectionId"]) == (
        first["customer"]["id"],
        "ACME",
        None,
    )
    assert (await project.client.post(f"/identity-requests/{request['id']}/approve")).status_code == 200
    second = await provider_browser.sign_in(sub="2", email=address, email_verified=True)
    assert second["customer"]["id"] == first["customer"]["id"]
    assert await provider_browser.sign_in(sub="1", email=address, email_verified=True) == "identity_held"
    assert (await project.client.post(f"/identity-requests/{uuid4()}/reject")).status_code == 404


@pytest.mark.parametrize("verified", [True, "true"])
async def test_a_verified_address_links_to_the_customer_with_it(provider_browser, auth, verified):
    address = new_address()
    sign_up = await auth.signed_up(address)
    linked = await provider_browser.sign_in(email=address.upper(), email_verified=verified)
    assert linked["customer"]["id"] == sign_up["customer"]["id"]
    assert linked["customer"]["identities"] == ["ACME", "PASSWORD"]
    assert (await auth.sign_in(address)).status_code == 200
    notices = [mail["text"] for mail in await auth.mails(address) if mail["subject"].startswith("How you sign in")]
    assert len(notices) == 1
    assert "Acme was added" in notices[0]
    await provider_browser.sign_in(email=address, email_verified=verified)
    assert len([mail for mail in await auth.mails(address) if mail["subject"].startswith("How you sign in")]) == 1


async def test_a_host_name_that_is_used_meanwhile_does_not_end_a_sign_in(provider_browser, world, monkeypatch):
    started = await provider_browser.start()
    names = {as_id(provider_browser.auth.project.id): "login.example.com"}
    monkeypatch.setattr(world.resources[PagesDomains], "_names", names)
    provider_browser.provider.claims = {"email": new_address(), "email_verified": True}
    assert "code" in query_of(await provider_browser.come_back(started))
    [form] = [form for path, form, _ in provider_browser.provider.requests if path == "/token"]
    assert form["redirect_uri"] == query_of(started)["redirect_uri"]


async def test_pre_hijacking_linking_revokes_earlier_credentials(provider_browser, auth):
    victim = new_address()
    attacker_sign_up = await auth.unverified(victim)
    linked = await provider_browser.sign_in(email=victim, email_verified=True)
    assert linked["customer"]["id"] == attacker_sign_up["customer"]["id"]
    assert linked["customer"]["identities"] == ["ACME"]
    assert (await auth.sign_in(victim)).status_code == 401
    assert (await auth.as_(attacker_sign_up["accessToken"]).get("/me")).status_code == 401


async def test_an_unverified_address_of_a_new_customer_stays_unverified(provider_browser):
    signed_in = await provider_browser.sign_in(email=new_address(), email_verified=False)
    assert signed_in["customer"]["emailVerifiedAt"] is None
    without_address = await provider_browser.sign_in(sub="another")
    assert without_address["customer"]["email"] is None


async def test_trusted_email_domains_verify_only_their_own_addresses(provider_browser, auth, provider):
    await put(auth, "ACME", provider.issuer, trustedEmailDomains=["Acme.example"])
    inside = await provider_browser.sign_in(sub="1", email="ada@acme.example")
    assert inside["customer"]["emailVerifiedAt"] is not None
    outside = await provider_browser.sign_in(sub="2", email="ada@acme.example.org")
    assert outside["customer"]["emailVerifiedAt"] is None


async def test_tenants_of_a_shared_issuer_are_distinguished_and_not_trusted(provider_browser, auth, provider):
    await put(auth, "ACME", provider.issuer, kind="MICROSOFT", trustedEmailDomains=["acme.example"])
    base_issuer = provider.issuer
    provider.metadata["issuer"] = f"{base_issuer}/{{tenantid}}/v2.0"
    one = await provider_browser.sign_in(iss=f"{base_issuer}/t1/v2.0", tid="t1", email="ada@acme.example")
    assert one["customer"]["emailVerifiedAt"] is None
    other = await provider_browser.sign_in(iss=f"{base_issuer}/t2/v2.0", tid="t2", email=new_address())
    assert other["customer"]["id"] != one["customer"]["id"], "the same subject of another tenant is another customer"
    assert await provider_browser.sign_in(iss=f"{base_issuer}/t2/v2.0", tid="t1") == "provider_error"


async def test_bans_and_closed_sign_up_apply_to_provider_accounts(provider_browser, auth, project):
    signed_in = await provider_browser.sign_in(email=new_address(), email_verified=True)
    await project.client.post(f"/customers/{signed_in['customer']['id']}/ban")
    assert await provider_browser.sign_in() == "sign_in_blocked"
    await auth.settings(signUp=False)
    assert await provider_browser.sign_in(sub="new", email=new_address(), email_verified=True) == "sign_up_closed"


async def test_userinfo_completes_the_id_token_of_the_same_subject(provider_browser, provider):
    address = new_address()
    provider.userinfo = {"sub": "another", "email": address, "email_verified": True}
    assert (await provider_browser.sign_in(sub="1"))["customer"]["email"] is None
    provider.userinfo = {"sub": "2", "email": address, "email_verified": True}
    assert (await provider_browser.sign_in(sub="2"))["customer"]["email"] == address


async def test_github_accounts_are_read_from_its_api(auth, provider):
    await auth.settings(redirectUrls=[REDIRECT_URL])
    await put(auth, "GITHUB", provider.issuer, kind="GITHUB")
    browser = ProviderBrowser(auth, provider, "GITHUB")
    address = new_address()
    provider.account = {"id": 583231, "name": "Octo"}
    provider.addresses = [
        {"email": new_address(), "primary": False, "verified": True},
        {"email": address, "primary": True, "verified": True},
    ]
    signed_in = await browser.sign_in()
    assert (signed_in["customer"]["email"], signed_in["customer"]["identities"]) == (address, ["GITHUB"])
    provider.addresses = "nonsense"
    assert await browser.sign_in() == "provider_error"


async def test_apple_gets_a_signed_client_secret_and_posts_its_response(auth, provider):
    await auth.settings(redirectUrls=[REDIRECT_URL])
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    await put(auth, "APPLE", provider.issuer, kind="APPLE", clientSecret=pem, teamId="TEAM", keyId="KEY")
    apple = ProviderBrowser(auth, provider, "APPLE")
    started = await apple.start()
    parameters = provider.authorize(started.headers["location"])
    assert parameters["response_mode"] == "form_post"
    path = f"/projects/{auth.project.id}/auth/providers/callback"
    form = urlencode({"code": "code", "state": parameters["state"], "user": "{}"})
    posted = await auth.client.request(
        "POST", path, content=form, headers={"content-type": "application/x-www-form-urlencoded"}
    )
    assert posted.status_code == 303
    assert dict(parse_qsl(urlsplit(posted.headers["location"]).query)) == {"code": "code", "state": parameters["state"]}
    provider.claims = {"email": new_address(), "email_verified": "true"}
    to_app = query_of(await apple.come_back(started))
    assert "code" in to_app
    secret = next(form["client_secret"] for path, form, _ in provider.requests if path == "/token")
    claims = jwt.decode(secret, key.public_key(), algorithms=["ES256"], audience=provider.issuer)
    assert (claims["iss"], claims["sub"], jwt.get_unverified_header(secret)["kid"]) == ("TEAM", "client", "KEY")


async def test_the_client_secret_is_sent_by_the_method_the_provider_supports(provider_browser, provider):
    await provider_browser.sign_in(email=new_address(), email_verified=True)
    _, form, headers = next(request for request in provider.requests if request[0] == "/token")
    assert headers["authorization"] == "Basic " + base64.b64encode(b"client:hush").decode()
    assert "client_secret" not in form


# For each case: claims (`auth_time` in seconds from now), and the expected error.
STRENGTHS = {
    "accepted acr, recent": ({"acr": "phr", "auth_time": -100}, None),
    "another accepted acr": ({"acr": "phrh", "auth_time": 0}, None),
    "an acr that is not accepted": ({"acr": "pwd", "auth_time": 0}, "proof_too_weak"),
    "no acr": ({"auth_time": 0}, "proof_too_weak"),
    "acr is a list": ({"acr": ["phr"], "auth_time": 0}, "proof_too_weak"),
    "too long ago": ({"acr": "phr", "auth_time": -400}, "proof_too_weak"),
    "no auth_time": ({"acr": "phr"}, "proof_too_weak"),
    "auth_time is not a number": ({"acr": "phr", "auth_time": "now"}, "proof_too_weak"),
}


@pytest.mark.parametrize(("claims", "error"), STRENGTHS.values(), ids=STRENGTHS)
async def test_acr_and_auth_time_must_meet_the_settings(provider_browser, auth, provider, clock, claims, error):
    settings = await put(auth, "ACME", provider.issuer, acrValues=["phr", "phrh"], maxAgeSeconds=300)
    assert (settings["acrValues"], settings["maxAgeSeconds"]) == (["phr", "phrh"], 300)
    parameters = dict(parse_qsl(urlsplit((await provider_browser.start()).headers["location"]).query))
    assert (parameters["acr_values"], parameters["max_age"]) == ("phr phrh", "300")
    if isinstance(claims.get("auth_time"), int):
        claims = {**claims, "auth_time": int(clock().timestamp()) + claims["auth_time"]}
    result = await provider_browser.sign_in(**claims)
    assert result == error if error else result["accessToken"]
    assert (await auth.project.client.get("/customers/stats")).json()["total"] == (0 if error else 1)


async def test_acr_values_and_max_age_are_sent_only_if_set_and_rejected_for_github(provider_browser, auth):
    parameters = dict(parse_qsl(urlsplit((await provider_browser.start()).headers["location"]).query))
    assert not {"acr_values", "max_age"} & set(parameters)
    path = f"/projects/{auth.project.id}/auth/providers/GITHUB"
    body = {"kind": "GITHUB", "clientId": "client", "clientSecret": "hush", "maxAgeSeconds": 300}
    assert (await auth.project.developer.put(path, body)).status_code == 400


async def test_a_stored_secret_is_not_sent_to_a_changed_issuer(provider_browser, auth, provider):
    path = f"/projects/{auth.project.id}/auth/providers/ACME"
    body = {"kind": "OIDC", "clientId": "client", "issuer": provider.issuer}
    assert (await auth.project.developer.put(path, body)).json()["hasSecret"] is True
    moved = await auth.project.developer.put(path, {**body, "issuer": "https://evil.example"})
    assert (moved.status_code, moved.json()["errors"][0]["path"]) == (400, "/clientSecret")
    new = {**body, "issuer": "https://other.example", "clientSecret": "another"}
    assert (await auth.project.developer.put(path, new)).status_code == 200


async def test_providers_are_listed_without_secrets_and_deleted(provider_browser, project, auth):
    base = f"/projects/{project.id}/auth/providers"
    listed = (await project.developer.get(base)).json()
    assert [(item["key"], item["hasSecret"]) for item in listed] == [("ACME", True)]
    assert "hush" not in str(listed)
    changed = await put(auth, "ACME", listed[0]["issuer"], clientSecret=None)
    assert changed["hasSecret"]
    for key, body in (("PASSWORD", {}), ("google", {}), ("GOOGLE", {"kind": "OIDC", "issuer": "https://x.example"})):
        response = await project.developer.put(f"{base}/{key}", {"clientId": "x", "kind": "OIDC", **body})
        assert response.status_code == 400, key
    assert (await project.developer.delete(f"{base}/ACME")).json() == {"deleted": True}
    assert (await project.developer.delete(f"{base}/ACME")).status_code == 404
    assert (await provider_browser.start()).status_code == 404


async def test_a_provider_at_a_private_address_is_not_called(project, auth, world):
    from postern.kernel.outbound.client import open_outbound

    async def lookup(name):
        return ["127.0.0.1"]

    async with open_outbound(lookup) as outbound:
        world.outbound = outbound
        await auth.settings(redirectUrls=[REDIRECT_URL])
        await put(auth, "INSIDE", "http://localhost:1")
        query = urlencode({"redirectUrl": REDIRECT_URL, "codeChallenge": CHALLENGE})
        response = await auth.get(f"/providers/INSIDE/start?{query}")
    assert (response.status_code, response.json()["code"]) == (503, "provider_trouble")


DISCOVERY, KEYS = "/.well-known/openid-configuration", "/jwks"
HOSTILE_DOCUMENTS = {
    "NUL": b'{"issuer": "a\\u0000b"}',
    "surrogate": b'{"issuer": "\\ud800"}',
    "deep": b'{"issuer":' * 20_000 + b"1" + b"}" * 20_000,
    "UTF-8": b'{"issuer": "\xff\xfe"}',
    "list": b"[]",
    "text": b'"x"',
    "keys": b'{"keys": 7}',
    "a key that is not an object": b'{"keys": [7, null, "x", []]}',
    "RSA without n and e": b'{"keys": [{"kty": "RSA", "kid": "one"}]}',
    "RSA with values of wrong types": b'{"keys": [{"kty": "RSA", "kid": "one", "n": 7, "e": []}]}',
    "RSA that is not base64": b'{"keys": [{"kty": "RSA", "kid": "one", "n": "\xc3\xa9*", "e": "AQAB"}]}',
    "RSA too short": b'{"keys": [{"kty": "RSA", "kid": "one", "n": "sQ", "e": "AQAB"}]}',
    "RSA too long": b'{"keys": [{"kty": "RSA", "kid": "one", "n": "' + b"_" * 20_000 + b'", "e": "AQAB"}]}',
    "EC off the curve": b'{"keys": [{"kty": "EC", "crv": "P-256", "kid": "one", "alg": "RS256", "x": "A", "y": "A"}]}',
    "OKP": b'{"keys": [{"kty": "OKP", "crv": [], "kid": "one", "alg": "RS256", "x": "AA"}]}',
    "algorithm": b'{"keys": [{"kty": "RSA", "kid": "one", "alg": {"a": 1}, "n": "AA", "e": "AQAB"}]}',
}


@pytest.mark.parametrize("path", [DISCOVERY, KEYS, "/token"])
@pytest.mark.parametrize("document", HOSTILE_DOCUMENTS)
async def test_a_hostile_document_is_rejected_with_a_reason(provider_browser, provider, path, document):
    """The app gets an error that it can show, and no response is a 500.

    Regression test of S12 (tests/defects.md).
    """
    started = None if path == DISCOVERY else await provider_browser.start()
    provider.raw[path] = HOSTILE_DOCUMENTS[document]
    if started is None:
        response = await provider_browser.start()
        assert response.status_code == 503, response.text
        assert response.json()["code"] == "provider_trouble"
        return
    parameters = query_of(await provider_browser.come_back(started))
    assert parameters["error"] == "provider_error"
    assert parameters["error_description"].isascii()


@pytest.mark.parametrize("name", ["authorization_endpoint", "token_endpoint", "jwks_uri", "userinfo_endpoint"])
@pytest.mark.parametrize(
    "address",
    [
        "https://ex\u00e4mple.com/a",
        "https://a.example/\u2028",
        "https://a.example/\r\nX-Evil: 1",
        "https://",
        7,
        [],
        "x",
    ],
)
async def test_an_endpoint_that_is_not_a_url_is_rejected(provider_browser, provider, name, address):
    """Regression test of S12 (tests/defects.md)."""
    provider.metadata = {name: address}
    response = await provider_browser.start()
    assert response.status_code == 503, response.text
    assert response.json()["code"] == "provider_trouble"


@pytest.mark.parametrize("methods", [7, "client_secret_basic", [7], {"a": 1}])
async def test_malformed_token_endpoint_auth_methods_are_rejected(provider_browser, provider, methods):
    """Regression test of S12 (tests/defects.md)."""
    provider.metadata = {"token_endpoint_auth_methods_supported": methods}
    assert (await provider_browser.start()).status_code == 503


async def test_an_access_token_with_invalid_characters_is_rejected(provider_browser, provider):
    """Regression test of S12 (tests/defects.md)."""
    started = await provider_browser.start()
    request = provider.authorize(started.headers["location"])
    assert request
    provider.raw["/token"] = json.dumps({"access_token": "a\r\nX-Evil: 1", "id_token": provider.id_token()}).encode()
    assert query_of(await provider_browser.come_back(started))["error"] == "provider_error"


async def test_a_multi_line_name_becomes_one_line(provider_browser):
    """Regression test of S12 (tests/defects.md)."""
    signed_in = await provider_browser.sign_in(email=new_address(), email_verified=True, name="Ada\r\nBcc: x\u2028Y ")
    assert signed_in["customer"]["name"] == "Ada Bcc: x Y"
