"""Mail that this server sends directly to a domain for which it receives mail itself."""

import msgspec
import pytest

from postern.kernel.config import Settings
from postern.kernel.outbound.ssrf import read_networks
from tests.messaging.inbound.test_messages import MX, listed, new_route, verified_domain
from tests.messaging.inbound.test_receiving import port

__all__ = ["port"]


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return msgspec.structs.replace(
        settings,
        transport="direct",
        sending_addresses=("127.0.0.1",),
        outbound_allow=tuple(read_networks("127.0.0.0/8")),
        return_path_domain="bounce.post.example",
        inbound_port=25,
        mx_host=MX,
    )


@pytest.fixture
async def domain(project, zone, world, port):
    world.settings = msgspec.structs.replace(world.settings, direct_port=port)
    domain = await verified_domain(project, zone)
    zone.add(MX, "A", "127.0.0.1")
    for name in (domain, "loop.example"):
        zone.add(name, "MX", f"10 {MX}.")
    return domain


async def send(project, domain, to):
    body = {"from": f"hello@{domain}", "to": [to], "subject": "Hello", "text": "Hello"}
    sent = await project.client.post("/emails", body)
    assert sent.status_code == 201, sent.text
    return (await project.client.get(f"/emails/logs/{sent.json()['id']}")).json()


async def test_mail_to_an_own_route_is_delivered(project, domain):
    await new_route(project, f"support@{domain}")
    log = await send(project, domain, f"support@{domain}")
    assert log["status"] == "DELIVERED", log["reason"]
    (received,) = await listed(project)
    assert (received["messageId"], received["dkim"], received["subject"]) == (log["messageId"], "pass", "Hello")


async def test_other_addresses_of_the_domain_bounce_and_end(project, domain):
    await new_route(project, f"support@{domain}")
    log = await send(project, domain, f"sales@{domain}")
    assert log["status"] == "BOUNCED"
    assert "5.1.1" in log["reason"]


async def test_a_domain_without_a_route_is_still_a_loop(project, domain):
    route = await new_route(project, f"support@{domain}", active=False)
    for address in (f"support@{domain}", "x@loop.example"):
        log = await send(project, domain, address)
        assert log["status"] == "BOUNCED", log["reason"]
        assert "5.4.6" in log["reason"]
    assert await listed(project) == []
    assert route["active"] is False
