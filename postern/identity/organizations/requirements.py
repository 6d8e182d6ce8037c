"""Sign-in requirements of organizations. `app.py` connects these functions with the features that need them."""

from uuid import UUID

from postern.identity.customers.requirements import SignInRequirement
from postern.identity.organizations import store
from postern.kernel.database.statements import Queries


async def required_of_customers(
    db: Queries, project_ids: list[UUID], customer_ids: list[UUID]
) -> list[SignInRequirement]:
    """Requirements for customers, from organizations of which they are members or which own their domains."""
    return await store.requirements(db, project_id=project_ids, customer_id=customer_ids)


async def sso_required_at(db: Queries, project_id: UUID, domain: str) -> UUID | None:
    """The organization that owns a domain and requires single sign-on for it, or None."""
    return await store.sso_required_at(db, project_id=project_id, domain=domain)
