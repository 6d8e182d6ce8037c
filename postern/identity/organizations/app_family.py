"""The organization operations under `/apps` paths."""

from postern.identity.organizations import invitations, members, operations
from postern.identity.organizations.model import AppOrganization, Organization
from postern.kernel.http.pagination import LinkedList
from postern.kernel.values import build_view

ORGANIZATIONS = "/apps/{app_id}/organizations"


def as_app_organization(row: Organization) -> AppOrganization:
    """An organization as `/apps` paths return it: with `appId`, without the fields that only `/projects` paths
    return."""
    return build_view(AppOrganization, row, app_id=row.project_id)


# `as_view` adds an operation under another path, and converts its results with `as_app_organization`; `at` adds it
# without conversion.
list_app_organizations = operations.list_organizations.as_view(
    ORGANIZATIONS, as_app_organization, LinkedList[AppOrganization]
)
create_app_organization = operations.create_organization.as_view(ORGANIZATIONS, as_app_organization, AppOrganization)
get_app_organization = operations.get_organization.as_view(
    f"{ORGANIZATIONS}/{{id}}", as_app_organization, AppOrganization
)
change_app_organization = operations.change_organization.as_view(
    f"{ORGANIZATIONS}/{{id}}", as_app_organization, AppOrganization
)
delete_app_organization = operations.delete_organization.as_view(
    f"{ORGANIZATIONS}/{{id}}", as_app_organization, AppOrganization
)

list_app_members = members.list_organization_members.at(f"{ORGANIZATIONS}/{{id}}/members")
add_app_member = members.add_organization_member.at(f"{ORGANIZATIONS}/{{id}}/members")
get_app_member = members.get_organization_member.at(f"{ORGANIZATIONS}/{{id}}/members/{{customer_id}}")
change_app_member = members.change_organization_member.at(f"{ORGANIZATIONS}/{{id}}/members/{{customer_id}}")
remove_app_member = members.remove_organization_member.at(f"{ORGANIZATIONS}/{{id}}/members/{{customer_id}}")

list_app_invitations = invitations.list_organization_invitations.at(f"{ORGANIZATIONS}/{{id}}/invitations")
create_app_invitation = invitations.create_organization_invitation.at(f"{ORGANIZATIONS}/{{id}}/invitations")
resend_app_invitation = invitations.resend_organization_invitation.at(
    f"{ORGANIZATIONS}/{{id}}/invitations/{{invitation_id}}/resend"
)
revoke_app_invitation = invitations.revoke_organization_invitation.at(
    f"{ORGANIZATIONS}/{{id}}/invitations/{{invitation_id}}"
)
