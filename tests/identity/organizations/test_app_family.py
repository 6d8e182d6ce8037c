"""Organizations are the same under `/apps` and `/projects`."""

from datetime import timedelta


async def test_members_are_the_same_under_projects_and_apps(directory, project):
    acme, customer = await directory.organization(), await directory.customer()
    app, own = (
        f"/apps/{project.id}/organizations/{acme['id']}/members",
        f"/b2b/organizations/{acme['id']}/members",
    )
    added = await project.client.post(app, {"customerId": customer["id"], "roles": ["ADMIN"]})
    assert added.status_code == 201, added.text
    listed = (await project.client.get(app)).json()
    assert listed == (await project.client.get(own)).json()
    assert [each["customerId"] for each in listed] == [customer["id"]]
    changed = await project.client.patch(f"{app}/{customer['id']}", {"roles": ["MEMBER"]})
    assert changed.json()["roles"] == ["MEMBER"]
    seen = (await project.client.get(f"{app}/{customer['id']}")).json()
    assert seen == (await project.client.get(f"{own}/{customer['id']}")).json()
    assert seen["roles"] == ["MEMBER"]
    assert (await project.client.delete(f"{app}/{customer['id']}")).status_code in (200, 204)
    assert (await project.client.get(own)).json() == []


async def test_invitations_are_resent_under_projects_and_apps(directory, project, clock):
    acme = await directory.organization()
    app, own = (
        f"/apps/{project.id}/organizations/{acme['id']}/invitations",
        f"/b2b/organizations/{acme['id']}/invitations",
    )
    made = (await project.client.post(app, {"email": "ada@example.com"})).json()
    for path in (app, own):
        clock.move(timedelta(minutes=2))
        again = await project.client.post(f"{path}/{made['id']}/resend")
        assert again.status_code == 200, again.text
        assert again.json()["expiresAt"] > made["expiresAt"]
        early = await project.client.post(f"{path}/{made['id']}/resend")
        assert early.status_code == 429


async def test_invitations_are_revoked_under_projects_and_apps(directory, project):
    acme = await directory.organization()
    for family in (f"/apps/{project.id}/organizations", "/b2b/organizations"):
        path = f"{family}/{acme['id']}/invitations"
        made = (await project.client.post(path, {"email": "ada@example.com"})).json()
        revoked = await project.client.delete(f"{path}/{made['id']}")
        assert revoked.status_code in (200, 204), revoked.text
        (shown,) = [each for each in (await project.client.get(path)).json() if each["id"] == made["id"]]
        assert shown["status"] == "REVOKED"
