"""Forms are accepted only from pages of this server, also behind a proxy."""

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
    """Behind a proxy that does not forward `Host`, the form's origin is that of the base URL.

    Defects: N2, S13
    """
    assert await send(public, path, origin="https://mail.example.com", **UPSTREAM) != 403
    assert await send(public, path, origin="https://mail.example.com", sec_fetch_site="same-origin", **UPSTREAM) != 403
    for foreign in ("https://evil.example", "https://mail.example.com.evil.example", "https://mail.example.com:8443"):
        assert await send(public, path, origin=foreign, **UPSTREAM) == 403, foreign
        assert await send(public, path, origin=foreign, sec_fetch_site="same-origin", **UPSTREAM) == 403, foreign
    assert await send(public, path, origin="http://mail.example.com", host="mail.example.com") == 403, "without TLS"


@pytest.mark.parametrize("path", FORMS.values(), ids=FORMS)
async def test_sec_fetch_site_of_another_site_is_refused(public, path):
    """Any sandboxed frame has the origin `null`, so `Sec-Fetch-Site` must show that the page is this site's.

    Defects: S13
    """
    for site in ("cross-site", "same-site", "nonsense"):
        assert await send(public, path, sec_fetch_site=site) == 403
        assert await send(public, path, sec_fetch_site=site, origin="https://mail.example.com") == 403
        assert await send(public, path, sec_fetch_site=site, origin="null") == 403
    assert await send(public, path, origin="null") == 403
    assert await send(public, path, origin="null", sec_fetch_site="same-origin") != 403
    assert await send(public, path) != 403, "No browser, and so nobody's session."


async def test_signing_in_to_the_inbox_works_through_a_proxy(project, public):
    """Signing in works if the proxy sends an internal name in `Host`.

    Defects: N2
    """
    answer = await public.http.post(
        "http://postern.test/inbox/sign-in",
        data={"email": project.email, "password": PASSWORD},
        headers={"origin": "https://mail.example.com", "sec-fetch-site": "same-origin", **UPSTREAM},
    )
    assert (answer.status_code, answer.headers["location"]) == (303, "/inbox")
