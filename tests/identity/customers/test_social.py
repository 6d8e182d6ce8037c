"""Presets of sign-in providers: a stand-in answers each request as the provider's documentation shows it."""

import hashlib
import hmac
import json
from urllib.parse import urlencode, urlsplit
from uuid import uuid4

import pytest
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat

from postern.identity.customers.social import ISSUERS, WITHOUT_ID_TOKENS, endpoints_of, is_email_verified
from tests.identity.customers.conftest import new_address
from tests.identity.customers.test_providers import REDIRECT_URL, ProviderBrowser, provider, put, query_of, settings

__all__ = ["provider", "settings"]

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def browser_of(auth, provider, kind, **fields):
    """A browser that signs in at the preset `kind`, whose issuer is the stand-in."""
    await auth.settings(redirectUrls=[REDIRECT_URL])
    await put(auth, kind, provider.issuer, kind=kind, **fields)
    return ProviderBrowser(auth, provider, kind)


def token_request(provider):
    """Form and headers of the last request to a token endpoint."""
    return next((form, headers) for path, form, headers in reversed(provider.requests) if path.endswith("token"))


def test_google_is_known_by_the_issuer_of_its_tokens():
    """The kind OIDC with Google's issuer is no way around the rule."""
    for issuer in ("https://accounts.google.com", "accounts.google.com"):
        token = {"iss": issuer, "email": "ada@example.com", "email_verified": True}
        assert not is_email_verified("OIDC", token, token)
        assert is_email_verified("OIDC", token, {**token, "hd": "example.com"})
        assert is_email_verified("OIDC", token, {**token, "email": "ada@googlemail.com"})
    other = {"iss": "https://id.example.com", "email": "ada@example.com", "email_verified": True}
    assert is_email_verified("OIDC", other, other)


async def test_google(auth, provider):
    """OpenID Connect; `email_verified` counts only for addresses at gmail.com and with `hd`, because Google does not
    notice when any other address gets another owner.

    https://developers.google.com/identity/gsi/web/guides/verify-google-id-token,
    https://developers.google.com/identity/openid-connect/openid-connect#an-id-tokens-payload
    """
    browser = await browser_of(auth, provider, "GOOGLE")
    cases = (
        (f"{uuid4().hex[:12]}@gmail.com", {}, True),
        (f"{uuid4().hex[:12]}@GMail.com", {"email_verified": "true"}, True),
        (new_address(), {"hd": "example.com"}, True),
        (new_address(), {}, False),
        (f"{uuid4().hex[:12]}@gmail.com.example.com", {}, False),
        (new_address(), {"hd": ""}, False),
        (f"{uuid4().hex[:12]}@gmail.com", {"email_verified": False}, False),
        (new_address(), {"hd": "example.com", "email_verified": False}, False),
    )
    for address, claims, verified in cases:
        own = {"sub": uuid4().hex, "email": address, "email_verified": True, "name": "Ada", **claims}
        customer = (await browser.sign_in(**own))["customer"]
        assert (customer["email"].lower(), customer["identities"]) == (address.lower(), ["GOOGLE"])
        assert (customer["emailVerifiedAt"] is not None) == verified, own
    # An address that may have another owner now does not link to the customer who has proved it.
    proved = new_address()
    await auth.signed_up(proved)
    assert await browser.sign_in(sub="g1", email=proved, email_verified=True) == "account_not_linked"
    linked = await browser.sign_in(sub="g2", email=proved, email_verified=True, hd="example.com")
    assert linked["customer"]["email"] == proved


async def test_gitlab(auth, provider):
    """OpenID Connect; `email_verified` is of the primary address, and may only be in user info.

    https://docs.gitlab.com/integration/openid_connect_provider/
    """
    browser = await browser_of(auth, provider, "GITLAB")
    address = new_address()
    provider.userinfo = {"sub": "42", "email": address, "email_verified": True, "name": "Tanuki", "nickname": "t"}
    customer = (await browser.sign_in(sub="42", sub_legacy="a1b2", auth_time=1_700_000_000))["customer"]
    assert (customer["email"], customer["identities"]) == (address, ["GITLAB"])
    assert (customer["emailVerifiedAt"] is not None, customer["name"]) == (True, "Tanuki")
    # An unverified address stays unverified, and never links to the customer who has it.
    provider.userinfo = {"sub": "43", "email": new_address(), "email_verified": False}
    assert (await browser.sign_in(sub="43"))["customer"]["emailVerifiedAt"] is None
    provider.userinfo = {"sub": "44", "email": address, "email_verified": False}
    assert await browser.sign_in(sub="44") == "account_not_linked"


async def test_discord(auth, provider):
    """OAuth 2.0; `verified` belongs to the address, which is null without the scope `email`. `global_name` is the
    display name, and null for many accounts.

    https://docs.discord.com/developers/resources/user, https://docs.discord.com/developers/topics/oauth2
    """
    browser = await browser_of(auth, provider, "DISCORD")
    address = new_address()
    started = await browser.start()
    parameters = provider.authorize(started.headers["location"])
    assert urlsplit(started.headers["location"]).path == "/oauth2/authorize"
    assert (parameters["scope"], "nonce" in parameters) == ("identify email", False)
    user = {"id": "80351110224678912", "username": "nelly", "discriminator": "0", "avatar": "8342729096ea3675442027381"}
    provider.account = {**user, "global_name": None, "email": address, "verified": True}
    customer = (await browser.sign_in())["customer"]
    assert (customer["email"], customer["name"]) == (address, "nelly")
    assert customer["emailVerifiedAt"] is not None
    assert token_request(provider)[0]["client_secret"] == "hush"
    other = new_address()
    provider.account = {**user, "id": "1", "global_name": "Nelly", "email": other, "verified": False}
    customer = (await browser.sign_in())["customer"]
    assert (customer["email"], customer["emailVerifiedAt"], customer["name"]) == (other, None, "Nelly")
    # An unverified address never links to the customer who has it.
    provider.account = {**user, "id": "2", "email": address, "verified": False}
    assert await browser.sign_in() == "account_not_linked"


async def test_slack(auth, provider):
    """OpenID Connect with claims in a namespace; ids of users are unique within a workspace. The token endpoint answers
    errors with status 200 and `ok: false`.

    https://docs.slack.dev/authentication/sign-in-with-slack/,
    https://docs.slack.dev/reference/methods/openid.connect.token/
    """
    browser = await browser_of(auth, provider, "SLACK")
    provider.metadata = {"token_endpoint_auth_methods_supported": ["client_secret_post", "client_secret_basic"]}
    address = new_address()

    def claims(team):
        return {
            "sub": "U0R7JM",
            "https://slack.com/user_id": "U0R7JM",
            "https://slack.com/team_id": team,
            "email": address,
            "email_verified": True,
            "name": "krane",
        }

    first = await browser.sign_in(**claims("T0R7GR"))
    assert (first["customer"]["email"], first["customer"]["name"]) == (address, "krane")
    form, headers = token_request(provider)
    assert (form["client_secret"], "authorization" in headers) == ("hush", False)
    # The same id in another workspace is another person.
    other = {**claims("T1"), "email": new_address()}
    assert (await browser.sign_in(**other))["customer"]["id"] != first["customer"]["id"]
    assert (await browser.sign_in(**claims("T0R7GR")))["customer"]["id"] == first["customer"]["id"]
    assert await browser.sign_in(**claims(None)) == "provider_error"
    provider.raw["/token"] = json.dumps({"ok": False, "error": "invalid_code"}).encode()
    refused = query_of(await browser.come_back(await browser.start()))
    assert refused["error_description"].endswith("refused the code: invalid_code")


async def test_linkedin(auth, provider):
    """OpenID Connect without `nonce` in ID tokens; a `code_verifier` is answered by `invalid_client`, and the secret
    must be in the form. `email` and `email_verified` are optional.

    https://learn.microsoft.com/en-us/linkedin/consumer/integrations/self-serve/sign-in-with-linkedin-v2,
    https://github.com/nextauthjs/next-auth/issues/8831, https://github.com/authlib/authlib/issues/763
    """
    browser = await browser_of(auth, provider, "LINKEDIN")
    started = await browser.start()
    parameters = provider.authorize(started.headers["location"])
    assert parameters.keys().isdisjoint(("nonce", "code_challenge", "code_challenge_method"))
    address = new_address()
    signed_in = await browser.sign_in(sub="782bbtaQ", name="John Doe", email=address, email_verified="true")
    assert (signed_in["customer"]["email"], signed_in["customer"]["name"]) == (address, "John Doe")
    assert signed_in["customer"]["emailVerifiedAt"] is not None
    form, headers = token_request(provider)
    assert (form["client_secret"], "code_verifier" in form, "authorization" in headers) == ("hush", False, False)
    assert (await browser.sign_in(sub="2", name="No address"))["customer"]["email"] is None
    assert await browser.sign_in(sub="3", nonce="n" * 32) == "provider_error"


async def test_facebook(auth, provider):
    """OAuth 2.0; `email` is missing if there is no valid one, and nothing says that it is verified. `appsecret_proof`
    shows that the caller has the secret.

    https://developers.facebook.com/docs/facebook-login/guides/advanced/manual-flow,
    https://developers.facebook.com/docs/graph-api/guides/secure-requests
    """
    browser = await browser_of(auth, provider, "FACEBOOK")
    address = new_address()
    provider.account = {"id": "10210000000000001", "name": "Ada", "email": address}
    customer = (await browser.sign_in())["customer"]
    assert (customer["email"], customer["emailVerifiedAt"], customer["name"]) == (address, None, "Ada")
    app_proof = hmac.new(b"hush", b"access", hashlib.sha256).hexdigest()
    assert provider.query == {"fields": "id,name,email", "appsecret_proof": app_proof}
    provider.account = {"id": "2", "name": "By phone"}
    assert (await browser.sign_in())["customer"]["email"] is None
    # Facebook's address does not link to a customer who has proved it.
    proved = new_address()
    await auth.signed_up(proved)
    provider.account = {"id": "3", "name": "Eve", "email": proved}
    assert await browser.sign_in() == "account_not_linked"
    denied = await browser.come_back(await browser.start(), error="access_denied", error_reason="user_denied")
    assert query_of(denied)["error"] == "access_denied"


async def test_x(auth, provider):
    """OAuth 2.0 with PKCE; the credentials are in the Authorization header. There is no address, except
    `confirmed_email` with the scope `users.email`. Errors can have status 200.

    https://docs.x.com/fundamentals/authentication/oauth-2-0/user-access-token, https://docs.x.com/x-api/users/get-my-user
    """
    browser = await browser_of(auth, provider, "X")
    provider.account = {"data": {"id": "2244994945", "name": "X Dev", "username": "XDevelopers"}}
    customer = (await browser.sign_in())["customer"]
    assert (customer["email"], customer["name"], customer["identities"]) == (None, "X Dev", ["X"])
    form, headers = token_request(provider)
    assert (headers["authorization"].startswith("Basic "), "client_secret" in form) == (True, False)
    assert (len(form["code_verifier"]) >= 43, provider.query) == (True, {})
    await put(auth, "X", provider.issuer, kind="X", scopes="users.read tweet.read users.email")
    address = new_address()
    provider.account = {"data": {"id": "3", "name": "B", "username": "b", "confirmed_email": address}}
    customer = (await browser.sign_in())["customer"]
    assert (customer["email"], customer["emailVerifiedAt"] is not None) == (address, True)
    assert provider.query == {"user.fields": "confirmed_email"}
    provider.account = {"errors": [{"title": "Not Found Error", "detail": "Could not find user."}]}
    assert await browser.sign_in() == "provider_error"


async def test_github_refuses_a_code_with_status_200(auth, provider):
    """Errors of the token endpoint have status 200. The address of the profile is not used, as it may be unverified.

    https://docs.github.com/en/apps/oauth-apps/maintaining-oauth-apps/troubleshooting-oauth-app-access-token-request-errors,
    https://docs.github.com/en/rest/users/emails
    """
    browser = await browser_of(auth, provider, "GITHUB")
    provider.account = {"id": 1, "login": "octocat", "name": None, "email": new_address()}
    provider.addresses = []
    customer = (await browser.sign_in())["customer"]
    assert (customer["email"], customer["name"]) == (None, "octocat")
    provider.addresses = [{"email": new_address(), "primary": True, "verified": False, "visibility": None}]
    provider.account["id"] = 2
    assert (await browser.sign_in())["customer"]["emailVerifiedAt"] is None
    error = {"error": "bad_verification_code", "error_description": "The code passed is incorrect or expired."}
    provider.raw["/login/oauth/access_token"] = json.dumps(error).encode()
    refused = query_of(await browser.come_back(await browser.start()))
    assert refused["error"] == "provider_error"
    assert refused["error_description"].endswith("refused the code: bad_verification_code")


@pytest.mark.parametrize(("claims", "verified"), [({}, False), ({"xms_edov": True}, True), ({"xms_edov": "1"}, True)])
async def test_microsoft_addresses_count_only_if_the_tenant_owns_the_domain(auth, provider, claims, verified):
    """Any administrator can set any address of a user (nOAuth); `email_verified` does not exist, and is ignored.

    https://learn.microsoft.com/en-us/entra/identity-platform/optional-claims-reference
    """
    browser = await browser_of(auth, provider, "MICROSOFT")
    customer = (await browser.sign_in(sub=uuid4().hex, email=new_address(), email_verified=True, **claims))["customer"]
    assert (customer["emailVerifiedAt"] is not None) == verified


async def test_microsoft_says_nothing_about_addresses_outside_the_id_token(auth, provider):
    """`xms_edov` is about the claim `email` beside it, not about the address of a profile, which UserInfo has."""
    browser = await browser_of(auth, provider, "MICROSOFT")
    subject = uuid4().hex
    provider.userinfo = {"sub": subject, "email": new_address(), "xms_edov": True}
    for claims in ({"xms_edov": True}, {}):
        customer = (await browser.sign_in(sub=subject, **claims))["customer"]
        assert customer["emailVerifiedAt"] is None


@pytest.mark.parametrize(
    ("user", "name"),
    [
        ('{"name": {"firstName": "Jane", "lastName": "Doe"}, "email": "x@example.com"}', "Jane Doe"),
        ('{"name": {"firstName": "Jane\\nX", "lastName": null}}', "Jane X"),
        ('{"name": "Jane"}', None),
        ("[[[[", None),
        ("x" * 100_000, None),
    ],
)
async def test_apple_sends_the_name_once_beside_the_token(auth, provider, user, name):
    """The name is in the form of the first response only, and not signed; relay addresses are verified.

    https://developer.apple.com/documentation/signinwithapple/configuring-your-webpage-for-sign-in-with-apple,
    https://developer.apple.com/documentation/signinwithapple/authenticating-users-with-sign-in-with-apple
    """
    key = ec.generate_private_key(ec.SECP256R1())
    pem = key.private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption()).decode()
    browser = await browser_of(auth, provider, "APPLE", clientSecret=pem, teamId="TEAM", keyId="KEY")
    path = f"/projects/{auth.project.id}/auth/providers/callback"
    relay = f"{uuid4().hex[:10]}@privaterelay.appleid.com"
    claims = {"sub": uuid4().hex, "email": relay, "email_verified": "true", "is_private_email": "true"}

    async def sign_in(**fields):
        started = await browser.start()
        form = {"code": "code", "state": provider.authorize(started.headers["location"])["state"], **fields}
        posted = await auth.client.request("POST", path, content=urlencode(form), headers=FORM)
        provider.claims = claims
        target = urlsplit(posted.headers["location"])
        cookie = started.headers["set-cookie"].split(";")[0]
        back = await auth.client.request("GET", f"{target.path}?{target.query}", headers={"cookie": cookie})
        grant = {"code": query_of(back)["code"], "codeVerifier": "v" * 50}
        return (await auth.post("/token", grant)).json()["customer"]

    customer = await sign_in(user=user)
    assert (customer["email"], customer["emailVerifiedAt"] is not None, customer["name"]) == (relay, True, name)
    # Apple sends no `user` after the first time: the name is kept.
    again = await sign_in()
    assert (again["id"], again["email"], again["name"]) == (customer["id"], relay, name)


def test_the_endpoints_of_presets():
    """Those of the documentation of each provider."""
    assert {kind: issuer for kind, issuer in ISSUERS.items() if kind not in WITHOUT_ID_TOKENS} == {
        "GOOGLE": "https://accounts.google.com",
        "MICROSOFT": "https://login.microsoftonline.com/common/v2.0",
        "APPLE": "https://appleid.apple.com",
        "GITLAB": "https://gitlab.com",
        "SLACK": "https://slack.com",
        "LINKEDIN": "https://www.linkedin.com/oauth",
    }
    endpoints = {kind: endpoints_of(kind, ISSUERS[kind]) for kind in WITHOUT_ID_TOKENS}
    assert {kind: (urls.authorization, urls.token, urls.api) for kind, urls in endpoints.items()} == {
        "GITHUB": (
            "https://github.com/login/oauth/authorize",
            "https://github.com/login/oauth/access_token",
            "https://api.github.com",
        ),
        "DISCORD": (
            "https://discord.com/oauth2/authorize",
            "https://discord.com/api/oauth2/token",
            "https://discord.com/api",
        ),
        "FACEBOOK": (
            "https://www.facebook.com/v23.0/dialog/oauth",
            "https://graph.facebook.com/v23.0/oauth/access_token",
            "https://graph.facebook.com/v23.0",
        ),
        "X": ("https://x.com/i/oauth2/authorize", "https://api.x.com/2/oauth2/token", "https://api.x.com/2"),
    }


async def test_presets_without_id_tokens_take_no_authentication_contexts(auth, provider):
    path = f"/projects/{auth.project.id}/auth/providers/DISCORD"
    body = {"kind": "DISCORD", "clientId": "client", "acrValues": ["mfa"]}
    assert (await auth.project.developer.put(path, body)).status_code == 400
    reserved = {"kind": "OIDC", "clientId": "client", "issuer": provider.issuer}
    assert (await auth.project.developer.put(path, reserved)).status_code == 400
