"""What organizations require of the people who sign in to them; the features below ask by way of `app.py`."""

from uuid import UUID

from postern.identity.customers.requirements import SignInRequirement
from postern.identity.organizations import store
from postern.kernel.database.statements import Queries


async def required_of_customers(
    db: Queries, project_ids: list[UUID], customer_ids: list[UUID]
) -> list[SignInRequirement]:
    """What is required of customers: by the organizations that they are members of, and that own their domains."""
    return await store.requirements(db, project_id=project_ids, customer_id=customer_ids)


async def sso_required_at(db: Queries, project_id: UUID, domain: str) -> UUID | None:
    """The organization that owns a domain and requires single sign-on of everybody there; none if none does."""
    return await store.sso_required_at(db, project_id=project_id, domain=domain)
