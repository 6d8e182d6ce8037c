"""The operation with which customers delete their own account."""

from postern.identity.customers import timeline
from postern.identity.customers.model import CUSTOMER, AccountDeletionOff, CustomerOwnsOrganizations, NotFresh
from postern.identity.customers.sessions import end_sessions, lock_calling_customer, require_fresh
from postern.identity.customers.sign_in import project_of_call
from postern.kernel.http.call import Call
from postern.kernel.http.operation import delete


@delete(
    "/projects/{project_id}/auth/me",
    accepts=CUSTOMER,
    problems=[AccountDeletionOff, NotFresh, CustomerOwnsOrganizations],
)
async def delete_current_customer(call: Call) -> None:
    """Delete your account, with all personal data, as `DELETE …/customers/{id}` does. It cannot be undone.

    Needs a sign-in in the last hour. The last OWNER of an organization cannot delete the account (409). The project can
    forbid it with `accountDeletion`.
    """
    await _require_allowed(call)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        # Before the customer is gone: so the clients of the OpenID provider learn that the sessions have ended.
        await end_sessions(tx, call, customer.id)
        await timeline.erase(tx, call, customer)


async def require_deletable(call: Call) -> None:
    """Raise AccountDeletionOff or NotFresh if `delete_current_customer` would."""
    await _require_allowed(call)
    async with call.db.transaction() as tx:
        await require_fresh(tx, call)


async def _require_allowed(call: Call) -> None:
    project = await project_of_call(call)
    if not project.settings.sign_in.account_deletion:
        raise AccountDeletionOff
