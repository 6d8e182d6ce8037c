"""An identity provider on a real HTTP server: metadata by URL, sign-on and logout by browser."""

from ipaddress import ip_network
from urllib.parse import urlsplit

import httpx
import pytest

from postern.kernel.config import Settings
from tests.conftest import Client
from tests.identity.sso.conftest import REDIRECT_URL
from tests.peers.identity_provider import IdentityProvider, posted


@pytest.fixture
def settings(tmp_path, zone):
    return Settings(
        data=tmp_path,
        secret="a secret that all tests of one run have in common",
        database_pool=8,
        dns=(f"{zone.address}:{zone.port}",),
        outbound_allow=(ip_network("127.0.0.0/8"),),
    )


async def test_sign_in_and_logout_with_a_real_identity_provider(acme, clock):
    acme.idp = IdentityProvider("https://served.example/metadata", now=clock())
    with acme.idp.serving() as base:
        body = {"name": "Served", "domain": acme.domain["domain"], "idpMetadataUrl": f"{base}/metadata"}
        created = await acme.client.post(acme.connections_path, body)
        assert created.status_code == 201, created.text
        acme.connection = created.json()
        assert (acme.connection["idpEntityId"], acme.connection["idpSsoUrl"]) == (acme.idp.entity_id, f"{base}/login")
        acme.idp.service_urls[acme.connection["spEntityId"]] = acme.connection["spSloUrl"]
        await acme.change(allowOtherDomains=True)
        assert (await acme.client.post(f"{acme.connection_path}/activate")).status_code == 200
        browser = acme.browser()
        async with httpx.AsyncClient(timeout=60) as network:
            page = await network.get((await browser.start()).headers["location"])
            signed_in = await browser.exchange_code(await browser.post(*posted(page.text)))
            assert signed_in["customer"]["email"] == "maria@acme.example"
            customer_client = Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")
            url = (await customer_client.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
            logout_redirect = await network.get(url)
        assert urlsplit(logout_redirect.headers["location"]).path == urlsplit(acme.connection["spSloUrl"]).path
        final_redirect = await browser.client.get(logout_redirect.headers["location"])
        assert (final_redirect.status_code, final_redirect.headers["location"]) == (303, REDIRECT_URL)
        not_found = await acme.client.patch(acme.connection_path, {"idpMetadataUrl": f"{base}/nowhere"})
        assert (not_found.status_code, not_found.json()["code"]) == (400, "metadata_unreachable")
    stopped = await acme.client.patch(acme.connection_path, {"idpMetadataUrl": f"{base}/metadata"})
    assert (stopped.status_code, stopped.json()["errors"][0]["path"]) == (400, "/idpMetadataUrl")
    assert (await acme.client.get(acme.connection_path)).json()["idpMetadataUrl"] == f"{base}/metadata"
