"""The server accepts forms only from its own pages, also behind a proxy."""

import msgspec
import pytest

from tests.conftest import PASSWORD, Client

FORM_PATHS = {
    "inbox sign-in": "/inbox/sign-in",
    "inbox one-time link": "/inbox/enter",
    "address verification": "/verify-email",
    "password reset": "/reset-password",
    "invitation": "/join",
    "plan": "/billing/manual/00",
}
PROXY_HOST = {"host": "10.0.0.5:8025"}
"""The header that a proxy sends if it does not forward `Host`."""


@pytest.fixture
def public(world, app) -> Client:
    """A client of a server with a public base URL."""
    world.settings = msgspec.structs.replace(world.settings, base_url="https://mail.example.com")
    return Client(app)


async def send_form(client: Client, path: str, **headers: str) -> int:
    """Send a form with these headers and return the status of the response."""
    headers = {name.replace("_", "-"): value for name, value in headers.items()}
    response = await client.http.post(f"http://postern.test{path}", data={"token": "x"}, headers=headers)
    return response.status_code


@pytest.mark.parametrize("path", FORM_PATHS.values(), ids=FORM_PATHS)
async def test_the_origin_is_compared_with_the_base_url(public, path):
    """Behind a proxy that does not forward `Host`, the form's origin is that of the base URL.

    Regression test of N2, S13 (tests/defects.md).
    """
    assert await send_form(public, path, origin="https://mail.example.com", **PROXY_HOST) != 403
    assert (
        await send_form(public, path, origin="https://mail.example.com", sec_fetch_site="same-origin", **PROXY_HOST)
        != 403
    )
    for foreign in ("https://evil.example", "https://mail.example.com.evil.example", "https://mail.example.com:8443"):
        assert await send_form(public, path, origin=foreign, **PROXY_HOST) == 403, foreign
        assert await send_form(public, path, origin=foreign, sec_fetch_site="same-origin", **PROXY_HOST) == 403, foreign
    assert await send_form(public, path, origin="http://mail.example.com", host="mail.example.com") == 403, (
        "without TLS"
    )


@pytest.mark.parametrize("path", FORM_PATHS.values(), ids=FORM_PATHS)
async def test_sec_fetch_site_of_another_site_is_refused(public, path):
    """Any sandboxed frame has the origin `null`, so `Sec-Fetch-Site` must show that the page belongs to this server.

    Regression test of S13 (tests/defects.md).
    """
    for site in ("cross-site", "same-site", "nonsense"):
        assert await send_form(public, path, sec_fetch_site=site) == 403
        assert await send_form(public, path, sec_fetch_site=site, origin="https://mail.example.com") == 403
        assert await send_form(public, path, sec_fetch_site=site, origin="null") == 403
    assert await send_form(public, path, origin="null") == 403
    assert await send_form(public, path, origin="null", sec_fetch_site="same-origin") != 403
    assert await send_form(public, path) != 403, "a client that is not a browser is refused"


async def test_signing_in_to_the_inbox_works_through_a_proxy(project, public):
    """Signing in works if the proxy sends an internal name in `Host`.

    Regression test of N2 (tests/defects.md).
    """
    response = await public.http.post(
        "http://postern.test/inbox/sign-in",
        data={"email": project.email, "password": PASSWORD},
        headers={"origin": "https://mail.example.com", "sec-fetch-site": "same-origin", **PROXY_HOST},
    )
    assert (response.status_code, response.headers["location"]) == (303, "/inbox")
