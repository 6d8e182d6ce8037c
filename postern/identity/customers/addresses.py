"""Operations of customers on the addresses of their account: list, add, choose the primary one, remove.

Codes and security mail go to the primary address; a customer can sign in with each of them. `credentials.verify_email`
takes the code for an address, and `credentials.request_email_change` replaces the primary one.
"""

from postern.identity.customers import mailer, rules, store
from postern.identity.customers.challenge_payloads import AddressVerification, RememberedDevice
from postern.identity.customers.credentials import mail_verification
from postern.identity.customers.mailed_challenges import ChallengeSent, EmailOnly
from postern.identity.customers.model import (
    CUSTOMER,
    OTHER_ADDRESSES_LIMIT,
    AddressMissing,
    CustomerRow,
    NotFresh,
    OwnAddress,
    PrimaryAddressUnverified,
    TooManyAddresses,
)
from postern.identity.customers.operations import add_other_address, set_primary_email
from postern.identity.customers.sessions import (
    active_organization,
    customer_of,
    lock_calling_customer,
    require_fresh,
)
from postern.identity.customers.sign_in import project_of_call
from postern.identity.customers.store import OtherAddress
from postern.identity.customers.tokens import CurrentCustomer, me_of
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import get, post
from postern.kernel.limits import TooManyRequests
from postern.platform.events import operations as events
from postern.security import challenges

EMAILS = "/projects/{project_id}/auth/emails"
EXAMPLE = {"email": "ada@example.org"}


@get(EMAILS, accepts=CUSTOMER)
async def list_my_emails(call: Call) -> list[OwnAddress]:
    """The addresses of your account: the primary one first, then the others, oldest first."""
    customer = customer_of(call)
    others = await _others(call.db, call, customer)
    primary = [OwnAddress(email=customer.email, verified_at=customer.email_verified_at, primary=True)]
    return [
        *(address for address in primary if address.email is not None),
        *(OwnAddress(email=row.email, verified_at=row.verified_at, primary=False) for row in others),
    ]


@post(
    EMAILS,
    accepts=CUSTOMER,
    problems=[NotFresh, PrimaryAddressUnverified, TooManyAddresses, TooManyRequests],
    example=EXAMPLE,
)
async def add_my_email(call: Call, data: EmailOnly) -> ChallengeSent:
    """Send a code to a further address. `verify-email` takes the code and adds the address to your account.

    Needs a sign-in in the last hour, and a primary address that is verified: otherwise the person whose address it is
    would take over this account with the added one when they verify theirs. An account has at most ten further
    addresses.
    """
    address, key = rules.read_email(data.email)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        if customer.email_verified_at is None:
            raise PrimaryAddressUnverified
        if len(await _others(tx, call, customer)) >= OTHER_ADDRESSES_LIMIT:
            raise TooManyAddresses
    return await mail_verification(call, customer, AddressVerification(email=address, key=key, secondary=True))


@post(f"{EMAILS}/primary", accepts=CUSTOMER, problems=[AddressMissing, NotFresh], example=EXAMPLE)
async def make_my_email_primary(call: Call, data: EmailOnly) -> CurrentCustomer:
    """Make one of your verified addresses the primary one. The former primary address stays with your account, and gets
    a notice. Needs a sign-in in the last hour."""
    _, key = rules.read_email(data.email)
    project = await project_of_call(call)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        chosen = await _require_other(tx, call, customer, key)
        if chosen.verified_at is None:
            raise AddressMissing
        await mailer.notify(tx, call, project, customer, "EMAIL_CHANGED")
        await challenges.revoke(tx, call.project_id, customer.id, [RememberedDevice])
        former_email, former_key, verified_at = customer.email, customer.email_key, customer.email_verified_at
        customer = await set_primary_email(tx, call, customer, chosen.email, chosen.email_key, chosen.verified_at)
        if former_email is not None and former_key is not None:
            await add_other_address(tx, call, customer.id, former_email, former_key, verified_at)
        await events.record(tx, call, "customer.updated", customer.id, changed=["email"])
        await events.record(tx, call, "customer.email_verified", customer.id, changed=True)
    return me_of(customer, active_organization(call))


@post(f"{EMAILS}/remove", accepts=CUSTOMER, problems=[AddressMissing, NotFresh], example=EXAMPLE)
async def remove_my_email(call: Call, data: EmailOnly) -> None:
    """Remove an address from your account, but not the primary one. Codes and links that were mailed to it stop
    working. Needs a sign-in in the last hour."""
    _, key = rules.read_email(data.email)
    async with call.db.transaction() as tx:
        customer = await lock_calling_customer(tx, call)
        await require_fresh(tx, call)
        removed = await _require_other(tx, call, customer, key)
        await store.delete_other_address(tx, project_id=call.project_id, customer_id=customer.id, email_key=key)
        await challenges.revoke_mailed(tx, call.project_id, removed.identifier)
        await events.record(tx, call, "customer.updated", customer.id, changed=["otherEmails"])


async def _others(db: Queries, call: Call, customer: CustomerRow) -> list[OtherAddress]:
    return list(await store.other_addresses(db, project_id=call.project_id, customer_ids=[customer.id]))


async def _require_other(tx: Transaction, call: Call, customer: CustomerRow, key: str) -> OtherAddress:
    """A secondary address of the customer. Raises AddressMissing."""
    for row in await _others(tx, call, customer):
        if row.email_key == key:
            return row
    raise AddressMissing
