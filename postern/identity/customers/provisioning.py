"""Customers that a directory of an organization provisions: create, link, and change them.

Only a directory whose organization has verified the domain of an address vouches for it. Callers check the domain.
"""

from msgspec.structs import replace

from postern.identity.customers import mailer, store
from postern.identity.customers.address_proofs import verify_address
from postern.identity.customers.model import CustomerEmailTaken, CustomerRow
from postern.identity.customers.operations import insert_customer, set_primary_email
from postern.identity.customers.store import NewCustomerRow
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.values import Record
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.quotas import require_quota

PROVISIONED = "SCIM"
"""The method in `customer.signed_up` of customers that a directory has created."""


class ProvisionedProfile(Record):
    """What a directory says about a person."""

    email: str | None
    email_key: str | None
    """The address in the form in which addresses are looked up."""
    email_verified: bool
    """Whether the organization has verified the domain of the address."""
    name: str | None
    language: str | None
    """A language tag; None if the directory has none, or has not changed it."""


async def lock_customer_with_address(tx: Transaction, call: Call, email_key: str) -> CustomerRow | None:
    """The customer with this primary or secondary address, locked for update; None if there is none."""
    return await store.lock_by_email(tx, project_id=call.project_id, email_key=email_key)


async def link_by_address(tx: Transaction, call: Call, customer: CustomerRow, email_key: str) -> CustomerRow:
    """Mark the address of a locked customer as verified; see `verify_address`. Call this only for an address at a
    domain that the organization has verified."""
    project = await projects.require_project(tx, call.project_id)
    return await verify_address(tx, call, project, customer, email_key)


async def create_provisioned(tx: Transaction, call: Call, profile: ProvisionedProfile) -> CustomerRow:
    """Create a customer without a sign-in method, and record `customer.signed_up`.

    Raises CustomerEmailTaken and PlanLimitReached.
    """
    await require_quota(tx, call, "customers")
    row = NewCustomerRow(
        email=profile.email,
        email_key=profile.email_key,
        email_verified_at=call.now if profile.email_verified else None,
        name=profile.name,
        language=profile.language,
        password_hash=None,
    )
    customer = await insert_customer(tx, call, row)
    if customer is None:
        raise CustomerEmailTaken
    await events.record(tx, call, "customer.signed_up", customer.id, method=PROVISIONED)
    return customer


async def update_provisioned(
    tx: Transaction, call: Call, customer: CustomerRow, profile: ProvisionedProfile
) -> CustomerRow:
    """Set the name, the language and the verified primary address of a locked customer, and notify the customer of a
    new address.

    Call this only if the organization has verified the domains of the present and of the new address. An address is
    not removed. Raises CustomerEmailTaken.
    """
    if profile.email is not None and profile.email_key is not None and profile.email_key != customer.email_key:
        project = await projects.require_project(tx, call.project_id)
        holder = await store.lock_by_email(tx, project_id=call.project_id, email_key=profile.email_key)
        if holder is not None and holder.id != customer.id:
            raise CustomerEmailTaken
        await mailer.notify(tx, call, project, customer, "EMAIL_CHANGED")
        customer = await set_primary_email(tx, call, customer, profile.email, profile.email_key, call.now)
        await events.record(tx, call, "customer.email_verified", customer.id, changed=True, provider=PROVISIONED)
    changed = {
        field: value
        for field, value in (("name", profile.name), ("language", profile.language))
        if value is not None and value != getattr(customer, field)
    }
    if changed:
        customer = await store.set_profile(tx, replace(customer, **changed), now=call.now)
        await events.record(tx, call, "customer.updated", customer.id, changed=list(changed))
    return customer
