"""SQL of invitations."""

from uuid import UUID

from postern.identity.organizations.model import OrganizationInvitationRow
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Moment


# Insert a pending invitation. Returns None if the address already has one to the organization.
@statement("""
    insert into invitations {row}
    on conflict (project_id, organization_id, email_key) where status = 'PENDING' do nothing
    returning *
""")
async def insert_invitation(
    tx: Transaction, invitation: OrganizationInvitationRow
) -> OrganizationInvitationRow | None: ...


# Lock the pending invitation of an address for update. Its expiry may have passed: the worker marks it as EXPIRED
# later.
@statement("""
    select * from invitations
    where project_id = %(project_id)s and organization_id = %(organization_id)s and email_key = %(email_key)s
      and status = 'PENDING'
    for update
""")
async def lock_pending_invitation(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, email_key: str
) -> OrganizationInvitationRow | None: ...


# Whether an address has a pending invitation, not expired, to an ACTIVE organization.
@statement("""
    select from invitations invitation join organizations organization
      on organization.project_id = invitation.project_id and organization.id = invitation.organization_id
     and organization.status = 'ACTIVE'
    where invitation.project_id = %(project_id)s and invitation.email_key = %(email_key)s
      and invitation.status = 'PENDING' and invitation.expires_at > %(now)s
    limit 1
""")
async def is_invited(db: Queries, *, project_id: UUID, email_key: str, now: Moment) -> bool: ...


# Includes invitations whose expiry has passed and that the worker has not marked yet.
@statement("""
    select count(*)::int from invitations
    where project_id = %(project_id)s and organization_id = %(organization_id)s and status = 'PENDING'
""")
async def count_pending_invitations(db: Queries, *, project_id: UUID, organization_id: UUID) -> int: ...


# The invitations with `status`, or all if it is None, newest first, with ids below `before`. For the filter, a pending
# invitation counts as EXPIRED after its expiry; its row says PENDING until the worker has marked it.
@statement("""
    select * from invitations
    where project_id = %(project_id)s and organization_id = %(organization_id)s
      and (%(before)s::uuid is null or id < %(before)s)
      and (%(status)s::text is null
           or %(status)s = case when status = 'PENDING' and expires_at <= %(now)s then 'EXPIRED' else status end)
    order by id desc limit %(limit)s
""")
async def list_invitations(
    db: Queries,
    *,
    project_id: UUID,
    organization_id: UUID,
    status: str | None,
    before: UUID | None,
    limit: int,
    now: Moment,
) -> list[OrganizationInvitationRow]: ...


@statement("select * from invitations where project_id = %(project_id)s and id = %(id)s")
async def get_invitation(db: Queries, *, project_id: UUID, id: UUID) -> OrganizationInvitationRow | None: ...


# Lock an invitation for update.
@statement("select * from invitations where project_id = %(project_id)s and id = %(id)s for update")
async def lock_invitation(tx: Transaction, *, project_id: UUID, id: UUID) -> OrganizationInvitationRow | None: ...


# Make a locked invitation PENDING again, with a new expiry and generation, which gives its link a new token; its e-mail
# is due now.
@statement("""
    update invitations set generation = generation + 1, status = 'PENDING', sent_at = %(now)s, mailed_at = null,
        mail_problem = null, expires_at = (%(now)s::timestamptz at time zone 'UTC' + life) at time zone 'UTC',
        due_at = %(now)s, attempt = 0
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def renew_invitation(
    tx: Transaction, *, project_id: UUID, id: UUID, now: Moment
) -> OrganizationInvitationRow: ...


# Revoke a locked invitation, whatever its status is.
@statement("""
    update invitations set status = 'REVOKED', revoked_at = %(now)s, due_at = null
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def revoke_invitation(
    tx: Transaction, *, project_id: UUID, id: UUID, now: Moment
) -> OrganizationInvitationRow: ...


# Mark a locked invitation as accepted by a customer, whatever its status is.
@statement("""
    update invitations set status = 'ACCEPTED', accepted_at = %(now)s, accepted_by = %(customer_id)s, due_at = null
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def accept_invitation(
    tx: Transaction, *, project_id: UUID, id: UUID, customer_id: UUID, now: Moment
) -> OrganizationInvitationRow: ...


# Mark a pending invitation as EXPIRED. Returns False if it is not pending or its expiry has not passed.
@statement("""
    update invitations set status = 'EXPIRED', due_at = null
    where project_id = %(project_id)s and id = %(id)s and status = 'PENDING' and expires_at <= %(now)s
""")
async def expire_invitation(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> bool: ...


# Store the result of an attempt to send the e-mail, and when the invitation is due again. Returns False if the
# invitation was changed, renewed (one more `generation`) or claimed again (one more `attempt`) since the worker claimed
# it.
@statement("""
    update invitations set mailed = %(mailed)s, mailed_at = %(mailed_at)s, mail_problem = %(mail_problem)s,
        due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s and generation = %(generation)s
      and status = 'PENDING'
""")
async def store_mail_result(db: Queries, invitation: OrganizationInvitationRow) -> bool: ...


# Delete the invitations that were mailed to the addresses of customers, or to their former addresses that no customer
# has now.
@statement("""
    delete from invitations invitation using (
        select email_key from customers where project_id = %(project_id)s and id = any (%(customer_ids)s)
        union
        select former.email_key from customer_former_addresses former
        where former.project_id = %(project_id)s and former.customer_id = any (%(customer_ids)s) and not exists (
            select from customers customer
            where customer.project_id = former.project_id and customer.email_key = former.email_key)
    ) as address
    where invitation.project_id = %(project_id)s and invitation.email_key = address.email_key
""")
async def delete_invitations_to_customers(tx: Transaction, *, project_id: UUID, customer_ids: list[UUID]) -> None: ...
