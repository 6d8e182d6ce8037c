"""Customers as the app family shows them: the same operations at other addresses, with another view of the record."""

from collections.abc import Callable
from dataclasses import replace
from functools import wraps
from typing import Any

from postern.identity.customers import operations
from postern.identity.customers.model import Customer, EndUser
from postern.kernel.http.operation import Operation
from postern.kernel.http.pagination import Page

HERE = "/apps/{app_id}/end-users"


def end_user_of(customer: Customer) -> EndUser:
    """A customer, seen from the app."""
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
    """A page of customers, seen from the app."""
    data = [end_user_of(each) for each in page.data]
    return Page(data=data, total=page.total, page=page.page, pages=page.pages, next_cursor=page.next_cursor)


def _seen(each: Operation[Any, Any], path: str, view: Callable[[Any], Any], returns: Any) -> Operation[Any, Any]:
    """The same operation at another address, answering `view` of what it answers."""

    @wraps(each.function)
    async def operation(**given: Any) -> Any:
        return view(await each.function(**given))

    return replace(each, path=HERE + path, function=operation, returns=returns)


list_end_users = _seen(operations.list_customers, "", page_of_end_users, Page[EndUser])
get_end_user_stats = operations.get_customer_stats.at(HERE + "/stats")
export_end_users = operations.export_customers.at(HERE + "/export")
get_end_user = _seen(operations.get_customer, "/{id}", end_user_of, EndUser)
delete_end_user = _seen(operations.delete_customer, "/{id}", end_user_of, EndUser)
list_end_user_audit_log = operations.list_customer_audit_log.at(HERE + "/{id}/audit-log")
ban_end_user = _seen(operations.ban_customer, "/{id}/ban", end_user_of, EndUser)
unban_end_user = _seen(operations.unban_customer, "/{id}/unban", end_user_of, EndUser)
unlock_end_user = _seen(operations.unlock_customer, "/{id}/unlock", end_user_of, EndUser)
revoke_end_user_session = operations.revoke_customer_session.at(HERE + "/{id}/sessions/{session_id}/revoke")
revoke_end_user_sessions = operations.revoke_customer_sessions.at(HERE + "/{id}/sessions/revoke-all")
reset_end_user_mfa = operations.reset_customer_mfa.at(HERE + "/{id}/mfa/reset")
change_end_user_metadata = _seen(operations.change_customer_metadata, "/{id}/metadata", end_user_of, EndUser)
add_end_user_roles = _seen(operations.add_customer_roles, "/{id}/roles", end_user_of, EndUser)
