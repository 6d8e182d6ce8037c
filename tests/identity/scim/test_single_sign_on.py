"""Users of a directory who sign in by the single sign-on of the same organization."""

from tests.identity.organizations.conftest import directory
from tests.identity.scim.conftest import connect
from tests.identity.sso.conftest import acme as company
from tests.identity.sso.conftest import idp

__all__ = ["company", "directory", "idp"]


async def test_a_provisioned_user_signs_in_and_does_not_return_after_leaving(company):
    await company.connect()
    acme = await connect(company.directory, company.organization, company.domain["domain"])
    user = await acme.user("maria", externalId="object-1")
    customer = await acme.customer(acme.address("maria"))
    session = await company.browser().sign_in(acme.address("maria"))
    assert session["customer"]["id"] == customer["id"]
    assert session["organizationId"] == company.organization["id"]
    await acme.patch(f"/Users/{user['id']}", {"op": "replace", "path": "active", "value": False})
    path = f"/projects/{acme.project.id}/auth/token/refresh"
    refreshed = await company.browser().client.post(path, {"refreshToken": session["refreshToken"]})
    assert refreshed.status_code == 401
    again = await company.browser().sign_in(acme.address("maria"))
    assert again["organizationId"] is None, "single sign-on does not make a member of who was removed"
    assert await acme.members() == {}
