"""SQL of organizations and their members."""

from typing import LiteralString
from uuid import UUID

from psycopg.sql import SQL, Composable

from postern.identity.organizations.model import (
    MemberRow,
    NewOrganization,
    Organization,
    OrganizationMember,
    OrganizationMembershipRow,
)
from postern.kernel.database.statements import Jsonb, Queries, Transaction, statement
from postern.kernel.values import Moment, Record


class OwnedOrganization(Record):
    """An organization that a customer owns."""

    id: UUID
    name: str


class JoinCandidate(Record):
    """A customer, the organization that has verified the domain of the customer's address, and the data that decides
    whether the customer can join it.

    The fields of the domain and the organization are None if no organization has verified the domain.
    """

    customer_id: UUID
    is_banned: bool
    email_key: str | None
    email_verified: bool
    domain: str | None
    auto_join_enabled: bool | None
    organization_id: UUID | None
    organization_suspended: bool | None
    is_member: bool
    was_removed: bool
    """Whether the customer was removed from or left the organization, and was neither invited nor added since."""


# Insert an organization. Returns None if another organization has the slug or external id.
@statement("""
    insert into organizations {row} on conflict do nothing
    returning *, 0 as member_count, 0 as pending_invitation_count
""")
async def insert_organization(
    tx: Transaction,
    organization: NewOrganization,
    *,
    project_id: UUID,
    id: UUID,
    created_at: Moment,
    updated_at: Moment,
) -> Organization | None: ...


# The id of the organization with an external id, or None.
@statement("""
    select id from organizations where project_id = %(project_id)s and external_id = %(external_id)s
""")
async def id_of_external_id(db: Queries, *, project_id: UUID, external_id: str) -> UUID | None: ...


# The id of the organization with a slug, or None.
@statement("select id from organizations where project_id = %(project_id)s and slug = %(slug)s")
async def id_of_slug(db: Queries, *, project_id: UUID, slug: str) -> UUID | None: ...


# The text that a search in the list of organizations compares, as in the index `organizations_search`.
SEARCH_TEXT = SQL("lower(listed.name || ' ' || listed.slug || ' ' || coalesce(listed.external_id, ''))")

ORGANIZATIONS_WITH_COUNTS = """
    select listed.*,
           (select count(*)::int from organization_members member
            where member.project_id = listed.project_id and member.organization_id = listed.id
              /*distributed and member.project_id = :project */)
           as member_count,
           (select count(*)::int from invitations invitation
            where invitation.project_id = listed.project_id and invitation.organization_id = listed.id
              and invitation.status = 'PENDING' and invitation.expires_at > %(now)s
              /*distributed and invitation.project_id = :project */)
           as pending_invitation_count
    from organizations listed
"""


# `clause` has conditions on the organizations `listed`, and their order.
@statement(
    ORGANIZATIONS_WITH_COUNTS
    + """
    where listed.project_id = %(project_id)s and listed.status <> 'DELETED'
      and (%(external_id)s::text is null or listed.external_id = %(external_id)s)
      and {clause}
    limit %(limit)s
    """
)
async def list_organizations(
    db: Queries, *, project_id: UUID, external_id: str | None, clause: Composable, limit: int, now: Moment
) -> list[Organization]: ...


# The number of organizations that meet the conditions of `clause`, counted up to `limit`.
@statement("""
    select count(*)::int from (
        select from organizations listed
        where listed.project_id = %(project_id)s and listed.status <> 'DELETED'
          and (%(external_id)s::text is null or listed.external_id = %(external_id)s) and {clause}
        limit %(limit)s
    ) as counted
""")
async def count_listed(
    db: Queries, *, project_id: UUID, external_id: str | None, clause: Composable, limit: int
) -> int: ...


# An organization with its counts of members and pending invitations; None if it is deleted.
@statement(
    ORGANIZATIONS_WITH_COUNTS
    + """
    where listed.project_id = %(project_id)s and listed.id = %(id)s and listed.status <> 'DELETED'
    """
)
async def get_organization(db: Queries, *, project_id: UUID, id: UUID, now: Moment) -> Organization | None: ...


# Lock an organization for update. The counts in the row are 0.
@statement("""
    select *, 0 as member_count, 0 as pending_invitation_count from organizations
    where project_id = %(project_id)s and id = %(id)s and status <> 'DELETED' for update
""")
async def lock_organization(tx: Transaction, *, project_id: UUID, id: UUID) -> Organization | None: ...


# Lock an organization for share. The counts in the row are 0.
@statement("""
    select *, 0 as member_count, 0 as pending_invitation_count from organizations
    where project_id = %(project_id)s and id = %(id)s and status <> 'DELETED' for share
""")
async def lock_organization_shared(tx: Transaction, *, project_id: UUID, id: UUID) -> Organization | None: ...


# A change of the status also changes the entitlements: a suspended organization has none.
@statement("""
    update organizations set name = %(name)s, slug = %(slug)s, external_id = %(external_id)s, status = %(status)s,
        metadata = %(metadata)s, require_sso = %(require_sso)s, require_mfa = %(require_mfa)s,
        allowed_methods = %(allowed_methods)s, session_lifetime_minutes = %(session_lifetime_minutes)s,
        session_idle_minutes = %(session_idle_minutes)s,
        entitlements_version = entitlements_version + (status <> %(status)s)::int, updated_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def update_organization(tx: Transaction, row: Organization, *, now: Moment) -> None: ...


@statement("""
    update organizations set entitlements_version = entitlements_version + %(steps)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def advance_entitlements_version(tx: Transaction, *, project_id: UUID, id: UUID, steps: int) -> None:
    """Add `steps` to the organization's counter of changed entitlements."""


class OwnersSignIn(Record):
    """Whether an organization has an OWNER, and whether one of them can sign in by given methods."""

    has_owners: bool
    one_can: bool


# Whether an OWNER has a password, an address, a passkey or an account at an enabled provider, as far as these are among
# `methods`.
@statement("""
    select count(*) > 0 as has_owners, coalesce(bool_or(
            ('PASSWORD' = any(%(methods)s) and customer.password_hash is not null)
            or (array['EMAIL_CODE', 'EMAIL_LINK'] && %(methods)s::text[] and customer.email is not null)
            or ('PASSKEY' = any(%(methods)s) and 'PASSKEY' = any(customer.providers))
            or ('SOCIAL' = any(%(methods)s) and exists (
                select from customer_providers provider
                where provider.project_id = customer.project_id and provider.enabled
                  and provider.key = any(customer.providers)
                  /*distributed and provider.project_id = :project */))), false) as one_can
    from organization_members member
    join customers customer on customer.project_id = member.project_id and customer.id = member.customer_id
    where member.project_id = %(project_id)s and member.organization_id = %(organization_id)s
      and 'OWNER' = any(member.roles)
""")
async def owners_sign_in(
    db: Queries, *, project_id: UUID, organization_id: UUID, methods: list[str]
) -> OwnersSignIn: ...


# Mark an organization as DELETED; its rows in other tables are due for deletion now. Its slug becomes free: the new one
# contains `!`, which no slug in a request may contain.
@statement("""
    update organizations set status = 'DELETED', slug = '!' || id::text, external_id = null, due_at = %(now)s
    where project_id = %(project_id)s and id = %(id)s
""")
async def mark_deleted(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> None: ...


# Set when the deletion continues. Returns False if another worker has claimed the organization since the claim
# `attempt`.
@statement("""
    update organizations set due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s
""")
async def reschedule_deletion(db: Queries, *, project_id: UUID, id: UUID, attempt: int, due_at: Moment) -> bool: ...


@statement("""
    delete from organizations where project_id = %(project_id)s and id = %(id)s and status = 'DELETED'
""")
async def delete_organization(db: Queries, *, project_id: UUID, id: UUID) -> None: ...


# Members.


# Insert a member. Returns False if the customer is a member already.
@statement("""
    insert into organization_members {row} on conflict (project_id, organization_id, customer_id) do nothing
""")
async def insert_member(tx: Transaction, member: MemberRow) -> bool: ...


# Count members up to `limit`.
@statement("""
    select count(*)::int from (
        select from organization_members
        where project_id = %(project_id)s and organization_id = %(organization_id)s limit %(limit)s
    ) as limited
""")
async def count_members(db: Queries, *, project_id: UUID, organization_id: UUID, limit: int) -> int: ...


@statement("""
    select member.*, customer.email, customer.name from organization_members member
    join customers customer on customer.project_id = member.project_id and customer.id = member.customer_id
    where member.project_id = %(project_id)s and member.organization_id = %(organization_id)s
      and (%(before)s::uuid is null or member.id < %(before)s)
      and (%(q)s::text is null or strpos(lower(concat_ws(' ', customer.name, customer.email)), lower(%(q)s)) > 0)
    order by member.id desc limit %(limit)s
""")
async def list_members(
    db: Queries, *, project_id: UUID, organization_id: UUID, q: str | None, before: UUID | None, limit: int
) -> list[OrganizationMember]: ...


@statement("""
    select member.*, customer.email, customer.name from organization_members member
    join customers customer on customer.project_id = member.project_id and customer.id = member.customer_id
    where member.project_id = %(project_id)s and member.organization_id = %(organization_id)s
      and member.customer_id = %(customer_id)s
""")
async def get_member(
    db: Queries, *, project_id: UUID, organization_id: UUID, customer_id: UUID
) -> OrganizationMember | None: ...


class MemberRoles(Record):
    """The roles of a member."""

    customer_id: UUID
    roles: list[str]


@statement("""
    select customer_id, roles from organization_members
    where project_id = %(project_id)s and organization_id = %(organization_id)s
      and customer_id = any (%(customer_ids)s)
""")
async def roles_of_members(
    db: Queries, *, project_id: UUID, organization_id: UUID, customer_ids: list[UUID]
) -> list[MemberRoles]: ...


# Whether the organization has an OWNER besides these customers.
@statement("""
    select customer_id, roles from organization_members
    where project_id = %(project_id)s and organization_id = %(organization_id)s and 'OWNER' = any (roles)
      and not (customer_id = any (%(except_customer_ids)s))
    limit 1
""")
async def other_owner(
    db: Queries, *, project_id: UUID, organization_id: UUID, except_customer_ids: list[UUID]
) -> MemberRoles | None: ...


# `roles` has objects with the fields `customer_id` and `roles`.
@statement("""
    update organization_members member
    set roles = array(select jsonb_array_elements_text(change.roles)), updated_at = %(now)s
    from jsonb_to_recordset(%(roles)s) as change (customer_id uuid, roles jsonb)
    where member.project_id = %(project_id)s and member.organization_id = %(organization_id)s
      and member.customer_id = change.customer_id
""")
async def set_roles_of_members(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, roles: Jsonb, now: Moment
) -> None: ...


# Whether a customer whose primary address is `email_key` is a member.
@statement("""
    select from organization_members member
    join customers customer on customer.project_id = member.project_id and customer.id = member.customer_id
    where member.project_id = %(project_id)s and member.organization_id = %(organization_id)s
      and customer.email_key = %(email_key)s
""")
async def is_member_by_email(db: Queries, *, project_id: UUID, organization_id: UUID, email_key: str) -> bool: ...


@statement("""
    select count(*)::int from organization_members
    where project_id = %(project_id)s and organization_id = %(organization_id)s and 'OWNER' = any (roles)
      and customer_id <> %(except_customer_id)s
""")
async def count_other_owners(
    db: Queries, *, project_id: UUID, organization_id: UUID, except_customer_id: UUID
) -> int: ...


@statement("""
    update organization_members set roles = %(roles)s, updated_at = %(now)s
    where project_id = %(project_id)s and organization_id = %(organization_id)s and customer_id = %(customer_id)s
""")
async def set_roles(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, customer_id: UUID, roles: list[str], now: Moment
) -> None: ...


@statement("""
    delete from organization_members
    where project_id = %(project_id)s and organization_id = %(organization_id)s and customer_id = %(customer_id)s
""")
async def delete_member(tx: Transaction, *, project_id: UUID, organization_id: UUID, customer_id: UUID) -> bool: ...


@statement("""
    select member.id, organization.id as organization_id, organization.name, organization.slug, organization.status,
           member.roles, member.joined_at
    from organization_members member
    join organizations organization
      on organization.project_id = member.project_id and organization.id = member.organization_id
     and organization.status <> 'DELETED'
    where member.project_id = %(project_id)s and member.customer_id = %(customer_id)s
      and (%(before)s::uuid is null or member.id < %(before)s)
    order by member.id desc limit %(limit)s
""")
async def memberships(
    db: Queries, *, project_id: UUID, customer_id: UUID, before: UUID | None, limit: int
) -> list[OrganizationMembershipRow]: ...


# The ids of up to two organizations of a customer; with `only`, the id of that organization if the customer belongs to
# it.
@statement("""
    select member.organization_id from organization_members member
    join organizations organization
      on organization.project_id = member.project_id and organization.id = member.organization_id
     and organization.status <> 'DELETED'
    where member.project_id = %(project_id)s and member.customer_id = %(customer_id)s
      and (%(only)s::uuid is null or member.organization_id = %(only)s)
    limit 2
""")
async def organizations_of(db: Queries, *, project_id: UUID, customer_id: UUID, only: UUID | None) -> list[UUID]: ...


# When two customers are merged: where both are members, add the roles of the loser to those of the survivor. The
# loser's membership stays.
@statement("""
    update organization_members survivor
    set roles = array(select distinct unnest(survivor.roles || loser.roles) order by 1), updated_at = %(now)s
    from organization_members loser
    where survivor.project_id = %(project_id)s and survivor.customer_id = %(survivor_id)s
      and loser.project_id = survivor.project_id and loser.customer_id = %(loser_id)s
      and loser.organization_id = survivor.organization_id
""")
async def merge_memberships(
    tx: Transaction, *, project_id: UUID, survivor_id: UUID, loser_id: UUID, now: Moment
) -> None: ...


# When two customers are merged: where the survivor is not a member, give the loser's membership to the survivor.
@statement("""
    update organization_members loser set customer_id = %(survivor_id)s, updated_at = %(now)s
    where loser.project_id = %(project_id)s and loser.customer_id = %(loser_id)s and not exists (
        select from organization_members survivor
        where survivor.project_id = loser.project_id and survivor.organization_id = loser.organization_id
          and survivor.customer_id = %(survivor_id)s
    )
""")
async def move_memberships(
    tx: Transaction, *, project_id: UUID, survivor_id: UUID, loser_id: UUID, now: Moment
) -> None: ...


# Lock the organizations of which a customer is OWNER for update, in the order of their ids to avoid deadlocks. If two
# owners of an organization are erased concurrently, the second erasure waits for this lock. The statement
# `solely_owned_organizations`, which follows, then sees that the first owner is gone.
@statement("""
    select organization.id, organization.name
    from organization_members member
    join organizations organization
      on organization.project_id = member.project_id and organization.id = member.organization_id
     and organization.status <> 'DELETED'
    where member.project_id = %(project_id)s and member.customer_id = %(customer_id)s and 'OWNER' = any (member.roles)
    order by organization.id for update of organization
""")
async def lock_owned_organizations(
    tx: Transaction, *, project_id: UUID, customer_id: UUID
) -> list[OwnedOrganization]: ...


# The organizations among `ids` that have no OWNER other than the customer.
@statement("""
    select organization.id, organization.name from organizations organization
    where organization.project_id = %(project_id)s and organization.id = any (%(ids)s) and not exists (
        select from organization_members other
        where other.project_id = organization.project_id and other.organization_id = organization.id
          and other.customer_id <> %(customer_id)s and 'OWNER' = any (other.roles))
    order by organization.id
""")
async def solely_owned_organizations(
    tx: Transaction, *, project_id: UUID, customer_id: UUID, ids: list[UUID]
) -> list[OwnedOrganization]: ...


# Lock a customer for key share; returns the id, or None if there is no such customer.
@statement("select id from customers where project_id = %(project_id)s and id = %(id)s for key share")
async def lock_customer_shared(tx: Transaction, *, project_id: UUID, id: UUID) -> UUID | None: ...


# Add the role OWNER to a customer, who becomes a member if necessary. The customer must not be OWNER yet.
@statement("""
    insert into organization_members as member {row}
    on conflict (project_id, organization_id, customer_id) do update
        set roles = array_append(member.roles, 'OWNER'), updated_at = excluded.updated_at
""")
async def make_owner(tx: Transaction, owner: MemberRow) -> None: ...


# Removals: customers who were removed from an organization or left it.


# Store that a customer was removed from an organization or left it. The customer then cannot join by domain or by
# single sign-on.
@statement("""
    insert into organization_removals {row}
    on conflict (project_id, organization_id, customer_id) do update set removed_at = excluded.removed_at
""")
async def insert_removal(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, customer_id: UUID, removed_at: Moment
) -> None: ...


@statement("""
    delete from organization_removals
    where project_id = %(project_id)s and organization_id = %(organization_id)s and customer_id = %(customer_id)s
""")
async def delete_removal(tx: Transaction, *, project_id: UUID, organization_id: UUID, customer_id: UUID) -> None: ...


# Delete the removal of the customer whose primary address is `email_key`: then the customer can join by domain again.
@statement("""
    delete from organization_removals removal using customers customer
    where removal.project_id = %(project_id)s and removal.organization_id = %(organization_id)s
      and customer.project_id = removal.project_id and customer.id = removal.customer_id
      and customer.email_key = %(email_key)s
""")
async def delete_removals_of(tx: Transaction, *, project_id: UUID, organization_id: UUID, email_key: str) -> None: ...


# The customer's id if the customer was removed from the organization or left it, otherwise None.
@statement("""
    select customer_id from organization_removals
    where project_id = %(project_id)s and organization_id = %(organization_id)s and customer_id = %(customer_id)s
""")
async def removal(db: Queries, *, project_id: UUID, organization_id: UUID, customer_id: UUID) -> UUID | None: ...


# Joining by domain.


HAS_VERIFIED_DOMAINS: LiteralString = (
    "exists (select from organization_domains where project_id = any (%(project_id)s) and status = 'VERIFIED')"
)
"""Whether an organization of one of the projects has verified a domain; only then can sign-ins join customers."""


# A JoinCandidate for each customer that exists, in no particular order.
@statement("""
    select customer.id as customer_id, customer.email_key, customer.email_verified_at is not null as email_verified,
           customer.banned_at is not null
           and (customer.ban_expires_at is null or customer.ban_expires_at > %(now)s) as is_banned,
           domain.domain, domain.auto_join_enabled, domain.organization_id,
           organization.status = 'SUSPENDED' as organization_suspended, member.id is not null as is_member,
           removal.removed_at is not null as was_removed
    from customers customer
    left join organization_domains domain
      on domain.project_id = customer.project_id and domain.status = 'VERIFIED'
     and domain.domain = substring(customer.email_key from '@([^@]+)$')
    left join organizations organization
      on organization.project_id = domain.project_id and organization.id = domain.organization_id
    left join organization_members member
      on member.project_id = domain.project_id and member.organization_id = domain.organization_id
     and member.customer_id = customer.id
    left join organization_removals removal
      on removal.project_id = domain.project_id and removal.organization_id = domain.organization_id
     and removal.customer_id = customer.id
    where customer.project_id = %(project_id)s and customer.id = any (%(customer_ids)s)
""")
async def join_candidates(
    db: Queries, *, project_id: UUID, customer_ids: list[UUID], now: Moment
) -> list[JoinCandidate]: ...
