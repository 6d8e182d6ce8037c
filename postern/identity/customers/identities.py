"""Recognising people by an account elsewhere: one rule for OIDC, OAuth and SAML.

Issuer and subject decide. An address links only where whoever vouches for the person says that it is verified; and
onto an account whose address nobody ever proved, it takes every way in from whoever made that account first.
"""

from typing import Any
from uuid import UUID

from postern.identity.customers import mailer, rules, store
from postern.identity.customers.invitation_check import may_sign_up as is_welcome
from postern.identity.customers.model import CustomerRow, CustomerSignUpClosed
from postern.identity.customers.operations import require_customer, set_primary_email
from postern.identity.customers.sign_in import create_customer_row, prove_address
from postern.kernel.database.statements import Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.problems import Conflict, Problem
from postern.kernel.values import Record, new_id
from postern.platform.events import operations as events
from postern.platform.projects.model import Project


class AccountNotLinked(Conflict):
    """An account with this address exists, and the address is not verified there: sign in another way."""


class IdentityTaken(AccountNotLinked):
    """That account is another customer's."""


class IdentityConflict(Conflict):
    """The customer with this address is linked to another account of this provider; ask an administrator."""

    customer_id: UUID


class IdentityHeld(IdentityConflict):
    """The customer with this address is linked to another account of this provider; an administrator has to approve."""


class IdentityLinked(Conflict):
    """Another account of this provider is linked already; remove it first."""


class ExternalIdentity(Record):
    """What somebody else says about a person who signed in there."""

    provider: str
    issuer: str
    subject: str
    email: str | None
    email_verified: bool
    name: str | None


async def find_or_create_customer(
    tx: Transaction,
    call: Call,
    project: Project,
    identity: ExternalIdentity,
    *,
    may_sign_up: bool | None = None,
    hold: bool = False,
) -> CustomerRow:
    """The customer that a voucher is about, locked: known, linked, or new.

    `may_sign_up` overrides the project's `signUp`. Raises AccountNotLinked, CustomerSignUpClosed; and IdentityTaken
    where the same person signs in twice at the same moment: the second is recognised when they try again. A linked
    account for which the provider names another subject is another person's, as an address may have been reassigned:
    raises IdentityConflict, or IdentityHeld where such accounts are held for an administrator.
    """
    known = await store.lock_by_identity(
        tx,
        project_id=call.project_id,
        provider=identity.provider,
        issuer=identity.issuer,
        subject=identity.subject,
    )
    spec, key = _address_of(identity)
    if known is not None:
        return await _follow_address(tx, call, project, known, identity, spec, key)
    held = await store.lock_by_email(tx, project_id=call.project_id, email_key=key) if key else None
    if held is not None:
        if not identity.email_verified:
            raise AccountNotLinked
        await _require_first_subject(tx, call, held, identity, hold=hold)
        customer = await prove_address(tx, call, project, held, key or "")
        customer = await link_identity(tx, call, customer, identity)
        await record_linked_identity(tx, call, project, customer, identity)
        return customer
    invited = key is not None and identity.email_verified and await is_welcome(tx, call, project, key)
    if not ((project.settings.sign_in.sign_up or invited) if may_sign_up is None else may_sign_up):
        raise CustomerSignUpClosed
    made = await create_customer_row(
        tx,
        call,
        spec,
        key,
        name=identity.name[:200] if identity.name else None,
        password_hash=None,
        verified=identity.email_verified,
        method=identity.provider,
    )
    if made is None:  # Somebody took the address between our look and our insert.
        raise AccountNotLinked
    return await link_identity(tx, call, made, identity)


async def _follow_address(
    tx: Transaction,
    call: Call,
    project: Project,
    known: CustomerRow,
    identity: ExternalIdentity,
    email: str | None,
    key: str | None,
) -> CustomerRow:
    """Let a customer's primary address follow the provider's, where it came from there and is verified there.

    Never onto an address of another customer: then everything stays as it was.
    """
    if email is None or key is None or not identity.email_verified:
        return known
    account: dict[str, Any] = {
        "project_id": call.project_id,
        "provider": identity.provider,
        "issuer": identity.issuer,
        "subject": identity.subject,
    }
    last = await store.identity_email(tx, **account)
    if last is None or last.email_key == key:
        return known
    follows = last.email_key is not None and last.email_key == known.email_key
    if follows and key != known.email_key:
        holder = await store.lock_by_email(tx, project_id=call.project_id, email_key=key)
        if holder is not None and holder.id != known.id:
            return known
        await mailer.notify(tx, call, project, known, "EMAIL_CHANGED")
        known = await set_primary_email(tx, call, known, email, key, call.now)
        await events.record(tx, call, "customer.email_verified", known.id, changed=True, provider=identity.provider)
    await store.set_identity_email(tx, **account, email_key=key)
    return known


async def _require_first_subject(
    tx: Transaction, call: Call, held: CustomerRow, identity: ExternalIdentity, *, hold: bool
) -> None:
    named: dict[str, Any] = {
        "project_id": call.project_id,
        "customer_id": held.id,
        "provider": identity.provider,
        "issuer": identity.issuer,
        "subject": identity.subject,
    }
    if not (await store.has_other_subject(tx, **named)).found:
        return
    rejected = hold and (await store.was_rejected(tx, **named)).found
    problem = IdentityHeld() if hold and not rejected else IdentityConflict()
    problem.customer_id = held.id
    raise problem


async def record_linked_identity(
    tx: Transaction, call: Call, project: Project, customer: CustomerRow, identity: ExternalIdentity
) -> None:
    """Record that a customer who was there has one more way in, and tell them."""
    await events.record(tx, call, "customer.linked", customer.id, provider=identity.provider, mergedCustomerId=None)
    await mailer.notify(tx, call, project, customer, "IDENTITY_CHANGED", change=f"{identity.provider} was added")


async def link_identity(tx: Transaction, call: Call, customer: CustomerRow, identity: ExternalIdentity) -> CustomerRow:
    """Make an account at a provider this customer's: one of each provider and issuer.

    Raises IdentityTaken if it is somebody else's, IdentityLinked if the customer has another account there.
    """
    other = await store.has_other_subject(
        tx,
        project_id=call.project_id,
        customer_id=customer.id,
        provider=identity.provider,
        issuer=identity.issuer,
        subject=identity.subject,
    )
    if other.found:
        raise IdentityLinked
    if not await store.insert_identity(
        tx,
        project_id=call.project_id,
        id=new_id(),
        customer_id=customer.id,
        provider=identity.provider,
        issuer=identity.issuer,
        subject=identity.subject,
        now=call.now,
    ):
        raise IdentityTaken
    _, key = _address_of(identity)
    if key is not None and identity.email_verified:
        await store.set_identity_email(
            tx,
            project_id=call.project_id,
            provider=identity.provider,
            issuer=identity.issuer,
            subject=identity.subject,
            email_key=key,
        )
    await store.refresh_providers(tx, project_id=call.project_id, id=customer.id)
    return await require_customer(tx, call.project_id, customer.id)


def _address_of(identity: ExternalIdentity) -> tuple[str | None, str | None]:
    if not identity.email:
        return None, None
    try:
        return rules.read_email(identity.email)
    except Problem:
        return None, None
