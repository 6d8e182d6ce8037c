"""Interoperability with Keycloak: sign-on and logout, by SAML and by OpenID Connect, and the import of its export."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
from urllib.parse import parse_qs

import httpx
import pytest

from tests.cli.test_moving import KEYCLOAK_REALM, check_the_realm_of_keycloak, import_file
from tests.conftest import Client
from tests.identity.customers.test_providers import settings
from tests.identity.sso.conftest import REDIRECT_URL, Acme
from tests.identity.sso.test_interop_oidc_provider import followed, submitted
from tests.identity.sso.test_oidc_sign_on import OidcBrowser, is_alive
from tests.peers import keycloak_realm
from tests.peers.http_receiver import http_receiver
from tests.peers.identity_provider import posted
from tests.peers.keycloak import Keycloak, Realm, keycloak, needs_keycloak

__all__ = ["import_file", "settings"]

SECONDS = 60
SECRET = "a secret with & = + % signs"
SIGNED_PARTS = {
    # As imported: our metadata has a certificate for encryption.
    "both, encrypted": {},
    "assertion": {"saml.encrypt": "false", "saml.assertion.signature": "true", "saml.server.signature": "false"},
    "response": {"saml.assertion.signature": "false", "saml.server.signature": "true"},
    "both": {"saml.assertion.signature": "true", "saml.server.signature": "true"},
}
"""Attributes of a client of Keycloak; each set is added to those before."""

pytestmark = needs_keycloak


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    with keycloak(tmp_path_factory.mktemp("keycloak")) as server:
        yield server


def realm_of(acme: Acme, server: Keycloak, email: str) -> Realm:
    """A realm with one user."""
    maria = {
        "username": "maria",
        "email": email,
        "emailVerified": True,
        "firstName": "Maria",
        "lastName": "Söhne",
        "enabled": True,
        "credentials": [{"type": "password", "value": "secret"}],
    }
    return server.create_realm(acme.domain["domain"], users=[maria])


def mapper(property: str, attribute: str) -> dict[str, object]:
    config = {"user.attribute": property, "attribute.name": attribute, "attribute.nameformat": "Basic"}
    return {
        "name": attribute,
        "protocol": "saml",
        "protocolMapper": "saml-user-property-mapper",
        "config": config,
    }


def network() -> httpx.Client:
    """A browser, which sends secure cookies to 127.0.0.1 also without TLS, as browsers do."""
    client = httpx.Client(timeout=SECONDS, trust_env=False)

    def allow_without_tls(_: httpx.Response) -> None:
        for cookie in client.cookies.jar:
            cookie.secure = False

    client.event_hooks = {"response": [allow_without_tls]}
    return client


async def test_sign_on_and_logout_by_saml(acme: Acme, server: Keycloak):
    acme.advance_clock_to_now()
    email = acme.address("maria")
    realm = realm_of(acme, server, email)
    await acme.connect(active=False)
    changed = await acme.change(idpMetadataUrl=f"{realm.issuer}/protocol/saml/descriptor")
    assert changed["idpEntityId"] == realm.issuer
    assert (await acme.client.post(f"{acme.connection_path}/activate")).status_code == 200
    # What an administrator does: import the metadata, and add what an assertion says about a person.
    client = realm.client_of((await Client(acme.app).get(acme.connection["spMetadataUrl"])).text)
    assert client["clientId"] == acme.connection["spEntityId"]
    mappers = [mapper("email", "email"), mapper("firstName", "firstName"), mapper("lastName", "lastName")]
    client_id = realm.create_client({**client, "protocolMappers": mappers})
    for name, attributes in SIGNED_PARTS.items():
        realm.change_client(client_id, {"attributes": attributes})
        with network() as keycloak_browser:
            browser = acme.browser()
            login = keycloak_browser.get((await browser.start()).headers["location"])
            answer = submitted(keycloak_browser, login, username="maria", password="secret")
            acme.advance_clock_to_now()
            signed_in = await browser.exchange_code(await browser.post(*posted(answer.text)))
            customer = signed_in["customer"]
            assert (customer["email"], customer["name"]) == (email, "Maria Söhne"), name
            trace = (await acme.traces())[0]
            assert (trace["outcome"], trace["reason"]) == ("ACCEPTED", None)
            assert any(step["step"] == "decryption" for step in trace["steps"]) == ("encrypted" in name)
            ada = Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")
            url = (await ada.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
            assert url.startswith(f"{realm.issuer}/protocol/saml?SAMLRequest=")
            answer = followed(keycloak_browser, keycloak_browser.get(url))
            acme.advance_clock_to_now()
            returned = await browser.post(*posted(answer.text))
            if name == "assertion":
                # With this setting, Keycloak does not sign messages without an assertion either.
                assert (returned.status_code, "UNSIGNED" in returned.text) == (403, True)
            else:
                assert (returned.status_code, returned.headers["location"]) == (303, REDIRECT_URL)
            assert (await ada.get("/me")).status_code == 401


async def test_sign_on_and_both_logouts_by_openid_connect(acme: Acme, server: Keycloak):
    acme.advance_clock_to_now()
    email = acme.address("maria")
    realm = realm_of(acme, server, email)
    body = {"kind": "OIDC", "name": "Acme", "domain": acme.domain["domain"], "oidcClientId": "postern"}
    acme.connection = (await acme.client.post(acme.connections_path, body)).json()
    async with http_receiver() as receiver:
        client = {
            "clientId": "postern",
            "secret": SECRET,
            "redirectUris": [acme.connection["oidcRedirectUrl"]],
            "attributes": {
                "post.logout.redirect.uris": acme.connection["oidcPostLogoutRedirectUrl"],
                # The tests have no server at the URL of the connection; what is sent here, is sent on below.
                "backchannel.logout.url": receiver.url("/logout"),
                "backchannel.logout.session.required": "true",
                "pkce.code.challenge.method": "S256",
            },
        }
        realm.create_client(client)
        await acme.change(oidcIssuer=realm.issuer, oidcClientSecret=SECRET)
        assert (await acme.client.post(f"{acme.connection_path}/activate")).status_code == 200
        browser = OidcBrowser(acme, None)
        with network() as keycloak_browser:
            login = keycloak_browser.get((await browser.start()).headers["location"])
            answer = submitted(keycloak_browser, login, username="maria", password="secret")
            location = answer.headers["location"]
            signed_in = await browser.exchange_code(await browser.client.get(location))
            assert (signed_in["customer"]["email"], signed_in["customer"]["name"]) == (email, "Maria Söhne")
            assert (await browser.client.get(location)).status_code == 403, "the code was used"
            ada = Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")
            url = (await ada.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
            # In a thread, because Keycloak waits for the receiver meanwhile.
            response = await asyncio.to_thread(keycloak_browser.get, url)
            returned = await browser.client.get(followed(keycloak_browser, response).headers["location"])
            assert (returned.status_code, returned.headers["location"]) == (303, REDIRECT_URL)
            assert (await ada.get("/me")).status_code == 401
        with network() as keycloak_browser:
            login = keycloak_browser.get((await browser.start()).headers["location"])
            answer = submitted(keycloak_browser, login, username="maria", password="secret")
            signed_in = await browser.exchange_code(await browser.client.get(answer.headers["location"]))
        assert await is_alive(acme, signed_in)
        await asyncio.to_thread(realm.end_sessions_of, "maria")
        token = parse_qs(receiver.requests[-1].body.decode())["logout_token"][0]
        path = acme.connection["oidcBackchannelLogoutUrl"]
        delivered = await browser.client.request("POST", path, data={"logout_token": token})
        assert delivered.status_code in (200, 204), delivered.text
        assert not await is_alive(acme, signed_in)


async def test_a_realm_that_keycloak_exports_is_imported(auth, project, clock, import_file, server: Keycloak):
    realm = await asyncio.to_thread(server.create_realm, "moving", **keycloak_realm.REALM)
    await asyncio.to_thread(keycloak_realm.add_what_a_realm_cannot_be_created_with, realm)
    export = await asyncio.to_thread(keycloak_realm.export_of, realm)
    clock.move(max(datetime.now(UTC) - clock(), timedelta()))
    await check_the_realm_of_keycloak(auth, project, clock, import_file, json.dumps(export))
    # The export that the other tests import has the same form.
    assert form_of(export) == form_of(json.loads(KEYCLOAK_REALM.read_text("utf-8")))


def form_of(value: object) -> object:
    """The names of the fields of a JSON value at every level, without its texts and numbers."""
    if isinstance(value, dict):
        return {name: form_of(item) for name, item in value.items()}
    return [form_of(item) for item in value] if isinstance(value, list) else type(value)
