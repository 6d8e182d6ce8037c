"""The hosted pages and the OpenID provider of a project at a host name of its own (`settings.signIn.pagesDomain`)."""

import asyncio
import html
import re
from urllib.parse import parse_qsl, urlencode, urlsplit

import httpx
import lxml.html
import pytest

from postern.identity.customers.passkeys import relying_party
from postern.kernel.http.call import ANONYMOUS, Call, Origin
from postern.kernel.values import as_id
from postern.messaging.certificates import operations as certificates
from postern.messaging.certificates.pages_domains import PagesDomains
from postern.platform.projects.operations import require_project
from tests.conftest import Client
from tests.identity.customers.conftest import GOOD, new_address
from tests.identity.oauth.conftest import CHALLENGE, FORM, ISSUER, REDIRECT_URI, Browser, parameters_of
from tests.identity.sso.conftest import acme, connected, directory, idp

__all__ = ["acme", "connected", "directory", "idp"]

PORT = urlsplit(ISSUER).port


async def verified_domain(project, zone, domain):
    """Add a sending domain whose records are published. Returns its id."""
    created = (await project.client.post("/domains", {"domain": domain})).json()
    for record in created["records"]:
        zone.add(record["name"], record["type"], record["value"])
    verified = (await project.client.post(f"/domains/{created['id']}/verify")).json()
    assert verified["status"] == "VERIFIED"
    return created["id"]


async def change(project, name, **settings):
    return await project.developer.patch("", {"settings": {"signIn": {"pagesDomain": name}, **settings}})


def error_of(response):
    assert response.status_code == 400, response.text
    [error] = response.json()["errors"]
    return error["path"], error["code"]


@pytest.fixture
def label():
    """A domain that no other test has."""
    return f"{new_address().partition('@')[0].lower()}.example"


@pytest.fixture
async def served(provider, zone, world, label):
    """The host name of the provider's project, and the id of the sending domain above it."""
    domain_id = await verified_domain(provider.project, zone, label)
    response = await change(provider.project, f"Login.{label}")
    assert response.status_code == 200, response.text
    assert response.json()["settings"]["signIn"]["pagesDomain"] == f"login.{label}"
    await world.resources[PagesDomains].reload()
    return f"login.{label}", domain_id


def at(app, host, **options):
    """A client that sends requests to a host."""
    client = Client(app)
    client.http = httpx.AsyncClient(
        transport=httpx.ASGITransport(app=app, raise_app_exceptions=False), base_url=f"http://{host}", **options
    )
    return client


def at_host(provider, host):
    """A browser that follows the URLs of pages only to this host."""

    class BrowserAtHost(Browser):
        async def open(self, url):
            parts = urlsplit(url)
            assert parts.netloc in ("", f"{host}:{PORT}"), url
            return await super().open(url)

    browser = BrowserAtHost(provider)
    browser.client = at(provider.auth.app, f"{host}:{PORT}")
    return browser


async def test_a_customer_signs_in_to_a_client_at_the_host_of_the_project(provider, served, world):
    host, _ = served
    metadata = (
        await provider.auth.client.get(f"/projects/{provider.project.id}/.well-known/openid-configuration")
    ).json()
    pages = f"http://{host}:{PORT}/projects/{provider.project.id}"
    assert metadata["issuer"] == provider.issuer
    assert metadata["authorization_endpoint"] == f"{pages}/oauth/authorize"
    assert metadata["end_session_endpoint"] == f"{pages}/oauth/logout"
    assert metadata["token_endpoint"] == f"{provider.issuer}/oauth/token"

    browser = at_host(provider, host)
    consent = await browser.signed_in()
    returned = parameters_of(await browser.submit(consent, decision="allow"))
    assert returned["iss"] == provider.issuer
    tokens = (await provider.exchange(returned["code"])).json()
    claims = await provider.verified(tokens["id_token"], provider.oauth_client["clientId"])
    assert claims["iss"] == provider.issuer
    assert "code" in parameters_of(await browser.authorize(prompt="none"))
    # The account pages share the session; a form of another site is refused, one of this host is not.
    account = await browser.open(f"{pages}/auth/pages/account?returnUrl=")
    assert browser.address in account.text
    assert account.headers["content-security-policy"].count("form-action 'self'") == 1
    for origin, status in ((ISSUER.replace("127.0.0.1", "evil.example"), 403), (f"http://{host}:{PORT}", 303)):
        signed_out = await browser.client.request(
            "POST",
            f"/projects/{provider.project.id}/oauth/logout/confirm",
            content="session=",
            headers={**FORM, "origin": origin},
        )
        assert (signed_out.status_code == 403) == (status == 403), signed_out.text
    # Signed out, the question is not asked again.
    ended = await browser.open(f"{pages}/oauth/logout?id_token_hint={tokens['id_token']}")
    assert ended.status_code == 200
    assert parameters_of(await browser.authorize(prompt="none"))["error"] == "login_required"
    assert all(not cookie.domain_specified for cookie in browser.client.http.cookies.jar), "cookies belong to the host"


async def test_sign_up_reset_and_mails_stay_at_the_host(provider, served):
    host, _ = served
    project, auth = provider.project, provider.auth
    browser = at_host(provider, host)
    begun = await browser.authorize(prompt="create")
    page = await browser.open(begun.headers["location"])
    codes = await browser.submit(page, email=browser.address, password=GOOD)
    assert codes.status_code == 200, codes.text
    returned = await browser.submit(codes, code=await auth.code(browser.address))
    consent = await browser.finish(returned)
    assert "code" in parameters_of(await browser.submit(consent, decision="allow"))

    await auth.post("/password/forgot", {"email": browser.address})
    mail = (await auth.mails(browser.address))[-1]
    assert f"http://{host}:{PORT}/projects/{project.id}/auth/pages/" in mail["text"]
    assert ISSUER not in mail["text"]
    organization = (await project.client.post("/b2b/organizations", {"name": "Acme"})).json()
    invited = new_address()
    await project.client.post(f"/b2b/organizations/{organization['id']}/invitations", {"email": invited})
    [invitation] = await auth.mails(invited)
    link = re.search(rf"http://{host}:{PORT}/projects/\S+", invitation["text"])
    assert link, invitation["text"]
    assert (await browser.open(link[0])).status_code == 200
    setup = (await project.client.post(f"/b2b/organizations/{organization['id']}/setup-links", {})).json()
    assert setup["url"].startswith(f"http://{host}:{PORT}/projects/{project.id}/auth/pages/setup?token="), setup


async def test_only_pages_of_the_project_are_at_its_host(provider, served, new_project):
    host, _ = served
    project, other = provider.project, await new_project()
    client = at(provider.auth.app, f"{host.upper()}:{PORT}")
    headers = {"authorization": f"Bearer {project.secret_key}"}
    present = (
        f"/projects/{project.id}/auth/pages/forgot",
        f"/projects/{project.id}/.well-known/jwks.json",
        f"/.well-known/oauth-authorization-server/projects/{project.id}",
        "/assets/hosted.css",
        "/healthz",
    )
    missing = (
        f"/projects/{other.id}/auth/pages/forgot",
        f"/projects/{other.id}/.well-known/jwks.json",
        f"/.well-known/oauth-authorization-server/projects/{other.id}",
        f"/projects/{project.id}",
        f"/projects/{project.id}/customers",
        f"/projects/{project.id}/auth/me",
        f"/projects/{project.id}/auth/providers",
        f"/projects/{project.id}/auth/pages",
        "/projects",
        "/",
        "/dashboard",
        "/dashboard/api/projects",
        "/docs",
        "/openapi.json",
        "/guide",
        "/inbox",
        "/metrics",
        "/readyz",
        "/.well-known/postern/tls-allowed?domain=a.example",
        f"/%2e%2e/projects/{other.id}/auth/pages/forgot",
        f"/assets/..%2fprojects/{project.id}/customers",
        f"/projects/{project.id}/oauth/../customers",
    )
    for path in present:
        assert (await client.http.get(path, headers=headers)).status_code == 200, path
    for path in missing:
        response = await client.http.get(path, headers=headers)
        assert response.status_code == 404, path
    assert (await client.http.post(f"/projects/{project.id}/auth/sign-in", json={})).status_code == 404
    assert (await client.http.get("/.well-known/acme-challenge/unknown")).status_code == 404


async def test_the_main_host_leads_to_the_host_and_headers_of_proxies_do_nothing(provider, served, new_project):
    host, _ = served
    project, other = provider.project, await new_project()
    main, unknown = at(provider.auth.app, urlsplit(ISSUER).netloc), at(provider.auth.app, "internal:8025")
    pages = f"/projects/{project.id}"
    for path in ("/auth/pages/sign-in?redirectUrl=a%2Fb", "/auth/providers/GOOGLE/start?x=1", "/oauth/authorize?a=b"):
        response = await main.http.get(pages + path)
        assert (response.status_code, response.headers["location"]) == (302, f"http://{host}:{PORT}{pages}{path}")
        assert (await unknown.http.get(pages + path)).headers.get("location", "").startswith(f"http://{host}") is False
    forwarded = {"x-forwarded-host": host, "forwarded": f"host={host}"}
    assert (await main.http.get(f"/projects/{other.id}/auth/pages/forgot", headers=forwarded)).status_code == 200
    assert (await unknown.http.get("/docs", headers=forwarded)).status_code == 200
    assert (await main.http.get(f"{pages}/auth/providers/callback?state=x")).status_code != 302
    spoofed = at(provider.auth.app, "evil.example", headers={"x-forwarded-host": "evil.example"})
    metadata = (await spoofed.http.get(f"{pages}/.well-known/openid-configuration")).text
    assert "evil" not in metadata


async def test_a_provider_returns_to_the_host(provider, served, zone):
    host, _ = served
    project = provider.project
    body = {"kind": "GITHUB", "clientId": "abc", "clientSecret": "secret"}
    created = await project.developer.put(f"/projects/{project.id}/auth/providers/GITHUB", body)
    assert created.status_code == 200, created.text
    callback = f"http://{host}:{PORT}/projects/{project.id}/auth/providers/callback"
    assert created.json()["callbackUrl"] == callback
    browser = at_host(provider, host)
    page = await browser.open((await browser.authorize()).headers["location"])
    start = re.search(r'href="(/projects/[^"]+/auth/providers/GITHUB/start[^"]*)"', html.unescape(page.text))[1]
    begun = await browser.open(start)
    query = dict(parse_qsl(urlsplit(begun.headers["location"]).query))
    assert query["redirect_uri"] == callback
    refused = await browser.open(f"{callback}?state={query['state']}&error=access_denied")
    assert refused.headers["location"].startswith(f"http://{host}:{PORT}/projects/{project.id}/oauth/continue?")
    assert "error=access_denied" in refused.headers["location"]


async def test_only_names_below_a_verified_domain_are_accepted(provider, zone, world, label, new_project):
    project, other = provider.project, await new_project()
    path = "/settings/signIn/pagesDomain"
    assert error_of(await change(project, f"login.{label}")) == (path, "domain_not_verified")
    pending = (await project.client.post("/domains", {"domain": label})).json()
    assert error_of(await change(project, f"login.{label}")) == (path, "domain_not_verified")
    await verified_domain(other, zone, label)
    assert error_of(await change(project, f"login.{label}")) == (path, "domain_not_verified"), "of another project"
    for record in pending["records"]:
        zone.add(record["name"], record["type"], record["value"])
    await project.client.post(f"/domains/{pending['id']}/verify")
    async with world.db.connection() as connection:
        await connection.execute("update domains set tracking_verified = true where id = %s", [pending["id"]])
    for name, code in (
        (label, "domain_not_verified"),
        ("127.0.0.1", "invalid_domain"),
        ("localhost", "invalid_domain"),
        (f"a_b.{label}", "invalid_domain"),
        (f"login.{label}:8025", "invalid_domain"),
        (f"links.{label}", "taken"),
    ):
        assert error_of(await change(project, name)) == (path, code), name
    same = await change(project, f"t.{label}", trackingDomain=f"T.{label}")
    assert error_of(same) == ("/settings/trackingDomain", "taken")
    assert (await change(other, None, trackingDomain=f"go.{label}")).status_code == 200
    assert error_of(await change(project, f"go.{label}")) == (path, "taken")

    assert (await change(project, f"a.login.{label}")).status_code == 200
    assert (await change(project, f"a.login.{label}")).status_code == 200, "the own name"
    assert error_of(await change(other, f"A.login.{label}")) == (path, "taken")
    tracked = await change(other, None, trackingDomain=f"A.login.{label}")
    assert error_of(tracked) == ("/settings/trackingDomain", "taken")
    assert (await change(project, None)).status_code == 200
    assert (await change(other, f"a.login.{label}")).status_code == 200


async def test_of_two_projects_that_set_a_name_at_once_one_gets_it(provider, zone, label, new_project):
    projects = [provider.project, *[await new_project() for _ in range(3)]]
    for project in projects:
        await verified_domain(project, zone, label)
    answers = await asyncio.gather(*(change(project, f"login.{label}") for project in projects))
    assert sorted(answer.status_code for answer in answers) == [200, 400, 400, 400]
    assert {error_of(answer) for answer in answers if answer.status_code != 200} == {
        ("/settings/signIn/pagesDomain", "taken")
    }
    names = [(await project.developer.get("")).json()["settings"]["signIn"]["pagesDomain"] for project in projects]
    assert sorted(name or "" for name in names) == ["", "", "", f"login.{label}"]


async def test_no_app_and_no_api_is_at_the_host(provider, served, new_project):
    host, _ = served
    for project in (provider.project, await new_project()):
        opened = {"clientRegistration": "OPEN", "clientMetadataDocuments": True}
        assert (await project.developer.patch("", {"settings": {"signIn": opened}})).status_code == 200
        query = urlencode({**provider.request(), "client_id": f"https://{host}/client.json"})
        document = await provider.auth.client.get(f"/projects/{project.id}/oauth/authorize?{query}")
        assert document.status_code == 400
        assert "no client is at the host of this server" in document.text
        body = {"redirect_uris": [f"https://{host.upper()}./callback"]}
        registered = await provider.auth.client.post(f"/projects/{project.id}/oauth/register", body)
        assert (registered.status_code, registered.json()["error"]) == (400, "invalid_redirect_uri")
        api = {"identifier": f"https://{host}/mcp", "name": "Notes", "scopes": []}
        assert error_of(await project.developer.post("/oauth-resources", api))[0] == "/identifier"


async def test_single_sign_on_returns_to_the_host(provider, served, connected):
    host, _ = served
    address = connected.address()
    browser = at_host(provider, host)
    browser.address = address
    page = await browser.open((await browser.authorize()).headers["location"])
    onwards = await browser.submit(page, email=address)
    url = lxml.html.fromstring(onwards.text).xpath("//a/@href")[0]
    assert url.startswith(f"{ISSUER}/sso/saml/{connected.connection['id']}/login"), "what the identity provider knows"
    sso = connected.browser()
    started = await sso.client.get(url)
    returned = await sso.post(*sso.idp_response(started.headers["location"], address))
    assert returned.headers["location"].startswith(f"http://{host}:{PORT}/projects/{provider.project.id}/oauth/")
    consent = await browser.finish(returned)
    tokens = await provider.exchange(parameters_of(await browser.submit(consent, decision="allow"))["code"])
    claims = await provider.verified(tokens.json()["id_token"], provider.oauth_client["clientId"])
    assert claims["email"] == address


async def test_a_name_of_the_server_is_refused(provider, zone, world, label, monkeypatch):
    await verified_domain(provider.project, zone, label)
    monkeypatch.setattr(type(world.settings), "mx_name", f"mx.{label}")
    assert error_of(await change(provider.project, f"mx.{label}")) == ("/settings/signIn/pagesDomain", "not_allowed")


@pytest.mark.parametrize("reason", ["domain deleted", "verification lost", "project deleted"])
async def test_a_name_without_its_domain_is_not_served(provider, served, world, zone, new_project, reason):
    host, domain_id = served
    project, domains = provider.project, world.resources[PagesDomains]
    page = f"/projects/{project.id}/auth/pages/forgot"
    client = at(provider.auth.app, host)
    allowed = f"{certificates.ALLOWED_PATH}?domain={host}"
    assert (await client.http.get(page)).status_code == 200
    assert (await provider.auth.client.http.get(allowed)).status_code == 200
    if reason == "domain deleted":
        assert (await project.client.delete(f"/domains/{domain_id}")).status_code == 200
    elif reason == "verification lost":
        async with world.db.connection() as connection:
            await connection.execute("update domains set status = 'DEGRADED' where id = %s", [domain_id])
    else:
        async with world.db.connection() as connection:
            await connection.execute("update projects set deleted_at = now() where id = %s", [project.id])
    await domains.reload()
    assert (await provider.auth.client.http.get(allowed)).status_code == 404
    assert domains.name_of(as_id(project.id)) is None
    assert (await client.http.get(page)).status_code == 404
    other = await new_project()
    await verified_domain(other, zone, host.partition(".")[2])
    assert (await change(other, host)).status_code == 200, "a name that is not served can be taken over"
    await domains.reload()
    assert (await client.http.get(f"/projects/{other.id}/auth/pages/forgot")).status_code == 200
    if reason != "project deleted":
        assert (await project.developer.get("")).json()["settings"]["signIn"]["pagesDomain"] is None
        metadata = (await provider.auth.client.get(f"/projects/{project.id}/.well-known/openid-configuration")).text
        assert host not in metadata


async def test_passkeys_of_the_host_need_its_passkey_domain(provider, served, world):
    host, _ = served
    project_id = as_id(provider.project.id)
    call = Call(world, world.db, ANONYMOUS, world.clock(), "", Origin("127.0.0.1", ""), project_id)
    browser = at_host(provider, host)
    sign_in = (await browser.authorize()).headers["location"]
    assert "passkey.js" not in (await browser.open(sign_in)).text
    await provider.auth.settings(passkeyDomain=host.partition(".")[2])
    assert "passkey.js" in (await browser.open(sign_in)).text
    party = relying_party(call, await require_project(world.db, project_id))
    assert f"http://{host}:{PORT}" in party.origins


async def test_without_a_name_nothing_changes(provider, world):
    await world.resources[PagesDomains].reload()
    begun = await provider.browser().authorize(redirect_uri=REDIRECT_URI, code_challenge=CHALLENGE)
    assert begun.headers["location"].startswith(f"{ISSUER}/projects/{provider.project.id}/auth/pages/sign-in?")
