"""Failed attempts are counted by IPv6 network, not by address."""

from tests.conftest import PASSWORD, Client


async def test_failures_of_one_ipv6_network_count_together(app, project):
    """All addresses of one /64 share a count; another network has its own.

    Regression test of S13 (tests/defects.md).
    """
    for number in range(10):
        guesser = Client(app, ip=f"2001:db8:7:7::{number:x}")
        wrong = {"email": project.email, "password": f"wrong password {number}"}
        assert (await guesser.post("/auth/sign-in", wrong)).status_code == 401
    right = {"email": project.email, "password": PASSWORD}
    assert (await Client(app, ip="2001:db8:7:7:1::1").post("/auth/sign-in", right)).status_code == 429
    assert (await Client(app, ip="2001:db8:7:8::1").post("/auth/sign-in", right)).status_code == 200
