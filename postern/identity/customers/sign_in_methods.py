"""Which sign-in methods a customer could use, so that a customer cannot remove the last one."""

from postern.identity.customers import provider_store
from postern.identity.customers.model import CustomerRow
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Conflict
from postern.platform.projects.model import Project
from postern.security import passkeys


class LastSignInMethod(Conflict, code="last_way_in"):
    """This is the only sign-in method of the account: set a password or add another method first."""


async def require_method_without(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, provider: str
) -> None:
    """Raises LastSignInMethod if `provider` is the only method that the customer can sign in with."""
    if not await _has_method_without(tx, call, project, customer, provider):
        raise LastSignInMethod


async def _has_method_without(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, provider: str
) -> bool:
    methods = set(project.settings.sign_in.methods)
    if customer.password_hash is not None and "PASSWORD" in methods:
        return True
    if customer.email is not None and {"EMAIL_CODE", "EMAIL_LINK"} & methods:
        return True
    if provider != "PASSKEY" and "PASSKEY" in methods and await passkeys.passkeys_of(tx, customer.subject):
        return True
    offered = {row.key for row in await provider_store.providers(tx, project_id=call.project_id) if row.enabled}
    return bool((offered | {"SAML"}) & set(customer.providers) - {provider})
