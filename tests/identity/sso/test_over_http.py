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
        made = await acme.client.post(acme.path, body)
        assert made.status_code == 201, made.text
        acme.connection = made.json()
        assert (acme.connection["idpEntityId"], acme.connection["idpSsoUrl"]) == (acme.idp.entity_id, f"{base}/login")
        acme.idp.service_urls[acme.connection["spEntityId"]] = acme.connection["spSloUrl"]
        await acme.change(allowOtherDomains=True)
        assert (await acme.client.post(f"{acme.here}/activate")).status_code == 200
        browser = acme.browser()
        async with httpx.AsyncClient(timeout=60) as network:
            page = await network.get((await browser.start()).headers["location"])
            signed_in = await browser.redeem(await browser.post(*posted(page.text)))
            assert signed_in["customer"]["email"] == "maria@acme.example"
            mine = Client(acme.app, signed_in["accessToken"], f"/projects/{acme.directory.project.id}/auth")
            url = (await mine.post("/sso/sign-out", {"redirectUrl": REDIRECT_URL})).json()["url"]
            sent = await network.get(url)
        assert urlsplit(sent.headers["location"]).path == urlsplit(acme.connection["spSloUrl"]).path
        back = await browser.client.get(sent.headers["location"])
        assert (back.status_code, back.headers["location"]) == (303, REDIRECT_URL)
        gone = await acme.client.patch(acme.here, {"idpMetadataUrl": f"{base}/nowhere"})
        assert (gone.status_code, gone.json()["code"]) == (400, "metadata_unreachable")
    away = await acme.client.patch(acme.here, {"idpMetadataUrl": f"{base}/metadata"})
    assert (away.status_code, away.json()["errors"][0]["path"]) == (400, "/idpMetadataUrl")
    assert (await acme.client.get(acme.here)).json()["idpMetadataUrl"] == f"{base}/metadata"
