"""Organizations under `/projects` and `/apps`, and their members."""

import asyncio
from uuid import uuid4

import pytest

from postern.identity.organizations.rules import slug_of

HERE = "/b2b/organizations"


async def test_an_organization_is_the_same_under_projects_and_apps(project, directory):
    organization = await directory.organization("Müller & Söhne", externalId="crm-7", metadata={"tier": "gold"})
    assert organization | {"id": 0, "createdAt": 0, "updatedAt": 0} == {
        "id": 0,
        "projectId": project.id,
        "name": "Müller & Söhne",
        "slug": "muller-sohne",
        "metadata": {"tier": "gold"},
        "externalId": "crm-7",
        "status": "ACTIVE",
        "requireSso": False,
        "requireMfa": False,
        "allowedMethods": None,
        "sessionLifetimeMinutes": None,
        "sessionIdleMinutes": None,
        "createdAt": 0,
        "updatedAt": 0,
        "memberCount": 0,
        "pendingInvitationCount": 0,
    }
    from_app = await project.client.get(f"/apps/{project.id}/organizations/{organization['id']}")
    only_in_projects = ("projectId", "externalId", "status", "allowedMethods")
    only_in_projects += ("sessionLifetimeMinutes", "sessionIdleMinutes")
    app_fields = {key: value for key, value in organization.items() if key not in only_in_projects}
    assert from_app.json() == {**app_fields, "appId": project.id}
    second = await project.client.post(f"/apps/{project.id}/organizations", {"name": "Second"})
    assert second.status_code == 201
    organizations = await project.client.get(f"/apps/{project.id}/organizations")
    assert [item["id"] for item in organizations.json()] == [second.json()["id"], organization["id"]]
    filtered = await project.client.get(f"{HERE}?externalId=crm-7")
    assert filtered.json() == [organization]
    assert (await project.client.get(f"{HERE}?externalId=nobody")).json() == []


async def test_organizations_are_changed_and_deleted_under_apps(project, directory):
    organization = await directory.organization(externalId="1")
    path = f"/apps/{project.id}/organizations/{organization['id']}"
    changed = await project.client.patch(path, {"name": "New name", "metadata": {"a": 1}})
    assert (changed.json()["name"], changed.json()["slug"]) == ("New name", "acme")
    assert (await project.client.delete(path)).json() == changed.json()
    assert (await project.client.get(path)).status_code == 404


async def test_slugs_and_external_ids_are_unique_but_names_are_not(project, directory):
    slugs = [(await directory.organization("Acme"))["slug"] for _ in range(7)]
    assert slugs[:4] == ["acme", "acme-2", "acme-3", "acme-4"]
    assert len(set(slugs)) == 7
    same_slug = await project.client.post(HERE, {"name": "Other", "slug": "acme"})
    assert (same_slug.status_code, same_slug.json()["code"]) == (409, "slug_taken")
    await directory.organization("Other", externalId="x")
    same_external_id = await project.client.post(HERE, {"name": "Third", "externalId": "x"})
    assert (same_external_id.status_code, same_external_id.json()["code"]) == (409, "organization_external_id_taken")
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
    organization = await directory.organization(metadata={"a": 1, "b": 2})
    path = f"{HERE}/{organization['id']}"
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
    members = (await project.client.get(path)).json()
    assert [(member["customerId"], member["email"], member["roles"], member["source"]) for member in members] == [
        (ada["id"], ada["email"], ["MEMBER"], "API")
    ]
    assert (await project.client.get(f"{HERE}/{acme['id']}")).json()["memberCount"] == 1
    changed = await project.client.patch(f"{path}/{ada['id']}", {"roles": ["ADMIN", "ADMIN"]})
    assert changed.json()["roles"] == ["ADMIN"]
    assert (await project.client.get(f"{path}/{ada['id']}")).json() == changed.json()
    assert (await project.client.delete(f"{path}/{ada['id']}")).json() == {"removed": True}
    assert (await project.client.delete(f"{path}/{ada['id']}")).status_code == 404
    assert [event["data"]["customerId"] for event in await directory.events("organization.member_removed")] == [
        ada["id"]
    ]


async def test_invalid_members_are_rejected(project, directory, new_project):
    acme = await directory.organization()
    path = f"{HERE}/{acme['id']}/members"
    other_project = await new_project()
    foreign_customer = (await other_project.client.post("/customers", {"email": "a@example.com"})).json()
    assert (await project.client.post(path, {"customerId": foreign_customer["id"]})).status_code == 404
    assert (await project.client.post(path, {"customerId": "nobody"})).status_code == 404
    ada = await directory.customer()
    unknown_role = await project.client.post(path, {"customerId": ada["id"], "roles": ["ADMIN", "pilot"]})
    assert (unknown_role.status_code, unknown_role.json()["errors"][0]["path"]) == (422, "/roles/1")
    assert (await project.client.post(path, {"customerId": ada["id"], "roles": []})).status_code == 400
    unknown_organization = f"{HERE}/{uuid4()}/members"
    assert (await project.client.post(unknown_organization, {"customerId": ada["id"]})).status_code == 404
    assert (await project.client.get(unknown_organization)).status_code == 404


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
    answers = await asyncio.gather(*(project.client.delete(f"{path}/{owner['id']}") for owner in owners))
    assert sorted(answer.status_code for answer in answers) == [200, 409]


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
    deleted = await project.client.delete(f"{HERE}/{acme['id']}")
    assert (deleted.json()["memberCount"], deleted.json()["pendingInvitationCount"]) == (1, 1)
    for path in ("", "/members", "/invitations", "/domains"):
        assert (await project.client.get(f"{HERE}/{acme['id']}{path}")).status_code == 404
    assert (await project.client.get(f"/customers/{ada['id']}")).status_code == 200
    assert [event["subjectId"] for event in await directory.events("organization.deleted")] == [acme["id"]]


async def test_customers_list_and_leave_their_organizations(directory, auth):
    acme = await directory.organization()
    ada = await directory.member(acme, "OWNER")
    await directory.member(await directory.organization("Other"))
    signed_in = (await auth.sign_in(ada["email"])).json()
    customer_auth = auth.as_(signed_in["accessToken"])
    memberships = (await customer_auth.get("/organizations")).json()
    assert [(membership["organization"]["slug"], membership["roles"]) for membership in memberships] == [
        ("acme", ["OWNER"])
    ]
    assert (
        await customer_auth.client.delete(f"/projects/{auth.project.id}/auth/organizations/{acme['id']}")
    ).status_code == 409
    await directory.member(acme, "OWNER")
    assert (
        await customer_auth.client.delete(f"/projects/{auth.project.id}/auth/organizations/{acme['id']}")
    ).status_code == 200
    assert (await customer_auth.get("/organizations")).json() == []


async def test_merging_customers_merges_their_memberships(project, directory):
    shared, second = await directory.organization("Shared"), await directory.organization("Second")
    survivor, loser = await directory.customer(), await directory.customer(externalUserId="twin")
    for organization, customer, role in (
        (shared, survivor, "MEMBER"),
        (shared, loser, "ADMIN"),
        (second, loser, "OWNER"),
    ):
        body = {"customerId": customer["id"], "roles": [role]}
        assert (await project.client.post(f"{HERE}/{organization['id']}/members", body)).status_code == 201
    linked = await project.client.post("/customers/link", {"customerId": survivor["id"], "externalUserId": "twin"})
    assert linked.json()["mergedCustomerId"] == loser["id"]
    assert [(member["customerId"], member["roles"]) for member in await directory.members_of(shared)] == [
        (survivor["id"], ["ADMIN", "MEMBER"])
    ]
    assert [(member["customerId"], member["roles"]) for member in await directory.members_of(second)] == [
        (survivor["id"], ["OWNER"])
    ]


async def test_erasing_a_customer_removes_memberships_and_invitations(project, directory):
    acme = await directory.organization()
    ada = await directory.member(acme)
    other = await directory.organization("Other")
    await project.client.post(f"{HERE}/{other['id']}/invitations", {"email": ada["email"]})
    assert (await project.client.delete(f"/customers/{ada['id']}")).status_code == 200
    assert await directory.members_of(acme) == []
    assert (await project.client.get(f"{HERE}/{other['id']}/invitations")).json() == []
