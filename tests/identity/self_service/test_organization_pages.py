"""The pages of an organization: who may see and change what, and what happens to those who may not."""

import html
from datetime import datetime
from urllib.parse import urlencode
from uuid import uuid4

from postern.web.languages import format_moment
from tests.identity.self_service.conftest import (
    Visitor,
    asks_to_sign_in,
    done_of,
    entered,
    heading,
    new_address,
    path_of,
    problem_of,
    section_of,
)
from tests.peers.identity_provider import IdentityProvider, Person

FORM = {"content-type": "application/x-www-form-urlencoded"}


async def test_a_member_without_permission_sees_a_plain_page(auth, acme, directory):
    organization, browsers = acme
    page = await entered(browsers["MEMBER"], organization)
    assert heading(page) == "Acme & Sons"
    assert "Your role does not allow you to manage this organization." in html.unescape(page.text)
    assert "Owner Person" not in page.text
    owner, browser = browsers["OWNER"][0], browsers["MEMBER"][1]
    for more in (f"/members/{owner['id']}", f"/members/{owner['id']}/remove", "/rules"):
        refused = await browser.open(path_of(organization, more))
        assert refused.response.status_code == 403
        assert problem_of(refused) == "Your role in this organization does not allow this."
    token = page.hidden() or (await browser.open("account")).hidden()
    for more in ("/invitations", "/domains", f"/members/{owner['id']}/remove", "/rules"):
        body = urlencode({**token, "email": new_address(), "domain": "acme.example", "role": "OWNER"})
        url = f"/{path_of(organization, more)}"
        assert (await browser.send("POST", url, content=body, headers=FORM)).status_code == 403, more
    other = await directory.organization("Other")
    assert (await browser.open(path_of(other))).response.status_code == 404, "of others they learn nothing"
    assert (await browser.open("organizations/nonsense")).response.status_code == 404


async def test_people_are_found_changed_and_removed(auth, acme, directory):
    organization, browsers = acme
    page = await entered(browsers["ADMIN"], organization)
    browser = browsers["ADMIN"][1]
    member, owner = browsers["MEMBER"][0], browsers["OWNER"][0]
    assert "3 people" in page.text
    assert any(f"/members/{member['id']}" in link for link in page.links)
    assert not any(f"/members/{owner['id']}" in link for link in page.links), "an administrator cannot change an owner"
    matches = await browser.open(path_of(organization), q="MEMBER pers")
    assert "Member Person" in matches.text
    assert "Owner Person" not in matches.text
    assert "Nobody matches" in (await browser.open(path_of(organization), q="<nobody>")).text
    change = await browser.open(path_of(organization, f"/members/{member['id']}"))
    assert 'value="OWNER"' not in change.text
    for role, status in (("OWNER", 403), ("nonsense", 403)):
        refused = await browser.submit(change, f"/members/{member['id']}", role=role)
        assert refused.response.status_code == status
    changed = await browser.submit(change, f"/members/{member['id']}", role="ADMIN")
    assert done_of(changed) == "The role was changed."
    for more in (f"/members/{owner['id']}", f"/members/{browsers['ADMIN'][0]['id']}"):
        assert (await browser.open(path_of(organization, more))).response.status_code == 403
    removal = await browser.open(path_of(organization, f"/members/{member['id']}/remove"))
    assert done_of(await browser.submit(removal, "/remove")).startswith("The person no longer belongs")
    assert (await browser.submit(removal, "/remove")).response.status_code == 404, "sent twice"
    log = (await auth.project.developer.get(f"/account/audit-log?projectId={auth.project.id}")).json()["data"]
    entry = next(entry for entry in log if entry["action"] == "member.removed")
    assert (entry["actorType"], entry["actorId"]) == ("CUSTOMER", browsers["ADMIN"][0]["id"])


async def test_a_permission_that_is_lost_before_the_form_is_sent(auth, acme):
    organization, browsers = acme
    admin, browser = browsers["ADMIN"]
    page = await entered(browsers["ADMIN"], organization)
    path = f"/b2b/organizations/{organization['id']}/members/{admin['id']}"
    assert (await auth.project.client.patch(path, {"roles": ["MEMBER"]})).status_code == 200
    address = new_address()
    refused = await browser.submit(page, "/invitations", email=address)
    assert (refused.response.status_code, problem_of(refused)) == (
        403,
        "Your role in this organization does not allow this.",
    )
    assert (await auth.project.client.get(f"/b2b/organizations/{organization['id']}/invitations")).json() == []
    assert (await auth.project.client.delete(path)).status_code == 200
    assert (await browser.submit(page, "/invitations", email=address)).response.status_code == 404


async def test_people_are_invited(auth, acme, clock):
    from datetime import timedelta

    organization, browsers = acme
    page = await entered(browsers["OWNER"], organization)
    browser, address = browsers["OWNER"][1], new_address()
    wrong = await browser.submit(page, "/invitations", email="nonsense", role="MEMBER")
    assert (wrong.response.status_code, 'value="nonsense"' in wrong.text) == (400, True)
    invited = await browser.submit(page, "/invitations", email=address, role="ADMIN")
    assert done_of(invited) == "The invitation was sent."
    assert "Acme" in (await auth.mails(address))[-1]["subject"]
    twice = await browser.submit(page, "/invitations", email=address, role="ADMIN")
    assert (twice.response.status_code, problem_of(twice)) == (409, "This address is invited already.")
    soon = await browser.submit(invited, "/resend")
    assert soon.response.status_code == 429
    clock.move(timedelta(minutes=2))
    assert done_of(await browser.submit(invited, "/resend")) == "The invitation was sent again."
    assert done_of(await browser.submit(invited, "/revoke")) == "The invitation was withdrawn."
    assert (await browser.submit(invited, "/revoke")).response.status_code == 409


async def test_domains_are_added_confirmed_and_removed(acme, directory):
    organization, browsers = acme
    page = await entered(browsers["OWNER"], organization)
    browser = browsers["OWNER"][1]
    refused = await browser.submit(page, "/domains", domain="gmail.com")
    assert problem_of(refused) == "Anyone can get an address at this domain. Enter the domain of your organization."
    added = await browser.submit(page, "/domains", domain="acme-pages.example")
    assert done_of(added).startswith("The domain was added.")
    assert "postern-verification=" in added.text
    missing = await browser.submit(added, "/verify")
    assert done_of(missing).startswith("The record was not found.")
    listed = (await directory.project.client.get(f"/b2b/organizations/{organization['id']}/domains")).json()
    directory.publish(listed[0])
    confirmed = await browser.submit(missing, "/verify")
    assert done_of(confirmed) == "The domain is confirmed."
    joins = await browser.submit(confirmed, "/join")
    assert "Turn joining off" in joins.text
    removal = await browser.open(path_of(organization, f"/domains/{listed[0]['id']}/remove"))
    assert done_of(await browser.submit(removal, "/remove")) == "The domain was removed."
    assert (await browser.submit(removal, "/remove")).response.status_code == 404


async def test_the_sign_in_rules_change(auth, acme):
    organization, browsers = acme
    page = await entered(browsers["OWNER"], organization, "/rules")
    browser = browsers["OWNER"][1]
    assert (await browser.submit(page, "/rules", lifetime="", idle="")).response.status_code == 400, "no method"
    methods = {"methodPASSWORD": "1", "methodPASSKEY": "1"}
    wrong = await browser.submit(page, "/rules", lifetime="soon", idle="", **methods)
    assert wrong.response.status_code == 400
    not_ready = await browser.submit(page, "/rules", lifetime="", idle="", requireSso="1", **methods)
    assert problem_of(not_ready) == "The company sign-in does not work yet."
    changed = await browser.submit(page, "/rules", lifetime="600", idle="60", **methods)
    assert done_of(changed) == "The rules were changed."
    assert "Sessions end after 600 minutes." in changed.text
    row = (await auth.project.client.get(f"/b2b/organizations/{organization['id']}")).json()
    assert (row["allowedMethods"], row["sessionIdleMinutes"]) == (["PASSWORD", "PASSKEY"], 60)
    locked = await browser.submit(page, "/rules", lifetime="", idle="", methodSOCIAL="1", methodEMAIL_LINK="1")
    assert (locked.response.status_code, asks_to_sign_in(locked)) == (200, True), "the password is not allowed any more"
    row = (await auth.project.client.get(f"/b2b/organizations/{organization['id']}")).json()
    assert (sorted(row["allowedMethods"]), row["sessionIdleMinutes"]) == (["EMAIL_LINK", "SOCIAL"], None)


async def test_connections_are_shown_with_kind_domain_state_and_certificate(auth, acme, directory, clock):
    organization, browsers = acme
    domain = (await directory.domain(organization, f"{uuid4().hex[:12]}.example"))["domain"]
    provider = IdentityProvider(now=clock(), person=Person())
    path = f"/b2b/organizations/{organization['id']}/sso-connections"
    saml = {"idpEntityId": provider.entity_id, "idpSsoUrl": f"{provider.base}/login"}
    bodies = (
        {"name": "Entra", "domain": domain, **saml, "idpCertificate": [provider.certificate]},
        {"name": "Okta", "domain": domain, "kind": "OIDC", "oidcIssuer": "https://idp.example", "oidcClientId": "x"},
    )
    created = [await auth.project.client.post(path, body) for body in bodies]
    assert [response.status_code for response in created] == [201, 201], [response.text for response in created]
    ends = datetime.fromisoformat(created[0].json()["idpCertificates"][0]["expiresAt"])
    shown = section_of(await entered(browsers["ADMIN"], organization), "sign-in")
    assert f"Entra SAML · {domain} · Not ready yet The certificate ends {format_moment('en', ends)}" in shown
    assert f"Okta OpenID Connect · {domain} · Not ready yet" in shown
    assert shown.count("The certificate ends") == 1, "an OpenID connection has no certificate"


async def test_roles_are_shown_with_what_they_permit(auth, acme):
    organization, browsers = acme
    client = auth.project.client
    assert (await client.post("/access/permissions", {"key": "orders:approve"})).status_code == 201
    role = {"key": "BUYER", "name": "Purchaser", "scope": "ORGANIZATION", "description": "Places orders."}
    created = await client.post("/access/roles", {**role, "permissions": ["orders:approve"]})
    assert created.status_code == 201
    shown = section_of(await entered(browsers["ADMIN"], organization), "roles")
    assert "Purchaser Places orders. orders:approve" in shown
    assert "Member Nothing beyond being a member" in shown
    assert "Owner Everything" in shown


async def test_a_role_of_the_project_permits_a_part(auth, acme, directory):
    organization, _ = acme
    client = auth.project.client
    for key in ("organization:members", "billing:read"):
        assert (await client.post("/access/permissions", {"key": key})).status_code == 201
    for key, permissions in (("host", ["organization:members"]), ("billing", ["billing:read"])):
        role = {"key": key, "name": key.title(), "scope": "ORGANIZATION", "permissions": permissions}
        assert (await client.post("/access/roles", role)).status_code == 201
    host = (await directory.member(organization, "host"), Visitor(auth))
    page = await entered(host, organization)
    assert "Member Person" in page.text
    assert "E-mail domains" not in page.text
    options = page.text.partition('<select id="role"')[2].partition("</select>")[0]
    assert [key for key in ("MEMBER", "host", "billing", "ADMIN", "OWNER") if f'value="{key}"' in options] == [
        "MEMBER",
        "host",
    ]
    refused = await host[1].submit(page, "/invitations", email=new_address(), role="billing")
    assert problem_of(refused) == "You can give or take only roles that allow no more than your own."
    suspended = await client.patch(f"/b2b/organizations/{organization['id']}", {"status": "SUSPENDED"})
    assert suspended.status_code == 200
    assert "suspended at the moment" in (await host[1].open(path_of(organization))).text
    assert (await host[1].submit(page, "/invitations", email=new_address())).response.status_code == 403


async def test_the_plan_is_shown(auth, acme):
    organization, browsers = acme
    client = auth.project.client
    await client.post("/b2b/features", {"key": "seats", "name": "Seats", "type": "LIMIT"})
    plan = {"key": "pro", "name": "Professional", "features": [{"featureKey": "seats", "limit": 20}]}
    await client.post("/b2b/plans", plan)
    await client.put(f"/b2b/organizations/{organization['id']}/plan", {"planKey": "pro"})
    page = await entered(browsers["OWNER"], organization)
    assert all(part in page.text for part in ("Professional", "Seats", "Up to 20", "Not set up."))
