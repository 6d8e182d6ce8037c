"""Organizations are the same under `/apps` and `/projects`."""

from datetime import timedelta


async def test_members_are_the_same_under_projects_and_apps(directory, project):
    acme, customer = await directory.organization(), await directory.customer()
    app_path, project_path = (
        f"/apps/{project.id}/organizations/{acme['id']}/members",
        f"/b2b/organizations/{acme['id']}/members",
    )
    added = await project.client.post(app_path, {"customerId": customer["id"], "roles": ["ADMIN"]})
    assert added.status_code == 201, added.text
    members = (await project.client.get(app_path)).json()
    assert members == (await project.client.get(project_path)).json()
    assert [member["customerId"] for member in members] == [customer["id"]]
    changed = await project.client.patch(f"{app_path}/{customer['id']}", {"roles": ["MEMBER"]})
    assert changed.json()["roles"] == ["MEMBER"]
    member = (await project.client.get(f"{app_path}/{customer['id']}")).json()
    assert member == (await project.client.get(f"{project_path}/{customer['id']}")).json()
    assert member["roles"] == ["MEMBER"]
    assert (await project.client.delete(f"{app_path}/{customer['id']}")).status_code in (200, 204)
    assert (await project.client.get(project_path)).json() == []


async def test_invitations_are_resent_under_projects_and_apps(directory, project, clock):
    acme = await directory.organization()
    app_path, project_path = (
        f"/apps/{project.id}/organizations/{acme['id']}/invitations",
        f"/b2b/organizations/{acme['id']}/invitations",
    )
    invitation = (await project.client.post(app_path, {"email": "ada@example.com"})).json()
    for path in (app_path, project_path):
        clock.move(timedelta(minutes=2))
        resent = await project.client.post(f"{path}/{invitation['id']}/resend")
        assert resent.status_code == 200, resent.text
        assert resent.json()["expiresAt"] > invitation["expiresAt"]
        too_early = await project.client.post(f"{path}/{invitation['id']}/resend")
        assert too_early.status_code == 429


async def test_invitations_are_revoked_under_projects_and_apps(directory, project):
    acme = await directory.organization()
    for family in (f"/apps/{project.id}/organizations", "/b2b/organizations"):
        path = f"{family}/{acme['id']}/invitations"
        invitation = (await project.client.post(path, {"email": "ada@example.com"})).json()
        revoked = await project.client.delete(f"{path}/{invitation['id']}")
        assert revoked.status_code in (200, 204), revoked.text
        (listed,) = [
            listed_invitation
            for listed_invitation in (await project.client.get(path)).json()
            if listed_invitation["id"] == invitation["id"]
        ]
        assert listed["status"] == "REVOKED"
