"""End users: operations on customers with additional paths, `/apps/{app_id}/end-users`, where they return `EndUser`."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from postern.identity.customers import operations
from postern.identity.customers.model import Customer, EndUser
from postern.kernel.http.operation import Operation
from postern.kernel.http.pagination import Page

END_USERS = "/apps/{app_id}/end-users"


def end_user_of(customer: Customer) -> EndUser:
    """The end user that represents a customer."""
    return EndUser(
        id=customer.id,
        app_id=customer.project_id,
        email=customer.email,
        email_verified_at=customer.email_verified_at,
        metadata=customer.metadata,
        roles=customer.roles,
        last_sign_in_at=customer.last_sign_in_at,
        banned_at=customer.banned_at,
        mfa_enabled_at=customer.mfa_enabled_at,
        failed_sign_in_attempts=customer.failed_sign_in_attempts,
        sign_in_locked_until=customer.sign_in_locked_until,
        identities=customer.identities,
        sessions=customer.sessions,
        created_at=customer.created_at,
        updated_at=customer.updated_at,
    )


def page_of_end_users(page: Page[Customer]) -> Page[EndUser]:
    """A page of customers as end users."""
    data = [end_user_of(customer) for customer in page.data]
    return Page(data=data, total=page.total, page=page.page, pages=page.pages, next_cursor=page.next_cursor)


def _with_view(
    operation: Operation[Any, Any], path: str, view: Callable[[Any], Any], returns: Any
) -> Operation[Any, Any]:
    """The same operation at another path, with its result converted by `view` to the type `returns`."""

    @wraps(operation.function)
    async def function(**arguments: Any) -> Any:
        return view(await operation.function(**arguments))

    return replace(operation, path=END_USERS + path, function=function, returns=returns)


list_end_users = _with_view(operations.list_customers, "", page_of_end_users, Page[EndUser])
get_end_user_stats = operations.get_customer_stats.at(END_USERS + "/stats")
export_end_users = operations.export_customers.at(END_USERS + "/export")
get_end_user = _with_view(operations.get_customer, "/{id}", end_user_of, EndUser)
delete_end_user = _with_view(operations.delete_customer, "/{id}", end_user_of, EndUser)
list_end_user_audit_log = operations.list_customer_audit_log.at(END_USERS + "/{id}/audit-log")
ban_end_user = _with_view(operations.ban_customer, "/{id}/ban", end_user_of, EndUser)
unban_end_user = _with_view(operations.unban_customer, "/{id}/unban", end_user_of, EndUser)
unlock_end_user = _with_view(operations.unlock_customer, "/{id}/unlock", end_user_of, EndUser)
revoke_end_user_session = operations.revoke_customer_session.at(END_USERS + "/{id}/sessions/{session_id}/revoke")
revoke_end_user_sessions = operations.revoke_customer_sessions.at(END_USERS + "/{id}/sessions/revoke-all")
reset_end_user_mfa = operations.reset_customer_mfa.at(END_USERS + "/{id}/mfa/reset")
change_end_user_metadata = _with_view(operations.change_customer_metadata, "/{id}/metadata", end_user_of, EndUser)
add_end_user_roles = _with_view(operations.add_customer_roles, "/{id}/roles", end_user_of, EndUser)
