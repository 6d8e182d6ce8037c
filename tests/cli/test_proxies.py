"""The client IP address of a request that came through a proxy."""

from ipaddress import ip_network

import httpx
import msgspec
import pytest

from postern.cli.processes import uvicorn_config
from tests.identity.customers.conftest import GOOD, new_address

PROXIES = (ip_network("10.0.0.0/8"), ip_network("127.0.0.1"))
CASES = {
    "of a proxy": ("10.1.2.3", "203.0.113.5", "203.0.113.5"),
    "of a proxy behind a proxy": ("10.1.2.3", "203.0.113.5, 10.9.9.9", "203.0.113.5"),
    "of a proxy whose client forged the header": ("10.1.2.3", "192.0.2.1, 203.0.113.5", "203.0.113.5"),
    "of an untrusted address": ("198.51.100.7", "203.0.113.5", "198.51.100.7"),
    "nonsense": ("10.1.2.3", "x" * 5_000, "x" * 64),
}


@pytest.mark.parametrize(("peer", "forwarded_for", "client_ip"), CASES.values(), ids=CASES)
async def test_x_forwarded_for_of_a_trusted_proxy_is_used(project, world, peer, forwarded_for, client_ip):
    address = new_address()
    await project.client.post("/customers", {"email": address, "password": GOOD, "emailVerified": True})
    settings = msgspec.structs.replace(world.settings, trusted_proxies=PROXIES)
    config = uvicorn_config(settings, world)
    config.load()
    transport = httpx.ASGITransport(app=config.loaded_app, client=(peer, 40_000))
    async with httpx.AsyncClient(transport=transport, base_url="http://postern.test") as browser:
        body = {"email": address, "password": GOOD}
        path = f"/projects/{project.id}/auth/sign-in"
        assert (await browser.post(path, json=body, headers={"x-forwarded-for": forwarded_for})).status_code == 200
    sessions = (await project.client.get(f"/customers?q={address}")).json()["data"][0]["sessions"]
    assert [session["ipAddress"] for session in sessions] == [client_ip]
