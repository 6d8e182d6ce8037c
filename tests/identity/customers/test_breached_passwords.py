"""Breached passwords are looked up by hash range at an external service."""

import hashlib
from datetime import timedelta
from ipaddress import ip_network

import pytest

from postern.kernel.config import Settings
from tests.conftest import PASSWORD
from tests.identity.customers.conftest import GOOD, new_address
from tests.peers.http_receiver import Reply, http_receiver

LEAKED = "leaked somewhere else"
PADDED = "only there as padding"
"""A password that the service lists with the count 0: padding, which does not count as a breach."""


def digest(password):
    return hashlib.sha1(password.encode()).hexdigest().upper()


@pytest.fixture
async def service():
    """A service that lists LEAKED as breached, and PADDED as padding."""
    async with http_receiver() as receiver:
        receiver.script("/range/" + digest(GOOD)[:5], Reply(body=b"0" * 35 + b":7\r\n"))
        for password, count in ((LEAKED, 52_256_179), (PADDED, 0)):
            lines = ["0" * 35 + ":3", f"{digest(password)[5:]}:{count}", "F" * 35 + ":0"]
            receiver.script("/range/" + digest(password)[:5], Reply(body="\r\n".join(lines).encode()))
        yield receiver


@pytest.fixture
def settings(tmp_path, service):
    return Settings(
        data=tmp_path,
        secret="a secret that all tests of one run have in common",
        database_pool=8,
        outbound_allow=(ip_network("127.0.0.0/8"), ip_network("::1/128")),
        breached_passwords=service.url("/range/"),
    )


async def test_breached_passwords_are_rejected_in_every_operation(auth, project, stranger, service):
    address = new_address()
    sign_up = await auth.signed_up(address)
    ada = auth.as_(sign_up["accessToken"])
    await auth.post("/password/forgot", {"email": address})
    reset = {"token": await auth.link_token(address), "password": LEAKED}
    responses = [
        await auth.post("/sign-up", {"email": new_address(), "password": LEAKED}),
        await auth.post("/sign-up", {"email": address, "password": LEAKED}),
        await auth.post("/password/reset", reset),
        await ada.post("/password/change", {"currentPassword": GOOD, "newPassword": LEAKED}),
        await project.client.post("/customers", {"email": new_address(), "password": LEAKED}),
        await stranger.post("/auth/sign-up", {"email": new_address(), "password": LEAKED, "name": "Ada"}),
        await stranger.post("/auth/password/reset", {"token": "x" * 40, "newPassword": LEAKED}),
        await project.developer.patch("/account/password", {"currentPassword": PASSWORD, "newPassword": LEAKED}),
    ]
    assert [(response.status_code, response.json()["code"]) for response in responses] == [
        (400, "password_breached")
    ] * 8
    assert (await auth.sign_in(address)).status_code == 200
    assert (await auth.post("/password/reset", {**reset, "password": PADDED})).status_code == 204
    lookups = [request for request in service.requests if request.path.endswith(digest(LEAKED)[:5])]
    assert len(lookups) == 8
    assert {request.headers["add-padding"] for request in service.requests} == {"true"}
    assert all(len(request.path) == len("/range/12345") for request in service.requests), (
        "the service gets only five digits of the hash"
    )


@pytest.mark.parametrize(
    "reply",
    [
        Reply(status=503),
        Reply(status=301, headers={"Location": "http://x.test"}),
        Reply(mode="hangup"),
        Reply(body=b"?"),
    ],
    ids=["503", "redirect", "hangs up", "nonsense"],
)
async def test_passwords_are_accepted_while_the_breach_service_fails(auth, service, reply):
    service.script("/range/" + digest(LEAKED)[:5], reply)
    await auth.signed_up(password=LEAKED)


async def test_a_slow_breach_service_delays_a_request_only_briefly(auth, service, monkeypatch):
    monkeypatch.setattr("postern.security.breaches.TIMEOUT", timedelta(milliseconds=50))
    service.script("/range/" + digest(LEAKED)[:5], Reply(mode="silent"))
    await auth.signed_up(password=LEAKED)
