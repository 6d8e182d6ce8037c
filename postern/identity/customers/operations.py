"""Operations of a project on its customers, and functions that other packages call on customers."""

from collections.abc import AsyncIterator, Sequence
from typing import Any
from uuid import UUID

import psycopg
from msgspec import UNSET
from msgspec.structs import replace
from psycopg.sql import SQL, Literal

from postern.identity.access import operations as access
from postern.identity.access.model import RoleUnknown
from postern.identity.customers import mailer, rules, store, timeline
from postern.identity.customers.challenge_payloads import (
    PendingEnrollment,
    PendingSecondFactor,
    PendingTerms,
    RememberedDevice,
)
from postern.identity.customers.imported_hashes import import_hash
from postern.identity.customers.model import (
    ROLES_LIMIT,
    SESSIONS_LIMIT,
    Customer,
    CustomerBan,
    CustomerChange,
    CustomerEmailTaken,
    CustomerEvent,
    CustomerIdentity,
    CustomerImport,
    CustomerImportError,
    CustomerImportResult,
    CustomerMetadataTooLarge,
    CustomerMissing,
    CustomerOwnsOrganizations,
    CustomerRow,
    CustomerStats,
    ExternalIdTaken,
    HashRefused,
    IdentityKey,
    MetadataChange,
    NewCustomer,
    OtherEmail,
    RolesChange,
    Status,
    TimelineEntry,
    TooManyCustomerRoles,
)
from postern.identity.customers.sessions import end_session, end_sessions, session_view
from postern.identity.customers.store import NewCustomerRow
from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call
from postern.kernel.http.operation import camel, get, patch, post, put
from postern.kernel.http.operation import delete as delete_
from postern.kernel.http.pagination import (
    Cursor,
    Feed,
    ListLimit,
    Page,
    PagePosition,
    PageQuery,
    csv_stream,
    page_at,
    position_of,
)
from postern.kernel.http.problems import Invalid, Problem, require_found
from postern.kernel.http.responses import HttpResponse
from postern.kernel.values import Moment, new_id
from postern.platform.audit import operations as audit
from postern.platform.audit.model import AuditEntry
from postern.platform.events import operations as events
from postern.platform.projects import operations as projects
from postern.platform.projects.quotas import PlanLimitReached, QuotaRequest, quota_left, require_quota
from postern.security import challenges, second_factor, session_store
from postern.security.breaches import PasswordBreached, require_unbreached
from postern.security.mail_limits import clear_counts
from postern.security.passwords import PasswordCommon, hash_password, require_uncommon
from postern.security.sessions import SessionMissing
from postern.web.languages import text

CSV_HEADER = (
    *("id", "email", "emailVerifiedAt", "phone", "name", "externalUserId", "roles", "providers"),
    *("lastSignInAt", "bannedAt", "mfaEnabledAt", "metadata", "createdAt", "language"),
)
CUSTOMER_EXAMPLE = {
    "email": "ada@example.com",
    "emailVerified": True,
    "name": "Ada",
    "language": "en",
    "metadata": {"plan": "pro"},
}


@get("/projects/{project_id}/customers", needs="customers:read")
async def list_customers(
    call: Call,
    q: str | None = None,
    status: Status | None = None,
    provider: str | None = None,
    *,
    page: PageQuery,
) -> Page[Customer]:
    """The project's customers, newest first.

    `q` matches part of an address, name, phone number or external identifier, or a complete id; with one or two
    characters it matches the beginning of an address. `status` is `active`, `banned`, `verified`, `unverified`, `mfa`
    or `locked`; `provider` is a sign-in method such as `PASSWORD` or `GOOGLE`.
    """
    scope = f"customers|{q or ''}|{status or ''}|{provider or ''}"
    position = position_of(call, scope, page)
    provider = rules.read_provider_filter(provider)
    rows, total = await _search(call, (q, status, provider), page.limit + 1, position)
    page_of_rows = page_at(call, scope, rows, total, position, page.limit)
    return page_of_rows.with_data(await customer_views(call, page_of_rows.data))


@post(
    "/projects/{project_id}/customers",
    needs="customers:write",
    status=201,
    problems=[
        CustomerEmailTaken,
        ExternalIdTaken,
        RoleUnknown,
        PasswordCommon,
        PasswordBreached,
        HashRefused,
        CustomerMetadataTooLarge,
        PlanLimitReached,
    ],
    example=CUSTOMER_EXAMPLE,
)
async def create_customer(call: Call, data: NewCustomer) -> Customer:
    """Create a customer.

    `passwordHash` is a hash from another system: bcrypt, scrypt, PBKDF2, argon2, SHA-crypt, phpass, or a salted MD5 or
    SHA digest; the guide lists the forms. It is replaced by an argon2id hash when the customer first signs in.
    """
    password_hash = await _password_hash(data)
    if data.password is not None:
        await require_unbreached(call.world, data.password)
    async with call.db.transaction() as tx:
        await require_quota(tx, call, "customers")
        customer = await add_customer(tx, call, data, password_hash)
        await audit.record(tx, call, "customer.created", "Customer", customer.id)
    return await customer_view(call, customer)


@post(
    "/projects/{project_id}/customers/import",
    needs="customers:write",
    body_limit=16_777_216,
    problems=[RoleUnknown],
    example={"customers": [CUSTOMER_EXAMPLE]},
)
async def import_customers(call: Call, data: CustomerImport) -> CustomerImportResult:
    """Import up to 1,000 customers.

    Customers whose address or `externalUserId` is taken are skipped. `faults` has the index of each customer that could
    not be imported, and the reason.
    """
    created, skipped = 0, 0
    errors: list[CustomerImportError] = []
    hashes: list[str | None] = []
    for index, customer in enumerate(data.customers):
        try:
            hashes.append(await _password_hash(customer))
        except Problem as problem:
            hashes.append(None)
            errors.append(CustomerImportError(index=index, code=problem.code(), message=problem.detail))
    invalid = {error.index for error in errors}
    async with call.db.transaction() as tx:
        request = QuotaRequest("customers", len(data.customers), call.now, project_id=call.project_id)
        left = await quota_left(tx, call.world, request)
        for index, customer in enumerate(data.customers):
            if index in invalid:
                continue
            try:
                if left is not None and created >= left.number:
                    raise left.refusal
                await add_customer(tx, call, customer, hashes[index])
                created += 1
            except (CustomerEmailTaken, ExternalIdTaken):
                skipped += 1
            except Problem as problem:
                errors.append(CustomerImportError(index=index, code=problem.code(), message=problem.detail))
        await audit.record(tx, call, "customers.imported", "Project", call.project_id, created=created)
    errors.sort(key=lambda error: error.index)
    return CustomerImportResult(created=created, skipped=skipped, failed=len(errors), faults=errors)


@get("/projects/{project_id}/customers/stats", needs="customers:read")
async def get_customer_stats(call: Call) -> CustomerStats:
    """Numbers of customers: all, verified, banned, and with a second factor."""
    return await store.stats(call.db, project_id=call.project_id, now=call.now)


@get("/projects/{project_id}/customers/export", needs="customers:read", media_types=["text/csv"], reads_replica=True)
async def export_customers(
    call: Call, q: str | None = None, status: Status | None = None, provider: str | None = None
) -> HttpResponse:
    """All customers as CSV, newest first. Takes the filters of the list."""
    where = rules.filter_condition(q, status, rules.read_provider_filter(provider), call.now)

    async def batches() -> AsyncIterator[list[tuple[Any, ...]]]:
        async with call.db.transaction() as tx:
            async for rows in store.export_customers(tx, project_id=call.project_id, where=where, now=call.now):
                yield rows

    return HttpResponse(
        csv_stream(CSV_HEADER, batches()),
        media_type="text/csv",
        headers={"Content-Disposition": 'attachment; filename="customers.csv"'},
    )


@get("/projects/{project_id}/customers/{id}", needs="customers:read", problems=[CustomerMissing])
async def get_customer(call: Call, id: UUID) -> Customer:
    """A customer with its identities and live sessions."""
    return await customer_view(call, await require_customer(call.db, call.project_id, id))


@delete_(
    "/projects/{project_id}/customers/{id}",
    needs="customers:write",
    problems=[CustomerMissing, CustomerOwnsOrganizations],
)
async def delete_customer(call: Call, id: UUID, transfer_ownership_to: UUID | None = None) -> Customer:
    """Erase a customer. Returns the customer as it was before.

    The last OWNER of an organization cannot be erased (409; `errors` names the organizations), unless
    `transferOwnershipTo` names another customer, who becomes OWNER of them in the same transaction.

    The customer and all personal data are deleted: identities, sessions, passkeys, e-mails to the address, and the
    contact with that address. Events keep their type and time; `erasedAt` is set and their data is emptied. The audit
    log keeps who did what, without details, and its hash chain still verifies. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        call.require_match(customer.updated_at)
        view = await customer_view(call, customer, tx)
        await timeline.erase(tx, call, customer, transfer_ownership_to)
        await audit.record(tx, call, "customer.deleted", "Customer", id)
    return view


@patch(
    "/projects/{project_id}/customers/{id}",
    needs="customers:write",
    problems=[CustomerMissing, CustomerEmailTaken],
    example={
        "email": "ada@example.org",
        "emailVerified": True,
        "name": "Ada",
        "phone": "+15550100",
        "phoneVerified": True,
    },
)
async def change_customer(call: Call, id: UUID, data: CustomerChange) -> Customer:
    """Change a customer's address, name, language or phone number. Omitted fields keep their values.

    When the address changes, the old one gets a notice, and codes and links that were mailed stop working; sessions
    continue. If another customer has the new address, the response is 409. Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        call.require_match(customer.updated_at)
        before = customer
        customer = await _change_email(tx, call, customer, data)
        customer = await _change_phone(tx, call, customer, data)
        name = customer.name if data.name is UNSET else data.name
        language = customer.language if data.language is UNSET else data.language
        if (name, language) != (customer.name, customer.language):
            customer = await store.set_profile(tx, replace(customer, name=name, language=language), now=call.now)
        names = ("email", "email_verified_at", "name", "language", "phone", "phone_verified_at")
        changed = [camel(name) for name in names if getattr(customer, name) != getattr(before, name)]
        if changed:
            await events.record(tx, call, "customer.updated", id, changed=changed)
            if customer.email_verified_at is not None and "emailVerifiedAt" in changed:
                # Recorded after the change, so that the reactions to this event read the new address.
                await events.record(tx, call, "customer.email_verified", id, changed="email" in changed)
            await audit.record(tx, call, "customer.updated", "Customer", id, changed=changed)
    return await customer_view(call, customer)


@get("/projects/{project_id}/customers/{id}/timeline", needs="customers:read", problems=[CustomerMissing])
async def get_customer_timeline(
    call: Call, id: UUID, limit: ListLimit = 50, cursor: Cursor | None = None
) -> Feed[TimelineEntry]:
    """The timeline of a customer, newest first: events, e-mails, sessions and changes by developers."""
    return await timeline.timeline(call, await require_customer(call.db, call.project_id, id), limit, cursor)


@get("/projects/{project_id}/customers/{id}/events", needs="customers:read", problems=[CustomerMissing])
async def list_customer_events(
    call: Call, id: UUID, limit: ListLimit = 100, cursor: Cursor | None = None
) -> Feed[CustomerEvent]:
    """Events of a customer, newest first. Events of an erased customer have only their type and time."""
    return await timeline.events_of(call, id, limit, cursor)


@get("/projects/{project_id}/customers/{id}/audit-log", needs="customers:read", problems=[CustomerMissing])
async def list_customer_audit_log(call: Call, id: UUID, page: PageQuery) -> Page[AuditEntry]:
    """Changes of a customer by developers and API keys, newest first."""
    await require_customer(call.db, call.project_id, id)
    merged_ids = await store.merged_ids_of(call.db, project_id=call.project_id, customer_id=id)
    return await audit.of_targets(call, [id, *merged_ids], page)


@post(
    "/projects/{project_id}/customers/{id}/ban",
    needs="customers:write",
    problems=[CustomerMissing],
    example={"reason": "Card fraud", "expiresAt": "2030-01-01T00:00:00Z"},
    response_example={
        "bannedAt": "2026-01-31T12:00:00.000Z",
        "banReason": "Card fraud",
        "banExpiresAt": "2030-01-01T00:00:00.000Z",
        "sessions": [],
    },
)
async def ban_customer(call: Call, id: UUID, data: CustomerBan | None = None) -> Customer:
    """Ban a customer: all sessions end, and sign-ins are refused until `expiresAt` or until the customer is unbanned.

    If the customer is banned already, the reason and the end change.
    """
    ban = data or CustomerBan()
    if ban.expires_at is not None and ban.expires_at <= call.now:
        raise Invalid.at("/expiresAt", "The end of a ban must be in the future.")
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        banned_at = customer.banned_at if rules.is_banned(customer, call.now) else call.now
        banned = replace(customer, banned_at=banned_at, ban_reason=ban.reason, ban_expires_at=ban.expires_at)
        customer = await store.set_ban(tx, banned, now=call.now)
        await end_sessions(tx, call, id)
        await events.record(tx, call, "customer.banned", id, reason=ban.reason)
        await audit.record(tx, call, "customer.banned", "Customer", id, reason=ban.reason)
    return await customer_view(call, customer)


@post("/projects/{project_id}/customers/{id}/unban", needs="customers:write", problems=[CustomerMissing])
async def unban_customer(call: Call, id: UUID) -> Customer:
    """Lift a ban, and any lockout after failed attempts. Sessions that the ban ended stay ended."""
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        await clear_lockout(tx, call, customer)
        if rules.is_banned(customer, call.now):
            unbanned = replace(customer, banned_at=None, ban_reason=None, ban_expires_at=None)
            customer = await store.set_ban(tx, unbanned, now=call.now)
            await events.record(tx, call, "customer.unbanned", id)
            await audit.record(tx, call, "customer.unbanned", "Customer", id)
    return await customer_view(call, customer)


@post("/projects/{project_id}/customers/{id}/unlock", needs="customers:write", problems=[CustomerMissing])
async def unlock_customer(call: Call, id: UUID) -> Customer:
    """Clear the failed sign-in attempts of a customer, from all IP addresses, and end a lockout."""
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        await clear_lockout(tx, call, customer)
        await events.record(tx, call, "customer.unlocked", id)
        await audit.record(tx, call, "customer.unlocked", "Customer", id)
    return await customer_view(call, customer)


@post(
    "/projects/{project_id}/customers/{id}/sessions/{session_id}/revoke",
    needs="customers:write",
    problems=[CustomerMissing, SessionMissing],
)
async def revoke_customer_session(call: Call, id: UUID, session_id: UUID) -> None:
    """End a session of a customer. Its tokens are rejected from the next request on."""
    async with call.db.transaction() as tx:
        await lock_customer(tx, call, id)
        await end_session(tx, call, id, session_id)
        await audit.record(tx, call, "customer.session_revoked", "Customer", id, session_id=str(session_id))


@post(
    "/projects/{project_id}/customers/{id}/sessions/revoke-all",
    needs="customers:write",
    problems=[CustomerMissing],
)
async def revoke_customer_sessions(call: Call, id: UUID) -> None:
    """End all sessions of a customer, including sign-ins that wait for a second factor."""
    async with call.db.transaction() as tx:
        await lock_customer(tx, call, id)
        ended = await end_sessions(tx, call, id)
        await audit.record(tx, call, "customer.sessions_revoked", "Customer", id, sessions=ended)


@post("/projects/{project_id}/customers/{id}/mfa/reset", needs="customers:write", problems=[CustomerMissing])
async def reset_customer_mfa(call: Call, id: UUID) -> None:
    """Remove the second factor and its recovery codes, for a customer who lost both.

    If a second factor is required, the customer sets up a new one at the next sign-in. Sign-ins that wait for the
    second factor end. If a second factor was on, the customer is notified by mail.
    """
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        await remove_second_factor(tx, call, customer)
        await events.record(tx, call, "customer.mfa_reset", id)
        if customer.mfa_enabled_at is not None:
            project = await projects.require_project(tx, call.project_id)
            change = text("The second factor was removed by {app}", app=mailer.app_name(project))
            await mailer.notify(tx, call, project, customer, "MFA_CHANGED", change=change)
        await audit.record(tx, call, "customer.mfa_reset", "Customer", id)


@patch(
    "/projects/{project_id}/customers/{id}/metadata",
    needs="customers:write",
    problems=[CustomerMissing, CustomerMetadataTooLarge],
    example={"metadata": {"plan": "pro", "trial": None}},
)
async def change_customer_metadata(call: Call, id: UUID, data: MetadataChange) -> Customer:
    """Merge keys into a customer's metadata at the top level; null removes a key. The result has at most 16 KiB.

    Honours `If-Match`.
    """
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        call.require_match(customer.updated_at)
        merged = rules.merged_metadata(customer.metadata, data.metadata)
        customer = await store.set_metadata(tx, project_id=call.project_id, id=id, metadata=Jsonb(merged), now=call.now)
        keys = sorted(data.metadata)[:100]
        await events.record(tx, call, "customer.metadata_updated", id, keys=keys)
        await audit.record(tx, call, "customer.metadata_updated", "Customer", id, keys=keys)
    return await customer_view(call, customer)


@patch(
    "/projects/{project_id}/customers/{id}/roles",
    needs="customers:write",
    problems=[CustomerMissing, RoleUnknown, TooManyCustomerRoles],
    example={"roles": ["MEMBER"]},
)
async def add_customer_roles(call: Call, id: UUID, data: RolesChange) -> Customer:
    """Add roles with the scope PROJECT to a customer, who keeps the present ones. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        customer = await _set_roles(tx, call, customer, [*customer.roles, *data.roles])
    return await customer_view(call, customer)


@put(
    "/projects/{project_id}/customers/{id}/roles",
    needs="customers:write",
    problems=[CustomerMissing, RoleUnknown, TooManyCustomerRoles],
    example={"roles": ["ADMIN"]},
)
async def replace_customer_roles(call: Call, id: UUID, data: RolesChange) -> Customer:
    """Replace the roles with the scope PROJECT of a customer. Honours `If-Match`."""
    async with call.db.transaction() as tx:
        customer = await lock_customer(tx, call, id)
        customer = await _set_roles(tx, call, customer, data.roles)
    return await customer_view(call, customer)


# Functions for other modules of this package, and for packages that depend on it.


async def require_customer(db: Queries, project_id: UUID, id: UUID) -> CustomerRow:
    """A customer's row, without a lock. Raises CustomerMissing."""
    return require_found(await store.get_customer(db, project_id=project_id, id=id), CustomerMissing)


async def lock_customer(tx: Transaction, call: Call, id: UUID) -> CustomerRow:
    """A customer's row, locked for update. Raises CustomerMissing."""
    return require_found(await store.lock_customer(tx, project_id=call.project_id, id=id), CustomerMissing)


async def language_of_address(db: Queries, project_id: UUID, email_key: str) -> str:
    """The language tag of the customer with this primary or secondary address; "" if it is not known."""
    customer = await store.find_by_email(db, project_id=project_id, email_key=email_key)
    return (customer and customer.language) or ""


async def insert_customer(
    tx: Transaction,
    call: Call,
    row: NewCustomerRow,
    *,
    created_at: Moment | None = None,
) -> CustomerRow | None:
    """Insert a customer's row; None if another customer has the address (also as a secondary one) or the external id.

    `created_at` is when the customer was created in another system; None: now. Records no event and does not check the
    quota.
    """
    key, project_id = row.email_key, call.project_id
    identifier = rules.address_hash(call.world.secrets, project_id, key) if key else None
    customer = await store.insert_customer(
        tx,
        row,
        project_id=project_id,
        id=new_id(),
        identifier=identifier,
        created_at=created_at or call.now,
        updated_at=call.now,
    )
    # Checked after the insert: it may have waited for a merge that added the address as a secondary one.
    if (
        customer is not None
        and key is not None
        and await store.other_address(tx, project_id=project_id, email_key=key) is not None
    ):
        await store.delete_customer(tx, project_id=call.project_id, id=customer.id)
        return None
    return customer


async def set_primary_email(
    tx: Transaction, call: Call, customer: CustomerRow, email: str, email_key: str, verified_at: Moment | None
) -> CustomerRow:
    """Set the primary address of a locked customer, and when it was verified (None: it is unverified).

    Returns the changed row. If the address is one of the customer's secondary ones, it is removed from those. The
    former primary address is not kept as a secondary one. Raises CustomerEmailTaken. Records no event, sends no mail.
    """
    identifier = rules.address_hash(call.world.secrets, call.project_id, email_key)
    row = replace(customer, email=email, email_key=email_key, identifier=identifier, email_verified_at=verified_at)
    try:
        changed = await store.set_email(tx, row, now=call.now)
    except psycopg.errors.UniqueViolation:
        raise CustomerEmailTaken from None
    await store.delete_other_address(tx, project_id=call.project_id, customer_id=customer.id, email_key=email_key)
    if await store.other_address(tx, project_id=call.project_id, email_key=email_key) is not None:
        raise CustomerEmailTaken
    return changed


async def add_other_address(
    tx: Transaction, call: Call, customer_id: UUID, email: str, email_key: str, verified_at: Moment | None
) -> None:
    """Add a secondary address that the customer can sign in with."""
    await store.insert_other_address(
        tx,
        project_id=call.project_id,
        email_key=email_key,
        customer_id=customer_id,
        email=email,
        identifier=rules.address_hash(call.world.secrets, call.project_id, email_key),
        verified_at=verified_at,
        created_at=call.now,
    )


async def add_customer(
    tx: Transaction,
    call: Call,
    data: NewCustomer,
    password_hash: str | None,
    *,
    created_at: Moment | None = None,
    method: str = "API",
) -> CustomerRow:
    """Create a customer in an open transaction, and record `customer.signed_up` with `method`.

    `created_at` is when the customer was created in another system; None: now. `password_hash` is the hash to store;
    the password in `data` is ignored. Does not check the quota. Raises CustomerEmailTaken, ExternalIdTaken,
    RoleUnknown, CustomerMetadataTooLarge and Invalid.
    """
    if data.phone_verified and data.phone is None:
        raise Invalid.at("/phoneVerified", "Send the phone number that is verified.", "required")
    address, key = rules.read_email(data.email) if data.email is not None else (None, None)
    await access.require_roles(tx, call.project_id, "PROJECT", data.roles)
    row = NewCustomerRow(
        external_id=data.external_user_id,
        email=address,
        email_key=key,
        email_verified_at=call.now if data.email_verified and key else None,
        phone=data.phone,
        name=data.name,
        language=data.language,
        metadata=rules.merged_metadata({}, data.metadata),
        roles=list(dict.fromkeys(data.roles)),
        password_hash=password_hash,
    )
    customer = await insert_customer(tx, call, row, created_at=created_at)
    if customer is not None and data.phone_verified:
        customer = await store.set_phone(
            tx, project_id=call.project_id, id=customer.id, phone=data.phone, verified_at=call.now, now=call.now
        )
    if customer is None:
        taken = key and await store.find_by_email(tx, project_id=call.project_id, email_key=key)
        raise CustomerEmailTaken if taken else ExternalIdTaken
    if password_hash is not None:
        customer = await add_identity(tx, call, customer, "PASSWORD")
    await events.record(tx, call, "customer.signed_up", customer.id, method=method)
    return customer


async def add_identity(tx: Transaction, call: Call, customer: CustomerRow, method: str) -> CustomerRow:
    """Add the identity of a local sign-in method (PASSWORD, EMAIL_CODE, PASSKEY) to a customer, unless the customer has
    it. Returns the changed row."""
    identity = IdentityKey(provider=method, issuer="local", subject=str(customer.id))
    if not await store.insert_identity(
        tx,
        identity,
        project_id=call.project_id,
        id=new_id(),
        customer_id=customer.id,
        created_at=call.now,
        account_name=None,
    ):
        return customer
    await store.refresh_providers(tx, project_id=call.project_id, id=customer.id)
    return await require_customer(tx, call.project_id, customer.id)


async def remove_second_factor(tx: Transaction, call: Call, customer: CustomerRow) -> CustomerRow:
    """Delete the second factor, if there is one, its recovery codes, sign-ins that wait for it, and remembered devices.

    Returns the changed row. Records no event.
    """
    await second_factor.delete(tx, customer.subject)
    begun = (PendingSecondFactor, PendingEnrollment, PendingTerms, RememberedDevice)
    await challenges.revoke(tx, call.project_id, customer.id, begun)
    return await store.set_mfa(tx, project_id=call.project_id, id=customer.id, mfa_enabled_at=None, now=call.now)


async def clear_lockout(tx: Transaction, call: Call, customer: CustomerRow, *, second_factor: bool = True) -> None:
    """Delete the counts and locks of all addresses of a customer and, with `second_factor`, of the second factor.

    Counts are those of failed attempts, wrong codes and requested mails, from all networks.
    """
    others = await store.other_addresses(tx, project_id=call.project_id, customer_ids=[customer.id])
    identifiers = {address.identifier for address in others}
    if second_factor:
        identifiers.add(customer.subject.second_factor_identifier)
    for identifier in identifiers | ({customer.identifier} if customer.identifier else set()):
        await clear_counts(tx, call, mailer.MAIL_POLICY, identifier)


async def customer_view(call: Call, customer: CustomerRow, db: Queries | None = None) -> Customer:
    """The API record of a customer; see `customer_views`."""
    return (await customer_views(call, [customer], db))[0]


async def customer_views(call: Call, customers: Sequence[CustomerRow], db: Queries | None = None) -> list[Customer]:
    """The API records of customers of the call's project, with identities, live sessions and failed attempts.

    Pass the open transaction as `db` to read its uncommitted changes.
    """
    db = db or call.db
    ids = [customer.id for customer in customers]
    if not ids:
        return []
    identities = await store.identities(db, project_id=call.project_id, customer_ids=ids)
    sessions = await session_store.live_sessions(
        db, project_id=call.project_id, subject_ids=ids, now=call.now, limit=SESSIONS_LIMIT * len(ids)
    )
    others = await store.other_addresses(db, project_id=call.project_id, customer_ids=ids)
    identifiers = [customer.identifier for customer in customers if customer.identifier is not None]
    identifiers += [customer.subject.second_factor_identifier for customer in customers]
    failures = {
        row.identifier: row for row in await store.failures_of(db, project_id=call.project_id, identifiers=identifiers)
    }
    views: list[Customer] = []
    for customer in customers:
        attempts = [
            failures[identifier]
            for identifier in {customer.identifier or b"", customer.subject.second_factor_identifier}
            if identifier in failures
        ]
        locked_until = max((row.locked_until for row in attempts if row.locked_until is not None), default=None)
        banned = rules.is_banned(customer, call.now)
        views.append(
            Customer(
                id=customer.id,
                project_id=customer.project_id,
                external_user_id=customer.external_id,
                email=customer.email,
                email_verified_at=customer.email_verified_at,
                other_emails=[
                    OtherEmail(email=address.email, verified_at=address.verified_at)
                    for address in others
                    if address.customer_id == customer.id
                ],
                phone=customer.phone,
                phone_verified_at=customer.phone_verified_at,
                name=customer.name,
                language=customer.language,
                metadata=customer.metadata,
                roles=customer.roles,
                last_sign_in_at=customer.last_sign_in_at,
                banned_at=customer.banned_at if banned else None,
                ban_reason=customer.ban_reason if banned else None,
                ban_expires_at=customer.ban_expires_at if banned else None,
                mfa_enabled_at=customer.mfa_enabled_at,
                failed_sign_in_attempts=sum(row.failures for row in attempts),
                sign_in_locked_until=locked_until if locked_until and locked_until > call.now else None,
                identities=[
                    CustomerIdentity(provider=identity.provider, created_at=identity.created_at)
                    for identity in identities
                    if identity.customer_id == customer.id
                ],
                sessions=[session_view(session) for session in sessions if session.subject_id == customer.id],
                created_at=customer.created_at,
                updated_at=customer.updated_at,
            )
        )
    return views


async def _search(
    call: Call, filters: tuple[str | None, str | None, str | None], limit: int, position: PagePosition
) -> tuple[Sequence[CustomerRow], int]:
    """A page of the customers that match the filters (text, status, provider), and the number of all that match."""
    q, status, provider = filters
    where, offset = rules.filter_condition(q, status, provider, call.now), position.offset
    if position.after is not None:
        where_after = SQL("c.id < {} and {}").format(Literal(position.after), where)
        rows = await store.list_customers(call.db, project_id=call.project_id, where=where_after, limit=limit, offset=0)
        if not q:
            return rows, await _count(call, status, provider)
        return rows, await store.count_customers(call.db, project_id=call.project_id, where=where)
    if q and not q.isspace():
        results = await store.search_customers(
            call.db, project_id=call.project_id, where=where, limit=limit, offset=offset
        )
        if results or offset == 0:
            return results, results[0].total if results else 0
        return [], await store.count_customers(call.db, project_id=call.project_id, where=where)
    rows = await store.list_customers(call.db, project_id=call.project_id, where=where, limit=limit, offset=offset)
    # A page that is not full is the last one, so the total follows from its length.
    is_last = len(rows) < limit and (rows or offset == 0)
    return rows, offset + len(rows) if is_last else await _count(call, status, provider)


async def _count(call: Call, status: str | None, provider: str | None) -> int:
    """How many customers match: from the counts in `customer_facets` if they have the status, else by counting rows."""
    if status in ("banned", "locked"):
        where = rules.filter_condition(None, status, provider, call.now)
        return await store.count_customers(call.db, project_id=call.project_id, where=where)
    count = await store.count_facets(
        call.db,
        project_id=call.project_id,
        verified={"verified": True, "unverified": False}.get(status or ""),
        mfa=True if status == "mfa" else None,
        provider=provider,
    )
    if status == "active":
        where = rules.filter_condition(None, "banned", provider, call.now)
        count -= await store.count_customers(call.db, project_id=call.project_id, where=where)
    return count


async def _password_hash(data: NewCustomer) -> str | None:
    """The password hash to store for a new customer, or None. Raises Invalid, PasswordCommon, HashRefused."""
    if data.password is not None and data.password_hash is not None:
        raise Invalid.at("/passwordHash", "Send `password` or `passwordHash`, not both.")
    if data.email is None and (data.password is not None or data.password_hash is not None):
        raise Invalid.at("/email", "A password needs an address to sign in with.", "required")
    if data.password_hash is not None:
        return await import_hash(data.password_hash)
    if data.password is None:
        return None
    require_uncommon(data.password, data.email)
    return await hash_password(data.password)


async def _change_email(tx: Transaction, call: Call, customer: CustomerRow, data: CustomerChange) -> CustomerRow:
    """Apply `email` and `emailVerified`; a new address is unverified unless `emailVerified` is true."""
    verified = None if data.email_verified is UNSET else data.email_verified
    if data.email is UNSET:
        if verified is None or verified == (customer.email_verified_at is not None):
            return customer
        if customer.email is None or customer.email_key is None:
            raise Invalid.at("/emailVerified", "This customer has no address to verify.")
        return await set_primary_email(
            tx, call, customer, customer.email, customer.email_key, call.now if verified else None
        )
    address, key = rules.read_email(data.email)
    holder = await store.find_by_email(tx, project_id=call.project_id, email_key=key)
    if holder is not None and holder.id != customer.id:
        raise CustomerEmailTaken
    if key == customer.email_key:
        verified_at = (
            customer.email_verified_at
            if verified is None
            else (customer.email_verified_at or call.now)
            if verified
            else None
        )
        if (address, verified_at) == (customer.email, customer.email_verified_at):
            return customer
        return await set_primary_email(tx, call, customer, address, key, verified_at)
    # Codes and links that were mailed to the old address stop working.
    await challenges.revoke(tx, call.project_id, customer.id)
    project = await projects.require_project(tx, call.project_id)
    await mailer.notify(tx, call, project, customer, "EMAIL_CHANGED")
    return await set_primary_email(tx, call, customer, address, key, call.now if verified else None)


async def _change_phone(tx: Transaction, call: Call, customer: CustomerRow, data: CustomerChange) -> CustomerRow:
    """Apply `phone` and `phoneVerified`; a new number is unverified unless `phoneVerified` is true."""
    phone = customer.phone if data.phone is UNSET else data.phone
    verified_at = customer.phone_verified_at if phone == customer.phone else None
    if data.phone_verified is not UNSET:
        verified_at = (verified_at or call.now) if data.phone_verified else None
    if phone is None and data.phone_verified is True:
        raise Invalid.at("/phoneVerified", "This customer has no phone number to verify.")
    if (phone, verified_at) == (customer.phone, customer.phone_verified_at):
        return customer
    return await store.set_phone(
        tx, project_id=call.project_id, id=customer.id, phone=phone, verified_at=verified_at, now=call.now
    )


async def _set_roles(tx: Transaction, call: Call, customer: CustomerRow, roles: list[str]) -> CustomerRow:
    """Replace the roles of a locked customer, and record the change unless they stay the same."""
    call.require_match(customer.updated_at)
    roles = list(dict.fromkeys(roles))
    if len(roles) > ROLES_LIMIT:
        raise TooManyCustomerRoles.of_value("/roles")
    added = [role for role in roles if role not in customer.roles]
    await access.require_roles(tx, call.project_id, "PROJECT", added)
    if roles == customer.roles:
        return customer
    customer = await store.set_roles(tx, project_id=call.project_id, id=customer.id, roles=roles, now=call.now)
    await events.record(tx, call, "customer.roles_updated", customer.id, roles=roles)
    await audit.record(tx, call, "customer.roles_updated", "Customer", customer.id, roles=roles)
    return customer
