"""What organizations require of the people who sign in to them; the features below ask by way of `app.py`."""

from uuid import UUID

from postern.customers.requirements import SignInRequirement
from postern.kernel.credentials import Call
from postern.kernel.database import Queries, Transaction
from postern.organizations import store
from postern.organizations.operations import require_organization
from postern.projects import operations as projects
from postern.projects.sso_check import SsoStillRequired, sso_works


async def required_of_customers(
    db: Queries, project_ids: list[UUID], customer_ids: list[UUID]
) -> list[SignInRequirement]:
    """What is required of customers: by the organizations that they are members of, and that own their domains."""
    return await store.requirements(db, project_id=project_ids, customer_id=customer_ids)


async def sso_required_at(db: Queries, project_id: UUID, domain: str) -> UUID | None:
    """The organization that owns a domain and requires single sign-on of everybody there; none if none does."""
    return await store.sso_required_at(db, project_id=project_id, domain=domain)


async def require_sso_kept(tx: Transaction, call: Call, organization_id: UUID) -> None:
    """Raises SsoStillRequired where single sign-on is required and nobody could use it any more.

    Call it after the change, and `tx.one_at_a_time("required sso", project_id)` before anything is locked.
    """
    organization = await require_organization(tx, call, organization_id)
    if organization.require_sso and not await sso_works(tx, call.project_id, organization_id):
        raise SsoStillRequired
    project = await projects.require_project(tx, call.project_id)
    if project.settings.sign_in.require_sso and not await sso_works(tx, call.project_id, None):
        raise SsoStillRequired
