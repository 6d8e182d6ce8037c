"""Clients of a project's OpenID provider, and browsers of its customers."""

import base64
import hashlib
import html
import re
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, urlencode, urlsplit

import jwt
import pytest

from tests.conftest import Client
from tests.identity.customers.conftest import GOOD, AuthClient, auth, new_address

__all__ = ["auth"]

REDIRECT_URI = "https://reports.example.com/callback"
VERIFIER = "a verifier of the client with more than 43 characters".replace(" ", "-")
CHALLENGE = base64.urlsafe_b64encode(hashlib.sha256(VERIFIER.encode()).digest()).rstrip(b"=").decode()
FORM = {"content-type": "application/x-www-form-urlencoded"}
ISSUER = "http://127.0.0.1:8025"


@dataclass
class Provider:
    """The OpenID provider of a project, with one registered client."""

    auth: AuthClient
    oauth_client: dict[str, Any] = field(default_factory=dict)

    @property
    def project(self) -> Any:
        return self.auth.project

    @property
    def base(self) -> str:
        return f"/projects/{self.project.id}/oauth"

    @property
    def issuer(self) -> str:
        return f"{ISSUER}/projects/{self.project.id}"

    async def register(self, **fields: Any) -> dict[str, Any]:
        """Register a client, and use it from now on."""
        body = {"name": "Northwind Reports", "redirectUris": [REDIRECT_URI], **fields}
        response = await self.project.developer.post("/oauth-clients", body)
        assert response.status_code == 201, response.text
        self.oauth_client = response.json()
        return self.oauth_client

    def browser(self) -> "Browser":
        return Browser(self)

    def request(self, **fields: Any) -> dict[str, str]:
        """The parameters of an authorization request; a field that is None is left out."""
        parameters = {
            "client_id": self.oauth_client["clientId"],
            "redirect_uri": REDIRECT_URI,
            "response_type": "code",
            "scope": "openid email profile offline_access",
            "state": "client-state",
            "nonce": "client-nonce",
            "code_challenge": CHALLENGE,
            "code_challenge_method": "S256",
            **fields,
        }
        return {name: value for name, value in parameters.items() if value is not None}

    async def send(
        self,
        endpoint: str,
        client: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        **fields: Any,
    ) -> Any:
        """Post a form to an endpoint, with the credential of the client (`client_secret_post`)."""
        client = client or self.oauth_client
        credential = {"client_id": client["clientId"]}
        if client.get("clientSecret"):
            credential["client_secret"] = client["clientSecret"]
        form = {name: value for name, value in {**credential, **fields}.items() if value is not None}
        return await self.auth.client.request(
            "POST", f"{self.base}/{endpoint}", content=urlencode(form), headers={**FORM, **(headers or {})}
        )

    async def exchange(self, code: str, client: dict[str, Any] | None = None, **fields: Any) -> Any:
        """Exchange a code at the token endpoint."""
        parameters = {"code": code, "redirect_uri": REDIRECT_URI, "code_verifier": VERIFIER, **fields}
        return await self.send("token", client, grant_type="authorization_code", **parameters)

    async def tokens(self, browser: "Browser", **request: Any) -> dict[str, Any]:
        """The tokens for an authorization that needs no further step."""
        response = parameters_of(await browser.authorize(**request))
        exchanged = await self.exchange(response["code"])
        assert exchanged.status_code == 200, exchanged.text
        return exchanged.json()

    async def refresh(self, token: str, client: dict[str, Any] | None = None, **fields: Any) -> Any:
        return await self.send("token", client, grant_type="refresh_token", refresh_token=token, **fields)

    async def userinfo(self, access_token: str) -> Any:
        headers = {"authorization": f"Bearer {access_token}"}
        return await self.auth.client.get(f"{self.base}/userinfo", headers=headers)

    async def introspect(self, token: str, client: dict[str, Any] | None = None) -> dict[str, Any]:
        response = await self.send("introspect", client, token=token)
        assert response.status_code == 200, response.text
        return response.json()

    async def verified(self, token: str, audience: str) -> dict[str, Any]:
        """The claims of a token, checked with the project's JWKS as clients do it."""
        keys = jwt.PyJWKSet.from_dict(
            (await self.auth.client.get(f"/projects/{self.project.id}/.well-known/jwks.json")).json()
        )
        key = next(key for key in keys.keys if key.key_id == jwt.get_unverified_header(token)["kid"])
        options = {"verify_exp": False, "verify_iat": False}  # The clock of the tests is moved.
        algorithms = [key.algorithm_name]
        return jwt.decode(token, key, algorithms=algorithms, audience=audience, issuer=self.issuer, options=options)


class Browser:
    """A browser with cookies."""

    def __init__(self, provider: Provider) -> None:
        self.provider = provider
        self.client = Client(provider.auth.app)
        self.address = new_address()

    async def open(self, url: str) -> Any:
        """Open a URL of the server."""
        parts = urlsplit(url)
        return await self.client.get(f"{parts.path}?{parts.query}" if parts.query else parts.path)

    async def authorize(self, **fields: Any) -> Any:
        """Open the authorization endpoint."""
        return await self.open(f"{self.provider.base}/authorize?{urlencode(self.provider.request(**fields))}")

    async def submit(self, page: Any, number: int = 0, **fields: str) -> Any:
        """Submit a form of a page, with its hidden fields."""
        form = re.findall(r"<form.*?</form>", page.text, re.DOTALL)[number]
        action = re.search(r'action="([^"]*)"', form)
        hidden = dict(re.findall(r'type="hidden" name="(\w+)" value="([^"]*)"', form))
        body = urlencode({**{name: html.unescape(value) for name, value in hidden.items()}, **fields})
        assert action
        return await self.client.request("POST", html.unescape(action[1]), content=body, headers=FORM)

    async def sign_in(self, response: Any, address: str | None = None, password: str = GOOD) -> Any:
        """Sign in on the hosted page to which `response` redirects. Returns the response of `resume`."""
        assert response.status_code == 302, response.text
        page = await self.open(response.headers["location"])
        assert "Sign in" in page.text
        returned = await self.submit(page, email=address or self.address, password=password)
        return await self.finish(returned)

    async def finish(self, returned: Any) -> Any:
        """Follow the redirect of the sign-in pages to the provider, and the page after it."""
        assert returned.status_code == 303, returned.text
        page = await self.open(returned.headers["location"])
        assert page.status_code == 200, page.text
        link = re.search(r'content="0;url=([^"]+)"', page.text)
        assert link, page.text
        return await self.open(html.unescape(link[1]))

    async def signed_in(self, **fields: Any) -> Any:
        """Sign up a customer, and sign in by an authorization request. Returns the response after the sign-in."""
        await self.provider.auth.signed_up(self.address)
        return await self.sign_in(await self.authorize(**fields))


def parameters_of(response: Any, redirect_uri: str = REDIRECT_URI) -> dict[str, str]:
    """The parameters of an authorization response."""
    assert response.status_code in (302, 303), response.text
    location = response.headers["location"]
    assert location.startswith(f"{redirect_uri}?"), location
    return dict(parse_qsl(urlsplit(location).query, strict_parsing=True))


@pytest.fixture
async def provider(auth: AuthClient) -> Provider:
    provider = Provider(auth)
    await provider.register()
    return provider


@pytest.fixture
async def first_party(auth: AuthClient) -> Provider:
    """A provider whose client belongs to the project, so that nobody is asked for consent."""
    provider = Provider(auth)
    await provider.register(firstParty=True)
    return provider
