"""HTTP operations on members of organizations, and functions for other features."""

from typing import Annotated
from uuid import UUID

from msgspec import Meta

from postern.identity.access import operations as access
from postern.identity.access.model import RoleUnknown
from postern.identity.customers.model import CUSTOMER, CustomerMissing
from postern.identity.customers.operations import lock_customer, require_customer
from postern.identity.customers.sessions import bearer_of
from postern.identity.organizations import store
from postern.identity.organizations.model import (
    MEMBERS_PER_ORGANIZATION,
    AlreadyOrganizationMember,
    LastOwner,
    MemberRow,
    NewOrganizationMember,
    NotYourOrganization,
    Organization,
    OrganizationMember,
    OrganizationMemberChange,
    OrganizationMemberMissing,
    OrganizationMembership,
    OrganizationMembershipRow,
    OrganizationMissing,
    OrganizationRef,
    OrganizationSuspended,
    Source,
    TooManyOrganizationMembers,
)
from postern.identity.organizations.operations import ORGANIZATIONS, lock_organization, require_organization
from postern.kernel.database.statements import Jsonb, Queries, Transaction
from postern.kernel.http.call import Call, Caller
from postern.kernel.http.operation import delete, get, patch, post
from postern.kernel.http.pagination import Cursor, LinkedList, ListLimit, newest_first
from postern.kernel.http.problems import require_found
from postern.kernel.values import Moment, Removed, as_id, new_id
from postern.platform.audit import operations as audit
from postern.platform.events import operations as events

MemberSearch = Annotated[str, Meta(max_length=300, description="Part of the name or address, in any letter case.")]
# In the paths, `id` is the id of the organization.
MEMBERS = f"{ORGANIZATIONS}/{{id}}/members"


@get(MEMBERS, needs="organizations:read", problems=(OrganizationMissing,))
async def list_organization_members(
    call: Call, id: UUID, q: MemberSearch | None = None, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[OrganizationMember]:
    """List the members of an organization, most recently joined first. `q` is a part of the name or the address."""
    await require_organization(call.db, call, id)
    scope = f"members|{id}|{q or ''}"
    return await newest_first(call, scope, cursor, limit, store.list_members, organization_id=id, q=q or None)


@post(
    MEMBERS,
    needs="organizations:write",
    status=201,
    problems=(
        OrganizationMissing,
        AlreadyOrganizationMember,
        OrganizationSuspended,
        TooManyOrganizationMembers,
        RoleUnknown,
    ),
    example={"customerId": "019b1f3a-5f0e-7cc0-a2f4-0c2f6a1f9d11", "roles": ["ADMIN"]},
)
async def add_organization_member(call: Call, id: UUID, data: NewOrganizationMember) -> OrganizationMember:
    """Add a customer to an organization, with roles of the scope ORGANIZATION (default MEMBER)."""
    roles = list(dict.fromkeys(data.roles))
    async with call.db.transaction() as tx:
        await access.require_roles(tx, call.project_id, "ORGANIZATION", roles)
        # Lock the customer before the organization, as accepting an invitation and signing in do, to avoid deadlocks.
        customer = await lock_customer(tx, call, as_id(data.customer_id))
        if not await join(tx, call, id, customer.id, roles, "API"):
            raise AlreadyOrganizationMember
        row = await _require_member(tx, call, id, customer.id)
        await audit.record(tx, call, "member.added", "Organization", id, customerId=customer.id, roles=roles)
    return row


@get(
    f"{MEMBERS}/{{customer_id}}", needs="organizations:read", problems=(OrganizationMissing, OrganizationMemberMissing)
)
async def get_organization_member(call: Call, id: UUID, customer_id: UUID) -> OrganizationMember:
    """Get a member of an organization by the customer's id."""
    await require_organization(call.db, call, id)
    row = await store.get_member(call.db, project_id=call.project_id, organization_id=id, customer_id=customer_id)
    if row is None:
        raise OrganizationMemberMissing
    return row


@patch(
    f"{MEMBERS}/{{customer_id}}",
    needs="organizations:write",
    problems=(OrganizationMissing, OrganizationMemberMissing, LastOwner, RoleUnknown),
    example={"roles": ["ADMIN", "billing"]},
)
async def change_organization_member(
    call: Call, id: UUID, customer_id: UUID, data: OrganizationMemberChange
) -> OrganizationMember:
    """Replace the roles of a member. Returns 409 if it would remove the last OWNER. Honours `If-Match`."""
    roles = list(dict.fromkeys(data.roles))
    async with call.db.transaction() as tx:
        await lock_organization(tx, call, id)
        await access.require_roles(tx, call.project_id, "ORGANIZATION", roles)
        row = await _require_member(tx, call, id, customer_id)
        call.require_match(row.updated_at)
        if "OWNER" not in roles:
            await _require_other_owner(tx, call, row)
        await store.set_roles(
            tx, project_id=call.project_id, organization_id=id, customer_id=customer_id, roles=roles, now=call.now
        )
        await events.record(tx, call, "organization.updated", id, customerId=str(customer_id), roles=roles)
        await audit.record(tx, call, "member.updated", "Organization", id, customerId=customer_id, roles=roles)
        return await _require_member(tx, call, id, customer_id)


@delete(
    f"{MEMBERS}/{{customer_id}}",
    needs="organizations:write",
    problems=(OrganizationMissing, OrganizationMemberMissing, LastOwner),
)
async def remove_organization_member(call: Call, id: UUID, customer_id: UUID) -> Removed:
    """Remove a customer from an organization. The last OWNER cannot be removed (409).

    The customer does not join again by domain or single sign-on until invited or added again.
    """
    async with call.db.transaction() as tx:
        await remove_member(tx, call, id, customer_id)
        await audit.record(tx, call, "member.removed", "Organization", id, customerId=customer_id)
    return Removed()


@get("/projects/{project_id}/auth/organizations", accepts=CUSTOMER, restricted=True)
async def list_my_organizations(
    call: Call, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[OrganizationMembership]:
    """List the organizations of the signed-in customer, most recently joined first."""
    customer_id, _ = bearer_of(call)
    return await _list_memberships(call, customer_id, limit, cursor)


async def _list_memberships(
    call: Call, customer_id: UUID, limit: int, cursor: str | None
) -> LinkedList[OrganizationMembership]:
    scope = f"memberships|{customer_id}"
    page = await newest_first(call, scope, cursor, limit, store.memberships, customer_id=customer_id)
    return LinkedList([_as_membership(row) for row in page.items], page.next_cursor)


@get("/projects/{project_id}/customers/{id}/organizations", needs="organizations:read", problems=(CustomerMissing,))
async def list_customer_organizations(
    call: Call, id: UUID, limit: ListLimit = 1_000, cursor: Cursor | None = None
) -> LinkedList[OrganizationMembership]:
    """List the organizations of a customer with the customer's roles, most recently joined first."""
    await require_customer(call.db, call.project_id, id)
    return await _list_memberships(call, id, limit, cursor)


@delete(
    "/projects/{project_id}/auth/organizations/{id}", accepts=CUSTOMER, problems=(OrganizationMemberMissing, LastOwner)
)
async def leave_organization(call: Call, id: UUID) -> Removed:
    """Leave an organization as the signed-in customer. The last OWNER cannot leave (409).

    The customer does not join again by domain or single sign-on until invited or added again.
    """
    customer_id, _ = bearer_of(call)
    async with call.db.transaction() as tx:
        await remove_member(tx, call, id, customer_id)
    return Removed()


async def require_membership(call: Call, organization_id: UUID) -> Organization:
    """The organization of which the signed-in customer is a member. Raises NotYourOrganization if there is none with
    this id, or the customer does not belong to it."""
    customer_id, _ = bearer_of(call)
    row = await store.get_member(
        call.db, project_id=call.project_id, organization_id=organization_id, customer_id=customer_id
    )
    if row is None:
        raise NotYourOrganization
    return await require_organization(call.db, call, organization_id)


async def organizations_of(db: Queries, project_id: UUID, customer_id: UUID, only: UUID | None = None) -> list[UUID]:
    """The ids of up to two organizations of a customer: enough to see whether there is none, one or more.

    With `only`, just the id of that organization if the customer belongs to it, otherwise an empty list.
    """
    return await store.organizations_of(db, project_id=project_id, customer_id=customer_id, only=only)


async def join(
    tx: Transaction,
    call: Call,
    organization_id: UUID,
    customer_id: UUID,
    roles: list[str],
    source: Source,
    *,
    allow_suspended: bool = False,
) -> bool:
    """Add a customer to an organization. Returns False, and changes nothing, if the customer is a member already.

    The caller must have checked that the roles exist. Records `organization.member_added` and deletes the record of an
    earlier removal. Locks the organization for share. Raises OrganizationMissing, TooManyOrganizationMembers and,
    unless `allow_suspended` is set, OrganizationSuspended.
    """
    return await join_without_call(
        tx,
        call.project_id,
        organization_id,
        customer_id,
        roles,
        source,
        call.now,
        call.caller,
        allow_suspended=allow_suspended,
    )


async def join_without_call(
    tx: Transaction,
    project_id: UUID,
    organization_id: UUID,
    customer_id: UUID,
    roles: list[str],
    source: Source,
    now: Moment,
    actor: Caller,
    *,
    allow_suspended: bool = False,
) -> bool:
    """Like `join`, for event handlers and background work, which have no call. `actor` is recorded in the event."""
    organization = require_found(
        await store.lock_organization_shared(tx, project_id=project_id, id=organization_id), OrganizationMissing
    )
    if organization.status == "SUSPENDED" and not allow_suspended:
        raise OrganizationSuspended
    await tx.lock_quota("members", organization_id)
    member_count = await store.count_members(
        tx, project_id=project_id, organization_id=organization_id, limit=MEMBERS_PER_ORGANIZATION
    )
    if member_count >= MEMBERS_PER_ORGANIZATION:
        raise TooManyOrganizationMembers
    member = MemberRow(
        project_id=project_id,
        id=new_id(),
        organization_id=organization_id,
        customer_id=customer_id,
        roles=roles,
        source=source,
        joined_at=now,
        updated_at=now,
    )
    added = await store.insert_member(tx, member)
    if added:
        await store.delete_removal(tx, project_id=project_id, organization_id=organization_id, customer_id=customer_id)
        data = {"customerId": str(customer_id), "roles": roles, "source": source}
        event = events.make_event_by(actor, project_id, "organization.member_added", organization_id, now, **data)
        await events.record_all(tx, [event])
    return added


async def was_removed(tx: Transaction, call: Call, organization_id: UUID, customer_id: UUID) -> bool:
    """Whether a customer was removed from or left an organization, and was neither invited nor added since."""
    removal_id = await store.removal(
        tx, project_id=call.project_id, organization_id=organization_id, customer_id=customer_id
    )
    return removal_id is not None


async def roles_in(tx: Transaction, call: Call, organization_id: UUID, customer_id: UUID) -> list[str] | None:
    """The roles of a member; None if the customer is not a member."""
    row = await store.get_member(
        tx, project_id=call.project_id, organization_id=organization_id, customer_id=customer_id
    )
    return row.roles if row else None


async def replace_roles(
    tx: Transaction, call: Call, organization_id: UUID, customer_id: UUID, roles: list[str]
) -> list[str]:
    """Replace the roles of a member, except that the last OWNER stays OWNER. Returns the resulting roles.

    Locks the organization for update and records `organization.updated`. Raises OrganizationMissing and
    OrganizationMemberMissing.
    """
    await lock_organization(tx, call, organization_id)
    row = await _require_member(tx, call, organization_id, customer_id)
    if "OWNER" in row.roles and "OWNER" not in roles:
        try:
            await _require_other_owner(tx, call, row)
        except LastOwner:
            roles = ["OWNER", *roles]
    await store.set_roles(
        tx,
        project_id=call.project_id,
        organization_id=organization_id,
        customer_id=customer_id,
        roles=roles,
        now=call.now,
    )
    await events.record(tx, call, "organization.updated", organization_id, customerId=str(customer_id), roles=roles)
    return roles


async def roles_of_members(
    tx: Transaction, call: Call, organization_id: UUID, customer_ids: list[UUID]
) -> dict[UUID, list[str]]:
    """The roles of those of the customers that are members, by the id of the customer."""
    rows = await store.roles_of_members(
        tx, project_id=call.project_id, organization_id=organization_id, customer_ids=customer_ids
    )
    return {row.customer_id: row.roles for row in rows}


async def replace_roles_of_members(
    tx: Transaction, call: Call, organization_id: UUID, roles: dict[UUID, list[str]]
) -> dict[UUID, list[str]]:
    """Like `replace_roles` for many members, by the id of the customer: the last OWNER stays OWNER. Customers who are
    not members are ignored. Returns the resulting roles of those whose roles have changed.

    Locks the organization for update, and records `organization.updated` for each. Raises OrganizationMissing.
    """
    await lock_organization(tx, call, organization_id)
    present = await roles_of_members(tx, call, organization_id, list(roles))
    changed = {
        customer_id: new for customer_id, new in roles.items() if sorted(new) != sorted(present.get(customer_id, new))
    }
    demoted = [
        customer_id for customer_id, new in changed.items() if "OWNER" in present[customer_id] and "OWNER" not in new
    ]
    if (
        demoted
        and not await store.other_owner(
            tx, project_id=call.project_id, organization_id=organization_id, except_customer_ids=demoted
        )
        and not any("OWNER" in new for new in changed.values())
    ):
        changed[demoted[0]] = ["OWNER", *changed[demoted[0]]]
    if changed:
        rows = [{"customer_id": str(customer_id), "roles": new} for customer_id, new in changed.items()]
        await store.set_roles_of_members(
            tx, project_id=call.project_id, organization_id=organization_id, roles=Jsonb(rows), now=call.now
        )
        await events.record_all(
            tx,
            [
                events.make_event_by(
                    call.caller,
                    call.project_id,
                    "organization.updated",
                    organization_id,
                    call.now,
                    customerId=str(customer_id),
                    roles=new,
                )
                for customer_id, new in changed.items()
            ],
        )
    return changed


async def _require_member(tx: Transaction, call: Call, organization_id: UUID, customer_id: UUID) -> OrganizationMember:
    row = await store.get_member(
        tx, project_id=call.project_id, organization_id=organization_id, customer_id=customer_id
    )
    if row is None:
        raise OrganizationMemberMissing
    return row


async def remove_member(tx: Transaction, call: Call, organization_id: UUID, customer_id: UUID) -> None:
    """Remove a member. The customer does not join again by domain or single sign-on until invited or added again.

    Locks the organization for update and records `organization.member_removed`. Raises OrganizationMissing,
    OrganizationMemberMissing and LastOwner.
    """
    await lock_organization(tx, call, organization_id)
    row = await _require_member(tx, call, organization_id, customer_id)
    await _require_other_owner(tx, call, row)
    await store.delete_member(tx, project_id=call.project_id, organization_id=organization_id, customer_id=customer_id)
    # Otherwise joining by domain or single sign-on would add the member again at the next sign-in.
    await store.insert_removal(
        tx, project_id=call.project_id, organization_id=organization_id, customer_id=customer_id, removed_at=call.now
    )
    await events.record(tx, call, "organization.member_removed", organization_id, customerId=str(customer_id))


async def _require_other_owner(tx: Transaction, call: Call, row: OrganizationMember) -> None:
    """Raise LastOwner if the member is the only OWNER. The organization's row must be locked."""
    if "OWNER" in row.roles and not await store.count_other_owners(
        tx, project_id=call.project_id, organization_id=row.organization_id, except_customer_id=row.customer_id
    ):
        raise LastOwner


def _as_membership(row: OrganizationMembershipRow) -> OrganizationMembership:
    return OrganizationMembership(
        organization=OrganizationRef(id=row.organization_id, name=row.name, slug=row.slug),
        status=row.status,
        roles=row.roles,
        joined_at=row.joined_at,
    )
