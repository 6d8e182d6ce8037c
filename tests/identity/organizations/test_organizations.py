"""Organizations under `/projects` and `/apps`, and their members."""

import asyncio
from uuid import uuid4

import pytest

from postern.identity.organizations.rules import slug_of

HERE = "/b2b/organizations"


async def test_an_organization_is_the_same_under_projects_and_apps(project, directory):
    made = await directory.organization("Müller & Söhne", externalId="crm-7", metadata={"tier": "gold"})
    assert made | {"id": 0, "createdAt": 0, "updatedAt": 0} == {
        "id": 0,
        "projectId": project.id,
        "name": "Müller & Söhne",
        "slug": "muller-sohne",
        "metadata": {"tier": "gold"},
        "externalId": "crm-7",
        "status": "ACTIVE",
        "requireSso": False,
        "requireMfa": False,
        "createdAt": 0,
        "updatedAt": 0,
        "memberCount": 0,
        "pendingInvitationCount": 0,
    }
    from_app = await project.client.get(f"/apps/{project.id}/organizations/{made['id']}")
    shown = {key: value for key, value in made.items() if key not in ("projectId", "externalId", "status")}
    assert from_app.json() == {**shown, "appId": project.id}
    second = await project.client.post(f"/apps/{project.id}/organizations", {"name": "Second"})
    assert second.status_code == 201
    listed = await project.client.get(f"/apps/{project.id}/organizations")
    assert [each["id"] for each in listed.json()] == [second.json()["id"], made["id"]]
    found = await project.client.get(f"{HERE}?externalId=crm-7")
    assert found.json() == [made]
    assert (await project.client.get(f"{HERE}?externalId=nobody")).json() == []


async def test_organizations_are_changed_and_deleted_under_apps(project, directory):
    made = await directory.organization(externalId="1")
    path = f"/apps/{project.id}/organizations/{made['id']}"
    changed = await project.client.patch(path, {"name": "New name", "metadata": {"a": 1}})
    assert (changed.json()["name"], changed.json()["slug"]) == ("New name", "acme")
    assert (await project.client.delete(path)).json() == changed.json()
    assert (await project.client.get(path)).status_code == 404


async def test_slugs_and_external_ids_are_unique_but_names_are_not(project, directory):
    slugs = [(await directory.organization("Acme"))["slug"] for _ in range(7)]
    assert slugs[:4] == ["acme", "acme-2", "acme-3", "acme-4"]
    assert len(set(slugs)) == 7
    taken = await project.client.post(HERE, {"name": "Other", "slug": "acme"})
    assert (taken.status_code, taken.json()["code"]) == (409, "slug_taken")
    await directory.organization("Other", externalId="x")
    twice = await project.client.post(HERE, {"name": "Third", "externalId": "x"})
    assert (twice.status_code, twice.json()["code"]) == (409, "organization_external_id_taken")
    third = await directory.organization("Third")
    for change, code in (({"slug": "acme"}, "slug_taken"), ({"externalId": "x"}, "organization_external_id_taken")):
        refused = await project.client.patch(f"{HERE}/{third['id']}", change)
        assert (refused.status_code, refused.json()["code"]) == (409, code)
    assert (await project.client.patch(f"{HERE}/{third['id']}", {"slug": "third"})).status_code == 200
    for slug in ("Third", "third\n", "-third", ""):
        assert (await project.client.patch(f"{HERE}/{third['id']}", {"slug": slug})).status_code == 400


@pytest.mark.parametrize(
    ("name", "slug"),
    [
        ("Acme Ltd.", "acme-ltd"),
        ("  ", "organization"),
        ("日本", "organization"),
        ("Größe", "grosse"),
        ("x" * 99, "x" * 64),
    ],
)
def test_slugs_are_generated_from_names(name, slug):
    assert slug_of(name) == slug


async def test_metadata_is_merged_and_limited(project, directory):
    made = await directory.organization(metadata={"a": 1, "b": 2})
    path = f"{HERE}/{made['id']}"
    assert (await project.client.patch(path, {"metadata": {"b": None, "c": 3}})).json()["metadata"] == {"a": 1, "c": 3}
    assert (await project.client.patch(path, {"metadata": {"big": "x" * 17_000}})).status_code == 400
    assert (await project.client.patch(path, {"colour": "red"})).status_code == 400
    stale = await project.client.patch(path, {"name": "X"}, headers={"If-Match": '"1"'})
    assert stale.status_code == 412


async def test_members_are_added_changed_and_removed(project, directory):
    acme = await directory.organization()
    path = f"{HERE}/{acme['id']}/members"
    ada = await directory.member(acme)
    assert (await project.client.post(path, {"customerId": ada["id"]})).json()["code"] == "already_member"
    listed = (await project.client.get(path)).json()
    assert [(each["customerId"], each["email"], each["roles"], each["source"]) for each in listed] == [
        (ada["id"], ada["email"], ["MEMBER"], "API")
    ]
    assert (await project.client.get(f"{HERE}/{acme['id']}")).json()["memberCount"] == 1
    changed = await project.client.patch(f"{path}/{ada['id']}", {"roles": ["ADMIN", "ADMIN"]})
    assert changed.json()["roles"] == ["ADMIN"]
    assert (await project.client.get(f"{path}/{ada['id']}")).json() == changed.json()
    assert (await project.client.delete(f"{path}/{ada['id']}")).json() == {"removed": True}
    assert (await project.client.delete(f"{path}/{ada['id']}")).status_code == 404
    assert [each["data"]["customerId"] for each in await directory.events("organization.member_removed")] == [ada["id"]]


async def test_invalid_members_are_rejected(project, directory, new_project):
    acme = await directory.organization()
    path = f"{HERE}/{acme['id']}/members"
    provider_browser = await new_project()
    stranger = (await provider_browser.client.post("/customers", {"email": "a@example.com"})).json()
    assert (await project.client.post(path, {"customerId": stranger["id"]})).status_code == 404
    assert (await project.client.post(path, {"customerId": "nobody"})).status_code == 404
    ada = await directory.customer()
    unknown = await project.client.post(path, {"customerId": ada["id"], "roles": ["ADMIN", "pilot"]})
    assert (unknown.status_code, unknown.json()["errors"][0]["path"]) == (422, "/roles/1")
    assert (await project.client.post(path, {"customerId": ada["id"], "roles": []})).status_code == 400
    nowhere = f"{HERE}/{uuid4()}/members"
    assert (await project.client.post(nowhere, {"customerId": ada["id"]})).status_code == 404
    assert (await project.client.get(nowhere)).status_code == 404


async def test_member_roles_must_have_organization_scope(project, directory):
    acme = await directory.organization()
    for key, scope in (("editor", "PROJECT"), ("buyer", "ORGANIZATION")):
        assert (await project.client.post("/access/roles", {"key": key, "scope": scope})).status_code == 201
    ada = await directory.customer()
    path = f"{HERE}/{acme['id']}/members"
    assert (await project.client.post(path, {"customerId": ada["id"], "roles": ["editor"]})).status_code == 422
    assert (await project.client.post(path, {"customerId": ada["id"], "roles": ["buyer"]})).status_code == 201


async def test_the_last_owner_cannot_be_removed_or_demoted(project, directory):
    acme = await directory.organization()
    ada = await directory.member(acme, "OWNER")
    path = f"{HERE}/{acme['id']}/members"
    for refused in (
        await project.client.patch(f"{path}/{ada['id']}", {"roles": ["ADMIN"]}),
        await project.client.delete(f"{path}/{ada['id']}"),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "last_owner")
    assert (await project.client.patch(f"{path}/{ada['id']}", {"roles": ["OWNER", "ADMIN"]})).status_code == 200
    await directory.member(acme, "OWNER")
    assert (await project.client.delete(f"{path}/{ada['id']}")).status_code == 200


async def test_concurrent_removals_leave_one_owner(project, directory):
    acme = await directory.organization()
    owners = [await directory.member(acme, "OWNER") for _ in range(2)]
    path = f"{HERE}/{acme['id']}/members"
    answers = await asyncio.gather(*(project.client.delete(f"{path}/{each['id']}") for each in owners))
    assert sorted(each.status_code for each in answers) == [200, 409]


async def test_a_suspended_organization_accepts_no_members(project, directory):
    acme = await directory.organization()
    path = f"{HERE}/{acme['id']}"
    assert (await project.client.patch(path, {"status": "SUSPENDED"})).json()["status"] == "SUSPENDED"
    ada = await directory.customer()
    for refused in (
        await project.client.post(f"{path}/members", {"customerId": ada["id"]}),
        await project.client.post(f"{path}/invitations", {"email": "bob@example.com"}),
    ):
        assert (refused.status_code, refused.json()["code"]) == (409, "organization_suspended")
    assert (await project.client.patch(path, {"status": "CLOSED"})).status_code == 400
    await project.client.patch(path, {"status": "ACTIVE"})
    assert (await project.client.post(f"{path}/members", {"customerId": ada["id"]})).status_code == 201


async def test_deleting_removes_dependent_records_but_not_customers(project, directory):
    acme = await directory.organization()
    ada = await directory.member(acme)
    await directory.domain(acme, "acme.example")
    await project.client.post(f"{HERE}/{acme['id']}/invitations", {"email": "bob@example.com"})
    gone = await project.client.delete(f"{HERE}/{acme['id']}")
    assert (gone.json()["memberCount"], gone.json()["pendingInvitationCount"]) == (1, 1)
    for path in ("", "/members", "/invitations", "/domains"):
        assert (await project.client.get(f"{HERE}/{acme['id']}{path}")).status_code == 404
    assert (await project.client.get(f"/customers/{ada['id']}")).status_code == 200
    assert [each["subjectId"] for each in await directory.events("organization.deleted")] == [acme["id"]]


async def test_customers_list_and_leave_their_organizations(directory, auth):
    acme = await directory.organization()
    ada = await directory.member(acme, "OWNER")
    await directory.member(await directory.organization("ProviderBrowser"))
    signed_in = (await auth.sign_in(ada["email"])).json()
    me = auth.as_(signed_in["accessToken"])
    mine = (await me.get("/organizations")).json()
    assert [(each["organization"]["slug"], each["roles"]) for each in mine] == [("acme", ["OWNER"])]
    assert (await me.client.delete(f"/projects/{auth.project.id}/auth/organizations/{acme['id']}")).status_code == 409
    await directory.member(acme, "OWNER")
    assert (await me.client.delete(f"/projects/{auth.project.id}/auth/organizations/{acme['id']}")).status_code == 200
    assert (await me.get("/organizations")).json() == []


async def test_merging_customers_merges_their_memberships(project, directory):
    both, one = await directory.organization("Both"), await directory.organization("One")
    ada, twin = await directory.customer(), await directory.customer(externalUserId="twin")
    for organization, customer, role in ((both, ada, "MEMBER"), (both, twin, "ADMIN"), (one, twin, "OWNER")):
        body = {"customerId": customer["id"], "roles": [role]}
        assert (await project.client.post(f"{HERE}/{organization['id']}/members", body)).status_code == 201
    linked = await project.client.post("/customers/link", {"customerId": ada["id"], "externalUserId": "twin"})
    assert linked.json()["mergedCustomerId"] == twin["id"]
    assert [(each["customerId"], each["roles"]) for each in await directory.members_of(both)] == [
        (ada["id"], ["ADMIN", "MEMBER"])
    ]
    assert [(each["customerId"], each["roles"]) for each in await directory.members_of(one)] == [(ada["id"], ["OWNER"])]


async def test_erasing_a_customer_removes_memberships_and_invitations(project, directory):
    acme = await directory.organization()
    ada = await directory.member(acme)
    other = await directory.organization("Other")
    await project.client.post(f"{HERE}/{other['id']}/invitations", {"email": ada["email"]})
    assert (await project.client.delete(f"/customers/{ada['id']}")).status_code == 200
    assert await directory.members_of(acme) == []
    assert (await project.client.get(f"{HERE}/{other['id']}/invitations")).json() == []
