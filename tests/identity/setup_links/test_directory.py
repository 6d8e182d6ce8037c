"""An administrator connects the directory (SCIM), and gives roles to its groups."""

import asyncio

import lxml.html

from tests.conftest import Client
from tests.identity.setup_links.test_setup import text_of, values_of


async def scim(app, values, path, body=None):
    """A request of the directory with the values that the page has shown."""
    base = values["SCIM 2.0 base URL"].removeprefix("http://127.0.0.1:8025")
    headers = {"Authorization": f"Bearer {values['Bearer token']}", "Content-Type": "application/scim+json"}
    return await Client(app).request("GET" if body is None else "POST", f"{base}{path}", json=body, headers=headers)


async def test_an_administrator_connects_a_directory(administrator, acme, app):
    await administrator.begin(steps=["SCIM"], assignableRoles=["ADMIN"])
    assert (await administrator.get("/sso")).status_code == 403
    shown = await administrator.post("/scim", action="connect")
    assert "only now" in text_of(shown)
    values = values_of(shown)
    assert values["Bearer token"].startswith("scim_")
    page = await administrator.get("/scim")
    assert values["Bearer token"] not in page.text
    assert "No request has arrived yet" in text_of(page)
    assert (await scim(app, values, "/Users")).status_code == 200
    group = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Platform"}
    group_id = (await scim(app, values, "/Groups", group)).json()["id"]
    page = await administrator.get("/scim")
    assert "Your directory is connected" in text_of(page)
    assert lxml.html.fromstring(page.text).xpath("//select[@name='role']/option/@value") == ["", "ADMIN"]
    await administrator.done("/scim", action="role", groupId=group_id, role="ADMIN")
    connection_id = (await administrator.stored())["directoryConnectionId"]
    path = f"/b2b/organizations/{acme.organization['id']}/directory-connections/{connection_id}"
    assert (await acme.client.get(path)).json()["groupRoles"] == {group_id: ["ADMIN"]}

    # Roles that the link does not permit, and groups of others.
    for form in ({"groupId": group_id, "role": "OWNER"}, {"groupId": connection_id, "role": "ADMIN"}):
        assert (await administrator.post("/scim", action="role", **form)).status_code == 403
    # Roles that the developer has given stay.
    changed = await acme.client.patch(path, {"groupRoles": {"platform": ["OWNER", "ADMIN"]}})
    assert changed.status_code == 200, changed.text
    await administrator.done("/scim", action="role", groupId=group_id, role="")
    assert (await acme.client.get(path)).json()["groupRoles"] == {group_id: ["OWNER"]}

    # Another token ends the present one at once.
    other = values_of(await administrator.post("/scim", action="connect"))
    assert (await scim(app, values, "/Users")).status_code == 401
    assert (await scim(app, other, "/Users")).status_code == 200
    assert (await acme.client.get(path)).json()["userCount"] == 0


async def test_a_link_without_roles_shows_none(administrator, acme, app):
    await administrator.begin(steps=["SCIM"])
    values = values_of(await administrator.post("/scim", action="connect"))
    group = {"schemas": ["urn:ietf:params:scim:schemas:core:2.0:Group"], "displayName": "Platform"}
    group_id = (await scim(app, values, "/Groups", group)).json()["id"]
    assert not lxml.html.fromstring((await administrator.get("/scim")).text).xpath("//select")
    refused = await administrator.post("/scim", action="role", groupId=group_id, role="ADMIN")
    assert refused.status_code == 403


async def test_forms_that_are_sent_twice_create_one_connection(administrator, acme):
    await administrator.begin()
    domain = acme.domain["domain"]
    choose = [administrator.post("/sso", action="choose", provider="OKTA", domain=domain) for _ in range(2)]
    statuses = sorted(answer.status_code for answer in await asyncio.gather(*choose))
    assert statuses[0] == 303
    assert all(status in (303, 412) for status in statuses)
    await asyncio.gather(*(administrator.post("/scim", action="connect") for _ in range(2)))
    organization = f"/b2b/organizations/{acme.organization['id']}"
    link = await administrator.stored()
    for path, name in (("sso-connections", "ssoConnectionId"), ("directory-connections", "directoryConnectionId")):
        connections = (await acme.client.get(f"{organization}/{path}")).json()
        assert [connection["id"] for connection in connections] == [link[name]]


async def test_google_workspace_provisions_no_members(administrator, acme):
    await administrator.begin()
    await administrator.done("/sso", action="choose", provider="GOOGLE", domain=acme.domain["domain"])
    assert "join when they sign in" in text_of(await administrator.get("/scim"))
