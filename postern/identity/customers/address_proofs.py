"""Functions that mark an address as verified, after a mailed code or link was used or an identity provider verified it.

They find or create the customer, and remove credentials that another person may have set before. `register_customer`
creates a customer with or without a verified address.
"""

from typing import Any

from postern.identity.customers import mailer, store, terms_store
from postern.identity.customers.model import CustomerEmailTaken, CustomerRow
from postern.identity.customers.operations import (
    add_other_address,
    insert_customer,
    remove_second_factor,
    set_primary_email,
)
from postern.identity.customers.rules import caller_for, merged_metadata
from postern.identity.customers.sessions import end_sessions
from postern.identity.customers.store import NewCustomerRow
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.platform.projects.quotas import require_quota
from postern.security import passkeys
from postern.web.languages import asked_language, text


async def register_customer(
    tx: Transaction,
    call: Call,
    email: str | None,
    email_key: str | None,
    *,
    name: str | None,
    password_hash: str | None,
    verified: bool,
    language: str | None = None,
    method: str = "SIGN_UP",
    metadata: dict[str, Any] | None = None,
) -> CustomerRow | None:
    """Create a customer and record `customer.signed_up` with `method`. Returns None if the address is taken.

    `email_key` is the lookup key of `email`, `metadata` comes from a sign-in hook. `language` is a language tag; None:
    the language that the request asks for. Raises PlanLimitReached and
    CustomerMetadataTooLarge.
    """
    await require_quota(tx, call, "customers")
    row = NewCustomerRow(
        email=email,
        email_key=email_key,
        email_verified_at=call.now if verified else None,
        name=name,
        language=language or asked_language(call),
        metadata=merged_metadata({}, metadata or {}),
        password_hash=password_hash,
    )
    customer = await insert_customer(tx, call, row)
    if customer is not None:
        event = events.make_event_by(
            caller_for(call, customer.id),
            call.project_id,
            "customer.signed_up",
            customer.id,
            call.now,
            method=method,
        )
        await events.record_all(tx, [event])
    return customer


async def find_or_create_verified(
    tx: Transaction, call: Call, project: Project, email: str, email_key: str
) -> CustomerRow:
    """Find the customer who has this address, or create one, and mark the address as verified. Returns the locked row.

    Call this only after the secret link of an invitation that was mailed to the address was used: a new customer is
    recorded with the sign-up method INVITATION. For an existing one, see `verify_address`. Raises CustomerEmailTaken if
    a concurrent request takes the address, and PlanLimitReached.
    """
    customer = await store.lock_by_email(tx, project_id=call.project_id, email_key=email_key)
    if customer is not None:
        return await verify_address(tx, call, project, customer, email_key)
    created = await register_customer(
        tx, call, email, email_key, name=None, password_hash=None, verified=True, method="INVITATION"
    )
    if created is None:
        raise CustomerEmailTaken
    return created


async def verify_address(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, email_key: str
) -> CustomerRow:
    """Mark a primary or secondary address of a customer, whose row is locked, as verified. Returns the changed row.

    Call this only after the customer has used a code or link that was mailed to the address, or an identity provider
    has verified the address. Does nothing if the address is verified already. Otherwise records
    `customer.email_verified`. If it is a secondary address and the primary one is verified, the customer is notified by
    mail (IDENTITY_CHANGED); if the primary one is unverified, the secondary address becomes primary.

    If this is the first verified address, another person may have created the account: its password, sessions, second
    factor, passkeys, linked accounts and acceptances of terms are removed.
    """
    secondary_addresses = await store.other_addresses(tx, project_id=call.project_id, customer_ids=[customer.id])
    secondary = next((row for row in secondary_addresses if row.email_key == email_key), None)
    if (customer.email_verified_at if secondary is None else secondary.verified_at) is not None:
        return customer
    had_verified_address = customer.email_verified_at is not None or any(row.verified_at for row in secondary_addresses)
    if not had_verified_address:
        await revoke_credentials(tx, call, customer)
    if secondary is None:
        assert customer.email is not None
        customer = await set_primary_email(tx, call, customer, customer.email, email_key, call.now)
    elif customer.email_verified_at is not None:
        await store.verify_other_address(
            tx, project_id=call.project_id, customer_id=customer.id, email_key=email_key, now=call.now
        )
        await mailer.notify(
            tx,
            call,
            project,
            customer,
            "IDENTITY_CHANGED",
            change=text("{sign_in} was confirmed", sign_in=secondary.email),
        )
    else:
        # The verified address becomes the primary one; the unverified one is kept as a secondary one.
        old_email, old_key = customer.email, customer.email_key
        customer = await set_primary_email(tx, call, customer, secondary.email, email_key, call.now)
        if old_email is not None and old_key is not None:
            await add_other_address(tx, call, customer.id, old_email, old_key, None)
    # `changed` tells whether the address is new to the account; here it belonged to the account before.
    await events.record(tx, call, "customer.email_verified", customer.id, changed=False)
    return customer


async def revoke_credentials(tx: Transaction, call: Call, customer: CustomerRow) -> None:
    """Remove the password, second factor, passkeys, linked accounts and sessions of an account, and the acceptances of
    terms: whoever gave them may not have been the owner. The only event that is recorded is
    `customer.session_revoked`."""
    await end_sessions(tx, call, customer.id)
    await store.set_password(tx, project_id=call.project_id, id=customer.id, password_hash=None, now=call.now)
    await remove_second_factor(tx, call, customer)
    await passkeys.remove_all(tx, customer.subject)
    await store.delete_identities(tx, project_id=call.project_id, customer_id=customer.id, provider=None)
    await store.refresh_providers(tx, project_id=call.project_id, id=customer.id)
    await terms_store.delete_since(tx, project_id=call.project_id, customer_id=customer.id, since=0)


async def is_address_of(tx: Transaction, call: Call, customer: CustomerRow, email_key: str) -> bool:
    """Whether an address is the primary one or a secondary one of this customer."""
    if customer.email_key == email_key:
        return True
    other = await store.other_address(tx, project_id=call.project_id, email_key=email_key)
    return other is not None and other.customer_id == customer.id


async def is_verified_address_of(tx: Transaction, call: Call, customer: CustomerRow, email_key: str) -> bool:
    """Whether an address is a verified one of this customer."""
    if customer.email_key == email_key:
        return customer.email_verified_at is not None
    other = await store.other_address(tx, project_id=call.project_id, email_key=email_key)
    return other is not None and other.customer_id == customer.id and other.verified_at is not None
