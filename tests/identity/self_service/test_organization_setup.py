"""An owner sets up domain, single sign-on and directory on the page of the organization: who can, and for how long."""

import html
from datetime import timedelta
from urllib.parse import parse_qsl, urlencode, urlsplit

import pytest

from tests.identity.self_service.conftest import (
    APP_URL,
    Visitor,
    asks_to_sign_in,
    done_of,
    entered,
    heading,
    path_of,
    problem_of,
    section_of,
)

FORM = {"content-type": "application/x-www-form-urlencoded"}
ENDED = "You are no longer signed in as an owner."


@pytest.fixture
async def owner(auth, acme):
    """The organization, its OWNER, the browser of the OWNER and the overview of the setup that was begun there."""
    organization, browsers = acme
    await auth.settings(organizationSetup=True)
    customer, browser = browsers["OWNER"]
    page = await entered(browsers["OWNER"], organization)
    setup = await browser.submit(page, "/setup")
    assert setup.response.status_code == 200, setup.text
    return organization, customer, browser, setup


async def links_of(auth, organization):
    return (await auth.project.client.get(f"/b2b/organizations/{organization['id']}/setup-links")).json()


def pages_of(setup):
    """The path of the setup, below the pages."""
    (path,) = {path.rpartition("/")[0] for link in setup.links if (path := urlsplit(link).path).endswith("/domain")}
    return path


def forget_setup(browser):
    """Delete the cookie of the setup, as in another browser."""
    jar = browser.client.http.cookies
    for name in [cookie.name for cookie in jar.jar if "setup" in cookie.name]:
        jar.delete(name)


async def test_an_owner_sets_up_and_comes_back(auth, owner):
    organization, customer, browser, setup = owner
    assert all(part in setup.text for part in ("Verify your domain", "Set up single sign-on", "Connect your directory"))
    domain = Visitor.page(await browser.send("GET", f"{pages_of(setup)}/domain"))
    added = await browser.submit(domain, "/domain", domain="acme-setup.example")
    assert "postern-verification=" in added.text
    body = urlencode({"action": "connect"})
    connected = await browser.send("POST", f"{pages_of(setup)}/scim", content=body, headers=FORM)
    assert "scim_" in connected.text
    back = await browser.submit(setup, "/finish")
    assert heading(back) == "Acme & Sons"
    assert "acme-setup.example" in back.text
    shown = section_of(back, "sign-in")
    assert "SCIM 0 people · The directory has not sent a request yet" in shown
    (link,) = await links_of(auth, organization)
    assert (link["status"], link["email"]) == ("COMPLETED", None)
    entries = (await auth.project.developer.get(f"/account/audit-log?projectId={auth.project.id}")).json()["data"]
    by = {entry["action"]: (entry["actorType"], entry["actorId"]) for entry in entries}
    assert by["setup_link.created"] == ("CUSTOMER", customer["id"])
    assert by["organization_domain.created"] == ("SETUP_LINK", link["id"])


async def test_the_way_back_to_the_app_survives_the_setup(auth, acme):
    organization, browsers = acme
    await auth.settings(organizationSetup=True)
    customer, browser = browsers["OWNER"]
    back = {"returnUrl": APP_URL, "lang": "de"}
    page = await browser.sign_in(customer["email"], path=path_of(organization), **back)
    setup = await browser.submit(page, "/setup")
    (organization_link,) = {link for link in setup.links if "/organizations/" in link}
    assert dict(parse_qsl(urlsplit(organization_link).query)) == back
    (domain,) = {link for link in setup.links if "/domain" in link}
    shown = Visitor.page(await browser.send("GET", domain))
    added = await browser.submit(shown, "/domain", domain="acme-back.example")
    switched = next(link for link in added.links if "lang=fr" in link and "lang=de" not in link)
    overview = next(link for link in Visitor.page(await browser.send("GET", switched)).links if "/setup/" in link)
    finished = await browser.submit(Visitor.page(await browser.send("GET", overview)), "/finish")
    assert heading(finished) == "Acme & Sons"
    assert done_of(finished) == "La configuration est terminée."
    assert APP_URL in finished.links
    # The URL is only handed on, and only if it is one of the project's.
    evil = await browser.submit(await browser.open(path_of(organization)), "/setup")
    shown = await browser.send("GET", f"{pages_of(evil)}?{urlencode({'returnUrl': 'https://evil.example/'})}")
    assert (shown.status_code, "evil.example" in shown.text) == (200, False)


async def test_owners_are_not_sent_to_a_person_who_sent_a_link(auth, owner, clock):
    _, _, browser, setup = owner
    overview = f"{pages_of(setup)}?{urlencode({'returnUrl': APP_URL})}"

    async def notice():
        page = Visitor.page(await browser.send("GET", overview))
        assert "sent" not in html.unescape(page.text)
        (link,) = [link for link in page.links if "/organizations/" in link]
        assert dict(parse_qsl(urlsplit(link).query)) == {"returnUrl": APP_URL}
        return page.response.status_code, problem_of(page)

    clock.move(timedelta(days=1, seconds=1))
    assert await notice() == (409, "This setup is over.")
    forget_setup(browser)
    assert await notice() == (404, "This setup is over, or was begun in another browser.")


async def test_only_owners_and_only_if_the_project_permits_it(auth, acme):
    organization, browsers = acme
    page = await entered(browsers["OWNER"], organization)
    assert "To set it up or change it, ask Northwind." in section_of(page, "sign-in")
    owner, path = browsers["OWNER"][1], f"/{path_of(organization, '/setup')}"
    refused = await owner.send("POST", path, content=urlencode(page.hidden()), headers=FORM)
    assert refused.status_code == 403, "the project has not switched it on"
    await auth.settings(organizationSetup=True)
    shown = await entered(browsers["ADMIN"], organization)
    assert "Only an owner can set it up or change it." in section_of(shown, "sign-in")
    admin = browsers["ADMIN"][1]
    assert (await admin.send("POST", path, content=urlencode(shown.hidden()), headers=FORM)).status_code == 403
    forged = await owner.send("POST", path, content=urlencode({"formToken": "x"}), headers=FORM)
    assert forged.status_code == 403, "a form of another page"
    assert await links_of(auth, organization) == []


async def test_it_ends_with_the_role_the_session_and_the_setting(auth, owner):
    organization, customer, browser, setup = owner
    client, page = auth.project.client, f"{pages_of(setup)}/sso"

    async def shown():
        return Visitor.page(await browser.send("GET", page))

    assert (await shown()).response.status_code == 200
    other = await Visitor(auth).send("GET", page)
    assert other.status_code == 404, "another browser"
    member = f"/b2b/organizations/{organization['id']}/members/{customer['id']}"
    second = f"/b2b/organizations/{organization['id']}/members"
    (admin,) = [row for row in (await client.get(second)).json() if row["roles"] == ["ADMIN"]]
    assert (await client.patch(f"{second}/{admin['customerId']}", {"roles": ["OWNER"]})).status_code == 200
    assert (await client.patch(member, {"roles": ["ADMIN"]})).status_code == 200
    ended = await shown()
    assert (ended.response.status_code, problem_of(ended)[: len(ENDED)]) == (403, ENDED)
    body = urlencode({"action": "add", "domain": "late.example"})
    late = await browser.send("POST", f"{pages_of(setup)}/domain", content=body, headers=FORM)
    assert late.status_code == 403
    assert (await client.get(f"/b2b/organizations/{organization['id']}/domains")).json() == []
    assert (await client.patch(member, {"roles": ["OWNER"]})).status_code == 200
    assert (await shown()).response.status_code == 200
    await auth.settings(organizationSetup=False)
    assert (await shown()).response.status_code == 403
    await auth.settings(organizationSetup=True)
    assert (await client.post(f"/customers/{customer['id']}/ban", {})).status_code == 200
    assert (await shown()).response.status_code == 403
    assert (await client.post(f"/customers/{customer['id']}/unban", {})).status_code == 200
    assert (await shown()).response.status_code == 403, "the ban has ended the session"


async def test_signing_out_ends_it(owner):
    _, _, browser, setup = owner
    account = await browser.open("account")
    await browser.submit(account, "/sign-out")
    assert (await browser.send("GET", f"{pages_of(setup)}/domain")).status_code == 403


async def test_begun_again_it_goes_on_in_this_browser_and_replaces_that_of_another(auth, owner):
    organization, customer, browser, setup = owner
    page = await browser.open(path_of(organization))
    for _ in range(3):
        again = await browser.submit(page, "/setup")
        assert pages_of(again) == pages_of(setup)
    (link,) = await links_of(auth, organization)
    forget_setup(browser)
    other = await browser.submit(page, "/setup")
    assert pages_of(other) != pages_of(setup)
    assert [row["status"] for row in await links_of(auth, organization)] == ["OPENED", "REVOKED"]
    events = (await auth.project.client.get("/events?type=setup_link.revoked")).json()["data"]
    assert [event["subjectId"] for event in events] == [link["id"]]
    entries = (await auth.project.developer.get(f"/account/audit-log?projectId={auth.project.id}")).json()["data"]
    opened = [entry["actorEmail"] for entry in entries if entry["action"] == "setup_link.opened"]
    assert opened == [customer["email"]] * 2


async def test_beginning_is_limited_and_ended_sessions_do_not_use_up_the_links(auth, owner):
    organization, customer, browser, _ = owner
    page = await browser.open(path_of(organization))
    for number in range(10):
        forget_setup(browser)
        begun = await browser.submit(page, "/setup")
        assert begun.response.status_code == (200 if number < 9 else 429)
    assert (await auth.project.client.post(f"/customers/{customer['id']}/sessions/revoke-all", {})).status_code < 300
    path = f"/b2b/organizations/{organization['id']}/setup-links"
    for _ in range(10):
        assert (await auth.project.client.post(path, {"steps": ["DOMAIN"]})).status_code == 201
    assert (await auth.project.client.post(path, {"steps": ["DOMAIN"]})).status_code == 422


async def test_using_it_keeps_the_session_and_new_requirements_end_it(auth, owner, clock):
    organization, _, browser, setup = owner
    path = f"/b2b/organizations/{organization['id']}"
    assert (await auth.project.client.patch(path, {"sessionIdleMinutes": 30})).status_code == 200
    for _ in range(3):
        clock.move(timedelta(minutes=20))
        assert (await browser.send("GET", f"{pages_of(setup)}/domain")).status_code == 200
    assert (await auth.project.client.patch(path, {"requireMfa": True})).status_code == 200
    assert (await browser.send("GET", f"{pages_of(setup)}/domain")).status_code == 403


async def test_an_old_session_must_sign_in_again(acme, auth, clock):
    organization, browsers = acme
    await auth.settings(organizationSetup=True)
    page = await entered(browsers["OWNER"], organization)
    clock.move(timedelta(hours=2))
    confirm = await browsers["OWNER"][1].submit(page, "/setup")
    assert confirm.response.status_code == 403
    assert await links_of(auth, organization) == []
    again = await browsers["OWNER"][1].open(path_of(organization))
    assert not asks_to_sign_in(again), "the session itself goes on"
