"""What follows when somebody proves to receive mail at an address: a customer is found or created, and credentials
that somebody else may have set before are revoked.
"""

from postern.identity.customers import mailer, store
from postern.identity.customers.model import CustomerEmailTaken, CustomerRow
from postern.identity.customers.operations import (
    add_other_address,
    insert_customer,
    remove_second_factor,
    set_primary_email,
)
from postern.identity.customers.sessions import end_sessions
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.platform.projects.quotas import require_quota
from postern.security import passkeys


async def create_customer_row(
    tx: Transaction,
    call: Call,
    email: str | None,
    key: str | None,
    *,
    name: str | None,
    password_hash: str | None,
    verified: bool,
    method: str = "SIGN_UP",
) -> CustomerRow | None:
    """Make a customer who signed up; None if the address is taken. Raises PlanLimitReached."""
    await require_quota(tx, call, "customers")
    person = await insert_customer(
        tx,
        call,
        external_id=None,
        email=email,
        email_key=key,
        verified=verified,
        phone=None,
        name=name,
        metadata={},
        roles=[],
        password_hash=password_hash,
    )
    if person is not None:
        event = events.make_event(
            call.project_id,
            "customer.signed_up",
            person.id,
            call.now,
            actor_type="CUSTOMER",
            actor_id=person.id,
            method=method,
        )
        await events.record_all(tx, [event])
    return person


async def customer_by_email(tx: Transaction, call: Call, project: Project, email: str, email_key: str) -> CustomerRow:
    """The customer, locked, with an address at which somebody received mail; a new one if there is none.

    Raises CustomerEmailTaken where somebody else takes the address at the same moment, and PlanLimitReached.
    """
    person = await store.lock_by_email(tx, project_id=call.project_id, email_key=email_key)
    if person is not None:
        return await prove_address(tx, call, project, person, email_key)
    made = await create_customer_row(
        tx, call, email, email_key, name=None, password_hash=None, verified=True, method="INVITATION"
    )
    if made is None:
        raise CustomerEmailTaken
    return made


async def prove_address(
    tx: Transaction, call: Call, project: Project, person: CustomerRow, email_key: str
) -> CustomerRow:
    """Note that somebody received mail at one of a customer's addresses.

    If no address of theirs was ever proven before, whoever made the account may be somebody else: their password,
    sessions, second factor, passkeys and accounts elsewhere go first.
    """
    others = await store.other_addresses(tx, project_id=call.project_id, customer_ids=[person.id])
    other = next((each for each in others if each.email_key == email_key), None)
    if (person.email_verified_at if other is None else other.verified_at) is not None:
        return person
    was_proven = person.email_verified_at is not None or any(each.verified_at for each in others)
    if not was_proven:
        await revoke_credentials(tx, call, person)
    if other is None:
        assert person.email is not None
        person = await set_primary_email(tx, call, person, person.email, email_key, call.now)
    elif person.email_verified_at is not None:
        await store.verify_other_address(
            tx, project_id=call.project_id, customer_id=person.id, email_key=email_key, now=call.now
        )
        await mailer.notify(tx, call, project, person, "IDENTITY_CHANGED", change=f"{other.email} was confirmed")
    else:
        # The proven address becomes the primary one, and the one that nobody proved stays beside it.
        before, before_key = person.email, person.email_key
        person = await set_primary_email(tx, call, person, other.email, email_key, call.now)
        if before is not None and before_key is not None:
            await add_other_address(tx, call, person.id, before, before_key, None)
    await events.record(tx, call, "customer.email_verified", person.id, changed=False)
    return person


async def revoke_credentials(tx: Transaction, call: Call, person: CustomerRow) -> None:
    """Take every way in from an account whose address nobody ever proved."""
    await end_sessions(tx, call, person.id)
    await store.set_password(tx, project_id=call.project_id, id=person.id, password_hash=None, now=call.now)
    await remove_second_factor(tx, call, person)
    await passkeys.remove_all(tx, person.subject)
    await store.delete_identities(tx, project_id=call.project_id, customer_id=person.id, provider=None)
    await store.refresh_providers(tx, project_id=call.project_id, id=person.id)


async def is_address_of(tx: Transaction, call: Call, person: CustomerRow, email_key: str) -> bool:
    """Whether an address signs this customer in: the primary one, or one beside it."""
    if person.email_key == email_key:
        return True
    other = await store.other_address(tx, project_id=call.project_id, email_key=email_key)
    return other is not None and other.customer_id == person.id


async def is_proven_address_of(tx: Transaction, call: Call, person: CustomerRow, email_key: str) -> bool:
    """Whether an address signs this customer in and somebody proved to receive mail there."""
    if person.email_key == email_key:
        return person.email_verified_at is not None
    other = await store.other_address(tx, project_id=call.project_id, email_key=email_key)
    return other is not None and other.customer_id == person.id and other.verified_at is not None
