"""An administrator without an account verifies a domain, and sets up, tests and activates single sign-on."""

import re
from datetime import timedelta
from uuid import uuid4

import lxml.html
import pytest

from postern.identity.setup_links.guides import GUIDES
from tests.conftest import Client
from tests.identity.customers.test_providers import provider, settings
from tests.identity.setup_links.conftest import Administrator
from tests.identity.sso.conftest import Browser
from tests.identity.sso.test_oidc_sign_on import OidcBrowser

__all__ = ["provider", "settings"]


def text_of(response):
    return " ".join(lxml.html.fromstring(response.text).text_content().split())


def values_of(response):
    """The values to copy, by the names of their fields."""
    pairs = lxml.html.fromstring(response.text).xpath("//dl/dt")
    return {dt.text_content(): dt.getnext().text_content() for dt in pairs}


def field_of(response, name):
    """The value of a field of a form."""
    return lxml.html.fromstring(response.text).xpath("//input[@name=$name]/@value", name=name)[0]


async def audit_actions(acme):
    entries = (await acme.directory.project.developer.get("/account/audit-log?limit=100")).json()["data"]
    return {entry["action"]: entry for entry in reversed(entries)}


async def with_test(administrator, email=None):
    """Test the connection of the link at the identity provider. Returns the page with the result."""
    acme = administrator.acme
    acme.connection = {"id": (await administrator.stored())["ssoConnectionId"]}
    page = await administrator.post("/sso", action="test")
    (url,) = lxml.html.fromstring(page.text).xpath("//a[@target='_blank']/@href")
    browser = Browser(acme)
    started = await browser.client.get(url)
    assert started.status_code == 302, started.text
    await browser.post(*browser.idp_response(started.headers["location"], email or acme.address("maria")))
    return await administrator.get("/sso")


async def test_an_administrator_sets_up_domain_and_saml(administrator, acme, zone):
    link = await administrator.create(email="admin@acme.example")
    assert (link["status"], link["openedAt"], link["steps"]) == ("PENDING", None, ["DOMAIN", "SSO", "SCIM"])
    opened = await administrator.open()
    assert (opened.status_code, opened.headers["referrer-policy"]) == (303, "no-referrer")
    assert "token" not in opened.headers["location"]
    cookie = opened.headers["set-cookie"]
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    assert "Verify your domain" in text_of(await administrator.get())

    # The domain.
    name = f"{uuid4().hex[:10]}.example"
    page = await administrator.done("/domain", action="add", domain=f" {name} ")
    record = values_of(page)
    assert record["Name"] == f"_postern-verification.{name}"
    domain_id = lxml.html.fromstring(page.text).xpath("//input[@name='domainId']/@value")[0]
    assert "not found" in text_of(await administrator.done("/domain", action="check", domainId=domain_id))
    zone.add(record["Name"], "TXT", record["Value"])
    assert text_of(await administrator.done("/domain", action="check", domainId=domain_id)).count("Verified") == 2

    # The connection.
    acme.domain = {"domain": name}
    page = await administrator.done("/sso", action="choose", provider="OKTA", domain=name)
    connection_id = (await administrator.stored())["ssoConnectionId"]
    values = values_of(page)
    acme.connection = {"id": connection_id}
    stored = (await acme.client.get(acme.connection_path)).json()
    assert values["Single sign-on URL"] == stored["spAcsUrl"]
    assert values["Audience URI (SP Entity ID)"] == stored["spEntityId"]
    assert (stored["status"], stored["name"], stored["domain"]) == ("DRAFT", "Okta", name)
    refused = await administrator.post("/sso", action="activate")
    assert (refused.status_code, "Test the sign-in" in text_of(refused)) == (409, True)
    metadata = acme.idp.metadata().decode()
    page = await administrator.done("/sso", action="save", metadataXml=metadata)
    assert acme.idp.entity_id in values_of(page)["Entity ID"]

    # A failed test names the check; then it succeeds, and the connection is activated.
    failed = await with_test(administrator, "maria@elsewhere.example")
    assert "The last test failed" in text_of(failed)
    assert lxml.html.fromstring(failed.text).xpath("//ol[@class='checks']/li[@class='failed']")
    assert (await administrator.post("/sso", action="activate")).status_code == 409
    assert "The last test succeeded" in text_of(await with_test(administrator))
    assert "is active" in text_of(await administrator.done("/sso", action="activate"))
    assert (await acme.client.get(acme.connection_path)).json()["status"] == "ACTIVE"

    # What the link must not change any more, and the end of the link.
    for form in (
        {"action": "save", "metadataXml": metadata},
        {"action": "choose", "provider": "OIDC", "domain": name},
    ):
        refused = await administrator.post("/sso", **form)
        assert (refused.status_code, "active" in text_of(refused)) == (409, True)
    refused = await administrator.post("/domain", action="remove", domainId=domain_id)
    assert refused.status_code == 403
    finished = await administrator.post("/finish")
    assert "is complete" in text_of(finished)
    assert (await administrator.get()).status_code == 409
    assert (await administrator.stored())["status"] == "COMPLETED"
    actions = await audit_actions(acme)
    by_link = {name for name, entry in actions.items() if entry["actorType"] == "SETUP_LINK"}
    assert by_link >= {
        *("setup_link.opened", "setup_link.completed", "organization_domain.created", "sso_connection.created"),
        *("sso_connection.updated", "sso_connection.test_started", "sso_connection.activated"),
    }
    assert actions["setup_link.opened"]["actorEmail"] == "admin@acme.example"
    for type_ in ("setup_link.created", "setup_link.opened", "setup_link.completed"):
        (event,) = await acme.directory.events(type_)
        assert event["data"]["organizationId"] == acme.organization["id"]


async def test_the_instructions_of_each_provider_show_the_values_of_the_connection(administrator, acme):
    await administrator.begin()
    for key, guide in GUIDES.items():
        page = await administrator.done("/sso", action="choose", provider=key, domain=acme.domain["domain"])
        acme.connection = {"id": (await administrator.stored())["ssoConnectionId"]}
        stored = (await acme.client.get(acme.connection_path)).json()
        expected = {
            "entity_id": stored["spEntityId"],
            "acs_url": stored["spAcsUrl"],
            "metadata_url": stored["spMetadataUrl"],
            "idp_entity_id": f"{stored['spEntityId']}/jumpcloud",
            "redirect_url": stored["oidcRedirectUrl"],
            "post_logout_redirect_url": stored["oidcPostLogoutRedirectUrl"],
        }
        assert values_of(page) == entered(guide.sso, expected), key
        shown = values_of(await administrator.post("/scim", action="connect"))
        token = next((value for value in shown.values() if value.startswith("scim_")), None)
        assert (token is None) == (guide.scim == []), key
        connection_id = (await administrator.stored())["directoryConnectionId"]
        path = f"/b2b/organizations/{acme.organization['id']}/directory-connections/{connection_id}"
        base_url = (await acme.client.get(path)).json()["baseUrl"] if token else None
        assert shown == entered(guide.scim, {"base_url": base_url, "token": token}), key


def entered(steps, values):
    """What the steps of a guide let an administrator enter, by the names of the fields."""
    pairs = [pair for step in steps for pair in step.values]
    return {label: values[value[1:-1]] if value.startswith("{") else value for label, value in pairs}


async def test_an_administrator_sets_up_openid_connect(administrator, acme, provider):
    await administrator.begin(steps=["SSO"])
    assert (await administrator.get("/domain")).status_code == 403
    assert (await administrator.post("/domain", action="add", domain="other.example")).status_code == 403
    domain = acme.domain["domain"]
    await administrator.done("/sso", action="choose", provider="ENTRA", domain=domain)
    saml_id = (await administrator.stored())["ssoConnectionId"]
    # Another protocol replaces the draft of this link.
    page = await administrator.done("/sso", action="choose", provider="OIDC", domain=domain)
    connection_id = (await administrator.stored())["ssoConnectionId"]
    connections = (await acme.client.get(acme.connections_path)).json()
    assert [connection["id"] for connection in connections] == [connection_id] != [saml_id]
    assert values_of(page)["Redirect URI"] == connections[0]["oidcRedirectUrl"]
    incomplete = await administrator.post("/sso", action="save", issuer=provider.issuer, clientId="client")
    assert (incomplete.status_code, field_of(incomplete, "issuer")) == (400, provider.issuer)
    page = await administrator.done(
        "/sso", action="save", issuer=provider.issuer, clientId="client", clientSecret="hush-hush"
    )
    assert "hush-hush" not in page.text
    acme.connection = (await acme.client.get(f"{acme.connections_path}/{connection_id}")).json()
    page = await administrator.post("/sso", action="test")
    (url,) = lxml.html.fromstring(page.text).xpath("//a[@target='_blank']/@href")
    browser = OidcBrowser(acme, provider)
    provider.claims = {"email": acme.address("maria"), "email_verified": True, "sub": "maria"}
    await browser.answer((await browser.client.get(url)).headers["location"])
    assert "The last test succeeded" in text_of(await administrator.get("/sso"))
    assert "is active" in text_of(await administrator.done("/sso", action="activate"))


@pytest.mark.parametrize(
    ("form", "status", "message"),
    [
        ({"metadataUrl": "https://127.0.0.1/metadata"}, 400, "could not be fetched"),
        ({"metadataXml": "<html/>"}, 400, "not the metadata"),
        ({"metadataXml": "<!DOCTYPE x><x/>"}, 400, "not the metadata"),
        ({"metadataXml": "x" * 200_000}, 400, "check what you entered"),
        ({}, 400, "Fill in all fields"),
    ],
)
async def test_wrong_metadata_is_explained(administrator, acme, form, status, message):
    await administrator.begin(steps=["SSO"])
    await administrator.done("/sso", action="choose", provider="GOOGLE", domain=acme.domain["domain"])
    refused = await administrator.post("/sso", action="save", **form)
    assert (refused.status_code, message in text_of(refused)) == (status, True), refused.text


async def test_the_link_reaches_only_its_organization(administrator, acme, app):
    """Connections and domains of others, also of the same organization, are out of reach."""
    await acme.connect(active=False)
    other = await acme.directory.organization("Other")
    foreign = await acme.directory.domain(other, f"{uuid4().hex[:10]}.example")
    await administrator.begin()
    shown = await administrator.get("/sso")
    assert acme.connection["id"] not in shown.text
    for action in ("save", "test", "activate"):
        assert (await administrator.post("/sso", action=action, metadataUrl="https://x.example")).status_code == 404
    for action in ("check", "remove"):
        assert (await administrator.post("/domain", action=action, domainId=foreign["id"])).status_code == 404
    chosen = await administrator.post("/sso", action="choose", provider="OKTA", domain=foreign["domain"])
    assert chosen.status_code == 400
    assert (await administrator.post("/domain", action="remove", domainId=acme.domain["id"])).status_code == 403
    assert (await acme.client.get(acme.connection_path)).json()["status"] == "DRAFT"
    # The cookie is no credential of the API.
    path = f"/projects/{acme.directory.project.id}{acme.connections_path}"
    assert (await administrator.client.get(path)).status_code == 401


async def test_a_leaked_link_is_of_no_use_after_it_was_opened(administrator, acme, app):
    await administrator.begin()
    thief = Administrator(acme, Client(app), administrator.link)
    refused = await thief.open()
    assert (refused.status_code, "another browser" in text_of(refused)) == (403, True)
    assert (await thief.get()).status_code == 404
    # The browser that has opened it continues with the same link.
    assert (await administrator.open()).status_code == 303
    wrong = await thief.client.get(f"{administrator.path.rpartition('/')[0]}?token={administrator.link['id']}x")
    assert wrong.status_code == 404


async def test_opening_the_page_does_not_use_the_link(administrator, acme):
    """Mail scanners open links."""
    link = await administrator.create(email="admin@acme.example")
    path = administrator.path.rpartition("/")[0]
    await Client(acme.app).get(f"{path}?{link['url'].partition('?')[2]}")
    assert (await administrator.stored())["status"] == "PENDING"
    assert (await administrator.open()).status_code == 303


async def test_a_revoked_and_an_expired_link_stop_at_once(administrator, acme, clock):
    await administrator.begin(expiresInDays=1)
    path = f"/b2b/organizations/{acme.organization['id']}/setup-links/{administrator.link['id']}"
    revoked = await acme.client.delete(path)
    assert (revoked.json()["status"], (await acme.client.delete(path)).status_code) == ("REVOKED", 409)
    assert (await administrator.get()).status_code == 409
    assert (await administrator.post("/domain", action="add", domain="x.example")).status_code == 409
    await administrator.begin(expiresInDays=1)
    clock.move(timedelta(days=1))
    closed = await administrator.get("/sso")
    assert (closed.status_code, "has expired" in text_of(closed)) == (409, True)


async def test_a_form_of_another_website_is_refused(administrator):
    await administrator.begin()
    administrator.headers = {"origin": "https://evil.example", "sec-fetch-site": "cross-site"}
    assert (await administrator.post("/domain", action="add", domain="x.example")).status_code == 403
    assert (await administrator.post("/finish")).status_code == 403


async def test_a_new_link_continues_what_an_earlier_one_began(administrator, acme):
    await administrator.begin(steps=["SSO"])
    await administrator.done("/sso", action="choose", provider="JUMPCLOUD", domain=acme.domain["domain"])
    before = await administrator.stored()
    await administrator.begin(steps=["SSO"])
    assert (await administrator.stored())["ssoConnectionId"] == before["ssoConnectionId"] is not None
    assert "JumpCloud" in text_of(await administrator.get("/sso"))
    # The developer has deleted the connection: the page asks for the provider again.
    assert (await acme.client.delete(f"{acme.connections_path}/{before['ssoConnectionId']}")).status_code == 200
    assert "Which identity provider" in text_of(await administrator.get("/sso"))


async def test_the_link_is_mailed_and_shown_once(administrator, auth):
    link = await administrator.create(email="Admin@acme.example", expiresInDays=30)
    (mail,) = await auth.mails("Admin@acme.example")
    assert "Set up Acme for" in mail["subject"]
    assert link["url"] in mail["text"]
    listed = await administrator.acme.client.get(
        f"/b2b/organizations/{administrator.acme.organization['id']}/setup-links"
    )
    assert "url" not in listed.json()[0]
    assert listed.json()[0]["email"] == "Admin@acme.example"


async def test_creating_a_link_needs_the_permissions_that_it_gives(administrator, acme):
    path = f"/b2b/organizations/{acme.organization['id']}/setup-links"
    client = await acme.directory.project.key("organizations:write")
    assert (await client.post(path, {"steps": ["DOMAIN"]})).status_code == 201
    assert (await client.post(path, {"steps": ["SSO"]})).status_code == 403
    assert (await client.post(path, {"steps": ["SCIM"]})).status_code == 403
    for body in ({"expiresInDays": 31}, {"steps": []}, {"email": "x"}, {"assignableRoles": ["NOBODY"]}):
        assert (await acme.client.post(path, body)).status_code in (400, 422), body
    links = [await acme.client.post(path, {"steps": ["DOMAIN"]}) for _ in range(10)]
    assert [link.status_code for link in links] == [201] * 9 + [422]


async def test_pages_are_translated_and_have_no_scripts(administrator, acme):
    await administrator.begin()
    page = await administrator.done("/sso?lang=de", action="choose", provider="ENTRA", domain=acme.domain["domain"])
    document = lxml.html.fromstring(page.text)
    assert document.get("lang") == "de"
    assert "App Federation Metadata Url" in text_of(page)
    assert not document.xpath("//script")
    assert re.search(r"form-action 'self'", page.headers["content-security-policy"])
