"""Sign-on with an OpenID provider of an organization."""

import asyncio
import base64
import hmac
import html
import json
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit
from uuid import uuid4

import jwt
import pytest

from postern.identity.sso import rules
from postern.identity.sso.oidc_endpoints import LOGOUT_EVENT
from tests.conftest import Client
from tests.identity.customers.conftest import GOOD
from tests.identity.customers.test_providers import provider, settings
from tests.identity.customers.test_second_factor import with_totp
from tests.identity.sso.conftest import REDIRECT_URL, Acme, Browser, query_of
from tests.identity.sso.test_pages import submit
from tests.identity.sso.test_required import require
from tests.peers.sign_in_provider import LyingProvider, lying_provider
from tests.remembered import rsa_key

__all__ = ["provider", "settings"]


class OidcBrowser(Browser):
    """A browser that signs on at a connection by OpenID Connect."""

    def __init__(self, acme: Acme, provider: LyingProvider) -> None:
        super().__init__(acme)
        self.provider = provider
        self.base = f"http://127.0.0.1:8025/sso/oidc/{acme.connection['id']}"

    async def answer(self, location, **fields):
        """Return from the provider to the redirect URI; `location` is the URL of the authentication request."""
        request = self.provider.authorize(location)
        assert request["redirect_uri"] == f"{self.base}/callback" == self.acme.connection["oidcRedirectUrl"]
        query = {"code": uuid4().hex, "state": request["state"], **fields}
        query = {name: value for name, value in query.items() if value is not None}
        return await self.client.get(f"{self.base}/callback?{urlencode(query)}")

    async def sign_on(self, email=None, **claims):
        started = await self.start()
        assert started.status_code == 302, started.text
        if email is not None:
            claims = {"sub": f"subject-of-{email}", "email": email, "email_verified": True, "name": "Maria", **claims}
        self.provider.claims = claims
        return await self.answer(started.headers["location"])


async def connect(acme, provider, *, active=True, **fields):
    body = {
        "kind": "OIDC",
        "name": "Acme OIDC",
        "domain": acme.domain["domain"],
        "oidcIssuer": provider.issuer,
        "oidcClientId": "client",
        "oidcClientSecret": "hush",
        **fields,
    }
    response = await acme.client.post(acme.connections_path, body)
    assert response.status_code == 201, response.text
    acme.connection = response.json()
    if active:
        activated = await acme.client.post(f"{acme.connection_path}/activate")
        assert activated.status_code == 200, activated.text
        acme.connection = activated.json()
    return acme.connection


@pytest.fixture
async def oidc(acme, provider):
    await connect(acme, provider)
    return acme


@pytest.fixture
def browser(oidc, provider):
    return OidcBrowser(oidc, provider)


async def refused_with(acme, answer):
    """The reason of the newest trace of a sign-on that the app was told of."""
    query = query_of(answer)
    assert query["state"] == "app-state"
    (trace, *_) = await acme.traces()
    assert trace["outcome"] == "REFUSED"
    assert query["error"] in ("provider_error", "access_denied", trace["reason"].lower())
    return trace["reason"], trace["steps"][-1]


async def test_a_sign_on_creates_customer_membership_and_session(oidc, provider, browser):
    email = oidc.address()
    answer = await browser.sign_on(email, groups=["staff"])
    assert query_of(answer)["state"] == "app-state"
    signed_in = await browser.exchange_code(answer)
    customer = signed_in["customer"]
    assert (customer["email"], customer["name"], customer["identities"]) == (email, "Maria", ["SSO_OIDC"])
    assert customer["emailVerifiedAt"] is not None
    assert signed_in["organizationId"] == oidc.organization["id"]
    members = await oidc.directory.members_of(oidc.organization)
    assert [(member["customerId"], member["source"]) for member in members] == [(customer["id"], "SSO")]
    (trace,) = await oidc.traces()
    assert (trace["outcome"], trace["customerId"]) == ("ACCEPTED", customer["id"])
    assert all(step["ok"] for step in trace["steps"])
    token_request = next(form for path, form, _ in provider.requests if path == "/token")
    assert 43 <= len(token_request["code_verifier"]) <= 128
    again = await browser.sign_in(oidc.address(), sub=f"subject-of-{email}")
    assert again["customer"]["id"] == customer["id"], "the subject identifies the person, not the address"


async def test_the_secret_is_sent_to_the_provider_and_never_returned(oidc, provider, browser):
    assert oidc.connection["oidcHasSecret"] is True
    assert "hush" not in json.dumps(oidc.connection)
    await browser.sign_in(oidc.address())
    headers = next(headers for path, _, headers in provider.requests if path == "/token")
    assert headers["authorization"] == "Basic Y2xpZW50Omh1c2g="
    moved = await oidc.client.patch(oidc.connection_path, {"oidcIssuer": "https://other.example"})
    assert (moved.status_code, moved.json()["errors"][0]["path"]) == (400, "/oidcClientSecret")
    changed = await oidc.change(oidcClientSecret=None)
    assert changed["oidcHasSecret"] is False
    provider.requests.clear()
    await browser.sign_in(oidc.address())
    _, form, headers = next(request for request in provider.requests if request[0] == "/token")
    assert (form["client_id"], "authorization" in headers) == ("client", False)


def from_now(seconds):
    return lambda acme: int(acme.clock().timestamp()) + seconds


REFUSED_TOKENS = {
    "another issuer": ("issuer", {"iss": "https://evil.example"}),
    "another audience": ("audience", {"aud": "another-client"}),
    "two audiences without azp": ("audience", {"aud": ["client", "another"]}),
    "another nonce": ("nonce", {"nonce": "n" * 43}),
    "no nonce": ("nonce", {"nonce": None}),
    "expired": ("times", {"exp": from_now(-120)}),
    "from the future": ("times", {"iat": from_now(600)}),
    "no expiry": ("claims", {"exp": None}),
    "no subject": ("claims", {"sub": None}),
    "empty subject": ("subject", {"sub": ""}),
}


@pytest.mark.parametrize("case", REFUSED_TOKENS)
async def test_an_id_token_that_is_not_for_this_sign_on_is_refused(oidc, browser, case):
    check, claims = REFUSED_TOKENS[case]
    claims = {name: value(oidc) if callable(value) else value for name, value in claims.items()}
    answer = await browser.sign_on(oidc.address(), **claims)
    reason, step = await refused_with(oidc, answer)
    assert (reason, step["step"]) == ("INVALID_TOKEN", f"ID token: {check}")
    assert await oidc.customer_count() == 0


async def test_a_token_with_the_latest_expiry_signs_on_and_is_not_kept_for_long(oidc, browser):
    """The id of the token is kept until its request expires, not until the year 9999."""
    latest = 253_402_300_799
    for exp in (latest, latest + 1, 2**62):
        assert "code" in query_of(await browser.sign_on(oidc.address(), exp=exp))


async def test_an_identifier_that_no_index_can_store_is_refused(oidc, browser):
    """1,024 characters are up to 4,096 bytes, and PostgreSQL indexes at most 2,704."""
    await oidc.change(attributeMapping={"subject": "oid"})
    characters = [chr(0x4E00 + number * 7_919 % 20_000) for number in range(1_024)]
    answer = await browser.sign_on(oidc.address(), oid="".join(characters))
    assert (await refused_with(oidc, answer))[0] == "TRANSIENT_SUBJECT"
    assert "code" in query_of(await browser.sign_on(oidc.address(), oid="".join(characters[:341])))
    long = await oidc.client.patch(oidc.connection_path, {"oidcIssuer": f"https://idp.example/{'a' * 1_024}"})
    assert long.status_code == 400


def signed_with_public_key(provider):
    """An ID token with a signature that a verifier accepts if it takes the public key for a shared secret."""
    claims = jwt.decode(LyingProvider.id_token(provider), options={"verify_signature": False})
    parts = [json.dumps(part).encode() for part in ({"alg": "HS256", "kid": "one"}, claims)]
    signed = ".".join(base64.urlsafe_b64encode(part).rstrip(b"=").decode() for part in parts)
    mac = hmac.digest(provider.public_pem(), signed.encode(), "sha256")
    return f"{signed}.{base64.urlsafe_b64encode(mac).rstrip(b'=').decode()}"


@pytest.mark.parametrize("attack", ["none", "HS256 with the public key", "another key", "unknown key id"])
async def test_a_forged_signature_is_refused(oidc, provider, browser, attack):
    if attack == "none":
        provider.algorithm, provider.signing_key = "none", None
    elif attack == "HS256 with the public key":
        provider.id_token = lambda: signed_with_public_key(provider)
    elif attack == "another key":
        provider.signing_key = rsa_key()
    else:
        provider.header = {"kid": "unknown"}
    reason, step = await refused_with(oidc, await browser.sign_on(oidc.address()))
    assert reason == "INVALID_TOKEN"
    assert step["step"].removeprefix("ID token: ") in ("key", "algorithm", "signature")
    assert await oidc.customer_count() == 0


async def test_keys_of_the_provider_can_be_rotated(oidc, provider, browser, clock):
    await browser.sign_in(oidc.address())
    provider.key_ids, provider.header = ["two"], {"kid": "two"}
    clock.move(timedelta(minutes=2))  # Unknown key ids cause a fetch at most once a minute.
    await browser.sign_in(oidc.address())


async def test_a_response_is_bound_to_its_browser_request_and_connection(oidc, provider, browser):
    """Code injection, replays and the code of another connection (RFC 9700 §4.4 and §4.5)."""
    victim_location = (await browser.start()).headers["location"]
    attacker = OidcBrowser(oidc, provider)
    await attacker.start()
    answer = await attacker.answer(victim_location)
    assert (answer.status_code, "UNKNOWN_REQUEST" in answer.text) == (403, True)
    used = await browser.sign_on(oidc.address())
    await browser.exchange_code(used)
    replay = await browser.client.get(str(used.request.url))
    assert replay.status_code == 403
    # A code that the provider issued for another request: the verifier does not match.
    location = (await browser.start()).headers["location"]
    provider.authorize((await attacker.start()).headers["location"])
    state = dict(parse_qsl(urlsplit(location).query))["state"]
    injected = await browser.client.get(f"{browser.base}/callback?{urlencode({'code': 'stolen', 'state': state})}")
    assert (await refused_with(oidc, injected))[0] == "CODE_REFUSED"
    # A refused request cannot be tried again.
    again = await browser.client.get(f"{browser.base}/callback?{urlencode({'code': 'stolen', 'state': state})}")
    assert again.status_code == 403
    other = await second_organization(oidc, provider)
    location = (await browser.start()).headers["location"]
    state = provider.authorize(location)["state"]
    at_other = (
        f"http://127.0.0.1:8025/sso/oidc/{other.connection['id']}/callback?{urlencode({'code': 'c', 'state': state})}"
    )
    assert (await browser.client.get(at_other)).status_code == 403
    saml = f"http://127.0.0.1:8025/sso/saml/{oidc.connection['id']}/login"
    assert (await browser.client.get(saml)).status_code == 404


async def second_organization(acme, provider):
    organization = await acme.directory.organization(f"Other {uuid4().hex[:6]}")
    domain = await acme.directory.verified_domain(organization, f"{uuid4().hex[:10]}.example", auto_join=False)
    other = Acme(acme.directory, acme.idp, organization, domain, acme.app, acme.clock)
    await connect(other, provider)
    return other


async def test_concurrent_replays_sign_on_once(oidc, provider, browser):
    started = await browser.start()
    email = oidc.address()
    provider.claims = {"sub": "one", "email": email, "email_verified": True}
    answers = await asyncio.gather(*(browser.answer(started.headers["location"]) for _ in range(4)))
    codes = [answer for answer in answers if answer.status_code == 303 and "code" in query_of(answer)]
    assert len(codes) == 1
    assert await oidc.customer_count() == 1


async def test_two_connections_with_one_provider_have_separate_people(oidc, provider, browser):
    """An account at the same issuer through the connection of another organization is another identity."""
    first = await browser.sign_in(oidc.address(), sub="one")
    other = await second_organization(oidc, provider)
    second = await OidcBrowser(other, provider).sign_in(other.address(), sub="one")
    assert second["customer"]["id"] != first["customer"]["id"]
    foreign = await OidcBrowser(other, provider).sign_on(oidc.address(), sub="two")
    assert query_of(foreign)["error"] == "email_outside"
    (trace, *_) = await other.traces()
    assert trace["reason"] == "EMAIL_OUTSIDE"


async def test_the_iss_parameter_protects_against_mix_up(oidc, provider, browser):
    """RFC 9207 §2.4."""
    location = (await browser.start()).headers["location"]
    wrong = await browser.answer(location, iss="https://evil.example")
    assert (await refused_with(oidc, wrong))[0] == "WRONG_ISSUER"
    assert not [path for path, _, _ in provider.requests if path == "/token"], "the code was not sent anywhere"
    oidc.clock.move(timedelta(hours=2))
    provider.metadata = {"authorization_response_iss_parameter_supported": True}
    missing = await browser.answer((await browser.start()).headers["location"])
    assert (await refused_with(oidc, missing))[0] == "WRONG_ISSUER"
    provider.claims = {"email": oidc.address()}
    right = await browser.answer((await browser.start()).headers["location"], iss=provider.issuer)
    assert "code" in query_of(right)


async def test_an_unverified_address_is_refused_and_a_missing_statement_is_not(oidc, browser):
    address = oidc.address()
    await oidc.directory.customer(address)
    for denied in (False, "false", None):
        claims = {"email_verified": denied} if denied is not None else {"email_verified": 0}
        answer = await browser.sign_on(address, **claims)
        assert query_of(answer)["error"] == "email_unverified"
    await oidc.change(allowOtherDomains=True)
    guest = await browser.sign_on(address, email_verified=False)
    assert query_of(guest)["error"] == "account_not_linked", "a denied address links to no customer"
    signed_in = await browser.sign_in(oidc.address(), email_verified=None)
    assert signed_in["customer"]["emailVerifiedAt"] is not None


async def test_user_info_completes_the_profile(oidc, provider, browser):
    email = oidc.address()
    provider.userinfo = {"sub": "person-1", "email": email, "email_verified": True, "name": "Maria"}
    answer = await browser.sign_on(sub="person-1")
    assert (await browser.exchange_code(answer))["customer"]["email"] == email
    answer = await browser.sign_on(sub="person-2")
    assert query_of(answer)["error"] == "email_missing", "user info of another subject is ignored"


async def test_claims_are_mapped_and_groups_give_roles(oidc, browser):
    await oidc.change(
        attributeMapping={"email": "preferred_username", "subject": "oid", "groups": "teams"},
        groupRoles={"admins": ["ADMIN"]},
    )
    email = oidc.address()
    claims = {"preferred_username": email, "oid": "object-1", "teams": ["admins"], "email": "other@elsewhere.example"}
    signed_in = await browser.exchange_code(await browser.sign_on(sub="sub-1", **claims))
    assert signed_in["customer"]["email"] == email
    (member,) = await oidc.directory.members_of(oidc.organization)
    assert sorted(member["roles"]) == ["ADMIN", "MEMBER"]
    again = await browser.exchange_code(await browser.sign_on(sub="sub-2", **{**claims, "teams": []}))
    assert again["customer"]["id"] == signed_in["customer"]["id"]
    (member,) = await oidc.directory.members_of(oidc.organization)
    assert member["roles"] == ["MEMBER"]


async def test_a_sign_on_counts_as_multi_factor_if_the_token_says_so(oidc, browser):
    await oidc.client.patch(f"/b2b/organizations/{oidc.organization['id']}", {"requireMfa": True})
    for claims in ({"amr": ["pwd", "mfa"]}, {"acr": "https://refeds.org/profile/mfa"}):
        assert (await browser.sign_in(oidc.address(), **claims))["mfaRequired"] is False
    signed_in = await browser.sign_in(oidc.address(), amr=["pwd"])
    assert signed_in["mfaEnrollmentRequired"] is True


async def test_a_second_factor_of_postern_is_still_requested(oidc, auth, browser):
    address = oidc.address()
    await with_totp(auth, oidc.clock, address)
    assert (await browser.sign_in(address))["mfaRequired"] is True


async def test_force_authn_requires_a_new_authentication(oidc, browser):
    await oidc.change(forceAuthn=True)
    started = dict(parse_qsl(urlsplit((await browser.start()).headers["location"]).query))
    assert (started["prompt"], started["max_age"]) == ("login", "0")
    now = int(oidc.clock().timestamp())
    for auth_time in (None, now - 3_600, "yesterday", True):
        reason, _ = await refused_with(oidc, await browser.sign_on(oidc.address(), auth_time=auth_time))
        assert reason == "NOT_RECENT"
    assert "code" in query_of(await browser.sign_on(oidc.address(), auth_time=now))


@pytest.mark.parametrize("error", ["access_denied", "server_error", None])
async def test_errors_of_the_provider_return_to_the_app(oidc, browser, error):
    answer = await browser.answer(
        (await browser.start()).headers["location"], code=None, error=error, error_description="<b>no</b>"
    )
    query = query_of(answer)
    assert query["error"] == ("access_denied" if error == "access_denied" else "provider_error")
    assert "<b>" not in answer.headers["location"]


BROKEN = {
    "not JSON": b"<html>",
    "too large": b"[" + b" " * 300_000 + b"]",
    "deep": b"[" * 100_000,
    "an array": b"[]",
    "another issuer": b'{"issuer": "https://evil.example", "authorization_endpoint": "https://evil.example/a"}',
}


@pytest.mark.parametrize("document", BROKEN)
async def test_a_broken_discovery_document_is_an_error_for_the_app(oidc, provider, browser, document):
    provider.raw = {"/.well-known/openid-configuration": BROKEN[document]}
    answer = await browser.start()
    assert (await refused_with(oidc, answer))[0] == "PROVIDER_UNAVAILABLE"
    assert query_of(answer)["error"] == "provider_error"


async def test_endpoints_at_private_addresses_are_not_called(oidc, provider, browser):
    for name in ("token_endpoint", "jwks_uri"):
        oidc.clock.move(timedelta(hours=2))
        provider.metadata = {name: "http://169.254.169.254/latest/meta-data"}
        answer = await browser.sign_on(oidc.address())
        assert (await refused_with(oidc, answer))[0] in ("CODE_REFUSED", "PROVIDER_UNAVAILABLE")
    oidc.clock.move(timedelta(hours=2))
    provider.metadata = {"token_endpoint": "file:///etc/passwd"}
    assert (await refused_with(oidc, await browser.start()))[0] == "PROVIDER_UNAVAILABLE"


async def test_a_provider_that_is_down_is_an_error_for_the_app(acme, clock):
    async with lying_provider() as provider:
        await connect(acme, provider)
    answer = await OidcBrowser(acme, provider).start()
    assert (await refused_with(acme, answer))[0] == "PROVIDER_UNAVAILABLE"


async def test_a_test_shows_every_check_and_creates_no_customer(acme, provider):
    await connect(acme, provider, active=False)
    test = (await acme.client.post(f"{acme.connection_path}/test")).json()
    browser = OidcBrowser(acme, provider)
    for claims, text in (
        ({"nonce": "wrong"}, "ID token: nonce"),
        ({"email": "maria@elsewhere.example"}, "EMAIL_OUTSIDE"),
        ({"email": acme.address(), "email_verified": True}, "The test succeeded"),
    ):
        started = await browser.client.get(test["url"])
        provider.claims = claims
        result = await browser.answer(started.headers["location"])
        assert (result.status_code, text in result.text) == (200, True), result.text
        assert "ID token: signature" in result.text
        (trace, *_) = await acme.traces()
        assert trace["kind"] == "TEST"
    assert trace["outcome"] == "ACCEPTED"
    assert trace["profile"]["email"] == claims["email"]
    assert await acme.customer_count() == 0
    connection = (await acme.client.get(acme.connection_path)).json()
    assert connection["testedAt"] is not None
    changed = await acme.client.patch(acme.connection_path, {"oidcClientId": "another"})
    assert changed.json()["testedAt"] is None
    denied = await browser.answer(
        (await browser.client.get(test["url"])).headers["location"], code=None, error="unauthorized_client"
    )
    assert "unauthorized_client" in denied.text


async def test_settings_are_checked(acme, provider):
    base = {"kind": "OIDC", "name": "Acme", "domain": acme.domain["domain"]}
    wrong = {
        "/oidcIssuer": [
            {"oidcIssuer": "ftp://idp.example"},
            {"oidcIssuer": "https://idp.example/?tenant=a"},
            {"oidcIssuer": "https://login.microsoftonline.com/common/v2.0"},
            {"oidcIssuer": "https://login.microsoftonline.com/organizations/v2.0"},
        ],
        "/oidcScopes": [{"oidcScopes": "email profile"}],
        "/idpSsoUrl": [{"idpSsoUrl": "https://idp.example/login"}],
        "/allowIdpInitiated": [{"allowIdpInitiated": True}],
    }
    for path, bodies in wrong.items():
        for body in bodies:
            answer = await acme.client.post(acme.connections_path, {**base, **body})
            assert answer.status_code == 400, answer.text
            assert answer.json()["errors"][0]["path"] == path
    saml = await acme.client.post(acme.connections_path, {**base, "kind": "SAML", "oidcClientId": "client"})
    assert saml.json()["errors"][0]["code"] == "not_for_kind"
    await connect(acme, provider, active=False, oidcClientId=None)
    incomplete = await acme.client.post(f"{acme.connection_path}/activate")
    assert (incomplete.status_code, incomplete.json()["errors"][0]["path"]) == (409, "/oidcClientId")
    for path in ("rotate-certificate", "metadata.xml"):
        answer = await acme.client.request("GET" if path.endswith("xml") else "POST", f"{acme.connection_path}/{path}")
        assert (answer.status_code, answer.json()["code"]) == (409, "saml_only")


async def test_old_clients_see_a_connection_with_the_fields_of_the_contract(oidc):
    path = f"/apps/{oidc.directory.project.id}/organizations/{oidc.organization['id']}/sso-connections"
    (connection,) = (await oidc.client.get(path)).json()
    assert (connection["name"], connection["status"], connection["spCertificate"]) == ("Acme OIDC", "ACTIVE", "")
    assert connection["loginUrl"] == oidc.connection["loginUrl"]


async def test_oidc_connections_satisfy_required_single_sign_on(oidc, auth, browser):
    address = oidc.address()
    await oidc.directory.customer(address)
    await require(oidc)
    refused = await auth.post("/sign-in", {"email": address, "password": GOOD})
    assert (refused.status_code, refused.json()["code"]) == (403, "sso_required")
    assert oidc.connection["loginUrl"] in refused.json()["next"]
    signed_in = await browser.sign_in(address)
    renewed = await auth.post("/token/refresh", {"refreshToken": signed_in["refreshToken"]})
    assert renewed.status_code == 200
    last = await oidc.client.post(f"{oidc.connection_path}/deactivate")
    assert last.json()["code"] == "sso_still_required"


async def test_a_person_chooses_if_no_connection_is_for_the_domain(oidc, auth, idp):
    """An organization with several connections: the one for the domain, else the person chooses."""
    second = await oidc.directory.verified_domain(oidc.organization, f"{uuid4().hex[:10]}.example", auto_join=False)
    third = await oidc.directory.verified_domain(oidc.organization, f"{uuid4().hex[:10]}.example", auto_join=False)
    by_oidc = oidc.connection
    lookup = (await auth.post("/sso", {"email": f"a@{third['domain']}"})).json()
    assert (lookup["connectionId"], lookup["choices"]) == (by_oidc["id"], None), "there is only one"
    saml = Acme(oidc.directory, idp, oidc.organization, second, oidc.app, oidc.clock)
    await saml.connect()
    for domain, connection in ((oidc.domain, by_oidc), (second, saml.connection)):
        lookup = (await auth.post("/sso", {"email": f"a@{domain['domain']}"})).json()
        assert (lookup["connectionId"], lookup["choices"]) == (connection["id"], None)
        assert lookup["loginUrl"] == connection["loginUrl"]
    lookup = (await auth.post("/sso", {"email": f"a@{third['domain']}"})).json()
    assert {choice["connectionId"] for choice in lookup["choices"]} == {by_oidc["id"], saml.connection["id"]}
    shown = await submit(oidc, "sso", email=f"a@{third['domain']}")
    assert shown.status_code == 200
    for connection in (by_oidc, saml.connection):
        assert f"{connection['loginUrl']}?" in html.unescape(shown.text)
        assert f">{connection['name']}<" in shown.text
    direct = await submit(oidc, "sso", email=f"a@{second['domain']}")
    assert saml.connection["loginUrl"] in html.unescape(direct.text)
    assert by_oidc["loginUrl"] not in html.unescape(direct.text)


async def logout_token(provider, acme, **claims):
    now = int(acme.clock().timestamp())
    payload = {
        "iss": provider.issuer,
        "aud": "client",
        "iat": now,
        "exp": now + 120,
        "jti": uuid4().hex,
        "events": {LOGOUT_EVENT: {}},
        **claims,
    }
    payload = {name: value for name, value in payload.items() if value is not None}
    return jwt.encode(payload, provider.key, algorithm="RS256", headers={"kid": "one", "typ": "logout+jwt"})


async def backchannel(acme, token):
    url = acme.connection["oidcBackchannelLogoutUrl"]
    return await Client(acme.app).request("POST", url, data={"logout_token": token})


async def is_alive(acme, signed_in):
    client = Client(acme.app, signed_in["accessToken"])
    return (await client.get(f"/projects/{acme.directory.project.id}/auth/me")).status_code == 200


async def test_a_logout_token_ends_the_sessions_that_it_names(oidc, provider, browser):
    email, other_email = oidc.address(), oidc.address()
    first = await browser.sign_in(email, sid="s1")
    second = await browser.sign_in(email, sid="s2")
    other = await browser.sign_in(other_email, sid="s3")
    token = await logout_token(provider, oidc, sid="s1")
    assert (await backchannel(oidc, token)).status_code in (200, 204)
    assert [await is_alive(oidc, session) for session in (first, second, other)] == [False, True, True]
    third = await browser.sign_in(email, sid="s1")
    assert (await backchannel(oidc, token)).status_code in (200, 204)
    assert await is_alive(oidc, third), "a replay has no effect"
    token = await logout_token(provider, oidc, sub=f"subject-of-{email}")
    assert (await backchannel(oidc, token)).status_code in (200, 204)
    assert [await is_alive(oidc, session) for session in (second, third, other)] == [False, False, True]


async def test_other_tokens_end_no_sessions(oidc, provider, browser, acme):
    email = oidc.address()
    signed_in = await browser.sign_in(email, sid="s1")
    subject = f"subject-of-{email}"
    now = int(oidc.clock().timestamp())
    wrong = [
        {"events": None},
        {"events": {}},
        {"events": {LOGOUT_EVENT: 1}},
        {"nonce": "n"},
        {"aud": "another"},
        {"iss": "https://evil.example"},
        {"exp": now - 120},
        {"exp": now + 10_000},
        {"iat": now + 600},
        {"jti": None},
        {"jti": ""},
        {"sub": None, "sid": None},
        {"sub": 7},
        {"sid": ["s1"]},
    ]
    for claims in wrong:
        token = await logout_token(provider, oidc, **{"sub": subject, **claims})
        assert (await backchannel(oidc, token)).status_code == 400, claims
    provider.claims = {"sub": subject, "sid": "s1"}
    forged = jwt.encode({"sub": subject}, rsa_key(), algorithm="RS256", headers={"kid": "one"})
    for token in (provider.id_token(), forged, "", "x", "a.b.c"):
        assert (await backchannel(oidc, token)).status_code == 400
    assert await is_alive(oidc, signed_in)
    other = await second_organization(oidc, provider)
    token = await logout_token(provider, oidc, sub=subject)
    assert (await backchannel(other, token)).status_code in (200, 204)
    assert await is_alive(oidc, signed_in), "a token of another connection names other people"


async def test_a_logout_of_the_app_continues_at_the_provider(oidc, provider, browser):
    signed_in = await browser.sign_in(oidc.address())
    client = Client(oidc.app, signed_in["accessToken"], f"/projects/{oidc.directory.project.id}/auth")
    without = (await client.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()
    assert without == {"url": None}, "the provider announces no logout"
    assert not await is_alive(oidc, signed_in)
    oidc.clock.move(timedelta(hours=2))
    provider.metadata = {"end_session_endpoint": f"{provider.issuer}/logout"}
    signed_in = await browser.sign_in(oidc.address())
    client = Client(oidc.app, signed_in["accessToken"], f"/projects/{oidc.directory.project.id}/auth")
    url = (await client.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
    assert url.startswith(f"{provider.issuer}/logout?")
    query = dict(parse_qsl(urlsplit(url).query))
    assert query["post_logout_redirect_uri"] == oidc.connection["oidcPostLogoutRedirectUrl"]
    hint = jwt.decode(query["id_token_hint"], options={"verify_signature": False})
    assert (query["client_id"], hint["iss"]) == ("client", provider.issuer)
    back = f"{query['post_logout_redirect_uri']}?{urlencode({'state': query['state']})}"
    answer = await browser.client.get(back)
    assert (answer.status_code, answer.headers["location"]) == (303, REDIRECT_URL)
    assert not await is_alive(oidc, signed_in)
    for state in (query["state"], "unknown"):
        page = await browser.client.get(f"{query['post_logout_redirect_uri']}?{urlencode({'state': state})}")
        assert (page.status_code, "You are signed out" in page.text) == (200, True)


def test_an_account_at_google_must_be_of_the_workspace():
    """Anybody can have an account at Google with an address at the organization's domain."""
    row = type("Row", (), {"idp_entity_id": rules.GOOGLE, "domain": "acme.example"})
    row.options = type("Options", (), {"trust_mfa": False, "attribute_mapping": rules.AttributeMapping()})
    for hd, wrong in (("acme.example", False), ("ACME.example", False), ("evil.example", True), (None, True)):
        claims = {"iss": rules.GOOGLE, "sub": "1", "email": "a@acme.example", **({"hd": hd} if hd else {})}
        sign_on = rules.oidc_sign_on(
            row, claims, message_id="m", in_response_to="r", not_on_or_after=None, logout_hint=None, trace=[]
        )
        assert sign_on.wrong_tenant is wrong
        checks = rules.checks_of(
            type("Row", (row,), {"status": "ACTIVE"}),
            sign_on,
            sign_on.profile,
            domain_verified=True,
            suspended=False,
            email_verified=True,
            test=False,
        )
        assert any(check.refusal == "WRONG_TENANT" for check in checks) is wrong
