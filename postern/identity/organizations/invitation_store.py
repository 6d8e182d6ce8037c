"""SQL of invitations."""

from datetime import timedelta
from uuid import UUID

from postern.identity.organizations.model import OrganizationInvitationRow
from postern.kernel.clock import Moment
from postern.kernel.database.statements import Queries, Transaction, statement
from postern.kernel.values import Record


# Insert an invitation that is due for its e-mail now. Returns None if the address has a pending one.
@statement("""
    insert into invitations (project_id, id, organization_id, email, email_key, role, status, accept_url, invited_by,
                             life, sent_at, expires_at, created_at, due_at)
    values (%(project_id)s, %(id)s, %(organization_id)s, %(email)s, %(email_key)s, %(role)s, 'PENDING',
            %(accept_url)s, %(invited_by)s, %(life)s, %(now)s, %(now)s::timestamptz + %(life)s, %(now)s, %(now)s)
    on conflict (project_id, organization_id, email_key) where status = 'PENDING' do nothing
    returning *
""")
async def insert_invitation(
    tx: Transaction,
    *,
    project_id: UUID,
    id: UUID,
    organization_id: UUID,
    email: str,
    email_key: str,
    role: str,
    accept_url: str | None,
    invited_by: UUID | None,
    life: timedelta,
    now: Moment,
) -> OrganizationInvitationRow | None: ...


# Lock the pending invitation of an address for update, also if it has expired meanwhile.
@statement("""
    select * from invitations
    where project_id = %(project_id)s and organization_id = %(organization_id)s and email_key = %(email_key)s
      and status = 'PENDING'
    for update
""")
async def lock_pending_invitation(
    tx: Transaction, *, project_id: UUID, organization_id: UUID, email_key: str
) -> OrganizationInvitationRow | None: ...


class InvitationExists(Record):
    """Whether an invitation exists."""

    found: bool


# Whether an address has a pending invitation to an ACTIVE organization that has not expired.
@statement("""
    select exists (
        select from invitations invitation join organizations organization
          on organization.project_id = invitation.project_id and organization.id = invitation.organization_id
         and organization.status = 'ACTIVE'
        where invitation.project_id = %(project_id)s and invitation.email_key = %(email_key)s
          and invitation.status = 'PENDING' and invitation.expires_at > %(now)s) as found
""")
async def is_invited(db: Queries, *, project_id: UUID, email_key: str, now: Moment) -> InvitationExists: ...


@statement("""
    select count(*)::int from invitations
    where project_id = %(project_id)s and organization_id = %(organization_id)s and status = 'PENDING'
""")
async def count_pending_invitations(db: Queries, *, project_id: UUID, organization_id: UUID) -> int: ...


# With `status`, pending invitations after their expiry count as EXPIRED.
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


# Make an invitation pending with a new expiry and token, and its e-mail due now.
@statement("""
    update invitations set generation = generation + 1, status = 'PENDING', sent_at = %(now)s, mailed_at = null,
        mail_problem = null, expires_at = %(now)s::timestamptz + life, due_at = %(now)s, attempt = 0
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def renew_invitation(
    tx: Transaction, *, project_id: UUID, id: UUID, now: Moment
) -> OrganizationInvitationRow: ...


@statement("""
    update invitations set status = 'REVOKED', revoked_at = %(now)s, due_at = null
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def revoke_invitation(
    tx: Transaction, *, project_id: UUID, id: UUID, now: Moment
) -> OrganizationInvitationRow: ...


@statement("""
    update invitations set status = 'ACCEPTED', accepted_at = %(now)s, accepted_by = %(customer_id)s, due_at = null
    where project_id = %(project_id)s and id = %(id)s
    returning *
""")
async def accept_invitation(
    tx: Transaction, *, project_id: UUID, id: UUID, customer_id: UUID, now: Moment
) -> OrganizationInvitationRow: ...


# Returns False if the invitation is not pending or has not expired.
@statement("""
    update invitations set status = 'EXPIRED', due_at = null
    where project_id = %(project_id)s and id = %(id)s and status = 'PENDING' and expires_at <= %(now)s
""")
async def expire_invitation(tx: Transaction, *, project_id: UUID, id: UUID, now: Moment) -> bool: ...


# Store that the e-mail number `generation` was sent, or finally failed with `problem`. Returns False if the
# invitation was changed or claimed again since the claim `attempt`.
@statement("""
    update invitations set mailed = %(generation)s, mailed_at = %(mailed_at)s, mail_problem = %(problem)s,
        due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s and generation = %(generation)s
      and status = 'PENDING'
""")
async def record_mail_result(
    db: Queries,
    *,
    project_id: UUID,
    id: UUID,
    attempt: int,
    generation: int,
    mailed_at: Moment | None,
    problem: str | None,
    due_at: Moment,
) -> bool: ...


# Schedule the next attempt to send the e-mail; returns False like `record_mail_result`.
@statement("""
    update invitations set mail_problem = %(problem)s, due_at = %(due_at)s
    where project_id = %(project_id)s and id = %(id)s and attempt = %(attempt)s and status = 'PENDING'
""")
async def postpone_mail(
    db: Queries, *, project_id: UUID, id: UUID, attempt: int, problem: str | None, due_at: Moment
) -> bool: ...


# Delete the invitations to the addresses of customers, and to former addresses that no other customer has.
@statement("""
    delete from invitations invitation using (
        select email_key from customers where project_id = %(project_id)s and id = any (%(customer_ids)s)
        union
        select f.email_key from customer_former_addresses f
        where f.project_id = %(project_id)s and f.customer_id = any (%(customer_ids)s) and not exists (
            select from customers c where c.project_id = f.project_id and c.email_key = f.email_key)
    ) as address
    where invitation.project_id = %(project_id)s and invitation.email_key = address.email_key
""")
async def delete_invitations_of_customers(tx: Transaction, *, project_id: UUID, customer_ids: list[UUID]) -> None: ...
