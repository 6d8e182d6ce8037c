"""Find or create the customer for an account at a provider. OIDC, OAuth and SAML follow the same rules.

An account is identified by provider, issuer and subject. An e-mail address links it to an existing customer only if
the provider says that the address is verified. If the customer's address was never verified, linking revokes all
sign-in methods and sessions of that customer, because another person may have registered the address (pre-hijacking).
"""

from typing import Any
from uuid import UUID

from postern.identity.customers import mailer, provider_store, rules, store
from postern.identity.customers.address_proofs import register_customer, verify_address
from postern.identity.customers.model import CustomerRow, CustomerSignUpClosed, IdentityKey
from postern.identity.customers.operations import require_customer, set_primary_email
from postern.identity.customers.requirements import is_sign_up_open
from postern.identity.hooks import calling as hooks
from postern.identity.hooks.model import SignUpAnswer
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Conflict, Problem
from postern.kernel.values import new_id
from postern.platform.events import operations as events
from postern.platform.projects.model import Project
from postern.web.languages import text

ACCOUNT_NAME_LIMIT = 254
"""Maximum length of the name of an account at a provider, in characters: that of an address."""


class AccountNotLinked(Conflict):
    """An account with this address exists, but the provider has not verified the address: sign in another way."""


class IdentityTaken(AccountNotLinked):
    """This account is linked to another customer."""


class IdentityConflict(Conflict):
    """The customer with this address is linked to another account of this provider; ask an administrator."""

    customer_id: UUID
    """The customer with the address."""


class IdentityHeld(IdentityConflict):
    """The customer with this address is linked to another account of this provider; an administrator must approve."""


class OtherAccountLinked(Conflict, code="identity_linked"):
    """Another account of this provider is already linked; unlink it first."""


class ExternalIdentity(IdentityKey):
    """An account at an identity provider, with the profile that the provider asserts."""

    email: str | None = None
    email_verified: bool = False
    name: str | None = None
    account_name: str | None = None
    """How the account is shown to the customer, if neither `email` nor `name` says it; no rule depends on it."""


async def find_or_create_customer(
    tx: Transaction,
    call: Call,
    project: Project,
    identity: ExternalIdentity,
    *,
    may_sign_up: bool | None = None,
    hold: bool = False,
    metadata: dict[str, Any] | None = None,
) -> CustomerRow:
    """Find or create the customer for an account at a provider. Returns the customer's row, locked.

    1. If the account is linked to a customer, that customer. Its primary address may change (`_update_address`).
    2. Otherwise the customer with the address of the account. The account is linked to this customer, and the address
       is marked as verified (`address_proofs.verify_address`).
    3. Otherwise a new customer, if the project's `signUp` is set, or if the provider has verified the address and the
       address is invited. `may_sign_up` overrides this condition. `metadata` is that of the new customer.

    Records the events and mails the notices. Raises:

    - AccountNotLinked if a customer has the address, but the provider has not verified it, or if a concurrent request
      registered the address;
    - IdentityTaken if a concurrent request linked the account (the next attempt finds the customer);
    - IdentityConflict if the customer with the address is linked to another account of this provider and issuer,
      because the address may have been reassigned to another person. With `hold` IdentityHeld instead, unless an
      administrator has rejected the account before. The caller of this function must then add a request
      (`identity_requests.request_identity`);
    - CustomerSignUpClosed and PlanLimitReached.
    """
    linked = await store.lock_by_identity(tx, identity, project_id=call.project_id)
    email, key = _address_of(identity)
    if linked is not None:
        return await _update_address(tx, call, project, linked, identity, email, key)
    holder = await store.lock_by_email(tx, project_id=call.project_id, email_key=key) if key else None
    if holder is not None:
        if not identity.email_verified:
            raise AccountNotLinked
        await _require_no_other_subject(tx, call, holder, identity, hold=hold)
        assert key is not None
        customer = await verify_address(tx, call, project, holder, key)
        customer = await link_identity(tx, call, customer, identity)
        await record_linked_identity(tx, call, project, customer, identity)
        return customer
    address_may_sign_up = key is not None and identity.email_verified and await is_sign_up_open(tx, call, project, key)
    if not ((project.settings.sign_in.sign_up or address_may_sign_up) if may_sign_up is None else may_sign_up):
        raise CustomerSignUpClosed
    created = await register_customer(
        tx,
        call,
        email,
        key,
        name=identity.name[:200] if identity.name else None,
        password_hash=None,
        verified=identity.email_verified,
        method=identity.provider,
        metadata=metadata,
    )
    if created is None:  # A concurrent request registered the address; the next attempt finds the customer.
        raise AccountNotLinked
    return await link_identity(tx, call, created, identity)


async def ask_before_sign_up(call: Call, project: Project, identity: ExternalIdentity) -> SignUpAnswer:
    """The answer of the hook BEFORE_SIGN_UP, if the account at a provider is about to create a customer.

    No transaction may be open. Raises HookRefused and HookFailed.
    """
    active = project.settings.sign_in.hooks
    if "BEFORE_SIGN_UP" not in active:
        return SignUpAnswer()
    email, key = _address_of(identity)
    if await store.identity_email(call.db, identity, project_id=call.project_id) is not None:
        return SignUpAnswer()
    if key is not None and await store.find_by_email(call.db, project_id=call.project_id, email_key=key) is not None:
        return SignUpAnswer()
    return await hooks.before_sign_up(call, active, email=email, name=identity.name, method=identity.provider)


async def _update_address(
    tx: Transaction,
    call: Call,
    project: Project,
    customer: CustomerRow,
    identity: ExternalIdentity,
    email: str | None,
    key: str | None,
) -> CustomerRow:
    """Change a linked customer's primary address to the new verified address that the provider reports.

    Does so only if the primary address is the one that the provider reported before, and no other customer has the new
    one. Returns the customer's row.
    """
    if email is None or key is None or not identity.email_verified:
        return customer
    last_reported = await store.identity_email(tx, identity, project_id=call.project_id)
    if last_reported is None or last_reported.email_key == key:
        return customer
    is_primary = last_reported.email_key is not None and last_reported.email_key == customer.email_key
    if is_primary and key != customer.email_key:
        holder = await store.lock_by_email(tx, project_id=call.project_id, email_key=key)
        if holder is not None and holder.id != customer.id:
            return customer
        await mailer.notify(tx, call, project, customer, "EMAIL_CHANGED")
        customer = await set_primary_email(tx, call, customer, email, key, call.now)
        await events.record(tx, call, "customer.email_verified", customer.id, changed=True, provider=identity.provider)
    await store.set_identity_email(tx, identity, project_id=call.project_id, email_key=key, account_name=email)
    return customer


async def _require_no_other_subject(
    tx: Transaction, call: Call, customer: CustomerRow, identity: ExternalIdentity, *, hold: bool
) -> None:
    """Raise IdentityConflict, or IdentityHeld with `hold`, if the customer is linked to another account of this
    provider and issuer. An account that an administrator has rejected before raises IdentityConflict in any case."""
    if not (
        await store.has_other_subject(tx, identity, project_id=call.project_id, customer_id=customer.id)
    ).row_exists:
        return
    rejected = (
        hold
        and (await store.was_rejected(tx, identity, project_id=call.project_id, customer_id=customer.id)).row_exists
    )
    problem = IdentityHeld() if hold and not rejected else IdentityConflict()
    problem.customer_id = customer.id
    raise problem


async def record_linked_identity(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, identity: ExternalIdentity
) -> None:
    """Record the event that an account was linked to an existing customer, and notify the customer by mail."""
    await events.record(tx, call, "customer.linked", customer.id, provider=identity.provider, mergedCustomerId=None)
    name = await provider_name(tx, call.project_id, identity.provider)
    await mailer.notify(
        tx, call, project, customer, "IDENTITY_CHANGED", change=text("{sign_in} was added", sign_in=name)
    )


async def provider_name(db: Queries, project_id: UUID, key: str) -> str:
    """The name of the project's provider with this key; the key, if the provider does not exist any more."""
    row = await provider_store.provider(db, project_id=project_id, key=key)
    return key if row is None else row.name


async def link_identity(tx: Transaction, call: Call, customer: CustomerRow, identity: ExternalIdentity) -> CustomerRow:
    """Link an account at a provider to a customer, and return the changed row. Records no event.

    A customer has at most one account for each provider and issuer: raises OtherAccountLinked if another one is linked.
    Raises IdentityTaken if the account is linked already, to this customer or another one.
    """
    if (await store.has_other_subject(tx, identity, project_id=call.project_id, customer_id=customer.id)).row_exists:
        raise OtherAccountLinked
    if not await store.insert_identity(
        tx,
        IdentityKey(provider=identity.provider, issuer=identity.issuer, subject=identity.subject),
        project_id=call.project_id,
        id=new_id(),
        customer_id=customer.id,
        created_at=call.now,
        account_name=account_name(identity),
    ):
        raise IdentityTaken
    email, key = _address_of(identity)
    if email is not None and key is not None and identity.email_verified:
        await store.set_identity_email(tx, identity, project_id=call.project_id, email_key=key, account_name=email)
    await store.refresh_providers(tx, project_id=call.project_id, id=customer.id)
    return await require_customer(tx, call.project_id, customer.id)


def account_name(identity: ExternalIdentity) -> str | None:
    """The address of an account at a provider, or its name, to show it to the customer; None if neither is known."""
    shown = identity.account_name or _address_of(identity)[0] or identity.name
    return shown[:ACCOUNT_NAME_LIMIT] if shown else None


async def account_names(call: Call, customer_id: UUID) -> dict[str, str]:
    """The addresses or names of the accounts that are linked to a customer, by the keys of the providers."""
    rows = await store.account_names(call.db, project_id=call.project_id, customer_id=customer_id)
    return {row.provider: row.account_name for row in rows}


def _address_of(identity: ExternalIdentity) -> tuple[str | None, str | None]:
    """The address that the provider reported, and its lookup key; None for both if it is missing or not valid."""
    if not identity.email:
        return None, None
    try:
        return rules.read_email(identity.email)
    except Problem:
        return None, None
