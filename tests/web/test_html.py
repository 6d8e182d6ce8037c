"""Forms are taken from pages of this server alone, by whatever name a proxy knows it."""

import msgspec
import pytest

from tests.conftest import PASSWORD, Client

FORMS = {
    "the inbox": "/inbox/sign-in",
    "a one-time link": "/inbox/enter",
    "confirming an address": "/verify-email",
    "a new password": "/reset-password",
    "joining": "/join",
    "a booking": "/billing/manual/00",
}
UPSTREAM = {"host": "10.0.0.5:8025"}
"""What a proxy says that does not forward `Host`."""


@pytest.fixture
def public(world, app) -> Client:
    world.settings = msgspec.structs.replace(world.settings, base_url="https://mail.example.com")
    return Client(app)


async def send(client: Client, path: str, **headers: str) -> int:
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    answer = await client.http.post(f"http://postern.test{path}", data={"token": "x"}, headers=headers)
    return answer.status_code


@pytest.mark.parametrize("path", FORMS.values(), ids=FORMS)
async def test_the_origin_is_compared_with_the_base_url(public, path):
    """Behind a proxy that does not forward `Host`, a form of our page has the origin of the base URL.

    Defects: N2, S13
    """
    assert await send(public, path, origin="https://mail.example.com", **UPSTREAM) != 403
    assert await send(public, path, origin="https://mail.example.com", sec_fetch_site="same-origin", **UPSTREAM) != 403
    for foreign in ("https://evil.example", "https://mail.example.com.evil.example", "https://mail.example.com:8443"):
        assert await send(public, path, origin=foreign, **UPSTREAM) == 403, foreign
        assert await send(public, path, origin=foreign, sec_fetch_site="same-origin", **UPSTREAM) == 403, foreign
    assert await send(public, path, origin="http://mail.example.com", host="mail.example.com") == 403, "without TLS"


@pytest.mark.parametrize("path", FORMS.values(), ids=FORMS)
async def test_what_browsers_say_of_another_site_is_enough_to_refuse(public, path):
    """`null` is the origin of any sandboxed frame, so it needs the browser's word that the page was ours.

    Defects: S13
    """
    for site in ("cross-site", "same-site", "nonsense"):
        assert await send(public, path, sec_fetch_site=site) == 403
        assert await send(public, path, sec_fetch_site=site, origin="https://mail.example.com") == 403
        assert await send(public, path, sec_fetch_site=site, origin="null") == 403
    assert await send(public, path, origin="null") == 403
    assert await send(public, path, origin="null", sec_fetch_site="same-origin") != 403
    assert await send(public, path) != 403, "No browser, and so nobody's session."


async def test_one_signs_in_to_the_inbox_through_a_proxy(project, public):
    """Signing in works with the name by which the proxy knows the server in `Host`.

    Defects: N2
    """
    answer = await public.http.post(
        "http://postern.test/inbox/sign-in",
        data={"email": project.email, "password": PASSWORD},
        headers={"origin": "https://mail.example.com", "sec-fetch-site": "same-origin", **UPSTREAM},
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/inbox")
