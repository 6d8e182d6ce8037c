"""Give a customer the identifier that it has in the project's own system.

Another customer that already has this identifier is merged into this one. Linking accounts at sign-in providers is in
`linking.py`.
"""

from contextlib import suppress

import psycopg
from msgspec.structs import replace

from postern.identity.customers import mailer, rules, store, terms_store
from postern.identity.customers.model import (
    LOCAL_PROVIDERS,
    ROLES_LIMIT,
    CustomerBanned,
    CustomerLink,
    CustomerLinkResult,
    CustomerMissing,
    CustomerRow,
    ExternalIdTaken,
)
from postern.identity.customers.operations import (
    add_identity,
    add_other_address,
    customer_view,
    lock_customer,
    set_primary_email,
)
from postern.identity.customers.sessions import end_sessions
from postern.identity.customers.totp import move_second_factor
from postern.kernel.database.statements import Jsonb, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import post
from postern.kernel.values import as_id
from postern.platform.audit import operations as audit
from postern.platform.events import history_store
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.security import passkeys
from postern.web.languages import text

LINK_TRIES = 5
"""How many times the operation is attempted, in total, when concurrent requests use the same identifier."""


@post(
    "/projects/{project_id}/customers/link",
    needs="customers:write",
    problems=[CustomerMissing, CustomerBanned, ExternalIdTaken],
    example={"customerId": "01990000-0000-7000-8000-000000000000", "externalUserId": "user-42"},
)
async def link_customer(call: Call, data: CustomerLink) -> CustomerLinkResult:
    """Give a customer the identifier it has in your own system.

    If another customer has that identifier, that customer is merged into this one in the same transaction and deleted;
    `mergedCustomerId` is its id. Link two customers only if you know that they are one person: afterwards the addresses
    of both can be used to sign in to the account that remains.

    The identities, passkeys, memberships, events and e-mail addresses of the merged customer move to this one, and the
    sessions of the merged customer end. This customer gets the roles of both, its own first, at most 100. It gets the
    metadata of both, and keeps its own value for a key that both have. A verified address is preferred as the primary
    one. If this customer has no name, phone number, password or second factor (with its recovery codes), it gets that
    of the merged customer. If it gets a second factor, its sessions end, because they began without one.
    """
    for _ in range(LINK_TRIES):
        # A concurrent request may have given the identifier to another customer after it was read: try again.
        with suppress(psycopg.errors.UniqueViolation):
            return await _link(call, data)
    raise ExternalIdTaken


async def _link(call: Call, data: CustomerLink) -> CustomerLinkResult:
    survivor_id = as_id(data.customer_id)
    async with call.db.transaction() as tx:
        holder = await store.find_by_external_id(tx, project_id=call.project_id, external_id=data.external_user_id)
        # Locked in the order of ids, so that two merges of the same pair cannot wait for each other.
        customer_ids = sorted({survivor_id, holder.id if holder else survivor_id})
        locked = {customer_id: await lock_customer(tx, call, customer_id) for customer_id in customer_ids}
        survivor = locked[survivor_id]
        loser = locked[holder.id] if holder is not None and holder.id != survivor_id else None
        if loser is not None and loser.external_id != data.external_user_id:
            loser = None  # Another request took the identifier away between the read and the lock.
        if rules.is_banned(survivor, call.now) or (loser is not None and rules.is_banned(loser, call.now)):
            raise CustomerBanned
        if loser is not None:
            survivor = await _merge(tx, call, survivor, loser)
        survivor = await store.set_profile(tx, replace(survivor, external_id=data.external_user_id), now=call.now)
        merged_id = None if loser is None else str(loser.id)
        if loser is None:  # Otherwise `_merge` has recorded the event.
            await events.record(tx, call, "customer.linked", survivor.id, mergedCustomerId=None)
        await audit.record(tx, call, "customer.linked", "Customer", survivor.id, mergedCustomerId=merged_id)
    return CustomerLinkResult(
        customer=await customer_view(call, survivor), merged_customer_id=loser.id if loser else None
    )


async def _merge(tx: Transaction, call: Call, survivor: CustomerRow, loser: CustomerRow) -> CustomerRow:
    """Move everything of `loser` to `survivor`, delete `loser`, and return the survivor. Both rows are locked."""
    project_id = call.project_id
    await end_sessions(tx, call, loser.id)
    await store.move_identities(tx, project_id=project_id, survivor=survivor.id, loser=loser.id)
    await passkeys.move(tx, survivor.subject, loser.subject)
    # Requests to link another account at a provider, which an administrator approves or rejects (`identity_requests`).
    await store.move_identity_requests(tx, project_id=project_id, survivor=survivor.id, loser=loser.id)
    await _merge_second_factor(tx, call, survivor, loser)
    await store.repoint_earlier_merges(tx, project_id=project_id, survivor=survivor.id, loser=loser.id)
    # An erasure later needs the former addresses to find the e-mails. Deleting the loser deletes them, so copy them
    # now.
    await store.copy_former_addresses(tx, project_id=project_id, survivor=survivor.id, loser=loser.id)
    # Other addresses are the secondary ones, which can be used to sign in.
    await store.move_other_addresses(tx, project_id=project_id, survivor=survivor.id, loser=loser.id)
    await terms_store.move_acceptances(tx, project_id=project_id, survivor=survivor.id, loser=loser.id)
    await store.insert_merge(tx, project_id=project_id, customer_id=survivor.id, merged_id=loser.id, merged_at=call.now)
    await history_store.move_subject(tx, project_id=project_id, subject_id=loser.id, to=survivor.id)
    metadata = rules.merged_metadata(loser.metadata, survivor.metadata)
    roles = list(dict.fromkeys([*survivor.roles, *loser.roles]))[:ROLES_LIMIT]
    # Before the deletion: `record` calls the reactions of other packages in this transaction, and they need the rows of
    # both customers to move what belongs to the loser.
    await events.record(tx, call, "customer.linked", survivor.id, mergedCustomerId=str(loser.id))
    await store.delete_customer(tx, project_id=project_id, id=loser.id)
    survivor = await _merge_addresses(tx, call, survivor, loser)
    if survivor.password_hash is None and loser.password_hash is not None:
        await store.set_password(
            tx, project_id=project_id, id=survivor.id, password_hash=loser.password_hash, now=call.now
        )
    await store.set_metadata(tx, project_id=project_id, id=survivor.id, metadata=Jsonb(metadata), now=call.now)
    await store.set_roles(tx, project_id=project_id, id=survivor.id, roles=roles, now=call.now)
    await _add_local_identities(tx, call, survivor, loser)
    phone, phone_verified_at = survivor.phone, survivor.phone_verified_at
    if phone is None or (phone == loser.phone and phone_verified_at is None):
        phone, phone_verified_at = loser.phone, loser.phone_verified_at
    await store.set_phone(
        tx, project_id=project_id, id=survivor.id, phone=phone, verified_at=phone_verified_at, now=call.now
    )
    profile = replace(
        survivor,
        name=survivor.name or loser.name,
        language=survivor.language or loser.language,
        phone=phone,
    )
    return await store.set_profile(tx, profile, now=call.now)


async def _merge_second_factor(tx: Transaction, call: Call, survivor: CustomerRow, loser: CustomerRow) -> None:
    """Give the survivor the loser's second factor if it has none, and end the sessions that began without one."""
    if not await move_second_factor(tx, call, survivor, loser):
        return
    await end_sessions(tx, call, survivor.id)
    await events.record(tx, call, "customer.mfa_enabled", survivor.id, method="TOTP")
    project = await projects.require_project(tx, call.project_id)
    change = text("An account was merged into yours, and its second factor is now that of your account")
    await mailer.notify(tx, call, project, survivor, "MFA_CHANGED", change=change)


async def _merge_addresses(tx: Transaction, call: Call, survivor: CustomerRow, loser: CustomerRow) -> CustomerRow:
    """Choose the primary address: the verified one, or the survivor's if both or neither are verified.

    The other address becomes a secondary one. Returns the survivor's row.
    """
    if loser.email is None or loser.email_key is None:
        return survivor
    if survivor.email is None or survivor.email_key is None:
        return await set_primary_email(tx, call, survivor, loser.email, loser.email_key, loser.email_verified_at)
    if loser.email_verified_at is None or survivor.email_verified_at is not None:
        await add_other_address(tx, call, survivor.id, loser.email, loser.email_key, loser.email_verified_at)
        return survivor
    changed = await set_primary_email(tx, call, survivor, loser.email, loser.email_key, loser.email_verified_at)
    await add_other_address(tx, call, survivor.id, survivor.email, survivor.email_key, None)
    return changed


async def _add_local_identities(tx: Transaction, call: Call, survivor: CustomerRow, loser: CustomerRow) -> None:
    """Make sure that the survivor has an identity for each local sign-in method that it or the loser had."""
    has_password = survivor.password_hash is not None or loser.password_hash is not None
    has_passkeys = bool(await passkeys.passkeys_of(tx, survivor.subject))
    has_method = {
        "PASSWORD": has_password,
        "EMAIL_CODE": "EMAIL_CODE" in loser.providers,
        "PASSKEY": has_passkeys,
    }
    for provider in LOCAL_PROVIDERS:
        if has_method[provider]:
            await add_identity(tx, call, survivor, provider)
    await store.refresh_providers(tx, project_id=call.project_id, id=survivor.id)
