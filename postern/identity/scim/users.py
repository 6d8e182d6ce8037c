"""Users of directories: creation, change, deactivation and deletion, with the customers and members they stand for.

A user stands for one customer. An address links a user to an existing customer only if the organization has verified
the domain of the address, or if the customer is a member of the organization already.
"""

from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from msgspec.structs import replace
from psycopg.sql import SQL

from postern.identity.customers import provisioning
from postern.identity.customers.model import CustomerEmailTaken, CustomerMissing, CustomerRow
from postern.identity.customers.operations import lock_customer
from postern.identity.customers.provisioning import ProvisionedProfile
from postern.identity.customers.rules import read_email
from postern.identity.customers.sessions import end_sessions_of_organization
from postern.identity.organizations import members
from postern.identity.organizations.domains import owner_of_domain
from postern.identity.organizations.model import OrganizationMemberMissing
from postern.identity.organizations.rules import domain_of
from postern.identity.scim import rules, store, user_store
from postern.identity.scim.authentication import Directory
from postern.identity.scim.documents import ListRequest, user_document
from postern.identity.scim.model import (
    CUSTOMERS_PER_CONNECTION,
    RETURNED_MEMBERS,
    SCAN_LIMIT,
    USERS_PER_CONNECTION,
    UserRow,
)
from postern.identity.scim.roles import desired_roles, update_member_roles
from postern.identity.scim.scans import FilterScan
from postern.identity.scim.user_store import RoleFacts, UserGroup
from postern.kernel.database.statements import Queries, Transaction
from postern.kernel.http.call import RecordChanged
from postern.kernel.http.problems import Invalid, Missing, require_found
from postern.kernel.limits import RateLimit
from postern.kernel.values import new_id
from postern.platform.audit import operations as audit
from postern.platform.events.model import EventRow
from postern.protocols.scim.filters import Filter, parse_filter
from postern.protocols.scim.problems import ScimNotUnique, ScimRequestInvalid
from postern.protocols.scim.schemas import USER, Document
from postern.web.language_tags import read_language_tag

SCAN_CHUNK = 200
"""Users that are read together to evaluate a filter on them."""
GUEST_RATE = RateLimit("scim-guests", 100, timedelta(hours=1))
"""Limit of the users at domains that the organization has not verified, or without an address, that one connection
creates. Refused ones count, because the refusal reveals that a customer has the address."""


class ScimResourceMissing(Missing):
    """There is no such resource in this directory."""


@dataclass(frozen=True)
class UserPage:
    """A page of users, the groups of each, and the number of all users that match."""

    documents: list[Document]
    total: int


async def create_user(directory: Directory, document: Document) -> Document:
    """Create a user and, if it is active, a member of the organization. Returns the resource.

    Raises ScimRequestInvalid, ScimNotUnique, and the problems of joining an organization.
    """
    call = directory.call
    document.setdefault("active", True)
    row = _row_of(directory, document, new_id())
    async with directory.changing() as (tx, directory):
        directory.require_not_suspended()
        await _require_unique(tx, directory, row, None)
        correction = await _require_room(tx, directory)
        profile = await _read_profile(tx, directory, document)
        customer, is_new = await _link_or_create(tx, directory, profile)
        if await user_store.user_of_customer(tx, **directory.key, customer_id=customer.id):
            raise ScimNotUnique("Another user of this directory has the same address.")
        row = replace(row, customer_id=customer.id)
        if row.active:
            row = replace(row, roles=await _join(tx, directory, row))
        if await user_store.insert_user(tx, row) is None:
            raise ScimNotUnique("Another user has this name, external id or address.")
        await store.add_to_user_count(
            tx, project_id=call.project_id, id=row.connection_id, added=1 + correction, created=int(is_new)
        )
        await audit.record(
            tx, call, "directory_user.created", "Customer", customer.id, directory_user_id=row.id, active=row.active
        )
    return user_document(directory.base_url, row, [])


async def get_user(directory: Directory, id: UUID, request: ListRequest) -> tuple[Document, int]:
    """A user, and its version. Raises ScimResourceMissing."""
    row = require_found(await user_store.get_user(directory.call.db, **directory.key, id=id), ScimResourceMissing)
    groups = await _groups_of(directory.call.db, directory, [row]) if request.returns(USER, "groups") else {}
    return user_document(directory.base_url, row, groups.get(row.id, [])), row.version


async def replace_user(directory: Directory, id: UUID, document: Document) -> tuple[Document, int]:
    """Replace the attributes of a user. Without `active`, the user stays as it is. See `change_user`."""
    return await change_user(directory, id, lambda before: {"active": before.active, **document})


async def change_user(directory: Directory, id: UUID, change: Callable[[UserRow], Document]) -> tuple[Document, int]:
    """Change a user: `change` gets the present row and returns the new attributes. Returns the resource and its
    version, which stays the same if nothing changes.

    If the new attributes do not have `active`, the user stays active or inactive. A user who becomes inactive is no
    longer a member, and the sessions for the organization end. Raises ScimResourceMissing, RecordChanged (`If-Match`),
    ScimRequestInvalid, ScimNotUnique, LastOwner, and the problems of joining an organization.
    """
    call = directory.call
    async with directory.changing() as (tx, directory):
        before, customer = await _lock_user(tx, directory, id)
        require_version(directory, before.version)
        document = change(before)
        row = before
        if document != before.attributes:
            row = replace(
                _row_of(directory, document, id),
                active=document.get("active", before.active),
                customer_id=before.customer_id,
                roles=before.roles,
                version=before.version,
                created_at=before.created_at,
            )
            if row.active or not before.active:
                directory.require_not_suspended()
            await _require_unique(tx, directory, row, id)
            await _update_customer(tx, directory, before, row, customer)
            row = replace(row, roles=await _change_membership(tx, directory, before, row))
            row = await user_store.update_user(tx, row, now=call.now)
            action = "updated" if row.active == before.active else "activated" if row.active else "deactivated"
            await audit.record(
                tx, call, f"directory_user.{action}", "Customer", row.customer_id, directory_user_id=row.id
            )
        groups = await _groups_of(tx, directory, [row])
    return user_document(directory.base_url, row, groups.get(row.id, [])), row.version


async def delete_user(directory: Directory, id: UUID) -> None:
    """Delete a user. The customer stays, but is no longer a member, and the sessions for the organization end.

    Raises ScimResourceMissing, RecordChanged (`If-Match`) and LastOwner.
    """
    call = directory.call
    async with directory.changing() as (tx, directory):
        row, _ = await _lock_user(tx, directory, id)
        require_version(directory, row.version)
        if row.active:
            await _leave(tx, directory, row)
        await user_store.delete_user(tx, project_id=call.project_id, id=id)
        await store.add_to_user_count(tx, project_id=call.project_id, id=row.connection_id, added=-1, created=0)
        await audit.record(tx, call, "directory_user.deleted", "Customer", row.customer_id, directory_user_id=id)


async def list_users(directory: Directory, request: ListRequest) -> UserPage:
    """A page of the users that match a filter. Raises ScimRequestInvalid."""
    db = directory.call.db
    parsed = None if request.filter is None else parse_filter(USER, request.filter)
    condition = SQL("true") if parsed is None else rules.user_condition(parsed)
    if condition is None:
        assert parsed is not None
        rows, total = await _scan(directory, parsed, request)
    else:
        rows = await user_store.list_users(
            db, **directory.key, where=condition, limit=request.count, offset=request.offset
        )
        total = request.total_after(len(rows))
        if total is None:
            total = await user_store.count_matching(db, **directory.key, where=condition)
    groups = await _groups_of(db, directory, rows) if rows and request.returns(USER, "groups") else {}
    documents = [request.select(USER, user_document(directory.base_url, row, groups.get(row.id, []))) for row in rows]
    return UserPage(documents, total)


async def on_merges(tx: Transaction, merges: list[EventRow]) -> None:
    """React to merges of customers, in the transaction that records them: the users of the merged customer stand for
    the survivor. Where both have a user, that of the survivor gets the roles and groups of the other one, and the roles
    are computed anew in the background."""
    for event in merges:
        if event.subject_id is not None and event.data.get("mergedCustomerId"):
            customers = {"survivor_id": event.subject_id, "loser_id": UUID(event.data["mergedCustomerId"])}
            kept = await user_store.merge_users(tx, project_id=event.project_id, **customers)
            if kept:
                await user_store.copy_memberships(tx, project_id=event.project_id, **customers)
                connection_ids = sorted({user.connection_id for user in kept})
                await store.restart_roles(tx, project_id=event.project_id, ids=connection_ids, now=event.occurred_at)
                tx.mark_due("directory_connections")
            await user_store.move_users(tx, project_id=event.project_id, **customers)


def require_version(directory: Directory, version: int) -> None:
    """Raise RecordChanged if the request has an `If-Match` header that does not name this version."""
    header = directory.call.if_match
    if header is not None and not rules.is_version(header, version):
        raise RecordChanged


async def _scan(directory: Directory, filter: Filter, request: ListRequest) -> tuple[list[UserRow], int]:
    """The rows of a page, and the number of all matching users, for a filter that the database cannot evaluate.

    At most SCAN_LIMIT users are read, in chunks. Raises ScimRequestInvalid (`tooMany`) if there are more, or if the
    filter needs too many comparisons, and TooManyRequests.
    """
    scan = FilterScan(directory, filter)
    where, after, scanned, total = rules.narrowing(filter), None, 0, 0
    page: list[UserRow] = []
    while True:
        rows = await user_store.scan_users(
            directory.call.db, **directory.key, where=where, after=after, limit=SCAN_CHUNK
        )
        groups = await _groups_of(directory.call.db, directory, rows) if rows else {}
        for row in rows:
            if await scan.matches(user_document(directory.base_url, row, groups.get(row.id, []))):
                total += 1
                if request.offset < total <= request.offset + request.count:
                    page.append(row)
        scanned += len(rows)
        if len(rows) < SCAN_CHUNK:
            return page, total
        if scanned >= SCAN_LIMIT:
            message = (
                f"This filter can be evaluated on at most {SCAN_LIMIT:,} users. "
                "Filter by userName, externalId, emails.value, displayName, active or meta.lastModified, too."
            )
            raise ScimRequestInvalid("tooMany", message)
        after = rows[-1].id


async def _groups_of(db: Queries, directory: Directory, rows: list[UserRow]) -> dict[UUID, list[UserGroup]]:
    """The groups of users, by the id of the user. Raises ScimRequestInvalid if there are too many for a response."""
    user_groups = await user_store.groups_of_users(
        db,
        project_id=directory.call.project_id,
        user_ids=[row.id for row in rows],
        limit=RETURNED_MEMBERS + 1,
    )
    if len(user_groups) > RETURNED_MEMBERS:
        raise ScimRequestInvalid("tooMany", "These users have too many groups; send `excludedAttributes=groups`.")
    by_user: dict[UUID, list[UserGroup]] = {}
    for group in user_groups:
        by_user.setdefault(group.user_id, []).append(group)
    return by_user


def _row_of(directory: Directory, document: Document, id: UUID) -> UserRow:
    """The row of a user with these attributes; customer and roles are to be filled in."""
    call, user_name = directory.call, str(document["userName"]).strip()
    document = {**document, "userName": user_name}
    rules.require_indexable(document)
    return UserRow(
        project_id=call.project_id,
        id=id,
        connection_id=directory.connection.id,
        customer_id=id,
        external_id=document.get("externalId") or None,
        user_name=user_name,
        user_name_key=user_name.casefold(),
        display_name=document.get("displayName"),
        active=document.get("active", True),
        email_keys=rules.address_keys(document),
        attributes=document,
        roles=[],
        version=1,
        created_at=call.now,
        updated_at=call.now,
    )


async def _lock_user(tx: Transaction, directory: Directory, id: UUID) -> tuple[UserRow, CustomerRow]:
    """A user and its customer, which is locked. Raises ScimResourceMissing.

    Merges and erasures lock customers before they change the users, so the row of the user is not locked before the
    customer: the changes of the directory itself are serialised.
    """
    row = require_found(await user_store.get_user(tx, **directory.key, id=id), ScimResourceMissing)
    while True:
        customer_id = row.customer_id
        try:
            customer = await lock_customer(tx, directory.call, customer_id)
        except CustomerMissing:  # It was merged or erased after the user was read.
            customer = None
        row = require_found(await user_store.get_user(tx, **directory.key, id=id), ScimResourceMissing)
        if customer is not None and row.customer_id == customer_id:
            return row, customer


async def _require_room(tx: Transaction, directory: Directory) -> int:
    """Raise ScimRequestInvalid if the directory has as many users as it can have. Returns what is to be added to the
    stored number of users.

    The number in the connection is too high if customers were erased, so the users are counted when it is reached. The
    customers that the directory has created are limited, too: those of deleted users stay.
    """
    if directory.connection.created_count >= CUSTOMERS_PER_CONNECTION:
        raise ScimRequestInvalid("tooMany", f"A directory can create at most {CUSTOMERS_PER_CONNECTION:,} customers.")
    if directory.connection.stored_user_count < USERS_PER_CONNECTION:
        return 0
    counts = await store.counts(tx, project_id=directory.call.project_id, id=directory.connection.id)
    if counts.user_count >= USERS_PER_CONNECTION:
        raise ScimRequestInvalid("tooMany", f"A directory can have at most {USERS_PER_CONNECTION:,} users.")
    return counts.user_count - directory.connection.stored_user_count


async def _require_unique(tx: Transaction, directory: Directory, row: UserRow, except_id: UUID | None) -> None:
    other = await user_store.other_user(
        tx,
        **directory.key,
        user_name_key=row.user_name_key,
        external_id=row.external_id,
        except_id=except_id,
    )
    if other is not None:
        raise ScimNotUnique("Another user of this directory has this `userName` or `externalId`.")


async def _read_profile(tx: Transaction, directory: Directory, document: Document) -> ProvisionedProfile:
    """The address, the name and the language of a user. Raises ScimRequestInvalid if the address is malformed."""
    text, email, key, verified = rules.primary_address(document), None, None, False
    if text is not None:
        try:
            email, key = read_email(text)
        except Invalid as problem:
            raise ScimRequestInvalid(
                "invalidValue",
                f"The e-mail address is not valid: {problem.detail}",
                recorded="The e-mail address is not valid.",
            ) from None
        verified = await _owns_domain(tx, directory, key)
    return ProvisionedProfile(
        email=email,
        email_key=key,
        email_verified=verified,
        name=rules.full_name(document),
        language=read_language_tag(document.get("preferredLanguage")),
    )


async def _owns_domain(tx: Transaction, directory: Directory, email_key: str) -> bool:
    """Whether the organization has verified the domain of an address."""
    owner_id = await owner_of_domain(tx, directory.call.project_id, domain_of(email_key))
    return owner_id == directory.connection.organization_id


async def _require_address(tx: Transaction, directory: Directory, profile: ProvisionedProfile) -> None:
    """Raise ScimRequestInvalid unless the directory may provision a user with this address.

    It may if the organization has verified the domain. If other domains are allowed, it may also provision users
    without an address, and those at domains that no organization of the project has verified.
    """
    if profile.email_verified:
        return
    if not directory.connection.allow_other_domains:
        raise ScimRequestInvalid(
            "invalidValue",
            "A user needs an address. To provision users without one, allow other domains for this directory."
            if profile.email_key is None
            else f"The organization has not verified the domain {domain_of(profile.email_key)}. Verify it, or allow "
            "other domains for this directory.",
        )
    if profile.email_key is not None:
        owner_id = await owner_of_domain(tx, directory.call.project_id, domain_of(profile.email_key))
        if owner_id is not None:
            raise ScimRequestInvalid(
                "invalidValue", f"Another organization has verified the domain {domain_of(profile.email_key)}."
            )


async def _link_or_create(
    tx: Transaction, directory: Directory, profile: ProvisionedProfile
) -> tuple[CustomerRow, bool]:
    """The customer whom a new user stands for, locked, and whether it was created.

    Raises ScimRequestInvalid, ScimNotUnique, and TooManyRequests if many guests were created.
    """
    call, connection = directory.call, directory.connection
    holder = None
    if profile.email_key is not None:
        holder = await provisioning.lock_customer_with_address(tx, call, profile.email_key)
        if holder is not None and profile.email_verified:
            holder = await provisioning.link_by_address(tx, call, holder, profile.email_key)
            if holder.email_key == profile.email_key:
                # What the customer has chosen stays.
                profile = replace(profile, language=holder.language or profile.language)
                holder = await provisioning.update_provisioned(tx, call, holder, profile)
            return holder, False
        if holder is not None and await members.roles_in(tx, call, connection.organization_id, holder.id) is not None:
            return holder, False
    await _require_address(tx, directory, profile)
    if not profile.email_verified:
        call.world.limiter.take(GUEST_RATE, str(connection.id))
    if holder is not None:
        raise ScimNotUnique(
            "A customer has this address, and is not a member. The directory can link a customer only if the "
            "organization has verified the domain of the address."
        )
    try:
        return await provisioning.create_provisioned(tx, call, profile), True
    except CustomerEmailTaken:
        raise ScimNotUnique("A concurrent request has registered this address; try again.") from None


async def _update_customer(
    tx: Transaction, directory: Directory, before: UserRow, after: UserRow, customer: CustomerRow
) -> None:
    """Carry a changed name, language or address over to the customer, if the organization vouches for the customer: it
    has verified the domain of the customer's primary address. Other customers keep what they have; one without an
    address gets a verified one.

    The address of the customer is verified first: if another person may have registered it, the credentials are
    removed. Raises ScimRequestInvalid for a new address that the directory may not provision, and ScimNotUnique.
    """
    old = await _read_profile(tx, directory, before.attributes)
    new = await _read_profile(tx, directory, after.attributes)
    # What the customer has chosen stays until the directory has another language than before.
    profile = new = replace(new, language=None if new.language == old.language else new.language)
    if new.email_key != old.email_key and new.email_key is not None:
        await _require_address(tx, directory, new)
    if customer.email_key is None:
        if not new.email_verified:
            return
    elif not await _owns_domain(tx, directory, customer.email_key):
        return
    else:
        is_same_address = new.email_key == old.email_key
        if not new.email_verified or is_same_address or customer.email_key != old.email_key:
            profile = replace(new, email=None, email_key=None)
        is_unchanged = profile.name in (None, customer.name) and profile.language in (None, customer.language)
        if not after.active and profile.email_key is None and is_unchanged:
            return  # A user who only leaves keeps the credentials.
        customer = await provisioning.link_by_address(tx, directory.call, customer, customer.email_key)
    try:
        await provisioning.update_provisioned(tx, directory.call, customer, profile)
    except CustomerEmailTaken:
        raise ScimNotUnique("Another customer has this address.") from None


async def _change_membership(tx: Transaction, directory: Directory, before: UserRow, after: UserRow) -> list[str]:
    """Add or remove the member if `active` has changed. Returns the roles that are due to the directory."""
    if after.active and not before.active:
        # The organization may have lost the domain of the user's address.
        await _require_address(tx, directory, await _read_profile(tx, directory, after.attributes))
        return await _join(tx, directory, after)
    if before.active and not after.active:
        await _leave(tx, directory, before)
        return []
    return before.roles


async def _join(tx: Transaction, directory: Directory, row: UserRow) -> list[str]:
    """Make the customer a member, or change the roles of the member. Returns the roles that are due to the
    directory."""
    call, connection = directory.call, directory.connection
    desired = await desired_roles(tx, connection, [row.id])
    if await members.join(tx, call, connection.organization_id, row.customer_id, desired[row.id], "SCIM"):
        return desired[row.id]
    facts = RoleFacts(id=row.id, customer_id=row.customer_id, roles=row.roles)
    added = await update_member_roles(tx, call, connection, [facts], desired)
    return added.get(row.id, [])


async def _leave(tx: Transaction, directory: Directory, row: UserRow) -> None:
    """Remove the member, and end the sessions for the organization. If another directory of the organization has the
    customer as an active user, only the roles of this one are taken away. Raises LastOwner."""
    call, connection = directory.call, directory.connection
    other = await user_store.active_user_elsewhere(
        tx,
        **directory.key,
        organization_id=connection.organization_id,
        customer_id=row.customer_id,
    )
    if other is not None:
        facts = RoleFacts(id=row.id, customer_id=row.customer_id, roles=row.roles)
        await update_member_roles(tx, call, connection, [facts], {row.id: []})
        return
    try:
        await members.remove_member(tx, call, connection.organization_id, row.customer_id)
    except OrganizationMemberMissing:
        pass  # The member was removed or has left before.
    await end_sessions_of_organization(tx, call, row.customer_id, connection.organization_id)
