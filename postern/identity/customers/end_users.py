"""End users: the operations on customers a second time, under `/apps/{app_id}/end-users`. They return `EndUser`."""

from postern.identity.customers import operations
from postern.identity.customers.model import Customer, EndUser
from postern.kernel.http.pagination import Page
from postern.kernel.values import build_view

END_USERS = "/apps/{app_id}/end-users"


def end_user_of(customer: Customer) -> EndUser:
    """The end user that represents a customer."""
    return build_view(EndUser, customer, app_id=customer.project_id)


list_end_users = operations.list_customers.as_view(END_USERS, end_user_of, Page[EndUser])
get_end_user_stats = operations.get_customer_stats.at(END_USERS + "/stats")
export_end_users = operations.export_customers.at(END_USERS + "/export")
get_end_user = operations.get_customer.as_view(END_USERS + "/{id}", end_user_of, EndUser)
delete_end_user = operations.delete_customer.as_view(END_USERS + "/{id}", end_user_of, EndUser)
list_end_user_audit_log = operations.list_customer_audit_log.at(END_USERS + "/{id}/audit-log")
ban_end_user = operations.ban_customer.as_view(END_USERS + "/{id}/ban", end_user_of, EndUser)
unban_end_user = operations.unban_customer.as_view(END_USERS + "/{id}/unban", end_user_of, EndUser)
unlock_end_user = operations.unlock_customer.as_view(END_USERS + "/{id}/unlock", end_user_of, EndUser)
revoke_end_user_session = operations.revoke_customer_session.at(END_USERS + "/{id}/sessions/{session_id}/revoke")
revoke_end_user_sessions = operations.revoke_customer_sessions.at(END_USERS + "/{id}/sessions/revoke-all")
reset_end_user_mfa = operations.reset_customer_mfa.at(END_USERS + "/{id}/mfa/reset")
change_end_user_metadata = operations.change_customer_metadata.as_view(
    END_USERS + "/{id}/metadata", end_user_of, EndUser
)
add_end_user_roles = operations.add_customer_roles.as_view(END_USERS + "/{id}/roles", end_user_of, EndUser)
