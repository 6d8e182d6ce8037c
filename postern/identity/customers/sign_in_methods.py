"""How somebody could sign in, so that nobody takes the last way in from themselves."""

from postern.identity.customers import challenge_store, provider_store
from postern.identity.customers.model import Person
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Conflict
from postern.platform.projects.model import Project


class LastWayIn(Conflict):
    """Without this nobody could sign in any more: set a password, or add another way in first."""


async def require_way_in_without(tx: Transaction, call: Call, project: Project, person: Person, provider: str) -> None:
    """Raises LastWayIn if `provider` is all that a customer can sign in with."""
    if not await _comes_in_without(tx, call, project, person, provider):
        raise LastWayIn


async def _comes_in_without(tx: Transaction, call: Call, project: Project, person: Person, provider: str) -> bool:
    methods = set(project.settings.sign_in.methods)
    if person.password_hash is not None and "PASSWORD" in methods:
        return True
    if person.email is not None and {"EMAIL_CODE", "EMAIL_LINK"} & methods:
        return True
    if (
        provider != "PASSKEY"
        and "PASSKEY" in methods
        and await challenge_store.passkeys(tx, project_id=call.project_id, customer_id=person.id)
    ):
        return True
    offered = {row.key for row in await provider_store.providers(tx, project_id=call.project_id) if row.enabled}
    return bool((offered | {"SAML"}) & set(person.providers) - {provider})
