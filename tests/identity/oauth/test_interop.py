"""Libraries of others sign customers in through the OpenID provider of a real server: Authlib, and openid-client."""

import asyncio
import html
import json
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urljoin, urlsplit
from uuid import uuid4

import httpx
import pytest
from authlib.integrations.base_client import OAuthError
from authlib.integrations.httpx_client import OAuth2Client
from authlib.jose import JsonWebToken
from authlib.oauth2.rfc8414 import AuthorizationServerMetadata
from authlib.oidc.core import CodeIDToken
from authlib.oidc.discovery import OpenIDProviderMetadata

from tests.identity.customers.conftest import GOOD
from tests.identity.oauth.keys import ClientKey
from tests.peers.whole_server import whole_server

PEER = Path(__file__).parents[2] / "peers" / "openid_client"
INSTALL = "npm install --no-package-lock --prefix tests/peers/openid_client"
REDIRECT_URI = "https://reports.example.com/callback"
SECONDS = 60


@dataclass
class Installation:
    """A server with a project, and a customer of the project."""

    issuer: str
    developer: httpx.Client
    email: str = field(default_factory=lambda: f"{uuid4().hex[:12]}@example.com")

    def register(self, **fields: Any) -> dict[str, Any]:
        body = {"name": "Reports", "redirectUris": [REDIRECT_URI], "postLogoutRedirectUris": [REDIRECT_URI], **fields}
        return self.developer.post("/oauth-clients", json=body).raise_for_status().json()


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    with whole_server(tmp_path_factory.mktemp("provider")) as server:
        account = asyncio.run(server.account())
        issuer = f"{server.url}/projects/{account.project_id}"
        headers = {"authorization": f"Bearer {account.developer_token}"}
        with httpx.Client(base_url=issuer, headers=headers, timeout=SECONDS) as developer:
            installation = Installation(issuer, developer)
            developer.patch("", json={"settings": {"signIn": {"verifyEmail": "LATER"}}}).raise_for_status()
            body = {"email": installation.email, "password": GOOD, "name": "Ada Lovelace"}
            httpx.post(f"{issuer}/auth/sign-up", json=body, timeout=SECONDS).raise_for_status()
            yield installation


def submitted(browser: httpx.Client, page: httpx.Response, **fields: str) -> httpx.Response:
    """Submit the first form of a page."""
    form = re.findall(r"<form.*?</form>", page.text, re.DOTALL)[0]
    action = html.unescape(re.findall(r'action="([^"]*)"', form)[0])
    hidden = {name: html.unescape(value) for name, value in re.findall(r'name="(\w+)" value="([^"]*)"', form)}
    hidden.pop("decision", None)
    return browser.post(urljoin(str(page.url), action), data={**hidden, **fields})


def signed_in(browser: httpx.Client, url: str, email: str) -> httpx.Response:
    """Open an authorization URL in a new browser, sign in and allow everything. Returns the response to the client."""
    page = browser.get(browser.get(url).headers["location"])
    returned = browser.get(submitted(browser, page, email=email, password=GOOD).headers["location"])
    consent = browser.get(html.unescape(re.findall(r'content="0;url=([^"]+)"', returned.text)[0]))
    return submitted(browser, consent, decision="allow") if consent.status_code == 200 else consent


@pytest.mark.parametrize("authentication", ["client_secret_basic", "client_secret_post", "none"])
def test_authlib(installation: Installation, authentication: str) -> None:
    registered = installation.register(type="PUBLIC" if authentication == "none" else "CONFIDENTIAL")
    metadata = httpx.get(f"{installation.issuer}/.well-known/openid-configuration").raise_for_status().json()
    OpenIDProviderMetadata(metadata).validate()
    parts = urlsplit(installation.issuer)
    rfc_8414 = f"{parts.scheme}://{parts.netloc}/.well-known/oauth-authorization-server{parts.path}"
    AuthorizationServerMetadata(httpx.get(rfc_8414).raise_for_status().json()).validate_issuer()
    with (
        httpx.Client(timeout=SECONDS) as browser,
        OAuth2Client(
            registered["clientId"],
            registered["clientSecret"],
            token_endpoint_auth_method=authentication,
            revocation_endpoint_auth_method=authentication,
            scope="openid email profile offline_access",
            redirect_uri=REDIRECT_URI,
            code_challenge_method="S256",
            timeout=SECONDS,
        ) as client,
    ):
        verifier = uuid4().hex * 2
        nonce = uuid4().hex
        url, state = client.create_authorization_url(
            metadata["authorization_endpoint"], code_verifier=verifier, nonce=nonce
        )
        location = signed_in(browser, url, installation.email).headers["location"]
        token = client.fetch_token(
            metadata["token_endpoint"], authorization_response=location, code_verifier=verifier, state=state
        )
        keys = httpx.get(metadata["jwks_uri"]).raise_for_status().json()
        claims = JsonWebToken(["ES256"]).decode(
            token["id_token"],
            keys,
            claims_cls=CodeIDToken,
            claims_options={
                "iss": {"essential": True, "value": installation.issuer},
                "aud": {"essential": True, "value": registered["clientId"]},
            },
            claims_params={"nonce": nonce, "client_id": registered["clientId"], "access_token": token["access_token"]},
        )
        claims.validate()
        assert claims["email"] == installation.email
        userinfo = client.get(metadata["userinfo_endpoint"]).raise_for_status().json()
        assert userinfo["sub"] == claims["sub"]
        assert userinfo["name"] == "Ada Lovelace"
        renewed = client.refresh_token(metadata["token_endpoint"], refresh_token=token["refresh_token"])
        assert renewed["refresh_token"] != token["refresh_token"]
        revoked = client.revoke_token(metadata["revocation_endpoint"], token=renewed["refresh_token"])
        assert revoked.status_code == 200
        with pytest.raises(OAuthError, match="invalid_grant"):
            client.refresh_token(metadata["token_endpoint"], refresh_token=renewed["refresh_token"])


@pytest.mark.needs_node
@pytest.mark.skipif(
    not shutil.which("node") or not (PEER / "node_modules" / "openid-client").is_dir(),
    reason=f"openid-client is not installed: {INSTALL}",
)
@pytest.mark.parametrize("kind", ["confidential", "public", "form_post", "oauth2", "dpop", "fapi2"])
def test_openid_client(installation: Installation, kind: str) -> None:
    is_public = kind in ("public", "dpop")
    grants = ["authorization_code", "refresh_token", *([] if is_public else ["client_credentials"])]
    key = ClientKey()
    fapi = {"securityProfile": "FAPI2", "requireDpop": True, "jwks": key.jwks()} if kind == "fapi2" else {}
    registered = installation.register(type="PUBLIC" if is_public else "CONFIDENTIAL", grantTypes=grants, **fapi)
    settings = {
        "issuer": installation.issuer,
        "oauth2": kind == "oauth2",
        "clientId": registered["clientId"],
        "secret": registered["clientSecret"],
        "key": key.private_jwk if fapi else None,
        "dpop": kind in ("dpop", "fapi2"),
        "pushed": kind in ("dpop", "fapi2"),
        "redirectUri": REDIRECT_URI,
        "scope": "openid email profile offline_access",
        "extra": {"max_age": "3600", **({"response_mode": "form_post"} if kind == "form_post" else {})},
    }
    command = ["node", str(PEER / "client.mjs")]
    with (
        httpx.Client(timeout=SECONDS) as browser,
        subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as peer,
    ):
        assert peer.stdin is not None
        assert peer.stdout is not None
        print(json.dumps(settings), file=peer.stdin, flush=True)
        url = json.loads(peer.stdout.readline())["url"]
        response = signed_in(browser, url, installation.email)
        if kind == "form_post":
            fields = {
                name: html.unescape(text) for name, text in re.findall(r'name="(\w+)" value="([^"]*)"', response.text)
            }
            returned: dict[str, Any] = {"form": fields}
        else:
            returned = {"url": response.headers["location"]}
        print(json.dumps(returned), file=peer.stdin, flush=True)
        result = json.loads(peer.stdout.readline())
        assert result["claims"]["email"] == installation.email
        assert result["userinfo"]["sub"] == result["claims"]["sub"]
        assert result["refused"] == "invalid_grant"
        assert result["type"] == ("dpop" if settings["dpop"] else "bearer")
        assert is_public or result["introspected"]["active"] is True
        assert is_public or result["machine"] == ""
        signed_out = browser.get(result["logout"])
        assert signed_out.headers["location"] == REDIRECT_URI
        assert peer.wait(SECONDS) == 0
